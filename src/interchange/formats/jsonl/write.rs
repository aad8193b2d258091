//! Writing JSON lines: a grain a line, and its status and its holds on the lines after it.

use std::io::Write;

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::crypto::to_delivery;
use crate::grain::{Draft, Grain, Status};
use crate::interchange::formats::revision::later_json;
use crate::interchange::model::status;
use crate::interchange::{Error, Place, Revision};
use crate::policy::RecordedAuthorization;

/// Writes JSON lines.
///
/// ```
/// use grainstore::grain::{Draft, Status, Time};
/// use grainstore::interchange::jsonl::Writer;
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let mut writer = Writer::new(Vec::new());
/// writer.write(&grain, &Status::default()).unwrap();
/// let line = b"{\"content\":\"hello\",\"created_at\":1,\"type\":\"event\"}\n";
/// assert_eq!(writer.into_inner(), line);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    line: u64,
    revision: Revision,
}

impl<W: Write> Writer<W> {
    /// Starts to write.
    pub const fn new(output: W) -> Self {
        Self {
            output,
            line: 0,
            revision: Revision::V1_3,
        }
    }

    /// Writes grains in the words of a revision, in which they are already.
    pub(crate) const fn in_revision(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Writes a grain, and its status unless that is the default.
    ///
    /// # Errors
    /// `ERR_SIGNED_MISMATCH` for a grain that is to be signed and is not; `ERR_IO`.
    pub fn write(&mut self, grain: &Grain, status: &Status) -> Result<(), Error> {
        let json = match self.revision {
            Revision::V1_3 => own_json(grain),
            Revision::V1_4 | Revision::V1_5 => later_json(grain),
        };
        if let Some(json) = json {
            self.line(&json)?;
        } else {
            let place = Place::Line(self.line.saturating_add(1));
            let bytes = to_delivery(grain);
            let bytes = bytes.map_err(|source| Error::of_delivery(place, source))?;
            let name = if grain.is_signed() {
                "envelope"
            } else {
                "blob"
            };
            let hex = data_encoding::HEXLOWER.encode(&bytes);
            let members = [("address", grain.address().to_string()), (name, hex)];
            self.line(&Value::Map(members.into_iter().collect()).to_json())?;
        }
        if *status == Status::default() {
            return Ok(());
        }
        let members = status::write(grain.address(), status);
        let line: Map = [("status", members)].into_iter().collect();
        self.line(&Value::Map(line).to_json())
    }

    /// Writes the legal holds on the grain that was written last.
    pub(crate) fn write_holds(
        &mut self,
        of: ContentAddress,
        holds: &[RecordedAuthorization],
    ) -> Result<(), Error> {
        holds.iter().try_for_each(|said| {
            let line: Map = [("hold", status::write_hold(of, said))]
                .into_iter()
                .collect();
            self.line(&Value::Map(line).to_json())
        })
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn line(&mut self, json: &str) -> Result<(), Error> {
        self.line = self.line.saturating_add(1);
        writeln!(self.output, "{json}").map_err(|source| Error::Io {
            place: Place::Line(self.line),
            source,
        })
    }
}

/// Returns a grain as a JSON object, if it can be read again from it.
fn own_json(grain: &Grain) -> Option<String> {
    let json = grain.to_json();
    let copy = Draft::from_json(&json).and_then(|draft| draft.finish(Profile::Extended));
    copy.is_ok_and(|copy| copy == *grain).then_some(json)
}
