//! Values of every type out of arbitrary bytes, for the law that parsing undoes rendering.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU64};

use proptest::prelude::*;
use serde_json::json;

use crate::grammar::{
    AbsolutePath, AlternateName, ArtifactName, BinaryName, Bounded, ByteSize, CredentialName,
    DeclaredName, DurationSecs, EnvName, EnvPattern, Fraction, GatewayEndpoint, GatewayKey,
    HostPath, InstallPattern, PackagePath, PathRule, PlatformTag, Secret, SecretName, Sha256Hex,
    Threshold,
};
use crate::location::Spanned;
use crate::lock::{Lock, LockVersion, Origin};
use crate::manifest::{
    Artifact, ArtifactConfig, Capabilities, InstallSource, Manifest, Role, Shell, Transport,
};
use crate::package::Implementation;
use crate::source::Source;
use crate::{parse, render};

/// Bytes that decide what a sample is; zeros follow the last.
#[derive(Debug)]
pub(crate) struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.next()) % choices.len()].clone()
    }
}

/// A type that has samples.
pub(crate) trait Sample: Sized {
    /// A sample; the same bytes give the same one.
    fn sample(bytes: &mut Bytes<'_>) -> Self;
}

/// Samples of types in a grammar: a few texts each.
macro_rules! texts {
    ($( $type:ty : [ $( $text:expr ),* $(,)? ] ; )*) => { $(
        impl Sample for $type {
            fn sample(bytes: &mut Bytes<'_>) -> Self {
                bytes.pick(&[ $( $text ),* ]).parse().expect("a sample is in its grammar")
            }
        }
    )* };
}

texts! {
    AbsolutePath: ["/", "/opt/py-3", "/a b/ü", "/x: y", "/-"];
    AlternateName: ["fast", "a-1"];
    ArtifactName: ["acme/tool", "local/x", "0/1", "a/true", "acme/null"];
    BinaryName: ["bash", "g++", "[", "...", "-", "7z", "null", "a:b", "ünï", "#x", "1e3"];
    ByteSize: ["1", "10Mi", "1000", "18446744073709551615"];
    CredentialName: ["ci", "null", "a_b-c"];
    DeclaredName: ["acme/tool", "tool", "123", "0/9"];
    DurationSecs: ["1", "15m", "7d", "90"];
    EnvName: ["LANG", "npm_config_a-b", "~", "Ü", "123", "true"];
    EnvPattern: ["CI_*", "*_SECRET", "*", "*A*", "HOME"];
    GatewayEndpoint: ["https://x.example/v1", "http://localhost:8080", "http://[::1]/"];
    GatewayKey: ["${KEY}", "literal key", "123", "null", "\"quoted\""];
    HostPath: ["~", "~/.cache/x", "/srv/models", "/a b"];
    InstallPattern: ["*", "acme/*", "acme/style-*", "acme/jq"];
    PlatformTag: ["linux-x86_64", "0-9"];
    Secret: ["hush", " 1", "null"];
    SecretName: ["KEY", "_"];
    PackagePath: ["skill.md", "a/b c"];
    PathRule: ["", "src", "a/b c", "~", "-", "- x", "#", "null"];
}

impl Sample for Sha256Hex {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        format!("{:02x}", bytes.next()).repeat(32).parse().expect("it has 64 digits")
    }
}

impl Sample for LockVersion {
    fn sample(_: &mut Bytes<'_>) -> Self {
        Self
    }
}

impl Sample for Implementation {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        bytes.pick(&[Self::Wasm, Self::Native])
    }
}

impl Sample for String {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        let texts = [
            "x",
            "1.0",
            "null",
            "true",
            "~",
            "a: b",
            "# c",
            "- d",
            "it's",
            "\"q\"",
            "\\",
            "line\nline",
            "tab\there",
            "\u{85}",
            "\u{2028}",
            "\u{202e}",
            "ü",
            "🦀",
            "!tag",
            "&a",
            "*a",
            "%x",
            "@x",
            "`x`",
            "{a",
            "[b",
            ",",
            "?",
            ":",
            "|",
            ">",
            "0x1F",
            ".inf",
            "1e3",
            "=",
            "<<",
            "---",
            "...",
            "\u{1b}[m",
            "\u{FEFF}",
            "2001-01-01",
            "no",
            "a #b",
            "a:b",
            "\u{7f}",
            "\u{0}x",
        ];
        let length = 1 + bytes.next() % 3;
        let parts: Vec<&str> = (0..length).map(|_| bytes.pick(&texts)).collect();
        let text = parts.join(" ").trim().to_owned();
        if text.is_empty() { "x".to_owned() } else { text }
    }
}

impl Sample for bool {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        bytes.next() % 2 == 1
    }
}

