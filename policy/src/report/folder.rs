//! What commands can do to the session's own folders, and where `/tmp` is: `spec/scope-report.md` §3.14–3.16.

use serde::{Deserialize, Serialize};

use crate::{ContainmentDecision, Placement, TMP_PATH, Tier};

/// The runtime or the records folder as commands meet it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeDirReport {
    /// With the placeholder for the session's id.
    pub path: String,
    /// Whether commands cannot change it.
    pub read_only_to_commands: bool,
    /// What holds it.
    pub enforced_by: Option<String>,
    /// Why nothing does.
    pub not_protected_because: Option<String>,
}

/// The session's temporary folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TempDirReport {
    /// With the placeholder for the session's id.
    pub path: String,
    /// The value of `TMPDIR`: `/tmp` where mapped, else `path`.
    pub tmpdir: String,
    /// Whether a literal `/tmp` is this folder.
    pub tmp_mapped: bool,
    /// By what.
    pub mapped_by: Option<String>,
    /// Why not.
    pub not_mapped_because: Option<String>,
}

/// What commands see as `/proc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessViewReport {
    /// Only the session's own processes.
    pub private: bool,
    /// By what.
    pub mounted_by: Option<String>,
    /// Why not.
    pub not_private_because: Option<String>,
}

/// The runtime folder's report.
pub fn runtime_dir_report(
    decision: &ContainmentDecision,
    placement: &Placement,
) -> RuntimeDirReport {
    let path = placement.runtime_dir.display().to_string();
    folder_report("runtime", path, placement.runtime_dir_inside(), decision)
}

/// The records folder's report.
pub fn records_dir_report(
    decision: &ContainmentDecision,
    placement: &Placement,
) -> RuntimeDirReport {
    let path = placement.records_dir.display().to_string();
    folder_report("records", path, placement.records_dir_inside(), decision)
}

/// First match of the table of §3.14. `inside`: the folder lies inside the work folder.
fn folder_report(
    name: &str,
    path: String,
    inside: bool,
    decision: &ContainmentDecision,
) -> RuntimeDirReport {
    let abi = decision.landlock_abi.unwrap_or(1);
    let held = match decision.applied {
        Tier::Unconfined => Err("the session is unconfined"),
        Tier::EnvironmentOnly => Err("nothing in the kernel contains a command here"),
        Tier::SeccompOnly => Err("this host has no Landlock to hold it"),
        Tier::Full | Tier::Sealed if inside => {
            Err("it lies inside the work folder; use another work folder")
        }
        Tier::Sealed => Ok("mountns+landlock"),
        Tier::Full if decision.mount_namespace => Ok("mountns+landlock"),
        Tier::Full if abi < 3 => {
            Err("this kernel's Landlock (below ABI 3) does not mediate truncation")
        }
        Tier::Full => Ok("landlock"),
    };
    RuntimeDirReport {
        path,
        read_only_to_commands: held.is_ok(),
        enforced_by: held.ok().map(str::to_owned),
        not_protected_because: held
            .err()
            .map(|reason| format!("the {name} folder is not protected from commands: {reason}")),
    }
}

/// The temporary folder's report, from the one decision on `/tmp`.
pub fn temp_dir_report(decision: &ContainmentDecision, placement: &Placement) -> TempDirReport {
    let path = placement.temp_dir().display().to_string();
    let mapped = decision.temp.is_mapped();
    TempDirReport {
        tmpdir: if mapped { TMP_PATH.to_owned() } else { path.clone() },
        path,
        tmp_mapped: mapped,
        mapped_by: decision.temp.mapped_by().map(str::to_owned),
        not_mapped_because: decision.temp.not_mapped_because().map(str::to_owned),
    }
}

