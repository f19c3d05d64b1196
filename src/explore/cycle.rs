//! Finds the cycles that occur in some variant, in a graph whose edges depend on conditions.

use super::space::{Example, Examples, Space};
use crate::topology::cycle::{Cycle, Edges, components, shortest_cycles};
use cuvee_sat::formula::Lit;
use rustc_hash::FxHashMap;

/// How many strongly connected components are examined at most.
const MAX_KNOTS: usize = 100;

/// A cycle, and inputs that lead to a variant with this cycle.
pub(crate) type CycleOfVariant<T> = (Cycle<T>, Example);

impl Space<'_, '_> {
    /// For each strongly connected component, a cycle that a valid variant has, if any does. The
    /// shortest cycle of all edges is preferred if some variant has it. An edge is present if all
    /// literals that `when` gives for it are true.
    pub(crate) fn cycles<T: Copy>(
        &self,
        edges: &Edges<T>,
        when: &dyn Fn(T) -> Vec<Lit>,
    ) -> Vec<CycleOfVariant<T>> {
        let shortest = shortest_cycles(edges);
        if shortest.is_empty() {
            return Vec::new();
        }
        let knots = components(edges);
        let mut examples = Examples { space: self, models: self.valid_models() };
        let in_variant = |shortest: Cycle<T>| {
            let mut wanted: Vec<_> = shortest.iter().flat_map(|&(_, edge)| when(edge)).collect();
            wanted.sort_unstable();
            wanted.dedup();
            if let Some(inputs) = examples.example(wanted) {
                return Some((shortest, inputs));
            }
            let (member, _) = shortest.first()?;
            examples.cycle_among(&knot(edges, &knots, knots[*member]), when)
        };
        shortest.into_iter().take(MAX_KNOTS).filter_map(in_variant).collect()
    }
}

/// The members of the component `wanted`, each with the edges that stay within it.
fn knot<T: Copy>(
    edges: &Edges<T>,
    knots: &[usize],
    wanted: usize,
) -> Vec<(usize, Vec<(usize, T)>)> {
    let is_inner = |index: usize| knots.get(index) == Some(&wanted);
    let members = (0..edges.len()).filter(|&index| is_inner(index));
    let inner = |index: usize| edges[index].iter().copied().filter(|&(to, _)| is_inner(to));
    members.map(|index| (index, inner(index).collect())).collect()
}

impl Examples<'_, '_, '_> {
    /// Any cycle of a component that some variant has.
    ///
    /// A variant has a cycle if and only if there is a set of members each of which has an edge to
    /// another member of the set. So a single query is enough, however many cycles the component
    /// has.
    fn cycle_among<T: Copy>(
        &mut self,
        knot: &[(usize, Vec<(usize, T)>)],
        when: &dyn Fn(T) -> Vec<Lit>,
    ) -> Option<CycleOfVariant<T>> {
        let models = &mut self.models;
        let on: FxHashMap<_, _> =
            knot.iter().map(|&(member, _)| (member, models.new_var().positive())).collect();
        let asked = models.new_var().positive();
        let any = knot.iter().map(|(member, _)| on[member]);
        models.add_clause(&[!asked].into_iter().chain(any).collect::<Vec<_>>());
        for (member, edges) in knot {
            let mut leads_on = vec![!on[member]];
            for (to, edge) in edges {
                let taken = models.new_var().positive();
                models.add_clause(&[!taken, on[to]]);
                when(*edge).into_iter().for_each(|literal| models.add_clause(&[!taken, literal]));
                leads_on.push(taken);
            }
            models.add_clause(&leads_on);
        }
        let inputs = self.example(vec![asked])?;
        let is_there = |&(_, edge): &(usize, T)| {
            when(edge).into_iter().all(|literal| self.models.is_true(literal))
        };
        let mut there = vec![Vec::new(); knot.last().map_or(0, |(member, _)| member + 1)];
        for (member, edges) in knot {
            there[*member] = edges.iter().copied().filter(is_there).collect();
        }
        let cycle = shortest_cycles(&there).into_iter().min_by_key(Vec::len)?;
        Some((cycle, inputs))
    }
}
