//! Tests conversions as users see them: `tests/convert` has documents, commands, and what the
//! commands print and write.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::folders::copy;
use crate::sessions::{Place, hold, run};
use cuvee::Resolver;
use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::output::convert::Conversion;
use cuvee::output::convert::ConversionQuery;
use cuvee::parts::xml::{self, XmlElement, XmlLimits};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::value::Value;
use cuvee::source::{FileId, MemoryFiles};
use cuvee::topology::diff::{Change, DOCUMENT, Edit, diff};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The commands run one after the other in a copy of their directory; `cat` shows a file.
#[test]
fn conversions() {
    hold("convert", &Place::Copy(copy), |line, directory| match line.strip_prefix("cat ") {
        Some(name) => {
            let text = fs::read_to_string(directory.join(name)).unwrap();
            if text.ends_with('\n') { text } else { text + "\n" }
        }
        None => run(line, directory),
    });
}

/// A conversion writes exactly the bytes of its fixture.
#[test]
fn the_worked_example_is_written_to_the_byte() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/shop");
    let aside = tempfile::tempdir().unwrap();
    copy(&fixture, &aside.path().join("shop"));
    run("cuvee convert shop.tosca --types types.yaml -o out/", &aside.path().join("shop"));
    for name in ["Shop.yaml", "types/shop.yaml"] {
        let written = fs::read_to_string(aside.path().join("shop/out").join(name)).unwrap();
        let expected = fs::read_to_string(fixture.join("expected").join(name)).unwrap();
        assert_eq!(written, expected, "{name}");
    }
}

/// Each example that exists in both formats is the conversion of the other one; `UPDATE_DOCS=1`
/// writes them anew.
#[test]
fn examples_in_both_formats_are_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kiosk = Resolver::new(root.join("examples/kiosk.tosca"));
    let shop = Resolver::new(root.join("examples/shop")).preset("prod");
    let all = [(kiosk, "examples/kiosk.yaml"), (shop, "tests/convert/shop-prod.tosca")];
    for (resolver, path) in all {
        let query = ConversionQuery::default().one_document();
        let written = resolver.convert(&query).unwrap().result.text();
        let path = root.join(path);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &written).unwrap();
        }
        assert_eq!(written, fs::read_to_string(&path).unwrap(), "{}", path.display());
    }
}

/// Random choices that follow from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[usize::try_from(self.roll(all.len() as u64)).unwrap()]
    }
}

/// Types of XML Schema, each with a value.
const VALUES: [(&str, &str); 10] = [
    ("string", "Tea &amp; cake: 1"),
    ("int", "-7"),
    ("positiveInteger", "8080"),
    ("unsignedByte", "255"),
    ("boolean", "1"),
    ("double", "1.5e3"),
    ("decimal", "+0.50"),
    ("dateTime", "2020-02-03T04:05:06Z"),
    ("anyURI", "http://example.com/#a"),
    ("token", " yes "),
];

/// Random definitions without errors.
fn definitions(dice: &mut Dice) -> String {
    let types = 2 + dice.roll(4);
    let (mut schema, mut components, mut nodes, mut relationships) =
        (String::new(), String::new(), String::new(), String::new());
    let (mut mapping, mut first_interface) = (String::new(), "");
    for at in 0..types {
        let (mut elements, mut values) = (String::new(), String::new());
        for property in 0..dice.roll(5) {
            if at == 0 && property == 0 {
                mapping = "<Properties><PropertyMappings><PropertyMapping serviceTemplatePropertyRef=\"p0\" targetObjectRef=\"n0\" targetPropertyRef=\"p0\"/></PropertyMappings></Properties>".to_owned();
            }
            let (kind, value) = VALUES[usize::try_from(dice.roll(10)).unwrap()];
            let occurs = dice.one_of(&["", "minOccurs=\"0\"", "maxOccurs=\"3\""]);
            elements += &format!("<xs:element name=\"p{property}\" type=\"xs:{kind}\" {occurs}/>");
            for _ in 0..dice.roll(if occurs.contains("max") { 3 } else { 2 }) {
                values += &format!("<s:p{property}>{value}</s:p{property}>");
            }
        }
        schema += &format!(
            "<xs:element name=\"T{at}\"><xs:complexType><xs:sequence>{elements}</xs:sequence></xs:complexType></xs:element>"
        );
        let tags = dice.one_of(&["", "<Tags><Tag name=\"since\" value=\"1.0\"/></Tags>"]);
        let bounds =
            dice.one_of(&["lowerBound=\"0\"", "lowerBound=\"0\" upperBound=\"unbounded\""]);
        // A requirement that the service template takes from a node has to exist in that node.
        let bounds = if at == 0 { "" } else { bounds };
        let states =
            dice.one_of(&["", "<InstanceStates><InstanceState state=\"open\"/></InstanceStates>"]);
        let parameters = dice.one_of(&["", "<InputParameters><InputParameter name=\"size\" type=\"xs:int\" required=\"no\"/></InputParameters>"]);
        let interface =
            dice.one_of(&["http://opentosca.org/interfaces/lifecycle", "urn:example:life", "run"]);
        if at == 0 {
            first_interface = interface;
        }
        components += &format!(
            "<NodeType name=\"T{at}\">{tags}<PropertiesDefinition element=\"s:T{at}\"/>\
             <RequirementDefinitions><RequirementDefinition name=\"needs\" requirementType=\"s:Needs\" {bounds}/></RequirementDefinitions>\
             <CapabilityDefinitions><CapabilityDefinition name=\"gives\" capabilityType=\"s:Gives\" upperBound=\"unbounded\"/></CapabilityDefinitions>{states}\
             <Interfaces><Interface name=\"{interface}\"><Operation name=\"start\">{parameters}</Operation></Interface></Interfaces></NodeType>"
        );
        if dice.roll(2) == 0 {
            components += &format!(
                "<NodeTypeImplementation name=\"I{at}\" nodeType=\"s:T{at}\"><ImplementationArtifacts><ImplementationArtifact name=\"script\" \
                 interfaceName=\"{interface}\" operationName=\"start\" artifactType=\"s:File\" artifactRef=\"s:Page\"/></ImplementationArtifacts></NodeTypeImplementation>"
            );
        }
        let name = dice.one_of(&[
            "",
            "name=\"Some: node\"",
            "maxInstances=\"3\"",
            "minInstances=\"2\" maxInstances=\"unbounded\"",
        ]);
        let policy = dice
            .one_of(&["", "<Policies><Policy name=\"open\" policyType=\"s:Hours\"/></Policies>"]);
        nodes += &format!(
            "<NodeTemplate id=\"n{at}\" type=\"s:T{at}\" {name}><Properties><s:T{at}>{values}</s:T{at}></Properties>\
             <Requirements><Requirement id=\"n{at}_needs\" name=\"needs\" type=\"s:Needs\"/></Requirements>\
             <Capabilities><Capability id=\"c{at}\" name=\"gives\" type=\"s:Gives\"/></Capabilities>{policy}</NodeTemplate>"
        );
        if at > 0 {
            let to = dice.roll(at);
            let (kind, source, target) = match dice.roll(3) {
                0 => ("Gets", format!("n{at}_needs"), format!("c{to}")),
                1 => ("Beside", format!("n{at}"), format!("n{to}")),
                _ => ("HostedOn", format!("n{at}"), format!("n{to}")),
            };
            let prefix = if kind == "HostedOn" { "b" } else { "s" };
            relationships += &format!(
                "<RelationshipTemplate id=\"r{at}\" type=\"{prefix}:{kind}\"><SourceElement ref=\"{source}\"/><TargetElement ref=\"{target}\"/></RelationshipTemplate>"
            );
        }
    }
    let policies =
        dice.one_of(&["", "<Policies><Policy name=\"all\" policyType=\"s:Hours\"/></Policies>"]);
    let boundary = match dice.roll(2) {
        0 => String::new(),
        _ => format!(
            "<BoundaryDefinitions>{mapping}<Requirements><Requirement name=\"needs\" ref=\"n0_needs\"/></Requirements>\
             <Capabilities><Capability name=\"gives\" ref=\"c0\"/></Capabilities>{policies}\
             <Interfaces><Interface name=\"{first_interface}\"><Operation name=\"start\"><NodeOperation nodeRef=\"n0\" interfaceName=\"{first_interface}\" operationName=\"start\"/></Operation></Interface></Interfaces></BoundaryDefinitions>"
        ),
    };
    let stands_for = if boundary.is_empty() { "" } else { " substitutableNodeType=\"s:T0\"" };
    let base = "http://docs.oasis-open.org/tosca/ns/2011/12";
    format!(
        "<Definitions xmlns=\"{base}\" xmlns:s=\"urn:example:any\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:b=\"{base}/ToscaBaseTypes\" id=\"any\" targetNamespace=\"urn:example:any\">\
         <Types><xs:schema targetNamespace=\"urn:example:any\" elementFormDefault=\"qualified\">{schema}</xs:schema></Types>\
         <ServiceTemplate id=\"Any\"{stands_for}>{boundary}<TopologyTemplate>{nodes}{relationships}</TopologyTemplate></ServiceTemplate>{components}\
         <RequirementType name=\"Needs\" requiredCapabilityType=\"s:Gives\"/><CapabilityType name=\"Gives\"/>\
         <RelationshipType name=\"Gets\"><ValidSource typeRef=\"s:Needs\"/><ValidTarget typeRef=\"s:Gives\"/></RelationshipType><RelationshipType name=\"Beside\"/>\
         <RelationshipType name=\"HostedOn\" targetNamespace=\"{base}/ToscaBaseTypes\"/>\
         <PolicyType name=\"Hours\"/><ArtifactType name=\"File\"/>\
         <ArtifactTemplate id=\"Page\" type=\"s:File\"><ArtifactReferences><ArtifactReference reference=\"start.sh\"/></ArtifactReferences></ArtifactTemplate></Definitions>"
    )
}

