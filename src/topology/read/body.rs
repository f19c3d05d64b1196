//! Reads the contents that nodes, relationships, groups and policies share.

use crate::topology::part::{
    AssignedValue, Described, Spanned, TopologyArtifact, TopologyCapability,
    TopologyImplementation, TopologyInterface, TopologyOperation, TopologyParameter,
};
use crate::tosca::shape::{INTERFACE, defines_parameter};
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, OutEntry, OutNode};

/// The entries of a map, or of a list of maps with one entry each.
pub(super) fn entries<'o, 'a>(body: OutNode<'o, 'a>) -> Vec<OutEntry<'o, 'a>> {
    positioned(body).into_iter().map(|(_, entry)| entry).collect()
}

/// The entries as in [`entries`], each with its position in the source.
pub(super) fn positioned<'o, 'a>(body: OutNode<'o, 'a>) -> Vec<(usize, OutEntry<'o, 'a>)> {
    if body.kind() == NodeKind::Mapping {
        return body.entries().into_iter().enumerate().collect();
    }
    let entry = |(position, item): (usize, OutNode<'o, 'a>)| {
        Some((position, item.entries().into_iter().next()?))
    };
    body.items().into_iter().filter_map(entry).collect()
}

/// The value of an output node, with its place.
pub(super) fn whole(body: OutNode<'_, '_>) -> Spanned<Value> {
    Spanned { value: body.to_value(), span: body.span() }
}

/// The text of an output node, with its place.
pub(super) fn whole_text(body: OutNode<'_, '_>) -> Option<Spanned<String>> {
    Some(Spanned { value: body.text()?.into_owned(), span: body.span() })
}

/// The value of a keyname.
pub(super) fn value(body: OutNode<'_, '_>, keyname: &str) -> Option<Spanned<Value>> {
    body.get(keyname).map(whole)
}

/// The value of a keyname that few elements have.
pub(super) fn rare_value(body: OutNode<'_, '_>, keyname: &str) -> Option<Box<Spanned<Value>>> {
    value(body, keyname).map(Box::new)
}

/// The text of a keyname.
pub(super) fn text(body: OutNode<'_, '_>, keyname: &str) -> Option<Spanned<String>> {
    whole_text(body.get(keyname)?)
}

/// The target of a requirement assignment: all of its short notation, or its `node`. In TOSCA 2.0
/// it may be a list of the name of a template and the index of one of its nodes.
pub(super) fn target(body: OutNode<'_, '_>) -> Option<Spanned<String>> {
    let target = match body.kind() {
        NodeKind::Mapping => body.get("node")?,
        _ => body,
    };
    match &*target.items() {
        [(_, template), _] => whole_text(*template),
        _ => whole_text(target),
    }
}

/// The index of the target of a requirement assignment among the nodes of its template.
pub(super) fn target_index(body: OutNode<'_, '_>) -> Option<Box<Spanned<Value>>> {
    let target = body.get("node").unwrap_or(body);
    match &*target.items() {
        [_, (_, index)] => Some(Box::new(whole(*index))),
        _ => None,
    }
}

/// The texts in a list.
pub(super) fn texts(list: OutNode<'_, '_>) -> Vec<Spanned<String>> {
    list.items().into_iter().filter_map(|(_, item)| whole_text(item)).collect()
}

/// The values below a keyname, by name.
pub(super) fn assigned(body: OutNode<'_, '_>, keyname: &str) -> Vec<AssignedValue> {
    body.get(keyname).map(entries).unwrap_or_default().iter().map(assignment).collect()
}

pub(super) fn assignment(entry: &OutEntry<'_, '_>) -> AssignedValue {
    AssignedValue {
        name: entry.name.clone().into_owned(),
        span: entry.span,
        value: whole(entry.value),
    }
}

pub(super) fn described(body: OutNode<'_, '_>) -> Described {
    let interfaces = body.get("interfaces").map(entries).unwrap_or_default();
    Described {
        type_name: text(body, "type"),
        description: text(body, "description").map(Box::new),
        metadata: assigned(body, "metadata"),
        properties: assigned(body, "properties"),
        attributes: assigned(body, "attributes"),
        interfaces: interfaces.into_iter().map(interface).collect(),
    }
}

