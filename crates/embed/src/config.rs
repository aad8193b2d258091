//! The sizes of a model, from its `config.json`, and whether it is one that the encoder computes.

use std::path::Path;

use serde_json::Value;

use crate::error::Error;

/// The sizes of a BERT encoder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    pub(crate) hidden: usize,
    pub(crate) intermediate: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    /// The most tokens of a text.
    pub(crate) positions: usize,
    pub(crate) epsilon: f32,
}

impl Config {
    /// Reads the sizes.
    ///
    /// # Errors
    /// A file that is not the configuration of a BERT encoder with GELU.
    pub(crate) fn read(file: &Path, text: &[u8]) -> Result<Self, Error> {
        let config = serde_json::from_slice(text).map_err(|error| Error::of(file, error))?;
        let config: &Value = &config;
        let is = |name: &str, wanted: &str| match config.get(name).and_then(Value::as_str) {
            Some(found) if found == wanted => Ok(()),
            found => {
                let reason = format!("{name} is {found:?}, and only {wanted:?} is known");
                Err(Error::of(file, reason))
            }
        };
        is("model_type", "bert")?;
        is("hidden_act", "gelu")?;
        let size = |name: &str| {
            let found = config.get(name).and_then(Value::as_u64);
            let found = found.and_then(|it| usize::try_from(it).ok());
            let found = found.filter(|it| (1..=SIZE_MAX).contains(it));
            found.ok_or_else(|| Error::of(file, format!("no usable {name}")))
        };
        let epsilon = config.get("layer_norm_eps").and_then(Value::as_f64);
        let config = Self {
            hidden: size("hidden_size")?,
            intermediate: size("intermediate_size")?,
            layers: size("num_hidden_layers")?,
            heads: size("num_attention_heads")?,
            positions: size("max_position_embeddings")?,
            epsilon: narrow(epsilon.unwrap_or(1e-12)),
        };
        if !config.hidden.is_multiple_of(config.heads) || config.positions < 3 {
            return Err(Error::of(file, "its sizes do not fit each other"));
        }
        Ok(config)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest f32 is what is asked for"
)]
const fn narrow(number: f64) -> f32 {
    number as f32
}

/// Above every size of a model that fits into memory.
const SIZE_MAX: usize = 1 << 20;
