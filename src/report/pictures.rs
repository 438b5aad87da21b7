//! Which pictures are made of a report, what they say, and what they are called.

mod chains;
mod rates;

use super::chart::argument::{Days, Values, days, values};
use super::chart::canvas::Canvas;
use super::chart::column::{Column, column};
use super::chart::sessions::{Dot, Sessions, sessions};
use super::chart::{font, paint};
use super::files::{Draft, LEFT_OUT, Output};
use super::grid::significant;
use super::model::{RenderOptions, Report};
use super::outline;
use super::printable::Page;
use crate::audit::tables::{Argument, Elicitation, Field, SessionVerdict};
use crate::audit::wording::{count, percent, plural};
use crate::protocol::message::Text;
use std::io;

/// Pictures of one kind; more arguments or columns than this are left to the tables, and the folder says so.
const PER_KIND: usize = 20;
/// Graphemes of a name in a title, and in a list.
const NAME: usize = 40;
const SHORT: usize = 16;
/// Stale sessions named beside the picture.
const NAMED: usize = 12;

/// The folder `charts/`.
pub struct Charts;

impl Output for Charts {
    fn paths(&self) -> &'static [&'static str] {
        &["charts/"]
    }

    fn write(&self, report: &Report, options: &RenderOptions, dir: &Draft) -> io::Result<()> {
        if !font::register() {
            return Err(io::Error::other("the compiled-in font cannot be read"));
        }
        let (pictures, left_out) = pictures(report, options);
        for (name, canvas) in &pictures {
            paint::png(canvas, &dir.path(&format!("charts/{name}.png")))?;
            paint::svg(canvas, &dir.path(&format!("charts/{name}.svg")))?;
        }
        if let Some(left_out) = left_out {
            dir.file(&format!("charts/{LEFT_OUT}"), |file| io::Write::write_all(file, left_out.as_bytes()))?;
        }
        Ok(())
    }
}

/// All pictures with their names, and a sentence about those that were not made.
pub fn pictures(report: &Report, options: &RenderOptions) -> (Vec<(String, Canvas)>, Option<String>) {
    let artist = Artist { page: Page::new(report, options) };
    let audit = &report.audit;
    let mut made = Vec::new();
    let mut missing = Vec::new();
    let mut keep = |kind: &str, noun: &str, all: Vec<(String, Canvas)>| {
        let left = all.len().saturating_sub(PER_KIND);
        if left > 0 {
            missing.push(format!("{} of {kind}\n", plural(left as u64, noun)));
        }
        made.extend(all.into_iter().take(PER_KIND));
    };
    let arguments: Vec<&Argument> =
        outline::by_unintended(&audit.arguments).into_iter().filter(|row| row.unintended > 0).collect();
    keep("values of arguments", "picture", arguments.iter().map(|row| artist.values(row)).collect());
    keep("calls per day", "picture", arguments.iter().filter_map(|row| artist.days(row)).collect());
    let columns = outline::by_unusable(&audit.elicitations);
    keep(
        "elicited columns",
        "picture",
        columns.into_iter().filter_map(|(row, field)| artist.column(row, field)).collect(),
    );
    let mut verdicts: Vec<&SessionVerdict> = audit.session_verdicts.iter().filter(|row| row.bad > 0).collect();
    verdicts.sort_by_key(|row| std::cmp::Reverse(row.bad));
    keep("sessions", "picture", verdicts.into_iter().map(|row| artist.sessions(report, row)).collect());
    let chains = outline::by_lost(&audit.questions.chains);
    keep("chains of questions", "picture", chains.into_iter().filter_map(|row| artist.chain(row)).collect());
    keep("rates over time", "picture", rates::changed(&audit.rates).filter_map(|row| artist.rate(row)).collect());
    let left_out =
        (!missing.is_empty()).then(|| format!("Not drawn (their numbers stand in tables/):\n{}", missing.concat()));
    (made, left_out)
}

struct Artist<'a> {
    page: Page<'a>,
}

