//! Finds words of variability in parts of templates that are plain TOSCA, such as operations and
//! workflows. There they would have no effect, and would be copied into results.

use super::entity::is_read_as_wrapped;
use super::misplaced_in_2_0;
use super::shape::{is_common, is_keyword, of_kind};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::Family;
use crate::tosca::shape::{self, Shape, of_type};
use crate::tosca::v2_0;
use crate::variability::element::ElementKind;
use cuvee_text::yaml::Node;

/// A part of a template.
struct PlainPart {
    /// The shape of the part; `None` if it is an element, whose words have their own parser.
    shape: Option<&'static Shape>,
    /// The content below its keynames.
    below: &'static [(&'static str, BelowKeyname)],
    /// The parts that other keys name: in older notation, an interface names its operations
    /// directly.
    others: Option<&'static PlainPart>,
}

/// The content below a keyname.
enum BelowKeyname {
    /// One part.
    One(&'static PlainPart),
    /// Parts by name, in a map or in a list of maps.
    Named(&'static PlainPart),
    /// A list of parts.
    Listed(&'static PlainPart),
    /// Values by name. The string is the noun for one of them.
    Values(&'static str),
}

use BelowKeyname::{Listed, Named, One, Values};

/// A part with keynames of TOSCA only.
const fn plain(shape: &'static Shape, below: &'static [(&'static str, BelowKeyname)]) -> PlainPart {
    PlainPart { shape: Some(shape), below, others: None }
}

/// An element of variability, or a collection of them.
const fn element(below: &'static [(&'static str, BelowKeyname)]) -> PlainPart {
    PlainPart { shape: None, below, others: None }
}

static SERVICE: PlainPart = element(&[
    ("repositories", Named(&REPOSITORY)),
    ("data_types", Named(&DATA_TYPE)),
    ("artifact_types", Named(&ARTIFACT_TYPE)),
    ("capability_types", Named(&CAPABILITY_TYPE)),
    ("interface_types", Named(&INTERFACE_TYPE)),
    ("relationship_types", Named(&RELATIONSHIP_TYPE)),
    ("node_types", Named(&NODE_TYPE)),
    ("group_types", Named(&GROUP_TYPE)),
    ("policy_types", Named(&POLICY_TYPE)),
    ("topology_template", One(&TOPOLOGY)),
]);
static TOPOLOGY: PlainPart = element(&[
    ("node_templates", Named(&NODE)),
    ("relationship_templates", Named(&RELATIONSHIP)),
    ("groups", Named(&GROUP)),
    ("policies", Named(&POLICY)),
    ("substitution_mappings", One(&SUBSTITUTION)),
    ("workflows", Named(&WORKFLOW)),
]);
static NODE: PlainPart = element(&[
    ("attributes", Values("an attribute")),
    ("capabilities", Named(&CAPABILITY_ASSIGNMENT)),
    ("requirements", Named(&REQUIREMENT_ASSIGNMENT)),
    ("interfaces", Named(&INTERFACE)),
    ("node_filter", One(&FILTER)),
]);
static REQUIREMENT_ASSIGNMENT: PlainPart =
    element(&[("relationship", One(&RELATIONSHIP)), ("node_filter", One(&FILTER))]);
static RELATIONSHIP: PlainPart =
    element(&[("attributes", Values("an attribute")), ("interfaces", Named(&INTERFACE))]);
static GROUP: PlainPart =
    element(&[("attributes", Values("an attribute")), ("interfaces", Named(&INTERFACE))]);
static POLICY: PlainPart = element(&[("triggers", Named(&TRIGGER))]);

static CAPABILITY_ASSIGNMENT: PlainPart = plain(
    &shape::CAPABILITY_ASSIGNMENT,
    &[("properties", Values("a property of a capability")), ("attributes", Values("an attribute"))],
);
static FILTER: PlainPart = plain(
    &shape::FILTER,
    &[("properties", Named(&FILTERED)), ("capabilities", Named(&CAPABILITY_FILTER))],
);
static CAPABILITY_FILTER: PlainPart =
    plain(&shape::CAPABILITY_FILTER, &[("properties", Named(&FILTERED))]);
/// The clauses about a property.
static FILTERED: PlainPart = plain(&shape::FILTER, &[]);
static INTERFACE: PlainPart = PlainPart {
    others: Some(&OPERATION),
    ..plain(
        &shape::INTERFACE,
        &[
            ("inputs", Values("an input of an interface")),
            ("operations", Named(&OPERATION)),
            ("notifications", Named(&NOTIFICATION)),
        ],
    )
};
static OPERATION: PlainPart = plain(
    &shape::OPERATION,
    &[("inputs", Values("an input of an operation")), ("implementation", One(&IMPLEMENTATION))],
);
static NOTIFICATION: PlainPart =
    plain(&shape::NOTIFICATION, &[("implementation", One(&IMPLEMENTATION))]);
static IMPLEMENTATION: PlainPart = plain(&shape::IMPLEMENTATION, &[]);
static SUBSTITUTION: PlainPart = plain(
    &shape::SUBSTITUTION,
    &[
        ("substitution_filter", One(&FILTER)),
        ("properties", Named(&PROPERTY_MAPPING)),
        ("attributes", Named(&ATTRIBUTE_MAPPING)),
        ("capabilities", Named(&CAPABILITY_MAPPING)),
        ("requirements", Named(&REQUIREMENT_MAPPING)),
    ],
);
static PROPERTY_MAPPING: PlainPart = plain(&shape::PROPERTY_MAPPING, &[]);
static ATTRIBUTE_MAPPING: PlainPart = plain(&shape::ATTRIBUTE_MAPPING, &[]);
static CAPABILITY_MAPPING: PlainPart = plain(&shape::CAPABILITY_MAPPING, &[]);
static REQUIREMENT_MAPPING: PlainPart = plain(&shape::REQUIREMENT_MAPPING, &[]);
static WORKFLOW: PlainPart = plain(
    &shape::WORKFLOW,
    &[
        ("inputs", Named(&PARAMETER)),
        ("preconditions", Listed(&PRECONDITION)),
        ("steps", Named(&STEP)),
        ("implementation", One(&IMPLEMENTATION)),
        ("outputs", Values("an output of a workflow")),
    ],
);
static PRECONDITION: PlainPart = plain(&shape::PRECONDITION, &[]);
static STEP: PlainPart = plain(&shape::STEP, &[("activities", Listed(&ACTIVITY))]);
static ACTIVITY: PlainPart = plain(
    &shape::ACTIVITY,
    &[
        ("delegate", One(&DELEGATE)),
        ("set_state", One(&SET_STATE)),
        ("call_operation", One(&CALL_OPERATION)),
        ("inline", One(&INLINE)),
    ],
);
static DELEGATE: PlainPart =
    plain(&shape::DELEGATE, &[("inputs", Values("an input of a workflow"))]);
static SET_STATE: PlainPart = plain(&shape::SET_STATE, &[]);
static CALL_OPERATION: PlainPart =
    plain(&shape::CALL_OPERATION, &[("inputs", Values("an input of an operation"))]);
static INLINE: PlainPart = plain(&shape::INLINE, &[("inputs", Values("an input of a workflow"))]);
static TRIGGER: PlainPart = plain(
    &shape::TRIGGER,
    &[
        ("target_filter", One(&EVENT_FILTER)),
        ("condition", One(&TRIGGER_CONDITION)),
        ("action", Listed(&ACTIVITY)),
    ],
);
static EVENT_FILTER: PlainPart = plain(&shape::EVENT_FILTER, &[]);
static TRIGGER_CONDITION: PlainPart = plain(&shape::TRIGGER_CONDITION, &[]);

static REPOSITORY: PlainPart = plain(&shape::REPOSITORY, &[]);
static PROPERTY: PlainPart =
    plain(&shape::PROPERTY, &[("key_schema", One(&SCHEMA)), ("entry_schema", One(&SCHEMA))]);
static PARAMETER: PlainPart = plain(&shape::PARAMETER, &[]);
static ATTRIBUTE: PlainPart = plain(&shape::ATTRIBUTE, &[]);
static SCHEMA: PlainPart = plain(&shape::SCHEMA, &[]);
static ARTIFACT: PlainPart = plain(&shape::ARTIFACT, &[("properties", Values("a property"))]);
static CAPABILITY: PlainPart = plain(
    &shape::CAPABILITY,
    &[("properties", Named(&PROPERTY)), ("attributes", Named(&ATTRIBUTE))],
);
static REQUIREMENT: PlainPart = plain(
    &shape::REQUIREMENT,
    &[("relationship", One(&REQUIREMENT_RELATIONSHIP)), ("node_filter", One(&FILTER))],
);
static REQUIREMENT_RELATIONSHIP: PlainPart =
    plain(&shape::REQUIREMENT_RELATIONSHIP, &[("interfaces", Named(&INTERFACE))]);
static DATA_TYPE: PlainPart = plain(of_type(Family::Data), &[("properties", Named(&PROPERTY))]);
static ARTIFACT_TYPE: PlainPart =
    plain(of_type(Family::Artifact), &[("properties", Named(&PROPERTY))]);
static CAPABILITY_TYPE: PlainPart = plain(
    of_type(Family::Capability),
    &[("properties", Named(&PROPERTY)), ("attributes", Named(&ATTRIBUTE))],
);
static INTERFACE_TYPE: PlainPart = PlainPart {
    others: Some(&OPERATION),
    ..plain(
        of_type(Family::Interface),
        &[
            ("inputs", Named(&PROPERTY)),
            ("operations", Named(&OPERATION)),
            ("notifications", Named(&NOTIFICATION)),
        ],
    )
};
static RELATIONSHIP_TYPE: PlainPart = plain(
    of_type(Family::Relationship),
    &[
        ("properties", Named(&PROPERTY)),
        ("attributes", Named(&ATTRIBUTE)),
        ("interfaces", Named(&INTERFACE)),
    ],
);
static NODE_TYPE: PlainPart = plain(
    of_type(Family::Node),
    &[
        ("properties", Named(&PROPERTY)),
        ("attributes", Named(&ATTRIBUTE)),
        ("capabilities", Named(&CAPABILITY)),
        ("requirements", Named(&REQUIREMENT)),
        ("interfaces", Named(&INTERFACE)),
        ("artifacts", Named(&ARTIFACT)),
    ],
);
static GROUP_TYPE: PlainPart = plain(
    of_type(Family::Group),
    &[
        ("properties", Named(&PROPERTY)),
        ("attributes", Named(&ATTRIBUTE)),
        ("interfaces", Named(&INTERFACE)),
    ],
);
static POLICY_TYPE: PlainPart = plain(
    of_type(Family::Policy),
    &[("properties", Named(&PROPERTY)), ("triggers", Named(&TRIGGER))],
);

/// Reports each word of variability in a plain part of a variable template.
pub(super) fn words(root: Node<'_>, diagnostics: &mut Diagnostics) {
    match v2_0::is_of(root.document()) {
        true => misplaced_in_2_0::words(root, diagnostics),
        false => SERVICE.check(root, diagnostics),
    }
}

impl PlainPart {
    fn check(&self, body: Node<'_>, diagnostics: &mut Diagnostics) {
        for (key, value) in body.entries() {
            let Some(text) = key.text() else { continue };
            if let Some((_, below)) = self.below.iter().find(|(name, _)| *name == text) {
                below.check(value, diagnostics);
            } else if let Some(shape) = self.shape.filter(|it| !it.has(text)) {
                // Where keys are names, only words that nobody takes for a name are words.
                let is_word =
                    if self.others.is_some() { is_common(text) } else { is_keyword(text) };
                match self.others {
                    _ if is_word => {
                        diagnostics.push(misplaced(key, shape.what).section(shape.section))
                    }
                    Some(part) => part.check(value, diagnostics),
                    None => {}
                }
            }
        }
    }
}

impl BelowKeyname {
    fn check(&self, value: Node<'_>, diagnostics: &mut Diagnostics) {
        match self {
            One(part) => part.check(value, diagnostics),
            Named(part) => named(value).for_each(|(_, body)| part.check(body, diagnostics)),
            Listed(part) => value.items().for_each(|item| part.check(item, diagnostics)),
            Values(what) => {
                wrapping(value).for_each(|key| diagnostics.push(misplaced(key, what)));
            }
        }
    }
}

/// The words of variability beside values that look as if they were wrapped.
pub(super) fn wrapping(values: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let wrapped = named(values).map(|(_, body)| body).filter(|body| is_meant(*body));
    wrapped.flat_map(common)
}

/// The keys of a map that nobody takes for names.
pub(super) fn common(body: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let keys = body.entries().map(|(key, _)| key);
    keys.filter(|key| key.text().is_some_and(is_common))
}

/// Whether a value looks as if it were wrapped, or defines a parameter.
fn is_meant(body: Node<'_>) -> bool {
    is_read_as_wrapped(body) || body.get("type").is_some()
}

/// The entries of a map, or of the maps in a list.
pub(super) fn named(collection: Node<'_>) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
    collection.entries().chain(collection.items().flat_map(Node::entries))
}

/// The error for a word of variability that means nothing where it stands.
pub(super) fn misplaced(key: Node<'_>, what: &str) -> Diagnostic {
    let word = key.text().unwrap_or_default();
    let kinds = ElementKind::ALL.iter().filter(|&&kind| of_kind(kind).has(word));
    let kinds: Vec<_> = kinds.map(|kind| kind.plural()).collect();
    let message = format!("`{word}` has no meaning at {what}");
    let error = Diagnostic::error(Code::UnknownKeyword, message).at(key.span());
    match kinds.split_last() {
        Some((last, [])) => error.help(format!("only {last} have `{word}`")),
        Some((last, first)) => {
            error.help(format!("only {} and {last} have `{word}`", first.join(", ")))
        }
        None => error.help("remove it"),
    }
}
