//! Converts property definitions and data types to XML Schema.

use super::names::{QualifiedName, SCHEMA_PREFIX, as_name, unique};
use super::part::XmlPart;
use super::said::{SaidMap, SaidValue, entries};
use super::{XmlConverter, construct_of};
use crate::convert::loss::LossKind;
use crate::convert::well_known::{self, XML_NAME, XML_PROPERTY, XML_TYPE};
use crate::tosca::v1_0::WINERY;
use crate::tosca::value::Schema;
use crate::tosca::xml_schema::{BuiltInType, XML_SCHEMA};
use crate::tosca::{Family, PropertyDefinition, TypeId, TypeRef, profile};
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The root of data types with properties.
const DATA_ROOT: &str = "tosca.datatypes.Root";

/// The schemas of a document.
#[derive(Debug, Default)]
pub(super) struct DefinedSchemas {
    /// The contents of the schema of each namespace, and the namespaces that it refers to.
    spaces: BTreeMap<String, SchemaSpace>,
    taken: FxHashSet<QualifiedName>,
    taken_elements: FxHashSet<QualifiedName>,
    /// The element that holds the properties of a type; `None` if the type defines none itself.
    elements: FxHashMap<TypeId, Option<PropertiesElement>>,
    /// The definitions of properties by keys of Winery, beside a schema or alone.
    keys: FxHashMap<TypeId, XmlPart>,
    /// The schema types of data types.
    data: FxHashMap<TypeId, QualifiedName>,
    /// The fields of properties, by the type that first defines them.
    fields: FxHashMap<(TypeId, String), DefinedField>,
    /// Types whose properties are extended by those of other types; computed on demand.
    extended: Option<FxHashSet<TypeId>>,
}

/// The element or attribute that a property is converted to.
#[derive(Clone, Debug)]
pub(super) struct DefinedField {
    /// The name of the elements or of the attribute.
    pub name: String,
    pub is_attribute: bool,
    /// The built-in type of the values, if it is narrower than the usual one.
    pub built_in: Option<&'static BuiltInType>,
}

#[derive(Debug, Default)]
struct SchemaSpace {
    parts: Vec<XmlPart>,
    named: BTreeSet<String>,
}

/// The element that holds the properties of a type, and its complex type, which has a name if other
/// types extend it.
#[derive(Clone, Debug)]
pub(super) struct PropertiesElement {
    pub name: QualifiedName,
    of: Option<QualifiedName>,
    /// Whether keys of Winery alone define the properties.
    pub is_keyed: bool,
}

/// The form in which values are written.
#[derive(Clone, Debug)]
pub(super) enum ValueForm {
    /// A text, with its built-in type if that is narrower than the usual one.
    Text(TextForm, Option<&'static BuiltInType>),
    /// A list, with an element for each item.
    List(Box<ValueForm>),
    /// A data type, with an element for each property.
    Parts(TypeId),
    /// A text that contains YAML.
    Flow,
}

impl ValueForm {
    /// The form with a narrower built-in type for its values, or for the items of lists.
    pub(super) fn narrowed(self, to: Option<&'static BuiltInType>) -> Self {
        match self {
            Self::Text(text, _) => Self::Text(text, to),
            Self::List(items) => Self::List(Box::new(items.narrowed(to))),
            other => other,
        }
    }
}

/// The type of a text value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    String,
    Integer,
    Float,
    Boolean,
    Timestamp,
}

impl TextForm {
    fn of(primitive: &str) -> Option<Self> {
        Some(match primitive {
            "string" => Self::String,
            "integer" => Self::Integer,
            "float" => Self::Float,
            "boolean" => Self::Boolean,
            "timestamp" => Self::Timestamp,
            _ => return None,
        })
    }

    /// The name of the type in XML Schema.
    fn schema(self) -> &'static str {
        match self {
            Self::String => "xs:string",
            Self::Integer => "xs:integer",
            Self::Float => "xs:double",
            Self::Boolean => "xs:boolean",
            Self::Timestamp => "xs:dateTime",
        }
    }
}

