//! Lists, counts, samples and covers variants: distinct topologies, each with one assignment of
//! inputs that leads to it.

use super::matrix::Matrix;
use super::space::{self, Assigned, Projection, Space, literal};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::element::ElementKind;
use crate::variability::graph::ElementId;
use cuvee_sat::count::{Compiled, compile};
use cuvee_sat::formula::{Atom, Cnf, Lit, Var};
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::backbone::{backbone_beside, equivalences_beside};
use cuvee_sat::solve::covering::{CoveringModel, covering_beside};
use cuvee_sat::solve::random::Random;
use cuvee_sat::solve::walk::Samples;
use cuvee_sat::solve::{self, Limit, Models, Objective, Problem, SolverSettings, Unsolved};
use cuvee_text::decimal::Decimal;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::sync::Arc;

/// A query for variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The elements that distinguish variants.
    pub projection: Projection,
    /// The selection of variants.
    pub which: Which,
    /// The greatest number of variants.
    pub limit: usize,
    /// How many steps may be taken to count the variants, where counting is needed.
    pub effort: u64,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            projection: Projection::default(),
            which: Which::All,
            limit: 100,
            effort: 20_000_000,
        }
    }
}

/// A selection among all variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Any variants.
    All,
    /// The best variants by this goal, over all open inputs.
    Best(Goal),
    /// This many different variants, drawn with equal probability; the second number is the random
    /// seed.
    Sample(u64, u64),
    /// As few variants as possible that together cover, for any group of this many open inputs,
    /// every combination of cases that some variant has.
    Covering(usize),
}

/// A quantity to minimise over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The total weight of the present nodes.
    Weight,
    /// The number of present nodes.
    Count,
    /// The number of different technologies.
    Technologies,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Variant {
    /// A short name that depends only on the present elements; for the variant of a preset, the
    /// name of the preset.
    pub name: String,
    /// The variability preset of the variant, if presets are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The identifiers of the present elements, in the order of the template.
    pub present: Vec<Arc<str>>,
    /// An assignment of the open inputs that leads to the variant.
    pub inputs: Vec<Arc<Assigned>>,
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The variants.
    pub variants: Vec<Variant>,
    /// Whether there are more variants.
    pub more: bool,
    /// The cost of the best variant, if something is minimised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// The number of combinations of cases that are covered, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<u64>,
    /// The presets that lead to no variant, if presets are listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedPreset>,
}

impl Found {
    fn of(variants: Vec<Variant>, more: bool) -> Self {
        Self { variants, more, cost: None, covered: None, rejected: Vec::new() }
    }
}

/// A preset that leads to no variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectedPreset {
    /// Its name.
    pub preset: String,
    /// The reasons, one a line.
    pub reasons: Vec<String>,
    /// Whether the preset leads to no variant whatever the remaining open inputs are.
    pub void: bool,
}

/// The variant whose nodes have the least total weight.
pub(crate) struct LightestVariant {
    /// The open inputs that lead to it.
    pub inputs: Vec<Arc<Assigned>>,
    /// Open inputs that lead to another variant, with different nodes but the same weight.
    pub rival: Option<Vec<Arc<Assigned>>>,
    /// If the time ran out before optimality was proved: a lower bound on the weight of all
    /// variants.
    pub least: Option<Decimal>,
}

/// The number of variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// The number, in decimal digits.
    pub count: String,
    /// Whether the number is exact. Otherwise it is a lower bound where some inputs were fixed, and
    /// an upper one where some values are not known to exist.
    pub exact: bool,
    /// If only some variants were counted: the number of open inputs that were fixed to the values
    /// of one variant to count these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<usize>,
}

