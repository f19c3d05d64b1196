//! Checks what definitions of types of TOSCA 2.0 compute: defaults, fixed values, validations, and
//! where outputs go.
//!
//! A type that derives from another one may have more, and so may what templates connect it with.
//! So only what no such type can put right is an error where it is defined. What `SELF` lacks is an
//! error where a template takes the value, and a warning otherwise.

use super::super::checker::Checker;
use super::super::v2_0::misplaced;
use super::applied::JudgedExpression;
use super::kind::{Fit, KnownValue, ValueType};
use super::path::{PathStop, ReachedNode, ReachedRelationship, path_call};
use super::target::ConditionalValue;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, Severity, TOSCA_2_0};
use crate::tosca::function::{Arguments, Call};
use crate::tosca::reference::implementing_artifacts;
use crate::tosca::types::schemas::definitions;
use crate::tosca::v2_0::function::{BuiltIn, RELATIONSHIP_INDEX};
use crate::tosca::value::{Primitive, Schema, UndecidedReason, check_value};
use crate::tosca::{
    EffectiveInterface, Family, InterfaceDefinition, Parts, PropertyDefinition, TypeId, TypeRef,
    profile, v2_0,
};
use crate::variability::graph::{ElementId, NodeElement, NodeId};
use cuvee_text::yaml::{Node, NodeKind};
use std::sync::Arc;

