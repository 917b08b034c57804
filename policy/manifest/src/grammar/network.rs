//! Network entries: which destination an entry names, what it matches and what it covers.

use std::collections::HashSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, text_serde};
use crate::block::words;

words! {
    /// The scheme of a web address.
    pub enum Scheme {
        /// Plain HTTP.
        Http = "http",
        /// HTTP over TLS.
        Https = "https",
    }
}

impl Scheme {
    /// The port that is meant where none is written.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Why a text names no host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidHost {
    /// Nothing is written.
    #[error("the host is missing")]
    Empty,
    /// An asterisk.
    #[error("`{0}` has a wildcard; write each host out")]
    Wildcard(String),
    /// A character no host has.
    #[error("`{host}` has the character `{}`", found.escape_debug())]
    Character {
        /// The host as written.
        host: String,
        /// The character.
        found: char,
    },
    /// A character outside ASCII.
    #[error("`{0}` is not in ASCII; write its `xn--` form")]
    NotAscii(String),
    /// An IPv6 address without brackets.
    #[error("`{0}` is an IPv6 address or has two ports; write the address in brackets, as `[::1]`")]
    Colons(String),
    /// Something in brackets that is no IPv6 address.
    #[error("`{0}` is no IPv6 address")]
    NotIpv6(String),
    /// A number that could be taken for an IPv4 address.
    #[error("`{0}` could be taken for an IPv4 address, but is none in its four-part form")]
    NotIpv4(String),
    /// A final dot.
    #[error("`{0}` ends with a dot; write the name without it")]
    FinalDot(String),
    /// A part of the name that is empty, too long, or begins or ends with `-`.
    #[error("`{label}` in `{host}` is no part of a host name")]
    Label {
        /// The host as written.
        host: String,
        /// The part.
        label: String,
    },
    /// More than 253 characters.
    #[error("the host name has {0} characters, at most 253 are allowed")]
    TooLong(usize),
}

/// A host: a DNS name in lower case, or an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A DNS name, lower-cased, without a final dot.
    Name(DnsName),
    /// An IPv4 or IPv6 address.
    Address(IpAddr),
}

/// A DNS name in lower case, without a final dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DnsName(String);

impl DnsName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Host {
    /// Whether it is `localhost` or a loopback address.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name.0 == "localhost",
            Self::Address(address) => address.is_loopback(),
        }
    }
}

/// Checks one label of a DNS name.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// Whether the C library or a browser would read such a last label as part of an IPv4 number.
fn is_number(label: &str) -> bool {
    label.bytes().all(|b| b.is_ascii_digit())
        || label.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

impl FromStr for Host {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let owned = || text.to_owned();
        if text.is_empty() {
            return Err(InvalidHost::Empty);
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| InvalidHost::NotIpv6(owned()))?;
            return Ok(Self::Address(IpAddr::V6(address)));
        }
        if text.contains('*') {
            return Err(InvalidHost::Wildcard(owned()));
        }
        if text.contains(':') {
            return Err(InvalidHost::Colons(owned()));
        }
        if !text.is_ascii() {
            return Err(InvalidHost::NotAscii(owned()));
        }
        let host = text.to_ascii_lowercase();
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        let known = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        if let Some(found) = host.chars().find(|c| !known(c)) {
            return Err(InvalidHost::Character { host: owned(), found });
        }
        if host.ends_with('.') {
            return Err(InvalidHost::FinalDot(owned()));
        }
        if let Some(label) = host.split('.').find(|label| !is_label(label)) {
            return Err(InvalidHost::Label { host: owned(), label: label.to_owned() });
        }
        if host.len() > 253 {
            return Err(InvalidHost::TooLong(host.len()));
        }
        if host.rsplit('.').next().is_some_and(is_number) {
            return Err(InvalidHost::NotIpv4(owned()));
        }
        Ok(Self::Name(DnsName(host)))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&name.0),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

text_serde!(Host);

/// Why a text is no network entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidNetworkEntry {
    /// Nothing is written.
    #[error("the entry is empty")]
    Empty,
    /// A scheme other than `http` and `https`.
    #[error("`{entry}` has the scheme `{scheme}`; only `http` and `https` are known")]
    Scheme {
        /// The entry as written.
        entry: String,
        /// Its scheme.
        scheme: String,
    },
    /// A path, a query or a fragment. A grant is for a whole host.
    #[error("`{entry}` has {part}; a grant is for a whole host")]
    Part {
        /// The entry as written.
        entry: String,
        /// What is too much, with its article.
        part: &'static str,
    },
    /// A user name before the host.
    #[error("`{0}` has a user name before the host")]
    UserInfo(String),
    /// A port that is none.
    #[error("`{port}` in `{entry}` is no port from 1 to 65535")]
    Port {
        /// The entry as written.
        entry: String,
        /// Its port.
        port: String,
    },
    /// A host that is none.
    #[error("the host of `{entry}` is not one")]
    Host {
        /// The entry as written.
        entry: String,
        /// What is wrong with it.
        source: InvalidHost,
    },
}

/// A destination a capsule may reach: a host, with a scheme and a port where it is bound to them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkAllowRule {
    scheme: Option<Scheme>,
    host: Host,
    port: Option<u16>,
}

/// A connection somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NetworkRequest {
    /// The scheme spoken; `None` where it is neither of the two.
    pub scheme: Option<Scheme>,
    /// The host asked for.
    pub host: Host,
    /// The port; the scheme's own where `None`.
    pub port: Option<u16>,
}

