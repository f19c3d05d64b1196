//! Exports what is needed to configure a variant elsewhere, such as in a web page: the open inputs,
//! and clauses whose models are the valid variants.

use super::explain::Currents;
use super::space::{Default, Space, VariantRequirement, literal};
use super::words::words;
use super::{CaseReport, one_line};
use crate::diagnostic::Code;
use crate::tosca::value::{Operator, Primitive};
use crate::variability::enrich::Origin;
use crate::variability::expression::{NumberRange, OpenInput};
use crate::variability::graph::Graph;
use crate::variability::inputs::{Declaration, InputId};
use crate::variability::prepared::Prepared;
use cuvee_sat::formula::{Lit, OriginId};
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::yaml::{Node, write_line};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// The open inputs of a template, and the clauses that relate them to its elements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Configuration {
    /// The inputs, in the order of the template.
    pub inputs: Vec<Configurable>,
    /// The identifier of each element and the literal of its presence, in the order of the
    /// template.
    pub elements: Vec<(String, i32)>,
    /// The clauses that every valid variant satisfies.
    pub clauses: Clauses,
    /// For each given choice of inputs, the case of each open input; `None` if the choice leaves
    /// the input without a case.
    pub chosen: Vec<Vec<Option<usize>>>,
}

/// An open input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Configurable {
    /// Its name.
    pub name: String,
    /// The case that the input has if nothing assigns it.
    pub default: Option<usize>,
    /// The expression that determines the input if nothing assigns it.
    pub computed: Option<String>,
    /// The cases of the input.
    pub cases: Vec<CaseReport>,
    /// The literal of each case; exactly one of them is true.
    pub literals: Vec<i32>,
    /// If an expression determines the input: for each case, the literal that its value is in this
    /// case.
    pub follows: Vec<i32>,
    /// The values that may be typed, beyond those that the cases name. `None` if the cases name all
    /// values, or if only conditions distinguish them.
    pub typed: Option<TypedValues>,
}

/// Values that may be typed, and the case that each belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum TypedValues {
    /// Numbers.
    Numbers {
        /// Whether the numbers are integers.
        whole: bool,
        /// For each case its ranges: the lower and upper end, each with whether the end is
        /// included.
        ranges: Vec<Vec<NumberRange>>,
    },
    /// Texts.
    Texts {
        /// For each case, the texts that it names.
        named: Vec<Vec<String>>,
        /// The case of all other texts.
        others: usize,
        /// The least number of characters.
        shortest: Option<usize>,
        /// The greatest number of characters.
        longest: Option<usize>,
        /// The regular expressions that the whole text has to match.
        patterns: Vec<String>,
    },
}

impl TypedValues {
    fn of(declaration: &Declaration<'_>, open: &OpenInput) -> Option<Self> {
        let members = || open.cases.iter().map(|case| &case.members);
        match declaration.primitive()? {
            kind @ (Primitive::Integer | Primitive::Float) => {
                let ranges: Vec<_> = members().map(|members| members.ranges.clone()).collect();
                let all = members().all(|members| !members.others && members.values.is_empty());
                let single = |(low, high): &NumberRange| low.is_some() && low == high;
                let has_others = ranges
                    .iter()
                    .any(|ranges| ranges.len() > 1 || ranges.iter().any(|range| !single(range)));
                (all && has_others)
                    .then_some(Self::Numbers { whole: kind == Primitive::Integer, ranges })
            }
            Primitive::String => Self::texts(declaration, open),
            _ => None,
        }
    }

    fn texts(declaration: &Declaration<'_>, open: &OpenInput) -> Option<Self> {
        let named = open.cases.iter().map(|case| {
            case.members
                .values
                .iter()
                .filter_map(|value| value.as_str().map(str::to_owned))
                .collect()
        });
        let mut others = (0..open.cases.len()).filter(|&case| open.cases[case].members.others);
        let other = others.next().filter(|_| others.next().is_none())?;
        let (mut shortest, mut longest, mut patterns) = (None, None, Vec::new());
        for clause in declaration.constraints() {
            match clause.operator {
                Operator::MinLength => shortest = shortest.max(Some(clause.size()?)),
                Operator::MaxLength => {
                    longest = Some(longest.map_or(clause.size()?, |most: usize| {
                        most.min(clause.size().unwrap_or(most))
                    }));
                }
                Operator::Pattern => patterns.push(clause.operand.as_str()?.to_owned()),
                // Any other constraint can only be checked by a resolver.
                _ => return None,
            }
        }
        Some(Self::Texts { named: named.collect(), others: other, shortest, longest, patterns })
    }
}

/// Clauses whose models, projected to inputs, are the assignments that lead to a variant. The
/// inputs determine all other variables.
///
/// Literals are those of DIMACS: variable 7 is `7`, its negation `-7`.
#[derive(Clone, Debug, std::default::Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Clauses {
    /// The number of variables; the first is 1.
    pub vars: usize,
    /// The clauses, each a disjunction of literals.
    pub clauses: Vec<Vec<i32>>,
    /// The reason of each clause, as a position in `reasons`; `None` for a clause that only defines
    /// a variable.
    pub origins: Vec<Option<usize>>,
    /// The reasons as text, with their places.
    pub reasons: Vec<String>,
}

/// The conditions that authors wrote, by place: each one, and each list of conditions as a whole.
fn written_conditions<'a>(graph: &Graph<'a>) -> FxHashMap<Span, Node<'a>> {
    let own = graph.elements.iter().filter_map(|element| element.conditions);
    let own = own.map(|conditions| graph.syntax.get(conditions).node());
    let groups = graph.groups.iter().flat_map(|group| group.group.declared.conditions());
    let constraints = graph.template.variability.constraints.iter().copied();
    let each = |node: Node<'a>| node.items().chain([node]).map(|node| (node.span(), node));
    own.chain(groups).chain(constraints).flat_map(each).collect()
}

