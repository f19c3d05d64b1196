//! Writes conditions in the input language: what generated conditions ask for, and what authors
//! wrote, wherever it is repeated.

use crate::diagnostic::{Code, Diagnostic};
use crate::variability::element::ElementKind;
use crate::variability::enrich::{AddedConditions, Origin};
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, NodeElement, Requires};
use crate::variability::syntax::{
    Application, ExpressionId, ExpressionOperator, Of, PresenceOperator, Term,
};
use cuvee_text::value::Value;

/// How deep conditions may be repeated within each other. Conditions that ask for each other would
/// be repeated without an end.
const MAX_DEPTH: usize = 64;

/// How many parts all conditions may have together that are written in other words. Named
/// expressions that use others twice would double with each step.
const MAX_PARTS: usize = 1_000_000;

/// Writes conditions as values.
pub(super) struct ConditionWriter<'w, 'e, 'a> {
    evaluator: &'w mut Evaluator<'e, 'a>,
    added: &'w AddedConditions,
    /// For each element, whether it gets further conditions. These are then conditions of its
    /// author, which some operators ask for.
    pub(super) changes: Vec<bool>,
    /// What the named expressions ask for.
    named: Vec<Mentions>,
    /// How deep the condition that is being written is repeated in others.
    depth: usize,
    /// How many parts may still be written in other words.
    parts_left: usize,
}

/// What an expression asks for that depends on where it is written.
#[derive(Clone, Copy, Default, PartialEq)]
struct Mentions {
    /// Elements that are named by their relation to the one that has the condition.
    relative: bool,
    /// Conditions of authors.
    restricted: bool,
}

impl Mentions {
    fn add(&mut self, other: Self) {
        self.relative |= other.relative;
        self.restricted |= other.restricted;
    }
}

/// The element that has a condition, and whether the condition is written there.
#[derive(Clone, Copy)]
struct SelfMeaning {
    /// The element that SELF means to its author.
    own: Option<ElementId>,
    /// The element that SELF means where the condition is written.
    here: Option<ElementId>,
}

type Written<T = Value> = Result<T, Diagnostic>;

impl<'w, 'e, 'a> ConditionWriter<'w, 'e, 'a> {
    pub(super) fn new(evaluator: &'w mut Evaluator<'e, 'a>, added: &'w AddedConditions) -> Self {
        let mut writer = Self {
            evaluator,
            added,
            changes: Vec::new(),
            named: Vec::new(),
            depth: 0,
            parts_left: MAX_PARTS,
        };
        writer.named = writer.named_mentions();
        writer
    }

    /// What the named expressions ask for, themselves and through each other.
    fn named_mentions(&self) -> Vec<Mentions> {
        let graph = self.evaluator.graph;
        let count = graph.template.variability.expressions.len();
        let mut named = vec![Mentions::default(); count];
        let mut users = vec![Vec::new(); count];
        for (index, mentions) in named.iter_mut().enumerate() {
            let mut used = Vec::new();
            *mentions = self.own_mentions(graph.syntax.named(index), &mut used);
            used.into_iter().for_each(|used| users[used].push(index));
        }
        let mut open: Vec<_> = (0..count).collect();
        while let Some(index) = open.pop() {
            for &user in &users[index] {
                let before = named[user];
                let used = named[index];
                named[user].add(used);
                if named[user] != before {
                    open.push(user);
                }
            }
        }
        named
    }

    /// What an expression asks for, without the named expressions that it uses, which are listed.
    fn own_mentions(&self, id: ExpressionId, used: &mut Vec<usize>) -> Mentions {
        let syntax = &self.evaluator.graph.syntax;
        let mut found = Mentions::default();
        match syntax.get(id).term {
            Term::Scalar(_) | Term::Broken(..) => {}
            Term::List(items) => {
                items.iter().for_each(|item| found.add(self.own_mentions(item, used)));
            }
            Term::Application(Application { operator, operand }) => match operator {
                ExpressionOperator::Presence(asks) => {
                    let first = syntax.each(operand).iter().next().unwrap_or(operand);
                    let keyword = syntax.get(first).text().unwrap_or_default();
                    found.relative = matches!(keyword, "SELF" | "CONTAINER" | "SOURCE" | "TARGET");
                    found.restricted =
                        matches!(asks.of(), Of::Incoming | Of::Outgoing | Of::Artifacts);
                }
                ExpressionOperator::Named(_) => {
                    used.extend(self.evaluator.expression_index(operand).ok());
                }
                ExpressionOperator::Input => {}
                _ => found = self.own_mentions(operand, used),
            },
        }
        found
    }

