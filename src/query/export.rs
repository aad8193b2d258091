use std::io::{BufWriter, Write};

use crate::codec::ContentAddress;
use crate::grain::{Grain, Status, Time};
use crate::interchange::{Error as FileError, Format, Loss, Place, jsonl, mg};
use crate::store::{self, Store};

use super::{Error, Filter};

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Grains written.
    pub grains: u64,
    /// Files written.
    pub files: u64,
    /// What the store says about grains and the format cannot carry.
    pub loss: Loss,
}

impl Store {
    /// Writes the grains that pass a filter, in the order of their `created_at`, then address.
    ///
    /// The same grains with the same status make the same bytes, whatever store they are in.
    /// `open` is asked for each file in turn, counted from 0; all formats but `.mg` beyond 4 GiB
    /// need one.
    ///
    /// ```
    /// use grainstore::interchange::{Format, mg};
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// let mut file = Vec::new();
    /// let exported = store.export(Format::Jsonl, &Filter::new(), mg::WriteOptions::default(), |_| {
    ///     Ok(&mut file)
    /// })?;
    /// assert_eq!(exported.grains, 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; `ERR_IO`; `ERR_UNSUPPORTED` for a format that is only read.
    pub fn export<W: Write>(
        &self,
        format: Format,
        filter: &Filter,
        options: mg::WriteOptions,
        mut open: impl FnMut(usize) -> std::io::Result<W>,
    ) -> Result<Exported, Error> {
        let mut open = |volume| {
            open(volume).map_err(|source| FileError::Io {
                place: Place::File,
                source,
            })
        };
        let chosen = self.choose(filter)?;
        match format {
            Format::Mg => self.export_mg(&chosen, options, &mut open),
            Format::Jsonl => self.export_jsonl(&chosen, open(0)?),
            Format::Pam => Err(Error::Interchange(FileError::Format {
                code: "ERR_UNSUPPORTED",
                place: Place::File,
                message: format!("{format} is read, not written yet"),
            })),
        }
    }

    /// Lists what a filter shows in the order of files.
    fn choose(&self, filter: &Filter) -> Result<Vec<Chosen>, Error> {
        let snapshot = self.snapshot();
        let mut chosen = Vec::new();
        for row in self.rows(&snapshot, filter)? {
            let version = self.version_at(&snapshot, row)?;
            chosen.push(Chosen {
                created_at: version.grain.created_at(),
                address: version.grain.address(),
                len: u32::try_from(version.grain.blob().len()).unwrap_or(u32::MAX),
                status: version.status,
            });
        }
        chosen.sort_unstable_by_key(|one| (one.created_at, one.address));
        Ok(chosen)
    }

    fn export_mg<W: Write>(
        &self,
        chosen: &[Chosen],
        options: mg::WriteOptions,
        open: &mut dyn FnMut(usize) -> Result<W, FileError>,
    ) -> Result<Exported, Error> {
        let entries = chosen
            .iter()
            .map(|one| mg::Entry::new(one.created_at, one.address, one.len, &one.status));
        let plan = mg::Plan::new(entries.collect(), options)?;
        let mut exported = Exported::default();
        for (number, volume) in plan.volumes().enumerate() {
            let mut file = open(number)?;
            let summary = volume.write(&mut file, |address| self.fetch(&address))?;
            exported.grains += summary.grains;
            exported.files += 1;
            for (field, count) in summary.loss.iter() {
                (0..count).for_each(|_| exported.loss.count(field));
            }
        }
        Ok(exported)
    }

    fn export_jsonl(&self, chosen: &[Chosen], file: impl Write) -> Result<Exported, Error> {
        let mut writer = jsonl::Writer::new(BufWriter::new(file));
        for one in chosen {
            writer.write(&self.fetch(&one.address)?, &one.status)?;
        }
        writer
            .into_inner()
            .flush()
            .map_err(|source| FileError::Io {
                place: Place::File,
                source,
            })?;
        Ok(Exported {
            grains: u64::try_from(chosen.len()).unwrap_or(u64::MAX),
            files: 1,
            loss: Loss::default(),
        })
    }

    fn fetch(&self, address: &ContentAddress) -> Result<Grain, Error> {
        let found = self.get(address)?;
        found.ok_or(Error::Store(store::Error::NotFound { address: *address }))
    }
}

/// What files are planned from.
struct Chosen {
    created_at: Time,
    address: ContentAddress,
    len: u32,
    status: Status,
}
