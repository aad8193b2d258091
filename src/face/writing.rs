//! Changes of a store, each under the rules of OMS 23.

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::{Grain, Verification};
#[cfg(feature = "interchange")]
use crate::interchange::ImportFile;
use crate::store::{
    Embedding, Error, HandedOff, Handoff, Justification, NewGrain, Put, commit, governance,
    lineage, read,
};
#[cfg(feature = "interchange")]
use crate::store::{Summary, import};

use super::Store;

impl Store {
    /// Stores a grain and returns its address once it is durable. Storing it again is a no-op.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a grain of another namespace, author or clearance than the handle's,
    /// or that the delegations of its author do not cover; the refusal is recorded. The codes of
    /// OMS 19 for an invalid grain; `ERR_INVALIDATION_DENIED` for a grain that would replace a
    /// current one without [`Store::supersede`] (OMS 17.2); `ERR_ERASED` for one that was deleted
    /// here and does not come [again](NewGrain::again); `ERR_SIGNED_MISMATCH` for one that is to be
    /// signed and is not; `ERR_SIGNATURE` and `ERR_UNRESOLVED` for a signature that does not verify
    /// or cannot be checked; `ERR_UNTRUSTED` for a grain that its signer, or an unsigned writer, is
    /// not trusted to write, and for a stored grain whose first signer is trusted as much as this
    /// one, whose signature is not kept; storage errors, after which the outcome is unknown and a retry is
    /// safe.
    pub fn put(&self, grain: impl Into<NewGrain>) -> Result<ContentAddress, Error> {
        commit::put(&self.0, grain).map(|put| put.address)
    }

    /// Stores a grain as [`Store::put`] does, and says whether it is new here, as
    /// [`HashSet::insert`](std::collections::HashSet::insert) says it of a value.
    ///
    /// # Errors
    /// As [`Store::put`].
    pub fn insert(&self, grain: impl Into<NewGrain>) -> Result<Put, Error> {
        commit::put(&self.0, grain)
    }

    /// Stores grains together: all of them, or none if one is refused. Returns the address of each,
    /// and whether it is new; the second of two equal grains is not.
    ///
    /// # Errors
    /// As [`Store::put`], with the place of the grain in the batch.
    pub fn put_batch<G: Into<NewGrain>>(
        &self,
        grains: impl IntoIterator<Item = G>,
    ) -> Result<Vec<Put>, Error> {
        commit::put_batch(&self.0, grains)
    }

    /// Stores batches one after another, each as [`Store::put_batch`] does, and prepares the next two
    /// while one is committed. The answers come in the order of the batches, each once its batch is
    /// durable.
    ///
    /// A refused batch ends them: nothing behind it is stored. Nothing is taken from `batches` before
    /// an answer is asked for. If the answers are dropped, what was answered is stored, and of the
    /// next three batches the first ones may be.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let lines = ["one", "two", "three", "four", "five"];
    /// let batches = lines.chunks(2).map(|lines| lines.iter().map(|line| Draft::event(*line)));
    /// let mut stored = 0;
    /// for answer in store.put_batches(batches) {
    ///     stored += answer?.len();
    /// }
    /// assert_eq!(stored, 5);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::put_batch`], as the last answer.
    #[must_use = "nothing is stored until its answers are asked for"]
    pub fn put_batches<B, G>(
        &self,
        batches: impl IntoIterator<Item = B>,
    ) -> impl Iterator<Item = Result<Vec<Put>, Error>>
    where
        B: IntoIterator<Item = G>,
        G: Into<NewGrain>,
    {
        commit::put_batches(&self.0, batches)
    }

    /// Stores a grain that replaces another, and marks the other as superseded, atomically (OMS
    /// 28.4). Returns the address of the new grain.
    ///
    /// A draft is made to name the old grain in `derived_from`, or where that is a grant of consent in
    /// `prior_consent`, as [`Draft::replacing`](crate::Draft::replacing) does; a finished grain names it.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_CONFLICT` for a grain that is no longer current (ruling I17);
    /// `ERR_SCHEMA` for a finished grain that does not name the old one (ruling I5);
    /// `ERR_INVALIDATION_DENIED` where the old grain's policy forbids it (OMS 23), and the refusal
    /// is recorded; otherwise as [`Store::put`].
    pub fn supersede(
        &self,
        old: &ContentAddress,
        new: impl Into<NewGrain>,
        justification: Option<&str>,
    ) -> Result<ContentAddress, Error> {
        lineage::supersede(&self.0, old, new, justification)
    }