/// The known values of the inputs, as YAML on one line.
pub(crate) fn written(prepared: &Prepared<'_>, currents: &Currents) -> BTreeMap<String, String> {
    let written = |(id, declaration): (InputId, &Declaration<'_>)| {
        Some((declaration.name.to_owned(), write_line(currents.get(&id)?.value.as_ref()?)))
    };
    prepared.inputs.declarations.iter().filter_map(written).collect()
}

impl Space<'_, '_> {
    /// Everything that is needed to configure a variant without resolving it, and the cases that
    /// the given choices lead to.
    pub(crate) fn configuration(&mut self, choices: &[Option<Currents>]) -> Configuration {
        let sources = self.prepared.sources();
        let chosen = choices.iter().map(|currents| match currents {
            Some(currents) => self.current_cases(currents),
            None => vec![None; self.open.len()],
        });
        let chosen = chosen.collect();
        let inputs = self.open.iter().enumerate().filter_map(|(index, open)| {
            let declaration = self.declaration(open.input)?;
            Some(Configurable {
                name: declaration.name.to_owned(),
                default: if let Default::Case(case) = self.defaults[index] {
                    Some(case)
                } else {
                    None
                },
                computed: declaration.computed_default().map(|node| words(&node.to_value())),
                cases: open.cases.iter().map(CaseReport::of).collect(),
                literals: self.cases[index].iter().map(|&case| case.to_dimacs()).collect(),
                follows: match &self.defaults[index] {
                    Default::Follows(cases) => cases.iter().map(|&case| case.to_dimacs()).collect(),
                    _ => Vec::new(),
                },
                typed: TypedValues::of(declaration, open),
            })
        });
        let graph = self.graph();
        Configuration {
            inputs: inputs.collect(),
            elements: graph
                .ids()
                .map(|id| (graph.identifier(id).to_string(), literal(id).to_dimacs()))
                .collect(),
            clauses: self.explained_clauses(sources),
            chosen,
        }
    }

    fn explained_clauses(&self, sources: &SourceMap) -> Clauses {
        let (mut reasons, of_origin) = self.telling_reasons(sources);
        let mut found = Clauses { vars: self.determinised.vars, ..Clauses::default() };
        let mut add = |clause: &[Lit], origin: Option<usize>| {
            found.clauses.push(clause.iter().map(|&literal| literal.to_dimacs()).collect());
            found.origins.push(origin);
        };
        for clause in self.cnf.clauses() {
            add(clause.literals, clause.origin.and_then(|origin| of_origin.get(&origin).copied()));
        }
        for lemma in &self.determinised.lemmas {
            add(
                lemma,
                Some(
                    reasons
                        .insert_full("this is the best variant that these inputs allow".into())
                        .0,
                ),
            );
        }
        for (literal, requirement) in &self.requirements {
            let reason = self.requirement_reason(requirement, sources);
            add(&[*literal], Some(reasons.insert_full(reason).0));
        }
        found.reasons = reasons.into_iter().collect();
        found
    }

    /// The distinct reasons of the template, most informative first, and the reason of each origin.
    fn telling_reasons(
        &self,
        sources: &SourceMap,
    ) -> (IndexSet<String>, FxHashMap<OriginId, usize>) {
        let mut origins: Vec<_> = self.assertions.iter().map(|(_, origin)| origin).collect();
        origins.sort_by_key(|&origin| self.assertions.origin(origin).distance());
        let mut reasons = IndexSet::default();
        let conditions = written_conditions(self.graph());
        let of_origin = origins.into_iter().map(|origin| {
            (origin, reasons.insert_full(self.reason(origin, &conditions, sources)).0)
        });
        let of_origin = of_origin.collect();
        (reasons, of_origin)
    }

    /// The reason of a clause of the template: what its author wrote, and where.
    fn reason(
        &self,
        origin: OriginId,
        conditions: &FxHashMap<Span, Node<'_>>,
        sources: &SourceMap,
    ) -> String {
        let origin = self.assertions.origin(origin);
        let graph = self.graph();
        let called = |id| graph.called(id).to_string();
        let (span, what) = origin.explain_naming(graph, self.prepared.options, &called);
        let place = sources.place(span);
        let written = match origin {
            Origin::Manual(..)
            | Origin::Group(..)
            | Origin::TypeSpecific(..)
            | Origin::Implies(..)
            | Origin::Author(_) => {
                let in_words = conditions.get(&span).map(|node| words(&node.to_value()));
                format!(": {}", in_words.unwrap_or_else(|| one_line(sources.snippet(span))))
            }
            Origin::Feature(..) => format!(": {}", one_line(sources.line(span))),
            _ => String::new(),
        };
        format!("{what}{written} ({place})")
    }

    fn requirement_reason(&self, requirement: &VariantRequirement, sources: &SourceMap) -> String {
        match *requirement {
            VariantRequirement::Check(code, Some(id)) => {
                let graph = self.graph();
                format!(
                    "check {code} of {} ({})",
                    graph.called(id),
                    sources.place(graph.element(id).span)
                )
            }
            VariantRequirement::Check(code, None) => format!("check {code}"),
            VariantRequirement::Unique(Code::AmbiguousTopology) => {
                "no two variants may be equally good and differ in their nodes".into()
            }
            VariantRequirement::Unique(_) => {
                "no two variants may be equally good and differ in their technologies".into()
            }
            VariantRequirement::Where => "this was asked for".into(),
        }
    }
}
