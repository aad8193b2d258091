//! The commands, and what each does to the files.

use super::files::Memory;
use super::path::parse;
use super::view::{numbered, range_of, snippet};
use super::{MemoryError, view};

/// A command of the memory tool. Paths begin with `/memories`.
///
/// ```
/// use grainstore_server::memory::Command;
///
/// let command = Command::Delete { path: "/memories/old.md".to_owned() };
/// assert_eq!(command.clone(), command);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Lists a directory two levels deep, or shows a file with line numbers.
    View {
        /// A file or a directory.
        path: String,
        /// The first and the last line, from 1; -1 is the end.
        view_range: Option<[i64; 2]>,
    },
    /// Writes a new file.
    Create {
        /// The file.
        path: String,
        /// Its text.
        file_text: String,
    },
    /// Replaces a text that occurs once.
    StrReplace {
        /// The file.
        path: String,
        /// The text.
        old_str: String,
        /// The text that stands there instead.
        new_str: String,
    },
    /// Inserts lines.
    Insert {
        /// The file.
        path: String,
        /// The line after which they go; 0 for the beginning.
        insert_line: u64,
        /// The lines.
        insert_text: String,
    },
    /// Removes a file, or a directory with all that is in it; the versions stay in the history.
    Delete {
        /// The file or directory.
        path: String,
    },
    /// Gives a file or a directory another path.
    Rename {
        /// The path so far.
        old_path: String,
        /// The path from now on.
        new_path: String,
    },
}

impl Memory {
    /// Runs a command and returns what it tells the model.
    ///
    /// # Errors
    /// [`MemoryError`], in the words that users of the memory tool expect.
    pub fn run(&self, command: &Command) -> Result<String, MemoryError> {
        match command {
            Command::View { path, view_range } => self.view(&parse(path)?, *view_range),
            Command::Create { path, file_text } => self.create(&parse(path)?, file_text),
            Command::StrReplace {
                path,
                old_str,
                new_str,
            } => self.replace(&parse(path)?, old_str, new_str),
            Command::Insert {
                path,
                insert_line,
                insert_text,
            } => self.insert(&parse(path)?, *insert_line, insert_text),
            Command::Delete { path } => self.delete(&parse(path)?),
            Command::Rename { old_path, new_path } => {
                self.rename(&parse(old_path)?, &parse(new_path)?)
            }
        }
    }

    fn view(&self, path: &str, range: Option<[i64; 2]>) -> Result<String, MemoryError> {
        let Some(file) = self.file(path)? else {
            return Ok(view::directory(path, &self.directory(path)?));
        };
        let lines: Vec<_> = file.text.split('\n').collect();
        let (first, last) = match range {
            None => (1, lines.len()),
            Some(range) => range_of(range, lines.len())?,
        };
        let shown = lines.get(first - 1..last).unwrap_or_default();
        let heading = format!("Here's the content of {path} with line numbers:\n");
        Ok(heading + &numbered(shown, first))
    }

    fn create(&self, path: &str, text: &str) -> Result<String, MemoryError> {
        if self.file(path)?.is_some() || self.is_directory(path)? {
            return Err(MemoryError::Exists {
                path: path.to_owned(),
            });
        }
        self.refuse_file_above(path)?;
        self.write(path, text, None)?;
        Ok(format!("File created successfully at: {path}"))
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Result<String, MemoryError> {
        let file = self.existing(path)?;
        let mut found = file.text.match_indices(old).map(|(at, _)| at);
        let at = found.next().filter(|_| !old.is_empty());
        let at = at.ok_or_else(|| MemoryError::NoMatch {
            old_str: old.to_owned(),
            path: path.to_owned(),
        })?;
        let line_of = |at: usize| {
            file.text
                .bytes()
                .take(at)
                .filter(|byte| *byte == b'\n')
                .count()
                + 1
        };
        let others: Vec<_> = found.collect();
        if !others.is_empty() {
            let lines = std::iter::once(at)
                .chain(others)
                .map(|at| line_of(at).to_string());
            return Err(MemoryError::Matches {
                old_str: old.to_owned(),
                lines: lines.collect::<Vec<_>>().join(", "),
            });
        }
        let text = file.text.replacen(old, new, 1);
        self.write(path, &text, Some(&file))?;
        let line = line_of(at);
        Ok(format!(
            "The memory file has been edited.\n{}",
            snippet(&text, line, line + new.matches('\n').count())
        ))
    }

    fn insert(&self, path: &str, line: u64, inserted: &str) -> Result<String, MemoryError> {
        let file = self.existing(path)?;
        let mut lines: Vec<_> = file.text.split('\n').collect();
        // A line break at the end begins no line.
        if lines.last() == Some(&"") {
            lines.pop();
        }
        let at = usize::try_from(line).ok().filter(|at| *at <= lines.len());
        let at = at.ok_or(MemoryError::Line {
            line,
            last: lines.len(),
        })?;
        let inserted = inserted.strip_suffix('\n').unwrap_or(inserted);
        lines.splice(at..at, inserted.split('\n'));
        let mut text = lines.join("\n");
        if file.text.is_empty() || file.text.ends_with('\n') {
            text.push('\n');
        }
        self.write(path, &text, Some(&file))?;
        Ok(format!("The file {path} has been edited."))
    }

    fn delete(&self, path: &str) -> Result<String, MemoryError> {
        match self.file(path)? {
            Some(file) => self.remove(path, &file)?,
            None => {
                for (path, file) in self.directory(path)? {
                    self.remove(&path, &file)?;
                }
            }
        }
        Ok(format!("Successfully deleted {path}"))
    }

    fn rename(&self, old: &str, new: &str) -> Result<String, MemoryError> {
        let moved = match self.file(old)? {
            Some(file) => vec![(old.to_owned(), file)],
            None => self.directory(old)?,
        };
        let is_inside = new
            .strip_prefix(old)
            .is_some_and(|rest| rest.starts_with('/'));
        if self.file(new)?.is_some() || self.is_directory(new)? || is_inside {
            return Err(MemoryError::Destination {
                path: new.to_owned(),
            });
        }
        self.refuse_file_above(new)?;
        for (path, file) in moved {
            let rest = path.strip_prefix(old).unwrap_or_default();
            // The copy comes first: a crash between the two leaves both.
            self.write_copy(&format!("{new}{rest}"), &file)?;
            self.remove(&path, &file)?;
        }
        Ok(format!("Successfully renamed {old} to {new}"))
    }
}
