//! Substitutes nodes by templates that implement their types (sections 2.10 to 2.13 and 3.8.13).
//!
//! In each round all nodes that are to be substituted get a template ([`candidate`], [`choose`]) and
//! are replaced by its nodes ([`flatten`]), until none is left.

pub(crate) mod candidate;
mod choose;
mod explain;
mod flatten;
mod rewrite;
mod sections;
mod types;
pub(crate) mod view;

pub use explain::{
    ExplainedMapping, ExplainedRefusal, ExplainedRequirement, ExplainedSubstitution, human,
};

use crate::orchestrate::fulfil::{self, FulfilQuestion, Inventory};
use crate::orchestrate::tree::{entries, key_name, like, set, within_topology};
use crate::sat::solve::SolverSettings;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::{FileId, SourceMap};
use crate::text::value::Value;
use crate::text::yaml::{Out, OutNode};
use crate::topology::{Topology, TopologyNode, type_named};
use crate::tosca::fit::RequirementFit;
use crate::tosca::{Family, Types};
use candidate::{CandidateVariant, CatalogueTemplate, Facade, Refusal};
use flatten::{ChosenCandidate, UsedCapabilities, flatten};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use view::{TemplateView, ViewedNode, ViewedRequirement, file_of};

/// So deep templates are in each other.
const DEPTH: usize = 64;

/// Which template is to substitute a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChosenTemplate {
    /// The name of the node.
    pub node: String,
    /// The template, as its path ends.
    pub file: String,
    /// One of its presets.
    pub preset: Option<String>,
}

impl ChosenTemplate {
    /// For a node a template, and perhaps one of its presets.
    pub fn new(node: impl Into<String>, file: impl Into<String>, preset: Option<String>) -> Self {
        Self { node: node.into(), file: file.into(), preset }
    }
}

/// The templates that may substitute.
pub(crate) trait Catalogue<'a> {
    /// All of them, in the order of their names.
    fn templates(&self) -> &[CatalogueTemplate<'a>];

    /// The variants of one that may substitute a node, or why none can.
    fn variants(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
    ) -> Result<Vec<CandidateVariant<'a>>, Refusal>;
}

/// What is asked.
pub(crate) struct SubstitutionSettings<'s, 't> {
    pub types: &'s Types<'t>,
    pub sources: &'s SourceMap,
    pub chosen: &'s [ChosenTemplate],
    /// The file of the template.
    pub file: FileId,
    /// What is there; nothing where what is open is left open.
    pub inventory: Option<&'s Inventory>,
    pub solver: &'s SolverSettings,
}

/// A template without nodes that are to be substituted.
pub(crate) struct SubstitutedDocument<'a> {
    pub document: Out<'a>,
    pub explained: Vec<ExplainedSubstitution>,
    pub warnings: Diagnostics,
}

/// Substitutes all nodes of a template that are to be substituted, and those of what takes their
/// places.
///
/// # Errors
/// `no-substitution`, `ambiguous-substitution`, `cyclic-substitution`; and
/// what [`flatten`] says.
pub(crate) fn substitute<'a>(
    document: Out<'a>,
    evaluated: Option<Out<'a>>,
    catalogue: &dyn Catalogue<'a>,
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<SubstitutedDocument<'a>, Diagnostics> {
    let mut warnings = Diagnostics::default();
    let mut explained = Vec::new();
    let mut ways: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
    let mut used = Vec::new();
    let mut scopes = TemplateScopes::default();
    unknown(settings.chosen, &TemplateView::of(document.clone(), settings.types))?;
    let (mut document, mut values) =
        fulfilled(document, evaluated, &scopes, settings, &mut warnings)?;
    for _ in 0..=DEPTH {
        let view = TemplateView::of(document, settings.types);
        if !view.nodes.iter().any(|node| node.is_substituted) {
            unused(settings.chosen, &used, &view)?;
            let document = finished(&view);
            return Ok(SubstitutedDocument { document, explained, warnings });
        }
        let round = Round { view: &view, values: &values, catalogue, settings, ways: &ways };
        let (uses, chosen) = round.chosen(&mut explained, &mut used)?;
        let flat = flatten(&view, settings.types, &chosen, &uses)?;
        warnings.0.extend(flat.warnings.0.iter().cloned());
        let mut next = FxHashMap::default();
        for (position, candidate) in chosen.iter().enumerate() {
            let node = &view.nodes[candidate.node];
            let mut way = ways.get(&node.name).cloned().unwrap_or_default();
            way.push(candidate.template.file);
            next.extend(flat.names[position].values().map(|name| (name.clone(), way.clone())));
            let explanation = explain::named(&chosen[position], &flat.names[position]);
            let before = explained.len() - chosen.len() + position;
            if let Some(explained) = explained.get_mut(before) {
                explain::complete(explained, node, explanation, settings.sources);
            }
        }
        overused(&flat.document, &chosen, &flat.names, settings)?;
        ways.extend(next);
        flat.names.iter().for_each(|names| scopes.add(names.values()));
        (document, values) = fulfilled(flat.document, None, &scopes, settings, &mut warnings)?;
    }
    let view = TemplateView::of(document, settings.types);
    let deep = view.nodes.iter().find(|node| node.is_substituted);
    let message = format!("templates substitute each other more than {DEPTH} deep");
    let error = Diagnostic::error(Code::CyclicSubstitution, message);
    Err(deep.map_or(error.clone(), |node| error.at(node.span)).into())
}

