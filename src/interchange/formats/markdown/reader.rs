//! Trees of Markdown as a format that can be read, and how the dialect of one is recognised.

use crate::codec::Value;
use crate::grain::{Grain, Status};
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::Input;
use crate::interchange::{Diagnostics, Error, Format, ImportFile, ReadOptions, RecordSet};

use super::dialect::{Dialect, is_instruction};
use super::head::day_of_name;
use super::name::{MANIFEST, Manifest};
use super::residual::{Kept, is_export_of, residual as of_tree};
use super::tree::{Tree, heads};

/// The reader of trees.
pub(crate) struct Markdown;

impl FormatReader for Markdown {
    fn description(&self) -> &'static str {
        "a tree of Markdown notes"
    }

    fn detect_container(&self, input: Input<'_>) -> Result<Option<Format>, Error> {
        let Input::Path(path) = input else {
            return Ok(None);
        };
        let is_tree = path.is_dir() && heads(input)?.iter().any(|(path, _)| path != MANIFEST);
        Ok(is_tree.then_some(Format::Markdown))
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        let dialect = match &options.dialect {
            Some(name) => Dialect::named(Some(name))?,
            None => detect(input)?,
        };
        let mut file = ImportFile::new(format);
        let mut findings = Diagnostics::default();
        let mut tree = Tree::open(input, dialect, options, &mut findings)?;
        let len = tree.validate(&mut file.errors, &mut file.loss)?;
        file.findings = findings.into();
        let known = tree.known();
        file.records = RecordSet::new(tree, len, false).of_tree(known);
        Ok(file)
    }

    fn residual(&self, grain: &Grain) -> Option<Value> {
        of_tree(grain)
    }

    fn is_export_of(&self, record: &Grain, stored: &Grain, _status: &Status) -> bool {
        is_export_of(record, stored)
    }

    fn is_ended(&self, grain: &Grain) -> bool {
        Kept::of(grain).is_some_and(|kept| kept.has("ended"))
    }
}

/// Tells the dialect of a tree from the names of its files and the keys of their frontmatter.
fn detect(input: Input<'_>) -> Result<&'static Dialect, Error> {
    let heads = heads(input)?;
    let manifest = heads.iter().find(|(path, _)| path == MANIFEST);
    if let Some(own) = manifest.and_then(|(_, text)| Manifest::dialect(text)) {
        return Dialect::named(Some(own));
    }
    let notes = || heads.iter().filter(|(path, _)| !is_instruction(path));
    let has = |path: &str| notes().any(|(it, _)| it == path);
    let below = |folder: &str| notes().any(|(path, _)| path.starts_with(folder));
    let says = |key: &str| notes().any(|(_, head)| front_has(head, key));
    let is_day = |path: &str| {
        let name = path.strip_prefix("memory/");
        name.and_then(day_of_name).is_some()
    };
    let has_entries = notes().any(|(_, head)| head.contains("\n§\n"));
    let is_of_two = |path: &str| path == "MEMORY.md" || path == "USER.md";
    let only_two = notes().next().is_some() && notes().all(|(path, _)| is_of_two(path));
    let name = match () {
        () if has_entries || (only_two && has("USER.md")) => "hermes",
        () if has("memory_summary.md") || below("rollout_summaries/") => "codex",
        () if notes().any(|(path, _)| is_day(path)) || has("DREAMS.md") => "openclaw",
        () if has("MEMORY.md") && says("name:") => "claude-code",
        () if says("permalink:") => "basic-memory",
        () if says("aliases:") || says("cssclasses:") || has_obsidian(input) => "obsidian",
        () if only_two => "openclaw",
        () => "okf",
    };
    Dialect::named(Some(name))
}

fn front_has(head: &str, key: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}');
    let front = head
        .strip_prefix("---")
        .and_then(|rest| rest.split_once("\n---"));
    front.is_some_and(|(front, _)| front.lines().any(|line| line.starts_with(key)))
}

fn has_obsidian(input: Input<'_>) -> bool {
    matches!(input, Input::Path(path) if path.join(".obsidian").is_dir())
}
