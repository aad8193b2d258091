//! The partitions of unlocked persons: they answer as one collection with the view, and nothing of
//! them is on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use grainstore::ledger::OpenMode;
use grainstore::text::{Language, RecalledHit, Recency};
use tantivy::directory::{Directory, RamDirectory};

use super::*;

const PERSONS: [[u8; 16]; 2] = [[1; 16], [2; 16]];

/// Words of several languages whose forms, compounds, accents and letters meet.
const WORDS: [&str; 24] = [
    "tea",
    "teas",
    "green",
    "greener",
    "running",
    "runs",
    "getHTTPCode",
    "e-mail",
    "email",
    "Haus",
    "Häuser",
    "Müller",
    "Mueller",
    "Versicherung",
    "Haftpflichtversicherung",
    "ISPARTA",
    "ısparta",
    "café",
    "cafe",
    "maison",
    "東京都",
    "京都",
    "مُحَمَّد",
    "ёлка",
];

const LANGUAGES: [Option<&str>; 6] = [
    None,
    Some("de"),
    Some("tr"),
    Some("fr"),
    Some("ja"),
    Some("tlh"),
];

/// A document as it is drawn: its words, and numbers for everything else.
#[derive(Debug, Clone)]
struct Drawn {
    words: Vec<usize>,
    language: usize,
    thread: u64,
    time: i64,
    order: u64,
}

#[derive(Debug, Clone)]
enum Step {
    /// Feeds a document, to the view or to the partition of a person.
    Feed(Option<usize>, Drawn),
    /// Leaves a row without text.
    Skip,
    Flush,
    Compact,
    Search,
    Drop(usize),
    /// Erases a row of a partition, by the partition or by the view.
    Erase(usize, bool),
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let words = prop::collection::vec(0..WORDS.len(), 0..9);
    (words, 0..LANGUAGES.len(), 0_u64..5, 0_i64..9, 0_u64..3).prop_map(
        |(words, language, thread, time, order)| Drawn {
            words,
            language,
            thread,
            time,
            order,
        },
    )
}

fn steps(len: Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let place = prop_oneof![2 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(1))];
    let step = prop_oneof![
        20 => (place, drawn()).prop_map(|(place, drawn)| Step::Feed(place, drawn)),
        2 => Just(Step::Skip),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
        3 => Just(Step::Search),
        1 => (0..2_usize).prop_map(Step::Drop),
        1 => (0..200_usize, any::<bool>()).prop_map(|(nth, by_view)| Step::Erase(nth, by_view)),
    ];
    prop::collection::vec(step, len)
}

fn query() -> impl Strategy<Value = String> {
    let word = || (0..WORDS.len()).prop_map(|word| WORDS[word]);
    let cut = |word: &str| word.chars().take(3).collect::<String>();
    let plain = prop_oneof![
        6 => word().prop_map(str::to_owned),
        2 => (word(), word()).prop_map(|(a, b)| format!("\"{a} {b}\"")),
        2 => word().prop_map(move |word| format!("{}*", cut(word))),
        2 => word().prop_map(|word| format!("{word}~")),
        1 => word().prop_map(|word| format!("{word}x~2")),
        1 => word().prop_map(|word| format!("object:{word}")),
        1 => word().prop_map(|word| format!("{word}^3")),
        1 => (word(), word()).prop_map(|(a, b)| format!("({a} AND {b})")),
    ];
    let sign = prop_oneof![6 => Just(""), 1 => Just("+"), 1 => Just("-")];
    let clause = (sign, plain).prop_map(|(sign, plain)| format!("{sign}{plain}"));
    prop::collection::vec(clause, 1..5).prop_map(|clauses| clauses.join(" "))
}

impl Drawn {
    /// Besides its words it says one that no other row says.
    fn document(&self, row: u64) -> Document {
        let words: Vec<&str> = self.words.iter().map(|word| WORDS[*word]).collect();
        let (subject, object) = words.split_at(words.len() / 2);
        let document = Document::default()
            .passage("subject", subject.join(" "))
            .passage("object", format!("{} {}", object.join(" "), secret(row)))
            .thread(self.thread)
            .time_ms(self.time)
            .importance(self.time as f64 / 9.0)
            .order(self.order);
        match LANGUAGES[self.language] {
            Some(tag) => document.language(tag.parse::<Language>().unwrap()),
            None => document,
        }
    }
}

/// A word of one row.
fn secret(row: u64) -> String {
    let letter = |n: u64| char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!(
        "{}{}zqx{}{}",
        letter(row),
        letter(row / 26),
        letter(row * 7 + 3),
        letter(row / 11)
    )
}

/// A view, its disk, and the documents that it holds.
struct Split {
    disk: Arc<dyn Disk>,
    text: Text,
    held: BTreeMap<u64, (Option<usize>, Document)>,
    len: u64,
    /// The words that were ever in a partition.
    secrets: Vec<String>,
}

fn options() -> TextOptions {
    TextOptions {
        background: false,
        ..TextOptions::default()
    }
}

