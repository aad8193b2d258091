//! The table of changes: rule × change of stored grains. A door names its change and asks the rules
//! that the table has for it; a change of which one was not asked is recorded by nothing.

use std::fmt::Write as _;

use super::table::Effect::{self, Refuse, Skip};

/// A change of stored grains. In the order of [`COLUMNS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Supersede,
    Contradict,
    Verify,
    Delete,
    /// Of a person; a withdrawn consent deletes.
    Erase,
    #[cfg_attr(
        not(any(feature = "sealing", test)),
        expect(dead_code, reason = "nothing is sealed without keys")
    )]
    Seal,
    /// Placing a legal hold, and lifting it.
    Hold,
    ClearReview,
    /// Of a setting of the store: the consents that namespaces require, the deadline and the run of
    /// withdrawals, the regimes, the clock.
    Set,
    /// A record of the owner's file that replaces its earlier grain.
    #[cfg(feature = "interchange")]
    OwnersVersion,
    /// A record of an actor's file that does.
    #[cfg(feature = "interchange")]
    ActorsVersion,
    /// The end of a grain that a copy of the owner's own states (ruling I28).
    #[cfg(feature = "interchange")]
    FilesEnding,
    /// The choice between records of one identifier.
    #[cfg(feature = "interchange")]
    ResolveConflict,
}

/// A rule that a change must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    Sight,
    Writer,
    OwnersJudgement,
    Review,
    Signers,
    Reason,
    Policy,
    Retention,
    Authority,
}

/// The rules of a change that were asked so far.
#[derive(Debug)]
#[must_use]
pub(crate) struct Permit {
    deed: Deed,
    asked: u16,
}

impl Permit {
    pub(crate) const fn of(deed: Deed) -> Self {
        Self { deed, asked: 0 }
    }

    /// Returns the permit of a change that touches nothing which is protected: of a grain that is not
    /// stored yet, or for the better (OMS 23.1).
    #[cfg(feature = "interchange")]
    pub(crate) const fn unasked(deed: Deed) -> Self {
        Self {
            deed,
            asked: u16::MAX,
        }
    }

    /// Returns whether a rule holds for the change, and notes that it is asked.
    pub(crate) const fn asks(&mut self, guard: Guard) -> bool {
        self.asked |= 1 << guard as u8;
        matches!(effect(guard, self.deed), Refuse)
    }

    /// Checks that every rule of the change was asked.
    ///
    /// # Panics
    /// If one was not: a door would record what the table refuses.
    pub(crate) fn assert_whole(&self) {
        for (guard, ..) in TABLE {
            let is_asked = self.asked & 1 << *guard as u8 != 0;
            let is_whole = is_asked || effect(*guard, self.deed) == Skip;
            assert!(is_whole, "{:?} is recorded without {guard:?}", self.deed);
        }
    }
}

const fn effect(guard: Guard, deed: Deed) -> Effect {
    TABLE[guard as usize].2[deed as usize]
}

const COLUMNS: [&str; 13] = [
    "supersede",
    "contradict",
    "verify",
    "delete",
    "erase",
    "seal",
    "hold",
    "review",
    "a setting",
    "the owner's version",
    "an actor's version",
    "a file's ending",
    "a conflict",
];

/// A rule, its words, its effect on each change, and where it is stated.
type Row = (Guard, &'static str, [Effect; COLUMNS.len()], &'static str);

/// In the order of [`Guard`], which is about that in which they are asked.
const TABLE: &[Row] = &[
    (
        Guard::Sight,
        "the handle sees the grain",
        [
            Refuse, Refuse, Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Refuse, Skip, Skip,
        ],
        "OMS 12.1",
    ),
    (
        Guard::Writer,
        "the handle may write, and the delegations of its author cover the grain",
        [
            Refuse, Refuse, Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Refuse, Skip, Skip,
        ],
        "OMS 6.11",
    ),
    (
        Guard::OwnersJudgement,
        "a delegation, a Consent and who is who are verified by the owner alone",
        [
            Skip, Skip, Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Refuse, Skip,
        ],
        "I26, I29, P10",
    ),
    (
        Guard::Review,
        "for a program, it is cleared by a person, or its new version waits as it does",
        [
            Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Refuse, Skip, Skip,
        ],
        "OMS 6.1",
    ),
    (
        Guard::Signers,
        "its signers are trusted with the grain",
        [
            Refuse, Refuse, Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Refuse, Refuse, Skip, Skip,
        ],
        "trust.md",
    ),
    (
        Guard::Reason,
        "it has a reason where a regime asks for one",
        [
            Refuse, Refuse, Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Refuse, Refuse, Refuse,
            Refuse,
        ],
        "OMS 27",
    ),
    (
        Guard::Policy,
        "the policies that protect the grain permit it, and its holds",
        [
            Refuse, Refuse, Refuse, Refuse, Refuse, Skip, Skip, Skip, Skip, Refuse, Refuse, Refuse,
            Refuse,
        ],
        "OMS 23",
    ),
    (
        Guard::Retention,
        "its retention is over, and the authority is the one that deletion_requires names",
        [
            Skip, Skip, Skip, Refuse, Refuse, Skip, Skip, Skip, Skip, Skip, Skip, Skip, Skip,
        ],
        "OMS 6.1, I19",
    ),
    (
        Guard::Authority,
        "it has a reason and an authority",
        [
            Skip, Skip, Skip, Refuse, Refuse, Skip, Refuse, Refuse, Refuse, Skip, Skip, Skip, Skip,
        ],
        "I19",
    ),
];

/// Returns the table as Markdown, as docs/policy.md has it.
pub(super) fn describe() -> String {
    let mut page = String::from("| a change is made if |");
    for name in COLUMNS {
        let _ = write!(page, " {name} |");
    }
    page.push_str(" source |\n| --- |");
    page.push_str(&" --- |".repeat(COLUMNS.len() + 1));
    for (_, says, effects, source) in TABLE {
        let _ = write!(page, "\n| {says} |");
        for effect in effects {
            let _ = write!(page, " {} |", effect.word());
        }
        let _ = write!(page, " {source} |");
    }
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn each_rule_has_the_row_of_its_place() {
        for (place, (guard, ..)) in TABLE.iter().enumerate() {
            assert_eq!(*guard as usize, place, "{guard:?}");
        }
    }

    #[test]
    fn a_change_is_recorded_by_nothing_until_its_last_rule_is_asked() {
        let is_whole = |permit: Permit| catch_unwind(|| permit.assert_whole()).is_ok();
        let all = || TABLE.iter().map(|(guard, ..)| *guard);
        for left_out in all() {
            let mut permit = Permit::of(Deed::Supersede);
            let asked = all().filter(|guard| *guard != left_out);
            for guard in asked {
                permit.asks(guard);
            }
            let is_needed = effect(left_out, Deed::Supersede) == Refuse;
            assert_eq!(is_whole(permit), !is_needed, "{left_out:?}");
        }
        assert!(!is_whole(Permit::of(Deed::Hold)) && !is_whole(Permit::of(Deed::Set)));
        assert!(is_whole(Permit::of(Deed::Seal)));
    }
}
