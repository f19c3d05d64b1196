//! TOSCA Simple Profile 1.3 to TOSCA 1.0: a variant, the types that it needs, and the files that it
//! names.
//!
//! A part of the template is a map whose keys are taken one by one by what converts it. What is left
//! has no counterpart: it is kept as an extension of the element, which others may ignore, and told.

mod boundary;
mod implementation;
mod kept;
mod names;
mod node_links;
mod one_document;
mod part;
mod policies;
mod said;
mod schema;
mod service;
mod types;
mod values;

use super::loss::{Loss, LossKind, Losses};
use super::to_yaml::TypeCounterparts;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::{FileId, Span};
use crate::text::value::Value;
use crate::text::xml::{XmlLimits, XmlTree, parse};
use crate::text::yaml::{Node, write_flow};
use crate::topology::{RelationIndex, Topology};
use crate::tosca::profile::NAMESPACE as PROFILE;
use crate::tosca::v1_0::TOSCA;
use crate::tosca::{Family, TypeDefinition, TypeId, Types, canonical_definitions, profile};
use implementation::ImplementedType;
use names::{DocumentIds, EXTENSION, Prefixes, QualifiedName, as_name, unique};
use node_links::NodeLinks;
use part::XmlPart;
use rustc_hash::{FxHashMap, FxHashSet};
use said::{SaidMap, SaidValue};
use schema::DefinedSchemas;
use service::{KnownIds, UndefinedType, known_ids};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;

/// How a template is converted.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToXmlSettings {
    /// Whether what has no counterpart is left out instead of being kept as an extension.
    pub leaves_out: bool,
    /// Whether it is written as OpenTOSCA does.
    pub is_opentosca: bool,
    /// The inputs that gave the variant, where they are to be recorded.
    pub recorded: Vec<(String, Value)>,
    /// What types are called, by their names in the template.
    pub counterparts: TypeCounterparts,
}

/// A variant, and what is known of it.
pub(crate) struct ConvertedVariant<'s, 't> {
    /// All that is written of it.
    pub document: &'s Value,
    pub topology: &'s Topology,
    pub types: &'s Types<'t>,
    /// The file of the template.
    pub file: FileId,
    /// What a file leads to that is named in another one.
    pub locate: &'s dyn Fn(FileId, &str) -> Option<LocatedFile>,
}

/// A file or a directory that a template names.
pub(crate) struct LocatedFile {
    pub path: PathBuf,
    /// What it is called from the root of what belongs to the template; nothing where it is not
    /// below that.
    pub name: Option<String>,
}

/// What a conversion comes to.
#[derive(Clone, Debug)]
pub(crate) struct ConvertedXml {
    /// The id of the definitions.
    pub id: String,
    pub text: String,
    pub losses: Losses,
    /// Files and directories that it names, by their names in it.
    pub located: BTreeMap<String, PathBuf>,
}

/// What has no namespace is in this one, and what the template is called.
const NAMELESS: &str = "urn:cuvee:template:";

/// Converts a variant.
///
/// # Errors
/// Where there is nothing in it that definitions could have.
pub(crate) fn to_xml(
    variant: &ConvertedVariant<'_, '_>,
    settings: &ToXmlSettings,
) -> Result<ConvertedXml, Diagnostic> {
    let mut converter = XmlConverter::of(variant, settings);
    let mut root = XmlPart::new("Definitions");
    let (service, id, definitions) = converter.service();
    let undefined = match converter.undefined.is_empty() {
        true => Vec::new(),
        false => converter.undefined_types(),
    };
    let types = converter.all_types();
    converter.leftover_types();
    let mut parts = XmlPart::new("Types");
    converter.schemas.take().into_iter().for_each(|schema| parts.push(schema));
    root.set("id", &*id);
    root.set("targetNamespace", &*converter.target);
    for (name, value) in definitions {
        root.set(name, value);
    }
    if !parts.is_empty() {
        root.push(parts);
    }
    root.push_some(service);
    types.into_iter().chain(undefined).for_each(|part| root.push(part));
    std::mem::take(&mut converter.templates).into_iter().for_each(|part| root.push(part));
    if !root.has_component() {
        let message = "there are neither nodes nor types to convert";
        let at = Span { file: variant.file, start: 0, end: 0 };
        return Err(Diagnostic::error(Code::InvalidTemplate, message).at(at));
    }
    let draft = draft(&root, &converter.prefixes);
    converter.verify(&mut root, &draft);
    let text = written(&root, &converter.prefixes);
    let losses = converter.losses.ordered();
    Ok(ConvertedXml { id, text, losses, located: converter.located })
}

