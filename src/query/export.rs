use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::codec::ContentAddress;
use crate::grain::{Grain, Status, Time};
use crate::index::{RowSet, Snapshot};
use crate::interchange::{
    Entry, Error as FileError, Format, Loss, Place, WriteOptions, Written, aimem, jsonl, mg, omi,
    pam,
};
use crate::store::{self, Store};

use super::withheld::Withheld;
use super::{Error, Filter};

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Grains written; of formats that are not of grains, records.
    pub grains: u64,
    /// Files written.
    pub files: u64,
    /// What the store says about grains and the format cannot carry.
    pub loss: Loss,
}

impl Store {
    /// Writes the grains that pass a filter: archives and JSON lines in the order of their
    /// `created_at`, then address; other formats in the order in which they were stored, so that
    /// what was imported goes out as it came.
    ///
    /// The same grains with the same status make the same archive, whatever store they are in.
    ///
    /// ```
    /// use grainstore::interchange::Format;
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// let mut archive = Vec::new();
    /// let exported = store.export(Format::Mg, &Filter::new(), &Default::default(), &mut archive)?;
    /// assert_eq!(exported.grains, 1);
    /// assert!(archive.starts_with(b"MG\x01"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; `ERR_IO`; `ERR_UNSUPPORTED` for a provider; `ERR_MG_LIMIT` for more than one archive can hold
    /// ([`Store::export_file`] makes more); `mixed_producers`, `mixed_tenants` and
    /// `PAM_MIXED_OWNERS` for what one file of the format cannot hold together.
    pub fn export(
        &self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        out: &mut impl Write,
    ) -> Result<Exported, Error> {
        match format {
            Format::Mg => {
                let mut exported = Exported::default();
                let chosen = self.choose(filter, options, &mut exported.loss)?;
                let fetch = |address| self.fetch(&address);
                let summary = mg::write(out, entries(&chosen), options.mg, fetch)?;
                exported.add(&summary);
                Ok(exported)
            }
            Format::Jsonl => {
                let mut loss = Loss::default();
                let chosen = self.choose(filter, options, &mut loss)?;
                self.write_jsonl(&chosen, loss, out)
            }
            _ => {
                let mut loss = Loss::default();
                let entries = self.entries(filter, options, &mut loss)?;
                let mut out = BufWriter::new(out);
                let written = match format {
                    Format::Aimem => aimem::write(&mut out, &entries, options)?,
                    Format::AimemNdjson => aimem::write_stream(&mut out, &entries, options)?,
                    Format::Omi => omi::write(&mut out, &entries, options)?,
                    Format::OmiJsonl => omi::write_lines(&mut out, &entries, options)?,
                    Format::Provider(_) => return Err(unsupported(format)),
                    _ => {
                        let document = pam::Document::new(&entries, options, false)?;
                        writeln!(out, "{}", document.store.to_json()).map_err(io_error)?;
                        document.written
                    }
                };
                out.flush().map_err(io_error)?;
                Ok(Exported::of(written, 1, &loss))
            }
        }
    }

    /// Writes the grains that pass a filter to a file, which is there whole or not at all.
    ///
    /// Archives past 4 GiB go on in `NAME.001.mg` and so on beside it. A PAM store that is to go
    /// to a directory goes there as `memory-store.json`, with the conversations beside it; in one
    /// file the messages are a [`Loss`].
    ///
    /// # Errors
    /// As [`Store::export`], but for `ERR_MG_LIMIT`.
    pub fn export_file(
        &self,
        format: Format,
        filter: &Filter,
        options: &WriteOptions,
        path: &Path,
    ) -> Result<Exported, Error> {
        if format == Format::Pam && path.is_dir() {
            return self.export_folder(filter, options, path);
        }
        if format != Format::Mg {
            return whole_file(path, |file| self.export(format, filter, options, file));
        }
        let mut exported = Exported::default();
        let chosen = self.choose(filter, options, &mut exported.loss)?;
        let plan = mg::Plan::new(entries(&chosen), options.mg)?;
        for (number, volume) in plan.volumes().enumerate() {
            let path = mg::volume_path(path, number);
            let summary = whole_file(&path, |file| {
                volume.write(file, |address| self.fetch(&address))
            })?;
            exported.add(&summary);
        }
        Ok(exported)
    }

