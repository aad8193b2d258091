//! Checkpoints, the signed statements about the head of the ledger: verified and compared with it.

use sha2::{Digest, Sha256};

use crate::crypto::{self, Checkpoint, Resolver, Signer};
use crate::ledger::{Kind, LedgerVerification, TreeHead, verify_at};

use super::report::{Report, Severity};
use crate::store::engine::Engine;
use crate::store::records::Record;
use crate::store::{Access, Error};

/// The result of verifying a checkpoint against a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The content of the checkpoint.
    pub checkpoint: Checkpoint,
    /// The signer; the caller decides whether to trust it.
    pub signer: Signer,
    /// Whether the store's ledger begins with exactly the entries of the checkpoint. If not, it was
    /// rolled back, or its history was rewritten.
    pub is_of_this_ledger: bool,
}

/// See [`Maintenance::verify_checkpoint`](crate::Maintenance::verify_checkpoint).
pub(crate) fn verify_checkpoint(store: &Access, message: &[u8]) -> Result<Checked, Error> {
    let engine = store.engine();
    let (checkpoint, signer) = Checkpoint::open(message, engine.resolver())?;
    let found = verify_at(engine.ledger(), &[checkpoint.entries])?;
    let is_sound = found.findings.is_empty();
    Ok(Checked {
        is_of_this_ledger: is_sound && agrees(engine, &checkpoint, &found),
        checkpoint,
        signer,
    })
}

/// See [`Maintenance::checkpoints`](crate::Maintenance::checkpoints).
pub(crate) fn checkpoints(store: &Access) -> Result<Vec<Vec<u8>>, Error> {
    checkpoints_in(store.engine())
}

pub(super) fn checkpoints_in(engine: &Engine) -> Result<Vec<Vec<u8>>, Error> {
    let rows = engine.snapshot().of_kind(Kind::Checkpoint).rows()?;
    let message = |row| match engine.record_at(row)? {
        Record::Checkpoint(checkpoint) => Ok(checkpoint.message),
        _ => Err(Error::damaged(format!("entry {row}"), "not a checkpoint")),
    };
    rows.iter().map(message).collect()
}

fn agrees(engine: &Engine, checkpoint: &Checkpoint, found: &LedgerVerification) -> bool {
    let expected = TreeHead {
        entries: checkpoint.entries,
        head: checkpoint.head,
        root: checkpoint.root,
    };
    checkpoint.store == engine.store_id() && found.tree_heads.contains(&expected)
}

/// Returns the lengths of the ledger that the checkpoints of this store state.
pub(crate) fn checkpointed(engine: &Engine) -> Vec<u64> {
    let resolver = engine.resolver();
    let messages = checkpoints_in(engine).unwrap_or_default().into_iter();
    let opened = messages.filter_map(|message| open(&message, resolver).ok().flatten());
    opened.map(|checkpoint| checkpoint.entries).collect()
}

/// Verifies every checkpoint against its ledger, and against the one before it.
pub(crate) fn check_checkpoints(
    engine: &Engine,
    found: &LedgerVerification,
    report: &mut Report,
) -> Result<(), Error> {
    let mut previous: Option<[u8; 32]> = None;
    let mut unknown = 0_u64;
    for message in checkpoints_in(engine)? {
        let complaint = match open(&message, engine.resolver()) {
            Ok(None) => {
                unknown += 1;
                None
            }
            Ok(Some(checkpoint)) if !agrees(engine, &checkpoint, found) => {
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
    if unknown > 0 {
        let message = format!(
            "the key of the signer of {unknown} checkpoints cannot be resolved here: they prove \
             nothing (`--did-document` names a key)"
        );
        report.find("checkpoint-unverified", Severity::Warning, message);
    }
    Ok(())
}

/// Opens a checkpoint; `None` if the key of its signer cannot be resolved here.
fn open(message: &[u8], resolver: &dyn Resolver) -> Result<Option<Checkpoint>, crypto::Error> {
    match Checkpoint::open(message, resolver) {
        Ok((checkpoint, _)) => Ok(Some(checkpoint)),
        Err(crypto::Error::Unresolved { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn hash(message: &[u8]) -> [u8; 32] {
    Sha256::digest(message).into()
}
