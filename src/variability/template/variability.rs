//! Parses the variability definition ("Variability Definition"), type-specific conditions and
//! technology rules.

use super::conditional::{boolean, invalid};
use super::entity::{string, weight};
use super::shape::{self, TYPE_SPECIFIC_CONDITION, TYPE_SPECIFIC_CONDITIONS};
use crate::diagnostic::Diagnostics;
use crate::tosca::shape::Reading;
use cuvee_text::case::lower_case;
use cuvee_text::decimal::Decimal;
use cuvee_text::yaml::{Node, NodeKind};
use std::borrow::Cow;

/// `topology_template.variability`
#[derive(Clone, Debug, Default)]
pub(crate) struct Variability<'a> {
    /// `inputs`
    pub inputs: Option<Node<'a>>,
    /// `presets`
    pub presets: Option<Node<'a>>,
    /// `expressions`: the names and the expressions.
    pub expressions: Vec<(Node<'a>, Node<'a>)>,
    /// `constraints`
    pub constraints: Vec<Node<'a>>,
    /// `options`
    pub options: Option<Node<'a>>,
    /// `type_specific_conditions`: the conditions, or the name of their file.
    pub type_specific_conditions: Option<Node<'a>>,
    /// `qualities`: the rules, or the names of their files.
    pub qualities: Option<Node<'a>>,
    /// `plugins`, `technology`: the names of the plugins, which are strings.
    pub technology_plugins: Vec<Node<'a>>,
}

pub(super) fn parse<'a>(node: Node<'a>, diagnostics: &mut Diagnostics) -> Variability<'a> {
    let mut variability = Variability::default();
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        diagnostics.push(invalid(node, "`variability` has to be a map"));
    }
    for (key, value) in node.entries() {
        match key.text().unwrap_or_default() {
            "inputs" => variability.inputs = Some(value),
            "presets" => variability.presets = Some(value),
            "expressions" if value.kind() == NodeKind::Mapping => {
                variability.expressions = value.entries().collect()
            }
            "expressions" if value.is_null() => {}
            "expressions" => diagnostics
                .push(invalid(value, "`expressions` has to be a map of named expressions")),
            "constraints" if value.kind() == NodeKind::Sequence => {
                variability.constraints = value.items().collect()
            }
            "constraints" if value.is_null() => {}
            "constraints" => diagnostics
                .push(invalid(value, "`constraints` has to be a list of logic expressions")),
            "options" => variability.options = Some(value),
            "type_specific_conditions" => variability.type_specific_conditions = Some(value),
            "qualities" => variability.qualities = Some(value),
            "plugins" => variability.technology_plugins = technology_plugins(value, diagnostics),
            _ => diagnostics.0.extend(shape::VARIABILITY.unknown(key, Reading::Strict)),
        }
    }
    variability
}

/// The names of technology plugins ("Plugin Definition").
fn technology_plugins<'a>(node: Node<'a>, diagnostics: &mut Diagnostics) -> Vec<Node<'a>> {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        diagnostics.push(invalid(node, "`plugins` has to be a map with `technology`"));
    }
    let mut plugins: Vec<Node<'_>> = Vec::new();
    for (key, value) in node.entries() {
        match key.text().unwrap_or_default() {
            "technology" => {
                let list = value.kind() == NodeKind::Sequence;
                for name in value.items().chain((!list && !value.is_null()).then_some(value)) {
                    let named = diagnostics.ok(string(name, "the name of a plugin"));
                    let is_new = !plugins.iter().any(|plugin| plugin.as_str() == named);
                    plugins.extend(named.filter(|_| is_new).map(|_| name));
                }
            }
            _ => diagnostics.0.extend(shape::PLUGINS.unknown(key, Reading::Strict)),
        }
    }
    plugins
}

/// A default condition for the elements of one type ("Type-Specific Default Conditions").
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeSpecificCondition<'a> {
    /// The family of types: `node_types`, `relationship_types`, ...
    pub family: &'a str,
    /// The type.
    pub name: &'a str,
    /// The property of that type, if the condition is for a property.
    pub property: Option<&'a str>,
    /// One expression or a list of them.
    pub conditions: Node<'a>,
    /// Whether it replaces the consistency condition, and whether it replaces the semantic one.
    pub aspects: [bool; 2],
}

/// All type-specific default conditions.
pub(crate) type TypeSpecificConditions<'a> = Vec<TypeSpecificCondition<'a>>;

