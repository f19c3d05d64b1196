//! Reports type names that are not defined.

use super::hierarchy::{TypeHierarchy, TypeRef};
use super::normative;
use super::profile;
use crate::diagnostic::{Advice, Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::family::Family;
use crate::tosca::value::Primitive;
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::Node;

impl TypeHierarchy<'_> {
    /// The type that the name at a node refers to, in any of these families.
    ///
    /// # Errors
    /// `unknown-type` where there is no such type.
    pub(super) fn reference(
        &self,
        families: &[Family],
        node: Node<'_>,
    ) -> Result<TypeRef, Diagnostic> {
        let name = node.text().unwrap_or_default();
        let file = Some(node.document().file());
        let found = families.iter().find_map(|family| self.resolve(file, *family, name));
        found.ok_or_else(|| self.unknown(families, name, node.span()))
    }

    /// The error for a name that no type of these families has.
    pub(super) fn unknown(&self, families: &[Family], name: &str, span: Span) -> Diagnostic {
        let wanted: Vec<_> = families.iter().map(|family| family.noun()).collect();
        let error = Diagnostic::error(
            Code::UnknownType,
            format!("there is no {} `{name}`", wanted.join(" or ")),
        );
        let error =
            error.at(span).section(families.first().map_or("3.7", |family| family.section()));
        let file = Some(span.file);
        if let Some(other) =
            Family::ALL.into_iter().find(|family| self.resolve(file, *family, name).is_some())
        {
            return error.help(format!("`{name}` is a {}", other.noun()));
        }
        let is_non_normative = |family: &Family| profile::is_non_normative(*family, name);
        if !self.is_of_2_0 && families.iter().any(is_non_normative) {
            return error.help("it is a non-normative type of chapter 9, which is there only with `--non-normative`");
        }
        let scopes = self.scopes.as_ref();
        let way = families
            .iter()
            .flat_map(|family| self.defined(*family, name))
            .find_map(|(position, _)| scopes?.prefix_for(file, position));
        if let Some(way) = way {
            return error.help(format!("it is imported as `{way}:{name}`"));
        }
        let has_prefix = |prefix| scopes.is_some_and(|scopes| scopes.has_prefix(file, prefix));
        match name.split_once(':') {
            Some((prefix, _)) if prefix != "tosca" && !has_prefix(prefix) => {
                error.help(format!("nothing is imported with the namespace prefix `{prefix}` here"))
            }
            _ => {
                let usual = usual_name(name).filter(|_| families.contains(&Family::Data));
                let usual = usual.map(|meant| Advice::did_you_mean(name, meant));
                let known = || families.iter().flat_map(|family| self.known(file, *family));
                error.help_opt(usual.or_else(|| did_you_mean(name, known())))
            }
        }
    }

    /// The type names of a family that a file can use.
    fn known(&self, file: Option<FileId>, family: Family) -> impl Iterator<Item = &str> {
        let own = self.names[family as usize]
            .keys()
            .filter(move |name| self.find_in(file, family, name).is_some());
        let primitives: &[Primitive] =
            if self.is_of_2_0 { &Primitive::OF_2_0 } else { &Primitive::ALL };
        let primitives = primitives
            .iter()
            .map(|primitive| primitive.name())
            .filter(move |_| family == Family::Data);
        let others = self.other_names[family as usize].keys();
        let normative = normative::names(family).filter(|_| !self.is_of_2_0);
        own.chain(others).copied().chain(normative).chain(primitives)
    }
}

/// The primitive type that another language calls by this name.
fn usual_name(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &[&str]); 6] = [
        ("integer", &["int", "long", "int32", "int64"]),
        ("string", &["str", "text", "varchar"]),
        ("float", &["number", "double", "decimal", "real"]),
        ("boolean", &["bool"]),
        ("list", &["array", "sequence"]),
        ("map", &["dict", "object"]),
    ];
    let lower = name.to_ascii_lowercase();
    let found = NAMES.into_iter().find(|(_, others)| others.contains(&&*lower));
    found.map(|(meant, _)| meant)
}
