//! The pipeline in one readable function, and the public way into it.

use crate::sat::formula::Formula;
use crate::sat::progress::Progress;
use crate::sat::solve::{Limit, SolverKind, SolverSettings};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::{FileId, FileSystem, OsFiles, SourceMap};
use crate::text::value::Value;
use crate::text::yaml::{self, Document, Limits, Node, Out};
use crate::tosca::csar::{self, Package};
use crate::tosca::load::{self, Importing, Mapping, Opened};
use crate::tosca::types::TypeHierarchy;
use crate::tosca::types::scope::Links;
use crate::tosca::{Types, profile};
use crate::variability::check;
use crate::variability::clock::Clock;
use crate::variability::emit;
use crate::variability::enrich;
use crate::variability::expression::Evaluator;
use crate::variability::find::{self, Optimum, Variant};
use crate::variability::function::deployment::{self, DeploymentInputs};
use crate::variability::function::evaluate::{Functions, Given};
use crate::variability::graph::{self, Graph};
use crate::variability::inputs::{
    self, Assignment, Declarations, Inputs, Openness, VariabilityPresets,
};
use crate::variability::objectives;
use crate::variability::options::{self, Kind, Options};
use crate::variability::presence::Presence;
use crate::variability::technology;
use crate::variability::template::{
    self, Import, PropertyValue, ServiceTemplate, TypeSpecificConditions,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is left of a run: the result, its elements, and what comes with it.
type Resolved = (String, Elements, Package, Vec<Optimum>);

/// Where the template is.
#[derive(Clone, Debug)]
enum Template {
    Path(PathBuf),
    Text { name: PathBuf, text: String },
}

/// One source of variability inputs, in the order given.
#[derive(Clone, Debug)]
enum InputSource {
    File(PathBuf),
    Value(String, Value),
    Text(String, String),
}

/// Resolves one variant of one template.
///
/// Only what is given counts: without [`Resolver::environment`] no environment variable is read,
/// and without [`Resolver::now`] there is no clock.
///
/// ```
/// let resolution = cuvee::Resolver::new("examples/shop").preset("prod").input("visitors", 4000).resolve()?;
/// println!("{}", resolution.to_yaml());
/// for file in resolution.sources() {
///     println!("cargo:rerun-if-changed={}", file.display());
/// }
/// # Ok::<(), cuvee::Failure>(())
/// ```
#[derive(Clone)]
pub struct Resolver {
    template: Template,
    files: Arc<dyn FileSystem + Send>,
    presets: Vec<String>,
    environment: Vec<(String, String)>,
    inputs: Vec<InputSource>,
    options: Vec<(String, String)>,
    conditions: Vec<String>,
    mapping: Mapping,
    clock: Option<Clock>,
    solver: SolverKind,
    timeout: Option<Duration>,
    stop: Option<Arc<AtomicBool>>,
    non_normative: bool,
    /// Whether phases go on after mistakes, as far as they can.
    tolerant: bool,
    /// Deployment inputs, where functions are evaluated.
    deployment: Option<Vec<InputSource>>,
    /// Whether memory is left to the end of the process.
    keeps_memory: bool,
}

impl Resolver {
    /// For a template file, an archive (see [`crate::tosca::csar`]), or a directory that holds a
    /// template under its usual name.
    pub fn new(template: impl Into<PathBuf>) -> Self {
        Self::of(Template::Path(template.into()))
    }

    /// For a template at hand; `name` says where it would be, for messages and for relative paths
    /// in it.
    pub fn from_text(name: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self::of(Template::Text { name: name.into(), text: text.into() })
    }

    fn of(template: Template) -> Self {
        Self {
            template,
            files: Arc::new(OsFiles),
            presets: Vec::new(),
            environment: Vec::new(),
            inputs: Vec::new(),
            options: Vec::new(),
            conditions: Vec::new(),
            mapping: Mapping::default(),
            clock: None,
            solver: SolverKind::default(),
            timeout: None,
            stop: None,
            non_normative: false,
            tolerant: false,
            deployment: None,
            keeps_memory: false,
        }
    }

    /// Reads files through this instead of from the operating system.
    pub fn files(mut self, files: impl FileSystem + Send + 'static) -> Self {
        self.files = Arc::new(files);
        self
    }

    /// Adds a variability preset; later ones win.
    pub fn preset(mut self, name: impl Into<String>) -> Self {
        self.presets.push(name.into());
        self
    }

    /// Chooses these variability presets instead of those chosen so far; later ones win.
    pub fn only_presets(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.presets = names.into_iter().map(Into::into).collect();
        self
    }

    /// Takes inputs from environment variables: `CUVEE_INPUT_<NAME>`, and `CUVEE_PRESETS` where no
    /// preset is given.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Adds a file of inputs: YAML, JSON, or FeatureIDE extended XML.
    pub fn inputs_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.inputs.push(InputSource::File(path.into()));
        self
    }

    /// Assigns an input; wins over files.
    pub fn input(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.inputs.push(InputSource::Value(name.into(), value.into()));
        self
    }

    /// Assigns an input from text read as YAML; wins over files.
    pub fn input_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.inputs.push(InputSource::Text(name.into(), text.into()));
        self
    }

    /// Sets a variability option over the template's; the value is read as YAML.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }

    /// Explores only variants in which this holds: a variability condition in YAML, such as
    /// `{node_presence: cache}`.
    ///
    /// Resolving takes no notice of it.
    pub fn only_where(mut self, condition: impl Into<String>) -> Self {
        self.conditions.push(condition.into());
        self
    }

    /// Lets a local file or directory stand for a URL and everything below it, so that imports find
    /// their files; the longest URL wins.
    ///
    /// Nothing is ever fetched: resolving leaves an import of a URL that nothing stands for to an
    /// orchestrator, validating rejects it. The name of a profile can be mapped as well.
    ///
    /// ```
    /// use cuvee::source::MemoryFiles;
    /// let shop = "\
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// imports: [ 'https://example.com/types/shop.yaml' ]
    /// topology_template: { node_templates: { shop: { type: Shop } } }
    /// ";
    /// let types = "{ tosca_definitions_version: tosca_simple_yaml_1_3, node_types: { Shop: {} } }";
    /// let files = MemoryFiles::from([("shop.yaml", shop), ("vendor/shop.yaml", types)]);
    /// let shop = cuvee::Resolver::new("shop.yaml").files(files);
    /// assert!(!shop.clone().validate().is_valid(false));
    /// assert!(shop.map("https://example.com/types", "vendor").validate().is_valid(true));
    /// ```
    pub fn map(mut self, url: impl AsRef<str>, path: impl Into<PathBuf>) -> Self {
        self.mapping.add(url.as_ref(), path.into());
        self
    }

    /// Sets the clock, in the time zone that `weekday` means; needed only by templates that ask for
    /// it.
    pub fn now(self, now: jiff::Zoned) -> Self {
        self.clock(move || now)
    }

    /// Sets a clock that is asked once, and only by templates that need it.
    pub fn clock(mut self, now: impl FnOnce() -> jiff::Zoned + Send + 'static) -> Self {
        self.clock = Some(Clock::new(now));
        self
    }

    /// Chooses the solver; every solver finds the same variant.
    pub fn solver(mut self, solver: SolverKind) -> Self {
        self.solver = solver;
        self
    }

    /// Takes the best variant that is found in so much time, reading included, where none is proven
    /// to be the best by then: see [`Resolution::is_proven`]. What is found may then depend on the
    /// machine. Exploring knows no time limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// let resolution = cuvee::Resolver::new("examples/shop").preset("prod").timeout(Duration::from_secs(600)).resolve()?;
    /// assert!(resolution.is_proven());
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Stops as with a [`timeout`](Self::timeout) once this is set, by another thread or a handler
    /// of signals.
    pub fn stop_when(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// When to stop a run that starts now.
    fn limit(&self) -> Limit {
        let limit = self.timeout.map(Limit::after).unwrap_or_default();
        self.stop.iter().fold(limit, |limit, stop| limit.or_when(Arc::clone(stop)))
    }

    /// Takes the non-normative types of TOSCA's chapter 9 for defined as well, where types are
    /// judged; resolving knows the normative ones only.
    pub fn non_normative_types(mut self) -> Self {
        self.non_normative = true;
        self
    }

    /// Replaces the functions of TOSCA whose values need no run time by their values: those that
    /// take from topology inputs and properties.
    ///
    /// ```
    /// let text = "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   inputs:
    ///     port: {type: integer}
    ///   outputs:
    ///     url: {value: {concat: ['http://localhost:', {get_input: port}]}}
    /// ";
    /// let resolver = cuvee::Resolver::from_text("shop.yaml", text).evaluate_functions().deployment_input("port", 80);
    /// assert!(resolver.resolve()?.to_yaml().ends_with("url: {value: http://localhost:80}\n"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn evaluate_functions(mut self) -> Self {
        self.deployment.get_or_insert_default();
        self
    }

    /// Adds a file of values of topology inputs, by which functions are evaluated: YAML or JSON;
    /// later ones win.
    pub fn deployment_inputs_file(self, path: impl Into<PathBuf>) -> Self {
        self.deployment_source(InputSource::File(path.into()))
    }

    /// Assigns a topology input, by which functions are evaluated; wins over files.
    pub fn deployment_input(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.deployment_source(InputSource::Value(name.into(), value.into()))
    }

    /// Assigns a topology input from text read as YAML, by which functions are evaluated; wins over
    /// files.
    pub fn deployment_input_text(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.deployment_source(InputSource::Text(name.into(), text.into()))
    }

    fn deployment_source(mut self, source: InputSource) -> Self {
        self.deployment.get_or_insert_default().push(source);
        self
    }

    /// Does not give back the memory of a run: for a process that ends right after it, which gives
    /// back all of it at once.
    pub fn keep_memory(mut self) -> Self {
        self.keeps_memory = true;
        self
    }

    /// Goes on after mistakes as far as possible, so that all of them are found; they are then
    /// among the warnings.
    pub(crate) fn tolerant(mut self) -> Self {
        self.tolerant = true;
        self
    }

    /// Whether a variant is chosen, rather than all of them meant.
    pub(crate) fn chooses(&self) -> bool {
        let assigns = |(name, _): &(String, String)| name.starts_with(inputs::INPUT_VARIABLE);
        let by_environment = self.environment.iter().any(assigns)
            || !inputs::presets_from_environment(&self.environment).is_empty();
        by_environment || !self.presets.is_empty() || !self.inputs.is_empty()
    }

    /// The profiles whose types are there without an import.
    pub(crate) fn profiles<'d>(&self) -> impl Iterator<Item = &'d Document> + use<'d> {
        std::iter::once(profile::normative())
            .chain(self.non_normative.then(profile::non_normative))
            .map(|document| -> &'d _ { document })
    }

    /// Documents behind the profiles. One that is a copy of a profile is that profile, whether it
    /// was asked for or not.
    pub(crate) fn beside_profiles<'d>(
        &self,
        documents: &'d [Document],
        sources: &SourceMap,
    ) -> Vec<&'d Document> {
        let mut all: Vec<_> = self.profiles().collect();
        for document in documents {
            let document =
                profile::of_text(sources.file(document.file()).text()).unwrap_or(document);
            if !all.iter().any(|there| there.file() == document.file()) {
                all.push(document);
            }
        }
        all
    }

    /// Resolves.
    ///
    /// # Errors
    /// A [`Failure`] with everything that is wrong.
    pub fn resolve(&self) -> Result<Resolution, Failure> {
        self.resolve_with(&mut ())
    }

    /// Resolves, and tells what happens meanwhile.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn resolve_with(&self, progress: &mut dyn Progress) -> Result<Resolution, Failure> {
        let (((yaml, elements, package, optima), warnings), sources) =
            with_sources(|sources| self.run(sources, progress))?;
        Ok(Resolution { yaml, elements, package, optima, sources, warnings: warnings.0 })
    }

    /// The effective options of the template, and the files their origins point into.
    ///
    /// # Errors
    /// A [`Failure`] where the template cannot be read or an option is wrong.
    pub fn effective_options(&self) -> Result<(Options, SourceMap), Failure> {
        with_sources(|sources| {
            let (opened, _) = self.open(sources)?;
            // What else is wrong with the template is for resolving to say.
            let template = template::parse(opened.template.root(), &mut Diagnostics::default());
            options::resolve(template.version, template.variability.options, &self.options)
        })
    }

    /// The names of the template's variability presets, in its order.
    ///
    /// # Errors
    /// A [`Failure`] where the template cannot be read.
    pub fn preset_names(&self) -> Result<Vec<String>, Failure> {
        let (opened, _) = with_sources(|sources| self.open(sources))?.0;
        // What is wrong with the template is for resolving to say.
        let template = template::parse(opened.template.root(), &mut Diagnostics::default());
        let presets =
            VariabilityPresets::parse(template.variability.presets, &mut Diagnostics::default());
        Ok(presets.names().map(str::to_owned).collect())
    }

    /// The whole pipeline, phase by phase.
    fn run(
        &self,
        sources: &mut SourceMap,
        progress: &mut dyn Progress,
    ) -> Result<(Resolved, Diagnostics), Diagnostics> {
        let limit = self.limit();
        let deployment = self
            .deployment
            .as_deref()
            .map(|inputs| self.deployment_inputs(inputs, sources))
            .transpose()?;
        self.with_prepared(
            Openness::Closed,
            sources,
            progress,
            |prepared, sources, warnings, progress| {
                let Prepared { graph, options, violations, .. } = prepared;
                checked(warnings, |diagnostics| *diagnostics = violations.clone())?;
                let mut evaluator =
                    Evaluator::new(graph, prepared.types, prepared.inputs, prepared.now);
                let Variant { presence, optima, unproven } =
                    prepared.resolve(&mut evaluator, limit, progress)?;
                warnings.0.extend(unproven);
                progress.phase("checking");
                checked(warnings, |diagnostics| {
                    *diagnostics = check::check(graph, options, &presence)
                })?;
                progress.phase("writing");
                evaluator.decide(&presence);
                let yaml = match &deployment {
                    Some(deployment) => {
                        self.evaluated(prepared, deployment, &mut evaluator, &presence, sources)?
                    }
                    None => self.written(emit::emit(&mut evaluator, &presence, None)?),
                };
                let elements = Elements::of(graph, &presence);
                progress.phase("cleaning up");
                self.leave(evaluator);
                Ok((yaml, elements, prepared.package.clone(), optima))
            },
        )
    }

    /// The result with the values of its functions.
    fn evaluated<'a>(
        &self,
        prepared: &Prepared<'_, 'a>,
        deployment: &[DeploymentInputs],
        evaluator: &mut Evaluator<'_, 'a>,
        presence: &Presence,
        sources: &SourceMap,
    ) -> Result<String, Diagnostics> {
        let graph = prepared.graph;
        // Of all but the template only what resolving needs was kept.
        let whole = |file: &FileId| {
            yaml::parse(*file, sources.file(*file).text().clone(), &Limits::default())
        };
        let documents = prepared.documents.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
        let types = Types::of(self.profiles().chain(&documents));
        let inputs = deployment::assign(graph, presence, deployment, &types)?;
        let mut expressions = FxHashMap::default();
        for property in graph.properties.iter().filter(|property| presence.is(property.id)) {
            if let PropertyValue::Expression(expression) = property.property.value {
                expressions.insert(property.id, evaluator.value(expression, Some(property.id))?);
            }
        }
        let functions = Functions::new(graph, presence, &types, Given { inputs, expressions });
        Ok(self.written(emit::emit(evaluator, presence, Some(functions))?))
    }

    fn written(&self, document: Out<'_>) -> String {
        let yaml = yaml::write_yaml(&document);
        self.leave(document);
        yaml
    }

    /// Drops what is not needed any more, unless its memory is to be kept.
    fn leave<T>(&self, done: T) {
        if self.keeps_memory {
            mem::forget(done);
        }
    }

    /// Files before single values, each in the order given.
    fn deployment_inputs(
        &self,
        inputs: &[InputSource],
        sources: &mut SourceMap,
    ) -> Result<Vec<DeploymentInputs>, Diagnostics> {
        let (files, values): (Vec<_>, Vec<_>) =
            inputs.iter().partition(|source| matches!(source, InputSource::File(_)));
        let read = |source: &InputSource| match source {
            InputSource::File(path) => {
                load::document(&*self.files, sources, path).map(DeploymentInputs::File)
            }
            InputSource::Value(name, value) => {
                DeploymentInputs::of_text(name, &yaml::write_flow(value))
            }
            InputSource::Text(name, text) => DeploymentInputs::of_text(name, text),
        };
        Ok(files.into_iter().chain(values).map(read).collect::<Result<_, _>>()?)
    }

    /// Asks something about what the phases up to the graph made.
    ///
    /// # Errors
    /// As [`Resolver::with_prepared`].
    pub(crate) fn survey<T>(
        &self,
        openness: Openness,
        ask: impl FnOnce(&Prepared<'_, '_>, &SourceMap) -> Result<T, Diagnostics>,
    ) -> Result<T, Failure> {
        let ((answer, _), _) = with_sources(|sources| {
            self.with_prepared(openness, sources, &mut (), |prepared, sources, _, _| {
                ask(prepared, sources)
            })
        })?;
        Ok(answer)
    }

    /// Runs the phases up to the graph, and hands on what they made.
    ///
    /// # Errors
    /// What is wrong with the template or its inputs, and what `then` says, behind the warnings
    /// found before.
    pub(crate) fn with_prepared<T>(
        &self,
        openness: Openness,
        sources: &mut SourceMap,
        progress: &mut dyn Progress,
        then: impl FnOnce(
            &Prepared<'_, '_>,
            &SourceMap,
            &mut Diagnostics,
            &mut dyn Progress,
        ) -> Result<T, Diagnostics>,
    ) -> Result<(T, Diagnostics), Diagnostics> {
        let mut warnings = Diagnostics::default();
        match self.prepare(openness, sources, &mut warnings, progress, then) {
            Ok(result) => Ok((result, warnings)),
            Err(mut errors) => {
                warnings.0.append(&mut errors.0);
                Err(warnings)
            }
        }
    }

    fn prepare<T>(
        &self,
        openness: Openness,
        sources: &mut SourceMap,
        warnings: &mut Diagnostics,
        progress: &mut dyn Progress,
        then: impl FnOnce(
            &Prepared<'_, '_>,
            &SourceMap,
            &mut Diagnostics,
            &mut dyn Progress,
        ) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        progress.phase("reading");
        let (opened, package) = self.open(sources)?;
        progress.phase("interpreting");
        let template = self
            .phase(warnings, |diagnostics| template::parse(opened.template.root(), diagnostics))?;
        let options =
            options::resolve(template.version, template.variability.options, &self.options);
        let options = self
            .or_else(warnings, options, || options::resolve(template::PLAIN_VERSION, None, &[]))?;
        let presets =
            VariabilityPresets::parse(template.variability.presets, &mut Diagnostics::default());
        let inputs = self.inputs(&template, openness, sources, warnings)?;

        let conditions = self.wanted_conditions(sources)?;
        let (wanted, violations) = decided_by_inputs(&template, &inputs, self.clock.as_ref());
        progress.phase("importing");
        let (imported, links) = self.phase(warnings, |diagnostics| {
            let wanted = wanted.iter().map(|import| import.definition);
            self.importing(&package).read(sources, &opened, wanted, diagnostics)
        })?;

        progress.phase("building");
        let types = TypeHierarchy::resolving(
            std::iter::once(&opened.template).chain(&imported).chain(&opened.library),
            &links,
        );
        let types = self.or_else(warnings, types, || Ok(TypeHierarchy::default()))?;
        let files = &*package.files;
        let read = |definition, defaults, sources: &mut SourceMap| {
            referenced(files, definition, defaults, &opened.base, sources)
        };
        let rule_files = read(template.variability.qualities, &RULE_FILES, sources);
        let rule_files = self.or_else(warnings, rule_files, || Ok(Referenced::default()))?;
        let rules = self.phase(warnings, |diagnostics| {
            let roots = rule_files.roots(template.variability.qualities);
            roots.flat_map(|root| template::parse_rules(root, diagnostics)).collect::<Vec<_>>()
        })?;
        let condition_files =
            read(template.variability.type_specific_conditions, &CONDITION_FILES, sources);
        let condition_files =
            self.or_else(warnings, condition_files, || Ok(Referenced::default()))?;
        let type_specific = self.phase(warnings, |diagnostics| {
            let roots = condition_files.roots(template.variability.type_specific_conditions);
            roots
                .flat_map(|root| template::parse_type_specific_conditions(root, diagnostics))
                .collect::<Vec<_>>()
        })?;
        let graph =
            self.phase(warnings, |diagnostics| graph::build(&template, &types, diagnostics))?;
        let graph = self.phase(warnings, |diagnostics| {
            technology::assign(graph, &types, &rules, &options, diagnostics)
        })?;
        progress.counted("files", sources.files().count());
        progress.counted("bytes", sources.files().map(|file| file.text().len()).sum());
        progress.counted("elements", graph.elements.len());

        let prepared = Prepared {
            package: &package,
            graph: &graph,
            types: &types,
            inputs: &inputs,
            presets: &presets,
            type_specific: &type_specific,
            options: &options,
            violations,
            conditions: conditions.iter().map(Document::root).collect(),
            now: self.clock.as_ref(),
            solver: self.solver,
            documents: opened
                .library
                .iter()
                .chain(&imported)
                .map(Document::file)
                .chain([opened.template.file()])
                .collect(),
            links: &links,
        };
        let result = then(&prepared, sources, warnings, progress);
        self.leave((graph, type_specific, inputs, presets));
        self.leave((types, rules, template));
        self.leave((rule_files, condition_files, imported));
        self.leave(opened);
        result
    }

    /// What variants are asked for have to fulfil, as documents.
    fn wanted_conditions(&self, sources: &mut SourceMap) -> Result<Vec<Document>, Diagnostics> {
        let conditions = self.conditions.iter().map(|text| {
            let file = sources.add("<where>", text.as_str());
            yaml::parse(file, sources.file(file).text().clone(), &Limits::default())
        });
        Ok(conditions.collect::<Result<_, _>>()?)
    }

    /// Runs a phase that collects diagnostics: unless all are wanted, errors end the run.
    fn phase<T>(
        &self,
        warnings: &mut Diagnostics,
        phase: impl FnOnce(&mut Diagnostics) -> T,
    ) -> Result<T, Diagnostics> {
        if self.tolerant { Ok(phase(warnings)) } else { checked(warnings, phase) }
    }

    /// What a phase made, or where it failed and the run is to go on, something else.
    fn or_else<T>(
        &self,
        warnings: &mut Diagnostics,
        result: Result<T, Diagnostics>,
        other: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        match result {
            Err(mut errors) if self.tolerant => {
                warnings.0.append(&mut errors.0);
                other()
            }
            result => result,
        }
    }

    fn importing<'p>(&'p self, package: &'p Package) -> Importing<'p> {
        Importing {
            files: &*package.files,
            outside: &*self.files,
            mapping: &self.mapping,
            strict: self.tolerant,
        }
    }

    /// Library, imports and template as whole documents, in the order in which their types count,
    /// and which of them imports which.
    pub(crate) fn documents(
        &self,
        sources: &mut SourceMap,
    ) -> Result<(Vec<Document>, Links), Diagnostics> {
        let (opened, package) = self.open(sources)?;
        // What is wrong with the template is for resolving to say.
        let template = template::parse(opened.template.root(), &mut Diagnostics::default());
        let openness = if self.chooses() { Openness::Closed } else { Openness::Open };
        let inputs = self.clone().tolerant().inputs(
            &template,
            openness,
            sources,
            &mut Diagnostics::default(),
        )?;
        let (nothing, no_types) = (Graph::empty(&template), TypeHierarchy::default());
        let mut early = Evaluator::new(&nothing, &no_types, &inputs, self.clock.as_ref());
        let wanted: Vec<_> =
            template.imports.iter().filter(|import| is_wanted(import, &mut early)).collect();
        let (imported, links) = checked(&mut Diagnostics::default(), |diagnostics| {
            self.importing(&package).read(
                sources,
                &opened,
                wanted.iter().map(|import| import.definition),
                diagnostics,
            )
        })?;
        // Of all but the template only what resolving needs was kept.
        let whole = |file| yaml::parse(file, sources.file(file).text().clone(), &Limits::default());
        let others = opened.library.iter().chain(&imported).map(|document| whole(document.file()));
        let mut documents = others.collect::<Result<Vec<_>, _>>()?;
        documents.push(opened.template);
        Ok((documents, links))
    }

    fn open(&self, sources: &mut SourceMap) -> Result<(Opened, Package), Diagnostics> {
        let (package, text) = match &self.template {
            Template::Path(path) => (Package::find(&self.files, path, sources)?, None),
            Template::Text { name, text } => {
                (Package::of_file(&self.files, name), Some(text.clone()))
            }
        };
        let opened = load::open(&*package.files, sources, &package.template, text)?;
        package.check(opened.template.root())?;
        Ok((opened, package))
    }

    /// The values of variability inputs, layer by layer: presets, environment, files, calls.
    fn inputs<'a>(
        &self,
        template: &ServiceTemplate<'a>,
        openness: Openness,
        sources: &mut SourceMap,
        warnings: &mut Diagnostics,
    ) -> Result<Inputs<'a>, Diagnostics> {
        self.phase(warnings, |diagnostics| {
            let declarations = Declarations::parse(template.variability.inputs, diagnostics);
            let presets = VariabilityPresets::parse(template.variability.presets, diagnostics);
            let from_environment = inputs::presets_from_environment(&self.environment);
            let chosen = if self.presets.is_empty() { &from_environment } else { &self.presets };
            let mut assignments = presets.assignments(chosen, diagnostics);
            assignments.extend(inputs::from_environment(
                &self.environment,
                &declarations,
                diagnostics,
            ));
            // Files before single values, each in the order given.
            let (files, values): (Vec<_>, Vec<_>) =
                self.inputs.iter().partition(|source| matches!(source, InputSource::File(_)));
            for source in files.into_iter().chain(values) {
                let read = self.read_input(source, sources);
                assignments.extend(diagnostics.ok(read).into_iter().flatten());
            }
            let values = inputs::assign(&declarations, assignments, openness, diagnostics);
            Inputs { declarations, values }
        })
    }

    fn read_input(
        &self,
        source: &InputSource,
        sources: &mut SourceMap,
    ) -> Result<Vec<Assignment>, Diagnostic> {
        match source {
            InputSource::File(path) => {
                let (id, text) = load::read(&*self.files, sources, path)?;
                inputs::read_file(path, id, &text, &Limits::default())
            }
            InputSource::Value(name, value) => Ok(vec![Assignment::new(name, value.clone())]),
            InputSource::Text(name, text) => {
                inputs::parse_assignment_text(name, text).map(|assignment| vec![assignment])
            }
        }
    }
}

