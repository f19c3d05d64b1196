//! Decides which values are secret, so that they and values computed from them are named but never
//! shown.

use super::value_source::{ValueOwner, ValueSource, sources};
use super::{AssignedValue, NodeIndex, Topology, TopologyParameter, type_named};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::types::PropertyDefinition;
use crate::tosca::{Family, TypeId, TypeRef, Types};
use cuvee_text::value::{ReplacedPart, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Whether a name says that its value is secret.
pub(crate) fn is_sensitive_name(name: &str) -> bool {
    const WORDS: [&str; 5] = ["password", "passwd", "secret", "token", "private_key"];
    // Every name of a document is checked, and most names are short.
    let is_at = |part: &[u8], word: &str| part.eq_ignore_ascii_case(word.as_bytes());
    let mut words = WORDS.iter();
    words.any(|word| name.as_bytes().windows(word.len()).any(|part| is_at(part, word)))
}

/// Whether a step of a path has such a name: `property.login.password`.
pub(crate) fn is_sensitive_path(path: &str) -> bool {
    path.split(['.', '[']).any(is_sensitive_name)
}

/// The value that is kept in place of one that is marked as secret: a digest, the value itself, or
/// null.
pub(crate) fn kept_secret(value: &Value) -> Option<&Value> {
    let Value::Map(entries) = value else { return None };
    match &**entries {
        [(name, kept)] if &**name == "$sensitive" => Some(kept),
        _ => None,
    }
}

/// What the digest of a secret begins with.
pub(crate) const DIGEST: &str = "hmac-sha256:";

/// Whether a value has marked secrets, and of all of them only digests.
pub(crate) fn is_digested(value: &Value) -> bool {
    let is_digest = |kept: &Value| kept.as_str().is_some_and(|text| text.starts_with(DIGEST));
    let (mut has_any, mut has_other) = (false, false);
    value.replaced(&mut |part| match kept_secret(part) {
        Some(kept) => {
            has_any = true;
            has_other |= !is_digest(kept);
            ReplacedPart::Stays
        }
        None => ReplacedPart::Within,
    });
    has_any && !has_other
}

/// The value with the parts that are marked as secret hidden; `None` if there are none.
pub(crate) fn masked(value: &Value) -> Option<Value> {
    const HIDDEN: &str = "(sensitive)";
    value.replaced(&mut |part| match kept_secret(part) {
        Some(_) => ReplacedPart::By(Value::from(HIDDEN)),
        None => ReplacedPart::Within,
    })
}

/// Whether the definition says that the value is secret: by its metadata, else by its type. `None`
/// if the name decides.
pub(crate) fn of_definition(
    definition: &PropertyDefinition<'_>,
    types: &Types<'_>,
) -> Option<bool> {
    let said = definition.named.value.get("metadata").and_then(|said| said.get("sensitive"));
    let said = said.and_then(|said| said.text()).map(|text| text == "true");
    let kind = definition.schema.kind;
    judged(said, types, || types.find_in(Some(kind?.span().file), Family::Data, kind?.text()?))
}

/// Whether a value is secret: the metadata count first, then the type.
fn judged(
    said: Option<bool>,
    types: &Types<'_>,
    kind: impl FnOnce() -> Option<TypeId>,
) -> Option<bool> {
    said.or_else(|| is_credential(kind()?, types).then_some(true))
}

/// The errors in the value of an input, called `what`. For a sensitive input they are reduced to
/// the fact that the value is wrong, because messages show values.
pub(crate) fn told(
    found: Vec<Diagnostic>,
    definition: &PropertyDefinition<'_>,
    types: &Types<'_>,
    what: &str,
) -> Vec<Diagnostic> {
    let by_name = || is_sensitive_name(definition.named.name);
    if found.is_empty() || !of_definition(definition, types).unwrap_or_else(by_name) {
        return found;
    }
    let message = format!("{what} is sensitive, and has a value that its declaration rejects");
    vec![Diagnostic::error(Code::InvalidInput, message).at(definition.named.key.span())]
}

fn is_credential(id: TypeId, types: &Types<'_>) -> bool {
    let credential = types.find(Family::Data, "tosca.datatypes.Credential").map(TypeRef::Defined);
    credential.is_some_and(|credential| types.derives(TypeRef::Defined(id), credential))
}

/// Whether an input of the topology or of a workflow is secret, by its definition or else by its
/// name.
pub(crate) fn is_sensitive_input(input: &TopologyParameter, types: &Types<'_>) -> bool {
    let metadata = entry(&input.definition.value, "metadata");
    let said = metadata.and_then(|metadata| entry(metadata, "sensitive"));
    let said = said.map(|said| *said == Value::Bool(true) || said.as_str() == Some("true"));
    let kind = input.type_name.as_ref();
    judged(said, types, || type_named(types, Family::Data, kind?))
        .unwrap_or_else(|| is_sensitive_name(&input.name))
}

fn entry<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { return None };
    entries.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
}

