//! The demo, first half: import, search, query and supersession.
//!
//! The second half is in `copy` and `crash`.

use std::path::Path;

use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::store::{Create, Options};
use grainstore::{ContentAddress, Draft, Filter, Page, Store};

use super::data::{self, SOURCES};
use super::stage::{INDENT, Stage};
use crate::args::address::short;
use crate::commands::grains::timeline::timeline;
use crate::commands::questions::answer::{Scores, table};
use crate::error::CliError;

/// Imports the three sources.
pub(super) fn import(stage: &mut Stage<'_>, folder: &Path, path: &Path) -> anyhow::Result<Store> {
    let name = folder.display();
    let commands =
        SOURCES.map(|source| format!("--store demo.grains import {name}/{}", source.name));
    let commands = commands.each_ref().map(String::as_str);
    stage.step(
        "Import three formats: a Portable AI Memory store, JSON lines, an archive",
        &commands,
    )?;
    data::write(folder)?;
    let options = Options {
        create: Create::New,
        ..Options::default()
    };
    let store = Store::open(path, options)?;
    for source in SOURCES {
        let file = folder.join(source.name);
        let reading = ImportFile::open(&file, None, &ReadOptions::default())?;
        let format = reading.format.name();
        let summary = store.import(reading)?;
        let (inserted, refused) = (summary.inserted, summary.refused.len());
        let about = source.about;
        stage.result(format!(
            "{format:5}  {about:31}  {inserted:2} grains imported, {refused} refused"
        ))?;
    }
    Ok(store)
}

/// Searches by words.
pub(super) fn search(stage: &mut Stage<'_>, store: &Store) -> anyhow::Result<()> {
    stage.step(
        "Search by words: best match first, across all sources",
        &["--store demo.grains search \"peanut allergy\" --limit 6"],
    )?;
    let envelope = store.search("peanut allergy", &Filter::new(), 6)?;
    show(stage, &envelope, Scores::Shown)
}

/// Queries by the parts of a triple.
pub(super) fn query(stage: &mut Stage<'_>, store: &Store) -> anyhow::Result<()> {
    stage.step(
        "Query triples: what does Mira prefer?",
        &["--store demo.grains query --subject mira --relation mg:prefers"],
    )?;
    let filter = Filter::new().subject("mira").relation("mg:prefers");
    show(stage, &store.query(&filter, 20, None)?, Scores::Hidden)
}

/// Supersedes one grain, and shows that a locked grain is refused.
pub(super) fn supersede(stage: &mut Stage<'_>, store: &Store) -> anyhow::Result<()> {
    let old: ContentAddress = DUTCH_LEVEL.parse()?;
    let locked: ContentAddress = LOCKED.parse()?;
    let old_short = short(&old);
    let command = format!(
        "--store demo.grains correct {old_short} --set object=B1 \\\n       --justification \"{REASON}\""
    );
    let history = format!("--store demo.grains history {old_short}");
    let locked_short = short(&locked);
    let denied = format!("--store demo.grains correct {locked_short} --set object=Eve");
    stage.step(
        "Correct a belief, and keep the old one; a locked grain is refused",
        &[&command, &history, &denied],
    )?;
    let new = Draft::belief("mira", "dutch_level", "B1")
        .confidence(0.9)
        .source("user_explicit")
        .author("did:web:assistants.example:wren")
        .namespace("mira:dutch")
        .user("mira-okafor");
    store.supersede(&old, new.clone().derived_from(old), Some(REASON))?;
    for line in timeline(&store.history(&old)?, INDENT).lines() {
        stage.show(&line)?;
    }
    match store.supersede(&locked, new.derived_from(locked), None) {
        Ok(_) => anyhow::bail!("a locked grain was superseded"),
        Err(error) => {
            let error = CliError::of(&error);
            stage.result(format!("error[{}]: {error}", error.code()))?;
        }
    }
    Ok(())
}

/// Collects what is known about a question.
pub(super) fn recall(stage: &mut Stage<'_>, store: &Store) -> anyhow::Result<()> {
    let command = format!("--store demo.grains recall \"{QUESTION}\" --budget {BUDGET}");
    stage.step(
        "Recall: what an agent reads before it answers, within a budget of tokens",
        &[&command],
    )?;
    let options = Recall {
        budget: BUDGET,
        reach: 1,
        ..Recall::default()
    };
    let known = store.recall(QUESTION, &Filter::new(), &options)?;
    for line in known.render(Format::Markdown).lines() {
        stage.result(line)?;
    }
    Ok(())
}

fn show(stage: &mut Stage<'_>, envelope: &Page, scores: Scores) -> anyhow::Result<()> {
    for line in table(envelope, scores, INDENT).lines() {
        stage.show(&line)?;
    }
    let (shown, total) = (envelope.results.len(), envelope.total);
    Ok(stage.result(format!("{shown} of {total}"))?)
}

/// `mira dutch_level A2` in grains.jsonl.
const DUTCH_LEVEL: &str = "f8ac8c828e9d6832987ad10820845cbf1d9b3c46a9784351f0ac996b810cab1d";

/// The ownership grain of Wren in grains.jsonl, whose invalidation_policy is `locked`.
const LOCKED: &str = "84ba5acb7c3273c0d9b4c3c189f3ac8916c5779d15250a1f212b0861428279c9";

const QUESTION: &str = "can Mira eat peanuts?";

/// Few enough tokens for a screen.
const BUDGET: usize = 120;

const REASON: &str = "passed the B1 exam";
