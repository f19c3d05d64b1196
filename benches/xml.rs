//! Measures speed and memory of the XML layer beside other libraries, and of canonical form,
//! validation and conversion, on a service template with many nodes: `cargo bench --bench xml [--
//! NODES]`; 25,000 nodes are 13.5 MB. Also measures the validation of a directory with many small
//! files.

mod measured;
#[path = "measured/reading.rs"]
mod reading;

use cuvee::Resolver;
use cuvee::diagnostic::Severity;
use cuvee::output::convert::ConversionQuery;
use cuvee::parts::tosca::canonical_definitions;
use cuvee::parts::xml::{XmlLimits, parse};
use cuvee::source::{FileId, MemoryFiles, SourceText};
use measured::peak_memory;
use reading::{heading, measured_apart, report};
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, mode, what, path] = &args[..]
        && mode == "memory"
    {
        return memory(what, Path::new(path));
    }
    let nodes = args.iter().find_map(|argument| argument.parse().ok()).unwrap_or(25_000);
    heading();
    for nodes in [nodes / 6, nodes, nodes * 6] {
        let text = SourceText::from(service(nodes));
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), &*text)?;
        report("tree", &text, Some(peak("tree", file.path())?), || ours(&text));
        let limits = XmlLimits::default();
        let document = parse(FileId::DETACHED, text.clone(), &limits)
            .map_err(|wrong| anyhow::anyhow!("{wrong:?}"))?;
        report("write", &text, None, || canonical_definitions(&document));
        let theirs_peak = peak("roxmltree", file.path())?;
        report("tree, roxmltree", &text, Some(theirs_peak), || theirs(&text));
        let other_peak = peak("xot", file.path())?;
        report("tree, xot", &text, Some(other_peak), || others(&text));
        let files = MemoryFiles::from([("shop.tosca", &*text)]);
        let resolver = Resolver::new("shop.tosca").files(files);
        let found = resolver.validate().diagnostics;
        anyhow::ensure!(found.is_empty(), "{found:?}");
        report("validate", &text, Some(peak("validate", file.path())?), || {
            resolver.validate().diagnostics.is_empty()
        });
        anyhow::ensure!(convert(&resolver), "it is not converted");
        report("to YAML", &text, Some(peak("convert", file.path())?), || convert(&resolver));
        let back = resolver.convert(&ConversionQuery::default().one_document())?.result.text();
        let files = MemoryFiles::from([("shop.yaml", &*back)]);
        let resolver = Resolver::new("shop.yaml").files(files);
        report("to XML", &back, None, || convert(&resolver));
    }
    repository(427)
}

fn convert(resolver: &Resolver) -> bool {
    resolver.convert(&ConversionQuery::default().one_document()).is_ok()
}

/// Measures the validation of a directory with `files` small files that use each other.
fn repository(files: usize) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let mut all = String::new();
    for index in 0..files {
        let text = format!(
            "{TYPE_HEAD} id=\"type{index}\"><NodeType name=\"Type{index}\" abstract=\"no\" final=\"no\">\
             <w:PropertiesDefinition elementname=\"Properties\" namespace=\"urn:example:keys\">{}</w:PropertiesDefinition>\
             <DerivedFrom typeRef=\"s:Type{}\"/>\
             <Interfaces><Interface name=\"urn:example:life\"><Operation name=\"start\"/></Interface></Interfaces></NodeType></Definitions>\n",
            "<w:properties><w:key>Port</w:key><w:type>xsd:string</w:type></w:properties>".repeat(6),
            index / 2,
        )
        .replacen(&format!("<DerivedFrom typeRef=\"s:Type{index}\"/>"), "", 1);
        let own = directory.path().join(format!("nodetypes/urn%3Aexample%3Atypes/Type{index}"));
        fs::create_dir_all(&own)?;
        fs::write(own.join("NodeType.tosca"), &text)?;
        all += &text;
    }
    let resolver = Resolver::new(directory.path());
    let found = resolver.validate().diagnostics;
    let wrong = found.iter().find(|found| found.severity == Severity::Error);
    anyhow::ensure!(wrong.is_none(), "{wrong:?}");
    report(&format!("{files} files"), &all, None, || resolver.validate().diagnostics.len());
    Ok(())
}

