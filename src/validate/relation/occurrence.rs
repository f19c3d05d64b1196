//! Checks how often requirements are assigned (section 3.7.3.3) and capabilities are used (section
//! 3.7.2.1).
//!
//! An upper bound `m` is violated if more than `m` relations are present together. There are too
//! many sets of `m + 1` relations to examine them all. So each conditional relation is examined
//! together with the unconditional ones, and with one more conditional relation if that exceeds the
//! bound. In a single variant, all present relations count.

use super::super::checker::Checker;
use super::{AssignmentCase, bounds, own_count};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::fit::NamedCapability;
use crate::tosca::requirement::{AssignedCount, times};
use crate::tosca::substitution::{MappingTarget, substitution};
use crate::tosca::{Family, Occurrences, RequirementDefinition, TypeId, v2_0};
use crate::variability::graph::{ElementId, NodeElement, RelationElement, RelationId};
use crate::variability::options::Check;
use rustc_hash::{FxHashMap, FxHashSet};

/// With how many preceding relations each relation is paired. Real templates have fewer
/// alternatives, and all pairs of more would be too many.
const PARTNERS: usize = 64;

/// A relation, and the number of relations that it counts for.
#[derive(Clone, Copy)]
struct AssignedRelation {
    id: ElementId,
    count: AssignedCount,
    /// Whether the assignment states that number.
    says_count: bool,
}

impl<'c, 'a> Checker<'c, 'a> {
    pub(super) fn relation_counts(&self) {
        let mapped = self.mapped_requirements();
        for node in self.graph.nodes.iter().filter(|node| self.counts(node.id)) {
            let by_name = self.assignments(node);
            for (kind, of_type) in self.types_of(node.id, Family::Node) {
                let when = [&[node.id], &*of_type].concat();
                for (name, part) in self.types.effective(kind).requirements.iter() {
                    let assigned = by_name.get(name).map(Vec::as_slice).unwrap_or_default();
                    if !mapped.contains(&(self.graph.element(node.id).name, *name)) {
                        match self.none_wanted(node, name).filter(|_| assigned.is_empty()) {
                            Some(none) => self.assigns_none(node, &part.definition, none, &when),
                            None => {
                                self.missing_requirement(node, &part.definition, assigned, &when);
                            }
                        }
                    }
                    self.few_assignments(node, &part.definition, assigned, &when);
                    self.surplus_assignments(&part.definition, assigned, &when);
                }
                for (name, part) in self.types.effective(kind).capabilities.iter() {
                    let refined = self.assigned_uses(node, name);
                    if let Some(max) = refined
                        .or(part.definition.occurrences.and_then(|occurrences| occurrences.max))
                    {
                        self.surplus_uses(node, name, max, &when);
                    }
                }
            }
        }
    }

