//! See [`grainstore_fuzz::decode_json`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::decode_json(data));
