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

/// The diagnostic `cyclic-deployment`, with relations of the cycle: the target of each is the
/// source of the next, and the last leads back to the first. Of a long cycle it shows the first ones
/// and the last.
pub(crate) fn cyclic_deployment(severity: Severity, cycle: &[Wait<'_>]) -> Diagnostic {
    let mut found = Diagnostic::error(Code::CyclicDeployment, message(cycle))
        .at(cycle.first().map(|wait| wait.place));
    found.severity = severity;
    let first = cycle.len().min(MAX_NAMES) - usize::from(cycle.len() > MAX_NAMES);
    let last = cycle.iter().skip(first).next_back();
    cycle.iter().take(first).chain(last).fold(found, |found, Wait { source, target, place }| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;

    #[test]
    fn long_cycles_are_shown_in_part() {
        let names: Vec<_> = (0..10).map(|node| format!("n{node}")).collect();
        let place = Span { file: FileId::new(0), start: 0, end: 1 };
        let wait =
            |at: usize| Wait { source: &names[at], target: &names[(at + 1) % names.len()], place };
        let waits: Vec<_> = (0..names.len()).map(wait).collect();
        let labels = |count| cyclic_deployment(Severity::Error, &waits[..count]).labels;
        assert_eq!(labels(MAX_NAMES).len(), MAX_NAMES);
        let shown = labels(10);
        assert_eq!(shown.len(), MAX_NAMES);
        assert_eq!(shown[6].message, "`n6` is created after `n7` is started");
        assert_eq!(shown[7].message, "`n9` is created after `n0` is started");
    }
}
