//! Builds `manual(e)`: the conjunction of the conditions that authors wrote.

use super::{Assertions, Conditions, EnrichContext, Origin};
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::element::ElementKind;
use crate::variability::graph::{Element, ElementId, GroupElement, Requires};
use crate::variability::inputs::Inputs;
use crate::variability::options::Flag;
use cuvee_sat::formula::Formula;
use rustc_hash::FxHashMap;

impl<'e, 'a> EnrichContext<'_, 'e, 'a> {
    /// The manual conditions of every element.
    pub(super) fn manual(
        &mut self,
        inputs: &Inputs<'a>,
        assertions: &mut Assertions,
    ) -> Conditions {
        let graph = self.evaluator.graph;
        let memberships = self.memberships();
        let named = self.named_inputs(inputs);
        let defaults = self.default_alternatives();
        let mut conditions = Conditions::with_room(graph.elements.len());
        for id in graph.ids() {
            let start = conditions.list.len();
            let element = graph.element(id);
            self.written(id, element, &mut conditions.list);
            for group in memberships.get(&id).into_iter().flatten() {
                // The conditions of a group are added to the member, so that SELF in them means the
                // member.
                if let Some(written) = group.group.declared.conditions() {
                    self.add(
                        graph.syntax.read(written),
                        id,
                        |span| Origin::Group(id, group.id, span),
                        &mut conditions.list,
                    );
                }
            }
            if let Some(&(formula, origin)) = named.get(&id) {
                conditions.list.push((formula, origin));
            }
            match element.default_alternative() {
                Some(true) => {
                    conditions.list.truncate(start);
                    let others = self.evaluator.any(defaults.get(&id).map_or(&[], Vec::as_slice));
                    conditions.list.push((!others, Origin::DefaultAlternative(id)));
                }
                Some(false) if conditions.list.len() == start => {
                    conditions.list.push((Formula::FALSE, Origin::NoDefaultAlternative(id)));
                }
                _ => {}
            }
            let manual = self
                .evaluator
                .arena
                .and(conditions.list[start..].iter().map(|&(formula, _)| formula));
            if let Some(atom) = self.evaluator.set_manual(id, manual) {
                assertions.push([!atom, manual], Origin::ManualDefinition(id));
                assertions.push([atom, !manual], Origin::ManualDefinition(id));
            }
            conditions.close();
        }
        conditions
    }

    /// Adds the conditions of the element's `conditions`, or those of its technology rule.
    fn written(&mut self, id: ElementId, element: &Element<'a>, list: &mut Vec<(Formula, Origin)>) {
        let graph = self.evaluator.graph;
        if graph.variability_group(id).is_some() {
            list.push((Formula::FALSE, Origin::VariabilityGroup(id)));
            return;
        }
        let mut written = element.conditions;
        if element.kind == ElementKind::Technology {
            let technology = &graph.technologies[element.slot as usize];
            list.extend(self.ways(&technology.ways).map(|way| (way, Origin::Technology(id))));
            written = written.or(technology.conditions);
        }
        if let Some(conditions) = written {
            self.add(conditions, id, |span| Origin::Manual(id, span), list);
        }
    }

    /// The formulas that hold if one of these ways is possible. A single way gives one formula for
    /// each of its parts.
    fn ways(&mut self, ways: &[Requires]) -> impl Iterator<Item = Formula> + use<> {
        let mut parts = |way: &Requires| -> Vec<Formula> {
            way.iter().map(|alternatives| self.evaluator.any(alternatives)).collect()
        };
        let all = match ways {
            [] => Vec::new(),
            [only] => parts(only),
            several if several.iter().any(Vec::is_empty) => Vec::new(),
            several => {
                let several: Vec<_> = several.iter().map(parts).collect();
                let arena = &mut self.evaluator.arena;
                let each: Vec<_> = several.into_iter().map(|way| arena.and(way)).collect();
                vec![arena.or(each)]
            }
        };
        all.into_iter()
    }

    /// The variability groups of each member.
    fn memberships(&self) -> FxHashMap<ElementId, Vec<&'e GroupElement<'a>>> {
        let graph = self.evaluator.graph;
        let mut memberships: FxHashMap<ElementId, Vec<_>> = FxHashMap::default();
        for group in graph.groups.iter().filter(|group| group.variability) {
            for &(_, member) in &group.members {
                memberships.entry(member).or_default().push(group);
            }
        }
        memberships
    }

    /// `enrich_input_condition`: if a variability input has the identifier of an element as its
    /// name, the input is a condition of the element.
    fn named_inputs(&mut self, inputs: &Inputs<'a>) -> FxHashMap<ElementId, (Formula, Origin)> {
        let mut named = FxHashMap::default();
        if !self.options.flag(Flag::EnrichInputCondition) {
            return named;
        }
        for (input, declaration) in inputs.declarations.iter() {
            let Some(id) = self.evaluator.graph.by_identifier(declaration.name) else { continue };
            let condition = self.evaluator.input_condition(input, declaration.span);
            // Without a value the element still has this condition.
            let holds = self.diagnostics.ok(condition).unwrap_or(Formula::TRUE);
            named.insert(id, (holds, Origin::Input(id, declaration.span)));
        }
        named
    }

    /// For each default alternative, the other alternatives of its scope. Reports scopes with
    /// several defaults.
    pub(super) fn default_alternatives(&mut self) -> FxHashMap<ElementId, Vec<ElementId>> {
        let graph = self.evaluator.graph;
        let is_default = |id: ElementId| graph.element(id).default_alternative() == Some(true);
        let mut scopes: FxHashMap<_, (ElementId, Vec<ElementId>)> = graph
            .ids()
            .filter(|&id| is_default(id))
            .map(|id| (scope(graph.element(id)), (id, Vec::new())))
            .collect();
        if scopes.is_empty() {
            return FxHashMap::default();
        }
        for id in graph.ids() {
            if let Some((default, others)) =
                scopes.get_mut(&scope(graph.element(id))).filter(|(default, _)| *default != id)
            {
                others.push(id);
                if is_default(id) {
                    let (first, second) = (graph.element(id), graph.element(*default));
                    let message =
                        format!("{} is one of multiple default alternatives", graph.display(id));
                    self.diagnostics.push(
                        Diagnostic::error(Code::MultipleDefaultAlternatives, message)
                            .at(first.span)
                            .label(second.span, "this is a default too")
                            .help("keep `default_alternative: true` at one of them"),
                    );
                }
            }
        }
        scopes.into_values().collect()
    }
}

/// The key that alternatives of each other share: kind, container and name. For types and
/// technologies the name does not count, because alternatives differ in it.
pub(super) fn scope<'e>(element: &'e Element<'_>) -> (ElementKind, Option<ElementId>, &'e str) {
    let name = if matches!(element.kind, ElementKind::Type | ElementKind::Technology) {
        ""
    } else {
        element.name
    };
    (element.kind, element.container, name)
}
