//! Tests the hierarchy as resolving builds it.

use super::profile;
use super::scope::{Link, Links};
use super::*;
use crate::diagnostic::{Code, Diagnostics};
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::{Document, Limits, parse};

fn documents(texts: &[&str]) -> Vec<Document> {
    let parse = |(file, text): (usize, &&str)| {
        parse(FileId::new(file as u32), (*text).into(), &Limits::default()).unwrap()
    };
    texts.iter().enumerate().map(parse).collect()
}

/// The links of a template: importing file, imported file and prefix of each import.
fn links(imports: &[(u32, u32, Option<&str>)]) -> Links {
    let link = |&(from, to, prefix): &(u32, u32, Option<&str>)| Link {
        from: FileId::new(from),
        to: FileId::new(to),
        span: Span { file: FileId::new(from), start: 0, end: 0 },
        prefix: prefix.map(str::to_owned),
        uri: None,
        is_of_2_0: false,
    };
    let links = imports.iter().map(link).collect();
    Links { top: Some(FileId::new(0)), library: Vec::new(), links }
}

/// Asks about the types of a template without imports.
fn of(text: &str, ask: impl FnOnce(&TypeHierarchy<'_>)) {
    ask(&TypeHierarchy::resolving(&documents(&[text]), &Links::default()).unwrap());
}

fn errors(text: &str) -> Diagnostics {
    TypeHierarchy::resolving(&documents(&[text]), &Links::default()).map(drop).unwrap_err()
}

#[test]
fn normative_types_derive_without_anybody_defining_them() {
    let types = TypeHierarchy::default();
    for (family, one, ancestor) in [
        (Family::Node, "WebServer", "SoftwareComponent"),
        (Family::Node, "Database", "Root"),
        (Family::Artifact, "File", "Root"),
        (Family::Artifact, "Deployment.Image.VM", "Deployment.Image"),
        (Family::Relationship, "HostedOn", "Root"),
        (Family::Policy, "Scaling", "Root"),
        (Family::Capability, "Endpoint.Public", "Endpoint"),
        (Family::Data, "PortDef", "PortDef"),
    ] {
        let names = |name: &str| {
            let full = types
                .find_in(None, family, name)
                .map(|id| profile::definitions()[id.index()].name.to_owned());
            [name.to_owned(), format!("tosca:{name}"), full.unwrap()]
        };
        for (one, ancestor) in
            names(one).iter().flat_map(|one| names(ancestor).map(|it| (one.clone(), it)))
        {
            assert!(types.is_a(family, &one, &ancestor), "{one} {ancestor}");
            assert_eq!(
                types.is_a(family, &ancestor, &one),
                one.rsplit(['.', ':']).next() == ancestor.rsplit(['.', ':']).next(),
                "{one} {ancestor}"
            );
        }
    }
    assert!(types.is_a(
        Family::Node,
        "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3/WebServer",
        "SoftwareComponent"
    ));
    assert!(!types.is_a(Family::Node, "WebServer", "tosca.artifacts.Root"));
}

#[test]
fn what_nobody_defines_is_its_own_only_ancestor() {
    of("node_types: {A: {derived_from: B}, C: {derived_from: tosca.nodes.Foo}}", |types| {
        for (one, ancestor, expected) in [
            ("A", "B", true),
            ("A", "tosca.nodes.Root", false),
            ("B", "B", true),
            ("B", "A", false),
            ("C", "tosca.nodes.Foo", true),
            ("C", "tosca.nodes.Root", false),
            ("tosca.nodes.Foo", "tosca.nodes.Root", false),
            ("D", "B", false),
        ] {
            assert_eq!(types.is_a(Family::Node, one, ancestor), expected, "{one} {ancestor}");
        }
        assert!(types.is_defined(Family::Node, "A"));
        assert!(!types.is_defined(Family::Node, "B"));
    });
}

#[test]
fn what_somebody_defines_goes_before_the_shorthand_of_a_normative_type() {
    of("node_types: {Database: {}, Mine: {derived_from: Database}}", |types| {
        assert!(types.is_a(Family::Node, "Mine", "Database"));
        assert!(!types.is_a(Family::Node, "Mine", "tosca:Database"));
        assert!(!types.is_a(Family::Node, "Database", "Root"));
    });
}

/// A copy of the profile defines the type for all of its names, and built-in types derive from the
/// copy.
#[test]
fn a_copy_of_the_profile_wins() {
    let copy = "node_types:
  tosca.nodes.Root: {metadata: {vintner_abstract: 'true'}}
  tosca.nodes.SoftwareComponent: {derived_from: mine.Base}
  mine.Base: {derived_from: tosca.nodes.Root}
relationship_types:
  tosca.relationships.HostedOn: {derived_from: tosca.relationships.Root}
  mine.On: {derived_from: HostedOn}";
    of(copy, |types| {
        assert!(types.is_abstract("Root") && types.is_abstract("tosca.nodes.Root"));
        assert!(types.is_a(Family::Node, "SoftwareComponent", "mine.Base"));
        assert!(types.is_a(Family::Node, "tosca:WebServer", "mine.Base"));
        assert!(types.is_a(Family::Node, "tosca.nodes.Database", "tosca:Root"));
        assert_eq!(types.is_hosting("mine.On"), Some(true));
        assert_eq!(types.is_hosting("tosca:HostedOn"), Some(true));
    });
}

/// The copy also counts for the template itself, whatever the prefix of its import.
#[test]
fn a_copy_of_the_profile_wins_behind_a_prefix() {
    let texts = [
        "node_types: {Web: {derived_from: 'a:Web'}}",
        "node_types: {tosca.nodes.SoftwareComponent: {derived_from: Base}, Base: {}, Web: {derived_from: tosca.nodes.SoftwareComponent}}",
        "node_types: {tosca.nodes.SoftwareComponent: {}, Web: {derived_from: SoftwareComponent}}",
    ];
    let documents = documents(&texts);
    let links = links(&[(0, 1, Some("a")), (0, 2, Some("b"))]);
    let types = TypeHierarchy::resolving(&documents, &links).unwrap();
    for (one, ancestor, expected) in [
        ("Web", "a:Base", true),
        ("Web", "SoftwareComponent", true),
        ("a:Web", "tosca.nodes.SoftwareComponent", true),
        ("b:Web", "a:tosca.nodes.SoftwareComponent", true),
        ("tosca:WebServer", "a:Base", true),
        ("b:Web", "a:Web", false),
        ("tosca.nodes.Root", "a:Base", false),
    ] {
        assert_eq!(types.is_a(Family::Node, one, ancestor), expected, "{one} {ancestor}");
    }
}

#[test]
fn the_index_makes_no_cycles() {
    for copy in [
        "node_types: {tosca.nodes.Root: {derived_from: WebServer}}",
        "node_types: {tosca.nodes.Root: {derived_from: A}, A: {derived_from: tosca.nodes.DBMS}, B: {derived_from: Root}}",
    ] {
        of(copy, |types| {
            assert!(types.chain(Family::Node, "Root").count() < 6);
            assert!(types.chain(Family::Node, "WebServer").count() < 6);
            assert!(types.is_a(Family::Node, "Root", "SoftwareComponent"));
        });
    }
}

#[test]
fn cycles_are_errors_where_elements_have_types() {
    let error = errors(
        "node_types: {C: {derived_from: A}, B: {derived_from: C}, A: {derived_from: B}, D: {derived_from: A}}",
    );
    let found: Vec<_> = error.0.iter().map(|error| (error.code, error.message.as_str())).collect();
    let message = "the node type `A` derives from itself through `B`, `C`";
    assert_eq!(found, [(Code::CyclicType.into(), message)]);
    assert_eq!(
        errors("group_types: {G: {derived_from: G}}\npolicy_types: {P: {derived_from: P}}").0.len(),
        2
    );
    of("data_types: {D: {derived_from: D}}\ninterface_types: {I: {derived_from: I}}", |types| {
        assert_eq!(types.chain(Family::Node, "D").count(), 1);
    });
}

#[test]
fn normative_relationship_types_are_known_by_all_their_names() {
    let types = TypeHierarchy::default();
    let hosted_on = types.find_in(None, Family::Relationship, "HostedOn");
    let all = profile::definitions().iter().filter(|it| it.family == Family::Relationship);
    for definition in all {
        let short = definition.name.strip_prefix("tosca.relationships.").unwrap();
        let others = profile::other_names(definition.value).map(str::to_owned);
        let more = [definition.name.to_owned(), short.to_owned(), format!("tosca:{short}")];
        for name in others.chain(more) {
            let is_it = types.find_in(None, Family::Relationship, &name) == hosted_on;
            assert_eq!(types.is_hosting(&name), Some(is_it), "{name}");
        }
    }
    assert_eq!(types.is_hosting("Hosted"), None);
    assert_eq!(types.is_hosting("tosca.relationships.Carries"), Some(false));
}

/// Except for the types of elements, no part of a library is kept.
#[test]
fn of_libraries_only_what_resolving_asks_for_is_needed() {
    for (path, expected) in [
        (&["node_types"][..], true),
        (&["data_types"], false),
        (&["node_types", "A", "derived_from"], true),
        (&["node_types", "A", "properties"], false),
        (&["node_types", "A", "requirements", "host", "relationship", "type"], true),
        (&["artifact_types", "A", "metadata", "vintner_abstract"], true),
        (&["node_types", "A", "interfaces", "management", "operations", "deploy"], true),
        (&["node_types", "A", "interfaces", "management", "operations", "deploy", "inputs"], false),
        (&["node_types", "A", "interfaces", "Standard"], false),
        (&["imports", "types.yaml", "namespace_prefix"], true),
    ] {
        assert_eq!(is_needed(path), expected, "{path:?}");
    }
}
