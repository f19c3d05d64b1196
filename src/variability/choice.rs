//! Holds what a caller chooses for a template, and the settings for reading it: everything but the
//! location of the template.

use super::clock::Clock;
use super::function::deployment::DeploymentInputs;
use super::inputs::{self, Assignment, Declarations};
use super::technology::TechnologyPlugins;
use crate::diagnostic::Diagnostics;
use crate::tosca::load::{Extent, Loaded, NeededImports};
use crate::tosca::{profile, v2_0};
use cuvee_sat::solve::{Limit, SolverKind};
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Document, Limits, Node};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One source of inputs.
#[derive(Clone, Debug)]
pub(crate) enum InputSource {
    File(PathBuf),
    Value(String, Value),
    /// A value that any other assignment overrides; ignored if there is no such input.
    Known(String, Value),
    Text(String, String),
}

impl InputSource {
    /// The input that the source assigns, unless it is a file.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::File(_) => None,
            Self::Value(name, _) | Self::Known(name, _) | Self::Text(name, _) => Some(name),
        }
    }
}

/// A condition on variants that does not come from their own template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariantDemand {
    pub condition: DemandCondition,
    /// The place of the demand.
    pub span: Span,
}

/// The condition of a demand; it names elements as templates do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DemandCondition {
    /// The node of this name is present.
    Node(String),
    /// The requirement assignment at this position of this node is present.
    Relation(String, usize),
    /// At least this number of the conditions hold.
    AtLeast(usize, Vec<Self>),
    Not(Box<Self>),
}

impl DemandCondition {
    /// The condition that all of these hold.
    pub(crate) fn all(conditions: Vec<Self>) -> Self {
        Self::AtLeast(conditions.len(), conditions)
    }

    /// The condition that at most this number of these hold.
    pub(crate) fn at_most(most: usize, conditions: Vec<Self>) -> Self {
        Self::Not(Box::new(Self::AtLeast(most.saturating_add(1), conditions)))
    }
}

/// The choice of a caller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    /// Variability presets; later ones win.
    pub presets: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Variability inputs.
    pub inputs: Vec<InputSource>,
    /// Variability options, each with its value in YAML.
    pub options: Vec<(String, String)>,
    /// Conditions in YAML; exploring looks only at variants that fulfil them.
    pub conditions: Vec<String>,
    /// Conditions that a variant has to fulfil to be one at all.
    pub demands: Vec<VariantDemand>,
    /// The clock.
    pub clock: Option<Clock>,
    /// What answers in place of technology plugins.
    pub plugins: TechnologyPlugins,
    /// The solver.
    pub solver: SolverKind,
    /// When validating ends early.
    pub limit: Limit,
    /// Whether the types of TOSCA's chapter 9 are defined as well.
    pub non_normative: bool,
    /// Whether validating also notes what is valid but refused by orchestrators.
    pub is_portable: bool,
    /// Whether phases continue after mistakes, as far as they can.
    pub tolerant: bool,
    /// Whether profiles have to be there, as their types decide what an instance is.
    pub needs_profiles: bool,
    /// Whether nodes keep their types and name their technologies in the result.
    pub names_technologies: bool,
    /// Deployment inputs; `None` where functions are not evaluated.
    pub deployment: Option<Vec<InputSource>>,
}

impl Choice {
    /// This choice with another preset, which wins over those before it.
    pub(crate) fn with_preset(&self, preset: &str) -> Self {
        let mut choice = self.clone();
        choice.presets.push(preset.to_owned());
        choice
    }

    /// This choice, with phases that continue after mistakes as far as possible, so that all
    /// mistakes are found. Errors are then among the warnings.
    pub(crate) fn tolerant(&self) -> Self {
        Self { tolerant: true, ..self.clone() }
    }

    /// The imports whose lack is an error.
    pub(crate) fn needed_imports(&self) -> NeededImports {
        match (self.tolerant, self.needs_profiles) {
            (true, _) => NeededImports::All,
            (false, true) => NeededImports::Profiles,
            (false, false) => NeededImports::Files,
        }
    }

    /// Whether the choice selects one variant, instead of meaning all variants.
    pub(crate) fn is_of_one_variant(&self) -> bool {
        let assigns = |(name, _): &(String, String)| name.starts_with(inputs::INPUT_VARIABLE);
        let by_environment = self.environment.iter().any(assigns)
            || !inputs::presets_from_environment(&self.environment).is_empty();
        by_environment || !self.presets.is_empty() || !self.inputs.is_empty()
    }

    /// How much of files with types resolving reads.
    pub(crate) fn extent(&self) -> Extent {
        if self.deployment.is_some() { Extent::Whole } else { Extent::Needed }
    }

