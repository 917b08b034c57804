//! Feeds arbitrary bytes to what `claims::network` claims.
#![no_main]

#[path = "../claims.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::network(bytes));
