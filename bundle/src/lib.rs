//! From a decision to an OCI bundle: a pure plan, and one writer. Floor 3.

mod layout;

pub use layout::{
    EntryKind, EtcEntry, Folder, HostLayout, IdPair, Identity, ImportPath, LibraryFolder, Program,
    ReadPath, RootEntry, SessionFolders, WorkFolder,
};
