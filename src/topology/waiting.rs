//! Words the messages about nodes that wait for each other, both in the plan of one variant and
//! over all variants.

use crate::diagnostic::{Code, Diagnostic, Severity};
use cuvee_text::source::Span;

/// How many nodes a sentence names at most; a cycle may have any number of them.
const MAX_NAMES: usize = 8;

/// One node waits for another because of a relation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait<'n> {
    pub(crate) source: &'n str,
    pub(crate) target: &'n str,
    /// The place of the relation.
    pub(crate) place: Span,
}

/// The diagnostic `cyclic-deployment`, with every relation of the cycle: the target of each is the
/// source of the next, and the last leads back to the first.
pub(crate) fn cyclic_deployment(severity: Severity, cycle: &[Wait<'_>]) -> Diagnostic {
    let mut found = Diagnostic::error(Code::CyclicDeployment, message(cycle))
        .at(cycle.first().map(|wait| wait.place));
    found.severity = severity;
    cycle.iter().fold(found, |found, Wait { source, target, place }| {
        found.label(*place, format!("`{source}` is created after `{target}` is started"))
    })
}

fn message(cycle: &[Wait<'_>]) -> String {
    let mut names: Vec<_> = cycle.iter().map(|wait| format!("`{}`", wait.source)).collect();
    if names.len() == 2 {
        names.sort();
    }
    match &*names {
        [only] => format!("{only} waits for itself"),
        [one, other] => format!("{one} and {other} wait for each other"),
        all if all.len() > MAX_NAMES => {
            let (named, others) = all.split_at(MAX_NAMES - 1);
            let (named, others) = (named.join(", "), others.len());
            format!("{named} and {others} others wait for each other in a circle")
        }
        all => format!("{} wait for each other in a circle", all.join(", ")),
    }
}
