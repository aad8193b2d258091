//! Writes what the fuzzer starts from: `corpus/<target>/`, made of the published vectors and the
//! example data, and `grainstore.dict`, the names and keys of all fields.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grainstore::codec::{Compression, Encoding, Profile, Value};
use grainstore::crypto::{Algorithm, Did};
use grainstore::grain::{Draft, Field, Grain, Status, Time, Type, Verification};
use grainstore::interchange::{self, mg};
use grainstore::ledger::{
    Binding, Disk, EntryId, Kind, Ledger, MemoryDisk, NewEntry, OpenMode, SEGMENT_BYTES,
};
use grainstore_fuzz::{STATEMENTS, STORE_ID};
use sha2::{Digest, Sha256};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let lines = fs::read_to_string(root().join("examples/data/grains.jsonl"))?;
    let vectors = fs::read_to_string(root().join("test-vectors/oms/grains.json"))?;
    let vectors = Value::from_json(&vectors)?;
    let inputs: Vec<String> = vectors
        .as_array()
        .unwrap_or_default()
        .iter()
        .filter_map(|vector| Some(vector.as_map()?.get("input")?.to_json()))
        .chain(lines.lines().map(str::to_owned))
        .collect();
    let mut blobs: Vec<Vec<u8>> = vectors
        .as_array()
        .unwrap_or_default()
        .iter()
        .filter_map(|vector| vector.as_map()?.get("blob_hex")?.as_text())
        .map(|hex| data_encoding::HEXLOWER.decode(hex.as_bytes()))
        .collect::<std::result::Result<_, _>>()?;
    let mut grains = Vec::new();
    for (nth, input) in inputs.iter().enumerate() {
        let encoding = [Encoding::MessagePack, Encoding::Cbor][nth % 2];
        if let Ok(grain) = finish(input, encoding) {
            blobs.push(grain.blob().to_vec());
            grains.push(grain);
        }
    }
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(String::into_bytes).collect();
    write("decode_json", &inputs)?;
    write("decode_blob", &blobs)?;
    write("read_frames", &streams(&grains)?)?;
    write("read_mg", &archives(&grains)?)?;
    write("open_ledger", &ledgers(&grains)?)?;
    write("open_store", &tapes())?;
    write("store_ops", &tapes())?;
    write("cose_verify", &envelopes())?;
    write("did_key", &dids()?)?;
    let statements = STATEMENTS.map(|text| text.as_bytes().to_vec());
    write("read_cal", &statements)?;
    foreign(&grains)?;
    fs::write(root().join("fuzz/grainstore.dict"), dictionary()?)?;
    Ok(())
}

fn finish(json: &str, encoding: Encoding) -> std::result::Result<Grain, grainstore::grain::Error> {
    let draft = Draft::from_json(json)?.encoding(encoding);
    let draft = draft.created_at_or(Time::from_ms(1_768_471_200_000));
    draft.finish(Profile::Extended)
}

/// The example data and a few grains in every foreign format, and a small export of every provider.
fn foreign(grains: &[Grain]) -> Result<()> {
    let entries: Vec<interchange::Entry> = grains
        .iter()
        .map(|grain| (grain.clone(), Status::default()))
        .collect();
    let options = interchange::WriteOptions::default();
    let mut pam = vec![fs::read(
        root().join("examples/data/pam/memory-store.json"),
    )?];
    let (mut aimem, mut omi) = (Vec::new(), Vec::new());
    for some in entries.chunks(2) {
        if let Ok(document) = interchange::pam::Document::new(some, &options, false) {
            pam.push(document.store.to_json().into_bytes());
        }
        type Write = fn(&mut Vec<u8>, &[interchange::Entry], &interchange::WriteOptions) -> bool;
        let bundles: [Write; 2] = [
            |out, some, options| interchange::aimem::write(out, some, options).is_ok(),
            |out, some, options| interchange::aimem::write_stream(out, some, options).is_ok(),
        ];
        let documents: [Write; 2] = [
            |out, some, options| interchange::omi::write(out, some, options).is_ok(),
            |out, some, options| interchange::omi::write_lines(out, some, options).is_ok(),
        ];
        for (writes, seeds) in [(bundles, &mut aimem), (documents, &mut omi)] {
            for write in writes {
                let mut out = Vec::new();
                if write(&mut out, some, &options) {
                    seeds.push(out);
                }
            }
        }
    }
    omi.push(OMI.as_bytes().to_vec());
    write("json_pam", &pam)?;
    write("json_aimem", &aimem)?;
    write("json_omi", &omi)?;
    let exports: Vec<Vec<u8>> = PROVIDERS
        .iter()
        .zip(0_u8..)
        .map(|(export, nth)| [&[nth][..], export.as_bytes()].concat())
        .collect();
    let samples = grainstore_fuzz::exported_formats();
    let samples = samples.into_iter().zip(0_u8..).map(|(format, nth)| {
        let folder = root().join("test-vectors/interchange").join(format.name());
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = files.filter_map(|file| fs::read(file.path()).ok());
        files.map(move |file| [&[nth][..], &file].concat())
    });
    let exports: Vec<_> = exports.into_iter().chain(samples.flatten()).collect();
    write("provider_exports", &exports)
}