/// Does something that reads files, and hands on their texts with what it comes to.
pub(crate) fn with_sources<T>(
    ask: impl FnOnce(&mut SourceMap) -> Result<T, Diagnostics>,
) -> Result<(T, SourceMap), Failure> {
    let mut sources = SourceMap::default();
    match ask(&mut sources) {
        Ok(answer) => Ok((answer, sources)),
        Err(diagnostics) => Err(Failure { diagnostics: diagnostics.0, sources }),
    }
}

/// What the phases up to the graph made of a template and its inputs.
pub(crate) struct Prepared<'p, 'a> {
    /// Where the template is, and through what the files beside it are read.
    pub package: &'p Package,
    /// The elements.
    pub graph: &'p Graph<'a>,
    /// The types.
    pub types: &'p TypeHierarchy<'a>,
    /// What is declared, and what is assigned.
    pub inputs: &'p Inputs<'a>,
    /// The variability presets of the template.
    pub presets: &'p VariabilityPresets<'a>,
    /// The default conditions of types.
    pub type_specific: &'p TypeSpecificConditions<'a>,
    /// The options.
    pub options: &'p Options,
    /// Rules between inputs that the assigned ones violate.
    pub violations: Diagnostics,
    /// What variants have to fulfil to be explored.
    pub conditions: Vec<Node<'a>>,
    /// The clock.
    pub now: Option<&'p Clock>,
    /// The solver.
    pub solver: SolverKind,
    /// Library, imports and template, in the order in which their types count.
    pub documents: Vec<FileId>,
    /// Which of them imports which.
    pub links: &'p Links,
}

