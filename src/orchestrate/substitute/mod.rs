//! Substitutes nodes by templates that implement their types (sections 2.10 to 2.13 and 3.8.13).
//!
//! In each round all nodes that are to be substituted get a template ([`candidate`], [`choose`])
//! and are replaced by its nodes ([`flatten`]), until no such node is left.

mod bounds;
pub(crate) mod candidate;
mod choose;
mod defaults;
mod explain;
mod fitted;
mod flatten;
mod joint;
mod known;
mod path;
mod represent;
mod rewrite;
mod round;
mod sections;
mod types;
pub(crate) mod view;

pub(crate) use explain::line_of;
pub use explain::{
    ExplainedDirective, ExplainedFulfilment, ExplainedMapping, ExplainedRefusal,
    ExplainedRequirement, ExplainedRunnerUp, ExplainedSelection, ExplainedSubstitution,
    SubstitutionExplanation, human,
};
pub(crate) use represent::{counts, represented};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::orchestrate::evaluated::evaluate;
use crate::orchestrate::fulfil::{self, FulfilQuestion, Fulfilment, Inventory};
use crate::orchestrate::tree::{
    entries, key_name, like, like_list, set, within_topology, without_directive,
};
use crate::topology::scope::TopologyScope;
use crate::topology::{Spanned, Topology, TopologyNode, TopologyParameter, type_named};
use crate::tosca::function::function_in;
use crate::tosca::{Family, Types};
use candidate::{CandidateVariant, CatalogueTemplate, Facade, Refusal};
use cuvee_sat::solve::SolverSettings;
use cuvee_text::source::{FileId, SourceMap, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutKey, OutNode};
use flatten::{ChosenCandidate, FlattenedTemplate, flatten};
use known::KnownChoices;
use represent::{RepresentedDocument, RepresentedNodes};
use round::{Round, RoundChoice};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use view::{TemplateView, ViewedNode, ViewedRequirement, entry};

/// How deep templates may be nested.
const DEPTH: usize = 64;

/// The user's choice of a template for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChosenTemplate {
    /// The name of the node.
    pub node: String,
    /// The template: the end of its path.
    pub file: String,
    /// The preset of the template, if one is chosen.
    pub preset: Option<String>,
}

impl ChosenTemplate {
    /// Chooses a template for a node, and perhaps one of its presets.
    pub fn new(node: impl Into<String>, file: impl Into<String>, preset: Option<String>) -> Self {
        Self { node: node.into(), file: file.into(), preset }
    }
}

/// The templates that may substitute nodes.
pub(crate) trait Catalogue<'a> {
    /// All templates, in the order of their names.
    fn templates(&self) -> &[CatalogueTemplate<'a>];

    /// The variants of a template that may substitute a node, or the reason why none can.
    fn variants(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
    ) -> Result<Rc<[CandidateVariant<'a>]>, Refusal>;

    /// The best of all variants of a template, if the user's inputs and presets permit only some of
    /// them.
    fn open_variant(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
    ) -> Option<CandidateVariant<'a>>;

    /// Whether the user's inputs distinguish this node by its name.
    fn is_named(&self, node: &str) -> bool;

    /// Whether choices depend on the values of properties, not only on which properties have one.
    fn looks_at_values(&self) -> bool;

    /// Whether choices depend on more than a node itself.
    fn looks_around(&self) -> bool;
}

/// The settings of a substitution.
pub(crate) struct SubstitutionSettings<'s, 't> {
    pub types: &'s Types<'t>,
    pub sources: &'s SourceMap,
    pub chosen: &'s [ChosenTemplate],
    /// The given values of topology inputs.
    pub inputs: &'s FxHashMap<String, Value>,
    /// The file of the template.
    pub file: FileId,
    /// The existing nodes; `None` if requirements are to stay open.
    pub inventory: Option<&'s Inventory>,
    pub solver: &'s SolverSettings,
    /// Whether substituting templates stay separate documents instead of becoming a part of the
    /// template.
    pub nests: bool,
}

/// A template in which all nodes were substituted.
pub(crate) struct SubstitutedDocument<'a> {
    pub document: Out<'a>,
    pub explained: SubstitutionExplanation,
    pub warnings: Diagnostics,
    /// The substituting templates as documents of their own, if the settings ask for that.
    pub nested: Vec<NestedDocument<'a>>,
}

