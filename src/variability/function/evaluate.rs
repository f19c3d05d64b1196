//! Evaluates the functions of a variant whose values do not depend on run time: those that read
//! inputs and properties.
//!
//! A function whose value is only known at run time, or is unknown here, is kept. That is no error.

use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::function::{Arguments, Call, Function, Name};
use crate::tosca::value::function_not_map;
use crate::tosca::{EffectiveType, Family, PropertyDefinition, TypeId, TypeRef, Types};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, Graph, LookupStep, NodeElement, RelationElement};
use crate::variability::presence::Presence;
use crate::variability::template::PropertyValue;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

/// How deep values and the functions in them may refer to each other.
const DEPTH: usize = 100;

/// How many bytes all values have together at most. Values that refer to each other can double with
/// every step.
const BYTES: usize = 16 << 20;

/// An error that is reported already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlreadyReported;

/// A value; `None` if it is not known before run time.
pub(crate) type FunctionResult<T = Value> = Result<Option<T>, AlreadyReported>;

/// The result of following a path: a value as in [`FunctionResult`], or the outer `None` if there
/// is no such name.
type PathLookup = Result<Option<Option<Value>>, AlreadyReported>;

/// A value and its context: the element that `SELF` means in it, and the place of the value.
type Cell = (Option<ElementId>, Span);

/// Values that are given from outside.
pub(crate) struct Given {
    /// The values of topology inputs.
    pub inputs: FxHashMap<ElementId, Value>,
    /// The values of properties that are expressions over variability inputs.
    pub expressions: FxHashMap<ElementId, Value>,
}

/// The evaluator of functions.
pub(crate) struct Functions<'e, 'a> {
    graph: &'e Graph<'a>,
    presence: &'e Presence,
    types: &'e Types<'e>,
    given: Given,
    /// The present inputs by name; if several have a name, the last one counts.
    inputs: FxHashMap<&'a str, ElementId>,
    /// The relations that use named relationship templates.
    relationships: FxHashMap<&'a str, ElementId>,
    known: FxHashMap<Cell, FunctionResult>,
    /// The values that are being evaluated, each for the one before.
    way: Vec<Cell>,
    depth: usize,
    bytes: usize,
    diagnostics: Diagnostics,
}

impl<'e, 'a> Functions<'e, 'a> {
    /// An evaluator for the functions of a variant.
    pub(crate) fn new(
        graph: &'e Graph<'a>,
        presence: &'e Presence,
        types: &'e Types<'e>,
        given: Given,
    ) -> Self {
        let present = graph.inputs.iter().filter(|input| presence.is(input.id));
        let named =
            graph.relations.iter().filter(|relation| relation.requirement.relationship.is_some());
        Self {
            graph,
            presence,
            types,
            given,
            inputs: present.map(|input| (input.parameter.declared.name, input.id)).collect(),
            relationships: named
                .filter_map(|relation| Some((relation.relationship?.name, relation.id)))
                .collect(),
            known: FxHashMap::default(),
            way: Vec::new(),
            depth: 0,
            bytes: BYTES,
            diagnostics: Diagnostics::default(),
        }
    }

    /// The errors that were found.
    pub(crate) fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// The value of a function in an element; `None` if the function is kept, or if the node is not
    /// a function.
    ///
    /// # Errors
    /// If the function has an error.
    pub(crate) fn evaluate(&mut self, node: Node<'_>, site: Option<ElementId>) -> FunctionResult {
        if call(node).is_none() {
            return Ok(None);
        }
        let value = self.cell(node, site)?;
        if let Some(value) = &value {
            self.pay(value.bytes_up_to(self.bytes), node)?;
        }
        Ok(value)
    }

    fn stop<T>(&mut self, error: Diagnostic) -> Result<T, AlreadyReported> {
        self.diagnostics.push(error);
        Err(AlreadyReported)
    }

