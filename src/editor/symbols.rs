//! Finds where names are defined and used, across files. Names of parts of types are found by
//! [`members`](super::members).

use super::TemplateAnalysis;
use super::grammar::{MemberKind, NameFamily};
use super::members::MemberName;
use super::walk::{Word, WordRole, is_at, walk_as};
use crate::tosca::{Family, TypeId};
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::path::Path;

/// A name, told from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SymbolKey {
    Type(TypeId),
    Named(NameFamily, Box<str>),
}

/// A name with the places where it stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbol {
    /// The keys that define it.
    pub definitions: Vec<Span>,
    /// The words that name it.
    pub uses: Vec<Span>,
    /// Words that name it in other letters than those of the name, such as `\x41`.
    pub written_otherwise: Vec<Span>,
    /// The name itself.
    pub name: Box<str>,
}

/// All names of a template and its types, but for those of parts of types.
#[derive(Clone, Default)]
pub(crate) struct Symbols {
    pub by_key: FxHashMap<SymbolKey, Symbol>,
}

/// The name that stands at a place.
pub(super) enum NameAtPlace<'s, 'a> {
    Symbol(&'s SymbolKey, &'s Symbol),
    Member(MemberName<'a>),
}

/// A place where a name stands, as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SymbolPlace {
    /// The place.
    pub span: Span,
    /// Whether the name is defined there.
    pub defines: bool,
}

/// A name that is defined in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct DefinedName {
    /// The name.
    pub name: String,
    /// What it is a name of, such as `node type`.
    pub what: &'static str,
    /// The place of the definition.
    pub span: Span,
}

impl Symbol {
    /// All places of the name.
    pub(crate) fn all(&self) -> impl Iterator<Item = Span> {
        self.definitions.iter().chain(&self.uses).copied()
    }
}

impl Symbols {
    /// Collects the names that the documents of an analysis define.
    pub(super) fn defined(analysis: &TemplateAnalysis<'_>) -> Self {
        let mut symbols = Self::default();
        for &(root, content) in &analysis.roots {
            walk_as(root, content, &mut |word| symbols.define(analysis, word));
        }
        symbols
    }

    /// Adds where the names are used.
    pub(super) fn with_uses(self, analysis: &TemplateAnalysis<'_>) -> Self {
        let mut symbols = self;
        for &(root, content) in &analysis.roots {
            walk_as(root, content, &mut |word| {
                let Some(key) = named(analysis, &symbols, word) else { return };
                let symbol = symbols.by_key.entry(key).or_default();
                match analysis.place(&word) {
                    Some(span) => symbol.uses.push(span),
                    None => symbol.written_otherwise.push(word.node.span()),
                }
            });
        }
        symbols
    }

    fn define(&mut self, analysis: &TemplateAnalysis<'_>, word: Word<'_, '_>) {
        let WordRole::Defines(family) = word.role else { return };
        let Some(key) = key_of(analysis, family, word) else { return };
        let symbol = self.by_key.entry(key).or_default();
        symbol.name = word.node.text().unwrap_or_default().into();
        match analysis.place(&word) {
            Some(span) => symbol.definitions.push(span),
            None => symbol.written_otherwise.push(word.node.span()),
        }
    }

    /// The symbol of which a place is at an offset.
    fn at(&self, file: Span) -> Option<(&SymbolKey, &Symbol, Span)> {
        let is_there = |span: &Span| is_at(*span, file);
        self.by_key
            .iter()
            .find_map(|(key, symbol)| Some((key, symbol, symbol.all().find(is_there)?)))
    }
}

fn key_of(
    analysis: &TemplateAnalysis<'_>,
    family: NameFamily,
    word: Word<'_, '_>,
) -> Option<SymbolKey> {
    let text = word.text()?;
    match family {
        NameFamily::Type(family) => type_named(analysis, family, word).map(SymbolKey::Type),
        NameFamily::Member(_) => None,
        family => Some(SymbolKey::Named(family, text.into())),
    }
}

fn type_named(
    analysis: &TemplateAnalysis<'_>,
    family: Family,
    word: Word<'_, '_>,
) -> Option<TypeId> {
    analysis.types?.find_in(Some(word.node.span().file), family, word.text()?)
}

/// The name that a word means.
fn named(
    analysis: &TemplateAnalysis<'_>,
    symbols: &Symbols,
    word: Word<'_, '_>,
) -> Option<SymbolKey> {
    let WordRole::Names(families) = word.role else { return None };
    let means = |family: &NameFamily| match key_of(analysis, *family, word)? {
        key @ SymbolKey::Type(_) => Some(key),
        key => symbols.by_key.contains_key(&key).then_some(key),
    };
    let key = families.iter().find_map(means)?;
    // Where a part may be named, or a type of parts, a part is meant if there is one.
    let is_part = word.may_be_member() && analysis.names_part(&word);
    (!is_part).then_some(key)
}

