//! Reads reports, which are written as JSON objects.

use super::claim::lease;
use super::event::ReportOutcome;
use super::report::InstanceReport;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee_text::value::Value;
use std::sync::Arc;

/// The keys that a report may have.
const NAMES: [&str; 18] = [
    "node",
    "relation",
    "entity",
    "state",
    "attributes",
    "capabilities",
    "event",
    "outputs",
    "step",
    "outcome",
    "claim",
    "token",
    "key",
    "expect",
    "note",
    "metadata",
    "links",
    "batch",
];

fn wrong(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidValue, message)
}

impl InstanceReport {
    /// Reads a report from a line, or from any other text that is JSON.
    ///
    /// ```
    /// use cuvee::deploy::instance::InstanceReport;
    /// let report = InstanceReport::parse(r#"{"node": "db", "attributes": {"port": 5432}, "key": "7"}"#)?;
    /// assert_eq!(&*report.attributes[0].0, "port");
    /// let error = InstanceReport::parse(r#"{"node": "db", "atributes": {}}"#).unwrap_err();
    /// assert_eq!(error.help.as_deref(), Some("did you mean `attributes`?"));
    /// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// `invalid-value`, `unknown-keyword`
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let value: Value = serde_json::from_str(text).map_err(|why| {
            let column = why.column();
            wrong(format!(
                "a report has to be an object of JSON, but the line is malformed at column {column}"
            ))
        })?;
        Self::read(&value)
    }

    /// Reads a report from a value.
    ///
    /// # Errors
    /// `invalid-value`, `unknown-keyword`
    pub fn read(value: &Value) -> Result<Self, Diagnostic> {
        let mut report = Self::default();
        for (name, value) in members(value, "a report")? {
            report.member(name, value)?;
        }
        let has_more = Self { batch: Vec::new(), key: None, expect: None, ..report.clone() };
        if !report.batch.is_empty() && has_more != Self::default() {
            return Err(wrong("beside `batch` a report has `key` and `expect` only"));
        }
        Ok(report)
    }

    fn member(&mut self, name: &Arc<str>, value: &Value) -> Result<(), Diagnostic> {
        match &**name {
            "node" => self.node = Some(text(name, value)?),
            "relation" => self.relation = Some(text(name, value)?),
            "entity" => self.entity = Some(text(name, value)?),
            "state" => self.state = Some(text(name, value)?),
            "attributes" => self.attributes = entries(name, value)?,
            "capabilities" => {
                for (capability, attributes) in members(value, "`capabilities`")? {
                    let attributes = entries(capability, attributes)?.into_iter();
                    let named = attributes.map(|(name, it)| (Arc::clone(capability), name, it));
                    self.capability_attributes.extend(named);
                }
            }
            "outputs" => self.outputs = entries(name, value)?,
            "step" => self.step = Some(text(name, value)?),
            "outcome" => self.outcome = Some(outcome(&text(name, value)?)?),
            "claim" => {
                let lasts = lease(&text(name, value)?);
                let wrong =
                    || wrong("`claim` has to be how long the step is claimed, such as `10m`");
                self.claim = Some(lasts.ok_or_else(wrong)?);
            }
            "token" => self.token = Some(text(name, value)?),
            "key" => self.key = Some(text(name, value)?),
            "expect" => {
                let number = match value {
                    Value::Number(number) => number.as_int(),
                    _ => None,
                };
                let revision = number.and_then(|number| u64::try_from(number).ok());
                let none = || wrong("`expect` has to be the number of a record");
                self.expect = Some(revision.ok_or_else(none)?);
            }
            "note" => self.note = Some(text(name, value)?),
            "event" => self.event = Some(text(name, value)?),
            "metadata" => self.metadata = entries(name, value)?,
            "links" => {
                for (name, uri) in members(value, "`links`")? {
                    self.links.push((Arc::clone(name), text(name, uri)?));
                }
            }
            "batch" => {
                let Value::List(reports) = value else {
                    return Err(wrong("`batch` has to be a list of reports"));
                };
                self.batch = reports.iter().map(Self::part).collect::<Result<_, _>>()?;
            }
            other => {
                let error =
                    Diagnostic::error(Code::UnknownKeyword, format!("a report has no `{other}`"));
                return Err(error.help_opt(did_you_mean(other, NAMES)));
            }
        }
        Ok(())
    }

    /// Reads one of several reports that together make one record.
    fn part(value: &Value) -> Result<Self, Diagnostic> {
        let report = Self::read(value)?;
        match report.batch.is_empty() && report.key.is_none() && report.expect.is_none() {
            true => Ok(report),
            false => {
                Err(wrong("`batch`, `key` and `expect` belong to the record, not to its parts"))
            }
        }
    }
}

/// The outcome of a step by its name.
fn outcome(name: &str) -> Result<ReportOutcome, Diagnostic> {
    let outcomes = [
        ("done", ReportOutcome::Done),
        ("failed", ReportOutcome::Failed),
        ("interrupted", ReportOutcome::Interrupted),
    ];
    let found = outcomes.iter().find(|(known, _)| *known == name);
    found.map(|(_, outcome)| *outcome).ok_or_else(|| {
        let help = did_you_mean(name, outcomes.map(|(known, _)| known));
        wrong(format!("a step ends `done`, `failed` or `interrupted`, not `{name}`")).help_opt(help)
    })
}

fn text(name: &str, value: &Value) -> Result<Arc<str>, Diagnostic> {
    match value {
        Value::String(text) => Ok(Arc::clone(text)),
        other => Err(wrong(format!("`{name}` has to be a string, not {}", other.describe()))),
    }
}

fn members<'v>(value: &'v Value, what: &str) -> Result<&'v [(Arc<str>, Value)], Diagnostic> {
    match value {
        Value::Map(entries) => Ok(entries),
        other => Err(wrong(format!("{what} has to be an object, not {}", other.describe()))),
    }
}

fn entries(name: &str, value: &Value) -> Result<Vec<(Arc<str>, Value)>, Diagnostic> {
    Ok(members(value, &format!("`{name}`"))?.to_vec())
}
