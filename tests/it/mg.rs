//! Archives: what is written is read back to the byte, and every lie of a file has its code.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use grainstore::codec::{Compression, ContentAddress, Encoding, Flags, Profile};
use grainstore::grain::{Draft, Grain, Lifecycle, Status, Time, Verification};
use grainstore::interchange::mg::{
    Archive, Entry, Plan, ReadOptions, Summary, read_frames, volume_path, write, write_end,
    write_frame,
};
use grainstore::interchange::{Error, Record, WriteOptions};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::random::{Random, cases};
use crate::sample;
use raw::Raw;

mod foreign;
mod lies;
mod numbered;
mod raw;

const CODECS: [Compression; 3] = [Compression::None, Compression::Zstd, Compression::Lz4];

type Memory = Vec<(Grain, Status)>;

fn grain(ms: i64, text: &str) -> Grain {
    let draft = Draft::event(text).created_at(Time::from_ms(ms));
    draft.finish(Profile::Extended).unwrap()
}

fn cbor_grain(ms: i64, text: &str) -> Grain {
    let draft = Draft::event(text).created_at(Time::from_ms(ms));
    draft
        .encoding(Encoding::Cbor)
        .finish(Profile::Extended)
        .unwrap()
}

fn retracted() -> Status {
    Status {
        verification: Verification::Retracted,
        system_valid_to: Some(Time::from_ms(1_768_471_200_000)),
        ..Status::default()
    }
}

/// Five grains, one of them CBOR; two with a status if `with_status`.
fn memory(with_status: bool) -> Memory {
    let mut memory: Memory = (0..4)
        .map(|n| (grain(n, &format!("event {n}")), Status::default()))
        .collect();
    memory.push((cbor_grain(4, "last"), Status::default()));
    if with_status {
        memory[1].1 = retracted();
        memory[2].1.superseded_by = Some(memory[3].0.address());
    }
    memory
}

fn entries(memory: &Memory) -> Vec<Entry> {
    let entry = |(grain, status): &(Grain, Status)| Entry::of(grain, status);
    memory.iter().map(entry).collect()
}

fn fetch(memory: &Memory) -> impl FnMut(ContentAddress) -> Result<Grain, Error> {
    let by_address: BTreeMap<_, _> = memory
        .iter()
        .map(|(grain, _)| (grain.address(), grain.clone()))
        .collect();
    move |address| Ok(by_address[&address].clone())
}

fn write_with(memory: &Memory, options: &WriteOptions) -> Result<(Vec<u8>, Summary), Error> {
    let mut file = Vec::new();
    let summary = write(&mut file, entries(memory), options, fetch(memory))?;
    Ok((file, summary))
}

fn pack(memory: &Memory, compression: Compression) -> Vec<u8> {
    let options = WriteOptions {
        compression,
        ..WriteOptions::default()
    };
    write_with(memory, &options).unwrap().0
}

fn open(file: &[u8]) -> Result<Archive<Cursor<&[u8]>>, Error> {
    Archive::open(Cursor::new(file), ReadOptions::default())
}

fn unpack(file: &[u8]) -> Result<Vec<Record>, Error> {
    open(file)?.records()?.collect()
}

fn back(records: Vec<Record>) -> Memory {
    let status = |record: &Record| {
        let mut status = Status::default();
        status.apply(&record.status);
        status
    };
    records
        .into_iter()
        .map(|record| (record.grain.clone(), status(&record)))
        .collect()
}

/// Returns the code of the first thing wrong with a file.
fn code(file: &[u8]) -> &'static str {
    let report = Archive::verify(Cursor::new(file), ReadOptions::default());
    report
        .findings
        .first()
        .map_or("valid", |error| error.code().as_str())
}

/// Replaces the footer with the checksum of what stands before it.
fn seal(mut file: Vec<u8>) -> Vec<u8> {
    let body = file.len() - 32;
    let checksum = Sha256::digest(&file[..body]);
    file[body..].copy_from_slice(&checksum);
    file
}

fn draft() -> impl Strategy<Value = Draft> {
    any::<u64>().prop_map(|seed| sample::draft(&mut Random::new(seed)))
}

