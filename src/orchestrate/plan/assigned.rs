//! Tells what nodes and relations have, whether their templates say so or their types: properties,
//! capabilities, artifacts and operations.

use super::behavior::Behaviors;
use crate::topology::diff::{Change, values};
use crate::topology::scope::TopologyScope;
use crate::topology::sensitive::{SecretOwner, kept_secret};
use crate::topology::{
    AssignedValue, NodeIndex, RelationIndex, Spanned, Topology, TopologyArtifact, TopologyElement,
};
use crate::tosca::evaluate::fulfilling;
use crate::tosca::function::function_in;
use crate::tosca::types::Parts;
use crate::tosca::{ArtifactDefinition, EffectiveType, PropertyDefinition};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use std::borrow::Cow;
use std::sync::Arc;

/// A value with the place where it is written, in a template or a type.
pub(super) type WrittenValue<'v> = (Cow<'v, Value>, Span);

/// The values that an element assigns, and the definitions with their defaults.
pub(super) struct EffectiveValues<'v, 'a> {
    pub(super) values: &'v [AssignedValue],
    pub(super) defined: Option<&'v Parts<'a, PropertyDefinition<'a>>>,
    pub(super) owner: SecretOwner,
    /// The capability of the owner that has the values, if one does.
    pub(super) capability: Option<&'v str>,
}

impl<'v> EffectiveValues<'v, '_> {
    /// The names of the assigned values and, unless they do not matter, of the defaults.
    pub(super) fn names(&self, without_defaults: bool) -> impl Iterator<Item = &'v str> {
        let defined = self.defined.filter(|_| !without_defaults);
        let is_more = move |one: &&AssignedValue| {
            defined.is_none_or(|defined| !defined.contains_key(&*one.name))
        };
        let more = self.values.iter().filter(is_more).map(|one| &*one.name);
        defined.into_iter().flat_map(|defined| defined.keys().copied()).chain(more)
    }
}

/// An artifact of a node.
pub(super) struct NodeArtifact<'v> {
    pub(super) name: &'v str,
    pub(super) file: Option<Spanned<String>>,
    /// Its other keynames, except those for people.
    pub(super) rest: Value,
    /// Whether its type is a type of deployment artifacts.
    pub(super) is_deployment: bool,
    pub(super) span: Span,
}

/// The keynames of artifacts that say nothing to programs, or are compared otherwise.
const NOT_COMPARED: [&str; 4] = ["description", "metadata", "file", "type"];

