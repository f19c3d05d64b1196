//! Reads definitions of properties, attributes and parameters (sections 3.6.10, 3.6.12 and 3.6.14)
//! and schema definitions (3.6.9), wherever a template contains them.

use super::schema::boolean;
use super::{Clause, DefinedRole, Primitive, PropertyDefinition, Schema};
use crate::diagnostic::{Advice, Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::grammar::{Grammar, Named};
use crate::tosca::sensitive::said_sensitive;
use crate::tosca::shape::{PARAMETER, Reading, SCHEMA, STATUS, Shape, Vocabulary};
use crate::tosca::v2_0;
use cuvee_text::yaml::{Node, NodeKind};

impl<'a> PropertyDefinition<'a> {
    /// Reads a parameter of a template. `known` has the keynames of a parameter definition and the
    /// words that an extension adds to them; the caller checks the keynames. A value that is not a
    /// definition is the fixed value of the parameter.
    pub(crate) fn parameter(
        named: Named<'a>,
        known: &Vocabulary,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        if is_definition(named.value, known) {
            Grammar::of_template(diagnostics).definition(named, &PARAMETER)
        } else {
            Self::fixed(named, &PARAMETER)
        }
    }

    /// Reads the single-line grammar of parameters (section 3.6.14.2): a fixed value. In TOSCA 2.0,
    /// it may be that of the type `nil`.
    fn fixed(named: Named<'a>, shape: &Shape) -> Self {
        let is_value = |value: &Node<'_>| !value.is_null() || v2_0::is_of(value.document());
        let role = DefinedRole::of(shape);
        Self { value: Some(named.value).filter(is_value), role, ..Self::of(named) }
    }
}

/// Whether a node defines a parameter: otherwise it is its value (section 3.6.14).
pub(crate) fn defines_parameter(node: Node<'_>) -> bool {
    is_definition(node, &Vocabulary::from(&PARAMETER))
}

/// Whether a map has keynames of a definition, some of which only TOSCA 2.0 has. There, a map
/// without any is one, too: no keyname is mandatory (section 9.7).
fn is_definition(node: Node<'_>, known: &Vocabulary) -> bool {
    let is_own = || {
        let has_one = ["validation", "mapping"].iter().any(|keyname| node.get(keyname).is_some());
        has_one || node.kind() == NodeKind::Mapping && node.entries().len() == 0
    };
    v2_0::is_of(node.document()) && is_own() || known.is_meant(node)
}

impl Grammar<'_> {
    /// Reads a definition of this shape: of a property, an attribute or a parameter.
    pub(crate) fn property<'a>(
        &mut self,
        named: Named<'a>,
        shape: &Shape,
    ) -> PropertyDefinition<'a> {
        if shape.has("value") && !is_definition(named.value, &Vocabulary::from(shape)) {
            return PropertyDefinition::fixed(named, shape);
        }
        self.keynames(named.value, shape);
        self.definition(named, shape)
    }

    fn definition<'a>(&mut self, named: Named<'a>, shape: &Shape) -> PropertyDefinition<'a> {
        let node = named.value;
        PropertyDefinition {
            named,
            schema: self.typed_schema(node, shape),
            description: self.description(node, shape),
            required: self.is_required(node, shape),
            default: node.get("default"),
            status: self.status(node, shape),
            value: node.get("value"),
            sensitive: said_sensitive(node),
            role: DefinedRole::of(shape),
        }
    }

    fn is_required<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Option<Node<'a>> {
        let required = node.get("required")?;
        match boolean(required) {
            None => {
                self.wrong(required, "required", "`true` or `false`", shape.section);
                return None;
            }
            Some(meant) if required.as_bool().is_none() => {
                let text = required.text().unwrap_or_default();
                let message =
                    format!("`{text}` is a string since YAML 1.2, and is read as `{meant}`");
                let warning = Diagnostic::warning(Code::Deprecated, message).at(required.span());
                let meant = Advice::did_you_mean(text, if meant { "true" } else { "false" });
                self.diagnostics.push(warning.section(shape.section).help(meant));
            }
            Some(_) => {}
        }
        Some(required)
    }

    fn status<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Option<Node<'a>> {
        let status = self.string(node, "status", shape)?;
        if !STATUS.contains(&status.text().unwrap_or_default()) {
            self.invalid(
                status,
                format!("`status` has to be one of {}", STATUS.join(", ")),
                "3.6.10.3",
            );
        }
        Some(status)
    }

    /// Reads the type, the constraints and the schemas of an element with this shape. A missing
    /// type is left out.
    pub(crate) fn typed_schema<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Schema<'a> {
        let kind = self.type_name(node, "type", shape);
        self.schema_parts(node, shape).with_kind(kind)
    }

    /// Reads the constraints and the schemas of an element.
    pub(crate) fn schema_parts<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Schema<'a> {
        let constraints = node.get("constraints").filter(|_| shape.has("constraints"));
        Schema {
            constraints: constraints.map(|list| self.constraints(list)).unwrap_or_default(),
            validations: node
                .get("validation")
                .filter(|it| v2_0::is_of(it.document()))
                .into_iter()
                .collect(),
            key_schema: node.get("key_schema").map(|schema| Box::new(self.schema(schema))),
            entry_schema: node.get("entry_schema").map(|schema| Box::new(self.schema(schema))),
            ..Schema::untyped()
        }
    }

    /// Reads a schema. The listing of section 9.2.1 shows that the name of its type is enough.
    pub(crate) fn schema<'a>(&mut self, node: Node<'a>) -> Schema<'a> {
        // The primitive type `null` needs no quotes.
        if node.as_str().is_some() || node.text() == Some("null") {
            return Schema::untyped().with_kind(Some(node));
        }
        self.keynames(node, &SCHEMA);
        let mut schema = self.typed_schema(node, &SCHEMA);
        // In a type of TOSCA 2.0, it may refine another one, as who puts types together knows.
        if self.code == Code::InvalidDefinition && v2_0::is_of(node.document()) {
            return schema;
        }
        if !schema.is_typed() {
            // The default type is `string` (section 3.3.1.1).
            schema.type_name = Primitive::String.name();
        }
        let is_untyped = node.kind() == NodeKind::Mapping && node.get("type").is_none();
        if is_untyped && self.reading == Reading::Strict {
            self.invalid(node, "a schema definition needs a `type`", SCHEMA.section);
        }
        schema
    }

    fn constraints<'a>(&mut self, list: Node<'a>) -> Vec<Clause<'a>> {
        if list.kind() != NodeKind::Sequence {
            self.wrong(list, "constraints", "a list of constraint clauses", "3.6.3");
        }
        list.items().filter_map(|clause| self.constraint(clause)).collect()
    }

    fn constraint<'a>(&mut self, clause: Node<'a>) -> Option<Clause<'a>> {
        // In a template, a clause reports errors under its own code.
        let code = Some(self.code).filter(|&code| code != Code::InvalidTemplate);
        let read = Clause::read(clause)
            .map_err(|error| code.map_or(error.clone(), |code| error.with_code(code)));
        self.diagnostics.ok(read)
    }
}
