//! Checks that the types exist which technologies assign to their nodes (section 3.12 of
//! Variability4TOSCA).

use super::checker::Checker;
use super::conditional::ConditionalFiles;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::Family;
use crate::variability::graph::{ElementId, Implementation, NodeElement, Requires};
use rustc_hash::FxHashMap;

/// For so many nodes of a type it is asked whether a variant has them with a technology: one that has
/// is enough.
const ASKED: u32 = 16;

impl Checker<'_, '_> {
    /// Warns of assigned types that are not defined. Where the type of the node itself is not
    /// defined, only that is reported.
    pub(super) fn assigned_types(&self, conditional: &ConditionalFiles) {
        // The package for npm may have only so many bytes.
        if cfg!(cuvee_npm) {
            return;
        }
        let mut asked: FxHashMap<&str, u32> = FxHashMap::default();
        let is_typed = |node: &&NodeElement<'_>| {
            let mut names = node.types.iter().map(|&id| self.graph.element(id).name);
            names.all(|name| self.types.find(Family::Node, name).is_some())
        };
        for node in self.graph.nodes.iter().filter(is_typed) {
            for id in self.counting(&node.technologies) {
                let element = self.graph.element(id);
                let technology = &self.graph.technologies[element.slot as usize];
                for (assign, when, unless) in assignments(&technology.implementations) {
                    // Without one of these imports it is not defined.
                    let imports = match self.types.find(Family::Node, assign) {
                        Some(defined) => conditional.behind(self.types.files_of(defined)),
                        None => Some(Vec::new()),
                    };
                    let Some(imports) = imports else { continue };
                    let (when, unless) =
                        ([&[node.id, id], &*when].concat(), [unless, imports.clone()].concat());
                    let times = asked.entry(assign).or_default();
                    if self.may_happen(&when, &unless) && *times < ASKED {
                        *times += 1;
                        let warning = unknown(assign).at(element.span);
                        let warning = self.behind_conditions(warning, &imports);
                        self.report_when(&when, &unless, warning);
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
/// the first implementation that applies counts. What all assign needs nothing else.
fn assignments(implementations: &[Implementation]) -> Vec<(&str, Vec<ElementId>, Vec<ElementId>)> {
    let first = implementations.first().and_then(|first| first.assign.as_deref());
    if let Some(first) = first
        && implementations.iter().all(|it| it.assign.as_deref() == Some(first))
    {
        return vec![(first, Vec::new(), Vec::new())];
    }
    let lists = implementations.iter().enumerate().filter_map(|(index, implementation)| {
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
    });
    lists.collect()
}
