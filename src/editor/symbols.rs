//! Finds where names are defined and used, across files.

use super::TemplateAnalysis;
use super::grammar::{MemberKind, NameFamily};
use super::walk::{TypedEntity, Word, WordRole, walk_as};
use crate::tosca::types::profile;
use crate::tosca::{Family, TypeId};
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::{Node, Scalar};
use rustc_hash::FxHashMap;
use std::path::Path;

/// A name, told from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SymbolKey {
    Type(TypeId),
    Named(NameFamily, Box<str>),
    /// A part of a type, with the type that first has it.
    Member(TypeId, MemberKind, Box<str>),
}

/// A name with the places where it stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbol {
    /// The keys that define it.
    pub definitions: Vec<Span>,
    /// The words that name it.
    pub uses: Vec<Span>,
    /// The name itself.
    pub name: Box<str>,
}

/// All names of a template and its types.
#[derive(Default)]
pub(crate) struct Symbols {
    pub by_key: FxHashMap<SymbolKey, Symbol>,
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
    /// Collects the names of the documents of an analysis: those of parts of types, or all others.
    pub(crate) fn of(analysis: &TemplateAnalysis<'_>, of_members: bool) -> Self {
        let mut symbols = Self::default();
        for &(root, content) in &analysis.roots {
            walk_as(root, content, &mut |word| {
                if word.is_member() == of_members {
                    symbols.define(analysis, word);
                }
            });
        }
        for &(root, content) in &analysis.roots {
            walk_as(root, content, &mut |word| {
                if word.is_member() == of_members
                    && let Some(key) = named(analysis, &symbols, word)
                    && let Some(span) = inner(analysis, word.node)
                {
                    symbols.by_key.entry(key).or_default().uses.push(span);
                }
            });
        }
        symbols
    }

    fn define(&mut self, analysis: &TemplateAnalysis<'_>, word: Word<'_>) {
        let WordRole::Defines(family) = word.role else { return };
        let (Some(key), Some(span)) = (defined(analysis, family, word), inner(analysis, word.node))
        else {
            return;
        };
        let symbol = self.by_key.entry(key).or_default();
        symbol.definitions.push(span);
        symbol.name = word.node.text().unwrap_or_default().into();
    }

    /// The symbol of which a place is at an offset.
    fn at(&self, file: Span) -> Option<(&SymbolKey, &Symbol, Span)> {
        let is_there =
            |span: &Span| span.file == file.file && (span.start..=span.end).contains(&file.start);
        self.by_key
            .iter()
            .find_map(|(key, symbol)| Some((key, symbol, symbol.all().find(is_there)?)))
    }
}

fn defined(
    analysis: &TemplateAnalysis<'_>,
    family: NameFamily,
    word: Word<'_>,
) -> Option<SymbolKey> {
    let text = word.node.text()?;
    match family {
        NameFamily::Type(family) => type_named(analysis, family, word.node).map(SymbolKey::Type),
        NameFamily::Member(kind) => {
            let file = Some(word.node.span().file);
            let of = analysis.type_of(file, word.typed?)?;
            let owner = analysis.owner(of, kind, text)?;
            Some(SymbolKey::Member(owner, kind, text.into()))
        }
        family => Some(SymbolKey::Named(family, text.into())),
    }
}

fn type_named(analysis: &TemplateAnalysis<'_>, family: Family, node: Node<'_>) -> Option<TypeId> {
    analysis.types?.find_in(Some(node.span().file), family, node.text()?)
}

/// The name that a word means.
fn named(analysis: &TemplateAnalysis<'_>, symbols: &Symbols, word: Word<'_>) -> Option<SymbolKey> {
    let WordRole::Names(families) = word.role else { return None };
    let means = |family: &NameFamily| match defined(analysis, *family, word)? {
        key @ SymbolKey::Type(_) => Some(key),
        key => symbols.by_key.contains_key(&key).then_some(key),
    };
    families.iter().find_map(means)
}

