//! Writes a template in which everything that options, default conditions, pruning and technology
//! rules add is written out, so that its mode is `manual`.

mod condition;
mod document;
mod reason;

use self::condition::{ConditionWriter, all, any, applied, not};
use self::document::DocumentWriter;
use super::emit;
use super::enrich::{self, AddedConditions, Implying, Origin};
use super::expression::Evaluator;
use super::graph::{ElementId, Graph};
use super::options::{ExplicitOption, Flag, ModePart};
use super::prepared::Prepared;
use super::syntax::Of;
use super::template::PropertyValue;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::element::ElementKind;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// A condition or constraint that was added to a template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AddedCondition {
    /// The condition, in the language of conditions.
    pub condition: Value,
    /// Where it comes from, in a few words.
    pub origin: String,
}

/// The conditions that were added to an element.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EnrichedElement {
    /// The identifier of the element, such as `node.shop`.
    pub element: String,
    /// The added conditions, in the order in which they are written.
    pub conditions: Vec<AddedCondition>,
}

/// A template in mode `manual`, with everything written out that its options added before.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EnrichedTemplate {
    /// The elements that got conditions.
    pub elements: Vec<EnrichedElement>,
    /// The constraints that were added.
    pub constraints: Vec<AddedCondition>,
    /// The options that are written out, with their values.
    #[serde(serialize_with = "serialize_options")]
    pub options: Vec<(String, Value)>,
    /// The template.
    #[serde(skip)]
    pub yaml: String,
}

fn serialize_options<S: serde::Serializer>(
    options: &[(String, Value)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(options.iter().map(|(name, value)| (name, value)))
}

/// What changes about an element.
#[derive(Default)]
struct ElementEdit {
    /// The conditions of its author in other words, by their positions.
    rewritten: Vec<(usize, Value)>,
    /// Whether the element no longer is a default alternative. Then its conditions were ignored.
    replaces_default: bool,
    added: Vec<AddedCondition>,
}

/// Writes out what the options of a template add.
///
/// # Errors
/// Errors of the template that do not depend on its inputs, and `invalid-template` for conditions
/// that cannot be written out.
pub(crate) fn enrich(prepared: &Prepared<'_>) -> Result<EnrichedTemplate, Diagnostics> {
    let (graph, options) = (&prepared.graph, prepared.options);
    let mut evaluator = prepared.evaluator();
    let wrong = &prepared.wrong_expressions;
    enrich::validate(&mut evaluator, &prepared.type_specific, options, wrong)?;
    let added = enrich::added(&mut evaluator, &prepared.inputs, &prepared.type_specific, options)?;
    let by_rules = stays_with_rules(graph, options.flag(Flag::OptimizationScenarios));
    let mut planner = EditPlanner::new(graph, &mut evaluator, &added, by_rules);
    planner.plan()?;
    let EditPlanner { edits, constraints, rewritten_constraints, .. } = planner;
    let options = options.explicit(by_rules);
    let writer =
        DocumentWriter { graph, edits, constraints, rewritten_constraints, options, by_rules };
    let yaml = match writer.document() {
        Some(document) => emit::text(&document),
        None => graph.template.root.document().text().to_owned(),
    };
    let DocumentWriter { mut edits, constraints, options, .. } = writer;
    let elements = graph.ids().filter_map(|id| {
        let conditions = edits.remove(&id)?.added;
        let element = graph.identifier(id).to_string();
        (!conditions.is_empty()).then_some(EnrichedElement { element, conditions })
    });
    let elements = elements.collect();
    let options = options.iter().map(|option| (option.name.to_owned(), value(option))).collect();
    Ok(EnrichedTemplate { elements, constraints, options, yaml })
}

/// The value of an option as a template writes it.
fn value(option: &ExplicitOption) -> Value {
    match &*option.value {
        "true" => true.into(),
        "false" => false.into(),
        word => word.into(),
    }
}

/// Whether technologies that rules add cannot be written out: how special their rules are has no
/// place in a template, and neither has that a node needs no technology.
fn stays_with_rules(graph: &Graph<'_>, scenarios: bool) -> bool {
    let by_rule = |id: ElementId| graph.element(id).by_rule;
    graph.technologies.iter().any(|it| by_rule(it.id) && (scenarios || it.none))
}

/// Finds what has to change.
struct EditPlanner<'p, 'e, 'a> {
    graph: &'e Graph<'a>,
    added: &'p AddedConditions,
    writer: ConditionWriter<'p, 'e, 'a>,
    by_rules: bool,
    edits: FxHashMap<ElementId, ElementEdit>,
    constraints: Vec<AddedCondition>,
    /// The constraints of the author in other words, by their positions.
    rewritten_constraints: Vec<(usize, Value)>,
}