    fn export_folder(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        folder: &Path,
    ) -> Result<Exported, Error> {
        let mut loss = Loss::default();
        let document =
            pam::Document::new(&self.entries(filter, options, &mut loss)?, options, true)?;
        // The store that names the conversations comes last: half an export has none.
        let store = (pam::STORE, &document.store);
        let files = document.conversations.iter();
        let files = files.map(|(path, value)| (path.as_str(), value));
        let mut count = 0;
        for (path, value) in files.chain([store]) {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(io_error)?;
            }
            whole_file(&path, |file| {
                writeln!(file, "{}", value.to_json()).map_err(io_error)
            })?;
            count += 1;
        }
        Ok(Exported::of(document.written, count, &loss))
    }

    /// Fetches what a filter shows and may leave the store, in the order in which it was stored.
    fn entries(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<Vec<Entry>, Error> {
        let snapshot = self.snapshot();
        let rows = self.rows_to_leave(&snapshot, filter, loss)?;
        let mut entries = Vec::new();
        for row in rows.iter() {
            let version = self.version_at(&snapshot, row)?;
            entries.push((version.grain, version.status));
        }
        let withheld = Withheld::by_law(self, options.purpose).and_by_owners(&snapshot)?;
        Ok(withheld.take_from(entries, loss))
    }

    /// Returns the rows that a filter shows; what a missing consent keeps back is told.
    fn rows_to_leave(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
        loss: &mut Loss,
    ) -> Result<RowSet, Error> {
        // A file is for keeping: whoever reads it decides what may be acted on.
        let filter = filter.clone().with_unreviewed();
        let (rows, kept_back) = self.rows_told(snapshot, &filter)?;
        (0..kept_back).for_each(|_| loss.count("consent withdrawn or missing"));
        Ok(rows)
    }

    /// Lists what a filter shows in the order of files: everything, unless it is for others.
    fn choose(
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
        let mut withheld = Withheld::by_law(self, options.purpose);
        let mut chosen = Vec::new();
        for row in self.rows_to_leave(&snapshot, filter, loss)?.iter() {
            let version = self.version_at(&snapshot, row)?;
            if !withheld.takes(&version.grain, loss) {
                chosen.push(Chosen::of(&version.grain, version.status));
            }
        }
        if !withheld.is_empty() {
            for one in &mut chosen {
                one.status = withheld.unnamed(one.status);
                withheld.count_dangling(&self.fetch(&one.address)?, loss);
            }
        }
        Ok(chosen)
    }

    fn write_jsonl(
        &self,
        chosen: &[Chosen],
        loss: Loss,
        file: impl Write,
    ) -> Result<Exported, Error> {
        let mut writer = jsonl::Writer::new(BufWriter::new(file));
        for one in chosen {
            writer.write(&self.fetch(&one.address)?, &one.status)?;
        }
        writer.into_inner().flush().map_err(io_error)?;
        Ok(Exported {
            grains: u64::try_from(chosen.len()).unwrap_or(u64::MAX),
            files: 1,
            loss,
        })
    }

    fn fetch(&self, address: &ContentAddress) -> Result<Grain, Error> {
        let found = self.get(address)?;
        found.ok_or(Error::Store(store::Error::NotFound { address: *address }))
    }
}

impl Exported {
    fn of(mut written: Written, files: u64, withheld: &Loss) -> Self {
        written.loss.merge(withheld);
        Self {
            grains: written.records,
            files,
            loss: written.loss,
        }
    }

    fn add(&mut self, summary: &mg::Summary) {
        self.grains += summary.grains;
        self.files += 1;
        self.loss.merge(&summary.loss);
    }
}

fn entries(chosen: &[Chosen]) -> Vec<mg::Entry> {
    let entries = chosen
        .iter()
        .map(|one| mg::Entry::new(one.created_at, one.address, one.len, &one.status));
    entries.collect()
}

/// Writes under a temporary name, syncs and renames, so that nobody takes half a file for one.
fn whole_file<T>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".partial");
    let temporary = PathBuf::from(temporary);
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    // What is exported is somebody's memory: only its owner may read the file.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary).map_err(io_error)?;
    let result = write(&mut file).and_then(|written| {
        file.sync_all().map_err(io_error)?;
        std::fs::rename(&temporary, path).map_err(io_error)?;
        Ok(written)
    });
    if result.is_err() {
        drop(std::fs::remove_file(&temporary));
    }
    result
}

fn unsupported(format: Format) -> Error {
    Error::Interchange(FileError::Format {
        code: "ERR_UNSUPPORTED",
        place: Place::File,
        message: format!("{format} is read, not written"),
    })
}

fn io_error(source: std::io::Error) -> Error {
    Error::Interchange(FileError::Io {
        place: Place::File,
        source,
    })
}

/// What files are planned from.
struct Chosen {
    created_at: Time,
    address: ContentAddress,
    len: u32,
    status: Status,
}

/// Returns how long a grain is as it travels; one that must not is refused when its turn comes.
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
