//! Says which options a template has to set so that neither its definitions version nor its mode
//! decides anything, once its conditions are written out.

use super::table::{ChoiceOption, Flag, OptionKey, Section, SwitchFamily, TABLE};
use super::{EDITION, Options};
use crate::variability::element::ElementKind;
use std::borrow::Cow;

/// An option with the value that it has once conditions are written out.
pub(crate) struct ExplicitOption {
    /// The name of the option.
    pub name: &'static str,
    /// Its value.
    pub value: Cow<'static, str>,
    /// What options like it are about, in words.
    pub about: &'static str,
}

impl Options {
    /// The options that a template sets whose conditions are written out. With `by_rules`,
    /// technology rules still add technologies with their conditions.
    pub(crate) fn explicit(&self, by_rules: bool) -> Vec<ExplicitOption> {
        let explicit = TABLE.options.iter().filter_map(|(key, option)| {
            let is_of_technologies = by_rules && is_of_technologies(*key);
            let value = match key {
                OptionKey::Choice(ChoiceOption::Mode) => "manual".into(),
                OptionKey::Choice(_) if option.name == EDITION => return None,
                OptionKey::Flag(
                    Flag::EnrichInputCondition | Flag::AutomaticDefaultAlternatives,
                ) => "false".into(),
                // Nothing is left that could be implied in spite of a generated condition.
                OptionKey::Flag(_) if option.section == Section::DefaultConditions => return None,
                OptionKey::Check(_)
                | OptionKey::Constraint(_)
                | OptionKey::Flag(_)
                | OptionKey::Choice(_) => self.settings.decide(*key).text,
                _ if is_of_technologies => self.settings.decide(*key).text,
                _ => return None,
            };
            Some(ExplicitOption { name: &option.name, value, about: about(option.section) })
        });
        explicit.collect()
    }

    /// The name under which [`Options::explicit`] lists an option that a template sets, and whether
    /// the option is turned off if it is not listed.
    pub(crate) fn written_name(name: &str) -> Option<(&'static str, bool)> {
        let (key, option) = TABLE.find(name)?;
        let off = matches!(
            key,
            OptionKey::Switch(SwitchFamily::DefaultCondition | SwitchFamily::Pruning, ..)
        );
        Some((&option.name, off))
    }
}

/// Whether an option decides which conditions are generated for technologies.
fn is_of_technologies(key: OptionKey) -> bool {
    matches!(
        key,
        OptionKey::Switch(_, Some(ElementKind::Technology), Some(_))
            | OptionKey::ConditionMode(ElementKind::Technology)
    )
}

fn about(section: Section) -> &'static str {
    match section {
        Section::General => "all conditions are written out",
        Section::DefaultConditions => "these conditions are written out as well",
        Section::Pruning => "technology rules still add conditions",
        Section::Checks => "the checks as they were, whatever the version and the mode say",
        Section::Solver => "the optimisation as it was",
        Section::Enricher => "what technology rules add, as it was",
        Section::Constraints => "the constraints as they were",
    }
}
