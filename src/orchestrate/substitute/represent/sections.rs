//! Rewrites the parts of a template that name nodes: groups, policies, workflows and the
//! substitution mapping of the template itself.

use super::Representing;
use super::known::Indices;
use crate::orchestrate::representation;
use crate::orchestrate::substitute::rewrite::mapped_path;
use crate::orchestrate::substitute::sections::{ListItems, each_value};
use crate::orchestrate::substitute::view::{entry, listed};
use crate::orchestrate::tree::{MapEntries, entries, items, key_name, like, like_list, set};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps of a workflow that are not there any more, each with the steps that take its place.
type Followers = FxHashMap<String, Vec<String>>;

fn text(out: &Out<'_>) -> Option<String> {
    OutNode::root(out).text().map(|text| text.into_owned())
}

fn name<'a>(name: String) -> Out<'a> {
    Out::String(name.into())
}

impl Representing<'_, '_> {
    pub(super) fn groups<'a>(&self, section: &Out<'a>) -> Out<'a> {
        self.each(section, "members")
    }

    pub(super) fn policies<'a>(&self, section: &Out<'a>) -> Out<'a> {
        let all = listed(section).into_iter();
        let all = all.map(|(owner, policy)| (owner, self.each(&policy, "targets")));
        like_list(section, all.collect())
    }

    /// A map of groups or policies, with the nodes that their members or targets stand for.
    fn each<'a>(&self, map: &Out<'a>, keyname: &str) -> Out<'a> {
        let mut all = entries(map);
        for (_, body) in &mut all {
            let mut parts = entries(body);
            for (key, value) in &mut parts {
                *value = match &*key_name(key) {
                    name if name == keyname => {
                        let names = listed(value).into_iter();
                        let names = names.flat_map(|(owner, item)| self.named(owner, item));
                        like_list(value, names.collect())
                    }
                    "metadata" | "type" => continue,
                    _ => self.value(value, Indices::default()),
                };
            }
            *body = like(body, parts);
        }
        like(map, all)
    }

    /// The nodes that a name in a list stands for.
    fn named<'a>(&self, owner: Option<Node<'a>>, item: Out<'a>) -> ListItems<'a> {
        let Some(nodes) = text(&item).and_then(|name| self.counts.nodes(&name)) else {
            return vec![(owner, item)];
        };
        let owners = std::iter::once(owner).chain(std::iter::repeat(None));
        nodes.into_iter().zip(owners).map(|(node, owner)| (owner, name(node))).collect()
    }

    pub(super) fn workflows<'a>(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = entries(section);
        for (_, workflow) in &mut all {
            let mut parts = entries(workflow);
            for (key, value) in &mut parts {
                *value = match &*key_name(key) {
                    "steps" => self.steps(value),
                    "inputs" => each_value(value, &|it| self.value(it, Indices::default())),
                    "outputs" => each_value(value, &|path| self.attribute_mapping(path)),
                    "metadata" | "description" => continue,
                    _ => self.value(value, Indices::default()),
                };
            }
            *workflow = like(workflow, parts);
        }
        like(section, all)
    }

    /// A mapping of an output to an attribute, which is that of one node.
    fn attribute_mapping<'a>(&self, path: &Out<'a>) -> Out<'a> {
        let key = OutKey::New("get_attribute".into());
        let call = self.path(&key, path, Indices::default());
        call.and_then(|call| mapped_path(&call)).unwrap_or_else(|| path.clone())
    }

    /// The steps of a workflow. One for a template with a count is repeated for its nodes, one
    /// after the other, unless all that it does is to inline workflows.
    fn steps<'a>(&self, steps: &Out<'a>) -> Out<'a> {
        let mut all: MapEntries<'a> = Vec::new();
        let mut followers = Followers::default();
        for (key, step) in entries(steps) {
            let target = entry(&step, "target").as_ref().and_then(text);
            let Some(nodes) = target.and_then(|target| self.counts.nodes(&target)) else {
                all.push((key, self.value(&step, Indices::default())));
                continue;
            };
            if let (Some(node), true) = (nodes.first(), only_inlines(&step)) {
                let mut parts = self.step_at(&step, 0);
                set(&mut parts, "target", |_| Some(name(node.clone())));
                all.push((key, like(&step, parts)));
                continue;
            }
            let own = key_name(&key);
            let names: Vec<_> =
                (0..nodes.len()).map(|index| representation(&own, index as u64)).collect();
            let next = entry(&step, "on_success").map(|next| items(&next)).unwrap_or_default();
            let first = match names.first() {
                Some(first) => vec![first.clone()],
                None => next.iter().filter_map(text).collect(),
            };
            followers.insert(own.into_owned(), first);
            for (index, node) in nodes.into_iter().enumerate() {
                let mut parts = self.step_at(&step, index as u64);
                set(&mut parts, "target", |_| Some(name(node)));
                if let Some(next) = names.get(index + 1) {
                    let next = vec![(None, name(next.clone()))];
                    set(&mut parts, "on_success", |_| {
                        Some(Out::Seq { items: next.into(), like: None })
                    });
                }
                let new = names[index].clone().into();
                let key = match &key {
                    OutKey::Source(key) if index == 0 => OutKey::Renamed(*key, new),
                    _ => OutKey::New(new),
                };
                all.push((key, like(&step, parts)));
            }
        }
        all.iter_mut().for_each(|(_, step)| *step = following(step, &followers));
        like(steps, all)
    }

    /// What a step says of its target, which is the node of this index.
    fn step_at<'a>(&self, step: &Out<'a>, index: u64) -> MapEntries<'a> {
        let at = Indices { node: Some(index), is_in_workflow: true, ..Indices::default() };
        entries(&self.value(step, at))
    }

    /// The substitution mapping of the template itself. A capability is that of the first node, a
    /// requirement that of all nodes.
    pub(super) fn mappings<'a>(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = entries(section);
        for (key, value) in &mut all {
            *value = match &*key_name(key) {
                "capabilities" => {
                    let mut parts = entries(value);
                    parts.iter_mut().for_each(|(_, path)| *path = self.first(path));
                    like(value, parts)
                }
                "requirements" => {
                    let parts = listed(value).into_iter();
                    let parts =
                        parts.filter_map(|(owner, item)| Some((owner, self.mapping(&item)?)));
                    like_list(value, parts.collect())
                }
                _ => continue,
            };
        }
        like(section, all)
    }

    /// A path to a capability of a node.
    fn first<'a>(&self, path: &Out<'a>) -> Out<'a> {
        let mut steps = listed(path);
        let template = steps.first().and_then(|(_, step)| text(step));
        let nodes = template.and_then(|template| self.counts.nodes(&template));
        if let Some(node) = nodes.and_then(|nodes| nodes.into_iter().next())
            && let Some((_, step)) = steps.first_mut()
        {
            *step = name(node);
            return like_list(path, steps);
        }
        path.clone()
    }

    /// The mapping of a requirement; `None` if it leads to no node any more.
    fn mapping<'a>(&self, item: &Out<'a>) -> Option<Out<'a>> {
        let mut all = entries(item);
        let (_, target) = all.first_mut()?;
        let mut targets = self.targets(target)?;
        *target = match (targets.len(), targets.pop()) {
            (_, None) => return None,
            (1, Some((_, only))) => only,
            (_, Some(last)) => {
                targets.push(last);
                Out::Seq { items: targets.into(), like: None }
            }
        };
        Some(like(item, all))
    }

    /// What a mapping leads to: a node that is selected, a requirement of a node, or several of
    /// these.
    fn targets<'a>(&self, target: &Out<'a>) -> Option<ListItems<'a>> {
        if OutNode::root(target).kind() == NodeKind::Scalar {
            return Some(self.named(None, target.clone()));
        }
        let parts = items(target);
        if let [node, requirement] = &*parts
            && let Some(template) = text(node)
            && text(requirement).is_some_and(|second| self.counts.get(&second).is_none())
        {
            let Some(nodes) = self.counts.nodes(&template) else {
                return Some(vec![(None, target.clone())]);
            };
            let paths = nodes.into_iter().map(|node| {
                let path = vec![(None, name(node)), (None, requirement.clone())];
                (None, Out::Seq { items: path.into(), like: None })
            });
            return Some(paths.collect());
        }
        let all = parts.iter().map(|part| self.targets(part)).collect::<Option<Vec<_>>>()?;
        Some(all.concat())
    }
}

