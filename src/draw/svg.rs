//! Draws topologies as SVG, with our own layout.

use super::layout::{Layout, LayoutEdge, Point, Route, Size, layout};
use super::{Drawing, State, cut, short_types};
use crate::explore::outline::{OutlineNode, OutlineRelation};
use cuvee_text::xml::XmlText;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::{self, Write};

/// The style sheet of the drawings, for a page that embeds several of them and includes it once.
pub const STYLE: &str = include_str!("style.css");

/// The settings of an SVG.
#[derive(Clone, Copy, Debug)]
pub struct Svg {
    /// Whether the SVG contains the style sheet; a page that embeds it may have [`STYLE`] already.
    pub style: bool,
    /// Whether a legend is drawn below.
    pub legend: bool,
}

impl Default for Svg {
    fn default() -> Self {
        Self { style: true, legend: true }
    }
}

/// The margin around the whole drawing.
pub(super) const MARGIN: f64 = 24.0;
pub(super) const BOX_HEIGHT: f64 = 48.0;
const BOX_PADDING: f64 = 16.0;
const BOX_WIDTH: f64 = 92.0;
/// The width that a box gets for each line at one of its sides; below, the greatest width.
const BETWEEN_HEADS: f64 = 12.0;
const WIDEST: f64 = 480.0;
/// The size of the open end of a relation without a target.
const OPEN_END: f64 = 12.0;
/// Longer texts are cut; the tooltip contains the whole text.
const LABEL: usize = 32;
const NAME_SIZE: f64 = 14.0;
const TYPE_SIZE: f64 = 11.0;
pub(super) const LEGEND_SIZE: f64 = 12.0;
/// The length of an arrow head.
const HEAD: f64 = 9.0;

