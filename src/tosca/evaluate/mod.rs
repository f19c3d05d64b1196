//! Evaluates functions whose values do not depend on run time: those that read inputs and
//! properties.
//!
//! A function whose value is only known at run time, or is unknown here, is kept. That is no error.

mod graph;

use graph::names;
pub(crate) use graph::{FilterSite, FilteredRelation, PathPlace, left};

use super::family::Family;
use super::function::{Arguments, Call, Function, Name, function_in, function_not_map};
use super::meant;
use super::types::{EffectiveType, PropertyDefinition, RequirementDefinition, TypeId};
use super::v2_0;
use super::v2_0::function::BuiltIn;
use super::value::{Schema, TextType, UnitSize, has_number, is_unsupported};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, write_flow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;

/// The keys of a map, as far as they are known.
type KnownKeys = Vec<Option<Arc<str>>>;

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

/// The elements that functions refer to, and the values that these have.
pub(crate) trait FunctionScope<'e> {
    /// Something with properties: a node, a relation, a group.
    type Element: Copy + Eq + Hash;

    /// The element of this name.
    fn named(&self, entity: Name<'_>) -> Option<Self::Element>;

    /// The source and the target of a relation; `None` if the element is none.
    fn ends(&self, relation: Self::Element) -> Option<[Option<Self::Element>; 2]>;

    /// Whether an element is a node.
    fn is_node(&self, element: Self::Element) -> bool;

    /// The node that a node is directly hosted on.
    fn host(&self, node: Self::Element) -> Option<Self::Element>;

    /// The relations of a node for a requirement, in their order.
    fn relations(&self, node: Self::Element, requirement: &str) -> Vec<Self::Element>;

    /// The relations that lead to a node.
    fn incoming(&self, node: Self::Element) -> Vec<Self::Element>;

    /// Whether relations of a node may be those of one that the template substitutes.
    fn is_exposed(&self, node: Self::Element) -> bool;

    /// Whether an existing node may be selected for a node, so that its type does not say what it has.
    fn is_selected(&self, node: Self::Element) -> bool;

    /// How many nodes a template of TOSCA 2.0 stands for, or a requirement assignment relations, if
    /// it says so.
    fn count(&self, element: Self::Element) -> Option<ScopeValue<'e>>;

    /// Which node of its target's template a relation leads to, if it says so.
    fn target_index(&self, relation: Self::Element) -> Option<ScopeValue<'e>>;

    /// What a relation allocates of a property of the capability that it leads to.
    fn allocation(&self, relation: Self::Element, property: &str) -> Option<ScopeValue<'e>>;

    /// The units of the type of a property.
    fn units(&self, definition: &PropertyDefinition<'_>) -> Vec<UnitSize>;

    /// Whether unquoted versions become texts; otherwise they stay as they were written.
    fn gives_versions_as_texts(&self) -> bool;

    /// What the type of a part of values makes of texts.
    fn text_type(&self, schema: &Schema<'_>, path: &[String]) -> Option<TextType>;

    /// What a data type gives a part of values that nothing assigns.
    fn default_of(&self, schema: &Schema<'_>, path: &[String]) -> Option<Value>;

    /// The requirement of a relation, and the name or type of the capability, if it is written.
    fn requirement(&self, relation: Self::Element) -> (&'e str, Option<&'e str>);

    /// The nodes, with their names.
    fn nodes(&self) -> impl Iterator<Item = (Self::Element, &'e str)>;

    /// The topology input of this name or at this position.
    fn input(&self, operand: Node<'_>) -> Option<ScopeInput<'e>>;

    /// The value that is assigned to a property of an element.
    fn property(&self, element: Self::Element, name: &str) -> Option<ScopeValue<'e>>;

    /// The value that a node assigns to a property of one of its capabilities.
    fn capability_property(
        &self,
        node: Self::Element,
        capability: &str,
        name: &str,
    ) -> Option<ScopeValue<'e>>;

    /// The type of an element, if it is defined.
    fn type_of(&self, element: Self::Element) -> Option<TypeId>;

    /// What a type defines.
    fn effective(&self, id: TypeId) -> &'e EffectiveType<'e>;

    /// The type that a name in a file refers to; without a file, a name in the template.
    fn type_named(&self, file: Option<FileId>, family: Family, name: &str) -> Option<TypeId>;

    /// Whether one type is another one, or derives from it.
    fn derives(&self, one: TypeId, ancestor: TypeId) -> bool;

    /// Whether a value only stands for one that is not known here.
    fn is_placeholder(&self, value: &Value) -> bool;
}

/// A value of an element.
#[derive(Clone)]
pub(crate) enum ScopeValue<'e> {
    /// A value as it is written, with functions unevaluated.
    Written(Node<'e>),
    /// A value. Functions in it cannot be evaluated.
    Known(Value),
    /// A value that is not known.
    Open,
}

/// A topology input.
pub(crate) struct ScopeInput<'e> {
    pub(crate) name: &'e str,
    /// Where it is declared.
    pub(crate) span: Span,
    pub(crate) is_required: bool,
    /// Its type, if it is declared.
    pub(crate) schema: Option<Schema<'e>>,
    /// Its value, if it has one.
    pub(crate) value: Option<ScopeValue<'e>>,
}

/// What `SELF` means: an element. Of a node template of TOSCA 2.0 that stands for several nodes, it
/// is the node of this index, if it is known which; the same of the relations of such a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Representation<E> {
    pub(crate) element: E,
    pub(crate) index: Option<u64>,
}

/// A value and its context: what `SELF` means in it, and the place of the value.
type Cell<E> = (Option<Representation<E>>, Span);

/// A step of a path into a value: a name or an index, and its place.
#[derive(Clone)]
struct ValueStep<'n> {
    value: Value,
    at: Node<'n>,
}

impl<'n> ValueStep<'n> {
    fn written(at: &Node<'n>) -> Self {
        Self { value: at.to_value(), at: *at }
    }

    fn name(&self) -> Cow<'_, str> {
        self.value.as_str().map_or_else(|| self.value.to_string().into(), Cow::from)
    }

    fn index(&self) -> Option<i64> {
        if let Value::Number(number) = &self.value { number.as_int() } else { None }
    }
}

/// What evaluating functions has come to so far.
pub(crate) struct EvaluatorState<E> {
    known: FxHashMap<Cell<E>, FunctionResult>,
    /// The values that are being evaluated, each for the one before.
    way: Vec<Cell<E>>,
    depth: usize,
    bytes: usize,
    /// Whether no requirement is left open, once somebody wants to know.
    is_complete: Option<bool>,
    /// Whether only relations count that are there already.
    ignores_open: bool,
    /// The errors that were found.
    pub(crate) diagnostics: Diagnostics,
}

impl<E> Default for EvaluatorState<E> {
    fn default() -> Self {
        Self {
            known: FxHashMap::default(),
            way: Vec::new(),
            depth: 0,
            bytes: BYTES,
            is_complete: None,
            ignores_open: false,
            diagnostics: Diagnostics::default(),
        }
    }
}

impl<E> EvaluatorState<E> {
    /// Where nothing counts but the relations that have a target already.
    pub(crate) fn without_open() -> Self {
        Self { ignores_open: true, ..Self::default() }
    }
}

/// An evaluator of functions.
pub(crate) struct FunctionEvaluator<'s, 'e, S: FunctionScope<'e>> {
    scope: &'s S,
    state: EvaluatorState<S::Element>,
}