/// Parses type-specific default conditions, which are maps from type families and types to
/// conditions.
pub(crate) fn parse_type_specific_conditions<'a>(
    node: Node<'a>,
    diagnostics: &mut Diagnostics,
) -> TypeSpecificConditions<'a> {
    let mut found = Vec::new();
    // A separate file may repeat the keyword.
    let node = node.get("type_specific_conditions").unwrap_or(node);
    let list = node.kind() == NodeKind::Sequence;
    for families in node.items().chain((!list).then_some(node)) {
        type_families(families, &mut found, diagnostics);
    }
    found
}

fn type_families<'a>(
    node: Node<'a>,
    found: &mut TypeSpecificConditions<'a>,
    diagnostics: &mut Diagnostics,
) {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        diagnostics.push(invalid(
            node,
            "type-specific conditions have to be a map of `node_types` and the like",
        ));
    }
    for (family, types) in node.entries() {
        let Some(name) = family.text().filter(|name| TYPE_SPECIFIC_CONDITIONS.has(name)) else {
            diagnostics.0.extend(TYPE_SPECIFIC_CONDITIONS.unknown(family, Reading::Strict));
            continue;
        };
        if types.kind() != NodeKind::Mapping && !types.is_null() {
            diagnostics
                .push(invalid(types, format!("`{name}` has to be a map of types to conditions")));
        }
        for (key, body) in types.entries() {
            type_specific(name, key, None, body, found, diagnostics);
            for (property, body) in body.get("properties").into_iter().flat_map(Node::entries) {
                type_specific(name, key, property.text(), body, found, diagnostics);
            }
        }
    }
}

fn type_specific<'a>(
    family: &'a str,
    key: Node<'a>,
    property: Option<&'a str>,
    body: Node<'a>,
    found: &mut TypeSpecificConditions<'a>,
    diagnostics: &mut Diagnostics,
) {
    let (mut conditions, mut aspects) = (None, [false, true]);
    for (keyword, value) in body.entries() {
        match keyword.text().unwrap_or_default() {
            "conditions" => conditions = Some(value),
            "consistency" => {
                aspects[0] = diagnostics.ok(boolean(keyword, value)).unwrap_or_default()
            }
            "semantic" => aspects[1] = diagnostics.ok(boolean(keyword, value)).unwrap_or_default(),
            "properties" if property.is_none() => {}
            _ => diagnostics.0.extend(TYPE_SPECIFIC_CONDITION.unknown(keyword, Reading::Strict)),
        }
    }
    match conditions {
        Some(conditions) => {
            found.push(TypeSpecificCondition {
                family,
                name: key.text().unwrap_or_default(),
                property,
                conditions,
                aspects,
            });
        }
        None if body.get("properties").is_some() => {}
        None => diagnostics.push(invalid(key, "a type-specific condition needs `conditions`")),
    }
}

/// A technology rule ("Technology Rules").
#[derive(Clone, Debug)]
pub(crate) struct TechnologyRule<'a> {
    /// The node of the rule.
    pub node: Node<'a>,
    /// The technology in lower case; `None` if the components need none.
    pub technology: Option<String>,
    /// The type of the components that the technology can be assigned to.
    pub component: Cow<'a, str>,
    /// The types of the hosts along the hosting relations; `*` skips any number of hosts.
    pub hosting: Vec<&'a str>,
    /// The type of the artifact that it needs.
    pub artifact: Option<&'a str>,
    /// The management operations that the node has to have.
    pub operations: Vec<&'a str>,
    /// The reason for the weight, for people.
    pub reason: Option<&'a str>,
    /// Further conditions.
    pub conditions: Option<Node<'a>>,
    /// The weight of the rule.
    pub weight: Decimal,
    /// The type that it assigns, if the rule names one.
    pub assign: Option<&'a str>,
}

/// Parses technology rules: a list, or a map of technologies to lists.
pub(crate) fn parse_rules<'a>(
    node: Node<'a>,
    diagnostics: &mut Diagnostics,
) -> Vec<TechnologyRule<'a>> {
    let mut rules = Vec::new();
    match node.kind() {
        NodeKind::Sequence => {
            node.items().for_each(|item| rule(item, None, None, &mut rules, diagnostics))
        }
        NodeKind::Mapping => {
            for (technology, list) in node.entries() {
                if list.kind() != NodeKind::Sequence {
                    diagnostics.push(
                        invalid(list, "the rules of a technology have to be a list")
                            .help("start each rule with `-`"),
                    );
                }
                let technology = technology.text().filter(|_| !technology.is_null());
                list.items()
                    .for_each(|item| rule(item, Some(technology), None, &mut rules, diagnostics));
            }
        }
        NodeKind::Scalar if node.is_null() => {}
        NodeKind::Scalar => diagnostics.push(invalid(
            node,
            "technology rules have to be a list, or a map of technologies to lists",
        )),
    }
    rules
}

