//! What all models have in common: literals that are always true or never, and literals that are always
//! equal.
//!
//! Both start from a few models that are as unlike each other as may be, which show most of what can
//! differ; where models can be had by walking, so does what is around each that is found. Then the
//! solver is asked for a model in which *anything* that is left differs: either it shows something new,
//! or all of the rest is proven in one answer.
//!
//! # References
//!
//! - João Marques-Silva, Mikoláš Janota, Inês Lynce. "On Computing Backbones of Propositional Theories."
//!   ECAI 2010: candidates that models rule out, and one clause that asks for all that are left.
//! - Andreas Kuehlmann, Viresh Paruthi, Florian Krohm, Malay K. Ganai. "Robust Boolean Reasoning for
//!   Equivalence Checking and Functional Property Verification." IEEE TCAD 2002: classes of what is
//!   equal in all models seen so far, split until a solver proves them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::equivalence::Equivalences;
use super::models::Models;
use super::propagator::Propagator;
use super::random::Random;
use super::walk::Samples;
use crate::sat::formula::Lit;

/// What does not differ between models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backbone {
    /// True in each model, in the order of the candidates.
    pub always: Vec<Lit>,
    /// True in no model, in the order of the candidates.
    pub never: Vec<Lit>,
}

/// Which candidates are true in all models, and which in none; `None` where there is no model.
///
/// ```
/// use cuvee::formula::Var;
/// use cuvee::solve::backbone::backbone;
/// use cuvee::solve::{Models, SolverKind};
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

/// The same, where some models are known already.
pub(crate) fn backbone_beside(
    samples: &mut Samples,
    candidates: &[Lit],
    models: &mut Models,
) -> Option<Backbone> {
    models.cover_literals(candidates);
    if !models.solve(&[]) {
        return None;
    }
    // What each would be if it differed from the first model.
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

/// The literals that are true in no model, given that there is a model.
///
/// Propagation guesses a model in which as many as possible are true, so that few models show all
/// that can be; one question proves the rest.
pub(super) fn impossible(open: Vec<Lit>, models: &mut Models) -> Vec<Lit> {
    impossible_beside(&mut Samples::default(), open, models)
}

/// The same, where some models are known already.
fn impossible_beside(samples: &mut Samples, mut open: Vec<Lit>, models: &mut Models) -> Vec<Lit> {
    let mut show = |open: &mut Vec<Lit>, models: &Models| {
        open.retain(|&literal| !models.is_true(literal));
        let new = samples.see(models);
        open.retain(|&literal| !samples.show_since(new, literal));
    };
    while !open.is_empty() {
        models.solve_toward(&open);
        show(&mut open, models);
        if open.is_empty() || !models.solve_any(&open, &[]) {
            break;
        }
        show(&mut open, models);
    }
    open
}

/// Sets of candidates that have the same value in each model, those that never change included;
/// each with two candidates or more, in the order of the candidates. `None` where there is no
/// model.
///
/// ```
/// use cuvee::formula::Var;
/// use cuvee::solve::backbone::equivalences;
/// use cuvee::solve::{Models, SolverKind};
///
/// let [a, b, c] = [0, 1, 2].map(|var| Var(var).positive());
/// let clauses = [[a, !b], [!a, b], [a, c]];
/// let mut models = Models::new(3, clauses.iter().map(|clause| clause.as_slice()), SolverKind::default());
/// assert_eq!(equivalences(&[a, b, c], &mut models), Some(vec![vec![a, b]]));
/// ```
pub fn equivalences(candidates: &[Lit], models: &mut Models) -> Option<Vec<Vec<Lit>>> {
    equivalences_beside(&mut Samples::default(), candidates, models)
}

/// The same, where some models are known already.
pub(crate) fn equivalences_beside(
    samples: &mut Samples,
    candidates: &[Lit],
    models: &mut Models,
) -> Option<Vec<Vec<Lit>>> {
    models.cover_literals(candidates);
    if !models.solve(&[]) {
        return None;
    }
    // What clauses of two literals make equal is one to begin with.
    let same = models.equivalences();
    let mut classes = Classes::new(candidates.iter().map(|&literal| same.of(literal)));
    classes.split(models);
    classes.tell(|literal| samples.of_literal(literal).collect::<Vec<u64>>());
    classes.split_at_random(models, samples);
    let mut propagator = models.propagator();
    let mut splits: FxHashMap<Vec<Lit>, Option<Lit>> = FxHashMap::default();
    loop {
        // What propagation does not show to be equal.
        let mut open = Vec::new();
        for class in classes.sets() {
            let split = splits.entry(class).or_insert_with_key(|class| {
                (!propagates(class, &mut propagator)).then(|| differ(class, models))
            });
            open.extend(*split);
        }
        // As many as can be at once, so that few models show all differences.
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

/// A new literal that implies that some literals are not all equal.
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

/// Whether propagation alone shows that some literals are equal: they imply each other in a circle.
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
/// So many that show nothing new are enough.
const IN_VAIN: usize = 3;

/// Candidates that no model so far tells apart.
struct Classes {
    /// Each once.
    candidates: Vec<Lit>,
    /// The class of each candidate.
    of: Vec<u32>,
}

impl Classes {
    fn new(candidates: impl Iterator<Item = Lit>) -> Self {
        let mut met = FxHashSet::default();
        let candidates: Vec<Lit> = candidates.filter(|&literal| met.insert(literal)).collect();
        Self { of: vec![0; candidates.len()], candidates }
    }

    /// Tells apart what differs in the last model.
    fn split(&mut self, models: &Models) {
        self.tell(|literal| models.is_true(literal));
    }

    /// The same, and what differs in models that are met on the way from it.
    fn split_around(&mut self, models: &Models, samples: &mut Samples) {
        self.split(models);
        let new = samples.see(models);
        self.tell(|literal| samples.since(new, literal).collect::<Vec<u64>>());
    }

    /// Tells apart what is not of the same kind.
    fn tell<K: Eq + std::hash::Hash>(&mut self, kind: impl Fn(Lit) -> K) {
        let mut names = FxHashMap::default();
        for (&literal, class) in self.candidates.iter().zip(&mut self.of) {
            let next = names.len() as u32;
            *class = *names.entry((*class, kind(literal))).or_insert(next);
        }
    }

    /// Tells apart what differs in models that are as unlike each other as may be, until those show
    /// nothing new. Only what is not told apart yet has a say in them: where most of a tree is in no
    /// model by chance, what is deep in it has to be asked for.
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

    fn count(&self) -> usize {
        self.of.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// The classes of two candidates or more.
    fn sets(&self) -> Vec<Vec<Lit>> {
        let classes = self.candidates.iter().copied().zip(self.of.iter().copied());
        sets(self.count(), classes)
    }

    /// The same of all that is equal to candidates, in its order.
    fn sets_of(&self, all: &[Lit], same: &Equivalences) -> Vec<Vec<Lit>> {
        let classes: FxHashMap<Lit, u32> =
            self.candidates.iter().copied().zip(self.of.iter().copied()).collect();
        let class = |&literal: &Lit| Some((literal, *classes.get(&same.of(literal))?));
        sets(self.count(), all.iter().filter_map(class))
    }
}

/// What is of the same class, where that is more than one.
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
    use crate::sat::solve::tests::{KINDS, clauses, holds};

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
