//! All variants of a template as clauses: a model for each valid assignment of the open inputs.

use crate::sat::formula::{Cnf, Encoder, Formula, Lit, OriginId, Var};
use crate::sat::progress::Progress;
use crate::sat::solve::backbone::backbone;
use crate::sat::solve::circuit::Circuit;
use crate::sat::solve::walk::{Samples, WIDE};
use crate::sat::solve::{self, Determinised, Models, Objective, Problem, Question, Unique};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::value::Value;
use crate::variability::check::{self, Demand};
use crate::variability::enrich::{self, Assertions};
use crate::variability::expression::{Evaluator, InputCase, OpenInput, Roots, partition};
use crate::variability::find as variant;
use crate::variability::graph::{ElementId, Graph, PropertyElement};
use crate::variability::inputs::{Declaration, Declarations, InputId};
use crate::variability::objectives;
use crate::variability::options::{Flag, Optimization, TopologyMode};
use crate::variability::prepared::Prepared;
use crate::variability::template::PropertyValue;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// So many contexts of choices are looked at; beyond that, inputs have to be assigned.
const MAX_CONTEXTS: usize = 20_000;

/// The value of an open input in a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Assigned {
    /// The name of the input.
    pub name: String,
    /// A value with which it gives the variant; nothing where it has no known value and needs none.
    pub value: Option<Value>,
    /// All values that do, for people.
    pub case: String,
    /// Whether it has a value of that case anyway when nothing assigns it.
    pub default: bool,
}

/// The open inputs of a variant, for all that it is an example of.
pub(crate) type Example = Arc<[Arc<Assigned>]>;

/// What decides an open input that nobody assigns.
#[derive(Clone, Debug)]
pub(super) enum Default {
    /// This case.
    Case(usize),
    /// The case whose literal is true.
    Follows(Vec<Lit>),
    /// Nothing: it has to be assigned, or what its expression comes to cannot be told.
    None,
}

/// What a variant has to fulfil beyond being the best of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariantRequirement {
    /// A check, because of an element.
    Check(Code, Option<ElementId>),
    /// No other variant is as good.
    Unique(Code),
    /// It was asked for.
    Where,
}

/// All variants of a template.
pub(crate) struct Space<'s, 'a> {
    pub(super) prepared: &'s Prepared<'a>,
    pub(super) evaluator: Evaluator<'s, 'a>,
    pub(super) open: Vec<OpenInput>,
    /// What is told of each case of each open input where it is not, and where it is its default:
    /// thousands of variants share it.
    told: Vec<Vec<[OnceCell<Arc<Assigned>>; 2]>>,
    pub(super) assertions: Assertions,
    /// The literal of each case of each open input.
    pub(super) cases: Vec<Vec<Lit>>,
    pub(super) defaults: Vec<Default>,
    /// What has to hold before the best is chosen, each clause with its origin.
    pub(super) cnf: Cnf,
    /// The same, with one model for each assignment of inputs.
    pub(super) determinised: Determinised,
    /// Literals that every valid variant fulfils, and why.
    pub(super) requirements: Vec<(Lit, VariantRequirement)>,
    /// The constraints of the author and the rules between inputs, each with the literal that it
    /// holds.
    pub(super) constraints: Vec<(OriginId, Lit)>,
    /// The number of different technologies.
    pub(super) technologies: Objective,
    /// The weight of the nodes, and what it means.
    pub(super) weight: (Objective, objectives::ObjectiveMeasure),
}

/// The literal of an element's presence.
pub(crate) fn literal(id: ElementId) -> Lit {
    Var(id.0).positive()
}

/// What has to hold of a template with its inputs open, before any clause is made.
pub(crate) struct Opened<'s, 'a> {
    pub(crate) evaluator: Evaluator<'s, 'a>,
    open: Vec<OpenInput>,
    /// When each case of each open input holds.
    when: Vec<Vec<Formula>>,
    pub(crate) assertions: Assertions,
    /// What was asked for besides.
    wanted: Vec<Formula>,
    /// What the template optimises.
    pub(crate) objectives: Vec<objectives::WeightedSum>,
}

