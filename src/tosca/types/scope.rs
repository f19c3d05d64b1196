//! Determines which files see which names (sections 3.1.3, 3.2 and 3.6.8). A file sees the names
//! that it defines, and those of the files that it imports, behind the prefix of the import if
//! there is one.
//!
//! `sees(f) = {f} ∪ ⋃ sees(g)` over all g that f imports without a prefix. `p:n` in f is n in
//! sees(g), over all g that f imports with the prefix p; in TOSCA 2.0, over all g that a file in
//! sees(f) imports so. All files see the library beside a template, and the files that it imports.

use super::profile;
use cuvee_text::source::{FileId, Span};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;
use std::sync::Arc;

/// An import from file to file.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The importing file.
    pub from: FileId,
    /// The imported file.
    pub to: FileId,
    /// The place of the import.
    pub span: Span,
    /// The `namespace_prefix` of the import.
    pub prefix: Option<String>,
    /// The `namespace_uri` of the import.
    pub uri: Option<String>,
    /// Whether the importing file is of TOSCA 2.0, so that files that import it without a prefix
    /// know its prefixes, too.
    pub is_of_2_0: bool,
}

/// How files import each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// The template. Without one, all files see each other.
    pub top: Option<FileId>,
    /// The files beside the template that need no import.
    pub library: Vec<FileId>,
    /// All imports, in the order of reading.
    pub links: Vec<Link>,
}

impl Links {
    /// Whether any import has a prefix.
    pub(crate) fn have_prefixes(&self) -> bool {
        self.links.iter().any(|link| link.prefix.is_some())
    }

    fn by_file(&self) -> FxHashMap<FileId, Vec<&Link>> {
        let mut by_file: FxHashMap<_, Vec<_>> = FxHashMap::default();
        self.links.iter().for_each(|link| by_file.entry(link.from).or_default().push(link));
        by_file
    }

    /// These files, and all files that they import directly or indirectly.
    pub(crate) fn behind(&self, files: impl IntoIterator<Item = FileId>) -> FxHashSet<FileId> {
        let links = self.by_file();
        let mut behind = FxHashSet::default();
        let mut open: Vec<_> = files.into_iter().collect();
        while let Some(file) = open.pop() {
            if behind.insert(file) {
                open.extend(links.get(&file).into_iter().flatten().map(|link| link.to));
            }
        }
        behind
    }

    /// All files that the template's import at this place leads to.
    pub(crate) fn behind_import(&self, at: Span) -> FxHashSet<FileId> {
        let is_it = |link: &&Link| Some(link.from) == self.top && link.span == at;
        self.behind(self.links.iter().filter(is_it).map(|link| link.to))
    }

    /// The prefix by which the template refers to the names of each file. The prefix is empty for
    /// the template's own names and for its library. If several imports lead to a file, one of them
    /// decides.
    pub(crate) fn ways(&self) -> FxHashMap<FileId, String> {
        let links = self.by_file();
        let mut ways = FxHashMap::default();
        let mut open: VecDeque<_> =
            self.top.iter().chain(&self.library).map(|file| (*file, String::new())).collect();
        while let Some((file, way)) = open.pop_front() {
            if ways.contains_key(&file) {
                continue;
            }
            for link in links.get(&file).into_iter().flatten() {
                match &link.prefix {
                    None => open.push_front((link.to, way.clone())),
                    Some(prefix) => open.push_back((link.to, format!("{way}{prefix}:"))),
                }
            }
            ways.insert(file, way);
        }
        ways
    }
}

/// How near a name is. Among several types of a name, the nearest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    BuiltIn,
    Own,
    Imported,
    Library,
    /// A file of the library that is imported with a prefix. Its names are not meant without the
    /// prefix.
    PrefixedLibrary,
}

/// The files whose names can be used in a file, or behind a prefix in it.
#[derive(Debug, Default)]
struct Scope {
    /// The file itself, or the files that are imported with the prefix.
    own: Vec<usize>,
    sees: Arc<FileSet>,
    is_prefixed: bool,
}

