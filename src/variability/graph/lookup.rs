//! Finds the elements that expressions name: by name if only one element has it, else by position.

use super::build::unknown_element;
use super::element::{ElementId, Graph, GroupElement, NodeElement, NodeId, RelationId};
use crate::diagnostic::{Advice, Code, Diagnostic, closest, did_you_mean};
use crate::tosca::v2_0;
use crate::variability::element::ElementKind;
use crate::variability::template::RelationshipTemplate;
use cuvee_text::case::lower_case;
use cuvee_text::yaml::{Node, Scalar};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A step in which an expression looks for an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LookupStep {
    /// Among the elements of this kind in the whole template.
    Root(ElementKind),
    /// Among the elements of this kind in a container.
    In(ElementId, ElementKind),
}

/// Node templates by the one that they copy.
pub(crate) type NodeCopies<'g, 'a> = FxHashMap<ElementId, Vec<&'g NodeElement<'a>>>;

/// Elements by container, kind and name: the first element of the name, and another one if there is
/// any.
pub(super) type NamesByContainer<'a> =
    FxHashMap<(Option<ElementId>, ElementKind, &'a str), (ElementId, Option<ElementId>)>;

impl<'a> Graph<'a> {
    /// The id of the node of this name.
    pub(super) fn node_id(&self, name: &str) -> Option<NodeId> {
        self.node_names.get(name).map(|position| NodeId(position as u32))
    }

    /// The position in the template of the relationship template of this name.
    pub(crate) fn relationship_named(&self, name: &str) -> Option<usize> {
        self.relationship_names.get(name)
    }

    /// The node of this name.
    pub(crate) fn node_named(&self, name: &str) -> Option<&NodeElement<'a>> {
        self.node_id(name).map(|node| self.node(node))
    }

    /// The group of this name.
    pub(crate) fn group_named(&self, name: &str) -> Option<&GroupElement<'a>> {
        self.group_names.get(name).map(|group| &self.groups[group])
    }

    /// The node template that a node template copies.
    pub(crate) fn copied(&self, node: &NodeElement<'_>) -> Option<&NodeElement<'a>> {
        let name = node.template.declared.value().get("copy")?.text()?;
        self.node_named(name).filter(|copied| copied.id != node.id)
    }

    /// The node templates that copy each node template.
    pub(crate) fn copies(&self) -> NodeCopies<'_, 'a> {
        let mut copies = NodeCopies::default();
        for node in &self.nodes {
            if let Some(copied) = self.copied(node) {
                copies.entry(copied.id).or_default().push(node);
            }
        }
        copies
    }

    /// The node template that has a keyname of a node template: in TOSCA 2.0 the one that it copies,
    /// if it has no such keyname itself.
    pub(crate) fn holder<'n>(
        &'n self,
        node: &'n NodeElement<'a>,
        keyname: &str,
    ) -> &'n NodeElement<'a> {
        let body = node.template.declared.value();
        let may_copy = v2_0::is_of(body.document()) && body.get(keyname).is_none();
        let copied = if may_copy { self.copied(node) } else { None };
        copied.unwrap_or(node)
    }

    /// The same for a relationship template.
    pub(crate) fn relationship_holder(
        &self,
        template: &'a RelationshipTemplate<'a>,
        keyname: &str,
    ) -> &'a RelationshipTemplate<'a> {
        let body = template.declared.value();
        let may_copy = v2_0::is_of(body.document()) && body.get(keyname).is_none();
        let copied = body.get("copy").filter(|_| may_copy).and_then(Node::as_str);
        let copied = copied.and_then(|name| self.relationship_named(name));
        copied.map_or(template, |position| &self.template.relationships[position])
    }

    /// Finds the element that a name or a position means.
    ///
    /// # Errors
    /// `unknown-element` if there is none, `ambiguous-element` if a name means several elements.
    pub(crate) fn find(
        &self,
        step: LookupStep,
        operand: Node<'_>,
    ) -> Result<ElementId, Diagnostic> {
        let name = operand.text().unwrap_or_default();
        // Nodes and groups have unique names and no positions; imports have positions and no names.
        let known = match step {
            LookupStep::Root(ElementKind::Node) => Some(self.node_named(name).map(|node| node.id)),
            LookupStep::Root(ElementKind::Group) => {
                Some(self.group_named(name).map(|group| group.id))
            }
            LookupStep::Root(ElementKind::Import)
                if !matches!(operand.scalar(), Some(Scalar::Int(_))) =>
            {
                Some(None)
            }
            _ => None,
        };
        if let Some(known) = known {
            return known.ok_or_else(|| self.no_such(step, operand));
        }
        match operand.scalar() {
            Some(Scalar::Int(index)) => {
                let found = usize::try_from(index).ok().and_then(|index| self.at(step, index));
                found.ok_or_else(|| self.no_such(step, operand))
            }
            Some(_) => self.by_name(step, operand, name),
            None => Err(Diagnostic::error(
                Code::InvalidExpression,
                "an element is named by its name or its position in a list",
            )
            .at(operand.span())
            .help(format!("here stands {}", operand.describe()))),
        }
    }

    fn by_name(
        &self,
        step: LookupStep,
        operand: Node<'_>,
        name: &str,
    ) -> Result<ElementId, Diagnostic> {
        let (container, kind) = match step {
            LookupStep::Root(kind) => (None, kind),
            LookupStep::In(container, kind) => (Some(container), kind),
        };
        // Technologies are named in lower case, whatever the author typed.
        let lower = if kind == ElementKind::Technology {
            Cow::Owned(lower_case(name))
        } else {
            Cow::Borrowed(name)
        };
        match self.names().get(&(container, kind, &*lower)) {
            Some(&(only, None)) => Ok(only),
            None => Err(self.no_such(step, operand)),
            Some(&(first, Some(second))) => {
                let (kind, at) = (self.element(first).kind.as_str(), self.element(first).index);
                Err(Diagnostic::error(
                    Code::AmbiguousElement,
                    format!("more than one {kind} is named `{name}`"),
                )
                .at(operand.span())
                .label(self.element(first).span, "the first is here")
                .label(self.element(second).span, "another is here")
                .help(format!("name one by its position, such as `{at}`")))
            }
        }
    }

    /// Whether no other element of the same kind in the same container has the name of this one.
    pub(crate) fn is_named_alone(&self, id: ElementId) -> bool {
        let element = self.element(id);
        let named = self.names().get(&(element.container, element.kind, element.name));
        matches!(named, Some((_, None)))
    }

    /// The table of names, which is built when an expression first names an element.
    fn names(&self) -> &NamesByContainer<'a> {
        self.names.get_or_init(|| {
            let mut names = NamesByContainer::default();
            for id in self.ids() {
                let element = self.element(id);
                let entry = names.entry((element.container, element.kind, element.name));
                entry.and_modify(|found| found.1 = found.1.or(Some(id))).or_insert((id, None));
            }
            names
        })
    }

    fn at(&self, step: LookupStep, index: usize) -> Option<ElementId> {
        match step {
            LookupStep::Root(ElementKind::Input) => self.inputs.get(index).map(|input| input.id),
            LookupStep::Root(ElementKind::Output) => {
                self.outputs.get(index).map(|output| output.id)
            }
            LookupStep::Root(ElementKind::Policy) => {
                self.policies.get(index).map(|policy| policy.id)
            }
            LookupStep::Root(ElementKind::Import) => {
                self.imports.get(index).map(|import| import.id)
            }
            _ => self.collection(step).get(index).copied(),
        }
    }

    fn collection(&self, step: LookupStep) -> Vec<ElementId> {
        match step {
            LookupStep::Root(kind) => match kind {
                ElementKind::Input => self.inputs.iter().map(|input| input.id).collect(),
                ElementKind::Output => self.outputs.iter().map(|output| output.id).collect(),
                ElementKind::Node => self.nodes.iter().map(|node| node.id).collect(),
                ElementKind::Group => self.groups.iter().map(|group| group.id).collect(),
                ElementKind::Policy => self.policies.iter().map(|policy| policy.id).collect(),
                ElementKind::Import => self.imports.iter().map(|import| import.id).collect(),
                _ => Vec::new(),
            },
            LookupStep::In(container, kind) => {
                let element = self.element(container);
                let node =
                    (element.kind == ElementKind::Node).then(|| &self.nodes[element.slot as usize]);
                match (kind, node) {
                    (ElementKind::Type, _) => self.types_of(container).to_vec(),
                    (ElementKind::Property, _) => self.properties_of(container).to_vec(),
                    (ElementKind::Relation, Some(node)) => {
                        node.relations.iter().map(|&id| self.relation(id).id).collect()
                    }
                    (ElementKind::Artifact, Some(node)) => node.artifacts.to_vec(),
                    (ElementKind::Technology, Some(node)) => node.technologies.to_vec(),
                    _ => Vec::new(),
                }
            }
        }
    }

    fn no_such(&self, step: LookupStep, operand: Node<'_>) -> Diagnostic {
        let name = operand.text().unwrap_or_default();
        let message = match step {
            LookupStep::Root(kind) => format!("there is no {} `{name}`", kind.as_str()),
            LookupStep::In(container, kind) => {
                format!("{} has no {} `{name}`", self.display(container), kind.as_str())
            }
        };
        let known = self.collection(step);
        let error =
            unknown_element(operand, message, known.iter().map(|&id| self.element(id).name));
        match (operand.scalar(), known.len()) {
            (Some(Scalar::Int(_)), 0) => error.help("there are none"),
            (Some(Scalar::Int(_)), count) => {
                error.help(format!("positions go from 0 to {}", count - 1))
            }
            _ => error,
        }
    }

    /// Finds the relation of a node that a name or a position means.
    ///
    /// # Errors
    /// Those of [`Graph::find`].
    pub(super) fn relation_of(
        &self,
        node: &NodeElement<'a>,
        operand: Node<'_>,
    ) -> Result<RelationId, Diagnostic> {
        self.find(LookupStep::In(node.id, ElementKind::Relation), operand)
            .map(|id| RelationId(self.element(id).slot))
    }

    /// The elements that a text may mean that lacks their kind, or everything but their name.
    /// Elements of the template itself are preferred to elements inside others.
    pub(crate) fn by_part(&self, written: &str) -> Vec<ElementId> {
        let is_meant = |&id: &ElementId| {
            let identifier = || self.identifier(id).to_string();
            self.element(id).name == written
                || identifier().split_once('.').is_some_and(|(_, rest)| rest == written)
        };
        let found: Vec<_> = self.ids().filter(is_meant).collect();
        let (whole, within): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|&id| self.element(id).container.is_none());
        if whole.is_empty() { within } else { whole }
    }

    /// The identifier that an unknown identifier most likely means.
    pub(crate) fn closest_identifier(&self, written: &str) -> Option<Advice> {
        let Some((kind, _)) = written.split_once('.') else {
            let name = closest(written, self.ids().map(|id| self.element(id).name))?;
            let meant = self.ids().find(|&id| self.element(id).name == name)?;
            return Some(Advice::did_you_mean(written, &self.identifier(meant).to_string()));
        };
        let of_kind = self.ids().filter(|&id| self.element(id).kind.as_str() == kind);
        let known: Vec<_> = of_kind.map(|id| self.identifier(id).to_string()).collect();
        did_you_mean(written, known.iter().map(String::as_str))
    }

    /// The element of an identifier, such as `property.port@0.node.shop`.
    pub(crate) fn by_identifier(&self, identifier: &str) -> Option<ElementId> {
        let (kind, rest) = identifier.split_once('.')?;
        if kind == ElementKind::Node.as_str() {
            return self.node_named(rest).map(|node| node.id);
        }
        ElementKind::ALL.iter().find(|candidate| candidate.as_str() == kind)?;
        let all = self
            .identifiers
            .get_or_init(|| self.ids().map(|id| (self.identifier(id).to_string(), id)).collect());
        all.get(identifier).copied()
    }
}
