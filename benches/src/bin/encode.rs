//! Measures the way of a grain from JSON to its blob and back, against what cannot be avoided:
//! parsing the JSON and hashing the blob.
//!
//! `cargo run --release --bin encode` in `benches/`; `encode profile` runs the encoding alone,
//! for a profiler.

use std::hint::black_box;
use std::time::Instant;

use grainstore::codec::{ContentAddress, Profile};
use grainstore::grain::{Draft, Error, Grain};
use sha2::{Digest, Sha256};

const GRAINS: &str = include_str!("../../../examples/data/grains.jsonl");

fn main() -> Result<(), Error> {
    let lines: Vec<&str> = GRAINS.lines().collect();
    if std::env::args().any(|argument| argument == "profile") {
        for _ in 0..200 {
            for line in &lines {
                black_box(Draft::from_json(line)?.finish(Profile::Extended)?);
            }
        }
        return Ok(());
    }
    let drafts = lines
        .iter()
        .map(|line| Draft::from_json(line))
        .collect::<Result<Vec<_>, _>>()?;
    let grains = drafts
        .iter()
        .map(|draft| draft.clone().finish(Profile::Extended))
        .collect::<Result<Vec<_>, _>>()?;
    let cases = lines.iter().zip(&grains);

    let mut measures: Vec<Measure> = vec![
        Measure::new("parse and hash, the floor", || {
            for (line, grain) in cases.clone() {
                black_box(serde_json::from_str::<serde_json::Value>(line).ok());
                black_box(Sha256::digest(grain.blob()));
            }
        }),
        Measure::new("JSON to blob", || {
            for line in &lines {
                let draft = Draft::from_json(line);
                black_box(draft.and_then(|draft| draft.finish(Profile::Extended)).ok());
            }
        }),
        Measure::new("JSON to draft", || {
            for line in &lines {
                black_box(Draft::from_json(line).ok());
            }
        }),
        Measure::new("draft copied", || {
            for draft in &drafts {
                black_box(draft.clone());
            }
        }),
        Measure::new("draft copied, to blob", || {
            for draft in &drafts {
                black_box(draft.clone().finish(Profile::Extended).ok());
            }
        }),
        Measure::new("blob to grain", || {
            for grain in &grains {
                let blob = grain.blob().to_vec();
                black_box(Grain::from_blob(blob, Profile::Extended).ok());
            }
        }),
        Measure::new("address", || {
            for grain in &grains {
                black_box(ContentAddress::of(grain.blob()));
            }
        }),
    ];
    // Interleaved, so that a slow moment of the machine falls on all of them.
    for _ in 0..ROUNDS {
        for measure in &mut measures {
            measure.run();
        }
    }
    let ns: Vec<f64> = measures
        .iter_mut()
        .map(|measure| measure.median_ns(lines.len()))
        .collect();
    for (measure, ns) in measures.iter().zip(&ns) {
        println!("{:<28} {ns:>8.0} ns per grain", measure.name);
    }
    if let [floor, whole, _, copied, finished, ..] = ns[..] {
        println!(
            "{:<28} {:>8.0} ns per grain",
            "draft to blob",
            finished - copied
        );
        println!("{:<28} {:>8.2}", "JSON to blob / floor", whole / floor);
    }
    Ok(())
}

struct Measure<'a> {
    name: &'static str,
    work: Box<dyn Fn() + 'a>,
    times_ns: Vec<u128>,
}

impl<'a> Measure<'a> {
    fn new(name: &'static str, work: impl Fn() + 'a) -> Self {
        Self {
            name,
            work: Box::new(work),
            times_ns: Vec::new(),
        }
    }

    fn run(&mut self) {
        let start = Instant::now();
        for _ in 0..PASSES {
            (self.work)();
        }
        self.times_ns.push(start.elapsed().as_nanos());
    }

    fn median_ns(&mut self, cases: usize) -> f64 {
        self.times_ns.sort_unstable();
        let median = self.times_ns[self.times_ns.len() / 2];
        median as f64 / (PASSES * cases) as f64
    }
}

const ROUNDS: usize = 101;
const PASSES: usize = 20;
