//! Checks whether the definition of a requirement allows the target of an assignment (sections
//! 3.7.3.5 and 3.8.2.2).

use super::super::checker::Checker;
use super::super::filter::FilteredNode;
use super::super::judged::stands_for_several;
use super::AssignmentCase;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, did_you_mean, listed};
use crate::tosca::filter::NodeFilter;
use crate::tosca::fit::{Misfit, NamedCapability, RequirementFit};
use crate::tosca::requirement::AssignedCount;
use crate::tosca::{Family, RequirementDefinition, TypeId, v2_0};
use crate::variability::graph::{ElementId, NodeElement};
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;

impl<'c, 'a> Checker<'c, 'a> {
    pub(super) fn targets(&self, case: &AssignmentCase<'_, 'c, 'a>) {
        let filter = case.relation.requirement.declared.value.get("node_filter");
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
        let at = target_span(case);
        if let Some(wanted) = self
            .defined(Family::Node, case.definition.node)
            .filter(|wanted| !self.may_derive(kind, *wanted))
        {
            let (own, wanted) =
                (self.types.definition(kind).name, self.types.definition(wanted).name);
            let (target, name) = (self.graph.element(node.id).name, case.definition.named.name);
            let message =
                format!("`{target}` is a `{own}`, and the requirement `{name}` needs a `{wanted}`");
            return self.report_when(when, &[], wrong_node(case.definition, message, at));
        }
        self.capability_of(case, kind, when);
        let fitting = self.fitting(case, kind).unwrap_or_default();
        let capabilities: Vec<_> = fitting.iter().map(|(name, _)| *name).collect();
        for filter in filters(case, node) {
            let filter = NodeFilter::read(filter, &mut Diagnostics::default());
            let candidate = FilteredNode { node, kind, at };
            self.fulfils(when, &filter, candidate);
            self.satisfies(when, &filter, candidate, &capabilities);
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
                let (own, wanted) =
                    (self.types.definition(own).name, self.types.definition(wanted).name);
                let name = case.definition.named.name;
                let message = format!(
                    "`{own}` does not derive from `{wanted}`, the node type of the requirement `{name}`"
                );
                self.report_when(
                    &case.when,
                    &[],
                    wrong_node(case.definition, message, target_span(case)),
                );
                return None;
            }
            (Some(own), Some(wanted)) if self.may_derive(wanted, own) => wanted,
            (own, wanted) => own.or(wanted)?,
        };
        let says_more = case.node_type.is_some()
            || case.relation.requirement.declared.value.get("capability").is_some();
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
        for (kind, of_type) in &case.relationships {
            let Some(valid) = self.types.effective(*kind).valid_types.as_deref() else { continue };
            if !capabilities
                .iter()
                .any(|(_, capability)| self.is_among(Family::Capability, capability.kind, valid))
            {
                let (own, target) =
                    (self.types.definition(*kind).name, self.types.definition(target).name);
                let names: Vec<_> = capabilities.iter().map(|(name, _)| *name).collect();
                let message = format!(
                    "`{own}` cannot lead to the capability `{}` of `{target}`",
                    names.join("` or `")
                );
                let error = Diagnostic::error(Code::IncompatibleRequirement, message)
                    .at(case.at("relationship"));
                let error =
                    error.section("3.7.10.1").help(format!("it leads to {}", listed_types(valid)));
                self.report_when(&[when, of_type].concat(), &[], error);
            }
        }
    }

    /// The capabilities of a target of this type that the requirement can lead to, or the error
    /// that there are none.
    pub(super) fn fitting(
        &self,
        case: &AssignmentCase<'_, 'c, 'a>,
        target: TypeId,
    ) -> Result<Vec<NamedCapability<'c>>, Diagnostic> {
        let (name, owner) = (case.definition.named.name, self.types.definition(target).name);
        let error = |message| {
            Diagnostic::error(Code::IncompatibleRequirement, message).at(target_span(case))
        };
        let named = case.relation.requirement.declared.value.get("capability");
        let named = named.filter(|named| named.as_str().is_some());
        let fit = RequirementFit {
            types: self.types,
            definition: case.definition,
            source: case.source,
            capability: named.and_then(|named| Some((named.text()?, Some(named.span().file)))),
        };
        let misfit = match fit.capabilities(target) {
            Ok(found) => return Ok(found),
            Err(misfit) => misfit,
        };
        let text = named.and_then(Node::text);
        let of_name = |code, message| {
            let at = named.map_or_else(|| target_span(case), Node::span);
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
                let wanted = self.types.definition(wanted).name;
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
                let source = self.types.definition(case.source).name;
                let message =
                    format!("the capability `{capability}` of `{owner}` is not for a `{source}`");
                let valid =
                    listed_types(definition.valid_source_types.as_deref().unwrap_or_default());
                error(message).section("3.7.2.1").help(format!("it is for {valid}"))
            }
        })
    }

    /// Whether a named type derives from another. An unknown name is reported where it is written,
    /// and counts as derived.
    fn is_a(&self, family: Family, name: Option<Node<'_>>, ancestor: TypeId) -> bool {
        self.defined(family, name).is_none_or(|kind| self.may_derive(kind, ancestor))
    }

    fn is_among(&self, family: Family, name: Option<Node<'_>>, valid: &[Node<'_>]) -> bool {
        valid.iter().any(|valid| {
            self.defined(family, Some(*valid)).is_none_or(|valid| self.is_a(family, name, valid))
        })
    }
}

/// The filters that this target of an assignment has to fulfil. In TOSCA 2.0, that of the assignment
/// adds to that of the definition, unless it chooses one of several nodes, or none need be found.
fn filters<'n>(
    case: &AssignmentCase<'n, 'n, '_>,
    target: &NodeElement<'_>,
) -> impl Iterator<Item = Node<'n>> {
    let body = case.relation.requirement.declared.value;
    let may_choose = stands_for_several(target) || AssignedCount::read(body).min == 0;
    let own = body.get("node_filter");
    let own = own.filter(|it| v2_0::is_of(it.document()) && !may_choose);
    case.definition.node_filter.into_iter().chain(own)
}

/// The place where the target is named, or the name of the requirement if no target is.
fn target_span(case: &AssignmentCase<'_, '_, '_>) -> Span {
    let requirement = case.relation.requirement;
    requirement.target.unwrap_or(requirement.declared.key).span()
}

fn wrong_node(definition: &RequirementDefinition<'_>, message: String, at: Span) -> Diagnostic {
    let label = definition.node.unwrap_or(definition.named.key).span();
    let error = Diagnostic::error(Code::IncompatibleRequirement, message).at(at).section("3.7.3.1");
    error.label(label, "the node type is required here")
}

fn listed_types(types: &[Node<'_>]) -> String {
    listed(types.iter().map(|node| node.text().unwrap_or_default()))
}
