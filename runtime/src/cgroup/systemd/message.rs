//! Writes and reads D-Bus messages, as far as systemd's manager needs it.

/// A value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// `s`
    Text(String),
    /// `b`
    Bool(bool),
    /// `t`
    Number(u64),
    /// `au`
    Numbers(Vec<u32>),
    /// `as`
    Texts(Vec<String>),
    /// `ay`
    Bytes(Vec<u8>),
}

impl Value {
    fn signature(&self) -> &'static str {
        match self {
            Self::Text(_) => "s",
            Self::Bool(_) => "b",
            Self::Number(_) => "t",
            Self::Numbers(_) => "au",
            Self::Texts(_) => "as",
            Self::Bytes(_) => "ay",
        }
    }
}

/// Writes values in the alignment of the protocol, little endian.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.align(4);
        self.0.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.align(8);
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.u32(length(text.len()));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    pub(crate) fn signature(&mut self, text: &str) {
        self.0.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    /// Writes an array whose items are aligned to `to`.
    pub(crate) fn array(&mut self, to: usize, items: impl FnOnce(&mut Self)) {
        self.u32(0);
        let at = self.0.len() - 4;
        self.align(to);
        let start = self.0.len();
        items(self);
        let size = length(self.0.len() - start);
        self.0[at..at + 4].copy_from_slice(&size.to_le_bytes());
    }

    pub(crate) fn variant(&mut self, value: &Value) {
        self.signature(value.signature());
        match value {
            Value::Text(text) => self.text(text),
            Value::Bool(on) => self.u32(u32::from(*on)),
            Value::Number(number) => self.u64(*number),
            Value::Numbers(list) => self.array(4, |w| list.iter().for_each(|&n| w.u32(n))),
            Value::Texts(list) => self.array(4, |w| list.iter().for_each(|text| w.text(text))),
            Value::Bytes(bytes) => self.array(1, |w| w.0.extend(bytes)),
        }
    }
}

/// Sizes of this protocol are below 128 MiB, and so are our messages.
fn length(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// A method call to be sent.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) destination: &'a str,
    pub(crate) path: &'a str,
    pub(crate) interface: &'a str,
    pub(crate) method: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) body: Vec<u8>,
}

impl Call<'_> {
    /// The bytes of the call, with `serial` as its number.
    pub(crate) fn to_bytes(&self, serial: u32) -> Vec<u8> {
        let mut out = Writer::default();
        out.0.extend([b'l', 1, 0, 1]);
        out.u32(length(self.body.len()));
        out.u32(serial);
        out.array(8, |fields| {
            for (code, kind, text) in [
                (1, "o", self.path),
                (2, "s", self.interface),
                (3, "s", self.method),
                (6, "s", self.destination),
            ] {
                fields.align(8);
                fields.byte(code);
                fields.signature(kind);
                fields.text(text);
            }
            if !self.signature.is_empty() {
                fields.align(8);
                fields.byte(8);
                fields.signature("g");
                fields.signature(self.signature);
            }
        });
        out.align(8);
        out.0.extend(&self.body);
        out.0
    }
}

/// Kind of a received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Reply,
    Error,
    Signal,
    Other,
}

/// A received message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) reply_to: Option<u32>,
    /// The member of a signal, or the name of an error.
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
}

/// Length of the fixed part that tells how long the rest is.
pub(crate) const PREFIX: usize = 16;
/// Longest message we read: systemd's answers are a few hundred bytes.
const LONGEST: usize = 1 << 20;

/// How many bytes follow the first [`PREFIX`] bytes of a message; `None`: not a message.
pub(crate) fn rest_length(prefix: &[u8; PREFIX]) -> Option<usize> {
    let mut reader = Reader { bytes: prefix, at: 4 };
    let body = reader.u32()? as usize;
    reader.at = 12;
    let fields = reader.u32()? as usize;
    let rest = fields.checked_next_multiple_of(8)?.checked_add(body)?;
    (prefix[0] == b'l' && rest <= LONGEST).then_some(rest)
}

impl Message {
    /// Reads a whole message; `None`: it is not one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let kind = match bytes.get(1)? {
            2 => Kind::Reply,
            3 => Kind::Error,
            4 => Kind::Signal,
            _ => Kind::Other,
        };
        let mut reader = Reader { bytes, at: 12 };
        let end = PREFIX + reader.u32()? as usize;
        let (mut reply_to, mut name) = (None, String::new());
        reader.at = PREFIX;
        while reader.at < end {
            reader.align(8);
            let code = reader.byte()?;
            match (code, reader.signature()?.as_str()) {
                (3 | 4, "s") => name = reader.text()?,
                (5, "u") => reply_to = Some(reader.u32()?),
                (_, "s" | "o") => drop(reader.text()?),
                (_, "g") => drop(reader.signature()?),
                (_, "u") => drop(reader.u32()?),
                _ => return None,
            }
        }
        reader.at = end;
        reader.align(8);
        let body = bytes.get(reader.at..)?.to_vec();
        Some(Self { kind, reply_to, name, body })
    }

    /// Reads the body.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { bytes: &self.body, at: 0 }
    }
}

/// Reads values in the alignment of the protocol, little endian.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }

    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.align(4);
        let bytes = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    pub(crate) fn signature(&mut self) -> Option<String> {
        let length = usize::from(self.byte()?);
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Option<String> {
        let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length + 1;
        String::from_utf8(bytes.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_laid_out_as_the_protocol_says() {
        let mut body = Writer::default();
        body.text("x.scope");
        let call = Call {
            destination: "d",
            path: "/p",
            interface: "i",
            method: "m",
            signature: "s",
            body: body.into_bytes(),
        };
        let bytes = call.to_bytes(7);
        assert_eq!(&bytes[..12], [b'l', 1, 0, 1, 12, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(&bytes[bytes.len() - 12..], b"\x07\0\0\0x.scope\0");
        let prefix = bytes[..PREFIX].try_into().unwrap();
        assert_eq!(rest_length(&prefix), Some(bytes.len() - PREFIX));
        let read = Message::parse(&bytes).unwrap();
        assert_eq!((read.kind, read.name.as_str()), (Kind::Other, "m"));
        assert_eq!(read.reader().text().as_deref(), Some("x.scope"));
    }

    #[test]
    fn arrays_count_their_bytes_without_the_padding_before_the_first_item() {
        let mut out = Writer::default();
        out.array(8, |w| w.variant(&Value::Number(5)));
        // Length, padding to 8, then signature "t" padded to 8 and the number.
        assert_eq!(
            out.into_bytes(),
            [
                &[16, 0, 0, 0, 0, 0, 0, 0][..],
                &[1, b't', 0, 0, 0, 0, 0, 0],
                &[5, 0, 0, 0, 0, 0, 0, 0]
            ]
            .concat()
        );
    }

    #[test]
    fn a_broken_message_is_none() {
        assert_eq!(rest_length(&[0xff; PREFIX]), None);
        assert_eq!(rest_length(b"l\x02\0\x01\xff\xff\xff\xff\0\0\0\0\0\0\0\0"), None);
        assert!(Message::parse(b"l\x02\0\x01\0\0\0\0\0\0\0\0\x20\0\0\0\x08").is_none());
    }
}