impl NetworkAllowRule {
    /// The scheme it is bound to; `None` is any.
    pub const fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    /// The host it names.
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The port it is bound to; `None` is any.
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether the rule allows this connection.
    pub fn matches(&self, request: &NetworkRequest) -> bool {
        let port = request.port.or(request.scheme.map(Scheme::default_port));
        self.host == request.host
            && (self.scheme.is_none() || self.scheme == request.scheme)
            && (self.port.is_none() || self.port == port)
    }

    /// Whether everything `narrower` allows is allowed by this rule. What is not written on this
    /// side is any; what is not written on the narrower side is not covered by a bound one.
    pub fn covers(&self, narrower: &Self) -> bool {
        self.host == narrower.host
            && (self.scheme.is_none() || self.scheme == narrower.scheme)
            && (self.port.is_none() || self.port == narrower.port)
    }

    /// Whether one of these rules covers this one: as [`Self::covers`] asked of each, by look-up.
    pub fn is_covered_by(&self, ceilings: &HashSet<Self>) -> bool {
        self.ceilings().any(|ceiling| ceilings.contains(&ceiling))
    }

    /// Every rule that covers this one, itself among them, each once.
    fn ceilings(&self) -> impl Iterator<Item = Self> {
        let bound = |scheme, port| Self { scheme, host: self.host.clone(), port };
        let with_scheme = self.scheme.map(|scheme| bound(Some(scheme), None));
        let with_port = self.port.map(|port| bound(None, Some(port)));
        let with_both =
            self.scheme.zip(self.port).map(|(scheme, port)| bound(Some(scheme), Some(port)));
        [Some(bound(None, None)), with_scheme, with_port, with_both].into_iter().flatten()
    }
}

/// The TCP ports that need a listener for these rules: each rule's own, else 80 and 443; at most
/// 16, in the order of the rules.
pub fn listening_ports<'a>(rules: impl IntoIterator<Item = &'a NetworkAllowRule>) -> Vec<u16> {
    let mut ports = Vec::new();
    for rule in rules {
        let implied: &[u16] = rule.port.as_ref().map_or(&[80, 443], std::slice::from_ref);
        for port in implied {
            if ports.len() < 16 && !ports.contains(port) {
                ports.push(*port);
            }
        }
    }
    ports
}

impl Grammar for NetworkAllowRule {
    const FORM: &'static str = "`host`, `host:port`, `http://host[:port]` or `https://host[:port]`, as `api.example.com:8443`";
    const PATTERN: &'static str = r"^\s*([Hh][Tt][Tt][Pp][Ss]?://)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?)(:[1-9][0-9]{0,4})?/?\s*$";
}

/// Splits off a scheme.
fn split_scheme(entry: &str) -> Result<(Option<Scheme>, &str), InvalidNetworkEntry> {
    let Some((scheme, rest)) = entry.split_once("://") else {
        return Ok((None, entry));
    };
    let known = scheme.to_ascii_lowercase().parse().map_err(|_| InvalidNetworkEntry::Scheme {
        entry: entry.to_owned(),
        scheme: scheme.to_owned(),
    })?;
    Ok((Some(known), rest))
}

/// Splits off a port.
fn split_port<'a>(
    entry: &str,
    text: &'a str,
) -> Result<(&'a str, Option<u16>), InvalidNetworkEntry> {
    let after_address = text.rfind(']').map_or(0, |end| end + 1);
    let Some(colon) = text[after_address..].rfind(':').map(|at| at + after_address) else {
        return Ok((text, None));
    };
    let (host, port) = (&text[..colon], &text[colon + 1..]);
    if after_address == 0 && host.contains(':') {
        return Ok((text, None));
    }
    let digits = !port.starts_with('0') && port.bytes().all(|b| b.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(number) if digits => Ok((host, Some(number))),
        Ok(_) | Err(_) => {
            Err(InvalidNetworkEntry::Port { entry: entry.to_owned(), port: port.to_owned() })
        }
    }
}

impl FromStr for NetworkAllowRule {
    type Err = InvalidNetworkEntry;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entry = text.trim();
        if entry.is_empty() {
            return Err(InvalidNetworkEntry::Empty);
        }
        let (scheme, rest) = split_scheme(entry)?;
        let rest = if scheme.is_some() { rest.strip_suffix('/').unwrap_or(rest) } else { rest };
        for (mark, part) in [('?', "a query"), ('#', "a fragment"), ('/', "a path")] {
            if rest.contains(mark) {
                return Err(InvalidNetworkEntry::Part { entry: entry.to_owned(), part });
            }
        }
        if rest.contains('@') {
            return Err(InvalidNetworkEntry::UserInfo(entry.to_owned()));
        }
        let (host, port) = split_port(entry, rest)?;
        let host = host
            .parse()
            .map_err(|source| InvalidNetworkEntry::Host { entry: entry.to_owned(), source })?;
        Ok(Self { scheme, host, port: port.or(scheme.map(Scheme::default_port)) })
    }
}

impl fmt::Display for NetworkAllowRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.scheme {
            write!(f, "{scheme}://")?;
        }
        self.host.fmt(f)?;
        match self.port {
            Some(port) if self.scheme.map(Scheme::default_port) != Some(port) => {
                write!(f, ":{port}")
            }
            Some(_) | None => Ok(()),
        }
    }
}

text_serde!(NetworkAllowRule);

#[cfg(test)]
#[path = "network/tests.rs"]
mod tests;
