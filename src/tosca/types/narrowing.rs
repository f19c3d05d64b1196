//! Narrows what types of TOSCA 2.0 inherit: requirements, the ends of relationships, scalars and
//! other data types. Version 1.3 has none of these rules.

use super::definition::{
    CapabilityDefinition, InterfaceDefinition, Occurrences, OperationDefinition,
    RequirementDefinition, TypeDefinition, ValidEnds,
};
use super::effective::{
    EffectiveCapability, EffectiveInterface, EffectiveType, HasName, Part, Parts, PropertyKind,
    Refining,
};
use super::hierarchy::{TypeId, TypeRef};
use super::schemas::units_of;
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0, did_you_mean, listed};
use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use crate::tosca::v2_0;
use crate::tosca::value::{Primitive, PropertyDefinition, Schema};
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::Arc;

/// The keynames for the numbers of a scalar type, of which later texts of the standard have the last.
const NUMBERS: [&str; 2] = ["data_value_type", "data_type"];

/// The keynames for the sizes of units, of which later texts of the standard have all but the first.
const UNITS: [&str; 3] = ["unit_symbol_map", "units", "prefixes"];

/// A schema in a schema.
type SchemaPart<'a> = for<'s> fn(&'s Schema<'a>) -> &'s Option<Box<Schema<'a>>>;

