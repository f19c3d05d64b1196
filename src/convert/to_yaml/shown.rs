//! Converts exposed properties: to inputs if the service template substitutes a node, otherwise to
//! outputs.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::YamlConverter;
use super::names::{as_name, node_name, relationship_name, unique};
use super::place;
use super::values::{AskedValue, PropertyElements, PropertyHolder, named_input};
use crate::tosca::v1_0::definitions::{
    BoundaryDefinitions, ComponentKind, DefinedService, EntityTemplate, PropertyMapping, SaidText,
};
use crate::tosca::v1_0::{ComponentId, ExpectedProperties, TOSCA, property_steps};
use crate::tosca::xml_schema::{ValuePart, ValueShape};
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// The result of converting property mappings.
#[derive(Default)]
pub(super) struct ShownProperties<'d> {
    /// The inner properties of mappings, by the id of their owner and their name.
    targets: FxHashMap<(String, String), ShownProperty<'d>>,
    /// The properties of the substitution mappings.
    pub properties: YamlMap,
    pub outputs: YamlMap,
}

/// An inner property that is exposed as a property of the service template.
#[derive(Clone)]
pub(super) struct ShownProperty<'d> {
    /// The input that the property takes its value from.
    input: Option<String>,
    /// The value that the service template assigns.
    value: Option<ShownValue<'d>>,
}

/// A value that the service template assigns, as it is written.
#[derive(Clone)]
enum ShownValue<'d> {
    Elements(Vec<XmlElement<'d>>),
    /// The name and the text of an attribute of the element.
    Attribute(XmlElement<'d>, String, String),
}

/// The owner of the inner property of a mapping.
struct ShownTarget<'s, 'd> {
    id: &'s str,
    type_id: ComponentId,
    root: Option<XmlElement<'d>>,
    /// The arguments by which functions refer to the owner.
    path: Vec<Cow<'s, str>>,
}

/// A property mapping without errors.
struct FoundMapping<'s, 'd> {
    own: String,
    /// The name of the shown property in YAML.
    shown_as: String,
    target: ShownTarget<'s, 'd>,
    property: String,
    /// The name of the property inside in YAML.
    inside_as: String,
}

impl<'d> ShownProperties<'d> {
    /// The exposed property of an owner, if a mapping refers to it.
    pub(super) fn target(
        &self,
        object: Option<&str>,
        part: &ValuePart<'_>,
    ) -> Option<ShownProperty<'d>> {
        if self.targets.is_empty() {
            return None;
        }
        self.targets.get(&(object?.to_owned(), key_of(part))).cloned()
    }
}

/// The name of a part in paths.
fn key_of(part: &ValuePart<'_>) -> String {
    format!("{}{}", if part.is_attribute { "@" } else { "" }, part.name)
}

