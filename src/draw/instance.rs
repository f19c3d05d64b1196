//! Writes instances for people: their contents, and the results of queries.

use super::{is_obeyed, printable};
use crate::diagnostic::Diagnostic;
use crate::orchestrate::instance::{
    CapabilityView, EntityView, Event, LogRecord, ModelView, NodeLine, QueryRow, RelationView,
    StepStatus, ValueView,
};
use crate::topology::sensitive::unmarked;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use std::sync::Arc;

/// A line of aligned columns; only the last column has any length.
type ShownLine = Vec<String>;

/// The result of a query, one row a line.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, InstanceQuery, ModelReading, NodeInstance};
/// use cuvee::source::FileId;
/// let mut model = InstanceModel::default();
/// model.nodes.insert("shop".into(), NodeInstance::default());
/// let rows = InstanceQuery::parse("nodes/shop/state", FileId::DETACHED)?.run(&model, &ModelReading::default())?.rows;
/// assert_eq!(cuvee::output::draw::instance::rows(&rows), "node.shop  state  initial\n");
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
pub fn rows(rows: &[QueryRow]) -> String {
    let line = |row: &QueryRow| {
        let (path, value) = match &row.value {
            Some(value) => (row.path.clone(), told(value)),
            None => {
                let state = row.state.clone().unwrap_or_default();
                (row.type_name.as_deref().unwrap_or_default().to_owned(), state)
            }
        };
        let mark = if row.unstable { "unstable" } else { "" };
        let line = [row.entity.clone(), path, value];
        let age = [age(row.revision, row.time.as_deref()), mark.to_owned()];
        line.into_iter().chain(age).collect()
    };
    table(0, rows.iter().map(line).collect())
}

/// A summary of a whole model.
pub fn model(view: &ModelView) -> String {
    let mut text = String::new();
    let head = [
        ("instance", view.uri.to_string()),
        ("template", view.template.to_string()),
        ("revision", format!("{}, structure {}", view.revision, view.structure)),
        ("last change", view.time.to_string()),
        ("nodes", states(view)),
    ];
    let head = head.into_iter().filter(|(_, said)| !said.is_empty());
    text.push_str(&table(0, head.map(|(what, said)| vec![what.to_owned(), said]).collect()));
    if let Some(open) = &view.orchestration {
        let what = open.workflow.as_deref().or(open.plan.as_deref()).unwrap_or_default();
        let line = format!(
            "orchestration {} is open: {what}, begun by {} at {}",
            open.id, open.actor, open.time
        );
        text.push_str(&printable(&line));
        text.push('\n');
        let step = |(id, status): (&Arc<str>, &StepStatus)| {
            let claimed = open.claimed.binary_search_by(|claim| claim.step.cmp(id));
            let claim = claimed.ok().map(|at| &open.claimed[at]);
            let claim = claim.map(|it| format!("claimed by {} until {}", it.actor, it.until));
            vec![id.to_string(), status.as_str().to_owned(), claim.unwrap_or_default()]
        };
        text.push_str(&table(2, open.steps.iter().map(step).collect()));
    }
    let node = |node: &NodeLine| {
        let note = node.note.as_deref().unwrap_or_default();
        [&*node.id, &*node.type_name, &*node.state, note].map(str::to_owned).into()
    };
    section(&mut text, "nodes", view.nodes.iter().map(node).collect());
    let names = |names: &[Arc<str>]| names.iter().map(|name| vec![name.to_string()]).collect();
    section(&mut text, "groups", names(&view.groups));
    section(&mut text, "policies", names(&view.policies));
    for (name, values) in [
        ("choice", &view.choice),
        ("inputs", &view.inputs),
        ("outputs", &view.outputs),
        ("metadata", &view.metadata),
    ] {
        section(&mut text, name, values.iter().map(value).collect());
    }
    text
}