/// From which template nodes are: what one leaves open is not taken from another one.
#[derive(Default)]
struct TemplateScopes {
    by_node: FxHashMap<String, u32>,
    last: u32,
}

impl TemplateScopes {
    /// Nodes of a further template.
    fn add<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        self.last += 1;
        self.by_node.extend(names.map(|name| (name.clone(), self.last)));
    }

    fn of(&self, name: &str) -> u32 {
        self.by_node.get(name).copied().unwrap_or(0)
    }
}

/// Takes what a document leaves open from itself and from what is there.
fn fulfilled<'a>(
    document: Out<'a>,
    evaluated: Option<Out<'a>>,
    scopes: &TemplateScopes,
    settings: &SubstitutionSettings<'_, '_>,
    warnings: &mut Diagnostics,
) -> Result<(Out<'a>, Topology), Diagnostics> {
    let SubstitutionSettings { types, solver, .. } = *settings;
    let values = evaluated.as_ref().unwrap_or(&document);
    let topology = Topology::read(values, &|_| false);
    let Some(inventory) = settings.inventory else { return Ok((document, topology)) };
    let question = FulfilQuestion {
        document: OutNode::root(values),
        topology: &topology,
        types,
        inventory,
        scope: &|name| scopes.of(name),
    };
    let (found, more) = fulfil::fulfil(&question, solver)?;
    warnings.0.extend(more.0);
    Ok((fulfil::write(&document, &topology, types, inventory, &found), topology))
}