impl<'t, 'a> Behaviors<'t, 'a> {
    /// The value of a name: the assigned one, otherwise the default.
    pub(super) fn value_of<'v>(
        &self,
        assigned: &EffectiveValues<'v, 'a>,
        name: &str,
    ) -> Option<WrittenValue<'v>> {
        let own = assigned.values.iter().rfind(|one| one.name == name);
        if let Some(own) = own.filter(|own| own.value.value != Value::Null) {
            return Some((Cow::Borrowed(&own.value.value), own.value.span));
        }
        let definition = &assigned.defined?.get(name)?.definition;
        let node = definition.value.or(definition.default).filter(|node| !node.is_null())?;
        let secrecy = self.secrets().slot(assigned.owner, assigned.capability, name);
        Some((Cow::Owned(self.value(node, assigned.owner.of_values(), &secrecy)), node.span()))
    }

    /// Whether a change of the value of a name touches what is secret of it. `inner` leads from the
    /// value to what changes.
    pub(super) fn is_sensitive(
        &self,
        assigned: &EffectiveValues<'_, 'a>,
        name: &str,
        (inner, change): (&str, &Change),
    ) -> bool {
        let secrecy = self.secrets().slot(assigned.owner, assigned.capability, name);
        let mut sides = change.edit.sides().into_iter().flatten();
        sides.any(|value| self.secrets().touches_within(&secrecy, inner, value))
    }

    /// The differences between a value of another variant and one of this, below a path.
    pub(super) fn differences(
        &self,
        path: String,
        was: Option<&Value>,
        is: Option<&Value>,
    ) -> Vec<Change> {
        let mut found = values(path, was, is);
        found.retain(|change| !self.is_same_secret(change));
        found
    }

    /// Whether a change is none, because both sides have the same value, and one of them hides it: a
    /// text may be a secret of one variant, and occur in another by chance.
    pub(super) fn is_same_secret(&self, change: &Change) -> bool {
        let (Some(keeping), [Some(was), Some(is)]) = (self.keeping, change.edit.sides()) else {
            return false;
        };
        match (kept_secret(was), kept_secret(is)) {
            (Some(_), None) => keeping.secret(is) == *was,
            (None, Some(_)) => keeping.secret(was) == *is,
            _ => false,
        }
    }

    /// The properties of a node.
    pub(super) fn properties(&self, node: NodeIndex) -> EffectiveValues<'t, 'a> {
        EffectiveValues {
            values: &self.topology.node(node).described.properties,
            defined: self.effective(node).map(|defined| &defined.properties),
            owner: SecretOwner::Node(node),
            capability: None,
        }
    }

    /// The names of the capabilities of a node, each once.
    pub(super) fn capabilities(&self, node: NodeIndex) -> Vec<&'t str> {
        let defined = self.effective(node).into_iter();
        let mut all: Vec<&str> = defined.flat_map(|it| it.capabilities.keys().copied()).collect();
        let written = self.topology.node(node).capabilities.iter().map(|one| &*one.name);
        all.extend(written.filter(|name| !all.contains(name)).collect::<Vec<_>>());
        all
    }

    /// The properties of a capability of a node.
    pub(super) fn capability<'v>(&self, node: NodeIndex, name: &'v str) -> EffectiveValues<'v, 'a>
    where
        't: 'v,
    {
        let assigned = |topology: &'t Topology| {
            let found = topology.node(node).capabilities.iter().find(|one| one.name == name);
            found.map_or(&[][..], |found| &found.properties)
        };
        let defined = self.effective(node).and_then(|it| it.capabilities.get(name));
        EffectiveValues {
            values: assigned(self.topology),
            defined: defined.map(|defined| &defined.definition.properties),
            owner: SecretOwner::Node(node),
            capability: Some(name),
        }
    }

    /// The properties of a relation.
    pub(super) fn relation_properties(&self, relation: RelationIndex) -> EffectiveValues<'t, 'a> {
        let assigned = |topology: &'t Topology| {
            let template = topology.relation(relation).relationship;
            let template = template.map(|id| topology.relationship(id));
            template.map_or(&[][..], |template| &template.described.properties)
        };
        EffectiveValues {
            values: assigned(self.topology),
            defined: self.relation_effective(relation).map(|defined| &defined.properties),
            owner: SecretOwner::Relation(relation),
            capability: None,
        }
    }

    /// The artifacts of a node. What its template says of one is put over what its type says.
    pub(super) fn artifacts(&self, node: NodeIndex) -> Vec<NodeArtifact<'t>> {
        let own = &self.topology.node(node).artifacts;
        let defined = self.effective(node).map(|defined| &defined.artifacts);
        let of_type = |name: &str| defined.and_then(|all| Some(&all.get(name)?.definition));
        let inherited = defined.into_iter().flat_map(|all| all.keys().copied());
        let inherited = inherited.filter(|name| own.iter().all(|one| one.name != *name));
        let inherited = inherited.map(|name| self.artifact(node, name, None, of_type(name)));
        let own =
            own.iter().map(|one| self.artifact(node, &one.name, Some(one), of_type(&one.name)));
        inherited.chain(own).collect()
    }

    fn artifact(
        &self,
        node: NodeIndex,
        name: &'t str,
        own: Option<&TopologyArtifact>,
        of_type: Option<&ArtifactDefinition<'_>>,
    ) -> NodeArtifact<'t> {
        let file = of_type
            .and_then(|it| it.file)
            .and_then(|file| Some(Spanned { value: file.text()?.to_owned(), span: file.span() }));
        let own_kind = own.and_then(|own| own.type_name.as_ref());
        let kind = self.artifact_type(node, own_kind, of_type.and_then(|it| it.kind));
        let mut rest = keynames(of_type);
        for (key, value) in own.map(written).unwrap_or_default() {
            rest.retain(|(known, _)| *known != key);
            rest.push((key, value));
        }
        if let Some((name, _)) = &kind {
            rest.push(("type".into(), Value::from(&**name)));
        }
        rest.sort_by(|one, other| one.0.cmp(&other.0));
        let span = own.map(|own| own.span).or(of_type.map(|it| it.named.key.span()));
        NodeArtifact {
            name,
            file: own.and_then(|own| own.file.clone()).or(file),
            rest: Value::Map(rest.into()),
            is_deployment: kind.is_some_and(|(_, is_deployment)| is_deployment),
            span: span.unwrap_or(Span::DETACHED),
        }
    }

    /// The capabilities of its target by which a relation fulfils its requirement.
    pub(super) fn fulfilling(
        &self,
        scope: &TopologyScope<'t, 'a>,
        relation: RelationIndex,
    ) -> Vec<&'t str> {
        let ends = self.topology.relation(relation);
        let Some(target) = ends.target else { return Vec::new() };
        let [source, target] = [ends.source, target].map(TopologyElement::Node);
        fulfilling(scope, [source, TopologyElement::Relation(relation), target])
    }
}

