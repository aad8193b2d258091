//! `grainstore.toml`: defaults of options, from the nearest directory upwards that has the file, and
//! below them those of the user's own settings.
//!
//! An argument goes before an environment variable, and that before the files. A file that is found
//! upwards may have come with a repository of another: it sets how results look and how long a command
//! waits. Its word on stores, keys and trust counts once the user has allowed the directory, as it
//! counts in the user's own settings, and is named where it is left out.

mod allowed;
mod file;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::{ColorChoice, Command};
use grainstore::ErrorCode;
use serde::Deserialize;

use crate::error::CliError;
use crate::place::is_shared;
use allowed::Allowed;
use file::Found;

/// The defaults of options that files give.
#[derive(Debug, Default)]
pub(crate) struct Config {
    path: Option<PathBuf>,
    settings: Settings,
    /// Notes on settings that are not in force, and why.
    notes: Vec<String>,
}

/// The keys of a file. Paths are relative to its directory, and whole here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
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

/// Returns a folder of the user: the absolute one that a variable names, or one in their home directory;
/// `None` for a user without one.
pub(crate) fn folder_of_user(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let named = named.filter(|path| path.is_absolute());
    named.or_else(|| Some(std::env::home_dir()?.join(in_home)))
}

/// The folder of the user's own settings.
#[derive(Debug)]
pub(crate) struct Own(PathBuf);

impl Own {
    /// Returns the folder; `None` for a user without a home directory.
    pub(crate) fn of_user() -> Option<Self> {
        let folder = folder_of_user("XDG_CONFIG_HOME", ".config")?;
        Some(Self(folder.join("grainstore")))
    }

    fn allowed(&self) -> Allowed {
        Allowed::at(self.0.join("allowed"))
    }

    /// Allows what the settings of a directory say now, or takes that back; returns the file.
    ///
    /// # Errors
    /// `ERR_USAGE` for a directory without a file of settings that is read; `ERR_IO`.
    pub(crate) fn allow(&self, folder: &Path, is_allowed: bool) -> Result<PathBuf, CliError> {
        let failed = |error: io::Error| CliError::of(&error).at(folder.display());
        let path = folder.canonicalize().map_err(failed)?.join(NAME);
        let list = self.allowed();
        if !is_allowed {
            list.remove(&path).map_err(failed)?;
            return Ok(path);
        }
        let refused = |why: &str| {
            let message = format!("{}: {why}", path.display());
            CliError::new(ErrorCode::Usage, message)
        };
        match file::read(&path).map_err(failed)? {
            Found::Text(text) => {
                // Its faults are told now.
                parsed(&text, &path)?;
                list.add(&path, &text).map_err(failed)?;
                Ok(path)
            }
            Found::Nothing => Err(refused("there is no such file")),
            Found::Skipped(why) => Err(refused(why)),
        }
    }
}

impl Config {
    /// Reads the nearest file, from this directory upwards, and the user's own.
    ///
    /// # Errors
    /// `ERR_USAGE` for a file with a wrong value; `ERR_IO`.
    pub(crate) fn find(from: &Path, own: Option<&Own>) -> Result<Self, CliError> {
        let mut config = Self::default();
        if let Some(own) = own {
            config.read(&own.0.join(NAME), None)?;
        }
        for path in from.ancestors().map(|folder| folder.join(NAME)) {
            let allowed = own.map(Own::allowed).unwrap_or(Allowed::at(PathBuf::new()));
            if config.read(&path, Some(&allowed))? {
                break;
            }
        }
        Ok(config)
    }

