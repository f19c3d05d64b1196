//! Builds `generated(e)`: default conditions and pruning.
//!
//! A generic condition is added if (default conditions on ∧ e has no condition ∧ its aspect on) ∨
//! (pruning on ∧ its aspect on).

use super::manual::scope;
use super::origin::By;
use super::{Conditions, EnrichContext, Origin};
use crate::tosca::types::{Family, Meaning};
use crate::variability::element::ElementKind;
use crate::variability::graph::{Element, ElementId, NodeElement};
use crate::variability::options::{Aspect, ModePart};
use crate::variability::syntax::Of;
use crate::variability::template::{TypeSpecificCondition, TypeSpecificConditions};
use cuvee_sat::formula::Formula;
use rustc_hash::FxHashMap;

const ASPECTS: [Aspect; 2] = [Aspect::Consistency, Aspect::Semantic];

/// Type-specific conditions by family, type and property.
type TypeSpecificIndex<'t, 'a> =
    FxHashMap<(Family, Meaning<'a>, Option<&'a str>), &'t TypeSpecificCondition<'a>>;

impl<'c, 'a> EnrichContext<'c, '_, 'a> {
    /// The generated conditions of every element.
    pub(super) fn generated(
        &mut self,
        manual: &Conditions,
        type_specific: &TypeSpecificConditions<'a>,
    ) -> Conditions {
        let graph = self.evaluator.graph;
        let types = self.evaluator.types();
        let key = |condition: &TypeSpecificCondition<'a>| {
            let family = Family::of_keyword(condition.family)?;
            Some((family, types.meaning(family, condition.name), condition.property))
        };
        let index: TypeSpecificIndex<'_, 'a> = type_specific
            .iter()
            .filter_map(|condition| Some((key(condition)?, condition)))
            .collect();
        if self.asks_for_fallbacks() {
            self.fallbacks = self.fallbacks(manual);
        }
        let mut conditions = Conditions::with_room(graph.elements.len());
        for id in graph.ids() {
            let element = graph.element(id);
            let taken = ASPECTS.map(|aspect| self.taken(element, aspect, manual.of(id).is_empty()));
            let is_persistent = || {
                element.kind == ElementKind::Node
                    && graph.nodes[element.slot as usize].template.persistent
            };
            if taken != [None, None] && !is_persistent() {
                let replaced = self.type_specific(id, &taken, &index, &mut conditions.list);
                self.generic(id, &taken, replaced, &mut conditions.list);
            }
            if element.follows && taken[Aspect::Consistency as usize].is_none() {
                let container = self.evaluator.presence(Of::Container, id);
                conditions.list.push((container, Origin::Follows(id)));
            }
            conditions.close();
        }
        self.fallbacks.retain(|&id, _| {
            let in_force = |(_, origin): &(_, Origin)| {
                matches!(origin, Origin::Generic(_, _, Some(ModePart::Default), _))
            };
            conditions.of(id).iter().any(in_force)
        });
        self.selected = self.fallbacks.values().flatten().copied().collect();
        conditions
    }

    /// Whether the mode of some kind or element has the part `default`.
    fn asks_for_fallbacks(&self) -> bool {
        let own = |element: &Element<'_>| {
            let mode = element.settings?.default_condition_mode.as_ref()?;
            Some(mode.contains(&ModePart::Default))
        };
        let all = |kind: &ElementKind| self.options.mode(*kind).contains(&ModePart::Default);
        ElementKind::ALL.iter().any(all)
            || self.evaluator.graph.elements.iter().any(|element| own(element) == Some(true))
    }

    /// The fallbacks with their other alternatives: a fallback is the only one of several
    /// alternatives without manual conditions. Conditions from technology rules do not count as
    /// manual.
    fn fallbacks(&self, manual: &Conditions) -> FxHashMap<ElementId, Vec<ElementId>> {
        let graph = self.evaluator.graph;
        let mut scopes: FxHashMap<_, Vec<ElementId>> = FxHashMap::default();
        for id in graph.ids() {
            let element = graph.element(id);
            if element.kind.parts().contains(&ModePart::Default) {
                scopes.entry(scope(element)).or_default().push(id);
            }
        }
        let is_free = |&id: &ElementId| graph.element(id).by_rule || manual.of(id).is_empty();
        let fallback = |mut all: Vec<ElementId>| {
            let mut free = all.iter().copied().filter(is_free);
            let only = free.next().filter(|_| all.len() > 1 && free.next().is_none())?;
            all.retain(|&id| id != only);
            Some((only, all))
        };
        scopes.into_values().filter_map(fallback).collect()
    }

    /// Whether conditions of this aspect are generated for an element, and why.
    fn taken(&self, element: &Element<'a>, aspect: Aspect, unconditional: bool) -> Option<By> {
        let (kind, options) = (element.kind, self.options);
        let settings = element.settings;
        // The setting of an element takes precedence over options.
        let own = |wide: Option<bool>, aspects: [Option<bool>; 2]| {
            (wide, aspects[aspect as usize].or(wide))
        };
        let (wide, narrow) = settings.map_or((None, None), |s| own(s.pruning, s.pruning_aspects));
        if wide.unwrap_or(options.pruning_enabled(kind))
            && narrow.unwrap_or(options.pruning_aspect(kind, aspect))
        {
            return Some(By::Pruning);
        }
        let (wide, narrow) =
            settings.map_or((None, None), |s| own(s.default_condition, s.default_aspects));
        let enabled = wide.unwrap_or(options.default_condition_enabled(kind))
            && narrow.unwrap_or(options.default_condition_aspect(kind, aspect));
        (enabled && unconditional).then_some(By::Default)
    }

    /// Adds the type-specific condition of an element. Returns which aspects it replaces.
    fn type_specific(
        &mut self,
        id: ElementId,
        taken: &[Option<By>; 2],
        index: &TypeSpecificIndex<'_, 'a>,
        list: &mut Vec<(Formula, Origin)>,
    ) -> [bool; 2] {
        let Some(condition) = self.type_specific_of(id, index) else { return [false, false] };
        let applies = (0..2).any(|aspect| condition.aspects[aspect] && taken[aspect].is_some());
        if applies {
            let conditions = self.evaluator.graph.syntax.read(condition.conditions);
            self.add(conditions, id, |span| Origin::TypeSpecific(id, span), list);
        }
        condition.aspects
    }

    /// The condition for the element's type, or else for the nearest ancestor that has one.
    fn type_specific_of<'t>(
        &self,
        id: ElementId,
        index: &TypeSpecificIndex<'t, 'a>,
    ) -> Option<&'t TypeSpecificCondition<'a>> {
        if index.is_empty() {
            return None;
        }
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        let (typed, property) = match element.kind {
            ElementKind::Property => (element.container?, Some(element.name)),
            _ => (id, None),
        };
        let family = match graph.element(typed).kind {
            ElementKind::Node => Family::Node,
            ElementKind::Relation => Family::Relationship,
            ElementKind::Artifact => Family::Artifact,
            ElementKind::Group => Family::Group,
            ElementKind::Policy => Family::Policy,
            _ => return None,
        };
        let mut types = self.evaluator.types().chain(family, graph.only_type(typed)?);
        types.find_map(|one| index.get(&(family, one, property))).copied()
    }

    /// Adds the generic conditions of the aspects that apply and that no type-specific condition
    /// replaces.
    fn generic(
        &mut self,
        id: ElementId,
        taken: &[Option<By>; 2],
        replaced: [bool; 2],
        list: &mut Vec<(Formula, Origin)>,
    ) {
        let by = |aspect: Aspect| taken[aspect as usize].filter(|_| !replaced[aspect as usize]);
        let kind = self.evaluator.graph.element(id).kind;
        let (consistency, semantic) = (by(Aspect::Consistency), by(Aspect::Semantic));
        match kind {
            ElementKind::Import => {}
            ElementKind::Type => self.whole(id, Aspect::Consistency, consistency, list),
            ElementKind::Input | ElementKind::Policy | ElementKind::Group => {
                self.whole(id, Aspect::Semantic, semantic, list)
            }
            ElementKind::Node
            | ElementKind::Relation
            | ElementKind::Property
            | ElementKind::Artifact
            | ElementKind::Output
            | ElementKind::Technology => {
                for &part in self.mode(id) {
                    let aspect = aspect_of(kind, part);
                    // The specification's tables disagree about the aspect of outputs: either
                    // aspect enables it.
                    let by = by(aspect).or(consistency.filter(|_| part == ModePart::Produced));
                    if let (Some(by), Some(formula)) = (by, self.part(id, part)) {
                        // The condition that outputs are produced needs no name of its part.
                        let named = Some(part).filter(|&part| part != ModePart::Produced);
                        list.push((formula, Origin::Generic(id, aspect, named, by)));
                    }
                }
            }
        }
    }

    fn whole(
        &mut self,
        id: ElementId,
        aspect: Aspect,
        by: Option<By>,
        list: &mut Vec<(Formula, Origin)>,
    ) {
        if let Some(by) = by {
            let of = asked_of(self.evaluator.graph.element(id).kind, None);
            list.push((self.evaluator.presence(of, id), Origin::Generic(id, aspect, None, by)));
        }
    }

    fn mode(&self, id: ElementId) -> &'c [ModePart] {
        let (graph, options) = (self.evaluator.graph, self.options);
        let element = graph.element(id);
        let own = element.settings.and_then(|settings| settings.default_condition_mode.as_deref());
        own.unwrap_or(options.mode(element.kind))
    }

    /// The formula of a part of a mode; `None` if the variable template has no elements that the
    /// part asks for.
    fn part(&mut self, id: ElementId, part: ModePart) -> Option<Formula> {
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        match element.kind {
            _ if part == ModePart::Default => {
                let others = self.fallbacks.get(&id)?;
                Some(!self.evaluator.any(others))
            }
            ElementKind::Node => {
                let node = &graph.nodes[element.slot as usize];
                let of = node_part(part)?;
                exists(of, node, graph.hosting(node).any(|relation| relation.target.is_some()))
                    .then(|| self.evaluator.presence(of, id))
            }
            ElementKind::Technology if part == ModePart::Other => {
                let technology = &graph.technologies[element.slot as usize];
                let all = &graph.node(technology.node).technologies;
                let others: Vec<_> = all.iter().copied().filter(|&other| other != id).collect();
                Some(!self.evaluator.any(&others))
            }
            // The requirements of a technology rule apply in every mode.
            ElementKind::Technology if part == ModePart::Scenario => None,
            ElementKind::Property if part == ModePart::Consuming => {
                let consumed = &graph.properties[element.slot as usize].consumed;
                (!consumed.is_empty()).then(|| self.evaluator.any(consumed))
            }
            kind => Some(self.evaluator.presence(asked_of(kind, Some(part)), id)),
        }
    }
}