/// Knows which values of a topology are secret. Functions must be as their author wrote them.
pub(crate) struct Sensitivity<'t, 'a> {
    topology: &'t Topology,
    types: &'t Types<'a>,
    /// Results so far. A property that is being examined counts as not secret, so a property that
    /// is computed from itself ends the search.
    properties: RefCell<FxHashMap<(NodeIndex, String), bool>>,
}

impl<'t, 'a> Sensitivity<'t, 'a> {
    pub(crate) fn of(topology: &'t Topology, types: &'t Types<'a>) -> Self {
        Self { topology, types, properties: RefCell::default() }
    }

    /// Whether a value is computed from a secret one.
    pub(crate) fn value(&self, value: &Value, owner: ValueOwner) -> bool {
        let mut is_secret = false;
        sources(self.topology, value, owner, &mut |source| {
            is_secret = is_secret
                || match source {
                    ValueSource::Input(name) => self.input(&name),
                    ValueSource::Property(node, name) => self.property(node, &name),
                    // The values of attributes are only known while a plan runs.
                    ValueSource::Attributes(_) => false,
                };
        });
        is_secret
    }

    /// Whether an input of the topology is secret.
    pub(crate) fn input(&self, name: &str) -> bool {
        let declared = self.topology.inputs.iter().find(|input| input.name == name);
        declared
            .map_or_else(|| is_sensitive_name(name), |input| is_sensitive_input(input, self.types))
    }

    /// Whether a property of a node is secret.
    pub(crate) fn property(&self, node: NodeIndex, name: &str) -> bool {
        let key = (node, name.to_owned());
        if let Some(&known) = self.properties.borrow().get(&key) {
            return known;
        }
        self.properties.borrow_mut().insert(key.clone(), false);
        let template = self.topology.node(node);
        let said = template.described.type_name.as_ref().and_then(|kind| {
            let id = type_named(self.types, Family::Node, kind)?;
            of_definition(&self.types.effective(id).properties.get(name)?.definition, self.types)
        });
        let assigned = || template.described.properties.iter().find(|one| one.name == name);
        let is_secret = said.unwrap_or_else(|| {
            let owner = ValueOwner::Node(node);
            is_sensitive_name(name)
                || assigned().is_some_and(|said| self.value(&said.value.value, owner))
        });
        self.properties.borrow_mut().insert(key, is_secret);
        is_secret
    }

    /// Whether an output of the topology is secret.
    pub(crate) fn output(&self, name: &str) -> bool {
        let output = self.topology.outputs.iter().find(|output| output.name == name);
        output.is_some_and(|output| {
            let value = output.value.as_ref();
            is_sensitive_input(output, self.types)
                || value.is_some_and(|value| self.value(&value.value, ValueOwner::Topology))
        })
    }

    /// Whether the value at this path of a node is secret; the path is written as in differences.
    pub(crate) fn at(&self, node: NodeIndex, path: &str) -> bool {
        let mut parts = path.split(['.', '[']);
        is_sensitive_path(path)
            || match (parts.next(), parts.next()) {
                (Some("property"), Some(name)) => self.property(node, name),
                (Some("interfaces"), Some(_)) => self.input_at(node, path),
                _ => false,
            }
    }

    /// Whether an input at a path such as `interfaces.Standard.create.inputs.url` is secret.
    fn input_at(&self, node: NodeIndex, path: &str) -> bool {
        let described = &self.topology.node(node).described;
        described.interfaces.iter().any(|interface| {
            let own =
                path.strip_prefix("interfaces.").and_then(|it| it.strip_prefix(&*interface.name));
            let Some(rest) = own.and_then(|rest| rest.strip_prefix('.')) else { return false };
            let of = |inputs: &[AssignedValue], rest: &str| {
                let name = rest.strip_prefix("inputs.").unwrap_or_default();
                let name = name.split(['.', '[']).next();
                let mut inputs = inputs.iter().filter(|input| Some(&*input.name) == name);
                inputs.any(|input| self.value(&input.value.value, ValueOwner::Node(node)))
            };
            of(&interface.inputs, rest)
                || interface.operations.iter().any(|operation| {
                    let rest = rest.strip_prefix("operations.").unwrap_or(rest);
                    let rest = rest.strip_prefix(&*operation.name);
                    let rest = rest.and_then(|rest| rest.strip_prefix('.'));
                    rest.is_some_and(|rest| of(&operation.inputs, rest))
                })
        })
    }
}
