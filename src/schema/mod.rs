//! Every column of every frame: name, type, documentation, and whether it can hold personal text.
//!
//! A frame is defined once, here. The Arrow schema, the writer, the reader and the documentation follow from it.

pub mod cell;

use crate::protocol::message::{Text, Ts};
use cell::Cell;

/// A column's definition, for schemas and documentation.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: &'static str,
    pub doc: &'static str,
    /// May hold text that people typed.
    pub sensitive: bool,
    pub field: arrow::datatypes::Field,
}

/// One row type of a frame.
pub trait Row: Sized + Send + 'static {
    /// Name of the frame and of its folder.
    const FRAME: &'static str;
    /// One builder per column.
    type Builders: Default + Send;
    fn columns() -> Vec<Column>;
    fn append(&self, builders: &mut Self::Builders);
    /// Turns what was appended into arrays, in column order, and empties the builders.
    fn finish(builders: &mut Self::Builders) -> Vec<arrow::array::ArrayRef>;
    /// Reads the rows of one Polars frame that has these columns, in row order.
    fn read(frame: &polars::prelude::DataFrame) -> polars::prelude::PolarsResult<Vec<Self>>;
}

macro_rules! sensitive {
    () => {
        false
    };
    (sensitive) => {
        true
    };
}

macro_rules! frame {
    ($(#[doc = $doc:literal])+ $row:ident, $builders:ident = $name:literal {
        $( $(#[doc = $cdoc:literal])+ $col:ident : $ty:ty $(, $tag:ident)? ; )+
    }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $row {
            $( $(#[doc = $cdoc])+ pub $col: $ty, )+
        }

        /// Column builders of the frame.
        #[derive(Default)]
        pub struct $builders {
            $( $col: <$ty as Cell>::Builder, )+
        }

        impl Row for $row {
            const FRAME: &'static str = $name;
            type Builders = $builders;

            fn columns() -> Vec<Column> {
                vec![$( Column {
                    name: stringify!($col),
                    doc: concat!($($cdoc),+).trim_ascii(),
                    sensitive: sensitive!($($tag)?),
                    field: <$ty as Cell>::field(stringify!($col)),
                }, )+]
            }

            fn append(&self, builders: &mut Self::Builders) {
                $( self.$col.append(&mut builders.$col); )+
            }

            fn finish(builders: &mut Self::Builders) -> Vec<arrow::array::ArrayRef> {
                vec![$( <$ty as Cell>::finish(&mut builders.$col), )+]
            }

            fn read(frame: &polars::prelude::DataFrame) -> polars::prelude::PolarsResult<Vec<Self>> {
                $( let mut $col = <$ty as Cell>::read(frame.column(stringify!($col))?)?; )+
                let mut rows = Vec::with_capacity(frame.height());
                for _ in 0..frame.height() {
                    rows.push(Self { $( $col: $col.next().unwrap_or_default(), )+ });
                }
                Ok(rows)
            }
        }
    };
}

/// An enumeration that is a word in every output. The words are the contract; the variants are ours.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $first:ident = $fword:literal, $( $variant:ident = $word:literal ),* $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            #[default]
            #[serde(rename = $fword)]
            $first,
            $( #[serde(rename = $word)] $variant, )*
        }

        impl $name {
            pub const ALL: &'static [Self] = &[Self::$first, $( Self::$variant ),*];

            pub fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $fword,
                    $( Self::$variant => $word, )*
                }
            }

            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $fword => Some(Self::$first),
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::schema::cell::Word for $name {
            fn word(&self) -> &'static str {
                self.as_str()
            }
            fn from_word(word: &str) -> Option<Self> {
                Self::parse(word)
            }
        }
    };
}

