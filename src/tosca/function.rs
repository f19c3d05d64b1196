//! Reads calls of intrinsic functions (chapter 4 of TOSCA Simple Profile 1.3), and checks the shape
//! of their arguments.

use super::v2_0;
use crate::diagnostic::{Cite, Code, Diagnostic};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use std::sync::Arc;

/// An intrinsic function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// `concat`
    Concat,
    /// `join`
    Join,
    /// `token`
    Token,
    /// `get_input`
    GetInput,
    /// `get_property`
    GetProperty,
    /// `get_attribute`
    GetAttribute,
    /// `get_operation_output`
    GetOperationOutput,
    /// `get_nodes_of_type`
    GetNodesOfType,
    /// `get_artifact`
    GetArtifact,
}

impl Function {
    const ALL: [Self; 9] = [
        Self::Concat,
        Self::Join,
        Self::Token,
        Self::GetInput,
        Self::GetProperty,
        Self::GetAttribute,
        Self::GetOperationOutput,
        Self::GetNodesOfType,
        Self::GetArtifact,
    ];

    /// The name of the function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Concat => "concat",
            Self::Join => "join",
            Self::Token => "token",
            Self::GetInput => "get_input",
            Self::GetProperty => "get_property",
            Self::GetAttribute => "get_attribute",
            Self::GetOperationOutput => "get_operation_output",
            Self::GetNodesOfType => "get_nodes_of_type",
            Self::GetArtifact => "get_artifact",
        }
    }

    /// The function of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// The function that a value calls, with its arguments. A map whose only key is the name of a
    /// function is a call if the function takes such arguments: `token` may also be a name of
    /// something else.
    pub(crate) fn called_in(value: &Value) -> Option<(Self, &Value)> {
        let Value::Map(entries) = value else { return None };
        let [(name, arguments)] = &**entries else { return None };
        // Functions of TOSCA 2.0 have a `$` before their names.
        let function = Self::named(v2_0::function_name(name).unwrap_or(name))?;
        let takes = match arguments {
            Value::List(_) => true,
            Value::String(_) => function.takes_name(),
            Value::Number(_) => function == Self::GetInput,
            _ => false,
        };
        takes.then_some((function, arguments))
    }

    /// Whether a call may have a single name as its operand.
    fn takes_name(self) -> bool {
        self.name().starts_with("get_")
    }

    /// The section that defines the function.
    pub(crate) fn section(self) -> &'static str {
        match self {
            Self::Concat => "4.3.1",
            Self::Join => "4.3.2",
            Self::Token => "4.3.3",
            Self::GetInput => "4.4.1",
            Self::GetProperty => "4.4.2",
            Self::GetAttribute => "4.5.1",
            Self::GetOperationOutput => "4.6.1",
            Self::GetNodesOfType => "4.7.1",
            Self::GetArtifact => "4.8.1",
        }
    }

    /// The forms of a call, for the help of a message.
    fn usage(self) -> &'static str {
        match self {
            Self::Concat => "concat: [STRING, …]",
            Self::Join => "join: [[STRING, …], DELIMITER]",
            Self::Token => "token: [STRING, CHARACTERS, INDEX]",
            Self::GetInput => "get_input: NAME` or `get_input: [NAME, NAME_OR_INDEX, …]",
            Self::GetProperty => "get_property: [ENTITY, PROPERTY, NAME_OR_INDEX, …]",
            Self::GetAttribute => "get_attribute: [ENTITY, ATTRIBUTE, NAME_OR_INDEX, …]",
            Self::GetOperationOutput => {
                "get_operation_output: [ENTITY, INTERFACE, OPERATION, OUTPUT]"
            }
            Self::GetNodesOfType => "get_nodes_of_type: NODE_TYPE",
            Self::GetArtifact => "get_artifact: [ENTITY, ARTIFACT, LOCATION, REMOVE]",
        }
    }
}

/// A name among the arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    /// The name.
    pub text: &'a str,
    /// The node that contains the name.
    pub at: Node<'a>,
}

