//! Checks capability assignments (section 3.8.1).

use super::assignment::{AttributeOwner, Typed};
use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::shape::CAPABILITY_ASSIGNMENT;
use crate::tosca::types::schemas::definitions;
use crate::tosca::v2_0;
use crate::tosca::value::{
    PropertyDefinition, PropertyOwner, check_assignments_asking, check_rules,
};
use crate::tosca::{EffectiveCapability, Family};
use crate::variability::graph::{ElementId, NodeElement};
use cuvee_text::yaml::{Node, NodeKind};
use std::cell::RefCell;

impl<'a> Checker<'_, 'a> {
    /// Checks the values that a node assigns to the capabilities of one of its types, and that each
    /// capability has the values it needs.
    pub(super) fn capabilities(&self, of: Typed<'_>, node: &NodeElement<'a>) {
        let body = node.template.declared.value();
        let defined = &self.types.effective(of.kind).capabilities;
        for (key, value) in self.map(of.when, body, "capabilities", "3.8.3.1") {
            let name = key.text().unwrap_or_default();
            match defined.get(name) {
                Some(_) if value.kind() != NodeKind::Mapping && !value.is_null() => {
                    self.wrong(of.when, value, name, "a map", "3.8.1.2");
                }
                Some(part) => self.capability(of.when, name, value, &part.definition),
                None if self.is_open(of.kind) => {}
                None => {
                    let message = format!("`{}` has no capability `{name}`", self.called(of.kind));
                    self.undefined(of.when, key, message, defined.keys().copied(), "3.8.1");
                }
            }
        }
        for (name, part) in defined.iter() {
            self.capability_properties(of, node, name, &part.definition);
        }
    }

    /// The value that is assigned to a property of a capability of a node; `Err` if that depends on
    /// the variant.
    pub(super) fn assigned_to_capability(
        &self,
        node: &NodeElement<'a>,
        capability: &str,
        name: &str,
    ) -> Result<Option<Node<'a>>, ()> {
        let all =
            self.graph.holder(node, "capabilities").template.declared.value().get("capabilities");
        let own = all.and_then(|all| all.get(capability)?.get("properties"));
        // A list has alternatives.
        match own.filter(|own| own.kind() == NodeKind::Sequence) {
            Some(_) => Err(()),
            None => Ok(own.and_then(|own| own.get(name))),
        }
    }

    fn capability(
        &self,
        when: &[ElementId],
        name: &str,
        body: Node<'a>,
        defined: &EffectiveCapability<'_>,
    ) {
        self.keynames(when, body, &CAPABILITY_ASSIGNMENT);
        let (attributes, properties) =
            (definitions(&defined.attributes), definitions(&defined.properties));
        let owner = AttributeOwner {
            what: &format!("the capability `{name}`"),
            known: [&attributes, &properties],
            is_open: defined.is_open,
        };
        self.attribute_assignments(when, body, owner);
        let Some(node) = v2_0::renamed(body, "occurrences") else { return };
        let Some(own) = self.occurrences(when, node, CAPABILITY_ASSIGNMENT.section) else { return };
        if let Some(outer) = defined.occurrences.filter(|outer| !own.is_within(outer)) {
            let message =
                format!("the occurrences {own} of the capability `{name}` are not within {outer}");
            let error = Diagnostic::error(Code::InvalidRefinement, message)
                .at(node.span())
                .section(CAPABILITY_ASSIGNMENT.section);
            self.report_when(
                when,
                &[],
                error.label(outer.node.span(), "the occurrences that its type defines"),
            );
        }
    }

    /// Checks the values of a capability, whether or not the node mentions it.
    fn capability_properties(
        &self,
        of: Typed<'_>,
        node: &NodeElement<'a>,
        name: &str,
        defined: &EffectiveCapability<'_>,
    ) {
        if defined.properties.is_empty() {
            return;
        }
        let assignment =
            |node: &NodeElement<'a>| node.template.declared.value().get("capabilities")?.get(name);
        let own = assignment(node);
        let is_optional = defined.occurrences.is_some_and(|occurrences| occurrences.min == 0);
        if own.is_none() && (is_optional || self.is_selected(node)) {
            return;
        }
        let copied = self
            .copied(node)
            .and_then(assignment)
            .and_then(|capability| capability.get("properties"));
        // A copied value counts like a default.
        let definitions: Vec<_> = defined
            .properties
            .iter()
            .map(|(name, part)| PropertyDefinition {
                default: copied.and_then(|it| it.get(name)).or(part.definition.default),
                ..part.definition.clone()
            })
            .collect();
        let definitions: Vec<_> = definitions.iter().collect();
        let owner = format!("the capability `{name}` of {}", self.graph.display(of.id));
        let key = |own: Node<'a>| own.span();
        let at = own.filter(|own| !own.is_null()).map_or(self.graph.element(of.id).span, key);
        let values = own.and_then(|own| own.get("properties"));
        let also = RefCell::new(Vec::new());
        let ask = |function: &str, path: Option<Node<'_>>| {
            self.known((of.id, of.kind), function, path?, &also)
        };
        let is_open = defined.is_open;
        let checked = PropertyOwner { what: &owner, at: Some(at), section: "3.6.11", is_open };
        let found =
            check_assignments_asking(values, &definitions, checked, &self.schemas, Some(&ask));
        self.report_values_with(of.when, &also.take(), found);
        if let Some(kind) = self.defined(Family::Capability, defined.kind) {
            let rules = &self.schemas.of(kind).rules;
            let wrong = check_rules(values, &definitions, rules, &owner, at);
            self.report_all(of.when, Diagnostics(wrong));
        }
    }
}
