//! The tables of `docs/scale.md`: one store by simulation, servers and machines by arithmetic.

use super::model::{Costs, Load, simulate};

/// Of a node and a server on one machine of two cores, in milliseconds: with these a writer alone makes 147 puts
/// a second, four nodes of eight 1,030, in batches of 100 15,900; `examples/rates.rs` said 118, 1,067 and 15,840.
const MEASURED: Costs = Costs {
    round_trip: 0.0,
    turn: 0.7,
    commit: 1.6,
    frame: 4.5,
    grain: 0.044,
};

/// Between machines of one zone.
const NETWORK: Costs = Costs {
    round_trip: 0.5,
    ..MEASURED
};

/// Commits a second of one server for 16 stores (`examples/rates.rs`).
const COMMITS: f64 = 1_800.0;
/// Grains a second that a new node folds, if they came in batches.
const FOLDED: f64 = 100_000.0;
/// Bytes of a grain that was put alone, in PostgreSQL and in a cache with its index and words.
const BYTES_THERE: f64 = 530.0;
const BYTES_HERE: f64 = 700.0;
/// Bytes of memory of a grain on a node that has it open (`docs/benchmarks.md`).
const MEMORY: f64 = 48.8;

const GRAINS: f64 = 1e9;
const PERSONS: f64 = 1e6;
/// Puts of a person in a day, and how much more in the busiest second than on average.
const PUTS: f64 = 20.0;
const PEAK: f64 = 5.0;
const DAY: f64 = 86_400.0;
/// A machine of a node: memory and disk that caches may fill.
const NODE_MEMORY: f64 = 32e9;
const NODE_DISK: f64 = 1e12;
/// Each cache is on so many machines.
const COPIES: f64 = 2.0;

/// Returns the tables, as the page has them.
pub(crate) fn all() -> [String; 3] {
    [one_store(), servers(), machines()]
}

fn one_store() -> String {
    let mut lines = table(&[
        "nodes",
        "offered puts/s",
        "acknowledged",
        "p50 ms",
        "p99 ms",
    ]);
    for nodes in [1, 4, 16, 64] {
        for offered in [100.0, 1_000.0, 5_000.0] {
            let load = Load {
                nodes,
                offered,
                seconds: 60.0,
            };
            let outcome = simulate(NETWORK, load);
            lines += &row(&[
                nodes.to_string(),
                figure(offered),
                figure(outcome.acknowledged),
                figure(outcome.median),
                figure(outcome.p99),
            ]);
        }
    }
    lines
}

fn servers() -> String {
    let mut lines = table(&[
        "persons",
        "grains",
        "commits/s, busiest",
        "servers for commits",
        "TB of rows",
        "servers of 2 TB",
    ]);
    for persons in [1e4, 1e5, 1e6, 1e7] {
        let commits = persons * PUTS / DAY * PEAK;
        let terabytes = persons * GRAINS / PERSONS * BYTES_THERE / 1e12;
        lines += &row(&[
            figure(persons),
            figure(persons * GRAINS / PERSONS),
            figure(commits),
            figure((commits / COMMITS).ceil()),
            figure(terabytes),
            figure((terabytes / 2.0).ceil()),
        ]);
    }
    lines
}

fn machines() -> String {
    let mut lines = table(&[
        "stores",
        "grains of each",
        "a new node is ready in",
        "memory of each",
        "disk of each",
        "machines for all, twice",
    ]);
    for stores in [1.0, 100.0, 1e3, 1e4, 1e6] {
        let grains = GRAINS / stores;
        let memory = GRAINS * MEMORY * COPIES / NODE_MEMORY;
        let disk = GRAINS * BYTES_HERE * COPIES / NODE_DISK;
        let machines = memory.max(disk).ceil();
        // A store is on one machine, whole.
        let fits = grains * MEMORY <= NODE_MEMORY && grains * BYTES_HERE <= NODE_DISK;
        lines += &row(&[
            figure(stores),
            figure(grains),
            time(grains / FOLDED),
            size(grains * MEMORY),
            size(grains * BYTES_HERE),
            if fits {
                figure(machines)
            } else {
                "does not fit".to_owned()
            },
        ]);
    }
    lines
}

fn table(heads: &[&str]) -> String {
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let rule: Vec<String> = heads.iter().map(|_| "---:".to_owned()).collect();
    row(&heads) + &row(&rule)
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Two digits that count, so that no platform's logarithm changes them.
fn figure(number: f64) -> String {
    if number <= 0.0 || !number.is_finite() {
        return "–".to_owned();
    }
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    let rounded = (number / unit).round() * unit;
    let (rounded, times) = match rounded {
        big if big >= 1e9 => (big / 1e9, " · 10⁹"),
        big if big >= 1e6 => (big / 1e6, " · 10⁶"),
        small => (small, ""),
    };
    let is_whole = rounded >= 10.0 || (rounded - rounded.round()).abs() < 0.001;
    let digits = match rounded {
        _ if is_whole => 0,
        small if small >= 1.0 => 1,
        _ => 2,
    };
    format!("{rounded:.digits$}{times}")
}

fn time(seconds: f64) -> String {
    match seconds {
        less if less < 1.0 => format!("{} ms", figure(less * 1_000.0)),
        less if less < 120.0 => format!("{} s", figure(less)),
        less if less < 7_200.0 => format!("{} min", figure(less / 60.0)),
        more => format!("{} h", figure(more / 3_600.0)),
    }
}

fn size(bytes: f64) -> String {
    match bytes {
        less if less < 1e6 => format!("{} kB", figure(less / 1e3)),
        less if less < 1e9 => format!("{} MB", figure(less / 1e6)),
        less if less < 1e12 => format!("{} GB", figure(less / 1e9)),
        more => format!("{} TB", figure(more / 1e12)),
    }
}
