//! Tests that each question opens each file once, and that questions to a loaded template open none
//! again.

#![expect(clippy::unwrap_used)]

use cuvee::explore::{Projection, Query};
use cuvee::source::{FileSystem, MemoryFiles};
use cuvee::{Failure, Resolver};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Counts how often each file is read.
#[derive(Clone)]
struct Counting {
    files: MemoryFiles,
    reads: Arc<Mutex<BTreeMap<PathBuf, usize>>>,
}

impl FileSystem for Counting {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        *self.reads.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        self.files.read(path)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        self.files.size(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.files.is_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.files.list(path)
    }
}

const TEMPLATE: &str = "\
tosca_definitions_version: tosca_variability_1_0
imports: [types.yaml, {file: more.yaml, conditions: {variability_input: more}}]
topology_template:
  variability:
    options: { mode: semantic-loose }
    type_specific_conditions: conditions.yaml
    inputs:
      more: { type: boolean, default: false }
      size: { type: integer, default: 1, constraints: [{ in_range: [1, 9] }] }
    presets:
      small: { inputs: { size: 1 } }
      large: { inputs: { size: 9, more: true } }
  node_templates:
    one: { type: Shop }
    two: { type: Cache, conditions: { greater: [{ variability_input: size }, 5] } }
";

fn texts() -> [(&'static str, String); 7] {
    let types = |name: &str| {
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: {{{name}: {{derived_from: tosca.nodes.Root}}}}\n"
        )
    };
    [
        ("shop/template.yaml", TEMPLATE.to_owned()),
        ("shop/types.yaml", types("Shop")),
        ("shop/more.yaml", types("Other")),
        ("shop/lib/cache.yaml", types("Cache")),
        ("shop/conditions.yaml", "node_types: {Cache: {conditions: true}}\n".to_owned()),
        ("shop/rules.yaml", "[]\n".to_owned()),
        ("given.yaml", "size: 7\n".to_owned()),
    ]
}

fn files() -> Counting {
    Counting { files: texts().into_iter().collect(), reads: Arc::default() }
}

fn resolver(files: &Counting) -> Resolver {
    Resolver::new("shop").files(files.clone()).inputs_file("given.yaml")
}

fn most(files: &Counting) -> (usize, BTreeMap<PathBuf, usize>) {
    let reads = files.reads.lock().unwrap().clone();
    (reads.values().copied().max().unwrap_or_default(), reads)
}

type Question = fn(&Resolver) -> Result<(), Failure>;

const QUESTIONS: [(&str, Question); 15] = [
    ("resolve", |resolver| resolver.resolve().map(drop)),
    ("evaluate", |resolver| resolver.clone().evaluate_functions().resolve().map(drop)),
    ("variants", |resolver| resolver.variants(&Query::default()).map(drop)),
    ("count", |resolver| resolver.count_variants(&Query::default()).map(drop)),
    ("preset variants", |resolver| resolver.preset_variants(Projection::All).map(drop)),
    ("analyze", |resolver| resolver.analyze().map(drop)),
    ("dead elements", |resolver| resolver.dead_elements().map(drop)),
    ("explain", |resolver| resolver.explain("node.two").map(drop)),
    ("matrix", |resolver| resolver.matrix().map(drop)),
    ("inputs", |resolver| resolver.input_report().map(drop)),
    ("report", |resolver| resolver.report(&["cuvee".into()]).map(drop)),
    ("types", |resolver| resolver.types().map(drop)),
    ("export", |resolver| resolver.variants_formula().map(drop)),
    ("feature model", |resolver| resolver.feature_model().map(drop)),
    ("validate", |resolver| {
        let validation = resolver.validate();
        assert!(validation.is_valid(false), "{:#?}", validation.diagnostics);
        Ok(())
    }),
];

#[test]
fn a_question_opens_each_file_once() {
    for (name, question) in QUESTIONS {
        let files = files();
        question(&resolver(&files)).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let (most, reads) = most(&files);
        assert_eq!(most, 1, "{name}: {reads:?}");
        assert!(reads.len() >= 4, "{name}: {reads:?}");
    }
}

