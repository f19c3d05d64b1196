//! Explains why an element is present or absent, and which change of inputs would alter that.
//!
//! An element is present exactly if all of its conditions hold, so its reasons are its conditions.
//! A condition depends on atoms: elements, which have reasons of their own, and inputs, where the
//! chain of reasons ends. Conditions are examined with all inputs open, because with values
//! assigned they would be folded to constants.

use super::space::{Default, Space, literal};
use super::{Assigned, flag, one_line};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::variability::choice::Choice;
use crate::variability::enrich::Origin;
use crate::variability::find::NO_VARIANT;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::inputs::{InputId, InputMode, Inputs};
use crate::variability::prepared::{Interpreted, Prepared};
use cuvee_sat::formula::{Atom, Cnf, Formula, Lit, Var, View};
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::{self, Objective, Problem};
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::rc::Rc;
use std::sync::Arc;

/// Why an element is present or absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The identifier of the element.
    pub element: String,
    /// The place where the element is declared.
    pub place: String,
    /// Whether the element is present.
    pub present: bool,
    /// The reasons why it is present or absent.
    pub because: Vec<Reason>,
    /// The smallest change of inputs that reverses the presence; `None` if no change does.
    pub change: Option<Vec<Change>>,
}

/// The subject of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ReasonKind {
    /// A condition of an element.
    Condition,
    /// The presence of an element.
    Element,
    /// The value of an input.
    Input,
    /// The chain ends here, without a further reason.
    End,
}

/// A link in the chain of reasons: a fact that holds or does not hold, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reason {
    /// The kind of the fact.
    pub kind: ReasonKind,
    /// The fact, as text for people.
    pub what: String,
    /// The name of the input, if the fact is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Whether the fact holds.
    pub holds: bool,
    /// The place of the fact: `file:line:column`.
    pub place: Option<String>,
    /// The reasons why the fact holds or not; empty at the end of a chain.
    pub because: Vec<Reason>,
}

/// A change of one input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The current value; `None` if the input has none.
    pub from: Option<Value>,
    /// The new value.
    #[serde(flatten)]
    pub to: Arc<Assigned>,
}

impl Change {
    /// The new value as on a command line: `-i size=3`; the case of the value, where none is known.
    pub fn flag(&self) -> String {
        match &self.to.value {
            Some(value) => flag(&self.to.name, value),
            None => format!("{}: {}", self.to.name, self.to.case),
        }
    }
}

/// The value that an input has, and the source of that value.
pub(crate) struct Current {
    pub(crate) value: Option<Value>,
    assigned: bool,
    /// The source of the value: `default`, ``the preset `prod` ``
    source: String,
    place: Option<Span>,
}

pub(crate) type Currents = FxHashMap<InputId, Current>;

impl<'a> Space<'_, 'a> {
    /// Explains why an element is present or absent in the variant of these inputs.
    ///
    /// # Errors
    /// `unknown-element` or `ambiguous-element`, or the reasons why there is no variant to explain.
    pub(crate) fn explain(
        &mut self,
        identifier: &str,
        currents: &Currents,
    ) -> Result<Explanation, Diagnostics> {
        let graph = self.graph();
        let id = graph.by_identifier(identifier);
        let id = id.map_or_else(|| meant(graph, identifier), Ok)?;
        let sources = self.prepared.sources();
        let truth = self.truth(currents)?;
        let present = truth[id.0 as usize];
        let mut explainer = Explainer::new(self, &truth, currents, sources);
        Ok(Explanation {
            element: graph.identifier(id).to_string(),
            place: sources.place(graph.element(id).span),
            present,
            because: explainer.conditions(id),
            change: self.change(currents, Some(literal(id).negate_if(present))),
        })
    }

    /// The smallest change of these inputs that leads to a variant; `None` if no change does.
    pub(crate) fn remedy(&mut self, currents: &Currents) -> Option<Vec<Change>> {
        self.change(currents, None)
    }

    /// The smallest change of these inputs that leads to a variant.
    ///
    /// # Errors
    /// A note why no change does, with the values that the inputs have.
    pub(crate) fn outlook(&mut self, currents: &Currents) -> Result<Vec<Change>, Diagnostic> {
        if let Some(change) = self.change(currents, None) {
            return Ok(change);
        }
        let mut void = self.void();
        for label in &mut void.labels {
            let open = self.open.iter().find(|open| open.span == label.span);
            let Some(input) = open.map(|open| open.input) else { continue };
            let Some(declaration) = self.declaration(input) else { continue };
            let current = currents.get(&input).filter(|_| !declaration.is_sensitive);
            let value =
                current.and_then(|current| Some((current.value.as_ref()?, &current.source)));
            let value = value.map_or_else(
                || format!("`{}` has one value", declaration.name),
                |(value, source)| format!("`{}` is {value} by {source}", declaration.name),
            );
            label.message = format!("{value}, and no other value helps");
        }
        let message = match void.message.strip_prefix(NO_VARIANT) {
            Some(conflict) => format!("no other inputs help: {conflict}"),
            None => void.message.clone(),
        };
        Err(void.with_message(message).with_severity(Severity::Note))
    }
}

