//! The quality of search with a local model: the tables of `benches/quality.rs`, with a row by words
//! and its vectors, and the everyday questions by both.
//!
//! `just quality-with DATA MODEL` where MODEL is the directory of a model.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grainstore::store::Embedder;
use grainstore::{Draft, Options, Store, Time};
use grainstore_embed::Model;
use serde_json::Value;

#[expect(dead_code, reason = "its main is that of the bench without a model")]
#[path = "../../../benches/quality.rs"]
mod quality;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args_os()
        .filter(|it| it != "--bench")
        .skip(1)
        .map(PathBuf::from);
    let usage = "say where data and model are: quality DATA MODEL";
    let (data, model) = (paths.next().ok_or(usage)?, paths.next().ok_or(usage)?);
    let model: Arc<dyn Embedder> = Arc::new(Model::open(model)?);
    everyday(Arc::clone(&model))?;
    quality::run(&data, Some(&model))
}

/// Prints how many everyday questions have their memory among the first one and three.
fn everyday(model: Arc<dyn Embedder>) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pairs = root.join("../../test-vectors/search/everyday.json");
    let pairs: Vec<Value> = serde_json::from_str(&fs::read_to_string(pairs)?)?;
    let store = Store::in_memory(Options {
        embedders: vec![model],
        ..Options::default()
    })?;
    let text = |pair: &Value, name: &str| pair[name].as_str().unwrap_or_default().to_owned();
    let mut memories = Vec::new();
    for pair in &pairs {
        let draft = Draft::event(text(pair, "memory"));
        memories.push(store.put(draft.created_at(Time::from_ms(1_768_471_200_000)))?);
    }
    store.maintenance()?.flush_text()?;
    let (mut first, mut third) = (0, 0);
    for (pair, memory) in pairs.iter().zip(&memories) {
        let question = grainstore::Search::words(&text(pair, "question"));
        let found = store.find(&question.limit(3))?;
        let place = found.results.iter().position(|it| it.address == *memory);
        first += u32::from(place == Some(0));
        third += u32::from(place.is_some());
    }
    let asked = pairs.len();
    println!("everyday questions: {asked}; memory first: {first}, among three: {third}\n");
    Ok(())
}
