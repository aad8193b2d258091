//! Operations that read a store of 20,000 grains with text. Every round asks the same questions, so
//! that the second finds the caches warm.

use std::hint::black_box;

use grainstore::index::Pattern;
use grainstore::ledger::EntryId;
use grainstore::query::{Recall, Sort, SortBy};
use grainstore::text::Ranking;
use grainstore::{Filter, Search, Time, Type};

use super::Rounds;
use crate::Result;
use crate::data::{Corpus, Dice, VOCABULARY, word};
use crate::fixture::{Fixture, QUESTIONED_GRAINS, generator};

/// Opening, with the checksums of the text index, and closing.
pub(super) fn open(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    for _ in rounds {
        drop(black_box(fixture.questioned()?));
    }
    Ok(())
}

/// A grain by its address, verified.
pub(super) fn get(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let store = fixture.questioned()?;
    let mut dice = Dice::new(1);
    let mut asked = Vec::new();
    for _ in 0..GETS {
        let row = EntryId::new(dice.below(QUESTIONED_GRAINS));
        asked.extend(store.list(row.before(), 1)?.addresses);
    }
    for _ in rounds {
        for address in &asked {
            black_box(store.get(address)?.ok_or("a grain is missing")?);
        }
    }
    Ok(())
}

/// The rows with a subject and a relation, up to 100.
pub(super) fn triple_lookup(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let store = fixture.questioned()?;
    let corpus = generator().corpus();
    for _ in rounds {
        let mut dice = Dice::new(2);
        for _ in 0..LOOKUPS {
            let statement = corpus.statement(dice.below(QUESTIONED_GRAINS));
            let pattern = Pattern {
                subject: Some(&statement.subject),
                relation: Some(&statement.relation),
                ..Pattern::default()
            };
            let snapshot = store.maintenance()?.index_snapshot();
            for row in snapshot.triples(&pattern).take(100) {
                black_box(row?);
            }
        }
    }
    Ok(())
}

/// Ten grains of a type, in a namespace and an hour.
pub(super) fn filtered_query(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    query(fixture, rounds, SortBy::Stored)
}

/// The same in the order of addresses.
pub(super) fn sorted_query(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    query(fixture, rounds, SortBy::Address)
}

fn query(fixture: &Fixture, rounds: Rounds, by: SortBy) -> Result<()> {
    let store = fixture.questioned()?;
    for _ in rounds {
        let mut dice = Dice::new(3);
        for _ in 0..QUERIES {
            let from_ms = Corpus::second_ms(dice.below(QUESTIONED_GRAINS));
            let filter = in_team(&mut dice)
                .sorted(Sort::by(by))
                .of_type(Type::Event)
                .since(Time::from_ms(from_ms))
                .until(Time::from_ms(from_ms + 3_600_000));
            black_box(store.query(&filter, 10, None)?);
        }
    }
    Ok(())
}

/// A word that is in about ten grains.
pub(super) fn rare_word(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    search(fixture, rounds, |dice| {
        let rare = VOCABULARY / 2 + dice.below(VOCABULARY / 2);
        (word(rare), Filter::new())
    })
}

/// A word that is in a tenth of all grains to six in ten.
pub(super) fn frequent_word(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    search(fixture, rounds, frequent)
}

/// The same, ranked by words alone: the difference is the sessions of the question.
pub(super) fn words_alone(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let store = fixture.questioned()?;
    for _ in rounds {
        let mut dice = Dice::new(4);
        for _ in 0..SEARCHES {
            let (text, filter) = frequent(&mut dice);
            let search = Search::parse(&text)?.filter(&filter);
            black_box(store.find(&search.ranking(Ranking::WORDS))?);
        }
    }
    Ok(())
}

fn frequent(dice: &mut Dice) -> (String, Filter) {
    (word(dice.below(20)), Filter::new())
}

/// Two words, in a namespace that has a twentieth of the grains.
pub(super) fn in_a_namespace(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    search(fixture, rounds, |dice| {
        let (one, other) = (10 + dice.below(240), 250 + dice.below(250));
        let text = format!("{} {}", word(one), word(other));
        (text, in_team(dice))
    })
}

/// Two words that stand beside each other in some grain.
pub(super) fn phrase(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let corpus = generator().corpus();
    search(fixture, rounds, |dice| {
        let words = corpus.words(dice.below(QUESTIONED_GRAINS));
        let pair = words.get(3..5).unwrap_or_default();
        (format!("\"{}\"", pair.join(" ")), Filter::new())
    })
}

/// A recall of eight words, within 2,000 tokens.
pub(super) fn recall(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    let store = fixture.questioned()?;
    for _ in rounds {
        for question in recalled() {
            let recall = Recall::default();
            black_box(store.recall(&question, &Filter::new(), &recall)?);
        }
    }
    Ok(())
}

/// The questions of recalls.
pub(super) fn recalled() -> impl Iterator<Item = String> {
    let mut dice = Dice::new(5);
    (0..RECALLS).map(move |_| {
        let words: Vec<_> = (0..8).map(|_| word(dice.skewed_more(VOCABULARY))).collect();
        words.join(" ")
    })
}

/// Asks for the best ten.
fn search(
    fixture: &Fixture,
    rounds: Rounds,
    question: impl Fn(&mut Dice) -> (String, Filter),
) -> Result<()> {
    let store = fixture.questioned()?;
    for _ in rounds {
        let mut dice = Dice::new(4);
        for _ in 0..SEARCHES {
            let (text, filter) = question(&mut dice);
            black_box(store.search(&text, &filter, 10)?);
        }
    }
    Ok(())
}

fn in_team(dice: &mut Dice) -> Filter {
    Filter::new().namespace(format!("org:team{}", dice.below(20)))
}

pub(super) const GETS: usize = 2_000;
pub(super) const LOOKUPS: usize = 1_000;
pub(super) const QUERIES: usize = 200;
pub(super) const SEARCHES: usize = 50;
pub(super) const RECALLS: usize = 20;
