//! Computes effective types: puts the own parts of a type over the inherited ones, and checks that
//! refinements are allowed. The specification has rules for properties (section 3.6.10.6), and for
//! the valid sources of a capability (section 3.7.2.4). The type of a capability has to derive from
//! the one that it replaces, as requirements of the inherited type would lose their target
//! otherwise. A derived type may redefine everything else freely.

use super::defined::Types;
use super::definition::{
    ArtifactDefinition, CapabilityDefinition, InterfaceDefinition, Occurrences,
    OperationDefinition, RequirementDefinition, TypeDefinition, ValidEnds,
};
use super::hierarchy::{TypeId, TypeRef};
use crate::diagnostic::{
    Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_SIMPLE_1_3, did_you_mean,
};
use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use crate::tosca::v2_0;
use crate::tosca::value::{Clause, DefinedRole, Operator, PropertyDefinition, Schema};
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::borrow::Cow;
use std::sync::Arc;

/// An effective part of a type: a property, a capability, and so on.
#[derive(Clone, Debug)]
pub struct Part<'a, T> {
    /// The last type that defines the part.
    pub owner: TypeId,
    /// The name of the part, and the place of its last definition.
    pub named: Named<'a>,
    /// The inherited part that this one refines.
    pub refines: Option<Arc<Self>>,
    /// The effective definition, including what it inherits.
    pub definition: T,
}

/// Effective parts by name. Inherited ones come first, each group in the order written. A type that
/// adds nothing shares the parts of its parent.
pub type Parts<'a, T> = Arc<IndexMap<&'a str, Arc<Part<'a, T>>, FxBuildHasher>>;

/// The members of a type, including all inherited ones.
#[derive(Clone, Debug, Default)]
pub struct EffectiveType<'a> {
    /// Properties.
    pub properties: Parts<'a, PropertyDefinition<'a>>,
    /// Attributes, without those that reflect properties.
    pub attributes: Parts<'a, PropertyDefinition<'a>>,
    /// Capabilities.
    pub capabilities: Parts<'a, EffectiveCapability<'a>>,
    /// Requirements.
    pub requirements: Parts<'a, RequirementDefinition<'a>>,
    /// Interfaces.
    pub interfaces: Parts<'a, EffectiveInterface<'a>>,
    /// Artifacts.
    pub artifacts: Parts<'a, ArtifactDefinition<'a>>,
    /// The inputs, operations and notifications of an interface type.
    pub interface: EffectiveInterface<'a>,
    /// The list `valid_source_types`, `valid_target_types`, `members` or `targets`, where the type
    /// or an ancestor has one.
    pub valid_types: Option<Vec<Node<'a>>>,
    /// The types that TOSCA 2.0 lists besides.
    pub valid_ends: Option<Arc<ValidEnds<'a>>>,
    /// The constraints of a data type, including inherited ones, and its schemas.
    pub schema: Schema<'a>,
    /// Whether an ancestor is not defined, so that the type may have more members than are known.
    pub is_open: bool,
    /// The errors in the type's own definitions.
    pub(super) diagnostics: Diagnostics,
}

/// A capability with the members of its type.
#[derive(Clone, Debug)]
pub struct EffectiveCapability<'a> {
    /// The name of its type.
    pub kind: Option<Node<'a>>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// The properties of its type and its own.
    pub properties: Parts<'a, PropertyDefinition<'a>>,
    /// The attributes of its type and its own.
    pub attributes: Parts<'a, PropertyDefinition<'a>>,
    /// The node types that may use it, where they are listed.
    pub valid_source_types: Option<Vec<Node<'a>>>,
    /// The relationship types that may lead to it, where they are listed.
    pub valid_relationship_types: Option<Vec<Node<'a>>>,
    /// How often it may be used, where bounds are given. Without bounds, it is used at least once
    /// and any number of times (section 3.7.2.1).
    pub occurrences: Option<Occurrences<'a>>,
    /// Whether its type is unknown, or may have more members than are known.
    pub is_open: bool,
}

/// An interface with the members of its type.
#[derive(Clone, Debug, Default)]
pub struct EffectiveInterface<'a> {
    /// The name of its type.
    pub kind: Option<Node<'a>>,
    /// Inputs of all operations.
    pub inputs: Parts<'a, PropertyDefinition<'a>>,
    /// Operations. The inputs of each include all inherited ones.
    pub operations: Parts<'a, OperationDefinition<'a>>,
    /// Notifications.
    pub notifications: Parts<'a, OperationDefinition<'a>>,
    /// Whether its type is unknown, or may have more members than are known.
    pub is_open: bool,
}

/// The families of types that a group type may list.
const MEMBERS: [Family; 3] = [Family::Node, Family::Capability, Family::Group];

