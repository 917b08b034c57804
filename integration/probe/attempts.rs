//! The attempts by name. Where one needs an argument that was not given, it answers EINVAL.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use libc::c_int;
use nix::errno::Errno;

use crate::act::Outcome;
use crate::sys::{call, call_i386, call_with_path, exec, map_executable};

type Try = fn(&[&str]) -> Outcome;

/// Every attempt and what makes it.
pub(crate) const ALL: &[(&str, Try)] = &[
    ("read", |a| read(arg(a, 0)?)),
    ("write", |a| write(arg(a, 0)?, a.get(1).copied().unwrap_or("x\n"))),
    ("append-nothing", |a| {
        io(OpenOptions::new().append(true).open(arg(a, 0)?)).map(|_| String::new())
    }),
    ("create", |a| io(File::create_new(arg(a, 0)?)).map(|_| String::new())),
    ("try-create", |a| try_create(arg(a, 0)?)),
    ("stat", |a| {
        io(fs::symlink_metadata(arg(a, 0)?))
            .map(|m| format!("{}:{} {:o}", m.uid(), m.gid(), m.mode()))
    }),
    ("list", |a| list(arg(a, 0)?)),
    ("mkdir", |a| io(fs::create_dir(arg(a, 0)?)).map(nothing)),
    ("remove", |a| io(fs::remove_file(arg(a, 0)?)).map(nothing)),
    ("rename", |a| io(fs::rename(arg(a, 0)?, arg(a, 1)?)).map(nothing)),
    ("link", |a| io(fs::hard_link(arg(a, 0)?, arg(a, 1)?)).map(nothing)),
    ("symlink", |a| io(symlink(arg(a, 0)?, arg(a, 1)?)).map(nothing)),
    ("chmod-setuid", |a| {
        io(fs::set_permissions(arg(a, 0)?, fs::Permissions::from_mode(0o4755))).map(nothing)
    }),
    ("chown-root", |a| io(std::os::unix::fs::chown(arg(a, 0)?, Some(0), Some(0))).map(nothing)),
    ("mknod", |a| call_with_path(libc::SYS_mknod, arg(a, 0)?, &[0o020_666, 0x103]).map(number)),
    ("truncate", |a| call_with_path(libc::SYS_truncate, arg(a, 0)?, &[0]).map(number)),
    ("exec", |a| Err(exec(arg(a, 0)?, &a[1..]))),
    ("exec-copy", |a| exec_copy(arg(a, 0)?, arg(a, 1)?)),
    ("map-exec", |a| map_executable(io(File::open(arg(a, 0)?))?.as_raw_fd()).map(nothing)),
    ("memfd", |_| memfd().map(|_| String::new())),
    ("exec-memfd", |a| exec_memfd(arg(a, 0)?)),
    ("socket-unix", |_| socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)),
    ("socketpair-unix", |_| io(UnixStream::pair()).map(|_| String::new())),
    ("socket-inet", |_| socket(libc::AF_INET, libc::SOCK_STREAM, 0)),
    ("socket-inet6", |_| socket(libc::AF_INET6, libc::SOCK_STREAM, 0)),
    ("socket-netlink", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)),
    ("socket-packet", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0x300)),
    ("socket-raw", |_| socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("socket-vsock", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("socket-alg", |_| socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("socket-family", |a| socket(parsed(arg(a, 0)?)?, libc::SOCK_DGRAM, 0)),
    ("connect-unix", |a| io(UnixStream::connect(arg(a, 0)?)).map(|_| String::new())),
    ("connect-abstract", |a| connect_abstract(arg(a, 0)?)),
    ("connect-tcp", |a| connect_tcp(arg(a, 0)?)),
    ("send-udp", |a| send_udp(arg(a, 0)?)),
    ("io-uring", |_| io_uring()),
    ("unshare-user", |_| unshare(libc::CLONE_NEWUSER)),
    ("unshare-mount", |_| unshare(libc::CLONE_NEWNS)),
    ("unshare-net", |_| unshare(libc::CLONE_NEWNET)),
    ("unshare-pid", |_| unshare(libc::CLONE_NEWPID)),
    ("clone-user", |_| clone(libc::CLONE_NEWUSER)),
    ("clone-plain", |_| clone(0)),
    ("clone3", |_| clone3()),
    ("setns", |a| call(libc::SYS_setns, &[open_fd(arg(a, 0)?)?, 0]).map(number)),
    ("mount-tmpfs", |a| mount(arg(a, 0)?, "tmpfs", 0)),
    ("mount-proc", |a| mount(arg(a, 0)?, "proc", 0)),
    ("remount-rw", |a| mount(arg(a, 0)?, "none", libc::MS_REMOUNT | libc::MS_BIND)),
    ("umount", |a| call_with_path(libc::SYS_umount2, arg(a, 0)?, &[2]).map(number)),
    ("open-tree", |_| open_tree()),
    ("fsopen", |_| call_with_path(libc::SYS_fsopen, "tmpfs", &[0]).map(number)),
    ("pivot-root", |_| {
        call_with_path(libc::SYS_pivot_root, ".", &[c".".as_ptr() as usize]).map(number)
    }),
    ("chroot", |a| call_with_path(libc::SYS_chroot, arg(a, 0)?, &[]).map(number)),
    ("bpf", |_| call(libc::SYS_bpf, &[0, [0_u8; 72].as_ptr() as usize, 72]).map(number)),
    ("perf", |_| {
        call(libc::SYS_perf_event_open, &[[0_u8; 128].as_ptr() as usize, 0, usize::MAX, usize::MAX])
            .map(number)
    }),
    ("userfaultfd", |_| call(libc::SYS_userfaultfd, &[1]).map(number)),
    ("keyctl", |_| call(libc::SYS_keyctl, &[0, minus(3), 1]).map(number)),
    ("ptrace-attach", |a| call(libc::SYS_ptrace, &[0x4206, pid(arg(a, 0)?)?, 0, 0]).map(number)),
    ("process-vm-read", |a| call(libc::SYS_process_vm_readv, &[pid(arg(a, 0)?)?]).map(number)),
    ("pidfd-open", |a| call(libc::SYS_pidfd_open, &[pid(arg(a, 0)?)?, 0]).map(number)),
    ("kill-0", |a| call(libc::SYS_kill, &[pid(arg(a, 0)?)?, 0]).map(number)),
    ("handle-open", |_| {
        call(libc::SYS_open_by_handle_at, &[minus(100), [0_u8; 16].as_ptr() as usize, 0])
            .map(number)
    }),
    ("init-module", |_| call(libc::SYS_init_module, &[0, 0, 0]).map(number)),
    ("kexec-load", |_| call(libc::SYS_kexec_load, &[0, 0, 0, 0]).map(number)),
    ("reboot-bad-magic", |_| call(libc::SYS_reboot, &[0, 0, 0, 0]).map(number)),
    ("swapoff", |_| call_with_path(libc::SYS_swapoff, "/nowhere", &[]).map(number)),
    ("set-clock", |_| call(libc::SYS_clock_settime, &[0, 0]).map(number)),
    ("sethostname", |_| call_with_path(libc::SYS_sethostname, "x", &[1]).map(number)),
    ("syslog", |_| call(libc::SYS_syslog, &[10]).map(number)),
    ("fanotify", |_| call(libc::SYS_fanotify_init, &[0, 0]).map(number)),
    ("quotactl", |_| call(libc::SYS_quotactl, &[0, 0, 0, 0]).map(number)),
    ("personality-32", |_| call(libc::SYS_personality, &[8]).map(number)),
    ("tiocsti", |_| call(libc::SYS_ioctl, &[0, 0x5412, b"x".as_ptr() as usize]).map(number)),
    ("setuid-0", |_| call(libc::SYS_setresuid, &[0, 0, 0]).map(number)),
    ("setgroups-0", |_| call(libc::SYS_setgroups, &[1, [0_u32; 1].as_ptr() as usize]).map(number)),
    ("syscall", |a| call(parsed(arg(a, 0)?)?, &[]).map(number)),
    // 102 is socketcall's number there, 359 socket's; 20 is getpid's.
    ("i386-socket", |_| call_i386(359, [libc::AF_UNIX, libc::SOCK_STREAM, 0]).map(number)),
    ("i386-getpid", |_| call_i386(20, [0; 3]).map(number)),
    ("x32-socket", |_| call(0x4000_0000 + libc::SYS_socket, &[1, 1, 0]).map(number)),
    ("descriptors", |_| list("/proc/self/fd")),
    ("status", |a| status(arg(a, 0)?)),
    ("ids", |_| Ok(format!("{}:{}", nix::unistd::getuid(), nix::unistd::getgid()))),
];

fn arg<'a>(arguments: &[&'a str], index: usize) -> Result<&'a str, Errno> {
    arguments.get(index).copied().ok_or(Errno::EINVAL)
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, Errno> {
    text.parse().map_err(|_| Errno::EINVAL)
}

