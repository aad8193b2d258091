//! A stream of grains (OMS 11.6): frames with a length, and an end mark.

use crate::code::ErrorCode;
use std::fmt;
use std::io::{ErrorKind, Read, Write};

use crate::grain::Grain;

use super::{DELIVERY_LEN_MAX, delivered, fault, io_error, len_u64, record_of};
use crate::interchange::{Error, Place, Record};

/// Writes one grain to a stream: its length in four bytes, and its blob or the signature
/// around it (OMS 11.6).
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::interchange::mg::{read_frames, write_end, write_frame};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let mut wire = Vec::new();
/// write_frame(&mut wire, &grain)?;
/// write_end(&mut wire)?;
/// let received = read_frames(wire.as_slice()).next().ok_or("no grain")??;
/// assert_eq!(received.grain, grain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `ERR_SIGNED_MISMATCH` for a grain that is to be signed and is not; `ERR_MG_LIMIT`; `ERR_IO`.
pub fn write_frame(out: &mut impl Write, grain: &Grain) -> Result<(), Error> {
    let blob = delivered(grain, &Place::File)?;
    let len = u32::try_from(blob.len()).map_err(|_| {
        let message = format!("a grain of {} bytes does not fit a frame", blob.len());
        fault(ErrorCode::MgLimit, Place::File, message)
    })?;
    out.write_all(&len.to_be_bytes())
        .and_then(|()| out.write_all(&blob))
        .map_err(|source| io_error(Place::File, source))
}

/// Ends a stream: a frame of no bytes. A stream without it was cut short.
///
/// # Errors
/// `ERR_IO`.
pub fn write_end(out: &mut impl Write) -> Result<(), Error> {
    out.write_all(&[0; 4])
        .and_then(|()| out.flush())
        .map_err(|source| io_error(Place::File, source))
}

/// Reads the grains of a stream up to its end mark, and not a byte more.
///
/// Each step asks the source for a few bytes, so a socket or file wants a buffer around it.
pub const fn read_frames<R: Read>(source: R) -> Frames<R> {
    Frames {
        source,
        grain: 0,
        ended: false,
    }
}

/// The grains of a stream (OMS 11.6).
///
/// A grain that is refused is an error, and the next one follows. After a frame that is too long
/// (`ERR_MG_LIMIT`) or cut short (`ERR_MG_TRUNCATED`) there are no more.
pub struct Frames<R> {
    source: R,
    grain: u64,
    ended: bool,
}

impl<R: Read> Frames<R> {
    /// Returns the next blob, or none after the end mark.
    fn read(&mut self, place: &Place) -> Result<Option<Vec<u8>>, Error> {
        let mut len = [0; 4];
        self.source
            .read_exact(&mut len)
            .map_err(|source| cut_short(place, source))?;
        let len = u64::from(u32::from_be_bytes(len));
        if len == 0 {
            return Ok(None);
        }
        let max = DELIVERY_LEN_MAX;
        if len > len_u64(max) {
            let message = format!("a frame of {len} bytes; at most {max} are allowed");
            return Err(fault(ErrorCode::MgLimit, place.clone(), message));
        }
        // The buffer grows with the bytes that arrive, not with the declared length.
        let mut blob = Vec::new();
        let got = (&mut self.source)
            .take(len)
            .read_to_end(&mut blob)
            .map_err(|source| cut_short(place, source))?;
        if len_u64(got) < len {
            return Err(cut_short(place, ErrorKind::UnexpectedEof.into()));
        }
        Ok(Some(blob))
    }
}

impl<R: Read> Iterator for Frames<R> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let place = Place::Grain(self.grain);
        self.grain = self.grain.saturating_add(1);
        match self.read(&place) {
            Ok(Some(blob)) => Some(record_of(&blob, place)),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}

impl<R> fmt::Debug for Frames<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames")
            .field("grain", &self.grain)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

fn cut_short(place: &Place, source: std::io::Error) -> Error {
    if source.kind() == ErrorKind::UnexpectedEof {
        let message = "the stream stops before its end mark";
        fault(ErrorCode::MgTruncated, place.clone(), message)
    } else {
        io_error(place.clone(), source)
    }
}