    /// Reads a file over what is known; returns whether there is one. `allowed` is that of a file which
    /// is not the user's own.
    fn read(&mut self, path: &Path, allowed: Option<&Allowed>) -> Result<bool, CliError> {
        let failed = |error: io::Error| CliError::of(&error).at(path.display());
        let text = match file::read(path).map_err(failed)? {
            Found::Text(text) => text,
            Found::Nothing => return Ok(false),
            Found::Skipped(why) => {
                let path = path.display();
                self.notes.push(format!("note: {path} is not read: {why}"));
                return Ok(false);
            }
        };
        let (mut found, unknown) = parsed(&text, path)?;
        for key in unknown {
            let path = path.display();
            self.notes
                .push(format!("warning: {path} has the unknown key {key}; {KEYS}"));
        }
        if allowed.is_some_and(|allowed| !allowed.has(path, &text)) {
            let left_out = found.take_trusting();
            if !left_out.is_empty() {
                self.notes.push(format!(
                    "note: {} of {} {} not in force: `grainstore config allow {}`, if you know what it says",
                    left_out.join(", "),
                    path.display(),
                    if left_out.len() > 1 { "are" } else { "is" },
                    path.parent().unwrap_or(path).display(),
                ));
            }
        }
        self.settings.overlay(found);
        self.path = Some(path.to_owned());
        Ok(true)
    }

    /// Returns the store that a file names.
    pub(crate) fn store(&self) -> Option<PathBuf> {
        self.settings.store.clone()
    }

    /// Returns the file that was read last.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns what was found and is not in force.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the command line with the defaults of the files in place of its own.
    pub(crate) fn as_defaults(&self, mut command: Command) -> Command {
        let path = |path: &PathBuf| path.clone().into_os_string();
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

impl Settings {
    /// Takes out what opens, redirects or trusts, and returns the keys.
    fn take_trusting(&mut self) -> Vec<&'static str> {
        let Self {
            store,
            key_file,
            did_document,
            backup,
            ..
        } = self;
        let taken = [
            ("store", store.take().is_some()),
            ("key_file", key_file.take().is_some()),
            ("did_document", did_document.take().is_some()),
            ("backup", backup.take().is_some()),
        ];
        taken
            .into_iter()
            .filter_map(|(key, is_there)| is_there.then_some(key))
            .collect()
    }

    /// Sets what another file says.
    fn overlay(&mut self, other: Self) {
        let before = std::mem::take(self);
        *self = Self {
            store: other.store.or(before.store),
            wait: other.wait.or(before.wait),
            color: other.color.or(before.color),
            key_file: other.key_file.or(before.key_file),
            did_document: other.did_document.or(before.did_document),
            backup: other.backup.or(before.backup),
        };
    }
}

/// Returns the settings of a file, with whole paths, and the keys that it has besides.
fn parsed(text: &str, path: &Path) -> Result<(Settings, Vec<String>), CliError> {
    let mut settings: Settings = toml::from_str(text).map_err(|error| wrong(&error, path))?;
    let table: toml::Table = toml::from_str(text).map_err(|error| wrong(&error, path))?;
    let unknown = table.into_iter().map(|(key, _)| key);
    let unknown = unknown.filter(|key| !NAMES.contains(&&**key)).collect();
    let folder = path.parent().unwrap_or(Path::new(""));
    let paths = [
        &mut settings.store,
        &mut settings.key_file,
        &mut settings.backup,
    ];
    let documents = settings.did_document.iter_mut().flatten();
    for path in paths.into_iter().flatten().chain(documents) {
        // The address of a shared ledger is no path.
        if !path.to_str().is_some_and(is_shared) {
            *path = folder.join(&*path);
        }
    }
    Ok((settings, unknown))
}

fn wrong(error: &toml::de::Error, path: &Path) -> CliError {
    let message = error.message().replace('\n', " ");
    CliError::new(ErrorCode::Usage, message)
        .at(path.display())
        .advising(KEYS)
}

const NAMES: [&str; 6] = [
    "store",
    "wait",
    "color",
    "key_file",
    "did_document",
    "backup",
];

const KEYS: &str = "grainstore.toml has the keys store, wait, color, key_file, did_document and backup \
                    (docs/command.md)";

/// The name of the file.
pub(crate) const NAME: &str = "grainstore.toml";
