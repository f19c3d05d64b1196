//! Nodes that templates of TOSCA 2.0 stand for, and where their requirements lead: random templates
//! against a reading of chapter 14 that shares no code with the library, and results that are
//! valid.

#![expect(clippy::unwrap_used)]

use cuvee::deploy::substitute::{SubstitutedTemplate, SubstitutionQuery};
use cuvee::diagnostic::{Code, Severity};
use cuvee::source::MemoryFiles;
use cuvee::{Failure, Resolver};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const TYPES: &str = "tosca_definitions_version: tosca_2_0
capability_types: {Feature: {}}
relationship_types: {Uses: {}}
node_types:
  Right: {capabilities: {feature: {type: Feature}}}
  Left: {requirements: [{uses: {capability: Feature, relationship: Uses}}]}
";

/// Which nodes an assignment names.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// As many different nodes as it counts.
    Template,
    /// The node of this index.
    Index(u64),
    /// The node of the index that the source has.
    OwnIndex,
    /// The same, but from the first on again.
    Remainder(u64),
    /// The nodes of the indices that its relations have.
    RelationIndex,
}

#[derive(Clone, Copy, Debug)]
struct Assigned {
    target: Target,
    count: u64,
    is_optional: bool,
}

fn assigned() -> impl Strategy<Value = Assigned> {
    let target = prop_oneof![
        3 => Just(Target::Template),
        1 => (0..4_u64).prop_map(Target::Index),
        1 => Just(Target::OwnIndex),
        1 => (1..4_u64).prop_map(Target::Remainder),
        1 => Just(Target::RelationIndex),
    ];
    (target, 0..3_u64, any::<bool>()).prop_map(|(target, count, is_optional)| {
        let is_one = matches!(target, Target::Index(_) | Target::OwnIndex | Target::Remainder(_));
        Assigned { target, count: if is_one { 1 } else { count }, is_optional }
    })
}

fn template(rights: u64, lefts: u64, all: &[Assigned]) -> String {
    let mut text = format!(
        "tosca_definitions_version: tosca_2_0
imports: [types.yaml]
service_template:
  inputs: {{lefts: {{type: integer, default: {lefts}}}}}
  node_templates:
    right: {{type: Right, count: {rights}}}
    left:
      type: Left
      count: {{$get_input: lefts}}
      requirements:
"
    );
    for one in all {
        let node = match one.target {
            Target::Template => "right".to_owned(),
            Target::Index(index) => format!("[right, {index}]"),
            Target::OwnIndex => "[right, $node_index]".to_owned(),
            Target::Remainder(by) => format!("[right, {{$remainder: [$node_index, {by}]}}]"),
            Target::RelationIndex => "[right, $relationship_index]".to_owned(),
        };
        let Assigned { count, is_optional, .. } = one;
        let count = if *count == 1 { String::new() } else { format!(", count: {count}") };
        let optional = if *is_optional { ", optional: true" } else { "" };
        writeln!(text, "        - uses: {{node: {node}{count}{optional}}}").unwrap();
    }
    text
}

/// The indices that an assignment of a node names, if it names any. `before` is the number of
/// relations of the assignments before it.
fn indices(one: &Assigned, own: u64, before: u64) -> Option<Vec<u64>> {
    match one.target {
        Target::Template => None,
        Target::Index(index) => Some(vec![index]),
        Target::OwnIndex => Some(vec![own]),
        Target::Remainder(by) => Some(vec![own % by]),
        Target::RelationIndex => Some((before..before + one.count).collect()),
    }
}

/// What has to become of the relations of one node.
struct Expected {
    /// The nodes that mandatory assignments name.
    fixed: Vec<u64>,
    /// The number of mandatory relations to any nodes.
    any: u64,
    /// The number of optional relations that have a node left.
    optional: u64,
}

/// The relations of a node; `None` if a mandatory one has no target.
fn expected(all: &[Assigned], own: u64, rights: u64) -> Option<Expected> {
    let (mut fixed, mut any, mut wished, mut more) = (Vec::new(), 0, BTreeSet::new(), 0);
    let mut before = 0;
    for one in all {
        match (indices(one, own, before), one.is_optional) {
            (Some(indices), false) => fixed.extend(indices),
            (Some(indices), true) => wished.extend(indices),
            (None, false) => any += one.count,
            (None, true) => more += one.count,
        }
        before += one.count;
    }
    let taken: BTreeSet<u64> = fixed.iter().copied().collect();
    let left = rights.saturating_sub(taken.len() as u64);
    if taken.iter().any(|index| *index >= rights) || any > left {
        return None;
    }
    let wished = wished.into_iter().filter(|it| *it < rights && !taken.contains(it)).count();
    Some(Expected { fixed, any, optional: (left - any).min(wished as u64 + more) })
}

