//! Validating a file, and reading its records again.

use std::io::{BufRead, Seek};

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, Time};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::normalize::context_of;
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{
    DIAGNOSTICS_MAX, Diagnostics, Error, Finding, Place, ReadOptions, Record,
};

use super::code;
use super::document::Document;
use super::memory::Memory;
use super::residual::RESIDUAL;
use super::validate::{Level, Validator, moment};

/// A valid file; its records are built when they are asked for.
pub(crate) struct File<R> {
    document: Document<R>,
    profile: Profile,
    scope: String,
    /// The creation time of the newest record.
    latest: Option<Time>,
    has_relations: bool,
    /// The grain of an id, and how many records have the id.
    ids: CompactTable<(ContentAddress, u32)>,
}

/// The result of validating a file.
pub(crate) struct Validation {
    pub(crate) findings: Diagnostics<Finding>,
    pub(crate) records: u64,
}

/// One validated record.
struct ValidatedRecord {
    faults: Vec<Error>,
    findings: Vec<(Place, String)>,
    place: Place,
    id: Option<String>,
    created: Option<Time>,
    has_relations: bool,
    /// `None` for a record that lacks what every level needs.
    record: Option<Result<Record, Error>>,
}

impl<R: BufRead + Seek + Send> File<R> {
    /// Validates a document.
    ///
    /// # Errors
    /// All errors of the level.
    pub(super) fn validate(
        mut document: Document<R>,
        options: &ReadOptions,
    ) -> Result<(Self, Validation), Vec<Error>> {
        let mut validator = Validator::new(options.omi_level);
        validator.envelope(&document.envelope);
        if !validator.faults.is_empty() {
            return Err(validator.faults);
        }
        let mut findings = Diagnostics::default();
        for (place, message) in validator.findings {
            findings.note(place, message);
        }
        let scope = match &options.scope {
            Some(scope) => scope.clone(),
            None => document.scope().map_err(|error| vec![error])?,
        };
        let mut file = Self {
            document,
            profile: options.profile,
            scope,
            latest: None,
            has_relations: false,
            ids: CompactTable::new(),
        };
        let records = file.validate_records(options.omi_level, &mut findings)?;
        let whole = whole(&file.document.envelope, file.latest);
        Record::finish(whole, file.profile, Place::File).map_err(|error| vec![error])?;
        let mut records = records.saturating_add(1);
        file.relations(&mut |_| {
            records = records.saturating_add(1);
            true
        })
        .map_err(|error| vec![error])?;
        Ok((file, Validation { findings, records }))
    }

    /// Validates every record, and notes what later passes need; returns their number.
    fn validate_records(
        &mut self,
        level: Option<Level>,
        findings: &mut Diagnostics<Finding>,
    ) -> Result<u64, Vec<Error>> {
        let Document { envelope, records } = &mut self.document;
        let (scope, profile, ids) = (&self.scope, self.profile, &mut self.ids);
        let (latest, has_relations) = (&mut self.latest, &mut self.has_relations);
        let (mut faults, mut grain_errors) = (Vec::new(), Vec::new());
        let mut count = 0_u64;
        let read = records.each(
            0,
            |value, place| built(&value, place, level, (envelope, scope, profile)),
            |mut built: ValidatedRecord| {
                faults.append(&mut built.faults);
                for (place, message) in built.findings {
                    findings.note(place, message);
                }
                *latest = (*latest).max(built.created);
                *has_relations |= built.has_relations;
                let address = match built.record {
                    Some(Ok(record)) => {
                        count = count.saturating_add(1);
                        record.grain.address()
                    }
                    Some(Err(error)) => {
                        grain_errors.push(error);
                        ContentAddress::of(b"")
                    }
                    None => ContentAddress::of(b""),
                };
                if let Some(id) = built.id {
                    let key = ids.key(&id);
                    if let Some((_, count)) = ids.get_mut(key) {
                        *count = count.saturating_add(1);
                        let mut validator = Validator::new(level);
                        let message = "another record has this id";
                        validator.interchange(code::UNIQUE, &built.place, message);
                        faults.append(&mut validator.faults);
                    } else {
                        ids.insert(key, (address, 1));
                    }
                }
                faults.len() < DIAGNOSTICS_MAX && grain_errors.len() < DIAGNOSTICS_MAX
            },
        );
        if let Err(error) = read {
            return Err(vec![error]);
        }
        match (faults.is_empty(), grain_errors.is_empty()) {
            (true, true) => Ok(count),
            (true, false) => Err(grain_errors),
            (false, _) => Err(faults),
        }
    }

