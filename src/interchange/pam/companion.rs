//! A conversation or an embeddings file that comes without its store.

use crate::codec::{Map, Value};
use crate::interchange::{Error, ForeignId, ForeignVector, VectorOf};

use super::conversation::{Conversation, Entry};
use super::document::{Document, head};
use super::embeddings::Embeddings;
use super::import::Talks;
use super::object::Object;
use super::{CONVERSATION, Import, Names, Options, import, judge, parse, store_of};

/// Reads a conversation document, as that of [`owner`](field@Options::owner).
///
/// ```
/// use grainstore::interchange::pam;
///
/// let file = br#"{"schema": "portable-ai-memory-conversation", "schema_version": "1.0",
///     "id": "c", "provider": {"name": "claude"}, "messages": [],
///     "temporal": {"created_at": "2026-01-15T10:30:00Z"}}"#;
/// let import = pam::read_conversation(file, &pam::Options::default()).unwrap();
/// assert_eq!(import.records[0].grain.text("session_id"), Some("c"));
/// ```
///
/// # Errors
/// Everything that is wrong, if anything is that the messages cannot be read without: `PAM_*`.
pub fn read_conversation(bytes: &[u8], options: &Options) -> Result<Import, Vec<Error>> {
    let value = parse(bytes, "").map_err(|error| vec![error])?;
    let read = entry_of(&value).and_then(|(entry, version)| {
        let read = Entry::read(Object::new(&entry, String::new())?)?;
        Conversation::read(&value, "", &read, &version)?;
        Ok((entry, version))
    });
    let (entry, version) = match read {
        Ok(read) => read,
        Err(error) => {
            let mut minded = Vec::new();
            judge::conversation(&value, "", &mut minded);
            let mut faults = vec![error];
            judge::mind(minded, options, &mut faults, &mut Vec::new());
            return Err(faults);
        }
    };
    let store = store_of(options.owner(), &version, vec![entry], Vec::new());
    // What is wrong with the entry is wrong with the document, and told of that.
    let made = Options::default();
    let document = Document::read(&store, &made, &mut Vec::new())?;
    let talks = Talks::Alone(&value);
    import::import(&document, talks, Names::PAM, options, Vec::new())
}

/// Returns the entry of an index that a conversation would have, and its version.
fn entry_of(value: &Value) -> Result<(Value, String), Error> {
    let (root, version) = head(value, CONVERSATION, "")?;
    let platform = root.required_object("provider")?.platform("name")?;
    let mut entry = Map::new();
    entry.insert("id", root.required_text("id")?);
    entry.insert("platform", platform);
    if let Some(title) = root.text("title")? {
        entry.insert("title", title);
    }
    let temporal = root.required_object("temporal")?;
    temporal.required_time("created_at")?;
    entry.insert("temporal", Value::Map(temporal.map.clone()));
    Ok((Value::Map(entry), version.to_owned()))
}

/// Reads an embeddings file, as that of the memories of [`owner`](field@Options::owner).
///
/// # Errors
/// As [`read_conversation`].
pub fn read_embeddings(bytes: &[u8], options: &Options) -> Result<Import, Vec<Error>> {
    let value = parse(bytes, "").map_err(|error| vec![error])?;
    let mut read = Import::default();
    let mut minded = Vec::new();
    let embeddings = Embeddings::read(&value, "", None, &mut minded, &mut read.loss);
    let mut faults = Vec::new();
    let embeddings = embeddings.unwrap_or_else(|error| {
        faults.push(error);
        Embeddings::default()
    });
    judge::mind(minded, options, &mut faults, &mut read.findings);
    if !faults.is_empty() {
        return Err(faults);
    }
    let of = |memory_id: &str| ForeignId {
        format: Names::PAM.memory,
        scope: options.owner().to_owned(),
        id: memory_id.to_owned(),
    };
    let kept = embeddings.kept.into_iter();
    let kept = kept.map(|one| ForeignVector {
        of: VectorOf::Named(of(one.memory_id)),
        model: one.model.to_owned(),
        place: one.place(),
        numbers: one.numbers,
        record: one.record,
    });
    read.vectors = kept.collect();
    Ok(read)
}
