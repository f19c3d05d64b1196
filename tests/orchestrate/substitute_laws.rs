//! Laws of substitution, tried on random templates and catalogues.

#![expect(clippy::unwrap_used)]

use cuvee::deploy::substitute::{CandidateVariants, SubstitutedTemplate, SubstitutionQuery};
use cuvee::diagnostic::Code;
use cuvee::source::MemoryFiles;
use cuvee::source::value::Value;
use cuvee::{Failure, Resolver};
use proptest::prelude::*;
use std::fmt::Write;

const TYPES: &str = "
tosca_definitions_version: tosca_simple_yaml_1_3
capability_types:
  Service: {derived_from: tosca.capabilities.Root}
node_types:
  Server:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{peer: {capability: Service, occurrences: [0, 1]}}]
  Client:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [1, 4]}}]
  Client2:
    derived_from: tosca.nodes.Root
    requirements: [{service: {capability: Service, occurrences: [2, 4]}}]
  Soft1:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [1, 1]}}]
  Soft0:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [0, 1]}}]
  SoftU:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [0, UNBOUNDED]}}]
";

/// A mapping: the node onto which it maps, and for how many relations, or for all that are left.
#[derive(Clone, Debug)]
struct Mapped {
    node: usize,
    count: Option<u8>,
}

/// A template that substitutes: for each node whether it takes several relations, and the mappings.
#[derive(Clone, Debug)]
struct Inner {
    takes_several: Vec<bool>,
    mappings: Vec<Mapped>,
}

/// A template with clients that are substituted: the targets of each client's relations, among
/// servers and clients.
#[derive(Clone, Debug)]
struct Outer {
    servers: usize,
    clients: Vec<Vec<usize>>,
}

fn inner() -> impl Strategy<Value = Inner> {
    prop::collection::vec(any::<bool>(), 1..4).prop_flat_map(|takes_several| {
        let mapped = (0..takes_several.len(), prop::option::weighted(0.6, 0..3_u8))
            .prop_map(|(node, count)| Mapped { node, count });
        prop::collection::vec(mapped, 0..4)
            .prop_map(move |mappings| Inner { takes_several: takes_several.clone(), mappings })
    })
}

fn outer() -> impl Strategy<Value = Outer> {
    (1..4_usize, 1..4_usize).prop_flat_map(|(servers, clients)| {
        let relations = prop::collection::vec(0..servers + clients, 1..=4);
        prop::collection::vec(relations, clients)
            .prop_map(move |clients| Outer { servers, clients })
    })
}

impl Inner {
    fn text(&self, is_grouped: bool) -> String {
        let mut text = "
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [../types.yaml]
topology_template:
  substitution_mappings:
    node_type: Client
    capabilities: {service: [n0, service]}
    requirements:
"
        .to_owned();
        for Mapped { node, count } in &self.mappings {
            let mut line = |key: &str| writeln!(text, "      - {key}: [n{node}, service]").unwrap();
            match count {
                None => line("service"),
                Some(count) if is_grouped => line(&format!("[service, {count}]")),
                Some(count) => (0..*count).for_each(|_| line("[service, 1]")),
            }
        }
        text.push_str("  node_templates:\n");
        for (node, several) in self.takes_several.iter().enumerate() {
            let kind = if *several { "SoftU" } else { "Soft0" };
            writeln!(text, "    n{node}: {{type: {kind}}}").unwrap();
        }
        text.replace("    requirements:\n  node", "    requirements: []\n  node")
    }
}

