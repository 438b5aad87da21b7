//! Closed lists of values in an argument's description.

use crate::protocol::message::Text;

/// The values of a closed list in a description.
pub fn closed_list(_description: &str) -> Option<Vec<Text>> {
    None
}
