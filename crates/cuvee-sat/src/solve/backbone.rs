//! Finds what all models have in common: literals that are always or never true, and literals that
//! are always equal.
//!
//! Both searches start from a few models that are as different from each other as possible. These
//! show most of the literals that can differ. Where models can be found by walking, so do the
//! neighbours of each model that is found. Then the solver is asked for each of the remaining
//! literals, and where several in a row cannot differ, for a model in which *any* of them does:
//! either it shows something new, or its one answer proves all the rest.
//!
//! # References
//!
//! - João Marques-Silva, Mikoláš Janota, Inês Lynce. "On Computing Backbones of Propositional
//!   Theories." ECAI 2010: candidates that models rule out, and one clause that asks for all
//!   candidates that are left.
//! - Andreas Kuehlmann, Viresh Paruthi, Florian Krohm, Malay K. Ganai. "Robust Boolean Reasoning
//!   for Equivalence Checking and Functional Property Verification." IEEE TCAD 2002: classes of
//!   literals that are equal in all models seen so far, split until a solver proves them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::equivalence::Equivalences;
use super::models::Models;
use super::nearby::{self, Nearby};
use super::propagator::Propagator;
use super::random::Random;
use super::walk::Samples;
use crate::formula::Lit;

/// The candidates that have the same value in all models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backbone {
    /// The candidates that are true in every model, in their order.
    pub always: Vec<Lit>,
    /// The candidates that are true in no model, in their order.
    pub never: Vec<Lit>,
}

/// Finds the candidates that are true in all models, and those that are true in none. `None` where
/// there is no model.
///
/// ```
/// use cuvee_sat::formula::Var;
/// use cuvee_sat::solve::backbone::backbone;
/// use cuvee_sat::solve::{Models, SolverKind};
///
/// let [a, b, c] = [0, 1, 2].map(|var| Var(var).positive());
/// let clauses = [[a, b], [a, !b], [!c, !a]];
/// let mut models = Models::new(3, clauses.iter().map(|clause| clause.as_slice()), SolverKind::default());
/// let found = backbone(&[a, b, c], &mut models).unwrap();
/// assert_eq!((found.always, found.never), (vec![a], vec![c]));
/// ```
pub fn backbone(candidates: &[Lit], models: &mut Models) -> Option<Backbone> {
    backbone_beside(&mut Samples::default(), candidates, models)
}

/// Does the same as [`backbone`], given some models that are known already.
pub fn backbone_beside(
    samples: &mut Samples,
    candidates: &[Lit],
    models: &mut Models,
) -> Option<Backbone> {
    models.cover_literals(candidates);
    if !models.solve(&[]) {
        return None;
    }
    // For each candidate, the literal that would be true if it differed from the first model.
    let mut met = FxHashSet::default();
    let other = candidates.iter().map(|&literal| literal.negate_if(models.is_true(literal)));
    let other = other.filter(|&literal| !samples.show(literal));
    let others = other.filter(|&literal| met.insert(literal)).collect();
    let impossible: FxHashSet<_> = impossible_beside(samples, others, models).into_iter().collect();
    let among = |wanted: fn(Lit) -> Lit| {
        candidates
            .iter()
            .copied()
            .filter(|&literal| impossible.contains(&wanted(literal)))
            .collect()
    };
    Some(Backbone { always: among(|literal| !literal), never: among(|literal| literal) })
}

/// Finds the literals that are true in no model, in no certain order. There must be a model.
///
/// A search near one model decides about most. Of the others, few models show many that can be
/// true, and those that are left are asked for one by one.
pub fn impossible(open: Vec<Lit>, models: &mut Models) -> Vec<Lit> {
    let samples = &mut Samples::default();
    let (mut impossible, mut undecided) = decided_nearby(open, models);
    drop_shown(samples, &mut undecided, models);
    impossible.append(&mut never(undecided, models, &mut |open, models| {
        drop_seen(samples, open, models);
    }));
    impossible
}

