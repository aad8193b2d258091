//! Fixed-width fields taken off the front of untrusted bytes.
//!
//! A length is compared with the bytes that are left before anything is taken.

/// Takes the next `N` bytes off `rest`; `None` if fewer are left.
pub(in crate::ledger) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (field, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*field)
}

/// Takes the next `len` bytes off `rest` without copying; `None` if fewer are left.
pub(super) fn take_slice<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (field, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(field)
}
