//! Which facts contradict each other: by their links, and by what they state.
//!
//! Two statements contradict each other if their relation has one value at a time and theirs differ,
//! or if they relate the same by opposite relations. Every other relation may have several values.

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Type};

/// The parts of a fact that are compared.
#[derive(Debug)]
pub(super) struct Claim {
    address: ContentAddress,
    /// Whether it is a saved state, which comes after what is known.
    pub(super) is_state: bool,
    /// The grains that it says it contradicts.
    links: Vec<ContentAddress>,
    statement: Option<Statement>,
}

#[derive(Debug)]
struct Statement {
    /// Whose it is: the subject, the user and the namespace.
    about: [String; 3],
    relation: String,
    object: String,
}

impl Claim {
    pub(super) fn of(grain: &Grain) -> Self {
        Self {
            address: grain.address(),
            is_state: grain.type_() == Type::State,
            links: contradicted_by(grain),
            statement: Statement::of(grain),
        }
    }

    pub(super) fn contradicts(&self, other: &Self) -> bool {
        let by_statement = match (&self.statement, &other.statement) {
            (Some(one), Some(other)) => one.contradicts(other),
            _ => false,
        };
        by_statement || self.links.contains(&other.address) || other.links.contains(&self.address)
    }
}

impl Statement {
    fn of(grain: &Grain) -> Option<Self> {
        if grain.type_() != Type::Belief || grain.is_record() {
            return None;
        }
        let relation = grain.text("relation")?.to_lowercase();
        let relation = relation.strip_prefix("mg:").unwrap_or(&relation);
        let relation = relation.replace([' ', '-'], "_");
        // Most relations may have several values, and none that is their opposite.
        if !has_one_value(&relation) && !OPPOSITES.as_flattened().contains(&relation.as_str()) {
            return None;
        }
        let triple = grain.triple()?;
        let field = |name| grain.text(name).unwrap_or_default().to_lowercase();
        Some(Self {
            about: [
                triple.subject?.to_lowercase(),
                field("user_id"),
                field("namespace"),
            ],
            relation,
            object: triple.object?.trim().to_lowercase(),
        })
    }

    fn contradicts(&self, other: &Self) -> bool {
        if self.about != other.about {
            return false;
        }
        let pair = [self.relation.as_str(), &other.relation];
        let is_opposite = OPPOSITES
            .iter()
            .any(|[one, other]| pair == [*one, *other] || pair == [*other, *one]);
        if self.object == other.object {
            is_opposite
        } else {
            self.relation == other.relation && has_one_value(&self.relation)
        }
    }
}

/// Returns the grains that a grain says it contradicts (OMS 14, `related_to`).
pub(in crate::query) fn contradicted_by(grain: &Grain) -> Vec<ContentAddress> {
    let links = grain.field("related_to").and_then(Value::as_array);
    let links = links.unwrap_or_default().iter().filter_map(Value::as_map);
    let text =
        |link: &crate::codec::Map, name| link.get(name).and_then(Value::as_text).map(str::to_owned);
    let contradicting = links.filter(|link| text(link, "relation_type").as_deref() == Some(LINK));
    let addresses = contradicting.filter_map(|link| text(link, "hash"));
    addresses
        .filter_map(|hash| ContentAddress::from_reference(&hash).ok())
        .collect()
}

fn has_one_value(relation: &str) -> bool {
    SINGLE.contains(&relation) || SINGLE_ENDS.iter().any(|end| relation.ends_with(end))
}

const LINK: &str = "contradicts";

/// Relations of which a subject has one at a time.
const SINGLE: [&str; 22] = [
    "lives_in",
    "lives_at",
    "resides_in",
    "located_in",
    "home_town",
    "works_at",
    "works_for",
    "employed_by",
    "employer",
    "occupation",
    "job_title",
    "born_in",
    "born_on",
    "birthday",
    "date_of_birth",
    "age",
    "married_to",
    "name",
    "full_name",
    "timezone",
    "nationality",
    "native_language",
];

/// Endings of such relations.
const SINGLE_ENDS: [&str; 4] = ["_level", "_status", "_address", "_number"];

/// Relations of which a subject does not have both to one object.
const OPPOSITES: [[&str; 2]; 10] = [
    ["likes", "dislikes"],
    ["likes", "hates"],
    ["loves", "hates"],
    ["loves", "dislikes"],
    ["prefers", "avoids"],
    ["prefers", "dislikes"],
    ["is", "is_not"],
    ["has", "has_no"],
    ["eats", "does_not_eat"],
    ["wants", "does_not_want"],
];
