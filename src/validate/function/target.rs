//! Resolves the entities that functions refer to, and looks up the parts that they ask for.

use super::super::checker::Checker;
use super::FunctionSite;
use super::kind::{KnownValue, ValueType};
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::function::{Call, Function, Name};
use crate::tosca::v2_0;
use crate::tosca::value::Primitive;
use crate::tosca::{Family, Parts, PropertyDefinition, TypeId};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, LookupStep, NodeId, RelationElement};
use crate::variability::template::RelationshipTemplate;
use cuvee_text::yaml::Node;

/// How many hosts are examined at most.
const HOSTS: usize = 64;

/// The result of a function while some elements are present, or the error in this case.
pub(super) struct ConditionalValue {
    pub when: Vec<ElementId>,
    pub outcome: Result<KnownValue, Diagnostic>,
}

impl ConditionalValue {
    pub(super) fn always(outcome: Result<KnownValue, Diagnostic>) -> Self {
        Self { when: Vec::new(), outcome }
    }
}

/// The entity that the first argument of a function refers to.
pub(super) enum ReferredEntity {
    /// The element itself.
    Element(ElementId),
    /// Any node that hosts this node.
    HostOf(NodeId),
    /// An entity that only an orchestrator knows, or an error that is reported elsewhere.
    Open,
}

