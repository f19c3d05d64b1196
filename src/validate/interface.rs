//! Checks the interfaces of templates (sections 3.6.15 to 3.6.20): how nodes, relationships and
//! groups refine the interfaces of their types.

use super::assignment::Typed;
use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::tosca::grammar::Grammar;
use crate::tosca::reference::{implementing_artifacts, operations};
use crate::tosca::shape::{IMPLEMENTATION, INTERFACE, NOTIFICATION, OPERATION, PARAMETER, Shape};
use crate::tosca::v2_0;
use crate::tosca::value::{check_assignment, check_definition};
use crate::tosca::{EffectiveInterface, Family, Named, OperationDefinition, PropertyDefinition};
use crate::variability::graph::ElementId;
use cuvee_text::yaml::{Node, NodeKind};

/// An operation or a notification that a template assigns.
#[derive(Clone, Copy)]
struct AssignedOperation<'d, 'c> {
    shape: &'static Shape,
    /// The definition by the type, if it is known.
    defined: Option<&'d OperationDefinition<'c>>,
    interface: &'d EffectiveInterface<'c>,
}

impl<'d, 'c> AssignedOperation<'d, 'c> {
    /// The inputs that the operation defines, then those that its interface defines.
    fn inputs(self) -> impl Iterator<Item = &'d PropertyDefinition<'c>> + Clone {
        let of_interface = self.interface.inputs.values().map(|part| &part.definition);
        self.defined.into_iter().flat_map(|defined| &defined.inputs).chain(of_interface)
    }
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks the interfaces in the body of an element against one of its types. Implementations
    /// may name `artifacts`.
    pub(super) fn interfaces(&self, of: Typed<'_>, body: Node<'a>, artifacts: &[ElementId]) {
        for (key, value) in self.map(of.when, body, "interfaces", INTERFACE.section) {
            if value.kind() != NodeKind::Mapping && !value.is_null() {
                self.wrong(
                    of.when,
                    value,
                    key.text().unwrap_or_default(),
                    "a map",
                    INTERFACE.section,
                );
            } else if let Some(defined) = self.interface_named(of, key, value) {
                self.interface(of, value, defined, artifacts);
            }
        }
    }

