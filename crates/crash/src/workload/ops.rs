//! Operations decoded from arbitrary bytes, for the fuzzer and for random runs.
//!
//! Each is done on a store and on the model; both must agree after each reopening.

use crate::disk::image::Image;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::oracle::Verdict;
use crate::workload::run::Run;

/// Uses a store as the bytes say, against a plain map: puts, batches, duplicates, supersessions,
/// refusals, imports, reopenings. Returns how many operations there were.
///
/// ```
/// assert_eq!(grainstore_crash::store_ops(&[0, 1, 2, 3]), Ok(1));
/// ```
///
/// # Errors
/// The first difference between the store and the map.
pub fn store_ops(data: &[u8]) -> Verdict<u64> {
    let seed = data.len() as u64;
    use_store(seed, Random::tape(data), OPERATIONS_MAX)
}

/// Does as many operations as are asked for, as a seed says.
///
/// # Errors
/// The first difference between the store and the map.
pub fn random_ops(seed: u64, operations: u64) -> Verdict<u64> {
    use_store(seed, Random::of(&[seed, 9]), operations)
}

fn use_store(seed: u64, random: Random, most: u64) -> Verdict<u64> {
    let disk = SimDisk::new(&Image::default());
    let mut run = Run::new(disk, seed);
    run.random = random;
    // Holding a store to the map takes as long as a hundred operations.
    run.reopen_percent = 20;
    run.open()?;
    let mut operations = 0;
    while operations < most && !run.random.is_spent() {
        operations += 1;
        run.step()
            .map_err(|what| format!("operation {operations}: {what}"))?;
    }
    run.open()?;
    Ok(operations)
}

const OPERATIONS_MAX: u64 = 500;
