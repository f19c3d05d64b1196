//! Changes a model on somebody's behalf without the orchestrator (I-52).

use super::apply::{impossible, none_open};
use super::event::Event;
use super::model::{InstanceModel, NodeInstance};
use super::report::{DeclaredName, ReportRules, Reported, check_metadata, illegal, no_node};
use super::transition::{ReportedState, skipped_between};
use super::unwritten::Unwritten;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::topology::sensitive::InstanceValue;
use cuvee_text::value::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// A change of a model that no orchestrator reports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEdit {
    /// Sets a value, or removes it.
    Set {
        /// The path of the value: `nodes/shop/properties/port`,
        /// `nodes/shop/capabilities/http/properties/port`, `nodes/shop/state`, `inputs/size`,
        /// `groups/web/metadata/owner`. As in references, `~1` stands for `/` in a name.
        path: String,
        /// The new value; `None` removes it.
        value: Option<Value>,
    },
    /// Takes a node that already exists outside into the instance.
    Adopt {
        /// The name of its type.
        type_name: Arc<str>,
        /// Its id.
        id: Arc<str>,
    },
    /// Drops a node from the instance. The node itself remains as it is.
    Forget {
        /// Its id.
        id: Arc<str>,
    },
    /// Gives a node another id.
    Rename {
        /// The old id.
        from: Arc<str>,
        /// The new id.
        to: Arc<str>,
    },
    /// Links an entity to something outside the instance, or removes the link.
    Link {
        /// The entity: `group.web`. For a node, a group or a policy the name is enough.
        entity: Arc<str>,
        /// The name of the link: the role of the outside thing for the entity.
        name: Arc<str>,
        /// The URI of the outside thing; `None` removes the link.
        uri: Option<Arc<str>>,
    },
}

/// The place that a path leads to.
enum EditedPlace {
    Property(Arc<str>, Option<Arc<str>>, Arc<str>),
    Attribute(Arc<str>, Option<Arc<str>>, Arc<str>),
    State(Arc<str>),
    GroupProperty(Arc<str>, Arc<str>),
    Input(Arc<str>),
    Output(Arc<str>),
    /// The metadata of an entity, otherwise of the instance.
    Metadata(Option<Arc<str>>, Arc<str>),
}

impl EditedPlace {
    fn of(path: &str) -> Option<Self> {
        let path = path.strip_prefix("#/").unwrap_or(path);
        let names: Vec<Arc<str>> =
            path.split('/').map(|name| Arc::from(&*unescaped(name))).collect();
        let name = |at: usize| Arc::clone(&names[at]);
        let words: Vec<&str> = names.iter().map(|name| &**name).collect();
        Some(match *words {
            ["nodes", _, "properties", _] => Self::Property(name(1), None, name(3)),
            ["nodes", _, "attributes", _] => Self::Attribute(name(1), None, name(3)),
            ["nodes", _, "state"] => Self::State(name(1)),
            ["nodes", _, "capabilities", _, "properties", _] => {
                Self::Property(name(1), Some(name(3)), name(5))
            }
            ["nodes", _, "capabilities", _, "attributes", _] => {
                Self::Attribute(name(1), Some(name(3)), name(5))
            }
            ["groups", _, "properties", _] => Self::GroupProperty(name(1), name(3)),
            ["inputs", _] => Self::Input(name(1)),
            ["outputs", _] => Self::Output(name(1)),
            ["metadata", _] => Self::Metadata(None, name(1)),
            [of, it, "metadata", _] => {
                let entity = match of {
                    "relations" => name(1),
                    "nodes" => format!("node.{it}").into(),
                    "groups" => format!("group.{it}").into(),
                    "policies" => format!("policy.{it}").into(),
                    "inputs" => format!("input.{it}").into(),
                    "outputs" => format!("output.{it}").into(),
                    _ => return None,
                };
                Self::Metadata(Some(entity), name(3))
            }
            _ => return None,
        })
    }
}

/// A segment of a JSON pointer with its escapes resolved.
fn unescaped(segment: &str) -> Cow<'_, str> {
    match segment.contains('~') {
        true => segment.replace("~1", "/").replace("~0", "~").into(),
        false => segment.into(),
    }
}

