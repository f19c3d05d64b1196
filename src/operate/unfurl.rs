//! Calls Unfurl: `unfurl` keeps what it has deployed in the ensemble, a YAML file.

use super::handed::{HandedEnd, HandedNode, HandedPlace, HandoverVerb, HandoverWay};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, Node, parse};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) struct Unfurl;

/// The ensemble lies beside the template, since it names scripts by their paths from there.
const ENSEMBLE: &str = "cuvee-ensemble.yaml";

impl HandoverWay for Unfurl {
    fn programs(&self) -> &'static [&'static str] {
        &["unfurl"]
    }

    fn prepare(&self, place: &HandedPlace) -> io::Result<()> {
        let ensemble = ensemble(place);
        if ensemble.exists() {
            return Ok(());
        }
        let template = Value::from(place.template.as_str());
        let template = serde_json::to_string(&template).unwrap_or_default();
        fs::write(
            ensemble,
            format!(
                "apiVersion: unfurl/v1alpha1\nkind: Ensemble\nspec:\n  service_template:\n    +include: {template}\n"
            ),
        )
    }

    fn command(&self, _: &HandedPlace, verb: HandoverVerb) -> Vec<String> {
        let own = ["--approve", "--dirty", "ok", "--jobexitcode", "degraded", "--output", "none"];
        let own = ["unfurl", verb.as_str()].into_iter().chain(own).chain([ENSEMBLE]);
        own.map(str::to_owned).collect()
    }

    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        // What somebody has set up for all ensembles is no part of this one.
        &[("UNFURL_HOME", ""), ("NO_COLOR", "1")]
    }

    fn nodes(&self, place: &HandedPlace) -> Result<Vec<HandedNode>, String> {
        let text = match fs::read_to_string(ensemble(place)) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(|why| why.to_string())?,
        };
        let document = parse(FileId::DETACHED, text.into(), &Limits::default());
        let document = document.map_err(|why| why.message)?;
        let mut nodes = Vec::new();
        let mut open: Vec<_> = document.root().get("status").into_iter().collect();
        while let Some(inner) = open.pop() {
            for (name, instance) in inner.get("instances").into_iter().flat_map(Node::entries) {
                nodes.push(node(&name.key_text(), instance));
                open.push(instance);
            }
        }
        Ok(nodes)
    }
}

fn ensemble(place: &HandedPlace) -> PathBuf {
    place.base.join(ENSEMBLE)
}

fn node(name: &str, instance: Node<'_>) -> HandedNode {
    let attributes = instance.get("attributes").into_iter().flat_map(Node::entries);
    let attributes = attributes.filter_map(|(name, value)| {
        let value = value.to_value();
        (value != Value::Null).then(|| (Arc::from(&*name.key_text()), value))
    });
    let ready = instance.get("readyState");
    let local = ready.and_then(|ready| ready.get("local")).and_then(Node::text);
    let end = match local {
        Some("ok") => HandedEnd::Deployed,
        Some("absent") => HandedEnd::Gone,
        Some("pending") => HandedEnd::Untouched,
        other => HandedEnd::Other(other.unwrap_or("unknown").to_owned()),
    };
    HandedNode { name: name.to_owned(), end, attributes: attributes.collect() }
}
