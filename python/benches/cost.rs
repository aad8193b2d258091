//! What `benches/cost.py` asks of the package, asked of the library: a line of JSON with microseconds.

use std::error::Error;
use std::io::{Write as _, stdout};
use std::time::Instant;

use grainstore::grain::Time;
use grainstore::{Draft, Options, Store};

const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let place = std::env::temp_dir().join(format!("cost-{}.grains", std::process::id()));
    let on_disk = Store::open(&place, Options::default())?;
    let in_memory = Store::in_memory(Options::default())?;
    let (put, get) = (puts(&in_memory)?, gets(&in_memory)?);
    let put_on_disk = puts(&on_disk)?;
    drop(on_disk);
    std::fs::remove_dir_all(place)?;
    writeln!(
        stdout(),
        r#"{{"put_batch":{put:.1},"put_batch_on_disk":{put_on_disk:.1},"get":{get:.3}}}"#
    )?;
    Ok(())
}

/// Returns the shortest time of a batch of 1,000 drafts.
fn puts(store: &Store) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS {
        let drafts = beliefs(1_000, round);
        store.maintenance()?.flush_text()?;
        let start = Instant::now();
        store.put_batch(drafts)?;
        best = best.min(1e6 * start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Returns the time of a get, of the shortest run of 1,000.
fn gets(store: &Store) -> Result<f64, Box<dyn Error>> {
    let stored = store.put_batch(beliefs(1_000, ROUNDS))?;
    store.maintenance()?.flush_text()?;
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for put in &stored {
            std::hint::black_box(store.get(&put.address)?);
        }
        best = best.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn beliefs(count: i64, round: usize) -> Vec<Draft> {
    let belief = |number: i64| {
        let object = format!(
            "round {round} tea number {number} from the garden of {}",
            number * 7919 % 1000
        );
        let user = format!("user-{}", number % 97);
        Draft::belief(user.clone(), "likes", object)
            .set("confidence", 0.9)
            .user(user)
            .created_at(Time::from_ms(1_768_471_200_000 + number))
    };
    (0..count).map(belief).collect()
}
