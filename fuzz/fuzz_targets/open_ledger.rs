//! See [`grainstore_fuzz::open_ledger`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| grainstore_fuzz::open_ledger(data));
