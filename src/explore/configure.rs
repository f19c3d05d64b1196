//! Everything that is needed to configure a variant elsewhere, such as in a page: open inputs, and
//! clauses whose models are the valid variants.

use super::explain::Currents;
use super::space::{Default, Space, VariantRequirement, literal};
use super::{CaseReport, one_line};
use crate::sat::formula::{Lit, OriginId};
use crate::text::diagnostic::Code;
use crate::text::source::SourceMap;
use crate::text::yaml::write_line;
use crate::variability::enrich::Origin;
use crate::variability::inputs::{Declaration, InputId};
use crate::variability::prepared::Prepared;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// The inputs of a template that are open, and what holds of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Configuration {
    /// In the order of the template.
    pub inputs: Vec<Configurable>,
    /// The literal of each element's presence, with its identifier, in the order of the template.
    pub elements: Vec<(String, i32)>,
    /// What holds.
    pub clauses: Clauses,
    /// For each of the resolvers that were asked for, the case that it gives to each input; nothing
    /// where it gives none.
    pub chosen: Vec<Vec<Option<usize>>>,
}

/// An open input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Configurable {
    /// Its name.
    pub name: String,
    /// The case that it has where nothing assigns it.
    pub default: Option<usize>,
    /// The expression that decides about it where nothing assigns it.
    pub computed: Option<String>,
    /// Its cases.
    pub cases: Vec<CaseReport>,
    /// The literal of each case; exactly one is true.
    pub literals: Vec<i32>,
}

/// Clauses whose models, projected to inputs, are the assignments that give a variant; inputs
/// determine all else.
///
/// Literals are those of DIMACS: variable 7 is `7`, its negation `-7`.
#[derive(Clone, Debug, std::default::Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Clauses {
    /// How many variables there are; the first is 1.
    pub vars: usize,
    /// Each a disjunction.
    pub clauses: Vec<Vec<i32>>,
    /// Why each clause is there: a position in `reasons`; nothing for what only defines a variable.
    pub origins: Vec<Option<usize>>,
    /// Reasons for people, with their places.
    pub reasons: Vec<String>,
}

/// The values that inputs have, as YAML on one line; nothing where they cannot be told.
pub(crate) fn written(prepared: &Prepared<'_>, currents: &Currents) -> BTreeMap<String, String> {
    let written = |(id, declaration): (InputId, &Declaration<'_>)| {
        Some((declaration.name.to_owned(), write_line(currents.get(&id)?.value.as_ref()?)))
    };
    prepared.inputs.declarations.iter().filter_map(written).collect()
}

impl Space<'_, '_> {
    /// What is needed to configure a variant without resolving; and which cases these choices give
    /// to inputs.
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
                computed: declaration.computed_default().map(|node| write_line(&node.to_value())),
                cases: open.cases.iter().map(CaseReport::of).collect(),
                literals: self.cases[index].iter().map(|&case| case.to_dimacs()).collect(),
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
                        .insert_full("of what these inputs admit, this is the best variant".into())
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

    /// The reasons of the template, the most telling first, and which each origin has.
    fn telling_reasons(
        &self,
        sources: &SourceMap,
    ) -> (IndexSet<String>, FxHashMap<OriginId, usize>) {
        let mut origins: Vec<_> = self.assertions.iter().map(|(_, origin)| origin).collect();
        origins.sort_by_key(|&origin| self.assertions.origin(origin).distance());
        let mut reasons = IndexSet::default();
        let of_origin = origins
            .into_iter()
            .map(|origin| (origin, reasons.insert_full(self.reason(origin, sources)).0));
        let of_origin = of_origin.collect();
        (reasons, of_origin)
    }

    /// Why a clause of the template is there, with what its author wrote, and where.
    fn reason(&self, origin: OriginId, sources: &SourceMap) -> String {
        let origin = self.assertions.origin(origin);
        let (span, what) = origin.explain(self.graph(), self.prepared.options);
        let place = sources.place(span);
        let written = match origin {
            Origin::Manual(..)
            | Origin::Group(..)
            | Origin::TypeSpecific(..)
            | Origin::Implies(..)
            | Origin::Author(_) => {
                format!(": {}", one_line(sources.snippet(span)))
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
                    graph.display(id),
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
