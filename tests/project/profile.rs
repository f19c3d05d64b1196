//! Checks the profiles in `presets/profiles/`: two readers read the same from them, they use only
//! the grammar of chapter 3, name only types that exist, and have exactly the types that the
//! headings of chapters 5 to 9 announce.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the profiles has failed")]

use cuvee::parts::yaml::{Limits, Node, NodeKind, Scalar, parse};
use cuvee::source::FileId;
use serde_yaml::Value as Yaml;
use std::collections::{BTreeMap, BTreeSet, HashSet};

const NORMATIVE: &str = include_str!("../../presets/profiles/tosca_simple_1_3.yaml");
const NON_NORMATIVE: &str =
    include_str!("../../presets/profiles/tosca_simple_1_3_non_normative.yaml");
const README: &str = include_str!("../../presets/profiles/README.md");

/// The types that exist without a definition (section 3.3).
const PRIMITIVES: [&str; 14] = [
    "string",
    "integer",
    "float",
    "boolean",
    "timestamp",
    "null",
    "version",
    "range",
    "list",
    "map",
    "scalar-unit.size",
    "scalar-unit.time",
    "scalar-unit.frequency",
    "scalar-unit.bitrate",
];

/// The operators of constraint clauses (section 3.6.3.1).
const OPERATORS: [&str; 12] = [
    "equal",
    "greater_than",
    "greater_or_equal",
    "less_than",
    "less_or_equal",
    "in_range",
    "valid_values",
    "length",
    "min_length",
    "max_length",
    "pattern",
    "schema",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Data,
    Artifact,
    Capability,
    Relationship,
    Interface,
    Node,
    Group,
    Policy,
}

use Family::{Artifact, Capability, Data, Group, Interface, Policy, Relationship};

impl Family {
    /// All families, in the order of the file.
    const ALL: [Self; 8] =
        [Data, Artifact, Capability, Relationship, Interface, Self::Node, Group, Policy];

    fn keyword(self) -> &'static str {
        match self {
            Data => "data_types",
            Artifact => "artifact_types",
            Capability => "capability_types",
            Relationship => "relationship_types",
            Interface => "interface_types",
            Self::Node => "node_types",
            Group => "group_types",
            Policy => "policy_types",
        }
    }

    /// The prefix of the names of the family's types.
    fn prefix(self) -> &'static str {
        match self {
            Data => "tosca.datatypes.",
            Artifact => "tosca.artifacts.",
            Capability => "tosca.capabilities.",
            Relationship => "tosca.relationships.",
            Interface => "tosca.interfaces.",
            Self::Node => "tosca.nodes.",
            Group => "tosca.groups.",
            Policy => "tosca.policies.",
        }
    }

    /// What a type of the family may contain (section 3.7).
    fn shape(self) -> &'static Shape {
        match self {
            Data => &DATA_TYPE,
            Artifact => &ARTIFACT_TYPE,
            Capability => &CAPABILITY_TYPE,
            Relationship => &RELATIONSHIP_TYPE,
            Interface => &INTERFACE_TYPE,
            Self::Node => &NODE_TYPE,
            Group => &GROUP_TYPE,
            Policy => &POLICY_TYPE,
        }
    }
}

