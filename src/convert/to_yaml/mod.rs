//! Converts TOSCA 1.0 to TOSCA Simple Profile 1.3: types, service templates, and the files that
//! they need.

mod added;
mod boundary;
mod exported;
mod files;
mod implementation;
mod names;
mod parts;
mod place;
mod relations;
mod renamed;
mod restore;
mod schema;
mod scope;
mod settings;
mod shown;
mod sweep;
mod topology;
mod types;
mod values;

use super::layout::{self, YamlMap};
use super::loss::{Loss, LossKind, Losses};
use super::well_known::{self, TARGET_NAMESPACE};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::profile;
use crate::tosca::shape::type_sections;
use crate::tosca::v1_0::definitions::{ComponentContent, ComponentKind, ComponentName};
use crate::tosca::v1_0::{ComponentId, Library, PropertySchemas};
use crate::tosca::xml_schema::SchemaTypeId;
use added::AddedMembers;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use files::ConvertedFiles;
use implementation::ChosenImplementations;
use names::{FileKey, TypeNames, is_converted_type};
use parts::PartNames;
use relations::ServiceLinks;
use renamed::RenamedParts;
use restore::KeptParts;
use rustc_hash::{FxHashMap, FxHashSet};
use scope::ConversionScope;
use shown::ShownProperties;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) use restore::EXTENSION;
pub(crate) use settings::{ToYamlSettings, TypeCounterparts};

/// The version that every document states.
const VERSION: &str = "tosca_simple_yaml_1_3";

/// The result of a conversion.
pub(crate) struct ConvertedYaml {
    /// The files and their names, that of the service template first.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    pub losses: Losses,
    /// The document of the service template, before the kept parts are restored.
    pub said: Value,
    /// The converted components of the library; other components are ignored.
    pub converted: Vec<Span>,
}

/// Converts a library. Names in it that YAML cannot have become others, so whatever has to be known
/// of it as it was read has to be asked before.
///
/// # Errors
/// An error if the service template or an implementation is ambiguous or unknown.
pub(crate) fn to_yaml<'d>(
    library: &mut Library<'d>,
    schemas: &PropertySchemas<'d>,
    settings: &ToYamlSettings,
) -> Result<ConvertedYaml, Diagnostics> {
    let scope = ConversionScope::of(library, settings)?;
    let chosen = ChosenImplementations::of(library, &scope, &settings.implementations)?;
    let service = scope.service.map(|id| &*library.component(id).namespace);
    let kept = KeptParts::of(library, &scope);
    // Definitions that were made from one template become one document again.
    let is_single = settings.is_single || kept.is_some();
    let names =
        TypeNames::of(library, &scope.converted, &settings.counterparts, is_single, service);
    let added = AddedMembers::of(library, schemas, &names, &scope.converted);
    let renamed = RenamedParts::of(library, &added);
    let library = &*library;
    let mut converter = YamlConverter {
        library,
        schemas,
        derived: derived_types(library, &scope.converted),
        links: ServiceLinks::default(),
        files: ConvertedFiles::of(library.loaded, settings.is_single),
        is_single,
        has_no_texts: settings.has_no_texts,
        kept,
        said: Value::Null,
        scope,
        chosen,
        names,
        added,
        renamed,
        part_names: PartNames::default(),
        type_artifacts: FxHashMap::default(),
        losses: Losses::default(),
        sections: BTreeMap::new(),
        data_types: FxHashMap::default(),
        interface_types: FxHashMap::default(),
        inputs: YamlMap::default(),
        reserved: FxHashSet::default(),
        shown: ShownProperties::default(),
        optional: FxHashSet::default(),
        with_fragments: FxHashSet::default(),
        fragments: FxHashSet::default(),
    };
    Ok(converter.convert())
}

