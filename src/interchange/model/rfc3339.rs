//! Times of foreign formats: RFC 3339, which is narrower than what a time library reads.

use crate::codec::Map;
use crate::grain::Time;
use crate::interchange::Loss;

/// Reads a date-time of RFC 3339.
///
/// # Errors
/// Why the text is none.
pub(crate) fn parse_rfc3339(text: &str) -> Result<Time, String> {
    let wrong = || format!("\"{text}\" is not an RFC 3339 date and time with an offset");
    let shape = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| {
                if wanted == b'0' {
                    byte.is_ascii_digit()
                } else {
                    byte.eq_ignore_ascii_case(&wanted)
                }
            })
    };
    let (moment, rest) = text.split_at_checked(19).ok_or_else(wrong)?;
    let offset_at = rest.find(|c| !matches!(c, '.' | '0'..='9'));
    let (fraction, offset) = rest
        .split_at_checked(offset_at.ok_or_else(wrong)?)
        .ok_or_else(wrong)?;
    let digits = fraction.strip_prefix('.');
    let fits = shape(moment, "0000-00-00T00:00:00")
        && (fraction.is_empty() || digits.is_some_and(all_digits))
        && (shape(offset, "Z") || shape(offset, "+00:00") || shape(offset, "-00:00"));
    if !fits {
        return Err(wrong());
    }
    // The floor to a millisecond needs no more digits than these.
    let short = fraction.get(..10).unwrap_or(fraction);
    Time::parse(&format!("{moment}{short}{offset}")).map_err(|_| wrong())
}

fn all_digits(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the time as RFC 3339, whole seconds without a fraction; `None` outside the years 0000 to
/// 9999, which are all that it has.
pub(crate) fn to_rfc3339(time: Time) -> Option<String> {
    let text = time.to_string();
    if text.len() != "1970-01-01T00:00:00.000Z".len() {
        return None;
    }
    match text.strip_suffix(".000Z") {
        Some(whole) => Some(format!("{whole}Z")),
        None => Some(text),
    }
}

/// Returns the time of a file's envelope, which formats require; the beginning of 1970 for one that
/// RFC 3339 does not have.
pub(crate) fn envelope_time(time: Time) -> String {
    to_rfc3339(time).unwrap_or_else(|| EPOCH.to_owned())
}

/// Writes a member that a format requires: the beginning of 1970, counted as lost, for a time that
/// RFC 3339 does not have.
pub(crate) fn insert_required(map: &mut Map, name: &str, time: Time, loss: &mut Loss) {
    let text = to_rfc3339(time);
    if text.is_none() {
        loss.count(name);
    }
    map.insert(name, text.unwrap_or_else(|| EPOCH.to_owned()));
}

/// Writes an optional member: none, counted as lost, for a time that RFC 3339 does not have. Another
/// time would turn "for ever" into "expired".
pub(crate) fn insert_optional(map: &mut Map, name: &str, time: Time, loss: &mut Loss) {
    match to_rfc3339(time) {
        Some(text) => drop(map.insert(name, text)),
        None => loss.count(name),
    }
}

const EPOCH: &str = "1970-01-01T00:00:00Z";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_time_needs_every_part_and_an_offset() {
        let ms = |text| parse_rfc3339(text).unwrap().ms();
        assert_eq!(ms("1970-01-01T00:00:00Z"), 0);
        assert_eq!(ms("1970-01-01t02:00:00.0019999999999+02:00"), 1);
        assert_eq!(ms("1969-12-31T23:59:59.9999Z"), -1);
        assert_eq!(ms("1970-01-01T00:00:00-00:00"), 0);
        assert_eq!(ms("9999-12-31T23:59:59.999Z"), 253_402_300_799_999);
        assert_eq!(ms("9999-12-31T23:59:59-23:59"), 253_402_387_139_000);
        assert_eq!(ms("0000-01-01T00:00:00+23:59"), -62_167_305_540_000);
        for text in [
            "",
            "0",
            "1700000000000",
            "2026-01-15",
            "2026-01-15T10:00:00",
            "2026-01-15 10:00:00Z",
            "2026-01-15T10:00Z",
            "2026-01-15T10:00:00.Z",
            "2026-01-15T10:00:00.1.2Z",
            "2026-01-15T10:00:00+0200",
            "2026-01-15T10:00:00Z[UTC]",
            "2026-13-15T10:00:00Z",
            "2026-02-30T10:00:00Z",
            "2026-01-15T10:00:00\u{661}",
            "+002026-01-15T10:00:00Z",
        ] {
            assert!(parse_rfc3339(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_read_is_written_and_other_years_have_no_text() {
        for text in [
            "0000-01-01T00:00:00Z",
            "1970-01-01T00:00:00.001Z",
            "9999-12-31T23:59:59Z",
        ] {
            assert_eq!(
                to_rfc3339(parse_rfc3339(text).unwrap()).as_deref(),
                Some(text)
            );
        }
        for ms in [253_402_300_800_000, -62_167_219_200_001, i64::MAX, i64::MIN] {
            assert_eq!(to_rfc3339(Time::from_ms(ms)), None);
        }
    }
}
