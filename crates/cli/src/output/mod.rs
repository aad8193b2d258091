//! Everything a command writes: results on stdout, messages, errors and progress on stderr.
//!
//! Text that comes from grains or files is escaped here before it reaches a terminal.

mod pace;
mod pager;
mod printable;
mod records;
pub(crate) mod progress;
mod stream;
mod style;
mod table;
mod terminal;

pub(crate) use printable::{cut, printable, printable_lines};
pub(crate) use records::{Format, Rows};
pub(crate) use stream::Output;
pub(crate) use style::{Style, Styling};
pub(crate) use table::Table;
pub(crate) use terminal::{is_dialogue, is_screen, is_styled, set_color, width};
