//! Copilot: the CSV files of the privacy dashboard, newest row first.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use crate::grain::Time;
use crate::interchange::Diagnostics;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::super::conversation::{Conversation, Message, stable_id};

/// The columns of a table.
struct Columns {
    time: usize,
    text: usize,
    title: usize,
    author: Option<usize>,
}

/// Reads all conversations, the numbers of rows without a valid time, and how many rows say nothing.
/// Rows are in no order, so all of them are in memory together.
///
/// # Errors
/// An error of the file as a whole; one of more than 16 MiB or 65,536 messages is refused, since a
/// ZIP archive of a few kilobytes may hold any number of rows.
pub(in crate::interchange::formats::provider) fn conversations(
    input: impl BufRead,
) -> Result<(Vec<Conversation>, Diagnostics<u64>, u64), String> {
    let Table {
        columns,
        mut rows,
        bad,
        empty,
    } = read(input)?;
    // FileSet run newest first; of one moment the question comes before the answer.
    rows.reverse();
    rows.sort_by_key(|(at, is_answer, ..)| (*at, *is_answer));
    let mut conversations: BTreeMap<String, Conversation> = BTreeMap::new();
    let mut counts: HashMap<String, u64> = HashMap::new();
    for (row, (_, is_answer, time, title, text)) in rows.into_iter().enumerate() {
        let role = if is_answer { "assistant" } else { "user" };
        // Without authors every prompt is a conversation of its own.
        let key = match columns.author {
            Some(_) => title.clone(),
            None => format!("{title}\0{row}"),
        };
        let conversation = conversations.entry(key).or_insert_with(|| Conversation {
            id: stable_id(&["copilot", &title, &time, &text]),
            title: Some(match columns.author {
                Some(_) => title.clone(),
                None => format!("{title} prompt"),
            }),
            ..Conversation::default()
        });
        let id = stable_id(&["copilot", &title, &time, role, &text]);
        let count = counts.entry(id.clone()).or_default();
        *count = count.saturating_add(1);
        let id = match *count {
            1 => id,
            count => stable_id(&[&id, &count.to_string()]),
        };
        conversation.messages.push(Message {
            id,
            role,
            created_at: Some(time),
            text: Some(text),
            ..Message::default()
        });
    }
    let mut conversations: Vec<Conversation> = conversations.into_values().collect();
    conversations.iter_mut().for_each(Conversation::thread);
    Ok((conversations, bad, empty))
}

/// A row: its moment, whether an assistant said it, its time as text, its title and its text.
type Row = (Time, bool, String, String, String);

/// A table, its rows in the order of the file.
struct Table {
    columns: Columns,
    rows: Vec<Row>,
    /// The numbers of those without a valid time.
    bad: Diagnostics<u64>,
    /// How many say nothing.
    empty: u64,
}

fn read(mut input: impl BufRead) -> Result<Table, String> {
    let start = input.fill_buf().map_err(|error| error.to_string())?;
    if start.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
    }
    let input = input.take(TABLE_LEN_MAX);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
    let header = reader.headers().map_err(|error| error.to_string())?;
    let columns = columns(header).ok_or("the header is none of Copilot's")?;
    let mut rows: Vec<Row> = Vec::new();
    let (mut bad, mut empty) = (Diagnostics::default(), 0_u64);
    for (number, row) in (2_u64..).zip(reader.records()) {
        let row = row.map_err(|error| error.to_string())?;
        let cell = |at: usize| row.get(at).unwrap_or_default();
        let text = cell(columns.text);
        if text.is_empty() {
            empty = empty.saturating_add(1);
            continue;
        }
        let author = columns.author.map_or("user", cell).to_ascii_lowercase();
        let role = match author.as_str() {
            "user" | "human" => "user",
            _ => "assistant",
        };
        let Some((at, time)) = moment(cell(columns.time)) else {
            bad.push(number);
            continue;
        };
        if rows.len() == ROWS_MAX {
            return Err(format!(
                "a table of more than {ROWS_MAX} messages is not read"
            ));
        }
        rows.push((
            at,
            role == "assistant",
            time,
            cell(columns.title).to_owned(),
            text.to_owned(),
        ));
    }
    if reader.position().byte() >= TABLE_LEN_MAX {
        return Err("a table of more than 16 MiB is not read".into());
    }
    Ok(Table {
        columns,
        rows,
        bad,
        empty,
    })
}

