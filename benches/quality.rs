//! The quality of search on Cranfield and LoCoMo, with the default settings.
//!
//! With a model (`crates/embed/benches/quality.rs`) LoCoMo is ranked by words and its vectors too.
//!
//! `just quality DATA` prints all, `just quality DATA corpora` the parameters on ten corpora alone. DATA
//! has `cranfield/` (`cran.all.1400`, `cran.qry`, `cranqrel`) and `locomo/` (a JSON file of
//! conversations). Neither is part of this project.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grainstore::store::{Embedder, Embedding};
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Filter, Grain, Options, Search, Store, Time, codec};
use serde_json::Value;

#[path = "quality/corpora.rs"]
mod corpora;
#[path = "quality/recall.rs"]
mod recall;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().filter(|it| it != "--bench").skip(1);
    let data = PathBuf::from(
        arguments
            .next()
            .ok_or("say where the data is: quality DATA")?,
    );
    if arguments.next().is_some_and(|part| part == "corpora") {
        return corpora::run(&data, &samples(&data)?);
    }
    run(&data, None)
}

pub(crate) fn run(data: &Path, embedder: Option<&Arc<dyn Embedder>>) -> Result<()> {
    let samples = samples(data)?;
    for shape in [Shape::AsIs, Shape::Short, Shape::Long] {
        locomo(&samples, shape, embedder.cloned())?;
    }
    recall::run(&samples)?;
    cranfield(&data.join("cranfield"))?;
    corpora::run(data, &samples)
}

/// Returns the conversations of the data.
fn samples(data: &Path) -> Result<Vec<Value>> {
    let mut folder = fs::read_dir(data.join("locomo"))?.filter_map(std::result::Result::ok);
    let file = folder.find(|entry| entry.path().extension().is_some_and(|of| of == "json"));
    let file = file.ok_or("no file of conversations")?.path();
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}

/// A question and the grains that answer it.
struct Question {
    text: String,
    namespace: String,
    answers: BTreeSet<ContentAddress>,
}

/// The results of the questions of one conversation.
#[derive(Default, Clone)]
struct Figures {
    asked: f64,
    hits: [f64; 3],
    reciprocal: f64,
}

impl Figures {
    fn add(&mut self, rank: Option<usize>) {
        self.asked += 1.0;
        for (hits, depth) in self.hits.iter_mut().zip([1, 10, 20]) {
            *hits += f64::from(u8::from(rank.is_some_and(|rank| rank <= depth)));
        }
        let near = rank.and_then(|rank| u32::try_from(rank).ok());
        self.reciprocal += near
            .filter(|rank| *rank <= 10)
            .map_or(0.0, |rank| 1.0 / f64::from(rank));
    }

    fn join(&mut self, other: &Self) {
        self.asked += other.asked;
        for (hits, more) in self.hits.iter_mut().zip(other.hits) {
            *hits += more;
        }
        self.reciprocal += other.reciprocal;
    }

    fn row(&self, name: &str) {
        let [one, ten, twenty] = self.hits.map(|hits| 100.0 * hits / self.asked);
        let mrr = self.reciprocal / self.asked;
        let asked = self.asked;
        println!(
            "| {name:<38} | {asked:>7} | {one:>5.1} | {ten:>6.1} | {twenty:>6.1} | {mrr:>6.3} |"
        );
    }
}

/// How the turns of a conversation are cut into sessions.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    AsIs,
    /// Every other session is cut into sessions of four turns.
    Short,
    /// All are one session.
    Long,
}

