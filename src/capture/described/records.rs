//! Descriptions of JSON records: what they say, checked and compiled.

use super::Names;
use super::language::{Condition, Origin, Places, Pointer, Sender, Source, Test, Value};
use super::moment::Moment;
use super::pattern::Pattern;
use super::pointer::{Step, Tree, steps};
use super::text::{Item, Read, Table, fault};
use crate::capture::formats::About;
use jiff::tz::TimeZone;

/// Pointers of one description: what they found is told apart by a bit each.
pub(super) const MOST_POINTERS: usize = 64;

/// What a description of records says.
#[derive(Debug, Default)]
pub struct Description {
    /// Where records stand in a file.
    pub arrangements: Vec<Arrangement>,
    /// What may stand before the JSON on a line.
    pub before: Option<Pattern>,
    /// Steps from a record to its entries, in one way or several, equally long; none where a record is its only entry.
    pub each: Vec<Vec<Step>>,
    pub pointers: Vec<Pointer>,
    /// What to look for, by the number of steps down to where the pointers begin.
    pub trees: Vec<Tree>,
    /// All of these hold for a record of this format.
    pub matches: Vec<Condition>,
    /// One of these holds for an entry that is no message.
    pub noise: Vec<Condition>,
    /// What the report counts of records, by the notes of these conditions.
    pub counted: Vec<Condition>,
    /// One of these holds where a body was cut, or values in it were hidden.
    pub truncated: Vec<Condition>,
    pub redacted: Vec<Condition>,
    /// What stands in place of a hidden value.
    pub placeholders: Vec<Box<str>>,
    /// What stands where a body was cut.
    pub cut_marks: Vec<Box<str>>,
    pub facts: Where,
    pub messages: Vec<MessageAt>,
    /// Records stand in the order in which what they tell of ended, or in none: messages are put in that of their times.
    pub by_time: bool,
    /// A number that grows by one with each record of a session.
    pub sequence: Option<Value>,
}

/// How records are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// One a line.
    Lines,
    /// One after the other, each over as many lines as it takes.
    Values,
    /// Elements of the array to which these names lead.
    Array(&'static [&'static str]),
}

/// Where what a record says about its messages stands.
#[derive(Debug, Default)]
pub struct Where {
    pub time: Option<Moment>,
    pub direction: Option<Sender>,
    pub session: Option<Value>,
    pub server: Option<Value>,
    pub client: Option<Value>,
}

/// A message that an entry may hold.
#[derive(Debug, Default)]
pub struct MessageAt {
    pub when: Vec<Condition>,
    pub facts: Where,
    /// A whole message, or an array of them.
    pub body: Vec<Source>,
    /// Requests in it stand without their ids.
    pub bare: bool,
    /// It answers the request of the same entry.
    pub answers: bool,
    /// An answer came even where its body was not kept.
    pub always: bool,
    /// The source keeps no answers: this one stands for whatever came.
    pub unseen: bool,
    /// The parts of a message that the record does not hold as one.
    pub method: Option<Value>,
    pub id: Option<Value>,
    pub params: Vec<Source>,
    /// Where no parameters were kept: the prompt or tool that was asked for, and the argument to be completed.
    pub name: Option<Value>,
    pub argument: Option<Value>,
    pub typed: Option<Value>,
    pub result: Vec<Source>,
    pub error: Option<ErrorAt>,
    /// One of these holds for an answer that is an error.
    pub failed: Vec<Condition>,
    /// Requests without ids and their answers are joined in order where these values are equal.
    pub pairs: Vec<Value>,
    /// Lists of values that only copies of one message share.
    pub once: Vec<Once>,
}

impl MessageAt {
    /// Whether nothing says what the message is.
    pub fn is_nothing(&self) -> bool {
        self.body.is_empty() && self.method.is_none() && !self.answers
    }
}

/// How copies of one message are known.
#[derive(Debug)]
pub struct Once {
    /// A message with these values was there.
    pub shows: Vec<Value>,
    /// It is a copy of one that showed these.
    pub unless: Vec<Value>,
}

#[derive(Debug)]
pub enum ErrorAt {
    /// An error object, or its text.
    Whole(Vec<Source>),
    Parts {
        code: Option<Value>,
        message: Option<Value>,
    },
}

