//! Checks that keep the result well-formed.

use super::{Checker, collisions};
use crate::diagnostic::{Code, Label};
use crate::graph::ElementId;
use crate::options::{Check, Kind};

impl Checker<'_, '_> {
    pub(super) fn consistency(&mut self) {
        self.relation_ends();
        self.containers();
        self.hosting();
        self.names();
        self.types();
        self.technologies();
    }

    /// The source and the target of a present relation are present.
    fn relation_ends(&mut self) {
        let graph = self.graph;
        for relation in graph.relations.iter().filter(|relation| self.presence.is(relation.id)) {
            let source = graph.node(relation.source).id;
            let target = relation.target.map(|target| graph.node(target).id);
            let ends = [
                (Check::RelationSource, Code::RelationSource, "source", Some(source)),
                (Check::RelationTarget, Code::RelationTarget, "target", target),
            ];
            for (check, code, end, node) in ends {
                if let Some(node) = node.filter(|&node| self.options.check(check) && !self.presence.is(node)) {
                    let message = format!("the {end} of {} is absent: {}", graph.display(relation.id), graph.display(node));
                    self.error(code, relation.id, message)
                        .labels
                        .push(Label { span: graph.element(node).span, message: format!("this {end} is absent") });
                }
            }
        }
    }

    /// What a present property, artifact, type or technology belongs to is present.
    fn containers(&mut self) {
        let graph = self.graph;
        for id in graph.ids().filter(|&id| self.presence.is(id)) {
            let element = graph.element(id);
            let (check, code) = match element.kind {
                Kind::Property => (Check::MissingPropertyContainer, Code::MissingPropertyContainer),
                Kind::Artifact => (Check::MissingArtifactContainer, Code::MissingArtifactContainer),
                Kind::Type => (Check::MissingTypeContainer, Code::MissingTypeContainer),
                Kind::Technology => (Check::MissingTechnologyContainer, Code::MissingTechnologyContainer),
                _ => continue,
            };
            let absent = element.container.filter(|&container| !self.presence.is(container));
            if absent.is_some_and(|container| self.options.check(check) && graph.variability_group(container).is_none()) {
                self.error(code, id, format!("{} is present, but what it belongs to is absent", graph.display(id)));
            }
        }
    }

    /// A present node has at most one present hosting relation.
    fn hosting(&mut self) {
        let graph = self.graph;
        if !self.options.check(Check::AmbiguousHosting) {
            return;
        }
        for node in graph.nodes.iter().filter(|node| self.presence.is(node.id)) {
            let present: Vec<_> = graph.hosting(node).map(|relation| relation.id).filter(|&id| self.presence.is(id)).collect();
            if present.len() > 1 {
                let message = format!("{} has more than one hosting relation", graph.display(node.id));
                let labels =
                    present.iter().map(|&id| Label { span: graph.element(id).span, message: "this one is present".into() });
                self.error(Code::AmbiguousHosting, node.id, message).labels.extend(labels);
            }
        }
    }

    /// Present elements of one collection have unique names.
    fn names(&mut self) {
        let (graph, presence) = (self.graph, self.presence);
        self.unique(Check::AmbiguousInput, Code::AmbiguousInput, true, graph.inputs.iter().map(|input| input.id));
        self.unique(Check::AmbiguousOutput, Code::AmbiguousOutput, true, graph.outputs.iter().map(|output| output.id));
        for container in graph.ids().filter(|&id| presence.is(id)) {
            let properties = graph.properties_of(container);
            self.unique(Check::AmbiguousProperty, Code::AmbiguousProperty, true, properties.iter().copied());
        }
        for node in graph.nodes.iter().filter(|node| presence.is(node.id)) {
            self.unique(Check::AmbiguousArtifact, Code::AmbiguousArtifact, true, node.artifacts.iter().copied());
            let relations = node.relations.iter().map(|&id| graph.relation(id).id);
            self.unique(Check::AmbiguousRelation, Code::AmbiguousRelation, false, relations);
        }
    }

    /// `exclusive`: the result has room for one of a name only, so without the check the later one wins.
    fn unique(&mut self, check: Check, code: Code, exclusive: bool, ids: impl ExactSizeIterator<Item = ElementId>) {
        let (graph, presence) = (self.graph, self.presence);
        if ids.len() < 2 || !(exclusive || self.options.check(check)) {
            return;
        }
        for (first, last) in collisions(graph, ids.filter(|&id| presence.is(id))) {
            let element = graph.display(first);
            let label = |message: &str| Label { span: graph.element(last).span, message: message.into() };
            if self.options.check(check) {
                let message = format!("{element} is ambiguous: more than one of its name is present");
                self.error(code, first, message).labels.push(label("another is here"));
            } else {
                let message = format!("more than one of the name of {element} is present: the last one was taken");
                self.warning(Code::Nondeterminism, first, message).labels.push(label("this one was taken"));
            }
        }
    }

    /// A present element that has types has exactly one.
    fn types(&mut self) {
        let graph = self.graph;
        for id in graph.ids() {
            if !self.presence.is(id) || graph.variability_group(id).is_some() {
                continue;
            }
            let types = graph.types_of(id);
            match self.presence.among(types).count() {
                1 => {}
                // Without a type there is nothing to write, whether that is checked or not.
                0 if !types.is_empty() => {
                    self.error(Code::AmbiguousType, id, format!("{} has no present type", graph.display(id)));
                }
                0 => {}
                _ if self.options.check(Check::AmbiguousType) => {
                    self.error(Code::AmbiguousType, id, format!("{} has more than one present type", graph.display(id)));
                }
                _ => {
                    let message = format!("{} has more than one present type: the last one was taken", graph.display(id));
                    self.warning(Code::Nondeterminism, id, message);
                }
            }
        }
    }

    /// A present managed node has exactly one present technology.
    fn technologies(&mut self) {
        let graph = self.graph;
        for node in graph.nodes.iter().filter(|node| self.presence.is(node.id) && !node.technologies.is_empty()) {
            match self.presence.among(&node.technologies).count() {
                1 => {}
                // Nothing could deploy the node, whether that is checked or not.
                0 if node.managed => {
                    self.error(
                        Code::ExpectedTechnology,
                        node.id,
                        format!("{} has no present technology", graph.display(node.id)),
                    );
                }
                0 => {}
                _ if self.options.check(Check::AmbiguousTechnology) => {
                    let message = format!("{} has more than one present technology", graph.display(node.id));
                    self.error(Code::AmbiguousTechnology, node.id, message);
                }
                _ => {
                    let message =
                        format!("{} has more than one present technology: the last one was taken", graph.display(node.id));
                    self.warning(Code::Nondeterminism, node.id, message);
                }
            }
        }
    }
}