impl Drawing<'_> {
    /// The drawing as SVG. The classes of a group are `node`, `relation hosting` or
    /// `relation connection`, followed by the state. `data-id` is the identifier.
    pub fn to_svg(&self, svg: &Svg) -> String {
        let boxes: Vec<_> =
            self.nodes().map(|(node, _)| BoxLabel::of(&node.name, &short_types(node))).collect();
        let (sizes, edges) = self.shapes(&boxes);
        let frames = self.frames();
        let layout = layout(&sizes, &edges, &frames.laid_out(sizes.len(), &edges));
        let legend = if svg.legend { self.legend() } else { Legend::default() };
        let drawn = Size {
            width: layout.size.width.max(legend.width) + 2.0 * MARGIN,
            height: layout.size.height + legend.height() + 2.0 * MARGIN,
        };
        let mut ink = Ink::default();
        ink.open(drawn, "Topology", svg.style);
        let shift = Point { x: (drawn.width - layout.size.width) / 2.0, y: MARGIN };
        ink.put(format_args!(
            "<g transform=\"translate({} {})\">\n",
            Length(shift.x),
            Length(shift.y)
        ));
        frames.draw(&mut ink, &layout.frames);
        self.draw_relations(&mut ink, &layout);
        for (index, (node, state)) in self.nodes().enumerate() {
            draw_node(&mut ink, node, state, &boxes[index], layout.centres[index], sizes[index]);
        }
        ink.put(format_args!("</g>\n"));
        legend.draw(&mut ink, Point { x: MARGIN, y: MARGIN + layout.size.height });
        ink.close()
    }

    /// The boxes of nodes and the open ends of relations, with the edges between them.
    fn shapes(&self, boxes: &[BoxLabel]) -> (Vec<Size>, Vec<LayoutEdge>) {
        let mut sizes: Vec<_> =
            boxes.iter().map(|label| Size { width: label.width, height: BOX_HEIGHT }).collect();
        let forks = self.forks();
        let edge = |((relation, _), fork): ((&OutlineRelation, State), Option<usize>)| {
            let target = relation.target.unwrap_or_else(|| {
                sizes.push(Size { width: OPEN_END, height: OPEN_END });
                sizes.len() - 1
            });
            LayoutEdge { source: relation.source, target, hosting: relation.hosting, fork }
        };
        let edges: Vec<_> = self.relations().zip(forks).map(edge).collect();
        let mut ends = vec![[0usize; 2]; sizes.len()];
        let mut seen = FxHashSet::default();
        for edge in &edges {
            let is_own = edge.fork.is_none_or(|fork| seen.insert((edge.source, fork)));
            ends[edge.source][0] += usize::from(is_own);
            ends[edge.target][1] += 1;
        }
        for (size, [leaving, arriving]) in sizes.iter_mut().zip(ends) {
            size.width = size.width.max((BETWEEN_HEADS * leaving.max(arriving) as f64).min(WIDEST));
        }
        (sizes, edges)
    }

    /// For each relation the number of its fork, if it is one of several alternatives. These are
    /// relations of one node with the same name that either all have conditions or all lead to
    /// hosts.
    fn forks(&self) -> Vec<Option<usize>> {
        let mut numbers: FxHashMap<(usize, &str, bool), (usize, bool)> = FxHashMap::default();
        let mut of = Vec::with_capacity(self.relations.len());
        for (relation, _) in self.relations() {
            let (name, hosting) = (&*relation.name, relation.hosting);
            let next = numbers.len();
            let (number, is_fork) =
                numbers.entry((relation.source, name, hosting)).or_insert((next, true));
            *is_fork &= hosting || !relation.conditions.is_empty();
            of.push(*number);
        }
        let mut is_fork = vec![false; numbers.len()];
        numbers.into_values().for_each(|(number, fork)| is_fork[number] = fork);
        of.into_iter().map(|number| is_fork[number].then_some(number)).collect()
    }

    /// Absent relations are drawn first, so that they are below the others.
    fn draw_relations(&self, ink: &mut Ink, layout: &Layout) {
        let mut open_ends = layout.centres.iter().skip(self.nodes.len());
        let ends: Vec<_> = self
            .relations()
            .map(|(relation, _)| if relation.target.is_none() { open_ends.next() } else { None })
            .collect();
        for absent in [true, false] {
            let routes = layout.routes.iter().zip(&layout.forks);
            for (((relation, state), route), end) in self.relations().zip(routes).zip(&ends) {
                if (state == State::Absent) == absent {
                    self.draw_relation(ink, relation, state, route, *end);
                }
            }
        }
    }

    fn draw_relation(
        &self,
        ink: &mut Ink,
        relation: &OutlineRelation,
        state: State,
        (route, &fork): (&Route, &usize),
        end: Option<&Point>,
    ) {
        let kind = if relation.hosting { "hosting" } else { "connection" };
        let conditional = if relation.conditions.is_empty() { "" } else { " conditional" };
        let (class, id) = (state.as_str(), XmlText(&relation.identifier));
        ink.put(format_args!(
            "<g class=\"relation {kind} {class}{conditional}\" data-id=\"{id}\">"
        ));
        ink.put(format_args!("<title>{}</title>", XmlText(&self.about_relation(relation))));
        let line = DrawnLine::along(route, fork, relation.hosting);
        // An invisible broad line, which is easier to point at.
        ink.put(format_args!(
            "<path class=\"reach\" d=\"{}\"/><path class=\"line\" d=\"{}\"/>",
            line.path, line.path
        ));
        if let Some(end) = end {
            ink.put(format_args!(
                "<circle class=\"end\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                Length(end.x),
                Length(end.y),
                OPEN_END / 2.0
            ));
        } else {
            ink.put(format_args!("<path class=\"head\" d=\"{}\"/>", line.head));
        }
        if !conditional.is_empty() {
            ink.put(format_args!(
                "<circle class=\"option\" cx=\"{}\" cy=\"{}\" r=\"3.5\"/>",
                Length(line.option.x),
                Length(line.option.y)
            ));
        }
        if !state.sign().is_empty() {
            draw_sign(ink, state, line.option, SMALL_SIGN);
        }
        ink.put(format_args!("</g>\n"));
    }

    /// The legend for the lines and colours that occur in the drawing.
    fn legend(&self) -> Legend {
        let mut legend = Legend::default();
        let has =
            |hosting| self.outline.relations.iter().any(|relation| relation.hosting == hosting);
        let lines = [("hosting", "hosted on"), ("connection", "connects to")];
        for (class, text) in lines.into_iter().filter(|(class, _)| has(*class == "hosting")) {
            legend.add(Sample::Line(class), text);
        }
        let plain =
            self.nodes().any(|(node, state)| state == State::Plain && !node.conditions.is_empty())
                || self.relations().any(|(relation, state)| {
                    state == State::Plain && !relation.conditions.is_empty()
                });
        if plain {
            legend.add(Sample::Conditional, "has conditions");
        }
        for state in State::ALL
            .into_iter()
            .filter(|state| self.nodes.contains(state) || self.relations.contains(state))
        {
            if let Some(text) = self.meaning(state) {
                legend.add(Sample::State(state), text);
            }
        }
        legend
    }
}

