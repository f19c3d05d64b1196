//! Hides secrets from the page: those in the texts of variants, and the values of secret inputs.

use super::writing::Writing;
use super::{Data, Input};
use crate::explore::explain::Currents;
use crate::explore::{Configurable, types};
use crate::orchestrate::instance::{KeptSecrets, SecretMasker, SecretsMode};
use crate::orchestrate::redact::{Redaction, learn_written, unmarked};
use crate::topology::Topology;
use crate::topology::sensitive::{SENSITIVE, Sensitivity, source_topology};
use crate::tosca::Types;
use crate::tosca::secrecy::{Secrecy, SecretNames};
use crate::variability::choice::Choice;
use crate::variability::emit;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Out, write_line};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The template as it is written, in all its variants, and its types. They tell what is secret.
pub(super) struct PageSource<'a> {
    root: Node<'a>,
    topology: Topology,
    types: Types<'a>,
}

impl<'a> PageSource<'a> {
    pub(super) fn of(interpreted: &Interpreted<'a>, choice: &Choice) -> Self {
        let root = interpreted.template.root;
        let types = types::linked(interpreted.loaded, choice, InputMode::Open);
        let types = types.unwrap_or_else(|_| Types::of([root.document()]));
        Self { root, topology: source_topology(root), types }
    }
}

/// The secrets of a template.
pub(super) struct PageSecrets<'s, 'a> {
    sensitivity: Sensitivity<'s, 'a>,
    known: KeptSecrets,
    mask: PageMask,
}

/// Hides the secrets that are known.
pub(super) struct PageMask {
    masker: SecretMasker,
    /// For the values of secret inputs, the text that the page shows for each.
    inputs: FxHashMap<String, FxHashMap<String, String>>,
}

impl<'s, 'a> PageSecrets<'s, 'a> {
    pub(super) fn of(source: &'s PageSource<'a>) -> Self {
        let PageSource { root, topology, types } = source;
        let sensitivity = Sensitivity::of(topology, types, SecretNames::default());
        let mut known = KeptSecrets::new(SecretsMode::Drop, [0; 32], [""; 0]);
        learn_written(&mut known, &sensitivity, types, &Out::Source(*root));
        let mask = PageMask { masker: known.masker(), inputs: FxHashMap::default() };
        Self { sensitivity, known, mask }
    }

    /// What hides the secrets that were learned.
    pub(super) fn into_mask(self) -> PageMask {
        self.mask
    }

    /// Learns the values that cases and presets have for secret inputs.
    pub(super) fn learn_inputs(
        &mut self,
        prepared: &Prepared<'_>,
        open: &[Configurable],
        currents: &[Option<Currents>],
    ) {
        for (id, declaration) in prepared.inputs.declarations.iter() {
            if !declaration.is_sensitive {
                continue;
            }
            let cases = open.iter().filter(|open| open.name == declaration.name);
            let cases = cases.flat_map(|open| &open.cases).filter_map(|case| case.value.as_ref());
            let chosen = currents.iter().flatten().filter_map(|it| it.get(&id)?.value.as_ref());
            let shown = self.mask.inputs.entry(declaration.name.to_owned()).or_default();
            // Whether something is there tells no secret.
            let is_telling = |value: &&Value| !matches!(value, Value::Null | Value::Bool(_));
            for value in cases.chain(chosen).filter(is_telling) {
                self.known.learn(value);
                let count = shown.len();
                shown.entry(write_line(value)).or_insert_with(|| match count {
                    0 => SENSITIVE.to_owned(),
                    _ => format!("(sensitive {})", count + 1),
                });
            }
        }
        self.mask.masker = self.known.masker();
    }

    /// A document of a variant without secrets.
    pub(super) fn document<'d>(&self, document: &Out<'d>) -> Out<'d> {
        let (scanner, data) = (self.known.scanner(), self.sensitivity.data());
        let hidden = |value: &Value, secrecy: &Secrecy| scanner.sealed(value, secrecy, data);
        let redaction = Redaction { secrets: &self.sensitivity, hidden: &hidden };
        unmarked(&redaction.of(document, None), false)
    }

    /// The text of a document without secrets.
    pub(super) fn text(&self, document: &Out<'_>) -> String {
        self.mask.told(&emit::text(&self.document(document))).into_owned()
    }

    /// Hides the secrets in the texts of all variants, whose inputs are these.
    pub(super) fn hide_writing(&self, writing: &mut Writing, inputs: &[Configurable]) {
        let mask = &self.mask;
        writing.each_text(&mut |text| mask.hide(text));
        writing.each_value(&mut |input, value| {
            if let Some(input) = inputs.get(input) {
                mask.hide_input(&input.name, value);
            }
        });
    }
}

impl PageMask {
    fn told<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masker.text(text)
    }

    /// Hides the secrets in a text.
    pub(super) fn hide(&self, text: &mut String) {
        if let Cow::Owned(told) = self.told(text) {
            *text = told;
        }
    }

    /// Hides the value of an input, as it is written on one line.
    fn hide_input(&self, name: &str, value: &mut String) {
        if let Some(shown) = self.inputs.get(name).and_then(|it| it.get(value)) {
            shown.clone_into(value);
        }
    }

    /// Hides the secrets in everything else.
    pub(super) fn hide_data(&self, data: &mut Data) {
        let Data { description, command, presets, elements, inputs, cnf, .. } = data;
        let Data { inexact, plans, svg, .. } = data;
        plans.words.each(&mut |word| self.hide(word));
        let reasons = cnf.iter_mut().flat_map(|clauses| &mut clauses.reasons);
        let presets = presets.iter_mut().flat_map(|preset| {
            preset.inputs.iter_mut().for_each(|(name, value)| self.hide_input(name, value));
            preset.description.iter_mut().chain(&mut preset.error)
        });
        let conditions = elements.iter_mut().filter_map(|it| it.conditions.as_mut());
        let inputs = inputs.iter_mut().flat_map(|input| {
            self.hide_cases(input);
            input.description.iter_mut().chain(&mut input.follows)
        });
        let texts = description.iter_mut().chain(command).chain(inexact).chain([svg]);
        let texts = texts.chain(presets).chain(conditions).chain(inputs).chain(reasons);
        texts.for_each(|text| self.hide(text));
    }

    fn hide_cases(&self, input: &mut Input) {
        // Which texts are in which case would tell them.
        if self.inputs.contains_key(&input.name) {
            input.typed = None;
        }
        for case in &mut input.cases {
            match &mut case.value {
                Some(value) if case.label == *value => {
                    self.hide_input(&input.name, value);
                    value.clone_into(&mut case.label);
                }
                Some(value) => self.hide_input(&input.name, value),
                None => {}
            }
            self.hide(&mut case.label);
        }
    }
}
