//! What somebody else asks of variants.

use super::{Assertions, Origin};
use crate::sat::formula::Formula;
use crate::variability::choice::{DemandCondition, VariantDemand};
use crate::variability::expression::Evaluator;

impl Assertions {
    /// Adds what is asked of variants, as constraints; what is not there is never present.
    pub(crate) fn add_demands(
        &mut self,
        evaluator: &mut Evaluator<'_, '_>,
        demands: &[VariantDemand],
    ) {
        for VariantDemand { condition, span } in demands {
            let holds = formula(evaluator, condition);
            self.push([holds], Origin::Demand(*span));
        }
    }
}

fn formula(evaluator: &mut Evaluator<'_, '_>, condition: &DemandCondition) -> Formula {
    let graph = evaluator.graph;
    match condition {
        DemandCondition::Node(name) => {
            graph.node_named(name).map_or(Formula::FALSE, |node| evaluator.atom(node.id))
        }
        DemandCondition::Relation(node, position) => {
            let node = graph.node_named(node);
            let relation = node.and_then(|node| node.relations.get(*position));
            relation.map_or(Formula::FALSE, |&id| evaluator.atom(graph.relation(id).id))
        }
        DemandCondition::Not(condition) => !formula(evaluator, condition),
        DemandCondition::AtLeast(least, conditions) => {
            let all: Vec<_> =
                conditions.iter().map(|condition| formula(evaluator, condition)).collect();
            at_least(evaluator, &all, *least)
        }
    }
}

/// Whether so many of these hold: among the first `i` there are `k` where there are among the first
/// `i - 1`, or one less and the `i`-th holds.
fn at_least(evaluator: &mut Evaluator<'_, '_>, formulas: &[Formula], least: usize) -> Formula {
    let arena = &mut evaluator.arena;
    match least {
        1 => return arena.or(formulas.iter().copied()),
        _ if least == formulas.len() => return arena.and(formulas.iter().copied()),
        _ if least > formulas.len() => return Formula::FALSE,
        _ => {}
    }
    // Whether there are so many as the position says.
    let mut among = vec![Formula::FALSE; least + 1];
    among[0] = Formula::TRUE;
    for &formula in formulas {
        for count in (1..=least).rev() {
            let one_more = arena.and([among[count - 1], formula]);
            among[count] = arena.or([among[count], one_more]);
        }
    }
    among[least]
}