impl Outer {
    fn text(&self, is_reversed: bool) -> String {
        let servers = (0..self.servers).map(|server| match server {
            0 => "    s0: {type: Server}\n".to_owned(),
            _ => format!(
                "    s{server}: {{type: Server, requirements: [{{peer: s{}}}]}}\n",
                server - 1
            ),
        });
        let client = |(client, relations): (usize, &Vec<usize>)| {
            let name = |target: usize| match target.checked_sub(self.servers) {
                None => format!("s{target}"),
                Some(client) => format!("c{client}"),
            };
            let relations =
                relations.iter().map(|&target| format!("{{service: {}}}", name(target)));
            let relations = relations.collect::<Vec<_>>().join(", ");
            format!(
                "    c{client}: {{type: Client, directives: [substitute], requirements: [{relations}]}}\n"
            )
        };
        let mut lines: Vec<_> =
            servers.chain(self.clients.iter().enumerate().map(client)).collect();
        if is_reversed {
            lines.reverse();
        }
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n  node_templates:\n{}",
            lines.concat()
        )
    }
}

fn substituted(outer: &str, inner: &str, with: &[&str]) -> Result<String, Failure> {
    let files = MemoryFiles::from([
        ("shop.yaml", outer),
        ("types.yaml", TYPES),
        ("catalogue/inner.yaml", inner),
        ("catalogue/large.yaml", &large()),
    ]);
    let resolver = Resolver::new("shop.yaml").files(files);
    let substituted = resolver.substitute(&SubstitutionQuery::with(with))?;
    Ok(substituted.resolution.to_yaml().to_owned())
}

/// A template that always fits, and never has the least weight.
fn large() -> String {
    let nodes: String = (0..9).map(|node| format!("    n{node}: {{type: SoftU}}\n")).collect();
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [../types.yaml]\ntopology_template:\n  substitution_mappings:\n    node_type: Client\n    capabilities: {{service: [n0, service]}}\n    requirements:\n      - service: [n0, service]\n  node_templates:\n{nodes}"
    )
}

fn value(yaml: &str) -> Value {
    let files = MemoryFiles::from([("flat.yaml", yaml), ("types.yaml", TYPES)]);
    Resolver::new("flat.yaml").files(files).resolve().unwrap().to_value()
}

/// The value of a key in a map.
fn of(map: &Value, key: &str) -> Option<Value> {
    let Value::Map(entries) = map else { return None };
    entries.iter().find(|(name, _)| **name == *key).map(|(_, value)| value.clone())
}

const CATALOGUE: [&str; 2] = ["catalogue/inner.yaml", "catalogue/large.yaml"];

proptest! {
    #[test]
    fn what_is_flat_is_valid_and_stays(outer in outer(), inner in inner()) {
        let flat = match substituted(&outer.text(false), &inner.text(true), &CATALOGUE) {
            Ok(flat) => flat,
            Err(failure) => {
                let placed = failure.diagnostics.iter().all(|error| error.span.is_some());
                prop_assert!(placed, "{:#?}", failure.diagnostics);
                return Ok(());
            }
        };
        prop_assert!(!flat.contains("substitute]"), "{flat}");
        let files = MemoryFiles::from([("shop.yaml", &*flat), ("types.yaml", TYPES)]);
        let validation = Resolver::new("shop.yaml").files(files).validate();
        prop_assert!(validation.is_valid(false), "{flat}\n{:#?}", validation.diagnostics);
        for line in outer.text(false).lines().filter(|line| line.contains("type: Server")) {
            prop_assert!(flat.contains(line), "{line} is not in {flat}");
        }
        prop_assert_eq!(substituted(&flat, &inner.text(true), &CATALOGUE).unwrap(), flat);
    }

    #[test]
    fn groups_are_what_they_stand_for(outer in outer(), inner in inner()) {
        let flat = |is_grouped| substituted(&outer.text(false), &inner.text(is_grouped), &CATALOGUE);
        prop_assert_eq!(flat(true).ok(), flat(false).ok());
    }

    #[test]
    fn the_order_of_the_catalogue_counts_for_nothing(outer in outer(), inner in inner()) {
        let flat = |with: &[&str]| substituted(&outer.text(false), &inner.text(true), with).ok();
        let [one, other] = CATALOGUE;
        prop_assert_eq!(flat(&[one, other]), flat(&[other, one]));
        prop_assert_eq!(flat(&[one, other]), flat(&["catalogue"]));
    }

    /// The result has the same names and relations in whatever order its nodes are substituted.
    #[test]
    fn the_order_of_nodes_counts_for_nothing(outer in outer(), inner in inner()) {
        let nodes = |is_reversed| {
            let flat = substituted(&outer.text(is_reversed), &inner.text(true), &CATALOGUE).ok()?;
            let nodes = of(&of(&value(&flat), "topology_template")?, "node_templates")?;
            let Value::Map(sections) = nodes else { return None };
            let mut nodes: Vec<_> = sections.iter().map(|(name, body)| (name.to_string(), body.to_string())).collect();
            nodes.sort();
            Some(nodes)
        };
        prop_assert_eq!(nodes(false), nodes(true));
    }
}