words! {
    /// What became of a `prompts/get`.
    CallOutcome { Unanswered = "unanswered", Rendered = "rendered", Error = "error", InputRequired = "input_required", NotCaptured = "not_captured" }
}
words! {
    /// What `params.arguments` was.
    ArgumentsShape { Absent = "absent", Object = "object", Null = "null", Array = "array", Other = "other", NotCaptured = "not_captured" }
}
words! {
    /// Which bodies of an exchange the capture holds.
    BodyState { Full = "full", ParamsOnly = "params_only", ResultOnly = "result_only", Truncated = "truncated", Redacted = "redacted", Absent = "absent" }
}
words! {
    /// The JSON type of a value on the wire.
    ValueType { String = "string", Number = "number", Boolean = "boolean", Null = "null", Object = "object", Array = "array" }
}
words! {
    /// Whether a value has content. `Empty` is zero-length text.
    Presence { Filled = "filled", Empty = "empty" }
}
words! {
    /// Where a session key came from (protocol.md, Sessions).
    SessionQuality { Exact = "exact", Cut = "cut", Guess = "guess", Stateless = "stateless" }
}
words! {
    /// A row of `listings`.
    ListingEvent { Listed = "listed", ListChanged = "list_changed" }
}
words! {
    /// How a question travelled.
    ElicitationStyle { Request = "request", InputRequired = "input_required", Task = "task" }
}
words! {
    /// What became of a question. `accept_url`, `accept` … are told apart by `verdict`.
    ElicitationOutcome { Unanswered = "unanswered", Accept = "accept", Decline = "decline", Cancel = "cancel", Error = "error", Malformed = "malformed", NotCaptured = "not_captured" }
}
words! {
    /// What an accepted answer is worth. `none` where nothing was accepted.
    Verdict { None = "none", Usable = "usable", Unusable = "unusable", Unchecked = "unchecked", Url = "url" }
}
words! {
    /// What one field of an accepted answer is worth.
    FieldVerdict { Usable = "usable", Unusable = "unusable", MissingRequired = "missing required", AbsentOptional = "absent optional", NoContent = "no content", Unchecked = "unchecked" }
}
words! {
    /// Why an accepted answer breaks the schema sent with its question, in order of precedence.
    Reason {
        ContentMissing = "content missing", ContentNotAnObject = "content not an object", MissingRequired = "missing required",
        UnknownKey = "unknown key", WrongType = "wrong type", NotAnInteger = "not an integer", NestedValue = "nested value",
        BelowMinimum = "below minimum", AboveMaximum = "above maximum", NotInEnum = "not in enum", TooShort = "too short",
        TooLong = "too long", Pattern = "pattern", BadFormat = "bad format", TooFewItems = "too few items", TooManyItems = "too many items",
    }
}
words! {
    /// Who could have caused an unusable answer (analyses.md §5).
    ReasonCause { Person = "a person could have typed it", Integration = "the integration did it", Enumeration = "not in enum" }
}
words! {
    /// An answer that closes no question.
    Stray { None = "none", Replayed = "replayed", KeyNotAsked = "key_not_asked", StateUnknown = "state_unknown" }
}
words! {
    /// The kind of request a question belongs to.
    OperationKind { Ambiguous = "ambiguous", ToolCall = "tools/call", PromptGet = "prompts/get", ResourceRead = "resources/read", Other = "other" }
}
words! {
    /// What became of the operation in which a question was asked.
    OperationOutcome { Unanswered = "unanswered", Ok = "ok", IsError = "is_error", Error = "error", AskedAgain = "asked_again", NotCaptured = "not_captured" }
}
words! {
    /// How the operation of a question was found.
    OperationRule { Ambiguous = "ambiguous", OnlyOpen = "only_open", Stream = "stream", Carried = "carried" }
}

frame! {
    /// An input file.
    FileRow, FileBuilders = "files" {
        /// Path as given.
        file: Text;
        /// Format the file was read as.
        format: Text;
        /// Variant or version of the format, where it has one.
        format_version: Option<Text>;
        /// Why this format was chosen.
        why: Text;
        /// Size as read from disk, before decompression.
        disk_bytes: u64;
        /// Decoded size in bytes.
        bytes: u64;
        /// Lines (records of other formats).
        lines: u64;
        /// Lines that hold at least one message, ours or not.
        message_lines: u64;
        /// Messages (a batch line holds several).
        messages: u64;
        /// Messages no analysis reads: only method, id and size were looked at.
        other: u64;
        /// Bytes of the lines that hold only such messages.
        other_bytes: u64;
        /// Lines that are no messages and no part of one (stderr, lifecycle).
        noise: u64;
        /// Blank lines.
        blank: u64;
        /// Lines that continue the record before them.
        continuation: u64;
        /// Records that could not be read.
        rejected: u64;
        /// Exact duplicates dropped.
        duplicates: u64;
        /// Objects in which a key stood twice.
        duplicate_keys: u64;
        /// Earliest time in the file.
        first_ts: Option<Ts>;
        /// Latest time in the file.
        last_ts: Option<Ts>;
        /// Remarks for the reader (encoding, cut lines, calibrated direction), in order.
        notes: Vec<Text>;
    }
}

