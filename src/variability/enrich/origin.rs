//! Records why a clause was asserted, and explains it to the user.

use crate::variability::graph::{ElementId, Graph};
use crate::variability::inputs::FeatureKeyword;
use crate::variability::options::{Aspect, Constraint, ModePart, OptionOrigin, Options};
use cuvee_text::source::Span;

/// The reason for a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `present(e) ⇒ condition`, which the author wrote at this place.
    Manual(ElementId, Span),
    /// `present(m) ⇒ condition`, which comes from a variability group that m is a member of.
    Group(ElementId, ElementId, Span),
    /// `¬present(g)`: a variability group only passes on its conditions.
    VariabilityGroup(ElementId),
    /// `present(e) ⇒ input`, because a variability input has the name of the element.
    Input(ElementId, Span),
    /// `present(e) ⇒ ¬⋁ present(other alternatives)`
    DefaultAlternative(ElementId),
    /// `¬present(e)`: e declares an alternative that nothing selects.
    NoDefaultAlternative(ElementId),
    /// `present(t) ⇒` the elements that its technology rule requires.
    Technology(ElementId),
    /// `present(e) ⇒ generic default condition`, from default conditions or from pruning.
    Generic(ElementId, Aspect, Option<ModePart>, By),
    /// `present(t) ⇒ present(the element that t is the type of)`, whatever the options are.
    Follows(ElementId),
    /// `present(e) ⇒ type-specific default condition`
    TypeSpecific(ElementId, Span),
    /// `all conditions of e hold ⇒ present(e)`
    Definition(ElementId),
    /// The definition of the atom that represents `manual(e)`.
    ManualDefinition(ElementId),
    /// `what implies e ∧ manual(e) ⇒ present(e)`
    Implied(ElementId),
    /// `present(e) ∧ condition ⇒ target`, at this place.
    Implies(ElementId, Span),
    /// A constraint option.
    Constraint(Constraint, ElementId),
    /// A variability constraint, at this place.
    Author(Span),
    /// A demand of somebody who uses the template, at this place.
    Demand(Span),
    /// An open input, declared at this place, is in one of its cases.
    Cases(Span),
    /// A rule between inputs, at this place.
    Feature(FeatureKeyword, Span),
    /// An expression has no value for some inputs, at this place.
    Failure(Span),
}

/// The reason for a generic default condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Default conditions are on, and the element has no conditions of its own.
    Default,
    /// Pruning is on.
    Pruning,
}

impl Origin {
    /// The element that has this condition; `None` if the clause is no condition of an element.
    pub(crate) fn condition_of(&self) -> Option<ElementId> {
        match *self {
            Self::Manual(id, _)
            | Self::Group(id, ..)
            | Self::VariabilityGroup(id)
            | Self::Input(id, _) => Some(id),
            Self::DefaultAlternative(id)
            | Self::NoDefaultAlternative(id)
            | Self::Follows(id)
            | Self::Technology(id) => Some(id),
            Self::Generic(id, ..) | Self::TypeSpecific(id, _) => Some(id),
            _ => None,
        }
    }

    /// The name of a generated condition, and the option that asked for it: ``pruning `incoming`
    /// (mode semantic-loose)``.
    pub(crate) fn generated_name(&self, graph: &Graph<'_>, options: &Options) -> Option<String> {
        let Self::Generic(id, aspect, part, by) = *self else { return None };
        let (name, origin) = generic(graph, options, id, aspect, part, by);
        Some(format!("{name} ({origin})"))
    }

    /// How far the reason is from the author's text; the nearest reason says the most.
    pub(crate) fn distance(&self) -> u8 {
        match self {
            Self::Manual(..) | Self::Group(..) | Self::Input(..) | Self::Implies(..) => 0,
            Self::Author(_) | Self::Demand(_) | Self::Feature(..) | Self::Failure(_) => 0,
            Self::Constraint(..) | Self::Technology(_) | Self::TypeSpecific(..) => 1,
            Self::DefaultAlternative(_)
            | Self::NoDefaultAlternative(_)
            | Self::VariabilityGroup(_) => 1,
            Self::Generic(..) | Self::Follows(_) | Self::Implied(_) => 2,
            Self::Definition(_) | Self::ManualDefinition(_) | Self::Cases(_) => 3,
        }
    }

    /// The place of the reason, and what the reason demands.
    pub(crate) fn explain(&self, graph: &Graph<'_>, options: &Options) -> (Span, String) {
        self.explain_naming(graph, options, &|id| graph.display(id).to_string())
    }

