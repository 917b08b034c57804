//! Feeds arbitrary bytes to what `review::review` claims.
#![no_main]

#[path = "../review.rs"]
mod review;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| review::review(bytes));