/// A set of file positions with one bit for each. Such a set exists for every file.
#[derive(Clone, Debug, Default)]
struct FileSet(Vec<u64>);

impl FileSet {
    fn insert(&mut self, file: usize) {
        let word = file / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (file % 64);
    }

    fn contains(&self, file: usize) -> bool {
        self.0.get(file / 64).is_some_and(|word| word & (1 << (file % 64)) != 0)
    }

    fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len() * 64).filter(|&file| self.contains(file))
    }
}

/// The files that each file sees through imports without a prefix. Files that import each other see
/// the same files and share one set.
fn visible(imports: &[Vec<usize>]) -> Vec<Arc<FileSet>> {
    let edges = imports.iter().enumerate();
    let edges = edges.flat_map(|(from, to)| to.iter().map(move |&to| (from as u32, to as u32)));
    let mut graph = DiGraph::<(), (), u32>::from_edges(edges);
    while graph.node_count() < imports.len() {
        graph.add_node(());
    }
    let mut visible = vec![Arc::default(); imports.len()];
    // Imported files come before those that import them.
    for circle in kosaraju_scc(&graph) {
        let mut sees = FileSet::default();
        for file in circle.iter().map(|file| file.index()) {
            sees.insert(file);
            imports[file].iter().for_each(|&imported| sees.extend(&visible[imported]));
        }
        let sees = Arc::new(sees);
        circle.iter().for_each(|file| visible[file.index()] = Arc::clone(&sees));
    }
    visible
}

/// The visibility of names in all files. The position of a file is its place in the order in which
/// the files were given.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    positions: FxHashMap<FileId, usize>,
    /// The scopes of files, followed by those of prefixes.
    scopes: Vec<Scope>,
    /// The prefixes of each file, with their scopes.
    prefixes: Vec<FxHashMap<String, usize>>,
    /// The prefixes of files of TOSCA 2.0: the files that have them, with their scopes.
    shared: FxHashMap<String, Vec<(usize, usize)>>,
    /// The files that all files see.
    everywhere: Vec<Option<Nearness>>,
    top: Option<usize>,
}

impl Scopes {
    /// The scopes of these files.
    pub(crate) fn of(files: &[FileId], links: &Links) -> Self {
        let positions: FxHashMap<_, _> =
            files.iter().enumerate().map(|(position, file)| (*file, position)).collect();
        let position = |file: &FileId| positions.get(file).copied();
        let mut open = vec![Vec::new(); files.len()];
        let mut prefixed: Vec<FxHashMap<String, Vec<usize>>> =
            vec![FxHashMap::default(); files.len()];
        let mut has_prefix = FxHashSet::default();
        let mut is_of_2_0 = FxHashSet::default();
        for (link, from, to) in links
            .links
            .iter()
            .filter_map(|link| Some((link, position(&link.from)?, position(&link.to)?)))
        {
            if let Some(prefix) = &link.prefix {
                has_prefix.insert(to);
                is_of_2_0.extend(link.is_of_2_0.then_some(from));
                prefixed[from].entry(prefix.clone()).or_default().push(to);
            } else {
                open[from].push(to);
            }
        }
        let visible = visible(&open);
        let own = visible.iter().enumerate();
        let mut scopes: Vec<_> = own
            .map(|(file, sees)| Scope {
                own: vec![file],
                sees: Arc::clone(sees),
                is_prefixed: false,
            })
            .collect();
        let mut prefixes = Vec::new();
        let mut shared: FxHashMap<String, Vec<_>> = FxHashMap::default();
        for (file, prefixed) in prefixed.into_iter().enumerate() {
            let mut add = |(prefix, own): (String, _)| {
                let scope = scopes.len();
                scopes.push(Scope::behind_prefix(own, &visible));
                if is_of_2_0.contains(&file) {
                    shared.entry(prefix.clone()).or_default().push((file, scope));
                }
                (prefix, scope)
            };
            prefixes.push(prefixed.into_iter().map(&mut add).collect());
        }
        let mut everywhere: Vec<_> = files
            .iter()
            .map(|file| profile::is_built_in(*file).then_some(Nearness::BuiltIn))
            .collect();
        let library = if links.top.is_some() { &links.library } else { files };
        let library: Vec<_> = library.iter().filter_map(position).collect();
        for nearness in [Nearness::Library, Nearness::PrefixedLibrary] {
            let is_prefixed = nearness == Nearness::PrefixedLibrary;
            let mut sees = FileSet::default();
            library
                .iter()
                .filter(|file| has_prefix.contains(file) == is_prefixed)
                .for_each(|&file| sees.extend(&visible[file]));
            for seen in sees.iter() {
                let before = &mut everywhere[seen];
                *before = Some(before.map_or(nearness, |before| before.min(nearness)));
            }
        }
        let top = links.top.as_ref().and_then(position);
        Self { positions, scopes, prefixes, shared, everywhere, top }
    }

