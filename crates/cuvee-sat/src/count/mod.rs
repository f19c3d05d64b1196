//! Counts, lists and draws the models of clauses, told apart by some of their variables.
//!
//! The clauses are compiled once. Variables are decided one after the other. After each decision,
//! what is left splits into *residuals*, sets of variables that share no clause. A residual that
//! was met before is not decided again. The trace of this search is a deterministic, decomposable
//! negation normal form (d-DNNF), in which every question takes one pass. The two values of a
//! decision have no model in common, so that their numbers of models add up. Residuals have no
//! variable in common, so that their numbers multiply.
//!
//! Models are told apart by the variables of a *projection*. The other variables are hidden: a
//! model counts if they have any suitable values. So the variables of the projection are decided
//! first. Of a residual without any of them it matters only whether it has a model, which a SAT
//! solver decides.
//!
//! 1. `simplify` makes the clauses smaller without changing the projected models.
//! 2. `order` finds an order of decisions in which clauses split early.
//! 3. `search` decides, splits and remembers.
//! 4. `dag` represents the result.
//!
//! # References
//!
//! - Adnan Darwiche. "On the Tractable Counting of Theory Models and its Application to Truth
//!   Maintenance and Belief Revision." Journal of Applied Non-Classical Logics 2001: the normal
//!   form.
//! - Jinbo Huang, Adnan Darwiche. "The Language of Search." JAIR 2007: the normal form as the trace
//!   of an exhaustive search.
//! - Rehan Abdul Aziz, Geoffrey Chu, Christian Muise, Peter Stuckey. "#∃SAT: Projected Model
//!   Counting." SAT 2015: deciding the projection first.
//! - Shubham Sharma, Rahul Gupta, Subhajit Roy, Kuldeep S. Meel. "Knowledge Compilation meets
//!   Uniform Sampling." LPAR 2018: drawing each model with the same probability.

mod dag;
mod order;
mod search;

pub use num_bigint::BigUint;

use self::dag::{Dag, Factor};
use self::search::{Searched, search};
use crate::formula::{Lit, Var};
use crate::simplify::{ClauseList, Simplified, simplify};
use crate::solve::gates::Gates;

/// The compiled models of clauses, restricted to the variables of a projection. A model is an
/// assignment of these variables that some assignment of the other variables completes. See
/// [`compile`].
#[derive(Debug)]
pub struct Compiled {
    dag: Dag,
    /// The number of models of each product.
    counts: Vec<BigUint>,
    count: BigUint,
    /// The source of the value of each variable of the projection.
    shown: Vec<Shown>,
    /// The variables of the projection in ascending order, each with its position in the
    /// projection.
    positions: Vec<(Var, u32)>,
    /// The number of variables that the products mention.
    vars: usize,
}

/// The source of the value of a variable.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Fixed(bool),
    /// The variable has the value of this literal over the variables of the products.
    Literal(Lit),
}

