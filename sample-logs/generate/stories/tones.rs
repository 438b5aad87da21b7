//! What arrived as `tone` in the month of `reply_to_review`: 1,842 = 1,691 intended + 151 unintended.

use super::chance::Chance;
use super::words;

/// The three values the description names, with how often they came: 1,691 calls.
pub const INTENDED: [(&str, usize); 3] = [("warm", 1_038), ("neutral", 412), ("formal", 241)];

/// Calls with the empty string, all from one host.
pub const EMPTY: usize = 31;

/// The other 42 short values; the 43rd is a pasted review. Together 120 calls.
const OTHERS: [(&str, usize); 42] = [
    // case
    ("Warm", 17),
    ("Neutral", 9),
    ("Formal", 6),
    ("WARM", 4),
    ("FORMAL", 1),
    // punctuation
    ("warm.", 7),
    ("formal.", 3),
    ("\"neutral\"", 2),
    ("Warm!", 1),
    // spacing
    ("formal ", 4),
    (" warm", 3),
    ("neutral\n", 1),
    // unicode: full-width letters
    ("ｗａｒｍ", 1),
    // multiline
    ("warm\nplease thank them for the photos", 1),
    // qualified
    ("warm but not sycophantic", 5),
    ("warm and professional", 4),
    ("formal and short", 3),
    ("warm, with an apology", 3),
    ("not too formal", 2),
    ("neutral to slightly warm", 1),
    // misspelt
    ("wram", 2),
    ("nuetral", 2),
    ("formall", 1),
    ("neutrl", 1),
    ("warn", 1),
    // novel
    ("friendly", 6),
    ("professional", 5),
    ("apologetic", 4),
    ("casual", 3),
    ("empathetic", 2),
    ("polite", 2),
    ("herzlich", 2),
    ("like our brand voice", 1),
    ("same as last time", 1),
    ("5 stars", 1),
    ("default", 1),
    ("n/a", 1),
    ("sachlich", 1),
    ("chaleureux", 1),
    ("amical et bref", 1),
    ("cordiale", 1),
    ("丁寧に", 1),
];

/// The calls of three hosts, shuffled: 1,021, 538 and 283 (the 31 empty ones among the last).
pub fn by_host(chance: &mut Chance) -> [Vec<String>; 3] {
    let mut intended: Vec<String> = repeat(&INTENDED);
    let mut others: Vec<String> = repeat(&OTHERS);
    others.push(words::long_review(chance, 380));
    chance.shuffle(&mut intended);
    chance.shuffle(&mut others);
    let empty = vec![String::new(); EMPTY];
    let mut hosts = [Vec::new(), Vec::new(), empty];
    for (host, (good, odd)) in hosts.iter_mut().zip([(963, 58), (497, 41), (231, 21)]) {
        host.extend(intended.drain(..good));
        host.extend(others.drain(..odd));
        chance.shuffle(host);
    }
    hosts
}

fn repeat(values: &[(&str, usize)]) -> Vec<String> {
    values.iter().flat_map(|(value, calls)| std::iter::repeat_n((*value).to_owned(), *calls)).collect()
}

/// What the handler writes for a tone: a look-up without a default, as the server has it.
pub fn phrase(tone: &str) -> &'static str {
    match tone {
        "warm" => "warm and personal",
        "neutral" => "plain and factual",
        "formal" => "formal and brief",
        _ => "None",
    }
}