/// A document that says what it is to say.
fn draft(root: &XmlPart, prefixes: &Prefixes) -> String {
    let mut tree = XmlTree::default();
    for (prefix, namespace) in prefixes.declared() {
        tree.declare(prefix, namespace);
    }
    root.write(&mut tree);
    tree.write()
}

/// The canonical form of a document.
fn written(root: &XmlPart, prefixes: &Prefixes) -> String {
    let text = draft(root, prefixes);
    match parse(FileId::DETACHED, text.as_str().into(), &XmlLimits::default()) {
        Ok(document) => canonical_definitions(&document),
        Err(_) => text,
    }
}

pub(super) struct XmlConverter<'s, 't> {
    variant: &'s ConvertedVariant<'s, 't>,
    settings: &'s ToXmlSettings,
    /// The namespace of what has none of its own.
    target: String,
    prefixes: Prefixes,
    ids: DocumentIds,
    losses: Losses,
    uses_extensions: bool,
    /// What types are called, and what is called so.
    names: FxHashMap<TypeId, QualifiedName>,
    taken: FxHashSet<(&'static str, QualifiedName)>,
    /// Types that are named, and not converted yet.
    open: VecDeque<TypeId>,
    /// Capability types for which there are requirement types.
    required: BTreeMap<QualifiedName, Option<TypeId>>,
    /// What requirement types ask for that had a name before.
    required_as: FxHashMap<QualifiedName, Option<TypeId>>,
    schemas: DefinedSchemas,
    /// Artifact templates and policy templates.
    templates: Vec<XmlPart>,
    /// What the policy templates are called that had a name, by that and by what they say.
    policy_templates: FxHashMap<(String, XmlPart), String>,
    /// What implements types.
    implemented: Vec<ImplementedType>,
    /// The artifact templates of files, by those, their types, and what they were called.
    files: FxHashMap<(String, String, Option<String>), String>,
    /// What it names, by the names it has in an archive.
    located: BTreeMap<String, PathBuf>,
    /// What files are called from the root that are called otherwise in another one.
    renamed: FxHashMap<(FileId, String), String>,
    /// Types of nodes that nobody defines, by what they are called.
    undefined: BTreeMap<String, UndefinedType>,
    /// The types of relationships, and those of capabilities that they lead to, where those are no
    /// nodes.
    joined: Vec<(TypeId, Option<TypeId>)>,
    links: NodeLinks,
    /// What parts of nodes were called in definitions.
    known_ids: Rc<KnownIds<'s>>,
    /// Whether what is converted has a definition that everybody knows.
    is_silent: bool,
    /// Whether the template was made of definitions.
    were_definitions: bool,
    /// Whether types derive from roots because definitions that they were did not say from what.
    has_added_roots: bool,
}

impl<'s, 't> XmlConverter<'s, 't> {
    fn of(variant: &'s ConvertedVariant<'s, 't>, settings: &'s ToXmlSettings) -> Self {
        let document = SaidMap::of_value(String::new(), variant.document, None);
        let metadata = document.clone().take("metadata").map(|metadata| metadata.map());
        let of_metadata = |key: &str| metadata.clone().and_then(|mut it| it.take_text(key));
        let target = document.clone().take_text("namespace").unwrap_or_else(|| {
            let name = of_metadata("template_name").unwrap_or_else(|| "service".into());
            format!("{NAMELESS}{}", as_name(&name))
        });
        let mut converter = Self {
            variant,
            settings,
            target,
            prefixes: Prefixes::default(),
            ids: DocumentIds::default(),
            losses: Losses::default(),
            uses_extensions: false,
            names: FxHashMap::default(),
            taken: FxHashSet::default(),
            open: VecDeque::new(),
            required: BTreeMap::new(),
            required_as: FxHashMap::default(),
            schemas: DefinedSchemas::default(),
            templates: Vec::new(),
            policy_templates: FxHashMap::default(),
            implemented: Vec::new(),
            files: FxHashMap::default(),
            located: BTreeMap::new(),
            renamed: FxHashMap::default(),
            undefined: BTreeMap::new(),
            joined: Vec::new(),
            links: NodeLinks::default(),
            known_ids: Rc::new(known_ids(variant.topology)),
            is_silent: false,
            were_definitions: of_metadata("definitions_id").is_some(),
            has_added_roots: false,
        };
        converter.find_node_links();
        converter.has_added_roots = converter.were_definitions && !converter.uses_root();
        converter
    }

