//! The merge of segments: their documents but the erased ones, in the order of rows.
//!
//! The files are those that the merge of the library would write. It opens a reader of 1.8 kB for
//! each term of each segment and prepares 256 scores for each that it writes; most terms have a few
//! documents, whose numbers are read here as they stand.

use std::sync::Arc;

use tantivy::columnar::{
    ColumnarReader, MergeRowOrder, RowAddr, ShuffleMergeOrder, StackMergeOrder, merge_columnar,
};
use tantivy::directory::TerminatingWrite;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::termdict::TermMerger;
use tantivy::{InvertedIndexReader, SegmentReader};

use super::columns::{COLUMNS, write_lengths, write_no_documents};
use super::posting_source::PostingSource;
use super::term_files::{Lengths, TermFiles, TermPostings};
use crate::text::index::disk::row_values;
use crate::text::index::schema::Fields;

/// A segment that is merged.
struct Source<'a> {
    segment: &'a Segment,
    reader: SegmentReader,
    /// The number that each document gets; [`ERASED`] of one that is left out.
    numbers: Vec<u32>,
    is_whole: bool,
}

/// Writes the documents of segments as one, each without those that are listed with it, in ascending
/// order. Returns how many it wrote.
pub(in crate::text::index) fn merge(
    fields: &Fields,
    segments: &[(Segment, Vec<u32>)],
    target: &Segment,
) -> tantivy::Result<u32> {
    let (sources, order) = ordered(segments)?;
    let lengths_of = sources.iter();
    let lengths_of = lengths_of.map(|it| it.reader.get_fieldnorms_reader(fields.stems));
    let lengths_of: Vec<_> = lengths_of.collect::<tantivy::Result<_>>()?;
    let lengths = order.iter().filter_map(|from| {
        let lengths = lengths_of.get(from.segment_ord as usize)?;
        Some(lengths.fieldnorm_id(from.row_id))
    });
    let lengths: Vec<u8> = lengths.collect();
    let words = sources.iter().zip(&lengths_of);
    let words = words.map(|(source, lengths)| words_of(source, lengths, fields));
    let words = words.sum::<tantivy::Result<u64>>()?;
    let lengths = write_lengths(target, fields, &lengths, words)?;
    let mut files = TermFiles::create(target)?;
    let positions = IndexRecordOption::WithFreqsAndPositions;
    for (field, option, lengths) in [
        (fields.stems, positions, Some(&lengths)),
        (fields.variants, positions, None),
        (fields.languages, IndexRecordOption::Basic, None),
        (fields.thread, IndexRecordOption::Basic, None),
    ] {
        merge_terms(&sources, field, option, lengths, &mut files)?;
    }
    files.close()?;
    let documents = u32::try_from(order.len()).unwrap_or(u32::MAX);
    merge_columns(&sources, order, target)?;
    write_no_documents(target)?;
    Ok(documents)
}

/// Returns the segments in the order of their first rows, and the documents in the order of rows.
fn ordered(segments: &[(Segment, Vec<u32>)]) -> tantivy::Result<(Vec<Source<'_>>, Vec<RowAddr>)> {
    let mut sources = Vec::with_capacity(segments.len());
    for (segment, erased) in segments {
        let reader = SegmentReader::open(segment)?;
        let mut rows = vec![0; reader.max_doc() as usize];
        row_values(&reader)?.get_range(0, &mut rows);
        let source = Source {
            segment,
            numbers: vec![ERASED; rows.len()],
            reader,
            is_whole: erased.is_empty(),
        };
        let mut erased = erased.iter().copied().peekable();
        let kept = (0_u32..).zip(rows);
        let kept = kept.filter(|(document, _)| erased.next_if_eq(document).is_none());
        let kept: Vec<(u32, u64)> = kept.collect();
        if let Some((_, first)) = kept.first() {
            sources.push((*first, source, kept));
        }
    }
    sources.sort_by_key(|(first, ..)| *first);
    let mut rows = Vec::with_capacity(sources.iter().map(|(.., kept)| kept.len()).sum());
    let mut ordered = Vec::with_capacity(sources.len());
    for ((_, source, kept), number) in sources.into_iter().zip(0_u32..) {
        ordered.push(source);
        rows.extend(kept.iter().map(|(document, row)| (*row, number, *document)));
    }
    // Of runs that ascend, which mostly follow each other.
    rows.sort();
    let mut order = Vec::with_capacity(rows.len());
    for ((_, segment_ord, row_id), number) in rows.into_iter().zip(0_u32..) {
        let source = ordered.get_mut(segment_ord as usize);
        if let Some(place) = source.and_then(|it| it.numbers.get_mut(row_id as usize)) {
            *place = number;
        }
        order.push(RowAddr {
            segment_ord,
            row_id,
        });
    }
    Ok((ordered, order))
}

