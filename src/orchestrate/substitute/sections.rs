//! Rewrites the parts of a topology that name nodes: relationship templates, groups, policies,
//! workflows, and a substitution mapping of the template itself.

use super::flatten::Flattening;
use super::rewrite::WrittenIn;
use super::view::{entry, listed};
use crate::orchestrate::tree::{MapEntries, entries, items, key_name, like, like_list, set};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

pub(super) type ListItems<'a> = Vec<(Option<Node<'a>>, Out<'a>)>;

/// The replaced nodes among the targets of a step or a policy.
#[derive(Default)]
struct ReplacedTargets {
    /// The positions of their choices.
    chosen: Vec<usize>,
    /// Whether there are other targets.
    has_others: bool,
}

impl<'a> Flattening<'_, '_, 'a> {
    pub(super) fn relationships(&self, section: &Out<'a>) -> Out<'a> {
        let users = self.users();
        let mut all = entries(section);
        for (key, template) in &mut all {
            let users = users.get(&*key_name(key)).map_or(&[][..], Vec::as_slice);
            *template = self.relationship(template, users);
        }
        self.added_entries(&mut all, "relationship_templates", &|this, chosen, value| {
            this.value(value, WrittenIn::Inner(chosen, &[]))
        });
        like(section, all)
    }

    /// In TOSCA 2.0, the places where relationship templates are used, by their names: there `SELF`
    /// has a meaning.
    fn users(&self) -> FxHashMap<String, Vec<WrittenIn<'_>>> {
        let mut users: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for node in self.outer.nodes.iter().filter(|_| self.outer.is_2_0) {
            for (position, assignment) in node.assignments.iter().enumerate() {
                let said = entry(&assignment.body, "relationship");
                if let Some(name) = said.as_ref().and_then(|said| OutNode::root(said).text()) {
                    let at = WrittenIn::Assigned(&node.name, position);
                    users.entry(name.into_owned()).or_default().push(at);
                }
            }
        }
        users
    }