    /// What a presence operator asks for about an element, written for a condition of `here`.
    pub(super) fn presence(&mut self, of: Of, id: ElementId, here: Option<ElementId>) -> Written {
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        let slot = element.slot as usize;
        let node = (element.kind == ElementKind::Node).then(|| &graph.nodes[slot]);
        match of {
            Of::Incoming | Of::Outgoing | Of::Artifacts => match node {
                Some(node) => self.restricted(of, node, here),
                None => Ok(false.into()),
            },
            Of::Container if here == Some(id) => Ok(applied("container_presence", "SELF".into())),
            Of::Container => match element.container {
                Some(container) => self.presence(Of::Itself, container, here),
                None => Ok(false.into()),
            },
            Of::Managed => {
                let managing = self.evaluator.managing(slot);
                self.any_present(&managing, here)
            }
            Of::Target if graph.relations[slot].target.is_none() => Ok(true.into()),
            _ => Ok(self.asked(of, id, here)),
        }
    }

    /// That one of these elements is present.
    pub(super) fn any_present(&mut self, ids: &[ElementId], here: Option<ElementId>) -> Written {
        Ok(any(ids.iter().map(|&id| self.asked(Of::Itself, id, here)).collect()))
    }

    /// An operator with an element as its operand; the identifier of the element, if no operator
    /// asks for elements of this kind.
    fn asked(&self, of: Of, id: ElementId, here: Option<ElementId>) -> Value {
        let graph = self.evaluator.graph;
        let mut path: Vec<_> =
            std::iter::successors(Some(id), |&id| graph.element(id).container).collect();
        path.reverse();
        let kinds: Vec<_> = path.iter().map(|&id| graph.element(id).kind).collect();
        let Some(operator) = PresenceOperator::asking(of, &kinds) else {
            return graph.identifier(id).to_string().into();
        };
        let mut operands: Vec<Value> = if here == Some(id) {
            vec!["SELF".into()]
        } else {
            path.iter().map(|&id| self.operand(id)).collect()
        };
        let operand = match &mut operands[..] {
            [only] => only.clone(),
            _ => operands.into(),
        };
        applied(operator.keyword(), operand)
    }

    /// The name of an element in its container, or its position if several have the name.
    fn operand(&self, id: ElementId) -> Value {
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        let by_position = match element.kind {
            ElementKind::Node | ElementKind::Group => false,
            ElementKind::Import => true,
            _ => !graph.is_named_alone(id),
        };
        if by_position { i64::from(element.index).into() } else { element.name.into() }
    }

    /// What an operator asks for that looks at conditions of authors: the relations or artifacts of
    /// a node, as far as their own conditions hold. Where these get further conditions, the
    /// operator would look at them as well, so the conditions are repeated instead.
    fn restricted(&mut self, of: Of, node: &NodeElement<'a>, here: Option<ElementId>) -> Written {
        let graph = self.evaluator.graph;
        let relations = if of == Of::Incoming { &node.incoming } else { &node.relations };
        let parts: Vec<_> = match of {
            Of::Artifacts => node.artifacts.iter().map(|&id| (id, None)).collect(),
            _ => relations.iter().map(|&id| graph.relation(id)).map(|r| (r.id, Some(r))).collect(),
        };
        if !parts.iter().any(|&(id, _)| self.changes[id.0 as usize]) {
            return Ok(self.asked(of, node.id, here));
        }
        let mut each = Vec::with_capacity(parts.len());
        let mut are_free = true;
        for (id, relation) in parts {
            let mut all = self.manual(id)?;
            are_free &= all.is_empty();
            if let Some(relation) = relation {
                let end = if of == Of::Incoming { Of::Source } else { Of::Target };
                all.push(self.end(end, relation.id)?);
            }
            each.push(self::all(all));
        }
        Ok(if are_free && of == Of::Incoming {
            self.asked(Of::Sources, node.id, here)
        } else {
            any(each)
        })
    }

