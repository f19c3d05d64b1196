//! Substituting nodes: what is read for it, and what comes out.

use super::Resolver;
use crate::orchestrate::fulfil::Inventory;
use crate::orchestrate::substitute::candidate::{
    CandidateVariant, CatalogueTemplate, Facade, Refusal, kind_of,
};
use crate::orchestrate::substitute::view::TemplateView;
use crate::orchestrate::substitute::{
    Catalogue, ChosenTemplate, ExplainedSubstitution, SubstitutionSettings, substitute,
};
use crate::sat::solve::SolverSettings;
use crate::text::answer::Failure;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::text::yaml::{Document, Node};
use crate::tosca::Types;
use crate::tosca::csar;
use crate::tosca::load::{Extent, Loaded};
use crate::tosca::substitution::substitution;
use crate::tosca::types::scope::Links;
use crate::variability::choice::Choice;
use crate::variability::emit;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, documents};
use crate::variability::resolution::Resolution;
use crate::variability::resolve::{self, How};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// In the text of every template that may substitute.
const MAPPINGS: &str = "substitution_mappings";

/// How nodes of a template are substituted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SubstitutionQuery {
    /// The catalogue: templates, archives, and directories of such.
    pub with: Vec<PathBuf>,
    /// What is chosen where there are several candidates.
    pub chosen: Vec<ChosenTemplate>,
    /// What is there, and may be taken where something is left open.
    pub inventory: Inventory,
}

