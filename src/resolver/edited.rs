//! Answers what editors ask, about templates that are being typed.

use super::{Resolver, hiding};
use crate::diagnostic::{Code, Diagnostic};
use crate::editor::{self, Mended, TemplateAnalysis};
use crate::validate::{self, Stage, StageDiagnostics, StagedValidation};
use crate::variability::choice::Choice;
use std::path::Path;

impl Resolver {
    /// Analyses a template that may be broken where somebody types, and calls `ask` with what is
    /// known. Files that do not parse are repaired; `near` is the file in which somebody types, and
    /// the offset. This never fails: parts of the [`TemplateAnalysis`] may be missing.
    ///
    /// ```
    /// use cuvee::source::MemoryFiles;
    /// let broken = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {\n";
    /// let resolver = cuvee::Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", broken)]));
    /// assert!(resolver.analysis(None, |analysis| analysis.has_graph()));
    /// ```
    pub fn analysis<R>(
        &self,
        near: Option<(&Path, usize)>,
        ask: impl FnOnce(&TemplateAnalysis<'_>) -> R,
    ) -> R {
        let choice = Choice { limit: self.how().limit, ..self.choice.clone() };
        editor::analyse(&self.mended(near), &choice, ask)
    }

    /// Validates a template that may be broken where somebody types, as far as its text goes. Where
    /// all files parse, this is [`Resolver::validate_until`] with [`Stage::Text`]. Otherwise it is
    /// what is wrong with the syntax, and whatever can be said of the rest.
    ///
    /// ```
    /// use cuvee::source::MemoryFiles;
    /// let broken = "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   node_templates:
    ///     shop: { type: Shopp }
    ///     cache: { type: tosca.nodes.Root
    /// ";
    /// let resolver = cuvee::Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", broken)]));
    /// let codes = |staged: &[cuvee::diagnostic::Diagnostic]| {
    ///     staged.iter().map(|it| it.code.as_str()).collect::<Vec<_>>()
    /// };
    /// let typed = resolver.validate_typed(None);
    /// assert_eq!(codes(typed.text().unwrap()), ["unknown-type", "syntax"]);
    /// assert_eq!(codes(&resolver.validate().diagnostics), ["syntax"]);
    /// ```
    pub fn validate_typed(&self, near: Option<(&Path, usize)>) -> StagedValidation {
        let whole = self.validate_until(Stage::Text);
        let is_syntax = |list: &[Diagnostic]| list.iter().any(|found| found.code == Code::Syntax);
        if !whole.text().is_some_and(is_syntax) {
            return whole;
        }
        let mended = self.mended(near);
        let (Some(loaded), false) = (&mended.loaded, mended.files.is_empty()) else { return whole };
        let choice = Choice { limit: self.how().limit, ..self.choice.clone() };
        let progress = &mut self.progress.clone();
        let StageDiagnostics { text, .. } =
            validate::validate(loaded, &choice, Stage::Text, progress);
        let Some(mut text) = text else { return whole };
        loaded.settle(&mut text);
        let sources = mended.sources();
        let mut text = mended.in_typed(text, loaded.sources());
        text.extend(mended.syntax(&sources));
        let found = StageDiagnostics { text: Some(text), variants: None }.in_order();
        let all = found.all();
        if !self.reveals_secrets {
            hiding::hide_named(&sources, &all);
        }
        StagedValidation { text: found.text, variants: None, all, sources }
    }

    fn mended(&self, near: Option<(&Path, usize)>) -> Mended {
        Mended::open(&self.location, &self.files, &self.mapping, self.cache.as_ref(), near)
    }
}
