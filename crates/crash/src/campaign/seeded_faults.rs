//! Seeded faults: a simulator that finds nothing proves nothing, so known faults are put into the
//! log or the ledger, and each must be found.
//!
//! The shipped code has no switch for them: operations are removed from the log or moved, or the
//! ledger is given what a store with the fault would have written.

use std::collections::BTreeSet;
use std::fmt;

use crate::campaign::crash_states::{each_crash, story, worked};
use crate::campaign::frames::Tail;
use crate::disk::image::{Image, is_segment};
use crate::disk::op::Op;
use crate::random::Random;
use crate::workload::oracle::Verdict;

/// A fault, as the disk would see it: the log of a sound workload in which operations are missing
/// or moved, or a ledger in which there is what a sound store would not have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeededFault {
    NoLedgerFolderSync,
    NoRootSync,
    ManifestRenamedBeforeSync,
    AcknowledgedBeforeSync,
    SyncDoesNothing,
    SegmentClosedWithoutSync,
    PackedInPlaceBeforeSync,
    BatchInParts,
    TornFrameAccepted,
    RecoveryCutsTooFar,
    LostDedupe,
    PolicySkipped,
    CurrentBeforeRunSync,
    CurrentRenamedBeforeSync,
    NoIndexFolderSync,
    WatermarkPastDurable,
    TextListedBeforeSync,
    TextListRenamedBeforeSync,
    NoTextFolderSync,
    BackupRenamedBeforeSync,
    NoBackupFolderSync,
    BackupManifestFirst,
    WithdrawalWithoutEffect,
    ReadOfAnother,
    SignatureDamaged,
}

/// The outcome of looking for a seeded fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultOutcome {
    /// The name of the fault.
    pub name: &'static str,
    /// The number of crash states it took; `None` if it was not found.
    pub states: Option<u64>,
    /// The fault as the oracle reported it, or that the store does nothing that could have it.
    pub how: String,
    /// Whether the store does what the fault is about: some are about files that it may not have.
    pub is_applicable: bool,
}

/// Seeds each fault in turn and crashes workloads until it is found; calls `tell` for each outcome.
///
/// Of several callers at once each takes every `parts`th fault, from `part` on.
pub fn seeded_faults(
    states_max: u64,
    (part, parts): (usize, usize),
    tell: &mut dyn FnMut(&FaultOutcome),
) -> Vec<FaultOutcome> {
    let faults = SeededFault::EVERY.iter().skip(part).step_by(parts);
    let found = faults.map(|fault| fault.find(states_max));
    found.inspect(|found| tell(found)).collect()
}