frame! {
    /// Messages counted by file, method, kind and direction.
    MethodRow, MethodBuilders = "messages" {
        /// Path as given.
        file: Text;
        /// Method of the request; of an answer, that of the request it answers; `?` where none is known.
        method: Text;
        /// `request`, `result`, `error`, `notification`, `unanswered` (a request without answer), `orphan` (an answer without request).
        kind: Text;
        /// `c2s`, `s2c` or `unknown`.
        direction: Text;
        /// Messages.
        count: u64;
        /// Their bytes in the capture.
        bytes: u64;
    }
}

frame! {
    /// A session.
    SessionRow, SessionBuilders = "sessions" {
        /// Name of the session, unique in the folder.
        session: Text;
        /// Which rule of protocol.md named it: `capture`, `key`, `lane`, `stateless`.
        session_rule: Text;
        /// How sure the cut is.
        session_quality: SessionQuality;
        /// `serverInfo.name`.
        server: Option<Text>;
        /// `serverInfo.version`.
        server_version: Option<Text>;
        /// The capture's own name for the server.
        server_label: Option<Text>;
        /// `clientInfo.name`, else the capture's label.
        client: Option<Text>;
        /// `clientInfo.version`.
        client_version: Option<Text>;
        /// Negotiated protocol revision.
        protocol: Option<Text>;
        /// First file of the session.
        file: Text;
        /// First message's line.
        position: u64;
        /// Time of the first message.
        first_ts: Option<Ts>;
        /// Time of the last message.
        last_ts: Option<Ts>;
        /// Reading order of the first message.
        first_seq: u64;
        /// Reading order of the last message.
        last_seq: u64;
        /// Messages of the session.
        messages: u64;
        /// The client declared form elicitation; null where no declaration was seen.
        elicitation_form: Option<bool>;
        /// The client declared url elicitation; null where no declaration was seen.
        elicitation_url: Option<bool>;
        /// The server declared `prompts.listChanged`; null where no declaration was seen.
        prompts_list_changed: Option<bool>;
    }
}

frame! {
    /// A `prompts/get` with its answer; retries of `input_required` are rounds of one row.
    CallRow, CallBuilders = "prompt_calls" {
        /// Number of the call, unique in the folder.
        call: u64;
        /// File of the first request.
        file: Text;
        /// Line of the first request.
        position: u64;
        /// Reading order of the first request over all files.
        seq: u64;
        /// Time of the first request.
        ts: Option<Ts>;
        /// Session (joins `sessions`).
        session: Text;
        /// Server as known when the call ended.
        server: Option<Text>;
        /// Client name.
        client: Option<Text>;
        /// Client version.
        client_version: Option<Text>;
        /// Protocol revision of the session or request.
        protocol: Option<Text>;
        /// Prompt name; null where no name was sent, "" is a name.
        prompt: Option<Text>, sensitive;
        /// False where the name itself was not captured.
        prompt_captured: bool;
        /// Requests on the wire that make up this call.
        rounds: u32;
        /// Sent as a member of a JSON-RPC array.
        batch: bool;
        /// What `params.arguments` was.
        arguments_as: ArgumentsShape;
        /// Hash of the first round's arguments (order-free), for equal inputs.
        arguments_hash: u64;
        /// Arguments differed between rounds.
        arguments_changed: bool;
        /// Outcome of the last round.
        outcome: CallOutcome;
        /// JSON-RPC error code of the last round.
        error_code: Option<i64>;
        /// JSON-RPC error message, at most 4 KiB.
        error_message: Option<Text>, sensitive;
        /// Milliseconds from the first request to the last answer.
        latency_ms: Option<f64>;
        /// Reading order of the last answer.
        answered_seq: Option<u64>;
        /// Messages rendered.
        rendered_messages: Option<u32>;
        /// Characters of rendered text.
        rendered_chars: Option<u64>;
        /// Hash of the rendered text with the supplied values masked.
        rendered_skeleton: Option<u64>;
        /// Words of absence in the skeleton (`None`, `undefined`, ...), in order of appearance, each once.
        leaked: Vec<Text>;
        /// Names of arguments whose value of at least three characters stands verbatim in the rendered text.
        echoed: Vec<Text>;
        /// Which bodies were captured.
        body_state: BodyState;
    }
}

