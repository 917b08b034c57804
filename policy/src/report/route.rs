//! By which routes something of a capsule runs, and what holds each: `spec/scope-report.md` §3.1.

use serde::{Deserialize, Serialize};

use crate::{ArtifactRole, CapabilityPolicy, Tier};

/// The `mechanism` of a route that nothing of the applied tier covers.
pub const HOST_PROCESS_MECHANISM: &str = "host-process";

/// A way by which something of a capsule comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// Programs of `shell.allow`.
    Shell,
    /// Shell steps of a submitted plan.
    PlanShellSteps,
    /// Tools. The wire name is the format's; ours are native programs.
    WasmTools,
    /// Drivers.
    Drivers,
    /// Hooks.
    Hooks,
    /// A harness that is the capsule's own process.
    ProcessHarness,
    /// The harness's own tools.
    HarnessTools,
}

/// One row of the table; every row is always there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteReport {
    /// Which route.
    pub route: Route,
    /// Whether the manifest opens it.
    pub present: bool,
    /// Whether it is spawned through the one enforcement path.
    pub under_class: bool,
    /// The applied tier's wire name where covered, else [`HOST_PROCESS_MECHANISM`].
    pub mechanism: String,
    /// What an uncovered route runs under.
    pub note: Option<String>,
    /// The artifacts that open it.
    pub artifacts: Vec<String>,
}

impl Route {
    /// Every route, in the order of the report.
    pub const ALL: [Self; 7] = [
        Self::Shell,
        Self::PlanShellSteps,
        Self::WasmTools,
        Self::Drivers,
        Self::Hooks,
        Self::ProcessHarness,
        Self::HarnessTools,
    ];

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::PlanShellSteps => "plan-shell-steps",
            Self::WasmTools => "wasm-tools",
            Self::Drivers => "drivers",
            Self::Hooks => "hooks",
            Self::ProcessHarness => "process-harness",
            Self::HarnessTools => "harness-tools",
        }
    }

    /// The artifacts' role behind it.
    const fn role(self) -> Option<ArtifactRole> {
        match self {
            Self::WasmTools => Some(ArtifactRole::Tool),
            Self::Drivers => Some(ArtifactRole::Driver),
            Self::Hooks => Some(ArtifactRole::Hook),
            Self::Shell | Self::PlanShellSteps | Self::ProcessHarness | Self::HarnessTools => None,
        }
    }

    /// Whether a policy opens it; `artifacts` are those of its role.
    fn is_present(self, policy: &CapabilityPolicy, artifacts: &[String]) -> bool {
        let carried = &policy.carried;
        match self {
            Self::Shell => !policy.shell_allow().is_empty(),
            Self::PlanShellSteps => carried.plan_submit && !policy.shell_allow().is_empty(),
            Self::WasmTools => !artifacts.is_empty() || !carried.install_tool.is_empty(),
            Self::Drivers | Self::Hooks => !artifacts.is_empty(),
            Self::ProcessHarness | Self::HarnessTools => carried.process_harness(),
        }
    }
}

/// The table: what a policy opens, and what of `applied` holds it. Everything that runs is spawned through one path, so
/// each row is under the class.
pub fn route_table(policy: &CapabilityPolicy, applied: Tier) -> Vec<RouteReport> {
    Route::ALL
        .into_iter()
        .map(|route| {
            let artifacts: Vec<String> = route.role().map_or_else(Vec::new, |role| {
                policy.carried.artifacts_of(role).map(|artifact| artifact.name.clone()).collect()
            });
            RouteReport {
                route,
                present: route.is_present(policy, &artifacts),
                under_class: true,
                mechanism: applied.as_str().to_owned(),
                note: None,
                artifacts,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{agent, artifact, policy, shell_policy};
    use crate::{ContainmentClass, fixture};

    /// The wire names of the routes a policy opens.
    fn present(policy: &CapabilityPolicy) -> Vec<&'static str> {
        let table = route_table(policy, Tier::Full);
        table.iter().filter(|row| row.present).map(|row| row.route.as_str()).collect()
    }

    #[test]
    fn every_row_is_always_there_in_order() {
        let table = route_table(&policy(ContainmentClass::Advisory), Tier::Sealed);
        let routes: Vec<_> = table.iter().map(|row| row.route).collect();
        assert_eq!(routes, Route::ALL);
        for row in table {
            assert!(!row.present && row.under_class && row.note.is_none());
            assert_eq!(row.mechanism, "mountns+pivot_root+landlock+seccomp");
            assert_eq!(serde_json::to_value(row.route).unwrap(), row.route.as_str());
        }
    }

    #[test]
    fn each_route_is_opened_by_what_the_table_says() {
        let mut plan = policy(ContainmentClass::Advisory);
        plan.carried.plan_submit = true;
        assert_eq!(present(&plan), [""; 0]);
        plan.shell = shell_policy(ContainmentClass::Advisory, &["bash"]).shell;
        assert_eq!(present(&plan), ["shell", "plan-shell-steps"]);

        let mut install = policy(ContainmentClass::Advisory);
        install.carried.install_skill = vec!["*".to_owned()];
        assert_eq!(present(&install), [""; 0]);
        install.carried.install_tool = vec!["*".to_owned()];
        assert_eq!(present(&install), ["wasm-tools"]);

        let mut harness = policy(ContainmentClass::Advisory);
        harness.carried.agent = Some(agent(true));
        assert_eq!(present(&harness), ["process-harness", "harness-tools"]);
        harness.carried.agent = Some(agent(false));
        assert_eq!(present(&harness), [""; 0]);
    }

    #[test]
    fn artifacts_stand_in_the_row_of_their_role() {
        let mut policy = fixture::policy(ContainmentClass::Advisory);
        policy.carried.artifacts = vec![
            artifact("a/tool-2", ArtifactRole::Tool),
            artifact("a/hook", ArtifactRole::Hook),
            artifact("a/skill", ArtifactRole::Skill),
            artifact("a/driver", ArtifactRole::Driver),
            artifact("a/tool-1", ArtifactRole::Tool),
        ];
        assert_eq!(present(&policy), ["wasm-tools", "drivers", "hooks"]);
        let table = route_table(&policy, Tier::Full);
        assert_eq!(table[2].artifacts, ["a/tool-2", "a/tool-1"]);
        assert_eq!(table[3].artifacts, ["a/driver"]);
        assert_eq!(table[4].artifacts, ["a/hook"]);
    }
}
