//! The keys of the index: families, terms, and the encoding whose order is that of the values.

pub(super) mod encoding;
pub(super) mod family;
pub(super) mod term;
