use std::collections::HashMap;

use crate::codec::Value;
use crate::grain::Time;
use crate::interchange::{Error, Signature, strict};

use super::conversation::Entry;
use super::memory::Memory;
use super::object::{Object, fault};
use super::order::order;
use super::relation::Relation;
use super::schema::number;
use super::shapes::STORE;
use super::{Options, Owner, SCHEMA, code, judge, signature};
use crate::interchange::spelling::sha256;

/// A memory store that keeps the rules its grains depend on (PAM 3–7, 13–15).
pub(super) struct Document<'a> {
    pub(super) root: Object<'a>,
    pub(super) version: &'a str,
    pub(super) owner: Owner<'a>,
    pub(super) export_date: Option<Time>,
    pub(super) export_id: Option<&'a str>,
    /// The export that this one goes on from (PAM 16).
    pub(super) base: Option<&'a str>,
    /// What became of the signature, where anything could.
    pub(super) signature: Option<Signature>,
    pub(super) memories: Vec<Memory<'a>>,
    /// The numbers of the memories, each before the one that replaces it.
    pub(super) order: Vec<usize>,
    /// The number of the memory of an id.
    pub(super) numbers: HashMap<&'a str, usize>,
    pub(super) relations: Vec<Relation<'a>>,
    pub(super) entries: Vec<Entry<'a>>,
}

impl<'a> Document<'a> {
    /// Checks a document; what need not stop an import goes to `findings`.
    ///
    /// # Errors
    /// Everything that is wrong, as far as it can be told.
    pub(super) fn read(
        value: &'a Value,
        options: &Options,
        findings: &mut Vec<Error>,
    ) -> Result<Self, Vec<Error>> {
        let (root, version) = head(value, SCHEMA, "").map_err(|error| vec![error])?;
        let mut faults = Vec::new();
        faults.extend(strict::wide_integers(value).map(|at| fault(code::JSON, at, strict::WIDE)));
        let mut document = Self {
            owner: keep(Owner::read(&root), &mut faults).unwrap_or_default(),
            export_date: keep(root.time("export_date"), &mut faults).flatten(),
            export_id: keep(root.text("export_id"), &mut faults).flatten(),
            base: keep(base(&root), &mut faults).flatten(),
            memories: records(&root, "memories", Memory::read, &mut faults),
            signature: None,
            order: Vec::new(),
            numbers: HashMap::new(),
            relations: records(&root, "relations", Relation::read, &mut faults),
            entries: records(&root, "conversations_index", Entry::read, &mut faults),
            version,
            root,
        };
        if document.root.get("memories").is_none() {
            faults.push(document.root.missing("memories"));
        }
        document.check_ids(&mut faults);
        document.check_integrity(options, &mut faults, findings);
        let mut minded = Vec::new();
        STORE.judge(value, "", &mut minded);
        judge::conditions(document.root.map, &mut minded);
        // References are only judged where every record could be read: an unreadable one would
        // make each reference to it a second fault.
        if faults.is_empty() {
            document.check_references(&mut faults, findings);
            document.signature = keep(signature::check(&document.root, findings), &mut faults);
            judge::store(&document, &mut minded, findings);
        }
        judge::mind(minded, options, &mut faults, findings);
        if faults.is_empty() {
            Ok(document)
        } else {
            Err(faults)
        }
    }

    /// Returns whether this is an incremental store (PAM 16).
    pub(super) fn is_delta(&self) -> bool {
        self.root.get("export_type").and_then(Value::as_text) == Some("incremental")
    }

    fn check_ids(&mut self, faults: &mut Vec<Error>) {
        for (number, memory) in self.memories.iter().enumerate() {
            if self.numbers.insert(memory.id, number).is_some() {
                faults.push(duplicate(&memory.object));
            }
        }
        let relations = self.relations.iter().map(|it| (it.id, &it.object));
        find_duplicates(relations, faults);
        let entries = self.entries.iter().map(|it| (it.id, &it.object));
        find_duplicates(entries, faults);
    }

    /// PAM 15.
    fn check_integrity(
        &self,
        options: &Options,
        faults: &mut Vec<Error>,
        findings: &mut Vec<Error>,
    ) {
        let Some(integrity) = keep(self.root.object("integrity"), faults).flatten() else {
            return;
        };
        let memories = self.root.get("memories").and_then(Value::as_array);
        let memories = memories.unwrap_or_default();
        match integrity.get("total_memories").and_then(number) {
            None => faults.push(integrity.member_fault(
                "total_memories",
                code::SCHEMA,
                "must be an integer",
            )),
            Some(total) if u32::try_from(memories.len()).map(f64::from) != Ok(total) => {
                let message = format!("there are {} memories", memories.len());
                faults.push(integrity.member_fault("total_memories", code::TOTAL, message));
            }
            Some(_) => {}
        }
        let method = keep(integrity.text("canonicalization"), faults).flatten();
        if method.is_some_and(|method| method != "RFC8785") {
            let message = "must be RFC8785";
            faults.push(integrity.member_fault("canonicalization", code::SCHEMA, message));
        }
        let stated = keep(integrity.required_text("checksum"), faults);
        let actual = checksum(memories);
        if stated.is_some_and(|stated| stated != actual) {
            let message = format!("the memories have {actual}");
            let error = integrity.member_fault("checksum", code::CHECKSUM, message);
            if options.accept_bad_checksum {
                findings.push(error);
            } else {
                faults.push(error);
            }
        }
    }

