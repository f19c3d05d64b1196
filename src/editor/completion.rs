//! Says what may be written at a place.

use super::TemplateAnalysis;
use super::grammar::{FilePurpose, HeldContent, MapGrammar, MemberKind, NameFamily};
use super::owners::{DefinedMember, element};
use super::symbols::SymbolKey;
use super::targets::PossibleTarget;
use super::walk::{HolderKind, NameHolder, PathKind, Word, WordRole, walk};
use crate::tosca::Family;
use crate::tosca::v2_0;
use crate::tosca::v2_0::function::{BuiltIn, FUNCTIONS};
use crate::tosca::v2_0::grammar::{ElementGrammar, KeynameContent};
use crate::tosca::value::Primitive;
use crate::variability::options;
use crate::variability::syntax::ExpressionOperator;
use crate::variability::template::PLAIN_VERSION;
use cuvee_text::source::{FileId, normalize};
use cuvee_text::yaml::{Limits, Node, parse, repair};
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

/// The word that stands at the cursor while what is around it is read.
const MARKER: &str = "cuvee__here";

/// What kind of word a suggestion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SuggestionKind {
    /// A keyname.
    Keyname,
    /// The name of a type.
    Type,
    /// The name of something in a template.
    Name,
    /// The name of a part of a type.
    Member,
    /// The keyword of an operator.
    Operator,
    /// An option of variability.
    Option,
    /// A value.
    Value,
    /// A file or a folder.
    File,
}

/// A word that may be written at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Suggestion {
    /// The word.
    pub label: String,
    /// What it is.
    pub kind: SuggestionKind,
    /// The text to write, which has a colon behind a key.
    pub insert: String,
    /// What it is, in a few words.
    pub detail: Option<String>,
}

/// What may be written at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletedWord {
    /// The bytes that are replaced: the word at the place.
    pub range: Range<usize>,
    /// The words, each once.
    pub suggestions: Vec<Suggestion>,
}

/// Says what may be written at an offset of a text, by what is known of its template.
///
/// ```
/// use cuvee::source::MemoryFiles;
/// let text = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    box: { type: tosca.nodes.Comp\n";
/// let resolver = cuvee::Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", text)]));
/// let found = resolver.analysis(None, |analysis| {
///     cuvee::editor::complete(analysis, "t.yaml".as_ref(), text, text.len() - 1)
/// });
/// assert!(found.suggestions.iter().any(|it| it.label == "tosca.nodes.Compute"));
/// ```
pub fn complete(
    analysis: &TemplateAnalysis<'_>,
    path: &Path,
    text: &str,
    offset: usize,
) -> CompletedWord {
    let range = word_around(text, offset);
    let mut completion = CompletedWord { range: range.clone(), suggestions: Vec::new() };
    let (Some(before), Some(behind)) = (text.get(..range.start), text.get(range.end..)) else {
        return completion;
    };
    let marked = format!("{before}{MARKER}{behind}");
    let Some(repaired) = repair(&marked, range.start + MARKER.len(), &Limits::default()) else {
        return completion;
    };
    let Ok(document) = parse(FileId::DETACHED, repaired.text.into(), &Limits::default()) else {
        return completion;
    };
    let document = v2_0::read(document);
    let file = analysis.file(path);
    let version = document.root().get("tosca_definitions_version").and_then(Node::as_str);
    // No version of TOSCA 2.0 says that a template is plain.
    let is_plain = version == Some(PLAIN_VERSION);
    let elements = v2_0::is_of(&document).then(|| v2_0::elements(&document));
    let has_colon = behind.trim_start_matches([' ', '"', '\'']).starts_with(':');
    let found = Vec::new();
    let mut words = Suggesting { analysis, path, file, is_plain, elements, has_colon, found };
    walk(document.root(), &mut |word| words.offer(word, document.root()));
    completion.suggestions = words.found;
    completion.suggestions.sort();
    completion.suggestions.dedup_by(|one, other| one.label == other.label);
    completion
}

/// The bytes of the word at an offset.
fn word_around(text: &str, offset: usize) -> Range<usize> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let offset = offset.min(text.len());
    let (Some(before), Some(behind)) = (text.get(..offset), text.get(offset..)) else {
        return offset..offset;
    };
    let start = before.trim_end_matches(is_inner).len();
    // The dash of an item is no part of the word behind it.
    let own = before.get(start..).unwrap_or_default();
    let start = start + (own.len() - own.trim_start_matches('-').len());
    let end = offset + (behind.len() - behind.trim_start_matches(is_inner).len());
    start..end
}

