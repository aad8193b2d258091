use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, Time};
use crate::interchange::spelling::context_of;
use crate::interchange::{Error, ForeignId, Place, Record, native};

use super::judge::{Judge, moment};
use super::memory::Memory;
use super::{Document, Import, Options, RESIDUAL, code};

/// Judges a document and makes its grains.
///
/// # Errors
/// Everything that is wrong at the level asked for.
pub(super) fn import(document: &Document, options: &Options) -> Result<Import, Vec<Error>> {
    let mut judge = Judge {
        level: options.level,
        faults: Vec::new(),
        findings: Vec::new(),
    };
    judge.envelope(&document.envelope);
    if !judge.faults.is_empty() {
        return Err(judge.faults);
    }
    let has_subject = document.envelope.contains("subject");
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (map, place) in &document.memories {
        judge.record(map, place, has_subject);
        if let Some(id) = map.get("id").and_then(Value::as_text) {
            let count = places.entry(id).or_default();
            *count = count.saturating_add(1);
            if *count > 1 {
                let message = "another record has this id";
                judge.interchange(code::UNIQUE, place, message);
            }
        }
    }
    let mut importer = Importer {
        profile: options.profile,
        import: Import {
            findings: judge.findings,
            ..Import::default()
        },
        faults: judge.faults,
    };
    if importer.faults.is_empty() {
        importer.records(document, options, &places);
    }
    if importer.faults.is_empty() {
        Ok(importer.import)
    } else {
        Err(importer.faults)
    }
}

struct Importer {
    profile: Profile,
    import: Import,
    faults: Vec<Error>,
}

impl Importer {
    fn records(&mut self, document: &Document, options: &Options, ids: &HashMap<&str, usize>) {
        let memories: Vec<_> = document
            .memories
            .iter()
            .filter_map(|(map, at)| Some((Memory::read(map, &document.envelope)?, at)))
            .collect();
        let latest = memories.iter().map(|(memory, _)| memory.created).max();
        self.add(envelope(&document.envelope, latest), Place::File, None);

        let file_scope = options.scope.as_deref().unwrap_or(&document.scope);
        let mut addresses: HashMap<&str, ContentAddress> = HashMap::new();
        let mut sources = Vec::with_capacity(memories.len());
        for (memory, at) in &memories {
            let id = memory.foreign_id(file_scope);
            let address = self.memory(memory, at, id);
            sources.push(address);
            // OMI 9.3: where an id comes twice it resolves to nothing.
            if let (Some(address), Some(1)) = (address, ids.get(memory.id)) {
                addresses.insert(memory.id, address);
            }
        }
        for ((memory, at), source) in memories.iter().zip(sources) {
            let Some(source) = source else { continue };
            for relation in memory.relations() {
                let target = addresses.get(relation.target).copied();
                let draft = memory.relation_draft(&relation, source, target);
                self.add(draft, (*at).clone(), None);
            }
        }
    }

    fn memory(&mut self, memory: &Memory<'_>, at: &Place, id: ForeignId) -> Option<ContentAddress> {
        let packed = memory.map.get("ext").and_then(Value::as_map);
        let packed = packed.and_then(|ext| ext.get(native::NAME));
        let unpacked = packed.and_then(|it| native::unpack(it, memory.content, self.profile));
        let Some(unpacked) = unpacked else {
            return self.add(memory.draft(), at.clone(), Some(id));
        };
        let address = unpacked.grain.address();
        let is_own = super::residual(&unpacked.grain).is_some();
        self.import.records.push(Record {
            foreign_id: is_own.then_some(id),
            status: unpacked.status,
            warnings: unpacked.warnings,
            ..Record::new(unpacked.grain, at.clone())
        });
        Some(address)
    }

    fn add(&mut self, draft: Draft, place: Place, id: Option<ForeignId>) -> Option<ContentAddress> {
        match Record::finish(draft, self.profile, place) {
            Ok(mut record) => {
                record.foreign_id = id;
                let address = record.grain.address();
                self.import.records.push(record);
                Some(address)
            }
            Err(error) => {
                self.faults.push(error);
                None
            }
        }
    }
}

/// Returns the grain of a file as a whole, whose records are grains of their own.
fn envelope(map: &Map, latest: Option<Time>) -> Draft {
    let time = map.get("generated_at").and_then(moment).or(latest);
    Draft::state(context_of(RESIDUAL, map.clone()))
        .created_at(time.unwrap_or_default())
        .source("imported")
}
