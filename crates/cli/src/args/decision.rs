use clap::Args;
use grainstore::store::Mandate;

/// Why something is decided, and by whom: what every such command asks for.
#[derive(Debug, Args)]
pub(crate) struct Decision {
    /// Why, in words; kept for good
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who decided it: a person, an office, a DID; kept for good
    #[arg(long, value_name = "WHO")]
    authority: String,
}

impl Decision {
    pub(crate) fn mandate(&self) -> Mandate<'_> {
        Mandate {
            reason: &self.reason,
            authority: &self.authority,
        }
    }
}
