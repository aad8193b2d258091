//! The laws of the readers of other formats (PAM, AIMEM, OMI, provider exports): a refusal has a
//! code, and an accepted file can be written again.

use grainstore::codec::{Map, Value};
use grainstore::grain::{Status, Time};
use grainstore::interchange::{
    Entry, Format, ImportFile, ReadOptions, WriteOptions, aimem, omi, pam,
};
use sha2::{Digest, Sha256};

/// Reads a memory store, as it is and with a checksum and hashes that fit.
///
/// - No input makes a reader panic, and what is refused has a code.
/// - A store that is accepted is written again, and what is written is accepted.
pub fn json_pam(data: &[u8]) {
    read_pam(data);
    drop(read(data, Format::PamConversation, &ReadOptions::default()));
    drop(read(data, Format::PamEmbeddings, &ReadOptions::default()));
    if let Some(mut store) = object(data) {
        mend_pam(&mut store);
        read_pam(Value::Map(store).to_json().as_bytes());
    }
}

fn read_pam(bytes: &[u8]) {
    let Some(import) = read(bytes, Format::Pam, &ReadOptions::default()) else {
        return;
    };
    let entries = entries(import);
    // A memory of several owners is reported as such.
    let Ok(document) = pam::Document::new(&entries, &options(), true) else {
        return;
    };
    let json = document.store.to_json();
    let again = read(json.as_bytes(), Format::Pam, &ReadOptions::default());
    assert!(again.is_some(), "what was written is refused: {json}");
}

/// Gives every memory the hash of its content, and the store none of its own.
fn mend_pam(store: &mut Map) {
    store.remove("integrity");
    store.remove("signature");
    if let Some(Value::Array(memories)) = store.get_mut("memories") {
        for memory in memories {
            let Value::Map(memory) = memory else { continue };
            let content = memory.get("content").and_then(Value::as_text);
            // Of text that needs no folding: the rule for the rest is the reader's.
            let plain = content.filter(|text| text.bytes().all(|byte| byte.is_ascii_lowercase()));
            if let Some(hash) = plain.map(|text| sha256(text.as_bytes())) {
                memory.insert("content_hash", hash);
            }
        }
    }
}

/// Reads a bundle and a stream, as they are and with a checksum that fits.
///
/// - No input makes a reader panic, and what is refused has a code.
/// - A bundle that is accepted goes out as it came, checksum included.
pub fn json_aimem(data: &[u8]) {
    drop(read(data, Format::AimemNdjson, &ReadOptions::default()));
    read_aimem(data);
    if let Some(mut bundle) = object(data) {
        bundle.remove("checksum");
        let checksum = sha256(&Value::Map(bundle.clone()).to_jcs());
        bundle.insert("checksum", checksum);
        read_aimem(Value::Map(bundle).to_json().as_bytes());
    }
}

fn read_aimem(bytes: &[u8]) {
    let Some(import) = read(bytes, Format::Aimem, &ReadOptions::default()) else {
        return;
    };
    let has_all = |bundle: &Map| {
        let arrays = ["chunks", "edges", "entities", "chunk_entities"];
        arrays
            .iter()
            .all(|name| bundle.get(name).is_some_and(|it| it.as_array().is_some()))
    };
    // Several producers, equal links and absent arrays are read, and not what this law is about.
    let is_plain = import.findings.is_empty() && import.loss.is_empty();
    let bundle = object(bytes).filter(|bundle| is_plain && has_all(bundle));
    let Some(bundle) = bundle else { return };
    let entries = entries(import);
    let mut out = Vec::new();
    if aimem::write(&mut out, &entries, &options()).is_ok() {
        let again = read(&out, Format::Aimem, &ReadOptions::default());
        assert!(again.is_some(), "what was written is refused");
        let linked =
            |map: &Map, name: &str| map.get(name).and_then(Value::as_array).map(<[_]>::len);
        let written = object(&out).unwrap_or_default();
        assert_eq!(linked(&written, "chunks"), linked(&bundle, "chunks"));
    }
}

