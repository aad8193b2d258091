//! The parts that the writers of all formats share: their entries, their summary, and the count of
//! losses.

use std::io::Write;

use crate::codec::Value;
use crate::grain::{Grain, Status, Time};

use super::Loss;

/// The summary of a written file.
///
/// ```
/// use grainstore::interchange::Written;
///
/// assert!(Written::default().loss.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Records of the format: memories and what belongs to them.
    pub records: u64,
    /// The fields of grains that the format cannot carry.
    pub loss: Loss,
}

/// A grain to be written, with its status in the store.
pub type Entry = (Grain, Status);

/// The files of a memory as they are written: each by its path below their folder.
pub(crate) trait Files<E> {
    /// Writes one file; `write` may be called twice, and writes the same each time.
    ///
    /// # Errors
    /// Those of `write`, and of the file.
    fn write(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E>;

    /// Returns whether there may be others than the first.
    fn may_be_many(&self) -> bool;
}

impl<E, F: Files<E> + ?Sized> Files<E> for &mut F {
    fn write(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        (**self).write(path, write)
    }

    fn may_be_many(&self) -> bool {
        (**self).may_be_many()
    }
}

/// Returns the value of several texts, if all of them are equal.
///
/// # Errors
/// The values that differ.
pub(crate) fn only_one<'a>(
    texts: impl Iterator<Item = &'a str>,
) -> Result<Option<&'a str>, Vec<&'a str>> {
    let all: std::collections::BTreeSet<&str> = texts.collect();
    let mut all: Vec<_> = all.into_iter().collect();
    match all.len() {
        0 => Ok(None),
        1 => Ok(all.pop()),
        _ => Err(all),
    }
}

/// Counts the fields of a grain that a record does not say.
pub(crate) fn count_lost(grain: &Grain, said: &[&str], loss: &mut Loss) {
    let always = ["type", "created_at", "source_type"];
    for (name, value) in grain.fields().iter() {
        // The time of what happened is that of its record, or another one.
        let is_same = name == "timestamp_ms" && value.as_i64() == Some(grain.created_at().ms());
        let is_said = said.contains(&name) || always.contains(&name) || is_same;
        let is_default = name == "confidence" && value.as_f64() == Some(1.0);
        if !is_said && !is_default && *value != Value::Nil {
            loss.count(name);
        }
    }
    if grain.is_signed() {
        loss.count("signature");
    }
}

/// Returns the time of what happened (P5), where a record of that time says another one.
pub(crate) fn event_time(grain: &Grain) -> Option<Time> {
    let at = grain.field("timestamp_ms").and_then(Value::as_i64)?;
    (at != grain.created_at().ms()).then(|| Time::from_ms(at))
}

/// The name and the version of this writer.
pub(crate) const GENERATOR: &str = concat!("grainstore/", env!("CARGO_PKG_VERSION"));