impl<'s, 'a> Opened<'s, 'a> {
    /// Builds the formulas for all inputs at once; with `features`, only for inputs that fulfil the
    /// rules between them.
    ///
    /// # Errors
    /// What is wrong with the template whatever the inputs, and `open-input` where an input cannot
    /// stay open.
    pub(crate) fn new(
        prepared: &'s Prepared<'a>,
        features: bool,
        progress: &mut dyn Progress,
    ) -> Result<Self, Diagnostics> {
        let mut evaluator = prepared.evaluator();
        progress.phase("partitioning inputs");
        let mut diagnostics = Diagnostics::default();
        let wanted: Vec<_> =
            prepared.conditions.iter().map(|&node| prepared.graph.syntax.read(node)).collect();
        wanted.iter().for_each(|&id| evaluator.validate(id, None, &mut diagnostics));
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let Prepared { type_specific, options, wrong_expressions, .. } = prepared;
        enrich::validate(&mut evaluator, type_specific, options, wrong_expressions)?;
        let open = partition(&mut evaluator, &roots(prepared), &known_values(prepared))?;
        progress.counted("evaluations", open.iter().map(|open| open.evaluations).sum());
        let when = evaluator.open(&open);
        let mut assertions = enrich::enrich(
            &mut evaluator,
            &prepared.inputs,
            &prepared.type_specific,
            prepared.options,
        )?;
        assertions.add_demands(&mut evaluator, &prepared.demands);
        let wanted = wanted.into_iter().map(|id| evaluator.condition(id, None));
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        assertions.add_inputs(&mut evaluator, &open, &when);
        if features {
            assertions.add_features(&mut evaluator, &prepared.inputs);
        }
        let objectives = objectives::objectives(&mut evaluator, prepared.options)?;
        Ok(Self { evaluator, open, when, assertions, wanted, objectives })
    }

    /// When each case of each open input holds, and what it is for people.
    pub(crate) fn cases(&self, declarations: &Declarations<'_>) -> Vec<(String, Formula)> {
        named(&self.open, &self.when, declarations)
    }
}

/// Something for each case of each open input, with what the case is for people.
fn named<T: Copy>(
    open: &[OpenInput],
    of: &[Vec<T>],
    declarations: &Declarations<'_>,
) -> Vec<(String, T)> {
    let mut found = Vec::new();
    for (open, of) in open.iter().zip(of) {
        let name = declarations.get(open.input).map_or("", |declaration| declaration.name);
        let case = |(case, &one): (&InputCase, &T)| (format!("input {name} = {}", case.label), one);
        found.extend(open.cases.iter().zip(of).map(case));
    }
    found
}

impl<'s, 'a> Space<'s, 'a> {
    /// All variants of all inputs; with `features`, of those that fulfil the rules between them.
    ///
    /// # Errors
    /// As [`Opened::new`] and [`Space::new`].
    pub(crate) fn of(
        prepared: &'s Prepared<'a>,
        features: bool,
        progress: &mut dyn Progress,
    ) -> Result<Self, Diagnostics> {
        Self::new(prepared, Opened::new(prepared, features, progress)?, progress)
    }

    /// Determinises what is best for each assignment of inputs.
    ///
    /// # Errors
    /// `open-input` where that depends on inputs in too many ways.
    pub(crate) fn new(
        prepared: &'s Prepared<'a>,
        opened: Opened<'s, 'a>,
        progress: &mut dyn Progress,
    ) -> Result<Self, Diagnostics> {
        let Opened { mut evaluator, open, when, assertions, wanted, objectives: goals } = opened;
        let follows = open
            .iter()
            .map(|input| follows(&mut evaluator, &open, input, prepared))
            .collect::<Vec<_>>();
        let technologies = objectives::count(&mut evaluator, Optimization::Min);
        let weight = objectives::topology(&mut evaluator, TopologyMode::Weight, Optimization::Min)?;
        let rules = check::rules(&prepared.graph, prepared.options);
        let checks: Vec<_> =
            rules.iter().map(|rule| (rule_formula(&mut evaluator, rule), rule)).collect();

        let mut encoder = variant::encoder(&evaluator, &assertions);
        let objectives: Vec<_> =
            goals.iter().map(|sum| variant::objective(&mut encoder, sum)).collect();
        let cases: Vec<Vec<Lit>> = when
            .iter()
            .map(|when| when.iter().map(|&case| encoder.literal(case)).collect())
            .collect();
        progress.counted("clauses", encoder.cnf().len());
        progress.phase("determinising what is best");
        let inputs: Vec<Var> = evaluator.input_atoms().map(Var).collect();
        let unique = variant::uniqueness(&prepared.graph, prepared.options);
        let mut determinised = determinise(prepared, encoder.cnf(), &inputs, &objectives, &unique)?;

        progress.counted("gates", determinised.gates);
        progress.counted("other variables", determinised.asked);

        encoder.reserve(determinised.vars);
        let mut requirements: Vec<_> = wanted
            .iter()
            .map(|&formula| (encoder.literal(formula), VariantRequirement::Where))
            .collect();
        requirements.extend(checks.iter().map(|(formula, rule)| {
            (
                encoder.literal(*formula),
                VariantRequirement::Check(rule.code, rule.guard.or(rule.of.first().copied())),
            )
        }));
        requirements.extend(
            determinised
                .ambiguous
                .iter()
                .map(|&(literal, set)| (!literal, VariantRequirement::Unique(unique[set].0))),
        );
        let is_constraint = |origin: &enrich::Origin| {
            matches!(origin, enrich::Origin::Author(_) | enrich::Origin::Feature(..))
        };
        let constraints =
            assertions.iter().filter(|&(_, origin)| is_constraint(assertions.origin(origin)));
        let constraints = constraints
            .filter_map(|(clause, origin)| Some((origin, encoder.literal(*clause.first()?))));
        let constraints: Vec<_> = constraints.collect();
        let defaults =
            follows.iter().map(|default| encode_default(&mut encoder, default)).collect();
        let technologies = variant::objective(&mut encoder, &technologies);
        let weight = (variant::objective(&mut encoder, &weight), weight.measure);
        let cnf = encoder.finish();
        determinised.vars = determinised.vars.max(cnf.vars());
        let told =
            open.iter().map(|open| vec![<[OnceCell<_>; 2]>::default(); open.cases.len()]).collect();
        Ok(Self {
            prepared,
            evaluator,
            open,
            told,
            assertions,
            cases,
            defaults,
            cnf,
            determinised,
            requirements,
            constraints,
            technologies,
            weight,
        })
    }

