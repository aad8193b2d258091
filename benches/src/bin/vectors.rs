//! Nearest-neighbour search over many vectors: recall of the exact answer, memory and times.
//!
//! `vectors [COUNT…]`, 100,000 and 1,000,000 if nothing is said. Vectors have 384 numbers and lie in
//! clusters, as those of texts do; they are generated again for the exact answers, so that the memory
//! is that of the index alone.

use std::time::{Duration, Instant};

use grainstore::index::RowSet;
use grainstore::ledger::EntryId;
use grainstore::vector::{Thresholds, VectorIndex};
use rayon::prelude::*;

fn main() {
    let counts: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|it| it.parse().ok())
        .collect();
    let counts = if counts.is_empty() {
        vec![100_000, 1_000_000]
    } else {
        counts
    };
    for count in counts {
        measure(count);
    }
}

fn measure(count: u64) {
    let data = Data::new();
    let before = resident_mib();
    let mut index = VectorIndex::new(DIMENSIONS, Thresholds::default());
    let began = Instant::now();
    for row in 0..count {
        // A grain and its vector take turns in the ledger.
        index.set(
            EntryId::new(2 * row + 1),
            EntryId::new(2 * row),
            &data.vector(row),
        );
    }
    let added = began.elapsed();
    let began = Instant::now();
    index.prepare(2 * count);
    let prepared = began.elapsed();
    let memory = resident_mib() - before;
    println!("{count} x {DIMENSIONS}: {memory} MiB, added in {added:.1?}, cells in {prepared:.1?}");
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|n| data.query(n)).collect();
    for keeps in [1, 10, 100] {
        let kept = (0..count).filter(|row| row % keeps == 0);
        let rows: RowSet = kept.map(|row| EntryId::new(2 * row)).collect();
        let exact = data.exact(&queries, count, keeps);
        let mut found = 0;
        let mut times = Vec::new();
        let cpu = cpu_ms();
        for (query, exact) in queries.iter().zip(&exact) {
            let began = Instant::now();
            let (near, _) = index.nearest(query, 10, &rows);
            times.push(began.elapsed());
            let is_exact = |row: EntryId| exact.contains(&(row.get() / 2));
            found += near.iter().filter(|near| is_exact(near.row)).count();
        }
        let cpu = (cpu_ms() - cpu) as f64 / QUERIES as f64;
        times.sort_unstable();
        let recall = found as f64 / (10 * QUERIES) as f64;
        let at = |share: usize| -> Duration { times[(times.len() - 1) * share / 100] };
        println!(
            "  1 of {keeps:3} rows: recall@10 {recall:.4}, p50 {:.2?}, p99 {:.2?}, \
             {cpu:.1} ms of a core",
            at(50),
            at(99)
        );
    }
}

/// Clusters within topics, and the directions in which the vectors of a cluster differ.
struct Data {
    centres: Vec<f32>,
    axes: Vec<f32>,
}

impl Data {
    fn new() -> Self {
        let mut random = Random(1);
        let mut normal = |count: usize| -> Vec<f32> {
            (0..count * DIMENSIONS).map(|_| random.normal()).collect()
        };
        let (topics, mut centres, axes) = (normal(TOPICS), normal(CLUSTERS), normal(AXES));
        for (n, centre) in centres.chunks_exact_mut(DIMENSIONS).enumerate() {
            let topic = &topics[n % TOPICS * DIMENSIONS..];
            centre
                .iter_mut()
                .zip(topic)
                .for_each(|(value, topic)| *value += topic);
        }
        Self { centres, axes }
    }

    /// A vector: the centre of its cluster, steps along some axes, and a little of everything.
    fn vector(&self, row: u64) -> Vec<f32> {
        let mut random = Random(row.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let cluster = (random.next() % CLUSTERS as u64) as usize;
        let mut vector = self.centres[cluster * DIMENSIONS..][..DIMENSIONS].to_vec();
        for n in 0..AXES_OF_CLUSTER {
            let axis = &self.axes[(cluster * 7 + n * 31) % AXES * DIMENSIONS..];
            let step = random.normal() * 0.3;
            vector
                .iter_mut()
                .zip(axis)
                .for_each(|(value, axis)| *value += step * axis);
        }
        vector
            .iter_mut()
            .for_each(|value| *value += random.normal() * 0.4);
        vector
    }

    /// A question: another vector of the same kind.
    fn query(&self, number: usize) -> Vec<f32> {
        self.vector(u64::MAX / 2 + number as u64)
    }

    /// The ten nearest rows of each question, by comparing every `keeps`th vector.
    fn exact(&self, queries: &[Vec<f32>], count: u64, keeps: u64) -> Vec<Vec<u64>> {
        let part = |rows: std::ops::Range<u64>| {
            let mut best: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.len()];
            for row in rows.filter(|row| row % keeps == 0) {
                let vector = self.vector(row);
                let length = dot(&vector, &vector).sqrt();
                for (query, best) in queries.iter().zip(&mut best) {
                    best.push((-dot(query, &vector) / length, row));
                    if best.len() > 200 {
                        shrink(best);
                    }
                }
            }
            best
        };
        let parts: Vec<_> = (0..count.div_ceil(PART))
            .into_par_iter()
            .map(|n| part(n * PART..((n + 1) * PART).min(count)))
            .collect();
        let merged = |query: usize| {
            let mut best: Vec<_> = parts.iter().flat_map(|part| part[query].clone()).collect();
            shrink(&mut best);
            best.into_iter().map(|(_, row)| row).collect()
        };
        (0..queries.len()).map(merged).collect()
    }
}

fn shrink(best: &mut Vec<(f32, u64)>) {
    best.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.truncate(10);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// About normal, with a deviation of 1: a sum of four uniform numbers.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let part = |n: u32| (bits >> (16 * n) & 0xffff) as f32 / 65_536.0;
        (part(0) + part(1) + part(2) + part(3) - 2.0) * 1.732
    }
}

/// The time that this process has computed, of all threads, from Linux; 0 elsewhere.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The 14th and 15th field, in ticks of 10 ms.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks = fields
        .skip(11)
        .take(2)
        .filter_map(|it| it.parse::<u64>().ok());
    ticks.sum::<u64>() * 10
}

/// The resident memory of this process, from Linux; 0 elsewhere.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1_024
}

const DIMENSIONS: usize = 384;
const TOPICS: usize = 200;
const CLUSTERS: usize = 5_000;
const AXES: usize = 256;
const AXES_OF_CLUSTER: usize = 12;
const QUERIES: usize = 200;
const PART: u64 = 8_192;
