//! Checks substitution mappings (sections 3.8.8 to 3.8.13).

use super::activity::Workflows;
use super::checker::Checker;
use super::function::{PathStop, ReachedNode};
use crate::diagnostic::{
    Cite, Code, Diagnostic, Diagnostics, Rule, Severity, TOSCA_2_0, did_you_mean,
};
use crate::tosca::requirement::{bounds, times};
use crate::tosca::substitution::{
    self, MappedPart, PartMapping, Substitution, SubstitutionMapping,
};
use crate::tosca::types::schemas;
use crate::tosca::value::{PropertyDefinition, check_assignments, check_value};
use crate::tosca::{EffectiveType, Family, Named, RequirementDefinition, TypeId, TypeRef, v2_0};
use crate::variability::graph::{ElementId, NodeElement, Target};
use crate::variability::template::Declared;
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashSet;

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks the substitution mapping, if there is one.
    pub(super) fn substitution(&self, workflows: &Workflows<'a>) {
        let topology = self.graph.template.root.get("topology_template");
        let Some(node) = topology.and_then(|topology| topology.get("substitution_mappings")) else {
            return self.extensions(None);
        };
        let mut diagnostics = Diagnostics::default();
        let substitution = substitution::substitution(node, &mut diagnostics);
        self.report_all(&[], diagnostics);
        self.extensions(Some(&substitution));
        let Some(name) = substitution.node_type else { return };
        match self.types.named(Family::Node, name.text().unwrap_or_default(), name.span()) {
            Ok(kind) => self.substitutes(&substitution, kind, workflows),
            Err(error) => self.report_when(&[], &[], error),
        }
    }

    /// The errors in the substitution mapping alone. A node type that only the substituted template
    /// knows is none of them.
    pub(super) fn wrong_mappings(self) -> Vec<Diagnostic> {
        let topology = self.graph.template.root.get("topology_template");
        let Some(node) = topology.and_then(|topology| topology.get("substitution_mappings")) else {
            return Vec::new();
        };
        self.substitution(&self.workflows());
        self.check_functions();
        let at = |node: Node<'_>| Some(node.span());
        let node_type = node.get("node_type").and_then(at);
        let is_wrong = |found: &Diagnostic| {
            let is_within = found.span.is_some_and(|span| {
                span.file == node.span().file
                    && (node.span().start..=node.span().end).contains(&span.start)
            });
            found.severity == Severity::Error
                && is_within
                && !(found.code == Code::UnknownType && found.span == node_type)
        };
        let found = self.findings.into_inner().into_iter().map(|finding| finding.diagnostic);
        found.filter(is_wrong).collect()
    }

    fn substitutes(
        &self,
        substitution: &Substitution<'a>,
        kind: TypeId,
        workflows: &Workflows<'a>,
    ) {
        let schema = self.schemas.of(kind);
        if let Some(filter) = substitution.node.get("substitution_filter") {
            self.condition(PathStop::Node(ReachedNode { kind, template: None }), filter);
        }
        for mapping in &substitution.properties {
            match self.mapped(mapping, &schema.properties, kind, "property", "3.8.8.1") {
                Some(definition) => self.property_mapping(mapping, definition),
                None => continue,
            }
        }
        for mapping in &substitution.attributes {
            // Attributes that reflect properties count as attributes as well (section 3.6.10.1).
            if self.attribute(kind, mapping.named.name).is_none() {
                self.mapped(mapping, &schema.attributes, kind, "attribute", "3.8.9.1");
            }
            self.attribute_mapping(mapping);
            if let ([name], Some(definition)) =
                (mapping.path(), self.attribute(kind, mapping.named.name))
            {
                self.mapped_output_fits(*name, definition);
            }
        }
        let effective = self.types.effective(kind);
        for mapping in &substitution.part_properties {
            if let Some(definition) = self.mapped_part(mapping, kind, "property") {
                self.part_input(mapping, definition);
            }
        }
        for mapping in &substitution.part_attributes {
            let definition = self.mapped_part(mapping, kind, "attribute");
            self.output_mapping(mapping.to);
            let is_list = mapping.part == MappedPart::Relationships;
            if let Some(definition) = definition.filter(|_| is_list) {
                let outputs = self.graph.outputs.iter().map(|it| (it.id, &it.parameter.declared));
                let outputs: Vec<_> = outputs.collect();
                self.lists(mapping.to, definition, ("output", "has to give", "3.8.9.1"), &outputs);
            }
        }
        substitution
            .capabilities
            .iter()
            .for_each(|mapping| self.capability_mapping(mapping, kind, effective));
        self.requirement_mappings(substitution, kind, effective);
        substitution
            .interfaces
            .iter()
            .for_each(|named| self.interface_mapping(*named, kind, effective, workflows));
        self.unmapped(substitution, kind);
        if v2_0::is_of(substitution.node.document()) {
            self.unmapped_inputs(substitution);
        }
    }

    /// The definition of this name in the node type; reports an error if there is none.
    fn mapped<'d>(
        &self,
        mapping: &SubstitutionMapping<'a>,
        definitions: &[&'d PropertyDefinition<'c>],
        kind: TypeId,
        what: &str,
        section: &'static str,
    ) -> Option<&'d PropertyDefinition<'c>> {
        let found = definitions
            .iter()
            .copied()
            .find(|definition| definition.named.name == mapping.named.name);
        if found.is_none() {
            let known = definitions.iter().map(|definition| definition.named.name);
            self.lacks(&[], (kind, what), mapping.named.key, known, section);
        }
        found
    }

    fn property_mapping(
        &self,
        mapping: &SubstitutionMapping<'a>,
        definition: &PropertyDefinition<'c>,
    ) {
        match (mapping.path(), mapping.value.zip(definition.expected())) {
            ([name], _) => self.input_mapping(*name, definition),
            ([node, name], _) => {
                let has = |kind: TypeId| {
                    self.schemas
                        .of(kind)
                        .properties
                        .iter()
                        .any(|own| Some(own.named.name) == name.text())
                };
                self.of_node(*node, *name, "property", "3.8.8.3", has);
            }
            (_, Some((value, schema))) => {
                self.report_values(&[], check_value(value, schema, &self.schemas))
            }
            _ => {}
        }
    }

    /// Checks a mapping of a property to an input: the input exists, and its type accepts the
    /// value. Where the topology has no such input, a variability input is meant.
    fn input_mapping(&self, name: Node<'a>, definition: &PropertyDefinition<'c>) {
        let text = name.text().unwrap_or_default();
        let inputs: Vec<_> = self
            .graph
            .inputs
            .iter()
            .filter(|input| input.parameter.declared.name() == text)
            .collect();
        let variability = self.graph.template.variability.inputs;
        if inputs.is_empty() && variability.is_some_and(|inputs| inputs.get(text).is_some()) {
            return;
        }
        let ids: Vec<_> = inputs.iter().map(|input| input.id).collect();
        let known = self.graph.inputs.iter().map(|input| input.parameter.declared.name());
        self.mapped_to(name, &ids, "input", known, "3.8.8.1");
        let Some(schema) = definition.expected() else { return };
        for input in inputs.into_iter().filter(|input| self.counts(input.id)) {
            let Some(kind) = input.parameter.declared.value().get("type").and_then(Node::text)
            else {
                continue;
            };
            if !self.alike(self.types.find_data(kind), self.types.find_data(schema.type_name)) {
                let message = format!(
                    "the input `{text}` is a `{kind}`, and the property `{}` a `{}`",
                    definition.named.name, schema.type_name
                );
                let error = Diagnostic::error(Code::IncompatibleType, message)
                    .at(name.span())
                    .section("3.8.8.1");
                self.report_when(
                    &[input.id],
                    &[],
                    error.label(definition.named.key.span(), "the property is defined here"),
                );
            }
        }
    }

    fn attribute_mapping(&self, mapping: &SubstitutionMapping<'a>) {
        match mapping.path() {
            [name] => self.output_mapping(*name),
            [node, name] => {
                let has =
                    |kind: TypeId| self.attribute(kind, name.text().unwrap_or_default()).is_some();
                self.of_node(*node, *name, "attribute", "3.8.9.1", has);
            }
            _ => {}
        }
    }

    /// Checks that the output of a mapping exists.
    fn output_mapping(&self, name: Node<'a>) {
        let outputs = || {
            self.graph.outputs.iter().map(|output| (output.id, output.parameter.declared.name()))
        };
        let meant = outputs().filter(|&(_, output)| Some(output) == name.text());
        let ids: Vec<_> = meant.map(|(id, _)| id).collect();
        self.mapped_to(name, &ids, "output", outputs().map(|(_, name)| name), "3.8.9.1");
    }

    /// The definition of a property or attribute of a part of the node type; reports an error if
    /// there is none. Where the type of the part is not known, nothing is said.
    fn mapped_part(
        &self,
        mapping: &PartMapping<'a>,
        kind: TypeId,
        what: &str,
    ) -> Option<&PropertyDefinition<'c>> {
        let section = if what == "property" { "3.8.8.1" } else { "3.8.9.1" };
        let effective = self.types.effective(kind);
        let [part, name] = mapping.names();
        let owner = if mapping.part == MappedPart::Capability {
            let Some(capability) = effective.capabilities.get(part) else {
                let known = effective.capabilities.keys().copied();
                self.lacks(&[], (kind, "capability"), mapping.part_name, known, section);
                return None;
            };
            self.defined(Family::Capability, capability.definition.kind)?
        } else {
            let Some(requirement) = effective.requirements.get(part) else {
                let known = effective.requirements.keys().copied();
                self.lacks(&[], (kind, "requirement"), mapping.part_name, known, section);
                return None;
            };
            self.index_exists(mapping, &requirement.definition, section);
            self.defined(Family::Relationship, requirement.definition.relationship)?
        };
        let schema = self.schemas.of(owner);
        let known = if what == "property" { &schema.properties } else { &schema.attributes };
        let found = known.iter().copied().find(|definition| definition.named.name == name);
        if found.is_none() {
            let known = known.iter().map(|definition| definition.named.name);
            self.lacks(&[], (owner, what), mapping.name, known, section);
        }
        found
    }

    /// Reports an index that no relation of a requirement has.
    fn index_exists(
        &self,
        mapping: &PartMapping<'a>,
        requirement: &RequirementDefinition<'c>,
        section: &'static str,
    ) {
        let MappedPart::Relationship(index) = mapping.part else { return };
        let Some(max) = bounds(requirement).max.filter(|max| index >= *max) else { return };
        let name = requirement.named.name;
        let message =
            format!("`{name}` occurs {} at most, so no relation has the index {index}", times(max));
        let error = Diagnostic::error(Code::InvalidMapping, message).at(mapping.key.span());
        let bound = requirement.occurrences.map_or(requirement.named.key, |said| said.node);
        let error = error.label(bound.span(), "how often it occurs is defined here");
        self.report_when(
            &[],
            &[],
            error.section(section).help("the first relation has the index 0"),
        );
    }

    /// Checks that the input of a mapping accepts the values.
    fn part_input(&self, mapping: &PartMapping<'a>, definition: &PropertyDefinition<'c>) {
        if mapping.part != MappedPart::Relationships {
            return self.input_mapping(mapping.to, definition);
        }
        let inputs = self.graph.inputs.iter().map(|it| (it.id, &it.parameter.declared));
        let inputs: Vec<_> = inputs.collect();
        let ids = inputs.iter().filter(|(_, it)| Some(it.name()) == mapping.to.text());
        let ids: Vec<_> = ids.map(|(id, _)| *id).collect();
        let known = inputs.iter().map(|(_, input)| input.name());
        self.mapped_to(mapping.to, &ids, "input", known, "3.8.8.1");
        self.lists(mapping.to, definition, ("input", "gets", "3.8.8.1"), &inputs);
    }

    /// Checks that an input or output has lists of such values: all relations together give a list.
    fn lists(
        &self,
        name: Node<'a>,
        definition: &PropertyDefinition<'c>,
        (what, verb, section): (&str, &str, &'static str),
        parameters: &[(ElementId, &Declared<'a>)],
    ) {
        let text = name.text().unwrap_or_default();
        for (id, declared) in parameters.iter().filter(|(_, it)| it.name() == text) {
            let declared = declared.value();
            let entries = declared.get("entry_schema");
            let entries = entries.and_then(|it| it.get("type").unwrap_or(it).text());
            let wanted = definition.schema.type_name;
            let kind = declared.get("type").and_then(Node::text);
            let is_list = kind.map_or(what == "output", |kind| kind == "list");
            let fits = entries.is_none_or(|entries| {
                self.alike(self.types.find_data(entries), self.types.find_data(wanted))
            });
            if self.counts(*id) && !(is_list && fits) {
                let message = format!(
                    "the {what} `{text}` {verb} a list of values of `{wanted}`, one for each relation"
                );
                let error = Diagnostic::error(Code::IncompatibleType, message);
                let error = error.at(name.span()).section(section);
                let help = format!("declare it with `type: list` and `entry_schema: {wanted}`");
                self.report_when(&[*id], &[], error.help(help));
            }
        }
    }

    /// Checks that the input or output of a mapping exists in every variant.
    fn mapped_to<'n>(
        &self,
        name: Node<'a>,
        ids: &[ElementId],
        what: &str,
        known: impl Iterator<Item = &'n str>,
        section: &'static str,
    ) {
        let text = name.text().unwrap_or_default();
        let found = match ids {
            [] => Diagnostic::error(Code::UnknownElement, format!("there is no {what} `{text}`")),
            _ => {
                let message = format!("this refers to the {what} `{text}`, which is absent");
                Diagnostic::warning(Code::DanglingReference, message)
            }
        };
        let help = did_you_mean(text, known.filter(|known| *known != text));
        self.report_when(&[], ids, found.at(name.span()).section(section).help_opt(help));
    }

    /// The node that a mapping names; reports an error if there is none.
    pub(super) fn mapped_node(
        &self,
        name: Node<'a>,
        section: &'static str,
    ) -> Option<&'c NodeElement<'a>> {
        if let Some(Target::Node(node)) = self.target(name) {
            return Some(self.graph.node(node));
        }
        let text = name.text().unwrap_or_default();
        let error = Diagnostic::error(Code::UnknownElement, format!("there is no node `{text}`"))
            .at(name.span());
        let help =
            did_you_mean(text, self.graph.nodes.iter().map(|node| node.template.declared.name()));
        self.report_when(&[], &[], error.section(section).help_opt(help));
        None
    }

    /// Checks that every type of a node has a part.
    fn of_node(
        &self,
        node: Node<'a>,
        name: Node<'a>,
        what: &str,
        section: &'static str,
        has: impl Fn(TypeId) -> bool,
    ) {
        let Some(node) = self.mapped_node(node, section) else { return };
        for entity in
            self.node_subject(node).entities.into_iter().filter(|entity| !has(entity.kind))
        {
            self.lacks(&entity.when, (entity.kind, what), name, [], section);
        }
    }

    fn capability_mapping(
        &self,
        mapping: &SubstitutionMapping<'a>,
        kind: TypeId,
        effective: &'c EffectiveType<'c>,
    ) {
        const SECTION: &str = "3.8.10.1";
        let Some(outer) = effective.capabilities.get(mapping.named.name) else {
            let known = effective.capabilities.keys().copied();
            return self.lacks(&[], (kind, "capability"), mapping.named.key, known, SECTION);
        };
        let wanted = self.defined(Family::Capability, outer.definition.kind);
        if let [node, name] = mapping.path() {
            let Some(node) = self.mapped_node(*node, SECTION) else { return };
            for entity in self.node_subject(node).entities {
                let capabilities = &self.types.effective(entity.kind).capabilities;
                let Some(inner) = capabilities.get(name.text().unwrap_or_default()) else {
                    let known = capabilities.keys().copied();
                    self.lacks(&entity.when, (entity.kind, "capability"), *name, known, SECTION);
                    continue;
                };
                let found = self.defined(Family::Capability, inner.definition.kind);
                if let Some((found, wanted)) =
                    found.zip(wanted).filter(|&(found, wanted)| !self.may_derive(found, wanted))
                {
                    self.unlike(*name, [found, wanted], "capability", &entity.when, SECTION);
                }
            }
        }
        self.capability_values(mapping, outer.definition.kind.zip(wanted), &outer.definition);
    }

    /// Checks the values that a mapping assigns to a capability.
    fn capability_values(
        &self,
        mapping: &SubstitutionMapping<'a>,
        kind: Option<(Node<'_>, TypeId)>,
        capability: &crate::tosca::EffectiveCapability<'c>,
    ) {
        let (owner, at) =
            (format!("the capability `{}`", mapping.named.name), mapping.named.key.span());
        let parts = [
            (mapping.properties, &capability.properties),
            (mapping.attributes, &capability.attributes),
        ];
        for (values, definitions) in parts
            .into_iter()
            .filter_map(|(values, parts)| Some((values?, schemas::definitions(parts))))
        {
            self.report_values(
                &[],
                check_assignments(
                    Some(values),
                    &definitions,
                    &owner,
                    at,
                    &self.schemas,
                    capability.is_open,
                ),
            );
        }
        let endpoint = self.types.find(Family::Capability, "tosca.capabilities.Endpoint");
        let assigns = mapping.properties.is_some() || mapping.attributes.is_some();
        if let Some((kind, endpoint)) = kind.map(|(_, kind)| kind).zip(endpoint).filter(|_| assigns)
            && self.types.chain(kind).any(|kind| kind == endpoint)
        {
            let message = format!(
                "{owner} is for connections, and should be mapped instead of being assigned"
            );
            let warning = Diagnostic::warning(Code::InvalidTemplate, message).at(at);
            self.report_when(&[], &[], warning.section("3.8.10.3"));
        }
    }

    pub(super) fn unlike(
        &self,
        at: Node<'a>,
        [found, wanted]: [TypeId; 2],
        what: &str,
        when: &[ElementId],
        section: &'static str,
    ) {
        let name = |kind: TypeId| self.called(kind);
        let (text, found, wanted) = (at.text().unwrap_or_default(), name(found), name(wanted));
        let message = match what {
            "requirement" => format!(
                "the requirement `{text}` asks for a `{found}`, and what is mapped to it for a `{wanted}`"
            ),
            _ => {
                format!("the {what} `{text}` is a `{found}`, and what is mapped to it a `{wanted}`")
            }
        };
        let error = Diagnostic::error(Code::IncompatibleType, message).at(at.span());
        self.report_when(when, &[], error.section(section));
    }

    /// Checks the mapping of an interface, which the node type defines or which is new. Its
    /// operations are mapped to workflows or to operations of a node; a whole interface may be
    /// mapped to one of a node.
    fn interface_mapping(
        &self,
        named: Named<'a>,
        kind: TypeId,
        effective: &EffectiveType<'_>,
        workflows: &Workflows<'a>,
    ) {
        const SECTION: &str = "3.8.12.1";
        let is_2_0 = v2_0::is_of(named.key.document());
        if let Some(node) = substitution::mapped_node(named.value).filter(|_| !is_2_0) {
            self.mapped_node(node, "3.8.13.1");
            return;
        }
        if named.value.kind() != NodeKind::Mapping {
            let message =
                format!("the interface `{}` has to be mapped by a map of operations", named.name);
            let error = Diagnostic::error(Code::InvalidTemplate, message)
                .at(named.value.span())
                .section(SECTION);
            return self.report_when(&[], &[], error);
        }
        let interface = effective.interfaces.get(named.name);
        if interface.is_none() && is_2_0 {
            let known = effective.interfaces.keys().copied();
            self.lacks(&[], (kind, "interface"), named.key, known, SECTION);
        }
        let operations = interface.map(|interface| &interface.definition.operations);
        for (operation, target) in named.value.entries() {
            let name = operation.text().unwrap_or_default();
            if let Some(operations) = operations.filter(|operations| !operations.contains_key(name))
            {
                let known = operations.keys().copied();
                self.lacks(&[], (kind, "operation"), operation, known, SECTION);
            }
            self.operation_mapping(target, workflows, SECTION);
        }
    }

    /// Checks the mapping of an operation to a workflow. Before TOSCA 2.0 (section 15.6), section
    /// 3.8.13.1 also mentions operations of nodes but gives no grammar for them: both a list of names
    /// and names with dots in between are accepted.
    fn operation_mapping(
        &self,
        target: Node<'a>,
        workflows: &Workflows<'a>,
        section: &'static str,
    ) {
        let is_node = |name: &str| self.graph.by_identifier(&format!("node.{name}")).is_some();
        let is_2_0 = v2_0::is_of(target.document());
        let of_node =
            |text: &str| !is_2_0 && text.match_indices('.').any(|(at, _)| is_node(&text[..at]));
        match (substitution::mapped_node(target), target.text()) {
            (Some(node), _) if !is_2_0 => drop(self.mapped_node(node, "3.8.13.1")),
            (None, Some(name)) if workflows.has(name) || of_node(name) => {}
            (_, Some(_)) => {
                self.report_when(&[], &[], workflows.unknown(target).section(section));
            }
            (_, None) if is_2_0 => {
                self.wrong(&[], target, "operation", "the name of a workflow", section);
            }
            (_, None) => {
                let expected = "the name of a workflow, or a list of names that lead to an operation of a node";
                self.wrong(&[], target, "operation", expected, section);
            }
        }
    }

    /// Reports properties that the node type requires but that nothing maps. Section 2.10 maps
    /// inputs of the same name implicitly.
    fn unmapped(&self, substitution: &Substitution<'a>, kind: TypeId) {
        let is_mapped =
            |name: &str| substitution.properties.iter().any(|mapping| mapping.named.name == name);
        let needed =
            self.schemas.of(kind).properties.iter().filter(|definition| definition.needs_value());
        for definition in needed.filter(|definition| !is_mapped(definition.named.name)) {
            let inputs = self
                .graph
                .inputs
                .iter()
                .filter(|input| input.parameter.declared.name() == definition.named.name);
            let inputs: Vec<_> = inputs.map(|input| input.id).collect();
            let owner = self.called(kind);
            let message = format!(
                "the property `{}` of `{owner}` is not mapped to an input",
                definition.named.name
            );
            let place = substitution.node_type.unwrap_or(substitution.node).span();
            let warning =
                Diagnostic::warning(Code::MissingProperty, message).at(place).section("3.8.13.4");
            self.report_when(
                &[],
                &inputs,
                warning.label(definition.named.key.span(), "the property is defined here"),
            );
        }
    }

    /// Reports inputs that need a value and to which nothing is mapped (TOSCA 2.0, section 15.2).
    fn unmapped_inputs(&self, substitution: &Substitution<'a>) {
        let named = substitution.properties.iter().filter_map(|mapping| mapping.path().first());
        let of_parts = substitution.part_properties.iter().map(|mapping| &mapping.to);
        let mapped: FxHashSet<_> = named.chain(of_parts).filter_map(|name| name.text()).collect();
        for input in self.graph.inputs.iter().filter(|input| self.counts(input.id)) {
            let declared = &input.parameter.declared;
            let definition = declared.parameter_definition(&mut Diagnostics::default());
            if mapped.contains(declared.name()) || !definition.needs_value() {
                continue;
            }
            let message = format!(
                "no property is mapped to the input `{}`, which has no default",
                declared.name()
            );
            let error = Diagnostic::error(Code::InvalidMapping, message);
            let error = error.at(self.graph.element(input.id).span);
            let help = "map a property to it under `properties`, or give it a `default`";
            self.report(input.id, error.rule(Rule::new(&TOSCA_2_0, "15.2")).help(help));
        }
    }

    /// Whether values of one data type may be values of the other. An unknown type is reported
    /// where it is named.
    fn alike(&self, one: Option<TypeRef>, other: Option<TypeRef>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        self.types.may_derive(one, other) || self.types.may_derive(other, one)
    }
}
