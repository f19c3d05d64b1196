//! Laws of exploring: what it says of all variants is what resolving says of each assignment of
//! inputs.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuvee::Resolver;
use cuvee::explore::{Assigned, Goal, Projection, Query, Which};
use cuvee::source::value::Value;
use proptest::prelude::*;

use super::generate::template;
use super::template::Template;
use super::{cases, files, texts};

/// The template with its inputs open, with or without checks.
fn open(template: &Template, checks: bool) -> Resolver {
    let resolver = Resolver::from_text("template.yaml", template.render()).files(files(template));
    let resolver = if checks { resolver } else { resolver.option("checks", "false") };
    template.overrides.iter().fold(resolver, |resolver, (name, value)| resolver.option(name, value))
}

/// Every assignment of inputs that may make a difference.
fn assignments(template: &Template) -> Vec<Vec<(String, Value)>> {
    let flags = [false, true].map(Value::from).to_vec();
    let mut inputs: Vec<(String, Vec<Value>)> = vec![
        ("flag".into(), flags.clone()),
        ("count".into(), [-1, 0, 1, 2].map(Value::from).to_vec()),
        ("size".into(), ["small", "large"].map(Value::from).to_vec()),
    ];
    let named: BTreeSet<_> =
        template.named_inputs.iter().map(|&(id, _)| template.identifier(id)).collect();
    inputs.extend(named.into_iter().map(|name| (name, flags.clone())));
    inputs.into_iter().fold(vec![Vec::new()], |found, (name, values)| {
        let extended = found.iter().flat_map(|row| {
            values.iter().map(|value| [&row[..], &[(name.clone(), value.clone())]].concat())
        });
        extended.collect()
    })
}

fn with(resolver: &Resolver, inputs: &[(String, Value)]) -> Resolver {
    inputs
        .iter()
        .fold(resolver.clone(), |resolver, (name, value)| resolver.input(name, value.clone()))
}

/// The identifiers of the present elements; `None` where there is no variant.
fn present(
    template: &Template,
    resolver: &Resolver,
    projection: Projection,
) -> Option<Vec<String>> {
    let resolution = resolver.resolve().ok()?;
    let possible = possible(template);
    let counts = |id: &String| {
        possible.contains(id) && (projection == Projection::All || id.starts_with("node."))
    };
    Some(
        resolution
            .presence()
            .filter(|(_, present)| *present)
            .map(|(id, _)| id)
            .filter(counts)
            .collect(),
    )
}

fn given(inputs: &[Arc<Assigned>]) -> Vec<(String, Value)> {
    inputs.iter().filter_map(|input| Some((input.name.clone(), input.value.clone()?))).collect()
}

/// A variant that some assignment gives, and the assignment.
struct Given {
    inputs: Vec<(String, Value)>,
    present: Vec<String>,
}

/// The variants of all assignments; a variant that several assignments give is repeated.
fn brute_force(template: &Template, resolver: &Resolver) -> Vec<Given> {
    let given = |inputs: Vec<(String, Value)>| {
        let present = present(template, &with(resolver, &inputs), Projection::All)?;
        Some(Given { inputs, present })
    };
    assignments(template).into_iter().filter_map(given).collect()
}

fn nodes(present: &[String]) -> Vec<String> {
    present.iter().filter(|id| id.starts_with("node.")).cloned().collect()
}

fn query(which: Which) -> Query {
    Query { which, limit: usize::MAX, ..Query::default() }
}

/// The elements in a set that belong to no other element of the set.
fn outermost(ids: &BTreeSet<String>) -> BTreeSet<String> {
    let is_inner = |id: &&String| {
        ids.iter()
            .any(|outer| id.strip_suffix(outer.as_str()).is_some_and(|rest| rest.ends_with('.')))
    };
    ids.iter().filter(|id| !is_inner(id)).cloned().collect()
}

/// Elements that may be present. Variability groups and their contents never are, and analyses do
/// not report them.
fn possible(template: &Template) -> BTreeSet<String> {
    let is_possible = |&id: &usize| {
        let outer =
            std::iter::successors(Some(id), |&id| template.elements[id].container).last().unwrap();
        !template.elements[outer].variability
    };
    template.ids().filter(is_possible).map(|id| template.identifier(id)).collect()
}

