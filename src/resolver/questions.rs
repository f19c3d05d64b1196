//! Answers questions about a template. Each method reads what its question needs, and calls the
//! function of another module that answers it.

use super::Resolver;
use super::instances::of_instance;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
use crate::exchange::{self, FeatureModel};
use crate::explore::matrix::{self, Matrix};
use crate::explore::outline::{ElementPlace, Outline};
use crate::explore::{
    Analysis, Change, Configuration, Count, Explanation, Found, InputsReport, Names, Projection,
    Query, Space, analyze, explain, types, variants,
};
use crate::orchestrate::instance::{SeparateNodes, separate_nodes};
use crate::orchestrate::plan::{
    self, Adaptation, OrderOptions, Plan, PlanQuery, VariantOfPlan, VariantOrigin, WorkflowOutline,
};
use crate::report::{self, ReportQuery, ReportedInstance};
use crate::topology::{NodeIndex, Topology};
use crate::tosca::load::{Extent, Loaded, TemplateLocation};
use crate::tosca::{DefinedTypes, TypeReport, TypesReport, v1_0};
use crate::validate::{self, Stage, StageDiagnostics, StagedValidation, Validation};
use crate::variability::assign::{
    self, AssignedTechnologies, TechnologyQuality, UnsupportedTechnology,
};
use crate::variability::choice::Choice;
use crate::variability::enriched::{self, EnrichedTemplate};
use crate::variability::init;
use crate::variability::inputs::InputMode;
use crate::variability::options::Options;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::resolution::Resolution;
use crate::variability::resolve::{self, How};
use cuvee_sat::progress::Progress;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::source::SourceMap;
use std::sync::Arc;

/// The answer to a question, with warnings.
type Told<T> = Result<(T, Diagnostics), Diagnostics>;

/// A side of a plan with its nodes apart.
fn separate<'v, 'a>(
    side: VariantOfPlan<'v, 'a>,
    nodes: &'v SeparateNodes,
) -> VariantOfPlan<'v, 'a> {
    VariantOfPlan {
        topology: &nodes.topology,
        written: side.written.map(|_| &nodes.written),
        document: &nodes.document,
        ..side
    }
}

/// Errors of the old variant: their places are in files of another template.
fn without_places(Diagnostics(errors): Diagnostics) -> Diagnostics {
    Diagnostics(errors.into_iter().map(|error| error.without_labels().at(None)).collect())
}

/// How many nodes a template may have so that a failure says which other inputs help. Of larger
/// ones, `cuvee explain` says so, which may take long.
const LOOKED_AROUND: usize = 2_000;

/// Why there is no answer to a question that was stopped.
const STOPPED: &str = "there is no answer, since the question was stopped";

impl Resolver {
    /// Resolves the template to the chosen variant.
    ///
    /// # Errors
    /// A [`Failure`] with everything that is wrong.
    pub fn resolve(&self) -> Result<Resolution, Failure> {
        self.resolve_with(&mut self.progress.clone())
    }

