//! Substitutes nodes: reads the catalogue and its types, and packs what substitutes which node into
//! the result.

use super::Resolver;
use super::candidates::{CandidateSearch, CandidateVariants};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::orchestrate::fulfil::Inventory;
use crate::orchestrate::substitute::candidate::{
    CandidateVariant, CatalogueTemplate, Facade, Refusal, is_a, kind_of,
};
use crate::orchestrate::substitute::view::TemplateView;
use crate::orchestrate::substitute::{
    Catalogue, ChosenTemplate, NestedDocument, SubstitutionExplanation, SubstitutionSettings,
    substitute,
};
use crate::tosca::csar;
use crate::tosca::filter::looks_around;
use crate::tosca::load::{Extent, Loaded};
use crate::tosca::substitution::substitution;
use crate::tosca::types::scope::Links;
use crate::tosca::{Family, TypeId, Types};
use crate::variability::choice::{Choice, InputSource};
use crate::variability::emit;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, documents};
use crate::variability::resolution::Resolution;
use crate::variability::resolve::{self, How};
use cuvee_sat::solve::SolverSettings;
use cuvee_text::answer::Failure;
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Node, Out};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The keyword that is in the text of every template that may substitute a node.
const MAPPINGS: &str = "substitution_mappings";

/// The settings for substituting the nodes of a template.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SubstitutionQuery {
    /// The catalogue: templates, archives, and directories of these.
    pub with: Vec<PathBuf>,
    /// The user's choices where a node has several candidates.
    pub chosen: Vec<ChosenTemplate>,
    /// Existing nodes that may fill what a template leaves open.
    pub inventory: Inventory,
    /// Whether open parts of the template stay open.
    pub(super) leaves_open: bool,
    /// The variants of variable templates that may substitute.
    pub candidates: CandidateVariants,
    /// Whether substituting templates stay beside the template instead of becoming part of it.
    pub nests: bool,
}

impl SubstitutionQuery {
    /// A query with these templates, archives and directories as its catalogue.
    pub fn with(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { with: paths.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Fills what the template leaves open from this inventory.
    pub fn inventory(self, inventory: Inventory) -> Self {
        Self { inventory, ..self }
    }

    /// Sets which variants of variable templates may substitute.
    pub fn candidates(self, candidates: CandidateVariants) -> Self {
        Self { candidates, ..self }
    }

    /// Leaves the template as it is, and puts the substituting templates beside it.
    pub fn nested(self) -> Self {
        Self { nests: true, ..self }
    }

    /// Chooses a template for a node, and perhaps one of its presets.
    pub fn choose(
        mut self,
        node: impl Into<String>,
        file: impl Into<String>,
        preset: Option<String>,
    ) -> Self {
        self.chosen.push(ChosenTemplate::new(node, file, preset));
        self
    }
}

/// A template whose nodes are substituted, and the reasons for each substitution.
#[derive(Debug)]
#[non_exhaustive]
pub struct SubstitutedTemplate {
    /// The resolved template.
    pub resolution: Resolution,
    /// The template that substitutes each node, and the nodes that fill open requirements.
    pub explained: SubstitutionExplanation,
    /// The resolved templates that substitute nodes, if [`SubstitutionQuery::nests`] is set.
    pub nested: Vec<NestedTemplate>,
}

/// A template that substitutes nodes of another one, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NestedTemplate {
    /// The names of the substituted nodes. A node inside another nested template has the name that
    /// it would get if that template were in its place.
    pub nodes: Vec<String>,
    /// The path of the template; a second variant of the same template gets a path beside it.
    pub path: PathBuf,
    /// The resolved variant as YAML.
    pub yaml: String,
}

impl SubstitutedTemplate {
    /// An archive of the template. It also has the substituting templates as `Other-Definitions`,
    /// all files that these templates name, and `substitutions.json`, which says what substitutes
    /// which node.
    ///
    /// # Errors
    /// As [`Resolution::to_files`].
    pub fn to_nested_csar(&self) -> Result<Vec<u8>, Failure> {
        let others: Vec<_> =
            self.nested.iter().map(|it| (it.path.as_path(), it.yaml.as_str())).collect();
        let nodes: Vec<_> = self.nested.iter().map(|it| it.nodes.as_slice()).collect();
        self.resolution.to_csar_with(&others, &nodes)
    }
}

impl Resolver {
    /// Resolves the template and fills what it leaves open from the inventory, as
    /// [`Resolver::fulfil`] does. Then each node with the directive `substitute` is replaced by the
    /// content of a template that implements its type.
    ///
    /// # Errors
    /// As [`Resolver::fulfil`], and `no-substitution`, `ambiguous-substitution`,
    /// `cyclic-substitution`.
    pub fn substitute(&self, query: &SubstitutionQuery) -> Result<SubstitutedTemplate, Failure> {
        let evaluating = self.clone().evaluate_functions();
        let loaded = evaluating.loaded(Extent::Whole)?;
        let answer = evaluating.substituted(&loaded, query);
        let sources = loaded.sources().clone();
        match answer {
            Ok((Substituted { yaml, explained, nested }, Diagnostics(mut warnings))) => {
                loaded.settle(&mut warnings);
                let package = loaded.package().clone();
                let resolution = Resolution::rewritten(yaml, package, sources, warnings);
                Ok(SubstitutedTemplate { resolution, explained, nested })
            }
            Err(Diagnostics(mut diagnostics)) => {
                loaded.settle(&mut diagnostics);
                Err(Failure { diagnostics, sources })
            }
        }
    }