    /// That the node at an end of a relation is present.
    pub(super) fn end(&mut self, of: Of, relation: ElementId) -> Written {
        let graph = self.evaluator.graph;
        let relation = &graph.relations[graph.element(relation).slot as usize];
        match (of, relation.target) {
            (Of::Source, _) => self.presence(Of::Itself, graph.node(relation.source).id, None),
            (_, Some(target)) => self.presence(Of::Itself, graph.node(target).id, None),
            (_, None) => Ok(true.into()),
        }
    }

    /// The conditions of an element's author, repeated elsewhere.
    ///
    /// # Errors
    /// `invalid-template` if conditions ask for each other.
    pub(super) fn manual(&mut self, id: ElementId) -> Written<Vec<Value>> {
        let graph = self.evaluator.graph;
        self.deeper(|| {
            let message = format!("the conditions of {} ask for each other", graph.display(id));
            let help = "ask for presence instead, with an operator that ends in `_naive`";
            let error = Diagnostic::error(Code::InvalidTemplate, message);
            error.at(graph.element(id).span).help(help)
        })?;
        let mut written = Vec::new();
        for origin in self.added.reasons(id) {
            match origin {
                Origin::Manual(..) => {
                    let conditions = self.added.written(graph, id);
                    self.listed(conditions, Some(id), None, &mut written)?;
                }
                Origin::Group(_, group, _) => {
                    let group = &graph.groups[graph.element(group).slot as usize];
                    let conditions = group.group.declared.conditions();
                    let conditions = conditions.map(|node| graph.syntax.read(node));
                    self.listed(conditions, Some(id), None, &mut written)?;
                }
                other => written.extend(self.manual_reason(other, None)?),
            }
        }
        self.depth -= 1;
        Ok(written)
    }

