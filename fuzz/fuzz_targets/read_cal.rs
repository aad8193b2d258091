//! See [`grainstore_fuzz::read_cal`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::read_cal(data));
