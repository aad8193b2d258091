//! Times of foreign formats: RFC 3339, which is narrower than what a time library reads.

use crate::grain::Time;

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

/// Returns the time as RFC 3339, or the beginning of 1970 for one that no calendar has; whole
/// seconds without a fraction.
pub(crate) fn to_rfc3339(time: Time) -> String {
    let text = time.to_string();
    let is_year = text.len() == "1970-01-01T00:00:00.000Z".len();
    match text.strip_suffix(".000Z") {
        Some(whole) if is_year => format!("{whole}Z"),
        _ if is_year => text,
        _ => "1970-01-01T00:00:00Z".to_owned(),
    }
}

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
}
