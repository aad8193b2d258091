//! Export of grains to a stream, in any format that can be written.
//!
//! Selection and withholding happen here; the encoding of each format is in `interchange`. Output
//! that needs several files is in `file.rs`.

mod file;
mod filter;
mod output;

use std::io::{BufWriter, Write};

use rayon::prelude::*;

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::{Grain, Status, Time};
use crate::index::{RowSet, Snapshot};
use crate::interchange::{
    EncryptedWriter, Encryption, Entry, Error as FileError, Format, Loss, Place, Vectors,
    WriteOptions, Written, aimem, jsonl, mg, omi, pam,
};
use crate::ledger::{EntryId, Kind};
use crate::store::{Admin, Store, Version};

use super::{Error, Filter};
use filter::ExportFilter;

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// The number of grains written; for formats of records, the number of records.
    pub grains: u64,
    /// The number of files written.
    pub files: u64,
    /// The facts about the grains that the format cannot carry.
    pub loss: Loss,
}

impl Admin<'_> {
    /// Writes the grains that pass a filter. Archives and JSON lines are ordered by `created_at`,
    /// then address; other formats by the order of storage, so that an import is exported in its
    /// original order. Expired grains and grains that await review are included. A grain whose
    /// bytes are damaged is left out, and its entry is in [`Loss::damaged`].
    ///
    /// Equal grains with equal status produce equal archives in any store.
    ///
    /// ```
    /// use grainstore::interchange::Format;
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// let mut archive = Vec::new();
    /// let exported = store.admin()?.export(Format::Mg, &Filter::new(), &Default::default(), &mut archive)?;
    /// assert_eq!(exported.grains, 1);
    /// assert!(archive.starts_with(b"MG\x01"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; `ERR_IO`; `ERR_UNSUPPORTED` for a format that is only read,
    /// and for a bundle with a signature ([`Admin::export_file`](crate::store::Admin::export_file) writes the signature to a file
    /// beside it); `ERR_MG_LIMIT` if one archive cannot hold the grains (`export_file` writes
    /// several); `mixed_producers`, `mixed_tenants` and `PAM_MIXED_OWNERS` for grains that one file
    /// of the format cannot hold together; `PAM_SIGNATURE_FORM` for a key that cannot sign.
    pub fn export(
        self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        out: &mut impl Write,
    ) -> Result<ExportReport, Error> {
        let beside = matches!(format, Format::Aimem | Format::AimemNdjson);
        if options.sign.is_some() && beside {
            return Err(unsupported(
                "a signature stands beside its bundle, in a file",
            ));
        }
        let exported = match &options.encryption {
            None => self.store().export_plain(format, filter, options, out),
            Some(seal) => sealed(seal, out, |out| {
                self.store().export_plain(format, filter, options, out)
            }),
        }?;
        self.recorded(format, filter, exported)
    }

    /// Returns the report of an export that is done, once it is recorded.
    fn recorded(
        self,
        format: Format,
        filter: &Filter,
        exported: ExportReport,
    ) -> Result<ExportReport, Error> {
        let lost = exported.loss.iter().map(|(_, count)| count).sum();
        let counts = [exported.grains, exported.files, lost];
        self.record_export(format.name(), &filter.fields(), counts)?;
        Ok(exported)
    }
}

