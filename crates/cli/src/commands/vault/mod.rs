//! Commands about the vault: its state, its rotation, and copies of its root.

mod blind;
mod escrow;
mod rotate;
mod status;

use clap::{Args, Subcommand};

use self::blind::BlindIndex;
use self::escrow::{Escrow, RestoreRoot};
use self::rotate::Rotate;
use self::status::Status;
use crate::error::Exit;
use crate::session::Session;

pub(crate) use status::warn_of_medium;

/// Keep the keys of sealed persons: state, rotation, escrow
///
/// The vault, in vault/ of the store, has a key for each person added with `user add`, wrapped under
/// the master key (--key-file) and a root of 32 bytes, vault/root, that is overwritten when a person is
/// erased. No backup holds it. Without the root or the master key no sealed grain can be read.
///
/// The master key has 32 random bytes, or 64 hexadecimal digits: --key-file FILE, which may be
/// /dev/fd/N, or the file that GRAINSTORE_KEY_FILE names. A vault that was created with a passphrase
/// takes it with --key-passphrase-fd N instead.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore vault escrow --to age1… --ttl 30d -o root.age --key-file master.key
  grainstore vault restore-root root.age --identity officer.txt --key-file master.key")]
pub(crate) struct VaultTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Status(Status),
    Rotate(Rotate),
    BlindIndex(BlindIndex),
    Escrow(Escrow),
    RestoreRoot(RestoreRoot),
}

impl VaultTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Status(action) => action.run(session),
            Action::Rotate(action) => action.run(session),
            Action::BlindIndex(action) => action.run(session),
            Action::Escrow(action) => action.run(session),
            Action::RestoreRoot(action) => action.run(session),
        }
    }
}
