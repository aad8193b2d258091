use std::path::Path;
use std::{fs, io};

/// A source of the sample data, as `examples/data` of the repository has it.
pub(super) struct Source {
    /// Its name below `examples/data`.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) about: &'static str,
}

/// What the demo imports, in this order.
pub(super) const SOURCES: [Source; 3] = [
    Source {
        name: "pam",
        about: "what earlier assistants exported",
    },
    Source {
        name: "grains.jsonl",
        about: "what her assistant Wren wrote",
    },
    Source {
        name: "sample.mg",
        about: "what another agent shared",
    },
];

/// Writes the sources into a folder: the command carries them, wherever it is installed.
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
