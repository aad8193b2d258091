//! The words of a grain, as methods of it.

use std::borrow::Cow;

use super::Grain;
use super::wording;

impl Grain {
    /// Returns the fields that full-text search reads, with their text, in a fixed order.
    pub fn searchable_text(&self) -> Vec<(&'static str, String)> {
        wording::searchable_text(self)
    }

    /// Returns the content of the grain in one line.
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// let belief = Draft::belief("user", "mg:prefers", "dark mode").confidence(0.9);
    /// let grain = belief.created_at(Time::from_ms(0)).finish(Default::default())?;
    /// assert_eq!(grain.summary(), "user prefers dark mode");
    ///
    /// let consent = Draft::consent("did:web:mira", "did:web:shop", ["store", "retrieve"]);
    /// let grain = consent.created_at(Time::from_ms(0)).finish(Default::default())?;
    /// assert_eq!(grain.summary(), "did:web:mira lets did:web:shop store, retrieve");
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn summary(&self) -> String {
        wording::summary(self)
    }

    /// Returns the content of the grain in one line, for a prompt: without its tags, and without
    /// values that only identify. Members of maps stand beside their names.
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// let belief = Draft::belief("mira", "mg:prefers", "dark mode").confidence(0.9);
    /// let belief = belief.set("structural_tags", vec!["work".to_owned()]);
    /// let grain = belief.created_at(Time::from_ms(0)).finish(Default::default())?;
    /// assert_eq!(grain.summary(), "mira prefers dark mode work");
    /// assert_eq!(grain.sentence(), "mira prefers dark mode");
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn sentence(&self) -> String {
        wording::sentence(self)
    }

    /// Returns the text of an Event: its text blocks, a line each, or its content where no block has
    /// text (OMS 6.2). `None` for another type.
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// let event = r#"{"type":"event","content":"a photo","created_at":1,
    ///     "content_blocks":[{"type":"text","text":"Look!"},{"type":"image","source":"u"}]}"#;
    /// let grain = Draft::from_json(event)?.finish(Default::default())?;
    /// assert_eq!(grain.message_text().as_deref(), Some("Look!"));
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn message_text(&self) -> Option<Cow<'_, str>> {
        wording::message_text(self)
    }

    /// Returns whether the grain was built from a record of another format, whose text is a whole
    /// one.
    #[cfg(any(feature = "interchange", feature = "text"))]
    pub(crate) fn is_record(&self) -> bool {
        wording::is_record(self)
    }
}
