//! Models of the caller that make vectors of texts: the trait, and what a store says of each.
//!
//! The store decides what is embedded and when; see `engine/embedding/worker.rs` and
//! `commit/embed.rs`. A vector that a model made is stored as one that a caller brings.

use std::error::Error;
use std::fmt;

/// A model that makes vectors of texts, for [`Options::embedders`](crate::Options::embedders).
///
/// A store embeds the text of each grain after it is stored, in the background: a put neither waits
/// for the model nor fails with it. [`Maintenance::flush_text`](crate::Maintenance::flush_text)
/// waits until every grain has its vector, and
/// [`Stats::embedders`](crate::store::Stats::embedders) says how many wait and why. The vectors are
/// those of [`Store::put_embeddings`](crate::Store::put_embeddings): in the ledger, in backups, sealed
/// with a sealed grain, and deleted with their grain.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::store::Embedder;
/// use grainstore::{Draft, Filter, Options, Store};
///
/// /// Knows one thing: whether a text is about a drink.
/// #[derive(Debug)]
/// struct Drinks;
///
/// impl Embedder for Drinks {
///     fn model(&self) -> &str {
///         "drinks@1"
///     }
///
///     fn dimensions(&self) -> usize {
///         2
///     }
///
///     fn embed(
///         &self,
///         texts: &[&str],
///     ) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error + Send + Sync>> {
///         let is_drink = |text: &&str| ["tea", "thirsty"].iter().any(|word| text.contains(word));
///         let vector = |text| if is_drink(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
///         Ok(texts.iter().map(vector).collect())
///     }
/// }
///
/// let store = Store::in_memory(Options {
///     embedders: vec![Arc::new(Drinks)],
///     ..Options::default()
/// })?;
/// let tea = store.put(Draft::event("green tea is fine"))?;
/// store.put(Draft::event("the train was late"))?;
/// store.maintenance()?.flush_text()?;
/// let found = store.search("thirsty", &Filter::new(), 1)?;
/// assert_eq!(found.results[0].address, tea);
/// # Ok::<(), grainstore::Error>(())
/// ```
pub trait Embedder: fmt::Debug + Send + Sync {
    /// Returns the name of the model, 1 to 256 bytes. It must change with the vectors, so it has the
    /// version or a digest of the weights: grains are embedded again under a new name, and only
    /// vectors of one name are compared.
    fn model(&self) -> &str;

    /// Returns the number of numbers of each vector, 1 to 16,384.
    fn dimensions(&self) -> usize;

    /// Returns one vector for each text of a grain, in their order; 1 to 64 texts, each not empty and
    /// at most 32 KiB. Only the direction of a vector counts. A text with a vector of zeros says
    /// nothing to the model, and its grain has no vector.
    ///
    /// # Errors
    /// Whatever keeps the model from answering. The texts are tried again later.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Box<dyn Error + Send + Sync>>;

    /// Returns the vector of a question; by default that of a text. A model that tells the two apart,
    /// by a prefix for instance, does so here.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, Box<dyn Error + Send + Sync>> {
        let vectors = self.embed(&[text])?;
        vectors
            .into_iter()
            .next()
            .ok_or_else(|| "it returned no vector".into())
    }
}

/// How far the grains of a store are embedded by one model.
///
/// ```
/// use grainstore::{Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// assert_eq!(store.maintenance()?.stats()?.embedders, []);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderStatus {
    /// The name of the model.
    pub model: String,
    /// The number of the first ledger entries of which no grain waits for a vector.
    pub watermark: u64,
    /// The grains that wait for a vector. In a process that does not keep the derived files it is 0:
    /// the keeper embeds.
    pub waiting: u64,
    /// The vectors that were stored since the store was opened.
    pub embedded: u64,
    /// Why the last attempt failed; `None` after one that succeeded.
    pub failed: Option<String>,
}
