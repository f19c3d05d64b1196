//! Writes timestamps of version 1.3, such as `2001-12-14`, as TOSCA 2.0 has them.

use super::Converter;
use crate::diagnostic::Diagnostics;
use crate::tosca::Family;
use crate::tosca::grammar::Grammar;
use crate::tosca::value::{Primitive, Schema, rfc_3339, timestamp};
use cuvee_text::yaml::Node;
use std::borrow::Cow;

impl<'t, 'a> Converter<'t, 'a> {
    /// A timestamp in the notation of RFC 3339. Returns nothing where the value is one already, or
    /// is none.
    pub(super) fn timestamp_to_2_0(
        &self,
        value: Node<'a>,
        schema: Option<&Schema<'a>>,
    ) -> Option<String> {
        schema.filter(|schema| self.is_timestamp(schema))?;
        let text = value.as_str().filter(|text| rfc_3339(text).is_none())?;
        timestamp(text).map(|instant| instant.to_string())
    }

    /// The schema of a part of a value: of a property, or of an entry. An operand of a constraint
    /// may be a list of values.
    pub(super) fn schema_of_part<'s>(
        &self,
        schema: &'s Schema<'a>,
        key: Option<&str>,
    ) -> Option<&'s Schema<'a>>
    where
        't: 's,
    {
        if self.is_timestamp(schema) {
            return Some(schema);
        }
        if let Some(entry) = &schema.entry_schema {
            return Some(entry);
        }
        let id = self.named_type(Family::Data, schema.kind?)?;
        let effective = self.context.types.effective(id);
        let property = key.and_then(|key| effective.properties.get(key));
        let entry = effective.schema.entry_schema.as_deref();
        property.map(|part| &part.definition.schema).or(entry)
    }

    fn is_timestamp(&self, schema: &Schema<'a>) -> bool {
        schema.kind.and_then(|name| self.primitive(name)) == Some(Primitive::Timestamp.name())
    }
}

/// The schema of a definition.
pub(super) fn schema_of<'t, 'a>(definition: Node<'a>) -> Cow<'t, Schema<'a>> {
    // What is wrong with it, validating tells.
    Cow::Owned(Grammar::lenient(&mut Diagnostics::default()).schema(definition))
}
