//! Opening a store: its file, the directory that holds it, or a ZIP archive of that.

use std::path::Path;

use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::model::record_set::RecordSource as _;
use crate::interchange::model::vector::VectorSource as _;
use crate::interchange::{Error, ForeignId, ForeignVector, Loss, ReadOptions, Record, Signature};

use super::code;
use super::files::archive::{is_json, unpack};
use super::files::conversation_files::ConversationFiles;
use super::files::storage::locate;
use super::read::store_file::{StoreFile, Validation};
use super::types::object::fault;

/// The content of a memory store.
#[derive(Debug, Default)]
pub struct Import {
    /// The grains, in an order in which they can be stored: a grain comes after those it names.
    pub records: Vec<Record>,
    /// The first 10,000 violations that do not refuse the store.
    pub findings: Vec<Error>,
    /// The number of findings beyond those.
    pub unlisted: u64,
    /// The values that are not in the records, counted by field.
    pub loss: Loss,
    /// The vectors of its memories, or of those of earlier files.
    pub vectors: Vec<ForeignVector>,
    /// The export that an incremental one is based on (PAM 16).
    pub base: Option<ForeignId>,
    /// The result of checking the signature.
    pub signature: Option<Signature>,
}

/// Reads a memory store: its file, the directory that holds it, or a ZIP archive of that.
///
/// Conversations are read from files below the directory of the store, never from elsewhere. Places
/// are JSON pointers; those in the file of a conversation follow its name and `#`.
///
/// # Errors
/// All errors, if any of them refuses the store: the codes `PAM_*`, those of grains, and `ERR_IO`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Import, Vec<Error>> {
    collect(open(Input::Path(path), options)?)
}

/// Reads a memory store from its bytes; conversations in other files are a [`Loss`], unless the
/// bytes are a ZIP archive that has them.
///
/// ```
/// use grainstore::interchange::{ReadOptions, pam};
///
/// let store = br#"{"schema": "portable-ai-memory", "schema_version": "1.0",
///     "owner": {"id": "mira"}, "memories": []}"#;
/// let import = pam::read_bytes(store, &ReadOptions::default()).unwrap();
/// assert_eq!(import.records.len(), 1);
/// assert_eq!(pam::residual(&import.records[0].grain).unwrap().as_map().unwrap().len(), 4);
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Import, Vec<Error>> {
    collect(open(Input::Bytes(bytes), options)?)
}

/// Validates a memory store, whose records are built when they are asked for.
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

fn collect((mut file, validated): (StoreFile, Validation)) -> Result<Import, Vec<Error>> {
    let one = |error| vec![error];
    let records = file.collect().map_err(one)?;
    let mut vectors = Vec::new();
    if let Some(found) = validated.vectors {
        let read = found.each(&mut |vector| {
            vectors.push(vector);
            true
        });
        read.map_err(one)?;
    }
    Ok(Import {
        records,
        findings: validated.findings.list,
        unlisted: validated.findings.more,
        loss: validated.loss,
        vectors,
        base: validated.base,
        signature: validated.signature,
    })
}
