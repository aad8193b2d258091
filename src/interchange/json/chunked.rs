//! Elements read in another order than that of their file.
//!
//! As many elements as fit a window are read in the order of the file, which stays cheap where the
//! file must be decompressed up to each of them, and are then put into the order asked for.

use std::io::{BufRead, Seek};
use std::iter;

use crate::codec::Value;
use crate::interchange::io::source_file::SourceFile;
use crate::process::map_in_parallel;

use super::reader::{DEPTH_MAX, JsonError, JsonReader};
use super::stream::BATCH_LEN;
use super::strict;

/// Reads the elements that begin at `starts` in any `order` of their numbers: `make` is called on
/// several threads, `take` in that order until it returns `false`.
pub(crate) fn read_in_order<T: Send>(
    file: &SourceFile,
    starts: &[u64],
    order: impl Iterator<Item = usize>,
    make: impl Fn(Value, usize) -> T + Sync,
    mut take: impl FnMut(T) -> bool,
) -> Result<(), JsonError> {
    let mut order = order.peekable();
    let next = || window(starts, &mut order);
    let mut windows = iter::from_fn(next).peekable();
    let mut is_wanted = true;
    while is_wanted && windows.peek().is_some() {
        file.read(BUFFER_LEN, |input| {
            let mut reader = JsonReader::new(input)?;
            // A window that lies behind the last one needs no new reading from the beginning.
            while let Some(window) = windows.next_if(|it| it.first() >= reader.at()) {
                for elements in reader.gather(&window)?.chunks(BATCH_LEN) {
                    let make =
                        |(number, raw): &(usize, Vec<u8>)| Ok(make(strict::parse(raw)?, *number));
                    let made = map_in_parallel(elements, make);
                    let made: Vec<T> = made.into_iter().collect::<Result<_, JsonError>>()?;
                    is_wanted = is_wanted && made.into_iter().all(&mut take);
                    if !is_wanted {
                        return Ok(());
                    }
                }
            }
            Ok::<(), JsonError>(())
        })??;
    }
    Ok(())
}

/// Elements that are in memory together: the number of each, in the order asked for, and where it
/// begins.
struct Window(Vec<(usize, u64)>);

impl Window {
    fn first(&self) -> u64 {
        let starts = self.0.iter().map(|(_, start)| *start);
        starts.min().unwrap_or_default()
    }
}

/// Takes as many elements as there is room for; `None` if there are no more.
fn window(
    starts: &[u64],
    order: &mut iter::Peekable<impl Iterator<Item = usize>>,
) -> Option<Window> {
    let mut window = Vec::new();
    let mut len = 0_u64;
    while len < WINDOW_LEN && window.len() < WINDOW_COUNT {
        let Some(number) = order.next() else { break };
        let start = starts.get(number).copied().unwrap_or_default();
        let next = number.checked_add(1).and_then(|next| starts.get(next));
        let next = next.copied().unwrap_or_default();
        len = len.saturating_add(next.saturating_sub(start));
        window.push((number, start));
    }
    (!window.is_empty()).then_some(Window(window))
}

impl<R: BufRead + Seek> JsonReader<R> {
    /// Copies the text of the elements of a window; returns it with their numbers, in its order.
    fn gather(&mut self, window: &Window) -> Result<Vec<(usize, Vec<u8>)>, JsonError> {
        let mut by_place: Vec<usize> = (0..window.0.len()).collect();
        by_place.sort_by_key(|rank| window.0.get(*rank).map(|(_, start)| *start));
        let mut gathered: Vec<_> = window.0.iter().map(|it| (it.0, Vec::new())).collect();
        for rank in by_place {
            let start = window.0.get(rank).map(|(_, start)| *start);
            if let (Some(start), Some((_, raw))) = (start, gathered.get_mut(rank)) {
                self.seek(start)?;
                self.raw(raw, DEPTH_MAX)?;
            }
        }
        Ok(gathered)
    }
}

/// Well below the memory that an import may use, and otherwise as much as possible: the file is
/// read once for every window.
const WINDOW_LEN: u64 = if cfg!(test) { 64 } else { 16 * 1024 * 1024 };
const WINDOW_COUNT: usize = 65_536;
/// Little more than a record, because the bytes after it are seldom needed.
const BUFFER_LEN: usize = 16 * 1024;
