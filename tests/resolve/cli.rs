//! Tests the binary from outside: what it prints where, which files it leaves, and how it exits.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use serde_json::Value;
use snapbox::cmd::{Command, cargo_bin};
use snapbox::{Data, str};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

const SHOP: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options:
      type_default_condition: true
    inputs:
      mode:
        type: string
        default: dev
      backup:
        type: boolean
        default: false
    presets:
      prod:
        inputs:
          mode: prod
      safe:
        inputs:
          backup: true
    expressions:
      is_prod:
        equal:
          - variability_input: mode
          - prod
  node_templates:
    shop:
      type: shop
      properties:
        size: 1.10
    monitor:
      type: monitor
      conditions:
        logic_expression: is_prod
    backup:
      type: backup
      conditions:
        variability_input: backup
";

const DEV: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop:
      type: shop
      properties:
        size: 1.10
";

const MONITOR: &str = "    monitor:\n      type: monitor\n";
const BACKUP: &str = "    backup:\n      type: backup\n";

/// A template with a misspelled keyword, so that its input is not declared.
const TYPO: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  node_templates:
    shop:
      type: shop
      condtions: false
";

/// A template with two present properties of one name, where the check that forbids that is off.
const TWICE: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options:
      ambiguous_property_check: false
  node_templates:
    shop:
      type: shop
      properties:
        - size: 1
        - size: 2
";

/// A directory with `shop.yaml`, `typo.yaml` and `twice.yaml`.
fn workplace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "shop.yaml", SHOP);
    write(&dir, "typo.yaml", TYPO);
    write(&dir, "twice.yaml", TWICE);
    dir
}

