//! Checks the keynames of a file of TOSCA 2.0 against the grammar, and the contents below them.

use super::names::{Names, TypeFile};
use super::{by, function};
use crate::diagnostic::{Advice, Code, Diagnostic, Severity, closest, did_you_mean};
use crate::tosca::v2_0::grammar::{
    CAPABILITY, Entity, FILE, Holds, Keyname, REQUIREMENT_RELATIONSHIP, Short,
};
use cuvee_text::yaml::{Node, NodeKind};

/// Reports what is wrong in one file.
pub(super) struct KeynameChecker<'n, 'd> {
    pub names: &'n Names<'d>,
    pub file: &'n TypeFile<'d>,
    pub found: &'n mut Vec<Diagnostic>,
}

/// Where an element stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It stands for itself.
    Own,
    /// It may refine what another type says, and then needs none of its keynames.
    Refining,
}

impl<'d> KeynameChecker<'_, 'd> {
    /// Checks the whole file.
    pub(super) fn file(&mut self, root: Node<'d>) {
        self.element(root, &FILE, Place::Own);
        let first = root.entries().next().map(|(key, _)| key);
        let is_version = |key: &Node<'_>| key.text() == Some("tosca_definitions_version");
        if let Some(key) = first.filter(|key| !is_version(key)) {
            let message = "`tosca_definitions_version` has to be the first key of a file";
            self.invalid(key, message, "6.1");
        }
        let exclusive = root.get("profile").and(root.get("service_template"));
        if exclusive.is_some() {
            let key = root.entries().find(|(key, _)| key.text() == Some("profile"));
            let message = "a file with a `profile` has no `service_template`";
            self.invalid(key.map_or(root, |(key, _)| key), message, "6.7");
        }
    }

    fn push(&mut self, at: Node<'_>, error: Diagnostic, section: &'static str) {
        self.found.push(by(error.at(at.span()), section));
    }

    fn invalid(&mut self, at: Node<'_>, message: impl Into<String>, section: &'static str) {
        self.push(at, Diagnostic::error(Code::InvalidTemplate, message), section);
    }

    fn element(&mut self, node: Node<'d>, entity: &'static Entity, place: Place) {
        if node.kind() != NodeKind::Mapping || is_value(entity, node) {
            return self.short(node, entity, place);
        }
        for (key, value) in node.entries() {
            let name = key.key_text();
            match entity.keyname(&name) {
                Some(keyname) => {
                    self.content(value, keyname, entity, below(place, node, entity));
                }
                None => self.unknown(key, &name, entity),
            }
        }
        let has = |keyname: &Keyname| {
            let renamed = entity.gone.iter().filter(|gone| gone.renamed == Some(keyname.name));
            let mut names = renamed.map(|gone| gone.name).chain([keyname.name]);
            names.any(|name| node.get(name).is_some())
        };
        let lacking = entity.keynames.iter().filter(|keyname| keyname.mandatory && !has(keyname));
        for keyname in lacking.filter(|_| place == Place::Own) {
            let message = format!("{} has to have `{}`", entity.what, keyname.name);
            self.invalid(node, message, entity.section);
        }
        self.together(node, entity);
    }

    /// What stands in place of the map of an element.
    fn short(&mut self, node: Node<'d>, entity: &'static Entity, place: Place) {
        let is_text = node.as_str().is_some();
        let fits = |short: &Short| match short {
            Short::Text | Short::Type(_) => is_text,
            Short::List => node.kind() == NodeKind::Sequence,
            Short::Value => true,
        };
        let is_empty = node.is_null()
            && (place == Place::Refining
                || entity.keynames.iter().all(|keyname| !keyname.mandatory));
        match entity.short.iter().find(|short| fits(short)) {
            Some(&Short::Type(family)) => self.names.named(self.file, family, node, self.found),
            Some(Short::Value) => function::check(node, self.names, self.file, self.found),
            Some(Short::Text | Short::List) => {}
            None if is_empty => {}
            None => {
                let message = format!("{} has to be a map, not {}", entity.what, node.describe());
                self.invalid(node, message, entity.section);
            }
        }
    }

    fn unknown(&mut self, key: Node<'_>, name: &str, entity: &'static Entity) {
        let gone = entity.gone(name);
        let error = |message| Diagnostic::error(Code::UnknownKeyword, message);
        let found = match gone {
            Some(gone) => {
                let advice = match gone.renamed {
                    Some(new) => {
                        Advice::from(format!("TOSCA 2.0 calls it `{new}`")).instead(name, new)
                    }
                    None => gone.advice.into(),
                };
                let message = format!(
                    "`{name}` is a keyname of {} in TOSCA 1.3, not in TOSCA 2.0",
                    entity.what
                );
                error(message).help(advice)
            }
            None => {
                let known =
                    || format!("known are {}", entity.names().collect::<Vec<_>>().join(", "));
                let meant =
                    did_you_mean(name, entity.names()).or_else(|| entity.advice().map(Into::into));
                error(format!("`{name}` is not a keyname of {}", entity.what))
                    .help(meant.unwrap_or_else(|| known().into()))
            }
        };
        // The text of the standard has these two, and its tables have not.
        let is_read = matches!(
            (entity.what, name),
            ("a property definition", "status") | ("an artifact definition", "version")
        );
        let severity = if is_read { Severity::Warning } else { found.severity };
        self.push(key, found.with_severity(severity), entity.section);
    }

    fn content(&mut self, node: Node<'d>, keyname: &Keyname, entity: &Entity, place: Place) {
        let name = keyname.name;
        let wrong = |checker: &mut Self, at: Node<'_>, expected: &str| {
            let message = format!("`{name}` has to be {expected}, not {}", at.describe());
            checker.invalid(at, message, entity.section);
        };
        match keyname.holds {
            Holds::Any => {}
            Holds::Text if node.as_str().is_some() || name == "description" && node.is_null() => {}
            Holds::Text => wrong(self, node, "a string"),
            Holds::Bool if node.as_bool().is_some() => {}
            Holds::Bool => wrong(self, node, "true or false"),
            Holds::List => {
                if self.is_list(node, &wrong) {
                    function::check(node, self.names, self.file, self.found);
                }
            }
            Holds::Words(words) => {
                self.is_list(node, &wrong);
                for item in node.items() {
                    self.word(item, name, words, entity.section);
                }
            }
            Holds::Value => function::check(node, self.names, self.file, self.found),
            Holds::Values => {
                if !function::is_call(node) && self.is_map(node, &wrong) {
                    node.entries().for_each(|(_, value)| {
                        function::check(value, self.names, self.file, self.found)
                    });
                }
            }
            Holds::Type(_) if node.as_str().is_none() && node.text() != Some("null") => {
                wrong(self, node, "the name of a type");
            }
            Holds::Type(family) => self.names.named(self.file, family, node, self.found),
            Holds::Types(family) => {
                self.is_list(node, &wrong);
                for item in node.items() {
                    match item.as_str() {
                        Some(_) => self.names.named(self.file, family, item, self.found),
                        None => wrong(self, item, "a list of names of types"),
                    }
                }
            }
            Holds::One(below) => self.element(node, below, place),
            Holds::Named(below) => {
                if self.is_map(node, &wrong) {
                    node.entries().for_each(|(_, body)| self.element(body, below, place));
                }
            }
            Holds::Listed(below) => {
                self.is_list(node, &wrong);
                for item in node.items() {
                    match item.entries().len() {
                        1 => item.entries().for_each(|(_, body)| self.element(body, below, place)),
                        _ => self.invalid(
                            item,
                            format!(
                                "each item of `{name}` has to be a map of one name to its content"
                            ),
                            entity.section,
                        ),
                    }
                }
            }
            Holds::Items(below) => {
                self.is_list(node, &wrong);
                node.items().for_each(|item| self.element(item, below, place));
            }
        }
    }

    fn is_list(&mut self, node: Node<'_>, wrong: &dyn Fn(&mut Self, Node<'_>, &str)) -> bool {
        let fits = node.kind() == NodeKind::Sequence || node.is_null();
        if !fits {
            wrong(self, node, "a list");
        }
        fits
    }

    fn is_map(&mut self, node: Node<'_>, wrong: &dyn Fn(&mut Self, Node<'_>, &str)) -> bool {
        let fits = node.kind() == NodeKind::Mapping || node.is_null();
        if !fits {
            wrong(self, node, "a map");
        }
        fits
    }

    fn word(&mut self, item: Node<'_>, name: &str, words: &[&'static str], section: &'static str) {
        let text = item.text().unwrap_or_default();
        if words.contains(&text) {
            return;
        }
        let message = match item.text() {
            Some(text) => format!("`{text}` is none of `{name}`"),
            None => format!("`{name}` has to be a list of words, not of {}", item.describe()),
        };
        let known = words.iter().copied();
        let meant = closest(text, known.clone()).map(|meant| Advice::did_you_mean(text, meant));
        let help = meant.unwrap_or_else(|| format!("known are {}", words.join(", ")).into());
        self.push(item, Diagnostic::error(Code::InvalidTemplate, message).help(help), section);
    }

    /// Keynames that exclude or need each other.
    fn together(&mut self, node: Node<'_>, entity: &Entity) {
        const EXCLUSIVE: [(&str, &str, &str); 4] = [
            ("an import", "url", "profile"),
            ("an import", "profile", "repository"),
            ("a workflow", "steps", "implementation"),
            ("a parameter definition", "value", "mapping"),
        ];
        let has = |name: &str| node.get(name).is_some();
        for (what, one, other) in EXCLUSIVE {
            if what == entity.what && has(one) && has(other) {
                let message = format!("{what} has `{one}` or `{other}`, not both");
                self.invalid(node, message, entity.section);
            }
        }
        match entity.what {
            "an import" if !["url", "profile", "file"].into_iter().any(has) => {
                self.invalid(node, "an import has to have `url` or `profile`", entity.section);
            }
            "an artifact definition" if has("checksum") && !has("checksum_algorithm") => {
                let message = "a `checksum` needs a `checksum_algorithm`";
                self.invalid(node, message, entity.section);
            }
            "an activity" if node.entries().len() != 1 => {
                self.invalid(node, "an activity has exactly one keyname", entity.section);
            }
            _ => {}
        }
    }
}

/// Whether what stands here is a value instead of a definition.
fn is_value(entity: &Entity, node: Node<'_>) -> bool {
    entity.short.contains(&Short::Value) && function::is_call(node)
}

/// Where the parts of this element stand: types that derive, capabilities and relationships may
/// refine what other types say.
fn below(place: Place, node: Node<'_>, entity: &'static Entity) -> Place {
    let is = |other: &'static Entity| std::ptr::eq(entity, other);
    let refines =
        node.get("derived_from").is_some() || is(&CAPABILITY) || is(&REQUIREMENT_RELATIONSHIP);
    if refines { Place::Refining } else { place }
}