/// The headings of chapters 5 and 8: section and name of each type.
const NORMATIVE_HEADINGS: &[(&str, &str)] = &[
    ("5.3.1", "tosca.datatypes.Root"),
    ("5.3.2", "tosca.datatypes.json"),
    ("5.3.4", "tosca.datatypes.xml"),
    ("5.3.6", "tosca.datatypes.Credential"),
    ("5.3.7", "tosca.datatypes.TimeInterval"),
    ("5.3.8", "tosca.datatypes.network.NetworkInfo"),
    ("5.3.9", "tosca.datatypes.network.PortInfo"),
    ("5.3.10", "tosca.datatypes.network.PortDef"),
    ("5.3.11", "tosca.datatypes.network.PortSpec"),
    ("5.4.1", "tosca.artifacts.Root"),
    ("5.4.2", "tosca.artifacts.File"),
    ("5.4.3.1", "tosca.artifacts.Deployment"),
    ("5.4.3.3", "tosca.artifacts.Deployment.Image"),
    ("5.4.3.4", "tosca.artifacts.Deployment.Image.VM"),
    ("5.4.4.1", "tosca.artifacts.Implementation"),
    ("5.4.4.3", "tosca.artifacts.Implementation.Bash"),
    ("5.4.4.4", "tosca.artifacts.Implementation.Python"),
    ("5.4.5.1", "tosca.artifacts.template"),
    ("5.5.1", "tosca.capabilities.Root"),
    ("5.5.2", "tosca.capabilities.Node"),
    ("5.5.3", "tosca.capabilities.Compute"),
    ("5.5.4", "tosca.capabilities.Network"),
    ("5.5.5", "tosca.capabilities.Storage"),
    ("5.5.6", "tosca.capabilities.Container"),
    ("5.5.7", "tosca.capabilities.Endpoint"),
    ("5.5.8", "tosca.capabilities.Endpoint.Public"),
    ("5.5.9", "tosca.capabilities.Endpoint.Admin"),
    ("5.5.10", "tosca.capabilities.Endpoint.Database"),
    ("5.5.11", "tosca.capabilities.Attachment"),
    ("5.5.12", "tosca.capabilities.OperatingSystem"),
    ("5.5.13", "tosca.capabilities.Scalable"),
    ("5.5.14", "tosca.capabilities.network.Bindable"),
    ("8.5.3", "tosca.capabilities.network.Linkable"),
    ("5.7.1", "tosca.relationships.Root"),
    ("5.7.2", "tosca.relationships.DependsOn"),
    ("5.7.3", "tosca.relationships.HostedOn"),
    ("5.7.4", "tosca.relationships.ConnectsTo"),
    ("5.7.5", "tosca.relationships.AttachesTo"),
    ("5.7.6", "tosca.relationships.RoutesTo"),
    ("8.5.4", "tosca.relationships.network.LinksTo"),
    ("8.5.5", "tosca.relationships.network.BindsTo"),
    ("5.8.3", "tosca.interfaces.Root"),
    ("5.8.4", "tosca.interfaces.node.lifecycle.Standard"),
    ("5.8.5", "tosca.interfaces.relationship.Configure"),
    ("5.9.1", "tosca.nodes.Root"),
    ("5.9.2", "tosca.nodes.Abstract.Compute"),
    ("5.9.3", "tosca.nodes.Compute"),
    ("5.9.4", "tosca.nodes.SoftwareComponent"),
    ("5.9.5", "tosca.nodes.WebServer"),
    ("5.9.6", "tosca.nodes.WebApplication"),
    ("5.9.7", "tosca.nodes.DBMS"),
    ("5.9.8", "tosca.nodes.Database"),
    ("5.9.9", "tosca.nodes.Abstract.Storage"),
    ("5.9.10", "tosca.nodes.Storage.ObjectStorage"),
    ("5.9.11", "tosca.nodes.Storage.BlockStorage"),
    ("5.9.12", "tosca.nodes.Container.Runtime"),
    ("5.9.13", "tosca.nodes.Container.Application"),
    ("5.9.14", "tosca.nodes.LoadBalancer"),
    ("8.5.1", "tosca.nodes.network.Network"),
    ("8.5.2", "tosca.nodes.network.Port"),
    ("5.10.1", "tosca.groups.Root"),
    ("5.11.1", "tosca.policies.Root"),
    ("5.11.2", "tosca.policies.Placement"),
    ("5.11.3", "tosca.policies.Scaling"),
    ("5.11.4", "tosca.policies.Update"),
    ("5.11.5", "tosca.policies.Performance"),
];

/// The headings of chapter 9: section and name of each type.
const NON_NORMATIVE_HEADINGS: &[(&str, &str)] = &[
    ("9.1.1", "tosca.artifacts.Deployment.Image.Container.Docker"),
    ("9.1.2", "tosca.artifacts.Deployment.Image.VM.ISO"),
    ("9.1.3", "tosca.artifacts.Deployment.Image.VM.QCOW2"),
    ("9.1.4", "tosca.artifacts.template.Jinja2"),
    ("9.1.5", "tosca.artifacts.template.Twig"),
    ("9.2.1", "tosca.capabilities.Container.Docker"),
    ("9.3.1", "tosca.nodes.Database.MySQL"),
    ("9.3.2", "tosca.nodes.DBMS.MySQL"),
    ("9.3.3", "tosca.nodes.WebServer.Apache"),
    ("9.3.4", "tosca.nodes.WebApplication.WordPress"),
    ("9.3.5", "tosca.nodes.WebServer.Nodejs"),
    ("9.3.6", "tosca.nodes.Container.Application.Docker"),
];

