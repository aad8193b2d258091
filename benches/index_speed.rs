//! Prints what the index costs by itself, in processor time of the asking thread (Linux): `cargo bench --bench index_speed -- [GRAINS]`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::sync::Arc;
use std::time::Duration;

use grainstore::grain::{Draft, Grain, Time};
use grainstore::index::{Family, Index, IndexOptions, Pattern, TermKey};
use grainstore::ledger::{Disk, EntryId, EntryLocation, FileDisk, LedgerPosition, StoreId};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u64 = std::env::args()
        .filter(|it| it != "--bench")
        .nth(1)
        .map_or(Ok(200_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(folder.path()));
    let terms = TermKey::new([7; 16]);
    for background in [false, true] {
        drop(std::fs::remove_dir_all(folder.path().join("index")));
        let options = IndexOptions {
            background,
            ..IndexOptions::default()
        };
        let id = StoreId::new([7; 16]);
        let (index, _) = Index::open(&disk, id, terms.clone(), options.clone());
        ingest(&index, count)?;
        let started = cpu();
        index.merge_all()?;
        println!("merge of all: {:.3} us/grain", per(cpu() - started, count));
        println!(
            "index: {:.1} bytes/grain",
            len(index.len_bytes()) / len(count)
        );
        lookups(&index, count)?;
        drop(index);
        let started = cpu();
        let (index, _) = Index::open(&disk, id, terms.clone(), options);
        println!("open: {:?}, {} entries", cpu() - started, index.watermark());
    }
    Ok(())
}

fn ingest(index: &Index, count: u64) -> Result<(), Box<dyn std::error::Error>> {
    let (mut applying, mut freezing) = (Duration::ZERO, Duration::ZERO);
    for first in (0..count).step_by(1_000) {
        let rows = first..count.min(first + 1_000);
        let grains: Vec<Grain> = rows.clone().map(grain).collect::<Result<_, _>>()?;
        let started = cpu();
        let mut batch = index.batch();
        for (row, grain) in rows.clone().map(EntryId::new).zip(&grains) {
            batch.grain(row, grain, 5);
        }
        index.publish(batch, rows.end);
        applying += cpu() - started;
        if index.is_memtable_full() || rows.end == count {
            let started = cpu();
            let active = index.active_entries();
            let mark = LedgerPosition {
                entries: active.end.get(),
                head: [0; 32],
                segment: 1,
                offset: 0,
            };
            let places = EntryId::all(&active).map(|row| place(row.get()));
            index.rotate_memtable(Some(mark), places.collect())?;
            freezing += cpu() - started;
        }
    }
    println!("apply: {:.3} us/grain", per(applying, count));
    println!(
        "freeze, flush, merge as seen: {:.3} us/grain",
        per(freezing, count)
    );
    index.flush()?;
    println!("{} runs", index.runs());
    Ok(())
}

fn lookups(index: &Index, count: u64) -> Result<(), Box<dyn std::error::Error>> {
    let snapshot = index.snapshot();
    let numbers: Vec<u64> = (0..ASKED).map(|n| mixed(n) % count).collect();
    let texts: Vec<[String; 3]> = numbers.iter().map(|n| triple(*n)).collect();
    for round in ["cold", "warm"] {
        for bound in [
            [true, true, false],
            [false, true, true],
            [true, false, true],
            [true, false, false],
            [false, true, false],
            [false, false, true],
        ] {
            let started = cpu();
            let mut found = 0;
            for [s, p, o] in &texts {
                let pattern = Pattern {
                    subject: bound[0].then_some(s),
                    relation: bound[1].then_some(p),
                    object: bound[2].then_some(o),
                };
                for row in snapshot.triples(&pattern).take(100) {
                    found += usize::from(row?.get() < count);
                }
            }
            println!(
                "{round} {bound:?}: {:.2} us, {found} rows",
                per(cpu() - started, ASKED)
            );
        }
        let started = cpu();
        let mut found = 0;
        for n in &numbers {
            let from = 1_700_000_000_000 + i64::try_from(*n)? * 10;
            let (from, to) = (Time::from_ms(from), Time::from_ms(from + 9_999));
            found += snapshot
                .in_time(Family::EventTime, Some(from), Some(to))
                .rows()?
                .len();
        }
        println!(
            "{round} time range: {:.2} us, {found} rows",
            per(cpu() - started, ASKED)
        );
    }
    let addresses = numbers
        .iter()
        .map(|n| grain(*n).map(|grain| grain.address()));
    let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
    let started = cpu();
    let mut found = 0;
    for address in &addresses {
        found += snapshot.candidates(address)?.len();
    }
    println!(
        "address: {:.3} us, {found} rows",
        per(cpu() - started, ASKED)
    );
    Ok(())
}

fn triple(n: u64) -> [String; 3] {
    let skewed = mixed(n) % 20_000 * (mixed(n + 7) % 1_000) / 1_000;
    let object = mixed(n + 9) % if n.is_multiple_of(2) { 5_000 } else { u64::MAX };
    [
        format!("subject-{skewed}"),
        format!("relation-{}", mixed(n + 5) % 200),
        format!("object-{object}"),
    ]
}

fn grain(n: u64) -> Result<Grain, grainstore::grain::Error> {
    let [subject, relation, object] = triple(n);
    let mut draft = Draft::belief(subject, relation, object)
        .confidence(0.9)
        .namespace(format!("acme:team{}", n % 20))
        .created_at(Time::from_ms(
            1_700_000_000_000 + i64::try_from(n).unwrap_or(0) * 10,
        ))
        .tag(format!("tag{}", n % 50))
        .tag(format!("kind{}", n % 7))
        .user(format!("user{}", mixed(n) % 1_000))
        .set("session_id", format!("session{}", n / 100))
        .set("run_id", format!("run{}", n / 500));
    if n.is_multiple_of(3) {
        draft = draft.derived_from(grainstore::ContentAddress::of(&n.to_be_bytes()));
    }
    draft.finish(Default::default())
}

fn place(row: u64) -> EntryLocation {
    EntryLocation {
        segment: 1,
        offset: u32::try_from(row * 421 % (1 << 32)).unwrap_or(0),
        check: u32::try_from(mixed(row) >> 32).unwrap_or(0),
    }
}

/// The processor time of this thread, which other work on the machine does not lengthen much.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Questions of each kind: enough for a clock that ticks every few milliseconds.
const ASKED: u64 = 100_000;

fn mixed(n: u64) -> u64 {
    let x = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn per(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / len(count)
}

fn len(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
