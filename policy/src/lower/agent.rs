//! What the report says of the agent: inference, images, exports, files the manifest names.

use std::collections::HashSet;

use mur_manifest::manifest::{
    Artifact, Context, Exports, FileExport, Images, Inference, PeerFileExport, PeerTasks, Transport,
};
use mur_manifest::{Code, Spanned};

use super::{Findings, artifact};
use crate::{AgentPolicy, CapabilityPolicy, DeclaredFile, ExportedFiles, ImagePolicy, PeerFiles};

/// How images are kept where the manifest does not say.
const IMAGES: ImagePolicy = ImagePolicy { keep: 4, max_bytes: 5 << 20, max_per_turn: 8 };

/// How long a peer's handle lives where the manifest does not say, in seconds.
const PEER_TTL_SECS: u64 = 3600;

/// The blocks beside `capabilities`.
pub(super) struct Blocks<'m> {
    pub(super) inference: &'m Option<Inference>,
    pub(super) context: &'m Option<Context>,
    pub(super) exports: &'m Option<Exports>,
    pub(super) artifacts: &'m [Artifact],
}

/// Adds to `policy` what is carried of the agent.
pub(super) fn lower(
    blocks: &Blocks<'_>,
    policy: &mut CapabilityPolicy,
    findings: &mut Findings<'_>,
) {
    if let Some(store) = blocks.context.as_ref().and_then(|own| own.record_store.as_ref()) {
        check_record_store(store, findings);
    }
    let inference = blocks.inference.as_ref();
    policy.carried.agent = inference.map(|inference| AgentPolicy {
        process_harness: inference.transport == Transport::Process,
        driver: driver(inference, blocks.artifacts),
        command: inference.command.as_ref().map(|command| command.value.clone()),
        images: images(blocks.context.as_ref().and_then(|context| context.images.as_ref())),
    });
    policy.carried.manifest_files = manifest_files(inference, blocks.artifacts);
    if let Some(exports) = blocks.exports {
        lower_exports(exports, policy);
    }
    note_gateways(inference, policy, blocks, findings);
}

fn check_record_store(store: &Spanned<String>, findings: &mut Findings<'_>) {
    if !artifact::is_segment(store.value.trim()) {
        let message = format!("`{}` cannot name a record", store.value.escape_debug());
        let accepted = "one name without `/` that begins with no dot";
        findings.refuse(Code::ECap011, store.at.clone(), message, accepted);
    }
}

/// `name@version` of the driver; the name alone where no entry declares it.
fn driver(inference: &Inference, artifacts: &[Artifact]) -> String {
    let name = inference.driver.artifact.value.to_string();
    let declared = artifacts.iter().find(|artifact| artifact.name.value.to_string() == name);
    declared.map_or_else(|| name.clone(), |own| format!("{name}@{}", own.effective_version()))
}

fn images(block: Option<&Images>) -> ImagePolicy {
    let Some(Images { keep, max_bytes, max_per_turn }) = block else {
        return IMAGES;
    };
    ImagePolicy {
        keep: keep.unwrap_or(IMAGES.keep),
        max_bytes: max_bytes.unwrap_or(IMAGES.max_bytes),
        max_per_turn: max_per_turn.unwrap_or(IMAGES.max_per_turn),
    }
}

/// Every file the manifest names, in the order of the format.
fn manifest_files(inference: Option<&Inference>, artifacts: &[Artifact]) -> Vec<DeclaredFile> {
    let file = |key: String, declared: &Spanned<String>| DeclaredFile {
        key,
        declared: declared.value.clone(),
    };
    let prompt = inference.and_then(|own| own.system_prompt_file.as_ref());
    let compaction = inference
        .and_then(|own| own.compaction.as_ref())
        .and_then(|own| own.system_prompt_file.as_ref());
    let sources = artifacts.iter().filter_map(|artifact| {
        let key = format!("artifacts[{}].source", artifact.name.value);
        artifact.source.as_ref().map(|source| file(key, source))
    });
    let prompts = [
        ("inference.system_prompt_file", prompt),
        ("inference.compaction.system_prompt_file", compaction),
    ];
    prompts
        .into_iter()
        .filter_map(|(key, declared)| declared.map(|declared| file(key.to_owned(), declared)))
        .chain(sources)
        .collect()
}

/// Disclosures, never grants.
fn lower_exports(exports: &Exports, policy: &mut CapabilityPolicy) {
    let Exports { files, peer_files, peer_tasks } = exports;
    policy.carried.exports_files = files.as_ref().map(|FileExport { root, mode: _, max_bytes }| {
        ExportedFiles { root: root.value.to_string(), max_bytes: max_bytes.bytes() }
    });
    policy.carried.peer_files =
        peer_files.as_ref().map(|PeerFileExport { root, max_ttl, max_bytes }| PeerFiles {
            root: root.value.to_string(),
            max_ttl_secs: max_ttl.as_ref().map_or(PEER_TTL_SECS, |ttl| ttl.value.seconds()),
            max_bytes: max_bytes.bytes(),
        });
    policy.carried.peer_tasks = peer_tasks.as_ref().is_some_and(|PeerTasks { accept }| *accept);
}

/// Warns where a gateway's upstream can be reached beside it, and where its use is not the model's.
fn note_gateways(
    inference: Option<&Inference>,
    policy: &CapabilityPolicy,
    blocks: &Blocks<'_>,
    findings: &mut Findings<'_>,
) {
    let model = inference.map(|inference| inference.driver.artifact.value.to_string());
    let reached: HashSet<String> =
        policy.network.rules.iter().map(|rule| rule.host().to_string()).collect();
    for (index, artifact) in policy.carried.artifacts.iter().enumerate() {
        let Some(gateway) = &artifact.gateway else { continue };
        let at = blocks.artifacts[index].name.at.clone();
        if reached.contains(&gateway.host) {
            let text = format!(
                "`network.allow` reaches `{}`, the upstream of `{}`, without the gateway and its key",
                gateway.host, artifact.name
            );
            findings.warn(Code::WSec025, &at, text);
        }
        if model.as_deref() != Some(artifact.name.as_str()) {
            let text =
                format!("what `{}` uses of `{}` is not counted", artifact.name, gateway.host);
            findings.warn(Code::WSec030, &at, text);
        }
    }
}
