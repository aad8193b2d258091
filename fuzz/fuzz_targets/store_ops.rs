//! See [`grainstore_fuzz::store_ops`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::store_ops(data));
