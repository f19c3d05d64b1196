//! Tests the laws of the layout with random graphs.

use super::frame::LayoutFrames;
use super::order::Layered;
use super::*;
use proptest::prelude::*;

/// Random graphs: boxes, hosting without cycles (from a smaller to a larger index, then shuffled),
/// any connections, and frames around some of the boxes, if there are any.
fn graphs() -> impl Strategy<Value = (Vec<Size>, Vec<LayoutEdge>, LayoutFrames)> {
    (1usize..24).prop_flat_map(|count| {
        let size = (40u16..200, 20u16..60)
            .prop_map(|(width, height)| Size { width: width.into(), height: height.into() });
        let pair = (0..count, 0..count, any::<bool>(), prop::option::of(0usize..2));
        let shuffled = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
        let frames = prop_oneof![Just(LayoutFrames::default()), frames(count)];
        (prop::collection::vec(size, count), prop::collection::vec(pair, 0..48), shuffled, frames)
            .prop_map(|(sizes, pairs, names, frames)| {
                let edge = |(a, b, hosting, fork): (usize, usize, bool, Option<usize>)| {
                    let (a, b) = if hosting { (a.min(b), a.max(b)) } else { (a, b) };
                    LayoutEdge {
                        source: names[a],
                        target: names[b],
                        hosting: hosting && a != b,
                        fork,
                    }
                };
                (sizes, pairs.into_iter().map(edge).collect(), frames)
            })
    })
}

/// Random frames, which may be nested, each around at least one box.
fn frames(boxes: usize) -> impl Strategy<Value = LayoutFrames> {
    let frame = (prop::option::of(0usize..4), 0u8..250);
    let of = prop::collection::vec(prop::option::of(0usize..5), boxes);
    (prop::collection::vec(frame, 1..5), of).prop_map(move |(made, mut of)| {
        for (index, frame) in of.iter_mut().enumerate() {
            *frame =
                if index < made.len() { Some(index) } else { frame.filter(|it| *it < made.len()) };
        }
        // Where there are fewer boxes than frames, the last frames are left out.
        let count = made.len().min(boxes);
        LayoutFrames {
            of: of.into_iter().map(|frame| frame.filter(|it| *it < count)).collect(),
            parents: (0..count).map(|at| made[at].0.filter(|parent| *parent < at)).collect(),
            titles: made[..count].iter().map(|(_, title)| f64::from(*title)).collect(),
        }
    })
}

const BOX: Size = Size { width: 80.0, height: 40.0 };
const NO_FRAMES: LayoutFrames =
    LayoutFrames { of: Vec::new(), parents: Vec::new(), titles: Vec::new() };

/// How far a point is inside a box; negative outside.
fn depth(point: Point, centre: Point, size: Size) -> f64 {
    (size.width / 2.0 - (point.x - centre.x).abs())
        .min(size.height / 2.0 - (point.y - centre.y).abs())
}

/// Points along a route, as it is drawn.
fn along(points: &[Point]) -> Vec<Point> {
    let piece = |pair: &[Point]| {
        let (a, b) = (pair[0], pair[1]);
        let at = move |t: f64| {
            let [p, q, r, s] = [
                (1.0 - t).powi(3),
                3.0 * t * (1.0 - t).powi(2),
                3.0 * t * t * (1.0 - t),
                t.powi(3),
            ];
            let middle = (a.y + b.y) / 2.0;
            Point { x: (p + q) * a.x + (r + s) * b.x, y: p * a.y + (q + r) * middle + s * b.y }
        };
        (0..=16).map(move |step| at(f64::from(step) / 16.0)).collect::<Vec<_>>()
    };
    points.windows(2).flat_map(piece).collect()
}