impl<'a> Types<'a> {
    /// Two members of a group type that belong to different hierarchies.
    pub(crate) fn unrelated<'n>(&self, members: &[Node<'n>]) -> Option<[Node<'n>; 2]> {
        let root = |node: &Node<'n>| {
            let (file, name) = (Some(node.document().file()), node.text()?);
            let id = MEMBERS.into_iter().find_map(|family| self.find_in(file, family, name))?;
            Some((*node, self.chain(id).last()?))
        };
        let roots: Vec<_> = members.iter().filter_map(root).collect();
        let (first, of_first) = *roots.first()?;
        let (other, _) = *roots.iter().find(|(_, root)| *root != of_first)?;
        Some([first, other])
    }
}

/// Computes the effective type from that of its parent.
pub(super) fn effective<'a>(
    types: &Types<'a>,
    id: TypeId,
    parent: Option<&EffectiveType<'a>>,
) -> EffectiveType<'a> {
    let mut effective = parent.cloned().unwrap_or_default();
    effective.is_open |= types.has_unknown_parent(id);
    let is_open = effective.is_open;
    let mut refining = Refining { types, owner: id, is_open, diagnostics: Diagnostics::default() };
    let definition = types.definition(id);
    let own = &definition.properties;
    effective.properties =
        refining.properties(&effective.properties, own, is_open, PropertyKind::Property);
    effective.attributes = refining.properties(
        &effective.attributes,
        &definition.attributes,
        is_open,
        PropertyKind::Attribute,
    );
    effective.capabilities =
        refining.parts(&effective.capabilities, &definition.capabilities, Refining::capability);
    effective.requirements =
        refining.parts(&effective.requirements, &definition.requirements, Refining::requirement);
    refining.interfaces_have_types(definition, &effective.interfaces);
    effective.interfaces =
        refining.parts(&effective.interfaces, &definition.interfaces, Refining::interface);
    effective.artifacts =
        refining.parts(&effective.artifacts, &definition.artifacts, Refining::artifact);
    effective.interface.is_open = is_open;
    effective.interface = refining.interface_parts(&effective.interface, &definition.interface);
    effective.valid_types = refining.valid_types(definition, effective.valid_types.as_deref());
    effective.valid_ends = refining.valid_ends(definition, effective.valid_ends.as_ref());
    effective.schema = refining.data_type(&definition.schema, &effective.schema);
    refining.outputs(definition, &effective);
    refining.triggers(&definition.triggers);
    effective.diagnostics = refining.diagnostics;
    effective
}

/// A definition that has a name.
pub(super) trait HasName<'a> {
    fn named(&self) -> Named<'a>;
}

macro_rules! named {
    ($($definition:ident)*) => {
        $(impl<'a> HasName<'a> for $definition<'a> {
            fn named(&self) -> Named<'a> {
                self.named
            }
        })*
    };
}

named! { PropertyDefinition CapabilityDefinition RequirementDefinition InterfaceDefinition OperationDefinition ArtifactDefinition }

/// The kind of a part whose refinement is checked by data type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyKind {
    Property,
    Attribute,
}

impl PropertyKind {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Property => "property",
            Self::Attribute => "attribute",
        }
    }

    /// The section that defines the keynames.
    fn section(self) -> &'static str {
        match self {
            Self::Property => "3.6.10.2",
            Self::Attribute => "3.6.12.2",
        }
    }
}

/// The state of putting the definitions of one type over the inherited ones.
pub(super) struct Refining<'t, 'a> {
    pub types: &'t Types<'a>,
    pub owner: TypeId,
    /// Whether the type may inherit more than is known.
    pub is_open: bool,
    pub diagnostics: Diagnostics,
}

impl<'t, 'a> Refining<'t, 'a> {
    /// The state for parts whose errors are found elsewhere.
    pub(super) fn silent(types: &'t Types<'a>, owner: TypeId) -> Self {
        Self { types, owner, is_open: true, diagnostics: Diagnostics::default() }
    }