    fn substituted(
        &self,
        loaded: &Loaded,
        query: &SubstitutionQuery,
    ) -> Result<(Substituted, Diagnostics), Diagnostics> {
        let mut warnings = Diagnostics::default();
        let (others, names) = read_catalogue(loaded, &query.with, &mut warnings)?;
        let choice = self.choice_of_candidates();
        let LinkedTypes { types, mut failed } = linked(loaded, &self.choice, &others, &choice)?;
        let kinds = SubstitutedKinds { types: &types, template: loaded.template() };
        let how = self.how();
        let interpreted = Interpreted::of(loaded, &self.choice)?;
        let (own, given) = split_inputs(&self.choice, &interpreted);
        let (mut candidates, mut broken) = (Vec::new(), Vec::new());
        for (other, name) in others.iter().zip(&names) {
            let read = match failed.remove(&other.template()) {
                Some(errors) => Err(errors),
                None => Interpreted::of(other, &choice),
            };
            match read {
                Ok(candidate) => candidates.push((candidate, name)),
                Err(errors) => broken.push(BrokenTemplate::of(other, name, &kinds, errors)),
            }
        }
        let directory = loaded.package().directory();
        let read = candidates.iter().filter_map(|(candidate, name)| {
            catalogue_template(candidate, name, directory, &kinds, &mut warnings)
        });
        let (sources_of, templates): (Vec<_>, Vec<_>) = read.unzip();
        let looks_at_values = templates.iter().zip(&sources_of).any(|(template, interpreted)| {
            let mut mappings = template.substitution.properties.iter();
            template.substitution.node.get("substitution_filter").is_some()
                || mappings.any(|mapping| mapping.value.is_some())
                || !interpreted.template.is_plain()
        });
        let looks_around = templates.iter().any(|template| {
            let filter = template.substitution.node.get("substitution_filter");
            filter.is_some_and(looks_around)
        });
        let catalogue = ReadCatalogue {
            looks_at_values,
            looks_around,
            known: templates.iter().map(|_| RefCell::default()).collect(),
            templates,
            interpreted: sources_of,
            choice: &choice,
            which: query.candidates,
            inputs: &given,
            how: &how,
            types: &types,
        };
        catalogue.unknown_inputs()?;
        let (documents, more) = resolve::documents(&interpreted, &own, &how, &mut |_, _| {})?;
        warnings.0.extend(more.0);
        let roots = candidates.iter().map(|(candidate, _)| Out::Source(candidate.template.root));
        left_out(broken, roots.chain([documents.written.clone()]), &types, &mut warnings)?;
        let inputs = documents.inputs.iter();
        let inputs = inputs.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let settings = SubstitutionSettings {
            inputs: &inputs,
            types: &types,
            sources: loaded.sources(),
            chosen: &query.chosen,
            file: loaded.template(),
            inventory: (!query.leaves_open).then_some(&query.inventory),
            nests: query.nests,
            solver: &SolverSettings {
                limit: how.limit.clone(),
                ..SolverSettings::from(self.choice.solver)
            },
        };
        match substitute(documents.written, documents.evaluated, &catalogue, &settings) {
            Ok(done) => {
                warnings.0.extend(done.warnings.0);
                let nested = nested(&done.nested, &others)?;
                let yaml = emit::text(&done.document);
                Ok((Substituted { yaml, explained: done.explained, nested }, warnings))
            }
            Err(errors) => Err(warnings.before(errors)),
        }
    }

