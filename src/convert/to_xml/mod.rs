//! Converts TOSCA Simple Profile 1.3 to TOSCA 1.0: a variant, the types that it needs, and the
//! files that it names.
//!
//! Each part of the template is a map, and the code that converts the part takes its keys one by
//! one. The remaining keys have no counterpart: they are kept as an extension of the element, which
//! others may ignore, and reported.

mod beside;
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
use super::well_known::{TARGET_NAME, TARGET_NAMESPACE, tag_name};
use crate::diagnostic::{Code, Diagnostic};
use crate::topology::named::NamedParts;
use crate::topology::{RelationIndex, Topology};
use crate::tosca::profile::NAMESPACE as PROFILE;
use crate::tosca::v1_0::{DEFINITIONS, TOSCA};
use crate::tosca::{Family, TypeDefinition, TypeId, Types, canonical_definitions, profile};
use beside::OtherTemplates;
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::xml::{XmlLimits, XmlOutput, parse};
use cuvee_text::yaml::{Node, write_flow};
use implementation::ImplementedType;
use names::{DocumentIds, EXTENSION, Prefixes, QualifiedName, as_name, unique};
use node_links::NodeLinks;
use part::XmlPart;
use rustc_hash::{FxHashMap, FxHashSet};
use said::{SaidMap, SaidValue};
use schema::DefinedSchemas;
use service::{KnownIds, UndefinedType, known_ids};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;

/// The settings of a conversion.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToXmlSettings {
    /// Whether parts without a counterpart are dropped instead of kept as extensions.
    pub leaves_out: bool,
    /// Whether the result is a single document.
    pub is_single: bool,
    /// Whether the result follows the conventions of OpenTOSCA.
    pub is_opentosca: bool,
    /// The inputs that led to the variant, if they are to be recorded.
    pub recorded: Vec<(String, Value)>,
    /// The names of types in XML, by their names in the template.
    pub counterparts: TypeCounterparts,
}

/// A variant, with the data that its conversion needs.
pub(crate) struct ConvertedVariant<'s, 't> {
    /// The whole document of the variant.
    pub document: &'s Value,
    pub topology: &'s Topology,
    pub types: &'s Types<'t>,
    /// The file of the template.
    pub file: FileId,
    /// Finds the file that is named in another file.
    pub locate: &'s dyn Fn(FileId, &str) -> Option<LocatedFile>,
}

/// A file or a directory that a template names.
pub(crate) struct LocatedFile {
    pub path: PathBuf,
    /// The path from the root of the template's files; `None` if the file is outside of it.
    pub name: Option<String>,
}

/// The result of a conversion.
#[derive(Clone, Debug)]
pub(crate) struct ConvertedXml {
    /// The id of the definitions.
    pub id: String,
    pub text: String,
    /// Documents of templates of other namespaces, by their names beside the definitions.
    pub others: Vec<(String, String)>,
    pub losses: Losses,
    /// The files and directories that the definitions name, by these names.
    pub located: BTreeMap<String, PathBuf>,
}

/// The beginning of the namespace of a template that has none; the name of the template follows.
const NAMELESS: &str = "urn:cuvee:template:";

/// Converts a variant.
///
/// # Errors
/// An error if the variant contains nothing that definitions could contain.
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
    let others = converter.other_documents(&mut root, &id);
    let text = converter.draft(&mut root).into();
    // What is not needed any more makes room for what is read back.
    root.empty();
    converter.ids = DocumentIds::default();
    converter.verify(&mut root, (&format!("{id}.tosca"), &text), &others);
    let text = converter.canonical(with_head(&converter.draft(&mut root), &text));
    let losses = converter.losses.ordered();
    Ok(ConvertedXml { id, text, others, losses, located: converter.located })
}

/// A document with the root of another one, and with what that contains before what it contains
/// itself.
fn with_head(head: &str, text: &str) -> String {
    let end_of_root = text.match_indices(">\n").nth(1).map(|(at, end)| at + end.len());
    let content = end_of_root.and_then(|at| text.get(at..)).unwrap_or_default();
    match head.strip_suffix("</Definitions>\n") {
        Some(head) => [head, content].concat(),
        None => text.to_owned(),
    }
}

