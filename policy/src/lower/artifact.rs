//! `artifacts[]`: each artifact's own grants, narrowed to what the capsule itself may: `spec/envelope.md` §7.

use std::collections::HashSet;

use mur_manifest::manifest::{
    Artifact, ArtifactConfig, Capabilities, Filesystem, Gateway, NetworkGrant, Role, State,
};
use mur_manifest::{Code, NetworkAllowRule, Spanned};

use super::{Findings, file, network};
use crate::{ArtifactNetwork, ArtifactPolicy, ArtifactRole, CapabilityPolicy, GatewayPolicy};

/// Longest `config` that fits one variable: the kernel's `MAX_ARG_STRLEN`, with its name and the final NUL.
const CONFIG_MAX: usize = 128 * 1024 - "MURMUR_ARTIFACT_CONFIG=".len() - 1;

/// What an artifact's own block is lowered against.
struct Ceiling<'p> {
    capsule: &'p str,
    network: HashSet<NetworkAllowRule>,
}

/// Lowers every entry, in manifest order.
pub(super) fn lower(
    artifacts: &[Artifact],
    policy: &CapabilityPolicy,
    findings: &mut Findings<'_>,
) -> Vec<ArtifactPolicy> {
    let ceiling = Ceiling {
        capsule: &policy.capsule.name,
        network: policy.network.rules.iter().cloned().collect(),
    };
    artifacts
        .iter()
        .enumerate()
        .map(|(index, artifact)| lower_one(index, artifact, &ceiling, findings))
        .collect()
}

/// Lowers one entry.
fn lower_one(
    index: usize,
    artifact: &Artifact,
    ceiling: &Ceiling<'_>,
    findings: &mut Findings<'_>,
) -> ArtifactPolicy {
    let Artifact {
        name,
        version: _, // Through `effective_version`.
        runtime,
        // How the artifact is found and used by an agent, checked where it is.
        source: _,
        local_source: _,
        prompt_payload: _,
        on_overflow: _,
        capabilities,
        config,
        gateway,
    } = artifact;
    let role = role_of(*runtime);
    if let Some(config) = config {
        check_config(config, findings);
    }
    let mut lowered = ArtifactPolicy {
        name: name.value.to_string(),
        version: artifact.effective_version().to_owned(),
        role,
        scope: None,
        scope_path: None,
        records: false,
        // A hook begins with nothing, the others with what the capsule has.
        network: match role {
            ArtifactRole::Hook => ArtifactNetwork::Rules(Vec::new()),
            ArtifactRole::Tool | ArtifactRole::Driver | ArtifactRole::Skill => {
                ArtifactNetwork::Inherited
            }
        },
        state_store: None,
        configured: config.is_some(),
        gateway: gateway.as_ref().map(lower_gateway),
        reads_task: false,
        reads_conversation: false,
    };
    if let Some(own) = capabilities {
        grant(&mut lowered, index, own, ceiling, findings);
    }
    lowered
}

const fn role_of(role: Role) -> ArtifactRole {
    match role {
        Role::Tool => ArtifactRole::Tool,
        Role::Driver => ArtifactRole::Driver,
        Role::Hook => ArtifactRole::Hook,
        Role::Skill => ArtifactRole::Skill,
    }
}

fn lower_gateway(gateway: &Gateway) -> GatewayPolicy {
    let Gateway { endpoint, api_key: _, keyless } = gateway;
    GatewayPolicy {
        endpoint: endpoint.value.to_string(),
        host: endpoint.value.host().to_string(),
        keyless: *keyless == Some(true),
    }
}

/// Takes an artifact's own block apart: what has an effect is lowered, what has none is warned about.
fn grant(
    lowered: &mut ArtifactPolicy,
    index: usize,
    own: &Capabilities,
    ceiling: &Ceiling<'_>,
    findings: &mut Findings<'_>,
) {
    let Capabilities {
        containment,
        filesystem,
        network,
        shell,
        spawn,
        env,
        plan,
        install,
        peer_fetch,
        limits,
        resources,
        state,
        task_io,
        conversation,
        harness,
    } = own;
    let mut inert = Vec::new();
    for (key, written) in [
        ("containment", containment.is_some()),
        ("shell", shell.is_some()),
        ("spawn", spawn.is_some()),
        ("env", env.is_some()),
        ("plan", plan.is_some()),
        ("install", install.is_some()),
        ("peer_fetch", peer_fetch.is_some()),
        ("limits", limits.is_some()),
        ("resources", resources.is_some()),
        ("harness", harness.is_some()),
    ] {
        if written {
            inert.push(key);
        }
    }
    if let Some(block) = filesystem {
        grant_files(lowered, block, &mut inert, findings);
    }
    if let Some(block) = network {
        grant_network(lowered, index, block, &ceiling.network, &mut inert, findings);
    }
    if let Some(state) = state {
        lowered.state_store = store(state, ceiling.capsule, index, findings);
    }
    lowered.reads_task = task_io.as_ref().is_some_and(|task_io| task_io.read);
    lowered.reads_conversation = conversation.as_ref().is_some_and(|own| own.read);
    if !inert.is_empty() {
        note_inert(lowered, index, &inert, findings);
    }
}

