//! Reads type definitions from nodes into structs. Each error is reported once, and the readable
//! rest is kept.

use super::{
    ArtifactDefinition, CapabilityDefinition, Family, InterfaceDefinition, Named, Occurrences,
    OperationDefinition, PropertyDefinition, RequirementDefinition, TypeDefinition, ValidEnds,
};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, closest};
use crate::tosca::grammar::Grammar;
use crate::tosca::shape::{
    self, ARTIFACT, ATTRIBUTE, CAPABILITY, IMPLEMENTATION, INTERFACE, NOTIFICATION, OPERATION,
    PARAMETER, PROPERTY, REQUIREMENT, REQUIREMENT_RELATIONSHIP, Reading, Shape,
};
use crate::tosca::v2_0;
use crate::tosca::value::{Schema, is_version};
use cuvee_text::yaml::{Document, Node, NodeKind};
use rustc_hash::FxHashMap;

impl Family {
    /// The keyname under which a type of this family lists related types.
    fn valid_types(self) -> Option<&'static str> {
        match self {
            Self::Capability => Some("valid_source_types"),
            Self::Relationship => Some("valid_target_types"),
            Self::Group => Some("members"),
            Self::Policy => Some("targets"),
            _ => None,
        }
    }
}

/// All type definitions of a document, with their names and places.
pub(crate) fn types<'a>(
    document: &'a Document,
    diagnostics: &mut Diagnostics,
) -> Vec<(Family, Named<'a>)> {
    let mut grammar = grammar(diagnostics);
    let mut types = Vec::new();
    for (key, value) in document.root().entries() {
        if let Some(family) = key.text().and_then(Family::of_keyword) {
            let named = grammar.map(value, family.keyword(), family.section());
            types.extend(named.into_iter().map(|named| (family, named)));
        }
    }
    types
}

/// Reads a type definition.
pub(crate) fn definition<'a>(
    (family, named): (Family, Named<'a>),
    diagnostics: &mut Diagnostics,
) -> TypeDefinition<'a> {
    grammar(diagnostics).type_definition(family, named)
}

/// The grammar with the settings for types.
fn grammar(diagnostics: &mut Diagnostics) -> Grammar<'_> {
    Grammar { code: Code::InvalidDefinition, reading: Reading::Strict, diagnostics }
}