fn write(dir: &TempDir, name: &str, text: &str) {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A command in this directory, without variables for inputs, colour and width.
fn cuvee(dir: &TempDir, line: &str) -> Command {
    let command =
        Command::new(cargo_bin!("cuvee")).current_dir(dir.path()).args(line.split_whitespace());
    ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CUVEE_PRESETS"]
        .into_iter()
        .fold(command, Command::env_remove)
}

fn raw(text: impl Into<String>) -> Data {
    Data::text(text.into()).raw()
}

/// Asserts that a command prints exactly this to standard output, and nothing to standard error.
fn gives(command: Command, expected: &str) {
    command.assert().success().stdout_eq(raw(expected)).stderr_eq(raw(""));
}

#[test]
fn help_names_every_command() {
    let dir = workplace();
    cuvee(&dir, "--help").assert().success().stderr_eq(raw("")).stdout_eq(str![[r#"
Resolves Variability4TOSCA: a variable service template and a preset in, the plain TOSCA template of
that variant out

Usage: cuvee [OPTIONS] <COMMAND>

Begin:
  init          Write a first variable template out of a plain one
  resolve       Resolve one variant of a template
  validate      Report everything that is wrong with templates, in all their
                variants
  explain       Explain why an element is present or absent, or why there is no
                variant, and how to change that

Explore all variants:
  inputs        List the inputs of a template, their cases, and the elements
                that each influences
  variants      List, count or sample the variants of a template
  analyze       Analyse all variants: find elements that every variant or none
                has, and constraints that are in vain

Compare and show:
  diff          Compare two variants of a template, or two plain templates
  matrix        Show which elements are present with which preset
  graph         Draw the topology, a variant in it, or the difference between
                two variants
  report        Write a page with presets, topology, plans, differences and a
                configurator

Deploy:
  plan          Plan how a variant is deployed, undeployed, or runs one of its
                workflows
  instance      Keep instances of variants: make them, plan for them, record
                reports, ask for values
  substitute    Replace nodes by templates that implement them, and select nodes
                and targets from an inventory

Test:
  test          Run variability tests

Edit:
  lsp           Serve an editor: what is wrong as it is typed, over the Language
                Server Protocol

More:
  enrich        Write out the conditions that options, default conditions,
                pruning and technology rules add
  options       Show the variability options in effect, and where each comes
                from
  types         List the types of a template, or show the effective definition
                of one, and where each part of it comes from
  assign        Assign technologies to the nodes of a plain template
  quality       Rate the technologies that a plain template names
  convert       Write definitions of TOSCA 1.0, which are XML, as templates of
                TOSCA Simple Profile 1.3, and variants of templates as
                definitions
  export        Write the formula of a template for solvers, or the feature
                model of its inputs
  import        Write variability inputs and constraints for a feature model
  explain-code  Explain a diagnostic code, or list all codes
  completions   Print the script that completes command lines in a shell
  man           Print the manual, or its page for one command
  help          Print help for a command

Options:
      --timeout <TIME>           Exit with 1 if there is no answer in this time, such as `30s` or
                                 `5m`; `resolve` and `substitute` return the best result found by
                                 then
      --timings                  Print to standard error how long each phase takes
      --message-format <FORMAT>  Format of errors and warnings; json writes one object a line
                                 [default: human] [possible values: human, json]
      --color <WHEN>             Whether to colour errors and warnings [default: auto] [possible
                                 values: auto, always, never]
  -q, --quiet                    Show neither warnings nor progress
  -h, --help                     Print help
  -V, --version                  Print version

Exit codes: 0 done; 1 the template, the inputs or the variant was rejected; 2 wrong use.

"#]]);
    cuvee(&dir, "--version").assert().success().stdout_eq(raw(concat!(
        "cuvee ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    )));
}

#[test]
fn help_names_every_flag_of_resolve() {
    cuvee(&workplace(), "resolve --help").assert().success().stderr_eq(raw("")).stdout_eq(str![[
        r#"
Resolve one variant of a template

Usage: cuvee resolve [OPTIONS] <TEMPLATE>

Arguments:
  <TEMPLATE>  A service template, an archive (CSAR), a directory that holds a template under its
              usual name, or `-` for standard input

Options:
  -o, --output <FILE>     Write the result to this file, all of it or nothing, instead of to
                          standard output, which is also `-`; if the name ends in `.csar` or `.zip`,
                          as an archive. Relative names of files in the result are adapted to its
                          new place
      --output-dir <DIR>  Write the result into this directory, with the files that it names and the
                          files that these name
      --all-files         Also pack hidden files and the tests beside the template into the archive
      --format <FORMAT>   Format of the result; by default the one that the ending of the file
                          names, else `yaml`; in an archive it is always yaml [possible values:
                          yaml, json]
      --edmm              Keep the types of nodes and write `technology`, instead of writing the
                          types that technologies assign
      --evaluate          Replace those functions of TOSCA by their values that use only topology
                          inputs and properties
      --accept-unproven   Exit with 0 even if the time of --timeout was too short to prove that the
                          variant is the best
  -h, --help              Print help

Choice:
      --preset <NAME>          Variability preset; repeat it or separate several by commas, later
                               ones win [env: CUVEE_PRESETS]
      --inputs <FILE>          File of variability inputs (YAML, JSON or FeatureIDE extended XML),
                               or `-` for standard input; may be repeated, wins over presets
  -i, --input <NAME=VALUE>     Variability input, its value read as YAML; may be repeated, wins over
                               files [env: CUVEE_INPUT_<NAME>]
      --option <KEY=VALUE>     Variability option; wins over the template's; may be repeated
      --edition <EDITION>      Revision of the specification that the template follows, such as
                               `2025-07`; wins over the template's option `edition`
      --plugin <NAME=COMMAND>  Let this command of the shell answer for a technology plugin that the
                               template names, from standard input to standard output; may be
                               repeated
      --plugin-timeout <TIME>  The time that an answer of a plugin may take [default: 10s]
      --map <URL=PATH>         Local file or directory to read instead of a URL and all URLs below
                               it, for imports; may be repeated, the longest URL wins
      --profile-path <DIR>     Directory in which profiles of TOSCA 2.0 are looked for by their
                               names; may be repeated
      --now <DATE>             The present time: an ISO 8601 date, with a time and a zone if they
                               matter
      --solver <NAME>          The solver to use instead of the fastest one; every solver finds the
                               same variant [possible values: varisat, batsat]

Topology inputs:
      --deployment-inputs <FILE>       File of values of topology inputs (YAML or JSON) for
                                       evaluating functions; may be repeated
      --deployment-input <NAME=VALUE>  Value of a topology input, read as YAML, for evaluating
                                       functions; may be repeated, wins over files

Time:
      --timeout <TIME>  Exit with 1 if there is no answer in this time, such as `30s` or `5m`;
                        `resolve` and `substitute` return the best result found by then
      --timings         Print to standard error how long each phase takes

Messages:
      --message-format <FORMAT>  Format of errors and warnings; json writes one object a line
                                 [default: human] [possible values: human, json]
      --color <WHEN>             Whether to colour errors and warnings [default: auto] [possible
                                 values: auto, always, never]
  -q, --quiet                    Show neither warnings nor progress

Examples:
  # the variant of a preset, on standard output
  cuvee resolve shop --preset prod
  # one input otherwise, into a file
  cuvee resolve shop --preset prod -i visitors=9000 -o prod.yaml
  # inputs from a file, the result as JSON
  cuvee resolve shop --inputs choice.yaml --format json

"#
    ]]);
}

#[test]
fn help_names_every_flag_of_validate() {
    cuvee(&workplace(), "validate --help").assert().success().stderr_eq(raw("")).stdout_eq(str![[
        r#"
Report everything that is wrong with templates, in all their variants

Usage: cuvee validate [OPTIONS] <TEMPLATE>...

Arguments:
  <TEMPLATE>...  Service templates, archives (CSAR), directories that hold a template under its
                 usual name or a library of types, or `-` for standard input

Options:
      --non-normative         Include the non-normative types of chapter 9 of TOSCA Simple Profile
      --only-tosca            Skip files that have no `tosca_definitions_version`, such as other
                              YAML
      --portable              Also note valid constructs that known orchestrators refuse
      --with <FILE|DIR|CSAR>  Also check whether these templates substitute the nodes that are to be
                              substituted, in all variants: a file, an archive, or a directory of
                              them; may be repeated
      --strict                Treat warnings as errors
      --format <FORMAT>       Format of the findings; all but human go to standard output, as one
                              document [default: human] [possible values: human, json, sarif]
  -h, --help                  Print help

Choice:
      --preset <NAME>          Variability preset; repeat it or separate several by commas, later
                               ones win [env: CUVEE_PRESETS]
      --inputs <FILE>          File of variability inputs (YAML, JSON or FeatureIDE extended XML),
                               or `-` for standard input; may be repeated, wins over presets
  -i, --input <NAME=VALUE>     Variability input, its value read as YAML; may be repeated, wins over
                               files [env: CUVEE_INPUT_<NAME>]
      --option <KEY=VALUE>     Variability option; wins over the template's; may be repeated
      --edition <EDITION>      Revision of the specification that the template follows, such as
                               `2025-07`; wins over the template's option `edition`
      --plugin <NAME=COMMAND>  Let this command of the shell answer for a technology plugin that the
                               template names, from standard input to standard output; may be
                               repeated
      --plugin-timeout <TIME>  The time that an answer of a plugin may take [default: 10s]
      --map <URL=PATH>         Local file or directory to read instead of a URL and all URLs below
                               it, for imports; may be repeated, the longest URL wins
      --profile-path <DIR>     Directory in which profiles of TOSCA 2.0 are looked for by their
                               names; may be repeated
      --now <DATE>             The present time: an ISO 8601 date, with a time and a zone if they
                               matter
      --solver <NAME>          The solver to use instead of the fastest one; every solver finds the
                               same variant [possible values: varisat, batsat]

Time:
      --timeout <TIME>  Exit with 1 if there is no answer in this time, such as `30s` or `5m`;
                        `resolve` and `substitute` return the best result found by then
      --timings         Print to standard error how long each phase takes

Messages:
      --message-format <FORMAT>  Format of errors and warnings; json writes one object a line
                                 [default: human] [possible values: human, json]
      --color <WHEN>             Whether to colour errors and warnings [default: auto] [possible
                                 values: auto, always, never]
  -q, --quiet                    Show neither warnings nor progress

Examples:
  # all variants
  cuvee validate shop
  # one variant, with warnings as errors
  cuvee validate shop --preset prod --strict
  # for code scanning
  cuvee validate shop --format sarif

"#
    ]]);
}

#[test]
fn wrong_use_exits_with_2() {
    let dir = workplace();
    for (line, complaint) in [
        ("", "[..]Usage: cuvee [OPTIONS] <COMMAND>[..]"),
        ("resolve", "[..]<TEMPLATE>[..]"),
        ("resolve shop.yaml --presets prod", "[..]similar argument exists: '--preset'"),
        ("resolve shop.yaml -i mode", "[..]`mode=true`[..]"),
        ("resolve shop.yaml -i =prod", "[..]the name in front of `=` is missing[..]"),
        ("resolve shop.yaml --option mode", "[..]`mode=true`[..]"),
        ("resolve shop.yaml --preset prod,", "[..]--preset[..]"),
        (
            "resolve shop.yaml -i mode:prod",
            "[..]`=` has to stand between name and value: `mode=prod`[..]",
        ),
        (
            "resolve shop.yaml --now soon",
            "[..]--now[..]: expected a date such as `2024-12-24` or `2024-12-24T18:00+01:00`",
        ),
        (
            "resolve shop.yaml --now 2024-13-24",
            "[..]--now[..]: expected a date such as `2024-12-24` or `2024-12-24T18:00+01:00`: [..]month[..]",
        ),
        (
            "variants shop.yaml --limit 0",
            "[..]at least 1 is listed; `--count` lists none and says how many there are",
        ),
        ("variants shop.yaml --limit few", "[..]expected a number such as `10`"),
        ("resolve shop.yaml --solver minisat", "[..]varisat, batsat[..]"),
        ("resolve shop.yaml --format xml", "[..]yaml, json[..]"),
        ("test", "[..]<DIR>[..]"),
        ("explain-code unsatisfable", "[..]did you mean `unsatisfiable`?[..]"),
        ("explain-code nothing", "[..]`cuvee explain-code` lists all codes[..]"),
    ] {
        cuvee(&dir, line)
            .assert()
            .code(2)
            .stdout_eq(raw(""))
            .stderr_eq(format!("...\n{complaint}\n...\n"));
    }
}

#[test]
fn complaints_about_arguments_are_coloured_as_wished() {
    let dir = workplace();
    let complaint = |line: &str| cuvee(&dir, line).output().unwrap().stderr;
    assert!(complaint("resolve --color always").contains(&0x1b));
    assert!(complaint("resolve --color=always").contains(&0x1b));
    assert!(!complaint("resolve --color never").contains(&0x1b));
    assert!(!complaint("resolve").contains(&0x1b));
}

#[test]
fn explains_codes() {
    let dir = workplace();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/presets/codes/cyclic-type.diff");
    let example = fs::read_to_string(example).unwrap();
    gives(
        cuvee(&dir, "explain-code cyclic-type"),
        &format!(
            "cyclic-type\n\nA type derives from itself.\n\nBreak the cycle that the message names.\n\nWrong with the lines marked `-`, repaired with those marked `+`:\n\n{example}"
        ),
    );
    let all = cuvee(&dir, "explain-code")
        .assert()
        .success()
        .stderr_eq(raw(""))
        .get_output()
        .stdout
        .clone();
    let all = String::from_utf8(all).unwrap();
    assert_eq!(all.lines().count(), cuvee::diagnostic::Code::ALL.len());
    assert!(
        all.contains("\nunsupported-version            The `tosca_definitions_version` is missing"),
        "{all}"
    );
}

#[test]
fn resolves_by_default_preset_and_input() {
    let dir = workplace();
    let (prod, safe) = (format!("{DEV}{MONITOR}"), format!("{DEV}{BACKUP}"));
    let both = format!("{DEV}{MONITOR}{BACKUP}");
    gives(cuvee(&dir, "resolve shop.yaml"), DEV);
    gives(cuvee(&dir, "resolve shop.yaml --preset prod"), &prod);
    gives(cuvee(&dir, "resolve shop.yaml --preset prod,safe"), &both);
    gives(cuvee(&dir, "resolve shop.yaml --preset prod --preset safe"), &both);
    gives(cuvee(&dir, "resolve shop.yaml -i mode=prod --input backup=true --solver batsat"), &both);
    gives(cuvee(&dir, "resolve shop.yaml --preset prod -i mode=dev -i backup=true"), &safe);
}

#[test]
fn inputs_come_from_files_and_the_environment() {
    let dir = workplace();
    write(&dir, "prod.yaml", "mode: prod\nbackup: true\n");
    write(&dir, "small.json", "{\"backup\": false}");
    gives(
        cuvee(&dir, "resolve shop.yaml --inputs prod.yaml --inputs small.json"),
        &format!("{DEV}{MONITOR}"),
    );
    gives(
        cuvee(&dir, "resolve shop.yaml -i backup=false --inputs prod.yaml"),
        &format!("{DEV}{MONITOR}"),
    );
    let both = format!("{DEV}{MONITOR}{BACKUP}");
    gives(cuvee(&dir, "resolve shop.yaml").env("CUVEE_PRESETS", "prod,safe"), &both);
    gives(cuvee(&dir, "resolve shop.yaml --preset prod").env("CUVEE_INPUT_BACKUP", "true"), &both);
    gives(
        cuvee(&dir, "resolve shop.yaml --preset prod").env("CUVEE_PRESETS", "safe"),
        &format!("{DEV}{MONITOR}"),
    );
}

#[test]
fn the_template_may_be_a_directory_or_standard_input() {
    let dir = workplace();
    write(&dir, "csar/service-template.yaml", SHOP);
    gives(cuvee(&dir, "resolve csar"), DEV);
    gives(cuvee(&dir, "resolve -").stdin(SHOP), DEV);
    let typo = cuvee(&dir, "resolve -").stdin(TYPO).assert().code(1).stdout_eq(raw(""));
    typo.stderr_eq("error[unknown-keyword]: [..]\n --> <stdin>:6:7\n...\n");
    let binary =
        cuvee(&dir, "resolve -").stdin(vec![0xff, 0xfe]).assert().code(1).stdout_eq(raw(""));
    binary.stderr_eq("error[file]: cannot read standard input: [..]\n\nerror: 1 error\n");
}

#[test]
fn json_is_the_same_template() {
    let dir = workplace();
    let output =
        cuvee(&dir, "resolve shop.yaml --format json").assert().success().stderr_eq(raw(""));
    let expected = serde_json::json!({
        "tosca_definitions_version": "tosca_simple_yaml_1_3",
        "topology_template": {"node_templates": {"shop": {"type": "shop", "properties": {"size": 1.1}}}},
    });
    let stdout = &output.get_output().stdout;
    assert_eq!(serde_json::from_slice::<Value>(stdout).unwrap(), expected);
    assert!(stdout.ends_with(b"}\n"));
}

#[test]
fn an_error_shows_the_place_with_a_caret() {
    let dir = workplace();
    cuvee(&dir, "resolve typo.yaml").assert().code(1).stdout_eq(raw("")).stderr_eq(str![[r#"
error[unknown-keyword]: [..]`condtions`[..]
 --> typo.yaml:6:7
  |
6 |       condtions: false
  |       ^^^^^^^^^
...
  = help: [..]`conditions`[..]

error: 1 error

"#]]);
}

#[test]
fn an_input_that_is_missing_everywhere_is_told_once() {
    let dir = TempDir::new().unwrap();
    let nodes: String = (0..3)
        .map(|index| {
            format!("    n{index}: {{type: t, conditions: {{logic_expression: large}}}}\n")
        })
        .collect();
    let text = format!(
        "tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs: {{size: {{type: integer}}}}
    expressions: {{large: {{greater: [{{variability_input: size}}, 5]}}}}
  node_templates:
{nodes}    m: {{type: t, conditions: {{equal: [{{variability_input: size}}, 5]}}}}
"
    );
    write(&dir, "template.yaml", &text);
    let output = cuvee(&dir, "resolve template.yaml").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("error[missing-input]: variability input `size`").count(), 1, "{said}");
    assert!(said.ends_with("error: 1 error\n"), "{said}");
}

#[test]
fn errors_are_objects_for_programs() {
    let dir = workplace();
    let failure =
        cuvee(&dir, "resolve typo.yaml --message-format json --color always -q").assert().code(1);
    let output = failure.stdout_eq(raw("")).get_output().clone();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let [line] = stderr.lines().collect::<Vec<_>>()[..] else { panic!("{stderr}") };
    let object: Value = serde_json::from_str(line).unwrap();
    let keys: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "code", "column", "file", "fix", "help", "labels", "line", "message", "section",
            "severity"
        ]
    );
    assert_eq!(object["fix"]["replacement"], "conditions");
    assert_eq!(object["severity"], "error");
    assert_eq!(object["code"], "unknown-keyword");
    assert_eq!(object["file"], "typo.yaml");
    assert_eq!((&object["line"], &object["column"]), (&6.into(), &7.into()));
    assert!(object["labels"].is_array());
}

#[test]
fn colour_is_as_wished() {
    let dir = workplace();
    let stderr = |line: &str| cuvee(&dir, line).output().unwrap().stderr;
    assert!(stderr("resolve typo.yaml --color always").contains(&0x1b));
    assert!(!stderr("resolve typo.yaml --color never").contains(&0x1b));
    assert!(!stderr("resolve typo.yaml").contains(&0x1b));
    let forced = cuvee(&dir, "resolve typo.yaml").env("CLICOLOR_FORCE", "1");
    assert!(forced.output().unwrap().stderr.contains(&0x1b));
}

/// Warnings of early phases are reported even if a later phase fails: for inputs, relations and
/// variants.
#[test]
fn warnings_stand_ahead_of_the_errors_that_end_the_run() {
    let dir = workplace();
    let template =
        SHOP.replace("    options:\n", "    options:\n      technology_required: true\n");
    write(&dir, "inputs.yaml", &template);
    write(
        &dir,
        "relations.yaml",
        &format!("{template}      requirements:\n        - host: nowhere\n"),
    );
    write(
        &dir,
        "variant.yaml",
        &template.replace("    options:\n", "    constraints: [false]\n    options:\n"),
    );
    for (line, error) in [
        ("resolve inputs.yaml --preset prd", "unknown-preset"),
        ("resolve relations.yaml", "unknown-element"),
        ("resolve variant.yaml", "unsatisfiable"),
    ] {
        let failure = cuvee(&dir, &format!("{line} --message-format json"))
            .assert()
            .code(1)
            .stdout_eq(raw(""));
        let stderr = String::from_utf8(failure.get_output().stderr.clone()).unwrap();
        let codes: Vec<_> = stderr
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["code"].clone())
            .collect();
        assert_eq!(codes, ["invalid-option", error], "{line}");
        cuvee(&dir, &format!("{line} -q"))
            .assert()
            .code(1)
            .stderr_eq(format!("error[{error}]: [..]\n...\nerror: 1 error\n"));
    }
}

#[test]
fn quiet_silences_warnings_but_not_errors() {
    let dir = workplace();
    let result = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop:
      type: shop
      properties:
        size: 2
";
    let loud = cuvee(&dir, "resolve twice.yaml").assert().success().stdout_eq(raw(result));
    loud.stderr_eq(
        "warning[nondeterminism]: [..]\n[..]--> twice.yaml:[..]\n...\n\nwarning: 1 warning\n",
    );
    gives(cuvee(&dir, "resolve twice.yaml -q"), result);
    gives(cuvee(&dir, "resolve twice.yaml -q --message-format json"), result);
    cuvee(&dir, "resolve typo.yaml -q")
        .assert()
        .code(1)
        .stderr_eq("error[unknown-keyword]: [..]\n...\nerror: 1 error\n");
}

#[test]
fn files_that_are_missing_are_errors() {
    let dir = workplace();
    for line in ["resolve none.yaml", "resolve shop.yaml --inputs none.yaml"] {
        let failure = cuvee(&dir, line).assert().code(1).stdout_eq(raw(""));
        failure.stderr_eq("error[file]: [..]none.yaml[..]\n...\nerror: 1 error\n");
    }
}

#[test]
fn a_misspelled_file_is_looked_for_among_its_neighbours() {
    let dir = workplace();
    write(&dir, "in/prod.yaml", "mode: prod\n");
    for (line, meant) in [
        ("resolve shp.yaml", "shop.yaml"),
        ("resolve ./shop.yml", "./shop.yaml"),
        ("resolve shop.yaml --inputs in/prd.yaml", "in/prod.yaml"),
    ] {
        cuvee(&dir, line).assert().code(1).stdout_eq(raw("")).stderr_eq(format!(
            "error[file]: cannot read `[..]`: [..]\n |\n = help: did you mean `{meant}`?\n\nerror: 1 error\n"
        ));
    }
    cuvee(&dir, "resolve nothing.yaml")
        .assert()
        .code(1)
        .stderr_eq("error[file]: cannot read `nothing.yaml`: [..]\n\nerror: 1 error\n");
}

/// Words such as `no` are strings, which a boolean would take for true; but nobody who types them
/// means that.
#[test]
fn switches_of_yaml_1_1_are_typed_in_vain() {
    let dir = workplace();
    let rejected = |command: Command, who: &str, typed: &str, meant: bool| {
        command.assert().code(1).stdout_eq(raw("")).stderr_eq(format!(
            "error[invalid-input]: {who}: expected `true` or `false`, got a string `{typed}`\n  --> shop.yaml:10:7\n   |\n10 |       backup:\n   |       ------ declared here\n   |\n   = help: write `{meant}`\n\nerror: 1 error\n"
        ));
    };
    for (typed, meant) in [("no", false), ("OFF", false), ("n", false), ("Yes", true), ("on", true)]
    {
        let line = format!("resolve shop.yaml -i backup={typed}");
        rejected(cuvee(&dir, &line), &format!("`--input backup={typed}`"), typed, meant);
        let variable = cuvee(&dir, "resolve shop.yaml").env("CUVEE_INPUT_BACKUP", typed);
        rejected(
            variable,
            "the environment variable `CUVEE_INPUT_BACKUP` assigns `backup` a value that does not fit",
            typed,
            meant,
        );
    }
    // For other inputs such a word is an ordinary string, and files may use it because of features.
    gives(cuvee(&dir, "resolve shop.yaml -i mode=no"), DEV);
    write(&dir, "inputs.yaml", "backup: no\n");
    let file = cuvee(&dir, "resolve shop.yaml --inputs inputs.yaml").assert().success();
    file.stdout_eq(raw(format!("{DEV}{BACKUP}"))).stderr_eq("warning[invalid-input]: [..]\n...\n");
}

#[test]
fn inputs_of_a_file_stand_at_its_top() {
    let dir = workplace();
    write(&dir, "inputs.yaml", "inputs:\n  mode: prod\n");
    let wrapped = cuvee(&dir, "resolve shop.yaml --inputs inputs.yaml").assert().code(1);
    wrapped.stdout_eq(raw("")).stderr_eq(str![[r#"
error[invalid-input]: an input file assigns `inputs`, which is not a declared variability input
 --> inputs.yaml:2:3
  |
2 |   mode: prod
  |   ^^^^^^^^^^
  |
  = help: leave `inputs` out: the names of inputs are to stand at the top of the file; `cuvee validate shop.yaml` tells 3 more errors

error: 1 error

"#]]);
}

#[test]
fn a_template_is_no_feature_model() {
    cuvee(&workplace(), "import shop.yaml").assert().code(1).stdout_eq(raw("")).stderr_eq(str![[
        r#"
error[syntax]: this is a TOSCA template, and no feature model
 --> shop.yaml:1:1
  |
1 | tosca_definitions_version: tosca_variability_1_0
  | ^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: `cuvee export --format uvl` writes the feature model of its inputs

error: 1 error

"#
    ]]);
}

/// A part of a name is enough where only one element can be meant.
#[test]
fn the_last_part_of_a_name_is_enough_where_it_is_unique() {
    let dir = workplace();
    let told = |line: &str| {
        let told = cuvee(&dir, line).assert().success().stderr_eq(raw(""));
        String::from_utf8(told.get_output().stdout.clone()).unwrap()
    };
    assert_eq!(told("explain shop.yaml monitor"), told("explain shop.yaml node.monitor"));
    assert_eq!(told("explain shop.yaml size"), told("explain shop.yaml property.size@0.node.shop"));
    let refused = |line: &str, message: &str, help: &str| {
        cuvee(&dir, line)
            .assert()
            .code(1)
            .stdout_eq(raw(""))
            .stderr_eq(format!("error[{message}\n |\n = help: {help}\n\nerror: 1 error\n"));
    };
    write(&dir, "twice.yaml", TWICE);
    refused(
        "explain twice.yaml size",
        "ambiguous-element]: more than one element may be meant by `size`",
        "name one of `property.size@0.node.shop`, `property.size@1.node.shop`",
    );
    refused(
        "explain shop.yaml monitr",
        "unknown-element]: there is no element `monitr`",
        "did you mean `node.monitor`?",
    );
    write(
        &dir,
        "types.yaml",
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  shop.nodes.Service: {}\n  shop.nodes.Till: {}\n  bank.nodes.Till: {}\n\
         topology_template: {node_templates: {till: {type: shop.nodes.Till}}}\n",
    );
    assert_eq!(told("types types.yaml Service"), told("types types.yaml shop.nodes.Service"));
    refused(
        "types types.yaml Servic",
        "unknown-type]: there is no type `Servic`",
        "did you mean `Service`?",
    );
    refused(
        "types types.yaml Till",
        "unknown-type]: there is no type `Till`",
        "name one of `bank.nodes.Till`, `shop.nodes.Till`",
    );
}

/// The messages about a template in which these lines of the node `shop` are wrong.
fn refused_shop(dir: &TempDir, lines: &str) -> snapbox::cmd::OutputAssert {
    let text = format!(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  node_templates:\n    shop:\n{lines}"
    );
    write(dir, "wrong.yaml", &text);
    cuvee(dir, "resolve wrong.yaml").assert().code(1).stdout_eq(raw(""))
}

/// The mistake is in the line above the colon that the message points to.
#[test]
fn colons_want_a_space_behind_them_and_keys_their_column() {
    let dir = workplace();
    let node = |lines: &str| refused_shop(&dir, lines);
    node("      type:App\n      # What it has.\n      properties: {size: 1}\n").stderr_eq(str![[
        r#"
error[syntax]: malformed YAML: while parsing a block mapping, did not find expected key
 --> wrong.yaml:7:7
  |
7 |       properties: {size: 1}
  |       ^^^^^^^^^^^
  |
  = help: put a space behind the colon: `type: App`

error: 1 error

"#
    ]]);
    node("      type:App\n      properties: {size: 1}\n").stderr_eq(
        "error[syntax]: [..]\n...\n  = help: put a space behind the colon: `type: App`\n\nerror: 1 error\n",
    );
    node("      type: App\n        till:\n          type: Till\n").stderr_eq(str![[r#"
error[syntax]: malformed YAML: mapping values are not allowed in this context
 --> wrong.yaml:6:13
  |
6 |         till:
  |             ^
  |
  = help: indent this as far as `type` above, which has a value and can hold nothing else

error: 1 error

"#]]);
    node("      description: tea: green\n").stderr_eq(str![[r#"
error[syntax]: malformed YAML: mapping values are not allowed in this context
 --> wrong.yaml:5:23
  |
5 |       description: tea: green
  |                       ^
  |
  = help: quote the text if the colon belongs to it

error: 1 error

"#]]);
}

/// There is one message for one mistake, at each place where an entry is missing its blank.
#[test]
fn a_blank_is_missed_wherever_an_entry_was_to_stand() {
    let dir = workplace();
    let node = |lines: &str| refused_shop(&dir, lines);
    node("      type:App\n").stderr_eq(str![[r#"
error[invalid-template]: node template `shop` has to be a map
 --> wrong.yaml:5:7
  |
5 |       type:App
  |       ^^^^^^^^
  |
  = help: put a space behind the colon: `type: App`

error: 1 error

"#]]);
    node("      type: App\n      properties:\n        size:1\n").stderr_eq(
        "error[invalid-template]: [..]\n...\n  = help: put a space behind the colon: `size: 1`; `cuvee validate wrong.yaml` tells 1 more error\n\nerror: 1 error\n",
    );
    node("      type: App\n      requirements:\n        - host:vm\n").stderr_eq(
        "error[invalid-template]: [..]\n...\n  = help: put a space behind the colon: `host: vm`; `cuvee validate wrong.yaml` tells 1 more error\n\nerror: 1 error\n",
    );
}

#[test]
fn nodes_that_are_indented_wrongly_are_shown() {
    let dir = workplace();
    let resolved = |lines: &str| refused_shop(&dir, &format!("      type: shop\n{lines}"));
    resolved("      till:\n        type: till\n").stderr_eq(str![[r#"
error[unknown-keyword]: `till` is not a keyname of a node template
 --> wrong.yaml:6:7
  |
6 |       till:
  |       ^^^^
  |
  = note: section 3.8.3.1 of TOSCA Simple Profile 1.3
  = help: indent it as far as `shop` if it is a node template; `cuvee validate wrong.yaml` tells 1 more error

error: 1 error

"#]]);
    resolved("  till:\n    type: till\n").stderr_eq(str![[r#"
error[unknown-keyword]: `till` is not a keyname of a topology template
 --> wrong.yaml:6:3
  |
6 |   till:
  |   ^^^^
  |
  = note: section 3.9.1 of TOSCA Simple Profile 1.3
  = help: indent it below `node_templates` if it is a node template; `cuvee validate wrong.yaml` tells 1 more error

error: 1 error

"#]]);
}

#[test]
fn what_absent_nodes_leave_behind_is_told_with_a_mode() {
    let dir = workplace();
    let text = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs:\n      cloud: {type: boolean, default: false}\n  \
        node_templates:\n    shop:\n      type: shop\n      requirements:\n        - store: vm\n    \
        vm:\n      type: vm\n      conditions: {variability_input: cloud}\n      properties: {size: 1}\n";
    write(&dir, "first.yaml", text);
    let told = cuvee(&dir, "resolve first.yaml").assert().code(1).stdout_eq(raw(""));
    told.stderr_eq(str![[r#"
error[relation-target]: the target of relation "store@0" of node "shop" is absent: node "vm"
  --> first.yaml:10:11
   |
10 |         - store: vm
   |           ^^^^^
11 |     vm:
   |     -- this target is absent

error[missing-property-container]: property "size@0" of node "vm" is present, but what it belongs to is absent
  --> first.yaml:14:20
   |
14 |       properties: {size: 1}
   |                    ^^^^
   |
   = help: `options: {mode: semantic-loose}` would remove what belongs to absent nodes; `cuvee validate first.yaml` tells 2 more errors

error: 2 errors

"#]]);
    // The options of the call override those of the template.
    cuvee(&dir, "resolve first.yaml --option mode=manual").assert().code(1).stderr_eq(
        "...\n   = help: `--option mode=semantic-loose` would remove what belongs to absent nodes; `cuvee validate first.yaml` tells 2 more errors\n\nerror: 2 errors\n",
    );
    cuvee(&dir, "resolve first.yaml --option mode=semantic-loose").assert().success();
    cuvee(&dir, "validate first.yaml -i cloud=false").assert().code(1).stderr_eq(
        "...\n   = help: `options: {mode: semantic-loose}` would remove what belongs to absent nodes\n...\n",
    );
    // The type goes with its node.
    cuvee(&dir, "explain first.yaml vm --option mode=semantic-loose").assert().success();
    let of_type =
        cuvee(&dir, "explain first.yaml type.vm@0.node.vm -i cloud=true").assert().success();
    of_type.stdout_eq("type.vm@0.node.vm is present, [..]\n\ntype.vm@0.node.vm  first.yaml:12:13\n└─ a type is present with the element that has it  [..]\n...\n");
    // If no mode helps, none is suggested.
    let kept = text.replace(
        "properties: {size: 1}",
        "properties:\n        - size: {value: 1, pruning: false, default_condition: false}",
    );
    write(&dir, "kept.yaml", &kept);
    cuvee(&dir, "resolve kept.yaml").assert().code(1).stderr_eq(
        "...\n   = help: give what belongs to absent nodes the conditions of those nodes; `cuvee validate kept.yaml` tells 2 more errors\n\nerror: 2 errors\n",
    );
}

#[test]
fn names_and_functions_are_no_conditions() {
    let dir = workplace();
    let conditions = |text: &str| {
        let condition = "        variability_input: backup\n";
        write(&dir, "wrong.yaml", &SHOP.replace(condition, text));
        cuvee(&dir, "resolve wrong.yaml").assert().code(1).stdout_eq(raw(""))
    };
    conditions("        - backup\n        - is_prod\n").stderr_eq(str![[r#"
error[invalid-expression]: `backup` is not a condition
  --> wrong.yaml:37:11
   |
37 |         - backup
   |           ^^^^^^
   |
   = help: write `{variability_input: backup}`; `cuvee validate wrong.yaml` tells 3 more errors

error: 1 error

"#]]);
    conditions("        get_input: backup\n").stderr_eq(str![[r#"
error[invalid-expression]: there is no operator `get_input`
  --> wrong.yaml:37:9
   |
37 |         get_input: backup
   |         ^^^^^^^^^
   |
   = help: a variant is chosen before functions of TOSCA have values: write `{variability_input: backup}`, which takes an input that `variability` declares; `cuvee validate wrong.yaml` tells 3 more errors

error: 1 error

"#]]);
}

#[test]
fn relations_that_are_missed_are_shown() {
    let dir = workplace();
    write(
        &dir,
        "wrong.yaml",
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options:\n      expected_hosting_check: true\n  \
         node_templates:\n    vm:\n      type: vm\n    shop:\n      type: shop\n      requirements:\n        - host:\n            node: vm\n            conditions: false\n",
    );
    cuvee(&dir, "resolve wrong.yaml").assert().code(1).stdout_eq(raw("")).stderr_eq(str![[r#"
error[expected-incoming-relation]: node "vm" is expected to have a present incoming relation: it has 1, all absent
  --> wrong.yaml:7:5
   |
 7 |     vm:
   |     ^^
...
12 |         - host:
   |           ---- this one is absent
   |
   = help: keep one of them, or set the option `expected_incoming_relation_check` to false

error[expected-hosting]: node "shop" is expected to have a present hosting relation: it has 1, all absent
  --> wrong.yaml:9:5
   |
 9 |     shop:
   |     ^^^^
...
12 |         - host:
   |           ---- this one is absent
   |
   = help: keep one of them, or set the option `expected_hosting_check` to false; `cuvee validate wrong.yaml` tells 3 more errors

error: 2 errors

"#]]);
    write(
        &dir,
        "wrong.yaml",
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options:\n      mode: semantic-loose\n      unconsumed_input_check: true\n      unproduced_output_check: true\n  \
         inputs:\n    size: {type: integer}\n    unused: {type: integer}\n  node_templates:\n    vm:\n      type: vm\n      conditions: false\n      properties:\n        size: {get_input: size}\n  \
         outputs:\n    address: {value: {get_attribute: [vm, address]}}\n",
    );
    cuvee(&dir, "resolve wrong.yaml").assert().code(1).stdout_eq(raw("")).stderr_eq(str![[r#"
error[unconsumed-input]: input "size@0" is consumed by no present element
  --> wrong.yaml:9:5
   |
 9 |     size: {type: integer}
   |     ^^^^
...
16 |         size: {get_input: size}
   |         ---- this one is absent
   |
   = help: keep one of them, or set the option `unconsumed_input_check` to false

error[unconsumed-input]: input "unused@1" is consumed by no present element
  --> wrong.yaml:10:5
   |
10 |     unused: {type: integer}
   |     ^^^^^^
   |
   = help: set the option `unconsumed_input_check` to false

error[unproduced-output]: output "address@0" is produced by no present element
  --> wrong.yaml:18:5
   |
12 |     vm:
   |     -- this one is absent
...
18 |     address: {value: {get_attribute: [vm, address]}}
   |     ^^^^^^^
   |
   = help: keep one of them, or set the option `unproduced_output_check` to false

warning[dangling-reference]: output "address@0" refers to node "vm", which is absent
  --> wrong.yaml:18:38
   |
12 |     vm:
   |     -- this is absent
...
18 |     address: {value: {get_attribute: [vm, address]}}
   |                                      ^^^^^^^^^^^^^
   |
   = help: give what refers to it the conditions of what it refers to; `cuvee validate wrong.yaml` tells 2 more errors

error: 3 errors, 1 warning

"#]]);
}

#[test]
fn output_is_written_as_a_whole_or_not_at_all() {
    let dir = workplace();
    let before = names(dir.path());
    cuvee(&dir, "resolve typo.yaml -o out.yaml").assert().code(1).stdout_eq(raw(""));
    assert_eq!(names(dir.path()), before);

    gives(cuvee(&dir, "resolve shop.yaml -o out.yaml"), "");
    assert_eq!(read(&dir, "out.yaml"), DEV);
    gives(cuvee(&dir, "resolve shop.yaml --preset prod -o out.yaml"), "");
    assert_eq!(read(&dir, "out.yaml"), format!("{DEV}{MONITOR}"));

    cuvee(&dir, "resolve typo.yaml -o out.yaml").assert().code(1).stdout_eq(raw(""));
    assert_eq!(read(&dir, "out.yaml"), format!("{DEV}{MONITOR}"));

    assert_eq!(names(dir.path()).len(), before.len() + 1);
}

/// A run never overwrites a file that it reads, whatever name the file has.
#[test]
fn what_was_read_is_never_overwritten() {
    let dir = workplace();
    write(&dir, "in/inputs.yaml", "mode: prod\n");
    let types = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  shop: {derived_from: tosca.nodes.Root}\n";
    write(&dir, "types.yaml", types);
    let (head, body) = SHOP.split_once('\n').unwrap();
    write(&dir, "shop.yaml", &format!("{head}\nimports:\n  - types.yaml\n{body}"));
    write(&dir, "prod.yaml", &read(&dir, "shop.yaml"));
    write(&dir, "plain.yaml", DEV);
    write(&dir, "model", "features\n  Shop\n");
    let before = read(&dir, "shop.yaml");
    // The ending of this one names no format.
    write(&dir, "shop.v1", &before);
    for (line, target) in [
        ("resolve shop.yaml", "shop.yaml"),
        ("resolve shop.yaml", "in/../shop.yaml"),
        ("resolve shop.yaml --evaluate", "types.yaml"),
        ("resolve shop.yaml --inputs in/inputs.yaml", "in/inputs.yaml"),
        ("resolve shop.v1 --format json", "shop.v1"),
        ("graph shop.v1", "shop.v1"),
        ("report shop.v1", "shop.v1"),
        ("export shop.v1 --format uvl", "shop.v1"),
        ("import model", "model"),
        ("assign plain.yaml", "plain.yaml"),
    ] {
        let failure = cuvee(&dir, &format!("{line} -o {target}")).assert().code(1);
        failure.stdout_eq(raw("")).stderr_eq(format!(
            "...\nerror[file]: the result would overwrite `{target}`, from which it is made\n |\n = help: write to another file\n\nerror: 1 error\n"
        ));
    }
    let all = cuvee(&dir, "variants prod.yaml --all-presets --output-dir .").assert().code(1);
    all.stderr_eq(
        "error[file]: the result would overwrite `./prod.yaml`, from which it is made\n...\n",
    );
    assert_eq!(read(&dir, "shop.yaml"), before);
    assert_eq!(read(&dir, "prod.yaml"), before);
    assert_eq!(read(&dir, "types.yaml"), types);
    assert_eq!(read(&dir, "plain.yaml"), DEV);
}

/// A dash in place of a file of inputs is standard input, which can be read only once.
#[test]
fn a_dash_is_standard_input_for_inputs() {
    let dir = workplace();
    let resolve = |line: &str| cuvee(&dir, line).stdin(Data::text("mode: prod\n"));
    write(&dir, "inputs.yaml", "mode: prod\n");
    let expected = cuvee(&dir, "resolve shop.yaml --inputs inputs.yaml").assert().success();
    let expected = String::from_utf8(expected.get_output().stdout.clone()).unwrap();
    for line in ["resolve shop.yaml --inputs -", "resolve shop.yaml --inputs=- -o -"] {
        gives(resolve(line), &expected);
    }
    for line in ["resolve - --inputs -", "diff - --inputs=- --to prod", "validate - -"] {
        resolve(line).assert().code(2).stdout_eq(raw("")).stderr_eq(
            "error: standard input can be read only once, so `-` cannot be given twice\n...\n",
        );
    }
    let wrong = cuvee(&dir, "resolve shop.yaml --inputs -").stdin(Data::text("mode: [\n"));
    wrong
        .assert()
        .code(1)
        .stdout_eq(raw(""))
        .stderr_eq("error[syntax]: [..]\n --> /dev/stdin:1:7\n...\n");
}

#[test]
fn a_dash_is_standard_output() {
    let dir = workplace();
    write(&dir, "plain.yaml", DEV);
    write(&dir, "model.uvl", "features\n  Shop\n");
    gives(cuvee(&dir, "resolve shop.yaml -o -"), DEV);
    gives(cuvee(&dir, "assign plain.yaml -q -o -"), DEV);
    for line in
        ["graph shop.yaml", "report shop.yaml", "export shop.yaml --format uvl", "import model.uvl"]
    {
        let plain = cuvee(&dir, line).assert().success().get_output().stdout.clone();
        let dashed = cuvee(&dir, &format!("{line} --output -")).assert().success();
        assert!(!plain.is_empty() && dashed.get_output().stdout == plain, "{line}");
    }
    assert!(!names(dir.path()).contains(&"-".to_owned()));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let dir = workplace();
    write(&dir, "taken/file", "");
    for target in ["no/where.yaml", "taken", "shop.yaml/x"] {
        let failure = cuvee(&dir, &format!("resolve shop.yaml -o {target}"))
            .assert()
            .code(1)
            .stdout_eq(raw(""));
        failure
            .stderr_eq(format!("error[file]: cannot write `{target}`: [..]\n\nerror: 1 error\n"));
    }
    assert_eq!(names(&dir.path().join("taken")), ["file"]);
}

/// The command waits for its input before it writes, so the pipe is surely closed by then.
#[test]
fn a_reader_that_leaves_is_no_mistake() {
    let dir = workplace();
    let mut child = waiting_for_standard_input(&dir);
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(SHOP.as_bytes()).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
    assert!(child.wait().unwrap().success());
}

fn waiting_for_standard_input(dir: &TempDir) -> std::process::Child {
    std::process::Command::new(cargo_bin!("cuvee"))
        .current_dir(dir.path())
        .env_remove("CUVEE_PRESETS")
        .args(["resolve", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_it_with_130() {
    let dir = workplace();
    let mut child = waiting_for_standard_input(&dir);
    // Standard input stays open: at its end, the process would go on, and perhaps end before the
    // interrupt.
    let stdin = child.stdin.take();
    let id = child.id().to_string();
    while !catches_interrupt(&id) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::yield_now();
    }
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(names(dir.path()), ["shop.yaml", "twice.yaml", "typo.yaml"]);
}

/// Whether the process handles signal 2, which Ctrl-C sends.
#[cfg(target_os = "linux")]
fn catches_interrupt(id: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
    u64::from_str_radix(caught, 16).unwrap() & 0b10 != 0
}

/// The fewest points that meet every line of a Steiner triple system of 81 points. A solution is
/// easy to find, but its optimality cannot be proven in seconds.
fn lines_to_meet() -> String {
    let mut text = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options:\n      \
                    mode: manual\n      type_default_condition: true\n      optimization_topology: min\n      optimization_topology_mode: count\n    constraints:\n"
        .to_owned();
    let mut line = |points: [u32; 3]| {
        let points = points.map(|point| format!("{{node_presence: p{point}}}"));
        text += &format!("    - or: [{}]\n", points.join(", "));
    };
    for x in 0..27 {
        line([x, x + 27, x + 54]);
        for y in x + 1..27 {
            // 14 is a half modulo 27.
            (0..3).for_each(|layer| {
                line([x + 27 * layer, y + 27 * layer, (x + y) * 14 % 27 + 27 * ((layer + 1) % 3)])
            });
        }
    }
    text += "  node_templates:\n";
    (0..81).for_each(|point| {
        text += &format!("    p{point}: {{type: P, conditions: {{node_presence: p{point}}}}}\n")
    });
    text
}

#[test]
fn what_is_not_proven_in_time_is_not_accepted_silently() {
    let dir = workplace();
    write(&dir, "lines.yaml", &lines_to_meet());
    let refused = cuvee(&dir, "resolve lines.yaml --timeout 3s -q").assert().code(1);
    let refused = refused.stderr_eq(
        "error[unproven]: the time was over before this variant was proven to be the best: the number of nodes is [..], and no variant has \
         less than [..]\n |\n = help: allow more time, or accept what was found in time\n\nerror: 1 error\n",
    );
    let found = String::from_utf8(refused.get_output().stdout.clone()).unwrap();
    assert!(found.matches("type: P").count() < 81);
    let accepted = cuvee(&dir, "resolve lines.yaml --timeout 3 --accept-unproven -o out.yaml")
        .assert()
        .success();
    accepted.stderr_eq("warning[unproven]: [..]\n...\nwarning: 1 warning\n");
    assert!(fs::read_to_string(dir.path().join("out.yaml")).unwrap().contains("type: P"));
    let nothing = cuvee(&dir, "resolve lines.yaml --timeout 0 --accept-unproven -o out.yaml")
        .assert()
        .code(1);
    nothing.stderr_eq(
        "error[unproven]: the time was over before any variant was found\n |\n = help: allow more time\n\nerror: 1 error\n",
    );
    gives(cuvee(&dir, "resolve shop.yaml --timeout 10m"), DEV);
    cuvee(&dir, "resolve shop.yaml --timeout soon")
        .assert()
        .code(2)
        .stderr_eq("[..]`5m`[..]\n...\n");
}

#[test]
fn every_command_ends_when_its_time_is_over_and_says_what_took_it() {
    let dir = workplace();
    write(&dir, "lines.yaml", &lines_to_meet());
    let exploring = ["inputs", "variants", "variants --count", "analyze", "export --format dimacs"];
    for command in exploring {
        let done = cuvee(&dir, &format!("{command} shop.yaml --timeout 10m --timings -q"));
        let timed = timed(&done.assert().success().get_output().stderr);
        for name in ["starting", "reading", "determinising what is best", "total", "gates"] {
            assert!(timed.iter().any(|phase| phase.starts_with(name)), "{command}: {timed:?}");
        }
    }
    let resolving = ["matrix", "plan", "graph --present-only", "report", "explain", "validate"];
    for command in exploring.iter().chain(&resolving[..4]) {
        let given_up = cuvee(&dir, &format!("{command} lines.yaml --timeout 1s")).assert().code(1);
        given_up.stdout_eq("").stderr_eq(
            "error[unproven]: the time was over before there was an answer\n |\n = help: allow more time with `--timeout`\n\nerror: 1 error\n",
        );
    }
    for command in resolving {
        let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop");
        let done = cuvee(&dir, &format!("{command} {shop} --timings -q")).assert().success();
        let timed = timed(&done.get_output().stderr);
        for name in ["starting", "reading", "building", "total", "elements"] {
            assert!(timed.iter().any(|phase| phase.starts_with(name)), "{command}: {timed:?}");
        }
    }
    let kiosk = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/kiosk.tosca");
    for (command, phases) in [
        (format!("convert {kiosk}"), &["reading", "checking", "converting", "writing"][..]),
        (format!("validate {kiosk}"), &["reading", "checking"]),
        (format!("types {kiosk}"), &["reading"]),
    ] {
        let done = cuvee(&dir, &format!("{command} --timings -q")).assert().success();
        let timed = timed(&done.get_output().stderr);
        assert_eq!(timed, [&["starting"], phases, &["total"]].concat(), "{command}");
    }
    // A command without a template has no phases between the beginning and the end.
    let done = cuvee(&dir, "--timings explain-code file").assert().success();
    assert_eq!(timed(&done.get_output().stderr), ["starting", "total"]);
}

/// The names in the first column of the table that `--timings` prints.
fn timed(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8(stderr.to_vec()).unwrap();
    let (heading, table) = text.split_once('\n').unwrap();
    assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["phase", "ms", "share"]);
    let name = |line: &str| line.split("  ").next().unwrap().to_owned();
    table.lines().map(name).collect()
}

#[test]
fn timings_name_the_phases_and_what_there_was_to_do() {
    const PHASES: [&str; 13] = [
        "starting",
        "reading",
        "interpreting",
        "importing",
        "building",
        "enriching",
        "encoding",
        "solving",
        "looking for other variants",
        "checking",
        "writing",
        "cleaning up",
        "saving",
    ];
    const COUNTS: [&str; 5] = ["files", "bytes", "elements", "variables", "clauses"];
    let dir = workplace();
    let done = cuvee(&dir, "resolve shop.yaml --timings").assert().success().stdout_eq(raw(DEV));
    assert_eq!(timed(&done.get_output().stderr), [&PHASES[..], &["total"], &COUNTS].concat());
    // A run that fails prints how far it came before its errors.
    let failed = cuvee(&dir, "resolve typo.yaml --timings").assert().code(1);
    let rejected = timed(&failed.get_output().stderr);
    assert_eq!(rejected[..4], ["starting", "reading", "interpreting", "total"]);
    assert!(rejected[4].starts_with("error[unknown-keyword]"));
}

#[test]
fn the_clock_and_the_options_are_given() {
    let dir = workplace();
    let template = SHOP.replace(
        "          - variability_input: mode\n          - prod\n",
        "          - weekday: []\n          - tuesday\n",
    );
    write(&dir, "clock.yaml", &template);
    gives(cuvee(&dir, "resolve clock.yaml --now 2024-12-24"), &format!("{DEV}{MONITOR}"));
    gives(cuvee(&dir, "resolve clock.yaml --now 2024-12-25T12:00:00Z[UTC]"), DEV);
    let wrong = cuvee(&dir, "resolve shop.yaml --option opimization=true")
        .assert()
        .code(1)
        .stdout_eq(raw(""));
    wrong.stderr_eq("error[invalid-option]: [..]opimization[..]\n...\nerror: 1 error\n");
}

#[test]
fn an_edition_is_given() {
    let dir = workplace();
    let template = SHOP
        .replace("_1_0\n", "_1_0_rc_2\n")
        .replace("options:\n", "options:\n      edition: 2024-12\n");
    write(&dir, "rc.yaml", &template);
    let listed = |flags: &str| {
        let list = cuvee(&dir, &format!("options rc.yaml {flags}")).assert().success();
        String::from_utf8(list.get_output().stdout.clone()).unwrap()
    };
    assert!(!listed("").contains("edition 2025-07"));
    assert!(listed("--edition 2025-07").contains("edition 2025-07"));
    let wrong = cuvee(&dir, "resolve shop.yaml --edition 2025-08").assert().code(1);
    wrong.stdout_eq(raw("")).stderr_eq(
        "error[invalid-option]: [..]2025-08[..]\n...\n[..]did you mean `2025-07`? it takes `2024-12`, `2025-07`\n...\n",
    );
}

#[test]
fn tests_pass_or_say_what_differs() {
    let dir = workplace();
    for case in ["pass", "fail"] {
        write(&dir, &format!("t/group/{case}/template.yaml"), SHOP);
        write(&dir, &format!("t/group/{case}/test.yaml"), "description: why\npresets: [prod]\n");
    }
    write(&dir, "t/group/pass/expected.yaml", &format!("{DEV}{MONITOR}"));
    write(&dir, "t/group/fail/expected.yaml", &format!("{DEV}{BACKUP}").replace("1.10", "2"));
    let failed = cuvee(&dir, "test t").assert().code(1).stderr_eq(raw(""));
    failed.stdout_eq(raw("\
FAIL t/group/fail (why)
    topology_template.node_templates.shop.properties.size: expected 2, got 1.10
    topology_template.node_templates.backup: expected {\"type\":\"backup\"}, got nothing
    topology_template.node_templates.monitor: expected nothing, got {\"type\":\"monitor\"}
1 passed, 1 failed
"));
    gives(cuvee(&dir, "test t/group/pass"), "1 passed, 0 failed\n");
    gives(cuvee(&dir, "test t/group/pass t/group/pass"), "2 passed, 0 failed\n");
}

#[test]
fn tests_of_a_csar_use_its_template() {
    let dir = workplace();
    write(&dir, "csar/service-template.yaml", SHOP);
    write(&dir, "csar/other.yaml", &SHOP.replace("default: dev", "default: prod"));
    write(&dir, "csar/tests/input/inputs.yaml", "mode: prod\n");
    write(
        &dir,
        "csar/tests/input/expected.yaml",
        &format!("{DEV}{MONITOR}").replace("shop", "SHOP"),
    );
    write(&dir, "csar/tests/input/test.yaml", "replace: [[shop, SHOP]]\n");
    write(
        &dir,
        "csar/tests/other/test.yaml",
        "template: other.yaml\nexpected: dev.yaml\nmerge:\n  topology_template:\n    node_templates:\n      monitor: {type: monitor}\n",
    );
    write(&dir, "csar/tests/other/dev.yaml", DEV);
    write(&dir, "csar/tests/refused/test.yaml", "presets: nightly\nerror: unknown-preset\n");
    write(
        &dir,
        "csar/tests/told/test.yaml",
        "template: ../twice.yaml\noptions: {ambiguous_property_check: true}\nerror: ambiguous-property\n",
    );
    write(
        &dir,
        "csar/tests/warned/test.yaml",
        "template: ../twice.yaml\nwarning: nondeterminism\nexpected: ../../two.yaml\n",
    );
    write(&dir, "csar/two.yaml", &DEV.replace("1.10", "2.0"));
    gives(cuvee(&dir, "test csar"), "5 passed, 0 failed\n");
    gives(cuvee(&dir, "test csar/tests/other"), "1 passed, 0 failed\n");
    let inside = Command::new(cargo_bin!("cuvee"))
        .current_dir(dir.path().join("csar/tests/told"))
        .args(["test", "."]);
    gives(inside, "1 passed, 0 failed\n");
}

/// What an option demands of a node is one reason, however many clauses it takes. Of the two that
/// demand a host, one is enough.
#[test]
fn a_reason_is_given_only_where_the_others_do_not_suffice() {
    let dir = workplace();
    let text = "\
tosca_definitions_version: tosca_variability_1_0_rc_3
topology_template:
  variability:
    options:
      technology_constraint: false
      node_default_condition_mode: outgoingnaive
    constraints:
      - node_presence: app
  node_templates:
    app:
      type: App
      requirements: [{ host: server }, { host: server }]
    server: { type: Server, requirements: [{ db: app }] }
";
    write(&dir, "hosts.yaml", text);
    let refused = cuvee(&dir, "resolve hosts.yaml").assert().code(1).stdout_eq(raw(""));
    refused.stderr_eq(str![[r#"
error[unsatisfiable]: no variant fulfils all conditions: these 6 conflict
  --> hosts.yaml:8:9
   |
 8 |       - node_presence: app
   |         ^^^^^^^^^^^^^^^^^^ this constraint has to hold
 9 |   node_templates:
10 |     app:
   |     --- node "app" is bound by `hosting_stack_constraint` (default of tosca_variability_1_0_rc_3)
11 |       type: App
12 |       requirements: [{ host: server }, { host: server }]
   |                        ----              ----
   |                        |                 |
   |                        |                 relation "host@1" of node "app" is present only if its pruning `target` holds (mode semantic-loose)
   |                        |                 relation "host@1" of node "app" has no conditions of its own: only default conditions and pruning can remove it
   |                        relation "host@0" of node "app" is present only if its pruning `target` holds (mode semantic-loose)
   |                        relation "host@0" of node "app" has no conditions of its own: only default conditions and pruning can remove it
   |
   = help: each of them could hold without one of the others: drop or weaken any one

error: 1 error

"#]]);
}

#[test]
fn tests_that_cannot_run_fail() {
    let dir = workplace();
    write(&dir, "t/a/template.yaml", SHOP);
    write(&dir, "t/a/test.yaml", "preset: prod\n");
    write(&dir, "t/b/test.yaml", "");
    write(&dir, "t/c/template.yaml", SHOP);
    write(&dir, "t/c/test.yaml", "error: unsatisfiable\n");
    write(&dir, "t/d/template.yaml", TYPO);
    write(&dir, "t/d/test.yaml", "error: unsatisfiable\n");
    write(&dir, "t/e/template.yaml", SHOP);
    write(&dir, "t/e/test.yaml", "");
    write(&dir, "t/f/template.yaml", SHOP);
    write(&dir, "t/f/test.yaml", "warning: nondeterminism\n");
    write(&dir, "t/f/expected.yaml", DEV);
    let failed = cuvee(&dir, "test t").assert().code(1).stderr_eq(raw(""));
    failed.stdout_eq(str![[r#"
FAIL t/a
    t/a/test.yaml:1:1: unknown key `preset`: did you mean `presets`?
FAIL t/b
    t/b holds no variable-service-template.yaml, service-template.yaml, template.yaml, vst.yaml
FAIL t/c
    expected the error `unsatisfiable`, but it resolved
FAIL t/d
    expected the error `unsatisfiable`, got
    t/d/template.yaml:6:7: error[unknown-keyword]: [..]
FAIL t/e
    neither an `error` nor est.yaml or expected.yaml
FAIL t/f
    expected the warning `nondeterminism`, got []
0 passed, 6 failed

"#]]);
}

/// Only the selected tests run, and a report for programs lists each of them.
#[test]
fn tests_are_chosen_and_reported() {
    let dir = workplace();
    write(&dir, "t/shop/template.yaml", SHOP);
    for case in ["plain", "prod", "safe<&>\u{1b}", "later---disabled"] {
        write(&dir, &format!("t/shop/tests/{case}/expected.yaml"), DEV);
    }
    write(
        &dir,
        "t/shop/tests/prod/test.yaml",
        "description: \"a \\e <prod> & more\"\npresets: prod\n",
    );
    gives(cuvee(&dir, "test t --filter plain"), "1 passed, 0 failed\n");
    gives(cuvee(&dir, "test t --filter shop/tests/later"), "0 passed, 0 failed, 1 skipped\n");
    let none = cuvee(&dir, "test t --filter plian").assert().code(1).stdout_eq(raw(""));
    none.stderr_eq(
        "error[file]: no test has `plian` in its path\n |\n = help: did you mean `plain`?\n...\n",
    );

    let json = cuvee(&dir, "test t --format json").assert().code(1).stderr_eq(raw(""));
    let report: Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    assert_eq!(report["version"], 1);
    assert_eq!((&report["passed"], &report["failed"]), (&2.into(), &1.into()));
    assert_eq!(report["skipped"][0], "t/shop/tests/later---disabled");
    assert_eq!(report["cases"][1]["path"], "t/shop/tests/prod");
    assert_eq!(report["cases"][1]["description"], "a \u{1b} <prod> & more");
    assert_eq!(report["cases"][1]["passed"], false);
    let problem =
        "topology_template.node_templates.monitor: expected nothing, got {\"type\":\"monitor\"}";
    assert_eq!(report["cases"][1]["problems"][0], problem);

    let junit = cuvee(&dir, "test t --format junit").assert().code(1).stderr_eq(raw(""));
    junit.stdout_eq(raw("\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"cuvee\" tests=\"4\" failures=\"1\" errors=\"0\">
  <testsuite name=\"t/shop/tests\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\">
    <testcase classname=\"t/shop/tests\" name=\"plain\"/>
    <testcase classname=\"t/shop/tests\" name=\"prod\"><failure message=\"a \u{fffd} &lt;prod&gt; &amp; more\" type=\"failure\">topology_template.node_templates.monitor: expected nothing, got {&quot;type&quot;:&quot;monitor&quot;}</failure></testcase>
    <testcase classname=\"t/shop/tests\" name=\"safe&lt;&amp;&gt;\u{fffd}\"/>
    <testcase classname=\"t/shop/tests\" name=\"later---disabled\"><skipped/></testcase>
  </testsuite>
</testsuites>
"));
}

/// Differences are shown and become the expectation; cases whose expectation cannot be derived
/// stay.
#[test]
fn tests_are_updated() {
    let dir = workplace();
    write(&dir, "t/template.yaml", SHOP);
    write(&dir, "t/tests/new/test.yaml", "presets: prod\n");
    write(&dir, "t/tests/old/expected.yaml", &DEV.replace("1.10", "2"));
    write(&dir, "t/tests/same/est.yaml", DEV);
    write(&dir, "t/tests/texts/test.yaml", "replace: [[shop, SHOP]]\n");
    write(&dir, "t/tests/texts/expected.yaml", DEV);
    write(
        &dir,
        "t/tests/refused/test.yaml",
        "presets: nightly\nerror: \"unsatisfiable\" # or so\n",
    );
    let told = cuvee(&dir, "test t --update").assert().success().stderr_eq(raw(""));
    told.stdout_eq(str![[r#"
UPDATE t/tests/new
    neither an `error` nor est.yaml or expected.yaml
    writing t/tests/new/expected.yaml
UPDATE t/tests/old
    topology_template.node_templates.shop.properties.size: expected 2, got 1.10
    writing t/tests/old/expected.yaml
UPDATE t/tests/refused
    expected the error `unsatisfiable`, got
    t/tests/refused/test.yaml:1:10: error[unknown-preset]: there is no variability preset `nightly`
    writing t/tests/refused/test.yaml
UPDATE t/tests/texts
    topology_template.node_templates.shop: expected {"type":"shop","properties":{"size":1.1}}, got nothing
    topology_template.node_templates.SHOP: expected nothing, got {"type":"SHOP","properties":{"size":1.1}}
    writing t/tests/texts/expected.yaml
5 passed, 0 failed, 4 of them updated

"#]]);
    assert_eq!(read(&dir, "t/tests/new/expected.yaml"), format!("{DEV}{MONITOR}"));
    assert_eq!(read(&dir, "t/tests/old/expected.yaml"), DEV);
    assert_eq!(read(&dir, "t/tests/texts/expected.yaml"), DEV.replace("shop", "SHOP"));
    let settings = "presets: nightly\nerror: \"unknown-preset\" # or so\n";
    assert_eq!(read(&dir, "t/tests/refused/test.yaml"), settings);
    gives(cuvee(&dir, "test t"), "5 passed, 0 failed\n");

    // Cases with a merge, with an error although the template resolves, and with the template
    // itself as the expectation.
    write(&dir, "t/tests/laid/test.yaml", "merge: {description: d}\nexpected: ../same/est.yaml\n");
    write(&dir, "t/tests/good/test.yaml", "error: unsatisfiable\n");
    write(&dir, "t/tests/own/test.yaml", "expected: ../../template.yaml\n");
    let told = cuvee(&dir, "test t --update").assert().code(1);
    told.stdout_eq("FAIL t/tests/good\n...\nFAIL t/tests/laid\n...\nFAIL t/tests/own\n...\n5 passed, 3 failed, 0 of them updated\n");
    assert_eq!(read(&dir, "t/template.yaml"), SHOP);
    assert_eq!(read(&dir, "t/tests/same/est.yaml"), DEV);

    // Two cases that expect different contents of one file.
    write(&dir, "u/template.yaml", SHOP);
    write(&dir, "u/tests/a/test.yaml", "presets: prod\nexpected: ../one.yaml\n");
    write(&dir, "u/tests/b/test.yaml", "expected: ../one.yaml\n");
    let told = cuvee(&dir, "test u --update").assert().code(1);
    told.stdout_eq("UPDATE u/tests/a\n...\nFAIL u/tests/b\n...\n    another case expects something else of `u/tests/one.yaml`\n1 passed, 1 failed, 1 of them updated\n");
    assert_eq!(read(&dir, "u/tests/one.yaml"), format!("{DEV}{MONITOR}"));
    cuvee(&dir, "test t --update --format json").assert().code(2);
}

/// A mistake in settings is reported at its place, with a suggestion. Cases that fail for the same
/// reasons share one message.
#[test]
fn wrong_tests_say_where() {
    let dir = workplace();
    write(&dir, "t/template.yaml", SHOP);
    let case = |name: &str, text: &str| write(&dir, &format!("t/tests/{name}/test.yaml"), text);
    case("a", "description: d\npresets: [safe, prd]\n");
    case("b", "inputs: input.yaml\n");
    write(&dir, "t/tests/b/inputs.yaml", "");
    case("c", "options:\n  mod: manual\n");
    case("d", "expected: expcted.yaml\n");
    write(&dir, "t/tests/d/expected.yaml", DEV);
    case("e", "presets: nightly\nerror: unknown-prest\n");
    case("f", "template: ../template.yml\n");
    case("g", "warning: nondeterminsm\n");
    case("h", "warning: nondeterminism\nexpected: ../d/expected.yaml\n");
    case("i", "warning: nondeterminism\nexpected: ../d/expected.yaml\n");
    let failed = cuvee(&dir, "test t").assert().code(1).stderr_eq(raw(""));
    failed.stdout_eq(str![[r#"
FAIL t/tests/a (d)
    t/tests/a/test.yaml:2:17: error[unknown-preset]: there is no variability preset `prd`: did you mean `prod`?
FAIL t/tests/b
    t/tests/b/test.yaml:1:9: error[file]: cannot read `t/tests/b/input.yaml`: [..]: did you mean `t/tests/b/inputs.yaml`?
FAIL t/tests/c
    t/tests/c/test.yaml:2:3: error[invalid-option]: [..]: did you mean `mode`?
FAIL t/tests/d
    t/tests/d/test.yaml:1:11: error[file]: cannot read `t/tests/d/expcted.yaml`: [..]: did you mean `t/tests/d/expected.yaml`?
FAIL t/tests/e
    expected the error `unknown-prest` (did you mean `unknown-preset`?), got
    t/tests/e/test.yaml:1:10: error[unknown-preset]: there is no variability preset `nightly`
FAIL t/tests/f
    t/tests/f/test.yaml:1:11: error[file]: cannot read `t/../template.yml`: [..]
FAIL t/tests/g
    t/tests/g/test.yaml:1:10: there is no code `nondeterminsm`: did you mean `nondeterminism`?
FAIL t/tests/h
    expected the warning `nondeterminism`, got []
FAIL t/tests/i
    as t/tests/h
0 passed, 9 failed

"#]]);
}

#[test]
fn no_tests_are_no_success() {
    let dir = workplace();
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (target, why) in
        [("empty", "it holds no tests"), ("shop.yaml", "not a directory"), ("none", "[..]")]
    {
        let failure = cuvee(&dir, &format!("test {target}")).assert().code(1).stdout_eq(raw(""));
        failure.stderr_eq(format!(
            "error[file]: cannot test `{target}`: {why}\n...\nerror: 1 error\n"
        ));
    }
}

#[test]
fn options_tell_where_they_come_from() {
    let dir = workplace();
    let line = "options twice.yaml --option mode=semantic-loose";
    let list = cuvee(&dir, line).assert().success().stderr_eq(raw("")).get_output().stdout.clone();
    let list = String::from_utf8(list).unwrap();
    let row = |name: &str| {
        list.lines().find(|row| row.split_whitespace().next() == Some(name)).unwrap_or_default()
    };
    assert!(row("ambiguous_property_check").ends_with("twice.yaml:5:33"), "{list}");
    assert!(row("mode").ends_with("command line"), "{list}");
    assert!(!list.contains("built-in"), "{list}");

    let all =
        cuvee(&dir, "options twice.yaml --all --format json").assert().success().stderr_eq(raw(""));
    let all: Value = serde_json::from_slice(&all.get_output().stdout).unwrap();
    let all = all["options"].as_array().unwrap();
    let option = all.iter().find(|option| option["name"] == "ambiguous_property_check").unwrap();
    assert_eq!((&option["value"], &option["origin"]), (&"false".into(), &"twice.yaml:5:33".into()));
    assert!(option["description"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(all.iter().any(|option| option["origin"] == "built-in"));
}

#[test]
fn options_take_the_flags_of_others_and_say_that_they_do_not_matter() {
    let dir = workplace();
    let plain = cuvee(&dir, "options twice.yaml --all").assert().success().stderr_eq(raw(""));
    let plain = String::from_utf8(plain.get_output().stdout.clone()).unwrap();
    let flags =
        "--preset none --inputs none.yaml -i none=1 --map a=b --now 2024-12-24 --solver batsat";
    cuvee(&dir, &format!("options twice.yaml --all {flags}")).assert().success().stdout_eq(raw(&*plain)).stderr_eq(str![[r#"
note[usage]: `--preset`, `--inputs`, `--input`, `--map`, `--now`, `--solver` do not matter to options
 |
 = help: options depend on the template, `--option` and `--edition`

note: 1 note

"#]]);
    cuvee(&dir, "options twice.yaml -q --preset none").assert().success().stderr_eq(raw(""));
}

const VILLAGE: [(&str, &str); 11] = [
    (
        "village/template.yaml",
        "tosca_definitions_version: tosca_variability_1_0

imports:
  - \"lib/types.yaml\"   # ours
  - file: ../common/roads.yaml
    namespace_prefix: roads
  - far: { file: 'lib/far.yaml', conditions: false }
  - https://example.com/types.yaml
  - file: bells.yaml
    repository: town

repositories:
  town: ../town/
  hub: https://hub.example/

node_types:
  Mill:
    derived_from: tosca.nodes.Root
    artifacts:
      wheel: { type: tosca.artifacts.File, file: files/wheel.bin }
      grind.sh: { type: tosca.artifacts.File, file: files/turn.sh }
    interfaces:
      Standard: { operations: { start: { implementation: files/turn.sh } } }

topology_template:
  variability: { options: { mode: semantic-loose } }
  node_templates:
    mill:
      type: Mill
      artifacts:
        flour: files/flour.war
        image: { file: 'village/mill:1.2', type: tosca.artifacts.Deployment.Image }
        stones: { file: ./files/stones, type: tosca.artifacts.File }
        later: { file: target/later.jar, type: tosca.artifacts.File }
        sack: { file: sack.bin, type: tosca.artifacts.File, repository: hub }
        gone: { file: files/gone.bin, type: tosca.artifacts.File, conditions: false }
      interfaces:
        Standard:
          create: flour
          stop: grind.sh
          delete: files/later.sh
          configure:
            implementation: { primary: \"files/turn.sh\", dependencies: [ files/wheel.bin, image ] }
",
    ),
    (
        "village/lib/types.yaml",
        "tosca_definitions_version: tosca_variability_1_0
imports: [ deep/er.yaml ]
node_types: { Well: { derived_from: tosca.nodes.Root, artifacts: { rope: { type: tosca.artifacts.File, file: rope.txt } } } }
",
    ),
    ("village/lib/deep/er.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\n"),
    ("village/lib/rope.txt", "rope"),
    ("village/lib/unused.txt", "unused"),
    ("village/files/wheel.bin", "wheel"),
    ("village/files/turn.sh", "turn"),
    ("village/files/flour.war", "flour"),
    ("village/files/stones/one.txt", "one"),
    ("common/roads.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\n"),
    ("town/bells.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\n"),
];

fn village() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    VILLAGE.iter().for_each(|(name, text)| write(&dir, name, text));
    write(&dir, "map/types.yaml", "tosca_definitions_version: tosca_simple_yaml_1_3\n");
    write(&dir, "village/files/gone.bin", "gone");
    dir
}

const MAP: &str = "--map https://example.com/types.yaml=map/types.yaml";

/// Relative names still lead to the same files from the directory of the result, and keep their
/// quotes.
#[test]
fn names_of_files_are_right_where_the_result_is() {
    let dir = village();
    write(&dir, "out/deep/keep.txt", "");
    let line = format!("resolve village {MAP}");
    gives(cuvee(&dir, &format!("{line} -o out/deep/mill.yaml")), "");
    let result = read(&dir, "out/deep/mill.yaml");
    for (before, after) in [
        ("- \"lib/types.yaml\"   # ours", "- \"../../village/lib/types.yaml\"   # ours"),
        ("- file: ../common/roads.yaml\n", "- file: ../../common/roads.yaml\n"),
        ("- https://example.com/types.yaml", "- https://example.com/types.yaml"),
        ("file: bells.yaml\n", "file: bells.yaml\n"),
        ("town: ../town/\n", "town: ../../town/\n"),
        ("hub: https://hub.example/", "hub: https://hub.example/"),
        ("file: files/wheel.bin }", "file: ../../village/files/wheel.bin }"),
        ("implementation: files/turn.sh }", "implementation: ../../village/files/turn.sh }"),
        ("file: files/flour.war\n", "file: ../../village/files/flour.war\n"),
        ("file: 'village/mill:1.2'", "file: 'village/mill:1.2'"),
        ("file: ./files/stones,", "file: ../../village/files/stones,"),
        ("file: target/later.jar,", "file: ../../village/target/later.jar,"),
        ("file: sack.bin,", "file: sack.bin,"),
        ("create: flour\n", "create: flour\n"),
        ("stop: grind.sh\n", "stop: grind.sh\n"),
        ("delete: files/later.sh\n", "delete: ../../village/files/later.sh\n"),
        (
            "{ primary: \"files/turn.sh\", dependencies: [ files/wheel.bin, image ] }",
            "{ primary: \"../../village/files/turn.sh\", dependencies: [ ../../village/files/wheel.bin, image ] }",
        ),
    ] {
        let there = cuvee(&dir, &line).assert().success().get_output().stdout.clone();
        assert!(String::from_utf8(there).unwrap().contains(before), "{before}");
        assert!(result.contains(after), "{after} in {result}");
    }
    // All files that the template finds are found from the result.
    let found = cuvee(&dir, &format!("validate out/deep/mill.yaml {MAP}")).assert();
    let told = String::from_utf8(found.get_output().stderr.clone()).unwrap();
    assert_eq!(told.matches("is not there").count(), 1, "{told}");
    assert_eq!(told.matches("a file that is there").count(), 1, "{told}");
    assert!(told.contains("village/target/later.jar"), "{told}");
    // The result is resolved back into the directory of the template.
    gives(cuvee(&dir, &format!("resolve out/deep/mill.yaml {MAP} -o village/again.yaml")), "");
    let beside = cuvee(&dir, &line).assert().get_output().stdout.clone();
    let plain = String::from_utf8(beside).unwrap().replace("./files/stones", "files/stones");
    assert_eq!(read(&dir, "village/again.yaml"), plain);

    gives(cuvee(&dir, &format!("{line} --format json -o out/mill.json")), "");
    assert!(read(&dir, "out/mill.json").contains("\"../village/lib/types.yaml\""));
    gives(
        cuvee(&dir, &format!("variants village {MAP} --all-presets --output-dir out/all -q")),
        "0 variants\n",
    );
    gives_something(cuvee(&dir, &format!("variants village {MAP} --output-dir out/all -q")));
    let all = names(&dir.path().join("out/all"));
    let variant = all.iter().find(|name| name.ends_with(".yaml")).unwrap();
    assert_eq!(read(&dir, &format!("out/all/{variant}")), result);
}

fn gives_something(command: Command) {
    assert!(!command.assert().success().get_output().stdout.is_empty());
}

/// Names stay as they are in a result beside the template, on standard output and in devices.
#[test]
fn names_of_files_stay_where_nothing_else_is_known() {
    let dir = village();
    let line = format!("resolve village {MAP}");
    let plain = cuvee(&dir, &line).assert().success().get_output().stdout.clone();
    let plain = String::from_utf8(plain).unwrap();
    assert!(plain.contains("- \"lib/types.yaml\""));
    for target in ["village/mill.yaml", "village/../village/mill.yaml"] {
        gives(cuvee(&dir, &format!("{line} -o {target}")), "");
        assert_eq!(read(&dir, "village/mill.yaml"), plain);
    }
    gives(cuvee(&dir, &format!("{line} -o -")), &plain);
    #[cfg(unix)]
    gives(cuvee(&dir, &format!("{line} -o /dev/null")), "");
}

fn files_below(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A directory has the result, all files that it names, directly or indirectly, and no others.
#[test]
fn a_directory_holds_what_the_result_names() {
    let dir = village();
    let line = format!("resolve village {MAP}");
    gives(cuvee(&dir, &format!("{line} --output-dir out/mill")), "");
    let held = [
        "common/roads.yaml",
        "town/bells.yaml",
        "village/files/flour.war",
        "village/files/stones/one.txt",
        "village/files/turn.sh",
        "village/files/wheel.bin",
        "village/lib/deep/er.yaml",
        "village/lib/rope.txt",
        "village/lib/types.yaml",
        "village/template.yaml",
    ];
    assert_eq!(files_below(&dir.path().join("out/mill")), held);
    gives(cuvee(&dir, &line), &read(&dir, "out/mill/village/template.yaml"));
    assert_eq!(read(&dir, "out/mill/village/files/wheel.bin"), "wheel");
    let types = read(&dir, "out/mill/village/lib/types.yaml");
    assert!(types.starts_with("tosca_definitions_version: tosca_simple_yaml_1_3\n"), "{types}");
    // If no name leads out of the directory, the result is at the top.
    let text = read(&dir, "village/template.yaml")
        .replace("  - file: ../common/roads.yaml\n    namespace_prefix: roads\n", "");
    let text = text.replace("  - file: bells.yaml\n    repository: town\n", "");
    write(&dir, "village/template.yaml", &text);
    gives(cuvee(&dir, &format!("{line} --format json --output-dir flat")), "");
    let flat = files_below(&dir.path().join("flat"));
    assert_eq!(flat.len(), 8);
    assert!(
        flat.contains(&"template.json".to_owned()) && flat.contains(&"lib/rope.txt".to_owned())
    );

    let own = cuvee(&dir, &format!("{line} --output-dir village")).assert().code(1);
    own.stderr_eq("error[file]: the result would overwrite `village/template.yaml`, from which it is made\n...\n");
    cuvee(&dir, &format!("{line} --output-dir x -o y")).assert().code(2);
    write(
        &dir,
        "village/lib/deep/er.yaml",
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template: { variability: {} }\n",
    );
    let variable = cuvee(&dir, &format!("{line} --output-dir other")).assert().code(1);
    variable.stderr_eq("error[csar]: `village/lib/deep/er.yaml`, which `village/lib/types.yaml` imports, is a variable template itself\n...\n");
    assert!(!dir.path().join("other").exists());
}

/// Names of files in an archive cannot be used outside of it, and archives have no files from
/// outside.
#[test]
fn what_nothing_leads_to_is_told() {
    let dir = village();
    let line = format!("resolve village {MAP}");
    let text = read(&dir, "village/template.yaml")
        .replace("  - file: ../common/roads.yaml\n    namespace_prefix: roads\n", "");
    let text = text.replace("  - file: bells.yaml\n    repository: town\n", "");
    write(&dir, "village/template.yaml", &text);
    gives(cuvee(&dir, &format!("{line} -o mill.csar")), "");
    let told = cuvee(&dir, &format!("resolve mill.csar {MAP} -o mill.yaml")).assert().success();
    told.stderr_eq("\
warning[file]: the result names `./files/stones`, `files/flour.war`, `files/turn.sh`, `files/wheel.bin`, `lib/types.yaml`, which cannot be found from `.`
...
");
    let inside = cuvee(&dir, &format!("resolve mill.csar {MAP}")).assert().success();
    assert_eq!(read(&dir, "mill.yaml").as_bytes(), inside.get_output().stdout);
    gives(cuvee(&dir, &format!("resolve mill.csar {MAP} --output-dir unpacked")), "");
    assert_eq!(read(&dir, "unpacked/files/stones/one.txt"), "one");

    let text = text.replace("./files/stones", "../town");
    write(&dir, "village/template.yaml", &text);
    let lacking = cuvee(&dir, &format!("{line} -o mill.csar")).assert().code(1);
    lacking.stderr_eq(
        "error[csar]: the archive would not hold `town/bells.yaml`, which the result names\n...\n",
    );
}
