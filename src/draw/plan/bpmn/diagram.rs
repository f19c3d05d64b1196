//! Places the nodes and flows of a process, from left to right.

use super::process::{FlowNode, Process};
use crate::draw::layout::frame::LayoutFrames;
use crate::draw::layout::{LayoutEdge, Point, Route, Size, coarse, layout};
use crate::draw::svg::{MARGIN, text_width};

/// In a larger process, the routes of lines cannot be followed, so they are laid out coarsely.
const LARGEST: usize = 600;

/// The sizes of shapes as BPMN editors draw them.
const EVENT: f64 = 36.0;
const GATEWAY: f64 = 50.0;
const TASK_HEIGHT: f64 = 80.0;
const TASK_WIDTH: (f64, f64) = (100.0, 240.0);
const TITLE_SIZE: f64 = 12.0;
const TASK_PADDING: f64 = 12.0;

/// The places of a process's shapes.
pub(super) struct Diagram {
    /// The top left corner of each node, and its size.
    pub shapes: Vec<(Point, Size)>,
    /// The points of each flow.
    pub ways: Vec<Vec<Point>>,
}

impl Diagram {
    /// The diagram of a process whose nodes have these titles.
    pub(super) fn of(process: &Process, titles: &[String]) -> Self {
        let nodes = process.nodes.iter().zip(titles);
        let sizes: Vec<_> = nodes.map(|(node, title)| size(*node, title)).collect();
        let (of, boxes) = boxes(process, &sizes);
        let edges = process.flows.iter().map(|flow| LayoutEdge {
            source: of[flow.source],
            target: of[flow.target],
            hosting: !matches!(process.nodes[flow.source], FlowNode::Failure(_)),
            fork: None,
        });
        let edges: Vec<_> = edges.collect();
        let laid = match boxes.len() > LARGEST {
            true => coarse(&boxes, &edges),
            false => layout(&boxes, &edges, &LayoutFrames::default()),
        };
        let corner = |node: usize| {
            let (centre, size) = (turned(laid.centres[of[node]]), sizes[node]);
            match process.nodes[node] {
                // A failure is drawn at the corner of its task.
                FlowNode::Failure(task) => {
                    let x = centre.x + sizes[task].width / 2.0 - EVENT / 2.0;
                    Point { x, y: centre.y + sizes[task].height / 2.0 - EVENT / 2.0 }
                }
                _ => Point { x: centre.x - size.width / 2.0, y: centre.y - size.height / 2.0 },
            }
        };
        let corners: Vec<_> = (0..sizes.len()).map(corner).collect();
        let shapes: Vec<_> = corners.into_iter().zip(sizes).collect();
        let flows = process.flows.iter().zip(&laid.routes);
        let ways = flows.map(|(flow, route)| {
            let ends = [flow.source, flow.target].map(|node| (process.nodes[node], shapes[node]));
            way(route, ends)
        });
        Self { ways: ways.collect(), shapes }
    }
}

/// For each node the index of its box, and the boxes. Failures share the box of their task.
fn boxes(process: &Process, sizes: &[Size]) -> (Vec<usize>, Vec<Size>) {
    let mut of = Vec::with_capacity(sizes.len());
    let mut boxes = Vec::with_capacity(sizes.len());
    for (node, size) in process.nodes.iter().zip(sizes) {
        match *node {
            FlowNode::Failure(task) => of.push(of[task]),
            _ => {
                of.push(boxes.len());
                // The layout goes from top to bottom, the diagram from left to right, so width and
                // height are exchanged.
                boxes.push(Size { width: size.height, height: size.width });
            }
        }
    }
    (of, boxes)
}

fn size(node: FlowNode, title: &str) -> Size {
    let square = |width: f64| Size { width, height: width };
    match node {
        FlowNode::Start | FlowNode::End(_) | FlowNode::Failure(_) => square(EVENT),
        FlowNode::Task(_) => {
            // Titles are broken into lines, preferably between words.
            let words = title.split_whitespace().map(|word| text_width(word, TITLE_SIZE));
            let text = words.fold(text_width(title, TITLE_SIZE) / 2.0, f64::max);
            let width = (text + 2.0 * TASK_PADDING).clamp(TASK_WIDTH.0, TASK_WIDTH.1);
            Size { width: width.ceil(), height: TASK_HEIGHT }
        }
        FlowNode::Choice(_) | FlowNode::Merge | FlowNode::Parallel | FlowNode::Inclusive => {
            square(GATEWAY)
        }
    }
}

/// A point of the layout in the diagram, which is turned by a right angle.
fn turned(point: Point) -> Point {
    Point { x: point.y + MARGIN, y: point.x + MARGIN }
}

/// The points of a flow between two nodes.
fn way(route: &Route, [source, target]: [(FlowNode, (Point, Size)); 2]) -> Vec<Point> {
    let mut points: Vec<_> = match route {
        Route::Through(points) => points.iter().copied().map(turned).collect(),
        Route::Loop { from, to, reach } => {
            let out = |point: &Point| Point { x: point.x + reach, ..*point };
            [*from, out(from), out(to), *to].map(turned).to_vec()
        }
    };
    let Some(&last) = points.last() else { return points };
    if let (FlowNode::Failure(_), (corner, _)) = source {
        let leads_on = last.x > corner.x + EVENT;
        let start = match leads_on {
            true => Point { x: corner.x + EVENT, y: corner.y + EVENT / 2.0 },
            false => Point { x: corner.x + EVENT / 2.0, y: corner.y + EVENT },
        };
        // The route starts at the task; the flow starts at its failure.
        let is_beyond = |point: &Point| (point.x > start.x) == leads_on;
        points.retain(is_beyond);
        points.insert(0, start);
        if points.last() != Some(&last) {
            points.push(last);
        }
    } else if let Some(first) = points.first_mut() {
        *first = docked(*first, source);
    }
    if let Some(last) = points.last_mut() {
        *last = docked(*last, target);
    }
    points
}

/// The point at which a line meets the shape inside a box.
fn docked(point: Point, (node, (corner, size)): (FlowNode, (Point, Size))) -> Point {
    let half = size.width / 2.0;
    let centre = Point { x: corner.x + half, y: corner.y + size.height / 2.0 };
    let aside = (point.y - centre.y).abs().min(half);
    let inwards = match node {
        FlowNode::Task(_) => 0.0,
        FlowNode::Start | FlowNode::End(_) | FlowNode::Failure(_) => {
            half - (half * half - aside * aside).sqrt()
        }
        FlowNode::Choice(_) | FlowNode::Merge | FlowNode::Parallel | FlowNode::Inclusive => aside,
    };
    let x = if point.x > centre.x { point.x - inwards } else { point.x + inwards };
    Point { x, ..point }
}
