//! The model: its files, and the vectors of texts.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use grainstore::store::Embedder;
use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::tokenizer::Tokenizer;
use crate::weights::Weights;

/// A sentence model: a BERT encoder whose vectors are the mean of its tokens.
///
/// Its name is `local@` and a digest of its files, so that the grains are embedded anew by another
/// model. A text is read up to its 256th token. Nothing is random: the same text has the same vector
/// on the same machine.
///
/// ```
/// use grainstore_embed::Model;
///
/// let error = Model::open("no-such-directory").unwrap_err();
/// assert!(error.to_string().contains("config.json"));
/// ```
#[derive(Debug)]
pub struct Model {
    name: String,
    tokenizer: Tokenizer,
    encoder: Encoder,
    config: Config,
}

impl Model {
    /// Reads the model in a directory: `config.json`, `tokenizer.json` and `model.safetensors`, as
    /// sentence-transformers saves them.
    ///
    /// # Errors
    /// A file that is missing, or that is not of a BERT encoder of 32-bit numbers with a WordPiece
    /// tokenizer, pooled by the mean.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let mut digest = Sha256::new();
        let mut read = |name: &str| {
            let file = directory.join(name);
            let bytes = read(&file)?;
            digest.update(&bytes);
            Ok::<_, Error>((file, bytes))
        };
        let (file, bytes) = read("config.json")?;
        let config = Config::read(&file, &bytes)?;
        let (tokenizer_file, tokenizer) = read("tokenizer.json")?;
        let (file, bytes) = read("model.safetensors")?;
        pools_by_mean(&directory.join("1_Pooling/config.json"))?;
        let encoder = Encoder::read(&Weights::read(&file, &bytes)?, config)?;
        let vocabulary = encoder.vocabulary();
        let digest = digest.finalize();
        let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
        Ok(Self {
            name: format!("local@{}", digits.collect::<String>()),
            tokenizer: Tokenizer::read(&tokenizer_file, &tokenizer, vocabulary)?,
            encoder,
            config,
        })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let limit = self.config.positions.min(TOKENS_MAX);
        self.encoder.encode(&self.tokenizer.tokens(text, limit))
    }
}

impl Embedder for Model {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.config.hidden
    }

    fn embed(
        &self,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(texts.par_iter().map(|text| self.vector(text)).collect())
    }
}

/// Reads a file of a model, which is not larger than one may be.
fn read(file: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::io(file, error);
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(failed)?;
    opened
        .take(FILE_LEN_MAX)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    match bytes.len() as u64 == FILE_LEN_MAX {
        true => Err(Error::of(file, "it is larger than 1 GiB")),
        false => Ok(bytes),
    }
}

/// Refuses a model that says that it pools otherwise.
fn pools_by_mean(file: &Path) -> Result<(), Error> {
    if !file.is_file() {
        return Ok(());
    }
    let bytes = read(file)?;
    let config: Value = serde_json::from_slice(&bytes).map_err(|error| Error::of(file, error))?;
    match config.get("pooling_mode_mean_tokens") {
        Some(Value::Bool(true)) | None => Ok(()),
        Some(_) => Err(Error::of(file, "only the mean of the tokens is known")),
    }
}

/// The most tokens of a text that are read: what sentence models are trained on.
const TOKENS_MAX: usize = 256;

/// The longest file of a model that is read.
pub(crate) const FILE_LEN_MAX: u64 = 1 << 30;
