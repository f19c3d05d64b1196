//! Checks mappings of requirements (section 3.8.11) by the rules in [`crate::tosca::mapping`], and
//! reports what is wrong for any node that may be substituted.

use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::mapping::{
    MappedRequirement, MappingProblem, OpenSlots, RequirementMappings, SlotCounts,
};
use crate::tosca::requirement::{AssignedCount, bounds, times};
use crate::tosca::substitution::{MappingTarget, Substitution, SubstitutionMapping};
use crate::tosca::{Directive, EffectiveType, Family, RequirementDefinition, TypeId};
use crate::variability::graph::{ElementId, NodeElement, RelationElement, Target};
use cuvee_text::yaml::Node;

const SECTION: &str = "3.8.11.1";

/// The target of a requirement mapping.
struct MappedOnto<'k, 'a> {
    node: &'k NodeElement<'a>,
    /// The name of the requirement of the node; `None` if the node itself is the target.
    requirement: Option<Node<'a>>,
}

/// The mappings of one requirement, with their targets.
struct NamedMappings<'m, 'k, 'c, 'a> {
    outer: &'c RequirementDefinition<'c>,
    kind: TypeId,
    written: Vec<&'m SubstitutionMapping<'a>>,
    onto: Vec<MappedOnto<'k, 'a>>,
    rules: RequirementMappings,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks all mappings of requirements.
    pub(super) fn requirement_mappings(
        &self,
        substitution: &Substitution<'a>,
        kind: TypeId,
        effective: &'c EffectiveType<'c>,
    ) {
        let mut names: Vec<&str> = Vec::new();
        for mapping in &substitution.requirements {
            let name = mapping.named.name;
            let Some(outer) = effective.requirements.get(name) else {
                let known = effective.requirements.keys().copied();
                let at = mapping.named.key.items().next().unwrap_or(mapping.named.key);
                self.lacks(&[], (kind, "requirement"), at, known, SECTION);
                continue;
            };
            for onto in mapping.targets.iter().flat_map(|target| self.mapped_onto(target, true)) {
                self.mapped_capabilities(&outer.definition, &onto);
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let same = substitution.requirements.iter().filter(|it| it.named.name == name);
            if let Some(outer) = effective.requirements.get(name) {
                let mapped = self.mapped_requirement(&outer.definition, kind, same.collect());
                self.mapping_problems(&mapped);
            }
        }
    }

    /// The targets of a mapping: a requirement of a node, or else selected nodes. With `says`,
    /// names without such a target are reported.
    fn mapped_onto(&self, target: &MappingTarget<'a>, says: bool) -> Vec<MappedOnto<'c, 'a>> {
        let node = |name: Node<'a>| match self.target(name) {
            Some(Target::Node(node)) => Some(self.graph.node(node)),
            _ => None,
        };
        let is_selected = |name: &Node<'a>| {
            node(*name).is_some_and(|node| self.has_directive(node, Directive::Select))
        };
        let has = |kind: TypeId, name: Node<'a>| {
            let requirements = &self.types.effective(kind).requirements;
            name.text().is_some_and(|name| requirements.contains_key(name))
        };
        if let Some([name, requirement]) = target.pair() {
            let found = node(name);
            let kinds = |node: &NodeElement<'a>| self.types_of(node.id, Family::Node);
            let is_pair = |node| kinds(node).iter().any(|(kind, _)| has(*kind, requirement));
            if found.is_some_and(is_pair) || !target.path.iter().all(is_selected) {
                let found = found.or_else(|| says.then(|| self.mapped_node(name, SECTION))?);
                let Some(node) = found else { return Vec::new() };
                if says {
                    self.requirement_exists(node, requirement, SECTION);
                }
                return vec![MappedOnto { node, requirement: Some(requirement) }];
            }
        }
        let mut onto = Vec::new();
        for name in &target.path {
            let found = node(*name).or_else(|| says.then(|| self.mapped_node(*name, SECTION))?);
            let Some(node) = found else { continue };
            if says && !self.has_directive(node, Directive::Select) {
                let text = name.text().unwrap_or_default();
                let message =
                    format!("the node `{text}` is not selected, so it cannot be a target itself");
                let error = Diagnostic::error(Code::InvalidMapping, message).at(name.span());
                let help = format!(
                    "name one of its requirements, such as `[{text}, host]`, or give it the directive `select`"
                );
                self.report(node.id, error.section(SECTION).help(help));
            }
            onto.push(MappedOnto { node, requirement: None });
        }
        onto
    }

    /// Checks that a capability for the outer requirement may fit the inner one: either of the two
    /// types may derive from the other, because a fulfilling capability may be of the narrower
    /// type.
    fn mapped_capabilities(&self, outer: &RequirementDefinition<'c>, onto: &MappedOnto<'_, 'a>) {
        let Some(name) = onto.requirement else { return };
        let Some(given) = self.defined(Family::Capability, outer.capability) else { return };
        for entity in self.node_subject(onto.node).entities {
            let requirements = &self.types.effective(entity.kind).requirements;
            let inner = requirements.get(name.text().unwrap_or_default());
            let wanted = inner
                .and_then(|inner| self.defined(Family::Capability, inner.definition.capability));
            let fits = |wanted: &TypeId| {
                self.may_derive(*wanted, given) || self.may_derive(given, *wanted)
            };
            if let Some(wanted) = wanted.filter(|wanted| !fits(wanted)) {
                self.unlike(name, [wanted, given], "requirement", &entity.when, SECTION);
            }
        }
    }

    fn mapped_requirement<'m>(
        &self,
        outer: &'c RequirementDefinition<'c>,
        kind: TypeId,
        written: Vec<&'m SubstitutionMapping<'a>>,
    ) -> NamedMappings<'m, 'c, 'c, 'a> {
        let rules =
            RequirementMappings { bounds: bounds(outer), mappings: Vec::new(), open: Vec::new() };
        let mut mapped =
            NamedMappings { outer, kind, written: Vec::new(), onto: Vec::new(), rules };
        for mapping in written {
            let onto = mapping.targets.iter().flat_map(|target| self.mapped_onto(target, false));
            let targets: Vec<_> = onto
                .filter(|onto| self.counts(onto.node.id))
                .filter_map(|onto| self.position(&mut mapped, onto))
                .collect();
            // A mapping without an existing target does not count as an entry.
            if !targets.is_empty() {
                mapped.written.push(mapping);
                mapped.rules.mappings.push(MappedRequirement { share: mapping.share, targets });
            }
        }
        mapped
    }

    /// The position of a target among all targets; a new target is added if its type is known.
    fn position<'m>(
        &self,
        mapped: &mut NamedMappings<'m, 'c, 'c, 'a>,
        onto: MappedOnto<'c, 'a>,
    ) -> Option<usize> {
        let name = |onto: &MappedOnto<'_, 'a>| onto.requirement.and_then(Node::text);
        let is_same = |known: &MappedOnto<'_, 'a>| {
            known.node.id == onto.node.id && name(known) == name(&onto)
        };
        if let Some(known) = mapped.onto.iter().position(is_same) {
            return Some(known);
        }
        let open = match onto.requirement {
            // A selected node is a single target.
            None => OpenSlots { mandatory: 0, takes: 1 },
            Some(requirement) => {
                let assigned = self.fulfilling(&onto, self.presence.is_none());
                self.open_slots(onto.node, requirement, &assigned)?
            }
        };
        mapped.rules.open.push(open);
        mapped.onto.push(onto);
        Some(mapped.onto.len() - 1)
    }

    /// The assignments of a mapped requirement that are in the checked variant; with
    /// `unconditional`, only those without conditions.
    fn fulfilling(
        &self,
        onto: &MappedOnto<'_, 'a>,
        unconditional: bool,
    ) -> Vec<&'c RelationElement<'a>> {
        let name = onto.requirement.and_then(Node::text);
        let relations = onto.node.relations.iter().map(|&id| self.graph.relation(id));
        relations
            .filter(|relation| Some(self.graph.element(relation.id).name) == name)
            .filter(|relation| self.counts(relation.id))
            .filter(|relation| !unconditional || self.is_unconditional(relation.id))
            .collect()
    }

    /// The slots that a requirement of a node with these assignments leaves for mappings. If the
    /// node has several types, the most permissive one counts.
    fn open_slots(
        &self,
        node: &NodeElement<'a>,
        requirement: Node<'a>,
        assigned: &[&RelationElement<'a>],
    ) -> Option<OpenSlots> {
        let mut slots = SlotCounts::default();
        for relation in assigned {
            let AssignedCount { min, max, .. } =
                AssignedCount::read(relation.requirement.declared.value());
            match relation.target {
                Some(_) => slots.fulfilled += max.unwrap_or(min.max(1)),
                None => {
                    slots.mandatory += min;
                    slots.optional = slots.optional.saturating_add(max.unwrap_or(u64::MAX) - min);
                }
            }
        }
        let kinds = self.types_of(node.id, Family::Node).into_iter();
        let name = requirement.text()?;
        let open = kinds.filter_map(|(kind, _)| {
            let definition = &self.types.effective(kind).requirements.get(name)?.definition;
            Some(slots.open(bounds(definition)))
        });
        open.reduce(|one, other| OpenSlots {
            mandatory: one.mandatory.min(other.mandatory),
            takes: one.takes.max(other.takes),
        })
    }

    fn mapping_problems(&self, mapped: &NamedMappings<'_, 'c, 'c, 'a>) {
        let is_certain = |onto: &MappedOnto<'_, 'a>| self.is_unconditional(onto.node.id);
        let decided = self.presence.is_some() || mapped.onto.iter().all(is_certain);
        let nodes: Vec<_> = mapped.onto.iter().map(|onto| onto.node.id).collect();
        for problem in mapped.rules.problems() {
            match problem {
                MappingProblem::TooManyMandatory(..) | MappingProblem::Surplus(_) if !decided => {}
                _ => self.report_when(&nodes, &[], self.problem(mapped, &problem)),
            }
        }
        if !decided {
            self.problems_in_variants(mapped);
        }
        if self.presence.is_none() {
            mapped.onto.iter().for_each(|onto| self.bound_in_variants(mapped, onto));
        }
    }

    /// Checks the bounds if nodes have conditions, so that the entries differ between variants.
    fn problems_in_variants(&self, mapped: &NamedMappings<'_, 'c, 'c, 'a>) {
        let RequirementMappings { bounds, mappings, open } = &mapped.rules;
        let position = |id: ElementId| mapped.onto.iter().position(|onto| onto.node.id == id);
        let mapping_of = |id: ElementId| {
            let target = position(id)?;
            mappings.iter().rposition(|mapping| mapping.targets.contains(&target))
        };
        let entries = |count: &dyn Fn(&OpenSlots, u64) -> u64| -> Vec<ElementId> {
            let mut ids = Vec::new();
            for (target, onto) in mapped.onto.iter().enumerate() {
                let leading = mappings.iter().filter(|mapping| mapping.targets.contains(&target));
                let times = |mapping: &MappedRequirement| match mapping.share {
                    crate::tosca::mapping::MappingShare::Times(count) => count,
                    _ => 1,
                };
                let leading = leading.map(times).fold(0, u64::saturating_add);
                let most = bounds.max.unwrap_or(bounds.min).saturating_add(1);
                let count = count(&open[target], leading).min(most);
                ids.extend((0..count).map(|_| onto.node.id));
            }
            ids
        };
        let mandatory = entries(&|open, leading| open.mandatory.min(leading));
        self.surplus(&mandatory, bounds.min, &[], |id| {
            let mapping = mapping_of(id).unwrap_or(0);
            let problem = MappingProblem::TooManyMandatory(bounds.min + 1, vec![mapping]);
            self.problem(mapped, &problem)
        });
        if let Some(max) = bounds.max {
            let all = entries(&|_, leading| leading);
            self.surplus(&all, max, &[], |id| {
                self.problem(mapped, &MappingProblem::Surplus(mapping_of(id).unwrap_or(0)))
            });
        }
    }

    /// Checks conditional assignments: where one is present, fewer slots are left for mappings.
    fn bound_in_variants(&self, mapped: &NamedMappings<'_, 'c, 'c, 'a>, onto: &MappedOnto<'c, 'a>) {
        let Some(requirement) = onto.requirement else { return };
        let certain = self.fulfilling(onto, true);
        let is_bound = |relation: &&RelationElement<'a>| {
            relation.target.is_some() && !self.is_unconditional(relation.id)
        };
        let target = mapped.onto.iter().position(|known| std::ptr::eq(known, onto));
        let Some(target) = target else { return };
        for relation in self.fulfilling(onto, false).into_iter().filter(is_bound) {
            let assigned = [&*certain, &[relation]].concat();
            let Some(open) = self.open_slots(onto.node, requirement, &assigned) else { continue };
            let mut rules = mapped.rules.clone();
            rules.open[target] = open;
            let known = mapped.rules.problems();
            for problem in rules.problems().into_iter().filter(|problem| !known.contains(problem)) {
                if matches!(problem, MappingProblem::TakesNoMore { .. }) {
                    let error = self.problem(mapped, &problem);
                    self.report_when(&[onto.node.id, relation.id], &[], error);
                }
            }
        }
    }

    /// The diagnostic for a problem.
    fn problem(
        &self,
        mapped: &NamedMappings<'_, 'c, 'c, 'a>,
        problem: &MappingProblem,
    ) -> Diagnostic {
        let name = mapped.outer.named.name;
        let bound = mapped.outer.occurrences.map_or(mapped.outer.named.key, |said| said.node);
        let at = |mapping: usize| {
            mapped.written.get(mapping).map_or(bound, |mapping| mapping.named.key).span()
        };
        let diagnostic = match problem {
            MappingProblem::TooManyMandatory(count, mappings) => {
                return self.too_many_mandatory(mapped, *count, mappings);
            }
            MappingProblem::TakesNoMore { mapping, target } => {
                return self.takes_no_more(mapped, *mapping, *target);
            }
            MappingProblem::BehindRest(mapping) => {
                let message =
                    format!("an earlier mapping of `{name}` takes all remaining relations");
                Diagnostic::error(Code::InvalidMapping, message)
                    .at(at(*mapping))
                    .help("write the mapping that is `UNBOUNDED` as the last of its name")
            }
            MappingProblem::Surplus(mapping) => {
                let most = mapped.rules.bounds.max.unwrap_or(0);
                let message = format!(
                    "`{name}` occurs {} at most, so there is never a relation for this mapping",
                    times(most)
                );
                Diagnostic::warning(Code::SurplusMapping, message)
                    .at(at(*mapping))
                    .label(bound.span(), "how often it occurs is defined here")
                    .help(format!("remove the mapping, or raise the upper bound of `{name}`"))
            }
            MappingProblem::BoundedRest(mapping) => {
                let message = format!(
                    "this mapping takes all remaining relations of `{name}`, but its target takes fewer"
                );
                Diagnostic::warning(Code::SurplusMapping, message)
                    .at(at(*mapping))
                    .label(bound.span(), "how often it occurs is defined here")
            }
        };
        diagnostic.section(SECTION)
    }

    fn too_many_mandatory(
        &self,
        mapped: &NamedMappings<'_, 'c, 'c, 'a>,
        count: u64,
        mappings: &[usize],
    ) -> Diagnostic {
        let NamedMappings { outer, rules, .. } = mapped;
        let owner = self.called(mapped.kind);
        let min = rules.bounds.min;
        let mapped_ones = match count {
            1 => "1 requirement is mapped onto a mandatory one".to_owned(),
            _ => format!("{count} requirements are mapped onto mandatory ones"),
        };
        let message = format!("{mapped_ones}, and a `{owner}` has {min} for certain");
        let beyond = mappings.get(usize::try_from(min).unwrap_or(usize::MAX));
        let beyond = beyond.or(mappings.last()).and_then(|&it| mapped.written.get(it));
        let bound = outer.occurrences.map_or(outer.named.key, |said| said.node);
        let at = beyond.map_or(bound, |mapping| mapping.named.key).span();
        let mut error = Diagnostic::error(Code::InvalidMapping, message).at(at).section(SECTION);
        error = error.label(
            bound.span(),
            format!("`{}` occurs {} for certain", outer.named.name, times(min)),
        );
        let mut said = Vec::new();
        let leading = mappings.iter().filter_map(|&mapping| rules.mappings.get(mapping));
        for &target in leading.flat_map(|mapping| &mapping.targets) {
            let is_mandatory = rules.open[target].mandatory > 0;
            let place = self.mandatory_at(&mapped.onto[target]).filter(|_| is_mandatory);
            if let Some(place) = place.map(Node::span).filter(|place| !said.contains(place)) {
                said.push(place);
                error = error.label(place, "this is mandatory");
            }
        }
        error.help(format!(
            "make some of these mandatory requirements `optional`, or raise the lower bound of `{}`",
            outer.named.name
        ))
    }

    /// The part that makes a requirement of a node mandatory: an assignment or the definition.
    fn mandatory_at(&self, onto: &MappedOnto<'_, 'a>) -> Option<Node<'c>>
    where
        'a: 'c,
    {
        let is_mandatory = |relation: &&&RelationElement<'a>| {
            AssignedCount::read(relation.requirement.declared.value()).min > 0
                && relation.target.is_none()
        };
        let assigned = self.fulfilling(onto, false);
        if let Some(relation) = assigned.iter().find(is_mandatory) {
            return Some(relation.requirement.declared.key());
        }
        let name = onto.requirement?.text()?;
        let (kind, _) = self.types_of(onto.node.id, Family::Node).into_iter().next()?;
        let definition = &self.types.effective(kind).requirements.get(name)?.definition;
        Some(definition.occurrences.map_or(definition.named.key, |said| said.node))
    }

    fn takes_no_more(
        &self,
        mapped: &NamedMappings<'_, 'c, 'c, 'a>,
        mapping: usize,
        target: usize,
    ) -> Diagnostic {
        let onto = &mapped.onto[target];
        let display = self.graph.display(onto.node.id);
        let name = onto.requirement.and_then(Node::text).unwrap_or_default();
        let written = mapped.written.get(mapping);
        let at = written.map_or(mapped.outer.named.key, |mapping| mapping.named.key).span();
        let assigned = self.fulfilling(onto, false);
        let bound = assigned.iter().find(|relation| relation.target.is_some());
        let (message, place, label, help) = match bound {
            Some(relation) => (
                format!(
                    "the requirement `{name}` of {display} has a target of its own, so nothing can be mapped onto it"
                ),
                Some(relation.requirement.target_span()),
                "the target is here",
                "leave the target out, or do not map onto it",
            ),
            None if onto.requirement.is_none() => (
                format!("{display} is the target of more than one mapping"),
                None,
                "",
                "map onto another node that is selected",
            ),
            None => (
                format!("more is mapped onto the requirement `{name}` of {display} than it takes"),
                self.mandatory_at(onto).map(Node::span),
                "how often it occurs is defined here",
                "leave a mapping out, or raise the upper bound",
            ),
        };
        let error = Diagnostic::error(Code::InvalidMapping, message).at(at).section(SECTION);
        match place {
            Some(place) => error.label(place, label),
            None => error,
        }
        .help(help)
    }

    /// Warns, once per file, about extensions that other tools for this version of TOSCA reject.
    pub(super) fn extensions(&self, substitution: Option<&Substitution<'a>>) {
        let mut first: Vec<(Node<'a>, Vec<ElementId>)> = Vec::new();
        let mapping = substitution.and_then(Substitution::extension);
        first.extend(mapping.map(|mapping| (mapping.named.key, Vec::new())));
        for relation in self.graph.relations.iter().filter(|it| self.counts(it.id)) {
            let entries = relation.requirement.declared.value().entries();
            let mut keys = entries.map(|(key, _)| key);
            let key = keys.find(|key| matches!(key.text(), Some("optional" | "count")));
            first.extend(key.map(|key| (key, vec![relation.id])));
        }
        first.sort_by_key(|(key, _)| key.span());
        first.dedup_by_key(|(key, _)| key.span().file);
        // In a file of TOSCA 2.0 they are not extensions.
        first.retain(|(key, _)| !key.document().is_called_otherwise());
        for (key, when) in first {
            let message =
                "this notation is of TOSCA 2.0, and other tools for this version refuse it";
            let warning = Diagnostic::warning(Code::Extension, message).at(key.span());
            self.report_when(&when, &[], warning);
        }
    }
}