    fn check_references(&mut self, faults: &mut Vec<Error>, findings: &mut Vec<Error>) {
        // PAM 16: a delta may name memories of the export it builds on.
        let unknown = if self.is_delta() {
            findings
        } else {
            &mut *faults
        };
        let mut pairs = Vec::new();
        for (number, memory) in self.memories.iter().enumerate() {
            let Some(id) = memory.superseded_by else {
                continue;
            };
            if let Some(replacement) = self.numbers.get(id) {
                pairs.push((number, *replacement));
            } else {
                let at = format!("{}/temporal/superseded_by", memory.object.at);
                unknown.push(fault(code::SUPERSEDED_REF, at, "no memory has this id"));
            }
        }
        for relation in &self.relations {
            for (name, id) in [("from", relation.from), ("to", relation.to)] {
                if !self.numbers.contains_key(id) {
                    let message = "no memory has this id";
                    unknown.push(
                        relation
                            .object
                            .member_fault(name, code::RELATION_REF, message),
                    );
                }
            }
        }
        match order(self.memories.len(), &pairs) {
            Ok(order) => self.order = order,
            Err(stuck) => {
                let memory = self.memories.get(stuck);
                let at =
                    memory.map(|memory| format!("{}/temporal/superseded_by", memory.object.at));
                let message = "the memories replace each other in a circle";
                faults.push(fault(code::CYCLE, at.unwrap_or_default(), message));
            }
        }
    }
}

/// Reads what says whether the rest can be read.
pub(super) fn head<'a>(
    value: &'a Value,
    schema: &str,
    at: &str,
) -> Result<(Object<'a>, &'a str), Error> {
    let root = Object::new(value, at.to_owned())?;
    if root.text("schema")? != Some(schema) {
        let message = format!("is not \"{schema}\"");
        return Err(root.member_fault("schema", code::SCHEMA_ID, message));
    }
    let version = root.required_text("schema_version")?;
    if !is_known_version(version) {
        let message = format!("{version} is not a version of PAM 1");
        return Err(root.member_fault("schema_version", code::VERSION, message));
    }
    Ok((root, version))
}

/// Returns what an incremental export goes on from (PAM 16).
fn base<'a>(root: &Object<'a>) -> Result<Option<&'a str>, Error> {
    match root.text("export_type")? {
        None | Some("full") => Ok(None),
        Some("incremental") => root.text("base_export_id"),
        Some(other) => {
            let message = format!("\"{other}\" is neither full nor incremental");
            Err(root.member_fault("export_type", code::SCHEMA, message))
        }
    }
}

/// The schema's pattern, with the one major version there is.
fn is_known_version(version: &str) -> bool {
    let (number, stage) = version.split_once('-').unwrap_or((version, "rc"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_stage = ["rc", "alpha", "beta"]
        .iter()
        .any(|name| stage.strip_prefix(name).is_some_and(digits));
    let minor = number.strip_prefix("1.").unwrap_or_default();
    is_stage && !minor.is_empty() && digits(minor)
}

fn records<'a, T>(
    root: &Object<'a>,
    name: &str,
    read: fn(Object<'a>) -> Result<T, Error>,
    faults: &mut Vec<Error>,
) -> Vec<T> {
    let Some(elements) = keep(root.elements(name), faults) else {
        return Vec::new();
    };
    elements
        .filter_map(|(value, at)| keep(Object::new(value, at).and_then(read), faults))
        .collect()
}

fn keep<T>(result: Result<T, Error>, faults: &mut Vec<Error>) -> Option<T> {
    result.map_err(|error| faults.push(error)).ok()
}

fn duplicate(object: &Object<'_>) -> Error {
    object.member_fault("id", code::DUPLICATE_ID, "another one has this id")
}

fn find_duplicates<'a>(
    ids: impl Iterator<Item = (&'a str, &'a Object<'a>)>,
    faults: &mut Vec<Error>,
) {
    let mut seen = std::collections::HashSet::new();
    let twice = ids.filter(|(id, _)| !seen.insert(*id));
    faults.extend(twice.map(|(_, object)| duplicate(object)));
}

/// PAM 15: the memories by id, in the order of code points, as RFC 8785 writes them.
pub(super) fn checksum(memories: &[Value]) -> String {
    let mut sorted: Vec<&Value> = memories.iter().collect();
    let id = |value: &Value| {
        let id = value.as_map().and_then(|map| map.get("id")?.as_text());
        id.unwrap_or_default().to_owned()
    };
    sorted.sort_by_cached_key(|value| id(value));
    // Parsed JSON holds nothing that has no canonical text.
    sha256(&Value::Array(sorted.into_iter().cloned().collect()).to_jcs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_first_major_are_known_and_patch_versions_are_no_versions() {
        for version in ["1.0", "1.12", "1.0-rc", "1.0-rc1", "1.1-beta2"] {
            assert!(is_known_version(version), "{version}");
        }
        for version in [
            "", "1", "1.", "1.0.1", "2.0", "01.0", "1.0-", "1.0-x", "1.0-rc1x", "1.x",
        ] {
            assert!(!is_known_version(version), "{version}");
        }
    }
}
