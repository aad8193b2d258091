//! See [`grainstore_fuzz::cose_verify`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::cose_verify(data));
