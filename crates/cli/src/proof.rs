//! A proof about a ledger as a document of JSON: `audit prove` prints it, `audit verify` reads it, and so
//! does the Python package.

use grainstore::ContentAddress;
use grainstore::crypto::Note;
use grainstore::ledger::{EntryId, verify_consistency};
use grainstore::store::{Audit, AuditFilter, InclusionProof};
use serde_json::{Value, json};

use crate::hex;

/// A proof of RFC 9162 under the root of a note: of an entry, or of the growth since an earlier note. It
/// has no content, and stays valid when the content is erased.
///
/// ```
/// use grainstore::ledger::EntryId;
/// use grainstore::{Draft, Options, Store};
/// use grainstore_cli::Proof;
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("hello"))?;
/// let audit = store.maintenance()?.audit();
/// let note = audit.head()?;
/// let proof = Proof::of_entry(audit, EntryId::FIRST, &note)?;
/// let read = Proof::from_json(&proof.to_json()).unwrap();
/// assert!(read.is_in(&note) && read == proof);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    origin: String,
    entries: u64,
    root: [u8; 32],
    subject: Subject,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Entry {
        entry: u64,
        proof: InclusionProof,
    },
    Growth {
        first: u64,
        first_root: [u8; 32],
        path: Vec<[u8; 32]>,
    },
}

impl Proof {
    /// Proves an entry under the root of a note of the store.
    ///
    /// # Errors
    /// As [`Audit::prove`].
    pub fn of_entry(
        audit: Audit<'_>,
        entry: EntryId,
        note: &Note,
    ) -> Result<Self, grainstore::Error> {
        let proof = audit.prove(entry, note.entries())?;
        let entry = entry.get();
        Ok(Self::under(note, Subject::Entry { entry, proof }))
    }

    /// Proves the entry that stored a grain.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; as [`Audit::prove`] and [`Audit::log`].
    pub fn of_grain(
        audit: Audit<'_>,
        address: ContentAddress,
        note: &Note,
    ) -> Result<Self, grainstore::Error> {
        let stored = AuditFilter {
            address: Some(address),
            operation: Some("store".to_owned()),
            ..AuditFilter::default()
        };
        let found = audit.log(&stored, None, 1)?.pop();
        let found = found.ok_or(grainstore::Error::NotFound { address })?;
        Self::of_entry(audit, found.entry, note)
    }

    /// Proves that the entries of a note of the store begin with its first `first`.
    ///
    /// # Errors
    /// As [`Audit::prove_growth`].
    pub fn of_growth(audit: Audit<'_>, first: u64, note: &Note) -> Result<Self, grainstore::Error> {
        let path = audit.prove_growth(first, note.entries())?;
        let subject = Subject::Growth {
            first,
            first_root: audit.head_after(first)?.root(),
            path,
        };
        Ok(Self::under(note, subject))
    }

    fn under(note: &Note, subject: Subject) -> Self {
        Self {
            origin: note.origin().to_owned(),
            entries: note.entries(),
            root: note.root(),
            subject,
        }
    }

    /// Returns the proof as docs/format.md describes it.
    pub fn to_json(&self) -> Value {
        let hashes = |path: &[[u8; 32]]| path.iter().map(|it| hex::encode(it)).collect::<Vec<_>>();
        let mut document = json!({
            "origin": self.origin,
            "entries": self.entries,
            "root": hex::encode(&self.root),
        });
        match &self.subject {
            Subject::Entry { entry, proof } => {
                document["proof"] = INCLUSION.into();
                document["entry"] = (*entry).into();
                document["header"] = hex::encode(&proof.header).into();
                document["before"] = hex::encode(&proof.before).into();
                document["path"] = hashes(&proof.path).into();
            }
            Subject::Growth {
                first,
                first_root,
                path,
            } => {
                document["proof"] = CONSISTENCY.into();
                document["first"] = (*first).into();
                document["first_root"] = hex::encode(first_root).into();
                document["path"] = hashes(path).into();
            }
        }
        document
    }

    /// Reads a proof; `None` for any other document.
    pub fn from_json(document: &Value) -> Option<Self> {
        let entries = document["entries"].as_u64()?;
        let path = document["path"].as_array()?.iter().map(bytes);
        let path = path.collect::<Option<Vec<[u8; 32]>>>()?;
        let subject = match document["proof"].as_str()? {
            INCLUSION => Subject::Entry {
                entry: document["entry"].as_u64()?,
                proof: InclusionProof {
                    header: bytes(&document["header"])?,
                    before: bytes(&document["before"])?,
                    entries,
                    path,
                },
            },
            CONSISTENCY => Subject::Growth {
                first: document["first"].as_u64()?,
                first_root: bytes(&document["first_root"])?,
                path,
            },
            _ => return None,
        };
        Some(Self {
            origin: document["origin"].as_str()?.to_owned(),
            entries,
            root: bytes(&document["root"])?,
            subject,
        })
    }

    /// Returns the entry that it is about; `None` for a proof of growth.
    pub fn entry(&self) -> Option<EntryId> {
        match &self.subject {
            Subject::Entry { entry, .. } => Some(EntryId::new(*entry)),
            Subject::Growth { .. } => None,
        }
    }

    /// Returns the number of entries of the earlier note; `None` for a proof of an entry.
    pub fn first(&self) -> Option<u64> {
        match &self.subject {
            Subject::Entry { .. } => None,
            Subject::Growth { first, .. } => Some(*first),
        }
    }

    /// Returns the number of entries under the root.
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns whether it proves its entry under the root of a note, whose signatures are for
    /// [`Note::is_signed_by`] to verify; false for a proof of growth.
    pub fn is_in(&self, note: &Note) -> bool {
        match &self.subject {
            Subject::Entry { entry, proof } => {
                self.is_under(note) && proof.is_in(note) && proof.entry().get() == *entry
            }
            Subject::Growth { .. } => false,
        }
    }

    /// Returns whether it proves that the entries of `note` begin with those of `since`, a note of the same
    /// store; false for a proof of an entry.
    pub fn extends(&self, since: &Note, note: &Note) -> bool {
        match &self.subject {
            Subject::Growth {
                first,
                first_root,
                path,
            } => {
                let (old, root) = (since.entries(), since.root());
                let is_of_both = self.is_under(note) && *first == old && *first_root == root;
                is_of_both
                    && since.store() == note.store()
                    && verify_consistency(old, note.entries(), &root, &note.root(), path)
            }
            Subject::Entry { .. } => false,
        }
    }

    /// The proof repeats members of the note: they must be the same.
    fn is_under(&self, note: &Note) -> bool {
        self.origin == note.origin() && self.entries == note.entries() && self.root == note.root()
    }
}

fn bytes<const N: usize>(value: &Value) -> Option<[u8; N]> {
    hex::decode(value.as_str()?)?.try_into().ok()
}

const INCLUSION: &str = "inclusion";
const CONSISTENCY: &str = "consistency";
