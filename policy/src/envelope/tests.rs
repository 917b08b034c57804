use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;

use super::*;
use ContainmentClass::{Advisory, Scoped, Sealed, Unconfined};

/// What a capsule without any grant reaches.
fn nothing() -> SpawnEnvelope {
    SpawnEnvelope {
        network_allow: Vec::new(),
        unix_sockets_allowed: false,
        peer_fetch_allow: Vec::new(),
        shell_allow: Vec::new(),
        spawn_allow: Vec::new(),
        env_allow: Vec::new(),
        filesystem_scope: None,
        workdir_exec_allowed: false,
        state_stores: BTreeSet::new(),
        install_skill: Vec::new(),
        install_tool: Vec::new(),
        install_from_sources: false,
        containment_floor: Advisory,
    }
}

fn list(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|&entry| entry.to_owned()).collect()
}

/// Makes `child` exceed a parent of `bounded` on one axis.
fn widen(child: &mut SpawnEnvelope, axis: EnvelopeAxis) {
    match axis {
        EnvelopeAxis::NetworkAllow => child.network_allow = list(&["a.test"]),
        EnvelopeAxis::UnixSockets => child.unix_sockets_allowed = true,
        EnvelopeAxis::PeerFetchAllow => child.peer_fetch_allow = list(&["a.test"]),
        EnvelopeAxis::ShellAllow => child.shell_allow = list(&["bash"]),
        EnvelopeAxis::SpawnAllow => child.spawn_allow = list(&["acme/x"]),
        EnvelopeAxis::EnvAllow => child.env_allow = list(&["CI"]),
        EnvelopeAxis::FilesystemScope => child.filesystem_scope = None,
        EnvelopeAxis::WorkdirExec => child.workdir_exec_allowed = true,
        EnvelopeAxis::StateStore => child.state_stores = ["x".to_owned()].into(),
        EnvelopeAxis::InstallSkill => child.install_skill = list(&["*"]),
        EnvelopeAxis::InstallTool => child.install_tool = list(&["acme/*"]),
        EnvelopeAxis::InstallFrom => child.install_from_sources = true,
        EnvelopeAxis::Containment => child.containment_floor = Unconfined,
    }
}

/// A parent with a scope and a floor, so that each axis can be exceeded.
fn bounded() -> SpawnEnvelope {
    SpawnEnvelope {
        filesystem_scope: Some("data".to_owned()),
        containment_floor: Scoped,
        ..nothing()
    }
}

#[test]
fn a_child_that_exceeds_on_one_axis_is_refused_on_that_axis() {
    for axis in EnvelopeAxis::ALL {
        let mut child = bounded();
        widen(&mut child, axis);
        let violation = bounded().contains(&child).expect_err("wider");
        assert_eq!(violation.axis, axis);
        assert!(violation.to_string().starts_with(&format!("{}: ", axis.key())), "{violation}");
        assert!(violation.to_string().contains(&format!("'{}'", violation.entry)), "{violation}");
    }
}

#[test]
fn a_wider_child_is_refused_on_its_first_wider_axis() {
    for (skipped, first) in EnvelopeAxis::ALL.into_iter().enumerate() {
        let mut child = bounded();
        for axis in EnvelopeAxis::ALL.into_iter().skip(skipped) {
            widen(&mut child, axis);
        }
        assert_eq!(bounded().contains(&child).expect_err("wider").axis, first);
    }
}

#[test]
fn network_entries_are_covered_as_the_table_says() {
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
        ("example.com", "http://example.com/x", false),
        ("http://example.com/x", "example.com", false),
        ("", "example.com", false),
        ("example.com:80", "example.com:80", true),
        ("example.com:80", "example.com:81", false),
        ("example.com", "user@example.com", false),
    ] {
        let with = |entry: &str| SpawnEnvelope { network_allow: list(&[entry]), ..nothing() };
        let verdict = with(ceiling).contains(&with(candidate));
        assert_eq!(verdict.is_ok(), covered, "{ceiling} {candidate}");
        let with = |entry: &str| SpawnEnvelope { peer_fetch_allow: list(&[entry]), ..nothing() };
        assert_eq!(with(ceiling).contains(&with(candidate)).is_ok(), covered);
    }
}

