//! Chooses who a capsule's processes are on the host: never the host's root where anybody else serves.

use std::fs;
use std::path::Path;

use mur_bundle::{IdPair, Identity};
use mur_policy::Caller;

use crate::layout::IdentityChoice;
use crate::layout::idmap::IdMapping;

/// Where unused ids are looked for: far above what distributions, directories and container engines hand out.
const FIRST_UNUSED: u32 = 1_900_000_000;
/// How many there are to choose from.
const UNUSED: u32 = 200_000_000;

/// The id a capsule sees as its own where its id on the host is an unused one.
const ORDINARY: u32 = 1000;

/// The accounts of this host, as far as a choice must avoid them.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    /// User, its primary group.
    users: Vec<(u32, u32)>,
    /// First id, how many.
    subordinate: Vec<(u32, u32)>,
}

impl Accounts {
    /// Reads the host's files. An account that only a directory service knows is outside the range by its size.
    pub(crate) fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self::parse(&text("/etc/passwd"), &[text("/etc/subuid"), text("/etc/subgid")])
    }

    fn parse(passwd: &str, subordinate: &[String]) -> Self {
        let field = |line: &str, at: usize| line.split(':').nth(at)?.parse::<u32>().ok();
        Self {
            users: passwd.lines().filter_map(|it| Some((field(it, 2)?, field(it, 3)?))).collect(),
            subordinate: subordinate
                .iter()
                .flat_map(|text| text.lines())
                .filter_map(|line| Some((field(line, 1)?, field(line, 2)?)))
                .collect(),
        }
    }

    fn is_used(&self, id: u32) -> bool {
        self.users.iter().any(|&(user, group)| user == id || group == id)
            || self.subordinate.iter().any(|&(first, count)| id >= first && id - first < count)
    }

    fn group_of(&self, user: u32) -> Option<u32> {
        self.users.iter().find(|(own, _)| *own == user).map(|&(_, group)| group)
    }

    /// The `nth` unused id for a work folder: the same one every time, another for another folder.
    fn unused(&self, workdir: &Path, nth: usize) -> u32 {
        let start = fingerprint(workdir) % UNUSED;
        (0..UNUSED)
            .map(|step| FIRST_UNUSED + (start + step) % UNUSED)
            .filter(|id| !self.is_used(*id))
            .nth(nth)
            .unwrap_or(FIRST_UNUSED)
    }
}

/// Who asks for whom, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// Who calls.
    pub(crate) caller: &'a Caller,
    /// How the user is chosen.
    pub(crate) choice: IdentityChoice,
    /// The work folder.
    pub(crate) workdir: &'a Path,
    /// Its owner and group.
    pub(crate) owner: (u32, u32),
}

/// Chooses the identity. `id_map` says whether the work folder's mount can be idmapped, by having done it.
pub(crate) fn choose(
    claim: Claim<'_>,
    accounts: &Accounts,
    id_map: impl FnOnce(IdMapping) -> Result<(), String>,
) -> Identity {
    let Claim { caller, choice, workdir, owner } = claim;
    let same = |id| IdPair { inside: id, host: id };
    let plain =
        |uid, gid, spare| Identity { uid, gid, spare, idmapped: false, host_root_because: None };
    let as_root = |host| IdPair { inside: 0, host };
    if !caller.privileged {
        return match choice {
            IdentityChoice::Natural => plain(same(caller.uid), same(caller.gid), None),
            IdentityChoice::ContainerRoot => plain(as_root(caller.uid), as_root(caller.gid), None),
        };
    }
    let spare = accounts.unused(workdir, 1);
    if owner.0 != 0 {
        let group = match owner.1 {
            0 => accounts.group_of(owner.0).filter(|group| *group != 0).unwrap_or(owner.0),
            group => group,
        };
        return plain(same(owner.0), same(group), Some(spare));
    }
    let host = accounts.unused(workdir, 0);
    match id_map(IdMapping { uid: (owner.0, host), gid: (owner.1, host) }) {
        Ok(()) => {
            let pair = IdPair { inside: ORDINARY, host };
            Identity { idmapped: true, ..plain(pair, pair, Some(spare)) }
        }
        Err(because) => Identity {
            host_root_because: Some(format!(
                "the work folder belongs to root and cannot be mounted with another owner: {because}"
            )),
            ..plain(same(0), same(0), None)
        },
    }
}

