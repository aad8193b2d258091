use crate::codec::Value;
use crate::grain::{Grain, Status, Time};
use crate::policy::Purpose;

use crate::interchange::{Encryption, ExportKey, Loss, aimem, mg};

/// How grains are written to files; what a format has no use for is ignored.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// How archives are written.
    pub mg: mg::WriteOptions,
    /// What an AIMEM bundle holds; of a PAM store with `Since`, what was created, updated or ended
    /// then or later, as an incremental export.
    pub scope: aimem::Scope,
    /// Whose chunks an AIMEM bundle holds, where there are those of several producers.
    pub producer: Option<String>,
    /// Whether vectors are written: text can be guessed from them (AIMEM 5.5).
    pub with_embeddings: bool,
    /// Whether archives and JSON lines, which are backups, leave out what may not leave the store,
    /// as every other format does.
    pub shareable: bool,
    /// What it is written for; the store asks whether its grains may leave it (OMS A).
    pub purpose: Purpose,
    /// Who the files are for; without it they are in the clear, and 0600.
    pub seal: Option<Encryption>,
    /// Who vouches for a PAM store or an AIMEM bundle; the signature of a bundle stands beside it.
    pub sign: Option<ExportKey>,
    /// The export that an incremental PAM store goes on from (PAM 16).
    pub base: Option<String>,
    /// The time of the export; without one, that of the newest grain.
    pub now: Option<Time>,
}

impl WriteOptions {
    pub(in crate::interchange) fn now_for(&self, entries: &[Entry]) -> Time {
        let newest = entries.iter().map(|(grain, _)| grain.created_at()).max();
        self.now.or(newest).unwrap_or_default()
    }
}

/// What was written.
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
    /// What grains say and the format cannot carry.
    pub loss: Loss,
}

/// A grain to be written, with what the store says about it.
pub type Entry = (Grain, Status);

/// Returns the time as RFC 3339, or the beginning of 1970 for one that no calendar has; whole
/// seconds without a fraction.
pub(in crate::interchange) fn to_rfc3339(time: Time) -> String {
    let text = time.to_string();
    let is_year = text.len() == "1970-01-01T00:00:00.000Z".len();
    match text.strip_suffix(".000Z") {
        Some(whole) if is_year => format!("{whole}Z"),
        _ if is_year => text,
        _ => "1970-01-01T00:00:00Z".to_owned(),
    }
}

/// Returns the one value of a text, if all that have one agree.
///
/// # Errors
/// The values that differ.
pub(in crate::interchange) fn only_one<'a>(
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
pub(in crate::interchange) fn count_lost(grain: &Grain, said: &[&str], loss: &mut Loss) {
    let always = ["type", "created_at", "timestamp_ms", "source_type"];
    for (name, value) in grain.fields().iter() {
        let is_said = said.contains(&name) || always.contains(&name);
        let is_default = name == "confidence" && value.as_f64() == Some(1.0);
        if !is_said && !is_default && *value != Value::Nil {
            loss.count(name);
        }
    }
    if grain.is_signed() {
        loss.count("signature");
    }
}

/// The name and the version of what writes.
pub(in crate::interchange) const GENERATOR: &str =
    concat!("grainstore/", env!("CARGO_PKG_VERSION"));
