//! `grainstore mcp install`: the server in the configuration of a client.
//!
//! The file is changed as little as possible, replaced as a whole, and kept beside as a backup.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::ErrorCode;
use serde_json::json;

use super::clients::{Client, Folders};
use super::mcp::Served;
use super::splice::with_member;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Add the server to the configuration of an MCP client
///
/// Other entries and comments stay as they are, byte for byte; the file as it was is kept with the ending
/// .bak. A file that is no JSON is left alone. Without --as and --agent the client is named as the author
/// of what it writes.
#[derive(Debug, Args)]
#[command(after_long_help = "Example, to see what would be written for Zed:
  grainstore --store ~/memory.grains mcp install --client zed --print")]
pub(super) struct Install {
    /// Client
    #[arg(long, value_enum)]
    client: Client,
    /// Print the entry instead of writing it
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    served: Served,
}

impl Install {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        self.served.author()?;
        let folders = Folders::of_user()?;
        let file = self.client.file(&folders);
        let entry = self
            .client
            .entry(&crate::program()?, &self.arguments(session)?);
        let section = self.client.section();
        if self.print {
            let document = json!({ section: { NAME: entry } });
            session.out.note(format!("for {}", file.display()));
            let text = serde_json::to_string_pretty(&document)?;
            session.out.line(text)?;
            return Ok(Exit::Done);
        }
        let old = read(&file).map_err(|error| CliError::of(&error).at(file.display()))?;
        let new = with_member(old.as_deref().unwrap_or_default(), section, NAME, &entry);
        let new = new.map_err(|error| {
            CliError::new(ErrorCode::Corrupt, error)
                .at(file.display())
                .advising("nothing was changed; add what --print shows to the file by hand")
        })?;
        if old.as_ref() == Some(&new) {
            session.out.note("already set up");
        } else {
            write(&file, old.as_deref(), &new)
                .map_err(|error| CliError::of(&error).at(file.display()))?;
        }
        let exit = session.report_change("configured", file.display())?;
        session
            .out
            .note(format!("{} to load it", self.client.restart()));
        Ok(exit)
    }

    /// Returns the arguments with which the client starts the server.
    fn arguments(&self, session: &Session) -> anyhow::Result<Vec<String>> {
        // A client starts it in a directory of its own.
        let store = std::path::absolute(session.store_path())?;
        let store = store.into_os_string().into_string().map_err(|_| {
            CliError::new(
                ErrorCode::Usage,
                "the path of the store is not UTF-8, as JSON must be",
            )
        })?;
        let mut arguments = vec!["--store".to_owned(), store];
        arguments.extend(session.model_arguments());
        arguments.push("mcp".to_owned());
        let agent = match (&self.served.author, &self.served.agent) {
            (None, None) => Some(self.client.name()),
            (_, agent) => agent.clone(),
        };
        let options = [
            ("--as", &self.served.author),
            ("--agent", &agent),
            ("--namespace", &self.served.namespace),
            ("--user", &self.served.user),
        ];
        for (option, value) in options {
            if let Some(value) = value {
                arguments.extend([option.to_owned(), value.clone()]);
            }
        }
        arguments.extend(self.served.statements.argument().map(str::to_owned));
        Ok(arguments)
    }
}

pub(super) fn read(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file, with its permissions, and keeps it as it was beside it.
pub(super) fn write(file: &Path, old: Option<&str>, new: &str) -> io::Result<()> {
    // A link stays one: dotfiles are often links into a repository.
    let file = if old.is_some() {
        fs::canonicalize(file)?
    } else {
        file.to_owned()
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    if old.is_some() {
        fs::copy(&file, beside(&file, ".bak"))?;
    }
    let new_file = beside(&file, ".grainstore-new");
    let mut written = fs::File::create(&new_file)?;
    if old.is_some() {
        // Configurations hold keys of other servers.
        written.set_permissions(fs::metadata(&file)?.permissions())?;
    }
    written.write_all(new.as_bytes())?;
    written.sync_all()?;
    drop(written);
    fs::rename(new_file, file)
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().map(OsString::from).unwrap_or_default();
    name.push(ending);
    file.with_file_name(name)
}

/// The name of the server in a configuration.
const NAME: &str = "grainstore";
