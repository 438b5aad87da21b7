//! MT12x: completion of prompt arguments.

use super::Rule;
use crate::finding::Severity::{Note, Warning};

pub const MT121: Rule = Rule {
    id: "MT121",
    name: "closed set without completion",
    severity: Note,
    page: "
Meaning: an argument has a closed set of values, people type others, and completion never offered
  them the set: it was never asked, or answered with nothing.
Why it matters: without completion a host can only show an empty box. People then guess, and the
  handler gets every spelling there is.
Computed: arguments with a set of their own (expectations, command line, description), unintended
  calls with something in the field, and the completion/complete requests about it. Calls with an
  empty field do not count: no list would have changed them. The threshold is
  completion_unintended_calls.
What to do: answer completion/complete with the set and declare the completions capability. If no
  client asks although the server offers it, ask the makers of the host.
",
};

pub const MT122: Rule = Rule {
    id: "MT122",
    name: "completion offers what nobody intends",
    severity: Warning,
    page: "
Meaning: completion offered values that no version of the argument's own set holds.
Why it matters: a person who picks from the list does everything right and still sends a value that
  the handler was not written for.
Computed: values of completion answers against every set that descriptions, the expectations file or
  the command line gave the argument. A set that only completion told cannot disagree with itself.
What to do: let the declared list, the handler and completion read one table.
",
};
