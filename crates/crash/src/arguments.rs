//! The arguments of the command, as `name=value`: a line that a failure prints is an argument list.
//!
//! It reads no environment and no file.

use std::ops::Range;
use std::str::FromStr;

use crate::campaign::crash::Crash;
use crate::campaign::crash_states::replay;
use crate::campaign::sweep::Sweep;
use crate::disk::fault::Fault;

/// Words of the form `name=value`; others are passed over.
#[derive(Debug, Clone, Default)]
pub struct Arguments(Vec<(String, String)>);

impl Arguments {
    /// Takes words apart.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        let words = words.into_iter();
        Self(
            words
                .filter_map(|word| {
                    let (name, value) = word.split_once('=')?;
                    Some((name.to_owned(), value.trim_end_matches(':').to_owned()))
                })
                .collect(),
        )
    }

    /// Returns the value of a name, or what is usual.
    ///
    /// # Errors
    /// A value that is not what the name takes.
    pub fn get<T: FromStr>(&self, name: &str, usual: T) -> Result<T, String> {
        match self.0.iter().find(|(found, _)| found == name) {
            Some((_, value)) => value
                .parse()
                .map_err(|_| format!("{name}={value} cannot be read")),
            None => Ok(usual),
        }
    }

    /// Returns `seeds=FROM..TO`, or what is usual.
    ///
    /// # Errors
    /// A value that is no range.
    pub fn seeds(&self, usual: Range<u64>) -> Result<Range<u64>, String> {
        let text = self.get("seeds", format!("{}..{}", usual.start, usual.end))?;
        let range = text.split_once("..");
        let parsed = range.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        parsed.ok_or_else(|| format!("seeds={text} is no range"))
    }

    /// Replays a failure from the line it printed; returns what happened.
    ///
    /// # Errors
    /// The failure, if it happens again, or the fault of the arguments.
    pub fn replay(&self) -> Result<String, String> {
        let seed = self.get("seed", 1)?;
        let steps = self.get("steps", STEPS)?;
        let fault = self.get("fault", String::new())?;
        if !fault.is_empty() {
            let fault: Fault = fault.parse()?;
            let sweep = Sweep {
                seed,
                steps,
                every: 1,
            };
            sweep.fault(fault, &mut 0)?;
            return Ok(format!("{fault}: nothing is wrong"));
        }
        let crash = Crash {
            at: self.get("at", 0)?,
            mode: self.get("mode", "nothing".to_owned())?.parse()?,
        };
        let second = self.get("second", "no".to_owned())? == "yes";
        let (log, verdict) = replay(seed, steps, crash, second)?;
        let mut told = String::new();
        for (nth, op) in log.iter().enumerate() {
            told.push_str(if op.is_word() { "" } else { "    " });
            told.push_str(&format!("{nth} {op}\n"));
        }
        match verdict {
            Ok(()) => Ok(format!("{told}{crash}: nothing is wrong")),
            Err(what) => Err(format!("{told}{crash}: {what}")),
        }
    }
}

/// The default number of steps of a workload.
pub const STEPS: usize = 20;
