//! The notes of a store's ledger, the proofs between them, and whether the ledger agrees with one.

use crate::crypto::Note;
use crate::ledger::{EntryId, TreeView};
use crate::store::engine::{Engine, note, with_tree};
use crate::store::{Access, Error};

use super::InclusionProof;

/// The audit trail of a store: see [`Maintenance::audit`](crate::Maintenance::audit).
///
/// ```
/// use grainstore::store::AuditFilter;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("hello"))?;
/// let audit = store.maintenance()?.audit();
/// let monday = audit.head()?; // to be signed, and kept elsewhere
/// store.put(Draft::event("hello again"))?;
/// assert!(audit.extends(&monday)?);
///
/// let life = AuditFilter { address: Some(address), ..AuditFilter::default() };
/// let entries = audit.log(&life, None, 10)?;
/// assert_eq!((entries.len(), entries[0].operation), (1, "store"));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Audit<'a>(&'a Access);

/// See [`Maintenance::audit`](crate::Maintenance::audit).
pub(crate) const fn audit<'a>(store: &'a Access) -> Audit<'a> {
    Audit(store)
}

impl<'a> Audit<'a> {
    pub(in crate::store) fn engine(self) -> &'a Engine {
        self.0.engine()
    }

    /// Returns the note of all entries, without a signature; they are durable.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a ledger that is not the one this process knows; storage errors.
    pub fn head(self) -> Result<Note, Error> {
        self.engine().sync()?;
        note(self.engine(), None)
    }

    /// Returns the note of the first entries, without a signature.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end; as [`Audit::head`].
    pub fn head_after(self, entries: u64) -> Result<Note, Error> {
        note(self.engine(), Some(entries))
    }

    /// Proves an entry under the root of the first `entries`. Of an erased entry too: the proof is
    /// of its header, which stays.
    ///
    /// # Errors
    /// `ERR_RANGE` for an entry that is not among them; as [`Audit::head`].
    pub fn prove(self, entry: EntryId, entries: u64) -> Result<InclusionProof, Error> {
        inclusion_proof(self.engine(), entry, entries)
    }

    /// Returns the hashes that prove that the first `second` entries begin with the first `first`,
    /// for [`verify_consistency`](crate::ledger::verify_consistency).
    ///
    /// # Errors
    /// `ERR_RANGE` if `first` is 0 or more than `second`; as [`Audit::head`].
    pub fn prove_growth(self, first: u64, second: u64) -> Result<Vec<[u8; 32]>, Error> {
        let prove = |view: &mut TreeView<'_>| view.consistency(first, second);
        with_tree(self.engine(), prove)
    }

    /// Returns whether the ledger begins with the entries of a note, none changed, missing or
    /// moved. The signatures of the note are for the caller to verify.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn extends(self, note: &Note) -> Result<bool, Error> {
        extends(self.engine(), note)
    }
}

/// Returns the store if its ledger extends the note that the options pin it to.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` if it does not; storage errors.
pub(crate) fn anchored(store: Access) -> Result<Access, Error> {
    match &store.engine.options().since {
        Some(note) if !extends(&store.engine, note)? => Err(Error::damaged(
            "the ledger",
            "it does not begin with the entries of the checkpoint that it is pinned to: it was \
             rolled back, or its past was rewritten",
        )),
        _ => Ok(store),
    }
}

/// Proves an entry under the root of the first `entries`.
///
/// # Errors
/// As [`Audit::prove`].
pub(crate) fn inclusion_proof(
    engine: &Engine,
    entry: EntryId,
    entries: u64,
) -> Result<InclusionProof, Error> {
    let (before, path) = with_tree(engine, |view| view.inclusion(entry.get(), entries))?;
    Ok(InclusionProof {
        header: engine.ledger().header(entry)?,
        before,
        entries,
        path,
    })
}

/// Returns whether the ledger begins with the entries of a note.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
pub(crate) fn extends(engine: &Engine, note: &Note) -> Result<bool, Error> {
    if note.store() != engine.store_id() || note.entries() > engine.ledger().len() {
        return Ok(false);
    }
    let root = with_tree(engine, |view| view.root(note.entries()))?;
    Ok(root == note.root())
}