    /// The literal of each case of each open input, and what it is for people.
    pub(crate) fn named_cases(&self) -> Vec<(String, Lit)> {
        named(&self.open, &self.cases, &self.prepared.inputs.declarations)
    }

    /// How many variables the clauses have.
    pub(crate) fn vars(&self) -> usize {
        self.determinised.vars
    }

    /// The elements.
    pub(crate) fn graph(&self) -> &'s Graph<'a> {
        &self.prepared.graph
    }

    /// The declaration of an open input.
    pub(super) fn declaration(&self, input: InputId) -> Option<&'s Declaration<'a>> {
        self.prepared.inputs.declarations.get(input)
    }

    /// The assignment of a model.
    pub(super) fn assigned(&self, is_true: &dyn Fn(Lit) -> bool) -> Vec<Arc<Assigned>> {
        let assigned = self.chosen(is_true).into_iter().enumerate().filter_map(|(input, case)| {
            let default = self.is_default(input, case, is_true);
            let told = self.told[input].get(case)?[usize::from(default)]
                .get_or_init(|| Arc::new(self.tell(input, case, default)));
            Some(told.clone())
        });
        assigned.collect()
    }

    /// An open input that has one of its cases.
    fn tell(&self, input: usize, case: usize, default: bool) -> Assigned {
        let OpenInput { input, cases, .. } = &self.open[input];
        let InputCase { value, label, .. } = &cases[case];
        let name = self.declaration(*input).map_or("", |declaration| declaration.name);
        Assigned { name: name.to_owned(), value: value.clone(), case: label.clone(), default }
    }

    /// The clauses whose models are the best variant of each assignment, whether it is valid or
    /// not.
    pub(super) fn best_clauses(&self) -> impl Iterator<Item = &[Lit]> {
        self.cnf
            .clauses()
            .map(|clause| clause.literals)
            .chain(self.determinised.lemmas.iter().map(Vec::as_slice))
    }

    /// The best variant of each assignment, whether it is valid or not.
    pub(super) fn best_models(&self) -> Models {
        Models::new(self.determinised.vars, self.best_clauses(), self.prepared.solver)
    }

    /// The valid variants.
    pub(super) fn valid_models(&self) -> Models {
        let mut models = self.best_models();
        self.requirements.iter().for_each(|&(literal, _)| models.add_clause(&[literal]));
        models
    }

    /// The clauses whose models are the valid variants.
    pub(crate) fn valid_clauses(&self) -> impl Iterator<Item = &[Lit]> {
        let requirements =
            self.requirements.iter().map(|(literal, _)| std::slice::from_ref(literal));
        self.best_clauses().chain(requirements)
    }

