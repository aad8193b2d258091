//! See [`grainstore_fuzz::read_frames`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::read_frames(data));
