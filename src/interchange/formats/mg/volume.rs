//! One volume of a plan, written in one pass.

use crate::code::ErrorCode;
use std::io::{self, BufWriter, Write};

use sha2::{Digest, Sha256};

use crate::codec::{Compression, ContentAddress, Encoding};
use crate::grain::{self, Grain};

use super::archive::FIELD_MAP_VERSION;
use super::header::FileHeader;
use super::plan::Entry;
use super::{delivered, fault, io_error, len_u64, manifest, unsupported};
use crate::interchange::{Error, Loss, Place};

/// One file of a [`Plan`](super::Plan): some of its grains, not yet fetched.
#[derive(Debug, Clone, Copy)]
pub struct Volume<'a> {
    entries: &'a [Entry],
    compression: Compression,
}

/// The summary of a written file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Grains written.
    pub grains: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Entries of the manifest; a file without any has none.
    pub manifest_entries: u64,
    /// The SHA-256 in the footer.
    pub checksum: [u8; 32],
    /// The status values that the format cannot carry.
    pub loss: Loss,
}

impl<'a> Volume<'a> {
    pub(super) const fn new(entries: &'a [Entry], compression: Compression) -> Self {
        Self {
            entries,
            compression,
        }
    }

    /// Writes the file in one pass; `fetch` returns each grain in turn.
    ///
    /// # Errors
    /// Those of `fetch`; `ERR_SIGNED_MISMATCH` for a grain that must be signed and is not;
    /// `ERR_UNSUPPORTED` for an encrypted one that a manifest would follow; `ERR_INTEGRITY` and
    /// `ERR_MG_INDEX` for one that differs from its entry; `ERR_IO`.
    pub fn write<E: From<Error>>(
        &self,
        out: &mut impl Write,
        mut fetch: impl FnMut(ContentAddress) -> Result<Grain, E>,
    ) -> Result<Summary, E> {
        let mut out = BufWriter::with_capacity(BUFFER_LEN, Hashing::new(out));
        let (region_len, has_manifest) = self.write_front(&mut out).map_err(written)?;
        let encoding = self.write_grains(&mut out, region_len, &mut fetch)?;
        let manifest_entries = if has_manifest {
            self.write_manifest(&mut out, encoding).map_err(written)?
        } else {
            0
        };
        let hashing = out
            .into_inner()
            .map_err(|error| written(error.into_error()))?;
        let (checksum, bytes) = hashing.finish().map_err(written)?;
        let mut loss = Loss::default();
        for status in self
            .entries
            .iter()
            .filter_map(|entry| entry.status.as_deref())
        {
            manifest::count_loss(status, &mut loss);
        }
        Ok(Summary {
            grains: len_u64(self.entries.len()),
            bytes,
            manifest_entries,
            checksum,
            loss,
        })
    }

    /// Writes header and index; returns the length of the grains and whether a manifest follows.
    fn write_front(&self, out: &mut impl Write) -> io::Result<(u64, bool)> {
        let has_manifest = self.entries.iter().any(Entry::is_in_manifest);
        let header = FileHeader {
            sorted: true,
            deduplicated: true,
            has_manifest,
            compression: self.compression,
            field_map_version: FIELD_MAP_VERSION,
            count: u32::try_from(self.entries.len()).map_err(io::Error::other)?,
        };
        out.write_all(&header.to_bytes())?;
        let base = header.offset_base();
        let mut offset = base;
        for entry in self.entries {
            // The plan keeps a file below 4 GiB, so this never fails.
            let bytes = u32::try_from(offset).map_err(io::Error::other)?;
            out.write_all(&bytes.to_be_bytes())?;
            offset = offset.saturating_add(u64::from(entry.len));
        }
        Ok((offset.saturating_sub(base), has_manifest))
    }

    /// Writes the grains; returns the encoding that their manifest is in (ruling M7).
    fn write_grains<E: From<Error>>(
        &self,
        out: &mut impl Write,
        region_len: u64,
        fetch: &mut impl FnMut(ContentAddress) -> Result<Grain, E>,
    ) -> Result<Encoding, E> {
        let body = self.compression.compressor(out, region_len);
        let mut body = body.map_err(written)?;
        let mut all_cbor = !self.entries.is_empty();
        for (at, entry) in self.entries.iter().enumerate() {
            let grain = fetch(entry.address)?;
            let place = Place::Grain(len_u64(at));
            let is_before_manifest = at.saturating_add(1) == self.entries.len()
                && self.compression == Compression::None
                && self.entries.iter().any(Entry::is_in_manifest);
            if is_before_manifest && grain.is_encrypted() {
                let message = "an encrypted grain before a manifest has no end; compress the file";
                return Err(unsupported(place, message).into());
            }
            let bytes = check(&grain, entry, place)?;
            all_cbor &= grain.encoding() == Encoding::Cbor;
            body.write_all(&bytes).map_err(written)?;
        }
        body.finish().map_err(written)?;
        Ok(if all_cbor {
            Encoding::Cbor
        } else {
            Encoding::MessagePack
        })
    }

    /// Writes the manifest entry by entry, in the order of the addresses; returns how many.
    fn write_manifest(&self, out: &mut impl Write, encoding: Encoding) -> io::Result<u64> {
        let mut listed: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| entry.is_in_manifest())
            .collect();
        listed.sort_unstable_by_key(|entry| entry.address);
        let count = u32::try_from(listed.len()).map_err(io::Error::other)?;
        out.write_all(&manifest::map_head(encoding, count))?;
        for entry in listed {
            let status = entry.status.as_deref().copied().unwrap_or_default();
            out.write_all(&manifest::entry(encoding, entry.address, &status))?;
        }
        Ok(u64::from(count))
    }
}

/// Returns the bytes of a grain; refuses one that differs from its entry.
fn check(grain: &Grain, entry: &Entry, place: Place) -> Result<Vec<u8>, Error> {
    if grain.address() != entry.address {
        let address = entry.address;
        let source = grain::Error::Integrity { address };
        return Err(Error::Grain { place, source });
    }
    let bytes = delivered(grain, &place)?;
    if u32::try_from(bytes.len()) != Ok(entry.len) {
        let (len, found) = (entry.len, bytes.len());
        let message = format!("planned as {len} bytes, the grain has {found}");
        return Err(fault(ErrorCode::MgIndex, place, message));
    }
    Ok(bytes)
}

fn written(source: io::Error) -> Error {
    io_error(Place::File, source)
}

/// Hashes and counts the bytes that are written.
struct Hashing<W> {
    out: W,
    hash: Sha256,
    len: u64,
}

impl<W: Write> Hashing<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            hash: Sha256::new(),
            len: 0,
        }
    }

    /// Writes the footer (ruling M4: over the bytes as they are stored); returns it and the
    /// length of the file.
    fn finish(mut self) -> io::Result<([u8; 32], u64)> {
        let checksum = <[u8; 32]>::from(self.hash.finalize());
        self.out.write_all(&checksum)?;
        self.out.flush()?;
        Ok((checksum, self.len.saturating_add(super::FOOTER_LEN)))
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        self.hash.update(bytes.get(..len).unwrap_or_default());
        self.len = self.len.saturating_add(len_u64(len));
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

const BUFFER_LEN: usize = 64 * 1024;
