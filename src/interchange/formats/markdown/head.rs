//! The frontmatter of a note: what its keys say of all its items, and of single ones.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::Time;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::dialect::{Dialect, Says};
use super::yaml::{self, quoted};

/// The content of a frontmatter.
#[derive(Default)]
pub(super) struct Head {
    pub(super) title: Option<String>,
    pub(super) type_: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) created: Option<Time>,
    /// Its claims about single items; none of it is a right.
    pub(super) grains: Vec<Claim>,
}

/// The claim of a tree of this program about one item.
#[derive(Clone, Default)]
pub(super) struct Claim {
    /// The digest of the text of the item. One that was edited has no claim.
    pub(super) of: String,
    pub(super) address: Option<ContentAddress>,
    pub(super) at: Option<Time>,
    pub(super) confidence: Option<f64>,
    pub(super) tags: Vec<String>,
    /// The claim as it stands, with its line end, if it is a line of its own.
    pub(super) line: Option<String>,
}

impl Head {
    /// Reads a frontmatter.
    ///
    /// # Errors
    /// Why it is not understood; nothing of it is believed then.
    pub(super) fn read(front: &str, dialect: &Dialect) -> Result<Self, String> {
        if front.len() > FRONT_LEN_MAX {
            return Err("the frontmatter is longer than 4 MiB".to_owned());
        }
        let map = yaml::parse(front)?;
        let text = |name: &str| at(&map, name).and_then(Value::as_text);
        let first = |says: Says, names: &[&str]| {
            let own = dialect.key(says).and_then(text);
            let found = own.or_else(|| names.iter().copied().find_map(text));
            found.filter(|it| !it.trim().is_empty()).map(str::to_owned)
        };
        let times = [
            "generated.at",
            "created",
            "created_at",
            "date",
            "updated",
            "modified",
        ];
        Ok(Self {
            title: first(Says::Title, &["title", "name"]),
            type_: first(Says::Type, &["type", "metadata.type"]),
            tags: at(&map, "tags").map(words).unwrap_or_default(),
            created: times.iter().find_map(|name| date(text(name)?)),
            grains: with_lines(at(&map, CLAIMS).map(claims).unwrap_or_default(), front),
        })
    }
}

/// Gives claims that are each a line of a frontmatter these lines.
fn with_lines(mut claims: Vec<Claim>, front: &str) -> Vec<Claim> {
    let mut lines = front.split_inclusive('\n');
    let is_begun = lines.any(|line| line.trim_end() == CLAIMS_KEY);
    let lines = lines.take_while(|line| is_begun && line.starts_with("  - "));
    let lines: Vec<&str> = lines.collect();
    if lines.len() == claims.len() {
        for (claim, line) in claims.iter_mut().zip(lines) {
            claim.line = Some(line.to_owned());
        }
    }
    claims
}

/// Cuts from the head of a note what it repeats of its items: each has its own claim, and the first
/// the description. An erasure of an item does not reach the State of its file.
pub(super) fn without_items(head: &str, dialect: &Dialect, first: &str) -> Value {
    let described = dialect
        .key(Says::Description)
        .map(|name| format!("{name}: "));
    let described = described.map(|key| (format!("{key}{}", quoted(first)), key));
    let (mut parts, mut text, mut is_claims) = (Vec::new(), String::new(), false);
    let mut mark = |text: &mut String, says: &str, line: &str| {
        parts.push(Value::from(std::mem::take(text)));
        let line = Some(("line", line)).filter(|(_, line)| !line.is_empty());
        parts.push(Value::Map([(SAYS, says)].into_iter().chain(line).collect()));
    };
    for line in head.split_inclusive('\n') {
        let bare = line.trim_end();
        let is_inner = bare.is_empty() || line.starts_with([' ', '-', '#']) && bare != "---";
        if is_claims && is_inner {
            continue;
        }
        is_claims = bare.starts_with(CLAIMS_KEY);
        match &described {
            _ if is_claims => {
                let is_alone = bare == CLAIMS_KEY;
                mark(&mut text, CLAIMS, if is_alone { line } else { CLAIMS_LINE });
            }
            Some((own, key)) if bare == own => {
                text.push_str(key);
                mark(&mut text, DESCRIPTION, "");
                text.push_str(line.get(bare.len()..).unwrap_or_default());
            }
            _ => text.push_str(line),
        }
    }
    match parts.is_empty() {
        true => Value::from(text),
        false => {
            parts.push(Value::from(text));
            Value::Array(parts)
        }
    }
}

