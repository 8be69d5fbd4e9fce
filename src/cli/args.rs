//! What can be written on the command line. Operations are built from one table, so each has the
//! fields that a journal line of the same name has.

use clap::{Arg, ArgAction, Command};

/// How an argument becomes a field of a journal line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// As text.
    Text,
    /// A value: JSON if it reads as a number, true, false, an object or a quoted text; else text.
    Value,
    /// A list of ids, separated by commas or given several times.
    Ids,
    /// Pairs `dimension=requirement`.
    Pairs,
    /// A number.
    Number,
    /// Text, or null for `null` and `inf`.
    Nullable,
    /// A comma-separated list of kinds, strongest first.
    Kinds,
}

/// One argument of an operation: its field, its shape, whether it stands without a name, and help.
pub(super) struct Field {
    /// The field of the journal line.
    pub name: &'static str,
    /// How it is read.
    pub shape: Shape,
    /// Whether it stands without `--name`.
    pub positional: bool,
    /// What it means.
    pub help: &'static str,
}

const fn pos(field: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name: field, shape, positional: true, help }
}

const fn opt(field: &'static str, shape: Shape, help: &'static str) -> Field {
    Field { name: field, shape, positional: false, help }
}

const SUBJECT: Field = pos("subject", Shape::Text, "What it is about");
const PREDICATE: Field = pos("predicate", Shape::Text, "Which property");
const VALUE: Field =
    pos("value", Shape::Value, "A number, true, false, JSON such as {\"entity\":\"x\"}, else text");
const SCOPE: Field = opt("scope", Shape::Text, "Where it counts, such as acme/billing/prod");
const TARGET: Field = pos("target", Shape::Text, "The id it is about");
const KIND: Field = opt("kind", Shape::Text, "Who says so: stated, observed, reported or inferred");
const ACTING: Field = opt(
    "kind",
    Shape::Text,
    "Who acts: stated (a person, the default), observed, reported, inferred",
);
const FROM: Field =
    opt("valid_from", Shape::Text, "Since when it holds: a time, -inf (always) or unknown");
const UNTIL: Field =
    opt("valid_until", Shape::Nullable, "Until when it holds, exclusive; inf = open");
const THROUGH: Field =
    opt("valid_through", Shape::Text, "The last day on which it holds (inclusive)");
const WHEN: Field =
    opt("when", Shape::Pairs, "What it applies to: version=2.0 or version='semver:>=2, <3'");
const SOURCE: Field = opt("source", Shape::Text, "Id of the source it comes from");
const DERIVED: Field = opt("derived_from", Shape::Ids, "Ids of what it was made from");
const ID: Field = opt("id", Shape::Text, "Its id; made if left out");
const NOTE: Field = opt("note", Shape::Text, "A remark");
const STATED_AT: Field = opt("stated_at", Shape::Text, "When the source says it was said");
const MEMORY: Field = opt("memory", Shape::Text, "working, episodic, semantic or procedural");
const OUTCOME: Field = opt("outcome", Shape::Text, "How it went");
const THEN: Field =
    opt("then", Shape::Text, "What comes after it: resume, uncertain, ask or never");
const REVIEW_BY: Field = opt("review_by", Shape::Text, "When it must be looked at again");
const EXPECT: Field = opt("expect_version", Shape::Number, "The version the slot must have");
const READ_AT: Field =
    opt("read_at", Shape::Number, "The sequence number at which the premises were read");
const REASON: Field =
    opt("reason", Shape::Text, "mistaken (it was wrong) or withdrawn (its source takes it back)");
const SUPERSEDES: Field = opt("supersedes", Shape::Ids, "Ids of what it takes the place of");

const STATEMENT: [Field; 20] = [
    SUBJECT, PREDICATE, VALUE, SCOPE, WHEN, FROM, UNTIL, THROUGH, SOURCE, KIND, ID, THEN, DERIVED,
    MEMORY, OUTCOME, REVIEW_BY, STATED_AT, NOTE, EXPECT, READ_AT,
];

