//! Follows the paths of calls in a template whose nodes are replaced: through these nodes, and into
//! the values that take the place of calls.

use super::flatten::Flattening;
use super::rewrite::WrittenIn;
use super::view::entry;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::orchestrate::tree::{
    MADE, entries, items, key_name, like, like_list, made, within_topology,
};
use crate::topology::scope::TopologyScope;
use crate::topology::{
    NodeIndex, RelationIndex, Topology, TopologyElement, TopologyNode, relationship_type,
};
use crate::tosca::evaluate::{EvaluatorState, FunctionEvaluator, PathPlace, Representation};
use crate::tosca::function::{Function, SECRET_MARK, asks_for, function_in};
use crate::tosca::v2_0::function::{INDICES, PlainText, evaluate};
use crate::tosca::{meant, v2_0};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Out, OutKey, OutNode};
use rustc_hash::FxHashSet;

/// The call that stands for a part of a value as long as indices of nodes decide which part that
/// is. No function is called so.
const PART: &str = "$part of";

/// The words of a path that lead from a node or a relationship to another place.
const HOPS: [&str; 4] = ["CAPABILITY", "RELATIONSHIP", "SOURCE", "TARGET"];

/// Whether inputs of a template whose nodes are replaced have their defaults.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InputDefaults {
    /// They do, where it is asked where a path leads.
    Count,
    /// They do not, where values are asked for: at deployment, inputs may have others.
    Open,
}

/// An evaluator for a template whose nodes are replaced.
type OuterEvaluator<'f, 't> = FunctionEvaluator<'f, 'f, TopologyScope<'f, 't>>;

impl<'f, 't, 'a> Flattening<'f, 't, 'a> {
    /// Whether a path may lead through or to a replaced node by more than its name.
    pub(super) fn leads_through(&self, path: &Out<'a>, at: WrittenIn<'_>) -> bool {
        let Some((topology, _)) = self.graph else { return false };
        let steps = texts(path);
        if !self.outer.is_2_0 {
            return self.along_relation(&steps, at).is_some();
        }
        let relations = steps.iter().filter(|step| *step == "RELATIONSHIP").count();
        steps.iter().any(|step| HOPS.contains(&&**step))
            && self.is_near(topology, self.starts(topology, &steps[0], at), relations)
    }

    /// Whether a path may lead to a replaced node, or through one.
    pub(super) fn leads_to_replaced(&self, path: &Out<'a>, at: WrittenIn<'_>) -> bool {
        let Some((topology, _)) = self.graph else { return false };
        let starts = texts(path).first().map(|first| self.starts(topology, first, at));
        let mut starts = starts.unwrap_or_default().into_iter();
        starts.any(|node| self.by_node.contains_key(&*topology.node(node).name))
            || self.leads_through(path, at)
    }

    /// How many places a path leads to.
    pub(super) fn ends(&self, path: &[Out<'a>], at: WrittenIn<'_>) -> Option<usize> {
        let steps = path.iter().map(|step| (None, step.clone())).collect();
        let path = Out::Seq { items: steps, like: None };
        let count = |evaluator: &mut OuterEvaluator<'f, 't>, path: Node<'_>, site| {
            evaluator.ends(path, site).ok().flatten()
        };
        self.asked(InputDefaults::Count, &path, at, count)
    }

    /// Where a path starts: at a node, or at the ends of a relationship.
    fn starts(&self, topology: &Topology, first: &str, at: WrittenIn<'_>) -> Vec<NodeIndex> {
        let ends = |id: RelationIndex| {
            let relation = topology.relation(id);
            [Some(relation.source), relation.target].into_iter().flatten()
        };
        match (first, at) {
            (_, WrittenIn::Inner(..)) => Vec::new(),
            ("SELF", _) => match self.site(topology, at) {
                Some(TopologyElement::Node(node)) => vec![node],
                Some(TopologyElement::Relation(id)) => ends(id).collect(),
                _ => Vec::new(),
            },
            (name, _) => topology.node_named(name).into_iter().collect(),
        }
    }

    /// What `SELF` means, if the place has one.
    pub(super) fn site(&self, topology: &Topology, at: WrittenIn<'_>) -> Option<TopologyElement> {
        match at {
            WrittenIn::Outer(here) => topology.node_named(here?).map(TopologyElement::Node),
            WrittenIn::Assigned(node, position) => {
                let relations = &topology.node(topology.node_named(node)?).relations;
                relations.get(position).copied().map(TopologyElement::Relation)
            }
            WrittenIn::Inner(..) => None,
        }
    }

