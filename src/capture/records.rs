//! Inputs whose records are no lines: packets, flows, the entries of an archive, the elements of one long array.

use super::error::CaptureError;
use super::sink::Decoded;
use crate::protocol::message::Ts;

/// What the beginning of a file tells without its messages being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// What speaks for the format, for people.
    pub why: String,
    /// Version or producer, where the beginning names one.
    pub variant: Option<String>,
    /// The earliest time that the beginning shows: files are merged by it.
    pub first_ts: Option<Ts>,
}

/// Reads an input in order, holding no more of it than its longest record.
pub trait Records: Send {
    /// What the next few records held (about a megabyte of them, so that reading and pairing overlap); `None` at the
    /// end.
    fn next(&mut self) -> Option<Stretch>;

    /// Bytes read from the disk so far.
    fn taken(&self) -> u64;

    /// What a reader of the report should know about the file; asked for once, behind the last record.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Some records. Positions in `decoded` (of messages and rejected records) count from 1 at the beginning of the FILE;
/// its tally counts records where that of a line format counts lines, and must close.
#[derive(Debug, Default)]
pub struct Stretch {
    pub decoded: Decoded,
    /// Why nothing follows although the input goes on (or should): damaged, cut, of an unknown version.
    pub error: Option<CaptureError>,
}
