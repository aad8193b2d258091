//! The rules find what they are for: a sequence that breaks one of them in one way, and the rule that
//! says so.

use std::sync::Arc;
use std::time::Duration;

use grainstore_shared::conformance::{Handles, RULES, violations};
use grainstore_shared::{
    Appended, Error, Head, Identity, MemorySequence, Node, Proposal, Sequence, StoredFrame, Turn,
};

use crate::suite::in_memory;

/// The way in which a sequence is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    /// A second store takes the place of the first.
    CreatesAgain,
    /// An append looks at no head.
    AnyHead,
    /// An append looks at the number alone.
    AnyLeaf,
    /// An acknowledged frame is not there.
    Loses,
    /// A frame is there twice.
    Doubles,
    /// A read begins behind the frame that holds the entry.
    SkipsOne,
    /// A read gives all at once.
    ReadsAll,
    /// The turn is everyone's.
    NoTurns,
    /// A turn never ends.
    EndlessTurn,
    /// Any node ends any turn.
    EndsOthers,
    /// A wait returns at once.
    NoWait,
    /// A wait never sees news.
    SleepsOn,
    /// A replacement looks at no version.
    AnyVersion,
    /// A replacement changes nothing.
    KeepsBodies,
}

#[derive(Debug)]
struct Planted(MemorySequence, Wrong);

impl Planted {
    fn is(&self, wrong: Wrong) -> bool {
        self.1 == wrong
    }
}

impl Sequence for Planted {
    fn identity(&self) -> Result<Option<Identity>, Error> {
        self.0.identity()
    }

    fn create(&self, identity: &Identity) -> Result<bool, Error> {
        let created = self.0.create(identity)?;
        Ok(created || self.is(Wrong::CreatesAgain))
    }

    fn head(&self) -> Result<Head, Error> {
        self.0.head()
    }

    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error> {
        let now = self.0.head()?;
        let mut forged = *proposal;
        let is_leaf = now.entries == proposal.expected.entries && self.is(Wrong::AnyLeaf);
        if self.is(Wrong::AnyHead) || is_leaf {
            forged.expected = now;
        }
        if self.is(Wrong::NoTurns)
            && let Turn::Waits = self.0.take_turn(proposal.node, Duration::ZERO)?
        {
            // Only the holder is let in, so the append is made in its name.
            for n in 0..=u8::MAX {
                forged.node = Node::new([n; 16]);
                if let Appended::Yes = self.0.append(&forged)? {
                    return Ok(Appended::Yes);
                }
            }
        }
        if self.is(Wrong::Loses) && now == proposal.expected && now.entries == 3 {
            return Ok(Appended::Yes);
        }
        let appended = self.0.append(&forged)?;
        if self.is(Wrong::Doubles) && appended == Appended::Yes && now.entries == 7 {
            forged.expected = forged.end;
            forged.end.entries += 1;
            self.0.append(&forged)?;
        }
        Ok(appended)
    }

    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error> {
        let max = if self.is(Wrong::ReadsAll) {
            usize::MAX
        } else {
            max
        };
        let mut frames = self.0.read(from, max)?;
        if self.is(Wrong::SkipsOne) && frames.first().is_some_and(|frame| frame.first < from) {
            frames.remove(0);
        }
        Ok(frames)
    }

    fn wait(&self, entries: u64, patience: Duration) -> Result<Head, Error> {
        match self.1 {
            Wrong::NoWait => self.0.head(),
            Wrong::SleepsOn => self.0.wait(u64::MAX, patience),
            _ => self.0.wait(entries, patience),
        }
    }

    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error> {
        let mut frame = frame.clone();
        if self.is(Wrong::AnyVersion) {
            let now = self.0.read(frame.first, 1)?;
            frame.version = now.first().map_or(0, |now| now.version);
        }
        if self.is(Wrong::KeepsBodies) {
            let now = self.0.read(frame.first, 1)?;
            frame.bytes = now.first().map(|now| now.bytes.clone()).unwrap_or_default();
        }
        self.0.replace(&frame)
    }

    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error> {
        let lease = match self.1 {
            Wrong::EndlessTurn => Duration::from_secs(3_600),
            _ => lease,
        };
        match self.0.take_turn(node, lease)? {
            Turn::Waits if self.is(Wrong::NoTurns) => Ok(Turn::Taken(self.0.head()?)),
            turn => Ok(turn),
        }
    }

    fn end_turn(&self, node: Node) {
        if self.is(Wrong::EndsOthers) {
            (0..=u8::MAX).for_each(|n| self.0.end_turn(Node::new([n; 16])));
        }
        self.0.end_turn(node);
    }
}

#[test]
fn each_planted_fault_is_found() {
    let cases = [
        (Wrong::CreatesAgain, "created once"),
        (Wrong::AnyHead, "at the expected head"),
        (Wrong::AnyLeaf, "a leaf that differs"),
        (Wrong::Loses, "change together"),
        (Wrong::Doubles, "change together"),
        (Wrong::SkipsOne, "read in order"),
        (Wrong::ReadsAll, "read in order"),
        (Wrong::NoTurns, "in the turn of another"),
        (Wrong::EndlessTurn, "ends with its lease"),
        (Wrong::EndsOthers, "given back"),
        (Wrong::NoWait, "a wait ends"),
        (Wrong::SleepsOn, "a wait ends"),
        (Wrong::AnyVersion, "replaced"),
        (Wrong::KeepsBodies, "replaced"),
    ];
    std::thread::scope(|scope| {
        for (wrong, rule) in cases {
            scope.spawn(move || {
                let found = violations(&mut || planted(wrong));
                let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
                assert!(
                    names.iter().any(|name| name.contains(rule)),
                    "{wrong:?}: {found:#?}"
                );
            });
        }
    });
}

#[test]
fn stores_that_meet_in_one_place_are_found() {
    let found = violations(&mut || {
        let handles = in_memory();
        Handles {
            neighbour: Arc::clone(&handles.nodes[0]),
            ..handles
        }
    });
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].0.contains("do not touch"));
    assert!(RULES.len() > found.len());
}

fn planted(wrong: Wrong) -> Handles {
    let one = MemorySequence::default();
    let node = || -> Arc<dyn Sequence> { Arc::new(Planted(one.clone(), wrong)) };
    Handles {
        nodes: [node(), node()],
        neighbour: Arc::new(MemorySequence::default()),
    }
}
