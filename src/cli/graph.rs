//! Runs `cuvee graph`.

use super::args::{ChooseArgs, DrawingFormat, GraphArgs};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, diff, format, json, output, rejected, select, stored};
use cuvee::output::draw::{Drawing, Svg};
use std::process::ExitCode;

/// Draws the topology, optionally with a variant or the difference between two.
pub(crate) fn run(args: &GraphArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let format = format::chosen(args.format, args.output.as_deref())?;
    let read = ReadFiles::default();
    let resolver = select::resolver(&args.select)?.files(read.clone()).load()?;
    let outline = resolver.outline()?;
    let sides = [args.from.as_deref(), args.to.as_deref()];
    let choose = &args.select.choose;
    let drawing = if let Some(source) = &args.state {
        let model = stored::model_of(source, args.store.as_deref())?;
        Drawing::of_instance(&outline, &model)
    } else if sides != [None, None] {
        let both = diff::both(&resolver, sides, reporter);
        let Some([first, second]) = both else { return Ok(ExitCode::FAILURE) };
        let [removed, added] = sides.map(|side| only(choose, side));
        Drawing::of_difference(&outline, &first, &second).named(removed, added)
    } else if args.present_only || chooses(choose) {
        let variant = resolver.resolve()?;
        reporter.report(variant.warnings(), variant.source_map());
        Drawing::of_variant(&outline, &variant)
    } else {
        Drawing::of(&outline)
    };
    let drawing = if args.present_only { drawing.without_absent() } else { drawing };
    let text = match format.unwrap_or(DrawingFormat::Mermaid) {
        DrawingFormat::Mermaid => drawing.to_mermaid(),
        DrawingFormat::Dot => drawing.to_dot(),
        DrawingFormat::Svg if drawing.is_large() && !args.expand => {
            drawing.collapsed().to_svg(&Svg::default())
        }
        DrawingFormat::Svg => drawing.to_svg(&Svg::default()),
        // Texts and numbers always serialise.
        DrawingFormat::Json => json(&drawing),
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// What a node is that only one of two variants has.
fn only(choose: &ChooseArgs, side: Option<&str>) -> String {
    let side = side.into_iter().flat_map(|names| names.split(','));
    let names: Vec<_> = choose.presets.iter().map(String::as_str).chain(side).collect();
    match names.is_empty() {
        true => "only without a preset".to_owned(),
        false => format!("only with {}", names.join(", ")),
    }
}

/// Whether the command line chooses a variant.
fn chooses(choose: &ChooseArgs) -> bool {
    !(choose.presets.is_empty() && choose.inputs_files.is_empty() && choose.inputs.is_empty())
}