/// An entity with all its details.
pub fn entity(view: &EntityView) -> String {
    let mut head = vec![view.entity.to_string(), view.type_name.to_string()];
    head.extend(view.state.as_deref().map(str::to_owned));
    head.extend(view.failed_in.as_ref().map(|state| format!("failed in {state}")));
    head.retain(|part| !part.is_empty());
    let mut text = format!("{}\n", printable(&head.join("  ")));
    let of =
        |what: &str, said: Option<&str>| said.map(|said| vec![what.to_owned(), said.to_owned()]);
    let said = [
        of("template", view.template.as_deref()),
        view.value.as_ref().map(|value| vec!["value".to_owned(), told(value)]),
        of("tosca_id", view.tosca_id.as_deref()),
        of("note", view.note.as_deref()),
    ];
    text.push_str(&table(0, said.into_iter().flatten().collect()));
    section(&mut text, "properties", view.properties.iter().map(value).collect());
    section(&mut text, "attributes", view.attributes.iter().map(value).collect());
    if view.hidden {
        text.push_str("\nattributes are left out until the state is stable; --unstable shows them as they are\n");
    }
    section(&mut text, "capabilities", view.capabilities.iter().flat_map(capability).collect());
    let is_relation = view.entity.starts_with("relation.");
    let name = if is_relation { "leads" } else { "relations" };
    section(&mut text, name, view.relations.iter().map(|one| relation(one, is_relation)).collect());
    section(
        &mut text,
        "led to by",
        view.incoming.iter().map(|one| vec![one.entity.to_string(), one.state.clone()]).collect(),
    );
    let names = |names: &[Arc<str>]| names.iter().map(|name| vec![name.to_string()]).collect();
    let members = if view.entity.starts_with("policy.") { "targets" } else { "members" };
    section(&mut text, members, names(&view.members));
    section(&mut text, "groups", names(&view.groups));
    section(&mut text, "policies", names(&view.policies));
    section(
        &mut text,
        "links",
        view.links.iter().map(|(name, uri)| vec![name.to_string(), uri.to_string()]).collect(),
    );
    section(&mut text, "metadata", view.metadata.iter().map(value).collect());
    text
}

/// The number of nodes in each state: `3 started, 1 error`.
fn states(view: &ModelView) -> String {
    let counts: Vec<_> =
        view.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
}

fn value(view: &ValueView) -> ShownLine {
    let mark = if view.edited { "edited" } else { "" };
    vec![
        view.name.to_string(),
        told(&view.value),
        age(view.revision, view.time.as_deref()),
        mark.to_owned(),
    ]
}

fn capability(view: &CapabilityView) -> Vec<ShownLine> {
    let own = vec![view.name.to_string(), view.type_name.to_string()];
    let values = view.properties.iter().chain(&view.attributes).map(|one| {
        let mut line = value(one);
        line[0] = format!("  {}", line[0]);
        line
    });
    std::iter::once(own).chain(values).collect()
}

fn relation(view: &RelationView, with_source: bool) -> ShownLine {
    let target = view.target.as_deref().unwrap_or("nowhere yet");
    let by = view.relationship.as_deref().unwrap_or_default().to_owned();
    let from = if with_source { format!("{} -> ", view.source) } else { String::new() };
    vec![view.requirement.to_string(), format!("{from}{target}"), by, view.state.clone()]
}

fn age(revision: Option<u64>, time: Option<&str>) -> String {
    match (revision, time) {
        (Some(revision), Some(time)) if !time.is_empty() => {
            format!("revision {revision}, {time}")
        }
        (Some(revision), _) => format!("revision {revision}"),
        _ => String::new(),
    }
}

/// A value on one line: a plain string as it is, anything else as YAML.
pub fn told(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains(is_obeyed) && !text.is_empty() => text.to_string(),
        value => printable(&write_flow(value)).into_owned(),
    }
}

fn section(text: &mut String, name: &str, lines: Vec<ShownLine>) {
    if !lines.is_empty() {
        text.push_str(&format!("\n{name}\n{}", table(2, lines)));
    }
}

