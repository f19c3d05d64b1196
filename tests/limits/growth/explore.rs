//! Tests exploring templates whose inputs are a feature model. They measure work rather than time.

use super::features::{FeatureShape, SHAPES, one_constraint, template};
use super::grown;
use cuvee::Resolver;
use cuvee::explore::progress::Progress;
use cuvee::explore::{Query, Which};
use std::collections::BTreeMap;

/// Counts of the work that an answer took.
#[derive(Default)]
struct Work(BTreeMap<&'static str, usize>);

impl Progress for Work {
    fn counted(&mut self, what: &'static str, count: usize) {
        *self.0.entry(what).or_default() += count;
    }
}

fn model(shape: FeatureShape) -> Resolver {
    Resolver::from_text("features.yaml", template(shape))
}

/// Where the inputs determine everything, opening asks a solver nothing.
#[test]
fn opening_asks_nothing() {
    let mut work = Work::default();
    let query = Query { limit: 1, ..Query::default() };
    let found = model(SHAPES[1]).variants_with(&query, &mut work).unwrap().result;
    assert!(found.more);
    assert_eq!(work.0["other variables"], 0, "{:?}", work.0);
    assert!(work.0["gates"] > 2_500, "{:?}", work.0);
}

/// What an input influences is mostly found without asking a solver, and twice as many inputs take
/// about twice the work.
#[test]
fn inputs_are_mostly_seen() {
    let shapes = [1_250, 2_500].map(|features| FeatureShape { features, constraints: features });
    let [some, more] = shapes.map(|shape| {
        let (features, mut work) = (shape.features, Work::default());
        let report = model(shape).input_report_with(&mut work).unwrap().result;
        assert!(
            report.inputs.iter().filter(|input| !input.influences.is_empty()).count()
                > features / 2
        );
        assert!(work.0["questions"] < features, "{:?}", work.0);
        work.0["steps of simulation"]
    });
    assert!(more < 4 * some, "{some} and {more}");
}

/// Nodes of a deep tree that go together are mostly found without asking a solver, though most
/// variants have little of the tree.
#[test]
fn analyses_mostly_see() {
    let shapes = [600, 1_200].map(|features| FeatureShape { features, constraints: features / 12 });
    let [some, more] = shapes.map(|shape| {
        let mut work = Work::default();
        let analysis = model(shape).analyze_with(&mut work).unwrap().result;
        assert!(!analysis.void && !analysis.atomic_sets.is_empty());
        assert!(work.0["searches"] < shape.features, "{:?}", work.0);
        work.0["searches"]
    });
    assert!(more < 4 * some, "{some} and {more}");
}

/// A few variants cover all pairs, and making each takes few questions.
#[test]
fn pairs_are_covered_by_few() {
    let shapes = [250, 500].map(|features| FeatureShape { features, constraints: features });
    let [some, more] = shapes.map(|shape| {
        let mut work = Work::default();
        let query = Query { which: Which::Covering(2), ..Query::default() };
        let found = model(shape).variants_with(&query, &mut work).unwrap().result;
        assert!(found.covered.unwrap() > shape.features as u64);
        assert!(found.variants.len() < shape.features, "{}", found.variants.len());
        work.0["searches"]
    });
    assert!(more < 4 * some, "{some} and {more}");
}

/// For an input with many cases, each in variants of its own, neither the solver nor each condition
/// is asked about each case.
#[test]
fn many_cases_are_seen() {
    for name in ["nodes for a number each", "nodes for a listed text each"] {
        let [some, more] = [600, 1_200].map(|cases| {
            let template = Resolver::from_text("cases.yaml", grown(name, cases));
            let mut work = Work::default();
            let query = Query { limit: 3, ..Query::default() };
            let found = template.variants_with(&query, &mut work).unwrap().result;
            assert!(found.more && found.variants.len() == 3);
            assert!(work.0["searches"] < 100, "{name}: {:?}", work.0);
            work.0["evaluations"]
        });
        assert!(more < 3 * some, "{name}: {some} and {more}");
    }
}

/// Where one constraint speaks of all inputs, an input changes few gates, and propagation tells that
/// none can change alone. Models in which another input is the only one that is true are seen.
#[test]
fn one_constraint_over_all_inputs() {
    for (operator, most) in [("xor", 4), ("exo", 5)] {
        let [some, more] = [500, 1_000].map(|inputs| {
            let text = one_constraint(operator, inputs);
            let mut work = Work::default();
            let template = Resolver::from_text("all.yaml", text);
            let analysis = template.analyze_with(&mut work).unwrap().result;
            assert!(!analysis.void && analysis.dead.is_empty() && analysis.idle_inputs.is_empty());
            assert!(work.0["searches"] < 50, "{:?}", work.0);
            work.0["steps of simulation"]
        });
        assert!(more < most * some, "{some} and {more}");
    }
}

/// Where conditions compare one input with many numbers, its cases are tried side by side.
#[test]
fn one_condition_about_many_numbers() {
    let [some, more] = [500, 1_000].map(|numbers| {
        let mut work = Work::default();
        let template = Resolver::from_text("numbers.yaml", grown("conditions of a node", numbers));
        let report = template.input_report_with(&mut work).unwrap().result;
        assert!(!report.inputs[0].influences.is_empty());
        assert!(work.0["questions"] < numbers, "{:?}", work.0);
        work.0["steps of simulation"]
    });
    assert!(more < 4 * some, "{some} and {more}");
}

/// One choice of hundreds is found without asking about each, and so is that alternatives exclude
/// each other.
#[test]
fn one_of_many_is_chosen() {
    for name in ["hosts to choose from", "alternatives of a property"] {
        for size in [400, 800] {
            let mut work = Work::default();
            let template = Resolver::from_text("choice.yaml", grown(name, size));
            let analysis = template.analyze_with(&mut work).unwrap().result;
            assert!(!analysis.void && analysis.checks.is_empty());
            assert!(work.0["searches"] < 50, "{name}: {:?}", work.0);
        }
    }
}
