//! Finds a smallest set of what competes, where nodes that are to be selected are among it. The
//! network knows nothing of relations to these ([`super::sharing`]), and a conflict of the solver
//! names the bounds that it needs, while others may do as well without some of what competes.

use super::solve::{FulfilProblem, FulfilReason, NotSolved, solvable};
use cuvee_sat::solve::SolverSettings;
use rustc_hash::FxHashSet;

/// How many competitors a message is made minimal for at most.
const MINIMISED: usize = 100;

/// The reasons of a conflict, without selections and demands that are not needed for it. Each is
/// left out once: what a set needs, its parts need as well.
pub(super) fn least(
    problem: FulfilProblem<'_, '_, '_>,
    mut reasons: Vec<FulfilReason>,
    settings: &SolverSettings,
) -> Vec<FulfilReason> {
    let selects = |reason: &FulfilReason| match reason {
        FulfilReason::Selection(at) => !problem.slots.selections[*at].incoming.is_empty(),
        _ => false,
    };
    let mut wanting = competitors(&reasons);
    if !reasons.iter().any(selects) || wanting.len() > MINIMISED {
        return reasons;
    }
    let mut open: Vec<_> = reasons.clone();
    while let Some(one) = open.pop() {
        if settings.limit.is_over() {
            break;
        }
        if !wanting.remove(&one) {
            continue;
        }
        match solvable(problem, &wanting, settings) {
            Err(NotSolved::Conflict(fewer)) => {
                wanting = competitors(&fewer);
                reasons = fewer;
            }
            Ok(()) | Err(NotSolved::Interrupted) => drop(wanting.insert(one)),
        }
    }
    reasons
}

/// The selections and demands among the reasons of a conflict.
fn competitors(reasons: &[FulfilReason]) -> FxHashSet<FulfilReason> {
    let is_competitor = |reason: &&FulfilReason| {
        matches!(reason, FulfilReason::Selection(_) | FulfilReason::Demand(_))
    };
    reasons.iter().filter(is_competitor).cloned().collect()
}