/// The folder an artifact sees.
fn grant_files(
    lowered: &mut ArtifactPolicy,
    block: &Filesystem,
    inert: &mut Vec<&'static str>,
    findings: &mut Findings<'_>,
) {
    let Filesystem { scope, workdir_exec, read_only, records } = block;
    lowered.scope = scope.as_ref().map(|scope| scope.value.clone());
    lowered.scope_path = scope.as_ref().and_then(|scope| file::scope_path(scope, findings));
    lowered.records = *records;
    if *workdir_exec {
        inert.push("filesystem.workdir_exec");
    }
    if !read_only.is_empty() {
        inert.push("filesystem.read_only");
    }
}

/// The network an artifact has. A hook's list is its grant; a tool's or driver's is kept as far as the capsule's covers it.
fn grant_network(
    lowered: &mut ArtifactPolicy,
    index: usize,
    block: &NetworkGrant,
    ceiling: &HashSet<NetworkAllowRule>,
    inert: &mut Vec<&'static str>,
    findings: &mut Findings<'_>,
) {
    let NetworkGrant { allow, unix_sockets } = block;
    if *unix_sockets {
        inert.push("network.unix_sockets");
    }
    let Some(allow) = allow else { return };
    let clamped = lowered.role != ArtifactRole::Hook;
    let mut kept = Vec::new();
    let mut dropped = Vec::new();
    for entry in allow {
        let Some(rule) = network::rule(entry, findings) else { continue };
        if clamped && !rule.is_covered_by(ceiling) {
            dropped.push(format!("`{}`", entry.value));
        } else {
            kept.push(rule);
        }
    }
    lowered.network = ArtifactNetwork::Rules(kept);
    if !dropped.is_empty() {
        let at = findings.locate(&format!("artifacts[{index}].capabilities.network.allow"));
        let text = format!(
            "`{}` asks in `capabilities.network.allow` for more than its capsule has; dropped: {}",
            lowered.name,
            dropped.join(", ")
        );
        findings.warn(Code::WSec007, &at, text);
    }
}

/// The state store: the capsule's name unless the block names one, which is one segment of a path.
fn store(
    state: &State,
    capsule: &str,
    index: usize,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let State { store } = state;
    let (name, at) = match store {
        Some(store) => (store.value.trim().to_owned(), store.at.clone()),
        None => {
            (capsule.to_owned(), findings.locate(&format!("artifacts[{index}].capabilities.state")))
        }
    };
    if is_segment(&name) {
        return Some(name);
    }
    let message = format!("`{}` cannot name a state store", name.escape_debug());
    findings.refuse(Code::ECap009, at, message, "one name without `/` that begins with no dot");
    None
}

/// Whether a text can be one segment of a path.
pub(super) fn is_segment(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && !text.starts_with('.')
        && !text.contains(|c: char| c == '/' || c.is_control())
}

/// A `config` is delivered as one variable: a mapping with a JSON form that fits.
fn check_config(config: &Spanned<ArtifactConfig>, findings: &mut Findings<'_>) {
    let reason = match &config.value {
        ArtifactConfig::NotJson(reason) => reason.clone(),
        ArtifactConfig::Json(value) if value.is_null() => "it is empty".to_owned(),
        ArtifactConfig::Json(value) if !value.is_object() => "it is no mapping".to_owned(),
        ArtifactConfig::Json(value) => match value.to_string().len() {
            length if length > CONFIG_MAX => {
                format!("its JSON has {length} bytes, and {CONFIG_MAX} fit")
            }
            _ => return,
        },
    };
    let message = format!("`config` cannot be delivered: {reason}");
    findings.refuse(Code::ECap010, config.at.clone(), message, "a mapping, or leave the key away");
}

/// One warning for all blocks of an entry that change nothing there.
fn note_inert(
    lowered: &ArtifactPolicy,
    index: usize,
    inert: &[&'static str],
    findings: &mut Findings<'_>,
) {
    let code = match lowered.role {
        ArtifactRole::Hook => Code::WSec006,
        ArtifactRole::Tool | ArtifactRole::Driver | ArtifactRole::Skill => Code::WSec008,
    };
    let keys: Vec<String> = inert.iter().map(|key| format!("`{key}`")).collect();
    let at = findings.locate(&format!("artifacts[{index}].capabilities"));
    let text = format!(
        "{} on the {} `{}` changes nothing: it is the capsule's own to declare",
        keys.join(", "),
        lowered.role.as_str(),
        lowered.name
    );
    findings.warn(code, &at, text);
}
