//! Checks the result ("Conduct Checks"). All violations are reported, and each check can be
//! switched off.

mod consistency;
mod dangling;
mod semantic;

pub(crate) use dangling::{dangles, may_dangle};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::graph::{ElementId, Graph};
use crate::variability::options::Options;
use crate::variability::presence::Presence;
use rustc_hash::FxHashMap;

/// Checks a variant. If a check is switched off and the result is therefore arbitrary, this warns.
pub(crate) fn check(graph: &Graph<'_>, options: &Options, presence: &Presence) -> Diagnostics {
    let mut checker = PresenceChecker {
        graph,
        options,
        judge: Judge::Variant(presence),
        diagnostics: Diagnostics::default(),
        rules: Vec::new(),
    };
    checker.all();
    checker.constant_outputs(presence);
    checker.dangling(presence);
    checker.diagnostics
}

/// The rules that every variant has to fulfil to pass the checks.
pub(crate) fn rules(graph: &Graph<'_>, options: &Options) -> Vec<PresenceRule> {
    let mut checker = PresenceChecker {
        graph,
        options,
        judge: Judge::Rules,
        diagnostics: Diagnostics::default(),
        rules: Vec::new(),
    };
    checker.all();
    checker.rules
}

/// The demand of a check on some elements, while an element is present.
#[derive(Clone, Debug)]
pub(crate) struct PresenceRule {
    /// The check.
    pub code: Code,
    /// The rule applies only while this element is present; `None` where it always applies.
    pub guard: Option<ElementId>,
    /// How many of the elements may be present.
    pub demand: Demand,
    /// The elements.
    pub of: Vec<ElementId>,
}

/// How many of some elements may be present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// At least one.
    Any,
    /// At most one.
    AtMostOne,
}

/// How to handle demands: judge them in one variant, or collect them for all variants.
#[derive(Clone, Copy)]
enum Judge<'c> {
    Variant(&'c Presence),
    Rules,
}

struct PresenceChecker<'c, 'a> {
    graph: &'c Graph<'a>,
    options: &'c Options,
    judge: Judge<'c>,
    diagnostics: Diagnostics,
    rules: Vec<PresenceRule>,
}

impl<'a> PresenceChecker<'_, 'a> {
    fn all(&mut self) {
        self.consistency();
        self.semantic();
    }

    /// Whether demands that depend on this element can matter.
    fn concerns(&self, guard: ElementId) -> bool {
        match self.judge {
            Judge::Variant(presence) => presence.is(guard),
            Judge::Rules => true,
        }
    }

    /// Demands that, while the guard is present, at least one of these elements is. `wrong` makes
    /// the error.
    fn any(
        &mut self,
        code: Code,
        guard: ElementId,
        of: &[ElementId],
        wrong: impl FnOnce(&Graph<'a>) -> Diagnostic,
    ) {
        match self.judge {
            Judge::Variant(presence)
                if presence.is(guard) && presence.among(of).next().is_none() =>
            {
                self.diagnostics.push(wrong(self.graph));
            }
            Judge::Variant(_) => {}
            Judge::Rules => self.rules.push(PresenceRule {
                code,
                guard: Some(guard),
                demand: Demand::Any,
                of: of.to_vec(),
            }),
        }
    }

    /// Demands that, while the guard is present, at most one of these elements is. `wrong` makes
    /// the error from those that are present.
    fn at_most_one(
        &mut self,
        code: Code,
        guard: Option<ElementId>,
        of: &[ElementId],
        wrong: impl FnOnce(&Graph<'a>, &[ElementId]) -> Diagnostic,
    ) {
        if of.len() < 2 {
            return;
        }
        match self.judge {
            Judge::Variant(presence) => {
                if guard.is_none_or(|guard| presence.is(guard))
                    && presence.among(of).nth(1).is_some()
                {
                    let present: Vec<_> = presence.among(of).collect();
                    self.diagnostics.push(wrong(self.graph, &present));
                }
            }
            Judge::Rules => self.rules.push(PresenceRule {
                code,
                guard,
                demand: Demand::AtMostOne,
                of: of.to_vec(),
            }),
        }
    }
}

/// Places a diagnostic at an element.
fn at(diagnostic: Diagnostic, graph: &Graph<'_>, id: ElementId) -> Diagnostic {
    diagnostic.at(graph.element(id).span)
}

fn error(graph: &Graph<'_>, code: Code, id: ElementId, message: String) -> Diagnostic {
    at(Diagnostic::error(code, message), graph, id)
}

fn warning(graph: &Graph<'_>, code: Code, id: ElementId, message: String) -> Diagnostic {
    at(Diagnostic::warning(code, message), graph, id)
}

/// Groups elements by name, in order; names of only one element are left out.
fn of_one_name(graph: &Graph<'_>, ids: impl Iterator<Item = ElementId>) -> Vec<Vec<ElementId>> {
    let mut position_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<ElementId>> = Vec::new();
    for id in ids {
        let position = *position_of.entry(graph.element(id).name).or_insert(groups.len());
        match groups.get_mut(position) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}
