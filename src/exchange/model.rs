//! Represents feature models independently of the format: a tree of features, and propositions
//! across it.

use cuvee_text::source::Span;
use cuvee_text::value::Value;

/// A feature of a [`FeatureModel`], by its position; a parent comes before its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureId(pub(super) u32);

impl FeatureId {
    /// The position of the feature in the model.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The type of a feature's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureType {
    /// The feature has no value; it is only selected or not.
    #[default]
    Boolean,
    /// The value is an integer.
    Integer,
    /// The value is a number.
    Real,
    /// The value is a text.
    String,
}

impl FeatureType {
    /// The TOSCA type of the input for the feature.
    pub(super) fn value_type(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Real => "float",
            Self::String => "string",
        }
    }
}

/// The rule that a parent `p` imposes on the members `c` of a group. Every member demands its
/// parent, too: `c ⇒ p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// `p ⇒ c` for each `c`
    Mandatory,
    /// No demand
    Optional,
    /// `p ⇒` at least one `c`
    Or,
    /// `p ⇒` exactly one `c`
    Alternative,
}

/// A group of children of one feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGroup {
    /// The rule that the parent imposes on the members.
    pub kind: GroupKind,
    /// The members.
    pub members: Vec<FeatureId>,
}

/// One feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feature {
    /// The name, as it is written in the model.
    pub name: String,
    /// The type of the feature's value.
    pub kind: FeatureType,
    /// Whether it only structures the model.
    pub is_abstract: bool,
    /// The description, for people.
    pub description: Option<String>,
    /// The value if nobody decides.
    pub default: Option<Value>,
    /// The TOSCA type of the value, if it is more specific than `kind`.
    pub value_type: Option<String>,
    /// The constraints on the value: TOSCA constraint clauses such as `in_range: [1, 4]`, each a
    /// map with one entry.
    pub clauses: Vec<Value>,
    /// Further attributes, such as a price; nothing depends on them.
    pub attributes: Vec<(String, Value)>,
    /// The place in the file that the feature was read from.
    pub span: Option<Span>,
    /// The groups of children.
    pub(super) groups: Vec<FeatureGroup>,
}

impl Feature {
    /// A boolean feature of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Whether the feature only structures the model and has no attributes.
    pub(super) fn is_bare(&self) -> bool {
        self.is_abstract && self.attributes.is_empty()
    }

    /// The groups of children.
    pub fn groups(&self) -> &[FeatureGroup] {
        &self.groups
    }
}

/// A constraint between features, independent of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition {
    /// True or false.
    Constant(bool),
    /// The feature is selected.
    Feature(FeatureId),
    /// The proposition does not hold.
    Not(Box<Proposition>),
    /// All propositions hold.
    And(Vec<Proposition>),
    /// At least one proposition holds.
    Or(Vec<Proposition>),
    /// At most one proposition holds.
    AtMostOne(Vec<Proposition>),
    /// If the first proposition holds, so does the second.
    Implies(Box<[Proposition; 2]>),
    /// Both propositions hold, or neither does.
    Iff(Box<[Proposition; 2]>),
}

/// The greatest depth of propositions. An imported model is written as YAML that nests twice as
/// deep and has to stay within the limits of the parser.
pub(super) const MAX_DEPTH: usize = 48;

impl std::ops::Not for Proposition {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }
}

impl Proposition {
    /// The conjunction of these propositions, simplified.
    pub(super) fn and(operands: impl IntoIterator<Item = Self>) -> Self {
        Self::fold(operands, true, Self::And)
    }

    /// The disjunction of these propositions, simplified.
    pub(super) fn or(operands: impl IntoIterator<Item = Self>) -> Self {
        Self::fold(operands, false, Self::Or)
    }

