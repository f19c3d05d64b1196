//! The variants of a template of the catalogue that may substitute a node.

use super::demands::demands;
use crate::explore::{Assigned, LightestVariant, Space};
use crate::orchestrate::substitute::candidate::{
    CandidateVariant, CatalogueTemplate, Facade, Refusal, RefusalKind,
};
use crate::orchestrate::substitute::view::TemplateView;
use crate::text::decimal::Decimal;
use crate::text::diagnostic::{Code, Diagnostics, Severity};
use crate::text::value::Value;
use crate::text::yaml::{OutNode, write_yaml};
use crate::tosca::Types;
use crate::tosca::function::function_in;
use crate::variability::choice::{Choice, InputSource};
use crate::variability::inputs::InputMode;
use crate::variability::options::Flag;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::resolve::{self, How, VariantDocuments};
use std::rc::Rc;
use std::sync::Arc;

/// Which variants of templates of the catalogue are candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CandidateVariants {
    /// That of the defaults, and those of the presets that the template declares.
    #[default]
    Presets,
    /// That of the defaults only.
    Defaults,
    /// The best of all, whatever the inputs are that nobody fixes.
    Open,
}

/// What gives a variant, beside what a node fixes.
#[derive(Clone, Default)]
struct VariantChoice {
    preset: Option<String>,
    inputs: Vec<(String, Value)>,
    /// Inputs that give another variant that is as good.
    rival: Option<Vec<(String, Value)>>,
    /// What is proven of the weight, where less is not ruled out.
    least: Option<Decimal>,
}

/// Finds variants of one template for nodes.
pub(super) struct CandidateSearch<'s, 'l, 'a> {
    pub interpreted: &'a Interpreted<'l>,
    pub template: &'s CatalogueTemplate<'a>,
    pub types: &'s Types<'l>,
    pub choice: &'s Choice,
    pub which: CandidateVariants,
    /// Variability inputs that are given for nodes: `node.input` and its value.
    pub inputs: &'s [(String, InputSource)],
    pub how: &'s How,
}

impl<'a> CandidateSearch<'_, '_, 'a> {
    /// The variants of what is chosen for a node: that of the defaults first, each once.
    ///
    /// # Errors
    /// Why there is none.
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

    /// The variant of a preset or of inputs.
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
        let (documents, Diagnostics(warnings)) =
            resolve::documents(self.interpreted, &chosen, self.how)
                .map_err(|errors| self.refusal(&errors))?;
        let VariantDocuments { written, weights, least_weight, .. } = documents;
        let view = TemplateView::of(written, self.types);
        let sum = |is_facade: bool| {
            let of = weights.iter().filter(|(name, _)| {
                view.node(name).is_some_and(|node| node.is_substituted) == is_facade
            });
            let mut of = of.map(|(_, weight)| *weight);
            of.try_fold(Decimal::ZERO, Decimal::plus).ok_or_else(|| self.too_precise())
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

    /// Presets, or inputs, that give the candidates.
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

    /// Inputs that give the variant of least weight, as few as possible of them off their defaults.
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

    /// What is chosen of the template for a node: what its properties fix, what is given, and what it
    /// asks for.
    pub(super) fn choice_for(&self, facade: &Facade<'_, 'a>) -> Choice {
        let mut choice = self.choice.clone();
        if self.interpreted.template.is_plain() {
            return choice;
        }
        for mapping in &self.template.substitution.properties {
            let [name] = mapping.path() else { continue };
            let Some(input) = name.text().filter(|name| self.is_variability_input(name)) else {
                continue;
            };
            let own = facade.node.property(mapping.named.name);
            let value = own.map(|own| OutNode::root(&own).to_value());
            if let Some(value) = value.filter(|value| function_in(value).is_none()) {
                choice.inputs.push(InputSource::Value(input.to_owned(), value));
            }
        }
        let given = self.inputs.iter().filter(|(node, input)| {
            let has = |name: &str| self.is_variability_input(name);
            *node == facade.node.name && input.name().is_none_or(has)
        });
        choice.inputs.extend(given.map(|(_, input)| input.clone()));
        let root = self.interpreted.template.root;
        choice.demands = demands(self.template, root, self.types, facade);
        choice
    }

    /// A mapping to an input means one of the topology, else one of the variability.
    pub(super) fn is_variability_input(&self, name: &str) -> bool {
        let template = &self.interpreted.template;
        let topology = template.root.get("topology_template").and_then(|it| it.get("inputs"));
        let has = |inputs: Option<crate::text::yaml::Node<'_>>| {
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
        let kind = match first.map(|error| error.code) {
            Some(Code::AmbiguousTopology) => RefusalKind::Ambiguous,
            Some(Code::Unproven) => RefusalKind::Interrupted,
            _ => RefusalKind::Unfit,
        };
        Refusal::new(4, format!("it has no variant: {why}"), at).of_kind(kind)
    }
}