/// The only element whose identifier contains this part.
///
/// # Errors
/// `ambiguous-element` if there are several such elements, `unknown-element` if there is none.
fn meant(graph: &Graph<'_>, part: &str) -> Result<ElementId, Diagnostic> {
    const LISTED: usize = 10;
    match &graph.by_part(part)[..] {
        &[only] => Ok(only),
        [] => {
            let help = "elements are named as in `node.shop` or `property.port@0.node.shop`";
            Err(Diagnostic::error(Code::UnknownElement, format!("there is no element `{part}`"))
                .help(help)
                .help_opt(graph.closest_identifier(part)))
        }
        several => {
            let name = |&id: &ElementId| format!("`{}`", graph.identifier(id));
            let mut names: Vec<_> = several.iter().take(LISTED).map(name).collect();
            if several.len() > LISTED {
                names.push(format!("{} more", several.len() - LISTED));
            }
            let message = format!("more than one element may be meant by `{part}`");
            Err(Diagnostic::error(Code::AmbiguousElement, message)
                .help(format!("name one of {}", names.join(", "))))
        }
    }
}

/// Asks a question about the variants around one assignment of all inputs; as many inputs as
/// possible are open.
///
/// # Errors
/// The errors of the template, and those of the question.
pub(crate) fn around<T>(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    progress: &mut dyn Progress,
    ask: impl Fn(&mut Space<'_, '_>, &Currents) -> Result<T, Diagnostics>,
) -> Result<(T, Diagnostics), Diagnostics> {
    let given = Prepared::of(interpreted, choice, InputMode::Closed, progress)?;
    let currents = currents(&given);
    let mut around = |mode| {
        let prepared = Prepared::of(interpreted, choice, mode, progress)?;
        let answer = Space::of(&prepared, true, progress).and_then(|mut space| {
            progress.phase("explaining");
            ask(&mut space, &currents)
        });
        prepared.answer(answer)
    };
    let cannot_stay_open =
        |errors: &Diagnostics| errors.0.iter().all(|error| error.code == Code::OpenInput);
    let first = around(InputMode::AllOpen);
    [InputMode::Open, InputMode::Closed].into_iter().fold(first, |answer, mode| match answer {
        Err(errors) if cannot_stay_open(&errors) => around(mode),
        answer => answer,
    })
}

/// The values that the inputs are given, with their sources.
pub(crate) fn currents(prepared: &Prepared<'_>) -> Currents {
    let mut evaluator = prepared.evaluator();
    let Inputs { declarations, values } = &prepared.inputs;
    let current = |(id, declaration): (InputId, &crate::variability::inputs::Declaration<'_>)| {
        let (source, place) = match values.source(id) {
            Some((source, place)) => (source.to_string(), *place),
            None => (
                "default".into(),
                declaration.default.or(declaration.default_expression).map(|node| node.span()),
            ),
        };
        let value = evaluator.input_at(id, declaration.span).ok();
        (id, Current { value, assigned: values.source(id).is_some(), source, place })
    };
    declarations.iter().map(current).collect()
}