    /// Begins to repeat something within what is repeated already.
    fn deeper(&mut self, error: impl FnOnce() -> Diagnostic) -> Written<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(error()) } else { Ok(()) }
    }

    /// A condition that counts as one of the author's, although nobody wrote it as a condition.
    pub(super) fn manual_reason(
        &mut self,
        origin: Origin,
        here: Option<ElementId>,
    ) -> Written<Vec<Value>> {
        let graph = self.evaluator.graph;
        Ok(match origin {
            Origin::Input(id, _) => {
                let name = graph.identifier(id).to_string();
                vec![applied("variability_input", name.into())]
            }
            Origin::DefaultAlternative(id) => {
                let others = self.added.others(id).to_vec();
                vec![not(self.any_present(&others, here)?)]
            }
            Origin::NoDefaultAlternative(_) | Origin::VariabilityGroup(_) => vec![false.into()],
            Origin::Technology(id) => {
                let ways = &graph.technologies[graph.element(id).slot as usize].ways;
                vec![self.ways(ways, here)?]
            }
            _ => Vec::new(),
        })
    }

    /// That one of these ways is possible.
    fn ways(&mut self, ways: &[Requires], here: Option<ElementId>) -> Written {
        let mut each = Vec::with_capacity(ways.len());
        for way in ways {
            let parts = way.iter().map(|alternatives| self.any_present(alternatives, here));
            each.push(all(parts.collect::<Result<_, _>>()?));
        }
        Ok(any(each))
    }

    /// Adds the items of a list of conditions; `own` is the element that has them.
    pub(super) fn listed(
        &mut self,
        conditions: Option<ExpressionId>,
        own: Option<ElementId>,
        here: Option<ElementId>,
        into: &mut Vec<Value>,
    ) -> Written<()> {
        let syntax = &self.evaluator.graph.syntax;
        for id in conditions.into_iter().flat_map(|list| syntax.each(list).iter()) {
            into.push(self.expression(id, own, here)?);
        }
        Ok(())
    }

    /// An expression of an author whose SELF means `own`, written for a condition of `here`.
    pub(super) fn expression(
        &mut self,
        id: ExpressionId,
        own: Option<ElementId>,
        here: Option<ElementId>,
    ) -> Written {
        self.translated(id, SelfMeaning { own, here })
    }

    fn translated(&mut self, id: ExpressionId, meaning: SelfMeaning) -> Written {
        let graph = self.evaluator.graph;
        let expression = graph.syntax.get(id);
        if !self.needs_words(id, meaning) {
            return Ok(expression.node().to_value());
        }
        self.parts_left = self.parts_left.checked_sub(1).ok_or_else(|| {
            let message = "the conditions that would have to be repeated are too long";
            Diagnostic::error(Code::InvalidTemplate, message).at(expression.span())
        })?;
        match expression.term {
            Term::List(items) => {
                let items = items.iter().map(|item| self.translated(item, meaning));
                Ok(items.collect::<Result<Vec<_>, _>>()?.into())
            }
            Term::Application(Application { operator, operand }) => match operator {
                ExpressionOperator::Presence(asks) => {
                    let asked = self.evaluator.operand_element(asks, operand, meaning.own)?;
                    self.presence(asks.of(), asked, meaning.here)
                }
                ExpressionOperator::Named(_) => {
                    let named = self.evaluator.expression_index(operand)?;
                    self.deeper(|| {
                        let message = "named expressions would have to be repeated too deeply";
                        Diagnostic::error(Code::InvalidTemplate, message).at(expression.span())
                    })?;
                    let written = self.translated(graph.syntax.named(named), meaning);
                    self.depth -= 1;
                    written
                }
                _ => Ok(applied(operator.keyword(), self.translated(operand, meaning)?)),
            },
            Term::Scalar(_) | Term::Broken(..) => Ok(expression.node().to_value()),
        }
    }

    /// Whether an expression would mean something else where it is written than it means to its
    /// author.
    fn needs_words(&self, id: ExpressionId, meaning: SelfMeaning) -> bool {
        let mut used = Vec::new();
        let mut mentions = self.own_mentions(id, &mut used);
        used.into_iter().for_each(|index| mentions.add(self.named[index]));
        mentions.restricted && self.changes.contains(&true)
            || mentions.relative && meaning.own != meaning.here
    }

    /// Whether an expression asks for conditions of authors that change.
    pub(super) fn looks_at_authors(&self, id: ExpressionId) -> bool {
        self.needs_words(id, SelfMeaning { own: None, here: None })
    }

    /// An expression that stays where it is written, if it has to be written in other words.
    pub(super) fn rewritten(
        &mut self,
        id: ExpressionId,
        own: Option<ElementId>,
    ) -> Written<Option<Value>> {
        let needs_words = self.needs_words(id, SelfMeaning { own, here: own });
        let written = if needs_words { Some(self.expression(id, own, own)?) } else { None };
        let was = self.evaluator.graph.syntax.get(id).node().to_value();
        Ok(written.filter(|written| *written != was))
    }
}

/// An operator applied to its operand.
pub(super) fn applied(keyword: &str, operand: Value) -> Value {
    Value::Map([(keyword.into(), operand)].into())
}

/// The condition that these conditions all hold.
pub(super) fn all(mut conditions: Vec<Value>) -> Value {
    let falsity = Value::from(false);
    if conditions.contains(&falsity) {
        return falsity;
    }
    conditions.retain(|condition| *condition != Value::from(true));
    joined("and", conditions, true)
}

/// The condition that one of these conditions holds.
pub(super) fn any(mut conditions: Vec<Value>) -> Value {
    let truth = Value::from(true);
    if conditions.contains(&truth) {
        return truth;
    }
    conditions.retain(|condition| *condition != Value::from(false));
    joined("or", conditions, false)
}

fn joined(keyword: &str, conditions: Vec<Value>, none: bool) -> Value {
    let mut distinct: Vec<Value> = Vec::with_capacity(conditions.len());
    for condition in conditions {
        if !distinct.contains(&condition) {
            distinct.push(condition);
        }
    }
    match &distinct[..] {
        [] => none.into(),
        [only] => only.clone(),
        _ => applied(keyword, distinct.into()),
    }
}

/// The condition that a condition does not hold.
pub(super) fn not(condition: Value) -> Value {
    match condition {
        Value::Bool(holds) => (!holds).into(),
        other => applied("not", other),
    }
}