impl<'p, 'a> Prepared<'p, 'a> {
    /// The phases from the graph to presence.
    ///
    /// # Errors
    /// What is wrong with expressions or inputs, and why there is no variant.
    pub(crate) fn resolve(
        &self,
        evaluator: &mut Evaluator<'p, 'a>,
        limit: Limit,
        progress: &mut dyn Progress,
    ) -> Result<Variant, Diagnostics> {
        progress.phase("enriching");
        enrich::validate(evaluator, self.type_specific, self.options)?;
        let assertions = enrich::enrich(evaluator, self.inputs, self.type_specific, self.options)?;
        let objectives = objectives::objectives(evaluator, self.options)?;
        let settings = SolverSettings { limit, ..self.solver.into() };
        Ok(find::find(evaluator, &assertions, &objectives, self.options, &settings, progress)?)
    }
}

/// What inputs settle before there is a graph: which imports may be present, and which rules
/// between inputs are violated.
fn decided_by_inputs<'t, 'a>(
    template: &'t ServiceTemplate<'a>,
    inputs: &Inputs<'a>,
    now: Option<&Clock>,
) -> (Vec<&'t Import<'a>>, Diagnostics) {
    let (nothing, no_types) = (Graph::empty(template), TypeHierarchy::default());
    let mut early = Evaluator::new(&nothing, &no_types, inputs, now);
    let wanted = template.imports.iter().filter(|import| is_wanted(import, &mut early)).collect();
    (wanted, check_features(inputs, &mut early))
}

