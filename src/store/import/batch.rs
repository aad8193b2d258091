//! The import of a batch of records: each is authorized, merged with the earlier grain of its
//! foreign identifier, and stored with the file's statements about it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;

use crate::codec::ContentAddress;
use crate::grain::{Lifecycle, StatusChange};
use crate::interchange::{
    AddressMap, Diagnostics, Finding, ForeignId, Merge, Place, Record, choose_merge, rewrite_links,
};
use crate::ledger::EntryId;
use crate::policy::RecordedAuthorization;
use crate::store::Error;
use crate::store::engine::{Caller, Engine};
use crate::store::import::corrections::Correction;
use crate::store::import::lookup::{Known, is_envelope};
use crate::store::import::preview::Preview;
use crate::store::import::{Conflict, Summary};
use crate::store::read::Lengths;
use crate::store::records::FlagRecord;
use crate::store::rules::{Admitted, Permit, stronger_signature};
use crate::store::txn::{AdmittedFrame, Transaction};
use crate::store::view::{names, names_replaced};

/// An import in progress.
pub(super) struct Importer<'a> {
    pub(super) engine: &'a Engine,
    pub(super) caller: Caller<'a>,
    /// The records of earlier batches, in a dry run.
    pub(super) preview: Option<Preview>,
    pub(super) summary: Summary,
    pub(super) findings: Diagnostics<Finding>,
    pub(super) warnings: Diagnostics<Finding>,
    /// Grains whose warnings depend on one that is not here yet.
    pub(super) unresolved: Vec<(Place, ContentAddress)>,
    /// The entries not written yet; those of a batch in a dry run.
    pub(super) frame: AdmittedFrame,
    /// The positions of its grains in the frame.
    pub(super) pending: HashMap<ContentAddress, usize>,
    /// Foreign identifiers assigned in the frame.
    pub(super) names: HashMap<ForeignId, Vec<ContentAddress>>,
    /// The addresses of grains stored under another address than in the file.
    pub(super) renamed: AddressMap,
    /// Records that differ from the stored grain of their identifier: a vector of such a record
    /// belongs to neither.
    pub(super) passed_over: HashSet<ContentAddress>,
    /// Which grain replaces which, by the statuses in the frame.
    pub(super) links: AddressMap,
    /// Grains that a later record of the file replaces.
    pub(super) waiting: HashMap<ContentAddress, Vec<ContentAddress>>,
    /// The envelope of the file, until a record of it is stored.
    pub(super) envelope: Option<Envelope>,
    /// Whether the file has records beside its envelope.
    has_records: bool,
    /// Whether the owner vouches for the file (ruling I28).
    pub(super) is_own: bool,
    /// The statements of the file about grains that were here before it.
    pub(super) corrections: Vec<Correction>,
    /// Where the ledger ended before the import.
    pub(super) since: u64,
    /// The grains of the file that it puts in the place of a current one: that one, and the grain.
    pub(super) forks: BTreeMap<[ContentAddress; 2], Place>,
    /// The legal holds of the file, with the place of each.
    pub(super) holds: BTreeMap<(ContentAddress, RecordedAuthorization), Place>,
    /// The grains of this store that chunks of the file were exported from.
    pub(super) twins: HashSet<ContentAddress>,
    /// The lengths of the vectors of each model.
    pub(super) lengths: Lengths,
    /// The items of a tree that is kept in step.
    pub(super) step: Option<Items>,
}

/// The items of a tree that is kept in step with the store.
pub(super) struct Items {
    /// For each item that was edited, the id of its text.
    pub(super) texts: HashMap<String, String>,
    /// The grains that items are.
    pub(super) taken: HashSet<ContentAddress>,
    /// The current grains by what they say, once an item asks for it.
    pub(super) said: Option<HashMap<u64, Vec<EntryId>>>,
}

/// A record that stands for its file, until a record of it is stored.
pub(super) struct Envelope {
    pub(super) record: Record,
    pub(super) newest: Option<ContentAddress>,
    pub(super) admitted: Option<Admitted>,
}

