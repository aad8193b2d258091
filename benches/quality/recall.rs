//! The evidence in the text of a recall, beside hits that are put one after another.
//!
//! LoCoMo is asked twice: as it is, and with the turns of each session joined to turns of 100 to 600
//! tokens, as people and assistants write them.

use std::collections::{BTreeMap, HashMap};

use grainstore::query::Recall;
use grainstore::render::{Format, tokens};
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Filter, Options, Search, Store, Time};
use serde_json::Value;

use super::{Result, time_of};

/// A question and the texts of which one answers it.
struct Question {
    text: String,
    namespace: String,
    /// The turn as it is stored, and the part of it that is named as evidence.
    evidence: Vec<(ContentAddress, String)>,
}

/// The texts of a store, by address.
type Texts = HashMap<ContentAddress, String>;

/// Prints the tables.
pub(super) fn run(samples: &[Value]) -> Result<()> {
    for (title, lengths) in [
        ("LoCoMo", &[0][..]),
        ("LoCoMo, turns joined to 100 to 600 tokens", &LENGTHS),
    ] {
        let (store, questions, texts) = asked(samples, lengths)?;
        println!("\nEvidence in the text of a recall: {title}\n");
        println!(
            "| text | budget | whole turn | evidence | used | empty | 95 % of evidence beside hits |"
        );
        println!("| --- | --: | --: | --: | --: | --: | --- |");
        for budget in [500, 1_000, 2_000, 4_000] {
            let mut hits = None;
            for (name, method) in METHODS {
                let results: Result<Vec<_>> = questions
                    .iter()
                    .map(|question| result(&store, question, &texts, budget, *method))
                    .collect();
                let results = results?;
                row(name, budget, &results, hits.as_deref());
                hits.get_or_insert(results);
            }
        }
    }
    Ok(())
}

/// Joins turns until they have the next of these tokens; 0 joins none.
const LENGTHS: [usize; 6] = [100, 450, 150, 600, 120, 300];

fn asked(samples: &[Value], lengths: &[usize]) -> Result<(Store, Vec<Question>, Texts)> {
    let store = Store::in_memory(Options::default())?;
    let (mut questions, mut texts) = (Vec::new(), Texts::new());
    for (number, sample) in samples.iter().enumerate() {
        let namespace = format!("conversation-{number}");
        let parts = put_joined(
            &store,
            &sample["conversation"],
            &namespace,
            lengths,
            &mut texts,
        )?;
        for question in sample["qa"].as_array().into_iter().flatten() {
            let evidence = question["evidence"].as_array().into_iter().flatten();
            let ids = evidence.filter_map(Value::as_str);
            let ids = ids.flat_map(|ids| ids.split([';', ' ']));
            let evidence: Vec<_> = ids.filter_map(|id| parts.get(id).cloned()).collect();
            if !evidence.is_empty() {
                questions.push(Question {
                    text: question["question"].as_str().unwrap_or_default().to_owned(),
                    namespace: namespace.clone(),
                    evidence,
                });
            }
        }
    }
    store.maintenance()?.flush_text()?;
    Ok((store, questions, texts))
}

/// Stores the turns of a conversation; returns for each its grain and its text.
fn put_joined(
    store: &Store,
    conversation: &Value,
    namespace: &str,
    lengths: &[usize],
    texts: &mut Texts,
) -> Result<BTreeMap<String, (ContentAddress, String)>> {
    let mut parts = BTreeMap::new();
    let mut lengths = lengths.iter().cycle();
    for number in 1.. {
        let session = format!("session_{number}");
        let Some(turns) = conversation[&session].as_array() else {
            break;
        };
        let said_at = conversation[&format!("{session}_date_time")].as_str();
        let mut time_ms = said_at
            .and_then(time_of)
            .ok_or("a session without a date")?;
        let mut turns = turns.iter().peekable();
        let mut is_assistant = false;
        while turns.peek().is_some() {
            let least = *lengths.next().unwrap_or(&0);
            let (mut content, mut ids, mut speaker) = (String::new(), Vec::new(), "");
            while let Some(turn) = turns.next_if(|_| content.is_empty() || tokens(&content) < least)
            {
                let say = |name: &str| turn[name].as_str().unwrap_or_default();
                speaker = say("speaker");
                content += &format!("{speaker}: {}\n", say("text"));
                ids.push((say("dia_id").to_owned(), plain(say("text"))));
            }
            time_ms += 1_000;
            let role = if least > 0 && is_assistant {
                "assistant"
            } else {
                "user"
            };
            is_assistant = !is_assistant;
            let mut draft = Draft::event(content.trim_end())
                .namespace(namespace)
                .created_at(Time::from_ms(time_ms))
                .set("role", role)
                .set("session_id", session.as_str());
            if least == 0 {
                draft = draft.set("observer_id", speaker);
            }
            let address = store.put(draft)?;
            texts.insert(address, plain(&content));
            parts.extend(ids.into_iter().map(|(id, text)| (id, (address, text))));
        }
    }
    Ok(parts)
}

