//! Suggests a description for a JSON log that no format knows: the content shows where messages sit, and what stands
//! beside them is judged by what it does (times are times, a word for the sender goes with messages that only one side
//! sends) before it is judged by its name.

mod survey;

use crate::capture::formats::{Word, word};
use crate::capture::sink::{Block, FileFacts};
use crate::capture::time;
use crate::protocol::message::{Direction, Ts};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use survey::{Entry, Survey, survey};

/// Words for the sender that one log uses.
const MOST_WORDS: usize = 6;

/// The text of a `[formats.NAME]` that reads the file whose beginning (`whole`: all of it) is given.
pub fn suggest(head: &[u8], whole: bool, file_name: &str) -> Option<String> {
    let survey = survey(head, whole)?;
    let text = describe(&survey, &name(file_name))?;
    // What is suggested is tried first.
    reads(&text, head, whole).then_some(text)
}

/// A name for the format, from that of the file.
fn name(file: &str) -> String {
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let plain: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "my-log".to_owned() } else { plain.to_owned() }
}

fn reads(text: &str, head: &[u8], whole: bool) -> bool {
    let Ok(formats) = super::load("mcptally.toml", text) else { return false };
    formats.iter().any(|format| {
        if format.is_of_records() {
            return format.recognise(head, whole).is_some();
        }
        let end = if whole { head.len() } else { memchr::memrchr(b'\n', head).map_or(0, |at| at + 1) };
        let bytes = Arc::new(head.get(..end).unwrap_or_default().to_vec());
        let block = Block { offset: 0, used: bytes.len(), bytes, first: true, last: whole };
        format.decode(&block, &FileFacts::default()).tally.messages > 0
    })
}

fn describe(survey: &Survey, name: &str) -> Option<String> {
    let bodies = Bodies::of(&survey.entries)?;
    let mut text = format!(
        "[formats.{name}]\n# messages are in {} of the first {} records\nkind = \"records\"\n",
        survey.with_messages, survey.records
    );
    if survey.arrangement != "lines" {
        let _ = writeln!(text, "records = {}", quoted(&survey.arrangement));
    }
    match survey.before {
        Some(true) => text.push_str("before = '(?P<at>\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d\\S*)?[^{]*'\n"),
        Some(false) => text.push_str("before = '[^{]*'\n"),
        None => {}
    }
    let facts = Facts::of(&survey.entries);
    let _ = writeln!(text, "{}", condition(survey, &bodies, &facts));
    if !survey.each.is_empty() {
        let _ = writeln!(text, "each = {}", quoted(&survey.each));
    }
    let time =
        facts.time().map(|place| quoted(&place)).or(survey.before.filter(|timed| *timed).map(|_| "\"$at\"".into()));
    if let Some(time) = &time {
        let _ = writeln!(text, "time = {time}");
    }
    for (key, hints) in [
        ("session", ["session", "conn"].as_slice()),
        ("server", ["server", "upstream", "backend"].as_slice()),
        ("client", ["client"].as_slice()),
    ] {
        if let Some(place) = facts.named(hints, &time) {
            let _ = writeln!(text, "{key} = {}", quoted(&place));
        }
    }
    match &bodies {
        Bodies::Single(places) => {
            let list: Vec<String> = places.iter().map(|place| quoted(place)).collect();
            let list = if let [one] = list.as_slice() { one.clone() } else { format!("[{}]", list.join(", ")) };
            let _ = writeln!(text, "body = {list}");
            match facts.direction() {
                Some(direction) => {
                    let _ = writeln!(text, "direction = {direction}");
                }
                None => text.push_str("# nothing says who sent a message: it is settled by what only one side sends\n"),
            }
        }
        Bodies::Pair { request, answer, by_clients } => {
            let _ = writeln!(text, "\n[[formats.{name}.message]]\nbody = {}", quoted(request));
            if *by_clients {
                text.push_str("direction = { is = \"client\" }\n");
            }
            let _ = writeln!(text, "\n[[formats.{name}.message]]\nanswers = true\nbody = {}", quoted(answer));
            if let (Some(time), Some((place, unit))) = (&time, facts.duration()) {
                let place = quoted(&place);
                let _ =
                    writeln!(text, "time = {{ at = {time}, plus = {place}, plus_unit = \"{unit}\" }} # check the unit");
            }
        }
    }
    Some(text)
}

