//! Reads the node filters of a document: from the source text, or from a new text if functions in
//! them have got values.

use crate::diagnostic::Diagnostics;
use crate::orchestrate::tree::{MADE, made};
use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::tosca::Directive;
use crate::tosca::filter::NodeFilter;
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Document, Node, OutEntry, OutNode};
use cuvee_text::yaml::{Out, OutKey};
use rustc_hash::FxHashMap;

/// The owner of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FilterOwner {
    /// A node that is to be selected.
    Node(NodeIndex),
    /// The assigned properties of such a node, as a filter.
    Assigned(NodeIndex),
    /// A requirement assignment without a target.
    Relation(RelationIndex),
}

/// The texts of all filters of a document.
pub(crate) struct FilterTexts<'a> {
    is_2_0: bool,
    texts: Vec<(FilterOwner, FilterText<'a>)>,
}

enum FilterText<'a> {
    Source(Node<'a>),
    /// A new text, of which this part is the filter, with the place of what it was made from.
    Made(Box<Document>, Span),
}

/// A filter that can be checked, and its place for parts that have none.
pub(crate) struct PlacedFilter<'f> {
    pub filter: NodeFilter<'f>,
    pub at: Span,
}

impl<'a> FilterTexts<'a> {
    /// The filters of a document with this topology.
    pub(crate) fn of(document: OutNode<'_, 'a>, topology: &Topology) -> Self {
        let mut texts = Self { is_2_0: v2_0::is_said_in(document), texts: Vec::new() };
        let body = document.get("topology_template").and_then(|body| body.get("node_templates"));
        let nodes = body.map(OutNode::entries).unwrap_or_default();
        for (id, entry) in topology.node_ids().zip(nodes) {
            let node = topology.node(id);
            if node.directive() == Directive::Select {
                texts.add(FilterOwner::Node(id), entry.value.get("node_filter"));
                texts.assigned(id, entry.value);
            }
            let filtered = |&&id: &&RelationIndex| topology.relation(id).node_filter.is_some();
            if node.relations.iter().any(|id| filtered(&id)) {
                let body = entry.value.get("requirements");
                let written = body.map(requirement_entries).unwrap_or_default();
                for (&relation, entry) in node.relations.iter().zip(written) {
                    texts.add(FilterOwner::Relation(relation), entry.value.get("node_filter"));
                }
            }
        }
        texts
    }

    fn add(&mut self, owner: FilterOwner, filter: Option<OutNode<'_, 'a>>) {
        let Some(filter) = filter else { return };
        let text = match filter.source() {
            Some(node) => FilterText::Source(node),
            None => match made(Out::Value(filter.to_value()), self.is_2_0) {
                Some(document) => FilterText::Made(document.into(), filter.span()),
                None => return,
            },
        };
        self.texts.push((owner, text));
    }

    /// Adds the assigned properties of a node and of its capabilities as a filter.
    fn assigned(&mut self, id: NodeIndex, node: OutNode<'_, 'a>) {
        if let Some(node) = node.source() {
            self.texts.push((FilterOwner::Assigned(id), FilterText::Source(node)));
            return;
        }
        let part = |keyname: &'static str| {
            let value = node.get(keyname)?.to_value();
            Some((OutKey::New(keyname.into()), Out::Value(value)))
        };
        let entries = ["properties", "capabilities"].into_iter().filter_map(part).collect();
        if let Some(document) = made(Out::Map { entries, like: None }, self.is_2_0) {
            let text = FilterText::Made(document.into(), node.span());
            self.texts.push((FilterOwner::Assigned(id), text));
        }
    }

    /// Reads the filters. Validation reports errors in how they are written.
    pub(crate) fn read(&self) -> FxHashMap<FilterOwner, PlacedFilter<'_>> {
        self.texts.iter().map(|(owner, text)| (*owner, text.read(*owner))).collect()
    }
}

impl FilterText<'_> {
    fn read(&self, owner: FilterOwner) -> PlacedFilter<'_> {
        let (node, at) = match self {
            Self::Source(node) => (*node, node.span()),
            Self::Made(document, at) => {
                let root = document.root();
                (root.get(MADE).unwrap_or(root), *at)
            }
        };
        let filter = match owner {
            FilterOwner::Assigned(_) => NodeFilter::of_assignments(node),
            _ => NodeFilter::read(node, &mut Diagnostics::default()),
        };
        PlacedFilter { filter, at }
    }
}

/// The entries of a list of requirement assignments, in the order in which the topology counts
/// them.
pub(super) fn requirement_entries<'o, 'a>(list: OutNode<'o, 'a>) -> Vec<OutEntry<'o, 'a>> {
    let own = list.entries();
    if !own.is_empty() {
        return own;
    }
    list.items().into_iter().filter_map(|(_, item)| item.entries().into_iter().next()).collect()
}