impl Shape {
    /// Returns the name of the session of a turn.
    fn session(self, number: i32, turn: usize) -> String {
        match self {
            Self::Short if number % 2 == 1 => format!("session_{number}_{}", turn / 4),
            Self::AsIs | Self::Short => format!("session_{number}"),
            Self::Long => "session".to_owned(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "",
            Self::Short => ", every other session cut into sessions of four turns",
            Self::Long => ", each in one session",
        }
    }
}

/// All conversations in one store, each in its namespace; a turn is a grain.
fn locomo(samples: &[Value], shape: Shape, embedder: Option<Arc<dyn Embedder>>) -> Result<()> {
    let model = embedder.as_ref().map(|it| it.model().to_owned());
    let store = Store::in_memory(Options {
        embedders: embedder.into_iter().collect(),
        ..Options::default()
    })?;
    let mut questions = Vec::new();
    for (number, sample) in samples.iter().enumerate() {
        let namespace = format!("conversation-{number}");
        let turns = put_turns(&store, &sample["conversation"], shape, &namespace)?;
        for question in sample["qa"].as_array().into_iter().flatten() {
            let evidence = question["evidence"].as_array();
            if evidence.is_none_or(Vec::is_empty) {
                continue;
            }
            let evidence = evidence.into_iter().flatten().filter_map(Value::as_str);
            let ids = evidence.flat_map(|ids| ids.split([';', ' ']));
            questions.push(Question {
                text: question["question"].as_str().unwrap_or_default().to_owned(),
                namespace: namespace.clone(),
                answers: ids.filter_map(|id| turns.get(id).copied()).collect(),
            });
        }
    }
    store.maintenance()?.flush_text()?;
    let (count, shape_name) = (samples.len(), shape.name());
    println!("\nLoCoMo: {count} conversations in one store{shape_name}\n");
    println!(
        "| ranking                                | queries | hit@1 | hit@10 | hit@20 | MRR@10 |"
    );
    println!(
        "| -------------------------------------- | ------: | ----: | -----: | -----: | -----: |"
    );
    for (name, ranking) in rankings(shape, model) {
        let mut each = vec![Figures::default(); samples.len()];
        for question in &questions {
            let rank = rank_of(&store, question, &ranking)?;
            let number = question
                .namespace
                .rsplit('-')
                .next()
                .and_then(|number| number.parse().ok());
            if let Some(figures) = number.and_then(|number: usize| each.get_mut(number)) {
                figures.add(rank);
            }
        }
        let mut all = Figures::default();
        each.iter().for_each(|figures| all.join(figures));
        all.row(&name);
        for left_out in 0..each.len() {
            let mut rest = Figures::default();
            let others = each
                .iter()
                .enumerate()
                .filter(|(number, _)| *number != left_out);
            others.for_each(|(_, figures)| rest.join(figures));
            rest.row(&format!("  without conversation {}", left_out + 1));
        }
    }
    match shape {
        Shape::AsIs => hybrid(&store, &questions),
        Shape::Short | Shape::Long => Ok(()),
    }
}

/// Leaves a rule out.
type LeaveOut = fn(&mut Ranking);

/// Returns the rankings that are compared, by name: each rule is left out where the sessions are as
/// they were.
fn rankings(shape: Shape, model: Option<String>) -> Vec<(String, Ranking)> {
    let by_words = Ranking {
        meaning: 0.0,
        ..Ranking::default()
    };
    let without: [(&str, LeaveOut); 9] = [
        ("`date` and `within`", |it| {
            (it.date, it.within) = (1.0, 0.0);
        }),
        ("`within`", |it| it.within = 0.0),
        ("`answer_type`", |it| it.answer_type = 1.0),
        ("`neighbours`", |it| it.neighbours = 0.0),
        ("`session`", |it| it.session = 0.0),
        ("`question`", |it| it.question = 1.0),
        ("`answer`", |it| it.answer = 0.0),
        ("`relatives`", |it| it.relatives = 0.0),
        ("`spelling`", |it| it.spelling = 0.0),
    ];
    let mut rankings = vec![
        ("words (BM25)".to_owned(), Ranking::WORDS),
        ("conversation-aware (the default)".to_owned(), by_words),
    ];
    for (name, leave_out) in without.iter().filter(|_| shape == Shape::AsIs) {
        let mut ranking = by_words;
        leave_out(&mut ranking);
        rankings.push((format!("— without {name}"), ranking));
    }
    let by_vectors = model.map(|model| format!("words and vectors ({model})"));
    rankings.extend(by_vectors.map(|name| (name, Ranking::default())));
    rankings
}

/// The questions by words and vectors, of a model that is made of the conversations themselves.
fn hybrid(store: &Store, questions: &[Question]) -> Result<()> {
    let mut all = Figures::default();
    let namespaces: BTreeSet<&str> = questions.iter().map(|it| it.namespace.as_str()).collect();
    let mut turns = Vec::new();
    for namespace in namespaces {
        let filter = Filter::new().namespace(namespace);
        let found = store.query(&filter, usize::MAX, None)?.results;
        let content = |grain: &Grain| grain.text("content").unwrap_or_default().to_owned();
        turns.extend(
            found
                .iter()
                .map(|found| (found.address, content(&found.grain))),
        );
    }
    let model = RandomIndexing::of(turns.iter().map(|(_, text)| text.as_str()));
    let vectors: Vec<_> = turns
        .iter()
        .map(|(address, text)| (*address, model.vector(text)))
        .collect();
    let embeddings: Vec<_> = vectors
        .iter()
        .map(|(address, vector)| Embedding::new(*address, "random-indexing", vector))
        .collect();
    for some in embeddings.chunks(256) {
        store.put_embeddings(some)?;
    }
    for question in questions {
        let filter = Filter::new().namespace(&question.namespace);
        let vector = model.vector(&question.text);
        // A question may hold operators; the words of a query in quotes are a phrase.
        let text: String = question
            .text
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '\'' {
                    c
                } else {
                    ' '
                }
            })
            .collect();
        let found = store.find(
            &Search::parse(&text)?
                .vector("random-indexing", &vector)
                .filter(&filter)
                .limit(20),
        )?;
        let mut ranked = found.results.iter();
        let place = ranked.position(|found| question.answers.contains(&found.address));
        all.add(place.map(|place| place + 1));
    }
    all.row("words and vectors (random indexing)");
    Ok(())
}