/// Returns whether a first line is the header of one of Copilot's files.
pub(in crate::interchange::formats::provider) fn is_header(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut reader = csv::ReaderBuilder::new().from_reader(line);
    reader
        .headers()
        .is_ok_and(|header| columns(header).is_some())
}

fn columns(header: &csv::StringRecord) -> Option<Columns> {
    let at = |name: &str| {
        header
            .iter()
            .position(|it| it.trim().eq_ignore_ascii_case(name))
    };
    let chat = |time: &str, text: &str, title: &str| {
        Some(Columns {
            time: at(time)?,
            text: at(text)?,
            title: at(title)?,
            author: Some(at("Author")?),
        })
    };
    chat("Time", "Message", "Conversation")
        .or_else(|| chat("CreatedAt", "MessageContent", "ChatName"))
        .or_else(|| {
            Some(Columns {
                time: at("Timestamp")?,
                text: at("Prompt")?,
                title: at("ClientApp")?,
                author: None,
            })
        })
}

/// Reads a time: ISO, in UTC without an offset, or month, day and year.
fn moment(text: &str) -> Option<(Time, String)> {
    let text = text.trim();
    let candidates = [
        text.to_owned(),
        format!("{text}Z"),
        text.replacen(' ', "T", 1) + "Z",
    ];
    let iso = candidates
        .into_iter()
        .find(|text| parse_rfc3339(text).is_ok());
    let text = iso.or_else(|| american(text))?;
    parse_rfc3339(&text).ok().map(|time| (time, text))
}

/// `M/D/YYYY H:MM:SS +HH:MM`, also without seconds or offset.
fn american(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let mut date = words.next()?.split('/');
    let (month, day, year) = (date.next()?, date.next()?, date.next()?);
    let clock = words.next().unwrap_or("0:00");
    let mut clock = clock.split(':');
    let (hour, minute) = (clock.next()?, clock.next()?);
    let second = clock.next().unwrap_or("0");
    let mut hour: u32 = hour.parse().ok()?;
    let mut offset = "Z";
    for word in words {
        match word {
            "AM" | "am" => hour = hour.checked_rem(12)?,
            "PM" | "pm" => hour = hour.checked_rem(12)?.checked_add(12)?,
            other => offset = other,
        }
    }
    Some(format!(
        "{year:0>4}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute:0>2}:{second:0>2}{offset}"
    ))
}

/// The longest table that is read.
const TABLE_LEN_MAX: u64 = 16 * 1024 * 1024;
/// A message takes a hundred times the memory of the shortest row.
const ROWS_MAX: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_month_first_and_in_utc_where_nothing_else_is_said() {
        for (text, expected) in [
            ("2026-02-03T04:05:06", Some("2026-02-03T04:05:06Z")),
            ("2026-02-03 04:05:06", Some("2026-02-03T04:05:06Z")),
            (
                "2026-02-03T04:05:06+01:00",
                Some("2026-02-03T04:05:06+01:00"),
            ),
            ("2/3/2026 4:05:06 +00:00", Some("2026-02-03T04:05:06+00:00")),
            ("2/3/2026 4:05", Some("2026-02-03T04:05:00Z")),
            ("2/3/2026 12:05 AM", Some("2026-02-03T00:05:00Z")),
            ("2/3/2026 4:05 PM", Some("2026-02-03T16:05:00Z")),
            ("13/3/2026 4:05", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(
                moment(text).map(|(_, text)| text).as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
