//! Encodes all variants of a template as clauses, with one model for each valid assignment of the
//! open inputs.

use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, LISTED, Severity};
use crate::variability::check::{self, Demand};
use crate::variability::enrich::{self, Assertions};
use crate::variability::expression::{Evaluator, InputCase, OpenInput, Roots, partition};
use crate::variability::find as variant;
use crate::variability::graph::{ElementId, Graph, PropertyElement};
use crate::variability::inputs::{Declaration, Declarations, InputId};
use crate::variability::objectives;
use crate::variability::options::{Flag, Optimization, TopologyMode};
use crate::variability::prepared::Prepared;
use crate::variability::presence::Presence;
use crate::variability::template::PropertyValue;
use cuvee_sat::formula::{Cnf, Encoder, Formula, Lit, OriginId, Var};
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::backbone::backbone_beside;
use cuvee_sat::solve::circuit::Circuit;
use cuvee_sat::solve::exclusion::{self, Exclusions};
use cuvee_sat::solve::walk::{Samples, WIDE};
use cuvee_sat::solve::{self, Determinised, Models, Objective, Problem, Question, Unique};
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many contexts of choices are examined at most; beyond that, inputs have to be assigned.
const MAX_CONTEXTS: usize = 20_000;

/// The value of an open input in a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Assigned {
    /// The name of the input.
    pub name: String,
    /// A value of the input that leads to the variant; `None` if no value is known and none is
    /// needed.
    pub value: Option<Value>,
    /// All values that lead to the variant, as text for people.
    pub case: String,
    /// Whether the input has a value of this case by default.
    pub default: bool,
}

/// An assignment of the open inputs that serves as an example.
pub(crate) type Example = Arc<[Arc<Assigned>]>;

/// The value of an open input that nobody assigns.
#[derive(Clone, Debug)]
pub(super) enum Default {
    /// The value is in this case.
    Case(usize),
    /// The value is in the case whose literal is true.
    Follows(Vec<Lit>),
    /// The input has to be assigned, or the value of its expression is not known.
    None,
}

/// A requirement on a variant beyond being the best for its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariantRequirement {
    /// The variant must pass a check that concerns an element.
    Check(Code, Option<ElementId>),
    /// No other variant may be as good.
    Unique(Code),
    /// The condition that the caller asked for.
    Where,
}

/// All variants of a template.
pub(crate) struct Space<'s, 'a> {
    pub(super) prepared: &'s Prepared<'a>,
    pub(super) evaluator: Evaluator<'s, 'a>,
    pub(super) open: Vec<OpenInput>,
    /// The report of each case of each open input, once as a non-default and once as the default;
    /// thousands of variants share it.
    told: Vec<Vec<[OnceCell<Arc<Assigned>>; 2]>>,
    pub(super) assertions: Assertions,
    /// The literal of each case of each open input.
    pub(super) cases: Vec<Vec<Lit>>,
    pub(super) defaults: Vec<Default>,
    /// The clauses that hold before the best variant is chosen, each with its origin.
    pub(super) cnf: Cnf,
    /// These clauses made deterministic, with one model for each assignment of inputs.
    pub(super) determinised: Determinised,
    /// The literals that every valid variant satisfies, and why.
    pub(super) requirements: Vec<(Lit, VariantRequirement)>,
    /// The author's constraints and the rules between inputs, each with the literal that is true if
    /// it holds.
    pub(super) constraints: Vec<(OriginId, Lit)>,
    /// The objective that counts different technologies.
    pub(super) technologies: Objective,
    /// The objective that weighs the nodes, and the meaning of its numbers.
    pub(super) weight: (Objective, objectives::ObjectiveMeasure),
}

/// The literal of an element's presence.
pub(crate) fn literal(id: ElementId) -> Lit {
    Var(id.0).positive()
}

/// The formulas of a template with open inputs, before they are turned into clauses.
pub(crate) struct Opened<'s, 'a> {
    pub(crate) evaluator: Evaluator<'s, 'a>,
    open: Vec<OpenInput>,
    /// The formula for each case of each open input.
    when: Vec<Vec<Formula>>,
    pub(crate) assertions: Assertions,
    /// The conditions that the caller asked for.
    wanted: Vec<Formula>,
    /// The objectives of the template.
    pub(crate) objectives: Vec<objectives::WeightedSum>,
}

impl<'s, 'a> Opened<'s, 'a> {
    /// Builds the formulas for all inputs at once; with `features`, only for inputs that satisfy
    /// the rules between them.
    ///
    /// # Errors
    /// The errors of the template that do not depend on inputs, and `open-input` if an input cannot
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

