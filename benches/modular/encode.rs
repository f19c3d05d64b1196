//! Encodes the problems as clauses, for layers below templates.

use super::modular::Template;
use cuvee::parts::formula::{Arena, Atom, Cnf, Encoder, Formula, OriginId};
use cuvee::parts::solve::Objective;

/// A problem that is ready to be solved. Its atoms are the nodes, each followed by its relations.
pub(crate) struct Encoded {
    pub cnf: Cnf,
    pub objective: Objective,
    pub preference: Vec<Atom>,
}

/// Encodes a template: a relation is present where both of its ends are. A node is only present
/// with a present incoming relation and a present host, and then with exactly one of its hosting
/// relations.
pub(crate) fn encode(template: &Template) -> Encoded {
    let mut arena = Arena::default();
    let mut next = 0;
    let mut atom = || {
        next += 1;
        arena.atom(Atom(next - 1))
    };
    let elements: Vec<(Formula, Vec<Formula>)> = template
        .nodes
        .iter()
        .map(|node| (atom(), node.hosts.iter().map(|_| atom()).collect()))
        .collect();
    let mut incoming = vec![Vec::new(); template.nodes.len()];
    for (node, (_, relations)) in template.nodes.iter().zip(&elements) {
        node.hosts
            .iter()
            .zip(relations)
            .for_each(|(&host, &relation)| incoming[host].push(relation));
    }
    // Each set of clauses is an element with its conditions, or a constraint alone.
    let mut conditions: Vec<(Formula, Vec<Formula>)> = Vec::new();
    let mut constraints = Vec::new();
    for ((node, (present, relations)), incoming) in
        template.nodes.iter().zip(&elements).zip(incoming)
    {
        let hosts: Vec<_> = node.hosts.iter().map(|&host| elements[host].0).collect();
        let mut needed = Vec::new();
        if !node.persistent && !incoming.is_empty() {
            needed.push(arena.or(incoming));
        }
        if !node.persistent && !hosts.is_empty() {
            needed.push(arena.or(hosts.iter().copied()));
        }
        conditions.push((*present, needed));
        conditions.extend(
            relations.iter().zip(&hosts).map(|(&relation, &host)| (relation, vec![*present, host])),
        );
        if !relations.is_empty() {
            let one = arena.exactly_one(relations.iter().copied());
            constraints.push(vec![!*present, one]);
        }
    }
    constraints.extend(
        template.excluded.iter().map(|&(one, other)| vec![!elements[one].0, !elements[other].0]),
    );
    let mut encoder = Encoder::new(&arena, next);
    let mut origins = (0..).map(OriginId);
    let mut assert = |clause: &[Formula]| {
        if let Some(origin) = origins.next() {
            encoder.assert(clause, origin);
        }
    };
    for (element, conditions) in conditions {
        conditions.iter().for_each(|&condition| assert(&[!element, condition]));
        assert(
            &conditions.iter().map(|&condition| !condition).chain([element]).collect::<Vec<_>>(),
        );
    }
    constraints.iter().for_each(|constraint| assert(constraint));
    let terms = template
        .nodes
        .iter()
        .zip(&elements)
        .map(|(node, (present, _))| (encoder.literal(*present), node.weight))
        .collect();
    Encoded {
        cnf: encoder.finish(),
        objective: Objective { terms },
        preference: (0..next).map(Atom).collect(),
    }
}
