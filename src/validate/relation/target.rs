//! Checks whether the definition of a requirement allows the target of an assignment (sections
//! 3.7.3.5 and 3.8.2.2).

use super::super::checker::Checker;
use super::super::filter::FilteredNode;
use super::super::judged::stands_for_several;
use super::AssignmentCase;
use crate::diagnostic::{
    Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0, TOSCA_SIMPLE_1_3, did_you_mean, listed,
};
use crate::tosca::filter::NodeFilter;
use crate::tosca::fit::{Misfit, NamedCapability, RelationshipMisfit, RequirementFit};
use crate::tosca::requirement::AssignedCount;
use crate::tosca::v2_0::function::may_be_truth;
use crate::tosca::{Family, RequirementDefinition, TypeId, v2_0};
use crate::variability::graph::{ElementId, NodeElement};
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;

impl<'c, 'a> Checker<'c, 'a> {
    pub(super) fn targets(&self, case: &AssignmentCase<'_, 'c, 'a>) {
        let filter = case.relation.requirement.declared.value().get("node_filter");
        match case.relation.target.map(|target| self.graph.node(target)) {
            Some(node) => {
                if let Some(filter) = filter {
                    self.node_filter(&case.when, filter, None);
                    // In TOSCA 2.0, the node has to fulfil it.
                    if !v2_0::is_of(filter.document()) && !stands_for_several(node) {
                        let message = "a `node_filter` chooses among nodes of a type, and `node` names a node template";
                        let error = Diagnostic::error(Code::InvalidTemplate, message)
                            .at(filter.span())
                            .section("3.8.2.2");
                        self.report_when(
                            &case.when,
                            &[],
                            error.help("name a node type, or leave out one of them"),
                        );
                    }
                }
                for (kind, when) in self.types_of(node.id, Family::Node) {
                    self.template_as_target(case, node, kind, &case.with(&when));
                }
            }
            None => {
                let target = self.abstract_target(case);
                if let Some(filter) = filter {
                    // In TOSCA 2.0, it is about the relationship, and its paths are checked.
                    let target = target.filter(|_| !v2_0::is_of(filter.document()));
                    self.node_filter(&case.when, filter, target);
                }
            }
        }
    }

    /// Checks a node template as the target, with one of its types.
    fn template_as_target(
        &self,
        case: &AssignmentCase<'_, 'c, 'a>,
        node: &NodeElement<'a>,
        kind: TypeId,
        when: &[ElementId],
    ) {
        let at = case.relation.requirement.target_span();
        if let Some(wanted) = self
            .defined(Family::Node, case.definition.node)
            .filter(|wanted| !self.may_derive(kind, *wanted))
        {
            let (own, wanted) = (self.called(kind), self.types.called(None, wanted));
            let (target, name) = (self.graph.element(node.id).name, case.definition.named.name);
            let message =
                format!("`{target}` is a `{own}`, and the requirement `{name}` needs a `{wanted}`");
            return self.report_when(when, &[], wrong_node(case.definition, message, at));
        }
        self.capability_of(case, kind, when);
        let fitting = self.fitting(case, kind).unwrap_or_default();
        let capabilities: Vec<_> = fitting.iter().map(|(name, _)| *name).collect();
        let relation = match case.relationships[..] {
            [(kind, _)] => Some((case.relation.id, kind)),
            _ => None,
        };
        for filter in filters(case, node) {
            let filter = NodeFilter::read(filter, &mut Diagnostics::default());
            let candidate = FilteredNode { node, kind, at };
            self.fulfils(when, &filter, candidate);
            self.satisfies(
                when,
                &filter,
                candidate,
                ((case.node, case.source), relation),
                &capabilities,
            );
        }
    }