/// Compiles clauses over the first `vars` variables for questions about the models, told apart by
/// the variables of `projection`. `None` where that takes more than `effort` steps.
///
/// A step is a decision, or a look at 64 literals; ten million steps take a few seconds. The number
/// of steps depends on the clauses alone, not on the machine.
///
/// # Examples
/// ```
/// use cuvee_sat::formula::Var;
/// use cuvee_sat::count::compile;
/// use cuvee_sat::solve::random::Random;
///
/// let [a, b, hidden] = [0, 1, 2].map(|var| Var(var).positive());
/// let clauses = [vec![a, b], vec![!a, hidden]];
/// let compiled = compile(3, clauses.iter().map(Vec::as_slice), &[Var(0), Var(1)], 1_000).unwrap();
///
/// assert_eq!(compiled.count(), &3_u32.into());
/// assert_eq!(compiled.count_where(&[!b]), 1_u32.into());
/// let mut models: Vec<_> = compiled.models().collect();
/// models.sort();
/// assert_eq!(models, [[false, true], [true, false], [true, true]]);
/// let mut random = Random::new(1);
/// assert!(models.contains(&compiled.sample(&mut || random.next()).unwrap()));
/// ```
pub fn compile<'c>(
    vars: usize,
    clauses: impl Iterator<Item = &'c [Lit]>,
    projection: &[Var],
    effort: u64,
) -> Option<Compiled> {
    let clauses: Vec<_> = clauses.collect();
    let mentioned = clauses
        .iter()
        .copied()
        .flatten()
        .map(|literal| literal.var())
        .chain(projection.iter().copied());
    let vars = mentioned.map(|var| var.index() + 1).fold(vars, usize::max);
    let mut shown = vec![false; vars];
    projection.iter().for_each(|var| shown[var.index()] = true);
    let Some(simplified) = simplify(clauses.into_iter(), shown) else {
        return Some(Compiled::new(Dag::default(), projection, |_| Shown::Fixed(false), 0));
    };
    let Simplified { clauses, representatives, values, mut shown } = simplified;
    for var in 0..vars {
        shown[var] &= representatives[var].var().index() == var && values[var].is_none();
    }
    let decidable = determined(&clauses, &shown);
    let ranks = order::ranks(&clauses, &decidable);
    let mut dag = search(
        &Searched { clauses: &clauses, shown: &shown, decidable: &decidable, ranks: &ranks },
        effort,
    )?;
    let mut inner = vec![Var(0); vars];
    let dense = (0..vars)
        .filter(|&var| shown[var])
        .zip(0..)
        .map(|(var, name)| inner[var] = Var(name))
        .count();
    dag.rename(|var| inner[var.index()]);
    let place = |var: Var| {
        let literal = representatives[var.index()];
        match values[literal.var().index()] {
            Some(value) => Shown::Fixed(value != literal.is_negative()),
            None => Shown::Literal(
                inner[literal.var().index()].positive().negate_if(literal.is_negative()),
            ),
        }
    };
    Some(Compiled::new(dag, projection, place, dense))
}

/// Marks the shown variables, and those that follow from them. Once the shown variables are decided,
/// these have a value, so the search may decide them as well.
fn determined(clauses: &ClauseList, shown: &[bool]) -> Vec<bool> {
    let clauses: Vec<Vec<Lit>> = clauses.iter().map(<[Lit]>::to_vec).collect();
    let vars = (0..).map(Var).zip(shown);
    let inputs: Vec<Var> = vars.filter(|(_, is_shown)| **is_shown).map(|(var, _)| var).collect();
    let mut determined = shown.to_vec();
    for gate in Gates::of(shown.len(), &clauses, &inputs).gates {
        determined[gate.var.index()] = true;
    }
    determined
}

impl Compiled {
    fn new(dag: Dag, projection: &[Var], place: impl Fn(Var) -> Shown, vars: usize) -> Self {
        let counts = dag.counts(|_| None);
        let count =
            dag.root.map(|root| counts[dag.products_of(root)].iter().sum()).unwrap_or_default();
        let shown = projection.iter().map(|&var| place(var)).collect();
        let mut positions: Vec<_> = projection.iter().copied().zip(0..).collect();
        positions.sort_unstable();
        Self { dag, counts, count, shown, positions, vars }
    }

    /// The number of models.
    pub fn count(&self) -> &BigUint {
        &self.count
    }

    /// The number of nodes of the compiled form, a measure of its size.
    pub fn nodes(&self) -> usize {
        self.dag.nodes()
    }

    /// The number of models in which all given literals are true. Literals whose variables are not
    /// in the projection are ignored.
    pub fn count_where(&self, literals: &[Lit]) -> BigUint {
        let mut given = vec![None; self.vars];
        for &literal in literals {
            match self.shown_literal(literal) {
                None | Some(Shown::Fixed(true)) => {}
                Some(Shown::Fixed(false)) => return BigUint::ZERO,
                Some(Shown::Literal(inner)) => {
                    let value = &mut given[inner.var().index()];
                    if *value == Some(inner.is_negative()) {
                        return BigUint::ZERO;
                    }
                    *value = Some(!inner.is_negative());
                }
            }
        }
        let Some(root) = self.dag.root else { return BigUint::ZERO };
        self.dag.counts(|var| given[var.index()])[self.dag.products_of(root)].iter().sum()
    }

