//! Checks that the types exist which technologies assign to their nodes.

use super::checker::Checker;
use super::conditional::ConditionalFiles;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::Family;
use crate::variability::graph::{ElementId, Implementation, NodeElement, Requires};
use rustc_hash::FxHashMap;

/// For so many nodes it is asked whether a variant gives them the same type: one that does is enough.
const ASKED: u32 = 16;

/// An assigned type.
struct AssignedType {
    /// The imports without which it is not defined; `None` if it always is.
    behind: Option<Vec<ElementId>>,
    /// For how many nodes it was asked about.
    asked: u32,
}

impl Checker<'_, '_> {
    /// Warns of assigned types that are not defined. Where the type of the node itself is not
    /// defined, only that is reported.
    pub(super) fn assigned_types(&self, conditional: &ConditionalFiles) {
        let mut assigned = FxHashMap::default();
        let is_typed = |node: &&NodeElement<'_>| {
            let mut names = node.types.iter().map(|&id| self.graph.element(id).name);
            names.all(|name| self.types.find(Family::Node, name).is_some())
        };
        for node in self.graph.nodes.iter().filter(is_typed) {
            for id in self.counting(&node.technologies) {
                self.assigned_by((node.id, id), conditional, &mut assigned);
            }
        }
    }

    fn assigned_by<'g>(
        &'g self,
        (node, id): (ElementId, ElementId),
        conditional: &ConditionalFiles,
        assigned: &mut FxHashMap<&'g str, AssignedType>,
    ) {
        let element = self.graph.element(id);
        let all = &self.graph.technologies[element.slot as usize].implementations;
        for (index, implementation) in all.iter().enumerate() {
            let Some(assign) = implementation.assign.as_deref() else { continue };
            let known = assigned.entry(assign).or_insert_with(|| {
                let behind = match self.types.find(Family::Node, assign) {
                    Some(defined) => conditional.behind(self.types.files_of(defined)),
                    None => Some(Vec::new()),
                };
                AssignedType { behind, asked: 0 }
            });
            let Some(imports) = known.behind.as_ref().filter(|_| known.asked < ASKED) else {
                continue;
            };
            let Some((when, unless)) = needs(all, index) else { continue };
            let when = [&[node, id], &*when].concat();
            let unless = [&*unless, imports].concat();
            if self.may_happen(&when, &unless) {
                let warning = self.behind_conditions(unknown(assign).at(element.span), imports);
                self.report_when(&when, &unless, warning);
                known.asked += 1;
            }
        }
    }
}

fn unknown(assign: &str) -> Diagnostic {
    let message = format!("there is no node type `{assign}`, which this technology assigns");
    let help = "define it, import the file that does, or `assign` another type";
    Diagnostic::warning(Code::UnknownType, message).section(Family::Node.section()).help(help)
}

/// Elements whose presence, and others whose absence, leads to an implementation: the first one that
/// applies counts. What all of them assign needs nothing else than the technology. `None` if there are
/// no such elements, or an implementation before this one says the same.
fn needs(all: &[Implementation], index: usize) -> Option<(Vec<ElementId>, Vec<ElementId>)> {
    let own = all.get(index)?;
    if all.iter().all(|it| it.assign == own.assign) {
        return (index == 0).then(Default::default);
    }
    let when = own.requires.iter().map(|any| any.first().copied());
    let when: Vec<_> = when.collect::<Option<_>>()?;
    let lacking = |requires: &Requires| {
        let mut lists = requires.iter();
        lists.find(|any| !any.iter().any(|id| when.contains(id))).cloned()
    };
    let earlier = all.iter().take(index).map(|it| lacking(&it.requires));
    let unless = earlier.collect::<Option<Vec<_>>>()?.concat();
    Some((when, unless))
}
