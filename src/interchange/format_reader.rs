//! The trait that each format implements once, in all its serializations.
//!
//! A new format is a folder below `formats` with an implementation of [`FormatReader`], one of
//! [`FormatWriter`](super::FormatWriter) if it is written, a variant of [`Format`], and a line in
//! the registry for each.

use crate::codec::Value;
use crate::grain::{Grain, Status};

use super::import_file::ReadResult;
use super::io::source_file::Input;
use super::merge_rule::MergeRule;
use super::{Error, Format, ReadOptions};

/// One format in all its serializations: how it is recognised, read and merged.
pub(super) trait FormatReader: Sync {
    /// Returns what a user is told that a file of this format looks like.
    fn description(&self) -> &'static str;

    /// Returns the serializations that the name of the first of them stands for.
    fn serializations(&self) -> &'static [Format] {
        &[]
    }

    /// Recognises the first bytes of a file.
    fn detect_bytes(&self, _head: &[u8]) -> Option<Format> {
        None
    }

    /// Recognises a directory or a ZIP archive.
    fn detect_container(&self, _input: Input<'_>) -> Result<Option<Format>, Error> {
        Ok(None)
    }

    /// Validates a file of `format`, one of this reader's; its records are read when they are asked
    /// for.
    ///
    /// # Errors
    /// Why the file cannot be opened, or everything wrong with one that is refused as a whole.
    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult;

    /// Reads a file that was detected as one of `format`, as [`Self::read`] does; of a container that
    /// holds files of several of this reader's formats, all of them.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn read_detected(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        self.read(format, input, options)
    }

    /// Returns the foreign record that a grain of this format carries.
    fn residual(&self, _grain: &Grain) -> Option<Value> {
        None
    }

    /// Returns what a grain of this format carries from elsewhere in its file.
    fn inherited(&self, _grain: &Grain) -> Option<Value> {
        None
    }

    /// Returns whether a record of this format is the one that an export writes of a stored version,
    /// where that is not the record as it came.
    fn is_export_of(&self, _record: &Grain, _stored: &Grain, _status: &Status) -> bool {
        false
    }

    /// Returns whether a grain says nothing but that others belong together.
    fn is_link(&self, _grain: &Grain) -> bool {
        false
    }

    /// Returns whether the owner of a grain's record lets it leave the store, as far as it says.
    fn is_exportable(&self, _grain: &Grain) -> bool {
        true
    }

    /// Returns whether the record of a grain states who may see it, which nothing here enforces.
    fn states_visibility(&self, _grain: &Grain) -> bool {
        false
    }

    /// Returns how a changed record meets the grains that came under its id before; `id_format` is
    /// that of the id.
    fn merge_rule(&self, _id_format: &str) -> MergeRule {
        MergeRule::default()
    }

    /// Returns whether the record of a grain says itself that it is no longer current.
    fn is_ended(&self, _grain: &Grain) -> bool {
        false
    }
}