/// Reads what stands in a description beside its name and what is said about it.
pub fn read(table: &Table<'_>, text: &str, origin: Origin) -> Read<Description> {
    let each = table.get("each").map(ways).transpose()?.unwrap_or_default();
    let depth = each.first().map_or(0, Vec::len);
    let mut places = Places::new(text, Some(depth), origin);
    let zone = table.get("zone").map(super::moment::zone).transpose()?;
    let arrangements = match table.get("records") {
        Some(item) => item.list().into_iter().map(arrangement).collect::<Read<Vec<_>>>()?,
        None => vec![Arrangement::Lines],
    };
    let before = table.get("before").map(|item| places.pattern(item)).transpose()?;
    let matches = places.conditions(table.get("match"), "match")?;
    if let (Some(item), true) = (table.get("records"), matches.is_empty())
        && arrangements.len() > 1
    {
        return item.fault("which of several arrangements a file has is seen by `match`: say what holds for a record");
    }
    if let Some(pointer) = places.pointers.iter().find(|pointer| pointer.level > 0) {
        let span = table.required("match")?.span();
        return fault(format!("`match` is about whole records: `{}` is a place in an entry", pointer.shown), span);
    }
    let counted = places.conditions(table.get("count"), "count")?;
    if let Some(pointer) = places.pointers.iter().find(|pointer| pointer.level > 0) {
        let span = table.required("count")?.span();
        return fault(format!("`count` is about whole records: `{}` is a place in an entry", pointer.shown), span);
    }
    if counted.iter().any(|condition| condition.note.is_none()) {
        return fault("what is counted needs a `note` that says what it is", table.required("count")?.span());
    }
    let noise = places.conditions(table.get("noise"), "noise")?;
    let truncated = places.conditions(table.get("truncated"), "truncated")?;
    let redacted = places.conditions(table.get("redacted"), "redacted")?;
    let facts = places.facts(table, zone.as_ref())?;
    let by_time = match table.get("order") {
        Some(item) => match item.text()? {
            "time" => true,
            "file" => false,
            other => return item.fault(format!("`{other}` is no order of messages: write file or time")),
        },
        None => false,
    };
    let sequence = places.optional_value(table, "sequence")?;
    let mut messages = Vec::new();
    if let Some(body) = table.get("body") {
        messages.push(MessageAt { body: places.sources(body, "body")?, ..MessageAt::default() });
    }
    for item in table.get("message").map(Item::list).unwrap_or_default() {
        let known = places.groups.len();
        messages.push(places.message(item, zone.as_ref())?);
        places.groups.truncate(known);
    }
    if messages.is_empty() {
        return fault("neither `body` nor a [[message]] says where messages stand", table.span());
    }
    if places.pointers.len() > MOST_POINTERS {
        return fault(format!("more than {MOST_POINTERS} places"), table.span());
    }
    Ok(Description {
        arrangements,
        before,
        each,
        trees: trees(&places.pointers, depth),
        matches,
        noise,
        counted,
        truncated,
        redacted,
        placeholders: texts(table.get("placeholders"))?,
        cut_marks: texts(table.get("cut_marks"))?,
        facts,
        messages,
        by_time,
        sequence,
        pointers: places.pointers,
    })
}

/// What to look for on each level of the way from a record to its entries.
pub(super) fn trees(pointers: &[Pointer], depth: usize) -> Vec<Tree> {
    let mut trees: Vec<Tree> = (0..=depth).map(|_| Tree::default()).collect();
    for (slot, pointer) in pointers.iter().enumerate() {
        if let Some(tree) = trees.get_mut(pointer.level) {
            tree.add(&pointer.steps, slot);
        }
    }
    trees
}

/// The ways from a record to its entries.
fn ways(item: Item<'_>) -> Read<Vec<Vec<Step>>> {
    let mut ways: Vec<Vec<Step>> = Vec::new();
    for item in item.list() {
        let way = steps(item.text()?).or_else(|reason| item.fault(reason))?;
        if ways.first().is_some_and(|first| first.len() != way.len()) {
            return item.fault("all ways to the entries have as many steps as the first");
        }
        ways.push(way);
    }
    Ok(ways)
}

pub(super) fn texts(item: Option<Item<'_>>) -> Read<Vec<Box<str>>> {
    item.map(Item::list).unwrap_or_default().into_iter().map(|item| Ok(item.text()?.into())).collect()
}

/// `lines`, `values`, `array` or the pointer to an array inside the outermost object.
fn arrangement(item: Item<'_>) -> Read<Arrangement> {
    Ok(match item.text()? {
        "lines" => Arrangement::Lines,
        "values" => Arrangement::Values,
        "array" => Arrangement::Array(&[]),
        pointer if pointer.starts_with('/') => {
            let mut names = Vec::new();
            for step in steps(pointer).or_else(|reason| item.fault(reason))? {
                let Step::Name(name) = step else {
                    return item.fault("the way to the array of records goes through members only");
                };
                names.push(&*Box::leak(String::from_utf8_lossy(&name).into_owned().into_boxed_str()));
            }
            Arrangement::Array(Box::leak(names.into_boxed_slice()))
        }
        other => {
            return item.fault(format!(
                "`{other}` is no arrangement of records: write lines, values (one after the other), array, or the \
                 pointer to an array (`/log/entries`)"
            ));
        }
    })
}