/// What a place in a profile may contain.
enum Shape {
    /// Any value; another check covers it.
    Any,
    Text,
    Texts,
    TextMap,
    Flag,
    OneOf(&'static [&'static str]),
    /// The name of a type.
    Type(Family),
    /// A list of names of types, each of one of these families.
    Types(&'static [Family]),
    Constraints,
    Occurrences,
    /// Entries with names of their own.
    Map(&'static Shape),
    /// A list of maps with one entry each, of different names.
    List(&'static Shape),
    Entity(Keynames),
}

/// The keynames of an entity; those that end with `!` are required.
type Keynames = &'static [(&'static str, &'static Shape)];

static SCHEMA: Shape = Shape::Entity(&[
    ("type!", &Shape::Type(Data)),
    ("description", &Shape::Text),
    ("constraints", &Shape::Constraints),
    ("key_schema", &SCHEMA),
    ("entry_schema", &SCHEMA),
]);

static PROPERTY: Shape = Shape::Entity(&[
    ("type!", &Shape::Type(Data)),
    ("description", &Shape::Text),
    ("required", &Shape::Flag),
    ("default", &Shape::Any),
    ("status", &STATUS),
    ("constraints", &Shape::Constraints),
    ("key_schema", &SCHEMA),
    ("entry_schema", &SCHEMA),
    ("metadata", &Shape::TextMap),
]);

static ATTRIBUTE: Shape = Shape::Entity(&[
    ("type!", &Shape::Type(Data)),
    ("description", &Shape::Text),
    ("default", &Shape::Any),
    ("status", &STATUS),
    ("key_schema", &SCHEMA),
    ("entry_schema", &SCHEMA),
]);

static STATUS: Shape = Shape::OneOf(&["supported", "unsupported", "experimental", "deprecated"]);

/// An operation in a type has no implementation: types that derive from it add one.
static OPERATION: Shape =
    Shape::Entity(&[("description", &Shape::Text), ("inputs", &Shape::Map(&PROPERTY))]);

static INTERFACE: Shape = Shape::Entity(&[
    ("type!", &Shape::Type(Interface)),
    ("inputs", &Shape::Map(&PROPERTY)),
    ("operations", &Shape::Map(&OPERATION)),
    ("notifications", &Shape::Map(&OPERATION)),
]);

static CAPABILITY: Shape = Shape::Entity(&[
    ("type!", &Shape::Type(Capability)),
    ("description", &Shape::Text),
    ("properties", &Shape::Map(&PROPERTY)),
    ("attributes", &Shape::Map(&ATTRIBUTE)),
    ("valid_source_types", &Shape::Types(&[Family::Node])),
    ("occurrences", &Shape::Occurrences),
]);

/// Occurrences are optional in the grammar, but the profiles write them out.
static REQUIREMENT: Shape = Shape::Entity(&[
    ("capability!", &Shape::Type(Capability)),
    ("node", &Shape::Type(Family::Node)),
    ("relationship", &Shape::Type(Relationship)),
    ("occurrences!", &Shape::Occurrences),
]);

static DATA_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Data)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("constraints", &Shape::Constraints),
    ("properties", &Shape::Map(&PROPERTY)),
    ("key_schema", &SCHEMA),
    ("entry_schema", &SCHEMA),
]);

static ARTIFACT_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Artifact)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("mime_type", &Shape::Text),
    ("file_ext", &Shape::Texts),
    ("properties", &Shape::Map(&PROPERTY)),
]);

static CAPABILITY_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Capability)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("properties", &Shape::Map(&PROPERTY)),
    ("attributes", &Shape::Map(&ATTRIBUTE)),
    ("valid_source_types", &Shape::Types(&[Family::Node])),
]);

static RELATIONSHIP_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Relationship)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("properties", &Shape::Map(&PROPERTY)),
    ("attributes", &Shape::Map(&ATTRIBUTE)),
    ("interfaces", &Shape::Map(&INTERFACE)),
    ("valid_target_types", &Shape::Types(&[Capability])),
]);

static INTERFACE_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Interface)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("inputs", &Shape::Map(&PROPERTY)),
    ("operations", &Shape::Map(&OPERATION)),
    ("notifications", &Shape::Map(&OPERATION)),
]);

static NODE_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Family::Node)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("attributes", &Shape::Map(&ATTRIBUTE)),
    ("properties", &Shape::Map(&PROPERTY)),
    ("requirements", &Shape::List(&REQUIREMENT)),
    ("capabilities", &Shape::Map(&CAPABILITY)),
    ("interfaces", &Shape::Map(&INTERFACE)),
]);

/// Interfaces of groups are deprecated (3.7.11.3), but the root type has one.
static GROUP_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Group)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("attributes", &Shape::Map(&ATTRIBUTE)),
    ("properties", &Shape::Map(&PROPERTY)),
    ("members", &Shape::Types(&[Family::Node, Capability, Group])),
    ("interfaces", &Shape::Map(&INTERFACE)),
]);

