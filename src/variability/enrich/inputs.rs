//! What holds of open inputs whatever is present: exactly one case of each, the rules between
//! features, and nothing that cannot be computed.

use super::{Assertions, Origin};
use crate::sat::formula::Formula;
use crate::text::source::Span;
use crate::variability::expression::{Evaluator, OpenInput};
use crate::variability::inputs::{FeatureKeyword, InputId, Inputs};
use rustc_hash::FxHashSet;

impl Assertions {
    /// Adds that open inputs are in exactly one case each, `when` being their cases, and in none in
    /// which a condition has no value.
    pub(crate) fn add_inputs(
        &mut self,
        evaluator: &mut Evaluator<'_, '_>,
        open: &[OpenInput],
        when: &[Vec<Formula>],
    ) {
        for (open, when) in open.iter().zip(when).filter(|(_, when)| when.len() > 2) {
            let one = evaluator.arena.exactly_one(when.iter().copied());
            self.push([one], Origin::Cases(open.span));
        }
        // Many elements may use the same named expression.
        let mut known = FxHashSet::default();
        for (when, error) in evaluator.failures() {
            if let Some(span) = error.span.filter(|&span| known.insert((*when, span))) {
                self.push([!*when], Origin::Failure(span));
            }
        }
    }

    /// Adds the rules between inputs.
    pub(crate) fn add_features(&mut self, evaluator: &mut Evaluator<'_, '_>, inputs: &Inputs<'_>) {
        for (id, declaration) in
            inputs.declarations.iter().filter(|(_, declaration)| !declaration.rules.is_empty())
        {
            let parent = evaluator.feature(id, declaration.span);
            for rule in &declaration.rules {
                let children: Vec<_> = rule
                    .targets
                    .iter()
                    .map(|&target| evaluator.feature(target, rule.span))
                    .collect();
                let holds = feature_rule(evaluator, rule.keyword, parent, &children);
                self.push([holds], Origin::Feature(rule.keyword, rule.span));
            }
        }
    }
}

/// The rule as a formula, with p for the input that has it and c for those that it lists.
fn feature_rule(
    evaluator: &mut Evaluator<'_, '_>,
    keyword: FeatureKeyword,
    p: Formula,
    c: &[Formula],
) -> Formula {
    let arena = &mut evaluator.arena;
    match keyword {
        FeatureKeyword::Mandatory => {
            let same: Vec<_> = c.iter().map(|&child| arena.iff(p, child)).collect();
            arena.and(same)
        }
        FeatureKeyword::Optional => {
            let any = arena.or(c.iter().copied());
            arena.implies(any, p)
        }
        FeatureKeyword::Choices => {
            let any = arena.or(c.iter().copied());
            arena.implies(p, any)
        }
        FeatureKeyword::Alternatives => {
            let one = arena.exactly_one(c.iter().copied());
            arena.implies(p, one)
        }
        FeatureKeyword::Requires => {
            let all = arena.and(c.iter().copied());
            arena.implies(p, all)
        }
        FeatureKeyword::Excludes => {
            let any = arena.or(c.iter().copied());
            arena.implies(p, !any)
        }
    }
}

impl Evaluator<'_, '_> {
    /// When an input counts as a selected feature; one without a value never does.
    fn feature(&mut self, id: InputId, span: Span) -> Formula {
        if let Some(cases) = self.cases_of(id) {
            let truthy: Vec<_> = cases
                .iter()
                .filter(|(_, value)| value.is_truthy())
                .map(|(when, _)| *when)
                .collect();
            return self.arena.or(truthy);
        }
        Formula::constant(self.input_at(id, span).is_ok_and(|value| value.is_truthy()))
    }
}
