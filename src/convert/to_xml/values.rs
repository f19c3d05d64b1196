//! Converts values of properties.

use super::XmlConverter;
use super::names::QualifiedName;
use super::part::XmlPart;
use super::said::{SaidValue, entries};
use super::schema::{TextForm, ValueForm};
use crate::convert::fragment;
use crate::convert::well_known::XML_PROPERTY;
use crate::tosca::function::function_in;
use crate::tosca::types::Parts;
use crate::tosca::{Family, PropertyDefinition, TypeId};
use cuvee_text::value::{Number, Value};
use cuvee_text::xml::is_allowed;
use cuvee_text::yaml::write_flow;
use rustc_hash::FxHashMap;

/// Values nested deeper than this are not written as elements.
const DEPTH: usize = 48;

impl<'t> XmlConverter<'_, 't> {
    /// The properties element of a template; values that cannot be expressed are kept.
    pub(super) fn properties(
        &mut self,
        id: Option<TypeId>,
        said: Option<SaidValue>,
    ) -> Option<XmlPart> {
        let said = said?;
        let element = id.and_then(|id| self.properties_element(id));
        let space = element.as_ref().filter(|it| it.is_keyed).map(|it| it.name.namespace.clone());
        let space = space.as_deref();
        let types = self.variant.types;
        let mut left: Vec<_> = entries(&said.value).map(Some).collect();
        let named = entries(&said.value).enumerate().map(|(at, (name, _))| (&**name, at));
        let places: FxHashMap<&str, usize> = named.collect();
        let mut root = element.map(|element| XmlPart::new(self.prefixes.name(&element.name)));
        let has_fragments = id.is_some_and(|id| self.has_fragments(id));
        if has_fragments
            && let Some(of) = places.get(XML_PROPERTY).and_then(|at| left.get_mut(*at))
            && let Some(fragment) = of.and_then(|it| fragment::to_element(it.1.as_str()?))
        {
            *of = None;
            root = Some(XmlPart::written(fragment));
            self.copies_fragments = true;
        }
        if let (Some(id), Some(root)) = (id, &mut root) {
            let parts = &types.effective(id).properties;
            for (&name, _) in parts.iter() {
                let of = places.get(name).and_then(|at| left.get_mut(*at));
                let Some((of, (_, value))) = of.and_then(|of| of.map(|it| (of, it))) else {
                    continue;
                };
                let (owner, property) = first_definition(parts, name)?;
                if self.property(root, (owner, property), value, (space, 0)).is_some() {
                    *of = None;
                }
            }
        }
        for (key, value) in left.into_iter().flatten() {
            let said = said.part(key, value);
            let why = match (function_in(value), &root) {
                (Some(_), _) => "XML has no functions",
                (None, None) if has_fragments => {
                    "it is not an element that its type allows as properties"
                }
                (None, None) => "its type defines no such property",
                (None, Some(_)) => "XML Schema has no such value",
            };
            self.keep(&format!("properties{}", super::said::step(key)), &said, why);
        }
        Some(XmlPart::new("Properties").holding(root.filter(|root| !root.is_bare())?))
    }

    /// Adds the value of a property to the element that holds the properties, as elements or as an
    /// attribute. The elements have the given namespace, or else that of the schema with the
    /// property. `None` if the value cannot be expressed.
    pub(super) fn property(
        &mut self,
        to: &mut XmlPart,
        (owner, property): (TypeId, &PropertyDefinition<'t>),
        value: &Value,
        (namespace, depth): (Option<&str>, usize),
    ) -> Option<()> {
        let namespace = namespace.map_or_else(|| self.schema_of(owner), str::to_owned);
        let field = self.schemas.field(owner, property.named.name);
        let form = self.form(&namespace, &property.schema).narrowed(field.built_in);
        if field.is_attribute {
            to.set(field.name, self.text_value(&form, value)?);
        } else {
            let name = self.prefixes.name(&QualifiedName { namespace, local: field.name });
            let values = self.elements(&name, &form, value, depth)?;
            values.into_iter().for_each(|value| to.push(value));
        }
        Some(())
    }

    /// The namespace of the schema that contains the properties of a type.
    fn schema_of(&mut self, id: TypeId) -> String {
        let definition = self.variant.types.definition(id);
        match definition.family {
            Family::Data => self.namespace_of(definition.key.span().file, definition.key),
            _ => match self.schemas.space(id) {
                Some(space) => space.to_owned(),
                None => self.type_name(id).namespace,
            },
        }
    }

    fn elements(
        &mut self,
        name: &str,
        form: &ValueForm,
        value: &Value,
        depth: usize,
    ) -> Option<Vec<XmlPart>> {
        let element = || XmlPart::new(name.to_owned());
        if depth > DEPTH {
            return None;
        }
        match (form, value) {
            (_, Value::Null) => None,
            (ValueForm::List(of), Value::List(items)) => {
                let items = items.iter().map(|item| self.elements(name, of, item, depth + 1));
                let items: Option<Vec<_>> = items.collect();
                items.map(|items| items.concat()).filter(|items| !items.is_empty())
            }
            (ValueForm::List(_), _) => None,
            (&ValueForm::Parts(id), Value::Map(fields)) => {
                let parts = &self.variant.types.effective(id).properties;
                if function_in(value).is_some()
                    || fields.iter().any(|it| !parts.contains_key(&*it.0))
                {
                    return None;
                }
                let mut element = element();
                let said = fields.iter().map(|(name, value)| (&**name, value));
                let said: FxHashMap<&str, &Value> = said.collect();
                for (&name, _) in parts.iter() {
                    let Some(&value) = said.get(name) else { continue };
                    let (owner, property) = first_definition(parts, name)?;
                    self.property(&mut element, (owner, property), value, (None, depth + 1))?;
                }
                Some(vec![element])
            }
            (ValueForm::Parts(_), _) => None,
            (ValueForm::Text(..) | ValueForm::Flow, value) => {
                Some(vec![element().with_text(self.text_value(form, value)?)])
            }
        }
    }

    /// A value as text; `None` if XML has no text for it.
    pub(super) fn text_value(&self, form: &ValueForm, value: &Value) -> Option<String> {
        if let Some(name) = called_input(value).filter(|_| self.settings.is_opentosca) {
            return Some(format!("get_input: {name}"));
        }
        if function_in(value).is_some() {
            return None;
        }
        let text = match (form, value) {
            (_, Value::Null) => return None,
            (ValueForm::Text(text, None), value) => text_of(*text, value)?,
            (ValueForm::Text(text, Some(of)), value) => {
                let candidates = text_of(*text, value).into_iter().chain(plain(*text, value));
                candidates.into_iter().find(|text| of.accepts(text))?
            }
            (ValueForm::Flow, Value::String(text)) => text.to_string(),
            (ValueForm::Flow, value) => write_flow(value),
            (ValueForm::List(_) | ValueForm::Parts(_), _) => return None,
        };
        text.chars().all(is_allowed).then_some(text)
    }
}

