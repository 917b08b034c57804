//! Programs that decide about devices of a cgroup v2, through bpf(2).

use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;

/// One instruction, as `struct bpf_insn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    /// Operation.
    pub(crate) code: u8,
    /// Target register in the lower, source register in the upper half.
    pub(crate) registers: u8,
    /// Distance of a jump, or place in memory.
    pub(crate) offset: i16,
    /// Constant.
    pub(crate) value: i32,
}

const PROG_LOAD: c_int = 5;
const PROG_ATTACH: c_int = 8;
const PROG_DETACH: c_int = 9;
const PROG_GET_FD_BY_ID: c_int = 13;
const PROG_QUERY: c_int = 16;
const TYPE_CGROUP_DEVICE: u32 = 15;
const ATTACH_CGROUP_DEVICE: u32 = 6;
const ALLOW_MULTI: u32 = 2;

/// The beginning of the union for `BPF_PROG_LOAD`; the kernel takes the rest as zero.
#[repr(C)]
struct Load {
    prog_type: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buffer: u64,
    kernel_version: u32,
    flags: u32,
}

/// The union for `BPF_PROG_ATTACH` and `BPF_PROG_DETACH`.
#[repr(C)]
struct Attach {
    target: u32,
    program: u32,
    kind: u32,
    flags: u32,
}

/// The union for `BPF_PROG_QUERY`.
#[repr(C)]
struct Query {
    target: u32,
    kind: u32,
    flags: u32,
    flags_of_programs: u32,
    ids: u64,
    count: u32,
    reserved: u32,
}

/// The union for `BPF_PROG_GET_FD_BY_ID`.
#[repr(C)]
struct ById {
    id: u32,
    next_id: u32,
    open_flags: u32,
}

fn bpf<T>(command: c_int, attributes: &mut T) -> nix::Result<RawFd> {
    let size = size_of::<T>();
    let address: *mut T = attributes;
    // SAFETY: the kernel reads and writes at most `size` bytes of `attributes`, which is ours;
    // the addresses inside it point to buffers that the callers keep alive and sized.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, address, size) };
    RawFd::try_from(Errno::result(result)?).map_err(|_| Errno::EBADF)
}

fn number(fd: BorrowedFd<'_>) -> u32 {
    fd.as_raw_fd().cast_unsigned()
}

fn address<T>(buffer: *const T) -> u64 {
    buffer.expose_provenance() as u64
}

/// Loads a program of type `cgroup_device`.
pub(crate) fn load_device_program(code: &[Instruction]) -> nix::Result<OwnedFd> {
    let mut load = Load {
        prog_type: TYPE_CGROUP_DEVICE,
        instruction_count: u32::try_from(code.len()).map_err(|_| Errno::E2BIG)?,
        instructions: address(code.as_ptr()),
        license: address(c"Apache-2.0".as_ptr()),
        log_level: 0,
        log_size: 0,
        log_buffer: 0,
        kernel_version: 0,
        flags: 0,
    };
    let raw = bpf(PROG_LOAD, &mut load)?;
    // SAFETY: the kernel made `raw` for this call and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Attaches `program` to the group behind `folder`, besides those of its parents.
pub(crate) fn attach_device_program(
    folder: BorrowedFd<'_>,
    program: BorrowedFd<'_>,
) -> nix::Result<()> {
    let (target, program) = (number(folder), number(program));
    let mut attach = Attach { target, program, kind: ATTACH_CGROUP_DEVICE, flags: ALLOW_MULTI };
    bpf(PROG_ATTACH, &mut attach).map(drop)
}

/// The numbers of the programs attached to the group itself, at most 64.
pub(crate) fn device_programs_of(folder: BorrowedFd<'_>) -> nix::Result<Vec<u32>> {
    let mut ids = [0_u32; 64];
    let mut query = Query {
        target: number(folder),
        kind: ATTACH_CGROUP_DEVICE,
        flags: 0,
        flags_of_programs: 0,
        ids: address(ids.as_mut_ptr()),
        count: 64,
        reserved: 0,
    };
    bpf(PROG_QUERY, &mut query)?;
    Ok(ids.into_iter().take(query.count as usize).collect())
}

/// Detaches the program with number `id` from the group; one that is gone is fine.
pub(crate) fn detach_device_program(folder: BorrowedFd<'_>, id: u32) -> nix::Result<()> {
    let raw = match bpf(PROG_GET_FD_BY_ID, &mut ById { id, next_id: 0, open_flags: 0 }) {
        Err(Errno::ENOENT) => return Ok(()),
        other => other?,
    };
    // SAFETY: the kernel made `raw` for this call and nothing else owns it.
    let program = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut detach = Attach {
        target: number(folder),
        program: program.as_raw_fd().cast_unsigned(),
        kind: ATTACH_CGROUP_DEVICE,
        flags: 0,
    };
    match bpf(PROG_DETACH, &mut detach) {
        Ok(_) | Err(Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
