//! Tests what is offered at a cursor, which fixtures have as `|`.

use cuvee::Resolver;
use cuvee::editor::{CompletedWord, complete};
use cuvee::options;
use cuvee::source::MemoryFiles;
use std::collections::BTreeSet;

const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Db:
    derived_from: tosca.nodes.Root
    capabilities: {data: Data}
  Vault:
    derived_from: Db
    capabilities: {data: {type: Data, valid_source_types: [Db]}}
  Shop:
    derived_from: tosca.nodes.Root
    properties: {port: {type: integer}, name: {type: string}}
    requirements:
      - db: {capability: Data, node: Db}
capability_types:
  Data: {derived_from: tosca.capabilities.Root, properties: {size: {type: integer}}}
";

const HEAD: &str = "tosca_definitions_version: tosca_variability_1_0
imports: [types.yaml]
topology_template:
  variability:
    inputs: {big: {type: boolean, default: false}}
    presets: {large: {inputs: {big: true}}}
    expressions: {grown: {variability_input: big}}
  inputs: {region: {type: string}}
";

fn at_cursor(text: &str) -> (String, CompletedWord) {
    let offset = text.find('|').unwrap();
    let text = text.replacen('|', "", 1);
    let files = MemoryFiles::from([("types.yaml", TYPES.to_owned()), ("t.yaml", text.clone())]);
    let near = Some(("t.yaml".as_ref(), offset));
    let resolver = Resolver::new("t.yaml").files(files);
    let completion =
        resolver.analysis(near, |analysis| complete(analysis, "t.yaml".as_ref(), &text, offset));
    (text, completion)
}

fn labels(text: &str) -> Vec<String> {
    at_cursor(text).1.suggestions.into_iter().map(|it| it.label).collect()
}

/// Whether all of these are offered, and none of those behind `!`.
fn offers(rest: &str, wanted: &[&str]) {
    let offered = labels(&format!("{HEAD}{rest}"));
    for word in wanted {
        match word.strip_prefix('!') {
            Some(word) => assert!(!offered.iter().any(|it| it == word), "{word} at {rest}"),
            None => assert!(offered.iter().any(|it| it == word), "{word} at {rest}: {offered:?}"),
        }
    }
}

#[test]
fn keynames_are_offered() {
    offers(
        "  node_templates:\n    a:\n      type: Shop\n      |\n",
        &["properties", "conditions", "weight", "!type"],
    );
    offers("  node_templates:\n    a:\n      |\n", &["type", "requirements"]);
    offers(
        "  node_templates:\n    a:\n      type: Shop\n      req|\n    b: {type: Db}\n",
        &["requirements"],
    );
    offers("  node_templates:\n    a: {type: Shop, |}\n", &["properties", "!type"]);
    offers("  node_templates:\n    a: {type: Shop, |\n", &["properties"]);
    offers("  |\n  node_templates: {}\n", &["groups", "outputs", "!node_templates", "!inputs"]);
    offers("  node_templates: {}\n|\n", &["node_types", "description", "!imports"]);
    offers("  node_templates:\n    a:\n\t|\n", &[]);
}

#[test]
fn types_are_offered() {
    offers(
        "  node_templates:\n    a:\n      type: |\n",
        &["Shop", "Db", "tosca.nodes.Compute", "!Data"],
    );
    offers("  node_templates:\n    a: {type: \"Sh|\n", &["Shop"]);
    offers("  node_templates: {}\nnode_types:\n  Own: {derived_from: |}\n", &["Shop", "Own"]);
    offers(
        "  node_templates: {}\nnode_types:\n  Own:\n    properties:\n      p: {type: |\n",
        &["integer", "tosca.datatypes.Credential"],
    );
}

