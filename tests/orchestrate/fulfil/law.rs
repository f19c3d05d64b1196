//! Compares fulfilment with trying every assignment: whether one exists, how many optional
//! relations the best one has, how much of the inventory it takes, and which of equally good ones
//! is taken.

use super::{inventory, template};
use cuvee::{Failure, Resolver};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A node that can be the target of relations.
#[derive(Clone, Debug)]
struct Server {
    tier: i64,
    capacity: Option<usize>,
}

/// A node that leaves something open.
#[derive(Clone, Debug)]
enum Open {
    /// Relations to servers of at least this tier: some are mandatory, more are optional.
    Relations { tier: i64, mandatory: usize, optional: usize },
    /// A selected server of the inventory of at least this tier, with the given number of relations
    /// to it.
    Select { tier: i64, users: usize },
}

#[derive(Clone, Debug)]
struct Problem {
    own: Vec<Server>,
    stored: Vec<Server>,
    open: Vec<Open>,
}

fn servers() -> impl Strategy<Value = Vec<Server>> {
    let server = (0_i64..3, prop::option::weighted(0.8, 0_usize..3));
    prop::collection::vec(server.prop_map(|(tier, capacity)| Server { tier, capacity }), 0..4)
}

fn problem() -> impl Strategy<Value = Problem> {
    let relations = (0_i64..3, 0_usize..3, 0_usize..3)
        .prop_map(|(tier, mandatory, optional)| Open::Relations { tier, mandatory, optional });
    let select = (0_i64..3, 0_usize..3).prop_map(|(tier, users)| Open::Select { tier, users });
    let open = prop_oneof![2 => relations, 1 => select];
    (servers(), servers(), prop::collection::vec(open, 1..4))
        .prop_map(|(own, stored, open)| Problem { own, stored, open })
}

/// Many nodes with one relation each, for few places.
fn rivals() -> impl Strategy<Value = Problem> {
    let one = (0_i64..3, prop::bool::weighted(0.7)).prop_map(|(tier, is_mandatory)| {
        let mandatory = usize::from(is_mandatory);
        Open::Relations { tier, mandatory, optional: 1 - mandatory }
    });
    (servers(), servers(), prop::collection::vec(one, 1..7))
        .prop_map(|(own, stored, open)| Problem { own, stored, open })
}

fn written(servers: &[Server], prefix: &str) -> String {
    let one = |(number, server): (usize, &Server)| {
        let capacity = server
            .capacity
            .map(|most| format!(", capabilities: {{service: {{occurrences: [0, {most}]}}}}"));
        let tier = server.tier;
        let capacity = capacity.unwrap_or_default();
        format!("    {prefix}{number}: {{type: Server, properties: {{tier: {tier}}}{capacity}}}\n")
    };
    servers.iter().enumerate().map(one).collect()
}

impl Problem {
    fn template(&self) -> String {
        let mut text = String::from("  node_templates:\n    nothing: {type: tosca.nodes.Root}\n");
        for (number, open) in self.open.iter().enumerate() {
            match open {
                Open::Relations { tier, mandatory, optional } => {
                    let filter = format!(
                        "node_filter: {{properties: [{{tier: {{greater_or_equal: {tier}}}}}]}}"
                    );
                    let range = format!("occurrences: [{mandatory}, {}]", mandatory + optional);
                    text += &format!(
                        "    open{number}: {{type: Client, requirements: [{{service: {{{range}, {filter}}}}}]}}\n"
                    );
                }
                Open::Select { tier, users } => {
                    text += &format!(
                        "    open{number}: {{type: Server, directives: [select], properties: {{tier: {{greater_or_equal: {tier}}}}}}}\n"
                    );
                    for user in 0..*users {
                        text += &format!(
                            "    user{number}_{user}: {{type: Client, requirements: [{{service: open{number}}}]}}\n"
                        );
                    }
                }
            }
        }
        text + &written(&self.own, "own")
    }

    fn server(&self, position: usize) -> &Server {
        self.own.get(position).unwrap_or_else(|| &self.stored[position - self.own.len()])
    }

    /// All sets of servers that an open node may take.
    fn sets(&self, open: &Open) -> Vec<Vec<usize>> {
        let all = self.own.len() + self.stored.len();
        let (tier, least, most, from) = match *open {
            Open::Relations { tier, mandatory, optional } => {
                (tier, mandatory, mandatory + optional, 0)
            }
            Open::Select { tier, .. } => (tier, 1, 1, self.own.len()),
        };
        let set = |bits: u32| (0..all).filter(move |position| bits >> position & 1 == 1).collect();
        let sets = (0..1_u32 << all).map(set);
        let fits = |set: &Vec<usize>| {
            (least..=most).contains(&set.len())
                && set.iter().all(|&one| one >= from && self.server(one).tier >= tier)
        };
        sets.filter(fits).collect()
    }

    /// The cost of an assignment; `None` if it breaks a bound.
    fn cost(&self, chosen: &[Vec<usize>]) -> Option<(usize, usize, usize)> {
        let all = self.own.len() + self.stored.len();
        let (mut uses, mut selects) = (vec![0; all], vec![0; all]);
        let (mut missing, mut relations) = (0, 0);
        for (open, set) in self.open.iter().zip(chosen) {
            for &one in set {
                match open {
                    Open::Relations { .. } => {
                        uses[one] += 1;
                        relations += usize::from(one >= self.own.len());
                    }
                    Open::Select { users, .. } => {
                        uses[one] += users;
                        selects[one] += 1;
                    }
                }
            }
            if let Open::Relations { mandatory, optional, .. } = open {
                // The optional relations that are missing count as a cost, whatever bounds forbid
                // them.
                missing += mandatory + optional - set.len();
            }
        }
        let is_bound =
            |one: usize| self.server(one).capacity.is_none_or(|capacity| uses[one] <= capacity);
        if !(0..all).all(|one| is_bound(one) && selects[one] <= 1) {
            return None;
        }
        let taken = |one: &usize| chosen.iter().any(|set| set.contains(one));
        let taken = (self.own.len()..all).filter(taken).count();
        Some((missing, taken, relations))
    }