    fn wrong<T>(
        &mut self,
        node: Node<'_>,
        section: &'static str,
        message: impl Into<String>,
    ) -> Result<T, AlreadyReported> {
        self.stop(
            Diagnostic::error(Code::InvalidFunction, message).at(node.span()).section(section),
        )
    }

    fn pay(&mut self, bytes: usize, at: Node<'_>) -> Result<(), AlreadyReported> {
        match self.bytes.checked_sub(bytes) {
            Some(left) => self.bytes = left,
            None => {
                return self.wrong(
                    at,
                    "4.3",
                    format!("the values of all functions together pass {BYTES} bytes"),
                );
            }
        }
        Ok(())
    }

    /// The value that a function refers to, which is evaluated once.
    fn cell(&mut self, node: Node<'_>, site: Option<ElementId>) -> FunctionResult {
        let cell = (site, node.span());
        if let Some(known) = self.known.get(&cell) {
            return known.clone();
        }
        if let Some(start) = self.way.iter().position(|other| *other == cell) {
            let message = "the value of a function needs itself";
            let error =
                Diagnostic::error(Code::InvalidFunction, message).at(node.span()).section("4.4.2");
            let through = self.way.iter().skip(start + 1).map(|(_, span)| *span);
            let error = through.fold(error, |error, span| error.label(span, "through this value"));
            return self.stop(error.help("give one of them a value of its own"));
        }
        self.way.push(cell);
        let value = self.value(node, site);
        self.way.pop();
        let value = match value {
            Ok(Some(value)) => self.pay(value.bytes_up_to(self.bytes), node).map(|()| Some(value)),
            other => other,
        };
        self.known.insert(cell, value.clone());
        value
    }

    /// A value with all functions in it evaluated.
    fn value(&mut self, node: Node<'_>, site: Option<ElementId>) -> FunctionResult {
        if node.kind() == NodeKind::Scalar {
            return Ok(Some(node.to_value()));
        }
        if self.depth == DEPTH {
            return self.wrong(
                node,
                "4.3",
                format!("values and functions contain each other or take from each other more than {DEPTH} levels deep"),
            );
        }
        self.depth += 1;
        let value = match call(node) {
            Some(call) => self.call(&call, site),
            None => self.collection(node, site),
        };
        self.depth -= 1;
        value
    }

    fn collection(&mut self, node: Node<'_>, site: Option<ElementId>) -> FunctionResult {
        if node.kind() == NodeKind::Sequence {
            let items = node
                .items()
                .map(|item| self.value(item, site))
                .collect::<Result<Option<Vec<_>>, _>>()?;
            return Ok(items.map(Value::from));
        }
        let mut entry = |(key, value): (Node<'_>, Node<'_>)| {
            let value = self.value(value, site)?;
            Ok(value.map(|value| (key.key_text().into(), value)))
        };
        let entries = node.entries().map(&mut entry).collect::<Result<Option<Vec<_>>, _>>()?;
        Ok(entries.map(|entries| Value::Map(entries.into())))
    }

    fn call(&mut self, call: &Call<'_>, site: Option<ElementId>) -> FunctionResult {
        match &call.arguments {
            Arguments::Parts(parts) => self.joined(parts.iter().copied(), "", site, "4.3.1"),
            Arguments::Join(list, delimiter) => self.join(*list, *delimiter, site),
            Arguments::Token(parts) => self.token(*parts, site),
            Arguments::Input(input, path) => self.input(call, *input, path),
            Arguments::Path(entity, path) if call.function == Function::GetProperty => {
                self.property(*entity, path, site)
            }
            Arguments::NodeType(name) => Ok(self.nodes_of_type(*name)),
            Arguments::Path(..) | Arguments::Output(_) | Arguments::Artifact(..) => Ok(None),
        }
    }