#[test]
fn names_are_offered() {
    let nodes = "  node_templates:\n    db: {type: Db}\n    other: {type: Shop}\n    a:\n      type: Shop\n";
    let vault = nodes.replace("    other:", "    vault: {type: Vault}\n    other:");
    let targets = [
        "db",
        "Db",
        "tosca.nodes.Root",
        "!other",
        "!Shop",
        "!tosca.nodes.Compute",
        "!vault",
        "!Vault",
    ];
    offers(&format!("{vault}      requirements:\n        - db: |\n"), &targets);
    // Whoever defines a requirement says what it leads to.
    let defined = "  node_templates: {}\nnode_types:\n  Own: {requirements: [db: {capability: Data, node: |}]}\n";
    offers(defined, &["Db", "Shop", "Vault"]);
    offers(&format!("{nodes}      requirements:\n        - db: {{node: |}}\n"), &["db", "!other"]);
    offers(&format!("{nodes}      requirements:\n        - |\n"), &["db", "dependency"]);
    offers(&format!("{nodes}      properties:\n        |\n"), &["port", "name"]);
    offers(&format!("{nodes}      properties:\n        port: 1\n        |\n"), &["name", "!port"]);
    offers(&format!("{nodes}      properties: {{port: {{get_input: |}}}}\n"), &["region", "!big"]);
    offers(&format!("{nodes}      conditions: {{variability_input: |}}\n"), &["big", "!region"]);
    offers(&format!("{nodes}      conditions: {{node_presence: |}}\n"), &["db", "other", "!big"]);
    offers(&format!("{nodes}      conditions: {{logic_expression: |}}\n"), &["grown"]);
    offers(
        &format!("{nodes}  groups:\n    g: {{type: tosca.groups.Root, members: [|]}}\n"),
        &["db", "other"],
    );
    offers(
        &format!("{nodes}  policies:\n    - p: {{type: tosca.policies.Root, targets: [|]}}\n"),
        &["db"],
    );
}

#[test]
fn steps_of_paths_are_offered() {
    let nodes = "  node_templates:\n    db: {type: Db}\n    b: {type: Shop}\n    a:\n      type: Shop\n      requirements: [dependency: b]\n";
    let cases: [(&str, &[&str]); 11] = [
        ("get_property: [SELF, |]", &["port", "name", "!db", "!state", "!size"]),
        ("get_property: [a, na|]", &["port", "name", "!db"]),
        ("get_attribute: [SELF, |]", &["state", "port", "!db"]),
        ("get_property: [SELF, |, size]", &["db", "!feature"]),
        ("get_property: [db, |, size]", &["data", "!feature", "!db"]),
        ("get_property: [db, data, |]", &["size", "!port"]),
        ("get_property: [SELF, db, |]", &["size", "!port"]),
        ("get_property: [SELF, dependency, |]", &["port", "name", "!state", "!size"]),
        ("get_attribute: [SELF, dependency, |]", &["port", "state"]),
        ("get_property: [nothing, |]", &["!port", "!size"]),
        ("get_operation_output: [SELF, |, create, url]", &["Standard", "!port"]),
    ];
    for (call, wanted) in cases {
        offers(&format!("{nodes}      properties: {{port: {{{call}}}}}\n"), wanted);
        offers(
            &format!("{nodes}  outputs:\n    o:\n      value: {{{}}}\n", call.replace("SELF", "a")),
            wanted,
        );
    }
}

