//! The bytes of `docs/format.md`, computed a second time straight from its formulas.

use super::*;

fn sha(parts: &[&[u8]]) -> [u8; 32] {
    Sha256::digest(parts.concat()).into()
}

/// One entry, as the document describes it.
struct Plain {
    time_ms: i64,
    actor: u64,
    kind: u8,
    salt: [u8; 16],
    body: Vec<u8>,
}

impl Plain {
    fn header(&self, sequence: u64) -> Vec<u8> {
        let inner = sha(&[&self.body]);
        [
            &sequence.to_be_bytes()[..],
            &self.time_ms.to_be_bytes(),
            &self.actor.to_be_bytes(),
            &u32::try_from(self.body.len()).unwrap().to_be_bytes(),
            &[self.kind, 0, 0, 0],
            &sha(&[&[2], &self.salt, &inner]),
        ]
        .concat()
    }
}

fn segment_bytes(store_id: &[u8], version: u16, number: u32, first: u64) -> Vec<u8> {
    let mut bytes = b"GRAINLOG".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(number.to_be_bytes());
    bytes.extend(first.to_be_bytes());
    let check = sha(&[&[4], store_id, &bytes]);
    bytes.extend(&check[..8]);
    bytes
}

fn frame_bytes(store_id: &[u8], first: u64, entries: &[Plain]) -> Vec<u8> {
    let sequences: Vec<_> = (first..).take(entries.len()).collect();
    frame_with(store_id, &sequences, first, &[], entries)
}

/// A frame with bytes of `slack` behind its last entry.
fn frame_with(
    store_id: &[u8],
    sequences: &[u64],
    synced: u64,
    slack: &[u8],
    entries: &[Plain],
) -> Vec<u8> {
    let numbered = sequences.iter().zip(entries);
    let headers: Vec<_> = numbered.map(|(at, plain)| plain.header(*at)).collect();
    let lens = entries.iter().map(|plain| 80 + plain.body.len());
    let len = slack.len() + lens.sum::<usize>();
    let mut bytes = b"GFRM".to_vec();
    bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    bytes.extend((32 + len as u64).to_be_bytes());
    bytes.extend(synced.to_be_bytes());
    let check = sha(&[&[3], store_id, &bytes, &headers.concat()]);
    bytes.extend(&check[..8]);
    for (header, plain) in headers.iter().zip(entries) {
        bytes.extend(header);
        bytes.extend(plain.salt);
        bytes.extend(&plain.body);
    }
    bytes.extend(slack);
    bytes
}

fn plain(kind: u8, salt: u8, body: &[u8]) -> Plain {
    Plain {
        time_ms: 1_700_000_000_000,
        actor: u64::MAX,
        kind,
        salt: [salt; 16],
        body: body.to_vec(),
    }
}

#[test]
fn segments_and_leaves_are_what_the_formulas_say() {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 300);
    let item = |kind, actor, body: &str| Item {
        kind,
        actor,
        body: body.into(),
    };
    append(&ledger, &[item(Kind::Actor, None, "an agent")]).unwrap();
    let two = [
        item(Kind::Grain, Some(EntryId::FIRST), "a grain"),
        item(Kind::Checkpoint, Some(EntryId::FIRST), ""),
    ];
    append(&ledger, &two).unwrap();

    let id = STORE.as_bytes();
    let first = [plain(15, 0x81, b"an agent")];
    let mut second = [plain(1, 0x81, b"a grain"), plain(20, 0x82, b"")];
    second.iter_mut().for_each(|plain| plain.actor = 0);
    let one = [segment_bytes(id, 1, 1, 0), frame_bytes(id, 0, &first)].concat();
    let two = [segment_bytes(id, 1, 2, 1), frame_bytes(id, 1, &second)].concat();
    assert_eq!(files_of(&disk), [(segment(1), one), (segment(2), two)]);

    let mut leaf = sha(&[id]);
    assert_eq!(create(&MemoryDisk::default(), 300).head(), leaf);
    for (sequence, plain) in (0..).zip(first.iter().chain(&second)) {
        let header = ledger.read(EntryId::new(sequence)).unwrap().header;
        assert_eq!(header.to_bytes()[..], plain.header(sequence));
        let next = sha(&[&[0], &leaf, &plain.header(sequence)]);
        assert_eq!(header.leaf(&leaf), next);
        leaf = next;
    }
    assert_eq!(ledger.head(), leaf);
}

