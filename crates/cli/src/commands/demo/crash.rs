use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use grainstore::{ContentAddress, Options, Store};

use super::stage::Stage;

/// Kills a process while it stores, and looks what is left.
pub(super) fn show(stage: &mut Stage<'_>, path: &Path) -> anyhow::Result<()> {
    stage.step(
        "Kill a process in the middle of storing, with SIGKILL, and open its store again",
        &["--store demo-copy.grains put -     # fed 20000 grains, killed on the way"],
    )?;
    let before = Store::open(path, Options::default())?.stats()?.grains;
    let acknowledged = killed_put(path)?;
    let store = Store::open(path, Options::default())?;
    let here = acknowledged.iter().map(|address| store.exists(address));
    let here = here.collect::<Result<Vec<bool>, _>>()?;
    let told = acknowledged.len();
    let here = here.into_iter().filter(|is_here| *is_here).count();
    let stored = store.stats()?.grains - before;
    stage.say(format!("{told:5} addresses came out before it died"))?;
    stage.say(format!(
        "{here:5} of them are in the store, durable as promised"
    ))?;
    let untold = stored.saturating_sub(u64::try_from(here)?);
    stage.say(format!(
        "{untold:5} more were stored, and it died before it could say so"
    ))?;
    stage.say(match &store.recovery_report().torn {
        Some(torn) => format!(
            "a torn tail of {} bytes was set aside in {}",
            torn.bytes, torn.file
        ),
        None => "no torn tail: it died between two writes".to_owned(),
    })?;
    if here != told {
        anyhow::bail!("{} acknowledged grains are lost", told - here);
    }
    Ok(())
}

/// Returns what a `put -` acknowledged until it was killed.
fn killed_put(path: &Path) -> anyhow::Result<Vec<ContentAddress>> {
    let mut child = Command::new(std::env::current_exe()?)
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
        // Ends when the child is gone.
        for number in 0..FED {
            if stdin.write_all(line(number).as_bytes()).is_err() {
                break;
            }
        }
    });
    let mut stdout = BufReader::new(stdout);
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    // What the pipe still holds after the kill was said before it.
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

/// More than there is time for.
const FED: u32 = 20_000;

/// Addresses to wait for.
const KILL_AT: usize = 1_000;
