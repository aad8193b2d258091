//! Statements of CAL on the store of questions. A RECALL asks what the operation `sorted-query` asks, so
//! that the two rows tell what the language costs.

use std::hint::black_box;

use grainstore::Time;
use grainstore_cal::{Cal, Options, parse};

use super::Rounds;
use super::questions::QUERIES;
use crate::Result;
use crate::data::{Corpus, Dice, VOCABULARY, word};
use crate::fixture::{Fixture, QUESTIONED_GRAINS};

/// A statement with a type, conditions, a time and stages, as text to its tree.
pub(super) fn parsed(_: &Fixture, rounds: Rounds) -> Result<()> {
    let text = "RECALL beliefs WHERE subject = \"alice\" AND relation = \"mg:prefers\" AND confidence >= 0.8 \
        SINCE \"2025-01-01\" | ORDER BY time DESC | LIMIT 10";
    for _ in rounds {
        for _ in 0..PARSED {
            let parsed = parse(black_box(text)).map_err(|error| error.to_string())?;
            black_box(parsed);
        }
    }
    Ok(())
}

/// Ten grains of a type, in a namespace and an hour.
pub(super) fn recall(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    answered(fixture, rounds, QUERIES, 3, |dice| {
        let from_ms = Corpus::second_ms(dice.below(QUESTIONED_GRAINS));
        let time = |ms: i64| Time::from_ms(ms).to_string();
        format!(
            "RECALL events IN SCOPE \"org:team{}\" BETWEEN \"{}\" AND \"{}\" | LIMIT 10",
            dice.below(20),
            time(from_ms),
            time(from_ms + 3_600_000)
        )
    })
}

/// A context of three sources: a namespace and an hour, a word, a person.
pub(super) fn assembly(fixture: &Fixture, rounds: Rounds) -> Result<()> {
    answered(fixture, rounds, ASSEMBLIES, 6, |dice| {
        format!(
            "ASSEMBLE FROM team: (RECALL events IN SCOPE \"org:team{}\" | LIMIT 10), \
             told: (RECALL beliefs LIKE \"{}\" | LIMIT 10), \
             known: (RECALL beliefs WHERE subject = \"person {}\") BUDGET 1000 TOKENS PRIORITY known > told",
            dice.below(20),
            word(250 + dice.below(VOCABULARY / 8)),
            dice.below(500),
        )
    })
}

/// Answers statements that are made from dice.
fn answered(
    fixture: &Fixture,
    rounds: Rounds,
    len: usize,
    seed: u64,
    statement: impl Fn(&mut Dice) -> String,
) -> Result<()> {
    let store = fixture.questioned()?;
    let options = Options::at(Time::from_ms(1_767_225_600_000));
    let mut dice = Dice::new(seed);
    let statements: Vec<String> = (0..len).map(|_| statement(&mut dice)).collect();
    for _ in rounds {
        for statement in &statements {
            let answer = store.cal(statement, &options);
            black_box(answer.map_err(|error| error.to_string())?);
        }
    }
    Ok(())
}

pub(super) const PARSED: usize = 1_000;
pub(super) const ASSEMBLIES: usize = 50;
