//! Tests `cuvee instance` as people and scripts call it.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::commands::{cuvee, text};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A directory for a store of instances, with the examples beside it.
struct Workplace(TempDir);

impl Workplace {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The output of a command, and whether it succeeded.
    fn call(&self, line: &str) -> (String, bool) {
        let words = line.replace("DIR", self.0.path().to_str().unwrap());
        let words: Vec<_> = words.split(' ').collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let store = self.0.path().join("store");
        let mut all = vec!["instance"];
        all.extend(words);
        let flag = ["--store", store.to_str().unwrap()];
        all.extend(flag);
        let output = cuvee(root, &all);
        (text(output.stdout) + &text(output.stderr), output.status.success())
    }

    fn done(&self, line: &str) -> String {
        let (text, is_done) = self.call(line);
        assert!(is_done, "{line}: {text}");
        text
    }

    fn rejected(&self, line: &str) -> String {
        let (text, is_done) = self.call(line);
        assert!(!is_done, "{line}: {text}");
        text
    }
}

#[test]
fn a_plan_is_carried_out_step_by_step() {
    let at = Workplace::new();
    at.done("init book examples/guestbook --now 2026-01-01T00:00:00Z --actor ann");
    assert!(at.rejected("init book examples/guestbook").contains("instance-exists"));
    at.done("plan book -o DIR/plan.json");
    assert_eq!(at.done("apply book DIR/plan.json"), "node.house/create\n");
    assert!(at.rejected("apply book DIR/plan.json").contains("orchestration-open"));
    let early = at.rejected("record book site --state started --step node.site/up --outcome done");
    assert!(early.contains("step-not-ready"), "{early}");
    at.done("record book house --state started --step node.house/up --outcome done");
    // The process that carried out the plan has ended, but the store knows which steps are left.
    let ready = at.done("apply book --resume");
    assert!(ready.contains("node.book/create"), "{ready}");
    assert_eq!(at.done("apply book --resume --assume-done"), "nothing is left to do\n");
    assert!(at.done("plan book").contains("0 operations"));
    let query = at.done("query book nodes[state=started]/state");
    assert_eq!(query.lines().count(), 4, "{query}");
    assert!(at.rejected("apply book DIR/plan.json").contains("stale-plan"));
    let log = at.done("log book --kind state --entity house");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(at.done("verify book").starts_with("revision "));
    at.done("compact book");
    assert!(at.done("show book").contains("4 started"));
}

#[test]
fn what_was_deployed_becomes_another_variant_and_goes() {
    let at = Workplace::new();
    at.done("init shop examples/shop --preset dev");
    at.done("plan shop -o DIR/first.json");
    at.done("apply shop DIR/first.json --assume-done");
    let plan = at.done("plan shop --preset prod");
    assert!(plan.starts_with("update: 6 added, 2 removed, 6 recreated"), "{plan}");
    at.done("plan shop --preset prod -o DIR/second.json");
    at.done("apply shop DIR/second.json --assume-done");
    assert!(at.done("plan shop").contains("0 operations"));
    assert!(at.done("diff shop@1 shop").contains("node.cluster"));
    assert!(at.rejected("show shop --reveal").contains("--secrets keep"));
    assert!(at.rejected("delete shop").contains("--force"));
    at.done("plan shop --undeploy -o DIR/third.json");
    at.done("apply shop DIR/third.json --assume-done");
    assert!(!at.done("list").contains("started"));
    at.done("delete shop");
    assert!(at.rejected("show shop").contains("unknown-instance"));
}

