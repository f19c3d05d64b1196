//! What a caller chooses of a template, and how it is to be read: all but where the template is.

use super::clock::Clock;
use super::function::deployment::DeploymentInputs;
use super::inputs::{self, Assignment, Declarations};
use crate::sat::solve::SolverKind;
use crate::text::diagnostic::Diagnostics;
use crate::text::source::{SourceMap, Span};
use crate::text::value::Value;
use crate::text::yaml::{self, Document, Limits, Node};
use crate::tosca::load::{Extent, Loaded};
use crate::tosca::profile;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One source of inputs, in the order given.
#[derive(Clone, Debug)]
pub(crate) enum InputSource {
    File(PathBuf),
    Value(String, Value),
    /// A value that counts less than any other, and only where there is such an input.
    Known(String, Value),
    Text(String, String),
}

impl InputSource {
    /// The input that it assigns, where it is one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::File(_) => None,
            Self::Value(name, _) | Self::Known(name, _) | Self::Text(name, _) => Some(name),
        }
    }
}

/// What somebody else asks of a variant, beside what its template says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariantDemand {
    pub condition: DemandCondition,
    /// Where that is asked for.
    pub span: Span,
}

/// What is asked, by what templates call their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DemandCondition {
    /// The node of this name is there.
    Node(String),
    /// The assignment at this position of a node is there.
    Relation(String, usize),
    /// At least so many of these hold.
    AtLeast(usize, Vec<Self>),
    Not(Box<Self>),
}

impl DemandCondition {
    /// All of these hold.
    pub(crate) fn all(conditions: Vec<Self>) -> Self {
        Self::AtLeast(conditions.len(), conditions)
    }

    /// At most so many of these hold.
    pub(crate) fn at_most(most: usize, conditions: Vec<Self>) -> Self {
        Self::Not(Box::new(Self::AtLeast(most.saturating_add(1), conditions)))
    }
}

/// What is chosen.
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
    /// What variants have to fulfil to be explored.
    pub conditions: Vec<String>,
    /// What variants have to fulfil to be variants at all.
    pub demands: Vec<VariantDemand>,
    /// The clock.
    pub clock: Option<Clock>,
    /// The solver.
    pub solver: SolverKind,
    /// Whether the types of TOSCA's chapter 9 are defined as well.
    pub non_normative: bool,
    /// Whether validating tells what is valid and refused by others.
    pub is_portable: bool,
    /// Whether phases go on after mistakes, as far as they can.
    pub tolerant: bool,
    /// Whether nodes keep their types and say their technologies.
    pub names_technologies: bool,
    /// Deployment inputs, where functions are evaluated.
    pub deployment: Option<Vec<InputSource>>,
}

impl Choice {
    /// The same with another preset, which wins over those before it.
    pub(crate) fn with_preset(&self, preset: &str) -> Self {
        let mut choice = self.clone();
        choice.presets.push(preset.to_owned());
        choice
    }

    /// The same, where phases go on after mistakes as far as possible, so that all of them are
    /// found; they are then among the warnings.
    pub(crate) fn tolerant(&self) -> Self {
        Self { tolerant: true, ..self.clone() }
    }

    /// Whether a variant is chosen, rather than all of them meant.
    pub(crate) fn is_of_one_variant(&self) -> bool {
        let assigns = |(name, _): &(String, String)| name.starts_with(inputs::INPUT_VARIABLE);
        let by_environment = self.environment.iter().any(assigns)
            || !inputs::presets_from_environment(&self.environment).is_empty();
        by_environment || !self.presets.is_empty() || !self.inputs.is_empty()
    }

    /// How much of files with types resolving looks at.
    pub(crate) fn extent(&self) -> Extent {
        if self.deployment.is_some() { Extent::Whole } else { Extent::Needed }
    }

    /// The chosen presets: those of the environment where no other is.
    pub(crate) fn chosen_presets(&self) -> Vec<String> {
        match self.presets.is_empty() {
            true => inputs::presets_from_environment(&self.environment),
            false => self.presets.clone(),
        }
    }

    /// What is assigned beside presets, what counts more behind what counts less: the environment,
    /// files, single values.
    pub(crate) fn assignments(
        &self,
        loaded: &Loaded,
        declarations: &Declarations<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Assignment> {
        let mut all = inputs::from_environment(&self.environment, declarations, diagnostics);
        for source in files_first(&self.inputs) {
            let read = read_input(source, loaded);
            let read = diagnostics.all_ok(read).into_iter().flatten();
            all.extend(read.map(|one| one.called_as_declared(declarations)));
        }
        all
    }

    /// What is assigned beside presets, by name; of several values of one input the last one counts.
    pub(crate) fn assigned(
        &self,
        loaded: &Loaded,
        declared: Option<Node<'_>>,
    ) -> Vec<(String, Value)> {
        // What is wrong with them is said where they are used.
        let mut said = Diagnostics::default();
        let declarations = Declarations::parse(declared, &mut said);
        let all = self.assignments(loaded, &declarations, &mut said).into_iter();
        let by_name: BTreeMap<_, _> = all.map(|one| (one.name, one.value)).collect();
        by_name.into_iter().collect()
    }

    /// The values of topology inputs by which functions are evaluated; nothing where they are not.
    ///
    /// # Errors
    /// As for files, and `syntax` for a value.
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

    /// The profiles whose types are there without an import.
    pub(crate) fn profiles<'d>(&self) -> impl Iterator<Item = &'d Document> + use<'d> {
        std::iter::once(profile::normative()).chain(self.non_normative.then(profile::non_normative))
    }

    /// Documents behind the profiles. One that is a copy of a profile is that profile, whether it
    /// was asked for or not.
    pub(crate) fn beside_profiles<'d>(
        &self,
        documents: &[&'d Document],
        sources: &SourceMap,
    ) -> Vec<&'d Document> {
        let mut all: Vec<&Document> = self.profiles().collect();
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

/// What is known before files, and those before single values, each in the order given.
fn files_first(sources: &[InputSource]) -> impl Iterator<Item = &InputSource> {
    let rank = |source: &InputSource| match source {
        InputSource::Known(..) => 0,
        InputSource::File(_) => 1,
        InputSource::Value(..) | InputSource::Text(..) => 2,
    };
    (0..3).flat_map(move |wanted| sources.iter().filter(move |source| rank(source) == wanted))
}

fn read_input(source: &InputSource, loaded: &Loaded) -> Result<Vec<Assignment>, Diagnostics> {
    match source {
        InputSource::File(path) => {
            let (file, text) = loaded.text(path)?;
            inputs::read_file(path, file, text, &Limits::default())
        }
        InputSource::Value(name, value) | InputSource::Known(name, value) => {
            Ok(vec![Assignment::new(name, value.clone())])
        }
        InputSource::Text(name, text) => Ok(vec![inputs::parse_assignment_text(name, text)?]),
    }
}
