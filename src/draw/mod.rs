//! Draws topologies: as mermaid, as DOT, as SVG.
//!
//! A [`Drawing`] is an [`Outline`] with a [`State`] for each of its elements. So it can show a
//! single variant within the whole outline, or the difference between two variants.

mod collapse;
mod dot;
mod frames;
pub mod instance;
mod layout;
mod mermaid;
pub mod plan;
mod svg;
#[cfg(test)]
mod tests;

pub use svg::{STYLE, Svg};

use crate::explore::outline::{Outline, OutlineNode, OutlineRelation};
use crate::orchestrate::instance::{InstanceModel, InstanceState};
use crate::tosca::NodeState;
use crate::variability::resolution::Resolution;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde::ser::SerializeStruct;
use std::borrow::Cow;

/// Whether a terminal may obey a character, or a reader takes it for the end of a line.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A text with escapes in place of characters that a terminal obeys, and that break lines. So a
/// name that somebody else chose stays in its place.
///
/// ```
/// assert_eq!(cuvee::output::draw::printable("shop\n\u{1b}[2Jx"), "shop\\n\\u{1b}[2Jx");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped.into()
}

/// How a node or a relation is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// The element may be present: no variant is chosen.
    #[default]
    Plain,
    /// The element is present; of two variants, in both.
    Present,
    /// The element is absent; of two variants, in both.
    Absent,
    /// The element is present in the first of two variants only.
    Removed,
    /// The element is present in the second of two variants only.
    Added,
    /// The element is present in both of two variants, and differs.
    Changed,
    /// The element is present, but out of order.
    Failed,
}

impl State {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Plain,
        Self::Present,
        Self::Absent,
        Self::Removed,
        Self::Added,
        Self::Changed,
        Self::Failed,
    ];

    /// The name of the state, which is also its class in SVG and mermaid.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Removed => "removed",
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Failed => "failed",
        }
    }

    /// The sign of the state, because colours alone do not tell everybody the states apart.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plain | Self::Present | Self::Absent => "",
            Self::Removed => "−",
            Self::Added => "+",
            Self::Changed => "~",
            Self::Failed => "!",
        }
    }

    /// The colours of the state on a light ground, in formats without a style sheet.
    fn colors(self) -> StateColors {
        let [fill, line, text] = match self {
            Self::Plain => ["#f6f8fa", "#57606a", "#1f2328"],
            Self::Present => ["#eaf5ff", "#0969da", "#0a3069"],
            Self::Absent => ["#ffffff", "#cfd6dd", "#8b949e"],
            Self::Removed => ["#fff0ee", "#cf222e", "#82071e"],
            Self::Added => ["#e6fbea", "#1a7f37", "#0b4d20"],
            Self::Changed => ["#fff8d6", "#9a6700", "#4d2d00"],
            Self::Failed => ["#a40e26", "#660018", "#ffffff"],
        };
        StateColors { fill, line, text }
    }

    /// A label with the sign of the state in front.
    fn signed<'l>(self, label: &'l str) -> Cow<'l, str> {
        match (self.sign(), label) {
            ("", _) => label.into(),
            (sign, "") => sign.into(),
            (sign, _) => format!("{sign} {label}").into(),
        }
    }

    /// The state of an element, from its presence in two variants.
    pub fn between(first: bool, second: bool) -> Self {
        match (first, second) {
            (true, true) => Self::Present,
            (true, false) => Self::Removed,
            (false, true) => Self::Added,
            (false, false) => Self::Absent,
        }
    }
}

/// The colours of a box or a line.
struct StateColors {
    fill: &'static str,
    line: &'static str,
    text: &'static str,
}

/// A picture of a topology.
///
/// ```
/// use cuvee::Resolver;
/// use cuvee::output::draw::{Drawing, Svg};
/// let shop = Resolver::new("examples/shop");
/// let outline = shop.outline()?;
/// let (dev, prod) = (shop.clone().preset("dev").resolve()?, shop.preset("prod").resolve()?);
///
/// assert!(Drawing::of(&outline).to_mermaid().starts_with("flowchart TB\n"));
/// assert!(Drawing::of_variant(&outline, &dev).to_dot().starts_with("digraph "));
/// let overlay = Drawing::of_difference(&outline, &dev, &prod).named("only in dev", "only in prod");
/// assert!(overlay.to_svg(&Svg::default()).contains("<g class=\"node removed\" data-id=\"node.engine\""));
/// # Ok::<(), cuvee::Failure>(())
/// ```
#[derive(Clone, Debug)]
pub struct Drawing<'t> {
    outline: Cow<'t, Outline>,
    /// The state of each node.
    nodes: Vec<State>,
    /// The state of each relation.
    relations: Vec<State>,
    /// The names of states for the legend, where they are not the usual ones.
    names: Vec<(State, String)>,
}

impl<'t> Drawing<'t> {
    /// A drawing without a chosen variant.
    pub fn of(outline: &'t Outline) -> Self {
        Self::with(outline, |_| State::Plain)
    }

