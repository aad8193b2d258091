//! The elements of the long arrays of an export, each by itself.

use crate::codec::{Map, Value};
use crate::interchange::json::Spot;

use super::conversation::Talk;
use super::fact::Fact;
use super::{Provider, chatgpt, claude, claude_memory, grok, grok_fact};

/// What an element says.
pub(super) enum Item {
    Talk(Box<Talk>),
    Facts(Vec<Fact>),
    /// Nothing that is read.
    Other,
}

impl Provider {
    /// Returns the names of the long arrays of a file; one without a name is the file itself.
    pub(super) const fn arrays(self) -> &'static [&'static str] {
        match self {
            Self::Grok => &["conversations", "media_posts", "projects"],
            _ => &[""],
        }
    }

    /// Reads an element of one of them.
    pub(super) fn item(self, value: &Value, spot: Spot) -> Item {
        let Some(map) = value.as_map() else {
            return Item::Other;
        };
        let array = self.arrays().get(spot.array).copied().unwrap_or_default();
        match self {
            Self::Chatgpt => said(chatgpt::talk(map)),
            Self::Claude => match said(claude::talk(map)) {
                Item::Other => known(map),
                talk => talk,
            },
            Self::Grok if array == "conversations" => said(grok::talk(map)),
            Self::Grok => match grok_fact::fact(array, map) {
                Some(fact) => Item::Facts(vec![fact]),
                None => Item::Other,
            },
            Self::Gemini | Self::Copilot => Item::Other,
        }
    }
}

fn said(talk: Option<Talk>) -> Item {
    talk.map_or(Item::Other, |talk| Item::Talk(Box::new(talk)))
}

fn known(map: &Map) -> Item {
    let facts = claude_memory::memories(map).or_else(|| claude_memory::project(map));
    facts.map_or(Item::Other, Item::Facts)
}
