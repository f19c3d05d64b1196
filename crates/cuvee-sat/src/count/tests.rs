//! Compares compiled models with brute force.

use std::collections::{BTreeMap, BTreeSet};

use biodivine_lib_bdd::BddVariableSet;
use proptest::prelude::*;

use super::*;
use crate::formula::{Arena, Atom, Encoder, Formula, OriginId};
use crate::solve::random::Random;
use crate::solve::tests::{clauses, holds};

const VARS: u32 = 10;

fn compiled(clauses: &[Vec<Lit>], projection: &[Var]) -> Compiled {
    compile(VARS as usize, clauses.iter().map(Vec::as_slice), projection, 1_000_000).unwrap()
}

fn projected(clauses: &[Vec<Lit>], projection: &[Var]) -> BTreeSet<Vec<bool>> {
    let models = (0..1 << VARS).filter(|&model| holds(clauses, model));
    models.map(|model| projection.iter().map(|var| model >> var.0 & 1 == 1).collect()).collect()
}

/// Random clauses, and definitions `v ⇔ a ∧ b` among them.
fn problem() -> impl Strategy<Value = Vec<Vec<Lit>>> {
    let definition = prop::collection::vec((0..2 * VARS).prop_map(Lit), 3);
    (clauses(VARS, 0..30), prop::collection::vec(definition, 0..4)).prop_map(
        |(mut clauses, definitions)| {
            for definition in definitions {
                let [v, a, b] = [0, 1, 2].map(|index| definition[index]);
                clauses.extend([vec![v, !a, !b], vec![!v, a], vec![!v, b]]);
            }
            clauses
        },
    )
}

fn projection() -> impl Strategy<Value = Vec<Var>> {
    prop::collection::vec((0..VARS).prop_map(Var), 0..12)
}

