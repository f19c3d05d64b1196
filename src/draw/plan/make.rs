//! Writes a plan as a makefile: `make -j` runs independent steps in parallel and keeps the order of
//! the others.

use super::visible::VisibleSteps;
use super::words::{implementation, operation};
use crate::diagnostic::Diagnostic;
use crate::orchestrate::plan::{
    CallInput, DecidedConditions, Guard, KnownCondition, Plan, PlanStepIndex,
};
use crate::tosca::digest::sha256;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// A plan as a makefile. A target is a step, and its prerequisites are the steps that it waits for.
/// `RUN` is called with the element, the operation, the implementation, and the inputs. A step that
/// was done leaves a stamp and is not run again. Steps whose conditions are known not to hold are
/// not run. Sensitive values are taken from environment variables, unless `reveal` is set.
///
/// ```
/// use cuvee::deploy::plan::{PlanQuery, StartStates, decide};
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// let conditions = decide(&plan, &StartStates::default()).unwrap();
/// assert!(cuvee::output::draw::plan::make(&plan, &conditions, false).contains("\nclean-stamps:\n"));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn make(plan: &Plan, conditions: &DecidedConditions, reveal: bool) -> String {
    let visible = VisibleSteps::of(plan);
    let targets: Vec<_> =
        visible.steps.iter().map(|&id| target_name(&plan.identifier(id))).collect();
    let is_refused = !conditions.refused.is_empty();
    let mut secrets = Secrets { numbers: FxHashMap::default(), about: Vec::new(), reveal };
    let mut rules = String::new();
    for (index, &id) in visible.steps.iter().enumerate() {
        let waits = visible.after[index].iter().map(|&wait| &*targets[wait]);
        let first = (is_refused && visible.after[index].is_empty()).then_some(PRECONDITIONS);
        let known = conditions.steps.get(id.index()).copied().unwrap_or(KnownCondition::Unknown);
        guards(plan, id, known, &mut rules);
        rule(&mut rules, &targets[index], first.into_iter().chain(waits));
        let recipe = recipe(plan, id, &mut secrets).filter(|_| known != KnownCondition::Unmet);
        if let Some(recipe) = recipe {
            let stamp = stamp_name(index, &targets[index]);
            line(
                &mut rules,
                format_args!("\t@$(call unless,{stamp}) {recipe}$(call then,{stamp})"),
            );
        }
    }
    let goal = goal(plan);
    let wanted = targets.iter().zip(&visible.steps).filter(|(_, id)| !plan.step(**id).is_handler);
    let wanted = wanted.map(|(target, _)| &**target);
    let mut out = secrets.head(plan);
    out.push_str(&stamps(&rules));
    for guard in plan.preconditions.iter().filter(|_| conditions.is_unsure) {
        line(&mut out, format_args!("# Only if `{}`.", condition(guard)));
    }
    rule(&mut out, &goal, is_refused.then_some(PRECONDITIONS).into_iter().chain(wanted));
    let own = [&*goal, CLEAN, PRECONDITIONS].into_iter();
    rule(&mut out, ".PHONY", own.chain(targets.iter().map(|one| &**one)));
    out.push_str(&format!("{CLEAN}:\n\t@rm -rf $(stamps)/plan-????????????????\n"));
    if is_refused {
        refuse(&conditions.refused, &mut out);
    }
    out.push_str(&rules);
    out
}

/// The target that removes all stamps.
const CLEAN: &str = "clean-stamps";

/// The target that fails because preconditions do not hold. No step has such a name.
const PRECONDITIONS: &str = "+preconditions";

/// Writes the target that says which preconditions do not hold, and fails.
fn refuse(refused: &[Diagnostic], out: &mut String) {
    rule(out, PRECONDITIONS, std::iter::empty());
    let said = refused.iter().map(|found| quoted(&remark(&found.message)));
    let said: Vec<_> = said.collect();
    line(out, format_args!("\t@printf '%s\\n' {} >&2; exit 1", said.join(" ")));
}

