//! Arguments that several commands share, and the input they name: addresses, filters, files of
//! lines, keys and passphrases.
//!
//! Arguments of one command alone stand in the file of that command.

pub(crate) mod address;
mod authorization;
mod calendar;
mod caller;
mod encryption;
mod filters;
mod key_file;
mod lines;
mod listing;
mod master_key;
mod statements;
mod values;

pub(crate) use authorization::AuthorizationArgs;
pub(crate) use calendar::Clock;
pub(crate) use caller::{As, no_author};
pub(crate) use encryption::{SealArgs, UnsealArgs};
pub(crate) use filters::Filters;
pub(crate) use key_file::{KeySource, create_private, read_key, write_key};
pub(crate) use lines::{Line, Lines, display_name, open, read_document};
pub(crate) use listing::Listing;
pub(crate) use master_key::{MasterKeyArgs, key_in};
pub(crate) use statements::Statements;
pub(crate) use values::{grain_type, share, store_folder, time_from, time_to, time_to_live};
