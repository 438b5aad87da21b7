//! Versions of each prompt's declaration: when, what changed, who was told and who listed again (analyses.md §8).

use super::context::Context;
use super::contract_index::{ContractIndex, Version, VersionId};
use super::intended::list::closed_list;
use super::keys::{same_letters, token_subset};
use super::tables::ContractVersion;
use crate::protocol::message::Text;
use crate::schema::ListingEvent;
use std::collections::BTreeMap;

/// What sessions did after a notice that led to one version.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    told: u64,
    listed_again: u64,
}

/// One row per version, by server, prompt and number.
pub fn contract(context: &Context) -> Vec<ContractVersion> {
    let index = &context.contract;
    let mut rows = Vec::new();
    for (server, prompt, versions) in index.declared_prompts() {
        let told = told(context, server, prompt);
        let mut before: Option<&Version> = None;
        for &id in versions {
            let version = &index.versions[id];
            let mut diff = before.map(|before| changes(before, version)).unwrap_or_default();
            diff.extend(list_changes(index, versions, id));
            let told = told.get(&id).copied().unwrap_or_default();
            rows.push(ContractVersion {
                server: context.servers[server].clone(),
                prompt: prompt.clone(),
                version: version.number,
                first_seen: version.first_seen,
                last_seen: version.last_seen,
                arguments: version.arguments.iter().map(|known| known.name.clone()).collect(),
                diff,
                list_changed: told.told,
                listed_again: told.listed_again,
                never_listed_again: told.told - told.listed_again,
            });
            before = Some(version);
        }
    }
    rows
}