static POLICY_TYPE: Shape = Shape::Entity(&[
    ("derived_from", &Shape::Type(Policy)),
    ("metadata!", &METADATA),
    ("description!", &Shape::Text),
    ("properties", &Shape::Map(&PROPERTY)),
    ("targets", &Shape::Types(&[Family::Node, Group])),
]);

static METADATA: Shape = Shape::Entity(&[
    ("shorthand!", &Shape::Text),
    ("qualified!", &Shape::Text),
    ("aliases", &Shape::Text),
    ("section!", &Shape::Text),
]);

/// The types of one or more profiles.
struct Types {
    /// Family, name and definition of each type, in the order of the files.
    all: Vec<(Family, String, Yaml)>,
}

impl Types {
    fn of(texts: &[&str]) -> Self {
        let mut all = Vec::new();
        for text in texts {
            let document = read(text);
            for family in Family::ALL {
                let types = document.get(family.keyword()).and_then(Yaml::as_mapping);
                let types = types.into_iter().flatten();
                all.extend(
                    types.map(|(name, body)| {
                        (family, name.as_str().unwrap().to_owned(), body.clone())
                    }),
                );
            }
        }
        Self { all }
    }

    fn of_family(&self, family: Family) -> impl Iterator<Item = (&str, &Yaml)> {
        self.all
            .iter()
            .filter(move |(of, ..)| *of == family)
            .map(|(_, name, body)| (name.as_str(), body))
    }

    fn get(&self, family: Family, name: &str) -> Option<&Yaml> {
        self.of_family(family).find(|(known, _)| *known == name).map(|(_, body)| body)
    }

    fn exists(&self, family: Family, name: &str) -> bool {
        family == Data && PRIMITIVES.contains(&name) || self.get(family, name).is_some()
    }

    /// The type and its ancestors. A circle ends after more steps than there are types.
    fn chain<'t>(&'t self, family: Family, name: &'t str) -> impl Iterator<Item = &'t str> {
        let parent = move |name: &&'t str| self.get(family, name)?.get("derived_from")?.as_str();
        std::iter::successors(Some(name), parent).take(self.all.len() + 1)
    }

    fn is_a(&self, family: Family, name: &str, ancestor: &str) -> bool {
        self.chain(family, name).any(|one| one == ancestor)
    }

    /// The value of a keyword in the type, or else in the nearest ancestor that has it.
    fn nearest<'t>(&'t self, family: Family, name: &'t str, keyword: &str) -> Option<&'t Yaml> {
        self.chain(family, name).find_map(|name| self.get(family, name)?.get(keyword))
    }

    /// Whether each type of the list `now` is one of the list `before` or derives from one.
    fn are_narrower(&self, family: Family, now: &Yaml, before: &Yaml) -> bool {
        let before = items(before).unwrap();
        items(now)
            .unwrap()
            .iter()
            .all(|now| before.iter().any(|before| self.is_a(family, text(now), text(before))))
    }

