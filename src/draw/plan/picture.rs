//! Determines the boxes and arrows of a plan, independently of the format.

use super::visible::VisibleSteps;
use super::words::{counted, element, host, implementation, operation, state_after};
use crate::draw::State;
use crate::orchestrate::plan::{
    ChangeClass, Plan, PlanPart, PlanPartIndex, PlanStepIndex, StepWork,
};
use rustc_hash::FxHashMap;

/// A picture of more steps than this is not readable.
const LARGEST: usize = 400;

/// The boxes and arrows of a picture.
pub(super) struct PlanPicture {
    pub boxes: Vec<PictureBox>,
    /// The arrows, from a box to the box that waits for it.
    pub edges: Vec<(usize, usize)>,
    /// A note about the whole picture.
    pub note: Option<String>,
    /// What the boxes stand for, with the number of steps of each kind.
    pub legend: Vec<LegendEntry>,
}

/// The steps of one kind.
pub(super) struct LegendEntry {
    pub kind: BoxKind,
    /// Whether they are done only if another step fails.
    pub is_handler: bool,
    pub text: String,
}

pub(super) struct PictureBox {
    pub identifier: String,
    pub title: String,
    pub detail: String,
    /// The details of the box, one a line.
    pub about: String,
    pub kind: BoxKind,
    /// What becomes of the element, if one variant becomes another.
    pub look: State,
    /// Whether it is done only if another step fails.
    pub is_handler: bool,
    /// The round; `None` if the box stands for steps of several rounds.
    pub wave: Option<u32>,
}

impl PictureBox {
    /// The classes of the box: its kind, whether it handles a failure, and its state.
    pub(super) fn classes(&self) -> String {
        let handler = if self.is_handler { " handler" } else { "" };
        format!("step {}{handler} node {}", self.kind.as_str(), self.look.as_str())
    }
}

/// The kinds of steps that boxes represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoxKind {
    Call,
    Delegate,
    State,
    Nothing,
}

impl BoxKind {
    pub(super) const ALL: [Self; 4] = [Self::Call, Self::Delegate, Self::State, Self::Nothing];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Delegate => "delegate",
            Self::State => "state",
            Self::Nothing => "nothing",
        }
    }

    pub(super) fn of(plan: &Plan, id: PlanStepIndex) -> Self {
        let step = plan.step(id);
        match step.work {
            _ if step.is_delegated() => Self::Delegate,
            _ if step.is_called() => Self::Call,
            StepWork::OtherState(_) => Self::State,
            work if work.state().is_some() && step.activity.is_some() => Self::State,
            _ => Self::Nothing,
        }
    }
}

impl PlanPicture {
    /// A picture with a box for each step. If there are too many steps, a box stands for
    /// consecutive work on one element.
    pub(super) fn of(plan: &Plan) -> Self {
        let visible = VisibleSteps::of(plan);
        if visible.steps.len() > LARGEST {
            return Self::of_pieces(plan, &visible);
        }
        let boxes = visible.steps.iter().map(|&id| step_box(plan, id)).collect();
        let waits = visible.after.iter().enumerate();
        let edges = waits.flat_map(|(index, after)| after.iter().map(move |&wait| (wait, index)));
        Self { boxes, edges: edges.collect(), note: None, legend: legend(plan, &visible) }
    }

    fn of_pieces(plan: &Plan, visible: &VisibleSteps) -> Self {
        let mut positions = FxHashMap::default();
        let mut members: Vec<Vec<PlanStepIndex>> = Vec::new();
        let mut piece_of = Vec::with_capacity(visible.steps.len());
        for &id in &visible.steps {
            let step = plan.step(id);
            let key = (step.part, step.element.filter(|_| step.part.is_none()));
            let position = *positions.entry(key).or_insert(members.len());
            if position == members.len() {
                members.push(Vec::new());
            }
            members[position].push(id);
            piece_of.push(position);
        }
        let waits = visible.after.iter().enumerate();
        let edges = waits.flat_map(|(index, after)| after.iter().map(move |&wait| (wait, index)));
        let edges = edges.map(|(wait, index)| (piece_of[wait], piece_of[index]));
        let mut edges: Vec<_> = edges.filter(|(wait, index)| wait != index).collect();
        edges.sort_unstable();
        edges.dedup();
        let steps = counted(visible.steps.len(), "step");
        let note = format!("{steps} are too many for a picture: a box is all that a node does");
        let boxes = members.iter().map(|members| piece_box(plan, members)).collect();
        Self { boxes, edges, note: Some(note), legend: legend(plan, visible) }
    }

    /// The boxes of each round, in order. Boxes for several rounds form a single group.
    pub(super) fn waves(&self) -> Vec<(Option<u32>, Vec<usize>)> {
        let mut order: Vec<_> = (0..self.boxes.len()).collect();
        order.sort_by_key(|&index| (self.boxes[index].wave, index));
        let chunks = order.chunk_by(|&one, &other| self.boxes[one].wave == self.boxes[other].wave);
        chunks.map(|chunk| (self.boxes[chunk[0]].wave, chunk.to_vec())).collect()
    }
}

