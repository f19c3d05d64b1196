//! Where relations of substituted nodes go, and what is refused before: against a brute force that
//! reads the page on requirement mapping one entry and one slot at a time.

#![expect(clippy::unwrap_used)]

use cuvee::deploy::substitute::{SubstitutedTemplate, SubstitutionQuery};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::source::MemoryFiles;
use cuvee::{Failure, Resolver};
use proptest::prelude::*;
use std::fmt::Write;

fn files(shop: &str, inner: &str, types: &str) -> MemoryFiles {
    MemoryFiles::from([("shop.yaml", shop), ("inner.yaml", inner), ("types.yaml", types)])
}

fn substituted(files: &MemoryFiles) -> Result<SubstitutedTemplate, Failure> {
    let resolver = Resolver::new("shop.yaml").files(files.clone());
    resolver.substitute(&SubstitutionQuery::with(["inner.yaml"]))
}

fn errors(file: &str, files: &MemoryFiles) -> Vec<Diagnostic> {
    let validation = Resolver::new(file).files(files.clone()).validate();
    let errors = validation.diagnostics.into_iter();
    errors.filter(|found| found.severity == Severity::Error).collect()
}

/// All that a failure says, labels as well.
fn said(failure: &Failure) -> String {
    let of = |it: &Diagnostic| {
        let labels = it.labels.iter().map(|label| label.message.to_string());
        std::iter::once(it.message.clone()).chain(labels).collect::<Vec<_>>().join("\n")
    };
    failure.diagnostics.iter().map(of).collect::<Vec<_>>().join("\n")
}

const TYPES: &str = "capability_types:
  Service: {}
  Other: {}
node_types:
  T:
    properties: {size: {type: integer, required: false}}
    attributes: {place: {type: string}}
    capabilities: {service: {type: Service}}
    requirements: [{service: {capability: Service, occurrences: [1, 2]}}]
  S:
    capabilities: {service: {type: Service}, other: {type: Other}}
    requirements:
      - service: {capability: Service, occurrences: [0, 2]}
      - other: {capability: Other, occurrences: [0, 1]}
  M: {requirements: [{service: {capability: Service, occurrences: [1, 1]}}]}
  Server: {capabilities: {service: {type: Service}}}
";

/// Mappings that are wrong in one way each.
const WRONG: [&str; 31] = [
    "requirements: [{nothing: [s, service]}]",
    "requirements: [{service: [gone, service]}]",
    "requirements: [{service: [s, nothing]}]",
    "requirements: [{service: [s, other]}]",
    "requirements: [{service: []}]",
    "requirements: [{service: 3}]",
    "requirements: [{service: [s]}]",
    "requirements: [{service: [[s]]}]",
    "requirements: [{service: s}]",
    "requirements: [{service: [[s, service], [s, service]]}]",
    "requirements: [{[service, -1]: [s, service]}]",
    "requirements: [{[service]: [s, service]}]",
    "requirements: [{[service, two]: [s, service]}]",
    "requirements: [{[service, 1, 2]: [s, service]}]",
    "requirements: [{service: [s, service], nothing: [m, service]}]",
    "requirements: [{service: [bound, service]}]",
    "requirements: [{service: [m, service]}, {service: [m, service]}]",
    "requirements: [{service: [m, service]}, {service: [m2, service]}]",
    "requirements: [{[service, 3]: [s, service]}]",
    "requirements: [{[service, UNBOUNDED]: [s, service]}, {service: [s, service]}]",
    "requirements: [{service: {mapping: [s]}}]",
    "requirements: 3",
    "capabilities: {nothing: [s, service]}",
    "capabilities: {service: [gone, service]}",
    "capabilities: {service: [s, nothing]}",
    "capabilities: {service: [s, other]}",
    "capabilities: {service: 3}",
    "properties: {nothing: [size]}",
    "properties: {size: [gone]}",
    "properties: {size: [name]}",
    "attributes: {place: [gone]}",
];

