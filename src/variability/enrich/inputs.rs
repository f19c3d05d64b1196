//! Asserts what holds for open inputs whatever is present: each is in exactly one case, the rules
//! between features hold, and every condition has a value.

use super::{Assertions, Origin};
use crate::variability::expression::{Evaluator, OpenInput};
use crate::variability::inputs::{FeatureKeyword, InputId, Inputs};
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use rustc_hash::FxHashSet;

impl Assertions {
    /// Asserts that each open input is in exactly one case, and in no case in which a condition has
    /// no value. `when` has the formulas of the cases.
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
        // Many elements may use the same named expression, which fails at one place.
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

/// The formula of a rule. `p` is the input that has the rule, `c` are the inputs that the rule
/// lists.
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
    /// The condition that an input is selected as a feature; an input without a value never is.
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
