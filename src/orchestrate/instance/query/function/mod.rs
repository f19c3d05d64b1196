//! Evaluates functions of TOSCA with the values of a model (chapter 4 of TOSCA Simple Profile 1.3,
//! chapter 10 of TOSCA 2.0).

mod path;

use super::ModelReading;
use super::place::{ModelEntity, ModelPlace, PlaceContent, PlaceWalk, whole};
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::orchestrate::instance::model::{
    ByName, InstanceModel, KEPT_OUTPUTS, NodeInstance, RelationInstance, SecretsMode,
};
use crate::orchestrate::instance::reduce::Entity;
use crate::orchestrate::instance::shown::marked;
use crate::orchestrate::instance::target::ComputedOutput;
use crate::topology::sensitive::{InstanceValue, SENSITIVE, masked};
use crate::tosca::function::{Arguments, Call, Function, Name, SECRET_MARK, function_in};
use crate::tosca::v2_0;
use crate::tosca::v2_0::function::{BuiltIn, FormedValue, INDICES, PlainText};
use crate::tosca::value::TextType;
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, Node, NodeKind, Scalar, parse, write_flow};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How deep calls may be nested, and values refer to each other.
const DEPTH: usize = 100;

/// A value, and what its type makes of texts in it, as far as a function asks for that.
type TypedValue = FormedValue<TextType>;

/// Evaluates a function call in a model. `of` names the element whose function it is: what `SELF`
/// means, and for a relation `SOURCE` and `TARGET`, for a node `HOST`. Without it, these keywords
/// mean nothing.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelReading, NodeInstance, query_function};
/// use cuvee::source::FileId;
/// use cuvee::parts::yaml::{Limits, parse};
/// let mut model = InstanceModel::default();
/// let mut shop = NodeInstance::default();
/// shop.properties.insert("port".into(), 80.into());
/// model.nodes.insert("shop".into(), shop);
/// let call = parse(FileId::DETACHED, "concat: ['http://shop:', {get_property: [SELF, port]}]".into(), &Limits::default()).unwrap();
/// let url = query_function(&model, call.root(), Some("shop"), &ModelReading::default());
/// assert_eq!(url, Ok("http://shop:80".into()));
/// ```
///
/// # Errors
/// `invalid-function`, `unknown-element`, `unknown-property`, `missing-input`, and `not-visible`
/// for an attribute of a node in a transitional state.
pub fn query_function(
    model: &InstanceModel,
    call: Node<'_>,
    of: Option<&str>,
    reading: &ModelReading<'_>,
) -> Result<Value, Diagnostic> {
    if called_2_0(call).is_none() && Call::read(call).is_none() {
        let message = format!("expected the call of a function, got {}", call.describe());
        let help = "write it like `{get_attribute: [shop, url]}`";
        return Err(Diagnostic::error(Code::InvalidFunction, message).at(call.span()).help(help));
    }
    query_value(model, call, of, reading)
}

/// Evaluates all function calls in a value, as [`query_function`].
///
/// # Errors
/// As [`query_function`].
pub fn query_value(
    model: &InstanceModel,
    value: Node<'_>,
    of: Option<&str>,
    reading: &ModelReading<'_>,
) -> Result<Value, Diagnostic> {
    query_value_of(model, value, of.map(FunctionOwner::Named), reading)
}

/// The element whose functions are evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FunctionOwner<'m> {
    /// A node, relation or group of the model, by its name.
    Named(&'m str),
    /// A relation, which the model need not have: its source, its requirement, and itself.
    #[cfg(feature = "cli")]
    Relation(&'m Arc<str>, &'m Arc<str>, &'m RelationInstance),
}

/// Evaluates all function calls in a value of an element, as [`query_function`].
///
/// # Errors
/// As [`query_function`].
pub(crate) fn query_value_of<'m>(
    model: &'m InstanceModel,
    value: Node<'_>,
    of: Option<FunctionOwner<'m>>,
    reading: &ModelReading<'_>,
) -> Result<Value, Diagnostic> {
    let walk = PlaceWalk::new(model, reading);
    let site = of.map(|of| match of {
        FunctionOwner::Named(name) => owner(model, name),
        #[cfg(feature = "cli")]
        FunctionOwner::Relation(source, name, relation) => {
            Ok(ModelEntity::Relation(source, name, relation))
        }
    });
    let site = site.transpose()?;
    let (touched, within, site) = (Cell::new(false), Cell::new(0), Cell::new(site));
    ModelFunctions { walk, touched, site, within, asks_form: Cell::new(false) }.value(value, 0)
}

