//! What somebody else asks of variants.

use super::{Assertions, Origin};
use crate::sat::formula::Formula;
use crate::variability::choice::VariantDemand;
use crate::variability::expression::Evaluator;

impl Assertions {
    /// Adds what is asked of variants, as constraints; what is not there is never present.
    pub(crate) fn add_demands(
        &mut self,
        evaluator: &mut Evaluator<'_, '_>,
        demands: &[VariantDemand],
    ) {
        for demand in demands {
            let groups: Vec<_> =
                demand.groups.iter().map(|names| any_node(evaluator, names)).collect();
            let enough = at_least(evaluator, &groups, demand.least);
            let more = at_least(evaluator, &groups, demand.most.saturating_add(1));
            self.push([enough], Origin::Demand(demand.span));
            self.push([!more], Origin::Demand(demand.span));
        }
    }
}

/// Whether one of the nodes with these names is present.
fn any_node(evaluator: &mut Evaluator<'_, '_>, names: &[String]) -> Formula {
    let graph = evaluator.graph;
    let nodes = names.iter().filter_map(|name| graph.node_named(name));
    let atoms: Vec<_> = nodes.map(|node| evaluator.atom(node.id)).collect();
    evaluator.arena.or(atoms)
}

/// Whether so many of these hold: among the first `i` there are `k` where there are among the first
/// `i - 1`, or one less and the `i`-th holds.
fn at_least(evaluator: &mut Evaluator<'_, '_>, formulas: &[Formula], least: usize) -> Formula {
    if least > formulas.len() {
        return Formula::FALSE;
    }
    let arena = &mut evaluator.arena;
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
