//! The plans that the page shows: what deploys each preset, and what makes one of another.

use super::parts::PlanParts;
use super::words::PlanWords;
use crate::draw::plan::{ToldPlan, ToldStep, told};
use crate::explore::types;
use crate::orchestrate::plan::{self, Adaptation, OrderOptions, Plan, PlanQuery, VariantOfPlan};
use crate::text::diagnostic::Diagnostics;
use crate::text::value::Value;
use crate::text::yaml::{Out, OutNode};
use crate::topology::Topology;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::choice::Choice;
use crate::variability::graph::Graph;
use crate::variability::inputs::InputMode;
use crate::variability::resolve;
use serde::Serialize;

/// So many presets are planned from each to each.
const PAIRED: usize = 6;

/// So many steps the page has.
const STEPS: usize = 20_000;

/// A preset that resolves.
pub(super) struct PresetVariant {
    topology: Topology,
    document: Value,
}

/// With its types, or what is wrong with those.
type TypedVariant<'v, 'a> = Result<(&'v PresetVariant, Types<'a>), Diagnostics>;

impl PresetVariant {
    pub(super) fn of(document: &Out<'_>, graph: &Graph<'_>) -> Self {
        let topology = Topology::read(document, &|relation| resolve::is_hosting(graph, relation));
        Self { topology, document: OutNode::root(document).to_value() }
    }

    fn typed<'v, 'a>(&'v self, types: Result<Types<'a>, Diagnostics>) -> TypedVariant<'v, 'a> {
        types.map(|types| (self, types))
    }

    fn with<'v, 'a>(&'v self, types: &'v Types<'a>, loaded: &'v Loaded) -> VariantOfPlan<'v, 'a> {
        let Self { topology, document } = self;
        VariantOfPlan {
            topology,
            written: None,
            types,
            document,
            loaded,
            observation: None,
            template_of: None,
        }
    }
}

/// Plans, whose words are kept once.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Plans {
    words: PlanWords,
    /// For each preset what deploys it, as far as that is in the page.
    deploy: Vec<Option<PagePlan>>,
    /// For each preset what makes each other of it; empty where there are too many.
    adapt: Vec<Vec<Option<PagePlan>>>,
    /// What that of everything else consists of.
    parts: Option<PlanParts>,
    /// Why there are no parts.
    apart: Option<String>,
    #[serde(skip)]
    steps: usize,
}

/// A plan: positions of words, but for the rounds.
#[derive(Clone, Debug, Serialize)]
struct PagePlan {
    head: String,
    /// The element, how it changes, and why.
    changes: Vec<[usize; 3]>,
    /// The round, the element, the operation, what it runs, where, and the state afterwards.
    steps: Vec<[usize; 6]>,
}

impl Plans {
    /// The plans of presets, each with its choice.
    pub(super) fn of(
        loaded: &Loaded,
        choices: &[Choice],
        variants: &[Option<PresetVariant>],
        (words, parts): (PlanWords, Option<Result<PlanParts, String>>),
    ) -> Self {
        let (parts, apart) = match parts {
            Some(Ok(parts)) => (Some(parts), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let presets = variants.iter().zip(choices).map(|(variant, choice)| {
            let types = types::linked(loaded, choice, InputMode::Closed);
            variant.as_ref().map(|variant| variant.typed(types))
        });
        let presets: Vec<_> = presets.collect();
        let mut plans = Self { words, parts, apart, ..Self::default() };
        for preset in &presets {
            let plan = plans.page(preset.as_ref().map(deploying));
            plans.deploy.push(plan);
        }
        if presets.iter().flatten().count() <= PAIRED {
            for from in &presets {
                let between = |to: &Option<_>| adapting(loaded, from.as_ref()?, to.as_ref()?);
                let row = presets.iter().map(|to| plans.page(between(to))).collect();
                plans.adapt.push(row);
            }
        }
        plans
    }

    /// A plan as the page has it; nothing where there is none, or no room for it.
    fn page(&mut self, plan: Option<Result<Plan, Diagnostics>>) -> Option<PagePlan> {
        let plan = plan?;
        let told = plan.as_ref().map_or_else(why_none, told);
        self.steps += told.steps.len();
        (self.steps <= STEPS).then(|| PagePlan::of(told, &mut self.words))
    }
}

/// What is told where there is no plan.
fn why_none(errors: &Diagnostics) -> ToldPlan<'_> {
    let messages: Vec<_> = errors.0.iter().map(|error| error.message.as_str()).collect();
    ToldPlan { head: messages.join("; "), changes: Vec::new(), steps: Vec::new() }
}

impl PagePlan {
    fn of(told: ToldPlan<'_>, words: &mut PlanWords) -> Self {
        let mut word = |word: &str| words.position(word);
        let changes =
            told.changes.iter().map(|(element, class, why)| [element, *class, why].map(&mut word));
        let changes = changes.collect();
        let step = |step: &ToldStep<'_>| {
            let ToldStep { wave, element, operation, implementation, host, state } = step;
            let [element, operation, implementation] =
                [&**element, operation, implementation].map(&mut word);
            [*wave as usize, element, operation, implementation, word(host), word(state)]
        };
        let steps = told.steps.iter().map(step).collect();
        Self { head: told.head, changes, steps }
    }
}

/// What deploys a preset.
fn deploying(preset: &TypedVariant<'_, '_>) -> Result<Plan, Diagnostics> {
    let (variant, types) = preset.as_ref().map_err(Clone::clone)?;
    let (plan, _) = plan::plan(&variant.topology, None, types, &PlanQuery::default())?;
    Ok(plan)
}

/// What makes one preset of another.
fn adapting<'a>(
    loaded: &Loaded,
    from: &TypedVariant<'_, 'a>,
    to: &TypedVariant<'_, 'a>,
) -> Option<Result<Plan, Diagnostics>> {
    if std::ptr::eq(from, to) {
        return None;
    }
    let adapt = || {
        let (old, old_types) = from.as_ref().map_err(Clone::clone)?;
        let (new, new_types) = to.as_ref().map_err(Clone::clone)?;
        let (from, to) = (old.with(old_types, loaded), new.with(new_types, loaded));
        plan::adapt(from, to, &Adaptation::default(), &OrderOptions::default())
    };
    Some(adapt().map(|(plan, _)| plan))
}
