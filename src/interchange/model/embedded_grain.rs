//! A whole grain embedded in a foreign record, where its format has a place for extensions. Read
//! again, it is the grain that it was.

use crate::codec::{Map, Profile, Value};
use crate::grain::{Grain, Status, StatusChange, Warning};

use crate::interchange::model::status;

/// The name of the extension: a domain name of this project, reversed.
pub(crate) const NAME: &str = "io.github.grainstore.grainstore";

/// Returns a grain in its delivery form, and its status, as the extension holds them.
pub(crate) fn pack(grain: &Grain, state: &Status) -> Map {
    let mut packed = Map::new();
    packed.insert("address", grain.address());
    // A grain that must be signed and is not must not travel (OMS 9.2): then the record is all.
    let bytes = grain.to_delivery().unwrap_or_default();
    packed.insert("blob", data_encoding::BASE64.encode(&bytes));
    if *state != Status::default() {
        packed.insert("status", status::write(grain.address(), state));
    }
    packed
}

/// A grain that was extracted.
pub(crate) struct Unpacked {
    pub(crate) grain: Grain,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) status: StatusChange,
}

/// Extracts the grain from an extension.
///
/// The grain must say the same as the record, or it is ignored: an editor who changes the record
/// and leaves the extension alone wants the edit to count, and a reader of the record must not be
/// shown one text and get another.
pub(crate) fn unpack(packed: &Value, content: &str, profile: Profile) -> Option<Unpacked> {
    let packed = packed.as_map()?;
    let text = |name: &str| packed.get(name)?.as_text();
    let blob = data_encoding::BASE64
        .decode(text("blob")?.as_bytes())
        .ok()?;
    let (grain, warnings) = Grain::from_delivery(&blob, profile).ok()?;
    let is_address = grain.address().to_string() == text("address")?;
    if !is_address || summary_text(&grain) != content {
        return None;
    }
    let status = match packed.get("status") {
        Some(Value::Map(members)) => status::read(members)
            .ok()
            .filter(|(of, _)| *of == grain.address())
            .map(|(_, change)| change),
        _ => None,
    };
    Some(Unpacked {
        grain,
        warnings,
        status: status.unwrap_or_default(),
    })
}

/// Returns the content of a grain as one text that is not empty.
pub(crate) fn summary_text(grain: &Grain) -> String {
    let said = ["object", "content", "description", "conclusion"]
        .into_iter()
        .find_map(|name| grain.text(name).filter(|text| !text.is_empty()));
    match said {
        Some(text) => text.to_owned(),
        None => Some(grain.summary())
            .filter(|summary| !summary.is_empty())
            .unwrap_or_else(|| grain.to_json()),
    }
}
