//! Writes drawings as mermaid flowcharts, which READMEs and merge requests show as pictures.

use super::frames::FrameItem;
use super::{Drawing, State, StateColors, cut, short_conditions, short_types};
use crate::explore::outline::OutlineNode;
use std::fmt::Write;

/// Longer labels are cut, because they spoil the picture.
pub(super) const LABEL: usize = 40;

/// The states that have a style of their own.
const STYLED: [State; 6] =
    [State::Present, State::Absent, State::Removed, State::Added, State::Changed, State::Failed];

impl Drawing<'_> {
    /// The drawing as a mermaid flowchart. Thick lines lead to hosts, dashed lines are connections;
    /// conditions are labels of the lines.
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("flowchart TB\n");
        for (indent, item) in self.frames().written() {
            match item {
                FrameItem::Node(index) => {
                    let (node, state) = (&self.outline.nodes[index], self.nodes[index]);
                    line(&mut out, format_args!("{indent}n{index}{}", shape(node, state)));
                }
                FrameItem::Open(index, frame) => {
                    let name = escaped(&cut(frame.name(), LABEL));
                    line(&mut out, format_args!("{indent}subgraph frame{index}[\"{name}\"]"));
                }
                FrameItem::Close => line(&mut out, format_args!("{indent}end")),
            }
        }
        for (index, (relation, state)) in self.relations().enumerate() {
            let label = label(&relation.name, relation.hosting, &relation.conditions);
            let label = state.signed(&label);
            let arrow = if relation.hosting { "==>" } else { "-.->" };
            let target = match relation.target {
                Some(target) => format!("n{target}"),
                None => format!("open{index}((\" \")){}", class(state)),
            };
            let label = match label.is_empty() {
                true => String::new(),
                false => format!("|\"{}\"|", escaped(&label)),
            };
            line(&mut out, format_args!("n{} {arrow}{label} {target}", relation.source));
        }
        let is_there = |state: &State| self.nodes.contains(state) || self.relations.contains(state);
        for state in STYLED.into_iter().filter(is_there) {
            line(&mut out, format_args!("classDef {} {}", state.as_str(), style(state)));
        }
        for wanted in STYLED {
            let of_state = self.relations.iter().enumerate().filter(|&(_, &state)| state == wanted);
            let indices: Vec<_> = of_state.map(|(index, _)| index.to_string()).collect();
            if !indices.is_empty() {
                let StateColors { line: color, text, .. } = wanted.colors();
                let faint = match wanted {
                    State::Absent => format!(",color:{text}"),
                    _ => String::new(),
                };
                let style = format_args!("stroke:{color}{faint}");
                line(&mut out, format_args!("linkStyle {} {style}", indices.join(",")));
            }
        }
        out
    }
}

fn shape(node: &OutlineNode, state: State) -> String {
    let types = cut(&short_types(node), LABEL);
    let types = match types.is_empty() {
        true => types,
        false => format!("<br/><small>{}</small>", escaped(&types)),
    };
    let [open, close] = if node.persistent { ["[[", "]]"] } else { ["[", "]"] };
    let name = escaped(&state.signed(&cut(&node.name, LABEL)));
    format!("{open}\"<b>{name}</b>{types}\"{close}{}", class(state))
}

pub(super) fn line(out: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "    {content}");
}

/// The style of nodes in a state. What is absent has no fill, which suits light and dark grounds.
pub(super) fn style(state: State) -> String {
    let StateColors { fill, line, text } = state.colors();
    match state {
        State::Absent => {
            format!("fill:transparent,stroke:{line},color:{text},stroke-dasharray:3 3")
        }
        _ => format!("fill:{fill},stroke:{line},color:{text}"),
    }
}

fn class(state: State) -> String {
    if state == State::Plain { String::new() } else { format!(":::{}", state.as_str()) }
}

/// The label of a line: its name, unless the line itself conveys it, and its conditions.
fn label(name: &str, hosting: bool, conditions: &[String]) -> String {
    let name = if hosting && name == "host" { "" } else { name };
    let conditions = short_conditions(conditions, LABEL);
    match (name, &*conditions) {
        ("", _) => conditions,
        (_, "") => cut(name, LABEL),
        _ => format!("{}: {conditions}", cut(name, LABEL)),
    }
}

/// A text for use between quotes. Every character that mermaid, or the HTML that it generates,
/// might interpret is written by its number.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | '.' | ',' | '-' | '_' | '/' | '=' | '+' => out.push(c),
            _ if c.is_ascii_alphanumeric() => out.push(c),
            _ if c.is_whitespace() || c.is_control() => out.push(' '),
            _ if c.is_ascii() => {
                let _ = write!(out, "#{};", u32::from(c));
            }
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
        assert_eq!(
            escaped("a\"] --> b%%{init}%%\n`<i>#35;é"),
            "a#34;#93; --#62; b#37;#37;#123;init#125;#37;#37; #96;#60;i#62;#35;35#59;é"
        );
        for c in (0..=0x7f).map(char::from) {
            let text = escaped(&c.to_string());
            let harmless = |c: char| c.is_ascii_alphanumeric() || " .,-_/=+#;".contains(c);
            assert!(text.chars().all(harmless), "{c:?}: {text}");
        }
    }

    #[test]
    fn labels_say_what_lines_do_not() {
        let conditions =
            ["logic_expression: on_box".to_owned(), "not: {variability_input: tls}".to_owned()];
        assert_eq!(label("host", true, &conditions), "on_box and not: {tls}");
        assert_eq!(label("host", false, &[]), "host");
        assert_eq!(label("db", true, &conditions[..1]), "db: on_box");
        assert_eq!(label("host", true, &[]), "");
        assert_eq!(label(&"x".repeat(99), false, &[]).chars().count(), LABEL);
    }
}