impl<'a> Importer<'a> {
    pub(super) fn new(engine: &'a Engine, caller: Caller<'a>, preview: Option<Preview>) -> Self {
        Self {
            engine,
            caller,
            preview,
            summary: Summary::default(),
            findings: Diagnostics::default(),
            warnings: Diagnostics::default(),
            unresolved: Vec::new(),
            frame: AdmittedFrame::by(caller.actor),
            pending: HashMap::new(),
            names: HashMap::new(),
            renamed: AddressMap::default(),
            passed_over: HashSet::new(),
            links: AddressMap::default(),
            waiting: HashMap::new(),
            envelope: None,
            has_records: false,
            is_own: false,
            corrections: Vec::new(),
            since: engine.snapshot().watermark(),
            forks: BTreeMap::new(),
            holds: BTreeMap::new(),
            twins: HashSet::new(),
            lengths: Lengths::new(),
            step: None,
        }
    }

    /// Adds records, whose grains are stored together.
    pub(super) fn add_all(&mut self, records: Vec<Record>) -> Result<(), Error> {
        // Held from the first decision to the acknowledgement, so that no grain is stored twice.
        let mut txn = Transaction::begin(self.engine, self.caller)?;
        for record in records {
            self.add(&mut txn, record)?;
        }
        self.end_batch(&mut txn)
    }

    /// Completes the records that wait for a successor that the file does not have.
    pub(super) fn finish(mut self) -> Result<Summary, Error> {
        for address in mem::take(&mut self.waiting).into_values().flatten() {
            let change = StatusChange {
                lifecycle: Some(Lifecycle::Superseded),
                ..StatusChange::default()
            };
            self.brought(address, change)?;
        }
        // A file of envelope and nothing else is kept; one that brings nothing new leaves no trace.
        match self.envelope.take() {
            Some(Envelope {
                record,
                newest,
                admitted,
            }) if !self.has_records => {
                self.insert(record, newest, admitted)?;
            }
            Some(_) => self.summary.unchanged += 1,
            None => {}
        }
        let mut txn = Transaction::begin(self.engine, self.caller)?;
        self.flush(&mut txn)?;
        self.correct(&mut txn)?;
        self.list_forks()?;
        self.hold()?;
        self.flush(&mut txn)?;
        drop(txn);
        self.warn_of_unresolved()?;
        self.summary.findings.extend(Vec::from(self.findings));
        self.summary.warnings.extend(Vec::from(self.warnings));
        Ok(self.summary)
    }

    pub(super) fn flush(&mut self, txn: &mut Transaction<'_>) -> Result<(), Error> {
        if self.preview.is_none() {
            let next = AdmittedFrame::by(self.caller.actor);
            txn.append(&mem::replace(&mut self.frame, next))?;
            self.pending.clear();
            self.names.clear();
            self.links = AddressMap::default();
        }
        Ok(())
    }

    fn add(&mut self, txn: &mut Transaction<'_>, mut record: Record) -> Result<(), Error> {
        let read = record.grain.address();
        self.note_holds(&mut record);
        self.link_to_stored(&mut record)?;
        self.has_records |= !is_envelope(&record);
        if self.count_again(&record)? {
            return Ok(());
        }
        let known = self.known(&record)?;
        if known.is_none()
            && let Some(twin) = self.twin(&record)?
        {
            return self.keep_same(read, twin, &record);
        }
        let merge = match (&record.foreign_id, &known) {
            (Some(id), Some(known)) => choose_merge(id, &record.grain, &known.versions),
            _ => Merge::Beside,
        };
        if matches!(merge, Merge::Beside | Merge::Conflict)
            && let Some(same) = self.same_item(&record)?
        {
            return self.keep_same(read, same, &record);
        }
        self.merge(txn, (read, record), known.as_ref(), merge)
    }

