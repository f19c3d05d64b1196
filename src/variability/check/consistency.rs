//! Checks that the result is well-formed: relations have ends, parts have containers, and names,
//! types and technologies are unique.

use super::{Judge, PresenceChecker, error, of_one_name, warning};
use crate::diagnostic::{Code, LISTED};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, PropertyElement};
use crate::variability::options::Check;

impl PresenceChecker<'_, '_> {
    pub(super) fn consistency(&mut self) {
        self.relation_ends();
        self.containers();
        self.hosting();
        self.names();
        self.types();
        self.technologies();
    }

    /// Checks that the source and the target of a present relation are present.
    fn relation_ends(&mut self) {
        let graph = self.graph;
        for relation in &graph.relations {
            let source = graph.node(relation.source).id;
            let target = relation.target.map(|target| graph.node(target).id);
            let ends = [
                (Check::RelationSource, Code::RelationSource, "source", Some(source)),
                (Check::RelationTarget, Code::RelationTarget, "target", target),
            ];
            for (check, code, end, node) in ends {
                let Some(node) = node.filter(|_| self.options.check(check)) else { continue };
                self.any(code, relation.id, &[node], |graph| {
                    let message = format!(
                        "the {end} of {} is absent: {}",
                        graph.display(relation.id),
                        graph.display(node)
                    );
                    error(graph, code, relation.id, message)
                        .label(graph.element(node).span, format!("this {end} is absent"))
                });
            }
        }
    }

    /// Checks that the container of a present property, artifact, type or technology is present.
    fn containers(&mut self) {
        let graph = self.graph;
        for id in graph.ids() {
            let element = graph.element(id);
            let (check, code) = match element.kind {
                ElementKind::Property => {
                    (Check::MissingPropertyContainer, Code::MissingPropertyContainer)
                }
                ElementKind::Artifact => {
                    (Check::MissingArtifactContainer, Code::MissingArtifactContainer)
                }
                ElementKind::Type => (Check::MissingTypeContainer, Code::MissingTypeContainer),
                ElementKind::Technology => {
                    (Check::MissingTechnologyContainer, Code::MissingTechnologyContainer)
                }
                _ => continue,
            };
            let container =
                element.container.filter(|&container| graph.variability_group(container).is_none());
            let Some(container) = container.filter(|_| self.options.check(check)) else { continue };
            self.any(code, id, &[container], |graph| {
                error(
                    graph,
                    code,
                    id,
                    format!("{} is present, but what it belongs to is absent", graph.display(id)),
                )
            });
        }
    }

    /// Checks that a present node has at most one present hosting relation.
    fn hosting(&mut self) {
        let graph = self.graph;
        // In plain TOSCA, relations are no alternatives, and a node may have several hosts.
        if !self.options.check(Check::AmbiguousHosting) || graph.template.is_plain() {
            return;
        }
        for node in &graph.nodes {
            let hosting: Vec<_> = graph.hosting(node).map(|relation| relation.id).collect();
            self.at_most_one(Code::AmbiguousHosting, Some(node.id), &hosting, |graph, present| {
                let message =
                    format!("{} has more than one hosting relation", graph.display(node.id));
                let error = error(graph, Code::AmbiguousHosting, node.id, message)
                    .help(exclusion(Check::AmbiguousHosting));
                present.iter().take(LISTED).fold(error, |error, &id| {
                    error.label(graph.element(id).span, "this one is present")
                })
            });
        }
    }

    /// Checks that present elements of one collection have unique names.
    fn names(&mut self) {
        let graph = self.graph;
        self.unique(
            Check::AmbiguousInput,
            Code::AmbiguousInput,
            true,
            None,
            graph.inputs.iter().map(|input| input.id),
        );
        self.unique(
            Check::AmbiguousOutput,
            Code::AmbiguousOutput,
            true,
            None,
            graph.outputs.iter().map(|output| output.id),
        );
        // The properties of one container are adjacent, in the order of the containers.
        let container = |property: &PropertyElement<'_>| graph.element(property.id).container;
        for properties in graph.properties.chunk_by(|a, b| container(a) == container(b)) {
            let ids = properties.iter().map(|property| property.id);
            self.unique(
                Check::AmbiguousProperty,
                Code::AmbiguousProperty,
                true,
                container(&properties[0]),
                ids,
            );
        }
        for node in &graph.nodes {
            let artifacts = node.artifacts.iter().copied();
            self.unique(
                Check::AmbiguousArtifact,
                Code::AmbiguousArtifact,
                true,
                Some(node.id),
                artifacts,
            );
            if graph.template.is_plain() {
                // In plain TOSCA, relations of one name are no alternatives: a requirement may
                // occur more than once.
                continue;
            }
            let relations = node.relations.iter().map(|&id| graph.relation(id).id);
            self.unique(
                Check::AmbiguousRelation,
                Code::AmbiguousRelation,
                false,
                Some(node.id),
                relations,
            );
        }
    }

