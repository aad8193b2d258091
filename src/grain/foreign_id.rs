//! The identifier that a foreign format gives a record, and by which its grain is found again.

use std::borrow::Cow;

/// The identity of a record in a foreign format. It is stable across exports, so that imports can
/// repeat.
///
/// Two are equal if their bytes are: nothing is normalised, since that could merge two records of a
/// file.
///
/// ```
/// use grainstore::grain::ForeignId;
///
/// let id = ForeignId::new("pam", "mira", "m1");
/// assert_eq!((id.format(), id.scope(), id.id()), ("pam", "mira", "m1"));
/// assert_ne!(id, ForeignId::new("pam", "mira", "M1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignId {
    format: Cow<'static, str>,
    scope: String,
    id: String,
}

impl ForeignId {
    /// Names the record `id` of a format, such as `pam`; `scope` is that in which the id is unique:
    /// an owner, a producer, a namespace.
    pub fn new(
        format: impl Into<Cow<'static, str>>,
        scope: impl Into<String>,
        id: impl Into<String>,
    ) -> Self {
        Self {
            format: format.into(),
            scope: scope.into(),
            id: id.into(),
        }
    }

    /// Returns the format.
    pub fn format(&self) -> &str {
        &self.format
    }

    /// Returns the scope in which the id is unique.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns format, scope and id, in the order in which they are hashed and stored.
    pub(crate) fn parts(&self) -> [&str; 3] {
        [&self.format, &self.scope, &self.id]
    }
}

/// The tag of a grain that holds the envelope of an imported file, which answers leave out unless
/// they ask for it. Tags of files never have it: a colon in one of theirs is marked.
pub(crate) const ENVELOPE_TAG: &str = "grainstore:envelope";

/// The prefix of the URN of a grain of this program, before its address.
#[cfg(any(feature = "interchange", feature = "sealing"))]
pub(crate) const GRAIN_URN: &str = "urn:grainstore:";

const USER_URN: &str = "urn:grainstore:user:";

/// Returns the URN of a user, where a format requires a URI (AIMEM 2.1).
pub(crate) fn user_urn(user: &str) -> String {
    let mut urn = USER_URN.to_owned();
    for byte in user.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            urn.push(char::from(byte));
        } else {
            urn.push_str(&format!("%{byte:02X}"));
        }
    }
    urn
}

/// Returns the user of such a URN, so that a bundle of this store gives its grains the same user.
#[cfg(any(feature = "interchange", feature = "sealing"))]
pub(crate) fn user_of_urn(urn: &str) -> Option<String> {
    let mut rest = urn.strip_prefix(USER_URN)?;
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        let digits = after.get(..2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend(rest.bytes());
    let user = String::from_utf8(bytes).ok()?;
    // Any other spelling stays a name of its own.
    (user_urn(&user) == urn).then_some(user)
}
