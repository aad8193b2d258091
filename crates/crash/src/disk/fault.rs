//! Injected failures: which operation of the simulated disk fails, and with which error.
//!
//! A fault is drawn from the seed of a run, so that a failure can be replayed.

use std::fmt;
use std::io::ErrorKind;
use std::str::FromStr;

/// Which operations fail, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) side: Side,
    /// The first operation of its side that fails, counted from 0.
    pub(crate) at: u64,
    pub(crate) lasts: Lasts,
    pub(crate) how: How,
    pub(crate) kind: ErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Everything that changes something.
    Write,
    /// Operations that need space: creations, and writes that extend a file.
    Growth,
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    Once,
    ForEver,
    /// For so many operations of its side.
    Operations(u64),
}

/// The effect of a failing operation before it reports the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    NotApplied,
    Applied,
    Half,
}

impl Fault {
    /// Returns whether the operation with this number fails.
    pub(crate) fn fires(&self, nth: u64) -> bool {
        match self.lasts {
            Lasts::Once => nth == self.at,
            Lasts::ForEver => nth >= self.at,
            Lasts::Operations(count) => (self.at..self.at.saturating_add(count)).contains(&nth),
        }
    }
}

/// `write:12:half:once:full`; what prints reads back.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Write => "write",
            Side::Growth => "growth",
            Side::Read => "read",
        };
        let how = match self.how {
            How::NotApplied => "not-applied",
            How::Applied => "applied",
            How::Half => "half",
        };
        let lasts = match self.lasts {
            Lasts::Once => "once".into(),
            Lasts::ForEver => "ever".into(),
            Lasts::Operations(count) => count.to_string(),
        };
        let kind = match self.kind {
            ErrorKind::StorageFull => "full",
            _ => "other",
        };
        write!(f, "{side}:{}:{how}:{lasts}:{kind}", self.at)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("not a fault: {text}");
        let parts: Vec<&str> = text.split(':').collect();
        let [side, at, how, lasts, kind] = parts[..] else {
            return Err(wrong());
        };
        Ok(Self {
            side: match side {
                "write" => Side::Write,
                "growth" => Side::Growth,
                "read" => Side::Read,
                _ => return Err(wrong()),
            },
            at: at.parse().map_err(|_| wrong())?,
            how: match how {
                "not-applied" => How::NotApplied,
                "applied" => How::Applied,
                "half" => How::Half,
                _ => return Err(wrong()),
            },
            lasts: match lasts {
                "once" => Lasts::Once,
                "ever" => Lasts::ForEver,
                count => Lasts::Operations(count.parse().map_err(|_| wrong())?),
            },
            kind: match kind {
                "full" => ErrorKind::StorageFull,
                _ => ErrorKind::Other,
            },
        })
    }
}