/// Test X-4: secrets are in no file and in no output.
#[test]
fn secrets_are_nowhere() {
    const CANARY: &str = "canary-8f3a";
    let at = Workplace::new();
    let given = format!("--deployment-input database_password={CANARY}");
    let mut told = at.done(&format!("init shop examples/shop --preset dev {given}"));
    told += &at.done("plan shop -o DIR/plan.json");
    told += &at.done("plan shop --all-steps");
    told += &at.done("apply shop DIR/plan.json --assume-done");
    told += &at.done(&format!("plan shop --preset prod {given} --format json"));
    let other = given.replace(CANARY, "another-one-of-them");
    let plan = at.done(&format!("plan shop --preset dev {other}"));
    assert!(plan.contains("property.password (sensitive) -> (sensitive)"), "{plan}");
    assert!(!plan.contains("hmac") && !plan.contains("another-one"), "{plan}");
    for line in ["show shop", "show shop database", "log shop", "log shop --format json", "list"] {
        told += &at.done(line);
    }
    for format in ["yaml", "json", "bindings", "template", "log"] {
        told += &at.done(&format!("export shop --format {format}"));
    }
    assert!(told.contains("(sensitive)"));
    assert!(!told.contains(CANARY));
    let mut open = vec![at.0.path().to_owned()];
    let mut files = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let is_there = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
        assert!(!is_there, "{}", path.display());
        files += 1;
    }
    assert!(files > 10, "{files}");
}

#[test]
fn streams_are_answered_line_by_line() {
    let at = Workplace::new();
    at.done("init book examples/guestbook");
    at.done("begin book --workflow deploy");
    let store = at.0.path().join("store");
    let mut stream = Command::new(env!("CARGO_BIN_EXE_cuvee"))
        .args(["instance", "record", "book", "--stream", "--store", store.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "{\"node\":\"house\",\"state\":\"creating\"}\n\
                 {\"node\":\"horse\",\"state\":\"created\"}\n\
                 {\"node\":\"house\",\"state\":\"created\"}\n";
    stream.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = stream.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let answers = text(output.stdout);
    let ok: Vec<_> = answers.lines().map(|line| line.contains("\"ok\":true")).collect();
    assert_eq!(ok, [true, false, true], "{answers}");
    assert!(answers.contains("did you mean `house`?"), "{answers}");
    at.done("finish book");
    assert!(at.done("log book --kind orchestration-ended").contains("end: done"));
}

/// A report that was acknowledged is kept, however the stream ends; a line without its end is
/// ignored.
#[cfg(unix)]
#[test]
fn an_interrupted_stream_keeps_what_it_acknowledged() {
    let at = Workplace::new();
    at.done("init book examples/guestbook");
    let store = at.0.path().join("store");
    let mut stream = Command::new(env!("CARGO_BIN_EXE_cuvee"))
        .args(["instance", "record", "book", "--stream", "--store", store.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Standard input stays open: at its end, the stream would end regularly.
    let mut lines = stream.stdin.take().unwrap();
    let mut answers = BufReader::new(stream.stdout.take().unwrap());
    for revision in 2..5 {
        writeln!(lines, "{{\"node\":\"house\",\"metadata\":{{\"round\":{revision}}}}}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.contains(&format!("\"ok\":true,\"line\":{},", revision - 1)), "{answer}");
    }
    lines.write_all(b"{\"node\":\"house\",\"metadata\":{\"round\":9").unwrap();
    let id = stream.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(stream.wait().unwrap().code(), Some(130));
    drop(lines);
    assert_eq!(at.done("query book nodes/house/metadata/round"), "node.house  metadata/round  4\n");
    assert!(at.done("verify book").starts_with("revision 4:"));
    assert!(at.done("record book house --note again").contains("revision 5"));
}

/// A disk that becomes full in the middle of a line. The limit on the size of files has the same
/// effect: it admits the beginning of a record and refuses the rest.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full_in_a_line_keeps_what_was_acknowledged() {
    let at = Workplace::new();
    at.done("init book examples/guestbook");
    let log = at.0.path().join("store/instances/book/log-1.ndjson");
    let before = fs::metadata(&log).unwrap().len();
    // In blocks of 512 bytes, there is room for one more, which is less than the record needs.
    let line = format!(
        "trap '' XFSZ; ulimit -f {}; exec \"$0\" instance record book house --note {} --store store",
        before / 512 + 1,
        "x".repeat(700)
    );
    let mut record = Command::new("sh");
    record.args(["-c", &line, env!("CARGO_BIN_EXE_cuvee")]).current_dir(at.0.path());
    let output = record.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = text(output.stderr);
    assert!(
        message.contains("error[file]") && message.contains("what was acknowledged"),
        "{message}"
    );
    assert_eq!(fs::metadata(&log).unwrap().len(), before, "what was begun is taken back");
    assert!(at.done("verify book").starts_with("revision 1:"));
    assert!(at.done("record book house --note y").contains("revision 2"));
}

/// A directory and everything below it, in an order in which the permissions may be changed.
#[cfg(unix)]
fn below(directory: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let inside = inside.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] });
    inside.chain([directory.to_owned()]).collect()
}

