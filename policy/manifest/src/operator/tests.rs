use super::*;

fn merged(machine: &str, global: &str, project: &str) -> OperatorConfig {
    let files = OperatorFiles {
        machine: Some(machine.as_bytes()),
        global: Some(global.as_bytes()),
        project: Some(project.as_bytes()),
    };
    OperatorConfig::parse(files).unwrap()
}

#[test]
fn nothing_written_is_nothing_said() {
    assert_eq!(OperatorConfig::parse(OperatorFiles::default()).unwrap(), OperatorConfig::default());
    assert_eq!(merged("", "# later\n", "{}"), OperatorConfig::default());
}

#[test]
fn the_highest_floor_of_all_files_counts() {
    use ContainmentFloor::{Advisory, Scoped, Sealed};
    for (machine, global, project, floor) in [
        ("", "", "", None),
        ("advisory", "", "", Some(Advisory)),
        ("", "scoped", "advisory", Some(Scoped)),
        ("sealed", "scoped", "advisory", Some(Sealed)),
        ("", "advisory", "sealed", Some(Sealed)),
    ] {
        let file = |floor: &str| format!("containment: {floor}\n");
        let config = merged(&file(machine), &file(global), &file(project));
        assert_eq!(config.containment, floor, "{machine} {global} {project}");
    }
}

#[test]
fn the_lowest_spend_of_all_files_counts() {
    let file = |tokens: u64| format!("spend: {{machine_tokens_per_day: {tokens}}}\n");
    let tokens = |config: OperatorConfig| config.machine_tokens_per_day.map(NonZeroU64::get);
    assert_eq!(tokens(merged(&file(5), &file(3), &file(9))), Some(3));
    assert_eq!(tokens(merged("", "", &file(9))), Some(9));
    assert_eq!(tokens(merged("", "", "")), None);
}

#[test]
fn secrets_and_folders_are_the_operators_alone() {
    let config = merged(
        "credentials: {A: machine, B: machine}\nhost_paths: [{path: /srv/a, access: read}, {path: /srv/b, access: read}]\n",
        "credentials: {A: global}\ninference: {api_key: hush}\nhost_paths: [{path: /srv/a/, access: read-write}]\n",
        "credentials: {A: project}\ninference: {api_key: leak, model: m}\nhost_paths: [{path: /, access: read-write}]\n"
            .replace("path: /,", "path: /etc,")
            .as_str(),
    );
    assert_eq!(config.credential("A").unwrap().reveal(), "global");
    assert_eq!(config.credential("B").unwrap().reveal(), "machine");
    assert!(config.credential("C").is_none());
    assert_eq!(config.inference.api_key.as_ref().unwrap().reveal(), "hush");
    let folders: Vec<String> = config
        .host_paths
        .iter()
        .map(|folder| format!("{} {}", folder.path, folder.access))
        .collect();
    assert_eq!(folders, ["/srv/b read", "/srv/a read-write"]);
    let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            ".murmur/config.yaml: inference.api_key (line 2, column 13): a project's file cannot have this key; it was ignored",
            ".murmur/config.yaml: credentials (line 1, column 1): a project's file cannot have this key; it was ignored",
            ".murmur/config.yaml: host_paths (line 3, column 1): a project's file cannot have this key; it was ignored",
        ]
    );
    let printed = format!("{config:?}");
    for secret in ["hush", "leak", "\"global\"", "\"machine\""] {
        assert!(!printed.contains(secret), "{secret}");
    }
}

#[test]
fn nearer_files_win_where_they_say_something() {
    let config = merged(
        "inference: {provider: p0, model: m0, endpoint: e0}\nregistry: {index_url: i0, sources: [{repo: a/one}, {repo: b/one}]}\nbeta: {enabled: [x]}\n",
        "inference: {model: m1, endpoint: ''}\nregistry: {index_url: i1, sources: [{repo: c/one}]}\nbeta: {enabled: [y]}\n",
        "inference: {model: m2}\nregistry: {sources: [{repo: a/two, token: t}]}\nbeta: {enabled: [y, z]}\n",
    );
    let OperatorInference { provider, model, endpoint, .. } = &config.inference;
    assert_eq!(
        [provider, model, endpoint].map(|value| value.as_deref().unwrap()),
        ["p0", "m2", "e0"]
    );
    let repos: Vec<&str> = config.registry.sources.iter().map(|s| s.repo.as_str()).collect();
    assert_eq!(repos, ["b/one", "c/one", "a/two"]);
    assert_eq!(config.registry.index_url.as_deref(), Some("i1"));
    assert_eq!(config.beta, ["x", "y", "z"]);
}

#[test]
fn each_fault_names_its_file_and_place() {
    let files = OperatorFiles {
        machine: Some(b"containment: unconfined\nspend: {machine_tokens_per_day: 0}\n"),
        global: Some(b"credentials: {lower: x, OK: 12345}\nhost_paths:\n  - {path: /, access: read}\n  - {path: x}\n  - {path: /a, access: read}\n  - {path: /a/, access: write}\n  - {path: /a, access: read}\n"),
        project: Some(b"containment: [\n"),
    };
    let errors = OperatorConfig::parse(files).unwrap_err();
    let faults: Vec<String> =
        errors.faults().iter().map(|fault| format!("{} {fault}", fault.code())).collect();
    assert_eq!(
        faults,
        [
            "E-IO-003 /etc/murmur/config.yaml: containment (line 1, column 14): `unconfined` is asked for by a manifest and a flag together; write `advisory`, `scoped` or `sealed`",
            "E-IO-003 /etc/murmur/config.yaml: spend.machine_tokens_per_day (line 2, column 33): found the number `0`; write a whole number above 0",
            "E-IO-003 ~/.murmur/config.yaml: credentials.lower (line 1, column 15): the key is wrong: `lower` cannot name a credential; write a name of `A-Z`, `0-9` and `_` that begins with no digit, as `LLM_KEY`",
            "E-IO-003 ~/.murmur/config.yaml: credentials.OK (line 1, column 29): found something other than text; write text in quotes",
            "E-CAP-205 ~/.murmur/config.yaml: host_paths[0].path (line 3, column 12): `/` is the whole host; write an absolute path or `~/…`, without `..` and not `/`, as `/srv/cache`",
            "E-CAP-205 ~/.murmur/config.yaml: host_paths[1].access (line 4, column 5): the key is missing",
            "E-CAP-205 ~/.murmur/config.yaml: host_paths[1].path (line 4, column 12): `x` is relative; write an absolute path or `~/…`, without `..` and not `/`, as `/srv/cache`",
            "E-CAP-205 ~/.murmur/config.yaml: host_paths[3].access (line 6, column 25): found the text `write`; write `read` or `read-write`",
            "E-CAP-205 ~/.murmur/config.yaml: host_paths[4].path (line 7, column 12): `/a` is written twice; write each folder once",
            "E-IO-003 .murmur/config.yaml: containment[0] (line 2, column 1): a value is missing here, or a list or mapping above is not closed",
        ]
    );
}

#[test]
fn unknown_keys_are_said_with_their_file() {
    let config = merged("", "hostpaths: []\n", "");
    let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "~/.murmur/config.yaml: the key `hostpaths` at the top level (line 1, column 1) is not known and was ignored: a spelling mistake, meant may be `host_paths`"
        ]
    );
}
