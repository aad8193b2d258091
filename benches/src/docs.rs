//! docs/benchmarks.md: its tables are written by the programs that measure.

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::machine::{self, Load};

/// Puts the table of a group into the page, with what it was measured of and on, unless other processes
/// kept the machine busy.
///
/// # Errors
/// The page has no such place.
pub fn write(name: &str, sizes: &str, rounds: usize, load: &Load, table: &str) -> Result<()> {
    let others = load.of_others()?;
    if others > machine::QUIET {
        eprintln!("{name}: others took {others:.2} of a core, so it is not written: measure again");
        return Ok(());
    }
    let about = machine::described(sizes, rounds)?;
    replace(name, &format!("{about}\n\n{table}"))
}

/// Puts a text in the place of what stands between `<!-- bench NAME -->` and `<!-- end -->`.
///
/// # Errors
/// The page has no such place.
fn replace(name: &str, text: &str) -> Result<()> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks.md");
    let page = replaced(&fs::read_to_string(&path)?, name, text)?;
    Ok(fs::write(path, page)?)
}

fn replaced(page: &str, name: &str, text: &str) -> Result<String> {
    let place = |what: &str| format!("docs/benchmarks.md has no {what}");
    let begin = format!("<!-- bench {name} -->\n");
    let (before, rest) = page.split_once(&begin).ok_or_else(|| place(begin.trim()))?;
    let (_, after) = rest
        .split_once("<!-- end -->")
        .ok_or_else(|| place("<!-- end -->"))?;
    let text = text.trim();
    Ok(format!("{before}{begin}\n{text}\n\n<!-- end -->{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_place_is_written() -> Result<()> {
        let page = "a\n<!-- bench x -->\nold\n<!-- end -->\n<!-- bench y -->\nkept\n<!-- end -->\n";
        let page = replaced(page, "x", "new\n")?;
        assert_eq!(
            page,
            "a\n<!-- bench x -->\n\nnew\n\n<!-- end -->\n<!-- bench y -->\nkept\n<!-- end -->\n"
        );
        assert!(replaced(&page, "z", "").is_err());
        Ok(())
    }
}
