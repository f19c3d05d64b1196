//! Whatever exploring says of all variants is what resolving says of each assignment of inputs.

use std::collections::BTreeSet;

use cuvee::Resolver;
use cuvee::explore::{Assigned, Projection, Query};
use cuvee::value::Value;
use proptest::prelude::*;

use super::generate::template;
use super::template::Template;
use super::{cases, files};

/// The template with its inputs open, and with checks where asked.
fn open(template: &Template, checks: bool) -> Resolver {
    let resolver = Resolver::from_text("template.yaml", template.render()).files(files(template));
    let resolver = if checks { resolver } else { resolver.option("checks", "false") };
    template.overrides.iter().fold(resolver, |resolver, (name, value)| resolver.option(name, value))
}

/// Every assignment that may make a difference.
fn assignments(template: &Template) -> Vec<Vec<(String, Value)>> {
    let flags = [false, true].map(Value::from).to_vec();
    let mut inputs: Vec<(String, Vec<Value>)> = vec![
        ("flag".into(), flags.clone()),
        ("count".into(), [-1, 0, 1, 2].map(Value::from).to_vec()),
        ("size".into(), ["small", "large"].map(Value::from).to_vec()),
    ];
    let named: BTreeSet<_> = template.named_inputs.iter().map(|&(id, _)| template.identifier(id)).collect();
    inputs.extend(named.into_iter().map(|name| (name, flags.clone())));
    inputs.into_iter().fold(vec![Vec::new()], |found, (name, values)| {
        let extended =
            found.iter().flat_map(|row| values.iter().map(|value| [&row[..], &[(name.clone(), value.clone())]].concat()));
        extended.collect()
    })
}

fn with(resolver: &Resolver, inputs: &[(String, Value)]) -> Resolver {
    inputs.iter().fold(resolver.clone(), |resolver, (name, value)| resolver.input(name, value.clone()))
}

/// The identifiers of what is present, nothing where there is no variant.
fn present(resolver: &Resolver, projection: Projection) -> Option<Vec<String>> {
    let resolution = resolver.resolve().ok()?;
    let counts = |id: &String| projection == Projection::All || id.starts_with("node.");
    Some(resolution.presence().filter(|(_, present)| *present).map(|(id, _)| id).filter(counts).collect())
}

fn given(inputs: &[Assigned]) -> Vec<(String, Value)> {
    inputs.iter().filter_map(|input| Some((input.name.clone(), input.value.clone()?))).collect()
}

proptest! {
    #![proptest_config(cases(128))]

    /// The variants that are listed are those that some assignment gives, each with an assignment that gives it.
    #[test]
    fn variants_are_what_assignments_give(template in template(), checks in any::<bool>(), nodes in any::<bool>()) {
        let resolver = open(&template, checks);
        let projection = if nodes { Projection::Nodes } else { Projection::All };
        let expected: BTreeSet<_> =
            assignments(&template).iter().filter_map(|inputs| present(&with(&resolver, inputs), projection)).collect();
        let query = Query { projection, limit: usize::MAX, ..Query::default() };
        match resolver.variants(&query) {
            Ok(answer) => {
                let variants = answer.result.variants;
                let found: BTreeSet<_> = variants.iter().map(|variant| variant.present.clone()).collect();
                prop_assert_eq!(found.len(), variants.len(), "{}", template.render());
                prop_assert_eq!(&found, &expected, "{}", template.render());
                for variant in variants {
                    let resolved = present(&with(&resolver, &given(&variant.inputs)), projection);
                    prop_assert_eq!(resolved, Some(variant.present), "{:?}\n{}", variant.inputs, template.render());
                }
            }
            Err(failure) => prop_assert!(expected.is_empty(), "{}\n{:?}\n{}", failure, expected, template.render()),
        }
    }
}
