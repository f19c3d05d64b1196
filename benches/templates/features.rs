//! Generates templates whose inputs are a feature model: a tree of features with groups, and as
//! many constraints across the tree as published models of that size have. Each feature is an
//! input, and a node that is present where the feature is selected.

use cuvee::parts::solve::random::Random;
use std::fmt::Write;

/// The size of a model.
#[derive(Clone, Copy)]
pub(crate) struct FeatureShape {
    pub features: usize,
    /// The number of constraints across the tree.
    pub constraints: usize,
}

/// Sizes as in published models: the larger a model, the fewer constraints for each feature.
pub(crate) const SHAPES: [FeatureShape; 4] = [
    FeatureShape { features: 500, constraints: 200 },
    FeatureShape { features: 2_500, constraints: 2_800 },
    FeatureShape { features: 6_500, constraints: 3_500 },
    FeatureShape { features: 18_600, constraints: 1_400 },
];

/// The keywords of groups, and how many of a hundred features are in a group of each kind.
const GROUPS: [(&str, usize); 4] =
    [("mandatory", 25), ("optional", 45), ("choices", 15), ("alternatives", 15)];
/// How many configurations stay possible, whatever the constraints are.
const KEPT: u32 = 30;
/// Most constraints concern features that are near each other in the tree: at most this many levels
/// up, and down again.
const NEAR: usize = 3;

struct Group {
    parent: usize,
    keyword: &'static str,
    members: std::ops::Range<usize>,
}

struct Generator {
    random: Random,
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        (self.random.next() % bound.max(1) as u64) as usize
    }

    /// Groups of features, each after its parent. A parent has at most one group of each kind.
    fn groups(&mut self, features: usize) -> Vec<Group> {
        let (mut groups, mut open, mut next): (Vec<Group>, _, _) = (Vec::new(), vec![0], 1);
        while next < features {
            let at = self.below(open.len());
            let parent = open.swap_remove(at);
            let first = groups.len();
            for _ in 0..1 + self.below(3) {
                let keyword = self.keyword();
                let end = (next + 2 + self.below(5)).min(features);
                if next == end || groups[first..].iter().any(|group| group.keyword == keyword) {
                    continue;
                }
                groups.push(Group { parent, keyword, members: next..end });
                for member in next..end {
                    if open.is_empty() || self.below(10) < 6 {
                        open.push(member);
                    }
                }
                next = end;
            }
        }
        groups
    }

    fn keyword(&mut self) -> &'static str {
        let mut left = self.below(100);
        let kind = GROUPS.iter().find(|(_, share)| {
            let found = left < *share;
            left = left.saturating_sub(*share);
            found
        });
        kind.map_or("optional", |(keyword, _)| *keyword)
    }

    /// For each feature, in which of the kept configurations it is selected.
    fn configurations(&mut self, features: usize, groups: &[Group]) -> Vec<u32> {
        let mut selected = vec![0; features];
        selected[0] = (1 << KEPT) - 1;
        for Group { parent, keyword, members } in groups {
            for bit in (0..KEPT).map(|configuration| 1 << configuration) {
                if selected[*parent] & bit == 0 {
                    continue;
                }
                let sure = members.start + self.below(members.len());
                for member in members.clone() {
                    let is_selected = match *keyword {
                        "mandatory" => true,
                        "optional" => self.below(2) == 0,
                        "choices" => member == sure || self.below(3) == 0,
                        _ => member == sure,
                    };
                    selected[member] |= if is_selected { bit } else { 0 };
                }
            }
        }
        selected
    }

    /// A feature near another one in the tree; one of a hundred may be anywhere.
    fn near(&mut self, feature: usize, tree: &Tree) -> usize {
        if self.below(100) == 0 {
            return self.below(tree.parents.len());
        }
        let up = 1 + self.below(NEAR);
        let mut found = (0..up).fold(feature, |feature, _| tree.parents[feature]);
        for _ in 0..up {
            if let Some(range) = tree.children[found].clone().filter(|range| !range.is_empty()) {
                found = range.start + self.below(range.len());
            }
        }
        found
    }

    /// Clauses across the tree that all kept configurations fulfil: what a feature requires or
    /// excludes, and disjunctions of three.
    fn constraints(
        &mut self,
        count: usize,
        selected: &[u32],
        groups: &[Group],
    ) -> Vec<Vec<(usize, bool)>> {
        let tree = Tree::of(selected.len(), groups);
        let mut constraints = Vec::new();
        while constraints.len() < count {
            let first = self.below(selected.len());
            let (second, third) = (self.near(first, &tree), self.near(first, &tree));
            let clause = match self.below(10) {
                0..6 => vec![(first, false), (second, true)],
                6..8 => vec![(first, false), (second, false)],
                _ => vec![(first, true), (second, self.below(2) == 0), (third, false)],
            };
            let holds = |&(feature, value): &(usize, bool)| {
                if value { selected[feature] } else { !selected[feature] }
            };
            let fulfilled = clause.iter().map(holds).fold(0, |all, one| all | one);
            let differ = first != second && (clause.len() < 3 || first != third && second != third);
            if differ && fulfilled & ((1 << KEPT) - 1) == (1 << KEPT) - 1 {
                constraints.push(clause);
            }
        }
        constraints
    }
}