/// What holds for all records with messages.
fn condition(survey: &Survey, bodies: &Bodies, facts: &Facts) -> String {
    let place = match bodies {
        _ if !survey.each.is_empty() => survey.each.trim_end_matches("/*").to_owned(),
        Bodies::Single(places) if places.len() > 1 => {
            let list: Vec<String> = places.iter().map(|place| quoted(place)).collect();
            return format!("match = [{{ at = [{}], there = true }}]", list.join(", "));
        }
        Bodies::Single(places) => places.first().cloned().unwrap_or_default(),
        Bodies::Pair { request, .. } => request.clone(),
    };
    let mut conditions = vec![format!("{{ at = {}, there = true }}", quoted(&place))];
    // A place that all of them have makes them harder to mistake.
    let time = facts.time().filter(|time| !time.starts_with('.'));
    conditions.extend(time.map(|time| format!("{{ at = {}, there = true }}", quoted(&time))));
    format!("match = [{}]", conditions.join(", "))
}

/// Where messages stand.
enum Bodies {
    /// An entry holds one, at the first of these places that it has.
    Single(Vec<String>),
    /// An entry holds a request and its answer.
    Pair { request: String, answer: String, by_clients: bool },
}

#[derive(Default)]
struct Seen {
    all: usize,
    asks: usize,
    by_servers: usize,
}

impl Bodies {
    fn of(entries: &[Entry]) -> Option<Self> {
        let mut places: BTreeMap<&str, Seen> = BTreeMap::new();
        for (place, sight) in entries.iter().flat_map(|entry| &entry.messages) {
            let seen = places.entry(place).or_default();
            seen.all += 1;
            seen.asks += usize::from(sight.asks);
            seen.by_servers += usize::from(sight.sender == Some(Direction::ServerToClient));
        }
        let together = entries.iter().any(|entry| entry.messages.len() > 1);
        let request = places.iter().max_by_key(|(_, seen)| seen.asks)?;
        let answer = places.iter().filter(|(_, seen)| seen.asks == 0).max_by_key(|(_, seen)| seen.all);
        if let (true, Some((answer, _))) = (together, answer) {
            let by_clients = request.1.by_servers == 0;
            return Some(Self::Pair { request: (*request.0).to_owned(), answer: (*answer).to_owned(), by_clients });
        }
        let mut order: Vec<(&str, usize)> = places.iter().map(|(place, seen)| (*place, seen.all)).collect();
        order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        Some(Self::Single(order.into_iter().map(|(place, _)| place.to_owned()).collect()))
    }
}

/// Values that stand beside messages, by place, with the number of the entry.
struct Facts<'e> {
    entries: &'e [Entry],
    places: BTreeMap<&'e str, Vec<(usize, &'e Value)>>,
}

impl<'e> Facts<'e> {
    fn of(entries: &'e [Entry]) -> Self {
        let mut places: BTreeMap<&str, Vec<(usize, &Value)>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate() {
            for (place, value) in &entry.facts {
                places.entry(place).or_default().push((number, value));
            }
        }
        Self { entries, places }
    }