impl ModelEdit {
    /// Adds an edit to a record, whose origin is to be [`Edit`](super::RecordOrigin::Edit).
    ///
    /// ```
    /// use cuvee::deploy::instance::{InstanceModel, ModelEdit, RecordOrigin, ReportRules, Unwritten};
    /// let mut model = InstanceModel::default();
    /// let mut record = Unwritten::new(&mut model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Edit);
    /// let rules = ReportRules::default();
    /// ModelEdit::Adopt { type_name: "LoadBalancer".into(), id: "lb".into() }.add_to(&mut record, &rules)?;
    /// let port = ModelEdit::Set { path: "nodes/lb/properties/port".into(), value: Some(80.into()) };
    /// port.add_to(&mut record, &rules)?;
    /// let node = &record.model().nodes["lb"];
    /// assert_eq!((node.state.as_str(), &*node.edited[0]), ("started", "port"));
    /// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// `orchestration-open` unless `force` is set; `unknown-element`, `unknown-property`,
    /// `unknown-type`, `duplicate`, `invalid-value`, `illegal-transition`.
    pub fn add_to(
        &self,
        record: &mut Unwritten<'_>,
        rules: &ReportRules<'_, '_, '_>,
    ) -> Result<Reported, Diagnostic> {
        if !rules.force {
            none_open(record.model())
                .map_err(|error| error.help("end it first, or insist with `--force`"))?;
        }
        let event = match self {
            Self::Set { path, value } => set(record.model(), rules, path, value.as_ref())?,
            Self::Adopt { type_name, id } => {
                if record.model().nodes.contains_key(id) {
                    let message = format!("the instance has a node `{id}` already");
                    return Err(Diagnostic::error(Code::Duplicate, message));
                }
                check_type(rules, type_name)?;
                let (id, type_name) = (Arc::clone(id), Arc::clone(type_name));
                Some(Event::NodeAdopted { id, type_name })
            }
            Self::Forget { id } => {
                node(record.model(), id)?;
                for event in without(record.model(), id) {
                    record.add(event).map_err(impossible)?;
                }
                Some(Event::NodeForgotten { id: Arc::clone(id) })
            }
            Self::Rename { from, to } => {
                node(record.model(), from)?;
                if from != to && record.model().nodes.contains_key(to) {
                    let message = format!("the instance has a node `{to}` already");
                    return Err(Diagnostic::error(Code::Duplicate, message));
                }
                let (id, to) = (Arc::clone(from), Arc::clone(to));
                (id != to).then_some(Event::NodeRenamed { id, to })
            }
            Self::Link { entity, name, uri } => {
                let model = record.model();
                let none = || model.no_entity(entity);
                let entity = model.entity_named(entity).ok_or_else(none)?;
                let (links, _) = model.annotations(&entity).ok_or_else(none)?;
                let is_known = links.get(name) == uri.as_ref();
                let (entity, name, uri) = (entity.into(), Arc::clone(name), uri.clone());
                (!is_known).then_some(Event::Linked { entity, name, uri })
            }
        };
        let Some(event) = event else { return Ok(Reported::Unchanged) };
        record.add(event).map_err(impossible)?;
        Ok(Reported::Changed)
    }
}

/// The events that take a node out of everything that names it.
fn without(model: &InstanceModel, id: &Arc<str>) -> Vec<Event> {
    let relations =
        model.relations().filter(|(_, _, relation)| relation.target.as_ref() == Some(id));
    let relations = relations.map(|(source, requirement, _)| Event::RelationRemoved {
        source: Arc::clone(source),
        requirement: Arc::clone(requirement),
        target: Some(Arc::clone(id)),
    });
    let groups = model.groups.iter().filter(|(_, group)| group.members.contains(id));
    let groups = groups.map(|(name, group)| {
        let mut group = group.clone();
        group.members.retain(|member| member != id);
        Event::Group { name: Arc::clone(name), value: Some(group) }
    });
    let policies = model.policies.iter().filter(|(_, policy)| policy.targets.contains(id));
    let policies = policies.map(|(name, policy)| {
        let mut policy = policy.clone();
        policy.targets.retain(|target| target != id);
        Event::Policy { name: Arc::clone(name), value: Some(policy) }
    });
    relations.chain(groups).chain(policies).collect()
}