    /// The node type that an orchestrator has to look for, if it is known: the narrower of the
    /// types that the assignment and the definition name.
    fn abstract_target(&self, case: &AssignmentCase<'_, 'c, 'a>) -> Option<TypeId> {
        let wanted = self.defined(Family::Node, case.definition.node);
        let target = match (case.node_type, wanted) {
            (Some(own), Some(wanted))
                if !self.may_derive(own, wanted) && !self.may_derive(wanted, own) =>
            {
                let (own, wanted) = (self.called(own), self.types.called(None, wanted));
                let name = case.definition.named.name;
                let message = format!(
                    "`{own}` does not derive from `{wanted}`, the node type of the requirement `{name}`"
                );
                self.report_when(
                    &case.when,
                    &[],
                    wrong_node(case.definition, message, case.relation.requirement.target_span()),
                );
                return None;
            }
            (Some(own), Some(wanted)) if self.may_derive(wanted, own) => wanted,
            (own, wanted) => own.or(wanted)?,
        };
        let says_more = case.node_type.is_some()
            || case.relation.requirement.declared.value().get("capability").is_some();
        if says_more {
            self.capability_of(case, target, &case.when);
        }
        Some(target)
    }

    /// Checks that a target of this type has a capability that the relationship can lead to.
    fn capability_of(&self, case: &AssignmentCase<'_, 'c, 'a>, target: TypeId, when: &[ElementId]) {
        if self.is_open(target) {
            return;
        }
        let capabilities = match self.fitting(case, target) {
            Ok(capabilities) => capabilities,
            Err(error) => return self.report_when(when, &[], error),
        };
        let fit = self.requirement_fit(case);
        for (kind, of_type) in &case.relationships {
            let misfit = |(_, capability): &NamedCapability<'c>| {
                fit.relationship_misfit(*kind, target, capability)
            };
            let misfits: Option<Vec<_>> = capabilities.iter().map(misfit).collect();
            if let Some(misfit) = misfits.and_then(|misfits| misfits.first().copied()) {
                let ends = (*kind, target);
                let error = self.relationship_error(case, ends, &capabilities, misfit);
                self.report_when(&[when, of_type].concat(), &[], error);
            }
        }
    }

    /// The error that a relationship of a type cannot lead to any of these capabilities of a type.
    fn relationship_error(
        &self,
        case: &AssignmentCase<'_, 'c, 'a>,
        (kind, target): (TypeId, TypeId),
        capabilities: &[NamedCapability<'_>],
        misfit: RelationshipMisfit<'_>,
    ) -> Diagnostic {
        let name = |id| self.called(id);
        let (own, source, target) = (name(kind), name(case.source), name(target));
        let names: Vec<_> = capabilities.iter().map(|(name, _)| *name).collect();
        let names = names.join("` or `");
        let (message, help, rule) = match misfit {
            RelationshipMisfit::Capability(valid) => (
                format!("`{own}` cannot lead to the capability `{names}` of `{target}`"),
                format!("it leads to {}", self.listed_types(Family::Capability, valid)),
                Rule::new(&TOSCA_SIMPLE_1_3, "3.7.10.1"),
            ),
            RelationshipMisfit::Target(valid) => (
                format!("`{own}` cannot lead to a `{target}`"),
                format!("it leads to {}", self.listed_types(Family::Node, valid)),
                Rule::new(&TOSCA_2_0, "7.3"),
            ),
            RelationshipMisfit::Source(valid) => (
                format!("`{own}` cannot start from a `{source}`"),
                format!("it starts from {}", self.listed_types(Family::Node, valid)),
                Rule::new(&TOSCA_2_0, "7.3"),
            ),
            RelationshipMisfit::Relationship(valid) => (
                format!("the capability `{names}` of `{target}` is not for `{own}`"),
                format!("it is for {}", self.listed_types(Family::Relationship, valid)),
                Rule::new(&TOSCA_2_0, "8.1"),
            ),
        };
        let error = Diagnostic::error(Code::IncompatibleRequirement, message);
        error.at(case.at("relationship")).rule(rule).help(help)
    }

    fn listed_types(&self, family: Family, valid: &[Node<'_>]) -> String {
        listed(valid.iter().map(|node| self.types.called_by(None, &[family], *node)))
    }

    fn requirement_fit<'s>(
        &'s self,
        case: &AssignmentCase<'s, 'c, 'a>,
    ) -> RequirementFit<'s, 'c, 'c> {
        let named = case.relation.requirement.declared.value().get("capability");
        let named = named.filter(|named| named.as_str().is_some());
        RequirementFit {
            types: self.types,
            definition: case.definition,
            source: case.source,
            capability: named.and_then(|named| Some((named.text()?, Some(named.span().file)))),
        }
    }

    /// The capabilities of a target of this type that the requirement can lead to, or the error
    /// that there are none.
    pub(super) fn fitting(
        &self,
        case: &AssignmentCase<'_, 'c, 'a>,
        target: TypeId,
    ) -> Result<Vec<NamedCapability<'c>>, Diagnostic> {
        let (name, owner) = (case.definition.named.name, self.called(target));
        let error = |message| {
            Diagnostic::error(Code::IncompatibleRequirement, message)
                .at(case.relation.requirement.target_span())
        };
        let named = case.relation.requirement.declared.value().get("capability");
        let named = named.filter(|named| named.as_str().is_some());
        let misfit = match self.requirement_fit(case).capabilities(target) {
            Ok(found) => return Ok(found),
            Err(misfit) => misfit,
        };
        let text = named.and_then(Node::text);
        let of_name = |code, message| {
            let at = named.map_or_else(|| case.relation.requirement.target_span(), Node::span);
            Diagnostic::error(code, message).at(at).section("3.8.2.1")
        };
        Err(match misfit {
            Misfit::Unknown => {
                let text = text.unwrap_or_default();
                let message =
                    format!("`{text}` is neither a capability of `{owner}` nor a capability type");
                let known = self.types.effective(target).capabilities.keys().copied();
                of_name(Code::UnknownDefinition, message).help_opt(did_you_mean(text, known))
            }
            Misfit::NoneNamed => of_name(
                Code::IncompatibleRequirement,
                format!("`{owner}` has no capability of type `{}`", text.unwrap_or_default()),
            ),
            Misfit::NoneRequired(wanted) => {
                let wanted = self.called(wanted);
                let message = match text {
                    Some(named) => {
                        format!(
                            "the capability `{named}` of `{owner}` is no `{wanted}`, which the requirement `{name}` needs"
                        )
                    }
                    None => format!(
                        "`{owner}` has no capability of type `{wanted}`, which the requirement `{name}` needs"
                    ),
                };
                let at = case.definition.capability.unwrap_or(case.definition.named.key).span();
                error(message)
                    .section("3.8.2.2.1")
                    .label(at, "the capability type is required here")
            }
            Misfit::NotNamed(wanted) => {
                let message = match text {
                    Some(named) => format!(
                        "the requirement `{name}` needs the capability `{wanted}` of `{owner}`, not `{named}`"
                    ),
                    None => format!(
                        "`{owner}` has no capability `{wanted}`, which the requirement `{name}` needs"
                    ),
                };
                let at = case.definition.capability.unwrap_or(case.definition.named.key).span();
                let error = of_name(Code::IncompatibleRequirement, message);
                error.label(at, "the capability is required here")
            }
            Misfit::NotForSource((capability, definition)) => {
                let source = self.called(case.source);
                let message =
                    format!("the capability `{capability}` of `{owner}` is not for a `{source}`");
                let valid = definition.valid_source_types.as_deref().unwrap_or_default();
                let valid = self.listed_types(Family::Node, valid);
                error(message).section("3.7.2.1").help(format!("it is for {valid}"))
            }
        })
    }
}

/// The filters that this target of an assignment has to fulfil. In TOSCA 2.0, that of the assignment
/// adds to that of the definition, unless it chooses one of several nodes, or none need be found.
fn filters<'n>(
    case: &AssignmentCase<'n, 'n, '_>,
    target: &NodeElement<'_>,
) -> impl Iterator<Item = Node<'n>> {
    let body = case.relation.requirement.declared.value();
    let AssignedCount { min, is_known, .. } = AssignedCount::read(body);
    let may_choose = stands_for_several(target) || min == 0 || !is_known;
    let own = body.get("node_filter");
    let own = own.filter(|it| v2_0::is_of(it.document()) && !may_choose);
    // What is never true or false is reported with its keyname.
    let is_filter = |it: &Node<'_>| !v2_0::is_of(it.document()) || may_be_truth(*it);
    case.definition.node_filters.iter().copied().chain(own).filter(is_filter)
}

fn wrong_node(definition: &RequirementDefinition<'_>, message: String, at: Span) -> Diagnostic {
    let label = definition.node.unwrap_or(definition.named.key).span();
    let error = Diagnostic::error(Code::IncompatibleRequirement, message).at(at).section("3.7.3.1");
    error.label(label, "the node type is required here")
}
