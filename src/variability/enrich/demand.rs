//! Asserts the demands that somebody else makes of variants, such as a template in which they
//! substitute a node.

use super::{Assertions, Origin};
use crate::variability::choice::{DemandCondition, VariantDemand};
use crate::variability::expression::Evaluator;
use cuvee_sat::formula::Formula;

impl Assertions {
    /// Adds demands as constraints. An element that does not exist counts as absent.
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

/// The formula that at least `least` of these hold. There are `k` among the first `i` if there are
/// `k` among the first `i - 1`, or `k - 1` among them and the `i`-th holds.
fn at_least(evaluator: &mut Evaluator<'_, '_>, formulas: &[Formula], least: usize) -> Formula {
    let arena = &mut evaluator.arena;
    match least {
        1 => return arena.or(formulas.iter().copied()),
        _ if least == formulas.len() => return arena.and(formulas.iter().copied()),
        _ if least > formulas.len() => return Formula::FALSE,
        _ => {}
    }
    // At index `k`: whether at least `k` of the formulas so far hold.
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
