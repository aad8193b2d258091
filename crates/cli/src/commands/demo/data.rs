//! The sample data of the demo, compiled into the command.
//!
//! The files are those of `examples/data` in the repository, so the demo runs anywhere.

use std::path::Path;
use std::{fs, io};

/// A source of sample data, from `examples/data` of the repository.
pub(super) struct Source {
    /// Path below `examples/data`.
    pub(super) name: &'static str,
    /// Description, shown by the demo.
    pub(super) about: &'static str,
}

/// The sources that the demo imports, in this order.
pub(super) const SOURCES: [Source; 3] = [
    Source {
        name: "pam",
        about: "exported by earlier assistants",
    },
    Source {
        name: "grains.jsonl",
        about: "written by her assistant Wren",
    },
    Source {
        name: "sample.mg",
        about: "shared by another agent",
    },
];

/// Writes the sources to a folder.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    for (name, bytes) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

const FILES: [(&str, &[u8]); 4] = [
    (
        "pam/memory-store.json",
        include_bytes!("../../../../../examples/data/pam/memory-store.json"),
    ),
    (
        "pam/conversations/c3a39b74-6338-4e87-bd3b-af69c9d08f03.json",
        include_bytes!(
            "../../../../../examples/data/pam/conversations/c3a39b74-6338-4e87-bd3b-af69c9d08f03.json"
        ),
    ),
    (
        "grains.jsonl",
        include_bytes!("../../../../../examples/data/grains.jsonl"),
    ),
    (
        "sample.mg",
        include_bytes!("../../../../../examples/data/sample.mg"),
    ),
];
