//! Reads elements and types from the documents of schemas.

use super::built_in::BuiltInType;
use super::facet::{Facet, pattern};
use super::{
    ComplexContent, DeclaredAttribute, DeclaredElement, FoundInSchema, Particle, ParticleTerm,
    SchemaContent, SchemaElementId, SchemaName, SchemaSet, SchemaType, SchemaTypeId,
    SchemaValueType, XML_SCHEMA,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use cuvee_text::source::Span;
use cuvee_text::xml::{XmlAttribute, XmlElement};
use std::borrow::Cow;

/// A schema to read.
pub(crate) struct SchemaRoot<'d> {
    /// The element `schema` of the document.
    pub(crate) element: XmlElement<'d>,
    /// The namespace of the schema if it names none itself.
    pub(crate) namespace: Cow<'d, str>,
}

/// The description of an element whose children are texts, one for each key.
pub(crate) struct KeyedElement<'d> {
    /// The namespace of the name. It is empty if there is none.
    pub(crate) namespace: Cow<'d, str>,
    /// The name in the namespace.
    pub(crate) name: Cow<'d, str>,
    /// The place of the declaration.
    pub(crate) span: Span,
    /// The keys of the element.
    pub(crate) keys: Vec<SchemaKey<'d>>,
}

/// A key of a [`KeyedElement`], with the name of its type and the place of its declaration.
pub(crate) struct SchemaKey<'d> {
    /// The name of the child element that contains the text.
    pub(crate) name: Cow<'d, str>,
    /// The qualified name of the type of the text, if any.
    pub(crate) type_name: Option<Cow<'d, str>>,
    /// Whether the key must be present.
    pub(crate) is_required: bool,
    /// The place of the declaration.
    pub(crate) span: Span,
}

/// How names in a schema are resolved.
#[derive(Clone)]
struct SchemaNames<'d> {
    namespace: Cow<'d, str>,
    /// Whether local elements belong to the namespace of the schema.
    is_qualified: bool,
    /// Whether the namespace was given from outside. Then names without a prefix may belong to it.
    is_given: bool,
}

struct SchemaReader<'d> {
    set: SchemaSet<'d>,
    found: Diagnostics,
}

impl<'d> SchemaSet<'d> {
    /// Reads schemas, and returns the mistakes in them.
    pub(crate) fn read(roots: &[SchemaRoot<'d>]) -> (Self, Diagnostics) {
        let mut reader = SchemaReader { set: Self::default(), found: Diagnostics::default() };
        let mut open = Vec::new();
        // All names are collected before any definition is read that may use them.
        for root in roots {
            reader.names_of(root, &mut open);
        }
        for (names, named) in &open {
            match *named {
                NamedInSchema::Element(id, element) => reader.global_element(id, element, names),
                NamedInSchema::Type(id, element) => reader.global_type(id, element, names),
            }
        }
        reader.no_cycles(&open);
        (reader.set, reader.found)
    }

    /// Adds an element that no schema declares, and returns its number.
    pub(crate) fn add_keyed(&mut self, keyed: KeyedElement<'d>) -> SchemaElementId {
        let keys =
            keyed.keys.into_iter().map(|SchemaKey { name, type_name, is_required, span }| {
                // The prefix stands for XML Schema, whether it is declared or not.
                let local =
                    type_name.as_deref().map(|name| name.rsplit(':').next().unwrap_or(name));
                let known = local.and_then(BuiltInType::named);
                let of = known.map_or(SchemaValueType::Unknown, SchemaValueType::BuiltIn);
                let namespace = keyed.namespace.clone();
                let id = self.declare(DeclaredElement { namespace, name, of, span });
                Particle { is_required, most: Some(1), term: ParticleTerm::Element(id) }
            });
        let particle = ParticleTerm::All(keys.collect());
        let particle = Some(Particle { is_required: true, most: Some(1), term: particle });
        let content = SchemaContent::Complex(ComplexContent { particle, ..Default::default() });
        let of = self.define(SchemaType {
            name: Cow::Borrowed(""),
            span: keyed.span,
            base: None,
            content,
        });
        let (namespace, name) = (keyed.namespace, keyed.name);
        self.declare(DeclaredElement {
            namespace,
            name,
            of: SchemaValueType::Defined(of),
            span: keyed.span,
        })
    }

    fn declare(&mut self, element: DeclaredElement<'d>) -> SchemaElementId {
        self.declared.push(element);
        SchemaElementId(u32::try_from(self.declared.len() - 1).unwrap_or(u32::MAX))
    }

    fn define(&mut self, defined: SchemaType<'d>) -> SchemaTypeId {
        self.defined.push(defined);
        SchemaTypeId(u32::try_from(self.defined.len() - 1).unwrap_or(u32::MAX))
    }
}

/// A global element or type of a schema.
#[derive(Clone, Copy)]
enum NamedInSchema<'d> {
    Element(SchemaElementId, XmlElement<'d>),
    Type(SchemaTypeId, XmlElement<'d>),
}

/// The local name of an element, if it belongs to XML Schema.
fn local<'d>(element: XmlElement<'d>) -> Option<&'d str> {
    let name = element.name();
    (name.namespace == XML_SCHEMA).then_some(name.local)
}

