//! Warns of operations that use values before they exist (statement O2).

use super::behavior::Behaviors;
use super::model::{CallInput, Plan, PlanElementIndex, StepWork};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::tosca::LifecycleOperation;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// Warns of attributes and outputs that operations of a deploying plan use too early. `is_ignored`
/// marks the relations that order nothing.
pub(super) fn premature(
    behaviors: &Behaviors<'_, '_>,
    is_ignored: &[bool],
    plan: &Plan,
    found: &mut Diagnostics,
) {
    let asks = plan.steps.iter().filter_map(|step| {
        let (StepWork::Operation(operation), Some(call)) = (step.work, step.call) else {
            return None;
        };
        Some((step.element?, operation, &plan.calls[call.index()].inputs))
    });
    let mut check = None;
    for (element, operation, inputs) in asks {
        for input in inputs {
            let mut asked = Vec::new();
            functions(&input.value, &mut asked);
            if asked.is_empty() {
                continue;
            }
            let check = check.get_or_insert_with(|| Premature::of(behaviors, is_ignored, plan));
            let early = asked.into_iter().find_map(|asked| check.early(element, operation, &asked));
            found.0.extend(early.map(|what| warning(&what, operation, input)));
        }
    }
}

/// A function call whose value is only known at run time: its name and arguments.
struct RuntimeCall<'v> {
    name: &'v str,
    arguments: &'v [Value],
}

/// An element that a path leads to.
#[derive(Clone, Copy)]
enum ReachedEnd {
    Node(NodeIndex),
    Relation(RelationIndex),
}

fn functions<'v>(value: &'v Value, found: &mut Vec<RuntimeCall<'v>>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| functions(item, found)),
        Value::Map(entries) => {
            if let [(name, Value::List(arguments))] = &**entries
                && let name = name.strip_prefix('$').unwrap_or(name)
                && matches!(name, "get_attribute" | "get_operation_output")
            {
                found.push(RuntimeCall { name, arguments });
            }
            entries.iter().for_each(|(_, value)| functions(value, found));
        }
        _ => {}
    }
}

fn warning(what: &str, operation: LifecycleOperation, input: &CallInput) -> Diagnostic {
    let message = format!("`{}` uses {what}, which has no value yet", operation.as_str());
    Diagnostic::warning(Code::AttributeBefore, message)
        .at(input.span)
        .section("7.3")
        .help("use it in a later operation, or add a relation that orders the two")
}

struct Premature<'p, 't, 'a> {
    behaviors: &'p Behaviors<'t, 'a>,
    is_ignored: &'p [bool],
    plan: &'p Plan,
    nodes: FxHashMap<String, NodeIndex>,
    relations: FxHashMap<String, RelationIndex>,
}

impl<'p, 't, 'a> Premature<'p, 't, 'a> {
    fn of(behaviors: &'p Behaviors<'t, 'a>, is_ignored: &'p [bool], plan: &'p Plan) -> Self {
        let topology = behaviors.topology;
        let nodes = topology.node_ids().map(|id| (topology.node_identifier(id), id));
        let relations = topology.relation_ids().map(|id| (topology.relation_identifier(id), id));
        Self { behaviors, is_ignored, plan, nodes: nodes.collect(), relations: relations.collect() }
    }