/// The form of values together with its schema type.
struct WrittenForm {
    form: ValueForm,
    /// The name of the type in XML Schema.
    type_name: String,
    /// Whether the type of YAML has no equivalent in XML Schema and is kept beside it.
    kept: bool,
}

impl WrittenForm {
    fn text(form: TextForm) -> Self {
        Self { form: ValueForm::Text(form, None), type_name: form.schema().to_owned(), kept: false }
    }

    fn flow() -> Self {
        Self { form: ValueForm::Flow, type_name: "xs:string".to_owned(), kept: true }
    }
}

impl DefinedSchemas {
    /// All schemas, one for each namespace.
    pub(super) fn take(&mut self) -> Vec<XmlPart> {
        let spaces = std::mem::take(&mut self.spaces);
        let spaces = spaces.into_iter().filter(|(_, space)| !space.parts.is_empty());
        let schemas = spaces.map(|(namespace, space)| {
            let mut schema = XmlPart::new("xs:schema")
                .with("elementFormDefault", "qualified")
                .with("targetNamespace", &*namespace);
            for other in space.named.iter().filter(|other| **other != namespace) {
                schema.push(XmlPart::new("xs:import").with("namespace", &**other));
            }
            space.parts.into_iter().for_each(|part| schema.push(part));
            schema
        });
        schemas.collect()
    }

    fn free(&mut self, namespace: &str, wanted: &str) -> QualifiedName {
        let name = |local: &str| QualifiedName {
            namespace: namespace.to_owned(),
            local: local.to_owned(),
        };
        let free = name(&unique(&as_name(wanted), |local| self.taken.contains(&name(local))));
        self.taken.insert(free.clone());
        free
    }

    /// A free element name: the wanted one, or a similar one.
    fn free_element(&mut self, wanted: QualifiedName) -> QualifiedName {
        let name = |local: &str| QualifiedName { local: local.to_owned(), ..wanted.clone() };
        let free = name(&unique(&wanted.local, |local| self.taken_elements.contains(&name(local))));
        self.taken_elements.insert(free.clone());
        free
    }

    fn add(&mut self, namespace: &str, part: XmlPart) {
        self.spaces.entry(namespace.to_owned()).or_default().parts.push(part);
    }

    /// The definition of a type's properties by keys of Winery.
    pub(super) fn keys(&mut self, id: TypeId) -> Option<XmlPart> {
        self.keys.remove(&id)
    }

    /// The namespace of the elements for the properties that a type itself defines.
    pub(super) fn space(&self, id: TypeId) -> Option<&str> {
        self.elements.get(&id)?.as_ref().map(|element| &*element.name.namespace)
    }

    /// The field of a property, as defined by its owner.
    pub(super) fn field(&self, owner: TypeId, name: &str) -> DefinedField {
        let known = self.fields.get(&(owner, name.to_owned()));
        known.cloned().unwrap_or_else(|| DefinedField {
            name: as_name(name),
            is_attribute: false,
            built_in: None,
        })
    }
}

