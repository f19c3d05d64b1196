//! Reads node filters (section 3.6.5), and checks whether nodes fulfil them.

use super::function::function_in;
use super::shape::{CAPABILITY_FILTER, FILTER};
use super::v2_0;
use super::v2_0::function::{FormedValue, PlainText, evaluate};
use super::value::{
    Clause, DataTypes, Datum, Operator, PropertyDefinition, Schema, TextType, Undecided,
    UndecidedReason, check_value, fulfils_clause, function, is_unsupported,
};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};

/// A node filter as the template has it.
#[derive(Default)]
pub(crate) struct NodeFilter<'n> {
    /// The conditions on the node's own properties.
    pub properties: Vec<PropertyFilter<'n>>,
    /// The required capabilities.
    pub capabilities: Vec<CapabilityFilter<'n>>,
    /// In TOSCA 2.0, all other conditions.
    pub expressions: Vec<Node<'n>>,
}

/// The conditions on one property (section 3.6.4).
pub(crate) struct PropertyFilter<'n> {
    /// The name of the property.
    pub key: Node<'n>,
    /// The constraint clauses that the value has to fulfil.
    pub clauses: Vec<Clause<'n>>,
    /// The clauses that compare the value with the result of a function.
    pub unknown: Vec<Node<'n>>,
    /// In TOSCA 2.0, the path and the comparison, if in the filter of a requirement the property may
    /// also be one of the relationship, which is `SELF` there.
    pub of_self: Option<[Node<'n>; 2]>,
}

/// A required capability (section 3.6.5.2).
pub(crate) struct CapabilityFilter<'n> {
    /// The name of the capability, or of its type.
    pub key: Node<'n>,
    /// The conditions on the properties of the capability.
    pub properties: Vec<PropertyFilter<'n>>,
}

impl<'n> NodeFilter<'n> {
    /// Reads a node filter. Parts with a wrong shape are reported and left out.
    pub(crate) fn read(node: Node<'n>, diagnostics: &mut Diagnostics) -> Self {
        let mut filter = Self::default();
        if v2_0::is_of(node.document()) {
            if !node.is_null() {
                filter.expression(node);
            }
            return filter;
        }
        for (key, value) in map(node, "a node filter", "3.6.5.3", diagnostics) {
            match key.text().unwrap_or_default() {
                "properties" => filter.properties = property_filters(value, diagnostics),
                "capabilities" => {
                    let items = list(value, "capabilities", diagnostics);
                    filter.capabilities = items
                        .filter_map(|item| {
                            Some(diagnostics.ok(single(item, true))?.read(diagnostics))
                        })
                        .collect();
                }
                _ => diagnostics.0.extend(FILTER.unknown(key)),
            }
        }
        filter
    }

    /// Reads a filter of TOSCA 2.0, which is an expression (section 8.8). Comparisons of a property
    /// with a value are conditions on the property, as in version 1.3.
    fn expression(&mut self, node: Node<'n>) {
        match v2_0::called(node) {
            Some(("and", Some(all))) => all.items().for_each(|part| self.expression(part)),
            Some((name, Some(arguments))) => match comparison(name, arguments) {
                Some((None, filter)) => {
                    let path = arguments.items().next().and_then(v2_0::called);
                    let path = path.and_then(|(_, path)| path).filter(|it| it.items().len() == 2);
                    let of_self = path.map(|path| [path, node]);
                    self.properties.push(PropertyFilter { of_self, ..filter });
                }
                Some((Some(key), filter)) => {
                    self.capabilities.push(CapabilityFilter { key, properties: vec![filter] });
                }
                None => self.expressions.push(node),
            },
            _ => self.expressions.push(node),
        }
    }
}

