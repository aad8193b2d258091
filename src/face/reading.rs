//! Questions to a store: grains by address, filters, words, meaning, changes.

use crate::codec::ContentAddress;
use crate::grain::{ForeignId, Grain, Status, Warning};
use crate::ledger::EntryId;
use crate::query;
#[cfg(feature = "text")]
use crate::query::Recall;
use crate::query::{Changes, Cursor, Filter, Page, Search};
#[cfg(feature = "text")]
use crate::render::Recollection;
use crate::store::{AddressList, AgentCard, Error, Signature, Version, governance, read};

use super::Store;

impl Store {
    /// Returns a grain by its address; its bytes are checked against it. `None` also for a grain
    /// that a narrowed handle does not see.
    ///
    /// A grain of an unlocked person is also found by the hash of its ciphertext, which is its address
    /// in the files (OMS 20.2); [`Grain::address`] is its own, by which all else knows it.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INTEGRITY`; `ERR_CONSENT` in a namespace that
    /// requires a consent for reading; through an agent's handle `ERR_REVIEW_REQUIRED` for a grain
    /// that a person must review before a program acts on it (OMS 6.1).
    pub fn get(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        read::get(&self.0, address)
    }

    /// Returns grains by their addresses, in the same order: all of them, or none where one is
    /// refused.
    ///
    /// # Errors
    /// [`Error::Batch`] with the position of the first address that is refused, and the error and
    /// code of [`Store::get`].
    pub fn get_batch(&self, addresses: &[ContentAddress]) -> Result<Vec<Option<Grain>>, Error> {
        read::get_batch(&self.0, addresses)
    }

    /// Returns whether the store has a grain that the handle sees.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INDEX_DAMAGED`.
    pub fn exists(&self, address: &ContentAddress) -> Result<bool, Error> {
        read::exists(&self.0, address)
    }

    /// Returns the status of a grain, which the store keeps beside its blob (OMS 28.3).
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn status(&self, address: &ContentAddress) -> Result<Status, Error> {
        read::status(&self.0, address)
    }

