//! What can be wrong with an input, one message each: which file, where, what is wrong, what to do.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("{path}: no such file or folder; check the path")]
    Missing { path: String },
    #[error("{pattern}: no file matches this pattern; quote it, and check that the folder is right")]
    NoMatch { pattern: String },
    #[error("{pattern}: not a valid pattern: {detail}")]
    BadPattern { pattern: String, detail: String },
    #[error("{path}: cannot be read: {source}; check that you may read it")]
    Unreadable { path: String, source: io::Error },
    #[error(
        "{path}: the folder holds no capture ({looked_at} files looked at{skipped}); name the folder or file that holds the logs"
    )]
    NothingInFolder { path: String, looked_at: usize, skipped: String },
    #[error("{path}: the file is empty; nothing was recorded in it")]
    Empty { path: String },
    #[error("{path}: a binary file, no capture; give the text log or the JSON lines instead")]
    Binary { path: String },
    #[error("{path}: no known format: {detail}; give the format with --format ({known}) if you know it")]
    UnknownFormat { path: String, detail: String, known: String },
    #[error("{path}: {what}, which cannot be read yet; {advice}")]
    Unsupported { path: String, what: &'static str, advice: &'static str },
    #[error("{path}: not as {format} is described: {detail}; correct the description, or give another --format")]
    NotAsDescribed { path: String, format: String, detail: String },
    #[error("--format {name}: no such format; known are {known}")]
    NoSuchFormat { name: String, known: String },
    #[error(
        "{path}: the {kind} data is corrupt near byte {offset} of the file: {detail}; what stands before it was read"
    )]
    Corrupt { path: String, kind: &'static str, offset: u64, detail: String },
    #[error(
        "{path}: {what} {position} is of format version {found}, and versions {supported} can be read; {advice}; what \
         stands before it was read"
    )]
    Version { path: String, what: &'static str, position: u64, found: String, supported: String, advice: &'static str },
    #[error(
        "{path}: at byte {offset} it says that {} of link type {link}, which cannot be read; record on a network interface \
         (tcpdump -i INTERFACE), or give what tshark makes of the file (tshark -r FILE -T ek -x)",
        match packets { 0 => "its packets are".to_owned(), count => format!("{count} of its packets are") }
    )]
    LinkType { path: String, offset: u64, link: u32, packets: u64 },
    #[error("{path}: it ends too early, at {place}: {detail}; what stands before it was read")]
    Cut { path: String, place: String, detail: String },
    #[error("{path}: {what}, which is not known; {advice}")]
    OfVersion { path: String, what: String, advice: &'static str },
    #[error("{path}: reading failed at byte {offset} of the file: {source}; what stands before it was read")]
    Broken { path: String, offset: u64, source: io::Error },
}

impl CaptureError {
    /// The file or pattern the error is about.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Missing { path }
            | Self::Unreadable { path, .. }
            | Self::NothingInFolder { path, .. }
            | Self::Empty { path }
            | Self::Binary { path }
            | Self::UnknownFormat { path, .. }
            | Self::Unsupported { path, .. }
            | Self::NotAsDescribed { path, .. }
            | Self::Corrupt { path, .. }
            | Self::Version { path, .. }
            | Self::LinkType { path, .. }
            | Self::Cut { path, .. }
            | Self::OfVersion { path, .. }
            | Self::Broken { path, .. } => Some(path),
            Self::NoMatch { pattern } | Self::BadPattern { pattern, .. } => Some(pattern),
            Self::NoSuchFormat { .. } => None,
        }
    }

    /// An empty file is worth a word but no failure: everything in it was read.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::Empty { .. })
    }
}
