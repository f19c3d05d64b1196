//! Replaces nodes by the nodes of the templates that substitute them.
//!
//! All nodes of a round are replaced at once, so their order does not matter. A relation between
//! two of them becomes a relation between nodes that replace them.

use super::candidate::{
    CandidateFit, CandidateVariant, CatalogueTemplate, FitRequirement, MappedTo,
};
use super::defaults::{OwnValue, add_relationship_type, add_to_relationship, add_to_template};
use super::represent::index_asked;
use super::rewrite::{DEPTH, GivenTopology, WrittenIn};
use super::sections::path_of;
use super::view::{TemplateView, ViewedNode, ViewedRequirement, entry};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::orchestrate::tree::{
    MapEntries, entries, items, key_name, like, like_list, set, set_open,
};
use crate::topology::scope::TopologyScope;
use crate::topology::{Topology, TopologyElement, relationship_type, requirement_definition};
use crate::tosca::function::function_in;
use crate::tosca::requirement::bounds;
use crate::tosca::substitution::MappedPart;
use crate::tosca::v2_0::function::RELATIONSHIP_INDEX;
use crate::tosca::{EffectiveType, Family, PropertyDefinition, TypeId, TypeRef, Types};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A node with the template that was chosen to substitute it.
pub(crate) struct ChosenCandidate<'c, 'a> {
    /// The position of the node.
    pub node: usize,
    pub template: &'c CatalogueTemplate<'a>,
    pub variant: CandidateVariant<'a>,
    pub fit: CandidateFit,
}

/// The capabilities that relations to substituted nodes lead to, by the positions of the source and
/// its assignment.
pub(crate) type UsedCapabilities = FxHashMap<(usize, usize), String>;

/// A template before its nodes are replaced, with the defaults of its inputs and without them.
pub(crate) type FlattenedGraph<'f, 't> = (&'f Topology, [&'f TopologyScope<'f, 't>; 2]);

/// A template while its nodes are replaced.
pub(super) struct Flattening<'f, 't, 'a> {
    pub(super) outer: &'f TemplateView<'a>,
    pub(super) types: &'f Types<'t>,
    pub(super) chosen: &'f [ChosenCandidate<'f, 'a>],
    pub(super) uses: &'f UsedCapabilities,
    /// What functions of the template ask, if those that lead through replaced nodes have their
    /// values.
    pub(super) graph: Option<FlattenedGraph<'f, 't>>,
    /// For each choice, what is known of its inputs.
    pub(super) given: Vec<GivenTopology>,
    /// Whether parts of values wait for the indices of nodes.
    pub(super) waits: Cell<bool>,
    /// For each substituted node, by name, the position of its choice.
    pub(super) by_node: FxHashMap<&'f str, usize>,
    /// For each choice, the new names of its nodes and other elements.
    pub(super) names: Vec<FxHashMap<String, String>>,
    /// For each choice, its selected nodes that a relation is mapped onto, and the nodes that they
    /// become.
    targets: Vec<FxHashMap<String, String>>,
    pub(super) found: RefCell<Diagnostics>,
}

/// A template whose nodes were replaced.
pub(crate) struct FlattenedTemplate<'a> {
    pub document: Out<'a>,
    /// For each choice, the new names of its nodes and other elements.
    pub names: Vec<FxHashMap<String, String>>,
    /// For each choice, its selected nodes that a relation is mapped onto, and the nodes that they
    /// become.
    pub targets: Vec<FxHashMap<String, String>>,
    /// Whether parts of values wait until nodes have their indices, for [`super::path::settled`].
    pub waits: bool,
    pub warnings: Diagnostics,
}

/// Replaces nodes by what was chosen for them.
///
/// # Errors
/// `dangling-reference` if a name has no counterpart any more.
pub(crate) fn flatten<'f, 't, 'a>(
    outer: &'f TemplateView<'a>,
    types: &'f Types<'t>,
    chosen: &'f [ChosenCandidate<'f, 'a>],
    uses: &'f UsedCapabilities,
    graph: Option<FlattenedGraph<'f, 't>>,
) -> Result<FlattenedTemplate<'a>, Diagnostics> {
    let by_node = |(at, it): (usize, &ChosenCandidate<'_, 'a>)| (&*outer.nodes[it.node].name, at);
    let mut flattening = Flattening {
        outer,
        types,
        chosen,
        uses,
        graph,
        given: chosen.iter().map(|_| GivenTopology::default()).collect(),
        waits: Cell::new(false),
        by_node: chosen.iter().enumerate().map(by_node).collect(),
        names: new_names(outer, chosen),
        targets: vec![FxHashMap::default(); chosen.len()],
        found: RefCell::default(),
    };
    for position in 0..chosen.len() {
        let targets = flattening.selected_targets(position);
        flattening.names[position].extend(targets.clone());
        flattening.targets[position] = targets;
    }
    let document = flattening.document();
    let Flattening { mut names, targets, found, waits, .. } = flattening;
    for (names, targets) in names.iter_mut().zip(&targets) {
        names.retain(|name, _| !targets.contains_key(name));
    }
    let found = found.into_inner();
    match found.has_errors() {
        true => Err(found),
        false => {
            let (waits, warnings) = (waits.get(), found);
            Ok(FlattenedTemplate { document, names, targets, waits, warnings })
        }
    }
}