    /// Returns the addresses of up to `limit` grains that the handle sees, oldest first, from where
    /// `after` left off.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn list(&self, after: Option<EntryId>, limit: usize) -> Result<AddressList, Error> {
        read::list(&self.0, after, limit)
    }

    /// Returns the addresses of up to `limit` grains that the handle sees and whose addresses begin with
    /// these hexadecimal digits, oldest first.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("hello"))?;
    /// assert_eq!(store.starting_with(&address.to_string()[..8], 2)?, [address]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_HASH_LENGTH`, `ERR_HASH_FORMAT`; `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`,
    /// `ERR_INDEX_DAMAGED`.
    pub fn starting_with(&self, digits: &str, limit: usize) -> Result<Vec<ContentAddress>, Error> {
        read::starting_with(&self.0, digits, limit)
    }

    /// Returns every grain of the lineage that a grain belongs to: those it supersedes and those
    /// that superseded it, in the order in which they were stored; without those that the handle
    /// does not see or that need a missing consent.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`; `ERR_CONSENT` if the requested
    /// grain itself needs a missing consent.
    pub fn history(&self, address: &ContentAddress) -> Result<Vec<Version>, Error> {
        read::history(&self.0, address)
    }

    /// Returns the grain that a foreign identifier was assigned to, the newest if there are
    /// several.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn resolve(&self, id: &ForeignId) -> Result<Option<ContentAddress>, Error> {
        read::resolve(&self.0, id)
    }

    /// Returns up to `limit` grains that pass a filter, from a cursor on: in the order of the filter
    /// ([`Filter::sorted`]), or else in that in which they were stored, those of one
    /// [session](Filter::session) in the order of time (OMS 28.6).
    ///
    /// All pages show the snapshot of the first page: neither concurrent writes nor expiry change
    /// their contents or total. Only erased grains disappear at once.
    ///
    /// ```
    /// use grainstore::query::{Sort, SortBy};
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// for sure in [0.2, 0.9, 0.5] {
    ///     store.put(Draft::belief("user", "likes", format!("tea {sure}")).confidence(sure))?;
    /// }
    /// let surest_first = Filter::new().sorted(Sort::by(SortBy::Confidence).descending());
    /// let page = store.query(&surest_first, 2, None)?;
    /// let rest = store.query(&surest_first, 2, page.next_cursor)?;
    /// assert_eq!((page.total, rest.results[0].grain.text("object")), (3, Some("tea 0.2")));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; `ERR_CURSOR` for a cursor of another query; storage errors.
    pub fn query(
        &self,
        filter: &Filter,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Page, Error> {
        query::query(&self.0, filter, limit, after)
    }

    /// Returns all pages of a [query](Store::query), of up to `limit` grains each. After an error there
    /// are no more.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put_batch((0..5).map(|n| Draft::event(format!("note {n}"))))?;
    /// let pages = store.pages(&Filter::new(), 2);
    /// let counts = pages.map(|page| Ok(page?.results.len()));
    /// assert_eq!(counts.collect::<Result<Vec<_>, grainstore::Error>>()?, [2, 2, 1]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    pub fn pages(
        &self,
        filter: &Filter,
        limit: usize,
    ) -> impl Iterator<Item = Result<Page, Error>> + use<'_> {
        query::pages(&self.0, filter.clone(), limit)
    }

    /// Returns the `limit` grains that match `text` best, among those that pass a filter: what
    /// [`Store::find`] does with [`Search::parse`] and nothing else.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark modes").confidence(0.9))?;
    /// let found = store.search("mode", &Filter::new(), 10)?;
    /// assert_eq!(found.results[0].matched_fields, ["object"]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_SEARCH_SYNTAX`; as [`Store::find`].
    #[cfg(feature = "text")]
    pub fn search(&self, text: &str, filter: &Filter, limit: usize) -> Result<Page, Error> {
        self.find(&Search::parse(text)?.filter(filter).limit(limit))
    }

    /// Returns the grains that a [`Search`] finds, best first.
    ///
    /// A grain is searchable as soon as `put` returns. Turns of a conversation are also ranked by the
    /// turns around them, and in a store with an embedder
    /// ([`Options::embedders`](crate::Options::embedders)) all by their meaning too.
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; for words `ERR_TEXT`, also for a store opened without its text
    /// view, and `ERR_EMBEDDER` if the model does not embed the question: a `meaning` of 0 in the
    /// ranking does not ask it; for a vector `ERR_EMBEDDING` if it has another length than the model's;
    /// for a grain `ERR_NOT_FOUND`, and what [`Store::get`] refuses.
    pub fn find(&self, search: &Search<'_>) -> Result<Page, Error> {
        query::find(&self.0, search)
    }

    /// Returns the grains that match a question best, among those that pass a filter, with the
    /// turns around them, up to the token budget.
    ///
    /// Hot grains (`recall_priority`) that pass the filter come first, in up to a quarter of the
    /// budget, whatever the question, those that fit it before the newest others; cold ones are left
    /// out unless the filter names a priority (OMS 22.8). The question is read as plain words.
    /// Duplicate texts are included once.
    ///
    /// Facts come before conversations: what is current before what is not, best first, and what
    /// contradicts another line right after it. Turns of one session stay together in chronological
    /// order. Names stand for DIDs where a grain that passes the filter says the name.
    ///
    /// ```
    /// use grainstore::query::Recall;
    /// use grainstore::render::Format;
    /// use grainstore::{Draft, Filter, Options, Store, Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let moment = Time::from_ms(1_768_471_200_000);
    /// store.put(Draft::belief("user", "mg:prefers", "dark mode").confidence(0.9).created_at(moment))?;
    /// let known = store.recall("What mode does she like?", &Filter::new(), &Recall::default())?;
    /// let text = known.render(Format::Text);
    /// assert!(text.starts_with("[2026-01-15 10:00] user prefers dark mode ("), "{text}");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; `ERR_TEXT`, also for a store opened without its text view;
    /// `ERR_EMBEDDER` as [`Store::find`].
    #[cfg(feature = "text")]
    pub fn recall(
        &self,
        question: &str,
        filter: &Filter,
        recall: &Recall,
    ) -> Result<Recollection, Error> {
        query::recall(&self.0, question, filter, recall)
    }

    /// Returns the entries of the ledger from `from` on, of this process and of others, once they are
    /// acknowledged.
    ///
    /// The owner sees every entry; an erased one comes as [`Changed::Erased`](crate::store::Changed::Erased). A narrowed handle sees
    /// the grains that it may read and changes of their status, and nothing of the others: it is not
    /// told what was erased. Grains that need a missing consent are left out. A grain is recorded as
    /// read where a regime requires that, and not counted as retrieved.
    pub fn changes(&self, from: EntryId) -> Changes {
        query::changes(&self.0, from)
    }

    /// Returns warnings about a valid grain: by itself, and beside the stored grains. It need not
    /// be stored yet.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn warnings(&self, grain: &Grain) -> Result<Vec<Warning>, Error> {
        read::warnings(&self.0, grain)
    }

    /// Returns the signer of a grain and how far the signature is trusted; `None` for an unsigned
    /// grain.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; as [`Store::get`].
    pub fn signature(&self, address: &ContentAddress) -> Result<Option<Signature>, Error> {
        read::signature(&self.0, address)
    }

    /// Returns a grain as it is delivered: its blob, or for a signed grain the COSE_Sign1 message
    /// with the blob inside (OMS 9.2). [`from_delivery`](crate::crypto::from_delivery) reads it.
    ///
    /// ```
    /// use grainstore::crypto::{self, Algorithm, OsRandom, SigningKey};
    /// use grainstore::{Draft, Options, Store, grain::Time};
    ///
    /// let (here, there) = (Store::in_memory(Options::default())?, Store::in_memory(Options::default())?);
    /// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    /// let draft = Draft::event("hello").created_at(Time::from_ms(1)).to_be_signed();
    /// let address = here.put(crypto::sign(draft.finish(Default::default())?, &key, &key.did(), None)?)?;
    ///
    /// let sent = here.delivery(&address)?.expect("it was just put");
    /// let (received, _) = crypto::from_delivery(&sent, Default::default())?;
    /// assert_eq!(there.put(received)?, address);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_SIGNED_MISMATCH` for a signed grain whose signature is lost; as [`Store::get`].
    pub fn delivery(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>, Error> {
        read::delivery(&self.0, address)
    }

    /// Returns the vector that a model made of a grain, with the length 1; of a model with more than
    /// 50,000 vectors rounded to multiples of 2^-15.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_CONSENT` as [`Store::get`]; storage errors.
    pub fn embedding(
        &self,
        address: &ContentAddress,
        model: &str,
    ) -> Result<Option<Vec<f32>>, Error> {
        read::embedding(&self.0, address, model)
    }

    /// Returns the card of an agent, by its DID, as far as it may be read: where the namespace
    /// requires consent, only grains that rest on one (OMS 8.10).
    ///
    /// ```
    /// use grainstore::crypto::{self, Algorithm, OsRandom, SigningKey};
    /// use grainstore::grain::{Owner, OwnerKind, Time};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let operator = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    /// let agent = "did:web:example.com:agents:7";
    /// let owner = Owner::new(OwnerKind::Org, "Example Corp");
    /// let draft = Draft::ownership(agent, &owner, operator.did().as_str());
    /// let grain = draft.created_at(Time::from_ms(1)).finish(Default::default())?;
    /// store.put(crypto::sign(grain, &operator, &operator.did(), None)?)?;
    /// let card = store.agent_card(agent)?;
    /// assert_eq!(card.owner.unwrap().grain.text("object"), Some("Example Corp"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors.
    pub fn agent_card(&self, agent: &str) -> Result<AgentCard, Error> {
        governance::agent_card(&self.0, agent)
    }
}

