//! Where the turns of conversations are in a segment: mostly one behind the other.
//!
//! A search reads dozens of conversations, and most segments have no turn of one. To look each up in
//! the term dictionary and to read its postings takes longer than to score what is found.

/// Runs of documents of one conversation each, by conversation and then by document.
pub(super) struct TurnRuns(Vec<TurnRun>);

/// Documents of one conversation, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TurnRun {
    thread: u64,
    pub(super) first: u32,
    pub(super) len: u32,
}

impl TurnRuns {
    /// Finds the runs of `len` documents, given the conversation of each in order, 0 for none; `None`
    /// where the turns of many conversations alternate, whose list would be as long as that of the
    /// documents.
    pub(super) fn of(threads: impl Iterator<Item = u64>, len: u32) -> Option<Self> {
        let len_max = len as usize / DOCUMENTS_PER_RUN + RUNS_MIN;
        let mut runs: Vec<TurnRun> = Vec::new();
        let mut last = 0;
        for (document, thread) in (0..).zip(threads) {
            let has_room = runs.len() < len_max;
            match runs.last_mut() {
                _ if thread == 0 => {}
                Some(run) if thread == last => run.len += 1,
                _ if has_room => runs.push(TurnRun::of_one(thread, document)),
                _ => return None,
            }
            last = thread;
        }
        runs.sort_unstable();
        runs.shrink_to_fit();
        Some(Self(runs))
    }

    /// Returns the number of runs: at least that of the conversations.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the runs of a conversation, in the order of documents.
    pub(super) fn of_thread(&self, thread: u64) -> &[TurnRun] {
        let start = self.0.partition_point(|run| run.thread < thread);
        let from = self.0.get(start..).unwrap_or_default();
        let len = from.partition_point(|run| run.thread == thread);
        from.get(..len).unwrap_or_default()
    }
}

impl TurnRun {
    /// Returns the run of one document.
    const fn of_one(thread: u64, document: u32) -> Self {
        Self {
            thread,
            first: document,
            len: 1,
        }
    }

    pub(super) const fn end(self) -> u32 {
        self.first.saturating_add(self.len)
    }
}

/// A run takes 16 bytes: 2 for each document at most.
const DOCUMENTS_PER_RUN: usize = 8;

/// The runs that any segment may have.
const RUNS_MIN: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_runs_of_a_conversation_are_its_documents(
            threads in prop::collection::vec(0_u64..5, 0..60),
        ) {
            let runs = TurnRuns::of(threads.iter().copied(), 60).unwrap();
            for thread in 1..6 {
                let found = runs.of_thread(thread).iter();
                let found: Vec<u32> = found.flat_map(|run| run.first..run.end()).collect();
                let of_thread = (0..).zip(&threads).filter(|(_, of)| **of == thread);
                let expected: Vec<u32> = of_thread.map(|(document, _)| document).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn conversations_that_alternate_have_no_runs() {
        assert!(TurnRuns::of((0..1_000).map(|document| document % 2 + 1), 1_000).is_none());
        assert!(TurnRuns::of((0..1_000).map(|document| document / 10 + 1), 1_000).is_some());
    }
}
