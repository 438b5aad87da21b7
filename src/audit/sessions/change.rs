//! Changes of a declaration: when they happened, and what became of the sessions that lived across one.

use super::{Life, version_of};
use crate::audit::context::{Context, Group};
use crate::audit::contract_index::{Entry, InListing, VersionId};
use crate::audit::stats::fisher;
use crate::audit::tables::AcrossChange;
use crate::schema::{ListingEvent, SessionQuality};

/// One version taking over from another. Versions that alternate are variants, not history, and make no change.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    pub old: VersionId,
    pub new: VersionId,
    /// Reading order of the last listing of the old version.
    pub last_old: u64,
    /// Reading order of the first sign of the new one: a notice after that, else its first listing.
    pub sign: u64,
}

/// The changes in the life of one prompt.
pub fn changes(context: &Context, group: &Group) -> Vec<Change> {
    let Some(prompt) = &group.prompt else { return Vec::new() };
    if context.contract.versions_of(group.server, prompt).len() < 2 {
        return Vec::new();
    }
    let timeline = context.contract.timeline(context, group.server, prompt);
    let version = |entry: &Entry| match entry.says {
        InListing::Declared(_) => context.contract.version_of(entry.says),
        InListing::Absent => None,
    };
    let notices: Vec<u64> = context
        .frames
        .listings
        .iter()
        .filter(|row| row.event == ListingEvent::ListChanged && context.server_of(&row.session) == group.server)
        .map(|row| row.seq)
        .collect();
    let mut changes: Vec<Change> = Vec::new();
    for pair in timeline.windows(2) {
        let (Some(old), Some(new)) = (version(&pair[0]), version(&pair[1])) else { continue };
        let first_time = context.contract.versions[new].first_seq == pair[1].seq;
        let old_is_over = context.contract.versions[old].last_seq < pair[1].seq;
        if old != new && first_time && old_is_over {
            let (last_old, listed) = (pair[0].seq, pair[1].seq);
            let notice = notices.iter().copied().filter(|seq| (last_old..listed).contains(seq)).min();
            changes.push(Change { old, new, last_old, sign: notice.unwrap_or(listed) });
        }
    }
    changes
}

impl Change {
    /// Whether the change may already have happened when a call was made, and it matters: the call lies between the
    /// last listing of the old version and the first sign of the new, its session lives on across that sign without
    /// ever being told, and the two versions judge its keys differently. A session that is told knows the moment.
    pub fn hides(&self, context: &Context, in_effect: VersionId, call: usize) -> bool {
        let row = &context.frames.calls[call];
        if in_effect != self.old || row.seq <= self.last_old || row.seq > self.sign {
            return false;
        }
        let lives_on = context.session(&row.session).is_some_and(|session| session.last_seq > self.sign);
        let told = context.contract.events(&row.session).iter().any(|&event| {
            let event = &context.frames.listings[event];
            event.event == ListingEvent::ListChanged && event.seq >= self.last_old
        });
        lives_on && !told && self.judges_differently(context, call)
    }

    fn judges_differently(&self, context: &Context, call: usize) -> bool {
        let sent = context.args(call);
        let mismatched = |version: VersionId| {
            let version = &context.contract.versions[version];
            sent.iter().any(|arg| !version.has(&arg.key))
                || version.arguments.iter().any(|known| known.required && !sent.iter().any(|arg| arg.key == known.name))
        };
        mismatched(self.old) != mismatched(self.new)
    }
}

/// The 2×2 of sessions alive across a change with an attempt after it: listed again before that attempt, or not, by
/// whether any attempt under the new version was bad. Of several changes, the one with most bad attempts after it (the
/// latest of equals). `None` without a change, or where no session attempted anything after it.
pub fn across(context: &Context, group: &Group, lives: &[Life]) -> Option<AcrossChange> {
    let mut best: Option<(u64, AcrossChange)> = None;
    for change in changes(context, group) {
        let mut table = AcrossChange {
            listed_again_bad: 0,
            listed_again_clean: 0,
            not_listed_bad: 0,
            not_listed_clean: 0,
            opened_later_bad: 0,
            opened_later_clean: 0,
            fisher_p: None,
        };
        let mut bad_attempts = 0;
        for life in lives {
            if matches!(life.quality, SessionQuality::Guess | SessionQuality::Stateless) {
                continue;
            }
            let mut after = life
                .attempts
                .iter()
                .filter(|attempt| version_of(context.effects[attempt.call].state) == Some(change.new))
                .peekable();
            let Some(first) = after.peek() else { continue };
            let opened = context.session(life.session).map_or(first.seq, |session| session.first_seq);
            let listed = context.effects[first.call].seen == Some(change.new);
            let bad = after.filter(|attempt| attempt.known_bad()).count() as u64;
            bad_attempts += bad;
            let cell = match (opened > change.sign, listed, bad > 0) {
                (true, _, true) => &mut table.opened_later_bad,
                (true, _, false) => &mut table.opened_later_clean,
                (false, true, true) => &mut table.listed_again_bad,
                (false, true, false) => &mut table.listed_again_clean,
                (false, false, true) => &mut table.not_listed_bad,
                (false, false, false) => &mut table.not_listed_clean,
            };
            *cell += 1;
        }
        let across = table.listed_again_bad + table.listed_again_clean + table.not_listed_bad + table.not_listed_clean;
        if across + table.opened_later_bad + table.opened_later_clean == 0 {
            continue;
        }
        table.fisher_p = (across > 0).then(|| {
            fisher::two_sided(
                table.listed_again_bad,
                table.listed_again_clean,
                table.not_listed_bad,
                table.not_listed_clean,
            )
        });
        if best.as_ref().is_none_or(|(most, _)| bad_attempts >= *most) {
            best = Some((bad_attempts, table));
        }
    }
    best.map(|(_, table)| table)
}