    /// The choice for templates of the catalogue: they get no input, preset or option from this
    /// choice.
    fn choice_of_candidates(&self) -> Choice {
        Choice {
            clock: self.choice.clock.clone(),
            solver: self.choice.solver,
            non_normative: self.choice.non_normative,
            ..Choice::default()
        }
    }
}

/// The result of a substitution.
struct Substituted {
    yaml: String,
    explained: SubstitutionExplanation,
    nested: Vec<NestedTemplate>,
}

/// The variants that substitute nodes, each once, with their paths.
fn nested(
    documents: &[NestedDocument<'_>],
    others: &[Loaded],
) -> Result<Vec<NestedTemplate>, Diagnostics> {
    let mut all: Vec<(FileId, NestedTemplate)> = Vec::new();
    for NestedDocument { node, file, document, .. } in documents {
        let yaml = emit::text(document);
        let same = all.iter_mut().find(|(other, known)| other == file && known.yaml == yaml);
        if let Some((_, known)) = same {
            known.nodes.push(node.clone());
            continue;
        }
        let Some(loaded) = others.iter().find(|other| other.template() == *file) else { continue };
        let (package, count) = (loaded.package(), all.iter().filter(|(it, _)| it == file).count());
        if package.is_packed() {
            let message = format!(
                "`{}` is in an archive, and cannot be put into another one",
                package.template.display()
            );
            let error = Diagnostic::error(Code::Csar, message);
            return Err(error.help("unpack the archive, or leave out `--nest`").into());
        }
        let mut path = package.template.clone();
        if count > 0 {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.set_file_name(format!("{stem}_{}.yaml", count + 1));
        }
        all.push((*file, NestedTemplate { nodes: vec![node.clone()], path, yaml }));
    }
    Ok(all.into_iter().map(|(_, nested)| nested).collect())
}

/// Splits inputs into those of the template itself and those of templates that substitute its
/// nodes. The latter are called `node.input`, where the template has no input of this name itself.
fn split_inputs(
    choice: &Choice,
    interpreted: &Interpreted<'_>,
) -> (Choice, Vec<(String, InputSource)>) {
    let template = &interpreted.template;
    let topology = template.root.get("topology_template");
    let nodes = topology.and_then(|topology| topology.get("node_templates"));
    let is_own = |name: &str| template.variability.inputs.is_some_and(|it| it.get(name).is_some());
    // The name of a node inside a substituting template starts with the name of the substituted
    // node.
    let is_node = |name: &str| {
        let mut names = nodes.into_iter().flat_map(Node::entries);
        names.any(|(key, _)| key.text().is_some_and(|known| name.starts_with(known)))
    };
    let (mut own, mut given) = (choice.clone(), Vec::new());
    own.inputs.retain(|source| {
        let Some(name) = source.name() else { return true };
        let parts = name.split_once('.').filter(|(node, _)| !is_own(name) && is_node(node));
        let Some((node, input)) = parts else { return true };
        given.push((
            node.to_owned(),
            match source {
                InputSource::Text(_, text) => InputSource::Text(input.to_owned(), text.clone()),
                InputSource::Value(_, value) => InputSource::Value(input.to_owned(), value.clone()),
                InputSource::Known(_, value) => InputSource::Known(input.to_owned(), value.clone()),
                InputSource::File(path) => InputSource::File(path.clone()),
            },
        ));
        false
    });
    (own, given)
}

/// The templates of a catalogue with the paths that messages show, in the order of these paths.
fn read_catalogue(
    loaded: &Loaded,
    paths: &[PathBuf],
    warnings: &mut Diagnostics,
) -> Result<(Vec<Loaded>, Vec<String>), Diagnostics> {
    let mut all: Vec<(String, Loaded)> = Vec::new();
    let mut known = FxHashSet::default();
    for path in paths {
        let mut found = Diagnostics::default();
        for other in loaded.beside_this(path, MAPPINGS, &mut found) {
            let root = loaded.whole(other.template())?.root();
            let topology = root.get("topology_template");
            let maps = topology.and_then(|topology| topology.get(MAPPINGS)).is_some();
            // An archive's other definitions that cannot substitute are ignored.
            let has_others = other.package().others().next().is_some();
            if maps && known.insert(other.template()) {
                all.push((shown(&other.package().template), other));
            } else if !maps && !is_directory_of(path, &other) && !has_others {
                let message = format!("`{}` has no `{MAPPINGS}`", path.display());
                let note = Diagnostic::note(Code::NoSubstitution, message).at(root.span());
                found.push(note.help("it can substitute nothing"));
            }
        }
        if found.has_errors() {
            return Err(found);
        }
        warnings.0.extend(found.0);
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let (names, all) = all.into_iter().unzip();
    Ok((all, names))
}

/// Whether a template was found in a directory that the user named, not named itself.
fn is_directory_of(path: &Path, other: &Loaded) -> bool {
    other.package().template != path && other.package().root().is_none()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The types of a template and of all templates that may substitute in it.
struct LinkedTypes<'l> {
    types: Types<'l>,
    /// The errors of templates whose types cannot be read.
    failed: FxHashMap<FileId, Diagnostics>,
}

/// Links the types of the template and of all templates that may substitute in it.
fn linked<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
    others: &'l [Loaded],
    other_choice: &Choice,
) -> Result<LinkedTypes<'l>, Diagnostics> {
    let (mut all, mut links) = documents(loaded, choice, InputMode::Closed, &|_| true)?;
    let mut seen: FxHashSet<FileId> = all.iter().map(|document| document.file()).collect();
    let mut failed = FxHashMap::default();
    for other in others {
        match documents(other, other_choice, InputMode::Closed, &|_| true) {
            Ok((more, Links { library, links: more_links, .. })) => {
                all.extend(more.into_iter().filter(|document| seen.insert(document.file())));
                links.library.extend(library);
                links.links.extend(more_links);
            }
            Err(errors) => drop(failed.insert(other.template(), errors)),
        }
    }
    let all = choice.beside_profiles(&all, loaded.sources());
    Ok(LinkedTypes { types: Types::linked(all, &links, &VARIABILITY_GROUPS), failed })
}

/// Finds the type that a catalogue template substitutes: among the types that this template knows,
/// or else among those of the template in which it may substitute.
struct SubstitutedKinds<'t, 'l> {
    types: &'t Types<'l>,
    template: FileId,
}

impl SubstitutedKinds<'_, '_> {
    fn kind_of(&self, name: Option<Node<'_>>) -> Option<TypeId> {
        let beside = || self.types.find_in(Some(self.template), Family::Node, name?.text()?);
        kind_of(self.types, name).or_else(beside)
    }
}

/// Reads the substitution mappings of a template of the catalogue.
fn catalogue_template<'l, 'i>(
    interpreted: &'i Interpreted<'l>,
    name: &str,
    directory: &Path,
    kinds: &SubstitutedKinds<'_, '_>,
    warnings: &mut Diagnostics,
) -> Option<(&'i Interpreted<'l>, CatalogueTemplate<'i>)> {
    let loaded = interpreted.loaded;
    let root: Node<'i> = loaded.whole(loaded.template()).ok()?.root();
    let node = root.get("topology_template")?.get(MAPPINGS)?;
    // Validating reports mistakes in the shape of the mappings.
    let substitution = substitution(node, &mut Diagnostics::default());
    let (changes, lost) = csar::renamed_nodes(loaded.package(), root, directory);
    warnings.0.extend(lost);
    let kind = kinds.kind_of(substitution.node_type);
    let names = changes.into_iter().map(|(node, name)| (node.identity(), name)).collect();
    let file = loaded.template();
    let template = CatalogueTemplate { name: name.to_owned(), file, substitution, kind, names };
    Some((interpreted, template))
}

/// A template of the catalogue that cannot be read.
struct BrokenTemplate<'n> {
    name: &'n str,
    /// The type that the template would substitute, if it is known.
    kind: Option<TypeId>,
    errors: Diagnostics,
}

