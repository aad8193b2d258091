//! Prose in comments and documents: each file says what it is for, in plain technical English.

use super::{File, files, root, sources};

/// Words that the field has a term for, or that speak of one man.
const WORDS: &[&str] = &[
    "whoever",
    "whomever",
    "nobody",
    "somebody",
    "everybody",
    "anybody",
    "he",
    "him",
    "his",
    "himself",
];

#[test]
fn every_source_file_says_what_it_is_for() {
    let sources = sources();
    let mute = sources.iter().filter(|file| !file.text.starts_with("//!"));
    let mute: Vec<_> = mute.map(|file| file.path.as_str()).collect();
    assert!(mute.is_empty(), "{}", mute.join("\n"));
}

#[test]
fn prose_is_plain() {
    let mut found = Vec::new();
    for file in sources() {
        for paragraph in comments(&file) {
            note(&mut found, &file.path, &paragraph);
        }
    }
    let pages = ["README.md", "CONTRIBUTING.md"].map(|name| File {
        path: name.to_owned(),
        text: std::fs::read_to_string(root().join(name)).unwrap(),
    });
    for file in files("docs", "md").into_iter().chain(pages) {
        for paragraph in paragraphs(&file) {
            note(&mut found, &file.path, &paragraph);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn note(found: &mut Vec<String>, path: &str, paragraph: &str) {
    let faults = faults(paragraph).into_iter();
    found.extend(faults.map(|fault| format!("{path}: {fault}")));
}

/// The comments of a source file, lines that follow each other as one.
fn comments(file: &File) -> Vec<String> {
    let lines = file.text.lines().map(|line| {
        let comment = line.trim_start().strip_prefix("//")?;
        Some(comment.trim_start_matches(['/', '!']).trim())
    });
    joined(lines)
}

/// The paragraphs of a document, each cell of a table and each item of a list for itself.
fn paragraphs(file: &File) -> Vec<String> {
    let mut lines = Vec::new();
    for line in file.text.lines() {
        if line.starts_with(['|', '-', '#', '*']) {
            lines.push(None);
        }
        for (n, cell) in line.split(" | ").enumerate() {
            lines.extend((n > 0).then_some(None));
            lines.push(Some(cell.trim_matches(['|', ' ', '-', '#'])));
        }
    }
    joined(lines.into_iter())
}

/// Joins lines that follow each other; `None` and an empty line end a paragraph, and what stands
/// between fences is code.
fn joined<'a>(lines: impl Iterator<Item = Option<&'a str>>) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_code = false;
    for line in lines {
        let is_fence = line.is_some_and(|line| line.starts_with("```"));
        is_code ^= is_fence;
        match (line, all.last_mut()) {
            (Some(line), Some(last)) if !line.is_empty() && !is_fence && !is_code => {
                last.push_str(line);
                last.push(' ');
            }
            _ => all.push(String::new()),
        }
    }
    all.retain(|paragraph| !paragraph.is_empty());
    all
}

/// The words and sentences of a paragraph that do not belong there; code between backticks and the
/// path of a test may say anything.
fn faults(paragraph: &str) -> Vec<String> {
    let prose: String = paragraph.split('`').step_by(2).collect();
    let plain = prose.split_whitespace().filter(|it| !it.contains("::"));
    let words = plain.flat_map(|it| it.split(|c: char| !c.is_alphanumeric()));
    let words = words.map(str::to_lowercase);
    let mut faults: Vec<_> = words.filter(|word| WORDS.contains(&&**word)).collect();
    let sentences = prose
        .split_inclusive(". ")
        .flat_map(|part| part.split_inclusive("? "));
    for sentence in sentences.map(str::trim) {
        let begins = ["What ", "Who "]
            .iter()
            .any(|word| sentence.starts_with(word));
        if begins && !sentence.ends_with('?') {
            faults.push(sentence.chars().take(60).collect());
        }
    }
    faults
}

/// More words in a cell belong below the table.
const CELL_WORDS: usize = 40;

#[test]
fn no_cell_of_a_table_is_a_paragraph() {
    let mut found = Vec::new();
    for file in files("docs", "md") {
        let rows = file.text.lines().filter(|line| line.starts_with('|'));
        let cells = rows.flat_map(|row| row.split('|'));
        let long = cells.filter(|cell| cell.split_whitespace().count() > CELL_WORDS);
        found.extend(long.map(|cell| format!("{}: {cell}", file.path)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn words_and_sentences_that_do_not_belong_in_prose_are_found() {
    assert_eq!(faults("Nobody knows his key. "), ["nobody", "his"]);
    assert_eq!(faults("The whole history of this. What is it? "), [""; 0]);
    assert_eq!(faults("`he` is code, a::nobody_says_it a path. "), [""; 0]);
    assert_eq!(faults("A row. What carries it. "), ["What carries it."]);
    let file = File {
        path: String::new(),
        text: "//! Who reads\n//! this?\ncode();\n/// What it is.\n/// ```\n/// his\n/// ```"
            .into(),
    };
    assert_eq!(comments(&file), ["Who reads this? ", "What it is. "]);
    let page = File {
        path: String::new(),
        text: "## Heads\n\n| a | Who waits |\n| - | - |\n- one\n  and\n- two".into(),
    };
    assert_eq!(
        paragraphs(&page),
        ["Heads ", "a ", "Who waits ", "one and ", "two "]
    );
}
