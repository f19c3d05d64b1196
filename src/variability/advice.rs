//! What would help where a variant is rejected for what belongs to absent nodes.

use super::choice::Choice;
use super::options;
use crate::sat::solve::Limit;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};

/// What checks say of elements that stayed although their node is absent.
const LEFT_BEHIND: [Code; 6] = [
    Code::RelationSource,
    Code::RelationTarget,
    Code::MissingPropertyContainer,
    Code::MissingArtifactContainer,
    Code::MissingTypeContainer,
    Code::MissingTechnologyContainer,
];

/// Where elements of absent nodes are left behind, the last of those errors names a pruning mode in
/// which the same choice resolves, if there is one.
pub(super) fn with_mode(
    mut errors: Diagnostics,
    version: &str,
    choice: &Choice,
    limit: &Limit,
    resolves: impl Fn(&Choice) -> bool,
) -> Diagnostics {
    let is_left_behind = |error: &&mut Diagnostic| LEFT_BEHIND.contains(&error.code);
    if let Some(last) = errors.0.iter_mut().rfind(is_left_behind) {
        let asked = choice.options.iter().any(|(name, _)| name == MODE);
        // What prunes most is tried first: what lost its purpose goes then, too.
        let mut modes = options::modes(version).into_iter().rev();
        let helps = |mode: &&str| !limit.is_over() && resolves(&with_option(choice, mode));
        let helps = modes.find(helps).map(|mode| {
            // What the call asks for wins over what the template says.
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

fn with_option(choice: &Choice, mode: &str) -> Choice {
    let mut choice = choice.clone();
    choice.options.push((MODE.to_owned(), mode.to_owned()));
    choice
}
