//! Conversations as an assistant exports them, made from numbers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use grainstore::{Draft, Time};

use crate::Result;

/// Returns the text of a message: about 200 bytes.
pub fn message(number: u64) -> String {
    let (a, b) = (number * 7_919 % 10_007, number % 911);
    format!("message {number} says {a} about {b}, and what was meant by it. ").repeat(4)
}

/// Returns a message as an Event of one session, a second after the one before.
///
/// # Errors
/// A number that is no time.
pub fn event(number: u64) -> Result<Draft> {
    let time = Time::from_ms(1_700_000_000_000 + i64::try_from(number)? * 1_000);
    Ok(Draft::event(message(number)).session("s").created_at(time))
}

/// Writes an export of ChatGPT with conversations of forty messages; returns its length.
///
/// # Errors
/// Those of the file.
pub fn chatgpt(messages: u64, path: &Path) -> Result<u64> {
    let mut out = BufWriter::new(File::create(path)?);
    for number in 0..messages {
        let (conversation, place) = (number / 40, number % 40);
        if place == 0 {
            let open = if conversation == 0 { "[" } else { "}}," };
            write!(
                out,
                r#"{open}{{"id":"c{conversation}","title":"t","create_time":1700000000,"mapping":{{"#
            )?;
        }
        let comma = if place == 0 { "" } else { "," };
        let parent = match place {
            0 => "null".to_owned(),
            _ => format!("\"n{}\"", number - 1),
        };
        let text = message(number);
        write!(
            out,
            r#"{comma}"n{number}":{{"id":"n{number}","parent":{parent},"children":[],"message":{{"id":"m{number}","author":{{"role":"user"}},"create_time":1700000000,"content":{{"content_type":"text","parts":["{text}"]}}}}}}"#
        )?;
    }
    write!(out, "}}}}]")?;
    out.flush()?;
    Ok(out.get_ref().metadata()?.len())
}
