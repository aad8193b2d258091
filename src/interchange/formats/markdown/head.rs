//! The frontmatter of a note: what its keys say of all its items, and of single ones.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::Time;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::dialect::{Dialect, Says};
use super::yaml;

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
            grains: at(&map, "grains").map(claims).unwrap_or_default(),
        })
    }
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

const FRONT_LEN_MAX: usize = 4 << 20;