/// The parent of each feature, where the root is its own parent, and the children of each feature.
struct Tree {
    parents: Vec<usize>,
    children: Vec<Option<std::ops::Range<usize>>>,
}

impl Tree {
    fn of(features: usize, groups: &[Group]) -> Self {
        let (mut parents, mut children) = (vec![0; features], vec![None; features]);
        for Group { parent, members, .. } in groups {
            members.clone().for_each(|member| parents[member] = *parent);
            // The groups of a parent follow each other.
            let known: &mut Option<std::ops::Range<usize>> = &mut children[*parent];
            *known = Some(known.as_ref().map_or(members.start, |known| known.start)..members.end);
        }
        Self { parents, children }
    }
}

/// A template whose inputs are a feature model of this size, the same in each run.
pub(crate) fn template(shape: FeatureShape) -> String {
    let mut generator = Generator { random: Random::new(shape.features as u64) };
    let groups = generator.groups(shape.features);
    let selected = generator.configurations(shape.features, &groups);
    let constraints = generator.constraints(shape.constraints, &selected, &groups);
    let mut rules: Vec<Vec<(&str, Vec<usize>)>> = vec![Vec::new(); shape.features];
    for Group { parent, keyword, members } in groups {
        let mut add = |keyword| match rules[parent].iter_mut().find(|(own, _)| *own == keyword) {
            Some((_, listed)) => listed.extend(members.clone()),
            None => rules[parent].push((keyword, members.clone().collect())),
        };
        add(keyword);
        if matches!(keyword, "choices" | "alternatives") {
            // The members can only be selected with their parent.
            add("optional");
        }
    }
    written(&rules, &constraints)
}

/// A template with boolean inputs, a node for each, and one constraint over all of them.
pub(crate) fn one_constraint(operator: &str, inputs: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..inputs).map(line).collect::<String>();
    format!(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs:\n{}    constraints:\n      - {operator}:\n{}  node_templates:\n{}",
        each(&|input| format!("      i{input}: {{ type: boolean }}\n")),
        each(&|input| format!("          - variability_input: i{input}\n")),
        each(&|input| format!(
            "    n{input}: {{ type: Part, conditions: {{ variability_input: i{input} }} }}\n"
        )),
    )
}

fn names(features: &[usize]) -> String {
    features.iter().map(|feature| format!("f{feature}")).collect::<Vec<_>>().join(", ")
}

fn written(rules: &[Vec<(&str, Vec<usize>)>], constraints: &[Vec<(usize, bool)>]) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: { type_pruning: true }\n    \
         inputs:\n",
    );
    // Writing into a string does not fail.
    for (feature, rules) in rules.iter().enumerate() {
        let _ = writeln!(
            text,
            "      f{feature}:\n        type: boolean\n        default: {}",
            feature == 0
        );
        for (keyword, members) in rules {
            let _ = writeln!(text, "        {keyword}: [{}]", names(members));
        }
    }
    text.push_str("    constraints:\n      - { variability_input: f0 }\n");
    for clause in constraints {
        let literal = |&(feature, value): &(usize, bool)| {
            let input = format!("{{ variability_input: f{feature} }}");
            if value { input } else { format!("{{ not: {input} }}") }
        };
        let literals: Vec<_> = clause.iter().map(literal).collect();
        let _ = writeln!(text, "      - or: [{}]", literals.join(", "));
    }
    text.push_str("  node_templates:\n");
    for feature in 0..rules.len() {
        let _ = writeln!(
            text,
            "    n{feature}: {{ type: Part{}, conditions: {{ variability_input: f{feature} }} }}",
            feature / 4
        );
    }
    text
}
