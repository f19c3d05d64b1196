//! Checks the parts of requirement definitions (section 3.7.3) that concern relationships and
//! target nodes. The type system checks the rest.

use super::super::checker::Checker;
use super::super::function::{PathStop, ReachedNode, ReachedRelationship};
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::{Family, RequirementDefinition, TypeId, profile, v2_0};
use cuvee_text::yaml::Node;

impl Checker<'_, '_> {
    /// Checks the requirement definitions of all node types that are not built in.
    pub(super) fn requirement_definitions(&self) {
        let is_asked_for = |id: &TypeId| {
            let (family, key, body) = self.types.place(*id);
            family == Family::Node && !profile::is_built_in(key.span().file) && says_more(body)
        };
        for id in self.types.ids().filter(is_asked_for) {
            for own in &self.types.definition(id).requirements {
                if let Some(effective) = self.requirement_definition(id, own.named.name) {
                    self.relationship_interfaces(own, effective);
                }
                for &filter in &own.node_filters {
                    let effective = self.requirement_definition(id, own.named.name);
                    if !v2_0::is_of(filter.document()) {
                        let target = effective.and_then(|effective| effective.node);
                        self.node_filter(&[], filter, self.defined(Family::Node, target));
                        continue;
                    }
                    // There, `SELF` is the relationship (section 8.8).
                    self.node_filter(&[], filter, None);
                    let source = Some(ReachedNode { kind: id, template: None });
                    let ends = effective.map(|it| self.defined_ends(it)).unwrap_or_default();
                    let own = ReachedRelationship { source, ..ends };
                    self.condition(PathStop::Relationship(own), filter);
                }
            }
        }
    }

    /// Checks interfaces by section 3.7.3.1.1: the relationship type must declare them, and a
    /// definition may add inputs.
    fn relationship_interfaces(
        &self,
        own: &RequirementDefinition<'_>,
        effective: &RequirementDefinition<'_>,
    ) {
        let Some(kind) = self.defined(Family::Relationship, effective.relationship) else { return };
        if self.is_open(kind) {
            return;
        }
        let declared = &self.types.effective(kind).interfaces;
        for interface in
            own.interfaces.iter().filter(|interface| !declared.contains_key(interface.named.name))
        {
            let (name, owner) = (interface.named.name, self.called(kind));
            let error = Diagnostic::error(
                Code::UnknownDefinition,
                format!("`{owner}` has no interface `{name}`"),
            );
            let error = error.at(interface.named.key.span()).section("3.7.3.1.1");
            self.report_when(
                &[],
                &[],
                error.help_opt(did_you_mean(name, declared.keys().copied())),
            );
        }
    }
}

/// Whether the definition of a node type says more of requirements than most do: which targets they
/// filter, or what interfaces of relationships have. Nearly no type of a large library does, and
/// what is not looked at need not be read.
fn says_more(body: Node<'_>) -> bool {
    let requirements = body.get("requirements");
    let items = requirements.into_iter().flat_map(|list| list.items().chain([list]));
    items.flat_map(Node::entries).any(|(_, definition)| {
        let interfaces = definition.get("relationship").and_then(|it| it.get("interfaces"));
        definition.get("node_filter").is_some() || interfaces.is_some()
    })
}
