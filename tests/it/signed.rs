//! Signed grains in a store (OMS 9.2, ruling S1): kept beside their signature, delivered inside it,
//! and never one without the other.

mod checkpoint;
mod owner;
mod several_rules;
mod squat;
mod trust;

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use grainstore::codec::{Compression, Profile};
use grainstore::crypto::{
    Algorithm, Did, Envelope, Error as CryptoError, Offline, Resolver, SigningKey, VerifyingKey,
    from_delivery, sign, to_delivery, verify_signature,
};
use grainstore::interchange::{
    Error as FileError, Format, ImportFile, ReadOptions, WriteOptions, mg,
};
use grainstore::ledger::{Binding, Disk, Kind, Ledger, MemoryDisk, NewEntry, OpenMode};
use grainstore::store::{Authorization, NewGrain, Options, Summary, Until};
use grainstore::{ContentAddress, Draft, Filter, Grain, Store, Time};

use crate::sample::addresses_of;
use crate::signing::key;
use crate::store::at;

fn ada() -> SigningKey {
    key(Algorithm::Ed25519, 7)
}

fn bob() -> SigningKey {
    key(Algorithm::P256, 8)
}

fn draft(object: &str) -> Draft {
    Draft::belief("user", "prefers", object)
        .confidence(0.9)
        .namespace("work")
        .created_at(Time::from_ms(1_768_471_200_000))
}

fn unsigned(draft: Draft) -> Grain {
    draft.to_be_signed().finish(Profile::Extended).unwrap()
}

/// A grain that its author has signed.
fn signed_by(draft: Draft, key: &SigningKey) -> Grain {
    let grain = unsigned(draft.author(key.did().as_str()));
    sign(grain, key, &key.did(), Some(1)).unwrap()
}

fn memory() -> Store {
    Store::in_memory(at(2_000_000_000_000).0).unwrap()
}

fn open(disk: &MemoryDisk) -> Store {
    let mut options = at(2_000_000_000_000).0;
    options.ballast_bytes = 0;
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

/// How many refusals are on record.
fn denials(store: &Store) -> u64 {
    let rows = store
        .maintenance()
        .unwrap()
        .index_snapshot()
        .of_kind(Kind::Denial)
        .rows();
    rows.unwrap().len()
}

fn code<T: std::fmt::Debug>(result: Result<T, grainstore::store::Error>) -> &'static str {
    result.unwrap_err().code().as_str()
}

#[test]
fn a_signed_grain_is_read_like_any_other_and_delivered_inside_its_signature() {
    for key in [ada(), bob()] {
        let grain = signed_by(draft("dark mode"), &key);
        let sent = to_delivery(&grain).unwrap().into_owned();
        assert_ne!(sent, grain.blob());
        let disk = MemoryDisk::default();
        let store = open(&disk);
        let address = store.put(grain.clone()).unwrap();
        assert_eq!(address, ContentAddress::of(grain.blob()), "OMS 9.2");
        // Once is enough.
        assert_eq!(store.put(grain.clone()).unwrap(), address);
        assert_eq!(
            addresses_of(&store.put_batch([grain.clone(), grain]).unwrap()),
            [address; 2]
        );
        assert_eq!(store.maintenance().unwrap().stats().unwrap().entries, 2);
        let found = store.search("dark mode", &Filter::new(), 9).unwrap();
        assert_eq!(found.results[0].address, address);
        drop(store);
        let store = open(&disk);
        let read = store.get(&address).unwrap().unwrap();
        assert_eq!(read.text("object"), Some("dark mode"));
        assert_eq!(verify_signature(&read, &Offline).unwrap().did, key.did());
        let delivered = store.delivery(&address).unwrap().unwrap();
        assert_eq!(delivered, sent);
        assert!(
            Envelope::parse(&delivered)
                .unwrap()
                .verify(&Offline)
                .is_ok()
        );
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
        let (received, warnings) = from_delivery(&delivered, Profile::Extended).unwrap();
        assert_eq!((received.address(), warnings.len()), (address, 0));
        let other = memory();
        assert_eq!(other.put(received).unwrap(), address);
        assert_eq!(other.delivery(&address).unwrap().unwrap(), sent);
    }
    // What is not signed is delivered as it is.
    let store = memory();
    let plain = draft("tea").finish(Profile::Extended).unwrap();
    let address = store.put(plain.clone()).unwrap();
    assert_eq!(store.delivery(&address).unwrap().unwrap(), plain.blob());
    let (read, _) = from_delivery(plain.blob(), Profile::Extended).unwrap();
    assert_eq!((read.envelope(), read.is_signed()), (None, false));
    assert_eq!(store.delivery(&ContentAddress::of(b"no")).unwrap(), None);
}

