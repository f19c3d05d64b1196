//! Represents one layer of settings, and decides the values of options from all layers.

use super::OptionOrigin;
use super::names::{Aspect, parse_mode};
use super::presets::{self, ModeTable};
use super::table::{OptionDeclaration, OptionKey, SwitchFamily, TABLE, Takes, Unset};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::variability::element::ElementKind;
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::{Limits, Node, NodeKind, Scalar, parse};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The value of an option and its origin. Booleans are written `true` and `false`; short forms are
/// expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) text: Cow<'static, str>,
    pub(super) origin: OptionOrigin,
}

impl Setting {
    fn built_in(text: &'static str) -> Self {
        Self { text: Cow::Borrowed(text), origin: OptionOrigin::BuiltIn }
    }

    pub(super) fn is_on(&self) -> bool {
        self.text == "true"
    }

    /// Whether a switch is on for an aspect; a switch of both aspects may be set to one of them
    /// only.
    fn is_on_for(&self, aspect: Aspect) -> bool {
        self.is_on() || self.text == aspect.as_str()
    }
}

/// The options that are set, at first by a single layer.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionSettings {
    set: FxHashMap<OptionKey, Setting>,
    /// The values of options that count if the author sets neither them nor an option that they
    /// follow.
    otherwise: FxHashMap<OptionKey, Setting>,
}

impl OptionSettings {
    /// The setting of this option itself.
    pub(super) fn get(&self, key: OptionKey) -> Option<&Setting> {
        self.set.get(&key)
    }

    /// Whether this option itself has this setting.
    fn says(&self, key: OptionKey, text: Option<&Cow<'static, str>>) -> bool {
        self.get(key).map(|setting| &setting.text) == text
    }

    /// Every option that is set.
    pub(super) fn iter(&self) -> impl Iterator<Item = (OptionKey, &Setting)> {
        self.set.iter().map(|(&key, setting)| (key, setting))
    }

    /// Adds a later layer, which overrides the settings option by option.
    pub(super) fn overlay(&mut self, later: &Self) {
        let settings = |map: &FxHashMap<_, Setting>| map.clone().into_iter();
        self.set.extend(settings(&later.set));
        self.otherwise.extend(settings(&later.otherwise));
    }

    /// Turns all settings into `otherwise` values.
    pub(super) fn only_otherwise(self) -> Self {
        Self { set: FxHashMap::default(), otherwise: self.set }
    }

    /// The effective value of an option, which the most specific setting decides.
    pub(super) fn decide(&self, key: OptionKey) -> Setting {
        match key {
            OptionKey::Switch(family, kind, None) => self.decide_both(family, kind),
            OptionKey::Switch(family, kind, Some(aspect)) => {
                let (on, origin) = self.decide_aspect(family, kind, aspect);
                Setting { text: Cow::Borrowed(on_off(on)), origin }
            }
            _ => self.decide_plain(key),
        }
    }

    fn decide_plain(&self, key: OptionKey) -> Setting {
        let mut wider = key;
        let mut otherwise = self.otherwise.get(&key);
        loop {
            let set = self.get(wider);
            if let Some(setting) = set.filter(|set| wider == key || set.origin.is_of_author()) {
                return setting.clone();
            }
            otherwise = otherwise.or(set);
            match wider.unset() {
                Unset::Follows(next) => wider = next,
                Unset::Is(text) => {
                    return otherwise.cloned().unwrap_or_else(|| Setting::built_in(text));
                }
            }
        }
    }

    /// Decides an aspect of a switch. The setting of kind and aspect takes precedence over that of
    /// the kind, then of the aspect for all kinds, then of all.
    pub(super) fn decide_aspect(
        &self,
        family: SwitchFamily,
        kind: Option<ElementKind>,
        aspect: Aspect,
    ) -> (bool, OptionOrigin) {
        let own = OptionKey::Switch(family, kind, Some(aspect));
        self.get(own).map_or_else(
            || self.decide_aspect_by_wider(family, kind, aspect),
            |set| (set.is_on(), set.origin),
        )
    }

    fn decide_aspect_by_wider(
        &self,
        family: SwitchFamily,
        kind: Option<ElementKind>,
        aspect: Aspect,
    ) -> (bool, OptionOrigin) {
        let both = OptionKey::Switch(family, kind, None);
        if kind.is_some() && self.get(both).is_none() {
            return self.decide_aspect(family, None, aspect);
        }
        let set = self.decide_plain(both);
        (set.is_on_for(aspect), set.origin)
    }

    /// Decides a switch of both aspects: the value for the aspects that have no setting of their
    /// own.
    fn decide_both(&self, family: SwitchFamily, kind: Option<ElementKind>) -> Setting {
        let (consistency, first) = self.decide_aspect_by_wider(family, kind, Aspect::Consistency);
        let (semantic, second) = self.decide_aspect_by_wider(family, kind, Aspect::Semantic);
        let text = match (consistency, semantic) {
            (true, false) => Aspect::Consistency.as_str(),
            (false, true) => Aspect::Semantic.as_str(),
            (both, _) => on_off(both),
        };
        Setting { text: Cow::Borrowed(text), origin: first.later(second) }
    }

