use super::*;
use proptest::prelude::*;

fn rule(text: &str) -> NetworkAllowRule {
    text.parse().unwrap()
}

#[test]
fn an_entry_lowers_to_scheme_host_and_port() {
    use Scheme::{Http, Https};
    for (text, scheme, host, port, shown) in [
        (
            "https://api.example.com",
            Some(Https),
            "api.example.com",
            Some(443),
            "https://api.example.com",
        ),
        (
            "http://api.example.com:8080/",
            Some(Http),
            "api.example.com",
            Some(8080),
            "http://api.example.com:8080",
        ),
        ("api.example.com", None, "api.example.com", None, "api.example.com"),
        ("api.example.com:22", None, "api.example.com", Some(22), "api.example.com:22"),
        ("api.example.com:80", None, "api.example.com", Some(80), "api.example.com:80"),
        (
            " HTTPS://API.Example.com:443/ ",
            Some(Https),
            "api.example.com",
            Some(443),
            "https://api.example.com",
        ),
        ("10.0.0.1:5432", None, "10.0.0.1", Some(5432), "10.0.0.1:5432"),
        ("[::1]:8080", None, "[::1]", Some(8080), "[::1]:8080"),
        ("[0:0::0:1]", None, "[::1]", None, "[::1]"),
        ("http://[2001:DB8::1]/", Some(Http), "[2001:db8::1]", Some(80), "http://[2001:db8::1]"),
        ("localhost:65535", None, "localhost", Some(65535), "localhost:65535"),
        ("my_service", None, "my_service", None, "my_service"),
        ("xn--bcher-kva.example", None, "xn--bcher-kva.example", None, "xn--bcher-kva.example"),
    ] {
        let rule = rule(text);
        assert_eq!(rule.scheme(), scheme, "{text}");
        assert_eq!(rule.host().to_string(), host, "{text}");
        assert_eq!(rule.port(), port, "{text}");
        assert_eq!(rule.to_string(), shown, "{text}");
        assert_eq!(shown.parse::<NetworkAllowRule>().unwrap(), rule);
    }
}