    /// Resolves the template to the chosen variant, and reports progress.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn resolve_with(&self, progress: &mut dyn Progress) -> Result<Resolution, Failure> {
        let how = self.how();
        progress.phase("reading");
        let loaded = self.loaded(self.choice.extent())?;
        let resolution = resolve::resolve(&loaded, &self.choice, &how, progress);
        let mut resolution = resolution.map_err(|failure| self.blamed(failure, &loaded, &how));
        let found = match &mut resolution {
            Ok(resolution) => &mut resolution.warnings,
            Err(failure) => &mut failure.diagnostics,
        };
        self.make_ready(&loaded, found);
        how.leave(loaded);
        resolution
    }

    /// A failure that says of conditions and inputs which conflict whether other inputs would help,
    /// and a note why not.
    fn blamed(&self, mut failure: Failure, loaded: &Arc<Loaded>, how: &How) -> Failure {
        const CONFLICTS: [Code; 2] = [Code::Unsatisfiable, Code::VariabilityInputConstraint];
        let is_conflict = |found: &&mut Diagnostic| CONFLICTS.iter().any(|&it| found.code == it);
        let Some(conflict) = failure.diagnostics.iter_mut().rfind(is_conflict) else {
            return failure;
        };
        if how.limit.is_over() {
            return failure;
        }
        let resolver = Self { loaded: Some(Arc::clone(loaded)), ..self.clone() };
        let outlook = resolver.interpret(|interpreted| {
            if interpreted.template.nodes.len() > LOOKED_AROUND {
                return Err(Diagnostics::default());
            }
            explain::around(interpreted, &self.choice, &mut (), |space, currents| {
                Ok(space.outlook(currents))
            })
        });
        match outlook.map(|answer| answer.result) {
            Ok(Ok(change)) => {
                let flags: Vec<_> = change.iter().map(Change::flag).collect();
                let others = format!("other inputs give a variant: `{}`", flags.join(" "));
                let help = match &conflict.help {
                    Some(help) => format!("{help}; {others}"),
                    None => others,
                };
                *conflict = conflict.clone().help(help);
            }
            Ok(Err(void)) => {
                let is_told =
                    |label: &Label| conflict.labels.iter().any(|it| it.span == label.span);
                let is_news = !void.labels.iter().all(is_told);
                failure.diagnostics.extend(is_news.then_some(void));
            }
            // The inputs of this template cannot stay open.
            Err(_) => {}
        }
        failure
    }

    /// Makes a variable template out of a plain one. Only its version changes, and it gets a
    /// variability definition with an input and a preset `prod` to begin with. With that preset,
    /// the variable template resolves to the plain one.
    ///
    /// ```
    /// let plain = "\
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   node_templates:
    ///     shop: # sells tea
    ///       type: Shop
    /// ";
    /// let variable = cuvee::Resolver::from_text("shop.yaml", plain).variable_template()?.result;
    /// assert!(variable.starts_with("tosca_definitions_version: tosca_variability_1_0\n"));
    /// let prod = cuvee::Resolver::from_text("shop.yaml", variable).preset("prod").resolve()?;
    /// assert_eq!(prod.to_yaml(), plain);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the template, and `invalid-template` if it is not plain or has nothing that could
    /// vary.
    pub fn variable_template(&self) -> Result<Answer<String>, Failure> {
        init::variable(&*self.loaded(Extent::Needed)?)
    }

    /// The template in mode `manual`, in which everything is written out that its options, default
    /// conditions, pruning and technology rules add. For each choice of inputs it resolves to the
    /// same.
    ///
    /// ```
    /// let shop = cuvee::Resolver::new("examples/shop");
    /// let enriched = shop.enrich()?.result;
    /// assert!(enriched.yaml.contains("mode: manual"));
    /// assert!(enriched.elements.iter().any(|it| it.element == "node.engine"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the template that do not depend on its inputs, and `invalid-template` for
    /// conditions that cannot be written out.
    pub fn enrich(&self) -> Result<Answer<EnrichedTemplate>, Failure> {
        self.ask(InputMode::Open, enriched::enrich)
    }

    /// The effective options of the template, and the files that the options come from.
    ///
    /// # Errors
    /// A [`Failure`] where the template cannot be read or an option is wrong.
    pub fn effective_options(&self) -> Result<(Options, SourceMap), Failure> {
        let answer = self.answer(Extent::Needed, |loaded| {
            resolve::options(loaded, &self.choice).map(|options| (options, Diagnostics::default()))
        })?;
        Ok((answer.result, answer.sources))
    }

    /// The names of the template's variability presets, in its order.
    ///
    /// # Errors
    /// A [`Failure`] where the template cannot be read.
    pub fn preset_names(&self) -> Result<Vec<String>, Failure> {
        let names = |loaded: &Loaded| Ok((resolve::preset_names(loaded)?, Diagnostics::default()));
        Ok(self.answer(Extent::Needed, names)?.result)
    }

    /// The names in the template, even if the template is wrong: presets, inputs with values,
    /// elements.
    ///
    /// ```
    /// let names = cuvee::Resolver::new("examples/shop").names()?;
    /// assert_eq!(names.presets[1].name, "prod");
    /// assert!(names.elements.contains(&"node.shop".to_owned()));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template cannot be read.
    pub fn names(&self) -> Result<Names, Failure> {
        let choice = self.choice.tolerant();
        let answer = self.answer(choice.extent(), |loaded| {
            let interpreted = Interpreted::of(loaded, &choice)?;
            let prepared = Prepared::of(&interpreted, &choice, InputMode::Open, &mut ())?;
            Ok((Names::of(&prepared), Diagnostics::default()))
        })?;
        Ok(answer.result)
    }

    /// The outline of the template for all values of its inputs: inputs without a value are open.
    ///
    /// ```
    /// let outline = cuvee::Resolver::new("examples/shop").outline()?;
    /// let relation = &outline.relations[0];
    /// assert_eq!(relation.identifier, "relation.host@0.node.shop");
    /// assert_eq!(relation.conditions, ["logic_expression: on_laptop"]);
    /// assert_eq!(relation.target.map(|target| &*outline.nodes[target].name), Some("engine"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template is wrong whatever its inputs are.
    pub fn outline(&self) -> Result<Outline, Failure> {
        let outline =
            |prepared: &Prepared<'_>| Ok(Outline::of(&prepared.graph, prepared.sources()));
        Ok(self.ask(InputMode::Open, outline)?.result)
    }

    /// The elements of the template with the places of their declarations, and whether the chosen
    /// variant has them.
    ///
    /// ```
    /// let places = cuvee::Resolver::new("examples/shop").preset("dev").element_places()?;
    /// let cluster = places.result.iter().find(|it| it.identifier == "node.cluster").unwrap();
    /// assert_eq!((cluster.present, places.sources.snippet(cluster.span)), (false, "cluster"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where there is no such variant.
    pub fn element_places(&self) -> Result<Answer<Vec<ElementPlace>>, Failure> {
        self.ask(InputMode::Closed, |prepared| {
            let presence = resolve::presence(prepared, &self.choice, &mut |_| {})?;
            Ok(ElementPlace::all(&prepared.graph, &presence))
        })
    }

    /// The topology of the variant that [`Resolver::resolve`] writes, as data. Each part has its
    /// place in its author's file.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn topology(&self) -> Result<Answer<Topology>, Failure> {
        let how = self.how();
        self.interpret(|interpreted| resolve::topology(interpreted, &self.choice, &how))
    }

    /// Plans the deployment of the variant, its undeployment, or one of its own workflows.
    ///
    /// ```
    /// use cuvee::deploy::plan::PlanQuery;
    /// let shop = cuvee::Resolver::new("examples/shop").preset("dev");
    /// let undeploy = PlanQuery { workflow: "undeploy".into(), ..PlanQuery::default() };
    /// assert_eq!(shop.plan(&undeploy)?.result.workflow, "undeploy");
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::resolve`], and `cyclic-deployment`, `delegated-lifecycle`, `unknown-element`.
    pub fn plan(&self, query: &PlanQuery) -> Result<Answer<Plan>, Failure> {
        let how = self.how();
        self.answer(Extent::Whole, |loaded| {
            let interpreted = Interpreted::of(loaded, &self.choice)?;
            let (mut variant, warnings) = resolve::topologies(&interpreted, &self.choice, &how)?;
            self.progress.clone().phase("planning");
            let (plan, more) = types::known(loaded, &self.choice, InputMode::Closed, |types| {
                variant.topology.inherit_triggers(types);
                plan::plan(&variant.topology, variant.written.as_ref(), types, query)
            })?;
            Ok((plan, warnings.before(more)))
        })
    }

    /// The workflows of the variant: those that follow from its topology, and those that its author
    /// wrote.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn workflows(&self) -> Result<Answer<Vec<WorkflowOutline>>, Failure> {
        let how = self.how();
        self.interpret_as(Extent::Whole, |interpreted| {
            let (mut topology, warnings) = resolve::topology(interpreted, &self.choice, &how)?;
            if !topology.policies.is_empty() {
                let loaded = interpreted.loaded;
                types::known(loaded, &self.choice, InputMode::Closed, |types| {
                    topology.inherit_triggers(types);
                    Ok(())
                })?;
            }
            Ok((plan::workflows(&topology), warnings))
        })
    }

    /// Plans the update from the variant to the variant of another resolver, which has the same
    /// template with another choice, or another template.
    ///
    /// ```
    /// use cuvee::deploy::plan::{Adaptation, ChangeClass, OrderOptions};
    /// let shop = cuvee::Resolver::new("examples/shop").load()?;
    /// let (dev, prod) = (shop.clone().preset("dev"), shop.preset("prod"));
    /// let plan = dev.adapt(&prod, &Adaptation::default(), &OrderOptions::default())?.result;
    /// let shop = plan.changes.iter().find(|change| change.element == "node.shop").unwrap();
    /// assert_eq!(shop.class, ChangeClass::Recreate);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::plan`]. The places in errors are those of the other resolver's files.
    pub fn adapt(
        &self,
        to: &Self,
        adaptation: &Adaptation,
        order: &OrderOptions,
    ) -> Result<Answer<Plan>, Failure> {
        let loaded = self.loaded(Extent::Whole)?;
        let failed = |Diagnostics(mut diagnostics)| {
            self.make_ready(&loaded, &mut diagnostics);
            Failure { diagnostics, sources: loaded.sources().clone() }
        };
        let variant = |resolver: &Self, loaded: &Loaded| {
            let interpreted = Interpreted::of(loaded, &resolver.choice)?;
            let (choice, how) = (&resolver.choice, resolver.how());
            resolve::topologies_and(&interpreted, choice, &how, plan::compared_sections)
        };
        let ((old, old_document), _) = variant(self, &loaded).map_err(failed)?;
        to.answer(Extent::Whole, |new_files| {
            let ((new, new_document), warnings) = variant(to, new_files)?;
            self.progress.clone().phase("planning");
            let planned = types::known(&loaded, &self.choice, InputMode::Closed, |old_types| {
                types::known(new_files, &to.choice, InputMode::Closed, |new_types| {
                    let from = VariantOfPlan {
                        written: old.written.as_ref(),
                        ..VariantOfPlan::of(&old.topology, &old_document, old_types, &loaded)
                    };
                    let into = VariantOfPlan {
                        written: new.written.as_ref(),
                        ..VariantOfPlan::of(&new.topology, &new_document, new_types, new_files)
                    };
                    let Some([was, is]) = plan::scaled(&from, &into, adaptation) else {
                        return plan::adapt(from, into, adaptation, order);
                    };
                    let old = self.separate(from.origin, &was).map_err(without_places)?;
                    let new = to.separate(into.origin, &is)?;
                    let sides = (separate(from, &old), separate(into, &new));
                    plan::adapt_nodes(sides, [&old.nodes, &new.nodes], adaptation, order)
                })
            });
            let (plan, more) = planned?;
            Ok((plan, warnings.before(more)))
        })
    }

    /// The variant with as many nodes of each template as `counts` says.
    fn separate(
        &self,
        VariantOrigin { types, loaded, .. }: VariantOrigin<'_, '_>,
        counts: &[Option<u64>],
    ) -> Result<SeparateNodes, Diagnostics> {
        let interpreted = Interpreted::of(loaded, &self.choice)?;
        let known = |node: NodeIndex| counts.get(node.index()).copied().flatten();
        let made = resolve::evaluated(&interpreted, &self.choice, &self.how(), |variant| {
            separate_nodes(&of_instance(&variant, types), &known)
        });
        Ok(made?.0)
    }

    /// Resolves the template once as chosen, and once more with each of its presets on top of the
    /// choice.
    ///
    /// If a preset is rejected, its column is empty. It is an error if every column is rejected.
    ///
    /// ```
    /// let matrix = cuvee::Resolver::new("examples/shop").matrix()?;
    /// let presets: Vec<_> = matrix.columns.iter().map(|column| column.preset.as_deref()).collect();
    /// assert_eq!(presets, [None, Some("dev"), Some("prod"), Some("edge"), Some("sale")]);
    /// let cluster = matrix.rows.iter().find(|row| row.identifier == "node.cluster").unwrap();
    /// assert_eq!(cluster.present[..4], [Some(false), Some(false), Some(true), Some(false)]);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template is wrong whatever its inputs are, or no variant can be
    /// resolved.
    pub fn matrix(&self) -> Result<Matrix, Failure> {
        let (matrix, failures) = self.columns()?;
        match failures
            .into_iter()
            .next()
            .filter(|_| matrix.columns.iter().all(|column| !column.rejected.is_empty()))
        {
            Some(failure) => Err(failure),
            None => Ok(matrix),
        }
    }

    /// The variants of the presets of the template, each on top of the choice.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs.
    pub fn preset_variants(&self, projection: Projection) -> Result<Found, Failure> {
        Ok(variants::preset_variants(&self.columns()?.0, projection))
    }

    /// The matrix, even if all columns are rejected, and the reasons why columns are rejected.
    fn columns(&self) -> Result<(Matrix, Vec<Failure>), Failure> {
        let answer = self.interpret(|interpreted| {
            let progress = &mut self.progress.clone();
            let open = Prepared::of(interpreted, &self.choice, InputMode::Open, progress)?;
            progress.phase("resolving presets");
            let columns =
                matrix::columns(interpreted, &self.choice, &open, &mut |_| {}, &mut |_| {});
            Ok((columns, Diagnostics::default()))
        })?;
        let (matrix, failures) = answer.result;
        let failure =
            |Diagnostics(diagnostics)| Failure { diagnostics, sources: answer.sources.clone() };
        Ok((matrix, failures.into_iter().map(failure).collect()))
    }

    /// Lists variants.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs; `open-input` where an input cannot stay
    /// open, or where a sample is wanted and counting exceeds the effort; `unsatisfiable` where
    /// there is no variant.
    pub fn variants(&self, query: &Query) -> Result<Answer<Found>, Failure> {
        self.variants_with(query, &mut self.progress.clone())
    }

    /// Lists variants, and reports progress.
    ///
    /// # Errors
    /// As [`Resolver::variants`].
    pub fn variants_with(
        &self,
        query: &Query,
        progress: &mut dyn Progress,
    ) -> Result<Answer<Found>, Failure> {
        self.explore_with(true, progress, |space, progress| space.variants(query, progress))
    }

    /// Counts variants: exactly, or only some of them if the effort is spent first.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs; `open-input` where an input cannot stay
    /// open.
    ///
    /// # Examples
    /// ```
    /// use cuvee::explore::Query;
    /// let shop = cuvee::Resolver::new("examples/shop").preset("prod");
    /// assert!(shop.count_variants(&Query::default())?.result.exact);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn count_variants(&self, query: &Query) -> Result<Answer<Count>, Failure> {
        self.count_variants_with(query, &mut self.progress.clone())
    }

    /// Counts variants, and reports progress.
    ///
    /// # Errors
    /// As [`Resolver::count_variants`].
    pub fn count_variants_with(
        &self,
        query: &Query,
        progress: &mut dyn Progress,
    ) -> Result<Answer<Count>, Failure> {
        self.explore_with(true, progress, |space, progress| Ok(space.count(query, progress)))
    }

    /// Lists the inputs of a template, the cases of open inputs, and the elements that each input
    /// influences.
    ///
    /// # Errors
    /// As [`Resolver::variants`], except that there may be no variant.
    pub fn input_report(&self) -> Result<Answer<InputsReport>, Failure> {
        self.input_report_with(&mut self.progress.clone())
    }

    /// Lists inputs, and reports progress.
    ///
    /// # Errors
    /// As [`Resolver::input_report`].
    pub fn input_report_with(
        &self,
        progress: &mut dyn Progress,
    ) -> Result<Answer<InputsReport>, Failure> {
        // The report shows what an input does regardless of the values that other inputs leave it.
        self.explore_with(false, progress, |space, progress| Ok(space.inputs(progress)))
    }

    /// Analyses all variants: which elements every variant has, which ones no variant has, and
    /// which parts of the template have no effect. Dead elements are warnings, too.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs; `open-input` where an input cannot stay
    /// open.
    pub fn analyze(&self) -> Result<Answer<Analysis>, Failure> {
        self.analyze_with(&mut self.progress.clone())
    }

    /// Analyses all variants, and reports progress.
    ///
    /// # Errors
    /// As [`Resolver::analyze`].
    pub fn analyze_with(&self, progress: &mut dyn Progress) -> Result<Answer<Analysis>, Failure> {
        progress.phase("reading");
        self.interpret(|interpreted| analyze::analyze(interpreted, &self.choice, progress))
    }

    /// Finds the elements that no variant has: the warnings of [`Resolver::analyze`] alone, which take
    /// less time.
    ///
    /// # Errors
    /// As [`Resolver::analyze`].
    pub fn dead_elements(&self) -> Result<Answer<Vec<Diagnostic>>, Failure> {
        self.explore_with(true, &mut self.progress.clone(), |space, progress| {
            Ok(space.dead_elements(progress))
        })
    }

    /// Explains why an element is present or absent in the variant of the given inputs.
    ///
    /// # Errors
    /// `unknown-element`, errors of the template, and the reasons why there is no variant.
    pub fn explain(&self, identifier: &str) -> Result<Answer<Explanation>, Failure> {
        let progress = &mut self.progress.clone();
        self.interpret(|interpreted| {
            explain::around(interpreted, &self.choice, progress, |space, currents| {
                space.explain(identifier, currents)
            })
        })
    }

    /// The smallest change of inputs that leads to a variant, if the given inputs lead to none;
    /// `None` if no change does.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs.
    pub fn remedy(&self) -> Result<Answer<Option<Vec<Change>>>, Failure> {
        let progress = &mut self.progress.clone();
        self.interpret(|interpreted| {
            explain::around(interpreted, &self.choice, progress, |space, currents| {
                Ok(space.remedy(currents))
            })
        })
    }

    /// The data to configure a variant without resolving, and the cases that each of `choices`
    /// selects, for example a choice with a preset.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs; `open-input` where an input cannot stay
    /// open.
    pub fn configuration(&self, choices: &[Resolver]) -> Result<Answer<Configuration>, Failure> {
        let currents = |resolver: &Resolver| {
            let currents = |prepared: &Prepared<'_>| Ok(explain::currents(prepared));
            resolver.ask(InputMode::Closed, currents).ok().map(|answer| answer.result)
        };
        let choices: Vec<_> = choices.iter().map(currents).collect();
        self.explore(true, |space| Ok(space.configuration(&choices)))
    }

    /// Assigns each node of a plain template that needs a technology the one that the rules prefer:
    /// of the rules for the most special component, the rule with the highest weight.
    ///
    /// # Errors
    /// Errors of the template or the rules; `invalid-template` if the template is not plain.
    pub fn assign_technologies(&self) -> Result<Answer<AssignedTechnologies>, Failure> {
        self.rate(assign::assign)
    }

    /// Rates the technologies that the nodes of a plain template name.
    ///
    /// # Errors
    /// As [`Resolver::assign_technologies`].
    pub fn technology_quality(
        &self,
        unsupported: UnsupportedTechnology,
    ) -> Result<Answer<TechnologyQuality>, Failure> {
        self.rate(|prepared, warnings| assign::quality(prepared, unsupported, warnings))
    }

    /// All types of the template: the normative ones, and those of its library, its imports and its
    /// own.
    ///
    /// The warnings of the answer say what is wrong with definitions; the wrong parts of types are
    /// left out.
    ///
    /// # Errors
    /// A [`Failure`] where a file cannot be read.
    ///
    /// ```
    /// let types = cuvee::Resolver::new("examples/shop").types()?.result.types;
    /// assert!(types.iter().any(|entry| entry.name == "tosca.nodes.Root" && entry.place.starts_with("tosca_simple_1_3.yaml")));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn types(&self) -> Result<Answer<TypesReport>, Failure> {
        self.answer(Extent::Whole, |loaded| {
            types::ask(loaded, &self.choice, |types| Ok(TypesReport::of(types, loaded.sources())))
        })
    }

    /// The types with this name, at most one of each family, with everything that they inherit.
    ///
    /// # Errors
    /// `unknown-type` where no type has the name, and as [`Resolver::types`].
    pub fn effective_types(&self, name: &str) -> Result<Answer<Vec<TypeReport>>, Failure> {
        self.answer(Extent::Whole, |loaded| {
            types::ask(loaded, &self.choice, |types| {
                Ok(TypeReport::of(types, name, loaded.sources())?)
            })
        })
    }

    /// Validates the template in all its variants, or only in one variant if a preset or inputs are
    /// given.
    ///
    /// ```
    /// let validation = cuvee::Resolver::new("examples/shop").validate();
    /// assert!(validation.is_valid(false), "{:#?}", validation.diagnostics);
    /// ```
    pub fn validate(&self) -> Validation {
        let StagedValidation { all, sources, .. } = self.validate_as(&self.choice, Stage::Variants);
        Validation { diagnostics: all, sources }
    }

    /// Validates the template as [`Resolver::validate`] does, but only as far as a stage, and until
    /// the time or the flag at which runs of this resolver stop.
    ///
    /// ```
    /// use cuvee::validate::Stage;
    /// let stop = std::sync::Arc::new(true.into());
    /// let stopped = cuvee::Resolver::new("examples/shop").stop_when(stop);
    /// assert!(stopped.validate_until(Stage::Variants).variants().is_none());
    /// ```
    pub fn validate_until(&self, stage: Stage) -> StagedValidation {
        let choice = Choice { limit: self.how().limit, ..self.choice.clone() };
        self.validate_as(&choice, stage)
    }

    fn validate_as(&self, choice: &Choice, until: Stage) -> StagedValidation {
        let of_text = |Validation { diagnostics, sources }| StagedValidation {
            text: Some(diagnostics.clone()),
            variants: (until == Stage::Variants).then(Vec::new),
            all: diagnostics,
            sources,
        };
        if let Some(validation) = self.validate_definitions() {
            return of_text(validation);
        }
        let progress = &mut self.progress.clone();
        let library = self.library();
        let is_library = library.is_some();
        let loaded = library.unwrap_or_else(|| self.loaded(Extent::Whole));
        match loaded {
            Ok(loaded) => {
                let found = match is_library {
                    true => validate::validate_library(&loaded, choice, until, progress),
                    false => validate::validate_package(&loaded, choice, until, progress),
                };
                let mut all = found.all();
                self.make_ready(&loaded, &mut all);
                let mut found = found.in_order();
                for list in found.text.iter_mut().chain(&mut found.variants) {
                    loaded.settle(list);
                }
                let (StageDiagnostics { text, variants }, sources) = (found, loaded.sources());
                StagedValidation { text, variants, all, sources: sources.clone() }
            }
            Err(failure) => of_text(failure.into()),
        }
    }

    /// The types of documents of TOSCA 1.0, with what they inherit: all of them, or those with a
    /// name. `None` where the path has no such documents. The warnings say what is wrong with the
    /// documents.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// let answer = Resolver::new("examples/kiosk.tosca").defined_types(Some("Counter"));
    /// let types = answer.unwrap()?.result.types;
    /// assert_eq!(types[0].requirements[0].name, "place");
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where no type has the name, or several have it.
    pub fn defined_types(
        &self,
        name: Option<&str>,
    ) -> Option<Result<Answer<DefinedTypes>, Failure>> {
        let TemplateLocation::Path(path) = &self.location else { return None };
        let loaded = self.definitions(path)?;
        let mut found = loaded.found.clone();
        let library = v1_0::Library::of(&loaded, &mut found);
        let schemas = v1_0::PropertySchemas::of(&library, &mut found);
        let sources = loaded.sources.clone();
        let result = match v1_0::defined_types(&library, &schemas, name) {
            Ok(result) => result,
            Err(error) => return Some(Err(Failure { diagnostics: vec![error], sources })),
        };
        let mut warnings = validate::validate_definitions(&library, &schemas, found);
        warnings.retain(|found| found.severity != Severity::Note);
        Some(Ok(Answer { result, warnings, sources }))
    }

    /// Validates documents of TOSCA 1.0; `None` where the path has none.
    fn validate_definitions(&self) -> Option<Validation> {
        let TemplateLocation::Path(path) = &self.location else { return None };
        let loaded = match &self.loaded {
            Some(_) => return None,
            None => self.definitions(path)?,
        };
        self.progress.clone().phase("checking");
        let mut found = loaded.found.clone();
        let library = v1_0::Library::of(&loaded, &mut found);
        let schemas = v1_0::PropertySchemas::of(&library, &mut found);
        Some(Validation {
            diagnostics: validate::validate_definitions(&library, &schemas, found),
            sources: loaded.sources.clone(),
        })
    }

    /// A feature model of the template: its inputs, with the rules and constraints between them
    /// that are about features.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// let model = Resolver::new("examples/shop").feature_model()?;
    /// assert!(model.to_uvl().contains("live => tls"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template, its inputs or its constraints are wrong, or two features
    /// would share a name.
    pub fn feature_model(&self) -> Result<FeatureModel, Failure> {
        Ok(self.ask(InputMode::Open, exchange::feature_model)?.result)
    }

    /// The formula whose models, projected to the elements, are the variants. Inputs without a
    /// value are open. Of several equally good variants of the same inputs, only the one that
    /// resolving takes is a model. The formula has no objectives.
    ///
    /// # Errors
    /// As [`Resolver::variants`], except that there may be no variant.
    pub fn variants_formula(&self) -> Result<exchange::DimacsFormula, Failure> {
        Ok(self.explore(true, |space| Ok(space.formula()))?.result)
    }

    /// The problem that resolving solves: the hard constraints and the objectives. Inputs without a
    /// value are open.
    ///
    /// If every input is assigned, the costs of the optimum are those that
    /// [`Solution::costs`](cuvee_sat::solve::Solution::costs) returns.
    ///
    /// # Errors
    /// Errors of the template that do not depend on inputs; `open-input` where an input cannot stay
    /// open.
    pub fn optimization_formula(&self) -> Result<exchange::DimacsFormula, Failure> {
        Ok(self.ask(InputMode::Open, exchange::optimization)?.result)
    }

    /// The report as HTML. In it, the chosen values are fixed; other inputs can be configured.
    /// Secrets are hidden, unless the resolver [reveals](Resolver::reveal_secrets) them.
    ///
    /// `command` has the words of the command line that the page adds inputs to, such as `cuvee
    /// resolve shop.yaml`.
    ///
    /// ```
    /// let page = cuvee::Resolver::new("examples/shop").report(&["cuvee".into(), "resolve".into(), "shop".into()])?;
    /// assert!(page.starts_with("<!doctype html>"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template is wrong whatever its inputs are.
    pub fn report(&self, command: &[String]) -> Result<String, Failure> {
        let answer = self.interpret(|interpreted| self.page(interpreted, command, None))?;
        Ok(answer.result)
    }

    fn page(
        &self,
        interpreted: &Interpreted<'_>,
        command: &[String],
        instance: Option<&ReportedInstance<'_>>,
    ) -> Result<(String, Diagnostics), Diagnostics> {
        let (choice, reveal) = (&self.choice, self.reveals_secrets);
        let query = ReportQuery { choice, command, instance, reveal };
        let page = report::report(interpreted, &query, &mut self.progress.clone())?;
        Ok((page, Diagnostics::default()))
    }

    /// The report with the state of an instance: the topology shows the states of its nodes.
    ///
    /// ```
    /// use cuvee::deploy::instance::InstanceModel;
    /// use cuvee::output::report::ReportedInstance;
    /// let model = InstanceModel::default();
    /// let instance = ReportedInstance { source: "instance:shop", model: &model };
    /// let page = cuvee::Resolver::new("examples/guestbook").report_of_instance(&[], instance)?;
    /// assert!(page.contains("instance:shop"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::report`].
    pub fn report_of_instance(
        &self,
        command: &[String],
        instance: ReportedInstance<'_>,
    ) -> Result<String, Failure> {
        let answer =
            self.interpret(|interpreted| self.page(interpreted, command, Some(&instance)))?;
        Ok(answer.result)
    }

    /// Prepares the template up to its graph, and asks a question about the result.
    pub(crate) fn ask<T>(
        &self,
        mode: InputMode,
        ask: impl FnOnce(&Prepared<'_>) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        self.ask_with(mode, &mut self.progress.clone(), |prepared, _| ask(prepared))
    }

    fn ask_with<T>(
        &self,
        mode: InputMode,
        progress: &mut dyn Progress,
        ask: impl FnOnce(&Prepared<'_>, &mut dyn Progress) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        progress.phase("reading");
        self.interpret(|interpreted| {
            let prepared = Prepared::of(interpreted, &self.choice, mode, progress)?;
            let answer = ask(&prepared, progress);
            prepared.answer(answer)
        })
    }

    /// Asks a question about all variants. With `features`, only inputs count that fulfil the rules
    /// between them.
    pub(super) fn explore<T>(
        &self,
        features: bool,
        ask: impl FnOnce(&mut Space<'_, '_>) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        self.explore_with(features, &mut self.progress.clone(), |space, _| ask(space))
    }

    fn explore_with<T>(
        &self,
        features: bool,
        progress: &mut dyn Progress,
        ask: impl FnOnce(&mut Space<'_, '_>, &mut dyn Progress) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        let asked = self.ask_with(InputMode::Open, progress, |prepared, progress| {
            let mut space = Space::of(prepared, features, progress)?;
            let Diagnostics(unknown) = space.unknown_values();
            Ok((ask(&mut space, progress)?, unknown))
        });
        asked.map(|Answer { result: (result, unknown), mut warnings, sources }| {
            warnings.extend(unknown);
            Answer { result, warnings, sources }
        })
    }

    /// Parses the template, and asks a question about the result.
    fn interpret<T>(
        &self,
        ask: impl FnOnce(&Interpreted<'_>) -> Told<T>,
    ) -> Result<Answer<T>, Failure> {
        self.interpret_as(self.choice.extent(), ask)
    }

    /// The same of as much of a template as this.
    fn interpret_as<T>(
        &self,
        extent: Extent,
        ask: impl FnOnce(&Interpreted<'_>) -> Told<T>,
    ) -> Result<Answer<T>, Failure> {
        self.answer(extent, |loaded| {
            self.progress.clone().phase("interpreting");
            let told = ask(&Interpreted::of(loaded, &self.choice)?);
            // What a solver did not find before it was stopped may be there all the same.
            match self.choice.limit.is_over() {
                true => Err(Diagnostic::error(Code::Unproven, STOPPED).into()),
                false => told,
            }
        })
    }

    /// Asks a question about the technologies of a plain template.
    fn rate<T>(
        &self,
        ask: impl FnOnce(&Prepared<'_>, &mut Diagnostics) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        self.interpret(|interpreted| {
            let mut prepared = Prepared::of(
                interpreted,
                &self.choice,
                InputMode::Closed,
                &mut self.progress.clone(),
            )?;
            let mut warnings = std::mem::take(&mut prepared.warnings);
            let rated = ask(&prepared, &mut warnings);
            prepared.warnings = warnings;
            prepared.answer(rated)
        })
    }

    /// Asks a question about the files that were read, and adds the texts that messages point into.
    pub(super) fn answer<T>(
        &self,
        extent: Extent,
        ask: impl FnOnce(&Loaded) -> Told<T>,
    ) -> Result<Answer<T>, Failure> {
        let loaded = self.loaded(extent)?;
        let mut told = ask(&loaded);
        let (Ok((_, Diagnostics(found))) | Err(Diagnostics(found))) = &mut told;
        self.make_ready(&loaded, found);
        let sources = loaded.sources().clone();
        match told {
            Ok((result, Diagnostics(warnings))) => Ok(Answer { result, warnings, sources }),
            Err(Diagnostics(diagnostics)) => Err(Failure { diagnostics, sources }),
        }
    }
}
