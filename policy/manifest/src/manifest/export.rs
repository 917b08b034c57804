//! `exports`: what a capsule shows to others. Disclosures, never grants.

use crate::block::{block, words};
use crate::grammar::{ByteSize, DurationSecs, PathRule};
use crate::location::Spanned;

/// What one exported file may hold at most, where the manifest does not say.
const DEFAULT_MAX_BYTES: ByteSize = ByteSize::from_mib(10);

block! {
    /// What the capsule shows to others.
    pub struct Exports: Default {
        /// Files the operator may read through the runtime.
        optional files: FileExport,
        /// Files the capsule may hand to a peer.
        optional peer_files: PeerFileExport,
        /// Whether peers may send tasks.
        optional peer_tasks: PeerTasks,
    }
}

block! {
    /// Files the operator may read through the runtime.
    pub struct FileExport {
        /// Folder below the work folder.
        required root: Spanned<PathRule>,
        /// How: there is one way.
        required mode: ExportMode,
        /// Largest file, in bytes.
        default max_bytes: ByteSize = DEFAULT_MAX_BYTES,
    }
}

words! {
    /// How exported files may be used.
    pub enum ExportMode {
        /// Read.
        ReadOnly = "read-only",
    }
}

block! {
    /// Files the capsule may hand to a peer.
    pub struct PeerFileExport {
        /// Folder below the work folder.
        required root: Spanned<PathRule>,
        /// How long a handle lives; 3600 s where absent.
        optional max_ttl: Spanned<DurationSecs>,
        /// Largest file, in bytes.
        default max_bytes: ByteSize = DEFAULT_MAX_BYTES,
    }
}

block! {
    /// Whether peers may send tasks.
    pub struct PeerTasks {
        /// Consent, which must be written.
        required accept: bool,
    }
}
