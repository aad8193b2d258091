//! Random histories of an index: after every step its answers are those of the entries, and every
//! snapshot taken on the way still gives the answers it gave.

use super::*;
use grainstore::index::{Addresses, Comparison};
use grainstore::ledger::{EntryId, MemoryDisk};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Grains(u8),
    Supersede(prop::sample::Index, prop::sample::Index),
    Alias(prop::sample::Index, u8),
    Mention(prop::sample::Index),
    Freeze,
    Merge,
    Snapshot,
    Reopen,
    Erase(prop::sample::Index),
    Expunge,
}

fn step() -> impl Strategy<Value = Step> {
    let any_row = any::<prop::sample::Index>;
    prop_oneof![
        6 => (1..40_u8).prop_map(Step::Grains),
        3 => (any_row(), any_row()).prop_map(|(a, b)| Step::Supersede(a, b)),
        1 => (any_row(), 0..5_u8).prop_map(|(a, n)| Step::Alias(a, n)),
        1 => any_row().prop_map(Step::Mention),
        3 => Just(Step::Freeze),
        1 => Just(Step::Merge),
        2 => Just(Step::Snapshot),
        2 => Just(Step::Reopen),
        1 => any_row().prop_map(Step::Erase),
        1 => Just(Step::Expunge),
    ]
}

fn options() -> impl Strategy<Value = IndexOptions> {
    let addresses = prop_oneof![Just(Addresses::Map), Just(Addresses::Filters)];
    (
        addresses,
        prop_oneof![Just(8_u32), Just(1)],
        1..60_u64,
        any::<bool>(),
    )
        .prop_map(
            |(addresses, prefix_bytes, flush_rows, background)| IndexOptions {
                addresses,
                prefix_bytes,
                flush_rows,
                background,
                cache_bytes: 1 << 18,
                result_cache_bytes: 1 << 18,
            },
        )
}

/// An index, what it should hold, and what older snapshots said.
struct Run {
    disk: Arc<dyn Disk>,
    options: IndexOptions,
    index: Index,
    entries: Entries,
    erased: Vec<u64>,
    kept: Vec<(Snapshot, BTreeMap<String, Vec<u64>>, usize)>,
    next: u64,
}

impl Run {
    fn say(&mut self, said: Said) {
        self.entries.0.push(said);
        self.entries.apply(&self.index);
    }

    fn any(&self, at: &prop::sample::Index) -> Option<u64> {
        let grains = self.entries.grains();
        (!grains.is_empty()).then(|| *at.get(&grains))
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Grains(count) => {
                for _ in 0..*count {
                    self.entries.0.push(Said::Grain(Box::new(grain(self.next))));
                    self.next += 1;
                }
                self.entries.apply(&self.index);
                if self.index.is_memtable_full() {
                    freeze(&self.index);
                }
            }
            Step::Supersede(old, new) => {
                if let (Some(old), Some(new)) = (self.any(old), self.any(new)) {
                    self.say(Said::Superseded(old, new));
                }
            }
            Step::Alias(of, name) => {
                if let Some(of) = self.any(of) {
                    self.say(Said::Alias(of, *name));
                }
            }
            Step::Mention(of) => {
                if let Some(of) = self.any(of) {
                    self.say(Said::Mention(of));
                }
            }
            Step::Freeze => freeze(&self.index),
            Step::Merge => {
                freeze(&self.index);
                self.index.merge_all().unwrap();
                assert!(self.index.runs() <= 1);
            }
            Step::Snapshot => {
                let snapshot = self.index.snapshot();
                let said = answers(&snapshot);
                self.kept.push((snapshot, said, self.erased.len()));
            }
            Step::Reopen => self.reopen(),
            Step::Erase(at) => {
                if let Some(row) = self.any(at) {
                    // As deletion does: the grain, and every entry that names it.
                    let address = self.entries.address(row);
                    let snapshot = self.index.snapshot();
                    let mentions = snapshot.pointing_at(Family::Mentions, &address);
                    let mut rows = vec![row];
                    rows.extend(mentions.rows().unwrap().iter().map(EntryId::get));
                    self.index.erase(rows.iter().copied().map(EntryId::new));
                    self.erased.extend(rows);
                }
            }
            Step::Expunge => self.index.expunge().unwrap(),
        }
    }

    fn reopen(&mut self) {
        // They outlive their index, but what is erased later is hidden by another.
        self.check();
        self.kept.clear();
        let (options, disk) = (self.options.clone(), Arc::clone(&self.disk));
        drop(std::mem::replace(&mut self.index, open_spare()));
        let (index, opened) = open(&disk, &options);
        assert_eq!(opened.rebuilt, None);
        let covered = opened.position.map_or(0, |mark| mark.entries);
        assert_eq!(covered, index.watermark());
        assert_eq!(
            opened.locations,
            places(EntryId::FIRST..EntryId::new(covered))
        );
        assert_eq!(opened.position, (covered > 0).then(|| mark(covered)));
        index.erase(self.erased.iter().copied().map(EntryId::new));
        self.index = index;
        self.entries.apply(&self.index);
    }

    fn check(&self) {
        let wanted = expected(&self.entries, &self.erased);
        let snapshot = self.index.snapshot();
        agree(
            without_statuses_of(answers(&snapshot), &self.erased),
            without_statuses_of(wanted, &self.erased),
        );
        for row in self.entries.grains() {
            let found = snapshot.candidates(&self.entries.address(row)).unwrap();
            assert_eq!(
                found.contains(EntryId::new(row)),
                !self.erased.contains(&row)
            );
        }
        for (old, said, known) in &self.kept {
            let since = &self.erased[*known..];
            let mut said = said.clone();
            for rows in said.values_mut() {
                rows.retain(|row| !since.contains(row));
            }
            agree(
                without_statuses_of(answers(old), &self.erased),
                without_statuses_of(said, &self.erased),
            );
        }
    }
}

/// Nobody asks for the status of a grain that is gone, and whether one whose status entry was
/// erased is current depends on whether it was expunged: such an entry names both grains.
fn without_statuses_of(
    mut answers: BTreeMap<String, Vec<u64>>,
    erased: &[u64],
) -> BTreeMap<String, Vec<u64>> {
    if !erased.is_empty() {
        answers.remove("current");
    }
    for row in erased {
        answers.remove(&format!("status {row}"));
    }
    answers
}

fn open_spare() -> Index {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    open(&disk, &small()).0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_index_is_the_fold_of_its_entries(
        options in options(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let mut run = Run {
            index: open(&disk, &options).0,
            disk,
            options,
            entries: Entries::default(),
            erased: Vec::new(),
            kept: Vec::new(),
            next: 0,
        };
        for step in &steps {
            run.step(step);
        }
        run.check();
        run.index.flush().unwrap();
        run.check();
        run.reopen();
        run.check();
        run.index.expunge().unwrap();
        run.check();
        let mut comparison = Comparison::of(&run.index);
        let mut batch = run.index.batch();
        run.entries.fill(&mut batch, 0, &run.erased);
        comparison.add(batch);
        prop_assert_eq!(comparison.finish(&places).unwrap(), Vec::<String>::new());
    }
}
