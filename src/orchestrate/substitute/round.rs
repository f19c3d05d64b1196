//! Chooses a template for each node of one round.
//!
//! A template may contain nodes that are to be substituted themselves. Each of these costs as much
//! as its best candidate. To find that, the template replaces its node on trial, in a document that
//! contains only the nodes around that one.

use super::candidate::{
    self, CandidateFit, CandidateVariant, CatalogueTemplate, Facade, Refusal, RefusalKind,
};
use super::choose::{self, CandidateChoice, JudgedCandidate, WeighedCandidate};
use super::explain::{ExplainedDirective, ExplainedSubstitution, line_of};
use super::flatten::{ChosenCandidate, UsedCapabilities, flatten};
use super::known::{ChosenVariant, KnownBest, KnownChoices, NodeAspects};
use super::view::{TemplateView, ViewedNode, ViewedRequirement, file_of};
use super::{Catalogue, DEPTH, NestedDocument, SubstitutionSettings, repeated, topology};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::orchestrate::fulfil::{FilterGraph, GraphNode};
use crate::orchestrate::tree::{entries, key_name, like, within_topology};
use crate::topology::scope::TopologyScope;
use crate::topology::{NodeIndex, Topology};
use crate::tosca::Directive;
use crate::tosca::TypeId;
use crate::tosca::fit::RequirementFit;
use cuvee_text::decimal::Decimal;
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::Out;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The capabilities of a node that relations lead to, each with the place of one such relation.
type LedTo = BTreeMap<String, Span>;

/// A round: the nodes to be substituted, and the catalogue of templates.
pub(super) struct Round<'r, 't, 'a> {
    pub view: &'r TemplateView<'a>,
    /// The topology with the values of functions, as far as they are known.
    pub values: &'r Topology,
    /// The same topology, for filters that ask for more than values of one node.
    pub graph: &'r dyn FilterGraph,
    pub catalogue: &'r dyn Catalogue<'a>,
    pub settings: &'r SubstitutionSettings<'r, 't>,
    /// For each node, the templates that contain it, outermost first.
    pub ways: &'r FxHashMap<String, Vec<FileId>>,
    pub known: &'r KnownChoices,
}

/// The choices of a round.
pub(super) struct RoundChoice<'r, 'a> {
    pub chosen: Vec<ChosenCandidate<'r, 'a>>,
    /// The explanation of each choice.
    pub explanations: Vec<ExplainedSubstitution>,
    /// The capabilities that relations to substituted nodes lead to.
    pub uses: UsedCapabilities,
}

/// The candidates of a node, by ascending weight.
pub(super) struct NodeCandidates<'a> {
    /// The position of the node.
    pub node: usize,
    pub candidates: Vec<CandidateChoice<'a>>,
}