/// The name of the input, if a value is nothing but a reference to an input.
pub(super) fn called_input(value: &Value) -> Option<&str> {
    let Value::Map(entries) = value else { return None };
    match &**entries {
        [(function, name)] if &**function == "get_input" => name.as_str(),
        _ => None,
    }
}

/// The type that first defines a property, with that definition.
pub(super) fn first_definition<'p, 't>(
    parts: &'p Parts<'t, PropertyDefinition<'t>>,
    name: &str,
) -> Option<(TypeId, &'p PropertyDefinition<'t>)> {
    let part = parts.get(name)?;
    let first = std::iter::successors(Some(&**part), |part| part.refines.as_deref()).last()?;
    Some((first.owner, &first.definition))
}

fn text_of(text: TextForm, value: &Value) -> Option<String> {
    match (text, value) {
        (TextForm::String, Value::String(text)) => Some(text.to_string()),
        (TextForm::String, Value::Number(number)) => Some(number.to_string()),
        (TextForm::String, Value::Bool(truth)) | (TextForm::Boolean, Value::Bool(truth)) => {
            Some(truth.to_string())
        }
        (TextForm::Integer, Value::Number(number)) => Some(number.as_int()?.to_string()),
        (TextForm::Float, Value::Number(number)) => Some(double(number)),
        (TextForm::Timestamp, Value::String(text)) => date_time(text),
        _ => None,
    }
}

/// The text of a value without structure: a number without an exponent, a text as it is.
fn plain(text: TextForm, value: &Value) -> Option<String> {
    match (text, value) {
        (TextForm::Float, Value::Number(number)) => Some(number.as_f64().to_string()),
        (_, Value::String(text)) => Some(text.to_string()),
        _ => None,
    }
}

fn double(number: &Number) -> String {
    let value = number.as_f64();
    let written = number.to_string();
    let is_shared = written.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c))
        && written.parse::<f64>().is_ok();
    match value {
        _ if value.is_nan() => "NaN".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "INF" } else { "-INF" }.to_owned(),
        _ if is_shared => written,
        _ => value.to_string(),
    }
}

/// A timestamp in the notation of XML Schema; `None` if the text is not a timestamp in both
/// formats.
fn date_time(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(10)?;
    let is_like = |text: &str, like: &str| {
        text.len() == like.len()
            && text.chars().zip(like.chars()).all(|(c, like)| match like {
                '0' => c.is_ascii_digit(),
                like => c == like,
            })
    };
    if !is_like(date, "0000-00-00") {
        return None;
    }
    if rest.is_empty() {
        return Some(format!("{date}T00:00:00Z"));
    }
    let time = rest.trim_start_matches([' ', '\t', 't', 'T']);
    let (clock, zone) = time.split_at_checked(8)?;
    if !is_like(clock, "00:00:00") {
        return None;
    }
    let digits = zone
        .strip_prefix('.')
        .map_or(0, |zone| 1 + zone.chars().take_while(char::is_ascii_digit).count());
    let (fraction, zone) = zone.split_at_checked(digits)?;
    let zone = zone.trim_start();
    let is_zone =
        matches!(zone, "" | "Z") || ["+00:00", "-00:00"].iter().any(|like| is_like(zone, like));
    (is_zone && fraction != ".").then(|| format!("{date}T{clock}{fraction}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_those_of_xml_schema() {
        let written = |text| date_time(text);
        assert_eq!(written("2001-12-14").as_deref(), Some("2001-12-14T00:00:00Z"));
        assert_eq!(
            written("2001-12-14t21:59:43.10-05:00").as_deref(),
            Some("2001-12-14T21:59:43.10-05:00")
        );
        assert_eq!(written("2001-12-15 2:59:43.10"), None);
        assert_eq!(written("2001-12-14 21:59:43 Z").as_deref(), Some("2001-12-14T21:59:43Z"));
        assert_eq!(written("soon"), None);
    }

    #[test]
    fn numbers_are_those_of_xml_schema() {
        let text = |form, number: Number| text_of(form, &Value::Number(number));
        assert_eq!(
            text(TextForm::Integer, Number::int(8080).with_text("0x1F90")).as_deref(),
            Some("8080")
        );
        assert_eq!(text(TextForm::Integer, Number::float(1.5)), None);
        assert_eq!(
            text(TextForm::Float, Number::float(1.5).with_text("1.50")).as_deref(),
            Some("1.50")
        );
        assert_eq!(text(TextForm::Float, Number::float(f64::INFINITY)).as_deref(), Some("INF"));
    }
}
