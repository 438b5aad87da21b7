//! MT2xx from 213 on: chains of questions, and who answers them.

use super::Rule;
use crate::finding::Severity::Warning;

pub const MT213: Rule = Rule {
    id: "MT213",
    name: "people leave in the middle of the questions",
    severity: Warning,
    page: "
Meaning: an operation asks several questions in a row, and many who answer the first one are gone
  before the last.
Why it matters: every question may be correct and every answer usable, and still the tool does not
  do what it is for. No error shows it: a decline is a good answer.
Computed: the questions of each run of an operation in order; a question asked again after an
  unusable answer is no step of its own. Left: the last question was declined, cancelled or never
  answered. Lost: left after the first answer and before the usual last question, so that an
  optional last question raises no alarm. Fires where the lower end of Wilson's interval of lost
  reaches chain_loss. Clients that refuse unread (MT214) are no people and do not count.
What to do: put the questions into one form, take from the call's arguments what the model already
  knows, give later questions defaults, and look at the question where most go.
",
};

pub const MT214: Rule = Rule {
    id: "MT214",
    name: "refused before anybody can have read it",
    severity: Warning,
    page: "
Meaning: a client declines or cancels nearly every question, faster than a person can read one.
Why it matters: it says that it can ask people, and it does not. To the server these refusals look
  like people who say no.
Computed: per client and version, over accepts and refusals of forms that take reading (more than
  one yes/no question): at least automatic_answers of them, automatic_share the same refusal, and
  automatic_share of the refusals under fast_answer_ms.
What to do: have the client stop declaring elicitation, or show the questions. On the server, give
  this client a way without questions, and leave its refusals out of what people decided.
",
};

pub const MT215: Rule = Rule {
    id: "MT215",
    name: "refusal with content",
    severity: Warning,
    page: "
Meaning: a decline or a cancel carries what stood in the form.
Why it matters: somebody typed it and then said no. It went to the server all the same, and a
  handler that reads the content before the action acts on it.
Computed: per client and version, declines and cancels with content. An empty object is how some
  SDKs write nothing, and is counted apart.
What to do: in the client, send content with accept only. On the server, look at the action first,
  and neither use nor log content beside a refusal.
",
};

pub const MT216: Rule = Rule {
    id: "MT216",
    name: "accepted with nothing filled in",
    severity: Warning,
    page: "
Meaning: answers accept a form with an empty object although the form requires a field.
Why it matters: the client took a click for the whole answer, most likely because it draws no form.
  It will do so every time.
Computed: per client and version, accepted answers whose content is {} and whose schema requires
  something. A form without required fields may be accepted empty, and is not counted.
What to do: have the client draw the form or stop declaring form elicitation. On the server, take
  such an answer for none; asking again will bring the same.
",
};
