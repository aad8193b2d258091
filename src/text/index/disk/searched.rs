//! A segment as one search sees it: with the terms that it has looked up.
//!
//! A search asks for each of its terms up to four times: for its weight, to score it, to score the
//! conversations around, and for the fields that matched. To walk the dictionary takes longer than
//! to score a rare word.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;

use tantivy::postings::TermInfo;

use super::segment::DiskSegment;
use crate::text::index::schema::TermField;

/// A segment on disk during a search.
pub(in crate::text) struct SearchedSegment<'a> {
    segment: &'a DiskSegment,
    /// Where the postings of the terms of each field are; `None` of a term that no document has.
    known: [RefCell<HashMap<Box<str>, Option<TermInfo>>>; 2],
}

impl<'a> SearchedSegment<'a> {
    pub(in crate::text::index) fn new(segment: &'a DiskSegment) -> Self {
        Self {
            segment,
            known: [(); 2].map(|()| RefCell::default()),
        }
    }

    /// Returns where the postings of a term are; `None` if no document has it.
    pub(in crate::text::index) fn term_info(
        &self,
        field: TermField,
        term: &str,
    ) -> tantivy::Result<Option<TermInfo>> {
        let [stems, variants] = &self.known;
        let known = match field {
            TermField::Stems => stems,
            TermField::Variants => variants,
        };
        if let Some(info) = known.borrow().get(term) {
            return Ok(info.clone());
        }
        let info = self.segment.terms(field).terms().get(term.as_bytes())?;
        let mut known = known.borrow_mut();
        if known.is_empty() {
            known.reserve(TERMS_ABOUT);
        }
        known.insert(term.into(), info.clone());
        Ok(info)
    }
}

impl Deref for SearchedSegment<'_> {
    type Target = DiskSegment;

    fn deref(&self) -> &DiskSegment {
        self.segment
    }
}

/// The terms of a question in each field, about.
const TERMS_ABOUT: usize = 14;
