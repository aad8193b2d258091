use grainstore::{ContentAddress, ErrorCode, Store};

use crate::problem::Problem;

/// Reads an address: whole, as a `sha256:` reference, or shortened to its first digits if only
/// one grain of the store begins with them.
///
/// # Errors
/// `ERR_HASH_FORMAT`, `ERR_HASH_LENGTH`; of a shortened one `ERR_NOT_FOUND`, `ERR_AMBIGUOUS`.
pub(crate) fn resolve(store: &Store, text: &str) -> anyhow::Result<ContentAddress> {
    let is_short = SHORT_LEN.contains(&text.len())
        && text
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !is_short {
        return ContentAddress::from_reference(text)
            .map_err(|error| Problem::of(&error).at(format!("address \"{text}\"")).into());
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
                let message = format!("{text} is the beginning of {other} and of {address}");
                return Err(Problem::new(ErrorCode::Ambiguous, message).into());
            }
        }
        after = match page.next {
            Some(next) => Some(next),
            None => break,
        };
    }
    found.ok_or_else(|| {
        let message = format!("no grain has an address that begins with {text}");
        Problem::new(ErrorCode::NotFound, message).into()
    })
}

/// Returns the beginning of an address, as lists show it and [`resolve`] takes it.
pub(crate) fn short(address: &ContentAddress) -> String {
    address.to_string().chars().take(SHOWN_LEN).collect()
}

/// Longer ones are not shortened but cut off by accident, and must not pass.
const SHORT_LEN: std::ops::RangeInclusive<usize> = 8..=16;

/// Enough that two of a million grains share it with a chance of 1 to 500.
const SHOWN_LEN: usize = 12;

const PAGE_LEN: usize = 4096;