impl<'a> Space<'_, 'a> {
    /// The case that the value of each open input is in.
    pub(super) fn current_cases(&mut self, currents: &Currents) -> Vec<Option<usize>> {
        let Self { open, evaluator, .. } = self;
        let case = |open: &crate::variability::expression::OpenInput| {
            open.case_of(evaluator, currents.get(&open.input)?.value.as_ref()?)
        };
        open.iter().map(case).collect()
    }

    /// The truth of every atom in the variant of these inputs.
    fn truth(&mut self, currents: &Currents) -> Result<Vec<bool>, Diagnostics> {
        let cases = self.current_cases(currents);
        for (open, case) in self.open.iter().zip(&cases) {
            if case.is_none() && open.cases.len() > 1 {
                return Err(self.without_value(open.input).into());
            }
        }
        let chosen =
            cases.iter().zip(&self.cases).filter_map(|(case, literals)| Some(literals[(*case)?]));
        let mut models = self.best_models();
        if models.solve(&chosen.collect::<Vec<_>>()) {
            return Ok((0..self.evaluator.atoms())
                .map(|atom| models.is_true(Var(atom).positive()))
                .collect());
        }
        let message = "there is no variant for these inputs, so nothing is present or absent";
        Err(Diagnostic::error(Code::Unsatisfiable, message)
            .help("`cuvee explain` without an element says why")
            .into())
    }

    /// The error that an input which conditions depend on has no value, so that the variant is not
    /// determined.
    fn without_value(&self, input: InputId) -> Diagnostic {
        let declaration = self.declaration(input);
        let name = declaration.map_or("", |declaration| declaration.name);
        let error = Diagnostic::error(
            Code::MissingInput,
            format!("variability input `{name}` has no value"),
        );
        error.at(declaration.map(|declaration| declaration.span)).help(format!(
            "assign it with `--input {name}=VALUE` or a preset, or declare its `default`"
        ))
    }

    /// The smallest change of inputs that leads to a variant in which a literal holds.
    fn change(&mut self, currents: &Currents, wanted: Option<Lit>) -> Option<Vec<Change>> {
        let cases = self.current_cases(currents);
        let mut clauses: Vec<Vec<Lit>> = self
            .valid_clauses()
            .map(<[Lit]>::to_vec)
            .chain(wanted.map(|wanted| vec![wanted]))
            .collect();
        let mut terms = Vec::new();
        for (index, open) in self.open.iter().enumerate() {
            let changed = Var((self.determinised.vars + terms.len()) as u32).positive();
            terms.push((changed, 1));
            if open.cases.len() == 1 {
                // No condition distinguishes values of this input, so changing it has no effect.
                clauses.push(vec![!changed]);
                continue;
            }
            let assigned = currents.get(&open.input).is_some_and(|current| current.assigned);
            for (case, &chosen) in self.cases[index].iter().enumerate() {
                match &self.defaults[index] {
                    // An unassigned input follows its computed default, whichever case that leads
                    // to.
                    Default::Follows(follows) if !assigned => {
                        clauses.push(vec![!chosen, follows[case], changed])
                    }
                    _ if cases[index] == Some(case) => {}
                    _ => clauses.push(vec![!chosen, changed]),
                }
            }
        }
        let mut preference: Vec<Atom> =
            terms.iter().map(|(changed, _)| Atom(changed.var().0)).collect();
        let mut vars = self.determinised.vars + terms.len();
        // Of the cases that an input may change to, the first possible one is preferred: later
        // cases are absent whenever they can be.
        for &case in self.cases.iter().flat_map(|cases| cases.iter().skip(1).rev()) {
            let is_chosen = Var(vars as u32).positive();
            clauses.extend([vec![!is_chosen, case], vec![is_chosen, !case]]);
            preference.push(Atom(is_chosen.var().0));
            vars += 1;
        }
        let cnf = Cnf::of(vars, clauses);
        let objective = Objective { terms };
        let problem = Problem {
            cnf: &cnf,
            objectives: std::slice::from_ref(&objective),
            preference: &preference,
        };
        let solution = solve::solve(&problem, &self.prepared.settings(), &mut ()).ok()?;
        let is_true =
            |literal: Lit| solution.is_true(Atom(literal.var().0)) != literal.is_negative();
        let changed = self.assigned(&is_true).into_iter().zip(&self.open).zip(&objective.terms);
        let changed = changed.filter(|&(_, &(changed, _))| is_true(changed));
        let changes = changed.map(|((to, open), _)| Change {
            from: currents.get(&open.input).and_then(|current| current.value.clone()),
            to,
        });
        Some(changes.collect())
    }
}

