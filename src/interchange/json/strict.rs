//! Strict parsing of untrusted JSON; each kind of flaw has a name, since formats have codes for
//! them.

use crate::codec::{self, Skim, Value};
use crate::grain::word;

/// Why bytes are not one strict JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A byte-order mark before the text.
    Bom,
    /// Bytes that are not UTF-8.
    Utf8,
    /// A member that comes twice.
    Duplicate,
    /// Anything else: grammar, lone surrogates, NaN, numbers without end, depth past 128.
    Syntax,
}

/// Reads one JSON value.
///
/// # Errors
/// The kind of flaw, and where it is.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, (Flaw, String)> {
    classify(bytes, |text| Value::from_json_knowing(text, word))
}

/// Validates one JSON value as strictly, and returns its kind and the text of one member.
pub(crate) fn skim(bytes: &[u8], member: &str) -> Result<Skim, (Flaw, String)> {
    classify(bytes, |text| Skim::of(text, member))
}

fn classify<T>(
    bytes: &[u8],
    read: impl FnOnce(&str) -> Result<T, codec::Error>,
) -> Result<T, (Flaw, String)> {
    if bytes.starts_with(BOM) {
        return Err((Flaw::Bom, "starts with a byte-order mark".into()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| (Flaw::Utf8, error.to_string()))?;
    read(text).map_err(|error| {
        let message = error.to_string();
        let flaw = if message.starts_with("duplicate member") {
            Flaw::Duplicate
        } else {
            Flaw::Syntax
        };
        (flaw, message)
    })
}

/// Returns the pointers of the first 10,000 integers past ±(2^53 − 1).
///
/// RFC 8785 writes numbers as doubles: past 2^53 two integers would get one text, so one checksum.
pub(crate) fn wide_integers(value: &Value) -> impl Iterator<Item = String> + use<> {
    let mut found = Vec::new();
    collect(value, &mut String::new(), &mut found);
    found.into_iter()
}

fn collect(value: &Value, at: &mut String, found: &mut Vec<String>) {
    let len = at.len();
    if found.len() >= WIDE_MAX {
        return;
    }
    match value {
        Value::Int(int)
            if int
                .as_i64()
                .is_none_or(|int| int.unsigned_abs() > I_JSON_MAX) =>
        {
            found.push(at.clone());
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push_str(&format!("/{index}"));
                collect(item, at, found);
                at.truncate(len);
            }
        }
        Value::Map(map) => {
            for (name, value) in map.iter() {
                at.push('/');
                at.push_str(&name.replace('~', "~0").replace('/', "~1"));
                collect(value, at, found);
                at.truncate(len);
            }
        }
        _ => {}
    }
}

/// The message about such an integer.
pub(crate) const WIDE: &str = "an integer past 2^53 - 1 has no I-JSON form";

const WIDE_MAX: usize = crate::interchange::model::diagnostics::DIAGNOSTICS_MAX;
const I_JSON_MAX: u64 = (1 << 53) - 1;
const BOM: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_hostile_json_has_its_flaw() {
        let cases: [(&[u8], Flaw); 10] = [
            (b"\xef\xbb\xbf{}", Flaw::Bom),
            (b"{\"a\": \"\xff\"}", Flaw::Utf8),
            (b"{\"a\": 1, \"a\": 1}", Flaw::Duplicate),
            (b"{\"b\": [{\"a\": 1, \"\\u0061\": 2}]}", Flaw::Duplicate),
            (b"[\"\\ud800\"]", Flaw::Syntax),
            (b"[NaN]", Flaw::Syntax),
            (b"[1e999]", Flaw::Syntax),
            (b"[18446744073709551616]", Flaw::Syntax),
            (&b"[".repeat(200_000), Flaw::Syntax),
            (b"{} {}", Flaw::Syntax),
        ];
        for (bytes, flaw) in cases {
            assert_eq!(parse(bytes).unwrap_err().0, flaw, "{bytes:?}");
        }
    }

    #[test]
    fn integers_are_wide_past_two_to_the_53() {
        let json = "{\"a/b\": [9007199254740991, 9007199254740992, -9007199254740992, 1e300]}";
        let found: Vec<_> = wide_integers(&Value::from_json(json).unwrap()).collect();
        assert_eq!(found, ["/a~1b/1", "/a~1b/2"]);
    }
}
