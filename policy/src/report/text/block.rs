//! One block of the text report, and the block of ours at its end.

use std::fmt::{Display, Write};

use crate::report::ScopeReport;

/// A heading and its lines.
pub(super) struct Block {
    text: String,
}

impl Block {
    pub(super) fn new(title: &str) -> Self {
        Self { text: format!("{title}\n") }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// `  <label><value>`; the label carries its colon and its padding.
    pub(super) fn row(&mut self, label: &str, value: impl Display) {
        let line = format!("  {label}{value}");
        self.push(line.trim_end());
    }

    /// A line that is no row.
    pub(super) fn line(&mut self, text: &str) {
        self.push(&format!("  {text}"));
    }

    /// An item without a label.
    pub(super) fn item(&mut self, text: &str) {
        self.push(&format!("  - {text}"));
    }

    /// Why, below the row it explains.
    pub(super) fn reason(&mut self, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.push(&format!("    {reason}"));
        }
    }

    /// A list: one item a line, or `<none>`.
    pub(super) fn list(&mut self, label: &str, items: &[String]) {
        if items.is_empty() {
            self.push(&format!("  {label}: <none>"));
            return;
        }
        self.push(&format!("  {label}:"));
        for item in items {
            self.push(&format!("    - {item}"));
        }
    }

    /// Adds a line; a control character in a name cannot start another or paint the terminal.
    fn push(&mut self, line: &str) {
        for character in line.chars() {
            if character.is_control() {
                // A `String` takes every write.
                let _ = write!(self.text, "{}", character.escape_default());
            } else {
                self.text.push(character);
            }
        }
        self.text.push('\n');
    }
}

impl ScopeReport {
    /// What is ours: the mechanisms behind the claims above.
    pub(super) fn enforcement_rows(&self) -> Block {
        let own = &self.enforcement;
        let told = |text: &Option<String>| text.clone().unwrap_or_else(|| "<none>".to_owned());
        let mut block = Block::new("Enforcement");
        block.row("exec allow list:  ", told(&own.exec_allow_list));
        block.row("network:          ", told(&own.network));
        if let Some(seccomp) = &own.seccomp {
            let calls = seccomp.allowed_calls;
            let architectures = seccomp.architectures.join(", ");
            block.row("syscall filter:   ", format!("{calls} calls allowed ({architectures})"));
        }
        if let Some(identity) = &own.identity {
            let (uid, gid) = (identity.uid, identity.gid);
            let mapped = if identity.idmapped { ", writable folders idmapped" } else { "" };
            block.row(
                "identity:         ",
                format!(
                    "uid {} (host {}), gid {} (host {}){mapped}",
                    uid.inside, uid.host, gid.inside, gid.host
                ),
            );
        }
        block.row("nested sandboxes: ", &own.nested_sandboxes);
        block.row("setuid programs:  ", &own.setuid_programs);
        block.row("/dev/shm:         ", told(&own.dev_shm));
        let limits = own.rlimits.iter();
        let limits = limits.map(|limit| format!("{} {}/{}", limit.name, limit.soft, limit.hard));
        block.list("limits of a process", &limits.collect::<Vec<_>>());
        let together = own.limits.iter().map(|limit| {
            let held = limit.held_by.as_deref().unwrap_or("not held");
            format!("{} {} ({held})", limit.key, limit.value)
        });
        block.list("limits of all together", &together.collect::<Vec<_>>());
        if let Some(landlock) = &own.landlock {
            block.list("not held by this Landlock", &landlock.not_held);
        }
        block.list("not started by this version", &own.not_started);
        block.list("ignored by other runtimes", &own.ignored_by_other_runtimes);
        block
    }
}