    /// Whether a path with this many relations may lead from some nodes to a replaced one.
    fn is_near(&self, topology: &Topology, starts: Vec<NodeIndex>, relations: usize) -> bool {
        let mut reached = FxHashSet::from_iter(starts.iter().copied());
        let mut last = starts;
        for _ in 0..relations {
            let around = last.iter().flat_map(|&node| {
                let TopologyNode { relations, incoming, .. } = topology.node(node);
                let targets = relations.iter().filter_map(|&id| topology.relation(id).target);
                targets.chain(incoming.iter().map(|&id| topology.relation(id).source))
            });
            last = around.filter(|&node| reached.insert(node)).collect();
        }
        reached.into_iter().any(|node| self.by_node.contains_key(&*topology.node(node).name))
    }

    /// The start of a path of version 1.3 that leads to a replaced node along a relation, as one that
    /// starts at this node, and how many steps that takes.
    fn along_relation(&self, steps: &[String], at: WrittenIn<'_>) -> Option<(Vec<&str>, usize)> {
        let (first, rest) = steps.split_first()?;
        let replaced = |name: &str| self.by_node.get_key_value(name).map(|(&name, _)| name);
        let start = match (&**first, at) {
            (_, WrittenIn::Inner(..)) => return None,
            ("SOURCE", WrittenIn::Assigned(node, _)) => return Some((vec![replaced(node)?], 1)),
            ("TARGET", WrittenIn::Assigned(node, position)) => {
                let relation = self.outer.node(node)?.assignments.get(position)?;
                return Some((vec![replaced(relation.target.as_deref()?)?], 1));
            }
            ("SELF", WrittenIn::Outer(here)) => here?,
            (name, _) => name,
        };
        let (requirement, property) = (rest.first()?, rest.get(1)?);
        let source = self.outer.position(start)?;
        let mut relations = self.outer.nodes[source].assignments.iter();
        let position = relations.position(|it| it.name == *requirement)?;
        let target = &self.outer.nodes[source].assignments[position].target;
        let target = replaced(target.as_deref()?)?;
        // The property is that of the relation or of the capability, or else that of the node.
        let (topology, _) = self.graph?;
        let relation = self.site(topology, WrittenIn::Assigned(start, position));
        if let Some(TopologyElement::Relation(id)) = relation
            && let Some(kind) = relationship_type(topology, self.types, id)
            && self.types.effective(kind).properties.contains_key(&**property)
        {
            return None;
        }
        let capability = self.uses.get(&(source, position));
        let kind = self.types.effective(self.outer.node(target)?.kind?);
        let capability = capability.filter(|name| {
            let part = kind.capabilities.get(&***name).map(|part| &part.definition);
            part.is_some_and(|it| {
                [&it.properties, &it.attributes].iter().any(|all| all.contains_key(&**property))
            })
        });
        Some((std::iter::once(target).chain(capability.map(String::as_str)).collect(), 2))
    }

