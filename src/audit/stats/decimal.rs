//! Numbers compared by their exact text: `f64` would call 2^53 and 2^53 + 1 equal.

/// Digits that fit into the packed head.
const HEAD: usize = 18;

/// A decimal number in normal form: equal numbers (`1e3`, `1000`, `1000.0`) are equal values and hash alike.
/// Memory is bounded by the length of the text, whatever its exponent says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// Power of ten of the first digit; exponents beyond ±2^126 are held there. 0 for zero.
    exponent: i128,
    /// The first 18 significant digits, left-aligned; 0 for zero.
    head: u64,
    /// The significant digits after those, without trailing zeros.
    rest: Option<Box<[u8]>>,
}

impl Decimal {
    /// Reads a JSON number; also what people type as one: white space around it, a leading `+`, `.5`, `5.`, `007`.
    /// `None` for anything else (no infinities, no separators).
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let digits = || whole.bytes().chain(fraction.bytes());
        let Some(first) = digits().position(|digit| digit != b'0') else {
            return Some(Self { negative: false, exponent: 0, head: 0, rest: None });
        };
        let trailing = digits().rev().take_while(|digit| *digit == b'0').count();
        let significant = whole.len() + fraction.len() - first - trailing;
        let mut head = 0u64;
        let mut taken = digits().skip(first).take(significant);
        for _ in 0..HEAD {
            head = head * 10 + taken.next().map_or(0, |digit| u64::from(digit - b'0'));
        }
        let rest: Box<[u8]> = taken.collect();
        Some(Self {
            negative,
            exponent: exponent + whole.len() as i128 - 1 - first as i128,
            head,
            rest: (!rest.is_empty()).then_some(rest),
        })
    }

    fn magnitude(&self) -> (bool, i128, u64, Option<&[u8]>) {
        (self.head != 0, self.exponent, self.head, self.rest.as_deref())
    }
}

/// The digits after `e`, held at ±2^126 so that adding a length cannot overflow.
fn parse_exponent(text: &str) -> Option<i128> {
    const LIMIT: i128 = 1 << 126;
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits
        .bytes()
        .fold(0i128, |value, digit| value.saturating_mul(10).saturating_add(i128::from(digit - b'0')).min(LIMIT));
    Some(if negative { -value } else { value })
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude().cmp(&other.magnitude()),
            (true, true) => other.magnitude().cmp(&self.magnitude()),
            (negative, _) => (!negative).cmp(&negative),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    fn compare(a: &str, b: &str) -> Ordering {
        Decimal::parse(a).unwrap().cmp(&Decimal::parse(b).unwrap())
    }

    #[test]
    fn equal_numbers_are_equal_however_written() {
        for (a, b) in [
            ("1e3", "1000"),
            ("1000.0", "1E+3"),
            ("0.10", "0.1"),
            ("-0", "0.000e99"),
            ("00012.50", "1.25e1"),
            (" +5 ", "5."),
            (".5", "5e-1"),
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
        ] {
            assert_eq!(compare(a, b), Ordering::Equal, "{a} and {b}");
            assert_eq!(Decimal::parse(a), Decimal::parse(b));
        }
    }

    #[test]
    fn orders_by_value() {
        let ascending = [
            "-1e999999999",
            "-9007199254740993",
            "-9007199254740992",
            "-5",
            "-0.1",
            "-1e-999999999999999999999999999999999999999999999",
            "0",
            "1e-999999999",
            "0.09999999999999999999",
            "0.1",
            "9007199254740992",
            "9007199254740993",
            "123456789012345678901234567890.1",
            "123456789012345678901234567890.2",
            "1e999999999",
            "1e99999999999999999999999999999999999999999999999",
        ];
        for (index, low) in ascending.iter().enumerate() {
            for high in &ascending[index + 1..] {
                assert_eq!(compare(low, high), Ordering::Less, "{low} < {high}");
                assert_eq!(compare(high, low), Ordering::Greater, "{high} > {low}");
            }
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["", " ", "-", ".", "e5", "1e", "1e+", "1,000", "NaN", "inf", "0x10", "1.2.3", "--1", "5 000", "١"]
        {
            assert_eq!(Decimal::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_integers(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(compare(&a.to_string(), &b.to_string()), a.cmp(&b));
        }

        #[test]
        fn shifting_the_point_changes_nothing(a in any::<u64>(), shift in 0usize..40) {
            let shifted = format!("{a}{}e-{shift}", "0".repeat(shift));
            prop_assert_eq!(Decimal::parse(&shifted), Decimal::parse(&a.to_string()));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = Decimal::parse(&text);
        }
    }
}
