//! The manifest of an archive (OMS 11.7): the status of its grains, read and written entry by
//! entry.

use crate::code::ErrorCode;
use std::io::{BufRead, Read, Seek};

use crate::codec::{Canonical, ContentAddress, Encoding, Map};
use crate::grain::{Lifecycle, Status, StatusChange, Time, Verification};

use super::section::Section;
use super::{PROFILE, fault, io_error};
use crate::interchange::{Error, Loss, Place};

/// The status of the grains of a file: a canonical map by address.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    /// In the order of their addresses, as a canonical map is.
    entries: Vec<(ContentAddress, StatusChange)>,
    /// Fields that this version does not know.
    pub(super) unknown_fields: u64,
    /// The grains that replace each other in a circle: each is taken as current (ruling P16).
    pub(super) cyclic: Vec<ContentAddress>,
}

impl Manifest {
    /// Reads a manifest that must be all of `section`.
    ///
    /// The map is read entry by entry: a manifest can be as large as the file, and a tree of its
    /// values many times larger.
    pub(super) fn read<R: Read + Seek>(section: &mut Section<'_, R>) -> Result<Self, Error> {
        let mut manifest = Self::default();
        let (encoding, count) = read_map_head(section)?;
        for _ in 0..count {
            let place = Place::Byte(section.position());
            let bytes = section
                .ahead(ENTRY_LEN_MAX)
                .map_err(|source| io_error(place.clone(), source))?;
            // The buffer may hold more bytes; chance must not decide which entries are accepted.
            let bytes = bytes.get(..ENTRY_LEN_MAX).unwrap_or(bytes);
            let (address, len, fields) = read_entry(bytes, encoding, &place)?;
            if manifest
                .entries
                .last()
                .is_some_and(|(last, _)| *last >= address)
            {
                return Err(broken(place, "addresses are not in ascending order"));
            }
            let status = manifest.status_of(fields, &place)?;
            manifest.entries.push((address, status));
            section.consume(len);
        }
        if section.left() > 0 {
            let place = Place::Byte(section.position());
            return Err(fault(
                ErrorCode::MgTrailing,
                place,
                "bytes after the manifest",
            ));
        }
        manifest.open_cycles();
        Ok(manifest)
    }

    /// Takes the ends from the grains that replace each other in a circle (ruling P16): in a lineage
    /// without an end nothing is current, so any one of its writers could hide the others' grains.
    fn open_cycles(&mut self) {
        let next: Vec<Option<usize>> = (self.entries.iter())
            .map(|(_, status)| self.get(status.superseded_by?).map(|(at, _)| at))
            .collect();
        // The walk in which an entry was met first; 0 for none yet.
        let mut met = vec![0; next.len()];
        for start in 0..next.len() {
            let walk = start.saturating_add(1);
            let mut at = Some(start);
            while let Some(entry) = at.filter(|entry| met.get(*entry) == Some(&0)) {
                met.iter_mut()
                    .skip(entry)
                    .take(1)
                    .for_each(|met| *met = walk);
                at = next.get(entry).copied().flatten();
            }
            // Met in this same walk: the entry is on a circle, and so is all that follows it.
            let Some(first) = at.filter(|entry| met.get(*entry) == Some(&walk)) else {
                continue;
            };
            let mut entry = first;
            loop {
                if let Some((address, status)) = self.entries.get_mut(entry) {
                    status.superseded_by = None;
                    status.system_valid_to = None;
                    self.cyclic.push(*address);
                }
                match next.get(entry).copied().flatten() {
                    Some(following) if following != first => entry = following,
                    _ => break,
                }
            }
        }
    }

    /// Returns the number of entries.
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the status of a grain, and the number of its entry.
    pub(super) fn get(&self, address: ContentAddress) -> Option<(usize, StatusChange)> {
        let at = self
            .entries
            .binary_search_by_key(&address, |(address, _)| *address);
        let at = at.ok()?;
        self.entries.get(at).map(|(_, status)| (at, *status))
    }

    /// Returns the addresses in order.
    pub(super) fn addresses(&self) -> impl Iterator<Item = ContentAddress> {
        self.entries.iter().map(|(address, _)| *address)
    }

    fn status_of(&mut self, fields: Canonical, place: &Place) -> Result<StatusChange, Error> {
        let mut status = StatusChange::default();
        for (name, value) in fields.into_map() {
            match name.as_str() {
                "sb" => {
                    let address = value.as_text().and_then(|text| text.parse().ok());
                    let address = address.ok_or_else(|| broken(place.clone(), "sb: no address"))?;
                    status.superseded_by = Some(address);
                }
                "svt" => {
                    let ms = value.as_i64();
                    let ms = ms.ok_or_else(|| broken(place.clone(), "svt: no time"))?;
                    status.system_valid_to = Some(Time::from_ms(ms));
                }
                "vstatus" => {
                    let word = value.as_text().and_then(Verification::named);
                    let word = word.ok_or_else(|| broken(place.clone(), "vstatus: no status"))?;
                    status.verification = Some(word);
                }
                // OMS 11.7: local fields; a store counts its own accesses.
                "ac" | "laa" => {}
                _ => self.unknown_fields = self.unknown_fields.saturating_add(1),
            }
        }
        Ok(status)
    }
}

