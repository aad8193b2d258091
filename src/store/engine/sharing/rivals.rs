//! The other machines that want the turn, as far as this one knows of them.
//!
//! The turn goes to the machine that asks first once it is free, and those that were refused ask every few
//! milliseconds. One with changes at all times would be the first each time that it gives the turn back. So
//! it waits for as long as all others need to ask once: after each turn if it saw another lately, else from
//! time to time, since no machine learns that another waits in vain.

use std::time::Duration;

use grainstore_shared::Head;

/// The rivals of a machine; every time is of the clock that never goes back.
#[derive(Debug, Default)]
pub(super) struct Rivals {
    /// The end of the last frame of this machine.
    left: Option<Head>,
    /// When another was seen to have the turn, or to have had it.
    seen: Option<Duration>,
    /// When this machine gave the turn back.
    ended: Option<Duration>,
    /// Since when it has taken the turn again and again.
    since: Duration,
}

impl Rivals {
    /// Notes the head that a turn begins with: another machine has moved it, or none.
    pub(super) fn found(&mut self, head: Head, now: Duration) {
        if self.left.is_some_and(|left| left != head) {
            self.seen = Some(now);
        }
    }

    /// Notes that another machine has the turn.
    pub(super) const fn refused(&mut self, now: Duration) {
        self.seen = Some(now);
    }

    /// Notes the end of a frame of this machine.
    pub(super) const fn left(&mut self, head: Head) {
        self.left = Some(head);
    }

    /// Notes that this machine gave the turn back.
    pub(super) const fn ended(&mut self, now: Duration) {
        self.ended = Some(now);
    }

    /// Returns how long this machine leaves the turn to others before it asks again.
    pub(super) fn rest(&mut self, now: Duration) -> Duration {
        let ago = |time: Option<Duration>| time.map(|time| now.saturating_sub(time));
        let rest = ago(self.ended).map_or(Duration::ZERO, |ago| COURTESY.saturating_sub(ago));
        let has_rivals = ago(self.seen).is_some_and(|ago| ago < RIVALRY);
        let is_long = now.saturating_sub(self.since) > STREAK;
        if rest.is_zero() || is_long {
            self.since = now;
        }
        match has_rivals || is_long {
            true => rest,
            false => Duration::ZERO,
        }
    }
}

/// The longest pause of a machine that asks for the turn.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(4);
/// For so long one that had it lets the others ask: each does once in it.
const COURTESY: Duration = Duration::from_millis(6);
/// A machine that was seen within this time may want the turn.
const RIVALRY: Duration = Duration::from_secs(1);
/// After this long a machine that saw no other leaves the turn for once.
const STREAK: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_machine_rests_after_its_turn_if_it_saw_another() {
        let head = |entries| Head {
            entries,
            leaf: [0; 32],
        };
        let mut rivals = Rivals::default();
        assert_eq!(rivals.rest(ms(10)), ms(0), "it has had no turn");
        rivals.left(head(3));
        rivals.ended(ms(20));
        rivals.found(head(3), ms(21));
        assert_eq!(rivals.rest(ms(21)), ms(0), "it is alone");
        rivals.found(head(4), ms(22));
        assert_eq!(rivals.rest(ms(22)), ms(4));
        assert_eq!(rivals.rest(ms(30)), ms(0), "all have asked by then");
        rivals.ended(ms(2_000));
        assert_eq!(
            rivals.rest(ms(2_001)),
            ms(5),
            "it has kept the turn for long"
        );
        assert_eq!(rivals.rest(ms(2_001)), ms(0), "for once");
        rivals.refused(ms(2_002));
        assert_eq!(rivals.rest(ms(2_002)), ms(4));
    }
}