/// Does the same as [`impossible`], given some models that are known already. Whatever a model shows
/// helps later questions, so that the search near one comes after those that show many.
fn impossible_beside(samples: &mut Samples, open: Vec<Lit>, models: &mut Models) -> Vec<Lit> {
    // Where clauses decide all, as in a plain template, nothing is made to search with.
    let (mut impossible, mut open): (Vec<_>, Vec<_>) =
        open.into_iter().partition(|&literal| models.excludes(literal));
    drop_shown(samples, &mut open, models);
    let (mut decided, undecided) = decided_nearby(open, models);
    impossible.append(&mut decided);
    impossible.append(&mut never(undecided, models, &mut |open, models| {
        drop_seen(samples, open, models);
    }));
    impossible
}

/// Drops literals that can be true. Propagation guesses a model in which as many of the literals as
/// possible are true, as long as each such model shows many.
fn drop_shown(samples: &mut Samples, open: &mut Vec<Lit>, models: &mut Models) {
    let mut before = usize::MAX;
    while !open.is_empty() && before - open.len() >= MANY {
        before = open.len();
        models.solve_toward(open);
        drop_seen(samples, open, models);
    }
}

/// Drops literals that are true in the last model, or in one that is met on the walk from it.
fn drop_seen(samples: &mut Samples, open: &mut Vec<Lit>, models: &Models) {
    open.retain(|&literal| !models.is_true(literal));
    let new = samples.see(models);
    open.retain(|&literal| !samples.show_since(new, literal));
}

/// Splits literals into those that are true in no model, and those that a search near a model cannot
/// decide. The others are left out.
fn decided_nearby(open: Vec<Lit>, models: &mut Models) -> (Vec<Lit>, Vec<Lit>) {
    let (mut impossible, mut undecided) = (Vec::new(), Vec::new());
    if open.is_empty() || !models.solve(&[]) {
        return (impossible, open);
    }
    let (nearby, mut propagator) = (models.nearby(), models.propagator());
    let mut in_vain = 0;
    for literal in open {
        let answer = match in_vain < nearby::IN_VAIN {
            true => nearby.has_model(literal, &mut propagator),
            false => None,
        };
        in_vain = if answer.is_none() { in_vain + 1 } else { 0 };
        match answer {
            Some(true) => {}
            Some(false) => impossible.push(literal),
            None => undecided.push(literal),
        }
    }
    (impossible, undecided)
}

/// How many literals a model has to show so that it was worth finding one that shows many.
const MANY: usize = 16;

/// How many literals in a row may be asked for in vain before one question is about all others.
const ALONE: usize = 8;

/// Finds the literals that are true in no model, and asks for each by itself. That is quick where
/// most can be true, but not two together. `show` removes what the last model shows.
pub(super) fn never(
    mut open: Vec<Lit>,
    models: &mut Models,
    show: &mut dyn FnMut(&mut Vec<Lit>, &Models),
) -> Vec<Lit> {
    let (mut never, mut in_vain) = (Vec::new(), 0);
    while let Some(literal) = open.pop() {
        if models.solve(&[literal]) {
            show(&mut open, models);
            in_vain = 0;
            continue;
        }
        never.push(literal);
        in_vain += 1;
        if in_vain == ALONE && !open.is_empty() {
            match models.solve_any(&open, &[]) {
                true => show(&mut open, models),
                false => never.append(&mut open),
            }
            in_vain = 0;
        }
    }
    never
}

/// Finds the sets of candidates that have the same value in each model, including those whose value
/// never changes. Each set has two candidates or more, in their order. `None` where there is no
/// model.
///
/// ```
/// use cuvee_sat::formula::Var;
/// use cuvee_sat::solve::backbone::equivalences;
/// use cuvee_sat::solve::{Models, SolverKind};
///
/// let [a, b, c] = [0, 1, 2].map(|var| Var(var).positive());
/// let clauses = [[a, !b], [!a, b], [a, c]];
/// let mut models = Models::new(3, clauses.iter().map(|clause| clause.as_slice()), SolverKind::default());
/// assert_eq!(equivalences(&[a, b, c], &mut models), Some(vec![vec![a, b]]));
/// ```
pub fn equivalences(candidates: &[Lit], models: &mut Models) -> Option<Vec<Vec<Lit>>> {
    equivalences_beside(&mut Samples::default(), candidates, models)
}

