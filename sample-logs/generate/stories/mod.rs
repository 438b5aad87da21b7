//! The sample logs as stories: what happened, who spoke, and the figures that an audit of them has to find.
//! `sample-logs/README.md` lists those figures.

mod approvals;
mod chance;
mod desktop;
mod filler;
mod json;
mod notes;
mod parcels;
mod recipes;
mod reports;
mod returns;
mod rooms;
mod storefront;
mod talk;
mod tickets;
mod tones;
mod words;

/// A sample file before it is packed.
pub struct File {
    /// Relative to the sample folder, with `/`; a name that ends in `.gz` or `.zst` is packed on disk.
    pub path: String,
    pub text: String,
}

impl File {
    fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), text }
    }
}

/// Every sample file, in the order of the README.
pub fn all() -> Vec<File> {
    [
        storefront::files(),
        reports::files(),
        tickets::files(),
        returns::files(),
        parcels::files(),
        recipes::files(),
        notes::files(),
        rooms::files(),
        approvals::files(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
