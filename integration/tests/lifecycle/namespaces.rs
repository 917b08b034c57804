//! `linux.namespaces`, id maps and what lives in a namespace: names, addresses, sysctls.

use std::fs;
use std::os::unix::fs::MetadataExt;

use mur_integration::{Bundle, Container, Run, Runtime, leftover, need};
use serde_json::{Value, json};

use crate::{run, sleeper};

fn remove_namespace(config: &mut Value, kind: &str) {
    config["linux"]["namespaces"].as_array_mut().unwrap().retain(|found| found["type"] != kind);
}

#[test]
fn the_first_process_is_number_one_and_sees_only_its_own() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b").shell("echo $$; echo /proc/[0-9]*");
    assert_eq!(run(&scratch, &bundle).ok(), "1\n/proc/1\n");
}

#[test]
fn names_of_host_and_domain_are_the_containers_own() {
    let Some(scratch) = need::root_scratch() else { return };
    let before = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let bundle = Bundle::busybox(&scratch, "b").args(["hostname"]);
    assert_eq!(run(&scratch, &bundle).ok(), "capsule\n");
    assert_eq!(fs::read_to_string("/proc/sys/kernel/hostname").unwrap(), before);
}

#[test]
fn a_namespace_that_the_config_leaves_out_is_the_callers() {
    let Some(scratch) = need::root_scratch() else { return };
    for (kind, file) in [("network", "net"), ("ipc", "ipc"), ("uts", "uts")] {
        let link = format!("/proc/self/ns/{file}");
        let bundle = Bundle::busybox(&scratch, kind).args(["readlink", &link]).edit(|config| {
            remove_namespace(config, kind);
            if kind == "uts" {
                config.as_object_mut().unwrap().remove("hostname");
            }
        });
        // A mqueue of the host's ipc namespace, and a sysfs of its network, may be mounted as well.
        let said = run(&scratch, &bundle).ok();
        assert_eq!(said.trim(), fs::read_link(&link).unwrap().to_str().unwrap());
    }
}

#[test]
fn a_namespace_with_a_path_is_joined() {
    let Some(scratch) = need::root_scratch() else { return };
    let first = sleeper(&scratch);
    first.launch();
    let of_first = |file: &str| format!("/proc/{}/ns/{file}", first.state().pid());
    for (kind, file) in [("network", "net"), ("ipc", "ipc"), ("uts", "uts"), ("pid", "pid")] {
        let link = format!("/proc/self/ns/{file}");
        let bundle = Bundle::busybox(&scratch, kind).args(["readlink", &link]).edit(|config| {
            for namespace in config["linux"]["namespaces"].as_array_mut().unwrap() {
                if namespace["type"] == kind {
                    namespace["path"] = json!(of_first(file));
                }
            }
            if kind == "uts" {
                config.as_object_mut().unwrap().remove("hostname");
            }
        });
        let second = Container::new(Runtime::under_test(), &scratch, &bundle, kind);
        let said = second.run().ok();
        assert_eq!(said.trim(), fs::read_link(of_first(file)).unwrap().to_str().unwrap());
    }
    first.delete_by_force().ok();
    leftover::nothing_of(&scratch);
}

#[test]
fn a_network_of_its_own_has_loopback_alone_and_it_is_up() {
    let Some(scratch) = need::root_scratch() else { return };
    let script = "ls /sys/class/net | grep -v -e tunl -e sit -e gre -e ip6 -e erspan -e ip_vti; ip addr show lo";
    let said = run(&scratch, &Bundle::busybox(&scratch, "b").shell(script)).ok();
    assert!(said.starts_with("lo\n"), "{said}");
    assert!(said.contains("127.0.0.1/8"), "{said}");
}

#[test]
fn a_user_namespace_has_the_maps_of_the_config() {
    let Some(scratch) = need::root_scratch() else { return };
    let bundle = Bundle::busybox(&scratch, "b");
    let bundle = bundle
        .shell("cat /proc/self/uid_map /proc/self/gid_map; id -u; touch /tmp/new")
        .edit(|config| {
            config["linux"]["namespaces"].as_array_mut().unwrap().push(json!({"type": "user"}));
            config["linux"]["uidMappings"] =
                json!([{"containerID": 0, "hostID": 200_000, "size": 65_536}]);
            config["linux"]["gidMappings"] =
                json!([{"containerID": 0, "hostID": 300_000, "size": 65_536}]);
            config["root"]["readonly"] = json!(false);
        });
    let said = run(&scratch, &bundle).ok();
    let words: Vec<&str> = said.split_whitespace().collect();
    assert_eq!(words, ["0", "200000", "65536", "0", "300000", "65536", "0"]);
    let made = fs::metadata(bundle.inside("tmp/new")).unwrap();
    assert_eq!((made.uid(), made.gid()), (200_000, 300_000));
}

#[test]
fn sysctls_of_the_namespaces_are_set_and_those_of_the_host_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    let read = ["cat", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/msgmax"];
    let bundle = Bundle::busybox(&scratch, "own").args(read).edit(|config| {
        config["linux"]["sysctl"] = json!({"net.ipv4.ip_forward": "1", "kernel.msgmax": "4321"});
    });
    assert_eq!(run(&scratch, &bundle).ok(), "1\n4321\n");
    let before = fs::read_to_string("/proc/sys/vm/swappiness").unwrap();
    let bundle = Bundle::busybox(&scratch, "hosts").args(["true"]).edit(|config| {
        config["linux"]["sysctl"] = json!({"vm.swappiness": "1"});
    });
    run(&scratch, &bundle).refused();
    assert_eq!(fs::read_to_string("/proc/sys/vm/swappiness").unwrap(), before);
}

#[test]
fn a_namespace_named_twice_or_with_a_path_that_is_none_is_refused() {
    let Some(scratch) = need::root_scratch() else { return };
    for (name, path) in [
        ("missing", "/no/such"),
        ("no-namespace", "/etc/hostname"),
        ("other-kind", "/proc/self/ns/uts"),
    ] {
        let bundle = Bundle::busybox(&scratch, name).args(["true"]).edit(|config| {
            remove_namespace(config, "ipc");
            let namespaces = config["linux"]["namespaces"].as_array_mut().unwrap();
            namespaces.push(json!({"type": "ipc", "path": path}));
        });
        run(&scratch, &bundle).refused();
    }
    let bundle = Bundle::busybox(&scratch, "twice").args(["true"]).edit(|config| {
        config["linux"]["namespaces"].as_array_mut().unwrap().push(json!({"type": "ipc"}));
    });
    if need::as_runc_does(Runtime::under_test(), "crun 1.8 takes a namespace named twice") {
        run(&scratch, &bundle).refused();
    }
}

#[test]
fn the_control_group_namespace_hides_where_the_container_is() {
    let Some(scratch) = need::root_scratch() else { return };
    let container = sleeper(&scratch);
    container.launch();
    let inside = container.exec(&["cat", "/proc/self/cgroup"]).ok();
    assert!(!inside.contains(scratch.tag()), "{inside}");
    let outside = fs::read_to_string(format!("/proc/{}/cgroup", container.state().pid())).unwrap();
    assert!(outside.contains(scratch.tag()), "{outside}");
    let _ = container.on_it("state", &[]).finish();
}