    /// Reads a map of options; `origin` returns the origin of a setting at a place.
    pub(super) fn read(
        map: Node<'_>,
        modes: &ModeTable,
        origin: impl Fn(Span) -> OptionOrigin,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut settings = Self::default();
        if map.kind() != NodeKind::Mapping && !map.is_null() {
            let message = format!("variability options have to be a map, not {}", map.describe());
            diagnostics.push(Diagnostic::error(Code::InvalidOption, message).at(map.span()));
        }
        let mut places: FxHashMap<OptionKey, Node<'_>> = FxHashMap::default();
        for (name, value) in map.entries() {
            let Some((key, option)) = diagnostics
                .ok(find(name.text().unwrap_or_default()).map_err(|error| error.at(name.span())))
            else {
                continue;
            };
            let read = read_value(option, value, modes).map_err(|error| error.at(value.span()));
            if let Some(first) = places.insert(*key, name)
                && !(first.text() != name.text() && settings.says(*key, read.as_ref().ok()))
            {
                let error = twice(option).at(name.span()).label(first.span(), "here already");
                diagnostics.push(error);
            }
            if let Some(text) = diagnostics.ok(read) {
                settings.set.insert(*key, Setting { text, origin: origin(value.span()) });
            }
        }
        settings
    }

    /// Reads single options from outside of any file; later ones override earlier ones.
    pub(super) fn read_overrides(
        overrides: &[(String, String)],
        modes: &ModeTable,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut settings = Self::default();
        for (name, text) in overrides {
            let read = find(name).and_then(|(key, option)| {
                let document = parse(FileId::DETACHED, text.as_str().into(), &Limits::default())
                    .map_err(|error| {
                        Diagnostic::error(
                            error.code,
                            format!("value of option `{name}`: {}", error.message),
                        )
                    })?;
                Ok((*key, read_value(option, document.root(), modes)?))
            });
            if let Some((key, text)) = diagnostics.ok(read) {
                settings.set.insert(key, Setting { text, origin: OptionOrigin::CommandLine });
            }
        }
        settings
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "true" } else { "false" }
}

fn find(name: &str) -> Result<&'static (OptionKey, OptionDeclaration), Diagnostic> {
    TABLE.find(name).ok_or_else(|| {
        let error =
            Diagnostic::error(Code::InvalidOption, format!("unknown variability option `{name}`"));
        error.help_opt(did_you_mean(name, TABLE.names()))
    })
}

fn twice(option: &OptionDeclaration) -> Diagnostic {
    let message = format!("option `{}` is given twice", option.name);
    let aka = option
        .alias
        .map(|alias| format!("`{alias}` is another name of `{}`: remove one of them", option.name));
    Diagnostic::error(Code::InvalidOption, message).help_opt(aka)
}

/// The value in the notation of [`Setting`].
fn read_value(
    option: &OptionDeclaration,
    node: Node<'_>,
    modes: &ModeTable,
) -> Result<Cow<'static, str>, Diagnostic> {
    let error = || {
        let text = node.text().map(|text| format!(" `{text}`")).unwrap_or_default();
        Diagnostic::error(
            Code::InvalidOption,
            format!("option `{}` does not take {}{text}", option.name, node.describe()),
        )
    };
    let takes = || format!("it takes {}", option.takes.describe(&modes.names()));
    let word = match node.scalar() {
        Some(Scalar::Bool(on)) => on_off(on),
        // A quoted `true` is an ordinary string, and no option accepts that string.
        Some(Scalar::String(text)) if text != "true" && text != "false" => text,
        _ => return Err(error().help(takes())),
    };
    let found = match option.takes {
        Takes::Parts(kind) => return parse_mode(kind, word).map(|parts| Cow::Owned(join(&parts))),
        Takes::Words(words) => words.iter().copied().find(|&known| known == word),
        Takes::WordsOrTrue(_, short) if word == "true" => Some(short),
        Takes::WordsOrTrue(words, _) => words.iter().copied().find(|&known| known == word),
        Takes::PruningMode => modes.find(word).map(|mode| mode.name),
        Takes::Edition => presets::editions().find(|&known| known == word),
    };
    found.map(Cow::Borrowed).ok_or_else(|| {
        let guess = match option.takes {
            Takes::PruningMode => did_you_mean(word, modes.names()),
            Takes::Edition => did_you_mean(word, presets::editions()),
            Takes::Words(words) | Takes::WordsOrTrue(words, _) => {
                did_you_mean(word, words.iter().copied())
            }
            Takes::Parts(_) => None,
        };
        let help = takes();
        error().help(guess.map_or_else(|| help.as_str().into(), |guess| guess.and(&help)))
    })
}

fn join(parts: &[super::ModePart]) -> String {
    parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join("-")
}
