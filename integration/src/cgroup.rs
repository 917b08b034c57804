//! Where this machine's control groups are mounted.

use std::fs;
use std::path::PathBuf;

/// One mounted cgroup hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Where it is mounted.
    pub mount: PathBuf,
    /// Whether it is the unified one (v2).
    pub is_v2: bool,
    /// Controllers of a v1 hierarchy, or its name (`name=systemd`); empty for v2.
    pub controllers: Vec<String>,
}

/// All that are mounted in this mount namespace.
pub fn hierarchies() -> Vec<Hierarchy> {
    parse(&fs::read_to_string("/proc/self/mountinfo").unwrap())
}

/// What a file of a process's control group says: by its v1 controller and name where that hierarchy is
/// mounted, else by its v2 name.
#[track_caller]
pub fn read_limit(pid: i32, controller: &str, v1: &str, v2: &str) -> String {
    let own = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let all = hierarchies();
    let of_v1 = all.iter().find(|one| one.controllers.iter().any(|name| name == controller));
    let (mount, word, file) = match of_v1 {
        Some(found) => (&found.mount, controller, v1),
        None => (&all.iter().find(|one| one.is_v2).unwrap().mount, "", v2),
    };
    let group = own
        .lines()
        .filter_map(|line| line.split_once(':')?.1.split_once(':'))
        .find(|(controllers, _)| controllers.split(',').any(|name| name == word))
        .map(|(_, path)| path.trim_start_matches('/').to_owned())
        .unwrap();
    let file = mount.join(group).join(file);
    let text = fs::read_to_string(&file);
    text.unwrap_or_else(|error| panic!("{}: {error}", file.display())).trim().to_owned()
}

fn parse(mountinfo: &str) -> Vec<Hierarchy> {
    mountinfo
        .lines()
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let mount = PathBuf::from(left.split(' ').nth(4)?);
            let mut after = right.split(' ');
            let is_v2 = match after.next()? {
                "cgroup" => false,
                "cgroup2" => true,
                _ => return None,
            };
            let options = if is_v2 { "" } else { after.nth(1)? };
            let controllers = options
                .split(',')
                .filter(|word| !["", "rw", "ro", "xattr", "clone_children"].contains(word))
                .filter(|word| !word.starts_with("release_agent="))
                .map(str::to_owned)
                .collect();
            Some(Hierarchy { mount, is_v2, controllers })
        })
        .collect()
}

/// Whether v1 hierarchies are mounted and a v2 one beside them.
pub(crate) fn is_hybrid() -> bool {
    let found = hierarchies();
    found.iter().any(|one| !one.is_v2) && found.iter().any(|one| one.is_v2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_hierarchy_are_read_from_mountinfo() {
        let text = "\
30 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/systemd rw shared:3 - cgroup cgroup rw,xattr,name=systemd
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
";
        let found: Vec<_> = parse(text)
            .into_iter()
            .map(|one| (one.mount.display().to_string(), one.is_v2, one.controllers.join(" ")))
            .collect();
        assert_eq!(
            found,
            [
                ("/sys/fs/cgroup/cpu,cpuacct".to_owned(), false, "cpu cpuacct".to_owned()),
                ("/sys/fs/cgroup/systemd".to_owned(), false, "name=systemd".to_owned()),
                ("/sys/fs/cgroup/unified".to_owned(), true, String::new()),
            ]
        );
    }
}
