//! Content addresses as arguments: whole, as a reference, or shortened to their first digits.
//!
//! Short addresses are resolved against the store, and are for people: JSON output has whole ones.

use grainstore::ErrorCode;
use grainstore::{ContentAddress, Store};

use crate::error::CliError;

/// Resolves an address: whole, as a `sha256:` reference, or as its first digits, 4 or more and in either
/// case, if exactly one grain of the store begins with them.
///
/// # Errors
/// `ERR_HASH_FORMAT`, `ERR_HASH_LENGTH`; for a short address `ERR_NOT_FOUND`, `ERR_AMBIGUOUS`.
pub(crate) fn resolve(store: &Store, text: &str) -> anyhow::Result<ContentAddress> {
    if !is_short(text) {
        return ContentAddress::from_reference(&text.to_ascii_lowercase()).map_err(|error| {
            CliError::of(&error)
                .at(format!("address \"{text}\""))
                .into()
        });
    }
    let found = store.starting_with(text, NAMED_MAX + 1)?;
    match *found.as_slice() {
        [address] => Ok(address),
        [] => {
            let message = format!("no address begins with {text}");
            Err(CliError::new(ErrorCode::NotFound, message).into())
        }
        ref several => {
            let named = several.iter().take(NAMED_MAX).map(short);
            let named = named.collect::<Vec<_>>().join(", ");
            let more = if several.len() > NAMED_MAX {
                ", …"
            } else {
                ""
            };
            let message = format!("{text} is the beginning of several addresses: {named}{more}");
            Err(CliError::new(ErrorCode::Ambiguous, message).into())
        }
    }
}

/// Returns whether a text is the beginning of an address, and not the whole of one.
pub(crate) fn is_short(text: &str) -> bool {
    let mut digits = text.bytes();
    SHORT_LEN.contains(&text.len()) && digits.all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the first digits of an address, as lists show it and [`resolve`] accepts it.
pub(crate) fn short(address: &ContentAddress) -> String {
    address.to_string().chars().take(SHOWN_LEN).collect()
}

/// Four digits suffice in a store of a few hundred grains.
const SHORT_LEN: std::ops::Range<usize> = 4..64;

/// At a million grains, two share these digits with a probability of 1 in 500.
const SHOWN_LEN: usize = 12;

/// How many addresses with the same beginning a message names.
const NAMED_MAX: usize = 5;
