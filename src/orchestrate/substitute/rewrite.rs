//! Rewrites values and names of a template for their new place: functions that name a replaced
//! node, inputs of substituting templates, names of nodes and files.

use super::candidate::{FedInput, default_of, mapped_value, value_of_type};
use super::flatten::{ChosenCandidate, Flattening, RelationPlace};
use super::path::InputDefaults;
use super::view::{entry, key_span};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::tree::{entries, items, key_name, like, like_list, set, within_topology};
use crate::topology::Topology;
use crate::topology::scope::TopologyScope;
use crate::tosca::evaluate::{EvaluatorState, FunctionEvaluator};
use crate::tosca::function::{Function, asks_for};
use crate::tosca::meant;
use crate::tosca::substitution::MappedPart;
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey, OutNode};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};

/// The types whose values mean what they are.
const PLAIN_TYPES: [&str; 4] = ["boolean", "float", "integer", "string"];

/// How deep the defaults of inputs may refer to other inputs.
pub(super) const DEPTH: usize = 64;

/// The place of something that is rewritten.
#[derive(Clone, Copy, Debug)]
pub(super) enum WrittenIn<'s> {
    /// In the template whose nodes are replaced; at this node, if it is at one.
    Outer(Option<&'s str>),
    /// In the requirement assignment of this node at this position, where `SELF` is the
    /// relationship.
    Assigned(&'s str, usize),
    /// In a substituting template, given by the position of its choice; there in a workflow with
    /// these inputs, which count before those of the template.
    Inner(usize, &'s [String]),
}

/// What calls ask of a replaced node and its template, once one of them does.
#[derive(Default)]
pub(super) struct GivenTopology {
    /// The names of the inputs whose types say what their texts mean.
    typed: OnceCell<Vec<String>>,
    /// The topology of the template, whose inputs have the values that they get here.
    topology: OnceCell<Topology>,
    is_asked: Cell<bool>,
    /// For each requirement of the replaced node where its relations are in the result.
    pub(super) places: OnceCell<FxHashMap<String, Vec<Option<RelationPlace>>>>,
}

impl<'f, 't, 'a> Flattening<'f, 't, 'a> {
    /// A value, rewritten for its new place.
    pub(super) fn value(&self, out: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        self.changed(out, at, DEPTH).unwrap_or_else(|| out.clone())
    }

    /// The rewritten value, if it differs from the old one.
    pub(super) fn changed(
        &self,
        out: &Out<'a>,
        at: WrittenIn<'_>,
        depth: usize,
    ) -> Option<Out<'a>> {
        match out {
            Out::Source(node) if node.kind() == NodeKind::Scalar => {
                self.renamed(*node, at).or_else(|| self.index(out, at))
            }
            Out::Lifted(key, inner) => {
                Some(Out::Lifted(*key, Box::new(self.changed(inner, at, depth)?)))
            }
            Out::Below(gone, inner) => {
                Some(Out::Below(gone.clone(), Box::new(self.changed(inner, at, depth)?)))
            }
            Out::String(_) | Out::Later(_) | Out::Cases(_) => None,
            _ => match OutNode::root(out).kind() {
                NodeKind::Scalar => self.index(out, at),
                NodeKind::Sequence => self.changed_list(out, at, depth),
                NodeKind::Mapping => self.changed_map(out, at, depth),
            },
        }
    }

    /// The index of a replaced node, or of one of its relations, where a value asks for it: what takes
    /// its place has another one.
    fn index(&self, out: &Out<'a>, at: WrittenIn<'_>) -> Option<Out<'a>> {
        let (WrittenIn::Outer(Some(node)) | WrittenIn::Assigned(node, _)) = at else { return None };
        let is_replaced = self.outer.is_2_0 && self.by_node.contains_key(node);
        if is_replaced { self.computed(InputDefaults::Open, out, at) } else { None }
    }

    fn renamed(&self, node: Node<'a>, at: WrittenIn<'_>) -> Option<Out<'a>> {
        let WrittenIn::Inner(chosen, _) = at else { return None };
        let name = self.chosen[chosen].template.names.get(&node.identity())?;
        Some(Out::String(name.clone().into()))
    }

    fn changed_list(&self, out: &Out<'a>, at: WrittenIn<'_>, depth: usize) -> Option<Out<'a>> {
        let mut is_changed = false;
        let all = super::view::listed(out).into_iter().map(|(owner, item)| {
            let changed = self.changed(&item, at, depth);
            is_changed |= changed.is_some();
            (owner, changed.unwrap_or(item))
        });
        let all: Vec<_> = all.collect();
        is_changed.then(|| like_list(out, all))
    }

    fn changed_map(&self, out: &Out<'a>, at: WrittenIn<'_>, depth: usize) -> Option<Out<'a>> {
        if let WrittenIn::Inner(chosen, own) = at
            && let Some(value) = self.typed(out, chosen, own, depth)
        {
            return Some(value);
        }
        let mut all = entries(out);
        if let [(key, operand)] = &*all
            && let Some(function) = self.outer.function(&key_name(key))
        {
            // Afterwards a path that leads through a replaced node would lead elsewhere.
            let is_through = function == Function::GetProperty && self.leads_through(operand, at);
            let known = if is_through { self.computed(InputDefaults::Open, out, at) } else { None };
            let is_path = matches!(function, Function::GetProperty | Function::GetAttribute);
            let all = || if is_path { self.of_all(key, operand, at, depth) } else { None };
            let called = known.or_else(all);
            let called = called.or_else(|| self.call(function, key, operand, at, depth));
            if called.is_some() {
                return called;
            }
        }
        let mut is_changed = false;
        for (key, value) in &mut all {
            // Descriptions are for people and contain no functions.
            if key_name(key) == "description" {
                continue;
            }
            if let Some(changed) = self.changed(value, at, depth) {
                (*value, is_changed) = (changed, true);
            }
        }
        is_changed.then(|| like(out, all))
    }

    /// The result of a function call, if its operand is not simply rewritten.
    fn call(
        &self,
        function: Function,
        key: &OutKey<'a>,
        operand: &Out<'a>,
        at: WrittenIn<'_>,
        depth: usize,
    ) -> Option<Out<'a>> {
        let place = match key_span(key) {
            span if span.is_detached() => OutNode::root(operand).span(),
            span => span,
        };
        match (function, at) {
            (Function::GetInput, WrittenIn::Inner(chosen, own)) => {
                let mut path = items(operand).into_iter();
                let input = path.next().unwrap_or_else(|| operand.clone());
                let name = OutNode::root(&input).text();
                if name.is_some_and(|name| own.iter().any(|own| *own == *name)) {
                    return None;
                }
                let rest: Vec<_> = path.map(|step| self.path_step(step, at, depth)).collect();
                Some(self.input(chosen, &input, &rest, place, depth))
            }
            (
                Function::GetProperty
                | Function::GetAttribute
                | Function::GetArtifact
                | Function::GetOperationOutput,
                _,
            ) => self.of_entity(function, key, operand, place, at, depth),
            _ => None,
        }
    }

    /// The value of a call in a substituting template of TOSCA 2.0 that asks for an input whose type
    /// says what its texts mean, as that of versions does. Nothing would say so of the input's value.
    fn typed(
        &self,
        call: &Out<'a>,
        chosen: usize,
        own: &[String],
        depth: usize,
    ) -> Option<Out<'a>> {
        let node = OutNode::root(call).source().filter(|node| v2_0::is_of(node.document()))?;
        v2_0::called(node).filter(|(name, _)| depth > 0 && *name != "get_input")?;
        let typed = self.typed_inputs(chosen).iter().map(|name| &**name);
        let typed: Vec<&str> = typed.filter(|name| own.iter().all(|own| own != name)).collect();
        // What needs an input that is just being asked is rewritten as it is written.
        if !asks_for(node, &typed) || self.given[chosen].is_asked.get() {
            return None;
        }
        let scope = TopologyScope::of(self.given(chosen), self.types);
        let mut evaluator = FunctionEvaluator::new(&scope, EvaluatorState::default());
        let value = evaluator.evaluate(node, None).ok().flatten()?;
        Some(Out::Value(meant::literal(value)))
    }

    fn typed_inputs(&self, chosen: usize) -> &[String] {
        self.given[chosen].typed.get_or_init(|| {
            let inputs = self.chosen[chosen].variant.view.section("inputs");
            let is_typed = |(_, body): &(OutKey<'a>, Out<'a>)| {
                let kind = entry(body, "type");
                let kind = kind.as_ref().and_then(|kind| OutNode::root(kind).text());
                kind.is_some_and(|kind| !PLAIN_TYPES.contains(&&*kind))
            };
            let typed = inputs.iter().flat_map(entries).filter(is_typed);
            typed.map(|(key, _)| key_name(&key).into_owned()).collect()
        })
    }

    /// The topology of a substituting template whose inputs have the values that they get here.
    fn given(&self, chosen: usize) -> &Topology {
        let GivenTopology { topology, is_asked, .. } = &self.given[chosen];
        topology.get_or_init(|| {
            is_asked.set(true);
            // What is wrong with a value is reported where it is asked for.
            let found = self.found.take();
            let document = &self.chosen[chosen].variant.view.document;
            let document = within_topology(document, &mut |section, body| {
                if section != "inputs" {
                    return body.clone();
                }
                let inputs = entries(body).into_iter().map(|(key, declaration)| {
                    let name = Out::String(key_name(&key).into_owned().into());
                    let mut all = entries(&declaration);
                    let value = self.input(chosen, &name, &[], Span::DETACHED, DEPTH);
                    set(&mut all, "value", |_| Some(value));
                    (key, like(&declaration, all))
                });
                like(body, inputs.collect())
            });
            self.found.replace(found);
            is_asked.set(false);
            Topology::read(&document, &|_| false)
        })
    }

    /// The value of an input of a substituting template: that of a property of the replaced node,
    /// otherwise its default.
    fn input(
        &self,
        chosen: usize,
        input: &Out<'a>,
        path: &[Out<'a>],
        place: Span,
        depth: usize,
    ) -> Out<'a> {
        let candidate = &self.chosen[chosen];
        let declared = candidate.variant.view.section("inputs").map(|it| entries(&it));
        let mut declared = declared.unwrap_or_default().into_iter();
        let found = match OutNode::root(input).to_value() {
            Value::Number(position) => position
                .as_int()
                .and_then(|position| usize::try_from(position).ok())
                .and_then(|position| declared.nth(position)),
            value => declared.find(|(key, _)| Some(&*key_name(key)) == value.as_str()),
        };
        let Some((key, declaration)) = found else {
            self.dangles(place, "the template has no such input");
            return Out::Value(Value::Null);
        };
        let value = match candidate.fit.inputs.get(&*key_name(&key)) {
            Some(FedInput::Property(name)) => self.property_of(chosen, name, depth),
            Some(FedInput::Part(mapping)) => self.part_value(chosen, *mapping, depth),
            None => default_of(&declaration).map(|default| {
                let at = WrittenIn::Inner(chosen, &[]);
                let changed = depth.checked_sub(1).and_then(|it| self.changed(&default, at, it));
                changed.unwrap_or(default)
            }),
        };
        let value = value.unwrap_or(Out::Value(Value::Null));
        self.at_path(value, path, place)
    }

    /// The value of a property of a replaced node: the assigned one, otherwise that of its type.
    fn property_of(&self, chosen: usize, property: &str, depth: usize) -> Option<Out<'a>> {
        let ChosenCandidate { node, template, .. } = &self.chosen[chosen];
        let node = &self.outer.nodes[*node];
        if let Some(own) = node.property(property) {
            let depth = depth.checked_sub(1)?;
            let at = WrittenIn::Outer(Some(&node.name));
            return Some(self.changed(&own, at, depth).unwrap_or(own));
        }
        let kind = node.kind?;
        let given = value_of_type(self.types, [kind, template.kind.unwrap_or(kind)], property)?;
        let given = Out::Value(given.to_value());
        let depth = depth.checked_sub(1)?;
        Some(self.changed(&given, WrittenIn::Outer(Some(&node.name)), depth).unwrap_or(given))
    }

    /// The value of a property of a part of a replaced node.
    fn part_value(&self, chosen: usize, mapping: usize, depth: usize) -> Option<Out<'a>> {
        let candidate = &self.chosen[chosen];
        let mapping = candidate.template.substitution.part_properties.get(mapping)?;
        let node = &self.outer.nodes[candidate.node];
        let relationships = self.outer.section("relationship_templates");
        let depth = depth.checked_sub(1)?;
        let own = |value: Out<'a>, relation: Option<usize>| {
            let at = relation.map(|position| WrittenIn::Assigned(&node.name, position));
            let at = at.unwrap_or(WrittenIn::Outer(Some(&node.name)));
            self.changed(&value, at, depth).unwrap_or(value)
        };
        mapped_value(self.types, node, relationships.as_ref(), mapping, &own)
    }

    /// A call whose first argument names a node.
    fn of_entity(
        &self,
        function: Function,
        key: &OutKey<'a>,
        operand: &Out<'a>,
        place: Span,
        at: WrittenIn<'_>,
        depth: usize,
    ) -> Option<Out<'a>> {
        let direct = self.direct(operand, at);
        let path = direct.clone().unwrap_or_else(|| items(operand));
        let (first, rest) = path.split_first()?;
        let first = self.path_step(first.clone(), at, depth);
        let name = OutNode::root(&first).text()?.into_owned();
        let again = |parts: Vec<Out<'a>>| {
            let all = parts.into_iter().map(|part| (None, part)).collect();
            let list = match operand {
                Out::Source(like) => Out::Seq { items: all, like: Some(*like) },
                _ => Out::Seq { items: all, like: None },
            };
            Out::Map { entries: vec![(key.clone(), list)].into(), like: None }
        };
        let node = match at {
            WrittenIn::Inner(chosen, _) => {
                let new = match self.names[chosen].get(&name) {
                    Some(new) => new.clone(),
                    None if self.is_relationship(chosen, &name) => self.prefixed(chosen, &name),
                    None => return None,
                };
                let new = Out::String(new.into());
                let rest: Vec<_> = rest.iter().map(|part| self.value(part, at)).collect();
                return Some(again(std::iter::once(new).chain(rest).collect()));
            }
            WrittenIn::Outer(here) if name == "SELF" => here?,
            _ => &*name,
        };
        let Some(&chosen) = self.by_node.get(node) else { return direct.map(again) };
        let rest: Vec<_> =
            rest.iter().map(|step| self.path_step(step.clone(), at, depth)).collect();
        let candidate = &self.chosen[chosen];
        let text = |step: &Out<'a>| Some(OutNode::root(step).text()?.into_owned());
        let (word, start) = self.outer.context(&|at| text(rest.get(at)?));
        let (part, rest) = rest.get(start..)?.split_first()?;
        let part = text(part)?;
        let of = |[node, part]: [&str; 2], rest: &[Out<'a>]| {
            let names = [Some(node), word, Some(part)].into_iter().flatten();
            let names = names.map(|name| Out::String(name.to_owned().into()));
            again(names.chain(rest.iter().cloned()).collect())
        };
        let may_be = |kind: &str| word.is_none_or(|word| word == kind);
        if function == Function::GetAttribute {
            let value = match word {
                None => self.attribute_of(chosen, &part, rest, place, &of),
                Some(word) => self.part_attribute(chosen, [word, &part], rest, place),
            };
            if value.is_some() {
                return value;
            }
        }
        if matches!(function, Function::GetProperty | Function::GetAttribute) {
            if word.is_none()
                && let Some(value) = self.property_of(chosen, &part, depth)
            {
                return Some(self.at_path(value, rest, place));
            }
            let capability = candidate.fit.capabilities.get(&part);
            if let Some((inner, capability)) = capability.filter(|_| may_be("CAPABILITY")) {
                let inner = self.names[chosen].get(inner)?;
                return Some(of([inner, capability], rest));
            }
            if word == Some("RELATIONSHIP")
                && let Some(path) = self.of_relation(chosen, &part, rest)
            {
                return Some(again(path));
            }
            let mapped = candidate.fit.requirements.iter().find(|it| it.name == part);
            let mapped = mapped.filter(|_| may_be("RELATIONSHIP"));
            let first = mapped.and_then(|it| it.mappings.first()).and_then(|it| it.targets.first());
            if let Some((inner, requirement)) = first {
                let inner = self.names[chosen].get(inner)?;
                return Some(of([inner, requirement], rest));
            }
        }
        let message = format!("the template for node \"{node}\" does not map its `{part}`");
        self.dangles(place, &message);
        None
    }

    /// The path to a relation of a replaced node, or behind it, in the result. An index of 0 stays as
    /// it is written.
    fn of_relation(
        &self,
        chosen: usize,
        requirement: &str,
        rest: &[Out<'a>],
    ) -> Option<Vec<Out<'a>>> {
        let index = rest.first().and_then(|step| OutNode::root(step).text()?.parse().ok());
        let place = self.relation_place(chosen, requirement, index.unwrap_or(0))?;
        let names = [&*place.node, "RELATIONSHIP", &place.requirement];
        let names = names.map(|name| Out::String(name.to_owned().into()));
        let new = i64::try_from(place.index).ok()?;
        let is_written = index.is_some() || new > 0;
        let new = is_written.then(|| Out::Value(Value::from(new)));
        let rest = rest.iter().skip(usize::from(index.is_some())).cloned();
        Some(names.into_iter().chain(new).chain(rest).collect())
    }

    /// The values of a call for all that `ALL` means in its path, if that leads to or through a
    /// replaced node.
    fn of_all(
        &self,
        key: &OutKey<'a>,
        operand: &Out<'a>,
        at: WrittenIn<'_>,
        depth: usize,
    ) -> Option<Out<'a>> {
        let path = items(operand);
        let is_all = |step: &Out<'a>| OutNode::root(step).text().as_deref() == Some("ALL");
        let all = path.iter().position(is_all).filter(|_| self.outer.is_2_0)?;
        if !self.leads_to_replaced(operand, at) || self.is_mapped_whole(&path, at) {
            return None;
        }
        let count = self.ends(&path[..=all], at).filter(|count| *count > 0)?;
        let depth = depth.checked_sub(1)?;
        let mut is_changed = false;
        let one = |index: usize| {
            let index = i64::try_from(index).ok()?;
            let mut path = path.clone();
            path[all] = Out::Value(Value::from(index));
            let steps = path.into_iter().map(|step| (None, step)).collect();
            let path = Out::Seq { items: steps, like: None };
            let call = Out::Map { entries: vec![(key.clone(), path)].into(), like: None };
            let changed = self.changed(&call, at, depth);
            is_changed |= changed.is_some();
            Some((None, changed.unwrap_or(call)))
        };
        let values = (0..count).map(one).collect::<Option<Vec<_>>>()?;
        is_changed.then(|| Out::Seq { items: values.into(), like: None })
    }

    /// Whether a path asks for an attribute of all relations of a replaced node that is mapped as one
    /// list.
    fn is_mapped_whole(&self, path: &[Out<'a>], at: WrittenIn<'_>) -> bool {
        let names: Vec<_> = path.iter().map(|step| OutNode::root(step).text()).collect();
        let names: Vec<_> = names.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        let [node, "RELATIONSHIP", requirement, "ALL", attribute, ..] = names[..] else {
            return false;
        };
        let node = match at {
            WrittenIn::Outer(Some(here)) if node == "SELF" => here,
            _ => node,
        };
        let Some(&chosen) = self.by_node.get(node) else { return false };
        let mut mappings = self.chosen[chosen].template.substitution.part_attributes.iter();
        mappings.any(|it| {
            it.part == MappedPart::Relationships && it.names() == [requirement, attribute]
        })
    }

    /// An attribute mapping, rewritten as the path of a call that asks for the attribute.
    pub(super) fn attribute_mapping(&self, path: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let key = OutKey::New("get_attribute".into());
        let place = OutNode::root(path).span();
        let call = self.of_entity(Function::GetAttribute, &key, path, place, at, DEPTH);
        let Some(call) = call else { return path.clone() };
        mapped_path(&call).unwrap_or_else(|| {
            self.dangles(place, "what takes the place of this attribute is no attribute");
            path.clone()
        })
    }

    /// The attribute to which an attribute of a replaced node is mapped.
    fn attribute_of(
        &self,
        chosen: usize,
        attribute: &str,
        rest: &[Out<'a>],
        place: Span,
        of: &dyn Fn([&str; 2], &[Out<'a>]) -> Out<'a>,
    ) -> Option<Out<'a>> {
        let candidate = &self.chosen[chosen];
        let mappings = &candidate.template.substitution.attributes;
        let mapping = mappings.iter().find(|mapping| mapping.named.name == attribute)?;
        match mapping.path() {
            [output] => {
                let outputs = candidate.variant.view.section("outputs")?;
                let value = entry(&entry(&outputs, output.text()?)?, "value")?;
                let value = self.value(&value, WrittenIn::Inner(chosen, &[]));
                Some(self.at_path(value, rest, place))
            }
            [node, inner] => {
                let node = self.names[chosen].get(node.text()?)?;
                Some(of([node, inner.text()?], rest))
            }
            _ => None,
        }
    }

    /// The output to which an attribute of a part of a replaced node is mapped: that of one
    /// relation, or its entry in the list of those of all.
    fn part_attribute(
        &self,
        chosen: usize,
        [word, part]: [&str; 2],
        path: &[Out<'a>],
        place: Span,
    ) -> Option<Out<'a>> {
        let text = |step: &Out<'a>| Some(OutNode::root(step).text()?.into_owned());
        let index = path.first().and_then(text).filter(|_| word == "RELATIONSHIP");
        let (wanted, used) = match index.as_deref().map(|index| (index, index.parse())) {
            Some(("ALL", _)) => (MappedPart::Relationships, 1),
            Some((_, Ok(index))) => (MappedPart::Relationship(index), 1),
            _ if word == "RELATIONSHIP" => (MappedPart::Relationship(0), 0),
            _ => (MappedPart::Capability, 0),
        };
        let (attribute, rest) = path.get(used..)?.split_first()?;
        let attribute = text(attribute)?;
        let candidate = &self.chosen[chosen];
        let mappings = &candidate.template.substitution.part_attributes;
        let of = |kind: MappedPart| {
            mappings.iter().find(|it| it.part == kind && it.names() == [part, &attribute])
        };
        let (mapping, entry_of_all) = match (of(wanted), wanted) {
            (Some(mapping), _) => (mapping, None),
            (None, MappedPart::Relationship(index)) => {
                (of(MappedPart::Relationships)?, Some(index))
            }
            (None, _) => return None,
        };
        let outputs = candidate.variant.view.section("outputs")?;
        let value = entry(&entry(&outputs, mapping.to.text()?)?, "value")?;
        let value = self.value(&value, WrittenIn::Inner(chosen, &[]));
        let index = entry_of_all.and_then(|index| i64::try_from(index).ok());
        let steps = index.map(|index| Out::Value(Value::from(index))).into_iter();
        let steps: Vec<_> = steps.chain(rest.iter().cloned()).collect();
        Some(self.at_path(value, &steps, place))
    }

    pub(super) fn dangles(&self, place: Span, message: &str) {
        let error = Diagnostic::error(Code::DanglingReference, message.to_owned());
        self.tell(if place.is_detached() { error } else { error.at(place) });
    }

    /// Reports something once, however often it is met.
    pub(super) fn tell(&self, error: Diagnostic) {
        let mut found = self.found.borrow_mut();
        if !found.0.contains(&error) {
            found.push(error);
        }
    }
}

/// The path of a call that asks for an attribute, as an attribute mapping has it.
pub(super) fn mapped_path<'a>(call: &Out<'a>) -> Option<Out<'a>> {
    match &*entries(call) {
        [(key, path)] if key_name(key).trim_start_matches('$') == "get_attribute" => {
            Some(path.clone())
        }
        _ => None,
    }
}