fn substituted(text: &str) -> Result<SubstitutedTemplate, Failure> {
    let files = MemoryFiles::from([("app.yaml", text), ("types.yaml", TYPES)]);
    Resolver::new("app.yaml").files(files).substitute(&SubstitutionQuery::default())
}

/// The targets of the relations of each node.
fn targets(yaml: &str) -> BTreeMap<String, Vec<String>> {
    let files = MemoryFiles::from([("app.yaml", yaml), ("types.yaml", TYPES)]);
    let topology = Resolver::new("app.yaml").files(files).topology().unwrap().result;
    let nodes = topology.nodes.iter().map(|node| {
        let relations = node.relations.iter().map(|&id| topology.relation(id).target.unwrap());
        (node.name.clone(), relations.map(|id| topology.node(id).name.clone()).collect())
    });
    nodes.collect()
}

proptest! {
    #[test]
    fn relations_lead_where_the_standard_says(
        rights in 0..5_u64,
        lefts in 0..4_u64,
        all in prop::collection::vec(assigned(), 1..4),
    ) {
        let text = template(rights, lefts, &all);
        let wanted: Option<Vec<_>> =
            (0..lefts).map(|own| expected(&all, own, rights)).collect();
        let (found, wanted) = match (substituted(&text), wanted) {
            (Ok(found), Some(wanted)) => (found, wanted),
            (Err(failure), None) => {
                let errors = failure.diagnostics.iter();
                let mut codes = errors.map(|error| error.code);
                prop_assert!(codes.all(|code| code == Code::UnfulfilledRequirement), "{text}");
                return Ok(());
            }
            (found, _) => {
                let said = found.map(|found| found.resolution.to_yaml().to_owned());
                return Err(TestCaseError::fail(format!("{text}\n{said:?}")));
            }
        };
        let yaml = found.resolution.to_yaml();
        let found = targets(yaml);
        let nodes = (0..rights).map(|at| format!("right@{at}"));
        let nodes: BTreeSet<_> = nodes.chain((0..lefts).map(|at| format!("left@{at}"))).collect();
        prop_assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), nodes, "{}", yaml);
        let mut uses: BTreeMap<&String, u64> = BTreeMap::new();
        for (own, wanted) in wanted.iter().enumerate() {
            let mut led: Vec<_> = found[&format!("left@{own}")].iter().collect();
            led.iter().for_each(|target| *uses.entry(target).or_default() += 1);
            for index in &wanted.fixed {
                let name = format!("right@{index}");
                let at = led.iter().position(|target| **target == name);
                prop_assert!(at.is_some(), "{} lacks {}\n{}", own, name, yaml);
                led.remove(at.unwrap());
            }
            prop_assert_eq!(led.len() as u64, wanted.any + wanted.optional, "{}\n{}", text, yaml);
            let fixed = wanted.fixed.iter().map(|index| format!("right@{index}"));
            let fixed: BTreeSet<_> = fixed.collect();
            let different: BTreeSet<_> = led.iter().filter(|it| !fixed.contains(**it)).collect();
            prop_assert_eq!(different.len(), led.len(), "{}\n{}", text, yaml);
        }
        // Where nothing else decides, no node is used twice more than another.
        if let [Assigned { target: Target::Template, is_optional: false, .. }] = &all[..] {
            let all = (0..rights).map(|at| uses.get(&format!("right@{at}")).copied().unwrap_or(0));
            let (least, most) = (all.clone().min().unwrap_or(0), all.max().unwrap_or(0));
            prop_assert!(most - least <= 1, "{}", yaml);
        }
    }
}

/// What comes out is TOSCA 2.0 in which nothing is counted any more, and stays as it is.
#[test]
fn results_are_valid_and_stay_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/substitute/version-2-count");
    let types = std::fs::read_to_string(root.join("types.yaml")).unwrap();
    for name in ["mesh.yaml", "pairs.yaml", "random.yaml", "filtered.yaml", "none.yaml", "app.yaml"]
    {
        let query = SubstitutionQuery::with([root.join("catalogue")]);
        let found = Resolver::new(root.join(name)).substitute(&query).unwrap();
        let yaml = found.resolution.to_yaml();
        assert!(!yaml.contains(" count:"), "{name}: {yaml}");
        let files = MemoryFiles::from([("app.yaml", yaml), ("types.yaml", &*types)]);
        let resolver = Resolver::new("app.yaml").files(files);
        let found = resolver.validate().diagnostics.into_iter();
        let errors: Vec<_> = found.filter(|it| it.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}\n{yaml}");
        let again = resolver.substitute(&SubstitutionQuery::default()).unwrap();
        assert_eq!(again.resolution.to_yaml(), yaml, "{name}");
    }
}