/// Documents that stand for a definition of the template.
#[derive(Default)]
struct Referenced(Vec<Document>);

impl Referenced {
    /// Their roots; the definition itself where it names no files.
    fn roots<'a>(&'a self, definition: Option<Node<'a>>) -> impl Iterator<Item = Node<'a>> {
        let inline = definition.filter(|_| self.0.is_empty());
        self.0.iter().map(Document::root).chain(inline)
    }
}

/// The files that a definition names instead of standing in the template; where it says nothing,
/// the optional one.
fn referenced(
    files: &dyn FileSystem,
    definition: Option<Node<'_>>,
    defaults: &[&str],
    base: &Path,
    sources: &mut SourceMap,
) -> Result<Referenced, Diagnostics> {
    let Some(node) = definition else {
        return Ok(Referenced(
            load::optional(files, sources, base, defaults)?.into_iter().collect(),
        ));
    };
    let names = node.as_str().into_iter().chain(node.items().filter_map(Node::as_str));
    let read = |name: &str| {
        load::document(files, sources, &base.join(name))
            .map_err(|error| if error.span.is_none() { error.at(node.span()) } else { error })
    };
    Ok(Referenced(names.map(read).collect::<Result<_, _>>()?))
}

const RULE_FILES: [&str; 4] =
    ["qualities.yaml", "lib/qualities.yaml", "rules.yaml", "lib/rules.yaml"];

