//! Times as text.

use crate::protocol::message::Ts;

/// RFC 3339 in UTC, with as many digits of a second as the time has (at most six). `None` outside the years that
/// RFC 3339 can write.
pub fn rfc3339(ts: Ts) -> Option<String> {
    ts.on_calendar().map(|time| format!("{time}Z")).filter(|text| !text.starts_with('-'))
}

/// To the second, without the letter T: for tables.
pub fn readable(ts: Ts) -> Option<String> {
    ts.on_calendar().map(|time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// The day.
pub fn day(ts: Ts) -> Option<String> {
    ts.on_calendar().map(|time| time.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_trimmed() {
        assert_eq!(rfc3339(Ts(1_767_225_600_000_000)).as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(rfc3339(Ts(1_767_225_600_120_000)).as_deref(), Some("2026-01-01T00:00:00.12Z"));
        assert_eq!(rfc3339(Ts(1_767_225_600_000_001)).as_deref(), Some("2026-01-01T00:00:00.000001Z"));
        assert_eq!(rfc3339(Ts(253_402_300_799_999_999)).as_deref(), Some("9999-12-31T23:59:59.999999Z"));
        assert_eq!(rfc3339(Ts(253_402_300_800_000_000)), None);
        assert_eq!(rfc3339(Ts(i64::MAX)), None);
        assert_eq!(rfc3339(Ts(i64::MIN)), None);
        assert_eq!(readable(Ts(1_767_225_600_120_000)).as_deref(), Some("2026-01-01 00:00:00"));
        assert_eq!(day(Ts(-1)).as_deref(), Some("1969-12-31"));
    }
}