/// The node, relation or group of this name.
fn owner<'m>(model: &'m InstanceModel, of: &str) -> Result<ModelEntity<'m>, Diagnostic> {
    let identifier = model.entity_named(of).ok_or_else(|| model.no_entity(of))?;
    let entity = match Entity::of(&identifier) {
        Entity::Node(id) => {
            model.nodes.get_key_value(id).map(|(id, node)| ModelEntity::Node(id, node))
        }
        Entity::Group(name) => {
            model.groups.get_key_value(name).map(|(name, group)| ModelEntity::Group(name, group))
        }
        Entity::Relation(_) => model.relation_path(&identifier).and_then(|(source, name, at)| {
            let (source, node) = model.nodes.get_key_value(&source)?;
            let (name, relations) = node.requirements.get_key_value(&name)?;
            Some(ModelEntity::Relation(source, name, relations.get(at)?))
        }),
        _ => None,
    };
    entity.ok_or_else(|| {
        let message = format!("`{of}` has no functions");
        Diagnostic::error(Code::UnknownElement, message).help("name a node, a relation or a group")
    })
}

/// The values of outputs that functions give, as far as they are known. Secrets in them are marked.
pub(crate) fn computed_outputs(
    model: &InstanceModel,
    outputs: &BTreeMap<String, ComputedOutput>,
    reading: &ModelReading<'_>,
) -> ByName<Value> {
    let value = |output: &ComputedOutput| {
        let text = output.value.as_str().into();
        computed(
            model,
            parse(FileId::DETACHED, text, &Limits::default()).ok()?.root(),
            output.is_secret,
            reading,
        )
    };
    let found = outputs.iter().filter_map(|(name, output)| Some((name, value(output)?)));
    found.map(|(name, value)| (Arc::from(&**name), value)).collect()
}

/// The values of inputs that their defaults compute, as far as they are known. Secrets in them are
/// marked.
pub(crate) fn computed_inputs(model: &InstanceModel, reading: &ModelReading<'_>) -> ByName<Value> {
    let found = model.inputs.iter().filter(|(_, value)| function_in(value).is_some());
    let found = found.filter_map(|(name, value)| {
        let document =
            parse(FileId::DETACHED, write_flow(value).into(), &Limits::default()).ok()?;
        Some((Arc::clone(name), computed(model, document.root(), false, reading)?))
    });
    found.collect()
}

/// The value of an input or output, if it is known.
fn computed(
    model: &InstanceModel,
    value: Node<'_>,
    is_secret: bool,
    reading: &ModelReading<'_>,
) -> Option<Value> {
    let found = |reveal: bool| {
        let reading = ModelReading { reveal, ..*reading };
        query_value(model, value, None, &reading).ok()
    };
    let shown = found(false)?;
    Some(match is_secret || holds_secret(&shown) {
        false => shown,
        true if model.secrets == SecretsMode::Keep => marked(found(true)?),
        true => marked(Value::Null),
    })
}

struct ModelFunctions<'m, 'r> {
    walk: PlaceWalk<'m, 'r>,
    /// Whether the evaluation has met a secret that is not shown.
    touched: Cell<bool>,
    /// The entity whose function is evaluated.
    site: Cell<Option<ModelEntity<'m>>>,
    /// How many values are being evaluated, each for the one before.
    within: Cell<usize>,
    /// Whether a function depends on what types make of texts. It takes time to find that out.
    asks_form: Cell<bool>,
}

fn wrong(node: Node<'_>, section: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidFunction, message).at(node.span()).section(section)
}