/// The comparison of a property with a value, with the capability that has the property.
fn comparison<'n>(
    function: &str,
    arguments: Node<'n>,
) -> Option<(Option<Node<'n>>, PropertyFilter<'n>)> {
    // A pattern is anchored in version 1.3 and not in version 2.0.
    let operator = Operator::from_keyname(function).filter(|it| *it != Operator::Pattern)?;
    let mut arguments = arguments.items();
    let (property, value, None) = (arguments.next()?, arguments.next()?, arguments.next()) else {
        return None;
    };
    let ("get_property", Some(path)) = v2_0::called(property)? else { return None };
    let (capability, key) = filtered_path(path)?;
    let clause = Clause::new(operator.keyname(), value, value.span()).ok()?;
    let is_known = function_in(&value.to_value()).is_none() && v2_0::called(value).is_none();
    let clauses = if is_known { vec![clause] } else { return None };
    Some((capability, PropertyFilter { key, clauses, unknown: Vec::new(), of_self: None }))
}

/// The property of the filtered node that a path leads to, and the capability that has it. `SELF`
/// is the node in its own filter, and the relationship to it in that of a requirement.
pub(crate) fn filtered_path(path: Node<'_>) -> Option<(Option<Node<'_>>, Node<'_>)> {
    let steps: Vec<_> = path.items().collect();
    let is = |node: &Node<'_>, word: &str| node.as_str() == Some(word);
    let (_, rest) = steps.split_first().filter(|(first, _)| is(first, "SELF"))?;
    let rest = if rest.first().is_some_and(|it| is(it, "TARGET")) { &rest[1..] } else { rest };
    match rest {
        [name] => Some((None, *name)),
        [kind, capability, name] if is(kind, "CAPABILITY") => Some((Some(*capability), *name)),
        _ => None,
    }
}

/// Whether a filter asks for more than properties of the node and of its capabilities.
pub(crate) fn looks_around(filter: Node<'_>) -> bool {
    match v2_0::called(filter) {
        Some(("get_property", Some(path))) => filtered_path(path).is_none(),
        Some(("available_allocation", Some(_))) => true,
        _ => {
            filter.items().any(looks_around)
                || filter.entries().any(|(_, value)| looks_around(value))
        }
    }
}

impl<'n> NodeFilter<'n> {
    /// Derives a filter from the assignments of a node template that is to be selected: the values,
    /// or the clauses for values, of its own properties and of those of its capabilities.
    pub(crate) fn of_assignments(node: Node<'n>) -> Self {
        // Here properties may also be written as a list, as in a filter.
        let properties = |owner: Node<'n>| {
            let all = owner.get("properties").into_iter();
            let entries =
                all.flat_map(|all| all.entries().chain(all.items().flat_map(Node::entries)));
            entries.map(|(key, value)| assigned_filter(key, value)).collect()
        };
        let capabilities = node.get("capabilities").map(Node::entries).into_iter().flatten();
        Self {
            properties: properties(node),
            capabilities: capabilities
                .map(|(key, body)| CapabilityFilter { key, properties: properties(body) })
                .filter(|filter| !filter.properties.is_empty())
                .collect(),
            expressions: Vec::new(),
        }
    }
}

/// The filter of a property that has to have this value, or to fulfil these clauses.
fn assigned_filter<'n>(key: Node<'n>, value: Node<'n>) -> PropertyFilter<'n> {
    let is_clause = |node: Node<'n>| {
        let mut entries = node.entries();
        let name = entries.next().and_then(|(key, _)| key.text());
        entries.len() == 0 && name.is_some_and(|name| Operator::from_keyname(name).is_some())
    };
    let is_list = value.items().len() > 0 && value.items().all(is_clause);
    if is_clause(value) || is_list {
        return property_filter(key, value, &mut Diagnostics::default());
    }
    match function(value) {
        Some(_) => PropertyFilter { key, clauses: Vec::new(), unknown: vec![value], of_self: None },
        None => {
            let equal = Clause::new(Operator::Equal.keyname(), value, value.span());
            let clauses = equal.into_iter().collect();
            PropertyFilter { key, clauses, unknown: Vec::new(), of_self: None }
        }
    }
}

