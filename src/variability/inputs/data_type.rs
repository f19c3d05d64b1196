//! Data types of variability inputs, which files define (TOSCA Simple Profile, section 3.7.6).

use crate::tosca::types::Types;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::{DataTypes, Primitive, Schema};
use std::cell::OnceCell;
use std::sync::Arc;

/// The data types that the declarations of inputs may name. They are looked for when the first
/// declaration names one.
pub(super) struct DeclarableTypes<'f, 'a> {
    find: &'f dyn Fn() -> Option<Types<'a>>,
    found: OnceCell<Option<Arc<Types<'a>>>>,
}

impl<'f, 'a> DeclarableTypes<'f, 'a> {
    /// The data types that this finds.
    pub(super) fn new(find: &'f dyn Fn() -> Option<Types<'a>>) -> Self {
        Self { find, found: OnceCell::new() }
    }

    /// Replaces data types that derive from built-in ones by what they say of values. Returns the
    /// data types if the schema still needs them.
    pub(super) fn inline(&self, schema: &mut Schema<'a>) -> Option<Arc<Types<'a>>> {
        if !names_data_type(schema) {
            return None;
        }
        let types = self.found.get_or_init(|| (self.find)().map(Arc::new)).as_ref()?;
        inline(schema, &Schemas::new(types));
        names_data_type(schema).then(|| Arc::clone(types))
    }
}

/// Whether a schema, or one in it, names a type that is not built in.
fn names_data_type(schema: &Schema<'_>) -> bool {
    let own = schema.is_typed() && Primitive::from_name(schema.type_name).is_none();
    own || parts(schema).any(names_data_type)
}

/// The schemas of keys and entries.
fn parts<'s, 'a>(schema: &'s Schema<'a>) -> impl Iterator<Item = &'s Schema<'a>> {
    [&schema.key_schema, &schema.entry_schema].into_iter().filter_map(|part| part.as_deref())
}

/// Replaces the types that a declaration names, in its schema and those in it. What it takes from
/// them keeps its names, since a data type may be one of lists of itself.
fn inline<'a>(schema: &mut Schema<'a>, types: &Schemas<'_, 'a>) {
    let parts = [&mut schema.key_schema, &mut schema.entry_schema].into_iter().flatten();
    parts.for_each(|part| inline(part, types));
    if let Some(data_type) = types.data_type_in(schema.file(), schema.type_name)
        && let Some(base) = data_type.base.filter(|_| data_type.units.is_empty())
    {
        schema.type_name = base.name();
        schema.kind = schema.kind.filter(|_| schema.primitive().is_some());
        schema.constraints = [data_type.constraints, &schema.constraints].concat();
        schema.validations = [data_type.validations, &schema.validations].concat();
        let inherited = |own: &mut Option<Box<Schema<'a>>>, of_type: Option<&Schema<'a>>| {
            if own.is_none() {
                *own = of_type.cloned().map(Box::new);
            }
        };
        inherited(&mut schema.key_schema, data_type.key_schema);
        inherited(&mut schema.entry_schema, data_type.entry_schema);
    }
}
