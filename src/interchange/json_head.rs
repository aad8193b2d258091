//! The recognition of a format in JSON: by the markers in the first value of a text.

use super::Format;

/// The name of a member, and the text it must have where that matters; of a text that begins with
/// `*`, what it must contain in any case of its letters.
pub(super) type Marker = (&'static str, Option<&'static str>);

/// How a format in JSON is recognised.
pub(super) struct JsonFormat {
    /// The members that tell the format from others.
    pub(super) markers: &'static [Marker],
    /// The members of the objects in an array `conversations` or `results` that tell it from others.
    pub(super) inner: &'static [&'static str],
    /// Recognises a value; called after each marker, and once more at the end of the value.
    pub(super) detect: fn(&JsonHead) -> Option<Format>,
}

/// The markers found in the first JSON value of a text: among the members of an object, or of the
/// objects in an array.
#[derive(Default)]
pub(super) struct JsonHead {
    pub(super) found: Vec<Marker>,
    /// The members found in the objects of the array `conversations` or `results` of an object.
    pub(super) inner: Vec<&'static str>,
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

    /// Returns whether there is a member of each of these names.
    pub(super) fn has_all(&self, names: &[&'static str]) -> bool {
        names.iter().all(|name| self.has(&[*name]))
    }

    /// Returns whether no member that is to come can name another format: of an object all are known at
    /// its end.
    pub(super) const fn is_certain(&self) -> bool {
        self.is_array || self.is_whole
    }

    /// Returns whether there is a member of one of these names in the objects of an array, whether
    /// the array is the value itself or the member `conversations` or `results` of an object, or in
    /// an object that stands alone.
    pub(super) fn has_in_items(&self, names: &[&str]) -> bool {
        // An object is known to stand alone, and to be no line of another format, at its end.
        let is_alone = self.is_whole && !self.has(&["type"]);
        self.inner.iter().any(|name| names.contains(name))
            || ((self.is_array || is_alone) && self.has(names))
    }

    /// Returns whether the member of a name has one of these texts.
    pub(super) fn says(&self, name: &str, texts: &[&str]) -> bool {
        let mut found = self.found.iter();
        found.any(|(it, text)| *it == name && text.is_some_and(|text| texts.contains(&text)))
    }
}