/// An entry of a list in a filter, with an optional value.
struct FilterEntry<'n> {
    key: Node<'n>,
    value: Option<Node<'n>>,
}

impl<'n> FilterEntry<'n> {
    fn read(self, diagnostics: &mut Diagnostics) -> CapabilityFilter<'n> {
        let mut properties = Vec::new();
        let body = self.value.filter(|body| !body.is_null());
        let body = body.map(|body| map(body, "a filter of a capability", "3.6.5.3", diagnostics));
        for (key, value) in body.into_iter().flatten() {
            match key.text() {
                Some("properties") => properties = property_filters(value, diagnostics),
                _ => diagnostics.0.extend(CAPABILITY_FILTER.unknown(key)),
            }
        }
        CapabilityFilter { key: self.key, properties }
    }
}

fn property_filters<'n>(node: Node<'n>, diagnostics: &mut Diagnostics) -> Vec<PropertyFilter<'n>> {
    let items = list(node, "properties", diagnostics);
    let entries: Vec<_> = items.filter_map(|item| diagnostics.ok(single(item, false))).collect();
    entries
        .into_iter()
        .filter_map(|entry| Some(property_filter(entry.key, entry.value?, diagnostics)))
        .collect()
}

fn property_filter<'n>(
    key: Node<'n>,
    value: Node<'n>,
    diagnostics: &mut Diagnostics,
) -> PropertyFilter<'n> {
    let one = (value.kind() != NodeKind::Sequence).then_some(value);
    let clauses = one.into_iter().chain(value.items());
    let (unknown, clauses): (Vec<_>, Vec<_>) =
        clauses.partition(|clause| function(*clause).is_some());
    let clauses =
        clauses.into_iter().filter_map(|clause| diagnostics.ok(Clause::read(clause))).collect();
    PropertyFilter { key, clauses, unknown, of_self: None }
}

fn list<'n>(
    node: Node<'n>,
    keyname: &str,
    diagnostics: &mut Diagnostics,
) -> impl Iterator<Item = Node<'n>> + use<'n> {
    if node.kind() != NodeKind::Sequence && !node.is_null() {
        let message =
            format!("`{keyname}` of a node filter has to be a list, not {}", node.describe());
        let error =
            Diagnostic::error(Code::InvalidTemplate, message).at(node.span()).section("3.6.5.3");
        diagnostics.push(error.help("start each of them with `-`"));
    }
    node.items()
}

fn map<'n>(
    node: Node<'n>,
    what: &str,
    section: &'static str,
    diagnostics: &mut Diagnostics,
) -> impl Iterator<Item = (Node<'n>, Node<'n>)> + use<'n> {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        let message = format!("{what} has to be a map, not {}", node.describe());
        diagnostics.push(
            Diagnostic::error(Code::InvalidTemplate, message).at(node.span()).section(section),
        );
    }
    node.entries()
}

/// Reads a map with one entry. Where `bare` allows it, a name alone is accepted, too.
fn single(item: Node<'_>, bare: bool) -> Result<FilterEntry<'_>, Diagnostic> {
    let mut entries = item.entries();
    match (item.kind(), entries.next(), entries.next()) {
        (NodeKind::Mapping, Some((key, value)), None) => {
            Ok(FilterEntry { key, value: Some(value) })
        }
        (NodeKind::Scalar, ..) if bare && item.as_str().is_some() => {
            Ok(FilterEntry { key: item, value: None })
        }
        _ => {
            let message = format!(
                "an entry of a list in a node filter has to be a map with one key, not {}",
                item.describe()
            );
            Err(Diagnostic::error(Code::InvalidTemplate, message)
                .at(item.span())
                .section("3.6.5.3"))
        }
    }
}

impl<'n> PropertyFilter<'n> {
    /// The name of the property.
    pub(crate) fn name(&self) -> &'n str {
        self.key.text().unwrap_or_default()
    }

    /// The definition of the property, where it is among these.
    pub(crate) fn definition<'d, 'c>(
        &self,
        definitions: &[&'d PropertyDefinition<'c>],
    ) -> Option<&'d PropertyDefinition<'c>> {
        definitions.iter().copied().find(|definition| definition.named.name == self.name())
    }
}

