//! Converts values and the functions that they call.

use super::{Converter, SelfScope, TargetVersion, call, inline_list, list, map, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::function::function_not_map;
use crate::tosca::types::TypeId;
use crate::tosca::v2_0;
use crate::tosca::value::Schema;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};

/// The functions of both versions whose arguments are values.
const OF_VALUES: [&str; 3] = ["concat", "join", "token"];

/// The functions that only version 1.3 has.
const OLD: [&str; 2] = ["get_operation_output", "get_nodes_of_type"];

/// How many hosts a path leads over at most.
const MOST_HOSTS: usize = 16;

/// The type of a node, and its template.
type ScopedNode<'a> = (Option<TypeId>, Option<Node<'a>>);

impl<'a> Converter<'_, 'a> {
    /// Converts a value. Returns nothing where it has no counterpart.
    pub(super) fn value(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        match self.to {
            TargetVersion::Two => {
                let schema = self.expected.clone();
                Some(self.value_to_2_0(node, schema.as_deref()))
            }
            TargetVersion::Simple => self.value_to_1_3(node),
        }
    }

    fn value_to_2_0(&mut self, node: Node<'a>, schema: Option<&Schema<'a>>) -> Out<'a> {
        match node.kind() {
            NodeKind::Scalar => match node.as_str().filter(|text| text.starts_with('$')) {
                Some(own) => text(format!("${own}")),
                None => self.timestamp_to_2_0(node, schema).map_or(Out::Source(node), text),
            },
            NodeKind::Sequence => {
                let schema = schema.and_then(|schema| self.schema_of_part(schema, None));
                let items = node.items().map(|item| (Some(item), self.value_to_2_0(item, schema)));
                let items = items.collect();
                list(node, items)
            }
            NodeKind::Mapping => match function_not_map(node).zip(node.entries().next()) {
                Some((name, (key, operand))) => self.call_to_2_0(node, name, key, operand),
                None => {
                    let entries = node.entries().map(|(key, value)| {
                        let name = key.as_str();
                        let schema = schema.and_then(|schema| self.schema_of_part(schema, name));
                        let key = match name.filter(|name| name.starts_with('$')) {
                            Some(name) => OutKey::Renamed(key, format!("${name}").into()),
                            None => OutKey::Source(key),
                        };
                        (key, self.value_to_2_0(value, schema))
                    });
                    let entries = entries.collect();
                    map(node, entries)
                }
            },
        }
    }

    /// Converts a call of version 1.3.
    fn call_to_2_0(
        &mut self,
        node: Node<'a>,
        name: &str,
        key: Node<'a>,
        operand: Node<'a>,
    ) -> Out<'a> {
        let arguments = match name {
            "get_property" | "get_attribute" if operand.kind() == NodeKind::Sequence => {
                self.path_to_2_0(operand)
            }
            "get_artifact" if operand.kind() == NodeKind::Sequence => {
                if let Some(more) = operand.items().nth(2) {
                    let why = "`$get_artifact` of TOSCA 2.0 does not say where artifacts go";
                    self.report(LossKind::Lost, more, "the location of an artifact", why);
                }
                let items = operand.items().take(2).map(|item| (Some(item), Out::Source(item)));
                let items = items.collect();
                list(operand, items)
            }
            name if OLD.contains(&name) => {
                let why = "TOSCA 2.0 does not have it, so nobody knows its value";
                self.report(LossKind::KeptAsExtension, key, &format!("`{name}`"), why);
                Out::Source(operand)
            }
            "get_input" => Out::Source(operand),
            _ => self.value_to_2_0(operand, None),
        };
        let key = OutKey::Renamed(key, format!("${name}").into());
        Out::Map { entries: vec![(key, arguments)].into(), like: Some(node) }
    }

    /// Converts a path of version 1.3 to one of version 2.0.
    pub(super) fn path_to_2_0(&mut self, node: Node<'a>) -> Out<'a> {
        let all: Vec<_> = node.items().collect();
        let Some((first, mut rest)) = all.split_first() else { return Out::Source(node) };
        let own = |item: &Node<'a>| (Some(*item), Out::Source(*item));
        let mut items = Vec::new();
        let scope = match first.as_str() {
            Some(end @ ("SOURCE" | "TARGET")) => {
                items.extend([(None, text("SELF")), (Some(*first), text(end))]);
                if let [capability, more @ ..] = rest
                    && let [property, ..] = more
                    && end == "TARGET"
                    && self.is_of_target(*property)
                {
                    items.extend([(None, text("CAPABILITY")), own(capability)]);
                    rest = more;
                }
                SelfScope::None
            }
            Some("HOST") => match self.host_with(rest.first().and_then(|it| it.text())) {
                Some((requirements, host)) => {
                    items.push((Some(*first), text("SELF")));
                    items.extend(requirements.iter().flat_map(|name| {
                        ["RELATIONSHIP", name, "TARGET"].map(|word| (None, text(word.to_owned())))
                    }));
                    host
                }
                None => {
                    let why = "paths of TOSCA 2.0 do not lead to whatever host has a property";
                    self.report(LossKind::Lost, *first, "`HOST`", why);
                    items.push(own(first));
                    SelfScope::None
                }
            },
            Some("SELF") => {
                items.push(own(first));
                self.scope
            }
            Some(name) => {
                items.push(own(first));
                let template = self.template("node_templates", name);
                template.map_or(SelfScope::None, |template| self.template_scope(template))
            }
            None => return Out::Source(node),
        };
        let rest = match rest {
            [name, more @ ..] if !more.is_empty() => match self.member(scope, *name, more) {
                Some(words) => {
                    items.extend(words.iter().map(|word| match *word {
                        "" => own(name),
                        word => (None, text(word)),
                    }));
                    more
                }
                None => rest,
            },
            _ => rest,
        };
        items.extend(rest.iter().map(own));
        list(node, items)
    }

    /// Whether capabilities have a property or attribute that are valid targets of the relationship
    /// that is converted.
    fn is_of_target(&self, property: Node<'a>) -> bool {
        let SelfScope::Relationship(Some(id)) = self.scope else { return false };
        let types = self.context.types;
        let mut valid = types.effective(id).valid_types.iter().flatten();
        valid.any(|name| {
            let capability = self.named_type(Family::Capability, *name);
            capability.zip(property.text()).is_some_and(|(id, it)| self.says(id, it))
        })
    }

    /// Whether elements of a type have a property or attribute.
    fn says(&self, id: TypeId, property: &str) -> bool {
        let effective = self.context.types.effective(id);
        effective.properties.contains_key(property) || effective.attributes.contains_key(property)
    }

    /// The requirements that lead from `SELF` to the first host that has a property, attribute or
    /// capability, and what that host is. Returns nothing where that is not certain.
    fn host_with(&self, part: Option<&str>) -> Option<(Vec<&'a str>, SelfScope<'a>)> {
        let part = part?;
        let has = |(id, _): &ScopedNode<'a>| {
            id.map(|id| self.context.types.effective(id)).is_some_and(|it| {
                it.properties.contains_key(part)
                    || it.attributes.contains_key(part)
                    || it.capabilities.contains_key(part)
            })
        };
        let SelfScope::Node(id, template) = self.scope else { return None };
        let (mut node, mut path) = ((id, template), Vec::new());
        while path.len() < MOST_HOSTS {
            let (requirement, hosts) = self.hosts(node)?;
            path.push(requirement);
            match &hosts[..] {
                [(id, template), ..] if hosts.iter().all(has) => {
                    return Some((path, SelfScope::Node(*id, *template)));
                }
                [host] if host.0.is_some() => node = *host,
                _ => return None,
            }
        }
        None
    }

    /// The requirement by which a node is hosted, if there is one only, and what may be its target:
    /// alternative templates, or one type.
    fn hosts(&self, (id, template): ScopedNode<'a>) -> Option<(&'a str, Vec<ScopedNode<'a>>)> {
        let types = self.context.types;
        let defined = &types.effective(id?).requirements;
        let mut hosting = defined.values().filter_map(|part| {
            let id = self.named_type(Family::Relationship, part.definition.relationship?)?;
            types.is_hosting(id).then_some(&part.definition)
        });
        let definition = hosting.next().filter(|_| hosting.next().is_none())?;
        let name = definition.named.name;
        let assigned = template.and_then(|template| template.get("requirements"));
        let assigned = assigned.into_iter().flat_map(Node::items).flat_map(Node::entries);
        let assigned = assigned.filter(|(key, _)| key.text() == Some(name));
        let targets = assigned.filter_map(|(_, body)| body.get("node").or(Some(body))?.as_str());
        let templates = targets.map(|target| self.template("node_templates", target));
        let templates: Vec<_> = templates.collect::<Option<_>>()?;
        if !templates.is_empty() {
            let nodes = templates.into_iter().map(|it| match self.template_scope(it) {
                SelfScope::Node(id, template) => (id, template),
                _ => (None, None),
            });
            return Some((name, nodes.collect()));
        }
        Some((name, vec![(self.named_type(Family::Node, definition.node?), None)]))
    }

    /// The words that lead through a part of a node: a capability, or a requirement. An empty one
    /// stands for the name of the part.
    fn member(
        &self,
        scope: SelfScope<'a>,
        name: Node<'a>,
        more: &[Node<'a>],
    ) -> Option<&'static [&'static str]> {
        let SelfScope::Node(id, template) = scope else { return None };
        let name = name.as_str()?;
        let types = self.context.types;
        let effective = id.map(|id| types.effective(id));
        let has = |section: &str| {
            let all = template.and_then(|template| template.get(section))?;
            let lists = all.items().flat_map(Node::entries);
            let mut all = all.entries().chain(lists);
            all.find(|(key, _)| key.text() == Some(name))
        };
        let property = more.first().and_then(|property| property.text()).unwrap_or_default();
        if has("capabilities").is_some()
            || effective.is_some_and(|it| it.capabilities.contains_key(name))
        {
            return Some(&["CAPABILITY", ""]);
        }
        let defined = effective.and_then(|it| it.requirements.get(name));
        if defined.is_none() && has("requirements").is_none() {
            return None;
        }
        let definition = defined.map(|part| &part.definition);
        let relationship = definition.and_then(|it| it.relationship);
        let relationship = relationship.and_then(|it| self.named_type(Family::Relationship, it));
        let capability = definition.and_then(|it| it.capability);
        let capability = capability.and_then(|it| self.named_type(Family::Capability, it));
        let says = |id| self.says(id, property);
        Some(match (relationship.is_some_and(says), capability.is_some_and(says)) {
            (true, _) => &["RELATIONSHIP", ""],
            (_, true) => &["RELATIONSHIP", "", "CAPABILITY"],
            _ => &["RELATIONSHIP", "", "TARGET"],
        })
    }

    fn value_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        match node.kind() {
            NodeKind::Scalar if v2_0::called(node).is_some() => None,
            NodeKind::Scalar => {
                let meant = node.as_str().and_then(v2_0::unescaped);
                Some(meant.map_or(Out::Source(node), text))
            }
            NodeKind::Sequence => {
                let items = node.items().map(|item| Some((Some(item), self.value_to_1_3(item)?)));
                let items = items.collect::<Option<_>>()?;
                Some(list(node, items))
            }
            NodeKind::Mapping => match v2_0::called(node) {
                Some((name, arguments)) => self.call_to_1_3(node, name, arguments?),
                None => self.map_to_1_3(node),
            },
        }
    }

    /// Converts a map that calls nothing. One that would be a call in version 1.3 has no
    /// counterpart.
    fn map_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let name = key.as_str().unwrap_or_default();
            let key = match v2_0::unescaped(name) {
                Some(name) => OutKey::Renamed(key, name.into()),
                None if name.starts_with('$') => return None,
                None => OutKey::Source(key),
            };
            entries.push((key, self.value_to_1_3(value)?));
        }
        let made = map(node, entries);
        let is_call = crate::tosca::function::function_in(&node.to_value()).is_some()
            && node.entries().len() == 1
            && node.entries().next().is_some_and(|(key, _)| {
                crate::tosca::function::Function::named(key.text().unwrap_or_default()).is_some()
            });
        (!is_call).then_some(made)
    }

    /// Converts a call of version 2.0.
    fn call_to_1_3(&mut self, node: Node<'a>, name: &str, operand: Node<'a>) -> Option<Out<'a>> {
        let arguments = match name {
            "get_property" | "get_attribute" => self.path_to_1_3(operand)?,
            "get_input" => Out::Source(operand),
            "get_artifact" if operand.items().len() == 2 => Out::Source(operand),
            name if OLD.contains(&name) => Out::Source(operand),
            name if OF_VALUES.contains(&name) => self.value_to_1_3(operand)?,
            _ => return None,
        };
        let (key, _) = node.entries().next()?;
        let key = OutKey::Renamed(key, name.to_owned().into());
        Some(Out::Map { entries: vec![(key, arguments)].into(), like: Some(node) })
    }

    /// Converts a path of version 2.0 to one of version 1.3.
    pub(super) fn path_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let all: Vec<_> = node.items().collect();
        if let Some(rest) = self.behind_hosts(&all) {
            let rest = rest.iter().map(|item| (Some(*item), Out::Source(*item)));
            return Some(list(node, std::iter::once((None, text("HOST"))).chain(rest).collect()));
        }
        let word = |at: usize| all.get(at).and_then(|item| item.as_str());
        let is_first = |at: usize| all.get(at).and_then(|item| item.text()) == Some("0");
        // How many words in front have no counterpart, and what stands for them.
        let mut at = 1;
        let mut items = vec![(all.first().copied(), Out::Source(*all.first()?))];
        if let (Some("SELF"), Some("SOURCE" | "TARGET")) = (word(0), word(1)) {
            items = vec![(all.get(1).copied(), Out::Source(*all.get(1)?))];
            at = 2;
        }
        match word(at) {
            Some("CAPABILITY")
                if word(at + 2).is_some() && word(at + 2) != Some("RELATIONSHIP") =>
            {
                at += 1;
            }
            Some("RELATIONSHIP") => {
                let name = *all.get(at + 1)?;
                items.push((Some(name), Out::Source(name)));
                at += 2;
                if is_first(at) {
                    at += 1;
                }
                match word(at)? {
                    "TARGET" if matches!(word(at + 1), Some("RELATIONSHIP" | "CAPABILITY")) => {
                        return None;
                    }
                    "TARGET" | "CAPABILITY" if all.get(at + 1).is_some() => at += 1,
                    "SOURCE" | "ALL" => return None,
                    _ => {}
                }
            }
            Some("SOURCE" | "TARGET" | "CAPABILITY") if all.len() > at + 1 => return None,
            _ => {}
        }
        let rest = all.get(at..).filter(|rest| !rest.is_empty())?;
        items.extend(rest.iter().map(|item| (Some(*item), Out::Source(*item))));
        Some(list(node, items))
    }

    /// The end of a path of version 2.0 that leads over several hosts, or to a capability of one, if
    /// `HOST` of version 1.3 leads there.
    fn behind_hosts<'p>(&self, path: &'p [Node<'a>]) -> Option<&'p [Node<'a>]> {
        let is = |node: &Node<'a>, word: &str| node.as_str() == Some(word);
        let (first, mut rest) = path.split_first()?;
        let mut requirements = Vec::new();
        while let [step, requirement, more @ ..] = rest
            && is(step, "RELATIONSHIP")
        {
            let more = match more {
                [index, more @ ..] if index.text() == Some("0") => more,
                more => more,
            };
            requirements.push(requirement.text()?);
            rest = more.split_first().filter(|(end, _)| is(end, "TARGET"))?.1;
        }
        let of_capability = rest.split_first().filter(|(step, _)| is(step, "CAPABILITY"));
        rest = of_capability.map_or(rest, |(_, rest)| rest);
        let (part, _) = rest.split_first()?;
        let is_longer = requirements.len() + usize::from(of_capability.is_some()) > 1;
        if !is(first, "SELF") || !is_longer || requirements.is_empty() {
            return None;
        }
        let (hosts, _) = self.host_with(part.text())?;
        (hosts == requirements).then_some(rest)
    }

    /// The value of a property or an attribute at a path.
    pub(super) fn got(&self, function: &str, path: &[&str]) -> Out<'a> {
        let words = path.iter().map(|word| text((*word).to_owned())).collect();
        super::inline_map(format!("${function}"), inline_list(words))
    }

    /// The value that a condition is about.
    pub(super) fn subject_of(&self, at: Option<i64>) -> Out<'a> {
        match at {
            None => text("$value"),
            Some(index) => call("value", vec![Out::Value(index.into())]),
        }
    }
}