pub(super) fn capability(entry: OutEntry<'_, '_>) -> TopologyCapability {
    TopologyCapability {
        name: entry.name.into_owned(),
        span: entry.span,
        properties: assigned(entry.value, "properties"),
        attributes: assigned(entry.value, "attributes"),
        occurrences: value(entry.value, "occurrences"),
        directives: entry.value.get("directives").map(texts).unwrap_or_default().into(),
    }
}

/// Reads an artifact. The short notation is only the file; otherwise it is a map.
pub(super) fn artifact(entry: OutEntry<'_, '_>) -> TopologyArtifact {
    const READ: [&str; 5] = ["type", "file", "repository", "deploy_path", "properties"];
    let body = entry.value;
    let others = body.entries().into_iter().filter(|other| !READ.contains(&&*other.name));
    TopologyArtifact {
        name: entry.name.into_owned(),
        span: entry.span,
        type_name: text(body, "type"),
        file: whole_text(body).or_else(|| text(body, "file")),
        repository: text(body, "repository"),
        deploy_path: text(body, "deploy_path"),
        properties: assigned(body, "properties"),
        others: others.map(|other| assignment(&other)).collect(),
    }
}

/// Reads an interface. Without `operations` and `notifications`, other keynames are operations
/// (section 3.6.20.3).
fn interface(entry: OutEntry<'_, '_>) -> TopologyInterface {
    let body = entry.value;
    let of = |keyname| body.get(keyname).map(entries).unwrap_or_default();
    let is_grouped = ["operations", "notifications"].iter().any(|name| body.get(name).is_some());
    let on_top =
        body.entries().into_iter().filter(|part| !is_grouped && !INTERFACE.has(&part.name));
    TopologyInterface {
        name: entry.name.into_owned(),
        span: entry.span,
        type_name: text(body, "type"),
        inputs: assigned(body, "inputs"),
        operations: on_top.chain(of("operations")).map(operation).collect(),
        notifications: of("notifications").into_iter().map(operation).collect(),
    }
}

/// Reads an operation or a notification. The short notation is only the implementation.
fn operation(entry: OutEntry<'_, '_>) -> TopologyOperation {
    let body = entry.value;
    let short = (body.kind() == NodeKind::Scalar).then_some(body);
    TopologyOperation {
        name: entry.name.into_owned(),
        span: entry.span,
        implementation: short
            .filter(|body| body.text().is_some())
            .or_else(|| body.get("implementation"))
            .map(implementation),
        inputs: assigned(body, "inputs"),
        outputs: assigned(body, "outputs"),
    }
}

/// Reads an implementation. The short notation is only the artifact.
fn implementation(body: OutNode<'_, '_>) -> TopologyImplementation {
    let dependencies = body.get("dependencies").map(OutNode::items).unwrap_or_default();
    TopologyImplementation {
        span: body.span(),
        primary: match body.kind() {
            NodeKind::Scalar => body.text().map(|_| whole(body)),
            _ => value(body, "primary"),
        },
        dependencies: dependencies.into_iter().map(|(_, item)| whole(item)).collect(),
        timeout: value(body, "timeout"),
        operation_host: text(body, "operation_host"),
    }
}

/// Reads inputs or outputs.
pub(super) fn parameters(body: OutNode<'_, '_>) -> Vec<TopologyParameter> {
    entries(body).into_iter().map(parameter).collect()
}

/// Reads a parameter, which is a definition or only a value.
fn parameter(entry: OutEntry<'_, '_>) -> TopologyParameter {
    let OutEntry { name, span, value: body } = entry;
    let parts = body.entries();
    let is_definition =
        body.kind() == NodeKind::Mapping && parts.iter().all(|part| defines_parameter(&part.name));
    let of = |keyname| value(body, keyname).filter(|_| is_definition);
    TopologyParameter {
        name: name.into_owned(),
        span,
        type_name: text(body, "type").filter(|_| is_definition),
        value: if is_definition { of("value") } else { some(body) },
        default: of("default"),
        required: of("required"),
        definition: whole(body),
    }
}

/// The value of an output node, unless it is null.
fn some(body: OutNode<'_, '_>) -> Option<Spanned<Value>> {
    Some(whole(body)).filter(|whole| !matches!(whole.value, Value::Null))
}