/// The new names of nodes and other elements: that of the node which they replace comes first. A
/// number is added if the name is taken.
fn new_names(
    outer: &TemplateView<'_>,
    chosen: &[ChosenCandidate<'_, '_>],
) -> Vec<FxHashMap<String, String>> {
    let mut taken: FxHashSet<String> = element_names(outer).collect();
    let names = |chosen: &ChosenCandidate<'_, '_>| {
        let mut names = FxHashMap::default();
        for inner in element_names(&chosen.variant.view) {
            names.entry(inner).or_insert_with_key(|inner| {
                let whole = format!("{}_{inner}", outer.nodes[chosen.node].name);
                let numbered = (2..).map(|number| format!("{whole}_{number}"));
                let mut free = std::iter::once(whole.clone()).chain(numbered);
                let new = free.find(|name| !taken.contains(name)).unwrap_or(whole);
                taken.insert(new.clone());
                new
            });
        }
        names
    };
    chosen.iter().map(names).collect()
}

/// The names of what a template has in sections to which substituting templates add entries.
fn element_names(view: &TemplateView<'_>) -> impl Iterator<Item = String> {
    let sections = SECTIONS.into_iter().filter_map(|name| view.section(name));
    let all = sections.flat_map(|section| {
        let listed = items(&section).into_iter().flat_map(|item| entries(&item));
        entries(&section).into_iter().chain(listed).collect::<MapEntries<'_>>()
    });
    all.map(|(key, _)| key_name(&key).into_owned())
}

/// The sections of a topology to which substituting templates add entries.
const SECTIONS: [&str; 5] =
    ["node_templates", "relationship_templates", "groups", "policies", "workflows"];

/// The operations with which generated workflows deploy a node.
const DEPLOYING: [&str; 3] = ["create", "configure", "start"];

