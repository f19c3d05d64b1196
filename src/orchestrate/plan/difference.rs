//! Finds what differs between two variants: the effective operations, properties and types of their
//! nodes and relations, whether a template gives them or a type (section "From one variant to
//! another" of `docs/plans.md`).

use super::assigned::{EffectiveValues, NodeArtifact, have_same_defaults};
use super::behavior::{Behaviors, OF_RELATIONS, WrittenType};
use super::content::{CalledFile, Contents};
use super::model::{CallInput, CallOutput, ChangeClass, ChangeReason, PlanCall};
use super::weave::CallPlace;
use super::{Adaptation, VariantOrigin};
use crate::topology::diff::{Change, Edit, step};
use crate::topology::scope::TopologyScope;
use crate::topology::{NodeIndex, RelationIndex, Spanned};
use crate::tosca::LifecycleOperation as Operation;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// A difference at a node, with the class of change that it alone would give the node.
pub(super) type NodeDifference = (ChangeClass, ChangeReason);

/// A difference of a relation, with the node that has to be configured again because of it.
pub(super) type RelationDifference = (NodeIndex, ChangeReason);

/// Two variants that are compared.
pub(super) struct VariantComparison<'c, 'a, 'b> {
    from: &'c Behaviors<'c, 'a>,
    to: &'c Behaviors<'c, 'b>,
    /// For each node of the old variant, the template that it comes from.
    origins: &'c [VariantOrigin<'c, 'a>],
    contents: Contents<'c>,
    adaptation: &'c Adaptation,
    /// Whether two types give the same defaults, by the addresses of what they define.
    alike: RefCell<FxHashMap<[usize; 2], bool>>,
    /// The differences between calls that several nodes share, by the addresses of the calls.
    calls: RefCell<FxHashMap<[*const PlanCall; 2], ComparedCalls>>,
    scopes: OnceCell<(TopologyScope<'c, 'a>, TopologyScope<'c, 'b>)>,
}

/// Two calls with their differences. Keeping the calls here keeps their addresses valid.
struct ComparedCalls {
    _calls: [Option<Rc<PlanCall>>; 2],
    differences: Rc<[CallDifference]>,
}

/// A difference between two calls. The path of the reason begins at the operation.
#[derive(Clone)]
struct CallDifference {
    reason: ChangeReason,
    /// Whether it is one of what is run, not of what that is told.
    is_implementation: bool,
}

impl<'c, 'a, 'b> VariantComparison<'c, 'a, 'b> {
    pub(super) fn new(
        (from, origins): (&'c Behaviors<'c, 'a>, &'c [VariantOrigin<'c, 'a>]),
        to: &'c Behaviors<'c, 'b>,
        contents: Contents<'c>,
        adaptation: &'c Adaptation,
    ) -> Self {
        let (alike, calls, scopes) = (RefCell::default(), RefCell::default(), OnceCell::new());
        Self { from, to, origins, contents, adaptation, alike, calls, scopes }
    }

    /// What differs at a node that both variants have.
    pub(super) fn node(&self, old: NodeIndex, new: NodeIndex) -> Vec<NodeDifference> {
        let mut found = Vec::new();
        let has_other_type = self.node_type(old, new, &mut found);
        self.properties(old, new, &mut found);
        self.counts(old, new, &mut found);
        // Another type brings other operations and artifacts along.
        if !has_other_type {
            self.artifacts(old, new, &mut found);
            self.operations(old, new, &mut found);
        }
        let elements =
            (self.from.topology.node_identifier(old), self.to.topology.node_identifier(new));
        for (_, reason) in &mut found {
            reason.is_sensitive |=
                touches(self.from, &elements.0, reason) || touches(self.to, &elements.1, reason);
        }
        found
    }

    fn node_type(&self, old: NodeIndex, new: NodeIndex, found: &mut Vec<NodeDifference>) -> bool {
        let differ = other_type(self.from.written_type(old), self.to.written_type(new));
        let is_other = differ.is_some();
        found.extend(differ.map(|[from, to]| {
            let node = self.to.topology.node(new);
            let span = node.described.type_name.as_ref().map_or(node.span, |name| name.span);
            let (path, span) = ("type".to_owned(), Some(span));
            (ChangeClass::Recreate, ChangeReason { path, from, to, span, ..Default::default() })
        }));
        is_other
    }

