//! The system's counters of this process: processor time, bytes written, memory, disk.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use grainstore::Time;

use crate::Result;

/// Counters of this process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Counters {
    /// Time on a processor, all threads together, past ones too; in steps of 10 ms.
    pub cpu: Duration,
    /// Bytes that were sent to the disk, in whole pages (`write_bytes` of /proc/self/io).
    pub written: u64,
    /// Bytes that were passed to write calls (`wchar`).
    pub passed: u64,
}

impl Counters {
    /// Reads the counters.
    pub fn now() -> Result<Self> {
        let stat = fs::read_to_string("/proc/self/stat")?;
        // The second field is the name, in parentheses; it may hold anything.
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let ticks = |place: usize| -> Result<u64> {
            Ok(fields
                .get(place)
                .ok_or("/proc/self/stat is short")?
                .parse()?)
        };
        // utime and stime are the fields 14 and 15; the state is the third.
        let ticks = ticks(11)? + ticks(12)?;
        let io = fs::read_to_string("/proc/self/io")?;
        Ok(Self {
            cpu: Duration::from_millis(ticks * MS_PER_TICK),
            written: number_after(&io, "write_bytes:")?,
            passed: number_after(&io, "wchar:")?,
        })
    }

    /// Returns what was counted since an earlier moment.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            written: self.written.saturating_sub(earlier.written),
            passed: self.passed.saturating_sub(earlier.passed),
        }
    }
}

/// Returns the most memory this process has had at once, in bytes.
pub fn peak_memory_bytes() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    Ok(number_after(&status, "VmHWM:")? * 1_024)
}

/// Returns the memory that this process has now, without files that are mapped, in bytes.
pub fn own_memory_bytes() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    Ok(number_after(&status, "RssAnon:")? * 1_024)
}

fn number_after(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("a counter is missing")?.parse()?)
}

/// Returns how much of the disk a folder takes, in bytes.
pub fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        total += if metadata.is_dir() {
            disk_bytes(&entry.path())?
        } else {
            metadata.blocks() * 512
        };
    }
    Ok(total)
}

/// Returns the kind of file system that a folder is on.
pub fn file_system(folder: &Path) -> Result<String> {
    let folder = folder.canonicalize()?;
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let found = mounts.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (place, kind) = (fields.next()?, fields.next()?);
        folder.starts_with(place).then_some((place.len(), kind))
    });
    let found = found.max_by_key(|(len, _)| *len);
    Ok(found.map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned()))
}

/// Returns the machine and how much it has to do.
pub fn description() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?");
    format!("{}, load {load}", hardware())
}

fn hardware() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown processor", |(_, model)| model.trim());
    let cores = cpus
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let memory = number_after(&read("/proc/meminfo"), "MemTotal:").unwrap_or(0) / 1_048_576;
    format!("{cores} cores of {model}, {memory} GB")
}

/// What the machine did beside this program since a moment.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    start: Instant,
    /// All processors and this process with its children, in ticks.
    busy: u64,
    own: u64,
    average: f64,
}

impl Load {
    /// Begins to watch.
    pub fn now() -> Result<Self> {
        let stat = fs::read_to_string("/proc/stat")?;
        let all = stat.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = all
            .split_whitespace()
            .filter_map(|field| field.parse().ok())
            .collect();
        // User, nice, system; then idle and waiting for the disk; then interrupts.
        let busy = [0, 1, 2, 5, 6].iter().filter_map(|place| ticks.get(*place));
        let stat = fs::read_to_string("/proc/self/stat")?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        // utime, stime, and those of children that have ended.
        let own = after_name.split_whitespace().skip(11).take(4);
        let average = fs::read_to_string("/proc/loadavg")?;
        let average = average.split_whitespace().next().unwrap_or_default();
        Ok(Self {
            start: Instant::now(),
            busy: busy.sum(),
            own: own.filter_map(|field| field.parse::<u64>().ok()).sum(),
            average: average.parse()?,
        })
    }

    /// Returns how many processors others took since.
    pub fn of_others(&self) -> Result<f64> {
        let now = Self::now()?;
        let seconds = self.start.elapsed().as_secs_f64();
        let others = (now.busy - self.busy).saturating_sub(now.own - self.own);
        let cpu = others as f64 * MS_PER_TICK as f64 / 1e3;
        Ok(cpu / seconds.max(1e-3))
    }
}

/// Returns what is written beside figures that were measured just now.
pub fn described(sizes: &str, rounds: usize) -> Result<String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let date = Time::from_ms(i64::try_from(now.as_millis())?).to_string();
    let date = date.get(..10).unwrap_or_default();
    Ok(format!("{sizes}; {rounds} rounds; {date}; {}.", hardware()))
}

/// Waits until the load of the last minute is at most a half, for ten minutes at most.
pub fn wait_for_quiet() {
    for _ in 0..120 {
        match Load::now() {
            Ok(load) if load.average > QUIET => {
                eprintln!("load {:.2}: waiting for {QUIET}", load.average);
                std::thread::sleep(Duration::from_secs(5));
            }
            _ => return,
        }
    }
}

/// The load above which a figure is measured again.
pub const QUIET: f64 = 0.5;

/// Linux counts processor time in hundredths of a second, whatever the kernel's own tick.
const MS_PER_TICK: u64 = 10;