    /// Stores a record as its merge with what is known of it says.
    fn merge(
        &mut self,
        txn: &mut Transaction<'_>,
        (read, record): (ContentAddress, Record),
        known: Option<&Known>,
        merge: Merge,
    ) -> Result<(), Error> {
        let place = record.place.clone();
        // Only the items of a tree in step have an id for their text.
        let id = self.step.as_ref().and_then(|_| record.foreign_id.clone());
        let is_envelope = is_envelope(&record);
        let newest = known.and_then(|known| known.addresses.last());
        let mut newest = newest.copied();
        if matches!(merge, Merge::Conflict) {
            newest = self.standing(newest)?;
        }
        let is_edit = self.step.is_some() && matches!(merge, Merge::Update);
        if !matches!(merge, Merge::Unchanged(_)) && self.was_deleted(&record, is_edit)? {
            self.summary.erased.push(place);
            return Ok(());
        }
        let is_stored =
            matches!(merge, Merge::Unchanged(_)) || self.is_here(&record.grain.address())?;
        let replaces = newest.filter(|_| matches!(merge, Merge::Update));
        let mut admitted = match is_stored {
            true => None,
            false => match self.judge(&record.grain, replaces)? {
                Ok(admitted) => Some(admitted),
                Err(refused) => return self.deny(&record.grain, place, &refused),
            },
        };
        self.tell(&record, admitted.as_mut());
        self.warn_beside(&place, &record.grain)?;
        self.note_correction(&record)?;
        if matches!(merge, Merge::Older | Merge::Reject) {
            self.passed_over.insert(read);
        }
        let address = match (merge, newest) {
            (Merge::Unchanged(at), Some(newest)) => {
                let same = known.and_then(|known| known.addresses.get(at).copied());
                let version = known.and_then(|known| known.versions.get(at));
                let is_current = version.is_some_and(|(_, status)| status.is_current());
                // Of two grains of an item of a tree in step that contradict each other, the item is
                // the one that it says: else the tree is given the other anew in each step.
                if let Some(same) = same.filter(|same| is_current && *same != newest) {
                    self.name_item(same, &record)?;
                }
                self.keep_unchanged(&record.grain, same.unwrap_or(newest), &place)?
            }
            (Merge::Older, Some(newest)) => {
                let message = format!("is older than {newest}, which is kept");
                self.findings.note(place, message);
                self.summary.unchanged += 1;
                newest
            }
            (Merge::Update, Some(newest)) => self.replace(txn, record, newest, admitted)?,
            // A grain that is here contradicts nothing that it did not contradict before.
            (Merge::Conflict, Some(newest)) if !self.is_here(&record.grain.address())? => {
                self.keep_both(record, newest, admitted)?
            }
            (Merge::Reject, Some(newest)) => {
                self.reject(place, record.foreign_id, newest);
                newest
            }
            _ if is_envelope && !self.is_here(&read)? => {
                self.envelope = Some(Envelope {
                    record,
                    newest,
                    admitted,
                });
                return Ok(());
            }
            _ => self.insert(record, newest, admitted)?,
        };
        self.name_text(address, id.as_ref())?;
        self.settle(read, address)
    }

    /// Counts a record as unchanged: a grain that is here says the same.
    fn keep_same(
        &mut self,
        read: ContentAddress,
        same: ContentAddress,
        record: &Record,
    ) -> Result<(), Error> {
        self.summary.unchanged += 1;
        self.name_item(same, record)?;
        self.name_text(same, record.foreign_id.as_ref())?;
        self.settle(read, same)
    }

    /// Gives a foreign record the addresses under which the records before it are stored.
    fn link_to_stored(&self, record: &mut Record) -> Result<(), Error> {
        if record.foreign_id.is_some() {
            let profile = self.engine.options().profile;
            if let Some(grain) = rewrite_links(&record.grain, &self.renamed, None, profile)? {
                record.grain = grain;
            }
        }
        Ok(())
    }

    /// Records the address under which a record is stored, and resolves the records that waited for
    /// it.
    fn settle(&mut self, read: ContentAddress, address: ContentAddress) -> Result<(), Error> {
        // A grain stored under its address in the file remains the target of references to that
        // address.
        if read != address && !self.is_here(&read)? {
            self.renamed.insert(read, address);
        }
        for of in self.waiting.remove(&read).unwrap_or_default() {
            let change = StatusChange {
                superseded_by: Some(address),
                ..StatusChange::default()
            };
            self.brought(of, change)?;
        }
        Ok(())
    }

