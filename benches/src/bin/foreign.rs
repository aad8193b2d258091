//! Measures foreign formats as ratios: judging a bundle beside parsing and hashing the same bytes,
//! importing one beside storing the same grains, and the speed of an export. docs/benchmarks.md
//! says what and how.

use std::io::sink;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use grainstore::codec::{Map, Value};
use grainstore::grain::Draft;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::{Filter, Options, Store};
use grainstore_benches::machine::{self, Load};
use grainstore_benches::report::{Bound, Report, Table};
use grainstore_benches::{Result, docs};
use sha2::{Digest, Sha256};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|it| it == "--memory").is_some() {
        let path = arguments.next().ok_or("the file is missing")?;
        let store = arguments.next();
        return hold(
            Path::new(&path),
            store.as_deref(),
            arguments.next().is_none(),
        );
    }
    let writes = arguments.next_if(|it| it == "--write").is_some();
    if writes {
        machine::wait_for_quiet();
    }
    let load = Load::now()?;
    let records: u64 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(5), |text| text.parse())?;
    println!("# Foreign formats\n\n{}.\n", machine::description());
    let folder = tempfile::Builder::new()
        .prefix("grainstore-bench-")
        .tempdir_in(std::env::temp_dir())?;
    let stream = folder.path().join("bundle.ndjson");
    let bundle = bundle(records)?;
    std::fs::write(&stream, &bundle)?;
    println!(
        "{records} chunks, {:.1} MB; {rounds} rounds.",
        bundle.len() as f64 / 1e6
    );
    let mut report = Report::default();
    validate(&bundle, &stream, rounds, &mut report)?;
    drop(bundle);
    import(&stream, folder.path(), rounds, &mut report)?;
    export(&stream, rounds, records, &mut report)?;
    memory(&stream, folder.path(), records, &mut report)?;
    let table = report.summary(0);
    println!("\n## Summary\n\n{table}");
    if writes {
        let sizes = format!("{records} chunks");
        docs::write("foreign", &sizes, rounds, &load, &table)?;
    }
    Ok(())
}

/// A stream of chunks of every type, with tags and hashes.
fn bundle(records: u64) -> Result<Vec<u8>> {
    let kinds = ["fact", "preference", "decision", "episodic", "goal"];
    let mut chunks = Vec::new();
    for n in 0..records {
        let content = format!(
            "memory {n} of somebody who said {} about {} and {}, and meant it",
            n * 7919 % 10_007,
            n % 911,
            n * 31 % 4_099
        );
        let mut chunk = Map::new();
        chunk.insert("id", format!("urn:aimem:bench:{n}"));
        chunk.insert("content_hash", sha256(content.as_bytes()));
        chunk.insert("content", content);
        chunk.insert("memory_type", kinds[usize::try_from(n)? % kinds.len()]);
        chunk.insert("zone", "standard");
        chunk.insert("is_pinned", false);
        let second = n % 60;
        chunk.insert("created_at", format!("2026-04-01T09:30:{second:02}Z"));
        chunk.insert(
            "tags",
            vec![Value::from("a"), Value::from(format!("t{}", n % 50))],
        );
        chunks.push(Value::Map(chunk));
    }
    let mut whole = Map::new();
    for (name, text) in [
        ("format", "aimem-bundle"),
        ("version", "1"),
        ("producer", "bench"),
        ("tenant_id", "11111111-1111-1111-1111-111111111111"),
        ("exported_at", "2026-06-12T10:00:00Z"),
        ("scope", "FULL"),
    ] {
        whole.insert(name, text);
    }
    let mut envelope = whole.clone();
    whole.insert("chunks", chunks.clone());
    for name in ["edges", "entities", "chunk_entities"] {
        whole.insert(name, Vec::<Value>::new());
    }
    envelope.insert("checksum", sha256(&Value::Map(whole).to_jcs()));
    let mut lines = Value::Map(envelope).to_json();
    for chunk in chunks {
        let Value::Map(mut chunk) = chunk else {
            continue;
        };
        chunk.insert("_kind", "chunk");
        lines.push('\n');
        lines.push_str(&Value::Map(chunk).to_json());
    }
    lines.push('\n');
    Ok(lines.into_bytes())
}

fn validate(bundle: &[u8], stream: &Path, rounds: usize, report: &mut Report) -> Result<()> {
    let mut floor = Vec::new();
    let mut ours = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let mut values = Vec::new();
        for line in bundle
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            values.push(serde_json::from_slice::<serde_json::Value>(line)?);
        }
        let digest = Sha256::digest(bundle);
        let seconds = start.elapsed().as_secs_f64();
        assert!(digest[0] as usize <= 255 && !values.is_empty());
        drop(values);
        floor.push(seconds);
        let start = Instant::now();
        let reading = read(stream)?;
        ours.push(start.elapsed().as_secs_f64());
        assert!(!reading.records.is_empty());
    }
    let ratios = ours.iter().zip(&floor).map(|(a, b)| a / b).collect();
    let mut table = Table::new("AIMEM stream, judged", "times the floor");
    // Alone in its table: a bound is over the first row of one.
    table.row("ImportFile::open", ratios, Some(Bound::AtMost(4.0)));
    report.table(&table);
    Ok(())
}