/// Vectors without a trained model: a word is the sum of the random vectors of the words that it
/// occurs with, and a text the sum of its words, rare ones more.
struct RandomIndexing {
    weights: HashMap<String, f32>,
    contexts: HashMap<String, Vec<f32>>,
}

impl RandomIndexing {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let texts: Vec<Vec<String>> = texts.map(stems).collect();
        let mut counts: HashMap<&String, f32> = HashMap::new();
        for text in &texts {
            let distinct: BTreeSet<&String> = text.iter().collect();
            distinct
                .into_iter()
                .for_each(|word| *counts.entry(word).or_default() += 1.0);
        }
        let total = texts.iter().map(|_| 1.0_f32).sum::<f32>();
        let weights: HashMap<String, f32> = counts
            .into_iter()
            .map(|(word, count)| (word.clone(), (1.0 + total / count).ln()))
            .collect();
        let mut contexts: HashMap<String, Vec<f32>> = HashMap::new();
        for near in texts.windows(3) {
            let mut sum = vec![0.0; DIMENSIONS];
            for word in near.iter().flatten() {
                add_index(word, weights[word], &mut sum);
            }
            for word in near.iter().skip(1).take(1).flatten() {
                let context = contexts.entry(word.clone());
                let context = context.or_insert_with(|| vec![0.0; DIMENSIONS]);
                context
                    .iter_mut()
                    .zip(&sum)
                    .for_each(|(to, from)| *to += from);
            }
        }
        contexts.values_mut().for_each(|context| normalize(context));
        // The direction that all words share says nothing of any.
        let mut mean = vec![0.0; DIMENSIONS];
        let contexts_len = contexts.values().map(|_| 1.0_f32).sum::<f32>();
        for context in contexts.values() {
            mean.iter_mut()
                .zip(context)
                .for_each(|(to, from)| *to += from / contexts_len);
        }
        for (word, context) in &mut contexts {
            context
                .iter_mut()
                .zip(&mean)
                .for_each(|(to, from)| *to -= from);
            normalize(context);
            // A word is nearest to itself.
            add_index(word, OWN_WEIGHT, context);
            normalize(context);
        }
        Self { weights, contexts }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        // Not zero, which has no direction.
        let mut sum = vec![1e-6; DIMENSIONS];
        for word in stems(text) {
            if let (Some(context), Some(weight)) =
                (self.contexts.get(&word), self.weights.get(&word))
            {
                sum.iter_mut()
                    .zip(context)
                    .for_each(|(to, from)| *to += weight * from);
            }
        }
        sum
    }
}

