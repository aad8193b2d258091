//! The grains of a plan: page by page, tested, in a total order.

use std::cmp::Ordering;
use std::time::Instant;

use grainstore::query::{Cursor, Found, Sort, SortBy};

use super::facade::{Ask, Facade};
use super::failure::Failure;
use super::field::cells;
use super::plan::Plan;
use crate::code::Code;
use crate::error::Error;
use crate::place::At;
use crate::recall::Direction;

/// The order of rows. Equal rows follow by address, so that there are no ties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// The best first.
    Score,
    /// As they were said: the order of the store for one conversation (OMS 28.6).
    Said,
    /// By a field.
    Field(String, Direction),
}

impl Order {
    /// Compares two rows; a row without the field comes last in either direction.
    pub(crate) fn cmp(&self, a: &Found, b: &Found) -> Ordering {
        let by_address = || a.address.as_bytes().cmp(b.address.as_bytes());
        match self {
            Self::Said => Ordering::Equal,
            Self::Score => b.score.total_cmp(&a.score).then_with(by_address),
            Self::Field(..) => self.cmp_values(a, b).then_with(by_address),
        }
    }

    /// Compares the values alone.
    fn cmp_values(&self, a: &Found, b: &Found) -> Ordering {
        let Self::Field(field, dir) = self else {
            return b.score.total_cmp(&a.score);
        };
        let first = |found: &Found| cells(found, field).into_iter().next();
        match (first(a), first(b)) {
            (Some(a), Some(b)) => match dir {
                Direction::Asc => a.cmp(&b),
                Direction::Desc => b.cmp(&a),
            },
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }

    /// Returns the order of the store that it agrees with, if there is one.
    fn of_store(&self) -> Option<Sort> {
        let sort = match self {
            Self::Score => return Some(Sort::by(SortBy::Address)),
            Self::Said => return Some(Sort::by(SortBy::Time)),
            Self::Field(field, dir) => {
                let by = match field.as_str() {
                    "time" => SortBy::Time,
                    "confidence" => SortBy::Confidence,
                    "importance" => SortBy::Importance,
                    _ => return None,
                };
                match dir {
                    Direction::Asc => Sort::by(by),
                    Direction::Desc => Sort::by(by).descending(),
                }
            }
        };
        Some(sort)
    }
}

/// Rows that pass a plan.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) found: Vec<Found>,
    /// How many pass.
    pub(crate) total: u64,
    pub(crate) total_is_lower_bound: bool,
    /// How many grains were read.
    pub(crate) scanned: u64,
}

/// The first `len` rows of a plan in an order; all without `len`.
pub(crate) struct Fetch<'a, F> {
    pub(crate) facade: &'a F,
    pub(crate) plan: &'a Plan,
    pub(crate) order: &'a Order,
    pub(crate) len: Option<usize>,
    pub(crate) deadline: Instant,
    /// How many bytes of grains may be held.
    pub(crate) bytes_max: usize,
}

