//! Whom a grain is about (OMS 6.1, 8.10): the one definition that reports, erasures and seals share.

use std::borrow::Cow;

use crate::codec::{Map, Value};

use super::Grain;

/// The places by which a grain is about a person. The last ones are in a record of another format:
/// the subject of an OMI record or file (OMI 6.1), the title of a note.
pub(crate) const ABOUT: [&str; 6] = [
    USER,
    "subject_did",
    "subject",
    "context.x-omi.subject.id",
    "context.x-omi-inherited.subject.id",
    "context.x-markdown.title",
];

/// The field that alone decides where it is present: a grain of one user is not about another.
pub(crate) const USER: &str = "user_id";

/// Returns the identifiers of the persons that a grain is about: its `user_id`, else what its other
/// places of [`ABOUT`] say. A subject need not be a person; the caller knows which are.
pub(crate) fn about(grain: &Grain) -> Vec<Cow<'_, str>> {
    if let Some(user) = grain.text(USER) {
        return vec![Cow::Borrowed(user)];
    }
    let context = grain.field("context").and_then(Value::as_map);
    let places = ABOUT.iter().filter_map(|place| {
        let Some(("context", inner)) = place.split_once('.') else {
            return grain.text(place).map(Cow::Borrowed);
        };
        let (member, path) = inner.split_once('.')?;
        let record = foreign_record(member, context?.get(member)?)?;
        Some(Cow::Owned(text_at(&record, path)?.to_owned()))
    });
    places.collect()
}

/// Returns the record of another format that a member of a context carries as JSON.
pub(crate) fn foreign_record(member: &str, value: &Value) -> Option<Value> {
    let text = value.as_text().filter(|_| member.starts_with("x-"))?;
    Value::from_json(text).ok()
}

fn text_at<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    let mut path = path.split('.');
    path.try_fold(value, |value, name| {
        value.as_map().and_then(|map: &Map| map.get(name))
    })?
    .as_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Profile;
    use crate::grain::{Draft, Time};

    #[test]
    fn a_user_decides_alone_and_else_every_subject_counts() {
        let record = r#"{"subject":{"id":"u1","label":"Ana"}}"#;
        let context: Map = [("x-omi", record)].into_iter().collect();
        let draft = Draft::event("hello")
            .set("context", context)
            .set("subject", "ana");
        let draft = draft.created_at(Time::from_ms(1));
        let grain = draft.clone().finish(Profile::Extended).unwrap();
        assert_eq!(about(&grain), ["ana", "u1"]);
        let grain = draft.user("bob").finish(Profile::Extended).unwrap();
        assert_eq!(about(&grain), ["bob"]);
    }
}