#[test]
fn the_worked_example_of_the_document_is_the_ledger_it_describes() {
    let text = include_str!("../../../docs/format.md");
    let (_, example) = text.split_once("## Worked example").unwrap();
    let block = example.split("```").nth(1).unwrap();
    let rows = block.lines().skip(1);
    let hex: String = rows
        .filter_map(|row| row.split_whitespace().nth(1))
        .collect();
    let documented = data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap();

    let id: [u8; 16] = std::array::from_fn(|n| u8::try_from(n).unwrap());
    let disk = MemoryDisk::default();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let ledger = Ledger::create(shared, StoreId::new(id), SEGMENT_BYTES).unwrap();
    let new = NewEntry {
        kind: Kind::Actor,
        actor: None,
        body: b"hello",
        binding: Binding::of([0xa5; 16], b"hello"),
    };
    ledger.append(1_700_000_000_000, &[new]).unwrap();
    let written = bytes_of(&disk, &segment(1));
    let plainly = frame_bytes(&id, 0, &[plain(15, 0xa5, b"hello")]);
    assert_eq!(written[32..], plainly);
    assert_eq!(
        data_encoding::HEXLOWER.encode(&documented),
        data_encoding::HEXLOWER.encode(&written)
    );
    let head = data_encoding::HEXLOWER.encode(&ledger.head());
    assert!(example.contains(&head), "{head}");
}

/// Opens a ledger that a newer or a careless writer made.
fn open_written(header: Vec<u8>, frame: &[u8]) -> Result<Vec<Item>, Error> {
    let bytes = [header, frame.to_vec()].concat();
    let disk = disk_with(&[(segment(1), bytes)]);
    let before = files_of(&disk);
    let seen = open(&disk, 0).map(|(_, _, seen)| seen);
    if seen.is_err() {
        assert_eq!(files_of(&disk), before);
    }
    seen
}

#[test]
fn what_a_newer_version_wrote_is_refused_by_its_name() {
    let id = STORE.as_bytes();
    let known = frame_bytes(id, 0, &[plain(1, 1, b"known")]);
    assert_eq!(
        open_written(segment_bytes(id, 1, 1, 0), &known).unwrap(),
        [Item::new("known")]
    );
    let error = open_written(segment_bytes(id, 4, 1, 0), &known).unwrap_err();
    let text = "segment 1 has format version 4; this version reads up to 3";
    assert_eq!(
        (error.code().as_str(), &*error.to_string()),
        ("ERR_STORE_VERSION", text)
    );

    let entries = [plain(1, 1, b"known"), plain(23, 2, b"unknown")];
    let frame = frame_bytes(id, 0, &entries);
    let error = open_written(segment_bytes(id, 1, 1, 0), &frame).unwrap_err();
    let text = "entry 1 is of kind 23, which belongs to a newer version";
    assert_eq!(
        (error.code().as_str(), &*error.to_string()),
        ("ERR_STORE_VERSION", text)
    );
}

#[test]
fn a_frame_that_only_a_careless_writer_makes_is_not_whole() {
    let id = STORE.as_bytes();
    let entries = || [plain(1, 1, b"one"), plain(1, 2, b"two")];
    let frames = [
        (2, frame_with(id, &[0, 1], 0, &[], &entries())),
        (0, frame_with(id, &[0, 1], 0, &[0; 4], &entries())),
        (0, frame_with(id, &[0, 1], 1, &[], &entries())),
        (0, frame_with(id, &[1, 2], 0, &[], &entries())),
        (0, frame_with(id, &[0, 2], 0, &[], &entries())),
        (0, frame_with(id, &[], 0, &[0; 80], &[])),
    ];
    for (len, frame) in frames {
        let seen = open_written(segment_bytes(id, 1, 1, 0), &frame).unwrap();
        assert_eq!(seen.len(), len);
    }
}

#[test]
fn an_entry_blanked_in_place_is_damage_while_no_erasure_lists_it() {
    let (disk, _) = small();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let file = disk.open(&segment(1), OpenMode::Write).unwrap();
    // The salt and body of the first entry, "one".
    file.write_at(&[0; 19], 32 + 32 + 64).unwrap();
    let error = ledger.read(EntryId::FIRST).unwrap_err();
    let text = "segment 1 is damaged at byte 64 (entry 0): entry is blank and no erasure lists it";
    assert_eq!(error.to_string(), text);
    let error = open(&disk, 0).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
    let findings = verify(&disk, &STORE, erases).unwrap().findings;
    let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "ledger/0000000000000001.seg, bytes 64 to 146, entry 0 (a grain): entry is blank and no \
             erasure lists it"
        ]
    );
}
