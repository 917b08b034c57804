//! The raw calls of the probe: what is tried must reach the kernel as it is, past any library.
#![expect(unsafe_code, reason = "attempts are raw system calls")]

use std::ffi::CString;

use nix::errno::Errno;

/// Forks; `None` in the child.
pub(crate) fn fork() -> Result<Option<i32>, Errno> {
    // SAFETY: the probe has one thread, so the child may go on as the parent would.
    let pid = Errno::result(unsafe { libc::fork() })?;
    Ok((pid != 0).then_some(pid))
}

/// How a child ended.
pub(crate) enum End {
    /// By a signal.
    Signal(i32),
    /// With this exit code.
    Code(i32),
}

/// Waits for a child.
pub(crate) fn wait_for(child: i32) -> End {
    let mut status = 0;
    // SAFETY: `status` outlives the call, which writes one integer there.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Code(libc::WEXITSTATUS(status))
    }
}

/// Ends this child at once, running no destructor of the parent's.
pub(crate) fn leave() -> ! {
    // SAFETY: takes an integer and does not come back.
    unsafe { libc::_exit(0) }
}

/// Calls the kernel with numbers alone.
pub(crate) fn call(number: i64, arguments: &[usize]) -> Result<i64, Errno> {
    let at = |index: usize| arguments.get(index).copied().unwrap_or(0);
    // SAFETY: callers pass numbers, or addresses of values that live beyond this call and are as long as
    // the kernel expects; calls that would change this process's memory are not made through here.
    Errno::result(unsafe { libc::syscall(number, at(0), at(1), at(2), at(3), at(4), at(5)) })
}

/// Calls the kernel with a path first.
pub(crate) fn call_with_path(number: i64, path: &str, more: &[usize]) -> Result<i64, Errno> {
    let path = CString::new(path).map_err(|_| Errno::EINVAL)?;
    let mut arguments = vec![path.as_ptr() as usize];
    arguments.extend(more);
    call(number, &arguments)
}

/// Calls the kernel by the gate of 32-bit programs, where `number` means another call.
#[cfg(target_arch = "x86_64")]
pub(crate) fn call_i386(number: i32, arguments: [i32; 3]) -> Result<i64, Errno> {
    let mut result = i64::from(number);
    // SAFETY: the gate takes three integers and gives one back. `rbx` belongs to the compiler, so it is
    // swapped for the moment; the kernel clears r8 to r11.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {first:r}",
            "int 0x80",
            "xchg rbx, {first:r}",
            first = inout(reg) i64::from(arguments[0]) => _,
            inout("rax") result,
            in("rcx") i64::from(arguments[1]),
            in("rdx") i64::from(arguments[2]),
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    // The gate gives 32 bits; a negative number is an errno.
    #[expect(clippy::cast_possible_truncation, reason = "the gate gives 32 bits")]
    let result = result as i32;
    if result < 0 { Err(Errno::from_raw(-result)) } else { Ok(i64::from(result)) }
}

/// Replaces this process by a program; comes back only with the reason why not.
pub(crate) fn exec(path: &str, arguments: &[&str]) -> Errno {
    let words: Vec<CString> = std::iter::once(&path)
        .chain(arguments)
        .filter_map(|word| CString::new(*word).ok())
        .collect();
    let Ok(path) = CString::new(path) else { return Errno::EINVAL };
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let environment = [std::ptr::null::<libc::c_char>()];
    // What the program says must not mix with what the probe says.
    if let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = (nix::unistd::dup2_stdout(&nowhere), nix::unistd::dup2_stderr(&nowhere));
    }
    // SAFETY: all strings and both null-ended lists live until the call returns, if it does.
    unsafe { libc::execve(path.as_ptr(), pointers.as_ptr(), environment.as_ptr()) };
    Errno::last()
}

/// Maps the beginning of an open file with the right to execute.
pub(crate) fn map_executable(fd: i32) -> Result<(), Errno> {
    // SAFETY: the kernel chooses the place, nothing is read from or jumped to there.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_EXEC,
            libc::MAP_PRIVATE,
            fd,
            0,
        )
    };
    if address == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(()) }
}
