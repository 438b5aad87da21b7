//! The lane of each message: handshakes open lanes, the chain of ids and the lane used last continue them.

use super::{At, Handshake, LIVE_LANES, Sessions, earliest, index};
use crate::protocol::message::{Direction, Id, Request, RequestBody};
use crate::schema::SessionQuality;

impl Sessions {
    /// The lane of a request. The asker's id continues a lane's chain; a handshake opens a lane.
    pub fn of_request(&mut self, scope: u32, asker: Direction, id: &Id, request: &Request, at: At) -> u32 {
        let opens = asker == Direction::ClientToServer
            && matches!(request.body, RequestBody::Initialize { .. } | RequestBody::Discover);
        let lane = if self.explicit(scope) {
            let lane = self.only_lane(scope, at);
            if opens {
                // A new connection under the same key: what was open before is asked by nobody any more.
                self.lanes[lane as usize].carriers.clear();
            }
            lane
        } else if opens {
            self.adoptable(scope, at).unwrap_or_else(|| self.add_lane(scope, at))
        } else if asker == Direction::ClientToServer
            && (request.meta.client.is_some() || request.meta.protocol.is_some())
            && !self.scopes[scope as usize].handshakes
        {
            self.stateless_lane(scope, request.meta.client.as_ref(), at)
        } else {
            self.chained(scope, asker, id, at)
        };
        let found = &mut self.lanes[lane as usize];
        if opens {
            found.opened = true;
            found.handshake = Handshake::Sent;
            self.scopes[scope as usize].handshakes = true;
        }
        if let Id::Integer(number) = id {
            match asker {
                Direction::ClientToServer => found.last_c2s = Some(*number),
                Direction::ServerToClient => found.last_s2c = Some(*number),
            }
        }
        lane
    }

    /// A file that holds one direction only can show the server's side of a lane before its `initialize`.
    fn adoptable(&self, scope: u32, at: At) -> Option<u32> {
        let &[lane] = self.scopes[scope as usize].lanes.as_slice() else { return None };
        let found = &self.lanes[lane as usize];
        (!found.opened && !found.heard_client && found.first_file != at.file).then_some(lane)
    }

    fn chained(&mut self, scope: u32, asker: Direction, id: &Id, at: At) -> u32 {
        let recent = &self.scopes[scope as usize].recent;
        let from_server = asker == Direction::ServerToClient;
        let mut best: Option<((bool, u8, bool), u32)> = None;
        if let Id::Integer(number) = id {
            for &lane in recent {
                let found = &self.lanes[lane as usize];
                let step = match found.last(asker) {
                    Some(last) if last.checked_add(1) == Some(*number) => 2,
                    Some(last) if last < *number => 1,
                    None if *number == 0 || *number == 1 => 2,
                    None => 1,
                    Some(_) => continue,
                };
                let carries = from_server && !found.carriers.is_empty();
                let rank = (carries, step, found.handshake != Handshake::Sent);
                // Of equals, the one used last.
                if best.is_none_or(|(known, _)| rank > known) {
                    best = Some((rank, lane));
                }
            }
        }
        let carrying = || {
            let found = recent.iter().find(|lane| from_server && !self.lanes[**lane as usize].carriers.is_empty());
            found.or_else(|| recent.first()).copied()
        };
        match best.map(|(_, lane)| lane).or_else(carrying) {
            Some(lane) => lane,
            None => self.add_lane(scope, at),
        }
    }

    /// The lane of a notification: the one just initialized, else the one used last.
    pub fn of_notification(&mut self, scope: u32, method: &str, at: At) -> u32 {
        if self.explicit(scope) {
            return self.only_lane(scope, at);
        }
        let recent = &self.scopes[scope as usize].recent;
        let initialized = (method == "notifications/initialized")
            .then(|| recent.iter().filter(|lane| self.lanes[**lane as usize].handshake == Handshake::Answered).min())
            .flatten();
        match initialized.or_else(|| recent.first()).copied() {
            Some(lane) => {
                if initialized.is_some() {
                    self.lanes[lane as usize].handshake = Handshake::Done;
                }
                lane
            }
            None => self.add_lane(scope, at),
        }
    }

    /// The direction of a request that both sides can send: the side whose chain it continues, else the client.
    pub fn likely_asker(&self, scope: u32, id: &Id) -> Direction {
        let lane = self.scopes[scope as usize].recent.first().map(|lane| &self.lanes[*lane as usize]);
        let (Some(lane), Id::Integer(number)) = (lane, id) else { return Direction::ClientToServer };
        let follows = |last: Option<i64>| last.and_then(|last| last.checked_add(1)) == Some(*number);
        if !follows(lane.last_c2s) && follows(lane.last_s2c) {
            Direction::ServerToClient
        } else {
            Direction::ClientToServer
        }
    }

    /// Counts a message of a lane.
    pub fn touch(&mut self, lane: u32, direction: Direction, at: At) {
        let found = &mut self.lanes[lane as usize];
        found.heard_client |= direction == Direction::ClientToServer;
        let (scope, number) = (found.scope as usize, found.number);
        let session = self.session_mut(lane);
        session.messages += 1;
        session.last_seq = session.last_seq.max(at.seq);
        session.first_ts = earliest(session.first_ts, at.ts);
        session.last_ts = session.last_ts.max(at.ts);
        let room = &mut self.scopes[scope];
        if room.explicit {
            return;
        }
        if room.recent.first() != Some(&lane) {
            match room.recent.iter().position(|known| *known == lane) {
                Some(at) => room.recent[..=at].rotate_right(1),
                None => {
                    room.recent.insert(0, lane);
                    room.recent.truncate(LIVE_LANES);
                }
            }
        }
        self.mark_together(scope, number);
    }

    /// A message on a lane while a newer one is open: nothing but ids tells them apart.
    fn mark_together(&mut self, scope: usize, number: u32) {
        let room = &mut self.scopes[scope];
        let Some(newest) = room.lanes.len().checked_sub(1).map(index) else { return };
        if number >= newest {
            return;
        }
        room.together = match room.together {
            Some((low, high)) if low <= number && newest <= high => return,
            Some((low, high)) if number <= high => Some((low.min(number), high.max(newest))),
            _ => Some((number, newest)),
        };
        for at in number..=newest {
            let lane = self.scopes[scope].lanes[at as usize];
            self.session_mut(lane).quality = SessionQuality::Guess;
        }
    }
}
