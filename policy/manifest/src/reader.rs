//! Walks a tree block by block: keeps the key path, collects faults and unknown keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::code::Code;
use crate::fault::{Fault, Faults};
use crate::grammar::choice_of;
use crate::location::Location;
use crate::raw::{Node, NodeId, NodeValue, Tree};
use crate::scalar::{Scalar, scalar};
use crate::source::Warning;
use crate::suggest::suggest;
use crate::word::{Reading, Word, chain};

/// Unknown keys that are listed; the rest is counted.
const UNKNOWN_LISTED: usize = 1000;
/// Characters of a value that a message repeats.
const REPEATED: usize = 60;

/// The keys of a block, as its table lists them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// Keys that have a meaning.
    pub(crate) known: &'static [&'static str],
    /// Keys that are accepted and have none.
    pub(crate) ignored: &'static [&'static str],
    /// Whether a key that is not known is refused.
    pub(crate) strict: bool,
    /// Keys that are refused, each with what stands in its place.
    pub(crate) retired: &'static [(&'static str, &'static str)],
}

/// The values of a block's known keys, in the order of its table.
#[derive(Debug)]
pub(crate) struct Entries {
    keys: &'static [&'static str],
    values: Vec<Option<NodeId>>,
    filled: Vec<bool>,
    at: Location,
}

/// A walk over one tree.
#[derive(Debug)]
pub(crate) struct Reader<'t> {
    tree: &'t Tree<'t>,
    path: String,
    faults: Faults,
    warnings: Vec<Warning>,
    unlisted: usize,
    positions: BTreeMap<String, (u32, u32)>,
}

impl<'t> Reader<'t> {
    /// Begins a walk; `faults` are those of the tree itself.
    pub(crate) const fn new(tree: &'t Tree<'t>, faults: Faults) -> Self {
        Self {
            tree,
            path: String::new(),
            faults,
            warnings: Vec::new(),
            unlisted: 0,
            positions: BTreeMap::new(),
        }
    }

    /// Ends the walk: faults, warnings, places of keys.
    pub(crate) fn finish(mut self) -> (Faults, Vec<Warning>, BTreeMap<String, (u32, u32)>) {
        if self.unlisted > 0 {
            self.warnings.push(Warning::MoreUnknownKeys { count: self.unlisted });
        }
        (self.faults, self.warnings, self.positions)
    }

    /// A node of the tree.
    pub(crate) fn node(&self, id: NodeId) -> &'t Node<'t> {
        self.tree.node(id)
    }