impl<'t> XmlConverter<'_, 't> {
    /// The element that holds the properties of templates of a type, defined by the type or the
    /// nearest ancestor that has one.
    pub(super) fn properties_element(&mut self, id: TypeId) -> Option<PropertiesElement> {
        let chain: Vec<_> = self.variant.types.chain(id).collect();
        let mut inherited = None;
        for &id in chain.iter().rev() {
            let own = match self.schemas.elements.get(&id) {
                Some(known) => known.clone(),
                None => {
                    let own = self.quietly(id, |it| it.define_properties(id, inherited.as_ref()));
                    self.schemas.elements.insert(id, own.clone());
                    own
                }
            };
            inherited = own.or(inherited);
        }
        inherited
    }

    /// The element that the type itself defines.
    pub(super) fn own_properties(&mut self, id: TypeId) -> Option<PropertiesElement> {
        self.properties_element(id);
        self.schemas.elements.get(&id).cloned().flatten()
    }

    fn define_properties(
        &mut self,
        id: TypeId,
        inherited: Option<&PropertiesElement>,
    ) -> Option<PropertiesElement> {
        let definition = self.variant.types.definition(id);
        if definition.properties.is_empty() || self.is_added(id) || self.has_fragments(id) {
            return None;
        }
        let type_name = self.type_name(id);
        let said = self.metadata_name(id, "properties_element");
        let keys = self.metadata_name(id, "properties_keys");
        let may_be_keyed = keys.is_some() && said.is_none();
        let wanted = said.or_else(|| keys.clone()).unwrap_or_else(|| type_name.clone());
        let namespace = wanted.namespace.clone();
        let base = inherited.and_then(|it| it.of.clone()).filter(|_| !may_be_keyed);
        let fields = self.fields(id, &namespace, &definition.properties, base.is_some());
        if fields.is_empty() {
            return None;
        }
        let keys = keys.and_then(|name| self.keys(&name, &fields));
        let name = self.schemas.free_element(wanted);
        let is_keyed = may_be_keyed && keys.is_some();
        self.schemas.keys.extend(keys.map(|keys| (id, keys)));
        if is_keyed {
            return Some(PropertiesElement { name, of: None, is_keyed });
        }
        let of = self
            .is_extended(id)
            .then(|| self.schemas.free(&namespace, &format!("{}Properties", type_name.local)));
        let complex = self.complex(&namespace, base.as_ref(), fields);
        let mut element = XmlPart::new("xs:element").with("name", &*name.local);
        match &of {
            Some(of) => {
                self.schemas.add(&namespace, complex.with("name", &*of.local));
                element.set("type", self.prefixes.name(of));
            }
            None => element.push(complex),
        }
        self.schemas.add(&namespace, element);
        Some(PropertiesElement { name, of, is_keyed })
    }

    /// Properties as keys of Winery, if all of them are elements that have nothing but a built-in
    /// type, and perhaps a default.
    fn keys(&mut self, name: &QualifiedName, fields: &[XmlPart]) -> Option<XmlPart> {
        let prefix = self.prefixes.of(WINERY).to_owned();
        let part =
            |name: &str, text: &str| XmlPart::new(format!("{prefix}:{name}")).with_text(text);
        let mut all = XmlPart::new(format!("{prefix}:PropertiesDefinition"))
            .with("elementname", &*name.local)
            .with("namespace", &*name.namespace);
        for field in fields {
            let mut key = XmlPart::new(format!("{prefix}:properties"));
            let (mut is_required, mut default) = (true, None);
            if !field.is("xs:element") || !field.is_empty() {
                return None;
            }
            for (attribute, value) in field.attributes() {
                match attribute {
                    "name" => key.push(part("key", value)),
                    "type" => {
                        let local = value.strip_prefix("xs:")?;
                        key.push(part("type", &format!("xsd:{local}")));
                    }
                    "minOccurs" => is_required = false,
                    "default" => default = Some(part("defaultValue", value)),
                    _ => return None,
                }
            }
            if is_required {
                key.push(part("required", "true"));
            }
            key.push_some(default);
            all.push(key);
        }
        Some(all)
    }

    /// Whether the properties of a type are a fragment of XML without a schema.
    pub(super) fn has_fragments(&mut self, id: TypeId) -> bool {
        let mut parts = self.variant.types.effective(id).properties.iter();
        let (first, second) = (parts.next(), parts.next());
        let is_text_in_xml = |part: &PropertyDefinition<'_>| part.schema.type_name == XML_TYPE;
        second.is_none()
            && first.is_some_and(|(name, part)| {
                *name == XML_PROPERTY && is_text_in_xml(&part.definition)
            })
            && !self.is_extended(id)
    }

    /// Whether another type's properties extend those of a type.
    fn is_extended(&mut self, id: TypeId) -> bool {
        let types = self.variant.types;
        let extended = self.schemas.extended.get_or_insert_with(|| {
            let own = types.ids().filter(|id| !types.definition(*id).properties.is_empty());
            own.flat_map(|id| types.chain(id).skip(1)).collect()
        });
        extended.contains(&id)
    }

    /// A complex type with a sequence of elements, and attributes.
    fn complex(
        &mut self,
        namespace: &str,
        base: Option<&QualifiedName>,
        fields: Vec<XmlPart>,
    ) -> XmlPart {
        let mut sequence = XmlPart::new("xs:sequence");
        let (attributes, elements): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|field| field.is(ATTRIBUTE));
        elements.into_iter().for_each(|field| sequence.push(field));
        let with_all = |part: XmlPart| attributes.into_iter().fold(part, XmlPart::holding);
        let complex = XmlPart::new("xs:complexType");
        let Some(base) = base else { return with_all(complex.holding(sequence)) };
        self.name_schema(namespace, &base.namespace);
        let extension = XmlPart::new("xs:extension").with("base", self.prefixes.name(base));
        complex.holding(
            XmlPart::new("xs:complexContent").holding(with_all(extension.holding(sequence))),
        )
    }

    /// Records that the schema of one namespace refers to another namespace.
    fn name_schema(&mut self, by: &str, namespace: &str) {
        self.prefixes.of(XML_SCHEMA);
        self.prefixes.of(by);
        let space = self.schemas.spaces.entry(by.to_owned()).or_default();
        if namespace != XML_SCHEMA {
            space.named.insert(namespace.to_owned());
        }
    }

    /// The elements for the properties that a type defines. Where they extend those of another type,
    /// a refinement of an inherited property cannot be expressed.
    fn fields(
        &mut self,
        id: TypeId,
        namespace: &str,
        properties: &[PropertyDefinition<'t>],
        extends: bool,
    ) -> Vec<XmlPart> {
        let types = self.variant.types;
        let mut fields = Vec::new();
        let mut taken: FxHashSet<(bool, String)> = FxHashSet::default();
        let inherited = types.parent(id).filter(|_| extends);
        let inherited = inherited.map(|parent| &types.effective(parent).properties);
        let base = self.path_of(id);
        for property in properties {
            let name = property.named.name;
            let path = format!("{base}.properties{}", super::said::step(name));
            let mut said = SaidMap::of_node(path, property.named.key, property.named.value);
            if inherited.is_some_and(|inherited| inherited.contains_key(name)) {
                let value = property.named.value.to_value();
                let said = SaidValue { value, path: said.path, span: said.span };
                let why = "a schema that extends the schema of another type cannot change it";
                self.lose(&said, format!("the refinement of `{name}`"), why);
                continue;
            }
            // An element and an attribute may have one name, and are two properties then.
            let former = taken_metadata(&mut said, XML_NAME);
            let is_attribute = takes_metadata(&mut said.clone(), IS_ATTRIBUTE)
                && matches!(self.form(namespace, &property.schema), ValueForm::Text(..));
            let wanted = former.as_deref().unwrap_or(name);
            let is_taken = |name: &str| taken.contains(&(is_attribute, name.to_owned()));
            let field = unique(&as_name(wanted), is_taken);
            taken.insert((is_attribute, field.clone()));
            let (element, built_in) = self.field(namespace, (wanted, &field), property, said);
            let is_attribute = element.is(ATTRIBUTE);
            let defined = DefinedField { name: field, is_attribute, built_in };
            self.schemas.fields.insert((id, name.to_owned()), defined);
            fields.push(element);
        }
        fields
    }

    /// The element or attribute of a property, and the built-in type of its values if that is
    /// narrower than the usual one.
    fn field(
        &mut self,
        namespace: &str,
        (name, field): (&str, &str),
        property: &PropertyDefinition<'t>,
        mut said: SaidMap,
    ) -> (XmlPart, Option<&'static BuiltInType>) {
        let written = self.written_form(namespace, &property.schema);
        let is_list = matches!(written.form, ValueForm::List(_));
        let is_attribute =
            matches!(written.form, ValueForm::Text(..)) && takes_metadata(&mut said, IS_ATTRIBUTE);
        let mut element = XmlPart::new(if is_attribute { ATTRIBUTE } else { "xs:element" });
        let old = SaidValue { value: name.into(), path: said.path.clone(), span: said.span };
        self.named(&mut element, "name", field, &old);
        if is_list {
            element.set("maxOccurs", "unbounded");
        }
        said.take("required");
        match (property.is_required(), is_attribute) {
            (true, true) => element.set("use", "required"),
            (false, false) => element.set("minOccurs", "0"),
            (true, false) | (false, true) => {}
        }
        if let Some(description) = said.take_text("description") {
            let text = XmlPart::new("xs:documentation").with_text(description);
            element.push(XmlPart::new("xs:annotation").holding(text));
        }
        let kind = said.take("type").filter(|_| written.kept);
        if let Some(kind) = kind {
            let why = "XML Schema has no such type: values are texts";
            self.keep_attribute(&mut element, "v:type", &kind, why);
        }
        let (mut constraints, entry) = ruled(&mut said, is_list);
        if is_list || written.kept {
            // The element itself expresses the entry schema.
            let entry = entry.filter(|it| written.kept || has_more(&it.value));
            if let Some(entry) = entry {
                let why = "XML Schema says no more of items than their type";
                self.keep_attribute(&mut element, "v:entry_schema", &entry, why);
            }
        }
        let built_in = narrower(&written, &mut said, &mut constraints);
        let form = written.form.narrowed(built_in);
        // In XML Schema, a required attribute cannot have a default.
        let may_default = !(is_attribute && property.is_required());
        if let ValueForm::Text(..) | ValueForm::Flow = form
            && may_default
            && let Some(default) = said.take("default")
        {
            match self.text_value(&form, &default.value) {
                Some(text) => element.set("default", text),
                None => {
                    let why = "a schema has defaults of simple types only";
                    self.keep_attribute(&mut element, "v:default", &default, why);
                }
            }
        }
        let items = match &form {
            ValueForm::List(items) => items,
            form => form,
        };
        let facets = self.facets(&mut element, constraints, (!written.kept).then_some(items));
        let type_name = match built_in {
            Some(built_in) => format!("{SCHEMA_PREFIX}:{}", built_in.name),
            None => written.type_name,
        };
        match facets.is_empty() {
            true => element.set("type", type_name),
            false => {
                let mut restriction = XmlPart::new("xs:restriction").with("base", type_name);
                facets.into_iter().for_each(|facet| restriction.push(facet));
                element.push(XmlPart::new("xs:simpleType").holding(restriction));
            }
        }
        self.keep_in_schema(&mut element, said);
        (element, built_in)
    }

    /// Keeps the rest of a definition as an extension of the schema element.
    fn keep_in_schema(&mut self, element: &mut XmlPart, said: SaidMap) {
        let path = said.path.clone();
        let span = said.span;
        let left: Vec<_> = said.rest().collect();
        if left.is_empty() {
            return;
        }
        let kind = self.kind_of_kept();
        for (_, said) in &left {
            self.tell(said, construct_of(&said.path), "XML Schema cannot express it", kind);
        }
        if kind == LossKind::KeptAsExtension {
            let all: Vec<_> = left.into_iter().map(|(key, said)| (key, said.value)).collect();
            let said = SaidValue { value: Value::Map(all.into()), path, span };
            element.set("v:kept", cuvee_text::yaml::write_flow(&said.value));
        }
    }

    /// Constraints as facets; constraints without an equivalent facet are kept.
    fn facets(
        &mut self,
        element: &mut XmlPart,
        said: Option<SaidValue>,
        form: Option<&ValueForm>,
    ) -> Vec<XmlPart> {
        let Some(said) = said else { return Vec::new() };
        let (mut facets, mut left) = (Vec::new(), Vec::new());
        let clauses: &[Value] = if let Value::List(items) = &said.value { items } else { &[] };
        for clause in clauses {
            let made: Option<Vec<_>> =
                entries(clause).map(|(name, value)| self.facet(name, value, form?)).collect();
            match made {
                Some(made) if facets_fit(&facets, made.iter().flatten()) => {
                    facets.extend(made.into_iter().flatten());
                }
                _ => left.push(clause.clone()),
            }
        }
        if !left.is_empty() {
            let said = SaidValue { value: Value::List(left.into()), ..said };
            let why = "XML Schema has no facet for it";
            self.keep_attribute(element, "v:constraints", &said, why);
        }
        facets.into_iter().map(|(_, facet)| facet).collect()
    }

    /// The facets for a constraint clause, each with its name.
    fn facet(
        &mut self,
        name: &str,
        value: &Value,
        form: &ValueForm,
    ) -> Option<Vec<(&'static str, XmlPart)>> {
        let &ValueForm::Text(text, _) = form else { return None };
        let is_ordered = !matches!(text, TextForm::String | TextForm::Boolean);
        let written = |value: &Value| self.text_value(form, value);
        let of = |facet: &'static str, value: String| {
            (facet, XmlPart::new(format!("xs:{facet}")).with("value", value))
        };
        let one = |facet, value: &Value| Some(vec![of(facet, written(value)?)]);
        let length = |facet| match value {
            Value::Number(number) if text == TextForm::String => {
                Some(vec![of(facet, number.as_int()?.to_string())])
            }
            _ => None,
        };
        match name {
            "equal" if text != TextForm::Boolean => one("enumeration", value),
            "greater_than" if is_ordered => one("minExclusive", value),
            "greater_or_equal" if is_ordered => one("minInclusive", value),
            "less_than" if is_ordered => one("maxExclusive", value),
            "less_or_equal" if is_ordered => one("maxInclusive", value),
            "in_range" if is_ordered => {
                let Value::List(bounds) = value else { return None };
                let [low, high] = &**bounds else { return None };
                let is_open = |bound: &Value| bound.as_str() == Some("UNBOUNDED");
                let low = (!is_open(low)).then(|| written(low).map(|it| of("minInclusive", it)));
                let high = (!is_open(high)).then(|| written(high).map(|it| of("maxInclusive", it)));
                low.into_iter().chain(high).collect()
            }
            "valid_values" if text != TextForm::Boolean => {
                let Value::List(values) = value else { return None };
                let values = values.iter().map(|value| Some(of("enumeration", written(value)?)));
                values.collect::<Option<Vec<_>>>().filter(|values| !values.is_empty())
            }
            "length" => length("length"),
            "min_length" => length("minLength"),
            "max_length" => length("maxLength"),
            "pattern" if text == TextForm::String => {
                let pattern = value.as_str().filter(|pattern| is_shared_pattern(pattern))?;
                Some(vec![of("pattern", pattern.to_owned())])
            }
            _ => None,
        }
    }

    /// The form in which values of a schema are written.
    pub(super) fn form(&mut self, namespace: &str, schema: &Schema<'t>) -> ValueForm {
        self.written_form(namespace, schema).form
    }

    fn written_form(&mut self, namespace: &str, schema: &Schema<'t>) -> WrittenForm {
        let types = self.variant.types;
        self.name_schema(namespace, XML_SCHEMA);
        let defined = types.find_in(schema.file(), Family::Data, schema.type_name);
        if let Some(id) = defined {
            return self.data_form(namespace, id);
        }
        let Some(primitive) = profile::primitive(schema.type_name) else {
            return WrittenForm::flow();
        };
        if let Some(text) = TextForm::of(primitive) {
            return WrittenForm::text(text);
        }
        if let ("list", Some(entry)) = (primitive, &schema.entry_schema) {
            let entry = self.written_form(namespace, entry);
            if !entry.kept && !matches!(entry.form, ValueForm::List(_)) {
                return WrittenForm { form: ValueForm::List(Box::new(entry.form)), ..entry };
            }
        }
        WrittenForm::flow()
    }

    /// Adds a data type to a schema, if XML Schema can express its values.
    pub(super) fn define_data(&mut self, id: TypeId) {
        let definition = self.variant.types.definition(id);
        let namespace = self.namespace_of(definition.key.span().file, definition.key);
        self.data_form(&namespace, id);
    }

    /// The form in which values of a data type are written.
    fn data_form(&mut self, namespace: &str, id: TypeId) -> WrittenForm {
        let form = match self.variant.types.primitive(TypeRef::Defined(id)) {
            Some(primitive) => match TextForm::of(primitive) {
                Some(text) => ValueForm::Text(text, None),
                None => return WrittenForm::flow(),
            },
            None if self.is_opaque(id) => return WrittenForm::flow(),
            None => ValueForm::Parts(id),
        };
        let name = self.data_type(id, &form);
        self.name_schema(namespace, &name.namespace);
        WrittenForm { form, type_name: self.prefixes.name(&name), kept: false }
    }

    /// Whether the structure of values of a data type is unknown.
    fn is_opaque(&self, id: TypeId) -> bool {
        let effective = self.variant.types.effective(id);
        effective.is_open || effective.properties.is_empty()
    }

    /// The schema type for a data type; it is defined if necessary.
    fn data_type(&mut self, id: TypeId, form: &ValueForm) -> QualifiedName {
        match self.schemas.data.get(&id) {
            Some(known) => known.clone(),
            None => self.quietly(id, |it| it.define_data_type(id, form)),
        }
    }

    fn define_data_type(&mut self, id: TypeId, form: &ValueForm) -> QualifiedName {
        let types = self.variant.types;
        let definition = types.definition(id);
        let namespace = self.namespace_of(definition.key.span().file, definition.key);
        let mut said = SaidMap::of_node(self.path_of(id), definition.key, definition.value);
        let former = taken_metadata(&mut said, XML_NAME);
        let name = self.schemas.free(&namespace, former.as_deref().unwrap_or(definition.name));
        self.schemas.data.insert(id, name.clone());
        self.name_schema(&namespace, XML_SCHEMA);
        said.take("derived_from");
        let parent = types.parent(id).filter(|&parent| types.definition(parent).name != DATA_ROOT);
        let mut part = match form {
            ValueForm::Text(text, _) => {
                let base = parent.map(|parent| self.data_type(parent, form));
                let base = match base {
                    Some(base) => {
                        self.name_schema(&namespace, &base.namespace);
                        self.prefixes.name(&base)
                    }
                    None => text.schema().to_owned(),
                };
                let mut part = XmlPart::new("xs:simpleType");
                part.set("name", &*name.local);
                self.annotate(&mut part, &mut said);
                let facets = self.facets(&mut part, said.take("constraints"), Some(form));
                let mut restriction = XmlPart::new("xs:restriction").with("base", base);
                facets.into_iter().for_each(|facet| restriction.push(facet));
                part.push(restriction);
                part
            }
            _ => {
                let base = parent.filter(|&parent| !self.is_opaque(parent));
                let base = base.map(|parent| self.data_type(parent, &ValueForm::Parts(parent)));
                said.take("properties");
                let fields = self.fields(id, &namespace, &definition.properties, base.is_some());
                let mut part = XmlPart::default();
                self.annotate(&mut part, &mut said);
                let complex = self.complex(&namespace, base.as_ref(), fields);
                complex.with("name", &*name.local).behind(part)
            }
        };
        self.keep_in_schema(&mut part, said);
        self.schemas.add(&namespace, part);
        name
    }

    fn annotate(&mut self, part: &mut XmlPart, said: &mut SaidMap) {
        if let Some(description) = said.take_text("description") {
            let text = XmlPart::new("xs:documentation").with_text(description);
            part.push(XmlPart::new("xs:annotation").holding(text));
        }
    }

    /// Whether a data type has a schema type.
    pub(super) fn is_in_schema(&self, id: TypeId) -> bool {
        self.schemas.data.contains_key(&id)
    }
}

