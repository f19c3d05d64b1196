//! Computes the topology of all variants at once. It contains each node and each relation once for
//! each way in which it may be written, as far as the differences affect plans.

use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::variability::emit::OpenDocument;
use crate::variability::graph::Graph;
use crate::variability::resolve;
use cuvee_sat::formula::{Arena, Formula};
use cuvee_text::yaml::{Node, Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};

/// In how many ways a part may be written at most.
const WAYS: usize = 32;

/// How many nodes and relations there may be at most, counted in all ways.
const PARTS: usize = 20_000;

/// The keynames that do not affect plans.
const SILENT: [&str; 2] = ["properties", "attributes"];

/// A way to write a part, with its condition.
type Way<'a> = (Formula, Out<'a>);

/// A way to write a part that may be missing, with its condition.
type MaybeWay<'a> = (Formula, Option<Out<'a>>);

/// A way to write a collection with named parts, with its condition.
type CollectionWay<'a, K> = (Formula, Vec<(K, Out<'a>)>);

/// The topology of all variants.
pub(super) struct OpenTopology {
    /// The topology. Nodes of the same name are consecutive; each relation has a position of its
    /// own.
    pub(super) topology: Topology,
    /// For each node of the template, the condition of its presence, and its ways.
    pub(super) nodes: Vec<(Formula, Vec<NodeIndex>)>,
    /// For each way, the condition under which it applies if its node is present.
    pub(super) node_whens: Vec<Formula>,
    /// For each relation, the condition of its presence if its source is present in this way.
    pub(super) relation_whens: Vec<Formula>,
    /// For each relation, its identifier in the variants that have it.
    pub(super) relation_identifiers: Vec<String>,
}

impl OpenTopology {
    /// Builds the topology of all variants.
    ///
    /// # Errors
    /// The reason why it cannot be built.
    pub(super) fn of(open: &mut OpenDocument<'_>, graph: &Graph<'_>) -> Result<Self, String> {
        let root = OutNode::root(&open.document);
        let workflows = root.get("topology_template").and_then(|body| body.get("workflows"));
        if workflows.is_some_and(|all| all.get("deploy").is_some()) {
            return Err("the template has a workflow `deploy` of its own".into());
        }
        let OpenDocument { document, arena, conditions, .. } = open;
        let mut ways = Ways { arena, conditions, relationships: FxHashMap::default() };
        let body = entries(document).find(|(name, _)| *name == "topology_template");
        let of = |keyname| {
            let found = body.and_then(|(_, body)| entries(body).find(|(name, _)| *name == keyname));
            found.into_iter().flat_map(|(_, all)| entries(all))
        };
        // A type of the same name may be meant instead (section 8.7.1 of TOSCA 2.0).
        let used = graph.relations.iter().filter(|it| it.requirement.relationship().is_some());
        let used = used.filter_map(|it| Some(it.relationship?.declared.name()));
        let used: FxHashSet<_> = used.collect();
        for (name, body) in of("relationship_templates").filter(|(name, _)| used.contains(name)) {
            let found = ways.of(body, true).map_err(|why| format!("relationship.{name} {why}"))?;
            ways.relationships.insert(name, found);
        }
        let mut written = WrittenNodes::default();
        let mut names = FxHashSet::default();
        for (name, body) in of("node_templates") {
            if !names.insert(name) {
                return Err(format!("several nodes have the name {name}"));
            }
            written.add(name, body, &mut ways).map_err(|why| format!("node.{name} {why}"))?;
        }
        written.read(graph).ok_or_else(|| "its nodes are not told apart".into())
    }
}

/// The reason that there are too many ways to write a part.
const TOO_MANY: &str = "may be written in too many ways";
const UNKNOWN: &str = "is not known before it is resolved";

