//! The screen after an import: who and what is in the file, from when to when, why some of it did not come, and
//! three questions to try.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use grainstore::interchange::{ImportFile, Loss, Record};
use grainstore::{Time, grain::Type};

use crate::output::{Output, cut, printable};

/// The records of a file, counted while they are stored.
pub(super) struct Arrival(Arc<Mutex<Tally>>);

#[derive(Default)]
struct Tally {
    persons: BTreeSet<String>,
    /// Of conversations the hashes of the names: a file may have a million.
    conversations: HashSet<u64>,
    hasher: RandomState,
    messages: u64,
    facts: u64,
    others: u64,
    times: Option<(Time, Time)>,
    subjects: BTreeMap<String, u64>,
    /// The last question of a person, and the last facts and messages in words.
    asked: Option<String>,
    said: VecDeque<String>,
}

impl Arrival {
    /// Counts the records of a file whenever they are read.
    pub(super) fn watch(reading: &mut ImportFile) -> Self {
        let tally = Arc::new(Mutex::new(Tally::default()));
        let shared = Arc::clone(&tally);
        let records = mem::take(&mut reading.records);
        reading.records = records.map(move || {
            let tally = Arc::clone(&shared);
            *lock(&tally) = Tally::default();
            move |record: Record| {
                lock(&tally).note(&record);
                record
            }
        });
        Self(tally)
    }

    /// Prints the screen.
    pub(super) fn show(&self, loss: &Loss, out: &mut Output) -> std::io::Result<()> {
        if out.is_json() {
            return Ok(());
        }
        let tally = lock(&self.0);
        if let Some(contents) = tally.contents() {
            out.line(format!("  in it: {contents}"))?;
        }
        for (name, why) in REASONS {
            if loss.iter().any(|(lost, _)| lost == *name) {
                out.line(format!("  {name}: {why}"))?;
            }
        }
        for (number, question) in tally.questions().iter().enumerate() {
            let label = if number == 0 { "try:" } else { "" };
            out.line(format!("  {label:4} grainstore recall \"{question}\""))?;
        }
        Ok(())
    }
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    // Counts are counts, whatever happened to the thread that made them.
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tally {
    fn note(&mut self, record: &Record) {
        let grain = &record.grain;
        if let Some(person) = grain.text("user_id")
            && self.persons.len() < NAMES_MAX
        {
            self.persons.insert(person.to_owned());
        }
        if let Some(session) = grain.text("session_id") {
            self.conversations.insert(self.hasher.hash_one(session));
        }
        let at = grain.created_at();
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
        match grain.type_() {
            Type::Event => {
                self.messages += 1;
                let said = grain.text("content");
                if grain.text("role") == Some("user") {
                    let asked = said.filter(|said| is_question(said));
                    self.asked = asked.and_then(question).or(self.asked.take());
                    self.note_words(said);
                }
            }
            Type::Belief => {
                self.facts += 1;
                self.note_words(grain.text("object"));
                let subject = grain.text("subject").filter(|it| !it.contains(':'));
                if let Some(subject) = subject
                    && (self.subjects.len() < NAMES_MAX || self.subjects.contains_key(subject))
                {
                    *self.subjects.entry(subject.to_owned()).or_default() += 1;
                }
            }
            _ => self.others += 1,
        }
    }

    /// Keeps what was said last, each once.
    fn note_words(&mut self, said: Option<&str>) {
        let said = said.and_then(question);
        let Some(said) = said.filter(|said| !self.said.contains(said)) else {
            return;
        };
        if self.said.len() == QUESTIONS {
            self.said.pop_front();
        }
        self.said.push_back(said);
    }

    fn contents(&self) -> Option<String> {
        let (first, last) = self.times?;
        let mut parts = Vec::new();
        let names: Vec<_> = self
            .persons
            .iter()
            .take(NAMES_SHOWN)
            .map(|it| printable(it))
            .collect();
        let more = if self.persons.len() > NAMES_SHOWN {
            ", …"
        } else {
            ""
        };
        let counts = [
            (self.persons.len() as u64, "person"),
            (self.conversations.len() as u64, "conversation"),
            (self.messages, "message"),
            (self.facts, "fact"),
            (self.others, "other grain"),
        ];
        for (count, noun) in counts.into_iter().filter(|(count, _)| *count > 0) {
            let plural = if count == 1 { "" } else { "s" };
            let named = match noun {
                "person" => format!(" ({}{more})", names.join(", ")),
                _ => String::new(),
            };
            parts.push(format!("{count} {noun}{plural}{named}"));
        }
        let day = |time: Time| time.to_string().chars().take(DAY_LEN).collect::<String>();
        let (first, last) = (day(first), day(last));
        let when = match first == last {
            true => first,
            false => format!("{first} to {last}"),
        };
        Some(format!("{}, {when}", parts.join(", ")))
    }

    /// Returns up to three questions that the file answers.
    fn questions(&self) -> Vec<String> {
        let common = self.subjects.iter().max_by_key(|(_, count)| **count);
        let subject = common.and_then(|(subject, _)| question(subject));
        let mut questions: Vec<String> = Vec::new();
        let named = [&self.asked, &subject].into_iter().flatten();
        for found in named.chain(self.said.iter().rev()) {
            if !questions.contains(found) && questions.len() < QUESTIONS {
                questions.push(found.clone());
            }
        }
        questions
    }
}

fn is_question(said: &str) -> bool {
    said.trim_end().ends_with('?') && said.len() < QUESTION_LEN_MAX
}

/// Returns a text as one line that a shell takes in double quotes; `None` if it has no word, as an
/// id has none.
fn question(said: &str) -> Option<String> {
    let line = said.trim().lines().next()?;
    let plain: String = line
        .chars()
        .map(|c| if "\"$`\\!".contains(c) { ' ' } else { c })
        .collect();
    let plain = cut(&printable(plain.trim()), QUESTION_WIDTH);
    let is_word = |word: &str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
    let is_said = plain.split([' ', '?', '.', ',']).any(is_word);
    is_said.then_some(plain)
}

/// The losses that need a reason.
const REASONS: &[(&str, &str)] = &[
    ("command", "written by the program in the place of its user"),
    ("deleted", "its user deleted it there"),
    ("duplicate", "its id, or what it says, came before"),
    ("empty message", "nothing is said in it"),
    ("line", "is not JSON"),
    ("record", "says nothing that is known"),
];

/// More persons and subjects than a screen has.
const NAMES_MAX: usize = 1_000;
const NAMES_SHOWN: usize = 3;
const QUESTIONS: usize = 3;
const DAY_LEN: usize = 10;
const QUESTION_LEN_MAX: usize = 200;
const QUESTION_WIDTH: usize = 60;
