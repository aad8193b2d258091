//! JSON lines: one grain a line, as JSON if that gives the same bytes back, else as its blob.
//!
//! A line is a JSON grain, or `{"address": …, "blob": "<hex>"}` for what JSON cannot spell (CBOR,
//! raised sensitivity, types of later revisions). A signed grain is `{"address": …, "envelope":
//! "<hex>"}`: it travels inside its signature (OMS 9.2). The line after a grain may give its status:
//! `{"status": {"of": "<address>", …}}`, with the members `superseded_by`, `system_valid_to`,
//! `verification_status`, `contradicted` and `lifecycle`. The lines after that give the legal holds on
//! it: `{"hold": {"of": "<address>", "reason": …, "authority": …}}`.

mod read;
mod reader;
mod write;

pub use read::Reader;
pub(in crate::interchange) use reader::{JSON, Jsonl};

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use write::Writer;
