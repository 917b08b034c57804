//! The operator's configuration: what each of three files may say, and how they become one.
//!
//! `/etc/murmur/config.yaml` is below `~/.murmur/config.yaml`, and that below
//! `<cwd>/.murmur/config.yaml`. This module takes their contents and opens nothing.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::num::NonZeroU64;

use serde_json::Value;

use crate::block::block;
use crate::code::{Code, Coded};
use crate::fault::{Fault, ManifestErrors};
use crate::grammar::{HostPath, Secret, SecretName};
use crate::location::{Location, Spanned};
use crate::manifest::{Access, ContainmentFloor};
use crate::parse::{Empty, read_document};
use crate::reader::{Entries, Reader};
use crate::schema;
use crate::source::{Source, Warning};
use crate::word::Word;

block! {
    /// One of the operator's files, `config.yaml`.
    pub struct OperatorFile: Default {
        /// The class every launch must reach at least; the highest of all files counts.
        optional containment: Spanned<ContainmentFloor>,
        /// What may be spent.
        optional spend: Spend,
        /// Secrets that answer `${NAME}` in a manifest, before the environment does; not in a project's file.
        default credentials: BTreeMap<SecretName, Secret> = BTreeMap::new(),
        /// The model that is used where a capsule names none.
        optional inference: OperatorInference,
        /// Where artifacts come from.
        optional registry: Registry,
        /// Features that are not settled yet.
        optional beta: Beta,
        /// Host folders that every command may use; not in a project's file.
        default host_paths: Vec<HostFolder> = Vec::new(),
    }
    check check_file;
}

block! {
    /// What may be spent.
    pub struct Spend: Default {
        /// Tokens of all sessions of this machine in a day; the lowest of all files counts.
        optional machine_tokens_per_day: NonZeroU64,
    }
}

block! {
    /// The model that is used where a capsule names none.
    pub struct OperatorInference: Default {
        /// Who offers it.
        optional provider: String,
        /// Its name.
        optional model: String,
        /// Its address.
        optional endpoint: String,
        /// Its key; not in a project's file.
        optional api_key: Secret,
    }
}

block! {
    /// Where artifacts come from.
    pub struct Registry: Default {
        /// The registries.
        default sources: Vec<RegistrySource> = Vec::new(),
        /// The address of the index.
        optional index_url: String,
    }
}

block! {
    /// A registry.
    pub struct RegistrySource {
        /// Where it is, as `<scope>/<name>`; a nearer file replaces the source of the same scope.
        required repo: String,
        /// What opens it.
        optional token: Secret,
    }
}

block! {
    /// Features that are not settled yet.
    pub struct Beta: Default {
        /// Their names; those of all files count.
        default enabled: Vec<String> = Vec::new(),
    }
}

block! {
    /// A host folder that every command may use. It is never executable.
    pub struct HostFolder {
        /// Absolute, or below the home folder as `~/…`.
        required path: Spanned<HostPath>,
        /// How it may be used.
        required access: Access,
    }
}

/// A floor is a promise, and each folder is named once.
fn check_file(file: &mut OperatorFile, reader: &mut Reader<'_>, _entries: &Entries) {
    if let Some(floor) = &file.containment
        && floor.value == ContainmentFloor::Unconfined
    {
        let message = "`unconfined` is asked for by a manifest and a flag together".to_owned();
        reader.refuse(floor.at.clone(), message, Some("`advisory`, `scoped` or `sealed`"));
    }
    let mut seen = HashSet::new();
    for folder in &file.host_paths {
        if !seen.insert(&folder.path.value) {
            let message = format!("`{}` is written twice", folder.path);
            reader.refuse(folder.path.at.clone(), message, Some("each folder once"));
        }
    }
}

impl RegistrySource {
    /// Whose artifacts it has: what stands before the last slash.
    pub fn scope(&self) -> &str {
        self.repo.rsplit_once('/').map_or(self.repo.as_str(), |(scope, _)| scope)
    }
}

/// Which of the operator's files something stands in, from the farthest to the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// `/etc/murmur/config.yaml`.
    Machine,
    /// `~/.murmur/config.yaml`.
    Global,
    /// `<cwd>/.murmur/config.yaml`.
    Project,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "/etc/murmur/config.yaml",
            Self::Global => "~/.murmur/config.yaml",
            Self::Project => ".murmur/config.yaml",
        })
    }
}

/// A fault of the operator's configuration: `E-CAP-205` for host folders, `E-IO-003` otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorFault {
    /// The file it stands in.
    pub layer: Layer,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for OperatorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.layer, self.fault)
    }
}

impl std::error::Error for OperatorFault {}

impl Coded for OperatorFault {
    fn code(&self) -> Code {
        self.fault.code
    }

    fn fix(&self) -> Option<String> {
        self.fault.fix()
    }
}

/// Every fault of the operator's files; never empty. Displays one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorErrors {
    faults: Vec<OperatorFault>,
}

impl OperatorErrors {
    /// The faults, farthest file first, each file's in its order.
    pub fn faults(&self) -> &[OperatorFault] {
        &self.faults
    }
}

impl fmt::Display for OperatorErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for OperatorErrors {}

impl Coded for OperatorErrors {
    /// The code of the first fault.
    fn code(&self) -> Code {
        self.faults.first().map_or(Code::EIo003, |fault| fault.fault.code)
    }

    fn fix(&self) -> Option<String> {
        self.faults.first().and_then(Coded::fix)
    }
}

/// Something worth saying of the operator's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorWarning {
    /// What a reader of the file would say.
    InFile {
        /// The file.
        layer: Layer,
        /// What is worth saying.
        warning: Warning,
    },
    /// A key of a project's file that only the operator's own files may have; it was ignored.
    NotForProjects {
        /// Where the key stands.
        at: Location,
    },
}

