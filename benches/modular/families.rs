//! Other kinds of optimisation problems, as clauses, since what is fast on one kind may be slow on
//! another.

use super::encode::Encoded;
use super::modular::Random;
use cuvee::parts::formula::{Arena, Atom, Encoder, Formula, OriginId};
use cuvee::parts::solve::Objective;

/// Components that are each hosted on exactly one of four hosts, which neighbours share; each host
/// needs one of two stacks. The weight of hosts and stacks has to be minimal. It pays to take what
/// many components can use, so that no component can be decided alone.
pub(crate) fn shared(components: usize, seed: u64) -> Encoded {
    let mut random = Random::new(seed);
    let (hosts, stacks) = (components, components / 4 + 2);
    let mut problem = Problem::new(hosts + stacks);
    for host in 0..hosts {
        let near = host * (stacks - 1) / hosts;
        let on = [near, near + 1].map(|stack| problem.atoms[hosts + stack]);
        problem.clauses.push([&[!problem.atoms[host]], &on[..]].concat());
    }
    for component in 0..components {
        let near: Vec<_> =
            (0..4).map(|_| problem.atoms[(component + random.below(8)) % hosts]).collect();
        problem.clauses.push(near);
    }
    let weights = (0..hosts + stacks)
        .map(|position| 1 + random.below(if position < hosts { 100 } else { 300 }) as u64);
    let costs: Vec<_> = problem.atoms.clone().into_iter().zip(weights).collect();
    problem.encode(&costs)
}

/// Components that are each deployed by exactly one of four technologies, where neighbours exclude
/// some; the sum of how well the technologies fit has to be maximal.
pub(crate) fn technologies(components: usize, seed: u64) -> Encoded {
    let mut random = Random::new(seed);
    let mut problem = Problem::new(4 * components);
    let atoms = problem.atoms.clone();
    let mut costs = Vec::new();
    for component in atoms.chunks(4) {
        problem.clauses.push(component.to_vec());
        for (position, &one) in component.iter().enumerate() {
            problem.clauses.extend(component[..position].iter().map(|&other| vec![!one, !other]));
            costs.push((!one, 1 + random.below(100) as u64));
        }
    }
    for (component, next) in atoms.chunks(4).zip(atoms.chunks(4).skip(1)) {
        let excluded = (0..4).map(|_| vec![!component[random.below(4)], !next[random.below(4)]]);
        problem.clauses.extend(excluded);
    }
    problem.encode(&costs)
}

/// A choice of exactly one of `count` alternatives, if possible the heaviest.
pub(crate) fn alternatives(count: usize) -> Encoded {
    let mut problem = Problem::new(count);
    let atoms = problem.atoms.clone();
    problem.clauses.push(atoms.clone());
    for (position, &one) in atoms.iter().enumerate() {
        problem.clauses.extend(atoms[..position].iter().map(|&other| vec![!one, !other]));
    }
    let costs: Vec<_> = atoms
        .iter()
        .zip(0..)
        .map(|(&atom, position)| (!atom, 1 + position * 7919 % 1009))
        .collect();
    problem.encode(&costs)
}

struct Problem {
    arena: Arena,
    atoms: Vec<Formula>,
    clauses: Vec<Vec<Formula>>,
}

impl Problem {
    fn new(atoms: usize) -> Self {
        let mut arena = Arena::default();
        let atoms = (0..atoms as u32).map(|atom| arena.atom(Atom(atom))).collect();
        Self { arena, atoms, clauses: Vec::new() }
    }

    fn encode(self, costs: &[(Formula, u64)]) -> Encoded {
        let mut encoder = Encoder::new(&self.arena, self.atoms.len() as u32);
        for (clause, origin) in self.clauses.iter().zip((0..).map(OriginId)) {
            encoder.assert(clause, origin);
        }
        let terms =
            costs.iter().map(|&(formula, weight)| (encoder.literal(formula), weight)).collect();
        let preference = (0..self.atoms.len() as u32).map(Atom).collect();
        Encoded { cnf: encoder.finish(), objective: Objective { terms }, preference }
    }
}