/// What the applied tier shows as `/proc`.
pub fn process_view_report(decision: &ContainmentDecision) -> ProcessViewReport {
    let reason = match decision.applied {
        Tier::SeccompOnly | Tier::Full | Tier::Sealed if decision.private_proc => {
            return ProcessViewReport {
                private: true,
                mounted_by: Some("pid-namespace".to_owned()),
                not_private_because: None,
            };
        }
        Tier::Unconfined => "the session is unconfined: commands see every process of the host",
        Tier::EnvironmentOnly => {
            "nothing in the kernel contains a command here: commands see every process of the host"
        }
        Tier::SeccompOnly => {
            "no private /proc can be mounted here: commands see every process of the host"
        }
        Tier::Full | Tier::Sealed => {
            "no private /proc can be mounted here: the host's is in its place, every open beneath it \
             is refused, and the numbers of its processes can be seen"
        }
    };
    ProcessViewReport {
        private: false,
        mounted_by: None,
        not_private_because: Some(reason.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{decision, placement, placement_at};

    #[test]
    fn the_first_matching_row_says_whether_the_folders_are_read_only() {
        for (tier, mount, abi, workdir, enforced_by, because) in [
            (Tier::EnvironmentOnly, false, None, "/srv", None, "nothing in the kernel"),
            (Tier::EnvironmentOnly, false, None, "/home/u", None, "nothing in the kernel"),
            (Tier::SeccompOnly, true, None, "/srv", None, "no Landlock"),
            (Tier::SeccompOnly, true, None, "/home/u", None, "no Landlock"),
            (Tier::Full, true, Some(6), "/home/u", None, "another work folder"),
            (Tier::Sealed, true, Some(6), "/home/u", None, "another work folder"),
            (Tier::Sealed, true, Some(1), "/srv", Some("mountns+landlock"), ""),
            (Tier::Full, true, Some(1), "/srv", Some("mountns+landlock"), ""),
            (Tier::Full, false, Some(2), "/srv", None, "truncation"),
            (Tier::Full, false, None, "/srv", None, "truncation"),
            (Tier::Full, false, Some(3), "/srv", Some("landlock"), ""),
            (Tier::Unconfined, false, None, "/srv", None, "unconfined"),
        ] {
            let mut decision = decision(tier);
            decision.mount_namespace = mount;
            decision.landlock_abi = abi;
            let placement = placement_at(workdir);
            for report in [
                runtime_dir_report(&decision, &placement),
                records_dir_report(&decision, &placement),
            ] {
                let case = format!("{tier} mount={mount} abi={abi:?} {workdir}: {report:?}");
                assert_eq!(report.enforced_by.as_deref(), enforced_by, "{case}");
                assert_eq!(report.read_only_to_commands, enforced_by.is_some(), "{case}");
                let reason = report.not_protected_because.unwrap_or_default();
                assert_eq!(reason.is_empty(), enforced_by.is_some(), "{case}");
                assert!(reason.contains(because), "{case}");
                assert!(report.path.contains("<session-id>"), "{case}");
            }
        }
    }

    #[test]
    fn tmpdir_is_tmp_exactly_where_it_is_mapped() {
        let own = "/home/u/.murmur/records/srv/proj/<session-id>/tmp";
        for (tier, mount, tmpdir, mapped_by) in [
            (Tier::Sealed, true, "/tmp", Some("composed-root")),
            (Tier::Full, true, "/tmp", Some("mount-namespace")),
            (Tier::Full, false, own, None),
            (Tier::SeccompOnly, false, own, None),
            (Tier::EnvironmentOnly, false, own, None),
        ] {
            let mut decision = decision(tier);
            decision.mount_namespace = mount;
            decision.temp = crate::temp_mapping(tier, mount, false);
            let report = temp_dir_report(&decision, &placement());
            assert_eq!((report.tmpdir.as_str(), report.path.as_str()), (tmpdir, own));
            assert_eq!(report.mapped_by.as_deref(), mapped_by);
            assert_eq!(report.tmp_mapped, mapped_by.is_some());
            assert_eq!(report.not_mapped_because.is_some(), mapped_by.is_none());
        }
    }

    #[test]
    fn the_process_view_is_private_only_where_it_was_mounted() {
        for tier in
            [Tier::Unconfined, Tier::EnvironmentOnly, Tier::SeccompOnly, Tier::Full, Tier::Sealed]
        {
            for private_proc in [false, true] {
                let mut decision = decision(tier);
                decision.private_proc = private_proc;
                let report = process_view_report(&decision);
                let kernel = !matches!(tier, Tier::Unconfined | Tier::EnvironmentOnly);
                assert_eq!(report.private, private_proc && kernel, "{tier}");
                assert_eq!(report.mounted_by.is_some(), report.private);
                assert_eq!(report.not_private_because.is_none(), report.private);
            }
        }
    }
}
