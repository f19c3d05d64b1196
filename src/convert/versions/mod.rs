//! Converts documents of TOSCA Simple Profile 1.3 to TOSCA 2.0, and back.
//!
//! Both versions share one tree and one grammar table, so a conversion is a walk over one document
//! along that table. What stays the same is written as its author wrote it. What the other version
//! lacks is kept in the metadata of its element where that has some, or is lost, and both are
//! reported.

mod artifacts;
mod conditions;
mod functions;
mod notation;
mod parameters;
mod paths;
mod refinements;
mod renamed;
mod supplied;
mod to_1_3;
mod to_2_0;

pub(crate) use renamed::renamed_types;
pub(crate) use supplied::{is_supplied_file, supplied_document};

use self::parameters::keyname_of_value;
use self::paths::{ScopedNode, ScopedRelationship};
use super::loss::{Loss, LossKind, Losses};
use super::patch::push_key;
use crate::tosca::Family;
use crate::tosca::PropertyDefinition;
use crate::tosca::types::{
    EffectiveInterface, EffectiveType, OperationDefinition, Refusals, TypeId, Types,
};
use crate::tosca::v2_0;
use crate::tosca::v2_0::grammar::{
    self, ElementGrammar, ElementKeyname, EntityKind, FILE, KeynameContent, Short,
};
use crate::tosca::value::Schema;
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Limits, Node, NodeKind, Out, OutKey, parse, write_yaml};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::OnceLock;

/// The metadata entry of TOSCA 2.0 that keeps what only version 1.3 has.
const KEPT: &str = "tosca_simple_1_3";

/// The version that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetVersion {
    /// TOSCA Simple Profile 1.3, plain or variable.
    Simple,
    /// TOSCA 2.0.
    Two,
}

/// Options with their values.
type SaidOptions = Vec<(&'static str, Cow<'static, str>)>;

