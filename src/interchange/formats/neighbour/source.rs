//! A source: how its files are recognised, how they hold its elements, and who reads these.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::json_head::{JsonFormat, JsonHead, Marker};

use super::builder::Builder;

/// A source.
pub(in crate::interchange) struct Source {
    pub(super) format: Format,
    /// How its JSON is recognised.
    pub(in crate::interchange) json: JsonFormat,
    /// Recognises the first bytes of a file that is no JSON.
    pub(super) is_text: fn(&[u8]) -> bool,
    /// The arrays of a document that elements stand in; an empty name is the document itself, and `outer/inner`
    /// one of its member `outer`.
    pub(super) arrays: &'static [&'static str],
    /// Whether the arrays are read in this order: a later one names elements of those before it.
    pub(super) is_in_order: bool,
    /// Whether one reader reads all files: what one says, others name.
    pub(super) spans_files: bool,
    /// The rank of a file among several, by its path; those of one rank are read in the order of their names.
    pub(super) rank: fn(&str) -> u8,
    /// Makes the reader of one file.
    pub(super) reader: fn() -> Box<dyn Reader>,
}

impl Source {
    /// Returns a source of JSON: by which members it is recognised, and the arrays that its elements stand in.
    pub(super) const fn of_json(
        format: Format,
        markers: &'static [Marker],
        detect: fn(&JsonHead) -> Option<Format>,
        arrays: &'static [&'static str],
        reader: fn() -> Box<dyn Reader>,
    ) -> Self {
        Self {
            format,
            json: JsonFormat {
                markers,
                inner: &[],
                detect,
            },
            is_text: |_| false,
            arrays,
            is_in_order: false,
            spans_files: false,
            rank: |_| 0,
            reader,
        }
    }

    /// Returns the source with arrays that are read in their order.
    pub(super) const fn in_order(mut self) -> Self {
        self.is_in_order = true;
        self
    }

    /// Returns the source with one reader for all files.
    pub(super) const fn across_files(mut self) -> Self {
        self.spans_files = true;
        self
    }

    /// Returns the source with one reader for all files, which are read by rank.
    pub(super) const fn by_rank(mut self, rank: fn(&str) -> u8) -> Self {
        self.rank = rank;
        self.across_files()
    }

    /// Returns the source with what is looked for in the objects of its lists.
    pub(super) const fn with_inner(mut self, inner: &'static [&'static str]) -> Self {
        self.json.inner = inner;
        self
    }
}

/// Reads the elements of one file, in their order.
pub(super) trait Reader {
    /// Builds the items of an element of the array of that name; returns whether it is one of this source.
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool;

    /// Takes the members of a document that are no arrays of elements, before the second of its arrays is read
    /// where these have an order, else behind all of them; returns the names of those that it needs.
    fn envelope(&mut self, _members: &Map) -> &'static [&'static str] {
        &[]
    }

    /// Builds what the end of the file completes.
    fn end(&mut self, _builder: &mut Builder<'_>) {}

    /// Builds what the end of the last file completes, if one reader reads them all.
    fn finish(&mut self, _builder: &mut Builder<'_>) {}
}
