//! The secrets of a topology as data, so that they are known without it.

use super::{SecretOwner, Sensitivity};
use crate::topology::{AssignedValue, Described, GroupIndex, TopologyCapability};
use crate::tosca::function::function_in;
use crate::tosca::secrecy::{Secrecy, SecretData, SecretDataIndex, SecretNames, SecretParts};
use crate::tosca::{Family, TypeId};
use cuvee_text::yaml::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// What is secret of values by their names.
type NamedSecrecies = BTreeMap<Arc<str>, Secrecy>;

/// The secrets of a topology and its types: of which inputs, outputs, properties and attributes
/// what is secret, whoever brings their values.
///
/// Where nothing is said of a value, its name decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretPlaces {
    #[serde(skip_serializing_if = "is_empty_data")]
    data: SecretData,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    inputs: NamedSecrecies,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    outputs: NamedSecrecies,
    /// By node template, where more is secret than by the type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    nodes: BTreeMap<Arc<str>, ElementSecrets>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    groups: BTreeMap<Arc<str>, ElementSecrets>,
    /// By node type and group type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    types: BTreeMap<Arc<str>, ElementSecrets>,
}

/// What is secret of the values of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct ElementSecrets {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: NamedSecrecies,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    capabilities: BTreeMap<Arc<str>, NamedSecrecies>,
}

fn is_empty_data(data: &SecretData) -> bool {
    data.0.is_empty()
}

/// A value of an instance or of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstanceValue<'n> {
    /// An input of the topology.
    Input(&'n str),
    /// An output of the topology.
    Output(&'n str),
    /// A property or attribute of a node.
    OfNode {
        /// The node template, if the node has one.
        template: Option<&'n str>,
        /// The full name of the type of the node.
        type_name: &'n str,
        /// The capability that the value belongs to, if it does.
        capability: Option<&'n str>,
        /// The name of the value.
        name: &'n str,
    },
    /// A property or attribute of a group.
    OfGroup {
        /// The template of the group, if it has one.
        template: Option<&'n str>,
        /// The full name of the type of the group.
        type_name: &'n str,
        /// The name of the value.
        name: &'n str,
    },
    /// Any other value, such as an entry of metadata.
    Other(&'n str),
}

impl<'n> InstanceValue<'n> {
    /// The name of the value.
    pub fn name(&self) -> &'n str {
        match *self {
            Self::Input(name) | Self::Output(name) | Self::Other(name) => name,
            Self::OfNode { name, .. } | Self::OfGroup { name, .. } => name,
        }
    }
}

impl SecretPlaces {
    /// What is secret in values of data types.
    pub(crate) fn data(&self) -> &SecretData {
        &self.data
    }

    /// What is secret of a value; `None` if only its name says.
    pub(crate) fn of(&self, value: &InstanceValue<'_>) -> Option<Secrecy> {
        let element = |all: &BTreeMap<Arc<str>, ElementSecrets>, name: Option<&str>| {
            let own = all.get(name?)?;
            match value {
                InstanceValue::OfNode { capability: Some(capability), name, .. } => {
                    own.capabilities.get(*capability)?.get(*name).cloned()
                }
                value => own.values.get(value.name()).cloned(),
            }
        };
        let (own, by_type) = match value {
            InstanceValue::Input(name) => return self.inputs.get(*name).cloned(),
            InstanceValue::Output(name) => return self.outputs.get(*name).cloned(),
            InstanceValue::OfNode { template, type_name, .. } => {
                (element(&self.nodes, *template), element(&self.types, Some(type_name)))
            }
            InstanceValue::OfGroup { template, type_name, .. } => {
                (element(&self.groups, *template), element(&self.types, Some(type_name)))
            }
            InstanceValue::Other(_) => return None,
        };
        match (own, by_type) {
            (Some(own), Some(by_type)) => Some(self.data.either(own, by_type)),
            (own, by_type) => own.or(by_type),
        }
    }

    /// Whether a value is secret, or has parts that are. Without a place that says so, the names
    /// decide that always count.
    ///
    /// ```
    /// use cuvee::deploy::instance::InstanceValue;
    /// let shop = cuvee::Resolver::from_text("shop.yaml", "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   inputs:
    ///     pin: {type: integer, metadata: {sensitive: 'true'}, default: 4711}
    ///   outputs:
    ///     door: {value: {concat: ['door ', {get_input: pin}]}}
    /// ");
    /// let mut secrets = cuvee::deploy::instance::KeptSecrets::new(Default::default(), [7; 32], [""; 0]);
    /// let places = shop.instance_target(&mut secrets)?.result.secrets;
    /// assert!(places.is_secret(&InstanceValue::Input("pin")));
    /// assert!(places.is_secret(&InstanceValue::Output("door")));
    /// assert!(!places.is_secret(&InstanceValue::Output("window")));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn is_secret(&self, value: &InstanceValue<'_>) -> bool {
        let by_name = || Secrecy::whole(SecretNames::default().has(value.name()));
        !self.of(value).unwrap_or_else(by_name).is_open()
    }
}