impl SeededFault {
    const EVERY: [Self; 25] = [
        Self::NoLedgerFolderSync,
        Self::NoRootSync,
        Self::ManifestRenamedBeforeSync,
        Self::AcknowledgedBeforeSync,
        Self::SyncDoesNothing,
        Self::SegmentClosedWithoutSync,
        Self::PackedInPlaceBeforeSync,
        Self::BatchInParts,
        Self::TornFrameAccepted,
        Self::RecoveryCutsTooFar,
        Self::LostDedupe,
        Self::PolicySkipped,
        Self::CurrentBeforeRunSync,
        Self::CurrentRenamedBeforeSync,
        Self::NoIndexFolderSync,
        Self::WatermarkPastDurable,
        Self::TextListedBeforeSync,
        Self::TextListRenamedBeforeSync,
        Self::NoTextFolderSync,
        Self::BackupRenamedBeforeSync,
        Self::NoBackupFolderSync,
        Self::BackupManifestFirst,
        Self::WithdrawalWithoutEffect,
        Self::ReadOfAnother,
        Self::SignatureDamaged,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::NoLedgerFolderSync => "the ledger's folder is not synced",
            Self::NoRootSync => "the store's folder is not synced",
            Self::ManifestRenamedBeforeSync => "MANIFEST is renamed before it is synced",
            Self::AcknowledgedBeforeSync => "acknowledged before the sync",
            Self::SyncDoesNothing => "a sync of a segment does nothing",
            Self::SegmentClosedWithoutSync => "a segment is closed without a sync",
            Self::PackedInPlaceBeforeSync => "a packed segment is in place before it is synced",
            Self::BatchInParts => "a batch is written in parts",
            Self::TornFrameAccepted => "a torn frame is accepted",
            Self::RecoveryCutsTooFar => "recovery cuts a whole frame with the torn one",
            Self::LostDedupe => "a duplicate is stored again",
            Self::PolicySkipped => "a protected grain is superseded",
            Self::CurrentBeforeRunSync => "CURRENT is published before its run is synced",
            Self::CurrentRenamedBeforeSync => "CURRENT is renamed before it is synced",
            Self::NoIndexFolderSync => "the index's folder is not synced",
            Self::WatermarkPastDurable => "the index's watermark is past the durable end",
            Self::TextListedBeforeSync => "a text segment is listed before it is synced",
            Self::TextListRenamedBeforeSync => "the list of text segments is renamed unsynced",
            Self::NoTextFolderSync => "the text view's folder is not synced",
            Self::BackupRenamedBeforeSync => "a backup's segment is renamed before it is synced",
            Self::NoBackupFolderSync => "the backup's folders are not synced",
            Self::BackupManifestFirst => "a backup's MANIFEST is written before its segments",
            Self::WithdrawalWithoutEffect => "a withdrawal is stored without its effect",
            Self::ReadOfAnother => "a recorded read says something else",
            Self::SignatureDamaged => "a signature is stored with another byte",
        }
    }

    fn find(self, states_max: u64) -> FaultOutcome {
        let mut states = 0;
        let mut is_applicable = false;
        let mut seed = 0;
        while states < states_max && seed < SEEDS_MAX {
            seed += 1;
            match self.seed(seed, states_max, &mut states, &mut is_applicable) {
                Ok(()) => {}
                Err(how) => {
                    return FaultOutcome {
                        name: self.name(),
                        states: Some(states.max(1)),
                        how,
                        is_applicable: true,
                    };
                }
            }
        }
        FaultOutcome {
            name: self.name(),
            states: None,
            how: format!("{states} crash states"),
            is_applicable,
        }
    }

    /// Crashes one workload that has the fault; an error is that it was found.
    fn seed(
        self,
        seed: u64,
        states_max: u64,
        states: &mut u64,
        is_applicable: &mut bool,
    ) -> Verdict {
        let run = worked(seed, STEPS, &|run| {
            run.batch_in_parts = self == Self::BatchInParts;
            run.is_governed = self.is_of_rules();
            if self == Self::PackedInPlaceBeforeSync {
                run.compactions = Some(Random::of(&[seed, 12]));
            }
        })?;
        let sound = run.disk.log();
        let log = self.edited(&sound);
        *is_applicable |= log != sound || self.is_tampering() || self == Self::BatchInParts;
        if log == sound && !self.is_tampering() && self != Self::BatchInParts {
            return Ok(());
        }
        let start = Image::default();
        let story = story(seed, &start, &log, &run.states);
        let mut verdict = Ok(());
        each_crash(&story, &mut |crash, disk_state| {
            *states += 1;
            // The first recovery only: the second would be of a sound store again.
            let tamper = |image: &mut Image| self.tamper(image);
            let mut random = Random::of(&[seed, 8, crash.at as u64]);
            verdict = story.survive(crash, disk_state, random.percent(10), &tamper);
            verdict.is_ok() && *states < states_max
        });
        verdict
    }

    /// Returns the log as it is with the fault.
    fn edited(self, sound: &[Op]) -> Vec<Op> {
        let mut log = sound.to_vec();
        let folder =
            |op: &Op, name: &str| matches!(op, Op::SyncFolder { folder } if folder == name);
        let synced = |op: &Op, is: &dyn Fn(&str) -> bool| op.synced().is_some_and(is);
        match self {
            Self::NoLedgerFolderSync => log.retain(|op| !folder(op, "ledger")),
            Self::NoRootSync => log.retain(|op| !folder(op, "")),
            Self::NoIndexFolderSync => log.retain(|op| !folder(op, "index")),
            Self::ManifestRenamedBeforeSync => {
                log.retain(|op| !synced(op, &|name| name.starts_with("MANIFEST")));
            }
            Self::CurrentRenamedBeforeSync => {
                log.retain(|op| !synced(op, &|name| name.starts_with("index/CURRENT")));
            }
            Self::CurrentBeforeRunSync => {
                log.retain(|op| !synced(op, &|name| name.ends_with(".run")));
            }
            Self::NoTextFolderSync => log.retain(|op| !folder(op, "text")),
            Self::TextListRenamedBeforeSync => {
                log.retain(|op| !synced(op, &|name| name.starts_with("text/meta.json")));
            }
            Self::TextListedBeforeSync => {
                let is_of_segment =
                    |name: &str| name.starts_with("text/") && !name.starts_with("text/meta.json");
                log.retain(|op| !synced(op, &is_of_segment));
            }
            Self::BackupRenamedBeforeSync => {
                log.retain(|op| !synced(op, &|name| name.starts_with("backup/ledger/")));
            }
            Self::NoBackupFolderSync => {
                log.retain(|op| !folder(op, "backup") && !folder(op, "backup/ledger"));
            }
            Self::BackupManifestFirst => write_manifest_first(&mut log),
            Self::PackedInPlaceBeforeSync => {
                log.retain(|op| !synced(op, &|name| name.ends_with(".seg.pack")));
            }
            Self::SyncDoesNothing => log.retain(|op| !synced(op, &is_segment)),
            Self::AcknowledgedBeforeSync => acknowledge_early(&mut log),
            Self::SegmentClosedWithoutSync => close_unsynced(&mut log),
            Self::WatermarkPastDurable if log.iter().any(is_published) => {
                // Nothing is promised, and still the index must not know more than the ledger. The
                // syncs that make a segment and its header durable stay.
                let mut begun = BTreeSet::new();
                log.retain(|op| match op {
                    Op::Sync { file, name } if is_segment(name) => begun.insert(*file),
                    _ => true,
                });
                let mut first = true;
                log.retain(|op| !matches!(op, Op::Ack(_)) || std::mem::take(&mut first));
            }
            Self::WatermarkPastDurable
            | Self::BatchInParts
            | Self::TornFrameAccepted
            | Self::RecoveryCutsTooFar
            | Self::LostDedupe
            | Self::PolicySkipped
            | Self::WithdrawalWithoutEffect
            | Self::ReadOfAnother
            | Self::SignatureDamaged => {}
        }
        log
    }

    /// Returns whether it is about consents, recorded reads or signatures.
    const fn is_of_rules(self) -> bool {
        matches!(
            self,
            Self::WithdrawalWithoutEffect | Self::ReadOfAnother | Self::SignatureDamaged
        )
    }

    const fn is_tampering(self) -> bool {
        matches!(
            self,
            Self::TornFrameAccepted
                | Self::RecoveryCutsTooFar
                | Self::LostDedupe
                | Self::PolicySkipped
                | Self::WithdrawalWithoutEffect
                | Self::ReadOfAnother
                | Self::SignatureDamaged
        )
    }

    /// Does to the ledger what a store with the fault would have done.
    fn tamper(self, image: &mut Image) {
        if !self.is_tampering() {
            return;
        }
        let grain = image_of_protected(image);
        let Some(mut tail) = Tail::of(image) else {
            return;
        };
        match self {
            Self::TornFrameAccepted if tail.is_torn() => tail.accept(),
            Self::RecoveryCutsTooFar if tail.is_torn() => tail.cut(),
            Self::LostDedupe => tail.repeat(),
            Self::WithdrawalWithoutEffect => tail.keep_first(CONSENT_EFFECT),
            Self::ReadOfAnother => tail.damage(READ),
            Self::SignatureDamaged => tail.damage(SIGNATURE),
            Self::PolicySkipped => {
                if let Some(address) = grain {
                    let mut body = b"\x82\xa1a\xc4\x20".to_vec();
                    body.extend_from_slice(&address);
                    body.extend_from_slice(b"\xa2sb\xc4\x20");
                    body.extend_from_slice(&[7; 32]);
                    tail.record(STATUS, &body);
                }
            }
            _ => {}
        }
    }
}