/// The children of an element of a schema, without annotations.
fn parts<'d>(element: XmlElement<'d>) -> impl Iterator<Item = (&'d str, XmlElement<'d>)> {
    let all = element.elements().filter_map(|part| Some((local(part)?, part)));
    all.filter(|(name, _)| *name != "annotation")
}

fn text<'d>(element: XmlElement<'d>, name: &str) -> Option<Cow<'d, str>> {
    Some(element.attribute(name)?.collapsed())
}

impl<'d> SchemaReader<'d> {
    fn names_of(
        &mut self,
        root: &SchemaRoot<'d>,
        open: &mut Vec<(SchemaNames<'d>, NamedInSchema<'d>)>,
    ) {
        let own = text(root.element, "targetNamespace");
        let names = SchemaNames {
            is_given: own.is_none(),
            namespace: own.unwrap_or_else(|| root.namespace.clone()),
            is_qualified: text(root.element, "elementFormDefault")
                .is_some_and(|it| it == "qualified"),
        };
        self.set.namespaces.insert(names.namespace.clone());
        for (what, part) in parts(root.element) {
            let named = match what {
                "element" | "complexType" | "simpleType" => self.named(part, &names),
                "import" => {
                    self.set.imported.insert(text(part, "namespace").unwrap_or_default());
                    None
                }
                // Definitions that use these report that they are not checked.
                "include" | "attribute" | "group" | "attributeGroup" | "notation" => None,
                _ => {
                    self.opaque(part);
                    None
                }
            };
            open.extend(named.map(|named| (names.clone(), named)));
        }
    }