/// A substituting template that stays a document of its own.
pub(crate) struct NestedDocument<'a> {
    /// The name of the node, once the templates around it are in their places.
    pub node: String,
    /// The template.
    pub file: FileId,
    /// The document of the chosen variant.
    pub document: Out<'a>,
    /// The place where the node is declared.
    span: Span,
    /// The templates of the catalogue that fit by type and filter.
    fitting: Vec<FileId>,
}

/// Substitutes all nodes of a template that are to be substituted, and those of the substituting
/// templates in turn.
///
/// # Errors
/// `no-substitution`, `ambiguous-substitution`, `cyclic-substitution`; the errors of [`flatten`],
/// and those of requirements that no choice fulfils.
pub(crate) fn substitute<'a>(
    document: Out<'a>,
    evaluated: Option<Out<'a>>,
    catalogue: &dyn Catalogue<'a>,
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<SubstitutedDocument<'a>, Diagnostics> {
    let own = represented(document, evaluated, settings.inputs, settings.types)?;
    // A choice for a template with a count is one for all of its nodes.
    let of_nodes = |choice: &ChosenTemplate| {
        let nodes = own.nodes.of(&choice.node).cloned();
        let choices = nodes.map(|node| ChosenTemplate { node, ..choice.clone() });
        choices.collect::<Vec<_>>()
    };
    let chosen: Vec<_> = settings.chosen.iter().flat_map(of_nodes).collect();
    let settings = &SubstitutionSettings { chosen: &chosen, ..*settings };
    let mut state = SubstitutedSoFar::begin((own.document, own.evaluated), catalogue, settings)?;
    let known = KnownChoices::default();
    for _ in 0..=DEPTH {
        let view = state.pass_over(catalogue, settings, &known)?;
        if !view.nodes.iter().any(|node| node.is_substituted) {
            return state.finished(&view, settings);
        }
        let graph = TopologyScope::of(&state.values, settings.types);
        let round = state.round(&view, &graph, catalogue, settings, &known);
        let replaced = replaced(&round, &state.scopes)?;
        state.replace(replaced);
    }
    let view = TemplateView::of(state.document, settings.types);
    let deep = view.nodes.iter().find(|node| node.is_substituted);
    let message = format!("templates substitute each other more than {DEPTH} deep");
    let error = Diagnostic::error(Code::CyclicSubstitution, message);
    Err(deep.map_or(error.clone(), |node| error.at(node.span)).into())
}

/// A document, and the same with the values of functions where these are asked for.
type StartingDocument<'a> = (Out<'a>, Option<Out<'a>>);

/// A substitution between two rounds.
struct SubstitutedSoFar<'a> {
    /// The document before anything in it was fulfilled, until the first round.
    start: Option<StartingDocument<'a>>,
    /// The template without what substitutes its nodes, if that stays separate.
    outer: Option<Out<'a>>,
    document: Out<'a>,
    values: Topology,
    scopes: TemplateScopes,
    /// For each node, the templates that contain it, outermost first.
    ways: FxHashMap<String, Vec<FileId>>,
    /// The names of the nodes that were substituted.
    used: Vec<String>,
    /// The directives that did not work before the first round.
    passed: Vec<ExplainedDirective>,
    told: SubstitutionExplanation,
    warnings: Diagnostics,
    nested: Vec<NestedDocument<'a>>,
}

impl<'a> SubstitutedSoFar<'a> {
    /// Fulfils what the template leaves open.
    fn begin(
        start: StartingDocument<'a>,
        catalogue: &dyn Catalogue<'a>,
        settings: &SubstitutionSettings<'_, '_>,
    ) -> Result<Self, Diagnostics> {
        let (document, evaluated) = start.clone();
        let view = TemplateView::of(document.clone(), settings.types);
        unknown(settings.chosen, &view)?;
        let scopes = TemplateScopes::of(&view);
        let open = ReadDocument::of(document, evaluated, settings);
        let FulfilledDocument { document, values, told, warnings, .. } =
            fulfilled(open, &scopes, catalogue, settings)?;
        Ok(Self {
            start: Some(start),
            outer: settings.nests.then(|| document.clone()),
            document,
            values,
            scopes,
            ways: FxHashMap::default(),
            used: Vec::new(),
            passed: Vec::new(),
            told,
            warnings,
            nested: Vec::new(),
        })
    }