/// The target of the whole plan.
fn goal(plan: &Plan) -> String {
    match target_name(&plan.workflow) {
        // The first letter is written like a special character, so the name is still unique.
        name if name == CLEAN => format!("+63{}", &name[1..]),
        name => name,
    }
}

/// The name of the file that says that a step was done. It is unique by its number, and no longer
/// than file systems allow.
fn stamp_name(index: usize, target: &str) -> String {
    const LONGEST: usize = 200;
    let mut name = format!("{:04}-{}", index + 1, target.replace('/', "+2F"));
    let end = (0..=LONGEST.min(name.len())).rev().find(|&end| name.is_char_boundary(end));
    name.truncate(end.unwrap_or_default());
    name
}

/// The variables and the target for stamps. Stamps of another plan do not count: they are in a
/// directory that is called by the rules.
fn stamps(rules: &str) -> String {
    let digest = sha256(rules.as_bytes());
    let plan = digest.get(..16).unwrap_or_default();
    format!(
        "\
CUVEE_MAKEFILE := $(lastword $(MAKEFILE_LIST))
CUVEE_STAMPS ?= $(CUVEE_MAKEFILE).stamps
stamps = '$(subst ','\\'',$(CUVEE_STAMPS))'
ifdef RUN
unless = test -e $(stamps)/plan-{plan}/$(1) || {{
then = && mkdir -p $(stamps)/plan-{plan} && : >$(stamps)/plan-{plan}/$(1); }}
else
RUN = echo
endif

"
    )
}

fn line(out: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{content}");
}

/// Writes a target with its prerequisites, broken into readable lines.
fn rule<'t>(out: &mut String, target: &str, waits: impl Iterator<Item = &'t str>) {
    let mut waits: Vec<_> = waits.collect();
    waits.insert(0, "");
    let separator = if waits.len() > 4 { " \\\n  " } else { " " };
    line(out, format_args!("{target}:{}", waits.join(separator)));
}

/// Writes conditions that are not met or unknown as comments.
fn guards(plan: &Plan, id: PlanStepIndex, known: KnownCondition, out: &mut String) {
    out.push('\n');
    if plan.step(id).is_handler {
        line(out, format_args!("# Only where another step fails."));
    }
    let which = match known {
        KnownCondition::Met => return,
        KnownCondition::Unmet => "Not run, unless",
        KnownCondition::Unknown => "Only if",
    };
    for guard in plan.guards(id) {
        line(out, format_args!("# {which} `{}`.", condition(guard)));
    }
}

/// A condition for a comment.
fn condition(guard: &Guard) -> String {
    remark(&write_flow(&guard.condition))
}

/// The command of a step for the shell; `None` if the step only waits.
fn recipe(plan: &Plan, id: PlanStepIndex, secrets: &mut Secrets) -> Option<String> {
    let step = plan.step(id);
    if !step.is_run() {
        return None;
    }
    let element = step.element.map(|element| &*plan.element(element).identifier);
    let words = [element.unwrap_or(&plan.workflow), operation(plan, id), implementation(plan, id)];
    let mut line = String::from("$(RUN)");
    words.iter().for_each(|word| line.extend([" ", &quoted(word)]));
    for input in plan.call_of(id).into_iter().flat_map(|call| &call.inputs) {
        let value = secrets.value(input, || plan.identifier(id));
        line.extend([" ", &quoted(&format!("{}=", input.name)), &value]);
    }
    let has_breaks = line.contains(LINE_BREAK);
    Some(if has_breaks { format!("{SET_LINE_BREAK}{line}") } else { line })
}

/// The environment variables for sensitive values.
struct Secrets {
    /// The numbers of the variables, by the text of the value.
    numbers: FxHashMap<String, usize>,
    /// A description of each variable.
    about: Vec<String>,
    reveal: bool,
}