impl<'a> TemplateAnalysis<'a> {
    /// All places of the name at an offset of a file, in order.
    pub fn places(&self, path: &Path, offset: usize) -> Vec<SymbolPlace> {
        let found = self.read_span(path, offset).and_then(|at| self.name_at(at));
        match found {
            Some((NameAtPlace::Symbol(_, it), _)) => self.places_of(&it.definitions, &it.uses),
            Some((NameAtPlace::Member(it), _)) => self.places_of(&it.definitions, &it.uses),
            None => Vec::new(),
        }
    }

    /// The names that the files of the template define, in the order of the files.
    pub fn names(&self) -> Vec<DefinedName> {
        let of = |(key, symbol): (&SymbolKey, &Symbol)| {
            let what = family_of(self, key).map_or("name", NameFamily::noun);
            let name = symbol.name.to_string();
            let written = symbol.definitions.iter().filter(|span| !span.file.is_built_in());
            let spans = written.filter_map(|&span| self.typed_span(span));
            spans.map(|span| DefinedName { name: name.clone(), what, span }).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = self.symbols().by_key.iter().flat_map(of).collect();
        found.sort_unstable_by(|one, other| (one.span, &one.name).cmp(&(other.span, &other.name)));
        found
    }

    /// The family of the name that a word means.
    pub(crate) fn family_of(&self, word: Word<'_, '_>) -> Option<(NameFamily, bool)> {
        let key = named(self, self.symbols(), word)?;
        let is_built_in = match &key {
            SymbolKey::Type(id) => {
                let types = self.types?;
                types.place(*id).1.span().file.is_built_in()
            }
            SymbolKey::Named(..) => false,
        };
        Some((family_of(self, &key)?, is_built_in))
    }

    /// The name at a place of the text that was read, with the place of its word. Parts of types
    /// are many, so they are looked for only where one is asked for.
    pub(super) fn name_at(&self, at: Span) -> Option<(NameAtPlace<'_, 'a>, Span)> {
        let symbol = self.symbols().at(at);
        let symbol = symbol.map(|(key, symbol, span)| (NameAtPlace::Symbol(key, symbol), span));
        symbol.or_else(|| {
            let member = self.member_at(&[at], None)?;
            let span = member.places().find(|span| is_at(*span, at))?;
            Some((NameAtPlace::Member(member), span))
        })
    }

    /// The place of a word, without quotes; none where it is written otherwise.
    pub(super) fn place(&self, word: &Word<'_, '_>) -> Option<Span> {
        let span = self.inner(word.node)?;
        let Some((start, end)) = word.piece else { return Some(span) };
        let at = |offset: usize| Some(span.start + u32::try_from(offset).ok()?);
        Some(Span { start: at(start)?, end: at(end)?, ..span })
    }

    /// The place of the text of a scalar, without quotes; none where it is written otherwise.
    pub(super) fn inner(&self, node: Node<'_>) -> Option<Span> {
        let (span, text) = (node.span(), node.text()?);
        let written = self.read()?.snippet(span);
        if written == text {
            return Some(span);
        }
        let quoted = written.get(1..written.len().checked_sub(1)?)?;
        (quoted == text).then_some(Span { start: span.start + 1, end: span.end - 1, ..span })
    }

    pub(super) fn places_of(&self, definitions: &[Span], uses: &[Span]) -> Vec<SymbolPlace> {
        let places = |spans: &[Span], defines: bool| -> Vec<SymbolPlace> {
            let typed = spans.iter().filter_map(|&span| self.typed_word(span));
            typed.map(|span| SymbolPlace { span, defines }).collect()
        };
        let mut all = places(definitions, true);
        all.extend(places(uses, false));
        all.sort_unstable();
        all.dedup();
        all
    }
}

pub(super) fn family_of(analysis: &TemplateAnalysis<'_>, key: &SymbolKey) -> Option<NameFamily> {
    match key {
        SymbolKey::Type(id) => Some(NameFamily::Type(analysis.types?.place(*id).0)),
        SymbolKey::Named(family, _) => Some(*family),
    }
}

impl MemberKind {
    /// Whether parts of two kinds may be called the same way: a property is an attribute, too.
    pub(super) fn may_be(self, other: Self) -> bool {
        let has_value = |kind| matches!(kind, Self::Property | Self::Attribute);
        self == other || has_value(self) && has_value(other)
    }
}
