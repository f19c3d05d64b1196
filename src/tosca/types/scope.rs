//! Which files see which names (sections 3.1.3, 3.2 and 3.6.8): what is defined in a file is seen
//! there, and wherever the file is imported, behind the prefix of the import where it has one.
//!
//! `sees(f) = {f} ∪ ⋃ sees(g)` over all g that f imports without a prefix; `p:n` in f is n in what
//! sees(g) has, over all g that f imports with the prefix p. The library beside a template, and
//! what that imports, is seen everywhere.

use super::profile;
use crate::text::source::{FileId, Span};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;

/// An import from file to file.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Who imports.
    pub from: FileId,
    /// What is imported.
    pub to: FileId,
    /// Where that is said.
    pub span: Span,
    /// `namespace_prefix`
    pub prefix: Option<String>,
    /// `namespace_uri`
    pub uri: Option<String>,
}

/// How files hang together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// The template; where there is none, all files see each other.
    pub top: Option<FileId>,
    /// The files beside it that nobody has to import.
    pub library: Vec<FileId>,
    /// Who imports what, in the order of reading.
    pub links: Vec<Link>,
}

impl Links {
    /// Whether any name may have a prefix.
    pub(crate) fn have_prefixes(&self) -> bool {
        self.links.iter().any(|link| link.prefix.is_some())
    }

    fn by_file(&self) -> FxHashMap<FileId, Vec<&Link>> {
        let mut by_file: FxHashMap<_, Vec<_>> = FxHashMap::default();
        self.links.iter().for_each(|link| by_file.entry(link.from).or_default().push(link));
        by_file
    }

    /// All files that imports in these lead to, and these.
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

    /// All files to which an import of the template leads that stands there.
    pub(crate) fn behind_import(&self, at: Span) -> FxHashSet<FileId> {
        let is_it = |link: &&Link| Some(link.from) == self.top && link.span == at;
        self.behind(self.links.iter().filter(is_it).map(|link| link.to))
    }

    /// The prefixes by which the template calls what is in each file, one way where there are
    /// several: none for its own names and those of its library.
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

/// How near a name is: of several, the nearest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    BuiltIn,
    Own,
    Imported,
    Library,
    /// In a file of the library that is imported with a prefix, so that nobody may mean it without.
    PrefixedLibrary,
}

/// The files whose names are meant in a file, or behind a prefix in it.
#[derive(Debug, Default)]
struct Scope {
    /// The file itself, or what is imported with the prefix.
    own: Vec<usize>,
    sees: Arc<FileSet>,
    is_prefixed: bool,
}

/// Files by their positions, a bit each: there is a set for every file.
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

/// What each file sees by imports without a prefix. Files that import each other see the same, so
/// they share what they see.
fn visible(imports: &[Vec<usize>]) -> Vec<Arc<FileSet>> {
    let edges = imports.iter().enumerate();
    let edges = edges.flat_map(|(from, to)| to.iter().map(move |&to| (from as u32, to as u32)));
    let mut graph = DiGraph::<(), (), u32>::from_edges(edges);
    while graph.node_count() < imports.len() {
        graph.add_node(());
    }
    let mut visible = vec![Arc::default(); imports.len()];
    // What they import comes before those who import it.
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

/// Which files see which names; files have positions in the order in which they were given.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    positions: FxHashMap<FileId, usize>,
    /// First those of files, then those of prefixes.
    scopes: Vec<Scope>,
    /// For each file, its prefixes and their scopes.
    prefixes: Vec<FxHashMap<String, usize>>,
    /// The files that are seen everywhere.
    everywhere: Vec<Option<Nearness>>,
    top: Option<usize>,
}

impl Scopes {
    /// Those of these files.
    pub(crate) fn of(files: &[FileId], links: &Links) -> Self {
        let positions: FxHashMap<_, _> =
            files.iter().enumerate().map(|(position, file)| (*file, position)).collect();
        let position = |file: &FileId| positions.get(file).copied();
        let mut open = vec![Vec::new(); files.len()];
        let mut prefixed: Vec<FxHashMap<String, Vec<usize>>> =
            vec![FxHashMap::default(); files.len()];
        let mut has_prefix = FxHashSet::default();
        for (link, from, to) in links
            .links
            .iter()
            .filter_map(|link| Some((link, position(&link.from)?, position(&link.to)?)))
        {
            if let Some(prefix) = &link.prefix {
                has_prefix.insert(to);
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
        for prefixed in prefixed {
            let mut add = |(prefix, own)| {
                scopes.push(Scope::behind_prefix(own, &visible));
                (prefix, scopes.len() - 1)
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
        Self { positions, scopes, prefixes, everywhere, top }
    }

    fn scope(&self, from: Option<FileId>) -> Option<usize> {
        from.and_then(|file| self.positions.get(&file).copied()).or(self.top)
    }

    /// How near the names of a file are in a scope, where they are meant at all.
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

    /// What a name in a file means, or where no file is known, in the template; `known` says which
    /// files define a name, and as what.
    pub(crate) fn find<T, I: Iterator<Item = (usize, T)>>(
        &self,
        from: Option<FileId>,
        mut name: &str,
        known: impl Fn(&str) -> I,
    ) -> Option<T> {
        let mut scope = self.scope(from);
        loop {
            if let Some(found) = self.nearest(scope, known(name)) {
                return Some(found);
            }
            let (prefix, rest) = name.split_once(':')?;
            let own = &self.scopes.get(scope?)?.own;
            scope =
                Some(own.iter().find_map(|file| self.prefixes.get(*file)?.get(prefix).copied())?);
            name = rest;
        }
    }

    /// What a name means where a file is included: to some a part of what includes it.
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

    /// The prefix behind which a file sees another one.
    pub(crate) fn prefix_for(&self, from: Option<FileId>, file: usize) -> Option<&str> {
        let prefixes = self.prefixes.get(self.scope(from)?)?.iter();
        prefixes
            .filter(|(_, scope)| self.scopes[**scope].sees.contains(file))
            .map(|(prefix, _)| prefix.as_str())
            .min()
    }

    /// Whether a file imports anything with this prefix.
    pub(crate) fn has_prefix(&self, from: Option<FileId>, prefix: &str) -> bool {
        self.scope(from)
            .and_then(|file| self.prefixes.get(file))
            .is_some_and(|prefixes| prefixes.contains_key(prefix))
    }

    /// Each pair of definitions of one name that meet somewhere: the one that comes first there,
    /// and the other.
    pub(crate) fn meetings<T: Copy>(
        &self,
        known: &[(usize, T)],
        mut meet: impl FnMut((usize, T), (usize, T)),
    ) {
        if known.len() < 2 {
            return;
        }
        for scope in 0..self.scopes.len() {
            // Whoever imports a file of the library with a prefix does not want to meet its names
            // without.
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
    /// What is meant behind a prefix with which these files are imported.
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