fn aspect_of(kind: ElementKind, part: ModePart) -> Aspect {
    match (kind, part) {
        (ElementKind::Node, _)
        | (_, ModePart::Managed | ModePart::Scenario | ModePart::Produced) => Aspect::Semantic,
        _ => Aspect::Consistency,
    }
}

/// What a generic condition asks for: the part of a mode, or the whole condition of kinds whose
/// modes have no parts. Alternatives and what is consumed have no question of their own.
pub(crate) fn asked_of(kind: ElementKind, part: Option<ModePart>) -> Of {
    match (kind, part) {
        (ElementKind::Node, Some(part)) => node_part(part).unwrap_or(Of::Itself),
        (_, Some(ModePart::Source)) => Of::Source,
        (_, Some(ModePart::Target)) => Of::Target,
        (_, Some(ModePart::Managed)) => Of::Managed,
        (_, Some(ModePart::Produced)) | (ElementKind::Output, _) => Of::Producers,
        (ElementKind::Input, _) => Of::Consumers,
        (ElementKind::Policy, _) => Of::Targets,
        (ElementKind::Group, _) => Of::Members,
        _ => Of::Container,
    }
}

fn node_part(part: ModePart) -> Option<Of> {
    Some(match part {
        ModePart::Source => Of::Sources,
        ModePart::Incoming => Of::Incoming,
        ModePart::IncomingNaive => Of::IncomingNaive,
        ModePart::Outgoing => Of::Outgoing,
        ModePart::OutgoingNaive => Of::OutgoingNaive,
        ModePart::Host => Of::Hosts,
        ModePart::Artifact => Of::Artifacts,
        ModePart::ArtifactNaive => Of::ArtifactsNaive,
        ModePart::Target
        | ModePart::Container
        | ModePart::Consuming
        | ModePart::Managed
        | ModePart::Other
        | ModePart::Scenario
        | ModePart::Produced
        | ModePart::Default => {
            return None;
        }
    })
}

/// Whether the variable template has any element that the part asks for.
fn exists(of: Of, node: &NodeElement<'_>, hosted: bool) -> bool {
    match of {
        Of::Sources | Of::Incoming | Of::IncomingNaive => !node.incoming.is_empty(),
        Of::Outgoing | Of::OutgoingNaive => !node.relations.is_empty(),
        Of::Artifacts | Of::ArtifactsNaive => !node.artifacts.is_empty(),
        _ => hosted,
    }
}
