//! Checks whether values match their types and constraints. The check continues after an error.
//!
//! The recursion follows the nesting of a value, which the parser limits.

use super::datum::Datum;
use super::form::TextType;
use super::literal::{Literal, range};
use super::rule::GivenValues;
use super::truth::{Truth, is_unsupported};
use super::{
    Clause, DataTypeView, DataTypes, DefinedRole, Findings, Operator, Primitive,
    PropertyDefinition, Schema, Undecided, UndecidedReason, function, function_not_map,
};
use crate::diagnostic::{Cite, Code, Diagnostic, Rule, Severity, TOSCA_2_0, did_you_mean, listed};
use crate::tosca::v2_0::function::{BuiltIn, FormedValue, PlainText, amount_and_unit, constant};
use crate::tosca::v2_0::{self, called, called_as_key};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// Answers a function of TOSCA 2.0 that asks for another value.
pub(crate) type ValueQuery<'q> =
    &'q dyn Fn(&str, Option<Node<'_>>) -> Option<FormedValue<TextType>>;

/// What keys are where no `key_schema` says more.
static STRING: LazyLock<Schema<'static>> = LazyLock::new(|| Schema::of("string"));

/// Checks values and collects the findings.
pub(super) struct ValueChecker<'t, 'a> {
    pub(super) types: &'t dyn DataTypes<'a>,
    /// Who answers functions in validations that ask for other values.
    pub(super) ask: Option<ValueQuery<'t>>,
    pub(super) findings: Findings<'t>,
}

/// A schema together with its resolved type.
#[derive(Clone, Copy)]
pub(super) struct TypedSchema<'t> {
    /// The primitive type that the schema's type is or derives from.
    pub(super) base: Option<Primitive>,
    /// The data type that the schema names.
    pub(super) data_type: Option<DataTypeView<'t, 't>>,
    pub(super) schema: &'t Schema<'t>,
}

/// The owner of checked properties.
#[derive(Clone, Copy)]
pub(crate) struct PropertyOwner<'o> {
    /// The name of the owner in messages.
    pub(crate) what: &'o str,
    /// The place of the owner, where missing properties are reported.
    pub(crate) at: Option<Span>,
    /// The section to cite for properties that are not allowed.
    pub(crate) section: &'static str,
    /// Whether the owner may have properties that are not known.
    pub(crate) is_open: bool,
}

impl<'t> TypedSchema<'t> {
    pub(super) fn key_schema(&self) -> Option<&'t Schema<'t>> {
        self.schema.key_schema.as_deref().or_else(|| self.data_type?.key_schema)
    }

    pub(super) fn entry_schema(&self) -> Option<&'t Schema<'t>> {
        self.entry_schemas().next()
    }

