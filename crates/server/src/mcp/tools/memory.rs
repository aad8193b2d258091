//! `memory`: the files of [`crate::memory`], with the messages that chat clients expect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Tool};
use crate::Scope;
use crate::mcp::budget::{Budget, shortened};
use crate::mcp::failure::Failure;
use crate::mcp::shown;
use crate::memory::{Command, Memory};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Files {
    command: Name,
    path: Option<String>,
    /// Lines from 1; -1 is the end.
    view_range: Option<[i64; 2]>,
    file_text: Option<String>,
    /// Occurs exactly once.
    old_str: Option<String>,
    new_str: Option<String>,
    /// After this line; 0 is the beginning.
    insert_line: Option<u64>,
    insert_text: Option<String>,
    old_path: Option<String>,
    new_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Name {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

#[derive(Debug, Serialize)]
pub(super) struct Told {
    /// The answer of the command.
    result: String,
    /// Characters that did not fit: use view_range.
    left_out: u64,
}

impl Tool for Files {
    const NAME: &'static str = "memory";
    const TITLE: &'static str = "Memory files";
    const ABOUT: &'static str = "Files under /memories that outlast a conversation. rename takes \
        old_path and new_path, all others path.";
    const EFFECT: Effect = Effect::Adds;
    type Output = Told;

    fn run(self, scope: &Scope) -> Result<Answer<Told>, Failure> {
        let command = self.command()?;
        let told = Memory::new(scope.clone()).run(&command)?;
        // Tabs and line breaks are the form of the answer; the rest of a file is shown escaped.
        let shown = shown::lines(&told);
        let (shown, left_out) = shortened(&shown, Budget::MAX);
        let mut text = shown.into_owned();
        if left_out > 0 {
            text.push_str(&format!(
                "\n{left_out} characters left out: use view_range."
            ));
        }
        let output = Told {
            result: text.clone(),
            left_out: left_out as u64,
        };
        Ok(Answer { text, output })
    }
}

impl Files {
    /// Returns the command, with the arguments that it needs.
    fn command(self) -> Result<Command, Failure> {
        let needs = |name: &str, value: Option<String>| {
            value.ok_or_else(|| Failure::usage(format!("the command needs `{name}`")))
        };
        Ok(match self.command {
            Name::View => Command::View {
                path: needs("path", self.path)?,
                view_range: self.view_range,
            },
            Name::Create => Command::Create {
                path: needs("path", self.path)?,
                file_text: needs("file_text", self.file_text)?,
            },
            Name::StrReplace => Command::StrReplace {
                path: needs("path", self.path)?,
                old_str: needs("old_str", self.old_str)?,
                new_str: self.new_str.unwrap_or_default(),
            },
            Name::Insert => Command::Insert {
                path: needs("path", self.path)?,
                insert_line: self
                    .insert_line
                    .ok_or_else(|| Failure::usage("the command needs `insert_line`"))?,
                insert_text: needs("insert_text", self.insert_text)?,
            },
            Name::Delete => Command::Delete {
                path: needs("path", self.path)?,
            },
            Name::Rename => Command::Rename {
                old_path: needs("old_path", self.old_path)?,
                new_path: needs("new_path", self.new_path)?,
            },
        })
    }
}
