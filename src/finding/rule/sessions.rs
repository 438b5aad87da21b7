//! MT3xx: sessions and declarations. MT4xx: handlers.

use super::Rule;
use crate::finding::Severity::{Error, Note, Warning};

pub const MT301: Rule = Rule {
    id: "MT301",
    name: "stale session",
    severity: Error,
    page: "
Meaning: a session calls a prompt by a declaration that is no longer in effect, call after call.
Why it matters: for the person in that session the prompt is broken until it restarts, while the
  overall rate of errors looks like noise.
Computed: per prompt, session and declaration in effect, calls with keys of an earlier version, or
  without a newly required one, in a pattern (every time, went bad, or a single call); the cause is
  an outdated declaration (no new listing since) or a replayed invocation. Told, never told and told
  and ignored come from list_changed as sent to that session.
What to do: send list_changed to every session (behind a balancer too), accept the old name for as
  long as sessions live, and let the error tell the host to list again. In a host: list again.
",
};

pub const MT302: Rule = Rule {
    id: "MT302",
    name: "failures have a per-session cause",
    severity: Warning,
    page: "
Meaning: failures of a prompt gather in sessions: some fail every time, others never.
Why it matters: a rate of 20 % suggests a flaky server. If it is one session in five failing always,
  retrying is useless, and the cause lies in what that session holds.
Computed: over sessions with two attempts or more: intraclass correlation by one-way ANOVA, and a
  permutation test within strata (version in effect by day), 9,999 permutations (Phipson & Smyth
  2010), Holm across prompts. Per-session cause: p at most 0.01 and at least 90 % of failures in
  runs.
What to do: compare a failing and a clean session: client, version, last listing, keys sent. The
  sessions table has the cause of each, where the evidence names one.
",
};

pub const MT303: Rule = Rule {
    id: "MT303",
    name: "no declaration captured",
    severity: Note,
    page: "
Meaning: no prompts/list that holds the prompt was captured, so its keys are not judged.
Why it matters: unknown keys, missing arguments and staleness of these calls are not known. That is
  a gap in the capture, not a clean result.
Computed: calls for which no rule finds a declaration in effect; they are counted apart and enter no
  sum of unknown or missing keys.
What to do: capture from the beginning of a session, or add a log in which the server was listed.
",
};

pub const MT304: Rule = Rule {
    id: "MT304",
    name: "several declarations side by side",
    severity: Note,
    page: "
Meaning: one prompt has declarations that alternate or stand side by side in the same time.
Why it matters: replicas of different versions answer for one server, or the list depends on the
  session. A client that lists from one and calls the other fails for no reason it can see.
Computed: versions of a declaration by their periods; versions that come back after another was
  seen are variants, not history. A list with private cache scope serves its own session only.
What to do: roll out declarations to all replicas at once, or route a session to one of them. If the
  difference is intended, say so by the cache scope.
",
};

pub const MT401: Rule = Rule {
    id: "MT401",
    name: "leaked absence",
    severity: Error,
    page: "
Meaning: rendered text holds None, null, undefined, NaN, [object Object] or an unfilled placeholder
  where other calls of the prompt have a value.
Why it matters: the model reads \"a tone that is None\" as an instruction. Nothing failed, so nobody
  looks.
Computed: by the skeleton, the rendered text with the supplied values masked. A word that a person
  typed, or that every call's text has, is no leak.
What to do: give the argument a default before rendering, or leave the whole sentence out when the
  value is absent or was not understood. Test the handler with every optional argument missing.
",
};

pub const MT402: Rule = Rule {
    id: "MT402",
    name: "silent default",
    severity: Warning,
    page: "
Meaning: calls with an unintended value were rendered exactly as if it had been absent.
Why it matters: the person asked for something and got the default, and neither of them was told.
Computed: the skeleton of the call equals the skeleton of calls without the argument, and the value
  does not stand in the text.
What to do: say in the rendered text, or by an error that names the permitted values, that the value
  was not understood.
",
};

pub const MT403: Rule = Rule {
    id: "MT403",
    name: "unknown or missing key rendered",
    severity: Warning,
    page: "
Meaning: a call carried a key that is not declared, or lacked a required one, and was rendered.
Why it matters: the client learns nothing and goes on. In the figures such a session looks healthy:
  it fails without an error.
Computed: calls with unknown keys or missing required arguments, by the declaration in effect,
  whose outcome is rendered. Sessions count them as degraded.
What to do: refuse such calls with error -32602 that names the key. Where old clients must live on,
  map the old key to the new one on purpose.
",
};