/// The variant of each preset.
pub(crate) fn preset_variants(matrix: &Matrix, projection: Projection) -> Found {
    let mut found = Found::of(Vec::new(), false);
    let identifiers: Vec<Arc<str>> =
        matrix.rows.iter().map(|row| row.identifier.as_str().into()).collect();
    for (index, column) in matrix.columns.iter().enumerate() {
        let Some(preset) = column.preset.clone() else { continue };
        if !column.rejected.is_empty() {
            let reasons = column.rejected.clone();
            found.rejected.push(RejectedPreset { preset, reasons, void: false });
            continue;
        }
        let counts = |kind: ElementKind| projection == Projection::All || kind == ElementKind::Node;
        let present = matrix
            .rows
            .iter()
            .zip(&identifiers)
            .filter(|(row, _)| counts(row.kind) && row.present[index] == Some(true));
        let present = present.map(|(_, identifier)| identifier.clone()).collect();
        let name = preset.clone();
        found.variants.push(Variant { name, preset: Some(preset), present, inputs: Vec::new() });
    }
    found
}

/// Up to this many variants are listed one by one if they cannot be counted otherwise.
const FEW: usize = 100;
/// If not all variants can be counted, each attempt to count a part takes this fraction of the
/// effort.
const PARTS: u64 = 20;
/// Each such attempt may take at least this many steps.
const PART: u64 = 100_000;

impl Space<'_, '_> {
    /// Lists variants.
    ///
    /// # Errors
    /// As [`Resolver::variants`](crate::Resolver::variants).
    pub(crate) fn variants(
        &self,
        query: &Query,
        progress: &mut dyn Progress,
    ) -> Result<Found, Diagnostics> {
        let elements = self.projected(query.projection);
        let found = match query.which {
            Which::All => self.list(&elements, query.limit, progress),
            Which::Best(goal) => self.best(goal, &elements),
            Which::Sample(count, seed) => {
                Some(self.sample(&elements, count, seed, query.effort)?)
            }
            Which::Covering(strength) => Some(self.covering(&elements, strength, progress)?),
        };
        found.filter(|found| !found.variants.is_empty()).ok_or_else(|| self.void().into())
    }

    fn list(
        &self,
        elements: &[Projected],
        limit: usize,
        progress: &mut dyn Progress,
    ) -> Option<Found> {
        let mut models = self.valid_models();
        let telling = if elements.len() < MANY {
            telling(elements, &mut self.samples_of_many_cases(&mut models), &mut models)
        } else {
            literals(elements)
        };
        progress.counted("searches", models.searches());
        let toward = self.toward();
        let mut variants = Vec::new();
        while models.solve_least(&[], &toward) {
            if variants.len() == limit {
                return Some(Found::of(variants, true));
            }
            variants.push(self.variant(elements, &|literal| models.is_true(literal)));
            let other = telling.iter().map(|&literal| literal.negate_if(models.is_true(literal)));
            models.add_clause(&other.collect::<Vec<_>>());
        }
        Some(Found::of(variants, false))
    }

    /// The combinations of these elements that occur in variants: for each, open inputs that lead
    /// to it, defaults first. Also whether there are more than `limit`.
    pub(crate) fn combinations(
        &self,
        of: &[ElementId],
        limit: usize,
    ) -> (Vec<Vec<Arc<Assigned>>>, bool) {
        let literals: Vec<_> = of.iter().map(|&element| literal(element)).collect();
        let toward = self.toward();
        let mut models = self.valid_models();
        let mut found = Vec::new();
        while models.solve_least(&[], &toward) {
            if found.len() == limit {
                return (found, true);
            }
            found.push(self.assigned(&|literal| models.is_true(literal)));
            let other = literals.iter().map(|&literal| literal.negate_if(models.is_true(literal)));
            models.add_clause(&other.collect::<Vec<_>>());
        }
        (found, false)
    }

    /// Compiles the valid variants in which the literals of `fixed` are true.
    fn compiled(&self, elements: &[Projected], fixed: &[Lit], effort: u64) -> Option<Compiled> {
        let projection: Vec<_> = elements.iter().map(|element| literal(element.id).var()).collect();
        let clauses = self.valid_clauses().chain(fixed.iter().map(std::slice::from_ref));
        compile(self.determinised.vars, clauses, &projection, effort)
    }

