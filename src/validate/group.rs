//! Checks groups (section 3.8.5).

use super::assignment::Typed;
use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, listed};
use crate::tosca::shape::GROUP;
use crate::tosca::{Family, TypeId, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, GroupElement, NodeElement};
use crate::variability::template::shape;
use cuvee_text::yaml::Node;

impl<'a> Checker<'_, 'a> {
    /// Checks all groups.
    pub(super) fn groups(&self) {
        for group in self.graph.groups.iter().filter(|group| self.counts(group.id)) {
            self.group(group);
        }
    }

    fn group(&self, group: &GroupElement<'a>) {
        let body = group.group.declared.value();
        self.keynames(&[group.id], body, shape::GROUP);
        self.about(&[group.id], body, GROUP.section);
        // A variability group only carries conditions for its members. Its type has no definition,
        // and the group is not part of any result.
        if group.variability {
            return;
        }
        let interfaces = body.entries().find(|(key, _)| key.text() == Some("interfaces"));
        // TOSCA 2.0 has none, which its grammar tells.
        if let Some((key, _)) = interfaces.filter(|_| !v2_0::is_of(body.document())) {
            let warning =
                Diagnostic::warning(Code::Deprecated, "interfaces of groups are deprecated")
                    .at(key.span());
            self.report(group.id, warning.section("3.8.5.3").help("give them to the members"));
        }
        for (kind, mut when) in self.types_of(group.id, Family::Group) {
            self.properties(group.id, &group.properties, kind, &when);
            when.push(group.id);
            let of = Typed { id: group.id, kind, when: &when };
            self.attributes(kind, &when, body);
            self.interfaces(of, body, &[]);
            self.operations_of_type(of, body, &[]);
            self.members(of, group);
        }
    }

    /// Checks that each member has one of the types that the group type lists, if it lists any
    /// (section 3.7.11.1).
    fn members(&self, of: Typed<'_>, group: &GroupElement<'a>) {
        let Some(listed) = &self.types.effective(of.kind).valid_types else { return };
        for (member, id) in group.members.iter().filter(|(_, id)| self.counts(*id)) {
            let element = self.graph.element(*id);
            let when: Vec<_> = of.when.iter().copied().chain([*id]).collect();
            match element.kind {
                ElementKind::Node => self.member_node(of, &when, member.item, *id, listed),
                ElementKind::Group => {
                    let inner = &self.graph.groups[element.slot as usize];
                    self.member_group(Typed { when: &when, ..of }, member.item, inner, listed);
                }
                _ => {}
            }
        }
    }

    /// Checks a group that is a member: its type is admitted, or the types of all its members are
    /// (TOSCA 2.0, section 16.1).
    fn member_group(
        &self,
        of: Typed<'_>,
        at: Node<'_>,
        inner: &GroupElement<'a>,
        listed: &[Node<'_>],
    ) {
        let valid = listed.iter().filter_map(|name| self.defined(Family::Group, Some(*name)));
        let valid: Vec<_> = valid.collect();
        let types = self.types_of(inner.id, Family::Group);
        let is_admitted = |kind: TypeId| valid.iter().any(|&valid| self.may_derive(kind, valid));
        if inner.variability || types.is_empty() || types.iter().any(|it| is_admitted(it.0)) {
            return;
        }
        let members = self.graph.members_within(inner).into_iter();
        let is_node = |id: &ElementId| self.graph.element(*id).kind == ElementKind::Node;
        for id in members.filter(|id| self.counts(*id) && is_node(id)) {
            self.member_node(of, &[of.when, &[id]].concat(), at, id, listed);
        }
    }

    /// Checks the types of a node that is a member.
    fn member_node(
        &self,
        of: Typed<'_>,
        when: &[ElementId],
        at: Node<'_>,
        id: ElementId,
        listed: &[Node<'_>],
    ) {
        let node = &self.graph.nodes[self.graph.element(id).slot as usize];
        let types = self.types_of(id, Family::Node).into_iter();
        for (kind, alternative) in types.filter(|(kind, _)| !self.admits(listed, *kind)) {
            let when = [when, &alternative].concat();
            self.not_admitted(&when, at, node, kind, of.kind, listed);
        }
    }

    /// Whether a node type is one of these types, or has a capability of one of them.
    fn admits(&self, valid: &[Node<'_>], kind: TypeId) -> bool {
        let find = |family, name: &Node<'_>| self.defined(family, Some(*name));
        let has = |wanted: TypeId| {
            let mut capabilities = self.types.effective(kind).capabilities.values();
            let named = |part: &Node<'_>| find(Family::Capability, part);
            capabilities.any(|part| {
                part.definition
                    .kind
                    .as_ref()
                    .and_then(named)
                    .is_some_and(|own| self.may_derive(own, wanted))
            })
        };
        valid.iter().any(|name| match (find(Family::Node, name), find(Family::Capability, name)) {
            (Some(node), _) => self.may_derive(kind, node),
            (None, Some(capability)) => has(capability),
            // An undefined type has been reported where it is listed.
            (None, None) => find(Family::Group, name).is_none(),
        })
    }

    fn not_admitted(
        &self,
        when: &[ElementId],
        at: Node<'_>,
        node: &NodeElement<'a>,
        kind: TypeId,
        group: TypeId,
        valid: &[Node<'_>],
    ) {
        let (node, group) = (node.template.declared.name(), self.called(group));
        let message =
            format!("`{node}` of type `{}` cannot be a member of a `{group}`", self.called(kind));
        let families = [Family::Node, Family::Capability, Family::Group];
        let names = valid.iter().map(|name| self.types.called_by(None, &families, *name));
        let names = listed(names);
        let error =
            Diagnostic::error(Code::IncompatibleType, message).at(at.span()).section("3.7.11.1");
        self.report_when(when, &[], error.help(format!("members are of type {names}")));
    }
}
