//! Grains: the field table, drafts, the rules of every type, and what a grain says and points at
//! (OMS 6–8, 10, 13, 14, 19.3, 24–27, Appendix C).
//!
//! Pure: no clock, no disk. Signatures and policy decisions are not here.

mod about;
mod disclosure;
mod draft;
mod fields;
mod foreign_id;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its one value"
)]
mod grain;
mod grain_words;
mod grain_type;
mod links;
mod namespace;
mod owner;
mod payload;
mod rules;
mod status;
mod time;
mod wording;

mod error;

pub(crate) use about::about;
pub(crate) use about::{ABOUT, USER, foreign_record};
pub use disclosure::verify_disclosed;
pub use draft::Draft;
pub use error::Error;
#[cfg(feature = "interchange")]
pub(crate) use fields::word;
pub use foreign_id::ForeignId;
#[cfg(any(feature = "interchange", feature = "sealing"))]
pub(crate) use foreign_id::GRAIN_URN;
#[cfg(any(feature = "interchange", feature = "sealing"))]
pub(crate) use foreign_id::user_of_urn;
pub(crate) use foreign_id::{ENVELOPE_TAG, user_urn};
pub use grain::Grain;
pub use grain_type::Type;
pub use namespace::Namespace;
pub(crate) use namespace::contains as namespace_contains;
pub(crate) use owner::{HAS_CAPABILITY, IDENTITY, OWNED_BY};
pub use owner::{Owner, OwnerKind};
#[cfg(feature = "interchange")]
pub(crate) use payload::blob_prefix_len;
pub use rules::{Warning, is_listed_phi_tag, json_schema};
pub use status::{Lifecycle, Status, StatusChange, Verification};
pub use time::Time;
pub use wording::SEARCHABLE_FIELDS;
pub(crate) use wording::is_printable;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use fields::{Field, Holds};
#[doc(hidden)]
pub use links::Triple;