    /// The assignments of a node, by name, without those that count for no relation.
    fn assignments(&self, node: &NodeElement<'a>) -> FxHashMap<&'a str, Vec<AssignedRelation>> {
        let mut by_name: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for relation in node.relations.iter().map(|&id| self.graph.relation(id)) {
            let value = relation.requirement.declared.value();
            let count = AssignedCount::read(value);
            if count.max != Some(0) {
                let says_count = own_count(value).is_some();
                by_name
                    .entry(self.graph.element(relation.id).name)
                    .or_default()
                    .push(AssignedRelation { id: relation.id, count, says_count });
            }
        }
        by_name
    }

    /// An assignment of TOSCA 2.0 that counts for no relation.
    fn none_wanted(&self, node: &NodeElement<'a>, name: &str) -> Option<ElementId> {
        let mut relations = node.relations.iter().map(|&id| self.graph.relation(id));
        let none = relations.find(|relation| {
            let body = relation.requirement.declared.value();
            self.graph.element(relation.id).name == name
                && v2_0::is_of(body.document())
                && AssignedCount::read(body).max == Some(0)
        });
        none.map(|relation| relation.id).filter(|id| self.counts(*id))
    }

    /// Reports a mandatory requirement of which no relation is wanted (TOSCA 2.0, section 8.7.4).
    fn assigns_none(
        &self,
        node: &NodeElement<'a>,
        definition: &RequirementDefinition<'c>,
        none: ElementId,
        when: &[ElementId],
    ) {
        if bounds(definition).0 > 0 {
            let error = self.too_few(node, definition, (0, &[]), none);
            self.report_when(&[when, &[none]].concat(), &[], error);
        }
    }

    /// The requirements that users of a substituted node fulfil (section 3.8.12), as pairs of a
    /// node and one of its requirements.
    fn mapped_requirements(&self) -> FxHashSet<(&'a str, &'a str)> {
        let topology = self.graph.template.root.get("topology_template");
        let mappings = topology.and_then(|topology| topology.get("substitution_mappings"));
        // Errors in the shape of the mapping are reported with the mapping.
        let substitution = mappings.map(|node| substitution(node, &mut Diagnostics::default()));
        let mapped = substitution.iter().flat_map(|mapped| &mapped.requirements);
        let targets = mapped.flat_map(|mapping| &mapping.targets).filter_map(MappingTarget::pair);
        targets
            .filter_map(|[node, requirement]| Some((node.text()?, requirement.text()?)))
            .collect()
    }

    /// Reports a mandatory requirement without an assignment, which is left to an orchestrator. A
    /// node that is selected or substituted brings its own relations.
    fn missing_requirement(
        &self,
        node: &NodeElement<'a>,
        definition: &RequirementDefinition<'c>,
        assigned: &[AssignedRelation],
        when: &[ElementId],
    ) {
        let (min, _, at) = bounds(definition);
        let body = node.template.declared.value();
        let elsewhere =
            ["directives", "copy"].into_iter().any(|keyname| body.get(keyname).is_some());
        if elsewhere || min == 0 {
            return;
        }
        let (display, name) = (self.graph.display(node.id), definition.named.name);
        let message = format!("{display} does not assign the requirement `{name}`");
        let warning = Diagnostic::warning(Code::MissingRequirement, message)
            .at(self.graph.element(node.id).span);
        let warning =
            warning.section("3.7.3.3").label(at.span(), "how often it occurs is defined here");
        let help = format!(
            "write `{name}` under `requirements`, or else an orchestrator has to find a target"
        );
        let unless: Vec<_> = assigned.iter().map(|relation| relation.id).collect();
        self.report_when(when, &unless, warning.help(help));
    }

    /// Checks that a requirement that is assigned at all is assigned often enough. Sets of
    /// conditional assignments that are absent together are not examined, because there are too
    /// many.
    fn few_assignments(
        &self,
        node: &NodeElement<'a>,
        definition: &RequirementDefinition<'c>,
        assigned: &[AssignedRelation],
        when: &[ElementId],
    ) {
        let (min, _, _) = bounds(definition);
        let counting: Vec<_> = assigned.iter().filter(|it| self.counts(it.id)).copied().collect();
        let total = |relations: &[AssignedRelation]| {
            relations.iter().fold(0, |sum: u64, relation| sum.saturating_add(relation.count.min))
        };
        let (Some(first), false) =
            (counting.first(), node.template.declared.value().get("copy").is_some())
        else {
            return;
        };
        // A single assignment that states its own number is checked elsewhere.
        let is_open = counting.iter().any(|relation| !relation.count.is_known);
        if min == 0 || is_open || counting.len() == 1 && first.says_count {
            return;
        }
        let all = total(&counting);
        if all < min {
            let error = self.too_few(node, definition, (all, &counting), first.id);
            return self.report_when(&[when, &[first.id]].concat(), &[], error);
        }
        if self.presence.is_some() {
            return;
        }
        let (optional, mandatory): (Vec<_>, Vec<_>) =
            counting.iter().copied().partition(|relation| relation.count.min == 0);
        if min == 1 {
            let unless: Vec<_> = mandatory.iter().map(|relation| relation.id).collect();
            for relation in optional {
                let error = self.too_few(node, definition, (0, &[relation]), relation.id);
                self.report_when(&[when, &[relation.id]].concat(), &unless, error);
            }
            return;
        }
        let doubtful = mandatory.iter().filter(|relation| !self.is_unconditional(relation.id));
        for missing in doubtful.filter(|missing| all - missing.count.min < min) {
            let others: Vec<_> =
                counting.iter().copied().filter(|relation| relation.id != missing.id).collect();
            if let Some(other) = others.first() {
                let left = (total(&others), &*others);
                let error = self.too_few(node, definition, left, other.id);
                self.report_when(&[when, &[other.id]].concat(), &[missing.id], error);
            }
        }
    }

    fn too_few(
        &self,
        node: &NodeElement<'a>,
        definition: &RequirementDefinition<'c>,
        (count, assigned): (u64, &[AssignedRelation]),
        at: ElementId,
    ) -> Diagnostic {
        let (min, _, defined) = bounds(definition);
        let (display, name) = (self.graph.display(node.id), definition.named.name);
        let is_optional =
            assigned.iter().any(|it| it.count.max.is_none_or(|max| max > it.count.min));
        let certain = if is_optional { " for certain" } else { "" };
        let (assigned, needed) = (times(count), times(min));
        let message = format!(
            "{display} assigns the requirement `{name}` {assigned}{certain}, and it occurs {needed} at least"
        );
        Diagnostic::error(Code::IncompatibleRequirement, message)
            .at(self.graph.element(at).span)
            .section("3.7.3.3")
            .label(defined.span(), "how often it occurs is defined here")
    }

    fn surplus_assignments(
        &self,
        definition: &RequirementDefinition<'c>,
        assigned: &[AssignedRelation],
        when: &[ElementId],
    ) {
        let (_, Some(max), at) = bounds(definition) else { return };
        // If ambiguous relations are rejected, no variant has two relations of one name.
        let checked = self.prepared.options.check(Check::AmbiguousRelation)
            && !self.graph.template.is_plain();
        let is_single = assigned.iter().all(|relation| relation.count.max == Some(1));
        if self.presence.is_none() && max > 0 && checked && is_single {
            return;
        }
        // An assignment that exceeds the bound on its own is reported elsewhere.
        let copies = |relation: &AssignedRelation| match relation.count.max {
            _ if !relation.count.is_known => 0,
            Some(count) if count <= max || !relation.says_count => count,
            _ => 1,
        };
        let counted =
            assigned.iter().flat_map(|relation| (0..copies(relation)).map(|_| relation.id));
        let counted: Vec<_> = counted.collect();
        self.surplus(&counted, max, when, |id| {
            let name = definition.named.name;
            let message = format!(
                "the requirement `{name}` occurs {} at most, and is assigned more often",
                times(max)
            );
            let error =
                Diagnostic::error(Code::TooManyRelations, message).at(self.graph.element(id).span);
            let error =
                error.section("3.7.3.3").label(at.span(), "how often it occurs is defined here");
            error.help("leave an assignment out, or raise the upper bound of `occurrences`")
        });
    }

    /// The upper bound that a node template assigns to one of its capabilities (section 3.8.1.1).
    fn assigned_uses(&self, node: &NodeElement<'a>, name: &str) -> Option<u64> {
        let capabilities = node.template.declared.value().get("capabilities")?;
        Occurrences::read(v2_0::renamed(capabilities.get(name)?, "occurrences")?)?.max
    }

    fn surplus_uses(&self, node: &NodeElement<'a>, name: &str, max: u64, when: &[ElementId]) {
        let uses = node.incoming.iter().filter(|&&relation| self.uses(relation, node, name));
        let uses: Vec<_> = uses.map(|&relation| self.graph.relation(relation).id).collect();
        self.surplus(&uses, max, when, |id| {
            let display = self.graph.display(node.id);
            let message =
                format!("the capability `{name}` of {display} can be used {} at most", times(max));
            let error = Diagnostic::error(Code::TooManyRelations, message).section("3.7.2.1");
            let relation = &self.graph.relations[self.graph.element(id).slot as usize].requirement;
            let error = error.at(relation.target_span());
            error.help("name another target, or raise the upper bound of `occurrences`")
        });
    }

    /// Whether a relation leads to this capability and to no other, for all types of its source and
    /// target.
    pub(super) fn uses(&self, relation: RelationId, node: &NodeElement<'a>, name: &str) -> bool {
        self.counts(self.graph.relation(relation).id)
            && self.leads_to(relation, node, name) == Some(true)
    }

    /// Whether a relation leads to this capability of its target; `None` where it may lead to
    /// another one, too.
    pub(in crate::validate) fn leads_to(
        &self,
        relation: RelationId,
        node: &NodeElement<'a>,
        name: &str,
    ) -> Option<bool> {
        let relation = self.graph.relation(relation);
        let kinds = self.types_of(node.id, Family::Node);
        let mut leads = Vec::new();
        for (source, _) in self.types_of(self.graph.node(relation.source).id, Family::Node) {
            for (kind, _) in &kinds {
                let found = self.reachable(relation, source, *kind)?;
                let fits = found.iter().any(|(fitting, _)| *fitting == name);
                leads.push((found.len() == 1 || !fits).then_some(fits)?);
            }
        }
        let is_some = leads.contains(&true);
        (!is_some || !leads.contains(&false)).then_some(is_some)
    }

    /// The capabilities that a relation may lead to from a node of one type to one of another.
    pub(in crate::validate) fn reachable(
        &self,
        relation: &RelationElement<'a>,
        source: TypeId,
        target: TypeId,
    ) -> Option<Vec<NamedCapability<'c>>> {
        let requirement = self.graph.element(relation.id).name;
        let case = AssignmentCase {
            relation,
            definition: self.requirement_definition(source, requirement)?,
            node: self.graph.node(relation.source).id,
            source,
            when: Vec::new(),
            relationships: Vec::new(),
            names_relationship: false,
            node_type: None,
        };
        Some(self.fitting(&case, target).unwrap_or_default())
    }

