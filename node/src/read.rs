//! What a store answers: grains, results of searches and queries, vectors, and the outcomes of files.

use std::collections::HashMap;

use grainstore::Search;
use grainstore::grain::Status;
use grainstore::interchange::{Format, ImportFile, Loss, ReadOptions, WriteOptions};
use grainstore::ledger::EntryId;
use grainstore::query::{Cursor, Page as Results, Recall};
use grainstore::store::{Embedding, Summary};
use napi::bindgen_prelude::{Float32Array, Result, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use crate::ask::{Abort, Promised};
use crate::changes::Changes;
use crate::failure;
use crate::filter::{filter, named, sort};
use crate::grain::Grain;
use crate::held::Held;
use crate::recollection::Recollection;
use crate::store::Store;
use crate::value::{address, addresses};

/// What the store says about a grain besides its bytes.
#[napi(object, object_from_js = false)]
pub struct Standing {
    /// Whether the store still holds it for true.
    pub is_current: bool,
    /// The address of the grain that replaced it.
    pub superseded_by: Option<String>,
    /// `unverified`, `verified`, `contested` or `retracted`.
    pub verification: String,
    /// Whether it was contradicted.
    pub is_contradicted: bool,
}

impl Standing {
    fn of(status: &Status) -> Self {
        Self {
            is_current: status.is_current(),
            superseded_by: status.superseded_by.map(|by| by.to_string()),
            verification: status.verification.name().to_owned(),
            is_contradicted: status.contradicted,
        }
    }
}

/// One result of a search or a query.
#[napi(object, object_from_js = false)]
pub struct Found {
    /// The address of the grain.
    pub address: String,
    pub status: Standing,
    /// Whether the store still holds the grain for true.
    pub is_current: bool,
    /// The relevance from 0 to 1; 1 for every result of a query. It says nothing about trust.
    pub score: f64,
    /// The fields that have words of the search.
    pub matched_fields: Vec<String>,
    /// The DID of the signer, for a signed grain.
    pub signer: Option<String>,
    /// Whether that signer is trusted to write the grain: `verified` or `untrusted`.
    pub trust: Option<String>,
}

/// The grains of results. One becomes an object of JavaScript's when it is looked at: the thread of the event
/// loop makes these objects, and the collector of garbage looks at each of them every time.
#[napi]
pub struct Grains(Vec<grainstore::Grain>);

#[napi]
impl Grains {
    /// Returns the grain of a result.
    #[napi(ts_return_type = "Grain")]
    pub fn at(&self, row: u32) -> Option<Grain> {
        self.0.get(row as usize).cloned().map(Grain::of)
    }
}

/// The best results of a search, or a page of a query.
#[napi(object, object_from_js = false)]
pub struct Page {
    pub found: Vec<Found>,
    pub grains: Grains,
    /// The number of all that match.
    pub total: f64,
    /// Whether there may be more than `total`.
    pub total_is_lower_bound: bool,
    /// Whether the search ended at its deadline or at its limit of bytes.
    pub is_partial: bool,
    /// Words that no grain has, each with the word that it was read as.
    pub read_as: HashMap<String, String>,
    /// Where the next page of a query begins; missing on the last one.
    pub next_cursor: Option<String>,
}

impl Page {
    fn of(envelope: Results) -> Self {
        let found = envelope.results.into_iter().map(|found| {
            let row = Found {
                address: found.grain.address().to_string(),
                is_current: found.status.is_current(),
                status: Standing::of(&found.status),
                score: found.score,
                matched_fields: found.matched_fields.into_iter().map(Into::into).collect(),
                trust: found
                    .signature
                    .as_ref()
                    .map(|it| it.trust.name().to_owned()),
                signer: found.signature.map(|it| it.signer.to_string()),
            };
            (row, found.grain)
        });
        let (found, grains) = found.unzip();
        Self {
            found,
            grains: Grains(grains),
            total: envelope.total as f64,
            total_is_lower_bound: envelope.total_is_lower_bound,
            is_partial: envelope.is_partial || envelope.is_cut,
            read_as: envelope.read_as.into_iter().collect(),
            next_cursor: envelope.next_cursor.map(|cursor| cursor.to_string()),
        }
    }
}

/// One grain of a lineage.
#[napi(object, object_from_js = false)]
pub struct Version {
    pub grain: Grain,
    pub status: Standing,
    /// When it was stored, in milliseconds since 1970.
    pub stored_at: i64,
    /// The author of the handle that stored it; missing for the owner of the store.
    pub stored_by: Option<String>,
}

/// The outcome of an import: its records counted by outcome.
#[napi(object, object_from_js = false)]
pub struct Imported {
    /// New grains.
    pub inserted: f64,
    /// New grains that replace earlier versions of their records.
    pub updated: f64,
    /// Grains that were stored already, and records older than the stored version.
    pub unchanged: f64,
    pub corrected: f64,
    /// Legal holds placed as in the owner's own copy.
    pub held: f64,
    pub embedded: f64,
    /// Records that contradict an earlier import or a change made in this store.
    pub conflicts: f64,
    pub unapplied: f64,
    /// Records that would replace a protected grain.
    pub denied: f64,
    /// Records that are not valid grains.
    pub refused: Vec<Refused>,
    /// Records of grains that were deleted here.
    pub erased: f64,
    /// What grains cannot carry, counted by the name of the field.
    pub loss: HashMap<String, f64>,
    /// Whether every record is stored and none contradicts another.
    pub is_complete: bool,
}

/// A record of a file that is not a valid grain.
#[napi(object, object_from_js = false)]
pub struct Refused {
    /// Where it stands: `line 3`, a byte, a JSON pointer.
    pub place: String,
    pub message: String,
    pub code: String,
}

impl Imported {
    fn of(summary: &Summary) -> Self {
        let left = summary.conflicts.len()
            + summary.unapplied.len()
            + summary.denied.len()
            + summary.refused.len()
            + summary.erased.len();
        let refused = summary.refused.iter().map(|it| Refused {
            place: it.place().to_string(),
            message: it.to_string(),
            code: it.code().as_str().to_owned(),
        });
        Self {
            inserted: summary.inserted as f64,
            updated: summary.updated as f64,
            unchanged: summary.unchanged as f64,
            corrected: summary.corrected as f64,
            held: summary.held as f64,
            embedded: summary.embedded as f64,
            conflicts: summary.conflicts.len() as f64,
            unapplied: summary.unapplied.len() as f64,
            denied: summary.denied.len() as f64,
            refused: refused.collect(),
            erased: summary.erased.len() as f64,
            loss: counted(&summary.loss),
            is_complete: left == 0,
        }
    }
}

/// The outcome of an export.
#[napi(object, object_from_js = false)]
pub struct Exported {
    pub grains: f64,
    pub files: f64,
    /// What the format cannot carry, counted by the name of the field.
    pub loss: HashMap<String, f64>,
    /// The entry of the ledger that the next increment begins with.
    pub next: f64,
}

fn counted(loss: &Loss) -> HashMap<String, f64> {
    let counts = loss.iter();
    counts
        .map(|(field, count)| (field.to_owned(), count as f64))
        .collect()
}

/// Is told how many records of an import are done.
type Progress = ThreadsafeFunction<f64, (), f64, napi::Status, false, true>;

#[napi]
impl Store {
    #[napi(ts_return_type = "Promise<Grain | null>")]
    pub fn get(&self, of: String, abort: Option<&Abort>) -> Result<Promised<Option<Grain>>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| Ok(store.get(&address)?.map(Grain::of))))
    }

    #[napi(ts_return_type = "Promise<(Grain | null)[]>")]
    pub fn get_batch(
        &self,
        of: Vec<String>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Vec<Option<Grain>>>> {
        let addresses = addresses(&of)?;
        Ok(self.ask(abort, move |store| {
            let found = store.get_batch(&addresses)?.into_iter();
            Ok(found.map(|grain| grain.map(Grain::of)).collect())
        }))
    }

    #[napi(ts_return_type = "Promise<Standing>")]
    pub fn status(&self, of: String, abort: Option<&Abort>) -> Result<Promised<Standing>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            Ok(Standing::of(&store.status(&address)?))
        }))
    }

    #[napi(
        ts_args_type = "text: string, isPlain: boolean, limit: number, conditions: object | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<Page>"
    )]
    pub fn search(
        &self,
        text: String,
        is_plain: bool,
        limit: u32,
        conditions: Option<Unknown<'_>>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Page>> {
        let filter = filter(conditions)?;
        Ok(self.ask(abort, move |store| {
            let limit = limit as usize;
            let found = match is_plain {
                true => store.find(&Search::words(&text).filter(&filter).limit(limit)),
                false => store.search(&text, &filter, limit),
            };
            found.map(Page::of)
        }))
    }

    #[napi(
        ts_args_type = "order: string | undefined, limit: number, cursor: string | undefined, conditions: object | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<Page>"
    )]
    pub fn query(
        &self,
        order: Option<String>,
        limit: u32,
        cursor: Option<String>,
        conditions: Option<Unknown<'_>>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Page>> {
        let filter = filter(conditions)?;
        let sort = sort(order.as_deref(), &filter)?;
        Ok(self.ask(abort, move |store| {
            let after = cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
            let found = store.query(&filter.sorted(sort), limit as usize, after);
            found.map(Page::of)
        }))
    }

    #[napi(
        ts_args_type = "question: string, budget: number, isPrecise: boolean, conditions: object | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<Recollection>"
    )]
    pub fn recall(
        &self,
        question: String,
        budget: u32,
        is_precise: bool,
        conditions: Option<Unknown<'_>>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Recollection>> {
        let filter = filter(conditions)?;
        let recall = Recall {
            budget: budget as usize,
            ..Recall::default()
        };
        let recall = if is_precise { recall.precise() } else { recall };
        Ok(self.ask(abort, move |store| {
            let found = store.recall(&question, &filter, &recall);
            found.map(Recollection::of)
        }))
    }

    #[napi(ts_return_type = "Promise<Version[]>")]
    pub fn history(&self, of: String, abort: Option<&Abort>) -> Result<Promised<Vec<Version>>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            let versions = store.history(&address)?.into_iter();
            let versions = versions.map(|version| Version {
                status: Standing::of(&version.status),
                stored_at: version.stored_at.ms(),
                stored_by: version.stored_by,
                grain: Grain::of(version.grain),
            });
            Ok(versions.collect())
        }))
    }

    /// Returns the feed from an entry on, or from now on.
    #[napi(
        ts_args_type = "since: number | undefined, conditions: object | undefined",
        ts_return_type = "Promise<Changes>"
    )]
    pub fn changes(
        &self,
        since: Option<f64>,
        conditions: Option<Unknown<'_>>,
    ) -> Result<Promised<Changes>> {
        let filter = conditions.map(|it| filter(Some(it))).transpose()?;
        let since = since.map(entry).transpose()?;
        let opening = self.held().opening().clone();
        Ok(self.ask(None, move |store| {
            let from = match since {
                Some(entry) => entry,
                None => store.changes(EntryId::FIRST).end(),
            };
            let feed = store.changes(from);
            let feed = match filter {
                Some(filter) => feed.matching(filter),
                None => feed,
            };
            Ok(Changes::of(Held::new(feed, &opening)))
        }))
    }

    #[napi(
        ts_args_type = "path: string, format: string | undefined, user: string | undefined, isPreview: boolean, progress?: ((done: number) => void) | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<Imported>"
    )]
    pub fn import_file(
        &self,
        path: String,
        format: Option<String>,
        user: Option<String>,
        is_preview: bool,
        progress: Option<Progress>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Imported>> {
        let format = format
            .map(|it| named("format", &it, Format::named))
            .transpose()?;
        let options = ReadOptions {
            user,
            ..ReadOptions::default()
        };
        Ok(self.ask_about(abort, path.into(), move |store, path| {
            let reading = ImportFile::open(path, format, &options)?;
            let summary = match is_preview {
                true => store.admin()?.preview_import(reading),
                false => store.import_with(reading, &mut |done| {
                    if let Some(progress) = &progress {
                        progress.call(done as f64, ThreadsafeFunctionCallMode::NonBlocking);
                    }
                }),
            };
            Ok(Imported::of(&summary?))
        }))
    }

    #[napi(
        ts_args_type = "path: string, format: string, history: boolean, conditions: object | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<Exported>"
    )]
    pub fn export(
        &self,
        path: String,
        format: String,
        history: bool,
        conditions: Option<Unknown<'_>>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Exported>> {
        let format = named("format", &format, Format::named)?;
        let filter = filter(conditions)?;
        let options = WriteOptions {
            history,
            ..WriteOptions::default()
        };
        Ok(self.ask_about(abort, path.into(), move |store, path| {
            let report = store
                .admin()?
                .export_file(format, &filter, &options, path)?;
            Ok(Exported {
                grains: report.grains as f64,
                files: report.files as f64,
                loss: counted(&report.loss),
                next: report.next as f64,
            })
        }))
    }

    /// Stores vectors of a model, each of the address at the same place.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn put_embeddings(
        &self,
        model: String,
        of: Vec<String>,
        vectors: Vec<Float32Array>,
        abort: Option<&Abort>,
    ) -> Result<Promised<()>> {
        let addresses = addresses(&of)?;
        let pairs = addresses.into_iter().zip(vectors.iter());
        let vectors: Vec<_> = pairs
            .map(|(address, vector)| Embedding::new(address, &model, vector))
            .collect();
        Ok(self.ask(abort, move |store| store.put_embeddings(&vectors)))
    }

    #[napi(ts_return_type = "Promise<Float32Array | null>")]
    pub fn embedding(
        &self,
        of: String,
        model: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<Option<Float32Array>>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            let found = store.embedding(&address, &model)?;
            Ok(found.map(|vector| Float32Array::new(vector.to_vec())))
        }))
    }

    #[napi(
        ts_args_type = "model: string, vector: Float32Array, limit: number, conditions: object | undefined, abort?: Abort | undefined",
        ts_return_type = "Promise<Page>"
    )]
    pub fn nearest(
        &self,
        model: String,
        vector: Float32Array,
        limit: u32,
        conditions: Option<Unknown<'_>>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Page>> {
        let filter = filter(conditions)?;
        let vector = vector.to_vec();
        Ok(self.ask(abort, move |store| {
            let search = Search::near(&model, &vector).filter(&filter);
            store.find(&search.limit(limit as usize)).map(Page::of)
        }))
    }
}

/// Returns the entry of a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, from 0 to 2^53"
)]
pub(crate) fn entry(number: f64) -> Result<EntryId> {
    if number.fract() != 0.0 || !(0.0..=9_007_199_254_740_991.0).contains(&number) {
        return Err(failure::range("an entry is a whole number from 0 on"));
    }
    Ok(EntryId::new(number as u64))
}
