//! Counts what the code under test allocates, and holds it to a bound.
//!
//! Only the Rust heap is counted. The zstd library allocates through C: at most its window of
//! 8 MiB and its tables, which `-rss_limit_mb` watches.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How much memory an input may cost: bytes for each of its bytes, and bytes besides.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// Bytes for each byte of input.
    pub per_byte: usize,
    /// Bytes whatever the input.
    pub free: usize,
}

/// The bound for all inputs but compressed archives. Longer inputs than the fuzzer makes can cost
/// more: up to 49 bytes a byte if every byte is a value, 63 in JSON (`tests/bounds.rs`).
pub const PLAIN: Bound = Bound {
    per_byte: 8,
    free: 1 << 20,
};

/// The bound for compressed archives. A few bytes may hold a grain of 1 MiB in values of one byte,
/// each of which is a value of 32 bytes in memory, and half as much again while their array grows
/// (`tests/bounds.rs` measures it). An LZ4 frame may ask for blocks of 4 MiB, two of which are
/// held.
pub const COMPRESSED: Bound = Bound {
    per_byte: 8,
    free: 56 << 20,
};

impl Bound {
    fn bytes(self, len: usize) -> usize {
        self.per_byte * len + self.free
    }
}

/// Runs the code under test on an input of `len` bytes and returns what it returns.
///
/// # Panics
/// If it held more memory at any moment than `bound` allows, beyond what it found allocated.
pub fn measure<T>(bound: Bound, len: usize, run: impl FnOnce() -> T) -> T {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = run();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    let allowed = bound.bytes(len);
    note(peak, len, allowed);
    assert!(
        peak <= allowed,
        "{peak} bytes held for an input of {len}, more than {allowed}"
    );
    result
}

/// Returns how many bytes `run` holds at its highest.
pub fn peak_of(run: impl FnOnce()) -> usize {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    run();
    PEAK.load(Relaxed).saturating_sub(before)
}

/// Remembers the worst peak, to be printed when the process exits.
fn note(peak: usize, len: usize, allowed: usize) {
    let share = peak * SCALE / allowed;
    if share > WORST_SHARE.load(Relaxed) {
        WORST_SHARE.store(share, Relaxed);
        WORST_PEAK.store(peak, Relaxed);
        WORST_LEN.store(len, Relaxed);
    }
    // SAFETY: `report` is a plain function that neither unwinds nor registers anything itself.
    REPORT.call_once(|| unsafe {
        atexit(report);
    });
}

extern "C" fn report() {
    let (peak, len) = (WORST_PEAK.load(Relaxed), WORST_LEN.load(Relaxed));
    let percent = WORST_SHARE.load(Relaxed) * 100 / SCALE;
    eprintln!("peak: {peak} bytes held for an input of {len}, {percent} % of what is allowed");
}

unsafe extern "C" {
    fn atexit(run: extern "C" fn()) -> i32;
}

/// The system's allocator, counted.
struct Counting;

// SAFETY: every call goes to `System` with the arguments it came with, and the counters are
// atomics that allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // For a moment there may be both.
        grow(new_size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(place, layout, new_size) }
    }
}

const SCALE: usize = 1_000_000;

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

#[global_allocator]
static COUNTING: Counting = Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static WORST_SHARE: AtomicUsize = AtomicUsize::new(0);
static WORST_PEAK: AtomicUsize = AtomicUsize::new(0);
static WORST_LEN: AtomicUsize = AtomicUsize::new(0);
static REPORT: Once = Once::new();
