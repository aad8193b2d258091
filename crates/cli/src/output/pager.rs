//! The pager: the program through which a person reads long output on a terminal.
//!
//! Pipes, files and `--quiet` runs have none.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::interrupt::{self, Interrupted};

/// A running pager, and the messages that wait for its end: it has the whole screen.
#[derive(Debug)]
pub(super) struct Pager {
    child: Child,
    /// The pager takes the key that interrupts; this process ends with it.
    _interrupted: Interrupted,
}

/// Where results go: to stdout, or to a pager that writes them there.
#[derive(Debug)]
pub(super) enum Sink {
    Stdout(io::Stdout),
    Pager(ChildStdin),
}

impl Pager {
    /// Starts the pager of the user, if there is one.
    ///
    /// # Errors
    /// The name of the pager and what the system said, if it does not start.
    pub(super) fn start() -> Result<Option<(Self, Sink)>, String> {
        let named = ["GRAINSTORE_PAGER", "PAGER"].iter().find_map(|name| {
            let value = std::env::var_os(name)?.into_string().ok()?;
            Some(value.split_whitespace().map(str::to_owned).collect())
        });
        let is_default = named.is_none();
        let words: Vec<String> = named.unwrap_or_else(|| vec![DEFAULT.to_owned()]);
        let Some((program, arguments)) = words.split_first().filter(|(name, _)| *name != "cat")
        else {
            return Ok(None);
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            // Ends at once where all fits on the screen, passes colours on, leaves the text there.
            command.env("LESS", "FRX");
        }
        // Before the pager runs: a key may be pressed at once.
        let interrupted = interrupt::ignored();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if is_default && error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{program}: {error}")),
        };
        let Some(stdin) = child.stdin.take() else {
            return Err(format!("{program}: no pipe"));
        };
        let pager = Self {
            child,
            _interrupted: interrupted,
        };
        Ok(Some((pager, Sink::Pager(stdin))))
    }

    /// Waits until the user has left the pager, whose input is closed.
    pub(super) fn wait(mut self) {
        drop(self.child.wait());
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Pager(pipe) => pipe.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Pager(pipe) => pipe.flush(),
        }
    }
}

/// The pager where neither variable names one.
const DEFAULT: &str = "less";
