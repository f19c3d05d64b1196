//! Tests large topologies with many open inputs. They measure work rather than time.

use super::growing::CASES;
use cuvee::Resolver;
use cuvee::diagnostic::Code;
use cuvee::explore::Query;
use cuvee::explore::progress::Progress;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Counts of the work that an answer took, shared so that the test can read them.
#[derive(Clone, Default)]
struct SharedWork(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Progress for SharedWork {
    fn counted(&mut self, what: &'static str, count: usize) {
        *self.0.lock().unwrap().entry(what).or_default() += count;
    }
}

impl SharedWork {
    fn of(&self, what: &str) -> usize {
        self.0.lock().unwrap().get(what).copied().unwrap_or_default()
    }
}

const HEAD: &str = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs:\n";

/// Nodes whose presence each follows one of the inputs, and which depend on the node before them
/// that follows the same input.
fn topology(nodes: usize, inputs: usize) -> String {
    let declared = (0..inputs).map(|i| format!("      i{i}: {{type: boolean}}\n"));
    let nodes = (0..nodes).map(|i| {
        let condition = format!("{{equal: [{{variability_input: i{}}}, true]}}", i % inputs);
        let needs = match i.checked_sub(inputs) {
            Some(before) => format!(
                ", requirements: [{{dependency: {{node: n{before}, conditions: {condition}}}}}]"
            ),
            None => String::new(),
        };
        format!("    n{i}: {{type: tosca.nodes.Root, conditions: {condition}{needs}}}\n")
    });
    let (declared, nodes): (String, String) = (declared.collect(), nodes.collect());
    format!("{HEAD}{declared}  node_templates:\n{nodes}")
}

/// All variants of many nodes are valid, which is found without looking at each variant.
#[test]
fn many_nodes_of_some_inputs_are_validated() {
    let [some, more] = [2_500, 5_000].map(|nodes| {
        let work = SharedWork::default();
        let template = Resolver::from_text("topology.yaml", topology(nodes, 20));
        let found = template.progress(work.clone()).validate().diagnostics;
        // Without its inputs, nothing is left of it.
        let codes: Vec<_> = found.iter().map(|it| it.code).collect();
        assert_eq!(codes, [Code::NothingLeft], "{found:?}");
        assert!(work.of("elements") > nodes, "{:?}", work.0);
        assert!(work.of("searches") < 100, "{:?}", work.0);
        work.of("gates")
    });
    assert!(some > 0 && more < 3 * some, "{some} and {more}");
}

#[test]
fn many_nodes_of_a_hundred_inputs_are_explored() {
    let template = Resolver::from_text("topology.yaml", topology(5_000, 100));
    let mut work = SharedWork::default();
    let query = Query { limit: 3, ..Query::default() };
    let found = template.variants_with(&query, &mut work).unwrap().result;
    assert!(found.more && found.variants.len() == 3);
    assert!(work.of("searches") < 100, "{:?}", work.0);
}

/// Of many hosts, one is the best. That the inputs decide about none of the others takes no question
/// for each of them.
#[test]
fn many_hosts_to_choose_from_are_explored() {
    let case = CASES.iter().find(|case| case.name == "hosts to choose from").unwrap();
    let mut work = SharedWork::default();
    let template = Resolver::from_text("hosts.yaml", (case.make)(400));
    let found = template.variants_with(&Query::default(), &mut work).unwrap().result;
    assert_eq!(found.variants.len(), 1);
    assert!(work.of("searches") < 100, "{:?}", work.0);
}

/// Conditions that distinguish many values of one input are evaluated only a few times, not once
/// for each value, and need only a few clauses each.
#[test]
fn many_conditions_of_one_input_are_validated() {
    let [some, more] = [400, 800].map(|conditions| {
        let nodes: String = (0..conditions)
            .map(|i| {
                let condition = format!("{{greater_or_equal: [{{variability_input: n}}, {i}]}}");
                format!("    n{i}: {{type: tosca.nodes.Root, conditions: {condition}}}\n")
            })
            .collect();
        let text = format!("{HEAD}      n: {{type: integer}}\n  node_templates:\n{nodes}");
        let work = SharedWork::default();
        let found = Resolver::from_text("conditions.yaml", text);
        let found = found.progress(work.clone()).validate().diagnostics;
        // Without its inputs, nothing is left of it.
        let codes: Vec<_> = found.iter().map(|it| it.code).collect();
        assert_eq!(codes, [Code::NothingLeft], "{found:?}");
        assert!(work.of("searches") < 100, "{:?}", work.0);
        ["gates", "evaluations", "clauses"].map(|what| work.of(what))
    });
    for (some, more) in some.into_iter().zip(more) {
        assert!(some > 0 && more < 3 * some, "{some} and {more}");
    }
}