    /// The schema of entries, then that of the type, which it narrows.
    fn entry_schemas(&self) -> impl Iterator<Item = &'t Schema<'t>> + use<'t> {
        let of_type = self.data_type.and_then(|data_type| data_type.entry_schema);
        self.schema.entry_schema.as_deref().into_iter().chain(of_type)
    }

    /// The clauses of the type, then those of the schema.
    fn constraints(&self) -> impl Iterator<Item = &'t Clause<'t>> + use<'t> {
        self.data_type
            .map_or(&[][..], |data_type| data_type.constraints)
            .iter()
            .chain(&self.schema.constraints)
    }

    /// The validation clauses of the type, then those of the schema.
    pub(super) fn validations(&self) -> impl Iterator<Item = &'t Node<'t>> + use<'t> {
        let of_type = self.data_type.map_or(&[][..], |data_type| data_type.validations);
        of_type.iter().chain(&self.schema.validations)
    }

    /// The definition of this property, if the type is a data type with properties.
    pub(super) fn property(&self, name: &str) -> Option<&'t PropertyDefinition<'t>> {
        self.data_type
            .filter(|_| self.base.is_none())?
            .properties
            .iter()
            .copied()
            .find(|property| property.named.name == name)
    }

    /// The schema of a part of values: of a property of a data type, or of entries.
    pub(super) fn part(&self, name: &str) -> Option<&'t Schema<'t>> {
        match self.base {
            None => self.property(name)?.expected(),
            Some(_) => self.entry_schema(),
        }
    }

    /// Whether a scalar has one of the units of its type, where the type says which there are.
    fn has_unit(&self, datum: Datum<'t>) -> Option<bool> {
        let units = self.data_type?.units;
        let (_, unit) = amount_and_unit(datum.as_str()?)?;
        (!units.is_empty()).then(|| units.iter().any(|(known, _)| known == unit))
    }

    /// Whether the number of a scalar is an integer, if its type wants one.
    fn has_number(&self, datum: Datum<'t>) -> bool {
        let wants_integer = self.data_type.is_some_and(|data_type| data_type.numbers.are_integers);
        let number = datum.as_str().and_then(amount_and_unit).map(|(number, _)| number);
        !wants_integer || number.is_none_or(|number| number.parse::<i64>().is_ok())
    }

    /// Whether a file of TOSCA 2.0 names the type.
    fn is_of_2_0(&self) -> bool {
        self.schema.kind.is_some_and(|kind| v2_0::is_of(kind.document()))
    }

    /// Whether the schema has a type that is not known, because the type or an ancestor is not
    /// defined.
    pub(super) fn is_unknown(&self) -> bool {
        self.base.is_none()
            && self.schema.is_typed()
            && self.data_type.is_none_or(|data_type| data_type.is_open)
    }

    /// The function that a node calls where a value of this schema is expected. A map whose only
    /// key is a property of the type is a value: `token` is a property of credentials, too. Where a
    /// map is expected, arguments that no function takes make the node a value.
    pub(super) fn function(&self, datum: Datum<'t>) -> Option<&'t str> {
        let node = datum.node()?;
        let name = function(node)?;
        match self.base {
            Some(Primitive::Map) => function_not_map(node),
            None if !self.schema.is_typed() => function_not_map(node),
            _ => self.property(name).is_none().then_some(name),
        }
    }

    /// Whether values of a built-in type may fit.
    fn may_be(&self, built_in: &str) -> bool {
        let base = self.base.map(Primitive::name);
        // Some types are written as others.
        let is_written = matches!(
            (built_in, self.base),
            ("integer", Some(Primitive::Float))
                | ("float", Some(Primitive::Scalar))
                | (
                    "string",
                    Some(
                        Primitive::Timestamp
                            | Primitive::Version
                            | Primitive::Scalar
                            | Primitive::Bytes
                    )
                )
        );
        !self.schema.is_typed() || self.is_unknown() || base == Some(built_in) || is_written
    }

    /// The expected values, for messages.
    fn describe(&self) -> String {
        match (self.base, self.data_type) {
            (Some(base), None) => base.describe().to_owned(),
            (Some(base), Some(_)) => {
                format!("a `{}`, which is {}", self.schema.type_name, base.describe())
            }
            _ => format!("a `{}`, which is a map of its properties", self.schema.type_name),
        }
    }
}

impl<'t, 'a> ValueChecker<'t, 'a> {
    pub(super) fn new(types: &'t dyn DataTypes<'a>) -> Self {
        Self { types, ask: None, findings: Findings::default() }
    }

