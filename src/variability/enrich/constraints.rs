//! Asserts constraints between elements: implications, the constraint options, and the author's own
//! constraints.

use super::{Assertions, Conditions, EnrichContext, Origin};
use crate::variability::element::ElementKind;
use crate::variability::graph::{Element, ElementId};
use crate::variability::options::{Constraint, Flag};
use crate::variability::syntax::Of;
use crate::variability::template::Implied;
use cuvee_sat::formula::Formula;
use rustc_hash::FxHashMap;

/// What implies an element, together with the element's own conditions.
pub(crate) struct Implying {
    /// The element around it whose presence implies it; `None` if nothing else has to be present.
    pub of: Option<Of>,
    /// Elements of which one has to be possible by its own conditions, if there are any here.
    pub restricted_by: Vec<ElementId>,
}

impl<'a> EnrichContext<'_, '_, 'a> {
    pub(super) fn constraints(&mut self, generated: &Conditions, assertions: &mut Assertions) {
        let graph = self.evaluator.graph;
        for id in graph.ids() {
            // Without generated conditions, `present(e) ⇔ manual(e)` holds, which includes the
            // implication.
            if !generated.of(id).is_empty() {
                self.implied(id, assertions);
            }
            self.implies(id, assertions);
            self.ends(id, assertions);
        }
        for node in 0..graph.nodes.len() {
            self.node(node, assertions);
        }
        self.unique(assertions);
        for &constraint in &graph.template.variability.constraints {
            match self.evaluator.condition(graph.syntax.read(constraint), None) {
                Ok(formula) => assertions.push([formula], Origin::Author(constraint.span())),
                Err(error) => self.diagnostics.push(error),
            }
        }
    }

    /// `what implies e ∧ manual(e) ⇒ present(e)`. If e is a fallback for other alternatives, this
    /// does not apply while the conditions of one of these hold.
    fn implied(&mut self, id: ElementId, assertions: &mut Assertions) {
        let Some(implying) = self.implying(id) else { return };
        let holder = self.implies_element(id, &implying);
        let (manual, present) = (self.evaluator.manual(id), self.evaluator.atom(id));
        let others = self.fallbacks.get(&id).into_iter().flatten();
        let others = others.map(|&other| self.evaluator.manual(other));
        let clause: Vec<_> = [!holder, !manual, present].into_iter().chain(others).collect();
        assertions.push(clause, Origin::Implied(id));
    }

    /// What implies an element together with the element's own conditions; `None` for an element
    /// that is not implied.
    pub(super) fn implying(&self, id: ElementId) -> Option<Implying> {
        let of = match self.implied_by(id) {
            Implied::No => return None,
            Implied::Container => Of::Container,
            Implied::Target => Of::Target,
        };
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        let mut implying = Implying { of: Some(of), restricted_by: Vec::new() };
        match element.kind {
            ElementKind::Node => implying.of = None,
            ElementKind::Relation if self.options.flag(Flag::RelationEnhancedImplication) => {
                let relation = &graph.relations[element.slot as usize];
                let other = if of == Of::Target { Some(relation.source) } else { relation.target };
                implying.restricted_by.extend(other.map(|node| graph.node(node).id));
            }
            ElementKind::Property if self.options.flag(Flag::PropertyEnhancedImplication) => {
                let consumed = &graph.properties[element.slot as usize].consumed;
                let is_input = |&id: &ElementId| graph.element(id).kind == ElementKind::Input;
                implying.restricted_by = consumed.iter().any(is_input).then(|| consumed.clone())?;
            }
            _ => {}
        }
        Some(implying)
    }

    /// The formula that what implies an element does so.
    fn implies_element(&mut self, id: ElementId, implying: &Implying) -> Formula {
        let holder = implying.of.map_or(Formula::TRUE, |of| self.evaluator.presence(of, id));
        if implying.restricted_by.is_empty() {
            return holder;
        }
        let manual = implying.restricted_by.iter().map(|&id| self.evaluator.manual(id));
        let manual: Vec<_> = manual.collect();
        let any = self.evaluator.arena.or(manual);
        self.evaluator.arena.and([holder, any])
    }

