//! Substitutes nodes by templates that implement their types (sections 2.10 to 2.13 and 3.8.13).
//!
//! In each round all nodes that are to be substituted get a template ([`candidate`], [`choose`]) and
//! are replaced by its nodes ([`flatten`]), until none is left.

pub(crate) mod candidate;
mod choose;
mod explain;
mod flatten;
mod joint;
mod known;
mod rewrite;
mod round;
mod sections;
mod types;
pub(crate) mod view;

pub(crate) use explain::line_of;
pub use explain::{
    ExplainedFulfilment, ExplainedMapping, ExplainedRefusal, ExplainedRequirement,
    ExplainedRunnerUp, ExplainedSelection, ExplainedSubstitution, SubstitutionExplanation, human,
};

use crate::orchestrate::fulfil::{self, FulfilQuestion, Inventory};
use crate::orchestrate::tree::{entries, key_name, like, set, within_topology};
use crate::sat::solve::SolverSettings;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::{FileId, SourceMap, Span};
use crate::text::value::Value;
use crate::text::yaml::{Out, OutNode};
use crate::topology::{Topology, TopologyNode, type_named};
use crate::tosca::{Family, Types};
use candidate::{CandidateVariant, CatalogueTemplate, Facade, Refusal};
use flatten::{ChosenCandidate, flatten};
use known::KnownChoices;
use round::{Round, RoundChoice};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use view::{TemplateView, ViewedRequirement};

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
    ) -> Result<Rc<[CandidateVariant<'a>]>, Refusal>;

    /// The best of all variants of one, where it has others than were asked for.
    fn open_variant(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
    ) -> Option<CandidateVariant<'a>>;

    /// Whether what is asked for tells this node from others by its name.
    fn is_named(&self, node: &str) -> bool;

    /// Whether values of nodes count, and not only which of their properties have one.
    fn looks_at_values(&self) -> bool;
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
    /// Whether what substitutes stays beside the template instead of becoming a part of it.
    pub nests: bool,
}

/// A template without nodes that are to be substituted.
pub(crate) struct SubstitutedDocument<'a> {
    pub document: Out<'a>,
    pub explained: SubstitutionExplanation,
    pub warnings: Diagnostics,
    /// Where that is asked for, what substitutes which node.
    pub nested: Vec<NestedDocument<'a>>,
}

/// What substitutes a node, beside the template.
pub(crate) struct NestedDocument<'a> {
    /// The node, as it is called once what it is in is in its place.
    pub node: String,
    /// The template.
    pub file: FileId,
    /// Its variant.
    pub document: Out<'a>,
    /// Where the node is declared.
    span: Span,
    /// The templates of the catalogue that fit by their types and filters.
    fitting: Vec<FileId>,
}

/// Substitutes all nodes of a template that are to be substituted, and those of what takes their
/// places.
///
/// # Errors
/// `no-substitution`, `ambiguous-substitution`, `cyclic-substitution`; what [`flatten`] says, and
/// what cannot be fulfilled by any choice.
pub(crate) fn substitute<'a>(
    document: Out<'a>,
    evaluated: Option<Out<'a>>,
    catalogue: &dyn Catalogue<'a>,
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<SubstitutedDocument<'a>, Diagnostics> {
    let mut warnings = Diagnostics::default();
    let mut told = SubstitutionExplanation::default();
    let mut ways: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
    let mut used = Vec::new();
    let mut scopes = TemplateScopes::default();
    let known = KnownChoices::default();
    unknown(settings.chosen, &TemplateView::of(document.clone(), settings.types))?;
    let FulfilledDocument { mut document, mut values, .. } =
        fulfilled(document, evaluated, &scopes, catalogue, settings, &mut warnings, &mut told)?;
    let (outer, mut nested) = (settings.nests.then(|| document.clone()), Vec::new());
    for _ in 0..=DEPTH {
        let view = TemplateView::of(document, settings.types);
        if !view.nodes.iter().any(|node| node.is_substituted) {
            unused(settings.chosen, &used, &view)?;
            warnings.0.extend(told.substitutions.iter().filter_map(choose::unproven));
            warnings.0.extend(undistinguished(&nested));
            let document = outer.unwrap_or_else(|| finished(&view));
            return Ok(SubstitutedDocument { document, explained: told, warnings, nested });
        }
        let round =
            Round { view: &view, values: &values, catalogue, settings, ways: &ways, known: &known };
        let choice = round.chosen(&mut used)?;
        let (choice, placed) = match placed(&round, &choice, scopes.clone()) {
            Err(errors) if joint::may_help(&errors) => joint::choose(&round, &scopes, errors)?,
            placed => (choice, placed?),
        };
        if settings.nests {
            nested.extend(choice.chosen.iter().map(|candidate| round.beside(candidate)));
        }
        let mut next = FxHashMap::default();
        let RoundChoice { chosen, explanations, .. } = choice;
        for ((candidate, names), mut why) in chosen.iter().zip(&placed.names).zip(explanations) {
            let node = &view.nodes[candidate.node];
            let mut way = ways.get(&node.name).cloned().unwrap_or_default();
            way.push(candidate.template.file);
            next.extend(names.values().map(|name| (name.clone(), way.clone())));
            let requirements = explain::named(candidate, names);
            explain::complete(&mut why, node, requirements, settings.sources);
            told.substitutions.push(why);
        }
        ways.extend(next);
        warnings.0.extend(placed.warnings.0);
        told.extend(placed.told);
        (document, values, scopes) = (placed.document, placed.values, placed.scopes);
    }
    let view = TemplateView::of(document, settings.types);
    let deep = view.nodes.iter().find(|node| node.is_substituted);
    let message = format!("templates substitute each other more than {DEPTH} deep");
    let error = Diagnostic::error(Code::CyclicSubstitution, message);
    Err(deep.map_or(error.clone(), |node| error.at(node.span)).into())
}

