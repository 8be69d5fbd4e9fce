//! The command line (SPEC section 9, R40): [`args`] says what can be written, [`write`] and
//! [`read`] do it, [`wide`] what is about more than one slot, [`render`] prints it for people, [`output`] is where text goes and which exit
//! code follows.

mod args;
mod output;
mod read;
mod render;
mod whole;
mod wide;
mod write;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use asof::db::{DbError, Options, Store};
use asof::exchange::question::instant;
use asof::model::name::Tenant;
use asof::model::refusal::{Reason, Refusal};
use asof::time::{FixedClock, Zone};
use clap::ArgMatches;

use output::{Failure, Output};

/// What every command knows.
struct Context {
    dir: PathBuf,
    zone: Option<Zone>,
    tenant: Option<Tenant>,
    clock: Option<Arc<FixedClock>>,
    out: Output,
}

impl Context {
    fn new(matches: &ArgMatches) -> Result<Self, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let zone = text("tz").map(|name| Zone::parse(&name)).transpose();
        let zone = zone.map_err(|error| asof::exchange::fields::bad_time("--tz", &error))?;
        let tenant = text("tenant").map(|name| Tenant::new(&name)).transpose()?;
        let clock = match text("clock") {
            None => None,
            Some(text) => {
                let at = instant("--clock", &text, zone.as_ref())?;
                Some(Arc::new(FixedClock::new(at.as_recorded())))
            }
        };
        let dir = text("store").map_or_else(|| PathBuf::from("./.asof"), PathBuf::from);
        let json = matches.get_flag("json");
        Ok(Self { dir, zone, tenant, clock, out: Output::new(json) })
    }

    fn options(&self, create: bool) -> Options {
        let mut options = Options { create, tz: self.zone, ..Options::default() };
        if let Some(clock) = &self.clock {
            options.clock = Arc::<FixedClock>::clone(clock);
        }
        options
    }

    /// Whether the directory holds a store.
    fn has_store(&self) -> bool {
        self.dir.join("asof.json").exists()
    }

    /// Opens the store; writing commands make it.
    fn open(&self, create: bool) -> Result<Store, Failure> {
        let store = Store::open(&self.dir, self.options(create))?;
        if let Some(why) = store.rebuilt() {
            self.out.note(&format!("note: the derived state was made anew from the log ({why})"));
        }
        if store.cut_bytes() > 0 {
            self.out.note(&format!(
                "note: a write that was under way when the store was last left was cut off ({} bytes)",
                store.cut_bytes()
            ));
        }
        Ok(store)
    }

    /// The zone of local times on the command line: `--tz`, else the store's.
    fn zone_of(&self, store: &Store) -> Result<Option<Zone>, Failure> {
        match self.zone {
            Some(zone) => Ok(Some(zone)),
            None => Ok(store.zone()?),
        }
    }
}

/// Panics that the store turns into errors are told as errors, not as panics.
fn quiet_what_is_handled() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !asof::store::sled::is_handled(panic.location().map(std::panic::Location::file)) {
            usual(panic);
        }
    }));
}

/// Runs one command.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    quiet_what_is_handled();
    let matches = match args::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to do if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let json = matches.get_flag("json");
    let done = Context::new(&matches).and_then(|context| dispatch(&context, &matches));
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.report(json),
    }
}

fn dispatch(context: &Context, matches: &ArgMatches) -> Result<u8, Failure> {
    let Some((name, arguments)) = matches.subcommand() else {
        return Err(
            Refusal::new(Reason::UnknownOperation, "no command given; see asof --help").into()
        );
    };
    match name {
        "get" | "explain" | "timeline" | "beliefs" | "history" | "find" | "usable" | "show"
        | "scopes" | "subjects" | "predicates" => read::question(context, name, arguments),
        "ask" => read::ask(context, arguments),
        "worklist" | "conflicts" | "held" | "due" | "impact" | "why" | "chain" | "diff" => {
            wide::question(context, name, arguments)
        }
        "snapshot" => wide::snapshot(context, arguments),
        "dot" => wide::dot(context, arguments),
        "plot" => wide::plot(context, arguments),
        "init" => whole::init(context),
        "import" => whole::import(context, arguments),
        "export" => whole::export(context, arguments),
        "digest" => whole::digest(context),
        "check" => whole::check(context, arguments),
        "stats" => whole::stats(context),
        "apply" => write::apply(context, arguments),
        _ => write::operation(context, name, arguments),
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self::of(&error)
    }
}