impl Artist<'_> {
    fn name(&self, name: &Text) -> String {
        self.page.name(name).chart(NAME)
    }

    fn prompt(&self, name: Option<&Text>) -> String {
        self.page.optional_name(name.map(|name| &**name)).chart(NAME)
    }

    fn values(&self, row: &Argument) -> (String, Canvas) {
        let mut classes: Vec<(String, u64, u64)> = row
            .classes
            .iter()
            .filter(|(class, n)| **class != "intended" && n.calls > 0)
            .map(|(class, n)| ((*class).to_owned(), n.calls, n.distinct))
            .collect();
        classes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut tail: Vec<u64> = row
            .values
            .iter()
            .filter(|value| value.class.is_some_and(|class| class != "intended"))
            .map(|value| value.calls)
            .collect();
        tail.sort_unstable_by(|a, b| b.cmp(a));
        let share = row.unintended as f64 / row.calls.max(1) as f64;
        let picture = Values {
            title: format!(
                "{} of {}: {} of {} ({} %) carry a value nobody intended, in {}",
                self.name(&row.argument),
                self.prompt(row.prompt.as_ref()),
                count(row.unintended),
                plural(row.calls, "call"),
                percent(share),
                plural(row.unintended_distinct, "spelling")
            ),
            subtitle: format!(
                "{} calls = {} intended + {} unintended + {} absent + {} not judged or not captured",
                count(row.calls),
                count(row.intended),
                count(row.unintended),
                count(row.absent),
                count(row.not_captured + row.not_declared_then + row.not_judged)
            ),
            classes,
            tail,
        };
        (self.file("values", &[Some(&row.server), row.prompt.as_ref(), Some(&row.argument)]), values(&picture))
    }

    fn days(&self, row: &Argument) -> Option<(String, Canvas)> {
        let (first, last) = (row.days.first()?, row.days.last()?);
        if row.days.len() < 2 {
            return None;
        }
        let bad = row.days.iter().filter(|(_, _, unintended)| *unintended > 0).count();
        let picture = Days {
            title: format!(
                "{} of {}: unintended values arrive on {} of {} with calls",
                self.name(&row.argument),
                self.prompt(row.prompt.as_ref()),
                count(bad as u64),
                plural(row.days.len() as u64, "day")
            ),
            subtitle: format!("{} to {}, calls with a value and a set to judge it by", first.0, last.0),
            days: every_day(&row.days),
        };
        Some((self.file("days", &[Some(&row.server), row.prompt.as_ref(), Some(&row.argument)]), days(&picture)))
    }

    fn column(&self, row: &Elicitation, field: &Field) -> Option<(String, Canvas)> {
        if !field.declared || field.points.len() < 2 || !matches!(field.measure, "number" | "length" | "items") {
            return None;
        }
        let bound = |of: fn(&crate::audit::tables::DeclaredBounds) -> Option<&Text>| {
            let mut bounds: Vec<(u64, f64, String)> = Vec::new();
            for declared in &field.declared_bounds {
                let Some(text) = of(declared) else { continue };
                let Ok(number) = text.parse::<f64>() else { continue };
                let text = self.page.name(text).chart(NAME);
                match bounds.iter_mut().find(|(_, known, _)| *known == number) {
                    Some((asked, _, _)) => *asked += declared.asked,
                    None => bounds.push((declared.asked, number, text)),
                }
            }
            bounds.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
            bounds.into_iter().map(|(_, number, text)| (number, text)).collect::<Vec<_>>()
        };
        let (minimum, maximum) = (bound(|b| b.minimum.as_ref()), bound(|b| b.maximum.as_ref()));
        let outside = field
            .points
            .iter()
            .filter(|point| {
                minimum.iter().any(|(low, _)| *point < low) || maximum.iter().any(|(high, _)| *point > high)
            })
            .count();
        let thinned = (field.points.len() as u64) < field.n;
        let text = |text: Option<&Text>| text.map_or_else(|| "?".to_owned(), |text| self.page.name(text).chart(SHORT));
        let (smallest, largest) = (text(field.min.as_ref()), text(field.max.as_ref()));
        let median = field.median.map(significant).unwrap_or_default();
        let (what, unit) = match field.measure {
            "length" => ("length in characters", " characters"),
            "items" => ("number of items", " items"),
            _ => ("value", ""),
        };
        let has_bounds = !minimum.is_empty() || !maximum.is_empty();
        let picture = Column {
            title: if has_bounds && outside > 0 {
                format!(
                    "{} of {}: {} of {} {} outside the declared bounds; the median ({median}) shows none of it",
                    self.name(&field.field),
                    self.name(&row.operation),
                    count(outside as u64),
                    plural(field.points.len() as u64, "answer"),
                    if outside == 1 { "lies" } else { "lie" }
                )
            } else {
                format!(
                    "{} of {}: {} between {smallest} and {largest}{unit}, median {median}{}",
                    self.name(&field.field),
                    self.name(&row.operation),
                    plural(field.n, "answer"),
                    if has_bounds { ", all inside the declared bounds" } else { "" }
                )
            },
            subtitle: format!(
                "Each dot is one accepted answer{}; the box holds the middle half, the bar in it is the median{}",
                if thinned {
                    format!(" ({} of {} drawn, evenly thinned)", count(field.points.len() as u64), count(field.n))
                } else {
                    String::new()
                },
                if outside > 0 { "; triangles lie outside the bounds" } else { "" }
            ),
            axis: format!("{what} of {}", self.name(&field.field)),
            points: field.points.clone(),
            minimum,
            maximum,
            smallest,
            largest,
        };
        Some((self.file("column", &[Some(&row.server), Some(&row.operation), Some(&field.field)]), column(&picture)))
    }

    fn sessions(&self, report: &Report, row: &SessionVerdict) -> (String, Canvas) {
        let mut units: Vec<_> = report
            .audit
            .sessions
            .iter()
            .filter(|unit| unit.server == row.server && unit.prompt == row.prompt && unit.attempts > 0)
            .collect();
        units.sort_by(|a, b| (b.stale, b.bad).cmp(&(a.stale, a.bad)).then_with(|| a.session.cmp(&b.session)));
        let stale: Vec<_> = units.iter().filter(|unit| unit.stale).collect();
        let throughout = units.iter().filter(|unit| unit.bad == unit.attempts).count();
        let mut named: Vec<String> = stale
            .iter()
            .take(NAMED)
            .map(|unit| {
                let client =
                    unit.client.as_ref().map_or_else(|| "?".to_owned(), |name| self.page.name(name).chart(SHORT));
                format!("{client}, {}: {} of {}", self.page.name(&unit.session).chart(10), unit.bad, unit.attempts)
            })
            .collect();
        if stale.len() > NAMED {
            named.push(format!("and {} more in tables/sessions.csv", count((stale.len() - NAMED) as u64)));
        }
        let picture = Sessions {
            title: format!(
                "{}: {} of {} {} throughout, {} of them for a stale declaration",
                self.prompt(row.prompt.as_ref()),
                count(throughout as u64),
                plural(units.len() as u64, "session"),
                if throughout == 1 { "fails" } else { "fail" },
                count(units.iter().filter(|unit| unit.stale && unit.bad == unit.attempts).count() as u64)
            ),
            subtitle: format!(
                "{}; {} in all, {} bad. A session counts once for each declaration in effect",
                super::words::verdict(row.verdict),
                plural(units.iter().map(|unit| unit.attempts).sum(), "attempt"),
                count(units.iter().map(|unit| unit.bad).sum())
            ),
            dots: units.iter().map(|unit| Dot { attempts: unit.attempts, bad: unit.bad, stale: unit.stale }).collect(),
            named,
        };
        (self.file("sessions", &[Some(&row.server), row.prompt.as_ref()]), sessions(&picture))
    }

    /// A file name that every system takes: what is left of the names, and a hash that tells equal remains apart.
    fn file(&self, kind: &str, names: &[Option<&Text>]) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut slug = kind.to_owned();
        for name in names {
            let name = name.map_or("", |name| name);
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            slug.push('-');
            slug.extend(
                self.page
                    .exact_name(name)
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
                    .take(24),
            );
        }
        format!("{slug}-{}", &hasher.finalize().to_hex()[..6])
    }
}

/// Days without calls stand in the picture too.
fn every_day(days: &[(String, u64, u64)]) -> Vec<(String, u64, u64)> {
    /// More days than pixels are drawn as they are.
    const MOST: usize = 800;
    let parse = |day: &str| day.parse::<jiff::civil::Date>().ok();
    let (Some(first), Some(last)) =
        (days.first().and_then(|day| parse(&day.0)), days.last().and_then(|day| parse(&day.0)))
    else {
        return days.to_vec();
    };
    let mut all = Vec::new();
    let mut known = days.iter().peekable();
    let mut day = first;
    while day <= last && all.len() < MOST {
        let text = day.to_string();
        all.push(known.next_if(|known| known.0 == text).cloned().unwrap_or((text, 0, 0)));
        match day.tomorrow() {
            Ok(next) => day = next,
            Err(_) => break,
        }
    }
    if known.peek().is_some() { days.to_vec() } else { all }
}
