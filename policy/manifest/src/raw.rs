//! YAML bytes to a tree of nodes with their places: here and below alone the YAML crate is known.
//!
//! Whatever the bytes, the answer is a tree within the limits below, or a fault with its place.
//! Scalars keep their text; what a plain one means is decided by `scalar`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use saphyr_parser::{Event, Marker, Parser};

use crate::code::Code;
use crate::fault::{Fault, Faults};
use crate::location::Location;
use crate::text::check_text;

mod tag;
mod wording;

/// Largest file, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Deepest nesting of lists and mappings, aliases followed.
const MAX_DEPTH: usize = 64;
/// Most values in a file.
const MAX_NODES: usize = 100_000;
/// Most values that aliases may stand for, together.
const MAX_ALIASED: usize = 20_000;

/// A node of a [`Tree`].
pub(crate) type NodeId = usize;

/// A value and where it begins.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
    /// The value.
    pub(crate) value: NodeValue<'a>,
}

/// What a node is.
#[derive(Debug)]
pub(crate) enum NodeValue<'a> {
    /// Text; a plain one may mean a number, a boolean or nothing.
    Scalar {
        /// The text, unescaped.
        text: Cow<'a, str>,
        /// Without quotes, so that it may mean something other than text.
        plain: bool,
    },
    /// A list.
    List(Vec<NodeId>),
    /// A mapping, in file order; keys are scalars, each once.
    Map(Vec<(NodeId, NodeId)>),
}

/// A document.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    root: NodeId,
}

impl<'a> Tree<'a> {
    /// The outermost node.
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// A node.
    pub(crate) fn node(&self, id: NodeId) -> &Node<'a> {
        &self.nodes[id]
    }
}

/// Reads one YAML document. Faults that leave the tree usable, such as a key written twice, go to
/// `faults`; the others are the error.
pub(crate) fn read<'a>(bytes: &'a [u8], faults: &mut Faults) -> Result<Tree<'a>, Fault> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, at most {MAX_BYTES} are read", bytes.len());
        return Err(fault(1, 1, String::new(), message));
    }
    let text = check_text(bytes)?;
    let mut builder = Builder::new(faults);
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let (line, column) = wording::place_of(error.info(), text, place(*error.marker()));
            fault(line, column, builder.path(), wording::words_for(error.info()))
        })?;
        builder.take(event, span.start)?;
    }
    Ok(builder.finish())
}

