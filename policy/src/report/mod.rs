//! The scope report: what a capsule would really be allowed to do on this host, `spec/scope-report.md`.

mod boundary;
mod enforcement;
mod folder;
mod grant;
mod outcome;
mod part;
mod resource;
mod route;
mod text;

use serde::{Deserialize, Serialize};

pub use boundary::FilesystemBoundaryReport;
pub use enforcement::{
    ENFORCEMENT_VERSION, EnforcementReport, LandlockReport, LimitReport, SeccompReport,
};
pub use folder::{
    ProcessViewReport, RuntimeDirReport, TempDirReport, process_view_report, records_dir_report,
    runtime_dir_report, temp_dir_report,
};
pub use grant::read_only_advisory_for;
pub use outcome::{
    Account, DerivedImport, FoundPath, IdMapping, IdentityOutcome, Outcomes, ReadOnlyGap,
};
pub use part::{
    DeclaredNeedsReport, ExportsFilesReport, GrantedNeed, HarnessBinary, HarnessEnvReport,
    HarnessHostReport, HarnessPathReport, HarnessReport, HostPathReport, ImagesReport,
    ManifestFileReport, MissingNeed, NeedStatus, ParentWorkdirReport, PeerFilesReport,
    PinnedProgramReport, PreopenReport, ProgramSource, Restriction, RuntimeDirReach, SkippedPath,
    StateStoreReport, Surface, UnconfinedReport, WorkdirSnapshot,
};
pub use resource::{
    CgroupScopeReport, CgroupScopeStatus, IoMaxOutcome, IoMaxReport, IoMaxStatus,
    RuntimeWriteReport, ScopeOutcome, runtime_writes,
};
pub use route::{HOST_PROCESS_MECHANISM, Route, RouteReport, route_table};

use crate::{CapabilityPolicy, ContainmentClass, ContainmentDecision, Tier, UsernsGrant};

/// What a capsule would be allowed to do on this host: the value that is enforced, in the order of the format.
///
/// `explain` prints it and the trace's first record holds it, byte for byte the same. Every key is always there, but for
/// `shortfall_reason`, which is absent when the floor is met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the keys of spec/scope-report.md §2, which says what each means")]
#[expect(clippy::struct_excessive_bools, reason = "the format's own keys")]
pub struct ScopeReport {
    pub declared_containment: ContainmentClass,
    pub achieved_containment: ContainmentClass,
    pub host_containment: ContainmentClass,
    pub floor_met: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall_reason: Option<String>,
    pub enforcement_tier: Tier,
    pub routes: Vec<RouteReport>,
    pub userns_grant: Option<UsernsGrant>,
    pub landlock_abi: Option<u32>,
    pub filesystem_scope: Option<String>,
    pub workdir_exec: bool,
    pub read_only_paths: Vec<String>,
    pub read_only_advisory_for: Vec<String>,
    pub preopens: Vec<PreopenReport>,
    pub network_allow: Vec<String>,
    pub unix_sockets: bool,
    pub shell_allow: Vec<String>,
    pub spawn_allow: Vec<String>,
    pub spawn_workdir_snapshot: Vec<String>,
    pub parent_workdir: Option<ParentWorkdirReport>,
    pub images: Option<ImagesReport>,
    pub env_allow: Vec<String>,
    pub plan_submit: bool,
    pub install_skill: Vec<String>,
    pub install_tool: Vec<String>,
    pub install_from: Vec<String>,
    pub interpreter_runtime_grants: Vec<String>,
    pub derived_interpreter_runtime: Vec<String>,
    pub trust_store: Vec<String>,
    pub declared_needs: Vec<DeclaredNeedsReport>,
    pub pinned_programs: Vec<PinnedProgramReport>,
    pub name_resolution: Vec<String>,
    pub host_paths: Vec<HostPathReport>,
    pub exports_files: Option<ExportsFilesReport>,
    pub peer_files: Option<PeerFilesReport>,
    pub peer_tasks: bool,
    pub peer_fetch_allow: Vec<String>,
    pub state_stores: Vec<StateStoreReport>,
    pub configured_artifacts: Vec<String>,
    pub staged_runtime_grants: Vec<String>,
    pub runtime_writes: Vec<RuntimeWriteReport>,
    pub manifest_files: Vec<ManifestFileReport>,
    pub io_max: IoMaxReport,
    pub cgroup_scope: CgroupScopeReport,
    pub filesystem_boundary: FilesystemBoundaryReport,
    pub runtime_dir: RuntimeDirReport,
    pub records_dir: RuntimeDirReport,
    pub temp_dir: TempDirReport,
    pub process_view: ProcessViewReport,
    pub unconfined: Option<UnconfinedReport>,
    pub harness: Option<HarnessReport>,
    /// Ours: what holds the capsule beyond what the other keys say.
    pub enforcement: EnforcementReport,
}

