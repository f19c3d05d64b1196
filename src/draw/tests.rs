//! Tests the laws of drawings with random topologies that have unusual names.

use super::*;
use proptest::prelude::*;
use quick_xml::events::Event;

fn names() -> impl Strategy<Value = String> {
    "[a-z\"'<>&;#%`\\\\|(){}\\[\\]\n\u{0}é日\u{202e}]{0,8}"
}

fn topologies() -> impl Strategy<Value = (Outline, Vec<State>)> {
    let node = (
        names(),
        prop::collection::vec(names(), 0..3),
        prop::collection::vec(names(), 0..2),
        any::<bool>(),
        prop::collection::vec("[a-c\"<&]", 0..4),
    );
    let relation = (
        names(),
        0usize..64,
        prop::option::of(0usize..64),
        any::<bool>(),
        prop::collection::vec(names(), 0..2),
    );
    let (nodes, relations) =
        (prop::collection::vec(node, 1..8), prop::collection::vec(relation, 0..12));
    let states = prop::collection::vec(prop::sample::select(State::ALL.as_slice()), 20);
    (nodes, relations, states).prop_map(|(nodes, relations, states)| {
        let count = nodes.len();
        let node = |(index, (name, types, conditions, persistent, substitutes))| OutlineNode {
            identifier: format!("node.{name}{index}"),
            place: String::new(),
            weight: 1.0,
            name,
            types,
            conditions,
            persistent,
            substitutes,
        };
        let relation = |(index, (name, source, target, hosting, conditions)): (
            usize,
            (String, usize, Option<usize>, bool, _),
        )| OutlineRelation {
            identifier: format!("relation.{name}@{index}"),
            place: String::new(),
            source: source % count,
            target: target.map(|target| target % count),
            name,
            hosting,
            conditions,
            copies: None,
        };
        let nodes = nodes.into_iter().enumerate().map(node).collect();
        let relations = relations.into_iter().enumerate().map(relation).collect();
        (Outline { nodes, relations }, states)
    })
}

/// The number of frames around the nodes of an outline.
fn framed(outline: &Outline) -> usize {
    let paths = outline.nodes.iter().map(|node| &node.substitutes);
    let paths = paths.flat_map(|path| (1..=path.len()).map(|depth| &path[..depth]));
    paths.collect::<FxHashSet<_>>().len()
}

fn drawing<'t>(outline: &'t Outline, states: &[State]) -> Drawing<'t> {
    let mut states = states.iter().copied();
    Drawing::with(outline, |_| states.next().unwrap())
}

/// The class and the identifier of each group with an identifier, and the text of all titles.
fn groups(svg: &str) -> Vec<(String, String)> {
    let mut reader = quick_xml::Reader::from_str(svg);
    let mut groups = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return groups,
            Event::Start(start) => {
                let attribute = |name: &str| {
                    let found = start.try_get_attribute(name).unwrap()?;
                    Some(
                        found
                            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                            .unwrap()
                            .into_owned(),
                    )
                };
                if let (Some(class), Some(id)) = (attribute("class"), attribute("data-id")) {
                    groups.push((class, id));
                }
            }
            _ => {}
        }
    }
}

/// A text without characters that XML cannot contain.
fn sayable(text: &str) -> String {
    let is_sayable = |c: char| !c.is_control() || "\n\r\t".contains(c);
    text.chars().map(|c| if is_sayable(c) { c } else { '\u{fffd}' }).collect()
}

/// The statements of a text in DOT: the parts between semicolons and braces, except within quotes.
fn statements(dot: &str) -> Vec<String> {
    let (mut found, mut current, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = dot.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => drop(chars.next()),
            '"' => quoted = !quoted,
            ';' | '{' | '}' if !quoted => {
                found.push(std::mem::take(&mut current).trim().to_owned())
            }
            _ if !quoted => current.push(c),
            _ => {}
        }
    }
    assert!(!quoted, "a quote is open at the end of {dot}");
    found
}

