//! Checks that the source has the structure that ARCHITECTURE.md describes: which wing may use
//! which, no circles between rooms, one module style, and no name with two meanings.

#![expect(clippy::unwrap_used)]

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The wings that every other wing may use.
const GROUND: [&str; 3] = ["cuvee_text", "diagnostic", "parallel"];

/// The wings, each with the wings that it may use beside itself and [`GROUND`]. Cargo already
/// ensures that `cuvee_text` and `cuvee_sat` use none of the other crates here.
const WINGS: [(&str, &[&str]); 17] = [
    ("diagnostic", &[]),
    ("parallel", &[]),
    ("tosca", &[]),
    ("topology", &["tosca"]),
    ("convert", &["tosca", "topology"]),
    ("variability", &["cuvee_sat", "tosca", "topology"]),
    ("explore", &["cuvee_sat", "tosca", "topology", "variability"]),
    ("validate", &["cuvee_sat", "tosca", "topology", "variability", "explore"]),
    ("orchestrate", &["cuvee_sat", "tosca", "topology"]),
    ("draw", &["tosca", "topology", "variability", "explore", "orchestrate"]),
    ("exchange", &["cuvee_sat", "tosca", "topology", "variability", "explore"]),
    (
        "report",
        &["cuvee_sat", "tosca", "topology", "variability", "explore", "orchestrate", "draw"],
    ),
    ("editor", &["tosca", "variability", "explore", "validate"]),
    ("resolver", BELOW_THE_WAY_IN),
    ("operate", &["tosca", "topology", "orchestrate", "resolver"]),
    ("testing", &["tosca", "topology", "variability", "resolver"]),
    ("cli", &[]),
];

const BELOW_THE_WAY_IN: &[&str] = &[
    "cuvee_sat",
    "tosca",
    "topology",
    "convert",
    "variability",
    "explore",
    "validate",
    "orchestrate",
    "draw",
    "exchange",
    "report",
    "editor",
];

/// The crates of the workspace: where their source is, and the names by which paths refer to them.
const CRATES: [(&str, &[&str]); 3] = [
    ("src", &[]),
    ("crates/cuvee-sat/src", &["cuvee_sat"]),
    ("crates/cuvee-text/src", &["cuvee_text"]),
];

/// Circles of rooms that are allowed, each with the reason.
const CIRCLES: [(&[&str], &str); 1] = [(
    &["validate::checker", "validate::function"],
    "a check of functions is a part of the checker, which keeps for it what it has met",
)];

/// How many names of types may be defined more than once.
const REPEATED: usize = 2;

type Name = Vec<String>;

/// A file of the library, with its name as a module and its items.
struct Module {
    name: Name,
    items: Vec<Item>,
}

/// All source files of the workspace's libraries and of the command, except for tests.
fn modules() -> Vec<Module> {
    let is_test = |module: &Module| module.name.last().is_some_and(|last| last == "tests");
    CRATES
        .iter()
        .flat_map(|(root, known)| modules_of(root, known))
        .filter(|m| !is_test(m))
        .collect()
}

/// The files below a crate's root. Paths of the root package begin with its wings, those of other
/// crates with the name of the crate.
fn modules_of(root: &str, known: &[&str]) -> Vec<Module> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut files = Vec::new();
    collect(&root, &mut files);
    let module = |path: &PathBuf| {
        let relative = path.strip_prefix(&root).unwrap().with_extension("");
        let below = relative.iter().map(|part| part.to_string_lossy().into_owned());
        let mut name: Name = known.iter().map(|&part| part.to_owned()).chain(below).collect();
        let is_root = !known.is_empty() && name.len() == 2 && name[1] == "lib";
        if is_root || name.last().is_some_and(|last| last == "mod") {
            name.pop();
        }
        let items = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap().items;
        Module { name, items }
    };
    files.iter().map(module).collect()
}

/// The name of another crate of the workspace that a path begins with.
fn other_crate(path: &[String]) -> Option<&String> {
    path.first().filter(|first| CRATES.iter().any(|(_, known)| known.contains(&first.as_str())))
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|of| of == "test")
    })
}

