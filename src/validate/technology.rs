//! Checks that the types exist which technologies assign to their nodes (section 3.12 of
//! Variability4TOSCA).

use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::Family;
use crate::variability::graph::{ElementId, Implementation, NodeElement, Requires};
use rustc_hash::FxHashSet;

impl Checker<'_, '_> {
    /// Warns of assigned types that are not defined, once for each type and technology. Where the
    /// type of the node itself is not defined, only that is reported.
    pub(super) fn assigned_types(&self) {
        let mut told = FxHashSet::default();
        let is_typed = |node: &&NodeElement<'_>| {
            let mut names = node.types.iter().map(|&id| self.graph.element(id).name);
            names.all(|name| self.types.find(Family::Node, name).is_some())
        };
        for node in self.graph.nodes.iter().filter(is_typed) {
            for id in self.counting(&node.technologies) {
                let element = self.graph.element(id);
                let technology = &self.graph.technologies[element.slot as usize];
                for (assign, when, unless) in assignments(&technology.implementations) {
                    let is_known = self.types.find(Family::Node, assign).is_some();
                    if !is_known && told.insert((element.span, assign)) {
                        let warning = unknown(assign).at(element.span);
                        self.report_when(&[&[node.id, id], &*when].concat(), &unless, warning);
                    }
                }
            }
        }
    }
}

fn unknown(assign: &str) -> Diagnostic {
    let message = format!("there is no node type `{assign}`, which this technology assigns");
    let help = "define it, import the file that does, or `assign` another type";
    Diagnostic::warning(Code::UnknownType, message).section(Family::Node.section()).help(help)
}

/// The types that implementations assign, each with elements whose presence and absence leads to it:
/// the first implementation that applies counts.
fn assignments(
    implementations: &[Implementation],
) -> impl Iterator<Item = (&str, Vec<ElementId>, Vec<ElementId>)> {
    implementations.iter().enumerate().filter_map(|(index, implementation)| {
        let assign = implementation.assign.as_deref()?;
        let when: Vec<_> = implementation
            .requires
            .iter()
            .map(|any| any.first().copied())
            .collect::<Option<_>>()?;
        let lacking = |requires: &Requires| {
            let mut lists = requires.iter();
            lists.find(|any| !any.iter().any(|id| when.contains(id))).cloned()
        };
        let earlier = implementations.iter().take(index);
        let unless: Option<Vec<_>> = earlier.map(|it| lacking(&it.requires)).collect();
        Some((assign, when, unless?.concat()))
    })
}