/// Refuses capabilities that relations lead to more often than they may be used because these are
/// mapped several times.
fn overused(
    document: &Out<'_>,
    chosen: &[ChosenCandidate<'_, '_>],
    names: &[FxHashMap<String, String>],
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<(), Diagnostics> {
    let types = settings.types;
    let topology = Topology::read(document, &|_| false);
    let mut mapped = FxHashMap::default();
    for (candidate, names) in chosen.iter().zip(names) {
        for mapping in candidate.fit.requirements.iter().flat_map(|it| &it.mappings) {
            mapped.extend(mapping.targets.iter().filter_map(|(node, requirement)| {
                Some(((names.get(node)?.as_str(), requirement.as_str()), mapping.span))
            }));
        }
    }
    let uses = fulfil::capability_uses(&topology, types);
    let mut errors = Diagnostics::default();
    for relation in &topology.relations {
        let source = topology.node(relation.source);
        let Some(&at) = mapped.get(&(source.name.as_str(), relation.name.as_str())) else {
            continue;
        };
        let Some(target) = relation.target else { continue };
        let kind = |node: &TopologyNode| {
            type_named(types, Family::Node, node.described.type_name.as_ref()?)
        };
        let node = topology.node(target);
        let (Some(source_kind), Some(kind)) = (kind(source), kind(node)) else { continue };
        let fitting = fulfil::fitting(types, relation, source_kind, kind);
        let Some(&capability) = fitting.first() else { continue };
        let Some(part) = types.effective(kind).capabilities.get(capability) else { continue };
        let own = node.capabilities.iter().find(|own| own.name == capability);
        let bound = fulfil::capability_bound(own, &part.definition);
        let Some(bound) = bound.filter(|bound| uses.of(target, capability) > Some(*bound)) else {
            continue;
        };
        let name = &node.name;
        let message = format!(
            "the capability `{capability}` of node \"{name}\" can be used {bound} times at most"
        );
        let error = Diagnostic::error(Code::TooManyRelations, message).at(at).section("3.7.2.1");
        let defined = own.map_or(part.named.key.span(), |own| own.span);
        let error = error.label(defined, "the capability is here");
        if !errors.0.contains(&error) {
            errors.push(error);
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// Says of what is chosen for nodes that no template can have.
fn unknown(chosen: &[ChosenTemplate], view: &TemplateView<'_>) -> Result<(), Diagnostics> {
    let names = || view.nodes.iter().filter(|it| it.is_substituted).map(|it| it.name.as_str());
    let may_be = |choice: &ChosenTemplate| {
        // Nodes of what substitutes one are called behind it.
        names().any(|name| choice.node.starts_with(name)) || view.node(&choice.node).is_some()
    };
    let error = |choice: &ChosenTemplate| {
        let message = format!("`{}` is no node that is substituted", choice.node);
        let help = did_you_mean(&choice.node, names());
        Diagnostic::error(Code::UnknownElement, message).help_opt(help)
    };
    let errors: Vec<_> = chosen.iter().filter(|choice| !may_be(choice)).map(error).collect();
    if errors.is_empty() { Ok(()) } else { Err(Diagnostics(errors)) }
}

/// Says of what was chosen for no node that it makes no difference.
fn unused(
    chosen: &[ChosenTemplate],
    used: &[String],
    view: &TemplateView<'_>,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for choice in chosen.iter().filter(|choice| !used.contains(&choice.node)) {
        let message = format!("`{}` is no node that is substituted", choice.node);
        let names = used.iter().map(String::as_str);
        let help = did_you_mean(&choice.node, names);
        let there = view.node(&choice.node).map(|_| "it has no directive `substitute`".into());
        let error = Diagnostic::error(Code::UnknownElement, message).help_opt(help.or(there));
        errors.push(error);
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// One round: nodes, and what may substitute them.
struct Round<'r, 't, 'a> {
    view: &'r TemplateView<'a>,
    /// The same with the values of functions, as far as they are known.
    values: &'r Topology,
    catalogue: &'r dyn Catalogue<'a>,
    settings: &'r SubstitutionSettings<'r, 't>,
    /// Which templates led to a node.
    ways: &'r FxHashMap<String, Vec<FileId>>,
}

impl<'r, 'a> Round<'r, '_, 'a> {
    fn chosen(
        &self,
        explained: &mut Vec<ExplainedSubstitution>,
        used: &mut Vec<String>,
    ) -> Result<(UsedCapabilities, Vec<ChosenCandidate<'r, 'a>>), Diagnostics> {
        let mut errors = Diagnostics::default();
        let (uses, mut capabilities) = self.uses(&mut errors);
        let mut all = Vec::new();
        for (position, node) in self.view.nodes.iter().enumerate() {
            if !node.is_substituted {
                continue;
            }
            used.push(node.name.clone());
            let Some(kind) = node.kind else {
                let message = format!("the type `{}` is not defined", node.type_name);
                errors.push(Diagnostic::error(Code::UnknownType, message).at(node.span));
                continue;
            };
            let used = capabilities.remove(&position).unwrap_or_default();
            let values = self.values.node_ids().nth(position).map(|id| self.values.node(id));
            let Some(values) = values else { continue };
            let facade = Facade::of(self.settings.types, node, kind, values, used);
            match self.choose(&facade) {
                Ok(choice) => {
                    let choose::CandidateChoice { template, variant, fit, explanation } = choice;
                    let template = &self.catalogue.templates()[template];
                    explained.push(explanation);
                    all.push(ChosenCandidate { node: position, template, variant, fit });
                }
                Err(error) => errors.push(*error),
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok((uses, all)) }
    }

    fn choose(
        &self,
        facade: &Facade<'_, 'a>,
    ) -> Result<choose::CandidateChoice<'a>, Box<Diagnostic>> {
        let way = self.ways.get(&facade.node.name).map(Vec::as_slice).unwrap_or_default();
        let is_counted = candidate::is_counted(facade.node);
        let mut judged = Vec::new();
        for (position, template) in self.catalogue.templates().iter().enumerate() {
            let refused =
                |refusal| choose::JudgedCandidate { template: position, fits: Err(refusal) };
            if is_counted {
                let at = template.substitution.node.span();
                let message = "the node is there several times, and each would be its own";
                judged.push(refused(Refusal::new(0, message, at).here(facade.node.span)));
                continue;
            }
            if let Err(refusal) = candidate::judge_kind(self.settings.types, facade, template) {
                judged.push(refused(refusal));
                continue;
            }
            if template.file == self.settings.file || way.contains(&template.file) {
                let at = template.substitution.node.span();
                let refusal = Refusal::new(5, "it would substitute a node of its own", at);
                judged.push(refused(Refusal { is_cyclic: true, ..refusal.here(facade.node.span) }));
                continue;
            }
            let variants = match self.catalogue.variants(position, facade) {
                Ok(variants) => variants,
                Err(refusal) => {
                    judged.push(refused(refusal));
                    continue;
                }
            };
            for variant in variants {
                let fit = candidate::judge(self.settings.types, facade, template, &variant.view);
                let fits = fit.map(|fit| (variant, fit));
                judged.push(choose::JudgedCandidate { template: position, fits });
            }
        }
        choose::choose(facade, self.catalogue.templates(), judged, self.settings)
    }

    /// The capabilities of nodes that are to be substituted where relations lead.
    fn uses(
        &self,
        errors: &mut Diagnostics,
    ) -> (UsedCapabilities, FxHashMap<usize, BTreeMap<String, crate::text::source::Span>>) {
        let mut uses = UsedCapabilities::default();
        let mut by_node: FxHashMap<usize, BTreeMap<_, _>> = FxHashMap::default();
        for (position, source) in self.view.nodes.iter().enumerate() {
            for (index, assignment) in source.assignments.iter().enumerate() {
                let target = assignment.target.as_deref().and_then(|it| self.view.position(it));
                let Some(target) = target.filter(|&it| self.view.nodes[it].is_substituted) else {
                    continue;
                };
                match self.capability(source, assignment, &self.view.nodes[target]) {
                    Ok(capability) => {
                        by_node
                            .entry(target)
                            .or_default()
                            .insert(capability.clone(), assignment.span);
                        uses.insert((position, index), capability);
                    }
                    Err(error) => errors.push(*error),
                }
            }
        }
        (uses, by_node)
    }

    /// The one capability of a node where a relation leads.
    fn capability(
        &self,
        source: &ViewedNode<'a>,
        assignment: &ViewedRequirement<'a>,
        target: &ViewedNode<'a>,
    ) -> Result<String, Box<Diagnostic>> {
        let types = self.settings.types;
        let wrong = |message: String| {
            let error = Diagnostic::error(Code::IncompatibleRequirement, message);
            Box::new(error.at(assignment.span))
        };
        let (name, node) = (&assignment.name, &target.name);
        let definition = source.kind.and_then(|kind| {
            types.effective(kind).requirements.get(&**name).map(|part| (kind, &part.definition))
        });
        let (Some((kind, definition)), Some(target_kind)) = (definition, target.kind) else {
            let type_name = &source.type_name;
            return Err(wrong(format!("`{type_name}` has no requirement `{name}`")));
        };
        let capability = assignment.capability.as_ref();
        let capability = capability.map(|it| (it.value.as_str(), file_of(it.span)));
        let fit = RequirementFit { types, definition, source: kind, capability };
        let found = fit.capabilities(target_kind).unwrap_or_default();
        match &*found {
            [(only, _)] => Ok((*only).to_owned()),
            [] => {
                Err(wrong(format!("node \"{node}\" has no capability to which `{name}` can lead")))
            }
            several => {
                let names: Vec<_> = several.iter().map(|(name, _)| format!("`{name}`")).collect();
                let message = format!(
                    "`{name}` can lead to several capabilities of node \"{node}\": {}",
                    names.join(", ")
                );
                let mut error = wrong(message);
                *error = error.help("name one of them under `capability`");
                Err(error)
            }
        }
    }
}

/// The document as other tools for its version read it: what may stay open is said by
/// `occurrences`, and nothing where there is a target.
fn finished<'a>(view: &TemplateView<'a>) -> Out<'a> {
    let is_new = |assignment: &ViewedRequirement<'a>| {
        let keys = entries(&assignment.body);
        keys.iter().any(|(key, _)| matches!(&*key_name(key), "optional" | "count"))
    };
    if !view.nodes.iter().flat_map(|node| &node.assignments).any(is_new) {
        return view.document.clone();
    }
    within_topology(&view.document, &mut |section, value| {
        if section != "node_templates" {
            return value.clone();
        }
        let nodes = view.nodes.iter().map(|node| {
            let mut body = entries(&node.body);
            let list = node.assignments.iter().map(|assignment| {
                let item = match is_new(assignment) {
                    true => flatten::as_written_before(assignment),
                    false => assignment.item.clone(),
                };
                (assignment.owner, item)
            });
            let list: Vec<_> = list.collect();
            if node.assignments.iter().any(is_new) {
                set(&mut body, "requirements", |old| old.map(|old| rewrite::like_list(old, list)));
                return (node.key.clone(), like(&node.body, body));
            }
            (node.key.clone(), node.body.clone())
        });
        like(value, nodes.collect())
    })
}

/// An input and its value, as they are shown.
pub(crate) fn assigned((name, value): &(String, Value)) -> String {
    format!("{name}={value}")
}
