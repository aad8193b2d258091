//! A model of nodes that share one ledger: each takes the turn, reads what is new, and commits the puts
//! that wait as one frame. Time is simulated; the costs are those that `examples/rates.rs` measured.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// The costs of a store, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    /// One way to the server and back.
    pub(crate) round_trip: f64,
    /// The server's part of taking a turn.
    pub(crate) turn: f64,
    /// The server's part of a commit.
    pub(crate) commit: f64,
    /// A node's part of a frame: deciding, its own append and sync.
    pub(crate) frame: f64,
    /// A node's part of a grain.
    pub(crate) grain: f64,
}

/// Nodes that are asked for puts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) nodes: usize,
    /// Puts a second that arrive on all of them together.
    pub(crate) offered: f64,
    /// For how many seconds they arrive.
    pub(crate) seconds: f64,
}

/// The outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// Puts a second that were acknowledged in the time.
    pub(crate) acknowledged: f64,
    /// How long half of them took, and all but one in a hundred, in milliseconds.
    pub(crate) median: f64,
    pub(crate) p99: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Arrives,
    /// Asks for the turn; after a refusal for the second time, a longer while later.
    Asks(f64),
    Ends,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Event {
    time: f64,
    node: usize,
    what: What,
}

impl Eq for Event {}

impl Ord for Event {
    /// The earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug, Clone)]
struct Node {
    /// When the puts that wait arrived.
    waits: VecDeque<f64>,
    /// How many of them are in the frame that is being made.
    taken: usize,
    is_asking: bool,
    /// When it gave the turn back, and when it saw that another has or had it.
    ended: f64,
    seen: f64,
    /// Since when it has had the turn again and again.
    since: f64,
}

impl Node {
    const fn idle() -> Self {
        Self {
            waits: VecDeque::new(),
            taken: 0,
            is_asking: false,
            ended: f64::NEG_INFINITY,
            seen: f64::NEG_INFINITY,
            since: 0.0,
        }
    }
}

/// A run of the model.
struct Run {
    costs: Costs,
    /// The mean time between two arrivals at a node.
    mean: f64,
    random: u64,
    nodes: Vec<Node>,
    events: BinaryHeap<Event>,
    /// The node that has the turn, and the one that had it last.
    holder: Option<usize>,
    last: Option<usize>,
    /// How long each acknowledged put took.
    took: Vec<f64>,
}

/// Simulates a load.
pub(crate) fn simulate(costs: Costs, load: Load) -> Outcome {
    let mut run = Run {
        costs,
        mean: 1_000.0 * load.nodes as f64 / load.offered,
        random: 0x6772_6169_6e73,
        nodes: vec![Node::idle(); load.nodes],
        events: BinaryHeap::new(),
        holder: None,
        last: None,
        took: Vec::new(),
    };
    (0..load.nodes).for_each(|node| run.arrives_after(0.0, node));
    while let Some(event) = run.events.pop() {
        if event.time > load.seconds * 1_000.0 {
            break;
        }
        run.step(event);
    }
    let mut took = run.took;
    took.sort_by(f64::total_cmp);
    let share = |hundredths: usize| {
        let place = took.len().saturating_sub(1) * hundredths / 100;
        took.get(place).copied().unwrap_or(f64::INFINITY)
    };
    Outcome {
        acknowledged: took.len() as f64 / load.seconds,
        median: share(50),
        p99: share(99),
    }
}

impl Run {
    fn arrives_after(&mut self, time: f64, node: usize) {
        let time = time + self.mean * exponential(&mut self.random);
        self.push(time, node, What::Arrives);
    }

    fn push(&mut self, time: f64, node: usize, what: What) {
        self.events.push(Event { time, node, what });
    }

    fn step(&mut self, Event { time, node, what }: Event) {
        match what {
            What::Arrives => {
                self.nodes[node].waits.push_back(time);
                self.arrives_after(time, node);
                if !self.nodes[node].is_asking {
                    self.asks(time, node);
                }
            }
            What::Asks(pause) if self.holder.is_some() => {
                self.nodes[node].seen = time;
                let again = time + self.costs.round_trip + self.costs.turn + pause;
                self.push(again, node, What::Asks((pause * 2.0).min(LONGEST_WAIT)));
            }
            What::Asks(_) => self.begins(time, node),
            What::Ends => {
                self.holder = None;
                let at = &mut self.nodes[node];
                at.ended = time;
                let done = at.waits.drain(..at.taken);
                self.took.extend(done.map(|arrived| time - arrived));
                at.is_asking = false;
                if !at.waits.is_empty() {
                    self.asks(time, node);
                }
            }
        }
    }

    /// A node that has just had the turn lets the others ask first, if it saw any; now and then in any case.
    fn asks(&mut self, time: f64, node: usize) {
        let at = &mut self.nodes[node];
        at.is_asking = true;
        let rest = (at.ended + COURTESY - time).max(0.0);
        let is_long = time - at.since > STREAK;
        if rest == 0.0 || is_long {
            at.since = time;
        }
        let rests = time - at.seen < RIVALRY || is_long;
        let time = if rests { time + rest } else { time };
        self.push(time, node, What::Asks(FIRST_PAUSE));
    }

    /// The puts that wait become a frame; what another node wrote is read before.
    fn begins(&mut self, time: f64, node: usize) {
        let costs = self.costs;
        let is_behind = self.last.is_some_and(|last| last != node);
        let at = &mut self.nodes[node];
        at.taken = at.waits.len();
        let mut takes = costs.turn + costs.commit + 2.0 * costs.round_trip + costs.frame;
        takes += costs.grain * at.taken as f64;
        if is_behind {
            at.seen = time;
            takes += costs.round_trip + costs.turn;
        }
        self.holder = Some(node);
        self.last = Some(node);
        self.push(time + takes, node, What::Ends);
    }
}

/// Draws from the exponential distribution of mean 1.
fn exponential(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // 53 bits are a fraction below 1.
    let fraction = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
    -(1.0 - fraction).ln()
}

/// Of the library: how long a node that does not get the turn waits before it asks again, how long one that
/// had it lets the others ask, and for how long it thinks of them.
const FIRST_PAUSE: f64 = 1.0;
const LONGEST_WAIT: f64 = 4.0;
const COURTESY: f64 = 6.0;
const RIVALRY: f64 = 1_000.0;
const STREAK: f64 = 250.0;