impl<'r, 'a> Round<'r, '_, 'a> {
    /// Chooses for each node. Adds the names of the substituted nodes to `used`.
    pub(super) fn chosen(
        &self,
        used: &mut Vec<String>,
    ) -> Result<RoundChoice<'r, 'a>, Diagnostics> {
        let mut errors = Diagnostics::default();
        let (uses, facades) = self.facades(&mut errors);
        let mut choice = RoundChoice { chosen: Vec::new(), explanations: Vec::new(), uses };
        for (position, facade) in facades {
            used.push(facade.node.name.clone());
            match self.choose(&facade) {
                Ok(candidate) => self.add(&mut choice, position, candidate),
                Err(error) => errors.push(*error),
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok(choice) }
    }

    /// The nodes without a candidate that have another directive.
    pub(super) fn passed(&self) -> Vec<ExplainedDirective> {
        let (_, facades) = self.facades(&mut Diagnostics::default());
        let sources = self.settings.sources;
        let passed = facades.into_iter().filter_map(|(_, facade)| {
            let next = facade.node.next?;
            if self.best(&facade, &mut FxHashSet::default()).is_some() {
                return None;
            }
            let reason = self.choose(&facade).err()?.message;
            let (node, directives) = (facade.node, [Directive::Substitute, next]);
            let place = line_of(node.span, sources);
            Some(ExplainedDirective::of(node.name.clone(), place, directives, &reason))
        });
        passed.collect()
    }

    /// All candidates of each node.
    pub(super) fn candidates(&self) -> Vec<NodeCandidates<'a>> {
        let (_, facades) = self.facades(&mut Diagnostics::default());
        let all = facades.into_iter().map(|(node, facade)| {
            let judged = self.judged(&facade, &mut FxHashSet::default());
            NodeCandidates { node, candidates: choose::all(&facade, self, &judged) }
        });
        all.collect()
    }

    /// The combination of one candidate for each node, given by its position.
    pub(super) fn combined(
        &self,
        candidates: &[NodeCandidates<'a>],
        at: &[usize],
    ) -> RoundChoice<'r, 'a> {
        let (uses, _) = self.uses(&mut Diagnostics::default());
        let mut choice = RoundChoice { chosen: Vec::new(), explanations: Vec::new(), uses };
        for (of_node, &at) in candidates.iter().zip(at) {
            let mut candidate = of_node.candidates[at].clone();
            candidate.explanation.jointly = at > 0;
            self.add(&mut choice, of_node.node, candidate);
        }
        choice
    }

    fn add(&self, choice: &mut RoundChoice<'r, 'a>, node: usize, candidate: CandidateChoice<'a>) {
        let CandidateChoice { template, variant, fit, explanation } = candidate;
        let template = &self.catalogue.templates()[template];
        choice.explanations.push(explanation);
        choice.chosen.push(ChosenCandidate { node, template, variant, fit });
    }

    /// The nodes that are to be substituted, with their positions, and the capabilities that
    /// relations to them lead to.
    fn facades(
        &self,
        errors: &mut Diagnostics,
    ) -> (UsedCapabilities, Vec<(usize, Facade<'r, 'a>)>) {
        let (uses, mut capabilities) = self.uses(errors);
        let mut facades = Vec::new();
        let nodes = self.view.nodes.iter().zip(self.values.node_ids()).enumerate();
        for (position, (node, values)) in nodes.filter(|(_, (node, _))| node.is_substituted) {
            let Some(kind) = node.kind else {
                let message = format!("the type `{}` is not defined", node.type_name);
                errors.push(Diagnostic::error(Code::UnknownType, message).at(node.span));
                continue;
            };
            let used = capabilities.remove(&position).unwrap_or_default();
            facades.push((position, self.facade(node, kind, values, used)));
        }
        (uses, facades)
    }

    /// A node as those see it that would substitute it.
    fn facade(
        &self,
        node: &'r ViewedNode<'a>,
        kind: TypeId,
        values: NodeIndex,
        used: LedTo,
    ) -> Facade<'r, 'a> {
        let place = GraphNode { graph: self.graph, node: values };
        let relationships = self.view.section("relationship_templates");
        let values = (self.values.node(values), place);
        Facade::of(self.settings.types, node, kind, values, relationships, used)
    }

    /// The choice for a node, as a document of its own.
    pub(super) fn beside(&self, chosen: &ChosenCandidate<'_, 'a>) -> NestedDocument<'a> {
        let node = &self.view.nodes[chosen.node];
        let values = self.values.node_ids().nth(chosen.node);
        let facade = node.kind.zip(values);
        let facade = facade.map(|(kind, values)| self.facade(node, kind, values, LedTo::default()));
        let fits = |template: &&CatalogueTemplate<'a>| {
            facade.as_ref().is_some_and(|facade| {
                candidate::judge_kind(self.settings.types, facade, template).is_ok()
            })
        };
        let fitting = self.catalogue.templates().iter().filter(fits);
        NestedDocument {
            node: node.name.clone(),
            file: chosen.template.file,
            document: chosen.variant.view.document.clone(),
            span: node.span,
            fitting: fitting.map(|template| template.file).collect(),
        }
    }

    fn way(&self, facade: &Facade<'_, 'a>) -> &'r [FileId] {
        self.ways.get(&facade.node.name).map(Vec::as_slice).unwrap_or_default()
    }

    fn choose(&self, facade: &Facade<'_, 'a>) -> Result<CandidateChoice<'a>, Box<Diagnostic>> {
        let aspects = NodeAspects::of(facade, self.catalogue, self.settings.chosen);
        let way = self.way(facade);
        let known = aspects
            .as_ref()
            .and_then(|aspects| self.known.get(aspects, way, &mut FxHashSet::default())?.chosen);
        if let Some(choice) = known.and_then(|known| self.likewise(facade, &known)) {
            return Ok(choice);
        }
        let mut met = FxHashSet::default();
        let judged = self.judged(facade, &mut met);
        let (choice, chosen) = choose::choose(facade, self, judged)?;
        if let Some(aspects) = aspects {
            let weight = Some(choice.explanation.weight);
            self.known.insert(aspects, way, met, KnownBest { weight, chosen: Some(chosen) });
        }
        Ok(choice)
    }

    /// The choice for a node that is like an earlier one.
    fn likewise(
        &self,
        facade: &Facade<'_, 'a>,
        chosen: &ChosenVariant,
    ) -> Option<CandidateChoice<'a>> {
        let template = &self.catalogue.templates()[chosen.template];
        let variants = self.catalogue.variants(chosen.template, facade).ok()?;
        let variant = variants.get(chosen.variant)?.clone();
        let fit = candidate::judge(self.settings.types, facade, template, &variant.view).ok()?;
        let node = facade.node.name.clone();
        let explanation = ExplainedSubstitution { node, ..chosen.explanation.clone() };
        Some(CandidateChoice { template: chosen.template, variant, fit, explanation })
    }

    /// The weight of the best candidate of a node; `None` if there is none. Adds the templates that
    /// it depends on to `met`.
    fn best(&self, facade: &Facade<'_, 'a>, met: &mut FxHashSet<FileId>) -> Option<Decimal> {
        let aspects = NodeAspects::of(facade, self.catalogue, self.settings.chosen);
        let way = self.way(facade);
        if let Some(aspects) = &aspects
            && let Some(known) = self.known.get(aspects, way, met)
        {
            return known.weight;
        }
        let mut own = FxHashSet::default();
        let judged = self.judged(facade, &mut own);
        met.extend(&own);
        // An ambiguous choice also has a weight. The ambiguity is reported when the choice is made.
        let weight = choose::least(facade, self, &judged);
        if let Some(aspects) = aspects {
            let chosen = choose::choose(facade, self, judged).ok().map(|(_, chosen)| chosen);
            self.known.insert(aspects, way, own, KnownBest { weight, chosen });
        }
        weight
    }

    /// Judges all templates of the catalogue for a node.
    fn judged(
        &self,
        facade: &Facade<'_, 'a>,
        met: &mut FxHashSet<FileId>,
    ) -> Vec<JudgedCandidate<'a>> {
        let mut judged = Vec::new();
        for (position, template) in self.catalogue.templates().iter().enumerate() {
            let variants = match self.variants(position, template, facade, met) {
                Ok(variants) => variants,
                Err(refusal) => {
                    judged.push(JudgedCandidate { template: position, fits: Err(refusal) });
                    continue;
                }
            };
            for (at, variant) in variants.iter().enumerate() {
                let fit = candidate::judge(self.settings.types, facade, template, &variant.view);
                let fits = fit.map(|fit| {
                    let weight = self.weight(facade, template, variant, &fit, met);
                    WeighedCandidate { at, variant: variant.clone(), fit, weight }
                });
                judged.push(JudgedCandidate { template: position, fits });
            }
        }
        judged
    }

    /// The variants of a template that fits the type of a node and does not contain the node
    /// already.
    fn variants(
        &self,
        position: usize,
        template: &CatalogueTemplate<'a>,
        facade: &Facade<'_, 'a>,
        met: &mut FxHashSet<FileId>,
    ) -> Result<Rc<[CandidateVariant<'a>]>, Refusal> {
        let at = template.substitution.node.span();
        if candidate::is_counted(facade.node) {
            let message = "the node stands for several instances, and each of them would have to be substituted by itself";
            return Err(Refusal::new(0, message, at).here(facade.node.span));
        }
        candidate::judge_kind(self.settings.types, facade, template)?;
        met.insert(template.file);
        if template.file == self.settings.file || self.way(facade).contains(&template.file) {
            let refusal = Refusal::new(5, "it would substitute a node that is a part of it", at);
            return Err(refusal.here(facade.node.span).of_kind(RefusalKind::Cyclic));
        }
        self.catalogue.variants(position, facade)
    }

    /// A variant that would fit if its inputs were open, if no other variant does.
    pub(super) fn open_variant(
        &self,
        facade: &Facade<'_, 'a>,
        template: usize,
    ) -> Option<CandidateVariant<'a>> {
        let variant = self.catalogue.open_variant(template, facade)?;
        let template = &self.catalogue.templates()[template];
        let fit = candidate::judge(self.settings.types, facade, template, &variant.view);
        fit.is_ok().then_some(variant)
    }

    /// The weight of a variant, including the best candidates of its own nodes that are to be
    /// substituted; `None` if one of them has no candidate.
    fn weight(
        &self,
        facade: &Facade<'_, 'a>,
        template: &CatalogueTemplate<'a>,
        variant: &CandidateVariant<'a>,
        fit: &CandidateFit,
        met: &mut FxHashSet<FileId>,
    ) -> Option<Decimal> {
        let Some(own) = variant.facades else { return Some(variant.weight) };
        let nested = self.nested(facade, template, variant, fit, met);
        // Errors of the trial are reported when the template is chosen.
        nested.unwrap_or(Some(own)).and_then(|nested| variant.weight.plus(nested))
    }

    /// The weight of the best candidates of all nodes of a variant that are to be substituted; the
    /// inner `None` if one has no candidate, the outer if the trial fails.
    fn nested(
        &self,
        facade: &Facade<'_, 'a>,
        template: &CatalogueTemplate<'a>,
        variant: &CandidateVariant<'a>,
        fit: &CandidateFit,
        met: &mut FxHashSet<FileId>,
    ) -> Option<Option<Decimal>> {
        let mut way = self.way(facade).to_vec();
        way.push(template.file);
        if way.len() > DEPTH {
            return Some(None);
        }
        let types = self.settings.types;
        let view = TemplateView::of(self.around(facade.node), types);
        let round = Round { view: &view, ..*self };
        let (uses, _) = round.uses(&mut Diagnostics::default());
        let node = view.position(&facade.node.name)?;
        let (variant, fit) = (variant.clone(), fit.clone());
        let chosen = [ChosenCandidate { node, template, variant, fit }];
        let flat = flatten(&view, types, &chosen, &uses, None);
        let flat = flat.ok()?;
        let own = repeated(&flat, self.settings).ok()?;
        let names = flat.names.first()?.values().flat_map(|name| own.nodes.of(name));
        let ways = names.map(|name| (name.clone(), way.clone())).collect();
        let values = topology(&own.document, self.settings);
        let view = TemplateView::of(own.document, types);
        let graph = TopologyScope::of(&values, types);
        let round = Round { view: &view, values: &values, graph: &graph, ways: &ways, ..*self };
        Some(round.all_best(met))
    }

    /// The total weight of the best candidates of all nodes that come from templates.
    fn all_best(&self, met: &mut FxHashSet<FileId>) -> Option<Decimal> {
        let (_, mut capabilities) = self.uses(&mut Diagnostics::default());
        let nodes = self.view.nodes.iter().zip(self.values.node_ids()).enumerate();
        let mut all = Decimal::ZERO;
        for (position, (node, values)) in nodes {
            if node.is_substituted && self.ways.contains_key(&node.name) {
                let used = capabilities.remove(&position).unwrap_or_default();
                let facade = self.facade(node, node.kind?, values, used);
                match self.best(&facade, met) {
                    Some(weight) => all = all.plus(weight)?,
                    // It follows another directive.
                    None if node.next.is_some() => {}
                    None => return None,
                }
            }
        }
        Some(all)
    }

    /// The document with only a node, the targets of its relations, and the sources of relations to
    /// it.
    fn around(&self, node: &ViewedNode<'a>) -> Out<'a> {
        let leads = |from: &ViewedNode<'a>, to: &str| {
            from.assignments.iter().any(|it| it.target.as_deref() == Some(to))
        };
        let near = self.view.nodes.iter().filter(|other| {
            other.name == node.name || leads(node, &other.name) || leads(other, &node.name)
        });
        let near: FxHashSet<&str> = near.map(|node| &*node.name).collect();
        within_topology(&self.view.document, &mut |section, body| {
            let mut all = entries(body);
            match section {
                "node_templates" => all.retain(|(key, _)| near.contains(&*key_name(key))),
                "inputs" => return body.clone(),
                _ => all.clear(),
            }
            like(body, all)
        })
    }

    /// The capabilities of nodes to be substituted that relations lead to.
    fn uses(&self, errors: &mut Diagnostics) -> (UsedCapabilities, FxHashMap<usize, LedTo>) {
        let mut uses = UsedCapabilities::default();
        let mut by_node: FxHashMap<usize, LedTo> = FxHashMap::default();
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
        for (node, capability, span) in self.view.called_parts() {
            let kind = self.view.nodes[node].kind.filter(|_| self.view.nodes[node].is_substituted);
            let known = kind.map(|kind| &self.settings.types.effective(kind).capabilities);
            if known.is_some_and(|known| known.get(&*capability).is_some()) {
                by_node.entry(node).or_default().entry(capability).or_insert(span);
            }
        }
        (uses, by_node)
    }

    /// The only capability of a node that a relation can lead to.
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
