use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use serde_json::{Value, json};

use super::printable::{printable, printable_lines};
use crate::error::Problem;

/// Where a command says what it has to say: results on stdout, messages on stderr.
#[derive(Debug)]
pub(crate) struct Output {
    is_json: bool,
    is_quiet: bool,
    stdout: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Takes stdout for the length of the command.
    pub(crate) fn new(is_json: bool, is_quiet: bool) -> Self {
        Self {
            is_json,
            is_quiet,
            stdout: BufWriter::new(io::stdout().lock()),
        }
    }

    /// Returns whether results are JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.is_json
    }

    /// Returns whether only results are wanted.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Writes a line of a result for people; what strangers wrote is escaped.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.stdout, "{}", printable_lines(&text.to_string()))
    }

    /// Writes a line that is escaped already, and may be styled.
    pub(crate) fn styled_line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.stdout, "{text}")
    }

    /// Writes a JSON document in one line.
    pub(crate) fn json(&mut self, document: &Value) -> io::Result<()> {
        writeln!(self.stdout, "{document}")
    }

    /// Returns stdout for bytes.
    pub(crate) const fn bytes(&mut self) -> &mut impl Write {
        &mut self.stdout
    }

    /// Hands everything to the reader of stdout now.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }

    /// Tells a person something that is no result.
    pub(crate) fn note(&self, text: impl fmt::Display) {
        if !self.is_quiet {
            to_stderr(&printable_lines(&text.to_string()));
        }
    }

    /// Tells what went wrong: on stdout in JSON, else on stderr.
    pub(crate) fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        if self.is_json {
            self.json(&json!({ "error": problem.to_json() }))?;
            return self.flush();
        }
        self.flush()?;
        self.complain(problem);
        if let Some(hint) = problem.hint() {
            to_stderr(&format!("  hint: {hint}"));
        }
        Ok(())
    }

    /// Tells on stderr what went wrong, without the hint: for the many of a list.
    pub(crate) fn complain(&self, problem: &Problem) {
        let text = printable(&problem.to_string());
        to_stderr(&format!("error[{}]: {text}", problem.code()));
    }
}

/// A message that nobody can read is no reason to fail.
fn to_stderr(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}
