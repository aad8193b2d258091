//! Regimes: the requirements of a law, as a TOML document of clauses.
//!
//! The presets lie beside this file. Which operations ask a regime is decided in the store.

use serde::Deserialize;

use crate::codec::Value;
use crate::grain::{Grain, Namespace, Time, Type};

use super::Error;
use super::transfer::{profile_fields, tags};

/// The requirements of a law, as a readable document: which grains each clause is about, and what
/// it requires of them.
///
/// ```
/// use grainstore::policy::Regime;
///
/// let hipaa = Regime::preset("hipaa").expect("a preset");
/// assert!(hipaa.clauses().iter().any(|clause| clause.id == "phi-basis"));
/// let own = Regime::parse("name = \"own\"\ntitle = \"ours\"\n")?;
/// assert!(own.clauses().is_empty());
/// assert!(Regime::parse("name = \"own\"\ntitle = \"ours\"\nruel = 1\n").is_err());
/// # Ok::<(), grainstore::policy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Regime {
    document: Document,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: String,
    title: String,
    #[serde(default, rename = "clause")]
    clauses: Vec<Clause>,
}

/// One clause of a regime.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Clause {
    /// Its name within the regime.
    pub id: String,
    /// The article of the law, or the section of OMS.
    pub cites: String,
    /// Its requirement, in a sentence.
    pub says: String,
    /// The grains it is about; all of them by default.
    #[serde(default)]
    pub when: When,
    /// Its requirements.
    pub requires: Requires,
}

/// The grains that a clause is about: each given list must match, with one of its items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct When {
    /// Structural tags; one that ends in `*` is the beginning of a tag.
    pub tags: Vec<String>,
    /// Names of grain types.
    pub types: Vec<String>,
    /// Fields that are there.
    pub fields: Vec<String>,
    /// Namespaces, those inside them included.
    pub namespaces: Vec<Namespace>,
}

/// The requirements of a clause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Requires {
    /// Fields that must be there, to be stored.
    pub fields: Vec<String>,
    /// Tags of which one must be there, to be stored.
    pub tags: Vec<String>,
    /// Whether it must not be stored at all.
    pub never_stored: bool,
    /// Whether it must be signed, to be stored.
    pub signature: bool,
    /// Whether changes need a reason.
    pub justification: bool,
    /// Whether a person reviews changes afterwards.
    pub review: bool,
    /// How many years it is kept, from its creation.
    pub retention_years: i64,
    /// Fields that must be there, to leave the store.
    pub export_fields: Vec<String>,
    /// Whether it must not leave the store.
    pub never_exported: bool,
    /// Whether it is stored under a key that can be destroyed, and never in the clear.
    pub sealed: bool,
    /// Whether each read of it is recorded.
    pub read_audit: bool,
}

/// All regimes that are in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Regimes(Vec<Regime>);

impl Regime {
    /// The names of the presets.
    pub const PRESETS: [&str; 6] = ["gdpr", "hipaa", "sox", "ccpa", "lgpd", "pci"];

    /// Returns a preset.
    pub fn preset(name: &str) -> Option<Self> {
        let (_, text) = TEXTS.iter().find(|(own, _)| *own == name)?;
        Self::parse(text).ok()
    }

    /// Reads a document. An unknown member is an error: a misspelt clause would protect no grain.
    ///
    /// # Errors
    /// `ERR_POLICY`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let document: Document = toml::from_str(text).map_err(|error| Error::Regime {
            reason: error.message().to_owned(),
        })?;
        for clause in &document.clauses {
            let unknown = clause
                .when
                .types
                .iter()
                .find(|of| Type::named(of).is_none());
            if let Some(of) = unknown {
                let reason = format!("clause {}: no type is called {of}", clause.id);
                return Err(Error::Regime { reason });
            }
        }
        Ok(Self {
            document,
            text: text.to_owned(),
        })
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// Returns its title.
    pub fn title(&self) -> &str {
        &self.document.title
    }

    /// Returns the document as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its clauses.
    pub fn clauses(&self) -> &[Clause] {
        &self.document.clauses
    }

    /// Returns the clauses with a requirement that this build cannot meet, and its name.
    pub fn gaps(&self) -> impl Iterator<Item = (&Clause, &'static str)> {
        let clauses = self.clauses().iter();
        clauses.filter_map(|clause| Some((clause, clause.missing()?)))
    }
}

impl Regimes {
    /// Returns these regimes, in force together.
    pub const fn new(regimes: Vec<Regime>) -> Self {
        Self(regimes)
    }

