//! Checks node templates (section 3.8.3).

use super::assignment::Typed;
use super::checker::Checker;
use crate::diagnostic::{Advice, Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::shape::NODE;
use crate::tosca::v2_0::function::{PlainText, constant};
use crate::tosca::value::{Primitive, function};
use crate::tosca::{Directive, Family, requirement, v2_0};
use crate::variability::graph::{ElementId, NodeElement};
use crate::variability::template::shape;
use cuvee_text::value::Value;
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
        let body = node.template.declared.value();
        self.keynames(&[node.id], body, shape::NODE);
        self.about(&[node.id], body, NODE.section);
        self.directives(node.id, body);
        self.count(node.id, body);
        self.copy(node);
        for &artifact in &node.artifacts {
            self.artifact(artifact);
        }
        let copied = self.copied(node);
        // A keyname of a copy of TOSCA 2.0 replaces that of the node that it copies.
        let merges = !v2_0::is_of(body.document());
        let both = |keyname| {
            let copied = copied.filter(|_| merges);
            std::iter::once(self.graph.holder(node, keyname)).chain(copied)
        };
        let properties = both("properties").flat_map(|node| &node.properties);
        let properties: Vec<_> = properties.copied().collect();
        let artifacts = both("artifacts").flat_map(|node| &node.artifacts);
        let artifacts: Vec<_> = artifacts.copied().collect();
        let interfaces = self.graph.holder(node, "interfaces").template.declared.value();
        for (kind, mut when) in self.types_of(node.id, Family::Node) {
            let of_type = when.clone();
            when.push(node.id);
            let of = Typed { id: node.id, kind, when: &when };
            self.held(node, "properties", |holder| {
                self.assigned_properties(&holder.properties, kind, &of_type);
            });
            if !self.is_selected(node) {
                // If the copied node is absent, only that is reported.
                let when: Vec<_> =
                    when.iter().copied().chain(copied.map(|copied| copied.id)).collect();
                self.missing_properties(Typed { when: &when, ..of }, &properties, &[]);
            }
            self.held(node, "attributes", |holder| {
                self.attributes(kind, &when, holder.template.declared.value());
            });
            self.held(node, "capabilities", |holder| self.capabilities(of, holder));
            self.held(node, "interfaces", |holder| {
                self.interfaces(of, holder.template.declared.value(), &artifacts);
            });
            self.operations_of_type(of, interfaces, &artifacts);
            self.artifacts_of_type(of, &artifacts);
            if let Some(filter) = body.get("node_filter") {
                self.node_filter(&when, filter, Some(kind));
            }
        }
    }

    /// Checks for how many nodes a template stands.
    fn count(&self, id: ElementId, body: Node<'a>) {
        let Some(count) = body.get("instance_count") else { return };
        if is_no_count(count) {
            let is_2_0 = v2_0::is_of(count.document());
            let keyname = if is_2_0 { "count" } else { "instance_count" };
            self.wrong_count(id, keyname, count, NODE.section);
        }
        self.expects_one(&[id], count, Primitive::Integer);
    }

    /// Reports a value that is no number of nodes or relations.
    pub(super) fn wrong_count(
        &self,
        id: ElementId,
        keyname: &str,
        count: Node<'_>,
        section: &'static str,
    ) {
        let given = function(count).and_then(|_| constant(count, &PlainText).ok()?);
        let got = match (count.text(), count.as_str()) {
            _ if given.is_some() => given.map(|it| format!("`{it}`")).unwrap_or_default(),
            (_, Some(text)) => format!("the string `{text}`"),
            (Some(text), None) => format!("`{text}`"),
            (None, None) => count.describe().to_owned(),
        };
        let message = format!("`{keyname}` has to be an integer from 0 up, not {got}");
        let error = Diagnostic::error(Code::InvalidTemplate, message).at(count.span());
        self.report(id, error.section(section));
    }

    /// Checks a keyname of a node, or what its copied node has there.
    fn held(&self, node: &NodeElement<'a>, keyname: &str, check: impl FnOnce(&NodeElement<'a>)) {
        match self.taken_over(node, keyname) {
            Some((copy, holder)) => self.copied_at(copy, || check(holder)),
            None => check(node),
        }
    }

    /// The node from which a copy of another type takes a keyname, and where it is named. That has
    /// to fit the type of the copy, too (TOSCA 2.0, section 7.2).
    pub(super) fn taken_over<'n>(
        &'n self,
        node: &'n NodeElement<'a>,
        keyname: &str,
    ) -> Option<(Node<'a>, &'n NodeElement<'a>)> {
        let copy = node.template.declared.value().get("copy").filter(|_| !node.types.is_empty())?;
        let holder = self.graph.holder(node, keyname);
        let is_other = || {
            let [own, other] = [node, holder].map(|node| self.types_of(node.id, Family::Node));
            own != other
        };
        (holder.id != node.id && is_other()).then_some((copy, holder))
    }

    /// Whether a node is selected from those that exist already and never created, so that its
    /// template need not assign everything (section 3.4.3).
    pub(super) fn is_selected(&self, node: &NodeElement<'a>) -> bool {
        Directive::selects(self.graph.holder(node, "directives").template.declared.value())
    }

    /// Whether a node has a directive.
    pub(super) fn has_directive(&self, node: &NodeElement<'a>, directive: Directive) -> bool {
        directive.is_said_by(self.graph.holder(node, "directives").template.declared.value())
    }

    /// The node template that a node template copies.
    pub(super) fn copied(&self, node: &NodeElement<'a>) -> Option<&NodeElement<'a>> {
        self.graph.copied(node)
    }

    /// Checks that the copied node template exists and is not itself a copy (section 3.8.3.3).
    fn copy(&self, node: &NodeElement<'a>) {
        let Some(name) = node.template.declared.value().get("copy") else { return };
        let text = name.text().unwrap_or_default();
        let error = |code, message| Diagnostic::error(code, message).at(name.span());
        let Some(copied) = self.graph.node_named(text) else {
            let message = format!(
                "{} copies a node template `{text}` that does not exist",
                self.graph.display(node.id)
            );
            let names = self.graph.nodes.iter().map(|node| node.template.declared.name());
            let error = error(Code::UnknownElement, message).section(NODE.section);
            return self.report(node.id, error.help_opt(did_you_mean(text, names)));
        };
        if let Some(further) = copied.template.declared.value().get("copy") {
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

/// Whether a value is no number of nodes or relations: neither an integer from 0 up, nor a call that
/// may give one.
pub(super) fn is_no_count(value: Node<'_>) -> bool {
    let is_less = || {
        let given = constant(value, &PlainText);
        matches!(given, Ok(Some(Value::Number(number))) if number.as_int().is_some_and(|it| it < 0))
    };
    requirement::count(value).is_none() && (function(value).is_none() || is_less())
}