impl<'f, 't, 'a> Flattening<'f, 't, 'a> {
    fn document(&self) -> Out<'a> {
        let mut all = entries(&self.outer.document);
        super::types::come_along(self, &mut all);
        for (key, value) in &mut all {
            if key_name(key) == "topology_template" {
                *value = self.topology(value);
            }
        }
        like(&self.outer.document, all)
    }

    fn topology(&self, topology: &Out<'a>) -> Out<'a> {
        let mut all = entries(topology);
        for name in SECTIONS {
            let inner = self.chosen.iter().any(|it| it.variant.view.has_section(name));
            if inner && !all.iter().any(|(key, _)| key_name(key) == name) {
                let none = match name {
                    "policies" => Out::Seq { items: Default::default(), like: None },
                    _ => Out::Map { entries: Default::default(), like: None },
                };
                all.push((OutKey::New(name.into()), none));
            }
        }
        for (key, section) in &mut all {
            *section = match &*key_name(key) {
                "node_templates" => self.nodes(section),
                "relationship_templates" => self.relationships(section),
                "groups" => self.groups(section),
                "policies" => self.policies(section),
                "workflows" => self.workflows(section),
                "substitution_mappings" => self.substitution(section),
                "inputs" => section.clone(),
                _ => self.value(section, WrittenIn::Outer(None)),
            };
        }
        super::types::functions(self, &mut all);
        like(topology, all)
    }

    fn nodes(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = Vec::new();
        for (position, node) in self.outer.nodes.iter().enumerate() {
            match self.by_node.get(&*node.name) {
                Some(&chosen) => self.inner_nodes(chosen, &mut all),
                None => all.push((node.key.clone(), self.outer_node(position, node))),
            }
        }
        like(section, all)
    }

    /// A node that is not replaced.
    fn outer_node(&self, position: usize, node: &ViewedNode<'a>) -> Out<'a> {
        let at = WrittenIn::Outer(Some(&node.name));
        let mut all = entries(&node.body);
        let mut is_changed = false;
        for (key, value) in &mut all {
            let changed = match &*key_name(key) {
                "requirements" => self.outer_requirements(position, node, value),
                "metadata" => None,
                _ => Some(self.value(value, at)),
            };
            if let Some(changed) = changed {
                (*value, is_changed) = (changed, true);
            }
        }
        if let Some(kind) = node.kind {
            let kind = self.types.effective(kind);
            is_changed |= self.with_own(at, |own| add_to_template(&mut all, kind, own));
        }
        if is_changed { like(&node.body, all) } else { node.body.clone() }
    }

    /// Adds the defaults of types that mean something else in the result. Returns whether there are
    /// any.
    fn with_own(&self, at: WrittenIn<'_>, add: impl FnOnce(&OwnValue<'_, 'a>)) -> bool {
        let is_given = Cell::new(false);
        add(&|it| self.by_type(it, at).inspect(|_| is_given.set(true)));
        is_given.get()
    }

    /// The default of a type, if it means something else in the result. A fixed value stays.
    fn by_type(&self, definition: &PropertyDefinition<'_>, at: WrittenIn<'_>) -> Option<Out<'a>> {
        let default = definition.default.filter(|_| definition.value.is_none())?;
        // Few defaults call functions.
        if default.kind() == NodeKind::Scalar {
            return None;
        }
        let default = default.to_value();
        function_in(&default)?;
        self.changed(&Out::Value(default), at, DEPTH)
    }

    fn outer_requirements(
        &self,
        position: usize,
        node: &ViewedNode<'a>,
        list: &Out<'a>,
    ) -> Option<Out<'a>> {
        let mut all = Vec::new();
        for (index, assignment) in node.assignments.iter().enumerate() {
            let at = WrittenIn::Assigned(&node.name, index);
            let body = match self.end(position, index, assignment) {
                Some((target, capability)) => {
                    let mut body = self.assigned_body(&assignment.body, at);
                    lead(&mut body, &target, Some(&capability));
                    Some(written(Some(&assignment.body), body))
                }
                None => Some(self.value(&assignment.body, at)),
            };
            let body = body.unwrap_or_else(|| assignment.body.clone());
            let body = self.with_defaults(body, at);
            all.push((assignment.owner, with_body(&assignment.item, body)));
        }
        Some(like_list(list, all))
    }

    /// An assignment with the defaults of its relationship that mean something else in the result.
    fn with_defaults(&self, body: Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let Some(kind) = self.relationship_type(at) else { return body };
        let properties = kind.properties.values().map(|part| &part.definition);
        let mut all = entries(&body);
        let is_given = self.with_own(at, |own| add_to_relationship(&mut all, properties, own));
        if is_given { written(Some(&body), all) } else { body }
    }

    /// A relationship template as the relation at a place means it.
    pub(super) fn relationship_template(&self, template: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let written = self.value(template, at);
        let Some(kind) = self.relationship_type(at) else { return written };
        let mut all = entries(&written);
        let is_given = self.with_own(at, |own| add_to_template(&mut all, kind, own));
        if is_given { like(&written, all) } else { written }
    }

    /// The type of the relationship of an assignment.
    fn relationship_type(&self, at: WrittenIn<'_>) -> Option<&'f EffectiveType<'t>> {
        let (topology, _) = self.graph?;
        let Some(TopologyElement::Relation(id)) = self.site(topology, at) else { return None };
        Some(self.types.effective(relationship_type(topology, self.types, id)?))
    }

    /// The new target of an assignment that names a replaced node.
    fn end(
        &self,
        source: usize,
        assignment: usize,
        viewed: &ViewedRequirement<'_>,
    ) -> Option<(String, String)> {
        let &chosen = self.by_node.get(viewed.target.as_deref()?)?;
        let capability = self.uses.get(&(source, assignment))?;
        let (node, inner) = self.capability(chosen, capability)?;
        Some((node, inner))
    }

    /// The new place of a capability of a replaced node.
    fn capability(&self, chosen: usize, capability: &str) -> Option<MappedTo> {
        let (node, inner) = self.chosen[chosen].fit.capabilities.get(capability)?;
        Some((self.names[chosen].get(node)?.clone(), inner.clone()))
    }

    fn inner_nodes(&self, chosen: usize, all: &mut MapEntries<'a>) {
        self.dropped(chosen);
        self.mapped_operations(chosen);
        let outer = &self.outer.nodes[self.chosen[chosen].node];
        let relations = self.relations_of(chosen);
        let mut gone = comments_of(outer);
        for inner in &self.chosen[chosen].variant.view.nodes {
            if self.targets[chosen].contains_key(&inner.name) {
                continue;
            }
            let Some(new) = self.names[chosen].get(&inner.name) else { continue };
            let key = match &inner.key {
                OutKey::Source(key) | OutKey::Renamed(key, _) => {
                    OutKey::Renamed(*key, Cow::Owned(new.clone()))
                }
                OutKey::New(_) => OutKey::New(new.clone().into()),
            };
            let own = relations.get(&*inner.name);
            let node = self.inner_node(chosen, inner, outer, own);
            all.push(match std::mem::take(&mut gone) {
                gone if gone.is_empty() => (key, node),
                gone => (key, Out::Below(gone, Box::new(node))),
            });
        }
    }

    /// A node of a substituting template.
    fn inner_node(
        &self,
        chosen: usize,
        inner: &ViewedNode<'a>,
        outer: &ViewedNode<'a>,
        relations: Option<&MappedRelations<'_, 'a>>,
    ) -> Out<'a> {
        let at = WrittenIn::Inner(chosen, &[]);
        let mut all = entries(&inner.body);
        let list = self.inner_requirements(chosen, inner, relations);
        set(&mut all, "requirements", |old| {
            list.map(|list| match old {
                Some(old) => like_list(old, list),
                None => Out::Seq { items: list.into(), like: None },
            })
        });
        for (key, value) in &mut all {
            if !matches!(&*key_name(key), "requirements" | "metadata" | "type") {
                *value = self.value(value, at);
            }
        }
        substituting(&mut all, outer);
        like(&inner.body, all)
    }

    /// The assignments of a node of a substituting template. Those that are mapped lead to the
    /// targets of the replaced node's relations.
    fn inner_requirements(
        &self,
        chosen: usize,
        inner: &ViewedNode<'a>,
        relations: Option<&MappedRelations<'_, 'a>>,
    ) -> Option<Vec<(Option<Node<'a>>, Out<'a>)>> {
        let at = WrittenIn::Inner(chosen, &[]);
        let mut all = Vec::new();
        for placed in placed(inner, relations.map_or(&[], Vec::as_slice)) {
            let own = placed.assignment.map(|index| &inner.assignments[index]);
            let owner = own.filter(|_| placed.is_first).and_then(|own| own.owner);
            let assignment = match (own, placed.relation) {
                (Some(own), Some(relation)) => {
                    let wanted = self.relationship_of(inner, placed.name);
                    self.mapped(chosen, own, (relation, wanted))
                }
                (Some(own), None) if placed.is_first => self.inner_assignment(chosen, own),
                (Some(own), None) => {
                    left_open(own, self.assigned_body(&own.body, at), placed.mapped)
                }
                (None, Some(relation)) => {
                    let mut body = MapEntries::new();
                    let wanted = self.relationship_of(inner, placed.name);
                    self.add_outer(relation, wanted, &mut body);
                    lead(&mut body, &relation.target, relation.capability.as_deref());
                    named(placed.name, written(None, body))
                }
                (None, None) => match self.left_by(inner, placed.name, placed.mapped) {
                    Some(open) => open,
                    None => continue,
                },
            };
            all.push((owner, assignment));
        }
        (!all.is_empty()).then_some(all)
    }

    /// Where a relation of a replaced node is in the result, given by the name of its requirement and
    /// its index there: the name of the node, its requirement, and the index there.
    pub(super) fn relation_place(
        &self,
        chosen: usize,
        requirement: &str,
        index: usize,
    ) -> Option<RelationPlace> {
        let places = self.given[chosen].places.get_or_init(|| self.relation_places(chosen));
        places.get(requirement)?.get(index).cloned().flatten()
    }

    /// For each requirement of a replaced node where its relations are in the result.
    fn relation_places(&self, chosen: usize) -> FxHashMap<String, Vec<Option<RelationPlace>>> {
        let candidate = &self.chosen[chosen];
        let relations = self.relations_of(chosen);
        let mut by_slot: FxHashMap<(&str, usize), RelationPlace> = FxHashMap::default();
        for inner in &candidate.variant.view.nodes {
            let (Some(own), Some(node)) =
                (relations.get(&*inner.name), self.names[chosen].get(&inner.name))
            else {
                continue;
            };
            let mut indices: FxHashMap<&str, u64> = FxHashMap::default();
            for placed in placed(inner, own) {
                let index = indices.entry(placed.name).or_default();
                let place = placed.relation.map(|relation| (relation.slot, *index));
                *index = index.saturating_add(placed.count(inner));
                if let Some((slot, index)) = place {
                    let place = RelationPlace {
                        node: node.clone(),
                        requirement: placed.name.to_owned(),
                        index,
                    };
                    by_slot.entry(slot).or_insert(place);
                }
            }
        }
        let of = |fit: &FitRequirement| {
            // Slots come in the order in which they are mapped, relations in that of assignments.
            let mut slots: Vec<_> = (0..fit.slots.len()).collect();
            slots.sort_by_key(|&slot| fit.slots[slot]);
            let slots = slots.into_iter();
            let places = slots.map(|slot| by_slot.get(&(&*fit.name, slot)).cloned());
            (fit.name.clone(), places.collect())
        };
        candidate.fit.requirements.iter().map(of).collect()
    }

    /// An assignment for what a requirement without any lacks beside the relations that are mapped
    /// onto it: it has to have as many as its type says.
    fn left_by(&self, inner: &ViewedNode<'_>, name: &str, mapped: u64) -> Option<Out<'a>> {
        let part = self.types.effective(inner.kind?).requirements.get(name)?;
        let lacks = bounds(&part.definition).min.checked_sub(mapped).filter(|lacks| *lacks > 0)?;
        let is_assigned = inner.of_name(name).next().is_some();
        let count = Out::Value(Value::from(i64::try_from(lacks).unwrap_or(i64::MAX)));
        let body =
            Out::Map { entries: vec![(OutKey::New("count".into()), count)].into(), like: None };
        (mapped > 0 && !is_assigned).then(|| named(name, body))
    }

    /// A mapped assignment, with its target.
    fn mapped(
        &self,
        chosen: usize,
        assignment: &ViewedRequirement<'a>,
        (relation, wanted): (&MappedRelation<'_, 'a>, Option<TypeId>),
    ) -> Out<'a> {
        let mut body = self.assigned_body(&assignment.body, WrittenIn::Inner(chosen, &[]));
        for keyname in ["optional", "count", "occurrences"] {
            set(&mut body, keyname, |_| None);
        }
        self.rename_relationship(chosen, &mut body);
        self.add_outer(relation, wanted, &mut body);
        lead(&mut body, &relation.target, relation.capability.as_deref());
        with_body(&assignment.item, written(Some(&assignment.body), body))
    }

    /// Adds to an assignment the relationship of the relation that is mapped onto it, and what that
    /// allocates. What the assignment has itself stays.
    fn add_outer(
        &self,
        relation: &MappedRelation<'_, 'a>,
        wanted: Option<TypeId>,
        body: &mut MapEntries<'a>,
    ) {
        let mut said = entries(&relation.outer.body);
        self.add_defined(relation, wanted, &mut said);
        let outer = |keyname: &str| {
            let (_, outer) = said.iter().find(|(key, _)| key_name(key) == keyname)?;
            Some(self.value(outer, relation.at))
        };
        if let Some(outer) = outer("allocation") {
            set(body, "allocation", |own| Some(own.map_or(outer.clone(), |it| merged(it, &outer))));
        }
        let Some(outer) = outer("relationship") else { return };
        let is_map = |out: &Out<'a>| !entries(out).is_empty();
        let has_values = is_map(&outer) || self.is_template(&outer);
        set(body, "relationship", |own| match own {
            None => Some(outer),
            Some(own) if is_map(own) && is_map(&outer) => Some(merged(own, &outer)),
            Some(own) => {
                if has_values {
                    let message = "this relation is mapped onto a requirement with a relationship of its own, so what its own relationship says is left out";
                    let warning = Diagnostic::warning(Code::DroppedAssignment, message);
                    self.found.borrow_mut().push(warning.at(relation.outer.span));
                }
                Some(own.clone())
            }
        });
    }

    /// Adds to an assignment of a replaced node what its new place does not say of the relationship,
    /// where one of the type `wanted` is expected.
    fn add_defined(
        &self,
        relation: &MappedRelation<'_, 'a>,
        wanted: Option<TypeId>,
        said: &mut MapEntries<'a>,
    ) {
        let Some((topology, _)) = self.graph else { return };
        let Some(TopologyElement::Relation(id)) = self.site(topology, relation.at) else { return };
        // What the definition of the requirement gives counts before what the type gives.
        if let Some((definition, _)) = requirement_definition(topology, self.types, id) {
            let own =
                |it: &PropertyDefinition<'_>| Some(Out::Value(it.value.or(it.default)?.to_value()));
            add_to_relationship(said, definition.properties.iter(), &own);
            let mut operations = definition.interfaces.iter().flat_map(|it| &it.operations);
            if operations.any(|operation| operation.implementation.is_some()) {
                let message = format!(
                    "this relation is mapped onto another requirement, so the operations that the type of the node gives the relationships of `{}` are left out",
                    relation.outer.name
                );
                let warning = Diagnostic::warning(Code::DroppedAssignment, message);
                self.tell(warning.at(relation.outer.span));
            }
        }
        if let Some(kind) = relationship_type(topology, self.types, id) {
            let own = |it: &PropertyDefinition<'_>| index_asked(it, RELATIONSHIP_INDEX);
            let properties = self.types.effective(kind).properties.values();
            add_to_relationship(said, properties.map(|part| &part.definition), &own);
            let [own, other] = [Some(kind), wanted].map(|kind| kind.map(TypeRef::Defined));
            let is_narrower = own
                .zip(other)
                .is_some_and(|(own, other)| own != other && self.types.derives(own, other));
            if is_narrower {
                add_relationship_type(said, &self.types.called(None, kind));
            }
        }
    }

    /// The type of the relationships of a requirement of a substituting template's node.
    fn relationship_of(&self, inner: &ViewedNode<'_>, requirement: &str) -> Option<TypeId> {
        let part = self.types.effective(inner.kind?).requirements.get(requirement)?;
        let name = part.definition.relationship?;
        self.types.find_in(Some(name.span().file), Family::Relationship, name.text()?)
    }

    /// Whether a name is that of a relationship template.
    fn is_template(&self, name: &Out<'a>) -> bool {
        let templates = self.outer.section("relationship_templates");
        let name = OutNode::root(name);
        templates.zip(name.text()).is_some_and(|(all, name)| entry(&all, &name).is_some())
    }

    /// An assignment that is not mapped; only names in it change.
    fn inner_assignment(&self, chosen: usize, assignment: &ViewedRequirement<'a>) -> Out<'a> {
        let at = WrittenIn::Inner(chosen, &[]);
        let mut body = self.assigned_body(&assignment.body, at);
        self.rename_relationship(chosen, &mut body);
        let new = assignment.target.as_ref().and_then(|target| self.names[chosen].get(target));
        let is_short = entries(&assignment.body).is_empty();
        if is_short && new.is_none() {
            return assignment.item.clone();
        }
        if let Some(new) = new {
            lead(&mut body, new, None);
            let old = if is_short { None } else { entry(&assignment.body, "node") };
            let old = self.value(old.as_ref().unwrap_or(&assignment.body), at);
            // The index of the target stays behind its name.
            if let [_, index] = &*items(&old) {
                set(&mut body, "node", |node| Some(path_of(&old, [node?.clone(), index.clone()])));
            }
        }
        with_body(&assignment.item, written(Some(&assignment.body), body))
    }

    /// The entries of an assignment in its new place; none if it is written in short.
    fn assigned_body(&self, body: &Out<'a>, at: WrittenIn<'_>) -> MapEntries<'a> {
        let mut all = entries(body);
        for (key, value) in &mut all {
            if !matches!(&*key_name(key), "node" | "capability") {
                *value = self.value(value, at);
            }
        }
        all
    }

    /// Whether a name is that of a relationship template of a substituting template.
    pub(super) fn is_relationship(&self, chosen: usize, name: &str) -> bool {
        let templates = self.chosen[chosen].variant.view.section("relationship_templates");
        templates.is_some_and(|templates| entry(&templates, name).is_some())
    }

    /// Gives the relationship template that an assignment or a copy names its new name.
    pub(super) fn rename_relationship(&self, chosen: usize, body: &mut MapEntries<'a>) {
        let names_one = |key: &OutKey<'a>| matches!(&*key_name(key), "relationship" | "copy");
        for (_, value) in body.iter_mut().filter(|(key, _)| names_one(key)) {
            let name = OutNode::root(value).text().map(|name| name.into_owned());
            if let Some(name) = name.filter(|name| self.is_relationship(chosen, name)) {
                *value = Out::String(self.prefixed(chosen, &name).into());
            }
        }
    }

    /// The new name of an element of a substituting template.
    pub(super) fn prefixed(&self, chosen: usize, name: &str) -> String {
        let new = self.names[chosen].get(name).cloned();
        new.unwrap_or_else(|| format!("{}_{name}", self.outer.nodes[self.chosen[chosen].node].name))
    }

    /// The selected nodes that a relation is mapped onto, with the targets of these relations.
    fn selected_targets(&self, chosen: usize) -> FxHashMap<String, String> {
        let candidate = &self.chosen[chosen];
        let node = &self.outer.nodes[candidate.node];
        let mut targets = FxHashMap::default();
        for requirement in &candidate.fit.requirements {
            for (&assignment, &mapping) in requirement.slots.iter().zip(&requirement.taken) {
                let outer = &node.assignments[assignment];
                let end = self.end(candidate.node, assignment, outer).map(|(node, _)| node);
                let Some(target) = end.or_else(|| outer.target.clone()) else { continue };
                for selected in &requirement.mappings[mapping].selected {
                    targets.insert(selected.clone(), target.clone());
                }
            }
        }
        targets
    }

    /// For each node of a substituting template, the relations that are mapped onto it.
    fn relations_of(&self, chosen: usize) -> FxHashMap<&str, MappedRelations<'_, 'a>> {
        let candidate = &self.chosen[chosen];
        let node = &self.outer.nodes[candidate.node];
        let mut all: FxHashMap<&str, MappedRelations<'_, 'a>> = FxHashMap::default();
        for requirement in &candidate.fit.requirements {
            // What is mapped onto one requirement fills it in the order of the mappings.
            let mut slots: Vec<_> = requirement.slots.iter().enumerate().collect();
            slots.sort_by_key(|(slot, _)| requirement.taken.get(*slot));
            for (slot, &assignment) in slots {
                let outer = &node.assignments[assignment];
                let Some(target) = &outer.target else { continue };
                let taken = requirement.taken.get(slot).map(|&it| &requirement.mappings[it]);
                let Some(mapping) = taken else {
                    self.unmapped(node, outer);
                    continue;
                };
                let end = self.end(candidate.node, assignment, outer);
                let (target, capability) = match end {
                    Some((target, capability)) => (target, Some(capability)),
                    None => {
                        let capability = outer.capability.as_ref();
                        (target.clone(), capability.map(|it| it.value.clone()))
                    }
                };
                let at = WrittenIn::Assigned(&node.name, assignment);
                let slot = (&*requirement.name, slot);
                let relation = MappedRelation { slot, outer, at, target, capability };
                for (inner, requirement) in &mapping.targets {
                    all.entry(inner).or_default().push((requirement, relation.clone()));
                }
            }
        }
        all
    }

    fn unmapped(&self, node: &ViewedNode<'a>, outer: &ViewedRequirement<'a>) {
        let message = format!(
            "no mapping takes this relation of node \"{}\", so it is not in the result",
            node.name
        );
        let note = Diagnostic::note(Code::UnmappedRelation, message).at(outer.span);
        self.found.borrow_mut().push(note);
    }

    /// Warns of parts of a replaced node that have no place in the template.
    fn dropped(&self, chosen: usize) {
        let candidate = &self.chosen[chosen];
        let node = &self.outer.nodes[candidate.node];
        let name = &candidate.template.name;
        for keyname in ["attributes", "artifacts", "interfaces", "capabilities"] {
            let Some(value) = entry(&node.body, keyname) else { continue };
            let is_left = |(key, part): &(OutKey<'a>, Out<'a>)| match keyname {
                "capabilities" => !self.has_place(chosen, &key_name(key), part),
                "interfaces" => !self.gives_inputs(chosen, &key_name(key), part),
                _ => true,
            };
            if !entries(&value).iter().any(is_left) {
                continue;
            }
            let message = format!(
                "`{keyname}` of node \"{}\" are left out: `{name}` has no place for them",
                node.name
            );
            let at = OutNode::root(&value).span();
            let at = if at.is_detached() { node.span } else { at };
            let warning = Diagnostic::warning(Code::DroppedAssignment, message).at(at);
            self.found.borrow_mut().push(warning);
        }
    }

    /// Whether all properties of a capability are mapped to inputs of the template, and it has
    /// nothing else.
    fn has_place(&self, chosen: usize, capability: &str, assigned: &Out<'a>) -> bool {
        let mappings = &self.chosen[chosen].template.substitution.part_properties;
        let is_mapped = |property: &str| {
            mappings.iter().any(|mapping| {
                mapping.part == MappedPart::Capability && mapping.names() == [capability, property]
            })
        };
        entries(assigned).iter().all(|(key, values)| {
            key_name(key) == "properties"
                && entries(values).iter().all(|(property, _)| is_mapped(&key_name(property)))
        })
    }

    /// Whether an interface has nothing but inputs of operations that are mapped to workflows.
    fn gives_inputs(&self, chosen: usize, interface: &str, assigned: &Out<'a>) -> bool {
        let operations = entry(assigned, "operations");
        let is_mapped = |(operation, body): &(OutKey<'a>, Out<'a>)| {
            let name = format!("{interface}.{}", key_name(operation));
            self.mapped_operation(chosen, &name).is_some()
                && entries(body).iter().all(|(key, _)| key_name(key) == "inputs")
        };
        let others = |(key, _): &(OutKey<'a>, Out<'a>)| key_name(key) != "operations";
        entries(operations.as_ref().unwrap_or(assigned)).iter().all(is_mapped)
            && (operations.is_none() || !entries(assigned).iter().any(others))
    }

    /// Warns of operations that are mapped to workflows. Generated workflows do not call them,
    /// because they deploy the template's nodes one by one.
    fn mapped_operations(&self, chosen: usize) {
        let name = &self.outer.nodes[self.chosen[chosen].node].name;
        for interface in &self.chosen[chosen].template.substitution.interfaces {
            for (key, workflow) in interface.value.entries() {
                let Some(operation) = key.text().filter(|it| DEPLOYING.contains(it)) else {
                    continue;
                };
                let Some(workflow) = workflow.text() else { continue };
                let message = format!(
                    "`{operation}` of node \"{name}\" is mapped to the workflow `{workflow}`, which does not deploy it any more: its nodes are deployed one by one"
                );
                let warning = Diagnostic::warning(Code::DroppedAssignment, message);
                self.found.borrow_mut().push(warning.at(key.span()));
            }
        }
    }

    /// Reports the call of an operation of a replaced node that is mapped to no workflow, unless all
    /// nodes that replace it have that operation (TOSCA 2.0, section 15.6).
    pub(super) fn unmapped_call(&self, chosen: usize, call: OutNode<'_, '_>) {
        let Some(name) = call.text().or_else(|| call.get("operation")?.text()) else { return };
        let (interface, operation) = name.rsplit_once('.').unwrap_or(("", &name));
        let has_it = |node: &ViewedNode<'a>| {
            let of_type = node.kind.map(|kind| &self.types.effective(kind).interfaces);
            let defines = of_type.into_iter().flat_map(|all| all.values()).any(|part| {
                let of_name = part.named.name == interface || interface.contains('.');
                (of_name || interface.is_empty())
                    && part.definition.operations.contains_key(operation)
            });
            defines || node.kind.is_none() || entry(&node.body, "interfaces").is_some()
        };
        if self.chosen[chosen].variant.view.nodes.iter().all(has_it) {
            return;
        }
        let node = &self.outer.nodes[self.chosen[chosen].node].name;
        let message = format!(
            "the template for node \"{node}\" does not map its operation `{name}`, and not all of its nodes have such an operation"
        );
        let error = Diagnostic::error(Code::DanglingReference, message).at(call.span());
        let help = "map it to a workflow under `interfaces` of the `substitution_mappings`";
        self.found.borrow_mut().push(error.help(help));
    }

    /// The new names of the nodes of a substituting template, in their order.
    pub(super) fn all_names(&self, chosen: usize) -> impl Iterator<Item = &String> {
        let nodes = self.chosen[chosen].variant.view.nodes.iter();
        let nodes = nodes.filter(move |node| !self.targets[chosen].contains_key(&node.name));
        nodes.filter_map(move |node| self.names[chosen].get(&node.name))
    }
}

