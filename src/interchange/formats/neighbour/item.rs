//! An item: one thing that an element of a source says, on its way to a grain.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Lifecycle, Time};

/// One thing that an element of a source says.
#[derive(Default)]
pub(super) struct Item {
    /// The id of the source, or one derived from what is said.
    pub(super) id: String,
    /// The user that the element names.
    pub(super) user: Option<String>,
    pub(super) session: Option<String>,
    /// `None`: that of the file.
    pub(super) created: Option<Time>,
    pub(super) updated: Option<Time>,
    pub(super) valid_from: Option<Time>,
    pub(super) valid_to: Option<Time>,
    /// When the source ended it.
    pub(super) ended: Option<Time>,
    /// How it ended; `None`: it was replaced.
    pub(super) ended_as: Option<Lifecycle>,
    pub(super) tags: Vec<String>,
    pub(super) derived: Vec<ContentAddress>,
    pub(super) said: Said,
    /// The members of the element without a place of their own.
    pub(super) record: Map,
}

/// The content of an item.
pub(super) enum Said {
    Fact(Fact),
    Turn(Turn),
}

/// A fact.
pub(super) struct Fact {
    /// `None`: the user.
    pub(super) subject: Option<String>,
    /// `None`: a fact about the user, in words.
    pub(super) relation: Option<String>,
    /// Text or an object.
    pub(super) object: Value,
    /// The fact as a sentence, where the source has one beside its parts.
    pub(super) sentence: Option<String>,
}

/// A message.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) role: Option<&'static str>,
    pub(super) text: String,
    /// The blocks of OMS 6.2, where there is more than text.
    pub(super) blocks: Vec<Value>,
    pub(super) parent: Option<String>,
    pub(super) model: Option<String>,
    /// The members of the context of the grain.
    pub(super) context: Map,
}

impl Default for Fact {
    fn default() -> Self {
        Self {
            subject: None,
            relation: None,
            object: Value::Nil,
            sentence: None,
        }
    }
}

impl Default for Said {
    fn default() -> Self {
        Self::Fact(Fact::default())
    }
}

impl Item {
    /// Returns a fact about the user, in words.
    pub(super) fn note(id: String, text: &str) -> Self {
        Self::fact(id, None, None, text)
    }

    /// Returns a statement.
    pub(super) fn triple(id: String, subject: &str, relation: &str, object: &str) -> Self {
        Self::fact(id, Some(subject), Some(relation), object)
    }

    fn fact(id: String, subject: Option<&str>, relation: Option<&str>, object: &str) -> Self {
        Self {
            id,
            said: Said::Fact(Fact {
                subject: subject.map(str::to_owned),
                relation: relation.map(str::to_owned),
                object: object.into(),
                sentence: None,
            }),
            ..Self::default()
        }
    }
}
