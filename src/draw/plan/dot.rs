//! Writes a plan as a graph in DOT.

use super::picture::{BoxKind, PlanPicture};
use crate::draw::dot::{LABEL, escaped, line, line_color, node_colors};
use crate::draw::{State, cut};
use crate::orchestrate::plan::Plan;

/// A plan as a graph in DOT: each round is a cluster, and each dependency an arrow.
///
/// ```
/// use cuvee::deploy::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::output::draw::plan::dot(&plan).starts_with("digraph plan {\n"));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn dot(plan: &Plan) -> String {
    let picture = PlanPicture::of(plan);
    let mut out = String::from("digraph plan {\n");
    line(
        &mut out,
        format_args!(
            "graph [rankdir=TB, nodesep=0.4, ranksep=0.5, bgcolor=transparent, fontname=\"sans-serif\", fontsize=10]"
        ),
    );
    line(
        &mut out,
        format_args!(
            "node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=12, margin=\"0.2,0.1\"]"
        ),
    );
    line(&mut out, format_args!("edge [color=\"{}\"]", line_color(State::Plain)));
    if let Some(note) = &picture.note {
        line(&mut out, format_args!("graph [label=\"{}\", labelloc=t]", escaped(note)));
    }
    for (wave, members) in picture.waves() {
        if let Some(wave) = wave {
            out.push_str(&format!("    subgraph cluster_{wave} {{\n"));
            line(&mut out, format_args!("label=\"{wave}\"; labeljust=l; color=\"#d0d7de\""));
        }
        for index in members {
            let one = &picture.boxes[index];
            let texts = [&one.title, &one.detail].into_iter().filter(|text| !text.is_empty());
            let label = texts.map(|text| cut(text, LABEL)).collect::<Vec<_>>().join("\n");
            let label = escaped(&one.look.signed(&label));
            let (about, id) = (escaped(&one.about), escaped(&one.identifier));
            let (class, colors) = (one.classes(), node_colors(one.look));
            let border = match one.kind {
                BoxKind::Call | BoxKind::State => "",
                BoxKind::Delegate => ", peripheries=2",
                BoxKind::Nothing => ", style=\"rounded,dashed\"",
            };
            line(
                &mut out,
                format_args!(
                    "s{index} [label=\"{label}\", tooltip=\"{about}\", id=\"{id}\", class=\"{class}\", {colors}{border}]"
                ),
            );
        }
        if wave.is_some() {
            out.push_str("    }\n");
        }
    }
    for (wait, index) in &picture.edges {
        line(&mut out, format_args!("s{wait} -> s{index}"));
    }
    out.push_str("}\n");
    out
}
