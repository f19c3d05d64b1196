//! Optimisation problems of the size of real systems, as clauses: services in modules of eight, each on exactly one of four runtimes of its own;
//! runtimes stand on the module's stacks, stacks on one of two platforms; some runtimes exclude each other, mostly inside a module. The sum of the
//! weights of what is present is to be minimal.

use cuvee::formula::{Arena, Atom, Cnf, Encoder, Formula, OriginId};
use cuvee::solve::Objective;

pub struct Node {
    pub weight: u64,
    /// Positions of the nodes that can host it.
    pub hosts: Vec<usize>,
    pub persistent: bool,
}

#[derive(Default)]
pub struct Template {
    pub nodes: Vec<Node>,
    pub excluded: Vec<(usize, usize)>,
}

/// A problem ready to be solved: atoms are the nodes, each followed by its relations.
pub struct Encoded {
    pub cnf: Cnf,
    pub objective: Objective,
    pub preference: Vec<Atom>,
}

/// Deterministic numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % end as u64) as usize
    }
}

const ALTERNATIVES: usize = 4;
const MODULE: usize = 8;
const PLATFORMS: usize = 6;

impl Template {
    /// `size / 4` services and what they stand on.
    pub fn modular(size: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut template = Self::default();
        let platforms: Vec<_> = (0..PLATFORMS).map(|_| template.add(&mut random, vec![], false)).collect();
        let services = size / ALTERNATIVES;
        let mut modules = Vec::new();
        for (module, start) in (0..services).step_by(MODULE).enumerate() {
            let under = [platforms[module % 3], platforms[module % 3 + 3]];
            let stacks: Vec<_> = (0..ALTERNATIVES).map(|_| template.add(&mut random, under.to_vec(), false)).collect();
            let mut runtimes = Vec::new();
            for service in start..services.min(start + MODULE) {
                let hosts: Vec<_> = (0..ALTERNATIVES)
                    .map(|_| {
                        let stack = stacks[random.below(stacks.len())];
                        template.add(&mut random, vec![stack], false)
                    })
                    .collect();
                runtimes.extend(hosts.iter().map(|&host| (service, host)));
                template.add(&mut random, hosts, true);
            }
            for _ in 0..runtimes.len() * 6 / 10 {
                template.exclude(&mut random, &runtimes, &runtimes);
            }
            modules.push(runtimes);
        }
        for _ in 0..size / 20 {
            let (one, other) = (random.below(modules.len()), random.below(modules.len()));
            if one != other {
                template.exclude(&mut random, &modules[one], &modules[other]);
            }
        }
        template
    }

    fn add(&mut self, random: &mut Random, hosts: Vec<usize>, persistent: bool) -> usize {
        let weight = if persistent { 0 } else { 1 + random.below(100) as u64 };
        self.nodes.push(Node { weight, hosts, persistent });
        self.nodes.len() - 1
    }

    fn exclude(&mut self, random: &mut Random, from: &[(usize, usize)], to: &[(usize, usize)]) {
        let (one, other) = (from[random.below(from.len())], to[random.below(to.len())]);
        if one.0 != other.0 {
            self.excluded.push((one.1, other.1));
        }
    }

    /// A relation is present where both of its ends are. A node is present only with a present incoming relation and a present host, and then exactly one
    /// of its hosting relations is.
    pub fn encode(&self) -> Encoded {
        let mut arena = Arena::default();
        let mut next = 0;
        let mut atom = || {
            next += 1;
            arena.atom(Atom(next - 1))
        };
        let elements: Vec<(Formula, Vec<Formula>)> =
            self.nodes.iter().map(|node| (atom(), node.hosts.iter().map(|_| atom()).collect())).collect();
        let mut incoming = vec![Vec::new(); self.nodes.len()];
        for (node, (_, relations)) in self.nodes.iter().zip(&elements) {
            node.hosts.iter().zip(relations).for_each(|(&host, &relation)| incoming[host].push(relation));
        }
        // Each clause set is an element with its conditions, or a constraint alone.
        let mut conditions: Vec<(Formula, Vec<Formula>)> = Vec::new();
        let mut constraints = Vec::new();
        for ((node, (present, relations)), incoming) in self.nodes.iter().zip(&elements).zip(incoming) {
            let hosts: Vec<_> = node.hosts.iter().map(|&host| elements[host].0).collect();
            let mut needed = Vec::new();
            if !node.persistent && !incoming.is_empty() {
                needed.push(arena.or(incoming));
            }
            if !node.persistent && !hosts.is_empty() {
                needed.push(arena.or(hosts.iter().copied()));
            }
            conditions.push((*present, needed));
            conditions.extend(relations.iter().zip(&hosts).map(|(&relation, &host)| (relation, vec![*present, host])));
            if !relations.is_empty() {
                let one = arena.exactly_one(relations.iter().copied());
                constraints.push(vec![!*present, one]);
            }
        }
        constraints.extend(self.excluded.iter().map(|&(one, other)| vec![!elements[one].0, !elements[other].0]));
        let mut encoder = Encoder::new(&arena, next);
        let mut origins = (0..).map(OriginId);
        let mut assert = |clause: &[Formula]| {
            if let Some(origin) = origins.next() {
                encoder.assert(clause, origin);
            }
        };
        for (element, conditions) in conditions {
            conditions.iter().for_each(|&condition| assert(&[!element, condition]));
            assert(&conditions.iter().map(|&condition| !condition).chain([element]).collect::<Vec<_>>());
        }
        constraints.iter().for_each(|constraint| assert(constraint));
        let terms =
            self.nodes.iter().zip(&elements).map(|(node, (present, _))| (encoder.literal(*present), node.weight)).collect();
        Encoded { cnf: encoder.finish(), objective: Objective { terms }, preference: (0..next).map(Atom).collect() }
    }
}
