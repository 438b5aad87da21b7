//! Times as captures write them.

use crate::protocol::message::Ts;
use jiff::tz::TimeZone;

/// Reads RFC 3339, and the same without zone (as if in UTC) or with a space and a comma: `2026-02-01 10:00:00,125`.
/// Digits beyond microseconds are dropped.
pub fn text(text: &[u8]) -> Option<Ts> {
    clock(text).map(|(ts, _)| ts)
}

/// As [`text`]; also says whether there is a zone.
pub fn clock(text: &[u8]) -> Option<(Ts, bool)> {
    let (ts, length, zoned) = prefix(text)?;
    (length == text.len()).then_some((ts, zoned))
}

/// When a clock in `zone` shows what one in UTC shows at `shown`. Of an hour that comes twice when a summer ends, the
/// first is meant.
pub fn in_zone(shown: Ts, zone: &TimeZone) -> Ts {
    let civil = shown.on_calendar();
    let moment = civil.and_then(|civil| zone.to_ambiguous_timestamp(civil).compatible().ok());
    moment.map_or(shown, |moment| Ts(moment.as_microsecond()))
}

/// As [`clock`], at the beginning of a line; also gives the length of the time.
pub fn prefix(text: &[u8]) -> Option<(Ts, usize, bool)> {
    let number = |from: usize, digits: usize| -> Option<i64> {
        text.get(from..from + digits)?
            .iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
    };
    let is = |at: usize, wanted: &[u8]| text.get(at).is_some_and(|byte| wanted.contains(byte));
    if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut at = 19;
    let mut micros = 0;
    if is(at, b".,") {
        at += 1;
        let digits = text.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        for place in 0..6 {
            micros = micros * 10 + if place < digits { number(at + place, 1)? } else { 0 };
        }
        at += digits;
    }
    let mut offset = 0;
    let zoned = is(at, b"Zz+-");
    if is(at, b"Zz") {
        at += 1;
    } else if is(at, b"+-") {
        let sign = if is(at, b"-") { -1 } else { 1 };
        let colon = usize::from(is(at + 3, b":"));
        let (hours, minutes) = (number(at + 1, 2)?, number(at + 3 + colon, 2)?);
        if hours > 23 || minutes > 59 {
            return None;
        }
        offset = sign * (hours * 60 + minutes) * 60;
        at += 5 + colon;
    }
    // A leap second counts as the second before it.
    let seconds = days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second.min(59) - offset;
    Some((on_calendar(seconds * 1_000_000 + micros)?, at, zoned))
}

/// A time that can be written again: of the years 0 to 9999, in UTC.
fn on_calendar(micros: i64) -> Option<Ts> {
    (-62_167_219_200_000_000..253_402_300_800_000_000).contains(&micros).then_some(Ts(micros))
}

/// Reads a number since the epoch; its size tells its unit: below 1e11 seconds, 1e14 milliseconds, 1e17 microseconds,
/// else nanoseconds.
pub fn number(text: &[u8]) -> Option<Ts> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(number) = text.parse::<i64>() {
        let micros = match number.unsigned_abs() {
            size if size < 100_000_000_000 => number.checked_mul(1_000_000)?,
            size if size < 100_000_000_000_000 => number.checked_mul(1_000)?,
            size if size < 100_000_000_000_000_000 => number,
            _ => number / 1_000,
        };
        return on_calendar(micros);
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let micros = match number.abs() {
        size if size < 1e11 => number * 1e6,
        size if size < 1e14 => number * 1e3,
        size if size < 1e17 => number,
        _ => number / 1e3,
    };
    (micros.abs() < 4e17).then(|| on_calendar(micros.round() as i64))?
}

fn leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, years 0 to 9999.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    const BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let month_index = usize::try_from(month - 1).unwrap_or(0);
    let in_year = BEFORE_MONTH.get(month_index).copied().unwrap_or(0) + i64::from(month > 2 && leap(year)) + day - 1;
    // Leap days before 1 January of the year, counted from year 0 (itself a leap year).
    let leap_days = |year: i64| if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    (year - 1970) * 365 + leap_days(year) - leap_days(1970) + in_year
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_jiff(seconds in -62_000_000_000_i64..250_000_000_000, nanos in 0_i32..1_000_000_000) {
            let moment = jiff::Timestamp::new(seconds, 0).unwrap().checked_add(jiff::SignedDuration::from_nanos(nanos.into())).unwrap();
            let micros = seconds * 1_000_000 + i64::from(nanos) / 1_000;
            prop_assert_eq!(clock(moment.to_string().as_bytes()), Some((Ts(micros), true)));
        }

        #[test]
        fn zones_agree_with_jiff(seconds in 0_i64..4_000_000_000, hours in -23_i32..=23, minutes in 0_i32..60) {
            let offset = jiff::tz::Offset::from_seconds(hours * 3_600 + hours.signum() * minutes * 60).unwrap();
            let moment = jiff::Timestamp::from_second(seconds).unwrap();
            let written = moment.display_with_offset(offset).to_string();
            prop_assert_eq!(clock(written.as_bytes()), Some((Ts(seconds * 1_000_000), true)), "{}", written);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), word in "[0-9TZ:., +-]{0,36}") {
            let _ = (text(&bytes), number(&bytes), text(word.as_bytes()), number(word.as_bytes()));
        }
    }

    #[test]
    fn a_time_is_one_that_can_be_written_again() {
        assert_eq!(text(b"9999-12-31T23:59:59.999999Z"), Some(Ts(253_402_300_799_999_999)));
        assert_eq!(text(b"0000-01-01T00:00:00Z"), Some(Ts(-62_167_219_200_000_000)));
        for outside in ["9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"] {
            assert_eq!(text(outside.as_bytes()), None, "{outside}");
        }
        assert_eq!(number(b"-99999999999"), None);
    }

    #[test]
    fn clocks_are_told_from_moments() {
        let shown = Ts(1_782_295_200_000_000);
        assert_eq!(clock(b"2026-06-24 10:00:00"), Some((shown, false)));
        assert_eq!(clock(b"2026-06-24 10:00:00Z"), Some((shown, true)));
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(Some(in_zone(shown, &zone)), text(b"2026-06-24T08:00:00Z"));
        // An hour that comes twice, and one that never comes.
        let twice = text(b"2026-10-25 02:30:00").unwrap();
        assert_eq!(Some(in_zone(twice, &zone)), text(b"2026-10-25T00:30:00Z"));
        let never = text(b"2026-03-29 02:30:00").unwrap();
        assert_eq!(Some(in_zone(never, &zone)), text(b"2026-03-29T01:30:00Z"));
    }

    #[test]
    fn reads_what_captures_write() {
        let moment = Some(Ts(1_769_940_000_125_000));
        for written in [
            "2026-02-01T10:00:00.125Z",
            "2026-02-01 10:00:00,125",
            "2026-02-01T12:00:00.125+02:00",
            "2026-02-01T12:00:00.125+0200",
            "2026-02-01t10:00:00.125000999z",
        ] {
            assert_eq!(text(written.as_bytes()), moment, "{written}");
        }
        for number_text in ["1769940000125", "1769940000.125", "1769940000125000", "1769940000125000000"] {
            assert_eq!(number(number_text.as_bytes()), moment, "{number_text}");
        }
        for wrong in [
            "2026-02-30T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-02-01T24:00:00Z",
            "2026-02-01",
            "2026-02-01T10:00:00.",
        ] {
            assert_eq!(text(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
