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

/// Returns the sum of the products of two quantized vectors of equal length, each of length
/// [`ONE`](super::unit) or less.
///
/// No sum leaves 32 bits, in whatever order it is formed: by the inequality of Cauchy and Schwarz
/// no part of it exceeds the product of the lengths, 2^30. Integers add up to the same in any order,
/// so that every process finds the same.
pub(super) fn dot_quantized(a: &[i16], b: &[i16]) -> i32 {
    let (a_parts, a_rest) = a.as_chunks::<LANES>();
    let (b_parts, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0_i32; LANES];
    for (a, b) in a_parts.iter().zip(b_parts) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum = sum.wrapping_add(i32::from(*a).wrapping_mul(i32::from(*b)));
        }
    }
    let products = a_rest.iter().zip(b_rest);
    let products = products.map(|(a, b)| i32::from(*a).wrapping_mul(i32::from(*b)));
    sums.into_iter().chain(products).fold(0, i32::wrapping_add)
}

const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::{dot, dot_quantized};

    #[test]
    fn a_dot_product_of_any_length_is_the_sum_of_products() {
        for len in [0_u8, 1, 15, 16, 17, 33, 100] {
            let a: Vec<f32> = (0..len).map(f32::from).collect();
            let b: Vec<f32> = (0..len).map(|n| f32::from(n % 3)).collect();
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            // Small whole numbers: exact in any order.
            assert!((dot(&a, &b) - plain).abs() < f32::EPSILON, "{len}");
            let a: Vec<i16> = (0..len).map(i16::from).collect();
            let b: Vec<i16> = (0..len).map(|n| i16::from(n % 3)).collect();
            let plain: i32 = a.iter().zip(&b).map(|(a, b)| i32::from(a * b)).sum();
            assert_eq!(dot_quantized(&a, &b), plain, "{len}");
        }
    }
}
