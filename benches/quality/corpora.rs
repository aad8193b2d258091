//! Each parameter of the ranking on corpora of different kinds, chosen by cross-validation: for each
//! corpus the value that is best on all others.

use std::collections::HashMap;
use std::path::Path;

use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Filter, Options, Search, Store, Time};
use serde_json::Value;

use super::recall::{interval, share};
use super::{Result, Shape, ndcg, put_turns, read_cranfield};

/// Grains with questions whose answers are known.
struct Corpus {
    name: &'static str,
    questions: Vec<Asked>,
    stores: Vec<Store>,
}

/// A question, and how much each grain answers it.
struct Asked {
    store: usize,
    text: String,
    namespace: Option<String>,
    answers: HashMap<ContentAddress, f64>,
}

/// A parameter, with values beside its default of which the first leaves it out.
type Parameter = (&'static str, fn(&mut Ranking, f64), &'static [f64]);

const PARAMETERS: &[Parameter] = &[
    (
        "neighbours",
        |it, to| it.neighbours = to,
        &[0.0, 0.15, 0.25, 0.4],
    ),
    ("session", |it, to| it.session = to, &[0.0, 0.25, 0.5, 0.75]),
    ("answer", |it, to| it.answer = to, &[0.0, 0.3, 0.5, 0.7]),
    (
        "question",
        |it, to| it.question = to,
        &[1.0, 0.9, 0.85, 0.7],
    ),
    ("speaker", |it, to| it.speaker = to, &[1.0, 1.05, 1.1, 1.2]),
    ("date", |it, to| it.date = to, &[1.0, 1.15, 1.3, 1.5]),
    ("within", |it, to| it.within = to, &[0.0, 0.5, 1.0, 2.0]),
    (
        "answer_type",
        |it, to| it.answer_type = to,
        &[1.0, 1.08, 1.15, 1.3],
    ),
    (
        "relatives",
        |it, to| it.relatives = to,
        &[0.0, 0.3, 0.5, 0.8],
    ),
    ("spelling", |it, to| it.spelling = to, &[0.0, 0.3, 0.5, 0.8]),
];

/// Prints how good the ranking is on each corpus, and a table of the parameters.
pub(super) fn run(data: &Path, samples: &[Value]) -> Result<()> {
    let corpora = [
        talks("LoCoMo", samples, Shape::AsIs)?,
        talks("short sessions", samples, Shape::Short)?,
        talks("long sessions", samples, Shape::Long)?,
        abstracts(data)?,
        everyday()?,
        small_stores()?,
        in_order()?,
        assistants()?,
        languages("languages", true)?,
        languages("languages, not named", false)?,
    ];
    println!("\nThe first answer (MRR@10; of abstracts nDCG@10), by words and by the default\n");
    println!("| corpus | questions | words | default | 95 % of the gain |");
    println!("| --- | --: | --: | --: | --- |");
    let mut defaults = Vec::new();
    for corpus in &corpora {
        let words = corpus.scores(&Ranking::WORDS)?;
        let default = corpus.scores(&Ranking::default())?;
        let [words_mean, default_mean] = [&words, &default].map(|of| interval(of)[0]);
        let (name, asked) = (corpus.name, corpus.questions.len());
        let gain = shown(&default, &words);
        println!("| {name} | {asked} | {words_mean:.3} | {default_mean:.3} | {gain} |");
        defaults.push(default);
    }
    println!("\nThe gain of each parameter over leaving it out, in hundredths, with 95 %\n");
    let names: Vec<&str> = corpora.iter().map(|corpus| corpus.name).collect();
    println!(
        "| parameter | default | chosen | held out | {} |",
        names.join(" | ")
    );
    println!("| --- | --: | --- | --- |{}", " --- |".repeat(names.len()));
    for parameter in PARAMETERS {
        row(&corpora, &defaults, parameter)?;
    }
    Ok(())
}