/// Does the same as [`equivalences`], given some models that are known already.
pub fn equivalences_beside(
    samples: &mut Samples,
    candidates: &[Lit],
    models: &mut Models,
) -> Option<Vec<Vec<Lit>>> {
    models.cover_literals(candidates);
    if !models.solve(&[]) {
        return None;
    }
    // Literals that clauses of two literals make equal are merged at the start.
    let same = models.equivalences();
    let mut classes = Classes::new(candidates.iter().map(|&literal| same.of(literal)));
    classes.split(models);
    classes.tell(|literal| samples.of_literal(literal).collect::<Vec<u64>>());
    classes.split_at_random(models, samples);
    let mut propagator = models.propagator();
    classes.split_nearby(&models.nearby(), &mut propagator);
    let mut splits: FxHashMap<Vec<Lit>, Option<Lit>> = FxHashMap::default();
    loop {
        // The classes that propagation does not prove to be equal, each as a literal that asks for
        // a difference.
        let mut open = Vec::new();
        for class in classes.sets() {
            let split = splits.entry(class).or_insert_with_key(|class| {
                (!propagates(class, &mut propagator)).then(|| differ(class, models))
            });
            open.extend(*split);
        }
        // Asks for as many differences at once as possible, so that few models show all of them.
        let before = classes.count();
        if !open.is_empty() {
            models.solve_toward(&open);
            classes.split_around(models, samples);
        }
        if classes.count() > before {
            continue;
        }
        if open.is_empty() || !models.solve_any(&open, &[]) {
            splits.values().flatten().for_each(|&split| models.add_clause(&[!split]));
            return Some(classes.sets_of(candidates, &same));
        }
        classes.split_around(models, samples);
    }
}

/// Adds a literal that implies that the literals of a class are not all equal.
fn differ(class: &[Lit], models: &mut Models) -> Lit {
    let split = models.new_var().positive();
    for negate in [false, true] {
        models.add_clause(
            &class
                .iter()
                .map(|literal| literal.negate_if(negate))
                .chain([!split])
                .collect::<Vec<_>>(),
        );
    }
    split
}

/// Whether propagation alone proves that some literals are equal: they imply each other in a
/// circle.
fn propagates(class: &[Lit], propagator: &mut Propagator) -> bool {
    let Some(&last) = class.last() else { return true };
    let mut from = last;
    class.iter().all(|&to| {
        let before = propagator.trail().len();
        let holds = match propagator.value(from) {
            Some(value) => !value || propagator.value(to) == Some(true),
            None => !propagator.assume(from) || propagator.value(to) == Some(true),
        };
        propagator.undo(before);
        from = to;
        holds
    })
}

/// How many models are looked at before the solver is asked for differences.
const MODELS: usize = 1000;
/// How many models in a row may show nothing new before that ends.
const IN_VAIN: usize = 3;

/// Classes of candidates that no model so far tells apart.
struct Classes {
    /// The candidates, each once.
    candidates: Vec<Lit>,
    /// The number of the class of each candidate.
    of: Vec<u32>,
}

impl Classes {
    fn new(candidates: impl Iterator<Item = Lit>) -> Self {
        let mut met = FxHashSet::default();
        let candidates: Vec<Lit> = candidates.filter(|&literal| met.insert(literal)).collect();
        Self { of: vec![0; candidates.len()], candidates }
    }

    /// Splits the classes by the values in the last model.
    fn split(&mut self, models: &Models) {
        self.tell(|literal| models.is_true(literal));
    }

    /// Splits the classes by the values in the last model, and in models met on the walk from it.
    fn split_around(&mut self, models: &Models, samples: &mut Samples) {
        self.split(models);
        let new = samples.see(models);
        self.tell(|literal| samples.since(new, literal).collect::<Vec<u64>>());
    }

    /// Splits the classes so that all literals of a class have the same `kind`.
    fn tell<K: Eq + std::hash::Hash>(&mut self, kind: impl Fn(Lit) -> K) {
        let mut names = FxHashMap::default();
        for (&literal, class) in self.candidates.iter().zip(&mut self.of) {
            let next = names.len() as u32;
            *class = *names.entry((*class, kind(literal))).or_insert(next);
        }
    }