impl<'s, 'e, S: FunctionScope<'e>> FunctionEvaluator<'s, 'e, S> {
    /// An evaluator that goes on from what another one has come to.
    pub(crate) fn new(scope: &'s S, state: EvaluatorState<S::Element>) -> Self {
        Self { scope, state }
    }

    /// What it has come to.
    pub(crate) fn into_state(self) -> EvaluatorState<S::Element> {
        self.state
    }

    /// The value of a function in an element; `None` if the function is kept, or if the node is not
    /// a function.
    ///
    /// # Errors
    /// If the function has an error.
    pub(crate) fn evaluate(&mut self, node: Node<'_>, site: Option<S::Element>) -> FunctionResult {
        let is_call =
            call(node).is_some() || v2_0::is_of(node.document()) && v2_0::called(node).is_some();
        if !is_call {
            return Ok(None);
        }
        let site = site.map(|site| self.representation(site)).transpose()?;
        let value = self.cell(node, site)?;
        if let Some(value) = &value {
            self.pay(value.bytes_up_to(self.state.bytes), node)?;
        }
        Ok(value)
    }

    /// The keys of a map in which calls stand in place of keys, where they are known; none if there
    /// are no calls.
    ///
    /// # Errors
    /// If a call has an error or gives no string, and if two keys are the same.
    pub(crate) fn keys(
        &mut self,
        map: Node<'_>,
        site: Option<S::Element>,
    ) -> Result<KnownKeys, AlreadyReported> {
        let site = site.map(|site| self.representation(site)).transpose()?;
        self.computed_keys(map, site)
    }

    /// The value that is meant by one in which each function that has a value is replaced by it.
    pub(crate) fn replaced(&mut self, node: Node<'_>, site: Option<S::Element>) -> Value {
        let written = self.written(node, site);
        if v2_0::is_of(node.document()) { meant::value(written) } else { written }
    }

    /// The same value as a template has it.
    fn written(&mut self, node: Node<'_>, site: Option<S::Element>) -> Value {
        match self.evaluate(node, site) {
            Ok(Some(value)) if v2_0::is_of(node.document()) => return meant::literal(value),
            Ok(Some(value)) => return value,
            Ok(None) => {}
            // The error is reported already.
            Err(AlreadyReported) => return node.to_value(),
        }
        match node.kind() {
            NodeKind::Scalar => node.to_value(),
            NodeKind::Sequence => {
                node.items().map(|item| self.written(item, site)).collect::<Vec<_>>().into()
            }
            NodeKind::Mapping => {
                let Ok(keys) = self.keys(node, site) else { return node.to_value() };
                let mut keys = keys.into_iter();
                let entry = |(said, value): (Node<'_>, Node<'_>)| {
                    let computed = keys.next().flatten();
                    let key = computed.map(|key| v2_0::escaped(&key).map_or(key, Arc::from));
                    let key = key.unwrap_or_else(|| said.key_text().into());
                    (key, self.written(value, site))
                };
                Value::Map(node.entries().map(entry).collect())
            }
        }
    }

    fn stop<T>(&mut self, error: Diagnostic) -> Result<T, AlreadyReported> {
        self.state.diagnostics.push(error);
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
        match self.state.bytes.checked_sub(bytes) {
            Some(left) => self.state.bytes = left,
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
    fn cell(&mut self, node: Node<'_>, site: Option<Representation<S::Element>>) -> FunctionResult {
        let cell = (site, node.span());
        if let Some(known) = self.state.known.get(&cell) {
            return known.clone();
        }
        let value = self.without_circle(node, site, |evaluator| evaluator.value(node, site));
        let value = match value {
            Ok(Some(value)) => {
                self.pay(value.bytes_up_to(self.state.bytes), node).map(|()| Some(value))
            }
            other => other,
        };
        self.state.known.insert(cell, value.clone());
        value
    }

    /// What `make` gives for a node, unless that needs itself.
    fn without_circle<T>(
        &mut self,
        node: Node<'_>,
        site: Option<Representation<S::Element>>,
        make: impl FnOnce(&mut Self) -> Result<T, AlreadyReported>,
    ) -> Result<T, AlreadyReported> {
        let cell = (site, node.span());
        if let Some(start) = self.state.way.iter().position(|other| *other == cell) {
            let message = "the value of a function needs itself";
            let error =
                Diagnostic::error(Code::InvalidFunction, message).at(node.span()).section("4.4.2");
            let through = self.state.way.iter().skip(start + 1).map(|(_, span)| *span);
            let error = through.fold(error, |error, span| error.label(span, "through this value"));
            return self.stop(error.help("give one of them a value of its own"));
        }
        self.state.way.push(cell);
        let made = make(self);
        self.state.way.pop();
        made
    }

    /// A value with all functions in it evaluated.
    fn value(
        &mut self,
        node: Node<'_>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        let is_of_2_0 = v2_0::is_of(node.document());
        if node.kind() == NodeKind::Scalar {
            return match v2_0::called(node).filter(|_| is_of_2_0) {
                Some((name, _)) => self.index_function(name, site),
                None if is_of_2_0 => Ok(v2_0::function::scalar(node)),
                None => Ok(Some(node.to_value())),
            };
        }
        if self.state.depth == DEPTH {
            return self.wrong(
                node,
                "4.3",
                format!("values and functions contain each other or take from each other more than {DEPTH} levels deep"),
            );
        }
        self.state.depth += 1;
        let value = match (v2_0::called(node).filter(|_| is_of_2_0), call(node)) {
            (Some((name, arguments)), _) => self.call_2_0(node, name, arguments, site),
            (None, Some(call)) => self.call(&call, site),
            (None, None) => self.collection(node, site),
        };
        self.state.depth -= 1;
        value
    }

    fn collection(
        &mut self,
        node: Node<'_>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        if node.kind() == NodeKind::Sequence {
            let items = node
                .items()
                .map(|item| self.value(item, site))
                .collect::<Result<Option<Vec<_>>, _>>()?;
            return Ok(items.map(Value::from));
        }
        let mut keys = self.computed_keys(node, site)?.into_iter();
        let mut entry = |(key, value): (Node<'_>, Node<'_>)| {
            let key = keys.next().unwrap_or_else(|| Some(v2_0::meant_key(key)));
            Ok(key.zip(self.value(value, site)?))
        };
        let entries = node.entries().map(&mut entry).collect::<Result<Option<Vec<_>>, _>>()?;
        Ok(entries.map(|entries| Value::Map(entries.into())))
    }

    fn computed_keys(
        &mut self,
        map: Node<'_>,
        site: Option<Representation<S::Element>>,
    ) -> Result<KnownKeys, AlreadyReported> {
        let (mut keys, mut taken) = (Vec::new(), FxHashSet::default());
        if !v2_0::calls_keys(map) {
            return Ok(keys);
        }
        for (key, _) in map.entries() {
            let known = match v2_0::called_as_key(key) {
                Some(called) => self.called_key(key, called, site)?,
                None => Some(v2_0::meant_key(key)),
            };
            if known.as_ref().is_some_and(|known| !taken.insert(Arc::clone(known))) {
                let message = format!("the map has the key `{}` twice", known.unwrap_or_default());
                return self.wrong_key(key, message);
            }
            keys.push(known);
        }
        Ok(keys)
    }

    /// The key of a map that a call gives.
    fn called_key(
        &mut self,
        key: Node<'_>,
        (name, arguments): (&str, Option<Node<'_>>),
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult<Arc<str>> {
        let called = |evaluator: &mut Self| evaluator.call_2_0(key, name, arguments, site);
        match self.without_circle(key, site, called)? {
            Some(Value::String(text)) => Ok(Some(text)),
            None => Ok(None),
            Some(other) => {
                let given = write_flow(&other);
                self.wrong_key(key, format!("`${name}` gives {given} as key, which is no string"))
            }
        }
    }

    fn wrong_key<T>(&mut self, key: Node<'_>, message: String) -> Result<T, AlreadyReported> {
        let error = Diagnostic::error(Code::InvalidFunction, message).at(key.span());
        self.stop(error.rule(Rule::new(&TOSCA_2_0, "10.1")))
    }

    fn call(
        &mut self,
        call: &Call<'_>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        match &call.arguments {
            Arguments::Parts(parts) => self.joined(parts.iter().copied(), "", site, "4.3.1"),
            Arguments::Join(list, delimiter) => self.join(*list, *delimiter, site),
            Arguments::Token(parts) => self.token(*parts, site),
            Arguments::Input(input, path) => self.input(call.node, *input, &steps(path)),
            Arguments::Path(entity, path) if call.function == Function::GetProperty => {
                self.property(*entity, &steps(path), site)
            }
            Arguments::NodeType(name) => Ok(self.nodes_of_type(*name)),
            Arguments::Path(..) | Arguments::Output(_) | Arguments::Artifact(..) => Ok(None),
        }
    }

    /// The value of a function of TOSCA 2.0; not known of those that files declare, as nothing but
    /// their signatures is known.
    fn call_2_0(
        &mut self,
        node: Node<'_>,
        name: &str,
        arguments: Option<Node<'_>>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        let Some(built_in) = BuiltIn::named(name) else { return Ok(None) };
        if built_in.value.is_none() {
            return self.graph_function(node, name, arguments, site);
        }
        let Some(list) = arguments else { return Ok(None) };
        let values = self.arguments(list, site)?;
        let form = match list.kind() {
            _ if !built_in.asks_form() => None,
            NodeKind::Sequence => self.first_form(list.items(), site)?,
            _ => self.form(list, site)?,
        };
        built_in.applied(values, &form).or_else(|why| {
            if is_unsupported(&why) {
                return Ok(None);
            }
            let error = Diagnostic::error(Code::InvalidFunction, format!("`${name}`: {why}"));
            let rule = Rule::new(&TOSCA_2_0, built_in.section);
            self.stop(error.at(node.span()).rule(rule))
        })
    }

    /// The values of arguments, where they are known; the list of them may be the value of a call.
    fn arguments(
        &mut self,
        list: Node<'_>,
        site: Option<Representation<S::Element>>,
    ) -> Result<Vec<Option<Value>>, AlreadyReported> {
        let values = match list.kind() {
            NodeKind::Sequence => {
                list.items().map(|argument| self.value(argument, site)).collect::<Result<_, _>>()?
            }
            _ => match self.value(list, site)? {
                Some(Value::List(items)) => items.iter().cloned().map(Some).collect(),
                _ => vec![None],
            },
        };
        let is_known = |value: &Value| !self.scope.is_placeholder(value);
        Ok(values.into_iter().map(|value: Option<Value>| value.filter(is_known)).collect())
    }

    /// A part of a string: either the text itself, or the value of a function.
    fn text(
        &mut self,
        node: Node<'_>,
        site: Option<Representation<S::Element>>,
        section: &'static str,
    ) -> FunctionResult<String> {
        if let (NodeKind::Scalar, Some(text)) = (node.kind(), node.text()) {
            return Ok(Some(text.to_owned()));
        }
        match self.value(node, site)? {
            Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                Ok(Some(value.to_string()))
            }
            Some(value) if self.scope.is_placeholder(&value) => Ok(None),
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
        site: Option<Representation<S::Element>>,
        section: &'static str,
    ) -> FunctionResult {
        let mut joined = Some(String::new());
        for (index, part) in parts.enumerate() {
            let text = self.text(part, site, section)?;
            joined = joined
                .zip(text)
                .map(|(joined, text)| joined + if index == 0 { "" } else { delimiter } + &text);
            if joined.as_ref().is_some_and(|joined| joined.len() > self.state.bytes) {
                self.pay(usize::MAX, part)?;
            }
        }
        Ok(joined.map(Value::from))
    }

    fn join(
        &mut self,
        list: Node<'_>,
        delimiter: Option<Node<'_>>,
        site: Option<Representation<S::Element>>,
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
            Some(value) if self.scope.is_placeholder(&value) => return Ok(None),
            Some(other) => {
                return self.wrong(
                    list,
                    "4.3.2",
                    format!("expected a list, got {}", other.describe()),
                );
            }
        };
        if items.iter().any(|item| self.scope.is_placeholder(item)) {
            return Ok(None);
        }
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
        site: Option<Representation<S::Element>>,
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

    /// The value of a topology input. A required input must have a value.
    fn input(
        &mut self,
        call: Node<'_>,
        operand: Node<'_>,
        path: &[ValueStep<'_>],
    ) -> FunctionResult {
        let Some(input) = self.scope.input(operand) else { return Ok(None) };
        match input.value {
            Some(value) => {
                let schema = input.schema.as_ref();
                Ok(self.of_assigned(value, schema, path, None)?.unwrap_or_default())
            }
            None if !input.is_required => Ok(None),
            None => {
                let name = input.name;
                let message =
                    format!("the topology input `{name}` is needed here and has no value");
                let error =
                    Diagnostic::error(Code::MissingInput, message).at(call.span()).section("4.4.1");
                let error = error.label(input.span, "the input is declared here");
                self.stop(error.help("assign it as a deployment input, or declare a `default`"))
            }
        }
    }

    /// A part of a value; `site` is the element that has it.
    fn within(
        &mut self,
        value: ScopeValue<'e>,
        path: &[ValueStep<'_>],
        site: Option<Representation<S::Element>>,
    ) -> PathLookup {
        match value {
            ScopeValue::Written(node) => self.part(node, path, site),
            ScopeValue::Known(value) => {
                let part = self.part_of_value(value, path)?;
                Ok(part.map(|part| Some(part).filter(|part| function_in(part).is_none())))
            }
            ScopeValue::Open => Ok(Some(None)),
        }
    }

    /// A part of a value in the template; `None` if there is no such part.
    fn part(
        &mut self,
        node: Node<'_>,
        path: &[ValueStep<'_>],
        site: Option<Representation<S::Element>>,
    ) -> PathLookup {
        let [step, rest @ ..] = path else { return self.cell(node, site).map(Some) };
        if call(node).is_some() || v2_0::is_of(node.document()) && v2_0::called(node).is_some() {
            let Some(value) = self.cell(node, site)? else { return Ok(Some(None)) };
            return self.within(ScopeValue::Known(value), path, site);
        }
        let part = match (node.kind(), step.index()) {
            (NodeKind::Sequence, Some(index)) => {
                let item = usize::try_from(index).ok().and_then(|index| node.items().nth(index));
                if item.is_none() {
                    return self.no_item(step);
                }
                item
            }
            _ if v2_0::calls_keys(node) => {
                let keys = self.computed_keys(node, site)?;
                let is_named = |key: &Option<Arc<str>>| key.as_deref() == Some(&*step.name());
                match keys.iter().position(is_named) {
                    None if keys.contains(&None) => return Ok(Some(None)),
                    found => found.and_then(|at| node.entries().nth(at)).map(|(_, part)| part),
                }
            }
            _ => {
                let name = step.name();
                let mut entries = node.entries();
                entries.find(|(key, _)| *v2_0::meant_key(*key) == *name).map(|(_, part)| part)
            }
        };
        match part {
            Some(part) => self.part(part, rest, site),
            None => Ok(None),
        }
    }

    fn part_of_value(&mut self, value: Value, path: &[ValueStep<'_>]) -> FunctionResult {
        let mut current = value;
        for step in path {
            let name = step.name();
            let part = match (&current, step.index()) {
                (Value::List(items), Some(index)) => {
                    let Some(item) = usize::try_from(index).ok().and_then(|index| items.get(index))
                    else {
                        return self.no_item(step);
                    };
                    item.clone()
                }
                (Value::Map(entries), _) => match entries.iter().find(|(key, _)| **key == *name) {
                    Some((_, entry)) => entry.clone(),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            current = part;
        }
        Ok(Some(current))
    }

    fn no_item<T>(&mut self, index: &ValueStep<'_>) -> Result<T, AlreadyReported> {
        self.wrong(index.at, "4.4.2", format!("the list has no item {}", index.name()))
    }

    /// The names of the nodes of a type.
    fn nodes_of_type(&self, name: Name<'_>) -> Option<Value> {
        let wanted = self.scope.type_named(None, Family::Node, name.text)?;
        let is_of_type =
            |node| self.scope.type_of(node).is_some_and(|kind| self.scope.derives(kind, wanted));
        let nodes = self.scope.nodes().filter(|(node, _)| is_of_type(*node));
        Some(nodes.map(|(_, name)| Value::from(name)).collect::<Vec<_>>().into())
    }

    fn effective(&self, element: S::Element) -> Option<&'e EffectiveType<'e>> {
        Some(self.scope.effective(self.scope.type_of(element)?))
    }

    fn property(
        &mut self,
        entity: Name<'_>,
        path: &[ValueStep<'_>],
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        let own = site.map(|site| site.element);
        let ends = own.and_then(|own| self.scope.ends(own));
        let element = match entity.text {
            "SELF" => own,
            "SOURCE" => ends.and_then(|[source, _]| source),
            "TARGET" => ends.and_then(|[_, target]| target),
            "HOST" => return own.map_or(Ok(None), |own| self.of_hosts(own, path)),
            _ => self.scope.named(entity),
        };
        let Some(element) = element else { return Ok(None) };
        Ok(self.of_element(element, path)?.unwrap_or_default())
    }

    /// The value in the nearest host of a node that has it.
    fn of_hosts(&mut self, node: S::Element, path: &[ValueStep<'_>]) -> FunctionResult {
        let mut seen = FxHashSet::from_iter([node]);
        let mut current = node;
        while let Some(host) = self.scope.host(current).filter(|&host| seen.insert(host)) {
            if let Some(value) = self.of_element(host, path)? {
                return Ok(value);
            }
            current = host;
        }
        Ok(None)
    }

    /// The value at a path of an element: if the path starts with a capability or a requirement, a
    /// property of that; else a property of the element.
    fn of_element(&mut self, element: S::Element, path: &[ValueStep<'_>]) -> PathLookup {
        if let Some((first, rest @ [_, ..])) = path.split_first() {
            let name = first.name();
            let found = self.of_capability(single(element), &name, rest)?;
            if found.is_some() {
                return Ok(found);
            }
            if let Some(&relation) = self.scope.relations(element, &name).first() {
                let found = self.of_requirement(element, relation, rest)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        self.own(single(element), path)
    }

    /// A property of an element: its assigned value, else the default of its type.
    fn own(&mut self, owner: Representation<S::Element>, path: &[ValueStep<'_>]) -> PathLookup {
        let Some((first, rest)) = path.split_first() else { return Ok(None) };
        let name = first.name();
        let definition = self.own_property(owner.element, &name);
        match self.scope.property(owner.element, &name) {
            Some(assigned) => {
                self.of_assigned(assigned, definition.map(|it| &it.schema), rest, Some(owner))
            }
            None => self.of_definition(definition, rest, owner),
        }
    }

    /// The definition of a property of an element. The requirement of a relation may refine it
    /// (TOSCA 2.0, section 8.5), unless it only says what the relation's type inherits.
    fn own_property(
        &self,
        element: S::Element,
        property: &str,
    ) -> Option<&'e PropertyDefinition<'e>> {
        let part = self.effective(element).and_then(|it| it.properties.get(property));
        let given = |it: &PropertyDefinition<'e>| it.value.or(it.default);
        let refined = self.refined_property(element, property).filter(|refined| {
            let mut parts = std::iter::successors(part, |part| part.refines.as_ref());
            let mut is_inherited = |value: Node<'_>| {
                parts.any(|part| given(&part.definition).is_some_and(|it| it.ptr_eq(value)))
            };
            given(refined).is_some_and(|value| !is_inherited(value))
        });
        refined.or(part.map(|part| &part.definition))
    }

    /// What the requirement of a relation says of one of its properties.
    fn refined_property(
        &self,
        relation: S::Element,
        property: &str,
    ) -> Option<&'e PropertyDefinition<'e>> {
        let source = self.scope.ends(relation)?[0]?;
        let (requirement, _) = self.scope.requirement(relation);
        let part = self.effective(source)?.requirements.get(requirement)?;
        part.definition.properties.iter().find(|refined| refined.named.name == property)
    }

    /// A part of an assigned value, else the default that its data type gives it.
    fn of_assigned(
        &mut self,
        assigned: ScopeValue<'e>,
        schema: Option<&Schema<'e>>,
        path: &[ValueStep<'_>],
        owner: Option<Representation<S::Element>>,
    ) -> PathLookup {
        let (mut held, mut start) = (assigned, 0);
        loop {
            let found = self.within(held.clone(), &path[start..], owner)?;
            let Some(schema) = schema else { return Ok(found) };
            if let Some(found) = found {
                return Ok(Some(found.map(|value| self.with_versions(value, schema, path))));
            }
            let mut missing = start + 1;
            while self.within(held.clone(), &path[start..missing], owner)?.is_some() {
                missing += 1;
            }
            let default = self.scope.default_of(schema, &names(&path[..missing]));
            let Some(default) = default else { return Ok(None) };
            (held, start) = (ScopeValue::Known(default), missing);
        }
    }

    /// A part of a value of a schema with texts in place of unquoted versions. Only here is it known
    /// that they are none of the numbers that they look like.
    fn with_versions(&self, value: Value, schema: &Schema<'e>, path: &[ValueStep<'_>]) -> Value {
        if !self.scope.gives_versions_as_texts() || !has_number(&value) {
            return value;
        }
        let form = self.scope.text_type(schema, &names(path));
        form.and_then(|form| form.with_versions(&value)).unwrap_or(value)
    }

    fn of_definition(
        &mut self,
        definition: Option<&PropertyDefinition<'e>>,
        path: &[ValueStep<'_>],
        owner: Representation<S::Element>,
    ) -> PathLookup {
        let Some(defined) = definition else { return Ok(None) };
        let is_selected = defined.value.is_none() && self.scope.is_selected(owner.element);
        match defined.value.or(defined.default) {
            _ if is_selected => Ok(Some(None)),
            Some(value) => self.of_assigned(
                ScopeValue::Written(value),
                Some(&defined.schema),
                path,
                Some(owner),
            ),
            None => Ok(None),
        }
    }

    /// A property of a capability: the value that the node assigns, else the default of its type.
    fn of_capability(
        &mut self,
        node: Representation<S::Element>,
        capability: &str,
        path: &[ValueStep<'_>],
    ) -> PathLookup {
        let Some((first, rest)) = path.split_first() else { return Ok(None) };
        let name = first.name();
        let defined = self.capability_property(node.element, capability, &name);
        match self.scope.capability_property(node.element, capability, &name) {
            Some(assigned) => {
                self.of_assigned(assigned, defined.map(|it| &it.schema), rest, Some(node))
            }
            None => self.of_definition(defined, rest, node),
        }
    }

    /// The definition of a property of a node's capability.
    fn capability_property(
        &self,
        node: S::Element,
        capability: &str,
        property: &str,
    ) -> Option<&'e PropertyDefinition<'e>> {
        let capability = &self.effective(node)?.capabilities.get(capability)?.definition;
        Some(&capability.properties.get(property)?.definition)
    }

    /// The value that a path through a requirement leads to: a property of the relationship, of the
    /// capability that fulfils the requirement, or of the target.
    fn of_requirement(
        &mut self,
        node: S::Element,
        relation: S::Element,
        path: &[ValueStep<'_>],
    ) -> PathLookup {
        let own = self.own(single(relation), path)?;
        let target = self.scope.ends(relation).and_then(|[_, target]| target);
        let (Some(target), None) = (target, &own) else { return Ok(own) };
        for capability in fulfilling(self.scope, [node, relation, target]) {
            let found = self.of_capability(single(target), capability, path)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.own(single(target), path)
    }
}

/// The capabilities of the target that may fulfil a requirement of a node: the one that is named,
/// or those of the required type.
pub(crate) fn fulfilling<'e, S: FunctionScope<'e>>(
    scope: &S,
    [node, relation, target]: [S::Element; 3],
) -> Vec<&'e str> {
    let effective = |element| Some(scope.effective(scope.type_of(element)?));
    let (name, named) = scope.requirement(relation);
    let definition =
        effective(node).and_then(|effective| Some(&effective.requirements.get(name)?.definition));
    let defined = definition.and_then(|definition| definition.capability);
    let find_in = |file, kind: &str| scope.type_named(file, Family::Capability, kind);
    let find = |kind: Node<'_>| find_in(Some(kind.document().file()), kind.text()?);
    let Some(effective) = effective(target) else { return vec![named.unwrap_or(name)] };
    if let Some(named) = named.filter(|named| effective.capabilities.contains_key(named)) {
        return vec![named];
    }
    let wanted = match named {
        Some(named) => find_in(None, named),
        None => defined.and_then(find),
    };
    let Some(wanted) = wanted else {
        // In TOSCA 2.0, a definition may name a capability.
        let is_2_0 = |it: &RequirementDefinition<'_>| v2_0::is_of(it.named.key.document());
        let known =
            named.or(defined.and_then(Node::text)).filter(|_| definition.is_some_and(is_2_0));
        return vec![known.filter(|it| effective.capabilities.contains_key(it)).unwrap_or(name)];
    };
    let is_one = |kind: Option<Node<'_>>| {
        kind.and_then(find).is_some_and(|kind| scope.derives(kind, wanted))
    };
    let capabilities = effective.capabilities.iter();
    capabilities.filter(|(_, part)| is_one(part.definition.kind)).map(|(name, _)| *name).collect()
}

/// An element that stands for itself alone.
fn single<E>(element: E) -> Representation<E> {
    Representation { element, index: Some(0) }
}

fn steps<'n>(path: &[Node<'n>]) -> Vec<ValueStep<'n>> {
    path.iter().map(ValueStep::written).collect()
}

/// The call in a node, if the node can be told from a map. A malformed call yields `None`, because
/// it cannot be evaluated.
fn call(node: Node<'_>) -> Option<Call<'_>> {
    function_not_map(node)?;
    Call::read(node)?.ok()
}