/// What a conversion needs to know beside the document.
pub(crate) struct VersionContext<'t, 'a> {
    /// All types that the documents name.
    pub types: &'t Types<'a>,
    /// The new names of those that get one.
    pub renamed: &'t FxHashMap<TypeId, String>,
    /// What the other version does not allow in them.
    pub refusals: &'t Refusals,
    /// The imports that bring more than types in version 1.3, by their places.
    pub bringing: &'t FxHashSet<Span>,
    /// Whether a key is a word of an extension, which both versions share.
    pub is_word: fn(&str) -> bool,
    /// Whether a property is wrapped in a map that the extension defines.
    pub is_wrapped: fn(Node<'_>) -> bool,
    /// Whether the default of an input of the extension is computed.
    pub is_expression: fn(Node<'_>) -> bool,
    /// The version to write for a document that uses the extension.
    pub extended: &'static str,
    /// What such a document of one version says beside its own options, to have the same ones under
    /// another version.
    pub options: fn([&str; 2], Option<Node<'_>>) -> SaidOptions,
    /// The keyname of the topology that marks such a document.
    pub mark: &'static str,
    /// How a document imports the types that are supplied; `None` if it contains them.
    pub beside: Option<String>,
    /// The path to an imported file, where its name in the source leads elsewhere now.
    pub imported: &'t dyn Fn(&str) -> Option<String>,
    /// The path to another file that is converted, too.
    pub path_to: &'t dyn Fn(FileId) -> Option<String>,
    /// The imports of files that hold nothing but supplied types, by their places. Nothing needs them
    /// any more.
    pub leaving: &'t FxHashSet<Span>,
}

/// A document in the other version.
pub(crate) struct VersionedDocument {
    /// Its text.
    pub text: String,
    /// The parts without a counterpart.
    pub losses: Losses,
    /// The supplied types that it names.
    pub needed: Vec<NeededType>,
}

/// A type that has to be supplied: its family and its full name.
pub(crate) type NeededType = (Family, String);

/// Converts a document to this version.
pub(crate) fn converted<'a>(
    document: &'a Document,
    to: TargetVersion,
    context: &VersionContext<'_, 'a>,
) -> VersionedDocument {
    let mut converter = Converter::new(document.root(), to, context);
    let out = converter.element(document.root(), &FILE);
    let text = write_yaml(&out);
    let Converter { losses, needed, .. } = converter;
    VersionedDocument { text, losses, needed }
}

/// What a file says that the variability of a template names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedPart {
    /// Technology rules.
    Rules,
    /// The default conditions of types.
    Conditions,
}

/// Converts a file that the variability of a template names.
pub(crate) fn converted_part<'a>(
    (root, part): (Node<'a>, NamedPart),
    template: &'a Document,
    to: TargetVersion,
    context: &VersionContext<'_, 'a>,
) -> VersionedDocument {
    let mut converter = Converter::new(template.root(), to, context);
    let out = match part {
        NamedPart::Rules => converter.technology_rules(root),
        NamedPart::Conditions => converter.conditions_of_types(root),
    };
    let text = write_yaml(&out);
    let Converter { losses, needed, .. } = converter;
    VersionedDocument { text, losses, needed }
}

/// What `SELF` means.
#[derive(Clone, Copy)]
enum SelfScope<'a> {
    Node(ScopedNode<'a>),
    Relationship(ScopedRelationship<'a>),
    /// The node that has a requirement, in the filter of which version 2.0 calls it the source.
    Source(ScopedNode<'a>),
    /// Nothing.
    None,
}

/// Nodes by name.
type NamedNodes<'a> = FxHashMap<&'a str, Node<'a>>;

/// The bodies of a map, or of the maps in a list, by name. Of several with one name, it has the
/// first.
fn by_name(all: Node<'_>) -> NamedNodes<'_> {
    let mut first = NamedNodes::default();
    for (key, body) in paths::named_parts(all) {
        if let Some(name) = key.text() {
            first.entry(name).or_insert(body);
        }
    }
    first
}

/// Converts one document.
struct Converter<'t, 'a> {
    context: &'t VersionContext<'t, 'a>,
    to: TargetVersion,
    root: Node<'a>,
    is_extended: bool,
    path: String,
    scope: SelfScope<'a>,
    /// What values by name are assigned to.
    assigned: Option<AssignedTo<'t, 'a>>,
    /// The schema of the value that is converted.
    expected: Option<Cow<'t, Schema<'a>>>,
    /// The type whose definition is converted.
    own_type: Option<TypeId>,
    /// The name of the entry that is converted.
    name: &'a str,
    /// The assignment of a requirement that is converted.
    assignment: Option<Node<'a>>,
    /// The keyname of what stands in place of the parameters at hand.
    in_place: Option<&'static str>,
    /// What uses relationship templates, by their names.
    users: OnceCell<FxHashMap<&'a str, Vec<paths::UsedRelationship<'a>>>>,
    /// What variability inputs may be, by their names.
    variability_inputs: Rc<FxHashMap<&'a str, Schema<'a>>>,
    /// The templates of the topology, by section.
    templates: OnceCell<FxHashMap<&'a str, NamedNodes<'a>>>,
    losses: Losses,
    needed: Vec<NeededType>,
    /// The files that the document has to import.
    needed_files: Vec<NeededImport>,
}

/// A file that a document has to import: its path, and the prefix for its names.
#[derive(PartialEq)]
struct NeededImport {
    path: String,
    prefix: Option<String>,
}

/// What says which values there may be by which names.
#[derive(Clone, Copy)]
enum AssignedTo<'t, 'a> {
    /// The type of a template, or of a part of one.
    Type(&'t EffectiveType<'a>),
    Interface(&'t EffectiveInterface<'a>),
    /// An operation or a notification, and its interface, whose inputs all operations have.
    Operation(&'t OperationDefinition<'a>, &'t EffectiveInterface<'a>),
    /// The workflow of this definition.
    Workflow(Node<'a>),
}

impl<'t, 'a> AssignedTo<'t, 'a> {
    /// The schema of a value.
    fn schema(self, name: &str) -> Option<Cow<'t, Schema<'a>>> {
        let definition = match self {
            Self::Type(of) => {
                &of.properties.get(name).or_else(|| of.attributes.get(name))?.definition
            }
            Self::Interface(_) | Self::Operation(..) => self.input(name)?,
            Self::Workflow(of) => {
                return Some(notation::schema_of(of.get("inputs")?.get(name)?));
            }
        };
        Some(Cow::Borrowed(&definition.schema))
    }

    /// The definition of an input. All operations have those of their interface.
    fn input(self, name: &str) -> Option<&'t PropertyDefinition<'a>> {
        let is_named = |input: &&PropertyDefinition<'_>| input.named.name == name;
        let of_interface =
            |of: &'t EffectiveInterface<'a>| of.inputs.get(name).map(|part| &part.definition);
        match self {
            Self::Interface(of) => of_interface(of).or_else(|| {
                let mut operations = of.operations.values().flat_map(|it| &it.definition.inputs);
                operations.find(is_named)
            }),
            Self::Operation(of, interface) => {
                of.inputs.iter().find(is_named).or_else(|| of_interface(interface))
            }
            Self::Type(_) | Self::Workflow(_) => None,
        }
    }

    /// Whether version 1.3 takes no inputs but those that are defined.
    fn has_all_inputs(self) -> bool {
        match self {
            Self::Interface(of) => {
                let mut operations = of.operations.values();
                let has_some = |it: &OperationDefinition<'_>| !it.inputs.is_empty();
                let is_some = operations.any(|it| has_some(&it.definition));
                !of.is_open && (is_some || !of.inputs.is_empty())
            }
            Self::Operation(of, interface) => {
                let is_some = !of.inputs.is_empty() || !interface.inputs.is_empty();
                is_some && !interface.is_open
            }
            Self::Type(_) | Self::Workflow(_) => false,
        }
    }

    /// Whether a value has to be assigned.
    fn needs(self, name: &str) -> bool {
        let definition = match self {
            Self::Type(of) => of.properties.get(name).map(|part| &part.definition),
            Self::Interface(_) | Self::Operation(..) => self.input(name),
            Self::Workflow(_) => None,
        };
        definition.is_some_and(PropertyDefinition::needs_value)
    }

    fn interface(self, name: &str) -> Option<Self> {
        let Self::Type(of) = self else { return None };
        of.interfaces.get(name).map(|part| Self::Interface(&part.definition))
    }

    fn operation(self, name: &str) -> Option<Self> {
        let Self::Interface(of) = self else { return None };
        let part = of.operations.get(name).or_else(|| of.notifications.get(name))?;
        Some(Self::Operation(&part.definition, of))
    }
}

/// An entry of an element that is converted.
#[derive(Clone, Copy)]
struct SourceEntry<'a> {
    entity: &'static ElementGrammar,
    key: Node<'a>,
    name: &'a str,
    value: Node<'a>,
}

/// Entries of a map that is made.
type MadeEntries<'a> = Vec<(OutKey<'a>, Out<'a>)>;

/// The entries of a converted element.
struct Made<'a> {
    node: Node<'a>,
    entries: MadeEntries<'a>,
    /// Entries for its metadata.
    metadata: MadeEntries<'a>,
    /// Entries for what only version 1.3 has.
    kept: MadeEntries<'a>,
    /// Operations for its entry of this name, where version 1.3 has them beside the keynames.
    operations: MadeEntries<'a>,
}

impl<'a> Made<'a> {
    fn new(node: Node<'a>) -> Self {
        let none = MadeEntries::new;
        Self { node, entries: none(), metadata: none(), kept: none(), operations: none() }
    }

    fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|(key, _)| key_text(key) == name)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Out<'a>> {
        let (_, content) = self.entries.iter_mut().find(|(key, _)| key_text(key) == name)?;
        Some(below_comments(content))
    }

    /// An entry under the key of the source, which may get another name.
    fn put(&mut self, key: Node<'a>, name: &'a str, value: Out<'a>) {
        self.entries.push((named_key(key, name), value));
    }

    fn supply(&mut self, name: &'static str, value: Out<'a>) {
        self.entries.push((OutKey::New(name.into()), value));
    }

    /// Lets a definition be without a value where the one that the source says has no counterpart.
    fn excuse_lost_value(&mut self) {
        let is_kept = |name: &str| self.kept.iter().any(|(key, _)| key_text(key) == name);
        let names = ["default", "value"];
        let is_said = names.into_iter().any(|name| self.node.get(name).is_some());
        let is_there = names.into_iter().any(|name| self.has(name) || is_kept(name));
        if !is_said || is_there {
            return;
        }
        match self.get_mut("required") {
            Some(required) => *required = Out::Value(false.into()),
            None => self.supply("required", Out::Value(false.into())),
        }
    }

    /// Adds the operations to their entry.
    fn put_operations(&mut self) {
        let operations = std::mem::take(&mut self.operations);
        if let Some(known) = self.get_mut("operations").filter(|_| !operations.is_empty()) {
            extend(known, operations);
        }
    }

    fn out(mut self) -> Out<'a> {
        self.put_operations();
        if !self.kept.is_empty() {
            let kept = Out::Map { entries: std::mem::take(&mut self.kept).into(), like: None };
            self.metadata.push((OutKey::New(KEPT.into()), kept));
        }
        if !self.metadata.is_empty() {
            let supplied = std::mem::take(&mut self.metadata);
            match self.get_mut("metadata") {
                Some(metadata) => extend(metadata, supplied),
                None => {
                    let metadata = Out::Map { entries: supplied.into(), like: None };
                    self.entries.push((OutKey::New("metadata".into()), metadata));
                }
            }
        }
        map(self.node, self.entries)
    }
}