impl Store {
    /// Writes without encryption.
    pub(super) fn export_plain(
        &self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        out: &mut impl Write,
    ) -> Result<ExportReport, Error> {
        match format {
            Format::Mg => {
                let mut exported = ExportReport::default();
                let chosen = self.choose(filter, options, &mut exported.loss)?;
                self.count_vectors(addresses(&chosen), &mut exported.loss)?;
                let fetch = |address| self.fetch(&address);
                let summary = mg::write(out, entries(&chosen), options.mg, fetch)?;
                exported.add(&summary);
                Ok(exported)
            }
            Format::Jsonl => {
                let mut loss = Loss::default();
                let chosen = self.choose(filter, options, &mut loss)?;
                self.count_vectors(addresses(&chosen), &mut loss)?;
                self.write_jsonl(&chosen, loss, out)
            }
            _ => {
                let mut loss = Loss::default();
                let entries = self.entries(filter, options, &mut loss)?;
                if format != Format::Pam {
                    // A bundle holds the vectors that came in one.
                    let without = |grain: &&Grain| grain.field("embedding_refs").is_none();
                    let is_bundle = matches!(format, Format::Aimem | Format::AimemNdjson);
                    let grains = entries.iter().map(|(grain, _)| grain);
                    let lost = grains.filter(|grain| !is_bundle || without(grain));
                    self.count_vectors(lost.map(Grain::address), &mut loss)?;
                }
                let mut out = BufWriter::new(out);
                let written = match format {
                    Format::Aimem => aimem::write(&mut out, &entries, options)?,
                    Format::AimemNdjson => aimem::write_stream(&mut out, &entries, options)?,
                    Format::Omi => omi::write(&mut out, &entries, options)?,
                    Format::OmiJsonl => omi::write_lines(&mut out, &entries, options)?,
                    Format::Provider(_) | Format::PamConversation | Format::PamEmbeddings => {
                        return Err(unsupported(&format!("{format} is read, not written")));
                    }
                    _ => {
                        let vectors = self.vectors_of(&entries, options)?;
                        let document =
                            pam::Document::with_vectors(&entries, &vectors, options, false)?;
                        let written = document.store.write_json(&mut out);
                        written.and_then(|()| writeln!(out)).map_err(io_error)?;
                        document.written
                    }
                };
                out.flush().map_err(io_error)?;
                Ok(ExportReport::of(written, 1, &loss))
            }
        }
    }