/// The node types that derive from each.
fn derived_types(
    library: &Library<'_>,
    converted: &[ComponentId],
) -> FxHashMap<ComponentId, Vec<ComponentId>> {
    let mut derived: FxHashMap<ComponentId, Vec<ComponentId>> = FxHashMap::default();
    for &id in converted.iter().filter(|id| library.component(**id).kind == ComponentKind::NodeType)
    {
        for of in library.ancestry(id).skip(1) {
            derived.entry(of).or_default().push(id);
        }
    }
    derived
}

/// A library that is being converted.
struct YamlConverter<'c, 'd> {
    library: &'c Library<'d>,
    schemas: &'c PropertySchemas<'d>,
    is_single: bool,
    /// Whether only the value of the document is asked for, and no text.
    has_no_texts: bool,
    /// The parts that only YAML can express, if the definitions keep them.
    kept: Option<KeptParts<'d>>,
    said: Value,
    scope: ConversionScope,
    chosen: ChosenImplementations,
    names: TypeNames,
    /// The node types that derive from each.
    derived: FxHashMap<ComponentId, Vec<ComponentId>>,
    links: ServiceLinks,
    files: ConvertedFiles<'c>,
    /// What types inherit in YAML alone.
    added: AddedMembers,
    renamed: RenamedParts,
    part_names: PartNames,
    /// The artifacts of types by name, each with its type.
    type_artifacts: FxHashMap<ComponentId, FxHashMap<String, Option<ComponentId>>>,
    losses: Losses,
    /// The types, by file and section.
    sections: BTreeMap<FileKey, BTreeMap<&'static str, YamlMap>>,
    /// The data types that were made from schema types.
    data_types: FxHashMap<SchemaTypeId, (FileKey, String)>,
    /// The interface types that were made, by type and key of the interface.
    interface_types: FxHashMap<(ComponentId, String), (FileKey, String)>,
    /// The inputs of the topology.
    inputs: YamlMap,
    /// The names of inputs that texts or property mappings use.
    reserved: FxHashSet<String>,
    shown: ShownProperties<'d>,
    /// The ids of open requirements that need not be fulfilled.
    optional: FxHashSet<String>,
    /// The types without a schema whose templates have properties anyway.
    with_fragments: FxHashSet<ComponentId>,
    /// The places of elements that are kept as fragments of XML.
    fragments: FxHashSet<Span>,
}