#[test]
fn words_for_elements_around_are_offered() {
    let nodes = "  node_templates:\n    db: {type: Db}\n    a:\n      type: Shop\n";
    let of_node = format!("{nodes}      properties: {{port: {{get_property: [|, port]}}}}\n");
    offers(&of_node, &["SELF", "HOST", "a", "!SOURCE", "!TARGET"]);
    let operation = "      interfaces: {Standard: {operations: {create: ";
    let output = format!("{nodes}{operation}{{outputs: {{x: [|, state]}}}}}}}}}}\n");
    offers(&output, &["SELF", "!HOST", "!SOURCE"]);
    let call = "{inputs: {x: {get_operation_output: [|, Standard, create, x]}}}";
    offers(&format!("{nodes}{operation}{call}}}}}}}\n"), &["SELF", "!HOST"]);
    offers(
        &format!("{nodes}      properties: {{port: {{get_input: [|]}}}}\n"),
        &["region", "!SELF"],
    );
    let of_relation = "  relationship_templates:\n    r:\n      type: tosca.relationships.DependsOn\n      interfaces: {Configure: {inputs: {x: {get_attribute: [|, state]}}}}\n";
    offers(&format!("{nodes}{of_relation}"), &["SELF", "SOURCE", "TARGET", "!HOST"]);
    let of_filter = "      requirements:\n        - db: {node: Db, node_filter: {properties: [size: {equal: {get_property: [|, size]}}]}}\n";
    offers(&format!("{nodes}{of_filter}"), &["db", "!SELF", "!HOST"]);
    offers(
        &format!("{nodes}  outputs: {{o: {{value: {{get_property: [|, port]}}}}}}\n"),
        &["a", "!SELF", "!HOST"],
    );
    let of_2_0 = format!("{HEAD}{of_node}")
        .replace("tosca_variability_1_0", "tosca_2_0")
        .replace("topology_template", "service_template");
    let offered = labels(&of_2_0);
    let has = |word: &str| offered.iter().any(|it| it == word);
    assert!(has("SELF") && !has("HOST"), "{offered:?}");
}

const TYPES_OF_2_0: &str = "tosca_definitions_version: tosca_2_0
capability_types: {Data: {properties: {size: {type: integer, default: 1}}}}
relationship_types: {Link: {properties: {weight: {type: integer, default: 1}}}}
interface_types: {Care: {operations: {clean: {}}, notifications: {lost: {}}}}
policy_types: {Watch: {}}
functions: {own: {signatures: [{}]}}
node_types:
  Db:
    properties: {port: {type: integer, default: 1}}
    capabilities: {data: {type: Data}}
    interfaces: {care: {type: Care}}
    requirements: [db: {capability: Data, node: Db, relationship: Link, count_range: [0, 9]}]
";

/// Whether all of these are offered in a file of TOSCA 2.0, and none of those behind `!`.
fn offers_in_2_0(rest: &str, wanted: &[&str]) {
    let text = format!("{TYPES_OF_2_0}{rest}");
    let offset = text.find('|').unwrap();
    let text = text.replacen('|', "", 1);
    let head = "tosca_definitions_version: tosca_2_0\n";
    let far = format!(
        "{head}imports: [{{url: farther.yaml, namespace: far}}]\nnode_types: {{Far: {{}}}}\n"
    );
    let farther = format!("{head}node_types: {{Farther: {{}}}}\n");
    let files =
        MemoryFiles::from([("far.yaml", far), ("farther.yaml", farther), ("t.yaml", text.clone())]);
    let near = Some(("t.yaml".as_ref(), offset));
    let resolver = Resolver::new("t.yaml").files(files);
    let completion =
        resolver.analysis(near, |analysis| complete(analysis, "t.yaml".as_ref(), &text, offset));
    let offered: Vec<_> = completion.suggestions.into_iter().map(|it| it.label).collect();
    for word in wanted {
        match word.strip_prefix('!') {
            Some(word) => assert!(!offered.iter().any(|it| it == word), "{word} at {rest}"),
            None => assert!(offered.iter().any(|it| it == word), "{word} at {rest}: {offered:?}"),
        }
    }
}

