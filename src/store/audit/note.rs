//! The notes of a store's ledger, the proofs between them, and whether the ledger agrees with one.

use crate::crypto::Note;
use crate::ledger::{self, EntryId, TreeView};
use crate::store::instance::Inner;
use crate::store::{Error, Maintenance, Store};

use super::InclusionProof;

/// The audit trail of a store: see [`Maintenance::audit`].
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
pub struct Audit<'a>(Maintenance<'a>);

impl<'a> Maintenance<'a> {
    /// Returns the audit trail: the ledger, with proofs and as a log.
    pub const fn audit(self) -> Audit<'a> {
        Audit(self)
    }
}

impl<'a> Audit<'a> {
    pub(in crate::store) fn inner(self) -> &'a Inner {
        self.0.inner()
    }

    pub(in crate::store) const fn maintenance(self) -> Maintenance<'a> {
        self.0
    }

    /// Returns the note of all entries, without a signature; they are durable.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a ledger that is not the one this process knows; storage errors.
    pub fn head(self) -> Result<Note, Error> {
        self.inner().sync()?;
        note(self.inner(), None)
    }

    /// Returns the note of the first entries, without a signature.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end; as [`Audit::head`].
    pub fn head_after(self, entries: u64) -> Result<Note, Error> {
        note(self.inner(), Some(entries))
    }

    /// Proves an entry under the root of the first `entries`. Of an erased entry too: the proof is
    /// of its header, which stays.
    ///
    /// # Errors
    /// `ERR_RANGE` for an entry that is not among them; as [`Audit::head`].
    pub fn prove(self, entry: EntryId, entries: u64) -> Result<InclusionProof, Error> {
        inclusion_proof(self.inner(), entry, entries)
    }

    /// Returns the hashes that prove that the first `second` entries begin with the first `first`,
    /// for [`verify_consistency`](ledger::verify_consistency).
    ///
    /// # Errors
    /// `ERR_RANGE` if `first` is 0 or more than `second`; as [`Audit::head`].
    pub fn prove_growth(self, first: u64, second: u64) -> Result<Vec<[u8; 32]>, Error> {
        let prove = |view: &mut TreeView<'_>| view.consistency(first, second);
        with_tree(self.inner(), prove)
    }

    /// Returns whether the ledger begins with the entries of a note, none changed, missing or
    /// moved. The signatures of the note are for the caller to verify.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn extends(self, note: &Note) -> Result<bool, Error> {
        extends(self.inner(), note)
    }
}

impl Store {
    /// Returns the store if its ledger extends the note that the options pin it to.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` if it does not; storage errors.
    pub(in crate::store) fn anchored(self) -> Result<Self, Error> {
        match &self.inner.options().since {
            Some(note) if !extends(&self.inner, note)? => Err(Error::damaged(
                "the ledger",
                "it does not begin with the entries of the checkpoint that it is pinned to: it was \
                 rolled back, or its past was rewritten",
            )),
            _ => Ok(self),
        }
    }
}

/// Returns the note of the first entries, or of all.
///
/// # Errors
/// As [`Audit::head_after`].
pub(crate) fn note(inner: &Inner, entries: Option<u64>) -> Result<Note, Error> {
    let (entries, root) = with_tree(inner, |view| {
        let entries = entries.unwrap_or(view.len());
        Ok((entries, view.root(entries)?))
    })?;
    Ok(Note::new(inner.store_id(), entries, root))
}

/// Proves an entry under the root of the first `entries`.
///
/// # Errors
/// As [`Audit::prove`].
pub(crate) fn inclusion_proof(
    inner: &Inner,
    entry: EntryId,
    entries: u64,
) -> Result<InclusionProof, Error> {
    let (before, path) = with_tree(inner, |view| view.inclusion(entry.get(), entries))?;
    Ok(InclusionProof {
        header: inner.ledger().header(entry)?,
        before,
        entries,
        path,
    })
}

/// Returns whether the ledger begins with the entries of a note.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
pub(crate) fn extends(inner: &Inner, note: &Note) -> Result<bool, Error> {
    if note.store() != inner.store_id() || note.entries() > inner.ledger().len() {
        return Ok(false);
    }
    let root = with_tree(inner, |view| view.root(note.entries()))?;
    Ok(root == note.root())
}

fn with_tree<T>(
    inner: &Inner,
    ask: impl FnOnce(&mut TreeView<'_>) -> Result<T, ledger::Error>,
) -> Result<T, Error> {
    let mut history = inner.tree_history().lock();
    Ok(ask(&mut history.view(inner.ledger())?)?)
}