const CONDITION_FILES: [&str; 1] = ["type-specific-conditions.yaml"];

/// Runs a phase that collects diagnostics: errors end the run, warnings are kept.
fn checked<T>(
    warnings: &mut Diagnostics,
    phase: impl FnOnce(&mut Diagnostics) -> T,
) -> Result<T, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let result = phase(&mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    warnings.0.append(&mut diagnostics.0);
    Ok(result)
}

/// Whether an import may be present: unless inputs alone settle that it is not.
fn is_wanted<'a>(import: &Import<'a>, early: &mut Evaluator<'_, 'a>) -> bool {
    let conditions =
        import.declared.conditional.conditions.map(|conditions| early.conditions(conditions, None));
    // Whatever cannot be told yet is told, with its error if it has one, when all elements are
    // there.
    !matches!(conditions, Some(Ok(conditions)) if conditions.iter().any(|&(formula, _)| formula == Formula::FALSE))
}

fn check_features(inputs: &Inputs<'_>, early: &mut Evaluator<'_, '_>) -> Diagnostics {
    let value = |(id, declaration): (_, &inputs::Declaration<'_>)| {
        (id, early.input_at(id, declaration.span).ok())
    };
    let values: FxHashMap<_, _> = inputs.declarations.iter().map(value).collect();
    inputs::check_features(&inputs.declarations, &|id| values.get(&id).cloned().flatten())
}