/// The type of XML Schema for a parameter.
pub(super) fn parameter_type(name: &str) -> Option<&'static str> {
    profile::primitive(name).and_then(TextForm::of).map(TextForm::schema)
}

/// The element that defines an attribute in a schema.
const ATTRIBUTE: &str = "xs:attribute";

/// Metadata of a property that was an attribute.
const IS_ATTRIBUTE: (&str, &str) = ("xml", "attribute");

/// The text of an entry in metadata, which is taken.
fn taken_metadata(said: &mut SaidMap, name: &str) -> Option<String> {
    let metadata = said.clone().take("metadata")?;
    let (_, text) = entries(&metadata.value).find(|(key, _)| &**key == name)?;
    let text = text.as_str()?.to_owned();
    takes_metadata(said, (name, &text)).then_some(text)
}

/// Whether metadata say this of a property or a parameter, such as that it was an attribute; the
/// entry is taken.
pub(super) fn takes_metadata(said: &mut SaidMap, (name, text): (&str, &str)) -> bool {
    let metadata = said.clone().take("metadata");
    let mut all = metadata.iter().flat_map(|it| entries(&it.value));
    let is_said = all.any(|(key, value)| &**key == name && value.as_str() == Some(text));
    if is_said {
        let left = metadata.iter().flat_map(|it| entries(&it.value));
        let left: Vec<_> = left.filter(|(key, _)| &**key != name).cloned().collect();
        said.replace("metadata", left);
    }
    is_said
}

