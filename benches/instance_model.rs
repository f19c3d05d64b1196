//! Measures how long it takes to query a model of an instance, to write it, and to read it back:
//! `cargo bench --bench instance_model`.

use cuvee::deploy::instance::{
    InstanceModel, InstanceQuery, ModelExport, ModelReading, diff_models, export_json, export_yaml,
    import_model, view_entity,
};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::FileId;
use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

const NODES: [usize; 3] = [2_500, 10_000, 40_000];
/// How many runs are made; the fastest counts.
const RUNS: usize = 5;

/// The paths that are queried.
const PATHS: [&str; 5] = [
    "nodes/*/properties",
    "nodes[type=tosca.nodes.Compute,state=started]/attributes/value_7",
    "nodes[properties/value_3>=5]",
    "nodes/node_1->>next",
    "nodes<-side",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut tasks: Vec<(String, Vec<Duration>)> = Vec::new();
    for count in NODES {
        let model = model(count)?;
        let (yaml, json) = (export_yaml(&model, ALL), export_json(&model, ALL));
        let mut other = model.clone();
        other.nodes.values_mut().step_by(100).for_each(|node| node.properties.clear());
        let mut measured = vec![
            ("export YAML".to_owned(), fastest(|| export_yaml(&model, ALL).len())),
            ("export JSON".to_owned(), fastest(|| export_json(&model, ALL).len())),
            ("import YAML".to_owned(), fastest(|| import(&yaml))),
            ("import JSON".to_owned(), fastest(|| import(&json))),
            ("difference".to_owned(), fastest(|| diff_models(&model, &other).changes.len())),
            (
                "show a node".to_owned(),
                fastest(|| {
                    view_entity(&model, "node_1", &ModelReading::default())
                        .map_or(0, |view| view.relations.len())
                }),
            ),
        ];
        for path in PATHS {
            let query =
                InstanceQuery::parse(path, FileId::DETACHED).map_err(|error| error.message)?;
            let answered = || {
                query.run(&model, &ModelReading::default()).map_or(0, |answer| answer.rows.len())
            };
            measured.push((path.to_owned(), fastest(answered)));
        }
        for (at, (name, time)) in measured.into_iter().enumerate() {
            match tasks.get_mut(at) {
                Some((_, times)) => times.push(time),
                None => tasks.push((name, vec![time])),
            }
        }
    }
    println!("{:<66} {}", "", NODES.map(|count| format!("{count:>9}")).join(" "));
    for (name, times) in tasks {
        let times: Vec<_> =
            times.iter().map(|time| format!("{:>6.1} ms", time.as_secs_f64() * 1e3)).collect();
        println!("{name:<66} {}", times.join(" "));
    }
    Ok(())
}

const ALL: ModelExport = ModelExport { unstable: true, reveal: false };

fn import(text: &str) -> usize {
    let document = parse(FileId::DETACHED, text.into(), &Limits::default());
    document
        .ok()
        .and_then(|document| import_model(document.root()).ok())
        .map_or(0, |model| model.nodes.len())
}

fn fastest(task: impl Fn() -> usize) -> Duration {
    let run = |_| {
        let start = Instant::now();
        black_box(task());
        start.elapsed()
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}

/// A model whose nodes form a chain, each with another relation, five properties and five
/// attributes.
fn model(count: usize) -> Result<InstanceModel, serde_json::Error> {
    let node = |at: usize| {
        let property = |name: usize| (format!("value_{name}"), json!(at % (name + 4)));
        let attribute = |name: usize| {
            (
                format!("value_{name}"),
                json!({"value": format!("text {at}"), "revision": at, "time": "2026-01-01T00:00:00Z"}),
            )
        };
        let relation = |position: usize, to: usize| json!([{"position": position, "target": format!("node_{to}"), "capability": "feature", "relationship": "tosca.relationships.DependsOn", "state": "started"}]);
        let mut requirements = serde_json::Map::new();
        if at > 0 {
            requirements.insert("next".into(), relation(0, at - 1));
            requirements.insert("side".into(), relation(1, at / 2));
        }
        let properties: serde_json::Map<_, _> = (0..5).map(property).collect();
        let attributes: serde_json::Map<_, _> = (5..10).map(attribute).collect();
        let node = json!({
            "template": format!("node_{at}"), "type": "tosca.nodes.Compute", "generation": 1, "state": "started",
            "properties": properties, "attributes": attributes, "requirements": requirements,
        });
        (format!("node_{at}"), node)
    };
    let nodes: serde_json::Map<_, _> = (0..count).map(node).collect();
    serde_json::from_value(
        json!({"uri": "cuvee:default/default/large", "lineage": "x", "target": {"template": "large.yaml"}, "nodes": nodes}),
    )
}
