//! Runs the crash programme and prints what it did; `docs/reliability.md` says what it means.

use std::process::ExitCode;

use grainstore_crash::Campaign;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let report = Campaign { seeds: 1..arguments.first().map_or(3, |a| a.parse().unwrap_or(3)), ..Default::default() }.run();
    println!("{report}");
    ExitCode::SUCCESS
}
