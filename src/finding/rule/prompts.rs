//! MT1xx: prompt arguments.

use super::Rule;
use crate::finding::Severity::{Error, Note, Warning};

pub const MT101: Rule = Rule {
    id: "MT101",
    name: "unintended values",
    severity: Error,
    page: "
Meaning: calls carry a value outside the set that the argument was meant to take.
Why it matters: prompt arguments are free text on the wire. A handler that branches on the exact
  value falls through to its default, or writes the text into the prompt as it stands.
Computed: values are compared byte by byte with the intended set (expectations file, command line,
  closed list in the description, agreeing completions, in this order). The rest is classed: not a
  string, empty, spacing, case, punctuation, unicode, oversized, multiline, qualified, misspelt,
  novel. The share has its Wilson 95 % interval.
What to do: read the classes and the ladder. Trim, lower-case and strip punctuation if that recovers
  most calls; treat empty as absent; answer the rest with an error that names the permitted values.
  A qualified value (an intended word among others) is a gap in the design, not a typing error.
",
};

pub const MT102: Rule = Rule {
    id: "MT102",
    name: "unknown keys",
    severity: Warning,
    page: "
Meaning: calls carry a key that the declaration in effect does not have.
Why it matters: some SDKs answer an error, others drop the key in silence and render the prompt
  without it, so that a person's input disappears.
Computed: every key is held against the declaration in effect for that call (never against an
  incomplete listing). Outcomes are counted apart, and whether an earlier declaration had the key.
  Rename hints need evidence: the same letters without - _ . and case, a subset of the words, or
  presence exactly where a declared key is missing.
What to do: if an earlier declaration had the key, sessions work from an old listing: see MT301. If
  none had it, some client spells it its own way: accept the alias for a while, and tell its makers.
",
};

pub const MT103: Rule = Rule {
    id: "MT103",
    name: "missing required argument",
    severity: Warning,
    page: "
Meaning: calls lack an argument that the declaration in effect requires.
Why it matters: the host should have refused to send them. What the handler does with the gap is
  the server's own invention: an error, an empty string, the word None.
Computed: per argument, over calls whose arguments were captured and for which a declaration was in
  effect; by outcome and by client. Present but empty is another rule (MT104).
What to do: look which clients send them. Answer with error -32602 naming the argument; in a host,
  keep the send button shut until required fields are filled.
",
};

pub const MT104: Rule = Rule {
    id: "MT104",
    name: "required but empty",
    severity: Warning,
    page: "
Meaning: a required argument is there, and there is nothing in it.
Why it matters: required says only that the key is present. A check for presence passes, and an
  empty string goes into the prompt.
Computed: values with nothing left after trimming Unicode white space, of arguments that the
  declaration in effect requires. Not part of MT103.
What to do: check required arguments for content, not for presence, and answer with an error that
  names the argument. In a host, do not send a field that the person left blank.
",
};

pub const MT105: Rule = Rule {
    id: "MT105",
    name: "not a string",
    severity: Warning,
    page: "
Meaning: an argument arrived as a number, boolean, null, object or array.
Why it matters: the protocol knows only strings here. Typed SDKs refuse the whole call with their
  own error codes, untyped ones pass the value on, and null becomes the word null or None.
Computed: by JSON type on the wire, per argument and client. 42 and \"42\" are two values; null is
  neither absent nor empty.
What to do: mend the client that sends them (the finding names it). In a server, convert numbers and
  booleans to text on purpose, and refuse the rest with an error that says what was expected.
",
};

pub const MT106: Rule = Rule {
    id: "MT106",
    name: "unknown prompt",
    severity: Warning,
    page: "
Meaning: calls ask for a prompt that the server does not list, or give no name.
Why it matters: a command in somebody's menu leads nowhere. Often the prompt was renamed or removed
  and the host kept its old list.
Computed: only where a complete listing was in effect and lacks the name. Without a listing the call
  counts as no declaration captured (MT303). The name \"\" and no name at all are told apart.
What to do: keep the old name as an alias for some weeks, send notifications/prompts/list_changed
  when prompts change, and answer with an error that lists the names there are.
",
};

pub const MT107: Rule = Rule {
    id: "MT107",
    name: "absent and empty treated differently",
    severity: Warning,
    page: "
Meaning: calls without an optional argument and calls with an empty one get different treatment.
Why it matters: absent and empty are two hosts, not two meanings. Some leave out what a person left
  blank, others send \"\" for it; the same wish then gives two answers.
Computed: among calls that agree in every other key, outcomes and skeletons (the rendered text with
  the supplied values masked) of absent and zero-length are compared.
What to do: treat an optional argument that is empty after trimming exactly like an absent one, at
  the top of the handler.
",
};

pub const MT108: Rule = Rule {
    id: "MT108",
    name: "intended values and traffic disagree",
    severity: Note,
    page: "
Meaning: an intended value is never used, more than twelve values stand in prose, an optional closed
  argument names no default, or an expectation names an argument that nobody sends or declares.
Why it matters: a list that people cannot see is a list they will not hit, and an expectation with a
  typing error judges nothing.
Computed: from the intended set and its source, the values that arrived, and the description in
  effect.
What to do: drop or advertise what is unused, offer long lists through completion/complete, name the
  default in the description, and correct the name in mcptally.toml.
",
};

pub const MT109: Rule = Rule {
    id: "MT109",
    name: "structure smuggled through a string",
    severity: Note,
    page: "
Meaning: values of an argument are JSON objects or arrays written as text, or start like one and
  do not parse.
Why it matters: arguments are flat strings, so someone agreed on a format of their own. Nothing
  checks it, and what does not parse fails late.
Computed: per argument, values that parse as an object or array, and values that begin with a brace
  or bracket and fail.
What to do: split the structure into arguments, or ask for it by elicitation with a schema. Until
  then parse it strictly and answer with the place of the error.
",
};
