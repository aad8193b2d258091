//! The domain profiles a grain declares by its tags (OMS Appendix A).
//!
//! Their rules bind the writer of a grain; a grain from elsewhere is kept with a warning. Rules
//! about export need the store and are not here.

use std::collections::BTreeSet;

use crate::codec::{Map, Value};

use super::enum_values::not_listed;
use super::findings::Findings;
use super::profile_table::PROFILES;
use super::required_fields::is_present;
use super::{jq, licence};
use crate::grain::Error;
use crate::grain::fields::{Fields, field};

/// A domain profile: its tag, the prefix of its fields, and what they hold.
pub(super) struct Profile {
    pub(super) tag: &'static str,
    pub(super) prefix: &'static str,
    pub(super) fields: &'static [(&'static str, Holds)],
    /// The fields that the profile recommends, and what is said where one is absent.
    pub(super) recommended: &'static [(&'static str, &'static str)],
}

/// The kind of value that a profile's field holds.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    Text,
    Texts,
    Int,
    /// An integer that is not negative.
    Count,
    /// An integer or a double: JSON does not tell them apart.
    Number,
    /// A number within bounds, and the bounds in words.
    Share(f64, f64, &'static str),
    Flag,
    Map,
    /// One of the texts listed.
    OneOf(&'static [&'static str]),
}

/// The profiles a grain declares, judged step by step in the order of ruling T15.
pub(super) struct Declared<'a> {
    profiles: Vec<&'static Profile>,
    fields: &'a Fields<'a>,
}

impl<'a> Declared<'a> {
    /// OMS A, rule 2: a profile binds where its tag is present, and only there.
    pub(super) fn of(fields: &'a Fields<'a>) -> Self {
        let tags = fields.get(field!("structural_tags"));
        let tags = tags.into_iter().flat_map(Value::texts);
        let mut profiles: Vec<_> = tags
            .filter(|tag| tag.starts_with("profile:"))
            .filter_map(|tag| PROFILES.iter().find(|profile| profile.tag == tag))
            .collect();
        profiles.dedup_by_key(|profile| profile.tag);
        Self { profiles, fields }
    }

    pub(super) fn check_presence(&self, findings: &mut Findings) -> Result<(), Error> {
        // OMS A.1: health information is held for a reason that is named.
        if self.has_health_information() && !is_present(self.fields, field!("processing_basis")) {
            findings.writer_rule(Error::Missing {
                field: "processing_basis",
                of: "profile:healthcare with phi: tags".into(),
            })?;
        }
        for (name, message) in self.profiles.iter().flat_map(|profile| profile.recommended) {
            if self.get(name).is_none() {
                findings.warn(name, *message);
            }
        }
        Ok(())
    }

