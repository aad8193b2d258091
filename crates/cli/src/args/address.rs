//! Content addresses as arguments: whole, as a reference, or shortened to their first digits.
//!
//! Short addresses are resolved against the store, and are for people: JSON output has whole ones.

use grainstore::ErrorCode;
use grainstore::{ContentAddress, Store};

use crate::error::CliError;

/// Resolves an address: whole, as a `sha256:` reference, or as its first 8 to 16 digits if exactly
/// one grain of the store begins with them.
///
/// # Errors
/// `ERR_HASH_FORMAT`, `ERR_HASH_LENGTH`; for a short address `ERR_NOT_FOUND`, `ERR_AMBIGUOUS`.
pub(crate) fn resolve(store: &Store, text: &str) -> anyhow::Result<ContentAddress> {
    let is_short = SHORT_LEN.contains(&text.len())
        && text
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !is_short {
        return ContentAddress::from_reference(text).map_err(|error| {
            CliError::of(&error)
                .at(format!("address \"{text}\""))
                .into()
        });
    }
    let mut found: Option<ContentAddress> = None;
    let mut after = None;
    loop {
        let page = store.list(after, PAGE_LEN)?;
        for address in page.addresses {
            if !address.to_string().starts_with(text) {
                continue;
            }
            if let Some(other) = found.replace(address) {
                let message = format!("{text} matches both {other} and {address}");
                return Err(CliError::new(ErrorCode::Ambiguous, message).into());
            }
        }
        after = match page.next {
            Some(next) => Some(next),
            None => break,
        };
    }
    found.ok_or_else(|| {
        let message = format!("no address begins with {text}");
        CliError::new(ErrorCode::NotFound, message).into()
    })
}

/// Returns the first digits of an address, as lists show it and [`resolve`] accepts it.
pub(crate) fn short(address: &ContentAddress) -> String {
    address.to_string().chars().take(SHOWN_LEN).collect()
}

/// A longer prefix is an address cut off by accident, which must be refused.
const SHORT_LEN: std::ops::RangeInclusive<usize> = 8..=16;

/// At a million grains, two share these digits with a probability of 1 in 500.
const SHOWN_LEN: usize = 12;

const PAGE_LEN: usize = 4096;
