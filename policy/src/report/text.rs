//! The report as text for people: fixed blocks in fixed order, `spec/scope-report.md` §5.

mod agent;
mod block;

use block::Block;

use super::part::{ProgramSource, RuntimeDirReach, Surface};
use super::{PreopenReport, Route, RouteReport, RuntimeDirReport, ScopeReport};

impl ScopeReport {
    /// Renders the report: blocks with a blank line between, two spaces of indent, each line ended.
    pub fn render_text(&self) -> String {
        let blocks = [
            Some(self.containment()),
            Some(self.route_rows()),
            Some(folder("Runtime directory", &self.runtime_dir)),
            Some(folder("Records directory", &self.records_dir)),
            Some(self.temporary_folder()),
            Some(self.process_view()),
            self.unconfined_session(),
            self.parent_work_folder(),
            self.not_protected(),
            Some(self.grants()),
            Some(self.resource_plane()),
            self.image_rows(),
            self.harness_rows(),
            Some(self.peer_handoff()),
            Some(self.writes()),
            Some(self.files()),
            Some(self.enforcement_rows()),
        ];
        let mut text = String::new();
        for block in blocks.into_iter().flatten() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&block.into_text());
        }
        if !self.floor_met {
            text.push_str("\nThe floor is not met: a run would be refused (E-CAP-003).\n");
        }
        text
    }

    fn containment(&self) -> Block {
        let mut block = Block::new("Containment");
        block.row("declared:  ", self.declared_containment);
        block.row("achieved:  ", self.achieved_containment);
        block.row("host can back: ", self.host_containment);
        block.row("floor met: ", if self.floor_met { "yes" } else { "no" });
        if let Some(reason) = &self.shortfall_reason {
            block.row("reason:    ", reason);
        }
        block.row("mechanism: ", self.enforcement_tier);
        block.row("userns grant: ", self.userns_grant.map_or("n/a", |grant| grant.wire_name()));
        let abi = self.landlock_abi.map_or_else(|| "n/a".to_owned(), |abi| abi.to_string());
        block.row("landlock ABI: ", abi);
        block
    }

    fn route_rows(&self) -> Block {
        let mut block = Block::new("Routes");
        for row in &self.routes {
            block.row(&format!("{}: ", route_label(row.route)), route_words(row));
        }
        block
    }

    fn temporary_folder(&self) -> Block {
        let temp = &self.temp_dir;
        let mut block = Block::new("Temporary folder");
        block.row("path:      ", &temp.path);
        block.row("TMPDIR:    ", &temp.tmpdir);
        let mapped = match (&temp.mapped_by, &temp.not_mapped_because) {
            (Some(by), _) => format!("mapped ({by})"),
            (None, reason) => format!("not mapped — {}", reason.as_deref().unwrap_or("no reason")),
        };
        block.row("/tmp:      ", mapped);
        block
    }

    fn process_view(&self) -> Block {
        let view = &self.process_view;
        let mut block = Block::new("Process view");
        let words = match (&view.mounted_by, &view.not_private_because) {
            (Some(by), _) => format!("private ({by})"),
            (None, reason) => {
                format!("the host's — {}", reason.as_deref().unwrap_or("no reason"))
            }
        };
        block.row("/proc:     ", words);
        block
    }

    fn unconfined_session(&self) -> Option<Block> {
        let own = self.unconfined.as_ref()?;
        let mut block = Block::new("Unconfined");
        let user = own.user.as_deref().unwrap_or("no name");
        block.row("runs as:   ", format!("{user} (uid {})", own.uid));
        block.row("HOME:      ", own.home.as_deref().unwrap_or("<none>"));
        block.list("applies to", &own.applies_to);
        block.list("resource limits", &own.resource_limits);
        Some(block)
    }

    fn parent_work_folder(&self) -> Option<Block> {
        let parent = self.parent_workdir.as_ref()?;
        let copy = &parent.snapshot;
        let mut block = Block::new("Parent work folder");
        block.row("copied from: ", &copy.source);
        let counts = format!(
            "{} files, {} folders, {} links ({} repointed), {} bytes, {} left out",
            copy.files,
            copy.dirs,
            copy.symlinks,
            copy.repointed_symlinks,
            copy.bytes,
            copy.skipped_count
        );
        block.row("copied:    ", counts);
        block.row("restriction: ", word(&parent.restriction));
        let skipped = copy.skipped.iter().map(|left| format!("{} ({})", left.path, left.reason));
        block.list("left out", &skipped.collect::<Vec<_>>());
        Some(block)
    }

    fn not_protected(&self) -> Option<Block> {
        let statements = &self.filesystem_boundary.not_protected;
        if statements.is_empty() {
            return None;
        }
        let mut block = Block::new("Not protected here");
        for statement in statements {
            block.item(statement);
        }
        Some(block)
    }

    fn grants(&self) -> Block {
        let mut block = Block::new("Effective grants");
        let scope = self.filesystem_scope.as_deref().unwrap_or("<none>");
        block.row("filesystem scope: ", scope);
        block.row("workdir exec:     ", self.workdir_exec);
        block.list("read_only", &self.read_only_paths);
        if !self.read_only_paths.is_empty() {
            block.row("read_only enforcement: ", self.read_only_words());
        }
        block.list("preopens", &self.preopens.iter().map(preopen_words).collect::<Vec<_>>());
        block.list("network allow", &self.network_allow);
        block.row("unix sockets:     ", self.unix_sockets);
        block.list("shell allow", &self.shell_allow);
        block.list("spawn allow", &self.spawn_allow);
        block.list("spawn workdir snapshot", &self.spawn_workdir_snapshot);
        block.list("env allow", &self.env_allow);
        block.row("plan submit:      ", self.plan_submit);
        block.list("install skill", &self.install_skill);
        block.list("install tool", &self.install_tool);
        if !self.install_from.is_empty() {
            block.row("install from: ", self.install_from.join(", "));
        }
        block.list("interpreter runtime", &self.interpreter_runtime_grants);
        block.list("derived interpreter runtime", &self.derived_interpreter_runtime);
        block.list("trust store", &self.trust_store);
        block.list("declared needs", &self.need_words());
        block.list("pinned programs", &self.program_words());
        block.list("name resolution", &self.name_resolution);
        block.list("host paths", &self.host_path_words());
        block.list("staged runtime", &self.staged_runtime_grants);
        block.list("state stores", &self.store_words());
        block.list("artifact config", &self.configured_artifacts);
        block
    }

    fn read_only_words(&self) -> String {
        if self.enforcement.read_only.is_some() {
            return "enforced by mounts".to_owned();
        }
        let gaps = self.enforcement.read_only_gaps.iter();
        let gaps: Vec<_> = gaps.map(|gap| format!("{}: {}", gap.path, gap.reason)).collect();
        let gaps = if gaps.is_empty() { String::new() } else { format!(" ({})", gaps.join("; ")) };
        if self.read_only_advisory_for.is_empty() {
            return format!("no mount holds it{gaps}");
        }
        format!("advisory against {}{gaps}", self.read_only_advisory_for.join(", "))
    }

    fn need_words(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for needs in &self.declared_needs {
            let who = format!("{} ({})", needs.artifact, needs.program);
            for need in &needs.granted {
                lines.push(format!("{who}: {} -> {}", need.need, need.paths.join(", ")));
            }
            for need in &needs.missing {
                lines.push(format!("{who}: {} missing ({})", need.need, need.reason));
            }
        }
        lines
    }

    fn program_words(&self) -> Vec<String> {
        let told = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        self.pinned_programs
            .iter()
            .map(|pin| {
                let who = format!("{} ({})", pin.artifact, pin.program);
                match pin.source {
                    ProgramSource::Pinned => format!(
                        "{who}: pinned {} (sha256 {}, from {})",
                        told(&pin.path),
                        told(&pin.sha256),
                        told(&pin.url)
                    ),
                    ProgramSource::Host => format!("{who}: host {}", told(&pin.path)),
                    ProgramSource::Missing => format!("{who}: missing ({})", told(&pin.reason)),
                }
            })
            .collect()
    }

    fn host_path_words(&self) -> Vec<String> {
        self.host_paths
            .iter()
            .map(|granted| {
                let held = granted.mechanism.as_deref().unwrap_or("nothing holds it");
                let mut line = format!("{} ({}, {held})", granted.path, granted.access);
                if !granted.credential_locations.is_empty() {
                    line.push_str(" — reaches ");
                    line.push_str(&granted.credential_locations.join(", "));
                }
                line
            })
            .collect()
    }

    fn store_words(&self) -> Vec<String> {
        self.state_stores
            .iter()
            .map(|store| format!("{}: {} -> {}", store.artifact, store.store, store.host_path))
            .collect()
    }

    fn resource_plane(&self) -> Block {
        let mut block = Block::new("Resource plane");
        match &self.exports_files {
            None => block.row("exports.files: ", "<none>"),
            Some(files) => {
                block.row("exports.files: ", "");
                block.row("  root:      ", &files.root);
                block.row("  mode:      ", &files.mode);
                block.row("  max bytes: ", files.max_bytes);
            }
        }
        let declared = self.io_max.declared_bytes_per_sec;
        let status = word(&self.io_max.status);
        block.row("io.max:        ", format!("{status} ({declared} bytes/s declared)"));
        block.reason(self.io_max.reason.as_deref());
        block.row("cgroup scope:  ", word(&self.cgroup_scope.status));
        block.reason(self.cgroup_scope.reason.as_deref());
        block
    }

    fn writes(&self) -> Block {
        let mut block = Block::new("Runtime writes");
        block.line("paths are relative to the work folder");
        let rows = self.runtime_writes.iter();
        let rows = rows.map(|row| format!("{} ({}, {})", row.path, row.kind, row.condition));
        block.list("runtime writes", &rows.collect::<Vec<_>>());
        block
    }

    fn files(&self) -> Block {
        let mut block = Block::new("Manifest files");
        let rows = self.manifest_files.iter();
        let rows = rows.map(|file| format!("{}: {} ({})", file.key, file.resolved, file.base));
        block.list("files", &rows.collect::<Vec<_>>());
        block
    }
}

