//! The records of a file, confined to those that the token might have put.
//!
//! A file may have a great many, so that they are read from it again each time and never all in memory:
//! what is kept of each is its address.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use grainstore::codec::{Profile, Value as Field};
use grainstore::crypto::Did;
use grainstore::interchange::{ForeignId, Format, ImportFile, Record};
use grainstore::policy::{Capability, Rule};
use grainstore::{ContentAddress, Draft, ErrorCode, Grain, Type};

use crate::http::failure::Failure;
use crate::http::idempotency::digest;
use crate::http::token_scope::{TokenScope, outside};

/// Returns a file with the records that the token may store, and how many vectors were left out.
///
/// Ids of foreign records are unique inside a file's owner or producer, and not among tenants: each
/// tenant gets ids of its own, so that none updates, or learns of, a record of another.
///
/// # Errors
/// `ERR_ACCESS_DENIED` for a record outside the scope, `ERR_NOT_FOUND` for one that links outside;
/// `ERR_TOO_LARGE` for too many.
pub(super) fn confine(scope: &TokenScope, file: ImportFile) -> Result<(ImportFile, u64), Failure> {
    let mut file = file;
    if file.records.len() > RECORDS_MAX {
        let message = format!("a file has up to {RECORDS_MAX} records");
        return Err(Failure::new(413, "ERR_TOO_LARGE", message));
    }
    if file.format == Format::Jsonl {
        written_by(&scope.holder.actor, &mut file)?;
    }
    let mut addresses = HashSet::new();
    let mut index = 0;
    file.records.look(|record| {
        addresses.insert(record.grain.address());
        admit_author(scope, &record.grain).map_err(|it| it.at(index))?;
        index += 1;
        Ok::<(), Failure>(())
    })?;
    if !scope.holder.grant.is_confined() {
        return Ok((file, 0));
    }
    let capability = scope.importing();
    let mut index = 0;
    file.records.look(|record| {
        admit(scope, &capability, record, &addresses).map_err(|it| it.at(index))?;
        index += 1;
        Ok::<(), Failure>(())
    })?;
    let grant = &scope.holder.grant;
    let names = format!("{:?} {:?}", grant.user, grant.namespaces);
    let names = digest(&[names.as_bytes()]);
    let tenant: Arc<str> = HEXLOWER
        .encode(names.first_chunk::<16>().unwrap_or(&[0; 16]))
        .into();
    let dropped = file.vectors.len();
    let of_records = Arc::clone(&tenant);
    let records = file.records.map(move || {
        let tenant = Arc::clone(&of_records);
        move |mut record: Record| {
            record.foreign_id = record.foreign_id.take().map(|id| own(&id, &tenant));
            record.replaced_by = record.replaced_by.take().map(|id| own(&id, &tenant));
            record
        }
    });
    let confined = ImportFile {
        records,
        base: file.base.as_ref().map(|id| own(id, &tenant)),
        errors: file.errors,
        findings: file.findings,
        loss: file.loss,
        signature: file.signature,
        footer: file.footer,
        ..ImportFile::new(file.format)
    };
    Ok((confined, dropped))
}

/// Returns the id that a foreign record has for a tenant.
fn own(id: &ForeignId, tenant: &str) -> ForeignId {
    let scope = format!("{} of {tenant}", id.scope());
    ForeignId::new(id.format().to_owned(), scope, id.id())
}

/// Judges whether a record may be stored, beside the others of its file.
fn admit(
    scope: &TokenScope,
    capability: &Capability,
    record: &Record,
    beside: &HashSet<ContentAddress>,
) -> Result<(), Failure> {
    let grain = &record.grain;
    // An encrypted grain does not say whose it is.
    let is_outside = match capability.authorize_put(grain) {
        Err(Rule::Namespace | Rule::User) => true,
        _ => grain.is_encrypted(),
    };
    if is_outside {
        return Err(outside());
    }
    for link in grain.named() {
        if !beside.contains(&link) && !scope.sees(&link)? {
            return Err(Failure::unseen(&link));
        }
    }
    match record.status.superseded_by {
        Some(by) if !beside.contains(&by) && !scope.sees(&by)? => Err(Failure::unseen(&by)),
        _ => Ok(()),
    }
}