    /// Registers a global element or type. Several documents may contain the same schema, so a
    /// second definition is reported only if it is in the same file.
    fn named(
        &mut self,
        part: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) -> Option<NamedInSchema<'d>> {
        let (name, span) = (self.name(part)?, part.span());
        let key = (names.namespace.clone(), name.clone());
        let is_element = part.name().local == "element";
        let first = match is_element {
            true => self.set.elements.get(&key).map(|id| self.set.declared(*id).span),
            false => self.set.types.get(&key).map(|id| self.set.defined(*id).span),
        };
        if let Some(first) = first {
            if first.file == span.file {
                let what = if is_element { "element" } else { "type" };
                let message = format!("there is another {what} `{name}`");
                let error = Diagnostic::error(Code::Duplicate, message).at(span);
                self.found.push(error.label(first, "this one"));
            }
            return None;
        }
        Some(if is_element {
            let (namespace, of) = (names.namespace.clone(), SchemaValueType::Unknown);
            let id = self.set.declare(DeclaredElement { namespace, name, of, span });
            self.set.elements.insert(key, id);
            NamedInSchema::Element(id, part)
        } else {
            let content = SchemaContent::Opaque;
            let id = self.set.define(SchemaType { name, span, base: None, content });
            self.set.types.insert(key, id);
            NamedInSchema::Type(id, part)
        })
    }

    fn name(&mut self, element: XmlElement<'d>) -> Option<Cow<'d, str>> {
        let name = text(element, "name").filter(|name| !name.is_empty());
        if name.is_none() {
            let message = format!("`{}` needs `name`", element.name().local);
            let error = Diagnostic::error(Code::InvalidDefinition, message).at(element.span());
            self.found.push(error);
        }
        name
    }

    /// Reports that a construct is not checked.
    fn opaque(&mut self, element: XmlElement<'d>) -> SchemaContent<'d> {
        let message = format!("content that `{}` allows is not checked", element.written_name());
        self.found.push(Diagnostic::note(Code::Undecidable, message).at(element.span()));
        SchemaContent::Opaque
    }

    fn global_element(
        &mut self,
        id: SchemaElementId,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) {
        let of = self.type_of(element, names);
        self.set.declared[id.0 as usize].of = of;
    }

    fn global_type(&mut self, id: SchemaTypeId, element: XmlElement<'d>, names: &SchemaNames<'d>) {
        let (base, content) = match element.name().local {
            "simpleType" => self.simple_type(element, names),
            _ => self.complex_type(element, names),
        };
        let defined = &mut self.set.defined[id.0 as usize];
        (defined.base, defined.content) = (base, content);
    }

    /// Reports types that derive from themselves.
    fn no_cycles(&mut self, open: &[(SchemaNames<'d>, NamedInSchema<'d>)]) {
        for (_, named) in open {
            let NamedInSchema::Type(id, element) = *named else { continue };
            let base = self.set.defined(id).base;
            let is_own = |of| of == SchemaValueType::Defined(id);
            if base.is_some_and(|base| self.set.chain(base).any(is_own)) {
                let message = format!("`{}` derives from itself", self.set.defined(id).name);
                self.found.push(Diagnostic::error(Code::CyclicType, message).at(element.span()));
            }
        }
    }

    /// The type of an element or attribute: a named type, a type defined inside of it, or any.
    fn type_of(&mut self, element: XmlElement<'d>, names: &SchemaNames<'d>) -> SchemaValueType {
        if let Some(attribute) = element.attribute("type") {
            return self.named_type(element, attribute, names);
        }
        let inside = parts(element).find(|(what, _)| matches!(*what, "simpleType" | "complexType"));
        let Some((what, inside)) = inside else {
            let any = BuiltInType::named(if element.name().local == "attribute" {
                "anySimpleType"
            } else {
                "anyType"
            });
            return any.map_or(SchemaValueType::Unknown, SchemaValueType::BuiltIn);
        };
        let (base, content) = match what {
            "simpleType" => self.simple_type(inside, names),
            _ => self.complex_type(inside, names),
        };
        let (name, span) = (Cow::Borrowed(""), inside.span());
        SchemaValueType::Defined(self.set.define(SchemaType { name, span, base, content }))
    }

    fn named_type(
        &mut self,
        element: XmlElement<'d>,
        attribute: XmlAttribute<'d>,
        names: &SchemaNames<'d>,
    ) -> SchemaValueType {
        let Some((namespace, name)) = self.meant(element, attribute) else {
            return SchemaValueType::Unknown;
        };
        let found = match self.set.value_type(&namespace, &name) {
            FoundInSchema::Nothing if names.is_given => {
                self.set.value_type(&names.namespace, &name)
            }
            found => found,
        };
        match found {
            FoundInSchema::Known(of) => of,
            FoundInSchema::Elsewhere => SchemaValueType::Unknown,
            FoundInSchema::Nothing => {
                let known = self.set.type_names(&namespace);
                let meant = did_you_mean(&name, known);
                let message = format!("there is no type `{name}` in {}", shown(&namespace));
                let error = Diagnostic::error(Code::UnknownType, message);
                self.found.push(error.at(attribute.value_span()).help_opt(meant));
                SchemaValueType::Unknown
            }
        }
    }

    /// Resolves the qualified name in an attribute.
    fn meant(
        &mut self,
        element: XmlElement<'d>,
        attribute: XmlAttribute<'d>,
    ) -> Option<SchemaName<'d>> {
        let value = attribute.collapsed();
        let (prefix, name) = value.split_once(':').unwrap_or(("", &value));
        let Some(namespace) = element.namespace(prefix) else {
            let message = format!("no namespace is declared for the prefix `{prefix}`");
            let error = Diagnostic::error(Code::Syntax, message).at(attribute.value_span());
            self.found.push(error.help(format!("declare it: `xmlns:{prefix}=\"...\"`")));
            return None;
        };
        Some((namespace, Cow::Owned(name.to_owned())))
    }

    fn simple_type(
        &mut self,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) -> (Option<SchemaValueType>, SchemaContent<'d>) {
        match parts(element).next() {
            Some(("restriction", restriction)) => {
                let base = match restriction.attribute("base") {
                    Some(base) => self.named_type(restriction, base, names),
                    None => self.type_of(restriction, names),
                };
                (Some(base), self.facets(restriction))
            }
            Some((_, other)) => (None, self.opaque(other)),
            None => (None, self.opaque(element)),
        }
    }

    fn facets(&mut self, restriction: XmlElement<'d>) -> SchemaContent<'d> {
        let (mut facets, mut values, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
        for (what, part) in parts(restriction) {
            let Some(attribute) = part.attribute("value") else { continue };
            let value = attribute.value();
            let count = || value.trim().parse::<usize>().ok();
            let facet = match what {
                "enumeration" => {
                    values.push(value);
                    continue;
                }
                "pattern" => {
                    match pattern(&value) {
                        Some(read) => patterns.push((value, read)),
                        None => return self.opaque(part),
                    }
                    continue;
                }
                "whiteSpace" => continue,
                "length" => count().map(|count| Facet::Length(count, Some(count))),
                "minLength" => count().map(|count| Facet::Length(count, None)),
                "maxLength" => count().map(|count| Facet::Length(0, Some(count))),
                "minInclusive" => Some(Facet::Above(value, true)),
                "minExclusive" => Some(Facet::Above(value, false)),
                "maxInclusive" => Some(Facet::Below(value, true)),
                "maxExclusive" => Some(Facet::Below(value, false)),
                "totalDigits" => count().map(Facet::Digits),
                "fractionDigits" => count().map(Facet::Decimals),
                _ => return self.opaque(part),
            };
            match facet {
                Some(facet) => facets.push(facet),
                None => {
                    let message = format!("`{what}` is an integer from 0 on");
                    let error = Diagnostic::error(Code::InvalidValue, message);
                    self.found.push(error.at(attribute.value_span()));
                }
            }
        }
        facets.extend((!values.is_empty()).then_some(Facet::Values(values)));
        facets.extend((!patterns.is_empty()).then_some(Facet::Patterns(patterns)));
        SchemaContent::Simple(facets)
    }

    fn complex_type(
        &mut self,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) -> (Option<SchemaValueType>, SchemaContent<'d>) {
        if text(element, "mixed").is_some_and(|it| matches!(&*it, "true" | "1")) {
            return (None, self.opaque(element));
        }
        let derived =
            parts(element).find(|(what, _)| matches!(*what, "simpleContent" | "complexContent"));
        let Some((of, derived)) = derived else {
            return (None, self.complex_content(element, names, false));
        };
        let by = parts(derived).find(|(what, _)| matches!(*what, "extension" | "restriction"));
        let Some((how, by)) = by else { return (None, self.opaque(derived)) };
        let base = by.attribute("base").map(|base| self.named_type(by, base, names));
        if of == "simpleContent" && how == "restriction" {
            return (base, self.opaque(by));
        }
        (base, self.complex_content(by, names, how == "extension"))
    }

    fn complex_content(
        &mut self,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
        extends: bool,
    ) -> SchemaContent<'d> {
        let mut content = ComplexContent { extends, ..ComplexContent::default() };
        for (what, part) in parts(element) {
            match what {
                "attribute" => match self.attribute(part, names) {
                    Some(attribute) => content.attributes.push(attribute),
                    None => return SchemaContent::Opaque,
                },
                "sequence" | "all" | "choice" => match self.particle(what, part, names) {
                    Some(particle) => content.particle = Some(particle),
                    None => return SchemaContent::Opaque,
                },
                _ => return self.opaque(part),
            }
        }
        SchemaContent::Complex(content)
    }

    fn attribute(
        &mut self,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) -> Option<DeclaredAttribute<'d>> {
        if element.attribute("ref").is_some() {
            self.opaque(element);
            return None;
        }
        let name = self.name(element)?;
        let is_required = text(element, "use").is_some_and(|it| it == "required");
        Some(DeclaredAttribute { name, of: self.type_of(element, names), is_required })
    }

    /// Reads a particle. `None` where it is not known what it allows.
    fn particle(
        &mut self,
        what: &str,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) -> Option<Particle> {
        let most = self.most(element);
        let is_required = text(element, "minOccurs").is_none_or(|least| least.parse() != Ok(0));
        if what == "element" {
            return Some(Particle {
                is_required,
                most,
                term: ParticleTerm::Element(self.local_element(element, names)?),
            });
        }
        let mut inside = Vec::new();
        for (what, part) in parts(element) {
            match what {
                "element" | "sequence" | "choice" | "all" => {
                    inside.push(self.particle(what, part, names)?);
                }
                _ => {
                    self.opaque(part);
                    return None;
                }
            }
        }
        let term = match what {
            "choice" => ParticleTerm::Choice(inside),
            "all" => ParticleTerm::All(inside),
            _ => ParticleTerm::Sequence(inside),
        };
        Some(Particle { is_required, most, term })
    }

    fn most(&mut self, element: XmlElement<'d>) -> Option<u64> {
        for name in ["minOccurs", "maxOccurs"] {
            let Some(attribute) = element.attribute(name) else { continue };
            let value = attribute.collapsed();
            let is_unbounded = name == "maxOccurs" && value == "unbounded";
            if !is_unbounded && value.parse::<u64>().is_err() {
                let message = format!("`{name}` is an integer from 0 on, not `{value}`");
                let error = Diagnostic::error(Code::InvalidValue, message);
                self.found.push(error.at(attribute.value_span()));
            }
        }
        text(element, "maxOccurs").map_or(Some(1), |most| most.parse().ok())
    }

    fn local_element(
        &mut self,
        element: XmlElement<'d>,
        names: &SchemaNames<'d>,
    ) -> Option<SchemaElementId> {
        if let Some(attribute) = element.attribute("ref") {
            return self.referred(element, attribute, names);
        }
        let name = self.name(element)?;
        let form = text(element, "form");
        let is_qualified = form.map_or(names.is_qualified, |form| form == "qualified");
        let namespace = if is_qualified { names.namespace.clone() } else { Cow::Borrowed("") };
        let of = self.type_of(element, names);
        Some(self.set.declare(DeclaredElement { namespace, name, of, span: element.span() }))
    }

    fn referred(
        &mut self,
        element: XmlElement<'d>,
        attribute: XmlAttribute<'d>,
        names: &SchemaNames<'d>,
    ) -> Option<SchemaElementId> {
        let (namespace, name) = self.meant(element, attribute)?;
        let found = match self.set.element(&namespace, &name) {
            FoundInSchema::Nothing if names.is_given => self.set.element(&names.namespace, &name),
            found => found,
        };
        match found {
            FoundInSchema::Known(id) => Some(id),
            FoundInSchema::Elsewhere => None,
            FoundInSchema::Nothing => {
                let meant = did_you_mean(&name, self.set.element_names(&namespace));
                let message = format!("there is no element `{name}` in {}", shown(&namespace));
                let error = Diagnostic::error(Code::UnknownElement, message);
                self.found.push(error.at(attribute.value_span()).help_opt(meant));
                None
            }
        }
    }
}

fn shown(namespace: &str) -> &str {
    if namespace.is_empty() { "no namespace" } else { namespace }
}
