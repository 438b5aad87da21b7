//! JSON pointers (RFC 6901) with two more kinds of steps, and one pass over a record that finds what they point to.
//!
//! `*` is any element or member; `[key=text]` is the first element of an array that is an object whose member `key` is
//! `text`, as lists of attributes and of headers have them.

use crate::capture::skim::{Cursor, Span, plain};
use std::borrow::Cow;

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A member, or where the value is an array and the name a number, an element.
    Name(Box<[u8]>),
    Any,
    With {
        key: Box<[u8]>,
        value: Box<[u8]>,
    },
}

/// The steps of a pointer that begins with `/`; the reason where it is none.
pub fn steps(pointer: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = pointer;
    while !rest.is_empty() {
        let Some(text) = rest.strip_prefix('/') else {
            return Err(format!("`{pointer}` is no JSON pointer: a step begins with `/`"));
        };
        if let Some(inside) = text.strip_prefix('[') {
            // A key or text may hold a slash.
            let Some((inside, after)) = inside.split_once(']') else {
                return Err(format!("`{pointer}`: a `]` is missing"));
            };
            let Some((key, value)) = inside.split_once('=') else {
                return Err(format!("`{pointer}`: inside the brackets stands `key=text`"));
            };
            steps.push(Step::With { key: key.as_bytes().into(), value: value.as_bytes().into() });
            rest = after;
            continue;
        }
        let end = text.find('/').unwrap_or(text.len());
        let (name, after) = text.split_at(end);
        steps.push(match name {
            "*" => Step::Any,
            name => Step::Name(name.replace("~1", "/").replace("~0", "~").into_bytes().into()),
        });
        rest = after;
    }
    Ok(steps)
}

/// Pointers that begin at the same value, as one tree.
#[derive(Debug, Default)]
pub struct Tree {
    /// What ends here.
    slots: Vec<usize>,
    below: Vec<(Step, Tree)>,
}

/// What pointers found, by the number they were given.
pub type Found = [Option<Span>];

impl Tree {
    pub fn add(&mut self, steps: &[Step], slot: usize) {
        let Some((step, rest)) = steps.split_first() else { return self.slots.push(slot) };
        match self.below.iter_mut().find(|(known, _)| known == step) {
            Some((_, tree)) => tree.add(rest, slot),
            None => {
                let mut tree = Self::default();
                tree.add(rest, slot);
                self.below.push((step.clone(), tree));
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.below.is_empty()
    }

    /// Steps over the value under the cursor and notes what is found in it. Of members that stand twice the last one
    /// counts, of values that several steps lead to the first. `None` where it is no JSON as far as it was looked at.
    pub fn collect(&self, cursor: &mut Cursor<'_>, found: &mut Found) -> Option<()> {
        self.walk(cursor, found, false)
    }

    fn walk(&self, cursor: &mut Cursor<'_>, found: &mut Found, first: bool) -> Option<()> {
        let byte = cursor.peek()?;
        let from = cursor.at();
        match byte {
            b'{' if !self.below.is_empty() => self.object(cursor, found, first)?,
            b'[' if !self.below.is_empty() => self.array(cursor, found, first)?,
            _ => {
                cursor.value()?;
            }
        }
        let span = Span { from, to: cursor.at() };
        for slot in &self.slots {
            if let Some(place) = found.get_mut(*slot)
                && !(first && place.is_some())
            {
                *place = Some(span);
            }
        }
        Some(())
    }

    fn object(&self, cursor: &mut Cursor<'_>, found: &mut Found, first: bool) -> Option<()> {
        cursor.take(b'{')?;
        let mut begins = true;
        while let Some(name) = cursor.member(&mut begins)? {
            let name = plain(cursor.bytes(), name);
            let mut stepped = false;
            let from = cursor.at();
            for (step, tree) in &self.below {
                let any = match step {
                    Step::Name(wanted) if **wanted == *name => false,
                    Step::Any => true,
                    _ => continue,
                };
                let mut again = Cursor::new(cursor.bytes(), from);
                tree.walk(if stepped { &mut again } else { &mut *cursor }, found, first || any)?;
                stepped = true;
            }
            if !stepped {
                cursor.value()?;
            }
        }
        Some(())
    }

    fn array(&self, cursor: &mut Cursor<'_>, found: &mut Found, first: bool) -> Option<()> {
        cursor.take(b'[')?;
        let mut begins = true;
        let mut index = 0_usize;
        while cursor.element(&mut begins)? {
            let from = cursor.at();
            let value = cursor.value()?;
            for (step, tree) in &self.below {
                let any = match step {
                    Step::Name(wanted) if is_index(wanted, index) => false,
                    Step::Any => true,
                    Step::With { key, value: wanted } if has(cursor.bytes(), value, key, wanted) => true,
                    _ => continue,
                };
                tree.walk(&mut Cursor::new(cursor.bytes(), from), found, first || any)?;
            }
            index += 1;
        }
        Some(())
    }
}

fn is_index(step: &[u8], index: usize) -> bool {
    // Numbers with zeros in front are no indices (RFC 6901, section 4).
    step == index.to_string().as_bytes()
}

/// Whether a value is an object with this member and text.
fn has(bytes: &[u8], value: Span, key: &[u8], wanted: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes, value.from);
    let mut first = true;
    if cursor.take(b'{').is_none() {
        return false;
    }
    while let Some(Some(name)) = cursor.member(&mut first) {
        let here = *plain(bytes, name) == *key;
        let Some(value) = cursor.value() else { return false };
        if here {
            return *text(bytes, value) == *wanted;
        }
    }
    false
}

/// The inside of a string (escapes undone where they are simple), or the exact text of another value.
fn text(bytes: &[u8], value: Span) -> Cow<'_, [u8]> {
    match value.of(bytes).first() {
        Some(b'"') => plain(bytes, Span { from: value.from + 1, to: value.to.saturating_sub(1) }),
        _ => Cow::Borrowed(value.of(bytes)),
    }
}

