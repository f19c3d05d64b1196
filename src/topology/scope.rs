//! The elements of a topology, as functions refer to them.

use super::sensitive::kept_secret;
use super::{
    AssignedValue, NodeIndex, RelationIndex, Spanned, Topology, TopologyElement, TopologyParameter,
    relationship_type, type_named,
};
use crate::tosca::evaluate::{FunctionScope, ScopeInput, ScopeValue};
use crate::tosca::function::Name;
use crate::tosca::substitution::names_in;
use crate::tosca::types::schemas::{Schemas, units};
use crate::tosca::value::{PropertyDefinition, Schema, TextType, UnitSize, default_of_part};
use crate::tosca::{Directive, EffectiveType, Family, TypeId, TypeRef, Types};
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// The elements of a topology whose own functions have their values.
pub(crate) struct TopologyScope<'t, 'a> {
    topology: &'t Topology,
    types: &'t Types<'a>,
    /// The elements by name; a node counts before a relation, and that before a group.
    named: FxHashMap<&'t str, TopologyElement>,
    inputs: FxHashMap<&'t str, &'t TopologyParameter>,
    /// The names in mappings of requirements and capabilities.
    exposed: OnceCell<FxHashSet<Arc<str>>>,
    /// Values that have functions still, by their places.
    calls: FxHashMap<Span, Node<'t>>,
}

impl<'t, 'a> TopologyScope<'t, 'a> {
    pub(crate) fn of(topology: &'t Topology, types: &'t Types<'a>) -> Self {
        let mut named = FxHashMap::default();
        for (index, group) in topology.groups.iter().enumerate() {
            named.insert(&*group.name, TopologyElement::Group(super::GroupIndex::new(index)));
        }
        // A relation has the name of its relationship template.
        for id in topology.relation_ids() {
            let template = topology.relation(id).relationship.map(|id| topology.relationship(id));
            if let Some(name) = template.and_then(|template| template.name.as_deref()) {
                named.insert(name, TopologyElement::Relation(id));
            }
        }
        for id in topology.node_ids() {
            named.insert(&*topology.node(id).name, TopologyElement::Node(id));
        }
        let inputs = topology.inputs.iter().map(|input| (&*input.name, input)).collect();
        let (exposed, calls) = Default::default();
        Self { topology, types, named, inputs, exposed, calls }
    }

    /// The elements of a topology some of whose values have functions still: those at the places of
    /// these nodes.
    pub(crate) fn with_calls(
        topology: &'t Topology,
        types: &'t Types<'a>,
        calls: &[Node<'t>],
    ) -> Self {
        let calls = calls.iter().map(|node| (node.span(), *node)).collect();
        Self { calls, ..Self::of(topology, types) }
    }

    fn value(&self, value: &Spanned<Value>) -> ScopeValue<'t> {
        let call = self.calls.get(&value.span).copied();
        call.map_or_else(|| ScopeValue::Known(value.value.clone()), ScopeValue::Written)
    }

    fn assigned(&self, values: &[AssignedValue], name: &str) -> Option<ScopeValue<'t>> {
        Some(self.value(&values.iter().rfind(|one| one.name == name)?.value))
    }
}

fn node_of(element: TopologyElement) -> Option<NodeIndex> {
    if let TopologyElement::Node(node) = element { Some(node) } else { None }
}

fn relation_of(element: TopologyElement) -> Option<RelationIndex> {
    if let TopologyElement::Relation(relation) = element { Some(relation) } else { None }
}

impl<'t> FunctionScope<'t> for TopologyScope<'t, '_> {
    type Element = TopologyElement;

    fn named(&self, entity: Name<'_>) -> Option<TopologyElement> {
        self.named.get(entity.text).copied()
    }

    fn ends(&self, relation: TopologyElement) -> Option<[Option<TopologyElement>; 2]> {
        let relation = self.topology.relation(relation_of(relation)?);
        Some([Some(relation.source), relation.target].map(|end| end.map(TopologyElement::Node)))
    }

    fn is_node(&self, element: TopologyElement) -> bool {
        node_of(element).is_some()
    }

    fn host(&self, node: TopologyElement) -> Option<TopologyElement> {
        self.topology.hosted_on(node_of(node)?).map(TopologyElement::Node)
    }

    fn relations(&self, node: TopologyElement, requirement: &str) -> Vec<TopologyElement> {
        let node = node_of(node).map(|node| self.topology.node(node));
        let relations = node.into_iter().flat_map(|node| node.relations.iter().copied());
        let meant = relations.filter(|&id| self.topology.relation(id).name == requirement);
        meant.map(TopologyElement::Relation).collect()
    }

    fn incoming(&self, node: TopologyElement) -> Vec<TopologyElement> {
        let node = node_of(node).map(|node| self.topology.node(node));
        let relations = node.into_iter().flat_map(|node| node.incoming.iter().copied());
        relations.map(TopologyElement::Relation).collect()
    }