/// Adds the random vector of a word: eight numbers of 1 or -1.
fn add_index(word: &str, weight: f32, sum: &mut [f32]) {
    let mut state = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for _ in 0..8 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(state >> 33).unwrap_or(0) % DIMENSIONS;
        sum[place] += if state >> 32 & 1 == 1 {
            weight
        } else {
            -weight
        };
    }
}

fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector
        .iter_mut()
        .for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
}

/// Cuts a text into words, about without their endings.
fn stems(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.len() > 2).map(str::to_lowercase);
    words
        .map(|word| {
            let ends = ["ing", "ed", "es", "s"];
            let stem = ends.iter().find_map(|end| word.strip_suffix(end));
            stem.filter(|stem| stem.len() > 2)
                .unwrap_or(&word)
                .to_owned()
        })
        .collect()
}

const DIMENSIONS: usize = 512;

/// The weight of a word beside those that it occurs with.
const OWN_WEIGHT: f32 = 0.2;

fn put_turns(
    store: &Store,
    conversation: &Value,
    shape: Shape,
    namespace: &str,
) -> Result<HashMap<String, ContentAddress>> {
    let mut turns = HashMap::new();
    for number in 1.. {
        let session = format!("session_{number}");
        let Some(session_turns) = conversation[&session].as_array() else {
            break;
        };
        let mut before: Option<ContentAddress> = None;
        let said_at = conversation[&format!("{session}_date_time")].as_str();
        let mut time_ms = said_at
            .and_then(time_of)
            .ok_or("a session without a date")?;
        for (place, turn) in session_turns.iter().enumerate() {
            let say = |name: &str| turn[name].as_str().unwrap_or_default();
            time_ms += 1_000;
            let mut draft = Draft::event(format!("{}: {}", say("speaker"), say("text")))
                .namespace(namespace)
                .created_at(Time::from_ms(time_ms))
                .set("role", "user")
                .set("observer_id", say("speaker"))
                .set("session_id", shape.session(number, place));
            if !say("blip_caption").is_empty() {
                let image = [("type", "image"), ("caption", say("blip_caption"))];
                let image = codec::Map::from_iter(image);
                draft = draft.set(
                    "content_blocks",
                    codec::Value::Array(vec![codec::Value::Map(image)]),
                );
            }
            if let Some(before) = before {
                draft = draft.set("parent_message_id", before.to_string());
            }
            let put = store.put(draft)?;
            before = Some(put);
            turns.insert(say("dia_id").to_owned(), put);
        }
    }
    Ok(turns)
}

/// Reads a time such as `1:56 pm on 8 May, 2023`, in milliseconds since 1970.
fn time_of(text: &str) -> Option<i64> {
    let (clock, date) = text.split_once(" on ")?;
    let (clock, half) = clock.split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let hour = hour.parse::<u8>().ok()? % 12 + if half == "pm" { 12 } else { 0 };
    let mut parts = date.split([' ', ',']).filter(|part| !part.is_empty());
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let month = months.iter().position(|name| *name == month)? + 1;
    let time = Time::parse(&format!(
        "{year}-{month:02}-{day:0>2}T{hour:02}:{minute}:00Z"
    ));
    time.ok().map(Time::ms)
}

/// Returns the place of the first answer among the best twenty.
fn rank_of(store: &Store, question: &Question, ranking: &Ranking) -> Result<Option<usize>> {
    let filter = Filter::new().namespace(&question.namespace);
    let search = Search::words(&question.text).ranking(*ranking);
    let found = store.find(&search.filter(&filter).limit(20))?;
    let mut ranked = found.results.iter();
    let place = ranked.position(|found| question.answers.contains(&found.address));
    Ok(place.map(|place| place + 1))
}

/// Questions, each with how much each grain answers it.
type Judged = Vec<(String, HashMap<ContentAddress, f64>)>;