impl Split {
    fn new() -> Self {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let (text, _) = Text::open(&disk, 0, options()).unwrap();
        Self {
            disk,
            text,
            held: BTreeMap::new(),
            len: 0,
            secrets: Vec::new(),
        }
    }

    fn take(&mut self, step: &Step, query: &str) {
        match step {
            Step::Feed(place, drawn) => {
                let document = drawn.document(self.len);
                let row = EntryId::new(self.len);
                match place {
                    Some(person) => {
                        self.secrets.push(secret(self.len));
                        self.text
                            .add_to_partition(PERSONS[*person], row, document.clone());
                    }
                    None => self.text.add(row, document.clone()).unwrap(),
                }
                self.held.insert(self.len, (*place, document));
                self.len += 1;
                assert_eq!(self.text.watermark(), self.len);
            }
            Step::Skip => {
                self.len += 1;
                self.text.advance(self.len);
            }
            Step::Flush => self.text.flush().unwrap(),
            Step::Compact => self.text.compact().unwrap(),
            Step::Search => drop(search(&self.text, query)),
            Step::Drop(person) => self.lock(*person),
            Step::Erase(nth, by_view) => {
                let mut rows = self
                    .held
                    .iter()
                    .filter_map(|(row, (place, _))| Some((*row, (*place)?)));
                let found = rows.nth(*nth % 40);
                if let Some((row, person)) = found {
                    match by_view {
                        true => self.text.erase(&[EntryId::new(row)]).unwrap(),
                        false => self
                            .text
                            .erase_in_partition(PERSONS[person], &[EntryId::new(row)]),
                    }
                    self.held.remove(&row);
                }
            }
        }
    }

    fn lock(&mut self, person: usize) {
        self.text.drop_partition(PERSONS[person]);
        self.held.retain(|_, (place, _)| *place != Some(person));
    }

    /// Returns a view that was fed what this one holds, and has no partition.
    fn plain(&self) -> Text {
        let text = memory();
        self.feed(&text);
        text
    }

    fn feed(&self, text: &Text) {
        for (row, (_, document)) in &self.held {
            text.add(EntryId::new(*row), document.clone()).unwrap();
        }
    }

    fn assert_answers(&self, text: &Text, queries: &[String]) {
        let plain = self.plain();
        for query in queries {
            assert_eq!(answers(text, query), answers(&plain, query), "{query}");
        }
    }
}

/// Everything that can be asked: three rankings, a recall, and the marks in a text.
fn answers(text: &Text, query: &str) -> (Vec<Hits>, Vec<RecalledHit>, Vec<Range<usize>>) {
    let query = Query::parse(query).unwrap();
    let recency = Recency {
        weight: 0.5,
        half_life_ms: 3,
        now_ms: 9,
    };
    let fresh = Ranking {
        recency: Some(recency),
        importance: 0.3,
        ..Ranking::default()
    };
    let accept = |row: EntryId| row.get() % 9 != 4;
    let rankings = [
        (Ranking::WORDS, 1_000),
        (Ranking::WORDS, 3),
        (Ranking::default(), 5),
        (fresh, 7),
    ];
    let hits =
        rankings.map(|(ranking, limit)| text.search(&query, &ranking, limit, &accept).unwrap());
    let recalled = text
        .recall(&query, &Ranking::default(), 3, 2, &accept)
        .unwrap();
    let marks = text
        .highlighter(&query)
        .unwrap()
        .marks("object", &WORDS.join(" "), None);
    (hits.to_vec(), recalled, marks)
}

/// Returns every file of the view with its bytes.
fn files(disk: &dyn Disk) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let file = disk.open(&format!("text/{name}"), OpenMode::Read).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
        file.read_at(&mut bytes, 0).unwrap();
        (name, bytes)
    };
    disk.list("text").unwrap().into_iter().map(read).collect()
}

/// Returns whether the bytes of a word are in a file. They may be missing though the word is there:
/// the dictionary of a segment packs letters.
fn says(disk: &dyn Disk, word: &str) -> bool {
    let says = |bytes: &[u8]| {
        bytes
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    };
    files(disk).iter().any(|(_, bytes)| says(bytes))
}

