//! Segment files: their names, opening and creation (docs/format.md, "Segments").

use std::io;
use std::sync::Arc;

use super::compacted;
pub(in crate::ledger) use super::segment_header::{HEADER_LEN, HeaderFault, SegmentHeader};
use crate::ledger::{Disk, DiskFile, Error, OpenMode, StoreId};

/// Creates a segment. Invariant: header and name are durable before the first frame is written.
pub(in crate::ledger) fn create(
    disk: &dyn Disk,
    header: SegmentHeader,
    store_id: &StoreId,
) -> Result<Arc<dyn DiskFile>, Error> {
    let name = name_of(header.number);
    let make = || {
        let file = disk.create(&name)?;
        file.write_at(&header.to_bytes(store_id), 0)?;
        file.sync()?;
        disk.sync_folder(FOLDER)?;
        Ok(file)
    };
    make().map_err(|source| Error::io("create", &name, source))
}

/// Opens a file of the ledger; a compacted segment reads as the one that it stands for.
pub(in crate::ledger) fn open(
    disk: &dyn Disk,
    name: &str,
    mode: OpenMode,
) -> io::Result<Arc<dyn DiskFile>> {
    Ok(compacted::open(disk.open(name, mode)?)?.file)
}

/// Opens the last segment for appends, and returns whether it is compacted, so that it takes none.
pub(in crate::ledger) fn open_last(
    disk: &dyn Disk,
    name: &str,
) -> io::Result<(Arc<dyn DiskFile>, bool)> {
    let file = disk.open(name, OpenMode::Write)?;
    let is_compacted = compacted::is_compacted(&*file)?;
    Ok((compacted::open(file)?.file, is_compacted))
}

/// Returns the numbers of the existing segments, in order.
pub(in crate::ledger) fn numbers(disk: &dyn Disk) -> Result<Vec<u32>, Error> {
    let names = disk.list(FOLDER);
    let names = names.map_err(|source| Error::io("list", FOLDER, source))?;
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| number_in(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns the name of a segment.
pub(in crate::ledger) fn name_of(number: u32) -> String {
    format!("{FOLDER}/{number:016}.seg")
}

pub(super) fn number_in(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".seg")?.parse().ok()?;
    (format!("{FOLDER}/{name}") == name_of(number)).then_some(number)
}

pub(in crate::ledger) const FOLDER: &str = "ledger";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_ledger_gives_are_segments() {
        assert_eq!(number_in("0000000000000012.seg"), Some(12));
        for other in [
            "torn-1",
            "12.seg",
            "+000000000000012.seg",
            "0000009999999999.seg",
        ] {
            assert_eq!(number_in(other), None, "{other}");
        }
    }
}