frame! {
    /// An argument of a call (first round).
    ArgRow, ArgBuilders = "prompt_args" {
        /// The call (joins `prompt_calls`).
        call: u64;
        /// Argument name as sent.
        key: Text, sensitive;
        /// Zero-length text or not.
        present_as: Presence;
        /// JSON type on the wire.
        json_type: ValueType;
        /// Exact text, at most 4 KiB (cut on a character boundary).
        value: Text, sensitive;
        /// Length of the whole value in Unicode scalar values.
        value_chars: u64;
        /// Words of the whole value (Unicode white space separates).
        value_words: u64;
        /// Lines of the whole value (LF, CR, CRLF, U+2028, U+2029 separate).
        value_lines: u64;
        /// Hash of the whole value's bytes. Internal: reports print a keyed hash instead.
        value_hash: u64;
    }
}

frame! {
    /// A distinct declaration of a prompt, one row per argument (one row with a null argument where it has none).
    DeclarationRow, DeclarationBuilders = "declarations" {
        /// Server that first showed it.
        server: Option<Text>;
        /// Prompt name.
        prompt: Text;
        /// The prompt's description.
        prompt_description: Option<Text>;
        /// Argument name, null where the prompt declares none.
        argument: Option<Text>;
        /// Position of the argument from 0.
        position: u32;
        /// Declared as required.
        required: bool;
        /// Argument title.
        title: Option<Text>;
        /// Argument description.
        description: Option<Text>;
        /// Members the protocol does not define.
        extra_members: Vec<Text>;
        /// Hash of the argument names and required flags, in order.
        fingerprint: u64;
        /// Hash that also covers titles, descriptions and extra members.
        text_fingerprint: u64;
    }
}

frame! {
    /// Which declarations a listing held: one row per prompt of a distinct listing.
    CatalogRow, CatalogBuilders = "catalogs" {
        /// Hash of the whole listing (joins `listings.fingerprint`); 0 for an empty listing, which has no rows.
        listing: u64;
        /// Prompt name.
        prompt: Text;
        /// Joins `declarations.fingerprint`.
        fingerprint: u64;
        /// Joins `declarations.text_fingerprint`.
        text_fingerprint: u64;
    }
}

frame! {
    /// A `prompts/list` by a session, pages joined, or a `list_changed` notification.
    ListingRow, ListingBuilders = "listings" {
        /// File of the last page's answer.
        file: Text;
        /// Line of the last page's answer.
        position: u64;
        /// Reading order of the last page's answer.
        seq: u64;
        /// Time of the last page's answer.
        ts: Option<Ts>;
        /// Session.
        session: Text;
        /// Server.
        server: Option<Text>;
        /// What happened.
        event: ListingEvent;
        /// All pages were seen. False where `nextCursor` was never followed.
        complete: bool;
        /// Prompts listed.
        prompts: u32;
        /// Hash of the names, arguments and texts of all prompts.
        fingerprint: u64;
        /// `ttlMs` (2026-07-28).
        ttl_ms: Option<f64>;
        /// `cacheScope` (2026-07-28).
        cache_scope: Option<Text>;
    }
}

frame! {
    /// A `completion/complete` for a prompt argument.
    CompletionRow, CompletionBuilders = "completions" {
        /// File of the request.
        file: Text;
        /// Line of the request.
        position: u64;
        /// Reading order of the request.
        seq: u64;
        /// Time of the request.
        ts: Option<Ts>;
        /// Session.
        session: Text;
        /// Server.
        server: Option<Text>;
        /// Prompt name.
        prompt: Option<Text>;
        /// Argument name.
        argument: Option<Text>;
        /// What had been typed.
        typed: Option<Text>, sensitive;
        /// `context.arguments` was sent.
        context: bool;
        /// Outcome (`rendered` stands for a completion).
        outcome: CallOutcome;
        /// Values offered.
        offered: Vec<Text>;
        /// `total`.
        total: Option<f64>;
        /// `hasMore`.
        has_more: bool;
    }
}

