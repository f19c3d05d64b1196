//! What requirements of TOSCA 2.0 allocate of capabilities: random templates against trying every
//! choice of nodes, which shares no code with the library.

use cuvee::Resolver;
use cuvee::deploy::substitute::SubstitutionQuery;
use cuvee::diagnostic::Code;
use cuvee::source::MemoryFiles;
use proptest::prelude::*;
use std::fmt::Write;

const TYPES: &str = "tosca_definitions_version: tosca_2_0
data_types: {Size: {derived_from: scalar, units: {MB: 1, GB: 1000}, canonical_unit: MB}}
capability_types: {Host: {properties: {slots: {type: integer}, memory: {type: Size}}}}
relationship_types: {HostedOn: {}}
node_types:
  Box: {capabilities: {host: {type: Host}}}
  Part:
    requirements: [{host: {capability: Host, relationship: HostedOn, count_range: [1, 1]}}]
";

/// A number of slots, and some GB of memory.
type Amounts = (u64, u64);

fn template(boxes: &[Amounts], parts: &[Amounts]) -> String {
    let mut text = "tosca_definitions_version: tosca_2_0\nimports: [types.yaml]\nservice_template:\n  node_templates:\n".to_owned();
    for (at, (slots, memory)) in boxes.iter().enumerate() {
        let has = format!("{{slots: {slots}, memory: {memory} GB}}");
        writeln!(text, "    box{at}: {{type: Box, capabilities: {{host: {{properties: {has}}}}}}}")
            .unwrap();
    }
    for (at, (slots, memory)) in parts.iter().enumerate() {
        let takes = format!("{{slots: {slots}, memory: {}000 MB}}", memory);
        writeln!(
            text,
            "    part{at}: {{type: Part, requirements: [host: {{allocation: {takes}}}]}}"
        )
        .unwrap();
    }
    text
}

/// Whether there is room for all parts.
fn fit(boxes: &mut [Amounts], parts: &[Amounts]) -> bool {
    let Some(((slots, memory), rest)) = parts.split_first() else { return true };
    (0..boxes.len()).any(|at| {
        let before = boxes[at];
        if before.0 < *slots || before.1 < *memory {
            return false;
        }
        boxes[at] = (before.0 - slots, before.1 - memory);
        let fits = fit(boxes, rest);
        boxes[at] = before;
        fits
    })
}

fn amounts(of: u64, up_to: usize) -> impl Strategy<Value = Vec<Amounts>> {
    prop::collection::vec((0..=of, 0..=of), 1..=up_to)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn relations_lead_where_there_is_room(boxes in amounts(6, 3), parts in amounts(4, 5)) {
        let text = template(&boxes, &parts);
        let files = MemoryFiles::from([("app.yaml", &*text), ("types.yaml", TYPES)]);
        let found = Resolver::new("app.yaml").files(files).substitute(&SubstitutionQuery::default());
        let can = fit(&mut boxes.clone(), &parts);
        match found {
            Err(failure) => {
                let codes: Vec<_> = failure.diagnostics.iter().map(|error| error.code).collect();
                prop_assert!(!can, "{text}\n{codes:?}");
                prop_assert!(codes.iter().all(|code| *code == Code::UnfulfilledRequirement));
            }
            Ok(found) => {
                let yaml = found.resolution.to_yaml();
                prop_assert!(can, "{}", yaml);
                let files = MemoryFiles::from([("app.yaml", yaml), ("types.yaml", TYPES)]);
                let topology = Resolver::new("app.yaml").files(files).topology().unwrap().result;
                let mut left = boxes.clone();
                for (at, (slots, memory)) in parts.iter().enumerate() {
                    let part = topology.node_named(&format!("part{at}")).unwrap();
                    let relation = topology.relation(topology.node(part).relations[0]);
                    let target = &topology.node(relation.target.unwrap()).name;
                    let target: usize = target.trim_start_matches("box").parse().unwrap();
                    let (had, memory_had) = left[target];
                    prop_assert!(had >= *slots && memory_had >= *memory, "{}", yaml);
                    left[target] = (had - slots, memory_had - memory);
                }
            }
        }
    }
}
