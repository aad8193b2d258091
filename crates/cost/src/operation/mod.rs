//! The operations that are counted. Each is a function that works through rounds of the same work:
//! the first warms the caches, the second is counted, and what comes before or after is not.

mod files;
mod questions;
mod served;
mod statements;
mod writes;

use grainstore::interchange::Format;

use crate::Result;
use crate::fixture::{EXPORTED_GRAINS, Fixture};

/// An operation that is counted.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name in the table.
    pub name: &'static str,
    /// The noun for one of what a round does many of, and what is done with it.
    pub what: &'static str,
    /// How many of them a round does.
    pub per_round: usize,
    /// Works through the rounds.
    pub run: fn(&Fixture, Rounds) -> Result<()>,
}

/// Every operation, in the order of the table.
pub const OPERATIONS: [Operation; 33] = [
    of(
        "encode",
        "a draft to its blob and address",
        writes::DRAFTS,
        writes::encode,
    ),
    of(
        "decode",
        "a blob to its grain, every rule checked",
        writes::DRAFTS,
        writes::decode,
    ),
    of(
        "put",
        "a grain by itself, durable",
        writes::SINGLE_PUTS,
        writes::put,
    ),
    of(
        "put-batch",
        "a grain in batches of 1,000, until it is in a run of the index",
        writes::GRAINS,
        writes::put_batch,
    ),
    of(
        "pipeline",
        "the same batches, each prepared while the one before it is made durable",
        writes::GRAINS,
        writes::put_batches,
    ),
    of(
        "put-text",
        "a grain in batches of 1,000, until its words are in a segment",
        writes::TEXTS,
        writes::put_text,
    ),
    of(
        "supersede",
        "a grain that takes the place of another",
        writes::SINGLE_PUTS,
        writes::supersede,
    ),
    of(
        "open",
        "opening a store of 20,000 grains with text, and closing it",
        1,
        questions::open,
    ),
    of(
        "get",
        "a grain by its address, verified",
        questions::GETS,
        questions::get,
    ),
    of(
        "triple-lookup",
        "a question for a subject and a relation, up to 100 rows",
        questions::LOOKUPS,
        questions::triple_lookup,
    ),
    of(
        "filtered-query",
        "a question for a type, a namespace and an hour, 10 grains",
        questions::QUERIES,
        questions::filtered_query,
    ),
    of(
        "sorted-query",
        "the same question in the order of addresses, as CAL asks it",
        questions::QUERIES,
        questions::sorted_query,
    ),
    of(
        "search-rare",
        "a search for a word of about 10 grains in 20,000",
        questions::SEARCHES,
        questions::rare_word,
    ),
    of(
        "search-frequent",
        "a search for a word of a tenth of the grains or more",
        questions::SEARCHES,
        questions::frequent_word,
    ),
    of(
        "search-words",
        "the same by its words alone",
        questions::SEARCHES,
        questions::words_alone,
    ),
    of(
        "search-namespace",
        "a search for two words in a namespace",
        questions::SEARCHES,
        questions::in_a_namespace,
    ),
    of(
        "search-phrase",
        "a search for two words beside each other",
        questions::SEARCHES,
        questions::phrase,
    ),
    of(
        "recall",
        "a recall of 2,000 tokens by eight words",
        questions::RECALLS,
        questions::recall,
    ),
    of(
        "recall-served",
        "the same over HTTP by a token",
        questions::RECALLS,
        served::recall,
    ),
    of(
        "cal-parse",
        "a statement of CAL, to its tree",
        statements::PARSED,
        statements::parsed,
    ),
    of(
        "cal-recall",
        "a RECALL that asks what `sorted-query` asks",
        questions::QUERIES,
        statements::recall,
    ),
    of(
        "cal-assemble",
        "an ASSEMBLE of three sources, 1,000 tokens",
        statements::ASSEMBLIES,
        statements::assembly,
    ),
    of(
        "import-mg",
        "a grain of a file, stored",
        EXPORTED_GRAINS,
        |fixture, rounds| files::import(fixture, rounds, Format::Mg),
    ),
    of(
        "import-jsonl",
        "a grain of a file, stored",
        EXPORTED_GRAINS,
        |fixture, rounds| files::import(fixture, rounds, Format::Jsonl),
    ),
    of(
        "import-pam",
        "a grain of a file, stored",
        EXPORTED_GRAINS,
        |fixture, rounds| files::import(fixture, rounds, Format::Pam),
    ),
    of(
        "import-aimem",
        "a grain of a file, stored",
        EXPORTED_GRAINS,
        |fixture, rounds| files::import(fixture, rounds, Format::Aimem),
    ),
    of(
        "import-omi",
        "a grain of a file, stored",
        EXPORTED_GRAINS,
        |fixture, rounds| files::import(fixture, rounds, Format::Omi),
    ),
    of(
        "import-chatgpt",
        "a message of an export, stored",
        EXPORTED_GRAINS,
        files::import_chatgpt,
    ),
    of(
        "export-mg",
        "a grain, written to a file",
        EXPORTED_GRAINS,
        |fixture, rounds| files::export(fixture, rounds, Format::Mg),
    ),
    of(
        "export-jsonl",
        "a grain, written to a file",
        EXPORTED_GRAINS,
        |fixture, rounds| files::export(fixture, rounds, Format::Jsonl),
    ),
    of(
        "export-pam",
        "a grain, written to a file",
        EXPORTED_GRAINS,
        |fixture, rounds| files::export(fixture, rounds, Format::Pam),
    ),
    of(
        "export-aimem",
        "a grain, written to a file",
        EXPORTED_GRAINS,
        |fixture, rounds| files::export(fixture, rounds, Format::Aimem),
    ),
    of(
        "export-omi",
        "a grain, written to a file",
        EXPORTED_GRAINS,
        |fixture, rounds| files::export(fixture, rounds, Format::Omi),
    ),
];

/// Returns the operation of a name.
///
/// # Errors
/// A name that no operation has.
pub fn named(name: &str) -> Result<&'static Operation> {
    let found = OPERATIONS.iter().find(|operation| operation.name == name);
    Ok(found.ok_or_else(|| format!("no operation is called {name}"))?)
}

const fn of(
    name: &'static str,
    what: &'static str,
    per_round: usize,
    run: fn(&Fixture, Rounds) -> Result<()>,
) -> Operation {
    Operation {
        name,
        what,
        per_round,
        run,
    }
}

/// The rounds of an operation: nothing in one of them but the operation, and what it needs is made
/// before.
#[derive(Debug, Default)]
pub struct Rounds(usize);

impl Iterator for Rounds {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        round_ends(self.0);
        self.0 += 1;
        (self.0 <= ROUNDS).then(|| self.0 - 1)
    }
}

/// Where callgrind writes down what it has counted, and begins anew: before each round and after the
/// last.
#[inline(never)]
fn round_ends(number: usize) {
    std::hint::black_box(number);
}

const ROUNDS: usize = 2;