/// Where a relation of a replaced node is in the result.
#[derive(Clone, Debug)]
pub(super) struct RelationPlace {
    pub node: String,
    pub requirement: String,
    /// Its index among the relations of the requirement.
    pub index: u64,
}

/// An assignment in the place of one of a substituting template, or beside these.
struct PlacedAssignment<'p, 'o, 'a> {
    name: &'p str,
    /// The position of the template's own assignment.
    assignment: Option<usize>,
    /// Whether it is the first in the place of that.
    is_first: bool,
    /// The relation of the replaced node, unless the assignment is the template's own, or for what
    /// is left open.
    relation: Option<&'p MappedRelation<'o, 'a>>,
    /// For what is left open, how many relations were mapped there.
    mapped: u64,
}

impl PlacedAssignment<'_, '_, '_> {
    /// How many relations it stands for.
    fn count(&self, inner: &ViewedNode<'_>) -> u64 {
        match (self.assignment, self.relation) {
            (Some(own), None) => {
                let count = inner.assignments[own].count;
                count.max.unwrap_or(count.min.max(1)).saturating_sub(self.mapped)
            }
            _ => 1,
        }
    }
}

/// How relations take the places of assignments of a node.
fn placed<'p, 'o, 'a>(
    inner: &'p ViewedNode<'a>,
    relations: &'p [(&'o String, MappedRelation<'o, 'a>)],
) -> Vec<PlacedAssignment<'p, 'o, 'a>> {
    let mut waiting: FxHashMap<&str, VecDeque<&MappedRelation<'_, 'a>>> = FxHashMap::default();
    for (requirement, relation) in relations {
        waiting.entry(requirement).or_default().push_back(relation);
    }
    // Mandatory assignments come first; the relations that remain go to the others.
    let mut given: FxHashMap<usize, Vec<&MappedRelation<'_, 'a>>> = FxHashMap::default();
    for is_mandatory in [true, false] {
        for (index, assignment) in inner.assignments.iter().enumerate() {
            if assignment.target.is_some() {
                continue;
            }
            let count = match is_mandatory {
                true => assignment.count.min,
                false => assignment.count.max.unwrap_or(u64::MAX) - assignment.count.min,
            };
            let queue = waiting.entry(&assignment.name).or_default();
            let taken = usize::try_from(count).unwrap_or(usize::MAX).min(queue.len());
            given.entry(index).or_default().extend(queue.drain(..taken));
        }
    }
    let mut all = Vec::new();
    for (index, own) in inner.assignments.iter().enumerate() {
        let taken = given.remove(&index).unwrap_or_default();
        let (name, assignment, mapped) = (&*own.name, Some(index), taken.len() as u64);
        for (position, relation) in taken.into_iter().enumerate() {
            let (is_first, relation) = (position == 0, Some(relation));
            all.push(PlacedAssignment { name, assignment, is_first, relation, mapped: 0 });
        }
        if mapped == 0 || own.count.max != Some(mapped) {
            let is_first = mapped == 0;
            all.push(PlacedAssignment { name, assignment, is_first, relation: None, mapped });
        }
    }
    let mut rest: Vec<_> = waiting.into_iter().collect();
    rest.sort_by_key(|(name, _)| *name);
    for (name, queue) in rest {
        let (assignment, is_first, mapped) = (None, true, queue.len() as u64);
        let relations = queue.into_iter().map(Some).chain([None]);
        all.extend(relations.map(|relation| PlacedAssignment {
            name,
            assignment,
            is_first,
            relation,
            mapped,
        }));
    }
    all
}