/// The two lines of text in a box, and the width that they need.
pub(super) struct BoxLabel {
    name: String,
    below: String,
    pub(super) width: f64,
}

impl BoxLabel {
    pub(super) fn of(name: &str, below: &str) -> Self {
        let (name, below) = (cut(name, LABEL), cut(below, LABEL));
        let text = (text_width(&name, NAME_SIZE) * BOLD).max(text_width(&below, TYPE_SIZE));
        Self { name, below, width: (text + 2.0 * BOX_PADDING).max(BOX_WIDTH).ceil() }
    }

    pub(super) fn draw(&self, ink: &mut Ink, centre: Point) {
        let alone = self.below.is_empty();
        let y = centre.y + if alone { 5.0 } else { -2.0 };
        ink.text("name", Point { x: centre.x, y }, &self.name);
        if !alone {
            ink.text("type", Point { x: centre.x, y: centre.y + 14.0 }, &self.below);
        }
    }
}

fn draw_node(
    ink: &mut Ink,
    node: &OutlineNode,
    state: State,
    label: &BoxLabel,
    centre: Point,
    size: Size,
) {
    let conditional = if node.conditions.is_empty() { "" } else { " conditional" };
    let persistent = if node.persistent { " persistent" } else { "" };
    let corner = Point { x: centre.x - size.width / 2.0, y: centre.y - size.height / 2.0 };
    ink.put(format_args!(
        "<g class=\"node {}{conditional}{persistent}\" data-id=\"{}\">",
        state.as_str(),
        XmlText(&node.identifier)
    ));
    ink.put(format_args!("<title>{}</title>", XmlText(&Drawing::about_node(node))));
    ink.rect("box", corner, size, 8.0);
    if node.persistent {
        let inner = Size { width: size.width - 7.0, height: size.height - 7.0 };
        ink.rect("inner", Point { x: corner.x + 3.5, y: corner.y + 3.5 }, inner, 5.0);
    }
    label.draw(ink, centre);
    draw_sign(ink, state, Point { x: corner.x + size.width - 4.0, y: corner.y + 4.0 }, "");
    ink.put(format_args!("</g>\n"));
}

/// Draws the signs of states, of which the style sheet shows only the one of the state.
pub(super) fn draw_sign(ink: &mut Ink, state: State, at: Point, scale: &str) {
    let (x, y) = (Length(at.x), Length(at.y));
    ink.put(format_args!("<g class=\"sign\" transform=\"translate({x} {y}){scale}\"><circle r=\"8\"/><path class=\"minus\" d=\"M-4 0H4\"/><path class=\"plus\" d=\"M0 -4V4\"/>"));
    if state == State::Changed {
        ink.put(format_args!("<path d=\"M-4 1C-2 -4 2 4 4 -1\"/>"));
    }
    ink.put(format_args!("</g>"));
}

/// The scale of a sign at a line or in the legend.
pub(super) const SMALL_SIGN: &str = "scale(.7)";

/// The paths of a line.
pub(super) struct DrawnLine {
    pub(super) path: String,
    pub(super) head: String,
    /// The place for the sign of a condition.
    option: Point,
}

impl DrawnLine {
    pub(super) fn along(route: &Route, fork: usize, filled: bool) -> Self {
        match route {
            Route::Through(points) => Self::through(points, fork, filled),
            Route::Loop { from, to, reach } => {
                let out = from.x + reach * 4.0 / 3.0;
                let end = Point { x: to.x + if filled { HEAD - 1.0 } else { 1.0 }, y: to.y };
                let path = format!(
                    "M{} {}C{} {} {} {} {} {}",
                    Length(from.x),
                    Length(from.y),
                    Length(out),
                    Length(from.y),
                    Length(out),
                    Length(to.y),
                    Length(end.x),
                    Length(end.y)
                );
                Self {
                    path,
                    head: head(*to, Point { x: 1.0, y: 0.0 }, filled),
                    option: Point { x: from.x + 5.0, ..*from },
                }
            }
        }
    }

