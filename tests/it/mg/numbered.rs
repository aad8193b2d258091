//! A grain by its number, without the others (OMS 11.4).

use std::cell::Cell;

use grainstore::interchange::mg::grain_at;

use super::raw::Raw;
use super::*;

/// A file that counts the bytes read of it.
struct Counted<'a> {
    inner: Cursor<&'a [u8]>,
    read: &'a Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(out)?;
        self.read.set(self.read.get() + len);
        Ok(len)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[test]
fn a_grain_is_read_by_its_number_and_no_byte_of_another() {
    for (compression, with_status) in CODECS.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let file = pack(&memory(with_status), compression);
        let grains = back(unpack(&file).unwrap());
        for (number, (grain, _)) in (0..).zip(&grains) {
            let read = Cell::new(0);
            let inner = Cursor::new(&*file);
            let found = grain_at(Counted { inner, read: &read }, number).unwrap();
            assert_eq!(found.as_ref(), Some(grain), "{compression:?}, {number}");
            // The last one before a manifest says itself where it ends.
            let is_told = !with_status || number + 1 < 5;
            if compression == Compression::None && is_told {
                // Magic, header and two offsets.
                let most = 3 + 16 + 8 + grain.blob().len();
                assert!(read.get() <= most, "{} of {most}", read.get());
            }
        }
        assert_eq!(grain_at(Cursor::new(&*file), 5).unwrap(), None);
    }
}

#[test]
fn a_grain_of_an_archive_with_another_damaged_one_is_read_by_its_number() {
    let grains = [grain(1, "a"), grain(2, "b"), grain(3, "c")];
    let raw = Raw::of(&grains);
    let mut file = raw.bytes();
    file[raw.offsets[1] as usize + 20] ^= 1;
    assert_eq!(code(&file), "ERR_MG_CHECKSUM");
    assert_eq!(
        grain_at(Cursor::new(&*file), 2).unwrap(),
        Some(grains[2].clone())
    );
    assert!(grain_at(Cursor::new(&*file), 1).is_err());
}

#[test]
fn a_lie_about_the_place_of_a_grain_has_its_code() {
    let grains = [grain(1, "a"), grain(2, "b"), grain(3, "c")];
    let lie = |number: u32, change: &dyn Fn(&mut Raw)| {
        let mut raw = Raw::of(&grains);
        change(&mut raw);
        let found = grain_at(Cursor::new(raw.bytes()), number);
        found.map_err(|error| error.code().as_str())
    };
    assert_eq!(lie(1, &|_| ()), Ok(Some(grains[1].clone())));
    for (number, code) in [(0, "ERR_MG_INDEX"), (1, "ERR_MG_INDEX")] {
        assert_eq!(lie(number, &|raw| raw.offsets[1] = u32::MAX), Err(code));
        assert_eq!(lie(number, &|raw| raw.offsets[1] = 3), Err(code));
    }
    let all = |raw: &mut Raw| raw.count = u32::MAX;
    assert_eq!(lie(1, &all), Err("ERR_MG_INDEX"));
    assert_eq!(lie(1, &|raw| raw.flags = 0x80), Err("ERR_MG_FLAGS"));
    let short = grain_at(Cursor::new(b"MG\x01"), 0).map_err(|error| error.code().as_str());
    assert_eq!(short, Err("ERR_MG_TRUNCATED"));
    let other = grain_at(Cursor::new(b"{}"), 0).map_err(|error| error.code().as_str());
    assert_eq!(other, Err("ERR_MG_MAGIC"));
}
