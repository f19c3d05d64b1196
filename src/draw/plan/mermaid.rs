//! Writes a plan as a mermaid flowchart.

use super::picture::{BoxKind, PictureBox, PlanPicture};
use crate::draw::cut;
use crate::draw::mermaid::{LABEL, escaped, line, style};
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
    for kind in BoxKind::ALL {
        let is_there = picture.boxes.iter().any(|one| one.kind == kind);
        if let Some(style) = style(kind.look()).filter(|_| is_there) {
            line(&mut out, format_args!("classDef {} {style}", kind.as_str()));
        }
    }
    if picture.note.is_some() {
        line(&mut out, format_args!("classDef note fill:transparent,stroke:transparent"));
    }
    out
}

fn step(out: &mut String, index: usize, one: &PictureBox) {
    let detail = cut(&one.detail, LABEL);
    let detail = match &*detail {
        "" => detail,
        _ => format!("<br/><small>{}</small>", escaped(&detail)),
    };
    let (title, kind) = (escaped(&cut(&one.title, LABEL)), one.kind.as_str());
    line(out, format_args!("s{index}[\"<b>{title}</b>{detail}\"]:::{kind}"));
}
