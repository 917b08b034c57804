//! The policy of an engine's container: where it comes from, and the container narrowed by it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mur_bundle::{ImageLayout, NarrowError, POLICY, SCOPE_DIGEST, narrow};
use mur_manifest::{Code, Coded, ManifestErrors};
use mur_policy::{
    CapabilityPolicy, OperatorGrants, Placement, PolicyErrors, allows_program, decide, lower,
};
use mur_runtime::layout::{ImageError, read_image};
use oci_spec::runtime::{Process, Spec};

/// The annotation that names a capsule of the operator's.
pub const MANIFEST: &str = "org.murmur.manifest";

/// Where the operator keeps the capsules that engines may name, nearest last.
const CAPSULES: &str = "/etc/murmur/capsules";

/// What an engine's container searches for programs when its image says nothing.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A container cannot be narrowed by the policy it names; it is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapsuleError {
    /// The name is not one of a capsule, but a path or worse.
    #[error("`{0}` is not the name of a capsule")]
    Name(String),
    /// No capsule of that name.
    #[error("cannot read the manifest of capsule `{name}`")]
    Read {
        /// Its name.
        name: String,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// Its manifest has faults.
    #[error("`{}` is not a manifest that can be run", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// All of them.
        #[source]
        faults: ManifestErrors,
    },
    /// Its manifest asks for what cannot be granted.
    #[error("the manifest asks for what cannot be granted")]
    Policy(#[from] PolicyErrors),
    /// The inline policy is not one.
    #[error("annotation `org.murmur.policy` is not a policy")]
    Inline(#[source] serde_json::Error),
    /// Two policies are named.
    #[error("annotations `org.murmur.policy` and `org.murmur.manifest` are both given")]
    Both,
    /// The container's program is not granted.
    #[error("program `{program}` is not one that the policy's `shell.allow` names")]
    NotGranted {
        /// As config.json has it.
        program: String,
    },
    /// The image cannot be read.
    #[error("the image cannot be judged")]
    Image(#[from] ImageError),
    /// The policy cannot be had in this container.
    #[error("the container cannot be narrowed by its policy")]
    Narrow(#[from] NarrowError),
    /// The policy has no JSON form.
    #[error("cannot serialise the policy")]
    Serialise(#[source] serde_json::Error),
}

impl Coded for CapsuleError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) | Self::Inline(_) | Self::Both | Self::Serialise(_) => Code::EBun205,
            Self::Read { .. } => Code::EIo001,
            Self::Manifest { faults, .. } => faults.code(),
            Self::Policy(errors) => errors.code(),
            Self::NotGranted { .. } => Code::ECap201,
            Self::Image(_) => Code::EBun206,
            Self::Narrow(error) => error.code(),
        }
    }
}

/// Narrows a container by the policy that its annotations or `capsule` (the operator's `--capsule`) name.
///
/// One that names none is given back as it is, and so is a bundle that `mur bundle` wrote: it was planned from its
/// policy, and has nothing left to narrow.
///
/// # Errors
/// The policy cannot be read, or the container cannot be held to it.
pub fn narrow_container(
    spec: Spec,
    bundle: &Path,
    capsule: Option<&str>,
) -> Result<Spec, CapsuleError> {
    let Some(policy) = policy_of(&spec, capsule)? else { return Ok(spec) };
    let granted = spec.process().as_ref().and_then(|process| process.args().as_ref());
    let program = granted.and_then(|args| args.first()).cloned().unwrap_or_default();
    if !allows_program(&policy, &program) {
        return Err(CapsuleError::NotGranted { program });
    }
    let image = image_of(&spec, bundle, &policy)?;
    let host = mur_runtime::probe::probe_host();
    // An engine's container has none of a session's folders, so none can lie inside its work folder.
    let (work, none) = (Path::new("/work"), Path::new("/none"));
    let decision = decide(&policy, &host, &Placement::of_session(work, none, Path::new("/tmp")));
    let mut narrowed = narrow(&spec, &policy, &decision, &image)?;
    let mut annotations = narrowed.annotations().clone().unwrap_or_default();
    let text = serde_json::to_string(&policy).map_err(CapsuleError::Serialise)?;
    annotations.insert(POLICY.to_owned(), text);
    narrowed.set_annotations(Some(annotations));
    Ok(narrowed)
}