    /// Returns the grains that pass the filter and may leave the store, in the order of storage.
    pub(super) fn entries(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<Vec<Entry>, Error> {
        let snapshot = self.snapshot();
        let rows = self.exportable_rows(&snapshot, filter, loss)?;
        let rows: Vec<EntryId> = rows.iter().collect();
        let found = rows
            .par_iter()
            .map(|row| self.find_to_export(&snapshot, *row));
        let found = found.collect::<Result<Vec<Found>, Error>>()?;
        let mut entries = Vec::with_capacity(found.len());
        for found in found {
            match found {
                Found::Sound(version) => entries.push((version.grain, version.status)),
                Found::Damaged(row) => loss.add_damaged(row),
                Found::Erased => {}
            }
        }
        let export_filter =
            ExportFilter::by_policy(self, options.purpose).and_by_owner(&snapshot)?;
        let entries = export_filter.remove_from(entries, loss);
        let grains = entries.iter().map(|(grain, _)| grain);
        self.read_recorder("export").all(grains)?;
        Ok(entries)
    }

    /// Counts the vectors of grains that a format has no place for.
    pub(super) fn count_vectors(
        &self,
        grains: impl Iterator<Item = ContentAddress>,
        loss: &mut Loss,
    ) -> Result<(), Error> {
        // Most stores have none, and then no list of grains is made.
        if self.snapshot().of_kind(Kind::Embedding).set()?.is_empty() {
            return Ok(());
        }
        let lost = self.with_vectors(&grains.collect())?;
        (0..lost).for_each(|_| loss.count("embedding"));
        Ok(())
    }

    /// Returns the vectors of the exported grains, if the options ask for them.
    pub(super) fn vectors_of(
        &self,
        entries: &[Entry],
        options: &WriteOptions,
    ) -> Result<Vectors, Error> {
        if !options.with_embeddings {
            return Ok(Vectors::new());
        }
        let wanted = entries.iter().map(|(grain, _)| grain.address()).collect();
        self.stored_vectors(&wanted)
    }

    /// Returns the rows that pass the filter, and counts those withheld for a missing consent as
    /// loss.
    fn exportable_rows(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
        loss: &mut Loss,
    ) -> Result<RowSet, Error> {
        // The reader of a file decides what to act on, so a file includes expired and unreviewed
        // grains.
        let filter = filter.clone().with_unreviewed().with_expired();
        let filter = filter.with_envelopes();
        let (rows, consent_withheld) = self.rows_and_withheld(snapshot, &filter)?;
        (0..consent_withheld).for_each(|_| loss.count("consent withdrawn or missing"));
        Ok(rows)
    }

    /// Lists the grains in the order of the file. Grains that their owner does not share are left
    /// out if the file is for others.
    pub(super) fn choose(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<Vec<Chosen>, Error> {
        let mut chosen: Vec<_> = if options.shareable {
            let entries = self.entries(filter, options, loss)?.into_iter();
            entries
                .map(|(grain, status)| Chosen::of(&grain, status))
                .collect()
        } else {
            self.choose_all(filter, options, loss)?
        };
        chosen.sort_unstable_by_key(|one| (one.created_at, one.address));
        Ok(chosen)
    }

    fn choose_all(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<Vec<Chosen>, Error> {
        let snapshot = self.snapshot();
        let mut export_filter = ExportFilter::by_policy(self, options.purpose);
        let mut recorder = self.read_recorder("export");
        let mut chosen = Vec::new();
        for row in self.exportable_rows(&snapshot, filter, loss)?.iter() {
            let version = match self.find_to_export(&snapshot, row)? {
                Found::Sound(version) => version,
                Found::Damaged(row) => {
                    loss.add_damaged(row);
                    continue;
                }
                Found::Erased => continue,
            };
            if !export_filter.withholds(&version.grain, loss) {
                recorder.add(&version.grain);
                chosen.push(Chosen::of(&version.grain, version.status));
            }
        }
        recorder.record()?;
        if !export_filter.is_empty() {
            for one in &mut chosen {
                one.status = export_filter.unnamed(one.status);
                export_filter.count_dangling(&self.fetch(&one.address)?, loss);
            }
        }
        Ok(chosen)
    }

    fn find_to_export(&self, snapshot: &Snapshot, row: EntryId) -> Result<Found, Error> {
        Ok(match self.sound_version_at(snapshot, row) {
            Err(error) if error.code() == ErrorCode::Erased => Found::Erased,
            found => match found? {
                Some(version) => Found::Sound(Box::new(version)),
                None => Found::Damaged(row.get()),
            },
        })
    }

    fn write_jsonl(
        &self,
        chosen: &[Chosen],
        loss: Loss,
        file: impl Write,
    ) -> Result<ExportReport, Error> {
        let mut writer = jsonl::Writer::new(BufWriter::new(file));
        for one in chosen {
            writer.write(&self.fetch(&one.address)?, &one.status)?;
        }
        writer.into_inner().flush().map_err(io_error)?;
        Ok(ExportReport {
            grains: u64::try_from(chosen.len()).unwrap_or(u64::MAX),
            files: 1,
            loss,
        })
    }

    pub(super) fn fetch(&self, address: &ContentAddress) -> Result<Grain, Error> {
        let found = self.peek(address)?;
        found.ok_or(Error::NotFound { address: *address })
    }
}

/// The grain of a row to be exported.
enum Found {
    Sound(Box<Version>),
    Damaged(u64),
    /// Erased since the snapshot, by this process or another: no snapshot has it any more.
    Erased,
}

impl ExportReport {
    pub(super) fn of(mut written: Written, files: u64, withheld: &Loss) -> Self {
        written.loss.merge(withheld);
        Self {
            grains: written.records,
            files,
            loss: written.loss,
        }
    }

    pub(super) fn add(&mut self, summary: &mg::Summary) {
        self.grains += summary.grains;
        self.files += 1;
        self.loss.merge(&summary.loss);
    }
}

fn addresses(chosen: &[Chosen]) -> impl Iterator<Item = ContentAddress> {
    chosen.iter().map(|one| one.address)
}

fn entries(chosen: &[Chosen]) -> Vec<mg::Entry> {
    let entries = chosen
        .iter()
        .map(|one| mg::Entry::new(one.created_at, one.address, one.len, &one.status));
    entries.collect()
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

/// The facts about a grain that the layout of a file needs.
pub(super) struct Chosen {
    created_at: Time,
    address: ContentAddress,
    len: u32,
    status: Status,
}

/// Returns the length of a grain in transfer form. 0 if it cannot be transferred: writing it then
/// returns the error.
fn delivered_len(grain: &Grain) -> u32 {
    u32::try_from(grain.delivery_len().unwrap_or_default()).unwrap_or(u32::MAX)
}

impl Chosen {
    fn of(grain: &Grain, status: Status) -> Self {
        Self {
            created_at: grain.created_at(),
            address: grain.address(),
            len: delivered_len(grain),
            status,
        }
    }
}
