//! The evaluation of statements: LETs and subqueries first, then the statement itself.

mod answer;
mod assemble;
mod change;
mod explain;
mod facade;
mod failure;
mod fetch;
mod field;
mod options;
mod plan;
mod recall;
mod stages;
mod statement;
mod test;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use grainstore::query::Found;
use grainstore::{ContentAddress, Store};

pub use answer::{Answer, Body, Context, Grains, SourceUse};
pub use assemble::stream::Event;
pub use change::Change;
pub(crate) use change::{Operation, changed};
pub use failure::Failure;
pub use options::Options;

use crate::error::Error;
use crate::statement::Query;
use assemble::stream::{Stream, Tell};
pub(crate) use facade::{Abilities, Facade};
pub(crate) use field::{Cell, cells, purpose, state_name};

/// A store that answers statements.
///
/// ```
/// use grainstore::{Draft, Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Body, Cal, Options};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// store.put(Draft::belief("alice", "mg:prefers", "tea").confidence(0.9))?;
/// let options = Options::at(Time::from_ms(1_768_471_200_000)).parameter("who", "alice");
/// let answer = store.cal("RECALL WHERE subject = $who | COUNT", &options).unwrap();
/// assert!(matches!(answer.body, Body::Count(1)));
/// # Ok::<(), grainstore::Error>(())
/// ```
pub trait Cal {
    /// Answers a statement.
    ///
    /// # Errors
    /// [`Failure::Statement`] with a code of CAL; [`Failure::Store`] with a code of the store.
    fn cal(&self, statement: &str, options: &Options) -> Result<Answer, Failure>;
}

impl Cal for Store {
    fn cal(&self, statement: &str, options: &Options) -> Result<Answer, Failure> {
        crate::parse(statement)?.run(self, options)
    }
}

