//! Rates that changed, by day or week.

use super::Artist;
use crate::audit::tables::{Evidence, RateSeries};
use crate::audit::wording::{count, minute, percent, plural};
use crate::protocol::message::Ts;
use crate::report::chart::canvas::Canvas;
use crate::report::chart::rate::{Point, RateOverTime, Shift, rate};
use crate::report::outline;
use jiff::civil::Date;

const DAY: f64 = 86_400_000_000.0;
/// Pixels that a label under the axis takes, of those that the axis has.
const LABELS: u32 = 9;

/// Series with a change that the test names, and those of which days differ: a table shows neither.
pub fn changed(rows: &[RateSeries]) -> impl Iterator<Item = &RateSeries> {
    let worth = |row: &&RateSeries| matches!(row.change.verdict, "change" | "stretch" | "days differ");
    outline::by_change(rows).into_iter().filter(worth).filter(|row| row.periods.len() > 1)
}

impl Artist<'_> {
    pub fn rate(&self, row: &RateSeries) -> Option<(String, Canvas)> {
        let parse = |day: &str| day.parse::<Date>().ok();
        let (first, last) = (row.periods.first()?, row.periods.last()?);
        let start = parse(&first.day)?;
        let step = if row.unit == "week" { 7 } else { 1 };
        let days_from_start = |day: Date| u32::try_from((day - start).get_days()).ok();
        let place = |day: &str| Some(days_from_start(parse(day)?)? / step);
        let length = place(&last.day)? + 1;
        let points: Vec<Point> = row
            .periods
            .iter()
            .filter_map(|period| {
                let rate = period.rate?;
                Some(Point { place: place(&period.day)?, rate: rate.rate, low: rate.low, high: rate.high })
            })
            .collect();
        let every = length.div_ceil(LABELS).max(1);
        let label = |place: u32| {
            let days = i64::from(place) * i64::from(step);
            Some((place, start.checked_add(jiff::Span::new().days(days)).ok()?.to_string()))
        };
        let days = (0..length).step_by(every as usize).filter_map(label).collect();
        let moment = |at: &Evidence| {
            let since = at.ts?.0.checked_sub(Ts::of_day(start).0)?;
            Some(since as f64 / DAY / f64::from(step))
        };
        let change = &row.change;
        let shift =
            change.first_after.as_ref().zip(change.before).zip(change.after).and_then(|((at, before), after)| {
                Some(Shift {
                    from: moment(at)?,
                    to: change.last_inside.as_ref().and_then(moment),
                    before: before.rate.rate,
                    after: after.rate.rate,
                })
            });
        let picture = RateOverTime {
            title: self.rate_title(row),
            subtitle: format!(
                "{} of {}, {} to {} by {}; lines are the rates that the split leaves on its sides",
                count(row.hits),
                plural(row.n, "call"),
                first.day,
                last.day,
                row.unit
            ),
            axis: format!("share of calls, {}", row.kind),
            points,
            length,
            days,
            change: shift,
        };
        let names = [Some(&row.server), row.prompt.as_ref(), row.operation.as_ref(), row.argument.as_ref()];
        let names: Vec<_> = names.into_iter().filter(Option::is_some).collect();
        Some((self.file(&format!("rate-{}", row.kind), &names), rate(&picture)))
    }

    fn rate_title(&self, row: &RateSeries) -> String {
        let subject = row.operation.as_ref().or(row.prompt.as_ref());
        let subject = match &row.argument {
            Some(argument) => format!("{} of {}", self.name(argument), self.prompt(subject)),
            None => self.prompt(subject),
        };
        let change = &row.change;
        let minute = |at: &Option<Evidence>| at.as_ref().and_then(|at| at.ts).and_then(minute).unwrap_or_default();
        let (Some(before), Some(after)) = (change.before, change.after) else {
            return format!("{subject}: the share of {} calls differs from day to day", row.kind);
        };
        let (old, new) = (percent(before.rate.rate), percent(after.rate.rate));
        let from = minute(&change.first_after);
        match &change.last_inside {
            Some(_) => format!(
                "{subject}: {new} % of calls are {} from {from} to {} UTC, {old} % before and after",
                row.kind,
                minute(&change.last_inside)
            ),
            None => format!("{subject}: {old} % of calls are {} until {from} UTC, {new} % from then on", row.kind),
        }
    }
}
