//! Reads a plan back from its document, so that it can be carried out.

use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::plan::{ChangeClass, PartKind, PlanBase, PlanTarget, digest_in};
use crate::tosca::NodeState;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A unit of a plan: a part, or a step that is in no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::orchestrate::instance) struct PlanUnitIndex(u32);

impl PlanUnitIndex {
    pub(super) fn new(index: usize) -> Self {
        Self(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A plan that can be applied to an instance.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AppliedPlan {
    /// The digest of its document.
    pub digest: Arc<str>,
    /// The name of its workflow.
    pub workflow: Arc<str>,
    /// The instance and structure that it was made for.
    pub base: PlanBase,
    /// The target of the instance after it; `None` if the instance is to be empty.
    pub target: Option<PlanTarget>,
    /// Renamed nodes: the old and the new id.
    pub(super) moved: Vec<(Arc<str>, Arc<str>)>,
    /// The ids of nodes that the plan removes.
    pub(super) removed: FxHashSet<Arc<str>>,
    pub(super) units: Vec<PlanUnit>,
    /// The steps. Those of one unit are adjacent and in order.
    pub(super) steps: Vec<AppliedStep>,
    /// For each step whose failure is handled, the first units of its handlers.
    handlers: Vec<Vec<PlanUnitIndex>>,
    names: FxHashMap<Arc<str>, PlanName>,
    /// For each node its units, in the order of the plan.
    by_node: FxHashMap<Arc<str>, Vec<PlanUnitIndex>>,
    /// For each node the units that take a relation away from it.
    leaving: FxHashMap<Arc<str>, Vec<(PlanUnitIndex, RelationEnds)>>,
    /// The states that its steps set and that the specification does not know.
    states: FxHashSet<Arc<str>>,
}

/// The element that a name in a plan stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlanName {
    Unit(PlanUnitIndex),
    /// A step, and the unit that it is in.
    Step(usize, PlanUnitIndex),
}

/// A unit: a part, or a step that is in no part.
#[derive(Clone, Debug)]
pub(super) struct PlanUnit {
    pub(super) id: Arc<str>,
    pub(super) kind: UnitKind,
    /// The units that it waits for.
    pub(super) after: Vec<PlanUnitIndex>,
    /// The units that wait for it.
    pub(super) before: Vec<PlanUnitIndex>,
    pub(super) steps: Range<usize>,
    /// Whether it has nothing to run, so that it is done as soon as it is ready.
    pub(super) is_passed: bool,
    /// Whether it runs only if another unit fails.
    pub(super) is_handler: bool,
    /// Whether the units after it go on even if it fails.
    pub(super) is_tolerant: bool,
    /// Its failure handlers, as positions in `AppliedPlan::handlers`.
    handled_by: Vec<u32>,
}

/// The kind of change that a unit makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnitKind {
    /// A node comes up. The flag is whether it replaces an earlier node.
    Up(Arc<str>, bool),
    /// A node goes down.
    Down(Arc<str>),
    /// A relation is added.
    Wire(RelationEnds),
    /// A relation is removed.
    Unwire(RelationEnds),
    /// Any other unit.
    Other,
}

/// A relation by its name and the nodes at its ends. The target of a plan may give a position to
/// another relation than the instance does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RelationEnds {
    pub(super) source: Arc<str>,
    pub(super) requirement: Arc<str>,
    #[serde(default)]
    pub(super) target: Option<Arc<str>>,
}

impl UnitKind {
    /// The node that the unit brings up or down.
    pub(super) fn node(&self) -> Option<&Arc<str>> {
        match self {
            Self::Up(node, _) | Self::Down(node) => Some(node),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct AppliedStep {
    pub(super) id: Arc<str>,
    /// The node that it acts on.
    pub(super) node: Option<Arc<str>>,
    /// Whether the step has something to run.
    pub(super) is_run: bool,
    /// The state that the step leads to; `-` if the node is gone then.
    pub(super) state: Option<Arc<str>>,
    /// Whether the step only sets a state.
    sets_state: bool,
    /// The workflow step of which it is an activity.
    written: Option<Arc<str>>,
    /// The steps of its unit that come before.
    pub(super) after: Vec<usize>,
}

/// The `on_failure` of a step after which others go on even if it fails.
const GOES_ON: &str = "continue";

/// The state of a node that does not exist, as plans write it.
pub(super) const UNTRACKED: &str = "-";

#[derive(Deserialize)]
struct PlanText<'d> {
    version: u64,
    #[serde(borrow)]
    plan: Cow<'d, str>,
    workflow: Arc<str>,
    base: Option<PlanBase>,
    target: Option<PlanTarget>,
    #[serde(default)]
    moved: std::collections::BTreeMap<Arc<str>, Arc<str>>,
    #[serde(default, borrow)]
    changes: Vec<DocumentChange<'d>>,
    #[serde(default, borrow)]
    parts: Vec<DocumentPart<'d>>,
    #[serde(default, borrow)]
    steps: Vec<DocumentStep<'d>>,
}

#[derive(Deserialize)]
struct DocumentChange<'d> {
    #[serde(borrow)]
    element: Cow<'d, str>,
    #[serde(borrow)]
    class: Cow<'d, str>,
}

#[derive(Deserialize)]
struct DocumentPart<'d> {
    id: Arc<str>,
    #[serde(borrow)]
    class: Cow<'d, str>,
    #[serde(borrow)]
    after: Vec<Cow<'d, str>>,
}

