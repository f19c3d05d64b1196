//! Computes the plans that the page shows: those that deploy each preset, and those that change one
//! preset to another.

use super::parts::PlanParts;
use super::words::PlanWords;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::draw::plan::{ToldPlan, ToldStep, told};
use crate::explore::types;
use crate::orchestrate::plan::{self, Adaptation, OrderOptions, Plan, PlanQuery, VariantOfPlan};
use crate::topology::Topology;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::choice::Choice;
use crate::variability::graph::Graph;
use crate::variability::inputs::InputMode;
use crate::variability::resolve;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutNode};
use serde::Serialize;

/// Up to this many presets, there is a plan from each preset to each other.
const PAIRED: usize = 6;

/// How many steps the page contains at most.
const STEPS: usize = 20_000;

/// A preset that resolves.
pub(super) struct PresetVariant {
    topology: Topology,
    document: Value,
}

/// A variant with its types, or the errors in those types.
type TypedVariant<'v, 'a> = Result<(&'v PresetVariant, Types<'a>), Diagnostics>;

impl PresetVariant {
    /// The variant; `None` if nothing else becomes it, and the plan that deploys it is too long: that
    /// has a step for each node at least.
    pub(super) fn of(document: &Out<'_>, graph: &Graph<'_>, is_alone: bool) -> Option<Self> {
        let root = OutNode::root(document);
        let nodes = root.get("topology_template").and_then(|it| it.get("node_templates"));
        if is_alone && nodes.is_some_and(|nodes| nodes.entries().len() > STEPS) {
            return None;
        }
        let topology = Topology::read(document, &|relation| resolve::is_hosting(graph, relation));
        Some(Self { topology, document: plan::compared_sections(root) })
    }

    fn typed<'v, 'a>(&'v self, types: Result<Types<'a>, Diagnostics>) -> TypedVariant<'v, 'a> {
        types.map(|types| (self, types))
    }

    fn with<'v, 'a>(&'v self, types: &'v Types<'a>, loaded: &'v Loaded) -> VariantOfPlan<'v, 'a> {
        let Self { topology, document } = self;
        VariantOfPlan::of(topology, document, types, loaded)
    }
}

/// The plans, with each word stored once.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Plans {
    pub(super) words: PlanWords,
    /// For each preset the plan that deploys it, if it is part of the page.
    deploy: Vec<Option<PagePlan>>,
    /// For each preset the plans that change it to each other preset; empty if there are too many
    /// presets.
    adapt: Vec<Vec<Option<PagePlan>>>,
    /// The parts of the plans of all other variants.
    parts: Option<PlanParts>,
    /// The reason why there are no parts.
    apart: Option<String>,
    #[serde(skip)]
    steps: usize,
}

/// A plan, or the errors in its place. All numbers are positions of words, except for the rounds.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum PagePlan {
    Planned {
        head: String,
        /// For each change the element, its kind of change, and the reasons.
        changes: Vec<[usize; 3]>,
        /// For each step the round, the element, the operation, the implementation, the host, and
        /// the state after it.
        steps: Vec<[usize; 6]>,
    },
    Impossible {
        errors: Vec<PlanError>,
    },
}

/// An error in place of a plan, as the command reports it.
#[derive(Clone, Debug, Serialize)]
struct PlanError {
    message: String,
    help: Option<Box<str>>,
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

    /// A plan in the form of the page; `None` if nobody asked for one, or there is no room for it.
    fn page(&mut self, plan: Option<Result<Plan, Diagnostics>>) -> Option<PagePlan> {
        let plan = match plan? {
            Ok(plan) => plan,
            Err(Diagnostics(errors)) => {
                let error =
                    |error: Diagnostic| PlanError { message: error.message, help: error.help };
                let errors = errors.into_iter().map(error).collect();
                return Some(PagePlan::Impossible { errors });
            }
        };
        let told = told(&plan);
        self.steps += told.steps.len();
        (self.steps <= STEPS).then(|| PagePlan::planned(told, &mut self.words))
    }
}

impl PagePlan {
    fn planned(told: ToldPlan<'_>, words: &mut PlanWords) -> Self {
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
        Self::Planned { head: told.head, changes, steps }
    }
}

/// The plan that deploys a preset.
fn deploying(preset: &TypedVariant<'_, '_>) -> Result<Plan, Diagnostics> {
    let (variant, types) = preset.as_ref().map_err(Clone::clone)?;
    let (plan, _) = plan::plan(&variant.topology, None, types, &PlanQuery::default())?;
    Ok(plan)
}

/// The plan that changes one preset to another.
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
