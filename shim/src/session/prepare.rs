//! Everything a launch decides before it makes anything: manifest, policy, host, decision, layout.
//!
//! `explain`, `bundle` and `run` take this one road; they differ in what they do at its end.

use std::path::{Path, PathBuf};

use mur_bundle::{Folder, HostLayout, SessionFolders as FolderLayout};
use mur_manifest::{Code, Manifest};
use mur_policy::report::{DerivedImport, FoundPath, IdMapping, IdentityOutcome, ReadOnlyGap};
use mur_policy::{
    CapabilityPolicy, ContainmentDecision, HostProbe, Lowered, Notice, Outcomes, Placement,
    ProcessPolicy, ScopeReport, check_floor, check_host_paths, check_network, decide,
};
use mur_runtime::layout::{
    Cache, IdentityChoice, Keeping, LayoutRequest, Purpose, WorkdirState, read_layout,
};

use super::error::PrepareError;
use super::folders::WorkdirChoice;
use super::home::{Home, resolve};
use super::request::{LaunchRequest, Surroundings};
use super::{operator, program};

/// The work folder that a bundle brings along, where none is named.
const WORKDIR_OF_BUNDLE: &str = "workdir";

/// A launch, decided. Nothing of it is on the disk yet.
#[derive(Debug)]
pub struct Prepared {
    /// The policy, with the command of this launch as its process.
    pub policy: CapabilityPolicy,
    /// The manifest's own bytes.
    pub manifest: Vec<u8>,
    /// Keys that nobody knows, of the manifest and of the operator's files; one line each.
    pub unknown_keys: Vec<String>,
    notices: Vec<Notice>,
    /// What this host can do.
    pub host: HostProbe,
    /// Where the session's folders are, with a placeholder for its name.
    pub placement: Placement,
    /// What holds the capsule.
    pub decision: ContainmentDecision,
    /// Where the work folder comes from.
    pub workdir: WorkdirChoice,
    /// The operator's folders.
    pub home: Home,
    /// The folder of the manifest, absolute.
    pub manifest_dir: PathBuf,
    surroundings: Surroundings,
}

/// Reads the manifest and decides. The only reads besides are the operator's config and the host's probe.
pub fn prepare(
    request: &LaunchRequest,
    surroundings: &Surroundings,
) -> Result<Prepared, PrepareError> {
    let bytes = read(&request.manifest)?;
    let manifest = parse(&bytes, &request.manifest)?;
    let home = Home::locate(surroundings.home.as_deref())?;
    let operator = operator::read(&home, surroundings, request.containment)?;
    let Lowered { mut policy, mut notices } = mur_policy::lower(&manifest, &operator.grants)?;
    notices.extend(operator.notices);
    if !request.command.is_empty() {
        policy.process = Some(of_command(&request.command, policy.process.take()));
    }
    let manifest_dir = parent_of(&resolve(&request.manifest));
    let workdir = choose_workdir(request, &manifest_dir)?;
    let host = mur_runtime::probe::probe_host();
    let placement = home.placement(workdir.root());
    check_host_paths(&policy, &placement)?;
    let decision = decide(&policy, &host, &placement);
    let of_manifest = manifest.source.warnings().iter().map(ToString::to_string);
    let of_operator = operator.warnings.iter().map(ToString::to_string);
    let unknown_keys = of_manifest.chain(of_operator).collect();
    let surroundings = surroundings.clone();
    Ok(Prepared {
        policy,
        unknown_keys,
        manifest: bytes,
        notices,
        host,
        placement,
        decision,
        workdir,
        home,
        manifest_dir,
        surroundings,
    })
}

impl Prepared {
    /// Refuses a floor that is not met, and a network that cannot be had, in the words that `explain` shows.
    pub fn require_host(&self) -> Result<(), PrepareError> {
        check_floor(&self.decision)?;
        check_network(&self.policy, &self.decision, &self.host)?;
        Ok(())
    }

    /// Refuses when there is nothing to run, or when it is not what the manifest grants.
    pub fn require_command(&self, layout: &HostLayout) -> Result<(), PrepareError> {
        let process = self.policy.process.as_ref().ok_or(PrepareError::NoCommand)?;
        let program = process.args.first().ok_or(PrepareError::NoCommand)?;
        program::require_granted(program, &self.policy, layout)
    }

    /// Warnings of the manifest, the decision and the report, and of the host's files, in this order.
    pub fn notices(&self, report: &ScopeReport, layout: &HostLayout) -> Vec<Notice> {
        let of_decision =
            mur_policy::decision_notices(&self.policy, &self.decision, &self.placement, report);
        let of_files = layout_notices(layout);
        self.notices.iter().cloned().chain(of_decision).chain(of_files).collect()
    }

    /// The layout for folders that are only named: what a dry run and a bundle see.
    pub fn read_dry_layout(
        &self,
        identity: IdentityChoice,
        purpose: Purpose,
    ) -> Result<HostLayout, PrepareError> {
        let (workdir, state) = match &self.workdir {
            WorkdirChoice::Given(path) => (path.clone(), WorkdirState::Existing),
            WorkdirChoice::PerSession(root) => (root.clone(), WorkdirState::New),
        };
        let folders = self.folders_of_bundle();
        let mut layout =
            self.read((workdir, state), folders, (identity, purpose), Keeping::UseOnly)?;
        if state == WorkdirState::New && purpose == Purpose::Bundle {
            layout.workdir.source = WORKDIR_OF_BUNDLE.into();
        }
        Ok(layout)
    }

