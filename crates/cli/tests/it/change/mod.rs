//! Changes from plain words: `remember`, `correct`, `undo`, `merge`, and `schema`.

mod correct;
mod merge;
mod remember;
mod schema;
mod undo;
