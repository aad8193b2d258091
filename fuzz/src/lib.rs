//! The laws that the fuzz targets hold grainstore to. One function a target, one module a law, so
//! that an input that broke a law can be replayed in a debugger or a test.
//!
//! This package is a workspace of its own, because it does what the crate forbids: it counts
//! memory, and a global allocator is `unsafe` by nature ([`meter`]).

mod blob;
mod cal;
mod container;
mod cose;
mod did;
mod float64;
mod foreign;
mod frames;
mod json;
mod ledger;
pub mod meter;
mod segment;

pub use blob::decode_blob;
pub use cal::{STATEMENTS, read_cal};
pub use container::{build, read_mg, with_footer};
pub use cose::{cose_verify, good_envelope};
pub use did::did_key;
pub use foreign::{exported_formats, json_aimem, json_omi, json_pam, provider_exports};
pub use frames::read_frames;
pub use json::decode_json;
pub use ledger::open_ledger;
pub use segment::{STORE_ID, with_header};

/// Uses a store as the input says, against a plain map (`crates/crash`): what is stored, imported,
/// superseded, refused and opened again is what the map says, and what a scan of it answers.
pub fn store_ops(data: &[u8]) {
    if let Err(what) = grainstore_crash::store_ops(data) {
        panic!("{what}");
    }
}

/// Returns what an input is tried with, where to try all would take the time of other inputs: its
/// length decides, so that an input always does the same.
fn choice<T: Copy, const N: usize>(all: [T; N], len: usize) -> T {
    all[len % N]
}

/// Opens a store in a directory that the input describes, and uses it: nothing panics, and no file
/// outside the directory changes (`crates/crash`).
#[cfg(unix)]
pub fn open_store(data: &[u8]) {
    if let Err(what) = grainstore_crash::open_store(data, &grainstore_crash::planted_folder()) {
        panic!("{what}");
    }
}