impl<F: Facade> Fetch<'_, F> {
    pub(crate) fn rows(&self) -> Result<Rows, Failure> {
        if self.plan.is_empty {
            return Ok(Rows::default());
        }
        let mut rows = match self.plan.words.as_deref() {
            Some(words) => self.ranked(words)?,
            None => self.paged()?,
        };
        self.check_room(&rows.found)?;
        rows.found.sort_by(|a, b| self.order.cmp(a, b));
        if let Some(len) = self.len {
            rows.found.truncate(len);
        }
        Ok(rows)
    }

    fn passes(&self, found: &Found) -> bool {
        self.plan.tests.iter().all(|test| test.holds(found))
    }

    /// Searches; asks for more while what was asked for is not enough.
    fn ranked(&self, words: &str) -> Result<Rows, Failure> {
        let by_score = *self.order == Order::Score;
        let wanted = self.len.filter(|_| by_score);
        let mut limit = wanted.map_or(PAGE_LEN_MAX, |len| len.saturating_add(1));
        loop {
            self.check_time()?;
            let page = self
                .facade
                .recall(&self.ask(Some(words), Sort::default(), limit, None))?;
            if page.is_partial {
                return Err(too_late().into());
            }
            let read = page.results.len();
            let worst = page.results.iter().map(|found| found.score);
            let worst = worst.fold(f64::INFINITY, f64::min);
            let found: Vec<Found> = page
                .results
                .into_iter()
                .filter(|found| self.passes(found))
                .collect();
            // The store breaks ties otherwise: the last score must not be among those returned.
            let better = found.iter().filter(|found| found.score > worst).count();
            let is_all = read < limit;
            if is_all || wanted.is_some_and(|wanted| better >= wanted) {
                let has_tests = !self.plan.tests.is_empty();
                let total = match is_all || has_tests {
                    true => found.len() as u64,
                    false => page.total,
                };
                return Ok(Rows {
                    total,
                    total_is_lower_bound: !is_all && (has_tests || page.total_is_lower_bound),
                    found,
                    scanned: read as u64,
                });
            }
            if page.is_cut {
                return Err(no_room().into());
            }
            self.check_room(&found)?;
            limit = limit.saturating_mul(2);
        }
    }

    /// Reads pages until there are enough rows, and those that equal the last of them.
    fn paged(&self) -> Result<Rows, Failure> {
        let sort = self.order.of_store();
        let wanted = self.len.filter(|_| sort.is_some());
        let has_tests = !self.plan.tests.is_empty();
        let mut rows = Rows::default();
        let mut after = None;
        loop {
            self.check_time()?;
            let missing = wanted.map(|len| {
                let missing = len.saturating_sub(rows.found.len());
                missing.saturating_add(usize::from(self.is_by_time()))
            });
            let limit = match missing {
                Some(missing) if !has_tests => missing.min(PAGE_LEN_MAX),
                Some(missing) => missing.saturating_mul(4).clamp(PAGE_LEN_MIN, PAGE_LEN_MAX),
                None => PAGE_LEN_MAX,
            };
            let ask = self.ask(None, sort.unwrap_or_default(), limit, after);
            let page = self.facade.recall(&ask)?;
            if after.is_none() {
                rows.total = page.total;
                rows.total_is_lower_bound = page.total_is_lower_bound;
            }
            rows.scanned = rows.scanned.saturating_add(page.results.len() as u64);
            let passing = page.results.into_iter().filter(|found| self.passes(found));
            rows.found.extend(passing);
            after = page.next_cursor;
            let is_enough = wanted.is_some_and(|wanted| self.is_enough(&rows.found, wanted));
            if after.is_none() || is_enough {
                break;
            }
            self.check_room(&rows.found)?;
        }
        if after.is_none() && (has_tests || rows.total_is_lower_bound) {
            rows.total = rows.found.len() as u64;
            rows.total_is_lower_bound = false;
        } else if has_tests {
            rows.total = rows.found.len() as u64;
            rows.total_is_lower_bound = true;
        }
        Ok(rows)
    }

    /// Whether no row that is still to be read can come before the last that is wanted.
    fn is_enough(&self, found: &[Found], wanted: usize) -> bool {
        let Some(last) = wanted.checked_sub(1) else {
            return true;
        };
        match (found.get(last), found.last()) {
            (Some(_), _) if !self.is_by_time() => true,
            (Some(last), Some(next)) => self.order.cmp_values(last, next).is_ne(),
            _ => false,
        }
    }

    /// Whether the store has another order among equals (OMS 28.6), so that one row more tells where
    /// they end.
    fn is_by_time(&self) -> bool {
        matches!(self.order, Order::Field(field, _) if field == "time")
    }

    fn ask<'b>(
        &'b self,
        words: Option<&'b str>,
        sort: Sort,
        limit: usize,
        after: Option<Cursor>,
    ) -> Ask<'b> {
        Ask {
            filter: &self.plan.filter,
            words,
            explains: self.plan.explains,
            sort,
            limit,
            after,
        }
    }

    fn check_room(&self, rows: &[Found]) -> Result<(), Failure> {
        let bytes: usize = rows.iter().map(|found| found.grain.blob().len()).sum();
        match rows.len() > ROWS_MAX || bytes > self.bytes_max {
            true => Err(no_room().into()),
            false => Ok(()),
        }
    }

    fn check_time(&self) -> Result<(), Failure> {
        match Instant::now() > self.deadline {
            true => Err(too_late().into()),
            false => Ok(()),
        }
    }
}

pub(crate) fn too_late() -> Error {
    let error = Error::new(Code::Timeout, At::default(), "the statement took too long");
    error.suggest("ask for less: a type, a subject, a time")
}

fn no_room() -> Error {
    let message = "the grains of the statement are more than may be in memory";
    Error::new(Code::BudgetExceeded, At::default(), message)
}

const PAGE_LEN_MIN: usize = 64;
const PAGE_LEN_MAX: usize = 1_024;
/// So much of a result is in memory.
const ROWS_MAX: usize = 100_000;
