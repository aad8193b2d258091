//! The event that an agent writes to the stdin of a hook.

use std::io::Read;
use std::path::PathBuf;

use grainstore::ErrorCode;
use serde_json::Value;

use crate::error::CliError;

/// An event of an agent. Claude Code and Codex write the same members.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) moment: Moment,
    pub(super) session: String,
    /// The working directory of the agent.
    pub(super) directory: PathBuf,
    pub(super) transcript: Option<PathBuf>,
    /// The prompt of the user, before a turn.
    pub(super) prompt: Option<String>,
}

/// When an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before a turn.
    Prompt,
    /// After a turn.
    Turn,
    /// Before the conversation is compacted.
    Compaction,
    /// At the end of a session.
    End,
    /// At which nothing is recalled or stored.
    Other,
}

impl Event {
    /// Reads an event, of at most [`LEN_MAX`] bytes.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; `ERR_USAGE` for what is no event.
    pub(super) fn read(input: &mut impl Read) -> anyhow::Result<Self> {
        let mut text = String::new();
        input.take(LEN_MAX).read_to_string(&mut text)?;
        let wrong = |reason: &str| {
            CliError::new(ErrorCode::Usage, format!("stdin is no event: {reason}"))
                .advising("an agent writes it: see hook install")
        };
        let event: Value =
            serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let name = text("hook_event_name").ok_or_else(|| wrong("it has no hook_event_name"))?;
        let moment = match name {
            "UserPromptSubmit" => Moment::Prompt,
            "Stop" | "SubagentStop" => Moment::Turn,
            "PreCompact" => Moment::Compaction,
            "SessionEnd" => Moment::End,
            _ => Moment::Other,
        };
        let session = text("session_id").ok_or_else(|| wrong("it has no session_id"))?;
        let directory = match text("cwd") {
            Some(directory) => PathBuf::from(directory),
            None => std::env::current_dir()?,
        };
        Ok(Self {
            moment,
            session: session.to_owned(),
            directory,
            transcript: text("transcript_path").map(PathBuf::from),
            prompt: text("prompt").map(str::to_owned),
        })
    }
}

impl Moment {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "recall",
            Self::Turn => "turn",
            Self::Compaction => "compaction",
            Self::End => "end",
            Self::Other => "other",
        }
    }
}

/// The longest event in bytes: a prompt may hold a pasted file.
const LEN_MAX: u64 = 16 << 20;
