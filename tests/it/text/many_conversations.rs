//! A search that is asked for few hits ranks few candidates, where those left out cannot change the answer.

use super::*;

/// Draws numbers, the same ones for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn word(&mut self) -> String {
        // Low numbers come more often, as some words do.
        let of = self.below(40);
        format!("word{}", self.below(of + 1))
    }
}

/// Feeds 400 conversations, of which some have much to say beside the words that are asked for.
fn talks(numbers: &mut Numbers) -> Text {
    let text = memory();
    for session in 1..=400 {
        for turn in 0..=numbers.below(6) {
            let mut said: Vec<_> = (0..=numbers.below(5)).map(|_| numbers.word()).collect();
            for _ in 0..numbers.below(3) * numbers.below(12) {
                said.push(format!("other{}", numbers.below(900)));
            }
            let name = ["Anna", "Ben"][usize::from(turn % 2 == 1)];
            let document = Document::default().passage("content", said.join(" "));
            let document = document.thread(session).said_by(Some("user"), Some(name));
            text.add(EntryId::new(text.watermark()), document).unwrap();
        }
    }
    text
}

#[test]
fn few_hits_of_many_conversations_are_the_first_of_all() {
    for seed in 0..4 {
        let mut numbers = Numbers(seed);
        let text = talks(&mut numbers);
        for is_committed in [false, true] {
            if is_committed {
                text.flush().unwrap();
            }
            for _ in 0..60 {
                let words: Vec<_> = (0..=numbers.below(3)).map(|_| numbers.word()).collect();
                let query = Query::parse(&words.join(" ")).unwrap();
                let best = |limit| {
                    let found = text.search(&query, &Ranking::default(), limit, &|_| true);
                    found.unwrap().hits
                };
                // So many that as many candidates are ranked as ever are.
                let all = best(230);
                for limit in [1, 3, 10, 40] {
                    let first = all.iter().take(limit).copied();
                    assert_eq!(best(limit), first.collect::<Vec<_>>(), "{words:?}, {limit}");
                }
            }
        }
    }
}
