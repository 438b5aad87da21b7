//! Packets made by hand: each nasty thing that networks and recorders do, alone.

mod build;
mod file;
mod hostile;
mod http;
mod loss;

use super::*;
use crate::capture::ReadOptions;
use crate::capture::formats::tests::sent;
use crate::capture::tests::{Read, file as write, read};
use build::*;

fn read_bytes(bytes: impl AsRef<[u8]>) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "a.pcap", bytes);
    let read = read(&[&path], &ReadOptions::default());
    assert!(read.errors.is_empty(), "{:?}", read.errors);
    read
}

/// What was read of segments, as `direction kind id method`.
fn told(segments: &[Sent]) -> Vec<String> {
    sent(&read_bytes(pcap(segments)).messages)
}

fn notes(read: &Read) -> Vec<String> {
    read.outcome.files[0].notes.iter().map(ToString::to_string).collect()
}

fn has_note(read: &Read, begins: &str) -> bool {
    notes(read).iter().any(|note| note.starts_with(begins))
}

fn exchange(id: usize) -> [String; 2] {
    [format!("c2s request {id} prompts/get"), format!("s2c result {id}")]
}