fn status() -> impl Strategy<Value = Status> {
    let words = vec!["unverified", "verified", "contested", "retracted"];
    let word = prop::sample::select(words).prop_map(|word| Verification::named(word).unwrap());
    let address = any::<[u8; 32]>().prop_map(ContentAddress::new);
    let time = any::<i64>().prop_map(Time::from_ms);
    (prop::option::of(address), prop::option::of(time), word).prop_map(|(by, to, word)| Status {
        superseded_by: by,
        system_valid_to: to,
        verification: word,
        ..Status::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]

    #[test]
    fn what_is_written_is_read_and_written_again_to_the_same_bytes(
        drafts in prop::collection::vec((draft(), prop::option::of(status())), 0..5),
        compression in prop::sample::select(&CODECS[..]),
        with_status: bool,
    ) {
        let memory: Memory = drafts
            .into_iter()
            .map(|(draft, status)| {
                let status = status.filter(|_| with_status).unwrap_or_default();
                (draft.finish(Profile::Extended).unwrap(), status)
            })
            .collect();
        let file = pack(&memory, compression);
        prop_assert_eq!(code(&file), "valid");
        let read = back(unpack(&file).unwrap());
        let sorted = read.is_sorted_by_key(|(g, _)| (g.created_at(), g.address()));
        prop_assert!(sorted);
        let by_address = |memory: &Memory| -> BTreeMap<_, _> {
            memory.iter().rev().map(|(g, s)| (g.address(), (g.blob().to_vec(), *s))).collect()
        };
        prop_assert_eq!(by_address(&read), by_address(&memory));
        let reversed = read.iter().rev().cloned().collect();
        prop_assert_eq!(pack(&reversed, compression), file);
    }
}

#[test]
fn the_bytes_of_a_file_are_those_of_the_specification() {
    let (a, b) = (grain(1, "a"), cbor_grain(2, "b"));
    let memory = vec![(a.clone(), retracted()), (b.clone(), Status::default())];
    let mut raw = Raw::of(&[a.clone(), b]);
    raw.flags = 0b1_0011;
    raw.manifest = [
        &[0x81, 0xd9, 64][..],
        a.address().to_string().as_bytes(),
        b"\x82\xa3svt\xcf\x00\x00\x01\x9b\xc1\x19\x01\x00\xa7vstatus\xa9retracted",
    ]
    .concat();
    assert_eq!(1_768_471_200_000_u64, 0x019b_c119_0100);
    assert_eq!(pack(&memory, Compression::None), raw.bytes());
}

#[test]
fn the_manifest_is_cbor_when_every_grain_is() {
    for compression in CODECS {
        let memory = vec![
            (cbor_grain(1, "a"), retracted()),
            (cbor_grain(2, "b"), Status::default()),
        ];
        let file = pack(&memory, compression);
        assert!(file.windows(3).any(|bytes| bytes == [0xa1, 0x78, 64]));
        assert_eq!(back(unpack(&file).unwrap()), memory);
    }
}

#[test]
fn what_a_file_cannot_carry_is_counted() {
    let with = |lifecycle, contradicted, verification| Status {
        lifecycle,
        contradicted,
        verification,
        ..Status::default()
    };
    let memory = vec![
        (
            grain(1, "a"),
            with(Lifecycle::Archived, false, Verification::Unverified),
        ),
        (
            grain(2, "b"),
            with(Lifecycle::Deprecated, true, Verification::Contested),
        ),
        (
            grain(3, "c"),
            with(Lifecycle::Superseded, true, Verification::Verified),
        ),
        (
            grain(4, "d"),
            Status {
                lifecycle: Lifecycle::Superseded,
                ..retracted()
            },
        ),
    ];
    let (_, summary) = write_with(&memory, &WriteOptions::default()).unwrap();
    let loss: Vec<_> = summary.loss.iter().collect();
    assert_eq!(loss, [("contradicted", 2), ("lifecycle", 3)]);
    assert_eq!((summary.grains, summary.manifest_entries), (4, 3));
}

#[test]
fn every_flipped_bit_every_cut_and_every_trailing_byte_is_refused() {
    for compression in CODECS {
        let file = pack(&memory(true), compression);
        assert!(file.len() <= 4096);
        assert_eq!(code(&file), "valid");
        for at in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            let expected = if at < 24 {
                "ERR_MG_MAGIC"
            } else {
                "ERR_MG_CHECKSUM"
            };
            assert_eq!(code(&flipped), expected, "{compression:?} bit {at}");
        }
        for len in 0..file.len() {
            let expected = if len < 48 {
                "ERR_MG_TRUNCATED"
            } else {
                "ERR_MG_CHECKSUM"
            };
            assert_eq!(code(&file[..len]), expected, "{compression:?} {len}");
        }
        for extra in 1..=64 {
            let longer = [&file[..], &vec![0; extra]].concat();
            assert_eq!(code(&longer), "ERR_MG_CHECKSUM", "{compression:?} {extra}");
        }
    }
}