fn pid(text: &str) -> Result<usize, Errno> {
    parsed(text)
}

/// A negative argument as the kernel takes it.
fn minus(number: usize) -> usize {
    number.wrapping_neg()
}

fn number(value: i64) -> String {
    value.to_string()
}

fn nothing((): ()) -> String {
    String::new()
}

fn io<T>(result: io::Result<T>) -> Result<T, Errno> {
    result.map_err(|error| error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw))
}

fn read(path: &str) -> Outcome {
    let mut bytes = [0; 64];
    let count = io(io(File::open(path))?.read(&mut bytes))?;
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}

fn write(path: &str, text: &str) -> Outcome {
    let mut file = io(OpenOptions::new().write(true).open(path))?;
    io(file.write_all(text.as_bytes())).map(nothing)
}

/// Makes a file and removes it.
fn try_create(path: &str) -> Outcome {
    io(File::create_new(path))?;
    io(fs::remove_file(path)).map(nothing)
}

fn list(path: &str) -> Outcome {
    let entries = io(fs::read_dir(path))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names.join(" "))
}

fn status(key: &str) -> Outcome {
    let text = io(fs::read_to_string("/proc/self/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.map(|value| value.trim().to_owned()).ok_or(Errno::ENODATA)
}

/// Copies a program to a place that may be written, and executes the copy.
fn exec_copy(program: &str, copy: &str) -> Outcome {
    io(fs::copy(program, copy))?;
    io(fs::set_permissions(copy, fs::Permissions::from_mode(0o755)))?;
    Err(exec(copy, &["--version"]))
}

fn memfd() -> Result<OwnedFd, Errno> {
    let raw = call_with_path(libc::SYS_memfd_create, "probe", &[0])?;
    let raw = i32::try_from(raw).map_err(|_| Errno::EBADF)?;
    Ok(owned(raw))
}

#[expect(unsafe_code, reason = "a raw call made the descriptor")]
fn owned(raw: i32) -> OwnedFd {
    // SAFETY: the kernel made `raw` for the caller just now and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(raw) }
}

/// Copies a program into nameless memory and executes that.
fn exec_memfd(program: &str) -> Outcome {
    let fd = memfd()?;
    let mut file = File::from(fd);
    io(file.write_all(&io(fs::read(program))?))?;
    Err(exec(&format!("/proc/self/fd/{}", file.as_raw_fd()), &["--version"]))
}

fn socket(family: c_int, kind: c_int, protocol: c_int) -> Outcome {
    let [family, kind, protocol] =
        [family, kind, protocol].map(|part| usize::try_from(part).unwrap_or(0));
    call(libc::SYS_socket, &[family, kind, protocol]).map(|_| String::new())
}

fn connect_abstract(name: &str) -> Outcome {
    let address = io(std::os::unix::net::SocketAddr::from_abstract_name(name))?;
    io(UnixStream::connect_addr(&address)).map(|_| String::new())
}

fn connect_tcp(address: &str) -> Outcome {
    let address: SocketAddr = parsed(address)?;
    io(TcpStream::connect_timeout(&address, Duration::from_secs(5))).map(|_| String::new())
}

fn send_udp(address: &str) -> Outcome {
    let address: SocketAddr = parsed(address)?;
    let socket = io(UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    io(socket.send_to(b"x", address)).map(|count| count.to_string())
}

fn unshare(flags: c_int) -> Outcome {
    call(libc::SYS_unshare, &[usize::try_from(flags).unwrap_or(0)]).map(number)
}

fn clone(flags: c_int) -> Outcome {
    let flags = usize::try_from(flags | libc::SIGCHLD).unwrap_or(0);
    let child = call(libc::SYS_clone, &[flags])?;
    if child == 0 {
        crate::sys::leave();
    }
    Ok(String::new())
}

fn clone3() -> Outcome {
    // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
    let arguments: [u64; 8] = [0, 0, 0, 0, 17, 0, 0, 0];
    let child = call(libc::SYS_clone3, &[arguments.as_ptr() as usize, 64])?;
    if child == 0 {
        crate::sys::leave();
    }
    Ok(String::new())
}

fn open_fd(path: &str) -> Result<usize, Errno> {
    let fd = OwnedFd::from(io(File::open(path))?);
    // Left open on purpose: the process ends with the attempt.
    usize::try_from(std::os::fd::IntoRawFd::into_raw_fd(fd)).map_err(|_| Errno::EBADF)
}

fn mount(target: &str, kind: &str, flags: libc::c_ulong) -> Outcome {
    let kind = std::ffi::CString::new(kind).map_err(|_| Errno::EINVAL)?;
    let target = std::ffi::CString::new(target).map_err(|_| Errno::EINVAL)?;
    let flags = usize::try_from(flags).map_err(|_| Errno::EINVAL)?;
    let (source, target) = (c"none".as_ptr() as usize, target.as_ptr() as usize);
    call(libc::SYS_mount, &[source, target, kind.as_ptr() as usize, flags, 0]).map(number)
}

fn io_uring() -> Outcome {
    // The kernel writes its offsets back.
    let mut parameters = [0_u8; 120];
    call(libc::SYS_io_uring_setup, &[1, parameters.as_mut_ptr() as usize]).map(number)
}

fn open_tree() -> Outcome {
    let clone = 1;
    call(libc::SYS_open_tree, &[minus(100), c"/".as_ptr() as usize, clone]).map(number)
}
