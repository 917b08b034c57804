//! `exports`: what a capsule shows to others. Disclosures, never grants.

use crate::block::{block, words};
use crate::grammar::{ByteSize, DurationSecs, PathRule};
use crate::location::Spanned;
use crate::reader::{Entries, Reader};

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
    check check_files;
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
    check check_peer_files;
}

/// A file may have bytes.
fn check_files(block: &mut FileExport, reader: &mut Reader<'_>, entries: &Entries) {
    refuse_zero_size(block.max_bytes, reader, entries);
}

/// A file may have bytes, and a handle lives a while.
fn check_peer_files(block: &mut PeerFileExport, reader: &mut Reader<'_>, entries: &Entries) {
    refuse_zero_size(block.max_bytes, reader, entries);
    if let Some(ttl) = block.max_ttl.as_ref().filter(|ttl| ttl.value.seconds() == 0) {
        reader.refuse(
            ttl.at.clone(),
            "found zero".to_owned(),
            Some("a duration above 0, as `15m`"),
        );
    }
}

fn refuse_zero_size(size: ByteSize, reader: &mut Reader<'_>, entries: &Entries) {
    if size.bytes() == 0 {
        let at = reader.place_of(entries, "max_bytes");
        reader.refuse(at, "found zero".to_owned(), Some("a size above 0, as `10Mi`"));
    }
}

block! {
    /// Whether peers may send tasks.
    pub struct PeerTasks {
        /// Consent, which must be written.
        required accept: bool,
    }
}