/// A user who may only read a store can ask every question; a command that writes reports what is
/// missing.
#[cfg(unix)]
#[test]
fn a_store_that_may_only_be_read_answers() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let at = Workplace::new();
    at.done("init book examples/guestbook");
    at.done("record book house --note y");
    let own = at.0.path().join("cuvee");
    // What this process writes, its other children may still have open, and then it cannot be run.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_cuvee")).arg(&own).status();
    assert!(copied.unwrap().success());
    let set =
        |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    set(at.0.path(), 0o755);
    for path in below(&at.0.path().join("store")) {
        set(&path, if path.is_dir() { 0o555 } else { 0o444 });
    }
    // Root may do everything, so the test becomes another user.
    let is_root = fs::metadata(at.0.path()).unwrap().uid() == 0;
    let call = |line: &str| {
        let mut command = Command::new(&own);
        command.arg("instance").args(line.split(' ')).current_dir(at.0.path());
        command.env("CUVEE_STORE", "store");
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().unwrap();
        (text(output.stdout) + &text(output.stderr), output.status.success())
    };
    let reads = [
        "list",
        "show book",
        "query book nodes",
        "log book",
        "export book",
        "diff book@1 book",
        "plan book",
        "verify book",
    ];
    for line in reads {
        let (told, is_done) = call(line);
        assert!(is_done, "{line}: {told}");
    }
    for line in ["record book house --note z", "begin book --workflow deploy", "compact book"] {
        let (told, is_done) = call(line);
        assert!(!is_done && told.contains("error[file]: cannot lock"), "{line}: {told}");
    }
    for path in below(&at.0.path().join("store")) {
        set(&path, 0o755);
    }
}

/// A run that is killed in between goes on, and does nothing twice.
#[test]
fn runs_go_on_where_they_were_killed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let at = Workplace::new();
    let dir = at.0.path();
    crate::folders::copy(&root.join("examples/guestbook"), &dir.join("guestbook"));
    let create = dir.join("guestbook/scripts/site/create.sh");
    let whole = fs::read_to_string(&create).unwrap();
    fs::write(
        &create,
        format!("[ -e \"$GUESTBOOK_DIR/go\" ] || {{ kill -9 $PPID; exit 1; }}\n{whole}"),
    )
    .unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
        command.args(["instance", "run", "book"]).args(words).current_dir(dir);
        command.env("CUVEE_STORE", dir.join("store")).env("GUESTBOOK_DIR", dir.join("run"));
        command.output().unwrap()
    };
    assert_eq!(run(&["guestbook", "--yes"]).status.code(), None, "it was killed");
    let happened = dir.join("run/happened");
    let before = fs::read_to_string(&happened).unwrap();
    assert!(before.contains("house create") && !before.contains("site"), "{before}");
    assert!(at.done("log book --kind step-started").contains("node.site/create begins"));
    fs::write(dir.join("run/go"), "").unwrap();
    let asked = run(&["--yes"]);
    assert_eq!(asked.status.code(), Some(2));
    assert!(text(asked.stderr).contains("`node.site/create`"));
    let done = run(&["--yes", "--interrupted", "retry"]);
    assert!(done.status.success(), "{}", text(done.stdout));
    let after = fs::read_to_string(&happened).unwrap();
    assert!(after.starts_with(&before), "{after}");
    let mut calls: Vec<_> = after.lines().collect();
    assert_eq!(calls.last(), Some(&"site start"));
    calls.sort_unstable();
    calls.dedup();
    assert_eq!((calls.len(), after.lines().count()), (9, 9), "nothing is done twice: {after}");
    assert!(at.done("list").contains("4 started"));
    assert!(at.done("plan book").contains("0 operations"));
}

