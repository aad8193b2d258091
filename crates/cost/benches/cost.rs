//! The program of `just cost`: counts, compares with the committed table, or writes it anew.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use grainstore_cost::Result;
use grainstore_cost::count::{self, CHILD};
use grainstore_cost::operation::{OPERATIONS, named};
use grainstore_cost::table::{ALLOWED, Change, Table, grouped, in_document};

const USAGE: &str = "usage: cost [--write] [OPERATION...]

  --write    writes benches/cost.tsv and docs/benchmarks.md
  OPERATION  counts only these; by default, all";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match *words {
        [CHILD, name] => named(name).and_then(count::work).map(|()| true),
        ["--write", ref names @ ..] => run(names, true),
        ref names => run(names, false),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

/// Counts operations; returns whether none is dearer than is allowed.
fn run(names: &[&str], write: bool) -> Result<bool> {
    let chosen = match names {
        [] => OPERATIONS.iter().collect(),
        names => names
            .iter()
            .map(|name| named(name))
            .collect::<Result<Vec<_>>>()?,
    };
    let folder = tempfile::Builder::new()
        .prefix("grainstore-cost-")
        .tempdir()?;
    let counts = count::count(&chosen, folder.path())?;
    let names = chosen.iter().map(|operation| operation.name.to_owned());
    let measured = Table {
        tools: tools()?,
        rows: names.zip(counts).collect(),
    };
    let table = match fs::read_to_string(path(TABLE)) {
        Ok(text) => Table::parse(&text)?,
        Err(_) if write => measured.clone(),
        Err(error) => return Err(format!("{TABLE}: {error}").into()),
    };
    let document = fs::read_to_string(path(DOCUMENT))?;
    if write {
        let table = table.updated(&measured)?;
        fs::write(path(DOCUMENT), in_document(&document, &table)?)?;
        fs::write(path(TABLE), table.to_tsv())?;
        return Ok(true);
    }
    if !table.is_complete() || in_document(&document, &table)? != document {
        let fault = "has not the rows that are counted, or the document does not say the same";
        return Err(format!("{TABLE} {fault}: `just cost --write`").into());
    }
    Ok(compare(&table, &measured))
}

/// Prints what was measured beside the table; returns whether nothing is dearer than is allowed.
fn compare(table: &Table, measured: &Table) -> bool {
    let (mut dearer, mut cheaper) = (0, 0);
    for (name, now) in &measured.rows {
        let committed = table.row(name).unwrap_or_default();
        let change = Change::between(committed, *now);
        let remark = match change {
            Change::Same => "",
            Change::Dearer => "DEARER",
            Change::Cheaper => "cheaper",
        };
        dearer += usize::from(change == Change::Dearer);
        cheaper += usize::from(change == Change::Cheaper);
        let percent = (*now as f64 / committed as f64 - 1.0) * 100.0;
        let (committed, now) = (grouped(committed), grouped(*now));
        println!("{name:<24}{committed:>14}{now:>14}{percent:>+8.2} %  {remark}");
    }
    let allowed = ALLOWED * 100.0;
    if cheaper > 0 {
        println!("\n{cheaper} cheaper by more than {allowed} %: `just cost --write` keeps it so.");
    }
    if dearer > 0 {
        eprintln!("\n{dearer} dearer by more than {allowed} %.");
        eprintln!("If it must be: `just cost --write`, and the reason in the commit.");
    }
    if table.tools != measured.tools {
        println!(
            "\nThe table was measured with {}, this with {}.",
            table.tools, measured.tools
        );
    }
    dearer == 0
}

/// Returns what the counts depend on besides the code.
fn tools() -> Result<String> {
    let version = |program: &str| -> Result<String> {
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text.trim().to_owned())
    };
    Ok(format!(
        "{}, {}, {}",
        version("rustc")?,
        version("valgrind")?,
        std::env::consts::ARCH
    ))
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

const TABLE: &str = "benches/cost.tsv";
const DOCUMENT: &str = "docs/benchmarks.md";
