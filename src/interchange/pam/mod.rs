//! Portable AI Memory 1.0: one JSON document and the conversations it names, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]), so that nothing
//! the mapping has no field for is lost. Grains depend on the records alone: the same file always
//! gives the same addresses. What breaks a rule that grains depend on is refused; the other rules of
//! the text and the schemas are findings, unless the file is held to all of them (PAM 3–25).

mod code;
mod companion;
mod conversation;
mod document;
mod embeddings;
mod import;
mod judge;
mod memory;
mod message;
mod narrow;
mod native_memory;
mod object;
mod order;
mod owner;
mod packed;
mod relation;
mod signature;
mod residual;
mod schema;
mod shapes;
mod storage;
mod spelling;
mod uuid;
mod vectors;
mod write;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::codec::{Map, Profile, Value};

use super::archive::{Bytes, is_zip_here};
use super::{Error, ForeignId, ForeignVector, Loss, Place, Record, Signature};

pub use companion::{read_conversation, read_embeddings};
pub(super) use import::Names;
use owner::Owner;
pub(in crate::interchange) use packed::is_packed;
pub use residual::{conversation_residual, residual};
pub(in crate::interchange) use residual::{is_ended, is_exportable, is_relation};
pub(in crate::interchange) use spelling::content_hash;
pub(in crate::interchange) use storage::locate;
pub use write::{Document, EMBEDDINGS, STORE};

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
    /// What is wrong without being a reason to refuse the rest.
    pub findings: Vec<Error>,
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
    let found;
    let file = if path.is_dir() {
        let none = || {
            let message = "the directory holds no memory store";
            object::fault(code::SCHEMA_ID, String::new(), message)
        };
        found = locate(path).and_then(|file| file.ok_or_else(none));
        found.map_err(|error| vec![error])?
    } else {
        path.to_path_buf()
    };
    let bytes = fs::read(&file).map_err(|source| vec![storage::io(source)])?;
    if is_zip_here(&bytes) {
        return read_bytes(&bytes, options);
    }
    let folder = file.parent().map(|folder| match folder.as_os_str() {
        name if name.is_empty() => Path::new("."),
        _ => folder,
    });
    let talks = folder.map_or(import::Talks::Nowhere, import::Talks::Below);
    read_store(&bytes, talks, options)
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
    if is_zip_here(bytes) {
        let unpacked = packed::unpack(Bytes::Here(bytes)).map_err(|error| vec![error])?;
        let (store, packed) = unpacked;
        return read_store(&store, import::Talks::Packed(&packed), options);
    }
    read_store(bytes, import::Talks::Nowhere, options)
}

fn read_store(
    bytes: &[u8],
    talks: import::Talks<'_>,
    options: &Options,
) -> Result<Import, Vec<Error>> {
    let value = parse(bytes, "").map_err(|error| vec![error])?;
    let mut findings = Vec::new();
    let document = document::Document::read(&value, options, &mut findings)?;
    import::import(&document, talks, Names::PAM, options, findings)
}

/// What another reader has put into the form of PAM.
pub(super) struct Made {
    pub(super) owner: String,
    /// Of each conversation its entry of the index, and its document.
    pub(super) conversations: Vec<(Value, Value)>,
    pub(super) memories: Vec<Value>,
}

/// Makes the grains of what another reader has put into the form of PAM.
pub(super) fn import_made(
    all: Made,
    names: Names,
    profile: Profile,
    mut findings: Vec<Error>,
) -> Result<Import, Vec<Error>> {
    let mut made = HashMap::new();
    let mut index = Vec::new();
    for (entry, document) in all.conversations {
        let id = entry.as_map().and_then(|entry| entry.get("id")?.as_text());
        let id = id.unwrap_or_default().to_owned();
        if made.contains_key(&id) {
            let message = format!("conversation {id} comes twice; the first one counts");
            findings.push(object::fault(code::DUPLICATE_ID, String::new(), message));
            continue;
        }
        made.insert(id, document);
        index.push(entry);
    }
    let mut known = HashSet::new();
    let mut memories = all.memories;
    memories.retain(|memory| {
        let id = memory
            .as_map()
            .and_then(|memory| memory.get("id")?.as_text());
        let is_new = known.insert(id.unwrap_or_default().to_owned());
        if !is_new {
            let message = format!(
                "{} comes twice; the first one counts",
                id.unwrap_or_default()
            );
            findings.push(object::fault(code::DUPLICATE_ID, String::new(), message));
        }
        is_new
    });
    let store = store_of(&all.owner, "1.0", index, memories);
    let options = Options {
        profile,
        ..Options::default()
    };
    let document = document::Document::read(&store, &options, &mut findings)?;
    import::import(
        &document,
        import::Talks::Made(&made),
        names,
        &options,
        findings,
    )
}

/// Returns a store that has nothing but these.
fn store_of(owner: &str, version: &str, index: Vec<Value>, memories: Vec<Value>) -> Value {
    let owner: Map = [("id", owner)].into_iter().collect();
    let mut store = Map::new();
    store.insert("schema", SCHEMA);
    store.insert("schema_version", version);
    store.insert("owner", owner);
    store.insert("memories", memories);
    store.insert("conversations_index", index);
    Value::Map(store)
}

/// Reads JSON strictly; `file` names another file than the store itself.
fn parse(bytes: &[u8], file: &str) -> Result<Value, Error> {
    let fault = |message: String| Error::Format {
        code: code::JSON,
        place: if file.is_empty() {
            Place::File
        } else {
            Place::Pointer(format!("{file}#"))
        },
        message,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| fault(error.to_string()))?;
    Value::from_json(text).map_err(|error| fault(error.to_string()))
}

const SCHEMA: &str = "portable-ai-memory";
const CONVERSATION: &str = "portable-ai-memory-conversation";

/// What the ids of exports are told apart by.
pub(in crate::interchange) const EXPORT: &str = "pam:export";
