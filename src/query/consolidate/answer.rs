//! The answer of a program: a belief a line. A line names turns and beliefs by the ids that the program was
//! given, so that it can name nothing else; a member beside the statement, its sources and its times is refused.

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::query::day;

/// A belief that a program states.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) subject: String,
    pub(super) relation: String,
    pub(super) object: String,
    pub(super) confidence: f64,
    /// The places of the turns that it is derived from.
    pub(super) sources: Vec<usize>,
    /// The place of the belief that it replaces.
    pub(super) replaces: Option<usize>,
    pub(super) valid_from: Option<Time>,
    pub(super) valid_to: Option<Time>,
}

/// A line, counted from 1, and the belief on it or why it is none.
pub(super) type AnswerLine = (u64, Result<Answer, String>);

/// Reads the lines of an answer about so many turns and beliefs.
///
/// # Errors
/// The reason for which the whole is refused: more lines than [`LINES_MAX`], or none that is a belief.
pub(super) fn read(text: &str, turns: usize, beliefs: usize) -> Result<Vec<AnswerLine>, String> {
    let mut answers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        if answers.len() == LINES_MAX {
            return Err(format!("the answer has more than {LINES_MAX} lines"));
        }
        answers.push((number, read_line(line, turns, beliefs)));
    }
    let is_usable = answers.is_empty() || answers.iter().any(|(_, answer)| answer.is_ok());
    match answers.first() {
        // A text that a model writes instead of an answer must not use the turns up.
        Some((number, Err(reason))) if !is_usable => Err(format!("line {number} {reason}")),
        _ => Ok(answers),
    }
}

fn read_line(line: &str, turns: usize, beliefs: usize) -> Result<Answer, String> {
    if line.len() > LINE_LEN_MAX {
        return Err(format!("has more than {LINE_LEN_MAX} bytes"));
    }
    let value = Value::from_json(line).map_err(|error| format!("is no JSON: {error}"))?;
    let members = value.as_map().ok_or("is no JSON object")?;
    let mut names = members.iter().map(|(name, _)| name);
    if let Some(name) = names.find(|name| !MEMBERS.contains(name)) {
        let name: String = name.chars().take(NAME_LEN_MAX).collect();
        return Err(format!("has the member {name:?}, which no answer has"));
    }
    let confidence = match members.get("confidence") {
        None => CONFIDENCE,
        Some(value) => number(value)
            .filter(|it| (0.0..=1.0).contains(it))
            .ok_or("has a confidence that is no number from 0 to 1")?,
    };
    let sources = match members.get("derived_from") {
        None => (0..turns).collect(),
        Some(ids) => sources(ids, turns)?,
    };
    let replaces = match members.get("supersedes") {
        None | Some(Value::Nil) => None,
        Some(id) => Some(place(id, 'b', beliefs).ok_or("supersedes no belief that was given")?),
    };
    Ok(Answer {
        subject: text(members, "subject")?,
        relation: text(members, "relation")?,
        object: text(members, "object")?,
        confidence,
        sources,
        replaces,
        valid_from: time(members, "valid_from")?,
        valid_to: time(members, "valid_to")?,
    })
}

fn text(members: &Map, name: &str) -> Result<String, String> {
    let text = members.get(name).and_then(Value::as_text).map(str::trim);
    let text = text.filter(|text| !text.is_empty());
    Ok(text
        .ok_or_else(|| format!("has no {name}, a text"))?
        .to_owned())
}

fn time(members: &Map, name: &str) -> Result<Option<Time>, String> {
    match members.get(name) {
        None | Some(Value::Nil) => Ok(None),
        Some(value) => {
            let period = value.as_text().and_then(day::written);
            let time = period.map(|period| match name {
                "valid_to" => *period.end(),
                _ => *period.start(),
            });
            let wrong = || format!("has a {name} that is no time, such as 2026-10-02T08:00:00Z");
            Ok(Some(time.ok_or_else(wrong)?))
        }
    }
}

fn sources(ids: &Value, turns: usize) -> Result<Vec<usize>, String> {
    let ids = ids.as_array().filter(|ids| !ids.is_empty());
    let ids = ids.ok_or("has a derived_from that is no array of ids")?;
    let places = ids.iter().map(|id| place(id, 't', turns));
    let mut places = places
        .collect::<Option<Vec<_>>>()
        .ok_or("is derived from a turn that was not given")?;
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Returns the place that an id names: `t1` is the first turn.
fn place(id: &Value, kind: char, count: usize) -> Option<usize> {
    let number = id.as_text()?.strip_prefix(kind)?.parse::<usize>().ok()?;
    number.checked_sub(1).filter(|place| *place < count)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) => Some(*float),
        Value::Int(int) => Some(int.to_f64()),
        _ => None,
    }
}