struct Suggesting<'s, 'a> {
    analysis: &'s TemplateAnalysis<'a>,
    path: &'s Path,
    file: Option<FileId>,
    is_plain: bool,
    /// In a file of TOSCA 2.0, the grammar of each element.
    elements: Option<FxHashMap<u32, &'static ElementGrammar>>,
    /// Whether a colon stands behind the word already.
    has_colon: bool,
    found: Vec<Suggestion>,
}

impl<'s, 'a> Suggesting<'s, 'a> {
    /// Suggests what a word may be that is, or ends with, the one at the cursor.
    fn offer(&mut self, word: Word<'_, '_>, root: Node<'_>) {
        let Some(before) = word.text().and_then(|text| text.strip_suffix(MARKER)) else { return };
        match (word.role, before) {
            (_, "") => self.suggest(word),
            // The `$` before operators and functions of TOSCA 2.0 is no part of the word.
            (WordRole::Operator, "$") if self.elements.is_some() => self.suggest(word),
            (WordRole::Entry, "$") => self.functions(root),
            (WordRole::Names(families), _) => self.behind_namespace(families, before, word),
            // Folders may stand before the name of a file.
            (WordRole::FileName(named), folder) => self.files(named, folder),
            (WordRole::Implementation, folder) => self.files(FilePurpose::Artifact, folder),
            _ => {}
        }
    }

    fn suggest(&mut self, word: Word<'_, '_>) {
        match word.role {
            WordRole::Keyname(grammar) if self.elements.is_some() => {
                self.keynames_of_2_0(grammar, word);
            }
            WordRole::Keyname(grammar) => {
                for name in grammar.names(self.is_plain) {
                    if !is_there(word.map, name) {
                        let is_value = matches!(
                            grammar.below(name),
                            HeldContent::Map(_) | HeldContent::Defined(..) | HeldContent::Named(..)
                        );
                        self.add_key(name, SuggestionKind::Keyname, None, !is_value);
                    }
                }
            }
            WordRole::Names(families) => {
                self.keywords(word);
                families.iter().for_each(|family| self.names(*family, word));
            }
            WordRole::Entry => self.members(MemberKind::Property, word),
            WordRole::Step => self.steps(word),
            WordRole::Implementation => {
                self.members(MemberKind::Artifact, word);
                self.files(FilePurpose::Artifact, "");
            }
            WordRole::Operator if !self.is_plain => {
                for keyword in ExpressionOperator::keywords() {
                    self.add_key(keyword, SuggestionKind::Operator, None, true);
                }
            }
            WordRole::Event => self.called(word.holder, true),
            WordRole::OptionName => {
                for option in options::known().filter(|option| !is_there(word.map, option.name)) {
                    let detail = option.description.to_owned();
                    self.add_key(option.name, SuggestionKind::Option, Some(detail), true);
                }
            }
            WordRole::OptionValue => {
                let name = word.key.and_then(Node::text);
                let known = options::known().find(|option| Some(option.name) == name);
                for value in known.into_iter().flat_map(|option| option.values) {
                    self.add(value, SuggestionKind::Value, None);
                }
            }
            WordRole::OneOf(words) => {
                let words = self.words_of_2_0(word).unwrap_or(words);
                words.iter().for_each(|word| self.add(word, SuggestionKind::Value, None));
            }
            WordRole::Truth => {
                ["true", "false"].iter().for_each(|it| self.add(it, SuggestionKind::Value, None));
            }
            WordRole::Version => {
                let versions = options::versions().chain([PLAIN_VERSION, v2_0::VERSION]);
                versions.for_each(|version| self.add(version, SuggestionKind::Value, None));
            }
            WordRole::FileName(named) => self.files(named, ""),
            // Names that are defined here are new ones.
            WordRole::Defines(_) | WordRole::Operator | WordRole::Unknown => {}
        }
    }

    /// Suggests what is in a folder, which is named from the file: folders, and files that may be
    /// meant.
    fn files(&mut self, named: FilePurpose, folder: &str) {
        let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let Some(loaded) = &self.analysis.mended.loaded else { return };
        let here = normalize(&self.path.parent().unwrap_or(self.path).join(folder));
        for (path, is_folder) in loaded.listed(&here) {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let is_plain = !name.starts_with('.') && name.chars().all(is_inner);
            let is_meant = || match named {
                FilePurpose::Import => path != *self.path && loaded.is_service_template(&path),
                FilePurpose::Artifact => true,
            };
            if is_plain && is_folder {
                self.add(&format!("{name}/"), SuggestionKind::File, None);
            } else if is_plain && is_meant() {
                self.add(name, SuggestionKind::File, None);
            }
        }
    }

