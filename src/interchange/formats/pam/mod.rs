//! Portable AI Memory 1.0: one JSON document and the conversations it names, as grains.
//!
//! One record is one grain, and every grain carries its record (validate_record [`residual`]), so that nothing
//! the mapping has no field for is lost. Grains depend on the records alone: the same file always
//! gives the same addresses. What breaks a rule that grains depend on is refused; the other rules of
//! the text and the schemas are findings, unless the file is held to all of them (PAM 3–25).

mod checksum;
mod code;
mod files;
mod order;
mod read;
mod schema;
mod signature;
mod types;
mod write;

use std::path::{Path, PathBuf};

use crate::codec::{Profile, Value};

use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::{SharedSource, SourceFile};
use crate::interchange::json::{BUFFER_LEN, JsonError, JsonRecords, Position};
use crate::interchange::{Error, ForeignId, ForeignVector, Loss, Record, Signature};

pub(in crate::interchange) use files::archive::is_packed;
use files::conversation_files::ConversationFiles;
pub(in crate::interchange) use files::storage::locate;
pub(in crate::interchange) use read::build::Names;
pub(in crate::interchange) use read::convert::{Converted, ConvertedConversation, Converter};
pub(in crate::interchange) use read::standalone::open_embeddings;
pub use read::standalone::{read_conversation, read_embeddings};
pub(in crate::interchange) use read::store_file::{File, Validation};
pub(in crate::interchange) use read::told::Diagnostics;
pub(in crate::interchange) use read::vectors::Vectors;
pub(in crate::interchange) use types::content_hash::content_hash;
use types::owner::Owner;
pub use types::residual::{conversation_residual, residual};
pub(in crate::interchange) use types::residual::{is_ended, is_exportable, is_relation};
pub use write::document::{Document, EMBEDDINGS, STORE};

/// How a memory store is read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether a wrong checksum is a finding instead of an error.
    pub accept_bad_checksum: bool,
    /// Whether everything that the text and the schemas say is held to; without it, what grains
    /// depend on, and the rest is a finding.
    pub is_strict: bool,
    /// Whose a conversation or an embeddings file is that comes without its store; without one,
    /// `local`, as the exports of providers that name nobody.
    pub owner: Option<String>,
    /// The device profile whose limits the grains are held to.
    pub profile: Profile,
}

impl Options {
    fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or("local")
    }
}

/// What a memory store holds.
#[derive(Debug, Default)]
pub struct Import {
    /// The grains, in an order in which they can be stored: what a grain names comes before it.
    pub records: Vec<Record>,
    /// What is wrong without being a reason to refuse the rest: the first 10,000.
    pub findings: Vec<Error>,
    /// How many more findings there are.
    pub unlisted: u64,
    /// What is not in the records, by the field that names it.
    pub loss: Loss,
    /// The vectors of its memories, or of those of earlier files.
    pub vectors: Vec<ForeignVector>,
    /// The export that an incremental one goes on from (PAM 16).
    pub base: Option<ForeignId>,
    /// What became of the signature.
    pub signature: Option<Signature>,
}

/// Reads a memory store: its file, the directory that holds it, or a ZIP archive of that.
///
/// Conversations are read from files below the directory of the store, never from elsewhere. Places
/// are JSON pointers; in a conversation's file they follow its name and `#`.
///
/// # Errors
/// Everything that is wrong, if anything is that the records cannot be trusted without: the codes
/// `PAM_*`, those of grains, and `ERR_IO`.
pub fn read(path: &Path, options: &Options) -> Result<Import, Vec<Error>> {
    collect(open(path, options)?)
}

