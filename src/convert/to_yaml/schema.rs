//! Converts types of XML Schema to property definitions and data types.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::super::well_known::{self, ValueCounterpart, XML_NAME, XML_PROPERTY, XML_TYPE};
use super::YamlConverter;
use super::names::{FileKey, as_name};
use super::parts;
use crate::tosca::v1_0::{ComponentId, ExpectedProperties};
use crate::tosca::xml_schema::{SchemaValueType, TextRule, ValuePart, ValueShape};
use cuvee_text::value::{Number, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Escapes in patterns that only XML Schema has.
const FOREIGN_ESCAPES: [&str; 4] = ["\\i", "\\c", "\\I", "\\C"];

/// The owner of property definitions.
#[derive(Clone, Copy)]
pub(super) struct SchemaOwner<'o> {
    pub component: ComponentId,
    pub file: FileKey,
    /// The name from which names of anonymous types are derived.
    pub name: &'o str,
}

impl<'c> YamlConverter<'c, '_> {
    /// The properties that a type itself defines.
    pub(super) fn property_definitions(&mut self, id: ComponentId, file: FileKey) -> YamlMap {
        let own = self.schemas.own(id);
        let expected = own.defined.or(own.keyed.map(ExpectedProperties::Element));
        let mut properties = YamlMap::default();
        let Some(expected) = expected else {
            if self.with_fragments.contains(&id) {
                properties.put(XML_PROPERTY, fragment_definition());
            }
            return properties;
        };
        let schemas = self.schemas;
        let ValueShape::Parts(parts) = schemas.set.shape(schemas.value_type(expected)) else {
            let element = self.library.component(id).element;
            self.lose(
                element,
                "PropertiesDefinition",
                format!("the schema of the properties of `{}`", self.text_name(id)),
                "it is not one of elements with values",
                LossKind::Opaque,
            );
            properties.put(XML_PROPERTY, fragment_definition());
            return properties;
        };
        let inherited = self.extended_parts(id);
        self.tell_unwanted(id, &parts, &inherited);
        let name = self.text_name(id).to_owned();
        let owner = SchemaOwner { component: id, file, name: &name };
        let mut known: FxHashMap<&str, Vec<_>> = FxHashMap::default();
        inherited.iter().for_each(|part| known.entry(part.name).or_default().push(part));
        for part in &parts {
            let mut known = known.get(part.name).into_iter().flatten();
            if known.any(|known| is_same(known, part)) {
                // The schema of the type says it, too.
                self.is_required(part, owner);
            } else {
                let name = self.part_name(id, part).into_owned();
                let definition = self.part_definition(part, &name, owner);
                properties.put(&name, definition);
            }
        }
        properties
    }

    /// The properties that the schema of a type extends: those of the nearest ancestor with any.
    /// Keys extend nothing, and are not extended.
    fn extended_parts(&self, id: ComponentId) -> Vec<ValuePart<'c>> {
        if self.schemas.own(id).defined.is_none() {
            return Vec::new();
        }
        let mut before = self.library.ancestry(id).skip(1).map(|of| self.schemas.own(of));
        let nearest = before.find(|own| own.defined.is_some() || own.keyed.is_some());
        nearest.and_then(|own| own.defined).map_or_else(Vec::new, |it| self.parts_of(it))
    }

    /// The properties that a type inherits in YAML: those of all its ancestors, the nearest first.
    pub(super) fn inherited_parts(&self, id: ComponentId) -> Vec<ValuePart<'c>> {
        let mut seen = FxHashSet::default();
        let ancestors = self.library.ancestry(id).skip(1);
        let mut all: Vec<_> = ancestors.flat_map(|of| self.own_parts(of)).collect();
        all.retain(|part| seen.insert(part.name));
        all
    }

    /// The properties that the schema or the keys of a type say.
    pub(super) fn own_parts(&self, id: ComponentId) -> Vec<ValuePart<'c>> {
        let own = self.schemas.own(id);
        let expected = own.defined.or(own.keyed.map(ExpectedProperties::Element));
        expected.map_or_else(Vec::new, |it| self.parts_of(it))
    }

    fn parts_of(&self, expected: ExpectedProperties) -> Vec<ValuePart<'c>> {
        let schemas = self.schemas;
        match schemas.set.shape(schemas.value_type(expected)) {
            ValueShape::Parts(parts) => parts,
            ValueShape::Opaque | ValueShape::Text(..) => Vec::new(),
        }
    }

    /// Reports properties of an ancestor that the schema of a type leaves out.
    fn tell_unwanted(
        &mut self,
        id: ComponentId,
        own: &[ValuePart<'_>],
        inherited: &[ValuePart<'_>],
    ) {
        let element = self.library.component(id).element;
        let own: FxHashSet<&str> = own.iter().map(|part| part.name).collect();
        for part in inherited.iter().filter(|part| !own.contains(part.name)) {
            let construct = format!("`{}` of `{}`", part.name, self.text_name(id));
            let why = "types of YAML have the properties of those that they derive from";
            let below = format!("PropertiesDefinition/{}", part.name);
            self.lose(element, &below, construct, why, LossKind::Supplied);
        }
    }

    /// The definition of a property.
    fn part_definition(
        &mut self,
        part: &ValuePart<'_>,
        name: &str,
        owner: SchemaOwner<'_>,
    ) -> YamlMap {
        let (schema, built_in) = self.value_schema(part.of, part.name, owner);
        let mut definition = YamlMap::default();
        let mut metadata = YamlMap::default();
        let mut constraints = None;
        if part.repeats {
            definition = definition.with("type", "list");
            definition.put("required", self.is_required(part, owner));
            definition.put("entry_schema", schema);
        } else {
            definition.put_some("type", schema.get("type").cloned());
            definition.put("required", self.is_required(part, owner));
            constraints = schema.get("constraints").cloned();
        }
        definition.put_some("default", self.key_default(part, owner.component));
        definition.put_some("constraints", constraints);
        if let Some(name) = built_in {
            metadata.put("xsd", name);
        }
        if part.is_attribute {
            metadata.put("xml", "attribute");
        }
        metadata.put_some(XML_NAME, (name != part.name).then_some(part.name));
        definition.put_map("metadata", metadata);
        if part.is_choice {
            let element = self.library.component(owner.component).element;
            self.lose(
                element,
                &format!("PropertiesDefinition/{}", part.name),
                format!("that `{}` excludes other properties", part.name),
                "properties do not exclude each other",
                LossKind::Lost,
            );
        }
        definition
    }

    /// Whether a property is required. Properties of artifacts are not, because missing values
    /// could not be supplied there.
    fn is_required(&mut self, part: &ValuePart<'_>, owner: SchemaOwner<'_>) -> bool {
        use crate::tosca::v1_0::definitions::ComponentKind::ArtifactType;
        let component = self.library.component(owner.component);
        if !part.is_required || component.kind != ArtifactType {
            return part.is_required;
        }
        self.lose(
            component.element,
            &format!("PropertiesDefinition/{}", part.name),
            format!("that artifacts need `{}`", part.name),
            "artifacts may leave it out, and types of artifacts take no inputs",
            LossKind::Lost,
        );
        false
    }

    /// The default that Winery-style keys give a property.
    fn key_default(&self, part: &ValuePart<'_>, id: ComponentId) -> Option<Value> {
        let keys = self.library.entity_type(id)?.keys.as_ref()?;
        let key = keys.keys.iter().find(|key| key.name.text == part.name)?;
        let default = key.default.as_ref().filter(|default| !default.text.is_empty())?;
        let ValueShape::Text(known, _) = self.schemas.set.shape(part.of) else {
            return Some(Value::from(&*default.text));
        };
        (known.accepts(&default.text)).then(|| typed(&default.text, known.name))
    }

    /// The schema of values of a type, with `type` and `constraints`; and the name of the built-in
    /// type if it does not follow from these.
    pub(super) fn value_schema(
        &mut self,
        of: SchemaValueType,
        name: &str,
        owner: SchemaOwner<'_>,
    ) -> (YamlMap, Option<&'static str>) {
        let schemas = self.schemas;
        match schemas.set.shape(of) {
            ValueShape::Opaque => {
                if of == SchemaValueType::Unknown {
                    // Winery-style keys may name unknown types; their values are texts.
                    return (YamlMap::default().with("type", "string"), None);
                }
                let element = self.library.component(owner.component).element;
                self.lose(
                    element,
                    &format!("PropertiesDefinition/{name}"),
                    format!("the schema of `{name}`"),
                    "it is not one of elements with values",
                    LossKind::Opaque,
                );
                (YamlMap::default().with("type", XML_TYPE), None)
            }
            ValueShape::Text(known, rules) => {
                let counterpart = well_known::value_type(known.name);
                let mut schema = YamlMap::default().with("type", counterpart.type_name);
                let constraints = self.constraints(&counterpart, known.name, &rules, name, owner);
                schema.put_list("constraints", constraints);
                (schema, (!counterpart.leads_back).then_some(known.name))
            }
            ValueShape::Parts(_) => {
                let type_name = self.data_type(of, name, owner);
                (YamlMap::default().with("type", type_name), None)
            }
        }
    }

    /// The name of the data type for a complex type.
    fn data_type(&mut self, of: SchemaValueType, name: &str, owner: SchemaOwner<'_>) -> String {
        let SchemaValueType::Defined(id) = of else { return XML_TYPE.to_owned() };
        if let Some((file, known)) = self.data_types.get(&id).cloned() {
            return self.names.seen(file, &known, owner.file);
        }
        let schemas = self.schemas;
        let wanted = match schemas.set.defined_name(id) {
            Some(name) => as_name(name),
            None => format!("{}_{name}", owner.name),
        };
        let own = self.names.free(owner.file, "data_types", &wanted);
        self.data_types.insert(id, (owner.file, own.clone()));
        let ValueShape::Parts(parts) = schemas.set.shape(of) else { return own };
        let owner = SchemaOwner { name: &own, ..owner };
        let mut properties = YamlMap::default();
        let names = parts::names_inside(&schemas.set, &parts);
        for (part, name) in parts.iter().zip(names) {
            let definition = self.part_definition(part, &name, owner);
            properties.put(&name, definition);
        }
        let mut data_type = YamlMap::default().with("derived_from", "tosca.datatypes.Root");
        let former = schemas.set.defined_name(id).filter(|former| **former != *own);
        let mut metadata = YamlMap::default();
        metadata.put_some(XML_NAME, former);
        data_type.put_map("metadata", metadata);
        data_type.put_map("properties", properties);
        self.section(owner.file, "data_types").put(&own, data_type);
        own
    }

    fn constraints(
        &mut self,
        counterpart: &ValueCounterpart,
        built_in: &str,
        rules: &[TextRule<'_>],
        name: &str,
        owner: SchemaOwner<'_>,
    ) -> Vec<Value> {
        let mut all: Vec<_> = counterpart.bounds().into_iter().collect();
        for rule in rules {
            let bound = |text: &str| typed(text, built_in);
            match rule {
                TextRule::Values(values) => {
                    let values: Vec<_> = values.iter().map(|value| bound(value)).collect();
                    all.push(clause("valid_values", values));
                }
                TextRule::Patterns(patterns) if !is_foreign(patterns) => {
                    all.push(clause("pattern", &*either(patterns)));
                }
                TextRule::Length(least, most) => all.extend(length(*least, *most)),
                TextRule::Above(text, true) => all.push(clause("greater_or_equal", bound(text))),
                TextRule::Above(text, false) => all.push(clause("greater_than", bound(text))),
                TextRule::Below(text, true) => all.push(clause("less_or_equal", bound(text))),
                TextRule::Below(text, false) => all.push(clause("less_than", bound(text))),
                TextRule::Patterns(_) | TextRule::Digits => {
                    let element = self.library.component(owner.component).element;
                    self.lose(
                        element,
                        &format!("PropertiesDefinition/{name}"),
                        format!("a rule for the texts of `{name}`"),
                        "constraints do not count digits, nor know classes of characters of names",
                        LossKind::Lost,
                    );
                }
            }
        }
        all
    }
}

/// The definition of the property that holds a fragment of XML.
fn fragment_definition() -> YamlMap {
    YamlMap::default().with("type", XML_TYPE).with("required", false)
}

fn is_same(one: &ValuePart<'_>, other: &ValuePart<'_>) -> bool {
    let said = |part: &ValuePart<'_>| (part.is_attribute, part.is_required, part.repeats);
    one.name == other.name && one.of == other.of && said(one) == said(other)
}

fn clause(name: &str, operand: impl Into<Value>) -> Value {
    YamlMap::default().with(name, operand).into()
}

fn is_foreign(patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| FOREIGN_ESCAPES.iter().any(|escape| pattern.contains(escape)))
}

/// A single pattern for the alternatives of several patterns.
fn either<'p>(patterns: &[&'p str]) -> Cow<'p, str> {
    match patterns {
        [one] => Cow::Borrowed(one),
        several => {
            let each: Vec<_> = several.iter().map(|pattern| format!("({pattern})")).collect();
            Cow::Owned(each.join("|"))
        }
    }
}

