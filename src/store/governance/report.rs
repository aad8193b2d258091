//! The policy report: the coverage of the laws of OMS Appendix D, and of the regimes in force.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::Value;
use crate::grain::{Grain, Type};
use crate::index::Snapshot;
use crate::ledger::{EntryId, Kind};
use crate::policy::{
    Clause, Delegation, Mode, Protection, Regime, Regimes, deletion_requires, is_opted_out,
    profile_fields,
};
use crate::store::read::{locked_persons, version_at};
use crate::store::{Error, Owner, governance};

/// The coverage of the laws of OMS Appendix D, and of the regimes in force.
///
/// ```
/// use grainstore::store::{Coverage, Options};
/// use grainstore::{Draft, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("she likes tea").user("ada"))?;
/// let report = store.admin()?.policy_report()?;
/// assert_eq!(report.counts["persons"], 1);
/// let encryption = report.articles.iter().find(|one| one.article == "Art. 32");
/// assert_eq!(encryption.map(|one| one.held), Some(Coverage::Partial));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyReport {
    /// The counts of the store's contents, by name.
    pub counts: BTreeMap<&'static str, u64>,
    /// The articles of Appendix D.
    pub articles: Vec<Article>,
    /// The clauses of the regimes in force.
    pub clauses: Vec<ClauseReport>,
}

/// One article of OMS Appendix D.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Article {
    /// The law.
    pub law: &'static str,
    /// The article or section.
    pub article: &'static str,
    /// The subject of the article.
    pub about: &'static str,
    /// How far this store covers it.
    pub held: Coverage,
    /// The means, and the gaps.
    pub how: &'static str,
    /// The counts that support it.
    pub shown_by: &'static [&'static str],
}

/// How far a store covers a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// On every path.
    Enforced,
    /// In part: the report names the gaps.
    Partial,
    /// Out of scope of a store.
    OutOfScope,
}

/// One clause of a regime in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClauseReport {
    /// The regime and the clause.
    pub name: String,
    /// The place in the law.
    pub cites: String,
    /// The requirement.
    pub says: String,
    /// The part of it that is not implemented.
    pub missing: Option<&'static str>,
    /// The grains stored before that would be refused now.
    pub broken_by: u64,
}

impl Coverage {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partial => "in part",
            Self::OutOfScope => "out of scope",
        }
    }
}

/// See [`Admin::policy_report`](crate::Admin::policy_report).
pub(crate) fn policy_report(owner: Owner<'_>) -> Result<PolicyReport, Error> {
    owner.authorize_whole()?;
    let snapshot = owner.store().snapshot();
    let regimes = governance::regimes(owner);
    let mut tally = Tally {
        clauses: clauses_of(&regimes),
        ..Tally::default()
    };
    for row in snapshot.grains_from(EntryId::FIRST) {
        let version = version_at(owner.store(), &snapshot, row)?;
        tally.add(&version.grain, version.status.is_current(), &regimes);
        if snapshot.overlay_of(row).is_none() {
            tally.add_broken(regimes.sealing(&version.grain));
        }
    }
    tally.count("persons", tally.persons.len() as u64);
    tally.count("sealed persons", owner.engine().state().keys().persons());
    // Of these nothing else is counted.
    tally.count("locked persons", locked_persons(owner.store()));
    tally.count("entries", snapshot.watermark());
    for (name, kind) in KINDS {
        tally.count(name, count_of(&snapshot, *kind)?);
    }
    Ok(PolicyReport {
        counts: tally.counts,
        articles: ARTICLES.to_vec(),
        clauses: tally.clauses,
    })
}

#[derive(Default)]
struct Tally {
    counts: BTreeMap<&'static str, u64>,
    persons: BTreeSet<String>,
    clauses: Vec<ClauseReport>,
}

impl Tally {
    fn count(&mut self, name: &'static str, more: u64) {
        *self.counts.entry(name).or_default() += more;
    }

