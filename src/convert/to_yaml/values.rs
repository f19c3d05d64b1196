//! Converts the properties of templates to values.

use super::super::fragment;
use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::super::well_known::XML_PROPERTY;
use super::names::{FileKey, as_name, unique};
use super::schema::{SchemaOwner, typed};
use super::{YamlConverter, parts, place};
use crate::tosca::v1_0::definitions::{ComponentContent, DefinedService, EntityTemplate};
use crate::tosca::v1_0::{ComponentId, TOSCA};
use crate::tosca::xml_schema::{SchemaValueType, ValuePart, ValueShape};
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// The prefix of a text that represents the value of an input.
const GET_INPUT: &str = "get_input:";

/// The namespace of the XML Schema attributes in documents.
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// A template whose properties are converted.
#[derive(Clone, Copy)]
pub(super) struct PropertyHolder<'h, 'd> {
    pub type_id: ComponentId,
    /// The element that contains, or would contain, the properties.
    pub element: XmlElement<'d>,
    /// The properties element, if there is one.
    pub root: Option<XmlElement<'d>>,
    /// The prefix of names of inputs; `None` if no inputs are possible.
    pub input: Option<&'h str>,
    /// The id by which property mappings refer to the template.
    pub object: Option<&'h str>,
    /// The path from the element to the one that would contain `Properties`.
    pub below: &'h str,
}

/// The elements of a properties element, by the properties whose values they are.
pub(super) struct PropertyElements<'d> {
    root: XmlElement<'d>,
    /// The elements with their names and namespaces, by these; those of one name stay in order.
    sorted: Vec<((&'d str, &'d str), XmlElement<'d>)>,
}

impl<'d> PropertyElements<'d> {
    fn of(root: XmlElement<'d>) -> Self {
        let named = root.elements().map(|child| {
            let name = child.name();
            ((name.local, name.namespace), child)
        });
        let mut sorted: Vec<_> = named.collect();
        sorted.sort_by_key(|(name, _)| *name);
        Self { root, sorted }
    }

    /// The values of a part that is no attribute.
    fn of_part(&self, part: &ValuePart<'_>) -> impl Iterator<Item = XmlElement<'d>> {
        let wanted = (part.name, part.namespace);
        let start = self.sorted.partition_point(|(name, _)| *name < wanted);
        let rest = self.sorted.get(start..).unwrap_or_default().iter();
        rest.take_while(move |(name, _)| *name == wanted).map(|(_, element)| *element)
    }

    /// The text of a part.
    pub(super) fn text(&self, part: &ValuePart<'_>) -> Option<String> {
        if part.is_attribute {
            return place::written(self.root, part.name);
        }
        self.of_part(part).next().map(|child| child.text().into_owned())
    }
}

/// A property whose value is requested.
pub(super) struct AskedValue<'a> {
    pub part: ValuePart<'a>,
    owner: ComponentId,
    /// The name of the input for the value.
    input: Option<String>,
}

