use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::{
    ArtifactNetwork, ContainmentClass, DeclaredFile, ExportedFiles, GatewayPolicy, PeerFiles,
    fixture,
};

/// A policy in which every type that a policy can hold stands at least once.
fn everything() -> CapabilityPolicy {
    let rule = || "https://a.test:8443".parse().expect("a rule");
    let mut policy = fixture::shell_policy(ContainmentClass::Scoped, &["git", "python3"]);
    policy.network.rules = vec![rule()];
    policy.process = Some(ProcessPolicy {
        args: vec!["git".to_owned()],
        cwd: Some("/srv/proj".into()),
        env: vec![("A".to_owned(), "b".to_owned())],
        terminal: false,
    });
    policy.host_paths = vec![HostPath { path: "/srv/data".into(), writable: true }];
    let shell = policy.shell.as_mut().expect("a shell");
    shell.interpreter_runtime = vec![InterpreterRuntime {
        binary: "git".to_owned(),
        path: "/usr/libexec/git-core".into(),
        list_dir: true,
    }];
    shell.staged_runtime = vec![StagedRuntime {
        binary: "python3".to_owned(),
        source_path: Path::new("/opt/py").into(),
        pin: "3.12".to_owned(),
    }];
    let mut tool = fixture::artifact("acme/x", ArtifactRole::Tool);
    tool.network = ArtifactNetwork::Rules(vec![rule()]);
    tool.gateway = Some(GatewayPolicy {
        endpoint: "https://a.test".to_owned(),
        host: "a.test".to_owned(),
        keyless: true,
    });
    policy.carried.artifacts = vec![tool];
    policy.carried.agent = Some(fixture::agent(true));
    policy.carried.exports_files = Some(ExportedFiles { root: "out".to_owned(), max_bytes: 1 });
    policy.carried.peer_files =
        Some(PeerFiles { root: "out".to_owned(), max_ttl_secs: 1, max_bytes: 1 });
    policy.carried.manifest_files =
        vec![DeclaredFile { key: "inference.command".to_owned(), declared: "x".to_owned() }];
    policy
}

/// JSON pointers of every object in `value`, itself first.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    if let Value::Object(map) = value {
        found.push(at.to_owned());
        for (key, inner) in map {
            objects(inner, &format!("{at}/{key}"), found);
        }
    }
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        objects(inner, &format!("{at}/{index}"), found);
    }
}

#[test]
fn a_policy_is_read_back_as_it_was_written() {
    let policy = everything();
    let json = serde_json::to_value(&policy).expect("JSON");
    assert_eq!(serde_json::from_value::<CapabilityPolicy>(json).expect("a policy"), policy);
}

#[test]
fn an_unknown_member_is_refused_wherever_it_stands() {
    let policy = serde_json::to_value(everything()).expect("JSON");
    let mut places = Vec::new();
    objects(&policy, "", &mut places);
    for place in [
        "",
        "/capsule",
        "/files",
        "/network",
        "/shell",
        "/shell/interpreter_runtime/0",
        "/shell/staged_runtime/0",
        "/process",
        "/resources",
        "/host_paths/0",
        "/carried",
        "/carried/artifacts/0",
        "/carried/artifacts/0/network",
        "/carried/artifacts/0/gateway",
        "/carried/agent",
        "/carried/agent/images",
        "/carried/exports_files",
        "/carried/peer_files",
        "/carried/manifest_files/0",
    ] {
        assert!(places.iter().any(|own| own == place), "`{place}` is not tried");
    }
    for place in places {
        let mut wider = policy.clone();
        let object = wider.pointer_mut(&place).and_then(Value::as_object_mut).expect("an object");
        object.insert("read_onli".to_owned(), json!(["secrets"]));
        let read = serde_json::from_value::<CapabilityPolicy>(wider);
        assert!(read.is_err(), "`{place}` drops a member that it does not know");
    }
}

#[test]
fn a_missing_member_is_refused_where_it_would_loosen() {
    let policy = serde_json::to_value(everything()).expect("JSON");
    for place in [
        "/floor",
        "/files",
        "/files/scope_path",
        "/files/read_only_paths",
        "/resources/max_processes",
        "/network/rules",
        "/carried/artifacts/0/scope_path",
    ] {
        let (parent, key) = place.rsplit_once('/').expect("a pointer");
        let mut looser = policy.clone();
        looser.pointer_mut(parent).and_then(Value::as_object_mut).expect("one").remove(key);
        assert!(serde_json::from_value::<CapabilityPolicy>(looser).is_err(), "{place}");
    }
}