    /// Stores a record that replaces no grain.
    pub(super) fn insert(
        &mut self,
        record: Record,
        newest: Option<ContentAddress>,
        admitted: Option<Admitted>,
    ) -> Result<ContentAddress, Error> {
        let address = record.grain.address();
        if self.is_here(&address)? {
            let snapshot = self.engine.snapshot();
            let pending = self.pending(&address);
            match stronger_signature(&self.engine.as_of(&snapshot), pending, &record.grain) {
                Ok(signature) => {
                    signature.iter().try_for_each(|it| self.frame.record(it))?;
                    self.summary.unchanged += 1;
                }
                Err(refused @ Error::Untrusted { .. }) => {
                    self.refuse(record.place, &refused);
                    return Ok(address);
                }
                Err(error) => return Err(error),
            }
        } else {
            let snapshot = self.engine.snapshot();
            for (parent, by) in self.engine.as_of(&snapshot).forks(&record.grain)? {
                let message = format!("stored beside {by}, which replaced {parent} here");
                self.findings.note(record.place.clone(), message);
            }
            let admitted = match self.admitted(&record.grain, admitted, None)? {
                Ok(admitted) => admitted,
                Err(refused) => {
                    self.deny(&record.grain, record.place, &refused)?;
                    return Ok(address);
                }
            };
            self.store(&record, &record.grain, &admitted)?;
            self.summary.inserted += 1;
        }
        self.name(address, record.foreign_id, newest)?;
        Ok(address)
    }

    /// Stores a record in place of its earlier version, if policy permits it.
    fn replace(
        &mut self,
        txn: &mut Transaction<'_>,
        record: Record,
        old: ContentAddress,
        admitted: Option<Admitted>,
    ) -> Result<ContentAddress, Error> {
        let profile = self.engine.options().profile;
        // OMS 23.1: a superseding grain is derived from the superseded one.
        let grain = rewrite_links(&record.grain, &AddressMap::default(), Some(old), profile)?;
        let grain = grain.unwrap_or_else(|| record.grain.clone());
        let address = grain.address();
        let has_evidence = grain.field("satisfaction_evidence").is_some();
        if has_evidence || self.pending.contains_key(&old) {
            // Policy decides by stored grains only, so the frame is written first.
            self.flush(txn)?;
        }
        let target = self.version(&old)?;
        let is_named = match &target {
            Some((_, version)) => names_replaced(&grain, &version.grain),
            None => names(&grain, &old),
        };
        let permit = match &target {
            // A signed grain, or a withdrawal, cannot be made to name it.
            _ if !is_named => Err(Error::NotDerived { address: old }),
            Some((row, version)) => self.authorize_replacement(txn, *row, version, &grain),
            None => Ok(Permit::unasked(self.deed())),
        };
        let permit = match permit {
            Ok(permit) => permit,
            Err(error) => {
                self.passed_over.insert(record.grain.address());
                self.keep_earlier(record.place, old, error)?;
                return Ok(old);
            }
        };
        let admitted = match self.admitted(&record.grain, admitted, Some(old))? {
            Ok(admitted) => admitted.derived(&grain, &old),
            Err(refused) => {
                self.deny(&record.grain, record.place, &refused)?;
                return Ok(old);
            }
        };
        self.store(&record, &grain, &admitted)?;
        if record.exportable == Some(false) {
            // The earlier version must not be exported in its place.
            self.flag(FlagRecord {
                exportable: Some(false),
                ..FlagRecord::of(old)
            })?;
        }
        if target.is_none_or(|(_, version)| version.status.is_current()) {
            let now = self.engine.entry_time();
            let change = StatusChange {
                superseded_by: Some(address),
                system_valid_to: Some(now),
                ..StatusChange::default()
            };
            // Policy decided this here, so it is more than a claim of the file.
            self.change(&permit, old, change)?;
        }
        self.name(address, record.foreign_id, Some(old))?;
        self.summary.updated += 1;
        Ok(address)
    }

    /// Stores a record beside the grain that it contradicts; an operator chooses (OMI 13.4).
    fn keep_both(
        &mut self,
        record: Record,
        existing: ContentAddress,
        admitted: Option<Admitted>,
    ) -> Result<ContentAddress, Error> {
        let address = record.grain.address();
        if !self.is_here(&address)? {
            match self.admitted(&record.grain, admitted, None)? {
                Ok(admitted) => self.store(&record, &record.grain, &admitted)?,
                Err(refused) => {
                    self.deny(&record.grain, record.place, &refused)?;
                    return Ok(existing);
                }
            }
        }
        self.flag_conflict([existing, address])?;
        // Until an operator chooses, the identifier stays with its earlier grain. The line of a tree in
        // step is the new one, and its next edit is of that.
        let mut named = [address, existing];
        if self.step.is_some() {
            named.reverse();
        }
        for of in named {
            self.name(of, record.foreign_id.clone(), None)?;
        }
        self.summary.conflicts.push(Conflict {
            id: record.foreign_id,
            versions: vec![existing, address],
            place: Some(record.place),
        });
        Ok(address)
    }
}