impl<'d> YamlConverter<'_, 'd> {
    /// Finds the types without a schema whose templates have properties anyway.
    pub(super) fn find_fragments(&mut self, id: ComponentId, service: &DefinedService<'d>) {
        use crate::tosca::v1_0::definitions::ComponentKind::{
            ArtifactTemplate, ArtifactType, CapabilityType, NodeType, PolicyTemplate, PolicyType,
            RelationshipType,
        };
        let mut all: Vec<(_, _, &EntityTemplate<'d>)> = Vec::new();
        for node in &service.nodes {
            all.push((NodeType, id, &node.template));
            all.extend(node.capabilities.iter().map(|it| (CapabilityType, id, &it.template)));
        }
        all.extend(service.relationships.iter().map(|it| (RelationshipType, id, &it.template)));
        let library = self.library;
        for &of in &self.scope.converted {
            let component = library.component(of);
            let kind = match component.kind {
                ArtifactTemplate => ArtifactType,
                PolicyTemplate => PolicyType,
                _ => continue,
            };
            if let ComponentContent::Template(template) = &component.content {
                all.push((kind, of, template));
            }
        }
        for (kind, from, template) in all {
            let found = self.find(kind, from, template.type_name.as_ref());
            let Some(found) = found.filter(|_| template.properties.is_some()) else { continue };
            let says = |id| {
                let own = self.schemas.own(id);
                own.defined.is_some() || own.keyed.is_some()
            };
            if !library.ancestry(found).any(says) {
                self.with_fragments.insert(found);
            }
        }
    }

    /// An element with all its contents as a text of its own.
    pub(super) fn fragment(&mut self, element: XmlElement<'d>) -> String {
        self.fragments.insert(element.whole_span());
        fragment::to_text(element, self.library.loaded.sources.snippet(element.whole_span()))
    }

    /// The properties of a template.
    pub(super) fn properties(&mut self, holder: PropertyHolder<'_, 'd>) -> YamlMap {
        let schemas = self.schemas;
        let expected = schemas.expected(self.library, holder.type_id);
        let shape = schemas.set.shape(schemas.value_type(expected));
        let mut properties = YamlMap::default();
        match shape {
            ValueShape::Parts(parts) => {
                self.tell_empty(holder);
                let names = self.names_of_parts(holder.type_id, &parts);
                self.parts((&parts, &names), holder, &mut properties);
                self.inherited(&parts, holder, &mut properties);
            }
            ValueShape::Opaque | ValueShape::Text(..) => {
                if let Some(root) = holder.root {
                    properties.put(XML_PROPERTY, self.fragment(root));
                    self.lose(
                        root,
                        "",
                        format!("`{}`", root.name().local),
                        "no schema says which properties these are",
                        LossKind::Opaque,
                    );
                }
            }
        }
        self.needed(holder, &mut properties);
        properties
    }

    /// Supplies values of properties that the type has in YAML alone.
    fn needed(&mut self, holder: PropertyHolder<'_, 'd>, values: &mut YamlMap) {
        let Some(input) = holder.input else { return };
        for (name, type_name) in self.added.needed(holder.type_id).to_vec() {
            if values.has(name) {
                continue;
            }
            let is_taken = |name: &str| self.inputs.has(name) || self.reserved.contains(name);
            let input = unique(&as_name(&format!("{input}_{name}")), is_taken);
            self.inputs.put(&input, YamlMap::default().with("type", type_name));
            let why = format!("the type has it in YAML, and the input `{input}` gives its value");
            let below = format!("{}Properties/{name}", holder.below);
            let construct = format!("a value of `{name}`");
            self.lose(holder.element, &below, construct, why, LossKind::Supplied);
            values.put(name, YamlMap::default().with("get_input", input));
        }
    }

    /// The values of the parts of an element, by name.
    fn parts(
        &mut self,
        (parts, names): (&[ValuePart<'_>], &[Cow<'_, str>]),
        holder: PropertyHolder<'_, 'd>,
        values: &mut YamlMap,
    ) {
        let root = holder.root.map(PropertyElements::of);
        for (part, name) in parts.iter().zip(names) {
            let asked = asked(*part, holder);
            let value = match (self.shown.target(holder.object, part), &root) {
                (Some(shown), root) => self.value_shown(&shown, &asked, holder, root.as_ref()),
                (None, Some(root)) => self.part_value(&asked, root),
                (None, None) => None,
            };
            match value {
                Some(value) => values.put(name, value),
                None if part.is_required => {
                    if let Some(value) = self.supplied(&asked, holder) {
                        values.put(name, value);
                    }
                }
                None => {}
            }
        }
        if let Some(root) = holder.root {
            self.rest(root, parts);
        }
    }

    /// Reports an element of properties that has none.
    fn tell_empty(&mut self, holder: PropertyHolder<'_, 'd>) {
        let is_empty = |it: &XmlElement<'d>| {
            it.elements().next().is_none() && it.attributes().next().is_none()
        };
        if let Some(root) = holder.root.filter(is_empty) {
            let construct = format!("`{}` without properties", root.name().local);
            self.lose(root, "", construct, "YAML has only properties with values", LossKind::Lost);
        }
    }

    /// Supplies values of properties that only an ancestor of the type defines.
    fn inherited(
        &mut self,
        known: &[ValuePart<'_>],
        holder: PropertyHolder<'_, 'd>,
        values: &mut YamlMap,
    ) {
        let known: FxHashSet<&str> = known.iter().map(|part| part.name).collect();
        let mut inherited = self.inherited_parts(holder.type_id);
        inherited.retain(|part| part.is_required && !known.contains(part.name));
        for part in inherited {
            let asked = asked(part, holder);
            if let Some(value) = self.supplied(&asked, holder) {
                let name = self.part_name(holder.type_id, &asked.part).into_owned();
                values.put(&name, value);
            }
        }
    }

    /// The value of a part; `None` if it is missing.
    pub(super) fn part_value(
        &mut self,
        asked: &AskedValue<'_>,
        root: &PropertyElements<'d>,
    ) -> Option<Value> {
        let part = &asked.part;
        if part.is_attribute {
            let text = root.root.attribute(part.name)?.value();
            return Some(self.text_value(&text, asked));
        }
        let mut all = root.of_part(part);
        if part.repeats {
            let items: Vec<_> = all.map(|element| self.element_value(element, asked)).collect();
            return (!items.is_empty()).then(|| items.into());
        }
        Some(self.element_value(all.next()?, asked))
    }

    pub(super) fn element_value(
        &mut self,
        element: XmlElement<'d>,
        asked: &AskedValue<'_>,
    ) -> Value {
        let schemas = self.schemas;
        match schemas.set.shape(asked.part.of) {
            ValueShape::Parts(parts) => {
                let mut values = YamlMap::default();
                let holder = PropertyHolder {
                    type_id: asked.owner,
                    element,
                    root: Some(element),
                    input: asked.input.as_deref(),
                    object: None,
                    below: "",
                };
                let names = parts::names_inside(&schemas.set, &parts);
                self.parts((&parts, &names), holder, &mut values);
                values.into()
            }
            ValueShape::Opaque if asked.part.of != SchemaValueType::Unknown => {
                self.lose(
                    element,
                    "",
                    format!("`{}`", asked.part.name),
                    "its schema is not one of elements with values",
                    LossKind::Opaque,
                );
                self.fragment(element).into()
            }
            ValueShape::Opaque | ValueShape::Text(..) => {
                for attribute in element.attributes() {
                    let name = attribute.name().local;
                    self.lose(
                        element,
                        &format!("@{name}"),
                        format!("`{name}` of `{}`", element.name().local),
                        "values have no attributes",
                        LossKind::Lost,
                    );
                }
                self.text_value(&element.text(), asked)
            }
        }
    }

    /// The value that a text represents, or a reference to the input that it names.
    pub(super) fn text_value(&mut self, text: &str, asked: &AskedValue<'_>) -> Value {
        if let Some(name) = named_input(text).filter(|_| asked.input.is_some()) {
            self.input(name, asked);
            return YamlMap::default().with("get_input", name).into();
        }
        match self.schemas.set.shape(asked.part.of) {
            ValueShape::Text(known, _) => typed(text, known.name),
            ValueShape::Opaque | ValueShape::Parts(_) => text.into(),
        }
    }

    /// A reference to a new input, for a required value that the document omits.
    pub(super) fn supplied(
        &mut self,
        asked: &AskedValue<'_>,
        holder: PropertyHolder<'_, 'd>,
    ) -> Option<Value> {
        let wanted = asked.input.as_deref()?;
        let is_taken = |name: &str| self.inputs.has(name) || self.reserved.contains(name);
        let name = unique(&as_name(wanted), is_taken);
        self.input(&name, asked);
        let (below, name_of) = match holder.root {
            Some(_) => (asked.part.name.to_owned(), asked.part.name),
            None => (format!("{}Properties/{}", holder.below, asked.part.name), asked.part.name),
        };
        self.lose(
            holder.root.unwrap_or(holder.element),
            &below,
            format!("a value of `{name_of}`"),
            format!(
                "it may be given later in XML (section 5.2), and by the input `{name}` in YAML"
            ),
            LossKind::Supplied,
        );
        Some(YamlMap::default().with("get_input", name).into())
    }

    /// Declares an input for values of a part.
    fn input(&mut self, name: &str, asked: &AskedValue<'_>) {
        if self.inputs.has(name) {
            return;
        }
        let declared = self.input_definition(name, asked);
        self.inputs.put(name, declared);
    }

    /// The definition of an input for values of a part.
    pub(super) fn input_definition(&mut self, name: &str, asked: &AskedValue<'_>) -> YamlMap {
        let owner = SchemaOwner { component: asked.owner, file: FileKey::Service, name };
        let (schema, _) = self.value_schema(asked.part.of, asked.part.name, owner);
        let mut declared = YamlMap::default();
        match asked.part.repeats {
            true => declared = declared.with("type", "list").with("entry_schema", schema),
            false => declared.put_some("type", schema.get("type").cloned()),
        }
        declared
    }

    /// The names of inputs that texts refer to; they are reserved.
    pub(super) fn named_inputs(&self, service: &DefinedService<'d>) -> FxHashSet<String> {
        let nodes = service.nodes.iter().map(|node| &node.template);
        let capabilities = service.nodes.iter().flat_map(|node| &node.capabilities);
        let all = nodes.chain(capabilities.map(|it| &it.template));
        let all = all.chain(service.relationships.iter().map(|it| &it.template));
        let mut open: Vec<_> = all.filter_map(|template| template.properties).collect();
        let mut named = FxHashSet::default();
        while let Some(element) = open.pop() {
            open.extend(element.elements());
            let text = element.text();
            let attributes = element.attributes().map(|attribute| attribute.value());
            for text in attributes.chain([text]) {
                named.extend(named_input(&text).map(str::to_owned));
            }
        }
        named
    }

    /// Reports the contents of an element beside its known parts.
    fn rest(&mut self, root: XmlElement<'d>, parts: &[ValuePart<'_>]) {
        let known = parts.iter().map(|part| (part.name, part.namespace, part.is_attribute));
        let known: FxHashSet<(&str, &str, bool)> = known.collect();
        for attribute in root.attributes() {
            let name = attribute.name();
            let why = match name.namespace {
                INSTANCE => "values in YAML do not name their own type",
                _ => "nothing is known of it",
            };
            if !known.contains(&(name.local, name.namespace, true)) {
                let (below, construct) = (format!("@{}", name.local), format!("`{}`", name.local));
                self.lose(root, &below, construct, why, LossKind::Lost);
            }
        }
        for child in root.elements() {
            let name = child.name();
            if name.namespace != TOSCA && !known.contains(&(name.local, name.namespace, false)) {
                let construct = format!("`{}`", name.local);
                self.lose(child, "", construct, "nothing is known of it", LossKind::Lost);
            }
        }
    }
}

/// A property whose value a template has or needs.
fn asked<'a>(part: ValuePart<'a>, holder: PropertyHolder<'_, '_>) -> AskedValue<'a> {
    let input = holder.input.map(|input| format!("{input}_{}", as_name(part.name)));
    AskedValue { part, owner: holder.type_id, input }
}

/// The name of the input that a text refers to.
pub(super) fn named_input(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix(GET_INPUT)?.trim();
    (!name.is_empty()).then_some(name)
}
