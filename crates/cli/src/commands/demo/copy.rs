//! The demo, second half: export, import into a second store, and the check of both.
//!
//! The copy must have the same addresses as the original, and both must be undamaged.

use std::collections::BTreeSet;
use std::path::Path;

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::{Create, Options, Severity};
use grainstore::{ContentAddress, Filter, Store};

use super::stage::Stage;
use crate::commands::files::report::loss_text;
use crate::error::Exit;

/// Exports everything to an archive.
pub(super) fn export(stage: &mut Stage<'_>, store: &Store, archive: &Path) -> anyhow::Result<()> {
    stage.step(
        "Export all grains, superseded ones included, to one file",
        &["--store demo.grains export --format mg -o demo.mg"],
    )?;
    let filter = Filter::new().with_superseded();
    let options = WriteOptions::default();
    let exported = store
        .admin()?
        .export_file(Format::Mg, &filter, &options, archive)?;
    let size = indicatif::BinaryBytes(archive.metadata()?.len());
    stage.result(format!("{} grains, {size}", exported.grains))?;
    if !exported.loss.is_empty() {
        let loss = loss_text(&exported.loss);
        stage.result(format!("not carried by an archive: {loss}"))?;
    }
    Ok(())
}

/// Imports the archive into another store, and compares the two.
pub(super) fn import(
    stage: &mut Stage<'_>,
    first: &Store,
    archive: &Path,
    path: &Path,
) -> anyhow::Result<()> {
    stage.step(
        "Import it into a second store: all addresses are the same",
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
    let reading = ImportFile::open(archive, None, &ReadOptions::default())?;
    second.import(reading)?;
    let (here, there) = (addresses(first)?, addresses(&second)?);
    let differ = here.symmetric_difference(&there).count();
    let (current_here, current_there) = (
        first.maintenance()?.stats()?.current,
        second.maintenance()?.stats()?.current,
    );
    let rows = [
        ("demo.grains", here.len(), current_here),
        ("demo-copy.grains", there.len(), current_there),
    ];
    for (name, grains, current) in rows {
        stage.result(format!(
            "{name:16}  {grains:3} grains, {current:3} of them current"
        ))?;
    }
    if differ > 0 || current_here != current_there {
        anyhow::bail!("the stores differ in {differ} addresses");
    }
    Ok(stage.result(format!(
        "{} addresses compared, {differ} differ",
        here.len()
    ))?)
}

/// Checks both stores.
pub(super) fn check(stage: &mut Stage<'_>, first: &Store, second: &Path) -> anyhow::Result<Exit> {
    stage.step(
        "Check every byte of both stores",
        &[
            "--store demo.grains check --deep",
            "--store demo-copy.grains check --deep",
        ],
    )?;
    let second = Store::open(second, Options::default())?;
    let mut exit = Exit::Done;
    for (name, store) in [("demo.grains", first), ("demo-copy.grains", &second)] {
        let report = store.maintenance()?.check()?;
        let verdict = match report.worst() {
            None => "no problems found",
            Some(Severity::Warning) => "warnings, no data lost",
            Some(Severity::Damage) => {
                exit = Exit::Damaged;
                "damaged"
            }
        };
        let (entries, grains) = (report.entries, report.grains);
        stage.result(format!(
            "{name:16}  {entries:5} entries, {grains:5} grains: {verdict}"
        ))?;
        for finding in &report.findings {
            stage.result(format!("{}: {}", finding.id, finding.message))?;
        }
    }
    Ok(exit)
}

fn addresses(store: &Store) -> anyhow::Result<BTreeSet<ContentAddress>> {
    let page = store.list(None, usize::MAX)?;
    Ok(page.addresses.into_iter().collect())
}
