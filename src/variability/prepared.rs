//! Runs the phases from a parsed template up to its graph. [`Interpreted`] does not depend on
//! inputs; [`Prepared`] adds them.

use super::choice::{Choice, VariantDemand};
use super::clock::Clock;
use super::enrich;
use super::expression::Evaluator;
use super::graph::{self, Graph};
use super::inputs::{self, Declarations, InputMode, Inputs, VariabilityPresets};
use super::options::{self, Check, Flag, Options};
use super::technology::{self, AnsweredRules};
use super::template::{
    self, Import, ImportedTopology, ServiceTemplate, TechnologyRule, TypeSpecificConditions,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::tosca::load::{Imported, Loaded, NeededImports};
use crate::tosca::types::scope::Links;
use crate::tosca::types::{TypeHierarchy, Types};
use cuvee_sat::formula::Formula;
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::{Limit, SolverKind, SolverSettings};
use cuvee_text::source::{FileId, SourceMap, Span};
use cuvee_text::yaml::{Document, Node};
use elsa::sync::FrozenMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::mem;

/// A file behind imports that has a topology.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Leading {
    file: FileId,
    /// The positions of the imports that lead to it.
    imports: Vec<usize>,
    /// Whether inputs leave one of these imports possible.
    is_possible: bool,
}