/// The result of checking a value against the filter of a property.
#[derive(Default)]
pub(crate) struct FilterFindings {
    /// A violation for each clause that the value violates. Its labels have the place of the
    /// clause.
    pub violations: Vec<Diagnostic>,
    /// Why the result is unknown, where it is unknown.
    pub undecided: Option<String>,
}

impl<'n> PropertyFilter<'n> {
    /// Checks a value of this schema against the filter. A missing value means that the value is
    /// not known yet. Violations of the schema itself are not reported here.
    pub(crate) fn hold<'a>(
        &self,
        value: Option<Datum<'_>>,
        expected: &Schema<'_>,
        types: &dyn DataTypes<'a>,
    ) -> FilterFindings {
        let Some(value) = value else {
            let undecided = Some(format!("the property `{}` has no value yet", self.name()));
            return FilterFindings { undecided, ..FilterFindings::default() };
        };
        let constraints = self.clauses.clone();
        let schema =
            Schema { constraints, key_schema: None, entry_schema: None, ..Schema::clone(expected) };
        // A value from outside a document may contain a call, which `check_value` would not
        // recognize.
        let call = if let Datum::Value(value) = value { function_in(value) } else { None };
        if let Some(call) = call {
            let undecided = Some(unknown_result(call));
            return FilterFindings { undecided, ..FilterFindings::default() };
        }
        let found = check_value(value, &schema, types);
        let unfiltered = Schema { constraints: Vec::new(), ..schema.clone() };
        let mut known = check_value(value, &unfiltered, types).diagnostics;
        let is_own = |found: &Diagnostic| match known.iter().position(|known| known == found) {
            Some(position) => {
                known.swap_remove(position);
                false
            }
            None => true,
        };
        let named = |undecided: &Undecided<'_>| match undecided.reason {
            UndecidedReason::Function(name) => Some(unknown_result(name)),
            _ => None,
        };
        let undecided = found.undecided.iter().find_map(named);
        FilterFindings {
            undecided: undecided.or_else(|| self.function().map(unknown_result)),
            violations: found.diagnostics.into_iter().filter(is_own).collect(),
        }
    }

    /// Checks a value of unknown type against the filter.
    fn hold_untyped(&self, value: &Value) -> FilterFindings {
        let violation = |clause: &Clause<'_>| {
            let message = format!("`{value}` violates `{}`", clause.text());
            Diagnostic::error(Code::ViolatedConstraint, message).label(clause.span, "")
        };
        let call = function_in(value);
        let violated = self.clauses.iter().filter(|clause| !fulfils_clause(value, clause));
        FilterFindings {
            violations: violated.filter(|_| call.is_none()).map(violation).collect(),
            undecided: call.or_else(|| self.function()).map(unknown_result),
        }
    }

    /// The function whose result the value is compared with, if there is one.
    fn function(&self) -> Option<&'n str> {
        self.unknown.iter().find_map(|clause| function(*clause))
    }
}

fn unknown_result(function: &str) -> String {
    format!("the result of `{function}` is not known here")
}

/// Whether a node fulfils a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FilterVerdict {
    /// The node fulfils the filter.
    Holds,
    /// The node may fulfil the filter, which is known at run time.
    Undecided(FilterReason),
    /// The node does not fulfil the filter.
    Fails(FilterReason),
}

/// The first clause that is not fulfilled, or whose result is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilterReason {
    /// The explanation for messages.
    pub message: String,
    /// The place of the clause in the filter.
    pub at: Span,
}

