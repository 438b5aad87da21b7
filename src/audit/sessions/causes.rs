//! Why a session failed every time. A pattern is not a cause: each cause has evidence of its own.

use super::{Attempt, Life, Track, by_name};
use crate::audit::context::{Context, Group};
use crate::audit::contract_index::VersionId;
use crate::protocol::message::Text;
use crate::schema::{ListingEvent, SessionQuality};
use ahash::AHashMap;

/// Keys of an earlier version, or a newly required one missing, and no listing since.
pub const OUTDATED_DECLARATION: &str = "outdated declaration";
/// The session listed the current version and still sends old keys.
pub const REPLAYED_INVOCATION: &str = "replayed invocation";
/// A key that no version had: a constant typo.
pub const NEVER_DECLARED: &str = "never declared";
/// All attempts are byte-equal.
pub const SAME_INPUT: &str = "same input repeated";
/// Other sessions of the server fail in the same window too.
pub const OUTAGE: &str = "outage";
pub const UNEXPLAINED: &str = "unexplained";

pub const TOLD: &str = "told";
pub const NEVER_TOLD: &str = "never told";
pub const TOLD_AND_IGNORED: &str = "told and ignored";

/// One unit with everything a cause may rest on.
pub struct Evidenced<'e, 'a> {
    pub context: &'e Context<'a>,
    pub group: &'e Group,
    pub life: &'e Life<'a>,
    pub version: Option<VersionId>,
    pub attempts: &'e [&'e Attempt],
}

impl Evidenced<'_, '_> {
    /// The first cause that holds for more than half of the unit's bad attempts (all, for equal inputs).
    pub fn cause(&self, track: Track, failures: &Failures) -> &'static str {
        let bad: Vec<&Attempt> =
            self.attempts.iter().copied().filter(|attempt| attempt.on(track) == Some(true)).collect();
        let most = |test: &dyn Fn(&Attempt) -> bool| 2 * bad.iter().filter(|attempt| test(attempt)).count() > bad.len();
        let saw_current = |attempt: &Attempt| {
            let effect = &self.context.effects[attempt.call];
            effect.notice.is_none() && effect.seen.is_some() && effect.seen == self.version
        };
        let outdated = |attempt: &Attempt| !attempt.outdated.is_empty() || attempt.newly_required_missing;
        if most(&|attempt| outdated(attempt) && !saw_current(attempt)) {
            OUTDATED_DECLARATION
        } else if most(&|attempt| !attempt.outdated.is_empty() && saw_current(attempt)) {
            REPLAYED_INVOCATION
        } else if most(&|attempt| attempt.undeclared) {
            NEVER_DECLARED
        } else if self.equal_inputs(&bad) {
            SAME_INPUT
        } else if failures.elsewhere(self.group.server, self.life.session, &bad) {
            OUTAGE
        } else {
            UNEXPLAINED
        }
    }

    fn equal_inputs(&self, bad: &[&Attempt]) -> bool {
        let input = |attempt: &Attempt| {
            let row = &self.context.frames.calls[attempt.call];
            (row.arguments_as, row.arguments_hash)
        };
        let captured = |attempt: &&Attempt| self.context.arguments_captured(attempt.call);
        bad.len() > 1 && bad.iter().all(captured) && bad.windows(2).all(|pair| input(pair[0]) == input(pair[1]))
    }

    /// Whether the session was told that its declaration changed; `None` where it did not, or nothing shows that it
    /// had seen another.
    pub fn told(&self, last_call: usize) -> Option<&'static str> {
        let context = self.context;
        let effect = &context.effects[last_call];
        let last_seq = context.frames.calls[last_call].seq;
        let prompt = self.group.prompt.as_deref()?;
        let in_effect = self.version?;
        let events = context.contract.events(self.life.session);
        let listings = &context.frames.listings;
        let before: Vec<usize> = events.iter().copied().take_while(|&row| listings[row].seq < last_seq).collect();
        let first_listed = before.iter().copied().find(|&row| context.contract.says(context, row, prompt).is_some())?;
        let first_seen = context.contract.says(context, first_listed, prompt)?;
        if context.contract.version_of(first_seen) == Some(in_effect) {
            return None;
        }
        if effect.notice.is_some() {
            return Some(TOLD_AND_IGNORED);
        }
        let told = before.iter().any(|&row| {
            listings[row].event == ListingEvent::ListChanged && listings[row].seq > listings[first_listed].seq
        });
        Some(if told { TOLD } else { NEVER_TOLD })
    }
}