/// An operation on the command line.
pub(super) struct Operation {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its arguments.
    pub fields: &'static [Field],
}

/// Every operation of section 4, and `set`.
pub(super) const OPERATIONS: [Operation; 21] = [
    Operation {
        name: "set",
        about: "State what is so now: takes the place of what is current",
        fields: &STATEMENT,
    },
    Operation {
        name: "assert",
        about: "State a fact",
        fields: &[
            SUBJECT, PREDICATE, VALUE, SCOPE, WHEN, FROM, UNTIL, THROUGH, SOURCE, KIND, ID,
            SUPERSEDES, THEN, DERIVED, MEMORY, OUTCOME, REVIEW_BY, STATED_AT, NOTE, EXPECT,
            READ_AT,
        ],
    },
    Operation {
        name: "predicate",
        about: "Declare a predicate",
        fields: &[
            pos("name", Shape::Text, "The predicate"),
            opt("cardinality", Shape::Text, "one (the default) or many"),
            opt(
                "value_type",
                Shape::Text,
                "entity, text, integer, decimal, float, boolean, instant, date or json",
            ),
            opt(
                "authority",
                Shape::Kinds,
                "Whose word counts more, strongest first; a tie with +: stated+observed,reported,inferred",
            ),
            THEN,
            opt("review_every", Shape::Text, "How often its facts must be looked at, such as 90d"),
        ],
    },
    Operation {
        name: "source",
        about: "Bring a source: one utterance, document or reading",
        fields: &[
            SCOPE,
            KIND,
            ID,
            opt("uri", Shape::Text, "Where it is to be found"),
            opt("text", Shape::Text, "What it says"),
            opt("author", Shape::Text, "Whose words they are"),
            STATED_AT,
            SUPERSEDES,
        ],
    },
    Operation {
        name: "artifact",
        about: "Note something made from facts: a summary, vector, cache entry, report",
        fields: &[
            opt("kind", Shape::Text, "summary, vector, cache, report, rule, …"),
            SCOPE,
            opt("place", Shape::Text, "Where the copy is kept"),
            DERIVED,
            ID,
            WHEN,
            opt("text", Shape::Text, "Its text, if kept here"),
            FROM,
            UNTIL,
            THROUGH,
            SUPERSEDES,
            READ_AT,
        ],
    },
    Operation {
        name: "support",
        about: "Add another independent justification",
        fields: &[TARGET, DERIVED, ACTING],
    },
    Operation {
        name: "affirm",
        about: "Looked again; still holds",
        fields: &[TARGET, REVIEW_BY, ACTING],
    },
    Operation {
        name: "end",
        about: "It stops holding at a time (inf = no longer stops)",
        fields: &[TARGET, UNTIL, THROUGH, ACTING],
    },
    Operation {
        name: "correct",
        about: "It was wrong; this is right",
        fields: &[
            TARGET,
            opt("value", Shape::Value, "The right value"),
            WHEN,
            FROM,
            UNTIL,
            THROUGH,
            SCOPE,
            SOURCE,
            KIND,
            ID,
            THEN,
            DERIVED,
            MEMORY,
            OUTCOME,
            REVIEW_BY,
            STATED_AT,
            NOTE,
            EXPECT,
            READ_AT,
        ],
    },
    Operation {
        name: "retract",
        about: "Take back a source, fact or artifact",
        fields: &[TARGET, REASON, ACTING],
    },
    Operation {
        name: "retract_claim",
        about: "Take back every copy of a claim",
        fields: &[SUBJECT, PREDICATE, VALUE, SCOPE, REASON, ACTING],
    },
    Operation {
        name: "reinstate",
        about: "Undo retract, correct or reject",
        fields: &[TARGET, ACTING],
    },
    Operation {
        name: "disable",
        about: "Stop using it; keep it for history",
        fields: &[TARGET, ACTING],
    },
    Operation { name: "enable", about: "Use it again", fields: &[TARGET, ACTING] },
    Operation {
        name: "erase",
        about: "Remove content",
        fields: &[
            Field {
                name: "target",
                shape: Shape::Text,
                positional: false,
                help: "Id of a fact, source or artifact",
            },
            opt("subject", Shape::Text, "All of a subject in a scope"),
            SCOPE,
        ],
    },
    Operation { name: "confirm", about: "Accept a held proposal", fields: &[TARGET, ACTING] },
    Operation { name: "reject", about: "Decline a held proposal", fields: &[TARGET, ACTING] },
    Operation {
        name: "resolve",
        about: "Settle a conflict: the kept fact takes the place of the others",
        fields: &[
            pos("conflict", Shape::Ids, "The facts in conflict, separated by commas"),
            opt("keep", Shape::Text, "The one that is right"),
            NOTE,
            ACTING,
        ],
    },
    Operation {
        name: "suppress",
        about: "Stop taking in such facts from now on",
        fields: &[
            SCOPE,
            ID,
            opt("subject", Shape::Text, "Subjects, as a glob"),
            opt("predicate", Shape::Text, "Predicates, as a glob"),
            KIND,
            opt("until", Shape::Text, "Until when"),
        ],
    },
    Operation {
        name: "unsuppress",
        about: "Take such facts in again",
        fields: &[pos("id", Shape::Text, "Id of the suppression")],
    },
    Operation {
        name: "done",
        about: "The copy kept elsewhere has been dealt with",
        fields: &[pos("artifact", Shape::Text, "Id of the artifact"), NOTE],
    },
];

