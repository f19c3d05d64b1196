//! What is expected of a value: schema definitions (section 3.6.9), property, attribute and
//! parameter definitions (3.6.10, 3.6.12, 3.6.14), and data types (3.7.6) as far as values need
//! them.

use super::{Clause, Primitive};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::{FileId, Span};
use crate::text::yaml::{Node, NodeKind};

/// What is expected of a value.
#[derive(Clone, Debug, Default)]
pub struct Schema<'a> {
    /// The name of its type; empty where none is declared, so that any value is of it.
    pub type_name: &'a str,
    /// Where its type is named, where it is; refinements are judged there.
    pub kind: Option<Node<'a>>,
    /// What it must fulfil beside being of the type; in effective definitions first what ancestors
    /// demand.
    pub constraints: Vec<Clause<'a>>,
    /// What the keys of a map must be; any text where it is not said.
    pub key_schema: Option<Box<Schema<'a>>>,
    /// What the entries of a list or a map must be; anything where it is not said.
    pub entry_schema: Option<Box<Schema<'a>>>,
}

impl<'a> Schema<'a> {
    /// A type, and nothing more.
    pub fn of(type_name: &'a str) -> Self {
        Self { type_name, ..Self::default() }
    }

    /// No type.
    pub fn untyped() -> Self {
        Self::default()
    }

    /// With the name of a type, where there is one.
    pub(in crate::tosca) fn with_kind(mut self, kind: Option<Node<'a>>) -> Self {
        if let Some(name) = kind.and_then(Node::text) {
            (self.type_name, self.kind) = (name, kind);
        }
        self
    }

    /// The file in which its type is named, where that is known: there the name has its meaning.
    pub fn file(&self) -> Option<FileId> {
        self.kind.map(|kind| kind.document().file())
    }

    /// Whether a type is declared.
    pub fn is_typed(&self) -> bool {
        !self.type_name.is_empty()
    }

    /// Reads a schema definition: a map, or the name of a type alone.
    ///
    /// What is wrong is reported and left out; a type that is not said is `string` (section
    /// 3.3.1.1).
    pub fn read(node: Node<'a>, diagnostics: &mut Diagnostics) -> Self {
        if is_type_name(node) {
            return Self::default().with_kind(Some(node));
        }
        if node.kind() != NodeKind::Mapping {
            diagnostics.push(shape(
                node,
                "a schema definition is a map or the name of a type",
                "3.6.9.2",
            ));
        }
        let mut schema = Self::of(Primitive::String.name());
        schema.read_parts(node, diagnostics);
        schema
    }

    /// Reads what the map of a definition says of the values of what it defines.
    fn read_parts(&mut self, node: Node<'a>, diagnostics: &mut Diagnostics) {
        for (key, value) in node.entries() {
            match key.text().unwrap_or_default() {
                "type" if is_type_name(value) => {
                    (self.type_name, self.kind) = (value.text().unwrap_or_default(), Some(value));
                }
                "type" => {
                    diagnostics.push(shape(value, "a type is the name of a data type", "3.6.9.1"))
                }
                "constraints" => self.constraints = Clause::read_all(value, diagnostics),
                "key_schema" => self.key_schema = Some(Box::new(Self::read(value, diagnostics))),
                "entry_schema" => {
                    self.entry_schema = Some(Box::new(Self::read(value, diagnostics)))
                }
                _ => {}
            }
        }
    }

    /// Reads what the map of a parameter definition says of its values: no type where none is said.
    pub fn of_parameter(body: Node<'a>, diagnostics: &mut Diagnostics) -> Self {
        let mut schema = Self::untyped();
        schema.read_parts(body, diagnostics);
        schema
    }
}

/// A property, attribute or parameter definition.
#[derive(Clone, Debug)]
pub struct Definition<'a> {
    /// Its name.
    pub name: &'a str,
    /// The place of its name.
    pub span: Span,
    /// What its values must be; nothing for a parameter that takes the type of what is assigned to
    /// it, and constrains it no further.
    pub schema: Option<Schema<'a>>,
    /// Whether it must have a value.
    pub required: bool,
    /// The value where none is given.
    pub default: Option<Node<'a>>,
    /// The value that a refinement or a parameter fixes.
    pub value: Option<Node<'a>>,
}

