//! The law of `read_mg`: an `.mg` archive that is accepted comes back unchanged when it is written
//! again, and reading one needs bounded memory.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use grainstore::codec::Compression;
use grainstore::grain::{Grain, Status};
use grainstore::interchange::{Error, WriteOptions, mg};
use lz4_flex::frame::FrameEncoder;
use sha2::{Digest, Sha256};

use crate::blob::accepted;
use crate::choice;
use crate::meter::{Bound, COMPRESSED, PLAIN, measure};

/// Reads an archive. An input that begins like one is read as it is and with a footer that fits;
/// from any other one an archive is [built](build).
///
/// - Every grain has its address, and there are no more than the file says.
/// - Verifying finds what reading finds.
/// - The grains and status of a valid archive, written again in another compression, make a valid
///   archive of the same grains and status.
pub fn read_mg(data: &[u8]) {
    if !data.starts_with(b"MG") {
        return read(&build(data));
    }
    read(data);
    if let Some((bytes, _footer)) = data.split_last_chunk::<32>() {
        let mended = with_footer(bytes.to_vec());
        if mended != data {
            read(&mended);
        }
    }
}

fn bound_of(file: &[u8]) -> Bound {
    match file.get(3) {
        Some(flags) if flags & COMPRESSED_FLAG != 0 => COMPRESSED,
        _ => PLAIN,
    }
}

fn read(file: &[u8]) {
    let bound = bound_of(file);
    let opened = measure(bound, file.len(), || {
        mg::Archive::open(Cursor::new(file), OPTIONS)
    });
    let archive = match opened {
        Ok(archive) => archive,
        Err(error) => {
            let report = mg::Archive::verify(Cursor::new(file), OPTIONS);
            assert_eq!(report.findings.len(), 1);
            assert_eq!(report.findings[0].to_string(), error.to_string());
            return;
        }
    };
    let mut records = archive.records().expect("memory can be read");
    let mut grains = Vec::new();
    let mut refused = 0;
    while let Some(record) = measure(bound, file.len(), || records.next()) {
        match record {
            Ok(record) => {
                accepted(&record.grain, record.grain.blob());
                let mut status = Status::default();
                status.apply(&record.status);
                grains.push((record.grain, status));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(grains.len() as u64 + refused <= u64::from(archive.grains()));
    assert!(records.unclaimed().count() <= archive.manifest_entries());
    match choice(
        [
            None,
            Some(Compression::None),
            Some(Compression::Zstd),
            Some(Compression::Lz4),
        ],
        file.len(),
    ) {
        None => {
            let report = mg::Archive::verify(Cursor::new(file), OPTIONS);
            let found = (report.grains, report.refused);
            assert_eq!(found, (grains.len() as u64, refused));
            assert_eq!(report.is_valid(), refused == 0);
        }
        Some(compression) if refused == 0 => written_again(&grains, compression),
        Some(_) => {}
    }
}

fn written_again(grains: &[(Grain, Status)], compression: Compression) {
    let by_address: BTreeMap<_, _> = grains
        .iter()
        .map(|(grain, status)| (*grain.address().as_bytes(), (grain, status)))
        .collect();
    let entries = grains
        .iter()
        .map(|(grain, status)| mg::Entry::of(grain, status));
    let options = WriteOptions {
        compression,
        ..WriteOptions::default()
    };
    let mut file = Vec::new();
    mg::write(&mut file, entries.collect(), &options, |address| {
        Ok::<_, Error>(by_address[address.as_bytes()].0.clone())
    })
    .expect("grains that were read are written");
    let archive = mg::Archive::open(Cursor::new(file), OPTIONS);
    let archive = archive.expect("what was written is read");
    assert_eq!(archive.grains() as usize, by_address.len());
    for record in archive.records().expect("memory can be read") {
        let record = record.expect("it was read before");
        let (grain, status) = by_address[record.grain.address().as_bytes()];
        assert_eq!(record.grain.blob(), grain.blob());
        let mut copy = Status::default();
        copy.apply(&record.status);
        assert_eq!(&copy, status);
    }
}

/// Builds an archive whose header, index, frame and footer fit what is in it: flags (and, in bits
/// 5 and 6, a codec), the number of grains, the version of the field map, then the grains, each
/// with its length in two bytes, then the manifest.
pub fn build(data: &[u8]) -> Vec<u8> {
    let [flags, count, version, rest @ ..] = data else {
        return Vec::new();
    };
    let codec = match flags >> 5 & 3 {
        1 => 1,
        2 => 2,
        _ => 0,
    };
    let mut rest = rest;
    let mut grains: Vec<&[u8]> = Vec::new();
    for _ in 0..*count {
        let Some((len, after)) = rest.split_first_chunk() else {
            break;
        };
        let len = usize::from(u16::from_be_bytes(*len)).min(after.len());
        let (grain, after) = after.split_at(len);
        grains.push(grain);
        rest = after;
    }
    let compressed = if codec == 0 { 0 } else { COMPRESSED_FLAG };
    let manifest = if rest.is_empty() { 0 } else { MANIFEST_FLAG };
    let mut file = b"MG\x01".to_vec();
    file.push(flags & 3 | compressed | manifest);
    let number = u32::try_from(grains.len()).unwrap_or(u32::MAX);
    file.extend_from_slice(&number.to_be_bytes());
    file.extend_from_slice(&[*version, codec, 0, 0, 0, 0, 0, 0]);
    let mut offset = if codec == 0 { 16 + 4 * number } else { 0 };
    for grain in &grains {
        file.extend_from_slice(&offset.to_be_bytes());
        offset += u32::try_from(grain.len()).unwrap_or(u32::MAX);
    }
    file.extend(packed(codec, &grains.concat()));
    file.extend_from_slice(rest);
    with_footer(file)
}

fn packed(codec: u8, region: &[u8]) -> Vec<u8> {
    match codec {
        0 => region.to_vec(),
        1 => zstd::bulk::compress(region, 1).expect("memory takes everything"),
        _ => {
            let mut encoder = FrameEncoder::new(Vec::new());
            encoder.write_all(region).expect("memory takes everything");
            encoder.finish().expect("memory takes everything")
        }
    }
}

/// Returns bytes and their SHA-256.
pub fn with_footer(mut bytes: Vec<u8>) -> Vec<u8> {
    let footer = Sha256::digest(&bytes);
    bytes.extend_from_slice(&footer);
    bytes
}

const COMPRESSED_FLAG: u8 = 1 << 2;
const MANIFEST_FLAG: u8 = 1 << 4;

/// Ends frames that decompress to much early, so that time goes into inputs and not into zeros.
const OPTIONS: mg::ReadOptions = mg::ReadOptions {
    region_len_max: 2 << 20,
    trust_ratio: false,
};