    fn add(&mut self, grain: &Grain, is_current: bool, regimes: &Regimes) {
        let tags: Vec<&str> = grain
            .field("structural_tags")
            .into_iter()
            .flat_map(Value::texts)
            .collect();
        let tagged = |group: &str| tags.iter().any(|tag| tag.starts_with(group));
        let has = |name: &str| grain.field(name).is_some();
        let flag = |name: &str| grain.field(name).and_then(Value::as_bool) == Some(true);
        let is_personal = has("user_id") || tagged("pii:") || tagged("phi:");
        let protection = Protection::of(grain);
        let is_consent = grain.type_() == Type::Consent;
        let facts = [
            ("grains", true),
            ("current", is_current),
            ("personal", is_personal),
            ("personal without user_id", is_personal && !has("user_id")),
            (
                "personal without processing_basis",
                is_personal && !has("processing_basis"),
            ),
            ("health information", tagged("phi:")),
            ("payment data", tagged("pci:")),
            (
                "with provenance",
                has("provenance_chain") || has("derived_from"),
            ),
            ("with an author", has("author_did")),
            ("signed", grain.is_signed()),
            ("protected", !protection.is_open()),
            ("with mode hold", protection.mode() == Mode::Hold),
            ("with retention", has("retention_policy")),
            ("consents", is_consent && !flag("is_withdrawal")),
            ("withdrawals", is_consent && flag("is_withdrawal")),
            ("delegations", Delegation::of(grain).is_some()),
            ("requiring review", flag("requires_human_review")),
            ("opted out of sale", is_opted_out(grain)),
            ("with deletion_requires", deletion_requires(grain).is_some()),
            (
                "with legal:hold_ref",
                profile_fields(grain, "legal:hold_ref").next().is_some(),
            ),
            // Kept as written: the store does not ask.
            (
                "with visibility or shared_with, not enforced",
                states_visibility(grain),
            ),
            ("encrypted elsewhere, not read", grain.is_encrypted()),
        ];
        for (name, holds) in facts {
            self.count(name, u64::from(holds));
        }
        if let Some(person) = grain.text("user_id") {
            self.persons.insert(person.to_owned());
        }
        self.add_broken(regimes.broken_by(grain));
    }

    /// Counts clauses that a stored grain breaks.
    fn add_broken<'r>(&mut self, broken: impl Iterator<Item = (&'r Regime, &'r Clause)>) {
        for (regime, clause) in broken {
            let name = format!("{}/{}", regime.name(), clause.id);
            if let Some(report) = self.clauses.iter_mut().find(|one| one.name == name) {
                report.broken_by += 1;
            }
        }
    }
}

/// PAM 9: the audience of a memory. It travels with the record; a handle decides access here.
#[cfg(feature = "interchange")]
fn states_visibility(grain: &Grain) -> bool {
    crate::interchange::states_visibility(grain)
}

#[cfg(not(feature = "interchange"))]
const fn states_visibility(_grain: &Grain) -> bool {
    false
}

fn clauses_of(regimes: &Regimes) -> Vec<ClauseReport> {
    let clauses = regimes.iter().flat_map(|regime| {
        regime.clauses().iter().map(|clause| ClauseReport {
            name: format!("{}/{}", regime.name(), clause.id),
            cites: clause.cites.clone(),
            says: clause.says.clone(),
            missing: clause.missing(),
            broken_by: 0,
        })
    });
    clauses.collect()
}

fn count_of(snapshot: &Snapshot, kind: Kind) -> Result<u64, Error> {
    Ok(snapshot.of_kind(kind).rows()?.len())
}

const KINDS: &[(&str, Kind)] = &[
    ("refusals", Kind::Denial),
    ("reads on record", Kind::Read),
    ("reviews", Kind::Review),
    ("legal holds placed or lifted", Kind::Hold),
    ("deletions", Kind::Erased),
    ("imports", Kind::Import),
    ("authors known to the ledger", Kind::Actor),
    ("changes of policy", Kind::Policy),
    ("changes of trust", Kind::Trust),
];