/// A parsed template, independent of the values of its inputs.
pub(crate) struct Interpreted<'l> {
    /// The files that were read.
    pub loaded: &'l Loaded,
    /// The template.
    pub template: ServiceTemplate<'l>,
    /// The options.
    pub options: Options,
    /// The technology rules with the diagnostics about them, once they were read.
    rules: OnceCell<(Vec<TechnologyRule<'l>>, Diagnostics)>,
    /// The template merged with the topologies of these files, and the diagnostics about the merge.
    importing: FrozenMap<Vec<Leading>, Box<(ServiceTemplate<'l>, Diagnostics)>>,
    /// The answers of technology plugins, as rules.
    answered: AnsweredRules<'l>,
    warnings: Diagnostics,
}

impl<'l> Interpreted<'l> {
    /// Parses a template that was read.
    ///
    /// # Errors
    /// Mistakes in the shape of the template or in its options.
    pub(crate) fn of(loaded: &'l Loaded, choice: &Choice) -> Result<Self, Diagnostics> {
        let root = loaded.whole(loaded.template())?.root();
        let mut phases = Phases::new(choice);
        phases.warnings = loaded.warnings().clone();
        let mut template = phases.phase(|diagnostics| template::parse(root, diagnostics))??;
        // Mistakes in plain TOSCA do not prevent resolving.
        let severity = if choice.tolerant { Severity::Error } else { Severity::Warning };
        let foreign = template.foreign.iter().cloned();
        phases.warnings.0.extend(foreign.map(|found| found.with_severity(severity)));
        let options =
            options::resolve(template.version, template.variability.options, &choice.options);
        let options = phases
            .or_else(options, || options::resolve(template::PLAIN_VERSION, None, &[]))
            .map_err(|errors| phases.end(errors))?;
        phases.warnings.0.extend(options.warnings().0.iter().cloned());
        if options.flag(Flag::AutomaticDefaultAlternatives) {
            template::choose_default_alternatives(&mut template);
        }
        let rules = OnceCell::new();
        let (importing, answered) = Default::default();
        let warnings = phases.warnings;
        Ok(Self { loaded, template, options, rules, importing, answered, warnings })
    }

    /// The template merged with the topologies of the files behind its imports: the possible ones,
    /// and those that inputs exclude.
    fn importing(
        &self,
        imported: [&Imported; 2],
        diagnostics: &mut Diagnostics,
    ) -> Result<&ServiceTemplate<'l>, Diagnostics> {
        let leading = self.leading(imported)?;
        if leading.is_empty() {
            return Ok(&self.template);
        }
        let topologies = leading.iter().map(|leading| self.topology(leading));
        let topologies = topologies.collect::<Result<Vec<_>, _>>()?;
        let (template, found) = self.importing.insert_with(leading, || {
            let mut found = Diagnostics::default();
            let mut template = self.template.with(&topologies, &mut found);
            if self.options.flag(Flag::AutomaticDefaultAlternatives) {
                template::choose_default_alternatives(&mut template);
            }
            Box::new((template, found))
        });
        diagnostics.0.extend(found.0.iter().cloned());
        Ok(template)
    }

    /// The files behind imports that have a topology.
    fn leading(&self, imported: [&Imported; 2]) -> Result<Vec<Leading>, Diagnostics> {
        if imported.iter().all(|imported| imported.links.links.is_empty()) {
            return Ok(Vec::new());
        }
        let imported_files = imported.iter().flat_map(|imported| &imported.files);
        let mut files: Vec<_> = imported_files.chain(self.loaded.library()).copied().collect();
        let mut seen = FxHashSet::default();
        files.retain(|file| seen.insert(*file));
        let documents = self.loaded.documents(&files)?;
        let with_topology = |document: &&Document| template::has_topology(document.root());
        let mut leading: Vec<Leading> = documents
            .into_iter()
            .filter(with_topology)
            .map(|document| Leading {
                file: document.file(),
                imports: Vec::new(),
                is_possible: false,
            })
            .collect();
        if leading.is_empty() {
            return Ok(leading);
        }
        for (index, import) in self.template.imports.iter().enumerate() {
            let span = import.declared.span();
            let [possible, absent] = imported.map(|imported| imported.links.behind_import(span));
            for leading in &mut leading {
                let is_possible = possible.contains(&leading.file);
                leading.is_possible |= is_possible;
                if is_possible || absent.contains(&leading.file) {
                    leading.imports.push(index);
                }
            }
        }
        leading.retain(|leading| !leading.imports.is_empty());
        leading.sort_by_key(|leading| !leading.is_possible);
        Ok(leading)
    }

    /// The topology of a file. It is present if at least one of the imports that lead to the file
    /// is.
    fn topology(&self, leading: &Leading) -> Result<ImportedTopology<'l>, Diagnostics> {
        let Leading { file, imports, is_possible } = leading;
        let root = self.loaded.documents(&[*file])?.first().map(|document| document.root());
        let conditions = |&import: &usize| {
            let import = self.template.imports.get(import);
            import.and_then(|import| import.declared.conditions())
        };
        let all: Option<Vec<_>> = imports.iter().map(conditions).collect();
        let conditions = match all.as_deref() {
            None => None,
            Some([only]) => Some(*only),
            Some(_) => {
                let parts = imports.iter().map(|import| format!("{{import_presence: {import}}}"));
                let any = format!("or: [{}]", parts.collect::<Vec<_>>().join(", "));
                Some(self.loaded.inline("<imports>", &any)?.root())
            }
        };
        let root = root.unwrap_or(self.template.root);
        Ok(ImportedTopology { root, conditions, is_possible: *is_possible })
    }

    /// The roots of files with technology rules, and of those with type-specific conditions, as far
    /// as they can be read.
    pub(crate) fn beside(&self) -> [Vec<Node<'l>>; 2] {
        let variability = &self.template.variability;
        [
            referenced(self.loaded, variability.qualities, &RULE_FILES),
            referenced(self.loaded, variability.type_specific_conditions, &CONDITION_FILES),
        ]
        .map(Result::unwrap_or_default)
    }

    fn rules(&self, phases: &mut Phases) -> Result<&[TechnologyRule<'l>], Diagnostics> {
        let roots = referenced(self.loaded, self.template.variability.qualities, &RULE_FILES);
        let roots = phases.or_else(roots, || Ok(Vec::new()))?;
        let (rules, wrong) = self.rules.get_or_init(|| {
            let mut wrong = Diagnostics::default();
            let read = |root| template::parse_rules(root, &mut wrong);
            (roots.into_iter().flat_map(read).collect(), wrong)
        });
        phases.phase(|diagnostics| diagnostics.0.extend(wrong.0.iter().cloned()))?;
        Ok(rules)
    }

    /// The variability presets of the template.
    pub(crate) fn presets(&self) -> VariabilityPresets<'l> {
        // Mistakes in presets are reported where inputs are assigned.
        VariabilityPresets::parse(self.template.variability.presets, &mut Diagnostics::default())
    }
}

