//! Writes a plan as a mermaid flowchart.

use super::picture::{BoxKind, PictureBox, PlanPicture};
use crate::draw::mermaid::{LABEL, escaped, line, style};
use crate::draw::{State, cut};
use crate::orchestrate::plan::Plan;

/// A plan as a mermaid flowchart: each round is a subgraph, and each dependency an arrow.
///
/// ```
/// use cuvee::deploy::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::output::draw::plan::mermaid(&plan).starts_with("flowchart TB\n"));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn mermaid(plan: &Plan) -> String {
    let picture = PlanPicture::of(plan);
    let mut out = String::from("flowchart TB\n");
    if let Some(note) = &picture.note {
        line(&mut out, format_args!("note[\"{}\"]:::note", escaped(note)));
    }
    for (wave, members) in picture.waves() {
        if let Some(wave) = wave {
            line(&mut out, format_args!("subgraph wave{wave}[\"{wave}\"]"));
        }
        for index in members {
            step(&mut out, index, &picture.boxes[index]);
        }
        if wave.is_some() {
            line(&mut out, format_args!("end"));
        }
    }
    for (wait, index) in &picture.edges {
        line(&mut out, format_args!("s{wait} --> s{index}"));
    }
    let looks = [State::Added, State::Removed, State::Changed].map(|look| (look, look.as_str()));
    for (look, class) in looks.into_iter().chain([(State::Absent, IDLE)]) {
        if picture.boxes.iter().any(|one| class_of(one) == Some(class)) {
            line(&mut out, format_args!("classDef {class} {}", style(look)));
        }
    }
    if picture.note.is_some() {
        line(&mut out, format_args!("classDef note fill:transparent,stroke:transparent"));
    }
    out
}

/// The class of steps that have no operation.
const IDLE: &str = "nothing";

/// The class of a box, if it has a style of its own.
fn class_of(one: &PictureBox) -> Option<&'static str> {
    match one.look {
        State::Plain => (one.kind == BoxKind::Nothing).then_some(IDLE),
        look => Some(look.as_str()),
    }
}

fn step(out: &mut String, index: usize, one: &PictureBox) {
    let detail = cut(&one.detail, LABEL);
    let detail = match &*detail {
        "" => detail,
        _ => format!("<br/><small>{}</small>", escaped(&detail)),
    };
    let title = escaped(&one.look.signed(&cut(&one.title, LABEL)));
    let [open, close] = match one.kind {
        BoxKind::Call | BoxKind::Nothing => ["[", "]"],
        BoxKind::Delegate => ["[[", "]]"],
        BoxKind::State => ["([", "])"],
    };
    let class = class_of(one).map(|class| format!(":::{class}")).unwrap_or_default();
    line(out, format_args!("s{index}{open}\"<b>{title}</b>{detail}\"{close}{class}"));
}
