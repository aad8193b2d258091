//! See [`grainstore_fuzz::decode_blob`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::decode_blob(data));