/// Adds entries to a map.
fn extend<'a>(out: &mut Out<'a>, more: MadeEntries<'a>) {
    if let Out::Source(node) = *out {
        *out = Out::Map { entries: sources(node).into(), like: Some(node) };
    }
    match out {
        Out::Map { entries, .. } => *entries = entries.iter().cloned().chain(more).collect(),
        other => *other = Out::Map { entries: more.into(), like: None },
    }
}

/// Adds entries to the map of this name in a map.
fn extend_entry<'a>(out: &mut Out<'a>, name: &'static str, more: MadeEntries<'a>) {
    extend(out, Vec::new());
    let Out::Map { entries, .. } = out else { return };
    let mut made = entries.to_vec();
    match made.iter_mut().find(|(key, _)| key_text(key) == name) {
        Some((_, content)) => extend(below_comments(content), more),
        None => {
            made.push((OutKey::New(name.into()), Out::Map { entries: more.into(), like: None }))
        }
    }
    *entries = made.into();
}

/// The entries of a map as they are.
fn sources<'a>(node: Node<'a>) -> MadeEntries<'a> {
    node.entries().map(|(key, value)| (OutKey::Source(key), Out::Source(value))).collect()
}

/// The text of a key as it will be written.
fn key_text<'k>(key: &'k OutKey<'_>) -> &'k str {
    match key {
        OutKey::Source(key) => crate::tosca::v2_0::written(*key),
        OutKey::Renamed(_, name) | OutKey::New(name) => name,
    }
}

/// The key of the source, by another name where it is not called so.
fn named_key<'a>(key: Node<'a>, name: &'a str) -> OutKey<'a> {
    match crate::tosca::v2_0::written(key) == name {
        true => OutKey::Source(key),
        false => OutKey::Renamed(key, name.into()),
    }
}

/// The content below the comments of what it was made from.
fn below_comments<'o, 'a>(out: &'o mut Out<'a>) -> &'o mut Out<'a> {
    match out {
        Out::Below(_, inner) => below_comments(inner),
        other => other,
    }
}

/// Whether a parameter says its value, here or where that is kept.
fn says_value(out: &Out<'_>) -> bool {
    let is_value = |name: &str| matches!(name, "value" | "metadata");
    match out {
        Out::Source(node) => node.entries().any(|(key, _)| key.text().is_some_and(is_value)),
        Out::Map { entries, .. } => entries.iter().any(|(key, _)| is_value(key_text(key))),
        _ => true,
    }
}

/// A map; the source itself where nothing has changed.
fn map<'a>(node: Node<'a>, entries: Vec<(OutKey<'a>, Out<'a>)>) -> Out<'a> {
    let is_same = |(made, (key, value)): (&(OutKey<'a>, Out<'a>), (Node<'a>, Node<'a>))| {
        matches!(made, (OutKey::Source(made), Out::Source(content))
            if made.position() == key.position() && content.position() == value.position())
    };
    let source = node.entries();
    if entries.len() == source.len() && entries.iter().zip(source).all(is_same) {
        return Out::Source(node);
    }
    Out::Map { entries: entries.into(), like: Some(node) }
}

/// A list; the source itself where nothing has changed.
fn list<'a>(node: Node<'a>, items: Vec<(Option<Node<'a>>, Out<'a>)>) -> Out<'a> {
    let is_same = |((_, made), item): (&(Option<Node<'a>>, Out<'a>), Node<'a>)| matches!(made, Out::Source(made) if made.position() == item.position());
    let source = node.items();
    if items.len() == source.len() && items.iter().zip(source).all(is_same) {
        return Out::Source(node);
    }
    Out::Seq { items: items.into(), like: Some(node) }
}

