//! Opening a store, as callers ask for it. Its files are opened in `engine/open.rs`.

mod open;
