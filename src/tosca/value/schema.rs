//! Defines the data structures for expected values: schema definitions (section 3.6.9), property,
//! attribute and parameter definitions (3.6.10, 3.6.12, 3.6.14), and the parts of data types
//! (3.7.6) that the checks of values need.

use super::{Clause, Primitive, PropertyRule, UnitSize};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::tosca::grammar::{Grammar, Named};
use crate::tosca::sensitive::is_sensitive_name;
use crate::tosca::shape::{ATTRIBUTE, PARAMETER, Shape};
use crate::tosca::v2_0;
use crate::tosca::v2_0::function::BuiltIn;
use cuvee_text::source::FileId;
use cuvee_text::yaml::Node;

/// The expected type and constraints of a value.
#[derive(Clone, Debug, Default)]
pub struct Schema<'a> {
    /// The name of the type. Empty where no type is declared, so that every value fits.
    pub type_name: &'a str,
    /// The node of the type's name, where there is one. Refinements are reported there.
    pub kind: Option<Node<'a>>,
    /// The constraints besides the type. In effective definitions, those of ancestors come first.
    pub constraints: Vec<Clause<'a>>,
    /// The validation clauses of TOSCA 2.0; those of ancestors come first, too.
    pub validations: Vec<Node<'a>>,
    /// The schema of a map's keys. `None` allows any text.
    pub key_schema: Option<Box<Schema<'a>>>,
    /// The schema of the entries of a list or a map. `None` allows any value.
    pub entry_schema: Option<Box<Schema<'a>>>,
}

impl<'a> Schema<'a> {
    /// A schema with a type and nothing else.
    pub fn of(type_name: &'a str) -> Self {
        Self { type_name, ..Self::default() }
    }

    /// A schema without a type.
    pub fn untyped() -> Self {
        Self::default()
    }

    /// The schema with this type, if there is one.
    pub(crate) fn with_kind(mut self, kind: Option<Node<'a>>) -> Self {
        if let Some(name) = kind.and_then(Node::text) {
            (self.type_name, self.kind) = (name, kind);
        }
        self
    }

    /// The file that names the type, where it is known. The name has its meaning in that file.
    pub fn file(&self) -> Option<FileId> {
        self.kind.map(|kind| kind.document().file())
    }

    /// The primitive type that the schema names, if it names one. Where no file names it, the
    /// version is not known.
    pub(crate) fn primitive(&self) -> Option<Primitive> {
        match self.kind {
            Some(kind) if v2_0::is_of(kind.document()) => Primitive::of_2_0(self.type_name),
            Some(_) => Primitive::from_name(self.type_name),
            None => Primitive::of_any_version(self.type_name),
        }
    }

    /// Whether a type is declared.
    pub fn is_typed(&self) -> bool {
        !self.type_name.is_empty()
    }

    /// Whether validations ask for other values than the one that they are about, so that whether a
    /// value fits is not known where it is defined.
    pub(crate) fn asks(&self) -> bool {
        let parts = self.key_schema.iter().chain(&self.entry_schema);
        self.validations.iter().any(|it| asks(*it)) || parts.into_iter().any(|part| part.asks())
    }

    /// Reads a schema definition: a map, or the name of a type alone.
    ///
    /// Errors are reported, and the invalid parts left out. The default type is `string` (section
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
    /// Its type, constraints and schemas.
    pub schema: Schema<'a>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// The value of `required`, where the definition has one.
    pub required: Option<Node<'a>>,
    /// The value that applies if no value is assigned.
    pub default: Option<Node<'a>>,
    /// The value of `status`, where the definition has one.
    pub status: Option<Node<'a>>,
    /// The value that a refinement or a parameter fixes.
    pub value: Option<Node<'a>>,
    /// Whether its metadata say that values are secret, where they say so or the opposite.
    pub sensitive: Option<bool>,
    /// What it defines.
    pub role: DefinedRole,
}

/// What a definition defines, which decides about the sections that say what is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefinedRole {
    /// A property.
    #[default]
    Property,
    /// An attribute.
    Attribute,
    /// A parameter: an input or an output.
    Parameter,
}

impl DefinedRole {
    /// What a shape of definitions defines.
    pub(super) fn of(shape: &Shape) -> Self {
        match shape.section {
            section if section == PARAMETER.section => Self::Parameter,
            section if section == ATTRIBUTE.section => Self::Attribute,
            _ => Self::Property,
        }
    }

    /// The section by which a default has to fit.
    pub(super) fn of_default(self) -> &'static str {
        match self {
            Self::Property => "3.6.10.5",
            Self::Attribute => "3.6.12.2",
            Self::Parameter => "3.6.14.3",
        }
    }

    /// The section by which a fixed value has to fit.
    pub(super) fn of_value(self) -> &'static str {
        match self {
            Self::Property | Self::Attribute => "3.6.10.6",
            Self::Parameter => "3.6.14.2",
        }
    }

    /// The section about refinement. Attributes and parameters have none except their own.
    pub(in crate::tosca) fn refinement(self) -> &'static str {
        match self {
            Self::Property => "3.6.10.6",
            Self::Attribute => "3.6.12",
            Self::Parameter => "3.6.14",
        }
    }

    /// The section of TOSCA 2.0 about definitions and their refinement.
    pub(in crate::tosca) fn definition(self) -> Rule {
        let section = match self {
            Self::Property => "9.3",
            Self::Attribute => "9.5",
            Self::Parameter => "9.7",
        };
        Rule::new(&TOSCA_2_0, section)
    }

    /// The section of TOSCA 2.0 about assigning values.
    pub(super) fn assignment(self) -> Rule {
        let section = match self {
            Self::Property => "9.4",
            Self::Attribute => "9.6",
            Self::Parameter => "9.8",
        };
        Rule::new(&TOSCA_2_0, section)
    }
}