/// Whether something is left of an item, which has the name and the content of one element.
fn is_left((item, made): &(Option<Node<'_>>, Out<'_>)) -> bool {
    let was_empty = item.is_some_and(|item| item.entries().len() == 0);
    was_empty || !matches!(made, Out::Map { entries, .. } if entries.is_empty())
}

/// A new text.
fn text<'a>(text: impl Into<std::borrow::Cow<'a, str>>) -> Out<'a> {
    Out::String(text.into())
}

/// The collections whose style new values take.
fn inline() -> [Option<Node<'static>>; 2] {
    static INLINE: OnceLock<Option<Document>> = OnceLock::new();
    let parsed =
        INLINE.get_or_init(|| parse(FileId::DETACHED, "[[], {}]".into(), &Limits::default()).ok());
    let mut items = parsed.iter().flat_map(|document| document.root().items());
    [items.next(), items.next()]
}

/// A new list in one line, where its content allows.
fn inline_list<'a>(items: Vec<Out<'a>>) -> Out<'a> {
    let [like, _] = inline();
    Out::Seq { items: items.into_iter().map(|item| (None, item)).collect(), like }
}

/// A new map of one entry in one line, where its content allows.
fn inline_map<'a>(key: impl Into<std::borrow::Cow<'a, str>>, value: Out<'a>) -> Out<'a> {
    let [_, like] = inline();
    Out::Map { entries: vec![(OutKey::New(key.into()), value)].into(), like }
}

/// A call of a function of TOSCA 2.0.
fn call<'a>(name: &str, arguments: Vec<Out<'a>>) -> Out<'a> {
    inline_map(format!("${name}"), inline_list(arguments))
}

/// The value of an output tree.
fn value_of(out: &Out<'_>) -> Value {
    let text = write_yaml(out);
    let parsed = parse(FileId::DETACHED, text.into(), &Limits::default());
    parsed.map_or(Value::Null, |document| document.root().to_value())
}

/// The families of types that an element's keyname names.
fn families(entity: &ElementGrammar, name: &str) -> &'static [Family] {
    match (entity.kind, name) {
        (_, "derived_from") => family_of(entity),
        (EntityKind::Property | EntityKind::Attribute | EntityKind::Parameter, "type")
        | (EntityKind::Schema, "type")
        | (EntityKind::DataType, "data_type" | "data_value_type") => &[Family::Data],
        (EntityKind::Capability, "type") | (EntityKind::Requirement, "capability") => {
            &[Family::Capability]
        }
        (EntityKind::Interface, "type") => &[Family::Interface],
        (EntityKind::Artifact, "type") => &[Family::Artifact],
        (EntityKind::NodeTemplate, "type")
        | (EntityKind::Requirement, "node")
        | (EntityKind::SubstitutionMapping, "node_type") => &[Family::Node],
        (
            EntityKind::RelationshipTemplate
            | EntityKind::RequirementRelationship
            | EntityKind::AssignedRelationship,
            "type",
        ) => &[Family::Relationship],
        (EntityKind::Group, "type") => &[Family::Group],
        (EntityKind::Policy, "type") => &[Family::Policy],
        (EntityKind::Capability | EntityKind::CapabilityType, _) => {
            &[Family::Node, Family::Relationship]
        }
        (EntityKind::RelationshipType, _) => &[Family::Capability, Family::Node],
        (EntityKind::GroupType | EntityKind::PolicyType, _) => &[Family::Node, Family::Group],
        _ => &[],
    }
}

/// The family of the types that an element defines.
fn family_of(entity: &ElementGrammar) -> &'static [Family] {
    match entity.kind {
        EntityKind::NodeType => &[Family::Node],
        EntityKind::RelationshipType => &[Family::Relationship],
        EntityKind::CapabilityType => &[Family::Capability],
        EntityKind::DataType => &[Family::Data],
        EntityKind::InterfaceType => &[Family::Interface],
        EntityKind::ArtifactType => &[Family::Artifact],
        EntityKind::GroupType => &[Family::Group],
        EntityKind::PolicyType => &[Family::Policy],
        _ => &[],
    }
}

impl<'t, 'a> Converter<'t, 'a> {
    fn new(root: Node<'a>, to: TargetVersion, context: &'t VersionContext<'t, 'a>) -> Self {
        let topology = root.get("topology_template");
        let is_extended = topology.is_some_and(|topology| topology.get(context.mark).is_some())
            || root.get("tosca_definitions_version").and_then(Node::text).is_some_and(|version| {
                version.split_once('_').is_some_and(|_| version.starts_with("tosca_variability"))
            });
        Self {
            context,
            to,
            root,
            is_extended,
            path: String::new(),
            scope: SelfScope::None,
            assigned: None,
            expected: None,
            own_type: None,
            name: "",
            assignment: None,
            in_place: None,
            users: OnceCell::new(),
            variability_inputs: parameters::variability_inputs(topology, context.mark).into(),
            templates: OnceCell::new(),
            losses: Losses::default(),
            needed: Vec::new(),
            needed_files: Vec::new(),
        }
    }

    /// The file whose names are meant; in the built-in profile, those of the template.
    fn file(&self) -> Option<FileId> {
        Some(self.root.document().file()).filter(|file| !file.is_built_in())
    }

    /// The type that a name means where it stands.
    fn named_type(&self, family: Family, name: Node<'a>) -> Option<TypeId> {
        let file = Some(name.document().file()).filter(|file| !file.is_built_in());
        self.context.types.find_in(file, family, name.text()?)
    }