    /// Whether nodes use what the root of their types defines.
    fn uses_root(&self) -> bool {
        let Some(root) = self.root(Family::Node) else { return false };
        let (topology, root) = (self.variant.topology, self.variant.types.effective(root));
        let mut said = topology.nodes.iter().flat_map(|node| &node.capabilities);
        let is_used = |id: RelationIndex| {
            let relation = topology.relation(id);
            let end = relation.target.and_then(|target| match self.is_node_link(id) {
                true => self.linked_capability(id, target),
                false => self.capability_to(id, target),
            });
            root.requirements.contains_key(&*relation.name)
                || end.is_some_and(|end| root.capabilities.contains_key(&*end))
        };
        said.any(|capability| root.capabilities.contains_key(&*capability.name))
            || topology.relation_ids().any(is_used)
    }

    /// Tells that something has no counterpart, or only one of ours.
    fn tell(&mut self, said: &SaidValue, construct: String, why: &str, kind: LossKind) {
        if self.is_silent {
            return;
        }
        let (path, span) = (kept::singular(said.path.trim_start_matches('.')), said.span);
        self.losses.push(Loss { path, span, construct, why: why.to_owned(), kind });
    }

    /// Tells that something is gone.
    fn lose(&mut self, said: &SaidValue, construct: String, why: &str) {
        self.tell(said, construct, why, LossKind::Lost);
    }

    /// What becomes of that which has no counterpart: it is kept as an extension, unless that is not
    /// wished for.
    fn kind_of_kept(&mut self) -> LossKind {
        let is_kept = !self.settings.leaves_out;
        if is_kept {
            self.uses_extensions = true;
            self.prefixes.of(EXTENSION);
        }
        if !is_kept { LossKind::Lost } else { LossKind::KeptAsExtension }
    }

    /// Converts a type; of one of the profile everybody knows the definition, so nothing is told.
    fn quietly<T>(&mut self, id: TypeId, convert: impl FnOnce(&mut Self) -> T) -> T {
        let definition = self.variant.types.definition(id);
        let is_built_in = profile::is_built_in(definition.key.span().file);
        let is_silent = std::mem::replace(&mut self.is_silent, is_built_in);
        let converted = convert(self);
        self.is_silent = is_silent;
        converted
    }

    /// Tells that something is kept as an extension, where all that is read back otherwise is.
    fn keep(&mut self, key: &str, said: &SaidValue, why: &str) {
        let kind =
            if self.settings.leaves_out { LossKind::Lost } else { LossKind::KeptAsExtension };
        self.tell(said, format!("`{key}`"), why, kind);
    }

    /// Keeps something as an attribute of an element.
    fn keep_attribute(
        &mut self,
        part: &mut XmlPart,
        name: &'static str,
        said: &SaidValue,
        why: &str,
    ) {
        let kind = self.kind_of_kept();
        self.tell(said, construct_of(&said.path), why, kind);
        if kind == LossKind::KeptAsExtension {
            let text = match &said.value {
                Value::String(text) => text.to_string(),
                other => write_flow(other),
            };
            part.set(name, text);
        }
    }

    /// Keeps what nobody has taken of a map.
    fn keep_rest(&mut self, said: SaidMap, why: &str) {
        for (key, said) in said.rest() {
            self.keep(&key, &said, why);
        }
    }

    /// The name that something of XML has, with the old one where that cannot be its name.
    fn named(&mut self, part: &mut XmlPart, attribute: &'static str, new: &str, said: &SaidValue) {
        part.set(attribute, new);
        let Value::String(old) = &said.value else { return };
        if **old != *new {
            let why = "it is no name in XML, or another one has it";
            self.keep_attribute(part, "v:name", said, why);
        }
    }

    /// The description of something.
    fn describe(part: &mut XmlPart, said: &mut SaidMap) {
        part.document(said.take_text("description"));
    }

    /// Metadata as tags.
    fn tags(&mut self, said: Option<SaidValue>, is_tag: impl Fn(&str) -> bool) -> Vec<XmlPart> {
        let mut tags = Vec::new();
        for (name, value) in said.iter().flat_map(|said| said::entries(&said.value)) {
            if is_tag(name) {
                let text = value.as_str().map_or_else(|| write_flow(value), str::to_owned);
                tags.push(XmlPart::new("Tag").with("name", &**name).with("value", text));
            }
        }
        tags
    }

