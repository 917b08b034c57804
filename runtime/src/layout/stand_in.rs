//! Programs that only stand in for others: shims of version managers, and rustup's proxies.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use crate::layout::evidence::Evidence;

/// Version managers that keep `shims/NAME` beside `versions/VERSION/bin/NAME`, and the file that picks a version for a
/// project.
const MANAGERS: [(&str, &str); 5] = [
    ("pyenv", ".python-version"),
    ("rbenv", ".ruby-version"),
    ("nodenv", ".node-version"),
    ("goenv", ".go-version"),
    ("plenv", ".perl-version"),
];

/// What a program on the search path stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stand {
    /// Itself.
    Itself,
    /// This program, which it would start.
    For(PathBuf),
    /// Whatever the search path finds next.
    Next,
}

/// Reads what `path`, a program found on the search path, stands for when it is started in `workdir`.
///
/// The choice is the manager's own, read from its files and without its variables, which no command gets either.
pub(crate) fn stand(path: &Path, workdir: &Path) -> Stand {
    shim(path, workdir).or_else(|| proxy(path, workdir)).unwrap_or(Stand::Itself)
}

/// Notes what [`stand`] looks at for `path`.
pub(crate) fn note(path: &Path, workdir: &Path, evidence: &mut Evidence) {
    let Some(folder) = path.parent() else { return };
    let mut choices = |names: &[&str]| {
        evidence.chosen_in = Some(workdir.into());
        for above in workdir.ancestors() {
            for name in names {
                evidence.entry(&above.join(name));
            }
        }
    };
    if folder.ends_with("shims") {
        let names: Vec<&str> = MANAGERS.iter().map(|(_, file)| *file).collect();
        choices(&names);
        if let Some(root) = folder.parent() {
            evidence.entry(path);
            evidence.entry(&root.join("version"));
            evidence.listing(&root.join("versions"));
        }
    } else if folder.join("rustup").exists() {
        choices(&["rust-toolchain.toml", "rust-toolchain"]);
        if let Some(home) = folder.parent().and_then(Path::parent) {
            evidence.entry(&home.join(".rustup/settings.toml"));
            evidence.listing(&home.join(".rustup/toolchains"));
        }
    }
}

fn shim(path: &Path, workdir: &Path) -> Option<Stand> {
    let folder = path.parent().filter(|folder| folder.ends_with("shims"))?;
    let root = folder.parent()?;
    let (_, file) = MANAGERS.iter().find(|(manager, _)| {
        root.join("libexec").join(manager).is_file() && mentions(path, manager)
    })?;
    let name = path.file_name()?;
    let local = workdir.ancestors().map(|folder| folder.join(file)).find(|file| file.is_file());
    let chosen = local.unwrap_or_else(|| root.join("version"));
    let chosen = fs::read_to_string(chosen).unwrap_or_else(|_| "system".to_owned());
    for version in chosen.split_whitespace() {
        if version == "system" {
            return Some(Stand::Next);
        }
        let program = installed(&root.join("versions"), one_name(version)?)
            .map(|folder| folder.join("bin").join(name))
            .find(|program| program.is_file());
        if let Some(program) = program {
            return Some(Stand::For(program));
        }
    }
    None
}

/// A choice that is one name: it comes from a folder the capsule writes, and must not lead anywhere else.
fn one_name(choice: &str) -> Option<&str> {
    let mut parts = Path::new(choice).components();
    let only = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    only.then_some(choice)
}

fn mentions(path: &Path, word: &str) -> bool {
    let size = path.metadata().map_or(u64::MAX, |meta| meta.len());
    size < 4096 && fs::read_to_string(path).is_ok_and(|text| text.contains(word))
}

/// The installed versions that a choice means: itself, else the newest it is a prefix of.
fn installed(versions: &Path, version: &str) -> impl Iterator<Item = PathBuf> {
    let prefix = format!("{version}.");
    let mut longer: Vec<(Vec<u64>, PathBuf)> = fs::read_dir(versions)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let rest = name.strip_prefix(&prefix)?;
            let numbers = rest.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
            Some((numbers, entry.path()))
        })
        .collect();
    longer.sort();
    let newest = longer.pop().map(|(_, path)| path);
    [versions.join(version)].into_iter().chain(newest)
}

/// rustup's proxies are one program under many names, which starts that name of the chosen toolchain.
fn proxy(path: &Path, workdir: &Path) -> Option<Stand> {
    let own = path.metadata().ok()?;
    let rustup = path.parent()?.join("rustup");
    let other = rustup.metadata().ok()?;
    let name = path.file_name().filter(|name| *name != "rustup")?;
    if (own.dev(), own.ino()) != (other.dev(), other.ino()) {
        return None;
    }
    // `$CARGO_HOME/bin` beside `$RUSTUP_HOME`, as both are by default.
    let home = path.parent()?.parent()?.parent()?.join(".rustup");
    let settings = fs::read_to_string(home.join("settings.toml")).ok()?;
    let chosen = toolchain_of(workdir, &settings)?;
    let toolchains = home.join("toolchains");
    let program = installed_toolchain(&toolchains, one_name(&chosen)?)?.join("bin").join(name);
    program.is_file().then_some(Stand::For(program))
}

