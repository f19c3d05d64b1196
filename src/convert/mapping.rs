//! Lists the counterpart of each element and attribute of TOSCA 1.0. Whatever is not in the table
//! is lost, and the report says so.

use rustc_hash::FxHashMap;

/// The counterpart of an element or an attribute, or the reason why it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappingFate {
    /// It becomes this in YAML.
    As(&'static str),
    /// It has no counterpart, for this reason.
    Lost(&'static str),

    /// The code that converts it reports the outcome.
    Told,
}

/// A row of the table: the name of an element, or of an attribute after `@`, optionally after the
/// name of the parent element; and its counterpart.
pub(crate) type MappingRow = (&'static str, MappingFate);

use MappingFate::{As, Lost, Told};

/// All rows. A row that names the parent element takes precedence over one that does not.
pub(crate) static MAPPINGS: &[MappingRow] = &[
    // M1, M3
    ("Definitions/@id", As("metadata `definitions_id`")),
    ("Definitions/@name", As("metadata `definitions_name`")),
    ("@targetNamespace", As("`namespace`")),
    ("Import", As("`imports`")),
    ("Import/@namespace", As("`imports`")),
    ("Import/@location", As("`imports`")),
    ("Import/@importType", As("`imports`")),
    ("Types", As("")),
    ("Tags", As("metadata")),
    ("Tag", As("metadata")),
    ("Tag/@name", As("metadata")),
    ("Tag/@value", As("metadata")),
    ("Extensions", Lost("nothing can be declared that others need not understand")),
    // M8
    ("@name", As("the name")),
    ("@abstract", Told),
    ("@final", Told),
    ("DerivedFrom", As("`derived_from`")),
    ("DerivedFrom/@typeRef", As("`derived_from`")),
    ("PropertiesDefinition", As("`properties`")),
    ("PropertiesDefinition/@element", As("`properties`")),
    ("PropertiesDefinition/@type", As("`properties`")),
    // M9, M10
    ("RequirementType", As("the capability of requirement definitions")),
    ("RequirementType/@requiredCapabilityType", As("`capability`")),
    ("RequirementType/@abstract", Lost("requirements have no types in YAML")),
    ("RequirementType/@final", Lost("requirements have no types in YAML")),
    ("RequirementType/Tags", Lost("requirements have no types in YAML")),
    ("RequirementType/DerivedFrom", Lost("requirements have no types in YAML")),
    ("RequirementType/PropertiesDefinition", Lost("requirements of YAML have no properties")),
    ("RequirementDefinitions", As("`requirements`")),
    ("RequirementDefinition", As("`requirements`")),
    ("RequirementDefinition/@requirementType", As("`capability`")),
    ("@lowerBound", As("`occurrences`")),
    ("@upperBound", As("`occurrences`")),
    ("CapabilityDefinitions", As("`capabilities`")),
    ("CapabilityDefinition", As("`capabilities`")),
    ("CapabilityDefinition/@capabilityType", As("`type`")),
    ("Constraints", Lost("definitions of YAML have no constraints of this kind")),
    // M11, M12
    ("InstanceStates", As("the attribute `state`")),
    ("InstanceState", As("`valid_values` of `state`")),
    ("InstanceState/@state", As("`valid_values` of `state`")),
    ("Interfaces", As("`interfaces`")),
    ("SourceInterfaces", As("`interfaces`")),
    ("TargetInterfaces", As("`interfaces`, and metadata `target_interfaces`")),
    ("Interface", As("an interface, and an interface type")),
    ("Operation", As("`operations`")),
    ("InputParameters", As("`inputs`")),
    ("InputParameter", As("`inputs`")),
    ("InputParameter/@type", As("`type`")),
    (
        "InputParameter/@required",
        As(
            "`required` of workflows; of operations, where nothing may wait for a value, metadata `xml`",
        ),
    ),
    ("OutputParameters", As("`outputs` of operations, and attributes")),
    ("OutputParameter", As("`outputs` of operations, and attributes")),
    ("OutputParameter/@type", Told),
    ("OutputParameter/@required", Lost("outputs of YAML need not be there")),
    // M13
    ("ValidSource", Lost("relationship types of YAML name targets only")),
    ("ValidTarget", Told),
    ("ValidTarget/@typeRef", As("`valid_target_types`")),
    // M14, M15
    ("NodeTypeImplementation", As("`implementation` of operations, and `artifacts`")),
    ("NodeTypeImplementation/@nodeType", As("the node type")),
    ("RelationshipTypeImplementation", As("`implementation` of operations, and `artifacts`")),
    ("RelationshipTypeImplementation/@relationshipType", As("the relationship type")),
    ("NodeTypeImplementation/@abstract", Lost("implementations are parts of types in YAML")),
    ("NodeTypeImplementation/@final", Lost("implementations are parts of types in YAML")),
    ("NodeTypeImplementation/Tags", Lost("implementations are parts of types in YAML")),
    ("NodeTypeImplementation/DerivedFrom", Lost("implementations are parts of types in YAML")),
    (
        "RelationshipTypeImplementation/@abstract",
        Lost("implementations are parts of types in YAML"),
    ),
    ("RelationshipTypeImplementation/@final", Lost("implementations are parts of types in YAML")),
    ("RelationshipTypeImplementation/Tags", Lost("implementations are parts of types in YAML")),
    (
        "RelationshipTypeImplementation/DerivedFrom",
        Lost("implementations are parts of types in YAML"),
    ),
    ("RequiredContainerFeatures", Lost("what an orchestrator has to bring cannot be said in YAML")),
    ("ImplementationArtifacts", As("`implementation`, and `artifacts`")),
    ("ImplementationArtifact", As("`implementation`, and `artifacts`")),
    ("DeploymentArtifacts", As("`artifacts`")),
    ("DeploymentArtifact", As("`artifacts`")),
    ("@interfaceName", As("the interface")),
    ("@operationName", As("the operation")),
    ("@artifactType", As("`type`")),
    ("@artifactRef", As("`file`")),
    ("ArtifactTemplate", As("an artifact")),
    ("ArtifactTemplate/@id", As("an artifact")),
    ("ArtifactTemplate/@name", Lost("artifacts of YAML have one name")),
    ("ArtifactTemplate/@type", As("`type`")),
    ("ArtifactReferences", As("`file`")),
    ("ArtifactReference", As("`file`")),
    ("ArtifactReference/@reference", As("`file`")),
    ("Include", Lost("an artifact of YAML is a file, or all of a directory")),
    ("Exclude", Lost("an artifact of YAML is a file, or all of a directory")),
    // M16
    ("ServiceTemplate", As("a service template")),
    ("ServiceTemplate/@id", As("metadata `template_name`")),
    ("ServiceTemplate/@name", As("metadata `name`")),
    ("ServiceTemplate/@substitutableNodeType", As("`node_type` of `substitution_mappings`")),
    ("TopologyTemplate", As("`topology_template`")),
    ("NodeTemplate", As("a node template")),
    ("@id", As("the name")),
    ("@type", As("`type`")),
    ("@minInstances", As("`occurrences`, and `instance_count`")),
    ("@maxInstances", As("`occurrences`")),
    ("Properties", As("`properties`")),
    ("PropertyConstraints", Lost("values of YAML have no constraints of their own")),
    // M17, M18
    ("Requirements", As("`requirements`")),
    ("Requirement", As("a requirement")),
    ("Capabilities", As("`capabilities`")),
    ("Capability", As("a capability")),
    ("RelationshipTemplate", As("a requirement, and a relationship template")),
    ("SourceElement", As("the node with the requirement")),
    ("SourceElement/@ref", As("the node with the requirement")),
    ("TargetElement", As("`node`")),
    ("TargetElement/@ref", As("`node`")),
    ("RelationshipConstraints", Lost("relationships of YAML have no constraints of this kind")),
    // M19
    ("Policies", As("`policies`")),
    ("Policy", As("a policy")),
    ("@policyType", As("`type`")),
    ("@policyRef", As("`properties`")),
    ("PolicyType", As("a policy type")),
    ("@policyLanguage", As("metadata `policy_language`")),
    ("AppliesTo", As("`targets`")),
    ("NodeTypeReference", As("`targets`")),
    ("NodeTypeReference/@typeRef", As("`targets`")),
    ("PolicyTemplate", As("the properties of policies")),
    ("PolicyTemplate/@name", Lost("a policy of YAML has one name")),
    // M20 to M23
    ("BoundaryDefinitions", As("")),
    ("BoundaryDefinitions/Properties", Told),
    ("PropertyMappings", As("inputs, and `properties` of `substitution_mappings`; or outputs")),
    ("PropertyMapping", As("an input, which the property inside gets; or an output")),
    ("PropertyMapping/@serviceTemplatePropertyRef", As("the name of the property")),
    ("PropertyMapping/@targetObjectRef", As("what gets the input")),
    ("PropertyMapping/@targetPropertyRef", As("the property that gets the input")),
    (
        "BoundaryDefinitions/PropertyConstraints",
        Lost("values of YAML have no constraints of their own"),
    ),
    ("BoundaryDefinitions/Requirements", As("`requirements` of `substitution_mappings`")),
    ("BoundaryDefinitions/Capabilities", As("`capabilities` of `substitution_mappings`")),
    ("Requirement/@ref", As("`requirements` of `substitution_mappings`")),
    ("Capability/@ref", As("`capabilities` of `substitution_mappings`")),
    ("BoundaryDefinitions/Interfaces", As("`interfaces` of `substitution_mappings`")),
    ("Operation/NodeOperation", As("a workflow of one step")),
    ("NodeOperation/@nodeRef", As("`target` of the step")),
    ("Operation/RelationshipOperation", As("a workflow of one step")),
    ("RelationshipOperation/@relationshipRef", As("`target_relationship` of the step")),
    ("Operation/Plan", As("the workflow of the plan")),
    ("Plan/@planRef", As("the workflow of the plan")),
    ("Plans", As("`workflows`")),
    ("Plans/@targetNamespace", Lost("workflows of YAML have no namespace")),
    ("Plan", As("`deploy`, `undeploy`, or a workflow called like it")),
    ("Plan/@planType", As("metadata `plan_type`")),
    ("Plan/@planLanguage", As("metadata `plan_language`")),
    ("Plan/OutputParameters", As("metadata `output.NAME`")),
    ("Precondition", Lost("preconditions of workflows are no expressions of another language")),
    ("PlanModel", As("the file of `implementation`")),
    ("PlanModelReference", As("`implementation`")),
    ("PlanModelReference/@reference", As("`implementation`")),
    // The components that become entries of sections of types.
    ("NodeType", As("a node type")),
    ("RelationshipType", As("a relationship type")),
    ("CapabilityType", As("a capability type")),
    ("ArtifactType", As("an artifact type")),
];

/// The counterpart of each keyname in XML, in the words of the documentation page. The keyname
/// follows the name of its owner where that matters.
#[cfg(test)]
static KEYNAMES: &[(&str, &str)] = &[
    ("tosca_definitions_version", "the namespace of `Definitions`"),
    ("namespace", "`targetNamespace`; `urn:cuvee:template:NAME` without one"),
    (
        "service/metadata",
        "`Tags` of `ServiceTemplate`; `template_name` is its `id`, `definitions_id` that of `Definitions`",
    ),
    (
        "metadata",
        "`name` is `name`; of types `Tags`; what reading definitions writes leads back; the rest is kept",
    ),
    ("description", "`documentation`"),
    ("dsl_definitions", "kept"),
    ("repositories", "kept"),
    ("imports", "the types that are imported stand in the same document; URLs are kept"),
    ("artifact_types", "`ArtifactType`; file endings and media types are kept"),
    ("data_types", "types of `xs:schema`; those of values that XML Schema does not have are kept"),
    ("capability_types", "`CapabilityType`; attributes are kept"),
    (
        "interface_types",
        "their operations stand in the types that have them; what reading back does not make is kept",
    ),
    ("relationship_types", "`RelationshipType`; one valid target type is `ValidTarget`"),
    (
        "node_types",
        "`NodeType`, with a `NodeTypeImplementation` for what implements it; `RequirementType` for what its requirements ask for",
    ),
    ("group_types", "kept"),
    ("policy_types", "`PolicyType`, `AppliesTo`"),
    ("topology_template", "`TopologyTemplate`"),
    ("template_name", "kept"),
    ("template_author", "kept"),
    ("template_version", "kept"),
    ("inputs", "`InputParameters` of the plan that deploys, and kept"),
    ("node_templates", "`NodeTemplate`"),
    ("relationship_templates", "`RelationshipTemplate` of each relation that names it"),
    ("groups", "kept; policies of them are policies of their members"),
    ("policies", "`Policies` of the nodes, or of `BoundaryDefinitions`, with a `PolicyTemplate`"),
    ("outputs", "kept; of definitions that stand for no node a `PropertyMapping`"),
    (
        "substitution_mappings",
        "`BoundaryDefinitions`, `substitutableNodeType`; attributes and filters are kept",
    ),
    (
        "workflows",
        "`Plan` where another file has the model; steps are kept, but for the only one that a shown operation needs",
    ),
    ("type", "`type`; of a node with interfaces of its own a type derived from that"),
    ("directives", "kept"),
    (
        "properties",
        "`Properties`, elements of the schema; functions, and values that a schema has no type for, are kept",
    ),
    ("attributes", "kept; of types an attribute `state` with its values is `InstanceStates`"),
    ("requirements", "`Requirement`, and a `RelationshipTemplate` where it leads to a node"),
    ("capabilities", "`Capability`"),
    (
        "interfaces",
        "`Interfaces` of a derived type, with its implementation; of relationships kept",
    ),
    ("artifacts", "`DeploymentArtifact`, `ArtifactTemplate`"),
    ("node_filter", "kept"),
    ("copy", "kept"),
    ("node/occurrences", "`minInstances`, `maxInstances`"),
    ("occurrences", "kept"),
    ("instance_count", "kept, unless it is the least"),
    ("capability", "the `Capability` that `TargetElement` names"),
    ("node", "the node of `TargetElement`"),
    ("relationship", "`RelationshipTemplate`"),
    ("count", "kept"),
    ("optional", "kept"),
    ("members", "kept"),
    ("targets", "the nodes that have the policy"),
    ("triggers", "kept"),
    ("file", "`ArtifactReference`"),
    ("repository", "kept"),
    ("deploy_path", "kept"),
    ("artifact_version", "kept"),
    ("version", "kept"),
    ("checksum", "kept"),
    ("checksum_algorithm", "kept"),
];

/// The rows, indexed by the parent element and the name.
#[derive(Default)]
pub(crate) struct MappingTable {
    elements: FateOf,
    attributes: FateOf,
}

/// The fates by parent element and name; an empty parent stands for any.
type FateOf = FxHashMap<(&'static str, &'static str), MappingFate>;

impl MappingTable {
    pub(crate) fn new() -> Self {
        let mut table = Self::default();
        for (pattern, fate) in MAPPINGS {
            let (around, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            match name.strip_prefix('@') {
                Some(name) => table.attributes.insert((around, name), *fate),
                None => table.elements.insert((around, name), *fate),
            };
        }
        table
    }

    /// The counterpart of an element.
    pub(crate) fn element(&self, around: &str, name: &str) -> Option<MappingFate> {
        fate(&self.elements, around, name)
    }

    /// The counterpart of an attribute.
    pub(crate) fn attribute(&self, around: &str, name: &str) -> Option<MappingFate> {
        fate(&self.attributes, around, name)
    }
}

fn fate(of: &FateOf, around: &str, name: &str) -> Option<MappingFate> {
    of.get(&(around, name)).or_else(|| of.get(&("", name))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tosca::shape::{Holds, SERVICE};
    use crate::tosca::v1_0::{DEFINITIONS, ElementRule};
    use std::collections::BTreeSet;
    use std::fmt::Write;
    use std::path::Path;

    /// The counterpart of an element, or of an attribute written with `@`.
    fn said(table: &MappingTable, around: &str, name: &str) -> Option<MappingFate> {
        match name.strip_prefix('@') {
            Some(name) => table.attribute(around, name),
            None => table.element(around, name),
        }
    }

    /// All elements and attributes that the specification allows, in the notation of the table, as
    /// far as `looks_into` accepts their parents.
    fn all_that_may_be(
        looks_into: impl Fn(&str, &str) -> bool,
    ) -> BTreeSet<(&'static str, String)> {
        let mut seen: BTreeSet<*const ElementRule> = BTreeSet::new();
        let mut open: Vec<&'static ElementRule> = vec![&DEFINITIONS];
        let mut all = BTreeSet::new();
        while let Some(rule) = open.pop() {
            if !seen.insert(rule) {
                continue;
            }
            all.extend(rule.attributes.iter().map(|it| (rule.name, format!("@{}", it.name))));
            all.extend(rule.children.iter().map(|it| (rule.name, it.rule.name.to_owned())));
            let inside = rule.children.iter().map(|it| it.rule);
            open.extend(inside.filter(|it| looks_into(rule.name, it.name)));
        }
        all
    }

    #[test]
    fn whatever_may_be_said_has_a_row_or_stands_in_what_is_lost() {
        let table = MappingTable::new();
        let is_kept = |of: &str, part: &str| {
            !matches!(said(&table, of, part), None | Some(MappingFate::Lost(_)))
        };
        let all = all_that_may_be(is_kept);
        let missing: Vec<_> =
            all.iter().filter(|(of, part)| said(&table, of, part).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_row_is_of_something_that_may_be_said() {
        let all = all_that_may_be(|_, _| true);
        for (pattern, _) in MAPPINGS {
            let (around, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            let is_it =
                |(of, part): &&(&str, String)| part == name && (around.is_empty() || *of == around);
            assert!(all.iter().any(|it| is_it(&it)), "{pattern}");
        }
    }

    /// All keynames of a template, each with the name of its owner.
    fn all_keynames() -> BTreeSet<(&'static str, &'static str)> {
        let mut all = BTreeSet::new();
        let mut open = vec![("service", &SERVICE)];
        let mut seen = BTreeSet::new();
        while let Some((of, shape)) = open.pop() {
            // Parts without keynames of the language are values.
            if matches!(of, "import" | "input" | "output" | "property" | "attribute")
                || !seen.insert(of)
            {
                continue;
            }
            for keyname in shape.keynames {
                all.insert((of, keyname.name));
                match keyname.holds {
                    Holds::One(inner) => open.push((keyname.name, inner)),
                    Holds::Named(part, inner) | Holds::Listed(part, inner) => {
                        open.push((part, inner));
                    }
                    Holds::Value | Holds::Set => {}
                }
            }
        }
        all
    }

    #[test]
    fn every_keyname_has_a_row_and_every_row_is_of_one() {
        let all = all_keynames();
        let is_of = |row: &str, (of, name): &(&str, &str)| match row.split_once('/') {
            Some((around, wanted)) => (*of, *name) == (around, wanted),
            None => *name == row,
        };
        let missing: Vec<_> =
            all.iter().filter(|it| !KEYNAMES.iter().any(|(row, _)| is_of(row, it))).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for (row, _) in KEYNAMES {
            assert!(all.iter().any(|it| is_of(row, it)), "{row}");
        }
    }

    /// `UPDATE_DOCS=1 cargo test --lib mapping` regenerates the table of the page.
    #[test]
    fn the_page_has_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tosca-1.0.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let mark = "<!-- Below this line generated: UPDATE_DOCS=1 cargo test --lib mapping -->\n";
        let (above, _) = page.split_once(mark).unwrap();
        let mut now = format!("{above}{mark}\n| Of XML | In YAML |\n| --- | --- |\n");
        for (pattern, fate) in MAPPINGS {
            let said = match fate {
                MappingFate::As("") => continue,
                MappingFate::As(said) => (*said).to_owned(),
                MappingFate::Lost(why) => format!("lost: {why}"),
                MappingFate::Told => "as the report says".to_owned(),
            };
            writeln!(now, "| `{pattern}` | {said} |").unwrap();
        }
        now.push_str("\n| Of YAML | In XML |\n| --- | --- |\n");
        for (keyname, said) in KEYNAMES {
            writeln!(now, "| `{keyname}` | {said} |").unwrap();
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let page = std::fs::read_to_string(&path).unwrap();
        assert_eq!(page, now, "`UPDATE_DOCS=1 cargo test --lib mapping` writes it anew");
    }
}