/// OMS Appendix D, article by article.
const ARTICLES: &[Article] = &[
    Article {
        law: "GDPR",
        article: "Art. 5",
        about: "data minimization",
        held: Coverage::Partial,
        how: "user_id scopes what is about a person; that no more is stored than needed nobody checks",
        shown_by: &["persons", "personal", "personal without user_id"],
    },
    Article {
        law: "GDPR",
        article: "Art. 12-23",
        about: "rights of the data subject",
        held: Coverage::Enforced,
        how: "query and export by user; deletion; withdrawals and grants are both kept",
        shown_by: &["persons", "consents", "withdrawals"],
    },
    Article {
        law: "GDPR",
        article: "Art. 17",
        about: "erasure",
        held: Coverage::Partial,
        how: "delete takes bytes, words and entries out of the store's files; holds and retention win; \
              backups keep their copies, for no key can be destroyed yet",
        shown_by: &["deletions", "with mode hold", "with retention"],
    },
    Article {
        law: "GDPR",
        article: "Art. 25",
        about: "privacy by design",
        held: Coverage::Enforced,
        how: "every change is an entry of a hash-chained ledger; handles see their namespace only",
        shown_by: &["entries", "with provenance", "protected"],
    },
    Article {
        law: "GDPR",
        article: "Art. 30",
        about: "records of processing",
        held: Coverage::Enforced,
        how: "each entry has its time and, where a handle made it, its author; refusals are entries",
        shown_by: &["entries", "authors known to the ledger", "refusals"],
    },
    Article {
        law: "GDPR",
        article: "Art. 32",
        about: "security",
        held: Coverage::Partial,
        how: "signatures are checked and kept; grains of persons with a key are encrypted, others are not",
        shown_by: &["signed", "changes of trust", "sealed persons"],
    },
    Article {
        law: "HIPAA",
        article: "164.308",
        about: "administrative safeguards",
        held: Coverage::Enforced,
        how: "the ledger is the audit trail of changes and refusals, and under the preset hipaa of reads",
        shown_by: &["entries", "refusals", "reads on record", "reviews"],
    },
    Article {
        law: "HIPAA",
        article: "164.310",
        about: "physical safeguards",
        held: Coverage::OutOfScope,
        how: "of the machine the store is on",
        shown_by: &[],
    },
    Article {
        law: "HIPAA",
        article: "164.312",
        about: "technical safeguards",
        held: Coverage::Partial,
        how: "any phi: tag takes a handle cleared for it; signatures; the preset hipaa records reads; \
              grains of persons with a key are encrypted, others are not",
        shown_by: &[
            "health information",
            "signed",
            "reads on record",
            "sealed persons",
        ],
    },
    Article {
        law: "HIPAA",
        article: "164.314",
        about: "organizational requirements",
        held: Coverage::OutOfScope,
        how: "contracts; the preset hipaa holds what a store can",
        shown_by: &["changes of policy"],
    },
    Article {
        law: "CCPA",
        article: "collection",
        about: "classification of personal information",
        held: Coverage::Enforced,
        how: "user_id and structural_tags; the preset ccpa asks for both",
        shown_by: &["personal", "personal without processing_basis"],
    },
    Article {
        law: "CCPA",
        article: "disclosure",
        about: "what is told to whom",
        held: Coverage::Enforced,
        how: "grain disclose hides fields; exports leave out what has no basis and count it",
        shown_by: &["personal"],
    },
    Article {
        law: "CCPA",
        article: "deletion",
        about: "at the consumer's request",
        held: Coverage::Partial,
        how: "as GDPR Art. 17",
        shown_by: &["deletions"],
    },
    Article {
        law: "CCPA",
        article: "opt-out",
        about: "of the sale",
        held: Coverage::Partial,
        how: "export --purpose sale leaves out what was opted out of; that an export is a sale, its caller \
              says",
        shown_by: &["opted out of sale"],
    },
];
