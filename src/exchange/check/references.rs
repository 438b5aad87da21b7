//! Whether checking a value against a schema ends, and soon.
//!
//! References can make a small schema endless (`A` refers to `A`) or enormous (`A` refers twice to `B`, which refers
//! twice to `C`, …). Both are refused before the schema is compiled, and so is nesting that would need a deep stack.

use serde_json::Value;
use std::collections::HashMap;

/// Schemas that one walk through all references may visit.
const MAX_VISITS: u64 = 10_000;
/// Levels of JSON on the way down through all references. Elicitation schemas have five; the validator's calls for
/// this many fit a stack of 1 MiB.
pub const MAX_DEPTH: u64 = 64;

/// True if every reference is `#/$defs/NAME` or `#/definitions/NAME` (or deeper), none leads back to itself, and
/// following all of them stays within bounds.
pub fn bounded(schema: &Value) -> bool {
    let mut graph = Graph { schema, known: HashMap::new() };
    // Definitions that nobody refers to are compiled too.
    let groups = ["$defs", "definitions"].into_iter().filter_map(|group| schema.get(group)?.as_object());
    let mut names = groups.flat_map(|group| group.keys());
    graph.extent(schema, true).is_some() && names.all(|name| graph.definition(name).is_some())
}

/// How far a schema reaches, all references followed.
#[derive(Clone, Copy, Default)]
struct Extent {
    visits: u64,
    depth: u64,
}

impl Extent {
    fn within_bounds(self) -> Option<Self> {
        (self.visits <= MAX_VISITS && self.depth <= MAX_DEPTH).then_some(self)
    }

    fn beside(self, other: Self) -> Self {
        Self { visits: self.visits.saturating_add(other.visits), depth: self.depth.max(other.depth) }
    }
}

struct Graph<'a> {
    schema: &'a Value,
    /// `None` while a definition is being walked, and for one that is refused.
    known: HashMap<&'a str, Option<Extent>>,
}

impl<'a> Graph<'a> {
    fn definition(&mut self, name: &'a str) -> Option<Extent> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        self.known.insert(name, None);
        let schema = self.schema;
        let mut extent = Extent::default();
        for group in ["$defs", "definitions"] {
            if let Some(definition) = schema.get(group).and_then(|group| group.get(name)) {
                extent = extent.beside(self.extent(definition, false)?);
            }
        }
        self.known.insert(name, Some(extent));
        Some(extent)
    }

    /// `None` where a bound is passed, or something changes what references mean.
    fn extent(&mut self, value: &'a Value, root: bool) -> Option<Extent> {
        let mut below = Extent::default();
        match value {
            Value::Array(items) => {
                for item in items {
                    below = below.beside(self.extent(item, false)?);
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    below = below.beside(match (key.as_str(), member) {
                        ("$defs" | "definitions", Value::Object(_)) if root => Extent::default(),
                        ("$ref", Value::String(pointer)) => self.definition(definition(pointer)?)?,
                        ("$dynamicRef" | "$recursiveRef", Value::String(_)) => return None,
                        ("$id", Value::String(_)) if !root => return None,
                        _ => self.extent(member, false)?,
                    });
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Some(below),
        }
        Extent { visits: below.visits.saturating_add(1), depth: below.depth + 1 }.within_bounds()
    }
}

fn definition(pointer: &str) -> Option<&str> {
    let path = pointer.strip_prefix("#/$defs/").or_else(|| pointer.strip_prefix("#/definitions/"))?;
    let name = path.split('/').next()?;
    (!name.contains(['~', '%'])).then_some(name)
}