/// The state of a property for a filter.
pub(crate) enum FilteredProperty<'s> {
    /// The property is defined, and may have a value.
    Defined(&'s PropertyDefinition<'s>, Option<Datum<'s>>),
    /// The property has a value, but its type is unknown.
    Untyped(&'s Value),
    /// The property does not exist.
    Missing,
    /// It is unknown whether the property exists, because its owner is not fully known.
    Unknown,
}

/// A node that can be checked against a node filter.
pub(crate) trait FilterSubject<'c> {
    /// A property of the node, or of one of its capabilities.
    fn property(&self, capability: Option<&str>, name: &str) -> FilteredProperty<'_>;

    /// The capabilities that a key of a filter refers to: the capability with this name, or else
    /// all capabilities of this type (section 3.6.5.4).
    fn capabilities(&self, key: Node<'_>) -> Vec<&str>;

    /// The known data types.
    fn data_types(&self) -> &dyn DataTypes<'c>;

    /// The value of a function of TOSCA 2.0 that asks for more than a property of the node or of one
    /// of its capabilities, with what its type makes of texts.
    fn asked(&self, function: &str, path: Node<'_>) -> Option<FormedValue<TextType>>;

    /// The value of a property of the relationship to the node, if a path leads to one.
    fn of_relationship(&self, _path: Node<'_>) -> Option<FormedValue<TextType>> {
        None
    }
}

impl FilterVerdict {
    /// The verdict if all conditions have to hold: the first failure, or else the first undecided
    /// one.
    fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let mut undecided = None;
        for verdict in verdicts {
            match verdict {
                Self::Holds => {}
                Self::Fails(_) => return verdict,
                Self::Undecided(_) => undecided = undecided.or(Some(verdict)),
            }
        }
        undecided.unwrap_or(Self::Holds)
    }

    /// The verdict if one condition has to hold: one that holds, else one that is undecided, else
    /// the first failure. Returns nothing if there are no conditions.
    fn any(verdicts: impl IntoIterator<Item = Self>) -> Option<Self> {
        verdicts.into_iter().reduce(|best, verdict| match (&best, &verdict) {
            (Self::Holds, _) | (_, Self::Fails(_)) | (Self::Undecided(_), Self::Undecided(_)) => {
                best
            }
            _ => verdict,
        })
    }
}

impl NodeFilter<'_> {
    /// Checks whether a node fulfils the filter.
    pub(crate) fn verdict(&self, subject: &dyn FilterSubject<'_>) -> FilterVerdict {
        let own = self.properties.iter().map(|filter| filter.verdict(None, subject));
        let capabilities = self.capabilities.iter().map(|filter| filter.verdict(subject));
        FilterVerdict::all(own.chain(capabilities).chain([self.expressed(subject)]))
    }

    /// Checks whether a node fulfils the conditions that are no comparisons of a property of it with
    /// a value.
    pub(crate) fn expressed(&self, subject: &dyn FilterSubject<'_>) -> FilterVerdict {
        let of_self = self.properties.iter().filter_map(|filter| filter.of_self);
        let related = of_self.filter(|[path, _]| subject.of_relationship(*path).is_some());
        let all = self.expressions.iter().copied().chain(related.map(|[_, compared]| compared));
        FilterVerdict::all(all.map(|node| expression_verdict(node, subject)))
    }
}

/// Whether the expression of a filter holds for a node.
fn expression_verdict(node: Node<'_>, subject: &dyn FilterSubject<'_>) -> FilterVerdict {
    let query = |name: &str, path: Option<Node<'_>>| {
        let path = path?;
        let related = || subject.of_relationship(path);
        let own = || related().or_else(|| filtered_property(path, subject));
        let own = if name == "get_property" { own() } else { None };
        let found = own.or_else(|| subject.asked(name, path));
        found.filter(|(value, _)| function_in(value).is_none())
    };
    let reason = |message: String| FilterReason { message, at: node.span() };
    let (name, said) = match (v2_0::called(node), node.text()) {
        (Some((name, _)), _) => (name, format!("`${name}`")),
        (None, Some(text)) => (text, format!("`{text}`")),
        (None, None) => ("", node.describe().to_owned()),
    };
    match evaluate(node, &query, &PlainText) {
        Ok(Some(Value::Bool(true))) => FilterVerdict::Holds,
        Ok(Some(Value::Bool(_))) => FilterVerdict::Fails(reason(format!("{said} is false for it"))),
        Ok(Some(_)) => {
            FilterVerdict::Fails(reason(format!("{said} is neither true nor false for it")))
        }
        Ok(None) => FilterVerdict::Undecided(reason(unknown_result(name))),
        Err(why) if is_unsupported(&why) => FilterVerdict::Undecided(reason(why)),
        Err(why) => FilterVerdict::Fails(reason(format!("{said} has no value for it: {why}"))),
    }
}