/// Stores abstracts of aerodynamics; returns their questions, judged by hand.
fn read_cranfield(folder: &Path) -> Result<(Store, Judged)> {
    let store = Store::in_memory(Options::default())?;
    let mut documents = Vec::new();
    for record in records(&fs::read_to_string(folder.join("cran.all.1400"))?) {
        let text = [part(&record, ".T"), part(&record, ".W")].join(" ");
        let text = if text.trim().is_empty() {
            "-".to_owned()
        } else {
            text
        };
        let number = documents.len();
        // Two abstracts may be the same, and one address is one grain.
        let draft = Draft::event(text).set("app_number", i64::try_from(number)?);
        documents.push(store.put(draft.created_at(Time::from_ms(1_700_000_000_000)))?);
    }
    let mut judged: HashMap<usize, HashMap<ContentAddress, f64>> = HashMap::new();
    for line in fs::read_to_string(folder.join("cranqrel"))?.lines() {
        let numbers: Vec<i64> = line
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        if let [query, document, grade] = *numbers.as_slice()
            && let Some(document) = documents.get(usize::try_from(document - 1)?)
        {
            // 1 is the best grade and 4 the least; 5 and -1 are not relevant.
            let gain = if (1..=4).contains(&grade) {
                f64::from(5 - i32::try_from(grade)?)
            } else {
                0.0
            };
            judged
                .entry(usize::try_from(query)?)
                .or_default()
                .insert(*document, gain);
        }
    }
    let queries = records(&fs::read_to_string(folder.join("cran.qry"))?);
    let queries = (1..).zip(&queries).filter_map(|(number, record)| {
        let grades = judged.remove(&number)?;
        Some((part(record, ".W"), grades))
    });
    let queries = queries.collect();
    Ok((store, queries))
}

fn cranfield(folder: &Path) -> Result<()> {
    let (store, queries) = read_cranfield(folder)?;
    println!("\nCranfield\n");
    println!("| ranking                                | queries |   MAP | nDCG@10 |");
    println!("| -------------------------------------- | ------: | ----: | ------: |");
    for (name, ranking) in [
        ("words (BM25)", Ranking::WORDS),
        ("conversation-aware (the default)", Ranking::default()),
    ] {
        let (mut precision, mut gain, mut asked) = (0.0, 0.0, 0.0);
        for (text, grades) in &queries {
            let search = Search::words(text).ranking(ranking);
            let found = store.find(&search.limit(1_000))?;
            let found: Vec<f64> = found
                .results
                .iter()
                .map(|found| grades.get(&found.address).copied().unwrap_or(0.0))
                .collect();
            precision += average_precision(&found, grades);
            gain += ndcg(&found, grades);
            asked += 1.0;
        }
        let (map, ndcg) = (precision / asked, gain / asked);
        println!("| {name:<38} | {asked:>7} | {map:>5.3} | {ndcg:>7.3} |");
    }
    Ok(())
}

/// Cuts a file of `.I` records.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with(".I ") {
            records.push(Vec::new());
        } else if let Some(record) = records.last_mut() {
            record.push(line.to_owned());
        }
    }
    records
}

/// Returns the lines of a record behind a mark, up to the next.
fn part(record: &[String], mark: &str) -> String {
    let lines = record.iter().skip_while(|line| *line != mark).skip(1);
    let lines = lines.take_while(|line| !(line.len() == 2 && line.starts_with('.')));
    lines.cloned().collect::<Vec<_>>().join(" ")
}

fn average_precision(found: &[f64], grades: &HashMap<ContentAddress, f64>) -> f64 {
    let (mut relevant, mut sum, mut rank) = (0.0, 0.0, 0.0);
    for gain in found {
        rank += 1.0;
        if *gain > 0.0 {
            relevant += 1.0;
            sum += relevant / rank;
        }
    }
    let all: f64 = grades
        .values()
        .map(|gain| f64::from(u8::from(*gain > 0.0)))
        .sum();
    if all > 0.0 { sum / all } else { 0.0 }
}

fn ndcg(found: &[f64], grades: &HashMap<ContentAddress, f64>) -> f64 {
    let discounted = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        let ranks = std::iter::successors(Some(2.0_f64), |rank| Some(rank + 1.0));
        gains
            .take(10)
            .zip(ranks)
            .map(|(gain, rank)| gain / rank.log2())
            .sum()
    };
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let ideal = discounted(&mut ideal.into_iter());
    if ideal > 0.0 {
        discounted(&mut found.iter().copied()) / ideal
    } else {
        0.0
    }
}