/// Narrows one more process of a container whose annotations carry a policy.
///
/// # Errors
/// The policy is not one, or the program is not granted.
pub fn narrow_exec(process: &Process, policy: Option<&str>) -> Result<Process, CapsuleError> {
    let Some(policy) = policy else { return Ok(process.clone()) };
    let policy: CapabilityPolicy = serde_json::from_str(policy).map_err(CapsuleError::Inline)?;
    let program =
        process.args().as_ref().and_then(|args| args.first()).cloned().unwrap_or_default();
    if !allows_program(&policy, &program) {
        return Err(CapsuleError::NotGranted { program });
    }
    Ok(mur_bundle::narrow_process(process, &policy))
}

fn policy_of(spec: &Spec, capsule: Option<&str>) -> Result<Option<CapabilityPolicy>, CapsuleError> {
    if let Some(name) = capsule {
        return read_capsule(name).map(Some);
    }
    let annotation = |name: &str| spec.annotations().as_ref().and_then(|all| all.get(name));
    match (annotation(POLICY), annotation(MANIFEST)) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(CapsuleError::Both),
        (Some(_), None) if annotation(SCOPE_DIGEST).is_some() => Ok(None),
        (Some(text), None) => serde_json::from_str(text).map(Some).map_err(CapsuleError::Inline),
        (None, Some(name)) => read_capsule(name).map(Some),
    }
}

/// Reads a capsule by its name alone: an annotation comes from whoever starts a container, and never names a path.
fn read_capsule(name: &str) -> Result<CapabilityPolicy, CapsuleError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.starts_with('.') || !name.bytes().all(plain) {
        return Err(CapsuleError::Name(name.to_owned()));
    }
    let own = std::env::var_os("HOME").map(|home| Path::new(&home).join(".murmur/capsules"));
    let places = std::iter::once(PathBuf::from(CAPSULES)).chain(own);
    let mut missing = std::io::Error::from(std::io::ErrorKind::NotFound);
    for place in places {
        let path = place.join(name).join("murmur.yaml");
        match std::fs::read(&path) {
            Ok(bytes) => return lower_capsule(&bytes, path),
            Err(error) => missing = error,
        }
    }
    Err(CapsuleError::Read { name: name.to_owned(), source: missing })
}

fn lower_capsule(bytes: &[u8], path: PathBuf) -> Result<CapabilityPolicy, CapsuleError> {
    let manifest =
        mur_manifest::parse(bytes).map_err(|faults| CapsuleError::Manifest { path, faults })?;
    Ok(lower(&manifest, &OperatorGrants::default())?.policy)
}

fn image_of(
    spec: &Spec,
    bundle: &Path,
    policy: &CapabilityPolicy,
) -> Result<ImageLayout, CapsuleError> {
    let root = spec.root().as_ref().map(|root| bundle.join(root.path()));
    let root = root.ok_or(NarrowError::Missing { key: "root" })?;
    let env = spec.process().as_ref().and_then(|process| process.env().as_ref());
    let path = env.into_iter().flatten().find_map(|entry| entry.strip_prefix("PATH="));
    let search_path = OsString::from(path.unwrap_or(DEFAULT_PATH));
    Ok(read_image(&root, policy.shell_allow(), &search_path)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn annotated(annotations: &serde_json::Value) -> Spec {
        let spec = json!({"ociVersion": "1.0.0", "annotations": annotations});
        serde_json::from_value(spec).unwrap()
    }

    fn policy() -> serde_json::Value {
        let manifest = mur_manifest::parse(b"name: a\nversion: '1'\n").unwrap();
        let policy = lower(&manifest, &OperatorGrants::default()).unwrap().policy;
        serde_json::to_value(policy).unwrap()
    }

    #[test]
    fn an_inline_policy_is_read_as_it_was_written() {
        let spec = annotated(&json!({POLICY: policy().to_string()}));
        let read = policy_of(&spec, None).unwrap().unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), policy());
        assert!(policy_of(&annotated(&json!({"org.other": "x"})), None).unwrap().is_none());
    }

    #[test]
    fn an_annotation_that_is_no_policy_is_refused_and_never_dropped() {
        let mut misspelt = policy();
        misspelt["files"]["read_onli"] = json!(["secrets"]);
        let mut unfloored = policy();
        unfloored.as_object_mut().unwrap().remove("floor");
        for annotations in [
            json!({POLICY: misspelt.to_string()}),
            json!({POLICY: unfloored.to_string()}),
            json!({POLICY: "{"}),
            json!({POLICY: ""}),
            json!({MANIFEST: "../web"}),
            json!({MANIFEST: ".hidden"}),
            json!({MANIFEST: ""}),
            json!({MANIFEST: "web", POLICY: policy().to_string()}),
        ] {
            let refused = policy_of(&annotated(&annotations), None).unwrap_err();
            assert_eq!(refused.code(), Code::EBun205, "{annotations}");
        }
    }
}
