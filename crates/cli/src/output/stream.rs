//! The two streams of a command: results on stdout, messages and errors on stderr.
//!
//! With `--json` errors are a document on stdout, so that a program reads one stream.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::pager::{Pager, Sink};
use super::printable::{printable, printable_lines};
use super::terminal::is_screen;
use crate::error::CliError;

/// The output of a command: results on stdout, messages on stderr.
#[derive(Debug)]
pub(crate) struct Output {
    is_json: bool,
    is_quiet: bool,
    // Not locked: a server of another thread may write to it when nothing is buffered here.
    stdout: BufWriter<Sink>,
    pager: Option<Pager>,
    /// The messages that wait for the end of the pager.
    held: Mutex<Vec<String>>,
}

impl Output {
    /// Buffers stdout for the run of the command.
    pub(crate) fn new(is_json: bool, is_quiet: bool) -> Self {
        Self {
            is_json,
            is_quiet,
            stdout: BufWriter::new(Sink::Stdout(io::stdout())),
            pager: None,
            held: Mutex::default(),
        }
    }

    /// Shows what follows in a pager, if stdout is a terminal and the user has one.
    pub(crate) fn page(&mut self) {
        if self.is_quiet || !is_screen() {
            return;
        }
        match Pager::start() {
            Ok(Some((pager, sink))) => {
                self.pager = Some(pager);
                self.stdout = BufWriter::new(sink);
            }
            Ok(None) => {}
            Err(reason) => self.note(format!("note: no pager: {reason}")),
        }
    }

    /// Ends the pager, if there is one, and writes the messages that waited for it.
    pub(crate) fn end_page(&mut self) -> io::Result<()> {
        let flushed = self.stdout.flush();
        if let Some(pager) = self.pager.take() {
            // Closes the pipe, so that the pager knows the end.
            self.stdout = BufWriter::new(Sink::Stdout(io::stdout()));
            pager.wait();
        }
        let held = self.held.get_mut();
        let held = held.map(std::mem::take).unwrap_or_default();
        held.iter().for_each(|text| to_stderr(text));
        flushed
    }

    /// Makes results and errors JSON from here on, as `--json` does.
    pub(crate) const fn become_json(&mut self) {
        self.is_json = true;
    }

    /// Returns whether results are JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.is_json
    }

    /// Returns whether messages and progress are suppressed.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Writes a line of a result for people; control characters are escaped.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.stdout, "{}", printable_lines(&text.to_string()))
    }

    /// Writes a line whose untrusted parts are already escaped, and which may be styled.
    pub(crate) fn styled_line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.stdout, "{text}")
    }

    /// Writes a JSON document in one line.
    pub(crate) fn json(&mut self, document: &Value) -> io::Result<()> {
        writeln!(self.stdout, "{document}")
    }

    /// Returns stdout for raw bytes.
    pub(crate) const fn bytes(&mut self) -> &mut impl Write {
        &mut self.stdout
    }

    /// Flushes stdout.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }

    /// Writes a message, which is not part of the result, to stderr.
    pub(crate) fn note(&self, text: impl fmt::Display) {
        if self.is_quiet {
            return;
        }
        let text = printable_lines(&text.to_string());
        match self.held.lock() {
            Ok(mut held) if self.pager.is_some() => held.push(text),
            _ => to_stderr(&text),
        }
    }

    /// Writes an error with its hint: as JSON on stdout, else on stderr. Where stdout takes nothing,
    /// JSON goes to stderr too.
    pub(crate) fn error(&mut self, error: &CliError) -> io::Result<()> {
        if self.is_json {
            let document = json!({ "error": error.to_json() });
            let written = self.json(&document).and_then(|()| self.flush());
            if written.is_err() {
                to_stderr(&document.to_string());
            }
            return written;
        }
        // A closed stdout must not hide the error.
        let flushed = self.end_page();
        self.error_line(error);
        if let Some(hint) = error.hint() {
            to_stderr(&format!("  hint: {hint}"));
        }
        flushed
    }

    /// Writes why a statement is refused to stderr, in several lines.
    pub(crate) fn refusal(&mut self, text: &str) -> io::Result<()> {
        let flushed = self.end_page();
        to_stderr(&printable_lines(text));
        flushed
    }

    /// Writes one line of a list of errors to stderr, without the hint.
    pub(crate) fn error_line(&self, error: &CliError) {
        let text = printable(&error.to_string());
        to_stderr(&format!("error[{}]: {text}", error.code()));
    }
}

/// A message that cannot be written does not fail the command.
fn to_stderr(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}
