//! Runs `cuvee instance log`.

use crate::cli::args::ListFormat;
use crate::cli::args::instance::LogInstanceArgs;
use crate::cli::stored::{at, store};
use crate::cli::{Outcome, output, rejected};
use cuvee::deploy::instance::{Event, EventLog, LogRecord, ModelAt, Store};
use cuvee::diagnostic::Diagnostic;
use cuvee::output::draw::instance::log_line;
use jiff::Timestamp;
use memchr::memmem::Finder;
use std::process::ExitCode;
use std::time::Duration;

/// The interval between two looks for new records.
const LOOK: Duration = Duration::from_millis(200);

/// Prints the records of an instance.
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
    let filter = LogFilter::of(args, since);
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut text = String::new();
    loop {
        while left > 0
            && let Some(record) = log.next_record()?
        {
            if filter.takes(&record)? {
                match args.format {
                    ListFormat::Json if args.reveal => text.push_str(record.line()),
                    ListFormat::Json => text.push_str(&record.line_without_secrets()),
                    ListFormat::Human => text.push_str(&log_line(&record, args.reveal)?),
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

/// The conditions on the printed records.
struct LogFilter<'a> {
    since: Option<Timestamp>,
    orchestration: Option<String>,
    entities: Vec<String>,
    kinds: &'a [String],
    /// The texts that a record about these entities contains, and those that a record of these
    /// kinds contains.
    traces: [Vec<Finder<'static>>; 2],
}

impl<'a> LogFilter<'a> {
    fn of(args: &'a LogInstanceArgs, since: Option<&ModelAt>) -> Self {
        let since = since.and_then(|since| match since {
            ModelAt::Time(time) => Some(*time),
            _ => None,
        });
        let finder = |name: &str| {
            let written = serde_json::to_string(name).unwrap_or_default();
            Finder::new(written.trim_matches('"')).into_owned()
        };
        let bare = args.entity.iter().map(|it| it.strip_prefix("node.").unwrap_or(it));
        Self {
            since,
            orchestration: args.orchestration.map(|id| id.to_string()),
            entities: args.entity.iter().map(|entity| identifier(entity)).collect(),
            kinds: &args.kind,
            traces: [
                bare.map(finder).collect(),
                args.kind.iter().map(|kind| finder(kind)).collect(),
            ],
        }
    }

    /// Whether a record meets the conditions.
    fn takes(&self, record: &LogRecord<'_>) -> Result<bool, Diagnostic> {
        let Self { since, orchestration, entities, kinds, traces } = self;
        if since.is_some_and(|since| record.time <= since)
            || orchestration.is_some()
                && record.orchestration.as_deref() != orchestration.as_deref()
        {
            return Ok(false);
        }
        if entities.is_empty() && kinds.is_empty() {
            return Ok(true);
        }
        // A record without any of these texts has no matching event, so it need not be parsed.
        let text = record.raw_events().as_bytes();
        let may = |traces: &Vec<Finder<'_>>| {
            traces.is_empty() || traces.iter().any(|trace| trace.find(text).is_some())
        };
        if !traces.iter().all(may) {
            return Ok(false);
        }
        let is_about = |event: &Event| {
            let is_entity =
                entities.is_empty() || event.entity().is_some_and(|it| entities.contains(&it));
            is_entity && (kinds.is_empty() || kinds.iter().any(|kind| event.kind() == kind))
        };
        Ok(record.events()?.iter().any(is_about))
    }
}

/// The full identifier of an entity, such as `node.shop` for `shop`.
fn identifier(said: &str) -> String {
    let is_whole = ["node.", "relation.", "group.", "policy.", "input.", "output."]
        .iter()
        .any(|kind| said.starts_with(kind));
    if is_whole { said.to_owned() } else { format!("node.{said}") }
}
