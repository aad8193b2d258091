//! The statements of CAL that a server answers.

use clap::{Args, ValueEnum};
use grainstore_cal::Host;

/// The switch of CAL.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Statements {
    /// Statements of CAL that are answered: none, those that read, or changes too
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    cal: Which,
}

/// The two switches of an operator (CAL 1.13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Which {
    /// None
    Off,
    /// Those that read
    #[default]
    Read,
    /// Those that read, and changes in two phases
    Evolve,
}

impl Statements {
    /// Returns the host that answers them.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn host(self) -> Result<Option<Host>, grainstore::Error> {
        Ok(match self.cal {
            Which::Off => None,
            Which::Read => Some(Host::default()),
            Which::Evolve => Some(Host::with_changes()?),
        })
    }

    /// Returns the option, where it says other than the default.
    pub(crate) const fn argument(self) -> Option<&'static str> {
        match self.cal {
            Which::Off => Some("--cal=off"),
            Which::Read => None,
            Which::Evolve => Some("--cal=evolve"),
        }
    }
}
