//! Finds what is made of a name and no rename reaches: names that consist of others, and expressions
//! of other languages.

use super::TemplateAnalysis;
use super::grammar::NameFamily;
use super::symbols::{NameAtPlace, SymbolKey};
use crate::tosca::TypeId;
use crate::variability::graph::{calls_eval, names_in_identifier};
use crate::variability::options::AssignPattern;
use crate::variability::prepared::Prepared;
use cuvee_text::yaml::{Node, NodeKind};

impl<'a> TemplateAnalysis<'a> {
    /// Why a name stays, if something is made of it that would have to change, too.
    pub(super) fn why_bound(&self, found: &NameAtPlace<'_, '_>) -> Option<String> {
        let name = found.name();
        let made = match found {
            NameAtPlace::Symbol(SymbolKey::Type(id), _) if self.is_assigned(*id, name) => {
                return Some(format!(
                    "technology rules find `{name}` by this name, which is made of those of other types"
                ));
            }
            NameAtPlace::Symbol(SymbolKey::Type(id), _) => self.type_made_of(*id, name),
            _ => self.input_named_after(name),
        };
        if let Some(made) = made {
            return Some(format!(
                "{made} is made of the name `{name}`, so it would lose its meaning"
            ));
        }
        let place = self.roots.iter().find_map(|(root, _)| in_eval(*root, name, false))?;
        let place = self.told(place.span());
        Some(format!("`{name}` stands in an expression of `eval` at {place}: change that by hand"))
    }

    /// A variability input that is named like an element, and so decides about it.
    fn input_named_after(&self, name: &str) -> Option<String> {
        let has_name = |input: &str| {
            let names = names_in_identifier(input).unwrap_or_default();
            names.into_iter().any(|(_, place)| input.get(place) == Some(name))
        };
        let mut inputs = self.symbols().by_key.keys().filter_map(|key| match key {
            SymbolKey::Named(NameFamily::VariabilityInput, input) => Some(&**input),
            _ => None,
        });
        inputs.find(|input| has_name(input)).map(|input| format!("the variability input `{input}`"))
    }

    /// A type that technology rules find by a name that is made of that of another type.
    fn type_made_of(&self, id: TypeId, name: &str) -> Option<String> {
        let prepared = self.prepared?;
        // Types in no particular order.
        let all = self.names_of_types_beside(id);
        let first = all.filter(|other| is_made_of(other, name, prepared)).min()?;
        Some(format!("the type `{first}`, which technology rules assign,"))
    }

    /// Whether technology rules find a type by a name that is made of those of other types.
    fn is_assigned(&self, id: TypeId, name: &str) -> bool {
        let mut others = self.names_of_types_beside(id);
        let of = |prepared| others.any(|other| is_made_of(name, other, prepared));
        self.prepared.is_some_and(of)
    }

    /// The names of the types of the template, but for one.
    fn names_of_types_beside(&self, id: TypeId) -> impl Iterator<Item = &'a str> {
        let name = move |key: &SymbolKey| match (key, self.types) {
            (SymbolKey::Type(other), Some(types)) if *other != id => types.place(*other).1.text(),
            _ => None,
        };
        self.symbols().by_key.keys().filter_map(name)
    }
}

/// Whether a rule without `assign` may give a type a name of which another name is a part.
fn is_made_of(name: &str, part: &str, prepared: &Prepared<'_>) -> bool {
    let mut rules = prepared.rules.iter().filter(|rule| rule.assign.is_none());
    match prepared.options.assign_pattern() {
        AssignPattern::Vintner => {
            let mut parts = name.split(['~', '#', '@']).flat_map(|it| it.split("::"));
            let mut is_part = || parts.any(|it| it.split("->").any(|it| it == part));
            rules.next().is_some() && name.contains('~') && is_part()
        }
        AssignPattern::Dotted => {
            let made = |technology: &str| {
                let (first, hosts) = name.split_once(&format!(".{technology}"))?;
                let is_end = hosts.is_empty() || hosts.starts_with('.');
                let is_host = || format!("{hosts}.").contains(&format!(".{part}."));
                Some(is_end && (first == part || is_host()))
            };
            rules.any(|rule| rule.technology.as_deref().and_then(made) == Some(true))
        }
    }
}

/// The first text below a node in which `eval` of Unfurl names something, such as `::shop::port`.
fn in_eval<'n>(node: Node<'n>, name: &str, is_eval: bool) -> Option<Node<'n>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins =
        |text: &str| text.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_word));
    let ends = |text: &str| text.strip_suffix(name).is_some_and(|rest| !rest.ends_with(is_word));
    let names = |text: &str| {
        let (first, rest) = text.split_once("::").unwrap_or_default();
        ends(first) || rest.split("::").any(begins)
    };
    match node.kind() {
        NodeKind::Scalar => {
            let text = node.as_str()?;
            let is_eval = is_eval || calls_eval(text);
            (is_eval && names(text)).then_some(node)
        }
        NodeKind::Sequence => node.items().find_map(|item| in_eval(item, name, is_eval)),
        NodeKind::Mapping => node
            .entries()
            .find_map(|(key, value)| in_eval(value, name, is_eval || key.text() == Some("eval"))),
    }
}