/// The result of the phases up to the graph, for a template and a choice.
pub(crate) struct Prepared<'p> {
    /// The files that were read.
    pub loaded: &'p Loaded,
    /// The elements.
    pub graph: Graph<'p>,
    /// The types.
    pub types: TypeHierarchy<'p>,
    /// The declared inputs and their values.
    pub inputs: Inputs<'p>,
    /// The variability presets of the template.
    pub presets: VariabilityPresets<'p>,
    /// The technology rules.
    pub rules: &'p [TechnologyRule<'p>],
    /// The default conditions of types.
    pub type_specific: TypeSpecificConditions<'p>,
    /// The options.
    pub options: &'p Options,
    /// Rules between inputs that the assigned ones violate.
    pub violations: Diagnostics,
    /// Errors in named expressions, whatever the inputs are.
    pub wrong_expressions: Diagnostics,
    /// Conditions that explored variants have to fulfil.
    pub conditions: Vec<Node<'p>>,
    /// Conditions that a variant has to fulfil to be one at all.
    pub demands: Vec<VariantDemand>,
    /// The clock.
    pub now: Option<Clock>,
    /// The solver.
    pub solver: SolverKind,
    /// When the run ends early.
    pub limit: Limit,
    /// Library, imports and template, in the order in which their types take precedence.
    pub documents: Vec<FileId>,
    /// The imports between the documents.
    pub links: Links,
    /// Warnings of the phases so far; where the choice is tolerant, errors as well.
    pub warnings: Diagnostics,
}

impl<'p> Prepared<'p> {
    /// Runs the phases from inputs to the graph.
    ///
    /// # Errors
    /// Errors of the template or its inputs, after the warnings that were found before.
    pub(crate) fn of(
        interpreted: &'p Interpreted<'_>,
        choice: &Choice,
        mode: InputMode,
        progress: &mut dyn Progress,
    ) -> Result<Self, Diagnostics> {
        let mut phases = Phases::new(choice);
        phases.warnings = interpreted.warnings.clone();
        let prepared = Self::in_phases(interpreted, choice, mode, progress, &mut phases);
        prepared
            .map(|prepared| Self { warnings: mem::take(&mut phases.warnings), ..prepared })
            .map_err(|errors| phases.end(errors))
    }