    /// A drawing of a variant within the whole topology.
    pub fn of_variant(outline: &'t Outline, variant: &Resolution) -> Self {
        let present = present(variant);
        Self::with(outline, |identifier| {
            if present.contains(identifier) { State::Present } else { State::Absent }
        })
    }

    /// A drawing of what two variants have in common and how they differ.
    pub fn of_difference(outline: &'t Outline, first: &Resolution, second: &Resolution) -> Self {
        let (first, second) = (present(first), present(second));
        Self::with(outline, |identifier| {
            State::between(first.contains(identifier), second.contains(identifier))
        })
    }

    /// A drawing of an instance within the topology. Running nodes are shown as present, failed ones
    /// as failed, other ones as plain, and nodes that the instance does not have as absent. If a
    /// template has several nodes, the worst state counts.
    ///
    /// ```
    /// use cuvee::output::draw::Drawing;
    /// use cuvee::deploy::instance::{InstanceModel, NodeInstance};
    /// let outline = cuvee::Resolver::new("examples/shop").outline()?;
    /// let mut model = InstanceModel::default();
    /// model.nodes.insert("shop".into(), NodeInstance::default());
    /// let drawing = Drawing::of_instance(&outline, &model).to_dot();
    /// assert_eq!(drawing.matches("class=\"node plain\"").count(), 1);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn of_instance(outline: &'t Outline, model: &InstanceModel) -> Self {
        let mut states: FxHashMap<&str, State> = FxHashMap::default();
        for (id, node) in &model.nodes {
            let state = match &node.state {
                InstanceState::Known(NodeState::Error) => State::Failed,
                InstanceState::Known(NodeState::Started) | InstanceState::Other(_) => {
                    State::Present
                }
                InstanceState::Known(_) => State::Plain,
            };
            let name = node.template.as_deref().unwrap_or(id);
            let known = states.entry(name).or_insert(state);
            *known = match (*known, state) {
                (State::Failed, _) | (_, State::Failed) => State::Failed,
                (State::Present, State::Present) => State::Present,
                _ => State::Plain,
            };
        }
        let mut drawing = Self::with(outline, |_| State::Absent);
        let of = |name: &str| states.get(name).copied().unwrap_or(State::Absent);
        drawing.nodes = drawing.outline.nodes.iter().map(|node| of(&node.name)).collect();
        let ends = |relation: &OutlineRelation| {
            let state = |index: usize| drawing.nodes.get(index).copied().unwrap_or_default();
            match relation.target.map(|target| (state(relation.source), state(target))) {
                Some((State::Present, State::Present)) => State::Present,
                None | Some((State::Absent, _) | (_, State::Absent)) => State::Absent,
                Some(_) => State::Plain,
            }
        };
        drawing.relations = drawing.outline.relations.iter().map(ends).collect();
        let names = [
            (State::Present, "started"),
            (State::Plain, "not started"),
            (State::Failed, "error"),
            (State::Absent, "not there"),
        ];
        drawing.names = names.map(|(state, name)| (state, name.to_owned())).into();
        drawing
    }

    /// A drawing with the state of each node and relation, by its identifier.
    pub fn with(outline: &'t Outline, mut state: impl FnMut(&str) -> State) -> Self {
        let outline = sound(outline);
        let nodes: Vec<_> = outline.nodes.iter().map(|node| state(&node.identifier)).collect();
        // What a node copies is there where both are.
        let relation = |relation: &OutlineRelation| match &relation.copies {
            Some(copied) if state(copied) == State::Absent => State::Absent,
            Some(_) => nodes.get(relation.source).copied().unwrap_or_default(),
            None => state(&relation.identifier),
        };
        let relations = outline.relations.iter().map(relation).collect();
        Self { outline, nodes, relations, names: Vec::new() }
    }

    /// Names the states removed and added in the legend.
    pub fn named(mut self, removed: impl Into<String>, added: impl Into<String>) -> Self {
        self.names = vec![(State::Removed, removed.into()), (State::Added, added.into())];
        self
    }

    /// Leaves out absent elements. A relation is left out together with its source; a relation
    /// whose target is left out has no target then.
    pub fn without_absent(self) -> Drawing<'static> {
        let mut kept = Outline::default();
        let (mut nodes, mut relations) = (Vec::new(), Vec::new());
        let mut position = vec![None; self.nodes.len()];
        for (index, (node, &state)) in self.outline.nodes.iter().zip(&self.nodes).enumerate() {
            if state != State::Absent {
                position[index] = Some(nodes.len());
                nodes.push(state);
                kept.nodes.push(node.clone());
            }
        }
        for (relation, &state) in self.outline.relations.iter().zip(&self.relations) {
            let Some(source) = position[relation.source].filter(|_| state != State::Absent) else {
                continue;
            };
            let target = relation.target.and_then(|target| position[target]);
            relations.push(state);
            kept.relations.push(OutlineRelation { source, target, ..relation.clone() });
        }
        Drawing { outline: Cow::Owned(kept), nodes, relations, names: self.names }
    }

    pub(crate) fn nodes(&self) -> impl ExactSizeIterator<Item = (&OutlineNode, State)> {
        self.outline.nodes.iter().zip(self.nodes.iter().copied())
    }

    pub(crate) fn relations(&self) -> impl ExactSizeIterator<Item = (&OutlineRelation, State)> {
        self.outline.relations.iter().zip(self.relations.iter().copied())
    }

    /// The meaning of a state in this drawing; `None` if it needs no explanation.
    fn meaning(&self, state: State) -> Option<&str> {
        let is_comparing = |state: &State| matches!(state, State::Removed | State::Added);
        let compared = || self.nodes.iter().chain(&self.relations).any(is_comparing);
        let named = self.names.iter().find(|(of, _)| *of == state);
        if let Some((_, name)) = named {
            return Some(name);
        }
        match state {
            State::Plain => None,
            State::Present => Some(if compared() { "in both" } else { "present" }),
            State::Absent => Some(if compared() { "in neither" } else { "absent" }),
            State::Removed => Some("only in the first"),
            State::Added => Some("only in the second"),
            State::Changed => Some("changed"),
            State::Failed => Some("error"),
        }
    }

    /// The details of a node, one a line.
    fn about_node(node: &OutlineNode) -> String {
        let mut text = node.name.clone();
        let mut line = |what: &str, value: &str| text.extend(["\n", what, value]);
        if !node.types.is_empty() {
            line("type: ", &node.types.join(" or "));
        }
        if node.weight != 1.0 {
            line("weight: ", &node.weight.to_string());
        }
        if node.persistent {
            line("persistent", "");
        }
        node.substitutes.last().into_iter().for_each(|node| line("substitutes: ", node));
        node.conditions.iter().for_each(|condition| line("if ", condition));
        text
    }

    /// The details of a relation, one a line.
    fn about_relation(&self, relation: &OutlineRelation) -> String {
        let name = |index: usize| self.outline.nodes.get(index).map_or("", |node| &node.name);
        let target = relation.target.map_or("whatever an orchestrator chooses", name);
        let mut text = format!("{}: {} → {target}", relation.name, name(relation.source));
        relation.conditions.iter().for_each(|condition| text.extend(["\nif ", condition]));
        text
    }
}

