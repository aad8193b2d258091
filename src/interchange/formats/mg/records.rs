//! The grains of an archive, read one by one in the order of the file.

use crate::code::ErrorCode;
use std::fmt;
use std::io::{self, Read, Seek};

use crate::codec::{ContentAddress, Decompressor};

use super::archive::{Archive, body_error};
use super::header::FileHeader;
use super::order::Order;
use super::section::Section;
use super::{DELIVERY_LEN_MAX, fault, len_u64, record_of, too_long};
use crate::interchange::{Error, Place, Record};

/// The grains of an [`Archive`], in the order of the file.
///
/// A grain that is refused is an error, and the next one follows. After an error of the file itself
/// (a place that cannot be read, a false flag) there are no more.
pub struct Records<'a, R: Read + Seek> {
    archive: &'a Archive<R>,
    index: Section<'a, R>,
    body: Decompressor<Section<'a, R>>,
    /// Which grain is next, and where in the region it begins.
    grain: u64,
    start: u64,
    order: Order,
    /// Which entries of the manifest have met their grain.
    claimed: Vec<bool>,
    failed: bool,
}

impl<'a, R: Read + Seek> Records<'a, R> {
    pub(super) fn new(archive: &'a Archive<R>) -> Result<Self, Error> {
        // The first offset is the start of the region, which is checked when a file is opened.
        let index_start = FileHeader::LEN.saturating_add(4);
        let index_end = archive.header.region_start();
        Ok(Self {
            archive,
            index: Section::new(&archive.source, index_start, index_end),
            body: archive.body()?,
            grain: 0,
            start: 0,
            order: Order::new(&archive.header),
            claimed: vec![false; archive.manifest.len()],
            failed: false,
        })
    }

    /// Returns the manifest's addresses that no grain read so far has: at the end, those that the
    /// file gives a status without having the grain (ruling I18 refuses them).
    pub fn unclaimed(&self) -> impl Iterator<Item = ContentAddress> {
        let claims = self.archive.manifest.addresses().zip(&self.claimed);
        claims.filter_map(|(address, claimed)| (!claimed).then_some(address))
    }

    /// Reads the next grain, or says why it is refused. The outer error is the file's.
    fn read(&mut self, place: &Place) -> Result<Result<Record, Error>, Error> {
        let end = self.next_end(place)?;
        let len = end.checked_sub(self.start);
        let len =
            len.ok_or_else(|| fault(ErrorCode::MgIndex, place.clone(), "the index changed"))?;
        self.start = end;
        let mut bytes = (&mut self.body).take(len);
        if len > len_u64(DELIVERY_LEN_MAX) {
            let skipped = io::copy(&mut bytes, &mut io::sink());
            skipped.map_err(|source| body_error(self.archive.region.start, source))?;
            return Ok(Err(too_long(place.clone(), len)));
        }
        let mut blob = Vec::new();
        bytes
            .read_to_end(&mut blob)
            .map_err(|source| body_error(self.archive.region.start, source))?;
        let record = match record_of(&blob, place.clone()) {
            Ok(record) => record,
            Err(refused) => return Ok(Err(refused)),
        };
        self.order.check(&record.grain, place)?;
        Ok(Ok(self.with_status(record)))
    }

    /// Returns where in the region the next grain ends: where the one after it begins.
    fn next_end(&mut self, place: &Place) -> Result<u64, Error> {
        if self.index.left() == 0 {
            return Ok(self.archive.region.len);
        }
        let offset = self.index.array().map_err(|source| Error::Io {
            place: place.clone(),
            source,
        })?;
        let base = self.archive.header.offset_base();
        Ok(u64::from(u32::from_be_bytes(offset)).saturating_sub(base))
    }

    fn with_status(&mut self, mut record: Record) -> Record {
        if let Some((entry, status)) = self.archive.manifest.get(record.grain.address()) {
            record.status = status;
            if let Some(claimed) = self.claimed.get_mut(entry) {
                *claimed = true;
            }
        }
        record
    }
}

impl<R: Read + Seek> Iterator for Records<'_, R> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.grain >= u64::from(self.archive.header.count) {
            return None;
        }
        let place = Place::Grain(self.grain);
        self.grain = self.grain.saturating_add(1);
        Some(self.read(&place).unwrap_or_else(|fatal| {
            self.failed = true;
            Err(fatal)
        }))
    }
}

impl<R: Read + Seek> fmt::Debug for Records<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("archive", self.archive)
            .field("grain", &self.grain)
            .finish_non_exhaustive()
    }
}