/// Returns every term of every segment, as the index library reads them.
fn terms(disk: &dyn Disk) -> BTreeSet<(u32, Vec<u8>)> {
    let copy = RamDirectory::create();
    for (name, bytes) in files(disk) {
        copy.atomic_write(Path::new(&name), &bytes).unwrap();
    }
    let index = tantivy::Index::open(copy).unwrap();
    let searcher = index.reader().unwrap().searcher();
    let mut terms = BTreeSet::new();
    for segment in searcher.segment_readers() {
        for (field, entry) in index.schema().fields() {
            if entry.is_indexed() {
                let dictionary = segment.inverted_index(field).unwrap();
                let mut stream = dictionary.terms().stream().unwrap();
                while let Some((term, _)) = stream.next() {
                    terms.insert((field.field_id(), term.to_vec()));
                }
            }
        }
    }
    terms
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn partitions_and_view_answer_as_one_view_that_holds_everything(
        steps in steps(1..90),
        queries in prop::collection::vec(query(), 4),
    ) {
        let mut split = Split::new();
        for step in &steps {
            split.take(step, &queries[0]);
        }
        split.assert_answers(&split.text, &queries);
        split.text.flush().unwrap();
        split.assert_answers(&split.text, &queries);
        // One person is locked, then the other; what stays is a view without their documents.
        for person in [1, 0] {
            split.lock(person);
            split.assert_answers(&split.text, &queries);
        }
        split.text.close().unwrap();
        let plain: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let (text, _) = Text::open(&plain, 0, options()).unwrap();
        split.feed(&text);
        text.flush().unwrap();
        prop_assert_eq!(terms(&*split.disk), terms(&*plain));
        for secret in &split.secrets {
            prop_assert!(!says(&*split.disk, secret), "{secret}");
        }
        let (reopened, found) = Text::open(&split.disk, split.len, options()).unwrap();
        prop_assert_eq!(found, OpenOutcome::Found);
        prop_assert_eq!(reopened.watermark(), split.len);
        split.assert_answers(&reopened, &queries);
    }
}

#[test]
fn a_partition_is_on_no_disk_while_it_is_there_either() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    let (text, _) = Text::open(&disk, 0, options()).unwrap();
    text.add(EntryId::FIRST, "green tea".into()).unwrap();
    text.add_to_partition(PERSONS[0], EntryId::new(1), "a quokka smiles".into());
    text.compact().unwrap();
    assert_eq!((text.committed(), rows(&text, "quokka")), (2, vec![1]));
    let on_disk = terms(&*disk);
    let has = |word: &[u8]| on_disk.iter().any(|(_, term)| term == word);
    assert!(has(b"tea") && !has(b"quokka") && !has(b"smile"));
    assert!(!says(&*disk, "quokka"));
    // A view that was opened again has the row covered, and no words of it.
    let (reopened, _) = Text::open(&disk, 2, options()).unwrap();
    assert_eq!(
        (reopened.watermark(), rows(&reopened, "quokka")),
        (2, vec![])
    );
}

#[test]
fn a_row_fed_to_a_partition_covers_no_row_that_the_view_lacks() {
    let text = memory();
    feed(&text, ["green tea"]);
    // The view lags behind: it lacks row 1.
    text.add_to_partition(PERSONS[0], EntryId::new(2), "white tea".into());
    assert_eq!(text.watermark(), 1);
    text.add(EntryId::new(1), "black tea".into()).unwrap();
    assert_eq!(rows(&text, "tea"), [0, 1, 2]);
}

#[test]
fn feeding_a_partition_again_changes_nothing_until_it_was_dropped() {
    let text = memory();
    let feed = || {
        for (row, words) in [(0, "green tea"), (1, "tea")] {
            text.add_to_partition(PERSONS[0], EntryId::new(row), words.into());
        }
    };
    feed();
    let once = search(&text, "green tea");
    feed();
    assert_eq!(search(&text, "green tea"), once);
    text.drop_partition(PERSONS[0]);
    text.drop_partition(PERSONS[1]);
    assert_eq!(search(&text, "green tea"), Hits::default());
    feed();
    assert_eq!(search(&text, "green tea"), once);
}

/// More documents than are indexed at once, some of them gone again.
#[test]
fn a_person_with_many_notes_is_searched_as_one_collection() {
    let text = memory();
    let plain = memory();
    let said = |row: u64| {
        format!(
            "note {} of {}",
            WORDS[usize::try_from(row % 24).unwrap()],
            row % 89
        )
    };
    let is_erased = |row: u64| (4_000..4_200).contains(&row);
    for row in 0..9_000 {
        text.add_to_partition(PERSONS[0], EntryId::new(row), said(row).into());
        if !is_erased(row) {
            plain.add(EntryId::new(row), said(row).into()).unwrap();
        }
    }
    let erased: Vec<_> = (0..9_000)
        .filter(|row| is_erased(*row))
        .map(EntryId::new)
        .collect();
    let (by_partition, by_view) = erased.split_at(100);
    text.erase_in_partition(PERSONS[0], by_partition);
    text.erase(by_view).unwrap();
    for query in ["+green +88", "runs 7", "\"note haus\"", "mue*", "note"] {
        assert_eq!(answers(&text, query), answers(&plain, query), "{query}");
    }
}

#[test]
fn persons_are_unlocked_and_locked_beside_searches() {
    let text = memory();
    feed(&text, (0..50).map(|_| "tea"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..200_u64 {
                let person = PERSONS[usize::try_from(round % 2).unwrap()];
                for row in 0..20 {
                    text.add_to_partition(person, EntryId::new(50 + row), "tea".into());
                }
                text.drop_partition(person);
            }
        });
        for _ in 0..200 {
            let total = search(&text, "tea").total;
            assert!((50..=70).contains(&total), "{total}");
        }
    });
    assert_eq!(search(&text, "tea").total, 50);
}