/// Gives the reasons of elements. The conditions are grouped by the element they belong to.
struct Explainer<'x, 's, 'a> {
    space: &'x Space<'s, 'a>,
    truth: &'x [bool],
    currents: &'x Currents,
    sources: &'x SourceMap,
    conditions: FxHashMap<ElementId, Vec<(Formula, Origin)>>,
    /// The meaning of each atom that represents an author's conditions of an element.
    manual: FxHashMap<Atom, Formula>,
    /// The open input that each atom about an input belongs to.
    inputs: FxHashMap<Atom, usize>,
    explained: FxHashSet<ElementId>,
    /// The decisive atoms of each formula that was examined.
    decided: FxHashMap<Formula, Rc<[Atom]>>,
    /// The elements whose reasons are being collected, each because of the one before it.
    path: Vec<ElementId>,
}

/// A chain of reasons is cut after this many elements.
const DEPTH: usize = 40;
/// A condition is cut after this many characters.
const SNIPPET: usize = 60;

impl<'x, 's, 'a> Explainer<'x, 's, 'a> {
    fn new(
        space: &'x Space<'s, 'a>,
        truth: &'x [bool],
        currents: &'x Currents,
        sources: &'x SourceMap,
    ) -> Self {
        let mut conditions: FxHashMap<ElementId, Vec<(Formula, Origin)>> = FxHashMap::default();
        let mut manual = FxHashMap::default();
        for (clause, origin) in space.assertions.iter() {
            let origin = space.assertions.origin(origin);
            match (origin.condition_of(), clause) {
                (Some(id), &[_, formula]) => {
                    conditions.entry(id).or_default().push((formula, *origin))
                }
                // The definition consists of clauses for both directions; one is omitted where it
                // always holds, so both are read.
                (None, &[atom, formula]) if matches!(origin, Origin::ManualDefinition(_)) => {
                    if let View::Literal(atom, sign) = space.evaluator.arena.view(atom) {
                        manual.insert(atom, if sign { !formula } else { formula });
                    }
                }
                _ => {}
            }
        }
        let literals = space
            .cases
            .iter()
            .enumerate()
            .flat_map(|(input, cases)| cases.iter().map(move |case| (case, input)));
        let inputs = literals.map(|(case, input)| (Atom(case.var().0), input)).collect();
        Self {
            space,
            truth,
            currents,
            sources,
            conditions,
            manual,
            inputs,
            explained: FxHashSet::default(),
            decided: FxHashMap::default(),
            path: Vec::new(),
        }
    }

    /// The conditions of an element as reasons: all of them if it is present, otherwise those that
    /// fail.
    fn conditions(&mut self, id: ElementId) -> Vec<Reason> {
        self.explained.insert(id);
        self.path.push(id);
        let reasons = self.reasons(id);
        self.path.pop();
        reasons
    }

