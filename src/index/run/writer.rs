//! The writer of runs: from front to back, in bounded memory.
//!
//! The run is durable at the end and has no readers until a version names it.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::ledger::{Disk, DiskFile, EntryLocation, LedgerPosition, StoreId};

use super::block::{BlockBuilder, KeyLayout};
use super::filter::Filter;
use super::layout::{Directory, Extent, Footer, Header, SectionEntry, name_of};
use super::reader::{RunKey, block_check};
use super::stream::{Merge, Source};
use super::{FOLDER, locations};
use crate::index::{Error, Family};

/// Writes a run from front to back, in bounded memory.
pub(in crate::index) struct RunWriter {
    disk: Arc<dyn Disk>,
    name: String,
    file: Arc<dyn DiskFile>,
    header: Vec<u8>,
    layout: KeyLayout,
    seed: u32,
    /// The bytes that are not in the file yet.
    pending: Vec<u8>,
    at: u64,
    directory: Directory,
    locations: Vec<EntryLocation>,
}

impl RunWriter {
    pub(in crate::index) fn create(
        disk: &Arc<dyn Disk>,
        store_id: StoreId,
        number: u64,
        rows: &Range<u64>,
    ) -> Result<Self, Error> {
        let name = name_of(number);
        let header = Header {
            store_id,
            number,
            first: rows.start,
            end: rows.end,
        };
        let header = header.to_bytes();
        Ok(Self {
            file: disk.create(&name).map_err(Error::io("create", &name))?,
            disk: Arc::clone(disk),
            name,
            layout: KeyLayout::of(rows.start, rows.end),
            seed: crc32fast::hash(&header),
            pending: header.clone(),
            header,
            at: 0,
            directory: Directory::default(),
            locations: Vec::new(),
        })
    }

    /// Writes the keys of a family that `keep` accepts; families come in the order of their
    /// numbers.
    pub(in crate::index) fn section<K: RunKey>(
        &mut self,
        family: Family,
        sources: Vec<Source<K>>,
        keep: &mut dyn FnMut(K) -> bool,
    ) -> Result<(), Error> {
        let mut keys = Merge::new(sources)?;
        let width = self.layout.width::<K>();
        let mut section = SectionEntry {
            family: family as u8,
            keys: 0,
            blocks: self.extent(),
            last: Vec::new(),
            fences: Vec::new(),
        };
        let mut builder = BlockBuilder::new();
        let mut last = None;
        while let Some(key) = keys.next()? {
            if !keep(key) {
                continue;
            }
            let bytes = self.layout.write(key);
            if builder.is_empty() {
                section.fences.extend(bytes.iter().take(width));
            }
            builder.push::<K>(self.layout, &bytes);
            section.keys += 1;
            last = Some(bytes);
            if builder.is_full() {
                section.blocks.lens.push(self.block(&builder.finish())?);
            }
        }
        if !builder.is_empty() {
            section.blocks.lens.push(self.block(&builder.finish())?);
        }
        if let Some(last) = last {
            section.last.extend(last.iter().take(width));
            self.directory.sections.push(section);
        }
        Ok(())
    }

    /// Writes the locations of the next entries; they come after the sections.
    pub(in crate::index) fn locations(&mut self, more: &[EntryLocation]) -> Result<(), Error> {
        if self.directory.locations.start == 0 {
            self.directory.locations = self.extent();
        }
        self.locations.extend_from_slice(more);
        while self.locations.len() >= locations::BLOCK_ROWS {
            let bytes: Vec<_> = self.locations.drain(..locations::BLOCK_ROWS).collect();
            let len = self.block(&locations::encode(&bytes))?;
            self.directory.locations.lens.push(len);
        }
        Ok(())
    }

    /// Writes the rest, and makes the run durable.
    pub(in crate::index) fn finish(
        mut self,
        filter: &Filter,
        grains: RoaringTreemap,
        not_current: RoaringTreemap,
        position: Option<LedgerPosition>,
    ) -> Result<(), Error> {
        self.locations(&[])?;
        if !self.locations.is_empty() {
            let len = self.block(&locations::encode(&self.locations))?;
            self.directory.locations.lens.push(len);
        }
        self.directory.filter = self.extent();
        for part in filter.to_bytes().chunks(FILTER_BLOCK_LEN) {
            let len = self.block(part)?;
            self.directory.filter.lens.push(len);
        }
        self.directory.grains = grains;
        self.directory.not_current = not_current;
        self.directory.position = position;
        let directory = self.directory.to_bytes();
        let footer = Footer::new(&self.header, &directory, self.end());
        self.pending.extend(directory);
        self.pending.extend(footer.to_bytes());
        self.write_out()?;
        self.file.sync().map_err(Error::io("sync", &self.name))?;
        let synced = self.disk.sync_folder(FOLDER);
        synced.map_err(Error::io("sync", FOLDER))
    }

    fn extent(&self) -> Extent {
        Extent {
            start: self.end(),
            lens: Vec::new(),
        }
    }

    const fn end(&self) -> u64 {
        self.at + self.pending.len() as u64
    }

    /// Writes a block and its check; returns the length of both.
    fn block(&mut self, bytes: &[u8]) -> Result<u32, Error> {
        let check = block_check(self.seed, self.end(), bytes);
        self.pending.extend_from_slice(bytes);
        self.pending.extend_from_slice(&check.to_be_bytes());
        if self.pending.len() >= WRITE_LEN {
            self.write_out()?;
        }
        Ok(u32::try_from(bytes.len() + 4).unwrap_or(u32::MAX))
    }

    fn write_out(&mut self) -> Result<(), Error> {
        let written = self.file.write_at(&self.pending, self.at);
        written.map_err(Error::io("write", &self.name))?;
        self.at += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

/// The length of one write, in bytes.
const WRITE_LEN: usize = 128 << 10;

/// The filter is checked in pieces of this length, in bytes: a multiple of 64.
const FILTER_BLOCK_LEN: usize = 32 << 10;
