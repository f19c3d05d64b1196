//! Holds the data that all checks share, and reports what they find.

use super::conditional::ConditionalFiles;
use super::finding::{ChosenImports, Finding};
use super::function::FunctionChecks;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::Findings;
use crate::tosca::{Family, TypeId, TypeRef, Types};
use crate::variability::element::ElementKind;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::prepared::Prepared;
use crate::variability::presence::Presence;
use crate::variability::pruned::nothing_left;
use cuvee_text::source::SourceMap;
use cuvee_text::yaml::{Document, Node};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::PathBuf;

/// Checks a template against its types.
pub(super) struct Checker<'c, 'a> {
    pub prepared: &'c Prepared<'a>,
    pub graph: &'c Graph<'a>,
    pub types: &'c Types<'c>,
    pub schemas: Schemas<'c, 'c>,
    /// The source files that were read.
    pub sources: &'c SourceMap,
    /// The documents of the library, the imports and the template.
    pub documents: &'c [&'c Document],
    /// The files that are named anywhere, and whether they exist.
    pub files: RefCell<FxHashMap<PathBuf, bool>>,
    /// The evaluator of the variant's values, if only one variant is checked.
    pub evaluator: Option<RefCell<Evaluator<'c, 'a>>>,
    /// The variant that is checked; `None` if all variants are.
    pub presence: Option<&'c Presence>,
    /// The choice among imports that is checked.
    pub imports: Option<&'c ChosenImports>,
    pub findings: RefCell<Vec<Finding>>,
    /// The expectations of function calls, and the elements that calls may name.
    pub functions: FunctionChecks<'c, 'a>,
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
            imports: None,
            findings: RefCell::default(),
            functions: FunctionChecks::default(),
        }
    }

    /// Runs all checks.
    pub(super) fn all(&self, conditional: &ConditionalFiles) {
        self.anything_left();
        self.nodes();
        self.imported_types(conditional);
        self.assigned_types(conditional);
        self.groups();
        self.parameters();
        self.service_templates();
        let workflows = self.workflows();
        self.policies(&workflows);
        self.substitution(&workflows);
        self.relations();
        self.variability();
        self.expressions();
        // Functions come last, because the other checks record what is expected of them.
        self.check_functions();
    }

    /// Warns of variants without nodes.
    fn anything_left(&self) {
        let nodes: Vec<_> = self.graph.nodes.iter().map(|node| node.id).collect();
        if let Some(&first) = nodes.first() {
            let warning = nothing_left().at(self.graph.element(first).span);
            self.report_when(&[], &nodes, warning);
        }
    }

    /// Whether an element is in the checked variant.
    pub(super) fn counts(&self, id: ElementId) -> bool {
        self.presence.is_none_or(|presence| presence.is(id))
    }

    /// Those of these elements that are in the checked variant.
    pub(super) fn counting<'i>(
        &self,
        ids: &'i [ElementId],
    ) -> impl Iterator<Item = ElementId> + use<'i, 'c> {
        let presence = self.presence;
        ids.iter().copied().filter(move |&id| presence.is_none_or(|presence| presence.is(id)))
    }

    /// Reports a diagnostic for all variants in which this element is present.
    pub(super) fn report(&self, id: ElementId, diagnostic: Diagnostic) {
        self.report_when(&[id], &[], diagnostic);
    }

    /// Reports a diagnostic for all variants in which all of `when` and none of `unless` are
    /// present.
    pub(super) fn report_when(
        &self,
        when: &[ElementId],
        unless: &[ElementId],
        diagnostic: Diagnostic,
    ) {
        let (with, without) =
            self.imports.map_or(Default::default(), |it| (&*it.with, &*it.without));
        let (when, unless) = ([when, with].concat(), [unless, without].concat());
        if !self.may_happen(&when, &unless) {
            return;
        }
        self.findings.borrow_mut().push(Finding { diagnostic, when, unless });
    }

    /// Whether all of `when` and none of `unless` are present in the checked variant.
    pub(super) fn may_happen(&self, when: &[ElementId], unless: &[ElementId]) -> bool {
        self.presence.is_none_or(|presence| {
            when.iter().all(|&id| presence.is(id)) && presence.among(unless).next().is_none()
        })
    }

    /// Reports what a check finds in copied parts where they are copied.
    pub(super) fn copied_at(&self, copy: Node<'_>, check: impl FnOnce()) {
        let known = self.findings.borrow().len();
        check();
        for finding in &mut self.findings.borrow_mut()[known..] {
            let found = finding.diagnostic.clone();
            let copied = found.span;
            let found = found.at(copy.span());
            finding.diagnostic = match copied {
                Some(copied) => found.label(copied, "this is copied"),
                None => found,
            };
        }
    }

    /// Reports diagnostics for all variants in which all of `when` are present.
    pub(super) fn report_all(&self, when: &[ElementId], diagnostics: Diagnostics) {
        diagnostics.0.into_iter().for_each(|diagnostic| self.report_when(when, &[], diagnostic));
    }

    /// Reports the findings about values, including what is undecided. Functions are checked later.
    pub(super) fn report_values(&self, when: &[ElementId], found: Findings<'_>) {
        let undecided = found.undecided.iter().filter(|undecided| !self.expects(when, undecided));
        let undecided = undecided.map(|undecided| undecided.diagnostic());
        for diagnostic in found.diagnostics.into_iter().chain(undecided) {
            self.report_when(when, &[], diagnostic);
        }
    }

    /// The same, while all of `also` are present, too.
    pub(super) fn report_values_with(
        &self,
        when: &[ElementId],
        also: &[ElementId],
        found: Findings<'_>,
    ) {
        match also {
            [] => self.report_values(when, found),
            also => self.report_values(&[when, also].concat(), found),
        }
    }

    /// The defined types of an element in the checked variant. Each comes with the elements that
    /// its use depends on: the type assignment if it is one of several. Undefined types are
    /// reported. A copy without a type has the types of the node that it copies.
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

    /// The type that a definition or an assignment names; an undefined type is reported for the
    /// element `id`.
    pub(super) fn type_at(&self, id: ElementId, family: Family, name: Node<'_>) -> Option<TypeId> {
        match self.types.named(family, name.text().unwrap_or_default(), name.span()) {
            Ok(found) => Some(found),
            Err(error) => {
                self.report(id, error);
                None
            }
        }
    }

    /// The type that a name refers to in its file. An undefined type is not reported here, but by
    /// the check of the definition or assignment that names it.
    pub(super) fn defined(&self, family: Family, name: Option<Node<'_>>) -> Option<TypeId> {
        let name = name?;
        self.types.find_in(Some(name.span().file), family, name.text()?)
    }

    /// The name by which the template refers to a type.
    pub(super) fn called(&self, kind: TypeId) -> Cow<'c, str> {
        self.types.called(None, kind)
    }

    /// Whether a type may have unknown parts, because an ancestor is not defined. Whatever it lacks
    /// is then undecidable; the missing ancestor is reported where it is named.
    pub(super) fn is_open(&self, kind: TypeId) -> bool {
        self.types.effective(kind).is_open
    }

    /// Whether a type is another type, derives from it, or may do so because an ancestor is not
    /// defined.
    pub(super) fn may_derive(&self, one: TypeId, ancestor: TypeId) -> bool {
        self.types.may_derive(TypeRef::Defined(one), TypeRef::Defined(ancestor))
    }
}