/// The serialised form contains nodes and relations with their states:
/// `{"nodes": [...], "relations": [...]}`.
impl Serialize for Drawing<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Drawing", 2)?;
        object.serialize_field(
            "nodes",
            &self.nodes().map(|(of, state)| Stated { of, state }).collect::<Vec<_>>(),
        )?;
        object.serialize_field(
            "relations",
            &self.relations().map(|(of, state)| Stated { of, state }).collect::<Vec<_>>(),
        )?;
        object.end()
    }
}

#[derive(Serialize)]
struct Stated<'t, T> {
    #[serde(flatten)]
    of: &'t T,
    state: State,
}

/// The outline without relations to missing nodes. Anybody may construct an outline, and its ends
/// are positions.
fn sound(outline: &Outline) -> Cow<'_, Outline> {
    let known = |index: &usize| *index < outline.nodes.len();
    if outline
        .relations
        .iter()
        .all(|relation| known(&relation.source) && relation.target.as_ref().is_none_or(known))
    {
        return Cow::Borrowed(outline);
    }
    let mut sound = outline.clone();
    sound.relations.retain(|relation| known(&relation.source));
    for relation in &mut sound.relations {
        relation.target = relation.target.filter(known);
    }
    Cow::Owned(sound)
}

/// The identifiers of the present elements.
fn present(variant: &Resolution) -> FxHashSet<String> {
    variant.presence().filter_map(|(identifier, present)| present.then_some(identifier)).collect()
}

/// The names of the node's types without their namespaces.
fn short_types(node: &OutlineNode) -> String {
    let short =
        |name: &String| name.rsplit('.').find(|part| !part.is_empty()).unwrap_or(name).to_owned();
    node.types.iter().map(short).collect::<Vec<_>>().join(" | ")
}

/// The conditions of a relation for a label: without the keywords that are clear from their
/// operands, and cut if they are long.
fn short_conditions(conditions: &[String], limit: usize) -> String {
    // In TOSCA 2.0, a `$` may stand before them.
    let clear = [
        "$logic_expression: ",
        "$variability_input: ",
        "logic_expression: ",
        "variability_input: ",
    ];
    let text = conditions.join(" and ");
    let text = clear.iter().fold(text, |text, keyword| text.replace(keyword, ""));
    match text.char_indices().nth(limit) {
        None => text,
        Some(_) => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A text cut to at most this many characters: in the middle, because names often begin alike, and
/// end with what tells them apart.
fn cut(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let kept = limit.saturating_sub(1);
    let (start, end) = (kept.div_ceil(2), kept / 2);
    text.chars().take(start).chain(['…']).chain(text.chars().skip(count - end)).collect()
}