impl<'d> YamlConverter<'_, 'd> {
    /// Finds the exposed properties, before any values are converted.
    pub(super) fn shown_properties(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
    ) -> ShownProperties<'d> {
        let mut shown = ShownProperties::default();
        let Some(boundary) = &service.boundary else { return shown };
        let node_type = self.find(ComponentKind::NodeType, id, service.substitutable.as_ref());
        let mut inputs = service.substitutable.as_ref().map(|_| FxHashMap::default());
        let mut taken = FxHashSet::default();
        for mapping in &boundary.mappings {
            let found = self.mapping(id, service, boundary, node_type, mapping);
            let found = found.and_then(|found| {
                let own = found.own.clone();
                self.show(found, boundary.properties, &mut inputs, &mut shown)?;
                Ok(own)
            });
            match found {
                Ok(own) => drop(taken.insert(own)),
                Err(why) => {
                    let own = mapping.own.as_ref().map(|said| &*said.text).unwrap_or_default();
                    let construct = format!("that `{own}` is a property inside");
                    self.lose(mapping.element, "", construct, why, LossKind::Lost);
                }
            }
        }
        self.unshown(boundary, &taken);
        shown
    }

    /// Converts a mapping: to an input if the service template substitutes a node, otherwise to an
    /// output.
    fn show(
        &mut self,
        found: FoundMapping<'_, 'd>,
        root: Option<XmlElement<'d>>,
        inputs: &mut Option<FxHashMap<String, String>>,
        shown: &mut ShownProperties<'d>,
    ) -> Result<(), String> {
        if shown.targets.contains_key(&found.key()) {
            return Err("another mapping leads to the same property".to_owned());
        }
        let name = found.shown_as.clone();
        let input = match inputs {
            Some(inputs) => {
                let named = found.named();
                if !inputs.contains_key(&found.own) && shown.properties.has(&name) {
                    return Err(format!("another property is called `{name}`"));
                }
                let input = match (inputs.get(&found.own), named) {
                    (Some(input), Some(named)) if *input != named => {
                        return Err(format!("it is the input `{input}`, and this is `{named}`"));
                    }
                    (Some(input), _) => input.clone(),
                    (None, Some(named)) => named,
                    (None, None) => self.reserve(&name),
                };
                if inputs.insert(found.own.clone(), input.clone()).is_none() {
                    shown.properties.put(&name, vec![Value::from(&*input)]);
                }
                Some(input)
            }
            None if shown.outputs.has(&name) => return Err("an output has one value".to_owned()),
            None => {
                shown.outputs.put(&name, found.output());
                None
            }
        };
        let value = root.and_then(|root| shown_value(root, &found.own));
        shown.targets.insert(found.key(), ShownProperty { input, value });
        Ok(())
    }

    /// Reserves a free name for an input.
    fn reserve(&mut self, wanted: &str) -> String {
        let name = unique(&as_name(wanted), |name| self.reserved.contains(name));
        self.reserved.insert(name.clone());
        name
    }

    /// Resolves both sides of a mapping, or returns the reason why YAML cannot express it.
    fn mapping<'s>(
        &self,
        id: ComponentId,
        service: &'s DefinedService<'d>,
        boundary: &BoundaryDefinitions<'d>,
        node_type: Option<ComponentId>,
        mapping: &PropertyMapping<'d>,
    ) -> Result<FoundMapping<'s, 'd>, String> {
        let root = boundary.properties.map(|root| root.name().local);
        let own = property(mapping.own.as_ref(), root.or_else(|| self.root_name(node_type)))?;
        let target = self.shown_target(id, service, mapping)?;
        let root = self.root_name(Some(target.type_id));
        let property = property(mapping.target_property.as_ref(), root)?;
        let part = self.part(target.type_id, &property)?;
        let inside_as = self.part_name(target.type_id, &part).into_owned();
        let mut shown_as = own.trim_start_matches('@').to_owned();
        if let Some(node_type) = node_type {
            let of = self.part(node_type, &own)?;
            shown_as = self.part_name(node_type, &of).into_owned();
            let are_alike = match (self.kind(&of), self.kind(&part)) {
                (Some(of), Some(part)) => of == part,
                _ => of.of == part.of,
            };
            if !are_alike || of.repeats != part.repeats {
                let name = self.text_name(node_type);
                return Err(format!("in YAML, `{own}` of `{name}` has values of another type"));
            }
        }
        Ok(FoundMapping { own, shown_as, target, property, inside_as })
    }

    fn shown_target<'s>(
        &self,
        id: ComponentId,
        service: &'s DefinedService<'d>,
        mapping: &PropertyMapping<'d>,
    ) -> Result<ShownTarget<'s, 'd>, String> {
        let wanted = mapping.target.as_ref().map(|said| &*said.text).unwrap_or_default();
        let named = named_target(service, wanted)?;
        let (kind, object, template, path) =
            named.ok_or_else(|| format!("there is no `{wanted}`"))?;
        let type_id = self.find(kind, id, template.type_name.as_ref());
        let type_id = type_id.ok_or_else(|| format!("the type of `{wanted}` is not known"))?;
        Ok(ShownTarget { id: object, type_id, root: template.properties, path })
    }

    /// The name of the element that holds the properties of a type.
    fn root_name(&self, of: Option<ComponentId>) -> Option<&str> {
        match self.schemas.expected(self.library, of?) {
            ExpectedProperties::Element(id) => Some(&*self.schemas.set.declared(id).name),
            ExpectedProperties::Type(_) | ExpectedProperties::Unknown => None,
        }
    }

    /// A property of a type, by its name in paths.
    fn part(&self, of: ComponentId, wanted: &str) -> Result<ValuePart<'_>, String> {
        let schemas = self.schemas;
        let expected = schemas.expected(self.library, of);
        let name = self.text_name(of);
        let ValueShape::Parts(parts) = schemas.set.shape(schemas.value_type(expected)) else {
            return Err(format!("no schema says which properties `{name}` has"));
        };
        let found = parts.into_iter().find(|part| key_of(part) == wanted);
        found.ok_or_else(|| format!("`{name}` has no property `{wanted}`"))
    }

    /// The type of a part's values in YAML, as far as two types can be compared.
    fn kind(&self, part: &ValuePart<'_>) -> Option<&'static str> {
        match self.schemas.set.shape(part.of) {
            ValueShape::Text(known, _) => {
                Some(super::super::well_known::value_type(known.name).type_name)
            }
            ValueShape::Opaque | ValueShape::Parts(_) => None,
        }
    }

    /// Reports values of the service template that no inner property has.
    fn unshown(&mut self, boundary: &BoundaryDefinitions<'d>, taken: &FxHashSet<String>) {
        let Some(root) = boundary.properties else { return };
        let name_of = root.name().local;
        let why = "nothing inside is mapped to it";
        for attribute in root.attributes() {
            let key = format!("@{}", attribute.name().local);
            if !taken.contains(&key) {
                self.lose(root, &key, format!("`{key}`"), why, LossKind::Lost);
            }
        }
        for child in root.elements() {
            let local = child.name().local;
            if child.name().namespace != TOSCA && !taken.contains(local) {
                self.lose(child, "", format!("`{local}`"), why, LossKind::Lost);
            }
        }
        if root.elements().next().is_none() && !root.text().trim().is_empty() {
            self.lose(root, "", format!("`{name_of}`"), why, LossKind::Lost);
        }
    }

    /// The value of an exposed property: the value that the service template assigns, or else its
    /// own.
    pub(super) fn value_shown(
        &mut self,
        shown: &ShownProperty<'d>,
        asked: &AskedValue<'_>,
        holder: PropertyHolder<'_, 'd>,
        root: Option<&PropertyElements<'d>>,
    ) -> Option<Value> {
        let given = shown.value.as_ref().map(|value| match value {
            ShownValue::Elements(all) => {
                let mut values = all.iter().map(|element| self.element_value(*element, asked));
                match asked.part.repeats {
                    true => values.collect::<Vec<_>>().into(),
                    false => values.next().unwrap_or(Value::Null),
                }
            }
            ShownValue::Attribute(_, _, text) => self.text_value(text, asked),
        });
        let named = root.and_then(|root| root.text(&asked.part));
        if let Some(name) = named.as_deref().and_then(named_input) {
            self.shown_input(name, given, asked, holder);
            return Some(YamlMap::default().with("get_input", name).into());
        }
        let own = root.and_then(|root| self.part_value(asked, root));
        let first = match &shown.input {
            Some(input) => self.inputs.get(input).and_then(default_of).or(given),
            None => given,
        };
        if let (Some(first), Some(own)) = (&first, &own) {
            let construct = format!("the value of `{}`", asked.part.name);
            let (why, kind) = match first == own {
                true => ("the property that is mapped to it says the same", LossKind::Supplied),
                false => ("the value of the property that is mapped to it counts", LossKind::Lost),
            };
            let below = key_of(&asked.part);
            self.lose(holder.root.unwrap_or(holder.element), &below, construct, why, kind);
        }
        if let (None, Some(said)) = (&shown.input, &shown.value) {
            let construct = &format!("the value of `{}` that is shown", asked.part.name);
            let why = "an output of YAML gives the value of the property inside";
            match said {
                ShownValue::Elements(all) => {
                    all.iter().for_each(|it| self.lose(*it, "", construct, why, LossKind::Supplied))
                }
                ShownValue::Attribute(root, name, _) => {
                    self.lose(*root, &format!("@{name}"), construct, why, LossKind::Supplied);
                }
            }
        }
        let value = first.or(own);
        let Some(input) = &shown.input else {
            // An exposed property needs a value.
            return value.or_else(|| self.supplied(asked, holder));
        };
        self.shown_input(input, value, asked, holder);
        Some(YamlMap::default().with("get_input", &**input).into())
    }

    /// Declares the input that a property takes its value from.
    fn shown_input(
        &mut self,
        input: &str,
        value: Option<Value>,
        asked: &AskedValue<'_>,
        holder: PropertyHolder<'_, 'd>,
    ) {
        if let Some(known) = self.inputs.get(input) {
            if value.is_some() && value != default_of(known) {
                let construct = format!("a value of `{}`", asked.part.name);
                let why = format!("the input `{input}` has another one");
                let below = asked.part.name;
                let at = holder.root.unwrap_or(holder.element);
                self.lose(at, below, construct, why, LossKind::Lost);
            }
            return;
        }
        let mut declared = self.input_definition(input, asked);
        if value.is_none() && !asked.part.is_required {
            declared.put("required", false);
        }
        declared.put_some("default", value);
        self.inputs.put(input, declared);
    }
}

