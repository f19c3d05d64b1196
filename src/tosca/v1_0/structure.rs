//! Checks the structure of TOSCA 1.0 documents: elements and attributes have to be known, occur as
//! often as allowed, and have values of the right kind.

use super::read::is_definitions;
use super::rule::{
    AttributeKind, AttributeRule, ChildOccurs, ChildRule, DEFINITIONS, DOCUMENTATION,
    ElementContent, ElementRule, TOSCA,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, Severity, TOSCA_1_0, did_you_mean};
use cuvee_text::source::Span;
use cuvee_text::xml::{XmlAttribute, XmlDocument, XmlElement, XmlNode, is_unprefixed_name};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// A rule in a section of TOSCA 1.0.
pub(crate) fn by(section: &'static str) -> Rule {
    Rule::new(&TOSCA_1_0, section)
}

/// Reports all errors in the structure of a document.
pub(crate) fn check(document: &XmlDocument, found: &mut Diagnostics) {
    let root = document.root();
    if !is_definitions(root) {
        found.push(no_definitions(root));
        return;
    }
    let mut checker = StructureChecker { found, ids: FxHashMap::default() };
    let mut open = vec![(root, &DEFINITIONS, DEFINITIONS.section)];
    while let Some((element, rule, section)) = open.pop() {
        let section = if rule.section.is_empty() { section } else { rule.section };
        checker.attributes(element, rule, section);
        let known = checker.content(element, rule, section);
        open.extend(known.into_iter().map(|(child, rule)| (child, rule, section)));
    }
}

fn no_definitions(root: XmlElement<'_>) -> Diagnostic {
    let name = root.name();
    let message = format!("the root element is `{}`, not the `Definitions` of TOSCA", name.local);
    let error = Diagnostic::error(Code::InvalidTemplate, message).at(root.span()).rule(by("4.2"));
    match (name.local == DEFINITIONS.name, name.namespace) {
        (true, "") => error.help(format!("declare their namespace: `xmlns=\"{TOSCA}\"`")),
        (true, other) => {
            error.help(format!("they are of {other}, and those of TOSCA 1.0 of {TOSCA}"))
        }
        _ => error,
    }
}

struct StructureChecker<'c, 'd> {
    found: &'c mut Diagnostics,
    /// The place of each id.
    ids: FxHashMap<std::borrow::Cow<'d, str>, Span>,
}