    /// Returns each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Regime> + Clone {
        self.0.iter()
    }

    /// Returns the first clause that a grain breaks if it is stored.
    pub fn refuses(&self, grain: &Grain) -> Option<(&Regime, &Clause)> {
        self.broken_by(grain).next()
    }

    /// Returns the clauses that a grain breaks if it is stored.
    pub fn broken_by(&self, grain: &Grain) -> impl Iterator<Item = (&Regime, &Clause)> {
        self.about(grain)
            .filter(|(_, clause)| clause.requires.is_broken_by(grain))
    }

    /// Returns the first clause that a grain breaks if it is stored in the clear.
    pub fn seals(&self, grain: &Grain) -> Option<(&Regime, &Clause)> {
        self.sealing(grain).next()
    }

    /// Returns the clauses that a grain breaks if it is stored in the clear.
    pub fn sealing(&self, grain: &Grain) -> impl Iterator<Item = (&Regime, &Clause)> {
        self.about(grain)
            .filter(|(_, clause)| clause.requires.sealed)
    }

    /// Returns the first clause that a change without a reason breaks.
    pub fn asks_why(&self, grain: &Grain) -> Option<(&Regime, &Clause)> {
        self.about(grain)
            .find(|(_, clause)| clause.requires.justification)
    }

    /// Returns whether a person reviews changes of a grain afterwards.
    pub fn reviews(&self, grain: &Grain) -> bool {
        self.about(grain).any(|(_, clause)| clause.requires.review)
    }

    /// Returns whether any clause requires reads to be recorded.
    pub fn record_reads(&self) -> bool {
        self.recording().next().is_some()
    }

    /// Returns the clauses that require reads to be recorded, whatever grains they are about.
    pub fn recording(&self) -> impl Iterator<Item = (&Regime, &Clause)> {
        self.clauses()
            .filter(|(_, clause)| clause.requires.read_audit)
    }

    /// Returns the clauses that require reads of a grain to be recorded.
    pub fn recording_reads_of(&self, grain: &Grain) -> impl Iterator<Item = (&Regime, &Clause)> {
        self.recording()
            .filter(move |(_, clause)| clause.when.is(grain))
    }

    /// Returns until when a grain is kept.
    pub fn retained_until(&self, grain: &Grain) -> Option<Time> {
        let years = self.about(grain);
        let years = years.map(|(_, clause)| clause.requires.retention_years);
        let years = years.max().filter(|years| *years > 0)?;
        Some(super::retention::after_years(grain.created_at(), years))
    }

    /// Returns the first clause that keeps a grain in the store.
    pub fn keeps(&self, grain: &Grain) -> Option<(&Regime, &Clause)> {
        self.about(grain).find(|(_, clause)| {
            let fields = &clause.requires.export_fields;
            clause.requires.never_exported || fields.iter().any(|name| !has(grain, name))
        })
    }

    fn about(&self, grain: &Grain) -> impl Iterator<Item = (&Regime, &Clause)> {
        self.clauses()
            .filter(move |(_, clause)| clause.when.is(grain))
    }

    fn clauses(&self) -> impl Iterator<Item = (&Regime, &Clause)> {
        self.iter().flat_map(|regime| {
            let clauses = regime.clauses().iter();
            clauses.map(move |clause| (regime, clause))
        })
    }
}

impl Clause {
    /// Returns the requirement that this build cannot meet, if it has one.
    pub const fn missing(&self) -> Option<&'static str> {
        if self.requires.sealed && !cfg!(feature = "sealing") {
            Some("sealing")
        } else {
            None
        }
    }
}

impl Requires {
    fn is_broken_by(&self, grain: &Grain) -> bool {
        let tagged = || tags(grain).any(|tag| matches(&self.tags, tag));
        self.never_stored
            || self.fields.iter().any(|name| !has(grain, name))
            || (!self.tags.is_empty() && !tagged())
            || (self.signature && !grain.is_signed())
    }
}

impl When {
    fn is(&self, grain: &Grain) -> bool {
        let namespace = grain.text("namespace").unwrap_or_default();
        let of = grain.type_().name();
        let any = |list: &[String], holds: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|one| holds(one))
        };
        (self.tags.is_empty() || tags(grain).any(|tag| matches(&self.tags, tag)))
            && any(&self.types, &|one| of == Some(one))
            && any(&self.fields, &|name| has(grain, name))
            && (self.namespaces.is_empty()
                || self
                    .namespaces
                    .iter()
                    .any(|outer| outer.contains(namespace)))
    }
}

fn matches(patterns: &[String], tag: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => tag.starts_with(start),
            None => tag == pattern,
        })
}

/// Returns whether a field has a value; the empty text is none. A field of a profile, whose name has
/// a colon, may stand in `context` (ruling P3).
fn has(grain: &Grain, name: &str) -> bool {
    let says = |value: &Value| value.as_text() != Some("");
    match name.contains(':') {
        true => profile_fields(grain, name).any(says),
        false => grain.field(name).is_some_and(says),
    }
}

const TEXTS: [(&str, &str); 6] = [
    ("gdpr", include_str!("gdpr.toml")),
    ("hipaa", include_str!("hipaa.toml")),
    ("sox", include_str!("sox.toml")),
    ("ccpa", include_str!("ccpa.toml")),
    ("lgpd", include_str!("lgpd.toml")),
    ("pci", include_str!("pci.toml")),
];