impl<'p, 'e, 'a> EditPlanner<'p, 'e, 'a> {
    fn new(
        graph: &'e Graph<'a>,
        evaluator: &'p mut Evaluator<'e, 'a>,
        added: &'p AddedConditions,
        by_rules: bool,
    ) -> Self {
        let mut planner = Self {
            graph,
            added,
            writer: ConditionWriter::new(evaluator, added),
            by_rules,
            edits: FxHashMap::default(),
            constraints: Vec::new(),
            rewritten_constraints: Vec::new(),
        };
        let changes = graph.ids().map(|id| planner.is_changed(id));
        planner.writer.changes = changes.collect();
        planner
    }

    /// Whether the conditions of an element are written out at all. Those of a variability group
    /// would become conditions of its members, and it is never present anyway.
    fn is_written(&self, id: ElementId) -> bool {
        let element = self.graph.element(id);
        let is_of_rules = self.by_rules && element.kind == ElementKind::Technology;
        // A type that is written as in plain TOSCA follows what has it in every mode.
        let is_plain = element.follows && self.added.reasons(id).is_empty();
        let is_elsewhere = self.graph.is_imported(id) || is_of_rules;
        !is_plain && !is_elsewhere && self.graph.variability_group(id).is_none()
    }

    /// Whether the element gets generated conditions as its own.
    fn is_changed(&self, id: ElementId) -> bool {
        self.is_written(id) && !self.added.generated(id).is_empty()
    }

    fn plan(&mut self) -> Result<(), Diagnostics> {
        let (graph, added) = (self.graph, self.added);
        for id in graph.ids() {
            if self.is_written(id)
                && let Some(edit) = self.edit(id)?
            {
                self.edits.insert(id, edit);
            }
        }
        for (id, implying) in &added.implied {
            if self.is_written(*id) {
                let constraint = self.implied(*id, implying)?;
                self.constraints.push(constraint);
            }
        }
        for (position, &node) in graph.template.variability.constraints.iter().enumerate() {
            let words = self.writer.rewritten(graph.syntax.read(node), None)?;
            self.rewritten_constraints.extend(words.map(|words| (position, words)));
        }
        self.check_others()
    }

    /// What changes about an element; `None` if nothing does.
    fn edit(&mut self, id: ElementId) -> Result<Option<ElementEdit>, Diagnostic> {
        let (graph, added) = (self.graph, self.added);
        let element = graph.element(id);
        let mut edit = ElementEdit::default();
        let changed = self.writer.changes[id.0 as usize];
        for origin in added.reasons(id) {
            let conditions = match origin {
                Origin::Manual(..) if element.by_rule => {
                    let mut listed = Vec::new();
                    let rule = added.written(graph, id);
                    self.writer.listed(rule, Some(id), Some(id), &mut listed)?;
                    listed
                }
                Origin::Manual(..) => {
                    let conditions = element.conditions.into_iter();
                    let parts = conditions.flat_map(|list| graph.syntax.each(list).iter());
                    for (position, part) in parts.enumerate() {
                        let words = self.writer.rewritten(part, Some(id))?;
                        edit.rewritten.extend(words.map(|words| (position, words)));
                    }
                    continue;
                }
                Origin::DefaultAlternative(_) => {
                    edit.replaces_default = changed || !is_default_by_author(graph, id);
                    if !edit.replaces_default {
                        continue;
                    }
                    self.writer.manual_reason(origin, Some(id))?
                }
                Origin::NoDefaultAlternative(_) if !changed => continue,
                _ => self.writer.manual_reason(origin, Some(id))?,
            };
            edit.add(graph, origin, conditions);
        }
        for origin in added.generated(id) {
            let conditions = self.generated(origin, id)?;
            edit.add(graph, origin, conditions);
        }
        self.check_place(id, &edit)?;
        let is_any = element.by_rule || !edit.rewritten.is_empty() || !edit.added.is_empty();
        Ok((is_any || edit.replaces_default).then_some(edit))
    }

