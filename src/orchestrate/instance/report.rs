//! Adds reports to records: what an orchestrator or a script says has happened is checked against
//! the model and becomes events. No message shows a value.

use super::apply::{Orchestration, impossible, open_of};
use super::claim::DrawToken;
use super::event::{Event, ReportOutcome};
use super::exchange::RESERVED_METADATA;
use super::model::{InstanceModel, InstanceState, NodeInstance};
use super::query::TypedForm;
use super::reduce::{RelationPath, relation_parts};
use super::secrets::SecretSeal;
use super::transition::{ReportedState, skipped_between};
use super::unwritten::Unwritten;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::orchestrate::plan::with_definition;
use crate::topology::Topology;
use crate::topology::sensitive::{InstanceValue, kept_secret};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::types::{EffectiveType, PropertyDefinition};
use crate::tosca::value::{
    Findings, TextType, check_assignment, check_value as checked, with_versions,
};
use crate::tosca::{Family, NodeState, Types};
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes a value has at most.
const LARGEST_VALUE: usize = 1 << 20;

/// The attributes that the model computes itself (I-8).
const OWN_ATTRIBUTES: [&str; 3] = ["state", "tosca_id", "tosca_name"];

/// The capability, if it has the attribute, the name of the attribute, the names and positions that
/// lead to a part of it, and the value of that part.
type AttributePart = (Option<Arc<str>>, Arc<str>, Vec<Value>, Value);

/// A report that something has happened to an instance.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InstanceReport {
    /// The id of the node that the report is about.
    pub node: Option<Arc<str>>,
    /// The relation that the report is about: `relation.db@0.node.shop`, or `shop/db` if the node
    /// has only one of that name.
    pub relation: Option<Arc<str>>,
    /// The identifier of any other entity that the report is about: `group.web`, `policy.scale`,
    /// `input.size`, `output.url`.
    pub entity: Option<Arc<str>>,
    /// The state; `gone` if the node or relation does not exist any more.
    pub state: Option<Arc<str>>,
    /// Attributes of the node.
    pub attributes: Vec<(Arc<str>, Value)>,
    /// Attributes of its capabilities; the name of the capability comes first.
    pub capability_attributes: Vec<(Arc<str>, Arc<str>, Value)>,
    /// Parts of attributes, which keep their other parts.
    pub attribute_parts: Vec<AttributePart>,
    /// An event of the node: a notification, with its interface, or what triggers wait for.
    pub event: Option<Arc<str>>,
    /// Outputs of the topology; beside an event those of the notification.
    pub outputs: Vec<(Arc<str>, Value)>,
    /// The step or part that begins, or that ends if there is an outcome.
    pub step: Option<Arc<str>>,
    /// How the step ended.
    pub outcome: Option<ReportOutcome>,
    /// Whether the step is done without effect, because its condition does not hold: it sets no
    /// state.
    pub is_left_out: bool,
    /// How long the step, which begins, is claimed: until then others may not report it. With the
    /// token of an earlier claim, that one lasts longer.
    pub claim: Option<Duration>,
    /// The token that answered the claim of the step.
    pub token: Option<Arc<str>>,
    /// The key that tells this report from others of its orchestration. A repeated report counts
    /// once.
    pub key: Option<Arc<str>>,
    /// The number of the last record that the reporter knows.
    pub expect: Option<u64>,
    /// A note about the entity, for people.
    pub note: Option<Arc<str>>,
    /// Metadata of the entity, or of the instance if no entity is named.
    pub metadata: Vec<(Arc<str>, Value)>,
    /// Links of the entity: names and URIs of things outside the instance.
    pub links: Vec<(Arc<str>, Arc<str>)>,
    /// Further reports that make one record with this one.
    pub batch: Vec<InstanceReport>,
}

/// The types against which values of an instance are checked.
pub struct DeclaredTypes<'t, 'a> {
    types: &'t Types<'a>,
    schemas: Schemas<'t, 'a>,
    /// Reads the target, whose nodes and policies tell which events there are.
    target: Option<&'t dyn Fn() -> Option<Topology>>,
    topology: OnceCell<Option<Topology>>,
}

impl<'t, 'a> DeclaredTypes<'t, 'a> {
    /// The types of a template.
    pub fn new(types: &'t Types<'a>) -> Self {
        let topology = OnceCell::new();
        Self { types, schemas: Schemas::new(types), target: None, topology }
    }