    /// Counts the variants exactly, or only some of them if the effort is spent.
    pub(crate) fn count(&self, query: &Query, progress: &mut dyn Progress) -> Count {
        let elements = self.projected(query.projection);
        let mut models = self.valid_models();
        if !models.solve_least(&[], &self.toward()) {
            return Count { count: "0".into(), exact: true, fixed: None };
        }
        progress.phase("counting");
        // Variants of cases without a known value need not exist.
        let exact = self.unknown_values().0.is_empty();
        if let Some(compiled) = self.compiled(&elements, &[], query.effort) {
            return Count { count: compiled.count().to_string(), exact, fixed: None };
        }
        progress.phase("counting a part");
        if let Some(found) = self.list(&elements, FEW, progress).filter(|found| !found.more) {
            let count = found.variants.len().to_string();
            return Count { count, exact, fixed: None };
        }
        let effort = (query.effort / PARTS).max(PART);
        self.count_around(&|literal| models.is_true(literal), &elements, effort)
    }

    /// Counts the variants that agree with a model on some inputs, with as few inputs fixed as it
    /// takes to finish.
    fn count_around(
        &self,
        is_true: &dyn Fn(Lit) -> bool,
        elements: &[Projected],
        effort: u64,
    ) -> Count {
        let chosen = |cases: &Vec<Lit>| cases.iter().copied().find(|&case| is_true(case));
        let open = self.cases.iter().filter(|cases| cases.len() > 1);
        let chosen: Vec<Lit> = open.filter_map(chosen).collect();
        let (mut left, mut count) = (chosen.len(), None);
        while count.is_none() && left > 0 {
            left /= 2;
            let fixed = &chosen[left..];
            count = self
                .compiled(elements, fixed, effort)
                .map(|compiled| (compiled.count().to_string(), fixed.len()));
        }
        // At least the variant of the model exists.
        let (count, fixed) = count.unwrap_or_else(|| ("1".into(), chosen.len()));
        Count { count, exact: false, fixed: Some(fixed) }
    }

    fn sample(
        &self,
        elements: &[Projected],
        count: u64,
        seed: u64,
        effort: u64,
    ) -> Result<Found, Diagnostics> {
        let compiled = self.compiled(elements, &[], effort).ok_or_else(|| {
            let message = format!("counting the variants takes more than {effort} steps, so that none can be drawn fairly");
            Diagnostic::error(Code::OpenInput, message).help("assign some inputs, or allow more with `--effort`")
        })?;
        let mut models = self.valid_models();
        let inputs = self.toward();
        let mut complete = |values: &[bool]| {
            let present = elements
                .iter()
                .zip(values)
                .map(|(element, &value)| literal(element.id).negate_if(!value));
            let found = models.solve_least(&present.collect::<Vec<_>>(), &inputs);
            found.then(|| self.variant(elements, &|literal| models.is_true(literal)))
        };
        let mut random = Random::new(seed);
        let all = *compiled.count() <= count.into();
        let mut drawn = FxHashSet::default();
        let mut variants: Vec<Variant> = Vec::new();
        if all {
            variants.extend(compiled.models().filter_map(|values| complete(&values)));
        }
        // Samples that were drawn before are discarded, which keeps the others equally probable.
        while !all && (variants.len() as u64) < count {
            let Some(values) = compiled.sample(&mut || random.next()) else { break };
            if drawn.insert(values.clone()) {
                variants.extend(complete(&values));
            }
        }
        Ok(Found::of(variants, !all))
    }

