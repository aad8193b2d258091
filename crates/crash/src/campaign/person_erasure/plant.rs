//! Seeded faults of an erasure: operations of the log that are left out or moved, so that the shipped
//! code needs no switch. The campaign must find each.

use std::str::FromStr;

use crate::disk::op::Op;

use super::workload::Run;

/// A fault of every erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The old root is never overwritten.
    RootKept,
    /// The key goes before the entry that begins the erasure is on disk.
    KeyFirst,
    /// Only the rows of the grains go: the vault stays as it was.
    NoSwap,
}

impl FromStr for Planted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "root-kept" => Ok(Self::RootKept),
            "key-first" => Ok(Self::KeyFirst),
            "no-swap" => Ok(Self::NoSwap),
            _ => Err(format!("not a fault: {text}")),
        }
    }
}

impl Planted {
    /// Changes the log of a run.
    pub(super) fn apply(self, run: &mut Run) {
        match self {
            Self::RootKept => run.log.retain(|op| !is_noise(op)),
            Self::KeyFirst | Self::NoSwap => {
                let mut log = Vec::with_capacity(run.log.len());
                let mut rest = std::mem::take(&mut run.log);
                while let Some(at) = rest.iter().position(|op| run.begins_erasure(op)) {
                    let mut tail = rest.split_off(at + 1);
                    log.append(&mut rest);
                    let end = tail.iter().position(Op::is_word).unwrap_or(tail.len());
                    rest = tail.split_off(end);
                    log.extend(self.erasure(tail));
                }
                log.append(&mut rest);
                run.log = log;
            }
        }
    }

    /// Returns the operations of an erasure as one with the fault does them.
    fn erasure(self, ops: Vec<Op>) -> Vec<Op> {
        let (of_vault, others): (Vec<Op>, Vec<Op>) = ops.into_iter().partition(is_of_vault);
        match self {
            Self::KeyFirst => of_vault.into_iter().chain(others).collect(),
            Self::NoSwap | Self::RootKept => others,
        }
    }
}

fn is_of_vault(op: &Op) -> bool {
    match op {
        Op::Write { name, .. } | Op::SetLen { name, .. } | Op::Sync { name, .. } => {
            name.starts_with("vault/")
        }
        _ => false,
    }
}

/// Whether a slot of the root is overwritten with noise.
fn is_noise(op: &Op) -> bool {
    match op {
        Op::Write { name, bytes, .. } => &**name == "vault/root" && bytes.starts_with(b"GSN1"),
        _ => false,
    }
}
