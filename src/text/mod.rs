//! The full-text view of the ledger: which rows say these words, best first (OMS 28.1).
//!
//! A row is a ledger sequence. The room is fed rows and their texts in order, remembers how far it
//! was fed, and finds a row from the moment it was fed: a search reads the committed index and the
//! tail that is not yet in it, and scores both by BM25 over the statistics of both together, so
//! that a commit changes neither what is found nor how it ranks.
//!
//! It never sees a grain, a namespace or a user: the caller says which rows may be shown. It is
//! derived data: a stored index that cannot be trusted is deleted and fed again, and a crash loses
//! only what the caller feeds again from [`Text::watermark`].

mod analysis;
mod document;
mod care;
mod erase;
mod feeder;
mod hit;
mod open;
mod query;
mod score;
mod tail;
mod view;

mod error;

pub use document::Document;
pub use error::Error;
pub use feeder::Text;
pub use hit::{Hit, Hits, TOTAL_MAX};
pub use open::{Opened, Place, remove};
pub use query::Query;
pub use view::Options;