    /// Combines operands without the neutral constant; the opposite constant determines the result.
    fn fold(
        operands: impl IntoIterator<Item = Self>,
        neutral: bool,
        make: fn(Vec<Self>) -> Self,
    ) -> Self {
        let mut kept = Vec::new();
        for operand in operands {
            match operand {
                Self::Constant(value) if value == neutral => {}
                Self::Constant(_) => return Self::Constant(!neutral),
                other => kept.push(other),
            }
        }
        match kept.pop() {
            None => Self::Constant(neutral),
            Some(only) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                make(kept)
            }
        }
    }

    /// `self ⇒ then`, simplified.
    pub(super) fn implies(self, then: Self) -> Self {
        match (self, then) {
            (Self::Constant(true), then) => then,
            (Self::Constant(false), _) | (_, Self::Constant(true)) => Self::Constant(true),
            (premise, Self::Constant(false)) => !premise,
            (premise, then) => Self::Implies(Box::new([premise, then])),
        }
    }

    /// `self ⇔ other`, simplified.
    pub(super) fn iff(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(true), one) | (one, Self::Constant(true)) => one,
            (Self::Constant(false), one) | (one, Self::Constant(false)) => !one,
            (one, other) => Self::Iff(Box::new([one, other])),
        }
    }

    /// At most one of these propositions, simplified: if one of them is always true, none of the
    /// others may hold.
    pub(super) fn at_most_one(operands: impl IntoIterator<Item = Self>) -> Self {
        let (mut kept, mut certain) = (Vec::new(), 0);
        for operand in operands {
            match operand {
                Self::Constant(true) => certain += 1,
                Self::Constant(false) => {}
                other => kept.push(other),
            }
        }
        match (certain, kept.len()) {
            (0, 0 | 1) => Self::Constant(true),
            (0, _) => Self::AtMostOne(kept),
            (1, _) => Self::and(kept.into_iter().map(|operand| !operand)),
            _ => Self::Constant(false),
        }
    }

    /// Exactly one of these propositions.
    pub(super) fn exactly_one(operands: Vec<Self>) -> Self {
        let any = Self::or(operands.iter().cloned());
        Self::and([any, Self::at_most_one(operands)])
    }

    /// An odd number of these propositions, as a balanced tree, so that the depth is as small as
    /// possible.
    pub(super) fn xor(mut operands: Vec<Self>) -> Self {
        while operands.len() > 1 {
            let mut pairs = Vec::with_capacity(operands.len().div_ceil(2));
            let mut rest = operands.into_iter();
            while let Some(one) = rest.next() {
                pairs.push(match rest.next() {
                    Some(other) => !one.iff(other),
                    None => one,
                });
            }
            operands = pairs;
        }
        operands.pop().unwrap_or(Self::Constant(false))
    }

    /// Replaces each feature by a proposition, and simplifies the result.
    pub(super) fn folded(&self, feature: &dyn Fn(FeatureId) -> Self) -> Self {
        let all = |operands: &[Self]| {
            operands.iter().map(|operand| operand.folded(feature)).collect::<Vec<_>>()
        };
        match self {
            Self::Constant(value) => Self::Constant(*value),
            Self::Feature(id) => feature(*id),
            Self::Not(inner) => !inner.folded(feature),
            Self::And(operands) => Self::and(all(operands)),
            Self::Or(operands) => Self::or(all(operands)),
            Self::AtMostOne(operands) => Self::at_most_one(all(operands)),
            Self::Implies(pair) => pair[0].folded(feature).implies(pair[1].folded(feature)),
            Self::Iff(pair) => pair[0].folded(feature).iff(pair[1].folded(feature)),
        }
    }

    /// The operands of the proposition.
    pub(super) fn operands(&self) -> &[Self] {
        match self {
            Self::Constant(_) | Self::Feature(_) => &[],
            Self::Not(inner) => std::slice::from_ref(inner),
            Self::And(operands) | Self::Or(operands) | Self::AtMostOne(operands) => operands,
            Self::Implies(pair) | Self::Iff(pair) => &**pair,
        }
    }

    /// The depth of the proposition. It is bounded by [`MAX_DEPTH`] while a proposition is built,
    /// so recursion is safe.
    pub(super) fn depth(&self) -> usize {
        1 + self.operands().iter().map(Self::depth).max().unwrap_or(0)
    }
}

/// A tree of features, and constraints across it.
///
/// ```
/// use cuvee::output::exchange::{Feature, FeatureModel, GroupKind};
///
/// let mut model = FeatureModel::new(Feature::new("shop"));
/// let payments = model.add(model.root(), GroupKind::Optional, Feature::new("payments"));
/// model.add(payments, GroupKind::Or, Feature::new("card"));
/// model.add(payments, GroupKind::Or, Feature::new("invoice"));
/// assert_eq!(model.to_uvl(), "\
/// features
/// \tshop
/// \t\toptional
/// \t\t\tpayments
/// \t\t\t\tor
/// \t\t\t\t\tcard
/// \t\t\t\t\tinvoice
/// ");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureModel {
    pub(super) features: Vec<Feature>,
    pub(super) constraints: Vec<Proposition>,
    pub(super) notes: Vec<String>,
}