    fn is_exposed(&self, node: TopologyElement) -> bool {
        let exposed = self.exposed.get_or_init(|| {
            let mut names = FxHashSet::default();
            if let Some(mapping) = &self.topology.substitution {
                let mapped = mapping.requirements.iter().chain(&mapping.capabilities);
                mapped.for_each(|mapped| names_in(&mapped.value.value, &mut names));
            }
            names
        });
        node_of(node).is_some_and(|node| exposed.contains(&*self.topology.node(node).name))
    }

    fn is_selected(&self, node: TopologyElement) -> bool {
        let node = node_of(node).map(|node| self.topology.node(node));
        node.is_some_and(|node| node.has_directive(Directive::Select))
    }

    fn count(&self, element: TopologyElement) -> Option<ScopeValue<'t>> {
        let count = match element {
            TopologyElement::Node(node) => &self.topology.node(node).instance_count,
            TopologyElement::Relation(relation) => &self.topology.relation(relation).count,
            TopologyElement::Group(_) => &None,
        };
        count.as_deref().map(|count| self.value(count))
    }

    /// Where an index is written, the target is not known here.
    fn target_index(&self, _: TopologyElement) -> Option<ScopeValue<'t>> {
        None
    }

    fn allocation(&self, relation: TopologyElement, property: &str) -> Option<ScopeValue<'t>> {
        self.assigned(&self.topology.relation(relation_of(relation)?).allocation, property)
    }

    fn units(&self, definition: &PropertyDefinition<'_>) -> Vec<UnitSize> {
        units(self.types, definition)
    }

    fn gives_versions_as_texts(&self) -> bool {
        true
    }

    fn text_type(&self, schema: &Schema<'_>, path: &[String]) -> Option<TextType> {
        TextType::of_part(schema, path, &Schemas::new(self.types))
    }

    fn default_of(&self, schema: &Schema<'_>, path: &[String]) -> Option<Value> {
        default_of_part(schema, path, &Schemas::new(self.types))
    }

    fn requirement(&self, relation: TopologyElement) -> (&'t str, Option<&'t str>) {
        let Some(relation) = relation_of(relation) else { return ("", None) };
        let relation = self.topology.relation(relation);
        (&relation.name, relation.capability.as_ref().map(|capability| &*capability.value))
    }

    fn nodes(&self) -> impl Iterator<Item = (TopologyElement, &'t str)> {
        let topology = self.topology;
        topology.node_ids().map(|id| (TopologyElement::Node(id), &*topology.node(id).name))
    }

    fn input(&self, operand: Node<'_>) -> Option<ScopeInput<'t>> {
        // Positions are those of all variants, which are not known here.
        let input = *self.inputs.get(operand.as_str()?)?;
        let value = input.value.as_ref().or(input.default.as_ref());
        Some(ScopeInput {
            name: &input.name,
            span: input.span,
            is_required: input.required.as_ref().is_none_or(|it| it.value != Value::Bool(false)),
            schema: input.type_name.as_ref().map(|kind| Schema::of(&kind.value)),
            value: value.map(|value| ScopeValue::Known(value.value.clone())),
        })
    }

    fn property(&self, element: TopologyElement, name: &str) -> Option<ScopeValue<'t>> {
        let topology = self.topology;
        let described = match element {
            TopologyElement::Node(node) => &topology.node(node).described,
            TopologyElement::Relation(relation) => {
                &topology.relationship(topology.relation(relation).relationship?).described
            }
            TopologyElement::Group(group) => &topology.group(group).described,
        };
        self.assigned(&described.properties, name)
    }

    fn capability_property(
        &self,
        node: TopologyElement,
        capability: &str,
        name: &str,
    ) -> Option<ScopeValue<'t>> {
        let capabilities = &self.topology.node(node_of(node)?).capabilities;
        let capability = capabilities.iter().find(|one| one.name == capability)?;
        self.assigned(&capability.properties, name)
    }

    fn type_of(&self, element: TopologyElement) -> Option<TypeId> {
        let topology = self.topology;
        match element {
            TopologyElement::Node(node) => {
                let name = topology.node(node).described.type_name.as_ref()?;
                type_named(self.types, Family::Node, name)
            }
            TopologyElement::Relation(relation) => {
                relationship_type(topology, self.types, relation)
            }
            TopologyElement::Group(group) => {
                let name = topology.group(group).described.type_name.as_ref()?;
                type_named(self.types, Family::Group, name)
            }
        }
    }

    fn effective(&self, id: TypeId) -> &'t EffectiveType<'t> {
        self.types.effective(id)
    }

    fn type_named(&self, file: Option<FileId>, family: Family, name: &str) -> Option<TypeId> {
        self.types.find_in(file, family, name)
    }

    fn derives(&self, one: TypeId, ancestor: TypeId) -> bool {
        self.types.derives(TypeRef::Defined(one), TypeRef::Defined(ancestor))
    }

    /// A secret that an instance keeps as a digest stands for a value that nobody knows here.
    fn is_placeholder(&self, value: &Value) -> bool {
        kept_secret(value).is_some()
    }
}
