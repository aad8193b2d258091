//! The parts of a copy as a tree: when 32 parts of one level stand at the end, a list takes their
//! place. So a manifest stays short however long a store is written.

use std::collections::BTreeSet;

use crate::bucket::Bucket;
use crate::manifest::{Part, list_name};
use crate::{Error, Hash};

/// Puts lists in the place of the parts that fill one; returns the bytes that were written.
pub(crate) async fn fold(bucket: &Bucket, parts: &mut Vec<Part>) -> Result<u64, Error> {
    let mut written = 0;
    while let Some((level, from)) = full(parts) {
        let list = parts.get(from..).unwrap_or_default();
        let (part, bytes) = put_list(bucket, level, list).await?;
        written += bytes;
        // Only now: after an error the parts are what they were.
        parts.truncate(from);
        parts.extend(part);
    }
    Ok(written)
}

/// Returns the level of the last parts, and where they begin, if they are as many as a list has.
fn full(parts: &[Part]) -> Option<(u8, usize)> {
    let level = parts.last()?.level;
    let others = parts.iter().rposition(|part| part.level != level);
    let from = others.map_or(0, |other| other + 1);
    (parts.len() - from >= FANOUT).then_some((level, from))
}

async fn put_list(bucket: &Bucket, level: u8, list: &[Part]) -> Result<(Option<Part>, u64), Error> {
    let bytes = serde_json::to_vec(list).expect("numbers and texts are JSON");
    let hash = Hash::of(&bytes);
    let written = bytes.len() as u64;
    bucket.put(&list_name(&hash), bytes).await?;
    let part = list.first().zip(list.last()).map(|(first, last)| Part {
        level: level.saturating_add(1),
        hash,
        first: first.first,
        end: last.end,
        segment: first.segment,
        offset: first.offset,
        bytes: list.iter().map(|part| part.bytes).sum(),
    });
    Ok((part, written))
}

/// Reads a list of parts.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` if it is not there, or its parts are not those that it stands for.
async fn read_list(bucket: &Bucket, part: &Part) -> Result<Vec<Part>, Error> {
    let name = part.name();
    let lost = || Error::Lost {
        name: name.clone(),
        count: 1,
    };
    let bytes = bucket.get(&name, &part.hash, LIST_MAX).await?;
    let read = serde_json::from_slice(&bytes.ok_or_else(lost)?);
    let list: Vec<Part> = read.map_err(|error| Error::damaged(&name, &error))?;
    // Each level is one less, so a chain of lists ends.
    match list
        .iter()
        .all(|inner| inner.level.checked_add(1) == Some(part.level))
    {
        true => Ok(list),
        false => Err(Error::damaged(&name, &"a part is of another level")),
    }
}

/// Returns the objects with frames that end behind an entry, in order.
pub(crate) async fn behind(
    bucket: &Bucket,
    parts: &[Part],
    entries: u64,
) -> Result<Vec<Part>, Error> {
    let mut open: Vec<Part> = parts.iter().rev().copied().collect();
    let mut found = Vec::new();
    while let Some(part) = open.pop() {
        match part.level {
            _ if part.end <= entries => {}
            0 => found.push(part),
            _ => open.extend(read_list(bucket, &part).await?.into_iter().rev()),
        }
    }
    Ok(found)
}

/// Returns the objects that hold some entries, in order.
pub(crate) async fn holding(
    bucket: &Bucket,
    parts: &[Part],
    entries: &BTreeSet<u64>,
) -> Result<Vec<Part>, Error> {
    let mut open: Vec<Part> = parts.iter().rev().copied().collect();
    let mut found = Vec::new();
    while let Some(part) = open.pop() {
        let is_inside = entries.range(part.first..part.end).next().is_some();
        match part.level {
            _ if !is_inside => {}
            0 => found.push(part),
            _ => open.extend(read_list(bucket, &part).await?.into_iter().rev()),
        }
    }
    Ok(found)
}

/// Returns the names of all objects and lists.
pub(crate) async fn names(bucket: &Bucket, parts: &[Part]) -> Result<BTreeSet<String>, Error> {
    let mut open = parts.to_vec();
    let mut names = BTreeSet::new();
    while let Some(part) = open.pop() {
        names.insert(part.name());
        if part.level > 0 {
            open.extend(read_list(bucket, &part).await?);
        }
    }
    Ok(names)
}

/// Puts other objects in the place of some that have the same first entries, and writes the lists
/// that they are in.
pub(crate) async fn replace(
    bucket: &Bucket,
    parts: &mut [Part],
    replaced: &[Part],
) -> Result<(), Error> {
    for part in parts {
        let inside = |new: &&Part| part.first <= new.first && new.end <= part.end;
        let new: Vec<Part> = replaced.iter().filter(inside).copied().collect();
        match (part.level, new.first()) {
            (_, None) => {}
            (0, Some(new)) => *part = *new,
            (level, Some(_)) => {
                let mut list = read_list(bucket, part).await?;
                Box::pin(replace(bucket, &mut list, &new)).await?;
                let (new, _) = put_list(bucket, level.saturating_sub(1), &list).await?;
                *part = new.unwrap_or(*part);
            }
        }
    }
    Ok(())
}

const FANOUT: usize = 32;
/// 32 parts of some 250 bytes, with room for a larger list of a later version.
const LIST_MAX: u64 = 1 << 20;
