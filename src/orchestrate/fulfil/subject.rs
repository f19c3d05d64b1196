//! Presents nodes to filters.

use super::inventory::{InventoryNode, node_type, value_of};
use crate::topology::scope::TopologyScope;
use crate::topology::{AssignedValue, NodeIndex, RelationIndex, TopologyElement, TopologyNode};
use crate::tosca::evaluate::{EvaluatorState, FilterSite, FilteredRelation, FunctionEvaluator};
use crate::tosca::filter::{FilterSubject, FilteredProperty, filtered_path};
use crate::tosca::v2_0::function::FormedValue;
use crate::tosca::value::{DataTypes, Datum, PropertyDefinition, TextType};
use crate::tosca::{Family, TypeId, TypeRef, Types};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;

/// What paths in filters of TOSCA 2.0 lead through.
pub(crate) trait FilterGraph {
    /// The value of a function, with what its type makes of texts; `None` where it is not known.
    fn asked(
        &self,
        function: &str,
        path: Node<'_>,
        site: FilterSite<'_, TopologyElement>,
    ) -> Option<FormedValue<TextType>>;

    /// The value of an expression at a node; `None` if it calls no function, or one that is not
    /// known.
    fn evaluated(&self, expression: Node<'_>, node: NodeIndex) -> Option<Value>;
}

/// A topology as it is before anything is chosen: relations without a target are not there.
impl FilterGraph for TopologyScope<'_, '_> {
    fn asked(
        &self,
        function: &str,
        path: Node<'_>,
        site: FilterSite<'_, TopologyElement>,
    ) -> Option<FormedValue<TextType>> {
        let mut evaluator = FunctionEvaluator::new(self, EvaluatorState::without_open());
        // Errors in the path are reported where the filter is checked.
        evaluator.in_filter(function, path, site).ok()?
    }

    fn evaluated(&self, expression: Node<'_>, node: NodeIndex) -> Option<Value> {
        let mut evaluator = FunctionEvaluator::new(self, EvaluatorState::without_open());
        evaluator.evaluate(expression, Some(TopologyElement::Node(node))).ok()?
    }
}

/// A node of a topology.
#[derive(Clone, Copy)]
pub(crate) struct GraphNode<'s> {
    pub graph: &'s dyn FilterGraph,
    pub node: NodeIndex,
}

/// A node with its type and values, against which filters are checked.
pub(crate) struct NodeSubject<'s, 'c> {
    types: &'s Types<'c>,
    schemas: &'s dyn DataTypes<'c>,
    kind: Option<TypeId>,
    properties: &'s [AssignedValue],
    /// The capabilities that have values.
    capabilities: Vec<(&'s str, &'s [AssignedValue])>,
    place: SubjectPlace<'s>,
}

/// Where a node stands.
enum SubjectPlace<'s> {
    Graph(GraphNode<'s>),
    /// Beside this topology.
    Inventory(&'s InventoryNode, &'s dyn FilterGraph),
}

/// A node to which a requirement would lead.
pub(crate) struct RequiredSubject<'r, 's, 'c> {
    subject: &'r NodeSubject<'s, 'c>,
    relation: FilteredRelation<'r, TopologyElement>,
}

impl<'s, 'c> NodeSubject<'s, 'c> {
    /// A node of a topology.
    pub(crate) fn of(
        types: &'s Types<'c>,
        schemas: &'s dyn DataTypes<'c>,
        node: &'s TopologyNode,
        place: GraphNode<'s>,
    ) -> Self {
        let capabilities = node.capabilities.iter();
        Self {
            types,
            schemas,
            kind: node_type(types, node),
            properties: &node.described.properties,
            capabilities: capabilities.map(|one| (&*one.name, &*one.properties)).collect(),
            place: SubjectPlace::Graph(place),
        }
    }

    /// An existing node. Its type is the narrowest of its types that is known here.
    pub(super) fn of_inventory(
        types: &'s Types<'c>,
        schemas: &'s dyn DataTypes<'c>,
        (node, graph): (&'s InventoryNode, &'s dyn FilterGraph),
        kind: Option<TypeId>,
    ) -> Self {
        let capabilities = node.capabilities.iter().map(|one| &one.assigned);
        Self {
            types,
            schemas,
            kind,
            properties: &node.properties,
            capabilities: capabilities.map(|one| (&*one.name, &*one.properties)).collect(),
            place: SubjectPlace::Inventory(node, graph),
        }
    }

