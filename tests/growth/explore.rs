//! Exploring templates whose inputs are a feature model. What is measured is work, not time.

use super::features::{FeatureShape, SHAPES, template};
use cuvee::Resolver;
use cuvee::explore::Query;
use cuvee::progress::Progress;
use std::collections::BTreeMap;

/// What was counted on the way to an answer.
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

/// Nothing is left to be asked of a solver where all that is there follows from inputs.
#[test]
fn opening_asks_nothing() {
    let mut work = Work::default();
    let query = Query { limit: 1, ..Query::default() };
    let found = model(SHAPES[1]).variants_with(&query, &mut work).unwrap().result;
    assert!(found.more);
    assert_eq!(work.0["other variables"], 0, "{:?}", work.0);
    assert!(work.0["gates"] > 2_500, "{:?}", work.0);
}

/// What inputs influence is mostly seen, and not asked for one by one; twice as many inputs are about
/// twice the work.
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