    /// Puts the type's own definitions over inherited parts.
    pub(super) fn parts<D: HasName<'a>, T>(
        &mut self,
        inherited: &Parts<'a, T>,
        own: &[D],
        mut refine: impl FnMut(&mut Self, &D, Option<&Part<'a, T>>) -> T,
    ) -> Parts<'a, T> {
        let mut parts = Arc::clone(inherited);
        for definition in own {
            let named = definition.named();
            let refines = parts.get(named.name).cloned();
            let effective = refine(self, definition, refines.as_deref());
            let part = Part { owner: self.owner, named, refines, definition: effective };
            Arc::make_mut(&mut parts).insert(named.name, Arc::new(part));
        }
        parts
    }

    /// Puts own properties over inherited ones. With `is_open`, a definition may refine a part that
    /// is not known.
    pub(super) fn properties(
        &mut self,
        inherited: &Parts<'a, PropertyDefinition<'a>>,
        own: &[PropertyDefinition<'a>],
        is_open: bool,
        kind: PropertyKind,
    ) -> Parts<'a, PropertyDefinition<'a>> {
        self.parts(inherited, own, |refining, own, refined| {
            refining.property(own, refined, is_open, kind)
        })
    }

    /// Puts an input or an output over the one that it refines. It replaces each keyname that it
    /// has and inherits the others, unless its data type is unrelated; then it inherits nothing.
    fn parameter(
        &mut self,
        noun: &str,
        own: &PropertyDefinition<'a>,
        refined: Option<&PropertyDefinition<'a>>,
    ) -> PropertyDefinition<'a> {
        let own = &*self.as_converted(own);
        self.schema_references(&own.schema);
        if let Some(before) = refined {
            self.narrowed_parameter(noun, own, before);
            self.default_of_optional("parameter", own, before);
        }
        let is_kept = |before: &&PropertyDefinition<'a>| {
            let known = |kind| self.known(Family::Data, kind);
            let (new, old) = (own.schema.kind.map(known), before.schema.kind.map(known));
            let derives = |(new, old)| self.types.derives(new, old);
            new.zip(old).is_none_or(|(new, old)| new.zip(old).is_some_and(derives))
        };
        let Some(before) = refined.filter(is_kept) else {
            self.has_typed_parts(&own.schema, own.named.value);
            return own.clone();
        };
        let schema = self.parameter_schema(noun, &own.schema, &before.schema);
        self.has_typed_parts(&schema, own.named.value);
        PropertyDefinition {
            named: own.named,
            schema,
            description: own.description.or(before.description),
            required: own.required.or(before.required),
            default: own.default.or(before.default),
            status: own.status.or(before.status),
            value: own.value.or(before.value),
            sensitive: own.sensitive.or(before.sensitive),
            role: own.role,
        }
    }

    /// The schema of a parameter over the one that it refines. Schemas of keys and entries refine
    /// earlier ones if they leave out their types.
    fn parameter_schema(&mut self, noun: &str, new: &Schema<'a>, old: &Schema<'a>) -> Schema<'a> {
        let section = DefinedRole::Parameter.refinement();
        let mut part =
            |new: &Option<Box<Schema<'a>>>, old: &Option<Box<Schema<'a>>>| match (new, old) {
                (Some(new), Some(old)) if !new.is_typed() => {
                    Some(Box::new(self.schema(new, old, noun, section)))
                }
                _ => new.clone().or_else(|| old.clone()),
            };
        Schema {
            constraints: if new.constraints.is_empty() {
                &old.constraints
            } else {
                &new.constraints
            }
            .clone(),
            validations: [&*old.validations, &new.validations].concat(),
            key_schema: part(&new.key_schema, &old.key_schema),
            entry_schema: part(&new.entry_schema, &old.entry_schema),
            ..Schema::untyped()
        }
        .with_kind(new.kind.or(old.kind))
    }

    /// A parameter as conversions to TOSCA 2.0 write it: its value is its default there.
    fn as_converted<'d>(&self, own: &'d PropertyDefinition<'a>) -> Cow<'d, PropertyDefinition<'a>> {
        let key = own.named.key;
        let is_old = self.types.is_strict_in(key.document()) && !v2_0::is_of(key.document());
        match own.value.filter(|_| is_old) {
            Some(_) => {
                Cow::Owned(PropertyDefinition { default: own.value, value: None, ..own.clone() })
            }
            None => Cow::Borrowed(own),
        }
    }

    fn property(
        &mut self,
        own: &PropertyDefinition<'a>,
        refined: Option<&Part<'a, PropertyDefinition<'a>>>,
        is_open: bool,
        kind: PropertyKind,
    ) -> PropertyDefinition<'a> {
        let (noun, name) = (kind.noun(), own.named.name);
        self.schema_references(&own.schema);
        self.has_units(&own.schema);
        self.narrows_data_type(&own.schema, &format!("{noun} `{name}`"), own.role.refinement());
        let Some(refined) = refined else {
            let untyped = own.schema.kind.is_none() && own.named.value.get("type").is_none();
            let is_read = own.value.is_some() || is_map(own.named) || own.named.value.is_null();
            if untyped && !is_open && is_read {
                self.untyped(noun, own.named, kind.section());
            }
            self.has_typed_parts(&own.schema, own.named.value);
            return own.clone();
        };
        let before = &refined.definition;
        if self.refines_fixed(noun, own, before) {
            return PropertyDefinition { named: own.named, ..before.clone() };
        }
        self.default_of_optional(noun, own, before);
        let loosened = own.required.filter(|_| !own.is_required() && before.is_required());
        if let Some(required) = loosened {
            let message =
                format!("the {noun} `{name}` is required already, and cannot be made optional");
            self.loosened(
                required,
                message,
                before.required.unwrap_or(refined.named.key),
                "required here",
                simple("3.6.10.6"),
            );
        }
        if let Some((own, fixed)) =
            own.value.zip(before.value).filter(|(own, fixed)| own.to_value() != fixed.to_value())
        {
            self.loosened(
                own,
                format!("the {noun} `{name}` has a fixed value already"),
                fixed,
                "fixed here",
                simple("3.6.10.6"),
            );
        }
        let schema = self.schema(
            &own.schema,
            &before.schema,
            &format!("{noun} `{name}`"),
            own.role.refinement(),
        );
        self.has_typed_parts(&schema, own.named.value);
        PropertyDefinition {
            named: own.named,
            schema,
            description: own.description.or(before.description),
            required: loosened.map_or(own.required, |_| None).or(before.required),
            default: own.default.or(before.default),
            status: own.status.or(before.status),
            value: before.value.or(own.value),
            sensitive: own.sensitive.or(before.sensitive),
            role: own.role,
        }
    }

    /// Puts a schema over the one that it refines. Its type has to derive from the other, and its
    /// constraints are added.
    pub(super) fn schema(
        &mut self,
        own: &Schema<'a>,
        before: &Schema<'a>,
        what: &str,
        section: &'static str,
    ) -> Schema<'a> {
        self.ranges(&own.constraints, &before.constraints, what);
        let mut part = |own: &Option<Box<Schema<'a>>>,
                        before: &Option<Box<Schema<'a>>>,
                        part: &str| match (own, before) {
            (Some(own), Some(before)) => {
                Some(Box::new(self.schema(own, before, &format!("{part} of the {what}"), section)))
            }
            (own, before) => own.clone().or_else(|| before.clone()),
        };
        let (key_schema, entry_schema) = (
            part(&own.key_schema, &before.key_schema, "key schema"),
            part(&own.entry_schema, &before.entry_schema, "entry schema"),
        );
        let of = format!("the {what}");
        let kind = self.narrowed(Family::Data, own.kind, before.kind, &of, simple(section));
        Schema {
            type_name: own.type_name,
            kind: None,
            constraints: [&*before.constraints, &own.constraints].concat(),
            validations: [&*before.validations, &own.validations].concat(),
            key_schema,
            entry_schema,
        }
        .with_kind(kind)
    }

    /// Checks that `in_range` only restricts the inherited range further (section 3.6.3.1). Bounds
    /// that are not plain numbers are not compared.
    fn ranges(&mut self, own: &[Clause<'a>], before: &[Clause<'a>], what: &str) {
        // The last of the inherited ranges is the narrowest.
        let Some((outer, inherited)) = before.iter().rev().find_map(range) else { return };
        for (inner, operand) in own.iter().filter_map(range) {
            if inner.0 < outer.0 || inner.1 > outer.1 {
                let message = format!("the range of the {what} is wider than the one it refines");
                self.loosened(
                    operand,
                    message,
                    inherited,
                    "the range that is inherited",
                    simple("3.6.3.1"),
                );
            }
        }
    }

    /// The effective type of a part: the own one if it derives from the inherited one, else the
    /// inherited one.
    pub(super) fn narrowed(
        &mut self,
        family: Family,
        own: Option<Node<'a>>,
        before: Option<Node<'a>>,
        what: &str,
        rule: Rule,
    ) -> Option<Node<'a>> {
        let (Some(new), Some(old)) = (own, before) else { return own.or(before) };
        match (self.known(family, new), self.known(family, old)) {
            (Some(one), Some(ancestor)) if !self.types.may_derive(one, ancestor) => {
                let (noun, new_name) = (family.noun(), new.text().unwrap_or_default());
                let old_name = self.types.called_by(Some(new.document().file()), &[family], old);
                let message =
                    format!("the {noun} `{new_name}` of {what} does not derive from `{old_name}`");
                self.loosened(new, message, old, "the type that is inherited", rule);
                before
            }
            _ => own,
        }
    }

    fn capability(
        &mut self,
        own: &CapabilityDefinition<'a>,
        refined: Option<&Part<'a, EffectiveCapability<'a>>>,
    ) -> EffectiveCapability<'a> {
        let name = own.named.name;
        let before = refined.map(|refined| &refined.definition);
        self.reference(&[Family::Capability], own.kind);
        own.valid_source_types
            .iter()
            .flatten()
            .for_each(|node| self.reference(&[Family::Node], Some(*node)));
        let inherited = before.and_then(|before| before.kind);
        let of = format!("the capability `{name}`");
        let kind = self.narrowed(Family::Capability, own.kind, inherited, &of, simple("3.7.2"));
        if kind.is_none()
            && !self.is_open
            && is_map(own.named)
            && own.named.value.get("type").is_none()
        {
            self.untyped("capability", own.named, "3.7.2.1");
        }
        let given = kind
            .and_then(|kind| self.defined(Family::Capability, kind))
            .map(|id| self.types.effective(id));
        let is_open = given.is_none_or(|given| given.is_open);
        let base = |given: Option<&Parts<'a, _>>, before| {
            self.over_type(given, before, Family::Capability)
        };
        let properties =
            base(given.map(|given| &given.properties), before.map(|before| &before.properties));
        let attributes =
            base(given.map(|given| &given.attributes), before.map(|before| &before.attributes));
        if !is_open {
            self.capability_adds_nothing(own, &properties, &attributes);
        }
        EffectiveCapability {
            kind,
            description: own.description.or(before.and_then(|before| before.description)),
            properties: self.properties(
                &properties,
                &own.properties,
                is_open,
                PropertyKind::Property,
            ),
            attributes: self.properties(
                &attributes,
                &own.attributes,
                is_open,
                PropertyKind::Attribute,
            ),
            valid_source_types: self.sources(own, before, given),
            valid_relationship_types: self.relationships(own, before, given),
            occurrences: own.occurrences.or(before.and_then(|before| before.occurrences)),
            is_open,
        }
    }

    /// The node types that may use a capability. They have to be among those of the capability's
    /// type (section 3.7.2.4), whatever the refined definition lists.
    fn sources(
        &mut self,
        own: &CapabilityDefinition<'a>,
        before: Option<&EffectiveCapability<'a>>,
        given: Option<&EffectiveType<'a>>,
    ) -> Option<Vec<Node<'a>>> {
        let of_type = given.and_then(|given| given.valid_types.as_deref());
        match own.valid_source_types.as_deref() {
            Some(own_types) => {
                let what = format!("the type of the capability `{}`", own.named.name);
                self.narrower(&[Family::Node], own_types, of_type, (&what, simple("3.7.2.4")));
                Some(own_types)
            }
            None => before.and_then(|before| before.valid_source_types.as_deref()).or(of_type),
        }
        .map(<[_]>::to_vec)
    }

    /// Puts the parts that earlier definitions with this type added over those of the type itself.
    fn over_type<T>(
        &self,
        given: Option<&Parts<'a, T>>,
        before: Option<&Parts<'a, T>>,
        family: Family,
    ) -> Parts<'a, T> {
        let mut parts = given.cloned().unwrap_or_default();
        let said = before.into_iter().flat_map(|before| before.values());
        for part in said.filter(|part| self.types.definition(part.owner).family != family) {
            Arc::make_mut(&mut parts).insert(part.named.name, Arc::clone(part));
        }
        parts
    }

    fn requirement(
        &mut self,
        own: &RequirementDefinition<'a>,
        refined: Option<&Part<'a, RequirementDefinition<'a>>>,
    ) -> RequirementDefinition<'a> {
        let name = own.named.name;
        let before = refined.map(|refined| &refined.definition);
        let node = own.node.or(before.and_then(|before| before.node));
        if self.types.capability_named(own.capability, node).is_none() {
            self.reference(&[Family::Capability], own.capability);
        }
        self.reference(&[Family::Node], own.node);
        self.reference(&[Family::Relationship], own.relationship);
        if own.capability.is_none()
            && before.is_none()
            && !self.is_open
            && is_map(own.named)
            && own.named.value.get("capability").is_none()
        {
            self.missing(
                own.named,
                &format!("the requirement `{name}` has no `capability`"),
                "3.7.3.1",
            );
        }
        self.relationship_interfaces(own, refined);
        // A conversion may leave out what the definition itself says of the ends.
        let said = own.relationship.or(own.capability);
        let said = said.filter(|_| !v2_0::is_of(own.named.key.document()));
        let own = &match before.filter(|_| self.types.is_strict_in(own.named.key.document())) {
            Some(before) => self.refined_requirement(own, before),
            None => own.clone(),
        };
        if self.types.is_strict_in(own.named.key.document()) {
            let capability = own.capability.or(before.and_then(|before| before.capability));
            let relationship = own.relationship.or(before.and_then(|before| before.relationship));
            self.may_lead(said.unwrap_or(own.named.key), relationship, capability);
        }
        let [properties, attributes] = self.relationship_parts(own, before);
        RequirementDefinition {
            named: own.named,
            properties,
            attributes,
            description: own.description.or(before.and_then(|before| before.description)),
            capability: own.capability.or(before.and_then(|before| before.capability)),
            node: own.node.or(before.and_then(|before| before.node)),
            relationship: own.relationship.or(before.and_then(|before| before.relationship)),
            interfaces: if own.interfaces.is_empty() {
                before.map(|before| before.interfaces.clone()).unwrap_or_default()
            } else {
                own.interfaces.clone()
            },
            node_filters: match before {
                Some(before) if own.node_filters.is_empty() => before.node_filters.clone(),
                _ => own.node_filters.clone(),
            },
            occurrences: own.occurrences.or(before.and_then(|before| before.occurrences)),
        }
    }

    /// Reports interfaces that a type of TOSCA 2.0 adds without a type (section 11.2). They do not refine
    /// those that have the type of their name.
    fn interfaces_have_types(
        &mut self,
        definition: &TypeDefinition<'a>,
        inherited: &Parts<'a, EffectiveInterface<'a>>,
    ) {
        let is_told = self.is_open || definition.value.get("derived_from").is_none();
        if is_told || !v2_0::is_of(definition.key.document()) {
            return;
        }
        for own in &definition.interfaces {
            if own.kind.is_none()
                && own.named.value.get("type").is_none()
                && !inherited.contains_key(own.named.name)
            {
                self.untyped("interface", own.named, "3.6.20");
            }
        }
    }

    pub(super) fn interface(
        &mut self,
        own: &InterfaceDefinition<'a>,
        refined: Option<&Part<'a, EffectiveInterface<'a>>>,
    ) -> EffectiveInterface<'a> {
        let before = refined.map(|refined| &refined.definition);
        self.reference(&[Family::Interface], own.kind);
        let kind = self.interface_type(own, before.and_then(|before| before.kind));
        let given = kind
            .and_then(|kind| self.defined(Family::Interface, kind))
            .map(|id| &self.types.effective(id).interface);
        let is_open = match kind {
            Some(_) => given.is_none_or(|given| given.is_open),
            None => before.map_or(self.is_open, |before| before.is_open),
        };
        let base = EffectiveInterface {
            kind,
            inputs: self.over_type(
                given.map(|given| &given.inputs),
                before.map(|before| &before.inputs),
                Family::Interface,
            ),
            operations: self.over_type(
                given.map(|given| &given.operations),
                before.map(|it| &it.operations),
                Family::Interface,
            ),
            notifications: self.over_type(
                given.map(|it| &it.notifications),
                before.map(|it| &it.notifications),
                Family::Interface,
            ),
            is_open,
        };
        self.interface_adds_nothing(own, &base);
        self.interface_parts(&base, own)
    }

    fn interface_parts(
        &mut self,
        before: &EffectiveInterface<'a>,
        own: &InterfaceDefinition<'a>,
    ) -> EffectiveInterface<'a> {
        EffectiveInterface {
            kind: before.kind,
            inputs: self.parts(&before.inputs, &own.inputs, |refining, own, refined| {
                refining.parameter("input", own, refined.map(|refined| &refined.definition))
            }),
            operations: self.parts(&before.operations, &own.operations, Self::operation),
            notifications: self.parts(&before.notifications, &own.notifications, Self::operation),
            is_open: before.is_open,
        }
    }

    /// Puts an operation over the one that it refines: its implementation overrides the inherited
    /// one (section 3.6.17.3).
    fn operation(
        &mut self,
        own: &OperationDefinition<'a>,
        refined: Option<&Part<'a, OperationDefinition<'a>>>,
    ) -> OperationDefinition<'a> {
        let before = refined.map(|refined| &refined.definition);
        let inherited = before.map_or(Default::default(), |it| [&*it.inputs, &*it.results]);
        OperationDefinition {
            named: own.named,
            description: own.description.or(before.and_then(|before| before.description)),
            implementation: own.implementation.or(before.and_then(|before| before.implementation)),
            inputs: self.parameters("input", &own.inputs, inherited[0]),
            outputs: self.refined_outputs(own, before),
            results: self.parameters("output", &own.results, inherited[1]),
        }
    }

    /// Puts parameters over those that they refine.
    fn parameters(
        &mut self,
        noun: &str,
        own: &[PropertyDefinition<'a>],
        inherited: &[PropertyDefinition<'a>],
    ) -> Vec<PropertyDefinition<'a>> {
        let mut all: IndexMap<&str, PropertyDefinition<'a>, FxBuildHasher> = IndexMap::default();
        all.extend(inherited.iter().map(|it| (it.named.name, it.clone())));
        for parameter in own {
            let said = self.parameter(noun, parameter, all.get(parameter.named.name));
            all.insert(parameter.named.name, said);
        }
        all.into_values().collect()
    }

    /// Checks that outputs of operations go into attributes of the type, or of its capabilities
    /// (section 3.6.15).
    fn outputs(&mut self, definition: &TypeDefinition<'a>, effective: &EffectiveType<'a>) {
        let operations = definition
            .interfaces
            .iter()
            .flat_map(|interface| interface.operations.iter().chain(&interface.notifications));
        for output in operations.flat_map(|operation| &operation.outputs) {
            // What only describes an output maps it nowhere (TOSCA 2.0).
            let is_mapping = output.value.kind() == NodeKind::Sequence;
            if !is_mapping && v2_0::is_of(output.key.document()) {
                continue;
            }
            let ends = definition.family == Family::Relationship;
            let mut parts = v2_0::output_path(output.value, ends).into_iter();
            match (parts.next().and_then(Node::text), parts.next()) {
                (Some("SELF"), Some(name)) => self.output(name, parts.next(), effective),
                // The types of the ends are known in templates only.
                (Some("SOURCE" | "TARGET"), Some(_)) if ends => {}
                _ => {
                    let first = if ends { "`SELF`, `SOURCE` or `TARGET`" } else { "`SELF`" };
                    let message = format!(
                        "the output `{}` has to be mapped by a list of {first} and the name of an attribute",
                        output.name
                    );
                    self.missing(*output, &message, "3.6.15.1");
                }
            }
        }
    }

    /// Checks that an output names an attribute, or a capability and one of its attributes. Each
    /// property counts as an attribute as well (section 3.6.10.1).
    fn output(
        &mut self,
        name: Node<'a>,
        attribute: Option<Node<'a>>,
        effective: &EffectiveType<'a>,
    ) {
        let capability = effective.capabilities.get(name.text().unwrap_or_default()).zip(attribute);
        let (name, attributes, properties) = match capability {
            Some((capability, attribute)) => {
                (attribute, &capability.definition.attributes, &capability.definition.properties)
            }
            None => (name, &effective.attributes, &effective.properties),
        };
        let text = name.text().unwrap_or_default();
        // Where a relationship leads is known in templates.
        let is_open = v2_0::leads_away(name)
            || capability.map_or(self.is_open, |(capability, _)| capability.definition.is_open);
        if !is_open && !attributes.contains_key(text) && !properties.contains_key(text) {
            let owner = match capability {
                Some((capability, _)) => format!("the capability `{}`", capability.named.name),
                None => {
                    format!("`{}`", self.types.called(Some(name.document().file()), self.owner))
                }
            };
            let error = Diagnostic::error(
                Code::UnknownElement,
                format!("{owner} has no attribute `{text}`"),
            )
            .at(name.span());
            let help = did_you_mean(text, attributes.keys().chain(properties.keys()).copied());
            self.diagnostics.push(error.section("3.6.15.1").help_opt(help));
        }
    }

    fn artifact(
        &mut self,
        own: &ArtifactDefinition<'a>,
        refined: Option<&Part<'a, ArtifactDefinition<'a>>>,
    ) -> ArtifactDefinition<'a> {
        let name = own.named.name;
        // In TOSCA 2.0, it replaces the one of this name (section 12.2).
        let refined = refined.filter(|_| !v2_0::is_of(own.named.key.document()));
        let before = refined.map(|refined| &refined.definition);
        self.reference(&[Family::Artifact], own.kind);
        let is_new = before.is_none() && !self.is_open && is_map(own.named);
        if own.file.is_none() && is_new && own.named.value.get("file").is_none() {
            self.missing(own.named, &format!("the artifact `{name}` has no `file`"), "3.6.7.1");
        }
        if own.kind.is_none() && is_new && own.named.value.get("type").is_none() {
            self.untyped("artifact", own.named, "3.6.7.1");
        }
        ArtifactDefinition {
            named: own.named,
            kind: own.kind.or(before.and_then(|before| before.kind)),
            file: own.file.or(before.and_then(|before| before.file)),
            repository: own.repository.or(before.and_then(|before| before.repository)),
            description: own.description.or(before.and_then(|before| before.description)),
            properties: if own.properties.is_empty() {
                before.map(|before| before.properties.clone()).unwrap_or_default()
            } else {
                own.properties.clone()
            },
        }
    }

    /// The node, capability or other types that a type lists.
    fn valid_types(
        &mut self,
        definition: &TypeDefinition<'a>,
        before: Option<&[Node<'a>]>,
    ) -> Option<Vec<Node<'a>>> {
        let Some(own) = definition.valid_types.as_deref() else {
            return before.map(<[_]>::to_vec);
        };
        let families: &[Family] = match definition.family {
            Family::Capability => &[Family::Node],
            Family::Relationship => &[Family::Capability],
            // Members of TOSCA 2.0 are nodes and groups (section 16.1).
            Family::Group if !v2_0::is_of(definition.key.document()) => &MEMBERS,
            _ => &[Family::Node, Family::Group],
        };
        own.iter().for_each(|node| self.reference(families, Some(*node)));
        // Before TOSCA 2.0, only the sources of a capability have to be narrower.
        if definition.family == Family::Capability
            || self.types.is_strict_in(definition.key.document())
        {
            let what = definition.inherited();
            let section = match definition.family {
                Family::Capability => "3.7.2.4",
                Family::Relationship => "3.7.10.1",
                Family::Group => "3.7.11.1",
                _ => "3.7.12.1",
            };
            let known = self.diagnostics.0.len();
            self.narrower(families, own, before, (&what, simple(section)));
            // A conversion leaves out what is wider.
            if self.diagnostics.0.len() > known && !v2_0::is_of(definition.key.document()) {
                return before.map(<[_]>::to_vec);
            }
        }
        // Groups of TOSCA 2.0 have members of any types (section 16.1).
        if definition.family == Family::Group && !v2_0::is_of(definition.key.document()) {
            self.homogeneous(own);
        }
        Some(own.to_vec())
    }

    /// Checks that all members of a group belong to one hierarchy (section 3.7.11.4).
    fn homogeneous(&mut self, members: &[Node<'a>]) {
        if let Some([first, other]) = self.types.unrelated(members) {
            let name = |node: Node<'a>| node.text().unwrap_or_default();
            let message = format!(
                "`{}` and `{}` derive from different types, and cannot be members of one group",
                name(first),
                name(other)
            );
            let error = Diagnostic::error(Code::InvalidDefinition, message)
                .at(other.span())
                .label(first.span(), "the other one");
            self.diagnostics.push(error.section("3.7.11.4"));
        }
    }

    fn data_type(&mut self, own: &Schema<'a>, before: &Schema<'a>) -> Schema<'a> {
        self.schema_references(own);
        let definition = self.types.definition(self.owner);
        let name = format!("data type `{}`", definition.name);
        let schema = self.schema(own, before, &name, "3.7.6");
        self.has_typed_parts(&schema, definition.value);
        if self.types.is_strict_in(definition.key.document()) {
            self.built_in(definition, own, &schema);
            self.units(definition);
        }
        schema
    }

    fn schema_references(&mut self, schema: &Schema<'a>) {
        self.reference(&[Family::Data], schema.kind);
        for part in [&schema.key_schema, &schema.entry_schema].into_iter().flatten() {
            self.schema_references(part);
        }
    }

    /// Reports the name of a type that does not exist.
    pub(super) fn reference(&mut self, families: &[Family], node: Option<Node<'a>>) {
        let found = node.map(|node| self.types.reference(families, node));
        found.and_then(|found| self.diagnostics.ok(found));
    }

    pub(super) fn known(&self, family: Family, node: Node<'_>) -> Option<TypeRef> {
        self.types.resolve(Some(node.document().file()), family, node.text()?)
    }

    pub(super) fn defined(&self, family: Family, node: Node<'_>) -> Option<TypeId> {
        self.types.find_in(Some(node.document().file()), family, node.text()?)
    }

    fn missing(&mut self, named: Named<'a>, message: &str, section: &'static str) {
        let error = Diagnostic::error(Code::InvalidDefinition, message).at(named.key.span());
        self.diagnostics.push(error.section(section));
    }

    /// The error about a part without a type. Whoever writes a name instead of a definition means
    /// one.
    fn untyped(&mut self, noun: &str, named: Named<'a>, section: &'static str) {
        let message = format!("the {noun} `{}` has no `type`", named.name);
        let error = Diagnostic::error(Code::InvalidDefinition, message).at(named.key.span());
        let meant = named.value.as_str();
        let help = meant.map(|meant| format!("write `{}: {{type: {meant}}}`", named.name));
        self.diagnostics.push(error.section(section).help_opt(help));
    }

    pub(super) fn loosened(
        &mut self,
        at: Node<'a>,
        message: String,
        inherited: Node<'a>,
        label: &str,
        rule: Rule,
    ) {
        let error = Diagnostic::error(Code::InvalidRefinement, message).at(at.span());
        self.diagnostics.push(error.label(inherited.span(), label).rule(rule));
    }
}

/// A section of TOSCA Simple Profile 1.3.
fn simple(section: &'static str) -> Rule {
    Rule::new(&TOSCA_SIMPLE_1_3, section)
}

/// Whether a value is a map. The grammar has reported the others already.
fn is_map(named: Named<'_>) -> bool {
    named.value.kind() == NodeKind::Mapping
}

/// The bounds of `in_range`, if they are plain numbers.
fn range<'a>(constraint: &Clause<'a>) -> Option<((f64, f64), Node<'a>)> {
    if constraint.operator != Operator::InRange {
        return None;
    }
    let mut bounds = constraint.operand.items().map(|bound| match bound.scalar()? {
        Scalar::String("UNBOUNDED") => Some(f64::INFINITY),
        Scalar::Int(bound) => Some(bound as f64),
        Scalar::Float(bound) => Some(bound),
        _ => None,
    });
    Some(((bounds.next()??, bounds.next()??), constraint.operand))
}