frame! {
    /// A question, or (marked in `stray`) an answer that closed none.
    ElicitationRow, ElicitationBuilders = "elicitations" {
        /// Number of the elicitation, unique in the folder.
        elicitation: u64;
        /// File of the question.
        file: Text;
        /// Line of the question.
        position: u64;
        /// Reading order of the question.
        seq: u64;
        /// Time of the question.
        ts: Option<Ts>;
        /// Session.
        session: Text;
        /// Server.
        server: Option<Text>;
        /// Client name.
        client: Option<Text>;
        /// Client version.
        client_version: Option<Text>;
        /// Protocol revision.
        protocol: Option<Text>;
        /// Kind of the operation.
        operation_kind: OperationKind;
        /// Tool, prompt or resource; for `ambiguous` a label made of the schema's fingerprint and the message.
        operation: Text;
        /// How the operation was found.
        operation_rule: OperationRule;
        /// Number that groups the questions of one operation instance, unique in the folder.
        operation_instance: u64;
        /// The prompt call, where the operation is one.
        call: Option<u64>;
        /// Position among the operation's questions, from 1.
        sequence: u32;
        /// How the question travelled.
        style: ElicitationStyle;
        /// KEY under `inputRequests`.
        key: Option<Text>;
        /// `form`, `url` or another word.
        mode: Text;
        /// The question's text, at most 4 KiB.
        message: Text, sensitive;
        /// Exact text of `requestedSchema`.
        schema: Option<Text>;
        /// Hash of the schema's text.
        schema_hash: u64;
        /// Outcome.
        outcome: ElicitationOutcome;
        /// Worth of an accepted answer.
        verdict: Verdict;
        /// First reason in order of precedence, of the whole answer.
        first_reason: Option<Reason>;
        /// Reasons that belong to no field.
        reasons: Vec<Reason>;
        /// Cause of the first reason.
        cause: Option<ReasonCause>;
        /// Kind of stray answer, `none` for a question.
        stray: Stray;
        /// A `decline` or `cancel` came with content.
        content_without_accept: bool;
        /// Every field equals its schema default (false where the schema has none).
        equals_defaults: bool;
        /// Hash of the content, for answers equal to the one before.
        content_hash: Option<u64>;
        /// Booleans among the schema's properties, and the number of properties.
        schema_booleans: u32;
        /// Properties of the schema.
        schema_properties: u32;
        /// Keywords outside the elicitation subset of the revision, sorted.
        outside_subset: Vec<Text>;
        /// Milliseconds from question to answer.
        latency_ms: Option<f64>;
        /// Reading order of the answer.
        answered_seq: Option<u64>;
        /// What became of the operation.
        operation_outcome: OperationOutcome;
        /// Which bodies were captured.
        body_state: BodyState;
    }
}

frame! {
    /// A field of an accepted form answer, or a declared field that is missing from it.
    FieldRow, FieldBuilders = "elicited_values" {
        /// The elicitation (joins `elicitations`).
        elicitation: u64;
        /// Field name.
        field: Text, sensitive;
        /// Declared by the schema.
        declared: bool;
        /// Declared `type`: string, number, integer, boolean, enum, array; null for an undeclared key.
        declared_type: Option<Text>;
        /// Declared `format`.
        format: Option<Text>;
        /// Listed in `required`.
        required: bool;
        /// JSON type sent; null where the field is missing.
        json_type: Option<ValueType>;
        /// Exact text, at most 4 KiB.
        value: Option<Text>, sensitive;
        /// The number, where `json_type` is number, or text that is one.
        value_number: Option<f64>;
        /// Length of the whole value in Unicode scalar values.
        value_chars: Option<u64>;
        /// Items of an array.
        value_items: Option<u64>;
        /// Hash of the whole value.
        value_hash: Option<u64>;
        /// Exact text of `minimum` (or `exclusiveMinimum`).
        minimum: Option<Text>;
        /// Exact text of `maximum` (or `exclusiveMaximum`).
        maximum: Option<Text>;
        /// `minLength`.
        min_length: Option<u64>;
        /// `maxLength`.
        max_length: Option<u64>;
        /// `minItems`.
        min_items: Option<u64>;
        /// `maxItems`.
        max_items: Option<u64>;
        /// Permitted values (`enum`, `oneOf`/`anyOf` constants), as text.
        enumeration: Vec<Text>;
        /// Exact JSON text of `default`.
        default: Option<Text>;
        /// All reasons of this field, in order of precedence.
        reasons: Vec<Reason>;
        /// Worth of the field.
        verdict: FieldVerdict;
        /// The value stands verbatim in the operation's result (free text of at least three characters).
        echoed: bool;
    }
}

frame! {
    /// An input record that could not be read.
    RejectedRow, RejectedBuilders = "rejected" {
        /// Path as given.
        file: Text;
        /// Line.
        position: u64;
        /// What is wrong and where.
        reason: Text;
        /// The first 200 characters of the record.
        excerpt: Text, sensitive;
    }
}