pub(super) fn text(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).value_name(name.to_uppercase().replace('-', "_"))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

/// The name of an argument: underscores become dashes.
pub(super) fn long(field: &str) -> String {
    field.replace('_', "-")
}

fn operation(operation: &Operation) -> Command {
    let mut command = Command::new(operation.name).about(operation.about);
    for field in operation.fields {
        let name = long(field.name);
        let mut arg = Arg::new(field.name).help(field.help).value_name(name.to_uppercase());
        // Values and times may start with a dash: -5, -inf.
        if !field.positional || field.shape == Shape::Value {
            arg = arg.allow_hyphen_values(true);
        }
        arg = if field.positional { arg.required(true) } else { arg.long(name) };
        if !field.positional && matches!(field.shape, Shape::Ids | Shape::Pairs) {
            arg = arg.action(ArgAction::Append);
        }
        command = command.arg(arg);
    }
    command
        .arg(flag("text-value", "Take VALUE as text, whatever it looks like"))
        .arg(text("actor", "Who writes it"))
        .arg(flag("dry-run", "Judge only; write nothing"))
}

pub(super) fn as_of(command: Command) -> Command {
    command
        .arg(text("valid-at", "About which time (default: now)"))
        .arg(text("known-at", "With the knowledge of which time (default: now)"))
        .arg(
            text("at", "Both: what would we have answered then")
                .conflicts_with_all(["valid-at", "known-at"]),
        )
}

pub(super) fn within(command: Command) -> Command {
    command.arg(text("scope", "In exactly this scope")).arg(
        text("across", "In every scope that matches, such as 'acme/**'").conflicts_with("scope"),
    )
}

pub(super) fn circumstances(command: Command) -> Command {
    command.arg(flag("inherit", "Facts of ancestor scopes take part; the nearest wins")).arg(
        Arg::new("with")
            .long("with")
            .value_name("K=V")
            .action(ArgAction::Append)
            .help("A circumstance, such as version=3.0"),
    )
}

pub(super) fn slot(name: &'static str, about: &'static str) -> Command {
    let command = Command::new(name)
        .about(about)
        .arg(Arg::new("subject").required(true).help("What it is about"))
        .arg(Arg::new("predicate").required(true).help("Which property"))
        .arg(text("scope", "Where, such as acme/billing/prod"));
    as_of(circumstances(command))
}

