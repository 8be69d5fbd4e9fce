//! Commands about a whole store: init, import, export, digest, check, stats.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use asof::db::{ImportOptions, Options, Store};
use asof::exchange::lines::open;
use asof::model::scope::Scope;
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::output::{DONE, Failure, REFUSED};
use super::{Context, render};

/// `init`: makes a store.
pub(super) fn init(context: &Context) -> Result<u8, Failure> {
    let existed = context.has_store();
    let store = context.open(true)?;
    let tz = store.zone()?.map(|zone| zone.name());
    let report = json!({ "store": context.dir.display().to_string(), "made": !existed, "tz": tz });
    context.out.value(&report, |_| {
        let what = if existed { "is there already" } else { "made" };
        let zone = tz
            .map_or_else(|| "no zone: times need an offset".to_owned(), |tz| format!("zone {tz}"));
        format!("store {what}: {} ({zone})\n", context.dir.display())
    })?;
    Ok(DONE)
}

fn bar(context: &Context) -> Option<ProgressBar> {
    if !context.out.shows_progress() {
        return None;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} lines, {per_sec}, {elapsed}") {
        bar.set_style(style);
    }
    Some(bar)
}

/// `import FILE`.
pub(super) fn import(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let path = arguments.get_one::<String>("file").cloned().unwrap_or_default();
    let file = open(Path::new(&path)).map_err(|error| Failure::file("read", &path, error))?;
    let rejects = match arguments.get_one::<String>("rejects") {
        Some(path) => Some(PathBuf::from(path)),
        None if path == "-" => None,
        None => Some(PathBuf::from(format!("{path}.rejects"))),
    };
    let store = context.open(true)?;
    let bar = bar(context);
    let mut progress = |lines: u64| {
        if let Some(bar) = &bar {
            bar.set_position(lines);
        }
    };
    let options = ImportOptions {
        replay: arguments.get_flag("replay"),
        strict: arguments.get_flag("strict"),
        dry_run: arguments.get_flag("dry-run"),
        zone: context.zone,
        rejects,
        progress: Some(&mut progress),
    };
    let report = store.import(file, options)?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let refused = report.refused_lines > 0;
    context.out.value(&report.json(), render::import)?;
    Ok(if refused { REFUSED } else { DONE })
}

/// `export`.
pub(super) fn export(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let scope = arguments.get_one::<String>("scope").map(|text| Scope::new(text)).transpose()?;
    let store = context.open(false)?;
    let session = match &context.tenant {
        Some(tenant) => store.session(tenant.clone()),
        None => store.owner(),
    };
    if let Some(path) = arguments.get_one::<String>("output") {
        let file = File::create(path).map_err(|error| Failure::file("write", path, error))?;
        let mut file = BufWriter::new(file);
        let lines = session.export(&mut file, scope.as_ref())?;
        file.flush().map_err(|error| Failure::file("write", path, error))?;
        context.out.note(&format!("{lines} lines written to {path}"));
    } else {
        let mut stdout = BufWriter::new(std::io::stdout().lock());
        session.export(&mut stdout, scope.as_ref())?;
        stdout.flush()?;
    }
    Ok(DONE)
}

/// `digest`.
pub(super) fn digest(context: &Context) -> Result<u8, Failure> {
    let digest = context.open(false)?.digest()?;
    context.out.value(&json!({ "digest": digest }), |_| format!("{digest}\n"))?;
    Ok(DONE)
}

/// `check`, `check --rebuild`.
pub(super) fn check(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let rebuild = arguments.get_flag("rebuild");
    let store = Store::open(&context.dir, Options { rebuild, ..context.options(false) })?;
    let report = store.check()?;
    context.out.value(&report.json(), render::check)?;
    Ok(if report.faults.is_empty() { DONE } else { REFUSED })
}

/// `stats`.
pub(super) fn stats(context: &Context) -> Result<u8, Failure> {
    let stats = context.open(false)?.stats()?;
    context.out.value(&stats.json(), render::fields)?;
    Ok(DONE)
}