/// A template and one that may substitute its node by this mapping.
fn mapped(mapping: &str, is_new: bool) -> MemoryFiles {
    let (types, version, topology) = match is_new {
        true => {
            let types = TYPES.replace("occurrences", "count_range");
            let types = types.replace("{capability:", "{relationship: Link, capability:");
            (types + "\nrelationship_types: {Link: {}}", "tosca_2_0", "service_template")
        }
        false => {
            let root = |family: &str| format!("{{derived_from: tosca.{family}.Root}}");
            let types = TYPES.replace(": {}", &format!(": {}", root("capabilities")));
            (types, "tosca_simple_yaml_1_3", "topology_template")
        }
    };
    let types = format!("tosca_definitions_version: {version}\n{types}\n");
    let rest = "  inputs: {size: {type: integer, default: 1}, name: {type: string, default: x}}\n";
    // In the new version, the name of an input or an output stands alone.
    let is_of_values = mapping.starts_with("properties") || mapping.starts_with("attributes");
    let mapping = match is_new && is_of_values {
        true => mapping.replace(['[', ']'], ""),
        false => mapping.to_owned(),
    };
    let head =
        format!("tosca_definitions_version: {version}\nimports: [types.yaml]\n{topology}:\n");
    let inner = format!(
        "{head}{rest}  substitution_mappings:\n    node_type: T\n    {mapping}\n  node_templates:\n    s: {{type: S}}\n    m: {{type: M}}\n    m2: {{type: M}}\n    own: {{type: Server}}\n    bound: {{type: M, requirements: [{{service: own}}]}}\n"
    );
    let shop = format!(
        "{head}  node_templates:\n    server: {{type: Server}}\n    c: {{type: T, directives: [substitute], requirements: [{{service: server}}]}}\n"
    );
    files(&shop, &inner, &types)
}

#[test]
fn a_wrong_mapping_is_never_taken() {
    for is_new in [false, true] {
        let right = mapped("requirements: [{service: [s, service]}]", is_new);
        assert!(errors("inner.yaml", &right).is_empty());
        substituted(&right).unwrap();
        for mapping in WRONG {
            let files = mapped(mapping, is_new);
            let wrong = errors("inner.yaml", &files);
            let [first, ..] = &*wrong else { unreachable!("{mapping} is valid") };
            let failure = substituted(&files).unwrap_err();
            let said = said(&failure);
            assert!(said.contains(&first.message), "{mapping}\n{}\n{said}", first.message);
        }
    }
}

/// Nodes to be substituted that have too many or too few relations.
#[test]
fn bounds_of_substituted_nodes_are_kept() {
    let types = "tosca_definitions_version: tosca_simple_yaml_1_3
capability_types: {Service: {derived_from: tosca.capabilities.Root}}
node_types:
  Server: {derived_from: tosca.nodes.Root, capabilities: {service: Service}}
  Single: {derived_from: tosca.nodes.Root, capabilities: {service: {type: Service, occurrences: [0, 1]}}}
  User: {derived_from: tosca.nodes.Root, requirements: [{service: {capability: Service, occurrences: [0, UNBOUNDED]}}]}
  T:
    derived_from: tosca.nodes.Root
    capabilities: {service: {type: Service, occurrences: [0, 1]}}
    requirements: [{service: {capability: Service, occurrences: [1, 2]}}]
";
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n";
    let inner = format!(
        "{head}  substitution_mappings:\n    node_type: T\n    capabilities: {{service: [own, service]}}\n    requirements: [{{service: [s, service]}}]\n  node_templates:\n    s: {{type: User}}\n    own: {{type: Server}}\n"
    );
    let asked = |requirements: &str, users: &str| {
        let shop = format!(
            "{head}  node_templates:\n    one: {{type: Single}}\n    a: {{type: Server}}\n    b: {{type: Server}}\n    t: {{type: T, directives: [substitute], requirements: [{requirements}]}}\n{users}"
        );
        files(&shop, &inner, types)
    };
    let user = |at: usize| format!("    u{at}: {{type: User, requirements: [{{service: t}}]}}\n");
    substituted(&asked("{service: a}, {service: {node: b, optional: true}}", &user(0))).unwrap();
    for (requirements, users, code) in [
        ("{service: a}, {service: b}, {service: one}", String::new(), Code::TooManyRelations),
        ("{service: {node: a, count: 3}}", String::new(), Code::TooManyRelations),
        ("{service: one}, {service: one}", String::new(), Code::TooManyRelations),
        ("{service: a}", user(0) + &user(1), Code::TooManyRelations),
        (
            "{service: {optional: true}}, {service: {optional: true}}",
            String::new(),
            Code::IncompatibleRequirement,
        ),
        ("{service: {node: a, optional: true}}", String::new(), Code::IncompatibleRequirement),
    ] {
        let files = asked(requirements, &users);
        let failure = substituted(&files).unwrap_err();
        let [found] = &*failure.diagnostics else { unreachable!("{requirements} {failure:?}") };
        assert_eq!(found.code, code, "{requirements}");
        assert!(!errors("shop.yaml", &files).is_empty(), "{requirements}");
    }
}