    /// The members of a type, such as its capabilities: for each name the nearest definition in the
    /// type or an ancestor.
    fn members<'t>(
        &'t self,
        family: Family,
        name: &'t str,
        keyword: &str,
    ) -> BTreeMap<&'t str, &'t Yaml> {
        let mut members = BTreeMap::new();
        for body in self.chain(family, name).filter_map(|name| self.get(family, name)) {
            for (member, definition) in named(body.get(keyword)) {
                members.entry(member).or_insert(definition);
            }
        }
        members
    }

    /// Violations of the grammar in all types, and names of types that do not exist.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (family, name, body) in &self.all {
            self.check(family.shape(), body, name, &mut problems);
        }
        problems
    }

    fn check(&self, shape: &Shape, value: &Yaml, path: &str, problems: &mut Vec<String>) {
        let holds = match shape {
            Shape::Any => true,
            Shape::Text => value.is_string(),
            Shape::Texts => items(value).is_some_and(|items| items.iter().all(Yaml::is_string)),
            Shape::TextMap => {
                value.as_mapping().is_some_and(|map| map.values().all(Yaml::is_string))
            }
            Shape::Flag => value.is_bool(),
            Shape::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Shape::Type(family) => value.as_str().is_some_and(|name| self.exists(*family, name)),
            Shape::Types(families) => items(value)
                .is_some_and(|names| names.iter().all(|name| self.is_of(families, name))),
            Shape::Constraints => items(value).is_some_and(|clauses| clauses.iter().all(is_clause)),
            Shape::Occurrences => is_occurrences(value),
            Shape::Map(entry) => match value.as_mapping().filter(|map| !map.is_empty()) {
                Some(_) => return self.check_entries(entry, value, path, problems),
                None => false,
            },
            Shape::List(entry) => match items(value).filter(|list| are_distinct(list)) {
                Some(list) => {
                    return list
                        .iter()
                        .for_each(|item| self.check_entries(entry, item, path, problems));
                }
                None => false,
            },
            Shape::Entity(keynames) => match value.is_mapping() {
                true => return self.check_entity(keynames, value, path, problems),
                false => false,
            },
        };
        if !holds {
            problems.push(format!("{path}: {}", serde_yaml::to_string(value).unwrap().trim_end()));
        }
    }

    fn check_entries(&self, shape: &Shape, value: &Yaml, path: &str, problems: &mut Vec<String>) {
        for (name, entry) in named(Some(value)) {
            self.check(shape, entry, &format!("{path}/{name}"), problems);
        }
    }

    fn check_entity(
        &self,
        keynames: Keynames,
        value: &Yaml,
        path: &str,
        problems: &mut Vec<String>,
    ) {
        for (key, entry) in named(Some(value)) {
            match keynames.iter().find(|(known, _)| known.trim_end_matches('!') == key) {
                Some((_, shape)) => self.check(shape, entry, &format!("{path}/{key}"), problems),
                None => problems.push(format!("{path}/{key} is unknown")),
            }
        }
        let required = keynames.iter().filter_map(|(key, _)| key.strip_suffix('!'));
        problems.extend(
            required
                .filter(|key| value.get(key).is_none())
                .map(|key| format!("{path}/{key} is missing")),
        );
    }

    fn is_of(&self, families: &[Family], name: &Yaml) -> bool {
        name.as_str().is_some_and(|name| families.iter().any(|family| self.exists(*family, name)))
    }
}

fn read(text: &str) -> Yaml {
    serde_yaml::from_str(text).unwrap()
}

fn both() -> Types {
    Types::of(&[NORMATIVE, NON_NORMATIVE])
}

/// The items of a list, unless it is empty.
fn items(value: &Yaml) -> Option<&[Yaml]> {
    value.as_sequence().map(Vec::as_slice).filter(|items| !items.is_empty())
}

fn text(value: &Yaml) -> &str {
    value.as_str().unwrap()
}

/// The entries of a map, or of a list of maps.
fn named(value: Option<&Yaml>) -> Vec<(&str, &Yaml)> {
    let list = value.and_then(Yaml::as_sequence).map_or(&[][..], Vec::as_slice);
    let maps = value.into_iter().chain(list).filter_map(Yaml::as_mapping);
    maps.flatten().map(|(key, value)| (key.as_str().unwrap(), value)).collect()
}

fn is_single(value: &Yaml) -> bool {
    value.as_mapping().is_some_and(|map| map.len() == 1)
}

/// Whether the items are maps with one entry each, of different names.
fn are_distinct(list: &[Yaml]) -> bool {
    let mut seen = HashSet::new();
    list.iter()
        .all(|item| is_single(item) && named(Some(item)).iter().all(|(name, _)| seen.insert(*name)))
}

/// Whether the value is a constraint clause, `operator: operand`.
fn is_clause(clause: &Yaml) -> bool {
    is_single(clause)
        && named(Some(clause)).iter().all(|(operator, operand)| {
            OPERATORS.contains(operator)
                && match *operator {
                    "in_range" => operand.as_sequence().is_some_and(|ends| {
                        ends.len() == 2 && ends[0].as_i64() <= ends[1].as_i64()
                    }),
                    "valid_values" => items(operand).is_some(),
                    _ => !operand.is_sequence() && !operand.is_mapping() && !operand.is_null(),
                }
        })
}

/// Whether the value is `[lower, upper]`, where `upper` may be `UNBOUNDED`.
fn is_occurrences(value: &Yaml) -> bool {
    let Some([lower, upper]) = value.as_sequence().map(Vec::as_slice) else { return false };
    let in_order = |lower: u64| {
        upper.as_str() == Some("UNBOUNDED")
            || upper.as_u64().is_some_and(|upper| lower <= upper && upper > 0)
    };
    lower.as_u64().is_some_and(in_order)
}