    /// For each of these sets of literals, inputs that give a valid variant in which all of them
    /// are true, where there is one; nothing where there is no valid variant at all.
    pub(crate) fn valid_with(&self, wanted: &[Vec<Lit>]) -> Option<Vec<Option<Example>>> {
        let mut models = self.valid_models();
        models.solve(&[]).then(|| Examples { space: self, models }.find(wanted))
    }

    /// What names an element that is absent, where a check rejects the variant for it, each with
    /// inputs that lead there.
    pub(crate) fn rejected_references(&self) -> Vec<(Diagnostic, Example)> {
        let checks =
            self.requirements.iter().filter_map(|&(literal, requirement)| match requirement {
                VariantRequirement::Check(
                    code @ (Code::RelationSource | Code::RelationTarget),
                    Some(element),
                ) => Some((literal, code, element)),
                _ => None,
            });
        let (wanted, checks): (Vec<_>, Vec<_>) =
            checks.map(|(literal, code, id)| (vec![!literal], (code, id))).unzip();
        let found = Examples { space: self, models: self.best_models() }.find(&wanted);
        let rejected = checks.into_iter().zip(found).filter_map(|((code, element), found)| {
            let end = if code == Code::RelationSource { "source" } else { "target" };
            let message = format!(
                "the {end} of {} may be absent while it is present",
                self.graph().display(element)
            );
            let help = format!(
                "`{code}` rejects such variants; give the relation the condition of its {end}"
            );
            let warning = Diagnostic::warning(code, message)
                .at(self.graph().element(element).span)
                .section("3.8.2");
            Some((warning.help(help), found?))
        });
        rejected.collect()
    }

    /// Why no assignment of inputs gives a variant: a conflict of the template, or else nothing
    /// passes the checks.
    pub(crate) fn void(&self) -> Diagnostic {
        let problem = Problem { cnf: &self.cnf, objectives: &[], preference: &[] };
        match solve::solve(&problem, &self.prepared.solver.into(), &mut ()) {
            Err(solve::Unsolved::Conflict(conflict)) => variant::unsatisfiable(
                self.graph(),
                &self.assertions,
                self.prepared.options,
                &conflict,
            ),
            // Without a limit nothing is interrupted.
            Ok(_) | Err(solve::Unsolved::Interrupted) if self.passes_checks() => {
                let message = "no variant fulfils the condition that was asked for";
                let place = self.prepared.conditions.first().map(|condition| condition.span());
                Diagnostic::error(Code::Unsatisfiable, message).at(place)
            }
            Ok(_) | Err(solve::Unsolved::Interrupted) => {
                let message = "no variant passes all checks, whatever the inputs";
                Diagnostic::error(Code::Unsatisfiable, message)
                    .help("`cuvee analyze` says which checks reject which variants")
            }
        }
    }

    /// Whether there are variants, apart from what was asked for.
    fn passes_checks(&self) -> bool {
        let checks = self
            .requirements
            .iter()
            .filter(|(_, requirement)| *requirement != VariantRequirement::Where);
        self.best_models().solve(&checks.map(|&(literal, _)| literal).collect::<Vec<_>>())
    }

    /// The variables of open inputs, from which all else follows.
    pub(super) fn input_vars(&self) -> Vec<Var> {
        self.evaluator.input_atoms().map(Var).collect()
    }

    /// Some valid variants, where they can be had without a solver; `models` are the valid ones.
    pub(super) fn samples(&self, models: &mut Models) -> Samples {
        let cnf = Cnf::of(self.vars(), self.valid_clauses().map(<[Lit]>::to_vec));
        let circuit = Circuit::new(&cnf, &self.input_vars());
        circuit.map_or_else(Samples::default, |circuit| Samples::of(circuit, &self.cases, models))
    }

    /// The same where a solver would be asked for each of many cases, else none.
    pub(super) fn samples_of_many_cases(&self, models: &mut Models) -> Samples {
        let has_many = self.cases.iter().any(|cases| cases.len() > WIDE);
        if has_many { self.samples(models) } else { Samples::default() }
    }

    /// The case of each open input in a model.
    pub(super) fn chosen(&self, is_true: &dyn Fn(Lit) -> bool) -> Vec<usize> {
        let chosen =
            |cases: &Vec<Lit>| cases.iter().position(|&case| is_true(case)).unwrap_or_default();
        self.cases.iter().map(chosen).collect()
    }

    /// That each open input has its default, as far as that does not depend on others; without one,
    /// its first case.
    pub(super) fn default_cases(&self) -> impl Iterator<Item = Lit> {
        self.cases.iter().zip(&self.defaults).filter_map(|(cases, default)| match default {
            Default::Case(case) => cases.get(*case).copied(),
            Default::None => cases.first().copied(),
            Default::Follows(_) => None,
        })
    }