/// Validates a memory store, whose records are made when they are asked for.
///
/// # Errors
/// As [`read`].
pub(in crate::interchange) fn open(
    path: &Path,
    options: &Options,
) -> Result<(File, Validation), Vec<Error>> {
    let file = if path.is_dir() {
        let none = || {
            let message = "the directory holds no memory store";
            types::object::fault(code::SCHEMA_ID, String::new(), message)
        };
        let found = locate(path).and_then(|file| file.ok_or_else(none));
        found.map_err(|error| vec![error])?
    } else {
        path.to_path_buf()
    };
    let part = SourceFile::at(&file).map_err(|source| vec![files::storage::io(source)])?;
    let folder = file.parent().map(|folder| match folder.as_os_str() {
        name if name.is_empty() => PathBuf::from("."),
        _ => folder.to_path_buf(),
    });
    open_part(
        part,
        folder.map_or(ConversationFiles::Nowhere, ConversationFiles::Below),
        options,
    )
}

/// Reads a memory store from its bytes; the conversations it keeps in files are a [`Loss`], unless
/// the bytes are a ZIP archive that has them.
///
/// ```
/// use grainstore::interchange::pam;
///
/// let store = br#"{"schema": "portable-ai-memory", "schema_version": "1.0",
///     "owner": {"id": "mira"}, "memories": []}"#;
/// let import = pam::read_bytes(store, &pam::Options::default()).unwrap();
/// assert_eq!(import.records.len(), 1);
/// assert_eq!(pam::residual(&import.records[0].grain).unwrap().as_map().unwrap().len(), 4);
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(bytes: &[u8], options: &Options) -> Result<Import, Vec<Error>> {
    collect(open_bytes(bytes, options)?)
}

/// Validates a memory store that is nowhere else in the clear.
///
/// # Errors
/// As [`read`].
pub(in crate::interchange) fn open_bytes(
    bytes: &[u8],
    options: &Options,
) -> Result<(File, Validation), Vec<Error>> {
    let part = SourceFile::Whole(SharedSource::here(bytes));
    open_part(part, ConversationFiles::Nowhere, options)
}

fn open_part(
    part: SourceFile,
    conversation_files: ConversationFiles,
    options: &Options,
) -> Result<(File, Validation), Vec<Error>> {
    let is_zip = part.is_zip();
    if !is_zip.map_err(|source| vec![files::storage::io(source)])? {
        return File::open(part, conversation_files, options);
    }
    let files = FileSet::of(part, "", files::archive::is_json);
    let (store, packed) = files
        .and_then(files::archive::unpack)
        .map_err(|error| vec![error])?;
    File::open(store, packed, options)
}

fn collect((file, validated): (File, Validation)) -> Result<Import, Vec<Error>> {
    let mut records = Vec::new();
    let one = |error| vec![error];
    let read = file.each(&mut |record| {
        records.push(record);
        true
    });
    read.map_err(one)?;
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

/// Reads what a document says beside its long arrays.
///
/// # Errors
/// What is wrong with the JSON, outside of them.
fn outline(part: &SourceFile, arrays: &'static [&'static str]) -> Result<Value, JsonError> {
    let none = |_: Value, _: Position| ();
    let read = part.read(BUFFER_LEN, |input| {
        JsonRecords::stream(input, arrays, |_| false, none, |()| true)
    })?;
    Ok(read?.unwrap_or(Value::Nil))
}

/// Says what is wrong with the text of a store.
fn broken(part: &SourceFile, error: JsonError) -> Error {
    broken_in(part, "", error)
}

/// Says what is wrong with the text of a file.
fn broken_in(part: &SourceFile, file: &str, error: JsonError) -> Error {
    match error {
        JsonError::Flaw(_, message) => no_json(file, message),
        JsonError::Io(source) => part.wrong(file, source),
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

/// What the ids of exports are told apart by.
pub(in crate::interchange) const EXPORT: &str = "pam:export";

/// The arrays of a store whose elements are grains of their own.
const ARRAYS: [&str; 3] = ["memories", "relations", "conversations_index"];
const MEMORIES: usize = 0;
const RELATIONS: usize = 1;
const ENTRIES: usize = 2;

/// What a conversation that was not read is counted under.
const CONVERSATION_LOSS: &str = "conversations_index.storage";
