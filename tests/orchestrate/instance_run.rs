//! Tests runs of plans that end in any way: killed at random moments, stopped, two at once, and with
//! scripts that do what no script should. What was recorded is compared with what scripts did.

#![cfg(all(unix, feature = "cli"))]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A directory with a template of nodes whose operations call `script.sh`.
struct Trial {
    directory: tempfile::TempDir,
}

impl Trial {
    /// Nodes in rows of four, of which each needs the one before, with three operations each.
    fn new(nodes: usize, script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let node = |at: usize| match at % 4 {
            0 => format!("    n{at}: {{ type: Part }}\n"),
            _ => format!(
                "    n{at}: {{ type: Part, requirements: [ {{ dependency: n{} }} ] }}\n",
                at - 1
            ),
        };
        let nodes: String = (0..nodes).map(node).collect();
        let template = format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\n\
             node_types:\n  Part:\n    derived_from: tosca.nodes.Root\n    attributes: {{ port: {{ type: integer }} }}\n    interfaces:\n      Standard:\n        operations: {{ create: script.sh, configure: script.sh, start: script.sh }}\n\
             topology_template:\n  node_templates:\n{nodes}"
        );
        fs::write(directory.path().join("template.yaml"), template).unwrap();
        fs::write(directory.path().join("script.sh"), script).unwrap();
        fs::create_dir(directory.path().join("tmp")).unwrap();
        Self { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
        command.arg("instance").args(words).current_dir(self.path()).env("CUVEE_STORE", "store");
        command.env("PLACE", self.path()).env("TMPDIR", self.path().join("tmp")).env("USER", "ann");
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, name: &str, more: &[&str]) -> Output {
        let words = [&["run", name, "template.yaml", "--yes"], more].concat();
        self.command(&words).output().unwrap()
    }

    fn begin(&self, name: &str, more: &[&str]) -> Child {
        let words = [&["run", name, "template.yaml", "--yes"], more].concat();
        self.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// What scripts wrote to a file of the directory.
    fn written(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap_or_default()
    }

    fn wait_for(&self, file: &str) {
        let began = Instant::now();
        while self.written(file).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody writes `{file}`");
            sleep(Duration::from_millis(10));
        }
    }

    /// How often each step that runs something ended in which way.
    fn records(&self, name: &str) -> BTreeMap<String, Vec<String>> {
        let log = self.command(&["log", name, "--format", "json"]).output().unwrap();
        let mut ends = BTreeMap::<String, Vec<String>>::new();
        for line in String::from_utf8(log.stdout).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let events = record["events"].as_array().unwrap();
            for event in events.iter().filter(|event| event["kind"] == "step-ended") {
                let step = event["step"].as_str().unwrap().to_owned();
                if !step.ends_with("/up") {
                    let outcome = event["outcome"].as_str().unwrap().to_owned();
                    ends.entry(step).or_default().push(outcome);
                }
            }
        }
        ends
    }
}

/// What a run said.
fn said(output: &Output) -> String {
    let parts = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&parts).into_owned()
}

fn signal(child: &Child, signal: &str) {
    let done = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

/// How many rounds are made: few, or as many as the environment says.
fn rounds(variable: &str, few: usize) -> usize {
    std::env::var(variable).ok().and_then(|many| many.parse().ok()).unwrap_or(few)
}

/// Random numbers, other ones in each run, unless the environment says where they begin.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let now = || std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos() as usize;
        let seed = rounds("CUVEE_TEST_SEED", now());
        println!("CUVEE_TEST_SEED={seed}");
        Self(seed as u64)
    }

    /// The next number (SplitMix64).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

const WRITES: &str = "echo $CUVEE_STEP >>$PLACE/$CUVEE_INSTANCE\n";

#[test]
fn a_killed_runner_loses_no_step_and_does_none_twice_without_saying_so() {
    let trial = Trial::new(20, WRITES);
    let kills = rounds("CUVEE_TEST_KILLS", 6);
    let (mut killed, mut name, mut number) = (0, String::new(), 0_u64);
    let began = Instant::now();
    assert!(trial.run("whole", &["-j4"]).status.success());
    let whole = u64::try_from(began.elapsed().as_micros()).unwrap();
    let mut moments = Moments::new();
    while killed < kills {
        if name.is_empty() {
            number += 1;
            name = format!("n{number}");
        }
        let mut run = trial.begin(&name, &["-j4", "--interrupted", "retry"]);
        sleep(Duration::from_micros(moments.next() % (whole + 1)));
        let is_over = run.try_wait().unwrap().is_some();
        run.kill().unwrap();
        run.wait().unwrap();
        killed += usize::from(!is_over);
        if is_over || killed == kills {
            holds(&trial, &name);
            name.clear();
        }
    }
}