/// Where a definition of a type stands.
#[derive(Clone, Copy)]
struct DefinedIn<'c> {
    family: Family,
    /// What `SELF` is there.
    own: PathStop<'c>,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks the definitions of all types of TOSCA 2.0.
    pub(super) fn defined_values(&self) {
        for kind in self.types.ids() {
            let (family, key, _) = self.types.place(kind);
            if v2_0::is_of(key.document()) && !profile::is_built_in(key.span().file) {
                self.defined_by(kind, DefinedIn { family, own: self.instance(family, kind) });
            }
        }
    }

    /// What `SELF` is in the definition of a type.
    pub(super) fn instance(&self, family: Family, kind: TypeId) -> PathStop<'c> {
        match family {
            Family::Node => PathStop::Node(ReachedNode { kind, template: None }),
            Family::Relationship => PathStop::Relationship(ReachedRelationship {
                kind: Some(kind),
                ..ReachedRelationship::default()
            }),
            _ => PathStop::Unknown,
        }
    }

    fn defined_by(&self, kind: TypeId, place: DefinedIn<'c>) {
        let (own, all) = (self.types.definition(kind), self.types.effective(kind));
        let itself = Schema { kind: Some(own.key), ..Schema::of(own.name) };
        self.validations(place, &own.schema, &itself);
        self.properties_in(place, &own.properties, &definitions(&all.properties));
        self.properties_in(place, &own.attributes, &definitions(&all.attributes));
        for capability in &own.capabilities {
            let Some(part) = all.capabilities.get(capability.named.name) else { continue };
            let known = &part.definition;
            self.properties_in(place, &capability.properties, &definitions(&known.properties));
            self.properties_in(place, &capability.attributes, &definitions(&known.attributes));
        }
        self.interface_in(place, &own.interface, Some(&all.interface));
        for interface in &own.interfaces {
            let known = all.interfaces.get(interface.named.name).map(|part| &part.definition);
            self.interface_in(place, interface, known);
        }
        for requirement in &own.requirements {
            let Some(part) = all.requirements.get(requirement.named.name) else { continue };
            let source = Some(ReachedNode { kind, template: None });
            let ends = ReachedRelationship { source, ..self.defined_ends(&part.definition) };
            let place = DefinedIn { own: PathStop::Relationship(ends), ..place };
            let known: Vec<_> = part.definition.properties.iter().collect();
            self.properties_in(place, &requirement.properties, &known);
            let known: Vec<_> = part.definition.attributes.iter().collect();
            self.properties_in(place, &requirement.attributes, &known);
            for interface in &requirement.interfaces {
                self.interface_in(place, interface, None);
            }
        }
        for artifact in &own.artifacts {
            if let Some(repository) = artifact.repository {
                self.repository(&[], repository);
            }
            let kind = self.defined(Family::Artifact, artifact.kind);
            let known = kind.map(|kind| &self.schemas.of(kind).properties);
            for named in &artifact.properties {
                let definition = known.into_iter().flatten().find(|it| it.named.name == named.name);
                self.value_in(place, named.value, definition.and_then(|it| it.expected()));
            }
        }
    }

    fn interface_in(
        &self,
        place: DefinedIn<'c>,
        own: &InterfaceDefinition<'c>,
        known: Option<&EffectiveInterface<'c>>,
    ) {
        let inputs = known.map(|known| definitions(&known.inputs)).unwrap_or_default();
        self.properties_in(place, &own.inputs, &inputs);
        for operation in own.operations.iter().chain(&own.notifications) {
            let all = known.and_then(|known| {
                let name = operation.named.name;
                known.operations.get(name).or_else(|| known.notifications.get(name))
            });
            let inputs: Vec<_> = all.into_iter().flat_map(|part| &part.definition.inputs).collect();
            self.properties_in(place, &operation.inputs, &inputs);
            for output in &operation.outputs {
                let kind = self.output_type(all.map(|part| &**part), *output);
                self.output_fits(place.own, &[], ("output", *output), kind);
            }
        }
        let all = own.operations.iter().chain(&own.notifications);
        let implementations = all.clone().filter_map(|operation| operation.implementation);
        let parts = implementations.flat_map(implementing_artifacts);
        parts
            .filter(|it| it.kind() == NodeKind::Mapping)
            .for_each(|it| self.inline_artifact(&[], it));
        let inputs = all.flat_map(|operation| &operation.inputs).chain(&own.inputs);
        inputs.filter_map(|input| input.value).for_each(|value| self.fixed_input(place, value));
    }

    /// Reports what a fixed value of an input asks for that has no meaning where it is (section
    /// 11.4).
    fn fixed_input(&self, place: DefinedIn<'c>, value: Node<'c>) {
        let Some((call, _)) = path_call(value) else {
            return value.parts().for_each(|part| self.fixed_input(place, part));
        };
        let Arguments::Path(entity, _) = call.arguments else { return };
        let message = match place.family {
            Family::Interface => "an interface type has no node to take this from".to_owned(),
            _ if WORDS.contains(&entity.text) => return,
            _ => format!("a type knows no node and no relationship `{}`", entity.text),
        };
        let error = Diagnostic::error(Code::InvalidFunction, message).at(entity.at.span());
        let help = "assign it in templates, or in a type ask for what `SELF` leads to";
        self.report_when(&[], &[], error.rule(Rule::new(&TOSCA_2_0, "11.4")).help(help));
    }

    fn properties_in(
        &self,
        place: DefinedIn<'c>,
        own: &[PropertyDefinition<'c>],
        known: &[&PropertyDefinition<'c>],
    ) {
        for own in own {
            let known = known.iter().find(|it| it.named.name == own.named.name);
            let known = known.map_or(own, |known| *known);
            for value in [own.default, own.value].into_iter().flatten() {
                self.value_in(place, value, known.expected());
            }
            self.validations(place, &own.schema, &known.schema);
        }
    }

    /// Checks the calls in a value, and whether what they give fits.
    fn value_in(&self, place: DefinedIn<'c>, value: Node<'c>, expected: Option<&Schema<'c>>) {
        if !v2_0::calls(value) {
            return;
        }
        let ask = |node| self.asked_in(place, node);
        let expression = JudgedExpression { when: &[], value: None, ask: &ask };
        let Some(schema) = expected else { return drop(self.judged(expression, value)) };
        for open in check_value(value, schema, &self.schemas).undecided {
            if matches!(open.reason, UndecidedReason::Function(_)) {
                let kind = open.schema.and_then(|schema| self.declared_type(schema));
                self.gives(expression, open.node, kind.as_ref());
            }
        }
    }

    /// Checks a call, and that it gives a value of a type.
    fn gives<'n>(
        &self,
        expression: JudgedExpression<'_, 'n>,
        call: Node<'n>,
        kind: Option<&ValueType>,
    ) {
        for ConditionalValue { when, outcome } in self.judged(expression, call) {
            if let (Ok(known), Some(kind)) = (outcome, kind)
                && self.fit(&known, kind) == Fit::No
            {
                self.report_when(&when, &[], self.misfit(call, &known, kind));
            }
        }
    }

    /// Checks the validation clauses of the inputs of a template, and of its variability.
    pub(super) fn validated_inputs(&self) {
        let place = DefinedIn { family: Family::Data, own: PathStop::Unknown };
        for input in &self.graph.inputs {
            let declared = &input.parameter.declared;
            let schema = declared.parameter_definition(&mut Diagnostics::default()).schema;
            self.validations(place, &schema, &schema);
        }
        for (_, input) in self.prepared.inputs.declarations.iter() {
            self.validations(place, &input.schema, &input.schema);
        }
    }

    /// Checks the validation clauses of a schema, which may refine what is known of it.
    fn validations(&self, place: DefinedIn<'c>, own: &Schema<'_>, known: &Schema<'_>) {
        let value = self.declared_type(known);
        let ask = |node| self.asked_in(place, node);
        let truth = ValueType::of(Primitive::Boolean);
        for clause in &own.validations {
            let expression = JudgedExpression { when: &[], value: value.as_ref(), ask: &ask };
            // What is never true or false is reported with the keyname.
            let may_be = v2_0::called(*clause)
                .is_some_and(|(name, _)| BuiltIn::named(name).is_none_or(BuiltIn::may_be_truth));
            self.gives(expression, *clause, may_be.then_some(&truth));
        }
        let keys =
            own.key_schema.as_ref().zip(known.key_schema.as_ref().or(own.key_schema.as_ref()));
        let entries = own.entry_schema.as_ref();
        let entries = entries.zip(known.entry_schema.as_ref().or(entries));
        for (own, known) in keys.into_iter().chain(entries) {
            self.validations(place, own, known);
        }
    }

    /// The answers to a call in the definition of a type.
    fn asked_in<'n>(&self, place: DefinedIn<'c>, node: Node<'n>) -> Option<Vec<ConditionalValue>> {
        let (call, steps) = path_call(node)?;
        let Arguments::Path(entity, _) = call.arguments else { return None };
        let outcome = match entity.text {
            "SELF" => self.own_in(place.own, &call, &steps),
            word if WORDS.contains(&word) => {
                self.entity(None, &call, entity).map(|_| KnownValue::Unknown)
            }
            _ => Ok(KnownValue::Unknown),
        };
        if let Err(error) = &outcome {
            self.report_when(&[], &[], error.clone());
        }
        Some(vec![ConditionalValue::always(outcome)])
    }

    /// What a path from `SELF` leads to in the definition of a type.
    pub(super) fn own_in<'n>(
        &self,
        own: PathStop<'c>,
        call: &Call<'n>,
        steps: &[Node<'n>],
    ) -> Result<KnownValue, Diagnostic> {
        let found = self.at_path(own, call, steps, false);
        let Err(mut error) = found else { return found };
        let lacks_property = error.code == Code::UnknownProperty;
        if !lacks_property && error.code != Code::UnknownDefinition {
            return Err(error);
        }
        let is_word = |step: &Node<'_>| step.as_str().is_some_and(|step| STEPS.contains(&step));
        let leads_away = steps.iter().skip(2).any(is_word)
            || lacks_property && steps.get(1).is_some_and(|step| step.as_str() == Some(STEPS[0]));
        let has = |own| self.at_path(own, call, steps, false).is_ok();
        if leads_away || self.narrower(own).into_iter().any(has) {
            return Ok(KnownValue::Unknown);
        }
        error.severity = Severity::Warning;
        let help = error.help.take();
        let otherwise = || "only a type that derives from this one can have it".into();
        error.help = Some(help.unwrap_or_else(otherwise));
        Err(error)
    }

    /// What may stand for something: what is of a type that derives from its type.
    fn narrower(&self, own: PathStop<'c>) -> Vec<PathStop<'c>> {
        let kind = match own {
            PathStop::Node(node) => node.kind,
            PathStop::Relationship(ReachedRelationship { kind: Some(kind), .. }) => kind,
            _ => return Vec::new(),
        };
        let derives = |other: &TypeId| {
            *other != kind && self.types.derives(TypeRef::Defined(*other), TypeRef::Defined(kind))
        };
        let of = |kind| match own {
            PathStop::Node(_) => self.instance(Family::Node, kind),
            _ => self.instance(Family::Relationship, kind),
        };
        self.types.ids().filter(derives).map(of).collect()
    }

    /// Checks the defaults and fixed values that node templates and relationships take from their types.
    pub(super) fn taken_values(&self) {
        self.taken_by_relations();
        let is_created = |(_, node): &(usize, &NodeElement<'a>)| !self.is_selected(node);
        for (slot, node) in self.graph.nodes.iter().enumerate().filter(is_created) {
            let template = u32::try_from(slot).ok().map(NodeId);
            for (kind, mut when) in self.alternatives(node.id) {
                let Some(kind) = kind else { continue };
                when.push(node.id);
                let own = PathStop::Node(ReachedNode { kind, template });
                let assigned = &self.graph.holder(node, "properties").properties;
                self.taken_by(own, assigned, &when, &self.types.effective(kind).properties);
            }
        }
    }

    /// Checks what relationships of one type take from it, unless their requirement says otherwise.
    fn taken_by_relations(&self) {
        for relation in self.graph.relations.iter().filter(|relation| self.counts(relation.id)) {
            let ends = self.ends_of(relation, self.only_type(relation.id));
            let Some(kind) = ends.kind else { continue };
            let holder =
                relation.relationship.map(|it| self.graph.relationship_holder(it, "properties"));
            let copied =
                holder.into_iter().flat_map(|it| &it.properties).map(|it| it.declared.name());
            let refined = self.refined_properties(relation).into_iter().map(|it| it.named.name);
            let given: Vec<_> = copied.chain(refined).collect();
            let mut properties = Arc::clone(&self.types.effective(kind).properties);
            Arc::make_mut(&mut properties).retain(|name, _| !given.contains(name));
            let own = PathStop::Relationship(ends);
            self.taken_by(own, &relation.properties, &[relation.id], &properties);
        }
    }

    fn taken_by(
        &self,
        own: PathStop<'c>,
        assigned: &[ElementId],
        when: &[ElementId],
        properties: &Parts<'c, PropertyDefinition<'c>>,
    ) {
        for definition in definitions(properties) {
            let Some(value) = definition.taken().filter(|value| v2_0::calls(*value)) else {
                continue;
            };
            let ask = |node| {
                let is_input = v2_0::called(node).is_some_and(|(name, _)| name == "get_input");
                if is_input && let Some(Ok(call)) = Call::read(node) {
                    let Arguments::Input(name, path) = call.arguments else { return None };
                    return Some(self.input_call(name, &path));
                }
                let (call, steps) = path_call(node)?;
                let is_own = steps.first().is_some_and(|start| start.as_str() == Some("SELF"));
                is_own.then(|| {
                    vec![ConditionalValue::always(self.at_path(own, &call, &steps, false))]
                })
            };
            let is_named = |id: &ElementId| self.graph.element(*id).name == definition.named.name;
            let unless: Vec<_> = assigned.iter().copied().filter(is_named).collect();
            if let PathStop::Node(_) = own
                && let Some(error) = misplaced(value, RELATIONSHIP_INDEX, "in a relationship")
            {
                self.report_when(when, &unless, error);
            }
            self.wrong_paths(&ask, value, &mut |error| self.report_when(when, &unless, error));
        }
    }

    /// Visits what is wrong with the paths in a value.
    fn wrong_paths<'n>(
        &self,
        ask: &dyn Fn(Node<'n>) -> Option<Vec<ConditionalValue>>,
        value: Node<'n>,
        visit: &mut dyn FnMut(Diagnostic),
    ) {
        match ask(value) {
            Some(answers) => answers.into_iter().filter_map(|it| it.outcome.err()).for_each(visit),
            None => {
                value.parts().for_each(|part| self.wrong_paths(ask, part, visit));
            }
        }
    }
}

/// The words that a path may have been meant to start with.
const WORDS: [&str; 4] = ["SELF", "SOURCE", "TARGET", "HOST"];

/// The words for steps of a path.
const STEPS: [&str; 4] = ["RELATIONSHIP", "CAPABILITY", "SOURCE", "TARGET"];
