//! Finds the variants of a catalogue template that may substitute a node.

use super::demands::demands;
use crate::diagnostic::{Code, Diagnostics, Severity};
use crate::explore::{Assigned, LightestVariant, Space};
use crate::orchestrate::substitute::candidate::{
    CandidateVariant, CatalogueTemplate, Facade, Refusal, RefusalKind,
};
use crate::orchestrate::substitute::counts;
use crate::orchestrate::substitute::view::TemplateView;
use crate::tosca::Types;
use crate::tosca::function::function_in;
use crate::validate::wrong_mappings;
use crate::variability::choice::{Choice, InputSource};
use crate::variability::inputs::InputMode;
use crate::variability::options::Flag;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::presence::Presence;
use crate::variability::resolve::{self, How, VariantDocuments};
use cuvee_text::decimal::Decimal;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_yaml;
use std::rc::Rc;
use std::sync::Arc;

/// The variants of catalogue templates that are candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CandidateVariants {
    /// The variant of the defaults, and the variants of the presets that the template declares.
    #[default]
    Presets,
    /// Only the variant of the defaults.
    Defaults,
    /// The best of all variants; inputs that nobody fixes may have any value.
    Open,
}

/// The choice of one variant, beside the inputs that the node to substitute fixes.
#[derive(Clone, Default)]
struct VariantChoice {
    preset: Option<String>,
    inputs: Vec<(String, Value)>,
    /// Inputs of another variant that is equally good.
    rival: Option<Vec<(String, Value)>>,
    /// The proven lower bound of the weight, if the variant is not proven to be the lightest.
    least: Option<Decimal>,
}

/// Finds the variants of one template that may substitute nodes.
pub(super) struct CandidateSearch<'s, 'l, 'a> {
    pub interpreted: &'a Interpreted<'l>,
    pub template: &'s CatalogueTemplate<'a>,
    pub types: &'s Types<'l>,
    pub choice: &'s Choice,
    pub which: CandidateVariants,
    /// Variability inputs that are given for nodes: each node, and the input with its value.
    pub inputs: &'s [(String, InputSource)],
    pub how: &'s How,
}

impl<'a> CandidateSearch<'_, '_, 'a> {
    /// The variants for a node, that of the defaults first. Equal variants are listed once.
    ///
    /// # Errors
    /// The first reason why a variant is refused, if there is no variant at all.
    pub(super) fn variants(&self, choice: &Choice) -> Result<Vec<CandidateVariant<'a>>, Refusal> {
        let (mut found, mut refused) = (Vec::<CandidateVariant<'a>>::new(), None);
        let mut texts = Vec::new();
        for wanted in self.choices(choice)? {
            match self.variant(choice, &wanted) {
                Ok(variant) => {
                    let text = write_yaml(&variant.view.document);
                    let known = texts.iter().position(|known| *known == text);
                    if let Some(known) = known.and_then(|known| found.get_mut(known)) {
                        known.also.extend(variant.preset);
                    } else {
                        texts.push(text);
                        found.push(variant);
                    }
                }
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refused) if found.is_empty() => Err(refused),
            _ => Ok(found),
        }
    }