/// An assignment of the requirement at an inner node.
#[derive(Clone, Debug)]
enum Assigned {
    /// It leads to a node of the same template.
    Local(usize),
    /// It stands for relations that are open.
    Open { min: u64, max: u64 },
}

#[derive(Clone, Debug)]
struct InnerNode {
    bounds: (u64, Option<u64>),
    assigned: Vec<Assigned>,
}

/// How many entries a mapping stands for.
#[derive(Clone, Debug, PartialEq)]
enum Share {
    One,
    Times(u64),
    Rest,
}

/// The assignments of the node to be substituted.
#[derive(Clone, Debug)]
struct Outer {
    /// Those that name their targets, and those of them that are optional, which come last.
    named: usize,
    optional: usize,
    /// Those whose targets have to be found, and those whose targets may be found.
    open: usize,
    maybe: usize,
    /// The nodes beside named ones that can be found.
    spare: usize,
}

/// What becomes of the relations of the node before it is substituted.
#[derive(Debug, PartialEq)]
enum Slots {
    Known(usize),
    Refused(Code),
}

impl Outer {
    /// The relations that the node has, in its bounds. What it does not assign is looked for only if
    /// the template that takes its place leaves that to it.
    fn slots(&self, bounds: (u64, Option<u64>), is_mapped: bool) -> Slots {
        let all = self.named + self.open + self.maybe;
        let mandatory = self.named - self.optional + self.open;
        let (least, is_unassigned) = (bounds.0 as usize, all == 0);
        if bounds.1.is_some_and(|most| all as u64 > most) {
            return Slots::Refused(Code::TooManyRelations);
        }
        if !is_unassigned && mandatory < least {
            return Slots::Refused(Code::IncompatibleRequirement);
        }
        let open = match (is_unassigned, is_mapped) {
            (true, true) => least,
            (true, false) => 0,
            (false, _) => self.open,
        };
        match self.spare.checked_sub(open) {
            Some(left) => Slots::Known(self.named + open + self.maybe.min(left)),
            None => Slots::Refused(Code::UnfulfilledRequirement),
        }
    }

    fn written(&self, is_new: bool) -> Vec<String> {
        let count = |optional: bool| match (is_new, optional) {
            (true, false) => "count: 1",
            (true, true) => "optional: true",
            (false, false) => "occurrences: [1, 1]",
            (false, true) => "occurrences: [0, 1]",
        };
        let named = (0..self.named).map(|at| match at + self.optional >= self.named {
            true => format!("{{service: {{node: s{at}, {}}}}}", count(true)),
            false => format!("{{service: s{at}}}"),
        });
        let open = (0..self.open + self.maybe)
            .map(|at| format!("{{service: {{{}}}}}", count(at >= self.open)));
        named.chain(open).collect()
    }
}