impl<'a> Definition<'a> {
    /// Reads the definition of a property or attribute; its type is `string` where none is said.
    ///
    /// What is wrong is reported and left out; keys that say nothing about values are left to
    /// others.
    pub fn property(key: Node<'a>, body: Node<'a>, diagnostics: &mut Diagnostics) -> Self {
        let mut definition = Self::named(key);
        if body.kind() == NodeKind::Mapping {
            definition.schema = Some(Schema::read(body, diagnostics));
            definition.read(body, diagnostics);
        } else {
            diagnostics.push(shape(
                body,
                "a property definition is a map with its `type`",
                "3.6.10.4",
            ));
        }
        definition
    }

    /// Reads the definition of a parameter; what is not a map with a keyname of one is its value.
    pub fn parameter(key: Node<'a>, body: Node<'a>, diagnostics: &mut Diagnostics) -> Self {
        const KEYNAMES: [&str; 10] = [
            "type",
            "description",
            "value",
            "required",
            "default",
            "status",
            "constraints",
            "key_schema",
            "entry_schema",
            "metadata",
        ];
        let mut definition = Self::named(key);
        if !body.entries().any(|(key, _)| key.text().is_some_and(|key| KEYNAMES.contains(&key))) {
            definition.value = (!body.is_null()).then_some(body);
            return definition;
        }
        if ["type", "constraints"].iter().any(|part| body.get(part).is_some()) {
            definition.schema = Some(Schema::of_parameter(body, diagnostics));
        }
        definition.read(body, diagnostics);
        definition
    }

    /// Whether a value has to be assigned: it is required, and nothing gives it one.
    pub fn needs_value(&self) -> bool {
        self.required && self.default.is_none() && self.value.is_none()
    }

    fn named(key: Node<'a>) -> Self {
        let name = key.text().unwrap_or_default();
        Self { name, span: key.span(), schema: None, required: true, default: None, value: None }
    }

    fn read(&mut self, body: Node<'a>, diagnostics: &mut Diagnostics) {
        for (key, value) in body.entries() {
            match key.text().unwrap_or_default() {
                "required" => match value.as_bool() {
                    Some(required) => self.required = required,
                    None => diagnostics.push(shape(
                        value,
                        "`required` is `true` or `false`",
                        "3.6.10.2",
                    )),
                },
                "default" => self.default = Some(value),
                "value" => self.value = Some(value),
                _ => {}
            }
        }
    }
}

/// Where data types are looked up.
pub trait DataTypes<'a> {
    /// The data type of this name, with all that it inherits; nothing where none is defined.
    /// Primitive types are not asked for.
    fn data_type(&self, name: &str) -> Option<DataTypeView<'_, 'a>>;

    /// The data type that a name stands for in a file: where all files see the same types, that of
    /// the name.
    fn data_type_in(&self, _file: Option<FileId>, name: &str) -> Option<DataTypeView<'_, 'a>> {
        self.data_type(name)
    }
}

/// A data type as values see it: with what it inherits, and of what it refines the refinement
/// alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataTypeView<'t, 'a> {
    /// The primitive type that it derives from; nothing for one that has properties.
    pub base: Option<Primitive>,
    /// Its properties.
    pub properties: &'t [Definition<'a>],
    /// What its values must fulfil.
    pub constraints: &'t [Clause<'a>],
    /// What the keys of its values must be, where it derives from `map`.
    pub key_schema: Option<&'t Schema<'a>>,
    /// What the entries of its values must be, where it derives from `list` or `map`.
    pub entry_schema: Option<&'t Schema<'a>>,
}

/// Whether this names a type: a string, or `null`, which YAML reads as no string.
fn is_type_name(node: Node<'_>) -> bool {
    node.as_str().is_some() || node.text() == Some("null")
}

/// What does not have the shape that the grammar asks for.
pub(super) fn shape(node: Node<'_>, message: &str, section: &'static str) -> Diagnostic {
    Diagnostic::error(Code::InvalidTemplate, format!("{message}, not {}", node.describe()))
        .at(node.span())
        .section(section)
}
