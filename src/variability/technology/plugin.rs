//! Asks those that stand in for the technology plugins of a template ("Technology Plugin") which
//! technologies a node can have.
//!
//! A plugin is a program. A template only names it; whoever resolves the template decides what
//! answers in its place, and whether anything does.

use super::Candidate;
use super::hosting::hosts_of;
use crate::diagnostic::{Advice, Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::load::Loaded;
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::graph::{Graph, NodeElement, NodeId};
use crate::variability::template::{ServiceTemplate, TechnologyRule, parse_answer};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Node};
use elsa::sync::FrozenMap;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The version of the format of requests.
const VERSION: u32 = 1;

/// The question which technologies a node can have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TechnologyRequest {
    /// The version of this format: 1.
    pub version: u32,
    /// The plugin, as the template names it.
    pub plugin: String,
    /// The node.
    pub node: RequestedNode,
    /// The nodes that may host it, directly or through others, the nearest first.
    pub hosting: Vec<RequestedNode>,
    /// The technology rules that fit the node.
    pub rules: Vec<RequestedRule>,
}

impl TechnologyRequest {
    /// The request in JSON.
    pub fn to_json(&self) -> String {
        // A structure of strings, numbers and values always has a text.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A node as a plugin sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RequestedNode {
    /// Its name.
    pub name: String,
    /// Its type; the first one if it has alternatives.
    pub r#type: String,
    /// The types that its type derives from, the nearest first.
    pub derived_from: Vec<String>,
    /// The nodes that may host it directly.
    pub hosts: Vec<String>,
}

/// A technology rule as a plugin sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RequestedRule {
    /// The technology; `None` if the component needs none.
    pub technology: Option<String>,
    /// The type that the rule is for.
    pub component: String,
    /// The types of the hosts that it asks for.
    pub hosting: Vec<String>,
    /// The type of the artifact that it asks for.
    pub artifact: Option<String>,
    /// The management operations that it asks for.
    pub operations: Vec<String>,
    /// The conditions of the rule.
    pub conditions: Option<Value>,
    /// The weight.
    pub weight: f64,
    /// The type that it assigns.
    pub assign: Option<String>,
    /// The reason for the weight.
    pub reason: Option<String>,
}

impl RequestedRule {
    fn of(candidate: &Candidate<'_>) -> Self {
        let rule = candidate.rule;
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            technology: rule.technology.clone(),
            component: rule.component.to_string(),
            hosting: owned(&rule.hosting),
            artifact: rule.artifact.map(str::to_owned),
            operations: owned(&rule.operations),
            conditions: rule.conditions.map(Node::to_value),
            weight: f64::from(rule.weight),
            assign: candidate.assign.clone(),
            reason: rule.reason.map(str::to_owned),
        }
    }
}

type Answering = dyn Fn(&TechnologyRequest) -> Result<String, String> + Send + Sync;

/// What answers in place of technology plugins, by their names. The same request gets the same
/// answer: each is asked once.
#[derive(Clone, Default)]
pub(crate) struct TechnologyPlugins {
    by_name: BTreeMap<String, Arc<Answering>>,
    answers: Arc<Mutex<FxHashMap<String, Result<String, String>>>>,
}

impl TechnologyPlugins {
    /// Lets `answer` stand in for the plugin of this name.
    pub(crate) fn add(
        &mut self,
        name: String,
        answer: impl Fn(&TechnologyRequest) -> Result<String, String> + Send + Sync + 'static,
    ) {
        self.by_name.insert(name, Arc::new(answer));
        // What another one answered counts no more.
        self.answers = Arc::default();
    }

    /// The errors about those that the template does not name.
    pub(crate) fn unnamed(&self, template: &ServiceTemplate<'_>) -> Diagnostics {
        let named = &template.variability.technology_plugins;
        let names = || named.iter().filter_map(|plugin| plugin.as_str());
        let unnamed = self.by_name.keys().filter(|name| !names().any(|named| named == *name));
        let error = |name: &String| {
            let message = format!("the template has no technology plugin `{name}`");
            let list = || Advice::from("it names its plugins in `plugins: {technology: [...]}`");
            let help = did_you_mean(name, names()).unwrap_or_else(list);
            Diagnostic::error(Code::Plugin, message).help(help)
        };
        Diagnostics(unnamed.map(error).collect())
    }

    /// The answer to a request, which is `json` as text; `None` where nothing stands in for the
    /// plugin. The inner error says why there is no answer.
    pub(crate) fn ask(
        &self,
        request: &TechnologyRequest,
        json: String,
    ) -> Option<Result<String, String>> {
        let answering = self.by_name.get(&request.plugin)?;
        // The lock is held while a plugin works, so that requests have one order.
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Some(answers.entry(json).or_insert_with(|| answering(request)).clone())
    }
}

impl fmt::Debug for TechnologyPlugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// The answers of plugins as rules, with the diagnostics about them, by requests.
#[derive(Default)]
pub(crate) struct AnsweredRules<'l>(FrozenMap<String, Box<(Vec<TechnologyRule<'l>>, Diagnostics)>>);

