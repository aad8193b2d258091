//! The directories whose settings the user has allowed, each with what the file said then: a file that
//! was changed since is allowed anew, or not in force.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use grainstore::ContentAddress;
use serde::{Deserialize, Serialize};

/// The list of the user, in the folder of their settings.
#[derive(Debug)]
pub(crate) struct Allowed {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    file: PathBuf,
    sha256: String,
}

impl Allowed {
    pub(super) const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn has(&self, file: &Path, text: &str) -> bool {
        let sha256 = sum(text);
        self.lines()
            .iter()
            .any(|line| line.file == file && line.sha256 == sha256)
    }

    /// Allows what a file says now.
    pub(super) fn add(&self, file: &Path, text: &str) -> io::Result<()> {
        let mut lines = self.without(file);
        lines.push(Line {
            file: file.to_owned(),
            sha256: sum(text),
        });
        self.replace(&lines)
    }

    /// Takes back what was allowed; returns whether it was.
    pub(super) fn remove(&self, file: &Path) -> io::Result<bool> {
        let (before, lines) = (self.lines().len(), self.without(file));
        let was_there = lines.len() < before;
        if was_there {
            self.replace(&lines)?;
        }
        Ok(was_there)
    }

    fn without(&self, file: &Path) -> Vec<Line> {
        let mut lines = self.lines();
        lines.retain(|line| line.file != file);
        lines
    }

    /// Returns the lines; a list that cannot be read allows nothing.
    fn lines(&self) -> Vec<Line> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let lines = text.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    fn replace(&self, lines: &[Line]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder)?;
        let new = self.path.with_extension("new");
        let mut file = fs::File::create(&new)?;
        for line in lines {
            writeln!(file, "{}", serde_json::to_string(line)?)?;
        }
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }
}

fn sum(text: &str) -> String {
    ContentAddress::of(text.as_bytes()).to_string()
}