/// A fault of the file's form.
fn fault(line: u32, column: u32, path: String, message: String) -> Fault {
    Fault { code: Code::EMan002, at: Location { path, line, column }, message, accepted: None }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A marker of the parser as line and column, both from 1.
fn place(marker: Marker) -> (u32, u32) {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (number(marker.line()), number(marker.col() + 1))
}

/// A list or mapping that is not closed yet.
#[derive(Debug)]
struct Open {
    id: NodeId,
    anchor: usize,
    /// In a mapping: the key whose value comes next.
    key: Option<NodeId>,
    /// In a mapping: the keys so far, by the hash of their text.
    keys: HashMap<u64, NodeId>,
    /// A key that is skipped with its value, since it is written twice or is no text.
    skip: bool,
    /// Values below, aliases followed.
    size: usize,
    /// Levels below, aliases followed.
    height: usize,
}

/// What an anchor stands for.
#[derive(Debug, Clone, Copy)]
struct Anchored {
    id: NodeId,
    size: usize,
    height: usize,
}

/// Builds a tree out of events.
#[derive(Debug)]
struct Builder<'a, 'f> {
    nodes: Vec<Node<'a>>,
    open: Vec<Open>,
    anchors: Vec<Option<Anchored>>,
    aliased: usize,
    root: Option<NodeId>,
    documents: usize,
    faults: &'f mut Faults,
}

impl<'a, 'f> Builder<'a, 'f> {
    fn new(faults: &'f mut Faults) -> Self {
        Self {
            nodes: Vec::new(),
            open: Vec::new(),
            anchors: Vec::new(),
            aliased: 0,
            root: None,
            documents: 0,
            faults,
        }
    }

    /// Takes the next event.
    fn take(&mut self, event: Event<'a>, at: Marker) -> Result<(), Fault> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(
                        self.fault(at, "a second document begins here; write one".to_owned())
                    );
                }
                Ok(())
            }
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::Scalar(text, style, anchor, tag) => {
                let plain = self.check_scalar_tag(tag.as_deref(), style, at);
                let id = self.push(NodeValue::Scalar { text, plain }, at)?;
                self.attach(Anchored { id, size: 1, height: 0 }, anchor);
                Ok(())
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "seq", at);
                self.open(NodeValue::List(Vec::new()), anchor, at)
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "map", at);
                self.open(NodeValue::Map(Vec::new()), anchor, at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.close();
                Ok(())
            }
        }
    }

    /// The tree; a file without a document is one with nothing in it.
    fn finish(mut self) -> Tree<'a> {
        let root = self.root.unwrap_or_else(|| {
            let value = NodeValue::Scalar { text: Cow::Borrowed(""), plain: true };
            self.nodes.push(Node { line: 1, column: 1, value });
            self.nodes.len() - 1
        });
        Tree { nodes: self.nodes, root }
    }

    /// The key path of what is being read.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match (&self.nodes[open.id].value, open.key) {
                (NodeValue::List(items), _) => {
                    let _ = write!(path, "[{}]", items.len());
                }
                (NodeValue::Map(_), Some(key)) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(self.text_of(key));
                }
                (NodeValue::Map(_) | NodeValue::Scalar { .. }, _) => {}
            }
        }
        path
    }

    fn text_of(&self, id: NodeId) -> &str {
        match &self.nodes[id].value {
            NodeValue::Scalar { text, .. } => text,
            NodeValue::List(_) | NodeValue::Map(_) => "",
        }
    }

    fn fault(&self, at: Marker, message: String) -> Fault {
        let (line, column) = place(at);
        fault(line, column, self.path(), message)
    }

    /// Adds a node that nothing holds yet.
    fn push(&mut self, value: NodeValue<'a>, at: Marker) -> Result<NodeId, Fault> {
        if self.nodes.len() >= MAX_NODES {
            return Err(self.fault(at, format!("the file has more than {MAX_NODES} values")));
        }
        let (line, column) = place(at);
        self.nodes.push(Node { line, column, value });
        Ok(self.nodes.len() - 1)
    }

    /// Begins a list or mapping.
    fn open(&mut self, value: NodeValue<'a>, anchor: usize, at: Marker) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.fault(at, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let id = self.push(value, at)?;
        self.open.push(Open {
            id,
            anchor,
            key: None,
            keys: HashMap::new(),
            skip: false,
            size: 1,
            height: 1,
        });
        Ok(())
    }

    /// Ends the innermost list or mapping.
    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            let done = Anchored { id: open.id, size: open.size, height: open.height };
            self.attach(done, open.anchor);
        }
    }

    /// Puts what an anchor stands for at this place.
    fn alias(&mut self, anchor: usize, at: Marker) -> Result<(), Fault> {
        let Some(target) = self.anchors.get(anchor).copied().flatten() else {
            return Err(self.fault(at, "the alias stands inside what it stands for".to_owned()));
        };
        self.aliased += target.size;
        if self.aliased > MAX_ALIASED {
            let message = format!("aliases stand for more than {MAX_ALIASED} values");
            return Err(self.fault(at, message));
        }
        if self.open.len() + target.height > MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels through an alias");
            return Err(self.fault(at, message));
        }
        self.attach(target, 0);
        Ok(())
    }

    /// Hands a finished node to the list or mapping it stands in.
    fn attach(&mut self, done: Anchored, anchor: usize) {
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize(anchor + 1, None);
            }
            self.anchors[anchor] = Some(done);
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(done.id);
            return;
        };
        parent.size += done.size;
        parent.height = parent.height.max(done.height + 1);
        let (parent_id, key) = (parent.id, parent.key.take());
        match (&mut self.nodes[parent_id].value, key) {
            (NodeValue::List(items), _) => items.push(done.id),
            (NodeValue::Map(entries), Some(key)) => {
                if !std::mem::take(&mut parent.skip) {
                    entries.push((key, done.id));
                }
                self.place_empty(key, done.id);
            }
            (NodeValue::Map(_), None) => self.begin_entry(done.id),
            (NodeValue::Scalar { .. }, _) => {}
        }
    }

    /// An empty value has no place of its own: it gets its key's.
    fn place_empty(&mut self, key: NodeId, value: NodeId) {
        let empty = matches!(&self.nodes[value].value, NodeValue::Scalar { text, plain: true } if text.is_empty());
        if empty {
            (self.nodes[value].line, self.nodes[value].column) =
                (self.nodes[key].line, self.nodes[key].column);
        }
    }

    /// Takes a finished node as the key of the next entry.
    fn begin_entry(&mut self, key: NodeId) {
        let message = match &self.nodes[key].value {
            NodeValue::List(_) | NodeValue::Map(_) => {
                "a list or mapping cannot be a key".to_owned()
            }
            NodeValue::Scalar { text, .. } if self.is_repeated(key, text) => {
                format!("the key `{text}` is written a second time")
            }
            NodeValue::Scalar { text, .. } => {
                let hash = hash_of(text);
                if let Some(open) = self.open.last_mut() {
                    open.key = Some(key);
                    open.keys.entry(hash).or_insert(key);
                }
                return;
            }
        };
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
            open.skip = true;
        }
        if !self.faults.count_if_full() {
            let (line, column) = (self.nodes[key].line, self.nodes[key].column);
            let fault = fault(line, column, self.path(), message);
            self.faults.push(fault);
        }
    }

    /// Whether the innermost mapping has this key already. Hashes only save the comparison with
    /// every key: two that share one are compared themselves.
    fn is_repeated(&self, key: NodeId, text: &str) -> bool {
        let Some(open) = self.open.last() else { return false };
        match open.keys.get(&hash_of(text)) {
            None => false,
            Some(first) if self.text_of(*first) == text => true,
            Some(_) => match &self.nodes[open.id].value {
                NodeValue::Map(entries) => {
                    entries.iter().any(|(known, _)| *known != key && self.text_of(*known) == text)
                }
                NodeValue::Scalar { .. } | NodeValue::List(_) => false,
            },
        }
    }
}

#[cfg(test)]
#[path = "raw/tests.rs"]
mod tests;