/// A request for a property or an attribute.
#[derive(Clone, Copy)]
struct Asked<'q, 'a> {
    call: &'q Call<'a>,
    path: &'q [Node<'a>],
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Resolves a name, or a keyword where it has a meaning (section 4.1), to an entity.
    pub(super) fn entity(
        &self,
        own: Option<ElementId>,
        call: &Call<'_>,
        name: Name<'_>,
    ) -> Result<ReferredEntity, Diagnostic> {
        let misplaced = |of: &str| {
            let message = format!("`{}` has a meaning in {of} only", name.text);
            Err(Diagnostic::error(Code::InvalidFunction, message).at(name.at.span()).section("4.1"))
        };
        // A path of TOSCA 2.0 starts at a name or at `SELF` (section 10.3).
        let start = v2_0::called(call.node).and_then(|(_, path)| path?.items().next());
        let is_start = start.is_some_and(|start| start.ptr_eq(name.at));
        if is_start && v2_0::is_of(call.node.document()) && name.text != "SELF" {
            let word = ["SOURCE", "TARGET", "HOST"].into_iter().find(|word| *word == name.text);
            if let Some(word) = word {
                let message =
                    format!("a path of TOSCA 2.0 starts at a name or at `SELF`, not at `{word}`");
                let error = Diagnostic::error(Code::InvalidFunction, message).at(name.at.span());
                let help = match word {
                    "HOST" => {
                        "write the way to the host: `[SELF, RELATIONSHIP, host, TARGET, …]`".into()
                    }
                    _ => format!("write `[SELF, {word}, …]` in a relationship"),
                };
                return Err(error.section("4.1").help(help));
            }
        }
        let kind = own.map(|id| self.graph.element(id).kind);
        let slot = own.map_or(0, |id| self.graph.element(id).slot);
        match (name.text, kind, own) {
            ("SELF", _, Some(id)) => Ok(ReferredEntity::Element(id)),
            ("SELF", ..) => misplaced("node and relationship templates"),
            ("SOURCE", Some(ElementKind::Relation), _) => Ok(ReferredEntity::Element(
                self.graph.node(self.graph.relations[slot as usize].source).id,
            )),
            ("TARGET", Some(ElementKind::Relation), _) => {
                let target = self.graph.relations[slot as usize].target;
                Ok(target.map_or(ReferredEntity::Open, |target| {
                    ReferredEntity::Element(self.graph.node(target).id)
                }))
            }
            ("SOURCE" | "TARGET", ..) => misplaced("relationship templates"),
            ("HOST", ..) if call.function == Function::GetOperationOutput => {
                let message = "`get_operation_output` does not take from `HOST`";
                Err(Diagnostic::error(Code::InvalidFunction, message)
                    .at(name.at.span())
                    .section("4.6.1"))
            }
            ("HOST", Some(ElementKind::Node), _) => Ok(ReferredEntity::HostOf(NodeId(slot))),
            ("HOST", ..) => misplaced("node templates"),
            _ => self.named(call, name),
        }
    }

    fn named(&self, call: &Call<'_>, name: Name<'_>) -> Result<ReferredEntity, Diagnostic> {
        let graph = self.graph;
        // The place of a name may be that of the whole argument list, so the name is looked up by
        // its text.
        let node = graph.by_identifier(&format!("node.{}", name.text));
        let relation = || self.relationships().get(name.text).copied();
        let group = || graph.find(LookupStep::Root(ElementKind::Group), name.at).ok();
        if let Some(id) = node.or_else(relation).or_else(group) {
            return Ok(ReferredEntity::Element(id));
        }
        // An unused relationship template is reported elsewhere.
        if graph.template.relationships.iter().any(|template| template.declared.name() == name.text)
        {
            return Ok(ReferredEntity::Open);
        }
        let known = graph.nodes.iter().map(|node| graph.element(node.id).name);
        let known = known
            .chain(self.relationships().keys().copied())
            .chain(["SELF", "SOURCE", "TARGET", "HOST"]);
        let message = format!("there is no node or relationship template `{}`", name.text);
        let error = Diagnostic::error(Code::UnknownElement, message)
            .at(name.at.span())
            .section(call.function.section());
        Err(error.help_opt(did_you_mean(name.text, known)))
    }

    /// The types of an element in the checked variant, with the elements that each depends on.
    /// `None` in place of an undefined type, which is reported where it is named.
    pub(super) fn alternatives(&self, id: ElementId) -> Vec<(Option<TypeId>, Vec<ElementId>)> {
        let family = match self.graph.element(id).kind {
            ElementKind::Node => Family::Node,
            ElementKind::Relation => Family::Relationship,
            ElementKind::Group => Family::Group,
            _ => Family::Policy,
        };
        let element = self.graph.element(id);
        let node = (element.kind == ElementKind::Node).then_some(element.slot as usize);
        let holder = node.map(|slot| self.graph.holder(&self.graph.nodes[slot], "type").id);
        let types: Vec<_> = self.counting(self.graph.types_of(holder.unwrap_or(id))).collect();
        let several = types.len() > 1;
        let found = types.iter().map(|&kind| {
            let defined = self.types.find(family, self.graph.element(kind).name);
            (defined, several.then_some(kind).into_iter().collect())
        });
        let found: Vec<_> = found.collect();
        if found.is_empty() { vec![(None, Vec::new())] } else { found }
    }

    /// Asks a question about an entity, once for each of its types.
    pub(super) fn ask(
        &self,
        id: ElementId,
        mut ask: impl FnMut(TypeId) -> Result<KnownValue, Diagnostic>,
    ) -> Vec<ConditionalValue> {
        let answer = |(kind, when): (Option<TypeId>, _)| ConditionalValue {
            when,
            outcome: kind.map_or(Ok(KnownValue::Unknown), &mut ask),
        };
        self.alternatives(id).into_iter().map(answer).collect()
    }

    /// The results of `get_property` or `get_attribute`.
    pub(super) fn value(
        &self,
        site: &FunctionSite,
        call: &Call<'a>,
        entity: Name<'a>,
        path: &[Node<'a>],
    ) -> Vec<ConditionalValue> {
        let asked = Asked { call, path };
        match self.entity(site.entity, call, entity) {
            Err(error) => vec![ConditionalValue::always(Err(error))],
            Ok(ReferredEntity::Open) => Vec::new(),
            Ok(ReferredEntity::Element(id)) => self.of_element(id, asked),
            Ok(ReferredEntity::HostOf(node)) => {
                let mut answers = Vec::new();
                self.of_hosts(node, asked, &[], &mut vec![node], &mut answers);
                answers
            }
        }
    }

    fn of_element(&self, id: ElementId, asked: Asked<'_, 'a>) -> Vec<ConditionalValue> {
        let mut answers = Vec::new();
        for (kind, when) in self.alternatives(id) {
            match kind {
                Some(kind) => {
                    answers.extend(self.of_type(id, kind, asked).into_iter().map(|mut answer| {
                        answer.when.extend(&when);
                        answer
                    }))
                }
                None => answers.push(ConditionalValue { when, outcome: Ok(KnownValue::Unknown) }),
            }
        }
        answers
    }

    /// The value of the nearest host of a node that has the property or attribute (section 4.1).
    /// `way` contains the nodes examined so far.
    fn of_hosts(
        &self,
        node: NodeId,
        asked: Asked<'_, 'a>,
        when: &[ElementId],
        way: &mut Vec<NodeId>,
        answers: &mut Vec<ConditionalValue>,
    ) {
        let graph = self.graph;
        let mut hosting =
            graph.hosting(graph.node(node)).filter(|relation| self.counts(relation.id)).peekable();
        if hosting.peek().is_none() {
            let name = asked.path.first().and_then(|name| name.text()).unwrap_or_default();
            let first = graph.display(graph.node(way[0]).id);
            let message = format!("no host of {first} has the {} `{name}`", asked.noun());
            return answers.push(ConditionalValue {
                when: when.to_vec(),
                outcome: Err(asked.unknown(message)),
            });
        }
        for relation in hosting {
            let Some(target) = relation.target else { continue };
            if way.contains(&target) || way.len() > HOSTS {
                continue;
            }
            way.push(target);
            let when: Vec<_> = when.iter().copied().chain([relation.id]).collect();
            for ConditionalValue { when: of_type, outcome } in
                self.of_element(graph.node(target).id, asked)
            {
                let when: Vec<_> = when.iter().copied().chain(of_type).collect();
                match outcome {
                    Err(error) if error.code == Code::UnknownProperty => {
                        self.of_hosts(target, asked, &when, way, answers)
                    }
                    outcome => answers.push(ConditionalValue { when, outcome }),
                }
            }
        }
    }

    /// The value at a path of an element with one of its types: a property of the capability or
    /// requirement that the path begins with, otherwise a property of the element itself.
    fn of_type(&self, id: ElementId, kind: TypeId, asked: Asked<'_, 'a>) -> Vec<ConditionalValue> {
        let effective = self.types.effective(kind);
        let [first, rest @ ..] = asked.path else { return Vec::new() };
        let name = first.text().unwrap_or_default();
        let own = self.found_in(asked, &effective.properties, &effective.attributes, asked.path);
        let behind =
            if rest.is_empty() { Vec::new() } else { self.behind(id, kind, asked, name, rest) };
        if !behind.is_empty()
            && (behind.iter().all(|answer| answer.outcome.is_ok()) || !matches!(own, Some(Ok(_))))
        {
            return behind;
        }
        // An assignment without a definition is reported where it is made.
        let is_open = effective.requirements.contains_key(name) && !rest.is_empty()
            || self.is_assigned(id, name)
            || effective.is_open;
        let open = is_open.then_some(Ok(KnownValue::Unknown));
        let answer = own.or(open).unwrap_or_else(|| Err(self.no_such(kind, asked, name)));
        vec![ConditionalValue::always(answer)]
    }

    /// The value behind a capability of this name or, if the capability lacks it, behind a
    /// requirement of this name. Many types have both.
    fn behind(
        &self,
        id: ElementId,
        kind: TypeId,
        asked: Asked<'_, 'a>,
        name: &str,
        rest: &[Node<'a>],
    ) -> Vec<ConditionalValue> {
        let Some(capability) = self.types.effective(kind).capabilities.get(name) else {
            return self.of_requirement(id, name, asked, rest);
        };
        let found = self.found_in(
            asked,
            &capability.definition.properties,
            &capability.definition.attributes,
            rest,
        );
        if let Some(found) = found {
            return vec![ConditionalValue::always(found)];
        }
        let required = self.of_requirement(id, name, asked, rest);
        if !required.is_empty() && required.iter().all(|answer| answer.outcome.is_ok()) {
            return required;
        }
        if capability.definition.is_open {
            return vec![ConditionalValue::always(Ok(KnownValue::Unknown))];
        }
        let part = rest.first().and_then(|part| part.text()).unwrap_or_default();
        let message = format!("the capability `{name}` has no {} `{part}`", asked.noun());
        vec![ConditionalValue::always(Err(asked.unknown(message)))]
    }

    /// The property of this name or, if an attribute is asked for, the attribute or the property
    /// that it reflects.
    fn found_in(
        &self,
        asked: Asked<'_, 'a>,
        properties: &Parts<'c, PropertyDefinition<'c>>,
        attributes: &Parts<'c, PropertyDefinition<'c>>,
        path: &[Node<'a>],
    ) -> Option<Result<KnownValue, Diagnostic>> {
        let (first, nested) = path.split_first()?;
        let name = first.text()?;
        let attribute =
            attributes.get(name).filter(|_| asked.call.function == Function::GetAttribute);
        let part = attribute.or_else(|| properties.get(name))?;
        Some(
            self.part_of(&part.definition, nested)
                .map_err(|error| error.section(asked.call.function.section())),
        )
    }

    /// The value behind a requirement: a property of the target, of one of its capabilities, or of
    /// the relationship.
    fn of_requirement(
        &self,
        id: ElementId,
        name: &str,
        asked: Asked<'_, 'a>,
        rest: &[Node<'a>],
    ) -> Vec<ConditionalValue> {
        let element = self.graph.element(id);
        let node =
            (element.kind == ElementKind::Node).then(|| &self.graph.nodes[element.slot as usize]);
        let relations = node
            .into_iter()
            .flat_map(|node| node.relations.iter().map(|&id| self.graph.relation(id)));
        let named = relations.filter(|relation| {
            self.graph.element(relation.id).name == name && self.counts(relation.id)
        });
        named.flat_map(|relation| self.of_relation(relation, asked, rest)).collect()
    }

    fn of_relation(
        &self,
        relation: &RelationElement<'a>,
        asked: Asked<'_, 'a>,
        rest: &[Node<'a>],
    ) -> Vec<ConditionalValue> {
        let copies = |it: &RelationshipTemplate<'_>| it.declared.value().get("copy").is_some();
        let own = self.alternatives(relation.id).into_iter().find_map(|(kind, _)| {
            let Some(kind) = kind else {
                // A copy without a type has that of what it copies.
                let is_copy = relation.relationship.is_some_and(copies);
                return is_copy.then_some(Ok(KnownValue::Unknown));
            };
            let effective = self.types.effective(kind);
            let found = self.found_in(asked, &effective.properties, &effective.attributes, rest);
            found.or(effective.is_open.then_some(Ok(KnownValue::Unknown)))
        });
        let (Some(target), None) = (relation.target, &own) else {
            return vec![ConditionalValue {
                when: vec![relation.id],
                outcome: own.unwrap_or(Ok(KnownValue::Unknown)),
            }];
        };
        let target = self.graph.node(target).id;
        let part = rest.first().and_then(|part| part.text()).unwrap_or_default();
        let mut answers = self.ask(target, |kind| {
            let effective = self.types.effective(kind);
            let capabilities = effective.capabilities.values().map(|part| &part.definition);
            let found = capabilities
                .filter_map(|part| self.found_in(asked, &part.properties, &part.attributes, rest))
                .next();
            let found = found.or_else(|| {
                self.found_in(asked, &effective.properties, &effective.attributes, rest)
            });
            let is_open = effective.is_open
                || effective.capabilities.values().any(|part| part.definition.is_open);
            found.or(is_open.then_some(Ok(KnownValue::Unknown))).unwrap_or_else(|| {
                let message = format!(
                    "{} has no {} `{part}`, and neither has any of its capabilities",
                    self.graph.display(target),
                    asked.noun()
                );
                Err(asked.unknown(message))
            })
        });
        answers.iter_mut().for_each(|answer| answer.when.push(relation.id));
        answers
    }

    /// Whether the template assigns a property, attribute or capability of this name.
    pub(super) fn is_assigned(&self, id: ElementId, name: &str) -> bool {
        let body = self.body(id);
        let assigned = |keyword| body.and_then(|body| body.get(keyword)?.get(name)).is_some();
        let is_property = |id: &ElementId| self.graph.element(*id).name == name;
        self.graph.properties_of(id).iter().any(is_property)
            || assigned("attributes")
            || assigned("capabilities")
    }

    fn no_such(&self, kind: TypeId, asked: Asked<'_, 'a>, name: &str) -> Diagnostic {
        let effective = self.types.effective(kind);
        let owner = self.called(kind);
        let error = asked.unknown(format!("`{owner}` has no {} `{name}`", asked.noun()));
        if asked.call.function == Function::GetProperty && effective.attributes.contains_key(name) {
            return error.help("it is an attribute: use `get_attribute`");
        }
        let capabilities = effective
            .capabilities
            .keys()
            .chain(effective.requirements.keys())
            .filter(|_| asked.path.len() > 1);
        let attributes =
            effective.attributes.keys().filter(|_| asked.call.function == Function::GetAttribute);
        error.help_opt(did_you_mean(
            name,
            effective.properties.keys().chain(attributes).chain(capabilities).copied(),
        ))
    }

    /// The results of `get_artifact`: an artifact of the node or of its type.
    pub(super) fn artifact_call(
        &self,
        site: &FunctionSite,
        call: &Call<'a>,
        entity: Name<'a>,
        artifact: Name<'a>,
    ) -> Vec<ConditionalValue> {
        let id = match self.entity(site.entity, call, entity) {
            Err(error) => return vec![ConditionalValue::always(Err(error))],
            Ok(ReferredEntity::Element(id)) => id,
            Ok(_) => return Vec::new(),
        };
        let element = self.graph.element(id);
        let node =
            (element.kind == ElementKind::Node).then(|| &self.graph.nodes[element.slot as usize]);
        let of_node = node.map(|node| &self.graph.holder(node, "artifacts").artifacts);
        let named = of_node
            .into_iter()
            .flatten()
            .copied()
            .filter(|&id| self.graph.element(id).name == artifact.text);
        let named: Vec<_> = named.collect();
        if let Some(&first) = named.first() {
            let message = format!(
                "{} refers to {}, which is absent",
                self.graph.display(site.from),
                self.graph.display(first)
            );
            let warning = Diagnostic::warning(Code::DanglingReference, message)
                .at(artifact.at.span())
                .section("4.8.1");
            let is_defined = |(kind, _): &(Option<TypeId>, _)| {
                kind.is_none_or(|kind| {
                    self.types.effective(kind).artifacts.contains_key(artifact.text)
                })
            };
            for (_, when) in
                self.alternatives(id).into_iter().filter(|alternative| !is_defined(alternative))
            {
                let when: Vec<_> = when.into_iter().chain([site.from]).collect();
                self.report_when(&when, &named, warning.clone());
            }
        }
        self.ask(id, |kind| {
            let defined = &self.types.effective(kind).artifacts;
            let is_open = self.is_open(kind);
            if is_open || defined.contains_key(artifact.text) || !named.is_empty() {
                // Where it is, which never reads as a number.
                return Ok(KnownValue::Typed(ValueType::of(Primitive::String)));
            }
            let message = format!("{} has no artifact `{}`", self.graph.display(id), artifact.text);
            let known = of_node
                .into_iter()
                .flatten()
                .map(|&id| self.graph.element(id).name)
                .chain(defined.keys().copied());
            let error = Diagnostic::error(Code::UnknownElement, message)
                .at(artifact.at.span())
                .section("4.8.1");
            Err(error.help_opt(did_you_mean(artifact.text, known)))
        })
    }

    /// The results of `get_operation_output`: an output of an operation of an interface. An
    /// operation that declares no outputs may have any.
    pub(super) fn output_call(
        &self,
        site: &FunctionSite,
        call: &Call<'a>,
        [entity, interface, operation, output]: [Name<'a>; 4],
    ) -> Vec<ConditionalValue> {
        let id = match self.entity(site.entity, call, entity) {
            Err(error) => return vec![ConditionalValue::always(Err(error))],
            Ok(ReferredEntity::Element(id)) => id,
            Ok(_) => return Vec::new(),
        };
        self.ask(id, |kind| {
            let effective = self.types.effective(kind);
            let is_meant =
                |kind: Option<Node<'_>>| kind.and_then(Node::text) == Some(interface.text);
            let defined = effective.interfaces.get(interface.text);
            let defined = defined.or_else(|| {
                effective.interfaces.values().find(|part| is_meant(part.definition.kind))
            });
            let written =
                self.body(id).and_then(|body| body.get("interfaces")?.get(interface.text));
            let unknown = |name: Name<'_>, what: &str| {
                let message = format!("{} has no {what} `{}`", self.graph.display(id), name.text);
                Diagnostic::error(Code::UnknownElement, message).at(name.at.span()).section("4.6.1")
            };
            let is_open = defined.map_or(effective.is_open, |part| part.definition.is_open);
            if is_open {
                return Ok(KnownValue::RunTime);
            }
            if defined.is_none() && written.is_none() {
                return Err(unknown(interface, "interface")
                    .help_opt(did_you_mean(interface.text, effective.interfaces.keys().copied())));
            }
            let of_type = defined.and_then(|part| {
                let part = &part.definition;
                part.operations
                    .get(operation.text)
                    .or_else(|| part.notifications.get(operation.text))
            });
            let of_template = written.and_then(|written| {
                let grouped = ["operations", "notifications"]
                    .into_iter()
                    .filter_map(|keyword| written.get(keyword)?.get(operation.text));
                grouped.chain(written.get(operation.text)).next()
            });
            if of_type.is_none() && of_template.is_none() {
                return Err(unknown(
                    operation,
                    &format!("operation of `{}` called", interface.text),
                ));
            }
            let typed = of_type
                .into_iter()
                .flat_map(|part| part.definition.outputs.iter().map(|output| output.name));
            let assigned = of_template
                .and_then(|body| body.get("outputs"))
                .into_iter()
                .flat_map(Node::entries);
            let outputs: Vec<_> = typed.chain(assigned.filter_map(|(key, _)| key.text())).collect();
            if !outputs.is_empty() && !outputs.contains(&output.text) {
                let what = format!("output of `{}` called", operation.text);
                return Err(unknown(output, &what).help_opt(did_you_mean(output.text, outputs)));
            }
            Ok(KnownValue::RunTime)
        })
    }

    /// The template of an element, as it is written.
    fn body(&self, id: ElementId) -> Option<Node<'a>> {
        let element = self.graph.element(id);
        let slot = element.slot as usize;
        match element.kind {
            ElementKind::Node => Some(self.graph.nodes[slot].template.declared.value()),
            ElementKind::Relation => {
                self.graph.relations[slot].relationship.map(|template| template.declared.value())
            }
            _ => None,
        }
    }
}

impl<'a> Asked<'_, 'a> {
    fn noun(self) -> &'static str {
        if self.call.function == Function::GetAttribute { "attribute" } else { "property" }
    }

    fn unknown(self, message: String) -> Diagnostic {
        Diagnostic::error(Code::UnknownProperty, message)
            .at(self.call.node.span())
            .section(self.call.function.section())
    }
}
