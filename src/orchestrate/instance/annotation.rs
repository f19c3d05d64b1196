//! Reads and changes the annotations of entities: metadata for programs (I-2), and links to things
//! outside the instance (I-16). Every entity may have both.

use super::model::{Annotations, ByName, InstanceModel, relation_identifier};
use super::reduce::{Entity, ImpossibleEvent, impossible};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee_text::value::Value;
use std::sync::Arc;

type EntityLinks = ByName<Arc<str>>;
type EntityMetadata = ByName<Value>;

/// The annotations of an input or output that has none.
static NOTHING: Annotations =
    Annotations { links: EntityLinks::new(), metadata: EntityMetadata::new() };

impl InstanceModel {
    /// The links and metadata of an entity, by its identifier; `None` if no such entity exists.
    pub(super) fn annotations(&self, entity: &str) -> Option<(&EntityLinks, &EntityMetadata)> {
        match Entity::of(entity) {
            Entity::Node(id) => self.nodes.get(id).map(|it| (&it.links, &it.metadata)),
            Entity::Group(name) => self.groups.get(name).map(|it| (&it.links, &it.metadata)),
            Entity::Policy(name) => self.policies.get(name).map(|it| (&it.links, &it.metadata)),
            Entity::Relation(identifier) => {
                let relation = self.relation_at(&self.relation_path(identifier)?)?;
                Some((&relation.links, &relation.metadata))
            }
            Entity::Input(name) => of_value(&self.inputs, &self.input_annotations, name),
            Entity::Output(name) => of_value(&self.outputs, &self.output_annotations, name),
            Entity::Unknown => None,
        }
    }

    /// Changes the links and metadata of an entity.
    pub(super) fn annotate(
        &mut self,
        entity: &str,
        change: impl FnOnce(&mut EntityLinks, &mut EntityMetadata),
    ) -> Result<(), ImpossibleEvent> {
        let none = || impossible(format!("there is no `{entity}`"));
        let (links, metadata) = match Entity::of(entity) {
            Entity::Node(id) => self.nodes.get_mut(id).map(|it| (&mut it.links, &mut it.metadata)),
            Entity::Group(name) => {
                self.groups.get_mut(name).map(|it| (&mut it.links, &mut it.metadata))
            }
            Entity::Policy(name) => {
                self.policies.get_mut(name).map(|it| (&mut it.links, &mut it.metadata))
            }
            Entity::Relation(identifier) => {
                let path = self.relation_path(identifier).ok_or_else(none)?;
                self.relation_mut(&path).map(|it| (&mut it.links, &mut it.metadata))
            }
            Entity::Input(name) => {
                return annotate_value(&self.inputs, &mut self.input_annotations, name, change)
                    .ok_or_else(none);
            }
            Entity::Output(name) => {
                return annotate_value(&self.outputs, &mut self.output_annotations, name, change)
                    .ok_or_else(none);
            }
            Entity::Unknown => None,
        }
        .ok_or_else(none)?;
        change(links, metadata);
        Ok(())
    }

    /// The identifier of the entity that somebody names. For a node, group or policy the name is
    /// enough.
    pub(super) fn entity_named(&self, said: &str) -> Option<String> {
        let named = ["node", "group", "policy"].map(|kind| format!("{kind}.{said}"));
        let all = std::iter::once(said.to_owned()).chain(named);
        all.into_iter().find(|entity| self.annotations(entity).is_some())
    }

    /// The error that no entity has this name, with suggestions.
    pub(crate) fn no_entity(&self, said: &str) -> Diagnostic {
        let message = format!("there is no `{said}` in this instance");
        let error = Diagnostic::error(Code::UnknownElement, message);
        let of_kind =
            ["node.", "group.", "policy."].iter().find_map(|kind| said.strip_prefix(kind));
        let name = of_kind.unwrap_or(said);
        let mut counted =
            self.nodes.iter().filter(|(_, node)| node.template.as_deref() == Some(name));
        if let Some((first, _)) = counted.next() {
            let count = counted.count() + 1;
            return error.help(match count {
                1 => format!("1 node is of that template: `{first}`"),
                _ => format!(
                    "{count} nodes are of that template: name one of them, such as `{first}`"
                ),
            });
        }
        let values = |kind: &'static str, values: &ByName<Value>| -> Vec<String> {
            match said.starts_with(kind) {
                true => values.keys().map(|name| format!("{kind}.{name}")).collect(),
                false => Vec::new(),
            }
        };
        let mut identifiers =
            [values("input", &self.inputs), values("output", &self.outputs)].concat();
        if said.starts_with("relation.") {
            let relations = self.relations();
            identifiers.extend(
                relations.map(|(id, name, one)| relation_identifier(id, name, one.position)),
            );
        }
        let all = self.nodes.keys().chain(self.groups.keys()).chain(self.policies.keys());
        let known = all.map(|name| &**name).chain(identifiers.iter().map(|name| &**name));
        error.help_opt(did_you_mean(name, known))
    }
}

fn of_value<'m>(
    values: &ByName<Value>,
    said: &'m ByName<Annotations>,
    name: &str,
) -> Option<(&'m EntityLinks, &'m EntityMetadata)> {
    values.get(name)?;
    let said = said.get(name).unwrap_or(&NOTHING);
    Some((&said.links, &said.metadata))
}

/// Changes the annotations of an input or output, and keeps them only if any are left.
fn annotate_value(
    values: &ByName<Value>,
    said: &mut ByName<Annotations>,
    name: &str,
    change: impl FnOnce(&mut EntityLinks, &mut EntityMetadata),
) -> Option<()> {
    let (name, _) = values.get_key_value(name)?;
    let mut of_name = said.remove(name).unwrap_or_default();
    change(&mut of_name.links, &mut of_name.metadata);
    if of_name != NOTHING {
        said.insert(Arc::clone(name), of_name);
    }
    Some(())
}