/// What a round leaves behind.
struct PlacedRound<'a> {
    document: Out<'a>,
    /// The same with the values of functions, as far as they are known.
    values: Topology,
    /// For each node that was substituted the new names of its nodes.
    names: Vec<FxHashMap<String, String>>,
    scopes: TemplateScopes,
    warnings: Diagnostics,
    /// What was selected and fulfilled.
    told: SubstitutionExplanation,
    cost: FulfilmentCost,
}

/// Puts what was chosen into its places, and takes what it leaves open from itself and from what is
/// there.
fn placed<'a>(
    round: &Round<'_, '_, 'a>,
    choice: &RoundChoice<'_, 'a>,
    mut scopes: TemplateScopes,
) -> Result<PlacedRound<'a>, Diagnostics> {
    let settings = round.settings;
    let RoundChoice { chosen, uses, .. } = choice;
    let flat = flatten(round.view, settings.types, chosen, uses)?;
    overused(&flat.document, chosen, &flat.names, settings)?;
    flat.names.iter().for_each(|names| scopes.add(names.values()));
    let (names, mut warnings) = (flat.names, flat.warnings);
    let mut told = SubstitutionExplanation::default();
    let FulfilledDocument { document, values, cost } = fulfilled(
        flat.document,
        None,
        &scopes,
        round.catalogue,
        settings,
        &mut warnings,
        &mut told,
    )?;
    Ok(PlacedRound { document, values, names, scopes, warnings, told, cost })
}

/// What fulfilling costs, in the order in which that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FulfilmentCost {
    /// How many relations stay open that may.
    open: u64,
    /// How many nodes are used of those that are there already.
    stored: usize,
}

/// A document of which nothing is open that has to be fulfilled.
struct FulfilledDocument<'a> {
    document: Out<'a>,
    values: Topology,
    cost: FulfilmentCost,
}

/// Warns of nodes that other templates beside them fit as well as what is to substitute them:
/// versions before 2.0 have no way to say which.
fn undistinguished(nested: &[NestedDocument<'_>]) -> Vec<Diagnostic> {
    let ambiguous = |it: &&NestedDocument<'_>| {
        let others = nested.iter().map(|other| other.file).filter(|&file| file != it.file);
        others.into_iter().any(|file| it.fitting.contains(&file))
    };
    let warning = |it: &NestedDocument<'_>| {
        let message = format!(
            "what is to substitute node \"{}\" cannot be told from another template in the archive by type and filter",
            it.node
        );
        let help = "others choose themselves; what is meant is in `substitutions.json`";
        Diagnostic::warning(Code::AmbiguousSubstitution, message).at(it.span).help(help)
    };
    nested.iter().filter(ambiguous).map(warning).collect()
}

/// From which template nodes are: what one leaves open is not taken from another one.
#[derive(Clone, Default)]
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
    catalogue: &dyn Catalogue<'a>,
    settings: &SubstitutionSettings<'_, '_>,
    warnings: &mut Diagnostics,
    told: &mut SubstitutionExplanation,
) -> Result<FulfilledDocument<'a>, Diagnostics> {
    let SubstitutionSettings { types, solver, .. } = *settings;
    let written = evaluated.as_ref().unwrap_or(&document);
    let values = Topology::read(written, &|_| false);
    let Some(inventory) = settings.inventory else {
        return Ok(FulfilledDocument { document, values, cost: FulfilmentCost::default() });
    };
    let question = FulfilQuestion {
        document: OutNode::root(written),
        topology: &values,
        types,
        inventory,
        scope: &|name| scopes.of(name),
        leaves: &|kind, requirement| {
            let fitting = catalogue.templates().iter().filter(|template| {
                template.kind.is_some_and(|of| candidate::is_a(types, of, kind))
            });
            let mut mapped = fitting.flat_map(|template| &template.substitution.requirements);
            mapped.any(|mapping| mapping.named.name == requirement)
        },
    };
    let (found, more) = fulfil::fulfil(&question, solver)?;
    warnings.0.extend(more.0);
    told.found(&found, &values, inventory, settings.sources);
    let cost = FulfilmentCost {
        open: found.open.iter().map(|(_, open)| open).sum(),
        stored: found.stored().len(),
    };
    let document = fulfil::write(&document, &values, types, inventory, &found);
    Ok(FulfilledDocument { document, values, cost })
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
