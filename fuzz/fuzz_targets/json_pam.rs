//! See [`grainstore_fuzz::json_pam`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::json_pam(data));