/// A template with variability: its nodes and mappings.
#[derive(Clone, Debug)]
struct Variable {
    nodes: Vec<VariableNode>,
    /// The defaults of its inputs.
    defaults: [bool; INPUTS.len()],
    /// The nodes onto which the requirement is mapped.
    mapped: Vec<usize>,
    /// The node that has the capability.
    served: usize,
}

#[derive(Clone, Debug)]
struct VariableNode {
    /// Whether its requirement has to have a target.
    is_mandatory: bool,
    weight: u8,
    /// The input on which its condition depends, and the value that this input must have.
    condition: Option<(usize, bool)>,
}

const INPUTS: [&str; 3] = ["a", "b", "c"];

fn variable() -> impl Strategy<Value = Variable> {
    let node =
        (any::<bool>(), 1..3_u8, prop::option::weighted(0.7, (0..INPUTS.len(), any::<bool>())))
            .prop_map(|(is_mandatory, weight, condition)| VariableNode {
                is_mandatory,
                weight,
                condition,
            });
    prop::collection::vec(node, 1..5).prop_flat_map(|nodes| {
        let all: Vec<_> = (0..nodes.len()).collect();
        let mapped = prop::sample::subsequence(all, 0..=nodes.len());
        (any::<[bool; INPUTS.len()]>(), mapped, 0..nodes.len()).prop_map(
            move |(defaults, mapped, served)| Variable {
                nodes: nodes.clone(),
                defaults,
                mapped,
                served,
            },
        )
    })
}

/// The assignment of inputs with this number.
fn assignment(number: usize) -> [bool; INPUTS.len()] {
    std::array::from_fn(|input| number >> input & 1 == 1)
}

impl Variable {
    fn text(&self) -> String {
        let mut text = "tosca_definitions_version: tosca_variability_1_0\nimports: [../types.yaml]\ntopology_template:\n  variability:\n    inputs:\n".to_owned();
        for (input, default) in INPUTS.iter().zip(self.defaults) {
            writeln!(text, "      {input}: {{type: boolean, default: {default}}}").unwrap();
        }
        let served = self.served;
        write!(text, "  substitution_mappings:\n    node_type: Client\n    capabilities: {{service: [n{served}, service]}}\n    requirements: [").unwrap();
        let mapped = self.mapped.iter().map(|node| format!("{{service: [n{node}, service]}}"));
        text.push_str(&mapped.collect::<Vec<_>>().join(", "));
        text.push_str("]\n  node_templates:\n");
        for (at, VariableNode { is_mandatory, weight, condition }) in self.nodes.iter().enumerate()
        {
            let kind = if *is_mandatory { "Soft1" } else { "Soft0" };
            let condition = condition.map_or(String::new(), |(input, is)| {
                let input = format!("{{variability_input: {}}}", INPUTS[input]);
                format!(", conditions: {}", if is { input } else { format!("{{not: {input}}}") })
            });
            writeln!(text, "    n{at}: {{type: {kind}, weight: {weight}{condition}}}").unwrap();
        }
        text
    }

