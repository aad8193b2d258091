//! Routes for files: import and export in every format, confined to the scope of the token.
//!
//! Both are the owner's in the library, so each is confined here: an import to records that the token
//! might have put, an export to grains that it sees.

use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};

use data_encoding::HEXLOWER;
use grainstore::codec::{Profile, Value as Field};
use grainstore::crypto::Did;
use grainstore::interchange::{
    ForeignId, Format, ImportFile, ReadOptions, Record, RecordSet, WriteOptions,
};
use grainstore::query::Sort;
use grainstore::store::{Clock, Summary, SystemClock};
use grainstore::{ContentAddress, Draft, ErrorCode, Filter, Grain, Store, Type};
use serde_json::{Value, json};

use super::request::ExportBody;
use crate::http::answer::{ANSWER_LEN_MAX, Answer};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::idempotency::digest;
use crate::http::token_scope::TokenScope;

/// Stores the records of a file, and tells how far it is.
pub(crate) fn import(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let format = call.param("format").map(format_named).transpose()?;
    let options = ReadOptions {
        default_created_at: Some(call.now),
        // The owner of records without one, where the format leaves that to the caller.
        scope: scope.holder.grant.user.clone(),
        ..ReadOptions::default()
    };
    let file = ImportFile::of_bytes(&call.body, format, &options)?;
    if let Some(error) = file.errors.first() {
        return Err(Failure::of(error.code(), error.to_string()));
    }
    let is_by_actor = is_native(file.format);
    let (file, dropped) = confine(scope, file)?;
    let store = scope.importer(is_by_actor)?;
    Ok(Answer::Job(Box::new(move |tell| {
        let summary =
            store.import_with(file, &mut |records| tell(json!({ "records": records })))?;
        Ok(json!({ "summary": summary_json(&summary, dropped) }))
    })))
}

/// Writes what the token sees of the grains that pass a filter.
pub(crate) fn export(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: ExportBody = call.json()?;
    let format = format_named(&body.format)?;
    let namespace = body.filter.namespace.as_deref();
    let filter = scope.narrow(body.filter.filter()?);
    let seen = seen(scope.view(namespace)?, &filter)?;
    let options = WriteOptions {
        // A damaged grain of one tenant keeps no other from an export.
        skip_damaged: true,
        with_embeddings: body.with_embeddings,
        now: Some(SystemClock.now()),
        ..WriteOptions::default()
    };
    let filter = filter.with_expired().among(seen);
    let media = match format {
        Format::Jsonl | Format::OmiJsonl | Format::AimemNdjson => "application/x-ndjson",
        Format::Mg => "application/octet-stream",
        _ => "application/json",
    };
    let file = spool(|file| {
        scope
            .owner()
            .admin()?
            .export(format, &filter, &options, file)?;
        Ok(())
    })?;
    Ok(Answer::Spool(media, file, Vec::new()))
}

/// Returns the addresses of the grains that a handle sees: an export of the owner knows no clearance
/// and no delegation.
///
/// # Errors
/// Storage errors.
pub(crate) fn seen(view: &Store, filter: &Filter) -> Result<Vec<ContentAddress>, Failure> {
    // An export needs the envelope of a file to write it as it came.
    let filter = filter.clone().with_expired().with_envelopes();
    let filter = filter.up_to_bytes(ANSWER_LEN_MAX);
    let (mut addresses, mut after) = (Vec::new(), None);
    loop {
        let page = view.query_sorted(&filter, Sort::of(&filter), PAGE_LEN, after)?;
        addresses.extend(page.results.iter().map(|found| found.address));
        after = page.next_cursor;
        if after.is_none() {
            return Ok(addresses);
        }
    }
}

/// Writes a file without a name, so that a slow reader keeps neither a thread nor the memory.
///
/// # Errors
/// `ERR_IO`, and those of `write`.
pub(crate) fn spool(
    write: impl FnOnce(&mut std::fs::File) -> Result<(), Failure>,
) -> Result<std::fs::File, Failure> {
    let failed = |_| Failure::busy(503, ErrorCode::Io.as_str(), "no room for the answer");
    let mut file = tempfile::tempfile().map_err(failed)?;
    write(&mut file)?;
    file.flush().map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(file)
}

/// Returns a file with the records that the token may store, and how many vectors were left out.
///
/// Ids of foreign records are unique inside a file's owner or producer, and not among tenants: each
/// tenant gets ids of its own, so that none updates, or learns of, a record of another.
///
/// # Errors
/// `ERR_ACCESS_DENIED` for a record outside the scope, `ERR_NOT_FOUND` for one that links outside.
pub(crate) fn confine(scope: &TokenScope, file: ImportFile) -> Result<(ImportFile, u64), Failure> {
    let grant = &scope.holder.grant;
    let mut file = file;
    let mut records = std::mem::take(&mut file.records).into_vec()?;
    if file.format == Format::Jsonl {
        written_by(&scope.holder.actor, &mut records)?;
    }
    for (index, record) in records.iter().enumerate() {
        admit_author(scope, &record.grain).map_err(|it| it.at(index))?;
    }
    if !grant.is_confined() {
        file.records = RecordSet::from(records);
        return Ok((file, 0));
    }
    let names = format!("{:?} {:?}", grant.user, grant.namespaces);
    let names = digest(&[names.as_bytes()]);
    let tenant = HEXLOWER.encode(names.first_chunk::<16>().unwrap_or(&[0; 16]));
    let own = |id: ForeignId| {
        let scope = format!("{} of {tenant}", id.scope());
        ForeignId::new(id.format().to_owned(), scope, id.id())
    };
    let ImportFile { vectors, base, .. } = file;
    let addresses: std::collections::HashSet<_> = records
        .iter()
        .map(|record| record.grain.address())
        .collect();
    for (index, record) in records.iter_mut().enumerate() {
        let beside = |link: &ContentAddress| addresses.contains(link);
        scope
            .admit(&record.grain, &beside)
            .map_err(|it| it.at(index))?;
        record.foreign_id = record.foreign_id.take().map(own);
        record.replaced_by = record.replaced_by.take().map(own);
        if let Some(by) = record.status.superseded_by
            && !addresses.contains(&by)
            && !scope.sees(&by)?
        {
            return Err(Failure::unseen(&by).at(index));
        }
    }
    let dropped = vectors.len();
    let confined = ImportFile {
        records: RecordSet::from(records),
        base: base.map(own),
        errors: file.errors,
        findings: file.findings,
        loss: file.loss,
        signature: file.signature,
        footer: file.footer,
        ..ImportFile::new(file.format)
    };
    Ok((confined, dropped))
}