    /// A relationship template. All relations that use it have to agree about what is replaced in it.
    fn relationship(&self, template: &Out<'a>, users: &[WrittenIn<'_>]) -> Out<'a> {
        let Some((first, others)) = users.split_first() else {
            return self.value(template, WrittenIn::Outer(None));
        };
        let written = self.value(template, *first);
        let is_other = |at: &WrittenIn<'_>| {
            let other = self.value(template, *at);
            OutNode::root(&other).to_value() != OutNode::root(&written).to_value()
        };
        if others.iter().any(is_other) {
            let message = "it asks for a node that is replaced, and the relations that use it do not lead to the same one";
            self.dangles(OutNode::root(template).span(), message);
        }
        written
    }

    pub(super) fn groups(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = self.own_entries(section, &|this, group| {
            this.naming(group, "members", WrittenIn::Outer(None))
        });
        self.added_entries(&mut all, "groups", &|this, chosen, group| {
            this.naming(group, "members", WrittenIn::Inner(chosen, &[]))
        });
        like(section, all)
    }

    pub(super) fn policies(&self, section: &Out<'a>) -> Out<'a> {
        let own = listed(section)
            .into_iter()
            .map(|(owner, policy)| (owner, each_value(&policy, &|body| self.policy(body))));
        let mut all: ListItems<'a> = own.collect();
        for chosen in 0..self.chosen.len() {
            let inner = self.chosen[chosen].variant.view.section("policies");
            for (owner, policy) in inner.map(|inner| listed(&inner)).unwrap_or_default() {
                let mut entries = entries(&policy);
                for (key, body) in &mut entries {
                    *key = self.prefixed_key(chosen, key);
                    *body = self.naming(body, "targets", WrittenIn::Inner(chosen, &[]));
                }
                all.push((owner, like(&policy, entries)));
            }
        }
        like_list(section, all)
    }

    /// A policy of the template. What its triggers call of replaced nodes is replaced, too.
    fn policy(&self, body: &Out<'a>) -> Out<'a> {
        let targets = entry(body, "targets").map(|targets| self.replaced_among(&items(&targets)));
        let mut all = entries(body);
        for (_, triggers) in all.iter_mut().filter(|(key, _)| key_name(key) == "triggers") {
            *triggers = each_value(triggers, &|trigger| {
                let mut all = entries(trigger);
                for (_, action) in all.iter_mut().filter(|(key, _)| key_name(key) == "action") {
                    *action = self.replaced_calls(action, targets.as_ref());
                }
                like(trigger, all)
            });
        }
        self.naming(&like(body, all), "targets", WrittenIn::Outer(None))
    }

    /// The choices for the replaced nodes among these nodes and groups, and whether there are
    /// others.
    fn replaced_among(&self, names: &[Out<'a>]) -> ReplacedTargets {
        let groups = self.outer.section("groups");
        let mut open: Vec<_> = names.to_vec();
        let (mut met, mut found) = (FxHashSet::default(), ReplacedTargets::default());
        while let Some(name) = open.pop() {
            let Some(name) = OutNode::root(&name).text().map(|name| name.into_owned()) else {
                found.has_others = true;
                continue;
            };
            let group = groups.as_ref().and_then(|groups| entry(groups, &name));
            match (self.by_node.get(&*name), group) {
                (Some(&chosen), _) => found.chosen.push(chosen),
                (None, Some(group)) if met.insert(name) => {
                    open.extend(entry(&group, "members").iter().flat_map(items));
                }
                (None, Some(_)) => {}
                (None, None) => found.has_others = true,
            }
        }
        found.chosen.sort_unstable();
        found.chosen.dedup();
        found
    }

    /// Activities in which calls of mapped operations are replaced: the workflows are inlined
    /// instead, if there is one for each target.
    fn replaced_calls(&self, activities: &Out<'a>, targets: Option<&ReplacedTargets>) -> Out<'a> {
        let Some(ReplacedTargets { chosen, has_others }) = targets else {
            return activities.clone();
        };
        let mut is_changed = false;
        let all = listed(activities).into_iter().flat_map(|(owner, activity)| {
            let inlined = chosen.iter().map(|&chosen| self.inlined(chosen, &activity));
            let (inlined, rest): (Vec<_>, Vec<_>) = inlined.partition(Option::is_some);
            if !inlined.is_empty() && rest.is_empty() && !has_others {
                is_changed = true;
                let all = inlined.into_iter().flatten().enumerate();
                return all.map(|(at, it)| (owner.filter(|_| at == 0), it)).collect();
            }
            if !inlined.is_empty() {
                let message = "this operation is mapped to a workflow for some of the targets only";
                let call = entry(&activity, "call_operation").unwrap_or_else(|| activity.clone());
                self.dangles(OutNode::root(&call).span(), message);
            } else if self.outer.is_2_0 {
                chosen.iter().for_each(|&chosen| self.unmapped_calls(chosen, &activity));
            }
            vec![(owner, activity)]
        });
        let all: ListItems<'a> = all.collect();
        if is_changed { like_list(activities, all) } else { activities.clone() }
    }

    /// A group or policy, with the new names of its members or targets.
    fn naming(&self, body: &Out<'a>, keyname: &str, at: WrittenIn<'_>) -> Out<'a> {
        let mut all = entries(body);
        for (key, value) in &mut all {
            *value = match &*key_name(key) {
                name if name == keyname => {
                    let names = listed(value).into_iter();
                    let names = names.flat_map(|(owner, item)| self.named(owner, &item, at));
                    like_list(value, names.collect())
                }
                "triggers" => each_value(value, &|trigger| self.trigger(trigger, at)),
                "metadata" | "type" => continue,
                _ => self.value(value, at),
            };
        }
        like(body, all)
    }

    fn trigger(&self, trigger: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let mut all = entries(trigger);
        for (key, value) in &mut all {
            *value = match &*key_name(key) {
                "action" => self.activities(value, at),
                _ => self.value(value, at),
            };
        }
        like(trigger, all)
    }

    /// The new names for the name of a node, a group or a relation.
    fn named(&self, owner: Option<Node<'a>>, item: &Out<'a>, at: WrittenIn<'_>) -> ListItems<'a> {
        let parts = items(item);
        let relation = parts.get(1).cloned();
        let name = OutNode::root(parts.first().unwrap_or(item)).text();
        let Some(name) = name.map(|name| name.into_owned()) else {
            return vec![(owner, item.clone())];
        };
        let of = |name: &str, relation: Option<Out<'a>>| {
            let name = Out::String(name.to_owned().into());
            match relation {
                None => name,
                Some(relation) => like_list(item, vec![(None, name), (None, relation)]),
            }
        };
        match at {
            WrittenIn::Inner(chosen, _) => {
                let new = self.names[chosen].get(&name).cloned();
                let new = new.unwrap_or_else(|| self.prefixed(chosen, &name));
                vec![(owner, of(&new, relation))]
            }
            _ => match self.by_node.get(&*name) {
                None => vec![(owner, item.clone())],
                Some(&chosen) => match relation {
                    None => {
                        let names = self
                            .all_names(chosen)
                            .zip(std::iter::once(owner).chain(std::iter::repeat(None)));
                        names.map(|(name, owner)| (owner, of(name, None))).collect()
                    }
                    Some(relation) => {
                        let requirement = OutNode::root(&relation).text().map(|it| it.into_owned());
                        let first = requirement.and_then(|it| self.first_relation(chosen, &it));
                        let first =
                            first.map(|(node, inner)| of(&node, Some(Out::String(inner.into()))));
                        first.map(|first| (owner, first)).into_iter().collect()
                    }
                },
            },
        }
    }

    /// The first requirement onto which a requirement of a replaced node is mapped.
    fn first_relation(&self, chosen: usize, requirement: &str) -> Option<(String, String)> {
        let fit = &self.chosen[chosen].fit;
        let mapped = fit.requirements.iter().find(|it| it.name == requirement)?;
        let (node, inner) = mapped.mappings.first()?.targets.first()?;
        Some((self.names[chosen].get(node)?.clone(), inner.clone()))
    }

    pub(super) fn workflows(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = self.own_entries(section, &|this, workflow| {
            this.workflow(workflow, WrittenIn::Outer(None))
        });
        self.added_entries(&mut all, "workflows", &|this, chosen, workflow| {
            let inputs = entry(workflow, "inputs").map(|inputs| entries(&inputs));
            let inputs = inputs.iter().flatten().map(|(key, _)| key_name(key).into_owned());
            this.workflow(workflow, WrittenIn::Inner(chosen, &inputs.collect::<Vec<_>>()))
        });
        like(section, all)
    }

    fn workflow(&self, workflow: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let mut all = entries(workflow);
        for (key, value) in &mut all {
            *value = match &*key_name(key) {
                "steps" => self.steps(value, at),
                "preconditions" => {
                    let conditions = listed(value).into_iter();
                    let conditions = conditions.flat_map(|(owner, condition)| {
                        let target = entry(&condition, "target");
                        let names = target.map(|it| self.named(owner, &it, at)).unwrap_or_default();
                        names
                            .into_iter()
                            .map(move |(owner, name)| {
                                let mut all = entries(&condition);
                                set(&mut all, "target", |_| Some(name));
                                (owner, like(&condition, all))
                            })
                            .collect::<Vec<_>>()
                    });
                    like_list(value, conditions.collect())
                }
                "inputs" => each_value(value, &|input| self.value(input, at)),
                "outputs" => each_value(value, &|path| self.attribute_mapping(path, at)),
                "metadata" | "description" => continue,
                _ => self.value(value, at),
            };
        }
        like(workflow, all)
    }

    /// The steps of a workflow. One that acts on a replaced node is repeated for its new nodes, in
    /// their order.
    fn steps(&self, steps: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let mut all: MapEntries<'a> = Vec::new();
        let mut firsts: Vec<(String, String)> = Vec::new();
        for (key, step) in entries(steps) {
            let name = key_name(&key).into_owned();
            let target = entry(&step, "target");
            let targets = target.as_ref().map(|it| self.named(None, it, at)).unwrap_or_default();
            let outer =
                target.as_ref().and_then(|it| OutNode::root(it).text().map(|it| it.into_owned()));
            let chosen = outer.and_then(|name| self.by_node.get(&*name).copied());
            let (WrittenIn::Outer(_), Some(chosen)) = (at, chosen) else {
                let step = self.for_members(&step, target.as_ref(), at);
                let target = targets.into_iter().next().map(|(_, target)| target);
                all.push((key, self.step(&step, target, at, None)));
                continue;
            };
            let parts = self.step_parts(chosen, &step, targets);
            let count = parts.len();
            let names: Vec<_> = (1..=count)
                .map(|number| if count == 1 { name.clone() } else { format!("{name}_{number}") })
                .collect();
            firsts.extend(names.first().map(|first| (name, first.clone())));
            for (position, (target, step)) in parts.into_iter().enumerate() {
                let next = names.get(position + 1).cloned();
                let step = self.step(&step, Some(target), at, next);
                let key = match &key {
                    OutKey::Source(key) if position == 0 => {
                        OutKey::Renamed(*key, names[0].clone().into())
                    }
                    _ => OutKey::New(names[position].clone().into()),
                };
                all.push((key, step));
            }
        }
        for (_, step) in &mut all {
            *step = following(step, &firsts);
        }
        like(steps, all)
    }

    /// A step with another target and other followers.
    fn step(
        &self,
        step: &Out<'a>,
        target: Option<Out<'a>>,
        at: WrittenIn<'_>,
        next: Option<String>,
    ) -> Out<'a> {
        let mut all = entries(step);
        for (key, value) in &mut all {
            match &*key_name(key) {
                "target" => *value = target.clone().unwrap_or_else(|| value.clone()),
                "activities" => *value = self.activities(value, at),
                "on_success" | "on_failure" | "operation_host" => {}
                _ => *value = self.value(value, at),
            }
        }
        if let Some(next) = next {
            let list =
                Out::Seq { items: vec![(None, Out::String(next.into()))].into(), like: None };
            set(&mut all, "on_success", |_| Some(list));
        }
        like(step, all)
    }

    /// A list of activities. Workflows of a substituting template are inlined by their new names.
    fn activities(&self, activities: &Out<'a>, at: WrittenIn<'_>) -> Out<'a> {
        let all = match at {
            WrittenIn::Inner(chosen, _) => Some((chosen, listed(activities))),
            _ => None,
        };
        let Some((chosen, all)) = all.filter(|(_, all)| !all.is_empty()) else {
            return self.value(activities, at);
        };
        let all = all.into_iter().map(|(owner, activity)| {
            let mut all = entries(&activity);
            for (key, value) in &mut all {
                *value = self.value(value, at);
                if key_name(key) == "inline" {
                    *value = self.inline(chosen, value);
                }
            }
            (owner, like(&activity, all))
        });
        like_list(activities, all.collect())
    }

    /// The new name of a workflow that is inlined, with the inputs that it is given.
    fn inline(&self, chosen: usize, inlined: &Out<'a>) -> Out<'a> {
        if let Some(name) = OutNode::root(inlined).text() {
            return Out::String(self.prefixed(chosen, &name).into());
        }
        let mut all = entries(inlined);
        set(&mut all, "workflow", |name| Some(self.inline(chosen, name?)));
        like(inlined, all)
    }

    fn unmapped_calls(&self, chosen: usize, activity: &Out<'a>) {
        if let Some(call) = entry(activity, "call_operation") {
            self.unmapped_call(chosen, OutNode::root(&call));
        }
    }

    /// A step of a group, in which calls of operations of replaced members are replaced.
    fn for_members(&self, step: &Out<'a>, target: Option<&Out<'a>>, at: WrittenIn<'_>) -> Out<'a> {
        let targets = target.filter(|_| matches!(at, WrittenIn::Outer(_)));
        let targets = targets.map(|target| self.replaced_among(std::slice::from_ref(target)));
        let Some(targets) = targets.filter(|targets| !targets.chosen.is_empty()) else {
            return step.clone();
        };
        with_activities(step, &|activities| self.replaced_calls(activities, Some(&targets)))
    }

    /// The steps that a step of a replaced node becomes, each with its target: one for each node
    /// that replaces it, but a single one for calls of mapped operations.
    fn step_parts(
        &self,
        chosen: usize,
        step: &Out<'a>,
        targets: ListItems<'a>,
    ) -> Vec<(Out<'a>, Out<'a>)> {
        let single = self.single(chosen);
        let is_one = targets.len() == 1 && single.is_some();
        let activities = entry(step, "activities").unwrap_or(Out::Value(Value::Null));
        let all = listed(&activities).into_iter().map(|(owner, activity)| {
            let inlined = self.inlined(chosen, &activity);
            if inlined.is_none() && self.outer.is_2_0 {
                self.unmapped_calls(chosen, &activity);
            }
            (inlined.is_some(), (owner, inlined.unwrap_or(activity)))
        });
        let all: Vec<_> = all.collect();
        if all.iter().all(|(is_inlined, _)| !is_inlined) {
            let targets = targets.into_iter();
            return targets.map(|(_, target)| (target, step.clone())).collect();
        }
        let mut parts = Vec::new();
        for run in all.chunk_by(|one, other| is_one || one.0 == other.0) {
            let own = run.iter().map(|(_, activity)| activity.clone()).collect::<Vec<_>>();
            let step = with_activities(step, &|old| like_list(old, own.clone()));
            match &single {
                Some(single) if run[0].0 => parts.push((single.clone(), step)),
                _ => {
                    let count = if run[0].0 { 1 } else { targets.len() };
                    let targets = targets.iter().take(count);
                    parts.extend(targets.map(|(_, target)| (target.clone(), step.clone())));
                }
            }
        }
        parts
    }

    /// The activity that takes the place of a call of an operation of a replaced node that is mapped
    /// to a workflow: it is inlined.
    fn inlined(&self, chosen: usize, activity: &Out<'a>) -> Option<Out<'a>> {
        let call = entry(activity, "call_operation")?;
        let name = OutNode::root(&call);
        let name = name.text().or_else(|| name.get("operation")?.text())?.into_owned();
        let workflow = self.mapped_operation(chosen, &name)?;
        let mut inline = Out::String(self.prefixed(chosen, &workflow).into());
        if let Some(inputs) = entry(&call, "inputs") {
            let node = &self.outer.nodes[self.chosen[chosen].node].name;
            let at = WrittenIn::Outer(Some(node));
            let inputs = each_value(&inputs, &|input| self.value(input, at));
            let parts = [("workflow", inline), ("inputs", inputs)];
            let parts = parts.map(|(key, value)| (OutKey::New(key.into()), value));
            inline = like(&call, parts.into());
        }
        Some(like(activity, vec![(OutKey::New("inline".into()), inline)]))
    }

    /// A node of a substituting template that stands for itself, whatever counts say.
    fn single(&self, chosen: usize) -> Option<Out<'a>> {
        let nodes = &self.chosen[chosen].variant.view.nodes;
        let node = nodes.iter().find(|node| entry(&node.body, "instance_count").is_none())?;
        Some(Out::String(self.prefixed(chosen, &node.name).into()))
    }

    /// The workflow to which an operation of a node is mapped.
    fn mapped_operation(&self, chosen: usize, name: &str) -> Option<String> {
        let (interface, operation) = name.rsplit_once('.')?;
        let interfaces = &self.chosen[chosen].template.substitution.interfaces;
        let short = interface.rsplit('.').next().unwrap_or(interface);
        let mapped = interfaces.iter().find(|it| it.name == interface || it.name == short)?;
        let workflow = mapped.value.get(operation)?.text()?;
        let workflows = self.chosen[chosen].variant.view.section("workflows")?;
        entry(&workflows, workflow).map(|_| workflow.to_owned())
    }

    /// A substitution mapping of the template that names replaced nodes.
    pub(super) fn substitution(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = entries(section);
        for (key, value) in &mut all {
            *value = match &*key_name(key) {
                "capabilities" => each_value(value, &|path| self.mapped_capability(path)),
                "requirements" => self.mapped_again(value),
                _ => continue,
            };
        }
        like(section, all)
    }

    fn mapped_capability(&self, path: &Out<'a>) -> Out<'a> {
        let inner = entry(path, "mapping");
        let names = items(inner.as_ref().unwrap_or(path));
        let found = pair(&names).and_then(|(node, capability)| {
            let &chosen = self.by_node.get(&*node)?;
            let (node, inner) = self.chosen[chosen].fit.capabilities.get(&capability)?;
            Some([self.names[chosen].get(node)?.clone(), inner.clone()])
        });
        found.map_or_else(|| path.clone(), |names| path_of(path, &names))
    }

    /// Mappings of requirements. One that names a replaced node leads to the requirement onto which
    /// that is mapped.
    fn mapped_again(&self, list: &Out<'a>) -> Out<'a> {
        let all = listed(list).into_iter().flat_map(|(owner, item)| {
            let again = entries(&item).into_iter().next().and_then(|(key, path)| {
                let (node, requirement) = pair(&items(&path))?;
                let &chosen = self.by_node.get(&*node)?;
                let fit = &self.chosen[chosen].fit;
                let mapped = fit.requirements.iter().find(|it| it.name == requirement)?;
                let targets = |mapping: &super::candidate::FitMapping| {
                    let targets = mapping.targets.iter().filter_map(|(node, inner)| {
                        let names = [self.names[chosen].get(node)?.clone(), inner.clone()];
                        Some((None, path_of(&path, &names)))
                    });
                    let mut targets: ListItems<'a> = targets.collect();
                    let target = match targets.len() {
                        1 => targets.remove(0).1,
                        _ => Out::Seq { items: targets.into(), like: None },
                    };
                    (None, like(&item, vec![(key.clone(), target)]))
                };
                Some(mapped.mappings.iter().map(targets).collect::<ListItems<'a>>())
            });
            again.unwrap_or_else(|| vec![(owner, item)])
        });
        like_list(list, all.collect())
    }

    fn own_entries(
        &self,
        section: &Out<'a>,
        change: &dyn Fn(&Self, &Out<'a>) -> Out<'a>,
    ) -> MapEntries<'a> {
        let mut all = entries(section);
        all.iter_mut().for_each(|(_, value)| *value = change(self, value));
        all
    }

    /// Adds the entries of a section of a substituting template, under prefixed names.
    fn added_entries(
        &self,
        all: &mut MapEntries<'a>,
        section: &str,
        change: &dyn Fn(&Self, usize, &Out<'a>) -> Out<'a>,
    ) {
        for chosen in 0..self.chosen.len() {
            let inner = self.chosen[chosen].variant.view.section(section);
            for (key, value) in inner.map(|inner| entries(&inner)).unwrap_or_default() {
                all.push((self.prefixed_key(chosen, &key), change(self, chosen, &value)));
            }
        }
    }

    fn prefixed_key(&self, chosen: usize, key: &OutKey<'a>) -> OutKey<'a> {
        let name: Cow<'a, str> = self.prefixed(chosen, &key_name(key)).into();
        match key {
            OutKey::Source(key) | OutKey::Renamed(key, _) => OutKey::Renamed(*key, name),
            OutKey::New(_) => OutKey::New(name),
        }
    }
}

/// The names of a node and of one of its parts.
fn pair(names: &[Out<'_>]) -> Option<(String, String)> {
    let [node, name] = names else { return None };
    let text = |out| Some(OutNode::root(out).text()?.into_owned());
    Some((text(node)?, text(name)?))
}

/// A path with these names that takes the place of `old`.
fn path_of<'a>(old: &Out<'a>, names: &[String; 2]) -> Out<'a> {
    let names = names.iter().map(|name| (None, Out::String(name.clone().into())));
    like_list(old, names.collect())
}

pub(super) fn each_value<'a>(map: &Out<'a>, change: &dyn Fn(&Out<'a>) -> Out<'a>) -> Out<'a> {
    let mut all = entries(map);
    all.iter_mut().for_each(|(_, value)| *value = change(value));
    like(map, all)
}

/// A step with other activities.
fn with_activities<'a>(step: &Out<'a>, change: &dyn Fn(&Out<'a>) -> Out<'a>) -> Out<'a> {
    let mut all = entries(step);
    set(&mut all, "activities", |old| old.map(change));
    like(step, all)
}

/// A step with the new names of the steps that follow it.
fn following<'a>(step: &Out<'a>, firsts: &[(String, String)]) -> Out<'a> {
    let mut all = entries(step);
    for (key, value) in &mut all {
        if matches!(&*key_name(key), "on_success" | "on_failure") {
            let names = listed(value).into_iter().map(|(owner, item)| {
                let name = OutNode::root(&item).text().map(|name| name.into_owned());
                let first = firsts.iter().find(|(old, _)| Some(old) == name.as_ref());
                let new = first.map(|(_, first)| Out::String(first.clone().into()));
                (owner, new.unwrap_or(item))
            });
            *value = like_list(value, names.collect());
        }
    }
    like(step, all)
}
