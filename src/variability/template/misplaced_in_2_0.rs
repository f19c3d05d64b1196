//! Finds words of variability in parts of templates of TOSCA 2.0 where they have no meaning. Its
//! grammar says which parts there are.

use super::misplaced::{common, misplaced, named, wrapping};
use super::shape::is_keyword;
use crate::diagnostic::{Diagnostics, Rule, TOSCA_2_0};
use crate::tosca::v2_0::grammar::{
    ElementGrammar, ElementKeyname, EntityKind, FILE, KeynameContent,
};
use crate::tosca::v2_0::{called, written};
use cuvee_text::yaml::{Node, NodeKind};

/// Reports each word of variability in a plain part of a variable template.
pub(super) fn words(root: Node<'_>, diagnostics: &mut Diagnostics) {
    WordFinder { diagnostics }.element(root, &FILE, true);
}

struct WordFinder<'d> {
    diagnostics: &'d mut Diagnostics,
}

impl WordFinder<'_> {
    /// Looks through an element. If it `is_conditional`, who reads it judges its words.
    fn element(&mut self, node: Node<'_>, entity: &ElementGrammar, is_conditional: bool) {
        let is_value = called(node).is_some() || entity.takes_value(node, &is_keyword);
        if node.kind() != NodeKind::Mapping || is_value {
            return;
        }
        for (key, value) in node.entries() {
            let name = written(key);
            match entity.keyname(name) {
                Some(keyname) => self.content(value, keyname, entity, is_conditional),
                None if !is_conditional && is_keyword(name) => {
                    self.report([key], entity.what, entity);
                }
                None => {}
            }
        }
    }

    fn content(
        &mut self,
        value: Node<'_>,
        keyname: &ElementKeyname,
        entity: &ElementGrammar,
        is_conditional: bool,
    ) {
        let name = keyname.name;
        match keyname.holds {
            KeynameContent::Values if name == "properties" && is_conditional => {
                let asking = named(value).flat_map(|(_, body)| expressed(body, &|_| false));
                self.report(asking, "a value without `expression`", entity);
            }
            KeynameContent::Value if matches!(name, "count" | "optional") => {
                let is_word = |word: &str| word == "variability_input" || is_keyword(word);
                let words = expressed(value, &is_word);
                self.report(words, &format!("the `{name}` of {}", entity.what), entity);
            }
            KeynameContent::Values if name == "allocation" => {
                let words = wrapping(value).chain(common(value));
                self.report(words, "an allocation", entity);
            }
            KeynameContent::Values => {
                let what = match name {
                    "attributes" => "an attribute".to_owned(),
                    "inputs" => format!("an input of {}", entity.what),
                    _ => format!("a property of {}", entity.what),
                };
                self.report(wrapping(value), &what, entity);
            }
            KeynameContent::Any | KeynameContent::List
                if entity.kind == EntityKind::SubstitutionMapping =>
            {
                let bodies = named(value).map(|(_, body)| body);
                let words = value.items().chain(bodies).flat_map(common);
                self.report(words, "a mapping", entity);
            }
            _ => {
                let below = is_conditional && has_conditional(entity.kind, name);
                keyname.holds.bodies(value, &mut |body, part| self.element(body, part, below));
            }
        }
    }

    fn report<'n>(
        &mut self,
        words: impl IntoIterator<Item = Node<'n>>,
        what: &str,
        entity: &ElementGrammar,
    ) {
        let rule = || Rule::new(&TOSCA_2_0, entity.section);
        self.diagnostics.0.extend(words.into_iter().map(|key| misplaced(key, what).rule(rule())));
    }
}

/// The keys of a map that are such words, or ask for a variability input.
fn expressed<'n>(map: Node<'n>, is_word: &dyn Fn(&str) -> bool) -> Vec<Node<'n>> {
    let is_it = |key: &Node<'_>| written(*key) == "$variability_input" || is_word(written(*key));
    map.entries().map(|(key, _)| key).filter(is_it).collect()
}

/// Whether elements of variability stand below a keyname of this element.
fn has_conditional(kind: EntityKind, keyname: &str) -> bool {
    const OF_SERVICE: [&str; 6] =
        ["inputs", "outputs", "node_templates", "relationship_templates", "groups", "policies"];
    match kind {
        EntityKind::File => ["imports", "service_template"].contains(&keyname),
        EntityKind::ServiceTemplate => OF_SERVICE.contains(&keyname),
        EntityKind::NodeTemplate => ["requirements", "artifacts"].contains(&keyname),
        EntityKind::RequirementAssignment => keyname == "relationship",
        _ => false,
    }
}
