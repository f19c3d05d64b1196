//! Tests `cuvee export` and `cuvee import` as a user types them.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use snapbox::cmd::{Command, cargo_bin};
use snapbox::{Data, file, str};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn cuvee(words: &[&str]) -> Command {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    Command::new(cargo_bin!("cuvee")).args(words).env_clear().current_dir(examples)
}

fn place(dir: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Asserts that a model is refused with this message.
fn refused(model: &str, expected: impl snapbox::IntoData) {
    let none = Data::from("");
    cuvee(&["import", "-"]).stdin(model).assert().code(1).stdout_eq(none).stderr_eq(expected);
}

#[test]
fn exports_the_feature_model_of_the_shop() {
    cuvee(&["export", "shop", "--format", "uvl"])
        .assert()
        .success()
        .stdout_eq(file!["../exchange/shop.uvl"])
        .stderr_eq("");
    cuvee(&["export", "shop", "--format", "featureide"])
        .assert()
        .success()
        .stdout_eq(file!["../exchange/shop.xml"])
        .stderr_eq("");
}

#[test]
fn imports_what_it_exports() {
    let exchange = |name: &str| format!("{}/tests/exchange/{name}", env!("CARGO_MANIFEST_DIR"));
    let inputs = file!["../exchange/shop-inputs.yaml"];
    cuvee(&["import", &exchange("shop.uvl")]).assert().success().stdout_eq(inputs).stderr_eq("");
    let inputs = file!["../exchange/shop-features.yaml"];
    cuvee(&["import", &exchange("shop.xml")]).assert().success().stdout_eq(inputs).stderr_eq("");
}

#[test]
fn fixes_what_is_chosen() {
    let output = cuvee(&[
        "export",
        "shop",
        "--format",
        "uvl",
        "-i",
        "stack=box",
        "-i",
        "live=false",
        "-i",
        "visitors=7",
    ])
    .output()
    .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\n\t!live\n"), "{text}");
    assert!(text.contains("\n\t\"stack = box\"\n"), "{text}");
    assert!(text.contains("{in_range [1, 100000]}, {equal 7}]}\n"), "{text}");
}

#[test]
fn exports_the_formula_for_solvers() {
    let export = |format: &str| {
        let output = cuvee(&["export", "shop", "--format", format]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let dimacs = export("dimacs");
    let header = dimacs.lines().find_map(|line| line.strip_prefix("p cnf ")).unwrap();
    let (vars, clauses) = header.split_once(' ').unwrap();
    let vars: i64 = vars.parse().unwrap();
    let body: Vec<&str> = dimacs.lines().filter(|line| !line.starts_with(['c', 'p'])).collect();
    assert_eq!(body.len().to_string(), clauses);
    let literals =
        body.iter().flat_map(|line| line.split(' ')).map(|word| word.parse::<i64>().unwrap());
    assert!(literals.clone().all(|literal| literal.abs() <= vars));
    assert_eq!(literals.filter(|literal| *literal == 0).count(), body.len());
    assert!(dimacs.lines().any(|line| line == "c 1 node.shop" || line.ends_with(" node.shop")));
    assert!(dimacs.contains("\nc p show 1 2 3 "));

    let wcnf = export("wcnf");
    let hard: Vec<&str> = wcnf.lines().filter_map(|line| line.strip_prefix("h ")).collect();
    // The hard clauses do not fix the optimum yet, so there are fewer of them.
    assert!(!hard.is_empty() && hard.len() < body.len());
    for text in [&dimacs, &wcnf] {
        assert!(text.lines().any(|line| line.ends_with(" input stack = cluster")), "{text}");
    }
    assert!(wcnf.lines().any(|line| line.starts_with("c objective 1: o / 1 % ")));
    // There is a soft clause for each node, with its weight.
    let nodes =
        wcnf.lines().filter(|line| line.starts_with("c ") && line.contains(" node.")).count();
    assert_eq!(wcnf.lines().filter(|line| !line.starts_with(['c', 'h'])).count(), nodes);
}

#[test]
fn writes_to_a_file_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (model, inputs) = (dir.path().join("shop.uvl"), dir.path().join("inputs.yaml"));
    let [model, inputs] = [model.to_str().unwrap(), inputs.to_str().unwrap()];
    cuvee(&["export", "shop", "--format", "uvl", "-o", model])
        .assert()
        .success()
        .stdout_eq("")
        .stderr_eq("");
    cuvee(&["import", model, "-o", inputs]).assert().success().stdout_eq("").stderr_eq("");
    assert!(
        fs::read_to_string(inputs)
            .unwrap()
            .starts_with("topology_template:\n  variability:\n    inputs:\n")
    );
}

#[test]
fn what_feature_ide_configures_is_resolved() {
    // A configuration of the exported model as FeatureIDE writes it.
    let dir = tempfile::tempdir().unwrap();
    let configuration = "<?xml version=\"1.0\"?><extendedConfiguration>
        <feature automatic=\"selected\" name=\"inputs\"/><feature automatic=\"selected\" name=\"stack =\"/>
        <feature manual=\"selected\" name=\"stack = box\"/><feature automatic=\"unselected\" name=\"stack = laptop\"/>
        <feature automatic=\"unselected\" name=\"stack = cluster\"/><feature manual=\"selected\" name=\"payments\"/>
        <feature manual=\"selected\" name=\"invoice\"/><feature manual=\"unselected\" name=\"card\"/>
        </extendedConfiguration>";
    let configured = place(&dir, "shop.xml", configuration);
    let configured =
        cuvee(&["resolve", "shop", "--inputs", configured.to_str().unwrap()]).output().unwrap();
    let by_hand = cuvee(&[
        "resolve",
        "shop",
        "-i",
        "stack=box",
        "-i",
        "payments=true",
        "-i",
        "invoice=true",
        "-i",
        "card=false",
    ])
    .output()
    .unwrap();
    assert!(by_hand.status.success());
    assert_eq!(configured.stdout, by_hand.stdout);
}

#[test]
fn imports_models_of_others() {
    let model = "\
namespace Sandwiches
include
    Boolean.group-cardinality
    Type.*

features
    Sandwich {extended__}      // the root
        mandatory
            Bread
                alternative
                    \"Full Grain\" {Calories 203, Price 1.99, Organic true}
                    Flatbread {Calories 90, constraint !Sauce}
        optional
            Sauce
                or
                    Ketchup
                    Mustard
                [0..*]
                    Salt
                [1..1]
                    Hot
                    Mild
            Cheese {description 'Grated'}
    /* what
       does not
go */

constraints
    Ketchup => Cheese
    !(Mustard & Cheese) | \"Full Grain\"
    Cheese <=> Salt
";
    cuvee(&["import", "-"]).stdin(model).assert().success().stderr_eq("").stdout_eq(str![[r#"
topology_template:
  variability:
    inputs:
      sandwich:
        type: boolean
        description: Sandwich
        metadata: { extended__: true }
        default: true
        mandatory: [bread]
        optional: [sauce, cheese]
      bread:
        type: boolean
        description: Bread
        default: true
        optional: [full_grain, flatbread]
        alternatives: [full_grain, flatbread]
      full_grain:
        type: boolean
        description: Full Grain
        metadata: { Calories: 203, Price: 1.99, Organic: true }
        default: false
      flatbread:
        type: boolean
        description: Flatbread
        metadata: { Calories: 90 }
        default: false
      sauce:
        type: boolean
        description: Sauce
        default: false
        optional: [ketchup, mustard, salt, hot, mild]
        choices: [ketchup, mustard]
        alternatives: [hot, mild]
      ketchup:
        type: boolean
        description: Ketchup
        default: false
      mustard:
        type: boolean
        description: Mustard
        default: false
      salt:
        type: boolean
        description: Salt
        default: false
      hot:
        type: boolean
        description: Hot
        default: false
      mild:
        type: boolean
        description: Mild
        default: false
      cheese:
        type: boolean
        description: 'Cheese: Grated'
        default: false
    constraints:
      - { variability_input: sandwich }
      - { not: { variability_input: sauce } }
      - { implies: [{ variability_input: ketchup }, { variability_input: cheese }] }
      - { or: [{ not: { and: [{ variability_input: mustard }, { variability_input: cheese }] } }, { variability_input: full_grain }] }
      - { not: { xor: [{ variability_input: cheese }, { variability_input: salt }] } }

"#]]);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    refused(
        "features\n    a\n  b\n",
        str![[r#"
error[syntax]: this line is indented less than the line above, but not like any line before that
 --> <stdin>:3:3
  |
3 |   b
  |   ^
  |
  = help: indent lines of one group alike, with tabs or with spaces

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\n\tb\n",
        str![[r#"
error[syntax]: expected no second root feature, found `b`
 --> <stdin>:3:2
  |
3 |     b
  |     ^

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\n\t\toptinal\n\t\t\tb\n",
        str![[r#"
error[syntax]: expected `mandatory`, `optional`, `or` or `alternative`, found `optinal`
 --> <stdin>:3:3
  |
3 |         optinal
  |         ^^^^^^^

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\n\t\toptional\n\t\tb\n",
        str![[r#"
error[syntax]: expected an indented feature of the group, found `b`
 --> <stdin>:4:3
  |
4 |         b
  |         ^

error: 1 error

"#]],
    );
    refused(
        "feature\n\ta\n",
        str![[r#"
error[syntax]: expected `features`, found `feature`
 --> <stdin>:1:1
  |
1 | feature
  | ^^^^^^^
  |
  = help: did you mean `features`?

error: 1 error

"#]],
    );
    refused(
        "imports\n\tother\nfeatures\n\ta\n",
        str![[r#"
error[invalid-input]: other models cannot be imported as variability inputs
 --> <stdin>:1:1
  |
1 | imports
  | ^^^^^^^
  |
  = help: import the models one by one

error: 1 error

"#]],
    );
    refused(
        &format!(
            "features\n\ta\n\t\t[20..40]\n{}",
            (0..60).map(|it| format!("\t\t\tf{it}\n")).collect::<String>()
        ),
        str![[r#"
error[invalid-input]: groups of so many features with bounds on how many are selected cannot be imported as variability inputs
 --> <stdin>:3:3
  |
3 |         [20..40]
  |         ^^^^^^^^
  |
  = help: use `or` for at least one feature, or `alternative` for exactly one

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\n\t\toptional\n\t\t\tb cardinality [1..4]\n",
        str![[r#"
error[invalid-input]: features that may be there several times cannot be imported as variability inputs
 --> <stdin>:4:6
  |
4 |             b cardinality [1..4]
  |               ^^^^^^^^^^^

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\n\t\toptional\n\t\t\tInteger b\n",
        str![[r#"
error[invalid-input]: a feature with a value that may be absent cannot be imported as variability inputs
 --> <stdin>:4:12
  |
4 |             Integer b
  |                     ^
  |
  = help: an input with a value is a mandatory feature below the root, without features below it

error: 1 error

"#]],
    );
    refused(
        "features\n\ta {price 3}\nconstraints\n\ta.price + 2 > 3\n",
        str![[r#"
error[invalid-input]: features of other models and their attributes cannot be imported as variability inputs
 --> <stdin>:4:2
  |
4 |     a.price + 2 > 3
  |     ^^^^^^^

error: 1 error

"#]],
    );
    refused(
        "features\n\tcheese\nconstraints\n\tchese\n",
        str![[r#"
error[invalid-input]: there is no feature `chese`
 --> <stdin>:4:2
  |
4 |     chese
  |     ^^^^^
  |
  = help: did you mean `cheese`?

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\nconstraints\n\ta & & a\n",
        str![[r#"
error[syntax]: expected a feature, `!` or `(`, found `&`
 --> <stdin>:4:6
  |
4 |     a & & a
  |         ^

error: 1 error

"#]],
    );
    refused(
        "features\n\ta\nconstraints\n\t(a\n",
        str![[r#"
error[syntax]: expected an operator or `)`, found the end of the line
 --> <stdin>:5:1
  |
5 |
  | ^

error: 1 error

"#]],
    );
    refused(
        "features\n\t\"a\n",
        str![[r#"
error[syntax]: the quotes do not end in this line
 --> <stdin>:2:2
  |
2 |     "a
  |     ^

error: 1 error

"#]],
    );
    refused(
        "features\n\ta-b\n",
        str![[r#"
error[syntax]: expected the end of the line, found `-`
 --> <stdin>:2:3
  |
2 |     a-b
  |      ^
  |
  = help: a name that is no identifier stands in double quotes

error: 1 error

"#]],
    );
    refused(
        "features\n\tor\n",
        str![[r#"
error[syntax]: expected the name of a feature, found `or`
 --> <stdin>:2:2
  |
2 |     or
  |     ^^
  |
  = help: a name that is a keyword stands in double quotes

error: 1 error

"#]],
    );
    refused(
        "",
        str![[r#"
error[syntax]: expected `features`, found the end of the file
 --> <stdin>:1:1
  |
1 |
  | ^

error: 1 error

"#]],
    );
}

#[test]
fn what_is_wrong_with_xml_is_named_with_its_place() {
    let model = |features: &str, rules: &str| {
        format!(
            "<featureModel>\n<struct>\n{features}\n</struct>\n<constraints>\n{rules}\n</constraints>\n</featureModel>\n"
        )
    };
    refused(
        &model("<feature name=\"a\"/>", "<rule><var>b</var></rule>"),
        str![[r#"
error[invalid-input]: there is no feature `b`
 --> <stdin>:6:7
  |
6 | <rule><var>b</var></rule>
  |       ^^^^^^^^^^^^
  |
  = help: did you mean `a`?

error: 1 error

"#]],
    );
    refused(
        &model("<feature name=\"a\"/>", "<rule><imp><var>a</var></imp></rule>"),
        str![[r#"
error[syntax]: `imp` takes 2 operands, not 1
 --> <stdin>:6:8
  |
6 | <rule><imp><var>a</var></imp></rule>
  |        ^^^

error: 1 error

"#]],
    );
    refused(
        &model("<feature name=\"a\"/>", "<rule><atleast2><var>a</var></atleast2></rule>"),
        str![[r#"
error[invalid-input]: rules with `atleast2` cannot be imported as variability inputs
 --> <stdin>:6:8
  |
6 | <rule><atleast2><var>a</var></atleast2></rule>
  |        ^^^^^^^^

error: 1 error

"#]],
    );
    refused(
        &model("<feature name=\"a\"/><feature name=\"b\"/>", ""),
        str![[r#"
error[invalid-input]: expected a feature model, but there is a second root feature
 --> <stdin>:3:21
  |
3 | <feature name="a"/><feature name="b"/>
  |                     ^^^^^^^
  |
  = help: a feature model of FeatureIDE is a `<featureModel>` with the features in its `<struct>`

error: 1 error

"#]],
    );
    refused(
        &model("<and name=\"a\"><feature name=\"a\"/></and>", ""),
        str![[r#"
error[duplicate]: there are two features `a`
 --> <stdin>:3:16
  |
3 | <and name="a"><feature name="a"/></and>
  |  ---           ^^^^^^^
  |  |
  |  this is the first one

error: 1 error

"#]],
    );
    refused(
        &model("<feature/>", ""),
        str![[r#"
error[invalid-input]: a feature has no name
 --> <stdin>:3:2
  |
3 | <feature/>
  |  ^^^^^^^

error: 1 error

"#]],
    );
    refused(
        &model("<and name=\"a\">", ""),
        str![[r#"
error[syntax]: `<and>` is closed as `</struct>`
 --> <stdin>:4:1
  |
3 | <and name="a">
  | ---- it begins here
4 | </struct>
  | ^^^^^^^^^

error: 1 error

"#]],
    );
    refused(
        "<!DOCTYPE x [<!ENTITY a \"b\">]><featureModel/>",
        str![[r#"
error[syntax]: a document type is not allowed
 --> <stdin>:1:1
  |
1 | <!DOCTYPE x [<!ENTITY a "b">]><featureModel/>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: leave out the document type: its declarations are never read

error: 1 error

"#]],
    );
    refused(
        "<configuration/>",
        str![[r#"
error[invalid-input]: expected a feature model, but the root element is `configuration`
 --> <stdin>:1:2
  |
1 | <configuration/>
  |  ^^^^^^^^^^^^^
  |
  = help: a feature model of FeatureIDE is a `<featureModel>` with the features in its `<struct>`

error: 1 error

"#]],
    );
    refused(
        "<featureModel><struct>",
        str![[r#"
error[syntax]: `<struct>` is never closed
 --> <stdin>:1:15
  |
1 | <featureModel><struct>
  |               ^^^^^^^

error: 1 error

"#]],
    );
}