/// The paths that a file uses, and the types that it defines.
#[derive(Default)]
struct Said {
    paths: Vec<Name>,
    types: Vec<String>,
}

impl Said {
    fn of(module: &Module) -> Self {
        let mut said = Self::default();
        module.items.iter().for_each(|item| said.visit_item(item));
        said
    }

    fn add_use(&mut self, tree: &UseTree, before: &Name) {
        let with = |name: &syn::Ident| [before.as_slice(), &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(&path.ident)),
            UseTree::Name(name) => self.paths.push(with(&name.ident)),
            UseTree::Rename(rename) => self.paths.push(with(&rename.ident)),
            UseTree::Glob(_) => self.paths.push(before.clone()),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_use(tree, before));
            }
        }
    }
}

impl<'a> Visit<'a> for Said {
    fn visit_item(&mut self, item: &'a Item) {
        let (attributes, name) = match item {
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, None),
            Item::Mod(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            Item::Impl(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        self.types.extend(name.map(ToString::to_string));
        match item {
            Item::Use(item) => self.add_use(&item.tree, &Vec::new()),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

/// Which room uses which; a room is a module of a wing.
struct Arrows {
    /// Each arrow from a room to one that it uses, with the files that contain such a use.
    arrows: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Arrows {
    fn of(modules: &[Module]) -> Self {
        let names: BTreeSet<&Name> = modules.iter().map(|module| &module.name).collect();
        let said: BTreeMap<&Name, Said> =
            modules.iter().map(|module| (&module.name, Said::of(module))).collect();
        let mut arrows: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (name, own) in &said {
            for path in &own.paths {
                let Some(path) = absolute(name, path, &names) else { continue };
                let (from, to) = (room(name), room(&home(path, &names, &said)));
                if from != to && !to.is_empty() {
                    arrows.entry((from, to)).or_default().insert(name.join("::"));
                }
            }
        }
        Self { arrows }
    }
}

/// The first two parts of a name: the wing, and the module in it.
fn room(name: &[String]) -> String {
    name[..name.len().min(2)].join("::")
}

/// Resolves a path to one from the root of the crate; `None` for a path that leads out of the
/// crate.
fn absolute(from: &[String], path: &[String], names: &BTreeSet<&Name>) -> Option<Name> {
    let mut base = from.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base = other_crate(from).into_iter().cloned().collect();
            rest = &rest[1..];
        }
        _ if other_crate(path).is_some() => base.clear(),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        first => {
            let child = [from, &[first.to_owned()]].concat();
            if !names.contains(&child) {
                return None;
            }
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// Finds the module that defines the end of a path, through modules that only re-export it.
fn home(mut path: Name, names: &BTreeSet<&Name>, said: &BTreeMap<&Name, Said>) -> Name {
    for _ in 0..8 {
        let depth = (0..=path.len()).rev().find(|&end| names.contains(&path[..end].to_vec()));
        let module = path[..depth.unwrap_or(0)].to_vec();
        let (Some(own), Some(end)) = (said.get(&module), path.get(module.len())) else {
            return module;
        };
        if own.types.contains(end) {
            return module;
        }
        let handed_on = own.paths.iter().find(|path| path.len() > 1 && path.last() == Some(end));
        match handed_on.and_then(|path| absolute(&module, path, names)) {
            Some(next) if next != path => path = next,
            _ => return module,
        }
    }
    path
}

#[test]
fn arrows_go_down() {
    let modules = modules();
    let arrows = Arrows::of(&modules).arrows;
    let wing = |room: &str| room.split("::").next().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for ((from, to), files) in &arrows {
        let (from_wing, to_wing) = (wing(from), wing(to));
        let below = WINGS.iter().find(|(name, _)| *name == from_wing).map(|(_, below)| *below);
        // The root of the crate re-exports items of all wings, so it may use all of them.
        let is_root = ["", "lib", "main"].contains(&&*from_wing);
        let is_known = is_root
            || from_wing == to_wing
            || GROUND.contains(&&*to_wing)
            || below.is_some_and(|below| below.contains(&&*to_wing));
        if !is_known {
            wrong.push(format!("{from} knows {to}, in {files:?}"));
        }
    }
    assert!(wrong.is_empty(), "arrows that ARCHITECTURE.md does not have:\n{}", wrong.join("\n"));
    let is_ground = |module: &Module| matches!(&module.name[..], [one] if GROUND.contains(&&**one));
    let is_wing = |module: &&Module| module.name.len() > 1 || is_ground(module);
    let there = modules.iter().filter(is_wing);
    let there = there.filter(|module| other_crate(&module.name).is_none());
    let there: BTreeSet<&str> = there.map(|module| &*module.name[0]).collect();
    assert_eq!(there, WINGS.iter().map(|&(name, _)| name).collect(), "a wing that nobody listed");
}

#[test]
fn nobody_knows_himself_through_others() {
    let arrows = Arrows::of(&modules()).arrows;
    let mut graph = DiGraph::new();
    let mut ids = BTreeMap::new();
    // The root of a wing re-exports items of its rooms, so it does not count as a room.
    let is_room = |room: &str| room.contains("::");
    for (from, to) in arrows.keys().filter(|(from, to)| is_room(from) && is_room(to)) {
        let [from, to] =
            [from, to].map(|room| *ids.entry(room).or_insert_with(|| graph.add_node(room)));
        graph.add_edge(from, to, ());
    }
    let circles = tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1);
    let circles: BTreeSet<BTreeSet<&str>> =
        circles.map(|circle| circle.into_iter().map(|id| graph[id].as_str()).collect()).collect();
    let known: BTreeSet<BTreeSet<&str>> =
        CIRCLES.iter().map(|(rooms, _)| rooms.iter().copied().collect()).collect();
    let arrow = |(from, to): &(String, String)| {
        circles.iter().any(|circle| circle.contains(&**from) && circle.contains(&**to))
    };
    let shown: Vec<_> = arrows.iter().filter(|(key, _)| arrow(key)).collect();
    assert_eq!(circles, known, "{shown:#?}");
}

#[test]
fn folders_hold_their_own_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = CRATES.iter().flat_map(|(source, known)| {
        let below = move |module: Module| module.name[known.len()..].iter().collect::<PathBuf>();
        modules_of(source, known)
            .into_iter()
            .map(move |module| root.join(source).join(below(module)))
    });
    for beside in places {
        assert!(
            !beside.with_extension("rs").is_file() || !beside.is_dir(),
            "{} has a file and a folder",
            beside.display()
        );
    }
}

#[test]
fn names_of_types_say_one_thing() {
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules() {
        for name in Said::of(&module).types {
            defined.entry(name).or_default().push(module.name.join("::"));
        }
    }
    defined.retain(|_, places| places.len() > 1);
    assert!(defined.len() <= REPEATED, "{} names: {defined:#?}", defined.len());
}

/// Checks that every path that ARCHITECTURE.md names exists, from the root, `src/` or a crate.
#[test]
fn named_paths_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let is_path = |word: &&str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c);
        word.contains('/') && word.chars().all(inner)
    };
    let exists = |path: &str| {
        let path = path.trim_end_matches('/');
        if let Some((library @ ("cuvee-sat" | "cuvee-text"), below)) = path.split_once('/') {
            let source = root.join("crates").join(library).join("src");
            return [below.to_owned(), format!("{below}.rs")]
                .iter()
                .any(|path| source.join(path).exists());
        }
        [root.join(path), root.join("src").join(path), root.join("src").join(format!("{path}.rs"))]
            .iter()
            .any(|path| path.exists())
    };
    let paths: Vec<_> = text.split('`').skip(1).step_by(2).filter(is_path).collect();
    let missing: Vec<_> = paths.iter().filter(|path| !exists(path)).collect();
    assert!(paths.len() > 60, "only {} paths were found", paths.len());
    assert!(missing.is_empty(), "{missing:?}");
}
