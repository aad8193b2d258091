//! Validating a file, and reading its records again.

use std::collections::HashSet;
use std::io::{BufRead, Seek};

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, ENVELOPE_TAG, Time};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::normalize::context_of;
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{
    DIAGNOSTICS_MAX, Diagnostics, Error, Finding, Place, ReadOptions, Record,
};

use super::code;
use super::document::Document;
use super::extension::{Extension, restore};
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
    /// The places of invalid records.
    excluded: HashSet<Place>,
    /// The grain of an id, and how many records have the id.
    ids: CompactTable<(ContentAddress, u32)>,
}

/// The result of validating a file.
pub(crate) struct Validation {
    pub(crate) findings: Diagnostics<Finding>,
    pub(crate) records: u64,
    /// The errors of the records that are left out.
    pub(crate) errors: Vec<Error>,
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
    record: Option<Result<Vec<Record>, Error>>,
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
        // A strict validation is of the file as others read it.
        if options.omi_level.is_none() {
            document.take_extension();
        }
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
            excluded: HashSet::new(),
            ids: CompactTable::new(),
        };
        let mut errors = std::mem::take(&mut file.document.faults);
        let records = file.validate_records(options.omi_level, &mut findings, &mut errors)?;
        if options.is_strict && !errors.is_empty() {
            return Err(errors);
        }
        let whole = whole(&file.document.envelope, file.latest);
        Record::finish(whole, file.profile, Place::File).map_err(|error| vec![error])?;
        let mut records = records.saturating_add(1);
        file.relations(&mut |_| {
            records = records.saturating_add(1);
            true
        })
        .map_err(|error| vec![error])?;
        let sides = file.document.extension.sides(file.profile).len();
        records = records.saturating_add(u64::try_from(sides).unwrap_or(u64::MAX));
        let validation = Validation {
            findings,
            records,
            errors,
        };
        Ok((file, validation))
    }

    /// Validates every record, and notes what later passes need; returns their number.
    fn validate_records(
        &mut self,
        level: Option<Level>,
        findings: &mut Diagnostics<Finding>,
        errors: &mut Vec<Error>,
    ) -> Result<u64, Vec<Error>> {
        let Document {
            envelope, records, ..
        } = &mut self.document;
        let excluded = &mut self.excluded;
        let (scope, profile, ids) = (&self.scope, self.profile, &mut self.ids);
        let (latest, has_relations) = (&mut self.latest, &mut self.has_relations);
        let (mut faults, mut grain_errors) = (Vec::new(), Vec::new());
        let mut count = 0_u64;
        let read = records.each(
            0,
            |value, place| built(value, place, level, (envelope, scope, profile)),
            |mut built: ValidatedRecord| {
                let is_valid = built.faults.is_empty() && matches!(built.record, Some(Ok(_)));
                if !is_valid {
                    excluded.insert(built.place.clone());
                }
                faults.append(&mut built.faults);
                for (place, message) in built.findings {
                    findings.note(place, message);
                }
                *latest = (*latest).max(built.created);
                *has_relations |= built.has_relations;
                let address = match built.record {
                    Some(Ok(records)) if is_valid => {
                        let len = u64::try_from(records.len()).unwrap_or(u64::MAX);
                        count = count.saturating_add(len);
                        let first = records.first();
                        first.map_or(ContentAddress::of(b""), |it| it.grain.address())
                    }
                    Some(Err(error)) => {
                        grain_errors.push(error);
                        ContentAddress::of(b"")
                    }
                    _ => ContentAddress::of(b""),
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
        // A record that breaks a rule is often no grain either.
        if faults.len() >= DIAGNOSTICS_MAX || grain_errors.len() >= DIAGNOSTICS_MAX {
            return Err(faults.into_iter().chain(grain_errors).collect());
        }
        errors.append(if faults.is_empty() {
            &mut grain_errors
        } else {
            &mut faults
        });
        Ok(count)
    }

    /// Passes on the grains of relations, which are members of records.
    fn relations(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        if !self.has_relations {
            return Ok(());
        }
        let Document {
            envelope, records, ..
        } = &mut self.document;
        let (scope, profile, ids) = (&self.scope, self.profile, &self.ids);
        let excluded = &self.excluded;
        let mut result = Ok(());
        records.each(
            0,
            |value, place| match excluded.contains(&place) {
                true => Ok(Vec::new()),
                false => relations_of(value, &place, (envelope, scope, profile), ids),
            },
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
        let Document {
            envelope,
            records,
            extension,
            ..
        } = &mut self.document;
        let (scope, profile) = (&self.scope, self.profile);
        let whole = whole(envelope, self.latest);
        let mut is_wanted = take(Record::finish(whole, profile, Place::File)?);
        let place = Place::pointer("/ext");
        let sides = extension.sides(profile).into_iter();
        is_wanted = is_wanted
            && sides
                .map(|side| side.into_record(place.clone()))
                .all(&mut *take);
        let excluded = &self.excluded;
        let mut result = Ok(());
        records.each(
            0,
            |value, place| match excluded.contains(&place) {
                true => None,
                false => records_of(value, &place, (envelope, scope, profile)),
            },
            |built| {
                match built {
                    Some(Ok(records)) => {
                        is_wanted = is_wanted && records.into_iter().all(&mut *take);
                    }
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

fn built(
    mut value: Value,
    place: Place,
    level: Option<Level>,
    common: Common<'_>,
) -> ValidatedRecord {
    let mut validator = Validator::new(level);
    let mut built = ValidatedRecord {
        faults: Vec::new(),
        findings: Vec::new(),
        id: None,
        created: None,
        has_relations: false,
        record: None,
        place,
    };
    if let Value::Map(map) = &mut value {
        // A strict validation is of the file as others read it.
        if level.is_none() {
            restore(map);
        }
        validator.record(map, &built.place, common.0.contains("subject"));
        built.id = map.get("id").and_then(Value::as_text).map(str::to_owned);
        if let Some(memory) = Memory::read(map, common.0) {
            built.created = Some(memory.created);
            built.has_relations = memory.relations().next().is_some();
        }
    }
    built.record = records_of(value, &built.place, common);
    (built.faults, built.findings) = (validator.faults, validator.findings);
    built
}

/// Builds the grain of a record, and those beside it; `None` if it lacks what every level needs.
fn records_of(
    value: Value,
    place: &Place,
    common: Common<'_>,
) -> Option<Result<Vec<Record>, Error>> {
    let Value::Map(map) = value else {
        return None;
    };
    let beside = Extension::of(&map).sides(common.2);
    let record = match record_of(map, place, common)? {
        Ok((record, _)) => record,
        Err(error) => return Some(Err(error)),
    };
    // An edited record stands alone.
    let beside = beside.into_iter().filter(|_| record.foreign_id.is_none());
    let beside: Vec<Record> = beside.map(|side| side.into_record(place.clone())).collect();
    Some(Ok(std::iter::once(record).chain(beside).collect()))
}

/// Builds the grain of a record; returns also whether it stands in the extension as a whole.
fn record_of(
    mut map: Map,
    place: &Place,
    (envelope, scope, profile): Common<'_>,
) -> Option<Result<(Record, bool), Error>> {
    let unpacked = {
        let memory = Memory::read(&map, envelope)?;
        let packed = map.get("ext").and_then(Value::as_map);
        let packed = packed.and_then(|ext| ext.get(embedded_grain::NAME));
        packed.and_then(|it| embedded_grain::unpack(it, memory.content, profile))
    };
    let Some(unpacked) = unpacked else {
        restore(&mut map);
        let memory = Memory::read(&map, envelope)?;
        let id = memory.foreign_id(scope);
        let built = Record::finish(memory.draft(), profile, place.clone());
        return Some(built.map(|mut record| {
            record.foreign_id = Some(id);
            (record, false)
        }));
    };
    // An envelope of several files has no namespace; each grain knows its own.
    let inherited = super::residual::inherited(&unpacked.grain);
    let id = Memory::read(&map, envelope)?.foreign_id_in(&inherited, scope);
    let is_own = super::residual(&unpacked.grain).is_some();
    let record = Record {
        foreign_id: is_own.then_some(id),
        ..unpacked.into_record(place.clone())
    };
    Some(Ok((record, true)))
}

/// Builds the grains of a record's relations.
fn relations_of(
    value: Value,
    place: &Place,
    common: Common<'_>,
    ids: &CompactTable<(ContentAddress, u32)>,
) -> Result<Vec<Record>, Error> {
    let Value::Map(mut map) = value else {
        return Ok(Vec::new());
    };
    let Some(Ok((source, is_whole))) = record_of(map.clone(), place, common) else {
        return Ok(Vec::new());
    };
    restore(&mut map);
    let Some(memory) = Memory::read(&map, common.0) else {
        return Ok(Vec::new());
    };
    // Those of an embedded grain of another format are grains beside it.
    if is_whole && source.foreign_id.is_none() {
        return Ok(Vec::new());
    }
    // The relations of a record whose importer named its user are that user's.
    let user = source.grain.text("user_id").filter(|_| is_whole);
    let user = user.map(str::to_owned);
    let source = source.grain.address();
    let relations = memory.relations().map(|relation| {
        // OMI 9.3: where an id comes twice it resolves to nothing.
        let target = ids.get(ids.key(relation.target));
        let target = target.filter(|(_, count)| *count == 1);
        let target = target.map(|(address, _)| *address);
        let draft = memory.relation_draft(&relation, source, target);
        let draft = user
            .iter()
            .fold(draft, |draft, user| draft.user(user.as_str()));
        Record::finish(draft, common.2, place.clone())
    });
    relations.collect()
}

/// Returns the grain of the envelope.
fn whole(map: &Map, latest: Option<Time>) -> Draft {
    let time = map.get("generated_at").and_then(moment).or(latest);
    Draft::state(context_of(RESIDUAL, map))
        .created_at(time.unwrap_or_default())
        .tag(ENVELOPE_TAG)
        .source("imported")
}