    /// Reports each of these relations that exceeds the bound `max`.
    pub(in crate::validate) fn surplus(
        &self,
        relations: &[ElementId],
        max: u64,
        when: &[ElementId],
        wrong: impl Fn(ElementId) -> Diagnostic,
    ) {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        let is_certain = |id: &ElementId| self.presence.is_some() || self.is_unconditional(*id);
        let (certain, doubtful): (Vec<_>, Vec<_>) = self.counting(relations).partition(is_certain);
        let (within, beyond) = certain.split_at(max.min(certain.len()));
        for (position, id) in doubtful.iter().enumerate() {
            let others = match max - within.len() {
                0 => &[],
                1 => &doubtful[position.saturating_sub(PARTNERS)..position],
                _ => return,
            };
            for other in others {
                self.report_when(&[when, within, &[*other, *id]].concat(), &[], wrong(*id));
            }
            if others.is_empty() && within.len() == max {
                self.report_when(&[when, within, &[*id]].concat(), &[], wrong(*id));
            }
        }
        for id in beyond {
            self.report_when(&[when, within, &[*id]].concat(), &[], wrong(*id));
        }
    }

    pub(in crate::validate) fn is_unconditional(&self, id: ElementId) -> bool {
        self.graph.element(id).conditions.is_none()
    }
}
