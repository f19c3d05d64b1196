//! Renames: changes all places of a name, or says why that cannot be.

use super::TemplateAnalysis;
use super::grammar::{MemberKind, WRAPPED};
use super::members::MemberName;
use super::symbols::{NameAtPlace, Symbol, SymbolKey, SymbolPlace, family_of};
use crate::tosca::function::Function;
use crate::tosca::sensitive::is_sensitive_name;
use crate::tosca::shape::INTERFACE;
use crate::tosca::types::MANAGEMENT_INTERFACE;
use crate::tosca::types::profile::{self, RESERVED_NAMES};
use crate::tosca::{Family, LifecycleOperation};
use cuvee_text::source::{SourceText, Span, normalize};
use cuvee_text::yaml::{Node, Scalar};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

type Changes = Vec<(Span, String)>;

/// A change of a name in all files that have it, whatever templates they belong to.
///
/// ```
/// use cuvee::editor::Renaming;
/// use cuvee::source::MemoryFiles;
/// let types = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: {Shop: {properties: {port: {type: integer}}}}\n";
/// let shop = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template: {node_templates: {a: {type: Shop, properties: {port: 80}}}}\n";
/// let files = MemoryFiles::from([("types.yaml", types), ("shop.yaml", shop)]);
/// let of = |name: &str| cuvee::Resolver::new(name).files(files.clone());
/// let offset = types.find("port").unwrap();
/// let mut renaming = of("types.yaml")
///     .analysis(None, |analysis| Renaming::start(analysis, "types.yaml".as_ref(), offset, "door"))
///     .unwrap();
/// assert_eq!(renaming.changes().count(), 1);
/// assert!(of("shop.yaml").analysis(None, |analysis| renaming.spread(analysis)).unwrap());
/// assert_eq!(renaming.changes().count(), 2);
/// ```
pub struct Renaming {
    old: String,
    new: String,
    files: BTreeMap<PathBuf, RenamedFile>,
}

/// A file in which a name is changed.
struct RenamedFile {
    text: SourceText,
    /// The new words, by their places.
    changes: BTreeMap<(usize, usize), String>,
}

/// A word that is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedWord<'r> {
    /// The file.
    pub path: &'r Path,
    /// Its text.
    pub text: &'r SourceText,
    /// The bytes of the word.
    pub range: Range<usize>,
    /// What is written in its place.
    pub new: &'r str,
}

impl Renaming {
    /// Renames what is at an offset of a file, in the files of a template.
    ///
    /// # Errors
    /// Why it cannot be renamed, or not so.
    pub fn start(
        analysis: &TemplateAnalysis<'_>,
        path: &Path,
        offset: usize,
        new: &str,
    ) -> Result<Self, String> {
        let (_, old) = analysis.renamable(path, offset)?;
        let mut renaming = Self { old, new: new.to_owned(), files: BTreeMap::new() };
        renaming.add(analysis, analysis.rename(path, offset, new)?);
        Ok(renaming)
    }

    /// Renames the same in the files of another template, as far as it has what was renamed before.
    /// Returns whether that changes anything more.
    ///
    /// # Errors
    /// Why it cannot be renamed there.
    pub fn spread(&mut self, analysis: &TemplateAnalysis<'_>) -> Result<bool, String> {
        let mut seeds = Vec::new();
        for (path, file) in &self.files {
            let starts = file.changes.keys().map(|(start, _)| *start);
            seeds.extend(starts.filter_map(|start| analysis.read_span(path, start)));
        }
        let changes = analysis.renamed(&seeds, &self.new)?;
        Ok(self.add(analysis, changes))
    }

    /// The name that is changed.
    pub fn old(&self) -> &str {
        &self.old
    }

    /// The words that are changed.
    pub fn changes(&self) -> impl Iterator<Item = ChangedWord<'_>> {
        self.files.iter().flat_map(|(path, RenamedFile { text, changes })| {
            changes.iter().map(|(&(start, end), new)| ChangedWord {
                path,
                text,
                range: start..end,
                new,
            })
        })
    }

    fn add(&mut self, analysis: &TemplateAnalysis<'_>, changes: Changes) -> bool {
        let mut is_new = false;
        for (span, new) in changes {
            let file = analysis.sources.file(span.file);
            let known = self.files.entry(normalize(file.path()));
            let known = known.or_insert_with(|| RenamedFile {
                text: file.text().clone(),
                changes: BTreeMap::new(),
            });
            let place = (span.start as usize, span.end as usize);
            is_new |= known.changes.insert(place, new).is_none();
        }
        is_new
    }
}

impl<'a> TemplateAnalysis<'a> {
    /// What can be renamed at an offset: the place of the name, and the name.
    ///
    /// # Errors
    /// Why nothing can be renamed there.
    pub fn renamable(&self, path: &Path, offset: usize) -> Result<(Span, String), String> {
        let nothing = "there is no name of a type, a template, an input or the like here";
        if let Some(why) = self.file(path).and_then(|file| self.why_fixed(file)) {
            return Err(why);
        }
        let at = self.read_span(path, offset).and_then(|at| self.name_at(at));
        let (found, span) = at.ok_or(nothing)?;
        self.check(&found)?;
        let span = self.typed_word(span).ok_or("the line is broken")?;
        Ok((span, found.name().to_owned()))
    }

