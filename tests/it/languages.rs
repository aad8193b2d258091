//! Texts in many languages and what a reader of them expects to find (test-vectors/search).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use grainstore::ledger::{Disk, EntryId, MemoryDisk};
use grainstore::text::{Document, Language, Query, Ranking, Text, TextOptions};
use serde_json::Value;

struct Pair {
    language: Language,
    text: String,
    query: String,
    found: bool,
}

fn pairs() -> Vec<Pair> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/search/words.json");
    let pairs: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let pairs = pairs.as_array().unwrap().iter();
    let text = |pair: &Value, name: &str| pair[name].as_str().unwrap().to_owned();
    pairs
        .map(|pair| Pair {
            language: text(pair, "language").parse().unwrap(),
            text: text(pair, "text"),
            query: text(pair, "query"),
            // A reader expects what is marked as missed, too: the stemmers do not know it.
            found: pair["found"] == true && pair["missed"] != true,
        })
        .collect()
}

#[test]
fn a_reader_of_each_language_finds_what_is_there_and_nothing_else() {
    let pairs = pairs();
    assert!(pairs.len() >= 100, "{} pairs", pairs.len());
    let mut faults = Vec::new();
    for pair in &pairs {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let (text, _) = Text::open(&disk, 0, TextOptions::default()).unwrap();
        let document = Document::from(pair.text.as_str()).language(pair.language);
        text.add(EntryId::new(0), document).unwrap();
        let query = Query::parse(&pair.query).unwrap();
        let search = || text.search(&query, &Ranking::WORDS, 1, &|_| true).unwrap();
        let fresh = search();
        text.flush().unwrap();
        assert_eq!(search(), fresh, "{}", pair.query);
        if (fresh.total == 1) != pair.found {
            let Pair {
                text, query, found, ..
            } = pair;
            faults.push(format!("{query:?} in {text:?}: expected {found}"));
        }
        let snippet = text.highlighter(&query).unwrap();
        let marks = snippet.marks("", &pair.text, Some(pair.language));
        if marks.is_empty() && pair.found {
            faults.push(format!(
                "{:?} in {:?} is marked {marks:?}",
                pair.query, pair.text
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_text_whose_letters_tell_its_language_is_read_in_it() {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    let (text, _) = Text::open(&disk, 0, TextOptions::default()).unwrap();
    for (row, said) in [
        "Tôi mua dừa ở chợ Bến Thành.",
        "Dün kitaplarımı geri verdim.",
        "Sunt alergic la nuci și la pește.",
        "I met Erdoğan's dogs.",
    ]
    .into_iter()
    .enumerate()
    {
        text.add(EntryId::new(row as u64), said.into()).unwrap();
    }
    let found = |query: &str| {
        let query = Query::words(query);
        let hits = text.search(&query, &Ranking::WORDS, 9, &|_| true).unwrap();
        hits.hits
            .iter()
            .map(|hit| hit.row.get())
            .collect::<Vec<_>>()
    };
    for (query, row) in [("dừa", 0), ("kitaplar", 1), ("alergică", 2), ("dog", 3)] {
        assert_eq!(found(query), [row], "{query}");
    }
    assert_eq!(found("dứa"), [0; 0]);
}