/// A relation of a replaced node.
#[derive(Clone)]
struct MappedRelation<'o, 'a> {
    /// The name of its requirement, and its slot there.
    slot: (&'o str, usize),
    outer: &'o ViewedRequirement<'a>,
    at: WrittenIn<'o>,
    /// The name of the target.
    target: String,
    capability: Option<String>,
}

/// The relations that are mapped onto one node, each with the requirement that it becomes.
type MappedRelations<'o, 'a> = Vec<(&'o String, MappedRelation<'o, 'a>)>;

/// The keys whose comments belong to a node; its own key comes last.
fn comments_of<'a>(node: &ViewedNode<'a>) -> Vec<Node<'a>> {
    let mut all = if let Out::Below(gone, _) = &node.body { gone.clone() } else { Vec::new() };
    if let OutKey::Source(key) | OutKey::Renamed(key, _) = node.key {
        all.push(key);
    }
    all
}

/// Writes into the metadata of a node what it substitutes, and the nodes that contained that one.
fn substituting(all: &mut MapEntries<'_>, outer: &ViewedNode<'_>) {
    let around = outer.substitutes();
    let text = |name: &str, value: String| {
        (OutKey::New(name.to_owned().into()), Out::String(value.into()))
    };
    let mut news = vec![text("substitutes", outer.name.clone())];
    if !around.is_empty() {
        news.push(text("within", around.join("/")));
    }
    match all.iter_mut().find(|(key, _)| key_name(key) == "metadata") {
        Some((_, metadata)) => {
            let mut said = entries(metadata);
            said.retain(|(key, _)| !matches!(&*key_name(key), "substitutes" | "within"));
            said.extend(news);
            *metadata = like(metadata, said);
        }
        None => {
            let behind = all.iter().position(|(key, _)| key_name(key) == "type");
            let metadata = Out::Map { entries: news.into(), like: None };
            let at = behind.map_or(0, |at| at + 1);
            all.insert(at, (OutKey::New("metadata".into()), metadata));
        }
    }
}