    /// Places that (nearly) all entries have.
    fn usual(&self) -> impl Iterator<Item = (&'e str, &[(usize, &'e Value)])> {
        self.places
            .iter()
            .filter(|(_, values)| values.len() * 10 >= self.entries.len() * 9)
            .map(|(place, values)| (*place, values.as_slice()))
    }

    /// The place whose values are times, best if they do not go back and the name says so.
    fn time(&self) -> Option<String> {
        let candidates = self.usual().filter_map(|(place, values)| {
            let times: Option<Vec<Ts>> = values.iter().map(|(_, value)| moment(value)).collect();
            let times = times?;
            let ordered = times.is_sorted();
            let name = last(place);
            let named = ["time", "date", "stamp", "ts", "at", "when", "start"].iter().any(|hint| name.contains(hint))
                || name == "t";
            Some((u8::from(named) + u8::from(ordered), std::cmp::Reverse(place.len()), place))
        });
        candidates.max().map(|(.., place)| place.to_owned())
    }

    /// A number whose name says that it is how long something took, with its unit.
    fn duration(&self) -> Option<(String, &'static str)> {
        let hints = ["duration", "latency", "elapsed", "took"];
        let found = self.usual().find(|(place, values)| {
            let name = last(place);
            values.iter().all(|(_, value)| value.is_number()) && hints.iter().any(|hint| name.contains(hint))
        })?;
        let name = last(found.0);
        let unit = [("us", "us"), ("micro", "us"), ("ns", "ns"), ("nano", "ns"), ("sec", "s")];
        let unit = unit.iter().find(|(word, _)| name.ends_with(word) || (word.len() > 2 && name.contains(word)));
        Some((found.0.to_owned(), unit.map_or("ms", |(_, unit)| unit)))
    }

    /// A text whose name has one of the hints.
    fn named(&self, hints: &[&str], time: &Option<String>) -> Option<String> {
        let fits = |place: &str| hints.iter().position(|hint| place.to_ascii_lowercase().contains(hint));
        let texts = self.usual().filter(|(place, values)| {
            time.as_deref() != Some(&quoted(place))
                && values
                    .iter()
                    .all(|(_, value)| value.as_str().is_some_and(|text| !text.is_empty() && text.len() <= 200))
        });
        let best = texts.filter_map(|(place, _)| Some((fits(place)?, place.len(), place))).min();
        best.map(|(.., place)| place.to_owned())
    }

    /// What says who sent a message: a place whose few words go with messages that only one side sends.
    fn direction(&self) -> Option<String> {
        let mut best: Option<(usize, String)> = None;
        for (place, values) in self.usual() {
            let words: Option<Vec<(usize, &str)>> =
                values.iter().map(|(number, value)| Some((*number, value.as_str()?))).collect();
            let Some(words) = words else { continue };
            let distinct: BTreeSet<&str> = words.iter().map(|(_, word)| *word).collect();
            // These are kinds of messages, whoever sends them.
            let kinds = ["request", "response", "notification", "result", "error"];
            let few = (2..=MOST_WORDS).contains(&distinct.len()) && (distinct.len() < words.len() || words.len() == 2);
            let times = values.iter().all(|(_, value)| moment(value).is_some());
            if times || !few || distinct.iter().any(|word| kinds.contains(&word.to_ascii_lowercase().as_str())) {
                continue;
            }
            let mut senders: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
            for (number, word) in &words {
                let sights = self.entries.get(*number).map(|entry| entry.messages.as_slice()).unwrap_or_default();
                for sender in sights.iter().filter_map(|(_, sight)| sight.sender) {
                    senders.entry(word).or_default()[usize::from(sender == Direction::ServerToClient)] += 1;
                }
            }
            let evidence: usize = senders.values().flatten().sum();
            let agree = senders.values().all(|[c2s, s2c]| *c2s == 0 || *s2c == 0);
            let known = distinct.iter().all(|text| matches!(word(text.as_bytes()), Some(Word::Side(_))));
            if !agree || (evidence == 0 && !known) {
                continue;
            }
            let of = |[c2s, _]: &[usize; 2]| if *c2s > 0 { "client" } else { "server" };
            let mut table: BTreeMap<&str, &str> = senders.iter().map(|(word, counts)| (*word, of(counts))).collect();
            if let (2, Some((_, only)), 1) = (distinct.len(), table.clone().into_iter().next(), table.len()) {
                let other = if only == "client" { "server" } else { "client" };
                table.extend(distinct.iter().filter(|word| !senders.contains_key(*word)).map(|word| (*word, other)));
            }
            // One side for all words tells nothing; it is no word for the sender.
            if !known && table.values().collect::<BTreeSet<_>>().len() < 2 {
                continue;
            }
            let written = if known {
                quoted(place)
            } else {
                let table: Vec<String> =
                    table.iter().map(|(word, who)| format!("{} = \"{who}\"", quoted(word))).collect();
                format!("{{ at = {}, table = {{ {} }} }}", quoted(place), table.join(", "))
            };
            if best.as_ref().is_none_or(|(most, _)| evidence > *most) {
                best = Some((evidence, written));
            }
        }
        best.map(|(_, written)| written)
    }
}

/// The last name of a place, in lower case.
fn last(place: &str) -> String {
    place.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

/// A time of this century.
fn moment(value: &Value) -> Option<Ts> {
    let found = match value {
        Value::String(text) => time::text(text.as_bytes()).or_else(|| time::number(text.as_bytes())),
        Value::Number(number) => time::number(number.to_string().as_bytes()),
        _ => None,
    };
    found.filter(|ts| (946_684_800_000_000..4_102_444_800_000_000).contains(&ts.0))
}

/// Text as TOML writes it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
