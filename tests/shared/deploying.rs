//! Deploys instances by plans, as if each step had succeeded.

use cuvee::Resolver;
use cuvee::deploy::instance::{
    InstanceModel, InstancePlanQuery, InstanceSettings, KeptSecrets, LockHolder, MemoryStore,
    NodeInstance, RecordAuthor, RecordOrigin, SecretsMode, StoredInstance, TargetSources,
    plan_instance,
};
use cuvee::output::draw::plan::PlanDocument;
use cuvee::parts::tosca::NodeState;
use std::collections::HashMap;

pub(crate) type Targets = HashMap<String, TargetSources>;

pub(crate) fn secrets() -> KeptSecrets {
    KeptSecrets::new(SecretsMode::Digest, [7; 32], [""; 0])
}

/// An instance of a variant with all of its nodes deployed.
pub(crate) fn deployed(resolver: &Resolver, targets: &mut Targets) -> InstanceModel {
    let target = resolver.instance_target(&mut secrets()).unwrap_or_else(|e| panic!("{e}")).result;
    let (digest, _) = target.blobs().unwrap();
    let mut model = (*target.model).clone();
    model.target.digest = digest.as_str().into();
    model.nodes.values_mut().for_each(|node| node.state = NodeState::Started.into());
    targets.insert(digest, target);
    model
}

/// What two models that came about in different ways have in common: everything but revisions,
/// times, generations, notes and positions.
pub(crate) fn essence(model: &InstanceModel) -> Vec<String> {
    let mut all = Vec::new();
    for (id, node) in &model.nodes {
        let NodeInstance { template, type_name, state, properties, capabilities, .. } = node;
        all.push(format!("{id} {template:?} {type_name} {state} {properties:?}"));
        for (name, capability) in capabilities {
            all.push(format!("{id} capability {name} {:?}", capability.properties));
        }
        for (name, relations) in &node.requirements {
            let mut targets: Vec<_> = relations
                .iter()
                .map(|it| format!("{:?} {:?} {}", it.target, it.relationship, it.hosting))
                .collect();
            targets.sort();
            all.push(format!("{id} requirement {name} {targets:?}"));
        }
    }
    all.extend(model.groups.iter().map(|(name, it)| format!("group {name} {:?}", it.members)));
    all.extend(model.policies.iter().map(|(name, it)| format!("policy {name} {:?}", it.targets)));
    all.push(format!("{:?} {:?}", model.inputs, model.outputs));
    all
}

pub(crate) struct Deploying {
    pub(crate) store: MemoryStore,
    holder: LockHolder,
}

impl Deploying {
    pub(crate) fn new() -> Self {
        let holder = LockHolder { actor: "ann".to_owned(), process: 1 };
        Self { store: MemoryStore::new(7), holder }
    }

    pub(crate) fn author(&self) -> RecordAuthor<'_> {
        RecordAuthor {
            holder: &self.holder,
            timeout: std::time::Duration::from_secs(1),
            time: "2026-01-01T00:00:00Z".parse().unwrap(),
            origin: RecordOrigin::Client,
        }
    }

    pub(crate) fn init(&self, name: &str, resolver: &Resolver) {
        let settings = InstanceSettings::default();
        resolver
            .init_instance(&self.store, name, &settings, &self.author())
            .unwrap_or_else(|e| panic!("{e}"));
    }

    /// Carries out the plan to a variant, or to the variant that is the target already.
    pub(crate) fn reach(&self, name: &str, resolver: Option<&Resolver>) -> InstanceModel {
        let mut instance = StoredInstance::open(&self.store, name).unwrap();
        let plan = self.plan(&mut instance, resolver);
        instance.apply(&plan, &self.author(), None, true).unwrap_or_else(|e| panic!("{e:?}"));
        instance.model().clone()
    }

    /// The document of the plan to a variant, or to the variant that is the target already.
    pub(crate) fn plan(
        &self,
        instance: &mut StoredInstance<'_>,
        resolver: Option<&Resolver>,
    ) -> String {
        let name = instance.name().to_owned();
        let query = InstancePlanQuery { name, ..InstancePlanQuery::default() };
        let answer = match resolver {
            Some(resolver) => {
                let planned = plan_instance(instance, resolver, &query, &self.author());
                planned.map(|(answer, _)| answer)
            }
            None => instance.plan_repair(&query),
        };
        let answer = answer.unwrap_or_else(|e| panic!("{e}"));
        let document = PlanDocument::of(&answer.result, &answer.sources, false);
        serde_json::to_string(&document).unwrap().replacen('{', "{\"version\":1,", 1)
    }
}

pub(crate) fn assert_same(one: &[String], other: &[String], of: &str) {
    let lacks = |all: &[String], some: &[String]| -> Vec<String> {
        some.iter().filter(|it| !all.contains(it)).cloned().collect()
    };
    assert_eq!(lacks(other, one), lacks(one, other), "{of}");
}