    /// What a node says, where it is a scalar.
    pub(crate) fn scalar(&self, id: NodeId) -> Option<Scalar<'t>> {
        scalar(self.node(id))
    }

    /// The place of a node under the present path.
    pub(crate) fn place(&self, id: NodeId) -> Location {
        let node = self.node(id);
        Location { path: self.path.clone(), line: node.line, column: node.column }
    }

    /// Where the key at the present path stands, or else the place that is given.
    pub(crate) fn position(&self, fallback: &Location) -> Location {
        let written = self.positions.get(&self.path).copied();
        let (line, column) = written.unwrap_or((fallback.line, fallback.column));
        Location { path: self.path.clone(), line, column }
    }

    /// Whether a key is written, by its full path.
    pub(crate) fn has_position(&self, path: &str) -> bool {
        self.positions.contains_key(path)
    }

    /// Reads below a key of the present block.
    pub(crate) fn within<R>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.path.len();
        if before > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let answer = read(self);
        self.path.truncate(before);
        answer
    }

    /// Reads an element of the present list.
    pub(crate) fn element<R>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.path.len();
        let _ = write!(self.path, "[{index}]");
        let answer = read(self);
        self.path.truncate(before);
        answer
    }

    /// Notes a fault.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Notes a wrong value at a place.
    pub(crate) fn refuse(&mut self, at: Location, message: String, accepted: Option<&str>) {
        let accepted = accepted.map(str::to_owned);
        self.faults.push(Fault { code: Code::EMan003, at, message, accepted });
    }

    /// Notes a text that its grammar refuses.
    pub(crate) fn refuse_text<T>(
        &mut self,
        id: NodeId,
        error: &dyn std::error::Error,
        accepted: &str,
    ) -> Reading<T> {
        if !self.faults.count_if_full() {
            self.refuse(self.place(id), chain(error), Some(accepted));
        }
        Reading::Refused
    }

    /// Notes that a node is of another kind than the key accepts.
    pub(crate) fn refuse_kind<T>(&mut self, id: NodeId, accepted: &str) -> Reading<T> {
        if self.faults.count_if_full() {
            return Reading::Refused;
        }
        let message = format!("found {}", describe(self.node(id)));
        self.refuse(self.place(id), message, Some(accepted));
        Reading::Refused
    }

    /// Notes that a required key of the present block is missing or blank.
    pub(crate) fn missing(&mut self, block: &Location, key: &str, written: Option<NodeId>) {
        if self.faults.count_if_full() {
            return;
        }
        let (line, column) = match written {
            Some(id) => (self.node(id).line, self.node(id).column),
            None => (block.line, block.column),
        };
        let path =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        let message = if written.is_some() { "the value is missing" } else { "the key is missing" };
        let at = Location { path, line, column };
        self.fault(Fault { code: Code::EMan001, at, message: message.to_owned(), accepted: None });
    }

    /// Notes that a document has nothing in it.
    pub(crate) fn refuse_empty_document(&mut self, root: NodeId) {
        let (code, at) = (Code::EMan001, self.place(root));
        let message = "the document is empty".to_owned();
        self.fault(Fault { code, at, message, accepted: Some("its keys".to_owned()) });
    }

    /// Notes a warning.
    pub(crate) fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Opens a block: refuses retired keys, notes unknown ones. `None` is a fault or nothing.
    pub(crate) fn open(&mut self, id: NodeId, keys: Keys) -> Reading<Entries> {
        let NodeValue::Map(pairs) = &self.node(id).value else {
            return match self.scalar(id) {
                Some(Scalar::Null) => Reading::Absent,
                Some(_) | None => self.refuse_kind(id, "a mapping of keys"),
            };
        };
        let mut values = vec![None; keys.known.len()];
        let mut unknown = Vec::new();
        for (key, value) in pairs {
            let name = self.text(*key);
            if let Some(index) = keys.known.iter().position(|known| *known == name) {
                values[index] = Some(*value);
                self.note_position(*key, name);
            } else if let Some((_, instead)) = keys.retired.iter().find(|(old, _)| *old == name) {
                self.refuse_key(*key, name, instead);
            } else if name == "<<" {
                self.refuse_key(*key, name, "YAML 1.2 has no merge keys; write the keys out");
            } else if !keys.ignored.contains(&name) {
                unknown.push((name, *key));
            }
        }
        if keys.strict {
            self.refuse_unknown(unknown, keys.known);
        } else {
            self.note_unknown(unknown, keys.known);
        }
        let filled =
            values.iter().map(|value| value.is_some_and(|id| !self.is_blank(id))).collect();
        Reading::Value(Entries { keys: keys.known, values, filled, at: self.place(id) })
    }

    /// Whether a value says nothing, which is as if its key were not written.
    fn is_blank(&self, id: NodeId) -> bool {
        match self.scalar(id) {
            Some(Scalar::Null) => true,
            Some(Scalar::Text(text)) => text.trim().is_empty(),
            Some(Scalar::Bool(_) | Scalar::Integer(_) | Scalar::Float(_)) | None => false,
        }
    }

    /// The text of a key.
    pub(crate) fn text(&self, key: NodeId) -> &'t str {
        match &self.node(key).value {
            NodeValue::Scalar { text, .. } => text,
            NodeValue::List(_) | NodeValue::Map(_) => "",
        }
    }

    fn note_position(&mut self, key: NodeId, name: &str) {
        let at = self.within(name, |reader| reader.place(key));
        self.positions.insert(at.path, (at.line, at.column));
    }

    fn refuse_key(&mut self, key: NodeId, name: &str, instead: &str) {
        let at = self.within(name, |reader| reader.place(key));
        let message = format!("the key is refused: {instead}");
        self.refuse(at, message, None);
    }

    fn note_unknown(&mut self, mut unknown: Vec<(&'t str, NodeId)>, known: &[&'static str]) {
        unknown.sort_unstable();
        for (name, key) in unknown {
            if self.warnings.len() >= UNKNOWN_LISTED {
                self.unlisted += 1;
                continue;
            }
            let at = self.within(name, |reader| reader.place(key));
            let (key, block) = (name.to_owned(), self.path.clone());
            let suggestion = suggest(name, known);
            self.warnings.push(Warning::UnknownKey { key, block, at, suggestion });
        }
    }

    fn refuse_unknown(&mut self, unknown: Vec<(&'t str, NodeId)>, known: &[&str]) {
        for (name, key) in unknown {
            let at = self.within(name, |reader| reader.place(key));
            self.refuse(at, "the key is not known".to_owned(), Some(&choice_of(known)));
        }
    }

    /// The place of a key's value in an open block; the block's own where it is not written.
    pub(crate) fn place_of(&mut self, entries: &Entries, key: &str) -> Location {
        match entries.value(key) {
            Some(id) => self.within(key, |reader| reader.place(id)),
            None => entries.at.clone(),
        }
    }

    /// How many elements a key's list has as written, those that were refused among them.
    pub(crate) fn length(&self, entries: &Entries, key: &str) -> usize {
        match entries.value(key).map(|id| &self.node(id).value) {
            Some(NodeValue::List(items)) => items.len(),
            Some(NodeValue::Scalar { .. } | NodeValue::Map(_)) | None => 0,
        }
    }

    /// Refuses a key of an open block, where it is written.
    pub(crate) fn refuse_written(&mut self, entries: &Entries, key: &str, message: &str) {
        if entries.has(key) {
            let at = self.place_of(entries, key);
            self.refuse(at, message.to_owned(), None);
        }
    }

    /// Reads one key of an open block; `None` where it is absent or was refused.
    pub(crate) fn optional<T: Word>(&mut self, entries: &Entries, key: &str) -> Option<T> {
        let id = entries.value(key)?;
        match self.within(key, |reader| T::read(reader, id)) {
            Reading::Value(value) => Some(value),
            Reading::Absent | Reading::Refused => None,
        }
    }

    /// Reads one key of an open block that must be there; `None` where it was refused.
    pub(crate) fn required<T: Word>(&mut self, entries: &Entries, key: &str) -> Option<T> {
        let written = entries.value(key);
        let reading = match written {
            None => Reading::Absent,
            Some(id) => self.within(key, |reader| T::read(reader, id)),
        };
        match reading {
            Reading::Value(value) => Some(value),
            Reading::Refused => None,
            Reading::Absent => {
                self.missing(&entries.at, key, written);
                None
            }
        }
    }
}