#[test]
fn a_scope_is_compared_by_its_components() {
    for (parent, child, fits) in [
        (None, Some("data"), true),
        (None, None, true),
        (Some("data"), Some("data"), true),
        (Some("data"), Some("data/in"), true),
        (Some("data"), Some("data/in/../in"), true),
        (Some("data"), Some("./data"), true),
        (Some("data"), None, false),
        (Some("data"), Some("."), false),
        (Some("data"), Some("other"), false),
        (Some("data"), Some("data/../other"), false),
        (Some("data"), Some("data2"), false),
        (Some("."), None, true),
        (Some(""), None, true),
        (Some("data"), Some("/data"), false),
        (Some("data"), Some("../data"), false),
        (None, Some("../data"), false),
        (Some("../data"), Some("data"), false),
        (Some("../data"), None, false),
    ] {
        let with = |scope: Option<&str>| SpawnEnvelope {
            filesystem_scope: scope.map(str::to_owned),
            ..nothing()
        };
        let verdict = with(parent).contains(&with(child));
        assert_eq!(verdict.is_ok(), fits, "{parent:?} {child:?}");
        if let Err(violation) = verdict {
            assert_eq!(violation.entry, child.unwrap_or_default());
            assert_eq!(violation.parent_entry.as_deref(), parent);
        }
    }
}

#[test]
fn the_refusals_have_four_shapes() {
    let parent = bounded();
    let of = |child: SpawnEnvelope| parent.contains(&child).expect_err("wider").to_string();
    for (text, parts) in [
        (
            of(SpawnEnvelope { containment_floor: Advisory, ..bounded() }),
            ["capabilities.containment: ", "'advisory'", "'scoped'", "only rise"],
        ),
        (
            of(SpawnEnvelope { filesystem_scope: None, ..bounded() }),
            ["capabilities.filesystem.scope: ", "declares no scope", "'data'", "never do more"],
        ),
        (
            of(SpawnEnvelope { filesystem_scope: Some("etc".to_owned()), ..bounded() }),
            ["capabilities.filesystem.scope: ", "'etc'", "'data'", "never do more"],
        ),
        (
            of(SpawnEnvelope { env_allow: list(&["CI"]), ..bounded() }),
            ["capabilities.env.allow: ", "'CI'", "its parent does not hold", "never do more"],
        ),
    ] {
        let mut rest = text.as_str();
        for part in parts {
            let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part}: {text}"));
            rest = after;
        }
    }
}

#[test]
fn a_violation_is_json_with_its_three_keys() {
    let violation = EnvelopeViolation {
        axis: EnvelopeAxis::NetworkAllow,
        entry: "api.example.com".to_owned(),
        parent_entry: None,
    };
    assert_eq!(
        serde_json::to_string(&violation).unwrap(),
        r#"{"axis":"NetworkAllow","entry":"api.example.com","parent_entry":null}"#
    );
}

#[test]
fn a_floor_may_rise_and_never_fall() {
    for (parent, child, fits) in [
        (Advisory, Sealed, true),
        (Scoped, Scoped, true),
        (Sealed, Scoped, false),
        (Advisory, Unconfined, false),
        (Unconfined, Unconfined, true),
    ] {
        let with = |containment_floor| SpawnEnvelope { containment_floor, ..nothing() };
        assert_eq!(with(parent).contains(&with(child)).is_ok(), fits, "{parent} {child}");
    }
}

#[test]
fn the_first_missing_store_is_named_in_sort_order() {
    let with = |stores: &[&str]| SpawnEnvelope {
        state_stores: list(stores).into_iter().collect(),
        ..nothing()
    };
    let violation = with(&["b"]).contains(&with(&["z", "a", "b"])).expect_err("wider");
    assert_eq!(violation.entry, "a");
}

/// Valid network entries.
const NETWORK: [&str; 6] =
    ["a.test", "a.test:80", "http://a.test", "https://a.test:8443", "b.test", "https://b.test"];
/// Valid install patterns.
const INSTALL: [&str; 6] = ["*", "acme/*", "acme/p*", "acme/pq", "zed/*", "zed/x"];

fn some(from: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    vec(select(from).prop_map(str::to_owned), 0..3)
}

fn scope() -> impl Strategy<Value = Option<String>> {
    option::of(
        select(&["data", "data/in", ".", "src/../data", "other"][..]).prop_map(str::to_owned),
    )
}