impl Sample for u64 {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        bytes.pick(&[0, 1, 2, 600, 1 << 40, Self::MAX])
    }
}

impl Sample for u32 {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        bytes.pick(&[0, 1, Self::MAX])
    }
}

impl Sample for NonZeroU64 {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        Self::new(u64::sample(bytes)).unwrap_or(Self::MIN)
    }
}

impl Sample for NonZeroU16 {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        bytes.pick(&[Self::MIN, Self::MAX])
    }
}

impl<const MIN: u64, const MAX: u64> Sample for Bounded<MIN, MAX> {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        Self::literal(bytes.pick(&[MIN, MAX, MIN.midpoint(MAX)]))
    }
}

impl Sample for Fraction {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        Self::try_from(f64::from(bytes.next()) / 255.0).expect("a byte of 255 is a fraction")
    }
}

impl Sample for Threshold {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        Self::try_from((f64::from(bytes.next()) + 1.0) / 256.0).expect("it is above zero")
    }
}

impl Sample for ArtifactConfig {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        let text = String::sample(bytes);
        Self::Json(bytes.pick(&[
            json!({}),
            json!({text.as_str(): [1, -2.5, null, true, {"deep": [[]]}], "1": text.as_str()}),
            json!(null),
            json!([text.as_str()]),
        ]))
    }
}

impl<T: Sample> Sample for Spanned<T> {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        Self::unplaced(T::sample(bytes), "")
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        bool::sample(bytes).then(|| T::sample(bytes))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        let length = bytes.next() % 4;
        (0..length).map(|_| T::sample(bytes)).collect()
    }
}

impl<K: Sample + Ord, V: Sample> Sample for BTreeMap<K, V> {
    fn sample(bytes: &mut Bytes<'_>) -> Self {
        let length = bytes.next() % 3;
        (0..length).map(|_| (K::sample(bytes), V::sample(bytes))).collect()
    }
}

impl Sample for Source {
    fn sample(_: &mut Bytes<'_>) -> Self {
        Self::default()
    }
}

/// Makes a sample one that the parser accepts: what must agree is made to agree.
fn settle(manifest: &mut Manifest) {
    settle_grants(manifest.capabilities.get_or_insert_default(), None);
    for (index, artifact) in manifest.artifacts.iter_mut().enumerate() {
        settle_artifact(artifact, index);
    }
    if let Some(inference) = &mut manifest.inference {
        if inference.transport == Transport::Process {
            inference.max_tokens = None;
            inference.tool_refresh = None;
            inference.alternates.clear();
            manifest.capabilities.get_or_insert_default().install = None;
        } else {
            inference.command = None;
        }
        inference.alternates.truncate(1);
        inference.system_prompt_artifact = None;
        if inference.system_prompt.is_some() {
            inference.system_prompt_file = None;
        }
        if let Some(compaction) = &mut inference.compaction {
            compaction.system_prompt_file = None;
        }
    }
    settle_rest(manifest);
}

fn settle_rest(manifest: &mut Manifest) {
    if let Some(door) = &mut manifest.network
        && manifest.capabilities.as_ref().is_some_and(|grants| grants.spawn.is_some())
    {
        door.authentication = None;
    }
    if let Some(retain) = manifest.trace.as_mut().and_then(|trace| trace.retain.as_mut()) {
        retain.max_sessions.get_or_insert(NonZeroU64::MIN);
    }
    manifest.lifecycle.queue_depth = manifest.lifecycle.queue_depth.max(1);
    manifest.lifecycle.done_check = None;
    if let Some(export) = manifest.exports.as_mut().and_then(|e| e.peer_files.as_mut()) {
        export.max_ttl = Some(Spanned::unplaced(DurationSecs::from_secs(900), ""));
    }
    if let Some(exports) = &mut manifest.exports {
        // A blank root counts as not written, and `.` is the work folder as well.
        exports.files.iter_mut().for_each(|files| files.root.value = PathRule::work_folder());
    }
    match &mut manifest.control {
        Some(_) if manifest.inference.is_none() => manifest.control = None,
        Some(control) => control.secrets.clear(),
        None => {}
    }
    if let Some(process) = &mut manifest.process {
        process.args.insert(0, Spanned::unplaced("sh".to_owned(), ""));
    }
}

