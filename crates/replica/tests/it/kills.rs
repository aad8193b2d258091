//! Random histories of a writer, a process that ships and one that follows, each killed at any
//! operation, over a storage that fails, with restores in between.

use std::fs;
use std::path::Path;

use grainstore::{ContentAddress, Draft, Store};
use grainstore_replica::{Error, Shipped};

use super::faulty::Faulty;
use super::random::Random;
use super::store::{Copied, delete, segments};

/// How many histories a run has; `just replica-kills` has more.
const ROUNDS: &str = match option_env!("GRAINSTORE_ROUNDS") {
    Some(rounds) => rounds,
    None => "12",
};

/// The steps of one history.
const STEPS: usize = 30;

struct World {
    copied: Copied,
    faulty: std::sync::Arc<Faulty>,
    random: Random,
    grains: Vec<(ContentAddress, String)>,
    erased: Vec<String>,
    /// The entries that a pass acknowledged.
    acknowledged: u64,
    kills: u64,
    restores: u64,
}

#[tokio::test(start_paused = true)]
async fn nothing_shipped_is_lost_whatever_is_killed_and_fails() {
    let rounds: u64 = ROUNDS.parse().unwrap();
    let (mut kills, mut restores, mut entries) = (0, 0, 0);
    for seed in 0..rounds {
        let mut world = World::new(seed);
        world.run().await;
        kills += world.kills;
        restores += world.restores;
        entries += world.acknowledged;
    }
    println!("{rounds} histories, {kills} kills, {restores} restores, {entries} entries shipped");
    assert!(kills > rounds && restores > rounds);
}

impl World {
    fn new(seed: u64) -> Self {
        let faulty = Faulty::new(seed);
        let objects: std::sync::Arc<Faulty> = std::sync::Arc::clone(&faulty);
        Self {
            copied: Copied::in_bucket(objects),
            faulty,
            random: Random::new(seed ^ 0xfeed),
            grains: Vec::new(),
            erased: Vec::new(),
            acknowledged: 0,
            kills: 0,
            restores: 0,
        }
    }

    async fn run(&mut self) {
        let mut store = Some(self.copied.store());
        for step in 0..STEPS {
            // Of a store that is closed nothing is written, and the others go on.
            match (self.random.below(10), &store) {
                (0 | 1, Some(_)) => {
                    drop(store.take());
                    self.leave_torn_frame();
                }
                (_, Some(open)) => self.write(open),
                (_, None) => store = Some(self.copied.store()),
            }
            self.faulty.fail([0, 50, 200][self.random.one_of(3)]);
            match self.random.below(4) {
                0 => self.follow().await,
                _ => self.ship().await,
            }
            if step % 5 == 4 {
                self.faulty.fail(0);
                self.restore(&format!("restored{step}")).await;
            }
        }
        self.settle().await;
    }

    fn write(&mut self, store: &Store) {
        for _ in 0..self.random.below(40) {
            let token = format!("token{:016x}", self.random.next());
            let text = format!("{token} {}", "words ".repeat(self.random.one_of(300)));
            let address = store.put(Draft::event(&text)).unwrap();
            self.grains.push((address, token));
        }
        if self.random.below(4) == 0 && !self.grains.is_empty() {
            let nth = self.random.one_of(self.grains.len());
            let (address, token) = self.grains.swap_remove(nth);
            delete(store, &address);
            self.erased.push(token);
        }
    }

    /// Leaves what a writer that was killed in an append leaves behind the published end.
    fn leave_torn_frame(&mut self) {
        self.kills += 1;
        let folder = self.copied.path("store/ledger");
        let (name, bytes) = segments(&self.copied.path("store")).pop_last().unwrap();
        let last = bytes.windows(4).rposition(|magic| magic == b"GFRM");
        let Some(last) = last else { return };
        let frame = &bytes[last..];
        let torn = &frame[..self.random.one_of(frame.len())];
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(folder.join(name))
            .unwrap();
        std::io::Write::write_all(&mut file, torn).unwrap();
    }

    async fn ship(&mut self) {
        let kill = (self.random.below(3) == 0).then(|| self.random.below(12));
        self.faulty.kill_in(kill);
        let passes = async || -> Result<Shipped, Error> {
            let mut shipper = self.copied.shipper().await?;
            shipper.pass().await
        };
        let shipped = tokio::select! {
            biased;
            () = self.faulty.killed() => None,
            shipped = passes() => Some(shipped),
        };
        self.faulty.kill_in(None);
        match shipped {
            None => self.kills += 1,
            Some(Ok(shipped)) => self.acknowledge(&shipped),
            Some(Err(error)) => assert!(error.is_passing(), "{error:?}"),
        }
    }

    fn acknowledge(&mut self, shipped: &Shipped) {
        assert!(shipped.entries >= self.acknowledged);
        self.acknowledged = shipped.entries;
    }

    async fn follow(&mut self) {
        let kill = (self.random.below(3) == 0).then(|| self.random.below(12));
        self.faulty.kill_in(kill);
        let followed = tokio::select! {
            biased;
            () = self.faulty.killed() => None,
            followed = self.copied.fetch("follower") => Some(followed),
        };
        self.faulty.kill_in(None);
        match followed {
            None => self.kills += 1,
            Some(Ok(_)) => self.assert_beginning("follower"),
            // Before the first pass there is no copy, and a stale list shows an older one.
            Some(Err(Error::NoCopy | Error::Lost { .. })) => {}
            Some(Err(error)) => assert!(error.is_passing(), "{error:?}"),
        }
    }

    async fn restore(&mut self, name: &str) {
        if self.acknowledged == 0 {
            return;
        }
        let fetched = self.copied.fetch(name).await.unwrap();
        assert!(fetched.entries >= self.acknowledged, "{fetched:?}");
        self.assert_beginning(name);
        self.restores += 1;
        fs::remove_dir_all(self.copied.path(name)).unwrap();
    }

    /// Compares a copy with the beginning of the ledger: each byte is the same, or was erased in one of
    /// the two since.
    fn assert_beginning(&self, name: &str) {
        let here = segments(&self.copied.path("store"));
        let there = segments(&self.copied.path(name));
        for (segment, bytes) in &there {
            let original = &here[segment][..bytes.len()];
            let mut pairs = original.iter().zip(bytes);
            let is_same = pairs.all(|(a, b)| a == b || *a == 0 || *b == 0);
            assert!(is_same, "{segment} of {name} differs");
        }
    }

    /// Ends in quiet: then all is shipped, to the byte, and nothing erased is left.
    async fn settle(&mut self) {
        self.faulty.fail(0);
        drop(self.copied.store());
        let shipped = self.copied.ship().await.unwrap();
        assert_eq!(shipped.waits, 0);
        self.copied.fetch("follower").await.unwrap();
        self.copied.fetch("last").await.unwrap();
        for name in ["follower", "last"] {
            self.copied.assert_same(name);
            self.assert_forgotten(&self.copied.path(name));
        }
        let all = self.faulty.all().await;
        for (name, bytes) in &all {
            self.assert_without_erased(name, bytes);
        }
    }

    fn assert_forgotten(&self, store: &Path) {
        for (name, bytes) in segments(store) {
            self.assert_without_erased(&name, &bytes);
        }
    }

    fn assert_without_erased(&self, name: &str, bytes: &[u8]) {
        for token in &self.erased {
            let mut windows = bytes.windows(token.len());
            assert!(
                !windows.any(|part| part == token.as_bytes()),
                "{name} has {token}"
            );
        }
    }
}