    /// The variants that fit, for each assignment of inputs: their weight, how many inputs differ
    /// from their defaults, and the names of their nodes, by resolving each.
    fn candidates(&self, is_served: bool) -> Vec<(u32, usize, Vec<String>)> {
        let text = self.text();
        let mut found = Vec::new();
        for number in 0..1 << INPUTS.len() {
            let inputs = assignment(number);
            let nodes = resolved_nodes(&text, &inputs);
            let index = |name: &String| name[1..].parse::<usize>().unwrap();
            let has = |node: usize| nodes.contains(&format!("n{node}"));
            // A client has one relation for certain.
            let mandatory =
                self.mapped.iter().filter(|&&node| has(node) && self.nodes[node].is_mandatory);
            if is_served && !has(self.served) || mandatory.count() > 1 {
                continue;
            }
            let weight = nodes.iter().map(|name| u32::from(self.nodes[index(name)].weight)).sum();
            let off =
                inputs.iter().zip(self.defaults).filter(|(input, default)| **input != *default);
            found.push((weight, off.count(), nodes));
        }
        found
    }
}

fn resolved(text: &str, inputs: &[bool; INPUTS.len()]) -> String {
    let files = MemoryFiles::from([("catalogue/t.yaml", text), ("types.yaml", TYPES)]);
    let resolver = Resolver::new("catalogue/t.yaml").files(files);
    let resolver =
        INPUTS.iter().zip(inputs).fold(resolver, |it, (name, &value)| it.input(*name, value));
    resolver.resolve().unwrap().to_yaml().to_owned()
}

fn resolved_nodes(text: &str, inputs: &[bool; INPUTS.len()]) -> Vec<String> {
    let files = MemoryFiles::from([
        ("catalogue/flat.yaml", resolved(text, inputs)),
        ("types.yaml", TYPES.to_owned()),
    ]);
    let value = Resolver::new("catalogue/flat.yaml").files(files).resolve().unwrap().to_value();
    let nodes = of(&of(&value, "topology_template").unwrap(), "node_templates");
    let Some(Value::Map(nodes)) = nodes else { return Vec::new() };
    nodes.iter().map(|(name, _)| name.to_string()).collect()
}

/// A template with a client and its servers; an application may use the client's capability.
fn client(relations: usize, is_served: bool) -> String {
    let servers: String =
        (0..relations).map(|at| format!("    s{at}: {{type: Server}}\n")).collect();
    let all: Vec<_> = (0..relations).map(|at| format!("{{service: s{at}}}")).collect();
    let app = if is_served { "    app: {type: Soft0, requirements: [{service: c}]}\n" } else { "" };
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n  node_templates:\n{servers}{app}    c: {{type: Client, directives: [substitute], requirements: [{}]}}\n",
        all.join(", ")
    )
}

/// Substitutes the client while all inputs of the catalogue are open.
fn best(shop: &str, catalogue: &[String]) -> Result<SubstitutedTemplate, Failure> {
    let names: Vec<_> = (0..catalogue.len()).map(|at| format!("catalogue/t{at}.yaml")).collect();
    let own =
        [("shop.yaml".to_owned(), shop.to_owned()), ("types.yaml".to_owned(), TYPES.to_owned())];
    let files = names.iter().cloned().zip(catalogue.iter().cloned()).chain(own);
    let resolver = Resolver::new("shop.yaml").files(MemoryFiles::from_iter(files));
    resolver.substitute(&SubstitutionQuery::with(&names).candidates(CandidateVariants::Open))
}

/// The value of each input in a variant, from its description.
fn told_inputs(template: &Variable, told: &[String]) -> [bool; INPUTS.len()] {
    std::array::from_fn(|at| {
        let said = told.iter().find_map(|said| said.strip_prefix(&format!("{}=", INPUTS[at])));
        said.map_or(template.defaults[at], |value| value == "true")
    })
}