impl<'d> StructureChecker<'_, 'd> {
    fn say(&mut self, diagnostic: Diagnostic, section: &'static str) {
        self.found.push(diagnostic.rule(by(section)));
    }

    fn attributes(
        &mut self,
        element: XmlElement<'d>,
        rule: &'static ElementRule,
        section: &'static str,
    ) {
        let names = || rule.attributes.iter().map(|attribute| attribute.name);
        let mut has = 0_u32;
        for attribute in element.attributes().filter(|it| it.name().namespace.is_empty()) {
            let local = attribute.name().local;
            match names().position(|name| name == local) {
                Some(index) => {
                    has |= 1 << index;
                    self.value(attribute, &rule.attributes[index], section);
                }
                None => {
                    let message = format!("`{local}` is no attribute of `{}`", rule.name);
                    let error = Diagnostic::error(Code::UnknownKeyword, message)
                        .at(attribute.span())
                        .help_opt(listed(names()))
                        .help_opt(did_you_mean(local, names()));
                    self.say(error, section);
                }
            }
        }
        for (index, attribute) in rule.attributes.iter().enumerate() {
            if attribute.is_required && has & 1 << index == 0 {
                let message = format!("`{}` needs `{}`", rule.name, attribute.name);
                let error = Diagnostic::error(Code::InvalidTemplate, message).at(element.span());
                self.say(error, section);
            }
        }
    }

    fn value(
        &mut self,
        attribute: XmlAttribute<'d>,
        rule: &'static AttributeRule,
        section: &'static str,
    ) {
        let value = attribute.collapsed();
        let (at, name) = (attribute.value_span(), rule.name);
        let wrong = |message: String| Diagnostic::error(Code::InvalidValue, message).at(at);
        let found = match rule.kind {
            AttributeKind::Text | AttributeKind::Uri => None,
            AttributeKind::Component => {
                let is_name =
                    value.split(':').all(is_unprefixed_name) && value.matches(':').count() < 2;
                (!is_name)
                    .then(|| wrong(format!("`{name}` is a name, or `prefix:name`, not `{value}`")))
            }
            AttributeKind::Name | AttributeKind::Reference | AttributeKind::Id => {
                unprefixed(&value, name).map(wrong)
            }
            AttributeKind::Truth => {
                truth(&value, name).map(|(message, help)| wrong(message).help_opt(help))
            }
            AttributeKind::Least => least(&value)
                .is_none()
                .then(|| wrong(format!("`{name}` is an integer from 0 on, not `{value}`"))),
            AttributeKind::Most if value == "UNBOUNDED" => {
                let message = format!("`{name}` is `unbounded` in small letters");
                Some(Diagnostic::warning(Code::InvalidValue, message).at(at))
            }
            AttributeKind::Most => most(&value).is_none().then(|| {
                wrong(format!("`{name}` is an integer from 1 on or `unbounded`, not `{value}`"))
            }),
        };
        if let Some(found) = found {
            self.say(found, section);
        } else if rule.kind == AttributeKind::Id {
            match self.ids.entry(value) {
                Entry::Vacant(new) => {
                    new.insert(at);
                }
                Entry::Occupied(known) => {
                    let message =
                        format!("something else in this document has the id `{}`", known.key());
                    let error = Diagnostic::error(Code::Duplicate, message).at(at);
                    let error = error.label(*known.get(), "this");
                    self.say(error, section);
                }
            }
        }
    }

    /// Checks the content of an element, and returns the known child elements.
    fn content(
        &mut self,
        element: XmlElement<'d>,
        rule: &'static ElementRule,
        section: &'static str,
    ) -> Vec<(XmlElement<'d>, &'static ElementRule)> {
        if rule.content == ElementContent::Mixed {
            return Vec::new();
        }
        let mut known = Vec::new();
        let mut counts = vec![0_usize; rule.children.len()];
        let (mut foreign, mut place, mut is_in_order) = (0, 0, true);
        for node in element.nodes() {
            let child = match node {
                XmlNode::Element(child) => child,
                XmlNode::Text(text, at) | XmlNode::Unescaped(text, at) => {
                    self.text(text, at, rule, section);
                    continue;
                }
                XmlNode::Comment(..) | XmlNode::Instruction(..) => continue,
            };
            let Some(index) = self.index(child, rule, section, &mut foreign) else { continue };
            let expected = &rule.children[index];
            counts[index] += 1;
            if expected.place < place && std::mem::take(&mut is_in_order) {
                self.misplaced(child, rule, section);
            }
            place = place.max(expected.place);
            if counts[index] == 2
                && matches!(expected.occurs, ChildOccurs::AtMostOnce | ChildOccurs::Once)
            {
                let name = expected.rule.name;
                let message = format!("`{}` may have one `{name}`, not more", rule.name);
                self.say(Diagnostic::error(Code::Duplicate, message).at(child.span()), section);
            }
            known.push((child, expected.rule));
        }
        // If a TOSCA element is unknown, it was reported, and may be meant as the missing one.
        let is_other = |child: XmlElement<'_>| {
            let name = child.name();
            let is_known = rule.children.iter().any(|known| known.rule.name == name.local);
            name.namespace == TOSCA && !is_known && name.local != DOCUMENTATION.name
        };
        if !element.elements().any(is_other) {
            self.missing(element, rule, section, &counts);
            if rule.content == ElementContent::One && foreign != 1 {
                self.one_foreign(element, rule, section, foreign);
            }
        }
        // The caller takes the elements from the end.
        known.reverse();
        known
    }

    /// The position of an element among the children of a rule.
    fn index(
        &mut self,
        child: XmlElement<'d>,
        rule: &'static ElementRule,
        section: &'static str,
        foreign: &mut usize,
    ) -> Option<usize> {
        if rule.content == ElementContent::Anything {
            return None;
        }
        let name = child.name();
        let names = || rule.children.iter().map(|child| child.rule.name);
        let index = names().position(|known| known == name.local);
        if name.namespace == TOSCA && name.local == DOCUMENTATION.name {
            self.attributes(child, &DOCUMENTATION, "4.2");
            return None;
        }
        let is_ours = name.namespace == TOSCA;
        if is_ours && let Some(index) = index {
            return Some(index);
        }
        if !is_ours && (!name.namespace.is_empty() || index.is_none()) {
            *foreign += 1;
            return None;
        }
        let message = format!("`{}` cannot stand in `{}`", name.local, rule.name);
        let error = Diagnostic::error(Code::UnknownKeyword, message).at(child.span());
        let error = match is_ours {
            true => error.help_opt(listed(names())).help_opt(did_you_mean(name.local, names())),
            false => error.help(format!("it belongs to no namespace: `xmlns=\"{TOSCA}\"`")),
        };
        self.say(error, section);
        None
    }

    fn text(&mut self, text: &str, at: Span, rule: &'static ElementRule, section: &'static str) {
        if !text.trim().is_empty() {
            let message = format!("text cannot stand in `{}`", rule.name);
            self.say(Diagnostic::error(Code::InvalidTemplate, message).at(at), section);
        }
    }

    fn misplaced(
        &mut self,
        child: XmlElement<'d>,
        rule: &'static ElementRule,
        section: &'static str,
    ) {
        let order: Vec<_> = rule.children.iter().map(|child| child.rule.name).collect();
        let message = format!("`{}` has to stand earlier in `{}`", child.name().local, rule.name);
        let warning = Diagnostic::warning(Code::ElementOrder, message).at(child.span());
        self.say(warning.help(format!("the order is {}", order.join(", "))), section);
    }

    fn missing(
        &mut self,
        element: XmlElement<'d>,
        rule: &'static ElementRule,
        section: &'static str,
        counts: &[usize],
    ) {
        for places in rule.children.chunk_by(|one, other| one.place == other.place) {
            let count: usize = rule
                .children
                .iter()
                .zip(counts)
                .filter(|(child, _)| child.place == places[0].place)
                .map(|(_, count)| count)
                .sum();
            let Some((code, message)) = wrong_count(rule, places, count) else { continue };
            let is_harmless = rule.name == DEFINITIONS.name
                && element.elements().any(|child| child.name().local == "Types");
            let mut diagnostic = Diagnostic::error(code, message).at(element.span());
            if is_harmless {
                diagnostic = diagnostic.with_severity(Severity::Warning);
            }
            self.say(diagnostic, section);
        }
    }

    fn one_foreign(
        &mut self,
        element: XmlElement<'d>,
        rule: &'static ElementRule,
        section: &'static str,
        count: usize,
    ) {
        let found = match count {
            0 => {
                let message = format!("`{}` has nothing in it", rule.name);
                Diagnostic::warning(Code::InvalidTemplate, message)
            }
            _ => {
                let message = format!("`{}` holds one element, not {count}", rule.name);
                Diagnostic::error(Code::InvalidTemplate, message)
            }
        };
        self.say(found.at(element.span()), section);
    }
}