/// The constraints on a property and the rest of its entry schema. If a list has no constraints
/// itself, those on its items are used.
fn ruled(said: &mut SaidMap, is_list: bool) -> (Option<SaidValue>, Option<SaidValue>) {
    let (constraints, entry) = (said.take("constraints"), said.take("entry_schema"));
    if !is_list || constraints.is_some() {
        return (constraints, entry);
    }
    let Some(entry) = entry else { return (None, None) };
    let mut body = entry.map();
    let constraints = body.take("constraints");
    let rest = body.rest().map(|(key, said)| (key, said.value)).collect();
    (constraints, Some(SaidValue { value: Value::Map(rest), ..entry }))
}

/// Built-in types of integers whose names imply bounds.
const WHOLE_NUMBERS: [&str; 4] =
    ["positiveInteger", "nonNegativeInteger", "nonPositiveInteger", "negativeInteger"];

/// Built-in types whose values depend on other values in their document.
const NOT_ALONE: [&str; 9] = [
    "anyType",
    "anySimpleType",
    "QName",
    "NOTATION",
    "ID",
    "IDREF",
    "IDREFS",
    "ENTITY",
    "ENTITIES",
];

/// The built-in type of values if it is narrower than the usual one: the recorded one, or one whose
/// bounds begin the constraints. These bounds are removed from the constraints.
fn narrower(
    written: &WrittenForm,
    said: &mut SaidMap,
    constraints: &mut Option<SaidValue>,
) -> Option<&'static BuiltInType> {
    let text = match &written.form {
        ValueForm::List(items) => items,
        form => form,
    };
    let &ValueForm::Text(text, _) = text else { return None };
    if written.type_name != text.schema() {
        return None;
    }
    let metadata = said.clone().take("metadata");
    let had = metadata.iter().flat_map(|it| entries(&it.value));
    let had = had.filter(|(key, _)| &**key == "xsd").find_map(|(_, name)| name.as_str());
    let had = had.filter(|name| !NOT_ALONE.contains(name)).into_iter();
    let usual = WHOLE_NUMBERS.into_iter().filter(|_| text == TextForm::Integer);
    let (name, rest) = had.chain(usual).find_map(|name| {
        let counterpart = well_known::value_type(name);
        let is_alike = TextForm::of(counterpart.type_name) == Some(text);
        let clauses = match constraints.as_ref().map(|it| &it.value) {
            Some(Value::List(clauses)) => &**clauses,
            _ => &[],
        };
        let rest = match counterpart.bounds() {
            Some(bounds) => clauses.strip_prefix(&[bounds])?,
            None => clauses,
        };
        is_alike.then(|| (name.to_owned(), rest.to_vec()))
    })?;
    let built_in = BuiltInType::named(&name)?;
    if let Some(said) = constraints {
        said.value = rest.into();
    }
    let left = metadata.iter().flat_map(|it| entries(&it.value));
    let left = left.filter(|(key, _)| &**key != "xsd").cloned().collect();
    said.replace("metadata", left);
    Some(built_in)
}

/// Whether a schema contains more than a type.
fn has_more(schema: &Value) -> bool {
    entries(schema).any(|(key, _)| &**key != "type")
}

/// Whether these facets can be added to the known ones. Two clauses must not give the same facet;
/// one clause may give several enumerations.
fn facets_fit<'f>(
    known: &[(&'static str, XmlPart)],
    mut new: impl Iterator<Item = &'f (&'static str, XmlPart)>,
) -> bool {
    new.all(|(name, _)| known.iter().all(|(known, _)| known != name))
}

/// Whether a pattern means the same in XML Schema: it consists of plain characters, character
/// classes, repetition and alternatives.
fn is_shared_pattern(pattern: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "_-.:,;@#%=!~/<>\"' []()*+?|{}".contains(c);
    pattern.chars().all(is_plain) && !pattern.contains("(?") && !pattern.contains("[[")
}