    /// The same with the target, which is read once somebody reports an event.
    #[must_use]
    pub fn with_target(self, target: &'t dyn Fn() -> Option<Topology>) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The target.
    pub(super) fn topology(&self) -> Option<&Topology> {
        self.topology.get_or_init(|| self.target?()).as_ref()
    }

    /// The value of an input or output of the target as it is kept, if that differs.
    ///
    /// # Errors
    /// `unknown-element` if the target declares none of this name, `invalid-value`.
    pub(super) fn parameter(
        &self,
        of: &InstanceValue<'_>,
        value: &Value,
    ) -> Result<Option<Value>, Diagnostic> {
        let Some(topology) = self.topology() else { return Ok(None) };
        let (what, name, all) = match *of {
            InstanceValue::Input(name) => ("input", name, &topology.inputs),
            InstanceValue::Output(name) => ("output", name, &topology.outputs),
            _ => return Ok(None),
        };
        let Some(parameter) = all.iter().find(|one| one.name == name) else {
            let message = format!("the template has no {what} `{name}`");
            let help = did_you_mean(name, all.iter().map(|one| &*one.name));
            return Err(Diagnostic::error(Code::UnknownElement, message).help_opt(help));
        };
        let (kept, wrong) = with_definition(parameter, self.types, |definition| {
            let Some(expected) = definition.expected() else { return (None, None) };
            let found = checked(value, expected, &self.schemas);
            let wrong = wrong_value(&found, &format!("the {what} `{name}`"), expected.type_name);
            (with_versions(value, expected, &self.schemas), wrong)
        });
        wrong.map_or(Ok(kept), Err)
    }

    /// The value of a property of a group as it is kept, if that differs.
    ///
    /// # Errors
    /// `unknown-property` if its type declares none of this name, `invalid-value`.
    pub(super) fn group_property(
        &self,
        (group, type_name): (&str, &str),
        name: &str,
        value: Option<&Value>,
    ) -> Result<Option<Value>, Diagnostic> {
        let Some(id) = self.types.find_told(Family::Group, type_name) else { return Ok(None) };
        let kind = self.types.effective(id);
        let Some(part) = kind.properties.get(name) else {
            if kind.is_open {
                return Ok(None);
            }
            let message = format!("`{group}` has no property `{name}`");
            let help = did_you_mean(name, kind.properties.keys().copied());
            return Err(Diagnostic::error(Code::UnknownProperty, message).help_opt(help));
        };
        let (definition, Some(value)) = (&part.definition, value) else { return Ok(None) };
        check_value(self, &format!("`{name}` of `{group}`"), definition, value)?;
        Ok(definition.expected().and_then(|it| with_versions(value, it, &self.schemas)))
    }

    /// The effective type of a node.
    pub(super) fn of(&self, node: &NodeInstance) -> Option<&EffectiveType<'a>> {
        self.effective(Family::Node, &node.type_name)
    }

    fn effective(&self, family: Family, type_name: &str) -> Option<&EffectiveType<'a>> {
        self.types.find_told(family, type_name).map(|id| self.types.effective(id))
    }

    /// What the type of a value makes of texts in the part at the end of a path.
    pub fn form(&self, of: &InstanceValue<'_>, path: &[String]) -> Option<TypedForm> {
        let form = |definition: &PropertyDefinition<'_>| {
            TextType::of_part(definition.expected()?, path, &self.schemas)
        };
        let form = match *of {
            InstanceValue::Input(name) => {
                let input = self.topology()?.inputs.iter().find(|input| input.name == name)?;
                with_definition(input, self.types, form)
            }
            InstanceValue::OfNode { type_name, capability, name, .. } => {
                form(defined(self.effective(Family::Node, type_name)?, capability, name).0?)
            }
            InstanceValue::OfGroup { type_name, name, .. } => {
                form(defined(self.effective(Family::Group, type_name)?, None, name).0?)
            }
            _ => None,
        };
        form.map(TypedForm)
    }

    /// Whether there is a node type of this name.
    pub(super) fn has_node_type(&self, name: &str) -> bool {
        self.types.find(Family::Node, name).is_some()
    }

    /// The names of all node types.
    pub(super) fn node_types(&self) -> impl Iterator<Item = Cow<'a, str>> {
        let all = self.types.ids().filter(|id| self.types.definition(*id).family == Family::Node);
        all.map(|id| self.types.told_name(id))
    }
}

/// The rules by which reports are judged.
#[derive(Clone, Copy, Default)]
pub struct ReportRules<'r, 't, 'a> {
    /// The types of the template; without them no value is checked.
    pub types: Option<&'r DeclaredTypes<'t, 'a>>,
    /// What seals secret values; without it values are kept as they are.
    pub secrets: Option<&'r SecretSeal>,
    /// How tokens for claims are made; without it no step can be claimed.
    pub tokens: Option<&'r DrawToken<'r>>,
    /// Whether the running workflow may set a state that the specification does not know.
    pub sets_state: Option<&'r dyn Fn(&str) -> bool>,
    /// Whether attributes that the type does not declare are kept as metadata.
    pub undeclared: bool,
    /// Whether every change of state is accepted, allowed or not.
    pub force: bool,
}

impl ReportRules<'_, '_, '_> {
    /// A value as it is kept.
    pub(super) fn sealed(
        &self,
        of: &InstanceValue<'_>,
        value: &Value,
    ) -> Result<Value, Diagnostic> {
        if value.bytes_up_to(LARGEST_VALUE) > LARGEST_VALUE {
            let message = format!("the value of `{}` has more than 1 MiB", of.name());
            let help = "keep the value elsewhere, and link to it: `cuvee instance edit NAME link ID KEY=URI`";
            return Err(Diagnostic::error(Code::InvalidValue, message).help(help));
        }
        Ok(self.secrets.map_or_else(|| value.clone(), |seal| seal.sealed(of, value)))
    }

    /// The state with this name, if a node may have it.
    pub(super) fn state(&self, name: &str) -> Result<ReportedState, Diagnostic> {
        let state = ReportedState::named(name);
        let is_other = matches!(state, ReportedState::In(InstanceState::Other(_)));
        if is_other && !self.force && !self.sets_state.is_some_and(|sets| sets(name)) {
            let known = NodeState::ALL.map(NodeState::as_str);
            let message = format!("there is no state `{name}`, and no step that runs sets it");
            let help = did_you_mean(name, known.into_iter().chain(["gone"]));
            return Err(Diagnostic::error(Code::InvalidValue, message).help_opt(help));
        }
        Ok(state)
    }
}

