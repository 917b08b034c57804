//! Runs one attempt in a child, so that an attempt that ends its process ends only itself.

use std::io::{Read, Write};

use nix::errno::Errno;

use crate::sys;

/// What an attempt comes to: what it got, or why the kernel refused it.
pub(crate) type Outcome = Result<String, Errno>;

/// The result's name and its detail.
pub(crate) fn in_a_child(attempt: impl FnOnce() -> Outcome) -> (String, String) {
    let (mut from_child, mut to_parent) = match std::io::pipe() {
        Ok(ends) => ends,
        Err(error) => return ("no-pipe".to_owned(), error.to_string()),
    };
    match sys::fork() {
        Err(errno) => ("no-fork".to_owned(), errno.to_string()),
        Ok(None) => {
            let line = match attempt() {
                Ok(detail) => format!("ok\t{}", detail.replace(['\t', '\n'], " ")),
                Err(errno) => format!("{errno:?}\t"),
            };
            let _ = to_parent.write_all(line.as_bytes());
            sys::leave()
        }
        Ok(Some(child)) => {
            drop(to_parent);
            let mut line = String::new();
            let _ = from_child.read_to_string(&mut line);
            match sys::wait_for(child) {
                sys::End::Signal(signal) => return (format!("signal {signal}"), String::new()),
                // Nothing was said: another program took the child's place.
                sys::End::Code(code) if line.is_empty() => {
                    return ("ran".to_owned(), format!("exit {code}"));
                }
                sys::End::Code(_) => {}
            }
            let (result, detail) = line.split_once('\t').unwrap_or((&line, ""));
            (result.to_owned(), detail.to_owned())
        }
    }
}
