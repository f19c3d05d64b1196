//! Converts types.

use super::names::{QualifiedName, as_name};
use super::part::XmlPart;
use super::said::{SaidMap, SaidValue, entries, step};
use super::{PROFILE, XmlConverter, well_known};
use crate::convert::well_known::{TARGET_NAME, is_of_type, state_type_name};
use crate::tosca::v1_0::definitions::FeatureKind;
use crate::tosca::{Family, Occurrences, TypeDefinition, TypeId, TypeRef, Types, profile};
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashSet;

/// The families whose types are components, with the elements of these.
const KINDS: [(Family, &str); 5] = [
    (Family::Node, "NodeType"),
    (Family::Relationship, "RelationshipType"),
    (Family::Capability, "CapabilityType"),
    (Family::Artifact, "ArtifactType"),
    (Family::Policy, "PolicyType"),
];

/// The reason why keynames of types have no counterpart.
const UNKNOWN: &str = "types of TOSCA 1.0 have no such thing";

impl<'t> XmlConverter<'_, 't> {
    /// All types of the template, and all types that these refer to.
    pub(super) fn all_types(&mut self) -> Vec<XmlPart> {
        let types = self.variant.types;
        let states: FxHashSet<_> = types.ids().filter_map(|id| self.state_type(id)).collect();
        for id in types.ids() {
            let definition = types.definition(id);
            let is_own = !profile::is_built_in(definition.key.span().file) && !states.contains(&id);
            if is_own && KINDS.iter().any(|(family, _)| *family == definition.family) {
                self.type_name(id);
            } else if is_own && definition.family == Family::Data {
                self.define_data(id);
            }
        }
        let mut parts = Vec::new();
        loop {
            while let Some(id) = self.open.pop_front() {
                parts.push(self.entity_type(id));
            }
            let Some((name, id)) = self.required.pop_first() else { break };
            parts.push(self.requirement_type_of(&name, id));
        }
        let implemented = std::mem::take(&mut self.implemented);
        let implementations = implemented.into_iter().map(|it| self.implementation(it));
        parts.extend(implementations.collect::<Vec<_>>());
        // The types that only implementations refer to.
        while let Some(id) = self.open.pop_front() {
            parts.push(self.entity_type(id));
        }
        parts
    }

    /// Keeps types of families that TOSCA 1.0 does not have.
    pub(super) fn leftover_types(&mut self) {
        let types = self.variant.types;
        for id in types.ids() {
            let definition = types.definition(id);
            let is_kept = match definition.family {
                Family::Group | Family::Interface => true,
                Family::Data => !self.is_in_schema(id),
                _ => false,
            };
            if is_kept && !profile::is_built_in(definition.key.span().file) {
                let said = self.said_of(definition);
                let said = SaidValue {
                    value: definition.value.to_value(),
                    path: said.path,
                    span: said.span,
                };
                let key = said.path.clone();
                self.keep(&key, &said, "TOSCA 1.0 has no types of this kind");
            }
        }
    }

    /// The path of a type in the template.
    pub(super) fn path_of(&self, id: TypeId) -> String {
        let definition = self.variant.types.definition(id);
        format!("{}{}", definition.family.keyword(), step(definition.name))
    }

    fn said_of(&self, definition: &TypeDefinition<'_>) -> SaidMap {
        let path = format!("{}{}", definition.family.keyword(), step(definition.name));
        SaidMap::of_node(path, definition.key, definition.value)
    }

    fn entity_type(&mut self, id: TypeId) -> XmlPart {
        self.quietly(id, |it| it.define_entity_type(id))
    }

    fn define_entity_type(&mut self, id: TypeId) -> XmlPart {
        let definition = self.variant.types.definition(id);
        if self.has_added_roots && self.is_silent && well_known(definition).is_some() {
            // Such definitions did not define the type, so only its name is needed.
            let QualifiedName { namespace, local } = self.type_name(id);
            let part = XmlPart::new("RelationshipType").with("name", local);
            return part.with("targetNamespace", namespace);
        }
        let mut said = self.said_of(definition);
        let kind = KINDS.iter().find(|(family, _)| *family == definition.family);
        let mut part = self.type_part(id, kind.map_or("NodeType", |(_, name)| name), &mut said);
        match definition.family {
            Family::Node => self.node_type(id, &mut part, &mut said),
            Family::Relationship => self.relationship_type(id, &mut part, &mut said),
            Family::Policy => self.policy_type(id, &mut part, &mut said),
            _ => {}
        }
        self.keep_rest(said, UNKNOWN);
        part
    }

    /// The element of a type, with the parts that all types share.
    fn type_part(&mut self, id: TypeId, kind: &'static str, said: &mut SaidMap) -> XmlPart {
        let types = self.variant.types;
        let definition = types.definition(id);
        let name = self.type_name(id);
        let mut part = XmlPart::new(kind);
        let local = as_name(definition.name);
        let is_former = self.metadata_name(id, TARGET_NAME).is_some_and(|former| former == name);
        let old = SaidValue {
            // The well-known name of a type is its name, too.
            value: if is_former
                || local == name.local
                || name.namespace != PROFILE && self.is_silent
            {
                name.local.as_str().into()
            } else {
                definition.name.into()
            },
            path: said.path.clone(),
            span: said.span,
        };
        self.named(&mut part, "name", &name.local, &old);
        if name.namespace != self.target {
            part.set("targetNamespace", &*name.namespace);
        }
        let metadata = said.take("metadata");
        for word in ["abstract", "final"] {
            let mut of = entries_of(metadata.as_ref());
            if of.any(|(key, value)| &**key == word && is_yes(value)) {
                part.set(word, "yes");
            }
        }
        let language = entries_of(metadata.as_ref())
            .find(|(key, _)| &**key == "policy_language")
            .and_then(|(_, language)| language.as_str());
        if let (Some(language), "PolicyType") = (language, kind) {
            part.set("policyLanguage", language);
        }
        Self::describe(&mut part, said);
        if !self.is_silent {
            // Reading the type back restores the others.
            let tags = self.tags(metadata, is_of_type);
            part.push_in("Tags", tags);
        }
        said.take("derived_from");
        if let Some(parent) = self.written_parent(id) {
            let parent = self.prefixed(parent);
            part.push(XmlPart::new("DerivedFrom").with("typeRef", parent));
        }
        said.take("properties");
        if let Some(own) = self.own_properties(id) {
            if !own.is_keyed {
                let name = self.prefixes.name(&own.name);
                part.push(XmlPart::new("PropertiesDefinition").with("element", name));
            }
            part.push_some(self.schemas.keys(id));
        }
        part
    }

    fn node_type(&mut self, id: TypeId, part: &mut XmlPart, said: &mut SaidMap) {
        said.take("requirements");
        said.take("capabilities");
        let definition = self.variant.types.definition(id);
        let requirements = definition.requirements.iter();
        let requirements: Vec<_> = requirements
            .filter_map(|own| self.requirement_definition(id, own.named.name))
            .collect();
        part.push_in("RequirementDefinitions", requirements);
        let capabilities = definition.capabilities.iter();
        let capabilities: Vec<_> =
            capabilities.filter_map(|own| self.capability_definition(id, own.named.name)).collect();
        part.push_in("CapabilityDefinitions", capabilities);
        self.states(id, part, said);
        let interfaces = said.take("interfaces");
        let artifacts = said.take("artifacts");
        let interfaces = self.interfaces(id, interfaces, artifacts);
        part.push_in("Interfaces", interfaces);
    }

    /// A part of the body of a type, with its path.
    fn said_part(&self, id: TypeId, parts: &str, key: Node<'_>, body: Node<'_>) -> SaidMap {
        let name = key.text().unwrap_or_default();
        SaidMap::of_node(format!("{}.{parts}{}", self.path_of(id), step(name)), key, body)
    }

    fn requirement_definition(&mut self, id: TypeId, name: &str) -> Option<XmlPart> {
        if self.is_requirement_link(id, name) {
            return None;
        }
        let types = self.variant.types;
        let part = types.effective(id).requirements.get(name)?;
        let effective = &part.definition;
        let mut said = self.said_part(id, "requirements", part.named.key, part.named.value);
        let whole = SaidValue {
            value: part.named.value.to_value(),
            path: said.path.clone(),
            span: said.span,
        };
        let capability = self.capability_of(effective.capability);
        let parent = types
            .parent(id)
            .and_then(|parent| Some(&types.effective(parent).requirements.get(name)?.definition));
        let inherited = parent.map(|parent| self.capability_of(parent.capability));
        if let (Some(Some(inherited)), Some(own)) = (inherited, capability)
            && !types.derives(TypeRef::Defined(own), TypeRef::Defined(inherited))
        {
            let why = "the type of an inherited requirement can be refined only";
            self.lose(&whole, format!("the requirement `{name}`"), why);
            return None;
        }
        let bounds = WrittenBounds::of(effective.occurrences.as_ref(), (1, Some(1)));
        if bounds.most == Some(0) {
            self.lose(&whole, format!("the requirement `{name}`"), "its upper bound is 0");
            return None;
        }
        let kind = self.named_requirement_type(id, name, capability);
        self.narrow(id, name, &kind);
        let mut part = XmlPart::new("RequirementDefinition");
        part.set("name", self.former_name(id, FeatureKind::Requirement, name));
        part.set("requirementType", self.prefixes.name(&kind));
        bounds.write(&mut part);
        said.take("capability");
        said.take("occurrences");
        Self::describe(&mut part, &mut said);
        self.keep_rest(said, "requirements of TOSCA 1.0 ask for capabilities only");
        Some(part)
    }

    fn capability_definition(&mut self, id: TypeId, name: &str) -> Option<XmlPart> {
        if self.is_capability_link(id, name) {
            return None;
        }
        let types = self.variant.types;
        let part = types.effective(id).capabilities.get(name)?;
        let effective = &part.definition;
        let mut said = self.said_part(id, "capabilities", part.named.key, part.named.value);
        let mut written = XmlPart::new("CapabilityDefinition");
        written.set("name", self.former_name(id, FeatureKind::Capability, name));
        let kind = self.capability_of(effective.kind)?;
        let kind = self.prefixed(kind);
        written.set("capabilityType", kind);
        let bounds = WrittenBounds::of(effective.occurrences.as_ref(), (1, None));
        if bounds.least == 0 || bounds.most == Some(0) {
            let why = "a capability of TOSCA 1.0 is there once at least";
            if let Some(said) = said.take("occurrences") {
                self.keep("occurrences", &said, why);
            }
        }
        said.take("occurrences");
        said.take("type");
        let bounds =
            WrittenBounds { least: bounds.least.max(1), most: bounds.most.map(|it| it.max(1)) };
        bounds.write(&mut written);
        Self::describe(&mut written, &mut said);
        self.keep_rest(said, "capabilities of TOSCA 1.0 have a type and bounds only");
        Some(written)
    }

    /// The name in XML of a requirement or capability of a type: the former one that metadata record,
    /// unless another one has it.
    pub(super) fn former_name<'n>(
        &'n self,
        id: TypeId,
        kind: FeatureKind,
        name: &'n str,
    ) -> &'n str {
        if !self.has_former_names {
            return name;
        }
        let types = self.variant.types;
        let key = format!("{}_name.{name}", kind.what());
        let former = types.chain(id).find_map(|id| self.metadata_text(id, &key));
        let effective = types.effective(id);
        let owner = |name: &str| match kind {
            FeatureKind::Requirement => effective.requirements.get(name).map(|part| part.owner),
            FeatureKind::Capability => effective.capabilities.get(name).map(|part| part.owner),
        };
        former.filter(|former| owner(former).is_none_or(|of| self.is_added(of))).unwrap_or(name)
    }

    /// The capability type that a name refers to, else the root of capability types.
    pub(super) fn capability_of(&self, name: Option<Node<'_>>) -> Option<TypeId> {
        self.find(Family::Capability, name).or_else(|| self.root(Family::Capability))
    }

    /// A text in the metadata of a type.
    pub(super) fn metadata_text(&self, id: TypeId, key: &str) -> Option<&'t str> {
        self.variant.types.definition(id).value.get("metadata")?.get(key)?.text()
    }

    /// A qualified name in the metadata of a type: `{namespace}name`.
    pub(super) fn metadata_name(&self, id: TypeId, key: &str) -> Option<QualifiedName> {
        QualifiedName::read(self.metadata_text(id, key)?)
    }

    /// The name of the type of a requirement that a type defines: its former name, or one derived
    /// from the capability type.
    pub(super) fn named_requirement_type(
        &mut self,
        owner: TypeId,
        requirement: &str,
        capability: Option<TypeId>,
    ) -> QualifiedName {
        let known = self.metadata_name(owner, &format!("requirement_type.{requirement}"));
        let known = known.filter(|name| match self.required_as.get(name) {
            Some(of) => *of == capability,
            None => true,
        });
        let (Some(name), Some(capability)) = (known, capability) else {
            return self.requirement_type(capability);
        };
        self.required_as.insert(name.clone(), Some(capability));
        self.require(&name, Some(capability));
        name
    }

    /// Schedules a requirement type for conversion, unless it has been referred to before.
    fn require(&mut self, name: &QualifiedName, capability: Option<TypeId>) {
        if !self.requirement_types.contains(name) {
            self.requirement_types.insert(name.clone());
            self.required.extend(capability.map(|capability| (name.clone(), capability)));
        }
    }

    /// The name of the requirement type for a capability type.
    pub(super) fn requirement_type(&mut self, capability: Option<TypeId>) -> QualifiedName {
        let capability = capability.or_else(|| self.root(Family::Capability));
        let (namespace, local) = match capability {
            Some(capability) => {
                let QualifiedName { namespace, local } = self.type_name(capability);
                (namespace, format!("{local}Requirement"))
            }
            None => (self.target.clone(), "Requirement".to_owned()),
        };
        let name = QualifiedName { namespace, local };
        self.require(&name, capability);
        name
    }

    /// Records that the type of a requirement derives from that of the one it replaces.
    fn narrow(&mut self, id: TypeId, requirement: &str, kind: &QualifiedName) {
        let types = self.variant.types;
        let before =
            types.parent(id).and_then(|id| types.effective(id).requirements.get(requirement));
        let Some(before) = before else { return };
        let capability = self.capability_of(before.definition.capability);
        let parent = self.named_requirement_type(before.owner, requirement, capability);
        if parent != *kind {
            self.narrowed.entry(kind.clone()).or_default().insert(parent);
        }
    }

    /// The requirement type that one derives from: the one whose requirements it replaces, or else,
    /// if it has no former name, that for the parent of its capability type.
    fn parent_of_requirement_type(
        &mut self,
        name: &QualifiedName,
        capability: TypeId,
    ) -> Option<QualifiedName> {
        if let Some(all) = self.narrowed.get(name) {
            let is_nearest =
                |one: &&QualifiedName| all.iter().all(|it| it == *one || self.narrows(one, it));
            return all.iter().find(is_nearest).or_else(|| all.first()).cloned();
        }
        if self.required_as.contains_key(name) {
            return None;
        }
        let parent = self.written_parent(capability)?;
        Some(self.requirement_type(Some(parent)))
    }

    /// Whether a requirement type derives from another one because of requirements it replaces.
    fn narrows(&self, one: &QualifiedName, other: &QualifiedName) -> bool {
        let (mut open, mut seen) = (vec![one], FxHashSet::default());
        while let Some(name) = open.pop() {
            if name == other {
                return true;
            }
            if seen.insert(name) {
                open.extend(self.narrowed.get(name).into_iter().flatten());
            }
        }
        false
    }

    fn requirement_type_of(&mut self, name: &QualifiedName, capability: TypeId) -> XmlPart {
        let mut part = XmlPart::new("RequirementType").with("name", &*name.local);
        if name.namespace != self.target {
            part.set("targetNamespace", &*name.namespace);
        }
        // Definitions whose types derive from no root ask for none either.
        if !self.has_added_roots || self.root(Family::Capability) != Some(capability) {
            let asked = self.prefixed(capability);
            part.set("requiredCapabilityType", asked);
        }
        if let Some(parent) = self.parent_of_requirement_type(name, capability) {
            let parent = self.prefixes.name(&parent);
            part.push(XmlPart::new("DerivedFrom").with("typeRef", parent));
        }
        part
    }

    /// Converts the attribute `state` to instance states.
    fn states(&mut self, id: TypeId, part: &mut XmlPart, said: &mut SaidMap) {
        let Some(attributes) = said.take("attributes") else { return };
        let of_type = self.state_type(id).and_then(|of| {
            states_of(&self.variant.types.definition(of).value.to_value(), "derived_from")
        });
        for (name, value) in entries(&attributes.value) {
            let states = states_of(value, "type").or_else(|| of_type.clone());
            match states.filter(|_| &**name == "state") {
                Some(states) => {
                    let state = |state: String| XmlPart::new("InstanceState").with("state", state);
                    part.push_in("InstanceStates", states.into_iter().map(state).collect());
                }
                None => {
                    let said = attributes.part(name, value);
                    self.keep(&format!("attributes{}", step(name)), &said, UNKNOWN);
                }
            }
        }
    }

    /// The data type that only contains the states of a type, in the form in which reading
    /// definitions creates it.
    fn state_type(&self, id: TypeId) -> Option<TypeId> {
        let types = self.variant.types;
        let definition = types.definition(id);
        let mut state = definition.value.get("attributes")?.get("state")?.entries();
        let (Some((key, of)), None) = (state.next(), state.next()) else { return None };
        let is_so = key.text() == Some("type") && of.text()? == state_type_name(definition.name);
        let of = self.find(Family::Data, Some(of)).filter(|_| is_so)?;
        states_of(&types.definition(of).value.to_value(), "derived_from").map(|_| of)
    }

    fn relationship_type(&mut self, id: TypeId, part: &mut XmlPart, said: &mut SaidMap) {
        let metadata = self.variant.types.definition(id).value.get("metadata");
        let at_target = metadata.and_then(|it| it.get("target_interfaces")?.text());
        let at_target: Vec<_> =
            at_target.unwrap_or_default().split(", ").map(str::to_owned).collect();
        self.states(id, part, said);
        let interfaces = said.take("interfaces");
        let artifacts = said.take("artifacts");
        let (target, source) = match interfaces {
            Some(all) => all.split(|name| at_target.iter().any(|it| it == name)),
            None => (None, None),
        };
        let source = self.interfaces(id, source, artifacts);
        part.push_in("SourceInterfaces", source);
        let target = self.interfaces(id, target, None);
        part.push_in("TargetInterfaces", target);
        let definition = self.variant.types.definition(id);
        let valid = definition.valid_types.as_deref().unwrap_or_default();
        if let [valid] = valid
            && let Some(valid) = self.find(Family::Capability, Some(*valid))
            && self.is_kept_to(id, valid)
        {
            said.take("valid_target_types");
            let valid = self.prefixed(valid);
            part.push(XmlPart::new("ValidTarget").with("typeRef", valid));
        }
    }

    /// Whether all relationships of a type lead to capabilities of this type.
    fn is_kept_to(&self, relationship: TypeId, capability: TypeId) -> bool {
        let types = self.variant.types;
        let derives = |one, other| types.derives(TypeRef::Defined(one), TypeRef::Defined(other));
        let mut joined = self.joined.iter();
        joined.all(|&(by, to)| {
            !derives(by, relationship) || to.is_some_and(|to| derives(to, capability))
        })
    }

    /// Converts the targets of a policy type, if all of them are node types.
    fn policy_type(&mut self, id: TypeId, part: &mut XmlPart, said: &mut SaidMap) {
        let definition = self.variant.types.definition(id);
        let targets = definition.valid_types.as_deref().unwrap_or_default();
        let nodes: Option<Vec<_>> =
            targets.iter().map(|target| self.find(Family::Node, Some(*target))).collect();
        if let Some(nodes) = nodes.filter(|nodes| !nodes.is_empty()) {
            said.take("targets");
            let references = nodes
                .into_iter()
                .map(|node| XmlPart::new("NodeTypeReference").with("typeRef", self.prefixed(node)));
            let references = references.collect();
            part.push_in("AppliesTo", references);
        }
    }
}