/// The identifiers of elements, held compactly: most callers never ask.
#[derive(Debug, Default)]
struct Elements {
    names: String,
    elements: Vec<ElementName>,
}

#[derive(Debug)]
struct ElementName {
    kind: Kind,
    index: u32,
    container: Option<u32>,
    end: usize,
    present: bool,
}

impl Elements {
    fn of(graph: &Graph<'_>, presence: &Presence) -> Self {
        let length = graph.elements.iter().map(|element| element.name.len()).sum();
        let mut elements = Self {
            names: String::with_capacity(length),
            elements: Vec::with_capacity(graph.elements.len()),
        };
        for id in graph.ids() {
            let element = graph.element(id);
            elements.names.push_str(element.name);
            elements.elements.push(ElementName {
                kind: element.kind,
                index: element.index,
                container: element.container.map(|container| container.0),
                end: elements.names.len(),
                present: presence.is(id),
            });
        }
        elements
    }

    fn identifier(&self, position: usize) -> String {
        let start = position.checked_sub(1).map_or(0, |before| self.elements[before].end);
        let element = &self.elements[position];
        let own = graph::identifier(element.kind, &self.names[start..element.end], element.index);
        match element.container {
            Some(container) => format!("{own}.{}", self.identifier(container as usize)),
            None => own,
        }
    }
}