/// The entries of a map that is present if any of its entries is.
fn entries<'o, 'a>(out: &'o Out<'a>) -> impl Iterator<Item = (&'o str, &'o Out<'a>)> {
    let entries = match bare(out) {
        Out::Map { entries, .. } => &entries[..],
        _ => &[],
    };
    entries.iter().map(|(key, value)| (text(key), value))
}

/// The contents of a part that is absent, or an empty map, unless any part of it is present.
fn bare<'o, 'a>(out: &'o Out<'a>) -> &'o Out<'a> {
    let is_empty = |out: &Out<'_>| matches!(out, Out::Map { entries, .. } if entries.is_empty());
    match out {
        Out::Cases(cases) => match &cases[..] {
            [(_, first), others @ ..] if others.iter().all(|(_, other)| is_empty(other)) => {
                bare(first)
            }
            _ => out,
        },
        Out::Lifted(_, out) | Out::Below(_, out) | Out::Noted(_, out) => bare(out),
        out => out,
    }
}

fn text<'o>(key: &'o OutKey<'_>) -> &'o str {
    match key {
        OutKey::Source(key) => key.text().unwrap_or_default(),
        OutKey::Renamed(_, name) | OutKey::New(name) => name,
    }
}

/// Finds the ways in which parts of the document may be written.
struct Ways<'o, 'a> {
    arena: &'o mut Arena,
    conditions: &'o [Formula],
    /// The ways to write each relationship template.
    relationships: FxHashMap<&'o str, Vec<Way<'a>>>,
}

