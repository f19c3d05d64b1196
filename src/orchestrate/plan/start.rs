//! Reads the states of nodes from which a simulation starts.

use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};

/// The given states of nodes before a plan begins.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StartStates {
    /// The nodes with given states or attributes.
    pub nodes: Vec<StartNode>,
}

/// The given state and attributes of a node before a plan begins.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StartNode {
    /// Its name.
    pub name: String,
    /// The place of its name.
    pub span: Option<Span>,
    /// Its state.
    pub state: Option<String>,
    /// The values of its attributes.
    pub attributes: Vec<(String, Value)>,
}

impl StartStates {
    /// Reads `nodes: {mysql: {state: started, my_attribute: ready}}`. Attributes may also be below
    /// a key `attributes`.
    ///
    /// ```
    /// use cuvee::deploy::plan::StartStates;
    /// use cuvee::source::FileId;
    /// use cuvee::parts::yaml::{Limits, parse};
    /// let text = "nodes: {shop: {state: started}}";
    /// let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
    /// let states = StartStates::read(document.root()).unwrap();
    /// assert_eq!(states.nodes[0].state.as_deref(), Some("started"));
    /// ```
    ///
    /// # Errors
    /// `invalid-input` for anything of another shape.
    pub fn read(root: Node<'_>) -> Result<Self, Diagnostics> {
        let mut wrong = Diagnostics::default();
        let mut states = Self::default();
        let found = match root.kind() {
            NodeKind::Mapping => root.get("nodes"),
            _ => None,
        };
        match found {
            Some(nodes) => {
                for (key, value) in map(nodes, "`nodes`", &mut wrong) {
                    states.nodes.push(StartNode::read(key, value, &mut wrong));
                }
            }
            None => {
                let keys: Vec<_> = root.entries().filter_map(|(key, _)| key.text()).collect();
                let near = keys.iter().find(|key| did_you_mean(key, ["nodes"]).is_some());
                let help = near.and_then(|key| did_you_mean(key, ["nodes"])).unwrap_or_else(|| {
                    "write it as `nodes: {shop: {state: started, url: none}}`".to_owned().into()
                });
                let message = "the present state has to be a map with `nodes`";
                wrong.push(invalid(root, message).help(help));
            }
        }
        if wrong.has_errors() { Err(wrong) } else { Ok(states) }
    }
}

impl StartNode {
    /// A node with a state and attributes that no document gives.
    pub(crate) fn of(name: String, state: String, attributes: Vec<(String, Value)>) -> Self {
        Self { name, span: None, state: Some(state), attributes }
    }

    fn read(key: Node<'_>, value: Node<'_>, wrong: &mut Diagnostics) -> Self {
        let name = key.text().unwrap_or_default();
        let mut node = Self { name: name.to_owned(), span: Some(key.span()), ..Self::default() };
        for (key, value) in map(value, &format!("the present state of `{name}`"), wrong) {
            match key.text().unwrap_or_default() {
                "attributes" => {
                    for (key, value) in map(value, &format!("`attributes` of `{name}`"), wrong) {
                        node.attribute(key, value, wrong);
                    }
                }
                _ => node.attribute(key, value, wrong),
            }
        }
        node
    }

    fn attribute(&mut self, key: Node<'_>, value: Node<'_>, wrong: &mut Diagnostics) {
        match (key.text().unwrap_or_default(), value.as_str()) {
            ("state", Some(state)) => self.state = Some(state.to_owned()),
            ("state", None) => {
                let message = format!("a state has to be a name, not {}", value.describe());
                wrong.push(invalid(value, message).help("write a name such as `started`"));
            }
            (name, _) => self.attributes.push((name.to_owned(), value.to_value())),
        }
    }
}

fn invalid(node: Node<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, message).at(node.span())
}

/// The entries of a map; none for null. Any other node is an error.
fn map<'n>(
    node: Node<'n>,
    what: &str,
    wrong: &mut Diagnostics,
) -> impl Iterator<Item = (Node<'n>, Node<'n>)> + use<'n> {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        let message = format!("{what} has to be a map, not {}", node.describe());
        wrong.push(invalid(node, message));
    }
    node.entries()
}
