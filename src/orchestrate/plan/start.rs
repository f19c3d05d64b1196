//! What is known of nodes before a plan is simulated, in short.

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};

/// What things are like before a plan begins, as far as that is said.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StartStates {
    /// Each node of which something is said.
    pub nodes: Vec<StartNode>,
}

/// What a node is like before a plan begins.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StartNode {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub span: Option<Span>,
    /// Its state.
    pub state: Option<String>,
    /// Values of attributes.
    pub attributes: Vec<(String, Value)>,
}

impl StartStates {
    /// Reads `nodes: {mysql: {state: started, my_attribute: ready}}`; attributes may also stand
    /// below `attributes`.
    ///
    /// ```
    /// use cuvee::plan::StartStates;
    /// use cuvee::source::FileId;
    /// use cuvee::yaml::{Limits, parse};
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
                let message = "what there is has to be a map with `nodes`";
                wrong.push(invalid(root, message).help(help));
            }
        }
        if wrong.has_errors() { Err(wrong) } else { Ok(states) }
    }
}

impl StartNode {
    /// A node of which all of that is known.
    pub(crate) fn of(name: String, state: String, attributes: Vec<(String, Value)>) -> Self {
        Self { name, span: None, state: Some(state), attributes }
    }

    fn read(key: Node<'_>, value: Node<'_>, wrong: &mut Diagnostics) -> Self {
        let name = key.text().unwrap_or_default();
        let mut node = Self { name: name.to_owned(), span: Some(key.span()), ..Self::default() };
        for (key, value) in map(value, &format!("what `{name}` is like"), wrong) {
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
                wrong.push(invalid(value, message).help("such as `started`"));
            }
            (name, _) => self.attributes.push((name.to_owned(), value.to_value())),
        }
    }
}

fn invalid(node: Node<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, message).at(node.span())
}

/// The entries of a map, or of nothing.
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
