//! Draws frames around the nodes that replaced substituted ones; frames of nested substitutions are
//! nested.

use super::Drawing;
use super::cut;
use super::layout::{Point, Size};
use super::svg::Ink;
use cuvee_text::xml::XmlText;
use rustc_hash::FxHashMap;

/// The distance between a frame and its contents.
const ROOM: f64 = 7.0;
/// The additional space above the contents, for the name of the frame.
const TITLE: f64 = 13.0;
/// Longer names are cut; the tooltip contains the whole name.
const LABEL: usize = 32;
/// If a frame has more scattered parts than this, they are not merged further.
const SCATTERED: usize = 64;

/// A frame: the path of substituted nodes, outermost first.
pub(super) struct NodeFrame<'d> {
    path: &'d [String],
    parent: Option<usize>,
}

impl NodeFrame<'_> {
    /// The name of the substituted node.
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    pub(super) fn identifier(&self) -> String {
        format!("frame.{}", self.path.join("/"))
    }
}

/// All frames of a drawing; outer frames come before inner ones.
pub(super) struct Frames<'d> {
    all: Vec<NodeFrame<'d>>,
    /// For each node, the innermost frame around it.
    of: Vec<Option<usize>>,
}

/// A step of a drawing that is written as text.
pub(super) enum FrameItem<'f, 'd> {
    Node(usize),
    Open(usize, &'f NodeFrame<'d>),
    Close,
}

impl Drawing<'_> {
    pub(super) fn frames(&self) -> Frames<'_> {
        let mut known: FxHashMap<&[String], usize> = FxHashMap::default();
        let mut frames = Frames { all: Vec::new(), of: Vec::new() };
        for node in &self.outline.nodes {
            let mut parent = None;
            for depth in 1..=node.substitutes.len() {
                let path = &node.substitutes[..depth];
                let next = frames.all.len();
                let index = *known.entry(path).or_insert(next);
                if index == next {
                    frames.all.push(NodeFrame { path, parent });
                }
                parent = Some(index);
            }
            frames.of.push(parent);
        }
        frames
    }
}

impl<'d> Frames<'d> {
    /// Nodes and frames in the order in which they are written, each with its indentation. A frame,
    /// with all its contents, comes where the first of its nodes does.
    pub(super) fn written(&self) -> Vec<(String, FrameItem<'_, 'd>)> {
        let mut inside: Vec<Vec<FramePart>> = vec![Vec::new(); self.all.len() + 1];
        let slot = |frame: Option<usize>| frame.map_or(0, |frame| frame + 1);
        let mut is_seen = vec![false; self.all.len()];
        for (node, &innermost) in self.of.iter().enumerate() {
            inside[slot(innermost)].push(FramePart::Node(node));
            let mut around = innermost;
            while let Some(frame) = around.filter(|&frame| !is_seen[frame]) {
                is_seen[frame] = true;
                around = self.all[frame].parent;
                inside[slot(around)].push(FramePart::Frame(frame));
            }
        }
        let mut all = Vec::new();
        self.write(&inside, 0, "", &mut all);
        all
    }

    fn write<'f>(
        &'f self,
        inside: &[Vec<FramePart>],
        slot: usize,
        indent: &str,
        all: &mut Vec<(String, FrameItem<'f, 'd>)>,
    ) {
        for part in &inside[slot] {
            match *part {
                FramePart::Node(node) => all.push((indent.to_owned(), FrameItem::Node(node))),
                FramePart::Frame(frame) => {
                    all.push((indent.to_owned(), FrameItem::Open(frame, &self.all[frame])));
                    self.write(inside, frame + 1, &format!("{indent}    "), all);
                    all.push((indent.to_owned(), FrameItem::Close));
                }
            }
        }
    }

    /// The frames around placed boxes. A frame has several parts if other boxes are in between.
    pub(super) fn placed(self, centres: &[Point], sizes: &[Size]) -> PlacedFrames<'d> {
        let boxes = self.of.iter().zip(centres.iter().zip(sizes));
        let boxes =
            boxes.map(|(&frame, (&centre, &size))| (frame, FramedArea::around(centre, size)));
        let boxes: Vec<_> = boxes.collect();
        let mut parts: Vec<Vec<FramedArea>> = vec![Vec::new(); self.all.len()];
        // Inner frames come first.
        for frame in (0..self.all.len()).rev() {
            let is_inside = |other: Option<usize>| self.is_inside(other, frame);
            let own = boxes.iter().filter(|(of, _)| *of == Some(frame)).map(|(_, area)| *area);
            let nested =
                (frame + 1..self.all.len()).filter(|&it| self.all[it].parent == Some(frame));
            let units = own.chain(nested.flat_map(|nested| parts[nested].clone())).collect();
            let others = boxes.iter().filter(|(of, _)| !is_inside(*of)).map(|(_, area)| *area);
            let placed = parts.iter().enumerate().filter(|(it, _)| !is_inside(Some(*it)));
            let others = others.chain(placed.flat_map(|(_, parts)| parts.iter().copied()));
            parts[frame] = joined(units, &others.collect::<Vec<_>>());
        }
        PlacedFrames { frames: self.all, parts }
    }

    /// Whether a frame is another frame or inside it.
    fn is_inside(&self, frame: Option<usize>, outer: usize) -> bool {
        let around = |&frame: &usize| self.all[frame].parent;
        std::iter::successors(frame, around).any(|frame| frame == outer)
    }
}

#[derive(Clone, Copy)]
enum FramePart {
    Node(usize),
    Frame(usize),
}

/// Frames with their places, each in one or more parts.
pub(super) struct PlacedFrames<'d> {
    frames: Vec<NodeFrame<'d>>,
    parts: Vec<Vec<FramedArea>>,
}