impl<'a> Ways<'_, 'a> {
    /// All ways to write a part that is present, without keynames that do not affect plans. An
    /// error if there are too many ways, or one is not known.
    fn of(&mut self, out: &Out<'a>, is_short: bool) -> Result<Vec<Way<'a>>, &'static str> {
        let all = match out {
            Out::Source(_) | Out::String(_) | Out::Value(_) => vec![(Formula::TRUE, out.clone())],
            Out::Lifted(_, out) | Out::Below(_, out) | Out::Noted(_, out) => {
                self.of(out, is_short)?
            }
            Out::Later(_) => return Err(UNKNOWN),
            Out::Cases(cases) => {
                let mut all = Vec::new();
                for (when, out) in cases {
                    let when = self.conditions[*when as usize];
                    for (own, out) in self.of(out, is_short)? {
                        all.push((self.arena.and([when, own]), out));
                    }
                }
                all
            }
            Out::Map { entries, like } => {
                let told = entries.iter().map(|(key, value)| (text(key), key, value));
                let told = told.filter(|(name, ..)| !is_short || !SILENT.contains(name));
                let parts = told.map(|(name, key, value)| {
                    let is_short = is_short && name != "capabilities";
                    Ok::<_, &str>((key.clone(), self.maybe(value, is_short)?))
                });
                let parts = parts.collect::<Result<Vec<_>, &'static str>>()?;
                let all = self.together(parts)?;
                all.into_iter().map(|(when, entries)| (when, map(entries, *like))).collect()
            }
            Out::Seq { items, like } => {
                let parts = items
                    .iter()
                    .map(|(of, item)| Ok::<_, &str>((*of, self.maybe(item, is_short)?)));
                let parts = parts.collect::<Result<Vec<_>, &'static str>>()?;
                let all = self.together(parts)?;
                let list = |items: Vec<_>| Out::Seq { items: items.into(), like: *like };
                all.into_iter().map(|(when, items)| (when, list(items))).collect()
            }
        };
        if all.len() <= WAYS { Ok(self.united(all)) } else { Err(TOO_MANY) }
    }

    /// All ways to write a part that may be missing.
    fn maybe(&mut self, out: &Out<'a>, is_short: bool) -> Result<Vec<MaybeWay<'a>>, &'static str> {
        if let Out::Lifted(_, out) | Out::Below(_, out) | Out::Noted(_, out) = out {
            return self.maybe(out, is_short);
        }
        let all = self.of(out, is_short)?.into_iter().map(|(when, out)| (when, Some(out)));
        let none = match out {
            Out::Cases(cases) => {
                let whens = cases.iter().map(|(when, _)| !self.conditions[*when as usize]);
                self.arena.and(whens)
            }
            _ => Formula::FALSE,
        };
        Ok(all.chain((none != Formula::FALSE).then_some((none, None))).collect())
    }

    /// All combinations of ways to write the parts of a collection, each part with its name.
    fn together<K: Clone>(
        &mut self,
        parts: Vec<(K, Vec<MaybeWay<'a>>)>,
    ) -> Result<Vec<CollectionWay<'a, K>>, &'static str> {
        let mut all = vec![(Formula::TRUE, Vec::with_capacity(parts.len()))];
        for (key, ways) in parts {
            if let [(Formula::TRUE, only)] = &ways[..] {
                let only = only.iter().map(|out| (key.clone(), out.clone()));
                all.iter_mut().for_each(|(_, row)| row.extend(only.clone()));
                continue;
            }
            let mut longer = Vec::with_capacity(all.len() * ways.len());
            for (when, row) in &all {
                for (own, out) in &ways {
                    let both = self.arena.and([*when, *own]);
                    let out = out.iter().map(|out| (key.clone(), out.clone()));
                    longer.push((both, row.iter().cloned().chain(out).collect()));
                }
            }
            longer.retain(|(when, _)| *when != Formula::FALSE);
            all = longer;
            if all.len() > WAYS {
                return Err(TOO_MANY);
            }
        }
        Ok(all)
    }

    /// Merges ways with the same contents.
    fn united(&mut self, all: Vec<Way<'a>>) -> Vec<Way<'a>> {
        if all.len() < 2 {
            return all;
        }
        let mut united = Vec::<(_, Vec<Formula>, Out<'a>)>::new();
        for (when, out) in all {
            let value = OutNode::root(&out).to_value();
            match united.iter_mut().find(|(known, ..)| *known == value) {
                Some((_, whens, _)) => whens.push(when),
                None => united.push((value, vec![when], out)),
            }
        }
        united.into_iter().map(|(_, whens, out)| (self.arena.or(whens), out)).collect()
    }

    /// All ways to write a requirement assignment, with the relationship template that it names
    /// written in place.
    fn relation(&mut self, out: &Out<'a>) -> Result<Vec<Way<'a>>, &'static str> {
        let mut all = Vec::new();
        for (when, out) in self.of(out, true)? {
            let relationship = OutNode::root(&out).entries().into_iter().next();
            let relationship = relationship.and_then(|entry| entry.value.get("relationship"));
            let named = relationship.and_then(|used| self.relationships.get(&*used.text()?));
            let Some(templates) = named else {
                all.push((when, out));
                continue;
            };
            // A relationship template is present whenever a relation that uses it is.
            let is_only = templates.len() == 1;
            for (own, template) in templates.clone() {
                let own = if is_only { Formula::TRUE } else { own };
                all.push((self.arena.and([when, own]), with_relationship(&out, template)));
            }
        }
        Ok(all)
    }
}

fn map<'a>(entries: Vec<(OutKey<'a>, Out<'a>)>, like: Option<Node<'a>>) -> Out<'a> {
    Out::Map { entries: entries.into(), like }
}

/// A requirement assignment with its relationship replaced.
fn with_relationship<'a>(out: &Out<'a>, relationship: Out<'a>) -> Out<'a> {
    let Out::Map { entries: named, like } = out else { return out.clone() };
    let Some((name, body)) = named.first() else { return out.clone() };
    let others = parts(body).into_iter().filter(|(key, _)| text(key) != "relationship");
    let own = (OutKey::New("relationship".into()), relationship);
    map(vec![(name.clone(), map(others.chain([own]).collect(), None))], *like)
}

