//! Completes values that have names: those in the template on the command line, and those of this
//! program.

use super::super::streams::CommandFiles;
use super::Completion;
use super::line::Line;
use clap::{Arg, Command};
use cuvee::Resolver;
use cuvee::diagnostic::Code;
use cuvee::explore::Names;
use cuvee::options;
use cuvee::parts::yaml::write_flow;
use std::path::Path;

/// The kind of name that the value of an argument has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedValue {
    /// Presets, separated by commas.
    Presets,
    /// Presets or files of inputs, separated by commas.
    Choice,
    /// An input and its value.
    Input,
    /// An option and its value.
    Option,
    Edition,
    Element,
    Type,
    Code,
    Command,
}

impl NamedValue {
    /// The kind of names of an argument. Returns nothing if its values have no names.
    pub(super) fn of(command: &Command, argument: &Arg) -> Option<Self> {
        match (command.get_name(), argument.get_id().as_str()) {
            (_, "presets") => Some(Self::Presets),
            ("diff" | "graph" | "plan", "from" | "to") => Some(Self::Choice),
            (_, "inputs") => Some(Self::Input),
            (_, "set") => Some(Self::Option),
            (_, "edition") => Some(Self::Edition),
            ("explain", "element") => Some(Self::Element),
            ("types", "name") => Some(Self::Type),
            ("explain-code", "code") => Some(Self::Code),
            ("man", "command") => Some(Self::Command),
            _ => None,
        }
    }

    /// All candidates that begin with the typed text. Others may be among them.
    pub(super) fn candidates(
        self,
        root: &Command,
        line: &Line<'_>,
        typed: &str,
    ) -> Vec<Completion> {
        match self {
            Self::Presets => presets(line, typed),
            Self::Choice => {
                let mut found = presets(line, typed);
                found.push(Completion::paths("files"));
                found
            }
            Self::Input => inputs(line, typed),
            Self::Option => option_values(typed),
            Self::Edition => options::editions().map(|name| Completion::new(name, "")).collect(),
            Self::Element => {
                let elements = names(line).elements;
                elements.into_iter().map(|element| Completion::new(element, "")).collect()
            }
            Self::Type => types(line),
            Self::Code => Code::ALL
                .iter()
                .map(|code| Completion::new(code.as_str(), first_sentence(code.description())))
                .collect(),
            Self::Command => commands(root),
        }
    }
}

/// The resolver for the template on the command line, if that is a file or a directory. A pipe is
/// not read, because completion must not wait.
fn resolver(line: &Line<'_>) -> Option<Resolver> {
    let given = |id: &'static str| {
        line.given.iter().filter(move |(of, _)| of.get_id() == id).map(|(_, value)| value)
    };
    let template = given("template").chain(given("templates")).next().map(Path::new)?;
    if !template.is_file() && !template.is_dir() {
        return None;
    }
    let mut resolver = Resolver::new(template).files(CommandFiles);
    for (url, path) in given("mappings").filter_map(|mapping| mapping.rsplit_once('=')) {
        resolver = resolver.map(url, path);
    }
    let asks = line.given.iter().any(|(of, _)| of.get_id() == "non_normative");
    Some(if asks { resolver.non_normative_types() } else { resolver })
}

fn names(line: &Line<'_>) -> Names {
    resolver(line).and_then(|resolver| resolver.names().ok()).unwrap_or_default()
}

/// Completes the last preset in a list, without those that the list has already.
fn presets(line: &Line<'_>, typed: &str) -> Vec<Completion> {
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let taken: Vec<_> = before.split(',').collect();
    let presets = names(line).presets.into_iter();
    presets
        .filter(|preset| !taken.contains(&&*preset.name))
        .map(|preset| {
            let word = format!("{before}{}", preset.name);
            Completion::new(word, preset.description.unwrap_or_default())
        })
        .collect()
}

fn inputs(line: &Line<'_>, typed: &str) -> Vec<Completion> {
    let inputs = names(line).inputs;
    let Some((name, _)) = typed.split_once('=') else {
        let named = |input: cuvee::explore::NamedInput| {
            Completion::new(format!("{}=", input.name), input.description.unwrap_or_default())
        };
        return inputs.into_iter().map(named).collect();
    };
    let values = inputs.into_iter().filter(|input| input.name == name).flat_map(|of| of.values);
    values
        .filter_map(|case| Some((write_flow(case.value.as_ref()?), case.label)))
        .map(|(value, label)| {
            let meaning = if value == label { String::new() } else { label };
            Completion::new(format!("{name}={value}"), meaning)
        })
        .collect()
}

fn option_values(typed: &str) -> Vec<Completion> {
    match typed.split_once('=') {
        None => options::known()
            .map(|option| Completion::new(format!("{}=", option.name), option.description))
            .collect(),
        Some((name, _)) => options::known()
            .filter(|option| option.name == name)
            .flat_map(|option| option.values)
            .map(|value| Completion::new(format!("{name}={value}"), ""))
            .collect(),
    }
}

fn types(line: &Line<'_>) -> Vec<Completion> {
    let answer = resolver(line).and_then(|resolver| resolver.types().ok());
    let types = answer.map(|answer| answer.result.types).unwrap_or_default();
    types.into_iter().map(|of| Completion::new(of.name, of.family.noun())).collect()
}

/// The subcommands of a command.
pub(super) fn commands(root: &Command) -> Vec<Completion> {
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
    commands
        .map(|command| {
            let about = command.get_about().map(ToString::to_string);
            Completion::new(command.get_name(), about.unwrap_or_default())
        })
        .collect()
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..end])
}