/// How a text is made of the hits.
#[derive(Clone, Copy)]
enum Method {
    /// Whole hits of a ranking, one after another, without what does not fit.
    Hits(fn() -> Ranking),
    Recall,
}

const METHODS: &[(&str, Method)] = &[
    ("hits, skipping", Method::Hits(Ranking::default)),
    ("BM25, skipping", Method::Hits(|| Ranking::WORDS)),
    ("recall", Method::Recall),
];

/// The findings in the text for one question.
struct Found {
    whole: bool,
    evidence: bool,
    used: f64,
    empty: bool,
}

fn result(
    store: &Store,
    question: &Question,
    texts: &Texts,
    budget: usize,
    method: Method,
) -> Result<Found> {
    let filter = Filter::new().namespace(&question.namespace);
    let text = match method {
        Method::Recall => {
            let limits = Recall {
                budget,
                ..Recall::default()
            };
            let known = store.recall(&question.text, &filter, &limits)?;
            known.render(Format::Markdown)
        }
        Method::Hits(ranking) => {
            let query = Search::words(&question.text);
            let found = store.find(&query.filter(&filter).ranking(ranking()).limit(100))?;
            let mut text = String::new();
            for found in found.results {
                let one = format!("{}\n", found.grain.text("content").unwrap_or_default());
                if tokens(&text) + tokens(&one) <= budget {
                    text += &one;
                }
            }
            text
        }
    };
    let spent = tokens(&text);
    let text = plain(&text);
    let has = |(address, _): &(ContentAddress, String)| {
        let whole = texts.get(address);
        whole.is_some_and(|whole| text.contains(whole.as_str()))
    };
    Ok(Found {
        whole: question.evidence.iter().any(has),
        evidence: question
            .evidence
            .iter()
            .any(|(_, part)| text.contains(part.as_str())),
        used: share(spent, budget),
        empty: text.is_empty(),
    })
}

/// Returns a text in one line.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn share(part: usize, of: usize) -> f64 {
    let number = |it: usize| f64::from(u32::try_from(it).unwrap_or(u32::MAX));
    number(part) / number(of.max(1))
}

fn row(name: &str, budget: usize, results: &[Found], beside: Option<&[Found]>) {
    let count = |is: &dyn Fn(&Found) -> bool| results.iter().filter(|it| is(it)).count();
    let percent = |count: usize| 100.0 * share(count, results.len());
    let whole = percent(count(&|it| it.whole));
    let evidence = percent(count(&|it| it.evidence));
    let used = results.iter().map(|it| it.used).sum::<f64>() * percent(1);
    let empty = count(&|it| it.empty);
    let interval = beside.map_or(String::new(), |beside| {
        let pairs = results.iter().zip(beside);
        let gains: Vec<f64> = pairs
            .map(|(one, other)| 100.0 * (gain(one.evidence) - gain(other.evidence)))
            .collect();
        let [mean, low, high] = interval(&gains);
        format!("{mean:+.1} ({low:+.1} to {high:+.1})")
    });
    println!(
        "| {name} | {budget} | {whole:.1} | {evidence:.1} | {used:.1} | {empty} | {interval} |"
    );
}

fn gain(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// Returns the mean of numbers and its 95 % interval, by a bootstrap of 1,000 samples.
pub(super) fn interval(values: &[f64]) -> [f64; 3] {
    let count = values.len().max(1);
    let mean = |sum: f64| sum * share(1, count);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut means: Vec<f64> = (0..1_000)
        .map(|_| {
            let drawn = (0..values.len()).map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 33).unwrap_or(0) % count;
                values.get(at).copied().unwrap_or(0.0)
            });
            mean(drawn.sum())
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |place: usize| means.get(place).copied().unwrap_or(0.0);
    [mean(values.iter().sum()), at(25), at(974)]
}
