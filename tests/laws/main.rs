//! Laws that hold for every template, tried on random ones and compared with a brute-force oracle.
//!
//! `PROPTEST_CASES=10000 cargo test --test laws` tries harder.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod conflicts;
mod enriched;
mod explore;
mod generate;
mod inputs;
#[path = "../shared/laws.rs"]
mod laws;
mod logic;
mod options;
mod oracle;
mod result;
mod robustness;
mod template;
mod topology;

use std::collections::BTreeSet;

use cuvee::diagnostic::Severity;
use cuvee::explore::Variant;
use cuvee::parts::solve::SolverKind;
use cuvee::source::MemoryFiles;
use cuvee::{Failure, Resolver};
use generate::template;
use laws::cases;
use oracle::{Oracle, Outcome};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use template::{Kind, Template};

/// The identifiers of the elements that are present in a variant.
fn texts(variant: &Variant) -> Vec<String> {
    variant.present.iter().map(|id| id.to_string()).collect()
}

/// The resolver of a text, without checks on the result, since the oracle has none.
fn resolver(text: &str, template: &Template) -> Resolver {
    let resolver = Resolver::from_text("template.yaml", text)
        .files(files(template))
        .preset("only")
        .option("checks", "false");
    template.overrides.iter().fold(resolver, |resolver, (name, value)| resolver.option(name, value))
}

/// The files that a template imports.
fn files(template: &Template) -> MemoryFiles {
    let imports =
        template.of_kind(Kind::Import).into_iter().map(|id| template.elements[id].name.clone());
    imports.map(|name| (name, "tosca_definitions_version: tosca_simple_yaml_1_3\n")).collect()
}

fn codes(failure: &Failure) -> BTreeSet<&'static str> {
    let errors =
        failure.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(|diagnostic| diagnostic.code.as_str()).collect()
}