    fn round<'r, 't>(
        &'r self,
        view: &'r TemplateView<'a>,
        graph: &'r TopologyScope<'_, '_>,
        catalogue: &'r dyn Catalogue<'a>,
        settings: &'r SubstitutionSettings<'r, 't>,
        known: &'r KnownChoices,
    ) -> Round<'r, 't, 'a> {
        let Self { values, ways, .. } = self;
        Round { view, values, graph, catalogue, settings, ways, known }
    }

    /// Lets nodes that no template can substitute follow the next of their directives (TOSCA 2.0,
    /// section 7.2), and fulfils again what is open then. Returns the template that is left.
    fn pass_over(
        &mut self,
        catalogue: &dyn Catalogue<'a>,
        settings: &SubstitutionSettings<'_, '_>,
        known: &KnownChoices,
    ) -> Result<TemplateView<'a>, Diagnostics> {
        loop {
            let view = TemplateView::of(self.document.clone(), settings.types);
            let has_other = |node: &ViewedNode<'_>| node.is_substituted && node.next.is_some();
            if !view.nodes.iter().any(has_other) {
                return Ok(view);
            }
            let graph = TopologyScope::of(&self.values, settings.types);
            let passed = self.round(&view, &graph, catalogue, settings, known).passed();
            if passed.is_empty() {
                return Ok(view);
            }
            let names: FxHashSet<&str> = passed.iter().map(|passed| &*passed.node).collect();
            let pass = |document: &Out<'a>| without_directives(document, &names);
            let is_first = self.start.is_some();
            let (document, evaluated) = match self.start.take() {
                Some((document, evaluated)) => (pass(&document), evaluated.as_ref().map(pass)),
                None => (pass(&self.document), None),
            };
            self.start = is_first.then(|| (document.clone(), evaluated.clone()));
            let open = ReadDocument::of(document, evaluated, settings);
            let found = fulfilled(open, &self.scopes, catalogue, settings)?;
            if is_first {
                (self.told, self.warnings) = Default::default();
                self.outer = settings.nests.then(|| found.document.clone());
                self.passed.extend(passed);
                self.told.passed.clone_from(&self.passed);
            } else {
                self.told.passed.extend(passed);
            }
            self.told.extend(found.told);
            self.warnings.0.extend(found.warnings.0);
            (self.document, self.values) = (found.document, found.values);
        }
    }

    fn replace(&mut self, replaced: ReplacedNodes<'a>) {
        let ReplacedNodes { placed, used, ways, told, nested } = replaced;
        self.start = None;
        self.used.extend(used);
        self.ways.extend(ways);
        self.nested.extend(nested);
        self.told.substitutions.extend(told);
        self.told.extend(placed.told);
        self.warnings.0.extend(placed.warnings.0);
        (self.document, self.values, self.scopes) = (placed.document, placed.values, placed.scopes);
    }

    fn finished(
        self,
        view: &TemplateView<'a>,
        settings: &SubstitutionSettings<'_, '_>,
    ) -> Result<SubstitutedDocument<'a>, Diagnostics> {
        let Self { outer, told, mut warnings, nested, .. } = self;
        unused(settings.chosen, &self.used, view)?;
        warnings.0.extend(told.substitutions.iter().filter_map(choose::unproven));
        warnings.0.extend(undistinguished(&nested));
        let document = outer.unwrap_or_else(|| finished(view));
        Ok(SubstitutedDocument { document, explained: told, warnings, nested })
    }
}

/// The document in which these nodes lack the first of their directives.
fn without_directives<'a>(document: &Out<'a>, names: &FxHashSet<&str>) -> Out<'a> {
    within_topology(document, &mut |section, body| {
        if section != "node_templates" {
            return body.clone();
        }
        let nodes = entries(body).into_iter().map(|(key, node)| {
            let is_passed = names.contains(&*key_name(&key));
            let node = if is_passed { without_directive(&node) } else { node };
            (key, node)
        });
        like(body, nodes.collect())
    })
}

/// The nodes of a round, replaced by their templates.
struct ReplacedNodes<'a> {
    placed: PlacedRound<'a>,
    /// The names of the nodes.
    used: Vec<String>,
    /// For each new node, the templates that contain it.
    ways: FxHashMap<String, Vec<FileId>>,
    told: Vec<ExplainedSubstitution>,
    nested: Vec<NestedDocument<'a>>,
}