/// Attempts of each server that failed without any fault of their keys, for outages.
pub struct Failures {
    servers: Vec<Server>,
    /// What an outage may reach beyond a unit's own bad attempts, in microseconds.
    margin: i64,
}

#[derive(Default)]
struct Server {
    all: Window,
    sessions: AHashMap<Text, Window>,
}

/// Time of an attempt in microseconds, and whether it failed.
type Moments = Vec<(i64, bool)>;

/// Attempts by time with running counts.
#[derive(Default)]
struct Window {
    /// Microseconds.
    at: Vec<i64>,
    /// Failures among the first k attempts.
    failed: Vec<u64>,
}

impl Window {
    fn new(mut attempts: Moments) -> Self {
        attempts.sort_unstable();
        let mut failed = vec![0];
        let mut sum = 0;
        for (_, failing) in &attempts {
            sum += u64::from(*failing);
            failed.push(sum);
        }
        Self { at: attempts.into_iter().map(|(at, _)| at).collect(), failed }
    }

    /// Attempts and failures from one moment to another, both included.
    fn between(&self, from: i64, to: i64) -> (u64, u64) {
        let low = self.at.partition_point(|at| *at < from);
        let high = self.at.partition_point(|at| *at <= to).max(low);
        let failed = |k: usize| self.failed.get(k).copied().unwrap_or_default();
        ((high - low) as u64, failed(high) - failed(low))
    }
}

impl Failures {
    pub fn new(context: &Context, groups: &[&Group], lives: &[Vec<Life>]) -> Self {
        let mut attempts: Vec<(Moments, AHashMap<Text, Moments>)> =
            context.servers.iter().map(|_| Default::default()).collect();
        for (group, lives) in groups.iter().zip(lives) {
            let Some((all, sessions)) = attempts.get_mut(group.server) else { continue };
            for (name, life) in by_name(lives) {
                if life.quality == SessionQuality::Guess {
                    continue;
                }
                for attempt in &life.attempts {
                    let Some(ts) = attempt.ts else { continue };
                    let plain = attempt.failing && attempt.mismatched != Some(true);
                    all.push((ts.0, plain));
                    match sessions.get_mut(name) {
                        Some(own) => own.push((ts.0, plain)),
                        None => drop(sessions.insert(name.into(), vec![(ts.0, plain)])),
                    }
                }
            }
        }
        let servers = attempts.into_iter().map(|(all, sessions)| Server {
            all: Window::new(all),
            sessions: sessions.into_iter().map(|(name, own)| (name, Window::new(own))).collect(),
        });
        let margin = context.expectations.thresholds.outage_margin_s.saturating_mul(1_000_000);
        Self { servers: servers.collect(), margin: i64::try_from(margin).unwrap_or(i64::MAX) }
    }

    /// Close to the bad attempts (`outage_margin_s`), at least half of the other sessions' attempts fail, those of at least two
    /// sessions among them: one other session may have a fault of its own.
    fn elsewhere(&self, server: usize, session: &str, bad: &[&Attempt]) -> bool {
        let times: Option<Vec<i64>> = bad.iter().map(|attempt| attempt.ts.map(|ts| ts.0)).collect();
        let Some((server, times)) = self.servers.get(server).zip(times) else { return false };
        let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else { return false };
        let (from, to) = (first.saturating_sub(self.margin), last.saturating_add(self.margin));
        let (attempts, failed) = server.all.between(from, to);
        let (own_attempts, own_failed) = server.sessions.get(session).map_or((0, 0), |own| own.between(from, to));
        let (others, others_failed) = (attempts - own_attempts, failed - own_failed);
        let failing = |(name, window): &(&Text, &Window)| &***name != session && window.between(from, to).1 > 0;
        2 * others_failed >= others && others_failed > 1 && server.sessions.iter().filter(failing).nth(1).is_some()
    }
}