    /// Finds other properties of a node and of its capabilities.
    fn properties(&self, old: NodeIndex, new: NodeIndex, found: &mut Vec<NodeDifference>) {
        let are_alike = self.have_same_defaults(old, new);
        let span = self.to.topology.node(new).span;
        let sides = (self.from.properties(old), self.to.properties(new));
        for (name, reason) in self.assigned("property", &sides, are_alike, span) {
            let recreates = self.to.recreates(new, name) || self.from.recreates(old, name);
            let class = if recreates { ChangeClass::Recreate } else { ChangeClass::Reconfigure };
            found.push((class, reason));
        }
        let mut names = self.to.capabilities(new);
        for name in self.from.capabilities(old) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let sides = (self.from.capability(old, name), self.to.capability(new, name));
            let path = format!("capability{}.property", step(name));
            let other = self.assigned(&path, &sides, are_alike, span).into_iter();
            found.extend(other.map(|(_, reason)| (ChangeClass::Reconfigure, reason)));
        }
    }

    /// The differences between assigned values and defaults, each with the name of the value. If
    /// all defaults are alike, only names with an assigned value can differ.
    fn assigned<'n>(
        &self,
        path: &str,
        (was, is): &(EffectiveValues<'n, 'a>, EffectiveValues<'n, 'b>),
        are_alike: bool,
        span: Span,
    ) -> Vec<(&'n str, ChangeReason)> {
        let mut names: Vec<&str> = is.names(are_alike).collect();
        for name in was.names(are_alike) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut found = Vec::new();
        for name in names {
            let (old, new) = (self.from.value_of(was, name), self.to.value_of(is, name));
            let span = new.as_ref().map_or(span, |(_, span)| *span);
            let old = old.as_ref().map(|(value, _)| self.renamed(value));
            let new = new.as_ref().map(|(value, _)| &**value);
            let path = format!("{path}{}", step(name));
            for change in self.to.differences(path.clone(), old.as_deref(), new) {
                let within = (&change.path[path.len()..], &change);
                let is_sensitive = self.from.is_sensitive(was, name, within)
                    || self.to.is_sensitive(is, name, within);
                found.push((name, ChangeReason { is_sensitive, ..edited(change, span) }));
            }
        }
        found
    }

    /// A value of the old variant, with the new names of nodes.
    fn renamed<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        match self.adaptation.moved.is_empty() {
            true => Cow::Borrowed(value),
            false => Cow::Owned(self.adaptation.rename(value)),
        }
    }

    fn have_same_defaults(&self, old: NodeIndex, new: NodeIndex) -> bool {
        match (self.from.effective(old), self.to.effective(new)) {
            (Some(was), Some(is)) => {
                let key = [std::ptr::from_ref(was).addr(), std::ptr::from_ref(is).addr()];
                *self.alike.borrow_mut().entry(key).or_insert_with(|| have_same_defaults(was, is))
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// Finds another number of instances.
    fn counts(&self, old: NodeIndex, new: NodeIndex, found: &mut Vec<NodeDifference>) {
        let (was, is) = (self.from.topology.node(old), self.to.topology.node(new));
        let copy = |copy: &Option<Box<Spanned<String>>>| {
            let said = copy.as_ref()?;
            Some(Box::new(Spanned { value: Value::from(&*said.value), span: said.span }))
        };
        let copies = (copy(&was.copy), copy(&is.copy));
        let count = if self.to.topology.is_2_0 { "count" } else { "instance_count" };
        for (path, was, is) in [
            (count, &was.instance_count, &is.instance_count),
            ("occurrences", &was.occurrences, &is.occurrences),
            ("copy", &copies.0, &copies.1),
        ] {
            let span = is.as_ref().map_or(self.to.topology.node(new).span, |is| is.span);
            let was = was.as_ref().map(|was| self.renamed(&was.value));
            let is = is.as_ref().map(|is| &is.value);
            let changes = self.to.differences(path.to_owned(), was.as_deref(), is).into_iter();
            let class = ChangeClass::Reconfigure;
            found.extend(changes.map(|change| (class, edited(change, span))));
        }
    }

    fn artifacts(&self, old: NodeIndex, new: NodeIndex, found: &mut Vec<NodeDifference>) {
        let (mut was, is) = (self.from.artifacts(old), self.to.artifacts(new));
        for is in &is {
            let known =
                was.iter().position(|was| was.name == is.name).map(|at| was.swap_remove(at));
            self.artifact(old, known.as_ref(), Some(is), found);
        }
        was.sort_by_key(|was| was.name);
        was.iter().for_each(|was| self.artifact(old, Some(was), None, found));
    }

    fn artifact(
        &self,
        old: NodeIndex,
        was: Option<&NodeArtifact<'_>>,
        is: Option<&NodeArtifact<'_>>,
        found: &mut Vec<NodeDifference>,
    ) {
        let Some(one) = is.or(was) else { return };
        let path = format!("artifact{}", step(one.name));
        let file = |of: Option<&NodeArtifact<'_>>| of.and_then(|it| it.file.clone());
        let (old_file, new_file) = (file(was), file(is));
        let (old_file, new_file) = (old_file.as_ref().map(named), new_file.as_ref().map(named));
        let origin = &self.origins[old.index()];
        let other = self.contents.differ(&format!("{path}.file"), origin, old_file, new_file);
        let old_rest = was.map(|was| self.renamed(&was.rest));
        let changes =
            self.to.differences(path, old_rest.as_deref(), is.map(|is| &is.rest)).into_iter();
        let changes = changes.map(|change| edited(change, one.span));
        let is_deployment = [was, is].into_iter().flatten().any(|it| it.is_deployment);
        let class = if is_deployment { ChangeClass::Recreate } else { ChangeClass::Reconfigure };
        found.extend(other.into_iter().chain(changes).map(|reason| (class, reason)));
    }

    fn operations(&self, old: NodeIndex, new: NodeIndex, found: &mut Vec<NodeDifference>) {
        for operation in Operation::STANDARD {
            let calls = [self.from.standard(old, operation), self.to.standard(new, operation)];
            let place = |host: Option<&str>| CallPlace::of_node(new, host);
            let path = format!("interfaces.Standard.{}", operation.as_str());
            for CallDifference { reason, is_implementation } in self.calls(old, calls, &place) {
                let recreates = operation == Operation::Create && is_implementation;
                let class =
                    if recreates { ChangeClass::Recreate } else { ChangeClass::Reconfigure };
                found.push((class, below(&path, reason)));
            }
        }
        let mut names = self.to.other_operations(new);
        for name in self.from.other_operations(old) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for (interface, operation) in names {
            let calls = [
                self.from.operation(old, &interface, &operation),
                self.to.operation(new, &interface, &operation),
            ];
            let place = |host: Option<&str>| CallPlace::of_node(new, host);
            let path = format!("interfaces{}{}", step(&interface), step(&operation));
            let differences = self.calls(old, calls.map(|call| call.map(Rc::new)), &place);
            let class = ChangeClass::Reconfigure;
            found.extend(differences.into_iter().map(|it| (class, below(&path, it.reason))));
        }
    }

    /// What differs at a relation that both variants have.
    pub(super) fn relation(
        &self,
        old: RelationIndex,
        new: RelationIndex,
    ) -> Vec<RelationDifference> {
        let relation = self.to.topology.relation(new);
        let source = relation.source;
        let mut found: Vec<RelationDifference> = Vec::new();
        let was = self.from.written_relationship(old);
        let differ = other_type(was, self.to.written_relationship(new));
        found.extend(differ.map(|[from, to]| {
            let (path, span) = ("type".to_owned(), Some(relation.span));
            (source, ChangeReason { path, from, to, span, ..Default::default() })
        }));
        let sides = (self.from.relation_properties(old), self.to.relation_properties(new));
        let other = self.assigned("property", &sides, false, relation.span).into_iter();
        found.extend(other.map(|(_, reason)| (source, reason)));
        found.extend(self.capability(old, new).map(|reason| (source, reason)));
        for operation in OF_RELATIONS {
            self.relation_operation(old, new, operation, &mut found);
        }
        found
    }

    fn relation_operation(
        &self,
        old: RelationIndex,
        new: RelationIndex,
        operation: Operation,
        found: &mut Vec<RelationDifference>,
    ) {
        let relation = self.to.topology.relation(new);
        let place = |host: Option<&str>| CallPlace::of_relation(relation, operation, host);
        let source = self.from.topology.relation(old).source;
        let calls = [self.from.relation(old, operation), self.to.relation(new, operation)];
        let differences = self.calls(source, calls, &place);
        if differences.is_empty() {
            return;
        }
        let path = format!("interfaces.Configure.{}", operation.as_str());
        let written =
            [self.from.written_relation(old, operation), self.to.written_relation(new, operation)];
        let written = self.calls(source, written, &place);
        for CallDifference { reason, .. } in differences {
            // A value that is only another one because its source is reaches who is told it.
            let is_said = written.iter().any(|it| it.reason.path == reason.path);
            let node = match is_said {
                true => Some(relation.source),
                false => configured_with(operation, relation.source, relation.target),
            };
            found.extend(node.map(|node| (node, below(&path, reason))));
        }
    }

    /// Another capability of the target by which a relation fulfils its requirement.
    fn capability(&self, old: RelationIndex, new: RelationIndex) -> Option<ChangeReason> {
        let scopes = || {
            (
                TopologyScope::of(self.from.topology, self.from.types()),
                TopologyScope::of(self.to.topology, self.to.types()),
            )
        };
        let (from, to) = self.scopes.get_or_init(scopes);
        let (was, is) = (self.from.fulfilling(from, old), self.to.fulfilling(to, new));
        let list = |names: Vec<&str>| match &names[..] {
            [one] => Value::from(*one),
            names => names.iter().map(|name| Value::from(*name)).collect::<Vec<_>>().into(),
        };
        (was != is).then(|| ChangeReason {
            path: "capability".to_owned(),
            from: Some(list(was)),
            to: Some(list(is)),
            span: Some(self.to.topology.relation(new).span),
            ..ChangeReason::default()
        })
    }

    /// The differences between two calls. `node` is the one of the old variant whose template names
    /// the files, and `place` tells where a call would run in the new one.
    fn calls(
        &self,
        node: NodeIndex,
        calls: [Option<Rc<PlanCall>>; 2],
        place: &dyn Fn(Option<&str>) -> CallPlace,
    ) -> Vec<CallDifference> {
        if calls.iter().all(Option::is_none) {
            return Vec::new();
        }
        // A call that nobody else has is not met again, and a host has a meaning at each node.
        let is_shared = |call: &Option<Rc<PlanCall>>| {
            call.as_ref().is_none_or(|call| Rc::strong_count(call) > 1 && call.host.is_none())
        };
        if !calls.iter().all(is_shared) {
            return self.compared(node, &calls, place);
        }
        let address =
            |call: &Option<Rc<PlanCall>>| call.as_ref().map_or(std::ptr::null(), Rc::as_ptr);
        let key = [address(&calls[0]), address(&calls[1])];
        if let Some(known) = self.calls.borrow().get(&key) {
            return known.differences.to_vec();
        }
        let differences: Rc<[_]> = self.compared(node, &calls, place).into();
        let compared = ComparedCalls { _calls: calls, differences: Rc::clone(&differences) };
        self.calls.borrow_mut().insert(key, compared);
        differences.to_vec()
    }

    fn compared<'r>(
        &self,
        node: NodeIndex,
        calls: &'r [Option<Rc<PlanCall>>; 2],
        place: &dyn Fn(Option<&str>) -> CallPlace,
    ) -> Vec<CallDifference> {
        let [was, is] = [0, 1].map(|at| calls[at].as_deref());
        let origin = &self.origins[node.index()];
        let file = |call: Option<&'r PlanCall>| call.and_then(PlanCall::file);
        let mut found = Vec::new();
        let mut push = |is_implementation: bool, reason: ChangeReason| {
            found.push(CallDifference { reason, is_implementation });
        };
        let other = self.contents.differ("implementation", origin, file(was), file(is));
        other.into_iter().for_each(|reason| push(true, reason));
        // What was not run before, or is not run any more, differs by that.
        if let (Some(was), Some(is)) = (was, is)
            && was.primary.is_some() == is.primary.is_some()
        {
            self.implementations(origin, (was, is), place)
                .into_iter()
                .for_each(|it| push(true, it));
            self.told(was, is).into_iter().for_each(|reason| push(false, reason));
        }
        found
    }

    /// What differs in how two implementations run.
    fn implementations(
        &self,
        origin: &VariantOrigin<'_, '_>,
        (was, is): (&PlanCall, &PlanCall),
        place: &dyn Fn(Option<&str>) -> CallPlace,
    ) -> Vec<ChangeReason> {
        let (old, new): (Vec<_>, Vec<_>) = (was.needed().collect(), is.needed().collect());
        let needed = (0..old.len().max(new.len())).filter_map(|at| {
            let path = format!("implementation.dependencies[{at}]");
            self.contents.differ(&path, origin, old.get(at).copied(), new.get(at).copied())
        });
        let mut found: Vec<_> = needed.collect();
        let kind = |call: &PlanCall| call.primary_type.as_deref().map(Value::from);
        for (path, from, to) in [
            ("implementation.type", kind(was).as_ref(), kind(is).as_ref()),
            ("implementation.timeout", was.timeout.as_ref(), is.timeout.as_ref()),
        ] {
            let changes = self.to.differences(path.to_owned(), from, to).into_iter();
            found.extend(changes.map(|change| edited(change, is.span)));
        }
        let [from, to] = [was, is].map(|call| self.to.place_of(place(call.host.as_deref())));
        if from != to {
            let said = |call: &PlanCall| call.host.as_deref().map(Value::from);
            found.push(ChangeReason {
                path: "implementation.operation_host".to_owned(),
                from: said(was),
                to: said(is),
                span: Some(is.span),
                ..ChangeReason::default()
            });
        }
        found
    }

    /// What differs in what two calls are told, and in what becomes of what they tell.
    fn told(&self, was: &PlanCall, is: &PlanCall) -> Vec<ChangeReason> {
        let mut found = Vec::new();
        let gone = was.inputs.iter().filter(|old| is.inputs.iter().all(|new| new.name != old.name));
        for name in is.inputs.iter().chain(gone).map(|input| &input.name) {
            let of = |call: &'_ PlanCall| call.inputs.iter().position(|input| input.name == *name);
            let (old, new) = (of(was).map(|at| &was.inputs[at]), of(is).map(|at| &is.inputs[at]));
            let path = new.or(old).map_or_else(String::new, CallInput::path);
            let from = old.map(|input| self.renamed(&input.value));
            let changes = self.to.differences(path, from.as_deref(), new.map(|input| &input.value));
            let is_sensitive = [old, new].into_iter().flatten().any(|input| input.is_sensitive);
            let span = new.map_or(is.span, |input| input.span);
            let reason = |change| ChangeReason { is_sensitive, ..edited(change, span) };
            found.extend(changes.into_iter().map(reason));
        }
        let changes =
            self.to.differences("outputs".to_owned(), Some(&outputs(was)), Some(&outputs(is)));
        found.extend(changes.into_iter().map(|change| edited(change, is.span)));
        found
    }
}

/// Whether a difference touches a secret of an element of a variant.
fn touches(behaviors: &Behaviors<'_, '_>, element: &str, reason: &ChangeReason) -> bool {
    let mut values = [&reason.from, &reason.to].into_iter().flatten();
    values.any(|value| behaviors.secrets().touches(element, &reason.path, value))
}

/// The outputs of a call with the attributes that they are assigned to, as data.
fn outputs(call: &PlanCall) -> Value {
    let output = |output: &CallOutput| {
        let own = [Some(&output.entity), output.capability.as_ref(), Some(&output.attribute)];
        let own = own.into_iter().flatten().map(|name| Value::from(&**name));
        let path: Vec<_> = own.chain(output.path.iter().cloned()).collect();
        (output.name.as_str().into(), path.into())
    };
    Value::Map(call.outputs.iter().map(output).collect())
}

/// The names of two types, if these are not the same.
pub(super) fn other_type(
    was: Option<WrittenType<'_, '_>>,
    is: Option<WrittenType<'_, '_>>,
) -> Option<[Option<Value>; 2]> {
    let full = |one: WrittenType<'_, '_>| match one.id {
        Some(id) => one.types.told_name(id).into_owned(),
        None => one.said.to_owned(),
    };
    let said = |one: WrittenType<'_, '_>| one.said.to_owned();
    let are_same = match (was, is) {
        (Some(WrittenType { types, id: Some(id), .. }), Some(is)) if is.id.is_some() => {
            is.id.is_some_and(|other| types.is_same(id, (is.types, other)))
        }
        _ => was.map(full) == is.map(full),
    };
    if are_same {
        return None;
    }
    let names = match was.map(said) == is.map(said) {
        true => [was.map(full), is.map(full)],
        false => [was.map(said), is.map(said)],
    };
    Some(names.map(|name| name.map(|name| Value::from(&*name))))
}

/// The node that is configured with an operation of a relation.
pub(super) fn configured_with(
    operation: Operation,
    source: NodeIndex,
    target: Option<NodeIndex>,
) -> Option<NodeIndex> {
    match operation {
        Operation::PreConfigureSource | Operation::PostConfigureSource => Some(source),
        Operation::PreConfigureTarget | Operation::PostConfigureTarget => target,
        _ => None,
    }
}

fn named(file: &Spanned<String>) -> CalledFile<'_> {
    (&file.value, file.span)
}

/// The reason with its path below another one.
fn below(path: &str, reason: ChangeReason) -> ChangeReason {
    ChangeReason { path: format!("{path}.{}", reason.path), ..reason }
}

/// A change as a reason.
pub(super) fn edited(change: Change, span: Span) -> ChangeReason {
    let (from, to) = match change.edit {
        Edit::Added { to } => (None, Some(to)),
        Edit::Removed { from } => (Some(from), None),
        Edit::Changed { from, to } => (Some(from), Some(to)),
    };
    ChangeReason { path: change.path, from, to, span: Some(span), ..ChangeReason::default() }
}