fn outer() -> impl Strategy<Value = Outer> {
    let few = || prop_oneof![3 => Just(0), 1 => 0..3_usize];
    (0..5_usize, few(), few(), few(), 0..4_usize).prop_map(
        |(named, optional, open, maybe, spare)| Outer {
            named,
            optional: optional.min(named),
            open,
            maybe,
            spare,
        },
    )
}

#[derive(Clone, Debug)]
struct Case {
    is_new: bool,
    bounds: (u64, Option<u64>),
    outer: Outer,
    nodes: Vec<InnerNode>,
    locals: usize,
    mappings: Vec<(Share, Vec<usize>)>,
}

fn bounds() -> impl Strategy<Value = (u64, Option<u64>)> {
    (0..3_u64, prop::option::weighted(0.7, 0..3_u64))
        .prop_map(|(min, more)| (min, more.map(|more| (min + more).max(1))))
}

fn case() -> impl Strategy<Value = Case> {
    let assigned = prop_oneof![
        (0..3_usize).prop_map(Assigned::Local),
        (0..3_u64, 0..2_u64)
            .prop_map(|(min, more)| Assigned::Open { min, max: (min + more).max(1) }),
    ];
    let node =
        (bounds(), prop_oneof![2 => Just(Vec::new()), 3 => prop::collection::vec(assigned, 1..4)])
            .prop_map(|(bounds, assigned)| InnerNode { bounds, assigned });
    let share = prop_oneof![
        5 => Just(Share::One),
        3 => (0..3_u64).prop_map(Share::Times),
        1 => Just(Share::Rest)
    ];
    let nodes = prop::collection::vec(node, 1..4);
    (any::<bool>(), bounds(), outer(), nodes, 0..4_usize).prop_flat_map(
        move |(is_new, bounds, outer, nodes, locals)| {
            let targets = prop::collection::btree_set(0..nodes.len(), 1..=2.min(nodes.len()));
            let mapping = (share.clone(), targets.prop_map(|it| it.into_iter().collect()));
            let case = move |mappings| Case {
                is_new,
                bounds,
                outer: outer.clone(),
                nodes: nodes.clone(),
                locals,
                mappings,
            };
            prop::collection::vec(mapping, 0..4).prop_map(case)
        },
    )
}

impl InnerNode {
    /// The relations that are there, and the numbers of open ones: that have to be, and that may
    /// be.
    fn counts(&self) -> (u64, u64, u64) {
        let mut counts = (0, 0, 0);
        for assigned in &self.assigned {
            match assigned {
                Assigned::Local(_) => counts.0 += 1,
                Assigned::Open { min, max } => counts = (counts.0, counts.1 + min, counts.2 + max),
            }
        }
        counts
    }

    fn is_valid(&self) -> bool {
        let (local, min, max) = self.counts();
        let is_enough = self.assigned.is_empty() || local + min >= self.bounds.0;
        is_enough && self.bounds.1.is_none_or(|bound| local + max <= bound)
    }

    /// How many entries the requirement takes, and how many it has to get (D3).
    fn takes(&self) -> (u64, u64) {
        let (local, min, _) = self.counts();
        let takes = self.bounds.1.map_or(u64::MAX, |bound| bound - local.min(bound));
        (takes, self.bounds.0.saturating_sub(local).max(min))
    }

