use std::fmt;
use std::io::{self, IsTerminal};
use std::time::Instant;

use crate::output::Output;

/// Where the demo speaks: numbered steps, the command of each, and what came of it.
pub(super) struct Stage<'a> {
    out: &'a mut Output,
    is_bold: bool,
    step: u32,
    began: Instant,
}

impl<'a> Stage<'a> {
    pub(super) fn new(out: &'a mut Output) -> Self {
        // https://no-color.org: set and not empty means no.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            out,
            is_bold: io::stdout().is_terminal() && !no_color,
            step: 0,
            began: Instant::now(),
        }
    }

    /// Says what this is.
    pub(super) fn open(&mut self) -> io::Result<()> {
        self.plain("Mira designs things, climbs, and is learning Dutch. Two years of what her")?;
        self.plain("assistants remember about her go into one store, ./demo.grains.")
    }

    /// Begins a step, and names the commands that do the same.
    pub(super) fn step(&mut self, title: &str, commands: &[&str]) -> io::Result<()> {
        self.step += 1;
        let heading = format!("{}. {title}", self.step);
        self.out.line("")?;
        if self.is_bold {
            // Ours, and so past the escaping that everybody else's text goes through.
            use std::io::Write;
            writeln!(self.out.bytes(), "\u{1b}[1m{heading}\u{1b}[0m")?;
        } else {
            self.out.line(&heading)?;
        }
        for command in commands {
            self.out.line(format!("   $ grainstore {command}"))?;
        }
        self.out.flush()
    }

    /// Says what came of it.
    pub(super) fn say(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.out.line(format!("{:INDENT$}{text}", ""))?;
        self.out.flush()
    }

    /// Says what was left behind and what to try.
    pub(super) fn close(&mut self) -> io::Result<()> {
        let seconds = self.began.elapsed().as_secs_f64();
        self.out.line("")?;
        self.plain(&format!(
            "Done in {seconds:.1} s. Left here: demo.grains, demo.mg, demo-copy.grains. Try next:"
        ))?;
        self.plain("   grainstore --store demo.grains search \"climbing holds\"")?;
        self.plain("   grainstore --store demo.grains query --type goal --json")?;
        self.plain("   grainstore --store demo.grains stats")
    }

    fn plain(&mut self, text: &str) -> io::Result<()> {
        self.out.line(text)
    }
}

/// How far in from the left a result stands.
pub(super) const INDENT: usize = 5;