/// Whether a step only inlines workflows, to which its target means nothing.
fn only_inlines(step: &Out<'_>) -> bool {
    let activities = entry(step, "activities").map(|all| items(&all)).unwrap_or_default();
    let inlines = |activity: &Out<'_>| entry(activity, "inline").is_some();
    !activities.is_empty() && activities.iter().all(inlines)
}

/// A step with the steps that follow it now.
fn following<'a>(step: &Out<'a>, followers: &Followers) -> Out<'a> {
    let mut all = entries(step);
    for (key, value) in &mut all {
        if matches!(&*key_name(key), "on_success" | "on_failure") {
            let names = listed(value).into_iter().flat_map(|(owner, item)| {
                match text(&item).filter(|name| followers.contains_key(name)) {
                    Some(old) => {
                        let new = replaced(old, followers).into_iter();
                        new.map(|new| (owner, name(new))).collect()
                    }
                    None => vec![(owner, item)],
                }
            });
            *value = like_list(value, names.collect());
        }
    }
    like(step, all)
}

/// The steps that take the place of a step. What takes its place may be gone itself.
fn replaced(step: String, followers: &Followers) -> Vec<String> {
    let (mut open, mut seen, mut found) = (vec![step], FxHashSet::default(), Vec::new());
    while let Some(step) = open.pop() {
        match followers.get(&step) {
            Some(next) if seen.insert(step.clone()) => open.extend(next.iter().rev().cloned()),
            Some(_) => {}
            None => found.push(step),
        }
    }
    found
}
