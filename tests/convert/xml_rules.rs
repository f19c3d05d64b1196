//! Tests each statement about definitions of TOSCA 1.0 with at least one case: a valid document,
//! one change of it, and the one finding that results, at its place.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use cuvee::Resolver;
use cuvee::diagnostic::Diagnostic;
use cuvee::source::{FileSystem, MemoryFiles, SourceMap};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const VALID: &str = include_str!("../diagnostics/xml/valid.tosca");

/// The rule that is broken, the replacements, and the finding. The last text is that of the line of
/// the finding, where this is not the line of the first change.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

/// The place where types are added.
const TYPES: &str = "  <CapabilityType name=\"Room\"/>\n";

macro_rules! added {
    ($line:literal) => {
        &[(TYPES, concat!("  ", $line, "\n  <CapabilityType name=\"Room\"/>\n"))]
    };
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("3 attributes", &[(r#"<Tag name="since" value="1"/>"#, r#"<Tag name="since" value="1" vale="2"/>"#)], "error[unknown-keyword]: `vale` is no attribute of `Tag`", ""),
    ("3 elements", &[("<ValidTarget typeRef=\"s:Room\"/>", "<ValidTarget typeRef=\"s:Room\"/><ValidTargt/>")], "error[unknown-keyword]: `ValidTargt` cannot stand in `RelationshipType`", ""),
    ("3 order", &[("    <Tags><Tag name=\"since\" value=\"1\"/></Tags>\n    <DerivedFrom typeRef=\"s:Store\"/>\n", "    <DerivedFrom typeRef=\"s:Store\"/>\n    <Tags><Tag name=\"since\" value=\"1\"/></Tags>\n")], "warning[element-order]: `Tags` has to stand earlier in `NodeType`", "<Tags><Tag name=\"since\""),
    ("3 once", &[("<ValidSource typeRef=\"s:Place\"/>", "<ValidSource typeRef=\"s:Place\"/><ValidSource typeRef=\"s:Place\"/>")], "error[duplicate]: `RelationshipType` may have one `ValidSource`", ""),
    ("3 empty", &[("<Tags><Tag name=\"author\" value=\"Ann\"/></Tags>", "<Tags/>")], "error[invalid-template]: `Tags` needs one `Tag` at least", ""),
    ("S1", &[(r#"id="shop" name="A shop""#, r#"name="A shop""#)], "error[invalid-template]: `Definitions` needs `id`", "<Definitions "),
    ("S2", &[(r#"<Extension namespace="urn:example:notes" mustUnderstand="no"/>"#, "")], "error[invalid-template]: `Extensions` needs one `Extension`", ""),
    ("S2 yes or no", &[(r#"mustUnderstand="no""#, r#"mustUnderstand="maybe""#)], "error[invalid-value]: `mustUnderstand` is `yes` or `no`", ""),
    ("S3", &[(r#" importType="http://www.w3.org/2001/XMLSchema"/>"#, "/>")], "error[invalid-template]: `Import` needs `importType`", ""),
    ("S3 kinds", &[(r#"importType="http://www.w3.org/2001/XMLSchema""#, r#"importType="urn:example:other""#)], "warning[invalid-value]: the import is of a kind that is not known", ""),
    ("S4", &[(r#"name="Store" abstract="yes""#, r#"name="Store" abstract="true""#)], "error[invalid-value]: `abstract` is `yes` or `no`, not `true`", ""),
    ("S5", &[(r#"<Tag name="author" value="Ann"/>"#, r#"<Tag name="author"/>"#)], "error[invalid-template]: `Tag` needs `value`", ""),
    ("S5 topology", added!(r#"<ServiceTemplate id="Bare"/>"#), "error[invalid-template]: `ServiceTemplate` needs `TopologyTemplate`", ""),
    ("S6", &[(r#"serviceTemplatePropertyRef="/x:Store/x:port" "#, "")], "error[invalid-template]: `PropertyMapping` needs `serviceTemplatePropertyRef`", ""),
    ("S6 exposed", &[(r#"<Requirement name="place" ref="web_place"/>"#, r#"<Requirement name="place"/>"#)], "error[invalid-template]: `Requirement` needs `ref`", ""),
    ("S7", &[(r#"<Operation name="build"><Plan planRef="build"/></Operation>"#, r#"<Operation name="build"/>"#)], "error[invalid-template]: `Operation` needs one of", ""),
    ("S8", added!(r#"<ServiceTemplate id="Bare"><TopologyTemplate/></ServiceTemplate>"#), "error[invalid-template]: `TopologyTemplate` needs one of", ""),
    ("S9 least", &[(r#"minInstances="0""#, r#"minInstances="-1""#)], "error[invalid-value]: `minInstances` is an integer from 0 on", ""),
    ("S9 most", &[(r#"maxInstances="unbounded""#, r#"maxInstances="0""#)], "error[invalid-value]: `maxInstances` is an integer from 1 on", ""),
    ("S9 capitals", &[(r#"maxInstances="unbounded""#, r#"maxInstances="UNBOUNDED""#)], "warning[invalid-value]: `maxInstances` is `unbounded` in small letters", ""),
    ("S10 none", &[("<Properties><x:size>1</x:size></Properties>", "<Properties/>")], "warning[invalid-template]: `Properties` has nothing in it", ""),
    ("S10 text", &[("<Properties><x:size>1</x:size></Properties>", "<Properties>one<x:size>1</x:size></Properties>")], "error[invalid-template]: text cannot stand in `Properties`", ""),
    ("S10 two", &[("<Properties><x:size>1</x:size></Properties>", "<Properties><x:size>1</x:size><x:size>1</x:size></Properties>")], "error[invalid-template]: `Properties` holds one element, not 2", ""),
    ("S11", &[(r#"<Capability id="vm_room" name="room" type="s:Room"/>"#, r#"<Capability id="vm_room" name="room"/>"#)], "error[invalid-template]: `Capability` needs `type`", ""),
    ("S12", &[(r#"<SourceElement ref="vm"/><TargetElement ref="web"/>"#, r#"<SourceElement ref="vm"/>"#)], "error[invalid-template]: `RelationshipTemplate` needs `TargetElement`", ""),
    ("S12 once", &[(r#"<SourceElement ref="vm"/>"#, r#"<SourceElement ref="vm"/><SourceElement ref="vm"/>"#)], "error[duplicate]: `RelationshipTemplate` may have one `SourceElement`", ""),
    ("S13", &[("<PlanModel><x:sweep/></PlanModel></Plan>", "</Plan>")], "error[invalid-template]: `Plan` needs one of", ""),
    ("S13 both", &[("<PlanModel><x:sweep/></PlanModel></Plan>", "<PlanModel><x:sweep/></PlanModel><PlanModelReference reference=\"a\"/></Plan>")], "error[duplicate]: `Plan` has one of", ""),
    ("S14", &[(r#"type="xs:int" required="no""#, r#"type="xs:int" required="false""#)], "error[invalid-value]: `required` is `yes` or `no`, not `false`", ""),
    ("S15 names", added!(r#"<CapabilityType name="9th"/>"#), "error[invalid-value]: `name` is a name", ""),
    ("S15 properties", &[(r#"<PropertiesDefinition element="s:Web"/>"#, r#"<PropertiesDefinition element="s:Web" type="xs:string"/>"#)], "error[invalid-definition]: `PropertiesDefinition` has `element` or `type`, not both", ""),
    ("S16", &[(r#"lowerBound="0" upperBound="unbounded""#, r#"lowerBound="0" upperBound="0""#)], "error[invalid-value]: `upperBound` is an integer from 1 on", ""),
    ("S16 capabilities", &[(r#"lowerBound="1" upperBound="2""#, r#"lowerBound="0" upperBound="2""#)], "error[invalid-value]: the lower bound of a capability is 1 at least", ""),
    ("S17 states", &[(r#"<InstanceState state="on"/>"#, "<InstanceState/>")], "error[invalid-template]: `InstanceState` needs `state`", ""),
    ("S17 operations", &[(r#"<Interface name="unwire"><Operation name="part"/></Interface>"#, r#"<Interface name="unwire"/>"#)], "error[invalid-template]: `Interface` needs one `Operation` at least", ""),
    ("S18", &[(r#"<ImplementationArtifact interfaceName="unwire" "#, r#"<ImplementationArtifact operationName="part" "#)], "error[invalid-template]: `operationName` needs `interfaceName`", ""),
    ("S19", &[(r#"<Exclude pattern="old*"/>"#, "<Exclude/>")], "error[invalid-template]: `Exclude` needs `pattern`", ""),
    ("S20", &[(r#"<AppliesTo><NodeTypeReference typeRef="s:Store"/></AppliesTo>"#, "<AppliesTo/>")], "error[invalid-template]: `AppliesTo` needs one `NodeTypeReference` at least", ""),
    ("S21 unique", added!(r#"<PolicyTemplate id="Page" type="s:Hours"/>"#), "error[duplicate]: something else in this document has the id `Page`", "<ArtifactTemplate id=\"Page\""),
    ("S21 names", added!(r#"<PolicyTemplate id="All day" type="s:Hours"/>"#), "error[invalid-value]: `id` is a name", ""),
    ("Q1 prefix", &[(r#"<ValidSource typeRef="s:Machine"/>"#, r#"<ValidSource typeRef="q:Machine"/>"#)], "error[syntax]: no namespace is declared for the prefix `q`", ""),
    ("Q1 none", &[(r#"<ValidSource typeRef="s:Machine"/>"#, r#"<ValidSource typeRef="Machine"/>"#)], "warning[unprefixed-name]: `Machine` has no prefix", ""),
    ("Q2 types", &[(r#"<ValidSource typeRef="s:Machine"/>"#, r#"<ValidSource typeRef="s:Machin"/>"#)], "error[unknown-type]: there is no node type `Machin`", ""),
    ("Q2 templates", &[(r#"artifactRef="s:Page"/></DeploymentArtifacts>"#, r#"artifactRef="s:Pag"/></DeploymentArtifacts>"#)], "error[unknown-element]: there is no artifact template `Pag`", ""),
    ("Q3", added!(r#"<CapabilityType name="Sell" abstract="no"/>"#), "error[type-clash]: another capability type `Sell`", "<CapabilityType name=\"Sell\"><"),
    ("C1", &[(r#"mustUnderstand="no""#, r#"mustUnderstand="yes""#)], "error[mandatory-extension]: this document requires the extension urn:example:notes", ""),
    ("C2 twice", &[("  <Types>\n", "  <Import namespace=\"http://www.w3.org/2001/XMLSchema\" importType=\"http://www.w3.org/2001/XMLSchema\"/>\n  <Types>\n")], "error[duplicate]: this document is imported already", ""),
    ("C2 files", &[("  <Types>\n", "  <Import namespace=\"urn:example:far\" location=\"far.tosca\" importType=\"http://docs.oasis-open.org/tosca/ns/2011/12\"/>\n  <Types>\n")], "warning[file]: there is no file `far.tosca`", ""),
    ("C4 cycles", &[(r#"<ArtifactType name="File"/>"#, r#"<ArtifactType name="File"><DerivedFrom typeRef="s:PageFile"/></ArtifactType>"#)], "error[cyclic-type]: `File` derives from itself", ""),
    ("C4 final", added!(r#"<NodeType name="Shed"><DerivedFrom typeRef="s:Web"/></NodeType>"#), "error[final-type]: nothing may derive from `Web`", ""),
    ("C4 both", added!(r#"<NodeType name="Shed" abstract="yes" final="yes"/>"#), "error[invalid-definition]: `Shed` is final and abstract", ""),
    ("C4 kinds", added!(r#"<NodeType name="Shed"><DerivedFrom typeRef="s:Room"/></NodeType>"#), "error[unknown-type]: there is no node type `Room`", ""),
    ("C5 types", added!(r#"<CapabilityType name="Vague" abstract="yes"/><NodeType name="Shed"><CapabilityDefinitions><CapabilityDefinition name="v" capabilityType="s:Vague"/></CapabilityDefinitions></NodeType>"#), "error[invalid-definition]: `Shed` has to be abstract", ""),
    ("C5 templates", added!(r#"<PolicyType name="Vague" abstract="yes"/><PolicyTemplate id="Some" type="s:Vague"/>"#), "warning[abstract-type]: `Vague` is abstract", ""),
    ("C6", &[(r#"<Operation name="part"/>"#, r#"<Operation name="part"/><Operation name="part"/>"#)], "error[duplicate]: there is another operation `part`", ""),
    ("C7", added!(r#"<NodeType name="Shed" abstract="yes"><DerivedFrom typeRef="s:Store"/><CapabilityDefinitions><CapabilityDefinition name="sell" capabilityType="s:Room"/></CapabilityDefinitions></NodeType>"#), "error[invalid-refinement]: the capability `sell` is inherited with the type `Sell`", ""),
    ("C8 definitions", &[(r#"lowerBound="1" upperBound="2""#, r#"lowerBound="3" upperBound="2""#)], "error[invalid-value]: the lower bound 3 is above the upper one, 2", ""),
    ("C8 instances", &[(r#"minInstances="0" maxInstances="unbounded""#, r#"minInstances="3" maxInstances="2""#)], "error[invalid-value]: at least 3 instances are more than at most 2", ""),
    ("C9 names", &[(r#"<Capability id="vm_room" name="room""#, r#"<Capability id="vm_room" name="rom""#)], "error[unknown-definition]: `Machine` defines no capability `rom`", ""),
    ("C9 types", &[(r#"<Capability id="vm_room" name="room" type="s:Room"/>"#, r#"<Capability id="vm_room" name="room" type="s:Sell"/>"#)], "error[incompatible-type]: the capability `room` is defined with the type `Room`", ""),
    ("C9 most", &[(r#"<Capability id="vm_room" name="room" type="s:Room"/>"#, r#"<Capability id="vm_room" name="room" type="s:Room"/><Capability id="vm_hall" name="room" type="s:Room"/>"#)], "error[too-many-relations]: `room` may occur 1 times", ""),
    ("C9 least", &[("      <NodeTemplate id=\"vm\"", "      <NodeTemplate id=\"shed\" type=\"s:Shed\"/>\n      <NodeTemplate id=\"vm\""), (TYPES, "  <NodeType name=\"Shed\"><RequirementDefinitions><RequirementDefinition name=\"ground\" requirementType=\"s:Place\"/></RequirementDefinitions></NodeType>\n  <CapabilityType name=\"Room\"/>\n")], "note[missing-requirement]: `shed` does not have the requirement `ground` of its type", ""),
    ("C10 ends", &[(r#"<TargetElement ref="vm_room"/>"#, r#"<TargetElement ref="web_place"/>"#)], "error[unknown-element]: `web_place` is a requirement, not a node template or a capability", ""),
    ("C10 types", &[(r#"<SourceElement ref="vm"/>"#, r#"<SourceElement ref="web"/>"#)], "error[incompatible-type]: `Beside` leads between `Machine`", ""),
    ("C11", added!(r#"<RelationshipType name="Odd"><ValidSource typeRef="s:Place"/><ValidTarget typeRef="s:Machine"/></RelationshipType>"#), "error[invalid-definition]: the source is a requirement type and the target a node type", ""),
    ("C12", added!(r#"<RequirementType name="Deal" requiredCapabilityType="s:Sell"/><RelationshipType name="Odd"><ValidSource typeRef="s:Deal"/><ValidTarget typeRef="s:Room"/></RelationshipType>"#), "error[incompatible-requirement]: `Deal` requires a capability `Sell`", ""),
    ("C13 templates", &[(r#"artifactType="s:File" artifactRef="s:Page"/></DeploymentArtifacts>"#, r#"artifactType="s:Song" artifactRef="s:Page"/></DeploymentArtifacts>"#), (TYPES, "  <ArtifactType name=\"Song\"/>\n  <CapabilityType name=\"Room\"/>\n")], "error[incompatible-type]: `Page` is of the type `PageFile`", ""),
    ("C13 unknown", &[(r#"artifactType="s:File" artifactRef="s:Page"/></DeploymentArtifacts>"#, r#"artifactType="s:Fil" artifactRef="s:Page"/></DeploymentArtifacts>"#)], "warning[unknown-type]: there is no artifact type `Fil`", ""),
    ("C13 applies", &[("<NodeTemplate id=\"vm\" type=\"s:Machine\">\n        <Capabilities><Capability id=\"vm_room\" name=\"room\" type=\"s:Room\"/></Capabilities>", "<NodeTemplate id=\"vm\" type=\"s:Machine\">\n        <Capabilities><Capability id=\"vm_room\" name=\"room\" type=\"s:Room\"/></Capabilities><Policies><Policy policyType=\"s:Hours\"/></Policies>")], "error[incompatible-type]: the policy type `Hours` does not apply to `Machine`", "id=\"vm_room\""),
    ("C14", &[(r#"<PolicyType name="LongHours" policyLanguage="urn:example:words">"#, r#"<PolicyType name="LongHours" policyLanguage="urn:example:signs">"#)], "error[invalid-refinement]: the policy type that it derives from is written in urn:example:words", ""),
    ("C15", &[(r#"operationName="start" artifactType"#, r#"operationName="stop" artifactType"#)], "error[unknown-definition]: `life` has no operation `stop`", ""),
    ("C16 operations", &[(r#"interfaceName="life" operationName="start"/></Operation>"#, r#"interfaceName="lif" operationName="start"/></Operation>"#)], "error[unknown-definition]: `Web` has no interface `lif`", ""),
    ("C16 plans", &[(r#"<Plan planRef="build"/>"#, r#"<Plan planRef="web"/>"#)], "error[unknown-element]: `web` is a node template, not a plan", ""),
    ("C17", &[(r#"targetObjectRef="web""#, r#"targetObjectRef="build""#)], "error[unknown-element]: `build` is a plan", ""),
    ("C17 paths", &[(r#"serviceTemplatePropertyRef="/x:Store/x:port""#, r#"serviceTemplatePropertyRef="concat(a, b)""#)], "note[undecidable]: the target of the path `concat(a, b)` cannot be determined here", ""),
    ("C18", &[(r#"<PropertyConstraints><PropertyConstraint property="/s:Web" constraintType="urn:example:unique">"#, r#"<PropertyConstraints><PropertyConstraint property="/s:Web" constraintType="urn:example:few"/><PropertyConstraint property="/s:Web" constraintType="urn:example:unique">"#)], "error[duplicate]: there is another constraint of `/s:Web`", ""),
    ("C19", &[(r#"<Capability name="sell" ref="web_sell"/>"#, r#"<Capability name="sell" ref="web_sell"/><Capability name="room" ref="vm_room"/>"#)], "warning[unknown-definition]: `Store` defines no capability `room`", ""),
    ("C19 all", &[(r#"<Capabilities><Capability name="sell" ref="web_sell"/></Capabilities>"#, "")], "warning[missing-requirement]: the service template may substitute a `Store`, but does not show the capability `sell`", "<ServiceTemplate id=\"Shop\""),
    ("C20", &[("<Properties><s:Web>tea</s:Web></Properties>", "<Properties><s:Wob>tea</s:Wob></Properties>")], "error[invalid-template]: the properties of `Web` are a `Web`", ""),
    ("C20 values", &[("<s:Web>tea</s:Web>", "<s:Web><s:port>80</s:port></s:Web>")], "error[invalid-value]: `Web` holds a value, not elements", ""),
    ("C21", &[(r#"planType="urn:example:sweep""#, r#"planType="http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/BuildPlan""#)], "note[duplicate]: another plan of this type is for the whole service template as well", ""),
];

fn validated(text: &str) -> (Vec<Diagnostic>, SourceMap) {
    let files = MemoryFiles::from([("valid.tosca", text)]);
    let found = Resolver::new("valid.tosca").files(files).validate();
    (found.diagnostics, found.sources)
}

/// Each finding with its line.
fn told(text: &str) -> Vec<(usize, String)> {
    let (found, sources) = validated(text);
    let told = found.iter().map(|found| {
        let line = found.span.map_or(0, |span| sources.location(span).line);
        (line, format!("{}[{}]: {}", found.severity, found.code, found.message))
    });
    told.collect()
}

fn line_of(text: &str, what: &str) -> usize {
    text.lines().position(|line| line.contains(what)).unwrap() + 1
}

#[test]
fn each_statement_has_a_case() {
    let has =
        |statement: &str| CASES.iter().any(|(name, ..)| name.split(' ').next() == Some(statement));
    let all = (1..=21).map(|at| format!("S{at}")).chain((1..=3).map(|at| format!("Q{at}")));
    // Statements about imports need other files: `tests/diagnostics/xml/imports.tosca`.
    let all = all.chain((1..=21).filter(|at| *at != 3).map(|at| format!("C{at}")));
    let missing: Vec<_> = all.filter(|statement| !has(statement)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_change_that_breaks_one_rule_is_told_once_and_there() {
    assert_eq!(told(VALID), []);
    let mut wrong = String::new();
    for (name, changes, expected, at) in CASES {
        let mut text = VALID.to_owned();
        for (old, new) in *changes {
            assert_eq!(text.matches(old).count(), 1, "{name}: {old}");
            text = text.replacen(old, new, 1);
        }
        let line = match *at {
            "" => VALID[..VALID.find(changes[0].0).unwrap()].matches('\n').count() + 1,
            at => line_of(&text, at),
        };
        let told = told(&text);
        let is_told =
            matches!(&told[..], [(at, said)] if *at == line && said.starts_with(expected));
        if !is_told {
            writeln!(wrong, "{name}: {line}: {expected}\n    {told:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The components of the document, each with the range of its text.
fn components() -> Vec<(&'static str, std::ops::Range<usize>)> {
    let (mut all, mut at) = (Vec::new(), 0);
    let lines: Vec<_> = VALID.split_inclusive('\n').collect();
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        let start = at;
        at += line.len();
        index += 1;
        let Some(element) = line.strip_prefix("  <").and_then(|rest| rest.split([' ', '>']).next())
        else {
            continue;
        };
        let named = [" name=\"", " id=\""].iter().find_map(|key| line.split(key).nth(1));
        let is_kind = element.ends_with("Type")
            || matches!(element, "ArtifactTemplate" | "PolicyTemplate" | "NodeTypeImplementation");
        let Some(name) = named.and_then(|rest| rest.split('"').next()).filter(|_| is_kind) else {
            continue;
        };
        if !line.trim_end().ends_with("/>") && !line.contains(&format!("</{element}>")) {
            while !lines[index - 1].starts_with(&format!("  </{element}>")) {
                at += lines[index].len();
                index += 1;
            }
        }
        let name = if name == "Page" {
            line.split(" id=\"").nth(1).unwrap().split('"').next().unwrap()
        } else {
            name
        };
        all.push((name, start..at));
    }
    all
}

/// A component that is used but missing is reported at each use, and nowhere else (law W6).
#[test]
fn what_is_removed_is_missed_where_it_is_used() {
    let mut wrong = BTreeMap::new();
    let all = components();
    assert!(all.len() > 15, "{all:?}");
    for (name, place) in all {
        let mut text = VALID.to_owned();
        // Other lines keep their numbers.
        let removed = "\n".repeat(text[place.clone()].matches('\n').count());
        text.replace_range(place, &removed);
        let used = format!("\"s:{name}\"");
        let uses: BTreeSet<_> = (text.lines().enumerate())
            .filter(|(_, line)| line.contains(&used) && !line.contains(&format!("element={used}")))
            .map(|(at, _)| at + 1)
            .collect();
        let told = told(&text);
        let lines: BTreeSet<_> = told.iter().map(|(line, _)| *line).collect();
        let is_unknown =
            |said: &str| said.contains("[unknown-type]") || said.contains("[unknown-element]");
        if lines != uses || !told.iter().all(|(_, said)| is_unknown(said)) {
            wrong.insert(name, (uses, told));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Files, and a record of those that were asked for.
#[derive(Clone)]
struct Watched(MemoryFiles, Arc<Mutex<BTreeSet<PathBuf>>>);

impl FileSystem for Watched {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.1.lock().unwrap().insert(path.to_owned());
        self.0.read(path)
    }
    fn size(&self, path: &Path) -> io::Result<u64> {
        self.0.size(path)
    }
    fn is_file(&self, path: &Path) -> bool {
        self.0.is_file(path)
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.0.is_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(path)
    }
}

/// Of the locations that a document names, only its imports are read (X2).
#[test]
fn nothing_is_read_because_a_document_says_so() {
    let others = [
        ("<?xml-stylesheet href='style.xsl'?>\n<Definitions", "<Definitions"),
        (
            "id=\"shop\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"urn:a one.xsd\" xml:base=\"base/\"",
            "id=\"shop\"",
        ),
        (
            "<x:include xmlns:x=\"http://www.w3.org/2001/XInclude\" href=\"other.xml\"/>\n  <ServiceTemplate id=\"Shop\"",
            "<ServiceTemplate id=\"Shop\"",
        ),
        (
            "<x:notes href=\"http://example.org/notes.tosca\"/>\n  <ServiceTemplate id=\"Shop\"",
            "<ServiceTemplate id=\"Shop\"",
        ),
    ];
    let text = others.iter().fold(VALID.to_owned(), |text, (with, without)| {
        assert!(text.contains(without), "{without}");
        text.replacen(without, with, 1)
    });
    let names =
        ["style.xsl", "one.xsd", "base/one.xsd", "base/valid.tosca", "other.xml", "base/other.xml"];
    let there = names.map(|name| (name, "<nothing/>".to_owned())).into_iter();
    let files: MemoryFiles = there.chain([("valid.tosca", text)]).collect();
    let files = Watched(files, Arc::default());
    let found = Resolver::new("valid.tosca").files(files.clone()).validate();
    let told: Vec<_> = found.diagnostics.iter().map(|found| &found.message).collect();
    assert!(told.is_empty(), "{told:?}");
    let read = files.1.lock().unwrap().clone();
    assert_eq!(read, BTreeSet::from([PathBuf::from("valid.tosca")]));
}

/// Blanks around names and references are ignored, blanks within them are not (X6).
#[test]
fn blanks_around_names_do_not_count() {
    let changes = [
        (r#"<ValidSource typeRef="s:Machine"/>"#, "<ValidSource typeRef=\"\n  s:Machine\t\"/>"),
        (r#"<SourceElement ref="vm"/>"#, "<SourceElement ref=\" vm \"/>"),
        (r#"id="vm_room""#, "id=\"\tvm_room\n\""),
        (
            r#"targetNamespace="urn:example:shop" x:kept"#,
            "targetNamespace=\" urn:example:shop \" x:kept",
        ),
        (r#"maxInstances="unbounded""#, "maxInstances=\" unbounded \""),
        (r#"name="Store" abstract="yes""#, "name=\" Store \" abstract=\" yes \""),
    ];
    let mut text = VALID.to_owned();
    for (old, new) in changes {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text = text.replacen(old, new, 1);
        assert_eq!(told(&text), [], "{new}");
    }
    let within = VALID.replacen(r#"<SourceElement ref="vm"/>"#, r#"<SourceElement ref="v m"/>"#, 1);
    assert!(!told(&within).is_empty());
}

/// The place of a finding in an archive begins with the archive, and columns count characters (X8).
#[test]
fn places_in_archives_begin_with_the_archive() {
    let text = "<Definitions xmlns=\"http://docs.oasis-open.org/tosca/ns/2011/12\" id=\"d\" targetNamespace=\"urn:d\">\n<NodeType name=\"Gemüseläden\" x=\"1\"/></Definitions>";
    let mut archive = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, text) in [
        (
            "TOSCA-Metadata/TOSCA.meta",
            "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.0\nCreated-By: me\n",
        ),
        ("Definitions/a.tosca", text),
    ] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    let files = MemoryFiles::from([("shop.csar", archive.finish().unwrap().into_inner())]);
    let found = Resolver::new("shop.csar").files(files).validate();
    let places: Vec<_> =
        found.diagnostics.iter().map(|it| found.sources.place(it.span.unwrap())).collect();
    assert_eq!(places, ["shop.csar:/Definitions/a.tosca:2:30"]);
}

/// A file in another encoding than UTF-8 is refused at a place, alone and in a repository (X4).
#[test]
fn other_encodings_are_refused_at_a_place() {
    let text = "<?xml version=\"1.0\"?>\n<Definitions xmlns=\"http://docs.oasis-open.org/tosca/ns/2011/12\" id=\"d\" targetNamespace=\"urn:d\">\n  <NodeType name=\"Caf\u{e9}\"/>\n</Definitions>\n";
    let units = || text.encode_utf16();
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
    let cases = [
        (units().flat_map(u16::to_le_bytes).collect(), "1:1 the file is written in UTF-16"),
        (
            [0xFEFF].into_iter().chain(units()).flat_map(u16::to_be_bytes).collect(),
            "1:1 the file is written in UTF-16",
        ),
        (
            text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
            "1:1 the file is written in UTF-32",
        ),
        (vec![0x4C, 0x6F, 0xA7, 0x94, 0x93, 0x40], "1:1 the file is written in EBCDIC"),
        (latin, "3:22 the file is not UTF-8: the byte E9 starts no character"),
    ];
    for (bytes, expected) in cases {
        let files = || MemoryFiles::from([("all/nodetypes/d.tosca", bytes.clone())]);
        for named in ["all/nodetypes/d.tosca", "all"] {
            let found = Resolver::new(named).files(files()).validate();
            let [wrong] = &found.diagnostics[..] else { panic!("{:?}", found.diagnostics) };
            let told = format!("{} {}", found.sources.place(wrong.span.unwrap()), wrong.message);
            let expected = format!("all/nodetypes/d.tosca:{expected}");
            assert!(told.starts_with(&expected), "{named}: {told}, not {expected}");
        }
    }
}
