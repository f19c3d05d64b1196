//! What every check has at hand, and how it reports.

use super::finding::Finding;
use super::function::FunctionChecks;
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::source::SourceMap;
use crate::text::yaml::{Document, Node};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::Findings;
use crate::tosca::{Family, TypeId, TypeRef, Types};
use crate::variability::element::ElementKind;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::prepared::Prepared;
use crate::variability::presence::Presence;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::PathBuf;

/// Checks a template against its types.
pub(super) struct Checker<'c, 'a> {
    pub prepared: &'c Prepared<'a>,
    pub graph: &'c Graph<'a>,
    pub types: &'c Types<'c>,
    pub schemas: Schemas<'c, 'c>,
    /// The files that were read.
    pub sources: &'c SourceMap,
    /// Library, imports and template.
    pub documents: &'c [&'c Document],
    /// Files that something names, and whether they are there.
    pub files: RefCell<FxHashMap<PathBuf, bool>>,
    /// Where one variant counts, what computes the values in it.
    pub evaluator: Option<RefCell<Evaluator<'c, 'a>>>,
    /// The variant that counts; nothing where all do.
    pub presence: Option<&'c Presence>,
    pub findings: RefCell<Vec<Finding>>,
    /// What is expected of functions, and what they name.
    pub functions: FunctionChecks<'a>,
}

impl<'c, 'a> Checker<'c, 'a> {
    pub(super) fn new(
        prepared: &'c Prepared<'a>,
        types: &'c Types<'c>,
        presence: Option<&'c Presence>,
        documents: &'c [&'c Document],
    ) -> Self {
        let evaluator = presence.map(|presence| {
            let mut evaluator = prepared.evaluator();
            evaluator.decide(presence);
            RefCell::new(evaluator)
        });
        Self {
            prepared,
            graph: &prepared.graph,
            types,
            schemas: Schemas::new(types),
            sources: prepared.sources(),
            documents,
            files: RefCell::default(),
            evaluator,
            presence,
            findings: RefCell::default(),
            functions: FunctionChecks::default(),
        }
    }

    /// Checks everything.
    pub(super) fn all(&self) {
        self.nodes();
        self.imported_types();
        self.groups();
        self.parameters();
        self.service_templates();
        let workflows = self.workflows();
        self.policies(&workflows);
        self.substitution(&workflows);
        self.relations();
        self.variability();
        self.expressions();
        // Last, when it is known what is expected of them.
        self.check_functions();
    }

    /// Whether an element counts.
    pub(super) fn counts(&self, id: ElementId) -> bool {
        self.presence.is_none_or(|presence| presence.is(id))
    }

    /// Those of these that count.
    pub(super) fn counting<'i>(
        &self,
        ids: &'i [ElementId],
    ) -> impl Iterator<Item = ElementId> + use<'i, 'c> {
        let presence = self.presence;
        ids.iter().copied().filter(move |&id| presence.is_none_or(|presence| presence.is(id)))
    }

    /// Reports what is wrong wherever this element is present.
    pub(super) fn report(&self, id: ElementId, diagnostic: Diagnostic) {
        self.report_when(&[id], &[], diagnostic);
    }

    /// Reports what is wrong wherever all of `when` are present and none of `unless`.
    pub(super) fn report_when(
        &self,
        when: &[ElementId],
        unless: &[ElementId],
        diagnostic: Diagnostic,
    ) {
        if let Some(presence) = self.presence {
            let happens =
                when.iter().all(|&id| presence.is(id)) && presence.among(unless).next().is_none();
            if !happens {
                return;
            }
        }
        self.findings.borrow_mut().push(Finding {
            diagnostic,
            when: when.to_vec(),
            unless: unless.to_vec(),
        });
    }

    /// Reports all of these wherever all of `when` are present.
    pub(super) fn report_all(&self, when: &[ElementId], diagnostics: Diagnostics) {
        diagnostics.0.into_iter().for_each(|diagnostic| self.report_when(when, &[], diagnostic));
    }

    /// Reports what was found out about values, with what cannot be told; functions are checked
    /// later.
    pub(super) fn report_values(&self, when: &[ElementId], found: Findings<'_>) {
        let undecided = found.undecided.iter().filter(|undecided| !self.expects(when, undecided));
        let undecided = undecided.map(|undecided| undecided.diagnostic());
        for diagnostic in found.diagnostics.into_iter().chain(undecided) {
            self.report_when(when, &[], diagnostic);
        }
    }

    /// The types of an element that count and are defined, each with the elements on whose presence
    /// what it says depends: itself where it is one of several. Those that are not defined are
    /// reported. A copy without a type has those of the node that it copies.
    pub(super) fn types_of(&self, id: ElementId, family: Family) -> Vec<(TypeId, Vec<ElementId>)> {
        let graph = self.graph;
        let node = (graph.element(id).kind == ElementKind::Node)
            .then(|| &graph.nodes[graph.element(id).slot as usize]);
        let copied = node.filter(|node| node.types.is_empty()).and_then(|node| self.copied(node));
        let assigned: Vec<_> =
            self.counting(graph.types_of(copied.map_or(id, |copied| copied.id))).collect();
        let several = assigned.len() > 1;
        let mut found = Vec::new();
        for assignment in assigned {
            match self.types.named(
                family,
                graph.element(assignment).name,
                graph.element(assignment).span,
            ) {
                Ok(defined) => {
                    found.push((defined, several.then_some(assignment).into_iter().collect()))
                }
                Err(error) => self.report(assignment, error),
            }
        }
        found
    }

    /// The type of a name in a definition or an assignment; what is not defined is reported for the
    /// element that names it.
    pub(super) fn type_at(&self, id: ElementId, family: Family, name: Node<'_>) -> Option<TypeId> {
        match self.types.named(family, name.text().unwrap_or_default(), name.span()) {
            Ok(found) => Some(found),
            Err(error) => {
                self.report(id, error);
                None
            }
        }
    }

    /// The type that a name stands for in its file; where there is none, that is reported with what
    /// names it.
    pub(super) fn defined(&self, family: Family, name: Option<Node<'_>>) -> Option<TypeId> {
        let name = name?;
        self.types.find_in(Some(name.span().file), family, name.text()?)
    }

    /// Whether a type may have more than is known, for an ancestor is defined nowhere: what it lacks
    /// is undecidable, and the ancestor is reported where it is named.
    pub(super) fn is_open(&self, kind: TypeId) -> bool {
        self.types.effective(kind).is_open
    }

    /// Whether a type is another, derives from it, or may do so, for an ancestor is defined nowhere.
    pub(super) fn may_derive(&self, one: TypeId, ancestor: TypeId) -> bool {
        self.types.may_derive(TypeRef::Defined(one), TypeRef::Defined(ancestor))
    }
}