/// Imports the stream, and stores the same grains as drafts made beforehand: without a text view,
/// and with one until all is durable, and until all is found by its words.
fn import(stream: &Path, folder: &Path, rounds: usize, report: &mut Report) -> Result<()> {
    let mut times: [[Vec<f64>; 2]; 3] = Default::default();
    for round in 0..rounds {
        let records = read(stream)?.records.into_vec()?;
        let grains: Vec<_> = records.into_iter().map(|it| it.grain).collect();
        let drafts: Vec<Draft> = grains
            .iter()
            .map(|grain| {
                let draft = Draft::new(grain.type_());
                grain
                    .fields()
                    .iter()
                    .fold(draft, |draft, (name, value)| draft.set(name, value.clone()))
            })
            .collect();
        drop(grains);
        for has_text in [false, true] {
            for way in [0, 1] {
                let mut options = Options::default();
                if !has_text {
                    options.text = None;
                }
                let name = format!("{round}{way}{has_text}");
                let store = Store::open(folder.join(name), options)?;
                let start = Instant::now();
                if way == 0 {
                    for batch in drafts.chunks(1_000) {
                        store.put_batch(batch.to_vec())?;
                    }
                } else {
                    assert!(store.import(read(stream)?)?.is_complete());
                }
                let until_durable = start.elapsed().as_secs_f64();
                if has_text {
                    store.maintenance()?.flush_text()?;
                    times[1][way].push(until_durable);
                    times[2][way].push(start.elapsed().as_secs_f64());
                } else {
                    times[0][way].push(until_durable);
                }
            }
        }
    }
    let names = [
        "Import of the stream, without a text view",
        "Import of the stream, until it is durable",
        "Import of the stream, until its words are found",
    ];
    for (name, [native, imported]) in names.into_iter().zip(times) {
        let ratios = native.iter().zip(&imported).map(|(a, b)| a / b).collect();
        let mut table = Table::new(name, "of native ingest");
        table.row("import", ratios, Some(Bound::AtLeast(0.6)));
        report.table(&table);
    }
    Ok(())
}

fn export(stream: &Path, rounds: usize, records: u64, report: &mut Report) -> Result<()> {
    // As memories of PAM: through a store of them and back in.
    let through = Store::in_memory(Options::default())?;
    through.import(read(stream)?)?;
    let options = WriteOptions::default();
    let mut pam = Vec::new();
    through
        .admin()?
        .export(Format::Pam, &Filter::new(), &options, &mut pam)?;
    let mut pam: serde_json::Value = serde_json::from_slice(&pam)?;
    for memory in pam["memories"].as_array_mut().into_iter().flatten() {
        memory["metadata"] = serde_json::json!({});
    }
    pam.as_object_mut().map(|store| store.remove("integrity"));
    let reading = ImportFile::of_bytes(
        pam.to_string().as_bytes(),
        Some(Format::Pam),
        &ReadOptions::default(),
    )?;
    drop(pam);
    assert!(reading.errors.is_empty(), "{:?}", reading.errors.first());
    let store = Store::in_memory(Options::default())?;
    store.import(reading)?;
    let mut speeds = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let exported = store
            .admin()?
            .export(Format::Pam, &Filter::new(), &options, &mut sink())?;
        assert!(exported.grains >= records);
        speeds.push(records as f64 / start.elapsed().as_secs_f64());
    }
    let mut table = Table::new("Export of a PAM store", "memories/s");
    table.row("export", speeds, Some(Bound::AtLeast(100_000.0)));
    report.table(&table);
    Ok(())
}

/// Measures memory in processes of their own, which do nothing else.
fn memory(stream: &Path, folder: &Path, records: u64, report: &mut Report) -> Result<()> {
    let measure = |arguments: &[&Path]| -> Result<f64> {
        let mut child = Command::new(std::env::current_exe()?);
        let out = child.arg("--memory").arg(stream).args(arguments).output()?;
        let text = String::from_utf8(out.stdout)?;
        Ok(text.trim().parse::<f64>()? / 1_048_576.0)
    };
    let allowed = (64.0 + 48.0 * records as f64 / 1_048_576.0).round();
    let (plain, store) = (folder.join("plain"), folder.join("memory"));
    for (name, arguments) in [
        ("validate", [].as_slice()),
        ("import, no text view", &[&plain, Path::new("plain")]),
        ("import", &[&store]),
    ] {
        let mut table = Table::new(format!("Most memory, {name}"), "MiB");
        table.row(
            name,
            vec![measure(arguments)?],
            Some(Bound::AtMost(allowed)),
        );
        report.table(&table);
    }
    Ok(())
}

/// Judges a stream, imports it if a store is named, and prints the most memory that took.
fn hold(stream: &Path, store: Option<&str>, has_text: bool) -> Result<()> {
    let reading = read(stream)?;
    if let Some(store) = store {
        let mut options = Options::default();
        if !has_text {
            options.text = None;
        }
        assert!(Store::open(store, options)?.import(reading)?.is_complete());
    }
    println!("{}", machine::peak_memory_bytes()?);
    Ok(())
}

fn read(stream: &Path) -> Result<ImportFile> {
    let reading = ImportFile::open(stream, Some(Format::AimemNdjson), &ReadOptions::default())?;
    match reading.errors.first() {
        Some(error) => Err(error.to_string().into()),
        None => Ok(reading),
    }
}

fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(bytes);
    digest.iter().fold("sha256:".to_owned(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