fn errors(found: &[Diagnostic], least: Severity) -> Vec<String> {
    let wrong = found.iter().filter(|found| found.severity >= least);
    wrong.map(|found| found.message.clone()).collect()
}

/// Definitions that are valid without warnings become valid YAML, as several files and as one
/// document (law W5).
#[test]
fn what_is_valid_stays_valid() {
    for seed in 0..60 {
        let text = definitions(&mut Dice(seed));
        let files = MemoryFiles::from([("any.tosca", &*text), ("start.sh", "true\n")]);
        let resolver = Resolver::new("any.tosca").files(files);
        let before = errors(&resolver.validate().diagnostics, Severity::Warning);
        assert!(before.is_empty(), "{seed}: {before:?}\n{text}");
        for query in [ConversionQuery::default(), ConversionQuery::default().one_document()] {
            let converted = resolver.convert(&query).unwrap().result;
            let main = converted.files[0].0.clone();
            let written = converted.text();
            let files = converted.files.into_iter();
            let files: MemoryFiles = files.chain([("start.sh".into(), Vec::new())]).collect();
            let after = Resolver::new(main).files(files).validate();
            let wrong = errors(&after.diagnostics, Severity::Error);
            assert!(wrong.is_empty(), "{seed}: {wrong:?}\n{text}\n{written}");
        }
    }
}

/// The order of files in an archive has no effect (law W7).
#[test]
fn the_order_of_files_does_not_count() {
    let aside = tempfile::tempdir().unwrap();
    let [one, other] = [1, 2].map(|seed| {
        let text = definitions(&mut Dice(seed));
        text.replace("urn:example:any", &format!("urn:example:any{seed}"))
    });
    let other = other.replace("Any\"", "Other\"");
    let meta = "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.0\nCreated-By: me\nEntry-Definitions: Definitions/one.tosca\n";
    let mut files = vec![
        ("TOSCA-Metadata/TOSCA.meta", meta),
        ("Definitions/one.tosca", &*one),
        ("Definitions/other.tosca", &*other),
        ("start.sh", "true\n"),
    ];
    let mut convert = |name: &str| {
        let path = aside.path().join(name);
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, text) in &files {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        files.reverse();
        let query = ConversionQuery::default().service_template("Any");
        Resolver::new(path).convert(&query).unwrap().result.files
    };
    let first = convert("a.csar");
    assert!(first.len() > 3, "{first:?}");
    assert_eq!(first, convert("b.csar"));
}

fn value(text: &str) -> Value {
    parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
}