#[test]
fn drawings_and_simulations_begin_with_what_is_there() {
    let at = Workplace::new();
    at.done("init book examples/guestbook");
    at.done("begin book --workflow deploy");
    at.done("record book house --state started");
    at.done("record book book --state creating");
    at.done("record book book --state error");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let store = at.0.path().join("store");
    let call = |line: &str| {
        let mut words: Vec<_> = line.split(' ').collect();
        words.extend(["--state", "instance:book", "--store", store.to_str().unwrap()]);
        let output = cuvee(root, &words);
        text(output.stdout) + &text(output.stderr)
    };
    let drawing = call("graph examples/guestbook --format dot");
    let class = |node: &str| {
        let line = drawing.lines().find(|line| line.contains(&format!("id=\"node.{node}\"")));
        let (_, rest) = line.unwrap().split_once("class=\"node ").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!(["house", "book", "site"].map(class), ["present", "failed", "plain"]);
    let simulation = call("plan examples/guestbook --simulate");
    assert!(simulation.contains("house"), "{simulation}");
    let unknown = cuvee(root, &["graph", "examples/guestbook", "--state", "instance:nobody"]);
    assert!(text(unknown.stderr).contains("unknown-instance"));
}

/// When many processes report at the same time, each report is recorded exactly once.
#[test]
fn many_report_at_once() {
    const REPORTERS: usize = 200;
    let at = Workplace::new();
    at.done("init book examples/guestbook");
    let store = at.0.path().join("store");
    let reporters: Vec<_> = (0..REPORTERS)
        .map(|one| {
            let note = format!("note {one}");
            Command::new(env!("CARGO_BIN_EXE_cuvee"))
                .args(["instance", "record", "book", "house", "--lock-timeout", "300"])
                .args(["--note", &note, "--store", store.to_str().unwrap()])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut told: Vec<u64> = reporters
        .into_iter()
        .map(|reporter| {
            let output = reporter.wait_with_output().unwrap();
            assert!(output.status.success());
            text(output.stdout).trim().strip_prefix("revision ").unwrap().parse().unwrap()
        })
        .collect();
    told.sort_unstable();
    assert_eq!(told, (2..).take(REPORTERS).collect::<Vec<u64>>());
    let log = at.done("log book --kind note");
    let mut notes: Vec<_> = log.lines().map(|line| line.rsplit(": ").next().unwrap()).collect();
    notes.sort_unstable();
    notes.dedup();
    assert_eq!(notes.len(), REPORTERS);
}

#[test]
fn edits_are_kept_unless_that_is_said_otherwise() {
    let at = Workplace::new();
    at.done("init shop examples/shop --preset dev");
    at.done("plan shop -o DIR/plan.json");
    at.done("apply shop DIR/plan.json --assume-done");
    at.done("edit shop --set nodes/shop/properties/port=9090");
    let refused = at.rejected("plan shop");
    assert!(refused.contains("--overwrite"), "{refused}");
    assert!(at.done("plan shop --overwrite").contains("port 9090 -> "));
    at.done("edit shop adopt tosca.nodes.Root balancer");
    assert!(at.done("show shop balancer").contains("started"));
    at.done("export shop -o DIR/shop.yaml");
    at.done("import copy DIR/shop.yaml");
    assert!(at.done("list").contains("copy@1"));
}
