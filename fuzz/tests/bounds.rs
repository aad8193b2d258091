//! The memory that the largest inputs need, which inputs of the fuzzer are too short to show.
//!
//! The bounds are measured and rounded up: a change that makes reading dearer fails here.

use std::io::{Cursor, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use grainstore::codec::{Canonical, Compression, Encoding, Map, Profile, Value};
use grainstore::grain::{Draft, Grain, Status, Time, Type};
use grainstore::interchange::{Error, WriteOptions, mg};
use grainstore_fuzz::meter::{COMPRESSED, peak_of};
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};

#[test]
fn a_grain_of_the_smallest_values_costs_a_value_for_each_byte() {
    let _alone = alone();
    for (name, grain) in dearest() {
        let blob = grain.into_blob();
        let peak = peak_of(|| {
            Grain::from_foreign_blob(blob.clone(), Profile::Extended).unwrap();
        });
        let per_byte = peak / blob.len();
        assert!(per_byte <= 50, "{per_byte} bytes a byte for {name}");
    }
}

#[test]
fn a_grain_of_text_costs_a_few_times_its_bytes() {
    let _alone = alone();
    let draft = Draft::event("word ".repeat(200_000)).created_at(Time::from_ms(1));
    let blob = draft.finish(Profile::Extended).unwrap().into_blob();
    let peak = peak_of(|| {
        Grain::from_blob(blob.clone(), Profile::Extended).unwrap();
    });
    let per_byte = peak / blob.len();
    assert!(per_byte < 3, "{per_byte} bytes a byte");
}

#[test]
fn an_archive_that_is_a_bomb_costs_one_grain() {
    let _alone = alone();
    let (_, grain) = dearest().swap_remove(0); // nulls
    for compression in [Compression::Zstd, Compression::Lz4] {
        let file = archive_of(&grain, compression);
        let peak = peak_of(|| {
            let report = mg::Archive::verify(Cursor::new(&file), mg::ReadOptions::default());
            assert!(report.is_valid());
        });
        assert!(peak <= COMPRESSED.free, "{compression:?}: {peak}");
    }
}

#[test]
fn json_costs_as_much_as_a_blob() {
    let _alone = alone();
    let chain = |open: &str, close: &str| format!("{}1{}", open.repeat(100), close.repeat(100));
    for one in [
        chain("[", "]"),
        chain("{\"\":", "}"),
        "[]".into(),
        "0".into(),
    ] {
        let text = format!("[{}{one}]", format!("{one},").repeat(300_000 / one.len()));
        let peak = peak_of(|| {
            Value::from_json(&text).unwrap();
        });
        let per_byte = peak / text.len();
        assert!(per_byte <= 66, "{per_byte} bytes a byte for {one}");
    }
}

#[test]
fn an_lz4_frame_may_ask_for_blocks_of_4_mib_and_gets_them() {
    let _alone = alone();
    let info = FrameInfo::new().block_size(BlockSize::Max4MB);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(b"short").unwrap();
    let frame = encoder.finish().unwrap();
    let mut input = vec![0x40, 1, 1, 0, 5];
    input.extend_from_slice(b"short");
    let mut file = grainstore_fuzz::build(&input);
    file.truncate(20); // header and one offset
    file.extend_from_slice(&frame);
    let file = grainstore_fuzz::with_footer(file);
    let peak = peak_of(|| {
        let report = mg::Archive::verify(Cursor::new(&file), mg::ReadOptions::default());
        assert_eq!((report.grains, report.refused), (0, 1), "{report:?}");
    });
    assert!(peak <= 9 << 20, "{peak}");
}

/// The grains with the most memory for their bytes: 1 MiB of nulls, of arrays in arrays and of maps
/// in maps, each of a known type and of one that is not; of members that would be renamed; and of
/// fields that the table does not fit.
fn dearest() -> Vec<(&'static str, Grain)> {
    let nulls = vec![Value::Nil; LEN];
    let arrays = chains(1, |inner| Value::Array(vec![inner]));
    let maps = chains(2, |inner| {
        Value::Map([("", inner)].into_iter().collect::<Map>())
    });
    let mut grains = Vec::new();
    for (name, items) in [("nulls", nulls), ("arrays", arrays), ("maps", maps)] {
        let context: Map = [("x", Value::Array(items))].into_iter().collect();
        for of in [Type::State, Type::Opaque(0x0b)] {
            let draft = Draft::new(of).set("context", context.clone());
            let draft = draft.created_at(Time::from_ms(1));
            grains.push((name, draft.finish(Profile::Extended).unwrap()));
        }
    }
    let draft = Draft::new(Type::Opaque(0x0b)).set("related_to", vec![Value::Nil; LEN]);
    let draft = draft.created_at(Time::from_ms(1));
    grains.push(("links", draft.finish(Profile::Extended).unwrap()));
    grains.push(("a name spelled out", spelled_out()));
    grains
}

/// A grain of a type that the table of fields does not fit, so that it is taken as it stands.
fn spelled_out() -> Grain {
    let fields: Map = [("description", vec![Value::Nil; LEN])]
        .into_iter()
        .collect();
    let fields = Canonical::new(fields, Profile::Extended).unwrap();
    let mut blob = vec![1, 0, 0x0b, 0, 0, 0, 0, 0, 0];
    Encoding::MessagePack.encode_into(&mut blob, &fields);
    let (grain, _) = Grain::from_foreign_blob(blob, Profile::Extended).unwrap();
    grain
}

/// Values in values, as deep as a profile allows, as many as there is room for.
fn chains(len_bytes: usize, around: impl Fn(Value) -> Value) -> Vec<Value> {
    const DEPTH: usize = 28;
    let chain = (0..DEPTH).fold(Value::from(true), |inner, _| around(inner));
    vec![chain; LEN / (DEPTH * len_bytes + 1)]
}

fn archive_of(grain: &Grain, compression: Compression) -> Vec<u8> {
    let options = WriteOptions {
        compression,
        ..WriteOptions::default()
    };
    let entry = mg::Entry::of(grain, &Status::default());
    let mut file = Vec::new();
    mg::write(&mut file, vec![entry], &options, |_| {
        Ok::<_, Error>(grain.clone())
    })
    .unwrap();
    file
}

/// How many bytes of values a grain has room for.
const LEN: usize = Profile::Extended.blob_len_max() - 64;

/// Lets one test run at a time: the counter counts every thread.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
