//! Values as consoles print them: Node's `util.inspect`, Python's `repr`, Ruby's `inspect`, Rust's `{:?}`.
//!
//! `{ method: 'ping', id: 1 }`, `{'a': None}`, `{"a"=>nil}`, `Call(method='x', params={})`, `Call { id: 1 }`. Consoles leave
//! out what lies deep (`[Object]`) or is long (`... 3 more items`): such a value is hollow.

use super::literal;
use std::fmt::Write as _;

/// Values nested deeper are not read.
const DEEPEST: usize = 100;

/// A value that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Dump {
    /// The value as JSON; `null` stands in place of what was left out.
    pub json: String,
    /// Something was left out.
    pub hollow: bool,
    /// Bytes of the text.
    pub length: usize,
}

/// Reads a value at the beginning of a text; `None` where it does not end or is none.
pub fn read(text: &[u8]) -> Option<Dump> {
    let mut reader = Reader { text, at: 0, out: String::new(), hollow: false };
    reader.value(0)?;
    Some(Dump { json: reader.out, hollow: reader.hollow, length: reader.at })
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    out: String,
    hollow: bool,
}

/// Words that stand for something, in JSON.
fn word(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"true" | b"True" => "true",
        b"false" | b"False" => "false",
        b"null" | b"None" | b"nil" | b"undefined" | b"NaN" | b"Infinity" => "null",
        _ => return None,
    })
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.get(self.at).copied()
    }

    fn take(&mut self, mark: &[u8]) -> Option<()> {
        self.peek();
        self.rest().starts_with(mark).then(|| self.at += mark.len())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            b'{' => self.members(b'}', depth),
            b'[' => {
                if self.left_out(depth)? {
                    return Some(());
                }
                self.elements(b']', depth)
            }
            b'(' => self.elements(b')', depth),
            b'\'' | b'"' | b'`' => {
                let text = self.text()?;
                self.out.push_str(&quoted(&text));
                Some(())
            }
            b'-' | b'0'..=b'9' => self.number(),
            b'<' => {
                // `<ref *1>` before a value that holds itself.
                let length = self.rest().iter().take(24).position(|byte| *byte == b'>')?;
                self.at += length + 1;
                self.value(depth + 1)
            }
            b':' => {
                self.at += 1;
                let symbol = self.name();
                (!symbol.is_empty()).then(|| self.out.push_str(&quoted(&symbol)))
            }
            _ => self.named(depth),
        }
    }

    /// `[Object]`, `[Array]`, `[Circular *1]`, `[Function: x]`, `[Getter]`: what stands there is not shown.
    fn left_out(&mut self, depth: usize) -> Option<bool> {
        let rest = self.rest();
        let inside = rest.get(1..rest.len().min(80))?;
        let Some(end) = inside.iter().position(|byte| *byte == b']') else { return Some(false) };
        let shown = inside.get(..end).unwrap_or_default();
        let plain = shown.iter().all(|byte| byte.is_ascii_alphanumeric() || b" :*_$.()<>/".contains(byte));
        // Words of a list of bare words are none of Node's.
        let known = [&b"Object"[..], b"Array", b"Circular", b"Function", b"Getter", b"Setter", b"class"];
        if !plain || word(shown).is_some() || !known.iter().any(|known| shown.starts_with(known)) {
            return Some(false);
        }
        // `[Object: null prototype] {` stands before what is shown.
        let more = inside.get(end + 1..).unwrap_or_default().trim_ascii_start();
        self.at += end + 2;
        if memchr::memmem::find(shown, b"null prototype").is_some() && more.first() == Some(&b'{') {
            self.peek();
            return self.members(b'}', depth).map(|()| true);
        }
        self.hollow = true;
        self.out.push_str("null");
        Some(true)
    }

    /// A word, or a name before what it names: `None`, `Call(…)`, `Call { … }`, `Some(…)`.
    fn named(&mut self, depth: usize) -> Option<()> {
        let name = self.name();
        if name.is_empty() {
            return None;
        }
        if let Some(known) = word(name.as_bytes()) {
            self.out.push_str(known);
            return Some(());
        }
        match self.peek() {
            Some(b'(') => {
                let from = self.out.len();
                self.at += 1;
                self.arguments(from, depth)
            }
            Some(b'{') => self.members(b'}', depth),
            Some(b'<') if self.rest().get(..64).unwrap_or(self.rest()).contains(&b'>') => {
                // `Map<…> {`
                let length = self.rest().iter().position(|byte| *byte == b'>')?;
                self.at += length + 1;
                self.named_body(depth)
            }
            _ => {
                self.out.push_str(&quoted(&name));
                Some(())
            }
        }
    }

    fn named_body(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' => self.members(b'}', depth),
            b'[' => self.elements(b']', depth),
            _ => None,
        }
    }

    /// What stands in the parentheses behind a name: `key=value` is a member; one value alone is the value itself.
    fn arguments(&mut self, from: usize, depth: usize) -> Option<()> {
        let by_name = {
            let rest = self.rest().trim_ascii_start();
            let name = rest.iter().take_while(|byte| is_of_name(**byte)).count();
            name > 0 && matches!(rest.get(name..name + 2), Some([b'=', more]) if *more != b'=')
        };
        if by_name {
            return self.members_until(b')', depth);
        }
        if self.take(b")").is_some() {
            self.out.push_str("{}");
            return Some(());
        }
        self.value(depth + 1)?;
        if self.take(b")").is_some() {
            return Some(());
        }
        self.take(b",")?;
        self.out.insert(from, '[');
        self.out.push(',');
        self.elements_until(b')', depth)
    }

    fn members(&mut self, close: u8, depth: usize) -> Option<()> {
        self.at += 1;
        self.members_until(close, depth)
    }

    fn members_until(&mut self, close: u8, depth: usize) -> Option<()> {
        self.out.push('{');
        let mut first = true;
        loop {
            match self.peek()? {
                byte if byte == close => {
                    self.at += 1;
                    self.out.push('}');
                    return Some(());
                }
                b',' => {
                    self.at += 1;
                    continue;
                }
                b'.' => {
                    self.more()?;
                    continue;
                }
                _ => {}
            }
            let from = self.out.len();
            if !std::mem::take(&mut first) {
                self.out.push(',');
            }
            let key = match self.peek()? {
                b'\'' | b'"' | b'`' => self.text()?,
                b'[' => {
                    // `[Symbol(x)]: …`
                    let length = self.rest().iter().position(|byte| *byte == b']')?;
                    let name = String::from_utf8_lossy(self.rest().get(..=length)?).into_owned();
                    self.at += length + 1;
                    name
                }
                mark => {
                    self.at += usize::from(mark == b':');
                    Some(self.name()).filter(|name| !name.is_empty())?
                }
            };
            self.take(b"=>").or_else(|| self.take(b":")).or_else(|| self.take(b"="))?;
            let _ = write!(self.out, "{}:", quoted(&key));
            if self.peek() == Some(b'u') && self.rest().starts_with(b"undefined") {
                // No member at all, as JSON goes.
                self.at += b"undefined".len();
                self.out.truncate(from);
                first = self.out.ends_with('{');
                continue;
            }
            self.value(depth + 1)?;
        }
    }

    fn elements(&mut self, close: u8, depth: usize) -> Option<()> {
        self.at += 1;
        self.out.push('[');
        self.elements_until(close, depth)
    }

    /// What follows an opening bracket, or a comma.
    fn elements_until(&mut self, close: u8, depth: usize) -> Option<()> {
        let mut first = true;
        loop {
            match self.peek()? {
                byte if byte == close => {
                    self.at += 1;
                    if self.out.ends_with(',') {
                        self.out.pop();
                    }
                    self.out.push(']');
                    return Some(());
                }
                b',' => self.at += 1,
                b'.' => self.more()?,
                _ => {
                    if !std::mem::take(&mut first) {
                        self.out.push(',');
                    }
                    self.value(depth + 1)?;
                }
            }
        }
    }

    /// `... 3 more items`, `...` of Ruby and Python for what holds itself.
    fn more(&mut self) -> Option<()> {
        self.take(b"...")?;
        self.hollow = true;
        let words = self.rest().iter().take(60).position(|byte| b",]})\n".contains(byte))?;
        self.at += words;
        Some(())
    }

    fn name(&mut self) -> String {
        self.peek();
        let length = self.rest().iter().take_while(|byte| is_of_name(**byte)).count();
        let name = String::from_utf8_lossy(self.rest().get(..length).unwrap_or_default()).into_owned();
        self.at += length;
        name
    }

    /// A string, in pieces perhaps (`'a\n' +` and the next line), and cut perhaps (`'abc'... 9 more characters`).
    fn text(&mut self) -> Option<String> {
        let mut text = Vec::new();
        loop {
            let (piece, length) = literal::read(self.rest())?;
            self.at += length;
            text.extend(piece);
            let at = self.at;
            if self.take(b"+").is_some() && matches!(self.peek(), Some(b'\'' | b'"' | b'`')) {
                continue;
            }
            self.at = at;
            if self.rest().starts_with(b"... ") {
                self.more()?;
            }
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
    }

    fn number(&mut self) -> Option<()> {
        let of_number = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let length = self.rest().iter().take_while(|byte| of_number(byte)).count();
        let exact = std::str::from_utf8(self.rest().get(..length)?).ok()?;
        let number = exact.strip_suffix('n').unwrap_or(exact);
        if number == "-Infinity" {
            self.out.push_str("null");
        } else if serde_json::from_str::<serde_json::Number>(number).is_ok() {
            self.out.push_str(number);
        } else {
            let text = quoted(exact);
            self.out.push_str(&text);
        }
        self.at += length;
        Some(())
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') || byte >= 0x80
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json(text: &str) -> (String, bool) {
        let dump = read(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        serde_json::from_str::<serde_json::Value>(&dump.json).unwrap_or_else(|error| panic!("{}: {error}", dump.json));
        (dump.json, dump.hollow)
    }

    #[test]
    fn each_console_is_read() {
        for (dump, wanted) in [
            (
                "{ jsonrpc: '2.0', id: 1, 'a-b': \"it's\", n: 1n, u: undefined, z: null }",
                r#"{"jsonrpc":"2.0","id":1,"a-b":"it's","n":1,"z":null}"#,
            ),
            (
                "{\n  text: 'a\\n' +\n    'b',\n  list: [ 1, -2.5, [], {} ]\n}",
                r#"{"text":"a\nb","list":[1,-2.5,[],{}]}"#,
            ),
            ("{'a': None, 'b': True, 'c': (1, 2), 'd': [False]}", r#"{"a":null,"b":true,"c":[1,2],"d":[false]}"#),
            (
                "JSONRPCRequest(method='prompts/get', params={'name': 'x'}, jsonrpc='2.0', id=3)",
                r#"{"method":"prompts/get","params":{"name":"x"},"jsonrpc":"2.0","id":3}"#,
            ),
            ("{\"a\"=>nil, :b=>\"c\", d: :e}", r#"{"a":null,"b":"c","d":"e"}"#),
            (
                "Call { id: 1, name: Some(\"x\"), none: None, pair: P(1, 2), unit: U() }",
                r#"{"id":1,"name":"x","none":null,"pair":[1,2],"unit":{}}"#,
            ),
            ("<ref *1> Message { a: [Object: null prototype] { b: 1 } }", r#"{"a":{"b":1}}"#),
            ("{ u: undefined, a: 1 }", r#"{"a":1}"#),
            ("{ kind: Form, '': 1 }", r#"{"kind":"Form","":1}"#),
        ] {
            assert_eq!(json(dump), (wanted.to_owned(), false), "{dump}");
        }
    }

    #[test]
    fn what_is_left_out_is_known() {
        for (dump, wanted) in [
            ("{ params: { name: 'x', arguments: [Object] } }", r#"{"params":{"name":"x","arguments":null}}"#),
            ("{ a: [Array], b: [Circular *1], c: 'abc'... 12 more characters }", r#"{"a":null,"b":null,"c":"abc"}"#),
            ("[ 1, 2, ... 98 more items ]", "[1,2]"),
            ("{ a: [ [Object], [Object] ] }", r#"{"a":[null,null]}"#),
        ] {
            assert_eq!(json(dump), (wanted.to_owned(), true), "{dump}");
        }
    }

    #[test]
    fn what_does_not_end_is_none() {
        for text in
            ["{ a: 1", "{ a 1 }", "'abc", "", "{ a: }", &"[".repeat(5000), "Call(", "{ a: [Object: null prototype] { }"]
        {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_json(text in r#"([\[\]{}(),:=. ]|'[a\\n]{0,3}'|[aO1-]|\[Object\]|undefined|None|=>|\.\.\. 3 more){0,24}"#) {
            if let Some(dump) = read(text.as_bytes()) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&dump.json).is_ok(), "{} -> {}", text, dump.json);
                prop_assert!(dump.length <= text.len());
            }
        }
    }
}
