//! The plugins of agents that run no commands: their files, as they stand in `integrations/`, and where an agent
//! looks for them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::HookOptions;
use crate::commands::agents::clients::Folders;
use crate::commands::agents::install::{read, write};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Returns the text of a file of `integrations/`.
macro_rules! source {
    ($path:literal) => {
        include_str!(concat!("../../../../../../integrations/", $path))
    };
}

/// The plugin of an agent.
#[derive(Debug)]
pub(super) struct Plugin {
    files: &'static [(&'static str, &'static str)],
    /// The variable that names the home of the agent, and that in the home directory.
    home: (&'static str, &'static str),
    /// Where the files lie in the home of the agent.
    folder: &'static str,
    /// The file in the home of the agent that has the settings of the plugin.
    settings: &'static str,
    takes_user: bool,
    /// The commands that the person types then, and after a removal; `DIR` is the folder.
    next: &'static str,
    undo: &'static str,
}

pub(super) static OPENCLAW: Plugin = Plugin {
    files: &[
        ("client.js", source!("openclaw/client.js")),
        ("index.js", source!("openclaw/index.js")),
        (
            "openclaw.plugin.json",
            source!("openclaw/openclaw.plugin.json"),
        ),
        ("package.json", source!("openclaw/package.json")),
    ],
    home: ("OPENCLAW_STATE_DIR", ".openclaw"),
    folder: "grainstore-plugin",
    settings: "grainstore-plugin/settings.json",
    takes_user: true,
    // OpenClaw asks whether its person trusts the files, where there is a terminal.
    next: "now type `openclaw plugins install --accept-capabilities DIR`, and then `openclaw config patch --file \
           DIR/settings.json`",
    undo: "now type `openclaw plugins uninstall grainstore`",
};

pub(super) static HERMES: Plugin = Plugin {
    files: &[
        ("__init__.py", source!("hermes/grainstore/__init__.py")),
        ("plugin.yaml", source!("hermes/grainstore/plugin.yaml")),
    ],
    home: ("HERMES_HOME", ".hermes"),
    folder: "plugins/grainstore",
    settings: "grainstore.json",
    takes_user: false,
    next: "now type `hermes config set memory.provider grainstore`",
    undo: "now type `hermes config set memory.provider \"\"`",
};

impl Plugin {
    /// Writes the plugin, and says what is left to do. With `print` only its settings are printed.
    pub(super) fn install(
        &self,
        options: &HookOptions,
        print: bool,
        session: &mut Session,
    ) -> anyhow::Result<Exit> {
        let settings = self.settings_of(options, session)?;
        let text = serde_json::to_string_pretty(&settings)? + "\n";
        if print {
            session.out.line(text.trim_end())?;
            return Ok(Exit::Done);
        }
        let home = self.home()?;
        let folder = home.join(self.folder);
        let failed = |error: io::Error, at: &Path| CliError::of(&error).at(at.display());
        fs::create_dir_all(&folder).map_err(|error| failed(error, &folder))?;
        for (name, source) in self.files {
            let file = folder.join(name);
            fs::write(&file, source).map_err(|error| failed(error, &file))?;
        }
        let file = home.join(self.settings);
        let old = read(&file).map_err(|error| failed(error, &file))?;
        if old.as_ref() != Some(&text) {
            write(&file, old.as_deref(), &text).map_err(|error| failed(error, &file))?;
        }
        let exit = session.report_change("configured", folder.display())?;
        let next = self.next.replace("DIR", &folder.display().to_string());
        session.out.note(next);
        Ok(exit)
    }

    /// Removes the files of the plugin. The memory stays in the store.
    pub(super) fn remove(&self, session: &mut Session) -> anyhow::Result<Exit> {
        let home = self.home()?;
        let folder = home.join(self.folder);
        let mut is_there = false;
        let files = self.files.iter().map(|(name, _)| folder.join(name));
        for file in files.chain([home.join(self.settings)]) {
            match fs::remove_file(&file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(CliError::of(&error).at(file.display()).into()),
                Ok(()) => is_there = true,
            }
        }
        // It stays while it has a file of someone else.
        drop(fs::remove_dir(&folder));
        session
            .out
            .note(if is_there { self.undo } else { "not set up" });
        session.report_change("configured", folder.display())
    }

    /// Returns the settings of the plugin: the program, the store, and the options that it has.
    fn settings_of(&self, options: &HookOptions, session: &Session) -> anyhow::Result<Value> {
        let unknown = [
            ("--namespace", options.namespace.is_some()),
            ("--consolidate", options.consolidate.is_some()),
            ("--user", options.user.is_some() && !self.takes_user),
            (
                "--budget",
                options.budget != HookOptions::BUDGET && !self.takes_user,
            ),
        ];
        if let Some((option, _)) = unknown.iter().find(|(_, is_given)| *is_given) {
            let message = format!("the plugin of this agent has no {option}");
            return Err(CliError::new(grainstore::ErrorCode::Usage, message).into());
        }
        // An agent works in other directories.
        let store = std::path::absolute(session.store_path())?;
        let mut settings = json!({ "command": crate::program()?, "store": store });
        if !self.takes_user {
            return Ok(settings);
        }
        settings["budget"] = json!(options.budget);
        if let Some(user) = &options.user {
            settings["user"] = json!(user);
        }
        let entry = json!({
            "enabled": true,
            "hooks": { "allowConversationAccess": true },
            "config": settings,
        });
        Ok(json!({ "plugins": { "slots": { "memory": NAME }, "entries": { NAME: entry } } }))
    }

    fn home(&self) -> anyhow::Result<PathBuf> {
        let (variable, name) = self.home;
        let named = std::env::var_os(variable).map(PathBuf::from);
        let named = named.filter(|home| home.is_absolute());
        match named {
            Some(home) => Ok(home),
            None => Ok(Folders::of_user()?.home.join(name)),
        }
    }
}

/// The name of the plugin in an agent.
const NAME: &str = "grainstore";
