//! Values of arguments: grain types, times, ranges and verification statuses.
//!
//! Each parser returns the message that clap shows for a value it refuses.

use std::ffi::OsString;
use std::path::PathBuf;

use grainstore::grain::Verification;
use grainstore::query::period;
use grainstore::store::{Clock as _, SystemClock};
use grainstore::{Time, Type};

/// A lower and an upper bound, both included; `None` where a side is open.
pub(super) type Range = (Option<f64>, Option<f64>);

/// Parses the name or the byte of a grain type.
pub(crate) fn grain_type(text: &str) -> Result<Type, String> {
    let byte = text.strip_prefix("0x");
    let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match byte {
        Some(byte) => Ok(Type::from_byte(byte)),
        None => Type::named(text)
            .or_else(|| Type::of_later(text))
            .ok_or_else(|| {
                let names = Type::STANDARD.iter().filter_map(|of| of.name());
                let names: Vec<_> = names.collect();
                format!(
                    "expected one of {}, or a type byte from 0x0b to 0xff",
                    names.join(", ")
                )
            }),
    }
}

pub(super) fn verification(text: &str) -> Result<Verification, String> {
    Verification::named(text)
        .ok_or_else(|| "expected unverified, verified, contested or retracted".into())
}

/// Parses `from..to`, either of which may be missing, or one number.
pub(super) fn range(text: &str) -> Result<Range, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let bound = |text: &str| match text {
        "" => Ok(None),
        number => number
            .parse::<f64>()
            .map(Some)
            .map_err(|_| format!("{number} is not a number; write a range as 0.5..0.8")),
    };
    match (bound(from)?, bound(to)?) {
        (None, None) => Err("a range needs at least one number".into()),
        range => Ok(range),
    }
}

/// Parses a share or a confidence, from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok();
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.9".into())
}

/// Parses a time; a date or the words for one mean its beginning (UTC).
pub(crate) fn time_from(text: &str) -> Result<Time, String> {
    Ok(*period(text, SystemClock.now())?.start())
}

/// Parses a time; a date or the words for one mean its end (UTC).
pub(crate) fn time_to(text: &str) -> Result<Time, String> {
    Ok(*period(text, SystemClock.now())?.end())
}

/// Parses a length of time: a whole number of days or hours, as `30d` or `12h`. Returns milliseconds.
pub(crate) fn time_to_live(text: &str) -> Result<i64, String> {
    let units = [("d", 24 * HOUR_MS), ("h", HOUR_MS)];
    let found = units.into_iter().find_map(|(unit, ms)| {
        let count: i64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(ms).filter(|ms| *ms > 0)
    });
    found.ok_or_else(|| "expected days or hours: 30d, 12h".into())
}

const HOUR_MS: i64 = 3_600_000;

/// Returns the directory of a store. A shell leaves the `~` of `--store=~/x`, and no shell reads the arguments
/// in the configuration of a client.
pub(crate) fn store_folder(path: OsString) -> PathBuf {
    let path = PathBuf::from(path);
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) if !path.exists() => home.join(rest),
        _ => path,
    }
}