    /// The conditions of a generated origin.
    fn generated(&mut self, origin: Origin, id: ElementId) -> Result<Vec<Value>, Diagnostic> {
        let here = Some(id);
        let (graph, added) = (self.graph, self.added);
        let slot = graph.element(id).slot as usize;
        match origin {
            Origin::TypeSpecific(_, span) => {
                let mut listed = Vec::new();
                self.writer.listed(added.type_specific(span), here, here, &mut listed)?;
                Ok(listed)
            }
            Origin::Generic(_, _, part, _) => {
                let condition = match part {
                    Some(ModePart::Default) => {
                        not(self.writer.any_present(added.preferred(id), here)?)
                    }
                    Some(ModePart::Other) => {
                        let node = graph.node(graph.technologies[slot].node);
                        let others = node.technologies.iter().copied();
                        let others: Vec<_> = others.filter(|&other| other != id).collect();
                        not(self.writer.any_present(&others, here)?)
                    }
                    Some(ModePart::Consuming) => {
                        let consumed = &graph.properties[slot].consumed;
                        self.writer.any_present(consumed, here)?
                    }
                    _ => {
                        let of = enrich::asked_of(graph.element(id).kind, part);
                        self.writer.presence(of, id, here)?
                    }
                };
                Ok(if condition == true.into() { Vec::new() } else { vec![condition] })
            }
            _ => Ok(vec![self.writer.presence(Of::Container, id, here)?]),
        }
    }

    /// The constraint that an element is present where it is implied: its generated conditions have
    /// to hold there.
    fn implied(
        &mut self,
        id: ElementId,
        implying: &Implying,
    ) -> Result<AddedCondition, Diagnostic> {
        let writer = &mut self.writer;
        let holder = implying.of.map(|of| writer.presence(of, id, None)).transpose()?;
        let mut premises: Vec<_> = holder.into_iter().collect();
        let mut possible = Vec::with_capacity(implying.restricted_by.len());
        for &other in &implying.restricted_by {
            possible.push(all(writer.manual(other)?));
        }
        if !possible.is_empty() {
            premises.push(any(possible));
        }
        premises.extend(writer.manual(id)?);
        for &other in self.added.preferred(id) {
            premises.push(not(all(writer.manual(other)?)));
        }
        let present = writer.presence(Of::Itself, id, None)?;
        let condition = applied("implies", vec![all(premises), present].into());
        let origin = format!("implied: {}", self.graph.identifier(id));
        Ok(AddedCondition { condition, origin })
    }

    /// Checks that an element has a place for conditions.
    fn check_place(&self, id: ElementId, edit: &ElementEdit) -> Result<(), Diagnostic> {
        let graph = self.graph;
        let element = graph.element(id);
        let declared = match element.kind {
            ElementKind::Input => &graph.inputs[element.slot as usize].parameter.declared,
            ElementKind::Output => &graph.outputs[element.slot as usize].parameter.declared,
            _ => return Ok(()),
        };
        if edit.added.is_empty() || declared.value().kind() == NodeKind::Mapping {
            return Ok(());
        }
        let message = format!("{} has no place for conditions", graph.display(id));
        let help = "write its value as `value` in a map";
        Err(Diagnostic::error(Code::InvalidTemplate, message).at(element.span).help(help))
    }

    /// Rejects what would have to be written in other words, but is not: conditions of groups,
    /// implications, and values.
    fn check_others(&self) -> Result<(), Diagnostics> {
        let graph = self.graph;
        let groups = graph.groups.iter().filter(|group| group.variability);
        let groups = groups.filter_map(|group| group.group.declared.conditions());
        let implications = graph.ids().flat_map(|id| {
            let settings = graph.element(id).settings;
            settings.into_iter().flat_map(|it| &it.implies).flat_map(|implication| {
                std::iter::once(implication.target).chain(implication.condition)
            })
        });
        let values = graph.properties.iter().filter_map(|it| match it.property.value {
            PropertyValue::Expression(expression) => Some(expression),
            PropertyValue::Value(_) => None,
        });
        let all = groups.chain(implications).chain(values);
        let wrong = all.filter(|&node| self.writer.looks_at_authors(graph.syntax.read(node)));
        let wrong: Vec<_> = wrong.map(unwritable).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Diagnostics(wrong)) }
    }
}

fn unwritable(node: Node<'_>) -> Diagnostic {
    let message = "this asks for conditions of authors, to which others would be added";
    let help = "ask for presence instead, with an operator that ends in `_naive`";
    Diagnostic::error(Code::InvalidTemplate, message).at(node.span()).help(help)
}

/// Whether the author declared the element to be the default alternative. Of types nobody else
/// does.
fn is_default_by_author(graph: &Graph<'_>, id: ElementId) -> bool {
    document::declared(graph, id)
        .is_none_or(|declared| declared.value().get("default_alternative").is_some())
}

impl ElementEdit {
    fn add(&mut self, graph: &Graph<'_>, origin: Origin, conditions: Vec<Value>) {
        let mut comment = reason::comment(graph, origin);
        for condition in conditions {
            self.added.push(AddedCondition { condition, origin: comment.clone() });
            "the same".clone_into(&mut comment);
        }
    }
}
