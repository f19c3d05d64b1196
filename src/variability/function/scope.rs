//! The elements of a variant, as functions refer to them.

use crate::diagnostic::Diagnostics;
use crate::topology::sensitive::kept_secret;
use crate::tosca::evaluate::{FunctionEvaluator, FunctionScope, ScopeInput, ScopeValue};
use crate::tosca::function::Name;
use crate::tosca::substitution::names_in;
use crate::tosca::types::schemas::{Schemas, units};
use crate::tosca::value::{PropertyDefinition, Schema, TextType, UnitSize, default_of_part};
use crate::tosca::{Directive, EffectiveType, Family, TypeId, TypeRef, Types, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, Graph, NodeElement, RelationElement};
use crate::variability::presence::Presence;
use crate::variability::template::PropertyValue;
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// Values that are given from outside.
pub(crate) struct Given {
    /// The values of topology inputs.
    pub inputs: FxHashMap<ElementId, Value>,
    /// The values of properties that are expressions over variability inputs.
    pub expressions: FxHashMap<ElementId, Value>,
    /// Whether unquoted versions become texts.
    pub has_texts: bool,
}

/// The evaluator of the functions of a variant.
pub(crate) type Functions<'s, 'e, 'a> = FunctionEvaluator<'s, 'e, VariantScope<'e, 'a>>;

/// The present elements of a graph.
pub(crate) struct VariantScope<'e, 'a> {
    graph: &'e Graph<'a>,
    presence: &'e Presence,
    types: &'e Types<'e>,
    schemas: OnceCell<Schemas<'e, 'e>>,
    given: Given,
    /// The present inputs by name; if several have a name, the last one counts.
    inputs: FxHashMap<&'a str, ElementId>,
    /// The relations that use named relationship templates. In TOSCA 2.0, such a name means nothing
    /// where several relations do.
    relationships: FxHashMap<&'a str, Option<ElementId>>,
    /// The names in mappings of requirements and capabilities.
    exposed: OnceCell<FxHashSet<Arc<str>>>,
}

impl<'e, 'a> VariantScope<'e, 'a> {
    pub(crate) fn new(
        graph: &'e Graph<'a>,
        presence: &'e Presence,
        types: &'e Types<'e>,
        given: Given,
    ) -> Self {
        let present = graph.inputs.iter().filter(|input| presence.is(input.id));
        let is_2_0 = v2_0::is_of(graph.template.root.document());
        let named = graph.relations.iter().filter(|relation| {
            let counts = !is_2_0 || presence.is(relation.id);
            counts && relation.requirement.relationship().is_some()
        });
        let mut relationships = FxHashMap::default();
        for (relation, template) in
            named.filter_map(|it| Some((it.id, it.relationship?.declared.name())))
        {
            let known = relationships.entry(template).or_insert(Some(relation));
            *known = Some(relation).filter(|_| !is_2_0 || *known == Some(relation));
        }
        Self {
            graph,
            presence,
            types,
            schemas: OnceCell::new(),
            given,
            inputs: present.map(|input| (input.parameter.declared.name(), input.id)).collect(),
            relationships,
            exposed: OnceCell::new(),
        }
    }

    /// The element, if it is present.
    fn present(&self, id: ElementId) -> Option<ElementId> {
        self.presence.is(id).then_some(id)
    }

    fn node(&self, id: ElementId) -> Option<&'e NodeElement<'a>> {
        let element = self.graph.element(id);
        (element.kind == ElementKind::Node).then(|| &self.graph.nodes[element.slot as usize])
    }

    fn relation_of(&self, id: ElementId) -> Option<&'e RelationElement<'a>> {
        let element = self.graph.element(id);
        let is_relation = element.kind == ElementKind::Relation;
        is_relation.then(|| &self.graph.relations[element.slot as usize])
    }

    /// The type of a relation of TOSCA 2.0 without a relationship template: the one that the
    /// assignment names, or else the definition of the requirement.
    fn required_type(&self, relation: ElementId) -> Option<TypeId> {
        let relation = self.relation_of(relation)?;
        let declared = &relation.requirement.declared;
        if !v2_0::is_of(declared.key().document()) {
            return None;
        }
        let find = |name: Node<'_>| {
            self.types.find_in(Some(name.span().file), Family::Relationship, name.text()?)
        };
        let named = declared.value().get("relationship").and_then(find);
        named.or_else(|| {
            let source = self.type_of(self.graph.node(relation.source).id)?;
            let requirement = self.types.effective(source).requirements.get(declared.name())?;
            find(requirement.definition.relationship?)
        })
    }

    /// The element that has a keyname of an element: it may be the node that this one copies.
    fn holder(&self, element: ElementId, keyname: &str) -> ElementId {
        let holder = self.node(element).map(|node| self.graph.holder(node, keyname).id);
        holder.and_then(|id| self.present(id)).unwrap_or(element)
    }

    /// The requirement assignment of a relation.
    fn assignment(&self, relation: ElementId) -> Option<Node<'e>> {
        Some(self.relation_of(relation)?.requirement.declared.value())
    }
}

