//! Adds advice to errors about elements that are present although their node is absent: a pruning
//! mode that would help.

use super::choice::Choice;
use super::options;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee_sat::solve::Limit;

/// The errors of checks about elements that are present although their node is absent.
const LEFT_BEHIND: [Code; 6] = [
    Code::RelationSource,
    Code::RelationTarget,
    Code::MissingPropertyContainer,
    Code::MissingArtifactContainer,
    Code::MissingTypeContainer,
    Code::MissingTechnologyContainer,
];

/// Adds help to the last error about an element of an absent node. The help names a pruning mode in
/// which the same choice resolves, if there is one.
pub(super) fn with_advice(
    mut errors: Diagnostics,
    version: &str,
    choice: &Choice,
    limit: &Limit,
    resolves: impl Fn(&Choice) -> bool,
) -> Diagnostics {
    let is_left_behind =
        |error: &&mut Diagnostic| LEFT_BEHIND.iter().any(|&code| error.code == code);
    if let Some(last) = errors.0.iter_mut().rfind(is_left_behind) {
        let asked = choice.options.iter().any(|(name, _)| name == MODE);
        let helps = |mode: &&str| !limit.is_over() && resolves(&with_mode(choice, mode));
        let helps = modes(version).find(helps).map(|mode| {
            // An option of the call wins over the template, so the help names the place that wins.
            let option = match asked {
                true => format!("--option {MODE}={mode}"),
                false => format!("options: {{{MODE}: {mode}}}"),
            };
            format!("`{option}` would remove what belongs to absent nodes")
        });
        let by_hand =
            || "give what belongs to absent nodes the conditions of those nodes".to_owned();
        last.help = Some(helps.unwrap_or_else(by_hand).into());
    }
    errors
}

const MODE: &str = "mode";

/// The pruning modes in the order in which advice tries them. The mode that prunes most is the
/// first: it also removes what lost its purpose.
pub(crate) fn modes(version: &str) -> impl Iterator<Item = &'static str> {
    options::modes(version).into_iter().rev()
}

/// The choice with another pruning mode.
pub(crate) fn with_mode(choice: &Choice, mode: &str) -> Choice {
    let mut choice = choice.clone();
    choice.options.push((MODE.to_owned(), mode.to_owned()));
    choice
}
