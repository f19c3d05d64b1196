//! Chooses the program that runs the implementation of an operation.

use super::plan::PlannedImplementation;
use crate::diagnostic::{Code, Diagnostic};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A program that runs implementations, with its first arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// The program and its arguments. The implementation comes behind them.
    pub command: Vec<String>,
    /// How inputs and outputs are handed over.
    pub protocol: Protocol,
}

/// How inputs reach an implementation, and outputs come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// By environment variables and the files that these name.
    #[default]
    Environment,
    /// By extra variables of a playbook; outputs come from `set_stats`.
    Ansible,
}

/// The programs that run implementations: those that are built in, and those of the caller.
#[derive(Clone, Debug, Default)]
pub struct Runners {
    /// Types of artifacts, or extensions such as `.tf`, each with its command.
    pub added: Vec<(String, Vec<String>)>,
}

const BASH: &str = "tosca.artifacts.Implementation.Bash";
const PYTHON: &str = "tosca.artifacts.Implementation.Python";

impl Runner {
    fn of(command: &[&str]) -> Self {
        let command = command.iter().map(|&word| word.to_owned()).collect();
        Self { command, protocol: Protocol::Environment }
    }

    fn ansible() -> Self {
        // Variables follow the playbook, so no file of inputs is taken for one.
        let command = ["ansible-playbook", "-i", "localhost,", "-c", "local"];
        Self { protocol: Protocol::Ansible, ..Self::of(&command) }
    }

    /// The name of the program.
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }
}

impl Runners {
    /// The runner of an implementation: by the type of its artifact, else by the extension of its
    /// file, else by the first line of its text.
    ///
    /// # Errors
    /// `no-runner` if nothing says what runs it.
    pub(super) fn of(
        &self,
        said: &PlannedImplementation,
        file: &str,
        text: &[u8],
        derives: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Runner, Diagnostic> {
        let by_type = said.artifact_type.as_deref().and_then(|kind| self.by_type(kind, derives));
        let by_extension = || self.by_extension(Path::new(file).extension()?.to_str()?);
        by_type.or_else(by_extension).or_else(|| by_first_line(text)).ok_or_else(|| {
            let message = format!("nothing says which program runs `{file}`");
            let help = "begin the file with `#!` and a program, give its artifact a type, or name one: `--runner TYPE=COMMAND`, `--runner .EXTENSION=COMMAND`";
            Diagnostic::error(Code::NoRunner, message).help(help)
        })
    }

    fn by_type(&self, kind: &str, derives: &dyn Fn(&str, &str) -> bool) -> Option<Runner> {
        let own = self.added.iter().find(|(name, _)| derives(kind, name));
        if let Some((_, command)) = own {
            return Some(Runner { command: command.clone(), protocol: Protocol::Environment });
        }
        if derives(kind, BASH) {
            return Some(Runner::of(&["bash"]));
        }
        if derives(kind, PYTHON) {
            return Some(Runner::of(&["python3"]));
        }
        kind.contains("Ansible").then(Runner::ansible)
    }

    fn by_extension(&self, extension: &str) -> Option<Runner> {
        let is_it = |name: &str| name.strip_prefix('.') == Some(extension);
        let own = self.added.iter().find(|(name, _)| is_it(name));
        if let Some((_, command)) = own {
            return Some(Runner { command: command.clone(), protocol: Protocol::Environment });
        }
        match extension {
            "sh" => Some(Runner::of(&["bash"])),
            "py" => Some(Runner::of(&["python3"])),
            "yml" | "yaml" => Some(Runner::ansible()),
            _ => None,
        }
    }
}

/// The program in a first line such as `#!/usr/bin/env python3`.
fn by_first_line(text: &[u8]) -> Option<Runner> {
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim();
    // As the system reads it: all behind the program is one argument, which `env` takes apart.
    let (program, argument) = match line.split_once(char::is_whitespace) {
        Some((program, argument)) => (program, Some(argument.trim())),
        None => (line, None),
    };
    let words: Vec<_> = [program].into_iter().chain(argument).collect();
    (!program.is_empty()).then(|| Runner::of(&words))
}

/// The path of an installed program; `None` if it is not installed.
pub(super) fn installed(program: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| path.is_file();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(is_program);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let names = |directory: PathBuf| {
        let extensions = if cfg!(windows) { &["", ".exe", ".bat", ".cmd"][..] } else { &[""] };
        let mut names = extensions.iter().map(move |end| directory.join(format!("{program}{end}")));
        names.find(is_program)
    };
    env::split_paths(OsStr::new(&path)).find_map(names)
}

/// The advice on how to install a missing program.
pub(super) fn how_to_install(program: &str) -> String {
    match program {
        "ansible-playbook" => "install it: `pip install ansible-core`".to_owned(),
        "opera" | "unfurl" => format!("install it: `pip install {program}`"),
        "bash" | "python3" => format!("install it: `apt-get install {program}`"),
        "ssh" | "scp" => "install it: `apt-get install openssh-client`".to_owned(),
        other => format!("install `{other}`, or put its directory into `PATH`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(kind: Option<&str>, file: &str, text: &str) -> Option<String> {
        let said =
            PlannedImplementation { artifact_type: kind.map(str::to_owned), ..Default::default() };
        let runners = Runners { added: vec![(".tf".to_owned(), vec!["terraform".to_owned()])] };
        let runner = runners.of(&said, file, text.as_bytes(), &|one, other| one == other);
        runner.ok().map(|runner| runner.command.join(" "))
    }

    #[test]
    fn types_count_before_extensions_and_these_before_first_lines() {
        assert_eq!(program(Some(PYTHON), "a.sh", "#!/bin/sh").unwrap(), "python3");
        assert_eq!(program(None, "a.sh", "#!/bin/dash").unwrap(), "bash");
        assert_eq!(program(None, "a.tf", "").unwrap(), "terraform");
        assert_eq!(
            program(None, "a", "#!/usr/bin/env -S perl -w\nx").unwrap(),
            "/usr/bin/env -S perl -w"
        );
        assert!(program(Some("my.Ansible"), "a", "").unwrap().starts_with("ansible-playbook"));
        assert_eq!(program(None, "a", "echo"), None);
    }
}