#[test]
fn a_flag_without_a_signature_and_a_signature_without_a_flag_are_no_delivery() {
    let store = memory();
    let bare = unsigned(draft("dark mode"));
    let mismatch = "ERR_SIGNED_MISMATCH";
    assert_eq!(code(store.put(bare.clone())), mismatch);
    assert_eq!(code(store.put(draft("dark mode").to_be_signed())), mismatch);
    assert_eq!(code(store.put_batch([bare.clone()])), mismatch);
    assert_eq!(to_delivery(&bare).unwrap_err().code(), mismatch);
    assert_eq!(
        verify_signature(&bare, &Offline).unwrap_err().code(),
        mismatch
    );
    let old = store.put(draft("tea")).unwrap();
    let new = draft("coffee").derived_from(old).to_be_signed();
    assert_eq!(code(store.supersede(&old, new, None)), mismatch);
    let read = |bytes: &[u8]| from_delivery(bytes, Profile::Extended).map(|(it, _)| it);
    assert_eq!(read(bare.blob()).unwrap_err().code(), mismatch);
    // A wrapper around a blob that is not to be signed.
    let signed = signed_by(draft("dark mode"), &ada());
    let mut wrapped = to_delivery(&signed).unwrap().into_owned();
    let flags = wrapped.windows(3).position(|it| it == [0x01, 0x01, 0x01]);
    wrapped[flags.unwrap() + 1] = 0;
    assert_eq!(read(&wrapped).unwrap_err().code(), mismatch);
    let plain = draft("dark mode").finish(Profile::Extended).unwrap();
    let refused = sign(plain, &ada(), &ada().did(), None).unwrap_err();
    assert_eq!(refused.code(), mismatch);
    // Neither do they travel in files.
    let entry = mg::Entry::of(&bare, &Default::default());
    let give = |_| Ok::<_, FileError>(bare.clone());
    let written = mg::write(&mut Vec::new(), vec![entry], &Default::default(), give);
    assert_eq!(written.unwrap_err().code(), mismatch);
    assert_eq!(
        mg::write_frame(&mut Vec::new(), &bare).unwrap_err().code(),
        mismatch
    );
    let mut lines = grainstore::interchange::jsonl::Writer::new(Vec::new());
    assert_eq!(
        lines.write(&bare, &Default::default()).unwrap_err().code(),
        mismatch
    );
    assert_eq!(store.list(None, 9).unwrap().addresses, [old]);
}

/// One organisation, with the key of Ada.
#[derive(Debug)]
struct Organisation;

impl Resolver for Organisation {
    fn resolve(&self, _: &Did) -> Result<Vec<VerifyingKey>, CryptoError> {
        Ok(vec![ada().verifying_key()])
    }
}