proptest! {
    /// The template and inputs that are chosen have the least weight of all, each resolved alone;
    /// where several do, the choice is ambiguous.
    #[test]
    fn the_least_of_all_variants_is_chosen(
        templates in prop::collection::vec(variable(), 1..3),
        relations in 1..4_usize,
        is_served in any::<bool>(),
    ) {
        let texts: Vec<_> = templates.iter().map(Variable::text).collect();
        let found = best(&client(relations, is_served), &texts);
        let mut least = Vec::new();
        for (at, template) in templates.iter().enumerate() {
            let candidates = template.candidates(is_served);
            let best = candidates.iter().map(|(weight, off, _)| (*weight, *off)).min();
            let best = candidates.into_iter().filter(|(weight, off, _)| Some((*weight, *off)) == best);
            least.extend(best.map(|(weight, _, nodes)| (weight, at, nodes)));
        }
        let weight = least.iter().map(|(weight, ..)| *weight).min();
        let mut ways: Vec<_> = least.into_iter().filter(|(one, ..)| Some(*one) == weight).collect();
        ways.sort();
        ways.dedup();
        match (found, &ways[..]) {
            (Ok(found), [(weight, at, nodes)]) => {
                let explained = &found.explained.substitutions[0];
                prop_assert_eq!(explained.weight.to_string(), weight.to_string());
                prop_assert_eq!(&explained.template, &format!("catalogue/t{at}.yaml"));
                let inputs = told_inputs(&templates[*at], &explained.inputs);
                prop_assert_eq!(&resolved_nodes(&texts[*at], &inputs), nodes);
            }
            (Ok(found), _) => prop_assert!(false, "{:?}\n{:#?}", ways, found.explained),
            (Err(failure), ways) => {
                let code = failure.diagnostics.iter().map(|it| it.code).find(|code| *code != Code::MissingInput);
                let wanted = if ways.is_empty() { Code::NoSubstitution } else { Code::AmbiguousSubstitution };
                prop_assert!(ways.len() != 1 && code == Some(wanted.into()), "{:?}\n{:#?}", ways, failure.diagnostics);
            }
        }
    }

    /// Substituting by a variant gives the same as substituting by its resolved template, unless that
    /// has mappings to nodes that are not in the variant, which are wrong in a template without
    /// variability.
    #[test]
    fn a_variant_substitutes_as_what_it_resolves_to(template in variable(), is_served in any::<bool>()) {
        let shop = client(3, is_served);
        let Ok(found) = best(&shop, &[template.text()]) else { return Ok(()) };
        let inputs = told_inputs(&template, &found.explained.substitutions[0].inputs);
        let resolved = resolved(&template.text(), &inputs);
        match best(&shop, std::slice::from_ref(&resolved)) {
            Ok(plain) => prop_assert_eq!(found.resolution.to_yaml(), plain.resolution.to_yaml()),
            Err(_) => {
                let files = [("catalogue/t.yaml", &*resolved), ("types.yaml", TYPES)];
                let resolver = Resolver::new("catalogue/t.yaml").files(MemoryFiles::from(files));
                let found = resolver.validate().diagnostics;
                prop_assert!(found.iter().any(|it| it.code == Code::UnknownElement), "{}", resolved);
            }
        }
    }

    /// Resolving a template and then flattening it gives the same as flattening it at once.
    #[test]
    fn a_variant_is_flattened_as_what_it_resolves_to(
        outer in outer(),
        inner in inner(),
        conditions in prop::collection::vec(prop::option::of(0..INPUTS.len()), 6),
        number in 0..1_usize << INPUTS.len(),
    ) {
        let inputs = assignment(number);
        let plain = outer.text(false);
        let (head, nodes) = plain.split_once("  node_templates:\n").unwrap();
        let declared: String = INPUTS.iter().map(|input| format!("      {input}: {{type: boolean}}\n")).collect();
        let head = head.replace("simple_yaml_1_3", "variability_1_0");
        let conditional = |(line, condition): (&str, &Option<usize>)| match condition {
            // Nodes that are targets of others stay.
            Some(input) if line.contains("Client") && !nodes.contains(&format!("service: {}}}", line.trim().split(':').next().unwrap())) => {
                format!("{}, conditions: {{variability_input: {}}}}}\n", line.strip_suffix('}').unwrap(), INPUTS[*input])
            }
            _ => format!("{line}\n"),
        };
        let nodes: String = nodes.lines().zip(&conditions).map(conditional).collect();
        let variable = format!("{head}  variability:\n    options: {{mode: consistent-loose, ambiguous_relation_check: false}}\n    inputs:\n{declared}  node_templates:\n{nodes}");
        let files = |shop: &str| MemoryFiles::from([
            ("shop.yaml", shop.to_owned()),
            ("types.yaml", TYPES.to_owned()),
            ("catalogue/inner.yaml", inner.text(true)),
            ("catalogue/large.yaml", large()),
        ]);
        let with = SubstitutionQuery::with(CATALOGUE);
        let resolver = Resolver::new("shop.yaml").files(files(&variable));
        let resolver = INPUTS.iter().zip(inputs).fold(resolver, |it, (name, value)| it.input(*name, value));
        // Checks reject some variants.
        let Ok(resolved) = resolver.resolve() else { return Ok(()) };
        let resolved = resolved.to_yaml().to_owned();
        let at_once = resolver.substitute(&with);
        let then = Resolver::new("shop.yaml").files(files(&resolved)).substitute(&with);
        let text = |it: Result<SubstitutedTemplate, Failure>| it.ok().map(|it| it.resolution.to_yaml().to_owned());
        prop_assert_eq!(text(at_once), text(then));
    }

    /// Where there are more mappings than certain relations, mappings onto mandatory requirements
    /// come first, in whatever order they are written.
    #[test]
    fn mandatory_mappings_may_stand_anywhere(
        mandatory in 0..=2_usize,
        optional in 1..=2_usize,
        relations in 2..=4_usize,
        turns in any::<[bool; 4]>(),
    ) {
        prop_assume!(mandatory + optional > 2);
        let inner = |turns: [bool; 4]| {
            let (mut left, mut right) = ((0..mandatory).map(|at| format!("m{at}")), (0..optional).map(|at| format!("o{at}")));
            let mut entries: Vec<_> = turns.iter().filter_map(|&turn| if turn { left.next() } else { right.next() }).collect();
            entries.extend(left.chain(right));
            let entries: String = entries.iter().map(|node| format!("      - service: [{node}, service]\n")).collect();
            let nodes = (0..mandatory).map(|at| format!("    m{at}: {{type: Soft1}}\n"));
            let nodes: String = nodes.chain((0..optional).map(|at| format!("    o{at}: {{type: Soft0}}\n"))).collect();
            format!("tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [../types.yaml]\ntopology_template:\n  substitution_mappings:\n    node_type: Client2\n    requirements:\n{entries}  node_templates:\n{nodes}")
        };
        let shop = client(relations, false).replace("type: Client,", "type: Client2,");
        let flat = |turns| substituted(&shop, &inner(turns), &CATALOGUE[..1]).unwrap();
        prop_assert_eq!(flat(turns), flat([true; 4]));
    }
}

