//! Measures the engine beside SQLite, fjall and redb, on the same grains and with the same
//! durability. docs/benchmarks.md says what and how.

use std::path::{Path, PathBuf};
use std::time::Instant;

use grainstore_benches::groups::{ALONE, GROUPS, exports, large, reopen, ten_million};
use grainstore_benches::machine::{self, Load};
use grainstore_benches::report::Report;
use grainstore_benches::setup::{Settings, Sizes};
use grainstore_benches::{Result, docs};

const USAGE: &str = "usage: engine [--grains N] [--rounds R] [--only GROUP] [--quick] [--write] [--dir DIR]

  --grains N   grains of an ingest; reads take 2 N, the largest store 10 N (100000)
  --rounds R   how often everything is measured (5)
  --only GROUP one of ingest, ingest100, text, messages, single, read, million, scale, reopen, latency,
               answers, sealed, several, exports, ten-million (alone: 100 N grains)
  --quick      small counts and two rounds: shows that everything works
  --write      puts the tables into docs/benchmarks.md; waits until the machine is quiet before
  --dir DIR    where folders are made and deleted (the system's folder for temporary files)";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, what, grains, folder, text @ ..] = &arguments[..]
        && child == "--child"
    {
        let (grains, folder, text) = (grains.parse()?, Path::new(folder), !text.is_empty());
        return match what.as_str() {
            "fill" => large::fill(grains, folder),
            "rest" => large::rest(folder),
            "answer" => ten_million::answer(folder),
            "put" => reopen::put(grains, folder, text),
            what if what.contains('-') => exports::child(what, folder),
            _ => reopen::open(grains, folder, text),
        };
    }
    let Some(settings) = settings(arguments.into_iter())? else {
        println!("{USAGE}");
        return Ok(());
    };
    let mut report = Report::default();
    let file_system = machine::file_system(&settings.folder)?;
    println!("# Engine\n\n{}; {file_system}.", machine::description());
    if matches!(&*file_system, "tmpfs" | "ramfs" | "overlay") {
        println!("On {file_system} a sync may cost nothing: choose a disk with --dir.");
    }
    println!(
        "{} rounds; min, median and max of them; ratios are taken round by round.",
        settings.rounds
    );
    let start = Instant::now();
    let groups = GROUPS.iter().chain(&ALONE);
    let wanted = groups.filter(|(name, _)| match &settings.only {
        Some(only) => only == name,
        None => GROUPS.iter().any(|(group, _)| group == name),
    });
    for (name, run) in wanted {
        if settings.writes {
            machine::wait_for_quiet();
        }
        report.heading(name);
        let (mark, load) = (report.mark(), Load::now()?);
        run(&settings, &mut report)?;
        if settings.writes {
            let sizes = settings.sizes.of(name);
            docs::write(name, &sizes, settings.rounds, &load, &report.summary(mark))?;
        }
    }
    println!("\n## Summary\n\n{}", report.summary(0));
    println!("{:.0} s in all.", start.elapsed().as_secs_f64());
    Ok(())
}

/// Reads the arguments; nothing for a plea for help.
fn settings(mut arguments: impl Iterator<Item = String>) -> Result<Option<Settings>> {
    let (mut grains, mut rounds, mut only) = (None, None, None);
    let (mut quick, mut writes) = (false, false);
    let mut folder = std::env::temp_dir();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--grains" => grains = Some(value()?.parse::<u64>()?.max(1_000)),
            "--rounds" => rounds = Some(value()?.parse::<usize>()?.max(1)),
            "--only" => only = Some(value()?),
            "--dir" => folder = PathBuf::from(value()?),
            "--quick" => quick = true,
            "--write" => writes = true,
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("{argument}?\n{USAGE}").into()),
        }
    }
    if let Some(only) = &only
        && !GROUPS.iter().chain(&ALONE).any(|(name, _)| name == only)
    {
        return Err(format!("there is no group {only}\n{USAGE}").into());
    }
    let (default_grains, default_rounds) = if quick { (10_000, 2) } else { (100_000, 5) };
    let grains = grains.unwrap_or(default_grains);
    Ok(Some(Settings {
        rounds: rounds.unwrap_or(default_rounds),
        only,
        folder,
        writes: writes && !quick,
        sizes: if quick {
            Sizes::quick(grains)
        } else {
            Sizes::full(grains)
        },
    }))
}
