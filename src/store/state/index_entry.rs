//! The index as a fold: the keys of one entry.

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::Batch;
use crate::ledger::{EntryId, Kind};
use crate::store::Error;
use crate::store::records::{Record, SealedCard};

use super::{Body, Entry};

/// Finds the row of a grain that an entry names.
pub(crate) type Resolve<'a> =
    dyn FnMut(&Batch, &ContentAddress) -> Result<Option<EntryId>, Error> + 'a;

/// Adds the keys of an entry's card to a batch: what is known of a sealed entry without a key.
///
/// # Errors
/// As `resolve`.
pub(crate) fn index_card(
    batch: &mut Batch,
    row: EntryId,
    time: Time,
    card: &SealedCard,
    resolve: &mut Resolve<'_>,
) -> Result<(), Error> {
    batch.sealed(row, &card.uid, card.tokens.iter());
    batch.sealed_statement(row, &card.tokens.statement);
    if let Some(ended) = &card.ended {
        let target = resolve(batch, &ended.address)?;
        batch.ended(row, target, ended.end.unwrap_or(time));
    }
    Ok(())
}

/// Adds the keys of an entry to a batch; of a locked one, those of its card.
///
/// # Errors
/// As `resolve`.
pub(crate) fn index_entry(
    batch: &mut Batch,
    entry: &Entry<'_>,
    resolve: &mut Resolve<'_>,
) -> Result<(), Error> {
    let (row, time) = (entry.row, entry.time.ms());
    let record = match entry.body {
        Body::Grain(grain) => {
            batch.grain(row, grain, time);
            if let Some(address) = &entry.ciphertext {
                batch.mention(row, address);
            }
            return Ok(());
        }
        Body::Record(record) => record,
        Body::Damaged => {
            batch.kind(row, Kind::Grain);
            return Ok(());
        }
        Body::Locked => {
            return match entry.card {
                Some(card) => index_card(batch, row, entry.time, card, resolve),
                None => Ok(()),
            };
        }
    };
    match record {
        Record::Status(status) => {
            let target = resolve(batch, &status.of)?;
            batch.status(row, time, &status.of, target, &status.change);
            if let Some(erased) = status.replaces {
                batch.fallback(row, erased);
            }
            return Ok(());
        }
        Record::Alias(alias) => {
            batch.alias(row, &alias.of, &alias.id);
            return Ok(());
        }
        Record::Erasing(erasing) => batch.erasure(row, &erasing.rows, &erasing.tombstones),
        Record::Read(read) => batch.read(row, &read.addresses),
        Record::ConsentEffect(effect) => {
            batch.mention(row, &effect.consent);
            batch.mention(row, &effect.withdrawal);
        }
        // Entries that only later versions understand mention no grain, whatever they hold.
        Record::Unknown(Kind::Grain | Kind::SealedGrain, _) => {}
        record => {
            if let Some(address) = record.about() {
                batch.mention(row, &address);
            }
        }
    }
    batch.kind(row, record.kind());
    Ok(())
}
