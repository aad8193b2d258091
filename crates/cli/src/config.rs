//! `grainstore.toml`: defaults of options, from the nearest directory upwards that has the file.
//!
//! An argument goes before an environment variable, and that before the file. The file names no
//! program to run, and one that others may write is not read: it may lie above the working
//! directory of the user, in a directory of another one.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{ColorChoice, Command};
use grainstore::ErrorCode;
use serde::Deserialize;

use crate::error::CliError;

/// The defaults of options that a file gives.
#[derive(Debug, Default)]
pub(crate) struct Config {
    path: Option<PathBuf>,
    settings: Settings,
    /// Why a file that was found is not read.
    note: Option<String>,
}

/// The keys of the file; paths are relative to its directory.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    store: Option<PathBuf>,
    wait: Option<u64>,
    color: Option<Color>,
    key_file: Option<PathBuf>,
    did_document: Option<Vec<PathBuf>>,
    backup: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Color {
    Auto,
    Always,
    Never,
}

impl Config {
    /// Reads the nearest file, from this directory upwards.
    ///
    /// # Errors
    /// `ERR_USAGE` for a file with an unknown key or a wrong value; `ERR_IO`.
    pub(crate) fn find(from: &Path) -> Result<Self, CliError> {
        for path in from.ancestors().map(|folder| folder.join(NAME)) {
            let failed = |error: io::Error| CliError::of(&error).at(path.display());
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            if !is_trusted(&file).map_err(failed)? {
                let path = path.display();
                return Ok(Self {
                    note: Some(format!(
                        "note: {path} is not read: another user owns it or may write it"
                    )),
                    ..Self::default()
                });
            }
            let mut text = String::new();
            let read = file.take(LEN_MAX).read_to_string(&mut text);
            read.map_err(failed)?;
            let settings = toml::from_str(&text).map_err(|error| wrong(&error, &path))?;
            return Ok(Self {
                path: Some(path),
                settings,
                note: None,
            });
        }
        Ok(Self::default())
    }

    /// Returns the store that the file names.
    pub(crate) fn store(&self) -> Option<PathBuf> {
        let folder = self.path.as_deref()?.parent()?;
        Some(folder.join(self.settings.store.as_ref()?))
    }

    /// Returns the file that was read.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns why a file that was found is not read.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the command line with the defaults of the file in place of its own.
    pub(crate) fn as_defaults(&self, mut command: Command) -> Command {
        let folder = self.path.as_deref().and_then(Path::parent);
        let folder = folder.unwrap_or(Path::new(""));
        let path = |path: &PathBuf| folder.join(path).into_os_string();
        let Settings {
            store,
            wait,
            color,
            key_file,
            did_document,
            backup,
        } = &self.settings;
        let color = color.map(|color| match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        });
        let single: [(&'static str, Option<OsString>); 4] = [
            ("store", store.as_ref().map(path)),
            ("wait", wait.map(|seconds| seconds.to_string().into())),
            ("color", color.map(|color| color.to_string().into())),
            ("key_file", key_file.as_ref().map(path)),
        ];
        for (name, value) in single {
            if let Some(value) = value {
                command = command.mut_arg(name, |arg| arg.default_value(value));
            }
        }
        if let Some(documents) = did_document {
            let documents: Vec<_> = documents.iter().map(path).collect();
            command = command.mut_arg("did_document", |arg| arg.default_values(documents));
        }
        if let Some(backup) = backup {
            let backup = path(backup);
            command = command.mut_subcommand("doctor", |doctor| {
                doctor.mut_arg("backup", |arg| arg.default_value(backup))
            });
        }
        command
    }
}

fn wrong(error: &toml::de::Error, path: &Path) -> CliError {
    let message = error.message().replace('\n', " ");
    CliError::new(ErrorCode::Usage, message)
        .at(path.display())
        .advising(KEYS)
}

/// Returns whether only this user or the administrator can have written the file.
#[cfg(unix)]
fn is_trusted(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata()?;
    let me = rustix::process::geteuid().as_raw();
    Ok(is_safe(found.uid(), found.mode(), me))
}

#[cfg(not(unix))]
fn is_trusted(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
const fn is_safe(owner: u32, mode: u32, me: u32) -> bool {
    (owner == me || owner == 0) && mode & 0o022 == 0
}

const KEYS: &str = "grainstore.toml has the keys store, wait, color, key_file, did_document and backup \
                    (docs/command.md)";

/// The name of the file.
const NAME: &str = "grainstore.toml";

/// Longer than any file of these keys.
const LEN_MAX: u64 = 64 << 10;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_may_write_is_not_read() {
        for (owner, mode, is_read) in [
            (1000, 0o100_600, true),
            (1000, 0o100_644, true),
            (0, 0o100_644, true),
            (1001, 0o100_644, false),
            (1000, 0o100_664, false),
            (0, 0o100_646, false),
        ] {
            assert_eq!(is_safe(owner, mode, 1000), is_read, "{owner} {mode:o}");
        }
    }
}