/// The entries of a map; none for any other value.
fn parts<'a>(out: &Out<'a>) -> Vec<(OutKey<'a>, Out<'a>)> {
    let part = |(key, value)| (OutKey::Source(key), Out::Source(value));
    match out {
        Out::Map { entries, .. } => entries.to_vec(),
        Out::Source(node) => node.entries().map(part).collect(),
        _ => Vec::new(),
    }
}

/// All ways of nodes, as they are written.
#[derive(Default)]
struct WrittenNodes<'a> {
    entries: Vec<(OutKey<'a>, Out<'a>)>,
    nodes: Vec<(Formula, Vec<NodeIndex>)>,
    node_whens: Vec<Formula>,
    relation_whens: Vec<Formula>,
}

impl<'a> WrittenNodes<'a> {
    fn add(
        &mut self,
        name: &str,
        out: &Out<'a>,
        ways: &mut Ways<'_, 'a>,
    ) -> Result<(), &'static str> {
        let when = match out {
            Out::Cases(cases) if cases.len() == 1 => ways.conditions[cases[0].0 as usize],
            _ => Formula::TRUE,
        };
        let like = match bare(out) {
            Out::Map { like, .. } => *like,
            Out::Source(node) => Some(*node),
            _ => None,
        };
        let mut relations = Vec::new();
        let requirements = entries(bare(out)).find(|(name, _)| *name == "requirements");
        if let Some((_, requirements)) = requirements {
            let Out::Seq { items, .. } = bare(requirements) else { return Err(UNKNOWN) };
            for (of, item) in items.iter() {
                relations.extend(ways.relation(item)?.into_iter().map(|way| (*of, way)));
            }
        }
        let mut told = parts(bare(out));
        told.retain(|(key, _)| text(key) != "requirements");
        let mut own = Vec::new();
        for (when, way) in ways.of(&map(told, like), true)? {
            own.push(NodeIndex::new(self.entries.len()));
            self.node_whens.push(when);
            let Out::Map { entries, like } = way else { return Err(UNKNOWN) };
            let mut entries = entries.to_vec();
            self.relation_whens.extend(relations.iter().map(|(_, (when, _))| *when));
            let items = relations.iter().map(|(of, (_, out))| (*of, out.clone())).collect();
            let like_list = like.and_then(|it| it.get("requirements"));
            let requirements = Out::Seq { items, like: like_list };
            entries.push((OutKey::New("requirements".into()), requirements));
            self.entries.push((OutKey::New(name.to_owned().into()), map(entries, like)));
            if self.entries.len() + self.relation_whens.len() > PARTS {
                return Err(TOO_MANY);
            }
        }
        self.nodes.push((when, own));
        Ok(())
    }

    /// Reads the topology; `None` if the result does not have the nodes and relations that were
    /// written.
    fn read(self, graph: &Graph<'_>) -> Option<OpenTopology> {
        let Self { entries, nodes, node_whens, relation_whens } = self;
        let below = |name: &'static str, out| map(vec![(OutKey::New(name.into()), out)], None);
        let document = below("topology_template", below("node_templates", map(entries, None)));
        let mut topology =
            Topology::read(&document, &|relation| resolve::is_hosting(graph, relation));
        for (_, own) in &nodes {
            // A target is found by its name, which only leads to one of the ways of a node.
            let mut incoming: Vec<RelationIndex> =
                own.iter().flat_map(|id| &topology.node(*id).incoming).copied().collect();
            incoming.sort_unstable();
            own.iter().for_each(|id| topology.nodes[id.index()].incoming = incoming.clone());
        }
        let identifiers = topology.relation_ids().map(|id| topology.relation_identifier(id));
        let relation_identifiers = identifiers.collect();
        for (position, relation) in topology.relations.iter_mut().enumerate() {
            relation.position = position as u32;
        }
        let is_read = topology.nodes.len() == node_whens.len()
            && topology.relations.len() == relation_whens.len();
        is_read.then_some(OpenTopology {
            topology,
            nodes,
            node_whens,
            relation_whens,
            relation_identifiers,
        })
    }
}