fn node<'m>(model: &'m InstanceModel, id: &str) -> Result<&'m NodeInstance, Diagnostic> {
    model.nodes.get(id).ok_or_else(|| no_node(model, id))
}

fn check_type(rules: &ReportRules<'_, '_, '_>, name: &str) -> Result<(), Diagnostic> {
    let Some(types) = rules.types else { return Ok(()) };
    if types.has_node_type(name) {
        return Ok(());
    }
    let message = format!("there is no node type `{name}`");
    let known: Vec<_> = types.node_types().collect();
    Err(Diagnostic::error(Code::UnknownType, message)
        .help_opt(did_you_mean(name, known.iter().map(|name| &**name))))
}

/// The event that sets the value at a path; `None` if the place already has that value.
fn set(
    model: &InstanceModel,
    rules: &ReportRules<'_, '_, '_>,
    path: &str,
    value: Option<&Value>,
) -> Result<Option<Event>, Diagnostic> {
    let Some(place) = EditedPlace::of(path) else {
        let message = format!("`{path}` does not name a value that can be set");
        let help = "use a path such as `nodes/shop/properties/port`, `nodes/shop/state`, `inputs/size`, `metadata/owner`";
        return Err(Diagnostic::error(Code::UnknownElement, message).help(help));
    };
    if let EditedPlace::State(id) = &place {
        return set_state(model, rules, id, value);
    }
    let (entity, _) = place.names();
    let known = place.known(model)?;
    let kept = place.check(model, rules, value)?;
    let of = place.value(model)?;
    let value = kept.as_ref().or(value).map(|value| rules.sealed(&of, value)).transpose()?;
    Ok((known != value.as_ref()).then(|| place.event(entity, value)))
}

impl EditedPlace {
    /// The entity of the place, as events name it, and the name of the value there.
    fn names(&self) -> (Arc<str>, &str) {
        let (entity, name) = match self {
            Self::Property(id, _, name) | Self::Attribute(id, _, name) => {
                (format!("node.{id}"), name)
            }
            Self::State(id) => (format!("node.{id}"), id),
            Self::GroupProperty(group, name) => (format!("group.{group}"), name),
            Self::Input(name) => ("input".to_owned(), name),
            Self::Output(name) => ("output".to_owned(), name),
            Self::Metadata(entity, name) => {
                (entity.as_deref().unwrap_or_default().to_owned(), name)
            }
        };
        (entity.into(), name)
    }

    /// The value at the place, as secrets are told apart.
    fn value<'v>(&'v self, model: &'v InstanceModel) -> Result<InstanceValue<'v>, Diagnostic> {
        Ok(match self {
            Self::Property(id, capability, name) | Self::Attribute(id, capability, name) => {
                let node = node(model, id)?;
                DeclaredName { id, node, capability: capability.as_deref(), name }.value()
            }
            Self::GroupProperty(group, name) => {
                let found = model.groups.get(group);
                InstanceValue::OfGroup {
                    template: found.and_then(|group| group.template.as_deref()),
                    type_name: found.map_or("", |group| &group.type_name),
                    name,
                }
            }
            Self::Input(name) => InstanceValue::Input(name),
            Self::Output(name) => InstanceValue::Output(name),
            Self::Metadata(_, name) | Self::State(name) => InstanceValue::Other(name),
        })
    }

