//! Conversions as people see them: in `tests/convert`, documents, commands, and what they print and
//! write.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod folders;
mod sessions;

use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::source::MemoryFiles;
use cuvee::{ConversionQuery, Resolver};
use folders::copy;
use sessions::{Place, hold, run};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Lines run one after the other in a copy of the directory; `cat` shows a file.
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

/// What a conversion writes is what its fixture has, to the byte.
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

/// Random choices that a seed decides.
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

/// Types of XML Schema, with a value of each.
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

/// Definitions with which nothing is wrong.
fn definitions(dice: &mut Dice) -> String {
    let types = 2 + dice.roll(4);
    let (mut schema, mut components, mut nodes, mut relationships) =
        (String::new(), String::new(), String::new(), String::new());
    for at in 0..types {
        let (mut elements, mut values) = (String::new(), String::new());
        for property in 0..dice.roll(5) {
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
        let states =
            dice.one_of(&["", "<InstanceStates><InstanceState state=\"open\"/></InstanceStates>"]);
        let parameters = dice.one_of(&["", "<InputParameters><InputParameter name=\"size\" type=\"xs:int\" required=\"no\"/></InputParameters>"]);
        let interface =
            dice.one_of(&["http://opentosca.org/interfaces/lifecycle", "urn:example:life", "run"]);
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
    let base = "http://docs.oasis-open.org/tosca/ns/2011/12";
    format!(
        "<Definitions xmlns=\"{base}\" xmlns:s=\"urn:example:any\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:b=\"{base}/ToscaBaseTypes\" id=\"any\" targetNamespace=\"urn:example:any\">\
         <Types><xs:schema targetNamespace=\"urn:example:any\" elementFormDefault=\"qualified\">{schema}</xs:schema></Types>\
         <ServiceTemplate id=\"Any\"><TopologyTemplate>{nodes}{relationships}</TopologyTemplate></ServiceTemplate>{components}\
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

/// What is valid without warnings is valid YAML, as files and as one document (law W5).
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

/// The order of files in an archive does not count (law W7).
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