/// The arguments of a call.
#[derive(Clone, Debug)]
pub(crate) enum Arguments<'a> {
    /// The arguments of `concat`: scalars and calls.
    Parts(Vec<Node<'a>>),
    /// The arguments of `join`: a call or a list of scalars and calls, and the delimiter.
    Join(Node<'a>, Option<Node<'a>>),
    /// The arguments of `token`: the string, the characters at which it is split, and the index of
    /// the wanted part.
    Token([Node<'a>; 3]),
    /// The arguments of `get_input`: the name or the position of an input, and a path into its
    /// value.
    Input(Node<'a>, Vec<Node<'a>>),
    /// The arguments of `get_property` and `get_attribute`: an entity, and a path from it.
    Path(Name<'a>, Vec<Node<'a>>),
    /// The arguments of `get_operation_output`: an entity, an interface, an operation and its
    /// output.
    Output([Name<'a>; 4]),
    /// The argument of `get_nodes_of_type`.
    NodeType(Name<'a>),
    /// The arguments of `get_artifact`: an entity and an artifact.
    Artifact(Name<'a>, Name<'a>),
}

/// A call of a function.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    /// The node of the whole call.
    pub node: Node<'a>,
    /// The called function.
    pub function: Function,
    /// The arguments of the call.
    pub arguments: Arguments<'a>,
}

impl<'a> Call<'a> {
    /// Reads a call. Returns nothing where the node calls no function.
    ///
    /// # Errors
    /// `invalid-function` where the function does not take these arguments.
    pub(crate) fn read(node: Node<'a>) -> Option<Result<Self, Diagnostic>> {
        if v2_0::is_of(node.document()) {
            return Self::of_2_0(node).map(Ok);
        }
        let (function, operand) = called(node)?;
        let call = match arguments(function, operand) {
            Ok(arguments) => Ok(Self { node, function, arguments }),
            Err(wrong) => Err(wrong
                .section(function.section())
                .help(format!("write it as `{}`", function.usage()))),
        };
        Some(call)
    }

    /// Reads a call of TOSCA 2.0 that version 1.3 has in some form, too.
    pub(crate) fn of_2_0(node: Node<'a>) -> Option<Self> {
        let (name, operand) = v2_0::called(node)?;
        let function = Function::named(name)?;
        Some(Self { node, function, arguments: arguments_2_0(function, operand?)? })
    }
}

/// The function that a node calls, and its operand. A call is a map whose only key is the name of a
/// function.
fn called(node: Node<'_>) -> Option<(Function, Node<'_>)> {
    if v2_0::is_of(node.document()) {
        let (name, arguments) = v2_0::called(node)?;
        return Some((Function::named(name)?, arguments?));
    }
    let mut entries = node.entries();
    let (key, operand) = entries.next()?;
    let function = Function::named(key.as_str()?)?;
    (entries.len() == 0).then_some((function, operand))
}

/// The name of the function that a key of a map calls, if it calls one. Those of TOSCA 2.0 have a `$`
/// before their names.
pub(crate) fn called_by(key: Node<'_>) -> Option<&str> {
    match v2_0::is_of(key.document()) {
        true => v2_0::function_name(key.as_str()?),
        false => key.text(),
    }
}

/// The name of the function that a node calls. A call is a map whose only key is the name of a
/// function.
pub fn function(node: Node<'_>) -> Option<&str> {
    if v2_0::is_of(node.document()) {
        return v2_0::called(node).map(|(name, _)| name);
    }
    called(node).map(|(function, _)| function.name())
}

/// What marks a secret stands behind a `$`, too, and is no function.
pub(crate) const SECRET_MARK: &str = "sensitive";

/// Whether a value asks for one of these inputs.
pub(crate) fn asks_for(node: Node<'_>, inputs: &[&str]) -> bool {
    let is_call = |(key, argument): (Node<'_>, Node<'_>)| {
        let name = argument.items().next().unwrap_or(argument).text();
        called_by(key) == Some(Function::GetInput.name())
            && name.is_some_and(|it| inputs.contains(&it))
    };
    !inputs.is_empty()
        && (node.entries().any(is_call) || node.parts().any(|part| asks_for(part, inputs)))
}

/// The name of the first function that is called anywhere in a value. If no function takes the
/// operand, it is an entry of a map.
pub(crate) fn function_in(value: &Value) -> Option<&str> {
    /// The function of TOSCA 2.0 that a map calls.
    fn of_2_0(entries: &[(Arc<str>, Value)]) -> Option<&str> {
        let [(name, _)] = entries else { return None };
        v2_0::function_name(name).filter(|name| *name != SECRET_MARK)
    }
    match value {
        Value::String(text) => {
            v2_0::function_name(text).filter(|name| v2_0::function::INDICES.contains(name))
        }
        Value::List(items) => items.iter().find_map(function_in),
        Value::Map(entries) => {
            let own = Function::called_in(value).map(|(function, _)| function.name());
            own.or_else(|| of_2_0(entries))
                .or_else(|| entries.iter().find_map(|(_, value)| function_in(value)))
        }
        _ => None,
    }
}

/// As [`function`], for a place where a map is allowed as well: if no function takes the operand,
/// the node is a map.
pub fn function_not_map(node: Node<'_>) -> Option<&str> {
    if v2_0::is_of(node.document()) {
        return function(node);
    }
    let (function, operand) = called(node)?;
    let takes_name = function.takes_name() && operand.as_str().is_some();
    // Where inputs are listed by position, `get_input` takes a position, too.
    let takes_position =
        function == Function::GetInput && matches!(operand.scalar(), Some(Scalar::Int(_)));
    let is_call = takes_name || takes_position || operand.kind() == NodeKind::Sequence;
    is_call.then_some(function.name())
}

/// The arguments of a function of TOSCA 2.0 that version 1.3 has, too. Returns nothing where they
/// have no form in version 1.3: such calls are checked as those of other functions.
fn arguments_2_0(function: Function, operand: Node<'_>) -> Option<Arguments<'_>> {
    let all: Vec<_> = operand.items().collect();
    match (function, &all[..]) {
        (Function::GetInput, []) => Some(Arguments::Input(step(operand).ok()?, Vec::new())),
        (Function::GetInput, [input, path @ ..]) => {
            Some(Arguments::Input(step(*input).ok()?, steps(path).ok()?))
        }
        (Function::GetProperty | Function::GetAttribute, path) => {
            let path = v2_0::simple_path(path)?;
            let (entity, path) = path.split_first().filter(|(_, path)| !path.is_empty())?;
            Some(Arguments::Path(name(*entity).ok()?, steps(path).ok()?))
        }
        (Function::GetArtifact, [path @ .., artifact]) => {
            let [entity] = *v2_0::simple_path(path)? else { return None };
            Some(Arguments::Artifact(name(entity).ok()?, name(*artifact).ok()?))
        }
        _ => None,
    }
}

fn arguments(function: Function, operand: Node<'_>) -> Result<Arguments<'_>, Diagnostic> {
    let all: Vec<_> = operand.items().collect();
    match (function, &all[..]) {
        (Function::Concat, [_, ..]) => {
            all.iter().try_for_each(|part| text(function, *part))?;
            Ok(Arguments::Parts(all))
        }
        (Function::Join, [list]) => joined(*list).map(|list| Arguments::Join(list, None)),
        (Function::Join, [list, delimiter]) => {
            text(function, *delimiter)?;
            Ok(Arguments::Join(joined(*list)?, Some(*delimiter)))
        }
        (Function::Token, &[string, characters, index]) => {
            text(function, string)?;
            text(function, characters)?;
            let is_index =
                matches!(index.scalar(), Some(Scalar::Int(0..))) || self::function(index).is_some();
            let wrong =
                || invalid(index, "the index of a substring has to be an integer from 0 up");
            if is_index { Ok(Arguments::Token([string, characters, index])) } else { Err(wrong()) }
        }
        (Function::GetInput, []) if operand.kind() == NodeKind::Scalar => {
            Ok(Arguments::Input(step(operand)?, Vec::new()))
        }
        (Function::GetInput, [input, path @ ..]) => {
            Ok(Arguments::Input(step(*input)?, steps(path)?))
        }
        (Function::GetProperty | Function::GetAttribute, [entity, path @ ..])
            if !path.is_empty() =>
        {
            Ok(Arguments::Path(name(*entity)?, steps(path)?))
        }
        (Function::GetOperationOutput, &[entity, interface, operation, output]) => {
            Ok(Arguments::Output([
                name(entity)?,
                name(interface)?,
                name(operation)?,
                name(output)?,
            ]))
        }
        // The grammar has no brackets here, so the arguments may be one string with commas.
        (Function::GetOperationOutput, []) => {
            commas(operand).map(Arguments::Output).ok_or_else(|| count(function, operand))
        }
        (Function::GetNodesOfType, &[kind]) => Ok(Arguments::NodeType(name(kind)?)),
        (Function::GetNodesOfType, []) if operand.kind() == NodeKind::Scalar => {
            Ok(Arguments::NodeType(name(operand)?))
        }
        (Function::GetArtifact, [entity, artifact, rest @ ..]) if rest.len() < 3 => {
            let (location, remove) = (rest.first(), rest.get(1));
            if let Some(location) = location {
                text(function, *location)?;
            }
            match remove
                .filter(|remove| remove.as_bool().is_none() && self::function(**remove).is_none())
            {
                Some(remove) => Err(invalid(
                    *remove,
                    "whether to remove an artifact has to be `true` or `false`",
                )),
                None => Ok(Arguments::Artifact(name(*entity)?, name(*artifact)?)),
            }
        }
        _ => Err(count(function, operand)),
    }
}

/// Checks that an argument can be part of a string: it is a scalar, or a call.
fn text(function: Function, node: Node<'_>) -> Result<(), Diagnostic> {
    if node.kind() == NodeKind::Scalar && !node.is_null() || self::function(node).is_some() {
        return Ok(());
    }
    Err(invalid(node, format!("`{}` takes strings, not {}", function.name(), node.describe())))
}

fn joined(list: Node<'_>) -> Result<Node<'_>, Diagnostic> {
    if list.kind() != NodeKind::Sequence && function(list).is_none() {
        return Err(invalid(
            list,
            format!("`join` takes a list of strings, not {}", list.describe()),
        ));
    }
    list.items().try_for_each(|part| text(Function::Join, part))?;
    Ok(list)
}

fn name(node: Node<'_>) -> Result<Name<'_>, Diagnostic> {
    let name = node.as_str().map(|text| Name { text, at: node });
    name.ok_or_else(|| invalid(node, format!("expected a name, got {}", node.describe())))
}

fn steps<'a>(path: &[Node<'a>]) -> Result<Vec<Node<'a>>, Diagnostic> {
    path.iter().map(|part| step(*part)).collect()
}

/// Checks that a part of a path is a name or an index.
fn step(node: Node<'_>) -> Result<Node<'_>, Diagnostic> {
    match node.scalar() {
        Some(Scalar::String(_) | Scalar::Int(_)) => Ok(node),
        _ => Err(invalid(node, format!("expected a name or an index, got {}", node.describe()))),
    }
}

fn commas(node: Node<'_>) -> Option<[Name<'_>; 4]> {
    let names: Vec<_> =
        node.as_str()?.split(',').map(|text| Name { text: text.trim(), at: node }).collect();
    names.try_into().ok()
}

fn count(function: Function, operand: Node<'_>) -> Diagnostic {
    let got = match (operand.kind(), operand.items().len()) {
        (NodeKind::Sequence, 1) => "1 argument".to_owned(),
        (NodeKind::Sequence, count) => format!("{count} arguments"),
        _ => operand.describe().to_owned(),
    };
    invalid(operand, format!("`{}` does not take {got}", function.name()))
}

fn invalid(node: Node<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidFunction, message).at(node.span())
}