/// Prints a parameter: its default, the values that were chosen without each corpus, what the chosen
/// value gains on that corpus, and what the default gains on each.
fn row(corpora: &[Corpus], defaults: &[Vec<f64>], (name, set, values): &Parameter) -> Result<()> {
    // For each value the scores of each corpus.
    let mut scores = Vec::new();
    for value in *values {
        let mut ranking = Ranking::default();
        set(&mut ranking, *value);
        let of_value: Result<Vec<Vec<f64>>> = match ranking == Ranking::default() {
            true => Ok(defaults.to_vec()),
            false => corpora.iter().map(|it| it.scores(&ranking)).collect(),
        };
        scores.push(of_value?);
    }
    let mean = |value: usize, corpus: usize| interval(&scores[value][corpus])[0];
    let (mut chosen, mut held_out) = (Vec::new(), Vec::new());
    for left in 0..corpora.len() {
        let of_others = |value: usize| -> f64 {
            let others = (0..corpora.len()).filter(|corpus| *corpus != left);
            others.map(|corpus| mean(value, corpus)).sum()
        };
        let best = (0..values.len()).max_by(|a, b| of_others(*a).total_cmp(&of_others(*b)));
        let best = best.unwrap_or(0);
        chosen.push(values[best]);
        held_out.push(100.0 * (mean(best, left) - mean(0, left)));
    }
    let mut default = values[0];
    for (value, of_value) in values.iter().zip(&scores) {
        let mut ranking = Ranking::default();
        set(&mut ranking, *value);
        if ranking == Ranking::default() && *of_value == defaults {
            default = *value;
        }
    }
    chosen.sort_by(f64::total_cmp);
    chosen.dedup();
    let chosen: Vec<String> = chosen.iter().map(f64::to_string).collect();
    let gained = held_out.iter().sum::<f64>() * share(1, held_out.len());
    let gains = defaults
        .iter()
        .zip(&scores[0])
        .map(|(with, without)| shown(with, without));
    let gains: Vec<String> = gains.collect();
    println!(
        "| {name} | {default} | {} | {gained:+.2} | {} |",
        chosen.join(", "),
        gains.join(" | ")
    );
    Ok(())
}

/// Returns the mean of differences in hundredths, and its interval unless they are all 0.
fn shown(with: &[f64], without: &[f64]) -> String {
    let gains = with
        .iter()
        .zip(without)
        .map(|(one, other)| 100.0 * (one - other));
    let gains: Vec<f64> = gains.collect();
    if gains.iter().all(|gain| *gain == 0.0) {
        return "0".to_owned();
    }
    let [mean, low, high] = interval(&gains);
    format!("{mean:+.2} ({low:+.2} to {high:+.2})")
}

impl Corpus {
    /// Returns how well each question is answered under a ranking.
    fn scores(&self, ranking: &Ranking) -> Result<Vec<f64>> {
        let ranking = Ranking {
            now: Some(Time::from_ms(NOW_MS)),
            ..*ranking
        };
        let score = |asked: &Asked| -> Result<f64> {
            let filter = match &asked.namespace {
                Some(namespace) => Filter::new().namespace(namespace),
                None => Filter::new(),
            };
            let query = Search::words(&asked.text);
            let store = &self.stores[asked.store];
            let found = store.find(&query.filter(&filter).ranking(ranking).limit(10))?;
            let gains = found.results.iter();
            let gains = gains.map(|found| asked.answers.get(&found.address).copied());
            let gains: Vec<f64> = gains.map(Option::unwrap_or_default).collect();
            if asked.answers.values().any(|gain| *gain != 1.0) {
                return Ok(ndcg(&gains, &asked.answers));
            }
            let rank = gains.iter().position(|gain| *gain > 0.0);
            Ok(rank.map_or(0.0, |rank| share(1, rank + 1)))
        };
        self.questions.iter().map(score).collect()
    }
}

fn talks(name: &'static str, samples: &[Value], shape: Shape) -> Result<Corpus> {
    let store = Store::in_memory(Options::default())?;
    let mut questions = Vec::new();
    for (number, sample) in samples.iter().enumerate() {
        let namespace = format!("conversation-{number}");
        let turns = put_turns(&store, &sample["conversation"], shape, &namespace)?;
        for question in sample["qa"].as_array().into_iter().flatten() {
            let evidence = question["evidence"].as_array().into_iter().flatten();
            let ids = evidence.filter_map(Value::as_str);
            let ids = ids.flat_map(|ids| ids.split([';', ' ']));
            let answers = ids.filter_map(|id| Some((*turns.get(id)?, 1.0)));
            let answers: HashMap<_, _> = answers.collect();
            if !answers.is_empty() {
                questions.push(Asked {
                    store: 0,
                    text: question["question"].as_str().unwrap_or_default().to_owned(),
                    namespace: Some(namespace.clone()),
                    answers,
                });
            }
        }
    }
    of(name, vec![store], questions)
}

fn abstracts(data: &Path) -> Result<Corpus> {
    let (store, queries) = read_cranfield(&data.join("cranfield"))?;
    let asked = |(text, answers)| Asked {
        store: 0,
        text,
        namespace: None,
        answers,
    };
    of(
        "abstracts",
        vec![store],
        queries.into_iter().map(asked).collect(),
    )
}

fn everyday() -> Result<Corpus> {
    let store = Store::in_memory(Options::default())?;
    let pairs = vectors("everyday.json")?;
    let questions: Result<Vec<_>> = pairs.iter().map(|pair| put(&store, 0, pair)).collect();
    of("everyday", vec![store], questions?)
}