    fn reasons(&mut self, id: ElementId) -> Vec<Reason> {
        let present = self.truth[id.0 as usize];
        let conditions = self.conditions.get(&id).cloned().unwrap_or_default();
        let decisive =
            conditions.into_iter().filter(|&(formula, _)| self.holds(formula) == present);
        let reasons: Vec<_> = decisive
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(formula, origin)| self.condition(formula, &origin))
            .collect();
        if !reasons.is_empty() {
            return reasons;
        }
        let what = if present { "no condition could remove it" } else { "it is left out" };
        vec![Reason {
            kind: ReasonKind::End,
            what: what.into(),
            input: None,
            holds: true,
            place: None,
            because: Vec::new(),
        }]
    }

    fn holds(&self, formula: Formula) -> bool {
        self.space
            .evaluator
            .arena
            .eval(formula, &|atom| self.truth.get(atom.0 as usize).copied().unwrap_or_default())
    }

    fn condition(&mut self, formula: Formula, origin: &Origin) -> Reason {
        let (graph, options) = (self.space.graph(), self.space.prepared.options);
        let (span, _) = origin.explain(graph, options);
        let what = match origin {
            Origin::Manual(_, span) => format!("condition `{}`", self.snippet(*span)),
            Origin::Group(_, group, span) => {
                format!("condition `{}` of {}", self.snippet(*span), graph.identifier(*group))
            }
            Origin::TypeSpecific(_, span) => {
                format!("default condition `{}` of its type", self.snippet(*span))
            }
            Origin::Input(..) => "the variability input of its name".into(),
            Origin::DefaultAlternative(_) => "default alternative: no other is present".into(),
            Origin::NoDefaultAlternative(_) => "no condition selects this alternative".into(),
            Origin::Technology(_) => "the condition of its technology rule".into(),
            Origin::VariabilityGroup(_) => {
                "a variability group only hands its conditions on".into()
            }
            Origin::Follows(_) => "a type is present with the element that has it".into(),
            other => other.generated_name(graph, options).unwrap_or_default(),
        };
        let atoms = self.decisive(formula);
        let because = self.because(&atoms);
        Reason {
            kind: ReasonKind::Condition,
            what,
            input: None,
            holds: self.holds(formula),
            place: Some(self.sources.place(span)),
            because,
        }
    }

    /// The atoms that decide the value of a formula. If one operand is enough, the atoms of the
    /// operand with the fewest atoms.
    fn decisive(&mut self, formula: Formula) -> Rc<[Atom]> {
        if let Some(known) = self.decided.get(&formula) {
            return known.clone();
        }
        // An author's condition of an element may mention the element itself.
        self.decided.insert(formula, Rc::default());
        let space = self.space;
        let atoms: Rc<[Atom]> = match space.evaluator.arena.view(formula) {
            View::Constant(_) => [].into(),
            View::Literal(atom, _) => match self.manual.get(&atom) {
                Some(&meaning) => self.decisive(meaning),
                None if self.is_known(atom) => [atom].into(),
                // A condition that consists only of a reference to itself has no atoms.
                None => Rc::default(),
            },
            View::And(operands) | View::NotAnd(operands) => {
                let failing: Vec<_> =
                    operands.iter().copied().filter(|&operand| !self.holds(operand)).collect();
                if failing.is_empty() {
                    operands.iter().flat_map(|&operand| self.decisive(operand).to_vec()).collect()
                } else {
                    let of_each = failing.into_iter().map(|operand| self.decisive(operand));
                    of_each.min_by_key(|atoms| atoms.len()).unwrap_or_default()
                }
            }
        };
        self.decided.insert(formula, atoms.clone());
        atoms
    }

    /// Whether an atom represents an element or an input.
    fn is_known(&self, atom: Atom) -> bool {
        (atom.0 as usize) < self.space.graph().elements.len() || self.inputs.contains_key(&atom)
    }

    fn because(&mut self, atoms: &[Atom]) -> Vec<Reason> {
        let mut seen = FxHashSet::default();
        let mut reasons = Vec::new();
        for &atom in atoms {
            // Several atoms may belong to one input.
            if seen.insert(self.inputs.get(&atom).map_or(Err(atom), |&input| Ok(input))) {
                reasons.push(self.atom(atom));
            }
        }
        reasons
    }

    fn atom(&mut self, atom: Atom) -> Reason {
        if let Some(&input) = self.inputs.get(&atom) {
            return self.input(input);
        }
        let id = ElementId(atom.0);
        let (graph, present) = (self.space.graph(), self.truth[atom.0 as usize]);
        let word = if present { "present" } else { "absent" };
        let again = self.explained.contains(&id);
        let ends = again || self.path.len() > DEPTH;
        let because = if ends { Vec::new() } else { self.conditions(id) };
        let aside = match (again, present) {
            // An element that is absent only because of itself could as well be present: its
            // absence is a choice of the best variant.
            (true, false) if self.path.contains(&id) => {
                ", see above: they need each other, and the best variant does without them"
            }
            (true, _) => ", see above",
            (false, _) if ends => ", and so on",
            (false, _) => "",
        };
        let what = format!("{} is {word}{aside}", graph.identifier(id));
        Reason {
            kind: ReasonKind::Element,
            what,
            input: None,
            holds: present,
            place: Some(self.sources.place(graph.element(id).span)),
            because,
        }
    }

    fn input(&self, input: usize) -> Reason {
        let open = &self.space.open[input];
        let name = self.space.declaration(open.input).map_or("", |declaration| declaration.name);
        let current = self.currents.get(&open.input);
        let value = current
            .and_then(|current| current.value.as_ref())
            .map_or("open".into(), ToString::to_string);
        let source = current.map(|current| format!(" ({})", current.source)).unwrap_or_default();
        let place = current.and_then(|current| current.place).map(|span| self.sources.place(span));
        let what = format!("input {name} is {value}{source}");
        let input = Some(name.to_owned());
        Reason { kind: ReasonKind::Input, what, input, holds: true, place, because: Vec::new() }
    }

    /// A condition as it is written, on one line.
    fn snippet(&self, span: Span) -> String {
        let text = one_line(self.sources.snippet(span));
        match text.char_indices().nth(SNIPPET) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }
}