#[test]
fn damage_under_a_checksum_that_fits_never_shows_a_wrong_grain() {
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        // xorshift64: repeatable, and as good as needed here.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(below).unwrap()).unwrap()
    };
    let files: Vec<_> = CODECS
        .into_iter()
        .flat_map(|codec| [true, false].map(|status| pack(&memory(status), codec)))
        .collect();
    let mut outcomes = BTreeMap::<_, u32>::new();
    for _ in 0..cases(500) {
        let mut file = files[random(files.len())].clone();
        for _ in 0..=random(3) {
            let at = random((file.len() - 32) * 8);
            file[at / 8] ^= 1 << (at % 8);
        }
        let file = seal(file);
        *outcomes.entry(code(&file)).or_default() += 1;
        let Ok(archive) = open(&file) else { continue };
        for record in archive.records().unwrap().flatten() {
            let grain = record.grain;
            assert_eq!(grain.address(), ContentAddress::of(grain.blob()));
            assert!(Grain::from_foreign_blob(grain.into_blob(), Profile::Extended).is_ok());
        }
    }
    // The damage reaches every check, not only the first.
    for expected in [
        "ERR_MG_INDEX",
        "ERR_MG_CODEC",
        "ERR_MG_MANIFEST",
        "ERR_MG_FLAGS",
        "ERR_CORRUPT",
    ] {
        assert!(outcomes.contains_key(expected), "{expected}: {outcomes:?}");
    }
}

#[test]
fn a_signature_that_is_none_does_not_hide_the_other_grains() {
    let grains = [grain(1, "a"), grain(2, "b"), grain(3, "c")];
    for head in [0x84, 0xd2] {
        let mut raw = Raw::of(&grains);
        let middle = usize::try_from(raw.offsets[1]).unwrap() - 28;
        raw.region[middle] = head;
        let report = Archive::verify(Cursor::new(raw.bytes()), ReadOptions::default());
        assert_eq!((report.grains, report.refused), (2, 1));
        assert_eq!(report.findings[0].code(), "ERR_CORRUPT");
        let mut last = Raw {
            flags: 0b1_0000,
            manifest: vec![0x80],
            ..Raw::of(&grains)
        };
        let at = usize::try_from(last.offsets[2]).unwrap() - 28;
        last.region[at] = head;
        assert_eq!(last.code(), "ERR_CORRUPT");
    }
}

#[test]
fn a_refused_grain_does_not_end_a_file() {
    let huge = Grain::from_stored(vec![1; 1_100_000], ContentAddress::of(&vec![1; 1_100_000]));
    let grains = [grain(1, "a"), huge.unwrap(), grain(3, "c")];
    let region = Raw::of(&grains).region;
    for raw in [Raw::of(&grains), Raw::zstd(&grains, &region)] {
        let file = raw.bytes();
        let archive = open(&file).unwrap();
        let codes: Vec<_> = archive
            .records()
            .unwrap()
            .map(|record| record.map_or_else(|error| error.code().as_str(), |_| "read"))
            .collect();
        assert_eq!(codes, ["read", "ERR_RANGE", "read"]);
    }
}

#[test]
fn grains_past_the_limit_go_to_further_files() {
    let status = |n| {
        if n % 3 == 0 {
            retracted()
        } else {
            Status::default()
        }
    };
    let memory: Memory = (0..2000)
        .map(|n| (grain(n, &"x".repeat(100)), status(n)))
        .collect();
    for compression in CODECS {
        let options = WriteOptions {
            compression,
            volume_len_max: Some(64 * 1024),
            ..WriteOptions::default()
        };
        assert_eq!(
            write_with(&memory, &options).unwrap_err().code(),
            "ERR_MG_LIMIT"
        );
        let plan = Plan::new(entries(&memory), &options).unwrap();
        let mut all = Vec::new();
        for volume in plan.volumes() {
            let mut file = Vec::new();
            let summary = volume.write(&mut file, fetch(&memory)).unwrap();
            assert_eq!(summary.bytes, u64::try_from(file.len()).unwrap());
            assert!(file.len() <= 64 * 1024);
            assert_eq!(code(&file), "valid");
            all.extend(back(unpack(&file).unwrap()));
        }
        assert_eq!(all, memory);
        assert!((5..12).contains(&plan.volumes().len()));
    }
    assert_eq!(
        volume_path("out".as_ref(), 1),
        std::path::Path::new("out.001")
    );
}

#[test]
fn a_grain_longer_than_a_file_is_refused_wherever_it_stands() {
    for at in 0..3 {
        let text = |n| "x".repeat(if n == at { 3000 } else { 10 });
        let memory: Memory = (0..3)
            .map(|n| (grain(n, &text(n)), Status::default()))
            .collect();
        let options = WriteOptions {
            volume_len_max: Some(2000),
            ..WriteOptions::default()
        };
        let error = Plan::new(entries(&memory), &options).unwrap_err();
        assert_eq!(error.code(), "ERR_MG_LIMIT", "{error}");
    }
}