/// A table with columns as wide as their widest cells, up to a limit. A cell never breaks its line.
fn table(indent: usize, mut lines: Vec<ShownLine>) -> String {
    const WIDEST: usize = 60;
    for cell in lines.iter_mut().flatten() {
        *cell = printable(cell).into_owned();
    }
    let width = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = Vec::new();
    for line in &lines {
        widths.resize(widths.len().max(line.len()), 0);
        for (column, cell) in widths.iter_mut().zip(line) {
            if width(cell) <= WIDEST {
                *column = (*column).max(width(cell));
            }
        }
    }
    let mut text = String::new();
    for line in &lines {
        let start = text.len();
        text.push_str(&" ".repeat(indent));
        let mut gap = 0;
        for (cell, column) in line.iter().zip(&widths).filter(|(_, column)| **column > 0) {
            text.push_str(&" ".repeat(gap));
            text.push_str(cell);
            gap = column.saturating_sub(width(cell)) + 2;
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

/// A record of a log as one line: its revision, its time, its author, and its events. Secrets that
/// the instance keeps are only shown with `reveal`.
///
/// # Errors
/// `store-corrupt` if the record has no events.
pub fn log_line(record: &LogRecord<'_>, reveal: bool) -> Result<String, Diagnostic> {
    const SHOWN: usize = 4;
    let events = record.events()?;
    let mut told: Vec<_> = events.iter().take(SHOWN).map(|it| event(it, reveal)).collect();
    if events.len() > SHOWN {
        told.push(format!("and {} more", events.len() - SHOWN));
    }
    let (revision, time, actor) = (record.revision, record.time, &record.actor);
    let line = format!("{revision}  {time}  {actor}  {}", told.join("; "));
    Ok(printable(&line).into_owned())
}

/// An event in words.
fn event(event: &Event, reveal: bool) -> String {
    let value = |value: &Option<Value>| match value {
        Some(value) => told(&unmarked(value, reveal).unwrap_or_else(|| value.clone())),
        None => "nothing".to_owned(),
    };
    match event {
        Event::State { entity, from, to, .. } => format!("{entity}: {from} -> {to}"),
        Event::Attribute { entity, name, value: it, .. } => {
            format!("{entity}: {name} is {}", value(it))
        }
        Event::Property { entity, name, value: it } => {
            format!("{entity}: property {name} is {}", value(it))
        }
        Event::Output { name, value: it } => format!("output {name} is {}", value(it)),
        Event::StepStarted { step } => format!("{step} begins"),
        Event::StepClaimed { step, until, .. } => format!("{step} is claimed until {until}"),
        Event::StepEnded { step, outcome, .. } => format!("{step} is {}", outcome.as_str()),
        Event::OrchestrationStarted { workflow, .. } => {
            format!("begin of {}", workflow.as_deref().unwrap_or("a plan"))
        }
        Event::OrchestrationEnded { outcome } => format!("end: {}", outcome.as_str()),
        Event::NodeRenamed { id, to } => format!("node.{id} is node.{to}"),
        Event::Note { entity, text, .. } => match entity {
            Some(entity) => format!("{entity}: {text}"),
            None => text.to_string(),
        },
        Event::Occurred { entity, event, triggers } => match &**triggers {
            [] => format!("{entity}: {event} occurred"),
            triggers => {
                format!("{entity}: {event} occurred, which {} waits for", triggers.join(", "))
            }
        },
        Event::Linked { entity, name, uri } => {
            format!("{entity}: {name} is {}", uri.as_deref().unwrap_or("nothing"))
        }
        Event::RelationAdded(added) => {
            let target = added.target.as_deref().unwrap_or("nobody yet");
            format!("node.{}: {} leads to {target}", added.source, added.requirement)
        }
        other => match other.entity() {
            Some(entity) => format!("{} {entity}", other.kind()),
            None => other.kind().to_owned(),
        },
    }
}
