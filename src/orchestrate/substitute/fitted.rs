//! Checks relations between a template and what substitutes its nodes, once both ends are known:
//! types of replaced nodes say less than what is behind their mappings.

use super::flatten::{ChosenCandidate, FlattenedTemplate};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::orchestrate::fulfil::{
    FilterOwner, FilterTexts, GraphNode, NodeSubject, fitting, node_type,
};
use crate::topology::scope::TopologyScope;
use crate::topology::{NodeIndex, RelationIndex, Topology, requirement_definition};
use crate::tosca::filter::{FilterSubject, FilterVerdict, NodeFilter};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::{Directive, Family, TypeId, TypeRef, Types};
use cuvee_text::source::Span;
use cuvee_text::yaml::OutNode;
use rustc_hash::FxHashMap;

/// Refuses relations that do not fit the requirement or the capability behind a mapping, and nodes
/// that do not fit the selected ones in whose place they are. `topology` is that of the document.
pub(super) fn unfit<'a>(
    topology: &Topology,
    flat: &FlattenedTemplate<'a>,
    chosen: &[ChosenCandidate<'_, 'a>],
    types: &Types<'_>,
) -> Result<(), Diagnostics> {
    let (graph, schemas) = (TopologyScope::of(topology, types), Schemas::new(types));
    let nodes = FittedNodes { topology, types, graph: &graph, schemas: &schemas };
    let inside = flat.names.iter().enumerate();
    let inside = inside.flat_map(|(at, names)| names.values().map(move |name| (&**name, at)));
    let inside: FxHashMap<&str, usize> = inside.collect();
    let owner = |node: NodeIndex| inside.get(&*topology.node(node).name);
    let texts = FilterTexts::of(OutNode::root(&flat.document), topology);
    let filters = texts.read();
    let mut errors = Diagnostics::default();
    for id in topology.relation_ids() {
        let relation = topology.relation(id);
        let is_between = |target: &NodeIndex| owner(*target) != owner(relation.source);
        if let Some(target) = relation.target.filter(is_between) {
            let own = filters.get(&FilterOwner::Relation(id)).map(|own| &own.filter);
            let is_mapped = owner(relation.source).is_some();
            errors.0.extend(nodes.relation(id, target, own, is_mapped));
        }
    }
    for (chosen, targets) in chosen.iter().zip(&flat.targets).filter(|(_, it)| !it.is_empty()) {
        let document = &chosen.variant.view.document;
        let inner = Topology::read(document, &|_| false);
        let texts = FilterTexts::of(OutNode::root(document), &inner);
        let filters = texts.read();
        for id in inner.node_ids() {
            let selected = inner.node(id);
            let target = targets.get(&selected.name).and_then(|it| topology.node_named(it));
            let Some(target) = target else { continue };
            let own = filters.get(&FilterOwner::Node(id)).map(|own| &own.filter);
            let wanted = node_type(types, selected);
            let place = format!("the node \"{}\" that a relation is mapped onto", selected.name);
            let subject = nodes.subject(target);
            let why = nodes.misfit(target, wanted, own, &subject);
            errors.0.extend(why.map(|why| nodes.error(target, &place, &why, selected.span)));
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// The nodes of a template in which nodes were replaced.
struct FittedNodes<'n, 't> {
    topology: &'n Topology,
    types: &'n Types<'t>,
    graph: &'n TopologyScope<'n, 't>,
    schemas: &'n Schemas<'n, 't>,
}

impl<'n, 't> FittedNodes<'n, 't> {
    /// The error that a relation does not fit. Of a relation that is not mapped, its requirement was
    /// checked before.
    fn relation(
        &self,
        id: RelationIndex,
        target: NodeIndex,
        own: Option<&NodeFilter<'_>>,
        is_mapped: bool,
    ) -> Option<Diagnostic> {
        let Self { topology, types, .. } = *self;
        let relation = topology.relation(id);
        let source = topology.node(relation.source);
        let ends = [source, topology.node(target)];
        // What is still to be replaced is checked when it is.
        if ends.iter().any(|end| end.directive() != Directive::Create) {
            return None;
        }
        let [from, kind] = ends.map(|end| node_type(types, end));
        let capabilities = fitting(types, relation, from?, kind?);
        let (definition, _) = requirement_definition(topology, types, id)?;
        let read = |filter| NodeFilter::read(filter, &mut Diagnostics::default());
        let defined: Vec<_> = definition.node_filters.iter().copied().map(read).collect();
        let filters = defined.iter().chain(own).filter(|_| is_mapped);
        let wanted = definition
            .node
            .filter(|_| is_mapped)
            .and_then(|name| types.find_in(Some(name.span().file), Family::Node, name.text()?));
        let subject = self.subject(target);
        let subject = subject.required((Some(id), Some(relation.source)), &capabilities);
        let none = "no capability of it is for this relation".to_owned();
        let why = self.misfit(target, wanted, filters, &subject);
        let why = why.or(capabilities.is_empty().then_some(none))?;
        let place = format!("the requirement `{}` of `{}`", relation.name, source.name);
        let at = Some(relation.span).filter(|it| !it.is_detached()).unwrap_or(source.span);
        Some(self.error(target, &place, &why, at))
    }

    fn subject(&self, node: NodeIndex) -> NodeSubject<'n, 't> {
        let place = GraphNode { graph: self.graph, node };
        NodeSubject::of(self.types, self.schemas, self.topology.node(node), place)
    }

    /// Why a node is not of a type, or does not fulfil filters, if that is certain.
    fn misfit<'f>(
        &self,
        node: NodeIndex,
        wanted: Option<TypeId>,
        filters: impl IntoIterator<Item = &'f NodeFilter<'f>>,
        subject: &dyn FilterSubject<'_>,
    ) -> Option<String> {
        let kind = node_type(self.types, self.topology.node(node));
        let derives =
            |kind, wanted| self.types.may_derive(TypeRef::Defined(kind), TypeRef::Defined(wanted));
        if let Some(wanted) = wanted
            && !kind.is_some_and(|kind| derives(kind, wanted))
        {
            return Some(format!("it is no `{}`", self.types.definition(wanted).name));
        }
        filters.into_iter().find_map(|filter| match filter.verdict(subject) {
            FilterVerdict::Fails(reason) => Some(reason.message),
            FilterVerdict::Holds | FilterVerdict::Undecided(_) => None,
        })
    }

    fn error(&self, node: NodeIndex, place: &str, why: &str, at: Span) -> Diagnostic {
        let message = format!("`{}` does not fit {place}: {why}", self.topology.node(node).name);
        let error = Diagnostic::error(Code::IncompatibleRequirement, message).at(at);
        error.help("let the relation lead to a node that fits, or use another template")
    }
}
