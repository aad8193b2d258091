//! Portable AI Memory 1.0: one JSON document and the conversations it names, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]), so that nothing
//! without a field in the mapping is lost. Grains depend on the records alone: the same file always
//! gives the same addresses. A violation of a rule that grains depend on refuses the file;
//! violations of the other rules of the text and the schemas are findings, unless the caller asks
//! for strictness (PAM 3–25).

mod checksum;
mod code;
mod files;
mod order;
mod read;
mod reader;
mod schema;
mod signature;
mod types;
mod write;

use std::path::Path;

use crate::codec::Value;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::json::{JsonError, Position, stream_file};
use crate::interchange::model::record_set::RecordSource as _;
use crate::interchange::{Error, ForeignId, ForeignVector, Loss, ReadOptions, Record, Signature};

use files::conversation_files::ConversationFiles;
use files::storage::locate;
pub(in crate::interchange) use read::build::Names;
pub(in crate::interchange) use read::convert::{Converted, ConvertedConversation, Converter};
pub use read::standalone::{read_conversation, read_embeddings};
use read::store_file::{StoreFile, Validation};
pub(in crate::interchange) use read::vectors::Vectors;
pub(in crate::interchange) use reader::Pam;
pub(in crate::interchange) use types::content_hash::content_hash;
use types::owner::Owner;
pub(in crate::interchange) use types::residual::is_relation;
pub use types::residual::{conversation_residual, residual};
pub use write::document::{Document, EMBEDDINGS, STORE};

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
fn open(input: Input<'_>, options: &ReadOptions) -> Result<(StoreFile, Validation), Vec<Error>> {
    let one = |error| vec![error];
    let Input::Path(path) = input else {
        return open_source(input, ConversationFiles::Nowhere, options);
    };
    if !path.is_dir() {
        return open_source(input, ConversationFiles::beside(path), options);
    }
    let message = "the directory holds no memory store";
    let none = || types::object::fault(code::SCHEMA_ID, String::new(), message);
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
    let files = FileSet::of(source, "", files::archive::is_json);
    let (store, packed) = files.and_then(files::archive::unpack).map_err(one)?;
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

/// Reads a document without its long arrays.
fn outline(part: &SourceFile, arrays: &[&str]) -> Result<Value, JsonError> {
    let value = stream_file(part, arrays, |_| false, |_, _| (), |()| true)?;
    Ok(value.unwrap_or(Value::Nil))
}

/// Returns the error of the text of a store.
fn broken(part: &SourceFile, error: JsonError) -> Error {
    broken_in(part, "", error)
}

/// Returns the error of the text of a file.
fn broken_in(part: &SourceFile, file: &str, error: JsonError) -> Error {
    match error {
        JsonError::Flaw(_, message) => no_json(file, message),
        JsonError::Io(source) => part.error(file, source),
    }
}

/// Returns the JSON pointer of a record.
fn place(position: Position) -> String {
    let name = ARRAYS.get(position.array).unwrap_or(&"");
    format!("/{name}/{}", position.number)
}

/// Reads JSON strictly; `file` names another file than the store itself.
fn parse(bytes: &[u8], file: &str) -> Result<Value, Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| no_json(file, error.to_string()))?;
    Value::from_json(text).map_err(|error| no_json(file, error.to_string()))
}

fn no_json(file: &str, message: String) -> Error {
    let at = if file.is_empty() {
        String::new()
    } else {
        format!("{file}#")
    };
    types::object::fault(code::JSON, at, message)
}

const SCHEMA: &str = "portable-ai-memory";
const CONVERSATION: &str = "portable-ai-memory-conversation";
const EMBEDDINGS_SCHEMA: &str = "portable-ai-memory-embeddings";

/// The format of the ids of exports.
const EXPORT: &str = "pam:export";

/// The arrays of a store whose elements are grains of their own.
const ARRAYS: [&str; 3] = ["memories", "relations", "conversations_index"];
const MEMORIES: usize = 0;
const RELATIONS: usize = 1;
const ENTRIES: usize = 2;

/// The loss that an unread conversation is counted under.
const CONVERSATION_LOSS: &str = "conversations_index.storage";
