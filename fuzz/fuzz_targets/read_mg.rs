//! See [`grainstore_fuzz::read_mg`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::read_mg(data));