    /// The source of the value of a literal, if its variable is in the projection.
    fn shown_literal(&self, literal: Lit) -> Option<Shown> {
        let index = self.positions.partition_point(|&(var, _)| var < literal.var());
        let &(_, position) = self.positions.get(index).filter(|(var, _)| *var == literal.var())?;
        Some(match self.shown[position as usize] {
            Shown::Fixed(value) => Shown::Fixed(value != literal.is_negative()),
            Shown::Literal(inner) => Shown::Literal(inner.negate_if(literal.is_negative())),
        })
    }

    /// Draws a model; each has the same probability. `random` must return 64 random bits at each
    /// call. Returns the values of the variables of the projection, in its order. `None` where
    /// there is no model.
    pub fn sample(&self, random: &mut impl FnMut() -> u64) -> Option<Vec<bool>> {
        self.walk(&mut |choice| match choice {
            WalkChoice::Value => random() >> 63 == 1,
            WalkChoice::Product(first) => {
                let count = &self.counts[first];
                below(&(count + &self.counts[first + 1]), random) >= *count
            }
        })
    }

    /// Lists all models, each once, in an order that depends on the clauses alone. Each is given as
    /// the values of the variables of the projection, in its order.
    pub fn models(&self) -> impl Iterator<Item = Vec<bool>> {
        let mut choices = Vec::new();
        let mut done = false;
        std::iter::from_fn(move || {
            if done {
                return None;
            }
            let mut known = choices.iter().copied();
            let mut new = 0;
            let model = self.walk(&mut |_| {
                known.next().unwrap_or_else(|| {
                    new += 1;
                    false
                })
            });
            choices.resize(choices.len() + new, false);
            while choices.last() == Some(&true) {
                choices.pop();
            }
            match choices.last_mut() {
                Some(last) => *last = true,
                None => done = true,
            }
            model
        })
    }

    /// The model that a sequence of choices leads to. `None` where there is no model.
    fn walk(&self, choose: &mut impl FnMut(WalkChoice) -> bool) -> Option<Vec<bool>> {
        let mut values = vec![false; self.vars];
        let mut nodes = vec![self.dag.root?];
        while let Some(node) = nodes.pop() {
            let products = self.dag.products_of(node);
            let second = products.len() > 1 && choose(WalkChoice::Product(products.start));
            let product = products.start + usize::from(second);
            for factor in self.dag.factors_of(product) {
                match factor {
                    Factor::Literal(literal) => {
                        values[literal.var().index()] = !literal.is_negative()
                    }
                    Factor::Free(var) => values[var.index()] = choose(WalkChoice::Value),
                }
            }
            nodes.extend_from_slice(self.dag.children_of(product));
        }
        let value = |shown: &Shown| match *shown {
            Shown::Fixed(value) => value,
            Shown::Literal(literal) => values[literal.var().index()] != literal.is_negative(),
        };
        Some(self.shown.iter().map(value).collect())
    }
}

/// A choice on the way to a model.
enum WalkChoice {
    /// Whether to take the second of the two products of a node. The number is that of the first
    /// product.
    Product(usize),
    /// The value of a variable that may have either value.
    Value,
}

/// Draws a number below a positive bound; each number has the same probability.
fn below(bound: &BigUint, random: &mut impl FnMut() -> u64) -> BigUint {
    let bits = bound.bits();
    loop {
        let mut digits: Vec<u32> = (0..bits.div_ceil(64))
            .map(|_| random())
            .flat_map(|word| [word as u32, (word >> 32) as u32])
            .collect();
        digits.truncate(bits.div_ceil(32) as usize);
        if let Some(last) = digits.last_mut()
            && !bits.is_multiple_of(32)
        {
            *last &= (1 << (bits % 32)) - 1;
        }
        let number = BigUint::new(digits);
        if number < *bound {
            return number;
        }
    }
}

#[cfg(test)]
mod tests;