    /// The changes that rename what is at an offset: places, each with its new text.
    ///
    /// # Errors
    /// Why it cannot be renamed, or not so.
    pub fn rename(&self, path: &Path, offset: usize, new: &str) -> Result<Changes, String> {
        self.renamable(path, offset)?;
        self.renamed(self.read_span(path, offset).as_slice(), new)
    }

    /// The changes that rename what is at some places, as far as there is anything.
    fn renamed(&self, places: &[Span], new: &str) -> Result<Changes, String> {
        if !is_plain_name(new) {
            return Err(format!("`{new}` cannot be a name: use letters, digits, `_`, `-` and `.`"));
        }
        if RESERVED_NAMES.contains(&new) {
            return Err(format!("`{new}` cannot be a name: expressions use it as a word"));
        }
        let (mut changes, mut done) = (Vec::new(), FxHashSet::default());
        for at in places {
            if done.contains(&(at.file, at.start)) {
                continue;
            }
            let Some((found, _)) = self.name_at(*at) else { continue };
            match &found {
                NameAtPlace::Symbol(key, symbol) => {
                    done.extend(symbol.all().map(|span| (span.file, span.start)));
                    self.check(&found)?;
                    self.is_free(key, new)?;
                    self.change(
                        &symbol.name,
                        (&symbol.definitions, &symbol.uses),
                        new,
                        &mut changes,
                    )?;
                }
                // All places of parts that share a name are found at once.
                NameAtPlace::Member(_) => {
                    let Some(member) = self.member_at(places, Some(new)) else { continue };
                    let spans = (&*member.definitions, &*member.uses);
                    let name = member.name;
                    self.is_meant_alike(&member, new)?;
                    self.change(name, spans, new, &mut changes)?;
                    self.check(&NameAtPlace::Member(member))?;
                    break;
                }
            }
        }
        Ok(changes)
    }

    fn change(
        &self,
        name: &str,
        (definitions, uses): (&[Span], &[Span]),
        new: &str,
        changes: &mut Changes,
    ) -> Result<(), String> {
        for SymbolPlace { span, .. } in self.places_of(definitions, uses) {
            let written = self.sources.snippet(span);
            // The name of an imported type may stand behind a prefix.
            let Some(prefix) = written.strip_suffix(name) else {
                return Err(format!("`{written}` is another name of it, which cannot be changed"));
            };
            changes.push((span, format!("{prefix}{new}")));
        }
        Ok(())
    }

    /// Checks that a name can be another one.
    fn check(&self, found: &NameAtPlace<'_, '_>) -> Result<(), String> {
        let name = found.name();
        let built_in = match found {
            NameAtPlace::Symbol(SymbolKey::Type(id), _) => {
                self.types.filter(|types| profile::is_built_in(types.place(*id).1.span().file))
            }
            NameAtPlace::Member(member) => self.types.filter(|_| {
                member.parts.iter().any(|part| profile::is_built_in(part.key.span().file))
            }),
            NameAtPlace::Symbol(..) => None,
        };
        if built_in.is_some() {
            let what = match found {
                NameAtPlace::Member(member) => self.of_tosca(member),
                NameAtPlace::Symbol(..) => "a type of TOSCA".to_owned(),
            };
            return Err(format!("`{name}` is {what}, so its name stays"));
        }
        let mut all = found.places().chain(found.written_otherwise().iter().copied());
        if let Some(why) = all.find_map(|span| self.why_fixed(span.file)) {
            return Err(format!("`{name}` stands elsewhere, too: {why}"));
        }
        if self.is_lost(found) {
            return Err(format!("`{name}` stands in a broken line, too: repair that first"));
        }
        if let Some(span) = found.written_otherwise().first() {
            let place = self.told(*span);
            return Err(format!(
                "`{name}` is written in other letters at {place}: change that first"
            ));
        }
        if let Some(why) = self.why_bound(found) {
            return Err(why);
        }
        let NameAtPlace::Member(member) = found else { return Ok(()) };
        if let Some(span) = member.undecided.first() {
            let place = self.told(*span);
            let why = "what it is a part of is not known there";
            return Err(format!("`{name}` at {place} may be the same: {why}"));
        }
        self.has_no_other_meaning(member, name)
    }

    /// Whether a name may stand in a broken file where it was not read: what is no place of it and
    /// of no other name may be one once the file is repaired.
    fn is_lost(&self, found: &NameAtPlace<'_, '_>) -> bool {
        let places = found.places().filter_map(|span| self.typed_word(span));
        let places: FxHashSet<_> = places.map(|span| (span.file, span.end)).collect();
        self.mended.files.iter().any(|file| {
            let id = self.file(file.path());
            let is_place = |at: usize| {
                let end = u32::try_from(at + found.name().len()).ok();
                id.zip(end).is_some_and(|place| places.contains(&place))
            };
            let is_other = |at: usize| {
                let read = self.read_span(file.path(), at);
                let other = read.and_then(|read| self.name_at(read));
                // What was taken away for reading is at no place of its own.
                let typed = other.and_then(|(_, span)| self.typed_word(span));
                typed.is_some_and(|it| (it.start as usize..=it.end as usize).contains(&at))
            };
            file.words(found.name()).any(|at| !is_place(at) && !is_other(at))
        })
    }