    /// The definition of an interface by the type: found by the interface's name, before TOSCA 2.0
    /// by the name of its type, or by the type of an interface that the template adds.
    fn interface_named(
        &self,
        of: Typed<'_>,
        key: Node<'_>,
        body: Node<'_>,
    ) -> Option<&EffectiveInterface<'c>> {
        let name = key.text().unwrap_or_default();
        let defined = &self.types.effective(of.kind).interfaces;
        if let Some(part) = defined.get(name) {
            return Some(&part.definition);
        }
        if let Some(kind) = body.get("type") {
            return self
                .type_at(of.id, Family::Interface, kind)
                .map(|kind| &self.types.effective(kind).interface);
        }
        let find = |name: &str| self.types.find(Family::Interface, name);
        let by_type = find(name).filter(|_| !v2_0::is_of(key.document()));
        let of_type = by_type.and_then(|kind| {
            let is_it = |interface: &EffectiveInterface<'_>| {
                interface.kind.and_then(Node::text).and_then(find) == Some(kind)
            };
            defined.values().map(|part| &part.definition).find(|interface| is_it(interface))
        });
        if of_type.is_none() && !self.is_open(of.kind) {
            let message = format!("`{}` has no interface `{name}`", self.called(of.kind));
            self.undefined(of.when, key, message, defined.keys().copied(), "3.6.20");
        }
        of_type
    }

    fn interface(
        &self,
        of: Typed<'_>,
        body: Node<'a>,
        defined: &EffectiveInterface<'c>,
        artifacts: &[ElementId],
    ) {
        let grouped = body.get("operations").is_some() || body.get("notifications").is_some();
        if grouped {
            self.keynames(of.when, body, &INTERFACE);
            self.map(of.when, body, "operations", INTERFACE.section).for_each(drop);
        }
        for (key, value) in self.map(of.when, body, "inputs", INTERFACE.section) {
            // What an interface gives, it gives to all of its operations.
            let of_operations = defined.operations.values().flat_map(|it| &it.definition.inputs);
            let inputs = defined.inputs.values().map(|part| &part.definition);
            let inputs = inputs.chain(of_operations);
            self.input(of.when, ("interface", !defined.is_open), (key, value), inputs);
        }
        for (key, value) in operations(body, &INTERFACE) {
            self.operation(of, key, value, &OPERATION, defined, artifacts);
        }
        for (key, value) in self.map(of.when, body, "notifications", INTERFACE.section) {
            self.operation(of, key, value, &NOTIFICATION, defined, artifacts);
        }
    }

    fn operation(
        &self,
        of: Typed<'_>,
        key: Node<'a>,
        body: Node<'a>,
        shape: &'static Shape,
        interface: &EffectiveInterface<'c>,
        artifacts: &[ElementId],
    ) {
        let name = key.text().unwrap_or_default();
        let (noun, known) = if shape.section == OPERATION.section {
            ("operation", &interface.operations)
        } else {
            ("notification", &interface.notifications)
        };
        let defined = known.get(name).map(|part| &part.definition);
        // An interface without a type and without operations does not restrict what it contains.
        let says = !interface.is_open && (interface.kind.is_some() || !known.is_empty());
        if defined.is_none() && says {
            let names = known.keys().copied().chain(INTERFACE.keynames.iter().map(|it| it.name));
            self.undefined(
                of.when,
                key,
                format!("the interface has no {noun} `{name}`"),
                names,
                shape.section,
            );
        }
        match body.kind() {
            NodeKind::Mapping => {
                self.operation_body(of, body, AssignedOperation { shape, defined, interface })
            }
            NodeKind::Scalar if body.as_str().is_some() || body.is_null() => {}
            _ => self.wrong(of.when, body, name, "the name of an artifact or a map", shape.section),
        }
        for file in implementations(body) {
            self.implementing(of, file, artifacts);
        }
        if let Some(part) = known.get(name) {
            let outputs = body.get("outputs").into_iter().flat_map(Node::entries);
            for output in outputs.map(Named::new) {
                self.remapped_output(of.when, &part.definition, output);
                self.assigned_output((of.id, of.kind), of.when, part, output);
            }
        }
    }

    /// Reports an output of TOSCA 2.0 that the type maps to another attribute (section 9.9), or whose
    /// value it fixes (section 9.7).
    fn remapped_output(
        &self,
        when: &[ElementId],
        defined: &OperationDefinition<'c>,
        output: Named<'a>,
    ) {
        let mapping = v2_0::output_mapping(output.value);
        let before = defined.outputs.iter().find(|before| before.name == output.name);
        let before = before.filter(|_| v2_0::is_of(mapping.document()));
        let fixed = defined.results.iter().find(|before| before.named.name == output.name);
        if let Some(fixed) = fixed.and_then(|it| it.value).filter(|it| v2_0::is_of(it.document())) {
            let message =
                format!("the output `{}` has a fixed value, so nothing maps it", output.name);
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(mapping.span());
            let error = error.label(fixed.span(), "the value is fixed here");
            return self.report_when(when, &[], error.rule(Rule::new(&TOSCA_2_0, "9.7")));
        }
        if let Some(before) = before.filter(|before| v2_0::remaps(before.value, mapping)) {
            let message = format!("the output `{}` is mapped already", output.name);
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(mapping.span());
            let error = error.label(before.value.span(), "mapped here");
            self.report_when(when, &[], error.rule(Rule::new(&TOSCA_2_0, "9.9")));
        }
    }

    fn operation_body(&self, of: Typed<'_>, body: Node<'a>, operation: AssignedOperation<'_, 'c>) {
        self.keynames(of.when, body, operation.shape);
        self.about(of.when, body, operation.shape.section);
        if let Some(implementation) =
            body.get("implementation").filter(|it| it.kind() != NodeKind::Scalar)
        {
            self.implementation(of, implementation);
        }
        for (key, value) in self.map(of.when, body, "inputs", operation.shape.section) {
            let owner = ("operation", !operation.interface.is_open);
            self.input(of.when, owner, (key, value), operation.inputs());
        }
        for (key, value) in self.map(of.when, body, "outputs", operation.shape.section) {
            self.output(of, key, value);
        }
    }

    /// Checks an input: it is assigned a value, or before TOSCA 2.0 defined as in a type (section
    /// 3.6.17.1). If the type defines no inputs at all, it may be any (section 3.6.17.3), and in TOSCA
    /// 2.0 also beside those that are defined (section 11.5).
    fn input<'d>(
        &self,
        when: &[ElementId],
        (owner, is_closed): (&str, bool),
        (key, value): (Node<'_>, Node<'_>),
        inputs: impl Iterator<Item = &'d PropertyDefinition<'c>> + Clone,
    ) where
        'c: 'd,
    {
        let name = key.text().unwrap_or_default();
        let defined = inputs.clone().find(|input| input.named.name == name);
        let found = defined.map(|expected| check_assignment(value, expected, &self.schemas));
        let fits = found.as_ref().is_some_and(|found| found.diagnostics.is_empty());
        if !fits && !v2_0::is_of(key.document()) && self.is_parameter(value) {
            let mut diagnostics = Diagnostics::default();
            let own =
                Grammar::lenient(&mut diagnostics).property(Named::new((key, value)), &PARAMETER);
            self.report_all(when, diagnostics);
            self.report_values(when, check_definition(&own, &self.schemas));
        } else if let Some(found) = found {
            self.report_values(when, found);
        } else if is_closed && inputs.clone().next().is_some() && !v2_0::is_of(key.document()) {
            let message = format!("the {owner} has no input `{name}`");
            let known = inputs.map(|input| input.named.name);
            self.undefined(when, key, message, known, OPERATION.section);
        } else {
            self.untyped(when, value);
        }
    }

    /// Whether a value is the definition of a parameter: it names a type that exists.
    fn is_parameter(&self, value: Node<'_>) -> bool {
        value
            .get("type")
            .and_then(Node::text)
            .is_some_and(|name| self.types.find_data(name).is_some())
    }

    /// Checks the target of an output: an attribute of the element or, for a relationship, of its
    /// source or target (section 3.6.15).
    fn output(&self, of: Typed<'_>, key: Node<'_>, value: Node<'_>) {
        let relationship = self.types.definition(of.kind).family == Family::Relationship;
        let mut path = v2_0::output_path(value, relationship).into_iter();
        let (Some(keyword), Some(first)) = (path.next().and_then(Node::as_str), path.next()) else {
            let expected = "a list of a keyword and an attribute, such as `[SELF, state]`";
            return self.wrong(
                of.when,
                value,
                key.text().unwrap_or_default(),
                expected,
                "3.6.15.1",
            );
        };
        let allowed: &[_] = if relationship { &["SELF", "SOURCE", "TARGET"] } else { &["SELF"] };
        if !allowed.contains(&keyword) {
            let message = format!(
                "an output has to go to an attribute of `{}`, not of `{keyword}`",
                allowed.join("` or `")
            );
            let error = Diagnostic::error(Code::InvalidTemplate, message)
                .at(value.span())
                .section("3.6.15.1");
            return self.report_when(of.when, &[], error);
        }
        if keyword == "SELF" {
            self.output_attribute(of, first, path.next());
        }
    }

    fn output_attribute(&self, of: Typed<'_>, first: Node<'_>, second: Option<Node<'_>>) {
        let effective = self.types.effective(of.kind);
        let name = first.text().unwrap_or_default();
        if effective.attributes.contains_key(name) || effective.properties.contains_key(name) {
            return;
        }
        let Some(capability) = effective.capabilities.get(name) else {
            // Where a relationship leads is known when there is one.
            if effective.is_open || v2_0::leads_away(first) {
                return;
            }
            let message = format!(
                "`{}` has neither an attribute nor a capability `{name}`",
                self.called(of.kind)
            );
            let known = effective
                .attributes
                .keys()
                .chain(effective.properties.keys())
                .chain(effective.capabilities.keys());
            return self.undefined(of.when, first, message, known.copied(), "3.6.15.1");
        };
        let (attributes, properties) =
            (&capability.definition.attributes, &capability.definition.properties);
        let attribute = second.and_then(Node::text).unwrap_or_default();
        let is_known = attributes.contains_key(attribute) || properties.contains_key(attribute);
        if !is_known && !capability.definition.is_open {
            let message = format!("the capability `{name}` has no attribute `{attribute}`");
            let known = attributes.keys().chain(properties.keys()).copied();
            self.undefined(of.when, second.unwrap_or(first), message, known, "3.6.15.1");
        }
    }

    /// Checks an implementation in its extended notation, or as the definition of a single
    /// artifact.
    fn implementation(&self, of: Typed<'_>, body: Node<'_>) {
        if body.kind() != NodeKind::Mapping {
            return self.wrong(
                of.when,
                body,
                "implementation",
                "the name of an artifact or a map",
                IMPLEMENTATION.section,
            );
        }
        if body.get("file").is_some() {
            return self.inline_artifact(of.when, body);
        }
        self.keynames(of.when, body, &IMPLEMENTATION);
        let dependencies = body.get("dependencies").filter(|list| !list.is_null());
        if let Some(list) = dependencies.filter(|list| list.kind() != NodeKind::Sequence) {
            self.wrong(
                of.when,
                list,
                "dependencies",
                "a list of artifacts",
                IMPLEMENTATION.section,
            );
        }
        for artifact in
            body.get("primary").into_iter().chain(dependencies.into_iter().flat_map(Node::items))
        {
            match artifact.kind() {
                NodeKind::Mapping => self.inline_artifact(of.when, artifact),
                NodeKind::Scalar if artifact.as_str().is_some() => {}
                _ => self.wrong(
                    of.when,
                    artifact,
                    "implementation",
                    "made of names and definitions of artifacts",
                    IMPLEMENTATION.section,
                ),
            }
        }
        if let Some(timeout) = body
            .get("timeout")
            .filter(|timeout| timeout.text().is_none_or(|text| text.parse::<u64>().is_err()))
        {
            self.wrong(of.when, timeout, "timeout", "a number of seconds", IMPLEMENTATION.section);
        }
        self.operation_host(of, body);
    }

    /// Checks the `operation_host`. A relationship template may use all keywords, because section
    /// 3.6.16.1 mentions them for both sides.
    fn operation_host(&self, of: Typed<'_>, body: Node<'_>) {
        let Some(host) = body.get("operation_host") else { return };
        let relationship = self.types.definition(of.kind).family == Family::Relationship;
        let allowed: &[_] = if relationship {
            &["SELF", "HOST", "SOURCE", "TARGET", "ORCHESTRATOR"]
        } else {
            &["SELF", "HOST", "ORCHESTRATOR"]
        };
        if !host.text().is_some_and(|host| allowed.contains(&host)) {
            let message = format!("`operation_host` has to be one of {}", allowed.join(", "));
            let error = Diagnostic::error(Code::InvalidTemplate, message)
                .at(host.span())
                .section(IMPLEMENTATION.section);
            self.report_when(of.when, &[], error);
        }
    }

    /// Checks the operations of a type. Their implementations must exist unless the template
    /// replaces them, and operations with an implementation must have the inputs that they need.
    pub(super) fn operations_of_type(
        &self,
        of: Typed<'_>,
        body: Node<'a>,
        artifacts: &[ElementId],
    ) {
        let assigned = body.get("interfaces");
        for (name, interface) in self.types.effective(of.kind).interfaces.iter() {
            let own_interface = assigned.and_then(|interfaces| interfaces.get(name));
            for (name, operation) in interface.definition.operations.iter() {
                let own = own_interface.and_then(|own| {
                    operations(own, &INTERFACE).find(|(key, _)| key.text() == Some(name))
                });
                let implemented = own.is_some_and(|(_, own)| implementations(own).next().is_some());
                let by_type = operation.definition.implementation.filter(|_| !implemented);
                by_type
                    .into_iter()
                    .flat_map(named_by)
                    .for_each(|file| self.implementing(of, file, artifacts));
                if (implemented || by_type.is_some()) && !self.is_called_elsewhere() {
                    let inputs = interface.definition.inputs.values().map(|part| &part.definition);
                    let given = [own_interface, own.map(|(_, own)| own)];
                    self.missing_inputs(
                        of,
                        name,
                        given,
                        operation.definition.inputs.iter().chain(inputs),
                    );
                }
            }
        }
    }

    /// Reports the required inputs of an operation that have no value.
    fn missing_inputs<'d>(
        &self,
        of: Typed<'_>,
        operation: &str,
        given: [Option<Node<'a>>; 2],
        inputs: impl Iterator<Item = &'d PropertyDefinition<'c>>,
    ) where
        'c: 'd,
    {
        let is_given = |name: &str| {
            given
                .into_iter()
                .flatten()
                .any(|body| body.get("inputs").is_some_and(|it| it.get(name).is_some()))
        };
        for input in inputs.filter(|input| input.needs_value()) {
            let name = input.named.name;
            if !is_given(name) {
                let element = self.graph.display(of.id);
                let message = format!(
                    "the operation `{operation}` of {element} needs a value of the input `{name}`"
                );
                let error = Diagnostic::error(Code::MissingProperty, message)
                    .at(self.graph.element(of.id).span);
                let error = error
                    .label(input.named.key.span(), "the input is defined here")
                    .section("3.6.14.3");
                self.report_when(of.when, &[], error);
            }
        }
    }

    /// Whether workflows or triggers of policies may call operations and thereby give them inputs.
    fn is_called_elsewhere(&self) -> bool {
        self.graph.template.topologies().any(|topology| topology.get("workflows").is_some())
            || !self.graph.policies.is_empty()
    }

    /// Checks that an implementation names an artifact of the template or of its type, or a file
    /// (section 3.6.16.2.1).
    fn implementing(&self, of: Typed<'_>, name: Node<'_>, artifacts: &[ElementId]) {
        let text = name.text().unwrap_or_default();
        if self.types.effective(of.kind).artifacts.contains_key(text)
            || self.is_open(of.kind)
            || name.as_str().is_some() && self.is_there(name, text)
        {
            return;
        }
        let named: Vec<_> =
            artifacts.iter().copied().filter(|&id| self.graph.element(id).name == text).collect();
        if named.is_empty() {
            let message = format!(
                "what implements an operation, `{text}`, is neither an artifact nor a file that is there"
            );
            return self.missing_file(of.when, name, message, "3.6.16.2.1");
        }
        let message = format!(
            "an operation of {} is implemented by the artifact `{text}`, which is absent",
            self.graph.display(of.id)
        );
        let error = Diagnostic::error(Code::DanglingReference, message)
            .at(name.span())
            .section("3.6.16.2.1");
        self.report_when(of.when, &named, error);
    }
}

/// The names of artifacts and files that implement an operation of a template.
fn implementations<'n>(body: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    let implementation =
        if body.kind() == NodeKind::Mapping { body.get("implementation") } else { Some(body) };
    implementation.into_iter().flat_map(named_by)
}

/// The names of artifacts and files in an implementation, except for files of a repository.
fn named_by<'n>(implementation: Node<'n>) -> impl Iterator<Item = Node<'n>> {
    let file = |artifact: Node<'n>| match artifact.kind() {
        NodeKind::Mapping => artifact.get("file").filter(|_| artifact.get("repository").is_none()),
        _ => Some(artifact),
    };
    implementing_artifacts(implementation).filter_map(file).filter(|name| name.as_str().is_some())
}
