//! Ends what a runner that was killed has left running: the scripts of the steps that it was at.
//! Otherwise these would run beside those of the next run.

use super::task::Task;
use std::fs;
use std::path::Path;

/// The file of a task's directory that has the number of its process group. It is gone with the
/// directory when the task has ended.
const FILE: &str = "group";

/// Notes the process group of a task. Without the note, nobody ends it after the runner is killed.
pub(super) fn note(task: &Task, group: u32) {
    let _ = fs::write(task.directory.join(FILE), format!("{group} {}", task.step));
}

/// Ends the process groups of the tasks that a runner of this instance has left in the directory of
/// its run. Gives their steps.
pub(super) fn end(directory: &Path, instance: &str) -> Vec<String> {
    let tasks = fs::read_dir(directory).into_iter().flatten().flatten();
    let noted = tasks.filter_map(|task| fs::read_to_string(task.path().join(FILE)).ok());
    let mut steps: Vec<String> = noted
        .filter_map(|noted| {
            let (group, step) = noted.split_once(' ')?;
            group::end(group.parse().ok()?, step, instance).then(|| step.to_owned())
        })
        .collect();
    steps.sort_unstable();
    steps
}

#[cfg(target_os = "linux")]
mod group {
    use crate::operate::process::{GRACE, LOOK};
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    use std::fs;
    use std::thread;
    use std::time::Instant;

    /// Ends a process group, first by asking. Tells whether it was that of the step: its number may
    /// mean another one by now.
    pub(super) fn end(number: i32, step: &str, instance: &str) -> bool {
        let Some(group) = Pid::from_raw(number).filter(|_| is_of(number, step, instance)) else {
            return false;
        };
        let _ = kill_process_group(group, Signal::TERM);
        let asked = Instant::now();
        while test_kill_process_group(group).is_ok() {
            if asked.elapsed() >= GRACE {
                let _ = kill_process_group(group, Signal::KILL);
                break;
            }
            thread::sleep(LOOK);
        }
        true
    }

    /// Whether the leader of the group was begun for this step.
    fn is_of(number: i32, step: &str, instance: &str) -> bool {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        let has = |variable: String| {
            environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
        };
        has(format!("CUVEE_STEP={step}")) && has(format!("CUVEE_INSTANCE={instance}"))
    }
}

/// Elsewhere nothing tells whether a number still means the same group, so none is ended.
#[cfg(not(target_os = "linux"))]
mod group {
    pub(super) fn end(_: i32, _: &str, _: &str) -> bool {
        false
    }
}