impl FeatureModel {
    /// A model with only a root, which is always selected.
    pub fn new(root: Feature) -> Self {
        Self { features: vec![root], constraints: Vec::new(), notes: Vec::new() }
    }

    /// The root feature.
    pub fn root(&self) -> FeatureId {
        FeatureId(0)
    }

    /// Adds a feature to the last group of this kind below a feature, or to a new group.
    pub fn add(&mut self, parent: FeatureId, kind: GroupKind, feature: Feature) -> FeatureId {
        let groups =
            self.features.get(parent.index()).map(|parent| &parent.groups[..]).unwrap_or_default();
        let group = groups
            .iter()
            .rposition(|group| group.kind == kind)
            .unwrap_or_else(|| self.add_group(parent, kind));
        self.add_to(parent, group, feature)
    }

    /// Adds an empty group below a feature; the caller must add members.
    pub(super) fn add_group(&mut self, parent: FeatureId, kind: GroupKind) -> usize {
        let Some(parent) = self.features.get_mut(parent.index()) else { return 0 };
        parent.groups.push(FeatureGroup { kind, members: Vec::new() });
        parent.groups.len() - 1
    }

    /// Adds a feature to a group below a feature.
    pub(super) fn add_to(
        &mut self,
        parent: FeatureId,
        group: usize,
        feature: Feature,
    ) -> FeatureId {
        let id = FeatureId(self.features.len() as u32);
        self.features.push(feature);
        if let Some(group) = self.group_mut(parent, group) {
            group.members.push(id);
        }
        id
    }

    pub(super) fn group_mut(
        &mut self,
        parent: FeatureId,
        group: usize,
    ) -> Option<&mut FeatureGroup> {
        self.features.get_mut(parent.index())?.groups.get_mut(group)
    }

    /// Adds a constraint, simplified; a constraint that always holds is dropped.
    pub fn constrain(&mut self, constraint: Proposition) {
        let constraint = constraint.folded(&Proposition::Feature);
        if constraint != Proposition::Constant(true) {
            self.constraints.push(constraint);
        }
    }

    /// The feature with this id.
    pub fn feature(&self, id: FeatureId) -> Option<&Feature> {
        self.features.get(id.index())
    }

    /// All features, parents before their children.
    pub fn features(&self) -> impl ExactSizeIterator<Item = (FeatureId, &Feature)> {
        self.features.iter().enumerate().map(|(index, feature)| (FeatureId(index as u32), feature))
    }

    /// The constraints across the tree.
    pub fn constraints(&self) -> &[Proposition] {
        &self.constraints
    }

    /// Notes about what the model does not express.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Walks the tree in the order in which it is written. There is no recursion, so any depth is
    /// possible.
    pub(super) fn walk(&self, mut visit: impl FnMut(FeatureStep<'_>)) {
        let mut open = vec![Visit::Feature(self.root(), None)];
        let mut depth = 0;
        while let Some(next) = open.pop() {
            match next {
                Visit::Feature(id, group) => {
                    let Some(feature) = self.feature(id) else { continue };
                    visit(FeatureStep::Feature { feature, depth, group });
                    open.push(Visit::End(id));
                    for group in feature.groups.iter().rev() {
                        open.extend(
                            group
                                .members
                                .iter()
                                .rev()
                                .map(|&member| Visit::Feature(member, Some(group.kind))),
                        );
                        open.push(Visit::Group(group.kind));
                    }
                    depth += 1;
                }
                Visit::Group(kind) => visit(FeatureStep::Group { kind, depth }),
                Visit::End(id) => {
                    depth -= 1;
                    if let Some(feature) = self.feature(id) {
                        visit(FeatureStep::End { feature, depth });
                    }
                }
            }
        }
    }
}

enum Visit {
    Feature(FeatureId, Option<GroupKind>),
    Group(GroupKind),
    End(FeatureId),
}

/// A step of [`FeatureModel::walk`].
pub(super) enum FeatureStep<'m> {
    /// A feature begins: the kind of its group, if it has a parent, and the number of its
    /// ancestors.
    Feature { feature: &'m Feature, depth: usize, group: Option<GroupKind> },
    /// A group begins, in the feature that began last at this depth.
    Group { kind: GroupKind, depth: usize },
    /// A feature ends.
    End { feature: &'m Feature, depth: usize },
}
