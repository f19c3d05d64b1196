//! What is expected of a value: schema definitions (section 3.6.9), property, attribute and
//! parameter definitions (3.6.10, 3.6.12, 3.6.14), and data types (3.7.6) as far as values need
//! them.

use super::{Clause, Primitive, PropertyRule};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::FileId;
use crate::text::yaml::Node;
use crate::tosca::grammar::{Grammar, Named};

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
        Grammar::of_template(diagnostics).schema(node)
    }
}

/// A property definition (section 3.6.10), a parameter definition (3.6.14), or an attribute
/// definition (3.6.12).
#[derive(Clone, Debug)]
pub struct PropertyDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// Type, constraints, schemas.
    pub schema: Schema<'a>,
    /// For people.
    pub description: Option<Node<'a>>,
    /// `required`, where it is said.
    pub required: Option<Node<'a>>,
    /// The value where none is given.
    pub default: Option<Node<'a>>,
    /// `status`, where it is said.
    pub status: Option<Node<'a>>,
    /// The value that a refinement or a parameter fixes.
    pub value: Option<Node<'a>>,
}

impl<'a> PropertyDefinition<'a> {
    /// Of this name, and nothing more.
    pub(super) fn of(named: Named<'a>) -> Self {
        Self {
            named,
            schema: Schema::untyped(),
            description: None,
            required: None,
            default: None,
            status: None,
            value: None,
        }
    }

    /// What its values must be; nothing for a parameter that takes the type of what is assigned to
    /// it, and constrains it no further.
    pub fn expected(&self) -> Option<&Schema<'a>> {
        Some(&self.schema).filter(|schema| schema.is_typed() || !schema.constraints.is_empty())
    }

    /// Whether a value has to be assigned: it is required, and nothing gives it one.
    pub fn needs_value(&self) -> bool {
        self.is_required() && self.default.is_none() && self.value.is_none()
    }

    /// Whether a value is required: unless the opposite is said (section 3.6.10.5).
    pub fn is_required(&self) -> bool {
        self.required.and_then(boolean).unwrap_or(true)
    }
}

/// A keyname's boolean; other tools still read words without quotes as YAML 1.1 had them.
pub(super) fn boolean(node: Node<'_>) -> Option<bool> {
    let word = || match node.text().filter(|_| node.is_plain())?.to_ascii_lowercase().as_str() {
        "yes" | "on" => Some(true),
        "no" | "off" => Some(false),
        _ => None,
    };
    node.as_bool().or_else(word)
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
    pub properties: &'t [&'t PropertyDefinition<'a>],
    /// What its values must fulfil.
    pub constraints: &'t [Clause<'a>],
    /// What its properties must fulfil together.
    pub rules: &'t [&'static PropertyRule],
    /// What the keys of its values must be, where it derives from `map`.
    pub key_schema: Option<&'t Schema<'a>>,
    /// What the entries of its values must be, where it derives from `list` or `map`.
    pub entry_schema: Option<&'t Schema<'a>>,
    /// Whether an ancestor is defined nowhere, so that nobody knows what its values are.
    pub is_open: bool,
}

/// What does not have the shape that the grammar asks for.
pub(super) fn shape(node: Node<'_>, message: &str, section: &'static str) -> Diagnostic {
    Diagnostic::error(Code::InvalidTemplate, format!("{message}, not {}", node.describe()))
        .at(node.span())
        .section(section)
}