/// A resolved variant. Serialises as the resolved template.
#[derive(Debug)]
pub struct Resolution {
    yaml: String,
    elements: Elements,
    package: Package,
    optima: Vec<Optimum>,
    sources: SourceMap,
    warnings: Vec<Diagnostic>,
}

impl Resolution {
    /// The resolved template as YAML, styled as its author styled it.
    pub fn to_yaml(&self) -> &str {
        &self.yaml
    }

    /// The resolved template as JSON, indented by two.
    pub fn to_json(&self) -> String {
        self.parsed().map_or_else(String::new, |document| {
            yaml::write_json(&yaml::Out::Source(document.root()))
        })
    }

    /// The resolved template as data.
    pub fn to_value(&self) -> Value {
        self.parsed().map_or(Value::Null, |document| document.root().to_value())
    }

    /// What was written is read again, so that the forms cannot differ.
    fn parsed(&self) -> Option<Document> {
        yaml::parse(FileId::DETACHED, self.yaml.as_str().into(), &Limits::default()).ok()
    }

    /// Every element's identifier (`node.shop`), and whether it is present, in the order of the
    /// template.
    pub fn presence(&self) -> impl ExactSizeIterator<Item = (String, bool)> {
        self.elements
            .elements
            .iter()
            .enumerate()
            .map(|(position, element)| (self.elements.identifier(position), element.present))
    }

