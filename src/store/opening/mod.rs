//! Opening a store, as callers ask for it. Its files are opened in `engine/open.rs`.

mod cache;
mod open;

pub(crate) use open::{in_memory, open, open_folder, open_on, tend};