const TYPE_HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Definitions xmlns="http://docs.oasis-open.org/tosca/ns/2011/12" xmlns:s="urn:example:types" xmlns:w="http://www.opentosca.org/winery/extensions/tosca/2013/02/12" targetNamespace="urn:example:types""#;

fn ours(text: &SourceText) -> bool {
    parse(FileId::DETACHED, text.clone(), &XmlLimits::default()).is_ok()
}

fn theirs(text: &str) -> bool {
    roxmltree::Document::parse(text).is_ok()
}

fn others(text: &str) -> bool {
    xot::Xot::new().parse_with_span_info(text).is_ok()
}

/// A service template with `nodes` nodes, each with properties, a requirement and a relationship.
fn service(nodes: usize) -> String {
    let mut text = String::from(HEAD);
    for index in 0..nodes {
        let _ = write!(
            text,
            "      <NodeTemplate id=\"node{index}\" name=\"Node {index}\" type=\"s:Web\" maxInstances=\"4\">\n        \
               <Properties><s:Web><s:port>{}</s:port><s:title>Tea &amp; more {index}</s:title></s:Web></Properties>\n        \
               <Requirements><Requirement id=\"place{index}\" name=\"place\" type=\"s:Place\"/></Requirements>\n        \
               <Capabilities><Capability id=\"room{index}\" name=\"room\" type=\"s:Room\"/></Capabilities>\n      \
             </NodeTemplate>\n",
            8000 + index % 1000,
        );
    }
    for index in 1..nodes {
        let _ = writeln!(
            text,
            "      <RelationshipTemplate id=\"on{index}\" type=\"s:On\"><SourceElement ref=\"place{index}\"/><TargetElement ref=\"room{}\"/></RelationshipTemplate>",
            index - 1,
        );
    }
    text + TAIL
}

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Definitions xmlns="http://docs.oasis-open.org/tosca/ns/2011/12" xmlns:s="urn:example:shop" id="shop" targetNamespace="urn:example:shop">
  <ServiceTemplate id="Shop">
    <TopologyTemplate>
"#;

const TAIL: &str = r#"    </TopologyTemplate>
  </ServiceTemplate>
  <NodeType name="Web">
    <RequirementDefinitions><RequirementDefinition name="place" requirementType="s:Place"/></RequirementDefinitions>
    <CapabilityDefinitions><CapabilityDefinition name="room" capabilityType="s:Room"/></CapabilityDefinitions>
  </NodeType>
  <RelationshipType name="On"><ValidSource typeRef="s:Place"/><ValidTarget typeRef="s:Room"/></RelationshipType>
  <RequirementType name="Place" requiredCapabilityType="s:Room"/>
  <CapabilityType name="Room"/>
</Definitions>
"#;

/// The peak memory of a process that does only this, beyond that of a process that only reads the
/// file.
fn peak(what: &str, file: &Path) -> anyhow::Result<f64> {
    Ok(measured_apart(what, file)? - measured_apart("nothing", file)?)
}

fn memory(what: &str, path: &Path) -> anyhow::Result<()> {
    let text = SourceText::from(fs::read_to_string(path)?);
    let is_fine = match what {
        "tree" => ours(&text),
        "roxmltree" => theirs(&text),
        "xot" => others(&text),
        "convert" => convert(&Resolver::new(path)),
        "validate" => Resolver::new(path).validate().diagnostics.is_empty(),
        _ => true,
    };
    anyhow::ensure!(is_fine, "it is not read");
    println!("{}", peak_memory());
    Ok(())
}