    fn in_phases(
        interpreted: &'p Interpreted<'_>,
        choice: &Choice,
        mode: InputMode,
        progress: &mut dyn Progress,
        phases: &mut Phases,
    ) -> Result<Self, Diagnostics> {
        let Interpreted { loaded, ref template, ref options, .. } = *interpreted;
        let inputs =
            phases.phase(|diagnostics| assigned(loaded, template, choice, mode, diagnostics))?;
        if options.check(Check::UnassignedInput) {
            phases.phase(|diagnostics| diagnostics.0.extend(inputs::check_assigned(&inputs).0))?;
        }
        let conditions = wanted_conditions(loaded, choice)?;
        let (wanted, violations) = decided_by_inputs(template, &inputs, choice.clock.as_ref());
        progress.phase("importing");
        let all = phases.phase(|diagnostics| {
            let wanted = wanted.iter().map(|import| import.definition);
            loaded.import(wanted, choice.needed_imports(), diagnostics)
        })?;
        let absent = absent_imports(loaded, template, &wanted);

        progress.phase("building");
        let template =
            phases.phase(|diagnostics| interpreted.importing([&all, &absent], diagnostics))??;
        let Imported { files: imported, links, .. } = all;
        let documents = [&[loaded.template()], &*imported, loaded.library()].concat();
        let types = TypeHierarchy::resolving(loaded.documents(&documents)?, &links);
        let types = phases.or_else(types, || Ok(TypeHierarchy::default()))?;
        let rules = interpreted.rules(phases)?;
        let type_specific = type_specific(loaded, template, phases)?;
        let graph = phases.phase(|diagnostics| graph::build(template, &types, diagnostics))?;
        let plugins = &choice.plugins;
        let answers = |plugin: Node<'_>, request: &_, diagnostics: &mut _| {
            interpreted.answered.of(loaded, plugins, (plugin, request), diagnostics)
        };
        let graph = phases.phase(|diagnostics| {
            diagnostics.0.append(&mut plugins.unnamed(template).0);
            technology::assign(graph, &types, rules, &answers, options, diagnostics)
        })?;
        let mut evaluator = Evaluator::new(&graph, &types, &inputs, None);
        let named = enrich::named_expressions(&mut evaluator, &type_specific).0;
        let (wrong, mut unused): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|found| found.severity == Severity::Error);
        phases.warnings.0.append(&mut unused);
        let texts = documents.iter().map(|&file| loaded.sources().file(file).text());
        progress.counted("files", documents.len());
        progress.counted("bytes", texts.map(|text| text.len()).sum());
        progress.counted("elements", graph.elements.len());
        Ok(Self {
            loaded,
            graph,
            types,
            inputs,
            presets: interpreted.presets(),
            rules,
            type_specific,
            options,
            violations,
            wrong_expressions: Diagnostics(wrong),
            conditions,
            demands: choice.demands.clone(),
            now: choice.clock.clone(),
            solver: choice.solver,
            limit: choice.limit.clone(),
            documents: [loaded.library(), &*imported, &[loaded.template()]].concat(),
            links,
            warnings: Diagnostics::default(),
        })
    }

    /// The answer to a question with the warnings so far; the warnings precede errors as well.
    ///
    /// # Errors
    /// Those of the question.
    pub(crate) fn answer<T>(
        &self,
        answer: Result<T, Diagnostics>,
    ) -> Result<(T, Diagnostics), Diagnostics> {
        match answer {
            Ok(result) => Ok((result, self.warnings.clone())),
            Err(errors) => Err(self.warnings.clone().before(errors)),
        }
    }

    /// An evaluator of expressions.
    pub(crate) fn evaluator(&self) -> Evaluator<'_, 'p> {
        Evaluator::new(&self.graph, &self.types, &self.inputs, self.now.as_ref())
    }

    /// The solver, and when it ends early.
    pub(crate) fn settings(&self) -> SolverSettings {
        SolverSettings { limit: self.limit.clone(), ..self.solver.into() }
    }

    /// The files that were read.
    pub(crate) fn sources(&self) -> &'p SourceMap {
        self.loaded.sources()
    }

    /// The whole documents, in the order in which their types take precedence.
    ///
    /// # Errors
    /// `syntax` in the parts that resolving skipped.
    pub(crate) fn whole_documents(&self) -> Result<Vec<&'p Document>, Diagnostic> {
        self.documents.iter().map(|&file| self.loaded.whole(file)).collect()
    }
}

