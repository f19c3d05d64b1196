//! Runs `cuvee quality`.

use super::args::QualityArgs;
use super::reporter::Reporter;
use super::{Outcome, answered, assign, select};
use cuvee::technology::TechnologyQuality;
use cuvee::technology::UnsupportedTechnology;

/// Prints how well the technologies of a plain template suit its nodes.
pub(crate) fn run(args: &QualityArgs, reporter: &Reporter) -> Outcome {
    let unsupported = match args.leave_out {
        true => UnsupportedTechnology::LeftOut,
        false => UnsupportedTechnology::Penalty(args.penalty),
    };
    let answer = select::resolver(&args.select)?.technology_quality(unsupported)?;
    answered(&answer, args.format, reporter, human)
}

fn human(quality: &TechnologyQuality) -> String {
    let mean = match (quality.weight, quality.quality) {
        (Some(weight), Some(label)) => format!("mean quality: {label} ({weight:.2})\n"),
        _ => "no node counts\n".to_owned(),
    };
    format!("{}{mean}", assign::table(&quality.nodes))
}