/// The beginnings of metadata that record former names.
const FORMER_NAMES: [&str; 3] = ["requirement_name.", "capability_name.", "operation_name."];

/// Whether metadata of any type record former names.
pub(super) fn has_former_names(types: &Types<'_>) -> bool {
    let own = types.ids().map(|id| types.definition(id));
    let own = own.filter(|of| !profile::is_built_in(of.key.span().file));
    let mut metadata = own.filter_map(|of| of.value.get("metadata"));
    metadata.any(|metadata| {
        let mut keys = metadata.entries().filter_map(|(key, _)| key.text());
        keys.any(|key| FORMER_NAMES.iter().any(|of| key.starts_with(of)))
    })
}

fn entries_of(said: Option<&SaidValue>) -> impl Iterator<Item = &(std::sync::Arc<str>, Value)> {
    said.into_iter().flat_map(|said| entries(&said.value))
}

fn is_yes(value: &Value) -> bool {
    matches!(value, Value::Bool(true)) || value.as_str() == Some("yes")
}

/// The values of a text attribute or of a data type that has no other keynames.
fn states_of(definition: &Value, kind: &str) -> Option<Vec<String>> {
    let mut states = None;
    for (key, value) in entries(definition) {
        match (&**key, value) {
            (key, Value::String(of)) if key == kind && &**of == "string" => {}
            ("constraints", Value::List(clauses)) => {
                let [clause] = &**clauses else { return None };
                let mut clause = entries(clause);
                let (Some((name, Value::List(values))), None) = (clause.next(), clause.next())
                else {
                    return None;
                };
                let values = values.iter().map(|value| value.as_str().map(str::to_owned));
                states = (&**name == "valid_values").then(|| values.collect())?;
            }
            _ => return None,
        }
    }
    states
}

/// The bounds of an occurrence.
struct WrittenBounds {
    least: u64,
    most: Option<u64>,
}

impl WrittenBounds {
    fn of(said: Option<&Occurrences<'_>>, default: (u64, Option<u64>)) -> Self {
        let (least, most) = said.map_or(default, |said| (said.min, said.max));
        Self { least, most }
    }

    fn write(&self, part: &mut XmlPart) {
        part.set("lowerBound", self.least.to_string());
        part.set("upperBound", self.most.map_or_else(|| "unbounded".into(), |it| it.to_string()));
    }
}