impl<'n> BrokenTemplate<'n> {
    fn of(
        loaded: &Loaded,
        name: &'n str,
        kinds: &SubstitutedKinds<'_, '_>,
        errors: Diagnostics,
    ) -> Self {
        let root = loaded.whole(loaded.template()).map(Document::root).ok();
        let mapping = root.and_then(|root| root.get("topology_template")?.get(MAPPINGS));
        let kind = kinds.kind_of(mapping.and_then(|mapping| mapping.get("node_type")));
        Self { name, kind, errors }
    }
}

/// Notes which templates of the catalogue are left out because they cannot be read.
///
/// # Errors
/// The errors of a broken template that could substitute the type of a node to be substituted.
fn left_out<'a>(
    broken: Vec<BrokenTemplate<'_>>,
    documents: impl Iterator<Item = Out<'a>>,
    types: &Types<'_>,
    warnings: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    if broken.is_empty() {
        return Ok(());
    }
    let wanted = |document| {
        let nodes = TemplateView::of(document, types).nodes.into_iter();
        nodes.filter(|node| node.is_substituted).filter_map(|node| node.kind)
    };
    let wanted: Vec<_> = documents.flat_map(wanted).collect();
    for BrokenTemplate { name, kind, errors } in broken {
        if kind.is_some_and(|kind| wanted.iter().any(|&wanted| is_a(types, kind, wanted))) {
            return Err(std::mem::take(warnings).before(errors));
        }
        let why = errors.0.iter().find(|error| error.severity == Severity::Error);
        let message = why.map_or("", |error| &error.message);
        let note = format!("`{name}` is left out, because it is wrong: {message}");
        let note = Diagnostic::note(Code::NoSubstitution, note);
        let at = why.and_then(|error| error.span);
        warnings.push(match at {
            Some(at) => note.at(at),
            None => note,
        });
    }
    Ok(())
}