/// Sets the target of an assignment, and one of the target's capabilities.
pub(super) fn lead(body: &mut MapEntries<'_>, target: &str, capability: Option<&str>) {
    let name = |text: &str| Out::String(text.to_owned().into());
    match body.iter_mut().find(|(key, _)| key_name(key) == "node") {
        Some((_, node)) => *node = name(target),
        None => body.insert(0, (OutKey::New("node".into()), name(target))),
    }
    if let Some(capability) = capability {
        match body.iter_mut().find(|(key, _)| key_name(key) == "capability") {
            Some((_, old)) => *old = name(capability),
            None => body.insert(1, (OutKey::New("capability".into()), name(capability))),
        }
    }
}

/// The body of an assignment, in short form if it has only a target.
pub(super) fn written<'a>(old: Option<&Out<'a>>, mut body: MapEntries<'a>) -> Out<'a> {
    if let [(key, _)] = &*body
        && key_name(key) == "node"
    {
        return body.remove(0).1;
    }
    match old.filter(|old| !entries(old).is_empty()) {
        Some(old) => like(old, body),
        None => Out::Map { entries: body.into(), like: None },
    }
}

/// An assignment of a requirement that has none yet.
fn named<'a>(requirement: &str, body: Out<'a>) -> Out<'a> {
    let entry = (OutKey::New(requirement.to_owned().into()), body);
    Out::Map { entries: vec![entry].into(), like: None }
}

