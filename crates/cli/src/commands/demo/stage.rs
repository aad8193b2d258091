//! Output of the demo: numbered steps with their commands and results.
//!
//! The steps themselves are in `steps`, `copy` and `crash`.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use crate::output::{Output, Style, Styling, is_dialogue, printable};

/// The output of the demo: numbered steps, each with its commands and results.
pub(super) struct Stage<'a> {
    out: &'a mut Output,
    step: u32,
    began: Instant,
    /// Whether each step waits until its reader goes on.
    pauses: bool,
}

impl<'a> Stage<'a> {
    pub(super) fn new(out: &'a mut Output, no_pause: bool) -> Self {
        Self {
            pauses: !no_pause && !out.is_quiet() && is_dialogue(),
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
        if self.step > 0 {
            self.pause()?;
        }
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

    /// Waits for a key, if a person reads along.
    fn pause(&mut self) -> io::Result<()> {
        if !self.pauses {
            return Ok(());
        }
        self.out.flush()?;
        let mut stderr = io::stderr().lock();
        write!(stderr, "{:INDENT$}Enter goes on, Ctrl-C ends: ", "")?;
        stderr.flush()?;
        let mut answer = String::new();
        // At the end of the input all steps follow without a pause.
        self.pauses = io::stdin().lock().read_line(&mut answer)? > 0;
        Ok(())
    }

    /// Writes a result of the step, in lines of 80 columns.
    pub(super) fn result(&mut self, text: impl fmt::Display) -> io::Result<()> {
        for line in wrapped(&printable(&text.to_string()), COLUMNS - INDENT) {
            let line = format!("{:INDENT$}{line}", "");
            self.out.styled_line(line.trim_end())?;
        }
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
        // The time of a reader is not that of the demo.
        self.plain(&match self.pauses {
            true => "Done. Try next:".to_owned(),
            false => format!("Done in {seconds:.1} s. Try next:"),
        })?;
        self.plain("   grainstore --store demo.grains ls")?;
        self.plain("   grainstore --store demo.grains search \"climbing holds\"")?;
        self.plain("   grainstore --store demo.grains query --type goal --json")?;
        self.plain("Created: demo-data, demo.grains, demo.mg, demo-copy.grains. They are yours.")
    }

    fn plain(&mut self, text: &str) -> io::Result<()> {
        self.out.line(text)
    }
}

/// Breaks a text into lines of at most `width` characters, at spaces where it has some.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (n, word) in text.split(' ').enumerate() {
        let Some(line) = lines.last_mut() else { break };
        let len = line.chars().count() + 1 + word.chars().count();
        match n {
            0 => line.push_str(word),
            _ if len > width && !line.trim().is_empty() => lines.push(word.to_owned()),
            // Spaces at the beginning and between columns stay as they are.
            _ => {
                line.push(' ');
                line.push_str(word);
            }
        }
    }
    lines
}

/// The width of the narrowest terminal that the demo is made for.
const COLUMNS: usize = 80;

/// The indentation of a result.
pub(super) const INDENT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_at_spaces_and_columns_stay() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("abcdef g", 3), ["abcdef", "g"]);
        assert_eq!(wrapped("  12  of 3", 20), ["  12  of 3"]);
    }
}
