//! Tests that the grammar has every word of the language.

use super::grammar::{self, HeldContent, MapGrammar, SERVICE};
use crate::tosca::shape::{self, Holds};
use crate::tosca::v2_0::grammar::{ElementGrammar, FILE, KeynameContent};
use crate::variability::template::vocabulary;
use std::collections::BTreeSet;

/// The keynames that are offered somewhere.
fn offered() -> BTreeSet<&'static str> {
    let (mut found, mut seen, mut open) = (BTreeSet::new(), Vec::new(), vec![&SERVICE]);
    while let Some(grammar) = open.pop() {
        if seen.iter().any(|it| std::ptr::eq(*it, grammar)) {
            continue;
        }
        seen.push(grammar);
        for name in grammar.names(false) {
            found.insert(name);
            add(grammar.below(name), &mut open);
        }
    }
    found
}

fn add(content: HeldContent, open: &mut Vec<&'static MapGrammar>) {
    match content {
        HeldContent::Map(grammar)
        | HeldContent::Alternatives(_, grammar)
        | HeldContent::FileOr(_, grammar)
        | HeldContent::Parameter(grammar)
        | HeldContent::Operation(grammar) => {
            open.push(grammar);
        }
        HeldContent::Implementation => open.push(&grammar::IMPLEMENTATION),
        HeldContent::CalledOperation => open.push(&grammar::CALL_OPERATION),
        HeldContent::TriggerCondition => open.push(&grammar::TRIGGER_CONDITION),
        HeldContent::Filter => open.push(&grammar::FILTER),
        HeldContent::Mapped(kind, _) => open.push(kind.mapping()),
        HeldContent::Defined(_, below)
        | HeldContent::Named(_, below)
        | HeldContent::NameOr(_, below)
        | HeldContent::About(_, below) => {
            add(*below, open);
        }
        HeldContent::List(below) => add(*below, open),
        HeldContent::Rules => open.push(&grammar::RULE),
        HeldContent::Assigned => open.push(&grammar::WRAPPED),
        _ => {}
    }
}

#[test]
fn every_word_of_variability_is_offered() {
    let offered = offered();
    let words = vocabulary::words();
    let keynames =
        words.iter().filter(|word| !word.starts_with("kind ") && !word.starts_with("name "));
    let missing: Vec<_> =
        keynames.filter(|word| !offered.contains(word.rsplit(' ').next().unwrap())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_keyname_of_tosca_is_offered() {
    let offered = offered();
    let shapes = [
        &shape::ACTIVITY,
        &shape::ARTIFACT,
        &shape::ATTRIBUTE,
        &shape::CALL_OPERATION,
        &shape::CAPABILITY,
        &shape::CAPABILITY_FILTER,
        &shape::DELEGATE,
        &shape::EVENT_FILTER,
        &shape::FILTER,
        &shape::IMPLEMENTATION,
        &shape::IMPORT,
        &shape::INLINE,
        &shape::INTERFACE,
        &shape::NOTIFICATION,
        &shape::OPERATION,
        &shape::PARAMETER,
        &shape::PRECONDITION,
        &shape::PROPERTY,
        &shape::REPOSITORY,
        &shape::REQUIREMENT,
        &shape::REQUIREMENT_RELATIONSHIP,
        &shape::SCHEMA,
        &shape::SET_STATE,
        &shape::STEP,
        &shape::TRIGGER,
        &shape::TRIGGER_CONDITION,
        &shape::WORKFLOW,
        &shape::SERVICE,
        &shape::REQUIREMENT_MAPPING,
        &shape::SUBSTITUTION,
        &shape::CAPABILITY_ASSIGNMENT,
    ];
    let mut open: Vec<_> = shapes.to_vec();
    open.extend(crate::tosca::Family::ALL.map(shape::of_type));
    let mut names = BTreeSet::new();
    while let Some(shape) = open.pop() {
        for keyname in shape.keynames {
            let is_new = names.insert((shape.what, keyname.name));
            match keyname.holds {
                Holds::One(inner) | Holds::Named(_, inner) | Holds::Listed(_, inner) if is_new => {
                    open.push(inner);
                }
                _ => {}
            }
        }
    }
    let missing: Vec<_> = names.iter().filter(|(_, name)| !offered.contains(name)).collect();
    assert!(missing.is_empty() && names.len() > 200, "{missing:?}");
}

/// What TOSCA 2.0 says to be a value, a type or an element is looked into.
#[test]
fn every_keyname_of_tosca_2_0_is_walked() {
    let mut open: Vec<(&ElementGrammar, &MapGrammar)> = vec![(&FILE, &SERVICE)];
    let (mut seen, mut missing) = (Vec::new(), Vec::new());
    while let Some((element, map)) = open.pop() {
        if seen.iter().any(|&(kind, it)| kind == element.kind && std::ptr::eq(it, map)) {
            continue;
        }
        seen.push((element.kind, map));
        for keyname in element.keynames {
            let content = map.below(keyname.field);
            let holds_nothing = matches!(
                keyname.holds,
                KeynameContent::Any
                    | KeynameContent::Text
                    | KeynameContent::Bool
                    | KeynameContent::List
            );
            if !holds_nothing && matches!(content, HeldContent::Plain | HeldContent::Any) {
                missing.push((element.what, keyname.name));
            }
            // What implements something may be an artifact, which is looked into, too.
            if let (Some(below), false) =
                (keyname.holds.element(), matches!(content, HeldContent::Implementation))
            {
                let mut maps = Vec::new();
                add(content, &mut maps);
                open.extend(maps.into_iter().map(|map| (below, map)));
            }
        }
    }
    assert!(missing.is_empty() && seen.len() > 40, "{}: {missing:?}", seen.len());
}

/// What is offered at `|` in a template of TOSCA 2.0.
fn offered_in_2_0(text: &str) -> Vec<String> {
    let offset = text.find('|').unwrap();
    let text = text.replace('|', "");
    let files = crate::source::MemoryFiles::from([("t.yaml", &*text)]);
    let resolver = crate::Resolver::new("t.yaml").files(files);
    let found = resolver
        .analysis(None, |analysis| super::complete(analysis, "t.yaml".as_ref(), &text, offset));
    found.suggestions.into_iter().map(|it| it.label).collect()
}

#[test]
fn files_of_tosca_2_0_are_offered_their_own_keynames() {
    let head = "tosca_definitions_version: tosca_2_0\n";
    let cases = [
        ("|\n", "service_template", "topology_template"),
        ("imports: [{ | }]\n", "namespace", "namespace_prefix"),
        ("node_types:\n  T:\n    requirements:\n      - r: { | }\n", "count_range", "occurrences"),
        ("service_template:\n  node_templates:\n    a: { | }\n", "count", "instance_count"),
        ("service_template:\n  |\n", "variability", "tosca_definitions_version"),
    ];
    for (text, own, other) in cases {
        let offered = offered_in_2_0(&format!("{head}{text}"));
        assert_eq!(
            (offered.contains(&own.to_owned()), offered.contains(&other.to_owned())),
            (true, false),
            "{text}: {offered:?}"
        );
    }
}