impl FoundMapping<'_, '_> {
    fn key(&self) -> (String, String) {
        (self.target.id.to_owned(), self.property.clone())
    }

    /// The input that the text of the property names.
    fn named(&self) -> Option<String> {
        let root = self.target.root?;
        let text = match self.property.strip_prefix('@') {
            Some(name) => place::written(root, name),
            None => {
                let mut all = root.elements().filter(|child| child.name().namespace != TOSCA);
                all.find(|child| child.name().local == self.property)
                    .map(|child| child.text().into_owned())
            }
        };
        named_input(&text?).map(str::to_owned)
    }

    /// The output that exposes the value of the property.
    fn output(&self) -> YamlMap {
        let path = self.target.path.iter().map(|step| &**step);
        let path = path.chain([&*self.inside_as]).map(Value::from);
        let value = YamlMap::default().with("get_property", path.collect::<Vec<_>>());
        YamlMap::default().with("value", value)
    }
}

/// The owner of properties that an id refers to: its kind, its id, and the arguments by which
/// functions refer to it.
#[expect(clippy::type_complexity, reason = "taken apart where it is made")]
fn named_target<'s, 'd>(
    service: &'s DefinedService<'d>,
    wanted: &str,
) -> Result<Option<(ComponentKind, &'s str, &'s EntityTemplate<'d>, Vec<Cow<'s, str>>)>, String> {
    for node in &service.nodes {
        let id = &*node.id.text;
        if id == wanted {
            return Ok(Some((ComponentKind::NodeType, id, &node.template, vec![node_name(id)])));
        }
        if node.requirements.iter().any(|it| it.id.text == wanted) {
            return Err("requirements of YAML have no properties".to_owned());
        }
        if let Some(own) = node.capabilities.iter().find(|it| it.id.text == wanted) {
            let path = vec![node_name(id), Cow::Borrowed(&*own.name.text)];
            let kind = ComponentKind::CapabilityType;
            return Ok(Some((kind, &own.id.text, &own.template, path)));
        }
    }
    let known = service.relationships.iter().find(|it| it.id.text == wanted);
    Ok(known.map(|known| {
        let id = &*known.id.text;
        (ComponentKind::RelationshipType, id, &known.template, vec![relationship_name(id)])
    }))
}

