//! A copy of a [`grainstore`] store on object storage that is never more than a second old.
//!
//! [`Shipper`] reads the ledger of a store beside its writers and writes its frames as objects;
//! [`Follower`] brings a directory after them, on any number of machines. The objects are frames as
//! they stand in the ledger, each under the hash of its bytes, and a manifest says which of them make
//! the ledger, up to which entry and head. The chain is proven from the first entry to the last.
//! `docs/format.md` has the bytes.
//!
//! [`BodySequence`] keeps the long frames of a ledger that machines share as objects.
//!
//! The futures run on tokio. Files of the store are read on the thread that polls them.

mod bodies;
mod bucket;
mod cipher;
mod error;
mod follow;
mod hash;
mod manifest;
mod memory;
mod ship;
mod trust;
mod tree;

pub use bodies::{BodySequence, OpenBucket};
pub use bucket::Bucket;
pub use cipher::{Identities, Recipients};
pub use error::Error;
pub use follow::{FollowOptions, Followed, Follower};
pub use hash::Hash;
pub use memory::Seen;
pub use ship::{ShipOptions, Shipped, Shipper};
pub use trust::{ManifestKey, TrustedSigner};
