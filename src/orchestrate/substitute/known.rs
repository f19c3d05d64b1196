//! What was chosen for nodes by what can be asked of them: nodes that are alike get the same.

use super::candidate::Facade;
use super::explain::ExplainedSubstitution;
use super::{Catalogue, ChosenTemplate};
use crate::text::decimal::Decimal;
use crate::text::source::FileId;
use crate::text::value::Value;
use crate::text::yaml::OutNode;
use crate::topology::{AssignedValue, TopologyNode};
use crate::tosca::TypeId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// What is known of nodes that are alike.
#[derive(Default)]
pub(super) struct KnownChoices {
    found: RefCell<FxHashMap<NodeAspects, Vec<KnownChoice>>>,
}

/// All of a node that a choice may depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct NodeAspects {
    kind: TypeId,
    /// As it is written, which is told.
    type_name: String,
    capabilities: Vec<String>,
    /// Of each requirement the number of its slots, and of those that are there for certain.
    requirements: Vec<(String, usize, u64)>,
    properties: Vec<String>,
    values: Option<String>,
}

/// What was chosen for a node: one of the variants of a template.
pub(super) struct ChosenVariant {
    pub template: usize,
    pub variant: usize,
    pub explanation: ExplainedSubstitution,
}

struct KnownChoice {
    /// The templates that were met on the way, whose being above the node would count.
    met: FxHashSet<FileId>,
    /// Those of them that were above the node.
    above: FxHashSet<FileId>,
    best: KnownBest,
}

/// The best candidate of a node.
#[derive(Clone)]
pub(super) struct KnownBest {
    /// What it costs; nothing where there is none.
    pub weight: Option<Decimal>,
    /// Which it is; nothing where there is none, or several are.
    pub chosen: Option<Rc<ChosenVariant>>,
}

impl NodeAspects {
    /// What counts of a node; nothing where its name does.
    pub(super) fn of(
        facade: &Facade<'_, '_>,
        catalogue: &dyn Catalogue<'_>,
        asked: &[ChosenTemplate],
    ) -> Option<Self> {
        let name = &*facade.node.name;
        // Nodes of what substitutes one are called behind it.
        let is_asked = asked.iter().any(|choice| choice.node.starts_with(name));
        if is_asked || catalogue.is_named(name) {
            return None;
        }
        let properties = facade.node.properties();
        let mut properties: Vec<_> = properties.into_iter().map(|(name, _)| name).collect();
        properties.sort_unstable();
        let slots = facade.requirements.iter();
        Some(Self {
            kind: facade.kind,
            type_name: facade.node.type_name.clone(),
            capabilities: facade.capabilities.keys().cloned().collect(),
            requirements: slots.map(|it| (it.name.clone(), it.slots.len(), it.min)).collect(),
            properties,
            values: catalogue.looks_at_values().then(|| values(facade)),
        })
    }
}

/// Values as they are written, and as far as they are known.
fn values(facade: &Facade<'_, '_>) -> String {
    let written = facade.node.properties().into_iter();
    let written: Vec<(String, Value)> =
        written.map(|(name, value)| (name, OutNode::root(&value).to_value())).collect();
    let named = |all: &[AssignedValue]| -> Vec<(String, Value)> {
        all.iter().map(|one| (one.name.clone(), one.value.value.clone())).collect()
    };
    let TopologyNode { described, capabilities, .. } = facade.values;
    let known = named(&described.properties);
    let capabilities: Vec<_> = capabilities
        .iter()
        .map(|capability| (&capability.name, named(&capability.properties)))
        .collect();
    format!("{written:?}{known:?}{capabilities:?}")
}

impl KnownChoices {
    /// What is known of a node like this below these templates, if anything is; the templates that
    /// count for that are met.
    pub(super) fn get(
        &self,
        aspects: &NodeAspects,
        way: &[FileId],
        met: &mut FxHashSet<FileId>,
    ) -> Option<KnownBest> {
        let found = self.found.borrow();
        let mut known = found.get(aspects)?.iter();
        let known = known.find(|known| above(&known.met, way) == known.above)?;
        met.extend(&known.met);
        Some(known.best.clone())
    }

    pub(super) fn insert(
        &self,
        aspects: NodeAspects,
        way: &[FileId],
        met: FxHashSet<FileId>,
        best: KnownBest,
    ) {
        let above = above(&met, way);
        let known = KnownChoice { met, above, best };
        self.found.borrow_mut().entry(aspects).or_default().push(known);
    }
}

fn above(met: &FxHashSet<FileId>, way: &[FileId]) -> FxHashSet<FileId> {
    way.iter().copied().filter(|file| met.contains(file)).collect()
}