    fn covering(
        &self,
        elements: &[Projected],
        strength: usize,
        progress: &mut dyn Progress,
    ) -> Result<Found, Diagnostics> {
        let factors: Vec<Vec<Lit>> =
            self.cases.iter().filter(|cases| cases.len() > 1).cloned().collect();
        let mut models = self.valid_models();
        progress.phase("walking through variants");
        let mut samples = self.samples(&mut models);
        progress.phase("covering combinations");
        let found = covering_beside(&mut samples, strength, &factors, &mut models);
        let covering = found.ok_or_else(|| {
            let message = format!("there are too many combinations of {strength} inputs");
            Diagnostic::error(Code::OpenInput, message)
                .help("assign some inputs, or cover combinations of fewer")
        })?;
        progress.counted("searches", models.searches());
        let variant =
            |model: &CoveringModel| self.variant(elements, &|literal| model.is_true(literal));
        let variants = covering.models.iter().map(variant).collect();
        Ok(Found { covered: Some(covering.feasible), ..Found::of(variants, false) })
    }

    fn best(&self, goal: Goal, elements: &[Projected]) -> Option<Found> {
        let objective = match goal {
            Goal::Weight => self.weight.0.clone(),
            Goal::Count => Objective {
                terms: self.graph().nodes.iter().map(|node| (literal(node.id), 1)).collect(),
            },
            Goal::Technologies => self.technologies.clone(),
        };
        let cnf = Cnf::of(self.determinised.vars, self.valid_clauses().map(<[Lit]>::to_vec));
        let elements_first: Vec<Atom> = elements.iter().map(|element| element.id.into()).collect();
        let inputs = self.cases.iter().flatten().map(|case| Atom(case.var().0));
        let preference: Vec<Atom> = elements_first.iter().copied().chain(inputs).collect();
        let problem = Problem {
            cnf: &cnf,
            objectives: std::slice::from_ref(&objective),
            preference: &preference,
        };
        let mut solution = solve::solve(&problem, &self.prepared.settings(), &mut ()).ok()?;
        let cost = solution.costs().next().unwrap_or_default();
        let cost = if goal == Goal::Weight {
            self.weight.1.of(cost).to_string()
        } else {
            cost.to_string()
        };
        let variant = self.variant(elements, &|literal| {
            solution.is_true(Atom(literal.var().0)) != literal.is_negative()
        });
        let more = solution.another(&elements_first) != Ok(None);
        Some(Found { cost: Some(cost), ..Found::of(vec![variant], more) })
    }

    /// The variant whose nodes have the least total weight, with as few open inputs off their
    /// defaults as possible.
    ///
    /// # Errors
    /// The reason why there is no variant, or `unproven` if none was found in time.
    pub(crate) fn lightest(&self, limit: &Limit) -> Result<LightestVariant, Diagnostics> {
        let cnf = Cnf::of(self.determinised.vars, self.valid_clauses().map(<[Lit]>::to_vec));
        let nodes: Vec<Atom> = self.graph().nodes.iter().map(|node| node.id.into()).collect();
        let inputs = self.cases.iter().flatten().map(|case| Atom(case.var().0));
        let preference: Vec<Atom> = nodes.iter().copied().chain(inputs).collect();
        let objectives = [self.weight.0.clone(), self.off_defaults()];
        let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
        let settings = SolverSettings { limit: limit.clone(), ..self.prepared.solver.into() };
        let mut solution = match solve::solve(&problem, &settings, &mut ()) {
            Ok(solution) => solution,
            Err(Unsolved::Conflict(_)) => return Err(self.void().into()),
            Err(Unsolved::Interrupted) => {
                let message = "the time was over before any variant was found";
                return Err(Diagnostic::error(Code::Unproven, message).into());
            }
        };
        let is_true =
            |literal: Lit| solution.is_true(Atom(literal.var().0)) != literal.is_negative();
        let inputs = self.assigned(&is_true);
        let bound = solution.bounds().first().map_or(0, |bounds| bounds.lower);
        if !solution.is_proven() {
            let least = Some(self.weight.1.of(bound));
            return Ok(LightestVariant { inputs, rival: None, least });
        }
        let other = solution.another(&nodes).ok().flatten();
        let rival = other.and_then(|other| self.inputs_of(&nodes, &other));
        Ok(LightestVariant { inputs, rival, least: None })
    }