/// The outcome of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// Something has changed.
    Changed,
    /// The model contained all of it already (rule P-8).
    Unchanged,
    /// It repeats the report of this record (rule P-7).
    Repeated(u64),
    /// Steps are claimed. Further reports of them need this token.
    Claimed(Arc<str>),
}

impl InstanceReport {
    /// Whether the report has attributes.
    pub(crate) fn has_attributes(&self) -> bool {
        !(self.attributes.is_empty()
            && self.capability_attributes.is_empty()
            && self.attribute_parts.is_empty())
    }

    /// Adds the events of a report to a record. `orchestration` is the plan that is carried out, if
    /// there is one.
    ///
    /// ```
    /// use cuvee::deploy::instance::{Event, InstanceModel, NodeAdded, RecordOrigin, InstanceReport, ReportRules, Reported, Unwritten, begin_workflow};
    /// let mut added = NodeAdded::default();
    /// added.id = "shop".into();
    /// let mut model = InstanceModel::default();
    /// let mut record = Unwritten::new(&mut model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Orchestrator);
    /// record.add(Event::NodeAdded(Box::new(added))).unwrap();
    /// begin_workflow(&mut record, "deploy")?;
    ///
    /// let report = InstanceReport::parse(r#"{"node": "shop", "state": "creating"}"#)?;
    /// assert_eq!(report.add_to(&mut record, &ReportRules::default(), None)?, Reported::Changed);
    /// assert_eq!(report.add_to(&mut record, &ReportRules::default(), None)?, Reported::Unchanged);
    /// let report = InstanceReport::parse(r#"{"node": "shpo", "state": "created"}"#)?;
    /// let error = report.add_to(&mut record, &ReportRules::default(), None).unwrap_err();
    /// assert_eq!(error.help.as_deref(), Some("did you mean `shop`?"));
    /// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// `unknown-element`, `unknown-property`, `invalid-value`, `illegal-transition`,
    /// `no-orchestration`, `step-not-ready`, `step-claimed`, `stale-revision`. On an error the
    /// record may contain some events of the report already; the caller has to take them back.
    pub fn add_to(
        &self,
        record: &mut Unwritten<'_>,
        rules: &ReportRules<'_, '_, '_>,
        orchestration: Option<&mut Orchestration<'_>>,
    ) -> Result<Reported, Diagnostic> {
        let token = self.claim_token(rules.tokens)?;
        let reported = self.add_under(token.as_ref(), record, rules, orchestration)?;
        Ok(token.map_or(reported, Reported::Claimed))
    }

    fn add_under(
        &self,
        token: Option<&Arc<str>>,
        record: &mut Unwritten<'_>,
        rules: &ReportRules<'_, '_, '_>,
        mut orchestration: Option<&mut Orchestration<'_>>,
    ) -> Result<Reported, Diagnostic> {
        let known = |key: &Arc<str>| match &record.model().orchestration {
            Some(open) => open.keys.get(key).copied(),
            None => {
                let last = record.model().last_key.as_ref();
                last.filter(|(last, _)| last == key).map(|(_, revision)| *revision)
            }
        };
        if let Some(revision) = self.key.as_ref().and_then(known) {
            return Ok(Reported::Repeated(revision));
        }
        self.check_expected(record.model())?;
        let before = record.events().len();
        let running = orchestration.as_deref_mut();
        ReportJudge { rules, record, orchestration: running, token }.report(self)?;
        for report in &self.batch {
            report.add_under(token, record, rules, orchestration.as_deref_mut())?;
        }
        let is_changed = record.events().len() > before;
        Ok(if is_changed { Reported::Changed } else { Reported::Unchanged })
    }

    /// The ids of the nodes that the report may be about, as far as it names them.
    pub(crate) fn nodes(&self) -> BTreeSet<Arc<str>> {
        let mut nodes = BTreeSet::new();
        self.all(&mut |report| {
            for said in report.node.iter() {
                nodes.extend(
                    [Some(&**said), said.strip_prefix("node.")]
                        .into_iter()
                        .flatten()
                        .map(Arc::from),
                );
            }
            for said in report.relation.iter().chain(&report.entity) {
                nodes.extend(said.strip_prefix("node.").map(Arc::from));
                nodes.extend(relation_parts(said).map(|(.., source)| Arc::from(source)));
                nodes.extend(
                    said.match_indices('/').filter_map(|(at, _)| said.get(..at)).map(Arc::from),
                );
            }
        });
        nodes
    }