proptest! {
    #[test]
    fn boxes_do_not_overlap_and_all_is_inside((sizes, edges, frames) in graphs()) {
        let layout = layout(&sizes, &edges, &frames);
        for (index, (&a, size)) in layout.centres.iter().zip(&sizes).enumerate() {
            prop_assert!(a.x - size.width / 2.0 > -0.01 && a.x + size.width / 2.0 < layout.size.width + 0.01);
            prop_assert!(a.y - size.height / 2.0 > -0.01 && a.y + size.height / 2.0 < layout.size.height + 0.01);
            for (&b, other) in layout.centres.iter().zip(&sizes).skip(index + 1) {
                let beside = (a.x - b.x).abs() - (size.width + other.width) / 2.0;
                let above = (a.y - b.y).abs() - (size.height + other.height) / 2.0;
                prop_assert!(beside.max(above) > 19.99, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_frame_is_around_its_boxes_and_no_others((sizes, edges, frames) in graphs()) {
        let layout = layout(&sizes, &edges, &frames);
        prop_assert_eq!(layout.frames.len(), frames.parents.len());
        let inside = |frame: Option<usize>, outer: usize| frames.outwards(frame).any(|it| it == outer);
        let middle = |area: &LayoutArea| Point {
            x: area.corner.x + area.size.width / 2.0,
            y: area.corner.y + area.size.height / 2.0,
        };
        let whole = LayoutArea { corner: Point::default(), size: layout.size };
        // How far one area is within another, and how far apart they are.
        let within = |one: Point, size: Size, of: &LayoutArea| {
            let rest = Size { width: of.size.width - size.width, height: of.size.height - size.height };
            depth(one, middle(of), rest)
        };
        let apart = |one: Point, size: Size, of: &LayoutArea| {
            let sum = Size { width: of.size.width + size.width, height: of.size.height + size.height };
            -depth(one, middle(of), sum)
        };
        for (frame, area) in layout.frames.iter().enumerate() {
            prop_assert!(within(middle(area), area.size, &whole) > -0.01);
            prop_assert!(area.size.width > frames.titles[frame]);
            for (index, &size) in sizes.iter().enumerate() {
                let centre = layout.centres[index];
                match inside(frames.around(index), frame) {
                    true => prop_assert!(within(centre, size, area) > 6.99),
                    false => prop_assert!(apart(centre, size, area) > 6.99, "{index} {area:?} {centre:?}"),
                }
            }
            for (other, beside) in layout.frames.iter().enumerate().filter(|(other, _)| *other != frame) {
                if inside(Some(other), frame) {
                    prop_assert!(within(middle(beside), beside.size, area) > 6.99);
                } else if !inside(Some(frame), other) {
                    prop_assert!(apart(middle(beside), beside.size, area) > 6.99, "{area:?} {beside:?}");
                }
            }
        }
    }

    #[test]
    fn hosts_are_below_what_they_host((sizes, edges, frames) in graphs()) {
        let layout = layout(&sizes, &edges, &frames);
        for edge in edges.iter().filter(|edge| edge.hosting) {
            let bottom = layout.centres[edge.source].y + sizes[edge.source].height / 2.0;
            prop_assert!(layout.centres[edge.target].y - sizes[edge.target].height / 2.0 > bottom);
        }
    }

    #[test]
    fn lines_lead_from_box_to_box_and_through_none((sizes, edges, frames) in graphs()) {
        let layout = layout(&sizes, &edges, &frames);
        prop_assert_eq!(layout.routes.len(), edges.len());
        for (edge, route) in edges.iter().zip(&layout.routes) {
            let edge_of = |index: usize, point: Point| depth(point, layout.centres[index], sizes[index]).abs() < 0.01;
            match route {
                Route::Loop { from, to, .. } => {
                    prop_assert_eq!(edge.source, edge.target);
                    prop_assert!(edge_of(edge.source, *from) && edge_of(edge.source, *to) && from.y < to.y);
                }
                Route::Through(points) => {
                    prop_assert!(points.len() >= 2 && edge_of(edge.source, points[0]));
                    prop_assert!(edge_of(edge.target, points[points.len() - 1]));
                    for point in along(points) {
                        for (&centre, &size) in layout.centres.iter().zip(&sizes) {
                            prop_assert!(depth(point, centre, size) < 0.01, "{edge:?} runs through a box at {point:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn alternatives_leave_as_one_line((sizes, edges, frames) in graphs()) {
        let layout = layout(&sizes, &edges, &frames);
        for (index, edge) in edges.iter().enumerate() {
            let (Some(fork), Route::Through(points)) = (edge.fork, &layout.routes[index]) else { continue };
            let others = edges.iter().enumerate().filter(|(_, other)| (other.source, other.fork) == (edge.source, Some(fork)) && other.source != other.target);
            let targets: Vec<_> = others.map(|(other, edge)| (other, edge.target)).collect();
            if targets.iter().all(|(_, target)| *target == edge.target) {
                prop_assert_eq!(layout.forks[index], 0);
                continue;
            }
            prop_assert!(layout.forks[index] > 0);
            for (other, _) in targets {
                let Route::Through(beside) = &layout.routes[other] else { continue };
                let shared = layout.forks[index];
                prop_assert_eq!(&beside[..=shared], &points[..=shared]);
            }
        }
    }

    #[test]
    fn the_same_is_laid_out_the_same((sizes, edges, frames) in graphs()) {
        prop_assert_eq!(layout(&sizes, &edges, &frames), layout(&sizes, &edges, &frames));
    }

    #[test]
    fn every_piece_leads_one_layer_down((sizes, edges, frames) in graphs()) {
        let ranks = rank::rank(&sizes, &edges);
        let layered = Layered::new(&ranks, &edges, frames);
        let layer = |spot: usize| layered.layers.iter().position(|layer| layer.contains(&spot)).unwrap();
        for piece in &layered.pieces {
            prop_assert_eq!(layer(piece.upper) + 1, layer(piece.lower));
        }
        prop_assert_eq!(layered.layers.iter().map(Vec::len).sum::<usize>(), layered.spots.len());
        for layer in &layered.layers {
            layer.iter().enumerate().for_each(|(at, &spot)| assert_eq!(layered.position[spot], at));
        }
    }

    #[test]
    fn crossings_are_counted((sizes, edges, frames) in graphs()) {
        let layered = Layered::new(&rank::rank(&sizes, &edges), &edges, frames);
        let layer = |spot: usize| layered.layers.iter().position(|layer| layer.contains(&spot));
        let at = |spot: usize| layered.position[spot];
        let mut crossings = 0;
        for (index, a) in layered.pieces.iter().enumerate() {
            for b in layered.pieces[index + 1..].iter().filter(|b| layer(b.upper) == layer(a.upper)) {
                let crossed = at(a.upper).cmp(&at(b.upper)) as i8 * at(a.lower).cmp(&at(b.lower)) as i8;
                crossings += usize::from(crossed < 0);
            }
        }
        prop_assert_eq!(layered.crossings(), crossings);
    }
}

fn edges(pairs: &[(usize, usize)], hosting: bool) -> Vec<LayoutEdge> {
    pairs
        .iter()
        .map(|&(source, target)| LayoutEdge { source, target, hosting, fork: None })
        .collect()
}

#[test]
fn cycles_are_broken_where_nothing_is_hosted() {
    let mut all = edges(&[(2, 1), (1, 0)], true);
    all.extend(edges(&[(0, 2), (0, 1)], false));
    assert_eq!(rank::rank(&[BOX; 3], &all), [2, 1, 0]);
    // Cyclic hosting makes no sense, but must not fail.
    let ranks = rank::rank(&[BOX; 3], &edges(&[(0, 1), (1, 2), (2, 0)], true));
    assert_eq!(ranks.iter().max(), Some(&2));
}

#[test]
fn boxes_are_near_what_they_belong_to() {
    // Box 3 is used only by 2, and 4 uses only 2: neither is moved to the bottom or the top because
    // of that.
    let ranks = rank::rank(&[BOX; 5], &edges(&[(0, 1), (1, 2), (2, 3), (4, 2)], false));
    assert_eq!(ranks, [0, 1, 2, 3, 1]);
}

#[test]
fn what_can_be_drawn_without_crossings_is() {
    // A tree whose branches are given in the wrong order.
    let all = edges(&[(0, 1), (0, 2), (1, 6), (2, 3), (2, 4), (1, 5)], false);
    assert_eq!(Layered::new(&rank::rank(&[BOX; 7], &all), &all, NO_FRAMES).crossings(), 0);
}

#[test]
fn what_is_above_each_other_is_connected_by_straight_lines() {
    let sizes = vec![Size { width: 100.0, height: 40.0 }; 4];
    let layout = layout(&sizes, &edges(&[(0, 1), (1, 2), (2, 3)], true), &NO_FRAMES);
    assert!(layout.centres.iter().all(|centre| centre.x == 50.0), "{layout:?}");
}

#[test]
fn wide_layers_are_folded() {
    let sizes = vec![Size { width: 100.0, height: 40.0 }; 101];
    let all: Vec<_> = (1..101)
        .map(|source| LayoutEdge { source, target: 0, hosting: true, fork: None })
        .collect();
    let layout = layout(&sizes, &all, &NO_FRAMES);
    assert!(layout.size.width < 4.0 * layout.size.height, "{:?}", layout.size);
}

#[test]
fn nothing_takes_no_room() {
    assert_eq!(layout(&[], &[], &NO_FRAMES), Layout::default());
}

#[test]
fn what_is_not_connected_is_packed() {
    let sizes = vec![Size { width: 100.0, height: 40.0 }; 50];
    let Size { width, height } = layout(&sizes, &[], &NO_FRAMES).size;
    assert!(width < 3.0 * height && height < 2.0 * width, "{width} × {height}");
}

proptest! {
    /// In coarse layouts no boxes overlap, all are within the stated size, and hosts are below.
    #[test]
    fn coarse_layouts_keep_boxes_apart((boxes, edges, _) in graphs()) {
        let laid = coarse(&boxes, &edges);
        for (index, (&centre, &size)) in laid.centres.iter().zip(&boxes).enumerate() {
            let room = Point { x: laid.size.width / 2.0, y: laid.size.height / 2.0 };
            let free = depth(centre, room, laid.size);
            prop_assert!(free >= size.height.min(size.width) / 2.0 - 1e-9);
            for (other, beside) in laid.centres.iter().zip(&boxes).take(index) {
                let apart = Point { x: centre.x - other.x, y: centre.y - other.y };
                let sum = Size { width: size.width + beside.width, height: size.height + beside.height };
                prop_assert!(depth(apart, Point::default(), sum) <= 0.0);
            }
        }
        for (edge, route) in edges.iter().zip(&laid.routes) {
            let Route::Through(points) = route else { panic!("{route:?}") };
            let ends = [(points[0], edge.source), (points[1], edge.target)];
            for (point, index) in ends {
                prop_assert!(depth(point, laid.centres[index], boxes[index]).abs() < 1e-9);
            }
            prop_assert!(!edge.hosting || points[0].y < points[1].y || edge.source == edge.target);
        }
    }
}
