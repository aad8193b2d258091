//! ResultKind `check` proves about the index.

pub(super) mod compare;
mod structure;
