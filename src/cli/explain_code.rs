//! Runs `cuvee explain-code`.

use super::args::ExplainCodeArgs;
use super::{Outcome, output, rejected};
use cuvee::diagnostic::{Code, CodeExample};
use std::process::ExitCode;

const LEGEND: &str = "Wrong with the lines marked `-`, repaired with those marked `+`:";

/// Explains one code, or lists all of them.
pub(crate) fn run(args: &ExplainCodeArgs) -> Outcome {
    let text = args.code.map_or_else(list, explanation);
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Splits the description of a code into its meaning, which is the first sentence, and the advice.
pub(crate) fn parts(code: Code) -> (&'static str, &'static str) {
    let text = code.description();
    text.find(". ").map_or((text, ""), |end| (&text[..=end], text[end + 1..].trim_start()))
}

/// What is said of one code.
pub(crate) fn explanation(code: Code) -> String {
    let (meaning, advice) = parts(code);
    let gap = if advice.is_empty() { "" } else { "\n" };
    let shown = match code.example() {
        CodeExample::Repair(lines) => format!("{LEGEND}\n\n{lines}"),
        CodeExample::Instead(text) => text.to_owned(),
        // The enum is non-exhaustive, so the library may add variants later.
        _ => String::new(),
    };
    format!("{code}\n\n{meaning}\n{gap}{advice}{gap}\n{shown}")
}

fn list() -> String {
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or_default();
    Code::ALL.iter().map(|&code| format!("{:width$}  {}\n", code.as_str(), parts(code).0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole() {
        for &code in Code::ALL {
            let (meaning, advice) = parts(code);
            assert_eq!(format!("{meaning} {advice}").trim(), code.description());
            assert!(meaning.ends_with('.'), "{code}: {meaning}");
        }
    }

    #[test]
    fn lists_every_code_once() {
        let text = list();
        assert_eq!(text.lines().count(), Code::ALL.len());
        assert!(text.lines().zip(Code::ALL).all(|(line, code)| line.starts_with(code.as_str())));
    }

    #[test]
    fn explains_with_an_example() {
        let text = explanation(Code::CyclicType);
        let start = "cyclic-type\n\nA type derives from itself.\n\nBreak the cycle that the message names.\n\nWrong ";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("\n-  Shop: {derived_from: TeaShop}\n+  Shop: "), "{text}");
        let text = explanation(Code::UnknownPreset);
        assert!(text.contains("\n\nA variability preset does not exist.\n\nWrong "), "{text}");
        assert!(!explanation(Code::Unproven).contains("Wrong"));
    }
}
