//! Conversations and embeddings files without their store.

use crate::codec::{Map, Value};
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::{
    Diagnostics, Error, ForeignVectors, Format, ImportFile, ReadOptions, Record,
};

use super::super::json::parse;
use super::super::names::{CONVERSATION, CONVERSATION_LOSS};
use super::super::schema::validate;
use super::super::types::conversation::{Conversation, IndexEntry};
use super::super::types::embeddings::Embeddings;
use super::super::types::head::head;
use super::super::types::object::Object;
use super::build::{Names, RecordBuilder};
use super::convert::{head_of, store_of};
use super::vectors::Vectors;

/// Reads a conversation document of the owner in [`scope`](field@ReadOptions::scope).
///
/// # Errors
/// All errors, if any of them keeps the messages from being read: `PAM_*`.
pub(crate) fn read_conversation(bytes: &[u8], options: &ReadOptions) -> ReadResult {
    let value = parse(bytes, "").map_err(|error| vec![error])?;
    let read = entry_of(&value).and_then(|(entry, version)| {
        let read = IndexEntry::read(Object::new(&entry, String::new())?)?;
        Conversation::read(&value, "", &read, &version)?;
        Ok((entry, version))
    });
    let (entry, version) = match read {
        Ok(read) => read,
        Err(error) => {
            let (mut violations, mut faults) = (Diagnostics::default(), Diagnostics::default());
            validate::conversation(&value, "", &mut violations);
            faults.push(error);
            validate::report_non_fatal(
                violations,
                options,
                &mut faults,
                &mut Diagnostics::default(),
            );
            return Err(faults.list.into());
        }
    };
    let store = store_of(options.owner(), &version);
    let one = |error| vec![error];
    let head = head_of(&store).map_err(one)?;
    let builder = RecordBuilder {
        owner: head.owner,
        version: head.version,
        names: Names::PAM,
        profile: options.profile,
    };
    let at = "/conversations_index/0".to_owned();
    let entry = Object::new(&entry, at)
        .and_then(IndexEntry::read)
        .map_err(one)?;
    let conversation = builder.conversation(&entry, Some((&value, "")));
    let (mut faults, mut findings) = (Diagnostics::default(), Diagnostics::default());
    let mut file = ImportFile::new(Format::PamConversation);
    let messages = conversation.messages.into_iter().map(|(_, record)| record);
    let mut records: Vec<Record> = messages.collect();
    let whole = conversation.whole;
    records.extend(whole.and_then(|whole| faults.keep(whole)));
    let mut non_fatal = Diagnostics::default();
    if let Some(error) = conversation.fault {
        non_fatal.push(error);
        file.loss.count(CONVERSATION_LOSS);
    }
    validate::conversation(&value, "", &mut non_fatal);
    validate::report_non_fatal(non_fatal, options, &mut faults, &mut findings);
    if !faults.is_empty() {
        return Err(faults.list.into());
    }
    file.records = records.into();
    file.findings = findings.into();
    Ok(file)
}

/// Returns the index entry that a conversation would have, and its version.
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

/// Validates an embeddings file of the memories of the owner in
/// [`scope`](field@ReadOptions::scope), whose vectors are read when they are asked for.
pub(crate) fn read_embeddings(part: SourceFile, options: &ReadOptions) -> ReadResult {
    let embeddings = Embeddings {
        part,
        file: String::new(),
        version: None,
    };
    let mut file = ImportFile::new(Format::PamEmbeddings);
    let (mut non_fatal, mut faults) = (Diagnostics::default(), Diagnostics::default());
    let mut len = 0_u64;
    let read = embeddings.read(&mut non_fatal, &mut file.loss, &mut |_| {
        len = len.saturating_add(1);
        true
    });
    faults.keep(read);
    let mut findings = Diagnostics::default();
    validate::report_non_fatal(non_fatal, options, &mut faults, &mut findings);
    if !faults.is_empty() {
        return Err(faults.list.into());
    }
    file.findings = findings.into();
    file.vectors = ForeignVectors::new(Vectors {
        file: embeddings,
        len,
        owner: options.owner().to_owned(),
        of: None,
        is_delta: true,
    });
    Ok(file)
}
