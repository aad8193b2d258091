//! The seam: what a store asks of the one sequence that the nodes share.

use std::fmt;
use std::time::Duration;

use crate::Error;

/// The end of a sequence: the number of its entries, and the last leaf of their hash chain.
///
/// ```
/// use grainstore_shared::Head;
///
/// let empty = Head { entries: 0, leaf: [7; 32] };
/// assert_ne!(empty, Head { entries: 1, ..empty });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of entries.
    pub entries: u64,
    /// The leaf of the last of them; that before the first if there is none.
    pub leaf: [u8; 32],
}

/// The name of one opening of a store, which says who has the turn: random bytes.
///
/// ```
/// assert_eq!(grainstore_shared::Node::new([7; 16]).to_bytes(), [7; 16]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node([u8; 16]);

impl Node {
    /// Makes one of random bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

/// The store that a sequence is of.
///
/// ```
/// use grainstore_shared::{Head, Identity};
///
/// let origin = Head { entries: 0, leaf: [7; 32] };
/// let (manifest, bodies) = (b"{}".to_vec(), None);
/// let identity = Identity { store: [7; 16], manifest, origin, bodies };
/// assert_eq!(identity.store, [7; 16]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The id of the store: every key begins with it.
    pub store: [u8; 16],
    /// The bytes of its `MANIFEST`, without which no cache of a node is a store.
    pub manifest: Vec<u8>,
    /// The head before the first entry.
    pub origin: Head,
    /// Where long frames lie, if rows of the sequence name them alone. A sequence that resolves them says `None`.
    pub bodies: Option<String>,
}

/// A frame that is to be appended.
///
/// ```
/// use grainstore_shared::{Head, Node, Proposal};
///
/// let head = Head { entries: 0, leaf: [7; 32] };
/// let end = Head { entries: 1, leaf: [8; 32] };
/// let proposal = Proposal { node: Node::new([1; 16]), expected: head, frame: b"bytes", end };
/// assert_eq!(proposal.end.entries, 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The node that decided it.
    pub node: Node,
    /// The head on which it was decided.
    pub expected: Head,
    /// Its bytes.
    pub frame: &'a [u8],
    /// The head with it.
    pub end: Head,
}

/// The outcome of an append that is known.
///
/// ```
/// assert_ne!(grainstore_shared::Appended::Yes, grainstore_shared::Appended::No);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The frame is there, and durable.
    Yes,
    /// It is not: the head is not the expected one, or another node has the turn.
    No,
}

/// The outcome of asking for the turn.
///
/// ```
/// use grainstore_shared::{Head, Turn};
///
/// assert_ne!(Turn::Waits, Turn::Taken(Head { entries: 0, leaf: [7; 32] }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The node has it until it gives it back, or until the time is over; the head, as it is now.
    Taken(Head),
    /// Another node has it.
    Waits,
}

/// A frame of the sequence.
///
/// ```
/// use grainstore_shared::StoredFrame;
///
/// let frame = StoredFrame { first: 7, version: 0, bytes: vec![1, 2] };
/// assert_eq!(frame.first, 7);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFrame {
    /// The number of its first entry.
    pub first: u64,
    /// How often it was replaced.
    pub version: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// One sequence of frames, which any number of nodes read and append to.
///
/// ```
/// use grainstore_shared::{Appended, Head, Identity, MemorySequence, Node, Proposal, Sequence};
///
/// let origin = Head { entries: 0, leaf: [7; 32] };
/// let sequence = MemorySequence::default();
/// let (manifest, bodies) = (b"{}".to_vec(), None);
/// assert!(sequence.create(&Identity { store: [7; 16], manifest, origin, bodies })?);
///
/// let end = Head { entries: 1, leaf: [8; 32] };
/// let node = Node::new([1; 16]);
/// let proposal = Proposal { node, expected: origin, frame: b"the first", end };
/// assert_eq!(sequence.append(&proposal)?, Appended::Yes);
/// assert_eq!(sequence.append(&proposal)?, Appended::No, "the head has moved");
/// assert_eq!(sequence.read(0, 1 << 20)?[0].bytes, b"the first");
/// # Ok::<(), grainstore_shared::Error>(())
/// ```
pub trait Sequence: fmt::Debug + Send + Sync {
    /// Returns the store that the sequence is of; `None` while there is none.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Refused`].
    fn identity(&self) -> Result<Option<Identity>, Error>;

    /// Begins the empty sequence of a store; returns `false`, and changes nothing, if there is one.
    ///
    /// # Errors
    /// As [`Sequence::identity`].
    fn create(&self, identity: &Identity) -> Result<bool, Error>;

    /// Returns the head.
    ///
    /// # Errors
    /// As [`Sequence::identity`]; [`Error::Missing`].
    fn head(&self) -> Result<Head, Error>;

    /// Appends a frame, if the head is the expected one and no other node has the turn. The frame is
    /// durable before the answer, and the head and the frame change together or not at all.
    ///
    /// # Errors
    /// [`Error::Unreachable`]: the outcome is unknown. [`Error::Refused`]: it is not there.
    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error>;

    /// Returns frames from the one that holds the entry `from` on, in order: of at most `max` bytes, but
    /// at least one if there is one.
    ///
    /// # Errors
    /// As [`Sequence::head`].
    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error>;

    /// Waits until the sequence has more than `entries`, for at most `patience`; returns the head then.
    ///
    /// # Errors
    /// As [`Sequence::head`].
    fn wait(&self, entries: u64, patience: Duration) -> Result<Head, Error>;

    /// Puts bytes of the same length in the place of a frame that was read, for an erasure: returns
    /// `false`, and changes nothing, if it was replaced since. No older bytes are read from then on.
    ///
    /// # Errors
    /// As [`Sequence::head`]; [`Error::Refused`] for another length.
    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error>;

    /// Asks for the turn: no other node appends before it is given back or `lease` is over. A node that
    /// has it gets it anew.
    ///
    /// # Errors
    /// As [`Sequence::head`].
    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error>;

    /// Gives the turn back, and wakes those that [wait](Sequence::wait). Of one that another node has
    /// by now nothing changes. The outcome is not awaited: the lease ends it otherwise.
    fn end_turn(&self, node: Node);

    /// Waits for the outcome of [`Sequence::end_turn`], so that a process may end.
    fn settle(&self) {}

    /// Returns whether an acknowledged frame may be lost with one machine; `None` if that is not known.
    fn may_lose(&self) -> Option<bool> {
        None
    }
}