    /// A path through a replaced node as one that starts where it ends; `None` if it can stay.
    pub(super) fn direct(&self, path: &Out<'a>, at: WrittenIn<'_>) -> Option<Vec<Out<'a>>> {
        if !self.outer.is_2_0 {
            let (start, used) = self.along_relation(&texts(path), at)?;
            let start = start.into_iter().map(|step| Out::String(step.to_owned().into()));
            return Some(start.chain(items(path).into_iter().skip(used)).collect());
        }
        let (topology, _) = self.graph.filter(|_| self.leads_through(path, at))?;
        let find = |evaluator: &mut OuterEvaluator<'f, 't>, path: Node<'_>, site| {
            evaluator.end(path, site).ok().flatten()
        };
        let (place, used) = self.asked(InputDefaults::Count, path, at, find)?;
        let steps = texts(path);
        let hops = steps.iter().take(used).filter(|step| HOPS.contains(&&***step)).count();
        let start = match (&*steps[0], at) {
            ("SELF", WrittenIn::Outer(here)) => here,
            ("SELF", _) => None,
            (name, _) => Some(name),
        };
        let is_replaced = |name: &str| self.by_node.contains_key(name);
        let (node, words) = end_of(topology, place)?;
        let is_direct = hops < 2 && start.is_some();
        if is_direct || hops < 3 && !is_replaced(node) && !start.is_some_and(is_replaced) {
            return None;
        }
        let rest = items(path).into_iter().skip(used);
        Some(words.into_iter().map(Out::Value).chain(rest).collect())
    }

    /// The value of an expression in its new place, if the template says what it is.
    pub(super) fn computed(
        &self,
        defaults: InputDefaults,
        expression: &Out<'a>,
        at: WrittenIn<'_>,
    ) -> Option<Out<'a>> {
        function_in(&OutNode::root(expression).to_value())?;
        let value = |evaluator: &mut OuterEvaluator<'f, 't>, node: Node<'_>, site| {
            evaluator.evaluate(node, site).ok().flatten()
        };
        self.asked(defaults, expression, at, value).map(|value| Out::Value(meant::literal(value)))
    }

    /// Asks an evaluator for the template about an expression in its new place, or about a path.
    fn asked<T>(
        &self,
        defaults: InputDefaults,
        expression: &Out<'a>,
        at: WrittenIn<'_>,
        ask: impl FnOnce(&mut OuterEvaluator<'f, 't>, Node<'_>, Option<TopologyElement>) -> Option<T>,
    ) -> Option<T> {
        let (topology, [now, later]) = self.graph?;
        let scope = if defaults == InputDefaults::Count { now } else { later };
        let source = OutNode::root(expression).source();
        let made = match source {
            Some(_) => None,
            None => made(expression.clone(), self.outer.is_2_0),
        };
        let node = source.or_else(|| made.as_ref()?.root().get(MADE))?;
        // What a workflow is given is known only when it runs.
        if let WrittenIn::Inner(_, own) = at
            && asks_for(node, &own.iter().map(|name| &**name).collect::<Vec<_>>())
        {
            return None;
        }
        let mut evaluator = FunctionEvaluator::new(scope, EvaluatorState::default());
        ask(&mut evaluator, node, self.site(topology, at))
    }

    /// A step of a path in its new place, with its value if that is known.
    pub(super) fn path_step(&self, step: Out<'a>, at: WrittenIn<'_>, depth: usize) -> Out<'a> {
        let changed = depth.checked_sub(1).and_then(|depth| self.changed(&step, at, depth));
        let step = changed.unwrap_or(step);
        self.computed(InputDefaults::Count, &step, at).unwrap_or(step)
    }

    /// The part of a value at a path, both in their new place. If the value is the call of a function
    /// that takes a path, it gets a longer one.
    pub(super) fn at_path(&self, value: Out<'a>, path: &[Out<'a>], place: Span) -> Out<'a> {
        let Some((step, rest)) = path.split_first() else { return value };
        let known = match self.called(&value) {
            None => value,
            Some((key, operand)) if self.takes_longer(&key, &operand) => {
                let first = match items(&operand) {
                    parts if parts.is_empty() => vec![operand],
                    parts => parts,
                };
                return call(&value, key, first, path);
            }
            Some(_) => match self.computed(InputDefaults::Open, &value, WrittenIn::Outer(None)) {
                Some(known) => known,
                None => {
                    self.dangles(place, "a part is asked for of a value that is not known yet");
                    return value;
                }
            },
        };
        let written = OutNode::root(step).to_value();
        if let Some(function) = function_in(&written) {
            if asks_index(&written) {
                self.waits.set(true);
                return call(&Out::Value(Value::Null), OutKey::New(PART.into()), vec![known], path);
            }
            let message = format!(
                "which part of the value is meant is not known before deployment: it is the result of `{function}`"
            );
            self.dangles(place, &message);
            return known;
        }
        match part(&known, &written) {
            Some(found) => self.at_path(found, rest, place),
            None => {
                self.dangles(place, "the value has nothing at this path");
                known
            }
        }
    }

    /// The key and the arguments of a value that calls a function.
    fn called(&self, value: &Out<'a>) -> Option<(OutKey<'a>, Out<'a>)> {
        let mut all = entries(value);
        let (key, operand) = all.pop().filter(|_| all.is_empty())?;
        let is_call = |name: &str| match self.outer.is_2_0 {
            true => v2_0::function_name(name).is_some_and(|name| name != SECRET_MARK),
            false => Function::named(name).is_some(),
        };
        is_call(&key_name(&key)).then_some((key, operand))
    }

    /// Whether a call means a part of its value if its path gets longer. One for `ALL` means a part
    /// of each value.
    fn takes_longer(&self, key: &OutKey<'a>, operand: &Out<'a>) -> bool {
        let function = self.outer.function(&key_name(key));
        let is_of_path = matches!(
            function,
            Some(Function::GetInput | Function::GetProperty | Function::GetAttribute)
        );
        key_name(key) == PART || is_of_path && texts(operand).iter().all(|step| step != "ALL")
    }
}

/// Where a path ends: the name of the node, and the first steps of a path from it.
fn end_of<'f>(
    topology: &'f Topology,
    place: PathPlace<'f, TopologyElement>,
) -> Option<(&'f str, Vec<Value>)> {
    let (node, words) = match place {
        PathPlace::Capability(
            Representation { element: TopologyElement::Node(node), .. },
            name,
        ) => (node, vec![Value::from("CAPABILITY"), name.into()]),
        PathPlace::Element(Representation { element: TopologyElement::Node(node), .. }) => {
            (node, Vec::new())
        }
        PathPlace::Element(Representation { element: TopologyElement::Relation(id), .. }) => {
            let relation = topology.relation(id);
            let all = topology.node(relation.source).relations.iter();
            let same = all.filter(|&&id| topology.relation(id).name == relation.name);
            let index = same.copied().position(|same| same == id)?;
            let index = i64::try_from(index).ok()?;
            let name = Value::from(&*relation.name);
            (relation.source, vec!["RELATIONSHIP".into(), name, index.into()])
        }
        _ => return None,
    };
    let name = &*topology.node(node).name;
    Some((name, std::iter::once(name.into()).chain(words).collect()))
}