/// Whether both readers read the same.
fn same(node: Node<'_>, value: &Yaml) -> bool {
    match node.kind() {
        NodeKind::Mapping => value.as_mapping().is_some_and(|map| {
            let keys = node.entries().map(|(key, _)| key.text()).eq(map.keys().map(Yaml::as_str));
            keys && node.entries().zip(map.values()).all(|((_, node), value)| same(node, value))
        }),
        NodeKind::Sequence => value.as_sequence().is_some_and(|list| {
            node.items().len() == list.len()
                && node.items().zip(list).all(|(node, value)| same(node, value))
        }),
        NodeKind::Scalar => match node.scalar() {
            Some(Scalar::Bool(flag)) => value.as_bool() == Some(flag),
            Some(Scalar::Int(number)) => value.as_i64() == Some(number),
            Some(Scalar::String(text)) => value.as_str() == Some(text),
            // No profile has nodes of another kind.
            _ => false,
        },
    }
}

fn section(body: &Yaml) -> Vec<u32> {
    let section = body["metadata"]["section"].as_str().unwrap();
    section.split('.').map(|part| part.parse().unwrap()).collect()
}

/// Every name of a type: its own, and those in its metadata.
fn names<'t>(name: &'t str, body: &'t Yaml) -> Vec<&'t str> {
    let metadata = &body["metadata"];
    let texts = ["shorthand", "qualified", "aliases"]
        .into_iter()
        .filter_map(|key| metadata.get(key)?.as_str());
    texts.flat_map(str::split_whitespace).chain([name]).collect()
}

#[test]
fn both_readers_read_the_same() {
    for text in [NORMATIVE, NON_NORMATIVE] {
        let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
        assert!(same(document.root(), &read(text)));
    }
}

#[test]
fn they_are_templates_of_nothing_but_types() {
    for text in [NORMATIVE, NON_NORMATIVE] {
        let document = read(text);
        let keys: Vec<_> = named(Some(&document)).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys[..2], ["tosca_definitions_version", "description"]);
        assert_eq!(document["tosca_definitions_version"], "tosca_simple_yaml_1_3");
        let order: Vec<_> = Family::ALL
            .iter()
            .map(|family| family.keyword())
            .filter(|keyword| keys.contains(keyword))
            .collect();
        assert_eq!(keys[2..], order);
    }
}

#[test]
fn every_heading_has_its_type_and_every_type_its_heading() {
    for (text, headings) in
        [(NORMATIVE, NORMATIVE_HEADINGS), (NON_NORMATIVE, NON_NORMATIVE_HEADINGS)]
    {
        let types = Types::of(&[text]);
        let found: Vec<_> = types
            .all
            .iter()
            .map(|(_, name, body)| (body["metadata"]["section"].as_str().unwrap(), name.as_str()))
            .collect();
        assert_eq!(found, headings);
    }
}

#[test]
fn every_type_is_in_its_family_and_sections_ascend() {
    let types = both();
    for family in Family::ALL {
        let sections: Vec<_> = types.of_family(family).map(|(_, body)| section(body)).collect();
        assert!(
            !sections.is_empty() && sections.is_sorted_by(|a, b| a < b),
            "{family:?}: {sections:?}"
        );
        assert!(types.of_family(family).all(|(name, _)| name.starts_with(family.prefix())));
    }
}

#[test]
fn the_normative_profile_needs_nothing_else() {
    assert_eq!(Types::of(&[NORMATIVE]).problems(), [""; 0]);
}

#[test]
fn keynames_and_named_types_are_known() {
    assert_eq!(both().problems(), [""; 0]);
}

const OWN_GROUP: &str = r#"
  tosca.groups.Own:
    derived_from: tosca.groups.Root
    metadata: { shorthand: Own, qualified: "tosca:Own", section: "5.10.2" }
    description: One of our own.

policy_types:
"#;

/// Checks that the checks above find the faults that they look for.
#[test]
fn faults_are_found() {
    let faults = [
        (
            "      relationship: tosca.relationships.network.LinksTo",
            "      relationship: tosca.relationships.network.LinkTo",
        ),
        (
            "    derived_from: tosca.nodes.Abstract.Compute",
            "    derived_from: tosca.nodes.Abstract.Computer",
        ),
        ("    derived_from: tosca.groups.Root", "    derived_from: tosca.nodes.Root"),
        ("      occurrences: [ 0, UNBOUNDED ]", "      occurrences: [ UNBOUNDED, 0 ]"),
        ("      occurrences: [ 1, 1 ]", "      occurrences: [ 2, 1 ]"),
        ("      required: false", "      required: no"),
        ("        status: experimental", "        status: experiment"),
        ("          - in_range: [ 1, 65536 ]", "          - in_range: [ 65536, 1 ]"),
        ("          - min_length: 1", "          - minimum_length: 1"),
        ("        valid_source_types: [ tosca.nodes.Database ]", "        valid_source_types: []"),
        (
            "        valid_source_types: [ tosca.nodes.Database ]",
            "        valid_target_types: [ tosca.nodes.Database ]",
        ),
        (
            "        entry_schema:\n          type: tosca.datatypes.network.PortSpec",
            "        entry_schema: PortSpec",
        ),
        (
            "          type: string\n      user:",
            "      entry_schema:\n          type: string\n      user:",
        ),
        ("          capability: tosca.capabilities.Node\n", "          description: Others.\n"),
        ("    operations:\n", "    operation:\n"),
        ("      - storage:\n", "      - host:\n"),
        (", section: \"5.9.1\"", ""),
    ];
    for (good, bad) in faults {
        let text = NORMATIVE.replace("\npolicy_types:\n", OWN_GROUP);
        assert_eq!(Types::of(&[&text]).problems(), [""; 0]);
        assert!(text.contains(good), "{good}");
        let text = text.replacen(good, bad, 1);
        assert!(!Types::of(&[&text]).problems().is_empty(), "{bad}");
    }
}