impl Secrets {
    /// The value of an input for the shell. Equal values share one variable.
    fn value(&mut self, input: &CallInput, step: impl FnOnce() -> String) -> String {
        let text = text(&input.value);
        if self.reveal || !input.is_sensitive {
            return quoted(&text);
        }
        let next = self.about.len() + 1;
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.about.push(format!("`{}` of `{}`", remark(&input.name), remark(&step())));
        }
        // If the variable is not set, the shell reports an error and fails.
        format!("\"$${{SECRET_{number}?}}\"")
    }

    /// The comments and variables above all rules.
    fn head(&self, plan: &Plan) -> String {
        let mut out = String::new();
        line(
            &mut out,
            format_args!(
                "# `make -j RUN=./run.sh` runs the workflow `{}`:",
                remark(&plan.workflow)
            ),
        );
        line(&mut out, format_args!("# ./run.sh ELEMENT OPERATION IMPLEMENTATION NAME=VALUE..."));
        for (index, about) in self.about.iter().enumerate() {
            line(&mut out, format_args!("# From the environment: SECRET_{}, {about}.", index + 1));
        }
        line(
            &mut out,
            format_args!(
                "# What is done has a stamp in CUVEE_STAMPS and is not run again; `make {CLEAN}` removes the stamps."
            ),
        );
        out
    }
}

/// A value as text for a command: strings as they are, lists and maps as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        // Lists and maps can always be serialised.
        Value::List(_) | Value::Map(_) => serde_json::to_string(value).unwrap_or_default(),
        other => write_flow(other),
    }
}

/// A text for a comment, which ends with its line. The caller must not let it end with a backslash.
fn remark(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The name of a target. It is unique for each identifier, and make interprets none of its
/// characters.
fn target_name(identifier: &str) -> String {
    let mut name = String::with_capacity(identifier.len());
    for (index, c) in identifier.char_indices() {
        let is_plain = matches!(c, '_' | '/' | '@' | '-') || c == '.' && index > 0;
        if is_plain || c.is_alphanumeric() {
            name.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string does not fail.
                let _ = write!(name, "+{byte:02X}");
            }
        }
    }
    name
}

/// A line of a recipe is a whole command, even within quotes, so line breaks come from a shell
/// variable.
const LINE_BREAK: &str = "'\"$$n\"'";
const SET_LINE_BREAK: &str = "n=$$(printf '\\nx'); n=$${n%x}; ";

/// A word of a recipe, with all characters that make or the shell interpret in quotes. Zero bytes
/// are dropped, because no command can receive them.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@-+,:=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("'\\''"),
            '$' => out.push_str("$$"),
            '\n' => out.push_str(LINE_BREAK),
            '\0' => {}
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn names_of_targets_are_harmless_and_differ() {
        assert_eq!(target_name("node.shop/create"), "node.shop/create");
        assert_eq!(target_name("relation.db@0.node.a b:%"), "relation.db@0.node.a+20b+3A+25");
        assert_eq!(target_name(".PHONY"), "+2EPHONY");
        assert_ne!(target_name("a b"), target_name("a+20b"));
    }

    /// Commands receive exactly the given values; make and the shell are run to check that.
    #[test]
    fn commands_are_told_what_is_quoted() {
        let values = [
            "",
            "plain",
            "two words",
            "it's",
            "\"double\"",
            "$HOME $$ $(shell id) ${x}",
            "`id`",
            "a\nb",
            "\n",
            "ends\n\n",
            "\n\t-@+tabs",
            "back\\slash\\",
            "#no comment",
            "a=b;c&d|e>f<g",
            "*?[a]~!{x,y}",
            "\r\n",
            "é→😀",
            "%",
            "--help",
            "\\\n\\",
        ];
        let directory = tempfile::tempdir().unwrap();
        for value in values {
            let word = quoted(value);
            let set = if word.contains(LINE_BREAK) { SET_LINE_BREAK } else { "" };
            let file = directory.path().join("Makefile");
            std::fs::write(&file, format!("all:\n\t@{set}printf '%s' x{word}\n")).unwrap();
            let output = Command::new("make").arg("-f").arg(&file).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("x{value}"), "{word}");
        }
    }
}
