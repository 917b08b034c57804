//! Gateways: the address of an upstream, and the key it wants.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Grammar, Host, InvalidNetworkEntry, NetworkAllowRule, Scheme, text_serde};

/// Why a text is no gateway address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidEndpoint {
    /// A variable in it.
    #[error("`{0}` has a `${{`; the address is written out")]
    Variable(String),
    /// No scheme.
    #[error("`{0}` does not begin with `http://` or `https://`")]
    NoScheme(String),
    /// A query or a fragment.
    #[error("`{0}` has a query or a fragment")]
    Query(String),
    /// A blank or a control character.
    #[error("the address has a blank or a control character")]
    Blank,
    /// What stands before the path is no origin.
    #[error("`{entry}` does not name a host")]
    Origin {
        /// The address as written.
        entry: String,
        /// What is wrong with it.
        source: InvalidNetworkEntry,
    },
    /// Plain `http` to another machine.
    #[error("`{0}` is plain `http` to another machine; the key would travel in the clear")]
    Plain(String),
}

/// The address of an upstream: absolute, `https`, or `http` to the loopback.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatewayEndpoint {
    origin: NetworkAllowRule,
    path: String,
}

impl GatewayEndpoint {
    /// The origin, with scheme and port.
    pub const fn origin(&self) -> &NetworkAllowRule {
        &self.origin
    }

    /// The host.
    pub const fn host(&self) -> &Host {
        self.origin.host()
    }

    /// The path, empty or beginning with `/`.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Grammar for GatewayEndpoint {
    const FORM: &'static str = "an absolute address without user, query and fragment, `https://host[:port][/path]`, \
                                or `http://` to the loopback";
    const PATTERN: &'static str = r"^\s*[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#@]+(/[^\s?#]*)?\s*$";
}

impl FromStr for GatewayEndpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = text.trim();
        let owned = || address.to_owned();
        if address.contains("${") {
            return Err(InvalidEndpoint::Variable(owned()));
        }
        if address.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(InvalidEndpoint::Blank);
        }
        if address.contains(['?', '#']) {
            return Err(InvalidEndpoint::Query(owned()));
        }
        let Some((_, rest)) = address.split_once("://") else {
            return Err(InvalidEndpoint::NoScheme(owned()));
        };
        let after_scheme = address.len() - rest.len();
        let end = rest.find('/').map_or(address.len(), |slash| after_scheme + slash);
        let origin: NetworkAllowRule = address[..end]
            .parse()
            .map_err(|source| InvalidEndpoint::Origin { entry: owned(), source })?;
        if origin.scheme() == Some(Scheme::Http) && !origin.host().is_loopback() {
            return Err(InvalidEndpoint::Plain(owned()));
        }
        Ok(Self { origin, path: address[end..].to_owned() })
    }
}

impl fmt::Display for GatewayEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

text_serde!(GatewayEndpoint);

/// A text that cannot be a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidKey {
    /// Nothing is written.
    #[error("the key is blank")]
    Blank,
    /// `${…}` without a usable name in it.
    #[error("what stands between `${{` and `}}` names no variable")]
    Name,
}

/// The key of an upstream: the name of a credential, or the key itself.
///
/// `Debug` and `Display` never show a literal key.
#[derive(Clone, PartialEq, Eq)]
pub enum GatewayKey {
    /// `${NAME}`: answered by the operator's credentials, then by the environment.
    Variable(String),
    /// The key itself.
    Literal(String),
}

impl Grammar for GatewayKey {
    const FORM: &'static str = "`${NAME}` or the key itself";
    const PATTERN: &'static str = r"\S";
    const SECRET: bool = true;

    fn written(&self) -> String {
        match self {
            Self::Variable(_) => self.to_string(),
            Self::Literal(key) => key.clone(),
        }
    }
}

impl FromStr for GatewayKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let key = text.trim();
        if key.is_empty() {
            return Err(InvalidKey::Blank);
        }
        let Some(inner) = key.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
            return Ok(Self::Literal(key.to_owned()));
        };
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if inner.is_empty()
            || inner.starts_with(|c: char| c.is_ascii_digit())
            || !inner.chars().all(name)
        {
            return Err(InvalidKey::Name);
        }
        Ok(Self::Variable(inner.to_owned()))
    }
}

impl fmt::Display for GatewayKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "${{{name}}}"),
            Self::Literal(_) => f.write_str("<redacted>"),
        }
    }
}

impl fmt::Debug for GatewayKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_https_or_local() {
        for (text, shown) in [
            ("https://llm.example.net", "https://llm.example.net"),
            ("https://LLM.example.net:8443/v1/", "https://llm.example.net:8443/v1/"),
            ("http://127.0.0.1:9090", "http://127.0.0.1:9090"),
            ("http://localhost/v1", "http://localhost/v1"),
            ("http://[::1]:1", "http://[::1]:1"),
        ] {
            assert_eq!(text.parse::<GatewayEndpoint>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "llm.example.net",
            "//llm.example.net",
            "ftp://llm.example.net",
            "http://llm.example.net",
            "http://127.0.0.1.example.net",
            "https://u:p@llm.example.net",
            "https://llm.example.net?x=1",
            "https://llm.example.net/#f",
            "https://${HOST}/",
            "https://",
            "https:///v1",
            "https://a b/",
        ] {
            assert!(text.parse::<GatewayEndpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_literal_key_is_never_shown() {
        let key: GatewayKey = "sk-secret".parse().unwrap();
        assert_eq!(format!("{key} {key:?}"), "<redacted> <redacted>");
        let name: GatewayKey = " ${LLM_KEY} ".parse().unwrap();
        assert_eq!(name, GatewayKey::Variable("LLM_KEY".to_owned()));
        for text in ["", " ", "${}", "${1A}", "${A-B}", "${A}${B}"] {
            assert!(text.parse::<GatewayKey>().is_err(), "{text}");
        }
    }
}
