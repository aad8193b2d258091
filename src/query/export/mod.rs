//! Export of grains to a stream, in any format that can be written.
//!
//! Selection and withholding happen here; the encoding of each format is in `interchange`. Output
//! that needs several files is in `file.rs`.

mod entries;
mod file;
mod filter;
mod output;
mod revision;
mod sync;
mod tree;

pub(crate) use file::export_file;
pub(crate) use sync::sync_tree;

use std::borrow::Cow;
use std::io::{BufWriter, Write};

use crate::code::ErrorCode;
use crate::grain::Grain;
use crate::index::{RowSet, Snapshot};
use crate::interchange::{
    EncryptedWriter, Encryption, Entries as _, Error as FileError, Export, Format, FormatWriter,
    Loss, Place, Revision, WriteOptions, Written, jsonl, mg,
};
use crate::policy::Capability;
use crate::store::audit::record_export;
use crate::store::read::locked_persons;
use crate::store::{Access, Owner};

use self::entries::{StoreEntries, copied, entries};
use self::revision::InRevision;
use super::condition::Condition;
use super::plan::rows_and_withheld;
use super::run_query::pages;
use super::{Error, Filter};

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// The number of grains written; for formats of records, the number of records.
    pub grains: u64,
    /// The number of files written.
    pub files: u64,
    /// The facts about the grains that the format cannot carry.
    pub loss: Loss,
    /// The entry of the ledger that the next increment begins with
    /// ([`WriteOptions::changed_from`]).
    pub next: u64,
}

/// See [`Admin::export`](crate::Admin::export).
pub(crate) fn export(
    owner: Owner<'_>,
    format: Format,
    filter: &Filter,
    options: &WriteOptions,
    out: &mut impl Write,
) -> Result<ExportReport, Error> {
    check_options(format, options)?;
    let filter = &*confined(owner, filter)?;
    let beside = matches!(format, Format::Aimem | Format::AimemNdjson);
    if options.sign.is_some() && beside {
        return Err(unsupported(
            "a signature stands beside its bundle, in a file",
        ));
    }
    // Grains that are stored while it is written are in the next increment, perhaps in this one too.
    let next = owner.store().snapshot().watermark();
    let exported = match &options.encryption {
        None => export_plain(owner, format, filter, options, out),
        Some(seal) => sealed(seal, out, |out| {
            export_plain(owner, format, filter, options, out)
        }),
    }?;
    recorded(owner, format, filter, exported, next)
}

/// Returns the filter of what the handle sees on whose behalf it acts: an export knows no clearance and no
/// delegation.
pub(super) fn confined<'f>(owner: Owner<'_>, filter: &'f Filter) -> Result<Cow<'f, Filter>, Error> {
    let Some(handle) = owner.within() else {
        return Ok(Cow::Borrowed(filter));
    };
    // An export needs the envelope of a file to write it as it came.
    let asked = filter.clone().with_expired().with_envelopes();
    let asked = asked.up_to_bytes(SEEN_LEN);
    let mut seen = Vec::new();
    for page in pages(handle, asked, SEEN_AT_ONCE) {
        seen.extend(page?.results.iter().map(|found| found.address));
    }
    let filter = match handle.capability().and_then(Capability::user) {
        Some(user) => filter.clone().user(user),
        None => filter.clone(),
    };
    Ok(Cow::Owned(filter.with_expired().among(seen)))
}

/// Writes without encryption.
pub(super) fn export_plain(
    owner: Owner<'_>,
    format: Format,
    filter: &Filter,
    options: &WriteOptions,
    out: &mut impl Write,
) -> Result<ExportReport, Error> {
    match format {
        Format::Mg => {
            let entries = copied(owner, filter, options)?;
            let (file, list) = InRevision::of(&entries, revision_of(options)?)?;
            let fetch = |address| file.fetch(&address);
            let summary = mg::write(out, list, options, fetch)?;
            let mut exported = ExportReport::default();
            exported.add(&summary);
            exported.loss.merge(file.loss());
            exported.loss.merge(&entries.loss());
            entries.count_vectors(|_| false, &mut exported.loss)?;
            Ok(exported)
        }
        Format::Jsonl => {
            let entries = copied(owner, filter, options)?;
            let mut exported = write_jsonl(&entries, options, out)?;
            exported.loss.merge(&entries.loss());
            entries.count_vectors(|_| false, &mut exported.loss)?;
            Ok(exported)
        }
        Format::Markdown => Err(unsupported("a tree of Markdown is written to a directory")),
        _ => {
            let writer = writer_of(format)?;
            let entries = entries(owner, filter, options)?;
            let mut out = BufWriter::new(out);
            let export = Export {
                format,
                entries: &entries,
                options,
            };
            let written = writer.write(&export, &mut out)?;
            out.flush().map_err(io_error)?;
            let mut exported = ExportReport::of(written, 1, &entries.loss());
            let is_held = |grain: &Grain| writer.holds_vector(grain, options);
            entries.count_vectors(is_held, &mut exported.loss)?;
            Ok(exported)
        }
    }
}