/// The values that one step leads to, in order.
pub fn children(bytes: &[u8], value: Span, step: &Step) -> Vec<Span> {
    let mut cursor = Cursor::new(bytes, value.from);
    let mut found = Vec::new();
    let mut first = true;
    match cursor.peek() {
        Some(b'{') => {
            cursor.take(b'{');
            while let Some(Some(name)) = cursor.member(&mut first) {
                let wanted = match step {
                    Step::Name(wanted) => **wanted == *plain(bytes, name),
                    Step::Any => true,
                    Step::With { .. } => false,
                };
                let Some(value) = cursor.value() else { break };
                if wanted {
                    if matches!(step, Step::Name(_)) {
                        found.clear();
                    }
                    found.push(value);
                }
            }
        }
        Some(b'[') => {
            cursor.take(b'[');
            let mut index = 0;
            while cursor.element(&mut first) == Some(true) {
                let Some(value) = cursor.value() else { break };
                let wanted = match step {
                    Step::Name(wanted) => is_index(wanted, index),
                    Step::Any => true,
                    Step::With { key, value: wanted } => found.is_empty() && has(bytes, value, key, wanted),
                };
                if wanted {
                    found.push(value);
                }
                index += 1;
            }
        }
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What pointers find in a text, as text.
    fn find(pointers: &[&str], text: &str) -> Vec<Option<String>> {
        let mut tree = Tree::default();
        for (slot, pointer) in pointers.iter().enumerate() {
            tree.add(&steps(pointer).unwrap(), slot);
        }
        let mut found = vec![None; pointers.len()];
        tree.collect(&mut Cursor::new(text.as_bytes(), 0), &mut found).unwrap();
        found
            .into_iter()
            .map(|span| span.map(|span| String::from_utf8(span.of(text.as_bytes()).to_vec()).unwrap()))
            .collect()
    }

    #[test]
    fn steps_lead_where_they_say() {
        let text =
            r#"{"a":{"b/c":1,"~":2,"x":3,"x":4},"l":[{"key":"k/1","value":{"s":"one"}},{"key":"k/2","value":5}],"":6}"#;
        let found = find(
            &["/a/b~1c", "/a/~0", "/a/x", "/l/1/value", "/l/[key=k/1]/value/s", "/l/*/value", "/l/7", "/", "/a/*", ""],
            text,
        );
        let expected = [
            Some("1"),
            Some("2"),
            Some("4"),
            Some("5"),
            Some("\"one\""),
            Some(r#"{"s":"one"}"#),
            None,
            Some("6"),
            Some("1"),
            Some(text),
        ];
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_pointer_that_is_none_is_refused() {
        for wrong in ["a", "/a/[key]", "/a/[key=x", "a/b"] {
            assert!(steps(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn plain_pointers_agree_with_serde_json(path in prop::collection::vec("[a-c0-2~/]{0,2}", 0..4), text in r#"\{("[abc]":(\{"[abc]":\[1,\{"[abc]":2\},3\]\}|[0-9]|"[xy]")(,"[012]":\[4,5\])?)?\}"#) {
            let pointer: String =
                path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
            let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
            let found = find(&[&pointer], &text).remove(0).map(|found| serde_json::from_str(&found).unwrap());
            prop_assert_eq!(found.as_ref(), whole.pointer(&pointer));
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"[\[{][\]\["{}:, a1\\]{0,60}"#) {
            let mut tree = Tree::default();
            for (slot, pointer) in ["/a/*", "/*/1", "/[a=1]/a", ""].iter().enumerate() {
                tree.add(&steps(pointer).unwrap(), slot);
            }
            let _ = tree.collect(&mut Cursor::new(text.as_bytes(), 0), &mut [None; 4]);
            children(text.as_bytes(), Span { from: 0, to: text.len() }, &Step::Any);
        }
    }
}
