//! The dot product of two vectors, in a form that the compiler vectorizes.

/// Returns the sum of the products of two vectors of equal length.
///
/// Sixteen sums at a time, so that the compiler uses the widest registers there are.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_parts, a_rest) = a.as_chunks::<LANES>();
    let (b_parts, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a_parts.iter().zip(b_parts) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::dot;

    #[test]
    fn a_dot_product_of_any_length_is_the_sum_of_products() {
        for len in [0_u8, 1, 15, 16, 17, 33, 100] {
            let a: Vec<f32> = (0..len).map(f32::from).collect();
            let b: Vec<f32> = (0..len).map(|n| f32::from(n % 3)).collect();
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            // Small whole numbers: exact in any order.
            assert!((dot(&a, &b) - plain).abs() < f32::EPSILON, "{len}");
        }
    }
}