/// FNV-1a over the path: stable across builds and machines, which a bundle's bytes have to be.
fn fingerprint(path: &Path) -> u32 {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str()
        .as_bytes()
        .iter()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Caller = Caller { uid: 0, gid: 0, privileged: true };
    const USER: Caller = Caller { uid: 1000, gid: 100, privileged: false };
    const NESTED: Caller = Caller { uid: 0, gid: 0, privileged: false };

    fn chosen(caller: &Caller, choice: IdentityChoice, owner: (u32, u32)) -> Identity {
        let accounts = Accounts::parse("root:x:0:0::/:\nann:x:1001:1002::/:\n", &[]);
        let claim = Claim { caller, choice, workdir: Path::new("/srv/p"), owner };
        choose(claim, &accounts, |_| Ok(()))
    }

    #[test]
    fn each_caller_and_owner_gives_the_identity_the_design_says() {
        use IdentityChoice::{ContainerRoot, Natural};
        for (caller, choice, owner, uid, gid, spare) in [
            (&USER, Natural, (1000, 100), (1000, 1000), (100, 100), false),
            (&USER, ContainerRoot, (1000, 100), (0, 1000), (0, 100), false),
            (&NESTED, Natural, (0, 0), (0, 0), (0, 0), false),
            (&ROOT, Natural, (1001, 1002), (1001, 1001), (1002, 1002), true),
            (&ROOT, Natural, (1001, 0), (1001, 1001), (1002, 1002), true),
            (&ROOT, Natural, (4242, 0), (4242, 4242), (4242, 4242), true),
        ] {
            let identity = chosen(caller, choice, owner);
            let pair = |(inside, host)| IdPair { inside, host };
            assert_eq!(identity.uid, pair(uid), "{caller:?} {owner:?}");
            assert_eq!(identity.gid, pair(gid), "{caller:?} {owner:?}");
            assert_eq!(identity.spare.is_some(), spare, "{caller:?} {owner:?}");
            assert!(!identity.idmapped && identity.host_root_because.is_none());
        }
    }

    #[test]
    fn in_a_folder_of_roots_the_capsule_is_an_unused_id_behind_an_ordinary_one() {
        let identity = chosen(&ROOT, IdentityChoice::Natural, (0, 0));
        assert!(identity.idmapped);
        assert_eq!(identity.uid.inside, ORDINARY);
        assert!(identity.uid.host >= FIRST_UNUSED);
        assert_ne!(identity.spare, Some(identity.uid.host));
        assert_eq!(identity, chosen(&ROOT, IdentityChoice::Natural, (0, 0)));
    }

    #[test]
    fn only_without_an_idmap_the_capsule_is_the_hosts_root_and_says_why() {
        let claim = Claim {
            caller: &ROOT,
            choice: IdentityChoice::Natural,
            workdir: Path::new("/srv/p"),
            owner: (0, 0),
        };
        let identity = choose(claim, &Accounts::default(), |_| Err("no such call".into()));
        assert_eq!(identity.uid, IdPair { inside: 0, host: 0 });
        assert!(identity.host_root_because.unwrap().ends_with("no such call"));
    }

    #[test]
    fn an_unused_id_is_nobodys() {
        let first = Accounts::default().unused(Path::new("/srv/p"), 0);
        let accounts = Accounts::parse("", &[format!("ann:{first}:65536\n")]);
        let other = accounts.unused(Path::new("/srv/p"), 0);
        assert!(other >= first + 65536 || other < first);
    }
}