proptest! {
    #[test]
    fn svg_has_every_element_once_with_its_state((outline, states) in topologies()) {
        let drawing = drawing(&outline, &states);
        let mut groups = groups(&drawing.to_svg(&Svg::default()));
        let frames = groups.extract_if(.., |(class, _)| class == "frame").count();
        prop_assert_eq!(frames, framed(&outline));
        prop_assert_eq!(groups.len(), outline.nodes.len() + outline.relations.len());
        let known: std::collections::HashMap<_, _> = groups.into_iter().map(|(class, id)| (id, class)).collect();
        for (node, state) in drawing.nodes() {
            let class = &known[&sayable(&node.identifier)];
            prop_assert!(class.starts_with(&format!("node {}", state.as_str())), "{}", class);
        }
        for (relation, state) in drawing.relations() {
            let kind = if relation.hosting { "hosting" } else { "connection" };
            let class = &known[&sayable(&relation.identifier)];
            prop_assert!(class.starts_with(&format!("relation {kind} {}", state.as_str())), "{}", class);
        }
    }

    #[test]
    fn dot_has_every_element_once((outline, states) in topologies()) {
        let drawing = drawing(&outline, &states);
        let statements = statements(&drawing.to_dot());
        let open = outline.relations.iter().filter(|relation| relation.target.is_none()).count();
        let lines = statements.iter().filter(|statement| statement.contains("->")).count();
        let nodes = statements.iter().filter(|statement| statement.starts_with('n') && statement.contains("label=") && !statement.contains("->")).count();
        prop_assert_eq!(lines, outline.relations.len());
        prop_assert_eq!(nodes, outline.nodes.len());
        let frames = statements.iter().filter(|statement| statement.contains("subgraph cluster_"));
        prop_assert_eq!(frames.count(), framed(&outline));
        prop_assert_eq!(statements.iter().filter(|statement| statement.starts_with("open")).count(), open);
    }

    #[test]
    fn mermaid_has_every_element_in_a_line((outline, states) in topologies()) {
        let drawing = drawing(&outline, &states);
        let text = drawing.to_mermaid();
        let mut lines: Vec<_> = text.lines().collect();
        prop_assert_eq!(lines[0], "flowchart TB");
        let opened = lines.extract_if(.., |line| line.trim().starts_with("subgraph frame")).count();
        let closed = lines.extract_if(.., |line| line.trim() == "end").count();
        prop_assert_eq!((opened, closed), (framed(&outline), opened));
        let in_frames = lines[1..].iter_mut().take(outline.nodes.len());
        in_frames.for_each(|line| *line = &line[line.find('n').unwrap_or(4) - 4..]);
        let mut nodes = lines[1..=outline.nodes.len()].to_vec();
        nodes.sort_by_key(|line| line[5..].split('[').next().and_then(|index| index.parse::<usize>().ok()));
        let (_, rest) = lines[1..].split_at(outline.nodes.len());
        let (relations, styles) = rest.split_at(outline.relations.len());
        for (index, line) in nodes.iter().enumerate() {
            let open = format!("    n{index}[");
            prop_assert!(line.starts_with(&open) && line.matches('"').count() == 2, "{}", line);
        }
        for (line, relation) in relations.iter().zip(&outline.relations) {
            let open = format!("    n{} {}", relation.source, if relation.hosting { "==>" } else { "-.->" });
            prop_assert!(line.starts_with(&open) && line.matches('"').count() % 2 == 0, "{}", line);
        }
        prop_assert!(styles.iter().all(|line| line.starts_with("    classDef ") || line.starts_with("    linkStyle ")));
    }

    #[test]
    fn nothing_absent_is_left((outline, states) in topologies()) {
        let drawing = drawing(&outline, &states);
        let kept = drawing.clone().without_absent();
        let present = |states: &[State]| states.iter().filter(|&&state| state != State::Absent).count();
        prop_assert_eq!(kept.nodes.len(), present(&drawing.nodes));
        prop_assert!(!kept.nodes.contains(&State::Absent) && !kept.relations.contains(&State::Absent));
        for (relation, _) in kept.relations() {
            let before = outline.relations.iter().find(|before| before.identifier == relation.identifier).unwrap();
            let name = |outline: &Outline, index: usize| outline.nodes[index].identifier.clone();
            prop_assert_eq!(name(&kept.outline, relation.source), name(&outline, before.source));
            if let (Some(now), Some(before)) = (relation.target, before.target) {
                prop_assert_eq!(name(&kept.outline, now), name(&outline, before));
            }
        }
        // The rest can still be drawn.
        let drawn = groups(&kept.to_svg(&Svg { style: false, legend: false }));
        prop_assert_eq!(drawn.len(), kept.nodes.len() + kept.relations.len() + framed(&kept.outline));
    }
}

#[test]
fn two_variants_make_four_states() {
    let states = [(true, true), (false, false), (true, false), (false, true)]
        .map(|(first, second)| State::between(first, second));
    assert_eq!(states, [State::Present, State::Absent, State::Removed, State::Added]);
}

#[test]
fn the_legend_explains_what_there_is() {
    let node = |name: &str| OutlineNode {
        identifier: format!("node.{name}"),
        name: name.to_owned(),
        ..OutlineNode::default()
    };
    let outline = Outline { nodes: vec![node("a"), node("b")], relations: Vec::new() };
    let words = |drawing: &Drawing<'_>| {
        let svg = drawing.to_svg(&Svg { style: false, legend: true });
        let parts = svg.split("<text class=\"word\"").skip(1);
        parts
            .map(|part| part[part.find('>').unwrap() + 1..part.find('<').unwrap()].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&Drawing::of(&outline)), [""; 0]);
    let one =
        Drawing::with(&outline, |id| if id == "node.a" { State::Present } else { State::Absent });
    assert_eq!(words(&one), ["present", "absent"]);
    let two =
        Drawing::with(&outline, |id| if id == "node.a" { State::Present } else { State::Added });
    assert_eq!(words(&two.named("old", "new & shiny")), ["in both", "new &amp; shiny"]);
}

#[test]
fn only_a_part_of_the_style_is_optional() {
    let outline = Outline::default();
    let with = Drawing::of(&outline).to_svg(&Svg::default());
    let without = Drawing::of(&outline).to_svg(&Svg { style: false, legend: true });
    assert_eq!(with.replace(&format!("<style>\n{STYLE}</style>\n"), ""), without);
}

#[test]
fn conditions_are_cut_for_labels_only() {
    let conditions =
        ["logic_expression: on_box".to_owned(), "not: {variability_input: tls}".to_owned()];
    assert_eq!(short_conditions(&conditions, 99), "on_box and not: {tls}");
    assert_eq!(short_conditions(&conditions, 9), "on_box a…");
}

#[test]
fn what_leads_nowhere_is_not_drawn() {
    let relation =
        |source, target| OutlineRelation { source, target, ..OutlineRelation::default() };
    let relations = vec![relation(7, None), relation(0, Some(7)), relation(0, Some(0))];
    let outline = Outline { nodes: vec![OutlineNode::default()], relations };
    let drawing = Drawing::of(&outline);
    let targets: Vec<_> = drawing.relations().map(|(relation, _)| relation.target).collect();
    assert_eq!(targets, [None, Some(0)]);
    assert_eq!(groups(&drawing.without_absent().to_svg(&Svg::default())).len(), 3);
}