    /// The keys of the report.
    pub(crate) fn keys(&self) -> BTreeSet<Arc<str>> {
        let mut keys = BTreeSet::new();
        self.all(&mut |report| keys.extend(report.key.clone()));
        keys
    }

    /// Whether the report contains a state or a step, which may move a plan on.
    pub(crate) fn moves(&self) -> bool {
        let mut moves = false;
        self.all(&mut |it| {
            moves |= it.state.is_some() || it.step.is_some() || it.outcome.is_some()
        });
        moves
    }

    /// Whether the report has outputs of the topology.
    pub(crate) fn has_outputs(&self) -> bool {
        let mut has_outputs = false;
        self.all(&mut |it| has_outputs |= it.event.is_none() && !it.outputs.is_empty());
        has_outputs
    }

    /// Whether the report tells of an event.
    pub(crate) fn has_event(&self) -> bool {
        let mut has_event = false;
        self.all(&mut |it| has_event |= it.event.is_some());
        has_event
    }

    /// Calls `each` with the report, and with those that make one record with it.
    pub(super) fn all<'r>(&'r self, each: &mut dyn FnMut(&'r Self)) {
        each(self);
        self.batch.iter().for_each(|report| report.all(each));
    }

    fn check_expected(&self, model: &InstanceModel) -> Result<(), Diagnostic> {
        match self.expect.filter(|expected| *expected != model.revision) {
            None => Ok(()),
            Some(expected) => {
                let revision = model.revision;
                let message = format!("the instance is at revision {revision}, not {expected}");
                let error = Diagnostic::error(Code::StaleRevision, message);
                Err(error.help(format!(
                    "look at the changes since then: `cuvee instance log NAME --since {expected}`"
                )))
            }
        }
    }
}

/// Judges a report and adds its events to a record.
pub(super) struct ReportJudge<'o, 'r, 't, 'a, 'm, 'p> {
    pub(super) rules: &'o ReportRules<'r, 't, 'a>,
    pub(super) record: &'o mut Unwritten<'m>,
    pub(super) orchestration: Option<&'o mut Orchestration<'p>>,
    /// The token for the steps that the report claims.
    pub(super) token: Option<&'o Arc<str>>,
}

impl ReportJudge<'_, '_, '_, '_, '_, '_> {
    fn report(&mut self, report: &InstanceReport) -> Result<(), Diagnostic> {
        self.pass_claims(report)?;
        if let Some(step) = &report.step {
            open_of(self.record.model())?;
            if let Some(orchestration) = &mut self.orchestration {
                orchestration.open_step(self.record, step, report.state.is_some())?;
            }
        }
        match (&report.node, &report.relation, &report.entity) {
            (Some(node), None, None) => self.node(report, node)?,
            (None, Some(relation), None) => self.relation(report, relation)?,
            (None, None, Some(entity)) => self.entity(report, entity)?,
            (None, None, None) => self.instance(report)?,
            _ => {
                let message = "a report is about one thing: `node`, `relation` or `entity`";
                return Err(Diagnostic::error(Code::InvalidValue, message));
            }
        }
        if report.event.is_some() && report.node.is_none() {
            let message = "an event is one of a node, which the report has to name";
            return Err(Diagnostic::error(Code::InvalidValue, message));
        }
        let outputs = if report.event.is_none() { &*report.outputs } else { &[] };
        for (name, value) in outputs {
            let of = InstanceValue::Output(name);
            let declared = self.declared_output(&of, value)?;
            let value = self.rules.sealed(&of, declared.as_ref().unwrap_or(value))?;
            if self.record.model().outputs.get(name) != Some(&value) {
                self.add(Event::Output { name: Arc::clone(name), value: Some(value) })?;
            }
        }
        match &report.step {
            Some(step) => {
                self.step(step, report)?;
                self.claim(report)
            }
            None if report.outcome.is_some() => Err(Diagnostic::error(
                Code::InvalidValue,
                "an `outcome` needs a `step`, which is missing",
            )),
            None => Ok(()),
        }
    }

    /// The value of an output as it is kept, if that differs. What is not declared may be an output
    /// of the target of the plan that is carried out.
    fn declared_output(
        &self,
        of: &InstanceValue<'_>,
        value: &Value,
    ) -> Result<Option<Value>, Diagnostic> {
        let Some(types) = self.rules.types else { return Ok(None) };
        let has_other_target = || {
            let open = self.record.model().orchestration.as_ref();
            open.is_some_and(|open| open.target.is_some())
        };
        match types.parameter(of, value) {
            Err(_) if self.rules.force => Ok(None),
            Err(error) if error.code == Code::UnknownElement => {
                let is_kept = self.rules.undeclared || has_other_target();
                if is_kept { Ok(None) } else { Err(error) }
            }
            found => found,
        }
    }

    pub(super) fn add(&mut self, event: Event) -> Result<(), Diagnostic> {
        self.record.add(event).map_err(impossible)
    }

    /// Adds what a report without an entity says of the instance.
    fn instance(&mut self, report: &InstanceReport) -> Result<(), Diagnostic> {
        let has_node =
            report.state.is_some() || report.has_attributes() || !report.links.is_empty();
        if has_node {
            let message = "a report of a state, attributes or links has to name a `node`, `relation` or `entity`";
            return Err(Diagnostic::error(Code::InvalidValue, message));
        }
        self.metadata(None, &report.metadata)?;
        self.note(None, report)
    }

