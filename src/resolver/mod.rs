//! The public entry point, [`Resolver`]: it collects what a caller chooses, and its methods answer
//! questions about the template. Each file below holds the methods of one topic.

mod begun;
mod candidates;
mod conversion;
mod converted;
mod demands;
mod edited;
mod fulfilled;
mod hiding;
mod instances;
mod questions;
mod stored;
mod substitution;
mod validated;
mod versions;

pub use begun::InstanceSettings;
pub use candidates::CandidateVariants;
pub use conversion::{
    CanonicalDocument, Conversion, ConversionDialect, ConversionFormat, ConversionQuery,
};
pub use instances::{InstancePlanQuery, KeptTargets, remove_instance, repair_instance};
pub use stored::{
    NextLines, ReadySteps, RecordAuthorNow, RecordReports, ReportLines, StoredInstance,
    TakenReports, add_outputs, plan_instance, with_derivation,
};
pub use substitution::{NestedTemplate, SubstitutedTemplate, SubstitutionQuery};

use crate::tosca::csar::Package;
use crate::tosca::load::{DocumentCache, Extent, Loaded, Mapping, TemplateLocation};
use crate::variability::choice::{Choice, InputSource};
use crate::variability::clock::Clock;
use crate::variability::options;
use crate::variability::resolve::How;
use crate::variability::technology::TechnologyRequest;
use cuvee_sat::progress::{Progress, SharedProgress};
use cuvee_sat::solve::{Limit, SolverKind};
use cuvee_text::answer::Failure;
use cuvee_text::source::{FileSystem, OsFiles};
use cuvee_text::value::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Resolves one variant of one template.
///
/// A resolver uses only what its caller gives it: without [`Resolver::environment`] it reads no
/// environment variable, and without [`Resolver::now`] it has no clock.
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
    location: TemplateLocation,
    files: Arc<dyn FileSystem + Send>,
    mapping: Mapping,
    choice: Choice,
    timeout: Option<Duration>,
    stop: Option<Arc<AtomicBool>>,
    progress: SharedProgress,
    /// Whether the memory of a run is left for the end of the process to free.
    keeps_memory: bool,
    /// Whether reports and the excerpts of messages show secrets.
    reveals_secrets: bool,
    /// What runs keep for those that follow.
    cache: Option<Arc<DocumentCache>>,
    /// The files that were already read, after [`Resolver::load`].
    loaded: Option<Arc<Loaded>>,
}

impl Resolver {
    /// A resolver for a template file, an archive (see [`crate::tosca::csar`]), or a directory that
    /// holds a template under its usual name.
    pub fn new(template: impl Into<PathBuf>) -> Self {
        Self::of(TemplateLocation::Path(template.into()))
    }

    /// A resolver for a template in memory. `name` is the path that the template would have:
    /// messages show it, and relative paths in the template start from it.
    pub fn from_text(name: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self::of(TemplateLocation::Text { name: name.into(), text: text.into().into() })
    }

    fn of(location: TemplateLocation) -> Self {
        Self {
            location,
            files: Arc::new(OsFiles),
            mapping: Mapping::default(),
            choice: Choice::default(),
            timeout: None,
            stop: None,
            progress: SharedProgress::default(),
            keeps_memory: false,
            reveals_secrets: false,
            cache: None,
            loaded: None,
        }
    }

    /// Reads files through `files` instead of from the operating system.
    pub fn files(mut self, files: impl FileSystem + Send + 'static) -> Self {
        self.files = Arc::new(files);
        self.loaded = None;
        self
    }

    /// Adds a variability preset; later ones win.
    pub fn preset(mut self, name: impl Into<String>) -> Self {
        self.choice.presets.push(name.into());
        self
    }

    /// Chooses these variability presets and drops those chosen so far; later ones win.
    pub fn only_presets(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.choice.presets = names.into_iter().map(Into::into).collect();
        self
    }