fn reads() -> [Command; 13] {
    let find = Command::new("find")
        .about("What answers match a pattern: who works at X")
        .arg(text("subject", "Of this subject"))
        .arg(text("predicate", "Of this predicate"))
        .arg(text("value", "Answering with this value").allow_hyphen_values(true))
        .arg(flag("text-value", "Take the value as text, whatever it looks like"));
    let history = Command::new("history")
        .about("Every version of every fact, oldest recorded first")
        .arg(Arg::new("subject").required(true).help("What it is about"))
        .arg(Arg::new("predicate").help("Which property"))
        .arg(text("known-at", "As known at this time"));
    let usable = Command::new("usable")
        .about("May these be used? The filter to put behind any outside index")
        .arg(
            Arg::new("ids").required(true).num_args(1..).help("Ids of facts, sources or artifacts"),
        )
        .arg(text("scope", "In this scope (default: each one's own)"));
    let show = Command::new("show")
        .about("A fact, source or artifact whole")
        .arg(Arg::new("id").required(true).help("Its id"))
        .arg(text("scope", "In this scope"));
    let dot = Command::new("dot")
        .about("Drawings as Graphviz text")
        .subcommand_required(true)
        .subcommands(super::wide::drawings());
    [
        slot("get", "What holds: now, on a day, or as known on a day"),
        slot("explain", "Why it is the answer: every fact of the slot, used or why not"),
        slot("timeline", "The answer along valid time"),
        slot("beliefs", "How our answer about one time changed"),
        within(history),
        as_of(circumstances(within(find))),
        as_of(circumstances(usable)),
        as_of(circumstances(show)),
        within(Command::new("scopes").about("The scopes there are")),
        within(Command::new("subjects").about("The subjects there are")),
        within(Command::new("predicates").about("The predicates there are")),
        Command::new("ask")
            .about("Answer questions, one JSON object a line, all seen at one moment")
            .arg(Arg::new("file").required(true).help("A file of questions; - is standard input")),
        dot,
    ]
}

fn wholes() -> [Command; 7] {
    let file = || {
        Arg::new("file")
            .required(true)
            .help("A journal; - is standard input; .xz, .gz and .zst are unpacked")
    };
    [
        Command::new("init").about("Make a store; --tz declares its zone"),
        Command::new("import")
            .about("Take in a journal, each line through the gate")
            .arg(file())
            .arg(flag("replay", "Honour recorded_at: load a history, restore an export"))
            .arg(flag("strict", "Stop at the first refused line"))
            .arg(flag("dry-run", "Judge only; write nothing"))
            .arg(text("rejects", "Where refused lines go (default: FILE.rejects)")),
        Command::new("export")
            .about("Everything as a journal")
            .arg(text("scope", "Only this scope and what is below it"))
            .arg(text("output", "To this file instead of standard output")),
        Command::new("digest").about("A hash of the logical content"),
        Command::new("check")
            .about("Verify the log and prove the derived state by making it anew")
            .arg(flag("rebuild", "Make the derived state anew from the log")),
        Command::new("stats").about("What the store holds and takes up"),
        Command::new("apply")
            .about("Write a file of operations as one transaction: all or none")
            .arg(file())
            .arg(flag("dry-run", "Judge only; write nothing")),
    ]
}

/// The whole command.
pub(super) fn command() -> Command {
    Command::new("asof")
        .version(env!("CARGO_PKG_VERSION"))
        .about("What holds, what held, what did we know: a bitemporal knowledge-graph store")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            text("store", "The store's directory (default: ./.asof)")
                .env("ASOF_STORE")
                .global(true),
        )
        .arg(
            flag("json", "One JSON value on standard output; errors as JSON on standard error")
                .global(true),
        )
        .arg(text("clock", "A fixed clock, for tests and demonstrations").global(true))
        .arg(text("tz", "The zone of times without an offset, such as Europe/Berlin").global(true))
        .arg(text("tenant", "The tenant, where no scope says it").global(true))
        .subcommands(reads())
        .subcommands(super::wide::commands())
        .subcommands(OPERATIONS.iter().map(operation))
        .subcommands(wholes())
}