/// The property that a path leads to; the path must consist of its name only.
fn property(path: Option<&SaidText<'_>>, root: Option<&str>) -> Result<String, String> {
    let text = path.map(|said| &*said.text).unwrap_or_default();
    let steps = property_steps(text).unwrap_or_default();
    let steps = match &steps[..] {
        [first, rest @ ..] if !rest.is_empty() && Some(*first) == root => rest,
        all => all,
    };
    match steps {
        [one] => Ok((*one).to_owned()),
        _ => Err(format!("`{text}` is not the name of a property")),
    }
}

/// The value that a service template assigns to a property.
fn shown_value<'d>(root: XmlElement<'d>, own: &str) -> Option<ShownValue<'d>> {
    match own.strip_prefix('@') {
        Some(name) => {
            let text = place::written(root, name)?;
            Some(ShownValue::Attribute(root, name.to_owned(), text))
        }
        None => {
            let is_it = |child: &XmlElement<'_>| {
                child.name().namespace != TOSCA && child.name().local == own
            };
            let all: Vec<_> = root.elements().filter(is_it).collect();
            (!all.is_empty()).then_some(ShownValue::Elements(all))
        }
    }
}

/// The default of a declared input.
fn default_of(declared: &Value) -> Option<Value> {
    entry(declared, "default").cloned()
}

fn entry<'v>(value: &'v Value, wanted: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { return None };
    entries.iter().find(|(key, _)| &**key == wanted).map(|(_, value)| value)
}
