//! `Search`: one request for grains by words, by a vector, or by both.
//!
//! Matching and ranking are in `text` and `vector`; the filter decides which rows they may return.

mod by_vector;
#[cfg(feature = "text")]
mod by_words;
#[cfg(feature = "text")]
mod hybrid;

use crate::codec::ContentAddress;
use crate::store::Access;
#[cfg(feature = "text")]
use crate::text::{self, Ranking};

use super::{Error, Filter, Page};
#[cfg(feature = "text")]
pub(super) use by_words::{if_few, own_rows};
#[cfg(feature = "text")]
pub(super) use hybrid::{QuestionVector, with_meaning};

/// A search: what is looked for, among which grains, and how the answer is ranked.
///
#[cfg_attr(feature = "text", doc = "```")]
#[cfg_attr(not(feature = "text"), doc = "```ignore")]
/// use grainstore::text::Ranking;
/// use grainstore::{Draft, Filter, Options, Search, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("what about tea (or coffee?").user("ana"))?;
/// let search = Search::words("tea (or what?")
///     .filter(&Filter::new().user("ana"))
///     .ranking(Ranking::WORDS)
///     .snippets(80)
///     .limit(3);
/// let found = store.find(&search)?;
/// let snippet = found.results[0].snippet.as_ref().expect("it was asked for");
/// assert_eq!(snippet.marked("*", "*"), "what about *tea* (or coffee?");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Search<'a> {
    #[cfg(feature = "text")]
    query: Option<text::Query>,
    vector: Option<Near<'a>>,
    filter: Filter,
    limit: usize,
    #[cfg(feature = "text")]
    ranking: Ranking,
    #[cfg(feature = "text")]
    snippet_len: Option<usize>,
}

/// The vector that results are near to, with its model.
#[derive(Debug, Clone, Copy)]
enum Near<'a> {
    Vector(&'a str, &'a [f32]),
    Grain(&'a str, ContentAddress),
}

impl<'a> Search<'a> {
    fn new() -> Self {
        Self {
            #[cfg(feature = "text")]
            query: None,
            vector: None,
            filter: Filter::new(),
            limit: LIMIT,
            #[cfg(feature = "text")]
            ranking: Ranking::default(),
            #[cfg(feature = "text")]
            snippet_len: None,
        }
    }

    /// Returns a search for a text in the query language:
    ///
    /// | | |
    /// | --- | --- |
    /// | `tea cup` | either word; both are better |
    /// | `"green tea"` | these words together in this order |
    /// | `+tea -cup` | must occur; must not |
    /// | `tea AND (green OR black) AND NOT cup` | the same in words |
    /// | `gre*` | words that begin like this |
    /// | `grean~`, `grean~2` | words that differ by a letter or two |
    /// | `object:tea` | in this field of the grain only |
    /// | `tea^2` | counts twice |
    ///
    /// A word matches all its inflected forms. Everything else is literal text.
    ///
    /// # Errors
    /// `ERR_SEARCH_SYNTAX` with the offset in `text`; for more than 256 words and phrases with an
    /// operator, a field, a boost or in a group.
    #[cfg(feature = "text")]
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self::of(text::Query::parse(text)?))
    }

    /// Returns a search for plain words: natural language, in which no character is an operator.
    #[cfg(feature = "text")]
    pub fn words(text: &str) -> Self {
        Self::of(text::Query::words(text))
    }

    #[cfg(feature = "text")]
    pub(super) fn of(query: text::Query) -> Self {
        Self {
            query: Some(query),
            ..Self::new()
        }
    }

    /// Returns a search for the grains whose vectors of a model are nearest to a vector: what a search
    /// for words is in a store with an embedder, without its words.
    ///
    /// Up to 50,000 vectors of the model are all compared; of more those that are likely to be near, so
    /// that a few of the nearest may be missed, unless at most 12,000 pass the filter. The score is
    /// (1 + cosine) / 2.
    ///
    /// ```
    /// use grainstore::store::Embedding;
    /// use grainstore::{Draft, Options, Search, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let (tea, sea) = (store.put(Draft::event("tea"))?, store.put(Draft::event("sea"))?);
    /// let tiny = |of, vector: [f32; 2]| Embedding::new(of, "tiny", &vector);
    /// store.put_embeddings(&[tiny(tea, [0.9, 0.1]), tiny(sea, [0.2, 0.8])])?;
    /// let near = store.find(&Search::near("tiny", &[1.0, 0.0]).limit(1))?;
    /// assert_eq!(near.results[0].address, tea);
    /// let like = store.find(&Search::like("tiny", tea))?;
    /// assert_eq!(like.results[0].address, sea);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    pub fn near(model: &'a str, vector: &'a [f32]) -> Self {
        Self::new().vector(model, vector)
    }

    /// Returns a search for the grains whose vectors of a model are nearest to that of a grain, without
    /// the grain itself; none if it has no vector of the model.
    pub fn like(model: &'a str, address: ContentAddress) -> Self {
        Self {
            vector: Some(Near::Grain(model, address)),
            ..Self::new()
        }
    }

    /// Ranks by the nearness to a vector too, in place of that of the store's own embedder.
    ///
    /// How much nearer to the vector a grain is than the mean of those that pass the filter, in standard
    /// deviations, is added to the score of its words
    #[cfg_attr(
        feature = "text",
        doc = "([`Ranking::meaning`](crate::text::Ranking::meaning)),"
    )]
    /// so that a grain is found by either, and lifts the turns beside it. Below 600 vectors, where
    /// deviations are noise, it has a smaller share. The total is a lower bound: the greater of those by
    /// words and by vectors.
    #[must_use]
    pub fn vector(self, model: &'a str, vector: &'a [f32]) -> Self {
        Self {
            vector: Some(Near::Vector(model, vector)),
            ..self
        }
    }

    /// Searches among the grains that pass a filter; by default among all that are current.
    #[must_use]
    pub fn filter(self, filter: &Filter) -> Self {
        Self {
            filter: filter.clone(),
            ..self
        }
    }

    /// Returns so many results at most; 10 by default.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Ranks by other rules than the default. [`Ranking::explains`] says how each changes a score.
    #[cfg(feature = "text")]
    #[must_use]
    pub fn ranking(self, ranking: Ranking) -> Self {
        Self { ranking, ..self }
    }

    /// Adds to each result the excerpt of about `len_max` characters with the most matches
    /// ([`Found::snippet`](super::Found::snippet)).
    #[cfg(feature = "text")]
    #[must_use]
    pub fn snippets(self, len_max: usize) -> Self {
        Self {
            snippet_len: Some(len_max),
            ..self
        }
    }
}

/// See [`Store::find`](crate::Store::find).
pub(crate) fn find(store: &Access, search: &Search<'_>) -> Result<Page, Error> {
    #[cfg(feature = "text")]
    if let Some(query) = &search.query {
        return by_words::find(store, search, query);
    }
    match search.vector {
        Some(Near::Vector(model, vector)) => by_vector::nearest(store, model, vector, search),
        Some(Near::Grain(model, address)) => by_vector::similar(store, &address, model, search),
        None => Ok(Page::default()),
    }
}

/// The results of a search that names no limit.
const LIMIT: usize = 10;
