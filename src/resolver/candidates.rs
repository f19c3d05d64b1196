//! The variants of a template of the catalogue that may substitute a node.

use crate::explore::Space;
use crate::orchestrate::substitute::candidate::{
    CandidateVariant, CatalogueTemplate, Facade, Refusal,
};
use crate::orchestrate::substitute::view::TemplateView;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::text::value::Value;
use crate::text::yaml::{OutNode, write_yaml};
use crate::tosca::Types;
use crate::tosca::function::function_in;
use crate::variability::choice::{Choice, InputSource, VariantDemand};
use crate::variability::inputs::InputMode;
use crate::variability::options::Flag;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::resolve::{self, How, VariantDocuments};
use std::rc::Rc;

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
#[derive(Default)]
struct VariantChoice {
    preset: Option<String>,
    inputs: Vec<(String, Value)>,
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
        for VariantChoice { preset, inputs } in self.choices(choice)? {
            let mut chosen = choice.clone();
            chosen.presets.extend(preset.clone());
            let assigned = inputs.iter().cloned();
            chosen.inputs.extend(assigned.map(|(name, value)| InputSource::Value(name, value)));
            match resolve::documents(self.interpreted, &chosen, self.how) {
                Ok((VariantDocuments { written, weight, .. }, _)) => {
                    let text = write_yaml(&written);
                    let known = texts.iter().position(|known| *known == text);
                    if let Some(CandidateVariant { also, .. }) =
                        known.and_then(|known| found.get_mut(known))
                    {
                        also.extend(preset);
                    } else {
                        texts.push(text);
                        let view = Rc::new(TemplateView::of(written, self.types));
                        let weight = weight.ok_or_else(|| self.too_precise())?;
                        found.push(CandidateVariant {
                            preset,
                            also: Vec::new(),
                            inputs,
                            weight,
                            view,
                        });
                    }
                }
                Err(errors) => refused = refused.or(Some(self.refusal(&errors))),
            }
        }
        match refused {
            Some(refused) if found.is_empty() => Err(refused),
            _ => Ok(found),
        }
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
                    inputs: Vec::new(),
                });
                std::iter::once(by_defaults).chain(presets).collect()
            }
            CandidateVariants::Open => {
                let best = self.best(choice).map_err(|errors| self.refusal(&errors))?;
                vec![VariantChoice { preset: None, inputs: best }]
            }
        })
    }

    /// Inputs that give the variant of least weight, as few as possible of them off their defaults.
    fn best(&self, choice: &Choice) -> Result<Vec<(String, Value)>, Diagnostics> {
        let prepared = Prepared::of(self.interpreted, choice, InputMode::Open, &mut ())?;
        let space = Space::of(&prepared, true)?;
        let (assigned, is_unique) = space.lightest()?;
        if !is_unique && prepared.options.flag(Flag::OptimizationTopologyUnique) {
            let message = "several of its variants weigh least and differ in nodes";
            let error = Diagnostic::error(Code::AmbiguousTopology, message);
            return Err(error.at(self.template.substitution.node.span()).into());
        }
        let off = assigned.into_iter().filter(|input| !input.default);
        Ok(off.filter_map(|input| Some((input.name, input.value?))).collect())
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
        choice.demands = self.demands(facade);
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

    /// Where relations lead there are nodes.
    fn demands(&self, facade: &Facade<'_, 'a>) -> Vec<VariantDemand> {
        let used = |name: &str| facade.capabilities.contains_key(name);
        let mapped = self.template.substitution.capabilities.iter();
        let mapped = mapped.filter(|mapping| used(mapping.named.name));
        let demand = |mapping: &crate::tosca::substitution::SubstitutionMapping<'a>| {
            let node = mapping.path().first()?.text()?.to_owned();
            let span = mapping.named.key.span();
            Some(VariantDemand { groups: vec![vec![node]], least: 1, most: 1, span })
        };
        mapped.filter_map(demand).collect()
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
        Refusal::new(4, format!("it has no variant: {why}"), at)
    }
}
