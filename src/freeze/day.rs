//! Owns days: dates of the Gregorian calendar, in UTC, without a time.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// The day it is now, in UTC.
    pub fn today() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
        Day(i64::try_from(now / 86_400).unwrap_or(i64::MAX))
    }

    /// Reads `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Self> {
        let plain =
            text.len() == 10 && text.bytes().enumerate().all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() });
        let number = |from: usize, to: usize| text.get(from..to).filter(|_| plain)?.parse::<i64>().ok();
        let day = Day::of(number(0, 4)?, number(5, 7)?, number(8, 10)?);
        (day.to_string() == text).then_some(day)
    }

    /// How many days from here to another.
    pub fn until(self, other: Day) -> i64 {
        other.0 - self.0
    }

    /// The day so many days from here.
    #[must_use]
    pub fn plus(self, days: i64) -> Self {
        Day(self.0.saturating_add(days))
    }

    /// Years begin in March here, so that the day a leap year adds is the last.
    fn of(year: i64, month: i64, day: i64) -> Self {
        let year = year - i64::from(month <= 2);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Day(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0 + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        write!(f, "{:04}-{month:02}-{day:02}", year + era * 400 + i64::from(month <= 2))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Day::parse(&text).ok_or_else(|| D::Error::custom("a day is written YYYY-MM-DD"))
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn days_are_counted_as_the_calendar_has_them() {
        for (text, days) in
            [("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2024-03-01", 19_783), ("9999-12-31", 2_932_896)]
        {
            assert_eq!(Day::parse(text), Some(Day(days)), "{text}");
            assert_eq!(Day(days).to_string(), text);
        }
        for n in -100_000..100_000 {
            assert_eq!(Day::parse(&Day(n).to_string()), Some(Day(n)));
            assert_eq!(Day(n).plus(40).until(Day(n)), -40);
        }
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in [
            "",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-01",
            "24-01-01",
            "2024-01-32",
            "2024/01/01",
            "2024-01-01T00:00",
            "+024-01-01",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }
}
