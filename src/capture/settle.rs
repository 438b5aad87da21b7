//! What a block of text lines cannot tell by itself: the server that a line of an earlier block names, and whether its
//! first message is the copy of the last one before it.

use super::rpc::is_other;
use super::sink::{Decoded, Origin};
use crate::protocol::message::{Message, Text};

/// What is known from the blocks before.
#[derive(Debug, Default)]
pub struct Settled {
    server: Option<Text>,
    /// The last message that was counted, by the hash of its bytes and by what stood before it.
    last: Option<(u64, u64)>,
}

impl Settled {
    /// Gives the messages of the next block their server.
    pub fn serve(&mut self, decoded: &mut Decoded) {
        if let Some(server) = &self.server {
            for (message, origin) in decoded.messages.iter_mut().zip(&decoded.origins) {
                if origin.open_server {
                    message.connection.server = Some(server.clone());
                }
            }
        }
        if let Some((_, last)) = &decoded.servers {
            self.server = Some(last.clone());
        }
    }

    /// Drops messages that repeat the one before behind other words: two handlers wrote one record. How many is counted
    /// under a number.
    pub fn drop_doubles(&mut self, decoded: &mut Decoded, reason: usize) {
        let mut dropped = vec![false; decoded.messages.len()];
        let mut any = false;
        for at in 0..decoded.messages.len() {
            let (before, rest) = decoded.messages.split_at_mut(at);
            let (Some(message), Some(Origin { handler, .. })) = (rest.first(), decoded.origins.get(at)) else { break };
            match self.last {
                Some((digest, first)) if digest == message.digest && first != *handler => {
                    // A third record is no copy of the first.
                    self.last = None;
                    any = true;
                    if let Some(dropped) = dropped.get_mut(at) {
                        *dropped = true;
                    }
                    // Not each handler writes the time.
                    if let Some(first) = before.last_mut() {
                        first.ts = first.ts.or(message.ts);
                    }
                    decoded.tally.leave_out(reason, 1);
                }
                _ => self.last = Some((message.digest, *handler)),
            }
        }
        if any {
            remove(decoded, &dropped);
        }
    }
}

/// Takes messages back: a line none of whose messages is left is noise.
fn remove(decoded: &mut Decoded, dropped: &[bool]) {
    let tally = &mut decoded.tally;
    let mut from = 0;
    while let Some(first) = decoded.messages.get(from) {
        let position = first.place.position;
        let line = decoded.messages.get(from..).unwrap_or_default();
        let count = line.iter().take_while(|message| message.place.position == position).count();
        let on_line = decoded.messages.get(from..from + count).unwrap_or_default();
        let gone = dropped.get(from..from + count).unwrap_or_default();
        let each = || on_line.iter().zip(gone);
        for (message, _) in each().filter(|(_, gone)| **gone) {
            tally.messages -= 1;
            tally.other -= u64::from(is_other(&message.kind));
        }
        if gone.iter().all(|gone| *gone) {
            tally.message_lines -= 1;
            tally.noise += 1;
            if on_line.iter().all(|message| is_other(&message.kind)) {
                tally.other_bytes -= on_line.iter().map(|message| u64::from(message.bytes)).sum::<u64>();
            }
        }
        from += count;
    }
    let mut keep = dropped.iter().map(|dropped| !dropped);
    decoded.messages.retain(|_: &Message| keep.next().unwrap_or(true));
    let mut keep = dropped.iter().map(|dropped| !dropped);
    decoded.origins.retain(|_| keep.next().unwrap_or(true));
}
