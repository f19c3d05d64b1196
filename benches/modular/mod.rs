//! Optimisation problems of the size of real systems. Services form modules of eight, each service
//! on exactly one of four runtimes of its own. Runtimes are hosted on stacks of the module, and
//! stacks on one of two platforms; some runtimes exclude each other, mostly in the same module. The
//! weight of what is present has to be minimal.

pub(crate) struct Node {
    pub weight: u64,
    /// The positions of the nodes that can host it.
    pub hosts: Vec<usize>,
    pub persistent: bool,
}

#[derive(Default)]
pub(crate) struct Template {
    pub nodes: Vec<Node>,
    pub excluded: Vec<(usize, usize)>,
}

/// Deterministic numbers that look random, by SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
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
    /// Makes a problem of `size / 4` services and the nodes that host them.
    pub(crate) fn modular(size: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut template = Self::default();
        let platforms: Vec<_> =
            (0..PLATFORMS).map(|_| template.add(&mut random, vec![], false)).collect();
        let services = size / ALTERNATIVES;
        let mut modules = Vec::new();
        for (module, start) in (0..services).step_by(MODULE).enumerate() {
            let under = [platforms[module % 3], platforms[module % 3 + 3]];
            let stacks: Vec<_> = (0..ALTERNATIVES)
                .map(|_| template.add(&mut random, under.to_vec(), false))
                .collect();
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
}