    /// All assignments of the least cost, the preferred one first.
    fn best(&self) -> Vec<Vec<Vec<usize>>> {
        let mut all = vec![Vec::new()];
        for open in &self.open {
            let sets = self.sets(open);
            all = all
                .iter()
                .flat_map(|before: &Vec<Vec<usize>>| {
                    sets.iter().map(|set| [&before[..], std::slice::from_ref(set)].concat())
                })
                .collect();
        }
        let costs = all.into_iter().filter_map(|chosen| Some((self.cost(&chosen)?, chosen)));
        let mut costs: Vec<_> = costs.collect();
        let Some(least) = costs.iter().map(|(cost, _)| *cost).min() else { return Vec::new() };
        costs.retain(|(cost, _)| *cost == least);
        let mut best: Vec<_> = costs.into_iter().map(|(_, chosen)| chosen).collect();
        best.sort_by_key(|chosen| self.preference(chosen));
        best
    }

    /// The problem with these open nodes only.
    fn of(&self, open: &[usize]) -> Self {
        Self { open: open.iter().map(|&at| self.open[at].clone()).collect(), ..self.clone() }
    }

    /// The order of preference: selected nodes come first, then requirements as they are declared;
    /// within each, the server that comes first.
    fn preference(&self, chosen: &[Vec<usize>]) -> Vec<bool> {
        let is_select = |open: &Open| matches!(open, Open::Select { .. });
        let of = |wanted: bool| {
            self.open.iter().zip(chosen).filter(move |(open, _)| is_select(open) == wanted)
        };
        let all = self.own.len() + self.stored.len();
        of(true)
            .chain(of(false))
            .flat_map(|(_, set)| (0..all).map(|one| !set.contains(&one)))
            .collect()
    }
}

/// Relations that are said to compete are too many, and would not be without any one of them.
fn compete(problem: &Problem, failure: &Failure) -> Result<(), TestCaseError> {
    for error in &failure.diagnostics {
        let is_named = |at: &usize| {
            let (node, relation) = (format!("`open{at}`"), format!("`open{at}.service`"));
            error.message.contains(&node) || error.message.contains(&relation)
        };
        let named: Vec<_> = (0..problem.open.len()).filter(is_named).collect();
        prop_assert!(problem.of(&named).best().is_empty(), "{error:?}");
        if !error.message.contains("compete") && !error.message.contains("cannot be fulfilled") {
            continue;
        }
        for out in &named {
            let rest: Vec<_> = named.iter().copied().filter(|one| one != out).collect();
            prop_assert!(!problem.of(&rest).best().is_empty(), "{out} {error:?}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn fulfilment_is_the_best_of_all(problem in prop_oneof![problem(), rivals()]) {
        let site = inventory(&format!(
            "  node_templates:\n    nothing: {{type: tosca.nodes.Root}}\n{}",
            written(&problem.stored, "stored")
        ));
        let text = template(&problem.template());
        let answer = Resolver::from_text("app.yaml", text.clone()).fulfil(&site);
        let best = problem.best();
        let Some(expected) = best.first() else {
            prop_assert!(answer.is_err(), "{text}");
            return compete(&problem, &answer.unwrap_err());
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => return Err(TestCaseError::fail(format!("{text}{failure:?}"))),
        };
        let is_ambiguous = answer.warnings().iter().any(|it| it.code.as_str() == "ambiguous-fulfilment");
        prop_assert_eq!(is_ambiguous, best.len() > 1, "{}{}", text, answer.to_yaml());
        let topology = Resolver::from_text("app.yaml", answer.to_yaml()).topology().unwrap().result;
        // The position in the problem of each node of the result.
        let mut positions = BTreeMap::new();
        for node in &topology.nodes {
            let stored = node.described.metadata.iter().find(|entry| entry.name == "instance");
            let stored = stored.and_then(|uri| {
                uri.value.value.as_str()?.rsplit_once("stored")?.1.parse::<usize>().ok()
            });
            let own = node.name.strip_prefix("own").and_then(|number| number.parse().ok());
            let position = stored.map(|stored| stored + problem.own.len()).or(own);
            positions.extend(position.map(|position| (node.name.clone(), position)));
        }
        for (number, (open, expected)) in problem.open.iter().zip(expected).enumerate() {
            let name = format!("open{number}");
            let found = match open {
                Open::Select { .. } => positions.get(&name).copied().into_iter().collect(),
                Open::Relations { .. } => {
                    let node = topology.node(topology.node_named(&name).unwrap());
                    let targets = node.relations.iter().filter_map(|&id| topology.relation(id).target);
                    let targets = targets.map(|target| &topology.node(target).name);
                    targets.filter_map(|name| positions.get(name).copied()).collect::<Vec<_>>()
                }
            };
            prop_assert_eq!(&found, expected, "{} {}{}", name, text, answer.to_yaml());
        }
    }
}
