//! Writes drawings in DOT, for Graphviz.

use super::frames::FrameItem;
use super::{Drawing, State, StateColors, cut, short_types};
use crate::explore::outline::OutlineNode;
use std::fmt::Write;

/// Longer names are cut, because they make boxes too wide.
pub(super) const LABEL: usize = 48;

impl Drawing<'_> {
    /// The drawing as a graph in DOT. Bold lines lead to hosts, dashed lines are connections;
    /// conditions are in the tooltips.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph topology {\n");
        line(
            &mut out,
            format_args!("graph [rankdir=TB, nodesep=0.4, ranksep=0.7, bgcolor=transparent]"),
        );
        line(
            &mut out,
            format_args!(
                "node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=12, margin=\"0.2,0.1\"]"
            ),
        );
        line(&mut out, format_args!("edge [fontname=\"sans-serif\", fontsize=10]"));
        for (indent, item) in self.frames().written() {
            match item {
                FrameItem::Node(index) => {
                    let (node, state) = (&self.outline.nodes[index], self.nodes[index]);
                    line(
                        &mut out,
                        format_args!("{indent}n{index} {}", node_attributes(node, state)),
                    );
                }
                FrameItem::Open(index, frame) => {
                    let (label, id) =
                        (escaped(&cut(frame.name(), LABEL)), escaped(&frame.identifier()));
                    // Writing to a string does not fail.
                    let _ = writeln!(out, "    {indent}subgraph cluster_{index} {{");
                    line(
                        &mut out,
                        format_args!(
                            "{indent}    graph [label=\"{label}\", id=\"{id}\", class=\"frame\", style=\"rounded,dashed\", color=\"#8c959f\", fontcolor=\"#59636e\", fontname=\"sans-serif\", fontsize=11]"
                        ),
                    );
                }
                FrameItem::Close => out.extend(["    ", &indent, "}\n"]),
            }
        }
        for (index, (relation, state)) in self.relations().enumerate() {
            let target = match relation.target {
                Some(target) => format!("n{target}"),
                None => {
                    line(
                        &mut out,
                        format_args!(
                            "open{index} [shape=circle, width=0.12, label=\"\", {}]",
                            node_colors(state)
                        ),
                    );
                    format!("open{index}")
                }
            };
            let (color, about, id) = (
                line_color(state),
                escaped(&self.about_relation(relation)),
                escaped(&relation.identifier),
            );
            let (kind, look) = match relation.hosting {
                true => ("hosting", "style=bold, penwidth=2, arrowhead=normal, weight=3"),
                false => ("connection", "style=dashed, arrowhead=vee"),
            };
            let class = format!("relation {kind} {}", state.as_str());
            let sign = match state.sign() {
                "" => String::new(),
                sign => format!(", label=\"{sign}\", fontcolor=\"{color}\""),
            };
            line(
                &mut out,
                format_args!(
                    "n{} -> {target} [{look}, tooltip=\"{about}\", id=\"{id}\", class=\"{class}\", color=\"{color}\"{sign}]",
                    relation.source
                ),
            );
        }
        out.push_str("}\n");
        out
    }
}

fn node_attributes(node: &OutlineNode, state: State) -> String {
    let types = short_types(node);
    let lines = if types.is_empty() { vec![&node.name] } else { vec![&node.name, &types] };
    let label = lines.into_iter().map(|text| cut(text, LABEL)).collect::<Vec<_>>().join("\n");
    let label = escaped(&state.signed(&label));
    let (colors, about) = (node_colors(state), escaped(&Drawing::about_node(node)));
    let frames = if node.persistent { ", peripheries=2" } else { "" };
    let (id, class) = (escaped(&node.identifier), state.as_str());
    format!(
        "[label=\"{label}\", tooltip=\"{about}\", id=\"{id}\", class=\"node {class}\", {colors}{frames}]"
    )
}

pub(super) fn line(out: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "    {content};");
}

pub(super) fn node_colors(state: State) -> String {
    let StateColors { fill, line, text } = state.colors();
    format!("fillcolor=\"{fill}\", color=\"{line}\", fontcolor=\"{text}\"")
}

pub(super) fn line_color(state: State) -> &'static str {
    state.colors().line
}

/// A text for use between quotes. There, Graphviz has escapes of its own and knows the entities of
/// HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            _ if c.is_control() => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_the_quotes() {
        assert_eq!(escaped("a\"];b\\\\N\\\n&lt;\0é"), "a\\\"];b\\\\\\\\N\\\\\\n&amp;lt; é");
    }
}