#[derive(Deserialize)]
struct DocumentStep<'d> {
    id: Arc<str>,
    #[serde(default, borrow)]
    part: Option<Cow<'d, str>>,
    #[serde(default, borrow)]
    target: Option<Cow<'d, str>>,
    ends: Option<RelationEnds>,
    #[serde(borrow)]
    kind: Cow<'d, str>,
    implementation: Option<serde::de::IgnoredAny>,
    state: Option<Arc<str>>,
    #[serde(borrow)]
    after: Vec<Cow<'d, str>>,
    #[serde(default)]
    guard: Vec<serde::de::IgnoredAny>,
    written: Option<Arc<str>>,
    #[serde(default)]
    handler: bool,
    #[serde(default, borrow)]
    handles: Vec<Cow<'d, str>>,
    #[serde(default, borrow)]
    on_failure: Option<Cow<'d, str>>,
}

impl<'d> PlanText<'d> {
    fn read(text: &'d str) -> Result<Self, Diagnostic> {
        let document: Self = serde_json::from_str(text).map_err(|why| {
            let (line, column) = (why.line(), why.column());
            invalid(format!(
                "the file is not a plan: it is malformed at line {line}, column {column}"
            ))
        })?;
        match document.version {
            1 => Ok(document),
            version => Err(invalid(format!("plans have version 1, and this one has {version}"))),
        }
    }
}

fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidPlan, message)
        .help("make a new plan: `cuvee instance plan NAME -o plan.json`")
}

impl AppliedPlan {
    /// Reads a plan from a document such as `cuvee instance plan NAME -o plan.json` writes.
    ///
    /// ```
    /// use cuvee::deploy::instance::AppliedPlan;
    /// let error = AppliedPlan::read(r#"{"version": 1, "plan": "sha256:0", "workflow": "update"}"#).unwrap_err();
    /// assert_eq!(error.code.as_str(), "invalid-plan");
    /// ```
    ///
    /// # Errors
    /// `invalid-plan` if the text is no plan, was changed, or was not made for an instance.
    pub fn read(text: &str) -> Result<Self, Diagnostic> {
        let document = PlanText::read(text)?;
        if digest_in(text).as_deref() != Some(&*document.plan) {
            return Err(invalid("the plan does not match its digest: it was changed"));
        }
        Self::of(&document)
    }

    /// Reads a document that is kept under a digest. It was read before and cannot have changed.
    ///
    /// # Errors
    /// `invalid-plan` if the text is no plan.
    pub(crate) fn read_kept(text: &str) -> Result<Self, Diagnostic> {
        Self::of(&PlanText::read(text)?)
    }

    fn of(document: &PlanText<'_>) -> Result<Self, Diagnostic> {
        let Some(base) = document.base.clone() else {
            return Err(invalid("the plan was made for no instance: it has no `base`"));
        };
        let removed = document.changes.iter().filter(|change| change.class == "remove");
        let mut plan = Self {
            digest: (&*document.plan).into(),
            workflow: Arc::clone(&document.workflow),
            base,
            target: document.target.clone(),
            moved: document.moved.clone().into_iter().collect(),
            removed: removed
                .filter_map(|change| Some(change.element.strip_prefix("node.")?.into()))
                .collect(),
            units: Vec::new(),
            steps: Vec::new(),
            handlers: Vec::new(),
            names: FxHashMap::default(),
            by_node: FxHashMap::default(),
            leaving: FxHashMap::default(),
            states: FxHashSet::default(),
        };
        plan.read_units(document)?;
        plan.read_waits(document)?;
        plan.read_handlers(document);
        plan.link();
        Ok(plan)
    }

