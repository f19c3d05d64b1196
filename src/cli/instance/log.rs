//! `cuvee instance log`

use crate::cli::args::ListFormat;
use crate::cli::args::instance::LogInstanceArgs;
use crate::cli::stored::{at, store};
use crate::cli::{Outcome, output, rejected};
use cuvee::diagnostic::Diagnostic;
use cuvee::draw::instance::log_line;
use cuvee::instance::{Event, EventLog, LogRecord, ModelAt, Store};
use std::process::ExitCode;
use std::time::Duration;

/// So often it is looked whether more has come.
const LOOK: Duration = Duration::from_millis(200);

/// Shows what has happened.
pub(super) fn run(args: &LogInstanceArgs) -> Outcome {
    let store = store(args.store.store.as_deref());
    let since = args.since.as_deref().map(at).transpose()?;
    follow(args, &store, since.as_ref()).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn follow(
    args: &LogInstanceArgs,
    store: &dyn Store,
    since: Option<&ModelAt>,
) -> Result<(), Diagnostic> {
    let mut log = match since {
        Some(ModelAt::Revision(revision)) => EventLog::open_after(store, &args.name, *revision)?,
        _ => EventLog::open_at_start(store, &args.name)?,
    };
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut text = String::new();
    loop {
        while left > 0
            && let Some(record) = log.next_record()?
        {
            if is_asked(args, since, &record)? {
                match args.format {
                    ListFormat::Json => text.push_str(record.line()),
                    ListFormat::Human => text.push_str(&log_line(&record)?),
                }
                text.push('\n');
                left -= 1;
            }
            if text.len() > 1 << 16 {
                output::to_stdout(std::mem::take(&mut text))?;
            }
        }
        output::to_stdout(std::mem::take(&mut text))?;
        if !args.follow || left == 0 {
            return Ok(());
        }
        std::thread::sleep(LOOK);
        log.refresh()?;
    }
}

/// Whether a record is one of those that are asked for.
fn is_asked(
    args: &LogInstanceArgs,
    since: Option<&ModelAt>,
    record: &LogRecord<'_>,
) -> Result<bool, Diagnostic> {
    if matches!(since, Some(ModelAt::Time(time)) if record.time <= *time) {
        return Ok(false);
    }
    let orchestration = args.orchestration.map(|id| id.to_string());
    if orchestration.is_some() && record.orchestration.as_deref() != orchestration.as_deref() {
        return Ok(false);
    }
    if args.entity.is_empty() && args.kind.is_empty() {
        return Ok(true);
    }
    let entities: Vec<_> = args.entity.iter().map(|entity| identifier(entity)).collect();
    // What a text does not hold, no event in it is about.
    let may = |names: &[String]| {
        names.is_empty() || names.iter().any(|name| record.raw_events().contains(&**name))
    };
    let bare: Vec<_> =
        args.entity.iter().map(|it| it.strip_prefix("node.").unwrap_or(it).to_owned()).collect();
    if !may(&bare) || !may(&args.kind) {
        return Ok(false);
    }
    let is_about = |event: &Event| {
        let is_entity =
            entities.is_empty() || event.entity().is_some_and(|it| entities.contains(&it));
        is_entity && (args.kind.is_empty() || args.kind.iter().any(|kind| event.kind() == kind))
    };
    Ok(record.events()?.iter().any(is_about))
}

/// `node.shop`, also where only `shop` is said.
fn identifier(said: &str) -> String {
    let is_whole = ["node.", "relation.", "group.", "policy.", "input.", "output."]
        .iter()
        .any(|kind| said.starts_with(kind));
    if is_whole { said.to_owned() } else { format!("node.{said}") }
}

/// All records, a line each.
pub(super) fn whole(store: &dyn Store, name: &str) -> Result<String, Diagnostic> {
    let mut log = EventLog::open_at_start(store, name)?;
    let mut text = String::new();
    while let Some(record) = log.next_record()? {
        text.push_str(record.line());
        text.push('\n');
    }
    Ok(text)
}