    /// The variant of one preset, or of certain inputs.
    fn variant(
        &self,
        choice: &Choice,
        wanted: &VariantChoice,
    ) -> Result<CandidateVariant<'a>, Refusal> {
        let VariantChoice { preset, inputs, rival, least } = wanted.clone();
        let mut chosen = choice.clone();
        chosen.presets.extend(preset.clone());
        let assigned = inputs.iter().cloned();
        chosen.inputs.extend(assigned.map(|(name, value)| InputSource::Value(name, value)));
        let mut wrong = Vec::new();
        let mut look = |prepared: &Prepared<'_>, presence: &Presence| {
            wrong = wrong_mappings(&chosen, prepared, presence);
        };
        let (documents, Diagnostics(warnings)) =
            resolve::documents(self.interpreted, &chosen, self.how, &mut look)
                .map_err(|errors| self.refusal(&errors))?;
        if let Some(error) = wrong.into_iter().min_by_key(|error| error.span) {
            let at = error.span.unwrap_or_else(|| self.template.substitution.node.span());
            return Err(Refusal::new(3, error.message, at));
        }
        let VariantDocuments { written, weights, least_weight, .. } = documents;
        let view = TemplateView::of(written, self.types);
        let counts = counts(&view.document);
        let sum = |is_facade: bool| {
            let mut of = weights.iter().filter(|(name, _)| {
                view.node(name).is_some_and(|node| node.is_substituted) == is_facade
            });
            // Each node counts of a template that stands for several.
            let sum = of.try_fold(Decimal::ZERO, |sum, (name, weight)| {
                let (count, scale) = (counts.get(*name).copied().unwrap_or(1), weight.scale());
                sum.plus(Decimal::of_units(weight.units(scale)?.checked_mul(count)?, scale))
            });
            sum.ok_or_else(|| self.too_precise())
        };
        let (weight, facades) = (sum(false)?, sum(true)?);
        let has_facades = view.nodes.iter().any(|node| node.is_substituted);
        let is_unproven = warnings.iter().any(|warning| warning.code == Code::Unproven);
        Ok(CandidateVariant {
            preset,
            also: Vec::new(),
            inputs,
            weight,
            facades: has_facades.then_some(facades),
            least: least.or(is_unproven.then_some(least_weight)),
            rival,
            is_settled: !self.interpreted.options.flag(Flag::OptimizationTopologyUnique),
            view: Rc::new(view),
        })
    }

    /// The presets or inputs that the candidates are resolved with.
    fn choices(&self, choice: &Choice) -> Result<Vec<VariantChoice>, Refusal> {
        let by_defaults = VariantChoice::default();
        if self.interpreted.template.is_plain() {
            return Ok(vec![by_defaults]);
        }
        Ok(match self.which {
            CandidateVariants::Defaults => vec![by_defaults],
            CandidateVariants::Presets => {
                let presets = self.interpreted.presets();
                let presets = presets.names().map(|name| VariantChoice {
                    preset: Some(name.to_owned()),
                    ..VariantChoice::default()
                });
                std::iter::once(by_defaults).chain(presets).collect()
            }
            CandidateVariants::Open => {
                vec![self.best(choice).map_err(|errors| self.refusal(&errors))?]
            }
        })
    }

    /// Inputs of the variant of least weight; as few as possible of them differ from their
    /// defaults.
    fn best(&self, choice: &Choice) -> Result<VariantChoice, Diagnostics> {
        let prepared = Prepared::of(self.interpreted, choice, InputMode::Open, &mut ())?;
        let space = Space::of(&prepared, true, &mut ())?;
        let LightestVariant { inputs, rival, least } = space.lightest(&self.how.limit)?;
        let off = |inputs: Vec<Arc<Assigned>>| {
            let off = inputs.into_iter().filter(|input| !input.default);
            off.filter_map(|input| Some((input.name.clone(), input.value.clone()?))).collect()
        };
        let is_unique = prepared.options.flag(Flag::OptimizationTopologyUnique);
        let rival = rival.filter(|_| is_unique).map(off);
        Ok(VariantChoice { preset: None, inputs: off(inputs), rival, least })
    }

    /// The choice for the template when it substitutes a node: inputs that the node's properties
    /// fix, inputs that the user gives for the node, and the demands of the node.
    ///
    /// # Errors
    /// If such a property has a value that is not known.
    pub(super) fn choice_for(&self, facade: &Facade<'_, 'a>) -> Result<Choice, Refusal> {
        let mut choice = self.choice.clone();
        if self.interpreted.template.is_plain() {
            return Ok(choice);
        }
        for mapping in &self.template.substitution.properties {
            let [name] = mapping.path() else { continue };
            let Some(input) = name.text().filter(|name| self.is_variability_input(name)) else {
                continue;
            };
            let name = mapping.named.name;
            let own = facade.value_of(self.types, self.template.kind, name);
            let Some((value, place)) = own else { continue };
            if let Some(function) = function_in(&value) {
                let message = format!(
                    "its variability input `{input}` is the property `{name}`, and the result of `{function}` is not known here"
                );
                let refusal = Refusal::new(4, message, mapping.named.key.span());
                let refusal = refusal.here(place).of_kind(RefusalKind::Undecided);
                return Err(refusal);
            }
            choice.inputs.push(InputSource::Value(input.to_owned(), value));
        }
        let given = self.inputs.iter().filter(|(node, input)| {
            let has = |name: &str| self.is_variability_input(name);
            *node == facade.node.name && input.name().is_none_or(has)
        });
        choice.inputs.extend(given.map(|(_, input)| input.clone()));
        let root = self.interpreted.template.root;
        choice.demands = demands(self.template, root, self.types, facade);
        Ok(choice)
    }

    /// Whether a mapping to an input of this name leads to a variability input: an input of the
    /// topology comes first.
    pub(super) fn is_variability_input(&self, name: &str) -> bool {
        let template = &self.interpreted.template;
        let topology = template.root.get("topology_template").and_then(|it| it.get("inputs"));
        let has = |inputs: Option<cuvee_text::yaml::Node<'_>>| {
            inputs.is_some_and(|inputs| inputs.get(name).is_some())
        };
        !has(topology) && has(template.variability.inputs)
    }

    fn too_precise(&self) -> Refusal {
        let message = "its nodes weigh more digits than can be added";
        Refusal::new(4, message, self.template.substitution.node.span())
    }

    fn refusal(&self, Diagnostics(errors): &Diagnostics) -> Refusal {
        let first = errors.iter().find(|error| error.severity == Severity::Error);
        let at = first.and_then(|error| error.span);
        let at = at.unwrap_or_else(|| self.template.substitution.node.span());
        let why = first.map_or("", |error| &*error.message);
        let kind = match first.and_then(|error| Code::named(error.code)) {
            Some(Code::AmbiguousTopology) => RefusalKind::Ambiguous,
            Some(Code::Unproven) => RefusalKind::Interrupted,
            _ => RefusalKind::Unfit,
        };
        Refusal::new(4, format!("it has no variant: {why}"), at).of_kind(kind)
    }
}