impl SubstitutionQuery {
    /// With these templates, archives and directories.
    pub fn with(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { with: paths.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Takes what is left open from what is there.
    pub fn inventory(self, inventory: Inventory) -> Self {
        Self { inventory, ..self }
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

/// A template whose nodes are substituted, and why they became what they are.
#[derive(Debug)]
#[non_exhaustive]
pub struct SubstitutedTemplate {
    /// The template.
    pub resolution: Resolution,
    /// What substitutes which node, outermost first.
    pub explained: Vec<ExplainedSubstitution>,
}

impl Resolver {
    /// Resolves, takes what is left open from what is there, as [`Resolver::fulfil`] does, and replaces
    /// the nodes that have the directive `substitute` by what is in templates that implement their
    /// types.
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
            Ok((yaml, explained, Diagnostics(warnings))) => {
                let package = loaded.package().clone();
                let resolution = Resolution::rewritten(yaml, package, sources, warnings);
                Ok(SubstitutedTemplate { resolution, explained })
            }
            Err(Diagnostics(diagnostics)) => Err(Failure { diagnostics, sources }),
        }
    }

    fn substituted(
        &self,
        loaded: &Loaded,
        query: &SubstitutionQuery,
    ) -> Result<(String, Vec<ExplainedSubstitution>, Diagnostics), Diagnostics> {
        let mut warnings = Diagnostics::default();
        let (others, names) = read_catalogue(loaded, &query.with, &mut warnings)?;
        let choice = self.choice_of_candidates();
        let types = linked(loaded, &self.choice, &others, &choice)?;
        let how = self.how();
        let interpreted = Interpreted::of(loaded, &self.choice)?;
        let candidates = others.iter().map(|other| Interpreted::of(other, &choice));
        let candidates: Vec<_> = candidates.collect::<Result<_, _>>()?;
        let directory = loaded.package().directory();
        let read = candidates.iter().zip(&names).filter_map(|(candidate, name)| {
            catalogue_template(candidate, name, directory, &types, &mut warnings)
        });
        let (sources_of, templates): (Vec<_>, Vec<_>) = read.unzip();
        let catalogue = ReadCatalogue {
            variants: templates.iter().map(|_| RefCell::default()).collect(),
            templates,
            interpreted: sources_of,
            choice: &choice,
            how: &how,
            types: &types,
        };
        let (documents, more) = resolve::documents(&interpreted, &self.choice, &how)?;
        warnings.0.extend(more.0);
        let settings = SubstitutionSettings {
            types: &types,
            sources: loaded.sources(),
            chosen: &query.chosen,
            file: loaded.template(),
            inventory: &query.inventory,
            solver: &SolverSettings {
                limit: how.limit.clone(),
                ..SolverSettings::from(self.choice.solver)
            },
        };
        match substitute(documents.written, documents.evaluated, &catalogue, &settings) {
            Ok(done) => {
                warnings.0.extend(done.warnings.0);
                Ok((emit::text(&done.document), done.explained, warnings))
            }
            Err(errors) => Err(warnings.before(errors)),
        }
    }

    /// What is chosen of templates of the catalogue: nothing is passed on by name.
    fn choice_of_candidates(&self) -> Choice {
        Choice {
            clock: self.choice.clock.clone(),
            solver: self.choice.solver,
            non_normative: self.choice.non_normative,
            ..Choice::default()
        }
    }
}

/// The templates of a catalogue with the paths by which they are shown, in the order of these.
fn read_catalogue(
    loaded: &Loaded,
    paths: &[PathBuf],
    warnings: &mut Diagnostics,
) -> Result<(Vec<Loaded>, Vec<String>), Diagnostics> {
    let mut all: Vec<(String, Loaded)> = Vec::new();
    for path in paths {
        let mut found = Diagnostics::default();
        for other in loaded.beside_this(path, MAPPINGS, &mut found) {
            let root = loaded.whole(other.template())?.root();
            let topology = root.get("topology_template");
            let maps = topology.and_then(|topology| topology.get(MAPPINGS)).is_some();
            let is_known = all.iter().any(|(_, known)| known.template() == other.template());
            if maps && !is_known {
                all.push((shown(&other.package().template), other));
            } else if !maps && !is_directory_of(path, &other) {
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

/// Whether a template was found below a directory that was named.
fn is_directory_of(path: &Path, other: &Loaded) -> bool {
    other.package().template != path && other.package().root().is_none()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The types of the template and of all that may substitute in it.
fn linked<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
    others: &'l [Loaded],
    other_choice: &Choice,
) -> Result<Types<'l>, Diagnostics> {
    let (mut all, mut links) = documents(loaded, choice, InputMode::Closed, &|_| true)?;
    for other in others {
        let (more, Links { library, links: more_links, .. }) =
            documents(other, other_choice, InputMode::Closed, &|_| true)?;
        let is_new = |document: &&Document| all.iter().all(|known| known.file() != document.file());
        let more: Vec<_> = more.into_iter().filter(is_new).collect();
        all.extend(more);
        links.library.extend(library);
        links.links.extend(more_links);
    }
    let all = choice.beside_profiles(&all, loaded.sources());
    Ok(Types::linked(all, &links, &VARIABILITY_GROUPS))
}

/// What a template of the catalogue says of substituting.
fn catalogue_template<'l, 'i>(
    interpreted: &'i Interpreted<'l>,
    name: &str,
    directory: &Path,
    types: &Types<'_>,
    warnings: &mut Diagnostics,
) -> Option<(&'i Interpreted<'l>, CatalogueTemplate<'i>)> {
    let loaded = interpreted.loaded;
    let root: Node<'i> = loaded.whole(loaded.template()).ok()?.root();
    let node = root.get("topology_template")?.get(MAPPINGS)?;
    // What is wrong with its shape is for validating to say.
    let substitution = substitution(node, &mut Diagnostics::default());
    let (changes, lost) = csar::renamed_nodes(loaded.package(), root, directory);
    warnings.0.extend(lost);
    let kind = kind_of(types, substitution.node_type);
    let names = changes.into_iter().map(|(node, name)| (node.identity(), name)).collect();
    let file = loaded.template();
    let template = CatalogueTemplate { name: name.to_owned(), file, substitution, kind, names };
    Some((interpreted, template))
}

/// Templates with their variants, each resolved once.
struct ReadCatalogue<'c, 'l, 'a> {
    templates: Vec<CatalogueTemplate<'a>>,
    interpreted: Vec<&'a Interpreted<'l>>,
    variants: Vec<RefCell<Option<Result<CandidateVariant<'a>, Refusal>>>>,
    choice: &'c Choice,
    how: &'c How,
    types: &'c Types<'l>,
}

impl<'a> ReadCatalogue<'_, '_, 'a> {
    fn by_defaults(&self, template: usize) -> Result<CandidateVariant<'a>, Refusal> {
        let found = resolve::documents(self.interpreted[template], self.choice, self.how);
        match found {
            Ok((documents, _)) => {
                let view = TemplateView::of(documents.written, self.types);
                let weight = view.nodes.len() as u64;
                Ok(CandidateVariant {
                    preset: None,
                    inputs: Vec::new(),
                    weight,
                    view: Rc::new(view),
                })
            }
            Err(Diagnostics(errors)) => {
                let first = errors.into_iter().find(|error| error.severity == Severity::Error);
                let at = self.templates[template].substitution.node.span();
                let why = first.map_or_else(String::new, |error| error.message);
                Err(Refusal::new(4, format!("it has no variant: {why}"), at))
            }
        }
    }
}

impl<'a> Catalogue<'a> for ReadCatalogue<'_, '_, 'a> {
    fn templates(&self) -> &[CatalogueTemplate<'a>] {
        &self.templates
    }

    fn variants(
        &self,
        template: usize,
        _facade: &Facade<'_, 'a>,
    ) -> Result<Vec<CandidateVariant<'a>>, Refusal> {
        let mut known = self.variants[template].borrow_mut();
        let variant = known.get_or_insert_with(|| self.by_defaults(template)).clone();
        Ok(vec![variant?])
    }
}