    /// The node as the target of a requirement that it fits with these capabilities. The node that
    /// has the requirement is only known where filters ask for it.
    pub(crate) fn required<'r>(
        &'r self,
        (relation, source): (Option<RelationIndex>, Option<NodeIndex>),
        capabilities: &[&'r str],
    ) -> RequiredSubject<'r, 's, 'c> {
        let capability = if let [only] = capabilities { Some(*only) } else { None };
        let relation = relation.map(TopologyElement::Relation);
        let source = source.map(TopologyElement::Node);
        RequiredSubject {
            subject: self,
            relation: FilteredRelation { relation, source, capability },
        }
    }

    fn value(
        &self,
        function: &str,
        path: Node<'_>,
        relation: Option<FilteredRelation<'_, TopologyElement>>,
    ) -> Option<FormedValue<TextType>> {
        let (graph, node) = match &self.place {
            SubjectPlace::Graph(GraphNode { graph, node }) => {
                (graph, Some(TopologyElement::Node(*node)))
            }
            SubjectPlace::Inventory(node, graph) => {
                let stored = self.stored_value(node, function, path, relation);
                if stored.is_some() {
                    return stored;
                }
                (graph, None)
            }
        };
        graph.asked(function, path, FilterSite { node, relation })
    }

    /// The value of a function for a node of which only its own values are known.
    fn stored_value(
        &self,
        node: &InventoryNode,
        function: &str,
        path: Node<'_>,
        relation: Option<FilteredRelation<'_, TopologyElement>>,
    ) -> Option<FormedValue<TextType>> {
        let steps: Vec<_> = path.items().collect();
        let is = |node: &Node<'_>, word: &str| node.as_str() == Some(word);
        let required = relation.and_then(|relation| relation.capability);
        let (capability, name) = match (&*steps, required) {
            ([own, word, name], Some(required)) if is(own, "SELF") && is(word, "CAPABILITY") => {
                (required, *name)
            }
            _ => {
                let (key, name) = filtered_path(path)?;
                (self.capabilities(key?).first().copied()?, name)
            }
        };
        let name = name.text()?;
        let stored = node.capabilities.iter().find(|one| one.assigned.name == capability)?;
        let own = || value_of(&stored.assigned.properties, name);
        let value = match function {
            "get_property" => own()?,
            "available_allocation" => value_of(&stored.available, name).or_else(own)?,
            _ => return None,
        };
        let form = match self.property(Some(capability), name) {
            FilteredProperty::Defined(definition, _) => {
                TextType::of_part(&definition.schema, &[], self.schemas)
            }
            _ => None,
        };
        Some((value.clone(), form))
    }

    fn found<'f>(
        definition: Option<&'f PropertyDefinition<'f>>,
        assigned: &'f [AssignedValue],
        name: &str,
        is_open: bool,
    ) -> FilteredProperty<'f> {
        let value = value_of(assigned, name);
        match (definition, value) {
            (Some(definition), Some(value)) => {
                FilteredProperty::Defined(definition, Some(Datum::Value(value)))
            }
            (Some(definition), None) => {
                let otherwise = definition.value.or(definition.default);
                FilteredProperty::Defined(definition, otherwise.map(Datum::Node))
            }
            (None, Some(value)) => FilteredProperty::Untyped(value),
            (None, None) if is_open => FilteredProperty::Unknown,
            (None, None) => FilteredProperty::Missing,
        }
    }
}

impl<'c> FilterSubject<'c> for NodeSubject<'_, 'c> {
    fn property(&self, capability: Option<&str>, name: &str) -> FilteredProperty<'_> {
        let effective = self.kind.map(|kind| self.types.effective(kind));
        let Some(capability) = capability else {
            let part = effective.and_then(|effective| effective.properties.get(name));
            let is_open = effective.is_some_and(|effective| effective.is_open);
            return Self::found(part.map(|part| &part.definition), self.properties, name, is_open);
        };
        let own = self.capabilities.iter().find(|(own, _)| *own == capability);
        let own = own.map_or(&[][..], |(_, values)| values);
        let known = effective.and_then(|effective| effective.capabilities.get(capability));
        let part = known.and_then(|known| known.definition.properties.get(name));
        let is_open = known.is_some_and(|known| known.definition.is_open);
        Self::found(part.map(|part| &part.definition), own, name, is_open)
    }

    fn capabilities(&self, key: Node<'_>) -> Vec<&str> {
        let wanted = key.text().unwrap_or_default();
        let effective = self.kind.map(|kind| &self.types.effective(kind).capabilities);
        let known = effective.and_then(|known| known.get_key_value(wanted));
        let own = || self.capabilities.iter().find(|(name, _)| *name == wanted);
        if let Some(name) = known.map(|(name, _)| *name).or_else(|| own().map(|(name, _)| *name)) {
            return vec![name];
        }
        let file = key.span().file;
        let file = (file != FileId::DETACHED).then_some(file);
        let Some(kind) = self.types.find_in(file, Family::Capability, wanted) else {
            return Vec::new();
        };
        let is_one = |named: Option<Node<'_>>| {
            let named = named.and_then(|named| {
                let file = Some(named.span().file);
                self.types.find_in(file, Family::Capability, named.text()?)
            });
            named.is_some_and(|own| {
                self.types.may_derive(TypeRef::Defined(own), TypeRef::Defined(kind))
            })
        };
        let all = effective.into_iter().flat_map(|all| all.iter());
        all.filter(|(_, part)| is_one(part.definition.kind)).map(|(name, _)| *name).collect()
    }

    fn data_types(&self) -> &dyn DataTypes<'c> {
        self.schemas
    }

    fn asked(&self, function: &str, path: Node<'_>) -> Option<FormedValue<TextType>> {
        self.value(function, path, None)
    }
}

impl<'c> FilterSubject<'c> for RequiredSubject<'_, '_, 'c> {
    fn property(&self, capability: Option<&str>, name: &str) -> FilteredProperty<'_> {
        self.subject.property(capability, name)
    }

    fn capabilities(&self, key: Node<'_>) -> Vec<&str> {
        self.subject.capabilities(key)
    }

    fn data_types(&self) -> &dyn DataTypes<'c> {
        self.subject.data_types()
    }

    fn asked(&self, function: &str, path: Node<'_>) -> Option<FormedValue<TextType>> {
        self.subject.value(function, path, Some(self.relation))
    }

    fn of_relationship(&self, path: Node<'_>) -> Option<FormedValue<TextType>> {
        let second = path.items().nth(1)?.as_str()?;
        let graph = match &self.subject.place {
            SubjectPlace::Graph(GraphNode { graph, .. }) | SubjectPlace::Inventory(_, graph) => {
                graph
            }
        };
        let site = FilterSite { node: None, relation: Some(self.relation) };
        let is_own = !matches!(second, "SOURCE" | "TARGET" | "CAPABILITY");
        if is_own { graph.asked("get_property", path, site) } else { None }
    }
}
