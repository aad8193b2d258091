//! Bytes as lower-case hexadecimal digits, and back.
//!
//! For hashes, blobs and signatures in results and input lines. Content addresses have a type of
//! their own (`grainstore::ContentAddress`).

/// Returns bytes as hexadecimal digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes of hexadecimal digits of either case; `None` for any other text.
pub(crate) fn decode(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let byte = |pair: &[u8; 2]| {
        let text = std::str::from_utf8(pair).ok()?;
        // `from_str_radix` alone would accept "+1".
        let is_hex = pair.iter().all(u8::is_ascii_hexdigit);
        u8::from_str_radix(text, 16).ok().filter(|_| is_hex)
    };
    pairs.iter().map(byte).collect()
}