/// Judges whose grain a record is: an unsigned one in another's name is not theirs to bring, and a consent
/// is given and withdrawn by a party to it.
///
/// # Errors
/// `ERR_ACCESS_DENIED`.
fn admit_author(scope: &TokenScope, grain: &Grain) -> Result<(), Failure> {
    let author = grain.text("author_did");
    let is_own = author == Some(scope.holder.actor.as_str());
    let is_admitted = match grain.type_() {
        _ if grain.is_signed() || is_own => true,
        Type::Consent => false,
        _ => author.is_none(),
    };
    match is_admitted {
        true => Ok(()),
        false => Err(Failure::of(
            ErrorCode::AccessDenied,
            "a record in the name of another than the actor of the token",
        )),
    }
}

/// A grain that got an author, by the place of its record and its new address.
type Renamed = HashMap<ContentAddress, (usize, ContentAddress)>;

/// Gives records without an author the actor of the token, as a put does, and links to records before
/// them their new addresses.
///
/// # Errors
/// The codes of grains.
fn written_by(actor: &Did, file: &mut ImportFile) -> Result<(), Failure> {
    let mut renamed = Renamed::new();
    let mut index = 0;
    file.records.look(|record| {
        if let Some(new) = with_author(&record.grain, actor, index, &renamed)? {
            renamed.insert(record.grain.address(), (index, new.address()));
        }
        index += 1;
        Ok::<(), Failure>(())
    })?;
    let (renamed, actor) = (Arc::new(renamed), actor.clone());
    let records = std::mem::take(&mut file.records);
    file.records = records.map(move || {
        let (renamed, actor, mut index) = (Arc::clone(&renamed), actor.clone(), 0);
        move |mut record: Record| {
            // It could be made before, and is the same now.
            if let Ok(Some(new)) = with_author(&record.grain, &actor, index, &renamed) {
                record.grain = new;
            }
            let successor = &mut record.status.superseded_by;
            *successor = successor.map(|by| renamed.get(&by).map_or(by, |(_, new)| *new));
            index += 1;
            record
        }
    });
    Ok(())
}

/// Returns a grain with an author; `None` for one that has one, or whose bytes are sealed by another.
fn with_author(
    grain: &Grain,
    actor: &Did,
    index: usize,
    renamed: &Renamed,
) -> Result<Option<Grain>, Failure> {
    if grain.is_signed() || grain.is_encrypted() || grain.text("author_did").is_some() {
        return Ok(None);
    }
    let draft = Draft::new(grain.type_()).encoding(grain.encoding());
    let draft = grain.fields().iter().fold(draft, |draft, (name, value)| {
        draft.set(name, with_addresses(value, index, renamed))
    });
    Ok(Some(
        draft.author(actor.as_str()).finish(Profile::Extended)?,
    ))
}

fn with_addresses(value: &Field, index: usize, renamed: &Renamed) -> Field {
    match value {
        Field::Text(text) => {
            let known = ContentAddress::from_reference(text).ok();
            let new = known.and_then(|known| Some((known, renamed.get(&known)?)));
            match new {
                Some((known, (at, new))) if *at < index => {
                    Field::Text(text.replace(&known.to_string(), &new.to_string()))
                }
                _ => value.clone(),
            }
        }
        Field::Array(items) => {
            let items = items.iter();
            let items = items.map(|item| with_addresses(item, index, renamed));
            Field::Array(items.collect())
        }
        Field::Map(map) => {
            let members = map.iter();
            let members = members.map(|(name, item)| (name, with_addresses(item, index, renamed)));
            Field::Map(members.collect())
        }
        other => other.clone(),
    }
}

/// The most records of a file: the address of each is in memory until all were judged.
const RECORDS_MAX: u64 = 250_000;