/// The number of projected models, counted by a binary decision diagram.
fn by_diagram(vars: u16, clauses: &[Vec<Lit>], projection: &[Var]) -> String {
    let set = BddVariableSet::new_anonymous(vars);
    let names = set.variables();
    let clause = |clause: &Vec<Lit>| {
        let literal =
            |literal: &Lit| set.mk_literal(names[literal.var().index()], !literal.is_negative());
        clause.iter().fold(set.mk_false(), |all, next| all.or(&literal(next)))
    };
    let all = clauses.iter().fold(set.mk_true(), |all, next| all.and(&clause(next)));
    let hidden: Vec<_> = (0..u32::from(vars))
        .map(Var)
        .filter(|var| !projection.contains(var))
        .map(|var| names[var.index()])
        .collect();
    (all.exists(&hidden).exact_cardinality() >> hidden.len()).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn projected_clauses_have_the_same_models(clauses in problem(), projection in projection()) {
        let mut shown = vec![false; VARS as usize];
        projection.iter().for_each(|var| shown[var.index()] = true);
        let found = crate::simplify::projected(clauses.iter().map(Vec::as_slice), shown);
        let found = found.map_or(BTreeSet::new(), |found| projected(&found, &projection));
        prop_assert_eq!(found, projected(&clauses, &projection));
    }

    #[test]
    fn models_are_those_of_brute_force(clauses in problem(), projection in projection()) {
        let expected = projected(&clauses, &projection);
        let compiled = compiled(&clauses, &projection);
        prop_assert_eq!(compiled.count(), &BigUint::from(expected.len()));
        let models: Vec<_> = compiled.models().collect();
        prop_assert_eq!(models.len(), expected.len());
        prop_assert_eq!(models.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn conditions_count_as_by_brute_force(clauses in problem(), projection in projection(), conditions in clauses(VARS, 1..2)) {
        let conditions: Vec<_> = conditions.concat().into_iter().filter(|literal| projection.contains(&literal.var())).collect();
        let all: Vec<_> = clauses.iter().cloned().chain(conditions.iter().map(|&literal| vec![literal])).collect();
        prop_assert_eq!(compiled(&clauses, &projection).count_where(&conditions), projected(&all, &projection).len().into());
    }

    /// Each model is drawn as often as it should be. There are 200 draws for each model, so that
    /// deviations of 8 standard deviations do not occur.
    #[test]
    fn each_model_is_drawn_as_often(clauses in problem(), projection in prop::collection::vec((0..VARS).prop_map(Var), 0..6), seed: u64) {
        let compiled = compiled(&clauses, &projection);
        let expected = projected(&clauses, &projection);
        let mut random = Random::new(seed);
        let mut drawn: BTreeMap<Vec<bool>, i32> = BTreeMap::new();
        for _ in 0..200 * expected.len() {
            *drawn.entry(compiled.sample(&mut || random.next()).unwrap()).or_default() += 1;
        }
        prop_assert_eq!(drawn.keys().cloned().collect::<BTreeSet<_>>(), expected);
        prop_assert!(drawn.values().all(|&count| (count - 200).abs() < 113), "{:?}", drawn);
    }

    #[test]
    fn too_little_effort_gives_up_and_more_does_not_change_the_answer(clauses in problem(), effort in 0..40_u64) {
        let projection: Vec<_> = (0..VARS).map(Var).collect();
        let slices = || clauses.iter().map(Vec::as_slice);
        if let Some(compiled) = compile(VARS as usize, slices(), &projection, effort) {
            prop_assert_eq!(compiled.count(), &BigUint::from(projected(&clauses, &projection).len()));
        }
    }

    #[test]
    fn numbers_are_below_their_bound(bound in 1..u64::MAX, shift in 0..100_u32, seed: u64) {
        let bound = BigUint::from(bound) << shift;
        let mut random = Random::new(seed);
        prop_assert!(below(&bound, &mut || random.next()) < bound);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Compares with decision diagrams, on more variables than brute force can take. There are
    /// clauses over windows of variables, as many as leave models most of the time.
    #[test]
    fn decision_diagrams_count_as_many(windows in prop::collection::vec((0..30_u32, clauses(6, 1..2)), 20..60), hidden in prop::collection::vec(0..36_u32, 0..20)) {
        let shift = |start: u32| move |literal: &Lit| Lit(literal.0 + 2 * start);
        let clauses: Vec<Vec<Lit>> =
            windows.iter().map(|(start, clause)| clause.concat().iter().map(shift(*start)).collect()).collect();
        let projection: Vec<_> = (0..36).filter(|var| !hidden.contains(var)).map(Var).collect();
        let compiled = compile(36, clauses.iter().map(Vec::as_slice), &projection, 1_000_000).unwrap();
        prop_assert_eq!(compiled.count().to_string(), by_diagram(36, &clauses, &projection));
        let are_models = compiled.models().take(5).all(|model| {
            let given = projection.iter().zip(model).map(|(var, value)| vec![var.positive().negate_if(!value)]);
            by_diagram(36, &clauses.iter().cloned().chain(given).collect::<Vec<_>>(), &projection) == "1"
        });
        prop_assert!(are_models);
    }
}

#[test]
fn nothing_is_drawn_where_there_is_no_model() {
    let literal = Var(0).positive();
    let compiled = compiled(&[vec![literal], vec![!literal]], &[Var(0)]);
    assert_eq!(compiled.count(), &BigUint::ZERO);
    assert_eq!(compiled.models().next(), None);
    assert_eq!(compiled.sample(&mut || 0), None);
    assert_eq!(compiled.count_where(&[literal]), BigUint::ZERO);
}

/// The factors recorded for one part do not matter when another part turns out to be impossible.
#[test]
fn one_impossible_part_is_enough() {
    let possible = vec![Var(0).positive(), Var(1).positive()];
    let signs = [[false, false], [false, true], [true, false], [true, true]];
    let mut impossible: Vec<Vec<Lit>> = Vec::new();
    for [a, b] in signs {
        for c in [false, true] {
            impossible.push(
                [(2, a), (3, b), (4, c)]
                    .map(|(var, negate)| Var(var).positive().negate_if(negate))
                    .to_vec(),
            );
        }
    }
    let all: Vec<_> = (0..5).map(Var).collect();
    let clauses: Vec<_> = std::iter::once(possible).chain(impossible).collect();
    assert_eq!(compiled(&clauses, &all).count(), &BigUint::ZERO);
    assert_eq!(compiled(&clauses, &all).models().count(), 0);
}

#[test]
fn variables_without_clauses_are_free() {
    let projection: Vec<_> = (0..300).map(Var).collect();
    let compiled = compile(300, std::iter::empty(), &projection, 1_000).unwrap();
    assert_eq!(compiled.count(), &(BigUint::from(1_u32) << 300));
    assert_eq!(
        compiled.count_where(&[Var(7).positive(), Var(8).negative()]),
        BigUint::from(1_u32) << 298
    );
    assert_eq!(compiled.models().take(1000).collect::<BTreeSet<_>>().len(), 1000);
}

/// The models of the clauses `xᵢ ∨ xᵢ₊₁` are counted by the Fibonacci numbers.
#[test]
fn a_long_chain_is_counted() {
    let clauses: Vec<_> =
        (0..3000).map(|var| [Var(var).positive(), Var(var + 1).positive()]).collect();
    let projection: Vec<_> = (0..=3000).map(Var).collect();
    let compiled =
        compile(0, clauses.iter().map(<[_; 2]>::as_slice), &projection, 10_000_000).unwrap();
    let (mut a, mut b) = (BigUint::from(1_u32), BigUint::from(2_u32));
    for _ in 0..3000 {
        (a, b) = (b.clone(), a + b);
    }
    assert_eq!(compiled.count(), &b);
}

type Constraint = fn(&mut Arena, Vec<Formula>) -> Formula;

/// The effort grows with the number of variables in one constraint, and not with its square.
#[test]
fn one_constraint_over_many_variables_is_counted() {
    let exactly_one: Constraint = |arena, atoms| arena.exactly_one(atoms);
    let parity: Constraint = |arena, atoms| arena.xor(atoms);
    for (constraint, models) in [(exactly_one, None), (parity, Some(BigUint::from(2_u8)))] {
        for size in [1_000, 8_000_u32] {
            let mut arena = Arena::default();
            let atoms = (0..size).map(|atom| arena.atom(Atom(atom))).collect();
            let all = constraint(&mut arena, atoms);
            let mut encoder = Encoder::new(&arena, size);
            encoder.assert(&[all], OriginId(0));
            let cnf = encoder.finish();
            let clauses = cnf.clauses().map(|clause| clause.literals);
            let projection: Vec<_> = (0..size).map(Var).collect();
            let effort = 160 * u64::from(size);
            let compiled = compile(cnf.vars(), clauses, &projection, effort).unwrap();
            let expected = models.as_ref().map_or(size.into(), |two| two.pow(size - 1));
            assert_eq!(compiled.count(), &expected);
        }
    }
}

/// The clauses hide a pigeonhole problem. It takes a long search to find that out, which is given
/// up in time.
#[test]
fn a_hard_question_is_given_up() {
    let var = |pigeon: u32, hole: u32| Var(1 + pigeon * 11 + hole);
    let mut clauses: Vec<Vec<Lit>> =
        (0..12).map(|pigeon| (0..11).map(|hole| var(pigeon, hole).positive()).collect()).collect();
    for hole in 0..11 {
        for pigeon in 0..12 {
            clauses.extend(
                (0..pigeon)
                    .map(|other| vec![var(pigeon, hole).negative(), var(other, hole).negative()]),
            );
        }
    }
    clauses[0].push(Var(0).positive());
    assert!(compile(0, clauses.iter().map(Vec::as_slice), &[Var(0)], 1_000).is_none());
}