    /// What a part of a type of TOSCA is.
    fn of_tosca(&self, member: &MemberName<'_>) -> String {
        let mut parts = member.parts.iter();
        let fixed = parts.find(|part| profile::is_built_in(part.key.span().file));
        let said = fixed.zip(self.types).map(|(part, types)| {
            let (noun, of) = (part.kind.noun(), types.place(part.owner).1.text());
            format!("the {noun} of `{}`, a type of TOSCA", of.unwrap_or_default())
        });
        said.unwrap_or_default()
    }

    /// Checks that nothing of the same kind has a name.
    fn is_free(&self, key: &SymbolKey, new: &str) -> Result<(), String> {
        let is_taken = |(other, it): (&SymbolKey, &Symbol)| {
            *it.name == *new && family_of(self, other) == family_of(self, key)
        };
        match self.symbols().by_key.iter().any(is_taken) {
            true => Err(format!("there is a `{new}` already")),
            false => Ok(()),
        }
    }

    /// Checks that the new name of a part means to everybody what the old one does.
    fn is_meant_alike(&self, member: &MemberName<'_>, new: &str) -> Result<(), String> {
        if let Some(span) = member.clashes.first() {
            return Err(format!("there is a `{new}` already, at {}", self.told(*span)));
        }
        self.has_no_other_meaning(member, new)?;
        let old = member.name;
        let has = |kind: MemberKind| member.parts.iter().any(|part| part.kind == kind);
        if has(MemberKind::Requirement) && is_host(old) != is_host(new) {
            let why = "the word `host` in the name of a requirement says that it leads to a host";
            return Err(format!("`{old}` cannot be `{new}`: {why}"));
        }
        let is_said =
            |body: Node<'_>| body.get("metadata").is_some_and(|it| it.get("sensitive").is_some());
        let has_values = has(MemberKind::Property) || has(MemberKind::Attribute);
        let is_said = member.parts.iter().all(|part| is_said(part.body));
        if has_values && !is_said && is_sensitive_name(old) != is_sensitive_name(new) {
            let why = "by the one name values are kept secret, by the other they are not";
            let help = "say so in its `metadata` first, by `sensitive: true` or `false`";
            return Err(format!("`{old}` cannot be `{new}`: {why}; {help}"));
        }
        Ok(())
    }

    /// Checks that a name of a part has no meaning of its own where it stands.
    fn has_no_other_meaning(&self, member: &MemberName<'_>, name: &str) -> Result<(), String> {
        let has = |kind: MemberKind| member.parts.iter().any(|part| part.kind == kind);
        let is_of_data = member
            .parts
            .iter()
            .any(|part| self.types.is_some_and(|types| types.place(part.owner).0 == Family::Data));
        let meaning = if is_of_data && (WRAPPED.has(name) || Function::named(name).is_some()) {
            "a word that values may have beside properties"
        } else if has(MemberKind::Operation) && (INTERFACE.has(name) || name.contains('.')) {
            "no name that an operation can be called by"
        } else if has(MemberKind::Operation) && LifecycleOperation::named(name).is_some() {
            "an operation that orchestrators call by themselves"
        } else if has(MemberKind::Interface) && LifecycleOperation::has_interface(name) {
            "an interface that orchestrators call by themselves"
        } else if has(MemberKind::Interface) && name == MANAGEMENT_INTERFACE {
            "the interface that technology rules ask for operations"
        } else {
            return Ok(());
        };
        Err(format!("`{name}` is {meaning}"))
    }

    /// A place for people.
    pub(super) fn told(&self, read: Span) -> String {
        let span = self.typed_word(read).unwrap_or(read);
        let location = self.sources.location(span);
        let path = self.sources.file(span.file).path();
        format!("{}:{}:{}", path.display(), location.line, location.column)
    }
}

impl NameAtPlace<'_, '_> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Symbol(_, symbol) => &symbol.name,
            Self::Member(member) => member.name,
        }
    }

    fn places(&self) -> impl Iterator<Item = Span> {
        let (definitions, uses) = match self {
            Self::Symbol(_, symbol) => (&symbol.definitions, &symbol.uses),
            Self::Member(member) => (&member.definitions, &member.uses),
        };
        definitions.iter().chain(uses).copied()
    }

    fn written_otherwise(&self) -> &[Span] {
        match self {
            Self::Symbol(_, symbol) => &symbol.written_otherwise,
            Self::Member(member) => &member.written_otherwise,
        }
    }
}

/// Whether a requirement of this name leads to a host where no type says where it leads.
fn is_host(name: &str) -> bool {
    name.split('_').any(|word| word == "host")
}

/// Whether a text is a name wherever it stands, without quotes.
fn is_plain_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(is_inner)
        && matches!(Scalar::plain(text), Scalar::String(_))
}