    /// The objective that counts open inputs off their defaults.
    fn off_defaults(&self) -> Objective {
        let of_default = |(cases, default): (&Vec<Lit>, &space::Default)| match default {
            space::Default::Case(at) => {
                cases.iter().copied().enumerate().filter(|(it, _)| it != at).collect()
            }
            space::Default::Follows(_) | space::Default::None => Vec::new(),
        };
        let off: Vec<Vec<(usize, Lit)>> =
            self.cases.iter().zip(&self.defaults).map(of_default).collect();
        Objective { terms: off.into_iter().flatten().map(|(_, case)| (case, 1)).collect() }
    }

    /// Inputs that lead to the variant with exactly these of the nodes.
    fn inputs_of(&self, nodes: &[Atom], present: &[Atom]) -> Option<Vec<Arc<Assigned>>> {
        let present: FxHashSet<Atom> = present.iter().copied().collect();
        let nodes =
            nodes.iter().map(|node| Var(node.0).positive().negate_if(!present.contains(node)));
        let mut models = self.valid_models();
        let found = models.solve_least(&nodes.collect::<Vec<_>>(), &self.toward());
        found.then(|| self.assigned(&|literal| models.is_true(literal)))
    }

    /// The literals that are preferred in a model, so that the result does not depend on the
    /// solver: each input takes its default if possible, else its first possible case. The inputs
    /// determine all else.
    fn toward(&self) -> Vec<Lit> {
        self.default_cases().chain(self.cases.iter().flatten().copied()).collect()
    }

    /// The variant of a model.
    fn variant(&self, elements: &[Projected], is_true: &dyn Fn(Lit) -> bool) -> Variant {
        let present = elements.iter().filter(|element| is_true(literal(element.id)));
        let hash =
            present.clone().fold(FNV_START, |hash, element| fnv(hash, &element.hash.to_le_bytes()));
        Variant {
            // Twelve hexadecimal digits are enough to distinguish the variants of a list.
            name: format!("{:012x}", hash >> 16),
            preset: None,
            present: present.map(|element| element.identifier.clone()).collect(),
            inputs: self.assigned(is_true),
        }
    }

    /// The elements that distinguish variants, with their identifiers and hashes computed once.
    fn projected(&self, projection: Projection) -> Vec<Projected> {
        let projected = |id| {
            let identifier: Arc<str> = self.graph().identifier(id).to_string().into();
            Projected { id, hash: fnv(FNV_START, identifier.as_bytes()), identifier }
        };
        projection.elements(self.graph()).into_iter().map(projected).collect()
    }
}

/// An element that distinguishes variants.
struct Projected {
    id: ElementId,
    identifier: Arc<str>,
    /// The hash of the identifier.
    hash: u64,
}

/// With this many elements, it does not pay to look for a smaller set that distinguishes variants.
const MANY: usize = 5_000;

fn literals(elements: &[Projected]) -> Vec<Lit> {
    elements.iter().map(|element| literal(element.id)).collect()
}

/// A set of literals that is enough to distinguish variants: none that never changes, and one of
/// each set that is always equal.
fn telling(elements: &[Projected], samples: &mut Samples, models: &mut Models) -> Vec<Lit> {
    let literals = literals(elements);
    let fixed = backbone_beside(samples, &literals, models).unwrap_or_default();
    let fixed: FxHashSet<_> = fixed.always.into_iter().chain(fixed.never).collect();
    let changing: Vec<_> =
        literals.into_iter().filter(|literal| !fixed.contains(literal)).collect();
    let sets = equivalences_beside(samples, &changing, models).unwrap_or_default();
    let repeated: FxHashSet<_> = sets.iter().flat_map(|set| set.iter().skip(1).copied()).collect();
    changing.into_iter().filter(|literal| !repeated.contains(literal)).collect()
}

/// The offset basis of the 64 bit FNV-1a hash.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Continues an FNV-1a hash with some bytes.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