    /// Adds what a report says of an entity that is no node and no relation: links, metadata, a
    /// note.
    fn entity(&mut self, report: &InstanceReport, said: &Arc<str>) -> Result<(), Diagnostic> {
        let model = self.record.model();
        if model.annotations(said).is_none() {
            return Err(model.no_entity(said));
        }
        let has_more = report.state.is_some() || report.has_attributes();
        if has_more {
            let message = format!(
                "only links and metadata of `{said}` can be reported as those of an `entity`"
            );
            let help = "report states and attributes with `node`, or the state of a relation with `relation`";
            return Err(Diagnostic::error(Code::InvalidValue, message).help(help));
        }
        self.annotations(report, said)?;
        self.note(Some(said), report)
    }

    /// Adds links and metadata of an entity.
    fn annotations(
        &mut self,
        report: &InstanceReport,
        entity: &Arc<str>,
    ) -> Result<(), Diagnostic> {
        for (name, uri) in &report.links {
            let known = self.record.model().annotations(entity);
            if known.and_then(|(links, _)| links.get(name)) != Some(uri) {
                let (entity, name, uri) = (Arc::clone(entity), Arc::clone(name), Arc::clone(uri));
                self.add(Event::Linked { entity, name, uri: Some(uri) })?;
            }
        }
        self.metadata(Some(entity), &report.metadata)
    }

    fn note(
        &mut self,
        entity: Option<&Arc<str>>,
        report: &InstanceReport,
    ) -> Result<(), Diagnostic> {
        match &report.note {
            Some(text) => {
                let (entity, text) = (entity.cloned(), Arc::clone(text));
                self.add(Event::Note { entity, text, level: None })
            }
            None => Ok(()),
        }
    }

    fn node(&mut self, report: &InstanceReport, said: &Arc<str>) -> Result<(), Diagnostic> {
        let id = self.node_id(said);
        let state = report.state.as_ref().map(|state| self.state(state)).transpose()?;
        let current = self.record.model().nodes.get(&id).map(|node| &node.state);
        // A state that the node has already is no change.
        let is_same = |state: &ReportedState| match state {
            ReportedState::In(state) => current == Some(state),
            ReportedState::Gone => false,
        };
        let state = state.filter(|state| !is_same(state));
        let mut unit = None;
        if let Some(state) = &state {
            self.may_change()?;
            if let Some(orchestration) = &mut self.orchestration {
                unit = orchestration.before_state(self.record, &id, state)?;
            }
        }
        if !self.record.model().nodes.contains_key(&id) {
            return Err(self.no_node(&id));
        }
        self.values(report, &id)?;
        if let Some(event) = &report.event {
            self.event(report, &id, event)?;
        }
        let Some(state) = state else { return Ok(()) };
        self.set_state(&id, &state)?;
        if let (Some(unit), Some(orchestration)) = (unit, &mut self.orchestration) {
            orchestration.after_state(self.record, unit, &state)?;
        }
        let is_left = self.record.model().nodes.contains_key(&id);
        if state == ReportedState::Gone && is_left {
            self.add(Event::NodeRemoved { id })?;
        }
        Ok(())
    }

    /// The id of a node that is named with or without `node.`.
    pub(super) fn node_id(&self, said: &Arc<str>) -> Arc<str> {
        match said.strip_prefix("node.") {
            Some(id) if !self.record.model().nodes.contains_key(said) => id.into(),
            _ => Arc::clone(said),
        }
    }

    /// Adds attributes, links, metadata and notes, which may be reported at any time (I-35).
    fn values(&mut self, report: &InstanceReport, id: &Arc<str>) -> Result<(), Diagnostic> {
        let entity: Arc<str> = format!("node.{id}").into();
        for (name, value) in &report.attributes {
            self.attribute(id, &entity, (None, name, &[]), value)?;
        }
        for (capability, name, value) in &report.capability_attributes {
            self.attribute(id, &entity, (Some(capability), name, &[]), value)?;
        }
        for (capability, name, path, value) in &report.attribute_parts {
            self.attribute(id, &entity, (capability.as_ref(), name, path), value)?;
        }
        self.annotations(report, &entity)?;
        let known = self.node_of(id).and_then(|node| node.note.as_ref());
        if known == report.note.as_ref() { Ok(()) } else { self.note(Some(&entity), report) }
    }

    fn node_of(&self, id: &str) -> Option<&NodeInstance> {
        self.record.model().nodes.get(id)
    }

    fn metadata(
        &mut self,
        entity: Option<&Arc<str>>,
        metadata: &[(Arc<str>, Value)],
    ) -> Result<(), Diagnostic> {
        for (name, value) in metadata {
            check_metadata(name)?;
            let value = self.rules.sealed(&InstanceValue::Other(name), value)?;
            let model = self.record.model();
            let known = match entity {
                Some(entity) => model.annotations(entity).and_then(|(_, known)| known.get(name)),
                None => model.metadata.get(name),
            };
            if known != Some(&value) {
                let (name, entity) = (Arc::clone(name), entity.cloned());
                self.add(Event::Metadata { entity, name, value: Some(value) })?;
            }
        }
        Ok(())
    }

