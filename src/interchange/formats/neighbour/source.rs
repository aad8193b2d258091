//! A source: how its files are recognised, how they hold its elements, and who reads these.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::json_head::JsonFormat;

use super::builder::Builder;

/// A source.
pub(in crate::interchange) struct Source {
    pub(super) format: Format,
    /// How its JSON is recognised.
    pub(in crate::interchange) json: JsonFormat,
    /// Recognises the first bytes of a file that is no JSON.
    pub(super) is_text: fn(&[u8]) -> bool,
    /// The arrays of a document that elements stand in; an empty name is the document itself.
    pub(super) arrays: &'static [&'static str],
    /// Whether the arrays are read in this order: a later one names elements of those before it.
    pub(super) is_in_order: bool,
    /// Makes the reader of one file.
    pub(super) reader: fn() -> Box<dyn Reader>,
}

/// Reads the elements of one file, in their order.
pub(super) trait Reader {
    /// Builds the items of an element of the array of that name; returns whether it is one of this source.
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool;

    /// Builds what the end of the file completes.
    fn end(&mut self, _builder: &mut Builder<'_>) {}
}