    /// Suggests the keynames that an element has in TOSCA 2.0, and the words of variability.
    fn keynames_of_2_0(&mut self, grammar: &'static MapGrammar, word: Word<'_, '_>) {
        let position = word.map.unwrap_or(word.node).position();
        let element = self.elements.as_ref().and_then(|elements| elements.get(&position).copied());
        let keynames = element.into_iter().flat_map(ElementGrammar::all);
        for keyname in keynames.filter(|keyname| !is_there(word.map, keyname.field)) {
            let is_value = keyname.holds.element().is_none();
            self.add_key(keyname.name, SuggestionKind::Keyname, None, is_value);
        }
        let of_tosca = if element.is_some() { grammar.names(true) } else { Vec::new() };
        for name in grammar.names(self.is_plain) {
            if !of_tosca.contains(&name) && !is_there(word.map, name) {
                self.add_key(name, SuggestionKind::Keyname, None, true);
            }
        }
    }

    /// The words that a list has in TOSCA 2.0.
    fn words_of_2_0(&self, word: Word<'_, '_>) -> Option<&'static [&'static str]> {
        let element = self.elements.as_ref()?.get(&word.map?.position())?;
        match element.keyname_of_1_3(word.key?.text()?)?.holds {
            KeynameContent::Words(words) => Some(words),
            _ => None,
        }
    }

    fn add(&mut self, label: &str, kind: SuggestionKind, detail: Option<String>) {
        let (label, insert) = (label.to_owned(), label.to_owned());
        self.found.push(Suggestion { label, kind, insert, detail });
    }

    /// Adds a key; behind its colon is room for a value, if it has one in the same line.
    fn add_key(
        &mut self,
        label: &str,
        kind: SuggestionKind,
        detail: Option<String>,
        has_value: bool,
    ) {
        let end = match (self.has_colon, has_value) {
            (true, _) => "",
            (false, true) => ": ",
            (false, false) => ":",
        };
        let insert = format!("{label}{end}");
        self.found.push(Suggestion { label: label.to_owned(), kind, insert, detail });
    }

    fn names(&mut self, family: NameFamily, word: Word<'_, '_>) {
        match family {
            NameFamily::Type(family) => return self.types(family, "", word),
            NameFamily::Member(kind) => return self.members(kind, word),
            _ => {}
        }
        let analysis = self.analysis;
        let own = analysis.defined().by_key.keys().filter_map(|key| match key {
            SymbolKey::Named(of, name) if *of == family => Some(&**name),
            _ => None,
        });
        let wanted = (family == NameFamily::Node).then(|| self.wanted(word)).flatten();
        for name in own {
            if word.is_key && is_there(word.map, name) {
                continue;
            }
            if wanted.as_ref().is_some_and(|wanted| !wanted.may_be_node(name)) {
                continue;
            }
            match word.is_key {
                true => self.add_key(name, SuggestionKind::Name, None, true),
                false => self.add(name, SuggestionKind::Name, None),
            }
        }
    }

    /// Suggests the functions of TOSCA 2.0, and those that the file declares.
    fn functions(&mut self, root: Node<'_>) {
        if self.elements.is_none() {
            return;
        }
        for BuiltIn { name, takes, .. } in FUNCTIONS {
            let takes = Some((*takes).to_owned()).filter(|takes| !takes.is_empty());
            self.add_key(name, SuggestionKind::Operator, takes, true);
        }
        let places = [Some(root), root.get("topology_template")].into_iter().flatten();
        for (key, _) in places.filter_map(|it| it.get("functions")).flat_map(Node::entries) {
            self.add_key(key.text().unwrap_or_default(), SuggestionKind::Name, None, true);
        }
    }

    /// Suggests the types behind the namespace that stands before the cursor.
    fn behind_namespace(&mut self, families: &[NameFamily], before: &str, word: Word<'_, '_>) {
        for family in families.iter().filter(|_| before.ends_with(':')) {
            if let NameFamily::Type(family) = family {
                self.types(*family, before, word);
            }
        }
    }

    fn types(&mut self, family: Family, namespace: &str, word: Word<'_, '_>) {
        let Some(types) = self.analysis.types else { return };
        if family == Family::Data && namespace.is_empty() {
            // Those of version 1.3 that are types of its profile are among the types.
            let of_1_3 = ["string", "integer", "float", "boolean", "timestamp", "map", "list"];
            let names = match self.elements.is_some() {
                true => Primitive::OF_2_0.map(Primitive::name).to_vec(),
                false => of_1_3.to_vec(),
            };
            names.iter().for_each(|name| self.add(name, SuggestionKind::Type, None));
        }
        let wanted = (family == Family::Node).then(|| self.wanted(word)).flatten();
        for id in types.named_ids() {
            // Of thousands of types, only names and descriptions are read.
            let (of, key, body) = types.place(id);
            if of != family {
                continue;
            }
            let own = key.text().unwrap_or_default();
            let is_known = types.find_in(self.file, family, &[namespace, own].concat()) == Some(id);
            let name = match is_known {
                true => Some(own.into()),
                false => types.name_in(self.file, id).filter(|_| namespace.is_empty()),
            };
            let Some(name) = name.as_deref() else { continue };
            if wanted.as_ref().is_some_and(|wanted| !wanted.may_be_type(id)) {
                continue;
            }
            let detail = body.get("description").and_then(Node::as_str).map(str::to_owned);
            match word.is_key {
                true => self.add_key(name, SuggestionKind::Type, detail, true),
                false => self.add(name, SuggestionKind::Type, detail),
            }
        }
    }

    /// What the requirement around a word asks of its target.
    fn wanted<'w>(&self, word: Word<'_, 'w>) -> Option<PossibleTarget<'w, 'a>>
    where
        's: 'w,
    {
        PossibleTarget::of(self.analysis.scope(self.file)?, word)
    }

    fn members(&mut self, kind: MemberKind, word: Word<'_, '_>) {
        let Some(scope) = self.analysis.scope(self.file) else { return };
        if let (MemberKind::Operation, Some(HolderKind::Part(MemberKind::Interface, "", _))) =
            (kind, word.holder.map(|it| it.kind))
        {
            return self.called(word.holder.and_then(|interface| interface.of), false);
        }
        let around = word.holder.into_iter().flat_map(NameHolder::outwards);
        // What implements an operation may be an artifact of the node around.
        let mut elements = around.filter(|it| matches!(it.kind, HolderKind::Entity(_)));
        let holder = match word.role {
            WordRole::Implementation => elements.next(),
            _ => word.holder,
        };
        for owner in &scope.owners(holder).all {
            for name in scope.names_of(owner, kind) {
                // A requirement may be assigned several times.
                if kind != MemberKind::Requirement && is_there(word.map, name) {
                    continue;
                }
                let part = scope.part(owner, kind, name).into_iter().next();
                let detail = part.and_then(DefinedMember::type_name).map(str::to_owned);
                match word.is_key {
                    true => self.add_key(name, SuggestionKind::Member, detail, true),
                    false => self.add(name, SuggestionKind::Member, detail),
                }
            }
        }
    }

    /// Suggests what activities can call of something, or the notifications that triggers can wait for,
    /// each behind its interface.
    fn called(&mut self, subject: Option<&NameHolder<'_, '_>>, is_event: bool) {
        let Some(scope) = self.analysis.scope(self.file) else { return };
        for owner in &scope.owners(subject).all {
            for (interface, it) in scope.interfaces_of(owner) {
                let names = if is_event { &it.notifications } else { &it.operations };
                for name in names.keys() {
                    self.add(&format!("{interface}.{name}"), SuggestionKind::Member, None);
                }
            }
        }
    }

    /// Suggests the words for an element around, where a path starts and they have a meaning
    /// (section 4.1).
    fn keywords(&mut self, word: Word<'_, '_>) {
        let Some((HolderKind::Path(call), around)) = word.holder.map(|it| (it.kind, it.of)) else {
            return;
        };
        let outwards = around.into_iter().flat_map(NameHolder::outwards);
        // A filter is about a node that nobody knows yet.
        let known = outwards.take_while(|it| !matches!(it.kind, HolderKind::Subject(..)));
        let Some(entity) = known.filter_map(|it| element(it.kind)).next() else { return };
        let is_function = word.key.and_then(Node::text).and_then(PathKind::of_function).is_some();
        let words: &[_] = match (call.kind, entity.family) {
            (PathKind::Input, _) => &[],
            // A path of TOSCA 2.0 goes on from `SELF` to everything else.
            _ if self.elements.is_some() => &["SELF"],
            (_, Family::Relationship) => &["SELF", "SOURCE", "TARGET"],
            (PathKind::Property | PathKind::Attribute, Family::Node) if is_function => {
                &["SELF", "HOST"]
            }
            _ => &["SELF"],
        };
        words.iter().for_each(|word| self.add(word, SuggestionKind::Value, None));
    }

    /// Suggests what a path may go on with.
    fn steps(&mut self, word: Word<'_, '_>) {
        let Some(scope) = self.analysis.scope(self.file) else { return };
        scope.words(&word).iter().for_each(|it| self.add(it, SuggestionKind::Value, None));
        for part in scope.steps(&word) {
            let name = part.key.text().unwrap_or_default();
            self.add(name, SuggestionKind::Member, part.type_name().map(str::to_owned));
        }
    }
}

/// Whether a map, or a list of maps, has a key already.
fn is_there(map: Option<Node<'_>>, name: &str) -> bool {
    let Some(map) = map else { return false };
    map.get(name).is_some() || map.items().any(|item| item.get(name).is_some())
}
