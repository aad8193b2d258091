//! The table: rule × way in. A door that stores a grain names its way, and the table says which
//! rules refuse it there. A door cannot leave a rule out.

use std::fmt::Write as _;

use super::changes;

/// A way by which a grain is proposed to the store. Every door is one of them: a batch, a hand-off
/// and a memory file put; a correction and an undo supersede; a merge is a file. In the order of
/// [`COLUMNS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `put` and `put_batch`.
    Put,
    /// A new grain that supersedes a stored one.
    Supersede,
    /// A stored grain that supersedes another: nothing is added.
    SupersedeByStored,
    /// A file that the owner imports.
    #[cfg(feature = "interchange")]
    OwnersFile,
    /// A file that a narrowed handle imports: its records are the handle's own.
    #[cfg(feature = "interchange")]
    ActorsFile,
}

/// A rule that a new grain must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    Handle,
    Links,
    Erased,
    LockedPerson,
    View,
    OwnershipForm,
    Signer,
    NamesSealed,
    OwnershipClaim,
    ImplicitSupersession,
    Delegation,
    Regimes,
    Dependencies,
    ConsentWriter,
    ConsentBasis,
}

/// The effect of a rule that a new grain violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The grain is not stored, and the refusal is recorded.
    Refuse,
    /// The grain is stored, and the violation is reported.
    Note,
    /// The rule is not asked.
    Skip,
}

impl Effect {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Note => "note",
            Self::Skip => "–",
        }
    }
}

/// A rule, its effect on each way in, in the order of [`COLUMNS`], and where it is stated.
pub(crate) struct Row {
    pub(crate) check: Check,
    says: &'static str,
    effects: [Effect; COLUMNS.len()],
    source: &'static str,
}

impl Row {
    pub(crate) const fn effect(&self, way: Way) -> Effect {
        self.effects[way as usize]
    }
}

const COLUMNS: [&str; 5] = [
    "put",
    "supersede",
    "supersede by a stored grain",
    "the owner's file",
    "an actor's file",
];

const fn row(
    check: Check,
    says: &'static str,
    effects: [Effect; COLUMNS.len()],
    source: &'static str,
) -> Row {
    Row {
        check,
        says,
        effects,
        source,
    }
}

use Effect::{Note, Refuse, Skip};

/// In the order in which they are asked, cheap ones first.
pub(crate) const TABLE: &[Row] = &[
    row(
        Check::Handle,
        "the handle may write it: author, namespace, role, clearance",
        [Refuse, Refuse, Refuse, Skip, Refuse],
        "OMS 12.1, 27.4",
    ),
    // A file may link ahead: its records are looked through before the first is stored.
    row(
        Check::Links,
        "the token that writes it sees what it links to",
        [Refuse, Refuse, Refuse, Skip, Skip],
        "OMS 12.3",
    ),
    row(
        Check::Erased,
        "it was not deleted here, unless it comes again on request",
        [Refuse, Refuse, Skip, Refuse, Refuse],
        "OMS 28.4",
    ),
    row(
        Check::LockedPerson,
        "its person, if sealed, is unlocked",
        [Refuse, Refuse, Refuse, Refuse, Refuse],
        "security.md",
    ),
    row(
        Check::View,
        "it is no disclosed view of another grain",
        [Refuse, Refuse, Skip, Refuse, Refuse],
        "S13",
    ),
    row(
        Check::OwnershipForm,
        "an ownership claim is well formed and not the agent's own",
        [Refuse, Refuse, Skip, Refuse, Refuse],
        "P11",
    ),
    row(
        Check::Signer,
        "its signer, or an unsigned writer, is trusted to write it",
        [Refuse, Refuse, Skip, Refuse, Refuse],
        "trust.md",
    ),
    row(
        Check::NamesSealed,
        "in the clear, it names no grain that is sealed",
        [Refuse, Refuse, Skip, Refuse, Refuse],
        "security.md",
    ),
    row(
        Check::OwnershipClaim,
        "an ownership claim is stronger than the others that stand",
        [Refuse, Refuse, Skip, Refuse, Refuse],
        "OMS 12.5.3",
    ),
    row(
        Check::ImplicitSupersession,
        "it replaces no current parent but the one it supersedes",
        [Refuse, Refuse, Skip, Note, Refuse],
        "I4",
    ),
    row(
        Check::Delegation,
        "the delegations of its author cover it",
        [Refuse, Refuse, Refuse, Skip, Refuse],
        "OMS 6.11",
    ),
    row(
        Check::Regimes,
        "the regimes in force permit it",
        [Refuse, Refuse, Refuse, Refuse, Refuse],
        "OMS 27",
    ),
    row(
        Check::Dependencies,
        "a goal starts after those it depends on",
        [Refuse, Refuse, Refuse, Note, Refuse],
        "I14, P12",
    ),
    row(
        Check::ConsentWriter,
        "a Consent comes from one who may give or withdraw it",
        [Refuse, Refuse, Refuse, Note, Refuse],
        "I7, P10",
    ),
    row(
        Check::ConsentBasis,
        "the consent it rests on is in force, where one is needed",
        [Refuse, Refuse, Refuse, Refuse, Refuse],
        "OMS 8.10",
    ),
];

/// Returns the tables as Markdown, as docs/policy.md has them: of new grains, and of changes.
#[doc(hidden)]
#[must_use]
pub fn describe() -> [String; 2] {
    [describe_new(), changes::describe()]
}

fn describe_new() -> String {
    let mut page = String::from("| a new grain passes if |");
    for name in COLUMNS {
        let _ = write!(page, " {name} |");
    }
    page.push_str(" source |\n| --- |");
    page.push_str(&" --- |".repeat(COLUMNS.len() + 1));
    for row in TABLE {
        let _ = write!(page, "\n| {} |", row.says);
        for effect in row.effects {
            let _ = write!(page, " {} |", effect.word());
        }
        let _ = write!(page, " {} |", row.source);
    }
    page.push('\n');
    page
}