fn envelope() -> impl Strategy<Value = SpawnEnvelope> {
    let names = || some(&["bash", "git", "python3"]);
    let floor = prop_oneof![Just(Unconfined), Just(Advisory), Just(Scoped), Just(Sealed)];
    let lists = (some(&NETWORK), some(&NETWORK), names(), names(), names());
    let installs = (some(&INSTALL), some(&INSTALL), any::<bool>());
    let stores = btree_set(select(&["x", "y"][..]).prop_map(str::to_owned), 0..2);
    (lists, installs, scope(), stores, any::<bool>(), any::<bool>(), floor).prop_map(
        |(lists, installs, filesystem_scope, state_stores, unix, exec, containment_floor)| {
            let (network_allow, peer_fetch_allow, shell_allow, spawn_allow, env_allow) = lists;
            let (install_skill, install_tool, install_from_sources) = installs;
            SpawnEnvelope {
                network_allow,
                unix_sockets_allowed: unix,
                peer_fetch_allow,
                shell_allow,
                spawn_allow,
                env_allow,
                filesystem_scope,
                workdir_exec_allowed: exec,
                state_stores,
                install_skill,
                install_tool,
                install_from_sources,
                containment_floor,
            }
        },
    )
}

/// `envelope` with some of what it holds taken away.
fn narrowed(envelope: &SpawnEnvelope, keep: &[bool; 13]) -> SpawnEnvelope {
    let all = envelope.clone();
    let list = |index: usize, held: Vec<String>| if keep[index] { held } else { Vec::new() };
    SpawnEnvelope {
        network_allow: list(0, all.network_allow),
        unix_sockets_allowed: keep[1] && all.unix_sockets_allowed,
        peer_fetch_allow: list(2, all.peer_fetch_allow),
        shell_allow: list(3, all.shell_allow),
        spawn_allow: list(4, all.spawn_allow),
        env_allow: list(5, all.env_allow),
        filesystem_scope: match (keep[6], all.filesystem_scope) {
            (true, scope) => scope,
            (false, scope) => Some(
                format!("{}/deep", scope.unwrap_or_default().trim_matches('/'))
                    .trim_start_matches('/')
                    .to_owned(),
            ),
        },
        workdir_exec_allowed: keep[7] && all.workdir_exec_allowed,
        state_stores: if keep[8] { all.state_stores } else { BTreeSet::new() },
        install_skill: list(9, all.install_skill),
        install_tool: list(10, all.install_tool),
        install_from_sources: keep[11] && all.install_from_sources,
        containment_floor: if keep[12] { all.containment_floor } else { Sealed },
    }
}

proptest! {
    #[test]
    fn every_envelope_contains_itself(own in envelope()) {
        prop_assert_eq!(own.contains(&own), Ok(()));
    }

    #[test]
    fn a_chain_of_spawns_can_only_shrink(
        (a, b, c) in (envelope(), envelope(), envelope()),
        (keep_b, keep_c) in (any::<[bool; 13]>(), any::<[bool; 13]>()),
        mix in any::<bool>(),
    ) {
        // Random triples seldom fit; half of them are made to.
        let (b, c) = if mix { (b, c) } else {
            let b = narrowed(&a, &keep_b);
            let c = narrowed(&b, &keep_c);
            (b, c)
        };
        if a.contains(&b).is_ok() && b.contains(&c).is_ok() {
            prop_assert_eq!(a.contains(&c), Ok(()));
        }
    }

    #[test]
    fn what_only_takes_away_always_fits(own in envelope(), keep in any::<[bool; 13]>()) {
        prop_assert_eq!(own.contains(&narrowed(&own, &keep)), Ok(()));
    }

    #[test]
    fn one_entry_that_does_not_parse_is_refused_and_named(own in envelope(), bad in "(|a b|x/y|\\*\\.a)") {
        let mut child = own.clone();
        child.network_allow.insert(0, bad.clone());
        let violation = child.clone().contains(&child).expect_err("a bad entry");
        prop_assert_eq!(violation.axis, EnvelopeAxis::NetworkAllow);
        prop_assert_eq!(violation.entry, bad);
        let mut parent = own.clone();
        parent.network_allow.insert(0, "x/y".to_owned());
        prop_assert_eq!(parent.contains(&own), Ok(()));
    }

    #[test]
    fn transitivity_holds_on_any_triple(a in envelope(), b in envelope(), c in envelope()) {
        let fits = a.contains(&b).is_ok() && b.contains(&c).is_ok();
        prop_assert!(!fits || a.contains(&c).is_ok());
    }
}
