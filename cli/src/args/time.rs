//! Moments as a person writes them: `2027-01-31`, `yesterday`, `2h`. Pure.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp, ToSpan as _, civil::Date, tz::TimeZone};

/// A moment, exact or relative to the time of the command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Moment {
    At(Timestamp),
    /// A distance: into the past or into the future, as the option says.
    Away(SignedDuration),
    /// The beginning of the day (UTC) so many days ago.
    DaysAgo(i64),
}

impl Moment {
    /// Returns the moment, with a distance into the past.
    #[must_use]
    pub fn in_the_past(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Away(distance) => now.checked_sub(distance).unwrap_or(Timestamp::MIN),
            Self::At(_) | Self::DaysAgo(_) => self.fixed(now),
        }
    }

    /// Returns the moment, with a distance into the future.
    #[must_use]
    pub fn in_the_future(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Away(distance) => now.checked_add(distance).unwrap_or(Timestamp::MAX),
            Self::At(_) | Self::DaysAgo(_) => self.fixed(now),
        }
    }

    fn fixed(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Away(_) => now,
            Self::DaysAgo(days) => {
                let day = now.to_zoned(TimeZone::UTC).date();
                day.checked_sub(days.days()).ok().and_then(midnight).unwrap_or(Timestamp::MIN)
            }
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "now" => return Ok(Self::Away(SignedDuration::ZERO)),
            "today" => return Ok(Self::DaysAgo(0)),
            "yesterday" => return Ok(Self::DaysAgo(1)),
            _ => {}
        }
        if let Ok(time) = text.parse() {
            return Ok(Self::At(time));
        }
        if let Some(time) = text.parse().ok().and_then(midnight) {
            return Ok(Self::At(time));
        }
        distance(text).map(Self::Away).ok_or_else(|| {
            "expected a time such as `2027-01-31T00:00:00Z`, `2027-01-31`, `yesterday` or `2h`"
                .to_owned()
        })
    }
}

fn midnight(date: Date) -> Option<Timestamp> {
    date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Reads a whole number with a unit: `90s`, `30min`, `2h`, `3d` or `1w`.
fn distance(text: &str) -> Option<SignedDuration> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (count, unit) = text.split_at(end);
    let seconds = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    count.parse::<i64>().ok()?.checked_mul(seconds).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        let now: Timestamp = "2026-10-01T12:00:00Z".parse().unwrap();
        let past = |text: &str| text.parse::<Moment>().map(|it| it.in_the_past(now).to_string());
        for (text, time) in [
            ("2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z"),
            ("2027-01-31", "2027-01-31T00:00:00Z"),
            ("today", "2026-10-01T00:00:00Z"),
            ("yesterday", "2026-09-30T00:00:00Z"),
            ("2h", "2026-10-01T10:00:00Z"),
            ("3d", "2026-09-28T12:00:00Z"),
            ("now", "2026-10-01T12:00:00Z"),
        ] {
            assert_eq!(past(text).as_deref(), Ok(time), "{text}");
        }
        let future = "90min".parse::<Moment>().unwrap().in_the_future(now);
        assert_eq!(future.to_string(), "2026-10-01T13:30:00Z");
        for bad in ["", "2", "h", "2 h", "tomorrow-ish", "-2h", "9999999999999999999d"] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
    }
}