    pub(super) fn implied_by(&self, id: ElementId) -> Implied {
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        let own = element.settings.and_then(|settings| settings.implied);
        match element.kind {
            ElementKind::Node if !self.options.flag(Flag::NodeImplication) => Implied::No,
            ElementKind::Property => own.unwrap_or(Implied::Container),
            // If an alternative is selected by its conditions, it has to be taken. Otherwise the
            // fallback, which is present if the alternative is absent, could replace it.
            ElementKind::Relation if self.selected.contains(&id) => {
                own.unwrap_or(Implied::Container)
            }
            ElementKind::Relation
                if !graph.relations[element.slot as usize].hosting
                    && self.options.flag(Flag::RelationDefaultImplied) =>
            {
                own.unwrap_or(Implied::Container)
            }
            _ => own.unwrap_or(Implied::No),
        }
    }

    /// `present(e) ∧ condition ⇒ target`
    fn implies(&mut self, id: ElementId, assertions: &mut Assertions) {
        let Some(settings) = self.evaluator.graph.element(id).settings else { return };
        for implication in &settings.implies {
            let mut formula =
                |node| self.evaluator.condition(self.evaluator.graph.syntax.read(node), Some(id));
            let target = formula(implication.target);
            let condition = implication.condition.map_or(Ok(Formula::TRUE), formula);
            if let (Some(target), Some(condition)) =
                (self.diagnostics.ok(target), self.diagnostics.ok(condition))
            {
                let present = self.evaluator.atom(id);
                assertions.push(
                    [!present, !condition, target],
                    Origin::Implies(id, implication.target.span()),
                );
            }
        }
    }

    /// `present(e) ⇒ present(what e needs to be well-formed)`
    fn ends(&mut self, id: ElementId, assertions: &mut Assertions) {
        let graph = self.evaluator.graph;
        let needs: &[(Constraint, Of)] = match graph.element(id).kind {
            ElementKind::Relation => &[
                (Constraint::RelationSource, Of::Source),
                (Constraint::RelationTarget, Of::Target),
            ],
            ElementKind::Artifact => &[(Constraint::ArtifactContainer, Of::Container)],
            ElementKind::Property => &[(Constraint::PropertyContainer, Of::Container)],
            ElementKind::Type => &[(Constraint::TypeContainer, Of::Container)],
            _ => &[],
        };
        for &(constraint, of) in needs {
            if self.options.constraint(constraint) && !graph.is_of_variability_group(id) {
                let (present, needed) = (self.evaluator.atom(id), self.evaluator.presence(of, id));
                assertions.push([!present, needed], Origin::Constraint(constraint, id));
            }
        }
    }

    fn node(&mut self, index: usize, assertions: &mut Assertions) {
        let graph = self.evaluator.graph;
        let node = &graph.nodes[index];
        if self.options.constraint(Constraint::RequiredHosting)
            || self.options.constraint(Constraint::SingleHosting)
        {
            let hosting: Vec<_> = graph.hosting(node).map(|relation| relation.id).collect();
            if !hosting.is_empty() {
                self.exactly_one(Constraint::RequiredHosting, node.id, &hosting, assertions);
                self.single(Constraint::SingleHosting, node.id, &hosting, assertions);
            }
        }
        if node.managed {
            let technologies = &node.technologies;
            self.exactly_one(Constraint::RequiredTechnology, node.id, technologies, assertions);
            self.single(Constraint::UniqueTechnology, node.id, technologies, assertions);
        }
        if !node.artifacts.is_empty() {
            self.exactly_one(Constraint::RequiredArtifact, node.id, &node.artifacts, assertions);
        }
        if !node.incoming.is_empty()
            && self.options.constraint(Constraint::RequiredIncomingRelation)
        {
            let incoming: Vec<_> = node.incoming.iter().map(|&id| graph.relation(id).id).collect();
            self.at_least_one(Constraint::RequiredIncomingRelation, node.id, &incoming, assertions);
        }
        self.unique_relations(index, assertions);
    }