    /// A part of a string: either the text itself, or the value of a function.
    fn text(
        &mut self,
        node: Node<'_>,
        site: Option<ElementId>,
        section: &'static str,
    ) -> FunctionResult<String> {
        if let (NodeKind::Scalar, Some(text)) = (node.kind(), node.text()) {
            return Ok(Some(text.to_owned()));
        }
        match self.value(node, site)? {
            Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                Ok(Some(value.to_string()))
            }
            Some(other) => {
                self.wrong(node, section, format!("expected a string, got {}", other.describe()))
            }
            None => Ok(None),
        }
    }

    fn joined<'n>(
        &mut self,
        parts: impl Iterator<Item = Node<'n>>,
        delimiter: &str,
        site: Option<ElementId>,
        section: &'static str,
    ) -> FunctionResult {
        let mut joined = Some(String::new());
        for (index, part) in parts.enumerate() {
            let text = self.text(part, site, section)?;
            joined = joined
                .zip(text)
                .map(|(joined, text)| joined + if index == 0 { "" } else { delimiter } + &text);
            if joined.as_ref().is_some_and(|joined| joined.len() > self.bytes) {
                self.pay(usize::MAX, part)?;
            }
        }
        Ok(joined.map(Value::from))
    }

    fn join(
        &mut self,
        list: Node<'_>,
        delimiter: Option<Node<'_>>,
        site: Option<ElementId>,
    ) -> FunctionResult {
        let delimiter = match delimiter {
            Some(delimiter) => self.text(delimiter, site, "4.3.2")?,
            None => Some(String::new()),
        };
        let Some(delimiter) = delimiter else { return Ok(None) };
        if list.kind() == NodeKind::Sequence {
            return self.joined(list.items(), &delimiter, site, "4.3.2");
        }
        let items = match self.value(list, site)? {
            None => return Ok(None),
            Some(Value::List(items)) => items,
            Some(other) => {
                return self.wrong(
                    list,
                    "4.3.2",
                    format!("expected a list, got {}", other.describe()),
                );
            }
        };
        if let Some(wrong) =
            items.iter().find(|item| matches!(item, Value::Null | Value::List(_) | Value::Map(_)))
        {
            return self.wrong(
                list,
                "4.3.2",
                format!("expected a list of strings, got one with {}", wrong.describe()),
            );
        }
        let texts: Vec<_> = items.iter().map(Value::to_string).collect();
        self.pay(texts.len().saturating_mul(delimiter.len()), list)?;
        Ok(Some(texts.join(&delimiter).into()))
    }

    /// Evaluates `token`, which splits at each of some characters.
    fn token(
        &mut self,
        [text, characters, index]: [Node<'_>; 3],
        site: Option<ElementId>,
    ) -> FunctionResult {
        let whole = self.text(text, site, "4.3.3")?;
        let characters = self.text(characters, site, "4.3.3")?;
        let (Some(whole), Some(characters), Some(at)) =
            (whole, characters, self.value(index, site)?)
        else {
            return Ok(None);
        };
        let position = match &at {
            Value::Number(number) => {
                number.as_int().and_then(|position| usize::try_from(position).ok())
            }
            _ => None,
        };
        let Some(position) = position else {
            return self.wrong(
                index,
                "4.3.3",
                format!("the index of a substring has to be an integer from 0 up, not {at}"),
            );
        };
        match whole.split(|c| characters.contains(c)).nth(position) {
            Some(part) => Ok(Some(part.into())),
            None => self.wrong(index, "4.3.3", format!("the string has no substring {position}")),
        }
    }

    /// The value of a topology input: the given one, else the default. A required input must have a
    /// value.
    fn input(&mut self, call: &Call<'_>, operand: Node<'_>, path: &[Node<'_>]) -> FunctionResult {
        let graph = self.graph;
        let input = match operand.scalar() {
            Some(Scalar::Int(index)) => {
                let input = usize::try_from(index).ok().and_then(|index| graph.inputs.get(index));
                input.map(|input| input.id).filter(|&id| self.presence.is(id))
            }
            _ => self.inputs.get(operand.text().unwrap_or_default()).copied(),
        };
        let Some(id) = input else { return Ok(None) };
        if let Some(value) = self.given.inputs.get(&id).cloned() {
            return self.part_of_value(value, path);
        }
        let declared = &graph.inputs[graph.element(id).slot as usize].parameter.declared;
        // Validating reports errors of the declaration.
        let definition = declared.parameter_definition(&mut Diagnostics::default());
        match definition.value.or(definition.default) {
            Some(default) => Ok(self.part(default, path, None)?.unwrap_or_default()),
            None if !definition.is_required() => Ok(None),
            None => {
                let name = declared.name;
                let message =
                    format!("the topology input `{name}` is needed here and has no value");
                let error = Diagnostic::error(Code::MissingInput, message)
                    .at(call.node.span())
                    .section("4.4.1");
                let error = error.label(graph.element(id).span, "the input is declared here");
                self.stop(error.help("assign it as a deployment input, or declare a `default`"))
            }
        }
    }

    /// A part of a value in the template; `None` if there is no such part.
    fn part(&mut self, node: Node<'_>, path: &[Node<'_>], site: Option<ElementId>) -> PathLookup {
        let [step, rest @ ..] = path else { return self.cell(node, site).map(Some) };
        if call(node).is_some() {
            let Some(value) = self.cell(node, site)? else { return Ok(Some(None)) };
            return self.part_of_value(value, path).map(Some);
        }
        let part = match (node.kind(), step.scalar()) {
            (NodeKind::Sequence, Some(Scalar::Int(index))) => {
                let item = usize::try_from(index).ok().and_then(|index| node.items().nth(index));
                if item.is_none() {
                    return self.no_item(*step);
                }
                item
            }
            _ => node.get(step.text().unwrap_or_default()),
        };
        match part {
            Some(part) => self.part(part, rest, site),
            None => Ok(None),
        }
    }

    fn part_of_value(&mut self, value: Value, path: &[Node<'_>]) -> FunctionResult {
        let mut current = value;
        for step in path {
            let name = step.text().unwrap_or_default();
            let part = match (&current, step.scalar()) {
                (Value::List(items), Some(Scalar::Int(index))) => {
                    let Some(item) = usize::try_from(index).ok().and_then(|index| items.get(index))
                    else {
                        return self.no_item(*step);
                    };
                    item.clone()
                }
                (Value::Map(entries), _) => match entries.iter().find(|(key, _)| &**key == name) {
                    Some((_, entry)) => entry.clone(),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            current = part;
        }
        Ok(Some(current))
    }

    fn no_item<T>(&mut self, index: Node<'_>) -> Result<T, AlreadyReported> {
        self.wrong(
            index,
            "4.4.2",
            format!("the list has no item {}", index.text().unwrap_or_default()),
        )
    }

    /// The names of the present nodes of a type.
    fn nodes_of_type(&self, name: Name<'_>) -> Option<Value> {
        let wanted = self.types.find(Family::Node, name.text)?;
        let nodes = self.graph.nodes.iter().filter(|node| self.presence.is(node.id));
        let of_type = nodes.filter(|node| {
            self.type_of(node.id).is_some_and(|kind| {
                self.types.derives(TypeRef::Defined(kind), TypeRef::Defined(wanted))
            })
        });
        Some(
            of_type
                .map(|node| Value::from(self.graph.element(node.id).name))
                .collect::<Vec<_>>()
                .into(),
        )
    }

    /// The type of an element in this variant, if the type is defined.
    fn type_of(&self, id: ElementId) -> Option<TypeId> {
        let family = match self.graph.element(id).kind {
            ElementKind::Node => Family::Node,
            ElementKind::Relation => Family::Relationship,
            ElementKind::Group => Family::Group,
            ElementKind::Policy => Family::Policy,
            _ => return None,
        };
        let chosen = self.presence.among(self.graph.types_of(id)).next()?;
        self.types.find(family, self.graph.element(chosen).name)
    }

    fn effective(&self, id: ElementId) -> Option<&'e EffectiveType<'e>> {
        Some(self.types.effective(self.type_of(id)?))
    }

    fn property(
        &mut self,
        entity: Name<'_>,
        path: &[Node<'_>],
        site: Option<ElementId>,
    ) -> FunctionResult {
        let graph = self.graph;
        let around = site.map(|id| graph.element(id));
        let relation = around
            .filter(|around| around.kind == ElementKind::Relation)
            .map(|around| &graph.relations[around.slot as usize]);
        let id = match entity.text {
            "SELF" => site,
            "SOURCE" => relation.map(|relation| graph.node(relation.source).id),
            "TARGET" => relation.and_then(|relation| Some(graph.node(relation.target?).id)),
            "HOST" => {
                let node = around
                    .filter(|around| around.kind == ElementKind::Node)
                    .map(|around| &graph.nodes[around.slot as usize]);
                return node.map_or(Ok(None), |node| self.of_hosts(node, path));
            }
            _ => self.named(entity),
        };
        let Some(id) = id.filter(|&id| self.presence.is(id)) else { return Ok(None) };
        Ok(self.of_element(id, path)?.unwrap_or_default())
    }

    fn named(&self, entity: Name<'_>) -> Option<ElementId> {
        let find = |kind| self.graph.find(LookupStep::Root(kind), entity.at).ok();
        let relationship = || self.relationships.get(entity.text).copied();
        find(ElementKind::Node).or_else(relationship).or_else(|| find(ElementKind::Group))
    }

    /// The value in the nearest host of a node that has it.
    fn of_hosts(&mut self, node: &'e NodeElement<'a>, path: &[Node<'_>]) -> FunctionResult {
        let graph = self.graph;
        let mut seen = FxHashSet::from_iter([node.id]);
        let mut current = node;
        loop {
            let mut hosting =
                graph.hosting(current).filter(|relation| self.presence.is(relation.id));
            let Some(host) = hosting.find_map(|relation| relation.target) else { return Ok(None) };
            current = graph.node(host);
            if !self.presence.is(current.id) || !seen.insert(current.id) {
                return Ok(None);
            }
            if let Some(value) = self.of_element(current.id, path)? {
                return Ok(value);
            }
        }
    }

    /// The value at a path of an element: if the path starts with a capability or a requirement, a
    /// property of that; else a property of the element.
    fn of_element(&mut self, id: ElementId, path: &[Node<'_>]) -> PathLookup {
        let element = self.graph.element(id);
        let node =
            (element.kind == ElementKind::Node).then(|| &self.graph.nodes[element.slot as usize]);
        if let (Some(node), Some((first, rest @ [_, ..]))) = (node, path.split_first()) {
            let name = first.text().unwrap_or_default();
            let found = self.of_capability(node, name, rest)?;
            if found.is_some() {
                return Ok(found);
            }
            let relations = node.relations.iter().map(|&id| self.graph.relation(id));
            let is_meant =
                |relation: &&RelationElement<'_>| self.graph.element(relation.id).name == name;
            if let Some(relation) =
                relations.filter(is_meant).find(|relation| self.presence.is(relation.id))
            {
                let found = self.of_requirement(node, relation, rest)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        self.own(id, path)
    }

    /// A property of an element: its assigned value, else the default of its type.
    fn own(&mut self, id: ElementId, path: &[Node<'_>]) -> PathLookup {
        let Some((first, rest)) = path.split_first() else { return Ok(None) };
        let name = first.text().unwrap_or_default();
        let present = self.presence.among(self.graph.properties_of(id));
        let assigned = present.filter(|&property| self.graph.element(property).name == name).last();
        if let Some(property) = assigned {
            return match self.graph.properties[self.graph.element(property).slot as usize]
                .property
                .value
            {
                PropertyValue::Value(value) => self.part(value, rest, Some(id)),
                PropertyValue::Expression(_) => {
                    match self.given.expressions.get(&property).cloned() {
                        Some(value) => self.part_of_value(value, rest).map(Some),
                        None => Ok(Some(None)),
                    }
                }
            };
        }
        let defined = self.effective(id).and_then(|effective| effective.properties.get(name));
        self.of_definition(defined.map(|part| &part.definition), rest, id)
    }

    fn of_definition(
        &mut self,
        definition: Option<&PropertyDefinition<'_>>,
        path: &[Node<'_>],
        id: ElementId,
    ) -> PathLookup {
        match definition.and_then(|definition| definition.value.or(definition.default)) {
            Some(value) => self.part(value, path, Some(id)),
            None => Ok(None),
        }
    }

    /// A property of a capability: the value that the node assigns, else the default of its type.
    fn of_capability(
        &mut self,
        node: &NodeElement<'a>,
        capability: &str,
        path: &[Node<'_>],
    ) -> PathLookup {
        let Some((first, rest)) = path.split_first() else { return Ok(None) };
        let name = first.text().unwrap_or_default();
        let written = node
            .template
            .declared
            .value
            .get("capabilities")
            .and_then(|all| all.get(capability)?.get("properties")?.get(name));
        if let Some(value) = written {
            return self.part(value, rest, Some(node.id));
        }
        let defined =
            self.effective(node.id).and_then(|effective| effective.capabilities.get(capability));
        let defined = defined.and_then(|part| part.definition.properties.get(name));
        self.of_definition(defined.map(|part| &part.definition), rest, node.id)
    }

    /// The value that a path through a requirement leads to: a property of the relationship, of the
    /// capability that fulfils the requirement, or of the target.
    fn of_requirement(
        &mut self,
        node: &NodeElement<'a>,
        relation: &RelationElement<'a>,
        path: &[Node<'_>],
    ) -> PathLookup {
        let own = self.own(relation.id, path)?;
        let (Some(target), None) = (relation.target, &own) else { return Ok(own) };
        let target = self.graph.node(target);
        if !self.presence.is(target.id) {
            return Ok(None);
        }
        for capability in self.capabilities(node, relation, target) {
            let found = self.of_capability(target, capability, path)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.own(target.id, path)
    }

    /// The capabilities of the target that may fulfil a requirement: the one that is named, or
    /// those of the required type.
    fn capabilities<'n>(
        &self,
        node: &NodeElement<'a>,
        relation: &'n RelationElement<'a>,
        target: &NodeElement<'a>,
    ) -> Vec<&'n str>
    where
        'e: 'n,
    {
        let name = relation.requirement.declared.name;
        let named = relation.requirement.declared.value.get("capability").and_then(Node::text);
        let defined = self
            .effective(node.id)
            .and_then(|effective| effective.requirements.get(name)?.definition.capability?.text());
        let find = |kind: &str| self.types.find(Family::Capability, kind).map(TypeRef::Defined);
        let Some(effective) = self.effective(target.id) else { return vec![named.unwrap_or(name)] };
        if let Some(named) = named.filter(|named| effective.capabilities.contains_key(named)) {
            return vec![named];
        }
        let Some(wanted) = named.or(defined).and_then(find) else { return vec![name] };
        let is_one = |kind: Option<Node<'_>>| {
            kind.and_then(Node::text)
                .and_then(find)
                .is_some_and(|kind| self.types.derives(kind, wanted))
        };
        effective
            .capabilities
            .iter()
            .filter(|(_, part)| is_one(part.definition.kind))
            .map(|(name, _)| *name)
            .collect()
    }
}

/// The call in a node, if the node can be told from a map. A malformed call yields `None`, because
/// it cannot be evaluated.
fn call(node: Node<'_>) -> Option<Call<'_>> {
    function_not_map(node)?;
    Call::read(node)?.ok()
}