impl ScopeReport {
    /// Computes the report from the one policy, the one decision and what was probed or performed.
    #[expect(clippy::too_many_lines, reason = "one line a key, in the order of the format")]
    pub fn new(
        policy: &CapabilityPolicy,
        decision: &ContainmentDecision,
        outcomes: &Outcomes,
    ) -> Self {
        let carried = &policy.carried;
        let placement = &outcomes.placement;
        let runtime_dir = runtime_dir_report(decision, placement);
        let records_dir = records_dir_report(decision, placement);
        let folders = [&runtime_dir, &records_dir];
        let held = enforcement::read_only_by_mounts(policy, decision, outcomes);
        let restriction = boundary::restriction(decision.applied);
        Self {
            declared_containment: decision.declared,
            achieved_containment: decision.achieved,
            host_containment: decision.host,
            floor_met: decision.floor_met(),
            shortfall_reason: decision.shortfall_reason.clone(),
            enforcement_tier: decision.applied,
            routes: route_table(policy, decision.applied),
            userns_grant: decision.userns_grant,
            landlock_abi: decision.landlock_abi,
            filesystem_scope: policy.files.scope.clone(),
            workdir_exec: policy.files.workdir_exec,
            read_only_paths: policy.files.read_only.clone(),
            read_only_advisory_for: read_only_advisory_for(policy, held),
            preopens: grant::preopens(policy),
            network_allow: policy.network.allow.clone(),
            unix_sockets: policy.network.unix_sockets,
            shell_allow: policy.shell_allow().to_vec(),
            spawn_allow: carried.spawn_allow.clone(),
            spawn_workdir_snapshot: carried.spawn_workdir_snapshot.clone(),
            parent_workdir: outcomes
                .parent_workdir
                .clone()
                .map(|snapshot| ParentWorkdirReport { snapshot, restriction }),
            images: grant::images(policy),
            env_allow: policy.env_allow.clone(),
            plan_submit: carried.plan_submit,
            install_skill: carried.install_skill.clone(),
            install_tool: carried.install_tool.clone(),
            install_from: carried.install_from.clone(),
            interpreter_runtime_grants: grant::interpreter_runtime(policy),
            derived_interpreter_runtime: grant::derived_interpreter_runtime(outcomes),
            trust_store: grant::trust_store(policy, outcomes),
            declared_needs: outcomes.declared_needs.clone(),
            pinned_programs: outcomes.pinned_programs.clone(),
            name_resolution: grant::name_resolution(decision.applied),
            host_paths: grant::host_paths(policy, decision, placement),
            exports_files: grant::exports_files(policy),
            peer_files: grant::peer_files(policy),
            peer_tasks: carried.peer_tasks,
            peer_fetch_allow: carried.peer_fetch_allow.clone(),
            state_stores: grant::state_stores(policy, placement),
            configured_artifacts: grant::configured_artifacts(policy),
            staged_runtime_grants: grant::staged_runtime(policy),
            runtime_writes: runtime_writes(),
            manifest_files: grant::manifest_files(policy, &outcomes.manifest_dir),
            io_max: IoMaxReport::new(policy, &outcomes.io_max),
            cgroup_scope: CgroupScopeReport::new(policy, &outcomes.cgroup),
            filesystem_boundary: boundary::filesystem_boundary(policy, decision, folders),
            runtime_dir,
            records_dir,
            temp_dir: temp_dir_report(decision, placement),
            process_view: process_view_report(decision),
            unconfined: unconfined(policy, decision, outcomes),
            harness: grant::harness(policy, outcomes),
            enforcement: enforcement::enforcement(policy, decision, outcomes),
        }
    }

    /// The report as one compact JSON line, without its line end.
    ///
    /// # Errors
    /// A value has no JSON form, which the types of this report rule out.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Replaces what is known of images.
    #[must_use]
    pub fn with_images(self, images: ImagesReport) -> Self {
        Self { images: Some(images), ..self }
    }

    /// Replaces the route table.
    #[must_use]
    pub fn with_routes(self, routes: Vec<RouteReport>) -> Self {
        Self { routes, ..self }
    }

    /// Replaces what is known of the harness.
    #[must_use]
    pub fn with_harness(self, harness: HarnessReport) -> Self {
        Self { harness: Some(harness), ..self }
    }

    /// Replaces what tools declared to need.
    #[must_use]
    pub fn with_declared_needs(self, declared_needs: Vec<DeclaredNeedsReport>) -> Self {
        Self { declared_needs, ..self }
    }

    /// Replaces what is known of pinned programs.
    #[must_use]
    pub fn with_pinned_programs(self, pinned_programs: Vec<PinnedProgramReport>) -> Self {
        Self { pinned_programs, ..self }
    }

    /// Replaces the files the manifest names.
    #[must_use]
    pub fn with_manifest_files(self, manifest_files: Vec<ManifestFileReport>) -> Self {
        Self { manifest_files, ..self }
    }

    /// Replaces what commands see as `/proc`.
    #[must_use]
    pub fn with_process_view(self, process_view: ProcessViewReport) -> Self {
        Self { process_view, ..self }
    }

    /// Replaces what came of the control group.
    #[must_use]
    pub fn with_cgroup_scope(self, cgroup_scope: CgroupScopeReport) -> Self {
        Self { cgroup_scope, ..self }
    }

    /// Says that this session began in a copy of its parent's work folder; the restriction is the boundary's own.
    #[must_use]
    pub fn with_parent_workdir(self, snapshot: WorkdirSnapshot) -> Self {
        let restriction = self.filesystem_boundary.restriction;
        Self { parent_workdir: Some(ParentWorkdirReport { snapshot, restriction }), ..self }
    }
}

/// The unconfined block: only on the unconfined tier, where every open route runs so.
fn unconfined(
    policy: &CapabilityPolicy,
    decision: &ContainmentDecision,
    outcomes: &Outcomes,
) -> Option<UnconfinedReport> {
    if decision.applied != Tier::Unconfined {
        return None;
    }
    let account = outcomes.account.clone();
    let routes = route_table(policy, decision.applied);
    let open = routes.into_iter().filter(|row| row.present);
    Some(UnconfinedReport {
        user: account.user,
        uid: account.uid,
        home: account.home,
        applies_to: open.map(|row| row.route.as_str().to_owned()).collect(),
        resource_limits: policy.resources.declared.clone(),
    })
}

#[cfg(test)]
mod tests;