/// Chooses a template for each node of a round, and replaces the nodes.
fn replaced<'a>(
    round: &Round<'_, '_, 'a>,
    scopes: &TemplateScopes,
) -> Result<ReplacedNodes<'a>, Diagnostics> {
    let settings = round.settings;
    let mut used = Vec::new();
    let choice = round.chosen(&mut used)?;
    let (choice, placed) = match placed(round, &choice, scopes.clone()) {
        Err(errors) if joint::may_help(&errors) => joint::choose(round, scopes, errors)?,
        placed => (choice, placed?),
    };
    let beside = || choice.chosen.iter().map(|candidate| round.beside(candidate)).collect();
    let nested = if settings.nests { beside() } else { Vec::new() };
    let (mut ways, mut told) = (FxHashMap::default(), Vec::new());
    let RoundChoice { chosen, explanations, .. } = choice;
    for ((candidate, names), mut why) in chosen.iter().zip(&placed.names).zip(explanations) {
        let node = &round.view.nodes[candidate.node];
        let mut way = round.ways.get(&node.name).cloned().unwrap_or_default();
        way.push(candidate.template.file);
        let names_of = names.values().flat_map(|name| placed.nodes.of(name));
        ways.extend(names_of.map(|name| (name.clone(), way.clone())));
        let requirements = explain::named(candidate, names);
        explain::complete(&mut why, node, requirements, settings.sources);
        told.push(why);
    }
    Ok(ReplacedNodes { placed, used, ways, told, nested })
}

/// The result of a round.
struct PlacedRound<'a> {
    document: Out<'a>,
    /// The topology with the values of functions, as far as they are known.
    values: Topology,
    /// For each substituted node the new names of its nodes.
    names: Vec<FxHashMap<String, String>>,
    /// The nodes that templates among these stand for.
    nodes: RepresentedNodes,
    scopes: TemplateScopes,
    warnings: Diagnostics,
    /// The selected nodes and fulfilled requirements.
    told: SubstitutionExplanation,
    cost: FulfilmentCost,
}

/// Applies the choices of a round. Then fulfils what the document leaves open from its own nodes
/// and from the existing ones.
fn placed<'a>(
    round: &Round<'_, '_, 'a>,
    choice: &RoundChoice<'_, 'a>,
    mut scopes: TemplateScopes,
) -> Result<PlacedRound<'a>, Diagnostics> {
    let settings = round.settings;
    let RoundChoice { chosen, uses, .. } = choice;
    let later = at_deployment(&round.view.document, settings);
    let graphs = [round.values, &later].map(|values| TopologyScope::of(values, settings.types));
    let graph = Some((round.values, graphs.each_ref()));
    let flat = flatten(round.view, settings.types, chosen, uses, graph)?;
    let open = ReadDocument::of(flat.document.clone(), None, settings);
    overused(&open.values, chosen, &flat.names, settings)?;
    fitted::unfit(&open.values, &flat, chosen, settings.types)?;
    let own = repeated(&flat, settings)?;
    let open = if own.is_changed { ReadDocument::of(own.document, None, settings) } else { open };
    let nodes = own.nodes;
    for names in &flat.names {
        scopes.add(names.values().flat_map(|name| nodes.of(name)));
    }
    let (names, mut warnings) = (flat.names, flat.warnings);
    let FulfilledDocument { document, values, told, warnings: more, cost } =
        fulfilled(open, &scopes, round.catalogue, settings)?;
    warnings.0.extend(more.0);
    Ok(PlacedRound { document, values, names, nodes, scopes, warnings, told, cost })
}

/// The document of a round with its nodes repeated, and what waited for their indices.
fn repeated<'a>(
    flat: &FlattenedTemplate<'a>,
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<RepresentedDocument<'a>, Diagnostics> {
    let document = counted(&flat.document, settings);
    let own = represented(document, None, settings.inputs, settings.types)?;
    match flat.waits {
        false => Ok(own),
        true => {
            let document = path::settled(&own.document)?;
            Ok(RepresentedDocument { document, is_changed: true, ..own })
        }
    }
}

/// A document whose node templates say by numbers how many nodes they stand for, as far as functions
/// give these.
fn counted<'a>(document: &Out<'a>, settings: &SubstitutionSettings<'_, '_>) -> Out<'a> {
    let calls = |body: &Out<'a>| {
        let count = entry(body, "instance_count");
        count.is_some_and(|count| function_in(&OutNode::root(&count).to_value()).is_some())
    };
    within_topology(document, &mut |section, all| {
        let nodes = entries(all);
        if section != "node_templates" || !nodes.iter().any(|(_, body)| calls(body)) {
            return all.clone();
        }
        let read = topology(document, settings);
        let count = |((key, body), node): ((OutKey<'a>, Out<'a>), &TopologyNode)| {
            let count = node.instance_count.as_ref().filter(|_| calls(&body));
            let known = count.filter(|count| function_in(&count.value).is_none());
            let Some(count) = known else { return (key, body) };
            let mut all = entries(&body);
            set(&mut all, "instance_count", |_| Some(Out::Value(count.value.clone())));
            (key, like(&body, all))
        };
        like(all, nodes.into_iter().zip(&read.nodes).map(count).collect())
    })
}

