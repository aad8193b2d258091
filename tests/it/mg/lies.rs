//! Files that were put together to deceive: every lie has its code, and bombs do not unfold.

use grainstore::interchange::{self, ImportFile};

use super::*;

#[test]
fn bombs_are_refused_before_they_unfold() {
    let zeros = io::repeat(0).take(200 << 20);
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    io::copy(&mut zeros.take(200 << 20), &mut lz4).unwrap();
    let zstd = zstd::encode_all(io::repeat(0).take(200 << 20), 3).unwrap();
    for (codec, region) in [(1, zstd), (2, lz4.finish().unwrap())] {
        // One offset accounts for 1 MiB, the two for all of it, at more than 100:1.
        for offsets in [vec![0], vec![0, 199 << 20]] {
            let count = u32::try_from(offsets.len()).unwrap();
            let (region, manifest) = (region.clone(), Vec::new());
            let raw = Raw {
                flags: 4,
                codec,
                count,
                offsets,
                region,
                manifest,
            };
            assert_eq!(raw.code(), "ERR_MG_LIMIT");
            let configured = ReadOptions {
                region_len_max: 1 << 20,
                trust_ratio: true,
            };
            let error = Archive::open(Cursor::new(raw.bytes()), configured).unwrap_err();
            assert_eq!(error.code(), "ERR_MG_LIMIT");
            let trusting = ReadOptions {
                trust_ratio: true,
                ..ReadOptions::default()
            };
            assert_eq!(
                Archive::open(Cursor::new(raw.bytes()), trusting).is_ok(),
                count == 2
            );
        }
    }
}

#[test]
fn a_lie_in_the_header_or_the_index_has_its_code() {
    let grains = [grain(1, "a"), grain(2, "b"), grain(3, "c")];
    let honest = Raw::of(&grains);
    assert_eq!(honest.code(), "valid");
    let lie = |change: &dyn Fn(&mut Raw)| {
        let mut raw = honest.clone();
        change(&mut raw);
        raw.code()
    };
    for (count, code) in [
        (u32::MAX, "ERR_MG_INDEX"),
        (4, "ERR_MG_INDEX"),
        (2, "ERR_MG_INDEX"),
        (0, "ERR_MG_TRAILING"),
    ] {
        assert_eq!(lie(&|raw| raw.count = count), code, "{count} grains");
    }
    for (flags, codec, code) in [
        (0b1000, 0, "ERR_MG_FLAGS"),
        (0b10_0000, 0, "ERR_MG_FLAGS"),
        (0b1000_0000, 0, "ERR_MG_FLAGS"),
        (0, 1, "ERR_MG_CODEC"),
        (0, 9, "ERR_MG_CODEC"),
        (0b100, 0, "ERR_MG_CODEC"),
        (0b100, 3, "ERR_MG_CODEC"),
        (0b1_0000, 0, "ERR_MG_MANIFEST"),
    ] {
        let code_found = lie(&|raw| (raw.flags, raw.codec) = (flags, codec));
        assert_eq!(code_found, code, "flags {flags:b}, codec {codec}");
    }
    let [a, b, c] = honest.offsets[..] else {
        unreachable!()
    };
    for offsets in [
        [a, a, c],
        [a, c, b],
        [a + 1, b, c],
        [a - 4, b, c],
        [0, b, c],
        [a, b, u32::MAX],
        [a, b, b],
    ] {
        let code = lie(&|raw| raw.offsets = offsets.to_vec());
        assert_eq!(code, "ERR_MG_INDEX", "{offsets:?}");
    }
    // Neighbours that share a boundary in the wrong place: both grains are refused.
    assert_eq!(lie(&|raw| raw.offsets = vec![a, b + 1, c]), "ERR_CORRUPT");
    assert_eq!(lie(&|raw| raw.region.push(0)), "ERR_CORRUPT");
    let mut reserved = honest.bytes();
    reserved[12] = 1;
    assert_eq!(code(&seal(reserved)), "ERR_MG_RESERVED");
}