    /// Reads the units: parts with their steps, and steps that are in no part.
    fn read_units(&mut self, document: &PlanText<'_>) -> Result<(), Diagnostic> {
        let mut steps_of: FxHashMap<&str, Vec<&DocumentStep<'_>>> = FxHashMap::default();
        for step in &document.steps {
            if let Some(part) = &step.part {
                steps_of.entry(part).or_default().push(step);
            }
        }
        for part in &document.parts {
            let steps = steps_of.remove(&*part.id).unwrap_or_default();
            let kind = unit_kind(part, &steps)?;
            let is_passed = kind == UnitKind::Other && !steps.iter().any(|step| is_run(step));
            self.add_unit(Arc::clone(&part.id), kind, &steps, is_passed)?;
        }
        for step in document.steps.iter().filter(|step| step.part.is_none()) {
            let is_passed = !is_run(step) && step.guard.is_empty();
            self.add_unit(Arc::clone(&step.id), UnitKind::Other, &[step], is_passed)?;
        }
        match steps_of.keys().min() {
            None => Ok(()),
            Some(part) => Err(invalid(format!("the plan has no part `{part}`"))),
        }
    }

    fn add_unit(
        &mut self,
        id: Arc<str>,
        kind: UnitKind,
        of: &[&DocumentStep<'_>],
        is_passed: bool,
    ) -> Result<(), Diagnostic> {
        let index = PlanUnitIndex::new(self.units.len());
        let first = self.steps.len();
        for step in of {
            let node = step.target.as_ref().and_then(|target| target.strip_prefix("node."));
            let state = step.state.clone();
            let other = state.as_ref().filter(|it| NodeState::named(it).is_none());
            self.states.extend(other.filter(|it| &***it != UNTRACKED).cloned());
            let name = PlanName::Step(self.steps.len(), index);
            self.name(&step.id, name)?;
            self.steps.push(AppliedStep {
                id: Arc::clone(&step.id),
                node: node.map(Arc::from),
                is_run: is_run(step),
                state,
                sets_state: step.kind == "set_state",
                written: step.written.clone(),
                after: Vec::new(),
            });
        }
        if of.len() != 1 || of.first().is_none_or(|step| step.id != id) {
            self.name(&id, PlanName::Unit(index))?;
        }
        let steps = first..self.steps.len();
        let (after, before, handled_by) = (Vec::new(), Vec::new(), Vec::new());
        self.units.push(PlanUnit {
            id,
            kind,
            after,
            before,
            steps,
            is_passed,
            is_handler: of.iter().any(|step| step.handler),
            is_tolerant: of.iter().any(|step| step.on_failure.as_deref() == Some(GOES_ON)),
            handled_by,
        });
        Ok(())
    }

    fn name(&mut self, id: &Arc<str>, name: PlanName) -> Result<(), Diagnostic> {
        match self.names.insert(Arc::clone(id), name) {
            None => Ok(()),
            Some(_) => Err(invalid(format!("the plan has `{id}` twice"))),
        }
    }

    /// Reads which unit waits for which, and which step waits for which other of its unit.
    fn read_waits(&mut self, document: &PlanText<'_>) -> Result<(), Diagnostic> {
        let unknown = |id: &str| invalid(format!("the plan has no step and no part `{id}`"));
        for part in &document.parts {
            let Some(PlanName::Unit(unit)) = self.named(&part.id) else { continue };
            for id in &part.after {
                let before = self.named(id).ok_or_else(|| unknown(id))?;
                self.wait(unit, before);
            }
        }
        for step in &document.steps {
            let Some(PlanName::Step(index, unit)) = self.named(&step.id) else { continue };
            for id in &step.after {
                let before = self.named(id).ok_or_else(|| unknown(id))?;
                match before {
                    PlanName::Step(before, other) if other == unit => {
                        self.steps[index].after.push(before);
                    }
                    before => self.wait(unit, before),
                }
            }
        }
        Ok(())
    }

    fn wait(&mut self, unit: PlanUnitIndex, before: PlanName) {
        let (PlanName::Unit(before) | PlanName::Step(_, before)) = before;
        self.units[unit.index()].after.push(before);
    }

    /// Reads the failure handlers. A handler names workflow steps. It handles the units with the
    /// name of such a step, and those of a workflow that the step inlines.
    fn read_handlers(&mut self, document: &PlanText<'_>) {
        let mut positions: FxHashMap<&str, u32> = FxHashMap::default();
        for step in document.steps.iter().filter(|step| !step.handles.is_empty()) {
            let Some(PlanName::Step(_, unit)) = self.named(&step.id) else { continue };
            for name in &step.handles {
                let next = self.handlers.len() as u32;
                let position = *positions.entry(name).or_insert(next);
                if position == next {
                    self.handlers.push(Vec::new());
                }
                self.handlers[position as usize].push(unit);
            }
        }
        if positions.is_empty() {
            return;
        }
        for unit in &mut self.units {
            let ends = unit.id.match_indices('/').map(|(end, _)| end).chain([unit.id.len()]);
            let names = ends.filter_map(|end| positions.get(&unit.id[..end]));
            unit.handled_by = names.copied().collect();
        }
    }

    fn link(&mut self) {
        for index in 0..self.units.len() {
            let unit = PlanUnitIndex::new(index);
            let mut after = std::mem::take(&mut self.units[index].after);
            after.sort_unstable();
            after.dedup();
            for before in &after {
                self.units[before.index()].before.push(unit);
            }
            self.units[index].after = after;
            if let UnitKind::Unwire(ends) = &self.units[index].kind {
                let (source, ends) = (Arc::clone(&ends.source), ends.clone());
                self.leaving.entry(source).or_default().push((unit, ends));
            }
            let moved = self.units[index].kind.node().cloned();
            let acting = self.steps[self.units[index].steps.clone()].iter();
            let node = moved.or_else(|| acting.filter_map(|step| step.node.clone()).next());
            if let (Some(node), UnitKind::Up(..) | UnitKind::Down(_) | UnitKind::Other) =
                (node, &self.units[index].kind)
            {
                self.by_node.entry(node).or_default().push(unit);
            }
        }
    }

    pub(super) fn named(&self, id: &str) -> Option<PlanName> {
        self.names.get(id).copied()
    }

    pub(super) fn unit(&self, index: PlanUnitIndex) -> &PlanUnit {
        &self.units[index.index()]
    }

    /// The steps of a unit.
    pub(super) fn steps_of(&self, index: PlanUnitIndex) -> &[AppliedStep] {
        &self.steps[self.unit(index).steps.clone()]
    }

    /// The first units of the handlers for a failure of this unit.
    pub(super) fn handlers_of(
        &self,
        index: PlanUnitIndex,
    ) -> impl Iterator<Item = PlanUnitIndex> + use<'_> {
        let handled_by = self.unit(index).handled_by.iter();
        handled_by.flat_map(|&handler| &self.handlers[handler as usize]).copied()
    }