const OMI: &str = r#"{"format":"open-memory-interchange","version":"0.1","subject":{"id":"u",
"type":"person"},"memories":[{"id":"1","content":"tea","type":"semantic","confidence":0.5,
"created":"2026-01-15T10:30:00Z","valid_from":"2026-01-01","lang":"en","tags":["a"],
"source":{"platform":"p","method":"asserted"},"relations":[{"type":"supersedes","target":"0"}],
"entities":[{"id":"e","name":"E"}],"ext":{"com.example":{"a":null}},"unknown":[1.0]}]}"#;

/// One of each, in the order of the target.
const PROVIDERS: [&str; 5] = [
    r#"[{"id":"c","title":"t","create_time":1.5,"current_node":"n","mapping":{"r":{"id":"r","message":
null,"parent":null,"children":["n"]},"n":{"id":"n","parent":"r","children":[],"message":{"id":"n",
"author":{"role":"user"},"create_time":2.25,"content":{"content_type":"text","parts":["hi",null]},
"metadata":{"attachments":[{"id":"a","name":"b"}]}}}}}]"#,
    r#"[{"uuid":"c","name":"n","created_at":"2026-01-01T00:00:00Z","chat_messages":[{"uuid":"m",
"sender":"human","text":"hi","content":[{"type":"text","text":"hi"}],"created_at":
"2026-01-01T00:00:01Z","parent_message_uuid":"00000000-0000-4000-8000-000000000000"}]}]"#,
    r#"[{"header":"Gemini Apps","title":"Prompted hi","time":"2026-01-01T00:00:00Z","titleUrl":
"https://gemini.google.com/app/c/x","safeHtmlItem":[{"html":"<p>ho</p>"}]}]"#,
    "Conversation,Time,Author,Message\r\nc,2026-01-01T00:00:00,Human,\"hi, you\"\r\n",
    r#"{"conversations":[{"conversation":{"id":"c","title":"t","create_time":"2026-01-01T00:00:00Z"},
"responses":[{"response":{"_id":"m","sender":"human","message":"hi","create_time":{"$date":
{"$numberLong":"1767225600000"}}}}]}]}"#,
];

/// Decisions, a byte each: some hundred operations of a store.
fn tapes() -> Vec<Vec<u8>> {
    let tape = |nth: u8| {
        let blocks = (0..64_u8).map(move |block| Sha256::digest([nth, block]));
        blocks.flatten().collect()
    };
    (0..8).map(tape).collect()
}

/// Streams of one to four grains, which stay below the length of an input.
fn streams(grains: &[Grain]) -> Result<Vec<Vec<u8>>> {
    let mut streams = Vec::new();
    for (nth, some) in grains.chunks(4).enumerate() {
        let mut stream = Vec::new();
        for grain in &some[..1 + nth % some.len()] {
            mg::write_frame(&mut stream, grain)?;
        }
        mg::write_end(&mut stream)?;
        streams.push(stream);
    }
    Ok(streams)
}

/// Archives as they are, and the parts that archives are built from.
fn archives(grains: &[Grain]) -> Result<Vec<Vec<u8>>> {
    let mut archives = Vec::new();
    for (nth, some) in grains.chunks(3).enumerate() {
        let status = match nth % 3 {
            0 => Status::default(),
            1 => Status {
                superseded_by: Some(some[0].address()),
                system_valid_to: Some(Time::from_ms(1_768_471_200_000)),
                ..Status::default()
            },
            _ => Status {
                verification: Verification::Contested,
                ..Status::default()
            },
        };
        for (codec, compression) in [Compression::None, Compression::Zstd, Compression::Lz4]
            .into_iter()
            .enumerate()
        {
            let options = interchange::WriteOptions {
                compression,
                ..interchange::WriteOptions::default()
            };
            let entries = some.iter().map(|grain| mg::Entry::of(grain, &status));
            let mut file = Vec::new();
            mg::write(&mut file, entries.collect(), &options, |address| {
                let grain = some.iter().find(|grain| grain.address() == address);
                Ok::<_, interchange::Error>(grain.cloned().unwrap_or_else(|| some[0].clone()))
            })?;
            let manifest = manifest_of(&file, some);
            archives.push(file);
            archives.push(parts(codec, some, &manifest)?);
        }
    }
    Ok(archives)
}