    fn topology(&self) -> &'t Topology {
        self.behaviors.topology
    }

    /// The value that an operation uses before it exists, in words.
    fn early(
        &self,
        element: PlanElementIndex,
        operation: LifecycleOperation,
        asked: &RuntimeCall<'_>,
    ) -> Option<String> {
        let identifier = &self.plan.element(element).identifier;
        let own_relation = self.relations.get(identifier).copied();
        let relation = own_relation.map(|id| self.topology().relation(id));
        // The node in whose life cycle the operation runs.
        let own = match relation {
            Some(relation) if operation.is_at_target() && !tells(operation) => relation.target?,
            Some(relation) => relation.source,
            None => *self.nodes.get(identifier)?,
        };
        let (entity, arguments) = asked.arguments.split_first()?;
        let first = match (entity.as_str()?, relation) {
            ("SELF", None) => ReachedEnd::Node(own),
            ("SELF", Some(_)) => ReachedEnd::Relation(own_relation?),
            ("SOURCE", Some(relation)) => ReachedEnd::Node(relation.source),
            ("TARGET", Some(relation)) => ReachedEnd::Node(relation.target?),
            ("SOURCE" | "TARGET" | "HOST", _) => return None,
            (name, _) => ReachedEnd::Node(self.topology().node_named(name)?),
        };
        let meant = self.end(first, arguments)?;
        let is_there = match (meant == own, asked.name) {
            (true, "get_operation_output") => {
                let [.., said, _] = arguments else { return None };
                let said = said.as_str()?;
                let order = |one: LifecycleOperation| {
                    LifecycleOperation::STANDARD.iter().position(|known| *known == one)
                };
                let before = LifecycleOperation::standard(said).and_then(order);
                let now = order(operation);
                before.zip(now).is_none_or(|(before, now)| before < now)
            }
            (true, _) => operation != LifecycleOperation::Create,
            (false, _) => self.comes_first(meant, own) || tells(operation) && relation.is_some(),
        };
        let name = &self.topology().node(meant).name;
        let last = arguments.iter().rev().find_map(Value::as_str).unwrap_or_default();
        (!is_there).then(|| match asked.name {
            "get_attribute" => format!("the attribute `{last}` of `{name}`"),
            _ => format!("the output `{last}` of `{name}`"),
        })
    }

    /// The node at the end of a path; `None` where it may lead to several, or leads to none.
    fn end(&self, mut place: ReachedEnd, mut path: &[Value]) -> Option<NodeIndex> {
        let topology = self.topology();
        let leading = |node: NodeIndex, name: &str| {
            let relations = topology.node(node).relations.iter().copied();
            relations.filter(|&id| topology.relation(id).name == name).collect::<Vec<_>>()
        };
        loop {
            let (word, rest) = path.split_first()?;
            (place, path) = match (place, word.as_str()?, rest) {
                (ReachedEnd::Node(node), "RELATIONSHIP", [name, rest @ ..]) => {
                    let all = leading(node, name.as_str()?);
                    let (at, rest) = match rest {
                        [Value::Number(index), rest @ ..] => (index.as_int()?, rest),
                        [all, ..] if all.as_str() == Some("ALL") => return None,
                        rest => (0, rest),
                    };
                    (ReachedEnd::Relation(*all.get(usize::try_from(at).ok()?)?), rest)
                }
                (ReachedEnd::Node(node), "CAPABILITY", [_, next, ..]) => {
                    return (next.as_str() != Some("RELATIONSHIP")).then_some(node);
                }
                // In version 1.3 the name of a requirement leads to its target.
                (ReachedEnd::Node(node), name, rest) => {
                    let through = leading(node, name).first().copied().filter(|_| !rest.is_empty());
                    let target = through.map(|id| topology.relation(id).target);
                    return target.unwrap_or(Some(node));
                }
                (ReachedEnd::Relation(id), "SOURCE", rest) => {
                    (ReachedEnd::Node(topology.relation(id).source), rest)
                }
                (ReachedEnd::Relation(id), "TARGET", rest) => {
                    (ReachedEnd::Node(topology.relation(id).target?), rest)
                }
                (ReachedEnd::Relation(id), "CAPABILITY", _) => {
                    return topology.relation(id).target;
                }
                (ReachedEnd::Relation(_), ..) => return None,
            };
        }
    }

    /// Whether a node is started before another one is created.
    fn comes_first(&self, node: NodeIndex, before: NodeIndex) -> bool {
        let topology = self.topology();
        let mut seen = FxHashSet::default();
        let mut open = Vec::from([before]);
        while let Some(next) = open.pop() {
            if next == node {
                return true;
            }
            if seen.insert(next) {
                let relations = topology.node(next).relations.iter().copied();
                let ordering = relations
                    .filter(|&id| !self.is_ignored[id.index()] && self.behaviors.is_ordering(id));
                open.extend(ordering.filter_map(|id| topology.relation(id).target));
            }
        }
        self.behaviors.is_selected(node)
    }
}

/// Whether an operation of a relation runs when both ends are started.
fn tells(operation: LifecycleOperation) -> bool {
    use LifecycleOperation as Operation;
    matches!(
        operation,
        Operation::AddTarget
            | Operation::AddSource
            | Operation::TargetChanged
            | Operation::RemoveTarget
            | Operation::RemoveSource
    )
}
