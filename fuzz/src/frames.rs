//! The law of `read_frames`: a stream of grains is divided at its lengths and nowhere else.

use grainstore::codec::Profile;
use grainstore::grain::Grain;
use grainstore::interchange::mg::{read_frames as read, write_end, write_frame};

use crate::blob::accepted;
use crate::meter::{PLAIN, measure};

/// Reads bytes as a stream of grains.
///
/// - It comes apart where its lengths say, and nowhere else; a frame is a grain if its bytes alone
///   are one, and every grain has its address.
/// - There is an error at the end of what was cut short or is too long, and nothing after it.
/// - The grains, written as a stream, are read as the same grains.
pub fn read_frames(data: &[u8]) {
    let mut records = read(data);
    let mut rest = data;
    let mut stream = Vec::new();
    let mut grains = Vec::new();
    loop {
        let frame = next_frame(&mut rest);
        let record = measure(PLAIN, data.len(), || records.next());
        match (frame, record) {
            (Frame::End, None) => break,
            (Frame::Broken, Some(Err(_))) => {
                assert!(records.next().is_none());
                break;
            }
            (Frame::Blob(blob), Some(Ok(record))) => {
                accepted(&record.grain, blob);
                write_frame(&mut stream, &record.grain).expect("memory takes everything");
                grains.push(record.grain);
            }
            (Frame::Blob(blob), Some(Err(_))) => {
                assert!(Grain::from_foreign_blob(blob.to_vec(), Profile::Extended).is_err());
            }
            (frame, record) => panic!("{frame:?} was read as {record:?}"),
        }
    }
    write_end(&mut stream).expect("memory takes everything");
    let again = read(stream.as_slice()).map(|record| record.expect("it was read before").grain);
    assert!(again.eq(grains));
}

#[derive(Debug)]
enum Frame<'a> {
    Blob(&'a [u8]),
    End,
    Broken,
}

fn next_frame<'a>(rest: &mut &'a [u8]) -> Frame<'a> {
    let Some((len, after)) = rest.split_first_chunk() else {
        return Frame::Broken;
    };
    let len = u32::from_be_bytes(*len) as usize;
    if len == 0 {
        return Frame::End;
    }
    match after.split_at_checked(len) {
        Some((blob, after)) if len <= Profile::Extended.blob_len_max() => {
            *rest = after;
            Frame::Blob(blob)
        }
        _ => Frame::Broken,
    }
}