/// Services and their templates, where the processes in some templates need one of a few boxes.
#[derive(Clone, Debug)]
struct Scarce {
    boxes: usize,
    /// For each service its templates: how many nodes each has, and how many of them need a box.
    services: Vec<Vec<(usize, usize)>>,
}

fn scarce() -> impl Strategy<Value = Scarce> {
    let template = (1..6_usize).prop_flat_map(|nodes| (Just(nodes), 0..=nodes.min(2)));
    let services = prop::collection::vec(prop::collection::vec(template, 1..4), 1..4);
    (0..4_usize, services).prop_map(|(boxes, services)| Scarce { boxes, services })
}

impl Scarce {
    fn files(&self) -> Vec<(String, String)> {
        const HEAD: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n";
        let mut types = "tosca_definitions_version: tosca_simple_yaml_1_3\ncapability_types:\n  Host: {derived_from: tosca.capabilities.Root}\nnode_types:\n  Box: {derived_from: tosca.nodes.Root, capabilities: {host: {type: Host, occurrences: [0, 1]}}}\n  Process: {derived_from: tosca.nodes.Root, requirements: [host: {capability: Host}]}\n".to_owned();
        let mut shop = format!("{HEAD}  node_templates:\n");
        let mut files = Vec::new();
        for (at, templates) in self.services.iter().enumerate() {
            writeln!(types, "  Service{at}: {{derived_from: tosca.nodes.Root}}").unwrap();
            writeln!(shop, "    n{at}: {{type: Service{at}, directives: [substitute]}}").unwrap();
            for (which, (nodes, processes)) in templates.iter().enumerate() {
                let kind = |node| if node < *processes { "Process" } else { "tosca.nodes.Root" };
                let nodes: String = (0..*nodes)
                    .map(|node| format!("    p{node}: {{type: {}}}\n", kind(node)))
                    .collect();
                files.push((format!("t{at}-{which}.yaml"), format!("{HEAD}  substitution_mappings: {{node_type: Service{at}}}\n  node_templates:\n{nodes}")));
            }
        }
        let boxes: String =
            (0..self.boxes).map(|at| format!("    box{at}: {{type: Box}}\n")).collect();
        let site =
            format!("{HEAD}  node_templates:\n    none: {{type: tosca.nodes.Root}}\n{boxes}");
        files.extend(
            [("types.yaml", types), ("shop.yaml", shop), ("site.yaml", site)]
                .map(|(name, text)| (name.to_owned(), text)),
        );
        files
    }

