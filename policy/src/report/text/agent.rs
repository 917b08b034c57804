//! The blocks of an agent: images, harness, peers.

use super::block::Block;
use super::word;
use crate::report::ScopeReport;

impl ScopeReport {
    pub(super) fn image_rows(&self) -> Option<Block> {
        let images = self.images.as_ref()?;
        let mut block = Block::new("Images");
        let keep = if images.keep_applies { "" } else { " (the harness holds the conversation)" };
        block.row("keep:         ", format!("{}{keep}", images.keep));
        block.row("max bytes:    ", images.max_bytes);
        block.row("max per turn: ", images.max_per_turn);
        Some(block)
    }

    pub(super) fn harness_rows(&self) -> Option<Block> {
        let own = self.harness.as_ref()?;
        let mut block = Block::new("Harness");
        block.row("driver:    ", &own.driver);
        let binary = own.binary.as_ref().map_or("<none>", |binary| binary.path.as_str());
        block.row("binary:    ", binary);
        if let Some(interpreter) = own.binary.as_ref().and_then(|own| own.interpreter.as_ref()) {
            block.row("interpreter: ", interpreter);
        }
        let paths = own.paths.iter().map(|path| {
            let reason = path.reason.as_deref().map(|text| format!(" — {text}"));
            format!(
                "{} ({}): {}{}",
                path.need,
                path.access,
                word(&path.status),
                reason.unwrap_or_default()
            )
        });
        block.list("paths", &paths.collect::<Vec<_>>());
        let hosts = own.hosts.iter().map(|host| format!("{}: {}", host.need, word(&host.status)));
        block.list("hosts", &hosts.collect::<Vec<_>>());
        let env = own.env.iter().map(|name| format!("{}: {}", name.name, word(&name.status)));
        block.list("env", &env.collect::<Vec<_>>());
        if let Some(reason) = &own.unresolved {
            block.row("unresolved: ", reason);
        }
        Some(block)
    }

    pub(super) fn peer_handoff(&self) -> Block {
        let mut block = Block::new("Peer handoff");
        match &self.peer_files {
            None => block.row("exports.peer_files: ", "<none>"),
            Some(files) => {
                block.row("exports.peer_files: ", "");
                block.row("  root:           ", &files.root);
                block.row("  max handle ttl: ", format!("{}s", files.max_ttl_secs));
                block.row("  max bytes:      ", files.max_bytes);
            }
        }
        block.row("exports.peer_tasks: ", if self.peer_tasks { "accept" } else { "refuse" });
        block.list("peer_fetch allow", &self.peer_fetch_allow);
        block
    }
}