    pub(super) fn check_kinds(&self, findings: &mut Findings) -> Result<(), Error> {
        for (name, value) in self.members() {
            let Some(holds) = self.holds(name) else {
                findings.warn(name, "not a field of the profile (OMS A)");
                continue;
            };
            let expected = holds.expected();
            if !holds.fits(value) {
                findings.writer_rule(Error::WrongKind {
                    field: name.to_owned(),
                    expected,
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn check_empty(&self, findings: &mut Findings) -> Result<(), Error> {
        let basis = self.fields.text(field!("processing_basis"));
        if self.has_health_information() && basis == Some("") {
            findings.writer_rule(Error::Empty {
                field: "processing_basis".into(),
            })?;
        }
        Ok(())
    }

    pub(super) fn check_ranges(&self, findings: &mut Findings) -> Result<(), Error> {
        for (name, value) in self.members() {
            let (least, most, range) = match self.holds(name) {
                Some(Holds::Share(least, most, range)) => (least, most, range),
                Some(Holds::Count) => (0.0, f64::INFINITY, "not negative"),
                _ => continue,
            };
            if number(value).is_some_and(|number| !(least..=most).contains(&number)) {
                findings.writer_rule(Error::Range {
                    field: name.to_owned(),
                    range,
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn check_lists(&self, findings: &mut Findings) -> Result<(), Error> {
        for (name, value) in self.members() {
            if let (Some(Holds::OneOf(allowed)), Value::Text(text)) = (self.holds(name), value)
                && !allowed.contains(&text.as_str())
            {
                findings.writer_rule(not_listed(name.to_owned(), text, allowed))?;
            }
        }
        self.check_licence(findings)?;
        if self.declares("int") {
            self.check_path(findings)?;
            self.check_mapping(findings)?;
        }
        Ok(())
    }

    /// OMS A.1: everyone may pass on content under an open licence.
    fn check_licence(&self, findings: &mut Findings) -> Result<(), Error> {
        let license = self.fields.text(field!("license"));
        if self.has_health_information() && license.is_some_and(licence::is_open) {
            findings.writer_rule(Error::Forbidden {
                field: "license".into(),
                reason: "health information must not be under an open license (OMS A.1)",
            })?;
        }
        Ok(())
    }

    /// OMS A.7: the parameters of the path and those listed are the same.
    fn check_path(&self, findings: &mut Findings) -> Result<(), Error> {
        let Some(template) = self.get("int:http_path").and_then(Value::as_text) else {
            return Ok(());
        };
        let Some(in_path) = path_parameters(template) else {
            return findings.writer_rule(Error::WrongKind {
                field: "int:http_path".into(),
                expected: "a path whose {parameters} are named and closed",
            });
        };
        let listed = self.get("int:path_params");
        if listed.is_none() && !in_path.is_empty() {
            return findings.writer_rule(Error::Missing {
                field: "int:path_params",
                of: format!("int:http_path {template}"),
            });
        }
        let listed: BTreeSet<_> = listed.into_iter().flat_map(Value::texts).collect();
        let stray_of = |field: &str, stray: &str, set: &BTreeSet<&str>| {
            let allowed: Vec<_> = set.iter().copied().collect();
            not_listed(field.to_owned(), stray, &allowed)
        };
        if let Some(stray) = listed.difference(&in_path).next() {
            findings.writer_rule(stray_of("int:path_params", stray, &in_path))?;
        }
        if let Some(stray) = in_path.difference(&listed).next() {
            findings.writer_rule(stray_of("int:http_path", stray, &listed))?;
        }
        Ok(())
    }

    /// OMS A.7: the mapping is an expression of jq.
    fn check_mapping(&self, findings: &mut Findings) -> Result<(), Error> {
        let mapping = self.get("int:response_mapping").and_then(Value::as_text);
        if mapping.is_some_and(|text| !jq::is_expression(text)) {
            findings.writer_rule(Error::WrongKind {
                field: "int:response_mapping".into(),
                expected: "a jq expression",
            })?;
        }
        Ok(())
    }

    fn declares(&self, prefix: &str) -> bool {
        self.profiles.iter().any(|profile| profile.prefix == prefix)
    }

    /// OMS 27.4: any phi: tag marks health information.
    fn has_health_information(&self) -> bool {
        let tags = self.fields.get(field!("structural_tags"));
        let mut tags = tags.into_iter().flat_map(Value::texts);
        self.declares("hc") && tags.any(|tag| tag.starts_with("phi:"))
    }

    /// Returns a profile's field: those of A.7 live in `context`, others as often beside it.
    fn get(&self, name: &str) -> Option<&'a Value> {
        let context = self.fields.get(field!("context")).and_then(Value::as_map);
        context
            .and_then(|context| context.get(name))
            .or_else(|| self.fields.map().get(name))
    }

    /// Returns every field with the prefix of a declared profile, wherever it stands.
    fn members(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let context = self.fields.get(field!("context")).and_then(Value::as_map);
        let maps = (!self.profiles.is_empty()).then_some(self.fields.map());
        let maps = maps.into_iter().chain(context);
        maps.flat_map(Map::iter)
            .filter(|(name, _)| self.profile_of(name).is_some())
    }

    fn profile_of(&self, name: &str) -> Option<&'static Profile> {
        let (prefix, _) = name.split_once(':')?;
        let mut profiles = self.profiles.iter().copied();
        profiles.find(|profile| profile.prefix == prefix)
    }

    fn holds(&self, name: &str) -> Option<Holds> {
        let fields = self.profile_of(name)?.fields;
        let row = fields.iter().find(|(field, _)| *field == name)?;
        Some(row.1)
    }
}

impl Holds {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text | Self::OneOf(_) => matches!(value, Value::Text(_)),
            Self::Texts => value
                .as_array()
                .is_some_and(|items| items.iter().all(|item| item.as_text().is_some())),
            Self::Int | Self::Count => matches!(value, Value::Int(_)),
            Self::Number | Self::Share(..) => number(value).is_some(),
            Self::Flag => matches!(value, Value::Bool(_)),
            Self::Map => matches!(value, Value::Map(_)),
        }
    }

    const fn expected(self) -> &'static str {
        match self {
            Self::Text | Self::OneOf(_) => "text",
            Self::Texts => "an array of texts",
            Self::Int | Self::Count => "an integer",
            Self::Number | Self::Share(..) => "a number",
            Self::Flag => "true or false",
            Self::Map => "a map",
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) => Some(*float),
        Value::Int(int) => Some(int.to_f64()),
        _ => None,
    }
}

/// Returns the names between braces, or nothing if the braces do not pair.
fn path_parameters(template: &str) -> Option<BTreeSet<&str>> {
    let mut names = BTreeSet::new();
    let mut parts = template.split('{');
    if parts.next().is_some_and(|start| start.contains('}')) {
        return None;
    }
    for part in parts {
        let (name, rest) = part.split_once('}')?;
        if name.is_empty() || rest.contains('}') {
            return None;
        }
        names.insert(name);
    }
    Some(names)
}