/// The toolchain of a folder: an override, else the nearest file, else the default.
fn toolchain_of(workdir: &Path, settings: &str) -> Option<String> {
    let mut overrides = settings.lines().skip_while(|line| line.trim() != "[overrides]").skip(1);
    let own = overrides.find_map(|line| {
        let (folder, toolchain) = line.split_once('=')?;
        let folder = Path::new(folder.trim().trim_matches('"'));
        workdir.starts_with(folder).then(|| quoted(toolchain))
    });
    let nearest = || workdir.ancestors().find_map(toolchain_file);
    let default = || {
        let line = settings.lines().find_map(|line| line.strip_prefix("default_toolchain"))?;
        Some(quoted(line.trim_start().strip_prefix('=')?))
    };
    own.or_else(nearest).or_else(default)
}

fn toolchain_file(folder: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(folder.join("rust-toolchain.toml")) {
        return channel(&text);
    }
    let text = fs::read_to_string(folder.join("rust-toolchain")).ok()?;
    channel(&text).or_else(|| Some(text.trim().to_owned()))
}

fn channel(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix("channel"))?;
    Some(quoted(value.trim_start().strip_prefix('=')?))
}

fn quoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

/// A toolchain by its name, or by its channel alone for this machine.
fn installed_toolchain(toolchains: &Path, chosen: &str) -> Option<PathBuf> {
    let arch = std::env::consts::ARCH;
    let names = [
        chosen.to_owned(),
        format!("{chosen}-{arch}-unknown-linux-gnu"),
        format!("{chosen}-{arch}-unknown-linux-musl"),
    ];
    names.iter().map(|name| toolchains.join(name)).find(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_shim_stands_for_the_version_that_is_chosen() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join(".pyenv");
        let work = dir.path().join("work/inner");
        fs::create_dir_all(&work).unwrap();
        write(&root.join("libexec/pyenv"), "");
        let shim = root.join("shims/python3");
        write(&shim, "exec pyenv exec");
        for version in ["3.9.2", "3.10.1", "3.10.13"] {
            write(&root.join(format!("versions/{version}/bin/python3")), "");
        }
        let program = |version| root.join(format!("versions/{version}/bin/python3"));
        for (global, local, stands) in [
            ("3.9.2\n", None, Stand::For(program("3.9.2"))),
            ("3.9.2\n", Some("3.10\n"), Stand::For(program("3.10.13"))),
            ("2.7 3.10.1\n", None, Stand::For(program("3.10.1"))),
            ("system\n", None, Stand::Next),
            ("4.0\n", None, Stand::Itself),
            ("3.9.2\n", Some("../versions/3.9.2\n"), Stand::Itself),
        ] {
            write(&root.join("version"), global);
            let file = dir.path().join("work/.python-version");
            match local {
                Some(text) => write(&file, text),
                None => drop(fs::remove_file(file)),
            }
            assert_eq!(stand(&shim, &work), stands, "{global:?} {local:?}");
        }
        write(&root.join("shims/other"), "#!/bin/sh\n");
        assert_eq!(stand(&root.join("shims/other"), &work), Stand::Itself);
    }

    #[test]
    fn a_proxy_stands_for_the_toolchain_that_is_chosen() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir_all(&work).unwrap();
        write(&dir.path().join(".cargo/bin/rustup"), "");
        let proxy = dir.path().join(".cargo/bin/cargo");
        symlink("rustup", &proxy).unwrap();
        let arch = std::env::consts::ARCH;
        let stable = dir.path().join(format!(".rustup/toolchains/stable-{arch}-unknown-linux-gnu"));
        let nightly = dir.path().join(".rustup/toolchains/nightly");
        write(&stable.join("bin/cargo"), "");
        write(&nightly.join("bin/cargo"), "");
        write(
            &dir.path().join(".rustup/settings.toml"),
            "version = \"12\"\ndefault_toolchain = \"stable\"\n[overrides]\n\"/elsewhere\" = \"x\"\n",
        );
        assert_eq!(stand(&proxy, &work), Stand::For(stable.join("bin/cargo")));
        write(&work.join("rust-toolchain.toml"), "[toolchain]\nchannel = \"nightly\"\n");
        assert_eq!(stand(&proxy, &work), Stand::For(nightly.join("bin/cargo")));
        assert_eq!(stand(&dir.path().join(".cargo/bin/rustup"), &work), Stand::Itself);
    }
}
