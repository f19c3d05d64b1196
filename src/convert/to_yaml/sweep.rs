//! Reports the remaining losses: all elements and attributes without a mapping.

use super::super::loss::{Loss, LossKind};
use super::super::mapping::{MappingFate, MappingTable};
use super::YamlConverter;
use super::names::FileKey;
use super::place;
use super::restore::{EXTENSION, declares_kept};
use crate::tosca::v1_0::definitions::ComponentKind;
use crate::tosca::v1_0::{ComponentId, ExpectedProperties, TOSCA, WINERY};
use crate::tosca::xml_schema::{BuiltInType, XML_SCHEMA};
use cuvee_text::source::Span;
use cuvee_text::xml::{XmlAttribute, XmlDocument, XmlElement, XmlNode};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// The reason for the loss of unknown elements and attributes.
const UNKNOWN: &str = "nothing in YAML corresponds to it";

/// The reason for the loss of extensions of other tools.
pub(super) const FOREIGN: &str = "YAML has no place for content of other namespaces";

/// The reason for the loss of unused components.
const UNUSED: &str = "nothing that is converted uses it";

/// The reason for the loss of requirement types without requirements.
const UNASKED: &str = "requirements have no types in YAML, and no node type has one of it";

/// Elements with content of other namespaces, which is converted where the element is.
const HOLDERS: [&str; 8] = [
    "Properties",
    "PlanModel",
    "Precondition",
    "Types",
    "Policy",
    "ImplementationArtifact",
    "DeploymentArtifact",
    "documentation",
];

/// The content of other namespaces in a component.
#[derive(Default)]
struct ForeignContent<'d> {
    /// The number of elements and attributes of each namespace, and the place of the first.
    found: BTreeMap<&'d str, (usize, Span)>,
}

