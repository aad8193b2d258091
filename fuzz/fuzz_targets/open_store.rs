//! See [`grainstore_fuzz::open_store`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::open_store(data));
