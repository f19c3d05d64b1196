//! Refuses nodes to be substituted that have too few or too many relations. Once they are
//! substituted nobody sees that: their types and relations are gone.

use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::orchestrate::fulfil::{
    Allocations, assigned_count, capability_bound, capability_uses, fitting, in_base, is_more,
};
use crate::topology::{Topology, TopologyNode, TopologyRelation, type_named};
use crate::tosca::mapping::CountBounds;
use crate::tosca::requirement::{AssignedCount, bounds, times};
use crate::tosca::{Directive, Family, RequirementDefinition, TypeId, Types};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;

/// Checks the requirements of nodes to be substituted, and capabilities at either end of their
/// relations.
///
/// # Errors
/// `too-many-relations`, `incompatible-requirement`, and `unfulfilled-requirement` where more of a
/// capability is allocated than there is.
pub(super) fn keep_bounds(
    topology: &Topology,
    types: &Types<'_>,
    is_2_0: bool,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    // In TOSCA 2.0 functions may say how often requirements are assigned, which may be known by now.
    let is_kept = |node: &&TopologyNode| (is_2_0 || is_substituted(node)) && node.copy.is_none();
    for node in topology.nodes.iter().filter(is_kept) {
        let Some(kind) = kind_of(types, node) else { continue };
        let mut assigned: FxHashMap<&str, Vec<&TopologyRelation>> = FxHashMap::default();
        let relations = node.relations.iter().map(|&id| topology.relation(id));
        for relation in relations.filter(|relation| assigned_count(relation).max != Some(0)) {
            assigned.entry(&relation.name).or_default().push(relation);
        }
        for (name, part) in types.effective(kind).requirements.iter() {
            if let Some(assigned) = assigned.get(*name) {
                errors.0.extend(wrongly_often(node, &part.definition, assigned));
            }
        }
    }
    errors.0.extend(overused(topology, types));
    errors.0.extend(overallocated(topology, types));
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// The error that a requirement is assigned too often or not often enough.
fn wrongly_often(
    node: &TopologyNode,
    definition: &RequirementDefinition<'_>,
    assigned: &[&TopologyRelation],
) -> Option<Diagnostic> {
    let CountBounds { min: least, max } = bounds(definition);
    let (name, most) = (definition.named.name, max.unwrap_or(u64::MAX));
    let mut all = 0_u64;
    let beyond = assigned.iter().find(|relation| {
        let AssignedCount { min, max, is_known } = assigned_count(relation);
        all = all.saturating_add(if is_known { max.unwrap_or(min.max(1)) } else { 0 });
        all > most
    });
    let is_known = assigned.iter().all(|relation| assigned_count(relation).is_known);
    let certain = assigned.iter().map(|relation| assigned_count(relation).min);
    let certain = certain.fold(0, u64::saturating_add);
    let (code, message, at) = if let Some(relation) = beyond {
        let most = times(most);
        let message =
            format!("the requirement `{name}` occurs {most} at most, and is assigned more often");
        (Code::TooManyRelations, message, relation.span)
    } else if is_known && certain < least {
        let (node, certain, least) = (&node.name, times(certain), times(least));
        let message = format!(
            "node \"{node}\" assigns the requirement `{name}` {certain} for certain, and it occurs {least} at least"
        );
        (Code::IncompatibleRequirement, message, assigned.first()?.span)
    } else {
        return None;
    };
    let defined = definition.occurrences.map_or(definition.named.key, |said| said.node).span();
    let error = Diagnostic::error(code, message).at(at).section("3.7.3.3");
    Some(error.label(defined, "how often it occurs is defined here"))
}

/// The errors that a capability is used more often than it can be, by or through a node to be
/// substituted.
fn overused(topology: &Topology, types: &Types<'_>) -> Vec<Diagnostic> {
    let mut uses: FxHashMap<_, u64> = FxHashMap::default();
    let mut errors = Vec::new();
    for relation in &topology.relations {
        let Some(id) = relation.target else { continue };
        let (source, target) = (topology.node(relation.source), topology.node(id));
        let kinds = (kind_of(types, source), kind_of(types, target));
        let (Some(source_kind), Some(kind)) = kinds else { continue };
        let Some(&name) = fitting(types, relation, source_kind, kind).first() else { continue };
        let Some(part) = types.effective(kind).capabilities.get(name) else { continue };
        let own = target.capabilities.iter().find(|own| own.name == name);
        let Some(bound) = capability_bound(own, &part.definition) else { continue };
        let used = uses.entry((id, name)).or_default();
        *used = used.saturating_add(assigned_count(relation).min.max(1));
        if *used > bound && (is_substituted(source) || is_substituted(target)) {
            let defined = own.map_or(part.named.key.span(), |own| own.span);
            errors.push(used_too_often(name, &target.name, bound, relation.span, defined));
        }
    }
    errors
}

/// The errors that relations together allocate more of a capability than there is (TOSCA 2.0,
/// section 8.7.5). Optional ones may give way.
fn overallocated(topology: &Topology, types: &Types<'_>) -> Vec<Diagnostic> {
    let mut allocating =
        topology.relations.iter().filter(|it| !it.allocation.is_empty()).peekable();
    if allocating.peek().is_none() {
        return Vec::new();
    }
    let uses = capability_uses(topology, types);
    let allocations = Allocations::of(topology, types, &uses);
    let lacks = |relation: &TopologyRelation| {
        let (source, id) = (topology.node(relation.source), relation.target?);
        let (target, kind) = (topology.node(id), kind_of(types, topology.node(id))?);
        let capability = *fitting(types, relation, kind_of(types, source)?, kind).first()?;
        let is_last = || {
            let mut all = uses.allocating(id, capability).iter().map(|&id| topology.relation(id));
            // The last one tells it for all, so that they are looked through once.
            all.next_back().is_some_and(|last| std::ptr::eq(last, relation))
                && all.chain([relation]).all(|relation| assigned_count(relation).min > 0)
        };
        if !is_last() {
            return None;
        }
        let mut properties = relation.allocation.iter().map(|one| &*one.name);
        let lacking = properties.find(|property| {
            let left = allocations.left(id, capability, property);
            let left = left.and_then(|it| in_base(types, kind, (capability, property), &it));
            left.is_some_and(|left| is_more(&Value::from(0), &left))
        })?;
        let message = format!(
            "the requirement `{}` of `{}` is not fulfilled: more of `{lacking}` is allocated of the capability `{capability}` of `{}` than there is",
            relation.name, source.name, target.name
        );
        let error = Diagnostic::error(Code::UnfulfilledRequirement, message).at(relation.span);
        Some(error.rule(Rule::new(&TOSCA_2_0, "8.7.5")).help("allocate less, or raise its value"))
    };
    allocating.filter_map(lacks).collect()
}

/// The error that a capability is used more often than it can be.
pub(super) fn used_too_often(
    capability: &str,
    node: &str,
    bound: u64,
    at: Span,
    defined: Span,
) -> Diagnostic {
    let most = times(bound);
    let message =
        format!("the capability `{capability}` of node \"{node}\" can be used {most} at most");
    let error = Diagnostic::error(Code::TooManyRelations, message).at(at).section("3.7.2.1");
    error.label(defined, "the capability is here")
}

fn is_substituted(node: &TopologyNode) -> bool {
    node.directive() == Directive::Substitute
}

fn kind_of(types: &Types<'_>, node: &TopologyNode) -> Option<TypeId> {
    type_named(types, Family::Node, node.described.type_name.as_ref()?)
}