impl fmt::Display for OperatorWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InFile { layer, warning } => write!(f, "{layer}: {warning}"),
            Self::NotForProjects { at } => {
                write!(
                    f,
                    "{}: {at}: a project's file cannot have this key; it was ignored",
                    Layer::Project
                )
            }
        }
    }
}

/// The contents of the operator's files; `None` where there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct OperatorFiles<'a> {
    /// `/etc/murmur/config.yaml`.
    pub machine: Option<&'a [u8]>,
    /// `~/.murmur/config.yaml`.
    pub global: Option<&'a [u8]>,
    /// `<cwd>/.murmur/config.yaml`.
    pub project: Option<&'a [u8]>,
}

/// The operator's configuration as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperatorConfig {
    /// The highest floor of all files; `None` takes no part in a launch's floor.
    pub containment: Option<ContainmentFloor>,
    /// The lowest limit of all files on tokens a day.
    pub machine_tokens_per_day: Option<NonZeroU64>,
    /// Secrets by name, from the operator's own files.
    pub credentials: BTreeMap<SecretName, Secret>,
    /// The model that is used where a capsule names none.
    pub inference: OperatorInference,
    /// Where artifacts come from.
    pub registry: Registry,
    /// Features that are not settled yet, each once.
    pub beta: Vec<String>,
    /// Host folders that every command may use, in the order of the files.
    pub host_paths: Vec<HostFolder>,
    /// What is worth saying of the files.
    pub warnings: Vec<OperatorWarning>,
}

impl OperatorConfig {
    /// Reads the operator's files and makes them one.
    ///
    /// # Errors
    ///
    /// Every fault of every file.
    pub fn parse(files: OperatorFiles<'_>) -> Result<Self, OperatorErrors> {
        let layers = [
            (Layer::Machine, files.machine),
            (Layer::Global, files.global),
            (Layer::Project, files.project),
        ];
        let mut config = Self::default();
        let mut faults = Vec::new();
        for (layer, contents) in layers {
            match contents.map(read_file) {
                None => {}
                Some(Ok((file, source))) => config.merge(layer, file, &source),
                Some(Err(errors)) => {
                    faults.extend(errors.into_iter().map(|fault| OperatorFault { layer, fault }));
                }
            }
        }
        if faults.is_empty() { Ok(config) } else { Err(OperatorErrors { faults }) }
    }

    /// The secret that answers `${name}`.
    pub fn credential(&self, name: &str) -> Option<&Secret> {
        self.credentials.iter().find(|(known, _)| known.as_str() == name).map(|(_, secret)| secret)
    }

    /// Takes in a file that is nearer than those before.
    fn merge(&mut self, layer: Layer, file: OperatorFile, source: &Source) {
        let OperatorFile { containment, spend, credentials, inference, registry, beta, host_paths } =
            file;
        let in_file =
            |warning: &Warning| OperatorWarning::InFile { layer, warning: warning.clone() };
        self.warnings.extend(source.warnings().iter().map(in_file));
        self.containment = self.containment.max(containment.map(|floor| floor.value));
        let limits = [self.machine_tokens_per_day, spend.and_then(|s| s.machine_tokens_per_day)];
        self.machine_tokens_per_day = limits.into_iter().flatten().min();
        self.merge_inference(layer, inference.unwrap_or_default(), source);
        self.merge_registry(registry.unwrap_or_default());
        for feature in beta.unwrap_or_default().enabled {
            if !self.beta.contains(&feature) {
                self.beta.push(feature);
            }
        }
        if layer == Layer::Project {
            self.ignore(source, "credentials", !credentials.is_empty());
            self.ignore(source, "host_paths", !host_paths.is_empty());
        } else {
            self.credentials.extend(credentials);
            for folder in host_paths {
                self.host_paths.retain(|known| known.path != folder.path);
                self.host_paths.push(folder);
            }
        }
    }

    /// Says that a key was ignored.
    fn ignore(&mut self, source: &Source, key: &str, written: bool) {
        if written {
            self.warnings.push(OperatorWarning::NotForProjects { at: source.locate(key) });
        }
    }

    fn merge_inference(&mut self, layer: Layer, nearer: OperatorInference, source: &Source) {
        let OperatorInference { provider, model, endpoint, api_key } = nearer;
        let known = &mut self.inference;
        known.provider = provider.or(known.provider.take());
        known.model = model.or(known.model.take());
        known.endpoint = endpoint.or(known.endpoint.take());
        if layer == Layer::Project {
            self.ignore(source, "inference.api_key", api_key.is_some());
        } else {
            known.api_key = api_key.or(known.api_key.take());
        }
    }

    fn merge_registry(&mut self, nearer: Registry) {
        let Registry { sources, index_url } = nearer;
        let known = &mut self.registry;
        known.index_url = index_url.or(known.index_url.take());
        known.sources.retain(|source| !sources.iter().any(|near| near.scope() == source.scope()));
        known.sources.extend(sources);
    }
}

/// Reads one file; an empty one says nothing.
fn read_file(yaml: &[u8]) -> Result<(OperatorFile, Source), ManifestErrors> {
    let code = |fault: &Fault| {
        if fault.at.path.starts_with("host_paths") { Code::ECap205 } else { Code::EIo003 }
    };
    read_document(yaml, Empty::Means(OperatorFile::default), code)
}

/// JSON Schema of the operator's `config.yaml`, draft 2020-12.
pub fn operator_schema() -> Value {
    schema::finish("Operator configuration (config.yaml)", OperatorFile::schema())
}

#[cfg(test)]
#[path = "operator/tests.rs"]
mod tests;