/// The runtime or the records folder.
fn folder(title: &str, report: &RuntimeDirReport) -> Block {
    let mut block = Block::new(title);
    block.row("path:      ", &report.path);
    let words = match (&report.enforced_by, &report.not_protected_because) {
        (Some(by), _) => format!("read only ({by})"),
        (None, reason) => {
            format!("can change it — {}", reason.as_deref().unwrap_or("no reason"))
        }
    };
    block.row("commands:  ", words);
    block
}

/// What people call a route.
const fn route_label(route: Route) -> &'static str {
    match route {
        Route::Shell => "shell",
        Route::PlanShellSteps => "plan shell steps",
        Route::WasmTools => "tools",
        Route::Drivers => "drivers",
        Route::Hooks => "hooks",
        Route::ProcessHarness => "process harness",
        Route::HarnessTools => "harness tools",
    }
}

/// What holds a route, and who opens it.
fn route_words(row: &RouteReport) -> String {
    if !row.present {
        return "not present".to_owned();
    }
    let note = row.note.as_deref().map(|note| format!(" — {note}")).unwrap_or_default();
    let artifacts = if row.artifacts.is_empty() {
        String::new()
    } else {
        format!(" ({})", row.artifacts.join(", "))
    };
    format!("{}{note}{artifacts}", row.mechanism)
}

/// What an artifact sees.
fn preopen_words(row: &PreopenReport) -> String {
    let surface = match row.surface {
        Surface::ScopedSubtree => "one subtree of the work folder",
        Surface::RecordsHooks => "the records directory's `hooks/`",
        Surface::Nothing => "nothing preopened",
        Surface::WholeWorkdir => "the whole accessible work folder",
    };
    let scope = row
        .scope
        .as_deref()
        .map_or("no scope declared".to_owned(), |scope| format!("scope `{scope}`"));
    let reach = match row.runtime_dir_reach {
        None => "",
        Some(RuntimeDirReach::MurmurRuntime) => "; runtime directory at `murmur-runtime/`",
        Some(RuntimeDirReach::Environment) => "; runtime directory by `MURMUR_RUNTIME_DIR`",
        Some(RuntimeDirReach::Unresolved) => "; runtime directory unknown, not in the lock",
    };
    format!("{} ({}): {surface} — {scope}{reach}", row.artifact, row.role.as_str())
}

/// The wire word of a value that serializes as one.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}
