//! The environment of a capsule's commands: `spec/manifest.md` §3.4 in its order, `spec/temp-dir.md` §2.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::{CapabilityPolicy, StripList, TEMP_DIR_ENV};

/// Variables of the host that every command gets.
pub const BASE_ENV: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "CARGO_HOME", "RUSTUP_HOME", "TERM"];

/// Names that only the runtime sets, beside [`TEMP_DIR_ENV`].
const RUNTIME_OWNED: [&str; 4] =
    ["HOME", "USERPROFILE", "MURMUR_RUNTIME_DIR", "MURMUR_RECORDS_DIR"];

/// Parts of a name that make it look like a credential.
const CREDENTIAL_PARTS: [&str; 9] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "AUTH_SOCK",
];

/// Ends of a name that make it look like a credential.
const CREDENTIAL_ENDS: [&str; 4] = ["_KEY", "_PAT", "_PWD", "_AUTH"];

/// The folders of a session as its commands find them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnv<'a> {
    /// `HOME` and `USERPROFILE`.
    pub home: &'a Path,
    /// `MURMUR_RUNTIME_DIR`.
    pub runtime_dir: &'a Path,
    /// `MURMUR_RECORDS_DIR`.
    pub records_dir: &'a Path,
    /// `TMPDIR`, `TMP` and `TEMP`; `None` removes all three.
    pub tmpdir: Option<&'a Path>,
}

/// Whether only the runtime sets `name`.
pub fn runtime_owned_env(name: &str) -> bool {
    RUNTIME_OWNED.contains(&name) || TEMP_DIR_ENV.contains(&name)
}

/// Whether a name looks like that of a credential, whatever any pattern says.
pub fn is_credential_shaped(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    CREDENTIAL_PARTS.iter().any(|part| name.contains(part))
        || CREDENTIAL_ENDS.iter().any(|end| name.ends_with(end))
}

/// The granted names whose values come from the host: `baseline_env`, then `env.allow`, each once, in that order.
///
/// A bundle carries these names alone; their values are filled in at the start, so that `config.json` holds no secret of
/// the host.
pub fn granted_env_names(policy: &CapabilityPolicy) -> Vec<String> {
    let strip = StripList::of(policy);
    let mut seen = HashSet::new();
    let baseline = policy.shell.iter().flat_map(|shell| &shell.baseline_env);
    let granted = baseline.chain(&policy.env_allow);
    let kept = granted.filter(|name| !runtime_owned_env(name) && !strip.drops(name));
    kept.filter(|name| seen.insert(name.as_str())).cloned().collect()
}

