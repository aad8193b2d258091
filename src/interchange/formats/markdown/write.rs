//! A tree, written file by file, and the file that marks it.

use std::collections::HashMap;

use crate::interchange::entries::surveyed;
use crate::interchange::export::{Entry, Written};
use crate::interchange::{Entries, WriteOptions};

use super::build::Kind;
use super::dialect::{Dialect, Index};
use super::head::{CLAIM, with_claims_of};
use super::name::{MANIFEST, Manifest, sha256};
use super::page::{Writer, end_line};
use super::plan::{File, Plan, Standing};
use super::tree::is_index_line;

/// Takes the path of a file, below the tree, and its text.
pub(crate) type Put<'a, E> = &'a mut dyn FnMut(&str, &str) -> Result<(), E>;

/// Writes the current beliefs and events as the files of a tree: `put` gets the path of each, below
/// the tree, and its text. The last is the file that marks the tree. Where the tree is `standing`, a list
/// of the notes that has other text too is kept up to date.
///
/// # Errors
/// `ERR_UNSUPPORTED` for a dialect that there is not; those of the entries, of `standing` and of `put`.
pub(crate) fn write<E: Entries + ?Sized>(
    entries: &E,
    options: &WriteOptions,
    standing: Option<&Standing<'_, E::Error>>,
    put: Put<'_, E::Error>,
) -> Result<Written, E::Error> {
    let dialect = Dialect::named(options.dialect.as_deref())?;
    let plan = surveyed(entries, || {
        Plan::of(entries, dialect, (options.now, standing))
    })?;
    let writer = Writer {
        dialect,
        plan: &plan,
    };
    let mut manifest = Manifest::new(dialect.name);
    let mut lines = Vec::new();
    let mut put = |path: &str, text: &str, manifest: &mut Manifest| {
        let mut kept = None;
        if let Some(standing) = standing.filter(|_| text.contains(CLAIM))
            && let Some(there) = (standing.text)(path)?
        {
            kept = Some(with_claims_of(text, &there, standing.has)?);
        }
        let text = kept.as_deref().unwrap_or(text);
        manifest.add(path, sha256(text));
        put(path, text)
    };
    // The list of the others is written last, also where it is a note of its own.
    let is_index = |file: &&File| dialect.index.is_some_and(|index| index.file == file.path);
    let (own_index, files): (Vec<&File>, Vec<&File>) = plan.files.iter().partition(is_index);
    for file in files.into_iter().chain(own_index) {
        if file.kind == Kind::File && file.numbers().next().is_none() {
            continue;
        }
        let mut grains: HashMap<u32, Entry> = HashMap::new();
        for number in file.numbers() {
            grains.extend(entries.read(number)?.map(|entry| (number, entry)));
        }
        let state = match file.state {
            Some(number) => entries.read(number)?,
            None => None,
        };
        let state = state.as_ref().map(|(grain, _)| grain);
        let (text, first) = writer.text(file, state, &grains);
        if is_index(&file) {
            let text = match standing {
                Some(standing) => relisted(&text, &lines, standing.leaves),
                None => text,
            };
            put(&file.path, &text, &mut manifest)?;
            continue;
        }
        put(&file.path, &text, &mut manifest)?;
        let index = dialect.index.filter(|_| file.kind != Kind::File);
        let line = index.map(|index| index_line(file, &first, index));
        lines.extend(line.map(|line| (file.path.as_str(), line)));
    }
    if let Some(index) = dialect
        .index
        .filter(|_| plan.has_index && !lines.is_empty())
    {
        let lines: String = lines.iter().map(|(_, line)| line.as_str()).collect();
        put(index.file, &format!("{}{lines}", index.head), &mut manifest)?;
    }
    let marks = manifest.to_string();
    put(MANIFEST, &marks, &mut Manifest::default())?;
    Ok(Written {
        records: plan.records,
        loss: plan.loss,
    })
}

/// Takes the lines of notes that are gone out of a list of notes, and adds those of new ones.
fn relisted(text: &str, lines: &[(&str, String)], leaves: &dyn Fn(&str) -> bool) -> String {
    let (mut out, mut listed) = (String::new(), Vec::new());
    let is_there = |path: &str| lines.iter().any(|(it, _)| *it == path);
    for line in text.split_inclusive('\n') {
        let item = line.trim_start().trim_start_matches(['-', '*', '+']);
        let path = Some(item.trim())
            .filter(|it| is_index_line(it))
            .and_then(listed_path);
        if let Some(path) = path {
            if !is_there(&path) && leaves(&path) {
                continue;
            }
            listed.push(path);
        }
        out.push_str(line);
    }
    let is_listed = |path: &str| {
        let mut listed = listed.iter();
        listed.any(|it| {
            path == it
                || path
                    .strip_suffix(it.as_str())
                    .is_some_and(|it| it.ends_with('/'))
        })
    };
    for (_, line) in lines.iter().filter(|(path, _)| !is_listed(path)) {
        end_line(&mut out);
        out.push_str(line);
    }
    out
}

/// Returns the path of the note that a line of a list names.
fn listed_path(line: &str) -> Option<String> {
    if let Some((inner, _)) = line.strip_prefix("[[").and_then(|it| it.split_once("]]")) {
        let stem = inner.split(['|', '#', '^']).next().unwrap_or_default();
        return Some(format!("{}.md", stem.trim()));
    }
    let (path, _) = line.split_once("](")?.1.split_once(')')?;
    Some(path.trim_start_matches("./").replace("%20", " "))
}

fn index_line(file: &File, first: &str, index: Index) -> String {
    let title: String = file.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.replace(['[', ']', '|'], " ");
    let stem = file.path.strip_suffix(".md").unwrap_or(&file.path);
    match index.wiki {
        true if stem == title => format!("- [[{stem}]]\n"),
        true => format!("- [[{stem}|{title}]]\n"),
        false => {
            let first = match first {
                "" => String::new(),
                first => format!(" — {first}"),
            };
            format!("- [{title}]({}){first}\n", file.path.replace(' ', "%20"))
        }
    }
}