#[test]
fn what_tosca_2_0_adds_is_offered() {
    let head = "imports: [{url: far.yaml, namespace: x}]
service_template:
  variability:
    inputs: {big: {type: boolean, default: false}}
    expressions: {grown: {$variability_input: big}}
  inputs: {many: {type: integer, default: 2}}
  node_templates:
    db: {type: Db}
";
    let paths: [(&str, &[&str]); 12] = [
        ("[SELF, |]", &["port", "RELATIONSHIP", "CAPABILITY", "!SOURCE", "!ALL", "!db"]),
        ("[db, |]", &["port", "RELATIONSHIP", "CAPABILITY", "ALL"]),
        ("[db, ALL, |]", &["port", "RELATIONSHIP", "!ALL"]),
        ("[db, 1, |]", &["port", "CAPABILITY"]),
        ("[db, CAPABILITY, |]", &["data", "!port"]),
        ("[db, CAPABILITY, data, |]", &["size", "RELATIONSHIP", "!port"]),
        ("[db, RELATIONSHIP, |]", &["db", "!port", "!data"]),
        (
            "[db, RELATIONSHIP, db, |]",
            &["weight", "SOURCE", "TARGET", "CAPABILITY", "ALL", "!port"],
        ),
        ("[db, RELATIONSHIP, db, 0, TARGET, |]", &["port", "CAPABILITY", "!weight"]),
        ("[db, RELATIONSHIP, db, CAPABILITY, |]", &["size", "!port"]),
        ("[SELF, RELATIONSHIP, db, TARGET, |]", &["port", "CAPABILITY", "!weight"]),
        ("[SELF, RELATIONSHIP, db, TARGET, CAPABILITY, |]", &["data", "!port"]),
    ];
    for (path, wanted) in paths {
        let node =
            format!("    a: {{type: Db, properties: {{port: {{$get_property: {path}}}}}}}\n");
        offers_in_2_0(&format!("{head}{node}"), wanted);
    }
    let nodes: [(&str, &[&str]); 15] = [
        ("type: |", &["Db", "x:Far", "!Far"]),
        ("type: x:|", &["Far", "!Db"]),
        ("type: Db, directives: [|]", &["create", "select", "substitute"]),
        ("type: Db, count: {$get_input: |}", &["many", "!big"]),
        ("type: Db, count: {$|}", &["get_input", "own", "!and_so_on"]),
        ("type: x:far:|", &["Farther", "!Far", "!Db"]),
        ("type: Db, conditions: {$|}", &["and", "variability_input"]),
        ("type: Db, conditions: {|}", &["and", "variability_input"]),
        ("type: Db, conditions: {$not: {$variability_input: |}}", &["big", "!many"]),
        ("type: Db, conditions: {$logic_expression: |}", &["grown"]),
        ("type: Db, conditions: {$node_presence: |}", &["db"]),
        ("type: Db, requirements: [db: [|, 0]]", &["db"]),
        ("type: Db, requirements: [db: [db, {$get_input: |}]]", &["many"]),
        ("type: Db, requirements: [db: {node: db, optional: {$get_input: |}}]", &["many"]),
        ("type: Db, requirements: [db: {node: db, allocation: {|}}]", &["size", "!port"]),
    ];
    for (node, wanted) in nodes {
        offers_in_2_0(&format!("{head}    a: {{{node}}}\n"), wanted);
    }
    let trigger = "  policies: [w: {type: Watch, targets: [db], triggers: {t: ";
    let others: [(String, &[&str]); 4] = [
        (format!("{trigger}{{event: |}}}}}}]\n"), &["care.lost", "!care.clean"]),
        (
            format!("{trigger}{{event: e, action: [call_operation: |]}}}}}}]\n"),
            &["care.clean", "!care.lost"],
        ),
        ("  workflows: {w: {precondition: {$equal: [{$get_input: |}, 1]}}}\n".into(), &["many"]),
        (
            "data_types: {Own: {properties: {p: {type: |}}}}\n".into(),
            &["bytes", "nil", "version", "scalar-unit", "map", "!range"],
        ),
    ];
    for (rest, wanted) in others {
        offers_in_2_0(&format!("{head}{rest}"), wanted);
    }
}