impl<'m> ModelFunctions<'m, '_> {
    fn value(&self, node: Node<'_>, depth: usize) -> Result<Value, Diagnostic> {
        self.typed(node, depth).map(|(value, _)| value)
    }

    fn typed(&self, node: Node<'_>, depth: usize) -> Result<TypedValue, Diagnostic> {
        if depth > DEPTH {
            return Err(wrong(
                node,
                "4.3",
                format!("more than {DEPTH} functions are inside of each other"),
            ));
        }
        if let Some((name, arguments)) = called_2_0(node) {
            return self.call_2_0(node, name, arguments, depth).map_err(|mut error| {
                v2_0::cite(&mut error);
                error
            });
        }
        if let Some(call) = Call::read(node) {
            return self.call(&call?, depth);
        }
        let mut own = None;
        let mut part = |part: Node<'_>| {
            let (value, form) = self.typed(part, depth + 1)?;
            own = own.take().or(form);
            Ok(value)
        };
        let value = match node.kind() {
            NodeKind::Scalar => node.to_value(),
            NodeKind::Sequence => {
                node.items().map(&mut part).collect::<Result<Vec<_>, Diagnostic>>()?.into()
            }
            NodeKind::Mapping => {
                let entry =
                    |(key, value): (Node<'_>, Node<'_>)| Ok((key.key_text().into(), part(value)?));
                Value::Map(node.entries().map(entry).collect::<Result<_, Diagnostic>>()?)
            }
        };
        Ok((value, own))
    }

    /// The value of a call of TOSCA 2.0 (chapter 10).
    fn call_2_0(
        &self,
        node: Node<'_>,
        name: &str,
        arguments: Option<Node<'_>>,
        depth: usize,
    ) -> Result<TypedValue, Diagnostic> {
        let given: Vec<_> = arguments.into_iter().flat_map(Node::items).collect();
        let path = match Function::named(name) {
            Some(function @ (Function::GetProperty | Function::GetAttribute)) => {
                given.split_first().map(|(entity, path)| (function, *entity, path))
            }
            _ => None,
        };
        // What version 1.3 has no words for begins with nodes of one template.
        let is_among = |&(_, entity, rest): &(_, Node<'_>, &[Node<'_>])| {
            rest.first().is_some_and(|step| path::node_index(*step).is_some())
                || self
                    .meant(Name { text: entity.text().unwrap_or_default(), at: entity })
                    .is_none()
        };
        if let Some((function, entity, rest)) = path.filter(is_among) {
            return self.along(function, entity, rest);
        }
        if let Some(call) = Call::of_2_0(node) {
            return self.call(&call, depth);
        }
        match (name, self.site.get()) {
            ("node_index", Some(ModelEntity::Node(id, node))) => {
                return Ok((index(id, node).into(), None));
            }
            ("relationship_index", Some(ModelEntity::Relation(source, name, relation))) => {
                return Ok((self.position(source, name, relation).into(), None));
            }
            _ => {}
        }
        if let Some((function, entity, rest)) = path {
            return self.along(function, entity, rest);
        }
        let unknown = || {
            let message = format!("an instance does not know the value of this call of `${name}`");
            let error = Diagnostic::error(Code::InvalidFunction, message).at(node.span());
            error.help_opt(unanswered(name))
        };
        let built_in = BuiltIn::named(name).ok_or_else(unknown)?;
        let before = self.touched.replace(false);
        let asked = self.asks_form.replace(self.asks_form.get() || built_in.asks_form());
        let given = given.into_iter().map(|argument| self.typed(argument, depth + 1));
        let given = given.collect::<Result<Vec<_>, _>>();
        self.asks_form.set(asked);
        let given = given?;
        let is_secret = self.touched.get() || given.iter().any(|(value, _)| holds_secret(value));
        self.touched.set(before || is_secret);
        if is_secret {
            return Ok((SENSITIVE.into(), None));
        }
        // A digest says nothing of the secret that it stands for.
        if given.iter().any(|(value, _)| masked(value).is_some()) {
            return Err(
                unknown().help("it needs a secret of which only a digest is kept, or nothing")
            );
        }
        let given = given.into_iter().map(Some).collect();
        let value = built_in.applied_to_formed(given, &PlainText);
        value.map_err(|why| unknown().help(why))?.ok_or_else(unknown)
    }

    fn call(&self, call: &Call<'_>, depth: usize) -> Result<TypedValue, Diagnostic> {
        let before = self.touched.replace(false);
        let plain = |value| (value, None);
        let (value, form) = match &call.arguments {
            Arguments::Parts(parts) => plain(self.joined(parts, "", depth)?),
            Arguments::Join(list, delimiter) => plain(self.join(*list, *delimiter, depth)?),
            Arguments::Token(parts) => plain(self.token(*parts, depth)?),
            Arguments::Input(input, path) => self.input(*input, path)?,
            Arguments::Path(entity, path) => self.of_entity(call, *entity, path)?,
            Arguments::NodeType(name) => plain(self.nodes_of_type(name.text)),
            Arguments::Output(path) => plain(self.output(call, *path)?),
            Arguments::Artifact(entity, name) => plain(self.artifact(call, *entity, *name)?),
        };
        // The result of a function of a secret is a secret, too.
        let is_computed =
            matches!(call.function, Function::Concat | Function::Join | Function::Token);
        let is_secret = holds_secret(&value) || self.touched.get();
        self.touched.set(before || is_secret);
        Ok(if is_secret && is_computed { (SENSITIVE.into(), None) } else { (value, form) })
    }

    fn text(
        &self,
        node: Node<'_>,
        section: &'static str,
        depth: usize,
    ) -> Result<String, Diagnostic> {
        match self.value(node, depth + 1)? {
            // The value is neither a string nor a call that gives one.
            Value::Null | Value::List(_) | Value::Map(_) => {
                Err(wrong(node, section, "expected a string, or a function that gives one"))
            }
            scalar => Ok(node.text().map_or_else(|| scalar.to_string(), str::to_owned)),
        }
    }

    fn joined(
        &self,
        parts: &[Node<'_>],
        delimiter: &str,
        depth: usize,
    ) -> Result<Value, Diagnostic> {
        let texts = parts.iter().map(|part| self.text(*part, "4.3.1", depth));
        Ok(texts.collect::<Result<Vec<_>, _>>()?.join(delimiter).into())
    }

    fn join(
        &self,
        list: Node<'_>,
        delimiter: Option<Node<'_>>,
        depth: usize,
    ) -> Result<Value, Diagnostic> {
        let delimiter =
            delimiter.map(|node| self.text(node, "4.3.2", depth)).transpose()?.unwrap_or_default();
        if list.kind() == NodeKind::Sequence {
            return self.joined(&list.items().collect::<Vec<_>>(), &delimiter, depth);
        }
        let value = self.value(list, depth + 1)?;
        let Value::List(items) = &value else {
            return Err(wrong(list, "4.3.2", format!("expected a list, got {}", value.describe())));
        };
        if let Some(part) =
            items.iter().find(|item| matches!(item, Value::Null | Value::List(_) | Value::Map(_)))
        {
            return Err(wrong(
                list,
                "4.3.2",
                format!("expected a list of strings, got one with {}", part.describe()),
            ));
        }
        Ok(items.iter().map(Value::to_string).collect::<Vec<_>>().join(&delimiter).into())
    }

    fn token(
        &self,
        [text, characters, index]: [Node<'_>; 3],
        depth: usize,
    ) -> Result<Value, Diagnostic> {
        let whole = self.text(text, "4.3.3", depth)?;
        let characters = self.text(characters, "4.3.3", depth)?;
        let at = self.value(index, depth + 1)?;
        if self.touched.get() {
            return Ok(SENSITIVE.into());
        }
        let position = match &at {
            Value::Number(number) => number.as_int().and_then(|at| usize::try_from(at).ok()),
            _ => None,
        };
        let position = position.ok_or_else(|| {
            wrong(
                index,
                "4.3.3",
                format!("the index of a substring has to be an integer from 0 up, not {at}"),
            )
        })?;
        let part = whole.split(|c| characters.contains(c)).nth(position).map(Value::from);
        part.ok_or_else(|| wrong(index, "4.3.3", format!("the string has no substring {position}")))
    }

    fn input(&self, input: Node<'_>, path: &[Node<'_>]) -> Result<TypedValue, Diagnostic> {
        let model = self.walk.model;
        let name = match input.scalar() {
            Some(Scalar::Int(_)) => {
                let message = "inputs of an instance are in the order of their names: name the one that is meant";
                return Err(wrong(input, "4.4.1", message));
            }
            _ => input.text().unwrap_or_default(),
        };
        let Some(value) = model.inputs.get(name) else {
            let message = format!("the instance was made without an input `{name}`");
            let help = did_you_mean(name, model.inputs.keys().map(|name| &**name));
            return Err(Diagnostic::error(Code::MissingInput, message)
                .at(input.span())
                .section("4.4.1")
                .help_opt(help));
        };
        let value = self.walk.shown.value(value);
        let value = match function_in(&value) {
            Some(_) => self.evaluated(&value, None, input)?,
            None => value,
        };
        let value = self.part(value, path)?;
        Ok((value, self.form_of(&InstanceValue::Input(name), path)))
    }

    fn nodes_of_type(&self, wanted: &str) -> Value {
        let derives = self.walk.reading.derives;
        let nodes = self.walk.model.nodes.iter();
        let meant = nodes
            .filter(|(_, node)| *node.type_name == *wanted || derives(&node.type_name, wanted));
        meant.map(|(id, _)| Value::String(id.clone())).collect::<Vec<_>>().into()
    }

    fn of_entity(
        &self,
        call: &Call<'_>,
        entity: Name<'_>,
        path: &[Node<'_>],
    ) -> Result<TypedValue, Diagnostic> {
        let wants = Wanted { function: call.function, entity, path };
        if let ("HOST", Some(ModelEntity::Node(_, node))) = (entity.text, self.site.get()) {
            return self.of_hosts(&wants, node);
        }
        let Some(meant) = self.meant(entity) else { return Err(self.no_entity(&wants)) };
        let place = whole(meant, "");
        self.of_place(&wants, &place)?.ok_or_else(|| self.nothing(&wants, Some(&place)))
    }

    fn node(&self, id: &str) -> Option<ModelEntity<'m>> {
        let (id, node) = self.walk.model.nodes.get_key_value(id)?;
        Some(ModelEntity::Node(id, node))
    }

    fn group(&self, name: &str) -> Option<ModelEntity<'m>> {
        let (name, group) = self.walk.model.groups.get_key_value(name)?;
        Some(ModelEntity::Group(name, group))
    }

    /// The value in the nearest host of a node that has it.
    fn of_hosts(
        &self,
        wants: &Wanted<'_>,
        node: &'m NodeInstance,
    ) -> Result<TypedValue, Diagnostic> {
        let (mut seen, mut current) = (FxHashSet::default(), node);
        loop {
            let mut relations = current.requirements.values().flatten();
            let host = relations.find_map(|it| it.target.as_deref().filter(|_| it.hosting));
            let host = host.filter(|host| seen.insert(*host)).and_then(|host| self.node(host));
            let Some(ModelEntity::Node(id, node)) = host else {
                return Err(self.nothing(wants, None));
            };
            let place = whole(ModelEntity::Node(id, node), id);
            if let Some(value) = self.of_place(wants, &place)? {
                return Ok(value);
            }
            current = node;
        }
    }

    /// The entity that a name or keyword means.
    fn meant(&self, entity: Name<'_>) -> Option<ModelEntity<'m>> {
        match (entity.text, self.site.get()) {
            ("SELF", site) => site,
            ("SOURCE", Some(ModelEntity::Relation(source, ..))) => self.node(source),
            ("TARGET", Some(ModelEntity::Relation(.., relation))) => {
                relation.target.as_deref().and_then(|target| self.node(target))
            }
            (name, _) => self.node(name).or_else(|| self.group(name)),
        }
    }

    /// The output that an operation gave when it ran.
    fn output(
        &self,
        call: &Call<'_>,
        [entity, interface, operation, output]: [Name<'_>; 4],
    ) -> Result<Value, Diagnostic> {
        let wants = Wanted { function: call.function, entity, path: &[] };
        let metadata = match self.meant(entity) {
            Some(ModelEntity::Node(_, node)) => &node.metadata,
            Some(ModelEntity::Relation(.., relation)) => &relation.metadata,
            _ => return Err(self.no_entity(&wants)),
        };
        let kept = metadata.get(&*format!("{KEPT_OUTPUTS}{}.{}", interface.text, operation.text));
        let value = match kept {
            Some(Value::Map(entries)) => entries.iter().find(|(name, _)| **name == *output.text),
            _ => None,
        };
        let value = value.map(|(_, value)| self.walk.shown.value(value));
        value.ok_or_else(|| {
            let message = format!(
                "the operation `{}` of `{}` has not given the output `{}`",
                operation.text, entity.text, output.text
            );
            Diagnostic::error(Code::UnknownProperty, message)
                .at(output.at.span())
                .section(call.function.section())
        })
    }

    /// The path of an artifact, if the reader has files.
    fn artifact(
        &self,
        call: &Call<'_>,
        entity: Name<'_>,
        name: Name<'_>,
    ) -> Result<Value, Diagnostic> {
        let wants = Wanted { function: call.function, entity, path: &[] };
        let Some(ModelEntity::Node(node, _)) = self.meant(entity) else {
            return Err(self.no_entity(&wants));
        };
        let Some(path_of) = self.walk.reading.artifacts else {
            let message = "an instance has the names of artifacts, but not their paths";
            return Err(wrong(call.node, call.function.section(), message));
        };
        path_of(node, name.text).map(Value::from).ok_or_else(|| {
            let message = format!("`{node}` has no artifact `{}` that is a file", name.text);
            wrong(name.at, call.function.section(), message)
        })
    }

    fn no_entity(&self, wants: &Wanted<'_>) -> Diagnostic {
        let Name { text, at } = wants.entity;
        let section = wants.function.section();
        match (text, self.site.get()) {
            ("SELF" | "SOURCE" | "TARGET" | "HOST", None) => {
                let message = format!("`{text}` has no meaning outside of a template");
                let help = "name a node, or say whose function it is: `--of ELEMENT`";
                return wrong(at, section, message).help(help);
            }
            ("SOURCE" | "TARGET" | "HOST", Some(site)) => {
                let message = format!("`{}` has no `{text}`", site.identifier());
                let help = "relations have `SOURCE` and `TARGET`, and nodes may have a `HOST`";
                return wrong(at, section, message).help(help);
            }
            _ => {}
        }
        let nodes = &self.walk.model.nodes;
        let counted: Vec<_> =
            nodes.iter().filter(|(_, node)| node.template.as_deref() == Some(text)).collect();
        match &counted[..] {
            [] => {
                let message = format!("this instance has no node `{text}`");
                let names = nodes.keys().chain(self.walk.model.groups.keys());
                let help = did_you_mean(text, names.map(|name| &**name));
                Diagnostic::error(Code::UnknownElement, message)
                    .at(at.span())
                    .section(section)
                    .help_opt(help)
            }
            // The specification does not define what a function means for several nodes.
            [(first, _), ..] => {
                let message = format!(
                    "the instance has `{text}` {} times, so the function has no single value",
                    counted.len()
                );
                wrong(at, section, message).help(format!("name one of them, such as `{first}`"))
            }
        }
    }

    /// The value at a path in a node, relation or group. The first name may be a capability or a
    /// requirement of a node, otherwise it is a value of its own.
    fn of_place(
        &self,
        wants: &Wanted<'_>,
        place: &ModelPlace<'m>,
    ) -> Result<Option<TypedValue>, Diagnostic> {
        if let (ModelEntity::Node(_, node), [first, rest @ ..]) = (place.entity, wants.path)
            && !rest.is_empty()
        {
            let name = first.text().unwrap_or_default();
            if let Some(value) = self.of_capability(wants, place, name, rest)? {
                return Ok(Some(value));
            }
            for relation in node.requirements.get(name).into_iter().flatten() {
                if let Some(value) = self.of_relation(wants, name, relation, rest)? {
                    return Ok(Some(value));
                }
            }
        }
        self.own(wants, place, wants.path)
    }

    fn of_capability(
        &self,
        wants: &Wanted<'_>,
        place: &ModelPlace<'m>,
        name: &str,
        path: &[Node<'_>],
    ) -> Result<Option<TypedValue>, Diagnostic> {
        let capability = self.capability(place, name);
        capability.map_or(Ok(None), |capability| self.own(wants, &capability, path))
    }

    /// The capability of this name at the place of a node.
    fn capability(&self, place: &ModelPlace<'m>, name: &str) -> Option<ModelPlace<'m>> {
        let (mut all, mut found) = (Vec::new(), Vec::new());
        self.walk.step(place, Some("capabilities"), &mut all);
        all.iter().for_each(|all| self.walk.step(all, Some(name), &mut found));
        found.into_iter().next()
    }

    /// The value that a requirement leads to: in the capability that fulfils it, or in the target.
    fn of_relation(
        &self,
        wants: &Wanted<'_>,
        name: &str,
        relation: &RelationInstance,
        path: &[Node<'_>],
    ) -> Result<Option<TypedValue>, Diagnostic> {
        let Some(target) = relation.target.as_deref().and_then(|target| self.walk.node(target))
        else {
            return Ok(None);
        };
        for capability in self.capabilities(relation, name) {
            let found = self.of_capability(wants, &target, capability, path)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.own(wants, &target, path)
    }

    /// The capabilities of the target that a relation may use: the named one, otherwise those of
    /// the named type.
    fn capabilities<'c>(&self, relation: &'c RelationInstance, name: &'c str) -> Vec<&'c str>
    where
        'm: 'c,
    {
        let model = self.walk.model;
        let target = relation.target.as_ref().and_then(|target| model.nodes.get(target));
        let wanted = relation.capability.as_deref().unwrap_or(name);
        let Some(target) = target.filter(|node| !node.capabilities.contains_key(wanted)) else {
            return vec![wanted];
        };
        let derives = self.walk.reading.derives;
        let of_type = target.capabilities.iter().filter(|(_, own)| derives(&own.type_name, wanted));
        of_type.map(|(name, _)| &**name).collect()
    }

    /// A property or attribute of the place itself.
    fn own(
        &self,
        wants: &Wanted<'_>,
        place: &ModelPlace<'m>,
        path: &[Node<'_>],
    ) -> Result<Option<TypedValue>, Diagnostic> {
        let [first, rest @ ..] = path else { return Ok(None) };
        let kind = wants.kind();
        let hidden = self.walk.hidden.get();
        let (mut all, mut found) = (Vec::new(), Vec::new());
        self.walk.step(place, Some(kind), &mut all);
        all.iter().for_each(|all| {
            self.walk.step(all, Some(first.text().unwrap_or_default()), &mut found)
        });
        if self.walk.hidden.get() > hidden {
            let message = format!(
                "attributes of `{}` count as defined in stable states from `created` on only",
                place.entity.identifier()
            );
            return Err(Diagnostic::error(Code::NotVisible, message)
                .at(first.span())
                .help("show them as they are with `--unstable`"));
        }
        match found.into_iter().next().map(|place| place.what) {
            Some(PlaceContent::Value(value) | PlaceContent::Report(value, _)) => {
                let value = match function_in(&value) {
                    Some(_) => self.evaluated(&value, Some(place.entity), *first)?,
                    None => value,
                };
                let value = self.part(value, rest)?;
                Ok(Some((value, self.form(place, first.text().unwrap_or_default(), rest))))
            }
            _ => Ok(None),
        }
    }

    /// What the type of a value at a place makes of texts in a part of it.
    fn form(&self, place: &ModelPlace<'m>, name: &str, path: &[Node<'_>]) -> Option<TextType> {
        let is_of_capability = matches!(place.what, PlaceContent::Capability(_));
        let capability = is_of_capability.then_some(place.name);
        self.form_of(&place.entity.value(capability, name)?, path)
    }

    /// What the type of a value makes of texts in a part of it, if a function asks for that.
    fn form_of(&self, of: &InstanceValue<'_>, path: &[Node<'_>]) -> Option<TextType> {
        let forms = self.walk.reading.forms.filter(|_| self.asks_form.get())?;
        let path = path.iter().map(|step| step.text().unwrap_or_default().to_owned());
        forms(of, &path.collect::<Vec<_>>()).map(|form| form.0)
    }

    /// A value of an entity, or of an input, that was kept with functions in it.
    fn evaluated(
        &self,
        value: &Value,
        site: Option<ModelEntity<'m>>,
        at: Node<'_>,
    ) -> Result<Value, Diagnostic> {
        let within = self.within.replace(self.within.get() + 1);
        if within > DEPTH {
            let message = format!("more than {DEPTH} values refer to each other");
            return Err(wrong(at, "4.3", message));
        }
        let document = parse(FileId::DETACHED, write_flow(value).into(), &Limits::default());
        let around = self.site.replace(site);
        // The places are those of a text that nobody sees.
        let found = document.and_then(|document| self.value(document.root(), 0));
        self.site.set(around);
        self.within.set(within);
        found.map_err(|error| error.without_labels().at(at.span()))
    }

    /// The node that a path of names leads to, and the name of its attribute.
    fn end(&self, wants: &Wanted<'_>, place: Option<&ModelPlace<'m>>) -> (String, String) {
        let text = |at: usize| wants.path.get(at).and_then(|step| step.text()).unwrap_or_default();
        let name = text(0).to_owned();
        let Some(ModelPlace { entity: ModelEntity::Node(id, node), what, name: own, .. }) = place
        else {
            return (wants.entity.text.to_owned(), name);
        };
        if let PlaceContent::Capability(_) = what {
            return (id.to_string(), format!("{own}.{name}"));
        }
        if wants.path.len() == 1 || node.attributes.contains_key(&*name) {
            return (id.to_string(), name);
        }
        if node.capabilities.contains_key(&*name) {
            return (id.to_string(), format!("{name}.{}", text(1)));
        }
        let mut relations = node.requirements.get(&*name).into_iter().flatten();
        match relations.find_map(|relation| relation.target.as_ref()) {
            Some(target) => (target.to_string(), text(1).to_owned()),
            None => (id.to_string(), name),
        }
    }

    fn nothing(&self, wants: &Wanted<'_>, place: Option<&ModelPlace<'m>>) -> Diagnostic {
        let [first, ..] = wants.path else {
            return wrong(wants.entity.at, "4.4", "a name is missing");
        };
        let name = first.text().unwrap_or_default();
        if let Some(relation @ ModelEntity::Relation(..)) = place.map(|place| place.entity) {
            let (kept, relation) = (wants.kind(), relation.identifier());
            let message = format!("instances keep no {kept} of relationships: `{relation}`");
            let error = Diagnostic::error(Code::UnknownProperty, message).at(first.span());
            let help = match kept {
                "properties" => "what the template says of them, `cuvee resolve --evaluate` tells",
                _ => "ask for an attribute of its source, its target or its capability",
            };
            return error.section(wants.function.section()).help(help);
        }
        if let Some(lacking) = self.walk.reading.lacking.filter(|_| wants.kind() == "attributes") {
            let (node, name) = self.end(wants, place);
            lacking(&node, &name);
        }
        let (mut all, mut own) = (Vec::new(), Vec::new());
        if let Some(place) = place {
            self.walk.step(place, Some(wants.kind()), &mut all);
        }
        all.iter().for_each(|all| self.walk.step(all, None, &mut own));
        let noun = if wants.kind() == "properties" { "property" } else { "attribute" };
        let message = format!("`{}` has no {noun} `{name}` with a value", wants.entity.text);
        let help = did_you_mean(name, own.iter().map(|place| place.name));
        let error = Diagnostic::error(Code::UnknownProperty, message).at(first.span());
        error.section(wants.function.section()).help_opt(help)
    }
}

/// The call of TOSCA 2.0 that a node is, whatever file it came from: the model knows no versions, and
/// in version 1.3 nobody writes the like.
fn called_2_0(node: Node<'_>) -> Option<(&str, Option<Node<'_>>)> {
    let call = v2_0::called(node).filter(|(name, _)| *name != SECRET_MARK)?;
    (call.1.is_some() || INDICES.contains(&call.0)).then_some(call)
}

/// Why an instance does not know the value of a function.
fn unanswered(name: &str) -> Option<&'static str> {
    Some(match name {
        "node_index" => "name the node whose index it is with `--of`",
        "relationship_index" => {
            "name the relation whose index it is with `--of`, such as `relation.db@0.node.shop`"
        }
        "available_allocation" => "an instance does not know what relations take of a capability",
        "value" => "`$value` has a meaning in a `validation` only",
        _ => return None,
    })
}

/// The index of a node among those of its template.
fn index(id: &str, node: &NodeInstance) -> i64 {
    let index = id.rsplit_once('@').filter(|_| node.template.is_some());
    index.and_then(|(_, index)| index.parse().ok()).unwrap_or_default()
}

/// The value that a call wants.
struct Wanted<'c> {
    function: Function,
    entity: Name<'c>,
    path: &'c [Node<'c>],
}

impl Wanted<'_> {
    fn kind(&self) -> &'static str {
        if self.function == Function::GetProperty { "properties" } else { "attributes" }
    }
}