impl Sensitivity<'_, '_> {
    /// The secrets of the topology as data.
    pub(crate) fn places(&self) -> SecretPlaces {
        let topology = self.topology;
        let mut maker = PlaceMaker { secrets: self, types: FxHashMap::default() };
        let inputs = topology.inputs.iter().map(|it| (&*it.name, self.input(&it.name)));
        let outputs = topology.outputs.iter().map(|it| (&*it.name, self.output(&it.name)));
        let (inputs, outputs) = (maker.said(inputs), maker.said(outputs));
        let mut places = SecretPlaces { inputs, outputs, ..SecretPlaces::default() };
        for id in topology.node_ids() {
            let node = topology.node(id);
            let own = maker.element(SecretOwner::Node(id), &node.described, &node.capabilities);
            if own != ElementSecrets::default() {
                places.nodes.insert(Arc::from(&*node.name), own);
            }
        }
        for (at, group) in topology.groups.iter().enumerate() {
            let owner = SecretOwner::Group(GroupIndex::new(at));
            let own = maker.element(owner, &group.described, &[]);
            if own != ElementSecrets::default() {
                places.groups.insert(Arc::from(&*group.name), own);
            }
        }
        places.types = maker.types();
        places.data = self.data().clone();
        places
    }
}

/// The name of a value, and of the capability that has it, if one does.
type SlotName<'n> = (Option<&'n str>, &'n str);

/// What all elements of a type have in common.
#[derive(Default)]
struct TypePlaces<'t> {
    secrets: ElementSecrets,
    /// The values whose defaults are computed, so that they differ from element to element.
    computed: Vec<SlotName<'t>>,
    all: FxHashSet<SlotName<'t>>,
}

/// Collects the secrets of a topology.
struct PlaceMaker<'s, 't, 'a> {
    secrets: &'s Sensitivity<'t, 'a>,
    types: FxHashMap<TypeId, Rc<TypePlaces<'t>>>,
}

impl<'t> PlaceMaker<'_, 't, '_> {
    /// Those secrecies that say more than names do.
    fn said<'n>(&self, all: impl Iterator<Item = (&'n str, Secrecy)>) -> NamedSecrecies {
        let says = |(name, secrecy): &(&str, Secrecy)| self.says(name, secrecy);
        all.filter(says).map(|(name, secrecy)| (Arc::from(name), secrecy)).collect()
    }

    fn says(&self, name: &str, secrecy: &Secrecy) -> bool {
        !secrecy.is_open() || self.secrets.names().has(name)
    }

    /// The values of an element of which more is secret than its type says.
    fn element(
        &mut self,
        owner: SecretOwner,
        described: &'t Described,
        capabilities: &'t [TopologyCapability],
    ) -> ElementSecrets {
        let secrets = self.secrets;
        let of_type = secrets.type_of(owner).map(|id| self.of_type(id)).unwrap_or_default();
        let own = described.properties.iter().chain(&described.attributes);
        let own = own.map(|one| (None, one));
        let more = capabilities.iter().flat_map(|capability| {
            let values = capability.properties.iter().chain(&capability.attributes);
            values.map(|one| (Some(&*capability.name), one))
        });
        let is_telling = |(capability, one): &(Option<&'t str>, &'t AssignedValue)| {
            let is_defined = of_type.all.contains(&(*capability, &*one.name));
            !is_defined || function_in(&one.value.value).is_some()
        };
        let assigned = own.chain(more).filter(is_telling);
        let mut names: FxHashSet<_> =
            assigned.map(|(capability, one)| (capability, &*one.name)).collect();
        names.extend(&of_type.computed);
        if secrets.is_marked(owner, None) {
            names.extend(&of_type.all);
        }
        let mut found = ElementSecrets::default();
        for (capability, name) in names {
            let secrecy = secrets.slot(owner, capability, name);
            if self.says(name, &secrecy) && of_type.secrets.get(capability, name) != Some(&secrecy)
            {
                found.insert((capability, name), secrecy);
            }
        }
        found
    }

    fn of_type(&mut self, id: TypeId) -> Rc<TypePlaces<'t>> {
        if let Some(known) = self.types.get(&id) {
            return Rc::clone(known);
        }
        let secrets = self.secrets;
        let effective = secrets.types().effective(id);
        let is_marked = secrets.types().said_sensitive(id) == Some(true);
        let own = [&effective.properties, &effective.attributes].map(|parts| (None, parts));
        let more = effective.capabilities.iter().flat_map(|(name, part)| {
            [&part.definition.properties, &part.definition.attributes].map(|it| (Some(*name), it))
        });
        let mut made = TypePlaces::default();
        for (capability, parts) in own.into_iter().chain(more) {
            for (name, part) in parts.iter() {
                let definition = &part.definition;
                let declared = secrets.declared.definition(definition);
                let secrecy = if is_marked { Secrecy::Whole } else { declared };
                if self.says(name, &secrecy) {
                    made.secrets.insert((capability, name), secrecy);
                }
                let default = definition.value.or(definition.default).map(Node::to_value);
                if default.is_some_and(|default| function_in(&default).is_some()) {
                    made.computed.push((capability, *name));
                }
                made.all.insert((capability, *name));
            }
        }
        let made = Rc::new(made);
        self.types.insert(id, Rc::clone(&made));
        made
    }

    /// The secrets of the types of nodes and groups that the template uses or brings.
    fn types(&mut self) -> BTreeMap<Arc<str>, ElementSecrets> {
        let types = self.secrets.types();
        for id in types.ids() {
            let definition = types.definition(id);
            let is_element = matches!(definition.family, Family::Node | Family::Group);
            if is_element && !definition.key.span().file.is_built_in() {
                self.of_type(id);
            }
        }
        let mut all: Vec<_> = self.types.iter().collect();
        all.sort_unstable_by_key(|(id, _)| **id);
        let told = all.into_iter().filter(|(_, made)| made.secrets != ElementSecrets::default());
        let mut found = BTreeMap::<Arc<str>, ElementSecrets>::new();
        for (id, made) in told {
            found.insert(Arc::from(&*types.told_name(*id)), made.secrets.clone());
            let definition = types.definition(*id);
            // Nodes of earlier versions have the name without its namespace.
            if types.find(definition.family, definition.name).is_none() {
                found.entry(Arc::from(definition.name)).or_default().add(&made.secrets);
            }
        }
        found
    }
}