impl Entries {
    /// The value of a key, where it is written.
    pub(crate) fn value(&self, key: &str) -> Option<NodeId> {
        let index = self.keys.iter().position(|known| *known == key)?;
        self.values[index]
    }

    /// Whether a key is written, with a value that is not blank.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.iter().position(|known| *known == key).is_some_and(|index| self.filled[index])
    }

    /// Where the block begins.
    pub(crate) const fn at(&self) -> &Location {
        &self.at
    }
}

/// What a node is, for a message.
pub(crate) fn describe(node: &Node<'_>) -> String {
    match (&node.value, scalar(node)) {
        (NodeValue::List(_), _) => "a list".to_owned(),
        (NodeValue::Map(_), _) => "a mapping".to_owned(),
        (NodeValue::Scalar { .. }, None | Some(Scalar::Null)) => "nothing".to_owned(),
        (NodeValue::Scalar { text, .. }, Some(Scalar::Integer(_) | Scalar::Float(_))) => {
            format!("the number `{}`", shorten(text))
        }
        (NodeValue::Scalar { text, .. }, Some(Scalar::Bool(_))) => format!("`{text}`"),
        (NodeValue::Scalar { text, .. }, Some(Scalar::Text(_))) => {
            format!("the text `{}`", shorten(text))
        }
    }
}

/// The begin of a text.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(REPEATED).collect();
    if text.chars().nth(REPEATED).is_some() {
        short.push('…');
    }
    short
}