impl<'a> PropertyDefinition<'a> {
    /// A definition with this name and nothing else.
    pub(in crate::tosca) fn of(named: Named<'a>) -> Self {
        Self {
            named,
            schema: Schema::untyped(),
            description: None,
            required: None,
            default: None,
            status: None,
            value: None,
            sensitive: None,
            role: DefinedRole::default(),
        }
    }

    /// Whether values are secret by the metadata, or else by the name, of the definition. They may
    /// also be secret by their type.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.sensitive.unwrap_or_else(|| is_sensitive_name(self.named.name))
    }

    /// The schema of its values. Returns nothing for a parameter that takes the type of the
    /// assigned value, without further constraints.
    pub fn expected(&self) -> Option<&Schema<'a>> {
        Some(&self.schema).filter(|schema| {
            schema.is_typed() || !schema.constraints.is_empty() || !schema.validations.is_empty()
        })
    }

    /// Whether a value has to be assigned: one is required, and the definition gives none.
    pub fn needs_value(&self) -> bool {
        self.is_required() && self.default.is_none() && self.value.is_none()
    }

    /// The value that an element has of which nothing is assigned. The default of a property that is
    /// not required does not count (TOSCA 2.0, section 9.8).
    pub(crate) fn taken(&self) -> Option<Node<'a>> {
        self.value.or(self.default.filter(|_| self.is_required()))
    }

    /// Whether the value is fixed, so that nothing else may be assigned, not even the same (TOSCA
    /// 2.0, section 9.3). Where nodes of one template have been told apart, each has the value of
    /// its index.
    pub(crate) fn takes_no_value(&self) -> bool {
        self.value.is_some_and(|fixed| {
            v2_0::is_of(fixed.document())
                && !v2_0::calls_function(&fixed.to_value(), v2_0::function::NODE_INDEX)
        })
    }

    /// Whether a value is required. The default is true (section 3.6.10.5).
    pub fn is_required(&self) -> bool {
        self.required.and_then(boolean).unwrap_or(true)
    }
}

fn asks(clause: Node<'_>) -> bool {
    let function = v2_0::called(clause).map(|(name, _)| name).filter(|name| *name != "value");
    let asked = function.and_then(BuiltIn::named).filter(|function| function.value.is_none());
    asked.is_some() || clause.parts().any(asks)
}

/// The boolean value of a keyname. Plain words such as `yes` are accepted as in YAML 1.1, because
/// other tools still read them so.
pub(super) fn boolean(node: Node<'_>) -> Option<bool> {
    let word = || match node.text().filter(|_| node.is_plain())?.to_ascii_lowercase().as_str() {
        "yes" | "on" => Some(true),
        "no" | "off" => Some(false),
        _ => None,
    };
    node.as_bool().or_else(word)
}

/// A source of data types.
pub trait DataTypes<'a> {
    /// The data type of this name, including inherited parts. Returns nothing where it is not
    /// defined. The checks do not ask for primitive types.
    fn data_type(&self, name: &str) -> Option<DataTypeView<'_, 'a>>;

    /// The data type that a name in a file refers to. By default, all files see the same types.
    fn data_type_in(&self, _file: Option<FileId>, name: &str) -> Option<DataTypeView<'_, 'a>> {
        self.data_type(name)
    }

    /// The units of the type of a property.
    fn units(&self, definition: &PropertyDefinition<'_>) -> Vec<UnitSize> {
        let schema = &definition.schema;
        let data_type = self.data_type_in(schema.file(), schema.type_name);
        data_type.map(|data_type| data_type.units.to_vec()).unwrap_or_default()
    }
}

/// A data type for checking values. It includes inherited parts; of a refined part, only the
/// refinement.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataTypeView<'t, 'a> {
    /// The primitive type that it derives from. `None` for a type with properties.
    pub base: Option<Primitive>,
    /// Its properties.
    pub properties: &'t [&'t PropertyDefinition<'a>],
    /// The constraints on its values.
    pub constraints: &'t [Clause<'a>],
    /// The validation clauses of TOSCA 2.0 for its values.
    pub validations: &'t [Node<'a>],
    /// The conditions on several of its properties together.
    pub rules: &'t [&'static PropertyRule],
    /// The schema of keys, if it derives from `map`.
    pub key_schema: Option<&'t Schema<'a>>,
    /// The schema of entries, if it derives from `list` or `map`.
    pub entry_schema: Option<&'t Schema<'a>>,
    /// The units of its values with their sizes, if it derives from `scalar-unit` of TOSCA 2.0.
    pub units: &'t [UnitSize],
    /// The numbers before these units.
    pub numbers: ScalarNumbers<'t>,
    /// Whether an ancestor is not defined, so that the valid values are not known.
    pub is_open: bool,
    /// Whether its values are secret as a whole, so that no message shows them.
    pub is_secret: bool,
}

/// The numbers of a scalar with a unit (TOSCA 2.0, section 9.1.2.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct ScalarNumbers<'t> {
    /// Whether they have to be integers.
    pub are_integers: bool,
    /// The validation clauses of their type.
    pub validations: &'t [Node<'t>],
}

/// The error for a node that does not have the shape of the grammar.
pub(super) fn shape(node: Node<'_>, message: &str, section: &'static str) -> Diagnostic {
    Diagnostic::error(Code::InvalidTemplate, format!("{message}, not {}", node.describe()))
        .at(node.span())
        .section(section)
}
