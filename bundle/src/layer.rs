//! A bundle as an OCI image archive: one file that registries and engines carry, the same bytes for the same plan.
//!
//! Two manifests stand in the index of its one image. The first is an ordinary image whose one layer is the bundle's `rootfs`; it lets any
//! tool load and push the file. The second names the first as its subject and carries the bundle itself: config.json,
//! the report, and the folders beside the root.

use std::path::{Component, Path};

use serde_json::{Value, json};

use crate::plan::digest;
use crate::tree::ROOTFS;
use crate::{BundlePlan, RootfsStep, StepKind};

/// The type of the second manifest.
pub const BUNDLE_TYPE: &str = "application/vnd.murmur.bundle.v1";
/// The type of its config.json.
const CONFIG_TYPE: &str = "application/vnd.murmur.bundle.config.v1+json";
/// The type of its report.
const SCOPE_TYPE: &str = "application/vnd.murmur.bundle.scope.v1+json";
const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
const IMAGE_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar";
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";

/// Why a bundle has no archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A part has no JSON form.
    #[error("cannot serialise `{what}`")]
    Serialise {
        /// Which part.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A part does not fit into a tar archive.
    #[error("cannot pack `{what}`")]
    Pack {
        /// Which part.
        what: String,
        /// Why.
        source: std::io::Error,
    },
}

/// The bytes of the archive. Pure: [`crate::write_archive`] puts them into a file.
///
/// # Errors
/// A part of the plan has no place in the formats.
pub fn archive(plan: &BundlePlan) -> Result<Vec<u8>, ArchiveError> {
    let mut blobs = Blobs::default();
    let layer = blobs.add(LAYER_TYPE, layer(plan, Part::Root)?);
    let image = blobs.json(IMAGE_TYPE, "image", &image(plan, &layer))?;
    let manifest = blobs.json(MANIFEST_TYPE, "manifest", &manifest(&image, &layer))?;
    let config = plan
        .config_json()
        .map_err(|source| ArchiveError::Serialise { what: "config.json", source })?;
    let mut parts = vec![blobs.titled(CONFIG_TYPE, "config.json", config)];
    if let Some(scope) = plan.scope() {
        let bytes = scope.as_bytes().to_vec();
        parts.push(blobs.titled(SCOPE_TYPE, "murmur-scope.json", bytes));
    }
    parts.push(blobs.add(LAYER_TYPE, self::layer(plan, Part::Bundle)?));
    let empty = blobs.add(EMPTY_TYPE, b"{}".to_vec());
    let bundle = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": BUNDLE_TYPE,
        "config": empty,
        "layers": parts,
        "subject": manifest,
    });
    let mut bundle = blobs.json(MANIFEST_TYPE, "manifest", &bundle)?;
    bundle["artifactType"] = BUNDLE_TYPE.into();
    // No processor runs it, so no engine takes it for the image.
    bundle["platform"] = json!({"architecture": "unknown", "os": "unknown"});
    let mut first = manifest;
    first["platform"] = json!({"architecture": architecture(), "os": "linux"});
    let both = json!({
        "schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [first, bundle],
    });
    let mut both = blobs.json(INDEX_TYPE, "index", &both)?;
    both["annotations"] = json!({"org.opencontainers.image.ref.name": reference(plan)});
    // One entry: several tools refuse an archive with a choice of images.
    let index = json!({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [both]});
    pack(&blobs, &to_bytes("index", &index)?)
}

/// The image's name and tag: the capsule's.
fn reference(plan: &BundlePlan) -> String {
    let annotations = plan.spec().annotations().clone().unwrap_or_default();
    let of = |name: &str| annotations.get(name).cloned().unwrap_or_default();
    let tag = |text: String| -> String {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        text.chars().map(|letter| if fits(letter) { letter } else { '-' }).collect()
    };
    format!("{}:{}", of("org.murmur.capsule.name"), tag(of("org.murmur.capsule.version")))
}

/// Which part of the bundle's folder a layer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What is below `rootfs`, at the layer's own root.
    Root,
    /// The whole folder.
    Bundle,
}

/// One uncompressed layer. No time, and no owner but those a step names.
fn layer(plan: &BundlePlan, part: Part) -> Result<Vec<u8>, ArchiveError> {
    let mut tar = tar::Builder::new(Vec::new());
    tar.mode(tar::HeaderMode::Deterministic);
    for step in plan.rootfs() {
        let path = match part {
            Part::Bundle => step.path.as_path(),
            Part::Root => match step.path.strip_prefix(ROOTFS) {
                Ok(path) if path.components().any(|own| matches!(own, Component::Normal(_))) => {
                    path
                }
                _ => continue,
            },
        };
        append(&mut tar, path, step)
            .map_err(|source| ArchiveError::Pack { what: path.display().to_string(), source })?;
    }
    tar.into_inner().map_err(|source| ArchiveError::Pack { what: "layer".into(), source })
}

fn append(tar: &mut tar::Builder<Vec<u8>>, path: &Path, step: &RootfsStep) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    let (uid, gid) = step.owner.unwrap_or((0, 0));
    header.set_uid(uid.into());
    header.set_gid(gid.into());
    header.set_mtime(0);
    match &step.kind {
        StepKind::Folder(mode) => {
            header.set_entry_type(tar::EntryType::Directory);
            header.set_mode(*mode);
            header.set_size(0);
            tar.append_data(&mut header, path, std::io::empty())
        }
        StepKind::Link(target) => {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_mode(0o777);
            header.set_size(0);
            tar.append_link(&mut header, path, target)
        }
        StepKind::Mountpoint => file(tar, header, path, b""),
        StepKind::File(text) => file(tar, header, path, text.as_bytes()),
    }
}