/// Moves each acknowledgement before the sync it rests on.
fn acknowledge_early(log: &mut [Op]) {
    for at in 1..log.len() {
        let Some(Op::Ack(_)) = log.get(at) else {
            continue;
        };
        let before = log.get(..at).unwrap_or_default();
        let sync = before
            .iter()
            .rposition(|op| op.synced().is_some_and(is_segment));
        if let Some(between) = sync.and_then(|sync| log.get_mut(sync..=at)) {
            between.rotate_right(1);
        }
    }
}

/// Takes away the last sync of each segment that another follows.
fn close_unsynced(log: &mut Vec<Op>) {
    let mut at = 0;
    while at < log.len() {
        let is_next = |op: &Op| matches!(op, Op::Create { name, .. } if is_segment(name));
        if log.get(at).is_some_and(is_next) {
            let before = log.get(..at).unwrap_or_default();
            let writes = |op: &Op| matches!(op, Op::Write { name, .. } if is_segment(name));
            let from = before.iter().rposition(writes);
            if let Some(from) = from {
                let mut nth = 0;
                log.retain(|op| {
                    nth += 1;
                    !((from + 1..=at).contains(&nth) && op.synced().is_some_and(is_segment))
                });
                at = log
                    .iter()
                    .skip(from)
                    .position(is_next)
                    .map_or(at, |next| from + next);
            }
        }
        at += 1;
    }
}

