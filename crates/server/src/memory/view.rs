//! How files and directories are shown: line numbers, ranges and sizes, as the memory tool has them.

use std::collections::BTreeMap;

use super::MemoryError;
use super::files::File;

/// Returns lines with their numbers, right-aligned in six columns, and a tab.
pub(super) fn numbered(lines: &[&str], first: usize) -> String {
    let lines = lines.iter().enumerate();
    let lines = lines.map(|(at, line)| format!("{:6}\t{line}", first + at));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first and the last line of a range; -1 is the end.
///
/// # Errors
/// [`MemoryError::Range`].
pub(super) fn range_of(range: [i64; 2], last: usize) -> Result<(usize, usize), MemoryError> {
    let refused = || MemoryError::Range { range, last };
    let [from, to] = range;
    let from = usize::try_from(from).map_err(|_| refused())?;
    let to = match to {
        -1 => last,
        to => usize::try_from(to).map_err(|_| refused())?.min(last),
    };
    if from == 0 || from > to {
        return Err(refused());
    }
    Ok((from, to))
}

/// Returns the changed lines with some around them.
pub(super) fn snippet(text: &str, first: usize, last: usize) -> String {
    let lines: Vec<_> = text.split('\n').collect();
    let from = first.saturating_sub(AROUND).max(1);
    let to = last.saturating_add(AROUND).min(lines.len());
    numbered(lines.get(from - 1..to).unwrap_or_default(), from)
}

/// Returns the listing of a directory, two levels deep, with sizes.
pub(super) fn directory(path: &str, files: &[(String, File)]) -> String {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    sizes.insert(path.to_owned(), 0);
    for (file, content) in files {
        let size = content.text.len();
        let below = file.strip_prefix(path).unwrap_or_default();
        let mut shown = path.to_owned();
        *sizes.entry(shown.clone()).or_default() += size;
        for name in below.split('/').filter(|name| !name.is_empty()).take(DEPTH) {
            if name.starts_with('.') || name == "node_modules" {
                break;
            }
            shown.push('/');
            shown.push_str(name);
            *sizes.entry(shown.clone()).or_default() += size;
        }
    }
    let heading = format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items \
         and node_modules:\n"
    );
    let lines = sizes
        .iter()
        .map(|(path, size)| format!("{}\t{path}", human(*size)));
    heading + &lines.collect::<Vec<_>>().join("\n")
}

/// Returns a size in steps of half a kibibyte, as `du -h` writes it.
fn human(bytes: usize) -> String {
    let halves = bytes.div_ceil(512);
    match halves {
        0..2048 => format!("{}.{}K", halves / 2, halves % 2 * 5),
        _ => format!("{}.{}M", halves / 2048, halves % 2048 * 10 / 2048),
    }
}

const DEPTH: usize = 2;

/// Lines of context around a change.
const AROUND: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_those_of_du() {
        let shown = [0, 1, 512, 513, 4096, 1 << 20, 3 << 19].map(human);
        assert_eq!(
            shown,
            ["0.0K", "0.5K", "0.5K", "1.0K", "4.0K", "1.0M", "1.5M"]
        );
    }

    #[test]
    fn a_range_is_within_the_file() {
        assert_eq!(range_of([2, -1], 5).unwrap(), (2, 5));
        assert_eq!(range_of([1, 99], 5).unwrap(), (1, 5));
        for range in [
            [0, 1],
            [-1, 2],
            [3, 2],
            [6, -1],
            [1, -2],
            [i64::MIN, i64::MAX],
        ] {
            assert!(range_of(range, 5).is_err(), "{range:?}");
        }
    }
}
