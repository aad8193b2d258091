//! The operations of CAL 1.1 on a store, and no other.
//!
//! The executor is generic over [`Facade`], so that it reaches no other method of a store: the
//! compiler shows that no statement deletes. An ASSEMBLE is composed of recalls (ruling CAL11).

use std::time::Instant;

use grainstore::newest_versions;
use grainstore::query::{Cursor, Page, Sort};
use grainstore::store::Version;
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Error, Filter, Grain, Search, Store};

/// One page of grains that is asked for.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) filter: &'a Filter,
    /// The words of a search; its results come best first.
    pub(crate) words: Option<&'a str>,
    /// Whether the results tell the parts of their scores.
    pub(crate) explains: bool,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    pub(crate) after: Option<Cursor>,
}

/// The operations.
pub(crate) trait Facade {
    /// Returns a page of grains.
    fn recall(&self, ask: &Ask<'_>) -> Result<Page, Error>;

    /// Returns how many grains pass a filter; `None` where only reading them would tell.
    fn count(&self, filter: &Filter) -> Result<Option<u64>, Error>;

    /// Returns up to two grains whose addresses begin with these digits; `None` if finding out takes
    /// until the deadline.
    fn exists(&self, digits: &str, deadline: Instant)
    -> Result<Option<Vec<ContentAddress>>, Error>;

    /// Returns the newest versions of a grain with so many bytes, the oldest first, and how many more
    /// there are.
    fn get_history(
        &self,
        address: &ContentAddress,
        bytes: usize,
    ) -> Result<(Vec<Version>, u64), Error>;

    /// Stores a grain.
    fn add(&self, grain: Grain) -> Result<ContentAddress, Error>;

    /// Stores a grain in place of another, whose versions are kept.
    fn supersede(
        &self,
        old: &ContentAddress,
        new: Grain,
        reason: &str,
    ) -> Result<ContentAddress, Error>;

    /// Returns the abilities of the store.
    fn describe(&self) -> Abilities;
}

/// The abilities of a store and its handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Abilities {
    /// The namespace that the handle is narrowed to.
    pub(crate) namespace: Option<String>,
    /// The person that the handle is narrowed to.
    pub(crate) user: Option<String>,
    /// The token that the handle acts for.
    pub(crate) token: Option<String>,
    /// Whether it may store grains.
    pub(crate) may_write: bool,
}

impl Abilities {
    /// Returns what tells one reach from another: templates are of the namespace and the person.
    pub(crate) fn reach(&self) -> String {
        format!("{:?} {:?}", self.namespace, self.user)
    }
}

impl Facade for Store {
    fn recall(&self, ask: &Ask<'_>) -> Result<Page, Error> {
        match ask.words {
            Some(words) => {
                let ranking = Ranking {
                    explains: ask.explains,
                    ..Ranking::default()
                };
                let search = Search::words(words).filter(ask.filter);
                self.find(&search.ranking(ranking).limit(ask.limit))
            }
            None => {
                let filter = ask.filter.clone().sorted(ask.sort);
                self.query(&filter, ask.limit, ask.after)
            }
        }
    }

    fn count(&self, filter: &Filter) -> Result<Option<u64>, Error> {
        if self.capability().is_some() {
            return Ok(None);
        }
        Ok(Some(self.query(filter, 0, None)?.total))
    }

    fn exists(
        &self,
        digits: &str,
        deadline: Instant,
    ) -> Result<Option<Vec<ContentAddress>>, Error> {
        if let Ok(address) = digits.parse::<ContentAddress>() {
            let found = Self::exists(self, &address)?;
            return Ok(Some(found.then_some(address).into_iter().collect()));
        }
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = self.list(after, PAGE_LEN)?;
            let begins = |address: &ContentAddress| address.to_string().starts_with(digits);
            found.extend(page.addresses.into_iter().filter(begins));
            after = page.next;
            if found.len() > 1 || after.is_none() {
                return Ok(Some(found));
            }
            if Instant::now() > deadline {
                return Ok(None);
            }
        }
    }

    fn get_history(
        &self,
        address: &ContentAddress,
        bytes: usize,
    ) -> Result<(Vec<Version>, u64), Error> {
        newest_versions(self, address, bytes, |_| true)
    }

    fn add(&self, grain: Grain) -> Result<ContentAddress, Error> {
        self.put(grain)
    }

    fn supersede(
        &self,
        old: &ContentAddress,
        new: Grain,
        reason: &str,
    ) -> Result<ContentAddress, Error> {
        Self::supersede(self, old, new, Some(reason))
    }

    fn describe(&self) -> Abilities {
        let capability = self.capability();
        let of = |part: Option<&str>| part.map(str::to_owned);
        Abilities {
            namespace: of(capability.and_then(|it| it.namespace())),
            user: of(capability.and_then(|it| it.user())),
            token: of(capability.and_then(|it| it.token())),
            may_write: capability.is_none_or(|it| it.authorize_write().is_ok()),
        }
    }
}

/// A page is read within a fraction of a second.
const PAGE_LEN: usize = 1_024;
