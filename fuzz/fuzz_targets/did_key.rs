//! See [`grainstore_fuzz::did_key`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::did_key(data));