/// The steps of each kind, counted as the summary of the plan counts them.
fn legend(plan: &Plan, visible: &VisibleSteps) -> Vec<LegendEntry> {
    let mut legend = Vec::new();
    for is_handler in [false, true] {
        for kind in BoxKind::ALL {
            let is = |id: &&PlanStepIndex| {
                let step = plan.step(**id);
                let is_turn = step.work == StepWork::Turn;
                step.is_handler == is_handler && BoxKind::of(plan, **id) == kind && !is_turn
            };
            let count = visible.steps.iter().filter(is).count();
            let text = match kind {
                BoxKind::Call => counted(count, "operation"),
                BoxKind::Delegate => counted(count, "delegation"),
                BoxKind::State => counted(count, "state"),
                BoxKind::Nothing => format!("{count} without operation"),
            };
            let suffix = if is_handler { " where a step fails" } else { "" };
            if count > 0 {
                legend.push(LegendEntry { kind, is_handler, text: format!("{text}{suffix}") });
            }
        }
    }
    legend
}

/// The state of a topology whose colours the steps of a part have: none unless one variant becomes
/// another.
fn look(plan: &Plan, part: Option<PlanPartIndex>) -> State {
    let part = part.filter(|_| !plan.changes.is_empty());
    match part.map(|part| plan.part(part).class) {
        None | Some(ChangeClass::Keep) => State::Plain,
        Some(ChangeClass::Add) => State::Added,
        Some(ChangeClass::Remove) => State::Removed,
        Some(_) => State::Changed,
    }
}

/// The box of a step.
pub(super) fn step_box(plan: &Plan, id: PlanStepIndex) -> PictureBox {
    let step = plan.step(id);
    let kind = BoxKind::of(plan, id);
    let written = step.activity.map(|(index, _)| &plan.workflow_steps[index as usize]);
    let name = step.element.map(|id| element(plan, id));
    // A step without an element is shown by its own name.
    let name = name.or_else(|| written.map(|written| written.name.as_str().into()));
    let is_empty = kind == BoxKind::Nothing && step.work != StepWork::Turn;
    let does = if is_empty && name.is_some() { "" } else { operation(plan, id) };
    let title = format!("{} {does}", name.unwrap_or_default()).trim().to_owned();
    let at = host(plan, step.host).map(|host| format!(" on {host}")).unwrap_or_default();
    let detail = match kind {
        BoxKind::Delegate => "by the orchestrator".to_owned(),
        BoxKind::Call => format!("{}{at}", implementation(plan, id)).trim().to_owned(),
        BoxKind::Nothing if is_empty && step.element.is_some() => "no operation".to_owned(),
        BoxKind::Nothing | BoxKind::State => String::new(),
    };
    let identifier = plan.identifier(id);
    let mut about = identifier.clone();
    if !detail.is_empty() {
        about.extend(["\n", &*detail]);
    }
    if let Some(state) = state_after(plan, id) {
        about.extend(["\nafterwards ", state]);
    }
    PictureBox {
        identifier,
        title,
        detail,
        about,
        kind,
        look: look(plan, step.part),
        is_handler: step.is_handler,
        wave: Some(step.wave.max(1)),
    }
}

fn piece_box(plan: &Plan, members: &[PlanStepIndex]) -> PictureBox {
    let first = plan.step(members[0]);
    let element = first.element.filter(|_| first.part.is_none());
    let owner = first.part.map_or(element, |part| plan.part(part).element);
    let name =
        owner.map_or_else(|| plan.workflow.as_str().into(), |id| super::words::element(plan, id));
    // If nodes both leave and come, the box says which of the two it is.
    let (kinds, kind) = (
        plan.parts.iter().map(|part: &PlanPart| part.kind),
        first.part.map(|part| plan.part(part).kind),
    );
    let is_mixed = kinds.clone().zip(kinds.skip(1)).any(|(one, other)| one != other);
    let title = match kind.filter(|_| is_mixed) {
        Some(kind) => format!("{name} {}", kind.as_str()),
        None => name.into_owned(),
    };
    let kinds = members.iter().map(|&id| BoxKind::of(plan, id));
    let detail = match members {
        [one] => operation(plan, *one).to_owned(),
        _ => counted(members.len(), "step"),
    };
    let identifier =
        first.part.map_or_else(|| plan.identifier(members[0]), |part| plan.part_identifier(part));
    let does: Vec<_> = members.iter().map(|&id| plan.identifier(id)).collect();
    PictureBox {
        about: format!("{identifier}\n{}", does.join("\n")),
        identifier,
        title,
        detail,
        kind: kinds.min_by_key(|kind| *kind as u8).unwrap_or(BoxKind::Nothing),
        look: look(plan, first.part),
        is_handler: first.is_handler,
        wave: None,
    }
}
