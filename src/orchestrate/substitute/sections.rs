//! Rewrites the parts of a topology that name nodes: relationship templates, groups, policies,
//! workflows, and a substitution mapping of the template itself.

use super::candidate::{FitMapping, FitRequirement, MappedTo};
use super::flatten::Flattening;
use super::rewrite::WrittenIn;
use super::view::{entry, listed, uncopied};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::tree::{
    MapEntries, entries, items, key_name, like, like_list, rebuilt, set,
};
use crate::tosca::mapping::MappingShare;
use crate::tosca::substitution::group;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::VecDeque;

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
        let mut all = uncopied(section);
        for (key, template) in &mut all {
            let users = users.get(&*key_name(key)).map_or(&[][..], Vec::as_slice);
            *template = self.relationship(template, users);
        }
        self.added_entries(&mut all, "relationship_templates", &|this, chosen, template| {
            let template = this.value(template, WrittenIn::Inner(chosen, &[]));
            let mut all = entries(&template);
            this.rename_relationship(chosen, &mut all);
            like(&template, all)
        });
        like(section, all)
    }

    /// The places where relationship templates are used, by their names: there `SELF` and the ends
    /// of the relation have a meaning.
    fn users(&self) -> FxHashMap<String, Vec<WrittenIn<'_>>> {
        let mut users: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for node in &self.outer.nodes {
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
        let written = self.relationship_template(template, *first);
        let is_other = |at: &WrittenIn<'_>| {
            let other = self.relationship_template(template, *at);
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
                        let ends = requirement.map(|it| self.relation_ends(chosen, &it));
                        let first = ends.into_iter().flatten().next();
                        let first =
                            first.map(|(node, inner)| of(&node, Some(Out::String(inner.into()))));
                        first.map(|first| (owner, first)).into_iter().collect()
                    }
                },
            },
        }
    }

    /// The requirements onto which the relations of a requirement of a replaced node are mapped.
    fn relation_ends(&self, chosen: usize, requirement: &str) -> Vec<(String, String)> {
        let fit = &self.chosen[chosen].fit;
        let Some(mapped) = fit.requirements.iter().find(|it| it.name == requirement) else {
            return Vec::new();
        };
        let targets = mapped.taken.iter().flat_map(|&taken| &mapped.mappings[taken].targets);
        let mut ends: Vec<_> = targets
            .filter_map(|(node, inner)| {
                Some((self.names[chosen].get(node)?.clone(), inner.clone()))
            })
            .collect();
        let mut met = FxHashSet::default();
        ends.retain(|end| met.insert(end.clone()));
        ends
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
                    let all = listed(value).into_iter().flat_map(|(owner, condition)| {
                        let owners = std::iter::once(owner).chain(std::iter::repeat(None));
                        owners.zip(self.targeted(&condition, at)).collect::<ListItems<'a>>()
                    });
                    like_list(value, all.collect())
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
            let relation = entry(&step, "target_relationship");
            let targeted = self.targeted(&step, at);
            let outer = target.as_ref().and_then(|it| Some(OutNode::root(it).text()?.into_owned()));
            // `SELF` is the target, or else its relationship.
            let own = match (at, &relation) {
                (WrittenIn::Outer(_), None) => WrittenIn::Outer(outer.as_deref()),
                (WrittenIn::Outer(_), Some(relation)) => {
                    let at = |node| Some(WrittenIn::Assigned(node, self.only(node, relation)?));
                    outer.as_deref().and_then(at).unwrap_or(WrittenIn::Outer(None))
                }
                (at, _) => at,
            };
            let chosen = self.replaced(target.as_ref(), at);
            let Some(chosen) = chosen else {
                let step = targeted.into_iter().next().unwrap_or_else(|| step.clone());
                let step = self.for_members(&step, target.as_ref(), at);
                all.push((key, self.step(&step, own, None)));
                continue;
            };
            let parts = match relation {
                Some(_) => targeted,
                None => self.step_parts(chosen, &step, targeted),
            };
            let count = parts.len();
            let names: Vec<_> = (1..=count)
                .map(|number| if count == 1 { name.clone() } else { format!("{name}_{number}") })
                .collect();
            firsts.extend(names.first().map(|first| (name, first.clone())));
            for (position, step) in parts.into_iter().enumerate() {
                let next = names.get(position + 1).cloned();
                let step = self.step(&step, own, next);
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

    /// The position of the only assignment of a requirement of a node.
    fn only(&self, node: &str, requirement: &Out<'a>) -> Option<usize> {
        let name = OutNode::root(requirement).text()?;
        let all = self.outer.node(node)?.assignments.iter().enumerate();
        let all = all.filter(|(_, it)| it.name == name);
        let all: Vec<_> = all.map(|(position, _)| position).collect();
        if let [only] = all[..] { Some(only) } else { None }
    }

    /// The choice for the node that is the target of a step of the template, if it is replaced.
    fn replaced(&self, target: Option<&Out<'a>>, at: WrittenIn<'_>) -> Option<usize> {
        let target = target.filter(|_| matches!(at, WrittenIn::Outer(_)))?;
        self.by_node.get(&*OutNode::root(target).text()?).copied()
    }

    /// A step or a precondition for each of the nodes or relations that its target becomes.
    fn targeted(&self, body: &Out<'a>, at: WrittenIn<'_>) -> Vec<Out<'a>> {
        let Some(target) = entry(body, "target") else { return vec![body.clone()] };
        let to = |target: Out<'a>, relation: Option<String>| {
            let mut all = entries(body);
            set(&mut all, "target", |_| Some(target));
            if let Some(relation) = relation {
                set(&mut all, "target_relationship", |_| Some(Out::String(relation.into())));
            }
            like(body, all)
        };
        let relation = entry(body, "target_relationship");
        let (Some(chosen), Some(relation)) = (self.replaced(Some(&target), at), relation) else {
            let targets = self.named(None, &target, at).into_iter();
            return targets.map(|(_, target)| to(target, None)).collect();
        };
        let name = OutNode::root(&relation).text().unwrap_or_default();
        let ends = self.relation_ends(chosen, &name);
        if ends.is_empty() {
            let node = &self.outer.nodes[self.chosen[chosen].node].name;
            let message =
                format!("the template for node \"{node}\" maps no relation `{name}` of it");
            self.dangles(OutNode::root(&relation).span(), &message);
        }
        let ends = ends.into_iter();
        ends.map(|(node, inner)| to(Out::String(node.into()), Some(inner))).collect()
    }

    /// A step with other followers.
    fn step(&self, step: &Out<'a>, at: WrittenIn<'_>, next: Option<String>) -> Out<'a> {
        let mut all = entries(step);
        for (key, value) in &mut all {
            match &*key_name(key) {
                "activities" => *value = self.activities(value, at),
                "target"
                | "target_relationship"
                | "on_success"
                | "on_failure"
                | "operation_host" => {}
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

    /// The steps that a step of a replaced node becomes: one for each node that replaces it, as
    /// they are in `targeted`, but a single one for calls of mapped operations.
    fn step_parts(&self, chosen: usize, step: &Out<'a>, targeted: Vec<Out<'a>>) -> Vec<Out<'a>> {
        let single = self.single(chosen);
        let is_one = targeted.len() == 1 && single.is_some();
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
            return targeted;
        }
        let mut parts = Vec::new();
        for run in all.chunk_by(|one, other| is_one || one.0 == other.0) {
            let own = run.iter().map(|(_, activity)| activity.clone()).collect::<Vec<_>>();
            let with = |step: &Out<'a>| with_activities(step, &|old| like_list(old, own.clone()));
            match &single {
                Some(single) if run[0].0 => {
                    let mut all = entries(step);
                    set(&mut all, "target", |_| Some(single.clone()));
                    parts.push(with(&like(step, all)));
                }
                _ => {
                    let count = if run[0].0 { 1 } else { targeted.len() };
                    parts.extend(targeted.iter().take(count).map(with));
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
        let inputs = self.given_inputs(chosen, &name, &workflow, entry(&call, "inputs"));
        if let Some(inputs) = inputs {
            let node = &self.outer.nodes[self.chosen[chosen].node].name;
            let at = WrittenIn::Outer(Some(node));
            let inputs = each_value(&inputs, &|input| self.value(input, at));
            let parts = [("workflow", inline), ("inputs", inputs)];
            let parts = parts.map(|(key, value)| (OutKey::New(key.into()), value));
            let old = Some(&call).filter(|call| !entries(call).is_empty());
            inline = rebuilt(old, parts.into());
        }
        Some(like(activity, vec![(OutKey::New("inline".into()), inline)]))
    }

    /// The inputs of a call of a mapped operation: those that the call gives, and those that the
    /// replaced node assigns to the operation or its interface, as far as the workflow has them.
    fn given_inputs(
        &self,
        chosen: usize,
        operation: &str,
        workflow: &str,
        given: Option<Out<'a>>,
    ) -> Option<Out<'a>> {
        let (interface, operation) = operation.rsplit_once('.')?;
        let workflows = self.chosen[chosen].variant.view.section("workflows")?;
        let declared = entry(&entry(&workflows, workflow)?, "inputs");
        let node = &self.outer.nodes[self.chosen[chosen].node];
        let interface = entry(&node.body, "interfaces").and_then(|all| entry(&all, interface));
        let assigned = interface.as_ref().and_then(|interface| {
            let operations = entry(interface, "operations");
            entry(operations.as_ref().unwrap_or(interface), operation)
        });
        let mut all = given.as_ref().map(entries).unwrap_or_default();
        for inputs in [assigned, interface].iter().flatten().filter_map(|it| entry(it, "inputs")) {
            for (key, value) in entries(&inputs) {
                let name = key_name(&key).into_owned();
                if declared.as_ref().is_some_and(|declared| entry(declared, &name).is_some()) {
                    set(&mut all, &name, |old| Some(old.cloned().unwrap_or(value)));
                }
            }
        }
        (given.is_some() || !all.is_empty()).then(|| rebuilt(given.as_ref(), all))
    }

    /// A node of a substituting template that stands for itself, whatever counts say.
    fn single(&self, chosen: usize) -> Option<Out<'a>> {
        let nodes = &self.chosen[chosen].variant.view.nodes;
        let node = nodes.iter().find(|node| entry(&node.body, "instance_count").is_none())?;
        Some(Out::String(self.prefixed(chosen, &node.name).into()))
    }

    /// The workflow to which an operation of a node is mapped.
    pub(super) fn mapped_operation(&self, chosen: usize, name: &str) -> Option<String> {
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
            self.path_to(chosen, self.chosen[chosen].fit.capabilities.get(&capability)?, path)
        });
        found.unwrap_or_else(|| path.clone())
    }

    /// The path to a part of a node of a substituting template, which takes the place of `old`.
    fn path_to(&self, chosen: usize, (node, part): &MappedTo, old: &Out<'a>) -> Option<Out<'a>> {
        let names = [self.names[chosen].get(node)?, part];
        Some(path_of(old, names.map(|name| Out::String(name.clone().into()))))
    }

    /// Mappings of requirements. One that names a replaced node leads to the requirements onto which
    /// those relations are mapped that it would give the node, one after the other.
    fn mapped_again(&self, list: &Out<'a>) -> Out<'a> {
        let all = listed(list);
        let mut left = FxHashMap::default();
        let mut again: ListItems<'a> = Vec::new();
        for (owner, item) in &all {
            let Some((key, path)) = entries(item).into_iter().next() else { continue };
            let parts = targets_of(&path);
            if !parts.iter().any(|part| self.onto_replaced(part).is_some()) {
                again.push((*owner, item.clone()));
                continue;
            }
            let (name, share) = requirement_of(&key);
            let is_same = |(_, item): &&(_, Out<'a>)| {
                entries(item).first().is_some_and(|(key, _)| requirement_of(key).0 == name)
            };
            let count = match share {
                MappingShare::Times(count) => count,
                MappingShare::One if all.iter().filter(is_same).count() > 1 => 1,
                _ => u64::MAX,
            };
            let runs = self.mapped_runs(parts, count, &mut left);
            let is_whole = matches!(&*runs, [(own, _)] if *own == count || count == u64::MAX);
            let key = if is_whole { key } else { OutKey::New(name.into()) };
            for (times, targets) in runs {
                let one = like(item, vec![(key.clone(), mapping_of(targets))]);
                let times = if is_whole || times > WRITTEN_OUT { 1 } else { times };
                again.extend((0..times).map(|_| (None, one.clone())));
            }
        }
        like_list(list, again)
    }

    /// The runs of targets onto which so many relations are mapped, if they are mapped onto `parts`.
    /// `left` has what is left of those of replaced nodes.
    fn mapped_runs(
        &self,
        parts: Vec<Out<'a>>,
        count: u64,
        left: &mut FxHashMap<(usize, String), MappingRuns<'a>>,
    ) -> Vec<(u64, Vec<Out<'a>>)> {
        let mut runs = MappingRuns::new();
        for part in parts {
            let own = match self.onto_replaced(&part) {
                Some((chosen, Some(onto))) => {
                    let left = left.entry((chosen, onto.name.clone()));
                    taken(left.or_insert_with(|| self.runs(chosen, onto, &part)), count)
                }
                Some((_, None)) => {
                    let message = "the template that substitutes this node maps no such relation, so it is not mapped";
                    let note = Diagnostic::note(Code::UnmappedRelation, message);
                    self.tell(note.at(OutNode::root(&part).span()));
                    continue;
                }
                None => MappingRuns::from([(count, vec![part])]),
            };
            runs = together(runs, own);
        }
        runs.into()
    }

    /// The replaced node that a mapping leads to, and its requirement, if that is mapped.
    fn onto_replaced(&self, target: &Out<'a>) -> Option<(usize, Option<&FitRequirement>)> {
        let (node, requirement) = pair(&items(target))?;
        let &chosen = self.by_node.get(&*node)?;
        let mut all = self.chosen[chosen].fit.requirements.iter();
        Some((chosen, all.find(|it| it.name == requirement)))
    }

    /// What the relations of a requirement that a replaced node does not have yet are mapped onto.
    fn runs(&self, chosen: usize, requirement: &FitRequirement, old: &Out<'a>) -> MappingRuns<'a> {
        let node = &self.outer.nodes[self.chosen[chosen].node];
        let has_target = |slot: &&usize| node.assignments[**slot].target.is_some();
        let own = requirement.slots.iter().filter(has_target).count() as u64;
        let runs = requirement.runs.iter().map(|&(mapping, count)| {
            let FitMapping { targets, selected, .. } = &requirement.mappings[mapping];
            let paths = targets.iter().filter_map(|to| self.path_to(chosen, to, old));
            let nodes = selected.iter().filter_map(|node| self.names[chosen].get(node));
            let nodes = nodes.map(|node| Out::String(node.clone().into()));
            (count, paths.chain(nodes).collect())
        });
        let mut runs = runs.collect();
        taken(&mut runs, own);
        runs
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

/// The number of mappings that are written out one by one at most.
const WRITTEN_OUT: u64 = 100_000;

/// Consecutive relations with the targets that they are mapped onto; a last run may have no end.
type MappingRuns<'a> = VecDeque<(u64, Vec<Out<'a>>)>;

/// Takes the first relations of runs.
fn taken<'a>(runs: &mut MappingRuns<'a>, mut count: u64) -> MappingRuns<'a> {
    let mut all = MappingRuns::new();
    while count > 0
        && let Some((there, targets)) = runs.pop_front()
    {
        let own = there.min(count);
        count -= own;
        if there > own {
            runs.push_front((there - own, targets.clone()));
        }
        all.push_back((own, targets));
    }
    all
}

/// Runs of relations that are mapped onto the targets of both.
fn together<'a>(mut one: MappingRuns<'a>, mut other: MappingRuns<'a>) -> MappingRuns<'a> {
    let mut all = MappingRuns::new();
    while let (Some((first, _)), Some((second, _))) = (one.front(), other.front()) {
        let count = *first.min(second);
        let both = [taken(&mut one, count), taken(&mut other, count)];
        let targets = both.into_iter().flatten().flat_map(|(_, targets)| targets);
        all.push_back((count, targets.collect()));
    }
    all.into_iter().chain(one).chain(other).collect()
}

/// The requirement that a mapping has as its key, and the number of relations there.
fn requirement_of(key: &OutKey<'_>) -> (String, MappingShare) {
    let group = if let OutKey::Source(key) = key { group(*key) } else { None };
    let plain = || (key_name(key).into_owned(), MappingShare::One);
    group.map_or_else(plain, |(name, share)| (name.to_owned(), share))
}

/// A mapping onto these targets.
fn mapping_of(mut targets: Vec<Out<'_>>) -> Out<'_> {
    if targets.len() == 1 {
        return targets.remove(0);
    }
    let items = targets.into_iter().map(|target| (None, target));
    Out::Seq { items: items.collect(), like: None }
}

/// The targets of a mapping, which is one or a list of some.
fn targets_of<'a>(mapping: &Out<'a>) -> Vec<Out<'a>> {
    let parts = items(mapping);
    let is_list = parts.iter().any(|part| !items(part).is_empty());
    if is_list { parts } else { vec![mapping.clone()] }
}

/// The names of a node and of one of its parts.
fn pair(names: &[Out<'_>]) -> Option<(String, String)> {
    let [node, name] = names else { return None };
    let text = |out| Some(OutNode::root(out).text()?.into_owned());
    Some((text(node)?, text(name)?))
}

/// A path of these steps that takes the place of `old`.
pub(super) fn path_of<'a>(old: &Out<'a>, steps: [Out<'a>; 2]) -> Out<'a> {
    like_list(old, steps.map(|step| (None, step)).into())
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
