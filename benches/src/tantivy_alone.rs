//! tantivy alone: the words in an index of its own, beside nothing else. The floor of what text costs.

use std::path::Path;
use std::sync::Arc;

use ::tantivy::collector::{Count as Matches, TopDocs};
use ::tantivy::columnar::ColumnValues;
use ::tantivy::query::{BooleanQuery, PhraseQuery, Query, TermQuery};
use ::tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use ::tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};
use grainstore::{ContentAddress, Draft};

use crate::Result;
use crate::peer::{Count, Found, Peer, Words, finish};

/// The words in tantivy. It stores no grains.
pub struct Tantivy {
    index: Index,
    writer: IndexWriter,
    reader: Option<IndexReader>,
    /// The row of each document, by segment: opened once, as the store opens its own.
    rows: Vec<Arc<dyn ColumnValues<u64>>>,
    row: Field,
    body: Field,
    addresses: Vec<ContentAddress>,
}

impl Tantivy {
    /// Creates the index in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut schema = Schema::builder();
        let row = schema.add_u64_field("row", FAST);
        let positions = TextFieldIndexing::default()
            .set_tokenizer("en_stem")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let body = schema.add_text_field(
            "body",
            TextOptions::default().set_indexing_options(positions),
        );
        let index = Index::create_in_dir(folder, schema.build())?;
        Ok(Self {
            // One thread, as the store has one for text.
            writer: index.writer_with_num_threads(1, WRITER_BYTES)?,
            index,
            reader: None,
            rows: Vec::new(),
            row,
            body,
            addresses: Vec::new(),
        })
    }

    fn reader(&self) -> Result<&IndexReader> {
        Ok(self.reader.as_ref().ok_or("not settled yet")?)
    }

    fn query(&self, words: &Words) -> Box<dyn Query> {
        let term = |word: &String| Term::from_field_text(self.body, word);
        let one = |word| -> Box<dyn Query> {
            Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs))
        };
        match words {
            Words::Term(word) => one(word),
            Words::And(first, second) => {
                Box::new(BooleanQuery::intersection(vec![one(first), one(second)]))
            }
            Words::Or(first, second) => {
                Box::new(BooleanQuery::union(vec![one(first), one(second)]))
            }
            Words::Phrase(first, second) => {
                Box::new(PhraseQuery::new(vec![term(first), term(second)]))
            }
        }
    }
}

impl Peer for Tantivy {
    fn put_batch(&mut self, drafts: Vec<Draft>) -> Result<()> {
        for grain in finish(drafts)? {
            let mut document = TantivyDocument::new();
            document.add_u64(self.row, self.addresses.len() as u64);
            for (_, words) in grain.searchable_text() {
                document.add_text(self.body, words);
            }
            self.writer.add_document(document)?;
            self.addresses.push(grain.address());
        }
        Ok(())
    }

    fn index_text(&mut self) -> Result<()> {
        self.writer.commit()?;
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let segments = self.index.searchable_segment_ids()?;
        // As the store's own index is compacted before it is read.
        if segments.len() > 1 {
            self.writer.merge(&segments).wait()?;
        }
        let reader = self.index.reader_builder();
        let reader: IndexReader = reader.reload_policy(ReloadPolicy::Manual).try_into()?;
        for segment in reader.searcher().segment_readers() {
            let rows = segment.fast_fields().u64("row")?;
            self.rows.push(rows.first_or_default_col(u64::MAX));
        }
        self.reader = Some(reader);
        Ok(())
    }

    fn get(&self, _: &ContentAddress) -> Result<Option<Vec<u8>>> {
        Err("tantivy alone stores no grains".into())
    }

    fn in_time(&self, _: i64, _: i64) -> Result<Found> {
        Err("tantivy alone has no times".into())
    }

    fn search(&self, words: &Words, limit: usize) -> Result<Found> {
        let searcher = self.reader()?.searcher();
        let best = TopDocs::with_limit(limit).order_by_score();
        let found = searcher.search(&*self.query(words), &best)?;
        let row = |place: ::tantivy::DocAddress| -> Result<u64> {
            let rows = self.rows.get(place.segment_ord as usize);
            let rows = rows.ok_or("a segment has no rows")?;
            Ok(rows.get_val(place.doc_id))
        };
        let rows = found.into_iter().map(|(_, place)| row(place));
        Ok(Found::Rows(rows.collect::<Result<_>>()?))
    }

    fn count(&self, words: &Words) -> Result<Count> {
        let searcher = self.reader()?.searcher();
        let count = searcher.search(&*self.query(words), &Matches)?;
        Ok(Count::Exactly(count as u64))
    }

    fn address_of(&self, row: u64) -> Result<ContentAddress> {
        let place = usize::try_from(row)?;
        Ok(*self.addresses.get(place).ok_or("there is no such row")?)
    }
}

const WRITER_BYTES: usize = 256 << 20;
