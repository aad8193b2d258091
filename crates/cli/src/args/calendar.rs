//! The calendar in which a question names times.

use clap::{Args, ValueEnum};
use grainstore::Time;
use grainstore::text::{Ranking, utc_offset};

use super::values::time_from;

/// The clock and the calendar of the one who asks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calendar")]
pub(crate) struct Clock {
    /// Moment at which the question is asked: a time or a date [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    now: Option<Time>,
    /// Offset of the local time from UTC, such as +02:00
    #[arg(long, value_name = "OFFSET", value_parser = utc_offset, default_value = "Z", allow_hyphen_values = true)]
    utc_offset: i16,
    /// First day of the week
    #[arg(long, value_name = "DAY", default_value = "monday")]
    week_start: WeekStart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeekStart {
    Monday,
    Sunday,
}

impl Clock {
    /// Returns a ranking in this calendar.
    pub(crate) fn applied(&self, ranking: Ranking) -> Ranking {
        Ranking {
            now: self.now,
            utc_offset_minutes: self.utc_offset,
            weeks_from_sunday: self.week_start == WeekStart::Sunday,
            ..ranking
        }
    }
}
