//! Checks the parts of requirement definitions (section 3.7.3) that concern relationships and
//! target nodes. The type system checks the rest.

use super::super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::{Family, RequirementDefinition, profile};

impl Checker<'_, '_> {
    /// Checks the requirement definitions of all node types that are not built in.
    pub(super) fn requirement_definitions(&self) {
        let types = self.types.ids().map(|id| (id, self.types.definition(id)));
        for (id, kind) in types.filter(|(_, kind)| {
            kind.family == Family::Node && !profile::is_built_in(kind.key.span().file)
        }) {
            for own in &kind.requirements {
                if let Some(effective) = self.requirement_definition(id, own.named.name) {
                    self.relationship_interfaces(own, effective);
                }
                if let Some(filter) = own.node_filter {
                    let target = self
                        .requirement_definition(id, own.named.name)
                        .and_then(|effective| effective.node);
                    self.node_filter(&[], filter, self.defined(Family::Node, target));
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
            let (name, owner) = (interface.named.name, self.types.definition(kind).name);
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