/// The everyday memories in stores of ten.
fn small_stores() -> Result<Corpus> {
    let (mut stores, mut questions) = (Vec::new(), Vec::new());
    for pairs in vectors("everyday.json")?.chunks(10) {
        let store = Store::in_memory(Options::default())?;
        for pair in pairs {
            questions.push(put(&store, stores.len(), pair)?);
        }
        stores.push(store);
    }
    of("small stores", stores, questions)
}

/// Memories of several languages, which they name or not.
fn languages(name: &'static str, are_named: bool) -> Result<Corpus> {
    let store = Store::in_memory(Options::default())?;
    let mut pairs = vectors("languages.json")?;
    for pair in pairs.iter_mut().filter(|_| !are_named) {
        pair["lang"] = Value::Null;
    }
    let questions: Result<Vec<_>> = pairs.iter().map(|pair| put(&store, 0, pair)).collect();
    of(name, vec![store], questions?)
}

/// Stores a memory, and returns its question.
fn put(store: &Store, number: usize, pair: &Value) -> Result<Asked> {
    let text = |name: &str| pair[name].as_str().unwrap_or_default().to_owned();
    let mut draft = Draft::event(text("memory")).created_at(Time::from_ms(NOW_MS));
    if let Some(language) = pair["lang"].as_str() {
        draft = draft.set("lang", language);
    }
    Ok(Asked {
        store: number,
        text: text("question"),
        namespace: None,
        answers: HashMap::from([(store.put(draft)?, 1.0)]),
    })
}

/// Questions for the last, the first or all of several memories.
fn in_order() -> Result<Corpus> {
    let store = Store::in_memory(Options::default())?;
    let mut questions = Vec::new();
    for group in vectors("order.json")? {
        let mut memories = Vec::new();
        for memory in group["memories"].as_array().into_iter().flatten() {
            let text = memory["text"].as_str().unwrap_or_default();
            let time = format!("{}T12:00:00Z", memory["time"].as_str().unwrap_or_default());
            let time = Time::parse(&time).map_err(|_| "a time of order.json")?;
            let draft = Draft::event(text).created_at(time);
            let language = group["lang"].as_str().unwrap_or_default();
            memories.push(store.put(draft.set("lang", language))?);
        }
        questions.extend(asked_of(&group, &memories));
    }
    of("order", vec![store], questions)
}

/// Conversations with an assistant, which answers at length in the words of the person.
fn assistants() -> Result<Corpus> {
    let store = Store::in_memory(Options::default())?;
    let mut questions = Vec::new();
    for (number, conversation) in vectors("assistants.json")?.iter().enumerate() {
        let day = conversation["time"].as_str().unwrap_or_default();
        let begin = Time::parse(&format!("{day}T12:00:00Z"));
        let mut time_ms = begin.map_err(|_| "a time of assistants.json")?.ms();
        let mut turns = Vec::new();
        for turn in conversation["turns"].as_array().into_iter().flatten() {
            time_ms += 20_000;
            let draft = Draft::event(turn["text"].as_str().unwrap_or_default());
            let draft = draft
                .created_at(Time::from_ms(time_ms))
                .set("role", turn["role"].as_str().unwrap_or_default())
                .set("session_id", format!("session-{number}"));
            turns.push(store.put(draft)?);
        }
        questions.extend(asked_of(conversation, &turns));
    }
    of("assistants", vec![store], questions)
}

/// Returns the questions of a group, whose answers are places in its grains.
fn asked_of<'a>(
    group: &'a Value,
    grains: &'a [ContentAddress],
) -> impl Iterator<Item = Asked> + use<'a> {
    let questions = group["questions"].as_array().into_iter().flatten();
    questions.map(|question| {
        let answers = question["answers"].as_array().into_iter().flatten();
        let places = answers.filter_map(Value::as_u64).map(usize::try_from);
        let answers = places.filter_map(|at| grains.get(at.ok()?));
        Asked {
            store: 0,
            text: question["question"].as_str().unwrap_or_default().to_owned(),
            namespace: None,
            answers: answers.map(|address| (*address, 1.0)).collect(),
        }
    })
}

fn of(name: &'static str, stores: Vec<Store>, questions: Vec<Asked>) -> Result<Corpus> {
    for store in &stores {
        store.maintenance()?.flush_text()?;
    }
    Ok(Corpus {
        name,
        questions,
        stores,
    })
}

fn vectors(name: &str) -> Result<Vec<Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("test-vectors/search").join(name))?;
    Ok(serde_json::from_str(&text)?)
}

/// 2026-01-01, when the questions are asked.
const NOW_MS: i64 = 1_767_225_600_000;
