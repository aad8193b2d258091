//! The line editor of `grainstore cal` on a terminal: history, highlighting, completion, statements of
//! several lines.

use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;

use grainstore_cal::{Highlight, completions, highlights, parse};
use rustyline::completion::Completer;
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Context, Helper};

use crate::config::folder_of_user;
use crate::output::{Style, Styling};

/// An editor of statements, with those of before.
pub(super) struct Editor {
    lines: rustyline::Editor<Statements, FileHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    /// Opens the editor on the terminal.
    ///
    /// # Errors
    /// A terminal that cannot be read.
    pub(super) fn open() -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_LEN_MAX)?
            .completion_type(CompletionType::List)
            .build();
        let mut lines = rustyline::Editor::with_config(config)?;
        lines.set_helper(Some(Statements(Styling::of_stdout())));
        let history = history();
        if let Some(path) = &history {
            // The first time there is none.
            drop(lines.load_history(path));
        }
        Ok(Self { lines, history })
    }

    /// Reads a statement; `None` at the end.
    ///
    /// # Errors
    /// A terminal that cannot be read.
    pub(super) fn read(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            match self.lines.readline("cal> ") {
                Ok(statement) => {
                    self.remember(&statement);
                    return Ok(Some(statement));
                }
                // Ctrl-C gives up the line, and Ctrl-D the shell.
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Keeps a statement for later. A history that cannot be written stops no answer.
    fn remember(&mut self, statement: &str) {
        if !is_kept(statement) {
            return;
        }
        let is_new = self.lines.add_history_entry(statement.trim_end());
        let Some(path) = self.history.as_ref().filter(|_| is_new.unwrap_or(false)) else {
            return;
        };
        if let Some(folder) = path.parent() {
            drop(fs::create_dir_all(folder));
        }
        // The file is its owner's alone (0600).
        drop(self.lines.append_history(path));
    }
}

/// Returns the file of statements: `grainstore/cal_history` in the folder for the state of programs.
fn history() -> Option<PathBuf> {
    let folder = folder_of_user("XDG_STATE_HOME", ".local/state")?;
    Some(folder.join("grainstore/cal_history"))
}

/// Whether the history keeps a statement: none that begins with a space, and none that stores a content,
/// since no erasure reaches the file. A refused one may be that, too.
fn is_kept(statement: &str) -> bool {
    let is_question = parse(statement).is_ok_and(|query| !query.is_change());
    is_question && !statement.starts_with(char::is_whitespace)
}

/// Returns a text with its parts in their styles.
fn styled(text: &str, styling: Styling) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    for (place, highlight) in highlights(text) {
        let style = match highlight {
            Highlight::Keyword => Style::Strong,
            Highlight::Name => Style::Kind,
            Highlight::Comment => Style::Faint,
            _ => Style::Notice,
        };
        shown += text.get(from..place.start).unwrap_or_default();
        shown += &styling.show(style, text.get(place.clone()).unwrap_or_default());
        from = place.end;
    }
    shown + text.get(from..).unwrap_or_default()
}

/// Whether a statement goes on in the next line: an empty line ends it.
fn is_unfinished(text: &str) -> bool {
    let is_ended = text.trim().is_empty() || text.ends_with('\n');
    !is_ended && parse(text).is_err_and(|error| error.is_unfinished(text))
}

/// The helper of the editor: it asks the functions above.
struct Statements(Styling);

impl Helper for Statements {}

impl Hinter for Statements {
    type Hint = String;
}

impl Completer for Statements {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let (start, words) = completions(line, at);
        Ok((start, words.into_iter().map(str::to_owned).collect()))
    }
}

impl Highlighter for Statements {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        styled(line, self.0).into()
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.0 == Styling::Coloured
    }
}

impl Validator for Statements {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_unfinished(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

/// The number of statements that are kept.
const HISTORY_LEN_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_goes_on_until_it_is_whole_or_a_line_is_empty() {
        for text in [
            "RECALL beliefs WHERE",
            "ASSEMBLE FROM\n  (RECALL",
            "RECALL ABOUT \"ali",
        ] {
            assert!(is_unfinished(text), "{text}");
            assert!(!is_unfinished(&format!("{text}\n")), "{text}");
        }
        for text in [
            "",
            " ",
            "RECALL beliefs",
            "RECALL fact",
            "RECALL | COUNT -- all",
        ] {
            assert!(!is_unfinished(text), "{text}");
        }
    }

    #[test]
    fn the_history_keeps_questions_and_no_content() {
        for text in [
            "RECALL beliefs",
            "DESCRIBE grammar",
            "EXISTS sha256:12345678",
        ] {
            assert!(is_kept(text), "{text}");
        }
        for text in [
            " RECALL beliefs ABOUT \"mira\"",
            "ADD belief SET subject = \"a\" SET relation = \"b\" SET object = \"c\" REASON \"d\"",
            "SUPERSEDE sha256:12345678 SET object = \"x\" REASON \"y\"",
            "ADD belief SET object = \"hunter2\"",
            "my password is hunter2",
            "",
        ] {
            assert!(!is_kept(text), "{text}");
        }
    }

    #[test]
    fn a_styled_statement_has_the_same_letters() {
        let text = "RECALL beliefs WHERE subject = \"é\" -- all";
        assert_eq!(styled(text, Styling::Plain), text);
        let coloured = styled(text, Styling::Coloured);
        let parts = coloured.split('\u{1b}').enumerate();
        let letters = parts.map(|(at, part)| match at {
            0 => part,
            _ => part.split_once('m').map_or("", |(_, rest)| rest),
        });
        assert_eq!(letters.collect::<String>(), text);
        assert!(coloured.starts_with("\u{1b}[1mRECALL\u{1b}[0m \u{1b}[36mbeliefs"));
    }
}
