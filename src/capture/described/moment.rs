//! Times as descriptions say they are written.

use super::language::{Places, Source};
use super::text::{Item, Read};
use crate::capture::time;
use crate::protocol::message::Ts;
use jiff::tz::TimeZone;

impl Places<'_> {
    /// `"/place"`, or `{ at = …, unit = "ms", format = "%d.%m.%Y %H:%M:%S", zone = "Europe/Berlin", plus = …, plus_unit = "ms" }`.
    pub fn moment(&mut self, item: Item<'_>, zone: Option<&TimeZone>) -> Read<Moment> {
        let mut moment = Moment { zone: zone.cloned(), ..Moment::default() };
        if !item.is_table() {
            moment.from = self.sources(item, "time")?;
            return Ok(moment);
        }
        let table = item.table()?;
        moment.from = self.sources(table.required("at")?, "time")?;
        moment.unit = table.get("unit").map(unit).transpose()?;
        for format in table.get("format").map(Item::list).unwrap_or_default() {
            let text = format.text()?;
            if let Err(error) = jiff::fmt::strtime::format(text, jiff::Timestamp::UNIX_EPOCH) {
                return format.fault(format!("no time format: {error}"));
            }
            moment.formats.push(text.into());
        }
        if let Some(zone) = table.get("zone") {
            moment.zone = Some(self::zone(zone)?);
        }
        if let Some(plus) = table.get("plus") {
            let from = self.sources(plus, "plus")?;
            let unit = table.get("plus_unit").map(unit).transpose()?.unwrap_or(Unit::Milli);
            moment.plus = Some((from, unit));
        }
        table.finish()?;
        Ok(moment)
    }
}

/// The name of a time zone.
pub fn zone(item: Item<'_>) -> Read<TimeZone> {
    let name = item.text()?;
    TimeZone::get(name).or_else(|_| {
        item.fault(format!("`{name}` is no time zone; names are those of the IANA, such as Europe/Berlin or UTC"))
    })
}

fn unit(item: Item<'_>) -> Read<Unit> {
    Ok(match item.text()? {
        "s" => Unit::Second,
        "ms" => Unit::Milli,
        "us" => Unit::Micro,
        "ns" => Unit::Nano,
        other => return item.fault(format!("`{other}` is no unit of time; the units are s, ms, us, ns")),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Second,
    Milli,
    Micro,
    Nano,
}

impl Unit {
    /// A number of this unit in microseconds.
    fn micros(self, text: &str) -> Option<i64> {
        let (times, over) = match self {
            Self::Second => (1_000_000, 1),
            Self::Milli => (1_000, 1),
            Self::Micro => (1, 1),
            Self::Nano => (1, 1_000),
        };
        if let Ok(number) = text.parse::<i64>() {
            return (number / over).checked_mul(times);
        }
        let number: f64 = text.parse().ok()?;
        let micros = number * times as f64 / over as f64;
        // Years beyond these are no times of a capture.
        (micros.abs() < 4e17).then_some(micros.round() as i64)
    }
}

/// A time and how it is written.
#[derive(Debug, Default)]
pub struct Moment {
    pub from: Vec<Source>,
    unit: Option<Unit>,
    /// Tried in order; what is in none of them is read as if there were none.
    formats: Vec<Box<str>>,
    zone: Option<TimeZone>,
    /// A duration to be added.
    pub plus: Option<(Vec<Source>, Unit)>,
}

/// A time that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    At(Ts),
    /// On a clock whose zone is not known: the moment at which one in UTC shows it.
    OnAClock(Ts),
}

impl Moment {
    /// Reads the text of a time: in its format, or RFC 3339 and its relatives, or a number since the epoch whose size
    /// tells the unit unless one is given.
    pub fn read(&self, text: &str) -> Option<When> {
        let text = text.trim();
        for broken in self.formats.iter().filter_map(|format| jiff::fmt::strtime::parse(&**format, text).ok()) {
            if let Ok(moment) = broken.to_timestamp() {
                return Some(When::At(Ts(moment.as_microsecond())));
            }
            if let Ok(civil) = broken.to_datetime() {
                let shown = TimeZone::UTC.to_timestamp(civil).ok()?;
                return Some(self.on_a_clock(Ts(shown.as_microsecond())));
            }
        }
        if let Some(unit) = self.unit {
            return unit.micros(text).map(|micros| When::At(Ts(micros)));
        }
        match time::prefix(text.as_bytes()) {
            Some((ts, length, true)) if length == text.len() => Some(When::At(ts)),
            Some((ts, length, false)) if length == text.len() => Some(self.on_a_clock(ts)),
            _ => time::number(text.as_bytes()).map(When::At),
        }
    }

    fn on_a_clock(&self, shown: Ts) -> When {
        match &self.zone {
            Some(zone) => When::At(time::in_zone(shown, zone)),
            None => When::OnAClock(shown),
        }
    }

    /// Adds a duration to a time that was read.
    pub fn later(ts: Ts, text: &str, unit: Unit) -> Ts {
        unit.micros(text.trim()).and_then(|micros| ts.0.checked_add(micros)).map_or(ts, Ts)
    }
}