/// The place of the text of a scalar, without quotes; none where it is written otherwise.
pub(super) fn inner(analysis: &TemplateAnalysis<'_>, node: Node<'_>) -> Option<Span> {
    let (span, text) = (node.span(), node.text()?);
    let written = analysis.read()?.snippet(span);
    if written == text {
        return Some(span);
    }
    let quoted = written.get(1..written.len().checked_sub(1)?)?;
    (quoted == text).then_some(Span { start: span.start + 1, end: span.end - 1, ..span })
}

impl TemplateAnalysis<'_> {
    /// All places of the name at an offset of a file, in order.
    pub fn places(&self, path: &Path, offset: usize) -> Vec<SymbolPlace> {
        let found = self.at(path, offset).map(|(_, symbol, _)| self.places_of(symbol));
        found.unwrap_or_default()
    }

    /// What can be renamed at an offset: the place of the name, and the name.
    ///
    /// # Errors
    /// Why nothing can be renamed there.
    pub fn renamable(&self, path: &Path, offset: usize) -> Result<(Span, String), String> {
        let nothing = "there is no name of a type, a template, an input or the like here";
        if let Some(why) = self.file(path).and_then(|file| self.why_fixed(file)) {
            return Err(why);
        }
        let (key, symbol, span) = self.at(path, offset).ok_or(nothing)?;
        if let SymbolKey::Member(_, kind, name) = key {
            let what = kind.noun();
            return Err(format!("`{name}` is a {what}: not all places that use it are known"));
        }
        if let SymbolKey::Type(id) = key
            && let Some(types) = self.types
        {
            let definition = types.definition(*id);
            if profile::is_built_in(definition.key.span().file) {
                let name = definition.name;
                return Err(format!("`{name}` is a type of TOSCA, so its name stays"));
            }
        }
        if let Some(why) = symbol.all().find_map(|span| self.why_fixed(span.file)) {
            return Err(format!("`{}` stands elsewhere, too: {why}", symbol.name));
        }
        if self.mended.files.iter().any(|file| file.has_lost(&symbol.name)) {
            let name = &symbol.name;
            return Err(format!("`{name}` stands in a broken line, too: repair that first"));
        }
        let span = self.typed_word(span).ok_or("the line is broken")?;
        Ok((span, symbol.name.to_string()))
    }

    /// The changes that rename what is at an offset: places, each with its new text.
    ///
    /// # Errors
    /// Why it cannot be renamed, or not so.
    pub fn rename(
        &self,
        path: &Path,
        offset: usize,
        new: &str,
    ) -> Result<Vec<(Span, String)>, String> {
        self.renamable(path, offset)?;
        let Some((key, symbol, _)) = self.at(path, offset) else { return Ok(Vec::new()) };
        if !is_plain_name(new) {
            return Err(format!("`{new}` cannot be a name: use letters, digits, `_`, `-` and `.`"));
        }
        let is_taken = |(other, it): (&SymbolKey, &Symbol)| {
            *it.name == *new && family_of(self, other) == family_of(self, key)
        };
        if self.symbols().by_key.iter().any(is_taken) {
            return Err(format!("there is a `{new}` already"));
        }
        let mut changes = Vec::new();
        for SymbolPlace { span, .. } in self.places_of(symbol) {
            let written = self.sources.snippet(span);
            // The name of an imported type may stand behind a prefix.
            let Some(prefix) = written.strip_suffix(&*symbol.name) else {
                return Err(format!("`{written}` is another name of it, which cannot be changed"));
            };
            changes.push((span, format!("{prefix}{new}")));
        }
        Ok(changes)
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

    /// Where the name at a place of the text that was read is defined.
    pub(crate) fn definitions_at(&self, at: Span) -> &[Span] {
        self.symbol(at).map_or(&[], |(_, symbol, _)| &symbol.definitions)
    }

    /// The family of the name that a word means.
    pub(crate) fn family_of(&self, word: Word<'_>) -> Option<(NameFamily, bool)> {
        let key = named(self, self.symbols(), word)?;
        let is_built_in = match &key {
            SymbolKey::Type(id) => {
                let types = self.types?;
                types.place(*id).1.span().file.is_built_in()
            }
            SymbolKey::Named(..) | SymbolKey::Member(..) => false,
        };
        Some((family_of(self, &key)?, is_built_in))
    }

    /// The name at a place of the text that was read.
    pub(crate) fn symbol_at(&self, at: Span) -> Option<(&SymbolKey, &str)> {
        let (key, symbol, _) = self.symbol(at)?;
        Some((key, &symbol.name))
    }

    fn at(&self, path: &Path, offset: usize) -> Option<(&SymbolKey, &Symbol, Span)> {
        self.symbol(self.read_span(path, offset)?)
    }

    /// The symbol at a place. Parts of types are many, so they are looked for only where one is
    /// asked for.
    fn symbol(&self, at: Span) -> Option<(&SymbolKey, &Symbol, Span)> {
        let is_member = || {
            let mut found = false;
            let here = self.roots.iter().filter(|(root, _)| root.document().file() == at.file);
            here.for_each(|&(root, content)| {
                walk_as(root, content, &mut |word| {
                    let span = word.node.span();
                    let is_here = (span.start..=span.end).contains(&at.start);
                    found |= is_here && word.is_member();
                });
            });
            found
        };
        self.symbols().at(at).or_else(|| {
            let members = || Symbols::of(self, true);
            is_member().then(|| self.members.get_or_init(members).at(at)).flatten()
        })
    }

    /// The type of an element that has one type only, or that a definition defines.
    pub(crate) fn type_of(&self, file: Option<FileId>, entity: TypedEntity<'_>) -> Option<TypeId> {
        let types = self.types?;
        if let Some(name) = entity.defines {
            return types.find_in(file, entity.family, name.text()?);
        }
        let name = entity.body.get("type")?;
        let name = name.as_str().or_else(|| {
            let mut items = name.items();
            let only = items.next().filter(|_| items.next().is_none())?;
            only.as_str().or_else(|| only.entries().next()?.0.text())
        })?;
        types.find_in(file, entity.family, name)
    }

    /// The ancestor of a type that first has a part.
    fn owner(&self, of: TypeId, kind: MemberKind, name: &str) -> Option<TypeId> {
        let types = self.types?;
        let has = |id: &TypeId| {
            let effective = types.effective(*id);
            match kind {
                MemberKind::Property => effective.properties.contains_key(name),
                MemberKind::Attribute => effective.attributes.contains_key(name),
                MemberKind::Capability => effective.capabilities.contains_key(name),
                MemberKind::Requirement => effective.requirements.contains_key(name),
                MemberKind::Interface => effective.interfaces.contains_key(name),
            }
        };
        types.chain(of).take_while(has).last()
    }

    fn places_of(&self, symbol: &Symbol) -> Vec<SymbolPlace> {
        let places = |spans: &[Span], defines: bool| -> Vec<SymbolPlace> {
            let typed = spans.iter().filter_map(|&span| self.typed_word(span));
            typed.map(|span| SymbolPlace { span, defines }).collect()
        };
        let mut all = places(&symbol.definitions, true);
        all.extend(places(&symbol.uses, false));
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn family_of(analysis: &TemplateAnalysis<'_>, key: &SymbolKey) -> Option<NameFamily> {
    match key {
        SymbolKey::Type(id) => Some(NameFamily::Type(analysis.types?.place(*id).0)),
        SymbolKey::Named(family, _) => Some(*family),
        SymbolKey::Member(_, kind, _) => Some(NameFamily::Member(*kind)),
    }
}

/// Whether a text is a name wherever it stands, without quotes.
fn is_plain_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(is_inner)
        && matches!(Scalar::plain(text), Scalar::String(_))
}