    /// The chosen presets. The environment's presets count only if there are no others.
    pub(crate) fn chosen_presets(&self) -> Vec<String> {
        match self.presets.is_empty() {
            true => inputs::presets_from_environment(&self.environment),
            false => self.presets.clone(),
        }
    }

    /// The assignments beside presets: the environment, then files, then single values. Later ones
    /// win.
    pub(crate) fn assignments(
        &self,
        loaded: &Loaded,
        declarations: &Declarations<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Assignment> {
        let mut all = inputs::from_environment(&self.environment, declarations, diagnostics);
        for source in files_first(&self.inputs) {
            let read = read_input(source, loaded, declarations);
            let read = diagnostics.all_ok(read).into_iter().flatten();
            all.extend(read.map(|one| one.called_as_declared(declarations)));
        }
        all
    }

    /// The assigned values beside presets, by name; of several values of one input the last one
    /// counts.
    pub(crate) fn assigned(
        &self,
        loaded: &Loaded,
        declared: Option<Node<'_>>,
    ) -> Vec<(String, Value)> {
        // Mistakes in inputs are reported where the inputs are used.
        let mut said = Diagnostics::default();
        let declarations = Declarations::parse(declared, &mut said);
        let all = self.assignments(loaded, &declarations, &mut said).into_iter();
        let by_name: BTreeMap<_, _> = all.map(|one| (one.name, one.value)).collect();
        by_name.into_iter().collect()
    }

    /// The values of topology inputs for evaluating functions; `None` where functions are not
    /// evaluated.
    ///
    /// # Errors
    /// As for reading files, and `syntax` for a value.
    pub(crate) fn deployment_inputs<'l>(
        &self,
        loaded: &'l Loaded,
    ) -> Result<Option<Vec<DeploymentInputs<'l>>>, Diagnostics> {
        let read = |source: &InputSource| match source {
            InputSource::File(path) => loaded.document(path).map(DeploymentInputs::File),
            InputSource::Value(name, value) => {
                DeploymentInputs::of_text(name, &yaml::write_flow(value))
            }
            InputSource::Known(name, value) => {
                DeploymentInputs::of_text(name, &yaml::write_flow(value))
                    .map(DeploymentInputs::known)
            }
            InputSource::Text(name, text) => DeploymentInputs::of_text(name, text),
        };
        let all = self.deployment.as_deref().map(|all| files_first(all).map(read).collect());
        Ok(all.transpose()?)
    }

    /// The profiles whose types are defined without an import.
    pub(crate) fn profiles<'d>(&self) -> impl Iterator<Item = &'d Document> + use<'d> {
        std::iter::once(profile::normative()).chain(self.non_normative.then(profile::non_normative))
    }

    /// The profiles, followed by these documents. A document that is a copy of a profile is
    /// replaced by that profile, even if the choice leaves the profile out. In TOSCA 2.0, the types
    /// of no profile are there without an import.
    pub(crate) fn beside_profiles<'d>(
        &self,
        documents: &[&'d Document],
        sources: &SourceMap,
    ) -> Vec<&'d Document> {
        let is_of_2_0 = documents.iter().any(|document| v2_0::is_of(document));
        let optional = profile::non_normative().file();
        let profiles = self.profiles().filter(|it| !is_of_2_0 || it.file() != optional);
        let mut all: Vec<&Document> = profiles.collect();
        for &document in documents {
            let document =
                profile::of_text(sources.file(document.file()).text()).unwrap_or(document);
            if !all.iter().any(|there| there.file() == document.file()) {
                all.push(document);
            }
        }
        all
    }
}

/// Orders sources: known values, then files, then single values, each group in the given order.
fn files_first(sources: &[InputSource]) -> impl Iterator<Item = &InputSource> {
    let rank = |source: &InputSource| match source {
        InputSource::Known(..) => 0,
        InputSource::File(_) => 1,
        InputSource::Value(..) | InputSource::Text(..) => 2,
    };
    (0..3).flat_map(move |wanted| sources.iter().filter(move |source| rank(source) == wanted))
}

fn read_input(
    source: &InputSource,
    loaded: &Loaded,
    declarations: &Declarations<'_>,
) -> Result<Vec<Assignment>, Diagnostics> {
    match source {
        InputSource::File(path) => {
            let (file, text) = loaded.text(path)?;
            inputs::read_file(path, file, text, &Limits::default())
        }
        InputSource::Value(name, value) | InputSource::Known(name, value) => {
            Ok(vec![Assignment::new(name, value.clone())])
        }
        InputSource::Text(name, text) => {
            let (name, text) = declarations.named(name, text);
            Ok(vec![inputs::parse_assignment_text(&name, text)?])
        }
    }
}
