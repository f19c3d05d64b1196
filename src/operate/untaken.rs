//! What other orchestrators do not take of a plan.

use super::kinds::Kinds;
use super::orchestrator::Orchestrator;
use super::plan::{RunStep, StepKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::InstanceModel;
use cuvee_text::value::{ReplacedPart, Value};
use std::path::Path;

/// A step that is to be handed over, with what it belongs to.
pub(super) struct HandedStep<'h> {
    pub(super) step: &'h RunStep,
    pub(super) to: &'h InstanceModel,
    pub(super) kinds: &'h Kinds,
}

/// What becomes of something that an orchestrator does not take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untaken {
    /// It is left out, and all else is done.
    LeftOut,
    /// Nothing is deployed, or not all of it.
    Refused,
}

/// Something that an orchestrator does not take.
struct UntakenPart {
    by: Orchestrator,
    becomes: Untaken,
    /// What is said of it: `opera` and then this.
    says: &'static str,
    is_in: fn(&HandedStep<'_>) -> bool,
}

/// All that is known not to be taken: found by trying opera 0.7.0 and unfurl 1.2.0.
const UNTAKEN: [UntakenPart; 11] = {
    use Orchestrator::{Opera, Unfurl};
    use Untaken::{LeftOut, Refused};
    const fn part(
        by: Orchestrator,
        becomes: Untaken,
        says: &'static str,
        is_in: fn(&HandedStep<'_>) -> bool,
    ) -> UntakenPart {
        UntakenPart { by, becomes, says, is_in }
    }
    [
        part(Opera, Refused, "runs nothing but Ansible playbooks", |it| it.is_program()),
        part(Opera, Refused, "does not know the function `get_operation_output`", |it| {
            it.asks_for_outputs()
        }),
        part(Opera, Refused, "finds attributes of other nodes by requirements alone", |it| {
            it.names_others()
        }),
        part(Opera, Refused, "reaches hosts by their attribute `public_address` alone", |it| {
            it.has_lost_host()
        }),
        part(Opera, LeftOut, "does not run this operation of relations", |it| {
            it.is_of_relation() && !it.is_configuring(&CONFIGURING)
        }),
        part(Opera, LeftOut, "does not heed timeouts", |it| it.has_timeout()),
        part(Unfurl, Refused, "runs no playbook that is an implementation by itself", |it| {
            it.is_playbook()
        }),
        part(Unfurl, Refused, "runs no implementation with dependencies or a timeout", |it| {
            it.has_dependencies() || it.has_timeout()
        }),
        part(Unfurl, Refused, "gets stuck at this operation of relations", |it| {
            it.is_of_relation() && !it.is_configuring(&CONFIGURING[2..])
        }),
        part(Unfurl, LeftOut, "gives a script no inputs", |it| !it.step.inputs.is_empty()),
        part(Unfurl, LeftOut, "takes no outputs of a script", |it| !it.step.outputs.is_empty()),
    ]
};

/// The operations of relations that configure their ends: of the source, then of the target.
const CONFIGURING: [&str; 4] = [
    "pre_configure_source",
    "post_configure_source",
    "pre_configure_target",
    "post_configure_target",
];

impl HandedStep<'_> {
    fn is_playbook(&self) -> bool {
        let Some(said) = &self.step.implementation else { return false };
        let is_yaml = |file: &String| {
            let extension = Path::new(file).extension().and_then(|it| it.to_str());
            matches!(extension, Some("yaml" | "yml"))
        };
        said.artifact_type.as_ref().is_some_and(|kind| kind.contains("Ansible"))
            || said.primary.as_ref().or(said.artifact.as_ref()).is_some_and(is_yaml)
    }

    fn is_program(&self) -> bool {
        self.step.kind == StepKind::Call && !self.is_playbook()
    }

    fn asks_for_outputs(&self) -> bool {
        self.calls(&|function, _| function == "get_operation_output")
    }

    /// Whether it asks for an attribute of a node that it names, or of its host.
    fn names_others(&self) -> bool {
        const FOUND: [&str; 3] = ["SELF", "SOURCE", "TARGET"];
        self.calls(&|function, operand| {
            let Value::List(path) = operand else { return false };
            let entity = path.first().and_then(Value::as_str);
            function == "get_attribute" && entity.is_some_and(|entity| !FOUND.contains(&entity))
        })
    }

    /// Whether its inputs call such a function with such an operand.
    fn calls(&self, is_it: &dyn Fn(&str, &Value) -> bool) -> bool {
        let mut is_called = false;
        for input in self.step.inputs.values() {
            input.value.replaced(&mut |part| {
                if let Value::Map(entries) = part
                    && let [(function, operand)] = &**entries
                {
                    is_called |= is_it(function, operand);
                }
                ReplacedPart::Within
            });
        }
        is_called
    }

    /// Whether it runs on a host whose attribute `public_address` nobody gives.
    fn has_lost_host(&self) -> bool {
        let host = self.step.host.as_deref().and_then(|host| host.strip_prefix("node."));
        let Some(host) = host.and_then(|host| self.to.nodes.get(host)) else { return false };
        let is_given = host.attributes.contains_key("public_address");
        !is_given && self.kinds.operations(&host.type_name).is_empty()
    }

    fn is_of_relation(&self) -> bool {
        self.step.target.as_deref().is_some_and(|target| target.starts_with("relation."))
    }

    fn is_configuring(&self, operations: &[&str]) -> bool {
        self.step.operation.as_deref().is_some_and(|operation| operations.contains(&operation))
    }

    fn has_timeout(&self) -> bool {
        self.step.implementation.as_ref().is_some_and(|said| said.timeout.is_some())
    }

    fn has_dependencies(&self) -> bool {
        self.step.implementation.as_ref().is_some_and(|said| !said.dependencies.is_empty())
    }
}

/// How many steps a message names.
const NAMED: usize = 3;

/// What an orchestrator does not take of these steps: errors where it refuses, warnings where it
/// leaves something out.
pub(super) fn untaken<'h>(by: Orchestrator, steps: &[HandedStep<'h>]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for part in UNTAKEN.iter().filter(|part| part.by == by) {
        let mut ids = steps.iter().filter(|it| (part.is_in)(it)).map(|it| &it.step.id).peekable();
        if ids.peek().is_none() {
            continue;
        }
        let shown: Vec<_> = ids.by_ref().take(NAMED).map(|id| format!("`{id}`")).collect();
        let more = match ids.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("{by} {}: {}{more}", part.says, shown.join(", "));
        found.push(match part.becomes {
            Untaken::Refused => Diagnostic::error(Code::NotTaken, message)
                .help("leave `--with` out, or name another orchestrator"),
            Untaken::LeftOut => Diagnostic::warning(Code::NotTaken, message),
        });
    }
    let delegated = |it: &&HandedStep<'h>| it.step.kind == StepKind::Delegate;
    let names: Vec<_> = steps.iter().filter(delegated).filter_map(|it| it.step.node()).collect();
    if !names.is_empty() {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let message =
            format!("{by} takes nodes without operations to be there: {}", names.join(", "));
        found.push(Diagnostic::warning(Code::NotTaken, message));
    }
    found
}
