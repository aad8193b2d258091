use grainstore::Grain;

use crate::address::short;
use crate::output::width;
use crate::printable::{cut, printable};

/// Returns a line for a grain in a list: something before, its type, what it says, its address.
pub(crate) fn row(before: &str, grain: &Grain, after: &str) -> String {
    let of = grain.type_().to_string();
    let address = short(&grain.address());
    let fixed = before.chars().count() + TYPE_WIDTH + address.len() + after.chars().count() + 4;
    let room = width().saturating_sub(fixed).max(20);
    // Escaped before it is cut: an escape is longer than what it stands for.
    let says = cut(&printable(&readable(&grain.summary())), room);
    let line = format!("{before}{of:TYPE_WIDTH$}  {says:room$}  {address}{after}");
    line.trim_end().to_owned()
}

/// Shortens identifiers and addresses, of which nobody reads more than the beginning.
fn readable(summary: &str) -> String {
    let words = summary.split(' ').map(|word| cut(word, WORD_WIDTH));
    words.collect::<Vec<_>>().join(" ")
}

/// Longer than any word that is one.
const WORD_WIDTH: usize = 24;

/// The longest name of a type.
const TYPE_WIDTH: usize = "observation".len();