impl Grammar<'_> {
    /// Reads a list of type names. An empty list has the same meaning as none, as in section
    /// 5.9.2.3.
    fn type_names<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Option<Vec<Node<'a>>> {
        self.strings(node, keyname, shape).filter(|names| !names.is_empty())
    }

    /// Reads a list of type names that only TOSCA 2.0 has. Who checks its keynames tells what is
    /// wrong.
    fn type_names_of_2_0<'a>(&self, node: Node<'a>, keyname: &str) -> Option<Vec<Node<'a>>> {
        let list = node.get(keyname).filter(|_| v2_0::is_of(node.document()))?;
        let names: Vec<_> = list.items().filter(|item| item.as_str().is_some()).collect();
        (!names.is_empty()).then_some(names)
    }

    fn valid_ends<'a>(&self, family: Family, node: Node<'a>) -> Option<ValidEnds<'a>> {
        let list = |of, keyname| {
            let is_its = family == of;
            is_its.then(|| self.type_names_of_2_0(node, keyname)).flatten()
        };
        let ends = ValidEnds {
            relationships: list(Family::Capability, "valid_relationship_types"),
            sources: list(Family::Relationship, "valid_source_node_types"),
            targets: list(Family::Relationship, "valid_target_node_types"),
        };
        let ValidEnds { relationships, sources, targets } = &ends;
        let says = [relationships, sources, targets].into_iter().any(Option::is_some);
        says.then_some(ends)
    }

    fn type_definition<'a>(&mut self, family: Family, named: Named<'a>) -> TypeDefinition<'a> {
        let shape = shape::of_type(family);
        let node = named.value;
        let operations_on_top = family == Family::Interface && lists_operations(node);
        if !node.is_null() && !operations_on_top {
            self.keynames(node, shape);
        }
        let definition = TypeDefinition {
            family,
            name: named.name,
            key: named.key,
            value: node,
            derived_from: node
                .get("derived_from")
                .filter(|parent| !parent.is_null() || parent.text() == Some("null")),
            description: self.description(node, shape),
            properties: self.properties(node, shape),
            attributes: self.attributes(node, shape),
            capabilities: self.capabilities(node, shape),
            requirements: self.requirements(node, shape),
            interfaces: self.interfaces(node, shape),
            artifacts: self.artifacts(node, shape),
            interface: self.interface_type(family, named, shape),
            valid_types: family
                .valid_types()
                .and_then(|keyname| self.type_names(node, keyname, shape)),
            valid_ends: self.valid_ends(family, node),
            schema: if family == Family::Data {
                self.schema_parts(node, shape)
            } else {
                Schema::untyped()
            },
            mime_type: self.string(node, "mime_type", shape),
            file_ext: self.strings(node, "file_ext", shape),
            triggers: self.entries(node, "triggers", shape),
        };
        if family == Family::Policy {
            definition.triggers.iter().for_each(|trigger| drop(self.trigger(*trigger)));
        }
        self.common(&definition, shape);
        definition
    }

    fn version(&mut self, version: Node<'_>) {
        if !version.text().is_some_and(is_version) {
            let got = version.text().map_or(version.describe().to_owned(), |it| format!("`{it}`"));
            let message = format!("`version` has to be a version such as `1.0`, not {got}");
            self.invalid(version, message, "3.3.2.1");
        }
    }

    /// Checks the keynames that types of all families have.
    fn common<'a>(&mut self, definition: &TypeDefinition<'a>, shape: &Shape) {
        let node = definition.value;
        if let Some(parent) =
            definition.derived_from.filter(|parent| parent.as_str().is_none() && !parent.is_null())
        {
            self.wrong(parent, "derived_from", "the name of a type", shape.section);
        }
        if let Some(version) = node.get("version").filter(|version| !version.is_null()) {
            self.version(version);
        }
        for entry in self.entries(node, "metadata", shape) {
            // In TOSCA 2.0 they may be anything (section 5.3.1).
            if entry.value.kind() != NodeKind::Scalar && !v2_0::is_of(node.document()) {
                self.wrong(entry.value, entry.name, "a string", "3.7.1.1");
            }
        }
        match definition.family {
            Family::Data => self.data_type(definition),
            Family::Group => self.group_type(definition),
            _ => {}
        }
    }

    /// Warns of members that groups no longer have, because they have no lifecycle of their own
    /// (section 3.7.11.3).
    fn group_type(&mut self, definition: &TypeDefinition<'_>) {
        // The root of the built-in profile keeps its interface (decision 23 of the profile). In TOSCA
        // 2.0, these are no keynames at all.
        let document = definition.key.document();
        if super::profile::is_built_in(document.file()) || v2_0::is_of(document) {
            return;
        }
        for (key, _) in definition.value.entries() {
            if let Some(keyname @ ("interfaces" | "capabilities" | "requirements")) = key.text() {
                self.deprecated(
                    key,
                    format!("`{keyname}` of a group type is deprecated"),
                    "3.7.11.3",
                );
            }
        }
    }

    fn data_type(&mut self, definition: &TypeDefinition<'_>) {
        // Only the root of the profile may lack both (decision 1 of the profile). This includes the
        // roots of documents that replace the profile.
        let root = definition.name == "tosca.datatypes.Root";
        if definition.derived_from.is_none() && definition.properties.is_empty() && !root {
            let message = format!(
                "the data type `{}` has to derive from a type or to have a property",
                definition.name
            );
            self.invalid(definition.key, message, "3.7.6.3");
        } else if let Some(properties) =
            definition.value.get("properties").filter(|_| definition.properties.is_empty())
        {
            self.invalid(
                properties,
                "`properties` of a data type has to have at least one property",
                "3.7.6.3",
            );
        }
    }

    fn properties<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<PropertyDefinition<'a>> {
        let entries = self.entries(node, "properties", shape);
        entries.into_iter().map(|named| self.property(named, &PROPERTY)).collect()
    }

    pub(crate) fn inputs<'a>(
        &mut self,
        node: Node<'a>,
        shape: &Shape,
    ) -> Vec<PropertyDefinition<'a>> {
        let entries = self.entries(node, "inputs", shape);
        entries.into_iter().map(|named| self.property(named, &PARAMETER)).collect()
    }

    fn attributes<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<PropertyDefinition<'a>> {
        let entries = self.entries(node, "attributes", shape);
        entries.into_iter().map(|named| self.property(named, &ATTRIBUTE)).collect()
    }

    fn capabilities<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<CapabilityDefinition<'a>> {
        self.entries(node, "capabilities", shape)
            .into_iter()
            .map(|named| self.capability(named))
            .collect()
    }

    fn capability<'a>(&mut self, named: Named<'a>) -> CapabilityDefinition<'a> {
        let node = named.value;
        let short = node.as_str().map(|_| node);
        if short.is_none() {
            self.keynames(node, &CAPABILITY);
        }
        CapabilityDefinition {
            named,
            kind: short.or_else(|| self.string(node, "type", &CAPABILITY)),
            description: self.description(node, &CAPABILITY),
            properties: self.properties(node, &CAPABILITY),
            attributes: self.attributes(node, &CAPABILITY),
            valid_source_types: self.type_names(node, "valid_source_types", &CAPABILITY),
            valid_relationship_types: self.type_names_of_2_0(node, "valid_relationship_types"),
            occurrences: self.occurrences(node, &CAPABILITY),
        }
    }

    fn requirements<'a>(
        &mut self,
        node: Node<'a>,
        shape: &Shape,
    ) -> Vec<RequirementDefinition<'a>> {
        let Some(list) = node.get("requirements").filter(|_| shape.has("requirements")) else {
            return Vec::new();
        };
        if list.kind() != NodeKind::Sequence && !list.is_null() {
            self.wrong(list, "requirements", "a list of requirement definitions", shape.section);
        }
        let mut requirements = Vec::new();
        let mut seen = FxHashMap::default();
        for item in list.items() {
            let mut entries = item.entries();
            let (Some(entry), None) = (entries.next(), entries.next()) else {
                self.invalid(
                    item,
                    "an item of `requirements` has to be one name with its definition",
                    "3.7.3.2",
                );
                continue;
            };
            let named = Named::new(entry);
            if let Some(earlier) = seen.insert(named.name, named.key) {
                let error = Diagnostic::error(
                    Code::Duplicate,
                    format!("the requirement `{}` is defined twice", named.name),
                );
                let error = error.at(named.key.span()).label(earlier.span(), "here the first time");
                self.diagnostics.push(error.section("3.7.3.3"));
            } else {
                requirements.push(self.requirement(named));
            }
        }
        requirements
    }

    fn requirement<'a>(&mut self, named: Named<'a>) -> RequirementDefinition<'a> {
        let node = named.value;
        let short = node.as_str().map(|_| node);
        if short.is_none() {
            self.keynames(node, &REQUIREMENT);
        }
        let relationship = node
            .get("relationship")
            .filter(|relationship| relationship.kind() == NodeKind::Mapping);
        if let Some(relationship) = relationship {
            self.keynames(relationship, &REQUIREMENT_RELATIONSHIP);
        }
        RequirementDefinition {
            named,
            description: self.description(node, &REQUIREMENT),
            capability: short.or_else(|| self.string(node, "capability", &REQUIREMENT)),
            node: self.string(node, "node", &REQUIREMENT),
            relationship: match relationship {
                Some(relationship) => self.string(relationship, "type", &REQUIREMENT_RELATIONSHIP),
                None => self.string(node, "relationship", &REQUIREMENT),
            },
            properties: self.refinements(relationship, "properties", &PROPERTY),
            attributes: self.refinements(relationship, "attributes", &ATTRIBUTE),
            interfaces: relationship
                .map(|relationship| self.interfaces(relationship, &REQUIREMENT_RELATIONSHIP))
                .unwrap_or_default(),
            node_filters: node.get("node_filter").into_iter().collect(),
            occurrences: self.occurrences(node, &REQUIREMENT),
        }
    }

    /// The properties or attributes that TOSCA 2.0 refines at a relationship.
    fn refinements<'a>(
        &mut self,
        relationship: Option<Node<'a>>,
        keyname: &str,
        shape: &'static Shape,
    ) -> Vec<PropertyDefinition<'a>> {
        let all = relationship.filter(|it| v2_0::is_of(it.document()));
        let all = all.and_then(|it| it.get(keyname)).into_iter().flat_map(Node::entries);
        all.map(|entry| self.property(Named::new(entry), shape)).collect()
    }

    fn occurrences<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Option<Occurrences<'a>> {
        let node = v2_0::renamed(node, "occurrences")?;
        let occurrences = Occurrences::read(node);
        if occurrences.is_none() {
            self.invalid(node, Occurrences::EXPECTED, shape.section);
        }
        occurrences
    }

    fn interfaces<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<InterfaceDefinition<'a>> {
        self.entries(node, "interfaces", shape)
            .into_iter()
            .map(|named| self.interface(named))
            .collect()
    }

    fn interface<'a>(&mut self, named: Named<'a>) -> InterfaceDefinition<'a> {
        let node = named.value;
        let operations_on_top = lists_operations(node);
        if !operations_on_top {
            self.keynames(node, &INTERFACE);
        }
        let mut interface = self.interface_parts(named, &INTERFACE);
        interface.kind = self.string(node, "type", &INTERFACE);
        interface
    }

    /// Reads the parts that only an interface type has.
    fn interface_type<'a>(
        &mut self,
        family: Family,
        named: Named<'a>,
        shape: &Shape,
    ) -> InterfaceDefinition<'a> {
        if family != Family::Interface {
            return InterfaceDefinition {
                named,
                kind: None,
                inputs: Vec::new(),
                operations: Vec::new(),
                notifications: Vec::new(),
            };
        }
        let interface = self.interface_parts(named, shape);
        for operation in interface.operations.iter().chain(&interface.notifications) {
            if let Some(implementation) = operation.implementation {
                let message = format!(
                    "`{}` of an interface type cannot have an implementation",
                    operation.named.name
                );
                self.invalid(implementation, message, "3.7.5.4");
            }
        }
        let outputs = interface.operations.iter().chain(&interface.notifications);
        for output in outputs.flat_map(|operation| &operation.outputs) {
            let mapping = Some(output.value).filter(|it| it.kind() == NodeKind::Sequence);
            if let Some(mapping) = mapping.filter(|it| v2_0::is_of(it.document())) {
                let message = format!(
                    "the output `{}` of an interface type cannot be mapped to an attribute",
                    output.name
                );
                self.invalid(mapping, message, "3.7.5.4");
            }
        }
        interface
    }

    fn interface_parts<'a>(&mut self, named: Named<'a>, shape: &Shape) -> InterfaceDefinition<'a> {
        let node = named.value;
        let entries = if lists_operations(node) {
            // Without `operations` and `notifications`, all other names are operations (sections
            // 3.6.20.3 and 3.7.5.5).
            let own = |named: &Named<'_>| !shape.has(named.name) && named.name != "type";
            let operations: Vec<_> = node.entries().map(Named::new).filter(own).collect();
            if let Some(first) = operations.first() {
                let section =
                    if shape.section == INTERFACE.section { "3.6.20.3" } else { "3.7.5.5" };
                self.deprecated(
                    first.key,
                    "operations beside keynames are deprecated: write them below `operations`",
                    section,
                );
            }
            operations
        } else {
            self.entries(node, "operations", shape)
        };
        let operations: Vec<_> =
            entries.into_iter().map(|named| self.operation(named, &OPERATION)).collect();
        let notifications = self.entries(node, "notifications", shape);
        let notifications: Vec<_> =
            notifications.into_iter().map(|named| self.operation(named, &NOTIFICATION)).collect();
        self.operation_names(&operations, &notifications);
        InterfaceDefinition {
            named,
            kind: None,
            inputs: self.inputs(node, shape),
            operations,
            notifications,
        }
    }

    fn operation_names(
        &mut self,
        operations: &[OperationDefinition<'_>],
        notifications: &[OperationDefinition<'_>],
    ) {
        let names: FxHashMap<_, _> = operations
            .iter()
            .map(|operation| (operation.named.name, operation.named.key))
            .collect();
        // TOSCA 2.0 reserves no name: operations and notifications stand below keys of their own.
        let reserved = names.get("inputs").filter(|key| !v2_0::is_of(key.document()));
        if let Some(inputs) = reserved {
            self.invalid(*inputs, "`inputs` cannot be the name of an operation", "3.7.5.4");
        }
        let notifications = notifications.iter().map(|notification| notification.named);
        for Named { name, key, .. } in notifications.filter(|it| !v2_0::is_of(it.key.document())) {
            if let Some(operation) = names.get(name) {
                let error = Diagnostic::error(
                    Code::Duplicate,
                    format!("an operation has the name of the notification `{name}`"),
                );
                let error = error.at(key.span()).label(operation.span(), "the operation");
                self.diagnostics.push(error.section("3.7.5.5"));
            }
        }
    }

    fn operation<'a>(&mut self, named: Named<'a>, shape: &Shape) -> OperationDefinition<'a> {
        let node = named.value;
        let short = node.as_str().map(|_| node);
        if short.is_none() && !node.is_null() {
            self.keynames(node, shape);
        }
        let implementation = short.or_else(|| node.get("implementation"));
        if let Some(implementation) =
            implementation.filter(|node| node.as_str().is_none() && !node.is_null())
        {
            self.implementation(implementation);
        }
        let outputs = self.entries(node, "outputs", shape);
        let is_of_2_0 = v2_0::is_of(node.document());
        let defines = |output: &&Named<'_>| is_of_2_0 && output.value.kind() == NodeKind::Mapping;
        let results = outputs.iter().filter(defines);
        let results = results.map(|output| self.property(*output, &PARAMETER)).collect();
        let outputs = outputs
            .into_iter()
            .map(|output| Named { value: v2_0::output_mapping(output.value), ..output });
        // Notifications of TOSCA 2.0 have inputs, too.
        let with_inputs = if is_of_2_0 { &OPERATION } else { shape };
        OperationDefinition {
            named,
            description: self.description(node, shape),
            implementation,
            inputs: self.inputs(node, with_inputs),
            outputs: outputs.collect(),
            results,
        }
    }

    /// Checks an implementation: a map of artifacts and other keynames, or the definition of a
    /// single artifact.
    pub(crate) fn implementation(&mut self, node: Node<'_>) {
        if node.get("file").is_some() {
            return self.keynames(node, &ARTIFACT);
        }
        self.keynames(node, &IMPLEMENTATION);
        if let Some(dependencies) =
            node.get("dependencies").filter(|list| list.kind() != NodeKind::Sequence)
        {
            self.wrong(dependencies, "dependencies", "a list of artifacts", IMPLEMENTATION.section);
        }
    }

    fn artifacts<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<ArtifactDefinition<'a>> {
        let entries = self.entries(node, "artifacts", shape);
        entries.into_iter().map(|named| self.artifact(named)).collect()
    }

    fn artifact<'a>(&mut self, named: Named<'a>) -> ArtifactDefinition<'a> {
        let node = named.value;
        let short = node.as_str().map(|_| node);
        if short.is_none() {
            self.keynames(node, &ARTIFACT);
        }
        if let Some(checksum) =
            node.get("checksum").filter(|_| node.get("checksum_algorithm").is_none())
            && !v2_0::is_of(node.document())
        {
            self.invalid(checksum, "a `checksum` needs its `checksum_algorithm`", ARTIFACT.section);
        }
        ArtifactDefinition {
            named,
            kind: self.string(node, "type", &ARTIFACT),
            file: short.or_else(|| self.string(node, "file", &ARTIFACT)),
            repository: self.string(node, "repository", &ARTIFACT),
            description: self.description(node, &ARTIFACT),
            properties: self.entries(node, "properties", &ARTIFACT),
        }
    }
}

/// Whether an interface lists its operations beside its keynames. A name similar to `operations` or
/// `notifications` is taken for a misspelling instead.
fn lists_operations(node: Node<'_>) -> bool {
    if v2_0::is_of(node.document()) {
        return false;
    }
    let grouped = ["operations", "notifications"];
    let misspelt = |(key, _): (Node<'_>, Node<'_>)| {
        key.text().and_then(|text| closest(text, grouped)).is_some()
    };
    node.kind() == NodeKind::Mapping && !node.entries().any(misspelt)
}
