//! The store that is measured, through its public door.

use std::path::Path;

use grainstore::index::{self, Family};
use grainstore::ledger::EntryId;
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Options, Search, Store, Time};

use crate::Result;
use crate::peer::{Count, Found, Pattern, Peer, Words};

/// This store.
#[derive(Debug)]
pub struct Ours(Store);

impl Ours {
    /// Opens the store in a folder, with or without its text view.
    pub fn open(folder: &Path, text: bool) -> Result<Self> {
        Ok(Self(Store::open(folder, options(text))?))
    }

    /// Returns the store.
    pub const fn store(&self) -> &Store {
        &self.0
    }
}

/// Returns how the measured stores are opened: as by default, but for the text view.
pub fn options(text: bool) -> Options {
    let mut options = Options::default();
    if !text {
        options.text = None;
    }
    options
}

impl Peer for Ours {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        self.0.put_batch(drafts)?;
        Ok(())
    }

    fn put_batches(&mut self, batches: Vec<Vec<Draft>>) -> Result<()> {
        for stored in self.0.put_batches(batches) {
            stored?;
        }
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        Ok(self.0.maintenance()?.flush_text()?)
    }

    fn settle(&mut self) -> Result<()> {
        self.0.maintenance()?.compact()?;
        Ok(())
    }

    fn compress(&mut self) -> Result<bool> {
        self.0.maintenance()?.compress()?;
        Ok(true)
    }

    fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get(address)?.map(|grain| grain.into_blob()))
    }

    fn triples(&self, pattern: &Pattern<'_>, limit: usize) -> Result<Found> {
        let snapshot = self.0.maintenance()?.index_snapshot();
        let pattern = index::Pattern {
            subject: pattern.subject,
            relation: pattern.relation,
            object: pattern.object,
        };
        let rows = snapshot.triples(&pattern).take(limit);
        let rows = rows.map(|row| row.map(EntryId::get));
        Ok(Found::Rows(rows.collect::<std::result::Result<_, _>>()?))
    }

    fn in_time(&self, from_ms: i64, to_ms: i64) -> Result<Found> {
        let snapshot = self.0.maintenance()?.index_snapshot();
        let (from, to) = (Time::from_ms(from_ms), Time::from_ms(to_ms));
        let rows = snapshot.in_time(Family::EventTime, Some(from), Some(to));
        let rows = rows.map(|row| row.map(EntryId::get));
        Ok(Found::Rows(rows.collect::<std::result::Result<_, _>>()?))
    }

    fn search(&self, words: &Words, limit: usize) -> Result<Found> {
        // By words alone, as the peers: the default ranking also finds turns of a conversation that
        // have none of the words.
        let search = Search::parse(&query_of(words))?.ranking(Ranking::WORDS);
        let found = self.0.find(&search.limit(limit))?;
        let addresses = found.results.iter().map(|found| found.address);
        Ok(Found::Addresses(addresses.collect()))
    }

    fn count(&self, words: &Words) -> Result<Count> {
        let search = Search::parse(&query_of(words))?.ranking(Ranking::WORDS);
        let found = self.0.find(&search.limit(1))?;
        Ok(match found.total_is_lower_bound {
            true => Count::AtLeast(found.total),
            false => Count::Exactly(found.total),
        })
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let page = self.0.list(EntryId::new(row).before(), 1)?;
        Ok(*page.addresses.first().ok_or("there is no such row")?)
    }
}

fn query_of(words: &Words) -> String {
    match words {
        Words::Term(word) => word.clone(),
        Words::And(one, other) => format!("+{one} +{other}"),
        Words::Or(one, other) => format!("{one} {other}"),
        Words::Phrase(first, second) => format!("\"{first} {second}\""),
    }
}