/// Returns the other current beliefs, newest first and up to 20, that say something of the same subject by a
/// like relation: in another case, with other characters between the words, or under another name of the
/// subject (`alias_of`) or of the person. Namespace and user are the same.
///
/// ```
/// use grainstore::{Draft, Options, Store, also_believed};
///
/// let store = Store::in_memory(Options::default())?;
/// let porto = store.put(Draft::belief("Ana", "lives_in", "Porto").confidence(0.9))?;
/// let faro = store.put(Draft::belief("ana", "lives in", "Faro").confidence(0.9))?;
/// let faro = store.get(&faro)?.expect("it was stored");
/// let others = also_believed(&store, &faro)?;
/// assert_eq!(others[0].address(), porto);
/// # Ok::<(), grainstore::Error>(())
/// ```
///
/// # Errors
/// As [`Store::query`].
pub fn also_believed(store: &Store, belief: &Grain) -> Result<Vec<Grain>, Error> {
    query::also_believed(&store.0, belief)
}

/// Returns the newest versions that [`Store::history`] has and that pass `shows`, up to the one by which they
/// have so many bytes, and how many more there are. No more than these are in memory.
///
/// ```
/// use grainstore::{Draft, Options, Store, newest_versions};
///
/// let store = Store::in_memory(Options::default())?;
/// let tea = store.put(Draft::belief("user", "likes", "tea").confidence(0.9))?;
/// let milk = Draft::belief("user", "likes", "milk").confidence(0.9);
/// let milk = store.supersede(&tea, milk, None)?;
/// let (versions, more) = newest_versions(&store, &tea, 1, |_| true)?;
/// assert_eq!((versions[0].grain.address(), versions.len(), more), (milk, 1, 1));
/// # Ok::<(), grainstore::Error>(())
/// ```
///
/// # Errors
/// As [`Store::history`].
pub fn newest_versions(
    store: &Store,
    address: &ContentAddress,
    bytes: usize,
    shows: impl Fn(&Version) -> bool,
) -> Result<(Vec<Version>, u64), Error> {
    read::newest_versions(&store.0, address, bytes, shows)
}

/// Returns the original of a disclosed view if it is stored (OMS 10.4) and the handle may read it.
///
/// ```
/// use grainstore::{Draft, Options, Store, original};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::belief("alice", "works_at", "ACME").confidence(1.0))?;
/// let (view, _) = store.get(&address)?.unwrap().disclose(&["subject"])?;
/// assert_eq!(store.put(view.clone()).unwrap_err().code(), "ERR_VIEW");
/// assert_eq!(original(&store, &view)?.map(|grain| grain.address()), Some(address));
/// # Ok::<(), grainstore::Error>(())
/// ```
///
/// # Errors
/// As [`Store::get`].
pub fn original(store: &Store, view: &Grain) -> Result<Option<Grain>, Error> {
    governance::original(&store.0, view)
}
