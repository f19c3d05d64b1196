//! Reads variability presets, which are named sets of input values in the template.

use super::assignment::{Assignment, AssignmentSource, entries};
use super::{listed, named, shape};
use crate::diagnostic::{Advice, Code, Diagnostic, Diagnostics, closest, did_you_mean};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};

/// The keynames of a preset.
pub(super) const KEYWORDS: [&str; 3] = ["name", "description", "inputs"];

/// A variability preset.
#[derive(Clone, Debug)]
pub(crate) struct VariabilityPreset<'a> {
    /// The key by which it is chosen.
    pub id: &'a str,
    /// The place of that key.
    pub span: Span,
    /// The name for people, from `name`.
    pub name: Option<&'a str>,
    /// A description for people.
    pub description: Option<&'a str>,
    inputs: Option<Node<'a>>,
}

/// All presets of a template, in the order of the template.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariabilityPresets<'a>(pub(super) Vec<VariabilityPreset<'a>>);

impl<'a> VariabilityPresets<'a> {
    /// Reads the node of `variability.presets`.
    ///
    /// Errors are reported, and the wrong parts left out.
    pub(crate) fn parse(node: Option<Node<'a>>, diagnostics: &mut Diagnostics) -> Self {
        let mut presets: Vec<VariabilityPreset<'a>> = Vec::new();
        for (id, key, body) in named(node, "a variability preset", diagnostics) {
            let mut preset = VariabilityPreset {
                id,
                span: key.span(),
                name: None,
                description: None,
                inputs: None,
            };
            preset.read(body, diagnostics);
            presets.push(preset);
        }
        let mut places = rustc_hash::FxHashMap::default();
        presets.retain(|preset| match places.insert(preset.id, preset.span) {
            None => true,
            Some(first) => {
                let message = format!("the variability preset `{}` is declared twice", preset.id);
                diagnostics.push(
                    Diagnostic::error(Code::Duplicate, message)
                        .at(preset.span)
                        .label(first, "declared here first"),
                );
                false
            }
        });
        Self(presets)
    }

    /// The presets, in the order of the template.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &VariabilityPreset<'a>> {
        self.0.iter()
    }

    /// The keys by which presets are chosen.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|preset| preset.id)
    }

    /// The assignments of these presets, preset by preset; unknown presets are reported.
    pub(crate) fn assignments<S: AsRef<str>>(
        &self,
        chosen: &[S],
        diagnostics: &mut Diagnostics,
    ) -> Vec<Assignment> {
        let mut found = Vec::new();
        for id in chosen.iter().map(AsRef::as_ref) {
            match self.0.iter().find(|preset| preset.id == id) {
                Some(preset) => found.extend(preset.assignments(diagnostics)),
                None => diagnostics.push(self.unknown(id)),
            }
        }
        found
    }

    fn unknown(&self, id: &str) -> Diagnostic {
        let help = did_you_mean(id, self.names()).unwrap_or_else(|| match self.names().next() {
            Some(_) => format!("there are {}", listed(self.names())).into(),
            None => "the template declares no variability presets".into(),
        });
        Diagnostic::error(Code::UnknownPreset, format!("there is no variability preset `{id}`"))
            .help(help)
    }
}

impl<'a> VariabilityPreset<'a> {
    fn read(&mut self, body: Node<'a>, diagnostics: &mut Diagnostics) {
        if body.kind() != NodeKind::Mapping {
            if !body.is_null() {
                let message = format!(
                    "the variability preset `{}` must be a map, not {}",
                    self.id,
                    body.describe()
                );
                diagnostics.push(shape(body, message).help("its values belong under `inputs`"));
            }
            return;
        }
        let mut strange = Vec::new();
        for (key, value) in body.entries() {
            match &*key.key_text() {
                "name" => self.name = value.text(),
                "description" => self.description = value.text(),
                "inputs" => self.inputs = Some(value),
                other => match closest(other, KEYWORDS) {
                    Some(name) => diagnostics
                        .push(no_keyword(other, key).help(Advice::did_you_mean(other, name))),
                    None => strange.push(key),
                },
            }
        }
        diagnostics.0.extend(outside_of_inputs(&strange));
    }

    fn assignments(&self, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
        let Some(inputs) = self.inputs else { return Vec::new() };
        diagnostics
            .ok(entries(inputs, &AssignmentSource::Preset(self.id.to_owned())))
            .unwrap_or_default()
    }
}

fn no_keyword(name: &str, key: Node<'_>) -> Diagnostic {
    let message = format!("`{name}` is no keyword of a variability preset");
    Diagnostic::error(Code::UnknownKeyword, message).at(key.span())
}

/// The error for keys of a preset that are probably names of inputs.
fn outside_of_inputs(keys: &[Node<'_>]) -> Option<Diagnostic> {
    let first = keys.first()?;
    let error = match keys {
        [only] => no_keyword(&only.key_text(), *first),
        several => {
            let names = listed(several.iter().map(|key| key.key_text().into_owned()));
            let message = format!("{names} are no keywords of a variability preset");
            Diagnostic::error(Code::UnknownKeyword, message).at(first.span())
        }
    };
    Some(error.help("the values of a preset belong under `inputs`"))
}
