//! Checkpoints and receipts: signed statements of what the ledger is, and of a grain in it.

use sha2::{Digest, Sha256};

use crate::codec::ContentAddress;
use crate::crypto::{self, Checkpoint, Did, Receipt, Resolver, Signer, SigningKey};
use crate::grain::Time;
use crate::ledger::{Kind, LedgerVerification, TreeHead};

use super::check::{Report, Severity};
use crate::store::instance::Inner;
use crate::store::records::{CheckpointRecord, Frame, Record};
use crate::store::{Error, Maintenance};

/// What became of a checkpoint that was held against a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What it says.
    pub checkpoint: Checkpoint,
    /// Who says so; whether to believe him is for the caller.
    pub signer: Signer,
    /// Whether the store's ledger begins with just the entries that the checkpoint is of. If not,
    /// it was put back, or its past was written anew.
    pub is_of_this_ledger: bool,
}

impl Maintenance<'_> {
    /// Signs what the ledger is now, writes it into the ledger, and returns the message: for
    /// somebody else to keep. Every byte of the ledger is read and proven first; writing goes on
    /// meanwhile.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a ledger that is not as it was written; `ERR_KEY`; storage errors.
    pub fn checkpoint(self, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
        let inner = self.inner();
        let found = inner.ledger().verify()?;
        let (Some(end), []) = (found.tree_heads.last(), found.findings.as_slice()) else {
            let reason = "it is not signed; a check says what is wrong";
            return Err(Error::damaged("the ledger", reason));
        };
        // What is signed must not be lost afterwards: all that was read is durable now.
        inner.ledger().sync()?;
        let mut writer = inner.exclusive();
        let checkpoint = Checkpoint {
            store: inner.store_id(),
            entries: end.entries,
            head: end.head,
            root: end.root,
            time: inner.entry_time(),
            previous: inner.last_checkpoint()?.map(|message| hash(&message)),
        };
        let message = checkpoint.sign(key, did)?;
        let record = Record::Checkpoint(CheckpointRecord {
            message: message.clone(),
        });
        let frame = Frame::of(None, &record)?;
        inner.commit(&mut writer, &frame)?;
        Ok(message)
    }

    /// Holds a checkpoint against this store: reads and proves its ledger.
    ///
    /// # Errors
    /// `ERR_SIGNATURE`, `ERR_CORRUPT` and the like for a message that is none; `ERR_STORAGE_IO`.
    pub fn verify_checkpoint(self, message: &[u8]) -> Result<Checked, Error> {
        let inner = self.inner();
        let (checkpoint, signer) = Checkpoint::open(message, inner.resolver())?;
        let found = inner.ledger().verify_at(&[checkpoint.entries])?;
        let is_sound = found.findings.is_empty();
        Ok(Checked {
            is_of_this_ledger: is_sound && inner.agrees(&checkpoint, &found),
            checkpoint,
            signer,
        })
    }

    /// Returns the checkpoints that were written into the ledger, oldest first.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn checkpoints(self) -> Result<Vec<Vec<u8>>, Error> {
        self.inner().checkpoints()
    }

    /// Signs that a grain is in the store: its address, where in the ledger it is, and since when.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_KEY`; storage errors.
    pub fn receipt(
        self,
        address: &ContentAddress,
        key: &SigningKey,
        did: &Did,
    ) -> Result<Vec<u8>, Error> {
        let inner = self.inner();
        let sequence = inner.row_of(&self.store().snapshot(), address)?;
        let header = inner.ledger().read(sequence)?.header;
        // A receipt for what a crash could still take would be a lie.
        inner.ledger().sync()?;
        let receipt = Receipt {
            store: inner.store_id(),
            grain: *address,
            sequence,
            time: Time::from_ms(header.time_ms),
        };
        Ok(receipt.sign(key, did)?)
    }
}

impl Inner {
    fn checkpoints(&self) -> Result<Vec<Vec<u8>>, Error> {
        let rows = self.snapshot().of_kind(Kind::Checkpoint).rows()?;
        let message = |row| match self.record_at(row)? {
            Record::Checkpoint(checkpoint) => Ok(checkpoint.message),
            _ => Err(Error::damaged(format!("entry {row}"), "not a checkpoint")),
        };
        rows.iter().map(message).collect()
    }

    fn last_checkpoint(&self) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.checkpoints()?.pop())
    }

    fn agrees(&self, checkpoint: &Checkpoint, found: &LedgerVerification) -> bool {
        let expected = TreeHead {
            entries: checkpoint.entries,
            head: checkpoint.head,
            root: checkpoint.root,
        };
        checkpoint.store == self.store_id() && found.tree_heads.contains(&expected)
    }

    /// Returns where the checkpoints of this store say what its ledger was.
    pub(crate) fn checkpointed(&self) -> Vec<u64> {
        let resolver = self.resolver();
        let messages = self.checkpoints().unwrap_or_default().into_iter();
        let opened = messages.filter_map(|message| open(&message, resolver).ok().flatten());
        opened.map(|checkpoint| checkpoint.entries).collect()
    }

    /// Holds every checkpoint against the ledger it is in, and against the one before it.
    pub(crate) fn check_checkpoints(
        &self,
        found: &LedgerVerification,
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut previous: Option<[u8; 32]> = None;
        for message in self.checkpoints()? {
            let complaint = match open(&message, self.resolver()) {
                Ok(None) => None,
                Ok(Some(checkpoint)) if !self.agrees(&checkpoint, found) => {
                    Some("is of another ledger".to_owned())
                }
                Ok(Some(checkpoint)) if checkpoint.previous != previous => {
                    Some("does not follow the one before".to_owned())
                }
                Ok(Some(_)) => None,
                Err(error) => Some(error.to_string()),
            };
            if let Some(complaint) = complaint {
                let message = format!("a checkpoint {complaint}");
                report.find("checkpoint-differs", Severity::Damage, message);
            }
            previous = Some(hash(&message));
        }
        Ok(())
    }
}

/// Opens a checkpoint; none whose signer cannot be asked here.
fn open(message: &[u8], resolver: &dyn Resolver) -> Result<Option<Checkpoint>, crypto::Error> {
    match Checkpoint::open(message, resolver) {
        Ok((checkpoint, _)) => Ok(Some(checkpoint)),
        Err(crypto::Error::Unresolved { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn hash(message: &[u8]) -> [u8; 32] {
    Sha256::digest(message).into()
}
