//! The part of a check that looks for lineages without an end: grains that replace each other in a
//! circle, none of which is current (ruling P16).

use std::collections::HashMap;

use crate::codec::ContentAddress;
use crate::ledger::{Entry, Kind};
use crate::store::records::Record;

use super::report::{Report, Severity};

/// Which grain replaces which, as the entries of a ledger say it.
#[derive(Default)]
pub(crate) struct Lineages(HashMap<ContentAddress, ContentAddress>);

impl Lineages {
    pub(crate) fn see(&mut self, entry: &Entry<'_>) {
        if entry.header.kind == Kind::Status
            && let Some(Record::Status(status)) = Record::decode(Kind::Status, &entry.body)
            && let Some(by) = status.change.superseded_by
        {
            self.0.insert(status.of, by);
        }
    }

    /// Reports one grain of each circle.
    pub(crate) fn finish(mut self, report: &mut Report) {
        while let Some(start) = self.0.keys().next().copied() {
            // Each link is taken out as it is followed, so that it is followed once.
            let mut walked = HashMap::new();
            let mut at = start;
            while let Some(next) = self.0.remove(&at) {
                walked.insert(at, next);
                at = next;
            }
            if walked.contains_key(&at) {
                let message = format!("grain {at} was replaced by grains that it replaced");
                report.find("lineage-cycle", Severity::Warning, message);
            }
        }
    }
}
