//! How often requirements are assigned (section 3.7.3.3) and capabilities used (section 3.7.2.1).
//!
//! An upper bound `m` is broken where more than `m` relations are present together. Which `m + 1`
//! of them that could be are too many sets to ask for; so a relation that has conditions is asked
//! for together with those that have none, and with one more where that fills the bound. In one
//! variant all that are present count.

use super::super::checker::Checker;
use super::{AssignmentCase, bounds};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::substitution::{SubstitutionMapping, substitution};
use crate::tosca::{Family, Occurrences, RequirementDefinition};
use crate::variability::graph::{ElementId, NodeElement, RelationElement, RelationId};
use crate::variability::options::Check;
use rustc_hash::{FxHashMap, FxHashSet};

/// With how many relations before it one is asked for: so many alternatives are nobody's, and all
/// pairs of more would be too many.
const PARTNERS: usize = 64;

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
                        self.missing_requirement(node, &part.definition, assigned, &when);
                    }
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

    /// The assignments of a node, by name.
    fn assignments<'k>(
        &'k self,
        node: &NodeElement<'a>,
    ) -> FxHashMap<&'a str, Vec<&'k RelationElement<'a>>> {
        let mut by_name: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for relation in node.relations.iter().map(|&id| self.graph.relation(id)) {
            by_name.entry(self.graph.element(relation.id).name).or_default().push(relation);
        }
        by_name
    }

    /// What the users of a substituted node fulfil (section 3.8.12): a node and one of its
    /// requirements.
    fn mapped_requirements(&self) -> FxHashSet<(&'a str, &'a str)> {
        let topology = self.graph.template.root.get("topology_template");
        let mappings = topology.and_then(|topology| topology.get("substitution_mappings"));
        // What is wrong with its shape is reported with it.
        let substitution = mappings.map(|node| substitution(node, &mut Diagnostics::default()));
        let pair = |mapping: &SubstitutionMapping<'a>| match mapping.path[..] {
            [node, requirement] => Some((node.text()?, requirement.text()?)),
            _ => None,
        };
        substitution.iter().flat_map(|mapped| &mapped.requirements).filter_map(pair).collect()
    }

    /// A requirement that is nowhere assigned is left to an orchestrator; a node that is to be
    /// found or substituted comes with its own.
    fn missing_requirement(
        &self,
        node: &NodeElement<'a>,
        definition: &RequirementDefinition<'c>,
        assigned: &[&RelationElement<'a>],
        when: &[ElementId],
    ) {
        let (min, _, at) = bounds(definition);
        let body = node.template.declared.value;
        let elsewhere =
            ["directives", "copy"].into_iter().any(|keyname| body.get(keyname).is_some());
        let optional = |relation: &&RelationElement<'_>| {
            let own =
                relation.requirement.declared.value.get("occurrences").and_then(Occurrences::read);
            own.is_some_and(|own| own.max == Some(0))
        };
        let unless: Vec<_> = assigned
            .iter()
            .filter(|relation| !optional(relation))
            .map(|relation| relation.id)
            .collect();
        let few = (unless.len() as u64) < min;
        if elsewhere || min == 0 || !(few || min == 1) {
            return;
        }
        let (display, name) = (self.graph.display(node.id), definition.named.name);
        let message = match unless.len() {
            _ if min == 1 => format!("{display} does not assign the requirement `{name}`"),
            count => {
                let (assigned, needed) = (times(count as u64), times(min));
                format!(
                    "{display} assigns the requirement `{name}` {assigned}, and it occurs {needed} at least"
                )
            }
        };
        let warning = Diagnostic::warning(Code::MissingRequirement, message)
            .at(self.graph.element(node.id).span);
        let warning =
            warning.section("3.7.3.3").label(at.span(), "how often it occurs is defined here");
        let help = format!(
            "write `{name}` under `requirements`, or else an orchestrator has to find a target"
        );
        self.report_when(when, if min == 1 { &unless } else { &[] }, warning.help(help));
    }

    fn surplus_assignments(
        &self,
        definition: &RequirementDefinition<'c>,
        assigned: &[&RelationElement<'a>],
        when: &[ElementId],
    ) {
        let (_, Some(max), at) = bounds(definition) else { return };
        // Where that is checked, no variant has two of one name.
        let checked = self.prepared.options.check(Check::AmbiguousRelation)
            && !self.graph.template.is_plain();
        if self.presence.is_none() && max > 0 && checked {
            return;
        }
        let optional = |relation: &&RelationElement<'_>| {
            let own =
                relation.requirement.declared.value.get("occurrences").and_then(Occurrences::read);
            own.is_some_and(|own| own.min == 0)
        };
        let counted: Vec<_> = assigned
            .iter()
            .filter(|relation| !optional(relation))
            .map(|relation| relation.id)
            .collect();
        self.surplus(&counted, max, when, |id| {
            let name = definition.named.name;
            let message = format!(
                "the requirement `{name}` occurs {} at most, and is assigned more often",
                times(max)
            );
            let error =
                Diagnostic::error(Code::TooManyRelations, message).at(self.graph.element(id).span);
            error.section("3.7.3.3").label(at.span(), "how often it occurs is defined here")
        });
    }

    /// The upper bound that a node template gives one of its capabilities (section 3.8.1.1).
    fn assigned_uses(&self, node: &NodeElement<'a>, name: &str) -> Option<u64> {
        let capabilities = node.template.declared.value.get("capabilities")?;
        Occurrences::read(capabilities.get(name)?.get("occurrences")?)?.max
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
            error.at(relation.target.unwrap_or(relation.declared.key).span())
        });
    }

    /// Whether a relation leads to this capability and to no other, whatever the types of its ends.
    fn uses(&self, relation: RelationId, node: &NodeElement<'a>, name: &str) -> bool {
        let relation = self.graph.relation(relation);
        let requirement = self.graph.element(relation.id).name;
        let source = self.graph.node(relation.source).id;
        let kinds = self.types_of(node.id, Family::Node);
        self.counts(relation.id)
            && self.types_of(source, Family::Node).into_iter().all(|(source, _)| {
                let Some(definition) = self.requirement_definition(source, requirement) else {
                    return false;
                };
                let (when, relationships, node_type) = (Vec::new(), Vec::new(), None);
                let case = AssignmentCase {
                    relation,
                    definition,
                    source,
                    when,
                    relationships,
                    names_relationship: false,
                    node_type,
                };
                kinds.iter().all(|(kind, _)| {
                    let found = self.fitting(&case, *kind).unwrap_or_default();
                    matches!(&*found, [(only, _)] if *only == name)
                })
            })
    }

    /// Reports each of these relations with which there are more than `max`.
    fn surplus(
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

    fn is_unconditional(&self, id: ElementId) -> bool {
        self.graph.element(id).conditions.is_none()
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
