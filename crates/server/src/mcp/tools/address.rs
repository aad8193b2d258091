//! Addresses as a model gives them: whole, as a URI, or shortened to their first digits.

use grainstore::{ContentAddress, ErrorCode};

use crate::Scope;
use crate::mcp::failure::Failure;

/// Resolves an address: whole, as `grain://` or `sha256:`, or its first 8 to 16 digits if exactly
/// one grain that the scope includes begins with them.
///
/// # Errors
/// `ERR_HASH_FORMAT`, `ERR_HASH_LENGTH`; for a short address `ERR_NOT_FOUND`, `ERR_AMBIGUOUS`.
pub(in crate::mcp) fn resolve(scope: &Scope, text: &str) -> Result<ContentAddress, Failure> {
    let text = text.trim();
    let text = text.strip_prefix("grain://").unwrap_or(text);
    let is_short = SHORT_LEN.contains(&text.len());
    if !is_short || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(ContentAddress::from_reference(text)?);
    }
    match *scope.store().starting_with(text, NAMED_MAX)? {
        [] => Err(Failure::not_found(text)),
        [address] => Ok(address),
        ref several => {
            let named = several.iter().map(ToString::to_string);
            let named = named.collect::<Vec<_>>().join(", ");
            let message = format!("{text} is the beginning of several addresses: {named}");
            Err(Failure::new(ErrorCode::Ambiguous, message))
        }
    }
}

/// Returns the first digits of an address, as a recall shows them.
pub(super) fn short(address: &ContentAddress) -> String {
    let mut digits = address.to_string();
    digits.truncate(*SHORT_LEN.start());
    digits
}

/// A longer prefix is an address cut off by accident, which must be refused.
const SHORT_LEN: std::ops::RangeInclusive<usize> = 8..=16;

/// How many addresses with the same beginning a refusal names.
const NAMED_MAX: usize = 5;