/// Returns the report of an export that is done, once it is recorded.
pub(crate) fn recorded(
    owner: Owner<'_>,
    format: Format,
    filter: &Filter,
    mut exported: ExportReport,
    next: u64,
) -> Result<ExportReport, Error> {
    exported.next = next;
    let lost = exported.loss.iter().map(|(_, count)| count).sum();
    let counts = [exported.grains, exported.files, lost];
    // A file that is complete is no error because its export could not be noted.
    record_export(owner, format.name(), &filter.fields(), counts)?;
    Ok(exported)
}

/// Returns the rows that pass the filter, and counts those withheld for a missing consent as
/// loss.
pub(super) fn exportable_rows(
    store: &Access,
    snapshot: &Snapshot,
    filter: &Filter,
    loss: &mut Loss,
) -> Result<RowSet, Error> {
    // The reader of a file decides what to act on, so a file includes expired and unreviewed
    // grains.
    let filter = filter.clone().with_unreviewed().with_expired();
    let filter = filter.with_envelopes();
    let (rows, consent_withheld) = rows_and_withheld(store, snapshot, &filter)?;
    (0..consent_withheld).for_each(|_| loss.count("consent withdrawn or missing"));
    let is_among = |it: &Condition| matches!(it, Condition::Among(_));
    // Whether a filter would pass what is sealed is not known; one that chooses persons and finds
    // them asks for no one else. A narrowed handle is not told who else there is.
    let is_found =
        (filter.names_user() || filter.conditions().iter().any(is_among)) && !rows.is_empty();
    if store.capability().is_none() && !is_found {
        (0..locked_persons(store)).for_each(|_| loss.count("locked person"));
    }
    Ok(rows)
}

impl ExportReport {
    pub(super) fn of(mut written: Written, files: u64, withheld: &Loss) -> Self {
        written.loss.merge(withheld);
        Self {
            grains: written.records,
            files,
            loss: written.loss,
            next: 0,
        }
    }

    pub(super) fn add(&mut self, summary: &mg::Summary) {
        self.grains += summary.grains;
        self.files += 1;
        self.loss.merge(&summary.loss);
    }
}

fn write_jsonl(
    entries: &StoreEntries<'_>,
    options: &WriteOptions,
    out: impl Write,
) -> Result<ExportReport, Error> {
    let revision = revision_of(options)?;
    let (file, list) = InRevision::of(entries, revision)?;
    let writer = jsonl::Writer::new(BufWriter::new(out));
    let mut writer = writer.in_revision(revision);
    let grains = u64::try_from(list.len()).unwrap_or(u64::MAX);
    for one in list {
        let (grain, original) = file.fetch_with_original(&one.address())?;
        writer.write(&grain, &one.status())?;
        writer.write_holds(one.address(), &entries.holds(&original))?;
    }
    writer.into_inner().flush().map_err(io_error)?;
    Ok(ExportReport {
        grains,
        files: 1,
        loss: file.loss().clone(),
        ..ExportReport::default()
    })
}

/// Writes encrypted output.
pub(super) fn sealed<W: Write, T>(
    seal: &Encryption,
    out: W,
    write: impl FnOnce(&mut EncryptedWriter<W>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut sealed = seal.wrap(out)?;
    let written = write(&mut sealed)?;
    sealed.finish()?;
    Ok(written)
}

/// Returns the writer of a format whose files are records, not copies of grains.
fn writer_of(format: Format) -> Result<&'static dyn FormatWriter<Error>, Error> {
    let writer = format.writer();
    writer.ok_or_else(|| unsupported(&format!("{format} is read, not written")))
}

/// Returns the revision of OMS that a file is asked for in.
fn revision_of(options: &WriteOptions) -> Result<Revision, Error> {
    let revision = Revision::named(options.revision.as_deref());
    revision.ok_or_else(|| unsupported("OMS is written in the revisions 1.3, 1.4 and 1.5"))
}

/// Refuses what would look redacted, or as of another revision, and is not.
fn check_options(format: Format, options: &WriteOptions) -> Result<(), Error> {
    let is_of_oms = matches!(format, Format::Mg | Format::Jsonl);
    if revision_of(options)? != Revision::V1_3 && !is_of_oms {
        return Err(unsupported(
            "only archives and JSON lines have a revision of OMS",
        ));
    }
    let writer = format.writer::<Error>();
    if options.redact && !writer.is_some_and(FormatWriter::is_redacted) {
        return Err(unsupported(
            "only PAM and OMI files are redacted: others hold grains whole, or no ids of platforms",
        ));
    }
    Ok(())
}

fn unsupported(message: &str) -> Error {
    Error::Interchange(FileError::Format {
        code: ErrorCode::Unsupported,
        place: Place::File,
        message: message.to_owned(),
    })
}

fn io_error(source: std::io::Error) -> Error {
    Error::Interchange(FileError::Io {
        place: Place::File,
        source,
    })
}

/// Grains of a page of what a handle sees, and its bytes: they are in memory at once.
const SEEN_AT_ONCE: usize = 1_000;
const SEEN_LEN: usize = 8 << 20;
