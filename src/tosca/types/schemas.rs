//! Turns definitions of the type system into the schemas that values are checked against.

use super::defined::Types;
use super::effective::Parts;
use super::hierarchy::{TypeId, TypeRef};
use crate::tosca::family::Family;
use crate::tosca::v2_0;
use crate::tosca::value::{
    DataTypeView, DataTypes, Primitive, PropertyDefinition, PropertyRule, ScalarNumbers, Schema,
    UnitSize, product,
};
use cuvee_text::source::FileId;
use cuvee_text::yaml::Node;
use std::cell::OnceCell;

/// The schemas of types. Each is computed on the first use only.
pub(crate) struct Schemas<'t, 'a> {
    types: &'t Types<'a>,
    of: Vec<OnceCell<TypeSchema<'t, 'a>>>,
}

/// The rules of a type for values.
pub(crate) struct TypeSchema<'t, 'a> {
    /// Its properties.
    pub properties: Vec<&'t PropertyDefinition<'a>>,
    /// Its attributes.
    pub attributes: Vec<&'t PropertyDefinition<'a>>,
    /// The conditions on several properties together.
    pub rules: Vec<&'static PropertyRule>,
    base: Option<Primitive>,
    schema: &'t Schema<'a>,
    units: Vec<UnitSize>,
    numbers: ScalarNumbers<'t>,
    is_open: bool,
    is_secret: bool,
}

impl<'t, 'a> Schemas<'t, 'a> {
    /// The schemas of these types.
    pub(crate) fn new(types: &'t Types<'a>) -> Self {
        Self { types, of: types.ids().map(|_| OnceCell::new()).collect() }
    }

    /// The rules of a type for values.
    pub(crate) fn of(&self, id: TypeId) -> &TypeSchema<'t, 'a> {
        self.of[id.index()].get_or_init(|| {
            let effective = self.types.effective(id);
            TypeSchema {
                rules: self.types.chain(id).flat_map(|id| self.rules(id)).collect(),
                properties: definitions(&effective.properties),
                attributes: definitions(&effective.attributes),
                base: self
                    .types
                    .primitive(TypeRef::Defined(id))
                    .and_then(Primitive::of_any_version),
                schema: &effective.schema,
                units: units_of(self.types, id),
                numbers: numbers(self.types, id),
                is_open: effective.is_open,
                is_secret: self.types.is_secret_data(id),
            }
        })
    }

    fn rules(&self, id: TypeId) -> impl Iterator<Item = &'static PropertyRule> + use<'t> {
        let definition = self.types.definition(id);
        PropertyRule::of(definition.family, definition.name)
    }
}

/// The units of the type of a property.
pub(crate) fn units(types: &Types<'_>, definition: &PropertyDefinition<'_>) -> Vec<UnitSize> {
    let schema = &definition.schema;
    let id = types.find_in(schema.file(), Family::Data, schema.type_name);
    id.map(|id| units_of(types, id)).unwrap_or_default()
}

/// The units that a type and those that it derives from define for its values.
pub(crate) fn units_of(types: &Types<'_>, id: TypeId) -> Vec<UnitSize> {
    types.chain(id).flat_map(|id| defined_units(types, id)).collect()
}

/// The units that a type defines for its values: each symbol before the suffix, and the suffix
/// alone; or, in later texts of the standard, units behind all prefixes. The suffix may be that of a
/// type that it derives from.
pub(crate) fn defined_units(types: &Types<'_>, id: TypeId) -> Vec<UnitSize> {
    let body = types.definition(id).value;
    if !v2_0::is_of(body.document()) {
        return Vec::new();
    }
    let sizes = |keyname| {
        let entries = body.get(keyname).into_iter().flat_map(Node::entries);
        entries.filter_map(|(key, size)| Some((key.text()?, size.text())))
    };
    let owned = |unit: &str, size: Option<&str>| (unit.to_owned(), size.map(str::to_owned));
    let own = body.get("unit_suffix").and_then(Node::text);
    let mut units: Vec<_> = own.map(|suffix| owned(suffix, Some("1"))).into_iter().collect();
    let said = |id| types.definition(id).value.get("unit_suffix").and_then(Node::text);
    let suffix = types.chain(id).find_map(said).unwrap_or_default();
    units.extend(sizes("unit_symbol_map").map(|(it, size)| owned(&[it, suffix].concat(), size)));
    units.extend(sizes("units").map(|(unit, size)| owned(unit, size)));
    // A prefix multiplies the size of the unit behind it.
    let prefixed = sizes("units").flat_map(|(unit, size)| {
        sizes("prefixes").map(move |(prefix, times)| {
            let size = size.zip(times).and_then(|(size, times)| product(size, times));
            owned(&[prefix, unit].concat(), size.as_deref())
        })
    });
    units.extend(prefixed);
    units
}

/// The type of the numbers before the units of a type.
fn numbers<'t>(types: &'t Types<'_>, id: TypeId) -> ScalarNumbers<'t> {
    let of = |id| {
        let body = types.definition(id).value;
        let names = ["data_value_type", "data_type"].into_iter();
        let name = names.filter(|_| v2_0::is_of(body.document())).find_map(|it| body.get(it))?;
        types.resolve(Some(name.document().file()), Family::Data, name.text()?)
    };
    let Some(kind) = types.chain(id).find_map(of) else { return ScalarNumbers::default() };
    ScalarNumbers {
        are_integers: types.primitive(kind) == Some(Primitive::Integer.name()),
        validations: match kind {
            TypeRef::Defined(kind) => &types.effective(kind).schema.validations,
            TypeRef::Primitive(_) => &[],
        },
    }
}

impl<'a> DataTypes<'a> for Schemas<'_, 'a> {
    fn data_type(&self, name: &str) -> Option<DataTypeView<'_, 'a>> {
        self.data_type_in(None, name)
    }

    fn data_type_in(&self, file: Option<FileId>, name: &str) -> Option<DataTypeView<'_, 'a>> {
        let found = self.of(self.types.find_in(file, Family::Data, name)?);
        Some(DataTypeView {
            base: found.base,
            properties: &found.properties,
            constraints: &found.schema.constraints,
            validations: &found.schema.validations,
            rules: &found.rules,
            key_schema: found.schema.key_schema.as_deref(),
            entry_schema: found.schema.entry_schema.as_deref(),
            units: &found.units,
            numbers: found.numbers,
            is_open: found.is_open,
            is_secret: found.is_secret,
        })
    }
}

/// The definitions of properties, attributes or parameters.
pub(crate) fn definitions<'t, 'a>(
    parts: &'t Parts<'a, PropertyDefinition<'a>>,
) -> Vec<&'t PropertyDefinition<'a>> {
    parts.values().map(|part| &part.definition).collect()
}
