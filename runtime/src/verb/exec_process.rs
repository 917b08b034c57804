//! Decides from flags what one more process of a container is.

use oci_spec::runtime::{Capability, LinuxCapabilities, Process};

/// The flags of `exec` that change the process of the config.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecFlags {
    /// The program and its arguments.
    pub args: Vec<String>,
    /// `--cwd`: an absolute folder.
    pub cwd: Option<String>,
    /// `--env`: `NAME=value`, added to those of the config.
    pub env: Vec<String>,
    /// `--tty`
    pub terminal: bool,
    /// `--user`: `uid[:gid]`.
    pub user: Option<String>,
    /// `--additional-gids`
    pub additional_gids: Vec<u32>,
    /// `--process-label`
    pub selinux_label: Option<String>,
    /// `--apparmor`
    pub apparmor: Option<String>,
    /// `--no-new-privs`
    pub no_new_privileges: bool,
    /// `--cap`: added to the bounding, effective, permitted and inheritable sets.
    pub capabilities: Vec<String>,
}

/// Flags that make no process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidExec {
    /// No program.
    #[error("a program to execute is missing: give it after the container, or `--process`")]
    NoProgram,
    /// A variable without a name or value.
    #[error("`--env`: `{0}` is not `NAME=value`")]
    Env(String),
    /// A user that is no number.
    #[error("`--user`: `{0}` is not `uid[:gid]` in numbers")]
    User(String),
    /// A capability that the runtime does not know.
    #[error("`--cap`: `{0}` is no capability")]
    Capability(String),
    /// A folder that is not absolute.
    #[error("`--cwd`: `{0}` is not absolute")]
    Cwd(String),
}

impl ExecFlags {
    /// Makes the process from the one of the config.
    pub fn apply(&self, mut process: Process) -> Result<Process, InvalidExec> {
        if self.args.is_empty() {
            return Err(InvalidExec::NoProgram);
        }
        process.set_args(Some(self.args.clone()));
        process.set_command_line(None);
        process.set_terminal(Some(self.terminal));
        process.set_console_size(None);
        if let Some(cwd) = &self.cwd {
            if !cwd.starts_with('/') {
                return Err(InvalidExec::Cwd(cwd.clone()));
            }
            process.set_cwd(cwd.into());
        }
        if let Some(user) = &self.user {
            let mut changed = process.user().clone();
            let (uid, gid) = parse_user(user)?;
            changed.set_uid(uid);
            if let Some(gid) = gid {
                changed.set_gid(gid);
            }
            process.set_user(changed);
        }
        if !self.additional_gids.is_empty() {
            let mut changed = process.user().clone();
            let mut gids = changed.additional_gids().clone().unwrap_or_default();
            gids.extend(&self.additional_gids);
            changed.set_additional_gids(Some(gids));
            process.set_user(changed);
        }
        process.set_env(Some(merge_env(process.env().as_deref(), &self.env)?));
        if let Some(label) = &self.selinux_label {
            process.set_selinux_label(Some(label.clone()));
        }
        if let Some(profile) = &self.apparmor {
            process.set_apparmor_profile(Some(profile.clone()));
        }
        if self.no_new_privileges {
            process.set_no_new_privileges(Some(true));
        }
        if !self.capabilities.is_empty() {
            let sets = process.capabilities().clone().unwrap_or_else(no_capabilities);
            process.set_capabilities(Some(add(sets, &self.capabilities)?));
        }
        Ok(process)
    }
}

fn parse_user(text: &str) -> Result<(u32, Option<u32>), InvalidExec> {
    let refused = || InvalidExec::User(text.to_owned());
    let number = |text: &str| text.parse::<u32>().map_err(|_| refused());
    match text.split_once(':') {
        None => Ok((number(text)?, None)),
        Some((uid, gid)) => Ok((number(uid)?, Some(number(gid)?))),
    }
}

/// The variables of the config with `added` ones, which win over those of the same name.
fn merge_env(base: Option<&[String]>, added: &[String]) -> Result<Vec<String>, InvalidExec> {
    let name = |entry: &str| entry.split_once('=').map(|(name, _)| name.to_owned());
    let mut merged = base.unwrap_or_default().to_vec();
    for entry in added {
        let Some(new) = name(entry).filter(|name| !name.is_empty()) else {
            return Err(InvalidExec::Env(entry.clone()));
        };
        merged.retain(|old| name(old).as_deref() != Some(new.as_str()));
        merged.push(entry.clone());
    }
    Ok(merged)
}

