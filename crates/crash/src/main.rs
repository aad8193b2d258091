//! Runs the crash programme and prints what it did; `docs/testing.md` says what it means.
//!
//! It exits with 1 after a finding and with 2 when it is asked wrongly.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::path::PathBuf;
use std::process::ExitCode;

use grainstore_crash::{
    Arguments, Campaign, Interleaving, KeyErasure, PersonErasure, STEPS, Sweep, bit_flips,
    key_erasure_faults, random_ops, recoveries, seeded_faults, shared_faults, store_ops,
};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let arguments = Arguments::new(words);
    let outcome = match command.as_str() {
        "states" => states(&arguments),
        "faults" => faults(&arguments),
        "seeded-faults" => find_seeded(&arguments),
        "interleaving" => interleaving(&arguments),
        "key-erasure" => key_erasure(&arguments),
        "person-erasure" => person_erasure(&arguments),
        "bit-flips" => flip(&arguments),
        "recover" => recover(&arguments),
        "operations" => operations(&arguments),
        "replay" => arguments.replay().map(|told| {
            println!("{told}");
            true
        }),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
    }
}

fn states(arguments: &Arguments) -> Result<bool, String> {
    let campaign = Campaign {
        seeds: arguments.seeds(1..u64::MAX)?,
        steps: arguments.get("steps", STEPS)?,
        second_percent: arguments.get("second", 25)?,
        states_max: arguments.get("states", 20_000)?,
        jobs: arguments.get("jobs", 2)?,
    };
    let report = campaign.run();
    println!("{report}");
    Ok(report.failures.is_empty())
}

fn faults(arguments: &Arguments) -> Result<bool, String> {
    let mut sound = true;
    for seed in arguments.seeds(1..4)? {
        let sweep = Sweep {
            seed,
            steps: arguments.get("steps", 10)?,
            every: arguments.get("every", 1)?,
        };
        let report = sweep.run();
        println!("seed {seed}: {report}");
        sound &= report.failures.is_empty();
    }
    Ok(sound)
}

fn find_seeded(arguments: &Arguments) -> Result<bool, String> {
    let found = seeded_faults(arguments.get("states", 20_000)?, (0, 1), &mut |one| {
        println!("{one}");
    });
    let missed = found.iter();
    Ok(missed
        .filter(|one| one.is_applicable)
        .all(|one| one.states.is_some()))
}

fn interleaving(arguments: &Arguments) -> Result<bool, String> {
    let mut all_found = true;
    let found = match arguments.get("faults", 0)? {
        0 => Vec::new(),
        schedules_max => shared_faults(schedules_max),
    };
    for (name, found) in found {
        all_found &= found.is_some();
        println!("{name}: {found:?}");
    }
    let campaign = Interleaving {
        seeds: arguments.seeds(0..1_000)?,
        jobs: arguments.get("jobs", 2)?,
    };
    let report = campaign.run();
    println!("{report}");
    Ok(report.failures.is_empty() && all_found)
}

fn key_erasure(arguments: &Arguments) -> Result<bool, String> {
    let campaign = KeyErasure {
        seed: arguments.get("seed", 1)?,
        steps: arguments.get("steps", 12)?,
        states_max: arguments.get("states", 3_000)?,
        every: arguments.get("every", 7)?,
        planted: arguments.get("planted", false)?,
    };
    let report = campaign.run();
    println!("{report}");
    println!("{} failed operations of an erasure", key_erasure_faults(1)?);
    Ok(report.failures.is_empty())
}

fn person_erasure(arguments: &Arguments) -> Result<bool, String> {
    let planted = arguments.get("planted", String::new())?;
    let planted = (!planted.is_empty()).then(|| planted.parse()).transpose()?;
    let campaign = PersonErasure {
        seed: arguments.get("seed", 1)?,
        steps: arguments.get("steps", 20)?,
        states_max: arguments.get("states", 3_000)?,
        every: arguments.get("every", 97)?,
        planted,
    };
    let report = campaign.run();
    println!("{report}");
    Ok(report.failures.is_empty())
}

fn flip(arguments: &Arguments) -> Result<bool, String> {
    let folder: PathBuf = arguments.get("folder", std::env::temp_dir())?;
    let folder = folder.join(format!("grainstore-flips-{}", std::process::id()));
    let outcome = bit_flips(
        &folder,
        arguments.get("seed", 1)?,
        arguments.get("every", 1)?,
    );
    drop(std::fs::remove_dir_all(&folder));
    let flips = outcome?;
    println!("{flips}");
    let mut files = flips.files.values();
    Ok(files.all(|file| file.failures.is_empty()))
}

fn recover(arguments: &Arguments) -> Result<bool, String> {
    let report = recoveries(
        arguments.get("seed", 1)?,
        arguments.get("grains", 1_000)?,
        arguments.get("flips", 2_000)?,
        arguments.get("cuts", 500)?,
    )?;
    println!("{report}");
    Ok(report.failures.is_empty())
}

fn operations(arguments: &Arguments) -> Result<bool, String> {
    let each = arguments.get("operations", 500)?;
    if let Ok(path) = arguments.get("input", String::new())
        && !path.is_empty()
    {
        let input = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        println!("{} operations", store_ops(&input)?);
        return Ok(true);
    }
    let mut total = 0;
    for seed in arguments.seeds(1..201)? {
        total += random_ops(seed, each).map_err(|what| format!("OPS seed={seed}: {what}"))?;
    }
    println!("{total} operations as the map says");
    Ok(true)
}

const USAGE: &str = "\
usage: grainstore-crash COMMAND [NAME=VALUE]...
  states         states=20000 seeds=1..N steps=20 second=25 jobs=2   crash after every operation
  faults         seeds=1..4 steps=10 every=1                         every operation fails
  seeded-faults  states=20000                                        faults that must be found
  interleaving   seeds=0..1000 jobs=2 faults=0                       several processes at once
  key-erasure    states=3000 seed=1 steps=12 every=7 planted=false   keys that were destroyed
  person-erasure states=3000 seed=1 steps=20 every=97 planted=       persons that were erased
  bit-flips      seed=1 every=1 folder=/tmp                          every bit of a small store
  recover        seed=1 grains=1000 flips=2000 cuts=500              a store brought out of damage
  operations     seeds=1..201 operations=500 | input=FILE            against a plain map
  replay         what a failure printed";
