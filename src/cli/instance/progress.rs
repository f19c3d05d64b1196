//! Tells what happens during a run: on a terminal with what runs just now, elsewhere a line an
//! event, or as JSON.

use super::next::NextCommands;
use crate::cli::args::ListFormat;
use crate::cli::args::instance::RunArgs;
use crate::cli::{json_line, output, rejected};
use cuvee::Failure;
use cuvee::deploy::instance::{InstanceModel, ModelReading, view_model};
use cuvee::operate::{RunEvent, RunSummary, StepFailure};
use cuvee::source::value::Value;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::{IsTerminal, stderr, stdout};
use std::sync::Arc;
use std::time::Duration;

/// Tells what happens during a run.
pub(super) struct RunProgress {
    instance: String,
    next: NextCommands,
    format: ListFormat,
    is_verbose: bool,
    /// Whether only failures are told.
    is_quiet: bool,
    /// The bars of a terminal: one for each step that runs, and one for how many are left.
    bars: Option<Bars>,
}

struct Bars {
    all: MultiProgress,
    running: HashMap<Arc<str>, ProgressBar>,
    left: ProgressBar,
}

impl RunProgress {
    pub(super) fn new(
        args: &RunArgs,
        (instance, next): (&str, NextCommands),
        is_quiet: bool,
    ) -> Self {
        let is_shown = args.format == ListFormat::Human && !is_quiet;
        let is_live = is_shown && stderr().is_terminal() && stdout().is_terminal();
        let bars = is_live.then(|| {
            let all = MultiProgress::new();
            let left = all.add(ProgressBar::new_spinner());
            Bars { all, running: HashMap::new(), left }
        });
        let (format, is_verbose) = (args.format, args.verbose);
        Self { instance: instance.to_owned(), next, format, is_verbose, is_quiet, bars }
    }

    /// Tells an event.
    pub(super) fn tell(&mut self, event: &RunEvent) {
        if self.format == ListFormat::Json {
            // A reader that is gone does not end the run.
            let _ = output::to_stdout(json_line(event));
            return;
        }
        let is_told = match event {
            RunEvent::Failed(_) => true,
            RunEvent::Ended(summary) => !summary.complete || !self.is_quiet,
            _ => !self.is_quiet,
        };
        if !is_told {
            return;
        }
        self.draw(event);
        if let Some(text) = self.line(event) {
            self.print(&text);
        }
    }

    fn print(&self, text: &str) {
        match &self.bars {
            Some(bars) => drop(bars.all.println(output::escaped(text))),
            None => drop(output::to_stdout(format!("{text}\n"))),
        }
    }

    /// Changes what a terminal shows of the steps that run.
    fn draw(&mut self, event: &RunEvent) {
        let Some(Bars { all, running, left }) = &mut self.bars else { return };
        match event {
            RunEvent::Begun { steps, .. } => left.set_message(format!("{steps} steps left")),
            RunEvent::Started { step, place, .. } => {
                let bar = all.insert_before(left, ProgressBar::new_spinner());
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                    bar.set_style(style);
                }
                let place = if place == "here" { String::new() } else { format!(" on {place}") };
                bar.set_message(format!("{step}{place}"));
                bar.enable_steady_tick(Duration::from_millis(120));
                running.insert(Arc::clone(step), bar);
            }
            RunEvent::Done { step, left: count, .. } => {
                running.remove(step).inspect(|bar| bar.finish_and_clear());
                left.set_message(format!("{count} steps left"));
            }
            RunEvent::Failed(failure) => {
                running.remove(&failure.step).inspect(|bar| bar.finish_and_clear());
            }
            RunEvent::Ended(_) => {
                running.drain().for_each(|(_, bar)| bar.finish_and_clear());
                left.finish_and_clear();
            }
            _ => {}
        }
    }

    /// The line for an event; `None` if there is nothing to say.
    fn line(&self, event: &RunEvent) -> Option<String> {
        Some(match event {
            RunEvent::Started { step, place, attempt, .. } => {
                let is_shown = self.bars.is_none();
                let place = if place == "here" { String::new() } else { format!(" on {place}") };
                let again =
                    if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                is_shown.then(|| format!("{step}{place}{again} ..."))?
            }
            RunEvent::Said { step, line } => self.is_verbose.then(|| format!("{step} | {line}"))?,
            RunEvent::Done { step, seconds, .. } => {
                format!("{step} done{}", shown_seconds(*seconds))
            }
            RunEvent::Skipped { step } => format!("{step} left out: its condition does not hold"),
            RunEvent::Failed(failure) => failed(failure),
            RunEvent::Noted { step, note } => format!("{step}: {note}"),
            RunEvent::Stopping { kill: false } => {
                "ending what runs; once more to kill it".to_owned()
            }
            RunEvent::Stopping { kill: true } => "killing what runs".to_owned(),
            RunEvent::Ended(summary) => self.summary(summary),
            _ => return None,
        })
    }

    fn summary(&self, summary: &RunSummary) -> String {
        let name = &self.instance;
        let RunSummary { complete, open, done, failed, left, stopped, .. } = summary;
        if *complete {
            let steps = if *done == 1 { "step" } else { "steps" };
            return format!("{name}: {done} {steps} done");
        }
        let why = match (stopped, failed.len()) {
            (true, _) => "stopped".to_owned(),
            (false, 1) => "1 step failed".to_owned(),
            (false, count) => format!("{count} steps failed"),
        };
        let ended = format!("{name}: {why}, {done} done, {left} left");
        let NextCommands { go_on, give_up, again } = &self.next;
        if !open {
            return format!("{ended}\nrepair:   {again}");
        }
        // What was stopped begins once more.
        let once_more = if *stopped { " --interrupted retry" } else { "" };
        format!(
            "{ended}\n\
             go on:    {go_on}{once_more}\n\
             repair:   {give_up} && {again}\n\
             give up:  {give_up}"
        )
    }
}

fn shown_seconds(seconds: f64) -> String {
    if seconds < 1.0 { String::new() } else { format!(" after {seconds:.1} s") }
}

pub(super) fn failed(failure: &StepFailure) -> String {
    let StepFailure { step, message, code, help, seconds, retried, tail, log, .. } = failure;
    let again = if *retried { ", and is tried again" } else { "" };
    let code = code.map_or_else(String::new, |code| format!(" [{code}]"));
    let seconds = shown_seconds(*seconds);
    let mut text = format!("{step} failed{seconds}{code}: {message}{again}");
    tail.iter().for_each(|line| text.push_str(&format!("\n  | {line}")));
    if let Some(help) = help {
        text.push_str(&format!("\n  help: {help}"));
    }
    if let Some(log) = log {
        text.push_str(&format!("\n  log: {}", log.display()));
    }
    text
}

/// The outputs of an instance, in their JSON form.
#[derive(Serialize)]
struct OutputsEvent<'o> {
    event: &'static str,
    outputs: BTreeMap<&'o str, &'o Value>,
}

/// Shows the outputs of an instance, if it has any.
pub(super) fn outputs(model: &InstanceModel, format: ListFormat) -> Result<(), Failure> {
    let outputs = view_model(model, &ModelReading::default()).outputs;
    if outputs.is_empty() {
        return Ok(());
    }
    let named = outputs.iter().map(|output| (&*output.name, &output.value)).collect();
    let text = match format {
        ListFormat::Json => {
            let event = OutputsEvent { event: "outputs", outputs: named };
            json_line(&event)
        }
        ListFormat::Human => {
            named.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
        }
    };
    output::to_stdout(text).map_err(rejected)
}