/// Moves what writes the MANIFEST of the first backup before its first segment.
fn write_manifest_first(log: &mut [Op]) {
    let is_first =
        |op: &Op| matches!(op, Op::Create { name, .. } if name.starts_with("backup/ledger/"));
    let is_manifest =
        |op: &Op| matches!(op, Op::Create { name, .. } if name.starts_with("backup/MANIFEST"));
    let is_synced = |op: &Op| matches!(op, Op::SyncFolder { folder } if folder == "backup");
    let segment = log.iter().position(is_first);
    let manifest = log.iter().position(is_manifest);
    let (Some(segment), Some(manifest)) = (segment, manifest) else {
        return;
    };
    let len = log.iter().skip(manifest).position(is_synced);
    let end = manifest + len.map_or(0, |len| len + 1);
    if let Some(between) = log.get_mut(segment..end) {
        between.rotate_left(manifest - segment);
    }
}

fn is_published(op: &Op) -> bool {
    matches!(op, Op::Rename { to, .. } if to == "index/CURRENT")
}

/// Returns the address of a protected grain in the ledger: it says so in its bytes.
fn image_of_protected(image: &mut Image) -> Option<[u8; 32]> {
    let tail = Tail::of(image)?;
    tail.body_with(b"locked")
}

impl fmt::Display for FaultOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.states {
            Some(states) => write!(f, "{name}: found after {states} crash states: {}", self.how),
            None if self.is_applicable => write!(f, "{name}: NOT FOUND in {}", self.how),
            None => write!(f, "{name}: the store writes no such file"),
        }
    }
}

/// The numbers of kinds of entries.
const STATUS: u8 = 3;
const CONSENT_EFFECT: u8 = 7;
const SIGNATURE: u8 = 21;
const READ: u8 = 22;
const STEPS: usize = 14;
const SEEDS_MAX: u64 = 40;
