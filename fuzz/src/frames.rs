use grainstore::interchange::mg::{read_frames as read, write_end, write_frame};

use crate::blob::accepted;
use crate::meter::{PLAIN, measure};

/// Reads bytes as a stream of grains.
///
/// - Every grain has its address.
/// - The grains, written as a stream, are read as the same grains; and if nothing was refused, the
///   stream is the front of the input.
/// - Frames end with the input: there is no grain or error without four bytes for it, but one.
pub fn read_frames(data: &[u8]) {
    let mut grains = Vec::new();
    let mut errors = 0;
    let mut records = read(data);
    while let Some(record) = measure(PLAIN, data.len(), || records.next()) {
        match record {
            Ok(record) => {
                accepted(&record.grain, record.grain.blob());
                grains.push(record.grain);
            }
            Err(_) => errors += 1,
        }
    }
    assert!((grains.len() + errors - usize::from(errors > 0)) * 4 <= data.len());
    let mut stream = Vec::new();
    for grain in &grains {
        write_frame(&mut stream, grain).expect("a grain that was read is written");
    }
    write_end(&mut stream).expect("memory takes everything");
    if errors == 0 {
        assert!(data.starts_with(&stream));
    }
    let again = read(stream.as_slice()).map(|record| record.expect("it was read before").grain);
    assert!(again.eq(grains));
}