impl<'t, 'a> Refining<'t, 'a> {
    /// Reports definitions that refine nothing, where nothing may be added (TOSCA 2.0).
    fn refines_only<D: HasName<'a>, T>(
        &mut self,
        own: &[D],
        known: &Parts<'a, T>,
        (owner, noun): (&str, &str),
        section: &'static str,
    ) {
        for named in own.iter().map(HasName::named) {
            if !known.contains_key(named.name) {
                let message = format!("{owner} has no {noun} `{}`", named.name);
                let error = Diagnostic::error(Code::UnknownDefinition, message);
                let help = did_you_mean(named.name, known.keys().copied());
                let error = error.at(named.key.span()).help_opt(help);
                self.diagnostics.push(error.rule(Rule::new(&TOSCA_2_0, section)));
            }
        }
    }

    /// Reports triggers of a policy type that change inherited ones (TOSCA 2.0, section 16.3).
    pub(super) fn triggers(&mut self, own: &[Named<'a>]) {
        for trigger in own.iter().filter(|it| self.types.is_strict_in(it.key.document())) {
            let inherited = self.types.chain(self.owner).skip(1);
            let mut inherited = inherited.flat_map(|id| &self.types.definition(id).triggers);
            let before = inherited.find(|before| before.name == trigger.name);
            let is_other = |it: &&Named<'a>| it.value.to_value() != trigger.value.to_value();
            if let Some(before) = before.filter(is_other) {
                let message = format!("the trigger `{}` is inherited and stays", trigger.name);
                let rule = Rule::new(&TOSCA_2_0, "16.3");
                self.loosened(trigger.key, message, before.key, "it is defined here", rule);
            }
        }
    }

    /// The relationship types that may lead to a capability (TOSCA 2.0, section 8.2).
    pub(super) fn relationships(
        &mut self,
        own: &CapabilityDefinition<'a>,
        before: Option<&EffectiveCapability<'a>>,
        given: Option<&EffectiveType<'a>>,
    ) -> Option<Vec<Node<'a>>> {
        let of_type = given.and_then(|given| given.valid_ends.as_ref()?.relationships.as_deref());
        let before = before.and_then(|before| before.valid_relationship_types.as_deref());
        let what = format!("the capability `{}`", own.named.name);
        let place = (&*what, Rule::new(&TOSCA_2_0, "8.2"));
        let list = &own.valid_relationship_types;
        // A refinement keeps to the type, whatever the refined definition lists (section 8.3).
        let outer = if list.is_some() { of_type } else { before.or(of_type) };
        self.valid_list(Family::Relationship, list, outer, place)
    }

    /// The properties and attributes of the relationship that the requirement refines. It adds none
    /// (TOSCA 2.0, section 8.5).
    pub(super) fn relationship_parts(
        &mut self,
        own: &RequirementDefinition<'a>,
        before: Option<&RequirementDefinition<'a>>,
    ) -> [Vec<PropertyDefinition<'a>>; 2] {
        let [own_parts, before_parts] = [Some(own), before].map(|definition| {
            definition.map_or(Default::default(), |it| [&*it.properties, &*it.attributes])
        });
        if own_parts.iter().chain(&before_parts).all(|parts| parts.is_empty()) {
            return Default::default();
        }
        let named = own.relationship.or(before.and_then(|before| before.relationship));
        let kind = named.and_then(|named| self.defined(Family::Relationship, named));
        let Some(of_type) = kind.map(|kind| self.types.effective(kind)) else {
            return Default::default();
        };
        let owner = format!("the relationship of the requirement `{}`", own.named.name);
        [
            (PropertyKind::Property, &of_type.properties, own_parts[0], before_parts[0]),
            (PropertyKind::Attribute, &of_type.attributes, own_parts[1], before_parts[1]),
        ]
        .map(|(kind, known, own, before)| {
            if !of_type.is_open {
                self.refines_only(own, known, (&owner, kind.noun()), "8.5");
            }
            self.refinements(kind, known, own, before)
        })
    }

    /// The interfaces of the relationship, as its type and the definitions of the requirement have
    /// them (section 8.5).
    pub(super) fn relationship_interfaces(
        &mut self,
        own: &RequirementDefinition<'a>,
        refined: Option<&Part<'a, RequirementDefinition<'a>>>,
    ) -> Parts<'a, EffectiveInterface<'a>> {
        if own.interfaces.is_empty() {
            return Parts::default();
        }
        let named = own.relationship.or(refined.and_then(|it| it.definition.relationship));
        let kind = named.and_then(|named| self.defined(Family::Relationship, named));
        let mut known = kind.map(|kind| Arc::clone(&self.types.effective(kind).interfaces));
        if let Some(before) = refined {
            let mut silent = Self::silent(self.types, before.owner);
            let of_type = known.unwrap_or_default();
            known = Some(silent.parts(&of_type, &before.definition.interfaces, Self::interface));
        }
        self.parts(&known.unwrap_or_default(), &own.interfaces, Self::interface)
    }

    /// Warns of a default of what an inherited definition does not require.
    pub(super) fn default_of_optional(
        &mut self,
        noun: &str,
        own: &PropertyDefinition<'a>,
        before: &PropertyDefinition<'a>,
    ) {
        let document = own.named.key.document();
        let is_2_0 = self.types.is_strict_in(document);
        // `required: false` beside a default is not converted to TOSCA 2.0.
        let is_dropped = !v2_0::is_of(document) && !own.is_required();
        let is_inherited = own.required.is_none() || is_dropped;
        let mut keys = own.named.value.entries().map(|(key, _)| key);
        let default = keys.find(|key| key.text() == Some("default"));
        let is_wrong = is_inherited && is_2_0 && !before.is_required();
        if let Some(key) = default.filter(|_| is_wrong) {
            self.diagnostics.push(v2_0::default_of_optional(noun, key));
        }
    }

    /// The parts that definitions refine, including those that were refined before.
    fn refinements(
        &mut self,
        kind: PropertyKind,
        known: &Parts<'a, PropertyDefinition<'a>>,
        own: &[PropertyDefinition<'a>],
        before: &[PropertyDefinition<'a>],
    ) -> Vec<PropertyDefinition<'a>> {
        let mut base = Arc::clone(known);
        for definition in before {
            let (named, definition) = (definition.named, definition.clone());
            let part = Part { owner: self.owner, named, refines: None, definition };
            Arc::make_mut(&mut base).insert(named.name, Arc::new(part));
        }
        let parts = self.properties(&base, own, true, kind);
        let is_refined = |name: &str| before.iter().chain(own).any(|it| it.named.name == name);
        let refined = parts.iter().filter(|(name, _)| is_refined(name));
        refined.map(|(_, part)| part.definition.clone()).collect()
    }

    /// Checks that relationships of a type, or of types derived from it, can lead to capabilities of
    /// a type (TOSCA 2.0, sections 7.3 and 8.1).
    pub(super) fn may_lead(
        &mut self,
        at: Node<'a>,
        relationship: Option<Node<'a>>,
        capability: Option<Node<'a>>,
    ) {
        let ends = [(Family::Relationship, relationship), (Family::Capability, capability)];
        let known = ends.map(|(family, name)| self.defined(family, name?));
        let [Some(relationship), Some(capability)] = known else { return };
        let types = self.types;
        let of_capability = types.effective(capability).valid_ends.as_deref();
        let lists = [
            (
                relationship,
                Family::Relationship,
                of_capability.and_then(|it| it.relationships.as_deref()),
                "8.1",
            ),
            (
                capability,
                Family::Capability,
                types.effective(relationship).valid_types.as_deref(),
                "7.3",
            ),
        ];
        for (kind, family, valid, section) in lists {
            let Some(valid) = valid else { continue };
            let kind = TypeRef::Defined(kind);
            let is_possible = valid.iter().any(|valid| {
                let valid = self.known(family, *valid);
                valid.is_none_or(|it| types.may_derive(kind, it) || types.may_derive(it, kind))
            });
            if !is_possible {
                let file = Some(at.document().file());
                let [relationship, capability] =
                    [relationship, capability].map(|id| types.called(file, id));
                let message = format!("no `{relationship}` can lead to a `{capability}`");
                let error = Diagnostic::error(Code::InvalidDefinition, message).at(at.span());
                let valid = listed(valid.iter().map(|it| types.called_by(file, &[family], *it)));
                let help = format!("the {} is to be one of {valid}", family.noun());
                self.diagnostics.push(error.rule(Rule::new(&TOSCA_2_0, section)).help(help));
            }
        }
    }

    /// A requirement definition without what does not refine an earlier one (TOSCA 2.0, section 8.6).
    /// Filters add up.
    pub(super) fn refined_requirement(
        &mut self,
        own: &RequirementDefinition<'a>,
        before: &RequirementDefinition<'a>,
    ) -> RequirementDefinition<'a> {
        let rule = Rule::new(&TOSCA_2_0, "8.6");
        let of = format!("the requirement `{}`", own.named.name);
        let (types, node) = (self.types, before.node);
        let named = types.capability_named(before.capability, node).zip(before.capability);
        let capability = match named.zip(own.capability) {
            Some(((name, inherited), new)) => {
                if new.text() != Some(name) {
                    let message = format!("{of} leads to the capability `{name}` already");
                    self.loosened(new, message, inherited, "the capability is named here", rule);
                }
                Some(inherited)
            }
            None if types.capability_named(own.capability, own.node.or(node)).is_some() => {
                self.narrows_by_name(own, before, &of);
                own.capability
            }
            None => self.narrowed(Family::Capability, own.capability, before.capability, &of, rule),
        };
        // Where version 1.3 says nothing, the range is from one to one.
        let is_old = !v2_0::is_of(before.named.key.document());
        let once = Occurrences { node: before.named.key, min: 1, max: Some(1) };
        let outer = before.occurrences.or(is_old.then_some(once));
        let occurrences = own.occurrences.filter(|range| match outer {
            Some(outer) if !range.is_within(&outer) => {
                let message = format!("the range of {of} is wider than the one it refines");
                let label = "the range that is inherited";
                self.loosened(range.node, message, outer.node, label, rule);
                false
            }
            _ => true,
        });
        if let Some((own, before)) = own.node_filters.last().zip(before.node_filters.last()) {
            self.replaced(*own, *before, "filters");
        }
        RequirementDefinition {
            capability,
            node: self.narrowed(Family::Node, own.node, node, &of, rule),
            relationship: self.narrowed(
                Family::Relationship,
                own.relationship,
                before.relationship,
                &of,
                rule,
            ),
            occurrences,
            node_filters: [&*before.node_filters, &own.node_filters].concat(),
            ..own.clone()
        }
    }

    /// Checks that a capability of a node that a refinement names is of a type that derives from the
    /// one that is inherited.
    fn narrows_by_name(
        &mut self,
        own: &RequirementDefinition<'a>,
        before: &RequirementDefinition<'a>,
        of: &str,
    ) {
        let kind = self.types.kind_of_capability(own.capability, own.node.or(before.node));
        let known = |it| self.known(Family::Capability, it);
        let types = kind.and_then(known).zip(before.capability.and_then(known));
        if let (Some(named), Some(old), Some((one, ancestor))) =
            (own.capability, before.capability, types)
            && !self.types.may_derive(one, ancestor)
        {
            let name = |node| self.types.called_by(None, &[Family::Capability], node);
            let (kind, wanted) = (kind.map(name).unwrap_or_default(), name(old));
            let message = format!(
                "the capability `{}` of {of} is a `{kind}`, which does not derive from `{wanted}`",
                named.text().unwrap_or_default()
            );
            let rule = Rule::new(&TOSCA_2_0, "8.6");
            self.loosened(named, message, old, "the type that is inherited", rule);
        }
    }

    /// Checks that the data type of a parameter derives from that of the one which it refines, that it
    /// stays required, and that the latter has no fixed value (section 9.7).
    pub(super) fn narrowed_parameter(
        &mut self,
        noun: &str,
        own: &PropertyDefinition<'a>,
        before: &PropertyDefinition<'a>,
    ) {
        let is_fixed = self.refines_fixed(noun, own, before);
        if is_fixed || !self.types.is_strict_in(own.named.key.document()) {
            return;
        }
        let of = format!("the {noun} `{}`", own.named.name);
        let rule = Rule::new(&TOSCA_2_0, "9.7");
        self.narrowed(Family::Data, own.schema.kind, before.schema.kind, &of, rule);
        let [constraints, inherited] = [own, before].map(|it| it.named.value.get("constraints"));
        if let Some((own, _)) = constraints.zip(before.schema.constraints.last()) {
            self.replaced(own, inherited.unwrap_or(before.named.key), "constraints");
        }
        let loosened = own.required.filter(|_| !own.is_required() && before.is_required());
        if let Some(required) = loosened {
            let message = format!("{of} is required already, and cannot be made optional");
            let place = before.required.unwrap_or(before.named.key);
            self.loosened(required, message, place, "required here", rule);
        }
    }

    /// Reports what replaces an inherited part in version 1.3, and would add to it in TOSCA 2.0.
    fn replaced(&mut self, own: Node<'a>, before: Node<'a>, what: &str) {
        if !v2_0::is_of(own.document()) {
            let message = format!("{what} of TOSCA 2.0 add to inherited ones");
            let rule = Rule::new(&TOSCA_2_0, "8.6");
            self.loosened(own, message, before, "what is inherited", rule);
        }
    }

    /// Reports the refinement of a fixed value. Returns whether it is one.
    pub(super) fn refines_fixed(
        &mut self,
        noun: &str,
        own: &PropertyDefinition<'a>,
        before: &PropertyDefinition<'a>,
    ) -> bool {
        let Some(fixed) =
            before.value.filter(|_| self.types.is_strict_in(own.named.key.document()))
        else {
            return false;
        };
        let name = own.named.name;
        let message = format!("the {noun} `{name}` has a fixed value, so nothing refines it");
        let rule = before.role.definition();
        self.loosened(own.named.key, message, fixed, "fixed here", rule);
        true
    }

    /// Checks that the definition of a capability only refines parts of its type (section 8.2).
    pub(super) fn capability_adds_nothing(
        &mut self,
        own: &CapabilityDefinition<'a>,
        properties: &Parts<'a, PropertyDefinition<'a>>,
        attributes: &Parts<'a, PropertyDefinition<'a>>,
    ) {
        if v2_0::is_of(own.named.key.document()) {
            let name = format!("the type of the capability `{}`", own.named.name);
            self.refines_only(&own.properties, properties, (&name, "property"), "8.2");
            self.refines_only(&own.attributes, attributes, (&name, "attribute"), "8.2");
        }
    }

    /// The type of an interface. That of a refinement has to derive from the inherited one (section
    /// 11.2).
    pub(super) fn interface_type(
        &mut self,
        own: &InterfaceDefinition<'a>,
        inherited: Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        if !self.types.is_strict_in(own.named.key.document()) {
            return own.kind.or(inherited);
        }
        let of = format!("the interface `{}`", own.named.name);
        let rule = Rule::new(&TOSCA_2_0, "11.2");
        self.narrowed(Family::Interface, own.kind, inherited, &of, rule)
    }

    /// Checks that an interface only refines operations and notifications of its type (sections 11.4
    /// and 11.6).
    pub(super) fn interface_adds_nothing(
        &mut self,
        own: &InterfaceDefinition<'a>,
        of_type: &EffectiveInterface<'a>,
    ) {
        let kind = of_type.kind.and_then(|kind| self.defined(Family::Interface, kind));
        let is_closed = !of_type.is_open && v2_0::is_of(own.named.key.document());
        if is_closed && kind.is_some_and(|kind| !self.takes_operations(kind)) {
            let owner = format!("the type of the interface `{}`", own.named.name);
            let (operations, notifications) = (&of_type.operations, &of_type.notifications);
            self.refines_only(&own.operations, operations, (&owner, "operation"), "11.4");
            self.refines_only(&own.notifications, notifications, (&owner, "notification"), "11.6");
        }
    }

    /// Whether an interface type comes from version 1.3, where node types may add operations.
    fn takes_operations(&self, kind: TypeId) -> bool {
        const ROOT: &str = "tosca.interfaces.Root";
        self.types.chain(kind).any(|kind| self.types.definition(kind).name == ROOT)
    }

    /// Checks that each type of a list derives from one of the list that it narrows.
    pub(super) fn narrower(
        &mut self,
        families: &[Family],
        own: &[Node<'a>],
        valid: Option<&[Node<'a>]>,
        (what, rule): (&str, Rule),
    ) {
        let Some((first, valid)) = valid.and_then(|valid| Some((valid.first()?, valid))) else {
            return;
        };
        let known = |node: &Node<'a>| families.iter().find_map(|it| self.known(*it, *node));
        // An unknown type may be an ancestor of any other.
        let Some(outer) = valid.iter().map(known).collect::<Option<Vec<_>>>() else { return };
        let fits = |node: &&Node<'a>| {
            known(node)
                .is_none_or(|one| outer.iter().any(|valid| self.types.may_derive(one, *valid)))
        };
        let wider: Vec<_> = own.iter().filter(|node| !fits(node)).copied().collect();
        for node in wider {
            let message = format!(
                "`{}` is none of the types that are valid for {what}",
                node.text().unwrap_or_default()
            );
            self.loosened(node, message, *first, "the types that are inherited", rule);
        }
    }

    /// The types that TOSCA 2.0 lists besides, each list narrower than the inherited one (sections
    /// 7.3 and 8.1).
    pub(super) fn valid_ends(
        &mut self,
        definition: &TypeDefinition<'a>,
        before: Option<&Arc<ValidEnds<'a>>>,
    ) -> Option<Arc<ValidEnds<'a>>> {
        let Some(own) = &definition.valid_ends else { return before.cloned() };
        let what = definition.inherited();
        let section = if definition.family == Family::Capability { "8.1" } else { "7.3" };
        let place = (&*what, Rule::new(&TOSCA_2_0, section));
        let mut list = |family, of: for<'e> fn(&'e ValidEnds<'a>) -> &'e Option<Vec<Node<'a>>>| {
            self.valid_list(family, of(own), before.and_then(|before| of(before).as_deref()), place)
        };
        Some(Arc::new(ValidEnds {
            relationships: list(Family::Relationship, |ends| &ends.relationships),
            sources: list(Family::Node, |ends| &ends.sources),
            targets: list(Family::Node, |ends| &ends.targets),
        }))
    }

    /// A list of valid types, or the inherited one.
    fn valid_list(
        &mut self,
        family: Family,
        own: &Option<Vec<Node<'a>>>,
        before: Option<&[Node<'a>]>,
        place: (&str, Rule),
    ) -> Option<Vec<Node<'a>>> {
        let Some(own) = own else { return before.map(<[_]>::to_vec) };
        own.iter().for_each(|node| self.reference(&[family], Some(*node)));
        self.narrower(&[family], own, before, place);
        Some(own.clone())
    }

    /// Checks a data type that derives from a built-in one (TOSCA 2.0, section 9.2).
    pub(super) fn built_in(
        &mut self,
        definition: &TypeDefinition<'a>,
        own: &Schema<'a>,
        whole: &Schema<'a>,
    ) {
        let base = self.types.primitive(TypeRef::Defined(self.owner));
        if base.is_none() && self.is_open {
            return;
        }
        let name = definition.name;
        let has_entries = matches!(base, Some("list" | "map"));
        let mut wrong = Vec::new();
        if let Some((base, property)) = base.zip(definition.properties.first()) {
            let message = format!("`{name}` derives from `{base}`, so it has no properties");
            wrong.push((property.named.key, message));
        }
        if has_entries && whole.entry_schema.is_none() {
            wrong.push((definition.key, format!("the data type `{name}` needs an `entry_schema`")));
        }
        for (keyname, said, fits) in [
            ("entry_schema", &own.entry_schema, has_entries),
            ("key_schema", &own.key_schema, base == Some("map")),
        ] {
            if said.is_some() && !fits {
                let why = base
                    .map_or("has properties".to_owned(), |base| format!("derives from `{base}`"));
                let message = format!("`{name}` {why}, so it has no `{keyname}`");
                wrong.push((definition.value.get(keyname).unwrap_or(definition.key), message));
            }
        }
        let keys =
            own.key_schema.as_ref().and_then(|keys| keys.kind).filter(|_| base == Some("map"));
        if let Some(keys) = keys
            && let Some(kind) = self.known(Family::Data, keys)
            && !self.types.may_derive(kind, TypeRef::Primitive("string"))
        {
            let message = format!("the keys of `{name}` have to be strings");
            wrong.push((keys, message));
        }
        for (at, message) in wrong {
            let error = Diagnostic::error(Code::InvalidDefinition, message).at(at.span());
            self.diagnostics.push(error.rule(Rule::new(&TOSCA_2_0, "9.2")));
        }
    }

    /// Checks what a data type says of units by itself.
    fn unit_keynames(&mut self, definition: &TypeDefinition<'a>, rule: Rule) {
        let own = |keyname: &&str| definition.value.get(keyname);
        let mut wrong = Vec::new();
        let scalar = Primitive::Scalar.name();
        let is_scalar = self.types.primitive(TypeRef::Defined(self.owner)) == Some(scalar);
        let units = units_of(self.types, self.owner);
        let said = NUMBERS.iter().chain(&UNITS).chain(&["unit_suffix", "canonical_unit"]);
        if let Some(node) = said.filter_map(own).next().filter(|_| !is_scalar && !self.is_open) {
            let name = definition.name;
            wrong.push((
                node,
                format!("`{name}` does not derive from `{scalar}`, so it has no units"),
            ));
        }
        for name in NUMBERS.iter().filter_map(own) {
            let base = self.known(Family::Data, name).map(|kind| self.types.primitive(kind));
            if base.is_some_and(|base| !matches!(base, Some("integer" | "float"))) {
                wrong.push((name, "the numbers of a scalar are integers or floats".to_owned()));
            }
        }
        let is_unit = |name: &Node<'a>| units.iter().any(|(unit, _)| Some(&**unit) == name.text());
        if let Some(name) = own(&"canonical_unit").filter(|name| is_scalar && !is_unit(name)) {
            let text = name.text().unwrap_or_default();
            wrong.push((name, format!("`{text}` is none of the units of `{}`", definition.name)));
        }
        for (symbol, size) in UNITS.iter().filter_map(own).flat_map(Node::entries) {
            if symbol.text().is_some_and(|text| text.contains(char::is_whitespace)) {
                wrong.push((symbol, "the symbol of a unit has no white space".to_owned()));
            }
            if !matches!(size.scalar(), Some(Scalar::Int(_) | Scalar::Float(_))) {
                wrong.push((size, "the size of a unit is a number".to_owned()));
            }
        }
        for (at, message) in wrong {
            let error = Diagnostic::error(Code::InvalidDefinition, message).at(at.span());
            self.diagnostics.push(error.rule(rule));
        }
    }

    /// Checks that the schemas of a property narrow those of its data type (section 9.3).
    pub(super) fn narrows_data_type(
        &mut self,
        own: &Schema<'a>,
        what: &str,
        section: &'static str,
    ) {
        let kind = own.kind.filter(|kind| self.types.is_strict_in(kind.document()));
        let Some(kind) = kind.and_then(|kind| self.defined(Family::Data, kind)) else { return };
        let mut narrows = |own: &Option<Box<Schema<'a>>>, part: SchemaPart<'a>, noun: &str| {
            if let Some((own, before)) = own.as_ref().zip(self.part_of_type(kind, part)) {
                self.schema(own, before, &format!("{noun} of the {what}"), section);
            }
        };
        narrows(&own.key_schema, |schema| &schema.key_schema, "key schema");
        narrows(&own.entry_schema, |schema| &schema.entry_schema, "entry schema");
    }

    /// The schema of keys or entries of a data type. The definitions are asked, as data types may
    /// have properties of their own type.
    fn part_of_type(&self, kind: TypeId, part: SchemaPart<'a>) -> Option<&'t Schema<'a>> {
        let types = self.types;
        let mut all =
            types.chain(kind).filter_map(|id| part(&types.definition(id).schema).as_deref());
        all.find(|schema| schema.is_typed())
    }

    /// Reports schemas of keys and entries that have no type, as they refine nothing that has one
    /// (TOSCA 2.0, section 9.3).
    pub(super) fn has_typed_parts(&mut self, schema: &Schema<'a>, written: Node<'a>) {
        if !v2_0::is_of(written.document()) || self.is_open {
            return;
        }
        for (keyname, part) in
            [("key_schema", &schema.key_schema), ("entry_schema", &schema.entry_schema)]
        {
            let (Some(part), Some(written)) = (part, written.get(keyname)) else { continue };
            let leaves_out = written.kind() == NodeKind::Mapping && written.get("type").is_none();
            if leaves_out && !part.is_typed() {
                let message = "a schema definition needs a `type`";
                let error = Diagnostic::error(Code::InvalidDefinition, message).at(written.span());
                self.diagnostics.push(error.rule(Rule::new(&TOSCA_2_0, "9.3")));
            }
            self.has_typed_parts(part, written);
        }
    }

    /// Reports a property of a scalar type that has no units.
    pub(super) fn has_units(&mut self, schema: &Schema<'a>) {
        let scalar = Primitive::Scalar.name();
        let is_without = |kind: TypeRef| match kind {
            TypeRef::Primitive(name) => name == scalar,
            TypeRef::Defined(id) => {
                self.types.primitive(kind) == Some(scalar) && units_of(self.types, id).is_empty()
            }
        };
        let named = schema.kind.filter(|kind| v2_0::is_of(kind.document()));
        if let Some(kind) =
            named.filter(|kind| self.known(Family::Data, *kind).is_some_and(is_without))
        {
            let name = kind.text().unwrap_or_default();
            let message = format!("`{name}` has no units, so nothing is of this type");
            let error = Diagnostic::error(Code::InvalidDefinition, message).at(kind.span());
            let keyname = if name == scalar { "unit_symbol_map" } else { "units" };
            let help = format!("derive a type from it that has `{keyname}`");
            self.diagnostics.push(error.rule(Rule::new(&TOSCA_2_0, "9.1.2.2")).help(help));
        }
        let parts = [&schema.key_schema, &schema.entry_schema];
        parts.into_iter().flatten().for_each(|part| self.has_units(part));
    }

    /// Checks that a scalar type only adds units to those of its parent (TOSCA 2.0, section
    /// 9.1.2.2).
    pub(super) fn units(&mut self, definition: &TypeDefinition<'a>) {
        let rule = Rule::new(&TOSCA_2_0, "9.1.2.2");
        self.unit_keynames(definition, rule);
        let ancestors = || {
            let chain = self.types.chain(self.owner).skip(1);
            chain.map(|id| self.types.definition(id).value)
        };
        let inherited = |keynames: &[&str]| {
            ancestors().find_map(|body| keynames.iter().find_map(|keyname| body.get(keyname)))
        };
        let mut changed = Vec::new();
        // What the parent does not say has a default.
        let is_scalar =
            self.types.primitive(TypeRef::Defined(self.owner)) == Some(Primitive::Scalar.name());
        let parent = self.types.chain(self.owner).nth(1).filter(|_| is_scalar);
        for (keynames, default) in [(&NUMBERS[..], "float"), (&["unit_suffix"], "")] {
            let own = keynames.iter().find_map(|it| definition.value.get(it));
            let before = inherited(keynames);
            let said = before.map_or(Some(default), Node::text);
            let before = before.or(parent.map(|id| self.types.definition(id).key));
            changed.extend(own.zip(before).filter(|(own, _)| own.text() != said));
        }
        for keyname in UNITS {
            let own = definition.value.get(keyname).into_iter().flat_map(Node::entries);
            let ends = own.filter_map(|(symbol, size)| {
                Some((size, ancestors().find_map(|it| it.get(keyname)?.get(symbol.text()?))?))
            });
            changed.extend(ends.filter(|(own, before)| own.to_value() != before.to_value()));
        }
        for (own, before) in changed {
            let message = "a derived type cannot change what its parent says of units";
            self.loosened(own, message.to_owned(), before, "what is inherited", rule);
        }
    }

    /// The outputs of an operation. In TOSCA 2.0, own ones add to inherited ones, what only describes
    /// an output leaves its mapping as it is, and no mapping becomes another one (section 9.7).
    pub(super) fn refined_outputs(
        &mut self,
        own: &OperationDefinition<'a>,
        before: Option<&OperationDefinition<'a>>,
    ) -> Vec<Named<'a>> {
        let inherited = before.map(|it| &*it.outputs).unwrap_or_default();
        if own.outputs.is_empty() || !self.types.is_strict_in(own.named.key.document()) {
            return if own.outputs.is_empty() { inherited } else { &own.outputs }.to_vec();
        }
        let mut all: IndexMap<&str, Named<'a>, FxBuildHasher> =
            inherited.iter().map(|output| (output.name, *output)).collect();
        let own_names: FxHashSet<_> = own.outputs.iter().map(|output| output.name).collect();
        if let Some(gone) = inherited.iter().find(|it| !own_names.contains(it.name)) {
            self.replaced(own.outputs[0].key, gone.key, "outputs");
        }
        for output in &own.outputs {
            let is_mapping = output.value.kind() == NodeKind::Sequence;
            let known = all.entry(output.name).or_insert(*output);
            let earlier = std::mem::replace(known, if is_mapping { *output } else { *known });
            let is_it = |it: &&PropertyDefinition<'a>| it.named.name == output.name;
            if let Some(before) = before.and_then(|it| it.results.iter().find(is_it))
                && before.value.is_some()
            {
                // A definition as a parameter is told with the parameters.
                if is_mapping && !own.results.iter().any(|it| is_it(&it)) {
                    let own = PropertyDefinition::of(*output);
                    self.refines_fixed("output", &own, before);
                }
            } else if is_mapping && v2_0::remaps(earlier.value, output.value) {
                let message = format!("the output `{}` is mapped already", output.name);
                let rule = Rule::new(&TOSCA_2_0, "9.7");
                self.loosened(output.value, message, earlier.value, "mapped here", rule);
            }
        }
        all.into_values().collect()
    }
}
