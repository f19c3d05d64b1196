//! Values as instances keep them, away from the document that they were written in.

use super::check::ValueChecker;
use super::version::is_version;
use super::{DataTypes, Primitive, Schema};
use crate::tosca::function::Function;
use cuvee_text::value::Value;

/// The value with texts in place of unquoted versions: as a number, `1.10` is `1.1`. `None` where it
/// has none.
pub(crate) fn with_versions<'t, 'a>(
    value: &Value,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Option<Value> {
    has_number(value).then(|| versions(&ValueChecker::new(types), value, schema))?
}

/// Whether null is a value of this type, and not the lack of one.
pub(crate) fn takes_null<'t, 'a>(schema: &'t Schema<'t>, types: &'t dyn DataTypes<'a>) -> bool {
    let base = ValueChecker::new(types).kind(schema).base;
    matches!(base, Some(Primitive::Nil | Primitive::Null))
}

/// Whether a value has a number that may be a version. Most values have none, and need no types.
pub(crate) fn has_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.text().is_some_and(is_version),
        Value::List(items) => items.iter().any(has_number),
        Value::Map(entries) => entries.iter().any(|(_, value)| has_number(value)),
        _ => false,
    }
}

fn versions<'t>(
    checker: &ValueChecker<'t, '_>,
    value: &Value,
    schema: &'t Schema<'t>,
) -> Option<Value> {
    let kind = checker.kind(schema);
    match value {
        Value::Number(number) if kind.base == Some(Primitive::Version) => {
            Some(Value::from(number.to_string()))
        }
        Value::Map(_) if Function::called_in(value).is_some() => None,
        _ => value.with_parts(&mut |key, part| {
            let schema = match key {
                Some(key) => kind.part(key)?,
                None => kind.entry_schema()?,
            };
            versions(checker, part, schema)
        }),
    }
}