/// Library, imports and template, in the order in which their types take precedence, and which of
/// them imports which. Of the template's imports, only those count whose places `is_asked_for`
/// accepts. Resolving reports other mistakes in the template.
///
/// # Errors
/// Errors of inputs or imports.
pub(crate) fn documents<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
    mode: InputMode,
    is_asked_for: &dyn Fn(Span) -> bool,
) -> Result<(Vec<&'l Document>, Links), Diagnostics> {
    let root = loaded.whole(loaded.template())?.root();
    let template = template::parse(root, &mut Diagnostics::default())?;
    let inputs = assigned(loaded, &template, choice, mode, &mut Diagnostics::default());
    let (wanted, _) = decided_by_inputs(&template, &inputs, choice.clock.as_ref());
    let mut diagnostics = Diagnostics::default();
    let wanted = wanted.iter().filter(|import| is_asked_for(import.declared.span()));
    let wanted = wanted.map(|import| import.definition);
    let Imported { files: imported, links, .. } =
        loaded.import(wanted, NeededImports::Files, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let files = [loaded.library(), &*imported, &[loaded.template()]].concat();
    let whole = files.into_iter().map(|file| loaded.whole(file));
    Ok((whole.collect::<Result<_, _>>()?, links))
}

/// Runs phases, collects their diagnostics, and decides whether these end the run.
struct Phases {
    tolerant: bool,
    warnings: Diagnostics,
}

impl Phases {
    fn new(choice: &Choice) -> Self {
        Self { tolerant: choice.tolerant, warnings: Diagnostics::default() }
    }

    /// Runs a phase that collects diagnostics. Errors end the run, unless the run is tolerant.
    fn phase<T>(&mut self, phase: impl FnOnce(&mut Diagnostics) -> T) -> Result<T, Diagnostics> {
        if self.tolerant {
            Ok(phase(&mut self.warnings))
        } else {
            checked(&mut self.warnings, phase)
        }
    }

    /// The result of a phase. If the phase failed and the run is tolerant, the result of `other`
    /// instead.
    fn or_else<T>(
        &mut self,
        result: Result<T, Diagnostics>,
        other: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        match result {
            Err(mut errors) if self.tolerant => {
                self.warnings.0.append(&mut errors.0);
                other()
            }
            result => result,
        }
    }

    /// The errors that end the run, after the diagnostics that were found before.
    fn end(&mut self, errors: Diagnostics) -> Diagnostics {
        mem::take(&mut self.warnings).before(errors)
    }
}

/// Runs a phase that collects diagnostics: errors end the run, warnings are kept.
///
/// # Errors
/// All collected diagnostics, if one of them is an error.
pub(crate) fn checked<T>(
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

/// The values of variability inputs; later layers win: presets, environment, files, single values.
fn assigned<'l>(
    loaded: &'l Loaded,
    template: &ServiceTemplate<'l>,
    choice: &Choice,
    mode: InputMode,
    diagnostics: &mut Diagnostics,
) -> Inputs<'l> {
    let declared = template.variability.inputs;
    let types = || data_types(loaded, template, choice);
    let declarations = Declarations::parse_typed(declared, &types, diagnostics);
    let presets = VariabilityPresets::parse(template.variability.presets, diagnostics);
    let mut assignments = presets.assignments(&choice.chosen_presets(), diagnostics);
    assignments.extend(choice.assignments(loaded, &declarations, diagnostics));
    let values = inputs::assign(&declarations, assignments, mode, diagnostics);
    Inputs { declarations, values }
}

/// The data types that variability inputs may have: those of the template, and of what it imports
/// whatever its inputs are.
fn data_types<'l>(
    loaded: &'l Loaded,
    template: &ServiceTemplate<'_>,
    choice: &Choice,
) -> Option<Types<'l>> {
    let imports = template.imports.iter();
    let certain = imports.filter(|import| import.declared.conditions().is_none());
    let certain = certain.map(|import| import.definition);
    // Mistakes in imports are reported where all are read.
    let imported = loaded.import(certain, NeededImports::Files, &mut Diagnostics::default());
    let files = [loaded.library(), &*imported.files, &[loaded.template()]].concat();
    let whole = files.into_iter().map(|file| loaded.whole(file));
    let documents = whole.collect::<Result<Vec<_>, _>>().ok()?;
    let all = choice.beside_profiles(&documents, loaded.sources());
    Some(Types::linked(all, &imported.links, &[]))
}

/// The conditions that explored variants have to fulfil, parsed.
fn wanted_conditions<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
) -> Result<Vec<Node<'l>>, Diagnostics> {
    let conditions = choice.conditions.iter().map(|text| loaded.inline("<where>", text));
    Ok(conditions.map(|parsed| parsed.map(Document::root)).collect::<Result<_, _>>()?)
}

