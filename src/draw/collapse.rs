//! Simplifies drawings of large topologies: similar nodes are drawn as one.

use super::{Drawing, State, short_types};
use crate::explore::outline::{Outline, OutlineNode, OutlineRelation};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A drawing with more nodes than this cannot be read as a whole.
const LEGIBLE: usize = 60;
/// Up to this many similar nodes are drawn one by one.
const FEW: usize = 3;

impl Drawing<'_> {
    /// Whether the drawing has too many nodes to be read as a whole.
    pub fn is_large(&self) -> bool {
        self.nodes.len() > LEGIBLE
    }

    /// Merges nodes that are in the same state and whose names and types differ only in digits,
    /// together with the relations between them. Groups of only a few similar nodes stay as they
    /// are.
    pub fn collapsed(self) -> Drawing<'static> {
        let mut kinds: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (index, (node, state)) in self.nodes().enumerate() {
            let names = (shape(&node.name), shape(&short_types(node)));
            let kind = (state, names, &node.substitutes);
            kinds.entry(kind).or_default().push(index);
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for alike in kinds.into_values() {
            match alike.len() {
                0..=FEW => groups.extend(alike.into_iter().map(|index| vec![index])),
                _ => groups.push(alike),
            }
        }
        groups.sort_by_key(|group| group[0]);
        let mut group_of = vec![0; self.nodes.len()];
        for (group, members) in groups.iter().enumerate() {
            members.iter().for_each(|&member| group_of[member] = group);
        }
        let states = groups.iter().map(|group| self.nodes[group[0]]).collect();
        let nodes = groups
            .iter()
            .map(|group| alike(group.iter().map(|&index| &self.outline.nodes[index])))
            .collect();
        let (relations, relation_states) = self.relations_between(&group_of);
        let outline = Cow::Owned(Outline { nodes, relations });
        Drawing { outline, nodes: states, relations: relation_states, names: self.names }
    }

    /// Merges similar relations that lead from one group to another.
    fn relations_between(&self, group_of: &[usize]) -> (Vec<OutlineRelation>, Vec<State>) {
        let mut known: FxHashMap<_, usize> = FxHashMap::default();
        let (mut found, mut states) = (Vec::<OutlineRelation>::new(), Vec::new());
        for (relation, state) in self.relations() {
            let (source, target) =
                (group_of[relation.source], relation.target.map(|target| group_of[target]));
            let name = shape(&relation.name);
            let key = (source, target, relation.hosting, state, name.clone());
            let at = *known.entry(key).or_insert(found.len());
            match found.get_mut(at) {
                Some(first) => {
                    if first.name != relation.name {
                        first.name = name;
                    }
                    if first.conditions != relation.conditions {
                        first.conditions = various();
                    }
                }
                None => {
                    found.push(OutlineRelation { source, target, ..relation.clone() });
                    states.push(state);
                }
            }
        }
        (found, states)
    }
}

/// The node that represents several similar nodes.
fn alike<'n>(mut nodes: impl ExactSizeIterator<Item = &'n OutlineNode>) -> OutlineNode {
    let count = nodes.len();
    let Some(mut one) = nodes.next().cloned() else { return OutlineNode::default() };
    if count == 1 {
        return one;
    }
    one.name = format!("{} × {count}", shape(&one.name));
    one.types.iter_mut().for_each(|name| *name = shape(name));
    for other in nodes {
        if one.conditions != other.conditions {
            one.conditions = various();
        }
        one.persistent &= other.persistent;
        if one.weight != other.weight {
            one.weight = 1.0;
        }
    }
    one
}

/// The condition of merged elements whose conditions differ.
fn various() -> Vec<String> {
    vec!["its own conditions hold".to_owned()]
}

/// A name with every number replaced by a star.
fn shape(name: &str) -> String {
    let mut shape = String::with_capacity(name.len());
    for c in name.chars() {
        if !c.is_ascii_digit() {
            shape.push(c);
        } else if !shape.ends_with('*') {
            shape.push('*');
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline() -> Outline {
        let node = |name: String, kind: &str, condition: Option<&str>| OutlineNode {
            identifier: format!("node.{name}"),
            name,
            types: vec![kind.to_owned()],
            weight: 1.0,
            conditions: condition.map(str::to_owned).into_iter().collect(),
            ..OutlineNode::default()
        };
        let mut nodes: Vec<_> = (0..10).map(|at| node(format!("worker_{at}"), "W", None)).collect();
        nodes.push(node("queue".into(), "Q", Some("x")));
        nodes.extend([0, 1].map(|at| node(format!("disk{at}"), "D", None)));
        let relation = |(source, target, name): (usize, usize, String)| OutlineRelation {
            identifier: format!("relation.{name}"),
            name,
            source,
            target: Some(target),
            conditions: vec![format!("c{}", source % 2)],
            ..OutlineRelation::default()
        };
        let mut relations: Vec<_> =
            (0..10).map(|at| relation((at, 10, format!("queue_{at}")))).collect();
        relations.extend((0..9).map(|at| relation((at, at + 1, "next".into()))));
        relations.extend([11, 12].map(|disk| relation((10, disk, "disk".into()))));
        Outline { nodes, relations }
    }

    #[test]
    fn what_is_alike_is_drawn_once() {
        let outline = outline();
        let drawing = Drawing::of(&outline).collapsed();
        let names: Vec<_> = drawing.outline.nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["worker_* × 10", "queue", "disk0", "disk1"]);
        let relations: Vec<_> = drawing
            .outline
            .relations
            .iter()
            .map(|one| (&*one.name, one.source, one.target, one.conditions.join(" ")))
            .collect();
        let own = "its own conditions hold".to_owned();
        assert_eq!(
            relations,
            [
                ("queue_*", 0, Some(1), own.clone()),
                ("next", 0, Some(0), own),
                ("disk", 1, Some(2), "c0".to_owned()),
                ("disk", 1, Some(3), "c0".to_owned()),
            ]
        );
        assert!(!drawing.is_large());
    }

    #[test]
    fn states_stay_apart() {
        let outline = outline();
        let even = |id: &str| {
            if id.ends_with(['0', '2', '4', '6', '8']) { State::Present } else { State::Absent }
        };
        let drawing = Drawing::with(&outline, even).collapsed();
        let found: Vec<_> = drawing.nodes().map(|(node, state)| (&*node.name, state)).collect();
        let expected = [
            ("worker_* × 5", State::Present),
            ("worker_* × 5", State::Absent),
            ("queue", State::Absent),
            ("disk0", State::Present),
            ("disk1", State::Absent),
        ];
        assert_eq!(found, expected);
    }
}