    /// Marks a grain as contradicted: it is contested and no longer current (OMS 28.3, ruling I1).
    /// A second contradiction changes nothing.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_INVALIDATION_DENIED` where a policy forbids it, just as it forbids a
    /// supersession (OMS 23.7), and the refusal is recorded; storage errors.
    pub fn contradict<'a>(
        &self,
        address: &ContentAddress,
        justification: impl Into<Justification<'a>>,
    ) -> Result<(), Error> {
        governance::contradict(&self.0, address, justification)
    }

    /// Records how far a grain has been verified (OMS 6.1). Recording the same again changes
    /// nothing.
    ///
    /// Contested and retracted count against a grain, so its policy decides (OMS 23.1). A retracted
    /// grain has ended: it is no longer current, and answers leave it out unless asked (ruling P18).
    ///
    /// # Errors
    /// As [`Store::contradict`].
    pub fn set_verification<'a>(
        &self,
        address: &ContentAddress,
        verification: Verification,
        justification: impl Into<Justification<'a>>,
    ) -> Result<(), Error> {
        governance::set_verification(&self.0, address, verification, justification)
    }

    /// Stores the records of a file. Importing the same file again changes nothing.
    ///
    /// Grains and the file's statements about them are stored together, a thousand records at a
    /// time. A status is applied to grains that this import inserts. For grains that are stored already
    /// the store's own status takes precedence (ruling I18), unless the file is a copy of the owner's
    /// own ([`ImportFile::is_own`]): then what ended there ends here as far as policy permits. A caller that wants all records
    /// or none checks [`ImportFile::errors`] first.
    ///
    /// A record that changed since an earlier import replaces its earlier grain, if it is newer and
    /// policy permits it (OMS 23). If nothing decides between the two, they are a [`Conflict`](crate::store::Conflict). The
    /// new grain is derived from the one it replaces and depends only on the record and the grains
    /// it names, so the order of the files decides and not the time of import.
    ///
    /// ```
    /// use grainstore::interchange::{ReadOptions, ImportFile};
    /// use grainstore::{Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("memory.jsonl");
    /// # std::fs::write(&path, "{\"type\":\"event\",\"content\":\"hi\",\"created_at\":1}\n").unwrap();
    /// let summary = store.import(ImportFile::open(&path, None, &ReadOptions::default())?)?;
    /// assert_eq!((summary.inserted, summary.is_complete()), (1, true));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// A narrowed handle imports its own records: each passes the rules of a put by that handle, and
    /// replaces only what the handle sees and may change. The owner's file may name other authors.
    ///
    /// # Errors
    /// Storage errors. Records that cannot be stored are in the summary.
    #[cfg(feature = "interchange")]
    pub fn import(&self, reading: ImportFile) -> Result<Summary, Error> {
        import::import(&self.0, reading)
    }

    /// Imports as [`Store::import`] does, and reports the number of
    /// finished records after each batch.
    ///
    /// # Errors
    /// As [`Store::import`].
    #[cfg(feature = "interchange")]
    pub fn import_with(
        &self,
        reading: ImportFile,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Summary, Error> {
        import::import_with(&self.0, reading, progress)
    }

    /// Hands a task to another agent: a snapshot of the conversation, the Goal that delegates it
    /// within the handle's namespace without further delegation, and the Event that records it.
    /// They are stored together or not at all (OMS 6.11, 28.6, 28.7).
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a handle without an author; as [`Store::put`].
    pub fn hand_off(&self, to: &Did, handoff: &Handoff) -> Result<HandedOff, Error> {
        governance::hand_off(&self.0, to, handoff)
    }

    /// Takes a handoff over: returns the grains it names as context, as far as this handle sees
    /// them and their consents permit it, in their order.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND` for a delegation it does not see; `ERR_ACCESS_DENIED` for one that is not to
    /// its author or not in force; the refusal is recorded.
    pub fn take_over(&self, delegation: &ContentAddress) -> Result<Vec<Grain>, Error> {
        governance::take_over(&self.0, delegation)
    }

    /// Hands a task back: a Goal that is satisfied and derived from the delegation, which ends with
    /// it (OMS 28.7). Returns that Goal, and the agent to which control returns.
    ///
    /// # Errors
    /// As [`Store::take_over`] and [`Store::put`].
    pub fn hand_back(
        &self,
        delegation: &ContentAddress,
        outcome: &str,
    ) -> Result<(ContentAddress, Option<String>), Error> {
        governance::hand_back(&self.0, delegation, outcome)
    }

    /// Returns a message and those before it in its conversation, oldest first, as far as they are
    /// stored and their consents permit it (OMS 28.6).
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let asked = store.put(Draft::event("how are you?").session("s1"))?;
    /// let answer = Draft::event("well").session("s1").set("parent_message_id", asked);
    /// let thread = store.thread(&store.put(answer)?)?;
    /// assert_eq!(thread[0].text("content"), Some("how are you?"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn thread(&self, message: &ContentAddress) -> Result<Vec<Grain>, Error> {
        governance::thread(&self.0, message)
    }

    /// Stores vectors that a model made of grains, each in place of an earlier one of that model: all
    /// of them, or none if one is refused. A vector is a ledger entry, goes into backups, and is
    /// deleted with its grain.
    ///
    /// The store has no model: a caller that searches brings a vector of the same model.
    ///
    /// ```
    /// use grainstore::store::Embedding;
    /// use grainstore::{Draft, Options, Search, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let tea = store.put(Draft::event("she likes tea"))?;
    /// let sea = store.put(Draft::event("she lives by the sea"))?;
    /// store.put_embeddings(&[Embedding::new(tea, "tiny", &[0.9, 0.1])])?;
    /// store.put_embeddings(&[Embedding::new(sea, "tiny", &[0.2, 0.8])])?;
    /// let near = store.find(&Search::near("tiny", &[1.0, 0.0]).limit(1))?;
    /// assert_eq!(near.results[0].address, tea);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, also for a grain that the handle does not see; `ERR_ACCESS_DENIED` through
    /// a reader's handle; `ERR_EMBEDDING` for a vector that is empty, too long, not finite, without
    /// a direction, or of another length than the model's others, and for a model without a name;
    /// storage errors.
    pub fn put_embeddings(&self, embeddings: &[Embedding]) -> Result<(), Error> {
        read::put_embeddings(&self.0, embeddings)
    }
}
