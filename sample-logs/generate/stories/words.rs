//! Invented text: customers' reviews, tickets, catalogue rows. Nothing here is a quotation.

use super::chance::Chance;

const OPENINGS: [&str; 12] = [
    "Arrived two days late",
    "The parcel was dented on one side",
    "Exactly what I hoped for",
    "I bought this as a present",
    "Second order from this shop",
    "The colour is darker than in the picture",
    "Support answered within the hour",
    "It stopped working after a week",
    "My mother uses it every day",
    "The café down the road has the same one",
    "Good value for the money",
    "The manual is only in Português",
];

const MIDDLES: [&str; 12] = [
    "and the box smelled of paint",
    "but the courier was friendly",
    "although one screw was missing",
    "and I would buy it again",
    "so I had to fix the lid myself",
    "which is why I give three stars",
    "and the battery lasts about nine hours",
    "but nobody told me it needs an adapter",
    "and the handle feels solid",
    "though the app crashes on start",
    "and the refund took three weeks",
    "yet the naïve design of the lid leaks",
];

const ENDINGS: [&str; 10] = [
    "Please check the packing.",
    "Thanks to the team in the warehouse!",
    "I am keeping it anyway.",
    "I expected more at 49,90 €.",
    "Would like a replacement lid.",
    "My neighbour ordered two after seeing it.",
    "Not sure about the warranty yet.",
    "The second one arrived intact.",
    "A discount would have been nice.",
    "Five stars for the wrapping 🎁",
];

/// What a customer wrote: one to three sentences.
pub fn review(chance: &mut Chance) -> String {
    let mut text = String::new();
    for _ in 0..chance.between(1, 3) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(chance.pick(&OPENINGS));
        text.push(' ');
        text.push_str(chance.pick(&MIDDLES));
        text.push_str(". ");
        text.push_str(chance.pick(&ENDINGS));
    }
    text
}

/// A customer's review of exactly `words` words, line breaks included.
pub fn long_review(chance: &mut Chance, words: usize) -> String {
    let mut taken: Vec<String> = Vec::with_capacity(words);
    while taken.len() < words {
        taken.extend(review(chance).split_whitespace().map(str::to_owned));
    }
    taken.truncate(words);
    let mut text = String::new();
    for (at, word) in taken.iter().enumerate() {
        if at > 0 {
            text.push_str(if at % 90 == 0 { "\n\n" } else { " " });
        }
        text.push_str(word);
    }
    text
}

pub const PRODUCTS: [&str; 12] = [
    "kettle K2",
    "travel mug",
    "desk lamp Lumi",
    "hand blender",
    "rain cover",
    "bread knife",
    "garden chair",
    "wool blanket",
    "bike pump",
    "egg timer",
    "door mat",
    "salt mill",
];

const TROUBLES: [&str; 10] = [
    "cannot sign in since the update",
    "was charged twice for one order",
    "asks where parcel is",
    "sees an empty search page",
    "wants the invoice with a VAT number",
    "gets a crash when opening the camera",
    "changed the address after paying",
    "cannot find the unsubscribe link",
    "reports prices without tax",
    "sees someone else's basket",
];

pub fn ticket(chance: &mut Chance) -> String {
    let number = chance.between(10_000, 99_999);
    format!("#{number}: customer {}", chance.pick(&TROUBLES))
}

/// A page of rows as tools return them: about 90 bytes each, always the same for one `page`.
pub fn rows(page: u64, count: usize) -> String {
    let mut chance = Chance::new(0x0a9e ^ page);
    let mut text = String::from("id | item | state | total | placed\n");
    for _ in 0..count {
        let state = chance.pick(&["paid", "packed", "sent", "delivered", "returned"]);
        let item = chance.pick(&PRODUCTS);
        text.push_str(&format!(
            "SO-{} | {item} | {state} | {}.{:02} EUR | 2026-0{}-{:02}\n",
            chance.between(100_000, 999_999),
            chance.between(4, 240),
            chance.between(0, 99),
            chance.between(1, 6),
            chance.between(1, 28),
        ));
    }
    text
}