impl Query {
    /// Answers the statement.
    ///
    /// ```
    /// use grainstore::{Options as StoreOptions, Store, Time};
    /// use grainstore_cal::{Options, parse_json};
    ///
    /// let store = Store::in_memory(StoreOptions::default())?;
    /// let query = parse_json(&serde_json::json!({"statement": "recall", "about": "alice"})).unwrap();
    /// assert!(!query.run(&store, &Options::at(Time::from_ms(0))).unwrap().is_found());
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Cal::cal`].
    pub fn run(&self, store: &Store, options: &Options) -> Result<Answer, Failure> {
        answer(store, self, options, None)
    }

    /// Answers an ASSEMBLE with STREAM, and tells what happens meanwhile; another statement is answered
    /// as by [`Query::run`].
    ///
    /// # Errors
    /// As [`Cal::cal`]; CAL-E082 once `tell` returns false.
    pub fn stream(
        &self,
        store: &Store,
        options: &Options,
        tell: &mut dyn FnMut(Event) -> bool,
    ) -> Result<Answer, Failure> {
        answer(store, self, options, Some(tell))
    }
}

fn answer<F: Facade>(
    facade: &F,
    query: &Query,
    options: &Options,
    tell: Option<Tell<'_>>,
) -> Result<Answer, Failure> {
    let started = Instant::now();
    query.checked()?;
    let bound = query.clone().bound(&options.parameters)?;
    let warnings = bound.checked()?;
    // CAL 1.9: an assembly has twice the time of another statement.
    let timeout = match bound.statement {
        crate::Statement::Assemble(_) => options.timeout.saturating_mul(2),
        _ => options.timeout,
    };
    let mut run = Run::new(facade, options, timeout);
    run.warnings = warnings;
    if let Some(tell) = tell {
        run.stream = Some(Stream::new(tell));
    }
    let is_explained = matches!(bound.statement, crate::Statement::Explain(_));
    for one in bound.lets.iter().filter(|_| !is_explained) {
        let found = run.all(&one.recall)?;
        let named = Named {
            extract: one.extract,
            found,
        };
        run.lets.insert(one.name.it.clone(), named);
    }
    let body = run.statement(&bound.statement)?;
    Ok(Answer {
        statement: query.statement.name(),
        body,
        warnings: run.warnings,
        query_hash: ContentAddress::of(query.to_string().as_bytes()),
        grains_scanned: run.scanned,
        duration: started.elapsed(),
    })
}

/// The state of a statement that is being answered.
struct Run<'a, F> {
    facade: &'a F,
    options: &'a Options,
    /// The user of MY.
    user: Option<String>,
    deadline: Instant,
    lets: BTreeMap<String, Named>,
    scanned: u64,
    warnings: Vec<Error>,
    /// The reader of the events of an ASSEMBLE.
    stream: Option<Stream<'a>>,
}

impl<'a, F: Facade> Run<'a, F> {
    fn new(facade: &'a F, options: &'a Options, timeout: Duration) -> Self {
        let started = Instant::now();
        let user = facade.describe().user.or_else(|| options.user.clone());
        Self {
            facade,
            options,
            user,
            deadline: started.checked_add(timeout).unwrap_or(started),
            lets: BTreeMap::new(),
            scanned: 0,
            warnings: Vec::new(),
            stream: None,
        }
    }
}

/// The grains of a LET.
struct Named {
    extract: Option<crate::Extract>,
    found: Vec<Found>,
}

#[cfg(test)]
mod tests {
    use grainstore::query::Page;
    use grainstore::store::Version;
    use grainstore::{Error as StoreError, Filter, Grain, Time};

    use super::facade::Ask;
    use super::*;

    /// A store that must not be asked. It compiles with these operations alone: the executor
    /// reaches nothing that deletes.
    struct Untouched;

    impl Facade for Untouched {
        fn recall(&self, _: &Ask<'_>) -> Result<Page, StoreError> {
            panic!("a recall")
        }

        fn count(&self, _: &Filter) -> Result<Option<u64>, StoreError> {
            panic!("a count")
        }

        fn exists(&self, _: &str, _: Instant) -> Result<Option<Vec<ContentAddress>>, StoreError> {
            panic!("a look-up")
        }

        fn get_history(
            &self,
            _: &ContentAddress,
            _: usize,
        ) -> Result<(Vec<Version>, u64), StoreError> {
            panic!("a history")
        }

        fn add(&self, _: Grain) -> Result<ContentAddress, StoreError> {
            panic!("a put")
        }

        fn supersede(
            &self,
            _: &ContentAddress,
            _: Grain,
            _: &str,
        ) -> Result<ContentAddress, StoreError> {
            panic!("a supersession")
        }

        fn describe(&self) -> Abilities {
            Abilities::default()
        }
    }

    #[test]
    fn explain_and_describe_ask_the_store_for_no_grain() {
        for text in [
            "EXPLAIN RECALL beliefs WHERE hash = sha256:12345678 AND tags INCLUDE [\"a\"]",
            "EXPLAIN RECALL WHERE subject IN (RECALL beliefs | SUBJECTS) | LIMIT 3",
            "LET $x = RECALL beliefs | SUBJECTS; EXPLAIN RECALL WHERE subject IN ($x)",
            "EXPLAIN (RECALL beliefs) UNION (RECALL events THREAD FROM sha256:12345678)",
            "EXPLAIN COALESCE (RECALL beliefs, RECALL events)",
            "EXPLAIN SUPERSEDE sha256:12345678 SET object = \"x\" REASON \"y\"",
            "DESCRIBE fields goal",
            "DESCRIBE capabilities",
        ] {
            let query = crate::parse(text).unwrap();
            let answer = answer(&Untouched, &query, &Options::at(Time::from_ms(0)), None);
            assert!(answer.is_ok(), "{text}: {answer:?}");
        }
    }

    #[test]
    fn a_plan_tells_what_becomes_of_each_condition() {
        let text = "EXPLAIN RECALL beliefs WHERE subject = \"a\" AND object != \"b\" AND query = \"c\" \
            AND confidence > 0.5 AND xx:y = 1 AND relation IN (RECALL beliefs | OBJECTS)";
        let query = crate::parse(text).unwrap();
        let answer = answer(&Untouched, &query, &Options::at(Time::from_ms(0)), None).unwrap();
        let plan = answer.to_json();
        let ways: Vec<&str> = plan["plan"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["way"].as_str().unwrap())
            .collect();
        let expected = [
            "index",
            "index",
            "test",
            "search",
            "index, then test",
            "nothing",
            "subquery",
        ];
        assert_eq!(ways, expected);
    }
}
