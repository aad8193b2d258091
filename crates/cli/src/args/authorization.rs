//! The reason and the authority that every governed change of the operator must state.
//!
//! Both are recorded in the ledger with the change.

use clap::Args;
use grainstore::store::Authorization;

/// The reason for a governed change, and the authority behind it.
#[derive(Debug, Args)]
pub(crate) struct AuthorizationArgs {
    /// Reason for the change; recorded permanently
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Authority for the change: a person, an office or a DID; recorded permanently
    #[arg(long, value_name = "NAME")]
    authority: String,
}

impl AuthorizationArgs {
    pub(crate) fn as_given(&self) -> Authorization<'_> {
        Authorization {
            reason: &self.reason,
            authority: &self.authority,
        }
    }
}