fn yaml(text: &str) -> serde_yaml::Value {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

proptest! {
    #![proptest_config(cases(64))]

    /// Satisfiability, the optimum, uniqueness and presence are those that looking at every
    /// assignment gives.
    #[test]
    fn the_variant_is_the_one_that_brute_force_finds(template in template()) {
        let expected = Oracle::new(&template).outcome();
        prop_assume!(expected.is_some());
        let text = template.render();
        let (found, explained) = match resolver(&text, &template).resolve() {
            Ok(resolution) => (Outcome::Variant(resolution.presence().map(|(_, present)| present).collect()), String::new()),
            Err(failure) => (Outcome::Rejected(codes(&failure)), failure.to_string()),
        };
        let identifiers: Vec<_> = template.ids().map(|id| template.identifier(id)).collect();
        prop_assert_eq!(Some(found), expected, "{:?}\n{}\n{}", identifiers, explained, text);
    }

    /// The result has the present elements and no others, in the order written, and nothing of
    /// variability.
    #[test]
    fn the_result_is_what_is_present(template in template()) {
        let text = template.render();
        let resolution = resolver(&text, &template).resolve();
        prop_assume!(resolution.is_ok());
        let resolution = resolution.unwrap();
        let (identifiers, present): (Vec<_>, Vec<_>) = resolution.presence().unzip();
        prop_assert_eq!(identifiers, template.ids().map(|id| template.identifier(id)).collect::<Vec<_>>());
        let expected = serde_yaml::to_string(&result::expected(&template, &present)).unwrap();
        let found = serde_yaml::to_string(&yaml(resolution.to_yaml())).unwrap();
        prop_assert_eq!(found, expected, "{:?}\n{}", resolution.presence().collect::<Vec<_>>(), text);
    }

    /// The topology that is given as data is the one that the text describes.
    #[test]
    fn the_topology_is_that_of_the_text(template in template()) {
        let text = template.render();
        let resolver = resolver(&text, &template);
        let resolution = resolver.resolve();
        prop_assume!(resolution.is_ok());
        topology::is_that_of(&resolver.topology().unwrap().result, &resolution.unwrap());
    }

    /// The page of a report composes resolved templates from pieces. It stores whole texts only
    /// where a value is not known in advance.
    #[test]
    fn the_page_puts_together_what_resolves(template in template()) {
        let text = template.render();
        let open = resolver(&text, &template).only_presets(Vec::<String>::new());
        for resolver in [open, resolver(&text, &template)] {
            let Ok(page) = resolver.report(&[]) else { continue };
            let (_, data) = page.split_once("id=\"data\">").unwrap();
            let (data, _) = data.split_once("</script>").unwrap();
            let data: serde_json::Value = serde_json::from_str(data).unwrap();
            prop_assert_eq!(data["cnf"].is_null(), data["writing"].is_null(), "{}", text);
            let Some(later) = data["writing"]["later"].as_array() else { continue };
            let texts = data["resolved"]["texts"].as_array().unwrap();
            let is_composed = texts.iter().all(serde_json::Value::is_null);
            prop_assert!(is_composed || !later.is_empty(), "{}\n{}", text, data["resolved"]);
        }
    }

    /// The same input gives the same bytes, in every run and with every solver.
    #[test]
    fn the_result_depends_on_nothing_else(template in template()) {
        let text = template.render();
        let outcome = |solver| match resolver(&text, &template).solver(solver).resolve() {
            Ok(resolution) => resolution.to_yaml().to_owned(),
            Err(failure) => codes(&failure).into_iter().collect(),
        };
        let first = outcome(SolverKind::ALL[0]);
        for &kind in SolverKind::ALL {
            prop_assert_eq!(&first, &outcome(kind), "{}", text);
        }
        prop_assert_eq!(&first, &outcome(SolverKind::ALL[0]), "{}", text);
        let conflict = || resolver(&text, &template).resolve().err().map(|failure| failure.diagnostics);
        prop_assert_eq!(conflict(), conflict());
    }

    /// Resolving a resolved template gives the same template.
    #[test]
    fn resolving_twice_is_resolving_once(template in template()) {
        let text = template.render();
        let resolution = resolver(&text, &template).resolve();
        prop_assume!(resolution.is_ok());
        let once = resolution.unwrap();
        // With checks off, a relation may lack its target, and such a result cannot be resolved
        // again.
        let present: Vec<_> = once.presence().map(|(_, present)| present).collect();
        let dangles = |&id: &template::Id| present[id] && !present[template.elements[id].ends[0]];
        prop_assume!(!template.of_kind(Kind::Relation).iter().any(dangles));
        let again = Resolver::from_text("template.yaml", once.to_yaml()).files(imported()).option("checks", "false").resolve();
        let again = again.map(|twice| twice.to_yaml().to_owned()).map_err(|failure| failure.to_string());
        prop_assert_eq!(again.as_deref(), Ok(once.to_yaml()), "{}", text);
    }
}

fn imported() -> MemoryFiles {
    MemoryFiles::from([("import-0.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\n")])
}

/// Checks that the laws are tried on templates of every outcome, and that few are too large for the
/// oracle.
#[test]
fn templates_are_varied() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut outcomes = std::collections::BTreeMap::new();
    for _ in 0..200 {
        let template = template().new_tree(&mut runner).unwrap().current();
        let outcome = match Oracle::new(&template).outcome() {
            Some(Outcome::Variant(present)) if present.contains(&true) => "variant".into(),
            Some(Outcome::Variant(_)) => "nothing".into(),
            Some(Outcome::Rejected(codes)) => Vec::from_iter(codes).join(" "),
            None => "too large".into(),
        };
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    let at_least = |outcome: &str, count: u32| {
        assert!(
            outcomes.get(outcome).is_some_and(|&found| found >= count),
            "{outcome}: {outcomes:?}"
        )
    };
    at_least("variant", 40);
    at_least("unsatisfiable", 20);
    at_least("ambiguous-topology", 2);
    at_least("ambiguous-type", 2);
    at_least("expected-technology", 2);
    assert!(!outcomes.contains_key("too large"), "{outcomes:?}");
}