    /// The cases of an input; `None` if it is not open.
    pub(crate) fn cases_of(&self, input: InputId) -> Option<&[InputCase]> {
        Some(&self.open.iter().find(|open| open.input == input)?.cases)
    }

    /// The formula of each case of each open input, with its label.
    pub(crate) fn cases(&self, declarations: &Declarations<'_>) -> Vec<(String, Formula)> {
        named(&self.open, &self.when, declarations)
    }
}

/// Pairs an item for each case of each open input with the label of the case.
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
    /// Encodes all variants for all inputs; with `features`, only for inputs that satisfy the rules
    /// between them.
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

    /// Encodes the formulas, and determinises the best variant of each assignment of inputs.
    ///
    /// # Errors
    /// `open-input` if the best variant depends on inputs in too many ways.
    pub(crate) fn new(
        prepared: &'s Prepared<'a>,
        opened: Opened<'s, 'a>,
        progress: &mut dyn Progress,
    ) -> Result<Self, Diagnostics> {
        Self::within(MAX_CONTEXTS, prepared, opened, progress)
    }

    /// As [`Space::new`]; at most so many contexts of choices are examined.
    ///
    /// # Errors
    /// As [`Space::new`].
    pub(crate) fn within(
        contexts: usize,
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
        let mut checks: Vec<_> =
            rules.iter().map(|rule| (rule_formula(&mut evaluator, rule), rule)).collect();

        let mut encoder = variant::encoder(&evaluator, &assertions);
        drop_kept(&mut checks, encoder.cnf());
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
        let mut determinised =
            determinise(prepared, encoder.cnf(), &inputs, &objectives, (&unique, contexts))?;

        progress.counted("gates", determinised.gates);
        progress.counted("other variables", determinised.asked);
        progress.counted("searches", determinised.searches);

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

    /// The literal of each case of each open input, with its label.
    pub(crate) fn named_cases(&self) -> Vec<(String, Lit)> {
        named(&self.open, &self.cases, &self.prepared.inputs.declarations)
    }

    /// Warnings of cases that count as possible although no valid value of them is known.
    pub(crate) fn unknown_values(&self) -> Diagnostics {
        let unknown = self.open.iter().filter(|open| open.is_asked()).flat_map(|open| {
            let cases = open.cases.iter().filter(|case| case.value.is_none());
            cases.map(move |case| (open, case))
        });
        let warnings = unknown.map(|(open, case)| {
            let name = self.declaration(open.input).map_or("", |declaration| declaration.name);
            let message = format!(
                "no value is known that input `{name}` may have in the case `{}`, so it counts as possible",
                case.label
            );
            let help = "say with `$valid_values` which values it may have";
            Diagnostic::warning(Code::OpenInput, message).at(open.span).help(help)
        });
        Diagnostics(warnings.collect())
    }

    /// The number of variables of the clauses.
    pub(crate) fn vars(&self) -> usize {
        self.determinised.vars
    }

    /// The graph of the template's elements.
    pub(crate) fn graph(&self) -> &'s Graph<'a> {
        &self.prepared.graph
    }

    /// The declaration of an open input.
    pub(super) fn declaration(&self, input: InputId) -> Option<&'s Declaration<'a>> {
        self.prepared.inputs.declarations.get(input)
    }

    /// The assignment of inputs in a model.
    pub(super) fn assigned(&self, is_true: &dyn Fn(Lit) -> bool) -> Vec<Arc<Assigned>> {
        let assigned = self.chosen(is_true).into_iter().enumerate().filter_map(|(input, case)| {
            let default = self.is_default(input, case, is_true);
            let told = self.told[input].get(case)?[usize::from(default)]
                .get_or_init(|| Arc::new(self.tell(input, case, default)));
            Some(told.clone())
        });
        assigned.collect()
    }

    /// Describes an open input that is in one of its cases.
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

    /// A solver whose models are the best variant of each assignment, whether it is valid or not.
    pub(super) fn best_models(&self) -> Models {
        Models::new(self.determinised.vars, self.best_clauses(), self.prepared.settings())
    }

    /// A solver whose models are the valid variants.
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

    /// For each of these sets of literals, inputs that lead to a valid variant in which all of them
    /// are true, if there are any. `None` if there is no valid variant at all.
    pub(crate) fn valid_with(&self, wanted: &[Vec<Lit>]) -> Option<Vec<Option<Example>>> {
        let mut models = self.valid_models();
        models.solve(&[]).then(|| {
            // A few questions to the solver take less time than walks.
            let mut samples = match wanted.len() > WIDE {
                true => self.samples_of_many_cases(&mut models),
                false => Samples::default(),
            };
            Examples { space: self, models }.find(wanted, &mut samples)
        })
    }

    /// The relations that may be present while their source or target is absent, so that a check
    /// rejects the variant; each with inputs that lead there.
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
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut examples = Examples { space: self, models: self.best_models() };
        let found = examples.find(&wanted, &mut Samples::default());
        let rejected = checks.into_iter().zip(found).filter_map(|((code, element), found)| {
            let end = if code == Code::RelationSource { "source" } else { "target" };
            let message = format!(
                "the {end} of {} may be absent while the relation itself is present",
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

    /// The reason why no assignment of inputs leads to a variant: a conflict in the template, or
    /// that no variant passes the checks.
    pub(crate) fn void(&self) -> Diagnostic {
        self.void_with(|| None)
    }

    /// As [`Space::void`]. If no variant passes the checks, `help` may say what to do about it.
    pub(crate) fn void_with(&self, help: impl FnOnce() -> Option<String>) -> Diagnostic {
        let problem = Problem { cnf: &self.cnf, objectives: &[], preference: &[] };
        match solve::solve(&problem, &self.prepared.settings(), &mut ()) {
            Err(solve::Unsolved::Conflict(conflict)) => variant::unsatisfiable(
                self.graph(),
                &self.assertions,
                self.prepared.options,
                &conflict,
            ),
            // Of a solver that was interrupted nobody sees the answer.
            Ok(_) | Err(solve::Unsolved::Interrupted) if self.passes_checks() => {
                let message = "no variant fulfils the condition that was asked for";
                let place = self.prepared.conditions.first().map(|condition| condition.span());
                Diagnostic::error(Code::Unsatisfiable, message).at(place)
            }
            Ok(_) | Err(solve::Unsolved::Interrupted) => {
                let message = "no variant passes all checks, whatever the inputs";
                let error = Diagnostic::error(Code::Unsatisfiable, message)
                    .help("`cuvee analyze` says which checks reject which variants")
                    .help_opt(help());
                self.rejections().into_iter().fold(error, |error, rejection| {
                    let error = if error.span.is_none() { error.at(rejection.span) } else { error };
                    match rejection.span {
                        Some(span) => error.label(span, rejection.message),
                        None => error,
                    }
                })
            }
        }
    }

    /// What the checks reject in one variant, with as many defaults as possible.
    fn rejections(&self) -> Vec<Diagnostic> {
        let mut models = self.best_models();
        if !models.solve(&self.default_cases().collect::<Vec<_>>()) && !models.solve(&[]) {
            return Vec::new();
        }
        let truth = (0..self.evaluator.atoms()).map(|atom| models.is_true(Var(atom).positive()));
        let presence = Presence::new(truth.collect());
        let found = check::check(self.graph(), self.prepared.options, &presence);
        let errors = found.0.into_iter().filter(|found| found.severity == Severity::Error);
        errors.take(LISTED).collect()
    }

    /// Whether there are variants if the condition that the caller asked for is ignored.
    fn passes_checks(&self) -> bool {
        let checks = self
            .requirements
            .iter()
            .filter(|(_, requirement)| *requirement != VariantRequirement::Where);
        self.best_models().solve(&checks.map(|&(literal, _)| literal).collect::<Vec<_>>())
    }

    /// The variables of open inputs; they determine all others.
    pub(super) fn input_vars(&self) -> Vec<Var> {
        self.evaluator.input_atoms().map(Var).collect()
    }

    /// Some valid variants, if they can be obtained without a solver. The models of `models` must
    /// be the valid variants.
    pub(super) fn samples(&self, models: &mut Models) -> Samples {
        let cnf = Cnf::of(self.vars(), self.valid_clauses().map(<[Lit]>::to_vec));
        let circuit = Circuit::new(&cnf, &self.input_vars());
        circuit.map_or_else(Samples::default, |circuit| Samples::of(circuit, &self.cases, models))
    }

    /// Such samples if some input has many cases, each of which would need a query to the solver;
    /// otherwise none.
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

    /// The literals that put each open input in its default case if that does not depend on other
    /// inputs; an input without a default in its first case.
    pub(super) fn default_cases(&self) -> impl Iterator<Item = Lit> {
        self.cases.iter().zip(&self.defaults).filter_map(|(cases, default)| match default {
            Default::Case(case) => cases.get(*case).copied(),
            Default::None => cases.first().copied(),
            Default::Follows(_) => None,
        })
    }

    /// Whether, in a model, an unassigned open input would be in this case.
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

/// Finds examples among the variants of a solver.
pub(super) struct Examples<'v, 's, 'a> {
    pub(super) space: &'v Space<'s, 'a>,
    pub(super) models: Models,
}

impl Examples<'_, '_, '_> {
    /// For each of these sets of literals, inputs of a variant in which all of them are true, if
    /// there is one. `samples` are variants that are known already.
    ///
    /// Literals that are never true need no query of their own, and one variant is an example for
    /// every set that is true in it.
    fn find(&mut self, wanted: &[Vec<Lit>], samples: &mut Samples) -> Vec<Option<Example>> {
        let mut seen = FxHashSet::default();
        let literals: Vec<_> =
            wanted.iter().flatten().copied().filter(|&literal| seen.insert(literal)).collect();
        let never: FxHashSet<_> = backbone_beside(samples, &literals, &mut self.models)
            .into_iter()
            .flat_map(|fixed| fixed.never)
            .collect();
        let may_be = |&at: &usize| wanted[at].iter().all(|literal| !never.contains(literal));
        let mut open: VecDeque<_> = (0..wanted.len()).filter(may_be).collect();
        let mut found = vec![None; wanted.len()];
        // The first try has all inputs at their defaults, so that examples do not name others
        // needlessly.
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

    /// A variant in which these literals are true, with as many inputs as possible at their
    /// defaults. Afterwards `models` holds this variant.
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
    (unique, contexts): (&[(Code, Unique)], usize),
) -> Result<Determinised, Diagnostics> {
    let unique: Vec<_> = unique.iter().map(|(_, unique)| unique.clone()).collect();
    let preference = variant::preference(&prepared.graph, prepared.options);
    let problem = Problem { cnf, objectives, preference: &preference };
    let question = Question { problem: &problem, inputs, unique: &unique };
    solve::determinise(&question, prepared.settings(), contexts).ok_or_else(|| {
        let message = format!("the best variant depends on inputs in more than {contexts} ways");
        Diagnostic::error(Code::OpenInput, message)
            .help("assign some inputs with `--input` or a preset")
            .into()
    })
}

/// The roots of conditions: the conditions of the template and those asked for, and the inputs that
/// act as conditions by their names or rules.
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

/// The values of each input that authors use: defaults, and values from presets.
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

/// The value of an unassigned open input, before it is encoded as literals.
enum Follows {
    Case(usize),
    Cases(Vec<Formula>),
    None,
}

/// Computes the value that an open input has if nothing assigns it.
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
        // An input that no condition and no value depends on needs no value.
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
    // If a case stands for several values, the value of an expression over them is not known
    // exactly.
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

/// The requirement of a check as a formula.
fn rule_formula(evaluator: &mut Evaluator<'_, '_>, rule: &check::PresenceRule) -> Formula {
    let of: Vec<_> = rule.of.iter().map(|&id| evaluator.atom(id)).collect();
    let guard = rule.guard.map_or(Formula::TRUE, |guard| evaluator.atom(guard));
    let demand = match rule.demand {
        Demand::Any => evaluator.arena.or(of),
        Demand::AtMostOne => evaluator.arena.at_most_one(of),
    };
    evaluator.arena.implies(guard, demand)
}

/// Drops checks on many elements of which each excludes the others. A solver that is asked for a
/// violation would take a time that is quadratic in their number.
fn drop_kept(checks: &mut Vec<(Formula, &check::PresenceRule)>, cnf: &Cnf) {
    let is_wide = |rule: &check::PresenceRule| {
        rule.demand == Demand::AtMostOne && rule.of.len() >= exclusion::WIDE
    };
    if !checks.iter().any(|(_, rule)| is_wide(rule)) {
        return;
    }
    let mut exclusions = Exclusions::among(cnf);
    let mut are_exclusive = |rule: &check::PresenceRule| {
        exclusions.are_exclusive(&rule.of.iter().copied().map(literal).collect::<Vec<_>>())
    };
    checks.retain(|(_, rule)| !is_wide(rule) || !are_exclusive(rule));
}

/// Determines which elements distinguish variants.
#[derive(Clone, Copy, Debug, std::default::Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Projection {
    /// Variants with the same nodes count as one.
    Nodes,
    /// Variants with the same elements count as one.
    #[default]
    All,
}

impl Projection {
    /// The elements that distinguish variants, in the order of the template.
    pub(crate) fn elements(self, graph: &Graph<'_>) -> Vec<ElementId> {
        match self {
            Self::Nodes => graph.nodes.iter().map(|node| node.id).collect(),
            Self::All => graph.ids().filter(|&id| !graph.is_of_variability_group(id)).collect(),
        }
    }
}