    /// Whether the second unit only completes the first one: it is a further activity of the same
    /// workflow step, or the state that its node has reached.
    pub(super) fn completes(&self, before: PlanUnitIndex, index: PlanUnitIndex) -> bool {
        let ([before], [step]) = (self.steps_of(before), self.steps_of(index)) else {
            return false;
        };
        if let Some((before, step)) = before.written.as_ref().zip(step.written.as_ref()) {
            return before == step;
        }
        let is_stable =
            |state: &str| NodeState::named(state).is_none_or(|it| !it.is_transitional());
        let is_reached = step.sets_state && step.state.as_deref().is_some_and(is_stable);
        is_reached && !before.sets_state && before.node == step.node
    }

    /// The units that move a node, in the order of the plan.
    pub(super) fn units_of(&self, node: &str) -> &[PlanUnitIndex] {
        self.by_node.get(node).map_or(&[], |units| units)
    }

    /// The units that take relations away from a node.
    pub(super) fn leaving(&self, node: &str) -> &[(PlanUnitIndex, RelationEnds)] {
        self.leaving.get(node).map_or(&[], Vec::as_slice)
    }

    /// The identifiers of all steps and parts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    /// Whether a step sets a state of this name that the specification does not know.
    pub fn sets_state(&self, name: &str) -> bool {
        self.states.contains(name)
    }
}

/// Whether a step has something to run.
fn is_run(step: &DocumentStep<'_>) -> bool {
    match &*step.kind {
        "call" => step.implementation.is_some(),
        kind => matches!(kind, "delegate" | "external"),
    }
}

fn unit_kind(part: &DocumentPart<'_>, steps: &[&DocumentStep<'_>]) -> Result<UnitKind, Diagnostic> {
    let unknown = || invalid(format!("no part is called `{}`", part.id));
    let (element, kind) = part.id.rsplit_once('/').ok_or_else(unknown)?;
    let node = || element.strip_prefix("node.").map(Arc::from).ok_or_else(unknown);
    let ends = || {
        let ends = steps.iter().find_map(|step| step.ends.clone());
        ends.ok_or_else(|| invalid(format!("the plan does not say what `{}` relates", part.id)))
    };
    let is = |known: PartKind| known.as_str() == kind;
    Ok(match () {
        () if is(PartKind::Up) => {
            UnitKind::Up(node()?, part.class == ChangeClass::Recreate.as_str())
        }
        () if is(PartKind::Down) => UnitKind::Down(node()?),
        () if is(PartKind::Wire) => UnitKind::Wire(ends()?),
        () if is(PartKind::Unwire) => UnitKind::Unwire(ends()?),
        () if is(PartKind::Changed) || is(PartKind::Turn) => UnitKind::Other,
        () => return Err(unknown()),
    })
}
