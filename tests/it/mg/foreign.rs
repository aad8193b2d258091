//! Payloads that other implementations compressed or encrypted (OMS 3.1.1, ruling P4).

use std::path::Path;

use grainstore::interchange::{self, Format, ImportFile};
use grainstore::store::Summary as Imported;
use grainstore::{Filter, Options, Store};

use super::*;

/// The blob with the payload as one zstd frame, as another implementation may write it.
fn compressed(grain: &Grain) -> Vec<u8> {
    let (header, payload) = grain.blob().split_at(9);
    let mut blob = header.to_vec();
    blob[1] |= Flags::COMPRESSED.bits();
    blob.extend(zstd::encode_all(payload, 3).unwrap());
    blob
}

/// The blob with bytes that nothing here can read.
fn encrypted(grain: &Grain) -> Vec<u8> {
    let mut blob = grain.blob()[..9].to_vec();
    blob[1] |= Flags::ENCRYPTED.bits() | Flags::COMPRESSED.bits();
    blob.extend((0..60_u8).map(|n| n.wrapping_mul(151)));
    blob
}

fn imported(store: &Store, path: &Path) -> Imported {
    let file = ImportFile::open(path, None, &interchange::ReadOptions::default()).unwrap();
    store.import(file).unwrap()
}

fn read(blob: Vec<u8>) -> Result<Grain, grainstore::grain::Error> {
    Grain::from_foreign_blob(blob, Profile::Extended).map(|(grain, _)| grain)
}

/// Exports all of the store in every format, and reads back the formats that carry any grain.
fn give_out(store: &Store, sealed: &Grain, folder: &Path) {
    let every = Filter::new().with_superseded();
    for format in [Format::Mg, Format::Jsonl] {
        let mut again = Vec::new();
        let written =
            store
                .admin()
                .unwrap()
                .export(format, &every, &Default::default(), &mut again);
        assert_eq!(written.unwrap().grains, 3);
        let path = folder.join("again");
        std::fs::write(&path, again).unwrap();
        let copy = Store::in_memory(Options::default()).unwrap();
        assert_eq!(imported(&copy, &path).inserted, 3);
        let kept = copy.get(&sealed.address()).unwrap().unwrap();
        assert_eq!(kept.blob(), sealed.blob());
    }
    for format in [Format::Omi, Format::Aimem, Format::Pam] {
        let written =
            store
                .admin()
                .unwrap()
                .export(format, &every, &Default::default(), &mut io::sink());
        assert!(written.is_ok(), "{format:?}: {written:?}");
    }
}

#[test]
fn an_archive_with_compressed_and_encrypted_grains_is_stored_and_given_out_as_it_came() {
    let plain = grain(1, "in the clear");
    let packed = read(compressed(&grain(2, "squeezed"))).unwrap();
    let sealed = read(encrypted(&grain(3, "not for you"))).unwrap();
    assert_eq!(packed.text("content"), Some("squeezed"));
    assert!(sealed.is_encrypted() && sealed.fields().is_empty());
    for (with_status, codec) in [
        (false, Compression::None),
        (true, Compression::None),
        (true, Compression::Zstd),
    ] {
        let status = if with_status {
            retracted()
        } else {
            Status::default()
        };
        let memory: Memory = vec![
            (plain.clone(), Status::default()),
            (packed.clone(), status),
            (sealed.clone(), Status::default()),
        ];
        let file = pack(&memory, codec);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("others.mg");
        std::fs::write(&path, &file).unwrap();
        let store = Store::in_memory(Options::default()).unwrap();
        let summary = imported(&store, &path);
        assert!(
            summary.is_complete() && summary.inserted == 3,
            "{summary:?}"
        );
        for grain in [&plain, &packed, &sealed] {
            assert_eq!(
                store.get(&grain.address()).unwrap().unwrap().blob(),
                grain.blob()
            );
        }
        let every = Filter::new().with_superseded();
        let found = store.query(&every, 9, None).unwrap();
        assert_eq!(found.total, 3);
        let agent = store.read_only();
        assert_eq!(agent.query(&every, 9, None).unwrap().results.len(), 2);
        give_out(&store, &sealed, folder.path());
        assert!(
            store
                .maintenance()
                .unwrap()
                .check()
                .unwrap()
                .findings
                .is_empty()
        );
    }
}

#[test]
fn a_payload_is_decompressed_up_to_the_longest_and_no_further() {
    let mut bomb = grain(1, "a").blob()[..9].to_vec();
    bomb[1] |= Flags::COMPRESSED.bits();
    bomb.extend(zstd::encode_all(io::repeat(0).take(64 << 20), 19).unwrap());
    assert!(bomb.len() < 64 << 10);
    assert_eq!(read(bomb).unwrap_err().code(), "ERR_RANGE");

    let good = compressed(&grain(1, "squeezed"));
    let mut longer = good.clone();
    longer.push(0);
    assert_eq!(read(longer).unwrap_err().code(), "ERR_CORRUPT");
    assert_eq!(
        read(good[..good.len() - 1].to_vec()).unwrap_err().code(),
        "ERR_CORRUPT"
    );
    let header = Grain::from_blob(good.clone(), Profile::Extended).unwrap();
    assert_eq!(
        header.address(),
        ContentAddress::of(&good),
        "the address is of the bytes received"
    );
    let sealed = encrypted(&grain(1, "a"));
    let refused = Grain::from_blob(sealed, Profile::Extended).unwrap_err();
    assert_eq!(
        refused.code(),
        "ERR_CORRUPT",
        "it is written elsewhere alone"
    );
}
