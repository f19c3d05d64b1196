//! Follows the paths of TOSCA 2.0 (section 10.3) that version 1.3 does not have through a model.

use super::{ModelFunctions, TypedValue, Wanted, whole};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::model::{NodeInstance, RelationInstance};
use crate::orchestrate::instance::query::place::{
    ModelEntity, ModelPlace, PlaceContent, relation_place,
};
use crate::tosca::function::{Function, Name};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Scalar};
use std::sync::Arc;

/// Which nodes of a template a path begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeChoice {
    One(i64),
    All,
}

/// The nodes that a step behind the name of a template chooses.
pub(super) fn node_index(step: Node<'_>) -> Option<NodeChoice> {
    match step.scalar() {
        Some(Scalar::Int(index)) => Some(NodeChoice::One(index)),
        _ => (step.as_str() == Some("ALL")).then_some(NodeChoice::All),
    }
}

/// What a step of a path leads to: places, the rest of the path, and whether it asks for all.
type NextPlaces<'m, 'n> = (Vec<ModelPlace<'m>>, &'n [Node<'n>], bool);

impl<'m> ModelFunctions<'m, '_> {
    /// The index of a relation among those of its requirement.
    pub(super) fn position(&self, source: &str, name: &str, relation: &RelationInstance) -> i64 {
        let relations =
            self.walk.model.nodes.get(source).and_then(|node| node.requirements.get(name));
        // The relation itself may not be there yet.
        let before = relations.into_iter().flatten().filter(|one| one.position < relation.position);
        i64::try_from(before.count()).unwrap_or_default()
    }

    /// The value at the end of a path that leads on from an entity. Where a step asks for all, it is
    /// the list of all values.
    pub(super) fn along<'n>(
        &self,
        function: Function,
        first: Node<'n>,
        mut rest: &'n [Node<'n>],
    ) -> Result<TypedValue, Diagnostic> {
        let text = first.text().unwrap_or_default();
        let entity = Name { text, at: first };
        let index = rest.first().and_then(|step| node_index(*step));
        if index.is_some() {
            rest = rest.get(1..).unwrap_or_default();
        }
        let mut places = self.beginnings(entity, index.unwrap_or(NodeChoice::One(0)));
        if places.is_empty() {
            let named = match index {
                Some(NodeChoice::One(index)) => format!("{text}@{index}"),
                _ => text.to_owned(),
            };
            let entity = Name { text: &named, at: first };
            return Err(self.no_entity(&Wanted { function, entity, path: rest }));
        }
        let mut is_list = index == Some(NodeChoice::All);
        while let Some((next, behind, all)) = self.step(&places, rest)? {
            (places, rest, is_list) = (next, behind, is_list || all);
        }
        let wants = Wanted { function, entity, path: rest };
        let value = |place: &ModelPlace<'m>| {
            self.own(&wants, place, rest)?.ok_or_else(|| self.nothing(&wants, Some(place)))
        };
        let values = places.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let form = values.first().and_then(|(_, form)| form.clone());
        let mut values = values.into_iter().map(|(value, _)| value);
        let value = match is_list {
            true => Value::List(values.collect()),
            false => values.next().unwrap_or(Value::Null),
        };
        Ok((value, form))
    }

    /// The nodes of a template that a path begins with, or the one entity that the name means.
    fn beginnings(&self, entity: Name<'_>, choice: NodeChoice) -> Vec<ModelPlace<'m>> {
        if let Some(meant) = self.meant(entity) {
            // A node that is the only one of its template has no index.
            let is_chosen = matches!(choice, NodeChoice::All | NodeChoice::One(0));
            return is_chosen.then(|| whole(meant, "")).into_iter().collect();
        }
        let nodes = self.walk.model.nodes.iter();
        let mut nodes: Vec<_> =
            nodes.filter(|(_, node)| node.template.as_deref() == Some(entity.text)).collect();
        nodes.sort_by_key(|(_, node)| node.index);
        let is_chosen = |node: &NodeInstance| match choice {
            NodeChoice::All => true,
            NodeChoice::One(index) => node.index.map_or(0, i64::from) == index,
        };
        let chosen = nodes.into_iter().filter(|(_, node)| is_chosen(node));
        chosen.map(|(id, node)| whole(ModelEntity::Node(id, node), "")).collect()
    }

    /// Takes the next step from each place; nothing if the path has no more words.
    fn step<'n>(
        &self,
        places: &[ModelPlace<'m>],
        path: &'n [Node<'n>],
    ) -> Result<Option<NextPlaces<'m, 'n>>, Diagnostic> {
        let (mut found, mut after) = (Vec::new(), None);
        for place in places {
            if let Some((next, rest, all)) = self.step_from(place, path)? {
                found.extend(next);
                after = Some((rest, all));
            }
        }
        Ok(after.map(|(rest, all)| (found, rest, all)))
    }

    fn step_from<'n>(
        &self,
        place: &ModelPlace<'m>,
        path: &'n [Node<'n>],
    ) -> Result<Option<NextPlaces<'m, 'n>>, Diagnostic> {
        let (PlaceContent::Entity, [word, rest @ ..]) = (&place.what, path) else {
            return Ok(None);
        };
        let nothing = |what: String| {
            let message = format!("`{}` has no {what}", place.entity.identifier());
            Diagnostic::error(Code::UnknownElement, message).at(word.span())
        };
        match (place.entity, word.as_str(), rest) {
            (ModelEntity::Node(id, node), Some("RELATIONSHIP"), [name, rest @ ..]) => {
                let name = name.text().unwrap_or_default();
                let Some((own, all)) = node.requirements.get_key_value(name) else {
                    return Err(nothing(format!("requirement `{name}`")));
                };
                let all = all.iter().map(|relation| relation_place(id, own, relation)).collect();
                indexed(all, rest, nothing).map(Some)
            }
            (ModelEntity::Node(id, _), Some("CAPABILITY"), [name, rest @ ..]) => {
                self.at_capability(id, name.text().unwrap_or_default(), rest, nothing).map(Some)
            }
            (ModelEntity::Relation(source, ..), Some("SOURCE"), rest) => {
                Ok(self.walk.node(source).map(|node| (vec![node], rest, false)))
            }
            (ModelEntity::Relation(.., relation), Some("TARGET"), rest) => {
                let target = relation.target.as_deref().and_then(|id| self.walk.node(id));
                let target = target.ok_or_else(|| nothing("target".to_owned()))?;
                Ok(Some((vec![target], rest, false)))
            }
            (ModelEntity::Relation(_, name, relation), Some("CAPABILITY"), rest) => {
                let capability = self.capabilities(relation, name).into_iter().next();
                let ends = relation.target.as_deref().zip(capability);
                let (target, capability) = ends.ok_or_else(|| nothing("capability".to_owned()))?;
                self.at_capability(target, capability, rest, nothing).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A capability of a node, or the relations that lead to it.
    fn at_capability<'n>(
        &self,
        node: &str,
        name: &str,
        path: &'n [Node<'n>],
        nothing: impl Fn(String) -> Diagnostic,
    ) -> Result<NextPlaces<'m, 'n>, Diagnostic> {
        if let [word, rest @ ..] = path
            && word.as_str() == Some("RELATIONSHIP")
        {
            let leads = |it: &(_, &Arc<str>, &RelationInstance)| {
                it.2.target.as_deref() == Some(node)
                    && self.capabilities(it.2, it.1).contains(&name)
            };
            let all = self.walk.model.relations().filter(leads);
            let all = all.map(|(id, own, relation)| relation_place(id, own, relation)).collect();
            return indexed(all, rest, nothing);
        }
        let found = self.walk.node(node).and_then(|node| self.capability(&node, name));
        let found = found.ok_or_else(|| nothing(format!("capability `{name}`")))?;
        Ok((vec![found], path, false))
    }
}

/// The relations that an index means: `ALL`, a number, or without one the first.
fn indexed<'m, 'n>(
    relations: Vec<ModelPlace<'m>>,
    path: &'n [Node<'n>],
    nothing: impl Fn(String) -> Diagnostic,
) -> Result<NextPlaces<'m, 'n>, Diagnostic> {
    let (index, rest) = match path {
        [all, rest @ ..] if all.as_str() == Some("ALL") => return Ok((relations, rest, true)),
        [index, rest @ ..] if let Some(Scalar::Int(index)) = index.scalar() => (index, rest),
        rest => (0, rest),
    };
    let at = usize::try_from(index).ok();
    let one = at.and_then(|at| relations.into_iter().nth(at));
    let one = one.ok_or_else(|| nothing(format!("relation {index} of this kind")))?;
    Ok((vec![one], rest, false))
}
