//! The recognition of a format in JSON: by the markers in the first value of a text.

use super::Format;

/// The name of a member, and the text it must have where that matters.
pub(super) type Marker = (&'static str, Option<&'static str>);

/// How a format in JSON is recognised.
pub(super) struct JsonFormat {
    /// The members that tell the format from others.
    pub(super) markers: &'static [Marker],
    /// Recognises a value; called after each marker, and once more at the end of the value.
    pub(super) detect: fn(&JsonHead) -> Option<Format>,
}

/// The markers found in the first JSON value of a text: among the members of an object, or of the
/// objects in an array.
#[derive(Default)]
pub(super) struct JsonHead {
    pub(super) found: Vec<Marker>,
    /// Whether the value is an array.
    pub(super) is_array: bool,
    /// Whether all of the value has been seen, or all there is of it.
    pub(super) is_whole: bool,
    /// Whether the value is an object on one line.
    pub(super) is_line: bool,
}

impl JsonHead {
    /// Returns whether there is a member of one of these names.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        let mut found = self.found.iter();
        found.any(|(name, text)| text.is_none() && names.contains(name))
    }

    /// Returns whether the member of a name has one of these texts.
    pub(super) fn says(&self, name: &str, texts: &[&str]) -> bool {
        let mut found = self.found.iter();
        found.any(|(it, text)| *it == name && text.is_some_and(|text| texts.contains(&text)))
    }
}
