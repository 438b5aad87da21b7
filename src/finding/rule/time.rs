//! MT6xx: time.

use super::Rule;
use crate::finding::Severity::Warning;

pub const MT601: Rule = Rule {
    id: "MT601",
    name: "a rate changed",
    severity: Warning,
    page: "
Meaning: from one moment on (or for a stretch of days) a rate is another than before: errors,
  unintended values, unknown or missing keys, unusable or declined answers.
Why it matters: a change has a date, and the date leads to what was deployed then. A mean over the
  whole period hides both.
Computed: the best split of the calls in time by the binomial likelihood ratio, 20 calls or more on
  each side; 999 random orders of whole sessions, Holm across all series. From eight days on random
  orders of whole days must agree; one day alone is never named.
What to do: compare the calls on both sides: client, version, declaration, argument values. A change
  that nobody made is an outage or a new kind of user.
",
};