/// Ends a run that was killed, and compares what was done with what is recorded.
fn holds(trial: &Trial, name: &str) {
    let last = trial.run(name, &["-j4", "--interrupted", "retry"]);
    assert!(last.status.success(), "{}", said(&last));
    // Scripts of a killed runner may have been about to write.
    sleep(Duration::from_millis(300));
    let records = trial.records(name);
    assert_eq!(records.len(), 60, "{records:?}");
    let written = trial.written(name);
    for (step, ends) in &records {
        let times = written.lines().filter(|line| line == step).count();
        assert!((1..=ends.len()).contains(&times), "{step}: {times} times, {ends:?}");
        let (done, before) = ends.split_last().unwrap();
        assert!(done == "done" && before.iter().all(|end| end == "interrupted"), "{step} {ends:?}");
    }
    assert!(written.lines().all(|line| records.contains_key(line)), "{written}");
    // Who is killed before its lease is taken may leave an empty directory.
    for left in fs::read_dir(trial.path().join("tmp")).unwrap() {
        assert!(fs::read_dir(left.unwrap().path()).unwrap().next().is_none(), "files are left");
    }
}

#[test]
fn of_two_runners_one_works_and_the_other_is_told() {
    let trial = Trial::new(2, "echo $CUVEE_STEP >>$PLACE/$CUVEE_INSTANCE; sleep 0.2\n");
    for round in 0..rounds("CUVEE_TEST_ROUNDS", 3) {
        let name = format!("n{round}");
        assert!(
            trial.command(&["init", &name, "template.yaml"]).output().unwrap().status.success()
        );
        let both = [0, 1].map(|_| {
            let mut command = trial.command(&["run", &name, "template.yaml", "--yes"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        let both = both.map(|run| run.wait_with_output().unwrap());
        let told: Vec<_> = both.iter().filter(|run| !run.status.success()).collect();
        // Whoever comes when the first has ended finds nothing to do.
        let is_told = |run: &&Output| {
            run.status.code() == Some(1)
                && said(run).contains("error[instance-running]: `ann` runs")
        };
        assert!(told.len() <= 1 && told.iter().all(is_told), "{both:?}");
        assert_eq!(trial.written(&name).lines().count(), 6, "{both:?}");
    }
}

/// Whoever is killed with SIGKILL cannot end its scripts.
#[cfg(target_os = "linux")]
#[test]
fn scripts_of_a_killed_runner_do_not_run_beside_those_of_the_next() {
    let trial = Trial::new(
        1,
        "mkdir $PLACE/first 2>&1 && { echo $$ >>$PLACE/begun; sleep 60; }; echo late >>$PLACE/late\n",
    );
    let mut run = trial.begin("shop", &[]);
    trial.wait_for("begun");
    run.kill().unwrap();
    run.wait().unwrap();
    let process = Path::new("/proc").join(trial.written("begun").trim());
    assert!(process.exists(), "the script runs on");
    let next = trial.run("shop", &["--interrupted", "retry"]);
    assert!(next.status.success(), "{}", said(&next));
    assert!(said(&next).contains("the script of `node.n0/create` still ran"), "{}", said(&next));
    assert!(!process.exists());
    assert_eq!(trial.written("late").lines().count(), 3, "one for each operation");
}

/// Files of a template may have the names of files that the run makes.
#[test]
fn files_of_the_run_and_of_the_template_are_apart() {
    let trial = Trial::new(1, "cat inputs.json outputs group; ls\n");
    let path = |name: &str| trial.path().join(name);
    for name in ["inputs.json", "outputs", "group"] {
        fs::write(path(name), format!("mine: {name}\n")).unwrap();
    }
    let template = fs::read_to_string(path("template.yaml")).unwrap();
    let files = "artifacts: { a: { file: inputs.json, type: tosca.artifacts.File }, b: { file: outputs, type: tosca.artifacts.File }, c: { file: group, type: tosca.artifacts.File } }";
    let template =
        template.replace("    interfaces:\n", &format!("    {files}\n    interfaces:\n"));
    fs::write(path("template.yaml"), template).unwrap();
    let run = trial.run("shop", &["--verbose"]);
    assert!(run.status.success(), "{}", said(&run));
    for name in ["inputs.json", "outputs", "group"] {
        assert_eq!(said(&run).matches(&format!("mine: {name}")).count(), 3, "{}", said(&run));
    }
}

#[test]
fn an_interrupt_ends_what_runs_and_another_one_kills_it() {
    let gentle = "trap 'echo ended >>$PLACE/ended; exit 3' TERM; echo begun >>$PLACE/begun; [ -e $PLACE/go ] || sleep 60 & wait $!\n";
    let deaf = "trap '' TERM INT; echo begun >>$PLACE/begun; [ -e $PLACE/go ] || sleep 60\n";
    for (script, signals) in [(gentle, 1), (deaf, 2)] {
        let trial = Trial::new(2, script);
        let mut run = trial.begin("shop", &[]);
        trial.wait_for("begun");
        let began = Instant::now();
        for _ in 0..signals {
            signal(&run, "-INT");
            sleep(Duration::from_millis(300));
        }
        assert_eq!(run.wait().unwrap().code(), Some(1));
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(trial.records("shop")["node.n0/create"], ["interrupted"]);
        assert_eq!(trial.written("ended"), if signals == 1 { "ended\n" } else { "" });
        let asked = trial.run("shop", &[]);
        assert_eq!(asked.status.code(), Some(2), "{}", said(&asked));
        assert!(said(&asked).contains("`node.n0/create`"), "{}", said(&asked));
        fs::write(trial.path().join("go"), "").unwrap();
        let on = trial.run("shop", &["--interrupted", "retry"]);
        assert!(on.status.success(), "{}", said(&on));
        assert_eq!(trial.records("shop")["node.n0/create"], ["interrupted", "done"]);
    }
}

#[test]
fn scripts_may_do_what_they_like() {
    let cases = [
        ("exit 3", 1, "node.n0/create failed: it ended with exit code 3"),
        ("kill -SEGV $$", 1, "failed: the signal 11 ended it"),
        ("rm -rf \"$(dirname \"$CUVEE_INPUTS\")\"", 0, "shop: 3 steps done"),
        ("printf '\\033[31mred\\033[0m\\a\\n'; exit 1", 1, "  | red\\u{7}\n"),
        ("head -c 300 /dev/urandom >$CUVEE_OUTPUTS", 1, "CUVEE_OUTPUTS`, cannot be read"),
        ("rm -f $CUVEE_OUTPUTS; mkfifo $CUVEE_OUTPUTS", 1, "cannot be read: it is no file"),
        ("ln -s /dev/zero $CUVEE_OUTPUTS", 1, "cannot be read: it is no file"),
        ("head -c 2000000 /dev/zero >$CUVEE_OUTPUTS", 1, "it has more than 1 MiB"),
        ("echo port=eighty >$CUVEE_OUTPUTS", 1, "what it gave was refused"),
        ("sleep 30 & echo out", 0, "processes that it began still run"),
        ("yes & echo out", 0, "processes that it began still run"),
        ("exec 1>&- 2>&-; sleep 30", 1, "it took longer than 2 s, and was ended"),
        ("trap '' TERM; while :; do :; done", 1, "it took longer than 2 s, and was ended"),
    ];
    for (script, code, expected) in cases {
        let trial = Trial::new(1, &format!("{script}\n"));
        let began = Instant::now();
        let run = trial.run("shop", &["--step-timeout", "2s"]);
        // What a script left on purpose.
        let place = trial.path().to_owned();
        end_rest(&place);
        let said = said(&run);
        assert_eq!(run.status.code(), Some(code), "{script}: {said}");
        assert!(said.contains(expected), "{script}: {said}");
        assert!(!said.contains('\u{1b}'), "{script}: {said}");
        assert!(began.elapsed() < Duration::from_secs(28), "{script}: {:?}", began.elapsed());
        let end = if code == 0 { "done" } else { "failed" };
        assert_eq!(trial.records("shop")["node.n0/create"], [end], "{script}");
    }
}

/// Ends the processes whose environment names a directory.
fn end_rest(place: &Path) {
    let mark = format!("PLACE={}", place.display());
    let has = |environment: Vec<u8>| String::from_utf8_lossy(&environment).contains(&mark);
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let is_own = fs::read(process.path().join("environ")).is_ok_and(has);
        if let Some(number) = process.file_name().to_str().filter(|_| is_own) {
            let _ = Command::new("kill").args(["-KILL", number]).status();
        }
    }
}

#[test]
fn a_store_that_is_full_ends_the_run_once_what_runs_has_ended() {
    // One script takes the files of the instance away while another one runs.
    let script = "cd $PLACE; if [ $CUVEE_NODE = n0 ]; then sleep 0.3; mv store/instances/shop gone; echo busy >store/instances/shop; else sleep 1; echo did >>did; fi\n";
    let trial = Trial::new(5, script);
    let run = trial.run("shop", &[]);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("error["), "{}", said(&run));
    assert_eq!(trial.written("did"), "did\n");
    fs::remove_file(trial.path().join("store/instances/shop")).unwrap();
    fs::rename(trial.path().join("gone"), trial.path().join("store/instances/shop")).unwrap();
    fs::write(trial.path().join("script.sh"), ":\n").unwrap();
    let again = trial.command(&["apply", "shop", "--resume"]).output().unwrap();
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(trial.records("shop")["node.n0/create"], ["interrupted"]);
}
