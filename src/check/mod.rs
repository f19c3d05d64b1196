//! Checks on the result ("Conduct Checks"): all violations are reported, each check can be switched off.

mod consistency;
mod dangling;
mod semantic;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::graph::{ElementId, Graph};
use crate::options::Options;
use crate::presence::Presence;
use rustc_hash::FxHashMap;

/// Checks a variant; what is switched off but decides something arbitrarily is a warning.
pub fn check(graph: &Graph<'_>, options: &Options, presence: &Presence) -> Diagnostics {
    let mut checker = Checker { graph, options, presence, diagnostics: Diagnostics::default() };
    checker.consistency();
    checker.semantic();
    checker.dangling();
    checker.diagnostics
}

struct Checker<'c, 'a> {
    graph: &'c Graph<'a>,
    options: &'c Options,
    presence: &'c Presence,
    diagnostics: Diagnostics,
}

impl Checker<'_, '_> {
    fn error(&mut self, code: Code, id: ElementId, message: String) -> &mut Diagnostic {
        self.add(Diagnostic::error(code, message), id)
    }

    fn warning(&mut self, code: Code, id: ElementId, message: String) -> &mut Diagnostic {
        self.add(Diagnostic::warning(code, message), id)
    }

    fn add(&mut self, diagnostic: Diagnostic, id: ElementId) -> &mut Diagnostic {
        let span = self.graph.element(id).span;
        let list = &mut self.diagnostics.0;
        let index = list.len();
        list.push(diagnostic.at(span));
        &mut list[index]
    }
}

/// The first and the last present element of each name that more than one present element has, in order.
fn collisions(graph: &Graph<'_>, present: impl Iterator<Item = ElementId>) -> Vec<(ElementId, ElementId)> {
    let mut first_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut pairs: Vec<(ElementId, ElementId)> = Vec::new();
    for id in present {
        let position = *first_of.entry(graph.element(id).name).or_insert(pairs.len());
        match pairs.get_mut(position) {
            Some(pair) => pair.1 = id,
            None => pairs.push((id, id)),
        }
    }
    pairs.retain(|(first, last)| first != last);
    pairs
}
