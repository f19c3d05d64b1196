//! Checks whether the outputs of operations, notifications and workflows of TOSCA 2.0 fit the
//! attributes that they go into (section 9.9).

use super::super::checker::Checker;
use super::kind::{Fit, KnownValue, ValueType};
use super::path::{PathStop, ReachedNode};
use super::target::{ConditionalValue, ReferredEntity};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::tosca::function::{Arguments, Call, Function, Name};
use crate::tosca::value::Schema;
use crate::tosca::{Named, OperationDefinition, Part, PropertyDefinition, TypeId, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, NodeId};
use cuvee_text::yaml::{Node, NodeKind};

impl<'c> Checker<'c, '_> {
    /// Checks an output of an operation of an element that has this type.
    pub(in crate::validate) fn assigned_output(
        &self,
        (id, kind): (ElementId, TypeId),
        when: &[ElementId],
        operation: &Part<'_, OperationDefinition<'_>>,
        output: Named<'_>,
    ) {
        let element = self.graph.element(id);
        let own = match self.instance(self.types.definition(kind).family, kind) {
            PathStop::Node(node) if element.kind == ElementKind::Node => {
                PathStop::Node(ReachedNode { template: Some(NodeId(element.slot)), ..node })
            }
            own => own,
        };
        let kind = self.output_type(Some(operation), output);
        self.output_fits(own, when, ("output", output), kind);
    }

    /// Checks that an output of a workflow, or an input, fits the attribute that it is mapped to.
    pub(in crate::validate) fn mapping_fits(&self, noun: &str, parameter: Named<'_>) {
        let kind = self.output_type(None, parameter);
        self.output_fits(PathStop::Unknown, &[], (noun, parameter), kind);
    }

    /// Checks that outputs of this name fit the attribute that a substitution maps them to (section
    /// 15.3).
    pub(in crate::validate) fn mapped_output_fits(
        &self,
        name: Node<'_>,
        attribute: &PropertyDefinition<'_>,
    ) {
        let Some(kind) = self.declared_type(&attribute.schema) else { return };
        for output in self.graph.outputs.iter().filter(|output| self.counts(output.id)) {
            let declared = &output.parameter.declared;
            if !v2_0::is_of(name.document()) || Some(declared.name()) != name.text() {
                continue;
            }
            let own = declared.parameter_definition(&mut Diagnostics::default());
            let typed = self.declared_type(&own.schema).map(KnownValue::Typed);
            // Without a type, it has that of what its value asks for.
            let asked = || Some(self.asked(None, own.value?)?.1);
            let given = match typed {
                Some(typed) => vec![ConditionalValue::always(Ok(typed))],
                None => asked().unwrap_or_default(),
            };
            for ConditionalValue { when, outcome } in given {
                let Some(own) = outcome.ok().filter(|it| self.fit(it, &kind) == Fit::No) else {
                    continue;
                };
                let (own, kind) = (self.shown(&own), self.described(&kind));
                let message = format!(
                    "the output `{}` is {own}, and its attribute is {kind}",
                    declared.name()
                );
                let error = Diagnostic::error(Code::IncompatibleType, message).at(name.span());
                let error =
                    error.label(attribute.named.key.span(), "the attribute is defined here");
                let when = [&[output.id], &*when].concat();
                self.report_when(&when, &[], error.rule(Rule::new(&TOSCA_2_0, "15.3")));
            }
        }
    }

    /// Checks that an output of this type fits the attribute that it is mapped to.
    pub(super) fn output_fits(
        &self,
        own: PathStop<'c>,
        when: &[ElementId],
        (noun, output): (&str, Named<'_>),
        kind: Option<ValueType>,
    ) {
        let path = v2_0::output_mapping(output.value);
        if !v2_0::is_of(path.document()) {
            return;
        }
        let given = kind.map(KnownValue::Typed);
        let steps: Vec<_> = path.items().collect();
        let is_local = self.is_local(own, path);
        if !is_local && !matches!(own, PathStop::Unknown) {
            self.unfollowed(when, noun, output.name, path);
        }
        for ConditionalValue { when: also, outcome } in self.attribute_at(own, path, &steps) {
            let when = [when, &also].concat();
            match (&given, outcome) {
                (_, Err(error)) if !is_local || self.leads_on(own, path, &steps) => {
                    self.report_when(&when, &[], error);
                }
                (Some(given), Ok(KnownValue::Typed(attribute)))
                    if self.fit(given, &attribute) == Fit::No =>
                {
                    let (name, given) = (output.name, self.shown(given));
                    let attribute = self.described(&attribute);
                    let message =
                        format!("the {noun} `{name}` is {given}, and its attribute is {attribute}");
                    let error = Diagnostic::error(Code::InvalidValue, message).at(path.span());
                    let help = "map it to an attribute of its type, or change one of the types";
                    let error = error.rule(Rule::new(&TOSCA_2_0, "9.9")).help(help);
                    self.report_when(&when, &[], error);
                }
                _ => {}
            }
        }
    }

    /// Whether a path stays at what has the output, at an end of a relationship, or at a capability.
    fn is_local(&self, own: PathStop<'c>, path: Node<'_>) -> bool {
        let of_relationship = matches!(own, PathStop::Relationship(_));
        let second = v2_0::output_path(path, of_relationship).get(1).copied();
        !second.is_some_and(v2_0::leads_away)
    }

    /// Warns of a path that should not be used, and that plans do not follow.
    fn unfollowed(&self, when: &[ElementId], noun: &str, name: &str, path: Node<'_>) {
        let message =
            format!("the {noun} `{name}` leads to another element, where no plan stores it");
        let warning = Diagnostic::warning(Code::InvalidDefinition, message).at(path.span());
        let help = "map it to an attribute of its own element, of an end of its relationship, or of a capability of these";
        self.report_when(when, &[], warning.rule(Rule::new(&TOSCA_2_0, "9.9")).help(help));
    }

    /// Whether the beginning of a path leads to an attribute. A path whose beginning does not is
    /// reported elsewhere.
    fn leads_on<'n>(&self, own: PathStop<'c>, path: Node<'n>, steps: &[Node<'n>]) -> bool {
        let leads = |end: usize| {
            let beginning = steps.get(..end).unwrap_or_default();
            self.attribute_at(own, path, beginning).iter().any(|it| it.outcome.is_ok())
        };
        (2..steps.len()).any(leads)
    }

    /// The type of an output, as its own definition says or one that it refines.
    pub(super) fn output_type(
        &self,
        operation: Option<&Part<'_, OperationDefinition<'_>>>,
        output: Named<'_>,
    ) -> Option<ValueType> {
        let parts = std::iter::successors(operation, |part| part.refines.as_deref());
        let all = parts.flat_map(|part| &part.definition.outputs);
        let all = all.filter(|it| it.name == output.name).map(|it| it.value);
        let mut all = std::iter::once(output.value).chain(all);
        let own = all.find(|it| it.kind() == NodeKind::Mapping && it.get("type").is_some())?;
        self.declared_type(&Schema::read(own, &mut Diagnostics::default()))
    }

    /// The attribute that the steps of a path lead to.
    fn attribute_at<'n>(
        &self,
        own: PathStop<'c>,
        path: Node<'n>,
        steps: &[Node<'n>],
    ) -> Vec<ConditionalValue> {
        let Some(at) = steps.first().copied() else { return Vec::new() };
        let Some(text) = at.as_str() else { return Vec::new() };
        let entity = Name { text, at };
        let arguments = Arguments::Path(entity, Vec::new());
        let call = Call { node: path, function: Function::GetAttribute, arguments };
        if text == "SELF" {
            let outcome = match own {
                // Templates may connect nodes of a type with narrower ones.
                PathStop::Node(ReachedNode { template: None, .. }) if !self.is_local(own, path) => {
                    self.own_in(own, &call, steps)
                }
                _ => self.at_path(own, &call, steps, false),
            };
            return vec![ConditionalValue::always(outcome)];
        }
        match self.entity(None, &call, entity) {
            Ok(ReferredEntity::Element(id))
                if matches!(
                    self.graph.element(id).kind,
                    ElementKind::Node | ElementKind::Relation
                ) =>
            {
                self.asked_of(id, &call, steps)
            }
            _ => Vec::new(),
        }
    }
}