    /// Passes on the grains of relations, which are members of records.
    fn relations(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        if !self.has_relations {
            return Ok(());
        }
        let Document { envelope, records } = &mut self.document;
        let (scope, profile, ids) = (&self.scope, self.profile, &self.ids);
        let mut result = Ok(());
        records.each(
            0,
            |value, place| relations_of(&value, &place, (envelope, scope, profile), ids),
            |built: Result<Vec<Record>, Error>| match built {
                Ok(records) => records.into_iter().all(&mut *take),
                Err(error) => {
                    result = Err(error);
                    false
                }
            },
        )?;
        result
    }
}

impl<R: BufRead + Seek + Send + Sync> RecordSource for File<R> {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let Document { envelope, records } = &mut self.document;
        let (scope, profile) = (&self.scope, self.profile);
        let whole = whole(envelope, self.latest);
        let mut is_wanted = take(Record::finish(whole, profile, Place::File)?);
        let mut result = Ok(());
        records.each(
            0,
            |value, place| record_of(&value, &place, (envelope, scope, profile)),
            |built| {
                match built {
                    Some(Ok(record)) => is_wanted = is_wanted && take(record),
                    Some(Err(error)) => result = Err(error),
                    None => {}
                }
                is_wanted && result.is_ok()
            },
        )?;
        result?;
        if is_wanted {
            self.relations(take)?;
        }
        Ok(())
    }
}

/// The envelope, the scope and the profile, which all records share.
type Common<'a> = (&'a Map, &'a str, Profile);

fn built(value: &Value, place: Place, level: Option<Level>, common: Common<'_>) -> ValidatedRecord {
    let mut validator = Validator::new(level);
    let mut built = ValidatedRecord {
        faults: Vec::new(),
        findings: Vec::new(),
        id: None,
        created: None,
        has_relations: false,
        record: record_of(value, &place, common),
        place,
    };
    if let Value::Map(map) = value {
        validator.record(map, &built.place, common.0.contains("subject"));
        built.id = map.get("id").and_then(Value::as_text).map(str::to_owned);
        if let Some(memory) = Memory::read(map, common.0) {
            built.created = Some(memory.created);
            built.has_relations = memory.relations().next().is_some();
        }
    }
    (built.faults, built.findings) = (validator.faults, validator.findings);
    built
}

/// Builds the grain of a record; `None` if it lacks what every level needs.
fn record_of(
    value: &Value,
    place: &Place,
    (envelope, scope, profile): Common<'_>,
) -> Option<Result<Record, Error>> {
    let memory = Memory::read(value.as_map()?, envelope)?;
    let id = memory.foreign_id(scope);
    let packed = memory.map.get("ext").and_then(Value::as_map);
    let packed = packed.and_then(|ext| ext.get(embedded_grain::NAME));
    let unpacked = packed.and_then(|it| embedded_grain::unpack(it, memory.content, profile));
    let Some(unpacked) = unpacked else {
        let built = Record::finish(memory.draft(), profile, place.clone());
        return Some(built.map(|mut record| {
            record.foreign_id = Some(id);
            record
        }));
    };
    let is_own = super::residual(&unpacked.grain).is_some();
    Some(Ok(Record {
        foreign_id: is_own.then_some(id),
        status: unpacked.status,
        warnings: unpacked.warnings,
        ..Record::new(unpacked.grain, place.clone())
    }))
}

/// Builds the grains of a record's relations.
fn relations_of(
    value: &Value,
    place: &Place,
    common: Common<'_>,
    ids: &CompactTable<(ContentAddress, u32)>,
) -> Result<Vec<Record>, Error> {
    let memory = value.as_map().and_then(|map| Memory::read(map, common.0));
    let memory = memory.filter(|memory| memory.relations().next().is_some());
    let (Some(memory), Some(source)) = (memory, record_of(value, place, common)) else {
        return Ok(Vec::new());
    };
    let source = source?.grain.address();
    let relations = memory.relations().map(|relation| {
        // OMI 9.3: where an id comes twice it resolves to nothing.
        let target = ids.get(ids.key(relation.target));
        let target = target.filter(|(_, count)| *count == 1);
        let target = target.map(|(address, _)| *address);
        let draft = memory.relation_draft(&relation, source, target);
        Record::finish(draft, common.2, place.clone())
    });
    relations.collect()
}

/// Returns the grain of the envelope.
fn whole(map: &Map, latest: Option<Time>) -> Draft {
    let time = map.get("generated_at").and_then(moment).or(latest);
    Draft::state(context_of(RESIDUAL, map))
        .created_at(time.unwrap_or_default())
        .source("imported")
}
