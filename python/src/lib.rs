//! The extension module of the Python package `grainstore`: its store, grains and feeds, on the
//! public API of the library only.
//!
//! What a Python program sees is the Python layer above it (`grainstore/`): this module takes and
//! returns plain values. Every call that reads, writes or searches releases the interpreter's lock.

// The macros of PyO3 write code that is unsafe; none is written here.
#![forbid(unsafe_code)]

mod attest;
mod audit;
mod cal;
mod changes;
mod command;
mod embedder;
mod error;
mod files;
mod filter;
mod grain;
mod held;
mod hold;
mod persons;
mod recollection;
mod signing;
mod store;
mod value;

/// The native part of the package `grainstore`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::attest::{
        erasure_receipt_json, erasure_receipt_names, open_erasure_receipt, open_receipt,
    };
    #[pymodule_export]
    use crate::audit::{Note, Proof};
    #[pymodule_export]
    use crate::changes::Changes;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::error::{codes, hint};
    #[pymodule_export]
    use crate::grain::Grain;
    #[pymodule_export]
    use crate::recollection::Recollection;
    #[pymodule_export]
    use crate::signing::SigningKey;
    #[pymodule_export]
    use crate::store::{Store, open};
}