/// Returns the manifest of an archive that is not compressed; of another, none.
fn manifest_of(file: &[u8], grains: &[Grain]) -> Vec<u8> {
    let region: usize = grains.iter().map(|grain| grain.blob().len()).sum();
    let start = 16 + 4 * grains.len() + region;
    let end = file.len().saturating_sub(32);
    let manifest = (file.get(9) == Some(&0)).then(|| file.get(start..end));
    manifest.flatten().unwrap_or_default().to_vec()
}

fn parts(codec: usize, grains: &[Grain], manifest: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = vec![u8::try_from(codec << 5)?, u8::try_from(grains.len())?, 1];
    for grain in grains {
        bytes.extend_from_slice(&u16::try_from(grain.blob().len())?.to_be_bytes());
        bytes.extend_from_slice(grain.blob());
    }
    bytes.extend_from_slice(manifest);
    Ok(bytes)
}

/// The frames of ledgers, under every way to read them.
fn ledgers(grains: &[Grain]) -> Result<Vec<Vec<u8>>> {
    let mut ledgers = Vec::new();
    for (nth, some) in grains.chunks(3).enumerate() {
        let disk = Arc::new(MemoryDisk::default());
        let ledger = Ledger::create(disk.clone(), STORE_ID, SEGMENT_BYTES)?;
        let mut split = 0;
        for (time_ms, grain) in (1_768_471_200_000..).zip(some) {
            let entries = [
                (Kind::Grain, grain.blob()),
                (Kind::ALL[nth % Kind::ALL.len()], b"{}"),
            ];
            let entries = entries.map(|(kind, body)| NewEntry {
                kind,
                actor: (nth % 2 == 0).then_some(EntryId::FIRST),
                body,
                binding: Binding::of([9; 16], body),
            });
            let len = 1 + nth % 2;
            ledger.append(time_ms, &entries[..len])?;
            if split == 0 {
                split = segment(&disk)?.len() - 32;
            }
        }
        let segment = segment(&disk)?;
        let mode = u8::try_from(nth % 8)? << 3;
        ledgers.push([&[mode], &segment[..]].concat());
        for bits in [1, 3] {
            ledgers.push([&[mode | bits], &segment[32..]].concat());
        }
        let split = u16::try_from(split)?.to_be_bytes();
        ledgers.push([&[mode | 7], &split[..], &segment[32..]].concat());
    }
    Ok(ledgers)
}

/// Good envelopes, and edits of one: a place and a byte each.
fn envelopes() -> Vec<Vec<u8>> {
    let both = [Algorithm::Ed25519, Algorithm::P256].map(grainstore_fuzz::good_envelope);
    let edits = [&b"\0\0\xd2"[..], b"\0\x03\x32", b"\0\x04\x02\x01", b"\x05"];
    both.into_iter().chain(edits.map(<[u8]>::to_vec)).collect()
}

/// DIDs as text, and the bytes that two of them stand for.
fn dids() -> Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for text in [
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "did:key:zDnaeSDxnN4nsdrUb6fwuJw6d5ur7WVy6nk5Ba9hs64dZPgRC",
        "did:web:example.com%3A3000:agents:summarizer",
    ] {
        seeds.push(text.as_bytes().to_vec());
        if let Some(key) = text.parse::<Did>()?.key() {
            let prefix = match key.algorithm() {
                Algorithm::Ed25519 => [0xed, 0x01],
                Algorithm::P256 => [0x80, 0x24],
            };
            seeds.push([&prefix[..], &key.to_bytes()].concat());
        }
    }
    Ok(seeds)
}

fn segment(disk: &MemoryDisk) -> Result<Vec<u8>> {
    let file = disk.open("ledger/0000000000000001.seg", OpenMode::Read)?;
    let mut bytes = vec![0; usize::try_from(file.len_bytes()?)?];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn dictionary() -> Result<String> {
    let mut text = String::new();
    let fields = Field::all()
        .iter()
        .flat_map(|field| [field.name, field.key]);
    for word in fields.chain(Type::STANDARD.iter().filter_map(|of| of.name())) {
        // A short text of MessagePack, of CBOR, and of JSON.
        let len = word.len();
        if len < 32 {
            writeln!(text, "\"\\x{:02x}{word}\"", 0xa0 | len)?;
        }
        if len < 24 {
            writeln!(text, "\"\\x{:02x}{word}\"", 0x60 | len)?;
        }
        writeln!(text, "\"\\\"{word}\\\":\"")?;
    }
    for word in [
        "GFRM",
        "GRAINLOG",
        "MG\\x01",
        "profile:integration",
        "did:key:z",
        "did:web:",
        "pii:",
        "phi:",
    ] {
        writeln!(text, "\"{word}\"")?;
    }
    Ok(text)
}

fn write(target: &str, seeds: &[Vec<u8>]) -> Result<()> {
    let folder = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&folder)?;
    for (nth, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{nth:03}")), seed)?;
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