impl Places<'_> {
    pub(super) fn facts(&mut self, table: &Table<'_>, zone: Option<&TimeZone>) -> Read<Where> {
        Ok(Where {
            time: table.get("time").map(|item| self.moment(item, zone)).transpose()?,
            direction: table.get("direction").map(|item| self.sender(item)).transpose()?,
            session: self.optional_value(table, "session")?,
            server: self.optional_value(table, "server")?,
            client: self.optional_value(table, "client")?,
        })
    }

    fn optional_sources(&mut self, table: &Table<'_>, name: &'static str) -> Read<Vec<Source>> {
        Ok(table.get(name).map(|item| self.sources(item, name)).transpose()?.unwrap_or_default())
    }

    /// A list of values, or `{ shows = […], unless = […] }` where two sides report the same message.
    fn once(&mut self, item: Item<'_>) -> Read<Once> {
        if !item.is_table() {
            return Ok(Once { shows: self.values(item, "once")?, unless: self.values(item, "once")? });
        }
        let table = item.table()?;
        let (shows, unless) = (table.required("shows")?, table.required("unless")?);
        table.finish()?;
        Ok(Once { shows: self.values(shows, "once")?, unless: self.values(unless, "once")? })
    }

    fn values(&mut self, item: Item<'_>, what: &'static str) -> Read<Vec<Value>> {
        item.list().into_iter().map(|item| self.value(item, what)).collect()
    }

    pub(super) fn message(&mut self, item: Item<'_>, zone: Option<&TimeZone>) -> Read<MessageAt> {
        let table = item.table()?;
        let message = self.message_of(&table, zone)?;
        if message.is_nothing() {
            return item.fault("a message has a `body`, a `method`, or is one that `answers`");
        }
        table.finish()?;
        Ok(message)
    }

    /// What a table says about a message, among other things perhaps.
    pub(super) fn message_of(&mut self, table: &Table<'_>, zone: Option<&TimeZone>) -> Read<MessageAt> {
        // Conditions first: their groups are what other values are made of.
        let when = self.conditions(table.get("when"), "when")?;
        let error = match table.get("error") {
            Some(item) if item.is_table() => {
                let table = item.table()?;
                let code = self.optional_value(&table, "code")?;
                let message = self.optional_value(&table, "message")?;
                table.finish()?;
                Some(ErrorAt::Parts { code, message })
            }
            Some(item) => Some(ErrorAt::Whole(self.sources(item, "error")?)),
            None => None,
        };
        let once = match table.get("once") {
            Some(item) => item.list().into_iter().map(|item| self.once(item)).collect::<Read<Vec<_>>>()?,
            None => Vec::new(),
        };
        Ok(MessageAt {
            when,
            facts: self.facts(table, zone)?,
            body: self.optional_sources(table, "body")?,
            bare: table.get("bare").map(Item::flag).transpose()?.unwrap_or_default(),
            answers: table.get("answers").map(Item::flag).transpose()?.unwrap_or_default(),
            method: self.optional_value(table, "method")?,
            id: self.optional_value(table, "id")?,
            always: table.get("always").map(Item::flag).transpose()?.unwrap_or_default(),
            unseen: table.get("unseen").map(Item::flag).transpose()?.unwrap_or_default(),
            params: self.optional_sources(table, "params")?,
            name: self.optional_value(table, "name")?,
            argument: self.optional_value(table, "argument")?,
            typed: self.optional_value(table, "typed")?,
            result: self.optional_sources(table, "result")?,
            error,
            failed: self.conditions(table.get("failed"), "failed")?,
            pairs: table.get("pairs").map(|item| self.values(item, "pairs")).transpose()?.unwrap_or_default(),
            once,
        })
    }
}

impl Description {
    /// The names of members that it looks for, where all its places are members of the record.
    pub fn names(self, about: About) -> Names {
        let of = |sources: &[Source]| -> Vec<String> {
            let slots =
                sources.iter().filter_map(|source| if let Source::Pointer(slot) = source { Some(*slot) } else { None });
            let steps = slots.filter_map(|slot| self.pointers.get(slot)?.steps.first());
            let names = steps.filter_map(|step| if let Step::Name(name) = step { Some(name) } else { None });
            names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        };
        let value = |value: &Option<Value>| value.as_ref().map(|value| of(&value.from)).unwrap_or_default();
        let direction = self.facts.direction.as_ref();
        let noise = self
            .noise
            .iter()
            .filter_map(|condition| if let Test::Is(words) = &condition.test { Some(words) } else { None });
        Names {
            body: self.messages.first().map(|message| of(&message.body)).unwrap_or_default(),
            direction: direction.map(|sender| of(&sender.from)).unwrap_or_default(),
            time: self.facts.time.as_ref().map(|moment| of(&moment.from)).unwrap_or_default(),
            session: value(&self.facts.session),
            server: value(&self.facts.server),
            client: value(&self.facts.client),
            words: direction.map(Sender::words).unwrap_or_default(),
            noise: noise.flatten().map(|word| word.to_string()).collect(),
            about,
        }
    }

    /// Whether what an entry means depends on those before it, so that they have to be read one after the other.
    pub fn needs_memory(&self) -> bool {
        self.by_time || self.messages.iter().any(|message| !message.pairs.is_empty() || !message.once.is_empty())
    }
}