/// The environment of a command, name by name, later sources winning in place:
///
/// the host's [`BASE_ENV`], `overrides` of the caller, the host's values of [`granted_env_names`], the literals of
/// `process.env`; then everything a strip pattern matches is dropped, and last come the names only the runtime sets.
/// A name the host does not have is not set.
pub fn environment(
    policy: &CapabilityPolicy,
    host: &[(String, String)],
    overrides: &[(String, String)],
    session: SessionEnv<'_>,
) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let granted = granted_env_names(policy);
    // Of a name that the host has twice, the last counts.
    let of_host: HashMap<&str, &str> =
        host.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let from_host =
        |name: &str| of_host.get(name).map(|&value| (name.to_owned(), value.to_owned()));
    let literals = policy.process.iter().flat_map(|process| process.env.iter().cloned());
    let sources = BASE_ENV
        .into_iter()
        .filter_map(from_host)
        .chain(overrides.iter().cloned())
        .chain(granted.iter().filter_map(|name| from_host(name)))
        .chain(literals);
    for (name, value) in sources {
        if let Some(&place) = places.get(&name) {
            values[place].1 = value;
        } else {
            places.insert(name.clone(), values.len());
            values.push((name, value));
        }
    }
    let strip = StripList::of(policy);
    values.retain(|(name, _)| !runtime_owned_env(name) && !strip.drops(name));
    let owned = |name: &str, path: &Path| (name.to_owned(), path.display().to_string());
    values.push(owned("HOME", session.home));
    values.push(owned("USERPROFILE", session.home));
    values.push(owned("MURMUR_RUNTIME_DIR", session.runtime_dir));
    values.push(owned("MURMUR_RECORDS_DIR", session.records_dir));
    if let Some(tmpdir) = session.tmpdir {
        values.extend(TEMP_DIR_ENV.map(|name| owned(name, tmpdir)));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::shell_policy;
    use crate::{ContainmentClass, ProcessPolicy, StripSource};

    /// A session's folders, and `TMPDIR` where it has one.
    fn session(tmpdir: Option<&str>) -> SessionEnv<'_> {
        SessionEnv {
            home: Path::new("/r/home"),
            runtime_dir: Path::new("/s/runtime"),
            records_dir: Path::new("/r"),
            tmpdir: tmpdir.map(Path::new),
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn value<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let mut found = env.iter().filter(|(own, _)| own == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is set twice");
        value
    }

    #[test]
    fn only_the_base_and_what_is_granted_comes_from_the_host() {
        let host = pairs(&[
            ("LANG", "C"),
            ("PATH", "/usr/bin"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("DOCKER_HOST", "x"),
            ("KUBECONFIG", "x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GH_TOKEN", "x"),
            ("CI", "1"),
            ("BUILD_ID", "7"),
            ("EDITOR", "vi"),
        ]);
        for (env_allow, baseline, names) in [
            (vec![], vec![], vec!["PATH", "LANG"]),
            (vec!["PATH"], vec![], vec!["PATH", "LANG"]),
            (vec!["CI"], vec!["BUILD_ID"], vec!["PATH", "LANG", "BUILD_ID", "CI"]),
            (vec!["GH_TOKEN", "AWS_SECRET_ACCESS_KEY"], vec!["DOCKER_HOST"], vec!["PATH", "LANG"]),
            (vec!["UNSET"], vec![], vec!["PATH", "LANG"]),
        ] {
            let mut policy = shell_policy(ContainmentClass::Scoped, &["bash"]);
            policy.env_allow = env_allow.into_iter().map(str::to_owned).collect();
            policy.shell.as_mut().unwrap().baseline_env =
                baseline.into_iter().map(str::to_owned).collect();
            let env = environment(&policy, &host, &[], session(Some("/tmp")));
            let own: Vec<_> = env.iter().map(|(name, _)| name.as_str()).collect();
            let runtime = [
                "HOME",
                "USERPROFILE",
                "MURMUR_RUNTIME_DIR",
                "MURMUR_RECORDS_DIR",
                "TMPDIR",
                "TMP",
                "TEMP",
            ];
            assert_eq!(own, [names.as_slice(), runtime.as_slice()].concat());
        }
    }

    #[test]
    fn a_later_source_wins_and_the_strip_list_comes_after_all() {
        let mut policy = shell_policy(ContainmentClass::Scoped, &["bash"]);
        let shell = policy.shell.as_mut().unwrap();
        shell.strip_env = vec!["CI_*".to_owned()];
        shell.baseline_env = vec!["LANG".to_owned()];
        policy.process = Some(ProcessPolicy {
            args: vec!["bash".to_owned()],
            cwd: None,
            env: pairs(&[("MODE", "fast"), ("ACME_API_KEY", "x"), ("CI_JOB", "x")]),
            terminal: false,
        });
        let host = pairs(&[("LANG", "C"), ("TERM", "xterm")]);
        let overrides = pairs(&[("LANG", "de"), ("TERM", "dumb"), ("MODE", "slow"), ("CI_X", "1")]);
        let env = environment(&policy, &host, &overrides, session(None));
        assert_eq!(value(&env, "LANG"), Some("C"));
        assert_eq!(value(&env, "TERM"), Some("dumb"));
        assert_eq!(value(&env, "MODE"), Some("fast"));
        for dropped in ["ACME_API_KEY", "CI_JOB", "CI_X"] {
            assert_eq!(value(&env, dropped), None);
        }
    }

    #[test]
    fn nothing_but_the_runtime_sets_its_own_names() {
        let mut policy = shell_policy(ContainmentClass::Scoped, &["bash"]);
        let all = ["HOME", "USERPROFILE", "MURMUR_RUNTIME_DIR", "MURMUR_RECORDS_DIR"];
        let all = [&all[..], &TEMP_DIR_ENV[..]].concat();
        let theirs: Vec<_> = all.iter().map(|name| (*name, "/evil")).collect();
        policy.env_allow = all.iter().map(|&name| name.to_owned()).collect();
        policy.shell.as_mut().unwrap().baseline_env = policy.env_allow.clone();
        policy.process = Some(ProcessPolicy {
            args: vec!["bash".to_owned()],
            cwd: None,
            env: pairs(&theirs),
            terminal: false,
        });
        let env = environment(&policy, &pairs(&theirs), &pairs(&theirs), session(Some("/tmp")));
        assert!(env.iter().all(|(_, value)| value != "/evil"), "{env:?}");
        for name in TEMP_DIR_ENV {
            assert_eq!(value(&env, name), Some("/tmp"));
        }
        let env = environment(&policy, &pairs(&theirs), &pairs(&theirs), session(None));
        assert!(TEMP_DIR_ENV.iter().all(|name| value(&env, name).is_none()), "{env:?}");
        assert!(granted_env_names(&policy).is_empty());
    }

    #[test]
    fn a_dropped_name_says_which_pattern_of_whom_dropped_it() {
        let mut policy = shell_policy(ContainmentClass::Scoped, &["bash"]);
        policy.shell.as_mut().unwrap().strip_env = vec!["CI_*".to_owned(), "*KEY*".to_owned()];
        for (name, pattern) in [
            ("AWS_REGION", Some(("AWS_*", StripSource::Backstop))),
            ("ACME_API_KEY", Some(("*_API_KEY", StripSource::Backstop))),
            ("CI_JOB", Some(("CI_*", StripSource::Manifest))),
            ("MONKEYS", Some(("*KEY*", StripSource::Manifest))),
            ("CI", None),
        ] {
            let by = StripList::of(&policy).find(name);
            let by = by.as_ref().map(|by| (by.pattern.as_str(), by.source));
            assert_eq!(by, pattern, "{name}");
        }
    }

    #[test]
    fn credentials_are_known_by_their_shape() {
        for (name, shaped) in [
            ("GITHUB_TOKEN", true),
            ("acme_secret", true),
            ("DEPLOY_KEY", true),
            ("SSH_AUTH_SOCK", true),
            ("DB_PASSWORD", true),
            ("BITBUCKET_PAT", true),
            ("PATH", false),
            ("KEYBOARD", false),
            ("CI", false),
        ] {
            assert_eq!(is_credential_shaped(name), shaped, "{name}");
        }
    }
}