/// Parses the answer of a technology plugin: rules for nodes of this type.
pub(crate) fn parse_answer<'a>(
    node: Node<'a>,
    node_type: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<TechnologyRule<'a>> {
    let mut rules = Vec::new();
    if node.kind() != NodeKind::Mapping {
        diagnostics.push(invalid(node, "it has to be a map with `technologies`"));
    }
    for (key, value) in node.entries() {
        match key.text().unwrap_or_default() {
            "technologies" if value.kind() == NodeKind::Sequence => {
                for item in value.items() {
                    rule(item, None, Some(node_type), &mut rules, diagnostics);
                }
            }
            "technologies" => diagnostics.push(invalid(value, "`technologies` has to be a list")),
            "version" if value.text() == Some("1") => {}
            "version" => diagnostics.push(invalid(value, "`version` has to be 1")),
            _ => diagnostics.0.extend(shape::ANSWER.unknown(key, Reading::Strict)),
        }
    }
    rules
}

/// Parses a rule of this technology, or of the one that it names; for this component, or for the
/// one that it names.
fn rule<'a>(
    node: Node<'a>,
    technology: Option<Option<&'a str>>,
    answered_for: Option<&str>,
    rules: &mut Vec<TechnologyRule<'a>>,
    diagnostics: &mut Diagnostics,
) {
    let mut technologies: Vec<Option<&str>> = technology.into_iter().collect();
    let mut component = answered_for.map(|component| Cow::Owned(component.to_owned()));
    let (mut hosting, mut artifact, mut conditions) = (Vec::new(), None, None);
    let vocabulary =
        if answered_for.is_some() { &shape::ANSWERED_TECHNOLOGY } else { &shape::TECHNOLOGY_RULE };
    let (mut value_of, mut assign) = (Decimal::ONE, None);
    let (mut operations, mut reason) = (Vec::new(), None);
    for (key, value) in node.entries() {
        match key.text().unwrap_or_default() {
            "technology" if value.is_null() => technologies = vec![None],
            "technology" => {
                let named = strings(value, "`technology`", diagnostics);
                technologies = named.into_iter().map(Some).collect();
            }
            "component" if answered_for.is_none() => {
                component = diagnostics.ok(string(value, "`component`")).map(Cow::Borrowed)
            }
            "hosting" => hosting = strings(value, "`hosting`", diagnostics),
            "artifact" => artifact = diagnostics.ok(string(value, "`artifact`")),
            "conditions" => conditions = Some(value),
            "weight" => value_of = diagnostics.ok(weight(value)).unwrap_or(Decimal::ONE),
            "assign" => assign = diagnostics.ok(string(value, "`assign`")),
            "operations" => operations = strings(value, "`operations`", diagnostics),
            "reason" => reason = value.text(),
            "details" | "name" | "description" => {}
            _ => diagnostics.0.extend(vocabulary.unknown(key, Reading::Strict)),
        }
    }
    let (Some(component), false) = (component, technologies.is_empty()) else {
        let keys = if answered_for.is_some() { "" } else { " and `component`" };
        let message = format!("{} has to be a map with `technology`{keys}", vocabulary.what);
        diagnostics.push(invalid(node, message));
        return;
    };
    rules.extend(technologies.into_iter().map(|technology| TechnologyRule {
        node,
        technology: technology.map(lower_case),
        component: component.clone(),
        hosting: hosting.clone(),
        artifact,
        operations: operations.clone(),
        reason,
        conditions,
        weight: value_of,
        assign,
    }));
}

/// A string or a list of strings.
fn strings<'a>(value: Node<'a>, what: &str, diagnostics: &mut Diagnostics) -> Vec<&'a str> {
    match value.kind() {
        NodeKind::Sequence => {
            value.items().filter_map(|item| diagnostics.ok(string(item, what))).collect()
        }
        _ => diagnostics.ok(string(value, what)).into_iter().collect(),
    }
}