    /// Takes inputs from environment variables: `CUVEE_INPUT_<NAME>`, and `CUVEE_PRESETS` where no
    /// preset is given.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.choice.environment.extend(variables);
        self
    }

    /// Adds a file of inputs: YAML, JSON, or FeatureIDE extended XML.
    pub fn inputs_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.choice.inputs.push(InputSource::File(path.into()));
        self
    }

    /// Assigns an input; this wins over files.
    pub fn input(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.choice.inputs.push(InputSource::Value(name.into(), value.into()));
        self
    }

    /// Assigns an input from text read as YAML; this wins over files.
    pub fn input_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.choice.inputs.push(InputSource::Text(name.into(), text.into()));
        self
    }

    /// Sets a variability option, which wins over the template's; the value is read as YAML.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.choice.options.push((name.into(), value.into()));
        self
    }

    /// Takes the defaults of options from this revision of the specification, such as `2025-07`,
    /// whatever the option `edition` of the template says.
    ///
    /// ```
    /// let shop = cuvee::Resolver::new("examples/shop").preset("prod").edition("2025-07");
    /// assert!(shop.resolve().is_ok());
    /// assert!(shop.edition("2025-08").resolve().is_err());
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn edition(self, name: impl Into<String>) -> Self {
        self.option(options::EDITION, name)
    }

    /// Explores only variants that fulfil this variability condition, which is written in YAML,
    /// such as `{node_presence: cache}`.
    ///
    /// Resolving ignores the condition.
    pub fn only_where(mut self, condition: impl Into<String>) -> Self {
        self.choice.conditions.push(condition.into());
        self
    }

    /// Maps a URL and everything below it to a local file or directory, so that imports find their
    /// files; the longest mapped URL wins.
    ///
    /// Nothing is ever fetched. For an import of a URL that is not mapped, resolving leaves the
    /// import to an orchestrator, and validating rejects it. The name of a profile can be mapped as
    /// well.
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
        self.loaded = None;
        self
    }

    /// Looks for profiles that are imported by name in a directory and below it (TOSCA 2.0, section
    /// 6.8.1). A name that is [mapped](Self::map) wins; the archive or directory that the template
    /// was found in is looked through last.
    ///
    /// ```
    /// use cuvee::source::MemoryFiles;
    /// let shop = "\
    /// tosca_definitions_version: tosca_2_0
    /// imports: [ { profile: org.example.shop } ]
    /// service_template: { node_templates: { shop: { type: Shop } } }
    /// ";
    /// let types = "{ tosca_definitions_version: tosca_2_0, profile: org.example.shop, node_types: { Shop: {} } }";
    /// let files = MemoryFiles::from([("shop.yaml", shop), ("profiles/shop/1.yaml", types)]);
    /// let shop = cuvee::Resolver::new("shop.yaml").files(files);
    /// assert!(!shop.clone().validate().is_valid(false));
    /// assert!(shop.profile_path("profiles").validate().is_valid(true));
    /// ```
    pub fn profile_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.mapping.add_profile_path(path.into());
        self.loaded = None;
        self
    }

    /// Lets `answer` stand in for a technology plugin of the template ("Technology Plugin"). A
    /// template only names plugins; nothing of it is run. `answer` is asked once for each managed
    /// node that has no technology of its own, in the order of the template, and gives technologies
    /// for it in JSON, or says why it cannot. `docs/technologies.md` describes the answer.
    ///
    /// ```
    /// let text = "
    /// tosca_definitions_version: tosca_variability_1_0
    /// topology_template:
    ///   variability:
    ///     options: {mode: semantic-loose, enrich_technologies: true}
    ///     plugins: {technology: [chooser]}
    ///   node_templates:
    ///     shop: {type: Shop, persistent: true}
    /// ";
    /// let resolution = cuvee::Resolver::from_text("shop.yaml", text)
    ///     .technology_plugin("chooser", |request| {
    ///         assert_eq!(request.node.name, "shop");
    ///         Ok(r#"{"technologies": [{"technology": "ansible", "weight": 0.8}]}"#.into())
    ///     })
    ///     .resolve()?;
    /// assert!(resolution.to_yaml().contains("Shop~Shop::ansible"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn technology_plugin(
        mut self,
        name: impl Into<String>,
        answer: impl Fn(&TechnologyRequest) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        self.choice.plugins.add(name.into(), answer);
        self
    }

    /// Sets the clock to this time, in the time zone that `weekday` uses; only templates that ask
    /// for the time need it.
    pub fn now(self, now: jiff::Zoned) -> Self {
        self.clock(move || now)
    }

    /// Sets a clock that is asked once, and only by templates that need it.
    pub fn clock(mut self, now: impl FnOnce() -> jiff::Zoned + Send + 'static) -> Self {
        self.choice.clock = Some(Clock::new(now));
        self
    }

    /// Chooses the solver; every solver finds the same variant.
    pub fn solver(mut self, solver: SolverKind) -> Self {
        self.choice.solver = solver;
        self
    }

    /// Limits the time of a run, reading included. If no variant is proven to be the best by then,
    /// the run takes the best one that it has found: see
    /// [`is_proven`](crate::Resolution::is_proven). The result may then depend on the machine.
    /// Exploring has no time limit.
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

    /// Stops once this flag is set by another thread or a signal handler: resolving as with a
    /// [`timeout`](Self::timeout), validating with what it has found by then, and questions about
    /// all variants with an error, since they have no answer then.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::AtomicBool};
    /// let stop = Arc::new(AtomicBool::new(true));
    /// let shop = cuvee::Resolver::new("examples/shop").stop_when(stop);
    /// assert_eq!(shop.analyze().unwrap_err().diagnostics[0].code.as_str(), "unproven");
    /// ```
    pub fn stop_when(mut self, stop: Arc<AtomicBool>) -> Self {
        self.choice.limit = Limit::default().or_when(Arc::clone(&stop));
        self.stop = Some(stop);
        self
    }

    /// Reports the progress of every run of this resolver and of its clones to `told`. Methods with
    /// `_with` in their name report to the progress that they are given instead.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// struct Phases(Arc<Mutex<Vec<&'static str>>>);
    /// impl cuvee::explore::progress::Progress for Phases {
    ///     fn phase(&mut self, name: &'static str) {
    ///         self.0.lock().unwrap().push(name);
    ///     }
    /// }
    /// let phases = Arc::default();
    /// cuvee::Resolver::new("examples/shop").progress(Phases(Arc::clone(&phases))).matrix()?;
    /// assert_eq!(phases.lock().unwrap()[0], "reading");
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn progress(mut self, told: impl Progress + Send + 'static) -> Self {
        self.progress = SharedProgress::of(told);
        self
    }

    /// Also treats the non-normative types of TOSCA's chapter 9 as defined where types are checked;
    /// resolving knows only the normative ones.
    pub fn non_normative_types(mut self) -> Self {
        self.choice.non_normative = true;
        self
    }

    /// Makes validation add notes on constructs that are valid but that orchestrators refuse.
    ///
    /// ```
    /// let text = "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// metadata: {template_version: 1.10}
    /// ";
    /// let validation = cuvee::Resolver::from_text("tea.yaml", text).portable().validate();
    /// assert!(validation.is_valid(true));
    /// assert_eq!(validation.diagnostics[0].code.as_str(), "portable-metadata");
    /// ```
    pub fn portable(mut self) -> Self {
        self.choice.is_portable = true;
        self
    }

    /// Shows secrets in reports, and in the lines of the template that messages show.
    ///
    /// ```
    /// let text = "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   node_templates:
    ///     shop: {type: tosca.nodes.Root, metadata: {password: hunter2}}
    /// ";
    /// let shop = cuvee::Resolver::from_text("shop.yaml", text);
    /// assert!(!shop.report(&[])?.contains("hunter2"));
    /// assert!(shop.reveal_secrets().report(&[])?.contains("hunter2"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn reveal_secrets(mut self) -> Self {
        self.reveals_secrets = true;
        self
    }

    /// Replaces the functions of TOSCA that need no run time by their values: those that read
    /// topology inputs and properties.
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
        self.choice.deployment.get_or_insert_default();
        self
    }

    /// Lets nodes keep their types and name their `technology` in the result, instead of getting
    /// the types that technologies assign.
    ///
    /// ```
    /// let notes = cuvee::Resolver::new("examples/technologies").preset("cluster").name_technologies();
    /// assert!(notes.resolve()?.to_yaml().contains("technology: helm"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn name_technologies(mut self) -> Self {
        self.choice.names_technologies = true;
        self
    }

    /// Adds a file with values of topology inputs, which functions are evaluated with: YAML or
    /// JSON; later files win.
    pub fn deployment_inputs_file(self, path: impl Into<PathBuf>) -> Self {
        self.deployment_source(InputSource::File(path.into()))
    }

    /// Assigns a topology input, which functions are evaluated with; this wins over files.
    pub fn deployment_input(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.deployment_source(InputSource::Value(name.into(), value.into()))
    }

    /// Assigns a topology input, which functions are evaluated with, from text read as YAML; this
    /// wins over files.
    pub fn deployment_input_text(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.deployment_source(InputSource::Text(name.into(), text.into()))
    }

    /// Assigns a topology input a value that any other assignment overrides; ignored if the
    /// template has no such input.
    pub(crate) fn known_deployment_input(self, name: &str, value: Value) -> Self {
        self.deployment_source(InputSource::Known(name.to_owned(), value))
    }

    fn deployment_source(mut self, source: InputSource) -> Self {
        self.choice.deployment.get_or_insert_default().push(source);
        self
    }

    /// Does not free the memory of a run. This is for a process that ends right after the run and
    /// so frees all of it at once.
    pub fn keep_memory(mut self) -> Self {
        self.keeps_memory = true;
        self
    }

    /// Keeps what is parsed and what is found in types for runs that follow, and takes what others
    /// have kept, wherever a text is the same.
    pub fn cache(mut self, cache: Arc<DocumentCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Reads the template and its files now, once for all later questions to this resolver and to
    /// its clones, whatever they choose. Without this, each question reads the files again, and so
    /// sees changes to them.
    ///
    /// ```
    /// let shop = cuvee::Resolver::new("examples/shop").load()?;
    /// for preset in shop.preset_names()? {
    ///     println!("{}", shop.clone().preset(preset).resolve()?.to_yaml());
    /// }
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where a file of the template or its library cannot be read.
    pub fn load(mut self) -> Result<Self, Failure> {
        self.loaded = Some(self.loaded(self.choice.extent())?);
        Ok(self)
    }

    /// The files that were already read; reads them now if there are none yet.
    fn loaded(&self, extent: Extent) -> Result<Arc<Loaded>, Failure> {
        match &self.loaded {
            Some(loaded) => Ok(Arc::clone(loaded)),
            None => {
                self.progress.clone().phase("reading");
                let (files, mapping) = (Arc::clone(&self.files), self.mapping.clone());
                let cache = self.cache.as_ref();
                let opened = Loaded::open(&self.location, files, mapping, extent, cache);
                let opened = opened.map(Arc::new);
                opened.inspect_err(|failure| {
                    if !self.reveals_secrets {
                        hiding::hide_named(&failure.sources, &failure.diagnostics);
                    }
                })
            }
        }
    }

    /// The files of a directory that holds no template; `None` for any other location.
    fn library(&self) -> Option<Result<Arc<Loaded>, Failure>> {
        let TemplateLocation::Path(path) = &self.location else { return None };
        let is_library = self.loaded.is_none() && Package::is_library(&*self.files, path);
        let open = || {
            self.progress.clone().phase("reading");
            let (files, mapping) = (Arc::clone(&self.files), self.mapping.clone());
            Loaded::open_library(path, files, mapping).map(Arc::new)
        };
        is_library.then(open)
    }

    /// The settings of a run that starts now.
    fn how(&self) -> How {
        let limit = self.timeout.map(Limit::after).unwrap_or_default();
        let limit = self.stop.iter().fold(limit, |limit, stop| limit.or_when(Arc::clone(stop)));
        How { limit, progress: self.progress.clone(), keeps_memory: self.keeps_memory }
    }
}