    /// The type of a template, or what the alternatives have in common that it may be.
    fn declared_type(&self, family: Family, declared: Node<'a>) -> Option<TypeId> {
        let types = self.context.types;
        let names = match declared.kind() {
            NodeKind::Scalar => vec![declared],
            _ => {
                let named = paths::named_parts(declared).map(|(name, _)| name);
                named.chain(declared.items().filter(|item| item.as_str().is_some())).collect()
            }
        };
        let mut ids = names.into_iter().map(|name| self.named_type(family, name));
        let first = ids.next()??;
        ids.try_fold(first, |common, id| {
            let id = id?;
            types.chain(common).find(|it| types.chain(id).any(|ancestor| ancestor == *it))
        })
    }

    /// The built-in type that the name of a data type leads to.
    fn primitive(&self, name: Node<'a>) -> Option<&'static str> {
        let file = Some(name.document().file()).filter(|file| !file.is_built_in());
        let kind = self.context.types.resolve(file, Family::Data, name.text()?)?;
        self.context.types.primitive(kind)
    }

    /// Reports a part without an exact counterpart, at the current path.
    fn report(&mut self, kind: LossKind, at: Node<'_>, construct: &str, why: &str) {
        let span = Some(at.span()).filter(|span: &Span| !span.file.is_built_in());
        self.losses.push(Loss {
            path: self.path.clone(),
            span,
            construct: construct.to_owned(),
            why: why.to_owned(),
            kind,
        });
    }

    /// Runs a step one key further down the path.
    fn below<T>(&mut self, key: &str, step: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        push_key(&mut self.path, key);
        let made = step(self);
        self.path.truncate(length);
        made
    }

    /// As [`Self::below`], for an item of a list.
    fn at<T>(&mut self, index: usize, step: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let made = step(self);
        self.path.truncate(length);
        made
    }

    /// Converts an element.
    fn element(&mut self, node: Node<'a>, entity: &'static ElementGrammar) -> Out<'a> {
        if node.kind() != NodeKind::Mapping {
            return match self.to {
                TargetVersion::Two => self.short_to_2_0(node, entity),
                TargetVersion::Simple => self.short_to_1_3(node, entity),
            };
        }
        let is_two = self.to == TargetVersion::Two;
        if is_two && entity.kind == EntityKind::Implementation && node.get("file").is_some() {
            // Version 1.3 takes an artifact in place of an implementation.
            return inline_map("primary", self.element(node, &grammar::ARTIFACT));
        }
        let around = (self.scope, self.assigned, self.assignment);
        if entity.kind == EntityKind::RequirementAssignment {
            self.assignment = Some(node);
        }
        self.scope = self.scope_of(node, entity);
        self.assigned = self.assigned_to(node, entity);
        if let [family] = family_of(entity) {
            self.own_type = self.context.types.find_in(self.file(), *family, self.name);
        }
        let mut made = Made::new(node);
        for (key, value) in node.entries() {
            let name = key.text().unwrap_or_default();
            let entry = SourceEntry { entity, key, name, value };
            self.below(crate::tosca::v2_0::written(key), |this| match this.to {
                TargetVersion::Two => this.entry_to_2_0(&mut made, entry),
                TargetVersion::Simple => this.entry_to_1_3(&mut made, entry),
            });
        }
        match self.to {
            TargetVersion::Two => self.finish_2_0(&mut made, entity),
            TargetVersion::Simple => self.finish_1_3(&mut made, entity),
        }
        (self.scope, self.assigned, self.assignment) = around;
        if !family_of(entity).is_empty() {
            self.own_type = None;
        }
        made.out()
    }

