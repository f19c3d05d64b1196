//! Finds elements of definitions, and names them for the report.

use crate::tosca::v1_0::TOSCA;
use cuvee_text::xml::XmlElement;

/// The path from below the root to an element, with the id or name of each step.
pub(super) fn path_of(element: XmlElement<'_>) -> String {
    let mut steps = vec![step(element)];
    let mut at = element;
    while let Some(parent) = at.parent() {
        if parent.parent().is_some() {
            steps.push(step(parent));
        }
        at = parent;
    }
    steps.reverse();
    steps.join("/")
}

fn step(element: XmlElement<'_>) -> String {
    let local = element.name().local;
    match identity(element) {
        Some(name) => format!("{local}[{name}]"),
        None => local.to_owned(),
    }
}

/// The id or name of an element.
pub(super) fn identity(element: XmlElement<'_>) -> Option<String> {
    attribute(element, "id").or_else(|| attribute(element, "name"))
}

/// The value of an attribute, without surrounding white space.
pub(super) fn attribute(element: XmlElement<'_>, name: &str) -> Option<String> {
    element.attribute(name).map(|attribute| attribute.collapsed().into_owned())
}

/// The unmodified value of an attribute.
pub(super) fn written(element: XmlElement<'_>, name: &str) -> Option<String> {
    element.attribute(name).map(|attribute| attribute.value().into_owned())
}

/// The TOSCA child elements of a name.
pub(super) fn children<'d>(
    element: XmlElement<'d>,
    name: &'static str,
) -> impl Iterator<Item = XmlElement<'d>> {
    element
        .elements()
        .filter(move |child| child.name().local == name && child.name().namespace == TOSCA)
}

/// The first TOSCA child element of a name.
pub(super) fn child<'d>(element: XmlElement<'d>, name: &'static str) -> Option<XmlElement<'d>> {
    children(element, name).next()
}

/// The first child element of another namespace.
pub(super) fn foreign(element: XmlElement<'_>) -> Option<XmlElement<'_>> {
    element.elements().find(|child| child.name().namespace != TOSCA)
}