    /// As [`Origin::explain`], with names of elements from `name`.
    pub(crate) fn explain_naming(
        &self,
        graph: &Graph<'_>,
        options: &Options,
        name: &dyn Fn(ElementId) -> String,
    ) -> (Span, String) {
        let (id, place) = match *self {
            Self::Author(span) => return (span, "this constraint has to hold".into()),
            Self::Demand(span) => {
                return (span, "the node that is substituted asks for this".into());
            }
            Self::Cases(span) => return (span, "this input has one value".into()),
            Self::Feature(keyword, span) => {
                return (span, format!("this input {}", keyword.demand()));
            }
            Self::Failure(span) => return (span, "this has to have a value".into()),
            Self::Manual(id, span) | Self::Group(id, _, span) | Self::Input(id, span) => (id, span),
            Self::TypeSpecific(id, span) | Self::Implies(id, span) => (id, span),
            Self::DefaultAlternative(id) | Self::NoDefaultAlternative(id) => {
                (id, graph.element(id).span)
            }
            Self::Technology(id) | Self::VariabilityGroup(id) => (id, graph.element(id).span),
            Self::Definition(id) => (id, written(graph, id).unwrap_or(graph.element(id).span)),
            Self::Generic(id, ..) | Self::Follows(id) | Self::ManualDefinition(id) => {
                (id, graph.element(id).span)
            }
            Self::Implied(id) | Self::Constraint(_, id) => (id, graph.element(id).span),
        };
        let element = name(id);
        let text = match self {
            Self::Manual(..) => format!("{element} is present only if this holds"),
            Self::Group(_, group, _) => {
                format!("{element} is present only if this holds, as a member of {}", name(*group))
            }
            Self::VariabilityGroup(_) => {
                format!("{element} is a variability group, which is never present")
            }
            Self::Input(..) => {
                format!("{element} is present only if the variability input of its name says so")
            }
            Self::DefaultAlternative(_) => {
                format!("{element} is the default: present only if no other alternative is")
            }
            Self::NoDefaultAlternative(_) => {
                format!("{element} is an alternative that no condition selects")
            }
            Self::Technology(_) => {
                format!("{element} needs the elements that its technology rule requires")
            }
            Self::Generic(_, aspect, part, by) => {
                let (name, origin) = generic(graph, options, id, *aspect, *part, *by);
                format!("{element} is present only if its {name} holds ({origin})")
            }
            Self::Follows(_) => {
                format!("{element} is present only if the element that has this type is")
            }
            Self::TypeSpecific(..) => {
                format!("{element} is present only if the default condition of its type holds")
            }
            Self::Definition(_) if graph.element(id).follows => {
                format!("{element} is present if the element that has this type is")
            }
            Self::Definition(_) if written(graph, id).is_some() || graph.element(id).by_rule => {
                format!("{element} is present if all of its conditions hold")
            }
            Self::Definition(_) => {
                format!(
                    "{element} has no conditions of its own: only default conditions and pruning can remove it"
                )
            }
            Self::ManualDefinition(_) => format!("these are the conditions of {element}"),
            Self::Implied(_) if graph.element(id).container.is_none() => {
                format!("{element} is implied: present if its conditions hold")
            }
            Self::Implied(_) => {
                format!("{element} is implied: present if its container is and its conditions hold")
            }
            Self::Implies(..) => format!("{element} implies this"),
            Self::Constraint(constraint, _) => constrained(&element, *constraint, options),
            Self::Author(_)
            | Self::Demand(_)
            | Self::Cases(_)
            | Self::Feature(..)
            | Self::Failure(_) => String::new(),
        };
        (place, text)
    }
}

/// The place of the conditions that the author wrote for an element.
fn written(graph: &Graph<'_>, id: ElementId) -> Option<Span> {
    Some(graph.syntax.get(graph.element(id).conditions?).span())
}

/// The name of a generated condition, and the option that asked for it.
fn generic(
    graph: &Graph<'_>,
    options: &Options,
    id: ElementId,
    aspect: Aspect,
    part: Option<ModePart>,
    by: By,
) -> (String, String) {
    let kind = graph.element(id).kind;
    let (word, origin) = match by {
        By::Default => ("default condition", options.default_condition_origin(kind, aspect)),
        By::Pruning => ("pruning", options.pruning_origin(kind, aspect)),
    };
    let part = part.map(|part| format!(" `{}`", part.as_str())).unwrap_or_default();
    (format!("{word}{part}"), named(&origin))
}

fn constrained(element: &str, constraint: Constraint, options: &Options) -> String {
    format!(
        "{element} is bound by `{}` ({})",
        constraint.as_str(),
        named(&options.constraint_origin(constraint))
    )
}

fn named(origin: &OptionOrigin) -> String {
    match origin {
        OptionOrigin::BuiltIn => "built in".into(),
        OptionOrigin::Release(version) => format!("default of {version}"),
        OptionOrigin::Edition(name) => format!("default of edition {name}"),
        OptionOrigin::Mode(mode) => format!("mode {mode}"),
        OptionOrigin::Template(_) => "option of the template".into(),
        OptionOrigin::CommandLine => "option of this call".into(),
    }
}
