use std::time::Instant;
use std::{fmt, io};

use crate::output::{Output, Style, Styling};

/// Where the demo speaks: numbered steps, the command of each, and what came of it.
pub(super) struct Stage<'a> {
    out: &'a mut Output,
    step: u32,
    began: Instant,
}

impl<'a> Stage<'a> {
    pub(super) fn new(out: &'a mut Output) -> Self {
        Self {
            out,
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
        let heading = Styling::of_stdout().show(Style::Strong, &heading);
        // Ours, and so past the escaping that everybody else's text goes through.
        self.out.styled_line(&heading)?;
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

    /// Shows a line of a table.
    pub(super) fn show(&mut self, line: &str) -> io::Result<()> {
        self.out.styled_line(&format!("{:INDENT$}{line}", ""))?;
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
