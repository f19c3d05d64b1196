//! Lists the commands that are measured on large templates, and generates these templates.

use std::fs;
use std::io;
use std::path::Path;

/// The commands, each with the template `t.yaml` of which one input decides about half, or with
/// the plain template `plain.yaml`. They run in this order in one directory, so that some can use
/// what others have written.
pub(crate) const COMMANDS: [&str; 44] = [
    "resolve t.yaml --preset all -o all.yaml",
    "resolve t.yaml --preset some -o some.yaml",
    "resolve t.yaml --preset all --evaluate -o evaluated.yaml",
    "validate t.yaml",
    "validate plain.yaml",
    "explain t.yaml n_1 --preset some",
    "inputs t.yaml",
    "variants t.yaml",
    "variants t.yaml --pairwise",
    "analyze t.yaml",
    "diff t.yaml --from some --to all",
    "diff some.yaml all.yaml",
    "matrix t.yaml",
    "graph t.yaml --format dot",
    "graph t.yaml --preset all --format svg",
    "report t.yaml -o page.html",
    "plan t.yaml --preset all --format json -o plan.json",
    "plan t.yaml --preset all --format bpmn -o plan.bpmn",
    "plan t.yaml --from some --to all",
    "substitute t.yaml --preset all -o substituted.yaml",
    "test cases --update",
    "test cases",
    "enrich t.yaml -o enriched.yaml",
    "options t.yaml",
    "types t.yaml",
    "assign plain.yaml -o assigned.yaml",
    "quality plain.yaml",
    "convert plain.yaml --to xml -o plain.tosca",
    "convert plain.tosca -o back.yaml",
    "convert plain.yaml --to 2.0 -o newer.yaml",
    "export t.yaml -o t.cnf",
    "export t.yaml -o t.uvl",
    "import t.uvl -o imported.yaml",
    "init plain.yaml -o first.yaml",
    "instance init i t.yaml --preset some --store store",
    "instance plan i --store store -o deploy.json",
    "instance apply i deploy.json --assume-done --store store",
    "instance plan i t.yaml --preset all --store store",
    "instance show i --store store",
    "instance query i nodes --store store",
    "instance log i --store store",
    "instance export i --store store -o i.json",
    "instance verify i --store store",
    "instance compact i --store store",
];

/// What is large in a template: its name, and functions that write the line of each number, some
/// with a condition.
pub(crate) struct Shape {
    pub name: &'static str,
    /// A requirement that the type of the hub defines.
    definitions: Line,
    inputs: Line,
    /// A requirement of the hub, which is a node that is always there.
    requirements: Line,
    nodes: Line,
    outputs: Line,
}

type Line = fn(usize, &str) -> String;

const NOTHING: Line = |_, _| String::new();

pub(crate) const SHAPES: [Shape; 3] = [
    Shape {
        name: "deep: nodes in a chain",
        definitions: NOTHING,
        inputs: NOTHING,
        requirements: NOTHING,
        nodes: |i, condition| match i {
            0 | 1 => format!("    n_{i}: {{type: tosca.nodes.Root{condition}}}\n"),
            _ => format!(
                "    n_{i}: {{type: tosca.nodes.Root, requirements: [{{dependency: {{node: n_{}{condition}}}}}]{condition}}}\n",
                i - 2
            ),
        },
        outputs: NOTHING,
    },
    Shape {
        name: "wide: relations of a node",
        definitions: |i, _| {
            format!(
                "      - link_{i}: {{capability: tosca.capabilities.Node, occurrences: [0, 1]}}\n"
            )
        },
        inputs: NOTHING,
        requirements: |i, condition| format!("        - link_{i}: {{node: n_{i}{condition}}}\n"),
        nodes: |i, condition| format!("    n_{i}: {{type: tosca.nodes.Root{condition}}}\n"),
        outputs: NOTHING,
    },
    Shape {
        name: "long: inputs and outputs",
        definitions: NOTHING,
        inputs: |i, _| format!("    i_{i}: {{type: integer, default: {i}}}\n"),
        requirements: NOTHING,
        nodes: |i, _| {
            if i == 1 { "    n_1: {type: tosca.nodes.Root}\n".into() } else { String::new() }
        },
        outputs: |i, condition| format!("    o_{i}: {{value: {{get_input: i_{i}}}{condition}}}\n"),
    },
];

const VARIABILITY: &str = "  variability:
    inputs: {mode: {type: string, constraints: [valid_values: [some, all]]}}
    presets: {some: {inputs: {mode: some}}, all: {inputs: {mode: all}}}
";

impl Shape {
    /// Writes what the commands read into a directory: a variable template and a plain one, and a
    /// case to be tested.
    pub(crate) fn write(&self, directory: &Path, size: usize) -> io::Result<()> {
        let (variable, cases) = (self.template(size, true), directory.join("cases"));
        fs::create_dir_all(cases.join("tests/all"))?;
        fs::write(directory.join("t.yaml"), &variable)?;
        fs::write(directory.join("plain.yaml"), self.template(size, false))?;
        fs::write(cases.join("variable-service-template.yaml"), variable)?;
        fs::write(cases.join("tests/all/test.yaml"), "presets: all\n")
    }

    /// A template of this shape. If it is variable, an input decides about every other element.
    fn template(&self, size: usize, is_variable: bool) -> String {
        let section = |name: &str, line: Line| {
            let condition = |i: usize| match is_variable && i.is_multiple_of(2) {
                true => ", conditions: {equal: [{variability_input: mode}, all]}",
                false => "",
            };
            let lines: String = (0..size).map(|i| line(i, condition(i))).collect();
            if lines.is_empty() { lines } else { format!("{name}{lines}") }
        };
        let version = if is_variable { "variability_1_0" } else { "simple_yaml_1_3" };
        [
            &*format!("tosca_definitions_version: tosca_{version}\n"),
            "node_types:\n  Hub:\n    derived_from: tosca.nodes.Root\n",
            &section("    requirements:\n", self.definitions),
            "topology_template:\n",
            if is_variable { VARIABILITY } else { "" },
            &section("  inputs:\n", self.inputs),
            "  node_templates:\n    hub:\n      type: Hub\n",
            &section("      requirements:\n", self.requirements),
            &section("", self.nodes),
            &section("  outputs:\n", self.outputs),
        ]
        .concat()
    }
}