/// The value of a property of the node or of one of its capabilities, with what its type makes of
/// texts.
fn filtered_property(
    path: Node<'_>,
    subject: &dyn FilterSubject<'_>,
) -> Option<FormedValue<TextType>> {
    let (key, name) = filtered_path(path)?;
    let capability = key.map(|key| subject.capabilities(key));
    let capability = match &capability {
        Some(found) => Some(*found.first()?),
        None => None,
    };
    match subject.property(capability, name.text()?) {
        FilteredProperty::Defined(definition, value) => {
            let value = match value {
                Some(value) => value.to_value(),
                None => definition.default.map(Node::to_value)?,
            };
            Some((value, TextType::of_part(&definition.schema, &[], subject.data_types())))
        }
        FilteredProperty::Untyped(value) => Some((value.clone(), None)),
        FilteredProperty::Missing | FilteredProperty::Unknown => None,
    }
}

impl CapabilityFilter<'_> {
    fn verdict(&self, subject: &dyn FilterSubject<'_>) -> FilterVerdict {
        let meant = subject.capabilities(self.key);
        let held = meant.iter().map(|&name| {
            let properties = self.properties.iter();
            FilterVerdict::all(properties.map(|filter| filter.verdict(Some(name), subject)))
        });
        FilterVerdict::any(held).unwrap_or_else(|| {
            let name = self.key.text().unwrap_or_default();
            let message = format!("it has no capability `{name}`");
            FilterVerdict::Fails(FilterReason { message, at: self.key.span() })
        })
    }
}

impl PropertyFilter<'_> {
    fn verdict(&self, capability: Option<&str>, subject: &dyn FilterSubject<'_>) -> FilterVerdict {
        let reason = |message: String| {
            let owner = capability.map(|name| format!(" of its capability `{name}`"));
            let named = format!("`{}`{}", self.name(), owner.unwrap_or_default());
            FilterReason { message: message.replacen("{}", &named, 1), at: self.key.span() }
        };
        if let Some([path, comparison]) = self.of_self
            && subject.of_relationship(path).is_some()
        {
            return expression_verdict(comparison, subject);
        }
        let found = match subject.property(capability, self.name()) {
            FilteredProperty::Missing => {
                return FilterVerdict::Fails(reason("it has no property {}".into()));
            }
            FilteredProperty::Unknown => {
                let message = "whether it has a property {} is not known".into();
                return FilterVerdict::Undecided(reason(message));
            }
            FilteredProperty::Untyped(value) => self.hold_untyped(value),
            FilteredProperty::Defined(definition, value) => {
                let untyped = Schema::untyped();
                let expected = definition.expected().unwrap_or(&untyped);
                self.hold(value, expected, subject.data_types())
            }
        };
        let FilterFindings { violations, undecided } = found;
        match (violations.into_iter().next(), undecided) {
            (Some(violation), _) => {
                let at = violation.labels.first().map_or(self.key.span(), |label| label.span);
                let message = format!("the value of {{}} does not fit: {}", violation.message);
                FilterVerdict::Fails(FilterReason { at, ..reason(message) })
            }
            (None, Some(because)) => {
                FilterVerdict::Undecided(reason(format!("{{}} is not decided: {because}")))
            }
            (None, None) => FilterVerdict::Holds,
        }
    }
}
