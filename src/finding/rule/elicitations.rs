//! MT2xx: elicitations.

use super::Rule;
use crate::finding::Severity::{Error, Note, Warning};

pub const MT201: Rule = Rule {
    id: "MT201",
    name: "unusable answers",
    severity: Warning,
    page: "
Meaning: accepted answers break the schema that was sent with their question.
Why it matters: the protocol asks clients to check, and some do not. Whatever trusts an accepted
  answer works with values out of range, missing fields or text where a number should be.
Computed: each accepted form answer against the schema of its own question; the first reason in the
  order of precedence is the verdict. Rate = unusable / (usable + unusable), with Wilson's interval.
  A person could have typed a value out of range, too long or badly formed; the integration did an
  unknown key, a missing field, a wrong type; not in enum stands alone.
What to do: check every answer on the server. Ask once more where a person could have typed it;
  do not where the integration did it, it will answer the same again.
",
};

pub const MT202: Rule = Rule {
    id: "MT202",
    name: "unusable answer acted on",
    severity: Error,
    page: "
Meaning: an answer broke its schema, and the operation that asked went through all the same.
Why it matters: a check is missing. A budget of -5 or a team nobody offered became real.
Computed: verdict of the answer by outcome of the operation; counted where the verdict is unusable
  and the operation ended ok.
What to do: validate the answer against the very schema that was sent before acting on it. Go
  through the evidence rows and undo what should not have happened.
",
};

pub const MT203: Rule = Rule {
    id: "MT203",
    name: "only the extremes betray it",
    severity: Note,
    page: "
Meaning: the 1st to 99th percentile of a column lie inside the declared bounds, its minimum or
  maximum does not.
Why it matters: means, medians and percentiles of this column look healthy. Whoever watches only
  them never sees the values that do harm.
Computed: with 101 values or more, quantiles by Hyndman and Fan's type 7 and exact decimal extremes
  over everything that arrived, beside each declared bound.
What to do: alert on minimum and maximum beside the mean, and count answers outside the schema. How
  many faults can never show at the extremes (enum, missing, type) stands in the report.
",
};

pub const MT204: Rule = Rule {
    id: "MT204",
    name: "answer not in enum",
    severity: Error,
    page: "
Meaning: an answer holds a value that its question did not offer.
Why it matters: nobody can pick what is not in the list, so something other than the form supplied
  it: a cached form, a script, a policy file. Where the list differs by session it is a list of
  what this person may do, and the answer steps over it.
Computed: against the enum of that question; says whether the value was in an earlier enum of the
  session, in another session's, is a spelling variant, or was never offered, and the time between.
What to do: refuse the value; never use an enum as the only check of a right. Where the value came
  from another session, look at that session.
",
};

pub const MT205: Rule = Rule {
    id: "MT205",
    name: "stray answers",
    severity: Warning,
    page: "
Meaning: answers came for a question that was already answered, under a key nobody asked, or with a
  state that nobody issued.
Why it matters: a replayed answer can be taken for a fresh consent. In stateless traffic the state
  comes back from the client, and can be stale or forged.
Computed: beside the equation of questions, by kind: replayed, key not asked, state unknown; each is
  checked against the newest question with that state or key, and none is dropped.
What to do: accept an answer once, bind the state to its session and let it expire, and ignore keys
  that were not asked.
",
};

pub const MT206: Rule = Rule {
    id: "MT206",
    name: "nobody at the keyboard",
    severity: Warning,
    page: "
Meaning: a client answers questions faster than a person can, and always alike.
Why it matters: an elicitation is there so that a person decides. These answers are consent on
  paper only.
Computed: per client and version with ten accepted answers or more: at least 95 % arrive under
  500 ms, and at least 95 % equal the schema's defaults or the client's previous answer.
What to do: find out whether the client is a test, an automatic approver or a policy file. Do not
  count its answers as a person's, and ask for consent by another way where it matters.
",
};

pub const MT207: Rule = Rule {
    id: "MT207",
    name: "secret asked for in a form",
    severity: Error,
    page: "
Meaning: a form question asks for a password, API key, token or card number.
Why it matters: the specification forbids it. The answer passes through the host, its logs and
  perhaps the model's context.
Computed: names and titles of text and number fields in form questions are read word by word;
  max_tokens or a next-page token is no secret.
What to do: use URL mode, where the person types the secret on the server's own page. Treat secrets
  already collected this way as leaked, and replace them.
",
};

pub const MT208: Rule = Rule {
    id: "MT208",
    name: "bounds vary by session",
    severity: Note,
    page: "
Meaning: the same field was asked with different bounds in different sessions.
Why it matters: a limit that depends on who asks is an entitlement, and it now stands on the wire,
  where the client can read it and need not keep it.
Computed: declared minimum and maximum of a column, by session, with how often each was asked.
What to do: check the limit on the server with the person's own rights; do not rely on the client to
  keep a bound. If the difference is a new version of the schema, nothing is wrong.
",
};

pub const MT209: Rule = Rule {
    id: "MT209",
    name: "usable and refused",
    severity: Note,
    page: "
Meaning: an answer satisfied its schema, and the operation refused it.
Why it matters: the server has a rule that the schema does not state. A person filled in a form
  correctly and was turned away.
Computed: verdict of the answer by outcome of the operation; counted where the verdict is usable and
  the operation ended in an error. The error need not be about the answer.
What to do: state the rule in the schema if it can be (a bound, an enum), in the message if it
  cannot, and let the error say which field was wrong.
",
};

pub const MT210: Rule = Rule {
    id: "MT210",
    name: "question without declared capability",
    severity: Warning,
    page: "
Meaning: the server asked a client that did not declare elicitation, or not this mode.
Why it matters: a client that cannot show the question answers with an error, cancels, or never
  answers, and the operation hangs.
Computed: capabilities of the session's initialize (or of the request, in 2026-07-28) against the
  mode of each question. An empty elicitation capability means form. Sessions whose initialize was
  not captured are not judged.
What to do: look at the capability before asking and have a way without an answer.
",
};

pub const MT211: Rule = Rule {
    id: "MT211",
    name: "keywords outside the elicitation subset",
    severity: Note,
    page: "
Meaning: a requested schema uses JSON Schema keywords that the revision in use does not allow there.
Why it matters: clients draw forms from a small subset. What lies outside is ignored by some, and
  refused or shown wrong by others, so that a rule you rely on is never applied.
Computed: keywords of every requested schema against the subset of the session's revision.
What to do: flatten the schema to the subset (string, number, integer, boolean, enum and what the
  revision adds), and check everything else on the server.
",
};

pub const MT212: Rule = Rule {
    id: "MT212",
    name: "loop after an unusable answer",
    severity: Warning,
    page: "
Meaning: within one operation a question was repeated more than once after unusable answers.
Why it matters: if a person typed it wrong, the second question mends it. If the integration did it,
  the third question brings the same answer, and the operation turns in a circle.
Computed: questions of one operation in order; repeats after an unusable accept; over one is a loop.
  Success of the second question is given by cause.
What to do: ask again once, only where a person could have typed it, and then end the operation with
  an error that says what was wrong.
",
};