fn file(
    tar: &mut tar::Builder<Vec<u8>>,
    mut header: tar::Header,
    path: &Path,
    bytes: &[u8],
) -> std::io::Result<()> {
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    tar.append_data(&mut header, path, bytes)
}

/// The image's configuration: what an engine starts, as far as an image can say it.
fn image(plan: &BundlePlan, layer: &Value) -> Value {
    let process = plan.spec().process().clone().unwrap_or_default();
    let user = process.user();
    let annotations = plan.spec().annotations().clone().unwrap_or_default();
    let labels: std::collections::BTreeMap<_, _> = annotations
        .into_iter()
        .filter(|(name, _)| name.starts_with("org.murmur.capsule."))
        .collect();
    json!({
        "architecture": architecture(),
        "os": "linux",
        "config": {
            "User": format!("{}:{}", user.uid(), user.gid()),
            "Env": process.env(),
            "Entrypoint": process.args(),
            "WorkingDir": process.cwd(),
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
    })
}

/// This processor, as images name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn manifest(image: &Value, layer: &Value) -> Value {
    json!({
        "schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": image, "layers": [layer],
    })
}

/// Content by its digest, and the descriptors that name it.
#[derive(Debug, Default)]
struct Blobs(std::collections::BTreeMap<String, Vec<u8>>);

impl Blobs {
    fn add(&mut self, kind: &str, bytes: Vec<u8>) -> Value {
        let digest = digest(&bytes);
        let size = bytes.len();
        self.0.insert(digest.clone(), bytes);
        json!({"mediaType": kind, "digest": digest, "size": size})
    }

    fn titled(&mut self, kind: &str, title: &str, bytes: Vec<u8>) -> Value {
        let mut descriptor = self.add(kind, bytes);
        descriptor["annotations"] = json!({"org.opencontainers.image.title": title});
        descriptor
    }

    fn json(
        &mut self,
        kind: &str,
        what: &'static str,
        value: &Value,
    ) -> Result<Value, ArchiveError> {
        Ok(self.add(kind, to_bytes(what, value)?))
    }
}

fn to_bytes(what: &'static str, value: &Value) -> Result<Vec<u8>, ArchiveError> {
    serde_json::to_vec(value).map_err(|source| ArchiveError::Serialise { what, source })
}

/// The image layout in one file.
fn pack(blobs: &Blobs, index: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let mut tar = tar::Builder::new(Vec::new());
    let layout = br#"{"imageLayoutVersion":"1.0.0"}"#;
    let mut add = |path: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        file(&mut tar, header, Path::new(path), bytes)
            .map_err(|source| ArchiveError::Pack { what: path.to_owned(), source })
    };
    add("oci-layout", layout)?;
    add("index.json", index)?;
    for (digest, bytes) in &blobs.0 {
        add(&format!("blobs/{}", digest.replace(':', "/")), bytes)?;
    }
    tar.into_inner().map_err(|source| ArchiveError::Pack { what: "archive".into(), source })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use mur_policy::ContainmentClass::Sealed;

    use super::*;
    use crate::fixture::{Maker, decision, layout, policy};
    use crate::plan;

    fn planned() -> BundlePlan {
        let (policy, layout) = (policy(Sealed), layout(Maker::Root));
        let plan = plan(&policy, &decision(&policy, &layout), &layout).unwrap();
        plan.with_scope("{}\n".into())
    }

    fn entries(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut archive = tar::Archive::new(bytes);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (path, bytes)
        });
        entries.collect()
    }

    #[test]
    fn every_descriptor_names_a_blob_of_that_digest_and_size() {
        let files = entries(&archive(&planned()).unwrap());
        for (path, bytes) in &files {
            if let Some(name) = path.strip_prefix("blobs/sha256/") {
                assert_eq!(digest(bytes), format!("sha256:{name}"));
            }
        }
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let blob = |descriptor: &Value| {
            let digest = descriptor["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
            let bytes = &files[&digest];
            assert_eq!(descriptor["size"], bytes.len());
            bytes.clone()
        };
        let index = json(&files["index.json"]);
        assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
        let index = json(&blob(&index["manifests"][0]));
        let image = json(&blob(&index["manifests"][0]));
        let config = json(&blob(&image["config"]));
        assert_eq!(config["rootfs"]["diff_ids"][0], image["layers"][0]["digest"]);
        assert_eq!(config["config"]["Entrypoint"][0], "python3");
        let bundle = json(&blob(&index["manifests"][1]));
        assert_eq!(bundle["subject"]["digest"], index["manifests"][0]["digest"]);
        assert_eq!(blob(&bundle["layers"][0]), planned().config_json().unwrap());
        assert_eq!(blob(&bundle["layers"][1]), b"{}\n");
        blob(&bundle["config"]);
    }

    #[test]
    fn the_layers_hold_what_the_plan_says() {
        let plan = planned();
        let root = entries(&layer(&plan, Part::Root).unwrap());
        assert!(String::from_utf8_lossy(&root["etc/passwd"]).contains("capsule"));
        assert!(root.keys().all(|path| !path.starts_with("rootfs")));
        let bundle = entries(&layer(&plan, Part::Bundle).unwrap());
        let steps = plan.rootfs().iter().map(|step| step.path.display().to_string());
        let names = bundle.keys().map(|path| path.trim_end_matches('/').to_owned());
        assert_eq!(steps.collect::<Vec<_>>(), names.collect::<Vec<_>>());
    }

    #[test]
    fn the_same_plan_gives_the_same_bytes_and_is_named_after_the_capsule() {
        assert_eq!(archive(&planned()).unwrap(), archive(&planned()).unwrap());
        assert_eq!(reference(&planned()), "demo:1.0.0");
    }
}