    /// Splits the classes by models that are as different from each other as possible, until these
    /// show nothing new. Only literals that are not told apart yet influence the choice of models.
    /// In a deep tree, most elements are in no model by chance, so that the deep ones have to be
    /// asked for.
    fn split_at_random(&mut self, models: &mut Models, samples: &mut Samples) {
        let mut random = Random::new(0);
        let (mut count, mut in_vain) = (self.count(), 0);
        for _ in 0..MODELS {
            let mut wanted = self.sets().concat();
            if wanted.is_empty() {
                return;
            }
            for index in 0..wanted.len() {
                let bits = random.next();
                wanted.swap(index, (bits >> 1) as usize % (index + 1));
                wanted[index] = wanted[index].negate_if(bits & 1 == 1);
            }
            models.solve_toward(&wanted);
            self.split_around(models, samples);
            let found = self.count();
            in_vain = if found > count { 0 } else { in_vain + 1 };
            count = found;
            if in_vain == IN_VAIN {
                return;
            }
        }
    }

    /// Splits each class by models near the last one in which its first literal is true. Of many
    /// literals of which one is true, each model shows just one.
    fn split_nearby(&mut self, nearby: &Nearby<'_>, propagator: &mut Propagator) {
        let mut at: FxHashMap<Lit, usize> = FxHashMap::default();
        at.extend(self.candidates.iter().copied().zip(0..));
        let mut count = self.count() as u32;
        for mut class in self.sets() {
            while let [first, _, ..] = class[..]
                && nearby.with_model(first, propagator, |is_true| {
                    class.retain(|&literal| !is_true(literal));
                }) == Some(true)
            {
                class.iter().for_each(|literal| self.of[at[literal]] = count);
                count += u32::from(!class.is_empty());
            }
        }
        // Classes are numbered in the order of their first candidates.
        self.tell(|_| ());
    }

    fn count(&self) -> usize {
        self.of.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// The classes of two candidates or more.
    fn sets(&self) -> Vec<Vec<Lit>> {
        let classes = self.candidates.iter().copied().zip(self.of.iter().copied());
        sets(self.count(), classes)
    }

    /// The classes of all literals that are equal to candidates, in the order of `all`.
    fn sets_of(&self, all: &[Lit], same: &Equivalences) -> Vec<Vec<Lit>> {
        let classes: FxHashMap<Lit, u32> =
            self.candidates.iter().copied().zip(self.of.iter().copied()).collect();
        let class = |&literal: &Lit| Some((literal, *classes.get(&same.of(literal))?));
        sets(self.count(), all.iter().filter_map(class))
    }
}

/// Groups literals by class, and drops the classes of a single literal.
fn sets(count: usize, classes: impl Iterator<Item = (Lit, u32)>) -> Vec<Vec<Lit>> {
    let mut sets = vec![Vec::new(); count];
    classes.for_each(|(literal, class)| sets[class as usize].push(literal));
    sets.retain(|set| set.len() > 1);
    sets
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::solve::tests::{KINDS, clauses, holds};

    const VARS: u32 = 8;

    fn is_true(literal: Lit, model: u32) -> bool {
        holds(&[vec![literal]], model)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn agrees_with_brute_force(clauses in clauses(VARS, 0..24), candidates in prop::collection::vec((0..2 * VARS).prop_map(Lit), 0..14)) {
            let satisfying: Vec<_> = (0..1 << VARS).filter(|&model| holds(&clauses, model)).collect();
            let values = |literal: Lit| satisfying.iter().map(|&model| is_true(literal, model)).collect::<Vec<_>>();
            let constant = |value: bool| {
                candidates.iter().copied().filter(|&literal| values(literal).iter().all(|&found| found == value)).collect::<Vec<_>>()
            };
            for &kind in KINDS {
                let mut models = Models::new(VARS as usize, clauses.iter().map(Vec::as_slice), kind);
                let found = backbone(&candidates, &mut models);
                let classes = equivalences(&candidates, &mut models);
                if satisfying.is_empty() {
                    prop_assert_eq!((found, classes), (None, None));
                    continue;
                }
                prop_assert_eq!(found, Some(Backbone { always: constant(true), never: constant(false) }));
                let mut expected: Vec<(Vec<bool>, Vec<Lit>)> = Vec::new();
                for &literal in &candidates {
                    match expected.iter_mut().find(|(class, _)| *class == values(literal)) {
                        Some((_, literals)) => literals.push(literal),
                        None => expected.push((values(literal), vec![literal])),
                    }
                }
                let expected: Vec<_> = expected.into_iter().map(|(_, literals)| literals).filter(|literals| literals.len() > 1).collect();
                prop_assert_eq!(classes, Some(expected));
            }
        }
    }
}