/// A document whose requirements may be open.
struct ReadDocument<'a> {
    document: Out<'a>,
    /// The document with the values of functions, where these are asked for.
    evaluated: Option<Out<'a>>,
    /// Its topology, with these values.
    values: Topology,
}

impl<'a> ReadDocument<'a> {
    fn of(
        document: Out<'a>,
        evaluated: Option<Out<'a>>,
        settings: &SubstitutionSettings<'_, '_>,
    ) -> Self {
        let values = topology(evaluated.as_ref().unwrap_or(&document), settings);
        Self { document, evaluated, values }
    }
}

/// The topology of a document, with the values of functions as far as they are known.
fn topology(document: &Out<'_>, settings: &SubstitutionSettings<'_, '_>) -> Topology {
    evaluated(document, settings, |_| {})
}

/// The same without what defaults of inputs give, since inputs may have other values at deployment.
fn at_deployment(document: &Out<'_>, settings: &SubstitutionSettings<'_, '_>) -> Topology {
    evaluated(document, settings, |input| input.default = None)
}

fn evaluated(
    document: &Out<'_>,
    settings: &SubstitutionSettings<'_, '_>,
    change: impl Fn(&mut TopologyParameter),
) -> Topology {
    let mut topology = Topology::read(document, &|_| false);
    for input in &mut topology.inputs {
        change(input);
        if let Some(given) = settings.inputs.get(&input.name) {
            input.value = Some(Spanned { value: given.clone(), span: input.span });
        }
    }
    evaluate(&mut topology, settings.types);
    topology
}

/// The cost of fulfilling requirements, most important part first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FulfilmentCost {
    /// How many optional relations stay open.
    open: u64,
    /// How many existing nodes are used.
    stored: usize,
}

/// A document in which all mandatory requirements are fulfilled.
struct FulfilledDocument<'a> {
    document: Out<'a>,
    values: Topology,
    told: SubstitutionExplanation,
    warnings: Diagnostics,
    cost: FulfilmentCost,
}

/// Warns of nodes that further templates fit as well as the one that was chosen. Versions before
/// 2.0 cannot say which one is meant.
fn undistinguished(nested: &[NestedDocument<'_>]) -> Vec<Diagnostic> {
    let ambiguous = |it: &&NestedDocument<'_>| {
        let others = nested.iter().map(|other| other.file).filter(|&file| file != it.file);
        others.into_iter().any(|file| it.fitting.contains(&file))
    };
    let warning = |it: &NestedDocument<'_>| {
        let message = format!(
            "the template that substitutes node \"{}\" cannot be told from another one in the archive by type and filter",
            it.node
        );
        let help = "look up the chosen template in `substitutions.json`, since other tools may choose another one";
        Diagnostic::warning(Code::AmbiguousSubstitution, message).at(it.span).help(help)
    };
    nested.iter().filter(ambiguous).map(warning).collect()
}

/// The template that each node comes from. Requirements of one template are not fulfilled by nodes
/// of another one.
#[derive(Clone, Default)]
struct TemplateScopes {
    by_node: FxHashMap<String, u32>,
    last: u32,
}

impl TemplateScopes {
    /// The scopes of a template in which nodes were substituted before: their metadata say which.
    fn of(view: &TemplateView<'_>) -> Self {
        let mut by_path: BTreeMap<Vec<String>, Vec<&String>> = BTreeMap::default();
        for node in &view.nodes {
            let path = node.substitutes();
            if !path.is_empty() {
                by_path.entry(path).or_default().push(&node.name);
            }
        }
        let mut scopes = Self::default();
        by_path.into_values().for_each(|names| scopes.add(names.into_iter()));
        scopes
    }

    /// Adds the nodes of a further template.
    fn add<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        self.last += 1;
        self.by_node.extend(names.map(|name| (name.clone(), self.last)));
    }

    fn scope(&self, name: &str) -> u32 {
        self.by_node.get(name).copied().unwrap_or(0)
    }
}

