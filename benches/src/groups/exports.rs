//! Exports and conversions: their speed, and the most memory of a process that does nothing else.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::Durability;
use grainstore::{Filter, Options, Store};

use crate::conversations::{chatgpt, event};
use crate::report::{Bound, Report, Table};
use crate::setup::Settings;
use crate::{Result, machine};

const FORMATS: [Format; 7] = [
    Format::Mg,
    Format::Jsonl,
    Format::Pam,
    Format::Aimem,
    Format::AimemNdjson,
    Format::Omi,
    Format::OmiJsonl,
];

/// The formats that a conversion is measured to.
const CONVERTED: [Format; 4] = [Format::Mg, Format::Pam, Format::Aimem, Format::Omi];

/// The most memory of an export or a conversion, whatever its size (docs/interchange.md, "Limits").
const MEMORY_MAX: Bound = Bound::AtMost(128.0);

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let messages = settings.sizes.ingest;
    let folder = settings.temporary()?;
    fill(messages, &folder.path().join("store"))?;
    // With a hundred thousand messages in the store, about 100 MB to convert.
    let converted = messages * 2;
    let len = chatgpt(converted, &folder.path().join("conversations.json"))?;
    report.say(&format!(
        "One conversation of {messages} messages; an export of ChatGPT of {converted}, {:.1} MB.",
        len as f64 / 1e6
    ));
    let exports = FORMATS.map(|format| (format, "export", messages));
    let conversions = CONVERTED.map(|format| (format, "convert", converted));
    let mut peaks = ["export", "convert"].map(|what| (what, vec![0.0; settings.rounds]));
    for (format, what, messages) in exports.into_iter().chain(conversions) {
        let mut rates = Vec::new();
        for round in 0..settings.rounds {
            let (seconds, peak) = ask_process(what, format, messages, folder.path())?;
            rates.push(messages as f64 / seconds);
            for (_, most) in peaks.iter_mut().filter(|(of, _)| *of == what) {
                most[round] = f64::max(most[round], peak / (1 << 20) as f64);
            }
        }
        // The target of the formats in which memories travel.
        let bound =
            (what == "export" && format == Format::Pam).then_some(Bound::AtLeast(100_000.0));
        let mut table = Table::new(format!("{what} to {format}"), "messages/s");
        table.row("store", rates, bound);
        report.table(&table);
    }
    for (what, peaks) in peaks {
        let mut table = Table::new(format!("{what} to any format, most memory"), "MiB");
        table.row("process", peaks, Some(MEMORY_MAX));
        report.table(&table);
    }
    Ok(())
}

fn options() -> Options {
    Options {
        durability: Durability::Relaxed,
        text: None,
        ..Options::default()
    }
}

fn fill(messages: u64, folder: &Path) -> Result<()> {
    let store = Store::open(folder, options())?;
    let mut batch = Vec::new();
    for number in 0..messages {
        batch.push(event(number)?);
        if batch.len() == 1_000 || number + 1 == messages {
            store.put_batch(std::mem::take(&mut batch))?;
        }
    }
    Ok(())
}

fn ask_process(what: &str, format: Format, messages: u64, folder: &Path) -> Result<(f64, f64)> {
    let output = Command::new(std::env::current_exe()?)
        .args([
            "--child",
            &format!("{what}-{format}"),
            &messages.to_string(),
        ])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    let mut next = || numbers.next().ok_or("the process failed");
    Ok((next()??, next()??))
}

/// Exports or converts, and prints the seconds and the most bytes that the process has had.
pub fn child(what: &str, folder: &Path) -> Result<()> {
    let (what, name) = what.split_once('-').ok_or("no format")?;
    let format = FORMATS.into_iter().find(|format| format.name() == name);
    let format = format.ok_or("no such format")?;
    let filter = Filter::new().with_superseded();
    let write = WriteOptions::default();
    let path = folder.join(format!("out.{what}"));
    let start = Instant::now();
    let store = if what == "convert" {
        let store = Store::in_memory(Options {
            scratch: Some(folder.to_owned()),
            ..options()
        })?;
        let input = folder.join("conversations.json");
        let reading = ImportFile::open(&input, None, &ReadOptions::default())?;
        store.import(reading)?;
        store
    } else {
        Store::open(folder.join("store"), options())?
    };
    // A memory store holds conversations in files beside it.
    let path = if format == Format::Pam {
        path.with_extension("zip")
    } else {
        path
    };
    store.admin()?.export_file(format, &filter, &write, &path)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds} {}", machine::peak_memory_bytes()?);
    Ok(())
}