    /// What `SELF` means in an element.
    fn scope_of(&self, node: Node<'a>, entity: &ElementGrammar) -> SelfScope<'a> {
        match entity.kind {
            EntityKind::NodeTemplate => SelfScope::Node(self.template_node(node)),
            EntityKind::NodeType => {
                let id = self.context.types.find_in(self.file(), Family::Node, self.name);
                SelfScope::Node((id, None))
            }
            EntityKind::RelationshipType => {
                let kind = self.context.types.find_in(self.file(), Family::Relationship, self.name);
                SelfScope::Relationship(ScopedRelationship { kind, ..Default::default() })
            }
            EntityKind::RelationshipTemplate => {
                SelfScope::Relationship(self.relationship_template(node))
            }
            EntityKind::RequirementRelationship | EntityKind::AssignedRelationship => {
                SelfScope::Relationship(self.assigned_relationship(node))
            }
            _ => self.scope,
        }
    }

    /// What the values in an element are assigned to.
    fn assigned_to(
        &self,
        node: Node<'a>,
        entity: &'static ElementGrammar,
    ) -> Option<AssignedTo<'t, 'a>> {
        use EntityKind as Kind;
        let named = |family| self.declared_type(family, node.get("type")?);
        let id = match (entity.kind, self.scope) {
            (Kind::InterfaceAssignment, _) => {
                return self.called_interface(self.name).map(AssignedTo::Interface);
            }
            (Kind::Activity | Kind::Parameter, _) => return self.assigned,
            (Kind::WorkflowCall, _) => {
                let name = node.get("workflow")?.text()?;
                return Some(AssignedTo::Workflow(self.template("workflows", name)?));
            }
            (Kind::OperationCall, _) => {
                return self.called_operation(node.get("operation")?.text()?);
            }
            (Kind::Step, _) => self.type_of_step(node),
            (Kind::Trigger, _) => {
                let filtered = node.get("target_filter")?.get("node")?;
                let kind = self.type_of_target(filtered.text()?);
                kind.or_else(|| self.named_type(Family::Node, filtered))
            }
            (
                Kind::Operation
                | Kind::OperationAssignment
                | Kind::Notification
                | Kind::NotificationAssignment,
                _,
            ) => return self.assigned?.operation(self.name),
            (
                Kind::Interface,
                SelfScope::Node((id, _))
                | SelfScope::Relationship(ScopedRelationship { kind: id, .. }),
            ) => {
                return AssignedTo::Type(self.context.types.effective(id?)).interface(self.name);
            }
            (Kind::InterfaceType, _) => {
                let id = self.context.types.find_in(self.file(), Family::Interface, self.name)?;
                return Some(AssignedTo::Interface(&self.context.types.effective(id).interface));
            }
            (Kind::NodeTemplate, SelfScope::Node((id, _))) => id,
            (
                Kind::RelationshipTemplate | Kind::AssignedRelationship,
                SelfScope::Relationship(it),
            ) => it.kind,
            (Kind::Group, _) => named(Family::Group),
            (Kind::Policy, _) => named(Family::Policy),
            (Kind::Artifact, _) => named(Family::Artifact),
            (Kind::CapabilityAssignment, _) => self.capability_type(node),
            _ => None,
        };
        Some(AssignedTo::Type(self.context.types.effective(id?)))
    }

    /// The type of what a step is about.
    fn type_of_step(&self, step: Node<'a>) -> Option<TypeId> {
        let template = self.node_of_target(step.get("target")?.text()?)?;
        let target = self.template_node(template).0?;
        let Some(requirement) = step.get("target_relationship") else { return Some(target) };
        self.type_of_relationships(template, target, requirement.text()?)
    }

    /// The type that all relationships of a requirement have: those that the node assigns, or the one
    /// of the definition.
    fn type_of_relationships(
        &self,
        template: Node<'a>,
        kind: TypeId,
        requirement: &str,
    ) -> Option<TypeId> {
        let part = self.context.types.effective(kind).requirements.get(requirement);
        let defined =
            || self.named_type(Family::Relationship, part.as_ref()?.definition.relationship?);
        let assigned = self.said("node_templates", template, "requirements");
        let assigned = assigned.into_iter().flat_map(paths::named_parts);
        let assigned = assigned.filter(|(name, _)| name.text() == Some(requirement));
        let mut kinds = assigned.map(|(_, body)| self.assigned_kind(body).or_else(defined));
        let first = kinds.next().unwrap_or_else(defined)?;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }

    /// The type of the relationship that an assignment has or names.
    fn assigned_kind(&self, assignment: Node<'a>) -> Option<TypeId> {
        let said = assignment.get("relationship")?;
        let template = said.text().and_then(|name| self.template("relationship_templates", name));
        let declared = match template {
            Some(template) => self.said("relationship_templates", template, "type"),
            None if said.kind() == NodeKind::Scalar => Some(said),
            None => said.get("type"),
        };
        self.declared_type(Family::Relationship, declared?)
    }

    /// The type of a node, or of the first member of a group.
    fn type_of_target(&self, name: &str) -> Option<TypeId> {
        self.template_node(self.node_of_target(name)?).0
    }

    /// A node, or the first member of a group.
    fn node_of_target(&self, name: &str) -> Option<Node<'a>> {
        let node = |name| self.template("node_templates", name);
        node(name).or_else(|| {
            let members = self.template("groups", name)?.get("members")?;
            node(members.items().next()?.text()?)
        })
    }

    /// The operation that an activity calls, by the name of its interface or of the type of that.
    fn called_operation(&self, called: &str) -> Option<AssignedTo<'t, 'a>> {
        let AssignedTo::Type(of) = self.assigned? else { return None };
        let Some((interface, operation)) = called.rsplit_once('.') else {
            let mut all = of.interfaces.values().map(|part| &part.definition);
            return all.find_map(|it| AssignedTo::Interface(it).operation(called));
        };
        AssignedTo::Interface(self.called_interface(interface)?).operation(operation)
    }

    /// The interface of this name, or of the type of this name.
    fn called_interface(&self, name: &str) -> Option<&'t EffectiveInterface<'a>> {
        let AssignedTo::Type(of) = self.assigned? else { return None };
        let own = of.interfaces.get(name).map(|part| &part.definition);
        own.or_else(|| self.interface_by_type(of, name).map(|(_, it)| it))
    }

    /// The interface of another name whose type has this name.
    fn interface_by_type(
        &self,
        of: &'t EffectiveType<'a>,
        name: &str,
    ) -> Option<(&'a str, &'t EffectiveInterface<'a>)> {
        let wanted = self.context.types.find_in(self.file(), Family::Interface, name)?;
        let has_type = |kind| self.named_type(Family::Interface, kind) == Some(wanted);
        let mut all = of.interfaces.iter().map(|(own, part)| (*own, &part.definition));
        all.find(|(own, it)| *own != name && it.kind.is_some_and(has_type))
    }

    /// The schema of a value by its name.
    fn assigned_schema(&self, name: &str) -> Option<Cow<'t, Schema<'a>>> {
        self.assigned?.schema(name)
    }

    /// Converts values with a schema.
    fn expecting<T>(
        &mut self,
        schema: Option<Cow<'t, Schema<'a>>>,
        step: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let around = std::mem::replace(&mut self.expected, schema);
        let made = step(self);
        self.expected = around;
        made
    }

    /// Whether the requirement definition that is converted refines one of a parent.
    fn refines_requirement(&self) -> bool {
        self.of_parent().is_some_and(|parent| parent.requirements.contains_key(self.name))
    }

    /// The parent of the type that is converted.
    fn of_parent(&self) -> Option<&'t EffectiveType<'a>> {
        let own = self.own_type?;
        let types = self.context.types;
        types.parent(own).map(|parent| types.effective(parent))
    }