    /// Reads the host's files as this capsule sees them.
    pub fn read_layout(
        &self,
        (workdir, workdir_state): (PathBuf, WorkdirState),
        folders: FolderLayout,
        identity: IdentityChoice,
        purpose: Purpose,
    ) -> Result<HostLayout, PrepareError> {
        self.read((workdir, workdir_state), folders, (identity, purpose), Keeping::Keep)
    }

    fn read(
        &self,
        (workdir, workdir_state): (PathBuf, WorkdirState),
        folders: FolderLayout,
        (identity, purpose): (IdentityChoice, Purpose),
        keeping: Keeping,
    ) -> Result<HostLayout, PrepareError> {
        let cache = Cache { folder: self.home.root().join("cache"), keeping };
        let request = LayoutRequest {
            workdir,
            workdir_state,
            folders,
            search_path: self.surroundings.search_path.clone(),
            environment: self.surroundings.environment.clone(),
            caller: self.host.caller.clone(),
            identity,
            purpose,
            cache: Some(cache),
        };
        Ok(read_layout(&self.policy, &request)?)
    }

    /// The session's folders as a dry run and a bundle name them: places inside, relative sources.
    pub fn folders_of_bundle(&self) -> FolderLayout {
        let folder =
            |path: &Path, source: &str| Folder { path: path.into(), source: source.into() };
        FolderLayout {
            runtime: folder(&self.placement.runtime_dir, "runtime"),
            records: folder(&self.placement.records_dir, "records"),
            tmp: folder(&self.placement.temp_dir(), "tmp"),
            home: folder(&self.placement.home_dir(), "home"),
        }
    }

    /// What is known before anything was tried on a control group.
    pub fn outcomes(&self, layout: &HostLayout) -> Outcomes {
        let mut outcomes = Outcomes::new(self.placement.clone(), &self.host);
        outcomes.manifest_dir.clone_from(&self.manifest_dir);
        outcomes.derived_imports = layout
            .interpreter_imports
            .iter()
            .map(|import| DerivedImport {
                binary: import.binary.clone(),
                path: import.path.clone(),
                folder: import.folder,
            })
            .collect();
        outcomes.trust_store = layout
            .trust_store
            .iter()
            .map(|found| FoundPath { path: found.path.clone(), folder: found.folder })
            .collect();
        outcomes.read_only_gaps =
            layout.workdir.read_only_missing.iter().map(|path| gap(path)).collect();
        outcomes.identity = Some(identity_of(layout));
        outcomes.hard_limits.clone_from(&layout.hard_limits);
        outcomes
    }
}

/// What the host's files make weaker than it looks.
fn layout_notices(layout: &HostLayout) -> Vec<Notice> {
    let notice = |code: Code, text: String| Notice {
        code,
        text,
        reference: format!("mur explain --code {code}"),
        at: None,
    };
    let modules: Vec<_> =
        layout.workdir.native_modules.iter().map(|path| path.display().to_string()).collect();
    let of_modules = (!modules.is_empty()).then(|| {
        let names = modules.join("`, `");
        let text = format!("in folders that may be written, so they will not load: `{names}`");
        notice(Code::WRun200, text)
    });
    let of_limits = layout
        .no_limits_because
        .as_ref()
        .map(|why| notice(Code::WRun201, format!("the bundle carries no limits: {why}")));
    of_modules.into_iter().chain(of_limits).collect()
}

fn gap(path: &Path) -> ReadOnlyGap {
    let reason = "it does not exist, so there is nothing to mount over".to_owned();
    ReadOnlyGap { path: path.display().to_string(), reason }
}

fn identity_of(layout: &HostLayout) -> IdentityOutcome {
    let identity = &layout.identity;
    IdentityOutcome {
        uid: IdMapping { inside: identity.uid.inside, host: identity.uid.host },
        gid: IdMapping { inside: identity.gid.inside, host: identity.gid.host },
        idmapped: identity.idmapped,
        groups: Vec::new(),
    }
}

fn of_command(command: &[String], declared: Option<ProcessPolicy>) -> ProcessPolicy {
    let (cwd, env, terminal) =
        declared.map_or((None, Vec::new(), false), |it| (it.cwd, it.env, it.terminal));
    ProcessPolicy { args: command.to_vec(), cwd, env, terminal }
}

fn read(path: &Path) -> Result<Vec<u8>, PrepareError> {
    std::fs::read(path).map_err(|source| PrepareError::ReadManifest { path: path.into(), source })
}

fn parse(bytes: &[u8], path: &Path) -> Result<Manifest, PrepareError> {
    mur_manifest::parse(bytes)
        .map_err(|faults| PrepareError::Manifest { path: path.into(), faults })
}

fn choose_workdir(
    request: &LaunchRequest,
    manifest_dir: &Path,
) -> Result<WorkdirChoice, PrepareError> {
    let Some(given) = &request.workdir else {
        return Ok(WorkdirChoice::PerSession(manifest_dir.join("workdir")));
    };
    let unusable = |source| PrepareError::Workdir { path: given.clone(), source };
    let path = given.canonicalize().map_err(unusable)?;
    let metadata = path.metadata().map_err(unusable)?;
    if !metadata.is_dir() {
        return Err(unusable(std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(WorkdirChoice::Given(path))
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or_else(|| Path::new("/")).to_path_buf()
}
