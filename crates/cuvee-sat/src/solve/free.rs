//! Reduces factors to those that are free: factors of which several cases are in models, and only
//! one of the factors that go together in all models.
//!
//! In deep trees, most elements are in no model, or only together with what contains them. So there
//! is much less to combine than there are factors. A combination of free factors stands for several
//! combinations of all factors. How many these are is counted with polynomials: `(1 + x)ⁿ - 1` for
//! `n` factors of which at least one is taken.

use rustc_hash::{FxHashMap, FxHashSet};

use super::backbone::{backbone_beside, equivalences_beside};
use super::models::Models;
use super::walk::Samples;
use crate::formula::Lit;

/// The factors that are free.
pub(super) struct FreeFactors {
    /// The cases of each free factor that are in some model. Of factors that go together, only one
    /// is contained.
    pub factors: Vec<Vec<Lit>>,
    /// For each free factor, how many factors go together with it, including itself.
    copies: Vec<u64>,
    /// How many factors have the same case in all models.
    decided: u64,
}

impl FreeFactors {
    /// Finds the free factors. `None` where there is no model.
    pub(super) fn of(samples: &mut Samples, all: &[Vec<Lit>], models: &mut Models) -> Option<Self> {
        let never = backbone_beside(samples, &all.concat(), models)?.never;
        // As clauses, propagation need not find these again.
        never.iter().for_each(|&case| models.add_clause(&[!case]));
        let never: FxHashSet<Lit> = never.into_iter().collect();
        let possible =
            |cases: &Vec<Lit>| cases.iter().copied().filter(|case| !never.contains(case)).collect();
        let mut free: Vec<Vec<Lit>> = all.iter().map(possible).collect();
        free.retain(|cases| cases.len() > 1);
        let decided = (all.len() - free.len()) as u64;
        let same = Equal::of(samples, &free, models);
        let mut found = Self { factors: Vec::new(), copies: Vec::new(), decided };
        let mut places: FxHashMap<Vec<Lit>, usize> = FxHashMap::default();
        for cases in free {
            let mut kind: Vec<Lit> = cases.iter().map(|&case| same.least(case)).collect();
            kind.sort_unstable();
            let place = *places.entry(kind).or_insert(found.factors.len());
            if place == found.factors.len() {
                found.factors.push(cases);
                found.copies.push(0);
            }
            found.copies[place] += 1;
        }
        Some(found)
    }

    /// A polynomial whose coefficient of degree `k` is the number of ways to choose `k` of the
    /// decided factors.
    pub(super) fn ways_decided(&self, most: usize) -> Vec<u64> {
        power(self.decided, most)
    }

    /// For each free factor, a polynomial that counts the ways to choose at least one of the
    /// factors that go together with it.
    pub(super) fn ways(&self, most: usize) -> Vec<Vec<u64>> {
        let ways = |&copies: &u64| {
            let mut ways = power(copies, most);
            ways[0] = 0;
            ways
        };
        self.copies.iter().map(ways).collect()
    }
}

/// The polynomial `(1 + x)ⁿ` up to a degree. Coefficients may overflow where they are not needed,
/// and the result is right all the same.
fn power(n: u64, most: usize) -> Vec<u64> {
    let mut ways = vec![0_u64; most + 1];
    ways[0] = 1;
    for _ in 0..n {
        for degree in (1..=most).rev() {
            ways[degree] = ways[degree - 1].wrapping_add(ways[degree]);
        }
    }
    ways
}

/// Literals that are equal in all models.
struct Equal {
    least: FxHashMap<Lit, Lit>,
}

impl Equal {
    /// Finds the literals that are equal or opposite. Each literal is negated if it is false in one
    /// model, so that opposite literals become equal ones.
    fn of(samples: &mut Samples, factors: &[Vec<Lit>], models: &mut Models) -> Self {
        let mut least = FxHashMap::default();
        if !models.solve(&[]) {
            return Self { least };
        }
        let mut looked: Vec<Lit> = factors.concat();
        looked
            .iter_mut()
            .for_each(|literal| *literal = literal.negate_if(!models.is_true(*literal)));
        looked.sort_unstable();
        looked.dedup();
        for set in equivalences_beside(samples, &looked, models).unwrap_or_default() {
            let next = set.iter().cycle().skip(1);
            set.iter().zip(next).for_each(|(&one, &next)| models.add_clause(&[!one, next]));
            least.extend(set.iter().map(|&literal| (literal, set[0])));
        }
        Self { least }
    }

    /// The literal that represents all literals that are equal to this one.
    fn least(&self, literal: Lit) -> Lit {
        let other = || self.least.get(&!literal).map(|&least| !least);
        self.least.get(&literal).copied().or_else(other).unwrap_or(literal)
    }
}
