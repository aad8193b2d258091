//! `grainstore show`: a grain as a page that a person can read, or a conversation.
//!
//! Grains as JSON and as bytes are written by `get`.

use clap::Args;
use grainstore::{ContentAddress, ErrorCode};

use super::conversation::Conversation;
use super::page::Page;
use crate::args::As;
use crate::args::address;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Show a grain as a page, or a conversation as a chat
///
/// The page has the fields, the status, the protection, the signature, the provenance, the versions
/// of the grain and the grains that rest on it. A text that is no address of a stored grain is taken
/// for a session (session_id); `sessions` lists them.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Address of a grain, or its first digits, 4 or more; or a session
    #[arg(value_name = "ADDRESS|SESSION")]
    what: String,
    #[command(flatten)]
    as_whom: As,
}

impl Show {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let handle = self.as_whom.narrow(&store)?;
        let address = match address::resolve(&handle, &self.what) {
            Ok(address) => Ok(address),
            // Not the address of a grain: a session may have such a name.
            Err(error) => {
                let conversation = Conversation::read(&handle, &self.what)?;
                if let Some(conversation) = conversation {
                    conversation.show(&mut session.out)?;
                    return Ok(Exit::Done);
                }
                Err(error)
            }
        };
        let address = address.map_err(|error| self.neither(&error))?;
        Page::read(&store, &handle, &address)?.show(&mut session.out)?;
        Ok(Exit::Done)
    }

    fn neither(&self, error: &anyhow::Error) -> CliError {
        let error = CliError::of(error.as_ref());
        let is_address = ContentAddress::from_reference(&self.what).is_ok();
        if error.code() == ErrorCode::Ambiguous || is_address {
            return error;
        }
        let message = format!(
            "\"{}\" is neither an address of a grain nor a session",
            self.what
        );
        let is_part = self.what.len() < 4 && self.what.bytes().all(|it| it.is_ascii_hexdigit());
        CliError::new(ErrorCode::NotFound, message).advising(match is_part {
            true => "the first 4 digits of an address stand for it, and fewer do not",
            false => "`grainstore list --long` shows addresses, `grainstore sessions` the sessions",
        })
    }
}