/// Reads a document and lines at every level.
///
/// - No input makes a reader panic, and what is refused has a code.
/// - What L1 accepts L0 accepts, and what L0 accepts an import takes.
/// - A document that is accepted goes out as it came.
pub fn json_omi(data: &[u8]) {
    for format in [Format::Omi, Format::OmiJsonl] {
        let at = |level| {
            let options = ReadOptions {
                omi_level: level,
                ..ReadOptions::default()
            };
            read(data, format, &options)
        };
        let l1 = at(Some(omi::Level::L1)).is_some();
        let l0 = at(Some(omi::Level::L0)).is_some();
        let import = at(None);
        assert!(!l1 || l0, "L1 takes what L0 refuses");
        assert!(!l0 || import.is_some(), "L0 takes what an import refuses");
        let Some(import) = import else { continue };
        let is_document = object(data).is_some_and(|map| map.contains("memories"));
        let has_grains = data.windows(10).any(|bytes| bytes == b"grainstore");
        if !is_document || has_grains {
            continue;
        }
        let mut out = Vec::new();
        omi::write(&mut out, &entries(import), &options()).expect("memory takes all");
        let (before, after) = (object(data), object(&out));
        assert_eq!(before, after, "it does not go out as it came");
    }
}

/// Returns the formats of [`provider_exports`] by the first byte: those of providers, then of other tools.
pub fn exported_formats() -> Vec<Format> {
    let is_provider = |format: &Format| matches!(format, Format::Provider(_));
    let others = Format::all().skip_while(|format| *format != Format::McpMemory);
    let others = others.filter(|format| !is_provider(format));
    Format::all().filter(is_provider).chain(others).collect()
}

/// Reads what providers export, and other memory stores and agents hold; the first byte chooses whose.
///
/// - No input makes a reader panic, and what is refused has a code.
/// - What is read can be stored: every grain has its address.
pub fn provider_exports(data: &[u8]) {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    let formats = exported_formats();
    let format = Some(formats[usize::from(*first) % formats.len()]);
    let options = ReadOptions {
        default_created_at: Some(Time::from_ms(0)),
        ..ReadOptions::default()
    };
    let reading = ImportFile::of_bytes(data, format, &options);
    let reading = reading.expect("the format is given");
    assert!(
        reading
            .errors
            .iter()
            .all(|error| !error.code().as_str().is_empty())
    );
    for record in reading.records.into_vec().expect("memory can be read") {
        let address = grainstore::ContentAddress::of(record.grain.blob());
        assert_eq!(record.grain.address(), address);
    }
    drop(ImportFile::of_bytes(data, None, &ReadOptions::default()));
    rows(data, format, &options);
}

/// Reads the lines of an input as the rows of a database, each of the table that it names.
fn rows(data: &[u8], format: Option<Format>, options: &ReadOptions) {
    let lines = String::from_utf8_lossy(data);
    let rows: Vec<Value> = lines.lines().flat_map(Value::from_json).collect();
    let give = move |take: &mut dyn FnMut(&str, Value) -> bool| {
        for row in &rows {
            let table = row.as_map().and_then(|row| row.get("table"));
            if !take(table.and_then(Value::as_text).unwrap_or("memories"), row.clone()) {
                break;
            }
        }
        Ok(())
    };
    let reading = ImportFile::of_rows(format.expect("it is chosen"), give, options);
    if let Ok(reading) = reading {
        let records = reading.records.into_vec();
        assert!(records.is_ok(), "memory can be read");
    }
}

/// Returns what is read as a format, if it is not refused; a refusal has codes.
fn read(bytes: &[u8], format: Format, options: &ReadOptions) -> Option<ImportFile> {
    let file = ImportFile::of_bytes(bytes, Some(format), options).expect("the format is given");
    let mut errors = file.errors.iter();
    assert!(errors.all(|error| !error.code().as_str().is_empty()));
    file.errors.is_empty().then_some(file)
}

fn entries(file: ImportFile) -> Vec<Entry> {
    let records = file.records.into_vec().expect("memory can be read");
    let entries = records.into_iter().map(|record| {
        let mut status = Status::default();
        status.apply(&record.status);
        (record.grain, status)
    });
    entries.collect()
}

fn options() -> WriteOptions {
    WriteOptions {
        with_embeddings: true,
        ..WriteOptions::default()
    }
}

fn object(bytes: &[u8]) -> Option<Map> {
    match Value::from_json(std::str::from_utf8(bytes).ok()?).ok()? {
        Value::Map(map) => Some(map),
        _ => None,
    }
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    format!("sha256:{}", data_encoding::HEXLOWER.encode(&digest))
}
