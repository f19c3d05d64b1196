//! Writes drawings in DOT, for Graphviz.

use super::frames::FrameItem;
use super::{Drawing, State, cut, short_types};
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
            line(
                &mut out,
                format_args!(
                    "n{} -> {target} [{look}, tooltip=\"{about}\", id=\"{id}\", class=\"{class}\", color=\"{color}\"]",
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
    let label: Vec<_> = lines.into_iter().map(|text| escaped(&cut(text, LABEL))).collect();
    let (colors, about) = (node_colors(state), escaped(&Drawing::about_node(node)));
    let frames = if node.persistent { ", peripheries=2" } else { "" };
    let (label, id, class) = (label.join("\\n"), escaped(&node.identifier), state.as_str());
    format!(
        "[label=\"{label}\", tooltip=\"{about}\", id=\"{id}\", class=\"node {class}\", {colors}{frames}]"
    )
}

pub(super) fn line(out: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "    {content};");
}

pub(super) fn node_colors(state: State) -> &'static str {
    match state {
        State::Plain => "fillcolor=\"#f6f8fa\", color=\"#57606a\", fontcolor=\"#1f2328\"",
        State::Present => "fillcolor=\"#ddf4ff\", color=\"#0969da\", fontcolor=\"#0a3069\"",
        State::Absent => "fillcolor=\"#ffffff\", color=\"#d0d7de\", fontcolor=\"#8c959f\"",
        State::Removed => "fillcolor=\"#ffebe9\", color=\"#cf222e\", fontcolor=\"#82071e\"",
        State::Added => "fillcolor=\"#dafbe1\", color=\"#1a7f37\", fontcolor=\"#044f1e\"",
    }
}

pub(super) fn line_color(state: State) -> &'static str {
    match state {
        State::Plain => "#57606a",
        State::Present => "#0969da",
        State::Absent => "#d0d7de",
        State::Removed => "#cf222e",
        State::Added => "#1a7f37",
    }
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