    fn scope(&self, from: Option<FileId>) -> Option<usize> {
        from.and_then(|file| self.positions.get(&file).copied()).or(self.top)
    }

    /// How near the names of a file are in a scope. Returns nothing where the scope does not see
    /// the file.
    fn nearness(&self, scope: Option<usize>, file: usize) -> Option<Nearness> {
        let everywhere = self.everywhere.get(file).copied().flatten();
        let Some(scope) = scope.and_then(|scope| self.scopes.get(scope)) else { return everywhere };
        if everywhere == Some(Nearness::BuiltIn) && !scope.is_prefixed {
            everywhere
        } else if scope.own.contains(&file) {
            Some(Nearness::Own)
        } else if scope.sees.contains(file) {
            Some(Nearness::Imported)
        } else {
            everywhere.filter(|_| !scope.is_prefixed)
        }
    }

    fn nearest<T>(
        &self,
        scope: Option<usize>,
        known: impl Iterator<Item = (usize, T)>,
    ) -> Option<T> {
        let near = known.filter_map(|(file, found)| Some((self.nearness(scope, file)?, found)));
        near.min_by_key(|(nearness, _)| *nearness).map(|(_, found)| found)
    }

    /// The meaning of a name in a file, or in the template where no file is given. `known` lists
    /// the files that define a name, with the definition in each.
    pub(crate) fn find<T, I: Iterator<Item = (usize, T)>>(
        &self,
        from: Option<FileId>,
        name: &str,
        known: impl Fn(&str) -> I,
    ) -> Option<T> {
        self.found(from, name, known, true)
    }

    /// As [`Self::find`], as if all files were of version 1.3, where no file knows the prefixes of
    /// others, so that a name has one at most.
    pub(crate) fn find_in_1_3<T, I: Iterator<Item = (usize, T)>>(
        &self,
        from: Option<FileId>,
        name: &str,
        known: impl Fn(&str) -> I,
    ) -> Option<T> {
        self.found(from, name, known, false)
    }

    fn found<T, I: Iterator<Item = (usize, T)>>(
        &self,
        from: Option<FileId>,
        mut name: &str,
        known: impl Fn(&str) -> I,
        shares: bool,
    ) -> Option<T> {
        let mut scopes: SmallVec<[_; 1]> = smallvec![self.scope(from)];
        let mut is_behind = false;
        loop {
            let mut found = scopes.iter().filter_map(|scope| self.nearest(*scope, known(name)));
            if let Some(found) = found.next() {
                return Some(found);
            }
            let (prefix, rest) = name.split_once(':').filter(|_| shares || !is_behind)?;
            is_behind = true;
            scopes = self.behind(&scopes, prefix, shares).map(Some).collect();
            name = rest;
        }
    }

    /// The scopes behind a prefix: those of the files themselves, and then, where files share theirs,
    /// those of files of TOSCA 2.0 that they see.
    fn behind(
        &self,
        scopes: &[Option<usize>],
        prefix: &str,
        shares: bool,
    ) -> impl Iterator<Item = usize> {
        let scopes = || scopes.iter().flatten().filter_map(|scope| self.scopes.get(*scope));
        let own = scopes().flat_map(|scope| &scope.own);
        let own = own.filter_map(move |file| self.prefixes.get(*file)?.get(prefix).copied());
        let shared = self.shared.get(prefix).filter(|_| shares).into_iter().flatten();
        let seen = shared.filter(move |(file, _)| scopes().any(|it| it.sees.contains(*file)));
        let mut known = FxHashSet::default();
        own.chain(seen.map(|(_, scope)| *scope)).filter(move |scope| known.insert(*scope))
    }