#[test]
fn no_signature_is_stored_that_does_not_verify_here() {
    let store = memory();
    let grain = signed_by(draft("dark mode"), &ada());
    let mut forged = to_delivery(&grain).unwrap().into_owned();
    *forged.last_mut().unwrap() ^= 1;
    let (forged, _) = from_delivery(&forged, Profile::Extended).unwrap();
    assert_eq!(code(store.put(forged.clone())), "ERR_SIGNATURE");
    assert_eq!(
        code(store.put_batch([grain.clone(), forged])),
        "ERR_SIGNATURE"
    );
    assert!(!store.exists(&grain.address()).unwrap(), "all or nothing");
    // Nobody is asked over a network who a did:web is; a caller's resolver may know.
    let web: Did = "did:web:example.com".parse().unwrap();
    let grain = unsigned(draft("dark mode").author(web.as_str()));
    let grain = sign(grain, &ada(), &web, None).unwrap();
    assert_eq!(code(store.put(grain.clone())), "ERR_UNRESOLVED");
    let options = Options {
        resolver: Arc::new(Organisation),
        ..at(2_000_000_000_000).0
    };
    let store = Store::in_memory(options).unwrap();
    let address = store.put(grain).unwrap();
    let signature = store.signature(&address).unwrap().unwrap();
    assert_eq!(signature.signer, web);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_signed_grain_replaces_and_is_replaced_like_any_other() {
    let store = memory();
    let old = store.put(signed_by(draft("tea"), &ada())).unwrap();
    let new = signed_by(draft("coffee").derived_from(old), &ada());
    let new = store.supersede(&old, new, None).unwrap();
    let versions = store.history(&old).unwrap();
    assert_eq!(versions.len(), 2);
    for version in versions {
        assert_eq!(version.signature.unwrap().signer, ada().did());
        assert!(store.delivery(&version.grain.address()).unwrap().is_some());
    }
    assert_eq!(store.status(&old).unwrap().superseded_by, Some(new));
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_deleted_grain_takes_its_signature_with_it() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let grain = signed_by(draft("wombats"), &ada());
    let kept = store.put(signed_by(draft("quokkas"), &ada())).unwrap();
    let address = store.put(grain.clone()).unwrap();
    let asked = Authorization {
        reason: "asked by letter",
        authority: "the data protection officer",
    };
    store.admin().unwrap().delete(&address, asked).unwrap();
    let envelope = grain.envelope().unwrap();
    let signature = &envelope[envelope.len() - 64..];
    assert!(
        !holds(&disk, signature),
        "a signature proves what it was over"
    );
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    assert_eq!(code(store.put(grain.clone())), "ERR_ERASED");
    drop(store);
    let store = open(&disk);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    assert!(store.delivery(&kept).unwrap().is_some());
    assert_eq!(store.put(NewGrain::from(grain).again()).unwrap(), address);
    assert!(store.delivery(&address).unwrap().is_some());
}

/// Whether any file of the ledger holds these bytes.
fn holds(disk: &MemoryDisk, bytes: &[u8]) -> bool {
    let names = disk.list("ledger").unwrap();
    assert!(!names.is_empty());
    names.iter().any(|name| {
        let file = disk
            .open(&format!("ledger/{name}"), OpenMode::Read)
            .unwrap();
        let mut content = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
        file.read_at(&mut content, 0).unwrap();
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}

/// Appends entries as no store does.
fn append(disk: &MemoryDisk, id: grainstore::ledger::StoreId, bodies: &[(Kind, Vec<u8>)]) {
    let (ledger, _) = Ledger::open(
        Arc::new(disk.clone()),
        id,
        Default::default(),
        0,
        None,
        |_| Vec::new(),
    )
    .unwrap();
    let entries = bodies.iter().map(|(kind, body)| NewEntry {
        kind: *kind,
        actor: None,
        body,
        binding: Binding::of([9; 16], body),
    });
    ledger
        .append(2_000_000_000_000, &entries.collect::<Vec<_>>())
        .unwrap();
}

#[test]
fn a_check_finds_a_grain_without_its_signature_and_a_signature_that_is_none() {
    use grainstore::codec::{Canonical, Encoding, Map, Value};
    let grain = signed_by(draft("dark mode"), &ada());
    let entry = |of: &Grain, envelope: &[u8]| {
        let map = Map::from_iter([
            ("a", Value::Bytes(of.address().as_bytes().to_vec())),
            ("sig", Value::Bytes(envelope.to_vec())),
        ]);
        let map = Canonical::new(map, Profile::Extended).unwrap();
        (Kind::Signature, Encoding::MessagePack.encode(&map))
    };
    let blob = || (Kind::Grain, grain.blob().to_vec());
    let good = grain.envelope().unwrap();
    let other = signed_by(draft("tea"), &ada());
    let plain = draft("plain").finish(Profile::Extended).unwrap();
    type Entries = Vec<(Kind, Vec<u8>)>;
    let cases: Vec<(Entries, &[&str])> = vec![
        (vec![blob(), entry(&grain, good)], &[]),
        (vec![blob()], &["signature-missing"]),
        (
            vec![blob(), entry(&other, other.envelope().unwrap())],
            &["signature-stray"],
        ),
        (
            vec![
                blob(),
                (Kind::Grain, plain.blob().to_vec()),
                entry(&grain, good),
            ],
            &["signature-missing", "signature-stray"],
        ),
        (
            vec![blob(), entry(&grain, other.envelope().unwrap())],
            &["signature-invalid"],
        ),
        (vec![entry(&grain, good)], &["signature-stray"]),
        (
            vec![(Kind::Grain, plain.blob().to_vec()), entry(&plain, good)],
            &["signature-stray"],
        ),
    ];
    for (bodies, expected) in cases {
        let disk = MemoryDisk::default();
        let id = open(&disk).maintenance().unwrap().stats().unwrap().store_id;
        append(&disk, id, &bodies);
        let store = open(&disk);
        let findings = store.maintenance().unwrap().check().unwrap().findings;
        let ids: Vec<_> = findings.iter().map(|finding| finding.id).collect();
        assert_eq!(ids, expected, "{findings:?}");
        if expected == ["signature-missing"] {
            // It can be read, and is not let out.
            assert!(store.get(&grain.address()).unwrap().is_some());
            let mismatch = code(store.delivery(&grain.address()));
            assert_eq!(mismatch, "ERR_SIGNED_MISMATCH");
            let exported = store.admin().unwrap().export(
                Format::Mg,
                &Filter::new(),
                &WriteOptions::default(),
                &mut Vec::new(),
            );
            assert_eq!(exported.unwrap_err().code(), "ERR_SIGNED_MISMATCH");
        }
    }
}

/// Signed and unsigned grains, of both kinds of keys and both encodings, some superseded.
fn filled() -> Store {
    let store = memory();
    fill(&store);
    store
}

fn fill(store: &Store) {
    let cbor = grainstore::codec::Encoding::Cbor;
    store.put(draft("plain").tag("a")).unwrap();
    store.put(signed_by(draft("dark mode"), &ada())).unwrap();
    let first = store.put(signed_by(draft("tea"), &bob())).unwrap();
    let next = draft("coffee").created_at(Time::from_ms(1_768_471_300_000));
    let next = signed_by(next.derived_from(first).encoding(cbor), &ada());
    store.supersede(&first, next, None).unwrap();
}

fn contents(store: &Store) -> Vec<(ContentAddress, Vec<u8>)> {
    let mut all = store.list(None, 99).unwrap().addresses;
    all.sort_unstable();
    let delivery = |address: &ContentAddress| store.delivery(address).unwrap().unwrap();
    all.iter().map(|it| (*it, delivery(it))).collect()
}

fn read(path: &Path, store: &Store) -> Summary {
    let reading = ImportFile::open(path, None, &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    store.import(reading).unwrap()
}

#[test]
fn signed_grains_go_through_every_format_inside_their_signatures() {
    let store = filled();
    let folder = tempfile::tempdir().unwrap();
    let formats = [
        (Format::Mg, Compression::None),
        (Format::Mg, Compression::Zstd),
        (Format::Mg, Compression::Lz4),
        (Format::Jsonl, Compression::None),
        (Format::Pam, Compression::None),
        (Format::Omi, Compression::None),
        (Format::OmiJsonl, Compression::None),
    ];
    for (format, compression) in formats {
        let path = folder.path().join("file");
        let options = WriteOptions {
            compression,
            ..WriteOptions::default()
        };
        let all = Filter::new().with_superseded();
        let exported = store
            .admin()
            .unwrap()
            .export_file(format, &all, &options, &path)
            .unwrap();
        assert_eq!(exported.loss.iter().count(), 0, "{format}");
        let copy = memory();
        let summary = read(&path, &copy);
        assert!(summary.is_complete(), "{format}: {summary:?}");
        for (address, delivered) in contents(&store) {
            let there = copy.delivery(&address).unwrap();
            assert_eq!(there, Some(delivered), "{format}");
        }
        assert_eq!(copy.maintenance().unwrap().check().unwrap().findings, []);
        if format == Format::Mg {
            let file = std::fs::read(&path).unwrap();
            let report = mg::Archive::verify(Cursor::new(&file), mg::ReadOptions::default());
            assert!(report.is_valid(), "{:?}", report.findings);
            assert_eq!(report.manifest_entries, 1);
        }
    }
}

#[test]
fn a_format_without_a_place_for_a_signature_says_that_it_is_lost() {
    let mut bundle = Vec::new();
    let options = WriteOptions::default();
    let exported =
        filled()
            .admin()
            .unwrap()
            .export(Format::Aimem, &Filter::new(), &options, &mut bundle);
    let loss = exported.unwrap().loss;
    let lost = loss.iter().find(|(what, _)| *what == "signature");
    assert_eq!(lost, Some(("signature", 2)));
}

#[test]
fn the_frames_of_a_stream_hold_signatures_around_blobs() {
    let store = filled();
    let mut wire = Vec::new();
    for (address, _) in contents(&store) {
        mg::write_frame(&mut wire, &store.get(&address).unwrap().unwrap()).unwrap();
    }
    mg::write_end(&mut wire).unwrap();
    let read = mg::read_frames(wire.as_slice()).map(|record| {
        let grain = record.unwrap().grain;
        (grain.address(), to_delivery(&grain).unwrap().into_owned())
    });
    assert_eq!(read.collect::<Vec<_>>(), contents(&store));
}

#[test]
fn an_import_refuses_signatures_that_do_not_verify_and_takes_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.jsonl");
    let store = filled();
    let options = WriteOptions::default();
    let all = Filter::new().with_superseded();
    store
        .admin()
        .unwrap()
        .export_file(Format::Jsonl, &all, &options, &path)
        .unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let forged = text.lines().map(|line| match line.strip_suffix("\"}") {
        Some(digits) if line.contains("envelope") && line.contains("6d6f6465") => {
            let last = if digits.ends_with('0') { '1' } else { '0' };
            format!("{}{last}\"}}\n", &digits[..digits.len() - 1])
        }
        _ => format!("{line}\n"),
    });
    std::fs::write(&path, forged.collect::<String>()).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let summary = memory().import(reading).unwrap();
    let codes: Vec<_> = summary
        .refused
        .iter()
        .map(|error| error.code().as_str())
        .collect();
    assert_eq!((codes, summary.inserted), (vec!["ERR_SIGNATURE"], 3));
}

#[test]
fn backup_restore_and_repair_keep_signatures() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let options = || at(2_000_000_000_000).0;
    let store = Store::open(path("s"), options()).unwrap();
    fill(&store);
    let expected = contents(&store);
    assert_eq!(expected, contents(&filled()));
    store.maintenance().unwrap().backup(path("b")).unwrap();
    drop(store);
    let repaired = grainstore::recovery::repair(path("s"), options()).unwrap();
    assert_eq!(contents(&repaired), expected);
    let (restored, _) =
        grainstore::recovery::restore(path("b"), path("r"), Until::End, options()).unwrap();
    for store in [repaired, restored] {
        assert_eq!(contents(&store), expected);
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    }
}

#[test]
fn a_signature_has_room_for_what_it_needs_and_for_nothing_else() {
    let grain = signed_by(draft("dark mode"), &ada());
    let sent = to_delivery(&grain).unwrap().into_owned();
    // 84, the protected header, and then the unprotected one: a map of one.
    let at = sent
        .windows(5)
        .position(|it| it == *b"\xa1\x63iat")
        .unwrap();
    let with = |len: usize| {
        let mut bytes = sent[..at].to_vec();
        bytes.extend_from_slice(b"\xa2\x63iat\x01\x63pad");
        match u16::try_from(len) {
            Ok(len) => bytes.extend([&[0x59][..], &len.to_be_bytes()].concat()),
            Err(_) => {
                let len = u32::try_from(len).unwrap().to_be_bytes();
                bytes.extend([&[0x5a][..], &len].concat());
            }
        }
        bytes.resize(bytes.len() + len, 7);
        bytes.extend_from_slice(&sent[at + 6..]);
        from_delivery(&bytes, Profile::Extended)
    };
    let (padded, _) = with(65_300).unwrap();
    let store = memory();
    let address = store.put(padded).unwrap();
    assert_eq!(address, grain.address());
    assert!(verify_signature(&store.get(&address).unwrap().unwrap(), &Offline).is_ok());
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    assert_eq!(with(65_536).unwrap_err().code(), "ERR_RANGE");
}
