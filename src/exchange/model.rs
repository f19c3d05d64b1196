//! What feature models have in common, whatever the format: a tree of features, and propositions
//! across it.

use crate::text::source::Span;
use crate::text::value::Value;

/// A feature of a [`FeatureModel`], by its position; a parent comes before its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureId(pub(super) u32);

impl FeatureId {
    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a feature is beside being selected or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureType {
    /// Nothing.
    #[default]
    Boolean,
    /// It has a whole number.
    Integer,
    /// It has a number.
    Real,
    /// It has a text.
    String,
}

impl FeatureType {
    /// The TOSCA type of the inputs that it stands for.
    pub(super) fn value_type(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Real => "float",
            Self::String => "string",
        }
    }
}

/// What a parent `p` demands of the members `c` of a group; every one of them demands its parent:
/// `c ⇒ p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// `p ⇒ c` for each
    Mandatory,
    /// nothing
    Optional,
    /// `p ⇒` at least one `c`
    Or,
    /// `p ⇒` exactly one `c`
    Alternative,
}

/// Children of one feature that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGroup {
    /// What the parent demands of them.
    pub kind: GroupKind,
    /// The children.
    pub members: Vec<FeatureId>,
}

/// One feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feature {
    /// The name, as it is written in a model.
    pub name: String,
    /// What it is beside being selected or not.
    pub kind: FeatureType,
    /// Whether it only structures the model.
    pub is_abstract: bool,
    /// For people.
    pub description: Option<String>,
    /// What it is where nobody decides.
    pub default: Option<Value>,
    /// The TOSCA type of its value, where that says more than `kind`.
    pub value_type: Option<String>,
    /// What its value must fulfil: TOSCA constraint clauses such as `in_range: [1, 4]`, each a map
    /// of one entry.
    pub clauses: Vec<Value>,
    /// What else a model says of it, such as a price; nothing depends on it.
    pub attributes: Vec<(String, Value)>,
    /// Where it stands in the file that it was read from.
    pub span: Option<Span>,
    /// Its children.
    pub(super) groups: Vec<FeatureGroup>,
}

impl Feature {
    /// A boolean feature of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Whether it only structures the model, and nothing else is said of it.
    pub(super) fn is_bare(&self) -> bool {
        self.is_abstract && self.attributes.is_empty()
    }

    /// Its children, group by group.
    pub fn groups(&self) -> &[FeatureGroup] {
        &self.groups
    }
}

/// What must hold between features wherever they stand in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition {
    /// Always or never.
    Constant(bool),
    /// The feature is selected.
    Feature(FeatureId),
    /// It does not hold.
    Not(Box<Proposition>),
    /// All hold.
    And(Vec<Proposition>),
    /// At least one holds.
    Or(Vec<Proposition>),
    /// At most one holds.
    AtMostOne(Vec<Proposition>),
    /// The second holds where the first does.
    Implies(Box<[Proposition; 2]>),
    /// Both hold or neither does.
    Iff(Box<[Proposition; 2]>),
}

/// How deep propositions may nest: what is imported as YAML nests twice as deep, which has to stay
/// readable.
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
    /// All of these, folded.
    pub(super) fn and(operands: impl IntoIterator<Item = Self>) -> Self {
        Self::fold(operands, true, Self::And)
    }

    /// At least one of these, folded.
    pub(super) fn or(operands: impl IntoIterator<Item = Self>) -> Self {
        Self::fold(operands, false, Self::Or)
    }

    /// Without the operands that change nothing; one of the other kind settles it.
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

    /// `self ⇒ then`, folded.
    pub(super) fn implies(self, then: Self) -> Self {
        match (self, then) {
            (Self::Constant(true), then) => then,
            (Self::Constant(false), _) | (_, Self::Constant(true)) => Self::Constant(true),
            (premise, Self::Constant(false)) => !premise,
            (premise, then) => Self::Implies(Box::new([premise, then])),
        }
    }

    /// `self ⇔ other`, folded.
    pub(super) fn iff(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(true), one) | (one, Self::Constant(true)) => one,
            (Self::Constant(false), one) | (one, Self::Constant(false)) => !one,
            (one, other) => Self::Iff(Box::new([one, other])),
        }
    }

    /// At most one of these, folded: where one always holds, none of the others does.
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

    /// Exactly one of these.
    pub(super) fn exactly_one(operands: Vec<Self>) -> Self {
        let any = Self::or(operands.iter().cloned());
        Self::and([any, Self::at_most_one(operands)])
    }

    /// An odd number of these; balanced, so that it is no deeper than it has to be.
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

    /// With something else for each feature, folded from there on.
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

    /// What it consists of.
    pub(super) fn operands(&self) -> &[Self] {
        match self {
            Self::Constant(_) | Self::Feature(_) => &[],
            Self::Not(inner) => std::slice::from_ref(inner),
            Self::And(operands) | Self::Or(operands) | Self::AtMostOne(operands) => operands,
            Self::Implies(pair) | Self::Iff(pair) => &**pair,
        }
    }

    /// How deep it nests; what is built is bounded by [`MAX_DEPTH`] from the bottom up, so that
    /// this may recurse.
    pub(super) fn depth(&self) -> usize {
        1 + self.operands().iter().map(Self::depth).max().unwrap_or(0)
    }
}

/// A tree of features, and what must hold across it.
///
/// ```
/// use cuvee::exchange::{Feature, FeatureModel, GroupKind};
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
    /// A model of a root alone; it is always selected.
    pub fn new(root: Feature) -> Self {
        Self { features: vec![root], constraints: Vec::new(), notes: Vec::new() }
    }

    /// The root.
    pub fn root(&self) -> FeatureId {
        FeatureId(0)
    }

    /// Adds a feature to the last group of this kind below a feature; there is one then.
    pub fn add(&mut self, parent: FeatureId, kind: GroupKind, feature: Feature) -> FeatureId {
        let groups =
            self.features.get(parent.index()).map(|parent| &parent.groups[..]).unwrap_or_default();
        let group = groups
            .iter()
            .rposition(|group| group.kind == kind)
            .unwrap_or_else(|| self.add_group(parent, kind));
        self.add_to(parent, group, feature)
    }

    /// Adds an empty group below a feature; it must not stay empty.
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

    /// Adds what must hold, without what always does.
    pub fn constrain(&mut self, constraint: Proposition) {
        let constraint = constraint.folded(&Proposition::Feature);
        if constraint != Proposition::Constant(true) {
            self.constraints.push(constraint);
        }
    }

    /// A feature.
    pub fn feature(&self, id: FeatureId) -> Option<&Feature> {
        self.features.get(id.index())
    }

    /// All features, parents before their children.
    pub fn features(&self) -> impl ExactSizeIterator<Item = (FeatureId, &Feature)> {
        self.features.iter().enumerate().map(|(index, feature)| (FeatureId(index as u32), feature))
    }

    /// What must hold across the tree.
    pub fn constraints(&self) -> &[Proposition] {
        &self.constraints
    }

    /// What the model does not say, for whoever reads it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Walks the tree in the order in which it is written; without recursion, so its depth does not
    /// matter.
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
    /// A feature begins: the group that it belongs to, if it has a parent, and how many features
    /// are above it.
    Feature { feature: &'m Feature, depth: usize, group: Option<GroupKind> },
    /// A group of the feature that began last at this depth begins.
    Group { kind: GroupKind, depth: usize },
    /// A feature ends.
    End { feature: &'m Feature, depth: usize },
}