impl<'d> YamlConverter<'_, 'd> {
    /// Reports everything that was not converted.
    pub(super) fn sweep(&mut self) {
        let table = MappingTable::new();
        for id in self.scope.converted.clone() {
            let element = self.library.component(id).element;
            if self.is_unused(id) {
                let why = match self.library.component(id).kind {
                    ComponentKind::RequirementType => UNASKED,
                    _ => UNUSED,
                };
                self.lose(element, "", self.called(id), why, LossKind::Lost);
            } else if !self.is_elsewhere(id) {
                self.sweep_component(element, &table);
            }
        }
        for id in self.scope.other_services.clone() {
            let construct = self.called(id);
            let element = self.library.component(id).element;
            let why = "another service template was chosen";
            self.lose(element, "", construct, why, LossKind::Lost);
        }
        for (_, id) in self.library.repeated.clone() {
            let element = self.library.component(id).element;
            let construct = format!("the second {}", self.called(id));
            let why = "the first of its name is taken";
            if !self.scope.is_part {
                self.lose(element, "", construct, why, LossKind::Lost);
            }
        }
        let library = self.library;
        for document in self.scope.documents(library).collect::<Vec<_>>() {
            let file = library.documents[document].file;
            let all = library.loaded.documents.iter();
            for document in all.filter(|document| document.file() == file) {
                self.sweep_document(document, &table);
            }
        }
        self.sweep_schema_files();
    }

    /// Reports the losses of schema files that are used in part; if all components are converted,
    /// those of unused files as well.
    fn sweep_schema_files(&mut self) {
        let used = self.used_elements();
        for (document, _) in &self.library.loaded.schemas {
            let (root, file) = (document.root(), document.file());
            let mut types = self.data_types.keys().map(|id| self.schemas.set.defined_span(*id));
            let is_used = used.iter().copied().chain(types.by_ref()).any(|at| at.file == file);
            if is_used {
                self.sweep_schema(root);
                self.comments(document, "schema");
            } else if !self.scope.is_part {
                self.lose(root, "", "a schema", UNUSED, LossKind::Lost);
            }
        }
    }

    /// Whether the name of a document is recorded in the metadata of its own output file.
    pub(super) fn is_named(&self, document: usize) -> bool {
        let library = self.library;
        let service = self.scope.service.map(|id| library.document(id));
        if self.is_single || Some(document) == service {
            return service.or_else(|| self.scope.documents(library).next()) == Some(document);
        }
        let uri = &library.documents[document].target_namespace;
        let space = self.names.spaces.iter().position(|space| space.uri == **uri);
        let is_written =
            space.is_some_and(|space| self.sections.contains_key(&FileKey::Types(space)));
        let mut alike = self
            .scope
            .documents(library)
            .filter(|at| library.documents[*at].target_namespace == *uri && Some(*at) != service);
        is_written && alike.next() == Some(document)
    }

    /// A component in messages.
    pub(super) fn called(&self, id: ComponentId) -> String {
        format!("{} `{}`", self.library.component(id).kind.what(), self.text_name(id))
    }

    /// Whether a component was not used in the conversion.
    fn is_unused(&self, id: ComponentId) -> bool {
        let is_used_up = matches!(
            self.library.component(id).kind,
            ComponentKind::ArtifactTemplate
                | ComponentKind::PolicyTemplate
                | ComponentKind::RequirementType
                | ComponentKind::NodeTypeImplementation
                | ComponentKind::RelationshipTypeImplementation
        );
        is_used_up && !self.chosen.used.contains(&id)
    }

    /// Whether the type has a counterpart; its losses have been reported.
    fn is_elsewhere(&self, id: ComponentId) -> bool {
        self.names.get(id).is_some() && self.names.file_of(id).is_none()
    }

    fn sweep_component(&mut self, element: XmlElement<'d>, table: &MappingTable) {
        let mut foreign = ForeignContent::default();
        let mut open = vec![element];
        while let Some(element) = open.pop() {
            self.attributes(element, table, &mut foreign);
            self.children(element, table, &mut foreign, &mut open);
        }
        self.told(element, foreign);
    }

    /// Reports content of other namespaces in a component.
    fn told(&mut self, element: XmlElement<'d>, foreign: ForeignContent<'d>) {
        for (namespace, (count, span)) in foreign.found {
            let construct = match count {
                1 => format!("content of {namespace} (1 attribute or element)"),
                _ => format!("content of {namespace} ({count} attributes and elements)"),
            };
            self.losses.push(Loss {
                path: place::path_of(element),
                span: Some(span),
                construct,
                why: FOREIGN.to_owned(),
                kind: LossKind::Lost,
            });
        }
    }

    fn attributes(
        &mut self,
        element: XmlElement<'d>,
        table: &MappingTable,
        foreign: &mut ForeignContent<'d>,
    ) {
        let around = element.name().local;
        for attribute in element.attributes() {
            let name = attribute.name();
            if !name.namespace.is_empty() {
                foreign.add(name.namespace, attribute.span());
                continue;
            }
            let why = match table.attribute(around, name.local) {
                Some(MappingFate::As(_) | MappingFate::Told) => continue,
                Some(MappingFate::Lost(why)) => why,
                None => UNKNOWN,
            };
            if says_what_counts_anyway(attribute) {
                continue;
            }
            let construct = format!("`{}` of `{around}`", name.local);
            self.losses.push(Loss {
                path: format!("{}/@{}", place::path_of(element), name.local),
                span: Some(attribute.span()),
                construct,
                why: why.to_owned(),
                kind: LossKind::Lost,
            });
        }
    }

    fn children(
        &mut self,
        element: XmlElement<'d>,
        table: &MappingTable,
        foreign: &mut ForeignContent<'d>,
        open: &mut Vec<XmlElement<'d>>,
    ) {
        let around = element.name().local;
        let mut is_described = !has_description(element);
        let mut tags = BTreeSet::new();
        for child in element.elements() {
            let name = child.name();
            if name.namespace != TOSCA {
                let is_keys = name.namespace == WINERY && name.local == "PropertiesDefinition";
                if is_keys && around == "RequirementType" {
                    let why = "requirements of YAML have no properties";
                    self.lose(child, "", "`PropertiesDefinition`", why, LossKind::Lost);
                } else if is_keys {
                    self.sweep_keys(child);
                } else if !HOLDERS.contains(&around) {
                    foreign.add(name.namespace, child.span());
                }
                continue;
            }
            if name.local == "Tag" && !tags.insert(place::attribute(child, "name")) {
                let construct = "another `Tag` of one name";
                self.lose(child, "", construct, "metadata have each name once", LossKind::Lost);
                continue;
            }
            if name.local == "documentation" {
                self.documentation(child, is_described);
                is_described = true;
                continue;
            }
            let why = match table.element(around, name.local) {
                Some(MappingFate::As(_) | MappingFate::Told) => {
                    open.push(child);
                    continue;
                }
                Some(MappingFate::Lost(why)) => why,
                None => UNKNOWN,
            };
            let identity = place::identity(child).map(|name| format!(" `{name}`"));
            let construct = format!("`{}`{}", name.local, identity.unwrap_or_default());
            self.lose(child, "", construct, why, LossKind::Lost);
        }
    }

    /// Reports Winery-style keys other than names, types and defaults.
    fn sweep_keys(&mut self, keys: XmlElement<'d>) {
        const KNOWN: [&str; 4] = ["key", "type", "defaultValue", "required"];
        for part in keys.elements().flat_map(XmlElement::elements) {
            let name = part.name().local;
            let text = part.text();
            if !KNOWN.contains(&name) {
                self.lose(part, "", format!("`{name}` of a key"), UNKNOWN, LossKind::Lost);
            } else if name == "type" && !is_built_in(text.trim()) {
                let construct = format!("the type `{}` of a key", text.trim());
                self.lose(part, "", construct, "values of unknown types are texts", LossKind::Lost);
            }
        }
    }

    /// Reports documentation that does not become a description; only the first element does.
    fn documentation(&mut self, element: XmlElement<'d>, is_described: bool) {
        let mut lose = |below: &str, what: &str, why: &str| {
            self.lose(element, below, what, why, LossKind::Lost);
        };
        if is_described {
            return lose(
                "",
                "`documentation`",
                "YAML allows one description, and not for every element",
            );
        }
        for attribute in element.attributes() {
            let (name, what) = (attribute.name().local, attribute.written_name());
            let why = "a description is a text";
            lose(&format!("@{name}"), &format!("`{what}` of `documentation`"), why);
        }
        if element.elements().next().is_some() {
            lose("", "markup in `documentation`", "a description is a text");
        }
    }

    /// Reports elements of a document that are not components, and losses outside of components.
    fn sweep_document(&mut self, document: &'d XmlDocument, table: &MappingTable) {
        let root = document.root();
        let mut foreign = ForeignContent::default();
        self.attributes(root, table, &mut foreign);
        for child in root.elements() {
            let name = child.name();
            match (name.namespace, name.local) {
                (TOSCA, "documentation") => self.documentation(child, true),
                (TOSCA, "Extensions") if declares_kept(child) => {}
                (TOSCA, "Extensions") => {
                    let why = "nothing can be declared that others need not understand";
                    self.lose(child, "", "`Extensions`", why, LossKind::Lost);
                }
                (TOSCA, "Types") => self.sweep_types(child),
                (TOSCA, _) => {}
                (namespace, _) => foreign.add(namespace, child.span()),
            }
        }
        self.told(root, foreign);
        self.comments(document, "Definitions");
    }

    /// Reports comments and processing instructions of a document.
    fn comments(&mut self, document: &'d XmlDocument, path: &str) {
        let (count, first) = comments(document, &self.fragments);
        if let Some(first) = first {
            let construct = match count {
                1 => "the text of a comment or processing instruction".to_owned(),
                _ => format!("the text of {count} comments and processing instructions"),
            };
            self.losses.push(Loss {
                path: path.to_owned(),
                span: Some(first),
                construct,
                why: "they stand in elements that YAML does not have".to_owned(),
                kind: LossKind::Lost,
            });
        }
    }

    /// Reports the contents of `Types` that are not schemas.
    fn sweep_types(&mut self, types: XmlElement<'d>) {
        for child in types.elements() {
            if child.name().namespace == XML_SCHEMA {
                self.sweep_schema(child);
            } else {
                let construct = format!("`{}`", child.name().local);
                self.lose(child, "", construct, UNKNOWN, LossKind::Lost);
            }
        }
    }
}