    /// The targets of the node once these relations are mapped onto it: those of mapped ones and
    /// its own in the order of assignments, then how many have to be and may be found beside them.
    fn filled(&self, mapped: &[usize]) -> (Vec<String>, u64, u64) {
        let mut left: Vec<_> = mapped.iter().map(|server| format!("s{server}")).collect();
        left.reverse();
        let mut of_each = vec![Vec::new(); self.assigned.len()];
        for is_mandatory in [true, false] {
            for (assigned, own) in self.assigned.iter().zip(&mut of_each) {
                let Assigned::Open { min, max } = assigned else { continue };
                let most = if is_mandatory { *min } else { *max };
                while (own.len() as u64) < most && !left.is_empty() {
                    own.push(left.pop().unwrap());
                }
            }
        }
        let (mut found, mut mandatory, mut optional) = (Vec::new(), 0, 0);
        for (assigned, own) in self.assigned.iter().zip(of_each) {
            match assigned {
                Assigned::Local(at) => found.push(format!("c_own{at}")),
                Assigned::Open { min, max } => {
                    let lacks = min.saturating_sub(own.len() as u64);
                    mandatory += lacks;
                    optional += max - own.len() as u64 - lacks;
                    found.extend(own);
                }
            }
        }
        if self.assigned.is_empty() {
            mandatory = self.bounds.0.saturating_sub(left.len() as u64);
        }
        left.reverse();
        found.extend(left);
        (found, mandatory, optional)
    }
}

/// What the page says of a case.
enum Expected {
    /// The mappings are wrong.
    Wrong,
    /// For each node the relations that are mapped onto it, and those that nothing takes.
    Mapped { onto: Vec<Vec<usize>>, lost: usize },
}

impl Case {
    fn is_valid(&self) -> bool {
        let is_local =
            |assigned: &Assigned| matches!(assigned, Assigned::Local(at) if *at >= self.locals);
        // In 2.0 an assignment has one count, and is optional as a whole.
        let is_written = |assigned: &Assigned| {
            !self.is_new
                || !matches!(assigned, Assigned::Open { min, max } if *min > 0 && min < max)
        };
        let mut all = self.nodes.iter().flat_map(|node| &node.assigned);
        let is_distinct = |node: &InnerNode| {
            let mut own: Vec<_> = node
                .assigned
                .iter()
                .filter_map(|it| match it {
                    Assigned::Local(at) => Some(at),
                    Assigned::Open { .. } => None,
                })
                .collect();
            own.sort();
            let before = own.len();
            own.dedup();
            own.len() == before
        };
        self.nodes.iter().all(|node| node.is_valid() && is_distinct(node))
            && all.all(|assigned| !is_local(assigned) && is_written(assigned))
    }

    /// The entries for this number of relations: each with its mapping, and whether it has to be
    /// done.
    fn entries(&self, slots: u64) -> Vec<(usize, bool)> {
        let counting = self.mappings.iter().filter(|(share, _)| *share != Share::Times(0));
        let is_sole = counting.clone().count() == 1;
        let mut onto = vec![0_u64; self.nodes.len()];
        let mut entries = Vec::new();
        for (at, (share, targets)) in self.mappings.iter().enumerate() {
            let mut own = 0;
            loop {
                let has_room = targets.iter().all(|&it| onto[it] < self.nodes[it].takes().0);
                let has_to = targets.iter().any(|&it| onto[it] < self.nodes[it].takes().1);
                let more = match share {
                    Share::One if is_sole => own == 0 || has_room && own < slots,
                    Share::One => own == 0,
                    Share::Times(count) => own < *count,
                    Share::Rest => has_room && ((entries.len() as u64) < slots || has_to),
                };
                if !more {
                    break;
                }
                entries.push((at, has_to));
                targets.iter().for_each(|&it| onto[it] += 1);
                own += 1;
            }
        }
        entries
    }

