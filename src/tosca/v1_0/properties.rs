//! Determines the properties of TOSCA 1.0 types: from elements and types of XML Schema, or from
//! keys.

use super::definitions::{ComponentName, EntityType};
use super::library::{ComponentId, Library};
use super::load::DefinitionsExtent;
use super::structure::by;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::xml_schema::{
    FoundInSchema, KeyedElement, SchemaElementId, SchemaKey, SchemaRoot, SchemaSet, SchemaValueType,
};
use std::borrow::Cow;

/// The schemas of a library, and the properties that each type defines with them.
pub(crate) struct PropertySchemas<'d> {
    pub set: SchemaSet<'d>,
    /// The properties that each component defines itself.
    own: Vec<OwnProperties>,
}

/// The element that is expected in the `Properties` of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ExpectedProperties {
    /// This element of a schema.
    Element(SchemaElementId),
    /// Any element of this type.
    Type(SchemaValueType),
    /// An element that no type defines, or whose schema is not known.
    Unknown,
}

/// The definitions of properties in a single type.
#[derive(Clone, Copy, Default)]
pub(crate) struct OwnProperties {
    /// The definition by `PropertiesDefinition`.
    pub defined: Option<ExpectedProperties>,
    /// The definition by keys.
    pub keyed: Option<SchemaElementId>,
}

impl<'d> PropertySchemas<'d> {
    /// Reads all schemas of a library. Errors in schemas, and names in types that no schema
    /// defines, are added to `found`.
    pub(crate) fn of(library: &Library<'d>, found: &mut Diagnostics) -> Self {
        let mut roots = Vec::new();
        for definitions in &library.documents {
            roots.extend(definitions.schemas.iter().map(|&element| SchemaRoot {
                element,
                namespace: definitions.target_namespace.clone(),
            }));
        }
        let in_files = library.loaded.schemas.iter();
        roots.extend(in_files.map(|(document, namespace)| SchemaRoot {
            element: document.root(),
            namespace: Cow::Borrowed(namespace),
        }));
        let (set, Diagnostics(wrong)) = SchemaSet::read(&roots);
        found.0.extend(wrong.into_iter().map(|wrong| wrong.rule(by("4.2"))));
        let mut schemas = Self { set, own: Vec::new() };
        for id in library.ids() {
            let own = match library.entity_type(id) {
                Some(said) => schemas.of_type(library, id, said, found),
                None => OwnProperties::default(),
            };
            schemas.own.push(own);
        }
        schemas
    }

    fn of_type(
        &mut self,
        library: &Library<'d>,
        id: ComponentId,
        said: &EntityType<'d>,
        found: &mut Diagnostics,
    ) -> OwnProperties {
        let defined = said.properties.as_ref().map(|definition| {
            let named = match (&definition.element, &definition.type_name) {
                (Some(name), None) => {
                    let element =
                        self.set.element(name.namespace.as_deref().unwrap_or(""), &name.local);
                    Some((name, true, mapped(element, ExpectedProperties::Element)))
                }
                (None, Some(name)) => {
                    let of =
                        self.set.value_type(name.namespace.as_deref().unwrap_or(""), &name.local);
                    Some((name, false, mapped(of, ExpectedProperties::Type)))
                }
                // Neither or both are given, which is reported elsewhere.
                _ => None,
            };
            match named {
                Some((_, _, FoundInSchema::Known(expected))) => expected,
                Some((name, is_element, FoundInSchema::Nothing)) => {
                    found.0.extend(self.unknown(library, id, name, is_element));
                    ExpectedProperties::Unknown
                }
                Some((_, _, FoundInSchema::Elsewhere)) | None => ExpectedProperties::Unknown,
            }
        });
        let keyed = said.keys.as_ref().and_then(|keys| {
            let keyed = keys.keys.iter();
            let keyed = keyed.map(|it| SchemaKey {
                name: it.name.text.clone(),
                type_name: it.type_name.clone(),
                is_required: it.is_required,
                span: it.name.span,
            });
            Some(self.set.add_keyed(KeyedElement {
                namespace: keys.namespace.as_ref()?.text.clone(),
                name: keys.element.as_ref()?.text.clone(),
                span: keys.span,
                keys: keyed.collect(),
            }))
        });
        OwnProperties { defined, keyed }
    }

    /// The error for an element or type that no schema defines. Returns nothing where a schema that
    /// was not read may define it.
    fn unknown(
        &self,
        library: &Library<'d>,
        id: ComponentId,
        name: &ComponentName<'d>,
        is_element: bool,
    ) -> Option<Diagnostic> {
        // An undeclared prefix is reported elsewhere.
        let namespace = name.namespace.as_deref()?;
        let section = library.component(id).kind.section();
        let (what, code) = match is_element {
            true => ("element", Code::UnknownElement),
            false => ("type", Code::UnknownType),
        };
        if self.set.knows(namespace) {
            let meant = match is_element {
                true => did_you_mean(&name.local, self.set.element_names(namespace)),
                false => did_you_mean(&name.local, self.set.type_names(namespace)),
            };
            let message = format!("the schema of {namespace} has no {what} `{}`", name.local);
            let error = Diagnostic::error(code, message).at(name.span).help_opt(meant);
            return Some(error.rule(by(section)));
        }
        if library.is_unread(library.document(id), namespace) {
            return None;
        }
        let message = format!("there is no schema of {namespace} with the {what} `{}`", name.local);
        let found = match library.loaded.extent {
            DefinitionsExtent::File => Diagnostic::error(Code::MissingImport, message),
            DefinitionsExtent::Repository => Diagnostic::warning(Code::MissingImport, message),
        };
        let help = "import it, or write it into `Types`";
        Some(found.at(name.span).help(help).rule(by(section)))
    }

    /// The properties that a type defines itself.
    pub(crate) fn own(&self, id: ComponentId) -> OwnProperties {
        self.own.get(id.index()).copied().unwrap_or_default()
    }

    /// The properties that templates of a type have: those that the type defines, or else those of
    /// the nearest ancestor that defines any.
    pub(crate) fn expected(&self, library: &Library<'d>, id: ComponentId) -> ExpectedProperties {
        let said = library.ancestry(id).find_map(|id| {
            let own = self.own(id);
            own.defined.or(own.keyed.map(ExpectedProperties::Element))
        });
        said.unwrap_or(ExpectedProperties::Unknown)
    }

    /// The schema type of expected properties.
    pub(crate) fn value_type(&self, expected: ExpectedProperties) -> SchemaValueType {
        match expected {
            ExpectedProperties::Element(id) => self.set.declared(id).of,
            ExpectedProperties::Type(of) => of,
            ExpectedProperties::Unknown => SchemaValueType::Unknown,
        }
    }
}

fn mapped<T>(
    found: FoundInSchema<T>,
    expected: fn(T) -> ExpectedProperties,
) -> FoundInSchema<ExpectedProperties> {
    match found {
        FoundInSchema::Known(known) => FoundInSchema::Known(expected(known)),
        FoundInSchema::Elsewhere => FoundInSchema::Elsewhere,
        FoundInSchema::Nothing => FoundInSchema::Nothing,
    }
}
