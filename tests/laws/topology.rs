//! Checks that the topology of a variant, given as data, is that of the text written for the
//! variant.

use cuvee::parts::yaml::{Limits, Out, parse};
use cuvee::source::FileId;
use cuvee::topology::{RelationHead, Topology};
use cuvee::{Resolution, Resolver};

/// The topology without what depends on the file that it was read from.
fn bare(mut topology: Topology) -> serde_json::Value {
    topology.relations.iter_mut().for_each(|relation| relation.position = 0);
    serde_json::to_value(topology).unwrap()
}

/// Whether the topology says that a relation of the text is for a host.
fn hosting(topology: &Topology, head: &RelationHead<'_>) -> bool {
    let source = topology.node_named(head.source).unwrap();
    let id = topology.node(source).relations[head.position as usize];
    assert_eq!(topology.relation(id).name, head.name);
    topology.relation(id).hosting
}

/// Asserts that a topology is that of a resolved template.
pub(crate) fn is_that_of(topology: &Topology, resolution: &Resolution) {
    let text = resolution.to_yaml();
    let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
    let again = Topology::read(&Out::Source(document.root()), &|head| hosting(topology, head));
    assert_eq!(bare(topology.clone()), bare(again), "{text}");

    // A relation is written at its source.
    let present: Vec<_> =
        resolution.presence().filter_map(|(name, present)| present.then_some(name)).collect();
    let nodes = present.iter().filter(|name| name.starts_with("node."));
    let is_written = |name: &&String| {
        let source = name.split_once(".node.").map(|(_, source)| format!("node.{source}"));
        name.starts_with("relation.") && source.is_some_and(|source| present.contains(&source))
    };
    let relations = present.iter().filter(is_written);
    let expected: Vec<_> = nodes.chain(relations).cloned().collect();
    let found = topology.node_ids().map(|id| topology.node_identifier(id));
    let found = found.chain(topology.relation_ids().map(|id| topology.relation_identifier(id)));
    assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn of_the_examples() {
    for example in
        ["examples/shop", "examples/deployment", "examples/technologies", "examples/build-script"]
    {
        let resolver = Resolver::new(example);
        let presets = resolver.preset_names().unwrap();
        let mut found = 0;
        for preset in std::iter::once(None).chain(presets.into_iter().map(Some)) {
            let resolver = match preset {
                Some(preset) => resolver.clone().preset(preset),
                None => resolver.clone(),
            };
            let Ok(resolution) = resolver.resolve() else { continue };
            found += 1;
            let answer = resolver.topology().unwrap();
            is_that_of(&answer.result, &resolution);
            for node in &answer.result.nodes {
                let place = answer.sources.place(node.span);
                assert!(place.starts_with(example), "{place}");
                let text = answer.sources.snippet(node.span);
                assert_eq!(text, node.name);
            }
            let name = format!("{example}/resolved.yaml");
            let again = Resolver::from_text(name, resolution.to_yaml()).topology().unwrap();
            assert_eq!(bare(again.result), bare(answer.result));
        }
        assert!(found > 0, "{example}");
    }
}