    /// Whether a template with these mappings may stand for every node of the type.
    fn is_mapped_well(&self) -> bool {
        let counting: Vec<_> =
            self.mappings.iter().filter(|(share, _)| *share != Share::Times(0)).collect();
        // Nothing stands behind the rest.
        let behind = counting.iter().position(|(share, _)| *share == Share::Rest);
        if behind.is_some_and(|at| at + 1 < counting.len()) {
            return false;
        }
        // A requirement takes no more than it does (R3, R6).
        for (node, inner) in self.nodes.iter().enumerate() {
            let said = counting.iter().filter(|(_, targets)| targets.contains(&node));
            let count: u64 = said
                .map(|(share, _)| match share {
                    Share::One => 1,
                    Share::Times(count) => *count,
                    Share::Rest => 0,
                })
                .sum();
            if count > inner.takes().0 {
                return false;
            }
        }
        // As many have to be done as there are for certain (R13).
        let most = self.bounds.1.unwrap_or(64);
        let mandatory = match &*counting {
            [(Share::One, targets)] => {
                targets.iter().map(|&it| self.nodes[it].takes().1).max().unwrap_or(0)
            }
            _ => self.entries(most).iter().filter(|(_, has_to)| *has_to).count() as u64,
        };
        mandatory <= self.bounds.0
    }

    /// What is expected of this number of relations.
    fn expected(&self, relations: usize) -> Expected {
        if !self.is_mapped_well() {
            return Expected::Wrong;
        }
        let entries = self.entries(relations as u64);
        let mut order: Vec<usize> = (0..entries.len()).collect();
        if entries.len() as u64 > self.bounds.0 {
            // R17: those that have to be done come first.
            order.sort_by_key(|&at| !entries[at].1);
        }
        let mut done: Vec<_> = order.into_iter().zip(0..relations).collect();
        let lost = relations - done.len();
        // Entries fill what they lead to in their own order (D4).
        done.sort_unstable();
        let mut onto = vec![Vec::new(); self.nodes.len()];
        for (entry, relation) in done {
            let (_, targets) = &self.mappings[entries[entry].0];
            targets.iter().for_each(|&node| onto[node].push(relation));
        }
        Expected::Mapped { onto, lost }
    }

    /// The template, the one that may substitute its node, and their types.
    fn texts(&self) -> [String; 3] {
        let (version, topology, range) = match self.is_new {
            true => ("tosca_2_0", "service_template", "count_range"),
            false => ("tosca_simple_yaml_1_3", "topology_template", "occurrences"),
        };
        let root = |family: &str| match self.is_new {
            true => String::new(),
            false => format!("derived_from: tosca.{family}.Root, "),
        };
        let node = root("nodes");
        let service = |bounds: (u64, Option<u64>)| {
            let most = bounds.1.map_or("UNBOUNDED".to_owned(), |most| most.to_string());
            let relationship = if self.is_new { "relationship: Link, " } else { "" };
            format!(
                "[{{service: {{{relationship}capability: Service, {range}: [{}, {most}]}}}}]",
                bounds.0
            )
        };
        let mut types = format!(
            "tosca_definitions_version: {version}\ncapability_types: {{Service: {{{}}}}}\nnode_types:\n  Server: {{{node}capabilities: {{service: {{type: Service}}}}}}\n",
            root("capabilities").trim_end_matches(", ")
        );
        if self.is_new {
            types.insert_str(types.find("node_types").unwrap(), "relationship_types: {Link: {}}\n");
        }
        writeln!(types, "  Client: {{{node}requirements: {}}}", service(self.bounds)).unwrap();
        let head =
            format!("tosca_definitions_version: {version}\nimports: [types.yaml]\n{topology}:\n");
        let mut inner =
            format!("{head}  substitution_mappings:\n    node_type: Client\n    requirements:\n");
        for (share, targets) in &self.mappings {
            let key = match share {
                Share::One => "service".to_owned(),
                Share::Times(count) => format!("[service, {count}]"),
                Share::Rest => "[service, UNBOUNDED]".to_owned(),
            };
            let targets: Vec<_> =
                targets.iter().map(|node| format!("[n{node}, service]")).collect();
            let targets = if let [only] = &*targets {
                only.clone()
            } else {
                format!("[{}]", targets.join(", "))
            };
            writeln!(inner, "      - {key}: {targets}").unwrap();
        }
        if self.mappings.is_empty() {
            inner = inner.replace("requirements:\n", "requirements: []\n");
        }
        inner.push_str("  node_templates:\n    alone: {type: Server}\n");
        for at in 0..self.locals {
            writeln!(inner, "    own{at}: {{type: Server}}").unwrap();
        }
        for (at, node_of) in self.nodes.iter().enumerate() {
            writeln!(types, "  N{at}: {{{node}requirements: {}}}", service(node_of.bounds))
                .unwrap();
            let assigned = node_of.assigned.iter().map(|assigned| match assigned {
                Assigned::Local(own) => format!("{{service: own{own}}}"),
                Assigned::Open { min, max } if self.is_new => {
                    format!("{{service: {{count: {max}, optional: {}}}}}", *min == 0)
                }
                Assigned::Open { min, max } => {
                    format!("{{service: {{occurrences: [{min}, {max}]}}}}")
                }
            });
            let assigned: Vec<_> = assigned.collect();
            let requirements = if assigned.is_empty() {
                String::new()
            } else {
                format!(", requirements: [{}]", assigned.join(", "))
            };
            writeln!(inner, "    n{at}: {{type: N{at}{requirements}}}").unwrap();
        }
        let mut shop = format!("{head}  node_templates:\n");
        for at in 0..self.outer.named + self.outer.spare {
            writeln!(shop, "    s{at}: {{type: Server}}").unwrap();
        }
        let relations = self.outer.written(self.is_new);
        writeln!(
            shop,
            "    c: {{type: Client, directives: [substitute], requirements: [{}]}}",
            relations.join(", ")
        )
        .unwrap();
        [shop, inner, types]
    }

