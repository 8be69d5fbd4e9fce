//! Where text goes and which exit code follows (R40): 0 done, 1 done with refusals or faults, 2
//! usage or bad input, 3 the store cannot be opened, 4 damage.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use asof::db::DbError;
use asof::model::refusal::Refusal;
use asof::store::error::StoreError;
use serde_json::{Value as Json, json};

/// Exit code: done.
pub(super) const DONE: u8 = 0;
/// Exit code: done with refusals, or faults found.
pub(super) const REFUSED: u8 = 1;
/// Exit code: usage or bad input.
pub(super) const BAD_INPUT: u8 = 2;
/// Exit code: the store cannot be opened or written.
pub(super) const NO_STORE: u8 = 3;
/// Exit code: damage.
pub(super) const DAMAGED: u8 = 4;

/// A command that did not end well.
pub(super) struct Failure {
    exit: u8,
    code: String,
    message: String,
    field: Option<String>,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self {
            exit: BAD_INPUT,
            code: refusal.reason.code().to_owned(),
            message: refusal.message,
            field: refusal.field,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { exit: BAD_INPUT, code: "file".to_owned(), message: error.to_string(), field: None }
    }
}

impl Failure {
    /// The failure that an error of the library is.
    pub(super) fn of(error: &DbError) -> Self {
        let exit = match error {
            DbError::Refused(_) | DbError::File { .. } => BAD_INPUT,
            DbError::Store(StoreError::Format { .. }) => NO_STORE,
            DbError::Store(error) if error.is_damage() => DAMAGED,
            _ => NO_STORE,
        };
        let field =
            if let DbError::Refused(refusal) = error { refusal.field.clone() } else { None };
        Self { exit, code: error.code().to_owned(), message: error.to_string(), field }
    }

    /// A refusal by the gate: the command was understood, the answer is no.
    pub(super) fn refused(refusal: &Refusal) -> Self {
        Self { exit: REFUSED, ..Self::from(refusal.clone()) }
    }

    /// A file that cannot be opened.
    pub(super) fn file(what: &'static str, path: &str, source: io::Error) -> Self {
        Self::of(&DbError::File { what, path: path.to_owned(), source })
    }

    /// Prints it and gives its exit code.
    pub(super) fn report(self, as_json: bool) -> ExitCode {
        let mut stderr = io::stderr().lock();
        // Nothing is left to do if standard error is gone.
        let _ = if as_json {
            let mut error = json!({ "code": self.code, "message": self.message });
            if let (Some(field), Some(object)) = (self.field, error.as_object_mut()) {
                object.insert("field".to_owned(), json!(field));
            }
            writeln!(stderr, "{}", json!({ "error": error }))
        } else {
            writeln!(stderr, "error: {} ({})", self.message, self.code)
        };
        ExitCode::from(self.exit)
    }
}

/// Standard output, and notes on standard error.
pub(super) struct Output {
    json: bool,
}

impl Output {
    /// Output as JSON or for people.
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints text; a reader that has gone away is no failure.
    pub(super) fn text(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }

    /// Prints a JSON value, or for people what `text` makes of it.
    pub(super) fn value(
        &self,
        value: &Json,
        text: impl FnOnce(&Json) -> String,
    ) -> Result<(), Failure> {
        if self.json { self.text(&format!("{value}\n")) } else { self.text(&text(value)) }
    }

    /// A remark beside the answer, on standard error.
    pub(super) fn note(&self, text: &str) {
        if !self.json {
            // A remark may be lost.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// Whether progress should be shown.
    pub(super) fn shows_progress(&self) -> bool {
        io::stderr().is_terminal()
    }
}