    /// A line that is vertical at each point: straight between points above each other, otherwise
    /// an S.
    fn through(points: &[Point], fork: usize, filled: bool) -> Self {
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
            return Self { path: String::new(), head: String::new(), option: Point::default() };
        };
        let down = if last.y >= first.y { 1.0 } else { -1.0 };
        let end = Point { y: last.y - down * if filled { HEAD - 1.0 } else { 1.0 }, ..last };
        let mut path = format!("M{} {}", Length(first.x), Length(first.y));
        let mut from = first;
        for (index, &point) in points.iter().enumerate().skip(1) {
            let to = if index + 1 == points.len() { end } else { point };
            // Writing to a string does not fail.
            let _ = if (to.x - from.x).abs() < 0.05 {
                write!(path, "V{}", Length(to.y))
            } else {
                let middle = (from.y + to.y) / 2.0;
                write!(
                    path,
                    "C{} {} {} {} {} {}",
                    Length(from.x),
                    Length(middle),
                    Length(to.x),
                    Length(middle),
                    Length(to.x),
                    Length(to.y)
                )
            };
            from = to;
        }
        let option = option_at(points, fork, down);
        Self { path, head: head(last, Point { x: 0.0, y: -down }, filled), option }
    }
}

/// The place for the sign of a condition: at the start of a line, or after the fork if it is a
/// branch.
fn option_at(points: &[Point], fork: usize, down: f64) -> Point {
    let own = points.get(fork..).unwrap_or_default();
    // After the joint, a branch is straight for some length.
    let parting = own.windows(2).find(|pair| (pair[0].x - pair[1].x).abs() > 0.05);
    match parting.or(Some(own)) {
        Some([from, to, ..]) if fork > 0 => {
            // Far enough along the curve that branches are apart from each other.
            Point {
                x: 0.156 * from.x + 0.844 * to.x,
                y: from.y + (0.5 * 0.5625 + 0.4219) * (to.y - from.y),
            }
        }
        Some([first, ..]) => Point { y: first.y + down * 5.0, ..*first },
        _ => Point::default(),
    }
}

/// An arrow head with this tip; `from` is the direction that the arrow comes from.
fn head(tip: Point, from: Point, filled: bool) -> String {
    let half = if filled { HEAD * 0.5 } else { HEAD * 0.42 };
    let length = if filled { HEAD } else { HEAD * 0.75 };
    let wing = |side: f64| Point {
        x: tip.x + from.x * length + from.y * side * half,
        y: tip.y + from.y * length + from.x * side * half,
    };
    let (one, other) = (wing(1.0), wing(-1.0));
    let close = if filled { "Z" } else { "" };
    let (one, other) = ((Length(one.x), Length(one.y)), (Length(other.x), Length(other.y)));
    format!(
        "M{} {}L{} {}L{} {}{close}",
        one.0,
        one.1,
        Length(tip.x),
        Length(tip.y),
        other.0,
        other.1
    )
}

/// The sample in front of an entry of the legend.
pub(super) enum Sample {
    Line(&'static str),
    Conditional,
    State(State),
    /// A box with these classes.
    Box(String),
}

/// The legend: entries in one row.
#[derive(Default)]
pub(super) struct Legend {
    entries: Vec<(f64, Sample, String)>,
    pub(super) width: f64,
}

impl Legend {
    /// The width of a sample, and the space between two entries.
    const SAMPLE: f64 = 36.0;
    const SPACE: f64 = 22.0;

    pub(super) fn add(&mut self, sample: Sample, text: &str) {
        let text = cut(text, LABEL);
        let start = if self.entries.is_empty() { 0.0 } else { self.width + Self::SPACE };
        self.width = start + Self::SAMPLE + text_width(&text, LEGEND_SIZE);
        self.entries.push((start, sample, text));
    }

    pub(super) fn height(&self) -> f64 {
        if self.entries.is_empty() { 0.0 } else { 44.0 }
    }