    /// The present value of the place.
    fn known<'m>(&self, model: &'m InstanceModel) -> Result<Option<&'m Value>, Diagnostic> {
        Ok(match self {
            Self::Property(id, capability, name) => match (node(model, id)?, capability) {
                (node, None) => node.properties.get(name),
                (node, Some(capability)) => {
                    node.capabilities.get(capability).and_then(|it| it.properties.get(name))
                }
            },
            Self::Attribute(id, capability, name) => {
                let attributes = match (node(model, id)?, capability) {
                    (node, None) => Some(&node.attributes),
                    (node, Some(capability)) => {
                        node.capabilities.get(capability).map(|it| &it.attributes)
                    }
                };
                attributes.and_then(|all| all.get(name)).map(|known| &known.value)
            }
            Self::State(_) => None,
            Self::GroupProperty(group, name) => {
                let none = || {
                    let names = model.groups.keys().map(|name| &**name);
                    let message = format!("the instance has no group `{group}`");
                    let error = Diagnostic::error(Code::UnknownElement, message);
                    error.help_opt(did_you_mean(group, names))
                };
                model.groups.get(group).ok_or_else(none)?.properties.get(name)
            }
            Self::Input(name) => model.inputs.get(name),
            Self::Output(name) => model.outputs.get(name),
            Self::Metadata(None, name) => model.metadata.get(name),
            Self::Metadata(Some(entity), name) => {
                let found = model.annotations(entity);
                found.ok_or_else(|| model.no_entity(entity))?.1.get(name)
            }
        })
    }

    /// Checks a value against its declaration. Gives the value as it is kept, if that differs.
    fn check(
        &self,
        model: &InstanceModel,
        rules: &ReportRules<'_, '_, '_>,
        value: Option<&Value>,
    ) -> Result<Option<Value>, Diagnostic> {
        if let Self::Metadata(_, name) = self {
            return check_metadata(name).map(|()| None);
        }
        let Some(types) = rules.types else { return Ok(None) };
        match self {
            Self::Property(id, capability, name) | Self::Attribute(id, capability, name) => {
                let (node, capability) = (node(model, id)?, capability.as_deref());
                let of = DeclaredName { id, node, capability, name };
                match of.is_declared(types, value)? {
                    false => Err(of.unknown(rules.types)),
                    true => Ok(value.map(|value| of.kept(rules.types, value).into_owned())),
                }
            }
            Self::GroupProperty(group, name) => {
                let type_name = model.groups.get(group).map_or("", |group| &group.type_name);
                types.group_property((group, type_name), name, value)
            }
            Self::Input(_) | Self::Output(_) => {
                let of = self.value(model)?;
                value.map_or(Ok(None), |value| types.parameter(&of, value))
            }
            Self::State(_) | Self::Metadata(..) => Ok(None),
        }
    }

    fn event(self, entity: Arc<str>, value: Option<Value>) -> Event {
        match self {
            Self::Property(_, Some(capability), name) => {
                Event::CapabilityProperty { entity, capability, name, value }
            }
            Self::Property(_, None, name) | Self::GroupProperty(_, name) => {
                Event::Property { entity, name, value }
            }
            Self::Attribute(_, capability, name) => {
                Event::Attribute { entity, capability, name, value }
            }
            Self::Input(name) => Event::Input { name, value },
            Self::Output(name) => Event::Output { name, value },
            Self::Metadata(entity, name) => Event::Metadata { entity, name, value },
            Self::State(name) => Event::Metadata { entity: None, name, value },
        }
    }
}

fn set_state(
    model: &InstanceModel,
    rules: &ReportRules<'_, '_, '_>,
    id: &Arc<str>,
    value: Option<&Value>,
) -> Result<Option<Event>, Diagnostic> {
    let from = node(model, id)?.state.clone();
    let name = value.and_then(Value::as_str).ok_or_else(|| {
        let message = format!("the state of `{id}` has to be a name");
        Diagnostic::error(Code::InvalidValue, message)
    })?;
    let to = rules.state(name)?;
    let skipped = skipped_between(&from, &to, model.orchestration.is_some());
    let forced = skipped.is_none();
    match to {
        ReportedState::In(to) if to == from => Ok(None),
        _ if forced && !rules.force => Err(illegal(id, &from, &to)),
        ReportedState::Gone => Ok(Some(Event::NodeRemoved { id: Arc::clone(id) })),
        ReportedState::In(to) => {
            let (entity, skipped) = (format!("node.{id}").into(), skipped.unwrap_or_default());
            Ok(Some(Event::State { entity, from, to, skipped, forced }))
        }
    }
}
