//! Every way into a store knows what was deleted from it: exports in all formats, and exports that
//! another store has converted.

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::{Authorization, Summary};
use grainstore::{Draft, Filter, Store, Time};
use proptest::prelude::*;

use super::{at, memory};
use crate::foreign::FORMATS;
use crate::random::cases;

/// A word that every grain of the tests holds.
const SECRET: &str = "kumquat";

fn exported(store: &Store, format: Format) -> Vec<u8> {
    let options = WriteOptions {
        now: Some(Time::from_ms(1_780_000_000_000)),
        ..WriteOptions::default()
    };
    let (mut out, all) = (Vec::new(), Filter::new().with_superseded());
    let admin = store.admin().unwrap();
    admin.export(format, &all, &options, &mut out).unwrap();
    out
}

fn import(store: &Store, format: Format, file: &[u8]) -> Summary {
    let file = ImportFile::of_bytes(file, Some(format), &ReadOptions::default()).unwrap();
    assert!(file.errors.is_empty(), "{format}: {:?}", file.errors);
    store.import(file).unwrap()
}

/// Returns the grains that hold the word.
fn secrets(store: &Store) -> Vec<grainstore::Grain> {
    let all = Filter::new().with_superseded().with_expired();
    let found = store.query(&all, 1_000, None).unwrap().results.into_iter();
    let grains = found.map(|found| found.grain);
    grains
        .filter(|grain| grain.to_json().contains(SECRET))
        .collect()
}

fn grains(texts: &[String]) -> Vec<Draft> {
    let drafts = (1..).zip(texts).map(|(n, text)| {
        let text = format!("{SECRET} {text} {n}");
        let draft = match n % 3 {
            0 => Draft::event(text).session("talk").set("role", "user"),
            1 => Draft::belief("mira", "prefers", text).confidence(0.9),
            _ => Draft::observation("lidar-1", "lidar")
                .set("subject", "room")
                .set("object", text),
        };
        draft
            .created_at(Time::from_ms(1_768_471_200_000 + n))
            .user("mira")
    });
    drafts.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(6)))]

    #[test]
    fn nothing_deleted_comes_back_from_an_export_whatever_its_format(
        texts in proptest::collection::vec("[a-z]{1,8}", 1..5),
        origin in proptest::option::of(proptest::sample::select(&FORMATS[..])),
    ) {
        let store = memory();
        store.put_batch(grains(&texts)).unwrap();
        let store = match origin {
            None => store,
            // Grains with identifiers of a format instead of their own.
            Some(format) => {
                let read = Store::in_memory(at(1_768_471_300_000).0).unwrap();
                import(&read, format, &exported(&store, format));
                read
            }
        };
        let mut files: Vec<(Format, Vec<u8>)> = Vec::new();
        for format in FORMATS {
            let file = exported(&store, format);
            let converter = memory();
            import(&converter, format, &file);
            files.extend(FORMATS.map(|other| (other, exported(&converter, other))));
            files.push((format, file));
        }
        let authorization = Authorization { reason: "asked for", authority: "mira" };
        for grain in secrets(&store) {
            store.admin().unwrap().delete(&grain.address(), authorization).unwrap();
        }
        prop_assert_eq!(secrets(&store), []);
        for (number, (format, file)) in files.iter().enumerate() {
            let holds = ImportFile::of_bytes(file, Some(*format), &ReadOptions::default()).unwrap();
            let holds = holds.records.into_vec().unwrap();
            let holds = holds.iter().filter(|it| it.grain.to_json().contains(SECRET)).count();
            let summary = import(&store, *format, file);
            let back = secrets(&store);
            prop_assert!(back.is_empty(), "{} {:?} {} {:?}", number, origin, format, back);
            prop_assert_eq!(summary.erased.len(), holds, "{} {:?} {}", number, origin, format);
        }
    }
}