    pub(super) fn draw(&self, ink: &mut Ink, corner: Point) {
        if self.entries.is_empty() {
            return;
        }
        ink.put(format_args!(
            "<g class=\"legend\" transform=\"translate({} {})\">\n",
            Length(corner.x),
            Length(corner.y + 36.0)
        ));
        for (x, sample, text) in &self.entries {
            match sample {
                Sample::Line(class) => {
                    let is_filled = *class != "connection";
                    let (tip, end) =
                        (Point { x: x + 28.0, y: 0.0 }, if is_filled { 20.0 } else { 27.0 });
                    let head = head(tip, Point { x: -1.0, y: 0.0 }, is_filled);
                    let line = format_args!("M{} 0H{}", Length(*x), Length(x + end)).to_string();
                    ink.put(format_args!("<g class=\"relation {class} plain\"><path class=\"line\" d=\"{line}\"/><path class=\"head\" d=\"{head}\"/></g>"));
                }
                Sample::Conditional => {
                    sample_box(ink, *x, "node plain conditional", State::Plain);
                    ink.put(format_args!("<g class=\"relation hosting plain conditional\"><circle class=\"option\" cx=\"{}\" cy=\"8\" r=\"3.5\"/></g>", Length(x + 14.0)));
                }
                Sample::State(state) => {
                    sample_box(ink, *x, &format!("node {}", state.as_str()), *state);
                }
                Sample::Box(class) => sample_box(ink, *x, class, State::Plain),
            }
            ink.text("word", Point { x: x + Self::SAMPLE, y: 4.0 }, text);
            ink.put(format_args!("\n"));
        }
        ink.put(format_args!("</g>\n"));
    }
}

/// The sample of a box with these classes.
fn sample_box(ink: &mut Ink, x: f64, class: &str, state: State) {
    ink.put(format_args!("<g class=\"{class}\">"));
    ink.rect("box", Point { x, y: -8.0 }, Size { width: 28.0, height: 16.0 }, 4.0);
    if class.contains("delegate") {
        let inner = Size { width: 22.0, height: 10.0 };
        ink.rect("inner", Point { x: x + 3.0, y: -5.0 }, inner, 2.0);
    }
    if !state.sign().is_empty() {
        draw_sign(ink, state, Point { x: x + 26.0, y: -7.0 }, SMALL_SIGN);
    }
    ink.put(format_args!("</g>"));
}

/// The SVG text written so far.
#[derive(Default)]
pub(super) struct Ink(String);

impl Ink {
    pub(super) fn put(&mut self, content: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(content);
    }

    pub(super) fn open(&mut self, size: Size, label: &str, style: bool) {
        let (width, height) = (size.width.ceil(), size.height.ceil());
        self.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"topology\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n"
        ));
        if style {
            self.put(format_args!("<style>\n{STYLE}</style>\n"));
        }
        self.put(format_args!("<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n"));
    }

    pub(super) fn close(mut self) -> String {
        self.put(format_args!("</svg>\n"));
        self.0
    }

    pub(super) fn rect(&mut self, class: &str, corner: Point, size: Size, radius: f64) {
        let (x, y, width, height) =
            (Length(corner.x), Length(corner.y), Length(size.width), Length(size.height));
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
        ));
    }

    pub(super) fn text(&mut self, class: &str, at: Point, text: &str) {
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            Length(at.x),
            Length(at.y),
            XmlText(text)
        ));
    }
}

/// A length with at most one digit behind the point.
pub(super) struct Length(pub(super) f64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round();
        // Zero is written without a sign.
        write!(f, "{}", if tenths == 0.0 { 0.0 } else { tenths / 10.0 })
    }
}

/// The factor by which bold text is wider.
const BOLD: f64 = 1.08;

/// The greatest width of a text in the usual fonts, of which DejaVu is the widest.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '|' | '.' | ',' | ':' | ';' | '\'' | ' ' | '!' => 0.35,
        'f' | 'r' | 't' | 'I' | 'J' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'M' | 'w' | 'W' | '@' | '%' | '…' => 0.99,
        '0'..='9' | 'a'..='z' | '_' | '+' | '=' => 0.63,
        'A'..='Z' => 0.74,
        _ if (c as u32) < 0x250 => 0.75,
        // Wide scripts, and all letters of unknown width.
        _ => 1.05,
    };
    text.chars().map(em).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let written: Vec<_> =
            [1.0, 0.04, -0.04, 12.349, -3.25].map(|length| Length(length).to_string()).into();
        assert_eq!(written, ["1", "0", "0", "12.3", "-3.3"]);
    }

    #[test]
    fn heads_point_where_lines_go() {
        assert_eq!(
            head(Point { x: 10.0, y: 20.0 }, Point { x: 0.0, y: -1.0 }, true),
            "M5.5 11L10 20L14.5 11Z"
        );
        assert!(!head(Point::default(), Point { x: 1.0, y: 0.0 }, false).contains('Z'));
    }
}