/// The variants that were found of a template, by the choice for the node.
type KnownVariants<'a> = FxHashMap<String, Result<Rc<[CandidateVariant<'a>]>, Refusal>>;

/// The templates of the catalogue with their variants, each resolved once.
struct ReadCatalogue<'c, 'l, 'a> {
    templates: Vec<CatalogueTemplate<'a>>,
    interpreted: Vec<&'a Interpreted<'l>>,
    known: Vec<RefCell<KnownVariants<'a>>>,
    choice: &'c Choice,
    which: CandidateVariants,
    /// Variability inputs that are given for nodes.
    inputs: &'c [(String, InputSource)],
    how: &'c How,
    types: &'c Types<'l>,
    /// Whether a template depends on property values of the nodes that it substitutes.
    looks_at_values: bool,
    looks_around: bool,
}

impl<'c, 'l, 'a> ReadCatalogue<'c, 'l, 'a> {
    /// The variants of a template for a node, each resolved once.
    fn variants_of(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
        which: CandidateVariants,
    ) -> Result<Rc<[CandidateVariant<'a>]>, Refusal> {
        let search = CandidateSearch { which, ..self.search(template) };
        let mut known = self.known[template].borrow_mut();
        // A plain template has one variant, whatever the choice is.
        if search.interpreted.template.is_plain()
            && let Some(known) = known.get("")
        {
            return known.clone();
        }
        let choice = search.choice_for(facade)?;
        let asked = match search.interpreted.template.is_plain() {
            true => String::new(),
            false => format!("{which:?}{:?}{:?}", choice.inputs, choice.demands),
        };
        let find = || search.variants(&choice).map(Into::into);
        known.entry(asked).or_insert_with(find).clone()
    }

    fn search(&self, template: usize) -> CandidateSearch<'_, 'l, 'a> {
        CandidateSearch {
            interpreted: self.interpreted[template],
            template: &self.templates[template],
            types: self.types,
            choice: self.choice,
            which: self.which,
            inputs: self.inputs,
            how: self.how,
        }
    }

    /// Reports inputs for nodes that no template of the catalogue declares.
    fn unknown_inputs(&self) -> Result<(), Diagnostics> {
        let all: Vec<_> = (0..self.templates.len()).map(|template| self.search(template)).collect();
        let is_known = |name: &str| all.iter().any(|search| search.is_variability_input(name));
        let mut errors = Diagnostics::default();
        for (node, input) in self.inputs {
            if let Some(name) = input.name().filter(|name| !is_known(name)) {
                let message = format!(
                    "the call assigns `{node}.{name}`, and no template of the catalogue has a variability input `{name}`"
                );
                errors.push(Diagnostic::error(Code::InvalidInput, message));
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok(()) }
    }
}

impl<'a> Catalogue<'a> for ReadCatalogue<'_, '_, 'a> {
    fn templates(&self) -> &[CatalogueTemplate<'a>] {
        &self.templates
    }

    fn variants(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
    ) -> Result<Rc<[CandidateVariant<'a>]>, Refusal> {
        self.variants_of(template, facade, self.which)
    }

    fn open_variant(
        &self,
        template: usize,
        facade: &Facade<'_, 'a>,
    ) -> Option<CandidateVariant<'a>> {
        let is_plain = self.interpreted[template].template.is_plain();
        if is_plain || self.which == CandidateVariants::Open {
            return None;
        }
        self.variants_of(template, facade, CandidateVariants::Open).ok()?.first().cloned()
    }

    fn is_named(&self, node: &str) -> bool {
        // The name of a node inside a substituting template starts with the name of the substituted
        // node.
        self.inputs.iter().any(|(name, _)| name.starts_with(node))
    }

    fn looks_at_values(&self) -> bool {
        self.looks_at_values
    }

    fn looks_around(&self) -> bool {
        self.looks_around
    }
}