/// The steps of a path; that of a call is no word.
fn texts(path: &Out<'_>) -> Vec<String> {
    let text = |step: &Out<'_>| OutNode::root(step).text().unwrap_or_default().into_owned();
    items(path).iter().map(text).collect()
}

/// A call of a function with these arguments, in the place of another value.
fn call<'a>(old: &Out<'a>, key: OutKey<'a>, first: Vec<Out<'a>>, path: &[Out<'a>]) -> Out<'a> {
    let all = first.into_iter().chain(path.iter().cloned()).map(|part| (None, part));
    like(old, vec![(key, Out::Seq { items: all.collect(), like: None })])
}

/// Whether the indices of nodes and relationships decide a value.
fn asks_index(value: &Value) -> bool {
    match value {
        Value::String(text) => v2_0::function_name(text).is_some_and(|it| INDICES.contains(&it)),
        Value::List(items) => items.iter().any(asks_index),
        Value::Map(entries) => entries.iter().any(|(_, value)| asks_index(value)),
        _ => false,
    }
}

/// The item or entry of a value.
fn part<'a>(value: &Out<'a>, step: &Value) -> Option<Out<'a>> {
    match step {
        Value::Number(position) => {
            items(value).into_iter().nth(usize::try_from(position.as_int()?).ok()?)
        }
        name => entry(value, name.as_str()?),
    }
}

/// The document with the parts of values that waited for the indices of nodes.
///
/// # Errors
/// `dangling-reference` where an index is still not known, or means nothing.
pub(super) fn settled<'a>(document: &Out<'a>) -> Result<Out<'a>, Diagnostics> {
    let mut found = Diagnostics::default();
    let settled = within_topology(document, &mut |section, body| {
        if section != "node_templates" {
            return settle(body, false, &mut found);
        }
        let nodes = entries(body).into_iter().map(|(key, node)| {
            let is_single = entry(&node, "instance_count").is_none();
            let before = found.0.len();
            let node = settle(&node, is_single, &mut found);
            for error in found.0.iter_mut().skip(before) {
                let name = key_name(&key);
                error.message = format!("for node \"{name}\", {}", error.message);
            }
            (key, node)
        });
        like(body, nodes.collect())
    });
    if found.has_errors() { Err(found) } else { Ok(settled) }
}

/// A value with such parts in their places. All of them are in maps and lists that are new.
fn settle<'a>(out: &Out<'a>, is_single: bool, found: &mut Diagnostics) -> Out<'a> {
    let mut below = |out: &Out<'a>| settle(out, is_single, found);
    match out {
        Out::Lifted(key, inner) => Out::Lifted(*key, Box::new(below(inner))),
        Out::Below(gone, inner) => Out::Below(gone.clone(), Box::new(below(inner))),
        Out::Seq { items, .. } => {
            like_list(out, items.iter().map(|(owner, item)| (*owner, below(item))).collect())
        }
        Out::Map { entries, .. } => match &**entries {
            [(key, arguments)] if key_name(key) == PART => {
                let spans = items(arguments).into_iter().map(|it| OutNode::root(&it).span());
                let place = spans.into_iter().find(|place| !place.is_detached());
                let mut arguments = items(arguments).into_iter();
                let value = arguments.next().map(|value| below(&value));
                let part = value.and_then(|value| part_at(value, arguments, is_single));
                part.unwrap_or_else(|| {
                    let message = "this value has no part of the index that is asked for, or that index is not known";
                    let error = Diagnostic::error(Code::DanglingReference, message);
                    let error = place.map_or(error.clone(), |place| error.at(place));
                    let help = "give the value an entry for each node, or lower the `count`";
                    found.push(error.help(help));
                    out.clone()
                })
            }
            _ => like(out, entries.iter().map(|(key, it)| (key.clone(), below(it))).collect()),
        },
        _ => out.clone(),
    }
}

/// The part of a value at a path that nothing but the indices of a node decides; that of a single
/// node is 0.
fn part_at<'a>(
    value: Out<'a>,
    mut path: impl Iterator<Item = Out<'a>>,
    is_single: bool,
) -> Option<Out<'a>> {
    let index = |name: &str, _: Option<Node<'_>>| {
        (is_single && name == "node_index").then(|| (Value::from(0), None::<PlainText>))
    };
    path.try_fold(value, |value, step| {
        let step = made(step, true)?;
        let step = evaluate(step.root().get(MADE)?, &index, &PlainText).ok()??;
        part(&value, &meant::literal(step))
    })
}