    pub(super) fn attribute(
        &mut self,
        id: &Arc<str>,
        entity: &Arc<str>,
        (capability, name, path): (Option<&Arc<str>>, &Arc<str>, &[Value]),
        value: &Value,
    ) -> Result<(), Diagnostic> {
        let Some(node) = self.node_of(id) else { return Err(self.no_node(id)) };
        if capability.is_none() && OWN_ATTRIBUTES.contains(&&**name) {
            let message = format!("the attribute `{name}` of `{id}` is set by the model itself");
            let help = "report `state` beside the attributes, not among them";
            let error = Diagnostic::error(Code::InvalidValue, message);
            return Err(if &**name == "state" { error.help(help) } else { error });
        }
        let (attributes, properties) = match capability {
            None => (Some(&node.attributes), Some(&node.properties)),
            Some(name) => {
                let found = node.capabilities.get(name);
                (found.map(|it| &it.attributes), found.map(|it| &it.properties))
            }
        };
        // A property is also an attribute until another value is reported (I-7).
        let known = attributes.and_then(|it| it.get(name)).map(|it| &it.value);
        let known = known.or_else(|| properties?.get(name));
        let Some(value) = &with_part(known, path, value) else {
            let message = format!(
                "the attribute `{name}` of `{id}` has no part `{}`",
                write_flow(&Value::List(path.into()))
            );
            return Err(Diagnostic::error(Code::InvalidValue, message));
        };
        let of = DeclaredName { id, node, capability: capability.map(|it| &**it), name };
        let is_declared = match self.rules.types {
            Some(types) => of.is_declared(types, Some(value))?,
            None => capability.is_none_or(|it| node.capabilities.contains_key(it)),
        };
        if !is_declared {
            if !self.rules.undeclared {
                return Err(of.unknown(self.rules.types));
            }
            let name = match capability {
                Some(capability) => format!("{capability}.{name}").into(),
                None => Arc::clone(name),
            };
            return self.metadata(Some(entity), &[(name, value.clone())]);
        }
        let value = self.rules.sealed(&of.value(), &of.kept(self.rules.types, value))?;
        if known != Some(&value) {
            let (entity, capability) = (Arc::clone(entity), capability.cloned());
            let (name, value) = (Arc::clone(name), Some(value));
            self.add(Event::Attribute { entity, capability, name, value })?;
        }
        Ok(())
    }

    /// The state with this name, if a node may have it or a step of the plan sets it.
    fn state(&self, name: &Arc<str>) -> Result<ReportedState, Diagnostic> {
        match &self.orchestration {
            Some(running) if running.plan().sets_state(name) => Ok(ReportedState::named(name)),
            _ => self.rules.state(name),
        }
    }

    /// Checks that states may change: they do so only inside an orchestration (I-35).
    fn may_change(&self) -> Result<(), Diagnostic> {
        if self.rules.force {
            return Ok(());
        }
        open_of(self.record.model()).map(|_| ()).map_err(|error| {
            error.help("states change inside of an orchestration only: `cuvee instance apply NAME PLAN`, or `cuvee instance begin NAME --workflow WORKFLOW`; what has failed meanwhile may be told by `--note`")
        })
    }

    fn set_state(&mut self, id: &Arc<str>, to: &ReportedState) -> Result<(), Diagnostic> {
        let model = self.record.model();
        let Some(node) = model.nodes.get(id) else { return Err(self.no_node(id)) };
        let from = node.state.clone();
        if ReportedState::In(from.clone()) == *to {
            return Ok(());
        }
        let skipped = skipped_between(&from, to, model.orchestration.is_some());
        let forced = skipped.is_none();
        if forced && !self.rules.force {
            return Err(illegal(id, &from, to));
        }
        let ReportedState::In(to) = to.clone() else { return Ok(()) };
        let (entity, skipped) = (format!("node.{id}").into(), skipped.unwrap_or_default());
        self.add(Event::State { entity, from, to, skipped, forced })
    }

    fn relation(&mut self, report: &InstanceReport, said: &Arc<str>) -> Result<(), Diagnostic> {
        let path = self.relation_path(said)?;
        let is_other = report.has_attributes();
        if is_other {
            let message = "only the state, links and metadata of a relation can be reported";
            return Err(Diagnostic::error(Code::UnknownProperty, message));
        }
        let model = self.record.model();
        let entity: Option<Arc<str>> = model.relation_name(&path).map(Into::into);
        if let (Some(state), Some(relation)) = (&report.state, model.relation_at(&path)) {
            let from = relation.state.clone();
            let ReportedState::In(to) = self.state(state)? else {
                let message = "a relation cannot be reported as gone: it goes with its node, or with a step of a plan";
                return Err(Diagnostic::error(Code::IllegalTransition, message));
            };
            if let Some(entity) = entity.clone().filter(|_| from != to) {
                self.may_change()?;
                self.add(Event::State { entity, from, to, skipped: Vec::new(), forced: false })?;
            }
        }
        if let Some(entity) = &entity {
            self.annotations(report, entity)?;
        }
        self.note(entity.as_ref(), report)
    }