    /// The resolved template in an archive, with the files of the archive or directory that it came
    /// from.
    ///
    /// Other variable templates are left out, and from a directory what is hidden and archives
    /// (`.csar`); all else stays. The same files give the same bytes.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// use cuvee::csar::{Archive, Limits};
    /// use cuvee::source::FileSystem;
    ///
    /// let bytes = Resolver::new("examples/shop").preset("prod").resolve()?.to_csar()?;
    /// let archive = Archive::new("prod.csar", bytes, &Limits::default()).unwrap();
    /// assert!(archive.is_file("prod.csar:/lib/types.yaml".as_ref()));
    ///
    /// let again = Resolver::new("prod.csar:").files(archive).resolve()?;
    /// assert!(again.to_yaml().starts_with("# The web shop of a tea merchant."));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template was a file of its own, where the archive would lack a file
    /// that the result needs, or where a file cannot be read.
    pub fn to_csar(&self) -> Result<Vec<u8>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::pack(&self.package, &self.yaml).map_err(failure)
    }

    /// The files that were read, in the order of reading; an archive for what is in it.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        let paths = self.sources.files().map(|file| self.package.on_disk(file.path()));
        let mut seen = FxHashSet::default();
        paths.filter(move |path| seen.insert(*path))
    }

    /// What was optimised, in the order of its rank: what the variant comes to, and what is proven.
    pub fn optima(&self) -> &[Optimum] {
        &self.optima
    }

    /// Whether the variant is proven to be the best, and the only best one wherever the template
    /// asks for that. It always is unless the run was [cut short](Resolver::timeout); a warning
    /// tells as well.
    pub fn is_proven(&self) -> bool {
        self.warnings.iter().all(|warning| warning.code != Code::Unproven)
    }

    /// The files that diagnostics point into.
    pub fn source_map(&self) -> &SourceMap {
        &self.sources
    }

    /// Warnings.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

impl serde::Serialize for Resolution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document =
            self.parsed().ok_or_else(|| serde::ser::Error::custom("the result is no YAML"))?;
        document.root().to_value().serialize(serializer)
    }
}

/// Why there is no result: at least one error, possibly warnings, and the files they point into.
pub struct Failure {
    /// In the order found.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read.
    pub sources: SourceMap,
}

impl Failure {
    /// As the command shows it, with the line of each place; in text without colours.
    #[cfg(feature = "render")]
    pub fn render(&self) -> String {
        let found = self.diagnostics.iter().map(|diagnostic| (diagnostic, &self.sources));
        crate::text::render::plain(found)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            write!(
                f,
                "{}{}",
                if index == 0 { "" } else { "\n" },
                diagnostic.one_line(&self.sources)
            )?;
        }
        Ok(())
    }
}

/// As for display: a `main` that returns it prints what people can read, not whole files.
impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
