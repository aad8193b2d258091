//! Memory for chat clients: the files under `/memories` of the common memory tool, over grains.
//!
//! A file is a Belief: its subject is the path, its relation [`RELATION`], its object the text. A
//! change supersedes it, so the supersession chain is the history of the file; what is deleted ends
//! with a version that says so. Text is kept in Unicode normal form C (OMS 4.4).
//!
//! ```
//! use grainstore::{Options, Store};
//! use grainstore_server::Scope;
//! use grainstore_server::memory::{Command, Memory};
//!
//! let memory = Memory::new(Scope::owner(Store::in_memory(Options::default())?));
//! let path = "/memories/notes.md".to_owned();
//! memory.run(&Command::Create { path: path.clone(), file_text: "tea".to_owned() })?;
//! let told = memory.run(&Command::View { path, view_range: None })?;
//! assert!(told.ends_with("     1\ttea"), "{told}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod error;
mod files;
mod path;
mod view;

pub use command::Command;
pub use error::MemoryError;
pub use files::{Memory, RELATION};
