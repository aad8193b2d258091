use serde_json::Value;

/// Reads a vector as JSON has it.
pub(super) fn vector(value: Option<&Value>) -> Option<Vec<f32>> {
    let numbers = value?.as_array()?.iter();
    numbers
        .map(|number| Some(narrow(number.as_f64()?)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "models make numbers of this width; what is too large becomes infinite and is refused"
)]
const fn narrow(number: f64) -> f32 {
    number as f32
}

pub(super) const NO_VECTOR: &str = "a vector is an array of numbers";
