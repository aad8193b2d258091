//! Opening a store: its file, the directory that holds it, or a ZIP archive of that.

use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::{Error, ReadOptions};

use super::code;
use super::files::archive::{is_json, unpack};
use super::files::conversation_files::ConversationFiles;
use super::files::storage::locate;
use super::read::store_file::{StoreFile, Validation};
use super::types::object::fault;

/// Validates a memory store, whose records are built when they are asked for.
///
/// Conversations are read from files below the directory of the store, never from elsewhere; of the
/// bytes of a store they are a [`Loss`](crate::interchange::Loss), unless the bytes are a ZIP archive
/// that has them. Places are JSON pointers; those in the file of a conversation follow its name and
/// `#`.
pub(super) fn open(
    input: Input<'_>,
    options: &ReadOptions,
) -> Result<(StoreFile, Validation), Vec<Error>> {
    let one = |error| vec![error];
    let Input::Path(path) = input else {
        return open_source(input, ConversationFiles::Nowhere, options);
    };
    if !path.is_dir() {
        return open_source(input, ConversationFiles::beside(path), options);
    }
    let message = "the directory holds no memory store";
    let none = || fault(code::SCHEMA_ID, String::new(), message);
    let path = locate(path)
        .and_then(|path| path.ok_or_else(none))
        .map_err(one)?;
    open_source(
        Input::Path(&path),
        ConversationFiles::beside(&path),
        options,
    )
}

fn open_source(
    input: Input<'_>,
    beside: ConversationFiles,
    options: &ReadOptions,
) -> Result<(StoreFile, Validation), Vec<Error>> {
    let one = |error: Error| vec![error];
    let source = input.open().map_err(|source| one(source.into()))?;
    if !source.is_zip().map_err(|source| one(source.into()))? {
        return StoreFile::open(SourceFile::Whole(source), beside, options);
    }
    let files = FileSet::of(source, "", is_json);
    let (store, packed) = files.and_then(unpack).map_err(one)?;
    StoreFile::open(store, packed, options)
}
