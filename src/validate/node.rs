//! Checks node templates (section 3.8.3).

use super::assignment::Typed;
use super::capability::is_selected;
use super::checker::Checker;
use crate::diagnostic::{Advice, Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::Family;
use crate::tosca::shape::NODE;
use crate::tosca::value::{Primitive, function};
use crate::tosca::{requirement, v2_0};
use crate::variability::graph::{ElementId, NodeElement};
use crate::variability::template::shape;
use cuvee_text::yaml::{Node, NodeKind};

/// The directives of section 3.4.3, each with its replacement if it is deprecated.
const DIRECTIVES: [(&str, Option<&str>); 4] = [
    ("substitute", None),
    ("select", None),
    ("substitutable", Some("substitute")),
    ("selectable", Some("select")),
];

impl<'a> Checker<'_, 'a> {
    /// Checks all node templates.
    pub(super) fn nodes(&self) {
        for node in self.graph.nodes.iter().filter(|node| self.counts(node.id)) {
            self.node(node);
        }
    }

    fn node(&self, node: &NodeElement<'a>) {
        let body = node.template.declared.value;
        self.keynames(&[node.id], body, shape::NODE);
        self.about(&[node.id], body, NODE.section);
        self.directives(node.id, body);
        self.count(node.id, body);
        self.copy(node);
        for &artifact in &node.artifacts {
            self.artifact(artifact);
        }
        let copied = self.copied(node);
        let both = || std::iter::once(node).chain(copied);
        let properties: Vec<_> = both().flat_map(|node| &node.properties).copied().collect();
        let artifacts: Vec<_> = both().flat_map(|node| &node.artifacts).copied().collect();
        for (kind, mut when) in self.types_of(node.id, Family::Node) {
            self.assigned_properties(&node.properties, kind, &when);
            when.push(node.id);
            let of = Typed { id: node.id, kind, when: &when };
            if !is_selected(node) {
                // If the copied node is absent, only that is reported.
                let when: Vec<_> =
                    when.iter().copied().chain(copied.map(|copied| copied.id)).collect();
                self.missing_properties(Typed { when: &when, ..of }, &properties, &[]);
            }
            self.attributes(of, body);
            self.capabilities(of, node);
            self.interfaces(of, body, &artifacts);
            if let Some(filter) = body.get("node_filter") {
                self.node_filter(&when, filter, Some(kind));
            }
        }
    }

    /// Checks for how many nodes a template of TOSCA 2.0 stands.
    fn count(&self, id: ElementId, body: Node<'a>) {
        let is_wrong = |it: &Node<'_>| {
            v2_0::is_of(it.document())
                && requirement::count(*it).is_none()
                && function(*it).is_none()
        };
        let Some(count) = body.get("instance_count") else { return };
        if is_wrong(&count) {
            let got = count.text().map_or(count.describe().to_owned(), |text| format!("`{text}`"));
            let message = format!("`count` has to be an integer from 0 up, not {got}");
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(count.span());
            self.report(id, error.section(NODE.section));
        }
        self.expects_one(&[id], count, Primitive::Integer);
    }

    /// The node template that a node template copies.
    pub(super) fn copied(&self, node: &NodeElement<'a>) -> Option<&NodeElement<'a>> {
        self.graph.copied(node)
    }

    /// Checks that the copied node template exists and is not itself a copy (section 3.8.3.3).
    fn copy(&self, node: &NodeElement<'a>) {
        let Some(name) = node.template.declared.value.get("copy") else { return };
        let text = name.text().unwrap_or_default();
        let error = |code, message| Diagnostic::error(code, message).at(name.span());
        let Some(copied) = self.graph.node_named(text) else {
            let message = format!(
                "{} copies a node template `{text}` that does not exist",
                self.graph.display(node.id)
            );
            let names = self.graph.nodes.iter().map(|node| node.template.declared.name);
            let error = error(Code::UnknownElement, message).section(NODE.section);
            return self.report(node.id, error.help_opt(did_you_mean(text, names)));
        };
        if let Some(further) = copied.template.declared.value.get("copy") {
            let message = format!("`{text}` is a copy itself, and cannot be copied");
            let error = error(Code::InvalidTemplate, message)
                .label(further.span(), "it copies another one here");
            self.report(node.id, error.section("3.8.3.3"));
        } else {
            let message = format!(
                "{} copies {}, which is absent",
                self.graph.display(node.id),
                self.graph.display(copied.id)
            );
            self.report_when(
                &[node.id],
                &[copied.id],
                error(Code::DanglingReference, message).section(NODE.section),
            );
        }
    }

    fn directives(&self, id: ElementId, body: Node<'a>) {
        let Some(list) = body.get("directives") else { return };
        if list.kind() != NodeKind::Sequence && !list.is_null() {
            return self.wrong(&[id], list, "directives", "a list of strings", NODE.section);
        }
        for directive in list.items() {
            let text = directive.text().unwrap_or_default();
            // The grammar of TOSCA 2.0 knows its own.
            if v2_0::is_of(directive.document()) {
                continue;
            }
            let found = DIRECTIVES.iter().find(|(name, _)| *name == text);
            let diagnostic = match found {
                Some((_, None)) => continue,
                Some((_, Some(new))) => {
                    let message = format!("the directive `{text}` is deprecated");
                    let advice = Advice::from(format!("write `{new}`")).instead(text, *new);
                    Diagnostic::warning(Code::Deprecated, message).help(advice)
                }
                None => {
                    let error = Diagnostic::error(
                        Code::UnknownKeyword,
                        format!("`{text}` is not a directive"),
                    );
                    let help = did_you_mean(text, DIRECTIVES.map(|(name, _)| name));
                    error.help("known are substitute, select").help_opt(help)
                }
            };
            self.report(id, diagnostic.at(directive.span()).section("3.4.3"));
        }
    }
}