#[test]
fn a_lie_about_a_compressed_region_has_its_code() {
    let grains = [grain(1, "a"), grain(2, "b")];
    let region = Raw::of(&grains).region;
    let honest = Raw::zstd(&grains, &region);
    assert_eq!(honest.code(), "valid");
    let mut two_frames = honest.clone();
    two_frames
        .region
        .extend(zstd::encode_all(&b""[..], 3).unwrap());
    assert_eq!(two_frames.code(), "ERR_MG_TRAILING");
    let mut skippable = honest.clone();
    skippable
        .region
        .extend([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
    assert_eq!(skippable.code(), "ERR_MG_TRAILING");
    let mut no_frame = honest.clone();
    no_frame.region.clear();
    assert_eq!(no_frame.code(), "ERR_MG_CODEC");
    assert_eq!(
        Raw::zstd(&grains, &region[..region.len() / 2]).code(),
        "ERR_MG_INDEX"
    );
    assert_eq!(
        Raw::zstd(&grains, &[&region[..], b"x"].concat()).code(),
        "ERR_CORRUPT"
    );
    let mut absolute = honest;
    absolute.offsets = Raw::of(&grains).offsets;
    assert_eq!(absolute.code(), "ERR_MG_INDEX");
}

#[test]
fn flags_that_lie_about_order_are_found_and_ties_may_stand_in_any_order() {
    let (a, b, c) = (grain(1, "a"), grain(2, "b"), grain(2, "c"));
    let with = |flags, grains: &[&Grain]| {
        let grains: Vec<_> = grains.iter().map(|grain| (*grain).clone()).collect();
        let raw = Raw {
            flags,
            ..Raw::of(&grains)
        };
        raw.code()
    };
    for grains in [[&b, &c], [&c, &b]] {
        assert_eq!(with(0b11, &grains), "valid");
    }
    assert_eq!(with(0b01, &[&b, &a]), "ERR_MG_FLAGS");
    assert_eq!(with(0b10, &[&b, &a]), "valid");
    for flags in [0b10, 0b11] {
        assert_eq!(with(flags, &[&a, &b, &c, &b]), "ERR_MG_FLAGS");
    }
    let raw = Raw {
        flags: 0b01,
        ..Raw::of(&[b.clone(), a.clone(), c])
    };
    let file = raw.bytes();
    let archive = open(&file).unwrap();
    let is_read: Vec<_> = archive.records().unwrap().map(|r| r.is_ok()).collect();
    assert_eq!(
        is_read,
        [true, false],
        "nothing follows an error of the file"
    );
    assert_eq!(with(0b01, &[&a, &b, &b]), "valid");
    assert_eq!(with(0b00, &[&b, &a, &b]), "valid");
}

#[test]
fn a_manifest_that_is_not_one_is_refused() {
    let grains = [grain(1, "a"), grain(2, "b")];
    let honest = Raw {
        flags: 0b1_0000,
        ..Raw::of(&grains)
    };
    let key = |grain: &Grain| [b"\xd9\x40", grain.address().to_string().as_bytes()].concat();
    let with = |parts: &[&[u8]]| code(&honest.with_manifest(parts));
    let (first, second) = (key(&grains[0]), key(&grains[1]));
    let (low, high) = if first < second {
        (&first, &second)
    } else {
        (&second, &first)
    };
    let upper = [b"\xd9\x40", low[2..].to_ascii_uppercase().as_slice()].concat();
    let sb = [b"\x81\xa2sb".as_slice(), high].concat();
    for valid in [
        &[b"\x80".as_slice()][..],
        &[b"\x82", low, b"\x80", high, b"\x80"],
        &[b"\x81", low, &sb],
        &[b"\x81", low, b"\x82\xa2ac\x2a\xa3laa\x05"],
        &[b"\x81", low, b"\x81\xa7vstatus\xaaunverified"],
    ] {
        assert_eq!(with(valid), "valid", "{valid:x?}");
    }
    for (name, parts) in [
        ("nothing", &[b"".as_slice()][..]),
        ("an array", &[b"\x90"]),
        ("a long count", &[b"\xde\x00\x01", low, b"\x80"]),
        ("a long count of none", &[b"\xde\x00\x00"]),
        ("a count without entries", &[b"\xdf\xff\xff\xff\xff"]),
        ("descending", &[b"\x82", high, b"\x80", low, b"\x80"]),
        ("twice", &[b"\x82", low, b"\x80", low, b"\x80"]),
        ("upper case", &[b"\x81", &upper, b"\x80"]),
        ("a short key", &[b"\x81\xa1a\x80"]),
        ("a value that is no map", &[b"\x81", low, b"\x90"]),
        (
            "unsorted fields",
            &[b"\x81", low, b"\x82\xa3svt\x05\xa2ac\x05"],
        ),
        ("a long integer", &[b"\x81", low, b"\x81\xa3svt\xcc\x05"]),
        ("null", &[b"\x81", low, b"\x81\xa3svt\xc0"]),
        ("a time in text", &[b"\x81", low, b"\x81\xa3svt\xa15"]),
        (
            "a time past 2^63",
            &[
                b"\x81",
                low,
                b"\x81\xa3svt\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
            ],
        ),
        ("no address", &[b"\x81", low, b"\x81\xa2sb\xa3abc"]),
        (
            "an unknown status",
            &[b"\x81", low, b"\x81\xa7vstatus\xa4nice"],
        ),
        ("CBOR in MessagePack", &[b"\x81", low, b"\xa0"]),
        ("cut short", &[b"\x81", low, b"\x81\xa3svt"]),
        (
            "an entry of 10 KB",
            &[b"\x81", low, b"\x81\xa1x\xda\x27\x10", &[b'x'; 10_000]],
        ),
    ] {
        assert_eq!(with(parts), "ERR_MG_MANIFEST", "{name}");
    }
    assert_eq!(with(&[b"\x80\x00"]), "ERR_MG_TRAILING");
}

#[test]
fn grains_that_replace_each_other_in_a_circle_arrive_current() {
    // Ruling P16: `a` leads into a circle of `b`, `c` and `d`; `e` replaces itself.
    let grains = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")].map(|(n, text)| grain(n, text));
    let by = [1, 2, 3, 1, 4];
    let mut entries: Vec<_> = (0..5)
        .map(|n| {
            let key = |n: usize| [b"\xd9\x40", grains[n].address().to_string().as_bytes()].concat();
            (
                key(n),
                [b"\x82\xa2sb".as_slice(), &key(by[n]), b"\xa3svt\x05"].concat(),
            )
        })
        .collect();
    entries.sort();
    let entries: Vec<_> = entries
        .into_iter()
        .flat_map(|(key, by)| [key, by].concat())
        .collect();
    let raw = Raw {
        flags: 0b1_0000,
        manifest: [b"\x85".as_slice(), &entries].concat(),
        ..Raw::of(&grains)
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("circle.mg");
    std::fs::write(&path, raw.bytes()).unwrap();
    let store = grainstore::Store::in_memory(grainstore::Options::default()).unwrap();
    let reading = ImportFile::open(&path, None, &interchange::ReadOptions::default()).unwrap();
    let summary = store.import(reading).unwrap();
    let told = summary
        .findings
        .iter()
        .filter(|(_, text)| text.contains("in a cycle"));
    assert_eq!(
        (summary.inserted, told.count()),
        (5, 4),
        "{:?}",
        summary.findings
    );
    let is_current = grains
        .each_ref()
        .map(|it| store.status(&it.address()).unwrap().is_current());
    assert_eq!(is_current, [false, true, true, true, true]);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn what_is_odd_about_a_file_is_a_warning() {
    let honest = Raw {
        flags: 0b1_0000,
        ..Raw::of(&[grain(1, "a")])
    };
    let absent = grain(9, "absent").address().to_string();
    let manifest = [b"\x81\xd9\x40", absent.as_bytes(), b"\x81\xa5rstat\x01"].concat();
    let mut file = Raw { manifest, ..honest }.bytes();
    file[8] = 7;
    let report = Archive::verify(Cursor::new(seal(file)), ReadOptions::default());
    assert!(report.is_valid(), "{:?}", report.findings);
    let warnings = report.warnings.join("\n");
    for expected in [
        "version 7",
        "1 fields",
        &format!("{absent} is not in the file"),
    ] {
        assert!(warnings.contains(expected), "{warnings}");
    }
}