pub(super) struct XmlConverter<'s, 't> {
    variant: &'s ConvertedVariant<'s, 't>,
    settings: &'s ToXmlSettings,
    /// The namespace of everything without a namespace of its own.
    target: String,
    prefixes: Prefixes,
    ids: DocumentIds,
    losses: Losses,
    uses_extensions: bool,
    /// The names of types; below, all names that are taken.
    names: FxHashMap<TypeId, QualifiedName>,
    taken: FxHashSet<(&'static str, QualifiedName)>,
    /// Types that are referred to but not converted yet.
    open: VecDeque<TypeId>,
    /// The requirement types that are referred to but not converted yet, each with its capability
    /// type; below, all that have been referred to.
    required: BTreeMap<QualifiedName, TypeId>,
    requirement_types: FxHashSet<QualifiedName>,
    /// The requirement types that others have to derive from, because they are those of
    /// requirements that these replace.
    narrowed: BTreeMap<QualifiedName, BTreeSet<QualifiedName>>,
    /// The capability types of requirement types that keep a former name.
    required_as: FxHashMap<QualifiedName, Option<TypeId>>,
    schemas: DefinedSchemas,
    /// The artifact templates and policy templates.
    templates: Vec<XmlPart>,
    /// Those of other namespaces than the definitions. They have the namespace of their document.
    other_templates: BTreeMap<String, OtherTemplates>,
    /// The names of policy templates with a former name, by that name and their content.
    policy_templates: FxHashMap<(String, XmlPart), String>,
    /// The implementations of types.
    implemented: Vec<ImplementedType>,
    /// The artifact templates, by file, type, former name and properties.
    files: FxHashMap<(String, String, Option<String>, Option<XmlPart>), String>,
    /// The files that the definitions name, by their names in the archive.
    located: BTreeMap<String, PathBuf>,
    /// The names of files from the root, where another file refers to them by a different name.
    renamed: FxHashMap<(FileId, String), String>,
    /// Node types that are not defined, by name.
    undefined: BTreeMap<String, UndefinedType>,
    /// The relationship types in use, each with the capability type that the relationship leads to;
    /// `None` if it leads to a node.
    joined: Vec<(TypeId, Option<TypeId>)>,
    links: NodeLinks,
    /// Whether there are elements that are copied as they are, so that the canonical form has to be
    /// found by reading the draft.
    copies_fragments: bool,
    /// The parts of the topology.
    named: NamedParts<'s>,
    /// The former ids of parts of nodes.
    known_ids: Rc<KnownIds<'s>>,
    /// Whether metadata of types record former names of requirements, capabilities or operations.
    has_former_names: bool,
    /// Whether the part being converted is well known, so that nothing is reported.
    is_silent: bool,
    /// Whether the template was made from definitions.
    were_definitions: bool,
    /// Whether types only derive from roots because they were made from definitions without a
    /// parent.
    has_added_roots: bool,
}

impl<'s, 't> XmlConverter<'s, 't> {
    fn of(variant: &'s ConvertedVariant<'s, 't>, settings: &'s ToXmlSettings) -> Self {
        let document = SaidMap::of_value(String::new(), variant.document, None);
        let metadata = document.clone().take("metadata").map(|metadata| metadata.map());
        let of_metadata = |key: &str| metadata.clone().and_then(|mut it| it.take_text(key));
        let said = document.clone().take_text("namespace");
        let target = said.or_else(|| of_metadata(TARGET_NAMESPACE)).unwrap_or_else(|| {
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
            requirement_types: FxHashSet::default(),
            narrowed: BTreeMap::new(),
            required_as: FxHashMap::default(),
            schemas: DefinedSchemas::default(),
            templates: Vec::new(),
            other_templates: BTreeMap::new(),
            policy_templates: FxHashMap::default(),
            implemented: Vec::new(),
            files: FxHashMap::default(),
            located: BTreeMap::new(),
            renamed: FxHashMap::default(),
            undefined: BTreeMap::new(),
            joined: Vec::new(),
            links: NodeLinks::default(),
            copies_fragments: false,
            named: NamedParts::of(variant.topology),
            known_ids: Rc::new(known_ids(variant.topology)),
            has_former_names: types::has_former_names(variant.types),
            is_silent: false,
            were_definitions: of_metadata("definitions_id").is_some(),
            has_added_roots: false,
        };
        converter.find_node_links();
        converter.has_added_roots = converter.were_definitions && !converter.uses_root();
        converter
    }

    /// The document with the namespace declarations that it needs.
    fn draft(&self, root: &mut XmlPart) -> String {
        root.arrange(Some(&DEFINITIONS));
        let mut output = XmlOutput::with_room(root.written_bytes());
        root.write(&mut output);
        let declared = self.prefixes.declared().map(|(prefix, uri)| (prefix.into(), uri.into()));
        output.finish(&declared.collect())
    }

    /// The canonical form of a draft.
    fn canonical(&self, draft: String) -> String {
        if !self.copies_fragments {
            return draft;
        }
        match parse(FileId::DETACHED, draft.as_str().into(), &XmlLimits::default()) {
            Ok(document) => canonical_definitions(&document),
            Err(_) => draft,
        }
    }

    /// Whether nodes use features that the root type of nodes defines.
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

    /// Reports a part that has no counterpart, or only an extension.
    fn tell(&mut self, said: &SaidValue, construct: String, why: &str, kind: LossKind) {
        if self.is_silent {
            return;
        }
        let (path, span) = (kept::singular(said.path.trim_start_matches('.')), said.span);
        self.losses.push(Loss { path, span, construct, why: why.to_owned(), kind });
    }

    /// Reports a part that is lost.
    fn lose(&mut self, said: &SaidValue, construct: String, why: &str) {
        self.tell(said, construct, why, LossKind::Lost);
    }

    /// The fate of a part without a counterpart: it is kept as an extension unless the settings say
    /// otherwise.
    fn kind_of_kept(&mut self) -> LossKind {
        let is_kept = !self.settings.leaves_out;
        if is_kept {
            self.uses_extensions = true;
            self.prefixes.of(EXTENSION);
        }
        if !is_kept { LossKind::Lost } else { LossKind::KeptAsExtension }
    }

    /// Converts a type. Types of the profile are well known, so nothing is reported for them.
    fn quietly<T>(&mut self, id: TypeId, convert: impl FnOnce(&mut Self) -> T) -> T {
        let definition = self.variant.types.definition(id);
        let is_built_in = profile::is_built_in(definition.key.span().file);
        let is_silent = std::mem::replace(&mut self.is_silent, is_built_in);
        let converted = convert(self);
        self.is_silent = is_silent;
        converted
    }

    /// Reports that a part is kept as an extension. The comparison after reading back keeps it.
    fn keep(&mut self, key: &str, said: &SaidValue, why: &str) {
        let kind =
            if self.settings.leaves_out { LossKind::Lost } else { LossKind::KeptAsExtension };
        self.tell(said, format!("`{key}`"), why, kind);
    }

    /// Keeps a part as an attribute of an element.
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

    /// Keeps the keys of a map that nothing has taken.
    fn keep_rest(&mut self, said: SaidMap, why: &str) {
        for (key, said) in said.rest() {
            self.keep(&key, &said, why);
        }
    }

    /// Sets the name of an element; keeps the old name if it cannot be used in XML.
    fn named(&mut self, part: &mut XmlPart, attribute: &'static str, new: &str, said: &SaidValue) {
        part.set(attribute, new);
        let Value::String(old) = &said.value else { return };
        if **old != *new {
            let why = "the name is not valid in XML, or something else has it";
            self.keep_attribute(part, "v:name", said, why);
        }
    }

    /// Adds the description of a part as documentation.
    fn describe(part: &mut XmlPart, said: &mut SaidMap) {
        part.document(said.take_text("description"));
    }

    /// Metadata as tags, but for those that stand for something else.
    fn tags(&mut self, said: Option<SaidValue>, is_known: fn(&str) -> bool) -> Vec<XmlPart> {
        let mut tags = Vec::new();
        for (name, value) in said.iter().flat_map(|said| said::entries(&said.value)) {
            if !is_known(name) {
                let text = value.as_str().map_or_else(|| write_flow(value), str::to_owned);
                let name = tag_name(name, is_known);
                tags.push(XmlPart::new("Tag").with("name", name).with("value", text));
            }
        }
        tags
    }

    /// The namespace of the definitions of a file.
    fn namespace_of(&self, file: FileId, node: Node<'_>) -> String {
        if profile::is_built_in(file) {
            return PROFILE.to_owned();
        }
        let root = node.document().root();
        let reserved = || root.get("metadata")?.get(TARGET_NAMESPACE);
        let own = root.get("namespace").or_else(reserved).and_then(Node::as_str);
        own.map_or_else(|| self.target.clone(), str::to_owned)
    }

    /// The name of a type; the type is scheduled for conversion.
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
            let former = self.metadata_name(id, TARGET_NAME);
            let namespace = match &former {
                Some(former) => former.namespace.clone(),
                None => self.namespace_of(definition.key.span().file, definition.key),
            };
            let wanted = former.map_or_else(|| as_name(definition.name), |former| former.local);
            let name = |local: &str| QualifiedName {
                namespace: namespace.clone(),
                local: local.to_owned(),
            };
            let family = definition.family.keyword();
            let is_taken = |local: &str| self.taken.contains(&(family, name(local)));
            name(&unique(&wanted, is_taken))
        });
        self.taken.insert((definition.family.keyword(), name.clone()));
        self.names.insert(id, name.clone());
        self.open.push_back(id);
        name
    }

    /// The name of a type in a single document that contains another type of that name.
    fn name_in_one(&self, id: TypeId, number: usize) -> String {
        let name = self.variant.types.definition(id).name;
        let prefix = self.names.get(&id).and_then(|of| self.prefixes.known(&of.namespace));
        match (prefix, number) {
            (Some(prefix), _) => format!("{prefix}_{name}"),
            (None, 0) => name.to_owned(),
            (None, number) => format!("{name}_{}", number + 1),
        }
    }

    /// The name of a type with a prefix.
    fn prefixed(&mut self, id: TypeId) -> String {
        let name = self.type_name(id);
        self.prefixes.name(&name)
    }

    /// The type that a name in a definition refers to.
    fn find(&self, family: Family, name: Option<Node<'_>>) -> Option<TypeId> {
        let name = name?;
        self.variant.types.find_in(Some(name.span().file), family, name.text()?)
    }

    /// The type that a name in the template refers to.
    fn find_named(&self, family: Family, name: &str, span: Option<Span>) -> Option<TypeId> {
        let file = span.filter(|span| !span.is_detached()).map(|span| span.file);
        let types = self.variant.types;
        types.find_in(file, family, name).or_else(|| types.find(family, name))
    }

    /// The parent of a type, unless it is a root that was only added.
    fn written_parent(&self, id: TypeId) -> Option<TypeId> {
        let types = self.variant.types;
        let family = types.definition(id).family;
        types
            .parent(id)
            .filter(|parent| !self.has_added_roots || self.root(family) != Some(*parent))
    }

    /// Whether what a type of the profile has is not there in XML: it was added when definitions
    /// became YAML, or is known by its name alone.
    fn is_added(&self, id: TypeId) -> bool {
        let definition = self.variant.types.definition(id);
        let is_root = || self.root(definition.family) == Some(id);
        self.has_added_roots && (is_root() || well_known(definition).is_some())
    }

    /// The root type of a family.
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

/// The name of the last part of a path, for messages.
fn construct_of(path: &str) -> String {
    let last = path.rsplit(['.', '[']).next().unwrap_or(path);
    format!("`{}`", last.trim_matches(['"', ']']))
}

/// The end of the namespace of relationship types of TOSCA 1.0 that the profile has, too.
const BASE_TYPES: &str = "/ToscaBaseTypes";

/// The well-known name in TOSCA 1.0 of a type of the profile.
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