#[test]
fn what_is_no_entry_is_refused_for_its_own_reason() {
    for (text, message) in [
        ("", "the entry is empty"),
        ("  ", "the entry is empty"),
        (
            "ftp://a.example",
            "`ftp://a.example` has the scheme `ftp`; only `http` and `https` are known",
        ),
        ("://a.example", "`://a.example` has the scheme ``; only `http` and `https` are known"),
        ("https://a.example/x", "`https://a.example/x` has a path; a grant is for a whole host"),
        ("https://a.example//", "`https://a.example//` has a path; a grant is for a whole host"),
        ("a.example/", "`a.example/` has a path; a grant is for a whole host"),
        ("10.0.0.0/8", "`10.0.0.0/8` has a path; a grant is for a whole host"),
        ("https://a.example?q", "`https://a.example?q` has a query; a grant is for a whole host"),
        ("a.example#f", "`a.example#f` has a fragment; a grant is for a whole host"),
        ("https://u:p@a.example", "`https://u:p@a.example` has a user name before the host"),
        ("u@a.example:22", "`u@a.example:22` has a user name before the host"),
        ("a.example:", "`` in `a.example:` is no port from 1 to 65535"),
        ("a.example:0", "`0` in `a.example:0` is no port from 1 to 65535"),
        ("a.example:65536", "`65536` in `a.example:65536` is no port from 1 to 65535"),
        ("a.example:080", "`080` in `a.example:080` is no port from 1 to 65535"),
        ("a.example:+80", "`+80` in `a.example:+80` is no port from 1 to 65535"),
        ("a.example:8000-9000", "`8000-9000` in `a.example:8000-9000` is no port from 1 to 65535"),
        ("a.example:*", "`*` in `a.example:*` is no port from 1 to 65535"),
    ] {
        assert_eq!(text.parse::<NetworkAllowRule>().unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn what_is_no_host_is_refused_for_its_own_reason() {
    for (text, message) in [
        ("https://", "the host is missing"),
        ("https://:443", "the host is missing"),
        ("*.example.com", "`*.example.com` has a wildcard; write each host out"),
        ("*", "`*` has a wildcard; write each host out"),
        ("bücher.example", "`bücher.example` is not in ASCII; write its `xn--` form"),
        ("example.com.", "`example.com.` ends with a dot; write the name without it"),
        ("a..b", "`` in `a..b` is no part of a host name"),
        (".example.com", "`` in `.example.com` is no part of a host name"),
        ("-a.example", "`-a` in `-a.example` is no part of a host name"),
        ("a b.example", "`a b.example` has the character ` `"),
        ("a\\b", "`a\\b` has the character `\\\\`"),
        ("a%2fb", "`a%2fb` has the character `%`"),
        ("127.1", "`127.1` could be taken for an IPv4 address, but is none in its four-part form"),
        (
            "2130706433",
            "`2130706433` could be taken for an IPv4 address, but is none in its four-part form",
        ),
        (
            "0x7f000001",
            "`0x7f000001` could be taken for an IPv4 address, but is none in its four-part form",
        ),
        (
            "127.0.0.01",
            "`127.0.0.01` could be taken for an IPv4 address, but is none in its four-part form",
        ),
        (
            "256.1.1.1",
            "`256.1.1.1` could be taken for an IPv4 address, but is none in its four-part form",
        ),
        (
            "::1",
            "`::1` is an IPv6 address or has two ports; write the address in brackets, as `[::1]`",
        ),
        (
            "[::1",
            "`[::1` is an IPv6 address or has two ports; write the address in brackets, as `[::1]`",
        ),
        ("[::g]", "`[::g]` is no IPv6 address"),
        ("[fe80::1%eth0]", "`[fe80::1%eth0]` is no IPv6 address"),
        ("[127.0.0.1]", "`[127.0.0.1]` is no IPv6 address"),
        (
            "[::1]x:80",
            "`[::1]x` is an IPv6 address or has two ports; write the address in brackets, as `[::1]`",
        ),
    ] {
        let refusal = text.parse::<NetworkAllowRule>().unwrap_err();
        let InvalidNetworkEntry::Host { source, .. } = refusal else {
            panic!("{text}: {refusal}");
        };
        assert_eq!(source.to_string(), message, "{text}");
    }
    let label = format!("{}.example", "a".repeat(64));
    assert!(label.parse::<Host>().is_err());
    assert!(vec!["a".repeat(63); 4].join(".").parse::<Host>().is_err());
}

#[test]
fn covering_follows_the_table_of_the_envelope() {
    for (ceiling, candidate, covered) in [
        ("example.com", "https://example.com", true),
        ("https://example.com", "example.com", false),
        ("example.com", "example.com", true),
        ("https://example.com", "https://example.com", true),
        ("https://example.com", "http://example.com", false),
        ("example.com:8443", "example.com:8443", true),
        ("example.com:8443", "example.com:9000", false),
        ("example.com", "other.example.com", false),
        ("example.com", "example.com:8443", true),
        ("example.com:8443", "example.com", false),
        ("example.com:443", "https://example.com", true),
        ("https://example.com", "example.com:443", false),
        ("https://example.com", "https://example.com:443", true),
        ("https://example.com:8443", "https://example.com", false),
        ("https://EXAMPLE.com", "https://example.com/", true),
        ("[::1]", "[0:0:0:0:0:0:0:1]:80", true),
    ] {
        assert_eq!(rule(ceiling).covers(&rule(candidate)), covered, "{ceiling} {candidate}");
    }
}

#[test]
fn matching_fills_in_the_port_of_the_scheme() {
    use Scheme::{Http, Https};
    for (text, scheme, port, matched) in [
        ("example.com", Some(Https), None, true),
        ("example.com", None, Some(22), true),
        ("example.com:22", None, Some(22), true),
        ("example.com:22", Some(Https), None, false),
        ("https://example.com", Some(Https), None, true),
        ("https://example.com", Some(Https), Some(443), true),
        ("https://example.com", Some(Https), Some(8443), false),
        ("https://example.com", Some(Http), Some(443), false),
        ("https://example.com", None, Some(443), false),
        ("example.com:80", Some(Http), None, true),
        ("example.com:80", None, None, false),
    ] {
        let request = NetworkRequest { scheme, host: "example.com".parse().unwrap(), port };
        assert_eq!(rule(text).matches(&request), matched, "{text} {scheme:?} {port:?}");
    }
}

#[test]
fn listeners_are_counted_once_and_at_most_sixteen() {
    let rules = ["a.example", "b.example:8443", "https://c.example", "d.example:8443"].map(rule);
    assert_eq!(listening_ports(&rules), [80, 443, 8443]);
    let many: Vec<_> = (1..=20).map(|port| rule(&format!("a.example:{port}"))).collect();
    assert_eq!(listening_ports(&many), (1..=16).collect::<Vec<u16>>());
}

proptest! {
    #[test]
    fn the_ceilings_of_a_rule_are_those_that_cover_it(
        ceiling in "(https?://)?[ab]\\.test(:(80|443|22))?",
        narrower in "(https?://)?[ab]\\.test(:(80|443|22))?",
    ) {
        let (ceiling, narrower) = (rule(&ceiling), rule(&narrower));
        let found = narrower.ceilings().filter(|own| *own == ceiling).count();
        prop_assert_eq!(found, usize::from(ceiling.covers(&narrower)));
        prop_assert_eq!(narrower.is_covered_by(&[ceiling.clone()].into()), ceiling.covers(&narrower));
    }
}