impl<'d> YamlConverter<'_, 'd> {
    /// Reports the parts of a schema that properties do not use.
    fn sweep_schema(&mut self, schema: XmlElement<'d>) {
        let used = self.used_elements();
        let data_types = self.data_types.keys().map(|id| self.schemas.set.defined_span(*id));
        let data_types: FxHashSet<Span> = data_types.collect();
        for part in schema.elements() {
            let name = place::attribute(part, "name").unwrap_or_default();
            let is_type = matches!(part.name().local, "complexType" | "simpleType");
            let is_element = part.name().local == "element";
            if is_element && !used.contains(&part.span()) {
                let construct = format!("the element `{name}`");
                self.lose(
                    part,
                    "",
                    construct,
                    "no type uses it for its properties",
                    LossKind::Lost,
                );
            } else if is_type && !data_types.contains(&part.span()) {
                let construct = format!("that the type `{name}` has a name");
                let why = "its content is written where the type is used";
                self.lose(part, "", construct, why, LossKind::Lost);
            }
        }
        let mut open = vec![schema];
        while let Some(element) = open.pop() {
            for name in ["default", "fixed"] {
                if let Some(value) = place::attribute(element, name) {
                    let construct = format!("`{name}` `{value}`");
                    let why = "a default of YAML does not mean the same for a missing value";
                    self.lose(element, &format!("@{name}"), construct, why, LossKind::Lost);
                }
            }
            for child in element.elements() {
                let local = child.name().local;
                match local {
                    _ if child.name().namespace != XML_SCHEMA => {}
                    "annotation" | "totalDigits" | "fractionDigits" | "whiteSpace" => {
                        let why = "properties of YAML have no counterpart of it";
                        self.lose(child, "", format!("`{local}`"), why, LossKind::Lost);
                    }
                    _ => open.push(child),
                }
            }
        }
    }

    /// The places of the schema elements that define properties.
    fn used_elements(&self) -> BTreeSet<Span> {
        let own = self.scope.converted.iter().map(|id| self.schemas.own(*id));
        let expected =
            own.flat_map(|own| [own.defined, own.keyed.map(ExpectedProperties::Element)]);
        let elements = expected.flatten().filter_map(|expected| match expected {
            ExpectedProperties::Element(id) => Some(self.schemas.set.declared(id).span),
            ExpectedProperties::Type(_) | ExpectedProperties::Unknown => None,
        });
        elements.collect()
    }
}

