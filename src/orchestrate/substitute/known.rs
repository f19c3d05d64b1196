//! Remembers the choices for nodes by their relevant aspects, so that nodes that are alike get the
//! same template.

use super::candidate::Facade;
use super::explain::ExplainedSubstitution;
use super::{Catalogue, ChosenTemplate};
use crate::topology::{AssignedValue, TopologyNode};
use crate::tosca::TypeId;
use cuvee_text::decimal::Decimal;
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::OutNode;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// The choices found so far.
#[derive(Default)]
pub(super) struct KnownChoices {
    found: RefCell<FxHashMap<NodeAspects, Vec<KnownChoice>>>,
}

/// All aspects of a node that a choice may depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct NodeAspects {
    kind: TypeId,
    /// The name of the type as it is written, since messages show it.
    type_name: String,
    capabilities: Vec<String>,
    /// For each requirement its name, the number of its slots, and how many of these are certain.
    requirements: Vec<(String, usize, u64)>,
    properties: Vec<String>,
    values: Option<String>,
}

/// The choice for a node: one of the variants of a template.
pub(super) struct ChosenVariant {
    pub template: usize,
    pub variant: usize,
    pub explanation: ExplainedSubstitution,
}

struct KnownChoice {
    /// The templates met while choosing. The choice would differ if others of them were above the
    /// node.
    met: FxHashSet<FileId>,
    /// The templates among `met` that were above the node.
    above: FxHashSet<FileId>,
    best: KnownBest,
}

/// The best candidate of a node.
#[derive(Clone)]
pub(super) struct KnownBest {
    /// The weight; `None` if there is no candidate.
    pub weight: Option<Decimal>,
    /// The candidate; `None` if there is none, or if several are equally good.
    pub chosen: Option<Rc<ChosenVariant>>,
}

impl NodeAspects {
    /// The aspects of a node; `None` if a choice may depend on its name, or on what is around it.
    pub(super) fn of(
        facade: &Facade<'_, '_>,
        catalogue: &dyn Catalogue<'_>,
        asked: &[ChosenTemplate],
    ) -> Option<Self> {
        let name = &*facade.node.name;
        // The nodes of a substituting template have names that begin with that of the replaced
        // node.
        let is_asked = asked.iter().any(|choice| choice.node.starts_with(name));
        if is_asked || catalogue.is_named(name) || catalogue.looks_around() {
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

/// The values of a node: as they are written, and as far as they are known.
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
    /// The known choice for a node like this one below these templates, if there is one. Adds the
    /// templates that it depends on to `met`.
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
