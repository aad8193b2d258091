//! Output of the demo: numbered steps with their commands and results.
//!
//! The steps themselves are in `steps`, `copy` and `crash`.

use std::time::Instant;
use std::{fmt, io};

use crate::output::{Output, Style, Styling};

/// The output of the demo: numbered steps, each with its commands and results.
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

    /// Introduces the demo.
    pub(super) fn open(&mut self) -> io::Result<()> {
        self.plain(
            "Mira is a designer, climbs, and is learning Dutch. The demo collects two years",
        )?;
        self.plain("of her assistants' memories in one store, ./demo.grains.")
    }

    /// Begins a step, and names the commands that do the same by hand.
    pub(super) fn step(&mut self, title: &str, commands: &[&str]) -> io::Result<()> {
        self.step += 1;
        let heading = format!("{}. {title}", self.step);
        self.out.line("")?;
        let heading = Styling::of_stdout().show(Style::Strong, &heading);
        // The heading is a constant of the demo, so it needs no escaping.
        self.out.styled_line(&heading)?;
        for command in commands {
            self.out.line(format!("   $ grainstore {command}"))?;
        }
        self.out.flush()
    }

    /// Writes a result of the step.
    pub(super) fn result(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.out.line(format!("{:INDENT$}{text}", ""))?;
        self.out.flush()
    }

    /// Writes a line of a table.
    pub(super) fn show(&mut self, line: &str) -> io::Result<()> {
        self.out.styled_line(&format!("{:INDENT$}{line}", ""))?;
        self.out.flush()
    }

    /// Names the files of the demo, and commands to try.
    pub(super) fn close(&mut self) -> io::Result<()> {
        let seconds = self.began.elapsed().as_secs_f64();
        self.out.line("")?;
        self.plain(&format!(
            "Done in {seconds:.1} s. Created: demo.grains, demo.mg, demo-copy.grains. Try next:"
        ))?;
        self.plain("   grainstore --store demo.grains search \"climbing holds\"")?;
        self.plain("   grainstore --store demo.grains query --type goal --json")?;
        self.plain("   grainstore --store demo.grains stats")
    }

    fn plain(&mut self, text: &str) -> io::Result<()> {
        self.out.line(text)
    }
}

/// The indentation of a result.
pub(super) const INDENT: usize = 5;