#[test]
fn derivation_ends_at_the_root_or_a_primitive() {
    let types = both();
    for (family, name, body) in &types.all {
        let last = types.chain(*family, name).last().unwrap();
        let root = format!("{}Root", family.prefix());
        assert!(
            last == root || *family == Data && PRIMITIVES.contains(&last),
            "{name} derives from {last}"
        );
        assert_eq!(body.get("derived_from").is_none(), *name == root, "{name}");
    }
}

#[test]
fn no_two_types_of_a_family_share_a_name() {
    let types = both();
    for family in Family::ALL {
        let mut seen: HashSet<_> = PRIMITIVES.into_iter().filter(|_| family == Data).collect();
        for (name, body) in types.of_family(family) {
            for one in names(name, body) {
                assert!(seen.insert(one), "{family:?}: {one}");
            }
        }
    }
}

/// Each qualified name is `tosca:` and the shorthand. Where the specification gives two names that
/// do not fit together, each counts with the prefix and without.
#[test]
fn qualified_names_are_shorthands_with_a_prefix() {
    for (_, name, body) in &both().all {
        let names: BTreeSet<_> = names(name, body).into_iter().filter(|one| one != name).collect();
        let (qualified, short): (BTreeSet<_>, BTreeSet<_>) =
            names.into_iter().partition(|name| name.starts_with("tosca:"));
        assert_eq!(
            qualified,
            short
                .iter()
                .map(|name| format!("tosca:{name}"))
                .collect::<BTreeSet<_>>()
                .iter()
                .map(String::as_str)
                .collect()
        );
        let one_name = !body["metadata"].as_mapping().unwrap().contains_key("aliases");
        assert_eq!(short.len() == 1, one_name, "{name}: {short:?}");
    }
}

/// Each default is a value of its type, and one of the valid values.
#[test]
fn defaults_fit() {
    for (_, name, body) in &both().all {
        for (property, definition) in named(body.get("properties")) {
            let Some(default) = definition.get("default") else { continue };
            let fits = match definition["type"].as_str().unwrap() {
                "string" => default.is_string(),
                "integer" => default.is_i64(),
                "boolean" => default.is_bool(),
                "scalar-unit.size" => default.as_str().is_some_and(|size| size.ends_with(" MB")),
                other => panic!("{name}/{property}: no default of {other} is expected"),
            };
            assert!(fits, "{name}/{property}");
            for (operator, operand) in definition
                .get("constraints")
                .map(|clauses| named(Some(clauses)))
                .unwrap_or_default()
            {
                let holds = match operator {
                    "valid_values" => items(operand).unwrap().contains(default),
                    "equal" => operand == default,
                    "greater_or_equal" => operand == default,
                    other => panic!("{name}/{property}: no {other} beside a default is expected"),
                };
                assert!(holds, "{name}/{property}");
            }
        }
    }
}

/// A property that a type defines again has the same type or a derived one (section 3.6.10.6); the
/// same holds for other members.
#[test]
fn what_is_defined_again_is_narrower() {
    let types = both();
    let mut refined = Vec::new();
    for (family, name, body) in &types.all {
        let Some(parent) = body.get("derived_from").and_then(Yaml::as_str) else { continue };
        let members = [
            ("properties", "type", Data),
            ("attributes", "type", Data),
            ("capabilities", "type", Capability),
            ("interfaces", "type", Interface),
            ("requirements", "capability", Capability),
            ("requirements", "node", Family::Node),
            ("requirements", "relationship", Relationship),
        ];
        for (keyword, key, of) in members {
            let inherited = types.members(*family, parent, keyword);
            for (member, definition) in named(body.get(keyword)) {
                let Some(before) = inherited.get(member).and_then(|before| before.get(key)) else {
                    continue;
                };
                let (now, before) = (definition[key].as_str().unwrap(), before.as_str().unwrap());
                assert!(types.is_a(of, now, before), "{name}/{member}: {now} is no {before}");
                refined.push(member);
            }
        }
    }
    assert!(
        ["network_name", "secure", "host", "port", "Standard"]
            .iter()
            .all(|member| refined.contains(member))
    );
}