fn listed(names: impl Iterator<Item = &'static str>) -> Option<String> {
    let names: Vec<_> = names.collect();
    (!names.is_empty()).then(|| format!("known are {}", names.join(", ")))
}

/// The error if the elements that share a place occur too often or too rarely.
fn wrong_count(rule: &ElementRule, places: &[ChildRule], count: usize) -> Option<(Code, String)> {
    if rule.name == DEFINITIONS.name {
        let message =
            || format!("`{}` defines nothing: it needs one component at least", rule.name);
        return (places.len() > 1 && count == 0).then(|| (Code::InvalidTemplate, message()));
    }
    let (of, missing) = (rule.name, Code::InvalidTemplate);
    let names = || {
        let names = places.iter().map(|child| format!("`{}`", child.rule.name));
        names.collect::<Vec<_>>().join(", ")
    };
    Some(match (places[0].occurs, count) {
        (ChildOccurs::Once, 0) => (missing, format!("`{of}` needs {}", names())),
        (ChildOccurs::AtLeastOnce, 0) => {
            (missing, format!("`{of}` needs one {} at least", names()))
        }
        (ChildOccurs::SomeOfPlace, 0) => {
            (missing, format!("`{of}` needs one of {} at least", names()))
        }
        (ChildOccurs::OneOfPlace, 0) => (missing, format!("`{of}` needs one of {}", names())),
        (ChildOccurs::OneOfPlace, 2..) => {
            (Code::Duplicate, format!("`{of}` has one of {}, not {count}", names()))
        }
        _ => return None,
    })
}

fn unprefixed(value: &str, name: &str) -> Option<String> {
    (!is_unprefixed_name(value)).then(|| {
        format!("`{name}` is a name: a letter or `_`, then letters, digits, `.`, `-`, `_`, not `{value}`")
    })
}

fn truth(value: &str, name: &str) -> Option<(String, Option<String>)> {
    let meant = match value {
        "yes" | "no" => return None,
        "true" | "1" => Some("yes"),
        "false" | "0" => Some("no"),
        _ => None,
    };
    let help = meant.map(|meant| format!("write `{name}=\"{meant}\"`"));
    Some((format!("`{name}` is `yes` or `no`, not `{value}`"), help))
}

/// A lower bound.
pub(crate) fn least(value: &str) -> Option<u64> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| value.parse().ok()).flatten()
}

/// An upper bound. The outer option is `None` for an invalid bound, the inner one for `unbounded`.
pub(crate) fn most(value: &str) -> Option<Option<u64>> {
    match value {
        "unbounded" | "UNBOUNDED" => Some(None),
        _ => least(value).filter(|&bound| bound > 0).map(Some),
    }
}
