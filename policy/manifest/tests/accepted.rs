//! Manifests that are accepted: each parses without a warning, and renders to the same again.

use mur_manifest::manifest::{
    Access, AfterTask, ArtifactConfig, InstallSource, Overflow, Role, Switch, TaskAcceptance,
    Transport,
};
use mur_manifest::{ContainmentFloor, Manifest, parse, render};

const EVERYTHING: &str = include_str!("accepted/everything.yaml");

const ACCEPTED: &[(&str, &str)] = &[
    ("summariser", include_str!("accepted/summariser.yaml")),
    ("test-runner", include_str!("accepted/test-runner.yaml")),
    ("sealed-build", include_str!("accepted/sealed-build.yaml")),
    ("everything", EVERYTHING),
    ("process", include_str!("accepted/process.yaml")),
];

fn read(name: &str, yaml: &str) -> Manifest {
    match parse(yaml.as_bytes()) {
        Ok(manifest) => manifest,
        Err(errors) => panic!("{name}: {errors}"),
    }
}

#[test]
fn each_accepted_manifest_parses_and_renders_to_the_same() {
    for (name, yaml) in ACCEPTED {
        let manifest = read(name, yaml);
        let rendered = render(&manifest);
        let again = read(name, &rendered);
        assert_eq!(manifest, again, "{name}:\n{rendered}");
        assert_eq!(rendered, render(&again), "{name}");
    }
}

#[test]
fn accepted_manifests_raise_no_warning() {
    for (name, yaml) in ACCEPTED {
        let warnings: Vec<String> =
            read(name, yaml).warnings().iter().map(ToString::to_string).collect();
        assert_eq!(warnings, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn each_key_of_everything_reaches_its_field() {
    let manifest = read("everything", EVERYTHING);
    let grants = manifest.capabilities.as_ref().unwrap();
    assert_eq!(grants.containment.as_ref().unwrap().value, ContainmentFloor::Scoped);
    let files = grants.filesystem.as_ref().unwrap();
    assert_eq!(files.scope.as_ref().unwrap().value, "src");
    assert!(files.workdir_exec && !files.records);
    let shell = grants.shell.as_ref().unwrap();
    assert_eq!(shell.allow[2].value.as_str(), "perl");
    assert!(shell.strip_env[1].matches("A_SECRET"));
    assert!(shell.interpreter_runtime[0].dirs[0].list_dir);
    assert_eq!(shell.staged_runtime[0].pin, "py-3.12");
    let install = grants.install.as_ref().unwrap();
    assert_eq!(install.from, [InstallSource::Sources, InstallSource::Stores]);
    let harness = grants.harness.as_ref().unwrap();
    assert_eq!(harness.paths[0].access, Access::ReadWrite);
    assert_eq!(manifest.artifacts[1].runtime, Role::Skill);
    assert_eq!(manifest.artifacts[1].effective_version(), "local");
    assert_eq!(manifest.artifacts[3].on_overflow, Some(Overflow::Block));
    assert!(matches!(manifest.artifacts[0].config.as_ref().unwrap().value,
        ArtifactConfig::Json(ref value) if value["tags"][1].is_null()));
    assert_eq!(manifest.inference.as_ref().unwrap().transport, Transport::Http);
    assert_eq!(manifest.context.as_ref().unwrap().record, Some(Switch::On));
    assert_eq!(manifest.lifecycle.task_acceptance, TaskAcceptance::Queue);
    assert_eq!(manifest.lifecycle.after_task, AfterTask::Sleep);
    let process = manifest.process.as_ref().unwrap();
    assert_eq!(process.args[2].value, "echo  hello ");
    assert_eq!(process.env.values().map(|v| v.value.as_str()).collect::<Vec<_>>(), ["", " hi "]);
}

#[test]
fn places_are_those_of_the_file() {
    let manifest = read("everything", EVERYTHING);
    let network = manifest.capabilities.as_ref().unwrap().network.as_ref().unwrap();
    let entry = &network.allow.as_ref().unwrap()[1];
    let line = EVERYTHING.lines().position(|line| line.contains("[2001:db8::1]:22")).unwrap() + 1;
    assert_eq!(
        entry.at.to_string(),
        format!("capabilities.network.allow[1] (line {line}, column 38)")
    );
    let key = manifest.source.locate("capabilities.plan.submit");
    let line = EVERYTHING.lines().position(|line| line.contains("submit:")).unwrap() + 1;
    assert_eq!(key.to_string(), format!("capabilities.plan.submit (line {line}, column 11)"));
    assert_eq!(manifest.source.locate("nowhere").to_string(), "nowhere");
}

#[test]
fn the_digest_is_that_of_the_bytes() {
    let manifest = read("tiny", "name: a\nversion: '1'\n");
    assert_eq!(
        manifest.digest(),
        "4b90f055e45299e83949d1e18a053c245d9ed93b8e91bcbc0fb3e43a2d7ee925"
    );
}

#[test]
fn absent_blocks_grant_nothing_and_absent_keys_are_their_defaults() {
    let manifest = read("tiny", "name: ' a '\nversion: '1'\n");
    assert_eq!(manifest.name, "a");
    assert!(manifest.capabilities.is_none() && manifest.inference.is_none());
    assert_eq!(manifest.lifecycle.queue_depth, 1);
    assert_eq!(manifest.lifecycle.shell_grace_secs, 10);
    let resources = mur_manifest::manifest::Resources::default();
    assert_eq!(resources.cgroup_memory_bytes.get(), 4 << 30);
    assert_eq!(resources.cgroup_io_bytes_per_sec.get(), 100 << 20);
    assert_eq!(resources.max_file_size_bytes.get(), 4 << 30);
    assert_eq!(resources.workdir_max_bytes.get(), 10 << 30);
}

#[test]
fn secrets_are_not_in_what_is_printed_for_debugging() {
    let manifest = read(
        "secret",
        "name: a\nversion: '1'\nartifacts:\n  - name: a/b\n    version: '1'\n    config: {p: hush-1}\n    \
         gateway: {endpoint: 'https://x.example', api_key: hush-2}\n",
    );
    assert!(!format!("{manifest:?}").contains("hush"));
    assert!(render(&manifest).contains("hush-2"));
}