#[test]
fn operators_options_and_words_are_offered() {
    let condition = "  node_templates:\n    a: {type: Shop, conditions: {|}}\n";
    // The first column of the table has all of them.
    let table = include_str!("../../presets/operators.tsv");
    let operators = table.lines().filter_map(|line| line.split('\t').next());
    offers(condition, &operators.filter(|name| !name.starts_with('#')).collect::<Vec<_>>());
    let text = HEAD.replace("    presets:", "    options: {|}\n    presets:");
    let offered = labels(&text);
    for option in options::known() {
        assert!(offered.iter().any(|it| it == option.name), "{}", option.name);
    }
    for option in options::known() {
        let text = HEAD
            .replace("    presets:", &format!("    options: {{{}: |}}\n    presets:", option.name));
        let offered = labels(&text);
        for value in option.values {
            assert!(offered.iter().any(|it| it == value), "{}: {value}", option.name);
        }
    }
    assert!(labels("tosca_definitions_version: |\n").contains(&"tosca_variability_1_0".to_owned()));
    offers("  node_templates:\n    a: {type: Shop, persistent: |}\n", &["true", "false"]);
    let plain = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  |\n";
    let offered = labels(plain);
    assert!(
        offered.contains(&"node_templates".to_owned())
            && !offered.contains(&"variability".to_owned())
    );
}

/// What is offered is never unknown where it is written.
#[test]
fn what_is_offered_is_known() {
    let node = "  node_templates:\n    db: {type: Db}\n    a:\n      type: Shop\n      properties: {port: 1, name: x}\n";
    let cursors = [
        format!("{node}      |\n"),
        format!("{node}      conditions: {{|}}\n"),
        format!("{node}      requirements:\n        - |\n"),
        format!("{node}      requirements:\n        - db: |\n"),
        format!("{node}      artifacts:\n        - one: {{file: a.sh, |}}\n"),
        format!("{node}    b: {{type: |}}\n"),
        format!("{node}  |\n"),
        format!("{node}  groups:\n    g:\n      type: tosca.groups.Root\n      |\n"),
        format!("{node}  policies:\n    - p:\n        type: tosca.policies.Root\n        |\n"),
        format!("{node}  inputs2:\n    x: {{|}}\n").replace("inputs2", "outputs"),
        format!("{node}node_types:\n  Own:\n    derived_from: Shop\n    |\n"),
        format!("{node}node_types:\n  Own:\n    properties:\n      p: {{type: string, |}}\n"),
        format!("{node}capability_types:\n  Own:\n    |\n"),
        format!("{node}relationship_types:\n  Own:\n    |\n"),
        format!("{node}  outputs: {{o: {{value: {{get_property: [db, data, |]}}}}}}\n"),
        format!("{node}  outputs: {{o: {{value: {{get_property: [db, |, size]}}}}}}\n"),
        format!("{node}  outputs: {{o: {{value: {{get_attribute: [a, |]}}}}}}\n"),
        format!("{node}  outputs: {{o: {{value: {{get_attribute: [|, state]}}}}}}\n"),
        format!("{node}      metadata: {{}}\n")
            .replace("name: x", "name: {get_property: [|, port]}"),
        format!("{node}|\n"),
    ];
    let mut tried = 0;
    for cursor in cursors {
        let (text, CompletedWord { range, suggestions, .. }) =
            at_cursor(&format!("{HEAD}{cursor}"));
        assert!(!suggestions.is_empty(), "{cursor}");
        for suggestion in suggestions {
            let mut written = text.clone();
            written.replace_range(range.clone(), &suggestion.insert);
            let files =
                MemoryFiles::from([("types.yaml", TYPES.to_owned()), ("t.yaml", written.clone())]);
            let validation = Resolver::new("t.yaml").files(files).validate();
            let is_wrong = |code: &str| code.starts_with("unknown-") || code == "syntax";
            let words: BTreeSet<_> = validation
                .diagnostics
                .iter()
                .filter(|it| is_wrong(it.code.as_str()))
                .filter(|it| {
                    it.message.contains(&format!("`{}`", suggestion.label))
                        || it.code.as_str() == "syntax"
                })
                .map(|it| format!("{} {}", it.code, it.message))
                .collect();
            assert!(words.is_empty(), "{} at {cursor}: {words:?}\n{written}", suggestion.label);
            tried += 1;
        }
    }
    assert!(tried > 150, "{tried}");
}
