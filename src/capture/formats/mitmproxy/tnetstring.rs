//! Typed netstrings: `LENGTH:PAYLOAD` and a character that tells the kind (tnetstrings.org, with `;` for text).
//!
//! Containers are looked into member by member: nothing is copied, and nesting costs no stack.

/// Digits of the longest length that is believed.
const DIGITS: usize = 12;

/// One value; payloads are parts of the bytes it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'b> {
    /// `,` and `;`: bytes, and text as UTF-8.
    Bytes(&'b [u8]),
    /// `#` and `^`: an integer or a decimal fraction, as written.
    Number(&'b [u8]),
    Bool(bool),
    Null,
    List(Values<'b>),
    Dict(Values<'b>),
}

/// What a length says before the payload is there.
#[derive(Debug, PartialEq, Eq)]
pub enum Begin {
    /// Bytes of the length with its colon, and of the payload.
    Sized { prefix: usize, payload: usize },
    /// More bytes are needed to tell.
    Short,
    /// No length; the reason.
    Wrong(&'static str),
}

/// Reads a length.
pub fn begin(bytes: &[u8]) -> Begin {
    let digits = bytes.iter().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if digits > DIGITS {
        return Begin::Wrong("a length of more than twelve digits");
    }
    match bytes.get(digits) {
        None => Begin::Short,
        Some(b':') if digits > 0 => {
            let length = std::str::from_utf8(bytes.get(..digits).unwrap_or_default()).ok();
            match length.and_then(|length| length.parse().ok()) {
                Some(payload) => Begin::Sized { prefix: digits + 1, payload },
                None => Begin::Wrong("a length that is no number"),
            }
        }
        Some(_) => Begin::Wrong("no length where a value begins"),
    }
}

/// The value whose payload and kind these are.
pub fn value(payload: &[u8], kind: u8) -> Result<Value<'_>, &'static str> {
    Ok(match kind {
        b',' | b';' => Value::Bytes(payload),
        b'#' | b'^' => Value::Number(payload),
        b'!' => match payload {
            b"true" => Value::Bool(true),
            b"false" => Value::Bool(false),
            _ => return Err("a truth value that is neither"),
        },
        b'~' if payload.is_empty() => Value::Null,
        b'~' => return Err("a null with a payload"),
        b']' => Value::List(Values(payload)),
        b'}' => Value::Dict(Values(payload)),
        _ => return Err("a value of no known kind"),
    })
}

/// Reads the value at the beginning, and what follows it.
fn split(bytes: &[u8]) -> Result<(Value<'_>, &[u8]), &'static str> {
    match begin(bytes) {
        Begin::Sized { prefix, payload } => {
            let end = prefix.checked_add(payload).ok_or("a length beyond all bounds")?;
            let (Some(inside), Some(kind)) = (bytes.get(prefix..end), bytes.get(end)) else {
                return Err("a value that is longer than what holds it");
            };
            Ok((value(inside, *kind)?, bytes.get(end + 1..).unwrap_or_default()))
        }
        Begin::Short => Err("a value that ends in its length"),
        Begin::Wrong(reason) => Err(reason),
    }
}

/// The values in a list, or the names and values of a dictionary one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values<'b>(&'b [u8]);

impl<'b> Values<'b> {
    /// The next value; `None` behind the last.
    pub fn next(&mut self) -> Result<Option<Value<'b>>, &'static str> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (value, rest) = split(self.0)?;
        self.0 = rest;
        Ok(Some(value))
    }

    /// The next member of a dictionary.
    pub fn member(&mut self) -> Result<Option<(&'b [u8], Value<'b>)>, &'static str> {
        let Some(name) = self.next()? else { return Ok(None) };
        let Value::Bytes(name) = name else { return Err("a name that is no text") };
        let value = self.next()?.ok_or("a name without a value")?;
        Ok(Some((name, value)))
    }

    /// The members of a dictionary with these names, in their order; null where one is missing.
    pub fn members<const N: usize>(mut self, names: [&str; N]) -> Result<[Value<'b>; N], &'static str> {
        let mut found = [Value::Null; N];
        while let Some((name, value)) = self.member()? {
            for (place, wanted) in found.iter_mut().zip(names) {
                if wanted.as_bytes() == name {
                    *place = value;
                }
            }
        }
        Ok(found)
    }
}

impl<'b> Value<'b> {
    /// Its bytes, where it is text or bytes.
    pub fn bytes(self) -> Option<&'b [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Its text; bytes that are no UTF-8 become U+FFFD.
    pub fn text(self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    pub fn integer(self) -> Option<i64> {
        match self {
            Self::Number(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let text = b"3:1.5^4:true!0:~1:a,5:\xc3\xa9;x\n;2:41#4:1:a,]0:}";
        let mut values = Values(text);
        let mut found = Vec::new();
        while let Ok(Some(value)) = values.next() {
            found.push(value);
        }
        assert_eq!(
            found,
            [
                Value::Number(b"1.5"),
                Value::Bool(true),
                Value::Null,
                Value::Bytes(b"a"),
                Value::Bytes("é;x\n".as_bytes()),
                Value::Number(b"41"),
                Value::List(Values(b"1:a,")),
                Value::Dict(Values(b"")),
            ]
        );
    }

    #[test]
    fn members_are_found_whatever_their_order() {
        let Ok(Value::Dict(members)) = value(b"1:b;1:2#1:a;0:~1:c,0:]", b'}') else { panic!("no dictionary") };
        assert_eq!(members.members(["a", "b", "d"]), Ok([Value::Null, Value::Number(b"2"), Value::Null]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (bytes, reason) in [
            (b"9:a,".as_slice(), "a value that is longer than what holds it"),
            (b"1:a", "a value that is longer than what holds it"),
            (b"1:a?", "a value of no known kind"),
            (b"x:a,", "no length where a value begins"),
            (b":a,", "no length where a value begins"),
            (b"12", "a value that ends in its length"),
            (b"9999999999999:a,", "a length of more than twelve digits"),
            (b"999999999999:a,", "a value that is longer than what holds it"),
            (b"4:trux!", "a truth value that is neither"),
            (b"1:a~", "a null with a payload"),
        ] {
            assert_eq!(split(bytes).unwrap_err(), reason, "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(Values(b"1:1#1:2#").member(), Err("a name that is no text"));
        assert_eq!(Values(b"1:a;").member(), Err("a name without a value"));
    }
}
