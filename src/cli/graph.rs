//! Runs `cuvee graph`.

use super::args::{ChooseArgs, DrawingFormat, GraphArgs};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, json, output, rejected, select, stored};
use cuvee::output::draw::{Drawing, Svg};
use cuvee::{Failure, Resolution, Resolver};
use std::process::ExitCode;

/// Draws the topology, optionally with a variant or the difference between two.
pub(crate) fn run(args: &GraphArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    let resolver = select::resolver(&args.select)?.files(read.clone()).load()?;
    let outline = resolver.outline()?;
    let resolve = |resolver: &Resolver| -> Result<Resolution, Failure> {
        let variant = resolver.resolve()?;
        reporter.report(variant.warnings(), variant.source_map());
        Ok(variant)
    };
    let drawing = if let Some(source) = &args.state {
        let model = stored::model_of(source, args.store.as_deref())?;
        Drawing::of_instance(&outline, &model)
    } else if !args.compare_to.is_empty() {
        let first = resolve(&resolver)?;
        let second = resolver.only_presets(&args.compare_to).resolve()?;
        // Most warnings concern both variants, and are reported once.
        let news: Vec<_> = second
            .warnings()
            .iter()
            .filter(|warning| !first.warnings().contains(warning))
            .cloned()
            .collect();
        reporter.report(&news, second.source_map());
        let only = |presets: &[String]| match presets {
            [] => "only without a preset".to_owned(),
            _ => format!("only with {}", presets.join(", ")),
        };
        Drawing::of_difference(&outline, &first, &second)
            .named(only(&args.select.choose.presets), only(&args.compare_to))
    } else if args.present_only || chooses(&args.select.choose) {
        Drawing::of_variant(&outline, &resolve(&resolver)?)
    } else {
        Drawing::of(&outline)
    };
    let drawing = if args.present_only { drawing.without_absent() } else { drawing };
    let text = match args.format {
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

/// Whether the command line chooses a variant.
fn chooses(choose: &ChooseArgs) -> bool {
    !(choose.presets.is_empty() && choose.inputs_files.is_empty() && choose.inputs.is_empty())
}
