//! The header of an archive (OMS 11.3): its flags, and the offsets that follow from them.

use crate::code::ErrorCode;
use crate::codec::Compression;

use super::fault;
use crate::interchange::{Error, Place};

/// The first 16 bytes of a file (OMS 11.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileHeader {
    /// Grains stand in ascending order of `created_at`.
    pub(super) sorted: bool,
    /// No address comes twice.
    pub(super) deduplicated: bool,
    /// A manifest follows the grains.
    pub(super) has_manifest: bool,
    pub(super) compression: Compression,
    pub(super) field_map_version: u8,
    pub(super) count: u32,
}

impl FileHeader {
    pub(super) const LEN: u64 = 16;

    /// Reads a header whose magic has been seen.
    pub(super) fn read(bytes: [u8; 16]) -> Result<Self, Error> {
        let [
            _,
            _,
            _,
            flags,
            n3,
            n2,
            n1,
            n0,
            field_map_version,
            codec,
            reserved @ ..,
        ] = bytes;
        if flags & FIELD_MAP != 0 {
            // Ruling M5: the text gives such a map no place in the file.
            let message = "the file says that it includes a field map";
            return Err(fault(ErrorCode::MgFlags, Place::Byte(3), message));
        }
        if flags & RESERVED != 0 {
            let message = format!("reserved flags are set: {flags:#010b}");
            return Err(fault(ErrorCode::MgFlags, Place::Byte(3), message));
        }
        if reserved != [0; 6] {
            let message = "reserved bytes are not zero";
            return Err(fault(ErrorCode::MgReserved, Place::Byte(10), message));
        }
        // Ruling M3: the flag says whether, the byte says how.
        let compression = match (flags & COMPRESSED != 0, codec) {
            (false, 0) => Compression::None,
            (true, 1) => Compression::Zstd,
            (true, 2) => Compression::Lz4,
            (flag, codec) => {
                let claim = if flag { "set" } else { "clear" };
                let message = format!("compressed flag is {claim} and the codec is {codec}");
                return Err(fault(ErrorCode::MgCodec, Place::Byte(9), message));
            }
        };
        Ok(Self {
            sorted: flags & SORTED != 0,
            deduplicated: flags & DEDUPLICATED != 0,
            has_manifest: flags & MANIFEST != 0,
            compression,
            field_map_version,
            count: u32::from_be_bytes([n3, n2, n1, n0]),
        })
    }

    pub(super) fn to_bytes(self) -> [u8; 16] {
        let set = |condition, flag| if condition { flag } else { 0 };
        let flags = set(self.sorted, SORTED)
            | set(self.deduplicated, DEDUPLICATED)
            | set(self.compression != Compression::None, COMPRESSED)
            | set(self.has_manifest, MANIFEST);
        let codec = match self.compression {
            Compression::None => 0,
            Compression::Zstd => 1,
            Compression::Lz4 => 2,
        };
        let [m0, m1, m2] = MAGIC;
        let [n3, n2, n1, n0] = self.count.to_be_bytes();
        let version = self.field_map_version;
        [
            m0, m1, m2, flags, n3, n2, n1, n0, version, codec, 0, 0, 0, 0, 0, 0,
        ]
    }

    /// Returns where the grains begin: behind the index of four bytes for each.
    pub(super) fn region_start(self) -> u64 {
        Self::LEN.saturating_add(u64::from(self.count).saturating_mul(4))
    }

    /// Returns what offsets count from (ruling M1): the file, or the decompressed region.
    pub(super) fn offset_base(self) -> u64 {
        match self.compression {
            Compression::None => self.region_start(),
            Compression::Zstd | Compression::Lz4 => 0,
        }
    }
}

/// `MG` and version 1.
pub(super) const MAGIC: [u8; 3] = *b"MG\x01";

const SORTED: u8 = 1;
const DEDUPLICATED: u8 = 1 << 1;
const COMPRESSED: u8 = 1 << 2;
const FIELD_MAP: u8 = 1 << 3;
const MANIFEST: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;