/// Evaluates conditions that only depend on inputs, before there is a graph: returns the imports
/// that may be present, and the violated rules between inputs.
fn decided_by_inputs<'t>(
    template: &'t ServiceTemplate<'t>,
    inputs: &Inputs<'t>,
    now: Option<&Clock>,
) -> (Vec<&'t Import<'t>>, Diagnostics) {
    let (nothing, no_types) = (Graph::empty(template), TypeHierarchy::default());
    let mut early = Evaluator::new(&nothing, &no_types, inputs, now);
    let wanted = template.imports.iter().filter(|import| is_wanted(import, &mut early)).collect();
    (wanted, check_features(inputs, &mut early))
}

/// Reads the unwanted imports: the template may name elements of them, which are absent.
fn absent_imports(
    loaded: &Loaded,
    template: &ServiceTemplate<'_>,
    wanted: &[&Import<'_>],
) -> Imported {
    if wanted.len() == template.imports.len() {
        return Imported::default();
    }
    // `wanted` has the imports in the order of the template.
    let mut wanted = wanted.iter().peekable();
    let mut is_wanted = |import| wanted.next_if(|wanted| std::ptr::eq(**wanted, import)).is_some();
    let absent = template.imports.iter().filter(|import| !is_wanted(*import));
    // Mistakes in unwanted imports do not matter.
    let absent = absent.map(|import| import.definition);
    loaded.import(absent, NeededImports::Files, &mut Diagnostics::default())
}

/// Whether an import may be present: true unless the inputs alone decide that it is absent.
fn is_wanted<'a>(import: &Import<'a>, early: &mut Evaluator<'_, 'a>) -> bool {
    let conditions = import.declared.conditions().map(|conditions| {
        let list = early.graph.syntax.read(conditions);
        early.conditions(list, None)
    });
    // Conditions that cannot be decided yet are decided, and their errors reported, once the graph
    // with all elements exists.
    !matches!(conditions, Some(Ok(conditions)) if conditions.iter().any(|&(formula, _)| formula == Formula::FALSE))
}

fn check_features(inputs: &Inputs<'_>, early: &mut Evaluator<'_, '_>) -> Diagnostics {
    let value = |(id, declaration): (_, &inputs::Declaration<'_>)| {
        (id, early.input_at(id, declaration.span).ok())
    };
    let values: FxHashMap<_, _> = inputs.declarations.iter().map(value).collect();
    inputs::check_features(&inputs.declarations, &|id| values.get(&id).cloned().flatten())
}

const RULE_FILES: [&str; 4] =
    ["qualities.yaml", "lib/qualities.yaml", "rules.yaml", "lib/rules.yaml"];

const CONDITION_FILES: [&str; 1] = ["type-specific-conditions.yaml"];

fn type_specific<'l>(
    loaded: &'l Loaded,
    template: &ServiceTemplate<'l>,
    phases: &mut Phases,
) -> Result<Vec<template::TypeSpecificCondition<'l>>, Diagnostics> {
    let definition = template.variability.type_specific_conditions;
    let roots = referenced(loaded, definition, &CONDITION_FILES);
    let roots = phases.or_else(roots, || Ok(Vec::new()))?;
    phases.phase(|diagnostics| {
        let read = |root| template::parse_type_specific_conditions(root, diagnostics);
        roots.into_iter().flat_map(read).collect()
    })
}

/// The roots of the files that a definition names, or the definition itself if it names none.
/// Without a definition, the root of the first default file that exists.
fn referenced<'l>(
    loaded: &'l Loaded,
    definition: Option<Node<'l>>,
    defaults: &[&str],
) -> Result<Vec<Node<'l>>, Diagnostics> {
    let Some(node) = definition else {
        return Ok(loaded.first_beside(defaults)?.map(Document::root).into_iter().collect());
    };
    let names = node.as_str().into_iter().chain(node.items().filter_map(Node::as_str));
    let read = |name: &str| {
        let document = loaded.beside(name);
        document
            .map(Document::root)
            .map_err(|error| if error.span.is_none() { error.at(node.span()) } else { error })
    };
    let files: Vec<_> = names.map(read).collect::<Result<_, _>>()?;
    Ok(if files.is_empty() { vec![node] } else { files })
}