/// Fulfils what a document leaves open from its own nodes and from the existing ones.
fn fulfilled<'a>(
    ReadDocument { document, evaluated, values }: ReadDocument<'a>,
    scopes: &TemplateScopes,
    catalogue: &dyn Catalogue<'a>,
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<FulfilledDocument<'a>, Diagnostics> {
    let SubstitutionSettings { types, solver, .. } = *settings;
    let written = evaluated.as_ref().unwrap_or(&document);
    bounds::keep_bounds(&values, types, view::is_of_2_0(&document))?;
    let Some(inventory) = settings.inventory else {
        let (told, warnings, cost) = Default::default();
        return Ok(FulfilledDocument { document, values, told, warnings, cost });
    };
    let question = FulfilQuestion {
        document: OutNode::root(written),
        topology: &values,
        types,
        inventory,
        scope: &|name| scopes.scope(name),
        leaves: &|kind, requirement| {
            let fitting = catalogue.templates().iter().filter(|template| {
                template.kind.is_some_and(|of| candidate::is_a(types, of, kind))
            });
            let mut mapped = fitting.flat_map(|template| &template.substitution.requirements);
            mapped.any(|mapping| mapping.named.name == requirement)
        },
    };
    let mut told = SubstitutionExplanation::default();
    let (mut cost, mut is_found) = (FulfilmentCost::default(), false);
    let mut tell = |found: &Fulfilment, topology: &Topology| {
        told.found(found, topology, inventory, settings.sources);
        cost.open += found.open.iter().map(|(_, open)| open).sum::<u64>();
        cost.stored += found.stored().len();
        is_found |= !found.is_nothing();
    };
    let (document, evaluated, warnings) =
        fulfil::fulfil(document.clone(), evaluated.clone(), &question, solver, &mut tell)?;
    // What asks for replaced nodes may lead along relations that were found.
    let values = if is_found {
        ReadDocument::of(document.clone(), evaluated, settings).values
    } else {
        values
    };
    Ok(FulfilledDocument { document, values, told, warnings, cost })
}

/// Refuses capabilities that several mappings lead to, and that get more relations than they
/// permit.
fn overused(
    topology: &Topology,
    chosen: &[ChosenCandidate<'_, '_>],
    names: &[FxHashMap<String, String>],
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<(), Diagnostics> {
    let types = settings.types;
    let mut mapped = FxHashMap::default();
    for (candidate, names) in chosen.iter().zip(names) {
        for mapping in candidate.fit.requirements.iter().flat_map(|it| &it.mappings) {
            mapped.extend(mapping.targets.iter().filter_map(|(node, requirement)| {
                Some(((names.get(node)?.as_str(), requirement.as_str()), mapping.span))
            }));
        }
    }
    let uses = fulfil::capability_uses(topology, types);
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
        let defined = own.map_or(part.named.key.span(), |own| own.span);
        let error = bounds::used_too_often(capability, &node.name, bound, at, defined);
        if !errors.0.contains(&error) {
            errors.push(error);
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// Reports choices for nodes that no template can have.
fn unknown(chosen: &[ChosenTemplate], view: &TemplateView<'_>) -> Result<(), Diagnostics> {
    let names = || view.nodes.iter().filter(|it| it.is_substituted).map(|it| it.name.as_str());
    let may_be = |choice: &ChosenTemplate| {
        // The nodes of a substituting template have names that begin with that of the replaced
        // node.
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

/// Reports choices that were not used for any node.
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
        let there =
            view.node(&choice.node).map(|_| "give this node the directive `substitute`".into());
        let error = Diagnostic::error(Code::UnknownElement, message).help_opt(help.or(there));
        errors.push(error);
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// The document in the notation of its version: before TOSCA 2.0, `occurrences` for requirements that
/// may stay open, and neither these nor a `node_filter` for those with a target.
fn finished<'a>(view: &TemplateView<'a>) -> Out<'a> {
    let is_new = |assignment: &ViewedRequirement<'a>| {
        let keys = entries(&assignment.body);
        keys.iter().any(|(key, _)| match &*key_name(key) {
            "node_filter" => assignment.target.is_some(),
            keyname => matches!(keyname, "optional" | "count"),
        })
    };
    let has_new = || view.nodes.iter().flat_map(|node| &node.assignments).any(is_new);
    if view::is_of_2_0(&view.document) || !has_new() {
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
                set(&mut body, "requirements", |old| old.map(|old| like_list(old, list)));
                return (node.key.clone(), like(&node.body, body));
            }
            (node.key.clone(), node.body.clone())
        });
        like(value, nodes.collect())
    })
}

/// An input and its value, as messages show them.
pub(crate) fn assigned((name, value): &(String, Value)) -> String {
    format!("{name}={value}")
}