fn length(least: usize, most: Option<usize>) -> Vec<Value> {
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    match most {
        Some(most) if most == least => vec![clause("length", count(least))],
        Some(most) => {
            let least = (least > 0).then(|| clause("min_length", count(least)));
            least.into_iter().chain([clause("max_length", count(most))]).collect()
        }
        None => vec![clause("min_length", count(least))],
    }
}

/// The value that a text represents in a built-in type.
pub(super) fn typed(text: &str, built_in: &str) -> Value {
    let collapsed = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    match well_known::value_type(built_in).type_name {
        "integer" => integer(&collapsed).unwrap_or_else(|| Value::from(collapsed)),
        "float" => float(&collapsed).unwrap_or_else(|| Value::from(collapsed)),
        "boolean" => match &*collapsed {
            "true" | "1" => true.into(),
            "false" | "0" => false.into(),
            _ => collapsed.into(),
        },
        "timestamp" => collapsed.into(),
        _ if matches!(built_in, "string" | "normalizedString" | "anySimpleType") => text.into(),
        _ => collapsed.into(),
    }
}

fn integer(text: &str) -> Option<Value> {
    if let Ok(value) = text.trim_start_matches('+').parse::<i64>() {
        return Some(value.into());
    }
    // A number beyond 64 bits keeps its text, without the plus sign, which YAML does not allow.
    let is_integer =
        text.strip_prefix(['+', '-']).unwrap_or(text).bytes().all(|b| b.is_ascii_digit());
    let value = text.parse::<f64>().ok().filter(|_| is_integer && !text.is_empty())?;
    let number = Number::float(value).with_text(text.trim_start_matches('+'));
    Some(Value::Number(number.written_as_integer(true)))
}

fn float(text: &str) -> Option<Value> {
    let (value, written) = match text {
        "INF" => (f64::INFINITY, ".inf"),
        "-INF" => (f64::NEG_INFINITY, "-.inf"),
        "NaN" => (f64::NAN, ".nan"),
        _ => {
            let value = text.parse::<f64>().ok()?;
            let number = if text.contains(['.', 'e', 'E']) {
                format!("{value:?}")
            } else {
                format!("{value:.1}")
            };
            let number = Number::float(value).with_text(number).written_as_integer(false);
            return Some(Value::Number(number));
        }
    };
    Some(Value::Number(Number::float(value).with_text(written).written_as_integer(false)))
}
