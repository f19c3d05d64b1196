//! Computes the facts about nodes and relations that hold in all variants, and the imports that
//! these facts depend on.

use super::ways::OpenTopology;
use crate::draw::plan::{ToldStep, told_apart};
use crate::explore::types;
use crate::orchestrate::plan::{self, Deployment, PlanStepIndex};
use crate::topology::NodeIndex;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::choice::Choice;
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::Prepared;
use cuvee_text::source::Span;

/// How many conditional imports are supported at most.
const IMPORTS: usize = 8;

/// The facts about all nodes and relations.
pub(super) struct Facts {
    pub(super) nodes: Vec<PartFacts>,
    pub(super) relations: Vec<PartFacts>,
}

/// The facts about a node or a relation.
#[derive(Clone, Default)]
pub(super) struct PartFacts {
    /// The types, the nearest first.
    types: Vec<String>,
    does: Vec<String>,
    /// The numbers of the imports without which the facts would differ.
    pub(super) needs: Vec<i64>,
}

impl PartFacts {
    fn is(&self, other: &Self) -> bool {
        self.types == other.types && self.does == other.does
    }
}

impl Facts {
    pub(super) fn of(
        open: &OpenTopology,
        deployment: &Deployment<'_>,
        told: &[ToldStep<'_>],
    ) -> Self {
        let facts = |types: &[&str], does| PartFacts {
            types: types.iter().map(|&name| name.to_owned()).collect(),
            does,
            needs: Vec::new(),
        };
        let said = deployment.relations.iter().zip(&open.topology.relations);
        let relations = said
            .map(|(relation, said)| {
                let target = said.target.map(|target| open.topology.node(target).name.clone());
                let orders = relation.is_ordering.to_string();
                let mut does = vec![orders, said.hosting.to_string(), target.unwrap_or_default()];
                for call in &relation.calls {
                    does.push(call.operation.clone());
                    does.extend(
                        [&call.primary, &call.host].map(|it| it.clone().unwrap_or_default()),
                    );
                }
                facts(&relation.types, does)
            })
            .collect();
        let mut nodes = Vec::with_capacity(deployment.nodes.len());
        for node in &deployment.nodes {
            let mut own = vec![node.steps.is_none().to_string(), node.is_compute.to_string()];
            for index in node.steps.clone().into_iter().flatten() {
                if deployment.steps[index].relation.is_some() {
                    continue;
                }
                let (step, id) = (&told[index], PlanStepIndex::new(index));
                own.push(step.state.to_owned());
                if deployment.plan.step(id).is_run() {
                    let call = deployment.plan.call_of(id);
                    let host = call.and_then(|call| call.host.as_deref()).unwrap_or_default();
                    own.extend([step.operation, step.implementation, host].map(str::to_owned));
                }
            }
            nodes.push(facts(&node.types, own));
        }
        Self { nodes, relations }
    }

    /// Whether two ways of writing a node have the same effects.
    pub(super) fn are_alike(&self, open: &OpenTopology, one: NodeIndex, other: NodeIndex) -> bool {
        let alike =
            |one: &PartFacts, other: &PartFacts| one.does == other.does && one.needs == other.needs;
        let relations = [one, other].map(|way| &open.topology.node(way).relations);
        let mut pairs = relations[0].iter().zip(relations[1]);
        alike(&self.nodes[one.index()], &self.nodes[other.index()])
            && pairs.all(|(one, other)| {
                alike(&self.relations[one.index()], &self.relations[other.index()])
            })
    }

    fn parts(&self) -> impl Iterator<Item = &PartFacts> {
        self.nodes.iter().chain(&self.relations)
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut PartFacts> {
        self.nodes.iter_mut().chain(&mut self.relations)
    }
}

/// The conditional imports; types that come from them are only known if they are present.
pub(super) struct Imports<'l, 'c> {
    loaded: &'l Loaded,
    choice: &'c Choice,
    conditional: Vec<(Span, ElementId)>,
}

impl<'l, 'c> Imports<'l, 'c> {
    pub(super) fn of(prepared: &Prepared<'l>, choice: &'c Choice) -> Self {
        let imports = prepared.graph.imports.iter();
        let conditional = imports
            .filter(|it| it.import.declared.conditions().is_some())
            .map(|it| (it.import.declared.span(), it.id))
            .collect();
        Self { loaded: prepared.loaded, choice, conditional }
    }

    /// The types, with those of the conditional imports that `is_asked_for` accepts by position.
    ///
    /// # Errors
    /// The errors of the imports, as text.
    pub(super) fn types(&self, is_asked_for: &dyn Fn(usize) -> bool) -> Result<Types<'l>, String> {
        let is_there = |span: Span| {
            let mut conditional = self.conditional.iter();
            conditional.position(|(known, _)| *known == span).is_none_or(is_asked_for)
        };
        let types = types::linked_of(self.loaded, self.choice, InputMode::Open, &is_there);
        types.map_err(|errors| {
            let messages: Vec<_> = errors.0.into_iter().map(|error| error.message).collect();
            messages.join("; ")
        })
    }

    fn facts(
        &self,
        open: &OpenTopology,
        is_asked_for: &dyn Fn(usize) -> bool,
    ) -> Result<Facts, String> {
        let types = self.types(is_asked_for)?;
        let deployment = plan::deployment(&open.topology, &types);
        Ok(Facts::of(open, &deployment, &told_apart(&deployment.plan)))
    }

    /// The facts, each with the imports that it needs: with these imports alone, the facts are the
    /// same as with all imports, whichever others are present.
    ///
    /// # Errors
    /// The reason why the needed imports cannot be determined.
    pub(super) fn needed(&self, open: &OpenTopology, mut facts: Facts) -> Result<Facts, String> {
        let count = self.conditional.len();
        if count == 0 {
            return Ok(facts);
        }
        if count > IMPORTS {
            return Err("too many imports have conditions".into());
        }
        let none = self.facts(open, &|_| false)?;
        let is_free: Vec<_> =
            facts.parts().zip(none.parts()).map(|(all, none)| all.is(none)).collect();
        if is_free.iter().all(|&is_free| is_free) {
            return Ok(facts);
        }
        let mut needs = vec![Vec::new(); is_free.len()];
        for import in 0..count {
            let without = self.facts(open, &|other| other != import)?;
            let parts = facts.parts().zip(without.parts()).zip(&mut needs);
            parts
                .filter(|((all, without), _)| !all.is(without))
                .for_each(|(_, it)| it.push(import));
        }
        let mut sets: Vec<_> = needs.clone();
        sets.sort_unstable();
        sets.dedup();
        for set in sets {
            let only = self.facts(open, &|import| set.contains(&import))?;
            let mut parts = facts.parts().zip(only.parts()).zip(&needs);
            if !parts.all(|((all, only), needs)| *needs != set || all.is(only)) {
                return Err("imports that are there under conditions bring the same types".into());
            }
        }
        for (part, needs) in facts.parts_mut().zip(needs) {
            let number = |import: usize| i64::from(self.conditional[import].1.0) + 1;
            part.needs = needs.into_iter().map(number).collect();
        }
        Ok(facts)
    }
}
