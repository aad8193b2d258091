use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use grainstore::interchange::{Format, ReadOptions, Reading, WriteOptions};
use grainstore::store::{Create, Options, Severity};
use grainstore::{ContentAddress, ErrorCode, Filter, Store};

use super::stage::Stage;
use crate::commands::imported::loss_text;
use crate::exit::Exit;
use crate::problem::Problem;

/// Exports everything to an archive.
pub(super) fn export(stage: &mut Stage<'_>, store: &Store, archive: &Path) -> anyhow::Result<()> {
    stage.step(
        "Export everything, with what was superseded, to one file",
        &["--store demo.grains export --format mg -o demo.mg"],
    )?;
    check_replaceable(archive)?;
    let filter = Filter::new().with_superseded();
    let options = WriteOptions::default();
    let exported = store.export_file(Format::Mg, &filter, &options, archive)?;
    let size = indicatif::BinaryBytes(archive.metadata()?.len());
    stage.say(format!("{} grains, {size}", exported.grains))?;
    if !exported.loss.is_empty() {
        let loss = loss_text(&exported.loss);
        stage.say(format!("what an archive has no place for: {loss}"))?;
    }
    Ok(())
}

/// Imports the archive into another store, and compares.
pub(super) fn import(
    stage: &mut Stage<'_>,
    first: &Store,
    archive: &Path,
    path: &Path,
) -> anyhow::Result<()> {
    stage.step(
        "Import it into a second store: the same addresses, to the last one",
        &[
            "--store demo-copy.grains import demo.mg",
            "--store demo-copy.grains list",
        ],
    )?;
    let options = Options {
        create: Create::New,
        ..Options::default()
    };
    let second = Store::open(path, options)?;
    let reading = Reading::open(archive, None, &ReadOptions::default())?;
    second.import(reading)?;
    let (here, there) = (addresses(first)?, addresses(&second)?);
    let differ = here.symmetric_difference(&there).count();
    let (current_here, current_there) = (first.stats()?.current, second.stats()?.current);
    let rows = [
        ("demo.grains", here.len(), current_here),
        ("demo-copy.grains", there.len(), current_there),
    ];
    for (name, grains, current) in rows {
        stage.say(format!(
            "{name:16}  {grains:3} grains, {current:3} of them current"
        ))?;
    }
    if differ > 0 || current_here != current_there {
        anyhow::bail!("the stores differ in {differ} addresses");
    }
    Ok(stage.say(format!(
        "{} addresses compared, {differ} differ",
        here.len()
    ))?)
}

/// Checks both stores.
pub(super) fn check(stage: &mut Stage<'_>, first: &Store, second: &Path) -> anyhow::Result<Exit> {
    stage.step(
        "Check: every byte of both stores, against what was written",
        &[
            "--store demo.grains check --deep",
            "--store demo-copy.grains check --deep",
        ],
    )?;
    let second = Store::open(second, Options::default())?;
    let mut exit = Exit::Done;
    for (name, store) in [("demo.grains", first), ("demo-copy.grains", &second)] {
        let report = store.check()?;
        let verdict = match report.worst() {
            None => "all is well",
            Some(Severity::Warning) => "nothing is lost",
            Some(Severity::Damage) => {
                exit = Exit::Damaged;
                "damaged"
            }
        };
        let (entries, grains) = (report.entries, report.grains);
        stage.say(format!(
            "{name:16}  {entries:5} entries, {grains:5} grains: {verdict}"
        ))?;
        for finding in &report.findings {
            stage.say(format!("{}: {}", finding.id, finding.message))?;
        }
    }
    Ok(exit)
}

fn addresses(store: &Store) -> anyhow::Result<BTreeSet<ContentAddress>> {
    let page = store.list(None, usize::MAX)?;
    Ok(page.addresses.into_iter().collect())
}

/// An earlier demo's archive may be replaced; nothing else of that name.
fn check_replaceable(archive: &Path) -> anyhow::Result<()> {
    if !archive.exists() {
        return Ok(());
    }
    let mut magic = [0; 2];
    let read = File::open(archive).and_then(|mut file| file.read_exact(&mut magic));
    if read.is_ok() && magic == *b"MG" {
        return Ok(());
    }
    let message = "is in the way and is not an archive: move it, or run the demo elsewhere";
    Err(Problem::new(ErrorCode::Io, message)
        .at(archive.display())
        .into())
}