/// Types of properties in YAML, each with more entries of the definition, and a value.
const PROPERTIES: [(&str, &str, &str); 16] = [
    ("string", "", "'Tea & <cake>: 1'"),
    ("string", ", constraints: [{pattern: '[a-z]+'}, {max_length: 9}], default: b", "abc"),
    ("string", ", description: What it is.", "{get_input: given}"),
    ("integer", ", constraints: [{greater_or_equal: 1}, {less_or_equal: 9000}]", "8080"),
    ("integer", ", constraints: [{greater_than: 1}]", "0x1F"),
    ("float", ", default: 1.5", "2.50"),
    ("boolean", "", "true"),
    ("timestamp", "", "2001-12-14"),
    ("version", "", "1.10"),
    ("range", "", "[1, UNBOUNDED]"),
    ("scalar-unit.size", ", constraints: [{greater_or_equal: 1 MB}]", "10 MB"),
    ("list", ", entry_schema: {type: string}", "[a, 'b c', '']"),
    ("list", ", entry_schema: {type: Point}", "[{x: 1}, {x: 2, y: {get_input: given}}]"),
    ("list", ", entry_schema: {type: list, entry_schema: {type: integer}}", "[[1], [2, 3]]"),
    ("map", ", entry_schema: {type: integer}", "{one: 1, 'two.2': 2}"),
    ("Point", ", metadata: {since: '1'}", "{x: 3, y: north}"),
];

/// A random template in YAML that uses much of the language; some of its names are invalid in XML.
fn template(dice: &mut Dice) -> String {
    let types = 2 + dice.roll(3);
    let (mut node_types, mut nodes, mut relationships) =
        (String::new(), String::new(), String::new());
    let names = ["web", "1st", "my node", "a.b"];
    let name = |at: u64| format!("'{}{at}'", names[usize::try_from(at).unwrap() % names.len()]);
    for at in 0..types {
        let (mut defined, mut values) = (String::new(), String::new());
        for property in 0..dice.roll(6) {
            let (kind, more, value) = PROPERTIES[usize::try_from(dice.roll(16)).unwrap()];
            let called = dice.one_of(&["p", "p.", "p p"]);
            let required = dice.one_of(&["true", "false"]);
            defined +=
                &format!("'{called}{property}': {{type: {kind}, required: {required}{more}}}, ");
            if required == "true" || dice.roll(2) == 0 {
                values += &format!("'{called}{property}': {value}, ");
            }
        }
        let attributes = dice.one_of(&["", "attributes: {load: {type: float}}, "]);
        let metadata =
            dice.one_of(&["", "metadata: {since: '1.0'}, ", "description: 'A < type', "]);
        // Nodes have relations to earlier nodes only.
        let bounds = dice.one_of(&["[0, 1]", "[0, UNBOUNDED]", "[1, 1]"]);
        let bounds = if at == 0 { "[0, 1]" } else { bounds };
        let asked = dice.one_of(&["", ", node: tosca.nodes.Root", ", relationship: Joins"]);
        let interfaces = dice.one_of(&[
            "",
            "interfaces: {Standard: {type: tosca.interfaces.node.lifecycle.Standard, operations: {start: {implementation: start.sh}}}}, ",
            "interfaces: {Standard: {type: tosca.interfaces.node.lifecycle.Standard, operations: {create: {description: Makes it., implementation: start.sh, inputs: {size: {type: integer, default: 1}}}}}}, ",
            "interfaces: {Care: {type: Care, operations: {feed: {implementation: start.sh, inputs: {food: {type: string, default: hay}}}}}}, ",
        ]);
        let artifacts = dice.one_of(&["", "artifacts: {page: {type: File, file: start.sh}}, "]);
        node_types += &format!(
            "  T{at}: {{derived_from: {}, {metadata}{attributes}{interfaces}{artifacts}properties: {{{defined}}}, \
             capabilities: {{gives: {{type: Gives, occurrences: [1, UNBOUNDED]}}}}, requirements: [needs: {{capability: Gives{asked}, occurrences: {bounds}}}]}}\n",
            if at > 1 && dice.roll(2) == 0 { "Base" } else { "tosca.nodes.Root" },
        );
        let more = dice.one_of(&[
            "",
            "description: One of them., ",
            "metadata: {name: Some node, owner: me}, ",
            "occurrences: [1, 3], instance_count: 2, ",
            "interfaces: {Standard: {operations: {stop: {implementation: start.sh}}}}, ",
            "artifacts: {own: {type: File, file: start.sh, deploy_path: /srv}}, ",
            "directives: [substitute], ",
            "capabilities: {gives: {properties: {size: 1 GB, count: 2}}}, ",
        ]);
        let mut needs = Vec::new();
        let count = match bounds {
            _ if at == 0 => 0,
            "[1, 1]" => 1,
            "[0, 1]" => dice.roll(2),
            _ => dice.roll(3),
        };
        for _ in 0..count {
            let to = name(dice.roll(at));
            let joined = format!("r{at}");
            needs.push(match dice.roll(4) {
                0 => format!("needs: {to}"),
                1 => format!("needs: {{node: {to}, capability: gives}}"),
                2 => format!(
                    "needs: {{node: {to}, relationship: {{type: Joins, properties: {{speed: 3}}}}}}"
                ),
                _ if !relationships.contains(&joined) => {
                    relationships +=
                        &format!("    {joined}: {{type: Joins, properties: {{speed: 4}}}}\n");
                    format!("needs: {{node: {to}, relationship: {joined}}}")
                }
                _ => format!("needs: {{node: {to}}}"),
            });
        }
        nodes += &format!(
            "    {}: {{type: T{at}, {more}properties: {{{values}}}, requirements: [{}]}}\n",
            name(at),
            needs.join(", ")
        );
    }
    let relationships = match relationships.is_empty() {
        true => String::new(),
        false => format!("  relationship_templates:\n{relationships}"),
    };
    let policies = dice.one_of(&[
        "",
        "  policies: [open: {type: Hours, properties: {days: 2}, targets: ['web0']}]\n",
        "  policies: [open: {type: Hours, targets: ['web0', '1st1']}, shut: {type: Hours, description: Late., targets: [both]}]\n",
    ]);
    let workflows = dice.one_of(&[
        "",
        "  workflows: {deploy: {implementation: start.sh}}\n",
        "  workflows: {care: {description: Daily., steps: {feed: {target: 'web0', activities: [{set_state: started}]}}}}\n",
    ]);
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnamespace: urn:example:any\nmetadata: {{template_name: Any, template_author: me}}\n\
         artifact_types: {{File: {{derived_from: tosca.artifacts.Root}}}}\n\
         data_types: {{Point: {{derived_from: tosca.datatypes.Root, properties: {{x: {{type: integer, required: true}}, y: {{type: string, required: false}}}}}}}}\n\
         capability_types: {{Gives: {{derived_from: tosca.capabilities.Root, properties: {{size: {{type: scalar-unit.size, required: false}}, count: {{type: integer, required: false}}}}}}}}\n\
         relationship_types: {{Joins: {{derived_from: tosca.relationships.Root, properties: {{speed: {{type: integer, required: false}}}}}}}}\n\
         interface_types: {{Care: {{derived_from: tosca.interfaces.Root, operations: {{feed: {{}}}}}}}}\n\
         policy_types: {{Hours: {{derived_from: tosca.policies.Root, properties: {{days: {{type: integer, required: false}}}}}}}}\n\
         node_types:\n  Base: {{derived_from: tosca.nodes.Root}}\n{node_types}\
         topology_template:\n  inputs: {{given: {{type: string, default: x}}}}\n  node_templates:\n{nodes}{relationships}\
         \x20 groups: {{both: {{type: tosca.groups.Root, members: ['web0', '1st1']}}}}\n{policies}{workflows}  outputs: {{load: {{value: {{get_input: given}}}}}}\n"
    )
}