/// Returns the bytes that open a manifest of `count` entries.
pub(super) fn map_head(encoding: Encoding, count: u32) -> Vec<u8> {
    let (small, small_max, two_bytes, four_bytes) = match encoding {
        Encoding::MessagePack => (0x80, 15, 0xde, 0xdf),
        Encoding::Cbor => (0xa0, 23, 0xb9, 0xba),
    };
    match (u8::try_from(count), u16::try_from(count)) {
        (Ok(count), _) if count <= small_max => vec![small | count],
        (Ok(count), _) if encoding == Encoding::Cbor => vec![0xb8, count],
        (_, Ok(count)) => [&[two_bytes][..], &count.to_be_bytes()].concat(),
        _ => [&[four_bytes][..], &count.to_be_bytes()].concat(),
    }
}

/// Returns the bytes of one entry; they are empty if the status has nothing that files carry.
pub(super) fn entry(encoding: Encoding, address: ContentAddress, status: &Status) -> Vec<u8> {
    let mut fields = Map::new();
    if let Some(superseded_by) = status.superseded_by {
        fields.insert("sb", superseded_by);
    }
    if let Some(time) = status.system_valid_to {
        fields.insert("svt", time.ms());
    }
    if status.verification != Verification::default() {
        fields.insert("vstatus", status.verification.name());
    }
    // A short flat map of ASCII text and integers is canonical as it stands.
    let Ok(fields) = Canonical::new(fields, PROFILE) else {
        return Vec::new();
    };
    let mut bytes = key_head(encoding).to_vec();
    bytes.extend_from_slice(address.to_string().as_bytes());
    encoding.encode_into(&mut bytes, &fields);
    bytes
}

/// Returns whether a status has something that files carry (OMS 11.7, portable fields).
pub(super) fn carries(status: &Status) -> bool {
    !status.is_current() || status.verification != Verification::default()
}

/// Counts what a status has and files do not carry.
pub(super) fn count_loss(status: &Status, loss: &mut Loss) {
    // OMS 11.7 has no field for it. That a grain is contested and ended does not say why.
    if status.contradicted {
        loss.count("contradicted");
    }
    let implied = match status.lifecycle {
        Lifecycle::Active => true,
        Lifecycle::Superseded => !status.is_current(),
        Lifecycle::Deprecated | Lifecycle::Archived => false,
    };
    if !implied {
        loss.count("lifecycle");
    }
}

/// Reads the bytes that open the map: which encoding it is in, and how many entries follow.
fn read_map_head<R: Read + Seek>(section: &mut Section<'_, R>) -> Result<(Encoding, u64), Error> {
    let place = Place::Byte(section.position());
    let left = section.left();
    let bytes = section
        .ahead(5)
        .map_err(|source| io_error(place.clone(), source))?;
    let (encoding, count) = match *bytes {
        [head @ 0x80..=0x8f, ..] => (Encoding::MessagePack, u32::from(head & 0x0f)),
        [0xde, hi, lo, ..] => (
            Encoding::MessagePack,
            u32::from(u16::from_be_bytes([hi, lo])),
        ),
        [0xdf, b3, b2, b1, b0, ..] => {
            let count = u32::from_be_bytes([b3, b2, b1, b0]);
            (Encoding::MessagePack, count)
        }
        [head @ 0xa0..=0xb7, ..] => (Encoding::Cbor, u32::from(head & 0x1f)),
        [0xb8, count, ..] => (Encoding::Cbor, u32::from(count)),
        [0xb9, hi, lo, ..] => (Encoding::Cbor, u32::from(u16::from_be_bytes([hi, lo]))),
        [0xba, b3, b2, b1, b0, ..] => (Encoding::Cbor, u32::from_be_bytes([b3, b2, b1, b0])),
        _ => return Err(broken(place, "not a map")),
    };
    // One count has one spelling, the shortest.
    let head = map_head(encoding, count);
    if !bytes.starts_with(&head) {
        return Err(broken(place, "the map is not canonical"));
    }
    section.consume(head.len());
    let count = u64::from(count);
    if count.saturating_mul(ENTRY_LEN_MIN) > left {
        return Err(broken(place, "more entries than bytes for them"));
    }
    Ok((encoding, count))
}

/// Reads one entry at the front of `bytes`: its address, its length and its fields.
fn read_entry(
    bytes: &[u8],
    encoding: Encoding,
    place: &Place,
) -> Result<(ContentAddress, usize, Canonical), Error> {
    let no_address = || broken(place.clone(), "a key is not a content address");
    let rest = bytes
        .strip_prefix(&key_head(encoding))
        .ok_or_else(no_address)?;
    let (address, value) = rest.split_first_chunk::<64>().ok_or_else(no_address)?;
    let address = std::str::from_utf8(address).ok();
    let address = address.and_then(|text| text.parse().ok());
    let address = address.ok_or_else(no_address)?;
    let (fields, len) = encoding
        .decode_prefix(value, PROFILE)
        .map_err(|error| broken(place.clone(), &format!("entry: {error}")))?;
    let key_len = bytes.len().saturating_sub(value.len());
    Ok((address, key_len.saturating_add(len), fields))
}

/// The head of a text of 64 bytes.
const fn key_head(encoding: Encoding) -> [u8; 2] {
    match encoding {
        Encoding::MessagePack => [0xd9, 64],
        Encoding::Cbor => [0x78, 64],
    }
}

fn broken(place: Place, message: &str) -> Error {
    fault(ErrorCode::MgManifest, place, format!("manifest: {message}"))
}

/// A key of 66 bytes and an empty map.
const ENTRY_LEN_MIN: u64 = 67;

/// The longest entry that is read.
const ENTRY_LEN_MAX: usize = 8 * 1024;

/// The longest entry that [`entry`] writes: key, map head, `sb`, `svt` and `vstatus`.
pub(super) const WRITTEN_LEN_MAX: u64 = 66 + 1 + 69 + 13 + 19;