    /// Checks that of elements with the same name at most one is present. If `exclusive`, the
    /// result has room for only one of them, so without the check the last one wins, with a
    /// warning.
    fn unique(
        &mut self,
        check: Check,
        code: Code,
        exclusive: bool,
        container: Option<ElementId>,
        ids: impl ExactSizeIterator<Item = ElementId>,
    ) {
        let checked = self.options.check(check);
        if ids.len() < 2
            || !(exclusive || checked)
            || container.is_some_and(|container| !self.concerns(container))
        {
            return;
        }
        let presence =
            if let Judge::Variant(presence) = self.judge { Some(presence) } else { None };
        for group in of_one_name(
            self.graph,
            ids.filter(|&id| presence.is_none_or(|presence| presence.is(id))),
        ) {
            if checked {
                self.at_most_one(code, container, &group, |graph, present| {
                    let (first, last) = (present[0], present[present.len() - 1]);
                    let message = format!(
                        "{} is ambiguous: more than one of its name is present",
                        graph.display(first)
                    );
                    error(graph, code, first, message)
                        .label(graph.element(last).span, "another is here")
                        .help(exclusion(check))
                });
            } else if presence.is_some() {
                let (first, last) = (group[0], group[group.len() - 1]);
                let graph = self.graph;
                let element = graph.display(first);
                let message = format!(
                    "more than one of the name of {element} is present: the last one was taken"
                );
                let warning = warning(graph, Code::Nondeterminism, first, message);
                self.diagnostics
                    .push(warning.label(graph.element(last).span, "this one was taken"));
            }
        }
    }

    /// Checks that a present element that has types has exactly one present type.
    fn types(&mut self) {
        let graph = self.graph;
        for id in graph.ids() {
            let types = graph.types_of(id);
            if types.is_empty() || graph.variability_group(id).is_some() {
                continue;
            }
            // This applies even if the check is off, because without a type there is nothing to
            // write.
            self.any(Code::AmbiguousType, id, types, |graph| {
                error(
                    graph,
                    Code::AmbiguousType,
                    id,
                    format!("{} has no present type", graph.display(id)),
                )
                .help("weaken the conditions of one of its types")
            });
            self.single(Check::AmbiguousType, Code::AmbiguousType, id, types, "type");
        }
    }

    /// Checks that a present managed node has exactly one present technology.
    fn technologies(&mut self) {
        let graph = self.graph;
        for node in graph.nodes.iter().filter(|node| !node.technologies.is_empty()) {
            if node.managed {
                // This applies even if the check is off, because nothing could deploy the node.
                self.any(Code::ExpectedTechnology, node.id, &node.technologies, |graph| {
                    let message = format!("{} has no present technology", graph.display(node.id));
                    error(graph, Code::ExpectedTechnology, node.id, message)
                        .help("weaken the conditions of one of its technologies")
                });
            }
            self.single(
                Check::AmbiguousTechnology,
                Code::AmbiguousTechnology,
                node.id,
                &node.technologies,
                "technology",
            );
        }
    }

    /// Checks that an element has at most one of these; if the check is off, the first one wins,
    /// with a warning.
    fn single(&mut self, check: Check, code: Code, id: ElementId, of: &[ElementId], what: &str) {
        if self.options.check(check) {
            self.at_most_one(code, Some(id), of, |graph, _| {
                error(
                    graph,
                    code,
                    id,
                    format!("{} has more than one present {what}", graph.display(id)),
                )
                .help(exclusion(check))
            });
        } else if let Judge::Variant(presence) = self.judge
            && presence.is(id)
            && presence.among(of).nth(1).is_some()
        {
            let graph = self.graph;
            let message = format!(
                "{} has more than one present {what}: the first one was taken",
                graph.display(id)
            );
            self.diagnostics.push(warning(graph, Code::Nondeterminism, id, message));
        }
    }
}

/// The help on how to let only one of several elements be present.
fn exclusion(check: Check) -> String {
    let (constraint, names) = match check {
        Check::AmbiguousInput => ("unique_input_constraint", true),
        Check::AmbiguousOutput => ("unique_output_constraint", true),
        Check::AmbiguousProperty => ("unique_property_constraint", true),
        Check::AmbiguousArtifact => ("unique_artifact_constraint", true),
        Check::AmbiguousRelation => ("unique_relation_constraint", true),
        Check::AmbiguousHosting => ("single_hosting_constraint", false),
        Check::AmbiguousTechnology => ("unique_technology_constraint", false),
        _ => return "write `conditions` that exclude each other".into(),
    };
    match names {
        true => format!(
            "write `conditions` that exclude each other, `{constraint}: true` in the options, or another name"
        ),
        false => format!(
            "write `conditions` that exclude each other, or `{constraint}: true` in the options"
        ),
    }
}