/// The members of an answer: none by which a program could claim an author, a person, a policy or a time of
/// storage.
const MEMBERS: [&str; 8] = [
    "subject",
    "relation",
    "object",
    "confidence",
    "derived_from",
    "supersedes",
    "valid_from",
    "valid_to",
];

/// The confidence of a belief whose line states none.
const CONFIDENCE: f64 = 0.8;

/// The most beliefs of an answer.
const LINES_MAX: usize = 1_000;

/// The longest line, in bytes.
const LINE_LEN_MAX: usize = 64 << 10;

/// So much of the name of a member is repeated in a message.
const NAME_LEN_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        read_line(line, 2, 1).unwrap_err()
    }

    #[test]
    fn an_answer_is_a_statement_its_sources_and_what_it_replaces() {
        let line = r#"{"subject":"Ana","relation":"prefers","object":" pnpm ","confidence":1,
            "derived_from":["t2","t1","t2"],"supersedes":"b1","valid_from":"2026-10-02"}"#;
        let answer = read_line(line, 2, 1).unwrap();
        assert_eq!((&*answer.object, answer.confidence), ("pnpm", 1.0));
        assert_eq!((answer.sources, answer.replaces), (vec![0, 1], Some(0)));
        assert_eq!(answer.valid_from, Time::parse("2026-10-02T00:00:00Z").ok());
        let line = r#"{"subject":"a","relation":"b","object":"c","valid_from":"2026-02","valid_to":"2026-02"}"#;
        let answer = read_line(line, 2, 1).unwrap();
        assert_eq!(answer.valid_from, Time::parse("2026-02-01T00:00:00Z").ok());
        assert_eq!(
            answer.valid_to,
            Time::parse("2026-02-28T23:59:59.999Z").ok()
        );
        let line = r#"{"subject":"a","relation":"b","object":"c","supersedes":null}"#;
        assert_eq!(read_line(line, 2, 1).unwrap().sources, [0, 1]);
    }

    #[test]
    fn what_is_no_answer_is_refused_with_its_reason() {
        let with = |members: &str| {
            refusal(&format!(
                "{{\"subject\":\"a\",\"relation\":\"b\",\"object\":\"c\",{members}}}"
            ))
        };
        assert!(refusal("Sure! Here are the facts:").starts_with("is no JSON"));
        assert!(refusal("[]").contains("no JSON object"));
        assert!(refusal(r#"{"subject":"a","relation":" ","object":"c"}"#).contains("relation"));
        assert!(refusal(&"[".repeat(LINE_LEN_MAX + 1)).contains("bytes"));
        assert!(refusal(&"[".repeat(LINE_LEN_MAX)).contains("no JSON"));
        for member in [
            r#""user_id":"ben""#,
            r#""author_did":"did:web:x""#,
            r#""invalidation_policy":{}"#,
        ] {
            assert!(with(member).contains("which no answer has"), "{member}");
        }
        for member in [
            r#""derived_from":["t3"]"#,
            r#""derived_from":["t0"]"#,
            r#""derived_from":[]"#,
            r#""derived_from":"t1""#,
            r#""supersedes":"b2""#,
            r#""supersedes":"t1""#,
            r#""confidence":2"#,
            r#""confidence":"high""#,
            r#""valid_to":"soon""#,
        ] {
            drop(with(member));
        }
        let address = "a".repeat(64);
        assert!(with(&format!("\"supersedes\":\"{address}\"")).contains("supersedes no belief"));
    }

    #[test]
    fn an_answer_without_a_belief_is_refused_as_a_whole_and_an_empty_one_is_none() {
        assert_eq!(read("\n  \n", 1, 0), Ok(Vec::new()));
        assert!(read("I cannot do that.\n", 1, 0).is_err());
        let mixed = "Facts:\n\n{\"subject\":\"a\",\"relation\":\"b\",\"object\":\"c\"}\n";
        let read_mixed = read(mixed, 1, 0).unwrap();
        assert!(read_mixed[0].1.is_err() && read_mixed[1].0 == 3);
        assert!(read(&"{}\n".repeat(LINES_MAX + 1), 1, 0).is_err());
    }
}
