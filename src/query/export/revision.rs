//! The grains of an archive or of JSON lines in the words of a later revision of OMS.
//!
//! A grain in other words has another address, and grains name each other by address. They are written anew
//! twice in the order of the file, to plan it and to write it, each time with the addresses of those before.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Status};
use crate::interchange::{Entries as _, Loss, Revised, Revision, mg, revised};

use super::Error;
use super::entries::StoreEntries;

/// The grains of a file in the words of one revision, each once and in order.
pub(super) struct InRevision<'e, 'a> {
    entries: &'e StoreEntries<'a>,
    revision: Revision,
    /// The addresses of the store in the order of the file; none in the form of the store.
    originals: Vec<ContentAddress>,
    next: Cell<usize>,
    renamed: RefCell<HashMap<ContentAddress, ContentAddress>>,
    loss: Loss,
}

impl<'e, 'a> InRevision<'e, 'a> {
    /// Describes the grains in the order of the file; what cannot be said in the revision is counted.
    pub(super) fn of(
        entries: &'e StoreEntries<'a>,
        revision: Revision,
    ) -> Result<(Self, Vec<mg::Entry>), Error> {
        let list = entries.by_time()?;
        let mut file = Self {
            entries,
            revision,
            originals: Vec::new(),
            next: Cell::new(0),
            renamed: RefCell::default(),
            loss: Loss::default(),
        };
        if revision == Revision::V1_3 {
            return Ok((file, list));
        }
        let mut planned = Vec::with_capacity(list.len());
        for entry in list {
            let grain = entries.fetch(&entry.address())?;
            if !revision.has(grain.type_()) {
                file.loss.count(&grain.type_().to_string());
                continue;
            }
            file.originals.push(entry.address());
            let (grain, is_bound) = file.written(grain);
            if is_bound {
                file.loss.count("revision");
            }
            let is_twin = grain.address() != entry.address();
            if is_twin && entries.find(&grain.address())?.is_some() {
                // The store has a grain that differs from it in its words alone.
                continue;
            }
            planned.push((entry.status(), mg::Entry::of(&grain, &Status::default())));
        }
        let list = planned.into_iter().map(|(status, entry)| {
            let superseded_by = status.superseded_by.map(|it| file.name_of(it));
            entry.with_status(&Status {
                superseded_by,
                ..status
            })
        });
        let list = list.collect();
        file.renamed.borrow_mut().clear();
        Ok((file, list))
    }

    /// Returns the grain of an address in the file, which is asked for in the order of the file.
    pub(super) fn fetch(&self, address: &ContentAddress) -> Result<Grain, Error> {
        self.fetch_with_original(address).map(|(grain, _)| grain)
    }

    /// Returns the same, and its address in the store.
    pub(super) fn fetch_with_original(
        &self,
        address: &ContentAddress,
    ) -> Result<(Grain, ContentAddress), Error> {
        if self.revision == Revision::V1_3 {
            return Ok((self.entries.fetch(address)?, *address));
        }
        // One that is not in the file is written anew all the same: others may name it.
        while let Some(original) = self.originals.get(self.next.get()) {
            self.next.set(self.next.get() + 1);
            let (grain, _) = self.written(self.entries.fetch(original)?);
            if grain.address() == *address {
                return Ok((grain, *original));
            }
        }
        Err(Error::NotFound { address: *address })
    }

    /// Returns what could not be said.
    pub(super) const fn loss(&self) -> &Loss {
        &self.loss
    }

    /// Returns the address of a grain in the file, by that in the store.
    fn name_of(&self, address: ContentAddress) -> ContentAddress {
        self.renamed
            .borrow()
            .get(&address)
            .copied()
            .unwrap_or(address)
    }

    /// Returns a grain as it is written, and whether something binds it to the words of 1.3.
    fn written(&self, grain: Grain) -> (Grain, bool) {
        let now = revised(&grain, |address| {
            self.renamed.borrow().get(address).copied()
        });
        match now {
            Revised::Same => (grain, false),
            Revised::Bound => (grain, true),
            Revised::Anew(anew) => {
                self.renamed
                    .borrow_mut()
                    .insert(grain.address(), anew.address());
                (*anew, false)
            }
        }
    }
}
