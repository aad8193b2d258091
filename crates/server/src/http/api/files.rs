//! Routes for files: import and export in every format, confined to the scope of the token.
//!
//! An import is confined in `confine`, an export by the library: to what the token sees.

use std::io::{Seek, SeekFrom, Write};

use grainstore::ErrorCode;
use grainstore::interchange::{ForeignId, Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::{Clock, Summary, SystemClock};
use serde_json::{Value, json};

use super::confine::confine;
use super::request::{ExportBody, filter_of};
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;

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
    let file = ImportFile::of_file(call.upload()?, format, &options)?;
    if let Some(error) = file.errors.first() {
        return Err(Failure::of(error.code(), error.to_string()));
    }
    let (file, dropped) = confine(scope, file)?;
    let store = scope.importer()?;
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
    scope.asked(body.filter.namespace.as_deref())?;
    let filter = filter_of(&body.filter)?.with_expired();
    let options = WriteOptions {
        // A damaged grain of one tenant keeps no other from an export.
        skip_damaged: true,
        with_embeddings: body.with_embeddings,
        now: Some(SystemClock.now()),
        ..WriteOptions::default()
    };
    let media = match format {
        Format::Jsonl | Format::OmiJsonl | Format::AimemNdjson => "application/x-ndjson",
        Format::Mg => "application/octet-stream",
        _ => "application/json",
    };
    let file = spool(|file| {
        let admin = scope.admin()?;
        admin.export(format, &filter, &options, file)?;
        Ok(())
    })?;
    Ok(Answer::Spool(media, file, Vec::new()))
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

/// Returns the summary of an import.
pub(crate) fn summary_json(summary: &Summary, dropped: u64) -> Value {
    let conflicts = summary.conflicts.iter().map(|conflict| {
        json!({
            "id": conflict.id.as_ref().map(ForeignId::id),
            "existing": conflict.versions.first().map(ToString::to_string),
            "kept": conflict.versions.get(1).map(ToString::to_string),
        })
    });
    let denied = summary.denied.iter().map(
        |(_, existing, rule)| json!({ "existing": existing.to_string(), "rule": rule.name() }),
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