    /// `present(n) ⇒ exactly one of present(e)`
    fn exactly_one(
        &mut self,
        constraint: Constraint,
        node: ElementId,
        elements: &[ElementId],
        assertions: &mut Assertions,
    ) {
        self.at_least_one(constraint, node, elements, assertions);
        self.at_most_one(constraint, node, elements, assertions);
    }

    /// At most one of present(e), whether the node is present or not.
    fn single(
        &mut self,
        constraint: Constraint,
        node: ElementId,
        elements: &[ElementId],
        assertions: &mut Assertions,
    ) {
        if self.options.constraint(constraint) && elements.len() > 1 {
            let single = self.one_of(elements);
            assertions.push([single], Origin::Constraint(constraint, node));
        }
    }

    /// `present(n) ⇒ ⋁ present(e)`
    fn at_least_one(
        &mut self,
        constraint: Constraint,
        node: ElementId,
        elements: &[ElementId],
        assertions: &mut Assertions,
    ) {
        if self.options.constraint(constraint) {
            let present = self.evaluator.atom(node);
            let any: Vec<_> = elements.iter().map(|&id| self.evaluator.atom(id)).collect();
            assertions
                .push(std::iter::once(!present).chain(any), Origin::Constraint(constraint, node));
        }
    }

    /// `present(n) ⇒ at most one of present(e)`
    fn at_most_one(
        &mut self,
        constraint: Constraint,
        node: ElementId,
        elements: &[ElementId],
        assertions: &mut Assertions,
    ) {
        if self.options.constraint(constraint) && elements.len() > 1 {
            let (present, single) = (self.evaluator.atom(node), self.one_of(elements));
            assertions.push([!present, single], Origin::Constraint(constraint, node));
        }
    }

    /// `at most one of present(e)`
    fn one_of(&mut self, elements: &[ElementId]) -> Formula {
        let atoms: Vec<_> = elements.iter().map(|&id| self.evaluator.atom(id)).collect();
        self.evaluator.arena.at_most_one(atoms)
    }

    /// `present(n) ⇒ at most one present relation of each name`
    fn unique_relations(&mut self, index: usize, assertions: &mut Assertions) {
        let graph = self.evaluator.graph;
        let node = &graph.nodes[index];
        if node.relations.len() < 2 || !self.options.constraint(Constraint::UniqueRelation) {
            return;
        }
        for group in
            by_name(node.relations.iter().map(|&id| graph.relation(id).id), |id| graph.element(id))
        {
            self.at_most_one(Constraint::UniqueRelation, node.id, &group, assertions);
        }
    }

    /// At most one present element of each name in each container.
    fn unique(&mut self, assertions: &mut Assertions) {
        let graph = self.evaluator.graph;
        let kinds = [
            (ElementKind::Property, Constraint::UniqueProperty),
            (ElementKind::Artifact, Constraint::UniqueArtifact),
            (ElementKind::Input, Constraint::UniqueInput),
            (ElementKind::Output, Constraint::UniqueOutput),
        ];
        for (kind, constraint) in kinds {
            if !self.options.constraint(constraint) {
                continue;
            }
            let ids = graph.ids().filter(|&id| graph.element(id).kind == kind);
            let ids = ids.filter(|&id| !graph.is_of_variability_group(id));
            for group in by_name(ids, |id| graph.element(id)) {
                let atoms: Vec<_> = group.iter().map(|&id| self.evaluator.atom(id)).collect();
                let single = self.evaluator.arena.at_most_one(atoms);
                assertions.push([single], Origin::Constraint(constraint, group[0]));
            }
        }
    }
}

/// Groups elements that share container and name, in order; groups of one element are left out.
fn by_name<'g, 'a: 'g>(
    ids: impl Iterator<Item = ElementId>,
    element: impl Fn(ElementId) -> &'g Element<'a>,
) -> Vec<Vec<ElementId>> {
    let mut positions: FxHashMap<(Option<ElementId>, &str), usize> = FxHashMap::default();
    let mut groups: Vec<Vec<ElementId>> = Vec::new();
    for id in ids {
        let one = element(id);
        let position = *positions.entry((one.container, one.name)).or_insert(groups.len());
        match groups.get_mut(position) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}