/// `role` is that of the artifact the grants stand on.
fn settle_grants(grants: &mut Capabilities, role: Option<Role>) {
    if let Some(files) = &mut grants.filesystem {
        files.records &= role == Some(Role::Hook);
        if files.records {
            files.scope = None;
        }
    }
    if role != Some(Role::Hook) {
        grants.task_io = None;
    }
    if role.is_some_and(|role| role != Role::Hook) {
        grants.conversation = None;
    }
    if let Some(shell) = &mut grants.shell {
        settle_shell(shell);
    }
    if let Some(spawn) = &mut grants.spawn {
        spawn.allow.truncate(1);
        spawn.workdir_snapshot = spawn.allow.clone();
    }
    if role.is_some() {
        grants.install = None;
    }
    if let Some(install) = &mut grants.install {
        install.skill.push(Spanned::unplaced("*".parse().expect("`*` is a pattern"), ""));
        if !install.from.contains(&InstallSource::Stores) || install.from.len() > 2 {
            install.from = vec![InstallSource::Stores];
        }
        install.from.dedup();
    }
    if let Some(peers) = &mut grants.peer_fetch {
        peers.allow.push(Spanned::unplaced("x.example".to_owned(), ""));
    }
}

fn settle_shell(shell: &mut Shell) {
    for grant in &mut shell.interpreter_runtime {
        shell.allow.push(grant.binary.clone());
        let folder = grant.dirs.pop();
        grant.dirs.extend(folder.or_else(|| {
            let path = Spanned::unplaced("/x".parse().ok()?, "");
            Some(crate::manifest::RuntimeDir { path, list_dir: true })
        }));
    }
    let interpreters = &shell.interpreter_runtime;
    shell.staged_runtime.retain(|s| interpreters.iter().all(|i| i.binary != s.binary));
    shell.allow.extend(shell.staged_runtime.iter().map(|staged| staged.binary.clone()));
    shell.allow.push(Spanned::unplaced("sh".parse().expect("`sh` is a name"), ""));
}

fn settle_artifact(artifact: &mut Artifact, index: usize) {
    let local = artifact.source.take().is_some_and(|source| !source.value.trim().is_empty());
    if local {
        artifact.name.value = format!("tool-{index}").parse().expect("it is a name");
        artifact.source = Some(Spanned::unplaced("./x".to_owned(), ""));
        artifact.local_source = Some(true);
    } else {
        artifact.name.value = format!("acme/tool-{index}").parse().expect("it is a name");
        artifact.version.get_or_insert_with(|| "1".to_owned());
    }
    if artifact.runtime != Role::Hook {
        artifact.on_overflow = None;
    }
    if artifact.runtime == Role::Skill {
        artifact.capabilities = None;
        artifact.config = None;
        artifact.gateway = None;
    }
    if let Some(grants) = &mut artifact.capabilities {
        settle_grants(grants, Some(artifact.runtime));
    }
    if let Some(gateway) = &mut artifact.gateway {
        gateway.keyless = Some(gateway.api_key.is_none());
    }
}

/// Makes a sample one that the parser accepts.
fn settle_lock(lock: &mut Lock) {
    for (index, pin) in lock.artifacts.iter_mut().enumerate() {
        pin.name.value = format!("acme/tool-{index}").parse().expect("it is a name");
        pin.session = (pin.origin == Origin::Runtime).then(|| "ses_1".to_owned());
        if pin.sha256.platforms.is_empty() {
            pin.sha256.any = Some("ab".repeat(32).parse().expect("it has 64 digits"));
        } else {
            pin.sha256.any = None;
        }
    }
}

fn locks() -> impl Strategy<Value = Lock> {
    proptest::collection::vec(any::<u8>(), 0..100).prop_map(|bytes| {
        let mut lock = Lock::sample(&mut Bytes(&bytes));
        settle_lock(&mut lock);
        lock
    })
}

fn manifests() -> impl Strategy<Value = Manifest> {
    proptest::collection::vec(any::<u8>(), 0..600).prop_map(|bytes| {
        let mut manifest = Manifest::sample(&mut Bytes(&bytes));
        settle(&mut manifest);
        manifest
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_undoes_rendering(manifest in manifests()) {
        let yaml = render(&manifest);
        match parse(yaml.as_bytes()) {
            Ok(again) => prop_assert_eq!(&again, &manifest, "{}", yaml),
            Err(errors) => prop_assert!(false, "{}\n{}", errors, yaml),
        }
    }

    #[test]
    fn parsing_undoes_rendering_of_locks(lock in locks()) {
        let yaml = lock.render();
        match Lock::parse(yaml.as_bytes()) {
            Ok(again) => prop_assert_eq!(&again, &lock, "{}", yaml),
            Err(errors) => prop_assert!(false, "{}\n{}", errors, yaml),
        }
    }

    #[test]
    fn a_rendered_manifest_is_rendered_the_same_again(manifest in manifests()) {
        let yaml = render(&manifest);
        let again = parse(yaml.as_bytes()).expect("it parses");
        prop_assert_eq!(render(&again), yaml);
    }
}
