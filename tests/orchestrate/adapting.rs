//! Plans from one template to another, in each way in which they can be made.

use crate::deploying::{Targets, deployed, secrets};
use cuvee::Resolver;
use cuvee::deploy::instance::InstancePlanQuery;
use cuvee::deploy::plan::{Adaptation, ChangeClass, ElementChange, OrderOptions, Plan};
use cuvee::source::MemoryFiles;
use std::collections::BTreeMap;

fn resolver(files: &MemoryFiles, evaluates: bool) -> Resolver {
    let resolver = Resolver::new("t.yaml").files(files.clone());
    if evaluates { resolver.evaluate_functions() } else { resolver }
}

/// The classes of all nodes.
pub(crate) fn classes(plan: &Plan) -> BTreeMap<String, ChangeClass> {
    let nodes = plan.changes.iter().filter(|change| change.element.starts_with("node."));
    nodes.map(|change| (change.element.clone(), change.class)).collect()
}

/// How a plan is made that leaves functions as they are written.
pub(crate) const WRITTEN: &str = "as it is written";

/// The plans from one template to another: between variants, with and without the values of
/// functions, and of an instance.
pub(crate) fn plans(from: &MemoryFiles, to: &MemoryFiles) -> Vec<(&'static str, Plan)> {
    let adapted = |evaluates: bool| {
        let (from, to) = (resolver(from, evaluates), resolver(to, evaluates));
        let plan = from.adapt(&to, &Adaptation::default(), &OrderOptions::default());
        plan.unwrap_or_else(|e| panic!("{e}")).result
    };
    let mut targets = Targets::new();
    let model = deployed(&resolver(from, false), &mut targets);
    let kept = |digest: &str| Ok(targets[digest].clone());
    let query = InstancePlanQuery::default();
    let resolver = resolver(to, false);
    let answer = resolver.adapt_instance(&model, &kept, &mut secrets(), &query);
    let (of_instance, _) = answer.unwrap_or_else(|e| panic!("{e}")).result;
    vec![(WRITTEN, adapted(false)), ("with values", adapted(true)), ("of an instance", of_instance)]
}

/// Why each node has its class, for messages.
pub(crate) fn reasons(plan: &Plan) -> String {
    let changes = plan.changes.iter().filter(|change| change.class != ChangeClass::Keep);
    let reason = |change: &ElementChange| {
        let all = change
            .reasons
            .iter()
            .map(|one| format!("{} {:?} -> {:?} {:?}", one.path, one.from, one.to, one.because));
        format!("{} {:?}: {}", change.element, change.class, all.collect::<Vec<_>>().join("; "))
    };
    changes.map(reason).collect::<Vec<_>>().join("\n")
}