    /// The path of a relation by its identifier, or of the only one of `ID/NAME`.
    fn relation_path(&self, said: &Arc<str>) -> Result<RelationPath, Diagnostic> {
        let model = self.record.model();
        if let Some(path) = model.relation_path(said) {
            return Ok(path);
        }
        let short = said.match_indices('/').filter_map(|(at, _)| {
            let (source, node) = model.nodes.get_key_value(said.get(..at)?)?;
            let (name, all) = node.requirements.get_key_value(said.get(at + 1..)?)?;
            Some((source, name, all.len()))
        });
        match short.into_iter().next() {
            Some((source, name, 1)) => Ok((Arc::clone(source), Arc::clone(name), 0)),
            Some((source, name, count)) => {
                let message = format!("`{source}` has {count} relations `{name}`");
                let help = format!("name one by its position: `relation.{name}@0.node.{source}`");
                Err(Diagnostic::error(Code::UnknownElement, message).help(help))
            }
            None => {
                let names: Vec<_> = model
                    .relations()
                    .map(|(source, name, it)| {
                        super::model::relation_identifier(source, name, it.position)
                    })
                    .collect();
                let message = format!("there is no relation `{said}`");
                let help = did_you_mean(said, names.iter().map(|name| &**name));
                Err(Diagnostic::error(Code::UnknownElement, message).help_opt(help))
            }
        }
    }

    fn step(&mut self, step: &Arc<str>, report: &InstanceReport) -> Result<(), Diagnostic> {
        let message = report.note.as_ref();
        let has_state = report.state.is_some() || report.is_left_out;
        let is_renewed = report.claim.is_some() && self.is_running(step);
        match (&mut self.orchestration, report.outcome) {
            // The reported state may have ended the orchestration already.
            (Some(_), _) if self.record.model().orchestration.is_none() => Ok(()),
            (Some(orchestration), None) => orchestration.start_step(self.record, step),
            (Some(orchestration), Some(outcome)) => {
                orchestration.end_step(self.record, step, outcome, message, has_state)
            }
            // A claim that is renewed does not begin the step again.
            (None, None) if is_renewed => Ok(()),
            (None, None) => self.add(Event::StepStarted { step: Arc::clone(step) }),
            (None, Some(outcome)) => {
                let (step, message) = (Arc::clone(step), message.cloned());
                self.add(Event::StepEnded { step, outcome, message })
            }
        }
    }

    pub(super) fn no_node(&self, id: &str) -> Diagnostic {
        if self.orchestration.as_ref().is_some_and(|running| running.is_awaited(id)) {
            let message = format!("`{id}` is not there yet: its part of the plan has not begun");
            return Diagnostic::error(Code::StepNotReady, message)
                .help(format!("begin it first: `--step node.{id}/up`"));
        }
        no_node(self.record.model(), id)
    }
}

/// A value with another one at the end of a path in it. Maps get new keys, and lists no new items;
/// `None` if the path leads nowhere.
fn with_part(old: Option<&Value>, path: &[Value], part: &Value) -> Option<Value> {
    let [step, path @ ..] = path else { return Some(part.clone()) };
    match old.unwrap_or(&Value::Null) {
        Value::List(items) => {
            let Value::Number(at) = step else { return None };
            let at = usize::try_from(at.as_int()?).ok()?;
            let mut items = items.to_vec();
            let item = items.get_mut(at)?;
            *item = with_part(Some(item), path, part)?;
            Some(Value::List(items.into()))
        }
        whole @ (Value::Null | Value::Map(_)) if kept_secret(whole).is_none() => {
            let name = step.as_str()?;
            let mut entries = if let Value::Map(all) = whole { all.to_vec() } else { Vec::new() };
            let at = entries.iter().position(|(key, _)| &**key == name);
            let new = with_part(at.map(|at| &entries[at].1), path, part)?;
            match at {
                Some(at) => entries[at].1 = new,
                None => entries.push((name.into(), new)),
            }
            Some(Value::Map(entries.into()))
        }
        _ => None,
    }
}

/// The error that no node has this id.
pub(super) fn no_node(model: &InstanceModel, id: &str) -> Diagnostic {
    let names = model.nodes.keys().map(|name| &**name);
    Diagnostic::error(Code::UnknownElement, format!("the instance has no node `{id}`"))
        .help_opt(did_you_mean(id, names))
}

/// The error `illegal-transition`.
pub(super) fn illegal(id: &str, from: &InstanceState, to: &ReportedState) -> Diagnostic {
    let message = format!("`{id}` is `{from}` and cannot become `{to}`");
    Diagnostic::error(Code::IllegalTransition, message)
        .help("report the states in between, or insist with `--force`")
}

/// Refuses metadata names that the exchange format uses itself.
pub(super) fn check_metadata(name: &str) -> Result<(), Diagnostic> {
    if !RESERVED_METADATA.contains(&name) {
        return Ok(());
    }
    let message = format!("the metadata `{name}` is reserved and cannot be set");
    Err(Diagnostic::error(Code::InvalidValue, message))
}