impl<'e, 'a> FunctionScope<'e> for VariantScope<'e, 'a> {
    type Element = ElementId;

    fn named(&self, entity: Name<'_>) -> Option<ElementId> {
        let node = self.graph.node_named(entity.text).map(|node| node.id);
        let relationship = || self.relationships.get(entity.text).copied().flatten();
        let group = || self.graph.group_named(entity.text).map(|group| group.id);
        node.or_else(relationship).or_else(group).and_then(|id| self.present(id))
    }

    fn ends(&self, relation: ElementId) -> Option<[Option<ElementId>; 2]> {
        let relation = self.relation_of(relation)?;
        let end = |node| self.present(self.graph.node(node).id);
        Some([end(relation.source), relation.target.and_then(end)])
    }

    fn is_node(&self, element: ElementId) -> bool {
        self.graph.element(element).kind == ElementKind::Node
    }

    fn host(&self, node: ElementId) -> Option<ElementId> {
        let mut hosting = self.graph.hosting(self.node(node)?);
        let hosts = hosting.find_map(|it| it.target.filter(|_| self.presence.is(it.id)));
        self.present(self.graph.node(hosts?).id)
    }

    fn relations(&self, node: ElementId, requirement: &str) -> Vec<ElementId> {
        let holder = self.holder(node, "requirements");
        let relations = self.node(holder).into_iter().flat_map(|node| &node.relations);
        let relations = relations.map(|&id| self.graph.relation(id).id);
        let meant = relations.filter(|&id| self.graph.element(id).name == requirement);
        meant.filter(|&id| self.presence.is(id)).collect()
    }

    fn incoming(&self, node: ElementId) -> Vec<ElementId> {
        let relations = self.node(node).into_iter().flat_map(|node| &node.incoming);
        let relations = relations.map(|&id| self.graph.relation(id).id);
        relations.filter(|&id| self.presence.is(id)).collect()
    }

    fn is_exposed(&self, node: ElementId) -> bool {
        let exposed = self.exposed.get_or_init(|| {
            let mut names = FxHashSet::default();
            let topology = self.graph.template.root.get("topology_template");
            let mappings = topology.and_then(|topology| topology.get("substitution_mappings"));
            let of = |keyname| mappings.and_then(|mappings| mappings.get(keyname));
            for mapped in ["requirements", "capabilities"].into_iter().filter_map(of) {
                names_in(&mapped.to_value(), &mut names);
            }
            // The relations of a copy are no elements, so those that lead to its targets are not
            // all known.
            for node in &self.graph.nodes {
                let holder = self.graph.holder(node, "requirements");
                let copied = holder.relations.iter().filter(|_| holder.id != node.id);
                let targets = copied.filter_map(|&id| self.graph.relation(id).target);
                names.extend(targets.map(|id| {
                    let target = self.graph.node(id).id;
                    Arc::from(self.graph.element(target).name)
                }));
            }
            names
        });
        exposed.contains(self.graph.element(node).name)
    }

    fn is_selected(&self, node: ElementId) -> bool {
        let node = self.node(self.holder(node, "directives"));
        node.is_some_and(|node| Directive::Select.is_said_by(node.template.declared.value()))
    }

    fn count(&self, element: ElementId) -> Option<ScopeValue<'e>> {
        let count = match self.node(self.holder(element, "instance_count")) {
            Some(node) => node.template.declared.value().get("instance_count"),
            None => self.assignment(element)?.get("count"),
        };
        count.map(ScopeValue::Written)
    }

    fn target_index(&self, relation: ElementId) -> Option<ScopeValue<'e>> {
        let body = self.assignment(relation)?;
        let target = body.get("node").unwrap_or(body);
        target.items().nth(1).map(ScopeValue::Written)
    }

    fn allocation(&self, relation: ElementId, property: &str) -> Option<ScopeValue<'e>> {
        self.assignment(relation)?.get("allocation")?.get(property).map(ScopeValue::Written)
    }

    fn units(&self, definition: &PropertyDefinition<'_>) -> Vec<UnitSize> {
        units(self.types, definition)
    }

    fn gives_versions_as_texts(&self) -> bool {
        self.given.has_texts
    }

    fn text_type(&self, schema: &Schema<'_>, path: &[String]) -> Option<TextType> {
        TextType::of_part(schema, path, self.schemas.get_or_init(|| Schemas::new(self.types)))
    }

    fn default_of(&self, schema: &Schema<'_>, path: &[String]) -> Option<Value> {
        default_of_part(schema, path, self.schemas.get_or_init(|| Schemas::new(self.types)))
    }

    fn requirement(&self, relation: ElementId) -> (&'e str, Option<&'e str>) {
        let Some(relation) = self.relation_of(relation) else { return ("", None) };
        let declared = &relation.requirement.declared;
        (declared.name(), declared.value().get("capability").and_then(Node::text))
    }

    fn nodes(&self) -> impl Iterator<Item = (ElementId, &'e str)> {
        let present = self.graph.nodes.iter().filter(|node| self.presence.is(node.id));
        present.map(|node| (node.id, self.graph.element(node.id).name))
    }

    fn input(&self, operand: Node<'_>) -> Option<ScopeInput<'e>> {
        let inputs = &self.graph.inputs;
        let id = match operand.scalar() {
            Some(Scalar::Int(index)) => {
                let input = usize::try_from(index).ok().and_then(|index| inputs.get(index));
                input.and_then(|input| self.present(input.id))
            }
            _ => self.inputs.get(operand.text().unwrap_or_default()).copied(),
        }?;
        let element = self.graph.element(id);
        let declared = &inputs[element.slot as usize].parameter.declared;
        // Validating reports errors of the declaration.
        let definition = declared.parameter_definition(&mut Diagnostics::default());
        let default = || definition.value.or(definition.default).map(ScopeValue::Written);
        let given = self.given.inputs.get(&id).cloned().map(ScopeValue::Known);
        Some(ScopeInput {
            name: declared.name(),
            span: element.span,
            is_required: definition.is_required(),
            schema: definition.expected().cloned(),
            value: given.or_else(default),
        })
    }

    fn property(&self, element: ElementId, name: &str) -> Option<ScopeValue<'e>> {
        let holder = self.holder(element, "properties");
        let present = self.presence.among(self.graph.properties_of(holder));
        let named = present.filter(|&property| self.graph.element(property).name == name);
        let property = named.last()?;
        let slot = self.graph.element(property).slot as usize;
        Some(match self.graph.properties[slot].property.value {
            PropertyValue::Value(value) => ScopeValue::Written(value),
            PropertyValue::Expression(_) => match self.given.expressions.get(&property) {
                Some(value) => ScopeValue::Known(value.clone()),
                None => ScopeValue::Open,
            },
        })
    }

    fn capability_property(
        &self,
        node: ElementId,
        capability: &str,
        name: &str,
    ) -> Option<ScopeValue<'e>> {
        let holder = self.holder(node, "capabilities");
        let capabilities = self.node(holder)?.template.declared.value().get("capabilities")?;
        let value = capabilities.get(capability)?.get("properties")?.get(name)?;
        Some(ScopeValue::Written(value))
    }

    fn type_of(&self, element: ElementId) -> Option<TypeId> {
        let family = match self.graph.element(element).kind {
            ElementKind::Node => Family::Node,
            ElementKind::Relation => Family::Relationship,
            ElementKind::Group => Family::Group,
            ElementKind::Policy => Family::Policy,
            _ => return None,
        };
        let holder = self.holder(element, "type");
        match self.presence.among(self.graph.types_of(holder)).next() {
            Some(chosen) => self.types.find(family, self.graph.element(chosen).name),
            None => self.required_type(element),
        }
    }

    fn effective(&self, id: TypeId) -> &'e EffectiveType<'e> {
        self.types.effective(id)
    }

    fn type_named(&self, file: Option<FileId>, family: Family, name: &str) -> Option<TypeId> {
        self.types.find_in(file, family, name)
    }

    fn derives(&self, one: TypeId, ancestor: TypeId) -> bool {
        self.types.derives(TypeRef::Defined(one), TypeRef::Defined(ancestor))
    }

    /// The digest of a secret stands for a value that an instance has and nobody knows.
    fn is_placeholder(&self, value: &Value) -> bool {
        kept_secret(value).is_some()
    }
}