/// An assignment with another body.
pub(super) fn with_body<'a>(item: &Out<'a>, body: Out<'a>) -> Out<'a> {
    let mut all = entries(item);
    if let Some((_, value)) = all.first_mut() {
        *value = body;
    }
    like(item, all)
}

/// The open rest of an assignment for several relations, some of which are mapped.
fn left_open<'a>(
    assignment: &ViewedRequirement<'a>,
    mut body: MapEntries<'a>,
    taken: u64,
) -> Out<'a> {
    for keyname in ["optional", "count"] {
        set(&mut body, keyname, |_| None);
    }
    let number = |count: u64| Value::from(i64::try_from(count).unwrap_or(i64::MAX));
    let min = assignment.count.min.saturating_sub(taken);
    let max = assignment
        .count
        .max
        .map_or(Value::from("UNBOUNDED"), |max| number(max.saturating_sub(taken)));
    set_open(&mut body, &assignment.item, (number(min), max));
    with_body(&assignment.item, written(Some(&assignment.body), body))
}

/// A relationship with the entries that only another one has.
fn merged<'a>(own: &Out<'a>, outer: &Out<'a>) -> Out<'a> {
    let mut all = entries(own);
    for (key, value) in entries(outer) {
        let name = key_name(&key).into_owned();
        set(&mut all, &name, |old| match old {
            None => Some(value),
            Some(old) if matches!(&*name, "properties" | "interfaces") => {
                let mut parts = entries(old);
                for (key, value) in entries(&value) {
                    set(&mut parts, &key_name(&key), |old| Some(old.cloned().unwrap_or(value)));
                }
                Some(like(old, parts))
            }
            Some(old) => Some(old.clone()),
        });
    }
    like(own, all)
}

/// An assignment as versions before 2.0 write it: `occurrences` and a filter only if it has no
/// target.
pub(super) fn as_written_before<'a>(assignment: &ViewedRequirement<'a>) -> Out<'a> {
    let mut body = entries(&assignment.body);
    for keyname in ["optional", "count"] {
        set(&mut body, keyname, |_| None);
    }
    if assignment.target.is_none() {
        return left_open(assignment, body, 0);
    }
    set(&mut body, "node_filter", |_| None);
    with_body(&assignment.item, written(Some(&assignment.body), body))
}
