//! The bundles that every subject runs alike.

use mur_integration::{Bundle, Scratch};
use serde_json::{Value, json};

/// A container with every namespace and the usual mounts, whose process ends at once.
pub(crate) fn plain(scratch: &Scratch, name: &str) -> Bundle {
    Bundle::busybox(scratch, name).args(["/bin/true"])
}

/// Those for `run`.
pub(crate) fn all(scratch: &Scratch) -> Vec<(&'static str, Bundle)> {
    vec![
        ("run, plain", plain(scratch, "plain")),
        ("run, filter", filtered(plain(scratch, "filter"))),
        ("run, user namespace", mapped(plain(scratch, "user"))),
        ("run, user namespace and filter", filtered(mapped(plain(scratch, "user-filter")))),
    ]
}

/// Those for the verbs one by one.
pub(crate) fn sleeping(scratch: &Scratch) -> Vec<(&'static str, Bundle)> {
    let sleep = ["/bin/sleep", "1000"];
    vec![
        ("verbs, plain", plain(scratch, "sleep").args(sleep)),
        ("verbs, filter", filtered(plain(scratch, "sleep-filter")).args(sleep)),
    ]
}

fn mapped(bundle: Bundle) -> Bundle {
    bundle.edit(|config| {
        config["linux"]["namespaces"].as_array_mut().unwrap().push(json!({"type": "user"}));
        let map = json!([{"containerID": 0, "hostID": 100_000, "size": 65_536}]);
        config["linux"]["uidMappings"] = map.clone();
        config["linux"]["gidMappings"] = map;
    })
}

fn filtered(bundle: Bundle) -> Bundle {
    bundle.edit(|config| config["linux"]["seccomp"] = filter())
}

/// A filter of the size and shape that container engines give by default: a few hundred calls allowed, in three
/// architectures, a handful by their arguments, the rest refused.
fn filter() -> Value {
    let names: Vec<&str> = include_str!("allowed-calls.txt").split_whitespace().collect();
    let personality = |value: u64| {
        json!({"names": ["personality"], "action": "SCMP_ACT_ALLOW",
               "args": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"}]})
    };
    let mut rules = vec![
        json!({"names": names, "action": "SCMP_ACT_ALLOW"}),
        json!({"names": ["socket"], "action": "SCMP_ACT_ALLOW",
               "args": [{"index": 0, "value": 40, "op": "SCMP_CMP_NE"}]}),
        json!({"names": ["clone"], "action": "SCMP_ACT_ALLOW",
               "args": [{"index": 0, "value": 0x7e02_0000, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]}),
        json!({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}),
    ];
    rules.extend([0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff].map(personality));
    json!({
        "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
        "syscalls": rules,
    })
}