/// Five empty sets; the default of the type is a container's usual ones.
fn no_capabilities() -> LinuxCapabilities {
    let mut sets = LinuxCapabilities::default();
    sets.set_bounding(None).set_effective(None).set_permitted(None);
    sets.set_inheritable(None).set_ambient(None);
    sets
}

fn add(mut sets: LinuxCapabilities, names: &[String]) -> Result<LinuxCapabilities, InvalidExec> {
    for name in names {
        let refused = |_: serde_json::Error| InvalidExec::Capability(name.clone());
        let upper = name.to_ascii_uppercase();
        let full = if upper.starts_with("CAP_") { upper } else { format!("CAP_{upper}") };
        let capability: Capability =
            serde_json::from_value(serde_json::Value::String(full)).map_err(refused)?;
        let with = |set: &Option<oci_spec::runtime::Capabilities>| {
            let mut set = set.clone().unwrap_or_default();
            set.insert(capability);
            Some(set)
        };
        let (bounding, effective) = (with(sets.bounding()), with(sets.effective()));
        let (permitted, inheritable) = (with(sets.permitted()), with(sets.inheritable()));
        sets.set_bounding(bounding).set_effective(effective);
        sets.set_permitted(permitted).set_inheritable(inheritable);
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Process {
        serde_json::from_value(serde_json::json!({
            "cwd": "/work", "args": ["sleep", "9"], "env": ["PATH=/bin", "A=1"], "terminal": true,
            "user": {"uid": 7, "gid": 8, "additionalGids": [9]},
        }))
        .unwrap()
    }

    fn flags() -> ExecFlags {
        ExecFlags { args: vec!["id".to_owned()], ..ExecFlags::default() }
    }

    #[test]
    fn flags_change_what_they_name_and_nothing_else() {
        let plain = flags().apply(base()).unwrap();
        assert_eq!(plain.args().as_deref(), Some(&["id".to_owned()][..]));
        assert_eq!(plain.terminal(), Some(false));
        assert_eq!((plain.cwd().to_str(), plain.user().uid()), (Some("/work"), 7));

        let changed = ExecFlags {
            cwd: Some("/tmp".to_owned()),
            env: vec!["A=2".to_owned(), "B=x=y".to_owned()],
            user: Some("1000:100".to_owned()),
            additional_gids: vec![5],
            no_new_privileges: true,
            capabilities: vec!["net_admin".to_owned(), "CAP_KILL".to_owned()],
            ..flags()
        };
        let changed = changed.apply(base()).unwrap();
        let env = changed.env().clone().unwrap();
        assert_eq!(env, ["PATH=/bin", "A=2", "B=x=y"]);
        let user = changed.user();
        assert_eq!((user.uid(), user.gid()), (1000, 100));
        assert_eq!(user.additional_gids().as_deref(), Some(&[9, 5][..]));
        assert_eq!(changed.no_new_privileges(), Some(true));
        let sets = changed.capabilities().as_ref().unwrap();
        assert_eq!(sets.effective().as_ref().unwrap().len(), 2);
    }

    #[test]
    fn flags_that_make_no_process_are_named() {
        for (flags, message) in [
            (
                ExecFlags::default(),
                "a program to execute is missing: give it after the container, or `--process`",
            ),
            (
                ExecFlags { env: vec!["A".to_owned()], ..flags() },
                "`--env`: `A` is not `NAME=value`",
            ),
            (
                ExecFlags { user: Some("root".to_owned()), ..flags() },
                "`--user`: `root` is not `uid[:gid]` in numbers",
            ),
            (
                ExecFlags { capabilities: vec!["fly".to_owned()], ..flags() },
                "`--cap`: `fly` is no capability",
            ),
            (ExecFlags { cwd: Some("x".to_owned()), ..flags() }, "`--cwd`: `x` is not absolute"),
        ] {
            assert_eq!(flags.apply(base()).unwrap_err().to_string(), message);
        }
    }
}