/// Each valid target of a relationship type is, or derives from, one of its parent type's, and so
/// is each valid source of a capability that is refined.
#[test]
fn valid_ends_are_narrower() {
    let types = both();
    let mut refined = Vec::new();
    for (family, name, body) in &types.all {
        let Some(parent) = body.get("derived_from").and_then(Yaml::as_str) else { continue };
        if let Some(now) = body.get("valid_target_types") {
            let before = types.nearest(*family, parent, "valid_target_types");
            assert!(
                before.is_none_or(|before| types.are_narrower(Capability, now, before)),
                "{name}"
            );
            refined.extend(before.map(|_| name.clone()));
        }
        let inherited = types.members(*family, parent, "capabilities");
        for (capability, definition) in named(body.get("capabilities")) {
            let Some(before) =
                inherited.get(capability).and_then(|before| before.get("valid_source_types"))
            else {
                continue;
            };
            assert!(
                types.are_narrower(Family::Node, &definition["valid_source_types"], before),
                "{name}/{capability}"
            );
            refined.push(format!("{name}/{capability}"));
        }
    }
    refined.sort();
    let expected = [
        "tosca.nodes.DBMS.MySQL/host",
        "tosca.relationships.RoutesTo",
        "tosca.relationships.network.BindsTo",
        "tosca.relationships.network.LinksTo",
    ];
    assert_eq!(refined, expected);
}

/// The relationship of each requirement may end at its capability, and the node type that it asks
/// for has a suitable capability.
#[test]
fn requirements_can_be_met() {
    let types = both();
    let mut unmet = Vec::new();
    let mut met = 0;
    for (name, body) in types.of_family(Family::Node) {
        for (requirement, definition) in named(body.get("requirements")) {
            let capability = definition["capability"].as_str().unwrap();
            if let Some(relationship) = definition.get("relationship").and_then(Yaml::as_str) {
                let ends = types.nearest(Relationship, relationship, "valid_target_types").unwrap();
                assert!(
                    items(ends).unwrap().iter().any(|end| types.is_a(
                        Capability,
                        capability,
                        end.as_str().unwrap()
                    )),
                    "{name}/{requirement}"
                );
            }
            let Some(node) = definition.get("node").and_then(Yaml::as_str) else { continue };
            let capabilities = types.members(Family::Node, node, "capabilities");
            let fits = |one: &&Yaml| {
                types.is_a(Capability, one["type"].as_str().unwrap(), capability)
                    && accepts(&types, one, name)
            };
            match capabilities.values().any(fits) {
                true => met += 1,
                false => unmet.push(format!("{name}/{requirement}")),
            }
        }
    }
    // A template that uses this type brings its own runtime that hosts Docker containers.
    assert_eq!(unmet, ["tosca.nodes.Container.Application.Docker/host"]);
    assert!(met > 5);
}

/// Whether a node of the type may be the source of a relationship to the capability.
fn accepts(types: &Types, capability: &Yaml, source: &str) -> bool {
    let sources = capability.get("valid_source_types").and_then(items);
    sources.is_none_or(|sources| {
        sources.iter().any(|valid| types.is_a(Family::Node, source, valid.as_str().unwrap()))
    })
}

/// Comments in the profiles refer to decisions by number.
#[test]
fn decisions_are_listed_and_used() {
    let mut used = BTreeSet::new();
    for text in [NORMATIVE, NON_NORMATIVE] {
        for comment in text
            .lines()
            .filter_map(|line| line.split_once("# Decision").map(|(_, comment)| comment))
        {
            let numbers = comment.split_once('.').unwrap().0.trim_start_matches('s');
            used.extend(
                numbers.split(" and ").map(|number| number.trim().parse::<usize>().unwrap()),
            );
        }
    }
    let items = README.lines().filter_map(|line| line.split_once(". **"));
    let listed: Vec<usize> = items.filter_map(|(number, _)| number.parse().ok()).collect();
    assert_eq!(listed, (1..=listed.len()).collect::<Vec<_>>());
    assert_eq!(used, listed.into_iter().collect());
}
