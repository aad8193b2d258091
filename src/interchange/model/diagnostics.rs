use crate::interchange::Place;

/// What is odd about a file, and where: the first of it, and how much more there is.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    told: Vec<(Place, String)>,
    more: u64,
}

impl Diagnostics {
    pub(crate) fn push(&mut self, place: Place, message: impl Into<String>) {
        if self.told.len() < DIAGNOSTICS_MAX {
            self.told.push((place, message.into()));
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Says how much is not listed.
    pub(crate) fn more(count: u64) -> String {
        format!("and {count} more that are not listed")
    }
}

impl From<Diagnostics> for Vec<(Place, String)> {
    fn from(mut findings: Diagnostics) -> Self {
        if findings.more > 0 {
            findings
                .told
                .push((Place::File, Diagnostics::more(findings.more)));
        }
        findings.told
    }
}

/// Nobody reads more of one file, and a list of all of them could be larger than the file.
pub(in crate::interchange) const DIAGNOSTICS_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted() {
        let mut findings = Diagnostics::default();
        for line in 0..10_003 {
            findings.push(Place::Line(line), "odd");
        }
        let listed: Vec<_> = findings.into();
        assert_eq!(listed.len(), 10_001);
        let (_, last) = listed.last().unwrap();
        assert_eq!(last, "and 3 more that are not listed");
    }
}
