//! Grains: the field table, drafts, the rules of every type, and what a grain says and points at
//! (OMS 6–8, 10, 13, 14, 19.3, 24–27, Appendix C).
//!
//! Pure: no clock, no disk. Signatures and policy decisions are not here.

mod compact;
mod disclosure;
mod draft;
mod field;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its one value"
)]
mod grain;
mod grain_type;
mod json;
mod links;
mod owner;
mod rules;
mod status;
mod table;
mod time;
mod uri;
mod wording;

mod error;

pub use disclosure::verify_disclosed;
pub use draft::Draft;
pub use error::Error;
pub use field::{Field, Holds};
pub use grain::Grain;
pub use grain_type::Type;
pub use links::Triple;
pub(crate) use owner::{HAS_CAPABILITY, IDENTITY, OWNED_BY};
pub use owner::{Owner, OwnerKind};
pub use rules::{Warning, is_listed_phi_tag};
pub use status::{Lifecycle, Status, StatusChange, Verification};
pub use time::Time;
pub use uri::{CheckedUri, Host, Reach, UriFault, check_address, check_uri, verify_checksum};
pub use wording::WORDED;
