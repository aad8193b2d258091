//! Directions: vectors of length 1, as `f32` and as 16-bit integers. They are wiped when they are
//! freed.

use zeroize::Zeroizing;

/// Returns a vector of length 1 in the same direction; none of one without a direction.
pub(super) fn unit(vector: &[f32]) -> Option<Zeroizing<Vec<f32>>> {
    // In doubles, where the square of no f32 is too large.
    let squares = vector.iter().map(|value| f64::from(*value).powi(2));
    let length = squares.sum::<f64>().sqrt();
    if length == 0.0 || !length.is_finite() {
        return None;
    }
    let shrunk = vector.iter().map(|value| f64::from(*value) / length);
    Some(Zeroizing::new(shrunk.map(nearest_f32).collect()))
}

/// Returns a vector of length 1 as integers, with 1.0 as [`ONE`].
pub(super) fn quantized(unit: &[f32]) -> Zeroizing<Vec<i16>> {
    let values = unit.iter();
    let values = values.map(|value| nearest_i16(f64::from(*value) * ONE));
    Zeroizing::new(values.collect())
}

/// Returns a quantized vector as numbers.
pub(super) fn restored(vector: &[i16]) -> Vec<f32> {
    vector
        .iter()
        .map(|value| nearest_f32(f64::from(*value) / ONE))
        .collect()
}

/// Returns the cosine that a dot product of quantized vectors stands for.
pub(super) fn cosine(dot: i32) -> f32 {
    nearest_f32((f64::from(dot) / (ONE * ONE)).clamp(-1.0, 1.0))
}

/// Returns the quantized direction of a sum of vectors.
pub(super) fn direction(sum: &[i64]) -> Option<Zeroizing<Vec<i16>>> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a sum of fewer than 2^37 numbers of 16 bits is exact in a double"
    )]
    let sum: Vec<f64> = sum.iter().map(|value| *value as f64).collect();
    let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
    let scaled = |value: &f64| nearest_i16(value / length * ONE);
    (length > 0.0).then(|| Zeroizing::new(sum.iter().map(scaled).collect()))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "between -1 and 1; the nearest f32 is what is asked for"
)]
const fn nearest_f32(value: f64) -> f32 {
    value as f32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "between -ONE and ONE, and a cast saturates"
)]
fn nearest_i16(value: f64) -> i16 {
    value.round() as i16
}

/// The integer that stands for 1.0.
const ONE: f64 = 32_767.0;