    /// The weight of each choice for which there are enough boxes, with the number of boxes that it
    /// needs.
    fn choices(&self) -> Vec<(usize, usize)> {
        let mut all = vec![(0, 0)];
        for templates in &self.services {
            let more = |(weight, needed): (usize, usize)| {
                templates.iter().map(move |(nodes, processes)| (weight + nodes, needed + processes))
            };
            all = all.into_iter().flat_map(more).collect();
        }
        all.retain(|(_, needed)| *needed <= self.boxes);
        all.sort_unstable();
        all
    }

    /// Whether two templates of a service both have the least weight.
    fn is_ambiguous_alone(&self) -> bool {
        self.services.iter().any(|templates| {
            let least = templates.iter().map(|(nodes, _)| nodes).min();
            templates.iter().filter(|(nodes, _)| Some(nodes) == least).count() > 1
        })
    }
}

proptest! {
    /// What is chosen for all services together has the least weight of all choices that leave
    /// nothing open.
    #[test]
    fn choices_leave_nothing_open(scarce in scarce()) {
        prop_assume!(!scarce.is_ambiguous_alone());
        let files = MemoryFiles::from_iter(scarce.files());
        let site = Resolver::new("site.yaml").files(files.clone()).inventory().unwrap().result;
        let names = scarce.files().into_iter().map(|(name, _)| name).filter(|name| name.starts_with("t") && name != "types.yaml");
        let query = SubstitutionQuery::with(names).inventory(site);
        let found = Resolver::new("shop.yaml").files(files).substitute(&query);
        let choices = scarce.choices();
        let best = choices.first();
        let ways = choices.iter().filter(|choice| Some(*choice) == best).count();
        match (found, ways) {
            (Ok(found), 1) => {
                let weights = found.explained.substitutions.iter().map(|it| it.weight.to_string().parse::<usize>().unwrap());
                prop_assert_eq!(Some(weights.sum::<usize>()), best.map(|(weight, _)| *weight));
            }
            (Ok(found), _) => prop_assert!(false, "{:?} {:#?}", choices, found.explained),
            (Err(failure), _) => {
                let code = failure.diagnostics.iter().map(|it| it.code).next();
                let wanted = if ways == 0 { Code::UnfulfilledRequirement } else { Code::AmbiguousSubstitution };
                prop_assert!(ways != 1 && code == Some(wanted.into()), "{:?} {:#?}", choices, failure.diagnostics);
            }
        }
    }
}
