//! The attacker: tries every root that any file holds, on every sealed row that any file holds.

use grainstore::crypto::{Context, MasterKey, Purpose, SealingKey, Secret};

/// A person to look for: the id, and a value that their data key sealed.
#[derive(Debug, Clone)]
pub(in crate::campaign) struct Target {
    pub(in crate::campaign) user: String,
    pub(in crate::campaign) uid: [u8; 16],
    /// `None` where a row of the person that opens is a leak, whatever it holds.
    pub(in crate::campaign) probe: Option<Vec<u8>>,
}

/// Returns the ids of the targets whose data key the files give away.
pub(in crate::campaign) fn recovered<'t>(
    files: &[&[u8]],
    store: [u8; 16],
    master: &MasterKey,
    targets: &[&'t Target],
) -> Vec<&'t str> {
    let mut found = Vec::new();
    let envelopes = buckets(files);
    for (epoch, root) in roots(files, &store) {
        let table = SealingKey::new(&store, &master.table_key(&root, &store, epoch));
        for sealed in envelopes.iter().filter(|sealed| table.has_sealed(sealed)) {
            for bucket in 0..BUCKETS {
                let row = bucket.to_be_bytes();
                let key = open(&table, &place(store, Purpose::Bucket, &row), sealed, BUCKET);
                let Some(key) = key.and_then(|key| Secret::copied(&key)) else {
                    continue;
                };
                let targets = targets.iter().filter(|target| {
                    let [first, ..] = master.user_hash(&store, &target.user);
                    // 16 buckets: the first four bits.
                    u32::from(first >> 4) == bucket
                });
                let of_bucket = OfBucket {
                    store,
                    master,
                    bucket,
                    key,
                };
                let lost = targets.filter(|target| of_bucket.gives_away(files, target));
                found.extend(lost.map(|target| &*target.user));
            }
        }
    }
    found
}

/// The key of a bucket that the attacker has recovered.
struct OfBucket<'a> {
    store: [u8; 16],
    master: &'a MasterKey,
    bucket: u32,
    key: Secret,
}

impl OfBucket<'_> {
    /// Whether a slot of a person lies in the files that the bucket's key opens.
    fn gives_away(&self, files: &[&[u8]], target: &Target) -> bool {
        let Self { store, key, .. } = self;
        let name = self.master.slot_name(key, store, &target.user);
        // A leaf of the database has the names of its rows and the rows: without the name there is
        // no slot of this person under this key.
        if !files.iter().any(|file| contains(file, &name)) {
            return false;
        }
        let row = [&self.bucket.to_be_bytes()[..], &name].concat();
        let wrapping = self.master.user_key(key, store, &target.user);
        let wrapping = SealingKey::new(store, &wrapping);
        let rows = envelopes(files).into_iter();
        rows.filter(|sealed| wrapping.has_sealed(sealed))
            .any(|sealed| {
                let slot = open(&wrapping, &place(*store, Purpose::Slot, &row), sealed, SLOT);
                slot.is_some_and(|slot| opens(&slot, *store, target))
            })
    }
}

fn contains(file: &[u8], name: &[u8; 16]) -> bool {
    let [first, ..] = name;
    let starts = file.iter().enumerate().filter(|(_, byte)| *byte == first);
    let mut rests = starts.filter_map(|(at, _)| file.get(at..));
    rests.any(|rest| rest.starts_with(name))
}

/// Whether the data key in a slot opens what its person has sealed.
fn opens(slot: &[u8], store: [u8; 16], target: &Target) -> bool {
    let Some(probe) = &target.probe else {
        return true;
    };
    // Pseudonym, time, index secret, number of keys, generation; then the first key.
    let key = slot.get(61..93).and_then(Secret::copied);
    let context = Context {
        store,
        purpose: Purpose::Grain,
        uid: target.uid,
        generation: 1,
        row: &[],
    };
    key.is_some_and(|key| {
        let key = SealingKey::new(&store, &key);
        key.open(&context, probe).is_ok()
    })
}

const fn place(store: [u8; 16], purpose: Purpose, row: &[u8]) -> Context<'_> {
    Context {
        store,
        purpose,
        uid: [0; 16],
        generation: 0,
        row,
    }
}

/// Opens the value that begins here, of each length that it can have.
fn open(
    key: &SealingKey,
    context: &Context<'_>,
    bytes: &[u8],
    lengths: &[usize],
) -> Option<Vec<u8>> {
    lengths.iter().find_map(|padded| {
        let sealed = bytes.get(..89 + padded)?;
        key.open(context, sealed).ok().map(|value| value.to_vec())
    })
}

/// The padded length of a bucket's key.
const BUCKET: &[usize] = &[36];

/// The padded lengths of a slot with a user id of up to 60 bytes and one key, or up to seven.
const SLOT: &[usize] = &[
    104, 112, 120, 128, 144, 160, 176, 192, 208, 224, 240, 256, 272, 288, 304, 320, 336, 352, 368,
];

/// Returns what follows each place where a sealed value may begin.
fn envelopes<'f>(files: &[&'f [u8]]) -> Vec<&'f [u8]> {
    places(files, b"GSE1")
}

/// Returns the places of sealed values that are not rows of a person: those begin with the length
/// of a first value, behind which a second one begins.
fn buckets<'f>(files: &[&'f [u8]]) -> Vec<&'f [u8]> {
    let mut found = Vec::new();
    for file in files {
        for rest in envelopes(&[file]) {
            let at = file.len() - rest.len();
            let len = at.checked_sub(4).and_then(|start| file.get(start..at));
            let len = len.and_then(|len| Some(u32::from_be_bytes(len.try_into().ok()?)));
            let len = len.and_then(|len| usize::try_from(len).ok());
            let behind = len.and_then(|len| rest.get(len..));
            if !behind.is_some_and(|behind| behind.starts_with(b"GSE1")) {
                found.push(rest);
            }
        }
    }
    found
}

/// Returns every root in the files, whether its record is whole or not.
fn roots(files: &[&[u8]], store: &[u8; 16]) -> Vec<(u64, Secret)> {
    let mut found: Vec<(u64, Secret)> = Vec::new();
    for record in places(files, b"GSR1") {
        let parts = (record.get(4..20), record.get(20..28), record.get(28..60));
        let (Some(of), Some(epoch), Some(secret)) = parts else {
            continue;
        };
        let epoch = u64::from_be_bytes(epoch.try_into().unwrap_or_default());
        let Some(secret) = Secret::copied(secret).filter(|_| of == store) else {
            continue;
        };
        if !found
            .iter()
            .any(|(other, root)| *other == epoch && root.is(&secret))
        {
            found.push((epoch, secret));
        }
    }
    found
}

fn places<'f>(files: &[&'f [u8]], magic: &[u8]) -> Vec<&'f [u8]> {
    let mut found = Vec::new();
    for file in files {
        let mut at = 0;
        while let Some(rest) = file.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with(magic) {
                found.push(rest);
            }
            at += 1;
        }
    }
    found
}

const BUCKETS: u32 = 16;