/// Per version: sessions that had listed another one and were told that the list changed, and how many listed again.
///
/// The version a notice led to is what the session listed next, else what anybody listed first after the notice. A notice
/// that led to the same version (servers send some for tools) is not counted, and repeats before the next listing are one.
fn told(context: &Context, server: usize, prompt: &Text) -> BTreeMap<VersionId, Told> {
    let index = &context.contract;
    let listings = &context.frames.listings;
    let timeline = index.timeline(context, server, prompt);
    let mut sessions: Vec<&Text> = timeline.iter().map(|entry| &listings[entry.row].session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let mut told: BTreeMap<VersionId, Told> = BTreeMap::new();
    for session in sessions {
        let mut own: Option<VersionId> = None;
        let mut notice: Option<u64> = None;
        for &row in index.events(session) {
            if listings[row].event == ListingEvent::ListChanged {
                notice = notice.or(own.map(|_| listings[row].seq));
                continue;
            }
            let Some(says) = index.says(context, row, prompt) else { continue };
            let listed = index.version_of(says);
            if let (Some(before), Some(_), Some(now)) = (own, notice, listed)
                && before != now
            {
                let told = told.entry(now).or_default();
                told.told += 1;
                told.listed_again += 1;
            }
            own = listed;
            notice = None;
        }
        if let (Some(before), Some(notice)) = (own, notice) {
            let from = timeline.partition_point(|entry| entry.seq <= notice);
            let next = timeline[from..].iter().find(|entry| !entry.private);
            if let Some(now) = next.and_then(|entry| index.version_of(entry.says))
                && now != before
            {
                told.entry(now).or_default().told += 1;
            }
        }
    }
    told
}

/// What differs between two versions, one sentence each.
fn changes(before: &Version, after: &Version) -> Vec<String> {
    let mut removed: Vec<(usize, &Text)> = Vec::new();
    let mut sentences = Vec::new();
    for (at, argument) in before.arguments.iter().enumerate() {
        match after.arguments.iter().find(|known| known.name == argument.name) {
            None => removed.push((at, &argument.name)),
            Some(now) if now.required && !argument.required => sentences.push(format!("{} now required", now.name)),
            Some(now) if !now.required && argument.required => sentences.push(format!("{} now optional", now.name)),
            Some(_) => {}
        }
    }
    let mut added: Vec<(usize, &Text)> = after
        .arguments
        .iter()
        .enumerate()
        .filter(|(_, argument)| !before.has(&argument.name))
        .map(|(at, argument)| (at, &argument.name))
        .collect();
    let mut renamed = Vec::new();
    removed.retain(|(from_at, from)| {
        let spelt: Vec<usize> =
            (0..added.len()).filter(|&at| same_letters(from, added[at].1) || token_subset(from, added[at].1)).collect();
        // Spelling tells; without it, one name that left the very place where one came.
        let place = (0..added.len()).find(|&at| added[at].0 == *from_at).filter(|_| added.len() == 1);
        let found = if spelt.len() == 1 { spelt.first().copied() } else { place };
        match found {
            Some(at) => {
                let (_, to) = added.remove(at);
                renamed.push(format!("renamed {from} to {to}"));
                false
            }
            None => true,
        }
    });
    renamed.extend(added.iter().map(|(_, name)| format!("added {name}")));
    renamed.extend(removed.iter().map(|(_, name)| format!("removed {name}")));
    renamed.extend(sentences);
    let order = |version: &Version, other: &Version| -> Vec<Text> {
        version.arguments.iter().filter(|known| other.has(&known.name)).map(|known| known.name.clone()).collect()
    };
    if renamed.is_empty() && order(before, after) != order(after, before) {
        renamed.push("order of arguments changed".to_owned());
    }
    renamed
}

/// Closed lists in descriptions that came, went or changed with a wording of this version.
fn list_changes(index: &ContractIndex, versions: &[VersionId], version: VersionId) -> Vec<String> {
    let mut wordings: Vec<_> = index.wordings.iter().filter(|wording| versions.contains(&wording.version)).collect();
    wordings.sort_by_key(|wording| wording.first_seq);
    let mut sentences = Vec::new();
    for pair in wordings.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if after.version != version {
            continue;
        }
        for argument in &after.arguments {
            let Some(known) = before.arguments.iter().find(|known| known.name == argument.name) else { continue };
            let list = |text: &Option<Text>| text.as_deref().and_then(closed_list).map(|values| values.join(", "));
            let sentence = match (list(&known.description), list(&argument.description)) {
                (Some(from), Some(to)) if from != to => format!("values of {}: {from}, now {to}", argument.name),
                (None, Some(to)) => format!("values of {} now listed: {to}", argument.name),
                (Some(from), None) => format!("values of {} no longer listed: {from}", argument.name),
                _ => continue,
            };
            sentences.push(sentence);
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::fixture::Fixture;
    use crate::expect::Expectations;

    fn rows(fixture: &Fixture) -> Vec<ContractVersion> {
        let expectations = Expectations::default();
        contract(&Context::new(&fixture.frames, &expectations))
    }

    #[test]
    fn a_rename_is_told_and_some_do_not_listen() {
        let mut fixture = Fixture::new();
        for session in ["a", "b", "c"] {
            fixture.session(session, "desk", "ide");
            fixture.listing(session, &[("triage", &[("ticket", true, ""), ("area", true, "")])]);
        }
        for session in ["a", "b", "c"] {
            fixture.notice(session).notice(session);
        }
        for session in ["a", "b"] {
            fixture.listing(session, &[("triage", &[("ticket", true, ""), ("product-area", true, "")])]);
        }
        let rows = rows(&fixture);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].version, rows[0].list_changed), (1, 0));
        assert!(rows[0].diff.is_empty());
        let now = &rows[1];
        assert_eq!(now.diff, ["renamed area to product-area"]);
        assert_eq!((now.list_changed, now.listed_again, now.never_listed_again), (3, 2, 1));
        assert!(rows[0].last_seen < now.first_seen);
    }

    #[test]
    fn a_notice_about_something_else_is_not_counted() {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "ide").listing("a", &[("p", &[])]);
        fixture.notice("a").listing("a", &[("p", &[])]);
        let rows = rows(&fixture);
        assert_eq!((rows.len(), rows[0].list_changed), (1, 0));
    }

    #[test]
    fn every_kind_of_change_has_a_sentence() {
        let mut fixture = Fixture::new();
        fixture
            .session("a", "desk", "ide")
            .listing("a", &[("p", &[("x", false, "One of: a, b."), ("y", true, ""), ("z", true, "")])]);
        fixture.listing(
            "a",
            &[("p", &[("x", true, "One of: a, c."), ("y", false, ""), ("new", false, ""), ("newer", false, "")])],
        );
        fixture.listing(
            "a",
            &[("p", &[("x", true, "Anything."), ("y", false, ""), ("new", false, ""), ("newer", false, "")])],
        );
        let diff = &rows(&fixture)[1].diff;
        assert_eq!(
            *diff,
            [
                "added new",
                "added newer",
                "removed z",
                "x now required",
                "y now optional",
                "values of x: a, b, now a, c",
                "values of x no longer listed: a, c",
            ]
        );
    }
}