/// Converts one text without files, and reads the result as a template.
fn there_and_back(resolver: &Resolver, query: ConversionQuery) -> (Conversion, Value) {
    let converted = resolver.convert(&query.one_document()).unwrap().result;
    let files = MemoryFiles::from([("back.tosca", converted.text())]);
    let query = ConversionQuery::default().one_document();
    let back = Resolver::new("back.tosca").files(files).convert(&query).unwrap().result;
    (converted, value(&back.text()))
}

/// What is kept leads back: YAML to XML and back gives the same (law W3).
#[test]
fn what_is_kept_leads_back() {
    for seed in 0..80 {
        let text = template(&mut Dice(seed));
        let files = MemoryFiles::from([("any.yaml", &*text)]);
        let resolver = Resolver::new("any.yaml").files(files);
        let (converted, back) = there_and_back(&resolver, ConversionQuery::default());
        let before = resolver.resolve().unwrap().to_value();
        assert_eq!(back, before, "{seed}\n{text}\n{}", converted.text());
    }
}

/// The parts of a difference that a report does not mention.
fn untold(told: &HashSet<String>, path: &str, was: Option<&Value>) -> Vec<String> {
    let mut ends: Vec<_> = path.match_indices(['.', '[']).map(|(at, _)| at).collect();
    ends.push(path.len());
    if ends.iter().any(|end| told.contains(&path[..*end])) {
        return Vec::new();
    }
    match was {
        Some(Value::Map(parts)) if !parts.is_empty() => {
            let below = parts.iter().map(|(key, value)| (format!("{path}.{key}"), value));
            below.flat_map(|(path, value)| untold(told, &path, Some(value))).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// The changes by a conversion there and back that its report does not mention.
fn changes_untold(converted: &Conversion, changes: Vec<Change>) -> Vec<String> {
    let told = converted.losses.entries().iter().map(|loss| loss.path.clone()).collect();
    let untold = changes.into_iter().flat_map(|change| {
        let path = match (&*change.element, &*change.path) {
            (DOCUMENT, path) => path.to_owned(),
            (element, "") => element.to_owned(),
            (element, path) if path.starts_with('[') => format!("{element}{path}"),
            (element, path) => format!("{element}.{path}"),
        };
        // The report names operations and requirements without the part that contains them.
        let path = path.replace(".operations.", ".").replace("requirements[0].", "requirements.");
        // The implementation of an operation becomes an artifact that has the file.
        let names_artifact = |to: &Value| {
            let file = |name: &str| converted.text().contains(&format!("id=\"{name}\""));
            path.ends_with(".implementation") && to.as_str().is_some_and(file)
        };
        match &change.edit {
            Edit::Changed { to, .. } if names_artifact(to) => Vec::new(),
            Edit::Changed { from, .. } | Edit::Removed { from } => untold(&told, &path, Some(from)),
            Edit::Added { .. } => untold(&told, &path, None),
        }
    });
    untold.collect()
}

/// Everything that a conversion there and back changes is in the report (law W4).
#[test]
fn what_differs_is_told() {
    for seed in 0..80 {
        let text = template(&mut Dice(seed));
        let files = MemoryFiles::from([("any.yaml", &*text)]);
        let resolver = Resolver::new("any.yaml").files(files);
        let query = ConversionQuery::default().without_extensions();
        let (converted, back) = there_and_back(&resolver, query);
        assert!(!converted.text().contains("urn:cuvee:xml"), "{}", converted.text());
        let before = resolver.resolve().unwrap().to_value();
        let left = changes_untold(&converted, diff(&before, &back).changes);
        assert!(left.is_empty(), "{seed}: {left:?}\n{text}\n{}", converted.text());
    }
}

/// Templates that are valid without warnings become valid XML, with and without extensions (law
/// W5).
#[test]
fn what_is_valid_stays_valid_in_xml() {
    let mut valid = 0;
    for seed in 0..80 {
        let text = template(&mut Dice(seed));
        let files = MemoryFiles::from([("any.yaml", &*text), ("start.sh", "true\n")]);
        let resolver = Resolver::new("any.yaml").files(files);
        let found = errors(&resolver.validate().diagnostics, Severity::Warning);
        if !found.is_empty() {
            continue;
        }
        valid += 1;
        for query in [ConversionQuery::default(), ConversionQuery::default().without_extensions()] {
            let converted = resolver.convert(&query).unwrap().result;
            let main = converted.files[0].0.clone();
            let written = converted.text();
            let files: MemoryFiles = converted.files.into_iter().collect();
            let wrong = Resolver::new(main).files(files).validate();
            let wrong = errors(&wrong.diagnostics, Severity::Error);
            assert!(wrong.is_empty(), "{seed}: {wrong:?}\n{text}\n{written}");
        }
    }
    assert!(valid > 20, "{valid}");
}

/// Every variant of every example leads back, and is valid in between. Without extensions,
/// everything that does not lead back is in the report (laws W3 to W5).
#[test]
fn variants_of_examples_lead_back() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut count = 0;
    for example in fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
        let is_template = example.is_dir() || example.extension().is_some_and(|it| it == "yaml");
        let Ok(resolver) = Resolver::new(&example).load() else {
            assert!(!is_template, "{}", example.display());
            continue;
        };
        let presets = resolver.preset_names().unwrap_or_default();
        for preset in presets.iter().map(Some).chain([None]) {
            let chosen =
                preset.iter().fold(resolver.clone(), |it, preset| it.preset(preset.as_str()));
            let Ok(resolution) = chosen.resolve() else { continue };
            let before = resolution.to_value();
            let name = format!("{} {preset:?}", example.display());
            for keeps in [true, false] {
                let query = ConversionQuery::default();
                let query = if keeps { query } else { query.without_extensions() };
                let (converted, back) = there_and_back(&chosen, query);
                let mut changes = diff(&before, &back).changes;
                // The example has its types in separate files.
                let is_type = |path: &str| path.starts_with("imports") || path.contains("_types");
                changes.retain(|it| !is_type(&it.path) && !it.element.starts_with("import."));
                assert!(!keeps || changes.is_empty(), "{name}: {changes:?}\n{}", converted.text());
                let left = changes_untold(&converted, changes);
                assert!(left.is_empty(), "{name}: {left:#?}\n{}", converted.text());
                let files = MemoryFiles::from([("it.tosca", converted.text())]);
                let found = Resolver::new("it.tosca").files(files).validate();
                let wrong = errors(&found.diagnostics, Severity::Error);
                assert!(wrong.is_empty(), "{name}: {wrong:?}\n{}", converted.text());
                count += 1;
            }
        }
    }
    assert!(count > 30, "{count}");
}

/// The metadata of an archive and of its files is kept in both directions. The same files give the
/// same bytes, in whatever order they were packed (law W7).
#[test]
fn what_archives_say_stays() {
    let stall = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/stall");
    let of = |path: &str| (path.to_owned(), fs::read(stall.join(path)).unwrap());
    let mut files = [
        "TOSCA-Metadata/TOSCA.meta",
        "service-template.yaml",
        "types.yaml",
        "plans/open.bpmn",
        "scripts/build.sh",
        "scripts/open.sh",
        "scripts/prices.txt",
    ]
    .map(of);
    let aside = tempfile::tempdir().unwrap();
    let convert = |name: &str| {
        let path = aside.path().join(name);
        let converted = Resolver::new(&path).convert(&ConversionQuery::default()).unwrap().result;
        converted.to_csar().unwrap()
    };
    let mut packed = |name: &str| {
        let file = fs::File::create(aside.path().join(name)).unwrap();
        let mut archive = zip::ZipWriter::new(file);
        for (name, content) in &files {
            archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap();
        files.reverse();
        convert(name)
    };
    let xml = packed("a.csar");
    assert_eq!(xml, packed("b.csar"));
    fs::write(aside.path().join("c.csar"), &xml).unwrap();
    let yaml = convert("c.csar");
    let meta = |archive: &[u8]| {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
        let mut text = String::new();
        let mut entry = archive.by_name("TOSCA-Metadata/TOSCA.meta").unwrap();
        std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
        text
    };
    let (xml, yaml) = (meta(&xml), meta(&yaml));
    assert!(xml.starts_with("TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.0\nCreated-By: Ada\n"));
    assert!(yaml.starts_with("TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nCreated-By: Ada\n"));
    for said in [
        "\nSold-On: Saturdays\n",
        "\nName: scripts/prices.txt\nContent-Type: text/plain; charset=utf-8\nValid-Until: spring\n",
    ] {
        assert!(xml.contains(said), "{xml}");
        assert!(yaml.contains(said), "{yaml}");
    }
    assert!(xml.contains("\nName: scripts/*\nContent-Type: text/plain\n"), "{xml}");
}

/// Of several service templates, the one with which the archive begins is converted (A4), whatever
/// the names of its files (A5).
#[test]
fn an_archive_begins_where_it_says() {
    let service = |name: &str, others: &str| {
        format!(
            "<Definitions xmlns=\"http://docs.oasis-open.org/tosca/ns/2011/12\" id=\"{name}-file\" targetNamespace=\"urn:d\" xmlns:d=\"urn:d\">{others}<ServiceTemplate id=\"{name}\"><TopologyTemplate><NodeTemplate id=\"one\" type=\"d:N\"/></TopologyTemplate></ServiceTemplate></Definitions>"
        )
    };
    const TYPE: &str = "<NodeType name=\"N\"/>";
    const SEVERAL: &str = "several service templates could be meant";
    let begun = |meta: &str, [first, second]: [&str; 2]| {
        let path = |name: &str| Path::new("a").join(name);
        let files = MemoryFiles::from([
            (path("TOSCA-Metadata/TOSCA.meta"), format!("{HEAD}{meta}")),
            (path(first), service("First", TYPE)),
            (path(second), service("Second", "")),
        ]);
        let converted = Resolver::new("a").files(files).convert(&ConversionQuery::default());
        match converted {
            Ok(converted) => match converted.result.text() {
                text if text.contains("name: First") => "First".to_owned(),
                text if text.contains("name: Second") => "Second".to_owned(),
                text => text.to_owned(),
            },
            Err(failure) => failure.diagnostics.iter().map(|found| &*found.message).collect(),
        }
    };
    const HEAD: &str = "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.0\nCreated-By: me\n";
    const BLOCK: &str = "Content-Type: application/vnd.oasis.tosca.definitions\n";
    let both = ["Definitions/1.tosca", "Definitions/2.tosca"];
    let cases = [
        ("", both, SEVERAL),
        ("Entry-Definitions: Definitions/2.tosca\n", both, "Second"),
        ("Entry-Definitions: Definitions/1.tosca\n", both, "First"),
        // A file of the type for definitions takes precedence over the directory, and the entry
        // over both.
        (&format!("\nName: Definitions/2.tosca\n{BLOCK}"), both, "Second"),
        (
            &format!(
                "Entry-Definitions: Definitions/1.tosca\n\nName: Definitions/2.tosca\n{BLOCK}"
            ),
            both,
            "First",
        ),
        (
            &format!("\nName: Definitions/1.tosca\n{BLOCK}\nName: Definitions/2.tosca\n{BLOCK}"),
            both,
            SEVERAL,
        ),
        ("\nName: Definitions/2.tosca\nContent-Type: application/xml\n", both, SEVERAL),
        // Patterns count as well, and later entries override earlier ones.
        (
            "\nName: */2.t?sca\nContent-Type: application/vnd.oasis.tosca.definitions\n",
            both,
            "Second",
        ),
        (&format!("\nName: *\n{BLOCK}"), both, SEVERAL),
        (
            &format!(
                "\nName: *\n{BLOCK}\nName: Definitions/1.tosca\nContent-Type: application/xml\n"
            ),
            both,
            "Second",
        ),
        (
            &format!(
                "\nName: Definitions/1.tosca\nContent-Type: application/xml\n\nName: *.tosca\n{BLOCK}"
            ),
            both,
            SEVERAL,
        ),
        (&format!("\nName: *1*s*a\n{BLOCK}"), both, "First"),
        ("", ["Definitions/1.tosca", "others/2.tosca"], "First"),
        ("", ["others/1.tosca", "Definitions/2.tosca"], "Second"),
        // Names may be encoded, once or twice.
        (
            "Entry-Definitions: Definitions/b%20c.tosca\n",
            ["Definitions/1.tosca", "Definitions/b c.tosca"],
            "Second",
        ),
        (
            "Entry-Definitions: Definitions/b%2520c.tosca\n",
            ["Definitions/1.tosca", "Definitions/b%20c.tosca"],
            "Second",
        ),
        (
            "Entry-Definitions: Definitions/b%2520c.tosca\n",
            ["Definitions/1.tosca", "Definitions/b c.tosca"],
            "Second",
        ),
    ];
    for (meta, files, expected) in cases {
        assert_eq!(begun(meta, files), expected, "{meta} {files:?}");
    }
}

/// The content of an element: names with their namespaces instead of prefixes, no attributes that
/// equal their default, and the components of definitions in the order of their text.
fn said(element: XmlElement<'_>) -> String {
    let expanded = |value: &str| match value.split_once(':') {
        Some((prefix, local)) if element.namespace(prefix).is_some() => {
            format!("{{{}}}{local}", element.namespace(prefix).unwrap())
        }
        _ => value.to_owned(),
    };
    let is_default = |name: &str, value: &str| {
        matches!(
            (name, value),
            ("lowerBound" | "upperBound" | "minInstances" | "maxInstances", "1")
        )
    };
    let attributes = element.attributes().map(|it| (it.name().to_string(), expanded(&it.value())));
    let attributes: BTreeMap<_, _> =
        attributes.filter(|(name, value)| !is_default(name, value)).collect();
    let mut parts: Vec<_> = element.elements().map(said).collect();
    if ["Definitions", "schema"].contains(&element.name().local) {
        parts.sort();
    }
    let text = if parts.is_empty() { element.text().into_owned() } else { String::new() };
    let name = element.name();
    format!("\n<{name} {attributes:?}>{text}{}", parts.concat().replace('\n', "\n  "))
}

/// Definitions that are valid are still valid after they were converted there and back (law W5).
#[test]
fn what_is_valid_comes_back_valid() {
    for seed in 0..80 {
        let text = definitions(&mut Dice(seed));
        let files = MemoryFiles::from([("any.tosca", &*text), ("start.sh", "true\n")]);
        let query = || ConversionQuery::default().one_document();
        let there = Resolver::new("any.tosca").files(files).convert(&query()).unwrap().result;
        let files = MemoryFiles::from([("any.yaml", &*there.text()), ("start.sh", "true\n")]);
        let back = Resolver::new("any.yaml").files(files).convert(&query()).unwrap().result;
        let files = MemoryFiles::from([("back.tosca", &*back.text()), ("start.sh", "true\n")]);
        let found = Resolver::new("back.tosca").files(files).validate().diagnostics;
        assert_eq!(errors(&found, Severity::Warning), [""; 0], "{seed}\n{}", back.text());
    }
}

/// Built-in types of properties that are narrower than those of YAML, each with a value.
const NARROW: [(&str, &str); 8] = [
    ("positiveInteger", "7"),
    ("nonNegativeInteger", "0"),
    ("short", "-32768"),
    ("long", "5"),
    ("decimal", "1.25"),
    ("date", "2026-11-23"),
    ("anyURI", "urn:a"),
    ("NCName", "tea"),
];

/// Properties whose content no schema describes.
const FRAGMENTS: [&str; 3] = [
    "<x:conf xmlns:x=\"urn:example:x\" z=\"1\" a=\"2 &lt; 3\"><x:line>Tea <x:b>and</x:b> more</x:line><!-- so --><x:empty/></x:conf>",
    "<x:conf xmlns:x=\"urn:example:x\" xmlns=\"\"><a>1</a><a>s:Gives</a></x:conf>",
    "<conf xmlns=\"urn:example:x\"><s:T0 s:at=\"1\">2</s:T0></conf>",
];

/// The properties of a type: their definitions, the value of the first one, and the values of the
/// others.
fn mappable_properties(dice: &mut Dice) -> (String, [String; 2]) {
    const KINDS: [(&str, &str); 4] =
        [("string", "Tea: 1"), ("boolean", "true"), ("integer", "-7"), ("double", "1.5")];
    let (mut elements, mut values) = (String::new(), [String::new(), String::new()]);
    for property in 0..1 + dice.roll(4) {
        let (kind, value) = match dice.roll(2) {
            0 => KINDS[usize::try_from(dice.roll(4)).unwrap()],
            _ => NARROW[usize::try_from(dice.roll(8)).unwrap()],
        };
        let occurs = dice.one_of(&["", " minOccurs=\"0\"", " maxOccurs=\"unbounded\""]);
        elements += &format!("<xs:element name=\"p{property}\" type=\"xs:{kind}\"{occurs}/>");
        if !occurs.contains("minOccurs") || dice.roll(2) == 0 {
            values[usize::from(property > 0)] += &format!("<s:p{property}>{value}</s:p{property}>");
        }
    }
    (elements, values)
}

/// The operations of a type, and sometimes their implementations.
fn mappable_behavior(dice: &mut Dice, at: u64) -> (String, String) {
    const LIFECYCLE: &str = "http://www.example.com/interfaces/lifecycle";
    let uri = dice.one_of(&["run", "http://example.com/run", LIFECYCLE]);
    let [first, second] = if uri == LIFECYCLE { ["install", "stop"] } else { ["begin", "end"] };
    let takes = dice.one_of(&[
        "",
        "<InputParameters><InputParameter name=\"to\" type=\"xs:anyURI\"/><InputParameter name=\"how\" type=\"xs:string\" required=\"no\"/></InputParameters>",
        "<InputParameters><InputParameter name=\"to\" type=\"String\"/></InputParameters>",
    ]);
    let interfaces = format!(
        "<Interfaces><Interface name=\"{uri}\"><Operation name=\"{first}\">{takes}</Operation><Operation name=\"{second}\"/></Interface></Interfaces>"
    );
    let by = |operation: &str, name: &str, template: &str| {
        let name = if name.is_empty() { String::new() } else { format!(" name=\"{name}\"") };
        format!(
            "<ImplementationArtifact{name} interfaceName=\"{uri}\" operationName=\"{operation}\" artifactType=\"s:Script\" artifactRef=\"s:{template}\"/>"
        )
    };
    let (template, other) = (format!("T{at}_does"), format!("script{at}"));
    let artifacts = match dice.roll(4) {
        0 => return (interfaces, String::new()),
        1 => by(first, "does", &template),
        2 => by(first, "does", &other) + &by(second, "", &other),
        _ => by(first, "does", &other) + &by(second, "ends", &other),
    };
    let is_other = artifacts.contains(&other);
    let used = if is_other { &other } else { &template };
    let (deployed, disk) = match dice.roll(2) {
        0 => (String::new(), String::new()),
        _ => (
            format!(
                "<DeploymentArtifacts><DeploymentArtifact name=\"disk\" artifactType=\"s:Script\" artifactRef=\"s:disk{at}\"/></DeploymentArtifacts>"
            ),
            format!(
                "<ArtifactTemplate id=\"disk{at}\" type=\"s:Script\"><ArtifactReferences><ArtifactReference reference=\"disk.img\"/></ArtifactReferences></ArtifactTemplate>"
            ),
        ),
    };
    let name = dice.one_of(&["Implementation", "OnLinux"]);
    let components = format!(
        "<NodeTypeImplementation name=\"T{at}{name}\" nodeType=\"s:T{at}\"><ImplementationArtifacts>{artifacts}</ImplementationArtifacts>{deployed}</NodeTypeImplementation>\
         <ArtifactTemplate id=\"{used}\" type=\"s:Script\"><ArtifactReferences><ArtifactReference reference=\"start.sh\"/></ArtifactReferences></ArtifactTemplate>{disk}"
    );
    (interfaces, components)
}

/// A node type and everything that it needs. With `has_schema`, a schema defines its properties.
fn mappable_type(dice: &mut Dice, at: u64, has_schema: bool) -> String {
    let properties = match has_schema {
        true => format!("<PropertiesDefinition element=\"s:T{at}\"/>"),
        false => String::new(),
    };
    let abstraction = dice.one_of(&["", " final=\"yes\""]);
    let tags = dice.one_of(&["", "<Tags><Tag name=\"since\" value=\"1.0\"/></Tags>"]);
    let about = dice.one_of(&["", "<documentation>What is &lt;sold&gt;.</documentation>"]);
    let least = dice.one_of(&[
        "lowerBound=\"0\" upperBound=\"7\"",
        "lowerBound=\"0\" upperBound=\"unbounded\"",
    ]);
    let most = dice.one_of(&["", " upperBound=\"3\"", " upperBound=\"unbounded\""]);
    let states = dice.one_of(&["", "<InstanceStates><InstanceState state=\"urn:up\"/><InstanceState state=\"urn:down\"/></InstanceStates>"]);
    let (interfaces, components) = match dice.roll(3) {
        0 => (String::new(), String::new()),
        _ => mappable_behavior(dice, at),
    };
    format!(
        "<NodeType name=\"T{at}\"{abstraction}>{about}{tags}{properties}\
         <RequirementDefinitions><RequirementDefinition name=\"needs\" requirementType=\"s:Needs\" {least}/></RequirementDefinitions>\
         <CapabilityDefinitions><CapabilityDefinition name=\"gives\" capabilityType=\"s:Gives\"{most}/></CapabilityDefinitions>{states}{interfaces}</NodeType>{components}"
    )
}

/// Random definitions that YAML can express completely.
fn mappable(dice: &mut Dice) -> String {
    let (mut schema, mut components, mut nodes, mut relationships) =
        (String::new(), String::new(), String::new(), String::new());
    let (mut stands_for_node, mut shown) = (false, String::new());
    for at in 0..2 + dice.roll(4) {
        let (elements, [mut first, rest]) = mappable_properties(dice);
        let (attribute, note) =
            [("", ""), ("<xs:attribute name=\"note\" type=\"xs:string\"/>", " note=\"new\"")]
                [usize::try_from(dice.roll(2)).unwrap()];
        let fragment = match dice.roll(4) {
            0 if at > 0 => dice.one_of(&FRAGMENTS),
            _ => "",
        };
        if fragment.is_empty() {
            schema += &format!(
                "<xs:element name=\"T{at}\"><xs:complexType><xs:sequence>{elements}</xs:sequence>{attribute}</xs:complexType></xs:element>"
            );
        }
        if at == 0 && dice.roll(2) == 0 {
            stands_for_node = true;
            shown = std::mem::take(&mut first);
        }
        let mut values = first + &rest;
        components += &mappable_type(dice, at, fragment.is_empty());
        let name =
            dice.one_of(&["", " name=\"Some: node\"", " minInstances=\"2\" maxInstances=\"4\""]);
        let (mut requirements, id) = (String::new(), dice.one_of(&["n", "any-"]));
        let to = if at > 0 { dice.roll(at) } else { 0 };
        let (link, ends) = match dice.roll(6) {
            _ if at == 0 => ("", [String::new(), String::new()]),
            0 | 1 => {
                let open =
                    format!("<Requirement id=\"open{at}\" name=\"needs\" type=\"s:Needs\"/>");
                let open = if dice.roll(2) == 0 { "" } else { &*open };
                requirements = format!(
                    "<Requirements><Requirement id=\"{id}{at}_it\" name=\"needs\" type=\"s:Needs\"/>{open}</Requirements>"
                );
                ("s:Gets", [format!("{id}{at}_it"), format!("c{to}")])
            }
            2 => ("s:RunsOn", [format!("n{at}"), format!("n{to}")]),
            3 => ("b:HostedOn", [format!("n{at}"), format!("n{to}")]),
            4 => ("s:Gets", [format!("n{at}"), format!("c{to}")]),
            _ => ("", [String::new(), String::new()]),
        };
        if !link.is_empty() {
            relationships += &format!(
                "<RelationshipTemplate id=\"r{at}\" type=\"{link}\"><SourceElement ref=\"{}\"/><TargetElement ref=\"{}\"/></RelationshipTemplate>",
                ends[0], ends[1]
            );
        }
        if !fragment.is_empty() {
            values = format!("<Properties>{fragment}</Properties>");
        } else if !values.is_empty() || !note.is_empty() {
            values = format!("<Properties><s:T{at}{note}>{values}</s:T{at}></Properties>");
        }
        let artifacts = dice.one_of(&[
            "",
            "<DeploymentArtifacts><DeploymentArtifact name=\"extra\" artifactType=\"s:Script\" artifactRef=\"s:shared\"/></DeploymentArtifacts>",
        ]);
        let policies = dice.one_of(&[
            "",
            "<Policies><Policy name=\"saved\" policyType=\"s:Saved\" policyRef=\"s:daily\"/></Policies>",
            "<Policies><Policy name=\"watched\" policyType=\"s:Watched\"><documentation>By day.</documentation></Policy></Policies>",
        ]);
        let policies = if at > 1 && policies.contains("Watched") { "" } else { policies };
        nodes += &format!(
            "<NodeTemplate id=\"n{at}\" type=\"s:T{at}\"{name}>{values}{requirements}\
             <Capabilities><Capability id=\"c{at}\" name=\"gives\" type=\"s:Gives\"/></Capabilities>{policies}{artifacts}</NodeTemplate>"
        );
    }
    schema += "<xs:element name=\"Saved\"><xs:complexType><xs:sequence><xs:element name=\"hour\" type=\"xs:integer\"/></xs:sequence></xs:complexType></xs:element>";
    let plan = |id: &str, kind: &str, gives: &str| {
        format!(
            "<Plan id=\"{id}\" planType=\"http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/{kind}\" planLanguage=\"urn:bpel\"><InputParameters><InputParameter name=\"who\" type=\"xs:string\"/></InputParameters>{gives}<PlanModelReference reference=\"start.sh\"/></Plan>"
        )
    };
    let gives = "<OutputParameters><OutputParameter name=\"z\" type=\"xs:string\"/><OutputParameter name=\"a\" type=\"xs:anyURI\"/></OutputParameters>";
    let plans = match dice.roll(3) {
        0 => String::new(),
        1 => format!("<Plans>{}</Plans>", plan("build", "BuildPlan", gives)),
        _ => format!(
            "<Plans>{}{}</Plans>",
            plan("end", "TerminationPlan", ""),
            plan("scale", "Other", gives)
        ),
    };
    let exported = match plans.contains("\"scale\"") && stands_for_node {
        true => {
            "<Interfaces><Interface name=\"urn:example:shown\"><Operation name=\"go\"><Plan planRef=\"scale\"/></Operation></Interface></Interfaces>"
        }
        false => "",
    };
    let (stands_for, boundary) = match stands_for_node {
        true => {
            let root =
                if shown.is_empty() { String::new() } else { format!("<s:T0>{shown}</s:T0>") };
            let policy = dice.one_of(&["", "<Policies><Policy name=\"whole\" policyType=\"s:Saved\" policyRef=\"s:daily\"/></Policies>"]);
            (
                " substitutableNodeType=\"s:T0\"",
                format!(
                    "<BoundaryDefinitions><Properties>{root}<PropertyMappings><PropertyMapping serviceTemplatePropertyRef=\"p0\" targetObjectRef=\"n0\" targetPropertyRef=\"p0\"/></PropertyMappings></Properties>\
                 <Capabilities><Capability name=\"gives\" ref=\"c0\"/></Capabilities>{policy}{exported}</BoundaryDefinitions>"
                ),
            )
        }
        false => ("", String::new()),
    };
    if nodes.contains("s:daily") || boundary.contains("s:daily") {
        components += "<PolicyTemplate id=\"daily\" type=\"s:Saved\"><Properties><s:Saved><s:hour>3</s:hour></s:Saved></Properties></PolicyTemplate>";
    }
    let known = match relationships.contains("b:HostedOn") {
        true => {
            "<RelationshipType name=\"HostedOn\" targetNamespace=\"http://docs.oasis-open.org/tosca/ns/2011/12/ToscaBaseTypes\"/>"
        }
        false => "",
    };
    if nodes.contains("s:shared") {
        components += "<ArtifactTemplate id=\"shared\" type=\"s:Script\"><ArtifactReferences><ArtifactReference reference=\"start.sh\"/></ArtifactReferences></ArtifactTemplate>";
    }
    format!(
        "<Definitions xmlns=\"http://docs.oasis-open.org/tosca/ns/2011/12\" xmlns:s=\"urn:example:any\" xmlns:b=\"http://docs.oasis-open.org/tosca/ns/2011/12/ToscaBaseTypes\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" id=\"any\" name=\"Any\" targetNamespace=\"urn:example:any\">\
         <Types><xs:schema targetNamespace=\"urn:example:any\" elementFormDefault=\"qualified\">{schema}</xs:schema></Types>\
         <ServiceTemplate id=\"Any\"{stands_for}>{boundary}<TopologyTemplate>{nodes}{relationships}</TopologyTemplate>{plans}</ServiceTemplate>{components}\
         <RequirementType name=\"Needs\" requiredCapabilityType=\"s:Gives\"/><CapabilityType name=\"Gives\"/><ArtifactType name=\"Script\"/>\
         <PolicyType name=\"Saved\"><PropertiesDefinition element=\"s:Saved\"/></PolicyType><PolicyType name=\"Watched\" policyLanguage=\"urn:watch\"><AppliesTo><NodeTypeReference typeRef=\"s:T0\"/><NodeTypeReference typeRef=\"s:T1\"/></AppliesTo></PolicyType>\
         <RelationshipType name=\"Gets\"><ValidTarget typeRef=\"s:Gives\"/></RelationshipType><RelationshipType name=\"RunsOn\"/>{known}</Definitions>"
    )
}

/// What YAML can express comes back: XML to YAML and back gives the same (law W3).
#[test]
fn what_definitions_say_comes_back() {
    let tree = |text: &str| {
        said(xml::parse(FileId::DETACHED, text.into(), &XmlLimits::default()).unwrap().root())
    };
    for seed in 0..80 {
        let text = mappable(&mut Dice(seed));
        let query = || ConversionQuery::default().one_document();
        let there = Resolver::new("any.tosca").files(MemoryFiles::from([("any.tosca", &*text)]));
        let there = there.convert(&query()).unwrap().result;
        let files = MemoryFiles::from([("any.yaml", &*there.text())]);
        let back = Resolver::new("any.yaml").files(files).convert(&query()).unwrap().result;
        let [was, is] = [tree(&text), tree(&back.text())];
        let gone: Vec<_> = was.lines().filter(|line| !is.lines().any(|it| it == *line)).collect();
        let new: Vec<_> = is.lines().filter(|line| !was.lines().any(|it| it == *line)).collect();
        assert!(was == is, "{seed}\n{gone:#?}\n{new:#?}\n{}", there.text());
    }
}