/// A part of the head of a file, as its State has it.
pub(super) enum HeadPart<'a> {
    Text(&'a str),
    Description,
    /// The claims about items, below this line.
    Claims(&'a str),
}

/// Returns the parts of a head that [`without_items`] has cut.
pub(super) fn parts_of(head: &Value) -> impl Iterator<Item = HeadPart<'_>> {
    let parts = match head {
        Value::Array(parts) => parts.as_slice(),
        whole => std::slice::from_ref(whole),
    };
    parts.iter().filter_map(|part| {
        if let Value::Text(text) = part {
            return Some(HeadPart::Text(text));
        }
        let text = |name: &str| part.as_map()?.get(name)?.as_text();
        match text(SAYS)? {
            DESCRIPTION => Some(HeadPart::Description),
            CLAIMS => Some(HeadPart::Claims(text("line").unwrap_or(CLAIMS_LINE))),
            _ => None,
        }
    })
}

/// Returns a file with the claims of the one that is `there`, where they differ in the address alone and
/// no grain of the store has it.
///
/// Two stores that read an edited line before either wrote the file have a grain each that says it.
/// Each would put the address of its own in the place of the other's, for ever.
pub(super) fn with_claims_of<E>(
    text: &str,
    there: &str,
    has: &dyn Fn(&ContentAddress) -> Result<bool, E>,
) -> Result<String, E> {
    let mut claims: HashMap<(&str, &str), Vec<(&str, &str)>> = HashMap::new();
    for line in there.split_inclusive('\n') {
        if let Some((of, id, rest)) = claim_in(line) {
            claims.entry((of, rest)).or_default().push((id, line));
        }
    }
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let claim = claim_in(line);
        let same = claim.and_then(|(of, id, rest)| {
            let found = claims
                .get_mut(&(of, rest))
                .filter(|found| !found.is_empty())?;
            Some((id, found.remove(0)))
        });
        kept.push_str(match same {
            Some((id, (other, claim))) if id != other => match other.parse() {
                Ok(address) if !has(&address)? => claim,
                _ => line,
            },
            _ => line,
        });
    }
    Ok(kept)
}

/// Returns the digest, the address and the rest of a line that is a claim with an address.
fn claim_in(line: &str) -> Option<(&str, &str, &str)> {
    let (of, rest) = line.strip_prefix(CLAIM)?.split_once("\", id: \"")?;
    let (id, rest) = rest.split_once('"')?;
    Some((of, id, rest))
}

fn at<'a>(map: &'a Map, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        Some((first, rest)) => at(map.get(first)?.as_map()?, rest),
        None => map.get(name),
    }
}

/// Tags are a list, or words between commas and spaces.
fn words(value: &Value) -> Vec<String> {
    let words = value.texts().flat_map(|text| text.split([',', ' ']));
    let words = words.map(|word| word.trim().trim_start_matches('#'));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn claims(value: &Value) -> Vec<Claim> {
    let items = value.as_array().unwrap_or_default().iter();
    let claim = |item: &Value| {
        let map = item.as_map()?;
        let text = |name: &str| map.get(name)?.as_text();
        let confidence = map.get("confidence");
        let confidence = confidence.and_then(|value| match value {
            Value::Text(text) => text.parse().ok(),
            value => value
                .as_f64()
                .or_else(|| Some(f64::from(i32::try_from(value.as_i64()?).ok()?))),
        });
        Some(Claim {
            of: text("of")?.to_owned(),
            address: text("id").and_then(|id| id.parse().ok()),
            at: text("at").and_then(date),
            confidence: confidence.filter(|it| (0.0..=1.0).contains(it)),
            tags: map
                .get("tags")
                .map(|tags| tags.texts().map(str::to_owned).collect())
                .unwrap_or_default(),
            line: None,
        })
    };
    items.filter_map(claim).collect()
}

/// Reads a time, or a day as its beginning in UTC.
pub(super) fn date(text: &str) -> Option<Time> {
    let text = text.trim();
    if let Ok(time) = parse_rfc3339(text) {
        return Some(time);
    }
    let (day, rest) = text.split_at_checked(10)?;
    let clock = rest.trim_start_matches(['T', ' ']);
    let clock = match clock.len() {
        0 => "00:00:00".to_owned(),
        5 => format!("{clock}:00"),
        _ => clock.to_owned(),
    };
    parse_rfc3339(&format!("{day}T{clock}Z")).ok()
}

/// Returns the day that a name begins with.
pub(super) fn day_of_name(stem: &str) -> Option<Time> {
    let (day, rest) = stem.split_at_checked(10)?;
    let is_end = rest.is_empty() || rest.starts_with(['-', '_', ' ', '.']);
    is_end.then(|| date(day)).flatten()
}

/// The key of the claims about items.
const CLAIMS: &str = "grains";
const CLAIMS_KEY: &str = "grains:";
/// The begin of a claim that is a line.
pub(super) const CLAIM: &str = "  - {of: \"";
const CLAIMS_LINE: &str = "grains:\n";
const SAYS: &str = "says";
const DESCRIPTION: &str = "description";

const FRONT_LEN_MAX: usize = 4 << 20;