/// Whether a file has grains as they are stored, which a put would take too.
const fn is_native(format: Format) -> bool {
    matches!(format, Format::Jsonl | Format::Mg)
}

/// Judges whose grain a record is: an unsigned one in another's name is not theirs to bring, and a consent
/// is given and withdrawn by a party to it.
///
/// # Errors
/// `ERR_ACCESS_DENIED`.
fn admit_author(scope: &TokenScope, grain: &Grain) -> Result<(), Failure> {
    let author = grain.text("author_did");
    let is_own = author == Some(scope.holder.actor.as_str());
    let is_admitted = match grain.type_() {
        _ if grain.is_signed() || is_own => true,
        Type::Consent => false,
        _ => author.is_none(),
    };
    match is_admitted {
        true => Ok(()),
        false => Err(Failure::of(
            ErrorCode::AccessDenied,
            "a record in the name of another than the actor of the token",
        )),
    }
}

/// Gives records without an author the actor of the token, as a put does, and links between them their
/// new addresses.
///
/// # Errors
/// The codes of grains.
fn written_by(actor: &Did, records: &mut [Record]) -> Result<(), Failure> {
    let mut renamed: HashMap<ContentAddress, ContentAddress> = HashMap::new();
    for record in &mut *records {
        let grain = &record.grain;
        let is_open = grain.is_signed() || grain.is_encrypted();
        if is_open || grain.text("author_did").is_some() {
            continue;
        }
        let draft = Draft::new(grain.type_()).encoding(grain.encoding());
        let draft = grain.fields().iter().fold(draft, |draft, (name, value)| {
            draft.set(name, with_addresses(value, &renamed))
        });
        let new = draft.author(actor.as_str()).finish(Profile::Extended)?;
        renamed.insert(grain.address(), new.address());
        record.grain = new;
    }
    for record in records {
        let successor = &mut record.status.superseded_by;
        *successor = successor.map(|by| renamed.get(&by).copied().unwrap_or(by));
    }
    Ok(())
}

fn with_addresses(value: &Field, renamed: &HashMap<ContentAddress, ContentAddress>) -> Field {
    match value {
        Field::Text(text) => {
            let known = ContentAddress::from_reference(text).ok();
            let new = known.and_then(|known| Some((known, renamed.get(&known)?)));
            match new {
                Some((known, new)) => {
                    Field::Text(text.replace(&known.to_string(), &new.to_string()))
                }
                None => value.clone(),
            }
        }
        Field::Array(items) => {
            let items = items.iter().map(|item| with_addresses(item, renamed));
            Field::Array(items.collect())
        }
        Field::Map(map) => {
            let members = map.iter();
            let members = members.map(|(name, item)| (name, with_addresses(item, renamed)));
            Field::Map(members.collect())
        }
        other => other.clone(),
    }
}

/// Returns the summary of an import.
pub(crate) fn summary_json(summary: &Summary, dropped: u64) -> Value {
    let conflicts = summary.conflicts.iter().map(|conflict| {
        json!({
            "id": conflict.id.id(),
            "existing": conflict.existing.to_string(),
            "kept": conflict.kept.map(|address| address.to_string()),
        })
    });
    let denied = summary.denied.iter().map(
        |denied| json!({ "existing": denied.existing.to_string(), "rule": denied.rule.name() }),
    );
    let refused = summary.refused.iter();
    let refused = refused.map(|error| json!({ "code": error.code().as_str() }));
    let loss: serde_json::Map<_, _> = summary
        .loss
        .iter()
        .map(|(name, count)| (name.to_owned(), json!(count)))
        .collect();
    json!({
        "inserted": summary.inserted,
        "updated": summary.updated,
        "unchanged": summary.unchanged,
        "embedded": summary.embedded,
        "dropped_embeddings": dropped,
        "conflicts": conflicts.collect::<Vec<_>>(),
        "denied": denied.collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
        "erased": summary.erased.len(),
        "unapplied": summary.unapplied.len(),
        "loss": loss,
        "complete": summary.is_complete(),
    })
}

fn format_named(name: &str) -> Result<Format, Failure> {
    Format::named(name).ok_or_else(|| Failure::usage(format!("{name} is no format")))
}

const PAGE_LEN: usize = 1_000;
