//! Checks rules between the properties of normative types. The specification states them in prose,
//! because its grammar cannot express them.

use super::datum::Datum;
use super::literal::{Literal, integer, range};
use super::{Primitive, PropertyDefinition};
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::family::Family;
use cuvee_text::source::Span;
use std::cmp::Ordering;

/// A rule between the properties of a type and of its derived types.
#[derive(Debug)]
pub struct PropertyRule {
    family: Family,
    /// The full name of the type.
    pub(crate) type_name: &'static str,
    pub(crate) section: &'static str,
    pub(crate) demand: RuleDemand,
}

/// The condition of a rule.
#[derive(Debug)]
pub(crate) enum RuleDemand {
    /// At least one of these has a value.
    OneOf(&'static [&'static str]),
    /// The first lies in the range that the second gives, where both have a value.
    Within(&'static str, &'static str),
    /// The second is not less than the first, where both have a value.
    InOrder(&'static str, &'static str),
}

const fn rule(
    family: Family,
    type_name: &'static str,
    section: &'static str,
    demand: RuleDemand,
) -> PropertyRule {
    PropertyRule { family, type_name, section, demand }
}

const PORT_SPEC: &str = "tosca.datatypes.network.PortSpec";
const INTERVAL: &str = "tosca.datatypes.TimeInterval";
const SCALABLE: &str = "tosca.capabilities.Scalable";
const BLOCK_STORAGE: &str = "tosca.nodes.Storage.BlockStorage";

static RULES: [PropertyRule; 8] = [
    rule(
        Family::Data,
        PORT_SPEC,
        "5.3.11.3",
        RuleDemand::OneOf(&["target", "target_range", "source", "source_range"]),
    ),
    rule(Family::Data, PORT_SPEC, "5.3.11.3", RuleDemand::Within("source", "source_range")),
    rule(Family::Data, PORT_SPEC, "5.3.11.3", RuleDemand::Within("target", "target_range")),
    rule(Family::Data, INTERVAL, "5.3.7.1", RuleDemand::InOrder("start_time", "end_time")),
    rule(
        Family::Capability,
        SCALABLE,
        "5.5.13.1",
        RuleDemand::InOrder("min_instances", "max_instances"),
    ),
    rule(
        Family::Capability,
        SCALABLE,
        "5.5.13.1",
        RuleDemand::InOrder("min_instances", "default_instances"),
    ),
    rule(
        Family::Capability,
        SCALABLE,
        "5.5.13.1",
        RuleDemand::InOrder("default_instances", "max_instances"),
    ),
    rule(Family::Node, BLOCK_STORAGE, "5.9.11.4", RuleDemand::OneOf(&["size", "volume_id"])),
];

impl PropertyRule {
    /// The rules for exactly the type with this name.
    pub(crate) fn of(family: Family, name: &str) -> impl Iterator<Item = &'static Self> + use<'_> {
        RULES.iter().filter(move |rule| rule.family == family && rule.type_name == name)
    }

    /// The error if none of these has a value.
    pub(crate) fn missing(&self, owner: &str, names: &[&str], at: Option<Span>) -> Diagnostic {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("{owner} needs a value of {}", listed(&names));
        Diagnostic::error(Code::MissingProperty, message).at(at).section(self.section)
    }

    /// Checks the rule for these values. Calls of functions are not checked.
    pub(super) fn check(&self, values: &GivenValues<'_>, owner: &str) -> Option<Diagnostic> {
        match self.demand {
            RuleDemand::OneOf(names) => {
                let is_given = names.iter().any(|name| values.get(name).is_some());
                (!is_given).then(|| self.missing(owner, names, values.at))
            }
            RuleDemand::Within(name, bounds) => {
                let (low, high) = range(values.get(bounds)?)?;
                let number = integer(values.get(name)?)?;
                if low <= number && high.as_ref().is_none_or(|high| number <= *high) {
                    return None;
                }
                let high = high.map_or("UNBOUNDED".to_owned(), |high| high.to_string());
                let message = format!("`{name}` has to be in `{bounds}`, which is [{low}, {high}]");
                Some(self.violated(values, message, [name, bounds]))
            }
            RuleDemand::InOrder(low, high) => {
                let (least, most) = (values.get(low)?, values.get(high)?);
                let primitive = values.primitive(low)?;
                let order = Literal::read(least, primitive)?;
                let order = order.compare(&Literal::read(most, primitive)?)?;
                let shown = least.shown();
                let message = format!("`{high}` has to be no less than `{low}`, which is {shown}");
                (order == Ordering::Greater).then(|| self.violated(values, message, [high, low]))
            }
        }
    }

    /// The error at the first of these properties that is assigned, with the place of the other.
    fn violated(&self, values: &GivenValues<'_>, message: String, names: [&str; 2]) -> Diagnostic {
        let is_default = values.assigned(names[0]).is_none();
        let [at, other] = if is_default { [names[1], names[0]] } else { names };
        let place = |name| values.get(name).and_then(Datum::span);
        let error = Diagnostic::error(Code::ViolatedConstraint, message).at(place(at));
        let label = format!("the value of `{other}`");
        let error = error.section(self.section);
        place(other).into_iter().fold(error, |error, place| error.label(place, label.clone()))
    }
}

/// The values of properties: the assigned ones, or else those of the definitions.
pub(super) struct GivenValues<'t> {
    pub(super) assigned: Option<Datum<'t>>,
    pub(super) definitions: &'t [&'t PropertyDefinition<'t>],
    /// The place of the assignments.
    pub(super) at: Option<Span>,
}

impl<'t> GivenValues<'t> {
    fn assigned(&self, name: &str) -> Option<Datum<'t>> {
        let mut entries = self.assigned?.entries();
        entries.find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }

    fn get(&self, name: &str) -> Option<Datum<'t>> {
        let given = || {
            let definition = self.definition(name)?;
            definition.value.or(definition.default).map(Datum::Node)
        };
        self.assigned(name).or_else(given)
    }

    fn definition(&self, name: &str) -> Option<&'t PropertyDefinition<'t>> {
        self.definitions.iter().copied().find(|definition| definition.named.name == name)
    }

    fn primitive(&self, name: &str) -> Option<Primitive> {
        Primitive::from_name(self.definition(name)?.schema.type_name)
    }
}

/// A list in the form `a`, `b` or `c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}
