//! Samples of questions, the check that all engines answer alike, and the time answers take.

use std::collections::HashSet;
use std::time::Instant;

use grainstore::ContentAddress;

use crate::Result;
use crate::data::{Corpus, Dice, Statement, word};
use crate::peer::{Count, Found, Pattern, Peer, Words};
use crate::report::{Bound, Report, Table};
use crate::setup::rotated;

/// A question that every engine can be asked.
#[derive(Debug, Clone)]
pub enum Question {
    /// Which grains state this? Only the bound parts count.
    Statement(Statement, [bool; 3]),
    /// Which grains were created from here to there, in milliseconds?
    Time(i64, i64),
    /// Which grains say this best?
    Words(Words),
}

/// The subjects of the queries.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A statement whose bound parts are told.
    Statement([bool; 3]),
    /// A time in which 1000 grains were created.
    Time,
    /// One word.
    Term,
    /// Two words.
    And,
    /// Two words in order.
    Phrase,
}

impl Question {
    /// Asks an engine.
    pub fn ask(&self, peer: &dyn Peer, limit: usize) -> Result<Found> {
        match self {
            Self::Statement(statement, [subject, relation, object]) => {
                let pattern = Pattern {
                    subject: subject.then_some(&*statement.subject),
                    relation: relation.then_some(&*statement.relation),
                    object: object.then_some(&*statement.object),
                };
                peer.triples(&pattern, limit)
            }
            Self::Time(from, to) => peer.in_time(*from, *to),
            Self::Words(words) => peer.search(words, limit),
        }
    }
}

/// Returns `count` questions about the first `grains` grains of a corpus.
pub fn sample(corpus: &Corpus, grains: u64, kind: Kind, count: u64, seed: u64) -> Vec<Question> {
    let mut dice = Dice::new(seed);
    let question = |_| {
        let number = dice.below(grains);
        match kind {
            Kind::Statement(bound) => Question::Statement(corpus.statement(number), bound),
            Kind::Time => {
                let first = dice.below(grains - 1_000);
                let last = Corpus::second_ms(first + 1_000) - 1;
                Question::Time(Corpus::second_ms(first), last)
            }
            // Words that are neither in every third grain nor in a handful.
            Kind::Term => Question::Words(Words::Term(word(50 + dice.below(1_950)))),
            Kind::And => {
                let (one, other) = (10 + dice.below(240), 250 + dice.below(250));
                Question::Words(Words::And(word(one), word(other)))
            }
            Kind::Phrase => {
                let words = corpus.words(number);
                let place = usize::try_from(dice.below(words.len() as u64 - 1)).unwrap_or(0);
                let at = |place: usize| words.get(place).cloned().unwrap_or_default();
                Question::Words(Words::Phrase(at(place), at(place + 1)))
            }
        }
    };
    (0..count).map(question).collect()
}

/// An engine with its grains in it, and its name.
pub type Loaded<'a> = (&'static str, &'a dyn Peer);

/// Makes sure that engines find the same grains.
pub fn check(loaded: &[Loaded<'_>], corpus: &Corpus, grains: u64) -> Result<u64> {
    let bound = (1..8).map(|bits| [bits & 4 > 0, bits & 2 > 0, bits & 1 > 0]);
    let kinds = bound.map(Kind::Statement).chain([Kind::Time]);
    let mut compared = 0;
    for (seed, kind) in (100..).zip(kinds) {
        for question in sample(corpus, grains, kind, CHECKED, seed) {
            let mut expected: Option<Vec<ContentAddress>> = None;
            for (name, peer) in loaded {
                let found = peer.addresses(&question.ask(*peer, usize::MAX)?)?;
                if found.is_empty() {
                    return Err(format!("{name} finds nothing for {question:?}").into());
                }
                match &expected {
                    Some(expected) if *expected != found => {
                        return Err(format!("{name} finds others for {question:?}").into());
                    }
                    Some(_) => {}
                    None => expected = Some(found),
                }
            }
            compared += expected.map_or(0, |found| found.len() as u64);
        }
    }
    Ok(compared)
}

/// Makes sure that engines that search find as many grains, and returns how much of the best ten
/// two of them share: their formulas for rare words differ a little.
pub fn check_words(loaded: &[Loaded<'_>], corpus: &Corpus, grains: u64) -> Result<f64> {
    let (mut shared, mut all) = (0, 0);
    for (seed, kind) in (200..).zip([Kind::Term, Kind::And, Kind::Phrase]) {
        for question in sample(corpus, grains, kind, CHECKED, seed) {
            let Question::Words(words) = &question else {
                continue;
            };
            let mut expected: Option<(Count, HashSet<ContentAddress>)> = None;
            for (name, peer) in loaded {
                let best = peer.addresses(&peer.search(words, BEST)?)?;
                let found = (peer.count(words)?, best.into_iter().collect());
                let Some((count, best)) = &expected else {
                    expected = Some(found);
                    continue;
                };
                if !count.agrees_with(found.0) {
                    let other = found.0;
                    let message = format!("{name} counts {other:?}, not {count:?}: {words:?}");
                    return Err(message.into());
                }
                shared += best.intersection(&found.1).count();
                all += best.len();
            }
        }
    }
    Ok(shared as f64 / all.max(1) as f64)
}

/// Measures the mean time of an answer, round by round, and prints the table.
pub fn measure(
    report: &mut Report,
    title: String,
    loaded: &[Loaded<'_>],
    questions: &[Question],
    (rounds, limit): (usize, usize),
    bound: Bound,
) -> Result<()> {
    eprintln!("{title}");
    let mut us = vec![Vec::new(); loaded.len()];
    // The first round warms the caches and is not counted.
    for round in 0..=rounds {
        let mut expected = None;
        for place in rotated(loaded.len(), round) {
            let (name, peer) = loaded[place];
            let mut total = 0;
            let start = Instant::now();
            for question in questions {
                total += question.ask(peer, limit)?.len();
            }
            let spent = start.elapsed().as_secs_f64() * 1e6 / questions.len() as f64;
            if *expected.get_or_insert(total) != total {
                return Err(format!("{name} finds another number of grains: {title}").into());
            }
            if round > 0 {
                us[place].push(spent);
            }
        }
    }
    let mut table = Table::new(title, "µs per question");
    for ((name, _), us) in loaded.iter().zip(us) {
        let bound = (*name == "SQLite").then_some(bound);
        table.row(*name, us, bound);
    }
    report.table(&table);
    Ok(())
}

/// Questions of each kind that all engines must answer alike.
const CHECKED: u64 = 25;
/// How many of the best a search asks for.
pub const BEST: usize = 10;