    /// Whether, in a model, an open input has this case also when nothing assigns it.
    pub(super) fn is_default(
        &self,
        input: usize,
        case: usize,
        is_true: &dyn Fn(Lit) -> bool,
    ) -> bool {
        match &self.defaults[input] {
            Default::Case(default) => *default == case,
            Default::Follows(cases) => cases.get(case).is_some_and(|&literal| is_true(literal)),
            Default::None => false,
        }
    }
}

/// Looks for examples among some variants.
pub(super) struct Examples<'v, 's, 'a> {
    pub(super) space: &'v Space<'s, 'a>,
    pub(super) models: Models,
}

impl Examples<'_, '_, '_> {
    /// For each of these sets of literals, inputs of a variant in which all of them are true, where
    /// there is one.
    ///
    /// What never is needs no solver of its own, and one variant is an example of whatever is true
    /// in it.
    fn find(&mut self, wanted: &[Vec<Lit>]) -> Vec<Option<Example>> {
        let mut seen = FxHashSet::default();
        let literals: Vec<_> =
            wanted.iter().flatten().copied().filter(|&literal| seen.insert(literal)).collect();
        let never: FxHashSet<_> = backbone(&literals, &mut self.models)
            .into_iter()
            .flat_map(|fixed| fixed.never)
            .collect();
        let may_be = |&at: &usize| wanted[at].iter().all(|literal| !never.contains(literal));
        let mut open: VecDeque<_> = (0..wanted.len()).filter(may_be).collect();
        let mut found = vec![None; wanted.len()];
        // With all inputs at their defaults first, so that no others are named without need.
        let mut asked = None;
        while !open.is_empty() {
            if let Some(example) =
                self.example(asked.map_or_else(Vec::new, |at: usize| wanted[at].clone()))
            {
                open.retain(|&at| {
                    let is_example = wanted[at].iter().all(|&literal| self.models.is_true(literal));
                    if is_example {
                        found[at] = Some(Arc::clone(&example));
                    }
                    !is_example
                });
            } else {
                open.pop_front();
            }
            asked = open.front().copied();
        }
        found
    }

    /// A variant in which these are true; as many inputs as possible are left at their defaults. It
    /// is what `models` says then.
    pub(super) fn example(&mut self, mut wanted: Vec<Lit>) -> Option<Example> {
        if !self.models.solve(&wanted) {
            return None;
        }
        let defaults: Vec<_> = self.space.default_cases().collect();
        if !self.models.solve(&[&*wanted, &*defaults].concat()) {
            for default in defaults {
                wanted.push(default);
                if !self.models.solve(&wanted) {
                    wanted.pop();
                }
            }
            self.models.solve(&wanted);
        }
        Some(self.space.assigned(&|literal| self.models.is_true(literal)).into())
    }
}

fn determinise(
    prepared: &Prepared<'_>,
    cnf: &Cnf,
    inputs: &[Var],
    objectives: &[Objective],
    unique: &[(Code, Unique)],
) -> Result<Determinised, Diagnostics> {
    let unique: Vec<_> = unique.iter().map(|(_, unique)| unique.clone()).collect();
    let preference = variant::preference(&prepared.graph, prepared.options);
    let problem = Problem { cnf, objectives, preference: &preference };
    let question = Question { problem: &problem, inputs, unique: &unique };
    solve::determinise(&question, prepared.solver, MAX_CONTEXTS).ok_or_else(|| {
        let message =
            format!("the best variant depends on inputs in more than {MAX_CONTEXTS} ways");
        Diagnostic::error(Code::OpenInput, message)
            .help("assign some inputs with `--input` or a preset")
            .into()
    })
}

/// Where conditions start: those of the template, those asked for, and inputs that are conditions
/// by their names or rules.
pub(super) fn roots(prepared: &Prepared<'_>) -> Roots {
    let mut roots = Roots::of(&prepared.graph, &prepared.type_specific);
    let wanted = prepared.conditions.iter().map(|&node| prepared.graph.syntax.read(node));
    roots.conditions.extend(wanted);
    let by_name = prepared.options.flag(Flag::EnrichInputCondition);
    for (id, declaration) in prepared.inputs.declarations.iter() {
        if by_name && prepared.graph.by_identifier(declaration.name).is_some() {
            roots.inputs.push(id);
        }
        if !declaration.rules.is_empty() {
            roots.features.push(id);
            roots.features.extend(declaration.rules.iter().flat_map(|rule| &rule.targets));
        }
    }
    roots
}

