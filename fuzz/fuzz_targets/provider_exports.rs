//! See [`grainstore_fuzz::provider_exports`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::provider_exports(data));
