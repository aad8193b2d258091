//! The demo: kills a process while it stores grains, and counts what is left.
//!
//! Every address that was printed before the kill must be stored afterwards.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use grainstore::{ContentAddress, Options, Store};

use super::stage::Stage;

/// Kills a process while it stores grains, and counts the grains that survived.
pub(super) fn show(stage: &mut Stage<'_>, path: &Path) -> anyhow::Result<()> {
    stage.step(
        "Kill a process with SIGKILL while it stores grains, and reopen its store",
        &["--store demo-copy.grains put -   # killed on its way"],
    )?;
    let before = Store::open(path, Options::default())?
        .maintenance()?
        .stats()?
        .grains;
    let acknowledged = killed_put(path)?;
    let store = Store::open(path, Options::default())?;
    let durable = acknowledged.iter().map(|address| store.exists(address));
    let durable = durable.collect::<Result<Vec<bool>, _>>()?;
    let printed = acknowledged.len();
    let durable = durable.into_iter().filter(|is_stored| *is_stored).count();
    let stored = store.maintenance()?.stats()?.grains - before;
    stage.result(format!(
        "{printed:5} addresses were printed before the kill"
    ))?;
    stage.result(format!(
        "{durable:5} of them are in the store: acknowledged grains are durable"
    ))?;
    let unacknowledged = stored.saturating_sub(u64::try_from(durable)?);
    stage.result(format!(
        "{unacknowledged:5} more were stored and not yet acknowledged"
    ))?;
    stage.result(match &store.maintenance()?.recovery_report().torn {
        Some(torn) => format!(
            "a torn tail of {} bytes was set aside in {}",
            torn.bytes, torn.file
        ),
        None => "no torn tail: the kill fell between two writes".to_owned(),
    })?;
    if durable != printed {
        anyhow::bail!("{} acknowledged grains are lost", printed - durable);
    }
    Ok(())
}

/// Returns the addresses that `put -` acknowledged until it was killed.
fn killed_put(path: &Path) -> anyhow::Result<Vec<ContentAddress>> {
    let mut child = Command::new(crate::program()?)
        .arg("--store")
        .arg(path)
        .args(["put", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        anyhow::bail!("the child has no pipes");
    };
    let feeder = thread::spawn(move || {
        let mut stdin = BufWriter::with_capacity(64 << 10, stdin);
        // Writing fails once the child is gone.
        for number in 0..FED {
            if stdin.write_all(line(number).as_bytes()).is_err() {
                break;
            }
        }
    });
    let mut stdout = BufReader::new(stdout);
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    // Addresses still in the pipe after the kill were printed before it.
    while stdout.read_line(&mut line)? > 0 && line.ends_with('\n') {
        acknowledged.push(line.trim_end().parse()?);
        line.clear();
        if acknowledged.len() == KILL_AT {
            child.kill()?;
        }
    }
    child.wait()?;
    if feeder.join().is_err() {
        anyhow::bail!("the thread that fed the child panicked");
    }
    Ok(acknowledged)
}

fn line(number: u32) -> String {
    let time = 1_794_900_000_000 + u64::from(number);
    format!(
        "{{\"type\":\"event\",\"content\":\"reading {number} of the wall sensor\",\
         \"namespace\":\"demo:crash\",\"created_at\":{time}}}\n"
    )
}

/// More grains than are stored before the kill.
const FED: u32 = 20_000;

/// The number of addresses after which the process is killed.
const KILL_AT: usize = 1_000;