impl ModelFunctions<'_, '_> {
    /// A part of a value, by names and positions.
    fn part(&self, value: Value, path: &[Node<'_>]) -> Result<Value, Diagnostic> {
        path.iter().try_fold(value, |value, step| {
            let name = step.text().unwrap_or_default();
            let found = match &value {
                Value::List(items) => self.position_named(name).and_then(|at| items.get(at)),
                Value::Map(entries) => {
                    entries.iter().find(|(own, _)| **own == *name).map(|it| &it.1)
                }
                // A part of a secret is a secret.
                Value::String(text) if &**text == SENSITIVE => Some(&value),
                _ => None,
            };
            let message = || format!("{} has no part `{name}`", value.describe());
            found.cloned().ok_or_else(|| wrong(*step, "4.4.2", message()))
        })
    }

    /// A position in a list. It may be that of the node among those of its template, which is
    /// `INDEX` in version 1.3 (section 2.20.2).
    fn position_named(&self, name: &str) -> Option<usize> {
        match (name, self.site.get()) {
            ("INDEX" | "$node_index", Some(ModelEntity::Node(id, node))) => {
                usize::try_from(index(id, node)).ok()
            }
            _ => name.parse().ok(),
        }
    }
}

/// Whether a value has a secret in it that is not shown.
pub(crate) fn holds_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => &**text == SENSITIVE,
        Value::List(items) => items.iter().any(holds_secret),
        Value::Map(entries) => entries.iter().any(|(_, value)| holds_secret(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