impl<'d> YamlConverter<'_, 'd> {
    fn convert(&mut self) -> ConvertedYaml {
        let library = self.library;
        let service = self.scope.service.and_then(|id| match &library.component(id).content {
            ComponentContent::Service(service) => Some((id, &**service)),
            _ => None,
        });
        self.name_parts();
        if let Some((id, service)) = service {
            self.find_fragments(id, service);
            self.links = self.service_links(id, service);
            self.reserved = self.named_inputs(service);
            self.shown = self.shown_properties(id, service);
            self.optional = self.optional_requirements(id, service);
        }
        for id in self.scope.converted.clone() {
            if is_converted_type(library.component(id).kind) {
                self.entity_type(id);
            }
        }
        let topology = service.map(|(id, service)| self.topology(id, service));
        if !self.has_no_texts {
            self.sweep();
        }
        self.documents(service.map(|(id, _)| id), topology);
        ConvertedYaml {
            files: self.files.written(),
            losses: std::mem::take(&mut self.losses).ordered(),
            said: std::mem::replace(&mut self.said, Value::Null),
            converted: self.scope.spans(library),
        }
    }

    /// Writes the documents.
    fn documents(&mut self, service: Option<ComponentId>, topology: Option<YamlMap>) {
        let mut others = self.other_documents();
        let mut sections = std::mem::take(&mut self.sections);
        let is_one = service.is_some() || self.is_single;
        if is_one {
            // Types that the service template does not use belong to the library as well.
            let files = sections.keys().filter(|_| service.is_some());
            files.for_each(|file| self.names.need(FileKey::Service, *file));
            let types = sections.remove(&FileKey::Service).unwrap_or_default();
            let others = std::mem::take(&mut others);
            let document = self.document(FileKey::Service, service, (types, others), topology);
            let name = match service {
                Some(id) => format!("{}.yaml", names::as_name(self.text_name(id))),
                None => "types.yaml".to_owned(),
            };
            self.said = document.into();
            if !self.has_no_texts {
                let document = self.restored(&self.said.clone());
                self.files.main(name.into(), layout::write(&document));
            }
        }
        for (key, types) in sections {
            let FileKey::Types(space) = key else { continue };
            let others = std::mem::take(&mut others);
            let document = self.document(key, None, (types, others), None);
            let path = format!("types/{}.yaml", self.names.spaces[space].stem);
            self.files.add(path.into(), layout::write(&document.into()).into_bytes());
        }
    }

    fn document(
        &self,
        key: FileKey,
        service: Option<ComponentId>,
        (mut types, others): (BTreeMap<&'static str, YamlMap>, YamlMap),
        topology: Option<YamlMap>,
    ) -> YamlMap {
        let mut document = YamlMap::default().with("tosca_definitions_version", VERSION);
        let namespace = match (key, service) {
            (_, Some(id)) => Some(&*self.library.component(id).namespace),
            (FileKey::Types(space), None) => Some(&*self.names.spaces[space].uri),
            (FileKey::Service, None) => self.names.spaces.first().map(|space| &*space.uri),
        };
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let reserved = namespace.filter(|namespace| profile::is_reserved(namespace));
        document.put_some("namespace", namespace.filter(|_| reserved.is_none()));
        if let Some(id) = service {
            document.put_some("description", self.description(self.library.component(id).element));
        }
        let mut metadata = self.document_metadata(key, service, others);
        metadata.put_some(TARGET_NAMESPACE, reserved);
        document.put_map("metadata", metadata);
        let is_service = key == FileKey::Service;
        let file = |stem: &str| match is_service {
            true => format!("types/{stem}.yaml"),
            false => format!("{stem}.yaml"),
        };
        let imports = self.names.imports(key).into_iter().map(|(space, prefix)| match prefix {
            None => Value::from(file(&space.stem)),
            Some(prefix) => {
                let import = YamlMap::default().with("file", file(&space.stem));
                import.with("namespace_prefix", prefix).into()
            }
        });
        document.put_list("imports", imports.collect());
        for section in type_sections() {
            document.put_map(section, types.remove(section).unwrap_or_default());
        }
        document.put_some("topology_template", topology);
        document
    }

    /// The metadata of a document: the one of the service template, or the only one of a namespace.
    fn document_metadata(
        &self,
        key: FileKey,
        service: Option<ComponentId>,
        others: YamlMap,
    ) -> YamlMap {
        let library = self.library;
        let mut metadata = YamlMap::default();
        if let Some(id) = service {
            metadata.put("template_name", self.text_name(id));
            let element = library.component(id).element;
            metadata.put_some("name", place::attribute(element, "name"));
        }
        let document = match (service, key) {
            (Some(id), _) => Some(library.document(id)),
            (None, FileKey::Types(space)) => {
                let uri = &self.names.spaces[space].uri;
                let of_service = self.scope.service.map(|id| library.document(id));
                let mut own = self.scope.documents(library).filter(|at| {
                    library.documents[*at].target_namespace == **uri && Some(*at) != of_service
                });
                own.next()
            }
            (None, FileKey::Service) => self.scope.documents(library).next(),
        };
        if let Some(root) = document.and_then(|at| self.root(at)) {
            metadata.put_some("definitions_id", place::attribute(root, "id"));
            metadata.put_some("definitions_name", place::attribute(root, "name"));
        }
        metadata.append(others);
        if let Some(id) = service {
            metadata.append(self.tags(library.component(id).element, well_known::is_of_service));
        }
        metadata
    }

    /// The ids and names of documents that are merged into files of others.
    fn other_documents(&self) -> YamlMap {
        let others = self.scope.documents(self.library).filter(|at| !self.is_named(*at));
        let roots: Vec<_> = others.filter_map(|at| self.root(at)).collect();
        let mut metadata = YamlMap::default();
        for (key, name) in [("other_definitions_ids", "id"), ("other_definitions_names", "name")] {
            let said = roots.iter().filter_map(|root| place::attribute(*root, name));
            let said = said.collect::<Vec<_>>().join(", ");
            metadata.put_some(key, (!said.is_empty()).then_some(said));
        }
        metadata
    }

    /// The root of a document.
    fn root(&self, document: usize) -> Option<XmlElement<'d>> {
        let file = self.library.documents.get(document)?.file;
        let loaded: &'d _ = self.library.loaded;
        loaded.documents.iter().find(|it| it.file() == file).map(|it| it.root())
    }

    /// The name or id of a component.
    fn text_name(&self, id: ComponentId) -> &str {
        &self.library.component(id).name.text
    }

    /// The name by which metadata record a component, with its namespace if that is not the one of
    /// the service template.
    fn recorded_name(&self, id: ComponentId) -> String {
        let component = self.library.component(id);
        let own = self.scope.service.map(|id| &self.library.component(id).namespace);
        match own == Some(&component.namespace) {
            true => component.name.text.to_string(),
            false => format!("{{{}}}{}", component.namespace, component.name.text),
        }
    }

    /// The component that a name in the document of another component refers to.
    fn find(
        &self,
        kind: ComponentKind,
        from: ComponentId,
        name: Option<&ComponentName<'d>>,
    ) -> Option<ComponentId> {
        self.library.find(kind, self.library.document(from), name?).id()
    }

    /// The name of a type in a file. An undefined type keeps its own name and is reported.
    fn type_name(
        &mut self,
        kind: ComponentKind,
        from: ComponentId,
        name: Option<&ComponentName<'d>>,
        file: FileKey,
    ) -> Option<String> {
        let name = name?;
        if let Some(id) = self.find(kind, from, Some(name)) {
            return self.names.name(id, file);
        }
        let namespace = name.namespace.as_deref().unwrap_or_default();
        let known = self.names.unread(kind, namespace, &name.local);
        if known.is_none() {
            let component = self.library.component(from);
            let construct = format!("the definition of `{}`", name.local);
            let why = format!("no document with the {} was read", kind.what());
            self.losses.push(Loss {
                path: place::path_of(component.element),
                span: Some(name.span),
                construct,
                why,
                kind: LossKind::Lost,
            });
        }
        Some(known.unwrap_or_else(|| name.local.to_string()))
    }

    /// Reports what became of an element.
    fn lose(
        &mut self,
        element: XmlElement<'d>,
        below: &str,
        construct: impl Into<String>,
        why: impl Into<String>,
        kind: LossKind,
    ) {
        let path = match below {
            "" => place::path_of(element),
            below => format!("{}/{below}", place::path_of(element)),
        };
        let (construct, why) = (construct.into(), why.into());
        self.losses.push(Loss { path, span: Some(element.span()), construct, why, kind });
    }

    /// The description of an element, from its documentation.
    fn description(&self, element: XmlElement<'d>) -> Option<String> {
        let text = place::child(element, "documentation")?.text();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Tags as metadata. One with a name that means something there is set apart.
    fn tags(&self, element: XmlElement<'d>, is_known: fn(&str) -> bool) -> YamlMap {
        let mut metadata = YamlMap::default();
        let tags = place::child(element, "Tags");
        for tag in tags.into_iter().flat_map(|tags| place::children(tags, "Tag")) {
            let name = place::attribute(tag, "name").unwrap_or_default();
            let name = well_known::tag_key(&name, is_known);
            if !metadata.has(&name) {
                metadata.put(&name, place::written(tag, "value").unwrap_or_default());
            }
        }
        metadata
    }

    /// The types of a section in a file.
    fn section(&mut self, file: FileKey, section: &'static str) -> &mut YamlMap {
        self.sections.entry(file).or_default().entry(section).or_default()
    }
}

/// A usage error, without a place.
fn usage(message: String, help: String) -> Diagnostics {
    Diagnostic::error(Code::Usage, message).help(help).into()
}
