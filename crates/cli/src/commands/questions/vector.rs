//! Vectors as JSON arrays of numbers, for `embed`, `similar` and the answers of a model.
//!
//! The store refuses vectors with numbers that are not finite or with a wrong number of dimensions.

use serde_json::Value;

/// Reads a vector from a JSON array; `None` for any other value.
pub(crate) fn vector(value: Option<&Value>) -> Option<Vec<f32>> {
    let numbers = value?.as_array()?.iter();
    numbers
        .map(|number| Some(narrow(number.as_f64()?)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "embeddings are 32-bit floats; a number out of range becomes infinite and is refused"
)]
const fn narrow(number: f64) -> f32 {
    number as f32
}

pub(super) const NO_VECTOR: &str = "a vector is an array of numbers";