/// Whether two types give the same defaults to properties, also to those of capabilities. Functions
/// in defaults may have another value at each node.
pub(super) fn have_same_defaults(one: &EffectiveType<'_>, other: &EffectiveType<'_>) -> bool {
    let capabilities = |of: &EffectiveType<'_>| of.capabilities.len();
    have_same_values(&one.properties, &other.properties)
        && capabilities(one) == capabilities(other)
        && one.capabilities.iter().all(|(name, part)| {
            other.capabilities.get(name).is_some_and(|other| {
                have_same_values(&part.definition.properties, &other.definition.properties)
            })
        })
}

fn have_same_values(
    one: &Parts<'_, PropertyDefinition<'_>>,
    other: &Parts<'_, PropertyDefinition<'_>>,
) -> bool {
    let value = |of: &PropertyDefinition<'_>| of.value.or(of.default).map(Node::to_value);
    one.len() == other.len()
        && one.iter().all(|(name, part)| {
            let value_of_one = value(&part.definition);
            let is_function = value_of_one.as_ref().is_some_and(|it| function_in(it).is_some());
            !is_function
                && other.get(name).is_some_and(|other| value(&other.definition) == value_of_one)
        })
}

type ArtifactKeynames = Vec<(Arc<str>, Value)>;

/// The keynames of an artifact in a type, except its type and file.
fn keynames(of_type: Option<&ArtifactDefinition<'_>>) -> ArtifactKeynames {
    let entries = of_type.map(|it| it.named.value.entries()).into_iter().flatten();
    let entries = entries.map(|(key, value)| (key.key_text().into(), value.to_value()));
    entries.filter(|(key, _): &(Arc<str>, Value)| is_compared(key)).collect()
}

/// The keynames of an artifact in a template, except its type and file.
fn written(own: &TopologyArtifact) -> ArtifactKeynames {
    let text = |key: &str, value: &Option<Spanned<String>>| {
        Some((Arc::from(key), Value::from(&*value.as_ref()?.value)))
    };
    let properties = own.properties.iter();
    let properties: ArtifactKeynames =
        properties.map(|one| (one.name.as_str().into(), one.value.value.clone())).collect();
    let properties =
        (!properties.is_empty()).then(|| (Arc::from("properties"), Value::Map(properties.into())));
    let others = own.others.iter().map(|one| (one.name.as_str().into(), one.value.value.clone()));
    let all = text("repository", &own.repository)
        .into_iter()
        .chain(text("deploy_path", &own.deploy_path))
        .chain(properties)
        .chain(others);
    all.filter(|(key, _)| is_compared(key)).collect()
}

fn is_compared(key: &str) -> bool {
    !NOT_COMPARED.contains(&key)
}
