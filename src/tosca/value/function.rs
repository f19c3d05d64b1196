//! Intrinsic functions (chapter 4), as far as a value has to be told from one.

use crate::text::yaml::{Node, NodeKind, Scalar};

/// The functions of chapter 4.
pub const FUNCTIONS: [&str; 9] = [
    "concat",
    "join",
    "token",
    "get_input",
    "get_property",
    "get_attribute",
    "get_operation_output",
    "get_nodes_of_type",
    "get_artifact",
];

/// The name of the function that a node calls: a map whose only key is that of a function.
pub fn function<'a>(node: Node<'a>) -> Option<&'a str> {
    call(node).map(|(name, _)| name)
}

/// As [`function`], where a map may be meant as well: arguments that no function takes make it one.
pub fn function_not_map<'a>(node: Node<'a>) -> Option<&'a str> {
    let (name, arguments) = call(node)?;
    let takes_name = name.starts_with("get_") && arguments.as_str().is_some();
    // Variability4TOSCA names inputs by their position, too.
    let takes_position = name == "get_input" && matches!(arguments.scalar(), Some(Scalar::Int(_)));
    (takes_name || takes_position || arguments.kind() == NodeKind::Sequence).then_some(name)
}

fn call<'a>(node: Node<'a>) -> Option<(&'a str, Node<'a>)> {
    let mut entries = node.entries();
    let (key, arguments) = entries.next()?;
    let name = key.as_str().filter(|name| FUNCTIONS.contains(name))?;
    (entries.len() == 0).then_some((name, arguments))
}