impl PlacedFrames<'_> {
    /// How far the frames extend beyond an area of this size, horizontally and vertically.
    pub(super) fn beyond(&self, size: Size) -> Point {
        let mut over = Point::default();
        for area in self.parts.iter().flatten() {
            let FramedArea { left, top, right, bottom } = *area;
            over.x = over.x.max(-left).max(right - size.width);
            over.y = over.y.max(-top).max(bottom - size.height);
        }
        over
    }

    pub(super) fn draw(&self, ink: &mut Ink) {
        for (frame, parts) in self.frames.iter().zip(&self.parts) {
            let (id, name) = (frame.identifier(), frame.name());
            ink.put(format_args!(
                "<g class=\"frame\" data-id=\"{}\"><title>substitutes: {}</title>",
                XmlText(&id),
                XmlText(name)
            ));
            for area in parts {
                let corner = Point { x: area.left, y: area.top };
                let size = Size { width: area.right - area.left, height: area.bottom - area.top };
                ink.rect("around", corner, size, 8.0);
                let at = Point { x: area.left + ROOM, y: area.top + TITLE };
                ink.text("word", at, &cut(name, LABEL));
            }
            ink.put(format_args!("</g>\n"));
        }
    }
}

/// The area of a part of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FramedArea {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl FramedArea {
    fn around(centre: Point, size: Size) -> Self {
        let (x, y) = (size.width / 2.0, size.height / 2.0);
        Self { left: centre.x - x, top: centre.y - y, right: centre.x + x, bottom: centre.y + y }
    }

    fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    fn framed(self) -> Self {
        Self {
            left: self.left - ROOM,
            top: self.top - ROOM - TITLE,
            right: self.right + ROOM,
            bottom: self.bottom + ROOM,
        }
    }

    fn touches(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// As few areas as the search finds that cover all units, with some room, and touch none of the
/// other areas.
fn joined(mut units: Vec<FramedArea>, others: &[FramedArea]) -> Vec<FramedArea> {
    let is_free = |area: FramedArea| others.iter().all(|other| !area.framed().touches(*other));
    if let Some(whole) = units.iter().copied().reduce(FramedArea::with)
        && is_free(whole)
    {
        return vec![whole.framed()];
    }
    units.sort_by(|a, b| a.top.total_cmp(&b.top).then(a.left.total_cmp(&b.left)));
    let mut parts: Vec<FramedArea> = Vec::new();
    for unit in units {
        match parts.last_mut().filter(|last| is_free(last.with(unit))) {
            Some(last) => *last = last.with(unit),
            None => parts.push(unit),
        }
    }
    let mut at = 0;
    while at < parts.len() && parts.len() <= SCATTERED {
        let fits = (at + 1..parts.len()).find(|&other| is_free(parts[at].with(parts[other])));
        match fits {
            Some(other) => parts[at] = parts[at].with(parts.remove(other)),
            None => at += 1,
        }
    }
    parts.into_iter().map(FramedArea::framed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::outline::{Outline, OutlineNode};

    fn outline(nodes: &[(&str, &[&str])]) -> Outline {
        let node = |(name, substitutes): &(&str, &[&str])| OutlineNode {
            identifier: format!("node.{name}"),
            name: (*name).to_owned(),
            substitutes: substitutes.iter().map(|&it| it.to_owned()).collect(),
            ..OutlineNode::default()
        };
        Outline { nodes: nodes.iter().map(node).collect(), relations: Vec::new() }
    }

    #[test]
    fn frames_are_written_around_what_is_in_them() {
        let outline = outline(&[("a", &[]), ("b", &["x", "y"]), ("c", &[]), ("d", &["x"])]);
        let drawing = Drawing::of(&outline);
        let written: String = drawing
            .frames()
            .written()
            .iter()
            .map(|(_, item)| match item {
                FrameItem::Node(node) => drawing.outline.nodes[*node].name.clone(),
                FrameItem::Open(_, frame) => format!("{}(", frame.name()),
                FrameItem::Close => ")".to_owned(),
            })
            .collect();
        assert_eq!(written, "ax(y(b)d)c");
    }

    /// A row of boxes of equal width at these places.
    fn row(places: &[f64]) -> (Vec<Point>, Vec<Size>) {
        let centres = places.iter().map(|&x| Point { x, y: 0.0 }).collect();
        (centres, vec![Size { width: 80.0, height: 40.0 }; places.len()])
    }

    #[test]
    fn frames_hold_nothing_else() {
        let outline = outline(&[("a", &["x"]), ("b", &["x", "y"]), ("c", &["x"])]);
        let (centres, sizes) = row(&[0.0, 120.0, 240.0]);
        let drawing = Drawing::of(&outline);
        let placed = drawing.frames().placed(&centres, &sizes);
        let [outer, inner] = &placed.parts[..] else { panic!("two frames") };
        assert_eq!((outer.len(), inner.len()), (1, 1));
        assert!(outer[0].left < inner[0].left && outer[0].top < inner[0].top);
        assert!(placed.beyond(Size { width: 280.0, height: 40.0 }).y > 0.0);
    }

    #[test]
    fn what_stands_between_parts_a_frame() {
        let outline = outline(&[("a", &["x"]), ("b", &[]), ("c", &["x"]), ("d", &["x"])]);
        let (centres, sizes) = row(&[0.0, 120.0, 240.0, 360.0]);
        let drawing = Drawing::of(&outline);
        let placed = drawing.frames().placed(&centres, &sizes);
        assert_eq!(placed.parts[0].len(), 2);
        let between = FramedArea::around(centres[1], sizes[1]);
        assert!(placed.parts[0].iter().all(|part| !part.touches(between)));
    }
}