impl ElementSecrets {
    fn get(&self, capability: Option<&str>, name: &str) -> Option<&Secrecy> {
        match capability {
            None => self.values.get(name),
            Some(capability) => self.capabilities.get(capability)?.get(name),
        }
    }

    /// Adds the secrets of another type to those of one with the same name.
    fn add(&mut self, other: &Self) {
        let into = |all: &mut NamedSecrecies, more: &NamedSecrecies| {
            for (name, secrecy) in more {
                all.entry(Arc::clone(name)).or_insert_with(|| secrecy.clone());
            }
        };
        into(&mut self.values, &other.values);
        for (capability, values) in &other.capabilities {
            into(self.capabilities.entry(Arc::clone(capability)).or_default(), values);
        }
    }

    fn insert(&mut self, (capability, name): SlotName<'_>, secrecy: Secrecy) {
        let all = match capability {
            None => &mut self.values,
            Some(capability) => self.capabilities.entry(capability.into()).or_default(),
        };
        all.insert(name.into(), secrecy);
    }
}

/// The name that stands for all items and all other entries.
const EACH: &str = "*";

impl Serialize for Secrecy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Open => serializer.serialize_bool(false),
            Self::Computed | Self::Whole => serializer.serialize_bool(true),
            Self::Data(index) => serializer.serialize_u32(index.0),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

impl Serialize for SecretParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_each = !self.each.is_open();
        let named = self.named.iter().filter(|(name, _)| !has_each || &***name != EACH);
        let mut map = serializer.serialize_map(None)?;
        for (name, secrecy) in named {
            map.serialize_entry(name, secrecy)?;
        }
        if has_each {
            map.serialize_entry(EACH, &self.each)?;
        }
        map.end()
    }
}

impl Serialize for SecretData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SecretData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for SecretParts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut named = NamedSecrecies::deserialize(deserializer)?;
        let each = named.remove(EACH).unwrap_or_default();
        Ok(Self { named, each })
    }
}

impl<'de> Deserialize<'de> for Secrecy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecrecyVisitor)
    }
}

struct SecrecyVisitor;

impl<'de> Visitor<'de> for SecrecyVisitor {
    type Value = Secrecy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, the number of a data type, or a map of parts")
    }

    fn visit_bool<E>(self, is_secret: bool) -> Result<Secrecy, E> {
        Ok(Secrecy::whole(is_secret))
    }

    fn visit_u64<E: serde::de::Error>(self, index: u64) -> Result<Secrecy, E> {
        let index = u32::try_from(index).map_err(E::custom)?;
        Ok(Secrecy::Data(SecretDataIndex(index)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Secrecy, A::Error> {
        let parts = serde::de::value::MapAccessDeserializer::new(map);
        SecretParts::deserialize(parts).map(SecretParts::secrecy)
    }
}