impl<'l> AnsweredRules<'l> {
    /// What a plugin answers to a request.
    pub(crate) fn of(
        &self,
        loaded: &'l Loaded,
        plugins: &TechnologyPlugins,
        (plugin, request): (Node<'_>, &TechnologyRequest),
        diagnostics: &mut Diagnostics,
    ) -> &[TechnologyRule<'l>] {
        let (name, json) = (&request.plugin, request.to_json());
        let (rules, found) = self.0.insert_with(json.clone(), || {
            let text = match plugins.ask(request, json) {
                Some(Ok(text)) => text,
                Some(Err(why)) => {
                    return Box::new((Vec::new(), wrong(plugin, request, "fails", &why).into()));
                }
                None => return Box::new((Vec::new(), unasked(plugin, name).into())),
            };
            let mut found = Diagnostics::default();
            let answer = loaded.answer(&format!("<plugin {name}>"), &text, plugin.span());
            let read = |answer: &'l Document| {
                parse_answer(answer.root(), &request.node.r#type, &mut found)
            };
            let rules = answer.map(read).map_err(|error| found.push(error)).unwrap_or_default();
            let as_wrong = |error: Diagnostic| {
                let place = error.span.unwrap_or(Span::DETACHED);
                wrong(plugin, request, "answers wrongly", &error.message)
                    .label(place, "this answer")
                    .help("docs/technologies.md of cuvee describes the answer")
            };
            Box::new((rules, Diagnostics(found.0.into_iter().map(as_wrong).collect())))
        });
        diagnostics.0.extend(found.0.iter().cloned());
        rules
    }
}

fn wrong(plugin: Node<'_>, request: &TechnologyRequest, does: &str, why: &str) -> Diagnostic {
    let (name, node) = (&request.plugin, &request.node.name);
    let message = format!("the technology plugin `{name}` {does} for node \"{node}\": {why}");
    Diagnostic::error(Code::Plugin, message).at(plugin.span())
}

fn unasked(plugin: Node<'_>, name: &str) -> Diagnostic {
    let message = format!("the technology plugin `{name}` was not asked");
    let help = format!(
        "a template runs nothing by itself: `--plugin {name}=COMMAND` lets a command answer"
    );
    Diagnostic::warning(Code::Plugin, message).at(plugin.span()).help(help)
}

/// Gives the rules that a plugin answers a request with.
pub(crate) type Answers<'p, 'a> =
    dyn Fn(Node<'a>, &TechnologyRequest, &mut Diagnostics) -> &'a [TechnologyRule<'a>] + 'p;

/// The plugins of a template, and what answers in their place.
pub(super) struct AskedPlugins<'p, 'a> {
    /// The plugins that are still asked.
    plugins: Vec<Node<'a>>,
    answers: &'p Answers<'p, 'a>,
}

impl<'p, 'a> AskedPlugins<'p, 'a> {
    pub(super) fn of(template: &ServiceTemplate<'a>, answers: &'p Answers<'p, 'a>) -> Self {
        Self { plugins: template.variability.technology_plugins.clone(), answers }
    }

    /// What the plugins say about a node that these candidates fit. A plugin that does not answer
    /// well is asked no more, so it is told once.
    pub(super) fn rules(
        &mut self,
        graph: &Graph<'a>,
        types: &TypeHierarchy<'_>,
        node: NodeId,
        candidates: &[Candidate<'a>],
        diagnostics: &mut Diagnostics,
    ) -> Vec<&'a TechnologyRule<'a>> {
        let mut rules = Vec::new();
        if self.plugins.is_empty() {
            return rules;
        }
        let requested = |id| requested(graph, types, graph.node(id));
        let mut request = TechnologyRequest {
            version: VERSION,
            plugin: String::new(),
            node: requested(node),
            hosting: hosts_of(graph, node).into_iter().map(requested).collect(),
            rules: candidates.iter().map(RequestedRule::of).collect(),
        };
        let answers = self.answers;
        self.plugins.retain(|&plugin| {
            request.plugin = plugin.as_str().unwrap_or_default().to_owned();
            let mut found = Diagnostics::default();
            rules.extend(answers(plugin, &request, &mut found));
            let is_well = found.0.is_empty();
            diagnostics.0.append(&mut found.0);
            is_well
        });
        rules
    }
}

fn requested<'a>(
    graph: &Graph<'a>,
    types: &TypeHierarchy<'_>,
    node: &NodeElement<'a>,
) -> RequestedNode {
    let r#type = super::type_name(graph, node);
    let derived = types.chain(Family::Node, r#type).skip(1);
    let hosts = super::hosting::direct_hosts(graph, node);
    RequestedNode {
        name: graph.element(node.id).name.to_owned(),
        r#type: r#type.to_owned(),
        derived_from: derived.map(|one| types.name_of(one).to_owned()).collect(),
        hosts: hosts.map(|host| graph.element(graph.node(host).id).name.to_owned()).collect(),
    }
}
