//! Chooses templates for all nodes of a round together. This is needed if the best choice for each
//! node alone leaves a requirement open that has to be fulfilled, or uses a capability too often.
//!
//! Combinations are tried by ascending total weight, so the first ones that leave nothing open are
//! the best. Of those with the same weight, the one counts that leaves fewer optional relations
//! open and uses fewer existing nodes.

use super::choose::CandidateChoice;
use super::round::{NodeCandidates, Round, RoundChoice};
use super::{FulfilmentCost, PlacedRound, TemplateScopes, placed};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use cuvee_text::decimal::Decimal;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How many combinations are tried at most.
const TRIED: usize = 1_000;

/// Whether other combinations may avoid these errors.
pub(super) fn may_help(Diagnostics(errors): &Diagnostics) -> bool {
    const CODES: [Code; 4] = [
        Code::UnfulfilledRequirement,
        Code::NoSelection,
        Code::TooManyRelations,
        Code::IncompatibleRequirement,
    ];
    errors.iter().any(|error| CODES.iter().any(|&code| error.code == code))
}

/// A combination: for each node the position of its candidate.
#[derive(Clone, Debug)]
struct CombinedChoice {
    weight: Decimal,
    at: Vec<usize>,
    /// The candidates of nodes before this one do not change any more.
    from: usize,
}

impl Ord for CombinedChoice {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.order(other.weight).then_with(|| self.at.cmp(&other.at))
    }
}

impl PartialOrd for CombinedChoice {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for CombinedChoice {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for CombinedChoice {}

/// The best combination found so far, and another one that is as good.
struct BestCombination<'r, 'a> {
    combination: CombinedChoice,
    cost: FulfilmentCost,
    choice: RoundChoice<'r, 'a>,
    placed: PlacedRound<'a>,
    rival: Option<Vec<usize>>,
}

/// Chooses for all nodes together. `errors` are those of the best choice for each node alone.
///
/// # Errors
/// `errors` if no combination avoids them, and `ambiguous-substitution`.
pub(super) fn choose<'r, 'a>(
    round: &Round<'r, '_, 'a>,
    scopes: &TemplateScopes,
    errors: Diagnostics,
) -> Result<(RoundChoice<'r, 'a>, PlacedRound<'a>), Diagnostics> {
    let candidates = round.candidates();
    let mut open = BinaryHeap::from_iter(first(&candidates).map(Reverse));
    let mut best: Option<BestCombination<'r, 'a>> = None;
    let mut tried = 0;
    while let Some(Reverse(combination)) = open.pop() {
        let is_behind = |best: &BestCombination<'_, '_>| {
            best.combination.weight.order(combination.weight).is_lt()
        };
        if best.as_ref().is_some_and(is_behind) {
            break;
        }
        if tried == TRIED || round.settings.solver.limit.is_over() {
            return Err(not_all(errors, tried));
        }
        tried += 1;
        open.extend(next(&candidates, &combination).map(Reverse));
        let choice = round.combined(&candidates, &combination.at);
        let Ok(placed) = placed(round, &choice, scopes.clone()) else { continue };
        let cost = placed.cost;
        match &mut best {
            Some(best) if cost == best.cost => best.rival = Some(combination.at),
            Some(known) if known.cost < cost => {}
            _ => {
                best = Some(BestCombination { combination, cost, choice, placed, rival: None });
            }
        }
    }
    match best {
        None => Err(errors),
        Some(BestCombination { combination, rival: Some(rival), .. }) => {
            Err(ambiguous(round, &candidates, &combination, &rival).into())
        }
        Some(BestCombination { choice, placed, .. }) => Ok((choice, placed)),
    }
}

/// The combination of the best candidates, if each node has one.
fn first(candidates: &[NodeCandidates<'_>]) -> Option<CombinedChoice> {
    let at = vec![0; candidates.len()];
    Some(CombinedChoice { weight: weight(candidates, &at)?, at, from: 0 })
}

/// The combinations that take the next candidate for one node. Each combination is reached once.
fn next<'n>(
    candidates: &'n [NodeCandidates<'_>],
    combination: &'n CombinedChoice,
) -> impl Iterator<Item = CombinedChoice> + 'n {
    (combination.from..candidates.len()).filter_map(|from| {
        let mut at = combination.at.clone();
        at[from] += 1;
        Some(CombinedChoice { weight: weight(candidates, &at)?, at, from })
    })
}

/// The total weight of a combination; `None` if one of its candidates does not exist.
fn weight(candidates: &[NodeCandidates<'_>], at: &[usize]) -> Option<Decimal> {
    candidates.iter().zip(at).try_fold(Decimal::ZERO, |all, (of_node, &at)| {
        all.plus(of_node.candidates.get(at)?.explanation.weight)
    })
}

/// Adds that not all combinations were tried.
fn not_all(mut errors: Diagnostics, tried: usize) -> Diagnostics {
    let message = format!(
        "{tried} choices of templates were tried, and another one may exist that leaves nothing open"
    );
    let note = Diagnostic::note(Code::Unproven, message);
    errors.push(note.help("choose templates by `--choose`, or allow more time with `--timeout`"));
    errors
}

/// The error that two combinations are equally good.
fn ambiguous(
    round: &Round<'_, '_, '_>,
    candidates: &[NodeCandidates<'_>],
    CombinedChoice { weight, at, .. }: &CombinedChoice,
    rival: &[usize],
) -> Diagnostic {
    let differing = candidates.iter().zip(at.iter().zip(rival));
    let differing: Vec<_> = differing.filter(|(_, (one, other))| one != other).collect();
    let flag = |(of_node, at): (&NodeCandidates<'_>, usize)| {
        let CandidateChoice { explanation: told, .. } = &of_node.candidates[at];
        let preset = told.preset.as_ref().map(|preset| format!(":{preset}")).unwrap_or_default();
        format!("--choose {}={}{preset}", told.node, told.template)
    };
    let flags = |which: &dyn Fn((&usize, &usize)) -> usize| {
        let flags = differing.iter().map(|(of_node, at)| flag((of_node, which(*at))));
        flags.collect::<Vec<_>>().join(" ")
    };
    let names: Vec<_> = differing
        .iter()
        .map(|(of_node, _)| format!("\"{}\"", round.view.nodes[of_node.node].name))
        .collect();
    let message = format!(
        "two choices for {} leave nothing open with the same weight {weight}",
        names.join(" and ")
    );
    let at = differing.first().map(|(of_node, _)| round.view.nodes[of_node.node].span);
    let (one, other) = (flags(&|(one, _)| *one), flags(&|(_, other)| *other));
    Diagnostic::error(Code::AmbiguousSubstitution, message)
        .at(at)
        .section("3.8.13")
        .help(format!("choose one: `{one}` or `{other}`"))
}