proptest! {
    #![proptest_config(cases(16))]

    /// The listed variants are exactly those that some assignment gives, each with an assignment
    /// that gives it.
    #[test]
    fn variants_are_what_assignments_give(template in template(), checks in any::<bool>(), nodes in any::<bool>()) {
        let resolver = open(&template, checks);
        let projection = if nodes { Projection::Nodes } else { Projection::All };
        let expected: BTreeSet<_> =
            assignments(&template).iter().filter_map(|inputs| present(&template, &with(&resolver, inputs), projection)).collect();
        let query = Query { projection, limit: usize::MAX, ..Query::default() };
        match resolver.variants(&query) {
            Ok(answer) => {
                let variants = answer.result.variants;
                let found: BTreeSet<_> = variants.iter().map(texts).collect();
                prop_assert_eq!(found.len(), variants.len(), "{}", template.render());
                prop_assert_eq!(&found, &expected, "{}", template.render());
                for variant in variants {
                    let resolved = present(&template, &with(&resolver, &given(&variant.inputs)), projection);
                    prop_assert_eq!(resolved, Some(texts(&variant)), "{:?}\n{}", variant.inputs, template.render());
                }
            }
            Err(failure) => prop_assert!(expected.is_empty(), "{}\n{:?}\n{}", failure, expected, template.render()),
        }
    }

    /// Counting agrees with listing, samples are drawn from the listed variants, and conditions
    /// select among them.
    #[test]
    fn counts_and_samples_are_of_all_variants(template in template(), seed in any::<u64>(), pick in any::<u8>()) {
        let resolver = open(&template, true);
        let given = brute_force(&template, &resolver);
        let all: BTreeSet<_> = given.iter().map(|given| given.present.clone()).collect();
        let by_nodes: BTreeSet<_> = given.iter().map(|given| nodes(&given.present)).collect();
        prop_assume!(!all.is_empty());
        for (projection, expected) in [(Projection::All, all.len()), (Projection::Nodes, by_nodes.len())] {
            let count = resolver.count_variants(&Query { projection, ..Query::default() }).unwrap().result;
            prop_assert!(count.exact);
            prop_assert_eq!(count.count, expected.to_string(), "{}", template.render());
        }
        let wanted = 1 + u64::from(pick) % (all.len() as u64 + 1);
        let sample = resolver.variants(&query(Which::Sample(wanted, seed))).unwrap().result;
        let sampled: BTreeSet<_> = sample.variants.iter().map(texts).collect();
        prop_assert_eq!(sampled.len(), sample.variants.len());
        prop_assert_eq!(sampled.len() as u64, wanted.min(all.len() as u64));
        prop_assert!(sampled.is_subset(&all));

        let ids = template.of_kind(super::template::Kind::Node);
        let node = template.identifier(ids[usize::from(pick) % ids.len()]);
        let selected: BTreeSet<_> = all.iter().filter(|present| present.contains(&node)).cloned().collect();
        let found = resolver.only_where(format!("{{node_presence: {}}}", &node["node.".len()..])).variants(&query(Which::All));
        let found = found.map(|answer| answer.result.variants).unwrap_or_default();
        prop_assert_eq!(found.iter().map(texts).collect::<BTreeSet<_>>(), selected);
    }

    /// The best variant over all inputs is the best one of all assignments.
    #[test]
    fn the_best_is_the_best_of_all_assignments(template in template()) {
        let resolver = open(&template, true);
        let given = brute_force(&template, &resolver);
        prop_assume!(!given.is_empty());
        let weight = |id: &String| {
            let node = template.ids().find(|&node| template.identifier(node) == *id).unwrap();
            template.elements[node].weight.unwrap_or(1000)
        };
        let weights = given.iter().map(|given| nodes(&given.present).iter().map(weight).sum::<u64>());
        let least_weight = weights.min().unwrap() as f64 / 1000.0;
        let least_count = given.iter().map(|given| nodes(&given.present).len()).min().unwrap();
        let best = |goal| resolver.variants(&query(Which::Best(goal))).unwrap().result;
        let (weight_found, count_found) = (best(Goal::Weight), best(Goal::Count));
        prop_assert_eq!(weight_found.cost.unwrap().parse::<f64>().unwrap(), least_weight, "{}", template.render());
        prop_assert_eq!(count_found.cost.unwrap(), least_count.to_string());
        prop_assert_eq!(nodes(&texts(&count_found.variants[0])).len(), least_count);
    }

    /// Core elements are in every variant, dead elements in none, and each check rejects the
    /// variants that the analysis says.
    #[test]
    fn analysis_holds_for_all_assignments(template in template(), checks in any::<bool>()) {
        let resolver = open(&template, checks);
        let given = brute_force(&template, &resolver);
        let analysis = match resolver.analyze() {
            Ok(answer) => answer.result,
            Err(failure) => { prop_assert!(given.is_empty(), "{}", failure); return Ok(()) }
        };
        prop_assert_eq!(analysis.void, given.is_empty(), "{}", template.render());
        prop_assume!(!given.is_empty());
        let possible = possible(&template);
        let among = |wanted: fn(usize, usize) -> bool| {
            let of = |id: &&String| wanted(given.iter().filter(|given| given.present.contains(id)).count(), given.len());
            outermost(&possible.iter().filter(of).cloned().collect())
        };
        prop_assert_eq!(analysis.core.into_iter().collect::<BTreeSet<_>>(), among(|count, all| count == all), "{}", template.render());
        let dead: BTreeSet<_> = analysis.dead.into_iter().map(|dead| dead.element).collect();
        prop_assert_eq!(dead, among(|count, _| count == 0), "{}", template.render());
        for set in analysis.atomic_sets {
            for given in &given {
                let present = set.iter().filter(|id| given.present.contains(id)).count();
                prop_assert!(present == 0 || present == set.len(), "{:?}\n{}", set, template.render());
            }
        }
        for id in analysis.false_optional.into_iter().map(|found| found.element) {
            let element = template.ids().find(|&element| template.identifier(element) == id).unwrap();
            let container = template.elements[element].container.map(|container| template.identifier(container));
            for given in &given {
                let is_outer = container.as_ref().is_none_or(|container| given.present.contains(container));
                prop_assert!(!is_outer || given.present.contains(&id), "{}\n{}", id, template.render());
            }
        }
        for check in analysis.checks {
            let failure = with(&resolver, &self::given(&check.inputs)).resolve().unwrap_err();
            prop_assert!(super::codes(&failure).contains(&*check.check), "{} {}\n{}", check.check, failure, template.render());
        }
    }

    /// Each pair of values that two inputs can have together occurs in one of the variants that
    /// cover pairs.
    #[test]
    fn pairs_are_covered(template in template()) {
        let resolver = open(&template, true);
        let given = brute_force(&template, &resolver);
        prop_assume!(!given.is_empty());
        let cases = resolver.input_report().unwrap().result.inputs;
        // Conditions use at most the sign of `count`. Each other input has a case for each value,
        // or one case if it has no effect.
        let factors: Vec<_> = cases.iter().filter(|input| input.name != "count" && input.cases.len() > 1).map(|input| &input.name).collect();
        let rows = resolver.variants(&query(Which::Covering(2))).unwrap().result.variants;
        let rows: Vec<_> = rows.iter().map(|row| self::given(&row.inputs)).collect();
        let value = |row: &[(String, Value)], name: &String| row.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        for given in &given {
            for first in &factors {
                for second in &factors {
                    let pair = |row: &[(String, Value)]| (value(row, first), value(row, second));
                    prop_assert!(rows.iter().any(|row| pair(row) == pair(&given.inputs)), "{} {}\n{}", first, second, template.render());
                }
            }
        }
    }

    /// An explanation agrees with resolving, and no smaller change would suffice.
    #[test]
    fn changes_are_smallest(template in template(), which in any::<prop::sample::Index>(), element in any::<prop::sample::Index>()) {
        let resolver = open(&template, true);
        let given = brute_force(&template, &resolver);
        prop_assume!(!given.is_empty());
        let possible: Vec<_> = possible(&template).into_iter().collect();
        prop_assume!(!possible.is_empty());
        let (now, id) = (which.get(&given), element.get(&possible));
        let explanation = with(&resolver, &now.inputs).explain(id).unwrap().result;
        prop_assert_eq!(explanation.present, now.present.contains(id), "{}", template.render());
        let others = given.iter().filter(|other| other.present.contains(id) != explanation.present);
        let distance = |other: &Given| now.inputs.iter().zip(&other.inputs).filter(|(one, other)| one != other).count();
        let smallest = others.map(distance).min();
        prop_assert_eq!(explanation.change.as_ref().map(Vec::len), smallest, "{}\n{:?}\n{}", id, now.inputs, template.render());
        if let Some(change) = explanation.change {
            let changed = change.into_iter().map(|change| (change.to.name.clone(), change.to.value.clone().unwrap())).collect::<Vec<_>>();
            let present = present(&template, &with(&with(&resolver, &now.inputs), &changed), Projection::All).unwrap();
            prop_assert_eq!(present.contains(id), !explanation.present);
        }
    }
}