#[test]
fn questions_of_one_load_open_each_file_once() {
    let files = files();
    let resolver = resolver(&files).load().unwrap();
    for (name, question) in QUESTIONS {
        question(&resolver).unwrap_or_else(|failure| panic!("{name}: {failure}"));
    }
    let (most, reads) = most(&files);
    assert_eq!(most, 1, "{reads:?}");
    assert_eq!(reads.len(), 7, "{reads:?}");
}

#[test]
fn questions_see_what_has_changed_unless_loaded() {
    let files = files();
    let (fresh, loaded) = (resolver(&files), resolver(&files).load().unwrap());
    for resolver in [&fresh, &fresh, &loaded, &loaded] {
        resolver.resolve().unwrap();
    }
    assert_eq!(files.reads.lock().unwrap()[Path::new("shop/template.yaml")], 3);
}

#[test]
fn what_is_loaded_gives_what_is_read_anew() {
    let files = files();
    let fresh = resolver(&files);
    let loaded = fresh.clone().load().unwrap();
    for preset in ["small", "large"] {
        let [one, other] = [&fresh, &loaded].map(|resolver| {
            resolver.clone().preset(preset).resolve().unwrap().to_yaml().to_owned()
        });
        assert_eq!(one, other);
    }
    let [one, other] = [&fresh, &loaded].map(|resolver| resolver.report(&[]).unwrap());
    assert_eq!(one, other);
}

/// Counts with the kernel how often commands open files.
#[cfg(all(feature = "cli", target_os = "linux"))]
mod commands {
    use super::{PathBuf, texts};
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use snapbox::cmd::{Command, cargo_bin};
    use std::collections::BTreeMap;
    use std::fs;
    use std::mem::MaybeUninit;

    const COMMANDS: [&str; 23] = [
        "resolve shop --inputs given.yaml",
        "resolve shop --preset large --evaluate",
        "validate shop",
        "inputs shop",
        "options shop",
        "types shop",
        "variants shop",
        "variants shop --count",
        "variants shop --all-presets --output-dir out",
        "analyze shop",
        "explain shop",
        "explain shop --input size=10",
        "explain shop node.two",
        "diff shop --from small --to large",
        "diff shop --from given.yaml --to large",
        "matrix shop",
        "graph shop",
        "graph shop --preset large",
        "graph shop --from large --to small",
        "report shop -o out.html",
        "export shop --format uvl",
        "export shop --format dimacs",
        "test shop",
    ];

    /// How often each file is opened by an action.
    fn opened(files: &[PathBuf], happens: impl FnOnce()) -> BTreeMap<PathBuf, usize> {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let add = |file: &PathBuf| {
            (inotify::add_watch(&watch, file, WatchFlags::OPEN).unwrap(), file.clone())
        };
        let watched: BTreeMap<_, _> = files.iter().map(add).collect();
        happens();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&watch, &mut buffer);
        let mut opened = BTreeMap::new();
        loop {
            let event = events.next();
            if matches!(event, Err(Errno::WOULDBLOCK)) {
                return opened;
            }
            *opened.entry(watched[&event.unwrap().wd()].clone()).or_default() += 1;
        }
    }

    #[test]
    fn a_command_opens_each_file_once() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let files: Vec<_> = texts().iter().map(|(name, text)| put(name, text)).collect();
        for (name, preset) in [("a", "small"), ("b", "small"), ("c", "large")] {
            put(
                &format!("shop/tests/{name}/test.yaml"),
                &format!("presets: {preset}\nerror: none\n"),
            );
        }
        for command in COMMANDS {
            let mut output = None;
            let opened = opened(&files, || {
                let words = command.split(' ');
                let command = Command::new(cargo_bin!("cuvee")).args(words).current_dir(&dir);
                output = command.output().ok();
            });
            let said = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
            assert!(
                opened.contains_key(&dir.path().join("shop/template.yaml")),
                "{command}: {said:?}"
            );
            assert!(opened.values().all(|&count| count == 1), "{command}: {opened:?}");
        }
    }
}
