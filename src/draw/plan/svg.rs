//! Draws a plan as SVG, with our own layout.

use super::picture::{BoxKind, LegendEntry, PictureBox, PlanPicture};
use crate::draw::State;
use crate::draw::layout::frame::LayoutFrames;
use crate::draw::layout::{LayoutEdge, Point, Size, layout};
use crate::draw::svg::{
    BOX_HEIGHT, BoxLabel, DrawnLine, Ink, LEGEND_SIZE, Legend, Length, MARGIN, Sample, draw_sign,
    text_width,
};
use crate::orchestrate::plan::Plan;
use cuvee_text::xml::XmlText;

/// A plan as SVG: each step is below the steps that it waits for. Groups have the class `step` and
/// the class of their kind; `data-id` is the identifier.
///
/// ```
/// use cuvee::deploy::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::output::draw::plan::svg(&plan).contains("data-id=\"node.shop/create\""));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn svg(plan: &Plan) -> String {
    let picture = PlanPicture::of(plan);
    let labels: Vec<_> =
        picture.boxes.iter().map(|one| BoxLabel::of(&one.title, &one.detail)).collect();
    let size = |label: &BoxLabel| Size { width: label.width, height: BOX_HEIGHT };
    let sizes: Vec<_> = labels.iter().map(size).collect();
    let edge = |&(source, target): &(usize, usize)| {
        // A step is below what it waits for, in the same way as a host is below the nodes it hosts.
        LayoutEdge { source, target, hosting: true, fork: None }
    };
    let edges: Vec<_> = picture.edges.iter().map(edge).collect();
    let layout = layout(&sizes, &edges, &LayoutFrames::default());
    let note = picture.note.as_deref().unwrap_or_default();
    let above = if note.is_empty() { 0.0 } else { MARGIN };
    let legend = legend(&picture);
    let widest = layout.size.width.max(text_width(note, LEGEND_SIZE)).max(legend.width);
    let height = layout.size.height + above + legend.height();
    let drawn = Size { width: widest + 2.0 * MARGIN, height: height + 2.0 * MARGIN };
    let mut ink = Ink::default();
    ink.open(drawn, "Plan", true);
    if !note.is_empty() {
        ink.text("word", Point { x: MARGIN, y: MARGIN }, note);
    }
    let (x, y) = ((drawn.width - layout.size.width) / 2.0, MARGIN + above);
    ink.put(format_args!("<g transform=\"translate({} {})\">\n", Length(x), Length(y)));
    let routes = layout.routes.iter().zip(&layout.forks);
    for (edge, (route, &fork)) in picture.edges.iter().zip(routes) {
        draw_wait(&mut ink, &picture, *edge, &DrawnLine::along(route, fork, true));
    }
    for (index, one) in picture.boxes.iter().enumerate() {
        draw_box(&mut ink, one, &labels[index], layout.centres[index]);
    }
    ink.put(format_args!("</g>\n"));
    legend.draw(&mut ink, Point { x: MARGIN, y: MARGIN + above + layout.size.height });
    ink.close()
}

/// The legend: the kinds of boxes, with the number of steps of each, and what becomes of elements.
fn legend(picture: &PlanPicture) -> Legend {
    let mut legend = Legend::default();
    for LegendEntry { kind, is_handler, text } in &picture.legend {
        let handler = if *is_handler { " handler" } else { "" };
        let class = format!("step {}{handler} node plain", kind.as_str());
        legend.add(Sample::Box(class), text);
    }
    let looks = [(State::Added, "added"), (State::Removed, "removed"), (State::Changed, "changed")];
    for (look, text) in looks {
        if picture.boxes.iter().any(|one| one.look == look) {
            legend.add(Sample::State(look), text);
        }
    }
    if !picture.edges.is_empty() {
        legend.add(Sample::Line("wait"), "comes before");
    }
    legend
}

fn draw_wait(ink: &mut Ink, picture: &PlanPicture, (from, to): (usize, usize), line: &DrawnLine) {
    let (from, to) = (&picture.boxes[from].identifier, &picture.boxes[to].identifier);
    ink.put(format_args!(
        "<g class=\"relation wait plain\"><title>{} → {}</title>",
        XmlText(from),
        XmlText(to)
    ));
    ink.put(format_args!("<path class=\"line\" d=\"{}\"/>", line.path));
    ink.put(format_args!("<path class=\"head\" d=\"{}\"/></g>\n", line.head));
}

fn draw_box(ink: &mut Ink, one: &PictureBox, label: &BoxLabel, centre: Point) {
    let (classes, id) = (one.classes(), XmlText(&one.identifier));
    ink.put(format_args!("<g class=\"{classes}\" data-id=\"{id}\">"));
    ink.put(format_args!("<title>{}</title>", XmlText(&one.about)));
    let size = Size { width: label.width, height: BOX_HEIGHT };
    let corner = Point { x: centre.x - size.width / 2.0, y: centre.y - size.height / 2.0 };
    ink.rect("box", corner, size, if one.kind == BoxKind::State { 24.0 } else { 8.0 });
    if one.kind == BoxKind::Delegate {
        let inner = Size { width: size.width - 7.0, height: size.height - 7.0 };
        ink.rect("inner", Point { x: corner.x + 3.5, y: corner.y + 3.5 }, inner, 5.0);
    }
    label.draw(ink, centre);
    if !one.look.sign().is_empty() {
        draw_sign(ink, one.look, Point { x: corner.x + size.width - 4.0, y: corner.y + 4.0 }, "");
    }
    ink.put(format_args!("</g>\n"));
}