    /// The namespace of what is defined in a file.
    fn namespace_of(&self, file: FileId, node: Node<'_>) -> String {
        if profile::is_built_in(file) {
            return PROFILE.to_owned();
        }
        let own = node.document().root().get("namespace").and_then(Node::as_str);
        own.map_or_else(|| self.target.clone(), str::to_owned)
    }

    /// The name of a type, which is converted then.
    fn type_name(&mut self, id: TypeId) -> QualifiedName {
        if let Some(known) = self.names.get(&id) {
            return known.clone();
        }
        let definition = self.variant.types.definition(id);
        let given = self.settings.counterparts.given(definition.name);
        let given = given.map(|(namespace, local)| QualifiedName {
            namespace: namespace.to_owned(),
            local: as_name(local),
        });
        let name = given.or_else(|| well_known(definition)).unwrap_or_else(|| {
            let namespace = self.namespace_of(definition.key.span().file, definition.key);
            let name = |local: &str| QualifiedName {
                namespace: namespace.clone(),
                local: local.to_owned(),
            };
            let family = definition.family.keyword();
            let is_taken = |local: &str| self.taken.contains(&(family, name(local)));
            name(&unique(&as_name(definition.name), is_taken))
        });
        self.taken.insert((definition.family.keyword(), name.clone()));
        self.names.insert(id, name.clone());
        self.open.push_back(id);
        name
    }

    /// What a type is called in a document with another one of its name.
    fn name_in_one(&self, id: TypeId, number: usize) -> String {
        let name = self.variant.types.definition(id).name;
        let prefix = self.names.get(&id).and_then(|of| self.prefixes.known(&of.namespace));
        match (prefix, number) {
            (Some(prefix), _) => format!("{prefix}_{name}"),
            (None, 0) => name.to_owned(),
            (None, number) => format!("{name}_{}", number + 1),
        }
    }

    /// The same with a prefix.
    fn prefixed(&mut self, id: TypeId) -> String {
        let name = self.type_name(id);
        self.prefixes.name(&name)
    }

    /// The type of a name that stands in a definition.
    fn find(&self, family: Family, name: Option<Node<'_>>) -> Option<TypeId> {
        let name = name?;
        self.variant.types.find_in(Some(name.span().file), family, name.text()?)
    }

    /// The type of a name that stands in the template.
    fn find_named(&self, family: Family, name: &str, span: Option<Span>) -> Option<TypeId> {
        let file = span.filter(|span| !span.is_detached()).map(|span| span.file);
        let types = self.variant.types;
        types.find_in(file, family, name).or_else(|| types.find(family, name))
    }

    /// The type that a type is said to derive from.
    fn written_parent(&self, id: TypeId) -> Option<TypeId> {
        let types = self.variant.types;
        let family = types.definition(id).family;
        types
            .parent(id)
            .filter(|parent| !self.has_added_roots || self.root(family) != Some(*parent))
    }

    /// The root of a family.
    fn root(&self, family: Family) -> Option<TypeId> {
        let name = match family {
            Family::Node => "tosca.nodes.Root",
            Family::Relationship => "tosca.relationships.Root",
            Family::Capability => "tosca.capabilities.Root",
            Family::Artifact => "tosca.artifacts.Root",
            Family::Policy => "tosca.policies.Root",
            _ => return None,
        };
        self.variant.types.find(family, name)
    }
}

/// What messages call that to which a path leads.
fn construct_of(path: &str) -> String {
    let last = path.rsplit(['.', '[']).next().unwrap_or(path);
    format!("`{}`", last.trim_matches(['"', ']']))
}

/// Where relationship types of TOSCA 1.0 are that the profile has, too.
const BASE_TYPES: &str = "/ToscaBaseTypes";

/// The name by which others know a type of the profile.
fn well_known(definition: &TypeDefinition<'_>) -> Option<QualifiedName> {
    let local = match (definition.family, definition.name) {
        _ if !profile::is_built_in(definition.key.span().file) => return None,
        (Family::Relationship, "tosca.relationships.AttachesTo") => "AttachesTo",
        (Family::Relationship, "tosca.relationships.ConnectsTo") => "ConnectsTo",
        (Family::Relationship, "tosca.relationships.DependsOn") => "DependsOn",
        (Family::Relationship, "tosca.relationships.HostedOn") => "HostedOn",
        (Family::Relationship, "tosca.relationships.RoutesTo") => "RoutesTo",
        _ => return None,
    };
    Some(QualifiedName { namespace: format!("{TOSCA}{BASE_TYPES}"), local: local.to_owned() })
}