    /// A template of the topology by its name.
    fn template(&self, section: &str, name: &str) -> Option<Node<'a>> {
        let sections = self.templates.get_or_init(|| {
            let topology = self.root.get("topology_template");
            let sections = topology.into_iter().flat_map(Node::entries);
            sections.filter_map(|(key, all)| Some((key.text()?, by_name(all)))).collect()
        });
        sections.get(section)?.get(name).copied()
    }

    /// What a template says, or the one that it copies.
    fn said(&self, section: &str, template: Node<'a>, keyname: &str) -> Option<Node<'a>> {
        template.get(keyname).or_else(|| {
            let copied = self.template(section, template.get("copy")?.text()?)?;
            copied.get(keyname)
        })
    }

    /// Converts elements by name: a map, or a list of maps of one entry each.
    fn named(&mut self, node: Node<'a>, entity: &'static ElementGrammar) -> Out<'a> {
        self.named_or_valued(node, entity, None)
    }

    /// As [`Self::named`], where values may stand in place of elements: `in_place` is the keyname of
    /// a value.
    fn named_or_valued(
        &mut self,
        node: Node<'a>,
        entity: &'static ElementGrammar,
        in_place: Option<&'static str>,
    ) -> Out<'a> {
        match node.kind() {
            NodeKind::Scalar => Out::Source(node),
            NodeKind::Sequence => {
                let items = node.items().enumerate().map(|(index, item)| {
                    let made = self.at(index, |this| match item.kind() {
                        NodeKind::Mapping => this.named_or_valued(item, entity, in_place),
                        _ => Out::Source(item),
                    });
                    (Some(item), made)
                });
                let items = items.filter(is_left).collect();
                list(node, items)
            }
            NodeKind::Mapping => {
                let mut entries = Vec::new();
                for (key, value) in node.entries() {
                    let around = (self.name, self.in_place);
                    (self.name, self.in_place) = (key.text().unwrap_or_default(), in_place);
                    let made = self.below(self.name, |this| {
                        match in_place.and_then(|keyname| this.in_place(value, keyname)) {
                            Some(valued) => valued,
                            None => this.one(key, value, entity),
                        }
                    });
                    (self.name, self.in_place) = around;
                    // An output whose value is lost is so itself.
                    let is_output = in_place == Some("value") && value.get("value").is_some();
                    let made = made.filter(|made| !is_output || says_value(made));
                    entries.extend(made.map(|made| (self.key_of(node, key, entity), made)));
                }
                map(node, entries)
            }
        }
    }

    /// The key of an element by its name in the other version.
    fn key_of(&mut self, all: Node<'a>, key: Node<'a>, entity: &ElementGrammar) -> OutKey<'a> {
        if let [family] = family_of(entity) {
            return self.key_of_type(key, *family);
        }
        let name = key.text().unwrap_or_default();
        let is_interface =
            matches!(entity.kind, EntityKind::Interface | EntityKind::InterfaceAssignment);
        let own = self.refined().filter(|_| is_interface && self.to == TargetVersion::Two);
        match own.and_then(|of| self.interface_by_type(of, name)) {
            Some((own, _)) if all.get(own).is_none() => named_key(key, own),
            _ => OutKey::Source(key),
        }
    }

    /// What the interfaces at hand refine: those of the parent of a type, of the type that the
    /// relationship of a requirement has, or of the type of a template.
    fn refined(&self) -> Option<&'t EffectiveType<'a>> {
        match (self.own_type, self.scope, self.assigned) {
            (None, _, Some(AssignedTo::Type(of))) => Some(of),
            (Some(_), SelfScope::Relationship(it), _) if it.kind != self.own_type => {
                it.kind.map(|id| self.context.types.effective(id))
            }
            _ => self.of_parent(),
        }
    }

    /// Converts an element that has a name. Returns nothing where it has no counterpart.
    fn one(
        &mut self,
        key: Node<'a>,
        value: Node<'a>,
        entity: &'static ElementGrammar,
    ) -> Option<Out<'a>> {
        if self.to == TargetVersion::Simple
            && (self.is_supplied(value, entity) || self.loses_reserved(key, entity))
        {
            return None;
        }
        if self.to == TargetVersion::Two && self.is_defined_elsewhere(key, entity) {
            return None;
        }
        if value.kind() != NodeKind::Mapping && entity.kind == EntityKind::Artifact {
            return Some(self.short_artifact(key, value));
        }
        if self.to == TargetVersion::Simple && self.is_short_value(value, entity) {
            return self.value_or_loss(value).map(|value| inline_map("value", value));
        }
        Some(self.element(value, entity))
    }

    /// Whether a value stands in place of a definition of TOSCA 2.0.
    fn is_short_value(&self, node: Node<'a>, entity: &ElementGrammar) -> bool {
        let is_call = v2_0::called(node).is_some();
        let is_value = node.kind() != NodeKind::Mapping
            || is_call
            || node.entries().len() > 0 && entity.takes_value(node, &self.context.is_word);
        entity.short.contains(&Short::Value) && !node.is_null() && is_value
    }

    /// Converts the content of an entry under its keyname. A value that a definition says has the
    /// schema of that.
    fn content_of(
        &mut self,
        definition: Node<'a>,
        entry: SourceEntry<'a>,
        keyname: &'static ElementKeyname,
    ) -> Option<Out<'a>> {
        let SourceEntry { entity, name, value, .. } = entry;
        if entity.kind == EntityKind::Import && keyname.field == "file" {
            return Some(self.import_path(value));
        }
        let is_defined = matches!(name, "default" | "value");
        let schema = is_defined.then(|| notation::schema_of(definition));
        self.expecting(schema, |this| this.content(entity, keyname.field, &keyname.holds, value))
    }

    /// The name by which an import finds its file: its own, or the path to where the file is written.
    fn import_path(&self, name: Node<'a>) -> Out<'a> {
        name.text().and_then(self.context.imported).map_or(Out::Source(name), text)
    }

    /// Converts the content below a keyname that both versions have.
    fn content(
        &mut self,
        entity: &'static ElementGrammar,
        field: &str,
        holds: &KeynameContent,
        value: Node<'a>,
    ) -> Option<Out<'a>> {
        let families = families(entity, field);
        match holds {
            KeynameContent::Type => Some(self.type_name(families, value)),
            KeynameContent::Types => Some(self.type_names(families, value)),
            KeynameContent::List if !families.is_empty() => Some(self.type_names(families, value)),
            KeynameContent::Text if !families.is_empty() => Some(self.type_name(families, value)),
            KeynameContent::Any
            | KeynameContent::Text
            | KeynameContent::Bool
            | KeynameContent::Words(_) => Some(Out::Source(value)),
            KeynameContent::Value => self.value(value),
            KeynameContent::Values => Some(self.values(value, field == "properties")),
            KeynameContent::List
                if matches!(field, "members" | "targets" | "on_success" | "on_failure") =>
            {
                Some(if self.is_extended { self.expressions(value) } else { Out::Source(value) })
            }
            KeynameContent::List => self.value(value),
            KeynameContent::One(below) => Some(self.element(value, below)),
            KeynameContent::Named(below) | KeynameContent::Listed(below) => {
                let in_place = keyname_of_value(entity, field);
                Some(self.named_or_valued(value, below, in_place))
            }
            KeynameContent::Items(below) => {
                let items = value.items().enumerate();
                let items = items.map(|(index, item)| {
                    (Some(item), self.at(index, |this| this.element(item, below)))
                });
                let items = items.collect();
                Some(if value.kind() == NodeKind::Sequence {
                    list(value, items)
                } else {
                    Out::Source(value)
                })
            }
        }
    }

    /// Converts values by name. A value without a counterpart is left out.
    fn values(&mut self, node: Node<'a>, may_wrap: bool) -> Out<'a> {
        match node.kind() {
            NodeKind::Scalar => Out::Source(node),
            NodeKind::Sequence => {
                let items = node.items().map(|item| (Some(item), self.values(item, may_wrap)));
                let items = items.filter(is_left).collect();
                list(node, items)
            }
            NodeKind::Mapping => {
                let mut entries = Vec::new();
                for (key, value) in node.entries() {
                    let name = key.text().unwrap_or_default();
                    let is_wrapped = may_wrap
                        && self.is_extended
                        && value.kind() == NodeKind::Mapping
                        && (self.context.is_wrapped)(value);
                    let schema = self.assigned_schema(name);
                    let known = self.losses.entries().len();
                    let made = self.below(name, |this| {
                        this.expecting(schema, |this| match is_wrapped {
                            true => this.wrapped(value),
                            false => this.value_or_loss(value),
                        })
                    });
                    if made.is_none() && self.assigned.is_some_and(|it| it.needs(name)) {
                        let more = format!("and the required `{name}` is missing now");
                        self.losses.add_why(known, &more);
                    }
                    entries.extend(made.map(|made| (OutKey::Source(key), made)));
                }
                map(node, entries)
            }
        }
    }

    /// Converts what a word of the extension says.
    fn extension(&mut self, word: &str, node: Node<'a>) -> Out<'a> {
        if word == self.context.mark { self.variability(node) } else { self.expressions(node) }
    }

    /// What the extension says in a document.
    fn expressions(&mut self, node: Node<'a>) -> Out<'a> {
        self.expressions_of(node, None)
    }

    /// As [`Self::expressions`], where they give values with a schema.
    fn expressions_of(&mut self, node: Node<'a>, schema: Option<&Schema<'a>>) -> Out<'a> {
        match self.to {
            TargetVersion::Two => self.literals_to_2_0(node, schema),
            TargetVersion::Simple => self.literals_to_1_3(node, true),
        }
    }

    /// Converts a property that a map of the extension wraps.
    fn wrapped(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let made = match key.text() {
                Some("value") => self.value_or_loss(value)?,
                Some("expression") => {
                    let schema = self.expected.clone();
                    self.expressions_of(value, schema.as_deref())
                }
                _ => self.expressions(value),
            };
            entries.push((OutKey::Source(key), made));
        }
        Some(map(node, entries))
    }

    fn value_or_loss(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let made = self.value(node);
        // What version 2.0 does not have is told where it stands.
        if made.is_none() && self.to == TargetVersion::Simple {
            let why = "it calls functions that TOSCA 1.3 does not have";
            self.report(LossKind::Lost, node, "a value", why);
        }
        made
    }

    /// Converts the name of a type. Where the extension allows, a list of alternatives stands for
    /// one.
    fn type_name(&mut self, families: &[Family], node: Node<'a>) -> Out<'a> {
        match node.kind() {
            NodeKind::Sequence => self.type_names(families, node),
            NodeKind::Mapping => {
                let entries = node.entries().map(|(key, value)| {
                    let name = key.text().unwrap_or_default();
                    let key = match self.called(families, name, key) {
                        Some(other) => OutKey::Renamed(key, other.into()),
                        None => OutKey::Source(key),
                    };
                    (key, self.expressions(value))
                });
                let entries = entries.collect();
                map(node, entries)
            }
            NodeKind::Scalar => {
                match self.called(families, node.text().unwrap_or_default(), node) {
                    Some(other) => text(other),
                    None => Out::Source(node),
                }
            }
        }
    }

    fn type_names(&mut self, families: &[Family], node: Node<'a>) -> Out<'a> {
        if node.kind() != NodeKind::Sequence {
            return Out::Source(node);
        }
        let items = node.items().map(|item| (Some(item), self.type_name(families, item)));
        let items = items.collect();
        list(node, items)
    }

    /// The name that a type has in the other version, where it has another.
    fn called(&mut self, families: &[Family], name: &str, at: Node<'a>) -> Option<String> {
        match self.to {
            TargetVersion::Two => self.called_in_2_0(families, name, at),
            TargetVersion::Simple => self.called_in_1_3(families, name, at),
        }
    }
}