    pub(super) fn kind(&self, schema: &'t Schema<'t>) -> TypedSchema<'t> {
        let primitive = schema.primitive();
        let data_type = if primitive.is_none() {
            self.types.data_type_in(schema.file(), schema.type_name)
        } else {
            None
        };
        TypedSchema { base: primitive.or_else(|| data_type?.base), data_type, schema }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.findings.diagnostics.push(diagnostic);
    }

    /// The errors behind the first `before` diagnostics, without warnings.
    pub(super) fn errors_since(&mut self, before: usize) -> impl Iterator<Item = &mut Diagnostic> {
        self.findings
            .diagnostics
            .iter_mut()
            .skip(before)
            .filter(|found| found.severity == Severity::Error)
    }

    /// Runs a check. If the checked value is secret, what the check reports only says that the value
    /// is wrong, and shows nothing of it.
    pub(super) fn discreetly(&mut self, is_secret: bool, check: impl FnOnce(&mut Self)) {
        let before = self.findings.diagnostics.len();
        check(self);
        if is_secret {
            let found = self.findings.diagnostics.iter_mut().skip(before);
            // That a part is missing tells nothing of the others.
            let found = found.filter(|found| found.code != Code::MissingProperty);
            found.for_each(|found| *found = concealed(found));
        }
    }

    /// Records that the validity of a node is not known. A value outside a document has no place,
    /// so nothing is recorded.
    pub(super) fn undecided(
        &mut self,
        datum: Datum<'t>,
        reason: UndecidedReason<'t>,
        schema: Option<&'t Schema<'t>>,
    ) {
        let undecided = datum.node().map(|node| Undecided { node, reason, schema });
        self.findings.undecided.extend(undecided);
    }

    /// Checks the type of a value, and its constraints if the type is right.
    pub(super) fn value(&mut self, datum: Datum<'t>, schema: &'t Schema<'t>) {
        let kind = self.kind(schema);
        let is_secret = kind.data_type.is_some_and(|data_type| data_type.is_secret);
        self.discreetly(is_secret, |checker| {
            let before = checker.findings.diagnostics.len();
            if checker.typed(datum, &kind) && checker.errors_since(before).next().is_none() {
                kind.constraints().for_each(|clause| checker.constraint(datum, clause, &kind));
                checker.validations(datum, &kind);
            }
        });
    }

    /// Checks the type of a value without its constraints. Returns whether the value can be checked
    /// further.
    pub(super) fn typed(&mut self, datum: Datum<'t>, kind: &TypedSchema<'t>) -> bool {
        if let Some(name) = kind.function(datum) {
            if !self.computed(datum, kind) {
                self.undecided(datum, UndecidedReason::Function(name), Some(kind.schema));
            }
            return false;
        }
        if kind.is_unknown() {
            self.undecided(
                datum,
                UndecidedReason::UnknownType(kind.schema.type_name),
                Some(kind.schema),
            );
            return false;
        }
        if !kind.schema.is_typed() {
            self.untyped(datum);
            return true;
        }
        match kind.base {
            Some(Primitive::List) if datum.kind() == NodeKind::Sequence => {
                self.entries(datum.items(), kind)
            }
            Some(Primitive::Map) if datum.kind() == NodeKind::Mapping => {
                datum.entries().for_each(|(key, _)| self.key(key, kind));
                self.entries(datum.entries().map(|(_, entry)| entry), kind);
            }
            Some(Primitive::Range) if datum.kind() == NodeKind::Sequence => {
                return self.range(datum, kind);
            }
            None if datum.kind() == NodeKind::Mapping => {
                let properties = kind.data_type.map_or(&[][..], |data_type| data_type.properties);
                let owner = PropertyOwner {
                    what: &format!("`{}`", kind.schema.type_name),
                    at: datum.span(),
                    section: "3.7.6",
                    is_open: false,
                };
                self.assignments(Some(datum), properties, owner);
                self.rules(datum, kind);
            }
            Some(Primitive::Scalar)
                if kind.has_unit(datum) == Some(false) || !kind.has_number(datum) =>
            {
                self.invalid(datum, kind);
                return false;
            }
            Some(Primitive::Timestamp) if kind.is_of_2_0() && !datum.is_rfc_3339() => {
                self.invalid(datum, kind);
                return false;
            }
            // A value from elsewhere has no version of its own.
            Some(Primitive::Integer)
                if kind.is_of_2_0() && matches!(datum.scalar(), Some(Scalar::Float(_))) =>
            {
                self.invalid(datum, kind);
                return false;
            }
            Some(primitive) if Literal::read(datum, primitive).is_some() => {
                self.spelling(datum, primitive)
            }
            _ => {
                self.invalid(datum, kind);
                return false;
            }
        }
        true
    }

    /// Checks the value of a call of TOSCA 2.0 (section 10.2), as far as it is known here. Returns
    /// whether that says all.
    fn computed(&mut self, datum: Datum<'t>, kind: &TypedSchema<'t>) -> bool {
        let node = datum.node().filter(|node| v2_0::is_of(node.document()));
        let Some((node, (name, _))) = node.and_then(|node| Some((node, called(node)?))) else {
            return false;
        };
        let rule = Rule::new(&TOSCA_2_0, BuiltIn::named(name).map_or("10.2", |it| it.section));
        let error = |code, message| Diagnostic::error(code, message).at(node.span()).rule(rule);
        let result = BuiltIn::named(name).and_then(BuiltIn::result);
        let unfit = result.filter(|result| !kind.may_be(result));
        match (constant(node, &PlainText), unfit) {
            (Err(why), None) if is_unsupported(&why) => return false,
            (Err(why), _) => {
                let message = format!("`${name}` has no value: {why}");
                self.report(error(Code::InvalidFunction.into(), message));
            }
            (Ok(_), Some(result)) => {
                let got = Primitive::of_2_0(result).map_or(result, Primitive::describe);
                let message = format!("`${name}` gives {got}, and {} is expected", kind.describe());
                self.report(error(Code::InvalidValue.into(), message));
            }
            (Ok(Some(value)), None) => {
                let mut checker = ValueChecker { ask: self.ask, ..ValueChecker::new(self.types) };
                checker.value(Datum::Value(&value), kind.schema);
                let wrong = checker.findings.diagnostics.into_iter();
                for found in wrong.filter(|found| found.severity == Severity::Error) {
                    let message = format!("the value of `${name}` does not fit: {}", found.message);
                    self.report(error(found.code, message).help_opt(found.help));
                }
            }
            (Ok(None), None) => return false,
        }
        true
    }

    /// Checks the rules of the specification between the properties of a data type.
    fn rules(&mut self, datum: Datum<'t>, kind: &TypedSchema<'t>) {
        let Some(data_type) = kind.data_type else { return };
        let definitions = data_type.properties;
        let values = GivenValues { assigned: Some(datum), definitions, at: datum.span() };
        let owner = format!("`{}`", kind.schema.type_name);
        let wrong = data_type.rules.iter().filter_map(|rule| rule.check(&values, &owner));
        self.findings.diagnostics.extend(wrong);
    }

    fn invalid(&mut self, datum: Datum<'t>, kind: &TypedSchema<'t>) {
        let message = format!("expected {}, got {}", kind.describe(), datum.described());
        let section = kind.base.map_or("3.7.6", Primitive::section);
        let units = kind.data_type.map_or(&[][..], |data_type| data_type.units);
        let names: Vec<_> = units.iter().map(|(unit, _)| format!("`{unit}`")).collect();
        let listed =
            (!units.is_empty()).then(|| format!("write a number and one of {}", names.join(", ")));
        let help = listed.or_else(|| kind.base.and_then(|base| base.advice(datum)));
        self.report(
            Diagnostic::error(Code::InvalidValue, message)
                .at(datum.span())
                .section(section)
                .help_opt(help),
        );
    }

    fn spelling(&mut self, datum: Datum<'t>, primitive: Primitive) {
        let better = datum.text().and_then(|text| primitive.better_case(text));
        let Some((best, section)) = better else { return };
        let message = format!("the unit in {} is best written `{best}`", datum.shown());
        self.report(
            Diagnostic::warning(Code::InvalidValue, message).at(datum.span()).section(section),
        );
    }

    /// Checks a key of a map, which is a string unless the `key_schema` allows others. If the key
    /// is only the text of a list or a map, the parts of that cannot be checked.
    fn key(&mut self, key: Datum<'t>, kind: &TypedSchema<'t>) {
        if key.node().is_some_and(|key| called_as_key(key).is_some()) {
            return self.value(key, kind.key_schema().unwrap_or(&STRING));
        }
        let Some(schema) = kind.key_schema() else {
            let is_other = |node: Node<'_>| v2_0::is_of(node.document()) && node.as_str().is_none();
            if key.kind() != NodeKind::Scalar || key.node().is_some_and(is_other) {
                let message = format!("expected a string as key, got {}", key.described());
                let error = Diagnostic::error(Code::InvalidValue, message).at(key.span());
                let help = "let the `key_schema` of the map say what its keys are";
                self.report(error.section("3.3.5").help(help));
            }
            return;
        };
        let expected = self.kind(schema);
        let stands_for = match expected.base {
            Some(Primitive::List | Primitive::Range) => key.stands_for(NodeKind::Sequence),
            Some(Primitive::Map) => key.stands_for(NodeKind::Mapping),
            None => schema.is_typed() && key.stands_for(NodeKind::Mapping),
            Some(_) => false,
        };
        if !stands_for {
            self.value(key, schema);
        }
    }

    fn entries(&mut self, entries: impl Iterator<Item = Datum<'t>>, kind: &TypedSchema<'t>) {
        for entry in entries {
            let before = self.findings.diagnostics.len();
            for schema in kind.entry_schemas() {
                if self.errors_since(before).next().is_none() {
                    self.value(entry, schema);
                }
            }
            if kind.entry_schema().is_none() {
                self.untyped(entry);
            }
        }
    }

    /// Looks for function calls in a value without an expected type.
    fn untyped(&mut self, datum: Datum<'t>) {
        if let Some(name) = datum.node().and_then(function_not_map) {
            return self.undecided(datum, UndecidedReason::Function(name), None);
        }
        let parts = datum.items().chain(datum.entries().map(|(_, entry)| entry));
        parts.for_each(|part| self.untyped(part));
    }

    /// Checks a range. Its bounds may be function calls.
    fn range(&mut self, datum: Datum<'t>, kind: &TypedSchema<'t>) -> bool {
        let calls: Vec<_> =
            datum.items().filter_map(|bound| Some((bound, function(bound.node()?)?))).collect();
        if datum.size() == 2 && !calls.is_empty() {
            calls.into_iter().for_each(|(bound, name)| {
                self.undecided(bound, UndecidedReason::Function(name), None)
            });
            return false;
        }
        let is_range = range(datum).is_some();
        if !is_range {
            self.invalid(datum, kind);
        }
        is_range
    }

    /// Checks the values of properties: each has to be defined and valid, and each required one has
    /// to be present.
    pub(super) fn assignments(
        &mut self,
        values: Option<Datum<'t>>,
        definitions: &[&'t PropertyDefinition<'t>],
        owner: PropertyOwner<'_>,
    ) {
        let PropertyOwner { what, at, section, is_open } = owner;
        let values = values.filter(|values| values.scalar() != Some(Scalar::Null));
        if let Some(datum) = values.filter(|values| values.kind() != NodeKind::Mapping) {
            let message =
                format!("expected a map of the properties of {what}, got {}", datum.shown());
            return self.report(
                Diagnostic::error(Code::InvalidValue, message).at(datum.span()).section(section),
            );
        }
        let known: FxHashMap<&str, _> =
            definitions.iter().map(|&definition| (definition.named.name, definition)).collect();
        let mut assigned = FxHashSet::default();
        for (key, value) in values.into_iter().flat_map(Datum::entries) {
            let name = &*key.key_text();
            let definition = key.text().and_then(|name| known.get(name));
            match definition {
                Some(definition) => {
                    assigned.insert(definition.named.name);
                    self.assignment(value, definition);
                }
                None if is_open => self.untyped(value),
                None => self.unknown(key, name, definitions, what, section),
            }
        }
        let missing = |definition: &&PropertyDefinition<'_>| {
            definition.schema.is_typed()
                && definition.needs_value()
                && !assigned.contains(definition.named.name)
        };
        for definition in definitions.iter().copied().filter(missing) {
            let message =
                format!("{what} needs a value of the property `{}`", definition.named.name);
            let error =
                Diagnostic::error(Code::MissingProperty, message).at(at).section("3.6.10.5");
            self.report(error.label(definition.named.key.span(), "the property is defined here"));
        }
        let is_known = self.ask.is_some();
        let is_taken = |it: &&PropertyDefinition<'_>| {
            is_known && it.schema.asks() && !assigned.contains(it.named.name)
        };
        definitions.iter().copied().filter(is_taken).for_each(|it| self.taken(it, at));
    }

    /// Checks the value that an owner at a place has by the definition of a property, where whether
    /// it fits depends on the owner.
    pub(super) fn taken(&mut self, definition: &'t PropertyDefinition<'t>, at: Option<Span>) {
        let Some(value) = definition.taken() else { return };
        let mut checker = ValueChecker { ask: self.ask, ..ValueChecker::new(self.types) };
        checker.discreetly(definition.is_sensitive(), |checker| {
            checker.value(value.into(), &definition.schema);
        });
        let wrong = checker.findings.diagnostics.into_iter();
        for found in wrong.filter(|found| found.severity == Severity::Error) {
            let name = definition.named.name;
            let message = format!("the default of `{name}` does not fit: {}", found.message);
            let error = found.with_message(message).at(at);
            self.report(error.label(value.span(), "the default is here"));
        }
    }

    /// Checks an assigned value. A value that a refinement fixed must not change (section
    /// 3.6.10.6).
    pub(super) fn assignment(&mut self, value: Datum<'t>, definition: &'t PropertyDefinition<'t>) {
        let is_secret = definition.is_sensitive();
        self.discreetly(is_secret, |checker| checker.assigned(value, definition));
    }

    fn assigned(&mut self, value: Datum<'t>, definition: &'t PropertyDefinition<'t>) {
        let expected = definition.expected();
        match expected {
            Some(schema) => self.value(value, schema),
            None => self.untyped(value),
        }
        let Some(fixed) = definition.value else { return };
        if v2_0::is_of(fixed.document()) {
            if !definition.takes_no_value() {
                return;
            }
            let name = definition.named.name;
            let message = format!("`{name}` has a fixed value, and takes no other");
            let error = Diagnostic::error(Code::InvalidValue, message).at(value.span());
            let error = error.rule(definition.role.assignment()).help("leave it out");
            return self.report(error.label(fixed.span(), "the value is fixed here"));
        }
        // In version 1.3, the value of a parameter is what it gets unless someone gives another.
        let fixes = definition.role != DefinedRole::Parameter;
        let Some(schema) = expected.filter(|_| fixes) else { return };
        match self.same(value, fixed.into(), Some(schema)) {
            Truth::Yes => {}
            Truth::Unknown(reason) => self.undecided(value, reason, Some(schema)),
            Truth::No => {
                let message = format!(
                    "the property `{}` has the fixed value {}",
                    definition.named.name,
                    Datum::Node(fixed).shown()
                );
                let error = Diagnostic::error(Code::InvalidValue, message)
                    .at(value.span())
                    .section("3.6.10.6");
                self.report(error.label(fixed.span(), "the value is fixed here"));
            }
        }
    }

    fn unknown(
        &mut self,
        key: Datum<'t>,
        name: &str,
        known: &[&PropertyDefinition<'_>],
        owner: &str,
        section: &'static str,
    ) {
        let names = || known.iter().map(|definition| definition.named.name);
        let listed = || match known {
            [] => "it has no properties".into(),
            _ => format!("it has {}", listed(names())).into(),
        };
        let help = did_you_mean(name, names()).unwrap_or_else(listed);
        let message = format!("{owner} has no property `{name}`");
        self.report(
            Diagnostic::error(Code::UnknownProperty, message)
                .at(key.span())
                .section(section)
                .help(help),
        );
    }

    fn constraint(&mut self, datum: Datum<'t>, clause: &'t Clause<'t>, kind: &TypedSchema<'t>) {
        match self.fulfils(datum, clause, kind) {
            Truth::Yes => {}
            Truth::Unknown(reason) => self.undecided(datum, reason, Some(kind.schema)),
            Truth::No => {
                let message = format!("{} violates `{}`", datum.shown(), short(clause.text()));
                let error = Diagnostic::error(Code::ViolatedConstraint, message)
                    .at(datum.span())
                    .section("3.6.3");
                let listed =
                    Some(clause.operand).filter(|_| clause.operator == Operator::ValidValues);
                let candidates = listed.into_iter().flat_map(Node::items).filter_map(Node::text);
                let meant = datum.text().and_then(|text| did_you_mean(text, candidates));
                self.report(
                    error.label(clause.span, "the constraint is declared here").help_opt(meant),
                );
            }
        }
    }
}

/// What may be said of a secret value that is wrong.
pub(crate) fn concealed(found: &Diagnostic) -> Diagnostic {
    let message = "the value is sensitive, and its definition rejects it";
    let told = Diagnostic::error(found.code, message).with_severity(found.severity).at(found.span);
    match &found.rule {
        Some(rule) => told.rule(**rule),
        None => told,
    }
}

/// Shortens a text for messages.
pub(super) fn short(text: String) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST).and_then(|(at, _)| text.get(..at)) {
        Some(start) => format!("{start}…"),
        None => text,
    }
}