/// Values that authors use: defaults and those of presets.
pub(super) fn known_values(prepared: &Prepared<'_>) -> FxHashMap<InputId, Vec<Value>> {
    let declarations = &prepared.inputs.declarations;
    let mut known: FxHashMap<InputId, Vec<Value>> = FxHashMap::default();
    for (id, declaration) in declarations.iter() {
        known.entry(id).or_default().extend(declaration.default_value());
    }
    let presets: Vec<_> = prepared.presets.iter().map(|preset| preset.id).collect();
    for assignment in prepared.presets.assignments(&presets, &mut Diagnostics::default()) {
        if let Some((id, declaration)) =
            declarations.id(&assignment.name).and_then(|id| Some((id, declarations.get(id)?)))
        {
            known.entry(id).or_default().push(declaration.read_value(assignment.value));
        }
    }
    known
}

/// A default before it is encoded.
enum Follows {
    Case(usize),
    Cases(Vec<Formula>),
    None,
}

/// What an open input is where nothing assigns it.
fn follows<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    all: &[OpenInput],
    input: &OpenInput,
    prepared: &Prepared<'a>,
) -> Follows {
    let Some(declaration) = prepared.inputs.declarations.get(input.input) else {
        return Follows::None;
    };
    if let Some(value) = declaration.default_value() {
        return input.case_of(evaluator, &value).map_or(Follows::None, Follows::Case);
    }
    let Some(expression) = declaration.computed_default() else {
        // What nothing asks for needs no value.
        let expression = |property: &PropertyElement<'a>| match property.property.value {
            PropertyValue::Expression(expression) => Some(expression),
            PropertyValue::Value(_) => None,
        };
        let values = prepared.graph.properties.iter().filter_map(expression);
        let defaults = prepared
            .inputs
            .declarations
            .iter()
            .filter_map(|(_, declaration)| declaration.computed_default());
        let is_asked = input.is_asked()
            || values.chain(defaults).any(|expression| evaluator.mentions(expression, input.input));
        return if is_asked { Follows::None } else { Follows::Case(0) };
    };
    // Of a case that stands for several values, only what conditions make of them is known.
    let exact = |id: InputId| {
        all.iter().any(|open| open.input == id && open.cases.iter().all(|case| case.exact))
    };
    if !evaluator.open_inputs_of(expression).into_iter().all(exact) {
        return Follows::None;
    }
    let Ok(found) = evaluator.value_cases(expression) else { return Follows::None };
    let mut when = vec![Vec::new(); input.cases.len()];
    for case in found {
        if let Some(index) = case.outcome.ok().and_then(|value| input.case_of(evaluator, &value)) {
            when[index].push(case.when);
        }
    }
    Follows::Cases(when.into_iter().map(|when| evaluator.arena.or(when)).collect())
}

fn encode_default(encoder: &mut Encoder<'_>, default: &Follows) -> Default {
    match default {
        Follows::Case(case) => Default::Case(*case),
        Follows::Cases(cases) => {
            Default::Follows(cases.iter().map(|&case| encoder.literal(case)).collect())
        }
        Follows::None => Default::None,
    }
}

/// What a check demands, as a formula.
fn rule_formula(evaluator: &mut Evaluator<'_, '_>, rule: &check::PresenceRule) -> Formula {
    let of: Vec<_> = rule.of.iter().map(|&id| evaluator.atom(id)).collect();
    let guard = rule.guard.map_or(Formula::TRUE, |guard| evaluator.atom(guard));
    let demand = match rule.demand {
        Demand::Any => evaluator.arena.or(of),
        Demand::AtMostOne => evaluator.arena.at_most_one(of),
    };
    evaluator.arena.implies(guard, demand)
}

/// Which elements make a variant.
#[derive(Clone, Copy, Debug, std::default::Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Projection {
    /// Variants with the same nodes are one.
    Nodes,
    /// Variants with the same elements are one.
    #[default]
    All,
}

impl Projection {
    /// The elements that count, in the order of the template.
    pub(crate) fn elements(self, graph: &Graph<'_>) -> Vec<ElementId> {
        match self {
            Self::Nodes => graph.nodes.iter().map(|node| node.id).collect(),
            Self::All => graph.ids().filter(|&id| !graph.is_of_variability_group(id)).collect(),
        }
    }
}
