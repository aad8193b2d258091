//! Changes from plain words: `remember`, `correct`, `undo`, `merge`, and `schema`.

mod consolidate;
mod correct;
mod merge;
mod remember;
mod schema;
mod undo;