/// Merges the terms of a field.
fn merge_terms(
    sources: &[Source<'_>],
    field: Field,
    option: IndexRecordOption,
    lengths: Option<&Lengths>,
    files: &mut TermFiles,
) -> tantivy::Result<()> {
    let readers = sources.iter().map(|it| it.reader.inverted_index(field));
    let readers: Vec<Arc<InvertedIndexReader>> = readers.collect::<tantivy::Result<_>>()?;
    if readers.iter().all(|reader| reader.terms().num_terms() == 0) {
        return Ok(());
    }
    let postings_of = sources.iter().zip(&readers);
    let postings_of =
        postings_of.map(|(it, reader)| PostingSource::open(it.segment, reader, field, option));
    let mut postings_of: Vec<_> = postings_of.collect::<tantivy::Result<_>>()?;
    let mut file = files.field(field, option, lengths)?;
    let streams = readers.iter().map(|reader| reader.terms().stream());
    let mut terms = TermMerger::new(streams.collect::<Result<_, _>>()?);
    let mut merged = TermPostings::default();
    while terms.advance() {
        merged.clear();
        for (number, places) in terms.current_segment_ords_and_term_infos() {
            let source = sources.get(number).zip(postings_of.get_mut(number));
            if let Some((source, postings)) = source {
                postings.read(&places, &source.numbers, &mut merged)?;
            }
        }
        merged.sort();
        if !merged.documents.is_empty() {
            file.write(terms.key(), &merged)?;
        }
    }
    Ok(file.close()?)
}

/// Returns the number of stems of the documents that are kept, as the library counts them: from their
/// lengths where some are left out.
fn words_of(
    source: &Source<'_>,
    lengths: &FieldNormReader,
    fields: &Fields,
) -> tantivy::Result<u64> {
    if source.is_whole {
        let stems = source.reader.inverted_index(fields.stems)?;
        return Ok(stems.total_num_tokens());
    }
    let kept = (0_u32..).zip(&source.numbers);
    let kept = kept.filter(|(_, number)| **number != ERASED);
    Ok(kept
        .map(|(document, _)| u64::from(lengths.fieldnorm(document)))
        .sum())
}

fn merge_columns(
    sources: &[Source<'_>],
    order: Vec<RowAddr>,
    target: &Segment,
) -> tantivy::Result<()> {
    let mut columns = Vec::with_capacity(sources.len());
    for source in sources {
        let file = source.segment.open_read(SegmentComponent::FastFields)?;
        columns.push(ColumnarReader::open(file)?);
    }
    let columns: Vec<_> = columns.iter().collect();
    let places = order.iter().map(|from| (from.segment_ord, from.row_id));
    let is_stacked = sources.iter().all(|source| source.is_whole) && places.is_sorted();
    let rows = if is_stacked {
        MergeRowOrder::Stack(StackMergeOrder::stack(&columns))
    } else {
        MergeRowOrder::Shuffled(ShuffleMergeOrder {
            // Asked of columns that lack values only.
            alive_bitsets: vec![None; sources.len()],
            new_row_id_to_old_row_id: order,
        })
    };
    let names = COLUMNS.map(|(name, of)| (name.to_owned(), of));
    let mut file = target.open_write(SegmentComponent::FastFields)?;
    merge_columnar(&columns, &names, rows, &mut file)?;
    Ok(file.terminate()?)
}

/// The number of a document that is left out.
pub(super) const ERASED: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tantivy::Index;
    use tantivy::index::SegmentId;
    use tantivy::indexer::merge_filtered_segments;

    use super::*;
    use crate::ledger::{Disk, EntryId, MemoryDisk, OpenMode};
    use crate::text::index::build::SegmentBuilder;
    use crate::text::index::directory::DiskDirectory;
    use crate::text::{Document, Language};

    /// A folder for segments.
    struct Home {
        disk: Arc<dyn Disk>,
        directory: DiskDirectory,
        fields: Fields,
        index: Index,
    }

    impl Home {
        fn new() -> Self {
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
            disk.create_folder("text").unwrap();
            let directory = DiskDirectory::new(&disk);
            let fields = Fields::new(Language::ENGLISH);
            let index = fields.index().open_or_create(directory.clone()).unwrap();
            Self {
                disk,
                directory,
                fields,
                index,
            }
        }

        fn build<'a>(&self, documents: impl Iterator<Item = &'a (u64, Document)>) -> Segment {
            let mut builder = SegmentBuilder::new(&self.fields, self.index.new_segment());
            documents.for_each(|(row, document)| builder.add(EntryId::new(*row), document));
            let (id, documents) = builder.finish().unwrap();
            self.index
                .segment(self.index.new_segment_meta(id, documents))
        }

        fn merge(&self, segments: &[(Segment, Vec<u32>)]) -> SegmentId {
            let target = self.index.new_segment();
            merge(&self.fields, segments, &target).unwrap();
            target.id()
        }

        /// The files of a segment by their endings.
        fn files(&self, id: SegmentId) -> BTreeMap<&str, Vec<u8>> {
            let read = |ending| {
                let name = format!("text/{}.{ending}", id.uuid_string());
                let file = self.disk.open(&name, OpenMode::Read).unwrap();
                let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
                file.read_at(&mut bytes, 0).unwrap();
                (ending, bytes)
            };
            ["fast", "fieldnorm", "idx", "pos", "store", "term"]
                .map(read)
                .into()
        }
    }

    /// Words of which one is in most documents, some have variants, and some are repeated.
    fn document() -> impl Strategy<Value = Document> {
        let words = [
            "running", "café", "e-mail", "cups", "w1", "w2", "w3", "kettle",
        ];
        let word = (prop::sample::select(words.to_vec()), 1_usize..4);
        let words = prop::collection::vec(word, 0..6);
        let repeated = prop_oneof![40 => Just(0_usize), 1 => 100_usize..300];
        (words, repeated, 0_u64..4, any::<bool>()).prop_map(|(words, repeated, thread, foreign)| {
            let mut text = "tea ".repeat(usize::from(words.len() != 3));
            for (word, times) in words {
                text += &format!("{word} ").repeat(times);
            }
            text += &"bell ".repeat(repeated);
            let document = Document::default().passage("content", text).thread(thread);
            match foreign {
                true => document.language(Language::GERMAN),
                false => document,
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn segments_are_merged_into_the_files_that_their_documents_would_have(
            documents in prop::collection::vec(
                (document(), 0_usize..3, prop::bool::weighted(0.1)),
                1..500,
            ),
            follow in any::<bool>(),
        ) {
            let home = Home::new();
            let (mut of_segment, mut left) = ([(); 3].map(|()| Vec::new()), Vec::new());
            let mut erased = [(); 3].map(|()| Vec::new());
            let len = documents.len();
            // The number of words that are left is known exactly where documents are short.
            let is_long = documents.iter().any(|(it, ..)| it.len_bytes() > 200);
            for (at, (document, any, is_erased)) in documents.into_iter().enumerate() {
                // The rows of segments follow each other, or lie between each other.
                let number = if follow { at * 3 / len } else { any };
                let of_segment = &mut of_segment[number];
                let with_row = (at as u64 * 2, document);
                if is_erased && !is_long {
                    erased[number].push(u32::try_from(of_segment.len()).unwrap());
                } else {
                    left.push(with_row.clone());
                }
                of_segment.push(with_row);
            }
            let mut segments = Vec::new();
            // In any order.
            for (documents, erased) in of_segment.iter().zip(erased).rev() {
                if documents.len() > erased.len() {
                    segments.push((home.build(documents.iter()), erased));
                }
            }
            if !left.is_empty() {
                let merged = home.files(home.merge(&segments));
                let expected = home.files(home.build(left.iter()).id());
                prop_assert_eq!(merged, expected);
            }
        }

        #[test]
        fn a_merge_writes_the_files_that_the_library_would_write(
            documents in prop::collection::vec(document(), 6..400),
        ) {
            let home = Home::new();
            let documents: Vec<_> = (0_u64..).zip(documents).collect();
            let parts = documents.chunks(documents.len().div_ceil(3));
            let segments: Vec<_> = parts.map(|part| home.build(part.iter())).collect();
            let whole: Vec<_> = segments.iter().map(|it| (it.clone(), Vec::new())).collect();
            let (staged, _staging) = home.directory.stage(&Arc::default());
            let (settings, all) = (home.index.settings().clone(), vec![None; segments.len()]);
            let theirs = merge_filtered_segments(&segments, settings, all, staged).unwrap();
            let theirs = theirs.searchable_segment_metas().unwrap().remove(0).id();
            prop_assert_eq!(home.files(home.merge(&whole)), home.files(theirs));
        }
    }
}
