//! Calls xOpera: `opera` keeps what it has deployed in a directory of JSON files, one an instance
//! of a node.

use super::handed::{HandedEnd, HandedNode, HandedPlace, HandoverVerb, HandoverWay};
use cuvee_text::value::Value;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Opera;

/// The states of a node that an operation of it has begun and not ended. opera refuses to go on
/// from there, and goes on from `error`.
const UNDER_WAY: [&str; 6] =
    ["creating", "created", "configuring", "starting", "stopping", "deleting"];

/// What opera appends to the name of a node for its only instance.
const INSTANCE: &str = "_0";

impl HandoverWay for Opera {
    fn programs(&self) -> &'static [&'static str] {
        &["opera", "ansible-playbook"]
    }

    fn prepare(&self, place: &HandedPlace) -> io::Result<()> {
        fs::create_dir_all(&place.state)?;
        for path in instances(place)? {
            let Some(text) = with_error(&read(&path)?) else { continue };
            fs::write(&path, text)?;
        }
        Ok(())
    }

    fn command(&self, place: &HandedPlace, verb: HandoverVerb) -> Vec<String> {
        let state = place.state.to_string_lossy();
        let own = [verb.as_str(), "--instance-path", &state, "--resume", "--force"];
        let template = (verb == HandoverVerb::Deploy).then_some(place.template.as_str());
        ["opera"].into_iter().chain(own).chain(template).map(str::to_owned).collect()
    }

    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        &[("ANSIBLE_NOCOLOR", "1")]
    }

    fn nodes(&self, place: &HandedPlace) -> Result<Vec<HandedNode>, String> {
        let paths = instances(place).map_err(|why| why.to_string())?;
        let node = |path: PathBuf| {
            let values = read(&path).map_err(|why| why.to_string())?;
            Ok(node(&path, &values))
        };
        paths.into_iter().map(node).filter_map(Result::transpose).collect()
    }
}

/// The files of instances: of nodes, and of relations between them.
fn instances(place: &HandedPlace) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(place.state.join("instances")) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn read(path: &Path) -> io::Result<Value> {
    let text = fs::read(path)?;
    serde_json::from_slice(&text).map_err(|why| io::Error::new(ErrorKind::InvalidData, why))
}

fn entry<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { return None };
    entries.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
}

/// The value of an attribute; `None` if it has none.
fn value<'v>(values: &'v Value, name: &str) -> Option<&'v Value> {
    let of = entry(values, name)?;
    (entry(of, "is_set") == Some(&Value::Bool(true))).then(|| entry(of, "data"))?
}

/// The values of an instance that is under way, with the state `error`; `None` for others.
fn with_error(values: &Value) -> Option<String> {
    let state = value(values, "state")?.as_str()?;
    let Value::Map(entries) = values else { return None };
    let changed = entries.iter().map(|(name, of)| match &**name {
        "state" => {
            let error = [("is_set", Value::Bool(true)), ("data", Value::from("error"))];
            let error = error.map(|(name, value)| (Arc::from(name), value));
            (Arc::clone(name), Value::Map(error.into()))
        }
        _ => (Arc::clone(name), of.clone()),
    });
    UNDER_WAY
        .contains(&state)
        .then(|| serde_json::to_string(&Value::Map(changed.collect())).ok())?
}

/// The node of an instance; `None` for a relation.
fn node(path: &Path, values: &Value) -> Option<HandedNode> {
    let name = value(values, "tosca_name")?.as_str()?;
    if path.file_name()?.to_str()?.strip_suffix(INSTANCE)? != name {
        return None;
    }
    let state = value(values, "state")?.as_str()?;
    let Value::Map(entries) = values else { return None };
    let attributes = entries.iter().filter_map(|(name, _)| {
        let value = value(values, name)?;
        Some((Arc::clone(name), value.clone()))
    });
    let end = match state {
        "started" => HandedEnd::Deployed,
        "initial" => HandedEnd::Gone,
        other => HandedEnd::Other(other.to_owned()),
    };
    Some(HandedNode { name: name.to_owned(), end, attributes: attributes.collect() })
}
