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
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !SHORT_LEN.contains(&text.len()) || !text.bytes().all(is_digit) {
        return Ok(ContentAddress::from_reference(text)?);
    }
    let mut found = None;
    let mut after = None;
    loop {
        let page = scope.store().list(after, PAGE_LEN)?;
        for address in page.addresses {
            let is_meant =
                address.to_string().starts_with(text) && scope.store().get(&address)?.is_some();
            if is_meant && found.replace(address).is_some() {
                let message = format!("several addresses begin with {text}");
                return Err(Failure::new(ErrorCode::Ambiguous, message));
            }
        }
        after = match page.next {
            Some(next) => Some(next),
            None => return found.ok_or_else(|| Failure::not_found(text)),
        };
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

const PAGE_LEN: usize = 4096;
