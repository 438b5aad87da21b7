//! MT9xx: the input itself.

use super::Rule;
use crate::finding::Severity::{Note, Warning};

pub const MT901: Rule = Rule {
    id: "MT901",
    name: "rejected records",
    severity: Warning,
    page: "
Meaning: records of a file could not be read.
Why it matters: whatever they held is missing from every number of the report; the exit status is 2
  unless --lenient forgives it.
Computed: per file; they are a term of the line equation and never disappear. Cut first and last
  lines of a rotated log are noted, not rejected.
What to do: look at rejected.ndjson (file, line, reason). If the format was taken for another one,
  give --format; mcptally inspect shows what was chosen and why.
",
};

pub const MT902: Rule = Rule {
    id: "MT902",
    name: "values not captured",
    severity: Note,
    page: "
Meaning: the capture kept the messages but not their bodies: redacted, cut or never written.
Why it matters: these calls can be counted and not judged. They stand as not captured in every sum
  and are never taken for absent or empty.
Computed: calls and answers whose body the source did not keep, per server.
What to do: raise the log level of the source, or capture on the wire, if values matter. Claude
  Desktop, for one, redacts bodies in its newer logs.
",
};

pub const MT903: Rule = Rule {
    id: "MT903",
    name: "sessions cannot be told apart",
    severity: Warning,
    page: "
Meaning: messages of several sessions stand mixed in one stream, and nothing says which is whose.
Why it matters: patterns by session, staleness and some pairings would be guesses. They are marked
  as such and do not enter a verdict.
Computed: sessions whose cut is a guess, because the capture names none and what stands in the
  stream fits no single one.
What to do: name the field that tells sessions apart with --session-key, or capture one file a
  session.
",
};

pub const MT904: Rule = Rule {
    id: "MT904",
    name: "duplicates dropped",
    severity: Note,
    page: "
Meaning: records occurred twice and were counted once.
Why it matters: overlapping files or a collector that sends twice would double every count.
Computed: same connection, direction, id, time and bytes. Where a capture has no times nothing is
  dropped, because a client may well send the same message twice.
What to do: nothing, if the files overlap. If not, look at the collector: a record that it sends
  twice is counted twice by every tool that does not compare times.
",
};

pub const MT905: Rule = Rule {
    id: "MT905",
    name: "questions or answers without their other half",
    severity: Note,
    page: "
Meaning: requests were never answered, or answers belong to no request in these files.
Why it matters: at the edges of a capture that is normal. In its middle it means a crash, a dropped
  connection or a part of the log that is missing.
Computed: after pairing over all files by session, direction and id: open requests and orphan
  answers by method. Both are terms of the sums.
What to do: add the log before or after this one; a frames folder that gets more logs later closes
  what was open. If it stays open, look at what the server did at that time.
",
};

pub const MT906: Rule = Rule {
    id: "MT906",
    name: "duplicate keys in an object",
    severity: Note,
    page: "
Meaning: a JSON object held the same key twice.
Why it matters: RFC 8259 leaves open which one counts. Parsers differ, so that client, server and
  this report can each have seen another value.
Computed: counted per file while reading our messages; the last one counts here, as in most parsers.
What to do: mend the writer. If it is a client you do not know, treat it as an attempt to pass one
  check and reach another.
",
};

pub const MT907: Rule = Rule {
    id: "MT907",
    name: "suspected double capture",
    severity: Warning,
    page: "
Meaning: the same requests seem to stand in this capture twice, once on each side of a gateway.
Why it matters: every count of calls and questions is then twice what clients did, and a session of
  the gateway is taken for a client.
Computed: a request with equal prompt and arguments that begins within 2 s while the first is open
  and, where it has a session of its own, is answered before it; at least 5 such twins, which are at
  least 90 % of the smaller session. Exact copies are dropped before (MT904). Without times nothing
  is said. A client that sends each request twice at once looks the same.
What to do: audit one side with --hop outer (what clients sent) or --hop inner (what servers got),
  or leave the log of the other side out.
",
};
