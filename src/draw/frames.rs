//! Draws frames around the nodes that replaced substituted ones; frames of nested substitutions are
//! nested.

use super::Drawing;
use super::cut;
use super::layout::frame::{LayoutFrames, ROOM, TITLE};
use super::layout::{LayoutArea, LayoutEdge, Point};
use super::svg::{Ink, LEGEND_SIZE, text_width};
use cuvee_text::xml::XmlText;
use rustc_hash::FxHashMap;

/// Longer names are cut; the tooltip contains the whole name.
const LABEL: usize = 32;

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

    /// The frames for the layout of a drawing. The open end of a relation is in the frame of its
    /// source.
    pub(super) fn laid_out(&self, boxes: usize, edges: &[LayoutEdge]) -> LayoutFrames {
        let mut of = self.of.clone();
        of.resize(boxes, None);
        for edge in edges.iter().filter(|edge| edge.target >= self.of.len()) {
            of[edge.target] = of[edge.source];
        }
        let title = |frame: &NodeFrame<'_>| text_width(&cut(frame.name(), LABEL), LEGEND_SIZE);
        LayoutFrames {
            of,
            parents: self.all.iter().map(|frame| frame.parent).collect(),
            titles: self.all.iter().map(title).collect(),
        }
    }

    /// Draws the frames in these areas.
    pub(super) fn draw(&self, ink: &mut Ink, areas: &[LayoutArea]) {
        for (frame, LayoutArea { corner, size }) in self.all.iter().zip(areas) {
            let (id, name) = (frame.identifier(), frame.name());
            ink.put(format_args!(
                "<g class=\"frame\" data-id=\"{}\"><title>substitutes: {}</title>",
                XmlText(&id),
                XmlText(name)
            ));
            ink.rect("around", *corner, *size, 8.0);
            let at = Point { x: corner.x + ROOM, y: corner.y + TITLE };
            ink.text("word", at, &cut(name, LABEL));
            ink.put(format_args!("</g>\n"));
        }
    }
}

#[derive(Clone, Copy)]
enum FramePart {
    Node(usize),
    Frame(usize),
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

    #[test]
    fn open_ends_are_in_the_frames_of_their_sources() {
        let outline = outline(&[("a", &[]), ("b", &["x"])]);
        let drawing = Drawing::of(&outline);
        let edge = |source, target| LayoutEdge { source, target, hosting: false, fork: None };
        let frames = drawing.frames().laid_out(4, &[edge(0, 1), edge(0, 2), edge(1, 3)]);
        assert_eq!(frames.of, [None, Some(0), None, Some(0)]);
        assert!(frames.titles[0] > 0.0);
    }
}
