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
/// How many configurations are drawn, which together have each feature.
const DRAWN: usize = 4096;
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

    /// Configurations of the tree, of which each feature is in one if possible.
    fn configurations(&mut self, tree: &Tree, groups: &[Group]) -> Configurations {
        let features = tree.parents.len();
        let mut drawn =
            Configurations { selected: vec![Bits::NONE; features], possible: Bits::ALL };
        let mut uncovered: Vec<usize> = (0..features).collect();
        for at in 0..DRAWN {
            let wanted = self.wanted(&uncovered, tree, groups);
            self.draw(groups, &wanted, |feature| drawn.selected[feature].insert(at));
            uncovered.retain(|&feature| drawn.selected[feature].is_empty());
        }
        drawn
    }

    /// Features that one configuration can have together, as many of these as a look at each of them
    /// finds.
    fn wanted(&mut self, uncovered: &[usize], tree: &Tree, groups: &[Group]) -> Vec<bool> {
        let mut wanted = vec![false; tree.parents.len()];
        let mut chosen = vec![None; groups.len()];
        let first = self.below(uncovered.len());
        for feature in uncovered[first..].iter().chain(&uncovered[..first]) {
            let is_free = |feature: usize| {
                let group = tree.groups[feature];
                groups[group].keyword != "alternatives"
                    || chosen[group].is_none_or(|chosen| chosen == feature)
            };
            if tree.path(*feature).all(is_free) {
                for feature in tree.path(*feature) {
                    wanted[feature] = true;
                    chosen[tree.groups[feature]] = Some(feature);
                }
            }
        }
        wanted
    }

    /// Draws a configuration with the wanted features, and tells the features that it has.
    fn draw(&mut self, groups: &[Group], wanted: &[bool], mut select: impl FnMut(usize)) {
        let mut selected = vec![false; wanted.len()];
        selected[0] = true;
        select(0);
        for Group { parent, keyword, members } in groups {
            if !selected[*parent] {
                continue;
            }
            let sure = members.clone().find(|member| wanted[*member]);
            let sure = sure.unwrap_or_else(|| members.start + self.below(members.len()));
            for member in members.clone() {
                let is_selected = match *keyword {
                    "mandatory" => true,
                    "optional" => wanted[member] || self.below(2) == 0,
                    "choices" => wanted[member] || member == sure || self.below(3) == 0,
                    _ => member == sure,
                };
                if is_selected {
                    selected[member] = true;
                    select(member);
                }
            }
        }
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

    /// Clauses across the tree that leave each feature in one of the drawn configurations: what a
    /// feature requires or excludes, and disjunctions of three.
    fn constraints(
        &mut self,
        count: usize,
        tree: &Tree,
        mut drawn: Configurations,
    ) -> Vec<Vec<(usize, bool)>> {
        let mut constraints = Vec::new();
        while constraints.len() < count {
            // Some constraints follow from the others in published models, too.
            let may_follow = self.below(100) < 1;
            let most = drawn.possible.len() / (count - constraints.len());
            let first = self.below(tree.parents.len());
            let (second, third) = (self.near(first, tree), self.near(first, tree));
            let clause = match self.below(10) {
                0..6 => vec![(first, false), (second, true)],
                6..8 => vec![(first, false), (second, false)],
                _ => vec![(first, true), (second, self.below(2) == 0), (third, false)],
            };
            let differ = first != second && (clause.len() < 3 || first != third && second != third);
            if differ && drawn.restrict(&clause, may_follow, most) {
                constraints.push(clause);
            }
        }
        constraints
    }
}

/// A set of drawn configurations.
#[derive(Clone, Copy)]
struct Bits([u64; DRAWN / 64]);

impl Bits {
    const NONE: Self = Self([0; DRAWN / 64]);
    const ALL: Self = Self([u64::MAX; DRAWN / 64]);

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// What is in this set and in the other one, or in this set alone.
    fn and(mut self, other: &Self, is_in: bool) -> Self {
        let words = self.0.iter_mut().zip(&other.0);
        words.for_each(|(word, other)| *word &= if is_in { *other } else { !*other });
        self
    }
}

/// Drawn configurations.
struct Configurations {
    /// For each feature, the configurations in which it is selected.
    selected: Vec<Bits>,
    /// The configurations that fulfil all constraints.
    possible: Bits,
}

impl Configurations {
    /// Adds a clause that takes away some configurations, at most so many, and of no feature all; or
    /// none, if it may follow from the others.
    fn restrict(&mut self, clause: &[(usize, bool)], may_follow: bool, most: usize) -> bool {
        let literals = clause.iter();
        let violating = literals.fold(self.possible, |violating, &(feature, value)| {
            violating.and(&self.selected[feature], !value)
        });
        let left = self.possible.and(&violating, false);
        let stays = |selected: &Bits| {
            selected.and(&violating, true).is_empty() || !selected.and(&left, true).is_empty()
        };
        let is_allowed = match violating.len() {
            0 => may_follow,
            some => some <= most.max(1) && self.selected.iter().all(stays),
        };
        if is_allowed {
            self.possible = left;
        }
        is_allowed
    }
}

/// The tree of features.
struct Tree {
    /// The parent of each feature; the root is its own parent.
    parents: Vec<usize>,
    /// The group of each feature but for the root.
    groups: Vec<usize>,
    children: Vec<Option<std::ops::Range<usize>>>,
}

impl Tree {
    fn of(features: usize, groups: &[Group]) -> Self {
        let (mut parents, mut children) = (vec![0; features], vec![None; features]);
        let mut group_of = vec![0; features];
        for (at, Group { parent, members, .. }) in groups.iter().enumerate() {
            for member in members.clone() {
                (parents[member], group_of[member]) = (*parent, at);
            }
            // The groups of a parent follow each other.
            let known: &mut Option<std::ops::Range<usize>> = &mut children[*parent];
            *known = Some(known.as_ref().map_or(members.start, |known| known.start)..members.end);
        }
        Self { parents, groups: group_of, children }
    }

    /// A feature and those above it, but for the root.
    fn path(&self, feature: usize) -> impl Iterator<Item = usize> {
        let above = std::iter::successors(Some(feature), |&feature| Some(self.parents[feature]));
        above.take_while(|&feature| feature != 0)
    }
}

/// A template whose inputs are a feature model of this size, the same in each run.
pub(crate) fn template(shape: FeatureShape) -> String {
    let mut generator = Generator { random: Random::new(shape.features as u64) };
    let groups = generator.groups(shape.features);
    let tree = Tree::of(shape.features, &groups);
    let drawn = generator.configurations(&tree, &groups);
    let constraints = generator.constraints(shape.constraints, &tree, drawn);
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