#[test]
fn a_grain_that_is_not_what_was_planned_is_not_written() {
    let (a, b) = (grain(1, "a"), grain(1, "b"));
    let give = |grain: Grain| move |_| Ok::<_, Error>(grain.clone());
    let entry = |len| Entry::new(a.created_at(), a.address(), len, &Status::default());
    let len = u32::try_from(a.blob().len()).unwrap();
    for (entry, given, code) in [
        (entry(len), b, "ERR_INTEGRITY"),
        (entry(len + 1), a.clone(), "ERR_MG_INDEX"),
    ] {
        let result = write(
            &mut io::sink(),
            vec![entry],
            &WriteOptions::default(),
            give(given),
        );
        assert_eq!(result.unwrap_err().code(), code);
    }
    for (flag, status, code) in [
        (Flags::SIGNED, Status::default(), "ERR_SIGNED_MISMATCH"),
        (Flags::ENCRYPTED, retracted(), "ERR_UNSUPPORTED"),
    ] {
        let mut blob = a.blob().to_vec();
        blob[1] |= flag.bits();
        let address = ContentAddress::of(&blob);
        let flagged = Grain::from_stored(blob, address).unwrap();
        let entry = Entry::new(a.created_at(), address, len, &status);
        let result = write(
            &mut io::sink(),
            vec![entry],
            &WriteOptions::default(),
            give(flagged),
        );
        assert_eq!(result.unwrap_err().code(), code);
    }
}

/// A file that can be read a number of times and then fails, or has been cut short.
struct Failing<'a> {
    file: Cursor<&'a [u8]>,
    reads_left: u32,
    is_cut: bool,
}

impl Read for Failing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.reads_left.checked_sub(1) {
            Some(left) => self.reads_left = left,
            None if self.is_cut => return Ok(0),
            None => return Err(io::ErrorKind::PermissionDenied.into()),
        }
        self.file.read(buf)
    }
}

impl Seek for Failing<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn a_disk_that_fails_is_not_taken_for_damage() {
    for compression in CODECS {
        let file = pack(&memory(true), compression);
        for is_cut in [false, true] {
            for reads_left in 0.. {
                let file = Cursor::new(file.as_slice());
                let failing = Failing {
                    file,
                    reads_left,
                    is_cut,
                };
                let report = Archive::verify(failing, ReadOptions::default());
                if report.is_valid() {
                    // Both passes over the file were reached.
                    assert!(reads_left > 8, "{reads_left}");
                    break;
                }
                // Inside a frame, a file cut short while it is read looks like a frame cut short.
                let code = report.findings[0].code();
                let is_cut_frame = is_cut && code == "ERR_MG_CODEC";
                assert!(code == "ERR_IO" || is_cut_frame, "{compression:?}: {code}");
            }
        }
    }
}

#[test]
fn frames_give_their_grains_back_and_leave_what_follows() {
    let grains: Vec<_> = memory(false).into_iter().map(|(grain, _)| grain).collect();
    let mut wire = Vec::new();
    for grain in &grains {
        write_frame(&mut wire, grain).unwrap();
    }
    write_end(&mut wire).unwrap();
    let whole = wire.len();
    wire.write_all(b"more").unwrap();
    let mut source = wire.as_slice();
    let read: Result<Vec<_>, _> = read_frames(&mut source).collect();
    let read: Vec<_> = read
        .unwrap()
        .into_iter()
        .map(|record| record.grain)
        .collect();
    assert_eq!(read, grains);
    assert_eq!(source, b"more");
    for len in 0..whole {
        let last = read_frames(&wire[..len]).last().unwrap();
        assert_eq!(last.unwrap_err().code(), "ERR_MG_TRUNCATED", "{len}");
    }
}

#[test]
fn a_frame_that_is_too_long_ends_a_stream_and_a_bad_grain_does_not() {
    let mut wire = Vec::new();
    write_frame(&mut wire, &grain(1, "a")).unwrap();
    wire.extend([0, 0, 0, 2, b'n', b'o']);
    write_frame(&mut wire, &grain(2, "b")).unwrap();
    wire.extend(u32::MAX.to_be_bytes());
    wire.extend([0; 100]);
    let codes: Vec<_> = read_frames(wire.as_slice())
        .map(|record| record.map_or_else(|error| error.code().as_str(), |_| "read"))
        .collect();
    assert_eq!(codes, ["read", "ERR_TOO_SHORT", "read", "ERR_MG_LIMIT"]);
}