impl<'d> ForeignContent<'d> {
    fn add(&mut self, namespace: &'d str, span: Span) {
        if namespace == EXTENSION {
            return;
        }
        let found = self.found.entry(namespace).or_insert((0, span));
        found.0 += 1;
        if span.start < found.1.start {
            found.1 = span;
        }
    }
}

/// Whether the type of a key is one of XML Schema, whatever its prefix.
fn is_built_in(name: &str) -> bool {
    BuiltInType::named(name.rsplit(':').next().unwrap_or(name)).is_some()
}

/// Whether the documentation of an element becomes a description.
fn has_description(element: XmlElement<'_>) -> bool {
    const DESCRIBED: [&str; 11] = [
        "ServiceTemplate",
        "NodeType",
        "RelationshipType",
        "CapabilityType",
        "ArtifactType",
        "PolicyType",
        "NodeTemplate",
        "RelationshipTemplate",
        "Policy",
        "ImplementationArtifact",
        "Plan",
    ];
    let name = element.name().local;
    DESCRIBED.contains(&name) || name == "DeploymentArtifact"
}

/// Whether an attribute states its default.
fn says_what_counts_anyway(attribute: XmlAttribute<'_>) -> bool {
    match attribute.name().local {
        "abstract" | "final" => attribute.collapsed() == "no",
        "required" => attribute.collapsed() == "yes",
        _ => false,
    }
}

/// The number of comments and processing instructions outside of the fragments, and the place of
/// the first.
fn comments(document: &XmlDocument, fragments: &FxHashSet<Span>) -> (usize, Option<Span>) {
    let (mut count, mut first) = (0, None::<Span>);
    let mut open: Vec<_> = document.nodes().collect();
    while let Some(node) = open.pop() {
        match node {
            XmlNode::Element(element) if fragments.contains(&element.whole_span()) => {}
            XmlNode::Element(element) => open.extend(element.nodes()),
            XmlNode::Comment(_, span) | XmlNode::Instruction(_, span) => {
                count += 1;
                if first.is_none_or(|first| span.start < first.start) {
                    first = Some(span);
                }
            }
            XmlNode::Text(..) | XmlNode::Unescaped(..) => {}
        }
    }
    (count, first)
}