    /// Adds what is found for relations that are still open: nodes of the same template, each once
    /// for a node. `None` if there are too few for those that have to be.
    fn found(
        &self,
        (mut targets, mandatory, optional): (Vec<String>, u64, u64),
    ) -> Option<Vec<String>> {
        let servers = std::iter::once("c_alone".to_owned())
            .chain((0..self.locals).map(|at| format!("c_own{at}")));
        let free: Vec<_> = servers.filter(|server| !targets.contains(server)).collect();
        let wanted = usize::try_from(mandatory + optional).unwrap();
        if (free.len() as u64) < mandatory {
            return None;
        }
        targets.extend(free.into_iter().take(wanted));
        Some(targets)
    }
}

/// The targets of a node of a result, in the order in which they are written.
fn targets(yaml: &str, node: &str) -> Vec<String> {
    let whole: serde_yaml::Value = serde_yaml::from_str(yaml).unwrap();
    let topology = whole.get("topology_template").or(whole.get("service_template")).unwrap();
    let assigned = topology["node_templates"][node]["requirements"].as_sequence();
    let target = |assigned: &serde_yaml::Value| {
        let service = &assigned["service"];
        let name = service.as_str().or(service.get("node").and_then(|node| node.as_str()));
        name.map(str::to_owned)
    };
    assigned.into_iter().flatten().filter_map(target).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn relations_go_where_the_page_says(case in case()) {
        prop_assume!(case.is_valid());
        let [shop, inner, types] = case.texts();
        let files = files(&shop, &inner, &types);
        let shown = || format!("{types}\n{inner}\n{shop}");
        let found = substituted(&files);
        let slots = case.outer.slots(case.bounds, !case.mappings.is_empty());
        let relations = match slots {
            Slots::Known(relations) => relations,
            Slots::Refused(code) => {
                let found = found.map(|it| it.resolution.to_yaml().to_owned());
                let said = found.as_ref().err().map(said);
                prop_assert!(said.is_some(), "{}\n{:?}", shown(), found);
                if case.is_mapped_well() {
                    let told = found.unwrap_err().diagnostics;
                    prop_assert!(told.iter().any(|it| it.code == code), "{:?}\n{}\n{:?}", code, shown(), said);
                }
                prop_assert!(
                    code == Code::UnfulfilledRequirement || !errors("shop.yaml", &files).is_empty(),
                    "{}",
                    shown()
                );
                return Ok(());
            }
        };
        let (onto, lost) = match case.expected(relations) {
            Expected::Wrong => {
                prop_assert!(found.is_err() && !errors("inner.yaml", &files).is_empty(), "{}", shown());
                return Ok(());
            }
            Expected::Mapped { onto, lost } => (onto, lost),
        };
        prop_assert!(errors("inner.yaml", &files).is_empty(), "{}", shown());
        let filled = case.nodes.iter().zip(&onto).map(|(node, mapped)| node.filled(mapped));
        let expected: Option<Vec<_>> = filled.map(|filled| case.found(filled)).collect();
        let Some(expected) = expected else {
            let said = found.map(|it| it.resolution.to_yaml().to_owned());
            let code = said.as_ref().err().map(|it| it.diagnostics[0].code);
            prop_assert_eq!(code, Some(Code::UnfulfilledRequirement.into()), "{}\n{:?}", shown(), said);
            return Ok(());
        };
        let found = match found {
            Ok(found) => found,
            Err(failure) => return Err(TestCaseError::fail(format!("{}\n{}", shown(), said(&failure)))),
        };
        let flat = found.resolution.to_yaml();
        let unmapped = found.resolution.warnings().iter().filter(|it| it.code == Code::UnmappedRelation);
        prop_assert_eq!(unmapped.count(), lost, "{}\n{}", shown(), flat);
        for (at, expected) in expected.iter().enumerate() {
            let mut targets = targets(flat, &format!("c_n{at}"));
            let is_outer = |name: &&String| name.starts_with('s');
            // Where what is found beside the mapped ones stands does not matter.
            prop_assert!(targets.iter().filter(is_outer).eq(expected.iter().filter(is_outer)), "n{} {:?}\n{}\n{}", at, expected, shown(), flat);
            let mut expected = expected.clone();
            targets.sort();
            expected.sort();
            prop_assert_eq!(targets, expected, "n{}\n{}\n{}", at, shown(), flat);
        }
        // What is flat stays as it is.
        let again = MemoryFiles::from([("shop.yaml", flat), ("inner.yaml", &inner), ("types.yaml", &types)]);
        let again = substituted(&again).map(|it| it.resolution.to_yaml().to_owned()).map_err(|it| said(&it));
        prop_assert_eq!(again.as_deref(), Ok(flat), "{}", shown());
    }

    /// A mapping with no places, or with all that are left where none is, is not too many.
    #[test]
    fn only_entries_without_a_relation_are_surplus(case in case()) {
        prop_assume!(case.is_valid() && case.is_mapped_well());
        let [shop, inner, types] = case.texts();
        let validation = Resolver::new("inner.yaml").files(files(&shop, &inner, &types)).validate();
        let is_told = validation.diagnostics.iter().any(|it| it.code == Code::SurplusMapping);
        let most = case.bounds.1.unwrap_or(64);
        let entries = case.entries(most);
        let counting = case.mappings.iter().filter(|(share, _)| *share != Share::Times(0));
        let is_sole = matches!(&*counting.collect::<Vec<_>>(), [(Share::One, _)]);
        let rest = case.mappings.iter().position(|(share, _)| *share == Share::Rest);
        let of_rest = entries.iter().filter(|(mapping, _)| Some(*mapping) == rest).count();
        let is_bounded = of_rest > 0 && (entries.len() as u64) < most;
        let is_surplus = !is_sole && entries.len() as u64 > most || is_bounded;
        prop_assert_eq!(is_told, is_surplus, "{:?}\n{:?}", case, validation.diagnostics);
    }
}
