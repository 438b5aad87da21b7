//! What a finding or a table row points at, and values as they are shown.

use crate::protocol::message::{Text, Ts};

/// A value from traffic together with what the privacy rule needs to know about it.
/// `report` turns it into text (shown, masked, or replaced by length and keyed hash).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shown {
    /// At most 4 KiB.
    pub text: Text,
    pub chars: u64,
    /// Internal hash of the whole value; printed only after keying.
    pub hash: u64,
    /// The value belongs to a closed domain (an argument with an intended set, an enum field, a boolean, a number):
    /// short ones may be shown without `--reveal`.
    pub closed: bool,
}

/// Where a number comes from: one row of the capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub file: Text,
    pub position: u64,
    pub ts: Option<Ts>,
    pub session: Option<Text>,
}
