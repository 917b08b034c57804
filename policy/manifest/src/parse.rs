//! Bytes to a manifest: the walk over the tree, and what is known of the file beside it.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::code::Code;
use crate::fault::{Fault, Faults, ManifestErrors};
use crate::manifest::{Manifest, to_json};
use crate::raw::{self, NodeId, Tree};
use crate::reader::Reader;
use crate::source::{Source, Warning};
use crate::word::{Reading, Word};

/// Reads a manifest.
///
/// # Errors
///
/// Every fault of the file at once, in file order, each with key path, line, column, the accepted
/// form and its code. Entries that a launch judges (`network.allow`, `filesystem.scope` and their
/// kind) are kept as written.
pub fn parse(yaml: &[u8]) -> Result<Manifest, ManifestErrors> {
    let (mut manifest, source): (Manifest, Source) =
        read_document(yaml, Empty::Refused, |fault| fault.code)?;
    manifest.source = source;
    Ok(manifest)
}

/// A YAML document as JSON, for tools that judge it by a schema.
///
/// # Errors
///
/// Where the text is no YAML document, or has something that JSON has no form for.
pub fn yaml_to_json(yaml: &[u8]) -> Result<Value, ManifestErrors> {
    let (document, _): (Document, Source) =
        read_document(yaml, Empty::Means(|| Document(Value::Null)), |fault| fault.code)?;
    Ok(document.0)
}

/// A document of any shape.
#[derive(Debug)]
struct Document(Value);

impl Word for Document {
    fn read(reader: &mut Reader<'_>, id: NodeId) -> Reading<Self> {
        match to_json(reader, id, "") {
            Ok(value) => Reading::Value(Self(value)),
            Err(message) => {
                reader.refuse(reader.place(id), message, None);
                Reading::Refused
            }
        }
    }

    fn render(&self) -> Value {
        self.0.clone()
    }

    fn schema() -> Value {
        Value::Bool(true)
    }
}

/// What a document without anything in it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Empty<T> {
    /// A fault.
    Refused,
    /// This value.
    Means(fn() -> T),
}

/// Reads a document of any kind; `code` gives each fault the code that it has in this kind of file.
pub(crate) fn read_document<T: Word>(
    yaml: &[u8],
    empty: Empty<T>,
    code: impl Fn(&Fault) -> Code,
) -> Result<(T, Source), ManifestErrors> {
    let mut faults = Faults::default();
    let tree = match raw::read(yaml, &mut faults) {
        Ok(tree) => tree,
        Err(fault) => {
            faults.push(fault);
            return Err(faults.into_errors(Vec::new(), code));
        }
    };
    let (value, reader) = read_tree(&tree, faults, empty);
    let (faults, warnings, positions) = reader.finish();
    match value {
        Some(value) if faults.is_empty() => {
            Ok((value, Source::new(digest(yaml), warnings, positions)))
        }
        Some(_) | None => Err(faults.into_errors(warnings, code)),
    }
}

/// Reads a tree.
fn read_tree<'t, T: Word>(
    tree: &'t Tree<'t>,
    faults: Faults,
    empty: Empty<T>,
) -> (Option<T>, Reader<'t>) {
    let mut reader = Reader::new(tree, faults);
    let value = match (T::read(&mut reader, tree.root()), empty) {
        (Reading::Value(value), _) => Some(value),
        (Reading::Absent, Empty::Means(value)) => Some(value()),
        (Reading::Absent, Empty::Refused) => {
            reader.refuse_empty_document(tree.root());
            None
        }
        (Reading::Refused, _) => None,
    };
    (value, reader)
}

/// SHA-256 in lower-case hex.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Manifest {
    /// What is worth saying of the file: keys that nobody knows, with what they may be meant for.
    /// A block's own keys come in alphabetical order before those of the blocks in it.
    pub fn warnings(&self) -> &[Warning] {
        self.source.warnings()
    }

    /// SHA-256 of the file, in lower-case hex; empty for a manifest that no file holds.
    pub fn digest(&self) -> &str {
        self.source.digest()
    }
}