    /// The meaning of a name in one of the files that import this one with a prefix. Some authors
    /// treat an imported file as a part of the importing one.
    pub(crate) fn find_around<T, I: Iterator<Item = (usize, T)>>(
        &self,
        from: Option<FileId>,
        known: impl Fn() -> I,
    ) -> Option<T> {
        let file = self.scope(from)?;
        let mut around = (0..self.prefixes.len())
            .filter(|scope| *scope != file && self.scopes[*scope].sees.contains(file));
        around.find_map(|scope| self.nearest(Some(scope), known()))
    }

    /// The prefixes with which a file sees the names of another one: as few as lead there, and
    /// among as many the first by the alphabet.
    pub(crate) fn prefix_for(&self, from: Option<FileId>, file: usize) -> Option<String> {
        let mut known = FxHashSet::default();
        let mut ways = vec![(String::new(), self.scope(from)?)];
        while !ways.is_empty() {
            let further: Vec<_> =
                ways.iter().flat_map(|(way, scope)| self.further(way, *scope)).collect();
            let leads = further.iter().filter(|(_, scope)| self.scopes[*scope].sees.contains(file));
            if let Some((way, _)) = leads.min() {
                return Some(way.clone());
            }
            ways = further.into_iter().filter(|(_, scope)| known.insert(*scope)).collect();
        }
        None
    }

    /// The prefixes that names in a scope may have, behind the one that leads to the scope.
    fn further(&self, way: &str, scope: usize) -> Vec<(String, usize)> {
        let own =
            self.scopes[scope].own.iter().filter_map(|file| self.prefixes.get(*file)).flatten();
        let own = own.map(|(prefix, scope)| (prefix, *scope));
        let shared = self.shared.iter().flat_map(|(prefix, all)| {
            let seen = all.iter().filter(|(file, _)| self.scopes[scope].sees.contains(*file));
            seen.map(move |(_, scope)| (prefix, *scope))
        });
        let colon = if way.is_empty() { "" } else { ":" };
        own.chain(shared).map(|(prefix, to)| (format!("{way}{colon}{prefix}"), to)).collect()
    }

    /// Whether a name in a file may have this prefix.
    pub(crate) fn has_prefix(&self, from: Option<FileId>, prefix: &str) -> bool {
        self.behind(&[self.scope(from)], prefix, true).next().is_some()
    }

    /// Reports each pair of definitions of one name that are visible in the same scope: the first
    /// one, and each other one.
    pub(crate) fn meetings<T: Copy>(
        &self,
        known: &[(usize, T)],
        mut meet: impl FnMut((usize, T), (usize, T)),
    ) {
        if known.len() < 2 {
            return;
        }
        for scope in 0..self.scopes.len() {
            // An importer of a library file with a prefix does not want to see its names without
            // the prefix.
            let is_there = |file: usize| {
                self.nearness(Some(scope), file).is_some_and(|it| it < Nearness::PrefixedLibrary)
            };
            let mut there = known.iter().copied().filter(|(file, _)| is_there(*file));
            if let Some(first) = there.next() {
                there.for_each(|other| meet(first, other));
            }
        }
    }
}

impl Scope {
    /// The scope behind a prefix with which these files are imported.
    fn behind_prefix(own: Vec<usize>, visible: &[Arc<FileSet>]) -> Self {
        let sees = match &own[..] {
            [only] => Arc::clone(&visible[*only]),
            files => {
                let mut sees = FileSet::default();
                files.iter().for_each(|&file| sees.extend(&visible[file]));
                Arc::new(sees)
            }
        };
        Self { own, sees, is_prefixed: true }
    }
}
