//! Opening a store whose process was killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;
use crate::data::Generator;
use crate::ours::Ours;
use crate::peer::Peer;
use crate::report::{Bound, Report, Table};
use crate::setup::Settings;

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let grains = settings.sizes.unflushed;
    for text in [true, false] {
        let mut seconds = Vec::new();
        for round in 0..settings.rounds {
            eprintln!("reopening: round {}", round + 1);
            let folder = settings.temporary()?;
            kill_after(grains, folder.path(), text)?;
            seconds.push(ask_process(grains, folder.path(), text)?);
        }
        let with = if text { "with" } else { "without" };
        let title = format!("Reopen after SIGKILL, {with} text");
        let mut table = Table::new(title, "seconds");
        table.row("store", seconds, Some(Bound::AtMost(1.0)));
        report.table(&table);
    }
    Ok(())
}

fn kill_after(grains: u64, folder: &Path, text: bool) -> Result<()> {
    let mut child = command("put", grains, folder, text)?
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let stdout = child.stdout.take().ok_or("the process has no output")?;
    let read = BufReader::new(stdout).read_line(&mut line);
    // SIGKILL: it closes nothing and flushes nothing.
    child.kill()?;
    child.wait()?;
    read?;
    if line.trim() == "durable" {
        Ok(())
    } else {
        Err("the process that puts grains failed".into())
    }
}

fn ask_process(grains: u64, folder: &Path, text: bool) -> Result<f64> {
    let output = command("open", grains, folder, text)?.output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim().parse()?)
}

fn command(what: &str, grains: u64, folder: &Path, text: bool) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["--child", what, &grains.to_string()])
        .arg(folder)
        .args(text.then_some("text"))
        .stderr(Stdio::inherit());
    Ok(command)
}

/// Puts grains, says so, and waits to be killed.
pub fn put(grains: u64, folder: &Path, text: bool) -> Result<()> {
    let mut ours = Ours::open(folder, text)?;
    let chunk = Generator::new(5, grains).chunk(usize::try_from(grains)?)?;
    for batch in chunk.batches(1_000) {
        ours.put_batch(batch)?;
    }
    println!("durable");
    std::io::stdout().flush()?;
    loop {
        std::thread::park();
    }
}

/// Opens a store, prints how long it took, and makes sure that nothing is lost.
pub fn open(grains: u64, folder: &Path, text: bool) -> Result<()> {
    let start = Instant::now();
    let ours = Ours::open(folder, text)?;
    let seconds = start.elapsed().as_secs_f64();
    let found = ours.store().maintenance()?.stats()?.grains;
    if found != grains {
        return Err(format!("{found} grains are left of {grains}").into());
    }
    println!("{seconds}");
    Ok(())
}