/// The name of a property or attribute of a node, or of one of its capabilities.
#[derive(Clone, Copy)]
pub(super) struct DeclaredName<'n> {
    pub(super) id: &'n str,
    pub(super) node: &'n NodeInstance,
    pub(super) capability: Option<&'n str>,
    pub(super) name: &'n str,
}

impl<'n> DeclaredName<'n> {
    /// The value of this name.
    pub(super) fn value(&self) -> InstanceValue<'n> {
        InstanceValue::OfNode {
            template: self.node.template.as_deref(),
            type_name: &self.node.type_name,
            capability: self.capability,
            name: self.name,
        }
    }

    /// Whether the type of the node declares the name, or permits undeclared ones. A declared value
    /// is checked as well.
    pub(super) fn is_declared(
        &self,
        types: &DeclaredTypes<'_, '_>,
        value: Option<&Value>,
    ) -> Result<bool, Diagnostic> {
        let (definition, is_open) = self.definition(types);
        let Some(definition) = definition else { return Ok(is_open) };
        let whose = format!("`{}` of `{}`", self.name, self.id);
        value.map_or(Ok(()), |value| check_value(types, &whose, definition, value)).map(|()| true)
    }

    /// The definition of the name, and whether there may be others that are not known.
    fn definition<'d, 'a>(
        &self,
        types: &'d DeclaredTypes<'_, 'a>,
    ) -> (Option<&'d PropertyDefinition<'a>>, bool) {
        let kind = types.of(self.node);
        kind.map_or((None, true), |kind| defined(kind, self.capability, self.name))
    }

    /// The value as it is kept: its versions are texts.
    pub(super) fn kept<'v>(
        &self,
        types: Option<&DeclaredTypes<'_, '_>>,
        value: &'v Value,
    ) -> Cow<'v, Value> {
        let kept = types.and_then(|types| {
            let expected = self.definition(types).0?.expected()?;
            with_versions(value, expected, &types.schemas)
        });
        kept.map_or(Cow::Borrowed(value), Cow::Owned)
    }

    /// The error `unknown-property`.
    pub(super) fn unknown(&self, types: Option<&DeclaredTypes<'_, '_>>) -> Diagnostic {
        let Self { id, capability, name, .. } = *self;
        let mut names = Vec::new();
        if let Some(kind) = types.and_then(|types| types.of(self.node)) {
            let found = capability.map(|it| kind.capabilities.get(it));
            let parts = match found {
                None => Some((&kind.attributes, &kind.properties)),
                Some(found) => {
                    found.map(|it| (&it.definition.attributes, &it.definition.properties))
                }
            };
            names.extend(parts.into_iter().flat_map(|(a, p)| a.keys().chain(p.keys()).copied()));
        }
        let whose = capability.map_or(String::new(), |it| format!(" of the capability `{it}`"));
        let message = format!("`{id}` has no property and no attribute `{name}`{whose}");
        let help = did_you_mean(name, names);
        let help = help.unwrap_or_else(|| "keep it as metadata with `record --undeclared`".into());
        Diagnostic::error(Code::UnknownProperty, message).help(help)
    }
}

/// The definition of an attribute or property of a type, or of one of its capabilities, and whether
/// there may be others that are not known.
fn defined<'d, 'a>(
    kind: &'d EffectiveType<'a>,
    capability: Option<&str>,
    name: &str,
) -> (Option<&'d PropertyDefinition<'a>>, bool) {
    let (attributes, properties, is_open) = match capability {
        None => (&kind.attributes, &kind.properties, kind.is_open),
        Some(capability) => match kind.capabilities.get(capability) {
            None => return (None, kind.is_open),
            Some(found) => {
                let found = &found.definition;
                (&found.attributes, &found.properties, found.is_open)
            }
        },
    };
    let part = attributes.get(name).or_else(|| properties.get(name));
    (part.map(|part| &part.definition), is_open)
}

/// Checks a value against its definition. The message does not show the value.
fn check_value(
    types: &DeclaredTypes<'_, '_>,
    whose: &str,
    definition: &PropertyDefinition<'_>,
    value: &Value,
) -> Result<(), Diagnostic> {
    let found = check_assignment(value, definition, &types.schemas);
    wrong_value(&found, whose, definition.schema.type_name).map_or(Ok(()), Err)
}

/// The first error in a value of this type, without the value.
fn wrong_value(found: &Findings<'_>, whose: &str, expected: &str) -> Option<Diagnostic> {
    let is_error = |found: &&Diagnostic| found.severity == crate::diagnostic::Severity::Error;
    let error = found.diagnostics.iter().find(is_error)?;
    let message = match Code::named(error.code) {
        Some(Code::ViolatedConstraint) => {
            format!("the value of {whose} violates a constraint of its definition")
        }
        Some(Code::MissingProperty) => {
            format!("the value of {whose} lacks a property of `{expected}`")
        }
        Some(Code::UnknownProperty) => {
            format!("the value of {whose} has a property that `{expected}` does not have")
        }
        _ => format!("the value of {whose} is not of its type, `{expected}`"),
    };
    Some(Diagnostic::error(Code::InvalidValue, message))
}
